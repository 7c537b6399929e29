"""What watches the tape: hooks that pack saved values, anomaly mode, and ``grad_fn._saved_*``."""

from __future__ import annotations

import os
import traceback
import weakref
from collections.abc import Callable, Container
from typing import Any

from . import versions
from .callpath import stale, with_history
from .carrier import own_memory
from .namespace import F
from .node import OUR_NAMES, PYTORCH_NAMES, AccumulateGrad, Node, freed
from .state import state
from .tensor import Tensor

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def observe(node: Node, numbers: Container[str] = ()) -> None:
    """Saved-tensor hooks and anomaly mode, for the node just recorded; operands named in ``numbers`` are no tensors."""
    observe_forward(node)
    if state.saved_tensors_hooks:
        pack_hook, unpack_hook = state.saved_tensors_hooks[-1]
        pack(node, pack_hook, unpack_hook, numbers)


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

    __slots__ = ("dtype", "memory", "node", "shape", "unpack_hook", "value")

    def __init__(self, t: Tensor, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        recording, state.recording = state.recording, False
        version = versions.version(t._data)
        try:
            self.value = pack_hook(t)
        finally:
            state.recording = recording
        if versions.version(t._data) != version:
            raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input "
                               "to pack hook cannot be modified by in-place operations as this can lead to "
                               "unexpected side-effects; clone the input first.")  # fmt: skip
        self.node, self.unpack_hook = t._node, unpack_hook
        self.shape, self.dtype = t._data.shape, t._data.dtype
        self.memory = weakref.ref(versions.memory_of(t._data))

    def unpack(self) -> Tensor:
        value = self.unpack_hook(self.value)
        if not isinstance(value, Tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(value).__name__}")  # fmt: skip
        if versions.last_write(value._data) and versions.memory_of(value._data) is not self.memory():
            value = own_memory(value)  # written by the hook itself, perhaps: no change of what was saved
        return value._alias(self.node)

    def data(self) -> Any:
        """What the rule of an operator reads: of the shape and dtype that it kept, as its results have to be.

        Raises
        ------
        RuntimeError
            If the unpack hook returned a tensor that cannot be expanded or cast to these.
        """
        t = self.unpack()
        found = t._data
        if found.shape != self.shape:
            ndim = len(found.shape)
            fits = ndim <= len(self.shape) and all(
                [n in (1, m) for n, m in zip(found.shape, self.shape[len(self.shape) - ndim :])]
            )
            if not fits:
                raise RuntimeError(
                    f"saved tensor unpack_hook returned a tensor of shape {list(found.shape)} for one of shape "
                    f"{list(self.shape)}"
                )
            t = F.expand(t._alias(None), self.shape)
        if found.dtype != self.dtype:
            if (found.dtype.kind in "fV") != (self.dtype.kind in "fV"):
                raise RuntimeError(
                    f"saved tensor unpack_hook returned a tensor of {found.dtype} for one of {self.dtype}"
                )
            t = F.cast(t._alias(None), self.dtype)
        return t._data


def pack(
    node: Node, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any], numbers: Container[str] = ()
) -> None:
    """Run a pack hook over all tensors that the node of a primitive keeps."""
    if not node.keeps:
        return
    named = enumerate(zip(node.saved_names, node.saved))
    node.saved = tuple([v if n in numbers else packed(node, i, pack_hook, unpack_hook) for i, (n, v) in named])
    node.rarely().packed = True


def packed(node: Node, i: int, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> Any:
    """One of the things a node keeps, with the tensors in it packed.

    An output is shown without history: were it the tensor itself, the graph would hold itself.
    """
    value = node.saved[i]
    if value is None or not is_tensor(node, i):
        return value
    if type(value) is not tuple:
        return Packed(operand(node, i, value), pack_hook, unpack_hook)
    histories = node.edges if node.saved_names[i] != "out" else [None] * len(value)
    return [None if d is None else Packed(with_history(d, h), pack_hook, unpack_hook) for d, h in zip(value, histories)]


def is_tensor(node: Node, i: int) -> bool:
    """Whether what a node keeps at a place is the data of a tensor, or of several."""
    name = node.saved_names[i]
    return name == "out" or name in node.saved_tensors


def operand(node: Node, i: int, data: Any) -> Tensor:
    """A saved operand with its history; an output without."""
    place = node.saved_tensors.get(node.saved_names[i])
    t = with_history(data, None if place is None else node.edges[place])
    leaf = t._node.variable if type(t._node) is AccumulateGrad else None
    return t if leaf is None or leaf._data is not data else leaf


def unpacked(value: Any) -> Any:
    """The opposite of :func:`packed`: the data that the pack hooks left."""
    if type(value) is Packed:
        return value.data()
    return tuple([None if v is None else v.data() for v in value]) if type(value) is list else value


def unpack(node: Node) -> tuple[Any, ...]:
    """What the rule is to read, from what the pack hooks left."""
    return tuple(map(unpacked, node.saved))


# ---- looking at saved values


def names(node: Node) -> list[str]:
    """The attributes under which a node shows what it keeps."""
    shown = [OUR_NAMES.get(name, name) for name in node.saved_names]
    kept = enumerate(node.saved) if node.saved is not None else ()
    raw = [f"_raw_saved_{shown[i]}" for i, value in kept if value is not None and is_tensor(node, i)]
    return [*(f"_saved_{name}" for name in shown), *raw]


def attribute(node: Node, name: str) -> Any:
    """``node._saved_<name>`` and ``node._raw_saved_<name>``, by PyTorch's names or ours."""
    raw = name.startswith("_raw_saved_")
    wanted = name.removeprefix("_raw_saved_").removeprefix("_saved_")
    i = node.saved_names.index(wanted if wanted in node.saved_names else PYTORCH_NAMES[wanted])
    return SavedTensor(node, i) if raw else fresh(node, i)


def fresh(node: Node, i: int) -> Any:
    """Something that a node keeps, checked not to have been written to since."""
    if node.saved is None:
        raise freed(node)
    value = unpacked(node.saved[i])
    if value is None or not is_tensor(node, i):
        return value
    name = node.saved_names[i]
    for data in value if type(value) is tuple else (value,):
        if data is not None:
            refuse_stale(node, OUR_NAMES.get(name, name), data)
    if name == "out":
        return node.primitive.rebuild_output(value, node)
    if type(value) is tuple:
        return tuple(map(with_history, value, node.edges))
    return operand(node, i, value)


def refuse_stale(node: Node, name: str, data: Any) -> None:
    """Refuse saved data whose memory was written to after it was saved."""
    write = versions.written_since(data, node.order)
    if write is not None:
        stale(node, name, data, write)


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
        return packed(self.node, self.index, pack_hook, unpack_hook)

    def unpack(self) -> Any:
        """The tensor."""
        return fresh(self.node, self.index)
