"""Data that stands for more than one array.

A Tensor holds an array or a carrier. A carrier holds Tensors, so transforms nest to any depth; its level says which
transform it belongs to. An operator meets the highest level first, and whatever is of a lower level is a constant
there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import MODULES
from .namespace import F
from .state import state

if TYPE_CHECKING:
    from .primitive import Primitive
    from .tensor import Tensor


class Meta:
    """Shape and dtype without data: an array whose strides are all zero."""

    __slots__ = ("value",)
    level = 0

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.value = np.broadcast_to(np.zeros((), dtype), shape)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size


class DualLevel(int):
    """A level of ``forward_ad``, which the user ends: its duals are then read as their primals."""

    __slots__ = ()


class Carrier:
    """What all carriers share: the shape and dtype of one example, of the primal."""

    __slots__ = ("dtype", "level", "ndim", "shape")

    transform = ""  # what makes carriers of this kind, for messages

    dtype: np.dtype[Any]
    level: int
    ndim: int
    shape: tuple[int, ...]

    @property
    def inner(self) -> Tensor:
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """All tensors that it holds."""
        return (self.inner,)

    def run(self, primitive: Primitive, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """How a primitive acts on data of this kind: the data of its output, or Tensors of a lower level."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class Batched(Carrier):
    """``value`` has one more dimension, in front, than the tensor it stands for."""

    __slots__ = ("value",)
    transform = "vmap"

    def __init__(self, value: Tensor, level: int) -> None:
        data = value._data
        self.value, self.level = value, level
        self.shape, self.dtype, self.ndim = data.shape[1:], data.dtype, data.ndim - 1

    @property
    def inner(self) -> Tensor:
        return self.value

    def run(self, primitive: Primitive, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        level = self.level
        if primitive.elementwise and len(args) < 3 and args[-1] is not None:
            return Batched(primitive.function(*self.aligned(*args), *attrs), level)
        values: list[Any] = []
        dims: list[Any] = []
        for a in args:
            data = None if a is None else a._data
            if type(data) is Batched and data.level == level:
                values.append(data.value)
                dims.append(0)
            else:
                values.append(a)
                dims.append(None)
        out = primitive.batch(primitive, values, dims, *attrs)
        if type(out) is tuple or type(out) is list:
            return [Batched(o, level) for o in out]
        return Batched(out, level)

    def aligned(self, first: Tensor, second: Tensor | None = None) -> tuple[Tensor, ...]:
        """One or two operands whose examples broadcast against each other: the common case, without a list."""
        x, level = first._data, self.level
        if second is None:
            return (x.value,)
        y = second._data
        if type(x) is Batched and x.level == level:
            first = x.value if x.ndim >= y.ndim else filled(x.value, y.ndim)
        if type(y) is Batched and y.level == level:
            second = y.value if y.ndim >= x.ndim else filled(y.value, x.ndim)
        return first, second


def filled(value: Tensor, ndim: int) -> Tensor:
    """A batch of examples with ones in front of their dimensions, ``ndim`` in all."""
    size, *shape = value._data.shape
    return F.reshape(value, (size, *(1,) * (ndim - len(shape)), *shape))


class Moving(Carrier):
    """A primal, and what forward mode knows of how it changes; whoever reads its values reads the primal."""

    __slots__ = ("primal",)

    primal: Tensor

    @property
    def inner(self) -> Tensor:
        return self.primal

    def at(self, primal: Tensor) -> Moving:
        """The same changes, of another tensor of the same values."""
        raise NotImplementedError

    def still(self) -> Moving:
        """The same primal, which does not change."""
        raise NotImplementedError


class Dual(Moving):
    """A primal and its tangent, of the same shape and dtype."""

    __slots__ = ("tangent",)
    transform = "jvp"

    def __init__(self, primal: Tensor, tangent: Tensor, level: int) -> None:
        p, t = primal._data, tangent._data
        if p.shape != t.shape or (p.dtype is not t.dtype and p.dtype != t.dtype):
            raise RuntimeError(
                f"a tangent must have the shape and dtype of its primal, got {tuple(t.shape)} {t.dtype} "
                f"for a primal of {tuple(p.shape)} {p.dtype}"
            )
        self.primal, self.tangent, self.level = primal, tangent, level
        self.shape, self.dtype, self.ndim = p.shape, p.dtype, p.ndim

    @property
    def parts(self) -> tuple[Tensor, ...]:
        return self.primal, self.tangent

    def at(self, primal: Tensor) -> Dual:
        return Dual(primal, self.tangent, self.level)

    def still(self) -> Dual:
        return Dual(self.primal, F.zeros_like(self.primal), self.level)

    def run(self, primitive: Primitive, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        level = self.level
        primals: list[Any] = []
        tangents: list[Any] = []
        for a in args:
            data = None if a is None else a._data
            if type(data) is Dual and data.level == level:
                primals.append(data.primal)
                tangents.append(data.tangent)
            else:
                primals.append(a)
                tangents.append(None)
        if primitive.variadic:
            out, moving = primitive.apply(tuple(primals), attrs), True
        else:
            out, moving = primitive.function(*primals, *attrs), False
            for i in primitive.differentiable:
                moving = moving or tangents[i] is not None
        push = primitive.push
        if not moving or push is None or not state.forward_ad:
            return out
        if is_integral(out):
            return out
        tangent = push(tangents, out, primals, attrs)
        if type(out) is tuple or type(out) is list:
            return [o if t is None else Dual(o, match(t, o), level) for o, t in zip(out, tangent, strict=True)]
        return out if tangent is None else Dual(out, match(tangent, out), level)


def is_integral(out: Any) -> bool:
    """Whether an operator has one result, which holds integers: these do not move, whatever its rule says."""
    return type(out) is not list and type(out) is not tuple and out._data.dtype.kind in "iub"


def match(tangent: Tensor, primal: Tensor) -> Tensor:
    """The tangent of a broadcast operand, expanded to the shape and dtype of the result."""
    have, want = tangent._data, primal._data
    if have.dtype is not want.dtype and have.dtype != want.dtype:
        tangent = F.cast(tangent, want.dtype)
    if have.shape != want.shape:
        tangent = F.expand(tangent, want.shape)
    return tangent


def own_memory(t: Tensor) -> Tensor:
    """The same value and history, at every level, in memory that nobody else writes to."""
    data = t._data
    if type(data) is np.ndarray:
        data = data.copy()
    elif type(data) is Batched:
        data = Batched(own_memory(data.value), data.level)
    elif isinstance(data, Moving):  # a tangent is never written to
        data = data.at(own_memory(data.primal))
    elif type(data) in MODULES and hasattr(data, "copy"):
        data = data.copy()
    copy = t._alias(t._node)
    copy._data = data
    return copy
