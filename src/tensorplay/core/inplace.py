"""Writing into tensors: one mechanism for every in-place operator, every view and every carrier.

An in-place operator computes the new value as its out-of-place twin does, from an alias of the old tensor, then puts it
back. For arrays the memory moves the data and only the history is rebased; under a carrier the same steps move the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .carrier import Batched, Dual, Meta
from .namespace import F
from .node import AccumulateGrad, Node
from .primitive import PRIMITIVES
from .state import count, state
from .tensor import Tensor, wrap


def check_writable(t: Tensor, name: str) -> None:
    """Refuse what PyTorch refuses: leaves that require grad, views that lost their way back."""
    rare = t._rare
    view = None if rare is None else rare.view
    if rare is not None and rare.inference and not state.inference:
        raise RuntimeError(f"{name}: Inplace update to inference tensor outside InferenceMode is not allowed. "
                           "You can make a clone to get a normal tensor before doing inplace update.")  # fmt: skip
    if type(t._data) is np.ndarray and not t._data.flags.writeable:
        raise RuntimeError(f"{name}: the tensor's memory is read-only (it was made from a read-only NumPy array); clone it first")
    if not state.recording:
        return
    if view is None:
        if type(t._node) is AccumulateGrad:
            raise RuntimeError(f"{name}: a leaf Variable that requires grad is being used in an in-place operation. "
                               "Use it under no_grad(), or write to a clone.")  # fmt: skip
        return
    if type(view.base._node) is AccumulateGrad and (view.without_grad is False or t._node is not None):
        raise RuntimeError(f"{name}: a view of a leaf Variable that requires grad is being used in an in-place operation. "
                           "Use it under no_grad(), or write to a view of a clone.")  # fmt: skip


def check_view(t: Tensor, name: str, involves_grad: bool) -> None:
    """Views whose history cannot be rewritten."""
    view = None if t._rare is None else t._rare.view
    if view is None or not involves_grad:
        return
    what = t._node.name() if t._node is not None else "a view operator"
    if view.multiple:
        raise RuntimeError(
            f"{name}: Output {t.output_nr} of {what} is a view and is being modified inplace. This view is the output of a "
            "function that returns multiple views. Such functions do not allow the output views to be modified inplace. "
            "You should replace the inplace operation by an out-of-place one."
        )
    if view.without_grad:
        raise RuntimeError(
            f"{name}: A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
            "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view "
            "and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both "
            "outside (if you want the inplace to be tracked)."
        )


def old_value(t: Tensor) -> Tensor:
    """An alias of a tensor that is about to change: an in-place result must not keep itself."""
    return t._alias(t._node)


def write(t: Tensor, value: Tensor, name: str) -> Tensor:
    """Give ``t`` the value, in its memory, with the value's history, for all its views to see.

    Parameters
    ----------
    t
        The tensor written to.
    value
        Broadcast to the shape of ``t`` and cast to its dtype.
    name
        The operator, for messages.
    """
    data, new = t._data, value._data
    if new.shape != data.shape:
        if len(new.shape) > len(data.shape) or np.broadcast_shapes(new.shape, data.shape) != data.shape:
            raise RuntimeError(f"{name}: output with shape {list(data.shape)} doesn't match the broadcast shape "
                               f"{list(np.broadcast_shapes(new.shape, data.shape))}")  # fmt: skip
        value = F.expand(value, data.shape)
    if new.dtype != data.dtype:
        value = F.cast(value, data.dtype)
    new = value._data
    view = None if t._rare is None else t._rare.view
    base = t if view is None else view.base
    tracked = bool(state.recording) and (value._node is not None or base._node is not None or t._node is not None)
    check_view(t, name, tracked and value._node is not None or (tracked and base._node is not None))
    if type(data) is np.ndarray and type(new) is np.ndarray and type(base._data) is np.ndarray:
        if internally_overlapping(data):
            raise RuntimeError(f"{name}: unsupported operation: more than one element of the written-to tensor refers to a "
                               "single memory location. Please clone() the tensor before performing the operation.")  # fmt: skip
        np.copyto(data, new, casting="unsafe")
        if tracked:
            base._node = value._node if view is None else put_node(base, value, view.steps)
        moved = False
    elif type(new) is Meta and type(data) is Meta:
        if tracked and view is None:
            base._node = value._node
        moved = False
    else:
        result = value if view is None else F.put_view(old_value(base), value, view.steps)
        if result._data is not base._data:
            assign(base, result._data)
        if tracked:
            base._node = result._node
        moved = True
    stamp = t._stamped()
    stamp[0] = count()
    stamp[1] += 1
    if tracked or moved:
        derive_views(base, moved)
    return t


def put_node(base: Tensor, value: Tensor, steps: tuple[Any, ...]) -> Node | None:
    """The history of a base into which memory has moved a value already: the node alone, without the kernel."""
    result = wrap(base._data)
    PRIMITIVES["put_view"].record_slowly((old_value(base), value), (steps,), result)
    return result._node


def assign(base: Tensor, data: Any) -> None:
    """Move data that involve a carrier into a tensor: into the memory inside where it fits, or in its place."""
    old = base._data
    if type(old) is type(data) and type(data) is Batched and old.level == data.level:
        inner = data.value
        if inner._data.shape == old.value._data.shape:
            with_history(old.value, inner)
            return
    elif type(data) is Dual:
        if type(old) is Dual and old.level == data.level:
            with_history(old.primal, data.primal)
            base._data = Dual(old.primal, data.tangent, data.level)
            return
        if type(old) is np.ndarray and type(data.primal._data) is np.ndarray:
            primal = base._alias(base._node)
            np.copyto(old, data.primal._data)
            primal._node = data.primal._node
            base._data = Dual(primal, data.tangent, data.level)
            return
    elif type(old) is Dual and type(data) is not Dual:  # a constant overwrites: the tangent becomes zero
        lower = wrap(data)
        with_history(old.primal, lower)
        base._data = Dual(old.primal, F.zeros_like(old.primal), old.level)
        return
    elif type(old) is Batched and (type(data) is np.ndarray or data.level < old.level):
        with_history(old.value, F.expand(wrap(data), old.value._data.shape))
        return
    base._data = data


def with_history(inner: Tensor, value: Tensor) -> None:
    """An in-place write one level further down."""
    write(inner, value, "in-place write")


def derive_views(base: Tensor, moved: bool) -> None:
    """Give every view that is still alive the history (and, under a carrier, the data) of its base as it is now."""
    views = base._rare.views if base._rare is not None else None
    if not views:
        return
    kept = state.recording
    for reference in views:
        t = reference()
        if t is None:
            continue
        view = t._rare.view
        if view.without_grad and kept:
            if moved:
                t._data = replay(base, view.steps)._data
            continue
        fresh = replay(base, view.steps)
        t._node = fresh._node
        if moved:
            t._data = fresh._data


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
    return 0 in data.strides and any(s == 0 and n > 1 for s, n in zip(data.strides, data.shape, strict=True))
