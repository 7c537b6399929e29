"""Recurrent layers as fused primitives: they are what their definitions, step by step, say."""

import itertools

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.ops.recurrent import CELLS, loop, recurrent

SIZES = {"equal": (3, 3, 3, 3), "packed": (4, 3, 3, 1), "one step": (2,)}
INPUT, HIDDEN, PROJECTED = 3, 4, 2


def arguments(mode, sizes, bias=True, project=False, dtype=tp.float64, seed=0):
    """Tensors for the primitive; None for those that this cell does not have."""
    draw = np.random.default_rng(seed)
    gates, out, most = CELLS[mode].gates * HIDDEN, PROJECTED if project else HIDDEN, max(sizes)
    shapes = [
        (sum(sizes), INPUT), (most, out), (gates, INPUT), (gates, out), (most, HIDDEN) if mode == "LSTM" else None,
        *[(gates,) if bias else None] * 2, (PROJECTED, HIDDEN) if project else None,
    ]  # fmt: skip
    return [None if s is None else tp.tensor(draw.standard_normal(s), dtype=dtype) for s in shapes]


CASES = [
    (mode, kind, reverse, bias, project)
    for mode, kind, reverse, bias, project in itertools.product(
        CELLS, SIZES, (False, True), (True, False), (False, True)
    )
    if (mode == "LSTM" or not project) and (bias or kind == "packed")
]


def some(of_all):
    return [a for a in of_all if a is not None]


def with_nones(some, like):
    left = iter(some)
    return [None if a is None else next(left) for a in like]


def weighed(outputs):
    """A number that depends on every entry of every output differently."""
    return sum((out * (out.detach() * 0 + tp.arange(out.numel()).reshape(out.shape).cos())).sum() for out in outputs)


def close(got, want, tol=1e-10):
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tol, atol=tol)


@pytest.mark.parametrize("mode, kind, reverse, bias, project", CASES)
def test_values_and_gradients_are_those_of_the_definition(mode, kind, reverse, bias, project):
    sizes = SIZES[kind]
    args = [None if a is None else a.requires_grad_() for a in arguments(mode, sizes, bias, project)]
    fused, defined = recurrent(*args, mode, sizes, reverse), loop(*args, mode, sizes, reverse)
    close(fused, defined)
    close(autograd.grad(weighed(fused), some(args)), autograd.grad(weighed(defined), some(args)))


@pytest.mark.parametrize("mode", CELLS)
def test_second_derivatives(mode):
    sizes = SIZES["packed"]
    args = [None if a is None else a.requires_grad_() for a in arguments(mode, sizes, project=mode == "LSTM")]
    found = []
    for function in (recurrent, loop):
        first = autograd.grad(weighed(function(*args, mode, sizes, True)), some(args), create_graph=True)
        second = autograd.grad(sum((g**2).sum() for g in first), some(args), create_graph=True)
        third = autograd.grad(sum((g**2).sum() for g in second), some(args), allow_unused=True)
        found.append([*first, *second, *[g for g in third if g is not None]])
    close(*found, tol=1e-8)


@pytest.mark.parametrize("mode", CELLS)
def test_only_what_is_asked_for_is_computed(mode):
    sizes = SIZES["packed"]
    for i, given in enumerate(arguments(mode, sizes, project=mode == "LSTM")):
        if given is not None:
            args = arguments(mode, sizes, project=mode == "LSTM")
            args[i].requires_grad_()
            close(*[autograd.grad(f(*args, mode, sizes, False)[-1].sum(), args[i]) for f in (recurrent, loop)])


@pytest.mark.parametrize("mode", CELLS)
def test_forward_mode(mode):
    sizes = SIZES["packed"]
    args = arguments(mode, sizes)
    primals, tangents = tuple(some(args)), tuple(some(arguments(mode, sizes, seed=1)))
    found = []
    for function in (recurrent, loop):

        def run(*tensors, function=function):
            return function(*with_nones(tensors, args), mode, sizes, False)

        out, tangent = func.jvp(run, primals, tangents)
        _, twice = func.jvp(lambda *xs, run=run: func.jvp(run, xs, tangents)[1], primals, tangents)
        over_reverse = func.jvp(func.grad(lambda *xs, run=run: weighed(run(*xs))), primals, tangents)[1]
        found.append([*out, *tangent, *twice, over_reverse])
    close(*found)


@pytest.mark.parametrize("mode, batched", [(m, i) for m in CELLS for i in range(8) if m == "LSTM" or i not in (4, 7)])
def test_batches(mode, batched):
    sizes = SIZES["packed"]
    args = arguments(mode, sizes, project=mode == "LSTM")
    rows = tp.stack([args[batched], args[batched] * 0.5, args[batched] + 1])

    def run(x):
        given = [*args[:batched], x, *args[batched + 1 :]]
        return recurrent(*given, mode, sizes, True)

    found = func.vmap(run)(rows)
    close(found, [tp.stack(parts) for parts in zip(*map(run, rows))])
    close([func.vmap(func.grad(lambda x: weighed(run(x))))(rows)],
          [tp.stack([func.grad(lambda x: weighed(run(x)))(row) for row in rows])])  # fmt: skip


def test_a_jacobian_of_many_rows_at_once():
    args = arguments("GRU", (2, 1))

    def run(x):
        return recurrent(x, *args[1:], "GRU", (2, 1), False)[0]

    close([func.jacrev(run)(args[0])], [func.jacfwd(run)(args[0])])


def test_a_state_computed_from_the_input_has_both_paths():
    sizes, args = (2, 2), arguments("RNN_TANH", (2, 2))
    x = args[0].requires_grad_()
    found = []
    for function in (recurrent, loop):
        hidden = (x[:2, :1] ** 2).expand(2, HIDDEN)
        g = autograd.grad(weighed(function(x, hidden, *args[2:], "RNN_TANH", sizes, False)), x, create_graph=True)[0]
        found.append([g, autograd.grad((g**3).sum(), x)[0]])
    close(*found)


@pytest.mark.parametrize("mode", CELLS)
def test_float16_is_computed_in_float32(mode):
    sizes = SIZES["packed"]
    args = [None if a is None else a.requires_grad_() for a in arguments(mode, sizes, dtype=tp.float16)]
    wide = [None if a is None else a.detach().float().requires_grad_() for a in args]
    got, want = recurrent(*args, mode, sizes, False), recurrent(*wide, mode, sizes, False)
    assert all(out.dtype is tp.float16 for out in got)
    close([out.float() for out in got], want, tol=2e-3)
    gradients = autograd.grad(weighed(got), some(args))
    assert all(g.dtype is tp.float16 for g in gradients)
    close([g.float() for g in gradients], autograd.grad(weighed(want), some(wide)), tol=2e-2)


def test_dtypes_are_not_mixed():
    args = arguments("LSTM", (2,))
    with pytest.raises(RuntimeError, match=r"LSTM: .* must have the same dtype, but got .*float32.*float64"):
        recurrent(args[0].float(), *args[1:], "LSTM", (2,), False)


def test_shapes_without_data():
    args = [None if a is None else a.to("meta") for a in arguments("LSTM", (3, 1), project=True)]
    assert [tuple(out.shape) for out in recurrent(*args, "LSTM", (3, 1), False)] == [(4, 2), (3, 2), (3, 4)]


def test_weights_that_were_written_to_are_noticed():
    layer = tp.nn.LSTM(3, 4)
    out, _ = layer(tp.zeros(2, 1, 3))
    with tp.no_grad():
        layer.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_outputs_may_be_written_to():
    args = arguments("GRU", (2, 2))
    args[0].requires_grad_()
    want = autograd.grad(recurrent(*args, "GRU", (2, 2), False)[0].exp().sum(), args[0])
    out = recurrent(*args, "GRU", (2, 2), False)[0]
    close(autograd.grad(out.exp_().sum(), args[0]), want)


def test_saved_tensors_hooks_see_the_inputs():
    args = arguments("LSTM", (2, 2))
    args[3].requires_grad_()
    want = autograd.grad(recurrent(*args, "LSTM", (2, 2), False)[0].sum(), args[3])
    seen = []
    with autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t * 1, lambda t: t):
        out = recurrent(*args, "LSTM", (2, 2), False)[0]
    close(autograd.grad(out.sum(), args[3]), want)
    assert len(seen) == len(some(args))
