"""Derivatives of third and fourth order, per-sample gradients, and products with Hessians, in every way there is."""

import itertools
import math

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.nn.functional as NF
from tensorplay import autograd, func


def t64(values, **kwargs):
    return tp.tensor(values, dtype=tp.float64, **kwargs)


def close(got, want, tol=1e-10):
    """Equal relative to the largest element."""
    got, want = (v.detach().numpy() if isinstance(v, tp.Tensor) else np.asarray(v) for v in (got, want))
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol * np.abs(want).max(initial=1e-300))


R = np.random.default_rng(0)
W1, W2 = t64(R.normal(size=(4, 6)) / 2), t64(R.normal(size=(6, 5)) / 2)
X, V, U = (t64(R.normal(size=4) / 2) for _ in range(3))

# ---- one variable: every word of d's, by forward mode, reverse mode and the tape, against the formula

FORWARD = lambda f: lambda x: func.jvp(f, (x,), (tp.ones_like(x),))[1]
REVERSE = func.grad
PULLED = lambda f: lambda x: func.vjp(f, x)[1](tp.ones_like(x))[0]
JACOBIANS = (func.jacfwd, func.jacrev)


def taped(f):
    def derivative(x):
        y = x if x.requires_grad else x.clone().requires_grad_()
        return autograd.grad(f(y), y, create_graph=True)[0]

    return derivative


ONE_VARIABLE = {
    "sin": (tp.sin, lambda x, n: math.sin(x + n * math.pi / 2)),
    "exp of double": (lambda x: (2 * x).exp(), lambda x, n: 2**n * math.exp(2 * x)),
    "log": (tp.log, lambda x, n: (-1) ** (n - 1) * math.factorial(n - 1) / x**n),
    "reciprocal": (lambda x: 1 / x, lambda x, n: (-1) ** n * math.factorial(n) / x ** (n + 1)),
    "sixth power": (lambda x: x**6, lambda x, n: math.perm(6, n) * x ** (6 - n)),
    "sqrt": (tp.sqrt, lambda x, n: math.prod(0.5 - k for k in range(n)) * x ** (0.5 - n)),
}


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("name", ONE_VARIABLE)
def test_derivatives_in_every_mixture_of_modes(name, order):
    f, formula = ONE_VARIABLE[name]
    want = formula(0.7, order)
    for word in itertools.product((FORWARD, REVERSE, PULLED), repeat=order):
        g = f
        for d in word:
            g = d(g)
        close(g(t64(0.7)), want)
    for word in (JACOBIANS * 2, (taped,) * order, (REVERSE, taped, FORWARD), (FORWARD, taped, taped)):
        g = f
        for d in word[:order]:
            g = d(g)
        close(g(t64(0.7)), formula(0.7, min(order, len(word))))


# ---- tensors of derivatives


def net(x):
    return tp.tanh(tp.tanh(x @ W1) @ W2).exp().sum()


@pytest.mark.parametrize("order", [3, 4])
def test_tensors_of_derivatives_are_the_same_in_all_modes_and_symmetric(order):
    words = list(itertools.product(JACOBIANS, repeat=order))[:: order - 2]
    found = []
    for word in words:
        g = net
        for d in word:
            g = d(g)
        found.append(g(X))
    first = found[0]
    assert first.shape == (4,) * order
    for other in found[1:]:
        close(other, first)
    for axes in itertools.permutations(range(order)):
        close(first.permute(axes), first)


POLYNOMIALS = {
    # function of x, and its derivatives of orders 1 to 4 at 3: None where autograd.grad says that nothing is left
    "square": (lambda x: x.square(), [6, 2, 0, None]),
    "square_": (lambda x: x.clone().square_(), [6, 2, 0, None]),
    "x ** 2": (lambda x: x**2, [6, 2, 0, None]),
    "x ** 3": (lambda x: x**3, [27, 18, 6, 0]),
    "x * x": (lambda x: x * x, [6, 2, None, None]),
    "prelu": (lambda x: tp.prelu(x.reshape(1), tp.tensor([0.5], dtype=tp.float64)), [1, 0, None, None]),
    "relu": (lambda x: x.relu(), [1, 0, 0, 0]),
    "linear": (lambda x: 2 * x + 1, [2, None, None, None]),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_derivatives_that_became_constant_are_zeros_or_nothing(name):
    f, wanted = POLYNOMIALS[name]
    x = tp.tensor(3.0, dtype=tp.float64, requires_grad=True)
    value, of = f(x), lambda x: f(x).sum()
    for want in wanted:
        if want is None:
            assert value is None or not value.requires_grad
        else:
            (value,) = tp.autograd.grad(value.sum(), x, create_graph=True, allow_unused=True)
            assert value.item() == want
        assert func.grad(of)(x.detach()).item() == (want or 0)
        of = func.grad(of)


def test_third_derivatives_equal_finite_differences_of_the_hessian():
    third, h = func.jacrev(func.hessian(net))(X), 1e-5
    for k in range(4):
        step = h * tp.eye(4, dtype=tp.float64)[k]
        near = (func.hessian(net)(X + step) - func.hessian(net)(X - step)) / (2 * h)
        close(third[..., k], near, 1e-7)


def test_derivatives_along_directions_contract_the_tensor():
    third = func.jacfwd(func.hessian(net))(X)
    d = lambda f, v: lambda x: func.jvp(f, (x,), (v,))[1]
    close(d(d(d(net, X), V), U)(X), tp.einsum("ijk,i,j,k->", third, X, V, U))
    close(func.grad(d(d(net, V), U))(X), tp.einsum("ijk,j,k->i", third, V, U))
    close(func.jet(net, (X,), ([V, tp.zeros_like(V), tp.zeros_like(V)],))[1][2],
          tp.einsum("ijk,i,j,k->", third, V, V, V))  # fmt: skip


# ---- products with the Hessian, in every way


def reverse_over_reverse(f, x, v):
    return func.grad(lambda x: (func.grad(f)(x) * v).sum())(x)


def forward_over_reverse(f, x, v):
    return func.jvp(func.grad(f), (x,), (v,))[1]


def reverse_over_forward(f, x, v):
    return func.grad(lambda x: func.jvp(f, (x,), (v,))[1])(x)


def double_vjp(f, x, v):
    return func.vjp(lambda x: func.vjp(f, x)[1](tp.ones((), dtype=x.dtype))[0], x)[1](v)[0]


def taped_twice(f, x, v):
    x = x.detach().requires_grad_()
    (g,) = autograd.grad(f(x), x, create_graph=True)
    return autograd.grad(g, x, v)[0]


def linearized(f, x, v):
    return func.linearize(func.grad(f), x)[1](v)


def by_differences(f, x, v):
    h = 1e-6
    return (func.grad(f)(x + h * v) - func.grad(f)(x - h * v)) / (2 * h)


WAYS = {
    "reverse over reverse": reverse_over_reverse,
    "forward over reverse": forward_over_reverse,
    "reverse over forward": reverse_over_forward,
    "double vjp": double_vjp,
    "two passes over the tape": taped_twice,
    "linearize": linearized,
    "hvp": lambda f, x, v: func.hvp(f, (x,), (v,)),
    "functional.hvp": lambda f, x, v: autograd.functional.hvp(f, x, v)[1],
    "functional.vhp": lambda f, x, v: autograd.functional.vhp(f, x, v)[1],
}
IMAGES, LABELS = t64(R.normal(size=(2, 1, 5, 5))), tp.tensor([0, 2])
FUNCTIONS = {
    "network": (net, (4,)),
    "softmax and cross entropy": (lambda x: NF.cross_entropy(x * x @ W1[:, :3], LABELS), (2, 4)),
    "convolution": (lambda x: tp.sigmoid(NF.conv2d(IMAGES, x.reshape(2, 1, 2, 2))).pow(3).sum(), (8,)),
    "layer norm": (lambda x: (NF.layer_norm(x, (4,)) ** 3 @ W1).sum(), (3, 4)),
    "attention": (lambda x: NF.scaled_dot_product_attention(x, x * x, x.sin()).exp().sum(), (1, 3, 4)),
    "logdet": (lambda x: tp.linalg.slogdet(x @ x.mT + tp.eye(3, dtype=x.dtype))[1], (3, 4)),
    "solve": (lambda x: tp.linalg.solve(x @ x.mT + tp.eye(3, dtype=x.dtype), x[:, :2]).exp().sum(), (3, 4)),
    "eigenvalues": (lambda x: (tp.linalg.eigvalsh(x @ x.mT) ** 1.5).sum(), (3, 4)),
    "indexing and sorting": (lambda x: (x[[0, 2, 0]].sort(dim=1).values ** 3).cumsum(0).prod(1).sum(), (3, 4)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_products_with_the_hessian_agree_in_every_way(name):
    f, shape = FUNCTIONS[name]
    r = np.random.default_rng(1)
    x, v = t64(r.normal(size=shape)), t64(r.normal(size=shape))
    want = (func.hessian(f)(x).reshape(x.numel(), x.numel()) @ v.reshape(-1)).reshape(shape)
    for way in WAYS.values():
        close(way(f, x, v), want)
    close(by_differences(f, x, v), want, 1e-6)


# ---- per-sample gradients


def test_gradients_of_each_example_equal_a_loop_and_sum_to_that_of_the_batch():
    r = np.random.default_rng(2)
    parameters = {"w": t64(r.normal(size=(3, 6))), "b": t64(r.normal(size=3)), "k": t64(r.normal(size=(2, 1, 3, 3)))}
    images, labels = t64(r.normal(size=(7, 1, 5, 5))), tp.tensor(r.integers(0, 3, 7))

    def loss(p, image, label):
        hidden = NF.max_pool2d(tp.tanh(NF.conv2d(image[None], p["k"])), (1, 3)).reshape(1, -1)
        return NF.cross_entropy(NF.linear(hidden, p["w"], p["b"]), label[None])

    each = tp.vmap(func.grad(loss), in_dims=(None, 0, 0))(parameters, images, labels)
    for i in range(7):
        alone = func.grad(loss)(parameters, images[i], labels[i])
        for name in parameters:
            close(each[name][i], alone[name])
    leaves = {name: p.clone().requires_grad_() for name, p in parameters.items()}
    total = sum(loss(leaves, images[i], labels[i]) for i in range(7))
    for (name, _), g in zip(leaves.items(), autograd.grad(total, list(leaves.values()))):
        close(each[name].sum(0), g)


def test_the_norm_of_each_examples_gradient_can_be_differentiated():
    """Gradient of gradient norms, as in penalties on per-sample gradients."""
    x = t64(np.random.default_rng(3).normal(size=(5, 4)))
    loss = lambda w, x: tp.tanh(x @ w).exp().sum()
    penalty = lambda w: (tp.vmap(func.grad(loss), in_dims=(None, 0))(w, x) ** 2).sum()
    looped = lambda w: sum((func.grad(loss)(w, row) ** 2).sum() for row in x)
    close(func.grad(penalty)(W1), func.grad(looped)(W1))
    direction = tp.ones_like(W1)
    close(func.hvp(penalty, (W1,), (direction,)), func.hvp(looped, (W1,), (direction,)))


# ---- what random programs found


def test_a_double_vjp_is_plain_when_nobody_outside_can_ask():
    push = lambda f, v: func.vjp(lambda u: func.vjp(f, X)[1](u)[0], tp.zeros_like(v))[1](v)[0]
    found = push(lambda x: x**3, V)
    close(found, 3 * X**2 * V)
    assert not found.requires_grad
    w = W1.clone().requires_grad_()
    assert push(lambda x: (x @ w).sum() * x, V).requires_grad
    pull = func.vjp(lambda x: x**3, X)[1]
    close(func.grad(lambda u: pull(u)[0].sum())(V), 3 * X**2)  # the newer transform still runs


def test_writing_a_batch_into_what_moves_further_out():
    def f(x):
        def scaled(v):
            y = x * 1.5
            y[1:].mul_(v)
            return y

        return tp.vmap(scaled)(V).sum(0)

    want = np.diag(1.5 * np.where(np.arange(4) == 0, 4.0, V.sum().item()))
    for jacobian in JACOBIANS:
        close(jacobian(f)(X), want)
    _, (first, second) = func.jet(f, (X,), ([U, V],))
    close(first, want @ U.numpy())
    close(second, want @ V.numpy())


def test_batched_gradients_of_numbers_written_to_a_view():
    def f(x):
        y = x * 2
        y[1:].fill_(0.25)
        return y

    for jacobian in JACOBIANS:
        close(jacobian(f)(X), np.diag([2.0, 0.0, 0.0, 0.0]))


def test_batched_second_derivatives_of_a_real_part_written_to():
    def f(x):
        z = tp.complex(x, x * x)
        z.real.mul_(x.sin())
        return (z * z).real.sum()

    same = lambda x: ((x * x.sin()) ** 2 - x**4).sum()
    want = func.hessian(same)(X)
    for second in (func.hessian, lambda f: func.jacrev(func.jacrev(f)), lambda f: func.jacrev(func.jacfwd(f))):
        close(second(f)(X), want)


def test_an_inverse_transform_of_a_batch_that_moves():
    window = tp.hann_window(4, periodic=False, dtype=tp.float64) + 0.5
    f = lambda x: tp.istft(tp.stft(x, 4, 2, window=window, return_complex=True), 4, 2, window=window, length=9)
    x = t64(np.linspace(-1, 1, 9))
    close(
        tp.vmap(lambda v: func.jvp(f, (v,), (v * v,))[1])(tp.stack([x, x + 1])), tp.stack([x * x, (x + 1) ** 2]), 1e-9
    )


@pytest.mark.parametrize(
    "f",
    [
        tp.relu, tp.nn.functional.leaky_relu, tp.nn.functional.relu6, tp.nn.functional.hardtanh,
        tp.nn.functional.hardsigmoid, tp.nn.functional.softshrink, tp.nn.functional.hardshrink,
        lambda x: tp.nn.functional.threshold(x, 0.1, 20.0), lambda x: x**1,
    ],
)  # fmt: skip
def test_the_second_derivative_of_what_is_piecewise_linear_is_zero_and_not_missing(f):
    x = t64([0.5, -0.3, 2.0], requires_grad=True)
    (first,) = tp.autograd.grad(f(x).sum(), x, create_graph=True)
    (second,) = tp.autograd.grad(first.sum(), x)
    assert second.tolist() == [0, 0, 0]
    close(tp.func.grad(lambda x: tp.func.grad(lambda x: f(x).sum())(x).sum())(x.detach()), [0, 0, 0])


@pytest.mark.parametrize("zeros", [[], [0], [0, 1], [0, 1, 2], [0, 3], [0, 1, 3], [0, 1, 2, 3]])
def test_derivatives_of_products_into_one_place_at_zeros(zeros):
    z = tp.tensor([2.0, 3.0, -1.5, 0.5], dtype=tp.float64)
    z[zeros] = 0.0
    f = lambda z: z[3:].scatter_reduce(0, tp.tensor([0, 0, 0]), z[:3], "prod").sum()
    g = lambda z: z[0] * z[1] * z[2] * z[3]
    for order in range(1, 5):
        f, g = (func.jacrev(f), func.jacrev(g)) if order % 2 else (func.jacfwd(f), func.jacfwd(g))
        close(f(z), g(z))
