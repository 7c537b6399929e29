"""The forward Laplacian equals the trace of the Hessian; products with the Hessian, and its diagonal."""

import numpy as np
import pytest
from samples import FAMILIES
from test_taylor import FUNCTIONS, W, close, leaves, repeated, t64, uniform

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.core.state import live_levels


def hessian_of(f, x):
    """The Hessians of all outputs, two dimensions behind the output's."""
    n = x.numel()
    return [h.reshape(*o.shape, n, n) for h, o in zip(leaves(func.hessian(f)(x)), leaves(f(x)))]


def trace(h):
    return h.diagonal(dim1=-2, dim2=-1).sum(-1)


REAL = [n for n in FUNCTIONS if n != "several"]


@pytest.mark.parametrize("name", REAL)
def test_laplacian_equals_the_trace_of_the_hessian(name):
    f, x = FUNCTIONS[name], uniform(3, 4)
    value, gradient, second = func.laplacian(f, x)
    (h,) = hessian_of(f, x)
    close(value, f(x), 1e-12)
    close(gradient, func.jacrev(f)(x))
    close(second, trace(h))
    close(func.hessian_diag(f, x).reshape(*value.shape, 12), h.diagonal(dim1=-2, dim2=-1))


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_laplacian_of_every_operator(family):
    """Against nested jvp along each unit vector, of the call as a function of all its arguments at once."""
    for s in family:
        if not (s.grad and s.varying):
            continue
        tensors = s.tensors()
        call, xs = s.of_varying(tensors), [tensors[i] for i in s.varying]
        sizes = [x.numel() for x in xs]
        if not 0 < sum(sizes) < 60 or any(x.is_complex() for x in xs):
            continue

        def f(z, call=call, xs=xs, sizes=sizes):
            return call(*[part.reshape(x.shape) for part, x in zip(tp.split(z, sizes), xs)])

        z = tp.cat([x.reshape(-1) for x in xs])
        units = tp.eye(z.numel(), dtype=z.dtype)
        first, second = tp.vmap(lambda e, f=f, z=z: repeated(f, (z,), (e,), 2), randomness="same")(units)
        _, gradients, laplacians = func.laplacian(f, z)
        pairs = [*zip(laplacians, [d.sum(0) for d in second]), *zip(gradients, [d.movedim(0, -1) for d in first])]
        for got, expected in pairs:
            got, expected = got.detach().numpy(), expected.detach().numpy()
            assert got.shape == expected.shape, s
            scale = 1e-7 * (1 + np.abs(expected).max(initial=0))
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=scale, err_msg=repr(s))


def test_outputs_of_any_structure():
    f, x = FUNCTIONS["several"], uniform(3, 4)
    value, gradient, second = func.laplacian(f, x)
    assert gradient["a"].shape == (3, 4, 3, 4) and second["b"][0].shape == ()
    close(second["a"], 2 * np.ones((3, 4)))
    close(second["b"][0], x.exp().sum())
    assert value["b"][1].dtype == tp.bool and not second["b"][1].any()
    diagonal = func.hessian_diag(f, x)
    close(diagonal["b"][0], x.exp())


def test_a_harmonic_function_has_no_laplacian():
    """1 / |x| in three dimensions, |x| = 1.25 away from its pole; log |x| in two."""
    _, gradient, second = func.laplacian(lambda x: 1 / x.norm(), t64([0.75, 0.0, 1.0]))
    assert abs(second.item()) < 1e-14
    close(gradient, -np.array([0.75, 0.0, 1.0]) / 1.25**3)
    assert abs(func.laplacian(lambda x: (x * x).sum().log(), t64([0.3, 0.4]))[2].item()) < 1e-13


def test_laplacian_with_other_transforms():
    net = lambda x: tp.tanh(tp.tanh(x @ W) @ W).sum()
    plain = lambda x: trace(func.hessian(net)(x))
    swept = lambda x: func.laplacian(net, x)[2]
    x, batch = uniform(4), uniform(5, 4, seed=3)
    close(tp.vmap(swept)(batch), tp.vmap(plain)(batch))
    close(func.grad(swept)(x), func.grad(plain)(x))
    close(tp.vmap(func.grad(swept))(batch), tp.vmap(func.grad(plain))(batch))
    close(func.jvp(swept, (x,), (batch[0],))[1], func.jvp(plain, (x,), (batch[0],))[1])
    close(swept_twice(net, x), trace(func.hessian(plain)(x)), 1e-8)
    close(func.laplacian(func.grad(net), x)[2], func.grad(plain)(x))
    close(func.laplacian(lambda x: tp.vmap(lambda b: net(b * x))(batch), x)[2],
          trace(func.hessian(lambda x: tp.vmap(lambda b: net(b * x))(batch))(x)))  # fmt: skip
    close(func.laplacian(lambda x: func.jet(net, (x,), ([x * x, x],))[1][1], x)[2],
          trace(func.hessian(lambda x: func.jet(net, (x,), ([x * x, x],))[1][1])(x)))  # fmt: skip


def swept_twice(f, x):
    """The biharmonic operator."""
    return func.laplacian(lambda y: func.laplacian(f, y)[2], x)[2]


def test_laplacians_train_what_they_are_computed_from():
    w, x = W.clone().requires_grad_(), uniform(4)
    net = lambda x: tp.tanh(tp.tanh(x @ w) @ w).sum()
    (got,) = autograd.grad(func.laplacian(net, x)[2] ** 2, w)
    (want,) = autograd.grad(trace(func.hessian(net)(x)) ** 2, w)
    close(got, want)
    assert not func.laplacian(lambda x: (x * x).sum(), x)[2].requires_grad


def test_writing_in_place_carries_the_laplacian():
    def f(x):
        y = x * 1
        y[0].mul_(x[1])
        y[1] = y[0].exp()
        y[2].zero_()
        return y

    x = uniform(3, 2)
    close(func.laplacian(f, x)[2], trace(hessian_of(f, x)[0]))


# ---- products with the Hessian


def test_hvp_equals_the_hessian_times_the_vector():
    f = lambda x: tp.tanh(x @ W).exp().sum()
    x, v = uniform(4), uniform(4, seed=1)
    close(func.hvp(f, (x,), (v,)), func.hessian(f)(x) @ v)
    close(tp.vmap(lambda v: func.hvp(f, (x,), (v,)))(tp.eye(4, dtype=tp.float64)), func.hessian(f)(x))


def test_hvp_of_several_and_of_nested_arguments():
    f = lambda a, b: (a.exp() * b).sum() * b.sum()
    a, b, u, v = (uniform(3, seed=k) for k in range(4))
    h = func.hessian(f, (0, 1))(a, b)
    found = func.hvp(f, (a, b), (u, v))
    for k in (0, 1):
        close(found[k], h[k][0] @ u + h[k][1] @ v)
    nested = func.hvp(lambda p: f(p["a"], p["b"]), ({"a": a, "b": b},), ({"a": u, "b": v},))
    close(nested["a"], found[0])
    close(nested["b"], found[1])


# ---- what is refused


x3 = tp.ones(3)
WRONG = {
    "laplacian of integers": (ValueError, "floating point", lambda: func.laplacian(tp.sum, tp.tensor([1, 2]))),
    "laplacian of a number": (ValueError, "Tensors only", lambda: func.laplacian(tp.sum, 1.0)),
    "laplacian, result": (RuntimeError, "return only tensors", lambda: func.laplacian(lambda x: 1.0, x3)),
    "diagonal of integers": (ValueError, "floating point", lambda: func.hessian_diag(tp.sum, tp.tensor([1, 2]))),
    "hvp without primals": (RuntimeError, "not empty", lambda: func.hvp(tp.sum, (), ())),
    "hvp of another length": (RuntimeError, "one for each primal, got 2", lambda: func.hvp(tp.sum, (x3,), (x3, x3))),
    "hvp of another shape": (RuntimeError, "shapes", lambda: func.hvp(tp.sum, (x3,), (tp.ones(2),))),
    "hvp of a vector": (RuntimeError, "scalar", lambda: func.hvp(tp.sin, (x3,), (x3,))),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused(name):
    error, message, call = WRONG[name]
    before = set(live_levels)
    with pytest.raises(error, match=message):
        call()
    assert set(live_levels) == before


def test_a_tensor_that_outlives_laplacian_is_refused():
    leaked = []
    func.laplacian(lambda x: leaked.append(x * 2) or x.sum(), x3)
    with pytest.raises(RuntimeError, match="made inside laplacian is used after laplacian has returned"):
        leaked[0] + 1
    c = tp.ones(3)
    with pytest.raises(RuntimeError, match="During a laplacian transform.*mutate a captured Tensor"):
        func.laplacian(lambda x: c.mul_(x), x3)


def test_hessian_diag_says_how_random_functions_are_meant():
    x = tp.tensor([1.0, 2.0], dtype=tp.float64)
    f = lambda x: (x**2).sum() * tp.rand(())
    with pytest.raises(RuntimeError, match="randomness error mode.*hessian_diag"):
        func.hessian_diag(f, x)
    same, each = [func.hessian_diag(f, x, randomness=how).tolist() for how in ("same", "different")]
    assert same[0] == same[1] and each[0] != each[1]
