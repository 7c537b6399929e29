"""Divergences against integrals, sums and means over draws; entropies by the same formula; the registry."""

import numpy as np
import pytest
import scipy.integrate
from test_distributions import INF, MATRIX, D, close, made, t

import tensorplay as tp


@pytest.fixture(autouse=True)
def seeded():
    tp.manual_seed(3)


# ---- divergences: KL(p || q) by integrals and sums of the densities

ON_LINE = {
    "Beta": lambda: D.Beta(t(2.0), t(3.5)),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(t(0.8)),
    "Exponential": lambda: D.Exponential(t(1.5)),
    "Gamma": lambda: D.Gamma(t(2.5), t(3.0)),
    "Gumbel": lambda: D.Gumbel(t(0.5), t(2.0)),
    "Laplace": lambda: D.Laplace(t(0.5), t(1.5)),
    "Normal": lambda: D.Normal(t(-0.5), t(0.7)),
    "Pareto": lambda: D.Pareto(t(0.5), t(4.5)),
    "Uniform": lambda: D.Uniform(t(0.6), t(0.9)),
    "Cauchy": lambda: D.Cauchy(t(0.5), t(2.0)),
    "HalfNormal": lambda: D.HalfNormal(t(2.0)),
}
ENDS = {
    "Beta": (0, 1), "ContinuousBernoulli": (0, 1), "Exponential": (0, INF), "Gamma": (0, INF), "HalfNormal": (0, INF),
    "Pareto": (0.5, INF), "Uniform": (0.6, 0.9),
}  # fmt: skip
OTHERS = {  # the second of two of one kind
    "Beta": lambda: D.Beta(t(1.2), t(0.8)),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(t(0.3)),
    "Exponential": lambda: D.Exponential(t(0.4)),
    "Gamma": lambda: D.Gamma(t(1.2), t(0.8)),
    "Gumbel": lambda: D.Gumbel(t(1.5), t(2.6)),
    "Laplace": lambda: D.Laplace(t(-0.5), t(2.5)),
    "Normal": lambda: D.Normal(t(0.3), t(1.4)),
    "Pareto": lambda: D.Pareto(t(0.25), t(3.0)),
    "Uniform": lambda: D.Uniform(t(0.1), t(2.0)),
    "Cauchy": lambda: D.Cauchy(t(-0.5), t(1.0)),
    "HalfNormal": lambda: D.HalfNormal(t(3.0)),
}
PAIRS = [(p.__name__, q.__name__) for p, q in D.kl._KL_REGISTRY if p.__name__ in ON_LINE and q.__name__ in ON_LINE]


@pytest.mark.parametrize("p, q", PAIRS)
def test_divergences_of_numbers_are_integrals(p, q):
    first, second = ON_LINE[p](), (OTHERS if p == q else ON_LINE)[q]()
    got = float(D.kl_divergence(first, second))
    low, high = ENDS.get(p, (-INF, INF))
    least, most = ENDS.get(q, (-INF, INF))
    if p == q == "Pareto":
        least = 0.25
    if p == q == "Uniform":
        least, most = 0.1, 2.0
    if low < least or high > most:
        assert got == INF
        return

    def term(x):
        a = first.log_prob(t(x))
        return float(a.exp() * (a - second.log_prob(t(x)))) if float(a) > -600 else 0.0

    parts = [low, *[c for c in (-20.0, -2.0, 0.0, 0.5, 3.0, 20.0) if low < c < high], high]
    options = {"limit": 200, "epsabs": 1e-11, "epsrel": 1e-9}
    want = sum(scipy.integrate.quad(term, a, b, **options)[0] for a, b in zip(parts, parts[1:]))
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


COUNTS = {
    "Bernoulli": (lambda: D.Bernoulli(t(0.3)), lambda: D.Bernoulli(t(0.6))),
    "Bernoulli-Poisson": (lambda: D.Bernoulli(t(0.3)), lambda: D.Poisson(t(1.7))),
    "Binomial": (lambda: D.Binomial(5, t(0.3)), lambda: D.Binomial(5, t(0.6))),
    "Categorical": (lambda: D.Categorical(t([0.2, 0.5, 0.3])), lambda: D.Categorical(t([0.1, 0.1, 0.8]))),
    "Geometric": (lambda: D.Geometric(t(0.3)), lambda: D.Geometric(t(0.6))),
    "Poisson": (lambda: D.Poisson(t(3.0)), lambda: D.Poisson(t(1.7))),
}


@pytest.mark.parametrize("name", COUNTS)
def test_divergences_of_counts_are_sums(name):
    p, q = (make() for make in COUNTS[name])
    x = p.enumerate_support() if p.has_enumerate_support else t(np.arange(0.0, 150.0))
    a = p.log_prob(x)
    close(D.kl_divergence(p, q), float((a.exp() * (a - q.log_prob(x))).sum()), 1e-10)


INFINITE = [
    (lambda: D.Binomial(5, t(0.3)), lambda: D.Binomial(4, t(0.3))),
    (lambda: D.Poisson(t(1.0)), lambda: D.Bernoulli(t(0.5))),
    (lambda: D.Poisson(t(1.0)), lambda: D.Binomial(4, t(0.5))),
    (lambda: D.Bernoulli(t(0.5)), lambda: D.Bernoulli(t(0.0))),
    (lambda: D.Categorical(t([0.5, 0.5])), lambda: D.Categorical(t([0.0, 1.0]))),
    (lambda: D.Uniform(t(-1.0), t(1.0)), lambda: D.Gamma(t(1.0), t(1.0))),
    (lambda: D.Uniform(t(0.0), t(2.0)), lambda: D.Beta(t(1.0), t(1.0))),
    (lambda: D.Pareto(t(1.0), t(1.5)), lambda: D.Normal(t(0.0), t(1.0))),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(INFINITE)))
def test_divergences_are_infinite_where_q_has_no_mass(case):
    p, q = (make() for make in INFINITE[case])
    assert float(D.kl_divergence(p, q)) == INF


def test_divergences_where_p_has_no_mass_count_nothing():
    close(D.kl_divergence(D.Categorical(t([0.5, 0.5, 0.0])), D.Categorical(t([0.5, 0.5, 0.0]))), 0.0)
    close(D.kl_divergence(D.Bernoulli(t([0.0, 1.0])), D.Bernoulli(t([0.0, 1.0]))), [0.0, 0.0])
    close(D.kl_divergence(D.Poisson(t(0.0)), D.Poisson(t(2.0))), 2.0)


def test_divergences_of_normal_vectors():
    q_matrix, m = np.array([[1.0, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 0.7]]), np.array([0.5, -1.0, 0.25])
    factor, diagonal = np.array([[1.0, 0.5], [2.0, -1.0], [0.5, 0.0]]), np.array([1.0, 2.0, 0.5])
    low = factor @ factor.T + np.diag(diagonal)
    batch = np.stack([MATRIX, 2 * MATRIX])

    def closed(p, q, difference):
        inverse = np.linalg.inv(q)
        dets = np.linalg.slogdet(q)[1] - np.linalg.slogdet(p)[1]
        return (np.trace(inverse @ p, axis1=-2, axis2=-1) + difference @ inverse @ difference - 3 + dets) / 2

    zero = t(np.zeros(3))
    dense, other = D.MultivariateNormal(zero, t(MATRIX)), D.MultivariateNormal(t(m), t(q_matrix))
    of_low, other_low = (D.LowRankMultivariateNormal(v, t(factor), t(diagonal)) for v in (zero, t(m)))
    several = D.MultivariateNormal(zero, t(batch))
    for p, q, a, b in [
        (dense, other, MATRIX, q_matrix), (dense, other_low, MATRIX, low), (of_low, other, low, q_matrix),
        (of_low, other_low, low, low), (several, other, batch, q_matrix), (several, other_low, batch, low),
        (other, several, q_matrix, batch),
    ]:  # fmt: skip
        close(D.kl_divergence(p, q), closed(a, b, m), 1e-9)


def test_divergences_of_batches_of_normal_vectors():
    m, factor, diagonal = np.arange(24.0).reshape(4, 2, 3) / 9, np.ones((2, 3, 1)), np.array([1.0, 2.0, 0.5])
    kinds = [
        lambda m: D.MultivariateNormal(m, t(MATRIX)),
        lambda m: D.MultivariateNormal(m, t(np.stack([MATRIX, 2 * MATRIX]))),
        lambda m: D.LowRankMultivariateNormal(m, t(factor), t(diagonal)),
        lambda m: D.LowRankMultivariateNormal(m, t(factor[0]), t(np.stack([diagonal, 2 * diagonal]))),
    ]
    for first in kinds:
        for second in kinds:
            for left, right in ((m[:, :1], m[0]), (m, m[:1, 0]), (m[0, 0], m[:, :1])):
                p, q = first(t(left)), second(t(right))
                got = D.kl_divergence(p, q)
                dense = [D.MultivariateNormal(d.loc, d.covariance_matrix) for d in (p, q)]
                assert got.shape == tp.broadcast_shapes(p.batch_shape, q.batch_shape)
                for i, j in ((0, 0), (3, 1)):
                    at = [d.expand((4, 2)) for d in dense]
                    at = [D.MultivariateNormal(d.loc[i, j], d.covariance_matrix[i, j]) for d in at]
                    close(got.expand(4, 2)[i, j], float(D.kl_divergence(*at)), 1e-9)


N = 4000
SAMPLED = {
    "Dirichlet": (lambda: D.Dirichlet(t([0.8, 2.0, 3.0])), lambda: D.Dirichlet(t([1.5, 1.0, 2.0]))),
    "Wishart": (lambda: D.Wishart(t(5.0), t(MATRIX)), lambda: D.Wishart(t(4.0), t(MATRIX + np.eye(3)))),
    "LogNormal": (lambda: D.LogNormal(t(0.0), t(1.0)), lambda: D.LogNormal(t(0.5), t(2.0))),
    "OneHotCategorical": (lambda: D.OneHotCategorical(t([0.2, 0.8])), lambda: D.OneHotCategorical(t([0.5, 0.5]))),
    "Independent": (lambda: D.Independent(D.Normal(t([0.0, 1.0]), t(1.0)), 1),
                    lambda: D.Independent(D.Normal(t([1.0, 1.0]), t(2.0)), 1)),
    "LogisticNormal": (lambda: D.LogisticNormal(t([0.0, 1.0]), t(1.0)),
                       lambda: D.LogisticNormal(t([1.0, 1.0]), t(2.0))),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLED)
def test_divergences_are_means_over_draws(name):
    p, q = (make() for make in SAMPLED[name])
    x = p.sample((N,))
    terms = (p.log_prob(x) - q.log_prob(x)).numpy()
    assert abs(terms.mean() - float(D.kl_divergence(p, q))) < 5 * terms.std() / np.sqrt(N)


def test_entropies_of_exponential_families_follow_from_the_normaliser():
    for name in ("Normal", "Exponential", "Gamma", "Bernoulli"):
        d = made(name)
        close(D.ExponentialFamily.entropy(d), float(d.entropy()))
    for d in (D.ContinuousBernoulli(t([0.1, 0.5, 0.9])), D.Wishart(t([4.0, 5.0]), t(MATRIX))):
        close(D.ExponentialFamily.entropy(d), d.entropy().numpy())
    with pytest.raises(NotImplementedError, match="Poisson has no _mean_carrier_measure"):
        D.Poisson(3.0).entropy()


def test_the_closest_registered_divergence_is_taken():
    class Base(D.Normal):
        pass

    class Left(Base):
        pass

    before = dict(D.kl._KL_REGISTRY)
    try:
        D.register_kl(Base, D.Normal)(lambda p, q: "base first")
        D.register_kl(D.Normal, Base)(lambda p, q: "base second")
        base, left, normal = Base(0.0, 1.0), Left(0.0, 1.0), D.Normal(0.0, 1.0)
        assert D.kl_divergence(left, normal) == "base first" and D.kl_divergence(normal, left) == "base second"
        with pytest.warns(RuntimeWarning, match="might take"):
            assert D.kl_divergence(left, base) == "base first"
        D.register_kl(Base, Base)(lambda p, q: "both")
        assert D.kl_divergence(left, left) == "both"
    finally:
        D.kl._KL_REGISTRY.clear()
        D.kl._KL_REGISTRY.update(before)
        D.kl._KL_MEMOIZE.clear()
    close(D.kl_divergence(left, base), 0.0)
