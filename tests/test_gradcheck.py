"""gradcheck and gradgradcheck: what is right passes, and each kind of mistake is found and shown."""

import importlib

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import GradcheckError, gradcheck, gradgradcheck
from tensorplay.core.namespace import R
from tensorplay.core.primitive import PRIMITIVES, elementwise, primitive

module = importlib.import_module("tensorplay.autograd.gradcheck")

EVERYTHING = dict(
    check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True, check_grad_dtypes=True
)


def randn(*shape, seed=0, complex=False):
    r = np.random.default_rng(seed)
    return tp.tensor(r.normal(size=shape) + (1j * r.normal(size=shape) if complex else 0.0)).requires_grad_()


RIGHT = {
    "one input": (lambda x: x.sin() * x, (randn(3),)),
    "matrices": (lambda x, y: x @ y, (randn(2, 3), randn(3, 2, seed=1))),
    "broadcast": (lambda x, y: x * y, (randn(2, 1), randn(3, seed=1))),
    "several outputs": (lambda x: (x.exp(), x.sum(), x > 0), (randn(3),)),
    "constants among the inputs": (lambda x, n, y: (x * y.detach()) ** n, (randn(3), 2, tp.ones(3, dtype=tp.float64))),
    "scalar": (lambda x: x**3, (randn(),)),
    "empty": (lambda x: x * 2, (randn(0, 3),)),
    "complex": (lambda z: z.exp() * z, (randn(3, complex=True),)),
    "not holomorphic": (lambda z: z.conj() * z.abs(), (randn(3, complex=True),)),
    "complex to real": (lambda z: (z * z.conj()).real, (randn(3, complex=True),)),
    "real to complex": (lambda x: x * (1 + 2j), (randn(3),)),
    "strided": (lambda x: x * x, (tp.tensor(np.arange(6.0).reshape(2, 3)).T.requires_grad_(),)),
    "constant output": (lambda x: (x * 2, tp.ones(2, dtype=tp.float64)), (randn(3),)),
    "detached output in front": (lambda x: ((x * 2).detach(), x * x), (randn(3),)),
    "output of integers": (lambda x: (x * x, x.long()), (randn(3),)),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("fast", [False, True])
def test_right_derivatives_pass(name, fast):
    f, inputs = RIGHT[name]
    assert gradcheck(f, inputs, fast_mode=fast, **EVERYTHING) is True
    assert gradgradcheck(f, inputs, fast_mode=fast, check_fwd_over_rev=True, check_batched_grad=True) is True


def test_a_single_tensor_need_not_be_in_a_tuple():
    assert gradcheck(lambda x: x * x, randn(3)) and gradgradcheck(lambda x: x**3, [randn(3)])


def test_cotangents_may_be_given():
    x, u = randn(3), randn(3, seed=1)
    assert gradgradcheck(lambda x: x**3, (x,), (u,))
    assert gradgradcheck(lambda x: x**3, (x,), u, gen_non_contig_grad_outputs=True)
    assert gradgradcheck(lambda x: x**3, (x,), gen_non_contig_grad_outputs=True)


def test_the_inputs_stay_as_they_were():
    x = randn(3)
    before = x.detach().numpy().copy()
    version = x._version
    gradcheck(lambda x: x.exp(), (x,), **EVERYTHING)
    np.testing.assert_array_equal(x.detach().numpy(), before)
    assert x.grad is None and x._version == version


# Operators with mistakes: each is right but for one rule.
cube = {"vjp": {"input": lambda F, g, input: g * 3 * input * input}}
tangent = {"input": lambda F, t, input: t * 3 * input * input}
wrong_reverse = elementwise(
    "wrong_reverse", lambda xp, input: input**3, vjp={"input": lambda F, g, input: g * 2 * input}, jvp=tangent
)
wrong_forward = elementwise(
    "wrong_forward", lambda xp, input: input**3, **cube, jvp={"input": lambda F, t, input: t * 2.0}
)
ignores_cotangent = elementwise(
    "ignores_cotangent", lambda xp, input: input.copy(), vjp={"input": lambda F, g: F.ones_like(g)}, jvp="linear"
)
DRAWS = np.random.default_rng(0)
not_reentrant = elementwise(
    "not_reentrant",
    lambda xp, input: input**3,
    jvp=tangent,
    vjp={"input": lambda F, g, input: g * 3 * input * input * (1 + 1e-9 * DRAWS.normal())},
)
wrong_batch = primitive(
    "wrong_batch",
    lambda xp, input: input**3,
    jvp=tangent,
    vjp={"input": lambda F, g, input: F.wrong_batch_of_gradient(g) * 3 * input * input},
    batch="same",
)
wrong_batch_of_gradient = primitive(
    "wrong_batch_of_gradient",
    lambda xp, input: input * 1,
    vjp={"input": lambda F, g: g},
    jvp="linear",
    batch=lambda p, values, dims: values[0] * 2,
)
wrong_second = elementwise(
    "wrong_second", lambda xp, input: input**3, vjp={"input": lambda F, g, input: g * F.slope(input)}
)
slope = elementwise("slope", lambda xp, input: 3 * input**2, vjp={"input": lambda F, g, input: g * 5 * input})
narrow = primitive(
    "narrow_gradient",
    lambda xp, input: input * 1.0,
    jvp="linear",
    batch="same",
    vjp={"input": lambda F, g: g.astype(np.float32) if isinstance(g, np.ndarray) else F.cast(g, np.dtype(np.float32))},
)

OWN = (
    "wrong_reverse",
    "wrong_forward",
    "ignores_cotangent",
    "not_reentrant",
    "wrong_batch",
    "wrong_batch_of_gradient",
    "wrong_second",
    "slope",
    "narrow_gradient",
    "undefined_grads",
)


def several_vjp(F, g, needs):
    if g[0] is None or g[1] is None:
        raise KeyError("both, please")
    return (g[0] * 2 + g[1] * 3,)


undefined = primitive(
    "undefined_grads", lambda xp, input: (input * 2, input * 3), vjp=several_vjp, jvp="linear", batch="same", outputs=2
)
for name in OWN:  # the rules find one another in the namespaces; nobody else is to find them among the operators
    getattr(R, name)
    del PRIMITIVES[name]

WRONG = {
    "reverse": (
        wrong_reverse,
        {},
        r"Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor(.|\n)*analytical:",
    ),
    "reverse, fast": (wrong_reverse, {"fast_mode": True}, "Jacobian mismatch for output 0 with respect to input 0"),
    "forward": (wrong_forward, {"check_forward_ad": True}, "Jacobian computed with forward mode mismatch for output 0"),
    "forward, fast": (
        wrong_forward,
        {"check_forward_ad": True, "fast_mode": True},
        "computed with forward mode mismatch",
    ),
    "a cut": (lambda x: x * x.detach(), {}, "Jacobian mismatch"),
    "no graph": (lambda x: (x * x).detach(), {}, "Numerical gradient for function expected to be zero"),
    "cotangent ignored": (lambda x: ignores_cotangent(x).sum(), {}, "backward not multiplied by grad_output"),
    "not reentrant": (not_reentrant, {}, "Backward is not reentrant"),
    "batch": (wrong_batch, {"check_batched_grad": True}, "batched gradients differ"),
    "undefined": (undefined, {}, "handle undefined output grads"),
    "dtype": (narrow, {"check_grad_dtypes": True}, "Gradient has dtype mismatch: tensorplay.float32 for input 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_are_found(name):
    f, options, message = WRONG[name]
    with pytest.raises(GradcheckError, match=message):
        gradcheck(f, (randn(2),), **options)
    assert gradcheck(f, (randn(2),), raise_exception=False, **options) is False


def test_the_report_shows_both_jacobians():
    with pytest.raises(GradcheckError) as error:
        gradcheck(wrong_reverse, (tp.tensor([1.0, 2.0], dtype=tp.float64, requires_grad=True),))
    text = str(error.value)
    assert "[ 3.0000,  0.0000]" in text and "[2., 0.]" in text and "largest difference is 8.000e+00" in text


def test_a_mistake_in_the_second_derivative_is_found():
    assert gradcheck(wrong_second, (randn(2),))
    for options in ({}, {"fast_mode": True}, {"check_fwd_over_rev": True, "check_rev_over_rev": False}):
        with pytest.raises(GradcheckError, match="mismatch"):
            gradgradcheck(wrong_second, (randn(2),), **options)
        assert gradgradcheck(wrong_second, (randn(2),), raise_exception=False, **options) is False


def test_what_is_not_asked_is_not_checked():
    assert gradcheck(wrong_forward, (randn(2),))
    assert gradcheck(wrong_reverse, (randn(2),), check_backward_ad=False, check_forward_ad=True)
    assert gradcheck(not_reentrant, (randn(2),), nondet_tol=1e-6)
    assert gradcheck(undefined, (randn(2),), check_undefined_grad=False)


BAD = [
    (ValueError, "at least one input tensor to require gradient", lambda: gradcheck(lambda x: x, (tp.ones(2),))),
    (
        ValueError,
        "at least one of check_forward_ad or check_backward_ad",
        lambda: gradcheck(lambda x: x, (randn(2),), check_backward_ad=False),
    ),
    (
        ValueError,
        "check_batched_grad=True requires",
        lambda: gradcheck(
            lambda x: x, (randn(2),), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True
        ),
    ),
    (
        ValueError,
        "check_batched_forward_grad=True requires",
        lambda: gradcheck(lambda x: x, (randn(2),), check_batched_forward_grad=True),
    ),
    (
        ValueError,
        "at least one of check_fwd_over_rev",
        lambda: gradgradcheck(lambda x: x, (randn(2),), check_rev_over_rev=False),
    ),
    (
        RuntimeError,
        "input has a dimension with stride 0",
        lambda: gradcheck(lambda x: x * 1, (tp.ones(1, dtype=tp.float64).expand(3).requires_grad_(),)),
    ),
]


@pytest.mark.parametrize("i", range(len(BAD)))
def test_bad_arguments_are_named(i):
    error, message, call = BAD[i]
    with pytest.raises(error, match=message):
        call()


def test_single_precision_is_warned_about():
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(lambda x: x * 2, (tp.ones(2, requires_grad=True),), eps=1e-2, atol=1e-2)


def test_an_error_of_the_function_is_its_own():
    def fails(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        gradcheck(fails, (randn(2),), raise_exception=False)


def test_under_no_grad():
    with tp.no_grad():
        assert gradcheck(lambda x: x * x, (randn(3),)) and gradgradcheck(lambda x: x**3, (randn(3),))
        assert not tp.is_grad_enabled()


def test_jacobians_one_by_one():
    x = randn(3)
    f = lambda x: x.outer(x)[:, :2]
    numerical = module.get_numerical_jacobian(lambda inputs: f(*inputs), (x,), eps=1e-6)
    analytical, reentrant, sizes, types = module.get_analytical_jacobian((x,), f(x))
    assert tuple(numerical[0].shape) == (3, 6) and reentrant and sizes and types
    np.testing.assert_allclose(numerical[0].numpy(), analytical[0].numpy(), atol=1e-8)
    square = lambda inputs: inputs[1] * inputs[1]
    (second,) = module.get_numerical_jacobian_wrt_specific_input(square, 1, (2.0, x), (x * x,), 1e-6)
    np.testing.assert_allclose(second.numpy(), np.diag(2 * x.detach().numpy()), atol=1e-8)
