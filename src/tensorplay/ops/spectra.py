"""Eigenvalues and singular values, with their vectors.

Rules follow the differentials of the defining equations, with M* for the conjugate transpose. Where values coincide,
their vectors are free within a subspace, and the terms of the rules that divide by the gap are left out: a loss that
does not depend on the choice has no component there. See ``within_clusters`` for what such a loss does have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import return_types
from ..core.carrier import Meta
from ..core.namespace import F, R
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor, wrap
from .decompositions import orthogonalized
from .matrices import (
    LinAlgError,
    block,
    complex_of,
    constant,
    diagonal,
    diagonal_matrix,
    is_complex,
    matrix,
    mH,
    numpy_dtype,
    real_of,
    same,
    scale_columns,
    square,
)
from .random import randn


def converging(name: str, function: Callable[..., Any], input: Any, *rest: Any) -> Any:
    """The decomposition; a failure in PyTorch's words."""
    try:
        return function(input, *rest)
    except np.linalg.LinAlgError:
        reason = "the input matrix is ill-conditioned or has too many repeated values"
        if not np.isfinite(input).all():
            reason = "the input matrix contained non-finite values"
        raise LinAlgError(f"{name}: The algorithm failed to converge because {reason}.") from None


def check_phase(F: Any, inner: Any, what: str) -> None:
    """A complex vector is defined up to a phase: raise if the loss depends on it."""
    if F is not R or not is_complex(inner):
        return
    turn = np.abs(diagonal(F, inner).imag)
    if turn.size and turn.max() > 1e-2 * max(1.0, float(np.abs(inner).max())):
        raise RuntimeError(f"{what} in the complex case are specified up to multiplication by e^{{i phi}}. The "
                           "specified loss function depends on this quantity, so it is ill-defined.")  # fmt: skip


def has_clusters(F: Any, gaps: Any) -> bool:
    """Whether values coincide, or could: there is no reading inside vmap."""
    data = gaps if F is R else gaps._data
    n = data.shape[-1]
    return n > 1 and (not isinstance(data, np.ndarray) or np.count_nonzero(data) < data.size // n * (n - 1))


def within_clusters(F: Any, gaps: Any, g_values: Any, inner: Any) -> Any:
    """The gradient between vectors of one value.

    A loss that is a function of V h(L) V* says with ``inner``, V* gV, how it depends on V V* in the cluster, and with
    the gradients of the values the ratio of h' to h. The ratio is the same for all vectors of the cluster; where it is
    not, the loss depends on the values otherwise, and nothing is known.
    """
    inner = (inner + mH(F, inner)) * 0.5
    weights = diagonal(F, inner)
    weights = F.real(weights) if is_complex(weights) else weights
    shape = weights.shape
    wi, gi = (F.reshape(x, (*shape, 1)) for x in (weights, g_values))
    wj, gj = (F.reshape(x, (*shape[:-1], 1, shape[-1])) for x in (weights, g_values))
    size = wi * wi + wj * wj
    ratio = (gi * wi + gj * wj) / F.where(size == 0, 1, size)
    rest, whole = F.abs(gi - ratio * wi) + F.abs(gj - ratio * wj), F.abs(gi) + F.abs(gj)
    tolerance = float(np.finfo(numpy_dtype(weights)).eps) ** 0.5
    known = F.logical_and(rest <= whole * tolerance, gaps == 0)
    return F.where(F.logical_and(known, constant(F, ~np.eye(shape[-1], dtype=bool))), ratio * inner, 0)


# ---- Hermitian matrices: A = V diag(L) V*


def eigh_kernel(xp: Any, input: Any, *, lower: bool) -> Any:
    return tuple(converging("linalg.eigh", xp.linalg.eigh, input, "L" if lower else "U"))


def eigh_vjp(F: Any, g: Any, out: Any) -> Any:
    (gL, gV), (L, V) = g, out
    if gV is None:
        return F.matmul(scale_columns(F, V, gL), mH(F, V))
    inner = F.matmul(mH(F, V), gV)
    check_phase(F, inner, "linalg_eigh_backward: The eigenvectors")
    gaps = F.inverse_gaps(L, -1)
    total = (inner - mH(F, inner)) * gaps * 0.5
    if gL is not None:
        total = total + diagonal_matrix(F, gL)
        if has_clusters(F, gaps):
            total = total + within_clusters(F, gaps, gL, inner)
    return F.matmul(V, F.matmul(total, mH(F, V)))


def eigh_jvp(F: Any, t: Any, out: Any) -> Any:
    L, V = out
    inner = F.matmul(mH(F, V), F.matmul(t, V))
    inner = (inner + mH(F, inner)) * 0.5
    values = diagonal(F, inner)
    return [F.real(values) if is_complex(values) else values, F.matmul(V, inner * F.inverse_gaps(L, -1))]


primitive("eigh", eigh_kernel, vjp={"input": eigh_vjp}, jvp={"input": eigh_jvp}, batch="same", holomorphic=False,
          outputs=2, meta=lambda input, lower: [Meta(input.shape[:-1], real_of(input.dtype)), same(input)],
          node_name="LinalgEighBackward0")  # fmt: skip


def values_kernel(xp: Any, input: Any, *, function: Callable[..., Any]) -> Any:
    return function(input)


primitive("spectrum", values_kernel, batch="same")
"""Eigenvalues or singular values alone, where no derivative is wanted."""


def differentiated(A: Tensor) -> bool:
    """Whether the vectors are needed along with the values."""
    return A._node is not None or not isinstance(A._data, np.ndarray)


def lower(name: str, UPLO: str) -> bool:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"{name}: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "L"


@operator(namespace="linalg", method=False)
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues, in ascending order, and orthonormal eigenvectors of a Hermitian matrix.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).
    UPLO : {"L", "U"}
        Which triangle is read.

    Returns
    -------
    eigenvalues, eigenvectors : Tensor
        The named tuple: real, of shape (..., n), and the vectors in the columns of a matrix of shape (..., n, n). A
        gradient through the vectors is meaningful if the loss does not depend on their signs (phases, bases of equal
        eigenvalues).

    Raises
    ------
    LinAlgError
        If the algorithm does not converge.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.eigh(tp.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    return return_types.linalg_eigh(*F.eigh(square(A, "linalg.eigh"), lower("linalg.eigh", UPLO)))


@operator(namespace="linalg", method=False)
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Eigenvalues of a Hermitian matrix, in ascending order.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).
    UPLO : {"L", "U"}
        Which triangle is read.

    Returns
    -------
    Tensor
        Real, of shape (..., n).

    Raises
    ------
    LinAlgError
        If the algorithm does not converge.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.eigvalsh(tp.tensor([[2., 0.], [0., 1.]]))
    tensor([1., 2.])
    """
    name = "linalg.eigvalsh"
    half = lower(name, UPLO)
    if differentiated(square(A, name)):
        return F.eigh(A, half)[0]
    return F.spectrum(A, eigvalsh_lower if half else eigvalsh_upper)


def eigvalsh_lower(input: Any) -> Any:
    return converging("linalg.eigvalsh", np.linalg.eigvalsh, input, "L")


def eigvalsh_upper(input: Any) -> Any:
    return converging("linalg.eigvalsh", np.linalg.eigvalsh, input, "U")


# ---- any square matrix: A V = V diag(L)


def finite(name: str, input: Any) -> Any:
    if not np.isfinite(input).all():
        raise RuntimeError(f"{name}: input tensor should not contain infs or NaNs.")
    return input


def eig_kernel(xp: Any, input: Any) -> Any:
    values, vectors = converging("linalg.eig", xp.linalg.eig, finite("linalg.eig", input))
    return values.astype(complex_of(input.dtype)), vectors.astype(complex_of(input.dtype))


def eig_vjp(F: Any, g: Any, out: Any, input_dtype: Any) -> Any:
    (gL, gV), (L, V) = g, out
    VH = mH(F, V)
    if gV is None:
        inner = diagonal_matrix(F, gL)
    else:
        inner = F.matmul(VH, gV)
        check_phase(F, inner, "linalg_eig_backward: The eigenvectors")
        inner = inner - scale_columns(F, F.matmul(VH, V), F.real(diagonal(F, inner)))
        inner = inner * F.conj(F.inverse_gaps(L, -1))
        if gL is not None:
            inner = inner + diagonal_matrix(F, gL)
    total = F.solve(VH, F.matmul(inner, VH), "")
    return total if input_dtype.kind == "c" else F.real(total)


def eig_jvp(F: Any, t: Any, out: Any) -> Any:
    """Vectors keep the length 1, and the phase that makes the change orthogonal to them."""
    L, V = out
    inner = F.solve(V, F.matmul(F.cast(t, numpy_dtype(V)), V), "")
    turned = F.matmul(V, inner * F.inverse_gaps(L, -1))
    along = F.real(F.sum(F.conj(V) * turned, (-2,), False))
    return [diagonal(F, inner), turned - scale_columns(F, V, along)]


primitive("eig", eig_kernel, vjp={"input": eig_vjp}, jvp={"input": eig_jvp}, batch="same", holomorphic=False, outputs=2,
          meta=lambda input: [Meta(shape, complex_of(input.dtype)) for shape in (input.shape[:-1], input.shape)],
          node_name="LinalgEigBackward0")  # fmt: skip


@operator(namespace="linalg", method=False)
def eig(A: Tensor) -> Any:
    """Eigenvalues and eigenvectors of a square matrix, complex in general.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).

    Returns
    -------
    eigenvalues, eigenvectors : Tensor
        The named tuple, complex: shape (..., n), in no order, and vectors of length 1 in the columns of a matrix of
        shape (..., n, n). A gradient through the vectors is meaningful if the loss does not depend on their phases.

    Raises
    ------
    RuntimeError
        If the input is not finite.
    LinAlgError
        If the algorithm does not converge.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.eig(tp.tensor([[0., 1.], [-1., 0.]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    return return_types.linalg_eig(*F.eig(square(A, "linalg.eig")))


def eigvals_of(input: Any) -> Any:
    values = converging("linalg.eigvals", np.linalg.eigvals, finite("linalg.eigvals", input))
    return values.astype(complex_of(input.dtype))


@operator(namespace="linalg", method=False)
def eigvals(A: Tensor) -> Tensor:
    """Eigenvalues of a square matrix, complex, in no order.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).

    Raises
    ------
    RuntimeError
        If the input is not finite.
    LinAlgError
        If the algorithm does not converge.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.eigvals(tp.tensor([[0., 1.], [-1., 0.]]))
    tensor([0.+1.j, 0.-1.j])
    """
    if differentiated(square(A, "linalg.eigvals")):
        return F.eig(A)[0]
    return F.spectrum(A, eigvals_of)


# ---- any matrix: A = U diag(S) V*


def svd_kernel(xp: Any, input: Any, *, full: bool) -> Any:
    return tuple(converging("linalg.svd", xp.linalg.svd, input, full))


def leading(F: Any, out: Any) -> tuple[Any, ...]:
    """The singular vectors that belong to singular values, V in columns; and the others, if there are any."""
    U, S, Vh = out
    k = S.shape[-1]
    V = mH(F, Vh)
    rest = slice(k, None)
    U_rest = block(F, U, slice(None), rest) if U.shape[-1] > k else None
    V_rest = block(F, V, slice(None), rest) if V.shape[-1] > k else None
    if U_rest is not None:
        U = block(F, U, slice(None), slice(0, k))
    if V_rest is not None:
        V = block(F, V, slice(None), slice(0, k))
    return U, S, V, U_rest, V_rest


def outside(F: Any, vectors: Any, rest: Any, x: Any) -> Any:
    """The part of the columns of x orthogonal to the vectors."""
    if rest is not None:
        return F.matmul(rest, F.matmul(mH(F, rest), x))
    return x - F.matmul(vectors, F.matmul(mH(F, vectors), x))


def reciprocal_values(F: Any, S: Any) -> Any:
    """1 / S, and 0 where S is zero up to rounding."""
    return diagonal(F, F.inverse_gaps(S, 1)) * 2


def svd_vjp(F: Any, g: Any, out: Any) -> Any:
    """With a, b the sum and the difference of the skew parts of U* gU and V* gV: a / (s_j - s_i) + b / (s_j + s_i)."""
    gU, gS, gVh = g
    U, S, V, U_rest, V_rest = leading(F, out)
    rows, columns, k = U.shape[-2], V.shape[-2], S.shape[-1]
    if gU is None and gVh is None:
        return F.matmul(scale_columns(F, U, gS), mH(F, V))
    gV = None if gVh is None else mH(F, gVh)
    gU, gU_rest = split(F, gU, k)
    gV, gV_rest = split(F, gV, k)
    of_U = F.matmul(mH(F, U), F.zeros_like(U) if gU is None else gU)
    of_V = F.matmul(mH(F, V), F.zeros_like(V) if gV is None else gV)
    both = of_U + of_V
    check_phase(F, both, "svd_backward: The singular vectors")
    difference, gaps = of_U - of_V, F.inverse_gaps(S, -1)
    inner = ((both - mH(F, both)) * gaps + (difference - mH(F, difference)) * F.inverse_gaps(S, 1)) * 0.5
    if gS is not None:
        inner = inner + diagonal_matrix(F, gS)
        if has_clusters(F, gaps):
            inner = inner + within_clusters(F, gaps, gS, both)
    total = F.matmul(U, F.matmul(inner, mH(F, V)))
    scale = reciprocal_values(F, S)
    if rows > k:
        moved = None if gU is None else outside(F, U, U_rest, gU)
        if gU_rest is not None:
            turned = F.matmul(U_rest, F.matmul(mH(F, gU_rest), U))
            moved = -turned if moved is None else moved - turned
        if moved is not None:
            total = total + F.matmul(scale_columns(F, moved, scale), mH(F, V))
    if columns > k:
        moved = None if gV is None else outside(F, V, V_rest, gV)
        if gV_rest is not None:
            turned = F.matmul(V_rest, F.matmul(mH(F, gV_rest), V))
            moved = -turned if moved is None else moved - turned
        if moved is not None:
            total = total + F.matmul(U, mH(F, scale_columns(F, moved, scale)))
    return total


def split(F: Any, g: Any, k: int) -> tuple[Any, Any]:
    """The cotangents of the leading columns and of the rest."""
    if g is None or g.shape[-1] == k:
        return g, None
    return block(F, g, slice(None), slice(0, k)), block(F, g, slice(None), slice(k, None))


def svd_jvp(F: Any, t: Any, out: Any) -> Any:
    U, S, V, U_rest, V_rest = leading(F, out)
    right, left = F.matmul(t, V), F.matmul(mH(F, t), U)
    inner = F.matmul(mH(F, U), right)
    values = diagonal(F, inner)
    adjoint = mH(F, inner)
    apart, together = F.inverse_gaps(S, -1) * 0.5, F.inverse_gaps(S, 1) * 0.5
    apart, together = (inner + adjoint) * apart, (inner - adjoint) * together
    scale = reciprocal_values(F, S)
    dU, dV = F.matmul(U, apart + together), F.matmul(V, apart - together)
    if U.shape[-2] > S.shape[-1]:
        dU = with_rest(F, dU, U, U_rest, scale_columns(F, outside(F, U, U_rest, right), scale))
    if V.shape[-2] > S.shape[-1]:
        dV = with_rest(F, dV, V, V_rest, scale_columns(F, outside(F, V, V_rest, left), scale))
    return [dU, F.real(values) if is_complex(values) else values, mH(F, dV)]


def with_rest(F: Any, inside: Any, vectors: Any, rest: Any, moved: Any) -> Any:
    """Tangents of all columns: the rest turns just so far that it stays orthogonal."""
    if rest is None:
        return inside + moved
    turned = -F.matmul(vectors, F.matmul(mH(F, moved), rest))
    return F.cat(inside + moved, turned, dim=-1)


def svd_meta(input: Any, full: bool) -> list[Meta]:
    *batch, n, m = input.shape
    k = min(n, m)
    shapes = ((n, n if full else k), (k,), (m if full else k, m))
    return [Meta((*batch, *shape), real_of(input.dtype) if len(shape) == 1 else input.dtype) for shape in shapes]


primitive("svd", svd_kernel, vjp={"input": svd_vjp}, jvp={"input": svd_jvp}, batch="same", holomorphic=False, outputs=3,
          meta=svd_meta, node_name="LinalgSvdBackward0")  # fmt: skip


@operator(namespace="linalg", method=False)
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """Singular value decomposition: U @ diag(S) @ Vh equal to A.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    full_matrices : bool
        Whether U and Vh are square; else they have k columns and rows, k the smaller of n and m.
    driver : None
        CUDA only.

    Returns
    -------
    U, S, Vh : Tensor
        The named tuple: unitary matrices and the real singular values, of shape (..., k), in descending order. A
        gradient through U and Vh is meaningful if the loss does not depend on their signs (phases, bases of equal
        values).

    Raises
    ------
    LinAlgError
        If the algorithm does not converge, as for nan.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.svd(tp.tensor([[0., 2.], [1., 0.]])).S
    tensor([2., 1.])
    """
    check_driver("linalg.svd", driver)
    return return_types.linalg_svd(*F.svd(matrix(A, "linalg.svd"), bool(full_matrices)))


def check_driver(name: str, driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(f"{name}: keyword argument `driver=` is only supported on CUDA inputs, got {driver!r}")


def svdvals_of(input: Any) -> Any:
    return converging("linalg.svdvals", np.linalg.svd, input, False, False)


@operator(namespace="linalg", method=False)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Singular values, in descending order.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    driver : None
        CUDA only.

    Returns
    -------
    Tensor
        Real, of shape (..., min(n, m)).

    Raises
    ------
    LinAlgError
        If the algorithm does not converge, as for nan.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.svdvals(tp.tensor([[0., 2.], [1., 0.]]))
    tensor([2., 1.])
    """
    check_driver("linalg.svdvals", driver)
    if differentiated(matrix(A, "linalg.svdvals")):
        return F.svd(A, False)[1]
    return F.spectrum(A, svdvals_of)


@operator(name="svd")
def torch_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Singular value decomposition; :func:`tensorplay.linalg.svd` in its older form, which returns V itself.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, m).
    some : bool
        Whether the reduced decomposition is wanted.
    compute_uv : bool
        Whether U and V are wanted; zeros otherwise.

    Returns
    -------
    U, S, V : Tensor
        The named tuple.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.svd(tp.tensor([[0., 2.], [1., 0.]])).S
    tensor([2., 1.])
    """
    matrix(input, "svd", "input")
    if not compute_uv:
        *batch, n, m = input._data.shape
        U, V = (wrap(np.zeros((*batch, k, k), input._data.dtype)) for k in (n, m))
        return return_types.svd(U, svdvals(input), V)
    U, S, Vh = F.svd(input, not some)
    return return_types.svd(U, S, mH(F, Vh))


# ---- low rank


def check_low_rank(name: str, A: Tensor, q: int, niter: int) -> None:
    n, m = matrix(A, name)._data.shape[-2:]
    if not 0 <= q <= min(n, m):
        raise ValueError(f"{name}: q(={q}) must be non-negative integer and not greater than min(m, n)={min(n, m)}")
    if niter < 0:
        raise ValueError(f"{name}: niter(={niter}) must be non-negative integer")


def low_rank(A: Tensor, q: int, niter: int) -> tuple[Tensor, Tensor, Tensor]:
    """Randomised subspace iteration: N. Halko, P.-G. Martinsson, J. Tropp, Finding structure with randomness, 2009."""
    n, m = A._data.shape[-2:]
    if n < m:
        V, S, U = low_rank(mH(F, A), q, niter)
        return U, S, V
    q = min(q, m)
    basis = F.matmul(A, randn(m, q, dtype=A.dtype, device=A.device))
    Q = orthogonalized(basis, "reduced")[0]
    for _ in range(niter):
        Q = orthogonalized(F.matmul(mH(F, A), Q), "reduced")[0]
        Q = orthogonalized(F.matmul(A, Q), "reduced")[0]
    U, S, Vh = F.svd(F.matmul(mH(F, Q), A), False)
    return F.matmul(Q, U), S, mH(F, Vh)


@operator(method=False, out=False)
def svd_lowrank(A: Tensor, q: int = 6, niter: int = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of a matrix and their vectors, approximately, by random projections.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    q : int
        How many singular values; a few more than are needed.
    niter : int
        How many subspace iterations refine the result.
    M : Tensor, optional
        Subtracted from A first.

    Returns
    -------
    U, S, V : Tensor
        Shapes (..., n, q), (..., q) and (..., m, q), with q at most the smaller of n and m.

    Examples
    --------
    >>> import tensorplay as tp
    >>> U, S, V = tp.svd_lowrank(tp.ones(4, 3), q=1)
    >>> (U * S @ V.mT).round(decimals=4)[0]
    tensor([1., 1., 1.])
    """
    matrix(A, "svd_lowrank")
    return low_rank(A if M is None else A - M, q, niter)


@operator(method=False, out=False)
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of a matrix, approximately, by random projections.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    q : int, optional
        How many components; the smallest of 6, n and m by default.
    center : bool
        Whether to subtract the mean of the rows first.
    niter : int
        How many subspace iterations refine the result.

    Returns
    -------
    U, S, V : Tensor
        As for :func:`tensorplay.svd_lowrank`; the principal directions are the columns of V.

    Raises
    ------
    ValueError
        If ``q`` or ``niter`` is out of range.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.pca_lowrank(tp.tensor([[1., 0.], [3., 0.], [5., 0.]]), q=1)[2].abs()
    tensor([[1.],
            [0.]])
    """
    matrix(A, "pca_lowrank")
    q = min(6, *A._data.shape[-2:]) if q is None else q
    check_low_rank("pca_lowrank", A, q, niter)
    return low_rank(A - F.mean(A, (-2,), True) if center else A, q, niter)
