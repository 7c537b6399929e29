"""Elementwise operators beyond tables of samples: dtypes, kinks, zero, errors, Python's operators, in place."""

import math
import operator

import numpy as np
import pytest
from harness import randn

import tensorplay as tp
from tensorplay.func import grad, jvp

INT, FLOAT, COMPLEX = tp.tensor([1, 2]), tp.tensor([1.0, 2.0]), tp.tensor([1 + 1j, 2.0])
BOOL, BYTE = tp.tensor([True, False]), tp.tensor([250, 3], dtype=tp.uint8)
nan, inf = math.nan, math.inf


def derivatives(f, x, orders, forward):
    """f and its first derivatives at a point, all by reverse mode, all by forward mode, or in turns."""
    values = []
    for k in range(orders + 1):
        values.append(float(f(tp.tensor(x, dtype=tp.float64))))
        f = by_jvp(f) if forward is True or (forward is None and k % 2 == 0) else grad(f)
    return values


def by_jvp(f):
    return lambda x: jvp(f, (x,), (tp.ones_like(x),))[1]


MODES = pytest.mark.parametrize("forward", [False, True, None], ids=["reverse", "forward", "in turns"])


# ---- derivatives of every order


@MODES
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 2.0])
def test_powers_have_all_derivatives_at_zero(n, forward):
    want = [0.0] * 7
    want[int(n)] = float(math.factorial(int(n)))
    assert derivatives(lambda x: x**n, 0.0, 6, forward) == want


@MODES
@pytest.mark.parametrize("n", [0.0, 1.0, 2.0, 3.0])
def test_powers_with_a_tensor_exponent_have_all_derivatives_at_zero(n, forward):
    exponent, want = tp.tensor(n, dtype=tp.float64), [0.0] * 6
    want[int(n)] = float(math.factorial(int(n)))
    assert derivatives(lambda x: tp.pow(x, exponent), 0.0, 5, forward) == want


@MODES
@pytest.mark.parametrize(
    "f, want",
    [
        (tp.sinc, [1, 0, -(math.pi**2) / 3, 0, math.pi**4 / 5, 0, -(math.pi**6) / 7]),
        (tp.special.spherical_bessel_j0, [1, 0, -1 / 3, 0, 1 / 5, 0, -1 / 7]),
        (tp.special.bessel_j1, [0, 1 / 2, 0, -3 / 8, 0, 5 / 16]),
        (tp.special.i1, [0, 1 / 2, 0, 3 / 8, 0, 5 / 16]),
        (tp.special.erfcx, [1, -2 / math.sqrt(math.pi), 2, -8 / math.sqrt(math.pi), 12]),
        (lambda x: tp.exp2(x), [math.log(2) ** k for k in range(6)]),
        (lambda x: 2.0**x, [math.log(2) ** k for k in range(6)]),
        (lambda x: tp.special.chebyshev_polynomial_t(x, 4), [1, 0, -16, 0, 192, 0, 0]),
    ],
)  # fmt: skip
def test_series_at_zero(f, want, forward):
    np.testing.assert_allclose(derivatives(f, 0.0, len(want) - 1, forward), want, rtol=1e-6, atol=1e-7)


def test_the_power_rule_holds_in_the_exponent_at_a_base_of_zero():
    base, exponent = tp.zeros(3, requires_grad=True), tp.tensor([1.0, 2.0, 0.5], requires_grad=True)
    tp.pow(base, exponent).sum().backward()
    assert exponent.grad.tolist() == [0.0, 0.0, 0.0]
    assert base.grad.tolist() == [1.0, 0.0, inf]


# ---- kinks: subgradients


@pytest.mark.parametrize(
    "f, x, want",
    [
        (tp.abs, 0.0, 0.0),
        (tp.sign, 0.0, 0.0),
        (lambda x: tp.maximum(x, tp.ones(())), 1.0, 0.5),
        (lambda x: tp.minimum(tp.ones(()), x), 1.0, 0.5),
        (lambda x: tp.fmax(x, tp.ones(())), 1.0, 1.0),
        (lambda x: tp.fmin(tp.ones(()), x), 1.0, 0.0),
        (lambda x: tp.fmax(x, tp.tensor(nan)), 1.0, 1.0),
        (lambda x: tp.clamp(x, 1, 2), 1.0, 1.0),
        (lambda x: tp.clamp(x, 0, 1), 1.0, 1.0),
        (lambda x: tp.clamp(x, max=tp.ones(())), 1.0, 1.0),
        (lambda x: tp.clamp(x, 2, 3), 1.0, 0.0),
        (lambda x: tp.nan_to_num(x), nan, 0.0),
        (lambda x: tp.frac(x), 2.0, 1.0),
        (lambda x: tp.round(x), 0.5, 0.0),
        (lambda x: tp.where(x > 0, x, 0 * x), 0.0, 0.0),
        (lambda x: tp.copysign(x, tp.tensor(-1.0)), 0.0, 0.0),
        (lambda x: tp.xlogy(x, tp.zeros(())), 0.0, 0.0),
        (lambda x: tp.remainder(x, 2), 4.0, 1.0),
        (lambda x: 5 % x, 2.0, -2.0),
        (lambda x: tp.floor_divide(x, 2), 4.0, 0.0),
    ],
)
def test_subgradient(f, x, want):
    x = tp.tensor(x, requires_grad=True)
    (got,) = tp.autograd.grad(f(x), x)
    assert float(got) == want


def test_the_sign_of_a_complex_number_has_no_gradient_at_zero():
    z = tp.zeros(1, dtype=tp.complex64, requires_grad=True)
    for f in (tp.abs, tp.angle, lambda z: tp.sgn(z).real):
        (got,) = tp.autograd.grad(f(z).sum(), z)
        assert got.tolist() == [0]


# ---- dtypes


@pytest.mark.parametrize(
    "call, dtype",
    [
        (lambda: INT + 1.5, "float32"),
        (lambda: INT / 2, "float32"),
        (lambda: INT // 2, "int64"),
        (lambda: INT**2, "int64"),
        (lambda: INT**2.0, "float32"),
        (lambda: FLOAT * 1j, "complex64"),
        (lambda: FLOAT.to(tp.float64) + tp.tensor(1j), "complex128"),
        (lambda: FLOAT + tp.tensor(1.0, dtype=tp.float64), "float32"),
        (lambda: FLOAT.to(tp.bfloat16) * 2.5, "bfloat16"),
        (lambda: FLOAT.to(tp.bfloat16) + FLOAT.to(tp.float16), "float32"),
        (lambda: BOOL + BOOL, "bool"),
        (lambda: BOOL + 1, "int64"),
        (lambda: BYTE + 1, "uint8"),
        (lambda: BYTE + INT, "int64"),
        (lambda: tp.square(BOOL), "int64"),
        (lambda: tp.abs(COMPLEX), "float32"),
        (lambda: tp.angle(INT), "float32"),
        (lambda: tp.sin(INT), "float32"),
        (lambda: tp.floor(INT), "int64"),
        (lambda: tp.clamp(INT, min=1.5), "float32"),
        (lambda: tp.where(BOOL, 1, 2), "int64"),
        (lambda: tp.where(BOOL, 1.0, 2), "float32"),
        (lambda: tp.where(BOOL, INT, tp.tensor(2.0)), "float32"),
        (lambda: tp.float_power(INT, 2), "float64"),
        (lambda: INT == 1, "bool"),
        (lambda: ~BYTE, "uint8"),
        (lambda: FLOAT.to(tp.float16).sigmoid(), "float16"),
        (lambda: FLOAT.to(tp.bfloat16).lgamma(), "bfloat16"),
        (lambda: tp.ldexp(FLOAT.to(tp.float16), INT), "float16"),
        (lambda: tp.frexp(FLOAT).exponent, "int32"),
    ],
)
def test_dtype_of_the_result(call, dtype):
    assert call().dtype is getattr(tp, dtype)


@pytest.mark.parametrize(
    "call, want",
    [
        (lambda: BYTE + 10, [4, 13]),
        (lambda: BYTE * 2, [244, 6]),
        (lambda: -BYTE, [6, 253]),
        (lambda: BYTE + 300, [38, 47]),
        (lambda: tp.tensor([-7, 7]) // tp.tensor([2, -2]), [-4, -4]),
        (lambda: tp.tensor([-7, 7]) % tp.tensor([2, -2]), [1, -1]),
        (lambda: tp.fmod(tp.tensor([-7, 7]), 2), [-1, 1]),
        (lambda: tp.div(tp.tensor([-7, 7]), 2, rounding_mode="trunc"), [-3, 3]),
        (lambda: tp.pow(tp.tensor([2, 1, -1, -1]), tp.tensor([-1, -1, -1, -2])), [0, 1, -1, 1]),
        (lambda: tp.tensor([1, 1]) << tp.tensor([64, -1]), [0, 0]),
        (lambda: tp.tensor([-8, 8]) >> tp.tensor([64, 64]), [-1, 0]),
        (lambda: BOOL & True, [True, False]),
        (lambda: BOOL ^ BOOL, [False, False]),
        (lambda: 7 // tp.tensor([2, -2]), [3, -4]),
        (lambda: tp.sign(tp.tensor([nan, -0.0])), [0.0, 0.0]),
        (lambda: tp.clamp(BYTE, -1, 300), [250, 3]),
        (lambda: tp.tensor([5.0, -5.0]) // 0, [inf, -inf]),
        (lambda: tp.heaviside(tp.tensor([nan, -1.0]), tp.tensor([0.5])), [0.0, 0.0]),
    ],
)
def test_values_of_integers_and_edges(call, want):
    assert call().tolist() == want


# ---- Python's operators


class Foreign:
    def __radd__(self, other):
        return "radd"

    def __rmul__(self, other):
        return "rmul"

    def __lt__(self, other):
        return "lt"

    def __rpow__(self, other):
        return "rpow"


def test_a_foreign_type_has_its_turn():
    assert FLOAT + Foreign() == "radd"
    assert FLOAT * Foreign() == "rmul"
    assert (FLOAT > Foreign()) == "lt"
    assert FLOAT ** Foreign() == "rpow"


@pytest.mark.parametrize("other", [None, "a", [1.0, 2.0], object()])
def test_comparison_with_what_is_no_number_is_false(other):
    assert (FLOAT == other) is False
    assert (FLOAT != other) is True
    for f in (operator.lt, operator.add):
        with pytest.raises(TypeError):
            f(FLOAT, other)


def test_tensors_are_keys_by_identity():
    assert {FLOAT: 1}[FLOAT] == 1
    assert hash(FLOAT) != hash(tp.tensor([1.0, 2.0]))


def test_arrays_and_their_scalars_are_operands_on_both_sides():
    array = np.array([10.0, 20.0], np.float32)
    for result in (FLOAT + array, array + FLOAT, FLOAT * np.float64(2), np.float64(2) * FLOAT):
        assert isinstance(result, tp.Tensor) and result.dtype is tp.float32
    assert (array - FLOAT).tolist() == [9.0, 18.0]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
def test_numbers_on_either_side_are_recorded(name):
    f = getattr(operator, name)
    for call in (lambda x: f(x, 2.5), lambda x: f(2.5, x), lambda x: f(x, x)):
        x = tp.tensor(np.abs(randn(3)) + 1, requires_grad=True)
        assert tp.autograd.gradcheck(call, [x])


def test_a_step_of_a_loop_reads_as_in_the_formula():
    x = tp.tensor([1.0, 2.0])
    alias = x
    x += 1
    x *= tp.tensor([2.0, 3.0])
    x -= 1.0
    x /= 2
    x **= 2
    x //= 1
    x %= 5
    assert x is alias and x.tolist() == [2.0, 1.0] and x._version == 7
    bits = tp.tensor([12, 10])
    bits &= 6
    bits |= 1
    bits ^= 3
    bits <<= 2
    bits >>= 1
    assert bits.tolist() == [12, 0]


# ---- in place


def test_in_place_results_keep_memory_dtype_and_count_versions():
    x = tp.arange(6.0).reshape(2, 3)
    row, pointer = x[1], x.data_ptr()
    for step in (
        lambda: x.mul_(2), lambda: x.add_(tp.ones(3), alpha=0.5), lambda: x.sub_(1), lambda: x.exp_(),
        lambda: x.clamp_(0, 2), lambda: x.addcmul_(tp.ones(3), x, value=0.1), lambda: x.addcdiv_(tp.ones(3), x + 1),
        lambda: x.lerp_(tp.zeros(2, 3), 0.1), lambda: x.maximum(x).sqrt_(), lambda: x.eq_(x), lambda: x.pow_(2),
    ):  # fmt: skip
        before = x._version
        step()
        assert x._version in (before, before + 1)
    assert x.data_ptr() == pointer and x.dtype is tp.float32
    assert row.tolist() == x[1].tolist()
    assert x._version == 10


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.add_(tp.ones(3, dtype=tp.float64) * 0.5),
        lambda x: x.mul_(tp.tensor(2.0, dtype=tp.float64)),
        lambda x: x.div_(tp.tensor([2, 4, 8])),
        lambda x: x.clamp_(min=tp.tensor([0.5])),
        lambda x: x.lerp_(tp.tensor([1.0, 2.0, 3.0]), 0.75),
        lambda x: x.addcmul_(x, x),
        lambda x: x.mul_(x),
        lambda x: x.sub_(x.flip(0)),
    ],
)  # fmt: skip
def test_in_place_equals_out_of_place(call):
    x, y = tp.tensor([1.0, 2.0, 3.0]), tp.tensor([1.0, 2.0, 3.0], requires_grad=True).clone()
    assert call(x).tolist() == pytest.approx(call(y).tolist())
    assert y.grad_fn is not None and x.grad_fn is None


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: x.add_(tp.ones(3)), RuntimeError),
        (lambda x: x.mul_(tp.ones(2, 2)), RuntimeError),
        (lambda x: x.mul_(1j), RuntimeError),
        (lambda x: x.to(tp.int64).div_(2), RuntimeError),
        (lambda x: x.to(tp.int64).add_(1.5), RuntimeError),
        (lambda x: x.float_power_(2), RuntimeError),
        (lambda x: x.expand(3, 2).add_(1), RuntimeError),
        (lambda x: x.expand(3, 2).mul_(tp.ones(3, 2)), RuntimeError),
        (lambda x: x.add_("a"), TypeError),
        (lambda x: x.bitwise_and_(x), NotImplementedError),
        (lambda x: tp.tensor([1.0, 2.0], requires_grad=True).mul_(x), RuntimeError),
    ],
)  # fmt: skip
def test_in_place_errors_leave_the_tensor_as_it_was(call, error):
    x = tp.tensor([1.0, 2.0])
    with pytest.raises(error):
        call(x)
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def test_writing_to_a_saved_value_is_noticed():
    for write in (lambda y: y.mul_(2), lambda y: y.add_(1, alpha=2), lambda y: y.sqrt_()):
        x, y = tp.ones(3, requires_grad=True), tp.ones(3)
        out = x * y
        with tp.no_grad():
            write(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.sum().backward()


def test_parameters_change_in_place_without_grad():
    x = tp.ones(3, requires_grad=True)
    with tp.no_grad():
        x.mul_(2)
        x -= 0.5
        x.addcdiv_(tp.ones(3), tp.full((3,), 2.0), value=-1)
    assert x.tolist() == [1.0, 1.0, 1.0] and x.is_leaf and x.requires_grad


# ---- errors


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: INT // 0, RuntimeError, "ZeroDivisionError"),
        (lambda: INT % tp.tensor([0, 1]), RuntimeError, "ZeroDivisionError"),
        (lambda: tp.fmod(INT, 0), RuntimeError, "ZeroDivisionError"),
        (lambda: 1 // tp.tensor([0]), RuntimeError, "ZeroDivisionError"),
        (lambda: INT**-1, RuntimeError, "negative integer powers"),
        (lambda: 1 - BOOL, RuntimeError, "bool tensor is not supported"),
        (lambda: BOOL - BYTE, RuntimeError, "bool tensor is not supported"),
        (lambda: -BOOL, RuntimeError, "bool tensor is not supported"),
        (lambda: +BOOL, RuntimeError, "bool tensor is not supported"),
        (lambda: ~FLOAT, TypeError, "only implemented on integer"),
        (lambda: FLOAT & FLOAT, NotImplementedError, "bitwise_and"),
        (lambda: FLOAT << 1, NotImplementedError, "bitwise_left_shift"),
        (lambda: COMPLEX < 1, NotImplementedError, "lt"),
        (lambda: tp.maximum(COMPLEX, COMPLEX), RuntimeError, "complex"),
        (lambda: tp.clamp(COMPLEX, 0), NotImplementedError, "complex"),
        (lambda: tp.clamp(FLOAT), RuntimeError, "'min' or 'max'"),
        (lambda: tp.maximum(FLOAT, 1), TypeError, "argument 'other' .* must be Tensor, not int"),
        (lambda: tp.eq(1, 2), TypeError, "must be Tensor"),
        (lambda: tp.add(FLOAT, "a"), TypeError, "must be Tensor or Number, not str"),
        (lambda: tp.add(INT, INT, alpha=0.5), RuntimeError, "alpha must not be a floating point"),
        (lambda: tp.add(FLOAT, FLOAT, alpha=1j), RuntimeError, "alpha must not be a complex"),
        (lambda: tp.add(FLOAT, FLOAT, alpha=True), RuntimeError, "Boolean alpha"),
        (lambda: tp.div(FLOAT, 2, rounding_mode="up"), RuntimeError, "rounding_mode"),
        (lambda: tp.where(FLOAT, 1, 2), RuntimeError, "boolean tensor"),
        (lambda: tp.where(BOOL, FLOAT), TypeError, "where"),
        (lambda: tp.lerp(FLOAT, FLOAT.to(tp.float64), 0.5), RuntimeError, "expected dtype"),
        (lambda: tp.heaviside(FLOAT, FLOAT.to(tp.float64)), RuntimeError, "different dtypes"),
        (lambda: tp.isclose(FLOAT, INT), RuntimeError, "did not match"),
        (lambda: tp.isclose(FLOAT, FLOAT, rtol=-1), RuntimeError, "rtol"),
        (lambda: tp.imag(FLOAT), RuntimeError, "non-complex"),
        (lambda: tp.complex(FLOAT, FLOAT.to(tp.float64)), RuntimeError, "second argument"),
        (lambda: tp.view_as_complex(tp.ones(2, 3)), RuntimeError, "size 2"),
        (lambda: tp.view_as_complex(tp.ones(2, 3).t()), RuntimeError, "stride 1"),
        (lambda: tp.addcdiv(INT, INT, INT), RuntimeError, "Integer division"),
        (lambda: tp.round(INT, decimals=1), NotImplementedError, "decimals"),
        (lambda: tp.polygamma(-1, FLOAT), RuntimeError, "negative n"),
        (lambda: tp.mvlgamma(FLOAT, 0), RuntimeError, "greater than or equal to 1"),
        (lambda: tp.ones(2) + tp.ones(3), RuntimeError, "must match the size of tensor b"),
        (lambda: INT + 2**70, RuntimeError, "Overflow"),
        (lambda: bool(tp.isclose(tp.ones(2), tp.ones(2))), RuntimeError, "ambiguous"),
    ],
)  # fmt: skip
def test_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_unknown_derivative_is_an_error_and_not_zero():
    a = tp.tensor([1.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match="zeta"):
        tp.special.zeta(a + 1, tp.tensor([2.0])).sum().backward()


# ---- answers that are Python bools


@pytest.mark.parametrize(
    "call, want",
    [
        (lambda: tp.equal(INT, tp.tensor([1, 2])), True),
        (lambda: tp.equal(INT, tp.tensor([1, 2, 3])), False),
        (lambda: tp.equal(INT, tp.tensor([1, 3])), False),
        (lambda: tp.allclose(FLOAT, FLOAT + 1e-7), True),
        (lambda: tp.allclose(tp.tensor([nan]), tp.tensor([nan])), False),
        (lambda: tp.allclose(tp.tensor([nan]), tp.tensor([nan]), equal_nan=True), True),
        (lambda: tp.allclose(tp.tensor([inf]), tp.tensor([inf])), True),
        (lambda: tp.is_nonzero(tp.tensor(0.5)), True),
        (lambda: tp.is_conj(COMPLEX.conj()), False),
    ],
)
def test_truth(call, want):
    assert call() is want


def test_parts_of_complex_tensors_are_views():
    z = tp.tensor([1 + 2j, 3 - 4j])
    z.real.mul_(10)
    z.imag = tp.tensor([0.5, 0.25])
    assert z.tolist() == [10 + 0.5j, 30 + 0.25j]
    assert FLOAT.real is FLOAT
    tp.view_as_real(z)[:, 0] = 1.0
    assert z.tolist() == [1 + 0.5j, 1 + 0.25j]


@pytest.mark.parametrize("base", [2, 10, 2.5, 0.5])
@pytest.mark.parametrize("dtype", [tp.float32, tp.float64], ids=str)
def test_derivatives_of_a_number_to_a_tensor_keep_dtype_and_precision(base, dtype):
    x = tp.tensor([0.5, 1.5], dtype=dtype, requires_grad=True)
    (first,) = tp.autograd.grad((base**x).sum(), x, create_graph=True)
    (second,) = tp.autograd.grad(first.sum(), x)
    assert first.dtype is second.dtype is dtype
    want = base ** np.array([0.5, 1.5]) * np.log(base)
    tol = 1e-6 if dtype is tp.float32 else 1e-14
    np.testing.assert_allclose(first.detach().numpy(), want, rtol=tol)
    np.testing.assert_allclose(second.numpy(), want * np.log(base), rtol=tol)
    assert tp.autograd.grad((base**x).sum(), x)[0].dtype is dtype


def test_a_number_in_a_rule_that_calls_functions_is_of_the_tensors_dtype():
    x = tp.tensor([0.3, 0.7], dtype=tp.float64, requires_grad=True)
    for create_graph in (False, True):
        (g,) = tp.autograd.grad(tp.special.xlog1py(x, 2).sum(), x, create_graph=create_graph)
        np.testing.assert_allclose(g.detach().numpy(), np.log(3.0), rtol=1e-15)


def test_the_angle_at_the_origin_gets_no_gradient():
    x, y = (tp.zeros(2, requires_grad=True) for _ in range(2))
    gx, gy = tp.autograd.grad(tp.atan2(x, y).sum(), (x, y))
    assert gx.tolist() == gy.tolist() == [0.0, 0.0]


INTEGERS, COMPLEX, BOOLS = tp.ones(2, 3, dtype=tp.int64), tp.ones(2, 3) + 1j, tp.ones(2, 3) > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: tp.softmax(INTEGERS, 1),
        lambda: tp.nn.functional.glu(COMPLEX[:, :2]),
        lambda: tp.nn.functional.group_norm(INTEGERS, 1),
        lambda: tp.nn.functional.instance_norm(BOOLS[None]),
        lambda: tp.nn.functional.batch_norm(INTEGERS, None, None, training=True),
        lambda: tp.nn.functional.nll_loss(BOOLS, tp.tensor([0, 1])),
        lambda: tp.nn.functional.cross_entropy(INTEGERS, tp.tensor([0, 1])),
        lambda: tp.nn.functional.max_pool2d(COMPLEX[None], 2),
        lambda: tp.cross(BOOLS, BOOLS, dim=1),
        lambda: COMPLEX.scatter_reduce(0, tp.zeros(2, 3, dtype=tp.int64), COMPLEX, "amax"),
        lambda: tp._softmax_backward_data(BOOLS, BOOLS, 0, tp.bool),
    ],
)
def test_a_dtype_that_an_operator_lacks_is_not_implemented(call):
    with pytest.raises(NotImplementedError, match="not implemented for"):
        call()


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: tp.nn.functional.linear(tp.tensor(1.0), tp.ones(2, 1)), RuntimeError, "at least 1D"),
        (lambda: tp.nn.functional.linear_cross_entropy(tp.tensor(1.0), tp.ones(2, 1), tp.tensor(0)), RuntimeError,
         "dimensionality 1 or 2, got 0"),
        (lambda: tp.nn.functional.pad(tp.ones(2), (-3, 2)), RuntimeError, "negative padding"),
        (lambda: tp.nn.functional.pad(tp.ones(1, 2, 1), (-1, 1), "circular"), RuntimeError, "nothing is left"),
        (lambda: tp.nn.functional.scaled_dot_product_attention(*[INTEGERS] * 3), RuntimeError, "floating dtype"),
        (lambda: tp.cat([tp.tensor(1.0)], 1), RuntimeError, "zero-dimensional"),
        (lambda: tp.tensor(1.0).index_select(0, INTEGERS[0]), RuntimeError, "only 1 value"),
        (lambda: tp.tensor(1.0).unflatten(0, (1,)), RuntimeError, "no dimensions"),
        (lambda: tp.unravel_index(tp.ones(2), (3,)), TypeError, "integer dtype"),
        (lambda: tp.multinomial(tp.ones(0), 1, True), RuntimeError, "sum of probabilities"),
        (lambda: tp.histogram(tp.ones(2), tp.ones(0)), RuntimeError, "at least 1 element"),
        (lambda: tp.segment_reduce(tp.ones(2), "sum", offsets=INTEGERS[0, :0]), RuntimeError, "got none"),
        (lambda: tp.segment_reduce(tp.ones(2), "sum", lengths=tp.tensor([3])), RuntimeError, "sum to data.size"),
        (lambda: tp.segment_reduce(tp.ones(2), "sum"), RuntimeError, "Either lengths or offsets"),
        (lambda: tp._chunk_cat([tp.ones(2), INTEGERS[0]], 0, 2), RuntimeError, "the same dtype"),
        (lambda: tp.hash_tensor(tp.ones(2), mode=1), RuntimeError, "mode"),
        (lambda: tp.nn.functional.hardtanh(tp.ones(2, dtype=tp.uint8)), RuntimeError, "negative limits"),
        (lambda: tp.addcdiv(tp.ones(2), tp.ones(2), 2.0), TypeError, "'tensor2'"),
    ],
)  # fmt: skip
def test_what_has_no_result_is_refused_as_by_pytorch(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_place_at_the_edge_of_an_image_has_no_gradient_as_those_beyond():
    image = tp.arange(4.0).reshape(1, 1, 2, 2)
    at = tp.tensor([[[[1.0, 1.0], [0.5, 0.5]]]], requires_grad=True)
    for padding in ("border", "reflection"):
        out = tp.nn.functional.grid_sample(image, at, padding_mode=padding, align_corners=True)
        (gradient,) = tp.autograd.grad(out.sum(), at)
        assert gradient[0, 0, 0].tolist() == [0, 0] and gradient[0, 0, 1].tolist() == [0.5, 1]


def test_polynomials_at_infinity_have_the_sign_of_far_away():
    ends, inf = tp.tensor([math.inf, -math.inf]), math.inf
    for name, signs in (
        ("legendre_polynomial_p", [1, -1]), ("chebyshev_polynomial_t", [1, -1]), ("hermite_polynomial_h", [1, -1]),
        ("laguerre_polynomial_l", [-1, 1]),
    ):  # fmt: skip
        f = getattr(tp.special, name)
        assert f(ends, 0).tolist() == [1, 1] and f(ends, 3).tolist() == [s * inf for s in signs], name
        assert f(ends, 2).tolist() == [inf, inf]
