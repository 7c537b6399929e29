"""Transforms of tensors: forward, inverse, and the logarithm of the absolute determinant of the Jacobian."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tensorplay as tp

from ..core.tensor import Size, Tensor
from ..ops.activation import logsigmoid
from ..ops.padding import pad
from . import constraints
from .transform import (
    ComposeTransform,
    IndependentTransform,
    Shape,
    Transform,
    _SameKind,
    _with_event_dim,
    identity_transform,
)
from .utils import lazy_property, softplus, sum_rightmost, tril_extent, tril_matrix_to_vec, vec_to_tril_matrix

if TYPE_CHECKING:
    from .distribution import Distribution

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "identity_transform",
]  # fmt: skip


class ReshapeTransform(Transform):
    """The last dimensions in another shape.

    Parameters
    ----------
    in_shape, out_shape : Size
        Shapes of the event before and after.
    cache_size : int
        See :class:`Transform`.

    Raises
    ------
    ValueError
        If they have different numbers of elements.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.ReshapeTransform((2, 3), (6,))(tp.zeros(4, 2, 3)).shape
    tensorplay.Size([4, 6])
    """

    bijective = True

    def __init__(self, in_shape: Shape, out_shape: Shape, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(f"ReshapeTransform(): in_shape {list(in_shape)} and out_shape {list(out_shape)} have "
                             "different numbers of elements")  # fmt: skip
        super().__init__(cache_size=cache_size)

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def _exchanged(self, shape: Shape, old: Size, new: Size) -> Shape:
        cut = len(shape) - len(old)
        if cut < 0:
            raise ValueError(f"ReshapeTransform(): too few dimensions in shape {list(shape)} for {list(old)}")
        if tuple(shape[cut:]) != tuple(old):
            raise ValueError(f"ReshapeTransform(): the last dimensions of {list(shape)} must be {list(old)}")
        return Size(shape[:cut]) + new

    def forward_shape(self, shape: Shape) -> Shape:
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return self._exchanged(shape, self.out_shape, self.in_shape)


# ---- element by element


class ExpTransform(_SameKind):
    """``y = exp(x)``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.ExpTransform()(tp.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    _sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """``y = x ** exponent``, of positive numbers.

    Parameters
    ----------
    exponent : Tensor or float
        Not zero.
    cache_size : int
        See :class:`Transform`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.PowerTransform(tp.tensor(2.0))(tp.tensor([1.0, 3.0]))
    tensor([1., 9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.exponent = exponent if isinstance(exponent, Tensor) else tp.tensor(exponent)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    @lazy_property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _equal(self.exponent, other.exponent)

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        exponent = self.exponent * tp.ones_like(x)  # a number in the precision of x
        return exponent.abs().log() + (exponent - 1) * x.log()

    def forward_shape(self, shape: Shape) -> Shape:
        return tp.broadcast_shapes(shape, self.exponent.shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return tp.broadcast_shapes(shape, self.exponent.shape)


def _equal(a: Any, b: Any) -> bool:
    """Whether numbers, or all elements of tensors that broadcast, are equal."""
    equal = a == b
    return bool(equal.all()) if isinstance(equal, Tensor) else bool(equal)


class SigmoidTransform(_SameKind):
    """``y = 1 / (1 + exp(-x))``; the inverse is finite at 0 and 1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.SigmoidTransform()(tp.tensor([0.0, 100.0]))
    tensor([0.5000, 1.0000])
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    _sign = 1

    def _call(self, x: Tensor) -> Tensor:
        info = tp.finfo(x.dtype)
        return x.sigmoid().clamp(min=info.tiny, max=1 - info.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        info = tp.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_SameKind):
    """``y = log(1 + exp(x))``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.SoftplusTransform()(tp.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    _sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_SameKind):
    """``y = tanh(x)``.

    Far from zero results round to 1, which has no inverse: use a cache where results are taken back.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.TanhTransform()(tp.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    _sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * (math.log(2.0) - x - softplus(-2 * x))  # log(1 - tanh(x)**2), which underflows when taken literally


class AbsTransform(_SameKind):
    """``y = |x|``, which is not injective; its inverse takes the positive branch.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.AbsTransform()(tp.tensor([-2.0, 3.0]))
    tensor([2., 3.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """``y = loc + scale * x``.

    Parameters
    ----------
    loc, scale : Tensor or float
        Broadcast with the argument.
    event_dim : int
        How many of the last dimensions are one event.
    cache_size : int
        See :class:`Transform`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.AffineTransform(1.0, 2.0)(tp.tensor([0.0, 3.0]))
    tensor([1., 7.])
    """

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> Any:
        return _with_event_dim(constraints.real, self.event_dim)

    codomain = domain

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and _equal(self.loc, other.loc) and _equal(self.scale, other.scale)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            logs = self.scale.abs().log()
        else:
            logs = tp.full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(logs.expand(tp.broadcast_shapes(x.shape, logs.shape)), self.event_dim)

    def forward_shape(self, shape: Shape) -> Shape:
        return tp.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """``y = cdf(x)`` of a distribution of numbers; the inverse takes its quantiles.

    Parameters
    ----------
    distribution : Distribution
        One with ``cdf``, ``icdf`` and ``log_prob``.
    cache_size : int
        See :class:`Transform`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import CumulativeDistributionTransform, Normal
    >>> CumulativeDistributionTransform(Normal(0.0, 1.0))(tp.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    _sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)


# ---- to vectors of a simplex


class SoftmaxTransform(_SameKind):
    """From vectors to the simplex, by exponentials of which the sum is made 1; not injective.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.SoftmaxTransform()(tp.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Shape) -> Shape:
        return _at_least(self, shape, 1)

    inverse_shape = forward_shape


def _at_least(transform: Transform, shape: Shape, dims: int) -> Shape:
    if len(shape) < dims:
        raise ValueError(f"{type(transform).__name__}: expected at least {dims} dimensions, got shape {list(shape)}")
    return shape


class StickBreakingTransform(_SameKind):
    """From vectors to the simplex with one element more: each element breaks a part off what is left of a stick.

    The part is ``sigmoid(x - log(elements left))``, so that zeros give equal parts.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.StickBreakingTransform()(tp.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _left(self, x: Tensor) -> Tensor:
        """How many elements are left, at each of the vector."""
        return tp.arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device)

    def _call(self, x: Tensor) -> Tensor:
        logits = x - self._left(x).log()
        taken, kept = logsigmoid(logits), logsigmoid(-logits)
        return (pad(taken, (0, 1)) + pad(kept.cumsum(-1), (1, 0))).exp()

    def _inverse(self, y: Tensor) -> Tensor:
        front = y[..., :-1]
        rest = 1 - front.cumsum(-1)
        rest = rest.clamp(min=tp.finfo(y.dtype).tiny)  # of parts that have used up the stick in rounding
        return front.log() - rest.log() + self._left(front).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        logits = x - self._left(x).log()
        return (-logits + logsigmoid(logits) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Shape) -> Shape:
        return Size((*_at_least(self, shape, 1)[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Shape) -> Shape:
        return Size((*_at_least(self, shape, 1)[:-1], shape[-1] - 1))


# ---- to matrices


class CorrCholeskyTransform(Transform):
    """From vectors to Cholesky factors of correlation matrices: rows of norm 1, by breaking sticks.

    ``tanh`` of an entry is the partial correlation: the part of what is left of the row's squared norm, with its sign.
    Formulas after Lewandowski, Kurowicka, Joe (2009).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.CorrCholeskyTransform()(tp.tensor([0.0]))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        info = tp.finfo(x.dtype)
        r = vec_to_tril_matrix(x.tanh().clamp(min=-1 + info.eps, max=1 - info.eps), -1)
        left = (1 - r * r).cumprod(-1).sqrt()  # of the row's norm, after each entry
        n = r.shape[-1]
        return (r + tp.eye(n, dtype=x.dtype, device=x.device)) * pad(left[..., :-1], (1, 0), value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        left = 1 - (y * y).cumsum(-1)
        before = tril_matrix_to_vec(pad(left[..., :-1], (1, 0), value=1.0), -1)
        t = tril_matrix_to_vec(y, -1) / before.clamp(min=tp.finfo(y.dtype).tiny).sqrt()
        return t.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        # each entry is tanh(x) times the root of what is left of its row, that of all entries before it
        left = 1 - (y * y).cumsum(-1)
        return tril_matrix_to_vec(left, -2).log().sum(-1) / 2 - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Shape) -> Shape:
        count = _at_least(self, shape, 1)[-1]
        n = tril_extent(count, -1)
        if n * (n - 1) // 2 != count:
            raise ValueError(f"CorrCholeskyTransform: no matrix has {count} entries below its diagonal")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Shape) -> Shape:
        n = _square(self, shape)
        return Size((*shape[:-2], n * (n - 1) // 2))


def _square(transform: Transform, shape: Shape) -> int:
    if shape[-2:-1] != shape[-1:] or len(_at_least(transform, shape, 2)) < 2:
        raise ValueError(f"{type(transform).__name__}: expected square matrices, got shape {list(shape)}")
    return shape[-1]


class LowerCholeskyTransform(_SameKind):
    """From matrices to lower triangular ones with a positive diagonal; what is above the diagonal is left out.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.LowerCholeskyTransform()(tp.tensor([[0.0, 5.0], [2.0, 0.0]]))
    tensor([[1., 0.],
            [2., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_SameKind):
    """From matrices to positive definite ones, by way of their Cholesky factors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.PositiveDefiniteTransform()(tp.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(tp.linalg.cholesky(y))


# ---- several along a dimension


class _Parts(Transform):
    """Transforms of parts along a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError(f"{type(self).__name__}(): tseq must hold Transforms")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def _check_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"{type(self).__name__}: dimension {self.dim} is none of the {value.dim()} of the "
                                 "value")  # fmt: skip

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)


class CatTransform(_Parts):
    """Transforms of parts of given lengths along a dimension.

    Parameters
    ----------
    tseq : sequence of Transform
        One for each part.
    dim : int
        The dimension.
    lengths : sequence of int, optional
        The extents of the parts, 1 each if left out.
    cache_size : int
        See :class:`Transform`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import CatTransform, ExpTransform, identity_transform
    >>> CatTransform([ExpTransform(), identity_transform], lengths=[1, 2])(tp.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"CatTransform(): got {len(self.lengths)} lengths for {len(self.transforms)} parts")

    @lazy_property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _split(self, value: Tensor) -> tuple[Tensor, ...]:
        self._check_dim(value)
        if value.size(self.dim) != self.length:
            raise AssertionError(f"CatTransform: expected extent {self.length} in dimension {self.dim}, got "
                                 f"{value.size(self.dim)}")  # fmt: skip
        return value.split(self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return tp.cat([t(part) for t, part in zip(self.transforms, self._split(x))], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return tp.cat([t.inv(part) for t, part in zip(self.transforms, self._split(y))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        logs = []
        for t, a, b in zip(self.transforms, self._split(x), self._split(y)):
            logs.append(sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim))
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        if dim < 0:
            return tp.cat(logs, dim)
        total = logs[0]
        for term in logs[1:]:
            total = total + term
        return total

    @property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Parts):
    """Transforms of the entries along a dimension, one for each.

    Parameters
    ----------
    tseq : sequence of Transform
        As many as the dimension is long.
    dim : int
        The dimension.
    cache_size : int
        See :class:`Transform`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import ExpTransform, StackTransform, identity_transform
    >>> StackTransform([ExpTransform(), identity_transform], dim=1)(tp.zeros(2, 2))
    tensor([[1., 0.],
            [1., 0.]])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _slice(self, z: Tensor) -> list[Tensor]:
        return [z.select(self.dim, i) for i in range(z.size(self.dim))]

    def _each(self, function: Callable[..., Tensor], *values: Tensor) -> Tensor:
        for v in values:
            self._check_dim(v)
            if v.size(self.dim) != len(self.transforms):
                raise AssertionError(f"StackTransform: expected extent {len(self.transforms)} in dimension "
                                     f"{self.dim}, got {v.size(self.dim)}")  # fmt: skip
        slices = zip(*map(self._slice, values))
        return tp.stack([function(t, *parts) for t, parts in zip(self.transforms, slices)], self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return self._each(lambda t, part: t(part), x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._each(lambda t, part: t.inv(part), y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._each(lambda t, a, b: t.log_abs_det_jacobian(a, b), x, y)

    @property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
