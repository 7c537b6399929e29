"""Taylor mode equals repeated differentiation: for every operator, along curves, under and over other transforms."""

import math

import numpy as np
import pytest
from samples import FAMILIES

import tensorplay as tp
import tensorplay.nn.functional as NF
from tensorplay import autograd, func
from tensorplay.core.primitive import PRIMITIVES, primitive
from tensorplay.core.state import live_levels
from tensorplay.func import taylor


def t64(values, **kwargs):
    return tp.tensor(values, dtype=tp.float64, **kwargs)


def uniform(*shape, seed=0):
    return t64(np.random.default_rng(seed).uniform(0.3, 0.8, shape))


def close(got, want, tol=1e-9):
    got, want = got.detach().numpy(), want.detach().numpy() if isinstance(want, tp.Tensor) else np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol * (1 + np.abs(want).max(initial=0)))


def repeated(f, xs, vs, order):
    """The derivatives along a line by nested jvp."""
    found = []
    for _ in range(order):
        f = (lambda g: lambda *ys: func.jvp(g, ys, vs)[1])(f)
        found.append(f(*xs))
    return found


def line(vs, order):
    return tuple([v, *[tp.zeros_like(v)] * (order - 1)] for v in vs)


W = uniform(4, 4, seed=2)
FUNCTIONS = {
    "exp": tp.exp,
    "expm1": tp.expm1,
    "log": tp.log,
    "log1p": tp.log1p,
    "sin": tp.sin,
    "cos": tp.cos,
    "tan": tp.tan,
    "sinh": tp.sinh,
    "cosh": tp.cosh,
    "tanh": tp.tanh,
    "sigmoid": tp.sigmoid,
    "sqrt": tp.sqrt,
    "rsqrt": tp.rsqrt,
    "asin": tp.asin,
    "atan": tp.atan,
    "erf": tp.erf,
    "lgamma": tp.lgamma,
    "gelu": NF.gelu,
    "softplus": NF.softplus,
    "reciprocal": lambda x: 2 / x,
    "quotient": lambda x: x.sin() / x.exp(),
    "quotient by constant": lambda x: x.exp() / W[:3],
    "square": lambda x: x.square(),
    "third power": lambda x: x**3,
    "seventh power": lambda x: x**7,
    "broken power": lambda x: x**2.5,
    "power of itself": lambda x: x**x,
    "power of a number": lambda x: 2**x,
    "two angles": lambda x: tp.atan2(x, x.sin()),
    "relu": lambda x: tp.relu(x - 0.5) * x,
    "where": lambda x: tp.where(x > 0.5, x**3, x),
    "product with itself": lambda x: x * x,
    "product": lambda x: x.sin() * x.exp(),
    "matmul": lambda x: x @ W @ x.mT,
    "linear": lambda x: NF.linear(x, x[:2], x[0, :2]),
    "linear, bias alone": lambda x: NF.linear(W, W[:3], x[:, 0].exp()),
    "broadcast": lambda x: x[:, :1].exp() * x[0].sin() + x.sum(0, keepdim=True),
    "cat": lambda x: tp.cat([x * x, x, W]),
    "softmax": lambda x: tp.softmax(x, -1),
    "logsumexp": lambda x: tp.logsumexp(x, 1),
    "layer_norm": lambda x: NF.layer_norm(x, (4,)),
    "cross entropy": lambda x: NF.cross_entropy(x * x, tp.tensor([0, 1, 2])),
    "std": lambda x: x.std(1),
    "prod": lambda x: x.prod(1),
    "norm": lambda x: x.norm(dim=1),
    "cumprod": lambda x: x.cumprod(1),
    "sort": lambda x: x.sort(1).values * x,
    "indexing": lambda x: x[[0, 2]] * x[1],
    "views": lambda x: x.T.reshape(2, 6)[:, ::2].exp(),
    "einsum": lambda x: tp.einsum("ij,kj->ik", x, x.exp()),
    "det": lambda x: tp.linalg.det(x @ x.mT),
    "inv": lambda x: tp.linalg.inv(x @ x.mT + tp.eye(3, dtype=tp.float64)),
    "conv": lambda x: NF.conv1d(x.reshape(1, 2, 6), x.reshape(3, 2, 2), x[:, 0]),
    "network": lambda x: tp.tanh(tp.tanh(x @ W) @ W).sum(),
    "constant": lambda x: W,
    "several": lambda x: {"a": x * x, "b": (x.exp().sum(), x > 0.5)},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_up_to_order_five_equal_repeated_jvp(name):
    f, x, v = FUNCTIONS[name], uniform(3, 4), uniform(3, 4, seed=1)
    value, found = func.jet(f, (x,), line([v], 5))
    want = repeated(f, (x,), (v,), 5)
    assert len(leaves(found)) == 5 * len(leaves(value))
    for got, expected in zip(leaves(value), leaves(f(x))):
        close(got, expected, 1e-12)
    for k in range(5):
        for got, expected in zip(leaves(found)[k::5], leaves(want[k])):
            close(got, expected)


def leaves(tree):
    if isinstance(tree, dict):
        return [leaf for part in tree.values() for leaf in leaves(part)]
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, (tuple, list)) else [tree]


@pytest.mark.parametrize("name", sorted(taylor.RECURRENCES))
def test_recurrences_agree_with_what_follows_from_the_forward_rule(name, monkeypatch):
    p = PRIMITIVES[name]
    x = uniform(5)
    curve = ([uniform(5, seed=k) for k in range(1, 6)],)
    calls = [lambda x: p.function(x, x.cos())] if len(p.inputs) == 2 else [p.function]
    if name == "pow_number":
        calls = [lambda x, n=n: p.function(x, n) for n in (2, 3, 4)]
    found = [func.jet(f, (x,), curve)[1] for f in calls]
    monkeypatch.setattr(taylor, "RECURRENCES", {})
    for f, series in zip(calls, found):
        for got, want in zip(series, func.jet(f, (x,), curve)[1]):
            close(got, want, 1e-11)


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_every_operator_has_a_second_derivative_by_taylor_mode(family):
    for s in family:
        if not (s.grad and s.varying):
            continue
        tensors = s.tensors()
        call, xs = s.of_varying(tensors), tuple(tensors[i] for i in s.varying)
        r = np.random.default_rng(3)
        vs = tuple(
            tp.tensor(r.normal(size=tuple(x.shape)) * (1 + 1j if x.is_complex() else 1), dtype=x.dtype) for x in xs
        )
        _, found = func.jet(call, xs, line(vs, 2))
        for k, derivatives in enumerate(repeated(call, xs, vs, 2)):
            for i, want in enumerate(derivatives):
                got, want = found[i][k].detach().numpy(), want.detach().numpy()
                assert got.shape == want.shape and got.dtype == want.dtype, s
                scale = 1e-7 * (1 + np.abs(want).max(initial=0))
                np.testing.assert_allclose(got, want, rtol=1e-6, atol=scale, err_msg=f"{s}, order {k + 1}")


def test_a_curve_follows_the_formula_of_faa_di_bruno():
    """d/dz and d2/dz2 of sin(z^3)."""
    z = 0.5
    value, (first, second) = func.jet(tp.sin, (t64(z**3),), ([t64(3 * z**2), t64(6 * z)],))
    close(value, math.sin(z**3))
    close(first, math.cos(z**3) * 3 * z**2)
    close(second, -math.sin(z**3) * (3 * z**2) ** 2 + math.cos(z**3) * 6 * z)


def test_several_arguments_along_a_curve():
    """The derivatives at 0 of g(t) = f(x(t), y(t)), which repeated differentiation in t gives as well."""
    x, y = [uniform(3, seed=k) for k in range(4)], [uniform(3, seed=k) for k in range(4, 8)]
    f = lambda a, b: tp.tanh(a * b).sum() + (a / b).exp()
    along = lambda c: lambda t: c[0] + c[1] * t + c[2] * t**2 / 2 + c[3] * t**3 / 6
    value, found = func.jet(f, (x[0], y[0]), (x[1:], y[1:]))
    close(value, f(x[0], y[0]))
    want = repeated(lambda t: f(along(x)(t), along(y)(t)), (t64(0.0),), (t64(1.0),), 3)
    for got, expected in zip(found, want):
        close(got, expected)


def test_whole_powers_have_derivatives_at_zero():
    zero, one = t64(0.0), t64(1.0)
    for n in (2, 3, 4, 5):
        _, found = func.jet(lambda x, n=n: x**n, (zero,), line([one], 5))
        assert [d.item() for d in found] == [math.factorial(n) if k == n else 0.0 for k in range(1, 6)]


@pytest.mark.parametrize("dtype", [tp.float32, tp.float64, tp.bfloat16, tp.complex128])
def test_derivatives_keep_the_dtype(dtype):
    x = tp.tensor([0.5, 0.25], dtype=dtype)
    value, found = func.jet(lambda x: (x * 2).exp(), (x,), line([tp.ones_like(x)], 3))
    assert [d.dtype for d in (value, *found)] == [dtype] * 4
    tol = {tp.float32: 1e-5, tp.bfloat16: 0.05}.get(dtype, 1e-12)
    for k, d in enumerate(found, 1):
        close(d.to(tp.complex128), 2**k * np.exp(2 * np.array([0.5, 0.25], complex)), tol)


# ---- with other transforms


f3 = lambda x: (tp.tanh(x) * x.exp()).sum()
THIRD = lambda x: func.jet(f3, (x,), line([tp.ones_like(x)], 3))[1][2]
DERIVATIVE = lambda x: repeated(f3, (x,), (tp.ones_like(x),), 3)[2]


def test_jet_within_other_transforms():
    x, batch = uniform(3), uniform(5, 3)
    close(func.grad(THIRD)(x), func.grad(DERIVATIVE)(x))
    close(tp.vmap(THIRD)(batch), tp.vmap(DERIVATIVE)(batch))
    close(func.jvp(THIRD, (x,), (batch[0],))[1], func.jvp(DERIVATIVE, (x,), (batch[0],))[1])
    close(tp.vmap(func.grad(THIRD))(batch), tp.vmap(func.grad(DERIVATIVE))(batch))
    close(func.hessian(THIRD)(x), func.hessian(DERIVATIVE)(x))
    v = uniform(3, seed=4)
    twice = func.jet(lambda y: func.jet(f3, (y,), line([v], 2))[1][1], (x,), line([v], 2))[1][1]
    close(twice, repeated(f3, (x,), (v,), 4)[3])


def test_other_transforms_within_jet():
    x, v, batch = uniform(3), uniform(3, seed=1), uniform(5, 3)
    for f in (func.grad(f3), func.hessian(f3), lambda x: tp.vmap(lambda b: f3(b * x))(batch),
              lambda x: tp.vmap(func.grad(lambda b: f3(b * x)))(batch), lambda x: func.jvp(f3, (x,), (x * x,))[1],
              lambda x: func.vjp(tp.sin, x)[1](x.exp())[0]):  # fmt: skip
        _, found = func.jet(f, (x,), line([v], 3))
        for got, want in zip(found, repeated(f, (x,), (v,), 3)):
            close(got, want)


def test_derivatives_can_be_differentiated_by_what_is_closed_over():
    w, x = uniform(3).requires_grad_(), uniform(3, seed=1).requires_grad_()
    v = tp.ones(3, dtype=tp.float64)
    value, found = func.jet(lambda x: (w * x).exp().sum(), (x,), line([v], 3))
    want = (w * x).exp()
    for k, d in enumerate((value, *found)):
        for got, expected in zip(autograd.grad(d, (w, x), retain_graph=True),
                                 autograd.grad((want * w**k).sum(), (w, x), retain_graph=True)):  # fmt: skip
            close(got, expected)
    plain = func.jet(lambda x: x.exp(), (x.detach(),), line([v], 2))
    assert not any(t.requires_grad for t in leaves(plain))


def test_writing_in_place_carries_the_derivatives():
    def f(x):
        y = x * 1
        row = y[1]
        row.mul_(x[0])
        y[0] = x[1].exp()
        y[2].zero_()
        o = tp.zeros(4, dtype=x.dtype)
        o.add_(y.sum(0))
        return y, o

    x, v = uniform(3, 4), uniform(3, 4, seed=1)
    _, found = func.jet(f, (x,), line([v], 3))
    for k, want in enumerate(repeated(f, (x,), (v,), 3)):
        close(found[0][k], want[0])
        close(found[1][k], want[1])


def test_values_may_be_read_and_constants_have_no_derivatives():
    def f(x):
        return x**3 if x > 0 else -x

    assert [d.item() for d in func.jet(f, (t64(2.0),), line([t64(1.0)], 3))[1]] == [12.0, 12.0, 6.0]
    assert [d.item() for d in func.jet(f, (t64(-2.0),), line([t64(1.0)], 3))[1]] == [-1.0, 0.0, 0.0]
    _, found = func.jet(lambda x: x.detach() * 2, (t64(2.0),), line([t64(1.0)], 2))
    assert [d.item() for d in found] == [0.0, 0.0]


# ---- what is refused


one = tp.ones(())
WRONG = {
    "primals empty": (ValueError, "at least one Tensor", lambda: func.jet(tp.sin, (), ())),
    "no tensor": (ValueError, "Tensors only", lambda: func.jet(tp.sin, (1.0,), ([one],))),
    "integers": (ValueError, "floating point", lambda: func.jet(tp.sin, (tp.tensor(1),), ([tp.tensor(1)],))),
    "too few series": (ValueError, "each of 2 primals, got 1", lambda: func.jet(tp.add, (one, one), ([one],))),
    "orders differ": (ValueError, r"got \[1, 2\]", lambda: func.jet(tp.add, (one, one), ([one], [one, one]))),
    "no derivatives": (ValueError, r"series\[0\]", lambda: func.jet(tp.sin, (one,), ([],))),
    "number in series": (ValueError, "order 2", lambda: func.jet(tp.sin, (one,), ([one, 0.0],))),
    "shape": (RuntimeError, "order 1 of primal 0", lambda: func.jet(tp.sin, (one,), ([tp.ones(2)],))),
    "result": (RuntimeError, "return only tensors", lambda: func.jet(lambda x: 1.0, (one,), ([one],))),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused(name):
    error, message, call = WRONG[name]
    before = set(live_levels)
    with pytest.raises(error, match=message):
        call()
    assert set(live_levels) == before


def test_what_has_no_taylor_rule_says_so():
    class Twice(autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def jvp(ctx, t):
            return t * 2

    with pytest.raises(NotImplementedError, match="Twice: .*func.jet"):
        func.jet(Twice.apply, (one,), ([one, one],))
    doubled = primitive("doubled_for_a_test", lambda xp, input: input * 2, vjp={"input": lambda F, g: g * 2})
    try:
        with pytest.raises(NotImplementedError, match="doubled_for_a_test has no forward rule"):
            func.jet(doubled, (one,), ([one, one],))
    finally:
        del PRIMITIVES["doubled_for_a_test"]


def test_a_tensor_that_outlives_jet_is_refused():
    leaked = []
    func.jet(lambda x: leaked.append(x * 2) or x, (one,), ([one],))
    with pytest.raises(RuntimeError, match="made inside jet is used after jet has returned"):
        leaked[0] + 1


def test_a_captured_tensor_is_not_changed():
    c = tp.ones(())
    with pytest.raises(RuntimeError, match="During a jet transform.*mutate a captured Tensor"):
        func.jet(lambda x: c.mul_(x), (one,), ([one],))
    assert c.item() == 1.0
