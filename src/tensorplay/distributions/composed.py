"""Distributions made of others: transformed, with batch dimensions read as events, mixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import tensorplay as tp

from ..core.tensor import Size, Tensor
from . import constraints
from .discrete import Categorical
from .distribution import Distribution, SampleShape
from .transform import ComposeTransform, Transform, _with_event_dim
from .utils import sum_rightmost

__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]

D = TypeVar("D", bound=Distribution)


class Independent(Distribution, Generic[D]):
    """Batch dimensions of a distribution as dimensions of the event: log-probabilities are summed over them.

    Parameters
    ----------
    base_distribution : Distribution
        What is drawn.
    reinterpreted_batch_ndims : int
        How many of its last batch dimensions.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If it has fewer batch dimensions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import Independent, Normal
    >>> d = Independent(Normal(tp.zeros(3), tp.ones(3)), 1)
    >>> d.event_shape, d.log_prob(tp.zeros(3))
    (tensorplay.Size([3]), tensor(-2.7568))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    base_dist: D

    def __init__(self, base_distribution: D, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(f"Independent(): reinterpreted_batch_ndims must be at most {len(batch)}, the number of "
                             f"batch dimensions, got {reinterpreted_batch_ndims}")  # fmt: skip
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new, shape = self._get_checked_instance(Independent, _instance), Size(batch_shape)
        new.base_dist = self.base_dist.expand(shape + self.event_shape[: self.reinterpreted_batch_ndims])
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        super(Independent, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        inside = self.base_dist.support
        if self.reinterpreted_batch_ndims:
            inside = constraints.independent(inside, self.reinterpreted_batch_ndims)
        return inside

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Independent: values of several dimensions are not enumerated")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of a function of draws from another one.

    Parameters
    ----------
    base_distribution : Distribution
        What is drawn.
    transforms : Transform or list of Transform
        What is applied to it, the first one first.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If these are no transforms, or the draws have fewer dimensions than they act on.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import ExpTransform, Normal, TransformedDistribution
    >>> d = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
    >>> d.log_prob(tp.tensor(1.0)), d.cdf(tp.tensor(1.0))
    (tensor(-0.9189), tensor(0.5000))
    """

    arg_constraints: Any = {}

    def __init__(
        self, base_distribution: Distribution, transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if isinstance(transforms, Transform):
            transforms = [transforms]
        if not isinstance(transforms, list) or not all(isinstance(t, Transform) for t in transforms):
            raise ValueError(f"{type(self).__name__}(): transforms must be a Transform or a list of them, got "
                             f"{transforms!r}")  # fmt: skip
        self.transforms, whole = transforms, ComposeTransform(transforms)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        inside, base_dim = whole.domain.event_dim, len(base_distribution.event_shape)
        if len(shape) < inside:
            raise ValueError(f"{type(self).__name__}(): base_distribution must have at least {inside} dimensions, got "
                             f"shape {tuple(shape)}")  # fmt: skip
        # transforms may broadcast: the base then has the shape of what they are applied to
        forward = whole.forward_shape(shape)
        needed = whole.inverse_shape(forward)
        if tuple(shape) != tuple(needed):
            base_distribution = base_distribution.expand(needed[: len(needed) - base_dim])
        if inside > base_dim:
            base_distribution = Independent(base_distribution, inside - base_dim)
        self.base_dist: Any = base_distribution
        cut = len(forward) - whole.codomain.event_dim - max(base_dim - inside, 0)
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        own = next(c for c in type(self).__mro__ if c.__module__.startswith(__package__ + "."))
        new, shape = self._get_checked_instance(own, _instance), Size(batch_shape)
        dims = self._parameter_dims()
        for name, value in vars(self).items():
            if name in vars(new):
                continue  # by the subclass that gave it
            if name in dims:
                value = value.expand(shape + value.shape[value.dim() - dims[name] :])
            new.__dict__[name] = value
        needed = ComposeTransform(self.transforms).inverse_shape(shape + self.event_shape)
        new.base_dist = self.base_dist.expand(needed[: len(needed) - len(self.base_dist.event_shape)])
        Distribution.__init__(new, shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        return _with_event_dim(self.transforms[-1].codomain, len(self.event_shape))

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        with tp.no_grad():
            return self._forward(self.base_dist.sample(sample_shape)).detach()

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        y = self._checked(value)
        event_dim, total = len(self.event_shape), None
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            term = sum_rightmost(transform.log_abs_det_jacobian(x, y), event_dim - transform.domain.event_dim)
            total, y = (-term if total is None else total - term), x
        of_base = sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))
        return of_base if total is None else of_base + total

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """The probability on the other side where the transforms fall."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int):
            return value if sign == 1 else 1 - value
        return tp.where(sign > 0, value, 1 - value)

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))


class MixtureSameFamily(Distribution):
    """A mixture: a component is drawn, then a value from it.

    Parameters
    ----------
    mixture_distribution : Categorical
        The weights of the components.
    component_distribution : Distribution
        The components, along its last batch dimension.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If the weights are not Categorical, or the shapes do not go together.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import Categorical, MixtureSameFamily, Normal
    >>> d = MixtureSameFamily(Categorical(tp.tensor([0.5, 0.5])), Normal(tp.tensor([-1.0, 1.0]), 1.0))
    >>> d.mean, d.variance, d.log_prob(tp.tensor(0.0))
    (tensor(0.), tensor(2.), tensor(-1.4189))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("MixtureSameFamily(): mixture_distribution must be a Categorical, not "
                             f"{type(mixture_distribution).__name__}")  # fmt: skip
        if not isinstance(component_distribution, Distribution):
            raise ValueError("MixtureSameFamily(): component_distribution must be a Distribution, not "
                             f"{type(component_distribution).__name__}")  # fmt: skip
        weights, components = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        if any(i != j and 1 not in (i, j) for i, j in zip(reversed(weights), reversed(components))):
            raise ValueError(f"MixtureSameFamily(): the batch shape {tuple(weights)} of mixture_distribution does not "
                             f"go with {tuple(components)}, that of component_distribution less its last")  # fmt: skip
        count = mixture_distribution._num_events
        if component_distribution.batch_shape[-1:] != (count,):
            raise ValueError(f"MixtureSameFamily(): component_distribution must have {count} components in its "
                             f"last batch dimension, got {tuple(component_distribution.batch_shape)}")  # fmt: skip
        self._num_component, self._event_ndims = count, len(component_distribution.event_shape)
        super().__init__(components, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new, shape = self._get_checked_instance(MixtureSameFamily, _instance), Size(batch_shape)
        new._mixture_distribution = self._mixture_distribution.expand(shape)
        new._component_distribution = self._component_distribution.expand(Size((*shape, self._num_component)))
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        super(MixtureSameFamily, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The weights of the components."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    def _weighted(self, values: Tensor) -> Tensor:
        """The sum over components of values, weighted by their probabilities."""
        probs = self._mixture_distribution.probs
        return (probs.reshape(*probs.shape, *(1,) * self._event_ndims) * values).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        components = self._component_distribution
        away = components.mean - self._pad(self.mean)
        return self._weighted(components.variance) + self._weighted(away * away)

    def cdf(self, x: Tensor) -> Tensor:
        return (self._component_distribution.cdf(self._pad(x)) * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        logs = self._component_distribution.log_prob(self._pad(self._checked(x)))
        return tp.logsumexp(logs + tp.log_softmax(self._mixture_distribution.logits, -1), -1)

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        with tp.no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            values = self._component_distribution.sample(sample_shape)
            chosen = chosen.expand(values.shape[: values.dim() - self._event_ndims - 1])
            at = chosen.reshape(*chosen.shape, 1, *(1,) * self._event_ndims)
            at = at.expand(*chosen.shape, 1, *self._event_shape)
            return values.gather(-1 - self._event_ndims, at).squeeze(-1 - self._event_ndims)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
