"""What fused kernels share: blocks of rows that stay in the cache, and arithmetic of 16-bit floats in float32."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.primitive import primitive
from ..core.threads import share

BLOCK = 1 << 17
"""Elements that a kernel of several passes works on at a time: they stay in the cache between the passes."""


def widened(x: Any) -> Any:
    """A floating array, in float32 if it has 16 bits."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def narrowed(x: Any, dtype: np.dtype[Any]) -> Any:
    """The array in the dtype that a result is to have."""
    return x if x.dtype is dtype else x.astype(dtype)


def positive_part(x: Any) -> Any:
    """``maximum(x, 0)``: NumPy is three times as fast over two arrays as over an array and a number."""
    if x.size < ROW or x.dtype not in ZEROS:
        return np.maximum(x, 0)
    if not x.flags.c_contiguous:
        moved = np.moveaxis(x, 1, -1) if x.ndim > 2 else x  # channels may lie last
        return np.moveaxis(positive_part(moved), -1, 1) if moved.flags.c_contiguous else np.maximum(x, 0)
    out, zeros = np.empty_like(x), ZEROS[x.dtype]
    flat, target, whole = x.reshape(-1), out.reshape(-1), x.size - x.size % ROW
    np.maximum(flat[:whole].reshape(-1, ROW), zeros, out=target[:whole].reshape(-1, ROW))
    np.maximum(flat[whole:], zeros[: x.size - whole], out=target[whole:])
    return out


ROW = 1 << 14
ZEROS = {np.dtype(t): np.zeros(ROW, t) for t in (np.float32, np.float64)}


def row_blocks(rows: int, columns: int, block: int = BLOCK) -> Iterator[slice]:
    """Slices of rows, each of about ``block`` elements."""
    step = max(1, block // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def each_block(work: Callable[[slice], None], rows: int, columns: int) -> None:
    """Call ``work`` for blocks of rows, in several threads if there are many; all at once if there are few."""
    if rows * columns <= BLOCK:
        work(slice(None))
    else:
        # Between two calls of NumPy threads wait for each other: the larger a block, the better, but for the cache. Its
        # size is the same for any number of threads, as kernels may look at a block as a whole.
        size = rows * columns
        share(work, row_blocks(rows, columns, max(BLOCK, min(4 * BLOCK, size // 8))), size)


def row_sums(x: Any) -> Any:
    """Sums over the last dimension, which is kept. NumPy's einsum adds rows three times as fast as its reduction."""
    return np.einsum("...i->...", x)[..., None]


def row_exponentials(x: Any, e: Any) -> tuple[Any, Any]:
    """Write the exponentials of rows into ``e``, less their maxima; the maxima and the sums.

    In large arrays of small numbers nothing is subtracted, which saves two passes: the maxima are then None.
    """
    if x.size > SMALL and x[0].max() < SAFE:  # so are the others, probably
        with np.errstate(over="ignore"):
            np.exp(x, out=e)
            sums = row_sums(e)
        if 1 / LARGE < sums.min() and sums.max() < LARGE:
            return None, sums
    top: Any = np.maximum.reduce(x, axis=1, keepdims=True, initial=None if x.shape[1] else -np.inf)
    np.subtract(x, top, out=e)
    np.exp(e, out=e)
    return top, row_sums(e)


SMALL = 1 << 14
SAFE = 8.0
LARGE = float(np.exp(12.0))
"""Sums of exponentials below this did not overflow, and their logarithms are exact to a few units of the last place."""


def kept_shape(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """The shape after a reduction that keeps its dimension, which counts from the end."""
    return (*shape[:dim], 1, *shape[len(shape) + dim + 1 :])


def sum_over(F: Any, x: Any, dim: int) -> Any:
    """The sum over one dimension, which is kept; over arrays or Tensors."""
    return F.sum_to(x, kept_shape(x.shape, dim))


# ---- a constant matrix along one dimension


def map_dim_kernel(xp: Any, input: Any, *, matrix: Any, dim: int) -> Any:
    x = widened(input)
    factor = matrix.astype(x.dtype)
    moved = x if dim == -1 else x.swapaxes(dim, -1)
    out = np.matmul(moved, factor)
    if not np.isfinite(np.add.reduce(out, None)):
        out = weighted_sums(moved, factor)
    return narrowed(np.ascontiguousarray(out if dim == -1 else out.swapaxes(dim, -1)), input.dtype)


def weighted_sums(x: Any, factor: Any) -> Any:
    """The product with a matrix in which a weight of zero leaves out what it meets, be it infinite or nan."""
    from scipy.sparse import csr_matrix

    out = csr_matrix(factor.T) @ x.reshape(math.prod(x.shape[:-1]), x.shape[-1]).T
    return out.T.reshape(*x.shape[:-1], factor.shape[1])


primitive(
    "map_dim",
    map_dim_kernel,
    vjp={"input": lambda F, g, matrix, dim: F.map_dim(g, matrix.T, dim)},
    jvp="linear",
    batch="same",
)
"""The vectors along ``dim`` times ``matrix``, (n, m)."""
