"""Transforms of tensors: what they share, their inverses, one after the other."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import tensorplay as tp

from ..core.tensor import Tensor
from . import constraints
from .utils import lazy_property, sum_rightmost

Shape = Sequence[int]


class Transform:
    """A function of tensors with the logarithm of the determinant of its Jacobian.

    Subclasses define ``domain``, ``codomain``, ``_call``, and where they have an inverse ``_inverse``, ``bijective``
    and ``log_abs_det_jacobian``.

    Parameters
    ----------
    cache_size : int
        With 1 the last argument and result are remembered, so that the inverse of a result costs nothing and is exact.

    Attributes
    ----------
    domain, codomain : Constraint
        Where arguments and results lie.
    bijective : bool
        Whether each result comes from one argument only.
    sign : int or Tensor
        1 where the function rises, -1 where it falls; of scalar bijective transforms only.

    Raises
    ------
    ValueError
        If ``cache_size`` is neither 0 nor 1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> exp = tp.distributions.ExpTransform()
    >>> y = exp(tp.tensor(2.0))
    >>> exp.inv(y), exp.log_abs_det_jacobian(tp.tensor(2.0), y)
    (tensor(2.), tensor(2.))
    """

    bijective: Any = False
    domain: Any
    codomain: Any
    _sign: int | None = None

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"{type(self).__name__}(): cache_size must be 0 or 1, got {cache_size}")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """How many of the last dimensions the transform acts on together, where that is one number."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("use domain.event_dim or codomain.event_dim: they differ")

    @property
    def inv(self) -> Transform:
        """The inverse, as a transform."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """1 where the function rises, -1 where it falls."""
        if self._sign is None:
            raise NotImplementedError(f"{type(self).__name__} has no sign")
        return self._sign

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with a cache of that size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self).__name__} does not say how it is made with another cache_size")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        x_old, y_old = self._cached_x_y
        if x is x_old:
            return y_old
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        x_old, y_old = self._cached_x_y
        if y is y_old:
            return x_old
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} defines no _call")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} defines no _inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``log |det dy/dx|``, of the event dimensions."""
        raise NotImplementedError(f"{type(self).__name__} defines no log_abs_det_jacobian")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Shape) -> Shape:
        """The shape of the result for an argument of a shape."""
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        """The shape of the argument for a result of a shape."""
        return shape


class _InverseTransform(Transform):
    """The inverse of a transform, which holds it."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Transform = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    @property
    def domain(self) -> Any:
        return self._inv.codomain

    @property
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Shape) -> Shape:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return self._inv.forward_shape(shape)


def _with_event_dim(constraint: Any, event_dim: int) -> Any:
    """The constraint over so many dimensions, at least its own."""
    extra = event_dim - constraint.event_dim
    return constraints.independent(constraint, extra) if extra > 0 else constraint


class ComposeTransform(Transform):
    """One transform after the other.

    Parameters
    ----------
    parts : list of Transform
        The first one acts first.
    cache_size : int
        See :class:`Transform`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import AffineTransform, ComposeTransform, ExpTransform
    >>> ComposeTransform([AffineTransform(0.0, 2.0), ExpTransform()])(tp.tensor(1.0))
    tensor(7.3891)
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts
        super().__init__(cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @property
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim = max(event_dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _with_event_dim(self.parts[0].domain, event_dim)

    @property
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = max(event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _with_event_dim(self.parts[-1].codomain, event_dim)

    @lazy_property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv, inverse._inv = weakref.ref(inverse), weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return tp.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        event_dim, total = self.domain.event_dim, None
        for part, a, b in zip(self.parts, values[:-1], values[1:]):
            term = sum_rightmost(part.log_abs_det_jacobian(a, b), event_dim - part.domain.event_dim)
            total = term if total is None else total + term
            event_dim += part.codomain.event_dim - part.domain.event_dim
        assert total is not None
        return total

    def forward_shape(self, shape: Shape) -> Shape:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inside = ",\n".join("    " + repr(part).replace("\n", "\n    ") for part in self.parts)
        return f"ComposeTransform(\n{inside or '    '}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as one event; Jacobians are summed over them.

    Parameters
    ----------
    base_transform : Transform
        What acts.
    reinterpreted_batch_ndims : int
        How many dimensions.
    cache_size : int
        See :class:`Transform`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import ExpTransform, IndependentTransform
    >>> x = tp.tensor([1.0, 2.0])
    >>> IndependentTransform(ExpTransform(), 1).log_abs_det_jacobian(x, x.exp())
    tensor(3.)
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @property
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _check(self, value: Tensor, constraint: Any) -> None:
        if value.dim() < constraint.event_dim:
            raise ValueError(f"IndependentTransform(): expected at least {constraint.event_dim} dimensions, got "
                             f"{value.dim()}")  # fmt: skip

    def _call(self, x: Tensor) -> Tensor:
        self._check(x, self.domain)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        self._check(y, self.codomain)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Shape) -> Shape:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return self.base_transform.inverse_shape(shape)


class _SameKind(Transform):
    """Without parameters: all of one class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)
