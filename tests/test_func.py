"""The transforms of func: arguments, structures, results, errors. How they nest is tested in test_nesting."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, func

R = np.random.default_rng(0)
X, Y, M = R.normal(size=3), R.normal(size=3), R.normal(size=(2, 3))
x, y, m = tp.tensor(X), tp.tensor(Y), tp.tensor(M)


def close(got, want, tol=1e-10):
    want = want.detach().numpy() if isinstance(want, tp.Tensor) else want
    assert tuple(got.shape) == np.shape(want)
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=tol, atol=tol)


def loss(x, y):
    return (x * x * y).sum()


# ---- grad and grad_and_value


def test_argnums_name_what_is_differentiated():
    close(func.grad(loss)(x, y), 2 * X * Y)
    close(func.grad(loss, argnums=1)(x, y), X * X)
    close(func.grad(loss, argnums=-1)(x, y), X * X)
    both = func.grad(loss, argnums=(0, 1))(x, y)
    assert type(both) is tuple
    close(both[0], 2 * X * Y)
    close(both[1], X * X)
    (single,) = func.grad(loss, argnums=(1,))(x, y)
    close(single, X * X)


def test_arguments_may_be_nested():
    params = {"w": x, "rest": [y, (x,)]}
    g = func.grad(lambda p: (p["w"] * p["rest"][0]).sum() + (p["rest"][1][0] ** 2).sum())(params)
    assert list(g) == ["w", "rest"] and type(g["rest"][1]) is tuple
    close(g["w"], Y)
    close(g["rest"][0], X)
    close(g["rest"][1][0], 2 * X)


def test_an_argument_that_is_not_used_has_gradient_zero():
    close(func.grad(loss, argnums=(0, 1))(x, y * 0)[1], X * X)
    close(func.grad(lambda x, y: (x * 2).sum(), argnums=1)(x, y), np.zeros(3))
    close(func.grad(lambda x: tp.tensor(1.0))(x), np.zeros(3))


def test_value_and_auxiliary_output():
    g, value = func.grad_and_value(loss)(x, y)
    close(g, 2 * X * Y)
    close(value, (X * X * Y).sum())
    g, aux = func.grad(lambda x: (loss(x, y), {"x": x * 2, "n": 3}), has_aux=True)(x)
    close(g, 2 * X * Y)
    close(aux["x"], 2 * X)
    assert aux["n"] == 3
    g, (value, aux) = func.grad_and_value(lambda x: (loss(x, y), "aux"), has_aux=True)(x)
    close(value, (X * X * Y).sum())
    assert aux == "aux"


def test_keyword_arguments_are_passed_on():
    close(func.grad(lambda x, *, y: loss(x, y))(x, y=y), 2 * X * Y)
    close(func.jacrev(lambda x, *, y: x * y)(x, y=y), np.diag(Y))
    close(func.jacfwd(lambda x, *, y: x * y)(x, y=y), np.diag(Y))


def test_the_function_keeps_its_name():
    for transform in (func.grad, func.grad_and_value, func.jacrev, func.jacfwd, func.hessian):
        assert transform(loss).__name__ == "loss"


def test_complex_arguments():
    z = tp.tensor(X + 1j * Y)
    close(func.grad(lambda z: (z * z.conj()).real.sum())(z), 2 * (X + 1j * Y))


# ---- vjp and jvp


def test_vjp():
    out, pull = func.vjp(lambda x, y: (m @ (x * y), x.sum()), x, y)
    close(out[0], M @ (X * Y))
    u = tp.tensor([1.0, 2.0], dtype=tp.float64)
    gx, gy = pull((u, tp.tensor(3.0, dtype=tp.float64)))
    close(gx, u.numpy() @ M * Y + 3)
    close(gy, u.numpy() @ M * X)
    close(pull((u * 0, tp.tensor(1.0, dtype=tp.float64)))[0], np.ones(3))  # again
    (g,) = func.vjp(lambda x: x * x, x)[1](y)
    close(g, 2 * X * Y)
    out, pull, aux = func.vjp(lambda x: (x * x, [x * 3, "s"]), x, has_aux=True)
    close(aux[0], 3 * X)
    assert aux[1] == "s"


def test_vjp_of_trees():
    out, pull = func.vjp(lambda d: {"p": d["a"] * d["b"]}, {"a": x, "b": y})
    (g,) = pull({"p": tp.ones(3, dtype=tp.float64)})
    close(g["a"], Y)
    close(g["b"], X)


def test_a_cotangent_takes_the_dtype_of_the_output():
    (g,) = func.vjp(lambda x: x * 2, tp.ones(2))[1](tp.ones(2, dtype=tp.float64))
    assert g.dtype == tp.float32


def test_jvp():
    out, tangent = func.jvp(lambda x, y: (x * y, x.sum()), (x, y), (y, x))
    close(out[0], X * Y)
    close(tangent[0], Y * Y + X * X)
    close(tangent[1], Y.sum())
    out, tangent, aux = func.jvp(lambda x: (x * x, {"k": x}), (x,), (y,), has_aux=True)
    close(tangent, 2 * X * Y)
    close(aux["k"], X)
    out, tangent = func.jvp(lambda d: [d["a"] * d["b"]], ({"a": x, "b": y},), ({"b": x, "a": y},))
    close(tangent[0], Y * Y + X * X)
    close(func.jvp(lambda x: tp.ones(2), (x,), (y,))[1], np.zeros(2))


def test_a_tangent_of_another_dtype_is_cast():
    out, tangent = func.jvp(lambda x: x * 2, (tp.ones(2),), (tp.ones(2, dtype=tp.float64),))
    assert out.dtype == tangent.dtype == tp.float32


# ---- linearize


def test_linearize_runs_the_function_once():
    calls = []

    def f(x, y):
        calls.append(1)
        return (x * y).sin(), x.sum()

    out, push = func.linearize(f, x, y)
    for v, w in ((x, y), (y, x), (x * 0, y)):
        want = func.jvp(f, (x, y), (v, w))[1]
        calls.clear()
        got = push(v, w)
        assert not calls
        close(got[0], want[0])
        close(got[1], want[1])
    close(out[0], np.sin(X * Y))


def test_linearize_composes():
    push = func.linearize(lambda x: x**3, x)[1]
    close(tp.vmap(push)(tp.eye(3, dtype=tp.float64)), np.diag(3 * X**2))
    close(func.grad(lambda v: push(v).sum())(y), 3 * X**2)
    close(func.jacrev(lambda x: func.linearize(lambda x: x**3, x)[1](y))(x), np.diag(6 * X * Y))
    close(func.linearize(lambda x: (x, tp.ones(2)), x)[1](y)[1], np.zeros(2))
    z, v = tp.tensor(X + 1j * Y), tp.tensor(Y + 2j * X)
    close(func.linearize(lambda z: z * z, z)[1](v), 2 * z * v)


# ---- Jacobians and Hessians

JACOBIANS = {
    "jacrev": func.jacrev,
    "jacfwd": func.jacfwd,
    "jacrev in chunks": lambda f, argnums=0, **k: func.jacrev(f, argnums, chunk_size=2, **k),
    "jacrev one by one": lambda f, argnums=0, **k: func.jacrev(f, argnums, chunk_size=1, **k),
}
every = pytest.mark.parametrize("name", JACOBIANS)


@every
def test_jacobian(name):
    jac = JACOBIANS[name]
    close(jac(lambda x: m @ (x * x))(x), 2 * M * X)
    close(jac(lambda x: (x * x).sum())(x), 2 * X)
    close(jac(lambda x: x * 2)(tp.tensor(1.0, dtype=tp.float64)), 2.0)
    close(jac(lambda x: x.outer(x)[:, :2])(x), outer_jacobian())
    close(jac(lambda x: x[:0])(x), np.zeros((0, 3)))
    close(jac(lambda x: tp.ones(2, dtype=tp.float64))(x), np.zeros((2, 3)))
    close(jac(lambda m: m.T)(m), np.einsum("ik,jl->jikl", np.eye(2), np.eye(3)))


def outer_jacobian():
    return (np.einsum("ik,j->ijk", np.eye(3), X) + np.einsum("jk,i->ijk", np.eye(3), X))[:, :2]


@every
def test_jacobian_of_trees(name):
    jac = JACOBIANS[name]
    f = lambda p, y: {"a": p["w"] * y, "b": (p["v"].sum() * y[:2],)}
    got = jac(f)({"w": x, "v": m}, y)
    close(got["a"]["w"], np.diag(Y))
    close(got["a"]["v"], np.zeros((3, 2, 3)))
    close(got["b"][0]["w"], np.zeros((2, 3)))
    close(got["b"][0]["v"], np.broadcast_to(Y[:2, None, None], (2, 2, 3)))
    first, second = jac(lambda x, y: x * y, (0, 1))(x, y)
    close(first, np.diag(Y))
    close(second, np.diag(X))
    close(jac(lambda x, y: x * y, 1)(x, y), np.diag(X))


@every
def test_jacobian_with_auxiliary_output(name):
    got, aux = JACOBIANS[name](lambda x: (x * x, {"x": x, "n": 1}), has_aux=True)(x)
    close(got, np.diag(2 * X))
    close(aux["x"], X)
    assert aux["n"] == 1 and not aux["x"].requires_grad


@every
@pytest.mark.parametrize(
    ("f", "x", "what"), [(lambda z: z * z, X + 1j * Y, "inputs"), (lambda x: x * 1j, X, "outputs")]
)
def test_jacobians_of_complex_functions_are_refused(name, f, x, what):
    with pytest.raises(RuntimeError, match=f"jac(rev|fwd): Expected all {what} to be real"):
        JACOBIANS[name](f)(tp.tensor(x))


@every
def test_jacobian_of_a_matrix_product(name):
    close(JACOBIANS[name](lambda m: m @ x)(m), np.einsum("ik,l->ikl", np.eye(2), X))


def test_hessian():
    close(func.hessian(lambda x: (x**3).sum() + x[0] * x[1])(x), np.diag(6 * X) + [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    blocks = func.hessian(loss, argnums=(0, 1))(x, y)
    for got, want in zip((*blocks[0], *blocks[1]), (2 * Y, 2 * X, 2 * X, 0 * X)):
        close(got, np.diag(want))
    h = func.hessian(lambda d: (d["a"] ** 2 * d["b"]).sum())({"a": x, "b": y})
    close(h["a"]["b"], np.diag(2 * X))
    assert func.hessian(lambda x: x**3)(tp.tensor(2.0)).item() == 12.0


def test_a_jacobian_in_chunks_has_the_memory_of_its_chunks():
    import tracemalloc

    a = tp.tensor(R.normal(size=(200, 200)))
    f = lambda x: tp.tanh(a @ x).repeat(100).reshape(100, 200).exp().sum(0)
    point = tp.tensor(R.normal(size=200))
    peak = {}
    for chunk in (None, 1):
        tracemalloc.start()
        func.jacrev(f, chunk_size=chunk)(point)
        peak[chunk] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak[1] < peak[None] / 2


# ---- errors

BAD = [
    (
        RuntimeError,
        r"grad\(f\)\(\*args\): Expected f\(\*args\) to return a scalar tensor, got tensor with 1 dims",
        lambda: func.grad(lambda x: x)(x),
    ),
    (
        RuntimeError,
        r"Expected f\(\*args\) to return a Tensor, got <class 'float'>",
        lambda: func.grad(lambda x: 3.0)(x),
    ),
    (RuntimeError, "to return a Tensor, got <class 'tuple'>", lambda: func.grad_and_value(lambda x: (x, x))(x)),
    (ValueError, "must hold Tensors only, got float", lambda: func.grad(lambda x: x)(3.0)),
    (RuntimeError, "grad: Got argnum=2, but only 1 positional inputs", lambda: func.grad(loss, argnums=2)(x)),
    (RuntimeError, "Got argnum=-2, but only 1", lambda: func.jacrev(loss, argnums=-2)(x)),
    (RuntimeError, "argnums elements must be unique", lambda: func.grad(loss, argnums=(0, 0))(x, y)),
    (RuntimeError, "argnums elements must be unique", lambda: func.grad(loss, argnums=(0, -2))(x, y)),
    (
        RuntimeError,
        "argnums must be an int or a tuple of ints that is not empty",
        lambda: func.grad(loss, argnums=())(x),
    ),
    (RuntimeError, "argnums must be int or Tuple", lambda: func.jacfwd(loss, argnums="a")(x)),
    (RuntimeError, "only Tensors of floating point", lambda: func.grad(lambda x: x.sum())(tp.tensor([1, 2]))),
    (
        RuntimeError,
        "should be a tuple: \\(output, aux\\) if has_aux is True",
        lambda: func.grad(lambda x: x.sum(), has_aux=True)(x),
    ),
    (RuntimeError, "only for real scalar outputs", lambda: func.grad(lambda x: (x * 1j).sum())(x)),
    (RuntimeError, r"vjp: Expected f\(\*primals\) to return only tensors, got int", lambda: func.vjp(lambda x: 3, x)),
    (RuntimeError, "vjp: the cotangents must have the shapes", lambda: func.vjp(lambda x: x, x)[1](tp.ones(2))),
    (RuntimeError, "vjp: expected the cotangents to have the structure", lambda: func.vjp(lambda x: x, x)[1]((x, x))),
    (TypeError, "vjp: the cotangents must hold Tensors only, got float", lambda: func.vjp(lambda x: x, x)[1](3.0)),
    (RuntimeError, "expected a real one", lambda: func.vjp(lambda x: x, x)[1](x * 1j)),
    (RuntimeError, "Expected primals to be a tuple", lambda: func.jvp(lambda x: x, x, (x,))),
    (RuntimeError, "Expected tangents to be a tuple", lambda: func.jvp(lambda x: x, (x,), x)),
    (RuntimeError, "Expected primals to be a tuple that is not empty", lambda: func.jvp(lambda: x, (), ())),
    (
        RuntimeError,
        r"expected the tangents to have the structure \(\*,\), got \(\*, \*\)",
        lambda: func.jvp(lambda x: x, (x,), (x, x)),
    ),
    (
        RuntimeError,
        r"jvp: the tangents must have the shapes .* leaf 0 has \[2\], expected \[3\]",
        lambda: func.jvp(lambda x: x, (x,), (tp.ones(2),)),
    ),
    (ValueError, "floating point or complex", lambda: func.jvp(lambda x: x, (tp.tensor([1]),), (tp.tensor([1]),))),
    (RuntimeError, "jvp: primals must hold Tensors only, got float", lambda: func.jvp(lambda x: x, (1.0,), (x,))),
    (RuntimeError, "jvp: the tangents must hold Tensors", lambda: func.jvp(lambda x: x, (tp.tensor(1.0),), (1.0,))),
    (ValueError, "jacfwd: only Tensors of floating point", lambda: func.jacfwd(lambda x: x)(tp.tensor([1]))),
    (ValueError, "linearize: only Tensors of floating point", lambda: func.linearize(lambda x: x, tp.tensor([1]))),
    (RuntimeError, "jacrev: only Tensors of floating point", lambda: func.jacrev(lambda x: x)(tp.tensor([1]))),
    (RuntimeError, r"vjp\(f.*All outputs of f must be .*\(output 1\)", lambda: func.vjp(lambda x: (x, x > 0), x)),
    (RuntimeError, r"jacrev\(f.*All outputs of f must be floating", lambda: func.jacrev(lambda x: x.long())(x)),
    (RuntimeError, "jvp: Expected f.* to return only tensors, got int", lambda: func.jvp(lambda x: 3, (x,), (x,))),
    (
        RuntimeError,
        "The output of f is independent of the inputs",
        lambda: func.jvp(lambda x: (x, tp.ones(2)), (x,), (x,), strict=True),
    ),
    (
        RuntimeError,
        "linearize: the tangents must have the shapes",
        lambda: func.linearize(lambda x: x, x)[1](tp.ones(2)),
    ),
    (RuntimeError, "doesn't match the dtype", lambda: func.linearize(lambda x: x, x)[1](tp.ones(3))),
    (
        RuntimeError,
        "linearize: expected the tangents to have the structure",
        lambda: func.linearize(lambda x: x, x)[1](x, x),
    ),
    (ValueError, "jacrev: `chunk_size` should be greater than 0", lambda: func.jacrev(loss, chunk_size=0)),
    (RuntimeError, "jacrev: Expected f.* to return only tensors", lambda: func.jacrev(lambda x: 3)(x)),
    (RuntimeError, "jacfwd: Expected f.* to return only tensors", lambda: func.jacfwd(lambda x: 3)(x)),
    (RuntimeError, "at least one tensor", lambda: func.jacrev(lambda x: None)(x)),
]


@pytest.mark.parametrize("i", range(len(BAD)))
def test_bad_arguments_are_named(i):
    error, message, call = BAD[i]
    with pytest.raises(error, match=message):
        call()


# ---- with backward()


def test_results_take_part_in_backward():
    w = x.clone().requires_grad_()
    func.grad(loss)(w, y).sum().backward()
    close(w.grad, 2 * Y)
    w.grad = None
    func.jvp(lambda w: w**3, (w,), (y,))[1].sum().backward()
    close(w.grad, 6 * X * Y)
    w.grad = None
    func.jacfwd(lambda w: w**2)(w).sum().backward()
    close(w.grad, np.full(3, 2.0))
    w.grad = None
    func.vjp(lambda w: w**3, w)[1](y)[0].sum().backward()
    close(w.grad, 6 * X * Y)


def test_cotangents_that_require_grad():
    u = y.clone().requires_grad_()
    (g,) = func.vjp(lambda x: x**2, x)[1](u)
    close(autograd.grad(g.sum(), u)[0], 2 * X)


# ---- rearrange and debug_unwrap

IMAGES = R.normal(size=(2, 6, 4))

PATTERNS = [
    ("a b c -> c a b", {}, IMAGES.transpose(2, 0, 1)),
    ("a b c->(a b) c", {}, IMAGES.reshape(12, 4)),
    ("a b c -> c (b a)", {}, IMAGES.transpose(2, 1, 0).reshape(4, 12)),
    ("a (b d) c -> a d b c", {"d": 3}, IMAGES.reshape(2, 2, 3, 4).swapaxes(1, 2)),
    ("a (b d) c -> a d b c", {"b": 2, "d": 3}, IMAGES.reshape(2, 2, 3, 4).swapaxes(1, 2)),
    ("a ... -> ... a", {}, IMAGES.transpose(1, 2, 0)),
    ("... c -> c ...", {}, IMAGES.transpose(2, 0, 1)),
    ("... -> (...)", {}, IMAGES.reshape(-1)),
    ("a ... c -> (a c) ...", {}, IMAGES.transpose(0, 2, 1).reshape(8, 6)),
    ("a b c -> a () b 1 c", {}, IMAGES[:, None, :, None]),
    ("a b c -> a b c", {}, IMAGES),
]


@pytest.mark.parametrize("pattern, lengths, want", PATTERNS)
def test_rearrange(pattern, lengths, want):
    close(func.rearrange(tp.tensor(IMAGES), pattern, **lengths), want)
    close(tp.vmap(lambda t: func.rearrange(t, pattern, **lengths))(tp.tensor(IMAGES)[None]), want[None])


def test_rearrange_stacks_a_list():
    close(func.rearrange([x, y], "b c -> c b"), np.stack([X, Y], 1))


@pytest.mark.parametrize(
    "pattern, lengths, message",
    [
        ("a b c", {}, "single '->' separator"),
        ("a b c -> a b", {}, r"only on one side of rearrange expression \(should be on both\): {'c'}"),
        ("a b c -> a b c d", {}, "only on one side.*{'d'}"),
        ("a b -> b a", {}, r"Number of dimensions in pattern \(2\) must be equal .* \(3\)"),
        ("a (b d) c -> a b d c", {}, "cannot infer the sizes of 2 dimensions at once"),
        ("a (b d) c -> a b d c", {"d": 4}, "does not fit into a dimension of 6"),
        ("a b c -> a b c", {"z": 3}, "Identifiers not found in rearrange expression: {'z'}"),
        ("a a b -> a b", {}, "contains duplicate dimension 'a'"),
        ("a b c -> (a ...) b c", {}, "Ellipsis found in right side, but not left side"),
        ("a b (c -> a b c", {}, "Imbalanced parentheses"),
        ("a 3 c -> a c", {}, "only supports unnamed axes of size 1"),
        ("a b c! -> a b c", {}, "unexpected '!'"),
    ],
)
def test_a_bad_pattern_is_named(pattern, lengths, message):
    with pytest.raises(ValueError, match=message):
        func.rearrange(tp.tensor(IMAGES), pattern, **lengths)


def test_debug_unwrap_shows_what_is_inside():
    seen = []
    tp.vmap(
        lambda row: func.jvp(
            lambda t: seen.append((func.debug_unwrap(t), func.debug_unwrap(t, recurse=False))) or t, (row,), (row,)
        )[1]
    )(m)
    close(seen[0][0], M)
    assert seen[0][1].shape == (3,) and func.debug_unwrap(x) is x


def test_tensors_without_data():
    point = tp.ones(3, device="meta")
    f = lambda x: x.sin() * x
    for result, shape in (
        (func.grad(lambda x: f(x).sum())(point), (3,)),
        (func.jvp(f, (point,), (point,))[1], (3,)),
        (func.jacrev(f)(point), (3, 3)),
        (func.jacrev(f, chunk_size=2)(point), (3, 3)),
        (func.jacfwd(f)(point), (3, 3)),
        (func.hessian(lambda x: f(x).sum())(point), (3, 3)),
        (autograd.functional.jacobian(f, point), (3, 3)),
        (autograd.functional.hessian(lambda x: f(x).sum(), point, vectorize=True), (3, 3)),
        (tp.vmap(f)(point), (3,)),
    ):
        assert result.is_meta and tuple(result.shape) == shape


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
def test_a_functionalized_function_computes_and_writes_the_same(remove):
    def f(x):
        x.add_(1)
        return x[0] * x

    argument = tp.tensor([1.0, 2.0])
    assert func.functionalize(f, remove=remove)(argument).tolist() == [4.0, 6.0]
    assert argument.tolist() == [2.0, 3.0]
    with pytest.raises(RuntimeError, match="invalid argument for remove=views"):
        func.functionalize(f, remove="views")
