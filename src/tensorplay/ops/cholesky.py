"""Triangular systems and the Cholesky decomposition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import return_types
from ..core.carrier import Meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from .matmul import batch_shape, sum_batch
from .matrices import (
    INT32,
    LinAlgError,
    as_columns,
    each,
    element,
    half_lower,
    identity,
    matrix,
    mH,
    same,
    same_dtype,
    square,
    symmetrized,
    systems,
    tril,
    triu,
)

# ---- triangular systems


def solve_triangular_kernel(xp: Any, input: Any, other: Any, *, upper: bool, unitriangular: bool) -> Any:
    from scipy.linalg.blas import get_blas_funcs

    if math.prod(np.broadcast_shapes(input.shape[:-2], other.shape[:-2])) > 4 * input.shape[-1] and input.ndim > 2:
        return substituted(input, other, upper, unitriangular)
    (trsm,) = get_blas_funcs(("trsm",), (input, other))

    def solve(a: Any, b: Any) -> Any:
        if not b.size:
            return np.zeros(b.shape, b.dtype)
        # BLAS counts columns first: the transpose of an array is what it reads without a copy
        turned, lower = (False, not upper) if a.flags.f_contiguous else (True, upper)
        factor = a.T if turned else a
        if b.flags.f_contiguous:
            return trsm(1, factor, b, trans_a=turned, lower=lower, diag=unitriangular)
        return trsm(1, factor, b.T, side=1, trans_a=not turned, lower=lower, diag=unitriangular).T  # X^T A^T = B^T

    if input.ndim == 2 < other.ndim:
        return as_columns(lambda wide: solve(input, wide), other)
    return each(solve, input, other)


def substituted(input: Any, other: Any, upper: bool, unitriangular: bool) -> Any:
    """Row by row, for all matrices of a batch together: faster than one call for each if they are many and small."""
    n = input.shape[-1]
    out = np.empty((*np.broadcast_shapes(input.shape[:-2], other.shape[:-2]), *other.shape[-2:]), other.dtype)
    with np.errstate(all="ignore"):
        for i in reversed(range(n)) if upper else range(n):
            done = slice(i + 1, n) if upper else slice(0, i)
            row = other[..., i, :] - (input[..., i : i + 1, done] @ out[..., done, :])[..., 0, :]
            out[..., i, :] = row if unitriangular else row / input[..., i, i, None]
    return out


def solve_triangular_vjp(
    F: Any, g: Any, input: Any, out: Any, input_shape: Any, other_shape: Any, upper: bool,
    unitriangular: bool, needs: Any,
) -> Any:  # fmt: skip
    of_other = F.solve_triangular(F.mT(input), g, not upper, unitriangular)
    of_input = None
    if needs[0]:
        of_input = sum_batch(F, triangle(F, -F.matmul(of_other, F.mT(out)), upper, unitriangular), input_shape)
    return of_input, sum_batch(F, of_other, other_shape) if needs[1] else None


def solve_triangular_jvp(F: Any, tangents: Any, input: Any, out: Any, upper: bool, unitriangular: bool) -> Any:
    of_input, of_other = tangents
    right = of_other
    if of_input is not None:
        moved = F.matmul(triangle(F, of_input, upper, unitriangular), out)
        right = -moved if right is None else right - moved
    return F.solve_triangular(input, right, upper, unitriangular)


def triangle(F: Any, x: Any, upper: bool, unitriangular: bool) -> Any:
    """The part of a matrix that a triangular solve reads."""
    return triu(F, x, int(unitriangular)) if upper else tril(F, x, -int(unitriangular))


primitive("solve_triangular", solve_triangular_kernel, vjp=solve_triangular_vjp, jvp=solve_triangular_jvp,
          batch="elementwise", meta=systems, node_name="LinalgSolveTriangularBackward0")  # fmt: skip


def triangular_right(F: Any, x: Any, a: Any, upper: bool, unitriangular: bool = False) -> Any:
    """x times the inverse of the triangular ``a``."""
    return F.mT(F.solve_triangular(F.mT(a), F.mT(x), not upper, unitriangular))


@operator(namespace="linalg", method=False)
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """Solve AX = B, or XA = B, for a triangular A.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n); the other triangle is not read. No test for zeros on the diagonal: they give inf and nan.
    B : Tensor
        Shape (..., n, k), or (..., k, n) if ``left`` is False.
    upper : bool
        Whether A is upper triangular.
    left : bool
        Whether to solve AX = B.
    unitriangular : bool
        Whether the diagonal is taken to be ones, without reading it.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.solve_triangular(tp.tensor([[2., 1.], [0., 4.]]), tp.tensor([[4.], [8.]]), upper=True)
    tensor([[1.],
            [2.]])
    """
    name = "linalg.solve_triangular"
    square(A, name)
    matrix(B, name, "B", 2)
    check_system(name, A, B, left)
    upper, unitriangular = bool(upper), bool(unitriangular)
    if left:
        return F.solve_triangular(A, B, upper, unitriangular)
    return F.mT(F.solve_triangular(F.mT(A), F.mT(B), not upper, unitriangular))


def check_system(name: str, A: Tensor, B: Tensor, left: bool) -> None:
    """Raise unless the matrices B fit the square matrices A."""
    same_dtype(name, A=A, B=B)
    a, b = A._data.shape, B._data.shape
    if a[-1] != b[-2 if left else -1]:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})")  # fmt: skip
    batch_shape(name, a[:-2], b[:-2])


@operator()
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """Solve AX = b for a triangular A; :func:`tensorplay.linalg.solve_triangular` in its older form.

    Parameters
    ----------
    b, A : Tensor
        Shapes (..., n, k) and (..., n, n).
    upper, unitriangular : bool
        Whether A is upper triangular, and has ones on its diagonal.
    transpose : bool
        Whether to solve with the transpose of A.

    Returns
    -------
    solution, cloned_coefficient : Tensor
        The named tuple of the solution and A.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.triangular_solve(tp.tensor([[4.], [8.]]), tp.tensor([[2., 1.], [0., 4.]])).solution
    tensor([[1.],
            [2.]])
    """
    name = "triangular_solve"
    matrix(b, name, "b")
    square(A, name, "A", 2)
    check_system(name, A, b, True)
    a = F.mT(A) if transpose else A
    solution = F.solve_triangular(a, b, bool(upper) != bool(transpose), bool(unitriangular))
    batch = solution._data.shape[:-2]
    clone = F.clone(A if A._data.shape[:-2] == batch else F.expand(A, (*batch, *A._data.shape[-2:])))
    return return_types.triangular_solve(solution, clone)


# ---- Cholesky: A = L L*


def cholesky_kernel(xp: Any, input: Any, *, check: str) -> Any:
    out = None
    if input.ndim > 2:
        try:
            out, info = xp.linalg.cholesky(input), np.zeros(input.shape[:-2], np.int32)
        except np.linalg.LinAlgError:
            pass  # LAPACK itself tells where
    if out is None:
        out, info = each(potrf, input)
    if out.size and np.isnan(out[..., -1, -1]).any():  # LAPACK takes nan for positive, and all that follows is nan
        nan = np.isnan(np.diagonal(out, axis1=-2, axis2=-1))
        info = np.where(nan.any(-1) & (info == 0), nan.argmax(-1) + 1, info).astype(np.int32)
    if check and info.any():
        where, order = element(info)
        raise LinAlgError(f"{check}: {where}The factorization could not be completed because the input is not "
                          f"positive-definite (the leading minor of order {order} is not positive-definite)."
                          "")  # fmt: skip
    return out, info


def potrf(a: Any) -> Any:
    from scipy.linalg.lapack import get_lapack_funcs

    if not a.size:
        return np.zeros(a.shape, a.dtype), np.zeros((), np.int32)
    (factor,) = get_lapack_funcs(("potrf",), (a,))
    out, info = factor(a.T, lower=0, clean=1)  # of the transpose, which LAPACK reads without a copy
    return out.T, np.asarray(info, np.int32)


def cholesky_vjp(F: Any, g: Any, out: Any) -> Any:
    factor = out[0]
    inner = half_lower(F, F.matmul(mH(F, factor), g[0]))
    inner = F.solve_triangular(mH(F, factor), inner, True, False)
    return symmetrized(F, triangular_right(F, inner, factor, False))


def cholesky_jvp(F: Any, t: Any, out: Any) -> Any:
    factor = out[0]
    inner = F.solve_triangular(factor, symmetrized(F, t), False, False)
    inner = triangular_right(F, inner, mH(F, factor), True)
    return [F.matmul(factor, half_lower(F, inner)), None]


primitive("cholesky", cholesky_kernel, vjp={"input": cholesky_vjp}, jvp={"input": cholesky_jvp}, batch="same",
          holomorphic=False, outputs=2, node_name="LinalgCholeskyExBackward0",
          meta=lambda input, check: [same(input), Meta(input.shape[:-2], INT32)])  # fmt: skip


def factored(A: Tensor, upper: bool, check: str) -> tuple[Tensor, Tensor]:
    factor, info = F.cholesky(mH(F, A) if upper else A, check)
    return (mH(F, factor) if upper else factor), info


@operator(namespace="linalg", method=False)
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Cholesky factor of a Hermitian positive-definite matrix: the lower triangular L with L @ L.mH equal to A.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n); one triangle is read.
    upper : bool
        Whether to return the upper triangular U with U.mH @ U equal to A.

    Raises
    ------
    LinAlgError
        If a matrix is not positive-definite.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.cholesky(tp.tensor([[4., 2.], [2., 5.]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return factored(square(A, "linalg.cholesky"), upper, "linalg.cholesky")[0]


@operator(namespace="linalg", method=False)
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Cholesky factor together with a code of success, instead of an error.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).
    upper : bool
        Whether to return the upper factor.
    check_errors : bool
        Whether to raise all the same.

    Returns
    -------
    L, info : Tensor
        The named tuple of the factor and, of int32, 0 or the order of the first leading minor that is not positive.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.cholesky_ex(tp.tensor([[1., 0.], [0., -1.]])).info
    tensor(2, dtype=tensorplay.int32)
    """
    name = "linalg.cholesky_ex"
    return return_types.linalg_cholesky_ex(*factored(square(A, name), upper, name if check_errors else ""))


@operator(name="cholesky")
def torch_cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Cholesky factor of a Hermitian positive-definite matrix; as :func:`tensorplay.linalg.cholesky`.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, n).
    upper : bool
        Whether to return the upper factor.

    Raises
    ------
    LinAlgError
        If a matrix is not positive-definite.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cholesky(tp.tensor([[4., 2.], [2., 5.]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return factored(square(input, "cholesky"), upper, "cholesky")[0]


@operator(method=False)
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """Solve AX = B, given the Cholesky factor of A.

    Parameters
    ----------
    B, L : Tensor
        Shapes (..., n, k) and (..., n, n).
    upper : bool
        Whether the factor is the upper one.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cholesky_solve(tp.tensor([[8.], [10.]]), tp.tensor([[2., 0.], [0., 1.]]))
    tensor([[ 2.],
            [10.]])
    """
    matrix(B, "cholesky_solve", "B")
    square(L, "cholesky_solve", "L", 2)
    check_system("cholesky_solve", L, B, True)
    factor = mH(F, L) if upper else L
    inner = F.solve_triangular(factor, B, False, False)
    return F.solve_triangular(mH(F, factor), inner, True, False)


@operator(name="cholesky_solve", function=False, out=False)
def cholesky_solve_method(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """:func:`cholesky_solve`, with the method's name for the factor."""
    return cholesky_solve(input, input2, upper)


@operator()
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """Inverse of a matrix, given its Cholesky factor.

    Parameters
    ----------
    L : Tensor
        Shape (..., n, n).
    upper : bool
        Whether the factor is the upper one.

    Raises
    ------
    RuntimeError
        If the factor is not square.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cholesky_inverse(tp.tensor([[2., 0.], [0., 1.]]))
    tensor([[0.2500, 0.0000],
            [0.0000, 1.0000]])
    """
    square(L, "cholesky_inverse", "input")
    factor = mH(F, L) if upper else L
    inverse = F.solve_triangular(factor, identity(F, factor), False, False)
    return F.matmul(mH(F, inverse), inverse)
