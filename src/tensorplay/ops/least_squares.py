"""The pseudoinverse and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import return_types
from ..core.carrier import Meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor, wrap
from .matmul import batch_shape, sum_batch
from .matrices import LinAlgError, constant, each, floating, matrix, mH, real_of, same_dtype, square


def pinv_kernel(xp: Any, input: Any, atol: Any, rtol: Any, *, hermitian: bool) -> Any:
    """The tolerances have the rank of matrices, too."""
    if not input.size:
        return np.zeros((*input.shape[:-2], *input.shape[:-3:-1]), input.dtype)
    try:
        if hermitian:
            values, right = xp.linalg.eigh(input)
            left, sizes = right, xp.abs(values)
        else:
            left, values, right = xp.linalg.svd(input, full_matrices=False)
            sizes, right = values, right.swapaxes(-1, -2).conj()
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg.pinv: The algorithm failed to converge; is the input finite?") from None
    cutoff = xp.maximum(atol, rtol * sizes.max(-1)[..., None, None])[..., 0]
    keep = sizes > cutoff
    scale = xp.where(keep, 1 / xp.where(keep, values, 1), 0)[..., None, :].astype(values.dtype)
    return (right * scale) @ left.swapaxes(-1, -2).conj()


def pinv_vjp(F: Any, g: Any, input: Any, out: Any) -> Any:
    """G. Golub, V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems, 1973."""
    A, P, gH = input, out, mH(F, g)
    PH = mH(F, P)
    left, right = F.matmul(gH, F.matmul(P, PH)), F.matmul(PH, F.matmul(P, gH))
    out = left - F.matmul(A, F.matmul(P, left)) + right - F.matmul(F.matmul(right, P), A)
    return out - F.matmul(PH, F.matmul(g, PH))


def pinv_jvp(F: Any, t: Any, input: Any, out: Any) -> Any:
    A, P, tH = input, out, mH(F, t)
    PH = mH(F, P)
    left, right = F.matmul(P, F.matmul(PH, tH)), F.matmul(F.matmul(tH, PH), P)
    out = left - F.matmul(F.matmul(left, A), P) + right - F.matmul(P, F.matmul(A, right))
    return out - F.matmul(P, F.matmul(t, P))


primitive("pinv", pinv_kernel, vjp={"input": pinv_vjp}, jvp={"input": pinv_jvp}, batch="elementwise", holomorphic=False,
          meta=lambda input, *rest: Meta((*input.shape[:-2], *input.shape[:-3:-1]), input.dtype),
          node_name="LinalgPinvBackward0")  # fmt: skip


def tolerances(name: str, A: Tensor, atol: Any, rtol: Any) -> tuple[Tensor, Tensor]:
    """Absolute and relative tolerance as tensors.

    The relative one is by default the dtype's precision times the larger extent, but 0 beside a positive absolute one.
    """
    real = real_of(A._data.dtype)
    for argument, value in (("atol", atol), ("rtol", rtol)):
        if isinstance(value, Tensor) and value._data.dtype.kind == "c":
            raise RuntimeError(f"{name}: {argument} tensor of complex type is not supported.")
    precision = float(np.finfo(real).eps) * max(A._data.shape[-2:])
    if rtol is None:
        rtol = precision
        if isinstance(atol, Tensor):
            rtol = F.where(F.gt(atol, 0), wrap(np.zeros((), real)), wrap(np.asarray(precision, real)))
        elif atol is not None and atol > 0:
            rtol = 0
    given = (0 if atol is None else atol, rtol)
    first, second = (t.detach() if isinstance(t, Tensor) else wrap(np.asarray(t, real)) for t in given)
    return first, second


@operator(namespace="linalg", method=False)
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """Moore-Penrose pseudoinverse.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    rcond : float or Tensor, optional
        An older name of ``rtol``.
    hermitian : bool
        Whether A may be taken to be Hermitian.
    atol, rtol : float or Tensor, optional
        Singular values up to the larger of ``atol`` and ``rtol`` times the largest one count as zero. Default: 0, and
        the precision of the dtype times the larger of n and m, or 0 if ``atol`` is given.

    Returns
    -------
    Tensor
        Shape (..., m, n). Differentiable where the rank does not change.

    Raises
    ------
    LinAlgError
        If the singular values do not converge.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.pinv(tp.tensor([[2., 0.], [0., 0.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    (square if hermitian else matrix)(A, "linalg.pinv")
    limits = tolerances("linalg.pinv", A, atol, rcond if rtol is None else rtol)
    return F.pinv(A, *(F.reshape(t, (*t._data.shape, 1, 1)) for t in limits), bool(hermitian))


@operator(out=False)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Moore-Penrose pseudoinverse; as :func:`tensorplay.linalg.pinv` with ``rtol=rcond``.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, m).
    rcond : float
        Relative size of the singular values that count as zero.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.pinverse(tp.tensor([[2.], [0.]]))
    tensor([[0.5000, 0.0000]])
    """
    return pinv(matrix(input, "pinverse", "input"), rcond)


def lstsq_kernel(xp: Any, input: Any, other: Any, *, rcond: float, driver: str) -> Any:
    import scipy.linalg

    n, m = input.shape[-2:]

    def least(a: Any, b: Any) -> Any:
        if not a.size or not b.size:
            return np.zeros((m, b.shape[1]), b.dtype), np.int64(0), np.zeros(min(n, m), b.real.dtype)
        if driver == "gels":
            (gels,) = scipy.linalg.lapack.get_lapack_funcs(("gels",), (a, b))
            tall = np.concatenate([b, np.zeros((max(m - n, 0), b.shape[1]), b.dtype)])
            _, out, info = gels(a, tall)
            if info:
                raise LinAlgError("linalg.lstsq: The least squares solution could not be computed because the input "
                                  f"matrix does not have full rank (diagonal element {info} of its triangular factor "
                                  "is zero).")  # fmt: skip
            return out[:m], np.int64(min(n, m)), np.zeros(min(n, m), b.real.dtype)
        out, _, rank, values = scipy.linalg.lstsq(a, b, rcond, lapack_driver=driver, check_finite=False)
        return out, np.int64(rank), np.zeros(min(n, m), b.real.dtype) if values is None else values

    return each(least, input, other)


def lstsq_vjp(F: Any, g: Any, input: Any, other: Any, input_shape: Any, other_shape: Any, rcond: float, driver: str,
              needs: Any) -> Any:  # fmt: skip
    """The solution is the pseudoinverse times B."""
    P = pinv_of(F, input, rcond)
    of_other = sum_batch(F, F.matmul(mH(F, P), g[0]), other_shape) if needs[1] else None
    of_input = None
    if needs[0]:
        of_input = sum_batch(F, pinv_vjp(F, F.matmul(g[0], mH(F, other)), input, P), input_shape)
    return of_input, of_other


def lstsq_jvp(F: Any, tangents: Any, input: Any, other: Any, rcond: float, driver: str) -> Any:
    P, total = pinv_of(F, input, rcond), None
    if tangents[1] is not None:
        total = F.matmul(P, tangents[1])
    if tangents[0] is not None:
        moved = F.matmul(pinv_jvp(F, tangents[0], input, P), other)
        total = moved if total is None else total + moved
    return [total, None, None]


def pinv_of(F: Any, input: Any, rcond: float) -> Any:
    return F.pinv(input, constant(F, np.zeros((1, 1))), constant(F, np.full((1, 1), max(rcond, 0.0))), False)


def lstsq_meta(input: Any, other: Any, rcond: float, driver: str) -> list[Meta]:
    batch, (n, m), k = np.broadcast_shapes(input.shape[:-2], other.shape[:-2]), input.shape[-2:], other.shape[-1]
    real = real_of(input.dtype)
    return [Meta((*batch, m, k), input.dtype), Meta(batch, np.dtype(np.int64)), Meta((*batch, min(n, m)), real)]


primitive("lstsq", lstsq_kernel, vjp=lstsq_vjp, jvp=lstsq_jvp, batch="elementwise", holomorphic=False, outputs=3,
          meta=lstsq_meta, node_name="LinalgLstsqBackward0")  # fmt: skip


@operator(namespace="linalg", method=False)
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """Least squares: X that minimises the Frobenius norm of AX - B, the shortest one if there are many.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    B : Tensor
        Shape (..., n, k), or (..., n) with the batch of A.
    rcond : float, optional
        Relative size of the singular values that count as zero; the dtype's precision times the larger of n and m by
        default.
    driver : {"gelsy", "gels", "gelsd", "gelss"}, optional
        The LAPACK routine. "gels" takes for granted that A has full rank; only "gelsd" and "gelss" return singular
        values.

    Returns
    -------
    solution, residuals, rank, singular_values : Tensor
        The named tuple. Squared residuals are there if n > m, every matrix has full rank and the driver is not "gelsy".

    Raises
    ------
    RuntimeError
        If shapes, dtypes or the driver are wrong.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.lstsq(tp.tensor([[1.], [1.]]), tp.tensor([[1.], [3.]])).solution.round(decimals=4)
    tensor([[2.]])
    """
    name = "linalg.lstsq"
    a = matrix(A, name, "input")._data.shape
    b = floating(B, name, "other", 2)._data.shape
    if not b:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    same_dtype(name, input=A, other=B)
    driver = "gelsy" if driver is None else driver
    if driver not in ("gelsy", "gels", "gelsd", "gelss"):
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}")
    vector = len(b) == len(a) - 1 and b == a[:-1]
    if vector:
        B = F.reshape(B, (*b, 1))
    elif len(b) < 2 or b[-2] != a[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-{1 if len(b) < 2 else 2}), got shapes "
                           f"{list(a)} and {list(b)}")  # fmt: skip
    batch_shape(name, a[:-2], B._data.shape[:-2])
    real = real_of(A._data.dtype)
    limit = float(np.finfo(real).eps) * max(a[-2:]) if rcond is None else float(rcond)
    X, rank, values = F.lstsq(A, B, limit, driver)
    none = wrap(np.empty(0, real))
    residuals = none
    if a[-2] > a[-1] and driver != "gelsy" and (not isinstance(rank._data, np.ndarray) or (rank._data == a[-1]).all()):
        rest = F.vector_norm(F.matmul(A, X) - B, (-2,), False, 2.0)
        residuals = rest * rest
    batch = a[:-2]
    if rank._data.shape != batch and isinstance(rank._data, np.ndarray):  # B had more batches than A
        first = tuple(slice(None) if n == m else 0 for n, m in zip((1,) * (rank._data.ndim - len(batch)) + batch,
                                                                   rank._data.shape, strict=True))  # fmt: skip
        rank, values = wrap(rank._data[first].reshape(batch)), wrap(values._data[first].reshape(*batch, -1))
    return return_types.linalg_lstsq(
        F.reshape(X, X._data.shape[:-1]) if vector else X, residuals,
        wrap(np.empty(0, np.int64)) if driver == "gels" else rank, values if driver in ("gelsd", "gelss") else none,
    )  # fmt: skip
