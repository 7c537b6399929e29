"""Distributions of real numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorplay as tp

from ..core.tensor import Size, Tensor
from ..ops.dense import one_hot
from ..ops.draws import sample_dirichlet, standard_gamma, von_mises
from . import constraints
from .distribution import Distribution, ExponentialFamily, Parameter, ProbsOrLogits, SampleShape, _Centred
from .utils import broadcast_all, rand, rande, randn

__all__ = [
    "Beta", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Exponential", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Laplace", "Normal", "StudentT", "Uniform", "VonMises",
]  # fmt: skip

LOG_2PI = math.log(2 * math.pi)


def where_else(condition: Tensor, value: Tensor, other: float) -> Tensor:
    """The value where a condition holds, else a number."""
    return tp.where(condition, value, value.new_tensor(other))


def _powers(x: Tensor, *coefficients: Any) -> Any:
    """A polynomial, the constant first."""
    total: Any = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


class _LocScale(_Centred):
    """Given by a place and a width."""

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True
    scale: Tensor

    def _standard(self, value: Any) -> Tensor:
        return (self._checked(value) - self.loc) / self.scale


class Normal(_LocScale, ExponentialFamily):
    """The normal distribution.

    Parameters
    ----------
    loc : Tensor or float
        The mean.
    scale : Tensor or float
        The standard deviation.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Normal(0.0, 2.0)
    >>> d.log_prob(tp.tensor(0.0)), d.cdf(tp.tensor(0.0)), d.entropy()
    (tensor(-1.6121), tensor(0.5000), tensor(2.1121))
    """

    _mean_carrier_measure = 0

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, loc=loc, scale=scale)

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale * self.scale

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self.loc + randn(self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        return z * z * -0.5 - self.scale.log() - LOG_2PI / 2

    def cdf(self, value: Tensor) -> Tensor:
        return tp.special.ndtr(self._standard(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * tp.special.ndtri(value)

    def entropy(self) -> Tensor:
        return self.scale.log() + (LOG_2PI + 1) / 2

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        precision = 1 / self.variance
        return self.loc * precision, -0.5 * precision

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return -0.25 * x * x / y + 0.5 * (-math.pi / y).log()


class Laplace(_LocScale):
    """The Laplace distribution, exponential to both sides.

    Parameters
    ----------
    loc : Tensor or float
        The mean.
    scale : Tensor or float
        The mean distance from it.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Laplace(0.0, 1.0)
    >>> d.cdf(tp.tensor([-50.0, 0.0])), d.variance
    (tensor([9.6437e-23, 5.0000e-01]), tensor(2.))
    """

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, loc=loc, scale=scale)

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale * self.scale

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self._quantile(rand(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Tensor) -> Tensor:
        return -self._standard(value).abs() - (2 * self.scale).log()

    def cdf(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        half = (-z.abs()).exp() / 2
        return tp.where(z < 0, half, 1 - half)

    def icdf(self, value: Tensor) -> Tensor:
        return self._quantile(value)

    def _quantile(self, p: Tensor) -> Tensor:
        return self.loc + self.scale * (p - 0.5).sign() * -(2 * tp.minimum(p, 1 - p)).log()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_LocScale):
    """The Cauchy distribution, which has no mean.

    Parameters
    ----------
    loc : Tensor or float
        The median.
    scale : Tensor or float
        Half of the width at half of the height.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Cauchy(0.0, 1.0)
    >>> d.cdf(tp.tensor([-1e10, 1.0])), d.mean
    (tensor([3.1831e-11, 7.5000e-01]), tensor(nan))
    """

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return tp.full(self._extended_shape(), math.nan, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def variance(self) -> Tensor:
        return tp.full(self._extended_shape(), math.inf, dtype=self.loc.dtype, device=self.loc.device)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self._quantile(rand(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        return -math.log(math.pi) - self.scale.log() - (z * z).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        return tp.atan2(tp.ones_like(z), -z) / math.pi

    def icdf(self, value: Tensor) -> Tensor:
        return self._quantile(value)

    def _quantile(self, p: Tensor) -> Tensor:
        return self.loc - self.scale / (math.pi * p).tan()

    def entropy(self) -> Tensor:
        return (4 * math.pi * self.scale).log()


def lgamma_step(x: Tensor) -> Tensor:
    """``lgamma(x + 1/2) - lgamma(x)``, which would lose its digits for large x: there the series (DLMF 5.11.13)."""
    large = x > 20
    y = 1 / where_else(large, x, 20.0)
    series = -y.log() / 2 - y * _powers(y * y, 1 / 8, -1 / 192, 1 / 640, -17 / 14336, 31 / 18432)
    return tp.where(large, series, (x + 0.5).lgamma() - x.lgamma())


def digamma_step(x: Tensor) -> Tensor:
    """The derivative of :func:`lgamma_step`."""
    large = x > 20
    y = 1 / where_else(large, x, 20.0)
    series = y / 2 + y * y * _powers(y * y, 1 / 8, -1 / 64, 1 / 128, -17 / 2048, 31 / 2048)
    return tp.where(large, series, (x + 0.5).digamma() - x.digamma())


class StudentT(_LocScale):
    """Student's t-distribution.

    Parameters
    ----------
    df : Tensor or float
        Degrees of freedom.
    loc : Tensor or float
        The place.
    scale : Tensor or float
        The width.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.StudentT(3.0)
    >>> d.log_prob(tp.tensor(0.0)), d.variance
    (tensor(-1.0009), tensor(3.))
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    df: Tensor

    def __init__(
        self, df: Parameter, loc: Parameter = 0.0, scale: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        self._parametrise(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return where_else(self.df > 1, self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        df = self.df
        finite = self.scale * self.scale * df / tp.where(df > 2, df - 2, tp.ones_like(df))
        return where_else(df > 1, where_else(df > 2, finite, math.inf), math.nan)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        chi2 = standard_gamma((self.df / 2).expand(shape)) * 2
        return self.loc + self.scale * randn(shape, self.df) * (chi2 / self.df).rsqrt()

    def log_prob(self, value: Tensor) -> Tensor:
        z, half = self._standard(value), (self.df + 1) / 2
        norm = lgamma_step(self.df / 2) - (self.df * math.pi).log() / 2 - self.scale.log()
        return norm - half * (z * z / self.df).log1p()

    def entropy(self) -> Tensor:
        half = self.df / 2
        log_beta = math.log(math.pi) / 2 - lgamma_step(half)
        return self.scale.log() + (half + 0.5) * digamma_step(half) + self.df.log() / 2 + log_beta


class Uniform(Distribution):
    """The uniform distribution over an interval.

    Parameters
    ----------
    low, high : Tensor or float
        Its ends; draws do not reach the upper one.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Uniform(0.0, 4.0)
    >>> d.log_prob(tp.tensor(1.0)), d.cdf(tp.tensor(1.0)), d.mean
    (tensor(-1.3863), tensor(0.2500), tensor(2.))
    """

    has_rsample = True
    low: Tensor
    high: Tensor

    def __init__(self, low: Parameter, high: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, low=low, high=high)

    @property
    def arg_constraints(self) -> Any:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return tp.full_like(self.high, math.nan)

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).square() / 12

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        u = tp.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        inside = (self._checked(value) >= self.low) & (value < self.high)
        return where_else(inside, -(self.high - self.low).log(), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return ((self._checked(value) - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


# ---- of positive numbers


class Exponential(ExponentialFamily):
    """The exponential distribution.

    Parameters
    ----------
    rate : Tensor or float
        The inverse of the mean.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Exponential(2.0)
    >>> d.mean, d.log_prob(tp.tensor(1.0)), d.cdf(tp.tensor(1e-30))
    (tensor(0.5000), tensor(-1.3069), tensor(2.0000e-30))
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    rate: Tensor

    def __init__(self, rate: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return 1 / self.rate

    @property
    def mode(self) -> Tensor:
        return tp.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return 1 / self.rate

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return rande(self._extended_shape(sample_shape), self.rate) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Tensor) -> Tensor:
        return -(-self.rate * self._checked(value)).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -(-x).log()


class Gamma(ExponentialFamily):
    """The gamma distribution.

    Parameters
    ----------
    concentration : Tensor or float
        The shape.
    rate : Tensor or float
        The inverse of the scale.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Gamma(2.0, 4.0)
    >>> d.mean, d.variance, d.log_prob(tp.tensor(0.5))
    (tensor(0.5000), tensor(0.1250), tensor(0.0794))
    """

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Parameter, rate: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return standard_gamma(self.concentration.expand(self._extended_shape(sample_shape))) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        a, x = self.concentration, self._checked(value)
        return a * self.rate.log() + tp.xlogy(a - 1, x) - self.rate * x - a.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        return tp.special.gammainc(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return (x + 1).lgamma() - (x + 1) * (-y).log()


class Chi2(Gamma):
    """The chi-squared distribution.

    Parameters
    ----------
    df : Tensor or float
        Degrees of freedom.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.Chi2(3.0).variance
    tensor(6.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2


class FisherSnedecor(Distribution):
    """The F-distribution, of the quotient of two mean squares.

    Parameters
    ----------
    df1, df2 : Tensor or float
        Degrees of freedom above and below.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.FisherSnedecor(1.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Parameter, df2: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Tensor:
        df2 = where_else(self.df2 > 2, self.df2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return where_else(self.df1 > 2, mode, math.nan)

    @property
    def variance(self) -> Tensor:
        df1, df2 = self.df1, where_else(self.df2 > 4, self.df2, math.nan)
        return 2 * df2.square() * (df1 + df2 - 2) / (df1 * (df2 - 2).square() * (df2 - 4))

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        above, below = (standard_gamma((df / 2).expand(shape)) / (df / 2) for df in (self.df1, self.df2))
        return (above / below).clamp(min=tp.finfo(above.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        a, b, ratio, x = self.df1 / 2, self.df2 / 2, self.df1 / self.df2, self._checked(value)
        norm = (a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log()
        return norm + (a - 1) * x.log() - (a + b) * (ratio * x).log1p()


class GeneralizedPareto(Distribution):
    """The generalised Pareto distribution, of what exceeds a threshold.

    Parameters
    ----------
    loc : Tensor or float
        The threshold.
    scale : Tensor or float
        The width.
    concentration : Tensor or float
        The shape: power laws where it is positive, exponential at 0, of bounded support where it is negative.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.GeneralizedPareto(0.0, 1.0, 0.25)
    >>> d.mean, d.variance, d.cdf(tp.tensor(1.0))
    (tensor(1.3333), tensor(3.5556), tensor(0.5904))
    """

    arg_constraints: Any = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real
    }  # fmt: skip
    has_rsample = True
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(
        self, loc: Parameter, scale: Parameter, concentration: Parameter, validate_args: bool | None = None
    ) -> None:
        self._parametrise(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        shape = self.concentration
        end = self.loc - self.scale / tp.where(shape < 0, shape, -tp.ones_like(shape))
        return constraints.interval(self.loc, where_else(shape < 0, end, math.inf))

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def _over_shape(self, function: Callable[[Tensor], Tensor], x: Tensor, *series: float) -> Tensor:
        """``function(shape * x) / shape``, by the powers of ``shape * x`` where that is close to 0 / 0."""
        product = self.concentration * x
        near = product.abs() < 0.01
        shape = where_else(~near, self.concentration, 1.0)
        return tp.where(near, x * _powers(product, *series), function(where_else(~near, product, 0.0)) / shape)

    def _exponent(self, x: Tensor) -> Tensor:
        """Minus the logarithm of the probability of larger values, ``log(1 + shape * z) / shape``."""
        return self._over_shape(tp.log1p, self._z(x), 1, -1 / 2, 1 / 3, -1 / 4, 1 / 5, -1 / 6, 1 / 7)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self._quantile(rande(self._extended_shape(sample_shape), self.loc))

    def _quantile(self, exponent: Tensor) -> Tensor:
        excess = self._over_shape(tp.expm1, exponent, 1, 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040)
        return self.loc + self.scale * excess

    def log_prob(self, value: Tensor) -> Tensor:
        return -(1 + self.concentration) * self._exponent(self._checked(value)) - self.scale.log()

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of larger values."""
        return -self._exponent(self._checked(value))

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of values that are not larger."""
        exponent = self._exponent(self._checked(value))
        return tp.where(exponent < math.log(2), (-(-exponent).expm1()).log(), (-(-exponent).exp()).log1p())

    def cdf(self, value: Tensor) -> Tensor:
        return -(-self._exponent(self._checked(value))).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self._quantile(-(-value).log1p())

    @property
    def mean(self) -> Tensor:
        shape = self.concentration
        below = tp.where(shape < 1, shape, tp.zeros_like(shape))
        return where_else(shape < 1, self.loc + self.scale / (1 - below), math.inf)

    @property
    def variance(self) -> Tensor:
        shape = self.concentration
        below = tp.where(shape < 0.5, shape, tp.zeros_like(shape))
        finite = self.scale.square() / ((1 - below).square() * (1 - 2 * below))
        return where_else(shape < 0.5, finite, math.inf)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1

    @property
    def mode(self) -> Tensor:
        return self.loc


# ---- of parts


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution, of vectors on the simplex.

    Parameters
    ----------
    concentration : Tensor
        ``(..., k)``, positive.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If it has no dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Dirichlet(tp.tensor([1.0, 3.0]))
    >>> d.mean, d.log_prob(tp.tensor([0.5, 0.5]))
    (tensor([0.2500, 0.7500]), tensor(-0.2877))
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("Dirichlet(): concentration must have at least one dimension, got none")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        a = self.concentration
        return tp.xlogy(a - 1, self._checked(value)).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, keepdim=True)
        corner = one_hot(mode.argmax(-1), above.shape[-1]).to(mode.dtype)
        return tp.where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        total, mean = self.concentration.sum(-1, keepdim=True), self.mean
        return mean * (1 - mean) / (total + 1)

    def entropy(self) -> Tensor:
        a, total, k = self.concentration, self.concentration.sum(-1), self.concentration.size(-1)
        norm = a.lgamma().sum(-1) - total.lgamma()
        return norm - (k - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(ExponentialFamily):
    """The beta distribution.

    Parameters
    ----------
    concentration1, concentration0 : Tensor or float
        The shapes towards 1 and towards 0.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Beta(1.0, 3.0)
    >>> d.mean, d.log_prob(tp.tensor(0.0))
    (tensor(0.2500), tensor(1.0986))
    """

    arg_constraints = {
        "concentration1": constraints.positive, "concentration0": constraints.positive
    }  # fmt: skip
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Parameter, concentration0: Parameter, validate_args: bool | None = None) -> None:
        both = tp.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Tensor:
        """The shape towards 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The shape towards 0."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self._dirichlet.mean[..., 0]

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        return self._dirichlet.variance[..., 0]

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        a, b, x = self.concentration1, self.concentration0, self._checked(value)
        norm = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return tp.xlogy(a - 1, x) + tp.special.xlog1py(b - 1, -x) + norm

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return x.lgamma() + y.lgamma() - (x + y).lgamma()


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """The continuous Bernoulli distribution, over [0, 1] with a density in proportion to ``p**x * (1 - p)**(1 - x)``.

    With the log-odds ``t`` of p the density is ``exp(t * x - A(t))``, ``A(t) = log((exp(t) - 1) / t)``. Source:
    Loaiza-Ganem and Cunningham (2019), "The continuous Bernoulli".

    Parameters
    ----------
    probs, logits : Tensor or float
        The parameter p, or its log-odds; one of them.
    lims : tuple of float
        Between these p, formulas that are 0 / 0 at p = 1/2 are replaced by series.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If both or none of ``probs`` and ``logits`` are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.ContinuousBernoulli(0.5)
    >>> d.mean, d.cdf(tp.tensor(0.25))
    (tensor(0.5000), tensor(0.2500))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Parameter | None = None, logits: Parameter | None = None,
        lims: tuple[float, float] = (0.499, 0.501), validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._lims = lims
        self._choose(probs, logits, validate_args)

    def _with_series(self, t: Tensor) -> tuple[Tensor, Tensor]:
        """Where series are used, and the log-odds with 1 there."""
        low, high = (math.log(p) - math.log1p(-p) for p in self._lims)
        near = (t >= low) & (t <= high) | (t.abs() < 0.1)
        return near, tp.where(near, tp.ones_like(t), t)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        near, t = self._with_series(x)
        size, square = t.abs(), (x / 2).square()
        series = x / 2 + square * _powers(square, 1 / 6, -1 / 180, 1 / 2835, -1 / 37800)
        return tp.where(near, series, t.clamp(min=0) + (-(-size).expm1() / size).log())

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    @property
    def mean(self) -> Tensor:
        near, t = self._with_series(self.logits)
        half = self.logits / 2
        series = 0.5 + half * _powers(half.square(), 1 / 6, -1 / 90, 1 / 945, -1 / 9450)
        return tp.where(near, series, -1 / (-t).expm1() - 1 / t)

    @property
    def variance(self) -> Tensor:
        near, t = self._with_series(self.logits)
        series = _powers((self.logits / 2).square(), 1 / 12, -1 / 60, 1 / 378, -1 / 2700)
        decay = (-t.abs()).exp()
        return tp.where(near, series, 1 / t.square() - decay / (1 - decay).square())

    def log_prob(self, value: Tensor) -> Tensor:
        return self._checked(value) * self.logits - self._log_normalizer(self.logits)

    def cdf(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        near, t = self._with_series(self.logits)
        size = t.abs()
        rising = (size * (x - 1)).exp() * (-size * x).expm1() / (-size).expm1()
        falling = (-size * x).expm1() / (-size).expm1()
        series = x + x * (x - 1) * self.logits * _powers(
            self.logits, 1 / 2, (2 * x - 1) / 12, x * (x - 1) / 24, (6 * x**3 - 9 * x**2 + x + 1) / 720)  # fmt: skip
        inside = tp.where(near, series, tp.where(t > 0, rising, falling))
        return where_else(x > 0, where_else(x < 1, inside, 1.0), 0.0)

    def icdf(self, value: Tensor) -> Tensor:
        u = value
        near, t = self._with_series(self.logits)
        size = t.abs()
        rising = 1 + (u + (1 - u) * (-size).exp()).log() / size
        falling = -(u * (-size).expm1()).log1p() / size
        series = u - u * (u - 1) * self.logits * _powers(
            self.logits, 1 / 2, (1 - 2 * u) / 6, (6 * u**2 - 6 * u + 1) / 24,
            (1 - 2 * u) * (12 * u**2 - 12 * u + 1) / 120)  # fmt: skip
        return tp.where(near, series, tp.where(t > 0, rising, falling))

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        return self.icdf(rand(self._extended_shape(sample_shape), self._param))

    def entropy(self) -> Tensor:
        return self._log_normalizer(self.logits) - self.mean * self.logits


# ---- of angles


class VonMises(_Centred):
    """The von Mises distribution, of angles.

    Parameters
    ----------
    loc : Tensor or float
        The mean, in radians.
    concentration : Tensor or float
        How narrow it is: for large ones the inverse of the variance.
    validate_args : bool, optional
        See :class:`Distribution`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.VonMises(tp.tensor(0.0), tp.tensor(1.0))
    >>> d.log_prob(tp.tensor(0.0)), d.variance
    (tensor(-1.0738), tensor(0.5536))
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Parameter, concentration: Parameter, validate_args: bool | None = None) -> None:
        self._parametrise(validate_args, loc=loc, concentration=concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        sine = ((self._checked(value) - self.loc) / 2).sin()
        return -2 * self.concentration * sine.square() - LOG_2PI - tp.special.i0e(self.concentration).log()

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        shape: Size = self._extended_shape(sample_shape)
        with tp.no_grad():
            return von_mises(self.loc.expand(shape), self.concentration.expand(shape))

    @property
    def variance(self) -> Tensor:
        """The circular variance."""
        return 1 - tp.special.i1e(self.concentration) / tp.special.i0e(self.concentration)
