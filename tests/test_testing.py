"""Comparing tensors in tests, and making them."""

import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.testing import assert_allclose, assert_close, make_tensor

A = tp.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
B = tp.tensor([[1.1, 2.0, 3.0], [4.0, 5.0, 7.0]])
INF, NAN = math.inf, math.nan

CLOSE = [
    (A, A.clone(), {}),
    (A, A * (1 + 1e-6), {}),
    (A.double(), A.double() * (1 + 5e-8), {}),
    (A, B, {"rtol": 0.1, "atol": 0.5}),
    (A.half(), A.half().float() * 1.0005, {"check_dtype": False}),
    (tp.tensor([INF, -INF]), tp.tensor([INF, -INF]), {}),
    (tp.tensor([NAN]), tp.tensor([NAN]), {"equal_nan": True}),
    (tp.tensor([10]), tp.tensor([11]), {"rtol": 0, "atol": 1}),
    (tp.tensor([1 + 1j]), tp.tensor([1 + 1j]), {}),
    (tp.zeros(0, 3), tp.zeros(0, 3), {}),
    (A.t().contiguous().t(), A, {}),
    (tp.zeros(2, device="meta"), tp.ones(2, device="meta"), {}),
    (tp.zeros(2, device="meta"), tp.ones(2), {"check_device": False}),
    (tp.nn.Parameter(A), A, {}),
    (np.array([1.0, 2.0]), np.array([1.0, 2.0]), {}),
    (1.0, 1.0 + 1e-9, {}),
    (1, 1.0, {"check_dtype": False}),
    (np.float64(1.0), 1.0, {}),
    (True, True, {}),
    (None, None, {}),
    ([A, 1.0, {"x": B}], (A, 1.0, {"x": B}), {}),
    ({"x": A, "y": 1}, {"y": 1, "x": A}, {}),
    (A.shape, A.shape, {}),
]


@pytest.mark.parametrize(("actual", "expected", "options"), CLOSE)
def test_close_values_pass(actual, expected, options):
    assert assert_close(actual, expected, **options) is None


TENSORS = """Tensor-likes are not close!

Mismatched elements: 2 / 6 (33.3%)
Greatest absolute difference: 1.0 at index (1, 2) (up to 1e-05 allowed)
Greatest relative difference: 0.1428571492433548 at index (1, 2) (up to 1.3e-06 allowed)"""
SCALARS = """Scalars are not close!

Expected 2.5 but got 2.0.
Absolute difference: 0.5 (up to 1e-07 allowed)
Relative difference: 0.2 (up to 1e-07 allowed)"""
INTEGERS = """Tensor-likes are not equal!

Mismatched elements: 1 / 2 (50.0%)
Greatest absolute difference: {} at index (1,)
Greatest relative difference: {} at index (1,)"""
ATTRIBUTE = "The values for attribute '{}' do not match: {} != {}."
KEYS = "The keys of the mappings do not match:\nMissing keys in the actual mapping: ['y']\n"

APART = [
    (A, B, {}, TENSORS),
    (A, B, {"rtol": 0, "atol": 0}, TENSORS.replace("close", "equal").replace(" (up to 1e-05 allowed)", "").replace(
        " (up to 1.3e-06 allowed)", "")),
    (A.clone().requires_grad_(), B, {}, TENSORS),
    (2.0, 2.5, {}, SCALARS),
    (np.float64(2.0), 2.5, {}, SCALARS),
    (tp.tensor(2.0, dtype=tp.float64), tp.tensor(2.5, dtype=tp.float64), {}, SCALARS),
    (tp.tensor([1, 2]), tp.tensor([1, 4]), {}, INTEGERS.format(2, 0.5)),
    (tp.tensor([0, 1], dtype=tp.uint8), tp.tensor([0, 255], dtype=tp.uint8), {}, INTEGERS.format(254, 254 / 255)),
    (tp.tensor([0, -(2**63)]), tp.tensor([0, 2**63 - 1]), {}, INTEGERS.format(2**64 - 1, 2.0)),
    (tp.tensor([0, 2**60]), tp.tensor([0, 2**60 + 1]), {}, INTEGERS.format(1, 2.0**-60)),
    (tp.tensor([True, True]), tp.tensor([True, False]), {}, INTEGERS.format(1, "inf")),
    (A, A[0], {}, ATTRIBUTE.format("shape", A.shape, A[0].shape)),
    (A, A.double(), {}, ATTRIBUTE.format("dtype", tp.float32, tp.float64)),
    (A, A.t().contiguous().t(), {"check_stride": True}, ATTRIBUTE.format("stride()", (3, 1), (1, 2))),
    (A, A.to("meta"), {}, ATTRIBUTE.format("device", "cpu", "meta")),
    (True, False, {}, "Booleans mismatch: True is not False"),
    (None, 1.0, {}, "None mismatch: None is not 1.0"),
    (1, 1.0, {}, "The (d)types do not match: <class 'int'> != <class 'float'>."),
    ([A], [A, A], {}, "The length of the sequences mismatch: 1 != 2"),
    ([A, [B, B]], [A, [B]], {}, "The length of the sequences mismatch: 2 != 1\n\nThe failure occurred for item [1]"),
    ({"x": A}, {"y": A}, {}, KEYS + "Additional keys in the actual mapping: ['x']"),
    ([[A], {"k": A}], [[A], {"k": B}], {}, TENSORS + "\n\nThe failure occurred for item [1]['k']"),
    (A, B, {"msg": "by far"}, "by far"),
    (A, B, {"msg": lambda report: f"Step 3\n{report}"}, f"Step 3\n{TENSORS}"),
]  # fmt: skip


@pytest.mark.parametrize(("actual", "expected", "options", "report"), APART)
def test_the_report_says_what_differs_and_where(actual, expected, options, report):
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **options)
    assert str(caught.value) == report


@pytest.mark.parametrize(
    ("actual", "expected"),
    [([NAN], [NAN]), ([INF], [-INF]), ([INF], [1.0]), ([1.0], [INF]), ([NAN], [1.0]), ([1 + 1j], [1 + 2j])],
)
def test_what_is_not_finite_is_close_to_itself_alone(actual, expected):
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 1"):
        assert_close(tp.tensor(actual), tp.tensor(expected))


def test_equal_nan_concerns_nan_alone():
    for actual, expected in ((INF, NAN), (NAN, 1.0), (INF, -INF), (INF, 1.0)):
        with pytest.raises(AssertionError, match="Scalars are not close"):
            assert_close(tp.tensor(actual), tp.tensor(expected), equal_nan=True)


@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"),
    [(tp.float16, 1e-3, 1e-5), (tp.bfloat16, 1.6e-2, 1e-5), (tp.float32, 1.3e-6, 1e-5), (tp.float64, 1e-7, 1e-7)],
)
def test_tolerances_follow_the_dtype(dtype, rtol, atol):
    with pytest.raises(AssertionError, match=rf"\(up to {atol} allowed\)\n.*\(up to {rtol} allowed\)"):
        assert_close(tp.tensor([1.0], dtype=dtype), tp.tensor([2.0], dtype=dtype))


ERRORS = [
    (lambda: assert_close(A, B, rtol=1.0), ValueError, "specified or omitted, but got no atol"),
    (lambda: assert_close(A, B, atol=1.0), ValueError, "specified or omitted, but got no rtol"),
    (lambda: assert_close(A, B, rtol=-1.0, atol=0.0), ValueError, "must not be negative"),
    (lambda: assert_close(A, 1.0), TypeError, "No comparison pair was able to handle inputs of type"),
    (lambda: assert_close(A.numpy(), A), TypeError, "No comparison pair"),
    (lambda: assert_close("a", "a"), TypeError, "No comparison pair"),
    (lambda: assert_close([["a"]], [["a"]]), TypeError, r"for item \[0\]\[0\]"),
    (lambda: assert_close(tp.nn.Parameter(A), A, allow_subclasses=False), TypeError, "Parameter"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_of_comparisons(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_assert_allclose_is_deprecated_and_takes_anything():
    with pytest.warns(FutureWarning, match="assert_close"):
        assert_allclose(A, A.numpy())
    with pytest.warns(FutureWarning):
        assert_allclose(A, (A * (1 + 5e-5)).double())
    with pytest.warns(FutureWarning):
        assert_allclose([1.0, NAN], tp.tensor([1.0, NAN]))
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match=r"up to 0.0001 allowed"):
        assert_allclose(A, B)
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="by far"):
        assert_allclose(A, B, msg="by far")


# ---- make_tensor

FLOATS = (tp.float16, tp.bfloat16, tp.float32, tp.float64)
SIGNED = (tp.int8, tp.int16, tp.int32, tp.int64)
RANGES = [*[(d, -9, 9) for d in FLOATS], *[(d, -9, 10) for d in SIGNED], (tp.uint8, 0, 10)]


@pytest.mark.parametrize(("dtype", "low", "high"), RANGES)
def test_numbers_fill_the_default_range(dtype, low, high):
    x = make_tensor(40, 50, dtype=dtype, device="cpu")
    assert x.dtype is dtype and x.shape == (40, 50) and x.is_contiguous() and not x.requires_grad
    assert low <= x.min().item() < low + 1 and high - 1.1 < x.max().item() < high
    y = make_tensor(2000, dtype=dtype, device="cpu", low=2, high=4)
    assert 2 <= y.min().item() and y.max().item() < 4


def test_numbers_of_other_kinds():
    assert sorted(set(make_tensor(100, dtype=tp.bool, device="cpu").tolist())) == [False, True]
    z = tp.view_as_real(make_tensor(1000, dtype=tp.complex64, device="cpu", low=1, high=2))
    assert 1 <= z.min() and z.max() < 2
    assert set(make_tensor(100, dtype=tp.int64, device="cpu", low=2.5, high=4.5).tolist()) == {3, 4}


@pytest.mark.parametrize("dtype", [*FLOATS, *SIGNED, tp.uint8, tp.complex64])
def test_ranges_are_cut_off_at_what_the_dtype_holds(dtype):
    x = make_tensor(100, dtype=dtype, device="cpu", low=-INF, high=INF)
    assert x.isfinite().all() and len(set(x.tolist())) > 20


@pytest.mark.parametrize("dtype", [*FLOATS, *SIGNED, tp.uint8, tp.bool, tp.complex64])
def test_zeros_may_be_excluded(dtype):
    x = make_tensor(10, 10, dtype=dtype, device="cpu", low=0, high=0 if dtype in FLOATS else 2, exclude_zero=True)
    assert (x != 0).all()
    x = make_tensor(10, 10, dtype=dtype, device="cpu", low=0, high=2, exclude_zero=True, noncontiguous=True)
    assert (x != 0).all() and not x.is_contiguous()


def test_forms_of_the_memory():
    options = {"dtype": tp.float32, "device": "cpu"}
    assert make_tensor(3, 4, noncontiguous=True, **options).stride() == (8, 2)
    assert make_tensor(1, noncontiguous=True, **options).is_contiguous()
    assert make_tensor(2, 3, 4, 5, memory_format=tp.channels_last, **options).stride() == (60, 1, 15, 3)
    assert make_tensor((2, 3), **options).shape == make_tensor([2, 3], **options).shape == (2, 3)
    assert make_tensor(**options).shape == make_tensor((), **options).shape == ()
    assert make_tensor(2, requires_grad=True, **options).is_leaf
    assert make_tensor(2, requires_grad=True, **options).requires_grad
    assert make_tensor(2, dtype=tp.float32, device="meta").is_meta


def test_numbers_follow_the_seed():
    tp.manual_seed(3)
    first = make_tensor(5, dtype=tp.float32, device="cpu")
    tp.manual_seed(3)
    assert_close(make_tensor(5, dtype=tp.float32, device="cpu"), first, rtol=0, atol=0)


BAD = [
    ({"dtype": tp.int64, "requires_grad": True}, "`requires_grad=True` is not supported for boolean and integral"),
    ({"dtype": tp.float32, "low": 3, "high": 1}, "`low` must be less than `high`, but got 3 >= 1"),
    ({"dtype": tp.int64, "low": 1, "high": 1}, "`low` must be less than `high`, but got 1 >= 1"),
    ({"dtype": tp.int64, "low": 1.2, "high": 1.8}, "no integer in"),
    ({"dtype": tp.float32, "low": NAN}, "cannot be NaN"),
    ({"dtype": tp.uint8, "low": -5, "high": -2}, r"tensorplay.uint8 only supports \[0, 256\)"),
    ({"dtype": tp.float32, "noncontiguous": True, "memory_format": tp.channels_last}, "mutually exclusive"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_errors_of_make_tensor(options, message):
    with pytest.raises(ValueError, match=message):
        make_tensor(2, 3, 4, 5, device="cpu", **options)
