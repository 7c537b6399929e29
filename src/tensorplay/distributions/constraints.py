"""Constraints: the sets in which parameters and samples lie, with a check of each element (or vector, or matrix).

``event_dim`` says how many of the last dimensions one decision is about; ``is_discrete`` whether values are isolated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorplay as tp

from ..core.tensor import Tensor

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip

Bound = Any  # a number, or a Tensor of one for each element


class Constraint:
    """A set of values; subclasses say which by ``check``.

    Attributes
    ----------
    is_discrete : bool
        Whether the values are isolated.
    event_dim : int
        How many of the last dimensions one decision is about.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.constraints.simplex.check(tp.tensor([[0.5, 0.5], [0.5, 0.6]]))
    tensor([ True, False])
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _bounds: tuple[str, ...] = ()

    def check(self, value: Tensor) -> Tensor:
        """For each event (element, vector or matrix) whether it lies in the set."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is checked")

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{type(self).__name__.lstrip('_')}({bounds})"


class _Dependent(Constraint):
    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    def _known(self, name: str) -> Any:
        value = getattr(self, f"_{name}")
        if value is NotImplemented:
            raise NotImplementedError(f"{name} of this constraint depends on the parameters of the distribution")
        return value

    @property
    def is_discrete(self) -> bool:
        return self._known("is_discrete")

    @property
    def event_dim(self) -> int:
        return self._known("event_dim")

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> Any:
        """The same with what is known about it."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x: Tensor) -> Tensor:
        raise ValueError("a dependent constraint can be checked only on an instance of the distribution")


def is_dependent(constraint: object) -> bool:
    """Whether a constraint depends on the parameters of the distribution.

    Examples
    --------
    >>> from tensorplay.distributions import constraints
    >>> constraints.is_dependent(constraints.dependent), constraints.is_dependent(constraints.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that is a dependent constraint where it is read from the class."""

    def __init__(
        self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:  # fmt: skip
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        inside = self.base_constraint.check(value)
        if inside.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"expected at least {self.base_constraint.event_dim + self.reinterpreted_batch_ndims} "
                             f"dimensions, got {value.dim()}")  # fmt: skip
        return inside.flatten(inside.dim() - self.reinterpreted_batch_ndims).all(-1) if (
            self.reinterpreted_batch_ndims) else inside  # fmt: skip

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: that of its components, whose batch dimension samples do not have.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import constraints
    >>> constraints.MixtureSameFamilyConstraint(constraints.positive).check(tp.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, not {type(base_constraint).__name__}")
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        event_dim = self.event_dim
        inside = self.base_constraint.check(value.unsqueeze(-1 - event_dim))
        if value.dim() < event_dim:
            raise ValueError(f"expected at least {event_dim} dimensions, got {value.dim()}")
        return inside.all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


# ---- elements


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


def _whole(value: Tensor) -> Tensor:
    return value % 1 == 0


class _IntegerInterval(Constraint):
    is_discrete = True
    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Bound, upper_bound: Bound) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerLessThan(Constraint):
    is_discrete = True
    _bounds = ("upper_bound",)

    def __init__(self, upper_bound: Bound) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & (value <= self.upper_bound)


class _IntegerGreaterThan(Constraint):
    is_discrete = True
    _bounds = ("lower_bound",)

    def __init__(self, lower_bound: Bound) -> None:
        self.lower_bound = lower_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & (value >= self.lower_bound)


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # not nan


class _GreaterThan(Constraint):
    _bounds = ("lower_bound",)

    def __init__(self, lower_bound: Bound) -> None:
        self.lower_bound = lower_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_GreaterThan):
    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class _LessThan(Constraint):
    _bounds = ("upper_bound",)

    def __init__(self, upper_bound: Bound) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(Constraint):
    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Bound, upper_bound: Bound) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


# ---- vectors


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: int) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Tensor) -> Tensor:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


# ---- matrices


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        tolerance = tp.finfo(value.dtype).eps * value.size(-1) * 10  # of the sum of so many rounded squares
        units = ((value.square().sum(-1) - 1).abs() < tolerance).all(-1)
        return _LowerCholesky().check(value) & units


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return tp.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=tp.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return square
        return square & tp.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return symmetric
        return symmetric & (tp.linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return symmetric
        return symmetric & (tp.linalg.cholesky_ex(value).info == 0)


# ---- several along a dimension


class _Parts(Constraint):
    """Constraints for parts along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("cseq must hold Constraints")
        self.cseq, self.dim = list(cseq), dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    def _check_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dimension {self.dim} is none of the {value.dim()} that the value has")


class _Cat(_Parts):
    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"got {len(self.lengths)} lengths for {len(self.cseq)} constraints")

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        parts = value.split([*self.lengths, value.shape[self.dim] - sum(self.lengths)], self.dim)
        return tp.cat([c.check(v) for c, v in zip(self.cseq, parts)], self.dim)


class _Stack(_Parts):
    @property
    def event_dim(self) -> int:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        return tp.stack([c.check(v) for c, v in zip(self.cseq, value.unbind(self.dim))], self.dim)


dependent: Any = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
