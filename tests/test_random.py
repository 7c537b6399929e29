"""Random numbers: their laws, their generators, what they do under transforms."""

import copy
import threading

import numpy as np
import pytest
from scipy import stats

import tensorplay as tp

N = 4000


def drawn(make):
    """Draws of one seed, as a NumPy array."""
    return make(tp.Generator().manual_seed(1)).double().numpy()


# ---- distributions, by the test of Kolmogorov and Smirnov

CONTINUOUS = {
    "rand": (lambda g: tp.rand(N, generator=g), stats.uniform()),
    "rand in float16": (lambda g: tp.rand(N, generator=g, dtype=tp.float16).double() + 2**-12, stats.uniform()),
    "rand_like": (lambda g: tp.rand_like(tp.zeros(N), generator=g), stats.uniform()),
    "randn": (lambda g: tp.randn(N, generator=g), stats.norm()),
    "randn in float64": (lambda g: tp.randn(N, generator=g, dtype=tp.float64), stats.norm()),
    "randn_like": (lambda g: tp.randn_like(tp.zeros(N), generator=g), stats.norm()),
    "real part of complex randn": (
        lambda g: tp.randn(N, generator=g, dtype=tp.complex64).real,
        stats.norm(scale=0.5**0.5),
    ),
    "normal of numbers": (lambda g: tp.normal(2.0, 3.0, (N,), generator=g), stats.norm(2, 3)),
    "normal of tensors": (lambda g: tp.normal(tp.full((N,), 2.0), tp.tensor(3.0), generator=g), stats.norm(2, 3)),
    "normal of a tensor": (lambda g: tp.normal(2.0, tp.full((N,), 3.0), generator=g), stats.norm(2, 3)),
    "normal_": (lambda g: tp.empty(N).normal_(2, 3, generator=g), stats.norm(2, 3)),
    "uniform_": (lambda g: tp.empty(N).uniform_(2, 3, generator=g), stats.uniform(2, 1)),
    "exponential_": (lambda g: tp.empty(N).exponential_(2, generator=g), stats.expon(scale=0.5)),
    "cauchy_": (lambda g: tp.empty(N).cauchy_(2, 3, generator=g), stats.cauchy(2, 3)),
    "log_normal_": (lambda g: tp.empty(N).log_normal_(1, 0.5, generator=g), stats.lognorm(0.5, scale=np.e)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    make, law = CONTINUOUS[name]
    assert stats.kstest(drawn(make), law.cdf).pvalue > 1e-3


DISCRETE = {
    "randint": (lambda g: tp.randint(2, 6, (N,), generator=g), {v: 0.25 for v in (2, 3, 4, 5)}),
    "randint_like": (lambda g: tp.randint_like(tp.zeros(N), 3, generator=g), {v: 1 / 3 for v in range(3)}),
    "random_": (lambda g: tp.empty(N).random_(2, 4, generator=g), {2: 0.5, 3: 0.5}),
    "random_ of a bool": (lambda g: tp.empty(N, dtype=tp.bool).random_(generator=g), {0: 0.5, 1: 0.5}),
    "bernoulli": (lambda g: tp.bernoulli(tp.full((N,), 0.3), generator=g), {0: 0.7, 1: 0.3}),
    "bernoulli of a number": (lambda g: tp.bernoulli(tp.empty(N), 0.3, generator=g), {0: 0.7, 1: 0.3}),
    "bernoulli_": (lambda g: tp.empty(N, dtype=tp.int8).bernoulli_(0.3, generator=g), {0: 0.7, 1: 0.3}),
    "bernoulli_ of a tensor": (lambda g: tp.empty(N).bernoulli_(tp.full((N,), 0.3), generator=g), {0: 0.7, 1: 0.3}),
    "geometric_": (
        lambda g: tp.empty(N, dtype=tp.int64).geometric_(0.4, generator=g).clamp(max=4),
        {1: 0.4, 2: 0.24, 3: 0.144, 4: 0.216},
    ),
    "poisson": (
        lambda g: tp.poisson(tp.full((N,), 1.5), g).clamp(max=3),
        {k: stats.poisson(1.5).pmf(k) for k in range(3)} | {3: None},
    ),
    "binomial": (
        lambda g: tp.binomial(tp.full((N,), 3.0), tp.tensor(0.3), g),
        {k: stats.binom(3, 0.3).pmf(k) for k in range(4)},
    ),
    "multinomial": (
        lambda g: tp.multinomial(tp.tensor([1.0, 0.0, 3.0]), N, replacement=True, generator=g),
        {0: 0.25, 2: 0.75},
    ),
    "multinomial of rows": (
        lambda g: tp.multinomial(tp.tensor([[1.0, 0.0, 3.0]] * 2), N // 2, True, generator=g).flatten(),
        {0: 0.25, 2: 0.75},
    ),
    "multinomial without replacement": (
        lambda g: tp.multinomial(tp.tensor([[1.0, 0.0, 3.0]] * N), 1, generator=g)[:, 0],
        {0: 0.25, 2: 0.75},
    ),
    "randperm": (
        lambda g: tp.stack([tp.randperm(3, generator=g) for _ in range(500)])[:, 0],
        {v: 1 / 3 for v in range(3)},
    ),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name):
    make, law = DISCRETE[name]
    rest = 1 - sum(p for p in law.values() if p is not None)
    values = drawn(make)
    assert set(values) <= set(law)
    counts = [(values == v).sum() for v in law]
    expected = [len(values) * (rest if p is None else p) for p in law.values()]
    assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_uniform_numbers_never_reach_the_end():
    for dtype in (tp.float16, tp.bfloat16, tp.float32, tp.float64):
        x = tp.rand(20000, dtype=dtype)
        assert (x >= 0).all() and (x < 1).all()
        y = tp.empty(20000, dtype=dtype).uniform_(1, 1.01)
        assert (y >= 1).all() and (y < tp.tensor(1.01, dtype=dtype)).all()
    assert (tp.empty(20000, dtype=tp.float16).exponential_() > 0).all()


def test_random_fills_all_that_a_dtype_holds():
    for dtype in (tp.uint8, tp.int8, tp.int32, tp.int64, tp.float16, tp.float32):
        x = tp.empty(2000, dtype=dtype).random_()
        assert (x >= 0).all() and x.double().max() > 0.9 * (tp.iinfo(dtype).max if dtype.category == 1 else 2**11)


def test_a_permutation_has_every_number_once():
    assert sorted(tp.randperm(100).tolist()) == list(range(100))
    assert tp.randperm(3, dtype=tp.int8).dtype is tp.int8 and tp.randperm(0).tolist() == []


def test_drawing_without_replacement_repeats_nothing_and_prefers_large_weights():
    rows = tp.multinomial(tp.rand(50, 6), 6)
    assert all(sorted(row) == list(range(6)) for row in rows.tolist())
    assert tp.multinomial(tp.tensor([0.0, 1.0, 2.0]), 2).sort().values.tolist() == [1, 2]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: tp.rand(2, dtype=tp.int64), NotImplementedError, "not implemented for int64"),
        (lambda: tp.randn(2, dtype=tp.bool), NotImplementedError, "not implemented for bool"),
        (lambda: tp.rand(2, generator=3), TypeError, "must be tensorplay.Generator"),
        (lambda: tp.randint(5, 5, (2,)), RuntimeError, "from=5 >= to=5"),
        (lambda: tp.randint(300, (2,), dtype=tp.uint8), RuntimeError, "out of bounds for uint8"),
        (lambda: tp.randint(5), TypeError, "'size'"),
        (lambda: tp.randperm(-1), RuntimeError, "n must be non-negative"),
        (lambda: tp.bernoulli(tp.tensor([1.5])), RuntimeError, "p_in <= 1"),
        (lambda: tp.bernoulli(tp.zeros(1), 2.0), RuntimeError, r"p to be in \[0, 1\]"),
        (lambda: tp.bernoulli(tp.tensor([1])), NotImplementedError, "bernoulli"),
        (lambda: tp.normal(0.0, -1.0, (2,)), RuntimeError, "std >= 0.0"),
        (lambda: tp.normal(tp.zeros(2), -tp.ones(2)), RuntimeError, "std >= 0.0"),
        (lambda: tp.normal(0.0, 1.0), TypeError, "size"),
        (lambda: tp.normal(tp.zeros(2), tp.ones(3)), RuntimeError, "must match the size"),
        (lambda: tp.poisson(tp.tensor([-1.0])), RuntimeError, "non-negative"),
        (lambda: tp.multinomial(tp.tensor([1.0, -1.0]), 1), RuntimeError, "element < 0"),
        (lambda: tp.multinomial(tp.zeros(2), 1), RuntimeError, "sum of probabilities"),
        (lambda: tp.multinomial(tp.ones(2), 3), RuntimeError, "without replacement"),
        (lambda: tp.multinomial(tp.ones(2), 0), RuntimeError, "n_sample <= 0"),
        (lambda: tp.multinomial(tp.ones(2, 2, 2), 1), RuntimeError, "1 or 2 dim"),
        (lambda: tp.multinomial(tp.tensor([1, 2]), 1), RuntimeError, "floating-point"),
        (lambda: tp.empty(2).uniform_(1, 0), RuntimeError, "from=1.0 > to=0.0"),
        (lambda: tp.empty(2).normal_(0, -1), RuntimeError, "std >= 0.0"),
        (lambda: tp.empty(2).exponential_(0), RuntimeError, "lambda > 0.0"),
        (lambda: tp.empty(2).geometric_(1), RuntimeError, r"p to be in \(0, 1\)"),
        (lambda: tp.empty(2).cauchy_(0, 0), RuntimeError, "sigma > 0.0"),
        (lambda: tp.empty(2).log_normal_(0, 0), RuntimeError, "std > 0.0"),
        (lambda: tp.empty(2).bernoulli_(2.0), RuntimeError, r"p to be in \[0, 1\]"),
        (lambda: tp.empty(2, dtype=tp.int64).normal_(), NotImplementedError, "not implemented for int64"),
        (lambda: tp.ones(2, requires_grad=True).uniform_(), RuntimeError, "leaf Variable that requires grad"),
        (lambda: tp.Generator("meta"), RuntimeError, "cpu"),
        (lambda: tp.manual_seed(2**64), RuntimeError, "Overflow when unpacking long"),
        (lambda: tp.set_rng_state(tp.zeros(2)), TypeError, "ByteTensor"),
        (lambda: tp.set_rng_state(tp.zeros(2, dtype=tp.uint8)), RuntimeError, "wrong size"),
    ],
)
def test_laws_that_do_not_exist_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- generators


def test_a_seed_names_a_stream():
    a = tp.manual_seed(7)
    assert a is tp.default_generator and tp.initial_seed() == 7
    x = tp.randn(3)
    assert tp.manual_seed(8) and tp.randn(3).tolist() != x.tolist()
    assert tp.manual_seed(7) and tp.randn(3).tolist() == x.tolist()
    assert tp.Generator().manual_seed(7).initial_seed() == 7
    assert tp.manual_seed(-1).initial_seed() == 2**64 - 1
    assert tp.randn(3, generator=tp.Generator().manual_seed(7)).tolist() == x.tolist()
    assert tp.seed() == tp.initial_seed() and tp.seed() != tp.seed()


def test_a_state_is_where_a_stream_goes_on():
    for draw in (tp.rand, tp.randn, lambda n: tp.rand(n, dtype=tp.float64), lambda n: tp.randint(100, (n,))):
        tp.rand(3)
        state = tp.get_rng_state()
        x = draw(5)
        tp.set_rng_state(state)
        assert draw(5).tolist() == x.tolist() and state.dtype is tp.uint8
    g = tp.Generator()
    h, k = g.clone_state(), copy.deepcopy(g)
    assert tp.rand(2, generator=g).tolist() == tp.rand(2, generator=h).tolist() == tp.rand(2, generator=k).tolist()


def test_fork_rng_puts_the_state_back():
    with tp.random.fork_rng():
        x = tp.rand(2)
        tp.manual_seed(5)
    assert tp.rand(2).tolist() == x.tolist()
    with tp.random.fork_rng(enabled=False):
        tp.manual_seed(5)
    y = tp.rand(2)
    assert tp.manual_seed(5) and tp.rand(2).tolist() == y.tolist()


def test_threads_share_the_default_generator_without_drawing_twice():
    drawn = []
    threads = [
        threading.Thread(target=lambda: drawn.extend(tp.rand(1000, dtype=tp.float64).tolist())) for _ in range(8)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(drawn)) == 8000


def test_options_are_those_of_factories():
    assert tp.rand(2, requires_grad=True).is_leaf and tp.randn(2, device="meta").is_meta
    out = tp.empty(2, dtype=tp.float64)
    assert tp.rand(2, out=out) is out and (out < 1).all()
    assert tp.randint(5, (2,), out=tp.empty(2)).dtype is tp.float32 and tp.randint(0, 5, size=(2,)).dtype is tp.int64
    assert tp.multinomial(tp.ones(3), 2, out=tp.empty(0, dtype=tp.int64)).shape == (2,)
    assert tp.multinomial(tp.ones(3, device="meta"), 2).shape == (2,)
    state = tp.get_rng_state()
    tp.rand(3, device="meta")
    assert tp.get_rng_state().tolist() == state.tolist()


# ---- transforms

DRAWS = {
    "rand": lambda x: tp.rand(2),
    "rand_like": lambda x: tp.rand_like(x),
    "randn": lambda x: tp.randn(2),
    "randint": lambda x: tp.randint(1000, (2,)),
    "randperm": lambda x: tp.randperm(30),
    "normal": lambda x: tp.normal(0.0, 1.0, (2,)),
    "bernoulli": lambda x: tp.bernoulli(tp.full((30,), 0.5)),
    "multinomial": lambda x: tp.multinomial(tp.ones(30), 20),
    "poisson": lambda x: tp.poisson(tp.full((20,), 5.0)),
    "binomial": lambda x: tp.binomial(tp.full((20,), 5.0), tp.tensor(0.5)),
    "uniform_": lambda x: tp.empty(2).uniform_(),
    "uniform_ in the batch": lambda x: (x * 1).uniform_(),
    "exponential_": lambda x: tp.empty(2).exponential_(),
    "bernoulli_": lambda x: tp.empty(30).bernoulli_(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_vmap_says_whether_examples_share_a_draw(name):
    draw, x = DRAWS[name], tp.zeros(3, 2)
    shape = draw(x[0]).shape
    with pytest.raises(RuntimeError, match="randomness error mode"):
        tp.vmap(draw)(x)
    different = tp.vmap(draw, randomness="different")(x)
    assert different.shape == (3, *shape)
    assert different[0].tolist() != different[1].tolist() != different[2].tolist()
    same = tp.vmap(draw, randomness="same")(x)
    assert same.shape == (3, *shape) and same[0].tolist() == same[1].tolist() == same[2].tolist()


@pytest.mark.parametrize(
    "inner, outer, kinds",
    [("different", "different", 6), ("same", "different", 2), ("different", "same", 3), ("same", "same", 1)],
)
def test_nested_vmaps_each_have_their_say(inner, outer, kinds):
    f = tp.vmap(tp.vmap(lambda x: x + tp.rand(()), randomness=inner), randomness=outer)
    out = f(tp.zeros(2, 3))
    assert out.shape == (2, 3) and len(set(out.flatten().tolist())) == kinds


@pytest.mark.parametrize(
    "draw",
    [
        lambda p: tp.bernoulli(p),
        lambda p: tp.normal(p * 100, 0.1).round() / 100,
        lambda p: tp.poisson(p * 1e4).div(1e4).round(),
        lambda p: tp.binomial(tp.full_like(p, 1e4), p).div(1e4).round(),
        lambda p: tp.empty(2).bernoulli_(p),
    ],
)
def test_parameters_may_differ_between_examples(draw):
    p = tp.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert tp.vmap(draw, randomness="different")(p).tolist() == p.tolist()


def test_weights_may_differ_between_examples():
    w = tp.eye(3)
    for randomness in ("same", "different"):
        out = tp.vmap(lambda w: tp.multinomial(w, 4, replacement=True), randomness=randomness)(w)
        assert out.tolist() == [[0] * 4, [1] * 4, [2] * 4]


def test_a_shared_draw_needs_shared_parameters():
    with pytest.raises(RuntimeError, match="poisson cannot share a draw"):
        tp.vmap(lambda rate: tp.poisson(rate), randomness="same")(tp.ones(3))


def test_noise_is_a_constant_of_every_derivative():
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    (g,) = tp.autograd.grad((x * tp.randn(2, generator=tp.Generator().manual_seed(1))).sum(), x)
    assert g.tolist() == tp.randn(2, generator=tp.Generator().manual_seed(1)).tolist()
    for draw in (lambda p: tp.bernoulli(p), lambda p: tp.normal(p, p), lambda p: tp.poisson(p)):
        p = tp.tensor([0.5, 0.5], requires_grad=True)
        assert tp.autograd.grad(draw(p).sum(), p)[0].tolist() == [0, 0]
        assert tp.func.jvp(draw, (tp.ones(2) / 2,), (tp.ones(2),))[1].tolist() == [0, 0]


def test_what_was_overwritten_has_no_gradient():
    x = tp.ones(2, requires_grad=True)
    y = x * 2
    y.uniform_()
    assert (y + x).sum().backward() is None and x.grad.tolist() == [1, 1]
