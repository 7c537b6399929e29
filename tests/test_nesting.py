"""Transforms in one another, in any order: closures over every level, levels that end, state that comes back."""

import random

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.autograd import forward_ad
from tensorplay.core.state import live_levels, state


def t64(x, **kwargs):
    return tp.tensor(x, dtype=tp.float64, **kwargs)


def close(got, want, tol=1e-10):
    got = got.detach().numpy() if isinstance(got, tp.Tensor) else np.asarray(got)
    want = want.detach().numpy() if isinstance(want, tp.Tensor) else np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


X = np.arange(1.0, 16.0).reshape(5, 3) / 7
ONE, TWO, THREE = 1.0, 2.0, 3.0


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    levels, recording = set(live_levels), state.recording
    yield
    assert live_levels == levels
    assert state.recording == recording and not state.batches and not state.running and not state.dual_levels


# ---- gradients across levels


def test_gradient_inside_vmap_of_a_tensor_from_outside_is_one_for_each_example():
    w = t64([0.5, 1.5, -1.0])
    close(tp.vmap(lambda x: func.grad(lambda w: (w * x).sum())(w))(t64(X)), X)
    w1 = t64([0.5, 1.5, -1.0], requires_grad=True)
    close(tp.vmap(lambda x: autograd.grad((w1 * x).sum(), [w1])[0])(t64(X)), X)
    close(tp.vmap(lambda x: autograd.grad((w1 * w1 * x).sum(), [w1])[0])(t64(X)), 2 * w1.detach().numpy() * X)


def test_gradient_inside_vmap_stays_differentiable_outside():
    w = t64([0.5, 1.5, -1.0], requires_grad=True)
    per_example = tp.vmap(lambda x: func.grad(lambda x: (w * x * x).sum())(x))(t64(X))
    close(autograd.grad(per_example.sum(), w)[0], (2 * X).sum(0))


def test_rules_run_over_tensors_where_a_carrier_takes_part():
    w = t64([0.5, 1.5, -1.0], requires_grad=True)

    def inner(x):
        y = x.detach().requires_grad_()
        return autograd.grad((w * y * y).sum(), y)[0]  # no graph was asked for

    close(tp.vmap(inner)(t64(X)), 2 * w.detach().numpy() * X)
    leaf = t64([1.0, 2.0, 3.0], requires_grad=True)
    g = autograd.grad((leaf.sin() * leaf).sum(), leaf, create_graph=True)[0]
    rows = tp.vmap(lambda v: autograd.grad(g, leaf, v, retain_graph=True)[0])(tp.eye(3, dtype=tp.float64))
    close(rows, func.hessian(lambda x: (x.sin() * x).sum())(leaf.detach()))


def test_a_plain_cotangent_for_a_batched_output():
    w = t64([0.5, 1.5, -1.0], requires_grad=True)
    ones = tp.ones(3, dtype=tp.float64)
    close(tp.vmap(lambda x: autograd.grad(w * x, w, ones)[0])(t64(X)), X)


def test_only_the_own_level_is_unwrapped():
    one = t64(ONE)
    assert func.jvp(lambda x: func.jvp(lambda y: x, (t64(TWO),), (one,))[1], (t64(THREE),), (one,))[1].item() == 0.0
    x, y = t64([1.0, 2.0]), t64([5.0, 6.0, 7.0])
    close(tp.vmap(lambda a: tp.vmap(lambda b: a)(y))(x), np.outer([1.0, 2.0], np.ones(3)))
    close(tp.vmap(lambda row: t64(TWO))(t64(X)), [2.0] * 5)
    assert func.jvp(lambda x: t64(TWO), (one,), (one,))[1].item() == 0.0


def test_no_perturbation_confusion():
    one = t64(ONE)
    d = lambda f, x: func.jvp(f, (x,), (one,))[1]
    assert d(lambda x: x * d(lambda y: x * y, t64(TWO)), t64(THREE)).item() == 6.0
    assert func.grad(lambda x: x * func.grad(lambda y: x * y)(x))(t64(THREE)).item() == 6.0
    assert func.grad(lambda x: x * d(lambda y: x * y, t64(TWO)))(t64(THREE)).item() == 6.0
    assert d(lambda x: x * func.grad(lambda y: x * y)(t64(TWO)), t64(THREE)).item() == 6.0


def test_a_tangent_has_shape_and_dtype_of_its_primal():
    x = t64([1.0, 2.0, 3.0])
    out, tangent = func.jvp(lambda a: x + a, (t64(TWO),), (t64(ONE),))
    close(out, [3.0, 4.0, 5.0])
    close(tangent, [1.0, 1.0, 1.0])
    for f in (lambda a: a.float(), lambda a: a.double() * 2.0, lambda a: a.to(tp.complex64)):
        out, tangent = func.jvp(f, (t64(TWO),), (t64(ONE),))
        assert tangent.dtype == out.dtype and tangent.shape == out.shape
    out, tangent = func.jvp(lambda a: a > 1, (t64(TWO),), (t64(ONE),))
    assert out.dtype == tp.bool and not tangent.any()


# ---- levels are used once


def test_a_tensor_that_outlives_vmap_is_refused():
    leaked = []
    tp.vmap(lambda x: leaked.append(x) or x)(t64(X))
    with pytest.raises(RuntimeError, match="made inside vmap is used after vmap has returned"):
        tp.vmap(lambda y: y + leaked[0])(t64(X))
    with pytest.raises(RuntimeError, match="made inside vmap"):
        leaked[0] * 2
    with pytest.raises(RuntimeError, match="made inside vmap"):
        tp.vmap(lambda y: leaked[0])(t64(X))


def test_a_tensor_that_outlives_jvp_is_refused():
    leaked = []
    func.jvp(lambda x: leaked.append(x * 2) or x, (t64(ONE),), (t64(ONE),))
    with pytest.raises(RuntimeError, match="made inside jvp is used after jvp has returned"):
        leaked[0] + 1


def test_a_dual_tensor_whose_level_ended_is_its_primal():
    with forward_ad.dual_level():
        y = forward_ad.make_dual(t64(TWO), t64(ONE)) * 3
    assert (y + 1).item() == 7.0 and y.item() == 6.0 and float(y) == 6.0
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(y).tangent is None
        assert forward_ad.unpack_dual(y).primal.item() == 6.0
    close(tp.vmap(lambda x: x * y)(t64([1.0, 2.0])), [6.0, 12.0])
    assert func.jvp(lambda x: y, (t64(ONE),), (t64(ONE),))[0].item() == 6.0


TRANSFORMS = {
    "vmap": lambda f: tp.vmap(f)(t64(X)),
    "vmap in chunks": lambda f: tp.vmap(f, chunk_size=2)(t64(X)),
    "grad": lambda f: func.grad(f)(t64(X[0])),
    "vjp": lambda f: func.vjp(f, t64(X[0])),
    "jvp": lambda f: func.jvp(f, (t64(X[0]),), (t64(X[1]),)),
    "jacrev": lambda f: func.jacrev(f)(t64(X[0])),
    "jacfwd": lambda f: func.jacfwd(f)(t64(X[0])),
    "hessian": lambda f: func.hessian(f)(t64(X[0])),
    "linearize": lambda f: func.linearize(f, t64(X[0])),
    "functional.jvp": lambda f: autograd.functional.jvp(f, t64(X[0]), t64(X[1]), mode="forward"),
    "functional.jacobian": lambda f: autograd.functional.jacobian(
        f, t64(X[0]), vectorize=True, strategy="forward-mode"
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_an_exception_leaves_no_level_behind(name):
    def fails(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        TRANSFORMS[name](fails)
    with tp.no_grad(), pytest.raises(KeyError, match="mine"):
        TRANSFORMS[name](fails)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_captured_tensor_is_not_changed(name):
    c = tp.ones(3, dtype=tp.float64)
    buffers = {"running": [tp.ones(3, dtype=tp.float64)]}

    def through_closure(x):
        c.mul_(x)
        return c.sum()

    def through_container(x):
        buffers["running"][0][0] = x[0]
        return (x * x).sum()

    if name.startswith("functional"):
        return
    for f in (through_closure, through_container):
        with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
            TRANSFORMS[name](f)
    close(c, np.ones(3))
    close(buffers["running"][0], np.ones(3))


def test_a_tensor_made_inside_is_free_to_change():
    def f(x):
        o = tp.zeros(3, dtype=x.dtype)
        o[0] = x[1] * 2
        row = o[1:]
        row.mul_(0).add_(x[:2])
        return (o * o).sum()

    x = t64([1.0, 2.0, 3.0])
    want = [2.0, 10 * 2.0, 0.0]
    close(func.grad(f)(x), want)
    close(func.jvp(f, (x,), (x,))[1], 42.0)
    close(tp.vmap(f)(t64(X)), 5 * X[:, 1] ** 2 + X[:, 0] ** 2)
    close(tp.vmap(func.grad(f))(t64(X)), np.stack([2 * X[:, 0], 10 * X[:, 1], 0 * X[:, 0]], 1))


# ---- grad mode


def test_no_grad_cuts_every_tape_and_lets_tangents_and_batches_flow():
    def f(y):
        with tp.no_grad():
            c = y * y
        return y * c

    x, one = t64(TWO), t64(ONE)
    assert func.grad(f)(x).item() == 4.0
    assert func.jvp(f, (x,), (one,))[1].item() == 12.0
    assert func.grad(lambda x: func.jvp(f, (x,), (one,))[1])(x).item() == 4.0
    assert func.grad(func.grad(f))(x).item() == 0.0
    close(tp.vmap(func.grad(f))(t64([1.0, 2.0])), [1.0, 4.0])


def test_a_tape_without_graph_still_carries_tangents():
    x = t64(THREE, requires_grad=True)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(x, t64(ONE))
        primal, tangent = forward_ad.unpack_dual(autograd.grad(d**3, x)[0])
    assert (primal.item(), tangent.item()) == (27.0, 18.0)


def test_grad_ignores_a_no_grad_outside():
    with tp.no_grad():
        g = func.grad(lambda x: x * x)(t64(THREE))
        assert g.item() == 6.0 and not g.requires_grad and not tp.is_grad_enabled()
        assert func.grad(func.grad(lambda x: x**3))(t64(THREE)).item() == 18.0
        assert func.vjp(lambda x: x * x, t64(THREE))[1](t64(ONE))[0].item() == 6.0
        assert func.jacrev(lambda x: x * x)(t64(THREE)).item() == 6.0
        for mode in ("reversed", "forward"):
            assert autograd.functional.jvp(lambda x: x * x, t64(THREE), mode=mode)[1].item() == 6.0
    with tp.inference_mode():
        assert func.grad(lambda x: x * x)(t64(THREE)).item() == 6.0
        assert func.jvp(lambda x: x * x, (t64(THREE),), (t64(ONE),))[1].item() == 6.0
    x = t64(THREE, requires_grad=True)
    with tp.no_grad():
        assert not func.grad(lambda x: x * x)(x).requires_grad


PLAIN = {
    "grad": lambda f, x: func.grad(f)(x),
    "value": lambda f, x: func.grad_and_value(f)(x)[1],
    "gradient with value": lambda f, x: func.grad_and_value(f)(x)[0],
    "aux": lambda f, x: func.grad(lambda x: (f(x), x * 2), has_aux=True)(x)[1],
    "vjp output": lambda f, x: func.vjp(f, x)[0],
    "vjp": lambda f, x: func.vjp(f, x)[1](t64(ONE))[0],
    "jvp output": lambda f, x: func.jvp(f, (x,), (x,))[0],
    "jvp": lambda f, x: func.jvp(f, (x,), (x,))[1],
    "linearize output": lambda f, x: func.linearize(f, x)[0],
    "linearize": lambda f, x: func.linearize(f, x)[1](x),
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "hessian": lambda f, x: func.hessian(f)(x),
    "grad of grad": lambda f, x: func.grad(lambda x: func.grad(f)(x).sum())(x),
    "vmap of grad": lambda f, x: tp.vmap(func.grad(f))(x.expand(2, 3)),
    "grad of vmap": lambda f, x: func.grad(lambda x: tp.vmap(f)(x).sum())(x.expand(2, 3)),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_result_is_plain_when_nobody_outside_can_ask(name):
    f = lambda x: (x * x * x).sum()
    result = PLAIN[name](f, t64(X[0]))
    assert not result.requires_grad and result.grad_fn is None
    result.numpy()


@pytest.mark.parametrize("name", sorted(set(PLAIN) - {"aux"}))
def test_a_result_can_be_differentiated_when_somebody_outside_can_ask(name):
    w = t64([1.0, 2.0, 3.0], requires_grad=True)
    f = lambda x: (w * x * x * x).sum()
    assert PLAIN[name](f, t64(X[0])).requires_grad
    assert PLAIN[name](lambda x: (x * x * x).sum(), t64(X[0], requires_grad=True)).requires_grad


def test_aux_is_released_as_well():
    w = t64([1.0, 2.0, 3.0], requires_grad=True)
    _, aux = func.grad(lambda x: ((x * x).sum(), {"own": x * 2, "outer": w * x}), has_aux=True)(t64(X[0]))
    assert not aux["own"].requires_grad and aux["outer"].requires_grad
    close(autograd.grad(aux["outer"].sum(), w)[0], X[0])


# ---- make_dual and tracked tensors


def test_make_dual_of_a_tensor_that_requires_grad():
    x, w = t64(THREE, requires_grad=True), t64(TWO, requires_grad=True)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(x, t64(ONE))
        assert d.requires_grad
        out = w * d**3
        gx, gw = (forward_ad.unpack_dual(g) for g in autograd.grad(out, [x, w], create_graph=True))
        assert [v.item() for v in (*gx, *gw)] == [54.0, 36.0, 27.0, 27.0]
        assert autograd.grad(forward_ad.unpack_dual(out).tangent, [x])[0].item() == 36.0
        (w * d**3).backward()
    assert x.grad.item() == 54.0 and w.grad.item() == 27.0  # a leaf from outside keeps the primal


def test_backward_that_would_leak_a_batch_raises():
    w = t64([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="backward\\(\\) inside vmap would store a batch"):
        tp.vmap(lambda x: (w * x).sum().backward())(t64(X))
    assert w.grad is None
    func.jvp(lambda x: (w * x).sum().backward() or x, (t64(X[0]),), (t64(X[1]),))
    close(w.grad, X[0])


def test_an_input_that_the_output_never_met_raises():
    batch = t64(X, requires_grad=True)
    with pytest.raises(RuntimeError):
        tp.vmap(lambda x: autograd.grad(x.sum(), [batch])[0])(batch)


READS = {
    "item": lambda t: t.item(),
    "bool": bool,
    "float": float,
    "int": int,
    "numpy": lambda t: t.numpy(),
    "tolist": lambda t: t.tolist(),
    "if": lambda t: 1 if t > 0 else 2,
}


@pytest.mark.parametrize("name", READS)
def test_a_batch_has_no_one_value_and_a_dual_is_read_as_its_primal(name):
    with pytest.raises(RuntimeError, match="vmap.*where"):
        tp.vmap(lambda x: x * 1.0 if READS[name](x) else x)(t64([1.0, 2.0]))
    seen = []
    func.jvp(lambda x: seen.append(READS[name](x)) or x, (t64(TWO),), (t64(ONE),))
    assert seen == [READS[name](t64(TWO))]


# ---- in place


def test_a_write_through_a_view_reaches_the_tangent_of_its_base():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(t64([2.0, 3.0]), t64([1.0, 10.0]))
        y, z = x[0], x[0]
        y.mul_(x[1])
        primal, tangent = forward_ad.unpack_dual(x)
        close(primal, [6.0, 3.0])
        close(tangent, [23.0, 10.0])
        assert forward_ad.unpack_dual(z).primal.item() == 6.0 and forward_ad.unpack_dual(z).tangent.item() == 23.0

    def f(x):
        x = x.clone()
        y = x[0]
        y.mul_(x[1].clone())
        return 3 * x[0] + y * 0 + x[1]

    x = t64([2.0, 3.0])
    close(func.grad(f)(x), [9.0, 7.0])
    close(tp.vmap(f)(t64([[2.0, 3.0], [1.0, 1.0]])), [21.0, 4.0])
    close(tp.vmap(func.grad(f))(t64([[2.0, 3.0], [1.0, 1.0]])), [[9.0, 7.0], [3.0, 4.0]])


def test_a_tangent_is_replaced_and_never_written_to():
    x, v = t64([1.0, 2.0]), t64([1.0, 1.0])

    def f(x):
        y = x + 1
        y.mul_(2)
        return x + y

    close(func.jvp(f, (x,), (v,))[1], [3.0, 3.0])
    close(v, [1.0, 1.0])


def test_in_place_on_the_input_of_vmap_changes_it_outside():
    x = t64(X)
    tp.vmap(lambda row: row.mul_(2))(x)
    close(x, 2 * X)


@pytest.mark.parametrize("outside", [False, True])
def test_in_place_on_the_argument_of_grad_raises(outside):
    x = t64(X[0], requires_grad=outside)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        func.grad(lambda x: x.mul_(2).sum())(x)
    close(x, X[0])


# ---- random programs: forward mode, reverse mode, loops and batches agree


class Reverse:
    """Reverse mode alone, by autograd.grad over leaves of its own, and Python loops for batches."""

    @staticmethod
    def jacobian(f, x):
        x = x.view_as(x) if x.requires_grad else x.detach().requires_grad_()
        y = f(x)
        zero = tp.zeros_like(x)
        rows = [
            autograd.grad(y[i], x, create_graph=True, allow_unused=True)[0] if y.requires_grad else None
            for i in range(3)
        ]
        return tp.stack([zero if row is None else row for row in rows])

    @classmethod
    def grad(cls, f, x):
        return cls.jacobian(f, x).sum(0)

    @classmethod
    def jvp(cls, f, x, v):
        return cls.jacobian(f, x) @ v

    @classmethod
    def vjp(cls, f, x, v):
        return v @ cls.jacobian(f, x)

    @staticmethod
    def vmap(f, xs):
        return tp.stack([f(x) for x in xs])


class Forward(Reverse):
    """Forward mode alone, one direction at a time."""

    @staticmethod
    def jacobian(f, x):
        columns = []
        for direction in tp.eye(3, dtype=tp.float64):
            with forward_ad.dual_level():
                y, tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(x, direction)))
                columns.append(tp.zeros_like(y) if tangent is None else tangent)
        return tp.stack(columns, -1)


class Transforms:
    """The transforms of func, batched where they can be."""

    jacobian = staticmethod(lambda f, x: func.jacrev(f)(x))
    grad = staticmethod(lambda f, x: func.grad(lambda x: f(x).sum())(x))
    jvp = staticmethod(lambda f, x, v: func.jvp(f, (x,), (v,))[1])
    vjp = staticmethod(lambda f, x, v: func.vjp(f, x)[1](v)[0])
    vmap = staticmethod(lambda f, xs: tp.vmap(f)(xs))


class Mixed(Transforms):
    """The other way to each."""

    jacobian = staticmethod(lambda f, x: func.jacfwd(f)(x))
    grad = staticmethod(lambda f, x: func.jacfwd(lambda x: f(x).sum())(x))
    jvp = staticmethod(lambda f, x, v: func.linearize(f, x)[1](v))
    vjp = staticmethod(lambda f, x, v: func.grad(lambda x: (f(x) * v).sum())(x))
    vmap = staticmethod(lambda f, xs: tp.vmap(f, in_dims=1, out_dims=-1, chunk_size=1)(xs.T).T)


def program(r, depth, scope):
    """A random function of a library and the visible variables, each a vector of three."""
    kind = r.choices(["variable", "constant", "operator", "transform"], [2, 1, 5, 6] if depth else [3, 1, 0, 0])[0]
    if kind == "variable":
        i = r.randrange(scope)
        return lambda L, env: env[i]
    if kind == "constant":
        c = [r.uniform(-1, 1) for _ in range(3)]
        return lambda L, env: t64(c)
    first = program(r, depth - 1, scope)
    if kind == "operator":
        name = r.choice(["sin", "tanh", "exp", "mul", "add", "where", "put", "cumsum", "softmax", "index"])
        if name in ("sin", "tanh"):
            return lambda L, env: getattr(tp, name)(first(L, env))
        if name == "exp":
            return lambda L, env: (0.3 * first(L, env)).tanh().exp()
        if name == "cumsum":
            return lambda L, env: first(L, env).cumsum(0)
        if name == "softmax":
            return lambda L, env: tp.softmax(first(L, env), 0)
        if name == "index":
            places = [r.randrange(3) for _ in range(3)]
            return lambda L, env: first(L, env)[tp.tensor(places)]
        second = program(r, depth - 1, scope)
        if name == "where":
            return lambda L, env: tp.where(env[0] > 0, first(L, env), second(L, env))
        if name == "put":
            i = r.randrange(3)

            def put(L, env):
                y = first(L, env).clone()
                y[i] = second(L, env)[2 - i]
                return y

            return put
        return lambda L, env: getattr(tp, name)(first(L, env), second(L, env))
    name, body = r.choice(["grad", "jvp", "vjp", "vmap", "jacobian"]), program(r, depth - 1, scope + 1)
    inner = lambda L, env: lambda z: body(L, [*env, z])
    if name == "grad":
        return lambda L, env: L.grad(inner(L, env), first(L, env))
    if name == "vmap":
        c = [[r.uniform(-1, 1) for _ in range(3)] for _ in range(2)]
        return lambda L, env: L.vmap(inner(L, env), first(L, env) + t64(c)).sum(0)
    if name == "jacobian":
        w = [r.uniform(-1, 1) for _ in range(3)]
        return lambda L, env: t64(w) @ L.jacobian(inner(L, env), first(L, env))
    v = program(r, depth - 1, scope)
    return lambda L, env: getattr(L, name)(inner(L, env), first(L, env), v(L, env))


@pytest.mark.parametrize("seed", range(120))
def test_random_programs_agree_however_they_are_differentiated(seed):
    p = program(random.Random(seed), 3, 1)
    want = p(Reverse, [t64([0.3, -0.7, 1.1])])
    for library in (Forward, Transforms, Mixed):
        close(p(library, [t64([0.3, -0.7, 1.1])]), want, 1e-8)
