"""Distributions of counts and of choices."""

from __future__ import annotations

import math
from typing import Any

import tensorplay as tp

from ..core.tensor import Size, Tensor
from ..ops.activation import logsigmoid
from ..ops.dense import one_hot
from . import constraints
from .continuous import where_else
from .distribution import Distribution, ExponentialFamily, Parameter, ProbsOrLogits, SampleShape
from .utils import broadcast_all, holds, only_one, rand, softplus

__all__ = [
    "Bernoulli", "Binomial", "Categorical", "Geometric", "Multinomial", "NegativeBinomial", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Poisson",
]  # fmt: skip


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """One trial: 1 with a probability, else 0.

    Parameters
    ----------
    probs, logits : Tensor or float
        The probability of 1, or its log-odds; one of them.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If both or none of ``probs`` and ``logits`` are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Bernoulli(0.25)
    >>> d.log_prob(tp.tensor([0.0, 1.0])), d.entropy()
    (tensor([-0.2877, -1.3863]), tensor(0.5623))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Parameter | None = None, logits: Parameter | None = None, validate_args: bool | None = None
    ) -> None:
        self._choose(probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return where_else(self.probs != 0.5, (self.probs >= 0.5).to(self.probs.dtype), math.nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * self._rest

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        with tp.no_grad():
            return tp.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        return x * logsigmoid(self.logits) + (1 - x) * logsigmoid(-self.logits)

    def entropy(self) -> Tensor:
        return self._trial_entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(tp.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return softplus(x)


class Binomial(ProbsOrLogits):
    """The number of successes in independent trials.

    Parameters
    ----------
    total_count : int or Tensor
        The number of trials.
    probs, logits : Tensor
        The probability of success, or its log-odds; one of them.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If both or none of ``probs`` and ``logits`` are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Binomial(4, tp.tensor(0.5))
    >>> d.mean, d.log_prob(tp.tensor(2.0)).exp()
    (tensor(2.), tensor(0.3750))
    """

    arg_constraints: Any = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real
    }  # fmt: skip
    has_enumerate_support = True
    total_count: Tensor

    def __init__(
        self, total_count: Tensor | int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given = probs if logits is None else logits
        if isinstance(given, Tensor) and isinstance(total_count, Tensor):
            total_count = total_count.to(given.dtype)
        self._choose(probs, logits, validate_args, total_count=total_count)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return tp.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * self._rest

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with tp.no_grad():
            return tp.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        x, n = self._checked(value), self.total_count
        log_ways = (n + 1).lgamma() - (x + 1).lgamma() - (n - x + 1).lgamma()
        return log_ways + x * logsigmoid(self.logits) + (n - x) * logsigmoid(-self.logits)

    def _common_count(self, what: str) -> int:
        total = int(self.total_count.max())
        if not holds(self.total_count == total):
            raise NotImplementedError(f"Binomial.{what}() needs all of total_count to be the same")
        return total

    def entropy(self) -> Tensor:
        self._common_count("entropy")
        logs = self.log_prob(self.enumerate_support(False))
        return -(logs.exp() * logs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        total = self._common_count("enumerate_support")
        return self._enumerated(tp.arange(1 + total, dtype=self._param.dtype, device=self._param.device), expand)


class Geometric(ProbsOrLogits):
    """The number of failures before the first success.

    Parameters
    ----------
    probs, logits : Tensor or float
        The probability of success, not 0, or its log-odds; one of them.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If both or none of ``probs`` and ``logits`` are given, or a probability is 0.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Geometric(0.5)
    >>> d.log_prob(tp.tensor(2.0)).exp(), d.mean
    (tensor(0.1250), tensor(1.))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Parameter | None = None, logits: Parameter | None = None, validate_args: bool | None = None
    ) -> None:
        self._choose(probs, logits, validate_args)
        if self._validate_args and probs is not None and not holds(self.probs > 0):
            raise ValueError(f"Geometric(): parameter probs must be positive; got {self.probs}")

    @property
    def mean(self) -> Tensor:
        return self._rest / self.probs

    @property
    def mode(self) -> Tensor:
        return tp.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return self._rest / self.probs.square()

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        with tp.no_grad():
            u = rand(self._extended_shape(sample_shape), self.probs)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        if self._given == "logits":
            return x * logsigmoid(-self.logits) + logsigmoid(self.logits)
        certain = (self.probs == 1) & (x == 0)  # 0 * log(0), and its derivative
        return tp.special.xlog1py(x, -self.probs.masked_fill(certain, 0.0)) + self.probs.log()

    def entropy(self) -> Tensor:
        return self._trial_entropy() / self.probs


class NegativeBinomial(ProbsOrLogits):
    """The number of successes before a number of failures.

    Parameters
    ----------
    total_count : Tensor or float
        The number of failures, which need not be whole.
    probs, logits : Tensor
        The probability of success, less than 1, or its log-odds; one of them.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If both or none of ``probs`` and ``logits`` are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.NegativeBinomial(3.0, tp.tensor(0.5))
    >>> d.mean, d.variance
    (tensor(3.), tensor(6.))
    """

    arg_constraints: Any = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer
    total_count: Tensor

    def __init__(
        self, total_count: Parameter, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given = probs if logits is None else logits
        if isinstance(given, Tensor) and isinstance(total_count, Tensor):
            total_count = total_count.to(given.dtype)
        self._choose(probs, logits, validate_args, total_count=total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        with tp.no_grad():
            rate = tp._standard_gamma(self.total_count.expand(self._extended_shape(sample_shape)))
            return tp.poisson(rate * self.logits.exp())

    def log_prob(self, value: Tensor) -> Tensor:
        x, n = self._checked(value), self.total_count
        nothing = n + x == 0  # no failures, and no success: certain
        norm = (n + x).lgamma() - (1 + x).lgamma() - n.lgamma()
        return n * logsigmoid(-self.logits) + x * logsigmoid(self.logits) + norm.masked_fill(nothing, 0.0)


class Poisson(ExponentialFamily):
    """The Poisson distribution, of the number of rare events.

    Parameters
    ----------
    rate : Tensor or float
        The mean, not negative.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.Poisson(2.0).log_prob(tp.tensor(0.0))
    tensor(-2.)
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    rate: Tensor

    def __init__(self, rate: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        with tp.no_grad():
            return tp.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        rate, x = broadcast_all(self.rate, self._checked(value))
        return tp.xlogy(x, rate) - rate - (x + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.exp()


# ---- choices


class Categorical(ProbsOrLogits):
    """A choice of one of k, as an int64 from 0 to k - 1.

    Parameters
    ----------
    probs, logits : Tensor
        ``(..., k)``: weights, which are divided by their sum, or their logarithms; one of them.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If both or none are given, or the one that is has no dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Categorical(tp.tensor([1.0, 3.0]))
    >>> d.probs, d.log_prob(tp.tensor(0)), d.entropy()
    (tensor([0.2500, 0.7500]), tensor(-1.3863), tensor(0.5623))
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._given = only_one("Categorical", probs=probs, logits=logits)
        value: Any = probs if logits is None else logits
        if value.dim() < 1:
            raise ValueError(f"Categorical(): {self._given} must have at least one dimension, got none")
        if logits is None:
            value = value / value.sum(-1, keepdim=True)
        else:
            value = value - value.logsumexp(-1, keepdim=True)
        setattr(self, self._given, value)
        self._num_events = value.size(-1)
        super().__init__(value.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    def _nan(self) -> Tensor:
        return tp.full(self._extended_shape(), math.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mean(self) -> Tensor:
        return self._nan()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self._nan()

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        shape = Size(sample_shape)
        with tp.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            return tp.multinomial(rows, shape.numel(), True).T.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        index = self._checked(value).to(tp.int64).unsqueeze(-1)
        shape = tp.broadcast_shapes(index.shape, (*self._param.shape[:-1], 1))
        logits = self.logits.expand(*shape[:-1], self._num_events)
        return logits.gather(-1, index.expand(shape)).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=tp.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(tp.arange(self._num_events, device=self._param.device), expand)


class _OfCategorical(Distribution):
    """Made of choices, whose parameters it shows."""

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _categorical: Categorical

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._categorical.param_shape


class OneHotCategorical(_OfCategorical):
    """A choice of one of k, as a vector with a one.

    Parameters
    ----------
    probs, logits : Tensor
        As for :class:`Categorical`.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        As :class:`Categorical` does.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.OneHotCategorical(tp.tensor([0.0, 1.0]))
    >>> d.sample(), d.event_shape
    (tensor([0., 1.]), tensorplay.Size([2]))
    """

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args=False)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def _as_vector(self, index: Tensor) -> Tensor:
        return one_hot(index, self._categorical._num_events).to(self._param.dtype)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._as_vector(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self._as_vector(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        return self._categorical.log_prob(self._checked(value).argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._categorical._num_events
        values = tp.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape(n, *(1,) * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A choice of one of k as a vector, through which gradients pass as through the probabilities.

    Source: Bengio, Léonard, Courville (2013), "Estimating or propagating gradients through stochastic neurons".

    Parameters
    ----------
    probs, logits : Tensor
        As for :class:`Categorical`.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> logits = tp.zeros(2, requires_grad=True)
    >>> draw = tp.distributions.OneHotCategoricalStraightThrough(logits=logits).rsample()
    >>> tp.autograd.grad(draw @ tp.tensor([1.0, 0.0]), logits)
    (tensor([ 0.2500, -0.2500]),)
    """

    has_rsample = True

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        probs = self._categorical.probs
        return self.sample(sample_shape) + (probs - probs.detach())


class Multinomial(_OfCategorical):
    """How often each of k is chosen.

    Parameters
    ----------
    total_count : int
        The number of choices.
    probs, logits : Tensor
        As for :class:`Categorical`.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    NotImplementedError
        If ``total_count`` is no int.
    ValueError
        As :class:`Categorical` does.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Multinomial(3, tp.tensor([0.5, 0.5]))
    >>> d.mean, d.log_prob(tp.tensor([1.0, 2.0])).exp()
    (tensor([1.5000, 1.5000]), tensor(0.3750))
    """

    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(total_count, int):
            raise NotImplementedError(f"Multinomial(): total_count must be int, not {type(total_count).__name__}")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits, validate_args=validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        with tp.no_grad():
            chosen = self._categorical.sample((self.total_count, *sample_shape))
            chosen = chosen.movedim(0, -1)
            counts = tp.zeros(self._extended_shape(sample_shape), dtype=self._param.dtype, device=self._param.device)
            return counts.scatter_add(-1, chosen, tp.ones_like(chosen, dtype=counts.dtype))

    def entropy(self) -> Tensor:
        n, probs = self.total_count, self.probs
        counts = tp.arange(1, n + 1, dtype=probs.dtype, device=probs.device)
        counts = counts.reshape(n, *(1,) * probs.dim())
        log_factorials = Binomial(n, probs, validate_args=False).log_prob(counts).exp() * (counts + 1).lgamma()
        return n * self._categorical.entropy() - math.lgamma(n + 1) + log_factorials.sum((0, -1))

    def log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        never = (x == 0) & (self.logits == -math.inf)
        logits = tp.where(never, tp.zeros_like(self.logits), self.logits)
        return (x.sum(-1) + 1).lgamma() - (x + 1).lgamma().sum(-1) + (x * logits).sum(-1)
