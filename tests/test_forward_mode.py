"""autograd.functional.jvp in both modes, and the rules of forward mode."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.autograd import _forward
from tensorplay.autograd.functional import jvp
from tensorplay.core.primitive import PRIMITIVES
from tensorplay.core.state import live_levels

MODES = ["reversed", "forward"]
modes = pytest.mark.parametrize("mode", MODES)


def randn(*shape, seed=0, dtype=tp.float64):
    r = np.random.default_rng(seed)
    value = r.normal(size=shape) + (1j * r.normal(size=shape) if dtype.is_complex else 0)
    return tp.tensor(value, dtype=dtype)


def close(got, want, tol=1e-10):
    np.testing.assert_allclose(
        got.detach().numpy(), np.asarray(getattr(want, "detach", lambda: want)()), rtol=tol, atol=tol
    )
    assert tuple(got.shape) == np.shape(np.asarray(getattr(want, "detach", lambda: want)()))


@modes
def test_exp_reducer(mode):
    def exp_reducer(x):
        return x.exp().sum(dim=1)

    output, tangent = jvp(exp_reducer, tp.rand(4, 4), tp.ones(4, 4), mode=mode)
    assert output.shape == tangent.shape == (4,)
    assert tp.equal(output, tangent)


@modes
def test_adder(mode):
    def adder(x, y):
        return 2 * x + 3 * y

    output, tangent = jvp(adder, (tp.rand(2), tp.rand(2)), (tp.ones(2), tp.ones(2)), mode=mode)
    assert repr(tangent) == "tensor([5., 5.])"
    assert output.shape == (2,)


FUNCTIONS = {
    "operators": lambda x: (x * x + 2.0 * x - 1.0) / (x * x + 1.0) - (-x) ** 3,
    "methods": lambda x: x.sin().mul(x.exp()).add(x.tanh()).sum(),
    "functions": lambda x: tp.logsumexp(tp.cat([tp.sin(x), tp.cos(x)]), 0),
    "reductions": lambda x: x.prod() + x.mean() * x.max() - x.var(),
    "matrix": lambda x: tp.outer(x, x) @ x,
    "index": lambda x: x[tp.tensor([2, 0, 0])] * x[1],
    "where": lambda x: tp.where(x > 0, x * x, -x),
    "view": lambda x: x.reshape(1, 3).expand(2, 3).T.flip(0),
    "in place": lambda x: x.clone().mul_(x).add_(1.0).sqrt_(),
    "assignment": lambda x: assign(x),
    "cumsum": lambda x: x.cumsum(0) * x,
    "softmax": lambda x: tp.softmax(x, 0) * tp.sigmoid(x),
    "stack": lambda x: tp.stack([x[0], x[2], x.norm()]),
    "cast": lambda x: x.to(tp.float32).to(tp.float64) * x,
    "complex": lambda x: (x * (1 + 2j)).abs(),
    "inner gradient": lambda x: func.grad(lambda y: (y.sin() * x).sum())(x),
    "inner batch": lambda x: tp.vmap(lambda a: a * x)(x),
}


def assign(x):
    y = tp.zeros(4, dtype=x.dtype)
    y[1:] = x * x
    y[0] = x[1] * x[2]
    return y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_mode_equals_reversed_mode_and_difference_quotients(name):
    f, x, v = FUNCTIONS[name], randn(3), randn(3, seed=1)
    (out, tangent), (out2, tangent2) = (jvp(f, x, v, mode=mode) for mode in MODES)
    close(out, out2)
    close(tangent, tangent2)
    if name != "cast":
        h = 1e-6
        quotient = (f(x + h * v).detach().numpy() - f(x - h * v).detach().numpy()) / (2 * h)
        close(tangent, quotient, 1e-6)


@modes
def test_structure_of_the_output_is_mirrored(mode):
    x, v = randn(3), randn(3, seed=1)
    out, tangent = jvp(lambda x: (x * 2, (x**2).sum()), x, v, mode=mode)
    assert type(out) is type(tangent) is tuple and len(out) == len(tangent) == 2
    close(tangent[0], 2 * v)
    close(tangent[1], (2 * x * v).sum())
    out, tangent = jvp(lambda x: {"a": [x * 2], "b": x}, x, v, mode=mode)
    assert list(tangent) == ["a", "b"] and type(tangent["a"]) is list
    close(tangent["a"][0], 2 * v)


@modes
def test_inputs_may_be_nested(mode):
    x, y, v, w = randn(3), randn(3, seed=1), randn(3, seed=2), randn(3, seed=3)
    want = v * y + x * w
    close(jvp(lambda a, b: a * b, (x, y), (v, w), mode=mode)[1], want)
    close(jvp(lambda a, b: a * b, [x, y], [v, w], mode=mode)[1], want)
    close(jvp(lambda d: d["a"] * d["b"], {"a": x, "b": y}, {"b": w, "a": v}, mode=mode)[1], want)
    close(jvp(lambda d, b: d["a"] * b, ({"a": x}, y), ({"a": v}, w), mode=mode)[1], want)


@modes
def test_v_may_be_left_out_for_a_single_element(mode):
    assert jvp(lambda x: x * x, tp.tensor(3.0), mode=mode)[1].item() == 6.0
    close(jvp(lambda x: x * x, tp.tensor([3.0]), mode=mode)[1], [6.0])
    with pytest.raises(RuntimeError, match="v can only be None if the input"):
        jvp(lambda x: x * x, randn(2), mode=mode)
    with pytest.raises(RuntimeError, match="v can only be None if the input"):
        jvp(lambda x, y: x * y, (tp.tensor(1.0), tp.tensor(2.0)), mode=mode)


BAD = [
    (RuntimeError, r"v is a tuple of invalid length: should be 2 but got 1", (randn(2), randn(2)), (randn(2),)),
    (RuntimeError, r"v is a tuple of invalid length: should be 2 but got 1", (randn(2), randn(2)), randn(2)),
    (
        RuntimeError,
        r"Entry 1 in v has invalid size: should be \[2\] but got \[3\]",
        (randn(2), randn(2)),
        (randn(2), randn(3)),
    ),
    (RuntimeError, r"v has invalid size: should be \[2\] but got \[1\]", randn(2), randn(1)),
    (RuntimeError, r"real or both complex", randn(2), randn(2, dtype=tp.complex128)),
    (RuntimeError, r"real or both complex", randn(2, dtype=tp.complex128), randn(2)),
    (TypeError, r"inputs given to jvp must be either a Tensor or a tuple of Tensors", 3.0, None),
    (TypeError, r"inputs given to jvp .* value at index 1 has type", (randn(2), 3.0), None),
    (TypeError, r"v given to jvp must be either a Tensor", randn(2), 3.0),
    (RuntimeError, r"floating point and complex dtype", tp.tensor([1, 2]), tp.tensor([1, 2])),
]


@modes
@pytest.mark.parametrize("error, message, inputs, v", BAD)
def test_bad_arguments_are_named(mode, error, message, inputs, v):
    with pytest.raises(error, match=message):
        jvp(lambda *xs: xs[0] * 2, inputs, v, mode=mode)


@modes
def test_bad_outputs_are_named(mode):
    with pytest.raises(TypeError, match="outputs of the user-provided function given to jvp must be either a Tensor"):
        jvp(lambda x: 3.0, randn(2), randn(2), mode=mode)
    with pytest.raises(TypeError, match="value at index 1 has type"):
        jvp(lambda x: (x, 3.0), randn(2), randn(2), mode=mode)


@pytest.mark.parametrize("mode", ["reverse", "backward", "", None, 1])
def test_another_mode_is_refused(mode):
    with pytest.raises(ValueError, match="mode must be 'reversed' or 'forward'"):
        jvp(lambda x: x, randn(2), randn(2), mode=mode)


@modes
def test_v_takes_the_dtype_of_the_inputs(mode):
    out, tangent = jvp(lambda x: x * x, randn(2, dtype=tp.float32), tp.ones(2, dtype=tp.float64), mode=mode)
    assert out.dtype == tangent.dtype == tp.float32


@modes
def test_no_graph_unless_asked_for(mode):
    W, x = randn(3, 3).requires_grad_(), randn(3).requires_grad_()
    out, tangent = jvp(lambda x: tp.tanh(W @ x), x, randn(3, seed=1).requires_grad_(), mode=mode)
    assert not out.requires_grad and not tangent.requires_grad
    assert out.grad_fn is None and tangent.grad_fn is None


def test_forward_mode_records_nothing_unless_asked_for():
    W, seen = randn(3, 3).requires_grad_(), []
    jvp(lambda x: seen.append((W @ x).requires_grad) or x, randn(3), randn(3), mode="forward")
    jvp(lambda x: seen.append((W @ x).requires_grad) or x, randn(3), randn(3), mode="forward", create_graph=True)
    assert seen == [False, True]


@modes
def test_create_graph_makes_output_and_result_differentiable(mode):
    W, x, v = randn(3, 3).requires_grad_(), randn(3).requires_grad_(), randn(3, seed=1).requires_grad_()
    f = lambda x: tp.tanh(W @ x)
    out, tangent = jvp(f, x, v, create_graph=True, mode=mode)
    gx, gw, gv = autograd.grad((tangent**2).sum() + out.sum(), (x, W, v))

    def loss(x, W, v):
        y, t = func.jvp(lambda x: tp.tanh(W @ x), (x,), (v,))
        return (t**2).sum() + y.sum()

    for got, want in zip((gx, gw, gv), func.grad(loss, argnums=(0, 1, 2))(x.detach(), W.detach(), v.detach())):
        close(got, want)


@modes
def test_second_and_third_order(mode):
    d = lambda f: lambda x: jvp(f, x, tp.ones_like(x), create_graph=True, mode=mode)[1]
    f = lambda x: x**4
    x = tp.tensor(2.0, dtype=tp.float64)
    assert [g(x).item() for g in (d(f), d(d(f)), d(d(d(f))))] == [32.0, 48.0, 48.0]


@modes
def test_no_dependence_is_zero_or_an_error_in_strict_mode(mode):
    x, y, v = randn(3), randn(3, seed=1), randn(3, seed=2)
    out, tangent = jvp(lambda x, y: (x * 2, tp.ones(2)), (x, y), (v, v), mode=mode)
    close(tangent[0], 2 * v)
    close(tangent[1], [0.0, 0.0])
    with pytest.raises(RuntimeError, match="Output 1 of the user-provided function does not require gradients"):
        jvp(lambda x, y: (x * y, tp.ones(2)), (x, y), (v, v), strict=True, mode=mode)
    with pytest.raises(
        RuntimeError, match="output of the user-provided function is independent of input 1. This is not"
    ):
        jvp(lambda x, y: x * 2, (x, y), (v, v), strict=True, mode=mode)
    for create_graph in (False, True):
        inputs = (x.requires_grad_(), y)
        out, tangent = jvp(lambda x, y: x * y, inputs, (v, v), strict=True, create_graph=create_graph, mode=mode)
        close(tangent, v * y + x * v)
        assert tangent.requires_grad == create_graph


@modes
def test_complex_functions(mode):
    z, v = randn(3, dtype=tp.complex128), randn(3, seed=1, dtype=tp.complex128)
    close(jvp(lambda z: z * z, z, v, mode=mode)[1], 2 * z * v)
    close(jvp(lambda z: z.conj() * 2, z, v, mode=mode)[1], 2 * v.conj())
    close(jvp(lambda z: z.real, z, v, mode=mode)[1], v.real)


@modes
def test_inputs_stay_as_they_were(mode):
    x, v = randn(3).requires_grad_(), randn(3, seed=1)
    x0, v0 = x.detach().numpy().copy(), v.numpy().copy()
    jvp(lambda x: (x * 1).mul_(2).sin_(), x, v, mode=mode)
    close(x, x0)
    close(v, v0)
    assert x.grad is None and x.requires_grad and x.is_leaf


def test_forward_mode_calls_the_function_once():
    calls = []
    jvp(lambda x: calls.append(1) or x * x, randn(3), randn(3), mode="forward")
    jvp(lambda x: calls.append(1) or x * x, randn(3), randn(3), mode="forward", strict=True)
    assert len(calls) == 2


def test_an_exception_ends_the_level():
    def fails(x):
        raise KeyError("mine")

    before = set(live_levels)
    for strict in (False, True):
        with pytest.raises(KeyError):
            jvp(fails, randn(3), randn(3), mode="forward", strict=strict)
    assert live_levels == before


def test_every_differentiable_primitive_has_a_forward_rule_of_its_own():
    rules = _forward.forward_rules()
    assert set(rules) == {name for name, p in PRIMITIVES.items() if p.differentiable}
    assert [name for name, how in rules.items() if how != "rule"] == []
    assert _forward.has_forward_rule("mul") and not _forward.has_forward_rule("zeros_like")
    with pytest.raises(KeyError):
        _forward.has_forward_rule("no such primitive")


def test_a_primitive_without_a_forward_rule_goes_by_the_transpose_of_its_reverse_rule():
    x, v = randn(2, 3), randn(2, 3, seed=1)
    for name, attrs, f in (("reshape", ((3, 2),), lambda x: x.reshape(3, 2)), ("sum_to", ((3,),), lambda x: x.sum(0))):
        from tensorplay.core.transpose import tangent

        close(tangent(PRIMITIVES[name], [v], [x], attrs), f(v))


def ctc(scores):
    return tp.nn.functional.ctc_loss(scores, tp.tensor([[1, 2]]), tp.tensor([5]), tp.tensor([2]))


def test_second_derivatives_of_a_composed_rule_agree_in_all_orders_of_the_modes():
    x = randn(5, 1, 3).log_softmax(2)
    want = func.jacrev(func.jacrev(ctc))(x)
    for outer in (func.jacfwd, func.jacrev):
        for inner in (func.jacfwd, func.jacrev):
            close(outer(inner(ctc))(x), want)


def test_a_composed_rule_leaves_no_history():
    x = randn(5, 1, 3).log_softmax(2)
    assert not any(t.requires_grad for t in func.jvp(ctc, (x,), (x,)))


@pytest.mark.parametrize(
    "f, slope",
    [
        (lambda x: x - x.int(), 1.0), (lambda x: x.long() * x, 1.0), (lambda x: x.bool().to(x.dtype) + 2 * x, 2.0),
        (lambda x: tp.zeros(1, dtype=tp.int64).copy_(x) * x, 1.0), (lambda x: x.to(tp.uint8).float(), 0.0),
    ],
)  # fmt: skip
def test_what_was_rounded_to_integers_does_not_move(f, slope):
    x = tp.tensor([1.5])
    assert tp.func.jvp(f, (x,), (tp.ones(1),))[1].tolist() == [slope]
    assert tp.func.jacfwd(f)(x).tolist() == [[slope]]
    assert tp.func.jet(f, (x,), ((tp.ones(1),),))[1][0].tolist() == [slope]
    assert tp.func.laplacian(lambda x: (f(x) * x).sum(), x)[2].item() == 2 * slope


def test_a_tangent_that_passes_through_is_not_the_one_that_was_given():
    given = tp.ones(3)
    _, tangent = tp.func.jvp(lambda x: x + 1, (tp.zeros(3),), (given,))
    tangent.zero_()
    assert given.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "f, slope",
    [
        (lambda x: x.detach() * x, 3), (lambda x: x.data * x, 3), (lambda x: (x * 1).detach_() * x, 3),
        (lambda x: x * x, 6),
    ],
)  # fmt: skip
def test_data_are_without_tangents(f, slope):
    x, v = tp.tensor([3.0]), tp.ones(1)
    assert tp.func.jvp(f, (x,), (v,))[1].tolist() == [slope]
    assert tp.vmap(lambda x: tp.func.jvp(f, (x,), (tp.ones(()),))[1])(x).tolist() == [slope]
    assert tp.func.jvp(tp.vmap(f), (x,), (v,))[1].tolist() == [slope]
    assert tp.func.grad(lambda x: f(x).sum())(x).tolist() == [slope]
