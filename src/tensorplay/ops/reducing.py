"""Reducing arrays: NumPy's reductions, with other loops where its own are slow or lose digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LARGE = 1 << 14  # elements from which the order of the loops matters
NARROW = 16  # rows as short as this are reduced column by column
WIDTH = 4096  # elements that are accumulated side by side


def reduce_array(ufunc: np.ufunc, x: Any, dim: tuple[int, ...] | None, keepdim: bool = False) -> Any:
    """``ufunc.reduce`` over dimensions, for an associative ``ufunc``, in the dtype of ``x``."""
    if dim is not None and x.size > LARGE and len(dim) == 1 and x.ndim > 1 and type(x) is np.ndarray:
        if x.flags.c_contiguous and (out := reduce_lines(ufunc, x, dim[0] % x.ndim)) is not None:
            return np.expand_dims(out, dim[0]) if keepdim else out
    return ufunc.reduce(x, dim, keepdims=True) if keepdim else ufunc.reduce(x, dim)


def reduce_lines(ufunc: np.ufunc, x: Any, axis: int) -> Any:
    """Reduce one axis of a large contiguous array; None where NumPy's loops are good."""
    n, lead, trail = x.shape[axis], x.shape[:axis], x.shape[axis + 1 :]
    width = math.prod(trail)
    if width == 1:
        return reduce_columns(ufunc, x.reshape(*lead, n)) if 1 < n <= NARROW else None
    if n < 1024 and (n < 16 or width > 64):
        return None
    return reduce_rows(ufunc, x.reshape(*lead, n, width)).reshape(*lead, *trail)


def reduce_rows(ufunc: np.ufunc, x: Any) -> Any:
    """Reduce the last axis but one.

    NumPy calls its inner loop once for each row, which takes longer than the row if that has few elements, and it adds
    rows one after the other, which loses digits if they are many. Rows side by side make a wider row: there are fewer
    calls, and fewer terms in each sum.
    """
    *lead, n, width = x.shape
    beside = min(max(WIDTH // width, math.isqrt(n) // 8, 2), n // 8)
    if beside < 2:
        return ufunc.reduce(x, -2)
    blocks = n // beside
    whole = x[..., : blocks * beside, :].reshape(*lead, blocks, beside * width)
    out = reduce_rows(ufunc, ufunc.reduce(whole, -2).reshape(*lead, beside, width))
    if blocks * beside < n:
        out = ufunc(out, ufunc.reduce(x[..., blocks * beside :, :], -2))
    return out


def reduce_columns(ufunc: np.ufunc, x: Any) -> Any:
    """Reduce a short last axis, one column after the other."""
    out = ufunc(x[..., 0], x[..., 1])
    for i in range(2, x.shape[-1]):
        ufunc(out, x[..., i], out=out)
    return out
