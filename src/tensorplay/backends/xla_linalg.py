"""Matrices and Fourier transforms for XLA."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import linalg

from .xla_kernels import kernel


@kernel("cholesky")
def cholesky(x: Any, check: str) -> Any:
    """Where a matrix is not positive definite the factor is NaN."""
    out = lax.linalg.cholesky(x, symmetrize_input=False)
    failed = ~jnp.isfinite(out).all((-2, -1)) if x.shape[-1] else jnp.zeros(x.shape[:-2], bool)
    return jnp.tril(out), failed.astype(np.int32)


@kernel("solve_triangular")
def solve_triangular(a: Any, b: Any, upper: bool, unitriangular: bool) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = jnp.broadcast_to(a, (*batch, *a.shape[-2:])), jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    return lax.linalg.triangular_solve(a, b, left_side=True, lower=not upper, unit_diagonal=unitriangular)


@kernel("solve")
def solve(a: Any, b: Any, check: str) -> Any:
    return jnp.linalg.solve(a, b)


@kernel("inv")
def inv(a: Any, check: str) -> Any:
    return jnp.linalg.inv(a)


@kernel("lu_factor")
def lu_factor(a: Any, check: str) -> Any:
    """Pivots count from 1, as LAPACK's do; a singular factor is told by ``info`` alone."""
    packed, pivots, _ = lax.linalg.lu(a)
    singular = jnp.diagonal(packed, axis1=-2, axis2=-1) == 0
    n = singular.shape[-1]
    info = jnp.where(singular.any(-1), jnp.argmax(singular, -1) + 1, 0) if n else jnp.zeros(a.shape[:-2])
    return packed, (pivots + 1).astype(np.int32), info.astype(np.int32)


@kernel("slogdet")
def slogdet(a: Any) -> Any:
    sign, logarithm = jnp.linalg.slogdet(a)
    return sign, logarithm


@kernel("qr")
def qr(a: Any, mode: str) -> Any:
    q, r = jnp.linalg.qr(a, mode)
    return q, r


@kernel("eigh")
def eigh(a: Any, lower: bool) -> Any:
    part = jnp.tril(a) if lower else jnp.triu(a)
    other = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    values, vectors = jnp.linalg.eigh(part + other.swapaxes(-1, -2).conj(), symmetrize_input=False)
    return values, vectors


@kernel("eig")
def eig(a: Any) -> Any:
    """By LAPACK, which XLA has on the CPU alone."""
    values, vectors = lax.linalg.eig(a, compute_left_eigenvectors=False)
    return values, vectors


@kernel("svd")
def svd(a: Any, full: bool) -> Any:
    u, s, v = jnp.linalg.svd(a, full_matrices=full)
    return u, s, v


@kernel("pinv")
def pinv(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if not a.size:
        return jnp.zeros((*a.shape[:-2], *a.shape[:-3:-1]), a.dtype)
    if hermitian:
        values, right = eigh(a, True)
        left, sizes = right, jnp.abs(values)
    else:
        left, values, right = jnp.linalg.svd(a, full_matrices=False)
        sizes, right = values, right.swapaxes(-1, -2).conj()
    keep = sizes > jnp.maximum(atol, rtol * jnp.max(sizes, -1)[..., None, None])[..., 0]
    scale = jnp.where(keep, 1 / jnp.where(keep, values, 1), 0)[..., None, :].astype(values.dtype)
    return (right * scale) @ left.swapaxes(-1, -2).conj()


@kernel("lstsq")
def lstsq(a: Any, b: Any, rcond: float, driver: str) -> Any:
    """By singular values, whatever the driver; those that do not count are zero in the pseudoinverse.

    ``gelsy`` decides on the rank otherwise, and ``gels`` takes it for full.
    """
    batch, (n, m) = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2:]
    a, b = jnp.broadcast_to(a, (*batch, n, m)), jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    none = jnp.zeros((*batch, min(n, m)), b.real.dtype)
    if not a.size or not b.size:
        return jnp.zeros((*batch, m, b.shape[-1]), b.dtype), jnp.zeros(batch, np.int64), none
    left, values, right = jnp.linalg.svd(a, full_matrices=False)
    if driver == "gels":
        keep = jnp.ones(values.shape, bool)
    else:
        eps = float(np.finfo(values.dtype).eps)
        keep = values > (rcond if rcond >= 0 else eps) * jnp.max(values, -1, keepdims=True)
    scale = jnp.where(keep, 1 / values, 0)[..., None].astype(b.dtype)
    out = right.swapaxes(-1, -2).conj() @ (scale * (left.swapaxes(-1, -2).conj() @ b))
    return out, jnp.sum(keep, -1, dtype=np.int64), values if driver in ("gelsd", "gelss") else none


@kernel("pivot_matrix")
def pivot_matrix(pivots: Any, n: int, dtype: Any) -> Any:
    order = lax.linalg.lu_pivots_to_permutation(pivots.astype(np.int32) - 1, n)
    return jnp.swapaxes(jnp.eye(n, dtype=dtype)[order], -1, -2)


@kernel("matrix_exp")
def matrix_exp(a: Any) -> Any:
    if a.dtype.char not in "fdFD" or not a.size:
        raise NotImplementedError
    return linalg.expm(a)


# ---- Fourier


def length_of(shape: Any, dims: Any) -> int:
    return math.prod(shape[d] for d in dims)


def factor(n: int, forward: bool, norm: str) -> float:
    """What an unscaled forward (or scaled inverse) transform is multiplied by."""
    if norm == "ortho":
        return 1 / math.sqrt(n) if forward else math.sqrt(n)
    if norm == "forward":
        return 1 / n if forward else float(n)
    return 1.0


def complex_of(x: Any) -> Any:
    if x.dtype.kind == "c":
        return x
    return x.astype(np.complex128 if x.dtype == np.float64 else np.complex64)


def transformed(x: Any, dims: Any, forward: bool) -> Any:
    for d in dims:
        x = jnp.fft.fft(x, axis=d) if forward else jnp.fft.ifft(x, axis=d)
    return x


@kernel("fft_c2c")
def fft_c2c(x: Any, dims: Any, forward: bool, norm: str) -> Any:
    x = complex_of(x)
    if not dims:
        return x
    out = transformed(x, dims, forward)
    return (out * np.asarray(factor(length_of(x.shape, dims), forward, norm), out.real.dtype)).astype(x.dtype)


@kernel("fft_r2c")
def fft_r2c(x: Any, dims: Any, forward: bool, norm: str) -> Any:
    n = length_of(x.shape, dims)
    if forward:
        out = transformed(jnp.fft.rfft(x, axis=dims[-1]), dims[:-1], True)
        return (out * np.asarray(factor(n, True, norm), out.real.dtype)).astype(complex_of(x).dtype)
    out = transformed(jnp.conj(jnp.fft.rfft(x, axis=dims[-1])) / x.shape[dims[-1]], dims[:-1], False)
    return (out * np.asarray(factor(n, False, norm), out.real.dtype)).astype(complex_of(x).dtype)


@kernel("fft_c2r")
def fft_c2r(x: Any, dims: Any, size: int, forward: bool, norm: str) -> Any:
    real = np.zeros((), x.dtype).real.dtype
    n = length_of(x.shape, dims[:-1]) * size
    inner = transformed(complex_of(x), dims[:-1], forward)
    if forward:
        out = jnp.fft.irfft(jnp.conj(inner), size, axis=dims[-1]) * size
    else:
        out = jnp.fft.irfft(inner, size, axis=dims[-1])
    return (out * np.asarray(factor(n, forward, norm), real)).astype(real)
