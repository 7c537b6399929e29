"""Programs whose loops XLA must not fuse."""

import pytest

import tensorplay as tp
from tensorplay import testing

jax = pytest.importorskip("jax", reason="compiling is JAX's part, which the extra 'xla' installs")


def recurrence(x, w, steps):
    """Gradients of a gated recurrence: each is read by its own step and by the one before."""
    h = tp.zeros_like(x)
    for _ in range(steps):
        z = tp.sigmoid(x + h @ w)
        h = (1 - z) * h + z * tp.tanh(x * h + h @ w + 1)
    return tp.autograd.grad((h * h).sum(), [x, w])


def chain(x, w, steps):
    """Each value is read twice, but in two loops only."""
    z = x.detach()
    for _ in range(steps):
        z = z * x + w[:4]
    return tp.autograd.grad(z.sum(), [x, w])


@pytest.mark.parametrize("function, steps, cut", [(recurrence, 12, True), (recurrence, 1, False), (chain, 12, False)])
@pytest.mark.parametrize("dtype", [tp.float64, tp.float32])
def test_long_recurrences_are_cut_and_keep_their_values(monkeypatch, function, steps, cut, dtype):
    from tensorplay.compiler import fusion

    found = []

    def cuts(jaxpr, original=fusion.cuts):
        found.append(original(jaxpr))
        return found[-1]

    monkeypatch.setattr(fusion, "cuts", cuts)
    tp.manual_seed(0)
    x = tp.randn(4, 8, dtype=dtype, requires_grad=True)
    w = (tp.randn(8, 8, dtype=dtype) * 0.3).requires_grad_()
    got = tp.compile(lambda x, w: function(x, w, steps), fullgraph=True)(x, w)
    for a, b in zip(got, function(x, w, steps)):
        testing.assert_close(a, b, rtol=1e-4 if dtype is tp.float32 else 1e-11, atol=1e-5)
    assert [bool(c) for c in found] == [cut]


def test_no_loop_of_a_cut_program_is_long():
    """Without cuts, the loops of the last steps would compute all of the steps before."""
    from tensorplay.compiler.fusion import LONG, function_of

    def steps(x, w):
        outs = []
        for _ in range(60):
            x = x * w + x
            outs.append(x @ w)
        return outs

    arrays = jax.numpy.ones((4, 4)), jax.numpy.ones((4, 4))
    program = jax.jit(function_of(jax.make_jaxpr(steps)(*arrays))).lower(*arrays).compile().as_text()
    sizes = [part.count("\n") for part in program.split("\n}") if "computation" in part.lstrip().split(" ")[0]]
    assert sizes and max(sizes) < 2 * LONG
