"""What watches the tape: hooks that pack saved values, anomaly mode, and ``grad_fn._saved_*``."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from typing import Any

from .callpath import freed, stale
from .node import Node
from .state import state
from .tensor import Tensor, wrap

PYTORCH_NAMES = {"self": "input", "result": "out"}
"""PyTorch's names for what is kept, where they differ from ours."""
OUR_NAMES = {ours: theirs for theirs, ours in PYTORCH_NAMES.items()}

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def observe(node: Node) -> None:
    """Saved-tensor hooks and anomaly mode, for the node just recorded."""
    observe_forward(node)
    if state.saved_tensors_hooks:
        pack(node, *state.saved_tensors_hooks[-1])


def observe_forward(node: Node) -> None:
    """In anomaly mode, note where a node was made, and in whose backward."""
    if state.anomaly:
        rare = node.rarely()
        rare.traceback, rare.parent = forward_traceback(), state.evaluating_node


def forward_traceback() -> list[str]:
    """The user's part of the stack that leads to an operator."""
    frames = traceback.extract_stack()
    while frames and frames[-1].filename.startswith((HERE, "<tensorplay ")):
        frames.pop()
    return traceback.format_list(frames)


# ---- packing


class Packed:
    """A saved tensor as a pack hook left it, with the hook that unpacks it and the history it had."""

    __slots__ = ("node", "unpack_hook", "value")

    def __init__(self, t: Tensor, node: Node | None, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        recording, state.recording = state.recording, False
        version = t._stamped()[1]
        try:
            self.value = pack_hook(t)
        finally:
            state.recording = recording
        if t._stamped()[1] != version:
            raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                               "cannot be modified by in-place operations as this can lead to unexpected side-effects; clone "
                               "the input first.")  # fmt: skip
        self.node, self.unpack_hook = node, unpack_hook

    def unpack(self) -> Tensor:
        value = self.unpack_hook(self.value)
        if not isinstance(value, Tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(value).__name__}")  # fmt: skip
        return value._alias(self.node)


def pack(node: Node, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
    """Run a pack hook over all tensors that the node of a primitive keeps."""
    if not node.keeps:
        return
    saved = [packed(name, value, pack_hook, unpack_hook) for name, value in zip(node.saved_names, node.saved, strict=True)]
    node.saved = tuple(saved)
    node.rarely().packed = True


def packed(name: str, value: Any, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> Any:
    """One of the things a node keeps, with the tensors in it packed."""
    if isinstance(value, Tensor):
        return Packed(value, value._node, pack_hook, unpack_hook)
    if name == "out" and value is not None:
        data, stamp = value
        if type(data) is tuple:
            return [Packed(without_history(d, s), None, pack_hook, unpack_hook) for d, s in zip(data, stamp.stamps)]
        return Packed(without_history(data, stamp), None, pack_hook, unpack_hook)
    if type(value) is tuple and value and all(isinstance(v, Tensor) for v in value):
        return tuple([Packed(v, v._node, pack_hook, unpack_hook) for v in value])
    return value


def without_history(data: Any, stamp: Any) -> Tensor:
    """An output for a pack hook to see: were it the tensor itself, the graph would hold itself."""
    t = wrap(data)
    t._stamp = stamp
    return t


def unpacked(name: str, value: Any) -> Any:
    """The opposite of :func:`packed`."""
    if type(value) is Packed:
        t = value.unpack()
        return (t._data, t._stamped()) if name == "out" else t
    if name == "out" and type(value) is list:
        from .primitive import Latest

        ts = [v.unpack() for v in value]
        return tuple([t._data for t in ts]), Latest([t._stamped() for t in ts])
    if type(value) is tuple and value and type(value[0]) is Packed:
        return tuple([v.unpack() for v in value])
    return value


def unpack(node: Node) -> tuple[Any, ...]:
    """What the rule is to read, from what the pack hooks left."""
    return tuple([unpacked(name, value) for name, value in zip(node.saved_names, node.saved, strict=True)])


# ---- looking at saved values


def names(node: Node) -> list[str]:
    """The attributes under which a node shows what it keeps."""
    shown = [OUR_NAMES.get(name, name) for name in node.saved_names]
    kept = zip(shown, node.saved) if node.saved is not None else ()
    raw = [f"_raw_saved_{name}" for name, value in kept if isinstance(value, (Tensor, Packed)) or name == "result"]
    return [*(f"_saved_{name}" for name in shown), *raw]


def attribute(node: Node, name: str) -> Any:
    """``node._saved_<name>`` and ``node._raw_saved_<name>``; PyTorch calls the first operand self and an output result."""
    raw = name.startswith("_raw_saved_")
    wanted = name.removeprefix("_raw_saved_").removeprefix("_saved_")
    for key in (wanted, PYTORCH_NAMES.get(wanted, wanted)):
        if key in node.saved_names:
            i = node.saved_names.index(key)
            return SavedTensor(node, i) if raw else fresh(node, i)
    keeps = ", ".join(OUR_NAMES.get(n, n) for n in node.saved_names) or "nothing"
    raise AttributeError(f"'{node.name()}' object has no attribute {name!r}; it keeps {keeps}")


def fresh(node: Node, i: int) -> Any:
    """Something that a node keeps, checked not to have been written to since."""
    if node.saved is None:
        raise freed(node)
    name, value = node.saved_names[i], unpacked(node.saved_names[i], node.saved[i])
    if name == "out" and value is not None:
        data, stamp = value
        if stamp[0] > node.order:
            stale(node, "result", data, stamp)
        return node.primitive.rebuild_output(data, node, stamp)
    for t in value if type(value) is tuple else (value,):
        if isinstance(t, Tensor):
            check_fresh(node, OUR_NAMES.get(name, name), t)
    return value


def check_fresh(node: Node, name: str, t: Tensor) -> None:
    """Refuse a saved tensor that was written to after it was saved."""
    stamp = t._stamp
    if stamp is not None and stamp[0] > node.order:
        stale(node, name, t._data, stamp)


class SavedTensor:
    """A place in a node's saved values: ``grad_fn._raw_saved_self``."""

    __slots__ = ("index", "node")

    def __init__(self, node: Node, index: int) -> None:
        self.node, self.index = node, index

    def register_hooks(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        """Keep ``pack_hook(tensor)`` in place of the tensor, and read ``unpack_hook`` of it.

        Raises
        ------
        RuntimeError
            If the value was freed, is None, has hooks already, or the pack hook writes to its input.
        """
        node, i = self.node, self.index
        if not node.saved:
            raise RuntimeError("Calling register_hooks on a saved tensor after it has been freed. " + str(freed(node)))
        value = node.saved[i]
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if type(value) is Packed:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. "
                               "Hint: only one pair of hooks is allowed at a time.")  # fmt: skip
        new = self.packed(value, pack_hook, unpack_hook)
        node.saved = (*node.saved[:i], new, *node.saved[i + 1 :])

    def packed(self, value: Any, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> Any:
        self.node.rarely().packed = True
        return packed(self.node.saved_names[self.index], value, pack_hook, unpack_hook)

    def unpack(self) -> Any:
        """The tensor."""
        return fresh(self.node, self.index)
