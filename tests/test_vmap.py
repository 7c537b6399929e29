"""vmap: where the batch is, what may be returned, randomness, chunks, and what is refused."""

import collections

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import func

R = np.random.default_rng(0)
A, B, C = R.normal(size=(4, 2, 3)), R.normal(size=(4, 2, 3)), R.normal(size=(2, 3))
a, b, c = tp.tensor(A), tp.tensor(B), tp.tensor(C)


def close(got, want, tol=1e-12):
    assert tuple(got.shape) == np.shape(want)
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=tol, atol=tol)


# ---- where the batch is

PLACES = {
    "first": (lambda x, y: x * y, (a, b), 0, A * B),
    "last": (lambda x, y: x * y, (a.permute(1, 2, 0), b.permute(1, 2, 0)), -1, A * B),
    "mixed": (lambda x, y: x * y, (a.permute(1, 0, 2), b), (1, 0), A * B),
    "negative and positive": (lambda x, y: x * y, (a.permute(1, 2, 0), b), (-1, -3), A * B),
    "constant": (lambda x, y: x * y, (a, c), (0, None), A * C),
    "constant first": (lambda x, y: x @ y.T, (c, a), (None, 0), np.einsum("ik,bjk->bij", C, A)),
    "number": (lambda x, n: x * n, (a, 3), (0, None), A * 3),
    "none": (lambda x, n: x * 2 if n is None else x, (a, None), (0, None), A * 2),
    "dict": (lambda d: d["x"] * d["y"], ({"x": a, "y": b},), 0, A * B),
    "dict, apart": (lambda d: d["x"] * d["y"], ({"x": a, "y": c},), ({"y": None, "x": 0},), A * C),
    "list": (lambda xs: xs[0] * xs[1], ([a, b],), ([0, 0],), A * B),
    "list for all": (lambda x, y: x * y, (a, b), [0, 0], A * B),
    "a container for all below": (lambda xs, y: xs[0] * xs[1] + y, ((a, b), c), (0, None), A * B + C),
    "named tuple": (lambda p: p.x * p.y, (collections.namedtuple("P", "x y")(a, b),), 0, A * B),
}


@pytest.mark.parametrize("name", PLACES)
def test_in_dims(name):
    f, args, dims, want = PLACES[name]
    close(tp.vmap(f, in_dims=dims)(*args), want)
    for size in (1, 3, 4, 9):
        close(tp.vmap(f, in_dims=dims, chunk_size=size)(*args), want)


OUT = {
    "first": (lambda x: x * 2, 0, 2 * A),
    "last": (lambda x: x * 2, -1, np.moveaxis(2 * A, 0, -1)),
    "middle": (lambda x: x * 2, 1, np.moveaxis(2 * A, 0, 1)),
    "one for all": (lambda x: (x, x * 2), 1, (np.moveaxis(A, 0, 1), np.moveaxis(2 * A, 0, 1))),
    "apart": (lambda x: (x, x * 2), (1, -1), (np.moveaxis(A, 0, 1), np.moveaxis(2 * A, 0, -1))),
    "a tuple for one": (lambda x: x * 2, (1,), np.moveaxis(2 * A, 0, 1)),
    "constant": (lambda x: c, 0, np.broadcast_to(C, (4, 2, 3))),
    "constant, last": (lambda x: c, -1, np.moveaxis(np.broadcast_to(C, (4, 2, 3)), 0, -1)),
    "not batched": (lambda x: (x, c), (0, None), (A, C)),
}


@pytest.mark.parametrize("name", OUT)
def test_out_dims(name):
    f, dims, want = OUT[name]
    for options in ({}, {"chunk_size": 3}):
        got = tp.vmap(f, out_dims=dims, **options)(a)
        assert isinstance(got, tuple) == isinstance(want, tuple)
        for g, w in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, want))):
            close(g, w)


def test_results_keep_their_structure():
    got = tp.vmap(lambda x: {"s": [x.sum()], "t": (x, None)}, out_dims={"s": [0], "t": 1})(a)
    close(got["s"][0], A.sum((1, 2)))
    close(got["t"][0], np.moveaxis(A, 0, 1))
    assert got["t"][1] is None
    close(tp.vmap(lambda x: (x, "label"), out_dims=(0, None))(a)[0], A)
    assert tp.vmap(lambda x: (x, "label"), out_dims=(0, None))(a)[1] == "label"


def test_keyword_arguments_are_not_batched():
    close(tp.vmap(lambda x, *, y: x * y)(a, y=c), A * C)


def test_the_function_keeps_its_name_and_sees_one_example():
    def example(x):
        """Docs."""
        assert x.shape == (2, 3) and x.ndim == 2 and x.numel() == 6 and x.size(0) == 2 and x.dtype == tp.float64
        assert len(x) == 2 and x.stride() == (3, 1)
        return x

    batched = tp.vmap(example)
    assert batched.__name__ == "example" and batched.__doc__ == "Docs."
    batched(a)


def test_nested():
    x, y = tp.tensor(R.normal(size=3)), tp.tensor(R.normal(size=5))
    close(tp.vmap(lambda s: tp.vmap(lambda t: s * t)(y))(x), np.outer(x.numpy(), y.numpy()))
    close(tp.vmap(tp.vmap(tp.vmap(lambda s: s * 2)))(a), 2 * A)
    close(
        tp.vmap(tp.vmap(lambda s, t: s * t, in_dims=(None, 0)), in_dims=(0, None))(x, y), np.outer(x.numpy(), y.numpy())
    )
    close(tp.vmap(lambda m: tp.vmap(lambda col: col.sum(), in_dims=1)(m))(a), A.sum(1))


def test_a_batch_of_nothing():
    close(tp.vmap(lambda x: x * 2)(a[:0]), np.zeros((0, 2, 3)))
    close(tp.vmap(func.grad(lambda x: (x * x).sum()))(a[:0]), np.zeros((0, 2, 3)))


def test_gradients_reach_through():
    x = a.clone().requires_grad_()
    w = c.clone().requires_grad_()
    out = tp.vmap(lambda row: (row * row * w).sum())(x)
    out.sum().backward()
    close(x.grad, 2 * A * C)
    close(w.grad, (A * A).sum(0))


def test_in_place_and_views():
    def f(x):
        y = x.clone()
        y[0] += 1
        y[:, 1] = y[:, 0] * 2
        row = y[1]
        row.mul_(3)
        return y

    want = A.copy()
    want[:, 0] += 1
    want[:, :, 1] = want[:, :, 0] * 2
    want[:, 1] *= 3
    close(tp.vmap(f)(a), want)

    def fill(x):
        o = tp.zeros(2, 3, dtype=tp.float64)
        view = o[1]
        o[0] = x[0]
        o[1, 0] = x.sum()
        return o, view

    o, view = tp.vmap(fill)(a)
    want = np.zeros_like(A)
    want[:, 0], want[:, 1, 0] = A[:, 0], A.sum((1, 2))
    close(o, want)
    close(view, want[:, 1])


# ---- randomness


def test_random_operators_need_to_be_told():
    for draw in (
        lambda: tp.rand(3),
        lambda: tp.randn(3),
        lambda: tp.zeros(3).normal_(),
        lambda: tp.randint(0, 9, (3,)),
    ):
        with pytest.raises(RuntimeError, match="randomness error mode"):
            tp.vmap(lambda x, draw=draw: x.sum() + draw().sum())(a)


@pytest.mark.parametrize("draw", [lambda: tp.rand(3), lambda: tp.randn(3), lambda: tp.zeros(3).normal_()])
def test_same_and_different(draw):
    same = tp.vmap(lambda x: x.sum() * 0 + draw(), randomness="same")(a).numpy()
    different = tp.vmap(lambda x: x.sum() * 0 + draw(), randomness="different")(a).numpy()
    assert same.shape == different.shape == (4, 3)
    assert np.all(same == same[0])
    assert len(np.unique(different)) == 12


def test_randomness_of_nested_maps():
    inner = lambda how: lambda x: tp.vmap(lambda row: row[0] * 0 + tp.rand(()), randomness=how)(x)
    rows = tp.vmap(inner("same"), randomness="different")(a).numpy()
    assert rows.shape == (4, 2) and np.all(rows[:, 0] == rows[:, 1]) and len(np.unique(rows)) == 4
    columns = tp.vmap(inner("different"), randomness="same")(a).numpy()
    assert np.all(columns == columns[0]) and len(np.unique(columns)) == 2
    with pytest.raises(RuntimeError, match="randomness error mode"):
        tp.vmap(inner("error"), randomness="different")(a)


def test_randomness_is_a_matter_of_one_call():
    with pytest.raises(RuntimeError):
        tp.vmap(lambda x: tp.rand(2))(a)
    tp.rand(2)
    x = tp.ones(3, dtype=tp.float64)
    jac = func.jacfwd(lambda x: x * tp.rand(3, dtype=tp.float64), randomness="same")(x).numpy()
    assert np.count_nonzero(jac) == 3
    with pytest.raises(RuntimeError, match="randomness"):
        func.jacfwd(lambda x: x * tp.rand(3, dtype=tp.float64))(x)


# ---- what is refused

REFUSED = [
    (
        ValueError,
        r"vmap\(<lambda>, in_dims=None, \.\.\.\)\(<inputs>\): expected `in_dims` to be int or a",
        lambda: tp.vmap(lambda x: x, in_dims=None)(a),
    ),
    (ValueError, "in_dims is not compatible with the structure of", lambda: tp.vmap(lambda x: x, in_dims=(0, 0))(a)),
    (
        ValueError,
        "in_dims is not compatible with the structure of",
        lambda: tp.vmap(lambda x: x, in_dims=([0, 0],))((a, b)),
    ),
    (ValueError, "got no inputs", lambda: tp.vmap(lambda: a)()),
    (ValueError, "at least one", lambda: tp.vmap(lambda x: x, in_dims=(None,))(a)),
    (
        ValueError,
        "Got in_dim=3 for some input, but that input is a Tensor of dimensionality 3",
        lambda: tp.vmap(lambda x: x, in_dims=3)(a),
    ),
    (ValueError, "Got in_dim=-4 for some input", lambda: tp.vmap(lambda x: x, in_dims=-4)(a)),
    (
        ValueError,
        "Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0",
        lambda: tp.vmap(lambda x: x)(tp.tensor(1.0)),
    ),
    (ValueError, "Got in_dim=0 for an input but the input is of type int", lambda: tp.vmap(lambda x, n: x)(a, 3)),
    (ValueError, r"same size in the mapped dimension, got sizes \[4, 2\]", lambda: tp.vmap(lambda x, y: x)(a, c)),
    (ValueError, "must only return Tensors, got type <class 'float'>", lambda: tp.vmap(lambda x: 1.0)(a)),
    (ValueError, "must only return Tensors, it returned none", lambda: tp.vmap(lambda x: None)(a)),
    (ValueError, "can not return a BatchedTensor when out_dim is None", lambda: tp.vmap(lambda x: x, out_dims=None)(a)),
    (
        ValueError,
        "out_dims is not compatible with the structure of `outputs`",
        lambda: tp.vmap(lambda x: x, out_dims=(0, 0))(a),
    ),
    (ValueError, "out_dims is not compatible", lambda: tp.vmap(lambda x: (x, [x]), out_dims=(0, (0,)))(a)),
    (IndexError, r"expected to be in range of \[-3, 2\], but got 3", lambda: tp.vmap(lambda x: x, out_dims=3)(a)),
    (
        RuntimeError,
        "Only allowed values for randomness are 'error', 'different', or 'same', got 'maybe'",
        lambda: tp.vmap(lambda x: x, randomness="maybe")(a),
    ),
    (
        ValueError,
        r"chunk_size should be None or greater than 0. \(got 0\)",
        lambda: tp.vmap(lambda x: x, chunk_size=0)(a),
    ),
    (RuntimeError, "vmap.*where", lambda: tp.vmap(lambda x: x * 2 if x.sum() > 0 else x)(a)),
    (RuntimeError, "vmap.*where", lambda: tp.vmap(lambda x: x * x.sum().item())(a)),
    (RuntimeError, "vmap.*where", lambda: tp.vmap(lambda x: tp.tensor(x.sum().numpy()))(a)),
]


@pytest.mark.parametrize("i", range(len(REFUSED)))
def test_refused_with_a_reason(i):
    error, message, call = REFUSED[i]
    with pytest.raises(error, match=message):
        call()


def test_control_flow_on_what_is_not_batched_is_allowed():
    close(tp.vmap(lambda x: x * 2 if c[0, 0] < 100 and x.shape[0] == 2 else x)(a), 2 * A)


def test_where_in_place_of_if():
    close(tp.vmap(lambda x: tp.where(x.sum() > 0, x * 2, x))(a), np.where(A.sum((1, 2), keepdims=True) > 0, 2 * A, A))


def test_chunks_with_gradients():
    x = a.clone().requires_grad_()
    tp.vmap(lambda row: (row**3).sum(), chunk_size=3)(x).sum().backward()
    close(x.grad, 3 * A**2)


def test_one_draw_for_all_examples_is_one_for_all_chunks():
    f = lambda x: x.sum() * 0 + tp.rand(3) + tp.rand(1)
    drawn = tp.vmap(f, randomness="same", chunk_size=3)(a).numpy()
    assert np.all(drawn == drawn[0])
    different = tp.vmap(f, randomness="different", chunk_size=3)(a).numpy()
    assert len(np.unique(different)) == 12


def test_bincount_of_each_example():
    x = tp.tensor([[0, 1, 1], [2, 2, 0]])
    w = tp.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=tp.float64, requires_grad=True)
    assert func.vmap(lambda x: tp.bincount(x, minlength=4))(x).tolist() == [[1, 2, 0, 0], [1, 0, 2, 0]]
    out = func.vmap(lambda x, w: tp.bincount(x, w, 3))(x, w)
    assert out.tolist() == [[1, 5, 0], [6, 0, 9]]
    assert tp.autograd.grad((out * out).sum(), w)[0].tolist() == [[2, 10, 10], [18, 18, 12]]
    every = func.vmap(func.vmap(lambda x, w: tp.bincount(x, w, 3), (0, None)), (None, 0))(x, w)
    assert every[1].tolist() == [[4, 11, 0], [6, 0, 9]]
    with pytest.raises(RuntimeError, match="from 2 to 3 bins; give all examples as many by minlength=3"):
        func.vmap(tp.bincount)(x)
