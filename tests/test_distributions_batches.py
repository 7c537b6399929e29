"""Every distribution: shapes, batches, expansion, dtypes, copies; vmap and derivatives."""

import copy
import pickle

import numpy as np
import pytest
from test_distributions import CONTINUOUS, MATRIX, D, close, made, t

import tensorplay as tp
from tensorplay import func


@pytest.fixture(autouse=True)
def seeded():
    tp.manual_seed(3)


# ---- shapes, dtypes, objects

SIMPLEX, PAIR, VECTOR = [[0.3, 0.6, 0.1], [1.0, 2.0, 3.0]], [[0.3, 0.6], [1.0, 2.0]], [0.0, 1.0, 2.0]
COVARIANCES = np.stack([MATRIX, 2 * MATRIX])
EVERY = {  # how to make it of parameters, and two of each of these
    **{n: (lambda *p, n=n: made(n, p), [[v, 1.1 * v] for v in CONTINUOUS[n][0]]) for n in CONTINUOUS},
    "Bernoulli": (lambda p: D.Bernoulli(p), [[0.3, 0.6]]),
    "Bernoulli by logits": (lambda p: D.Bernoulli(logits=p), [[0.3, -0.6]]),
    "Binomial": (lambda p: D.Binomial(3, p), [[0.3, 0.6]]),
    "Geometric": (lambda p: D.Geometric(p), [[0.3, 0.6]]),
    "NegativeBinomial": (lambda n, p: D.NegativeBinomial(n, p), [[3.0, 2.5], [0.3, 0.6]]),
    "Poisson": (lambda r: D.Poisson(r), [[3.0, 2.5]]),
    "Categorical": (lambda p: D.Categorical(p), [SIMPLEX]),
    "OneHotCategorical": (lambda p: D.OneHotCategorical(logits=p), [SIMPLEX]),
    "OneHotCategoricalStraightThrough": (
        lambda p: D.OneHotCategoricalStraightThrough(p), [SIMPLEX]),
    "Multinomial": (lambda p: D.Multinomial(4, p), [SIMPLEX]),
    "Dirichlet": (lambda p: D.Dirichlet(p), [SIMPLEX]),
    "ContinuousBernoulli": (lambda p: D.ContinuousBernoulli(p), [[0.3, 0.6]]),
    "Kumaraswamy": (lambda a, b: D.Kumaraswamy(a, b), [[0.5, 2.0], [3.0, 2.5]]),
    "LogisticNormal": (lambda m, s: D.LogisticNormal(m, s), [PAIR, [[1.0, 0.5], [0.3, 0.7]]]),
    "RelaxedBernoulli": (lambda p: D.RelaxedBernoulli(p.new_tensor(0.7), p), [[0.3, 0.6]]),
    "RelaxedOneHotCategorical": (lambda p: D.RelaxedOneHotCategorical(p.new_tensor(0.7), p), [SIMPLEX]),
    "MultivariateNormal": (lambda m, c: D.MultivariateNormal(m, c), [[VECTOR] * 2, COVARIANCES]),
    "MultivariateNormal by its precision": (
        lambda m, c: D.MultivariateNormal(m, precision_matrix=c), [[VECTOR] * 2, COVARIANCES]),
    "LowRankMultivariateNormal": (
        lambda m, w, d: D.LowRankMultivariateNormal(m, w, d),
        [[[0.0, 1.0]] * 2, [[[1.0], [2.0]], [[0.5], [0.1]]], [[1.0, 2.0], [0.5, 1.5]]]),
    "Wishart": (lambda n, c: D.Wishart(n, c), [[4.0, 5.5], COVARIANCES]),
    "LKJCholesky": (lambda c: D.LKJCholesky(3, c), [[0.7, 2.0]]),
    "Independent": (lambda m, s: D.Independent(D.Normal(m, s), 1), [PAIR, [[1.0, 0.5], [0.3, 0.7]]]),
    "MixtureSameFamily": (
        lambda p, m: D.MixtureSameFamily(D.Categorical(p), D.Normal(m, 1.0)), [PAIR] * 2),
    "TransformedDistribution": (
        lambda m, s: D.TransformedDistribution(D.Normal(m, s), [D.ExpTransform(), D.AffineTransform(1.0, 2.0)]),
        [[0.3, 0.6], [1.0, 0.5]]),
}  # fmt: skip
each = pytest.mark.parametrize("name", EVERY)


def batch_of_two(name):
    make, parameters = EVERY[name]
    return make(*map(t, parameters))


def one(name, i, *, single=False):
    make, parameters = EVERY[name]
    return make(*[t(p)[i].float() if single else t(p)[i] for p in parameters])


@each
def test_shapes_of_draws_and_log_probabilities(name):
    d = batch_of_two(name)
    assert d.batch_shape == (2,)
    for shape in ((), (4,), (3, 1)):
        x = d.sample(shape)
        assert x.shape == (*shape, 2, *d.event_shape) and d.log_prob(x).shape == (*shape, 2)
        assert d.support.check(x).all()
        if d.has_rsample:
            assert d.rsample(shape).shape == x.shape


@each
def test_a_batch_is_its_distributions(name):
    d = batch_of_two(name)
    x = d.sample((3,))
    for i in range(2):
        close(d.log_prob(x)[:, i], one(name, i).log_prob(x[:, i]).numpy(), 1e-9)
    for attribute in ("mean", "variance", "mode", "entropy"):
        try:
            whole = getattr(d, attribute)
        except NotImplementedError:
            continue
        if attribute == "entropy":
            try:
                whole = whole()
            except NotImplementedError:
                continue
        for i in range(2):
            part = getattr(one(name, i), attribute)
            close(whole[i], (part() if callable(part) else part).numpy(), 1e-9)


@each
def test_expanded_distributions_are_the_same_ones(name):
    d = batch_of_two(name)
    x = d.sample()
    d.log_prob(x)  # what is computed at need is there, and must not go along
    wide = d.expand((3, 2))
    assert type(wide) is type(d) and wide.batch_shape == (3, 2) and wide.event_shape == d.event_shape
    assert wide.sample((4,)).shape == (4, 3, 2, *d.event_shape)
    close(wide.log_prob(x), np.broadcast_to(d.log_prob(x).numpy(), (3, 2)), 1e-12)
    try:
        close(wide.variance, np.broadcast_to(d.variance.numpy(), wide.variance.shape), 1e-12)
        assert wide.variance.shape == (3, 2, *d.event_shape)
    except NotImplementedError:
        pass


@each
def test_distributions_are_copied_and_pickled(name):
    d = batch_of_two(name)
    x = d.sample()
    d.log_prob(x)
    for same in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert type(same) is type(d) and repr(same) == repr(d)
        close(same.log_prob(x), d.log_prob(x).numpy(), 0)


@each
def test_single_precision_stays(name):
    d = one(name, 0, single=True)
    assert d.sample().dtype == (tp.int64 if name == "Categorical" else tp.float32)
    double = one(name, 0)
    x = double.sample()
    log_prob = d.log_prob(x.float())
    assert log_prob.dtype == tp.float32
    close(log_prob.double(), double.log_prob(x).numpy(), 2e-3)


@each
def test_draws_and_log_probabilities_are_batched(name):
    make, parameters = EVERY[name]
    tensors = list(map(t, parameters))
    d = make(*tensors)
    x = d.sample()
    close(func.vmap(lambda x, *p: make(*p).log_prob(x))(x, *tensors), d.log_prob(x).numpy(), 1e-10)
    draw = (lambda d: d.rsample((2,))) if d.has_rsample else (lambda d: d.sample((2,)))
    draws = func.vmap(lambda *p: draw(make(*p)), randomness="different")(*tensors)
    assert draws.shape == (2, 2, *d.event_shape) and d.support.check(draws.movedim(0, 1)).all()
    fixed = make(*[p[0] for p in tensors])
    alike = func.vmap(lambda x: x + fixed.sample((9,)), randomness="same")(tp.zeros(2))
    apart = func.vmap(lambda x: x + fixed.sample((9,)), randomness="different")(tp.zeros(2))
    assert (alike[0] == alike[1]).all() and not (apart[0] == apart[1]).all()
    with pytest.raises(RuntimeError, match="randomness"):
        func.vmap(lambda x: x + fixed.sample())(tp.zeros(2))


@each
def test_log_probabilities_have_derivatives_in_both_modes(name):
    make, parameters = EVERY[name]
    tensors = list(map(t, parameters))
    x = make(*tensors).sample()
    log_prob = lambda *p: make(*p).log_prob(x).sum()
    grads = func.grad(log_prob, tuple(range(len(tensors))))(*tensors)
    for i, (p, g) in enumerate(zip(tensors, grads)):
        if name == "LogisticNormal" or (p.dim() > 2 and p.shape[-1] == p.shape[-2]):
            direction = p * 0.3  # stays symmetric
        else:
            direction = t(np.cos(np.arange(p.numel()))).reshape(p.shape) * p.abs()
        _, tangent = func.jvp(lambda q, i=i: log_prob(*tensors[:i], q, *tensors[i + 1 :]), (tensors[i],), (direction,))
        np.testing.assert_allclose(float(tangent), float((g * direction).sum()), rtol=1e-8, atol=1e-10)
        step = 1e-6
        at = lambda s, i=i, v=direction: float(log_prob(*tensors[:i], tensors[i] + s * v, *tensors[i + 1 :]))
        if not (name == "Categorical" or name.startswith(("OneHot", "Multinomial", "Uniform", "Pareto"))):
            np.testing.assert_allclose(float(tangent), (at(step) - at(-step)) / (2 * step), rtol=2e-5, atol=2e-6)


DRAWN_SMOOTHLY = [n for n in EVERY if batch_of_two(n).has_rsample and n != "OneHotCategoricalStraightThrough"]


@pytest.mark.parametrize("name", DRAWN_SMOOTHLY)
def test_draws_have_derivatives_in_both_modes(name):
    make, parameters = EVERY[name]
    tensors = list(map(t, parameters))

    def total(*p):
        tp.manual_seed(8)
        x = make(*p).rsample()
        return (x * t(np.sin(1 + np.arange(x.numel()))).reshape(x.shape)).sum()

    grads = func.grad(total, tuple(range(len(tensors))))(*tensors)
    directions = tuple(p * 0.3 for p in tensors)
    _, tangent = func.jvp(total, tuple(tensors), directions)
    want = sum(float((g * v).sum()) for g, v in zip(grads, directions))
    np.testing.assert_allclose(float(tangent), want, rtol=1e-8, atol=1e-10)
    assert any(float(g.abs().sum()) > 0 for g in grads)
    second = func.jvp(func.grad(total), tuple(tensors), directions)[1]
    back = func.grad(lambda *p: (func.grad(total)(*p) * directions[0]).sum(), tuple(range(len(tensors))))(*tensors)
    if name != "Dirichlet":  # of which the order of derivatives matters, as its draws are no function of noise
        want = sum(float((b * v).sum()) for b, v in zip(back, directions))
        np.testing.assert_allclose(float((second * directions[0]).sum()), want, rtol=1e-6, atol=1e-8)


@each
def test_nothing_is_learnt_through_samples(name):
    make, parameters = EVERY[name]
    tensors = tuple(map(t, parameters))
    assert not make(*[p.requires_grad_() for p in map(t, parameters)]).sample().requires_grad
    _, tangent = func.jvp(lambda *p: make(*p).sample(), tensors, tuple(map(tp.ones_like, tensors)))
    assert not tangent.to(tp.float64).any()


ENUMERATED = [
    (lambda: D.Bernoulli(t([0.2, 0.3])), (2, 2), [0, 1]), (lambda: D.Binomial(3, t([0.2, 0.3])), (4, 2), [0, 1, 2, 3]),
    (lambda: D.Categorical(t([[0.2, 0.8], [0.5, 0.5]])), (2, 2), [0, 1]),
]  # fmt: skip


@pytest.mark.parametrize("case", range(3))
def test_enumerated_values(case):
    make, shape, values = ENUMERATED[case]
    d = make()
    whole, slim = d.enumerate_support(), d.enumerate_support(expand=False)
    assert whole.shape == shape and slim.shape == (shape[0], 1) and slim[:, 0].tolist() == values
    close(d.log_prob(whole).exp().sum(0), [1.0, 1.0])
    one_hot = D.OneHotCategorical(t([[0.2, 0.8], [0.5, 0.5]]))
    assert one_hot.enumerate_support().shape == (2, 2, 2) and one_hot.enumerate_support(False).shape == (2, 1, 2)
    close(one_hot.log_prob(one_hot.enumerate_support()).exp().sum(0), [1.0, 1.0])


def test_representations():
    for d, text in [
        (D.Normal(0.0, 1.0), "Normal(loc: 0.0, scale: 1.0)"),
        (D.Normal(tp.zeros(2), 1.0), "Normal(loc: tensorplay.Size([2]), scale: tensorplay.Size([2]))"),
        (D.Bernoulli(logits=0.5), "Bernoulli(logits: 0.5)"),
        (D.LKJCholesky(3, 1.0), "LKJCholesky(concentration: 1.0)"),
        (D.Independent(D.Poisson(tp.ones(2)), 1), "Independent(Poisson(rate: tensorplay.Size([2])), 1)"),
        (D.MixtureSameFamily(D.Categorical(tp.ones(2)), D.Poisson(tp.ones(2))),
         "MixtureSameFamily(\n  Categorical(probs: tensorplay.Size([2])),\n  Poisson(rate: tensorplay.Size([2])))"),
    ]:  # fmt: skip
        assert repr(d) == text


def test_numbers_and_integers_are_promoted():
    assert D.Normal(0, 1).loc.dtype == D.Exponential(2).rate.dtype == tp.float32
    assert D.Normal(t([1.0, 2.0]), 1).scale.dtype == tp.float64
    assert D.Normal(tp.tensor([0, 1]), 1.5).scale.tolist() == [1.5, 1.5]
    close(D.Normal(tp.tensor([0]), tp.tensor([1])).log_prob(tp.tensor([1.0])).double(), [-1.4189385], 1e-6)
    close(D.Bernoulli(0.3).log_prob(tp.tensor([0, 1])).exp().double(), [0.7, 0.3], 1e-6)
    assert D.Binomial(tp.tensor([3, 4]), t(0.5)).total_count.dtype == tp.float64


def test_laziness():
    d = D.Bernoulli(logits=t(0.5).requires_grad_())
    assert "probs" not in vars(d)
    with tp.no_grad():
        probs = d.probs
    assert probs.requires_grad and d.probs is probs and isinstance(D.Bernoulli.probs, D.utils.lazy_property)
