"""Distributions that are transforms of simpler ones."""

from __future__ import annotations

import math
from typing import Any

import tensorplay as tp

from ..core.tensor import Size, Tensor
from . import constraints
from .composed import Independent, TransformedDistribution
from .continuous import Cauchy, Exponential, Gamma, Normal, Uniform, where_else
from .discrete import Categorical, _OfCategorical
from .distribution import Distribution, Parameter, ProbsOrLogits, SampleShape
from .transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    StickBreakingTransform,
    Transform,
)
from .utils import EULER, broadcast_all, rand, rande, softplus

__all__ = [
    "ExpRelaxedCategorical", "Gumbel", "HalfCauchy", "HalfNormal", "InverseGamma", "Kumaraswamy", "LogNormal",
    "LogisticNormal", "LogitRelaxedBernoulli", "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "Weibull",
]  # fmt: skip


class Gumbel(TransformedDistribution):
    """The Gumbel distribution, of the largest of many values.

    Parameters
    ----------
    loc : Tensor or float
        The mode.
    scale : Tensor or float
        The width.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Gumbel(1.0, 2.0)
    >>> d.mean, d.log_prob(tp.tensor(1.0))
    (tensor(2.1544), tensor(-1.6931))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = tp.finfo(self.loc.dtype if self.loc.is_floating_point() else tp.get_default_dtype())
        low = tp.full_like(self.loc, info.tiny, dtype=self.loc.dtype)
        base = Uniform(low, tp.full_like(low, 1 - info.eps), validate_args=validate_args)
        steps: list[Transform] = [
            ExpTransform().inv, AffineTransform(0, -tp.ones_like(self.scale)), ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]  # fmt: skip
        super().__init__(base, steps, validate_args=validate_args)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self.loc - self.scale * rande(self._extended_shape(sample_shape), self.loc).log()

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        return Distribution.sample(self, sample_shape)

    def _standard(self, value: Any) -> Tensor:
        return (self._checked(value) - self.loc) / self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        return -z - (-z).exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return (-(-self._standard(value)).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.square()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)


class _Half(TransformedDistribution):
    """The distance from the middle of a symmetric distribution."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    @property
    def scale(self) -> Tensor:
        """The width."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return tp.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        logs = self.base_dist.log_prob(self._checked(value)) + math.log(2)
        return where_else(value >= 0, logs, -math.inf)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfCauchy(_Half):
    """The absolute value of a Cauchy distribution around 0.

    Parameters
    ----------
    scale : Tensor or float
        The median.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.HalfCauchy(1.0).cdf(tp.tensor(1.0))
    tensor(0.5000)
    """

    base_dist: Cauchy

    def __init__(self, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return tp.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def cdf(self, value: Tensor) -> Tensor:
        return (self._checked(value) / self.scale).atan() * (2 / math.pi)

    def icdf(self, prob: Tensor) -> Tensor:
        return self.scale * (prob * (math.pi / 2)).tan()


class HalfNormal(_Half):
    """The absolute value of a normal distribution of mean 0.

    Parameters
    ----------
    scale : Tensor or float
        The standard deviation of the normal distribution.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    base_dist: Normal

    def __init__(self, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        return tp.erf(self._checked(value) / self.scale * math.sqrt(0.5))

    def icdf(self, prob: Tensor) -> Tensor:
        return self.scale * math.sqrt(2) * tp.erfinv(prob)


class LogNormal(TransformedDistribution):
    """The exponential of a normal distribution.

    Parameters
    ----------
    loc, scale : Tensor or float
        Mean and standard deviation of the logarithm.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.LogNormal(0.0, 1.0)
    >>> d.mean, d.mode
    (tensor(1.6487), tensor(0.3679))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Normal

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Vectors on the simplex, from normal numbers by breaking sticks.

    Parameters
    ----------
    loc, scale : Tensor or float
        ``(..., k - 1)``: means and standard deviations of the numbers.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.LogisticNormal(tp.zeros(3), tp.ones(3))
    >>> d.event_shape, d.sample((2,)).shape
    (tensorplay.Size([4]), tensorplay.Size([2, 4]))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Independent[Normal]

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """Means of the numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """Standard deviations of the numbers."""
        return self.base_dist.base_dist.scale


class InverseGamma(TransformedDistribution):
    """The inverse of a gamma distribution.

    Parameters
    ----------
    concentration, rate : Tensor or float
        Those of the gamma distribution.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.InverseGamma(3.0, 4.0)
    >>> d.mean, d.mode
    (tensor(2.), tensor(1.))
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Parameter, rate: Parameter, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-tp.ones_like(base.rate)), validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The shape."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The scale of this distribution, the rate of the other one."""
        return self.base_dist.rate

    def cdf(self, value: Tensor) -> Tensor:
        return tp.special.gammaincc(self.concentration, self.rate / self._checked(value))

    @property
    def mean(self) -> Tensor:
        finite = self.concentration > 1
        return where_else(finite, self.rate / (where_else(finite, self.concentration, 2.0) - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        finite = self.concentration > 2
        a = where_else(finite, self.concentration, 3.0)
        return where_else(finite, (self.rate / (a - 1)).square() / (a - 2), math.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution over (0, 1), which is much like the beta one.

    Parameters
    ----------
    concentration1, concentration0 : Tensor or float
        The shapes towards 1 and towards 0.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Kumaraswamy(2.0, 1.0)
    >>> d.mean, d.cdf(tp.tensor(0.5))
    (tensor(0.6667), tensor(0.2500))
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Parameter, concentration0: Parameter, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        a, b = self.concentration1, self.concentration0
        base = Uniform(tp.zeros_like(b), tp.ones_like(b), validate_args=validate_args)
        steps: list[Transform] = [PowerTransform(1 / b), AffineTransform(1.0, -1.0), PowerTransform(1 / a)]
        super().__init__(base, steps, validate_args=validate_args)

    def _quantile_of_rest(self, log_rest: Tensor) -> Tensor:
        """The value above which a probability lies that is given by its logarithm."""
        return (-(log_rest / self.concentration0).expm1()).pow(1 / self.concentration1)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        info = tp.finfo(self.concentration1.dtype)
        draws = self._quantile_of_rest(-rande(self._extended_shape(sample_shape), self.concentration1))
        return draws.clamp(min=info.tiny, max=1 - info.eps / 2)

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        return Distribution.sample(self, sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        a, b, x = self.concentration1, self.concentration0, self._checked(value)
        rest = -(a * x.log()).expm1()  # 1 - x**a
        return a.log() + b.log() + tp.xlogy(a - 1, x) + tp.xlogy(b - 1, rest)

    def cdf(self, value: Tensor) -> Tensor:
        log_rest = (-self._checked(value).pow(self.concentration1)).log1p()
        return -(self.concentration0 * log_rest).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self._quantile_of_rest((-value).log1p())

    def _moment(self, n: int) -> Tensor:
        order, b = 1 + n / self.concentration1, self.concentration0
        return b * (order.lgamma() + b.lgamma() - (order + b).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        inside = (a >= 1) & (b >= 1) & ((a > 1) | (b > 1))
        quotient = tp.where(inside, (a - 1) / (a * b - 1), tp.ones_like(a))
        return where_else(inside, quotient.pow(1 / a), math.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.square()

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - a.log() - b.log()


class Pareto(TransformedDistribution):
    """The Pareto distribution, of power-law tails.

    Parameters
    ----------
    scale : Tensor or float
        The smallest value.
    alpha : Tensor or float
        The exponent of the tail.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Pareto(1.0, 3.0)
    >>> d.mean, d.cdf(tp.tensor(2.0))
    (tensor(1.5000), tensor(0.8750))
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Parameter, alpha: Parameter, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + 1 / self.alpha)


class Weibull(TransformedDistribution):
    """The Weibull distribution, of life times.

    Parameters
    ----------
    scale : Tensor or float
        The time at which 1 / e are left.
    concentration : Tensor or float
        The shape: above 1 the hazard grows.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Weibull(1.0, 2.0)
    >>> d.mean, d.cdf(tp.tensor(1.0))
    (tensor(0.8862), tensor(0.6321))
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Parameter, concentration: Parameter, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(tp.ones_like(self.scale), validate_args=validate_args)
        steps: list[Transform] = [PowerTransform(1 / self.concentration), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        return (1 + n / self.concentration).lgamma().exp()

    @property
    def mean(self) -> Tensor:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        shape = self.concentration.clamp(min=1)
        return self.scale * ((shape - 1) / shape).pow(1 / shape)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (self._moment(2) - self._moment(1).square())

    def entropy(self) -> Tensor:
        return EULER * (1 - 1 / self.concentration) + (self.scale / self.concentration).log() + 1


# ---- continuous relaxations of choices, after Maddison, Mnih, Teh (2017), "The concrete distribution"


class LogitRelaxedBernoulli(ProbsOrLogits):
    """The log-odds of a relaxed trial: logistic noise around the logits, over the temperature.

    Parameters
    ----------
    temperature : Tensor
        How far from 0 and 1 values are.
    probs, logits : Tensor or float
        The probability of 1, or its log-odds; one of them.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
    >>> LogitRelaxedBernoulli(tp.tensor(1.0), 0.5).log_prob(tp.tensor(0.0))
    tensor(-1.3863)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Parameter, probs: Parameter | None = None, logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self.temperature = temperature
        self._choose(probs, logits, validate_args)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        u = rand(self._extended_shape(sample_shape), self._param)
        u = u.clamp(max=1 - tp.finfo(u.dtype).eps / 2)
        return (u.log() - (-u).log1p() + self.logits) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        temperature = broadcast_all(self.temperature, self.logits)[0]
        z = self.logits - self._checked(value) * temperature
        return temperature.log() + z - 2 * softplus(z)


class _Relaxed(TransformedDistribution):
    """Made of relaxed choices, whose parameters it shows."""

    base_dist: Any

    @property
    def temperature(self) -> Any:
        """How far from 0 and 1 values are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The log-odds, or the logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """A trial with values between 0 and 1, differentiable in its probability.

    Parameters
    ----------
    temperature : Tensor
        How far from 0 and 1 values are.
    probs, logits : Tensor or float
        The probability of 1, or its log-odds; one of them.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.RelaxedBernoulli(tp.tensor(2.0), tp.tensor([0.1, 0.9]))
    >>> bool(((d.rsample() > 0) & (d.rsample() < 1)).all())
    True
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, temperature: Parameter, probs: Parameter | None = None, logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(_OfCategorical):
    """The logarithms of a relaxed choice: Gumbel noise around the logits, over the temperature, normalised.

    Parameters
    ----------
    temperature : Tensor
        How far from the corners of the simplex values are.
    probs, logits : Tensor
        As for :class:`Categorical`.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions.relaxed_categorical import ExpRelaxedCategorical
    >>> ExpRelaxedCategorical(tp.tensor(1.0), tp.tensor([0.5, 0.5])).log_prob(tp.tensor([0.5, 0.5]).log())
    tensor(-1.3863)
    """

    support = constraints.real_vector  # the vectors whose exponentials sum to 1, in truth
    has_rsample = True

    def __init__(
        self, temperature: Parameter, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape: Size = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        noise = -rande(self._extended_shape(sample_shape), self._param).log()
        return ((self.logits + noise) / self.temperature).log_softmax(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        k = self._categorical._num_events
        temperature = broadcast_all(self.temperature, self.logits)[0]
        scores = (self.logits - self._checked(value) * temperature).log_softmax(-1).sum(-1)
        return scores + (k - 1) * temperature[..., 0].log() + math.lgamma(k)


class RelaxedOneHotCategorical(_Relaxed):
    """A choice as a vector inside the simplex, differentiable in the probabilities.

    Parameters
    ----------
    temperature : Tensor
        How far from the corners of the simplex values are.
    probs, logits : Tensor
        As for :class:`Categorical`.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.RelaxedOneHotCategorical(tp.tensor(2.0), tp.tensor([0.2, 0.8]))
    >>> d.event_shape, d.rsample((3,)).shape
    (tensorplay.Size([2]), tensorplay.Size([3, 2]))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self, temperature: Parameter, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
