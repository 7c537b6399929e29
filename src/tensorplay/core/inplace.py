"""Writing into tensors: one mechanism for every in-place operator, every view and every carrier.

An in-place operator computes the new value as its out-of-place twin does, from an alias of the old tensor, then puts it
back. For arrays the memory moves the data and only the history is rebased; under a carrier the same steps move the
data.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .captured import refuse_captured
from .carrier import Carrier, Meta, Moving
from .namespace import F
from .node import AccumulateGrad, Node, place
from .primitive import PRIMITIVES, Primitive, check_broadcast
from .state import count, set_recording, state
from .tensor import Tensor, wrap
from .transforms import StandIn
from .versions import note_write

LEAVES = (AccumulateGrad, StandIn)


def check_writable(t: Tensor, name: str) -> None:
    """Refuse what can be refused before the new value is known."""
    if t._rare is not None and t._rare.inference and not state.inference:
        raise RuntimeError(f"{name}: Inplace update to inference tensor outside InferenceMode is not allowed. "
                           "You can make a clone to get a normal tensor before doing inplace update.")  # fmt: skip
    if t._node is not None:
        involved(t, name)


preserving: list[Any] = []
"""Those told by ``before_write(tensor)`` before memory is written to: they keep what the tape has saved of it."""


ONE_VALUE = frozenset({"fill_", "zero_"})
"""Writers of the same value to all elements, for which it does not matter that some share memory."""

PARTIAL = frozenset({"masked_fill_", "index_fill_", "index_put_", "__setitem__"})
"""Those of ``update`` that write to shared memory all the same, with a warning."""


def memory(t: Tensor, name: str, partial: bool = False, shared: bool = False) -> np.ndarray[Any, Any]:
    """The array of a tensor, checked to be writable without surprise.

    ``partial``: to some elements only; ``shared``: to elements that share memory, which has been found to be right.
    """
    data = t._data
    if preserving:
        about_to_write(t)
    if 0 in data.strides and not shared and internally_overlapping(data):
        check_shared(name, partial)
    if not data.flags.writeable:
        raise RuntimeError(f"{name}: the tensor's memory is read-only (it was made from a read-only NumPy array); "
                           "clone it first")  # fmt: skip
    return data


def check_shared(name: str, partial: bool) -> None:
    """Refuse a write to elements that share memory, unless they are given one value; some writers only warn."""
    if name in ONE_VALUE:
        return
    if not partial or name not in PARTIAL:
        raise RuntimeError(
            f"{name}: unsupported operation: more than one element of the written-to tensor refers to a single "
            "memory location. Please clone() the tensor before performing the operation."
        )
    warnings.warn(
        f"{name}: Use of {name} on expanded tensors is deprecated: elements that share memory are all written to. "
        "Please clone() the tensor before performing this operation.",
        UserWarning,
        stacklevel=5,
    )


def only_memory(t: Tensor) -> bool:
    """Whether values without history can be written to the tensor's array with nothing else to do but note it."""
    data, rare = t._data, t._rare
    if type(data) is not np.ndarray or preserving or not data.flags.writeable or 0 in data.strides:
        return False
    if rare is None:
        return t._node is None or not state.recording
    if rare.inference:
        return False
    return not state.recording or t._node is None and (rare.view is None or rare.view.base._node is None)


def about_to_write(t: Tensor) -> None:
    """Tell whoever keeps what the tape has saved of the tensor's memory."""
    for keeper in preserving:
        keeper.before_write(t)


def involved(t: Tensor, name: str, *nodes: Node | None) -> bool:
    """Whether a write of values with the given nodes has to be recorded.

    Raises
    ------
    RuntimeError
        If it should be, but the history of ``t`` cannot be rewritten: leaves that require grad and their views, views
        made under no_grad, and views that are one of several outputs.
    """
    if not state.recording:
        return False
    t._leave_lone_base()
    view = None if t._rare is None else t._rare.view
    recorded = t._node is not None or any(node is not None for node in nodes)
    if view is None:
        if recorded and type(t._node) in LEAVES:
            raise RuntimeError(f"{name}: a leaf Variable that requires grad is being used in an in-place operation. "
                               "Use it under no_grad(), or write to a clone.")  # fmt: skip
        return recorded
    base = view.base._node
    if not recorded and (base is None or t._data.dtype.kind not in "fcV"):  # to autograd, integers are views of nothing
        return False
    if view.multiple:
        what = t.grad_fn.name() if t.grad_fn is not None else "a view operator"
        raise RuntimeError(
            f"{name}: Output {t.output_nr} of {what} is a view and is being modified inplace. This view is the output "
            "of a function that returns multiple views. Such functions do not allow the output views to be modified "
            "inplace. You should replace the inplace operation by an out-of-place one."
        )
    if view.custom:
        raise RuntimeError(f"{name}: {MADE_IN_FUNCTION.format('is being modified inplace')}")
    if view.without_grad:
        raise RuntimeError(f"{name}: {MADE_WITHOUT_GRAD.format('is being modified inplace')}")
    if type(base) in LEAVES or type(t._node) in LEAVES:
        raise RuntimeError(
            f"{name}: a view of a leaf Variable that requires grad is being used in an in-place operation. Use it "
            "under no_grad(), or write to a view of a clone."
        )
    return True


MADE_WITHOUT_GRAD = (
    "A view was created in no_grad mode and {} with grad mode enabled. Given that this use case is ambiguous and "
    "error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both "
    "inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace "
    "to be tracked)."
)


MADE_IN_FUNCTION = (
    "An output of a custom Function is a view and {}. This view was created inside a custom Function (or because an "
    "input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward "
    "associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this "
    "by cloning the output of the custom Function."
)


class Ambiguous(Node):
    """The history of a view that cannot be told once its base was written to with history."""

    __slots__ = ("reason",)

    def __init__(self, edge: Node, reason: str) -> None:
        self.edges, self.saved, self.rare, self.order, self.reason = (edge,), (), None, count(), reason

    def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        raise RuntimeError(self.reason.format("its base or another view of its base has been modified inplace"))

    pull_tensors = pull


class Overwrite(Node):
    """The history of a tensor that was overwritten as a whole: zero for the old value, everything for the new one."""

    __slots__ = ()

    def __init__(self, old: Node | None, new: Node | None) -> None:
        self.edges, self.saved, self.rare, self.order = (old, new), (), None, count()

    def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        return (None if edges[0] is None else np.zeros(cotangent.shape, cotangent.dtype)), cotangent

    def pull_tensors(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        return (None if edges[0] is None else F.zeros_like(cotangent)), cotangent


OVERWRITING = {
    name: type(node_name, (Overwrite,), {"__slots__": (), "__doc__": Overwrite.__doc__})
    for name, node_name in {
        "copy_": "CopyBackwards", "__setitem__": "CopyBackwards", "fill_": "FillBackward0", "zero_": "ZeroBackward0",
    }.items()
}  # fmt: skip
"""The nodes of the writers whose value is not made from the old one."""


def old_value(t: Tensor) -> Tensor:
    """An alias of a tensor that is about to change: an in-place result must not keep itself."""
    return t._alias(t._node)


def write(t: Tensor, value: Tensor, name: str, partial: bool = False) -> Tensor:
    """Give ``t`` the value, in its memory, with the value's history, for all its views to see.

    Parameters
    ----------
    t
        The tensor written to.
    value
        Broadcast to the shape of ``t`` and cast to its dtype.
    name
        The operator, for messages.
    partial
        Whether only some elements change.
    """
    if state.running:
        refuse_captured(t, value, name)
    return move(t, value, name, partial)


def move(t: Tensor, value: Tensor, name: str, partial: bool = False, shared: bool = False) -> Tensor:
    """``write``, once it is clear that the tensor may hold the value; ``shared`` as in ``memory``."""
    data, new = t._data, value._data
    if new.shape != data.shape:
        whole = broadcast(name, data.shape, new.shape)
        if whole != data.shape:
            raise RuntimeError(
                f"{name}: output with shape {list(data.shape)} doesn't match the broadcast shape {list(whole)}"
            )
        plain = type(new) is np.ndarray and (type(data) is np.ndarray or type(data) is Meta)
        if not plain or value._node is not None:
            value = F.expand(value, data.shape)
    if value._data.dtype != data.dtype:
        value = F.cast(value, data.dtype)
    new = value._data
    recorded = involved(t, name, value._node)
    moved = False
    if type(data) is np.ndarray and type(new) is np.ndarray:
        np.copyto(memory(t, name, partial and not recorded, shared), new, casting="unsafe")
        if recorded:
            rebase(t, value, name)
    elif type(data) is Meta and (type(new) is Meta or not new.ndim):
        if recorded:
            rebase(t, value, name)
    elif type(new) is Meta or type(data) is Meta:
        raise RuntimeError(f"{name}: Expected all tensors to be on the same device, but found at least two devices, "
                           f"{t.device} and {value.device}!")  # fmt: skip
    else:
        if preserving:
            about_to_write(t)
        if strides_overlap(t._strides(), data.shape):
            check_shared(name, partial and not recorded)
            shared = True
        view = None if t._rare is None else t._rare.view
        base = t if view is None else view.base
        if view is not None:
            result = F.put_view(old_value(base), value, view.steps)
        elif name in OVERWRITING:  # the value is somebody's, whose memory stays his own
            result = F.clone(value._alias(None))
        else:
            result = value
        assign(base, result._data, shared)
        if recorded:
            rebase(t, value, name)
        moved = True
    return after_write(t, recorded, moved)


def update(
    t: Tensor,
    primitive: Primitive,
    args: tuple[Tensor, ...],
    attrs: tuple[Any, ...],
    store: Callable[..., None],
    name: str,
) -> Tensor:
    """``primitive(t, *args, *attrs)`` in place, for operators that change only parts of their first operand.

    ``store(array, *arrays, *attrs)`` does to memory what the kernel does to a copy. The rules of the primitive must not
    read its first operand, which is overwritten.
    """
    data = t._data
    if type(data) is not np.ndarray or not all([type(a._data) is np.ndarray for a in args]):
        return write(t, primitive.function(old_value(t), *args, *attrs), name, partial=True)
    if only_memory(t) and (not state.recording or all([a._node is None for a in args])):
        recorded = False
    else:
        if state.running:
            for a in args:
                refuse_captured(t, a, name)
        recorded = involved(t, name, *(a._node for a in args))
        memory(t, name, partial=not recorded)
    arrays = [a._data.copy() if a._data.ndim and np.may_share_memory(a._data, data) else a._data for a in args]
    store(data, *arrays, *attrs)
    if recorded:
        old = old_value(t)
        rebase(t, primitive.record_slowly((old, *args), attrs, wrap(data)))
    return after_write(t, recorded, False)


def after_write(t: Tensor, recorded: bool, moved: bool) -> Tensor:
    """Note the write, and let the views of it follow."""
    note_write(t._data)
    if recorded or moved:
        view = None if t._rare is None else t._rare.view
        derive_views(t if view is None else view.base, moved)
    return t


def rebase(t: Tensor, value: Tensor, name: str = "") -> None:
    """Give the base of ``t`` the history in which ``t`` was replaced by the value; the data are there already."""
    view = None if t._rare is None else t._rare.view
    base, steps = (t, ()) if view is None else (view.base, view.steps)
    if view is None and (overwrite := OVERWRITING.get(name)) is not None:
        renew(base, overwrite(t._node, value._node))
        return
    if view is None and value._node is not None:
        renew(base, value._node)
        return
    result = wrap(base._data)
    PRIMITIVES["put_view"].record_slowly((old_value(base), value), (steps,), result)
    renew(base, result._node)


def renew(t: Tensor, node: Node | None) -> None:
    """Give a tensor a new history; a gradient that is retained is that of the newest value."""
    before, t._node = t._node, node
    rare = t._rare
    if rare is not None and rare.retains_grad and before is not None and node is not None:
        old, index = place(before)
        if old.rare is not None:
            old.rare.retains.pop(index, None)
        new, index = place(node)
        new.rarely().retains[index] = rare


def change_geometry(t: Tensor, view_operator: Callable[[Tensor], Tensor], name: str) -> Tensor:
    """Turn a tensor into a view of itself, in place: ``t_()``, ``squeeze_()`` and their like.

    Views of the tensor stay what they are: the old geometry lives on in a tensor that is now their base, and that of
    ``t``.
    """
    involved(t, name)
    rare, leaf = t._rare, type(t._node) is AccumulateGrad
    before = bool(state.recording)
    set_recording(not leaf)  # under no_grad too: the values stay, and so does where they come from
    try:
        if rare is not None and rare.view is not None:
            changed = view_operator(t)
            rare.view.chain = changed._rare.view.chain  # type: ignore[union-attr]
        elif rare is not None and rare.views and not leaf:
            base = t._alias(t._node)
            views = base._rarely().views = rare.views
            for reference in views:
                if (one := reference()) is not None:
                    one._rare.view.base = base  # type: ignore[union-attr]
            changed = view_operator(base)
            view = changed._rare.view  # type: ignore[union-attr]
            rare.views, rare.view, view.disowned = None, view, True  # type: ignore[union-attr]
            views.append(weakref.ref(t))
        else:
            changed = view_operator(old_value(t))
    finally:
        set_recording(before)
    t._data = changed._data
    if not leaf:
        t._node = changed._node
    return after_write(t, False, False)


def assign(base: Tensor, data: Any, shared: bool = False) -> None:
    """Move data that involve a carrier into a tensor: into the memory inside where it fits, or in its place."""
    old = base._data
    if state.tracing is not None and not isinstance(old, Carrier) and not isinstance(data, Carrier):
        state.tracing.write(base, data)
        return
    if not isinstance(old, Carrier):
        if isinstance(data, Moving) and type(old) is np.ndarray and type(data.primal._data) is np.ndarray:
            primal = base._alias(base._node)
            np.copyto(old, data.primal._data)
            primal._node = data.primal._node
            data = data.at(primal)
    elif type(old) is type(data) and old.level == data.level:
        if isinstance(data, Moving):
            write_inside(old.inner, data.primal, shared)
            base._data = data.at(old.inner)
            return
        if data.inner._data.shape == old.inner._data.shape:
            write_inside(old.inner, data.inner, shared)
            return
    elif not isinstance(data, Carrier) or data.level < old.level:  # a constant overwrites
        if isinstance(old, Moving):
            write_inside(old.primal, wrap(data), shared)
            base._data = old.still()
        else:
            write_inside(old.inner, F.expand(wrap(data), old.inner._data.shape), shared)
        return
    base._data = data


def write_inside(inner: Tensor, value: Tensor, shared: bool) -> None:
    """Write to what a carrier holds, one level further down."""
    move(inner, value, "in-place write", shared=shared)


def derive_views(base: Tensor, moved: bool) -> None:
    """Give every view that is still alive the history (and, under a carrier, the data) of its base as it is now."""
    views = base._rare.views if base._rare is not None else None
    if not views:
        return
    for reference in views:
        t = reference()
        if t is None:
            continue
        view: Any = t._rare.view  # type: ignore[union-attr]
        fresh = replay(base, view.steps)
        if moved:
            t._data = fresh._data
        if (view.without_grad or view.custom) and state.recording:
            reason = MADE_IN_FUNCTION if view.custom else MADE_WITHOUT_GRAD
            t._node = Ambiguous(fresh._node, reason) if fresh._node is not None else None
        elif type(t._node) is not AccumulateGrad:
            renew(t, fresh._node)


def replay(base: Tensor, steps: tuple[Any, ...]) -> Tensor:
    """Take a view of ``base`` again, step by step, without entering it among the base's views."""
    t = old_value(base)
    for primitive, attrs, index in steps:
        t = primitive.function(t, *attrs)
        if index is not None:
            t = t[index]
    return t


def internally_overlapping(data: np.ndarray[Any, Any]) -> bool:
    """Whether a dimension of more than one entry has stride 0, as expand makes them."""
    return strides_overlap(data.strides, data.shape)


def strides_overlap(strides: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """The same of strides, for data of any kind."""
    return 0 in strides and 0 not in shape and any(s == 0 and n > 1 for s, n in zip(strides, shape, strict=True))


def broadcast(name: str, shape: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that two broadcast to."""
    check_broadcast(name, [shape, other])
    return np.broadcast_shapes(shape, other)
