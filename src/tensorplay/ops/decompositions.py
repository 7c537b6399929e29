"""Matrices as products of simpler ones: QR, Householder reflectors, LU, LDL.

Rules follow the differentials of the defining equations, with M* for the conjugate transpose.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import return_types
from ..core.carrier import Meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor, wrap
from . import arguments
from .cholesky import check_system, triangular_right
from .matrices import (
    INT32,
    LinAlgError,
    block,
    diagonal_matrix,
    each,
    element,
    half_diagonal,
    matrix,
    mH,
    minus,
    numpy_dtype,
    same,
    same_dtype,
    square,
    tril,
    triu,
    unit_diagonal,
)

# ---- QR: A = Q R


def qr_kernel(xp: Any, input: Any, *, mode: str) -> Any:
    q, r = xp.linalg.qr(input, mode)
    return q, r


def check_qr(input_shape: Any, mode: str) -> None:
    if mode == "complete" and input_shape[-2] > input_shape[-1]:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols, got a "
                           f"matrix of shape {list(input_shape)}")  # fmt: skip


def qr_vjp(F: Any, g: Any, out: Any, input_shape: Any, mode: str) -> Any:
    """With M = gR R* - Q* gQ and P its upper triangle, diagonal halved: (gQ + Q (P + P*)) R^-*."""
    check_qr(input_shape, mode)
    (gQ, gR), (Q, R) = g, out
    middle = None if gR is None else F.matmul(gR, mH(F, R))
    if gQ is not None:
        inner = F.matmul(mH(F, Q), gQ)
        middle = -inner if middle is None else middle - inner
    middle = half_diagonal(F, triu(F, middle))
    right = F.matmul(Q, middle + mH(F, middle))
    return triangular_right(F, right if gQ is None else gQ + right, mH(F, R), False)


def qr_jvp(F: Any, t: Any, out: Any, input_shape: Any, mode: str) -> Any:
    """With X = Q* dA R^-1, dR R^-1 is the upper triangle of X + X*, diagonal halved."""
    check_qr(input_shape, mode)
    Q, R = out
    moved = triangular_right(F, t, R, True)
    inner = F.matmul(mH(F, Q), moved)
    turn = half_diagonal(F, triu(F, inner + mH(F, inner)))
    return [moved - F.matmul(Q, turn), F.matmul(turn, R)]


def qr_meta(input: Any, mode: str) -> list[Meta]:
    *batch, n, m = input.shape
    k = n if mode == "complete" else min(n, m)
    return [Meta((*batch, n, k), input.dtype), Meta((*batch, k, m), input.dtype)]


primitive("qr", qr_kernel, vjp={"input": qr_vjp}, jvp={"input": qr_jvp}, batch="same", holomorphic=False, outputs=2,
          meta=qr_meta, node_name="LinalgQrBackward0")  # fmt: skip


def orthogonalized(A: Tensor, mode: str) -> tuple[Tensor, Tensor]:
    """QR of any shape; of a wide matrix, Q depends on the leading square block alone."""
    n, m = A._data.shape[-2:]
    if n >= m:
        return F.qr(A, mode)
    Q, R = F.qr(block(F, A, slice(None), slice(0, n)), "reduced")
    return Q, F.cat(R, F.matmul(mH(F, Q), block(F, A, slice(None), slice(n, m))), dim=-1)


@operator(namespace="linalg", method=False)
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """QR decomposition: Q with orthonormal columns and R upper triangular, with Q @ R equal to A.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    mode : {"reduced", "complete", "r"}
        Shapes (..., n, k) and (..., k, m), with k the smaller of n and m; or a square Q; or R alone, and an empty Q.

    Returns
    -------
    Q, R : Tensor
        The named tuple. Differentiable unless ``mode`` is "complete" and n > m.

    Raises
    ------
    RuntimeError
        For an unknown mode.

    Examples
    --------
    >>> import tensorplay as tp
    >>> Q, R = tp.linalg.qr(tp.tensor([[3., 1.], [4., 2.]]))
    >>> (Q @ R).round(decimals=4)
    tensor([[3., 1.],
            [4., 2.]])
    """
    matrix(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")  # fmt: skip
    Q, R = orthogonalized(A, "complete" if mode == "complete" else "reduced")
    return return_types.linalg_qr(Q if mode != "r" else wrap(np.empty(0, A._data.dtype)), R)


@operator(name="qr")
def torch_qr(input: Tensor, some: bool = True) -> Any:
    """QR decomposition; :func:`tensorplay.linalg.qr` in its older form.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, m).
    some : bool
        Whether the reduced decomposition is wanted, or that with a square Q.

    Returns
    -------
    Q, R : Tensor
        The named tuple.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.qr(tp.ones(3, 2)).R.shape
    tensorplay.Size([2, 2])
    """
    return return_types.qr(*orthogonalized(matrix(input, "qr", "input"), "reduced" if some else "complete"))


# ---- Householder reflectors


def geqrf_kernel(xp: Any, input: Any) -> Any:
    n, m = input.shape[-2:]
    if not input.size:
        return input.copy(), np.zeros((*input.shape[:-2], min(n, m)), input.dtype)
    h, tau = xp.linalg.qr(input, "raw")
    return h.swapaxes(-1, -2), tau


primitive("geqrf", geqrf_kernel, batch="same", outputs=2,
          meta=lambda input: [same(input), Meta((*input.shape[:-2], min(input.shape[-2:])), input.dtype)])  # fmt: skip


@operator()
def geqrf(input: Tensor) -> Any:
    """QR decomposition in LAPACK's form: R above, reflectors below the diagonal, and their factors.

    Not differentiable.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, m).

    Returns
    -------
    a, tau : Tensor
        The named tuple, of shapes (..., n, m) and (..., min(n, m)).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.geqrf(tp.ones(3, 2)).tau.shape
    tensorplay.Size([2])
    """
    return return_types.geqrf(*F.geqrf(matrix(input, "geqrf", "input").detach()))


def reflectors(name: str, input: Tensor, tau: Tensor) -> tuple[Tensor, Tensor]:
    """V and T such that the product of the reflectors is 1 - V T V*.

    With D the diagonal of tau and S the strict upper triangle of V* V, T = (1 + D S)^-1 D: R. Schreiber, C. Van Loan,
    A storage-efficient WY representation for products of Householder transformations, 1989.
    """
    matrix(input, name, "input")
    arguments.tensor(tau, name, "tau", 2)
    n, m = input._data.shape[-2:]
    k = tau._data.shape[-1] if tau._data.ndim else 0
    if n < m:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1], got {n} and {m}")
    if k > m:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], got {m} and {k}")
    if tau._data.ndim != input._data.ndim - 1 or tau._data.shape[:-1] != input._data.shape[:-2]:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input and the same batch, got tau of "
                           f"shape {list(tau.shape)} and input of shape {list(input.shape)}")  # fmt: skip
    same_dtype(name, input=input, tau=tau)
    V = unit_diagonal(F, tril(F, block(F, input, slice(None), slice(0, k))))
    factors = F.reshape(tau, (*tau._data.shape, 1))
    inner = factors * triu(F, F.matmul(mH(F, V), V), 1)
    return V, F.solve_triangular(inner, diagonal_matrix(F, tau), True, True)


@operator(namespace="linalg", method=False)
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of Householder reflectors, as :func:`tensorplay.geqrf` returns them.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m) with n >= m: the reflectors, below the diagonal.
    tau : Tensor
        Shape (..., k) with k <= m: their factors.

    Returns
    -------
    Tensor
        Shape (..., n, m).

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> a, tau = tp.geqrf(tp.tensor([[3.], [4.]]))
    >>> tp.linalg.householder_product(a, tau)
    tensor([[-0.6000],
            [-0.8000]])
    """
    V, T = reflectors("linalg.householder_product", A, tau)
    m = A._data.shape[-1]
    left = block(F, mH(F, V), slice(None), slice(0, m))
    return minus(F, F.matmul(V, F.matmul(T, left)))


@operator(method=False)
def orgqr(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of reflectors; :func:`tensorplay.linalg.householder_product`.

    Parameters
    ----------
    input, tau : Tensor
        Shapes (..., n, m) and (..., k).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.orgqr(*tp.geqrf(tp.tensor([[3.], [4.]])))
    tensor([[-0.6000],
            [-0.8000]])
    """
    return householder_product(input, tau)


@operator(name="orgqr", function=False, out=False)
def orgqr_method(input: Tensor, input2: Tensor) -> Tensor:
    """:func:`orgqr`, with the method's name for the second argument."""
    return orgqr(input, input2)


@operator(method=False)
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Multiply a matrix with a product of Householder reflectors.

    Parameters
    ----------
    input, tau : Tensor
        The reflectors, of shapes (..., n, k) and (..., k).
    other : Tensor
        Shape (..., n, m), or (..., m, n) if ``left`` is False.
    left, transpose : bool
        Whether the product Q stands on the left, and is (conjugate) transposed.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.ormqr(*tp.geqrf(tp.tensor([[3.], [4.]])), tp.tensor([[3.], [4.]]), transpose=True).round(decimals=4)
    tensor([[-5.],
            [ 0.]])
    """
    n, m = matrix(input, "ormqr", "input")._data.shape[-2:]
    extent = matrix(other, "ormqr", "other", 3)._data.shape[-2 if left else -1]
    if extent != n:
        raise RuntimeError(f"ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], got {extent} "
                           f"and {n}")  # fmt: skip
    if n < m:  # only the first reflectors exist
        input = block(F, input, slice(None), slice(0, n))
    V, T = reflectors("ormqr", input, tau)
    same_dtype("ormqr", input=input, other=other)
    T = mH(F, T) if transpose else T
    if left:
        return other - F.matmul(V, F.matmul(T, F.matmul(mH(F, V), other)))
    return other - F.matmul(F.matmul(F.matmul(other, V), T), mH(F, V))


@operator(name="ormqr", function=False, out=False)
def ormqr_method(
    input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """:func:`ormqr`, with the method's names for the second and third arguments."""
    return ormqr(input, input2, input3, left, transpose)


# ---- LU with row exchanges: A = P L U


def lu_factor_kernel(xp: Any, input: Any, *, check: str) -> Any:
    packed, pivots, info = each(getrf(input.dtype), input)
    if check and info.any():
        where, order = element(info)
        raise LinAlgError(f"{check}: {where}U[{order},{order}] is zero and using it on lu_solve would result in a "
                          "division by zero. If you still want to perform the factorization, consider calling "
                          "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")  # fmt: skip
    return packed, pivots, info


def getrf(dtype: Any) -> Any:
    """LAPACK's LU of a matrix; pivots count from 1."""
    from scipy.linalg.lapack import get_lapack_funcs

    (lapack,) = get_lapack_funcs(("getrf",), dtype=dtype)

    def factor(a: Any) -> Any:
        if not a.size:
            return a.copy(), np.arange(1, min(a.shape) + 1, dtype=np.int32), np.int32(0)
        packed, pivots, info = lapack(a)
        return packed, pivots.astype(np.int32) + 1, np.int32(info)

    return factor


def pivot_matrix_kernel(xp: Any, input: Any, *, n: int, dtype: Any) -> Any:
    """The permutation P of A = P L U."""
    *batch, k = input.shape
    pivots = input.reshape(math.prod(batch), k).astype(np.int64) - 1
    if pivots.size and (pivots.min() < 0 or pivots.max() >= n):
        raise RuntimeError(f"lu_unpack: LU_pivots must be between 1 and {n}, the number of rows of LU_data; did you "
                           "properly pass the result of lu_factor()?")  # fmt: skip
    order = np.tile(np.arange(n), (len(pivots), 1))
    every = np.arange(len(pivots))
    for i in range(k):
        j = pivots[:, i]
        moved = order[every, j]
        order[every, j] = order[:, i]
        order[:, i] = moved
    return np.eye(n, dtype=dtype)[order].swapaxes(-1, -2).reshape(*batch, n, n)


primitive("pivot_matrix", pivot_matrix_kernel, batch="same",
          meta=lambda input, n, dtype: Meta((*input.shape[:-1], n, n), dtype))  # fmt: skip


def lu_parts(F: Any, packed: Any) -> tuple[Any, ...]:
    """Square L and U, and what is left of L below or of U to the right."""
    n, m = packed.shape[-2:]
    k = min(n, m)
    head = block(F, packed, slice(0, k), slice(0, k))
    return k, head, block(F, packed, slice(k, n), slice(0, k)), block(F, packed, slice(0, k), slice(k, m))


def lu_vjp(F: Any, g: Any, out: Any) -> Any:
    packed, P = out[0], F.pivot_matrix(out[1], out[0].shape[-2], numpy_dtype(out[0]))
    k, head, below, right = lu_parts(F, packed)
    k, g_head, g_below, g_right = lu_parts(F, g[0])
    L = unit_diagonal(F, tril(F, head))
    U = triu(F, head)
    gL, gU = tril(F, g_head, -1), triu(F, g_head)
    rows, columns = packed.shape[-2:]
    if rows > k:  # L2 = A2 U^-1
        g_below = triangular_right(F, g_below, F.mT(U), False)
        gU = gU - F.matmul(F.mT(below), g_below)
    if columns > k:  # U2 = L^-1 A2
        g_right = F.solve_triangular(F.mT(L), g_right, True, True)
        gL = gL - F.matmul(g_right, F.mT(right))
    inner = tril(F, F.matmul(F.mT(L), gL), -1) + triu(F, F.matmul(gU, F.mT(U)))
    inner = F.solve_triangular(F.mT(L), triangular_right(F, inner, F.mT(U), False), True, True)
    if rows > k:
        inner = F.cat(inner, g_below, dim=-2)
    elif columns > k:
        inner = F.cat(inner, g_right, dim=-1)
    return F.matmul(P, inner)


def lu_jvp(F: Any, t: Any, out: Any) -> Any:
    packed, P = out[0], F.pivot_matrix(out[1], out[0].shape[-2], numpy_dtype(out[0]))
    k, head, below, right = lu_parts(F, packed)
    L = unit_diagonal(F, tril(F, head))
    U = triu(F, head)
    _, t_head, t_below, t_right = lu_parts(F, F.matmul(F.mT(P), t))
    inner = triangular_right(F, F.solve_triangular(L, t_head, False, True), U, True)
    dL, dU = F.matmul(L, tril(F, inner, -1)), F.matmul(triu(F, inner), U)
    rows, columns = packed.shape[-2:]
    tangent = dL + dU
    if rows > k:
        tangent = F.cat(tangent, triangular_right(F, t_below - F.matmul(below, dU), U, True), dim=-2)
    elif columns > k:
        tangent = F.cat(tangent, F.solve_triangular(L, t_right - F.matmul(dL, right), False, True), dim=-1)
    return [tangent, None, None]


def packed_meta(input: Any, *attrs: Any) -> list[Meta]:
    """Packed factors, pivots and codes of success."""
    *batch, n, m = input.shape
    return [same(input), Meta((*batch, min(n, m)), INT32), Meta(tuple(batch), INT32)]


primitive("lu_factor", lu_factor_kernel, vjp={"input": lu_vjp}, jvp={"input": lu_jvp}, batch="same", outputs=3,
          meta=packed_meta, node_name="LinalgLuFactorExBackward0")  # fmt: skip


def check_pivot(name: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


@operator(namespace="linalg", method=False)
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """LU decomposition with row exchanges, packed into one matrix.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    pivot : bool
        Must be True.

    Returns
    -------
    LU, pivots : Tensor
        The named tuple of U with L below its diagonal, and the exchanges, counted from 1, of int32.

    Raises
    ------
    LinAlgError
        If U has a zero on its diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.lu_factor(tp.tensor([[2., 1.], [4., 4.]]))
    tensorplay.return_types.linalg_lu_factor(
    LU=tensor([[ 4.0000,  4.0000],
            [ 0.5000, -1.0000]]),
    pivots=tensor([2, 2], dtype=tensorplay.int32))
    """
    check_pivot("linalg.lu_factor", pivot)
    return return_types.linalg_lu_factor(*F.lu_factor(matrix(A, "linalg.lu_factor"), "linalg.lu_factor")[:2])


@operator(namespace="linalg", method=False)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """LU decomposition together with a code of success, instead of an error.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    pivot : bool
        Must be True.
    check_errors : bool
        Whether to raise all the same.

    Returns
    -------
    LU, pivots, info : Tensor
        The named tuple; ``info`` is 0 or the position, from 1, of the first zero on the diagonal of U.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.lu_factor_ex(tp.zeros(2, 2)).info
    tensor(1, dtype=tensorplay.int32)
    """
    name = "linalg.lu_factor_ex"
    check_pivot(name, pivot)
    return return_types.linalg_lu_factor_ex(*F.lu_factor(matrix(A, name), name if check_errors else ""))


def unpacked(packed: Tensor) -> tuple[Tensor, Tensor]:
    """L and U."""
    k = min(packed._data.shape[-2:])
    L = unit_diagonal(F, tril(F, block(F, packed, slice(None), slice(0, k))))
    return L, triu(F, block(F, packed, slice(0, k), slice(None)))


@operator(namespace="linalg", method=False)
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """LU decomposition: P @ L @ U equal to A, P a permutation, L unit lower and U upper triangular.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    pivot : bool
        Must be True.

    Returns
    -------
    P, L, U : Tensor
        The named tuple, of shapes (..., n, n), (..., n, k) and (..., k, m), with k the smaller of n and m.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.lu(tp.tensor([[2., 1.], [4., 4.]])).L
    tensor([[1.0000, 0.0000],
            [0.5000, 1.0000]])
    """
    check_pivot("linalg.lu", pivot)
    packed, pivots, _ = F.lu_factor(matrix(A, "linalg.lu"), "")
    return return_types.linalg_lu(F.pivot_matrix(pivots, A._data.shape[-2], A._data.dtype), *unpacked(packed))


@operator(name="lu")
def torch_lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """LU decomposition, packed; :func:`tensorplay.linalg.lu_factor_ex` in its older form.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    pivot : bool
        Must be True.
    get_infos : bool
        Whether to return the codes of success as well.

    Returns
    -------
    tuple of Tensors
        LU, pivots, and the codes if wanted.

    Raises
    ------
    LinAlgError
        If U has a zero on its diagonal and the codes are not wanted.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.lu(tp.tensor([[2., 0.], [0., 1.]]))[1]
    tensor([1, 2], dtype=tensorplay.int32)
    """
    check_pivot("lu", pivot)
    packed, pivots, info = F.lu_factor(matrix(A, "lu"), "" if get_infos else "lu")
    return (packed, pivots, info) if get_infos else (packed, pivots)


@operator(method=False)
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U from a packed LU decomposition.

    Parameters
    ----------
    LU_data, LU_pivots : Tensor
        As :func:`tensorplay.linalg.lu_factor` returns them.
    unpack_data, unpack_pivots : bool
        Whether L and U, and P, are wanted; empty tensors otherwise.

    Returns
    -------
    P, L, U : Tensor
        The named tuple.

    Raises
    ------
    RuntimeError
        If the pivots are not of int32 or out of range.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.lu_unpack(*tp.linalg.lu_factor(tp.tensor([[2., 1.], [4., 4.]]))).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    matrix(LU_data, "lu_unpack", "LU_data")
    if unpack_pivots and arguments.tensor(LU_pivots, "lu_unpack", "LU_pivots", 2)._data.dtype != np.int32:
        raise RuntimeError("torch.int32 dtype is expected for LU_pivots of lu_unpack, but they are of "
                           f"{LU_pivots.dtype}".replace("torch.", "tensorplay."))  # fmt: skip
    none = wrap(np.empty(0, LU_data._data.dtype))
    P = F.pivot_matrix(LU_pivots, LU_data._data.shape[-2], LU_data._data.dtype) if unpack_pivots else none
    return return_types.lu_unpack(P, *(unpacked(LU_data) if unpack_data else (none, none)))


@operator(namespace="linalg", method=False)
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """Solve AX = B, or XA = B, given the packed LU decomposition of A.

    Parameters
    ----------
    LU, pivots : Tensor
        As :func:`tensorplay.linalg.lu_factor` returns them, of shapes (..., n, n) and (..., n).
    B : Tensor
        Shape (..., n, k), or (..., k, n) if ``left`` is False.
    left, adjoint : bool
        Whether to solve AX = B, and whether for the conjugate transpose of A.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.lu_solve(*tp.linalg.lu_factor(tp.tensor([[2., 1.], [4., 4.]])), tp.tensor([[3.], [8.]]))
    tensor([[1.],
            [1.]])
    """
    name = "linalg.lu_solve"
    square(LU, name, "LU")
    matrix(B, name, "B", 3)
    if arguments.tensor(pivots, name, "pivots", 2)._data.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type tensorplay.int32, got {pivots.dtype}")
    if pivots._data.shape != LU._data.shape[:-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix, got "
                           f"pivots of shape {list(pivots.shape)} for LU of shape {list(LU.shape)}")  # fmt: skip
    check_system(name, LU, B, left)
    if not left:  # the adjoint of XA = B
        return mH(F, lu_solve(LU, pivots, mH(F, B), adjoint=not adjoint))
    P = F.pivot_matrix(pivots, LU._data.shape[-2], LU._data.dtype)
    if adjoint:
        inner = F.solve_triangular(mH(F, LU), B, False, False)
        return F.matmul(P, F.solve_triangular(mH(F, LU), inner, True, True))
    inner = F.solve_triangular(LU, F.matmul(F.mT(P), B), False, True)
    return F.solve_triangular(LU, inner, True, False)


@operator(name="lu_solve")
def torch_lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Solve AX = b, given the packed LU decomposition of A; :func:`tensorplay.linalg.lu_solve` in its older form.

    Parameters
    ----------
    b : Tensor
        Shape (..., n, k).
    LU_data, LU_pivots : Tensor
        As :func:`tensorplay.linalg.lu_factor` returns them.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.lu_solve(tp.tensor([[3.], [8.]]), *tp.linalg.lu_factor(tp.tensor([[2., 1.], [4., 4.]])))
    tensor([[1.],
            [1.]])
    """
    return lu_solve(LU_data, LU_pivots, b)


# ---- LDL: A = P L D L* P*


def ldl_factor_kernel(xp: Any, input: Any, *, hermitian: bool, check: str) -> Any:
    from scipy.linalg.lapack import get_lapack_funcs

    (sytrf,) = get_lapack_funcs(("hetrf" if hermitian and input.dtype.kind == "c" else "sytrf",), dtype=input.dtype)

    def factor(a: Any) -> Any:
        if not a.size:
            return a.copy(), np.zeros(0, np.int32), np.int32(0)
        packed, pivots, info = sytrf(a, lower=1)
        return np.tril(packed), pivots.astype(np.int32), np.int32(info)

    packed, pivots, info = each(factor, input)
    if check and info.any():
        where, order = element(info)
        raise LinAlgError(f"{check}: {where}D[{order},{order}] is zero and using it on ldl_solve would result in a "
                          "division by zero.")  # fmt: skip
    return packed, pivots, info


primitive("ldl_factor", ldl_factor_kernel, batch="same", outputs=3, meta=packed_meta)


def ldl_unpack_kernel(xp: Any, input: Any, pivots: Any, *, hermitian: bool) -> Any:
    """The permutation P, the unit lower triangular L, and D with blocks of one or two rows.

    LAPACK stores L as a product of exchanges and of single columns; exchanging rows in the columns before each
    exchange makes it one matrix.
    """

    def unpack(packed: Any, exchanges: Any) -> Any:
        n, exchanges = len(packed), exchanges[:, 0].tolist()
        L, D, order = np.tril(packed, -1) + np.eye(n, dtype=packed.dtype), np.diag(np.diag(packed)), np.arange(n)
        k = 0
        while k < n:
            p, rows = exchanges[k], 1
            if p < 0:
                rows, p = 2, -p
                D[k + 1, k], L[k + 1, k] = packed[k + 1, k], 0
                D[k, k + 1] = np.conj(packed[k + 1, k]) if hermitian else packed[k + 1, k]
            i, j = k + rows - 1, p - 1
            L[[i, j], :k] = L[[j, i], :k]
            order[[i, j]] = order[[j, i]]
            k += rows
        return np.eye(n, dtype=packed.dtype)[:, order], L, D

    return each(unpack, input, pivots[..., None])


primitive("ldl_unpack", ldl_unpack_kernel, batch="same", outputs=3, meta=lambda input, *rest: [same(input)] * 3)


@operator(namespace="linalg", method=False)
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """LDL decomposition of a symmetric (or Hermitian) matrix that may be indefinite, packed. Not differentiable.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n); the lower triangle is read.
    hermitian : bool
        Whether a complex matrix is Hermitian rather than symmetric.

    Returns
    -------
    LD, pivots : Tensor
        The named tuple, in LAPACK's form.

    Raises
    ------
    LinAlgError
        If D is singular.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.ldl_factor(tp.tensor([[2., 1.], [1., 2.]])).LD
    tensor([[2.0000, 0.0000],
            [0.5000, 1.5000]])
    """
    name = "linalg.ldl_factor"
    return return_types.linalg_ldl_factor(*F.ldl_factor(square(A, name).detach(), bool(hermitian), name)[:2])


@operator(namespace="linalg", method=False)
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """LDL decomposition together with a code of success, instead of an error. Not differentiable.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n); the lower triangle is read.
    hermitian, check_errors : bool
        Whether a complex matrix is Hermitian, and whether to raise all the same.

    Returns
    -------
    LD, pivots, info : Tensor
        The named tuple; ``info`` is 0 or the position, from 1, of the first zero of D.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.ldl_factor_ex(tp.zeros(2, 2)).info
    tensor(1, dtype=tensorplay.int32)
    """
    name = "linalg.ldl_factor_ex"
    out = F.ldl_factor(square(A, name).detach(), bool(hermitian), name if check_errors else "")
    return return_types.linalg_ldl_factor_ex(*out)


@operator(namespace="linalg", method=False)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """Solve AX = B, given the packed LDL decomposition of A. Differentiable with respect to B.

    Parameters
    ----------
    LD, pivots : Tensor
        As :func:`tensorplay.linalg.ldl_factor` returns them.
    B : Tensor
        Shape (..., n, k).
    hermitian : bool
        Whether a complex A is Hermitian.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> LD, pivots = tp.linalg.ldl_factor(tp.tensor([[2., 1.], [1., 2.]]))
    >>> tp.linalg.ldl_solve(LD, pivots, tp.tensor([[3.], [3.]]))
    tensor([[1.],
            [1.]])
    """
    name = "linalg.ldl_solve"
    square(LD, name, "LD")
    matrix(B, name, "B", 3)
    if arguments.tensor(pivots, name, "pivots", 2)._data.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype}")
    if pivots._data.shape != LD._data.shape[:-1]:
        raise RuntimeError(f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots of shape "
                           f"{list(pivots.shape)} for LD of shape {list(LD.shape)}")  # fmt: skip
    check_system(name, LD, B, True)
    P, L, D = F.ldl_unpack(LD.detach(), pivots, bool(hermitian))
    inner = F.solve(D, F.solve_triangular(L, F.matmul(F.mT(P), B), False, True), "")
    return F.matmul(P, F.solve_triangular(mH(F, L) if hermitian else F.mT(L), inner, True, True))
