"""Draws from distributions: their laws, their moments, their derivatives in the parameters."""

import numpy as np
import pytest
import scipy.integrate
from scipy import stats
from test_distributions import CONTINUOUS, DISCRETE, INF, MATRIX, D, close, kind, law, made, t

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.distributions import constraints


@pytest.fixture(autouse=True)
def seeded():
    tp.manual_seed(3)


# ---- draws

N = 4000


@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws_follow_the_law(name):
    d = made(name)
    draws = d.rsample((N,)) if d.has_rsample else d.sample((N,))
    if kind(name) == "VonMises":
        draws = (draws - 0.5 + np.pi) % (2 * np.pi) + 0.5 - np.pi
    assert draws.dtype == tp.float64 and stats.kstest(draws.numpy(), law(name).cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", DISCRETE)
def test_counts_follow_the_law(name):
    draws, reference = made(name).sample((N,)).numpy(), law(name)
    edges = np.unique(reference.ppf([0.1, 0.3, 0.5, 0.7, 0.9]))
    bins = np.concatenate([[-INF], edges, [INF]])
    expected = np.diff(np.concatenate([[0.0], reference.cdf(edges), [1.0]])) * N
    found = np.array([((draws > a) & (draws <= b)).sum() for a, b in zip(bins[:-1], bins[1:])])
    kept = expected > 0
    assert found[~kept].sum() == 0
    assert stats.chisquare(found[kept], expected[kept]).pvalue > 1e-3 if kept.sum() > 1 else True


MOMENTS = {
    "Dirichlet": lambda: D.Dirichlet(t([0.5, 2.0, 3.0])),
    "Dirichlet of small concentrations": lambda: D.Dirichlet(t([1e-3, 2e-3])),
    "Categorical": lambda: D.OneHotCategorical(t([0.2, 0.3, 0.5])),
    "Multinomial": lambda: D.Multinomial(7, t([[0.2, 0.3, 0.5], [0.5, 0.5, 0.0]])),
    "Kumaraswamy": lambda: D.Kumaraswamy(t([0.5, 2.0]), t([3.0, 0.7])),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(t([0.1, 0.5, 0.97])),
    "MultivariateNormal": lambda: D.MultivariateNormal(t([[0.0], [1.0]]).expand(2, 3), t(MATRIX)),
    "LowRankMultivariateNormal": lambda: D.LowRankMultivariateNormal(t([0.5, 0.0]), t([[1.0], [2.0]]), t([1.0, 0.5])),
    "Wishart": lambda: D.Wishart(t([4.5, 9.0]), t(MATRIX)),
    "MixtureSameFamily": lambda: D.MixtureSameFamily(
        D.Categorical(t([[0.2, 0.8], [0.5, 0.5]])), D.Normal(t([[-1.0, 1.0], [0.0, 3.0]]), t(0.5))),
    "a mixture of vectors": lambda: D.MixtureSameFamily(
        D.Categorical(t([0.2, 0.8])), D.Independent(D.Normal(t([[-1.0, 1.0], [0.0, 3.0]]), t(0.5)), 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_of_draws(name):
    d = MOMENTS[name]()
    draws = d.sample((N,))
    assert draws.shape == (N, *d.batch_shape, *d.event_shape)
    error = d.stddev.numpy() / np.sqrt(N)
    assert (np.abs(draws.mean(0).numpy() - d.mean.numpy()) <= 5 * error + 1e-12).all()
    x = draws.numpy()
    of_variance = ((x - x.mean(0)) ** 2).std(0) / np.sqrt(N)
    assert (np.abs(x.var(0) - d.variance.numpy()) <= 5 * of_variance + 1e-12).all()


def test_correlations_under_lkj_follow_the_marginal_beta_law():
    for dim, concentration in ((2, 0.7), (4, 2.5)):
        factors = D.LKJCholesky(dim, t(concentration)).sample((N,)).numpy()
        assert constraints.corr_cholesky.check(tp.tensor(factors)).all()
        matrices = factors @ factors.swapaxes(-1, -2)
        marginal = stats.beta(concentration - 1 + dim / 2, concentration - 1 + dim / 2, -1, 2)
        assert stats.kstest(matrices[:, -1, 0], marginal.cdf).pvalue > 1e-3


def test_the_lkj_density_integrates_to_one():
    for concentration in (0.6, 1.0, 3.0):
        d = D.LKJCholesky(2, t(concentration))

        def density(r, d=d):  # of the factor [[1, 0], [r, sqrt(1 - r**2)]], in its free entry
            return float(d.log_prob(t([[1.0, 0.0], [r, np.sqrt(1 - r * r)]])).exp())

        assert abs(scipy.integrate.quad(density, -1, 1)[0] - 1) < 1e-6


def test_small_concentrations_underflow_to_no_zero():
    assert (D.Gamma(tp.full((500,), 1e-3), 1.0).sample() > 0).all()
    draws = D.Dirichlet(tp.full((500, 3), 1e-4)).sample()
    assert (draws > 0).all() and constraints.simplex.check(draws).all()
    assert D.Beta(t(1e-4), t(1e-4)).sample((50,)).isfinite().all()


def test_draws_repeat_after_a_seed():
    for make in [lambda: D.Gamma(2.0, 1.0), lambda: D.Categorical(tp.ones(5)), lambda: D.VonMises(0.0, 1.0)]:
        draws = []
        for _ in range(2):
            tp.manual_seed(11)
            draws.append(make().sample((6,)).tolist())
        assert draws[0] == draws[1]


# ---- derivatives of draws: dx/dtheta = -(dF/dtheta) / (dF/dx)

# those made of two draws have other derivatives than the quantile; they are tested by expectations
REPARAMETRISED = [n for n in CONTINUOUS if n not in ("StudentT", "FisherSnedecor") and kind(n) != "VonMises"]


@pytest.mark.parametrize("name", REPARAMETRISED)
def test_draws_have_the_derivatives_of_quantiles(name):
    parameters, reference, _ = CONTINUOUS[name]
    tensors = [t(p).requires_grad_() for p in parameters]
    draws = made(name, tensors).rsample((5,))
    x = draws.detach().numpy()
    got = [autograd.grad(draws[i], tensors, retain_graph=True) for i in range(5)]
    for j, p in enumerate(parameters):
        if name == "GeneralizedPareto, exponential" and j == 2:
            continue  # SciPy's formula breaks close to zero
        step = 1e-4 * max(1.0, abs(p))
        sides = [[*parameters[:j], p + k * step, *parameters[j + 1 :]] for k in (-2, -1, 1, 2)]
        f = [reference(*side).cdf(x) for side in sides]
        slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * step)
        want = -slope / reference(*parameters).pdf(x)
        np.testing.assert_allclose([float(g[j]) for g in got], want, rtol=2e-6, atol=1e-7)


EXPECTED = {  # a distribution of parameters, a function of draws, and its expectation
    "StudentT": (lambda df, m, s: D.StudentT(df, m, s), [9.0, 0.5, 2.0], lambda x: x * x,
                 lambda df, m, s: m * m + s * s * df / (df - 2)),
    "FisherSnedecor": (lambda a, b: D.FisherSnedecor(a, b), [5.0, 14.0], lambda x: x, lambda a, b: b / (b - 2) + 0 * a),
    "Dirichlet": (lambda a, b, c: D.Dirichlet(tp.stack([a, b, c])), [0.6, 2.0, 3.0], lambda x: x[..., 0] * x[..., 1],
                  lambda a, b, c: a * b / ((a + b + c) * (a + b + c + 1))),
    "Wishart": (lambda df, v: D.Wishart(df, t(MATRIX) * v), [5.0, 1.3], lambda x: x[..., 0, 0].log(),
                lambda df, v: (df / 2).digamma() + (4 * v).log()),
    "LogitRelaxedBernoulli": (
        lambda p: D.relaxed_bernoulli.LogitRelaxedBernoulli(t(0.5), probs=p), [0.3], lambda x: x * x,
        lambda p: 4 * ((p.log() - (1 - p).log()) ** 2 + np.pi**2 / 3)),
    "Gamma, also for itself": (lambda a: D.Gamma(a, a), [2.5], lambda x: x * x, lambda a: (a + 1) / a),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_gradients_through_draws_are_unbiased(name):
    make, parameters, function, expectation = EXPECTED[name]
    count = 20000
    tensors = [t(p).requires_grad_() for p in parameters]
    want = autograd.grad(expectation(*tensors), tensors)
    each = [p.detach().expand(count).clone().requires_grad_() for p in tensors]
    per_draw = func.vmap(lambda *p: func.grad(lambda *p: function(make(*p).rsample()), tuple(range(len(p))))(*p),
                         randomness="different")(*[e.detach() for e in each])  # fmt: skip
    for got, w in zip(per_draw, want):
        spread = float(got.std()) / np.sqrt(count)
        assert abs(float(got.mean()) - float(w)) < 5 * spread + 1e-9


def test_second_derivatives_of_draws_are_those_of_quantiles():
    h = 1e-3

    def stencil(f):
        return (-f(2 * h) + 16 * f(h) - 30 * f(0) + 16 * f(-h) - f(-2 * h)) / (12 * h * h)

    def draw(make):
        tp.manual_seed(5)
        return make.rsample()

    for a in (0.4, 3.0, 40.0):
        x = float(draw(D.Gamma(t(a), t(1.0))))
        u = stats.gamma.cdf(x, a)
        want = stencil(lambda d, a=a, u=u: stats.gamma.ppf(u, a + d))
        for second in (func.grad(func.grad(lambda a: draw(D.Gamma(a, t(1.0))))),
                       lambda a: func.jvp(func.grad(lambda a: draw(D.Gamma(a, t(1.0)))), (a,), (t(1.0),))[1],
                       lambda a: func.hessian(lambda a: a * 0 + 1)(a) + func.jacfwd(
                           func.jacfwd(lambda a: draw(D.Gamma(a, t(1.0))), randomness="same"), randomness="same")(a),
                       ):  # fmt: skip
            np.testing.assert_allclose(float(second(t(a))), want, rtol=1e-4, atol=1e-7)
    a, b = 1.5, 2.5
    u = stats.beta.cdf(float(draw(D.Beta(t(a), t(b)))), a, b)
    hessian = func.jacfwd(func.jacrev(lambda p: draw(D.Beta(p[0], p[1]))), randomness="same")(t([a, b])).numpy()
    along = lambda i, j: stencil(lambda d: stats.beta.ppf(u, a + i * d, b + j * d))
    np.testing.assert_allclose([hessian[0, 0], hessian[1, 1]], [along(1, 0), along(0, 1)], rtol=1e-4)
    np.testing.assert_allclose(hessian.sum(), along(1, 1), rtol=1e-4)
    np.testing.assert_allclose(hessian[0, 1], hessian[1, 0], rtol=1e-9)


def test_straight_through_draws_have_the_gradient_of_the_probabilities():
    logits = t([0.3, -1.0, 0.5]).requires_grad_()
    weight = t([1.0, 2.0, -3.0])
    d = D.OneHotCategoricalStraightThrough(logits=logits)
    draw = d.rsample()
    assert sorted(draw.tolist()) == [0, 0, 1]
    (got,) = autograd.grad(draw @ weight, logits, retain_graph=True)
    (want,) = autograd.grad(logits.softmax(-1) @ weight, logits)
    close(got, want.numpy())
    assert not d.sample().requires_grad
