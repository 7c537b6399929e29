"""Probability distributions, transforms and constraints.

Distributions draw (:meth:`~Distribution.sample`; :meth:`~Distribution.rsample` differentiably), and know the
log-probabilities of values. They take part in ``func.grad``, ``vmap`` and ``jvp`` like all functions of tensors.
"""

from __future__ import annotations

import sys as _sys
from types import ModuleType as _ModuleType

from . import composed, constraints, continuous, derived, discrete, kl, multivariate, transforms, utils
from .composed import Independent, MixtureSameFamily, TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .continuous import (
    Beta,
    Cauchy,
    Chi2,
    ContinuousBernoulli,
    Dirichlet,
    Exponential,
    FisherSnedecor,
    Gamma,
    GeneralizedPareto,
    Laplace,
    Normal,
    StudentT,
    Uniform,
    VonMises,
)
from .derived import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    Weibull,
)
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from .distribution import Distribution, ExponentialFamily
from .kl import kl_divergence, register_kl
from .multivariate import LKJCholesky, LowRankMultivariateNormal, MultivariateNormal, Wishart
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

# PyTorch has a module for each distribution; these are importable under its names, and hold the same classes
_MODULES = {
    "bernoulli": "Bernoulli", "beta": "Beta", "binomial": "Binomial", "categorical": "Categorical",
    "cauchy": "Cauchy", "chi2": "Chi2", "continuous_bernoulli": "ContinuousBernoulli", "dirichlet": "Dirichlet",
    "exp_family": "ExponentialFamily", "exponential": "Exponential", "fishersnedecor": "FisherSnedecor",
    "gamma": "Gamma", "generalized_pareto": "GeneralizedPareto", "geometric": "Geometric", "gumbel": "Gumbel",
    "half_cauchy": "HalfCauchy", "half_normal": "HalfNormal", "independent": "Independent",
    "inverse_gamma": "InverseGamma", "kumaraswamy": "Kumaraswamy", "laplace": "Laplace",
    "lkj_cholesky": "LKJCholesky", "log_normal": "LogNormal", "logistic_normal": "LogisticNormal",
    "lowrank_multivariate_normal": "LowRankMultivariateNormal", "mixture_same_family": "MixtureSameFamily",
    "multinomial": "Multinomial", "multivariate_normal": "MultivariateNormal",
    "negative_binomial": "NegativeBinomial", "normal": "Normal",
    "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough", "pareto": "Pareto",
    "poisson": "Poisson", "relaxed_bernoulli": "LogitRelaxedBernoulli RelaxedBernoulli",
    "relaxed_categorical": "ExpRelaxedCategorical RelaxedOneHotCategorical", "studentT": "StudentT",
    "transformed_distribution": "TransformedDistribution", "uniform": "Uniform", "von_mises": "VonMises",
    "weibull": "Weibull", "wishart": "Wishart",
}  # fmt: skip


def _enter_modules() -> None:
    classes = {**vars(derived), **globals()}
    for name, members in _MODULES.items():
        module = _ModuleType(f"{__name__}.{name}", f"The module that PyTorch has for {members.replace(' ', ', ')}.")
        module.__all__ = members.split()  # type: ignore[attr-defined]
        vars(module).update({member: classes[member] for member in members.split()})
        globals()[name] = _sys.modules[module.__name__] = module
    vars(globals()["multivariate_normal"]).update(  # which distributions of others import
        _batch_mahalanobis=multivariate.squared_distance, _batch_mv=multivariate.times,
        _precision_to_scale_tril=multivariate.factor_of_inverse,
    )  # fmt: skip


_enter_modules()

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform", "Categorical", "Cauchy",
    "Chi2", "ComposeTransform", "ContinuousBernoulli", "CorrCholeskyTransform", "CumulativeDistributionTransform",
    "Dirichlet", "Distribution", "ExpTransform", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "IndependentTransform",
    "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal", "LowRankMultivariateNormal",
    "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal",
    "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "PositiveDefiniteTransform",
    "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical", "ReshapeTransform", "SigmoidTransform",
    "SoftmaxTransform", "SoftplusTransform", "StackTransform", "StickBreakingTransform", "StudentT", "TanhTransform",
    "Transform", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to",
    "identity_transform", "kl_divergence", "register_kl", "transform_to",
]  # fmt: skip
