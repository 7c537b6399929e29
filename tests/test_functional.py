"""autograd.functional: vjp, vhp, hvp, jacobian, hessian."""

import collections

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd
from tensorplay.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp


def randn(*shape, seed=0):
    return tp.tensor(np.random.default_rng(seed).normal(size=shape))


def array(t):
    return t.detach().numpy()


def close(got, want, tol=1e-10):
    want = array(want) if isinstance(want, tp.Tensor) else np.asarray(want)
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(array(got), want, rtol=tol, atol=tol)


A = randn(2, 3, seed=9)
X, Y, U, V, W = (randn(3, seed=s) for s in range(5))


def two(x, y):
    return A @ (x * y), (x * x * y).sum()


JAC = [[A.numpy() * Y.numpy(), A.numpy() * X.numpy()], [2 * X.numpy() * Y.numpy(), X.numpy() ** 2]]


def test_vjp():
    u = randn(2)
    out, (gx, gy) = vjp(two, (X, Y), (u, tp.tensor(3.0, dtype=tp.float64)))
    close(out[0], A @ (X * Y))
    close(gx, array(u) @ JAC[0][0] + 3 * JAC[1][0])
    close(gy, array(u) @ JAC[0][1] + 3 * JAC[1][1])
    out, g = vjp(lambda x: x.exp().sum(), X)
    close(g, X.exp())
    assert not out.requires_grad and not g.requires_grad


def scalar(x, y):
    return (x * x * y).sum() + (y**3).sum()


HESS = [[np.diag(2 * Y.numpy()), np.diag(2 * X.numpy())], [np.diag(2 * X.numpy()), np.diag(6 * Y.numpy())]]


@pytest.mark.parametrize("product", [vhp, hvp])
def test_products_with_the_hessian(product):
    out, (hx, hy) = product(scalar, (X, Y), (V, W))
    close(out, scalar(X, Y))
    close(hx, HESS[0][0] @ V.numpy() + HESS[0][1] @ W.numpy())
    close(hy, HESS[1][0] @ V.numpy() + HESS[1][1] @ W.numpy())
    close(product(lambda x: (x**3).sum(), X, V)[1], 6 * X * V)
    assert product(lambda x: x**3, tp.tensor(2.0))[1].item() == 12.0


WAYS = {
    "row by row": {},
    "vectorized": {"vectorize": True},
    "forward": {"vectorize": True, "strategy": "forward-mode"},
    "differentiable": {"create_graph": True},
    "differentiable, vectorized": {"create_graph": True, "vectorize": True},
    "differentiable, forward": {"create_graph": True, "vectorize": True, "strategy": "forward-mode"},
}
ways = pytest.mark.parametrize("how", WAYS)


@ways
def test_jacobian(how):
    rows = jacobian(two, (X, Y), **WAYS[how])
    assert type(rows) is tuple and type(rows[0]) is tuple
    for row, want in zip(rows, JAC):
        for got, w in zip(row, want):
            close(got, w)
    single = jacobian(lambda x: x.outer(x), X, **WAYS[how])
    close(single, np.einsum("ik,j->ijk", np.eye(3), X.numpy()) + np.einsum("jk,i->ijk", np.eye(3), X.numpy()))


@ways
def test_jacobian_of_a_scalar_and_of_nothing(how):
    close(jacobian(lambda x: (x * x).sum(), X, **WAYS[how]), 2 * X)
    close(jacobian(lambda x: x[:0], X, **WAYS[how]), np.zeros((0, 3)))
    close(jacobian(lambda x: x * 2, X[:0], **WAYS[how]), np.zeros((0, 0)))
    close(jacobian(lambda x: tp.ones(2, dtype=tp.float64), X, **WAYS[how]), np.zeros((2, 3)))


@ways
def test_jacobian_can_be_differentiated(how):
    w, x = randn(3).requires_grad_(), X.clone().requires_grad_()
    jac = jacobian(lambda x: w * x**3, x, **WAYS[how])
    if not WAYS[how].get("create_graph"):
        assert not jac.requires_grad
        return
    gw, gx = autograd.grad(jac.sum(), (w, x))
    close(gw, 3 * X**2)
    close(gx, 6 * w * X)


HESSIANS = {
    "row by row": {},
    "vectorized": {"vectorize": True},
    "forward over reverse": {"vectorize": True, "outer_jacobian_strategy": "forward-mode"},
    "differentiable": {"create_graph": True},
    "differentiable, forward over reverse": {
        "create_graph": True,
        "vectorize": True,
        "outer_jacobian_strategy": "forward-mode",
    },
}


@pytest.mark.parametrize("how", HESSIANS)
def test_hessian(how):
    got = hessian(scalar, (X, Y), **HESSIANS[how])
    for row, want in zip(got, HESS):
        for g, w in zip(row, want):
            close(g, w)
    close(hessian(lambda x: (x**3).sum(), X, **HESSIANS[how]), np.diag(6 * X.numpy()))
    x = X.clone().requires_grad_()
    h = hessian(lambda x: (x**3).sum(), x, **HESSIANS[how])
    assert h.requires_grad == HESSIANS[how].get("create_graph", False)
    if h.requires_grad:
        close(autograd.grad(h.sum(), x)[0], np.full(3, 6.0))


def test_mixed_derivatives_through_every_function():
    """d/dy of the derivative with respect to x, for functions whose result is differentiable."""
    y = Y.clone().requires_grad_()
    f = lambda x: (x**2 * y**2).sum()
    for result in (vjp(f, X, create_graph=True)[1], jacobian(f, X, create_graph=True)):
        close(autograd.grad(result.sum(), y)[0], 4 * X * Y)
    for product in (vhp, hvp):
        close(autograd.grad(product(f, X, V, create_graph=True)[1].sum(), y)[0], 4 * Y * V)


NESTED = {
    "dict": ({"a": X, "b": Y}, lambda d: d["a"] * d["b"], lambda g: (g["a"], g["b"])),
    "ordered dict": (collections.OrderedDict(a=X, b=Y), lambda d: d["a"] * d["b"], lambda g: (g["a"], g["b"])),
    "list": ([X, Y], lambda a, b: a * b, lambda g: tuple(g)),
    "tuple of dicts": (({"a": X}, [Y]), lambda d, rest: d["a"] * rest[0], lambda g: (g[0]["a"], g[1][0])),
}


@pytest.mark.parametrize("name", NESTED)
def test_inputs_and_outputs_may_be_nested(name):
    inputs, f, parts = NESTED[name]
    g = vjp(f, inputs, V)[1]
    assert type(g) is type(inputs)
    for got, want in zip(parts(g), (Y * V, X * V)):
        close(got, want)
    for how in WAYS.values():
        jac = jacobian(f, inputs, **how)
        for got, want in zip(parts(jac), (np.diag(Y.numpy()), np.diag(X.numpy()))):
            close(got, want)
    out, tangent = jvp(lambda *tree: {"p": [f(*tree)]}, inputs, inputs)
    close(tangent["p"][0], 2 * X * Y)
    h = hessian(lambda *tree: f(*tree).sum(), inputs)
    for i, row in enumerate(parts(h)):
        for k, block in enumerate(parts(row)):
            close(block, np.eye(3) * (i != k))
    for product in (vhp, hvp):
        for got, want in zip(parts(product(lambda *tree: f(*tree).sum(), inputs, inputs)[1]), (Y, X)):
            close(got, want)


STRICT = [
    (
        r"output of the user-provided function is independent of input 1\. This is not allowed in strict mode",
        lambda **k: vjp(lambda x, y: x * 2, (X, Y), V, **k),
    ),
    (
        r"Output 0 of the user-provided function does not require gradients",
        lambda **k: vjp(lambda x: tp.ones(3), X, tp.ones(3), **k),
    ),
    (
        r"output of the user-provided function is independent of input 1",
        lambda **k: jacobian(lambda x, y: x * 2, (X, Y), **k),
    ),
    (r"Output 1 of the user-provided function does not", lambda **k: jacobian(lambda x: (x, tp.ones(2)), X, **k)),
    (
        r"found that the jacobian of the user-provided function with respect to input 0 is independent of the input",
        lambda **k: vhp(lambda x: x.sum(), X, V, **k),
    ),
    (
        r"jacobian of the user-provided function with respect to input 0 is independent",
        lambda **k: hvp(lambda x: x.sum(), X, V, **k),
    ),
    (
        r"jacobian of the user-provided function with respect to input 0 is independent",
        lambda **k: hessian(lambda x: x.sum(), X, **k),
    ),
    (
        r"output of the user-provided function is independent of input 1",
        lambda **k: hessian(lambda x, y: (x**3).sum(), (X, Y), **k),
    ),
    (
        r"hessian of the user-provided function is independent of entry 0 in the grad_jacobian",
        lambda **k: hvp(lambda x: (x * x).sum(), X, V, create_graph=True, **k),
    ),
    (
        r"jacobian of the user-provided function is independent of input 0\. This is not allowed .* when create_graph",
        lambda **k: vjp(lambda x: x * 2, X, V, create_graph=True, **k),
    ),
]


@pytest.mark.parametrize("i", range(len(STRICT)))
def test_no_dependence_is_an_error_in_strict_mode_and_zero_otherwise(i):
    message, call = STRICT[i]
    with pytest.raises(RuntimeError, match=message):
        call(strict=True)
    call(strict=False)


def test_zeros_where_there_is_no_dependence():
    close(vjp(lambda x, y: x * 2, (X, Y), V)[1][1], np.zeros(3))
    close(vhp(lambda x: x.sum(), X, V)[1], np.zeros(3))
    close(hvp(lambda x: x.sum(), X, V)[1], np.zeros(3))
    close(hessian(lambda x: x.sum(), X), np.zeros((3, 3)))


BAD = [
    (TypeError, "inputs given to vjp must be either a Tensor", lambda: vjp(lambda x: x, 3.0)),
    (TypeError, "outputs of the user-provided function given to vjp", lambda: vjp(lambda x: 3.0, X)),
    (TypeError, "inputs given to jacobian .* index 1", lambda: jacobian(lambda x, y: x, (X, None, "a"))),
    (
        RuntimeError,
        "v can only be None if the user-provided function returns a single Tensor",
        lambda: vjp(lambda x: x, X),
    ),
    (RuntimeError, r"v has invalid size: should be \[3\] but got \[2\]", lambda: vjp(lambda x: x, X, randn(2))),
    (RuntimeError, "v is a tuple of invalid length: should be 1 but got 2", lambda: vjp(lambda x: x, X, (X, X))),
    (RuntimeError, "v can only be None if the input to the user", lambda: vhp(lambda x: x.sum(), X)),
    (RuntimeError, "function given to vhp should contain a single element", lambda: vhp(lambda x: x, X, X)),
    (
        RuntimeError,
        "function given to hvp should return a single Tensor",
        lambda: hvp(lambda x: (x.sum(), x.sum()), X, X),
    ),
    (RuntimeError, "function given to hessian should contain a single element", lambda: hessian(lambda x: x, X)),
    (ValueError, "Expected strategy to be either", lambda: jacobian(lambda x: x, X, strategy="sideways")),
    (
        ValueError,
        "Expected outer_jacobian_strategy",
        lambda: hessian(lambda x: x.sum(), X, outer_jacobian_strategy="no"),
    ),
    (
        NotImplementedError,
        "only implemented for `vectorize=True`",
        lambda: jacobian(lambda x: x, X, strategy="forward-mode"),
    ),
    (
        NotImplementedError,
        "not supported together",
        lambda: jacobian(lambda x: x, X, strict=True, vectorize=True, strategy="forward-mode"),
    ),
    (RuntimeError, "not supported together", lambda: jacobian(lambda x: x, X, strict=True, vectorize=True)),
    (RuntimeError, "floating point and complex", lambda: jacobian(lambda x: x, tp.tensor([1, 2]))),
]


@pytest.mark.parametrize("i", range(len(BAD)))
def test_bad_arguments_are_named(i):
    error, message, call = BAD[i]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("forward", [False, True])
def test_a_single_element_may_have_any_shape(shape, forward):
    f, want = lambda x: (x**3).sum().reshape(shape), 6 * X.numpy()
    how = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"} if forward else {}
    close(hessian(f, X, **how), np.diag(want))
    close(hessian(f, X, vectorize=True), np.diag(want))
    for product in (vhp, hvp):
        value, found = product(f, X, V)
        assert value.shape == shape
        close(found, want * V.numpy())


def test_gradients_taken_inside_the_function():
    f = lambda x: autograd.grad((x**3).sum(), x, create_graph=True)[0]
    close(vjp(f, X, V)[1], 6 * X * V)
    close(jvp(f, X, V)[1], 6 * X * V)
    close(jacobian(f, X), np.diag(6 * X.numpy()))


def test_grad_mode_outside_does_not_matter():
    with tp.no_grad():
        close(vjp(lambda x: x * x, X, V)[1], 2 * X * V)
        close(hessian(lambda x: (x**3).sum(), X), np.diag(6 * X.numpy()))
        close(jacobian(lambda x: x * x, X, vectorize=True, strategy="forward-mode"), np.diag(2 * X.numpy()))
        assert not tp.is_grad_enabled()
    with tp.inference_mode():
        close(vjp(lambda x: x * x, X, V)[1], 2 * X * V)


def test_inputs_stay_as_they_were():
    x = X.clone().requires_grad_()
    for call in (vjp, jvp):
        call(lambda x: x * x, x, V)
    hessian(lambda x: (x**3).sum(), x)
    assert x.is_leaf and x.grad is None
    close(x, X)


def test_the_hessian_of_a_custom_function_need_not_be_symmetric():
    class Odd(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].roll(1)

    f = lambda x: Odd.apply(x).sum()
    close(hvp(f, X, V)[1], V.roll(1))
    close(vhp(f, X, V)[1], V.roll(-1))

    def hooked(x):
        y = x * x
        y.register_hook(lambda g: g * x.roll(1))
        return y.sum()

    close(hvp(hooked, X, V)[1], 2 * X.roll(1) * V + 2 * X * V.roll(1))
    close(vhp(hooked, X, V)[1], 2 * X.roll(1) * V + (2 * X * V).roll(-1))
