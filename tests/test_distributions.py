"""Distributions: values against SciPy, integrals and stored ones; what is refused; modules."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.integrate
from scipy import stats

import tensorplay as tp
from tensorplay import distributions, func
from tensorplay.distributions import constraints

D = distributions
DATA = json.loads((Path(__file__).parent / "data" / "distributions.json").read_text())
NAN, INF = float("nan"), float("inf")


def t(values):
    return tp.tensor(np.asarray(values, np.float64))


def close(got, want, tol=1e-9):
    np.testing.assert_allclose(np.asarray(got.detach().numpy()), np.asarray(want), rtol=tol, atol=tol)


# ---- laws that SciPy has: parameters, the law, values (some far out), and whether there is a cdf

MATRIX = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.25], [0.0, -0.25, 1.5]])

CONTINUOUS = {
    "Normal": ([0.5, 2.0], lambda m, s: stats.norm(m, s), [-70.0, 0.0, 3.0, 60.0]),
    "Laplace": ([0.5, 2.0], lambda m, s: stats.laplace(m, s), [-200.0, 0.0, 0.5, 3.0]),
    "Cauchy": ([0.5, 2.0], lambda m, s: stats.cauchy(m, s), [-1e9, 0.0, 3.0, 1e6]),
    "StudentT": ([3.5, 0.5, 2.0], lambda d, m, s: stats.t(d, m, s), [-1e5, 0.0, 3.0]),
    "Uniform": ([-1.0, 3.0], lambda a, b: stats.uniform(a, b - a), [-0.9, 0.0, 2.5]),
    "Exponential": ([2.0], lambda r: stats.expon(scale=1 / r), [1e-20, 0.1, 3.0, 300.0]),
    "Gamma": ([2.5, 3.0], lambda a, r: stats.gamma(a, scale=1 / r), [1e-20, 0.5, 3.0, 200.0]),
    "Gamma of small concentration": ([0.2, 3.0], lambda a, r: stats.gamma(a, scale=1 / r), [1e-20, 0.5, 3.0]),
    "Chi2": ([3.0], lambda k: stats.chi2(k), [1e-10, 0.5, 3.0, 200.0]),
    "Beta": ([0.7, 3.0], lambda a, b: stats.beta(a, b), [1e-20, 0.3, 0.99]),
    "FisherSnedecor": ([3.0, 7.0], lambda a, b: stats.f(a, b), [1e-8, 0.5, 3.0, 1e4]),
    "GeneralizedPareto": ([0.5, 2.0, 0.2], lambda m, s, c: stats.genpareto(c, m, s), [0.5, 1.0, 3.0, 1e5]),
    "GeneralizedPareto of bounded support": (
        [0.5, 2.0, -0.4], lambda m, s, c: stats.genpareto(c, m, s), [0.5, 1.0, 3.0, 5.4]),
    "GeneralizedPareto, exponential": ([0.5, 2.0, 0.0], lambda m, s, c: stats.genpareto(c, m, s), [0.5, 1.0, 30.0]),
    "VonMises": ([0.5, 2.0], lambda m, k: stats.vonmises(k, m), [-3.0, 0.0, 2.0]),
    "VonMises, narrow": ([0.5, 900.0], lambda m, k: stats.vonmises(k, m), [-3.0, 0.5, 0.6]),
    "Gumbel": ([0.5, 2.0], lambda m, s: stats.gumbel_r(m, s), [-5.0, 0.0, 3.0, 70.0]),
    "HalfCauchy": ([2.0], lambda s: stats.halfcauchy(scale=s), [1e-10, 1.0, 1e6]),
    "HalfNormal": ([2.0], lambda s: stats.halfnorm(scale=s), [1e-10, 1.0, 60.0]),
    "LogNormal": ([0.5, 0.7], lambda m, s: stats.lognorm(s, scale=np.exp(m)), [1e-10, 1.0, 1e4]),
    "InverseGamma": ([4.5, 3.0], lambda a, r: stats.invgamma(a, scale=r), [0.05, 1.0, 1e4]),
    "Pareto": ([0.5, 4.5], lambda s, a: stats.pareto(a, scale=s), [0.5, 1.0, 1e4]),
    "Weibull": ([0.5, 1.7], lambda s, c: stats.weibull_min(c, scale=s), [1e-10, 1.0, 9.0]),
}  # fmt: skip
DISCRETE = {
    "Bernoulli": ([0.3], lambda p: stats.bernoulli(p), [0.0, 1.0]),
    "Binomial": ([9, 0.3], lambda n, p: stats.binom(n, p), [0.0, 4.0, 9.0]),
    "Geometric": ([0.3], lambda p: stats.geom(p, loc=-1), [0.0, 4.0, 300.0]),
    "NegativeBinomial": ([3.5, 0.3], lambda n, p: stats.nbinom(n, 1 - p), [0.0, 4.0, 300.0]),
    "Poisson": ([3.5], lambda r: stats.poisson(r), [0.0, 4.0, 100.0]),
}
SCALAR = {**CONTINUOUS, **DISCRETE}
NO_CDF = {"StudentT", "Beta", "FisherSnedecor", "VonMises"}
NO_ICDF = NO_CDF | {"Gamma", "Chi2", "InverseGamma"}


def kind(name):
    return name.split(" ")[0].rstrip(",")


def made(name, parameters=None):
    """The distribution of a row, its parameters as float64 tensors (a count as an int)."""
    values = [p if isinstance(p, (int, tp.Tensor)) else t(p) for p in parameters or SCALAR[name][0]]
    return getattr(distributions, kind(name))(*values)


def law(name):
    return SCALAR[name][1](*SCALAR[name][0])


@pytest.mark.parametrize("name", SCALAR)
def test_log_prob_is_that_of_scipy(name):
    values, reference = np.array(SCALAR[name][2]), law(name)
    want = reference.logpdf(values) if name in CONTINUOUS else reference.logpmf(values)
    close(made(name).log_prob(t(values)), want, 1e-10)


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if kind(n) not in NO_CDF])
def test_cdf_is_that_of_scipy(name):
    values = np.array(CONTINUOUS[name][2])
    got = made(name).cdf(t(values)).numpy()
    np.testing.assert_allclose(got, law(name).cdf(values), rtol=1e-10, atol=0)  # relative, also where it is tiny


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if kind(n) not in NO_ICDF])
def test_icdf_is_that_of_scipy(name):
    p = np.array([1e-9, 0.1, 0.5, 0.9, 1 - 1e-9])
    close(made(name).icdf(t(p)), law(name).ppf(p), 1e-6 if "Cauchy" in name else 1e-8)


WITHOUT_ENTROPY = ("NegativeBinomial", "Poisson", "FisherSnedecor")


@pytest.mark.parametrize("name", [n for n in SCALAR if kind(n) not in WITHOUT_ENTROPY])
def test_entropy_is_that_of_scipy(name):
    if kind(name) == "VonMises":
        with pytest.raises(NotImplementedError, match="VonMises has no entropy"):
            made(name).entropy()
    else:
        close(made(name).entropy(), law(name).entropy(), 1e-8)
        close(made(name).perplexity(), np.exp(law(name).entropy()), 1e-8)


@pytest.mark.parametrize("name", [n for n in SCALAR if kind(n) not in ("Cauchy", "HalfCauchy", "VonMises")])
def test_mean_and_variance_are_those_of_scipy(name):
    d, reference = made(name), law(name)
    close(d.mean, reference.mean())
    close(d.variance, reference.var())
    close(d.stddev, reference.std())


@pytest.mark.parametrize("name", [n for n in SCALAR if kind(n) != "Uniform"])
def test_the_mode_is_most_likely(name):
    d, reference = made(name), law(name)
    mode = d.mode
    if name in DISCRETE:
        others = t(np.arange(0.0, 10.0)) if kind(name) != "Bernoulli" else t([0.0, 1.0])
    else:
        low, high = reference.ppf([1e-6, 1 - 1e-6]) if kind(name) != "VonMises" else (-3.0, 3.0)
        others = t(np.linspace(low, high, 4001))
    assert float(d.log_prob(mode)) >= float(d.log_prob(others).max()) - 1e-12


WITHOUT_MOMENTS = [
    ("StudentT", [1.0], NAN, NAN), ("StudentT", [1.5], 0.0, INF), ("Cauchy", [0.0, 1.0], NAN, INF),
    ("HalfCauchy", [1.0], INF, INF), ("Pareto", [1.0, 1.0], INF, INF), ("Pareto", [1.0, 1.5], 3.0, INF),
    ("InverseGamma", [1.0, 1.0], INF, INF), ("InverseGamma", [1.5, 1.0], 2.0, INF),
    ("FisherSnedecor", [1.0, 2.0], NAN, NAN), ("FisherSnedecor", [1.0, 4.0], 2.0, NAN),
    ("GeneralizedPareto", [0.0, 1.0, 1.0], INF, INF), ("GeneralizedPareto", [0.0, 1.0, 0.5], 2.0, INF),
]  # fmt: skip


@pytest.mark.parametrize("name, parameters, mean, variance", WITHOUT_MOMENTS)
def test_moments_that_are_infinite_or_do_not_exist(name, parameters, mean, variance):
    d = made(name, parameters)
    close(d.mean, mean)
    close(d.variance, variance)


VECTORS = {
    "Dirichlet": (lambda: D.Dirichlet(t([0.5, 2.0, 3.0])), stats.dirichlet([0.5, 2.0, 3.0]), [0.2, 0.5, 0.3]),
    "MultivariateNormal": (
        lambda: D.MultivariateNormal(t([0.5, 0.0, -1.0]), t(MATRIX)),
        stats.multivariate_normal([0.5, 0.0, -1.0], MATRIX), [40.0, 1.0, 0.0]),
    "MultivariateNormal by its precision": (
        lambda: D.MultivariateNormal(t([0.5, 0.0, -1.0]), precision_matrix=t(np.linalg.inv(MATRIX))),
        stats.multivariate_normal([0.5, 0.0, -1.0], MATRIX), [40.0, 1.0, 0.0]),
    "LowRankMultivariateNormal": (
        lambda: D.LowRankMultivariateNormal(t([0.5, 0.0]), t([[1.0], [2.0]]), t([1.0, 0.5])),
        stats.multivariate_normal([0.5, 0.0], [[2.0, 2.0], [2.0, 4.5]]), [40.0, 1.0]),
    "Multinomial": (
        lambda: D.Multinomial(5, t([0.2, 0.3, 0.5])), stats.multinomial(5, [0.2, 0.3, 0.5]), [1.0, 0.0, 4.0]),
    "Wishart": (lambda: D.Wishart(t(4.5), t(MATRIX)), stats.wishart(4.5, MATRIX), MATRIX + np.eye(3)),
    "Wishart by its factor": (
        lambda: D.Wishart(t(4.5), scale_tril=t(np.linalg.cholesky(MATRIX))), stats.wishart(4.5, MATRIX), MATRIX),
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_and_matrices_are_those_of_scipy(name):
    make, reference, value = VECTORS[name]
    d = make()
    value = np.array(value)
    want = reference.logpmf(value) if hasattr(reference, "logpmf") else reference.logpdf(value)
    close(d.log_prob(t(value)), want)
    close(d.entropy(), reference.entropy())
    close(d.mean, reference.mean() if callable(reference.mean) else reference.mean)
    if hasattr(reference, "var"):
        close(d.variance, reference.var())
    else:
        close(d.variance, np.diag(reference.cov() if callable(reference.cov) else reference.cov))


def from_table(value):
    """A list of numbers as a tensor, [name, arguments] as a distribution."""
    if isinstance(value, list) and isinstance(value[0], str):
        return getattr(distributions, value[0])(**{k: from_table(v) for k, v in value[1].items()})
    return t(value) if isinstance(value, (list, float)) else value


@pytest.mark.parametrize("row", DATA, ids=lambda row: f"{row['name']}({', '.join(row['arguments'])})")
def test_stored_values(row):
    d = from_table([row["name"], row["arguments"]])
    close(d.log_prob(t(row["value"])), row["log_prob"], 1e-7)
    for attribute in ("mean", "variance", "stddev", "entropy"):
        if attribute in row:
            found = getattr(d, attribute)
            close(found() if callable(found) else found, row[attribute], 1e-7)


def test_matrices_follow_from_one_another():
    factor = np.linalg.cholesky(MATRIX)
    of_inverse = D.MultivariateNormal(t(np.zeros(3)), precision_matrix=t(np.linalg.inv(MATRIX)))
    low_rank = D.LowRankMultivariateNormal(t(np.zeros(2)), t([[1.0], [2.0]]), t([1.0, 0.5]))
    dense = np.array([[2.0, 2.0], [2.0, 4.5]])
    for d, covariance in ((of_inverse, MATRIX), (D.Wishart(t(3.0), scale_tril=t(factor)), MATRIX), (low_rank, dense)):
        close(d.covariance_matrix, covariance)
        close(d.scale_tril, np.linalg.cholesky(covariance))
        close(d.precision_matrix, np.linalg.inv(covariance))


def test_distribution_functions_of_gamma_laws_have_derivatives_in_all_parameters():
    for make in (D.Gamma, D.InverseGamma):
        at = (t(2.5), t(3.0))
        got = func.grad(lambda a, r, make=make: make(a, r).cdf(t(0.7)), (0, 1))(*at)
        for i in range(2):
            sides = [float(make(*[p + s * (i == j) for j, p in enumerate(at)]).cdf(t(0.7))) for s in (-1e-5, 1e-5)]
            np.testing.assert_allclose(float(got[i]), (sides[1] - sides[0]) / 2e-5, rtol=1e-7)


def test_probabilities_near_one_keep_their_digits():
    logits = np.array([-80.0, -25.0, 3.0, 25.0, 80.0])
    probs, rest = 1 / (1 + np.exp(-logits)), 1 / (1 + np.exp(logits))
    log_probs = -np.log1p(np.exp(-logits))
    for d, x, variance in [
        (D.Bernoulli(logits=t(logits)), 1.0, probs * rest),
        (D.Binomial(1, logits=t(logits)), 1.0, probs * rest),
        (D.Geometric(logits=t(logits)), 0.0, rest / probs**2),
    ]:
        np.testing.assert_allclose(d.log_prob(t(x)).numpy(), log_probs, 1e-13)
        np.testing.assert_allclose(d.variance.numpy(), variance, 1e-13)
    entropy = -probs * log_probs + rest * np.logaddexp(0, logits)
    np.testing.assert_allclose(D.Bernoulli(logits=t(logits)).entropy().numpy(), entropy, 1e-12)
    half = t(0.5)  # values between, as of grey images, mix the two
    close(D.Bernoulli(logits=half, validate_args=False).log_prob(t(0.25)), 0.25 * 0.5 - np.logaddexp(0, 0.5))


# ---- near special points


def test_student_approaches_the_normal_distribution():
    normal = D.Normal(0.0, 1.0)
    for df in (1e6, 1e10, 1e14):
        x = tp.tensor([0.0, 2.0])
        close(D.StudentT(df).log_prob(x).double(), normal.log_prob(x).double().numpy(), 4e-6)
        close(D.StudentT(df).entropy().double(), float(normal.entropy()), 4e-6)
    df = np.array([38.0, 39.9, 40.1, 60.0, 1e3, 1e5])  # where the series begins, and far from there
    close(D.StudentT(t(df)).log_prob(t(1.5)), stats.t(df).logpdf(1.5), 1e-11)
    close(D.StudentT(t(df)).entropy(), stats.t(df).entropy(), 1e-9)
    slope = func.grad(lambda d: D.StudentT(d).log_prob(t(1.5)).sum())(t(df)).numpy()
    sides = [stats.t(df * (1 + s)).logpdf(1.5) for s in (-1e-3, 1e-3)]
    np.testing.assert_allclose(slope, (sides[1] - sides[0]) / (2e-3 * df), 1e-4)


def test_derivatives_at_special_points():
    grad = func.grad(lambda b: D.Kumaraswamy(t(2.0), b).log_prob(t(0.5)))(t(1.0))
    close(grad, 1 + np.log(0.75))
    close(func.grad(lambda p: D.Geometric(p).log_prob(t(0.0)))(t(1.0)), 1.0)
    z = 3.0
    log_prob = lambda c: D.GeneralizedPareto(t(0.0), t(1.0), c).log_prob(t(z))
    for shape in (0.0, 1e-9, 1e-4, -1e-4):  # of log(1 + c z) / c
        first = func.grad(log_prob)(t(shape))
        second = func.grad(func.grad(log_prob))(t(shape))
        close(first, -z + z * z / 2 + (z * z - 2 * z**3 / 3) * shape, 1e-6)
        close(second, z * z - 2 * z**3 / 3 + (1.5 * z**4 - 2 * z**3) * shape, 1e-4)


def test_the_continuous_bernoulli_density_integrates_to_one_near_and_at_one_half():
    x = np.linspace(0, 1, 2001)
    for probs in (0.5, 0.4999999, 0.4985, 0.501, 0.475, 0.53, 1e-4):
        d = D.ContinuousBernoulli(t(probs))
        density = d.log_prob(t(x)).exp().numpy()
        close(t(scipy.integrate.simpson(density, x=x)), 1.0, 1e-10)
        close(d.mean, scipy.integrate.simpson(density * x, x=x), 1e-10)
        close(d.variance, scipy.integrate.simpson(density * (x - float(d.mean)) ** 2, x=x), 1e-9)
        close(d.cdf(t([0.3])), scipy.integrate.simpson(density[:601], x=x[:601]), 1e-10)
        close(d.cdf(d.icdf(t([0.01, 0.3, 0.999]))), [0.01, 0.3, 0.999], 1e-11)
    single = D.ContinuousBernoulli(tp.tensor([0.49, 0.4985, 0.502]))
    close(single.variance.double(), D.ContinuousBernoulli(t([0.49, 0.4985, 0.502])).variance.numpy(), 1e-5)


CERTAIN = [
    (lambda: D.Bernoulli(t([0.0, 1.0])).log_prob(t([1.0, 0.0])) < -30, True),
    (lambda: D.Bernoulli(t([0.0, 1.0])).entropy() < 1e-12, True),
    (lambda: D.Geometric(t(1.0)).log_prob(t([0.0, 1.0])), [0.0, -INF]),
    (lambda: D.NegativeBinomial(t(0.0), t(0.5)).log_prob(t([0.0, 1.0])), [0.0, -INF]),
    (lambda: D.Poisson(t(0.0)).log_prob(t([0.0, 1.0])), [0.0, -INF]),
    (lambda: D.Gamma(t([1.0, 2.0, 0.5]), t(1.0)).log_prob(t(0.0)), [0.0, -INF, INF]),
    (lambda: D.Beta(t(1.0), t(1.0)).log_prob(t([0.0, 1.0])), [0.0, 0.0]),
    (lambda: D.Categorical(logits=t([-INF, 1.0])).entropy(), 0.0),
    (lambda: D.Multinomial(2, logits=t([-INF, 1.0])).log_prob(t([0.0, 2.0])), 0.0),
    (lambda: D.Uniform(0.0, 1.0, validate_args=False).log_prob(t([-1.0, 0.0, 0.5, 1.0])), [-INF, 0.0, 0.0, -INF]),
    (lambda: D.HalfNormal(t(1.0), validate_args=False).log_prob(t(-1.0)), -INF),
    (lambda: D.Weibull(t(1.0), t(0.5)).mode, 0.0),
    (lambda: D.Kumaraswamy(t([2.0, 3.0, 0.5]), t([3.0, 1.0, 0.5])).mode, [0.2**0.5, 1.0, NAN]),
    (lambda: D.Dirichlet(t([[0.5, 0.7], [3.0, 2.0]])).mode, [[1.0, 0.0], [2 / 3, 1 / 3]]),
    (lambda: D.Bernoulli(t([0.2, 0.5, 0.8])).mode, [0.0, NAN, 1.0]),
    (lambda: D.Wishart(t([2.0, 5.0]), t(np.eye(2))).mode[:, 0, 0], [NAN, 2.0]),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(CERTAIN)))
def test_values_at_the_edge(case):
    make, want = CERTAIN[case]
    got = make()
    if want is True:
        assert bool(got.all())
    else:
        close(got, want)


# ---- refusals


class Own(D.Normal):
    def __init__(self):
        super().__init__(0.0, 1.0)


INDEFINITE = t([[1.0, 2.0], [2.0, 1.0]])
REFUSED = [
    (lambda: D.Normal(0.0, -1.0), ValueError, "parameter scale"), (lambda: D.Normal("a", 1.0), ValueError, "a number"),
    (lambda: D.Normal(0.0, NAN), ValueError, "parameter scale"),
    (lambda: D.Uniform(2.0, 1.0), ValueError, "parameter low"), (lambda: D.Bernoulli(), ValueError, "got none"),
    (lambda: D.Bernoulli(0.2, 0.3), ValueError, "got probs, logits"),
    (lambda: D.Geometric(0.0), ValueError, "positive"), (lambda: D.Bernoulli(1.5), ValueError, "parameter probs"),
    (lambda: D.Categorical(t(1.0)), ValueError, "one dimension"),
    (lambda: D.Categorical(t([-1.0, 2.0])), ValueError, "Simplex"),
    (lambda: D.Dirichlet(t(1.0)), ValueError, "dimension"),
    (lambda: D.Binomial(-1, t(0.5)), ValueError, "total_count"), (lambda: D.LKJCholesky(1), ValueError, "at least 2"),
    (lambda: D.Multinomial(t(3.0), t([0.5, 0.5])), NotImplementedError, "total_count"),
    (lambda: D.MultivariateNormal(t([0.0, 0.0])), ValueError, "got none"),
    (lambda: D.MultivariateNormal(t(0.0), t(MATRIX)), ValueError, "loc must have"),
    (lambda: D.MultivariateNormal(t([0.0]), t([1.0])), ValueError, "covariance_matrix must have"),
    (lambda: D.MultivariateNormal(t([0.0, 0.0]), INDEFINITE), ValueError, "PositiveDefinite"),
    (lambda: D.MultivariateNormal(t([0.0, 0.0]), INDEFINITE, validate_args=False), RuntimeError, "cholesky"),
    (lambda: D.LowRankMultivariateNormal(t([0.0, 0.0]), t([[1.0]]), t([1.0, 1.0])), ValueError, "cov_factor"),
    (lambda: D.LowRankMultivariateNormal(t([0.0]), t([[1.0]]), t([1.0, 1.0])), ValueError, "cov_diag"),
    (lambda: D.Wishart(t(0.5), t(np.eye(2))), ValueError, "larger than 1"),
    (lambda: D.Independent(D.Normal(0.0, 1.0), 1), ValueError, "at most 0"),
    (lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)), ValueError, "Categorical"),
    (lambda: D.MixtureSameFamily(D.Categorical(t([1.0, 1.0])), D.Normal(tp.zeros(3), 1.0)), ValueError, "2 components"),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3), ValueError, "must be a Transform"),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()), ValueError, "at least 1 dim"),
    (lambda: D.Normal(0.0, 1.0).log_prob(1.0), ValueError, "must be a Tensor"),
    (lambda: D.Normal(0.0, 1.0).log_prob(tp.tensor(NAN)), ValueError, "support Real"),
    (lambda: D.Normal(tp.zeros(2), 1.0).cdf(tp.zeros(3)), ValueError, "cannot be broadcast"),
    (lambda: D.Dirichlet(tp.ones(3)).log_prob(tp.ones(2)), ValueError, "event_shape"),
    (lambda: D.Exponential(1.0).log_prob(tp.tensor(-1.0)), ValueError, "support GreaterThanEq"),
    (lambda: D.Categorical(tp.ones(2)).log_prob(tp.tensor(2)), ValueError, "IntegerInterval"),
    (lambda: D.Poisson(1.0).log_prob(tp.tensor(0.5)), ValueError, "IntegerGreaterThan"),
    (lambda: D.Binomial(t([3.0, 4.0]), t(0.5)).entropy(), NotImplementedError, "total_count"),
    (lambda: D.Gamma(1.0, 1.0).icdf(tp.tensor(0.5)), NotImplementedError, "Gamma has no icdf"),
    (lambda: D.VonMises(0.0, 1.0).rsample(), NotImplementedError, "VonMises has no rsample"),
    (lambda: D.Normal(0.0, 1.0).enumerate_support(), NotImplementedError, "enumerate_support"),
    (lambda: D.Independent(D.Bernoulli(tp.ones(2) / 2), 1).enumerate_support(), NotImplementedError, "several"),
    (lambda: Own().expand((2,)), NotImplementedError, "expand"),
    (lambda: D.Distribution.set_default_validate_args(3), ValueError, "True or False"),
    (lambda: D.kl_divergence(D.Normal(0.0, 1.0), D.Categorical(tp.ones(2))), NotImplementedError, "Normal"),
    (lambda: D.kl_divergence(D.Normal(0.0, 1.0), D.Poisson(1.0)), NotImplementedError, "Poisson"),
    (lambda: D.kl_divergence(D.Binomial(3, t(0.5)), D.Binomial(4, t(0.5))), NotImplementedError, "total_count"),
    (lambda: D.kl_divergence(D.LogNormal(0.0, 1.0), D.Weibull(1.0, 1.0)), NotImplementedError, "transforms"),
    (lambda: D.register_kl(int, D.Normal), TypeError, "subclass of Distribution"),
    (lambda: tp._standard_gamma(tp.tensor(-1.0)), RuntimeError, "negative"),
    (lambda: tp._standard_gamma(tp.tensor(1)), NotImplementedError, "_standard_gamma"),
    (lambda: tp._sample_dirichlet(tp.tensor([-1.0, 1.0])), RuntimeError, "negative"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_bad_arguments_are_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def test_checks_see_through_transforms():
    with pytest.raises(ValueError, match="parameter scale"):
        func.vmap(lambda s: D.Normal(0.0, s).log_prob(tp.tensor(0.0)))(tp.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match="support"):
        func.grad(lambda x: D.Exponential(1.0).log_prob(x))(tp.tensor(-1.0))


def test_the_default_of_checks_can_be_set():
    try:
        D.Distribution.set_default_validate_args(False)
        assert D.Normal(0.0, -1.0).scale == -1
        with pytest.raises(ValueError):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        D.Normal(0.0, -1.0)


def test_a_user_class_needs_little():
    class Triangle(D.Distribution):
        arg_constraints = {"width": constraints.positive}
        support = constraints.nonnegative
        has_rsample = True

        def __init__(self, width, validate_args=None):
            self.width = width
            super().__init__(width.shape, validate_args=validate_args)

        def rsample(self, sample_shape=()):
            return self.width * (1 - tp.rand(self._extended_shape(sample_shape)).sqrt())

        def log_prob(self, value):
            if self._validate_args:
                self._validate_sample(value)
            return (2 / self.width * (1 - value / self.width)).log()

    d = Triangle(tp.tensor([1.0, 2.0]))
    assert d.sample((5,)).shape == (5, 2) and repr(d) == "Triangle(width: tensorplay.Size([2]))"
    with pytest.raises(ValueError, match="support"):
        d.log_prob(tp.tensor(-1.0))
    with pytest.raises(NotImplementedError, match="expand"):
        d.expand((3, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        D.Independent(d, 1).log_prob(d.sample())


def test_subclasses_expand_what_they_add():
    class Weighted(D.Normal):
        def __init__(self, loc, scale, weight):
            self.weight = weight
            super().__init__(loc, scale)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Weighted, _instance)
            new.weight = self.weight.expand(batch_shape)
            return super().expand(batch_shape, _instance=new)

    class Scaled(D.LogNormal):
        def __init__(self, weight):
            self.weight = weight
            super().__init__(0.0, 1.0)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Scaled, _instance)
            new.weight = self.weight.expand(batch_shape)
            return super().expand(batch_shape, _instance=new)

    for d in (Weighted(0.0, 1.0, tp.tensor(2.0)), Scaled(tp.tensor(2.0))):
        wide = d.expand((3,))
        assert type(wide) is type(d) and wide.weight.shape == wide.loc.shape == wide.batch_shape == (3,)


def test_singular_draws_of_wishart_are_drawn_again():
    d = D.Wishart(tp.full((500,), 1.0001), tp.eye(2))
    with pytest.warns(UserWarning, match="drawn again"):
        x = d.rsample(max_try_correction=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        good = [d.support.check(d.rsample(max_try_correction=n)).double().mean() for n in (0, 20)]
    assert x.shape == (500, 2, 2) and good[0] < good[1]


# ---- modules


def test_modules_by_the_names_of_pytorch():
    import tensorplay.distributions.normal
    from tensorplay.distributions.multivariate_normal import MultivariateNormal
    from tensorplay.distributions.relaxed_categorical import ExpRelaxedCategorical, RelaxedOneHotCategorical

    assert tensorplay.distributions.normal.Normal is D.Normal and MultivariateNormal is D.MultivariateNormal
    assert issubclass(RelaxedOneHotCategorical, D.TransformedDistribution)
    assert issubclass(ExpRelaxedCategorical, D.Distribution)
    assert all(hasattr(D, name) for name in D.__all__)


def test_the_package_comes_at_need():
    code = (
        "import sys, tensorplay as tp\nassert 'tensorplay.distributions' not in sys.modules\n"
        "tp.distributions.Normal(0., 1.)\nfrom tensorplay.distributions.beta import Beta"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
