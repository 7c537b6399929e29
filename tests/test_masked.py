"""Operators under a mask: dtypes, lines without a valid element, errors. Values and derivatives: see the samples."""

import math

import numpy as np
import pytest

import tensorplay as tp

X = tp.tensor([[3.0, -2.0, -1.0], [0.0, 1.0, 2.0]])
MASK = tp.tensor([[True, False, True], [False, False, False]])
INF, NAN = math.inf, math.nan

# name, further arguments, the result of the line that has no valid element
EMPTY = [
    ("sum", (), 0.0), ("prod", (), 1.0), ("amax", (), -INF), ("amin", (), INF), ("argmax", (), 0.0),
    ("argmin", (), 0.0), ("mean", (), NAN), ("median", (), NAN), ("norm", (2.0,), 0.0), ("norm", (-INF,), INF),
    ("norm", (-2.0,), INF), ("var", (), NAN), ("std", (), NAN), ("logsumexp", (), -INF),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "want"), EMPTY)
def test_without_a_valid_element_a_reduction_gives_its_identity(name, args, want):
    for dtype in (tp.float32, tp.float64, tp.float16, tp.bfloat16):
        got = getattr(tp.masked, name)(X.to(dtype), *args, dim=1, mask=MASK)
        assert got.dtype is dtype
        np.testing.assert_equal(got[1].item(), want)


def test_without_a_valid_element_nothing_is_normalised():
    assert tp.masked.softmax(X, 1, mask=MASK)[1].isnan().all()
    assert tp.masked.log_softmax(X, 1, mask=MASK)[1].isnan().all()
    assert tp.masked.normalize(X, 2.0, 1, mask=MASK)[1].tolist() == [0.0, 0.0, 0.0]
    assert tp.masked.cumsum(X, 1, mask=MASK)[1].tolist() == [0.0, 0.0, 0.0]
    assert tp.masked.cumprod(X, 1, mask=MASK)[1].tolist() == [1.0, 1.0, 1.0]
    assert tp.masked.logaddexp(X, X, input_mask=MASK, other_mask=MASK)[1].tolist() == [-INF, -INF, -INF]


@pytest.mark.parametrize("mask", [tp.tensor([True, False, True]), tp.tensor([1, 0, 2]), tp.tensor([[1.0, 0.0, 1.0]])])
def test_masks_are_broadcast_and_may_be_numbers(mask):
    assert tp.masked.sum(X, 1, mask=mask).tolist() == [2.0, 2.0]


def test_dtypes_of_integers():
    x = X.to(tp.int32)
    for name in ("sum", "prod"):
        assert getattr(tp.masked, name)(x, 1, mask=MASK).dtype is tp.int64
    for name in ("amax", "amin", "argmax", "argmin", "logsumexp"):
        assert getattr(tp.masked, name)(x, 1, mask=MASK).dtype is tp.int32
    for name in ("cumsum", "cumprod"):
        assert getattr(tp.masked, name)(x, 1, mask=MASK).dtype is tp.int32
    for name in ("var", "std"):
        assert getattr(tp.masked, name)(x, 1, mask=MASK).dtype is tp.float32
    assert tp.masked.sum(X > 0).item() == 3
    assert tp.masked.amax(X.abs().to(tp.uint8), 1, mask=MASK).tolist() == [3, 0]
    assert tp.masked.amin(X.to(tp.int8), 1, mask=MASK).tolist() == [-1, 127]
    assert tp.masked.median(x, mask=tp.tensor([True, True, False])).tolist() == [-2, 0]
    assert tp.masked.median(x, mask=tp.tensor([True, True, False]), keepdim=True).tolist() == [[-2], [0]]
    assert tp.masked.median(tp.tensor([2**60 + 1, 0]), mask=tp.tensor([True, False])).item() == 2**60 + 1
    assert tp.masked.median(x > 0, mask=tp.tensor([True, True, True])).tolist() == [False, True]
    assert tp.masked.median(tp.tensor(3), mask=tp.tensor(True)).item() == 3


def test_a_dtype_is_cast_to_first():
    for name in ("sum", "prod", "amax", "amin", "mean", "median", "norm", "var", "std", "logsumexp", "argmax"):
        assert getattr(tp.masked, name)(X, dim=1, mask=MASK, dtype=tp.float64).dtype is tp.float64, name
    assert tp.masked.mean(X.to(tp.int64), dtype=tp.float32).item() == 0.5
    assert tp.masked.softmax(X, 1, dtype=tp.float64).dtype is tp.float64


def test_elements_that_are_left_out_have_no_gradient_and_may_be_anything():
    x = tp.tensor([1.0, NAN, INF, 2.0], dtype=tp.float64, requires_grad=True)
    mask = tp.tensor([True, False, False, True])
    for name in ("sum", "prod", "amax", "amin", "mean", "norm", "var", "std", "logsumexp"):
        (g,) = tp.autograd.grad(getattr(tp.masked, name)(x, mask=mask), [x])
        assert g.isfinite().all() and g[1:3].tolist() == [0.0, 0.0], name


ERRORS = [
    (lambda m: m.sum(X, mask=MASK[None]), IndexError, "mask dimensionality higher than of the input"),
    (lambda m: m.sum(X, mask=MASK[:, :2]), RuntimeError, "expand"),
    (lambda m: m.sum(X, mask=[True]), TypeError, "argument 'mask'"),
    (lambda m: m.sum([1.0]), TypeError, "argument 'input'"),
    (lambda m: m.sum(X, 5), IndexError, r"expected to be in range of \[-2, 1\], but got 5"),
    (lambda m: m.sum(X, (0, 0)), RuntimeError, "multiple times"),
    (lambda m: m.amax(X > 0), NotImplementedError, "identity of amax on tensorplay.bool"),
    (lambda m: m.amin(X + 1j), TypeError, "integer"),
    (lambda m: m.mean(X.int()), ValueError, "Input dtype must be either a floating point or complex dtype"),
    (lambda m: m.mean(X, dtype=tp.int64), ValueError, "Optional dtype"),
    (lambda m: m.median(X.int(), mask=MASK), ValueError, "no fully masked out rows"),
    (lambda m: m.var(X > 0), RuntimeError, "bool tensor is not supported"),
    (lambda m: m.var(X, 1, True, correction=1), ValueError, "Only one of unbiased and correction"),
    (lambda m: m.cumsum(X > 0, 1), NotImplementedError, "not implemented for tensorplay.bool"),
    (lambda m: m.norm(X.int()), RuntimeError, "floating point or complex"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call(tp.masked)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: tp.nonzero(x, out=tp.empty(0)), RuntimeError),
        (lambda x: tp.nonzero(x, as_tuple=True, out=tp.empty(0, dtype=tp.int64)), RuntimeError),
        (lambda x: tp.nonzero(x, as_tuple=True, out=(tp.empty(0),)), TypeError),
        (lambda x: tp.nansum(x, out=tp.empty((), dtype=tp.int64)), NotImplementedError),
        (lambda x: tp.nanmean(x, out=tp.empty((), dtype=tp.int64)), NotImplementedError),
        (lambda x: tp.kthvalue(x, 1, out=(x, tp.empty(0, dtype=tp.int64))), RuntimeError),
    ],
)
def test_what_does_not_fit_out_is_left_unwritten(call, error):
    x = tp.tensor([1.0, 0.0, 2.0])
    with pytest.raises(error):
        call(x)
    assert x.tolist() == [1, 0, 2]


def test_out_of_sums_without_nan():
    x, out = tp.tensor([1.0, math.nan, 2.0]), tp.empty((), dtype=tp.float64)
    assert tp.nansum(x, out=out) is out and out.item() == 3
    assert tp.nanmean(x, out=out) is out and out.item() == 1.5


@pytest.mark.parametrize(
    "call", [tp.nonzero, tp.argwhere, tp.unique, lambda x: x[x > 0], lambda x: tp.masked_select(x, x > 0)]
)
def test_shapes_that_values_decide_are_not_known_on_meta(call):
    with pytest.raises(NotImplementedError):
        call(tp.ones(3, device="meta"))
    assert tp.nonzero_static(tp.ones(3, device="meta"), size=2).shape == (2, 1)
