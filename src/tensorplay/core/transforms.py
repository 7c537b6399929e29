"""What every transform does at its border: tensors become carriers of its own level, and are themselves again after.

A transform takes a level (``enter``), runs the function on carriers of that level, takes out of the results what is
of its own level (anything lower is a constant to it), and ends the level (``leave``), whether the function returned
or raised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .carrier import Batched, Carrier, Dual, DualLevel, Meta
from .namespace import F
from .node import Node
from .state import count, live_levels
from .tensor import Tensor, wrap


def enter() -> int:
    """A level that no transform has used before."""
    level = count()
    live_levels.add(level)
    return level


leave = live_levels.discard


class Alias(Node):
    """The node of a tensor that stands for another one inside a transform."""

    __slots__ = ()

    arity = 1

    def __init__(self, edge: Node) -> None:
        self.first, self.second, self.more = edge, None, ()
        self.saved = ()
        self.rare = None
        self.order = count()

    def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        return (cotangent,)

    pull_tensors = pull


class StandIn(Alias):
    """The node of a function's argument that is tracked outside; like a leaf's, its tensor is not written to."""

    __slots__ = ()


# ---- forward mode


def make_dual(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    """A tensor with a tangent. If the primal requires grad so does the dual, by an edge to it."""
    dual = wrap(Dual(primal, tangent, level))
    if primal._node is not None:
        dual._node = Alias(primal._node)
    return dual


def unpack_dual(t: Tensor, level: int) -> tuple[Tensor, Tensor | None]:
    """Primal and tangent at a level; a tensor of a lower level has no tangent there."""
    data = t._data
    if type(data) is Dual and data.level == level:
        return data.primal, data.tangent
    return alive(t, level), None


def alive(t: Tensor, level: int) -> Tensor:
    """A result of a lower level; that of a transform that has returned, or of one further in, is refused."""
    data = t._data
    while type(data) is Dual and type(data.level) is DualLevel and data.level not in live_levels:
        t = data.primal  # its level of forward_ad has ended
        data = t._data
    if isinstance(data, Carrier) and (data.level > level or data.level not in live_levels):
        kind = data.transform
        raise RuntimeError(
            f"{kind}: a tensor made inside {kind} is returned from outside of it; "
            f"return it from the function that {kind} was given"
        )
    return t


# ---- batching; the batch dimension of a value is always its first


def moved(t: Tensor, source: int, destination: int) -> Tensor:
    """The tensor with one dimension moved; both are counted from the front."""
    if source == destination:
        return t
    n = t._data.ndim
    order = list(range(n))
    order.insert(destination, order.pop(source))
    return F.permute(t, tuple([d - n for d in order]))


def make_batched(t: Tensor, dim: int, level: int) -> Tensor:
    """A tensor that stands for its slices along a dimension, counted from the front."""
    return wrap(Batched(t if dim == 0 else moved(t, dim, 0), level))


def unpack_batched(t: Tensor, level: int) -> Tensor | None:
    """The value of a batch of the given level, the batch in front; None for a tensor of a lower level."""
    data = t._data
    if type(data) is Batched and data.level == level:
        return data.value
    alive(t, level)
    return None


def expanded(t: Tensor, size: int) -> Tensor:
    """The same tensor for each example."""
    return F.expand(t, (size, *t._data.shape))


# ---- what is pushed and pulled


def unit_vectors(x: Tensor, start: int, stop: int) -> Tensor:
    """The tensors that are one at an element of x and zero elsewhere, for some of its elements, stacked."""
    n, dtype, shape = x._data.size, x._data.dtype, x._data.shape
    if x.is_meta:
        return wrap(Meta((stop - start, *shape), dtype))
    rows = np.zeros((stop - start, n), dtype)
    rows[np.arange(stop - start), np.arange(start, stop)] = 1
    return wrap(rows.reshape(stop - start, *shape))


def zeros_of(x: Tensor, lead: tuple[int, ...]) -> Tensor:
    """Zeros for a stack of tensors like x."""
    shape = (*lead, *x._data.shape)
    return wrap(Meta(shape, x._data.dtype) if x.is_meta else np.zeros(shape, x._data.dtype))


def matching(v: Tensor, x: Tensor) -> Tensor:
    """A tangent or cotangent in the dtype of the tensor it belongs to; real and complex are never mixed up."""
    have, want = v._data.dtype, x._data.dtype
    if have == want:
        return v
    if have.kind == "c" and want.kind != "c":
        raise RuntimeError(
            f"a tangent or cotangent of {v.dtype} was given for a tensor of {x.dtype}: expected a real one"
        )
    return F.cast(v, want)
