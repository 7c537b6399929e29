"""Saved values seen from outside: ``grad_fn._saved_*``, and hooks that pack them."""

from __future__ import annotations

from typing import Any

from .callpath import freed, stale
from .node import Node
from .state import state
from .tensor import Tensor

PYTORCH_NAMES = {"self": "input", "result": "out", "input": "self"}


class Packed:
    """A saved tensor as a pack hook left it, with the hook that unpacks it."""

    __slots__ = ("unpack", "value")

    def __init__(self, value: Any, unpack: Any) -> None:
        self.value, self.unpack = value, unpack


def pack(node: Node) -> None:
    """Run the innermost pack hook over the tensors a node keeps."""
    hooks = state.saved_tensors_hooks
    if not hooks or not node.keeps or not node.saved_names:
        return
    pack_hook, unpack_hook = hooks[-1]
    saved = list(node.saved)
    for i, (name, value) in enumerate(zip(node.saved_names, saved, strict=True)):
        if isinstance(value, Tensor):
            saved[i] = Packed(pack_hook(value), unpack_hook)
            node.rarely().packed = True
        elif name == "out" and value is not None and not isinstance(value[0], tuple):
            saved[i] = Packed(pack_hook(node.primitive.rebuild_output(value[0], None, value[1])), unpack_hook)
            node.rarely().packed = True
    node.saved = tuple(saved)


def unpack(node: Node) -> Any:
    """What the rule is to read, from what the pack hooks left."""
    saved = []
    for name, value in zip(node.saved_names, node.saved, strict=True):
        if type(value) is Packed:
            value = value.unpack(value.value)
            if not isinstance(value, Tensor):
                raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got {type(value).__name__}")
            if name == "out":
                value = (value._data, value._stamped())
        saved.append(value)
    return tuple(saved)


def attribute(node: Node, name: str) -> Any:
    """``node._saved_<name>``; PyTorch calls the first operand self and an output result."""
    wanted = name.removeprefix("_raw_saved_").removeprefix("_saved_")
    if node.saved is None:
        raise freed(node)
    saved = unpack(node) if node.rare is not None and node.rare.packed else node.saved
    values = dict(zip(node.saved_names, saved, strict=True))
    for key in (wanted, PYTORCH_NAMES.get(wanted, wanted)):
        if key in values:
            value = values[key]
            if key == "out" and value is not None:
                if value[1][0] > node.order:
                    stale(node, "result", value[0], value[1])
                return node.primitive.rebuild_output(value[0], node, value[1])
            if isinstance(value, Tensor) and value._stamp is not None and value._stamp[0] > node.order:
                stale(node, wanted, value._data, value._stamp)
            return value
    raise AttributeError(f"'{node.name()}' object has no attribute {name!r}; it keeps {', '.join(values) or 'nothing'}")
