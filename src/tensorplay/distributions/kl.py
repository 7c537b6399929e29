"""Kullback-Leibler divergences, and the registry of formulas for pairs of distributions.

Of different kinds of real numbers, KL(p || q) = E_p[-log q] - entropy(p): for each q one formula in expectations under
p, of x, x**2, log x and the like, serves all p. Where p may take values that q cannot the divergence is infinite.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import tensorplay as tp

from ..core.tensor import Tensor
from .composed import Independent, TransformedDistribution
from .continuous import (
    Beta,
    Cauchy,
    ContinuousBernoulli,
    Dirichlet,
    Exponential,
    Gamma,
    Laplace,
    Normal,
    Uniform,
)
from .derived import Gumbel, HalfNormal, Pareto
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution, ExponentialFamily
from .multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    log_diagonal,
    low_rank_distance,
    low_rank_log_det,
    squared_distance,
)
from .utils import EULER, holds, softplus, sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

Rule = Callable[[Any, Any], Tensor]
_KL_REGISTRY: dict[tuple[type, type], Rule] = {}
_KL_MEMOIZE: dict[tuple[type, type], Rule | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Rule], Rule]:
    """Enter a function as the divergence of a pair of classes; a decorator.

    Parameters
    ----------
    type_p, type_q : type
        Classes of distributions; the function serves their subclasses, too.

    Raises
    ------
    TypeError
        If they are none.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import Normal, kl_divergence, register_kl
    >>> class Fixed(Normal):
    ...     pass
    >>> @register_kl(Fixed, Fixed)
    ... def between_fixed(p, q):
    ...     return (p.loc - q.loc) ** 2 / 2
    >>> kl_divergence(Fixed(0.0, 1.0), Fixed(2.0, 1.0))
    tensor(2.)
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type) or not issubclass(kind, Distribution):
            raise TypeError(f"register_kl(): {name} must be a subclass of Distribution, got {kind!r}")

    def enter(function: Rule) -> Rule:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return enter


def _dispatch_kl(type_p: type, type_q: type) -> Rule | None:
    """The function of the classes that are closest; of p first where two are equally so."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return None

    def distance(kind: type, base: type) -> int:
        return kind.__mro__.index(base)

    by_p = min(matches, key=lambda m: (distance(type_p, m[0]), distance(type_q, m[1])))
    by_q = min(matches, key=lambda m: (distance(type_q, m[1]), distance(type_p, m[0])))
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        names = [f"({p.__name__}, {q.__name__})" for p, q in (by_p, by_q)]
        warnings.warn(f"kl_divergence({type_p.__name__}, {type_q.__name__}) might take the function of {names[0]} or "
                      f"of {names[1]}; register_kl one for the pair itself", RuntimeWarning, stacklevel=3)  # fmt: skip
    return _KL_REGISTRY[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence ``E_p[log p(x) - log q(x)]``.

    Parameters
    ----------
    p, q : Distribution
        Of batch shapes that broadcast.

    Returns
    -------
    Tensor
        Of the common batch shape.

    Raises
    ------
    NotImplementedError
        If no formula is registered for such a pair.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    rule = _KL_MEMOIZE[key]
    if rule is None:
        raise NotImplementedError(f"no KL divergence is registered for p of type {type(p).__name__} and q of type "
                                  f"{type(q).__name__}")  # fmt: skip
    return rule(p, q)


def _xlogx_over(p: Tensor, ratio: Tensor) -> Tensor:
    """``p * ratio``, and 0 where p is 0."""
    return tp.where(p == 0, tp.zeros_like(p), p * ratio)


# ---- the same kind


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_exponential_families(p: Any, q: Any) -> Tensor:
    """The Bregman divergence of the log-normaliser."""
    if type(p) is not type(q):
        raise NotImplementedError(f"no KL divergence is registered for p of type {type(p).__name__} and q of type "
                                  f"{type(q).__name__}")  # fmt: skip
    normalizer, statistics = p._expected_statistics()
    result = q._log_normalizer(*q._natural_params) - normalizer
    for theta_p, theta_q, mean in zip(p._natural_params, q._natural_params, statistics):
        term = (theta_q - theta_p) * mean
        result = result - sum_rightmost(term, term.dim() - result.dim())
    return result


@register_kl(Normal, Normal)
def _kl_normal_normal(p: Any, q: Any) -> Tensor:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc) / q.scale
    return 0.5 * (ratio * ratio + distance * distance - 1) - ratio.log()


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    rates = q.rate / p.rate
    return (a - b) * a.digamma() + b.lgamma() - a.lgamma() - b * rates.log() + a * (rates - 1)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    norms = total.lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return norms + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _kl_beta_beta(p: Any, q: Any) -> Tensor:
    return _kl_dirichlet_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p: Any, q: Any) -> Tensor:
    # Chyzak and Nielsen (2019), "A closed-form formula for the KL divergence between Cauchy distributions"
    return (((p.scale + q.scale).square() + (p.loc - q.loc).square()) / (4 * p.scale * q.scale)).log()


@register_kl(HalfNormal, HalfNormal)
def _kl_half_normal_half_normal(p: Any, q: Any) -> Tensor:
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p: Any, q: Any) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return distance / q.scale + ratio * (-distance / p.scale).exp() - ratio.log() - 1


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p: Any, q: Any) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return ratio * EULER + distance + ((1 + ratio).lgamma() - distance).exp() - ratio.log() - (1 + EULER)


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p: Any, q: Any) -> Tensor:
    hit = _xlogx_over(p.probs, softplus(-q.logits) - softplus(-p.logits))
    hit = tp.where((q.probs == 0) & (p.probs != 0), tp.full_like(hit, math.inf), hit)
    miss = _xlogx_over(1 - p.probs, softplus(q.logits) - softplus(p.logits))
    miss = tp.where((q.probs == 1) & (p.probs != 1), tp.full_like(miss, math.inf), miss)
    return hit + miss


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p: Any, q: Any) -> Tensor:
    if not holds(p.total_count >= q.total_count):
        raise NotImplementedError("kl_divergence(Binomial, Binomial): q.total_count must not be larger than "
                                  "p.total_count")  # fmt: skip
    result = p.total_count * _kl_bernoulli_bernoulli(p, q)
    return tp.where(p.total_count > q.total_count, tp.full_like(result, math.inf), result)


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p: Any, q: Any) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = tp.where((q.probs == 0).expand(terms.shape), tp.full_like(terms, math.inf), terms)
    return tp.where((p.probs == 0).expand(terms.shape), tp.zeros_like(terms), terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot_one_hot(p: Any, q: Any) -> Tensor:
    return _kl_categorical_categorical(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p: Any, q: Any) -> Tensor:
    return tp.xlogy(p.rate, p.rate) - tp.xlogy(p.rate, q.rate) - (p.rate - q.rate)


@register_kl(Bernoulli, Poisson)
def _kl_bernoulli_poisson(p: Any, q: Any) -> Tensor:
    return q.rate - tp.xlogy(p.probs, q.rate) - p.entropy()


@register_kl(Poisson, Bernoulli)
@register_kl(Poisson, Binomial)
def _kl_more_values(p: Any, q: Any) -> Tensor:
    return tp.full_like(p.rate + q.probs, math.inf)


# ---- real numbers of different kinds: what is expected under p


def _ends(d: Any) -> tuple[Any, Any]:
    """Between what values lie."""
    if isinstance(d, Uniform):
        return d.low, d.high
    if isinstance(d, Pareto):
        return d.scale, math.inf
    if isinstance(d, (Beta, ContinuousBernoulli)):
        return 0.0, 1.0
    return (0.0 if isinstance(d, (Exponential, Gamma)) else -math.inf), math.inf


def _mean_log(p: Any) -> Tensor:
    """The mean of log x."""
    if isinstance(p, Exponential):
        return -p.rate.log() - EULER
    if isinstance(p, Gamma):
        return p.concentration.digamma() - p.rate.log()
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low: Tensor, high: Tensor) -> Tensor:
    low, high = low.clamp(min=0), high.clamp(min=0)
    return (tp.xlogy(high, high) - tp.xlogy(low, low)) / (high - low) - 1


def _mean_exp(p: Any, t: Tensor) -> Tensor:
    """The mean of exp(t * x)."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate - t)
    if isinstance(p, Gamma):
        return (-p.concentration * (-t / p.rate).log1p()).exp()
    if isinstance(p, Normal):
        return (t * p.loc + (t * p.scale).square() / 2).exp()
    return ((t * p.high).exp() - (t * p.low).exp()) / (t * (p.high - p.low))


def _to_normal(p: Any, q: Any) -> Tensor:
    second = p.variance + (p.mean - q.loc).square()
    return second / (2 * q.variance) + q.scale.log() + math.log(2 * math.pi) / 2


def _to_laplace(p: Any, q: Any) -> Tensor:
    z = (p.loc - q.loc) / p.scale  # the mean distance of a normal number from q.loc
    away = p.scale * math.sqrt(2 / math.pi) * (-z * z / 2).exp() + p.scale * z * tp.erf(z * math.sqrt(0.5))
    return away / q.scale + (2 * q.scale).log()


def _to_uniform(p: Any, q: Any) -> Tensor:
    return (q.high - q.low).log()


def _to_exponential(p: Any, q: Any) -> Tensor:
    return q.rate * p.mean - q.rate.log()


def _to_gamma(p: Any, q: Any) -> Tensor:
    a = q.concentration
    return a.lgamma() - a * q.rate.log() - (a - 1) * _mean_log(p) + q.rate * p.mean


def _to_beta(p: Any, q: Any) -> Tensor:  # of a uniform p
    a, b = q.concentration1, q.concentration0
    log_rest = _mean_log_between(1 - p.high, 1 - p.low)
    return a.lgamma() + b.lgamma() - (a + b).lgamma() - (a - 1) * _mean_log(p) - (b - 1) * log_rest


def _to_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return q._log_normalizer(q.logits) - p.mean * q.logits


def _to_pareto(p: Any, q: Any) -> Tensor:
    return (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log()


def _to_gumbel(p: Any, q: Any) -> Tensor:
    exponential = _mean_exp(p, -1 / q.scale) * (q.loc / q.scale).exp()
    return q.scale.log() + (p.mean - q.loc) / q.scale + exponential


def _within(p: Any, q: Any) -> Any:
    """Whether all values of p are values of q: a bool, or a tensor of them."""
    (low, high), (least, most) = _ends(p), _ends(q)
    return (low >= least) & (high <= most)


def _by_cross_entropy(cross_entropy: Rule) -> Rule:
    def rule(p: Any, q: Any) -> Tensor:
        within = _within(p, q)
        result = cross_entropy(p, q) - p.entropy()
        return tp.where(within, result, tp.full_like(result, math.inf)) if isinstance(within, Tensor) else result

    return rule


def _kl_infinite(p: Any, q: Any) -> Tensor:
    return tp.full_like(p.mean + q.mean, math.inf)


for _q, _cross_entropy, _finite in (
    (Normal, _to_normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform)),
    (Laplace, _to_laplace, (Normal,)),
    (Uniform, _to_uniform, (Beta, ContinuousBernoulli, Uniform)),
    (Exponential, _to_exponential, (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform)),
    (Gamma, _to_gamma, (Beta, Exponential, Pareto, Uniform)),
    (Beta, _to_beta, (Uniform,)),
    (ContinuousBernoulli, _to_continuous_bernoulli, (Beta, ContinuousBernoulli, Uniform)),
    (Pareto, _to_pareto, (Pareto, Uniform)),
    (Gumbel, _to_gumbel, (Exponential, Gamma, Normal, Uniform)),
):
    for _p in _finite:
        register_kl(_p, _q)(_by_cross_entropy(_cross_entropy))

for _q, _larger in (
    (Uniform, (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto)),
    (Exponential, (Gumbel, Laplace, Normal)),
    (Gamma, (Gumbel, Laplace, Normal)),
    (Beta, (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto)),
    (ContinuousBernoulli, (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto)),
    (Pareto, (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal)),
):
    for _p in _larger:
        register_kl(_p, _q)(_kl_infinite)


# ---- vectors, and distributions made of others


def _root(d: Any) -> Tensor:
    """A matrix of which the covariance is the outer square."""
    if isinstance(d, MultivariateNormal):
        return d._unbroadcasted_scale_tril
    factor, diagonal = d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag
    shape = tp.broadcast_shapes(factor.shape[:-1], diagonal.shape)
    return tp.cat([factor.expand(*shape, -1), diagonal.sqrt().diag_embed().expand(*shape, -1)], -1)


def _log_det(d: Any) -> Tensor:
    """The logarithm of the determinant of the covariance."""
    if isinstance(d, MultivariateNormal):
        return 2 * log_diagonal(d._unbroadcasted_scale_tril)
    return low_rank_log_det(d._unbroadcasted_cov_diag, d._capacitance_tril)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _kl_multivariate_normals(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(f"kl_divergence(): the event shapes of two {type(p).__name__} must be the same, got "
                         f"{tuple(p.event_shape)} and {tuple(q.event_shape)}")  # fmt: skip
    columns = _root(p).mT  # the trace of q**-1 p is the sum of the squared lengths of these

    def distance(vectors: Tensor, extra: int) -> Tensor:
        if isinstance(q, MultivariateNormal):
            factor = q._unbroadcasted_scale_tril
            return squared_distance(factor.unsqueeze(-3) if extra and factor.dim() > 2 else factor, vectors)
        factor, diagonal, small = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q._capacitance_tril
        if extra:
            factor, diagonal, small = factor.unsqueeze(-3), diagonal.unsqueeze(-2), small.unsqueeze(-3)
        return low_rank_distance(factor, diagonal, vectors, small)

    trace = distance(columns, 1).sum(-1)
    return 0.5 * (_log_det(q) - _log_det(p) + trace + distance(p.loc - q.loc, 0) - p.event_shape[0])


@register_kl(Independent, Independent)
def _kl_independent_independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence(Independent, Independent): reinterpreted_batch_ndims must be the same")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence(TransformedDistribution, TransformedDistribution): the transforms and "
                                  "event shapes must be the same")  # fmt: skip
    return kl_divergence(p.base_dist, q.base_dist)
