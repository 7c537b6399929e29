"""The loops of large reductions: equal to NumPy's, but for rounding, which they improve."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.ops.reducing import LARGE, reduce_array

SHAPES = [
    ((20000, 2), -1), ((20000, 3), -1), ((2000, 16), -1), ((2000, 17), -1), ((20001, 2), 0), ((20001, 3), -2),
    ((5, 2003, 2), 1), ((300, 100, 8), 1), ((4097, 7), 0), ((1500, 70), 0), ((30, 800), 0), ((20000, 1), 0),
    ((1, 20000), 0),
]  # fmt: skip


@pytest.mark.parametrize("shape, dim", SHAPES)
@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.minimum, np.logical_and, np.logical_or])
def test_large_reductions_equal_those_of_numpy(shape, dim, ufunc):
    x = np.random.default_rng(0).normal(size=shape)
    if ufunc in (np.logical_and, np.logical_or):
        x = x > -3
    assert x.size > LARGE
    want = ufunc.reduce(x, dim)
    for keepdim in (False, True):
        got = reduce_array(ufunc, x, (dim,), keepdim)
        np.testing.assert_allclose(got, np.expand_dims(want, dim) if keepdim else want, rtol=1e-10, atol=1e-10)


def test_nan_spreads_through_every_loop():
    for shape, dim in SHAPES:
        x = np.zeros(shape)
        x[(0,) * len(shape)] = np.nan
        for ufunc in (np.add, np.maximum, np.minimum):
            assert np.isnan(reduce_array(ufunc, x, (dim,))).sum() == 1


@pytest.mark.parametrize("dtype", [tp.float32, tp.float64])
def test_many_rows_are_summed_without_losing_digits(dtype):
    x = np.random.default_rng(0).random((300_000, 3))
    eps = np.finfo(dtype.numpy).eps
    got = tp.tensor(x.astype(dtype.numpy)).sum(0).numpy()
    exact = np.array([np.sum(x.astype(dtype.numpy).T[i].astype(np.longdouble)) for i in range(3)])
    np.testing.assert_allclose(got, exact.astype(float), rtol=16 * eps)
