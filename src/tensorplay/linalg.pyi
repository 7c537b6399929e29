"""Made by tools/make_stubs.py."""

import builtins
from collections.abc import Sequence
from typing import Any

from tensorplay.core.tensor import Tensor
from tensorplay.return_types import qr as _qr
from tensorplay.return_types import slogdet as _slogdet
from tensorplay.return_types import svd as _svd

class LinAlgError(builtins.RuntimeError): ...
def cholesky(A: Tensor, *, upper: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """Cholesky factor of a Hermitian positive-definite matrix: the lower triangular L with L @ L.mH equal to A."""
def cholesky_ex(A: Tensor, *, upper: builtins.bool = False, check_errors: builtins.bool = False, out: Tensor | None = None) -> Any:
    """Cholesky factor together with a code of success, instead of an error."""
def cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Condition number of a matrix: its norm times that of the inverse."""
def cross(input: Tensor, other: Tensor, *, dim: builtins.int = -1, out: Tensor | None = None) -> Tensor:
    """Cross products of vectors in three dimensions, along ``dim``; as :func:`tensorplay.cross`."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Determinant of a square matrix."""
def diagonal(A: Tensor, *, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1) -> Tensor:
    """A view of the diagonals of matrices; as :func:`tensorplay.diagonal`, for the last two dimensions by default."""
def eig(A: Tensor, *, out: Tensor | None = None) -> Any:
    """Eigenvalues and eigenvectors of a square matrix, complex in general."""
def eigh(A: Tensor, UPLO: builtins.str = 'L', *, out: Tensor | None = None) -> Any:
    """Eigenvalues, in ascending order, and orthonormal eigenvectors of a Hermitian matrix."""
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a square matrix, complex, in no order."""
def eigvalsh(A: Tensor, UPLO: builtins.str = 'L', *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a Hermitian matrix, in ascending order."""
def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of a product of Householder reflectors, as :func:`tensorplay.geqrf` returns them."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a square matrix."""
def inv_ex(A: Tensor, *, check_errors: builtins.bool = False, out: Tensor | None = None) -> Any:
    """Inverse together with a code of success, instead of an error."""
def ldl_factor(A: Tensor, *, hermitian: builtins.bool = False, out: Tensor | None = None) -> Any:
    """LDL decomposition of a symmetric (or Hermitian) matrix that may be indefinite, packed. Not differentiable."""
def ldl_factor_ex(A: Tensor, *, hermitian: builtins.bool = False, check_errors: builtins.bool = False, out: Tensor | None = None) -> Any:
    """LDL decomposition together with a code of success, instead of an error. Not differentiable."""
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """Solve AX = B, given the packed LDL decomposition of A. Differentiable with respect to B."""
def lstsq(A: Tensor, B: Tensor, rcond: builtins.float | None = None, *, driver: builtins.str | None = None, out: Tensor | None = None) -> Any:
    """Least squares: X that minimises the Frobenius norm of AX - B, the shortest one if there are many."""
def lu(A: Tensor, *, pivot: builtins.bool = True, out: Tensor | None = None) -> Any:
    """LU decomposition: P @ L @ U equal to A, P a permutation, L unit lower and U upper triangular."""
def lu_factor(A: Tensor, *, pivot: builtins.bool = True, out: Tensor | None = None) -> Any:
    """LU decomposition with row exchanges, packed into one matrix."""
def lu_factor_ex(A: Tensor, *, pivot: builtins.bool = True, check_errors: builtins.bool = False, out: Tensor | None = None) -> Any:
    """LU decomposition together with a code of success, instead of an error."""
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: builtins.bool = True, adjoint: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """Solve AX = B, or XA = B, given the packed LU decomposition of A."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Matrix product of two tensors; ``input @ other``."""
def matrix_exp(A: Tensor) -> Tensor:
    """Exponential of a square matrix."""
def matrix_norm(A: Tensor, ord: Any = 'fro', dim: Any = (-2, -1), keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """Norm of the matrices in two dimensions."""
def matrix_power(A: Tensor, n: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """A square matrix to an integer power, by repeated squaring."""
def matrix_rank(A: Tensor, tol: Any = None, hermitian: builtins.bool = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """Number of singular values that are not zero."""
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Product of two or more matrices, in the order that needs the fewest multiplications."""
def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """Norm of a vector or a matrix, by the dimensions given."""
def pinv(A: Tensor, rcond: Any = None, hermitian: builtins.bool = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """Moore-Penrose pseudoinverse."""
def qr(A: Tensor, mode: builtins.str = 'reduced', *, out: Tensor | None = None) -> _qr:
    """QR decomposition: Q with orthonormal columns and R upper triangular, with Q @ R equal to A."""
def slogdet(A: Tensor, *, out: Tensor | None = None) -> _slogdet:
    """Sign and logarithm of the absolute value of the determinant."""
def solve(A: Tensor, B: Tensor, *, left: builtins.bool = True, out: Tensor | None = None) -> Tensor:
    """Solve AX = B, or XA = B, for a square A."""
def solve_ex(A: Tensor, B: Tensor, *, left: builtins.bool = True, check_errors: builtins.bool = False, out: Tensor | None = None) -> Any:
    """Solve AX = B, or XA = B, and return a code of success instead of an error."""
def solve_triangular(A: Tensor, B: Tensor, *, upper: builtins.bool, left: builtins.bool = True, unitriangular: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """Solve AX = B, or XA = B, for a triangular A."""
def svd(A: Tensor, full_matrices: builtins.bool = True, *, driver: builtins.str | None = None, out: Tensor | None = None) -> _svd:
    """Singular value decomposition: U @ diag(S) @ Vh equal to A."""
def svdvals(A: Tensor, *, driver: builtins.str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values, in descending order."""
def tensorinv(A: Tensor, ind: builtins.int = 2, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a tensor with respect to :func:`tensorplay.tensordot` over ``ind`` dimensions."""
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[builtins.int] | None = None, *, out: Tensor | None = None) -> Tensor:
    """The tensor X with ``tensordot(A, X, dims=X.ndim) == B``."""
def vander(x: Tensor, N: builtins.int | None = None) -> Tensor:
    """Vandermonde matrix: the powers 0 to N - 1 of each element, along a new last dimension."""
def vecdot(x: Tensor, y: Tensor, *, dim: builtins.int = -1, out: Tensor | None = None) -> Tensor:
    """Dot products of the vectors along one dimension, those of ``x`` conjugated."""
def vector_norm(x: Tensor, ord: builtins.float = 2, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The vector norm sum(abs(x) ** ord) ** (1 / ord) of all elements, or over some dimensions."""
