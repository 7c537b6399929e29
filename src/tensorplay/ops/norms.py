"""Norms of matrices and what follows from them: condition, rank, distances between rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments
from .extrema import amax, amin
from .least_squares import tolerances
from .matmul import batch_shape, product_meta, sum_batch
from .matrices import TYPE_NAMES, each, floating, matrix, square
from .reduction import vector_norm
from .spectra import eigvalsh, svdvals

# ---- norms


@operator(namespace="linalg", method=False)
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Norm of the matrices in two dimensions.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m), of a floating or complex dtype.
    ord : {"fro", "nuc", inf, -inf, 1, -1, 2, -2}
        The square root of the sum of squares; the sum of singular values; the largest or smallest sum of absolute
        values of a row (inf) or column (1); the largest or smallest singular value.
    dim : tuple of two ints
        The dimensions of rows and columns.
    keepdim : bool
        Whether the two dimensions stay, with extent 1.
    dtype : dtype, optional
        What to cast to first.

    Raises
    ------
    RuntimeError
        If the order is unknown, or the dimensions are equal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.matrix_norm(tp.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    name = "linalg.matrix_norm"
    arguments.tensor(A, name, "A")
    if A._data.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if isinstance(dim, (tuple, list)) and len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {tuple(dim)}")
    rows, columns = (arguments.dimension(d, A._data.ndim, name) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got {tuple(dim)}")
    if isinstance(ord, str):
        if ord not in ("fro", "nuc"):
            raise RuntimeError(f"{name}: Order {ord} not supported.")
    elif abs(ord := arguments.real(ord, name, "ord", 2)) not in (1, 2, math.inf):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    if dtype is not None:
        A = arguments.cast(A, dtype, name)
    if ord in ("nuc", 2, -2):
        values = svdvals(last(floating(A, name), rows, columns))
        out = F.sum(values, (-1,), False) if ord == "nuc" else extreme(values, -1, ord > 0)
        if keepdim:
            kept = list(A._data.shape)
            kept[rows] = kept[columns] = 1
            out = F.reshape(out, tuple(kept))
        return out
    if abs(ord) == 1:
        rows, columns = columns, rows
    sums = vector_norm(A, 1, columns, True)
    out = extreme(sums, rows, ord > 0, True)
    shape = tuple(n for i, n in enumerate(out._data.shape, -A._data.ndim) if keepdim or i not in (rows, columns))
    return F.reshape(out, shape)


def extreme(values: Tensor, dim: int, largest: bool, keepdim: bool = False) -> Tensor:
    """The largest or smallest of numbers that are not negative; the largest of none is 0."""
    if largest and not values._data.shape[dim]:
        return F.sum(values, (dim,), keepdim)
    return (amax if largest else amin)(values, dim, keepdim)


def last(A: Tensor, rows: int, columns: int) -> Tensor:
    """The two dimensions moved to the end."""
    if (rows, columns) == (-2, -1):
        return A
    order = [d for d in range(-A._data.ndim, 0) if d not in (rows, columns)]
    return F.permute(A, (*order, rows, columns))


@operator(name="norm", namespace="linalg", method=False)
def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Norm of a vector or a matrix, by the dimensions given.

    Parameters
    ----------
    A : Tensor
        Of a floating or complex dtype.
    ord : optional
        As in :func:`tensorplay.linalg.vector_norm` or :func:`tensorplay.linalg.matrix_norm`; without it, the square
        root of the sum of squares.
    dim : int or tuple of ints, optional
        One dimension: vectors; two: matrices. Without it, and with ``ord``, A has one or two dimensions; with neither,
        all elements are one vector.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    dtype : dtype, optional
        What to cast to first.

    Raises
    ------
    RuntimeError
        If the dimensions do not fit the order.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.norm(tp.tensor([3., -4.]))
    tensor(5.)
    """
    name = "linalg.norm"
    ndim = arguments.tensor(A, name, "A")._data.ndim
    if dim is not None:
        dim = (dim,) if not isinstance(dim, (tuple, list)) else tuple(dim)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if ndim not in (1, 2):
            raise RuntimeError(f"{name}: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D.")
        dim = tuple(range(ndim))
    if len(dim) not in (1, 2):
        raise RuntimeError(f"{name}: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if len(dim) == 2:
        return matrix_norm(A, ord, dim, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"{name}: Order {ord} not supported for vectors; dim has one dimension, {dim[0]}")
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


@operator(namespace="linalg", method=False)
def cond(A: Tensor, p: Any = None) -> Tensor:
    """Condition number of a matrix: its norm times that of the inverse.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n), or (..., n, m) for the orders None, 2 and -2.
    p : {None, "fro", "nuc", inf, -inf, 1, -1, 2, -2}
        The norm, as in :func:`tensorplay.linalg.matrix_norm`; None is 2.

    Returns
    -------
    Tensor
        Real; inf for a singular matrix.

    Raises
    ------
    RuntimeError
        If the order is unknown, or needs a square matrix.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.cond(tp.tensor([[4., 0.], [0., 2.]]))
    tensor(2.)
    """
    name = "linalg.cond"
    matrix(A, name)
    if p is None or p == 2 or p == -2:
        values = svdvals(A)
        if not values._data.shape[-1]:
            return F.sum(values, (-1,), False)
        index = (slice(None),) * (values._data.ndim - 1)
        largest, smallest = F.slice(values, (*index, 0)), F.slice(values, (*index, values._data.shape[-1] - 1))
        return F.div(smallest, largest) if p == -2 else F.div(largest, smallest)
    if p not in ("fro", "nuc", math.inf, -math.inf, 1, -1):
        raise RuntimeError(f"{name} got an invalid norm type: {p}")
    square(A, f"{name}(ord={p})")
    if not A._data.size:
        return F.sum(vector_norm(A, 1, (-2, -1), True), (-2, -1), False)
    inverse = F.inv(A, "")
    product = matrix_norm(A, p) * matrix_norm(F.where(F.isnan(inverse), 0, inverse) if p == "nuc" else inverse, p)
    singular = F.gt(F.lu_factor(A.detach(), "")[2], 0)
    return F.where(singular, math.inf, product)


@operator(namespace="linalg", method=False)
def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Number of singular values that are not zero.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    tol : float or Tensor, optional
        An older name of ``atol``, with ``rtol`` zero.
    hermitian : bool
        Whether A may be taken to be Hermitian.
    atol, rtol : float or Tensor, optional
        As for :func:`tensorplay.linalg.pinv`.

    Returns
    -------
    Tensor
        Of int64, with the shape of the batch.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.matrix_rank(tp.tensor([[1., 2.], [2., 4.]]))
    tensor(1)
    """
    name = "linalg.matrix_rank"
    (square if hermitian else matrix)(A, name)
    if tol is not None:
        atol, rtol = tol, 0.0
    absolute, relative = tolerances(name, A, atol, rtol)
    values = F.abs(eigvalsh(A.detach())) if hermitian else svdvals(A.detach())
    if not values._data.size:
        return F.cast(F.sum(values, (-1,), False), np.dtype(np.int64))
    limit = F.maximum(absolute, F.mul(relative, extreme(values, -1, True)))
    large = F.gt(values, F.reshape(limit, (*limit._data.shape, 1)))
    return F.sum(F.cast(large, np.dtype(np.int64)), (-1,), False)


@operator(inplace=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale the slices along one dimension whose norm is larger down to ``maxnorm``.

    Parameters
    ----------
    input : Tensor
        At least two dimensions.
    p : float
        The order of the norm, positive.
    dim : int
        The dimension that counts the slices.
    maxnorm : float
        The largest norm allowed.

    Raises
    ------
    RuntimeError
        If the input has fewer than two dimensions, ``p`` is not positive or ``maxnorm`` negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.renorm(tp.tensor([[3., 4.], [0., 1.]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    ndim = arguments.tensor(input, "renorm")._data.ndim
    p, maxnorm = arguments.number(p, "renorm", "p", 2), arguments.number(maxnorm, "renorm", "maxnorm", 4)
    if not isinstance(p, (int, float)):
        raise RuntimeError(f"renorm: p must be real-valued, got {p}")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got {p}")
    if not isinstance(maxnorm, (int, float)):
        raise RuntimeError(f"renorm: maxnorm must be real-valued, got {maxnorm}")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {ndim} dimensions")
    dim = arguments.dimension(dim, ndim, "renorm", position=3)
    norms = vector_norm(input, p, tuple(d for d in range(-ndim, 0) if d != dim), True)
    return F.mul(input, F.where(F.gt(norms, maxnorm), maxnorm / (norms + 1e-7), 1.0))


# ---- distances


def cdist_kernel(xp: Any, input: Any, other: Any) -> Any:
    """By differences rather than products, which lose the small distances."""
    from scipy.spatial.distance import cdist

    if not input.shape[-1] or not input.size or not other.size:
        batch = np.broadcast_shapes(input.shape[:-2], other.shape[:-2])
        return np.zeros((*batch, input.shape[-2], other.shape[-2]), input.dtype)
    return each(lambda a, b: cdist(a, b), input, other).astype(input.dtype)


def cdist_weights(F: Any, g: Any, out: Any) -> Any:
    """g / distance, and 0 where two points coincide."""
    same = out == 0
    return F.where(same, 0, g / F.where(same, 1, out))


def cdist_input_vjp(F: Any, g: Any, input: Any, other: Any, out: Any, input_shape: Any) -> Any:
    weights = cdist_weights(F, g, out)
    return sum_batch(F, input * F.sum(weights, (-1,), True) - F.matmul(weights, other), input_shape)


def cdist_other_vjp(F: Any, g: Any, input: Any, other: Any, out: Any, other_shape: Any) -> Any:
    return cdist_input_vjp(F, F.mT(g), other, input, F.mT(out), other_shape)


def cdist_input_jvp(F: Any, t: Any, input: Any, other: Any, out: Any) -> Any:
    return cdist_weights(F, F.sum(t * input, (-1,), True) - F.matmul(t, F.mT(other)), out)


def cdist_other_jvp(F: Any, t: Any, input: Any, other: Any, out: Any) -> Any:
    return F.mT(cdist_input_jvp(F, t, other, input, F.mT(out)))


primitive(
    "cdist", cdist_kernel, vjp={"input": cdist_input_vjp, "other": cdist_other_vjp},
    jvp={"input": cdist_input_jvp, "other": cdist_other_jvp}, batch="elementwise",
    meta=lambda input, other: product_meta(input, other.swapaxes(-1, -2)),
)  # fmt: skip
"""Euclidean distances."""


@operator(method=False, out=False)
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """Distances between all rows of one matrix and all of another.

    Parameters
    ----------
    x1, x2 : Tensor
        Shapes (..., n, k) and (..., m, k), of one floating dtype.
    p : float
        The order of the norm; 2 is the Euclidean distance, inf the largest difference, 0 the number of differences.
    compute_mode : str
        One of "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist" and "donot_use_mm_for_euclid_dist". All
        give the same here: distances come from the differences, which is exact for close points.

    Returns
    -------
    Tensor
        Shape (..., n, m). The gradient is zero where two rows are equal.

    Raises
    ------
    RuntimeError
        If shapes, dtypes or ``p`` do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cdist(tp.tensor([[0., 0.], [3., 0.]]), tp.tensor([[0., 4.]]))
    tensor([[4.],
            [5.]])
    """
    if type(p) is not float:
        p = arguments.real(p, "cdist", "p", 3)
    left, right = arguments.tensor(x1, "cdist", "x1")._data, arguments.tensor(x2, "cdist", "x2", 2)._data
    for argument, data in (("X1", left), ("X2", right)):
        if data.dtype.kind != "f" or data.dtype.itemsize < 4:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {argument} got: "
                               f"{TYPE_NAMES.get(data.dtype.name, data.dtype.name)}")  # fmt: skip
        if data.ndim < 2:
            raise RuntimeError(f"cdist: {argument} should have at least two dimensions, got {data.ndim}")
    if left.dtype != right.dtype:
        raise RuntimeError(f"cdist: X1 and X2 must have the same dtype, got {x1.dtype} and {x2.dtype}")
    if left.shape[-1] != right.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {left.shape[-1]} X2: {right.shape[-1]}"
                           "")  # fmt: skip
    if not p >= 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    batch_shape("cdist", left.shape[:-2], right.shape[:-2])
    if p == 2:
        return F.cdist(x1, x2)
    *batch, n, k = left.shape
    difference = F.reshape(x1, (*batch, n, 1, k)) - F.reshape(x2, (*right.shape[:-2], 1, *right.shape[-2:]))
    if not k:
        return F.sum(difference, (-1,), False)
    return vector_norm(difference, p, -1)
