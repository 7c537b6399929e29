"""Transforms from unconstrained space to the sets that constraints describe."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from . import constraints, transforms
from .constraints import Constraint
from .transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """From classes of constraints to functions that make a transform to such a set.

    ``biject_to`` gives bijective transforms with Jacobians, for changes of variables; ``transform_to`` cheaper ones
    where there are, for optimisation over the set.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import constraints, transform_to
    >>> transform_to(constraints.positive)(tp.tensor([-1.0, 0.0]))
    tensor([0.3679, 1.0000])
    """

    def __init__(self) -> None:
        self._registry: dict[type[Constraint], Factory] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Enter a function for a class of constraints (or the class of an instance); a decorator without it.

        Raises
        ------
        TypeError
            If it is no constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, Constraint):
            raise TypeError(f"register(): constraint must be a Constraint or a class of them, got {constraint!r}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        """A transform to the set.

        Raises
        ------
        NotImplementedError
            If none is known.
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"no transform is registered to {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _entered(*kinds: Any, to: tuple[ConstraintRegistry, ...] = (biject_to, transform_to)) -> Callable[[Any], Any]:
    """Enter a function of a constraint and the registry for kinds of constraints."""

    def enter(function: Any) -> Any:
        for registry in to:
            for kind in kinds:
                registry.register(kind, partial(function, registry=registry))
        return function

    return enter


@_entered(constraints.real)
def _to_real(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.identity_transform


@_entered(constraints.independent)
def _to_independent(constraint: Any, registry: ConstraintRegistry) -> Transform:
    base = registry(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@_entered(constraints.greater_than, constraints.greater_than_eq)
def _to_greater_than(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


@_entered(constraints.less_than)
def _to_less_than(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


@_entered(constraints.interval, constraints.half_open_interval)
def _to_interval(constraint: Any, registry: ConstraintRegistry) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_entered(constraints.simplex)
def _to_simplex(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.StickBreakingTransform() if registry is biject_to else transforms.SoftmaxTransform()


@_entered(constraints.lower_cholesky, to=(transform_to,))
def _to_lower_cholesky(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.LowerCholeskyTransform()


@_entered(constraints.positive_definite, constraints.positive_semidefinite, to=(transform_to,))
def _to_positive_definite(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.PositiveDefiniteTransform()


@_entered(constraints.corr_cholesky)
def _to_corr_cholesky(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.CorrCholeskyTransform()


@_entered(constraints.cat)
def _to_cat(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.CatTransform([registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths)


@_entered(constraints.stack)
def _to_stack(constraint: Any, registry: ConstraintRegistry) -> Transform:
    return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)
