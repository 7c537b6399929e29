"""Functions of vectors that are defined up to a sign or a phase are reduced to what does not depend on it."""

import numpy as np
import scipy.linalg
from harness import Sample, complexn, randn, spd

import tensorplay as tp

la = tp.linalg


def hermitian(n, *batch, seed=0):
    a = complexn(*batch, n, n, seed=seed)
    return a @ np.swapaxes(a, -1, -2).conj() + n * np.eye(n)


def symmetric(x):
    return (x + x.mH) / 2


def reflected(x):
    return (x + np.swapaxes(x, -1, -2).conj()) / 2


def shifted(n, *batch, seed=0, make=randn):
    """Matrices far from singular."""
    return make(*batch, n, n, seed=seed) + n * np.eye(n)


def each(function, *arrays):
    """A function of matrices, over a batch."""
    if arrays[0].ndim == 2:
        return function(*arrays)
    return np.stack([each(function, *rows) for rows in zip(*arrays)])


def reconstructions(x, full=False):
    U, S, Vh = la.svd(x, full_matrices=full)
    k = S.shape[-1]
    return S, (U[..., :k] * (S * S).unsqueeze(-2)) @ Vh[..., :k, :], U[..., :k] @ U[..., :k].mH, abs(Vh)


def reconstructions_reference(a, full=False):
    U, S, Vh = np.linalg.svd(a, full_matrices=full)
    k = S.shape[-1]
    U_ = U[..., :k]
    return S, (U_ * (S * S)[..., None, :]) @ Vh[..., :k, :], U_ @ np.swapaxes(U_, -1, -2).conj(), abs(Vh)


def spectral(x):
    L, V = la.eigh(symmetric(x))
    return L, (V * L.exp().unsqueeze(-2)) @ V.mH, abs(V)


def spectral_reference(a):
    L, V = np.linalg.eigh(reflected(a))
    return L, (V * np.exp(L)[..., None, :]) @ np.swapaxes(V, -1, -2).conj(), abs(V)


def eigen(x):
    L, V = la.eig(x)
    return (V * L.exp().unsqueeze(-2)) @ la.inv(V), (L * L).sum(-1)


def eigen_reference(a):
    L, V = np.linalg.eig(a.astype(complex))
    return (V * np.exp(L)[..., None, :]) @ np.linalg.inv(V), (L * L).sum(-1)


def factors(x):
    P, L, U = la.lu(x)
    return P @ L @ U, L, U


def factors_reference(a):
    if a.ndim == 2:
        P, L, U = scipy.linalg.lu(a)
        return P @ L @ U, L, U
    return tuple(np.stack(m) for m in zip(*map(factors_reference, a)))


def qr_positive(x, mode="reduced"):
    """With the diagonal of R made positive, Q and R are unique."""
    Q, R = la.qr(x, mode)
    sign = R.diagonal(dim1=-2, dim2=-1).sgn()
    return (Q * sign.unsqueeze(-2), R * sign.conj().unsqueeze(-1)) if x.shape[-2] >= x.shape[-1] else (Q @ R, abs(R))


def qr_positive_reference(a, mode="reduced"):
    Q, R = np.linalg.qr(a, mode)
    d = np.diagonal(R, axis1=-2, axis2=-1)
    sign = d / abs(d)
    return (Q * sign[..., None, :], R * sign.conj()[..., None]) if a.shape[-2] >= a.shape[-1] else (Q @ R, abs(R))


def projector(vectors):
    return vectors @ (vectors.mH if isinstance(vectors, tp.Tensor) else np.swapaxes(vectors, -1, -2).conj())


def product_of_reflectors(v, t):
    n = len(v)
    Q = np.eye(n, dtype=v.dtype)
    for k in range(len(t)):
        w = np.concatenate([np.zeros(k), [1], v[k + 1 :, k]])
        Q = Q @ (np.eye(n) - t[k] * np.outer(w, w.conj()))
    return Q


SAMPLES = [
    *(Sample("det", la.det, a, reference=np.linalg.det) for a in [
        shifted(3), randn(2, 2, 2), randn(1, 1), np.zeros((0, 0)), np.ones((2, 2)), shifted(2, make=complexn)]),
    Sample("det of rank n - 1", la.det, randn(3, 2) @ randn(2, 3, seed=1), reference=np.linalg.det),
    Sample("slogdet", lambda x: la.slogdet(x)[1], shifted(3, 2), reference=lambda a: np.linalg.slogdet(a)[1]),
    Sample("slogdet", lambda x: tuple(la.slogdet(x)), shifted(2, make=complexn),
           reference=lambda a: tuple(np.linalg.slogdet(a))),
    Sample("logdet", tp.logdet, spd(3), reference=lambda a: np.log(np.linalg.det(a))),
    *(Sample("inv", la.inv, a, reference=np.linalg.inv) for a in [
        shifted(3), shifted(2, 2), shifted(2, make=complexn), np.zeros((0, 0)), np.zeros((0, 2, 2))]),
    Sample("inv_ex", lambda x: la.inv_ex(x)[0], shifted(2), reference=np.linalg.inv),
    *(Sample("solve", la.solve, a, b, reference=lambda a, b: np.linalg.solve(a, b[..., None])[..., 0]) for a, b in [
        (shifted(3), randn(3, seed=1)), (shifted(2, 2), randn(2, 2, seed=1)),
        (shifted(2, make=complexn), complexn(2, seed=1))]),
    *(Sample("solve", la.solve, a, b, reference=np.linalg.solve) for a, b in [
        (shifted(3), randn(3, 2, seed=1)), (shifted(2), randn(3, 2, 1, seed=1)), (shifted(2, 3), randn(2, 2, seed=1)),
        (shifted(2, 2, 1), randn(3, 2, 1, seed=1)), (shifted(2), randn(2, 0))]),
    Sample("solve from the right", lambda a, b: la.solve(a, b, left=False), shifted(3), randn(2, 3, seed=1),
           reference=lambda a, b: b @ np.linalg.inv(a)),
    *(Sample("solve_triangular", lambda a, b, u=upper, t=unit: la.solve_triangular(a, b, upper=u, unitriangular=t),
             a, b, reference=lambda a, b, u=upper, t=unit: each(
                 lambda m, n: scipy.linalg.solve_triangular(m, n, lower=not u, unit_diagonal=t), a, b))
      for upper in (True, False) for unit in (True, False)
      for a, b in [(shifted(3), randn(3, 2, seed=1)), (shifted(2, 2, make=complexn), complexn(2, 2, 1, seed=1))]),
    Sample("solve_triangular from the right", lambda a, b: la.solve_triangular(a, b, upper=True, left=False),
           shifted(2), randn(3, 3, 2, seed=1), reference=lambda a, b: b @ np.linalg.inv(np.triu(a))),
    Sample("triangular_solve", lambda b, a: tp.triangular_solve(b, a, transpose=True)[0], randn(2, 1), shifted(2),
           reference=lambda b, a: np.linalg.solve(np.triu(a).T, b)),
    *(Sample("cholesky", lambda x: la.cholesky(symmetric(x)), a, reference=np.linalg.cholesky) for a in [
        spd(3), spd(2, 2), hermitian(2), np.zeros((0, 0))]),
    Sample("cholesky, upper", lambda x: la.cholesky(symmetric(x), upper=True), hermitian(2, 2),
           reference=lambda a: np.swapaxes(np.linalg.cholesky(a), -1, -2).conj()),
    Sample("cholesky_ex", lambda x: la.cholesky_ex(symmetric(x))[0], spd(2), reference=np.linalg.cholesky),
    Sample("cholesky_solve", tp.cholesky_solve, randn(2, 1), np.tril(shifted(2)),
           reference=lambda b, f: np.linalg.solve(f @ f.T, b)),
    Sample("cholesky_solve, upper", lambda b, f: tp.cholesky_solve(b, f, upper=True), complexn(2, 1),
           np.triu(shifted(2, make=complexn)), reference=lambda b, f: np.linalg.solve(f.conj().T @ f, b)),
    Sample("cholesky_inverse", tp.cholesky_inverse, np.tril(shifted(2)), reference=lambda f: np.linalg.inv(f @ f.T)),
    *(Sample("qr", qr_positive, a, reference=qr_positive_reference) for a in [
           randn(3, 2), randn(2, 2, 2), randn(2, 3), complexn(3, 2), complexn(2, 2)]),
    Sample("qr, complete", lambda x: qr_positive(x, "complete"), randn(2, 2),
           reference=lambda a: qr_positive_reference(a, "complete")),
    Sample("qr, legacy", lambda x: abs(tp.qr(x).R), randn(3, 2), reference=lambda a: abs(np.linalg.qr(a)[1])),
    *(Sample("householder_product", lambda v, t: la.householder_product(v, t), randn(3, k), randn(k, seed=1),
             reference=lambda v, t: scipy.linalg.lapack.dorgqr(v, t)[0]) for k in (1, 2, 3)),
    Sample("ormqr", lambda v, t, c: tp.ormqr(v, t, c), randn(3, 2), randn(2, seed=1), randn(3, 2, seed=2),
           reference=lambda v, t, c: product_of_reflectors(v, t) @ c),
    Sample("ormqr from the right", lambda v, t, c: tp.ormqr(v, t, c, left=False, transpose=True), complexn(3, 2),
           complexn(2, seed=1), complexn(1, 3, seed=2),
           reference=lambda v, t, c: c @ product_of_reflectors(v, t).conj().T),
    *(Sample("lu", factors, a, reference=factors_reference) for a in [
        shifted(3), randn(2, 3, 2), randn(2, 3), randn(2, 2, 2), complexn(3, 2)]),
    *(Sample("lu_solve", lambda a, b, t=adjoint: la.lu_solve(*la.lu_factor(a), b, adjoint=t), a, b,
             reference=lambda a, b, t=adjoint: np.linalg.solve(np.swapaxes(a, -1, -2).conj() if t else a, b))
      for adjoint in (False, True) for a, b in [(shifted(3), randn(3, 1, seed=1)),
          (complexn(2, 2, 2), complexn(2, 2, 1, seed=1))]),
    Sample("lu_solve from the right", lambda a, b: la.lu_solve(*la.lu_factor(a), b, left=False), randn(3, 3),
           randn(2, 3, seed=1), reference=lambda a, b: b @ np.linalg.inv(a)),
    *(Sample("ldl_solve", lambda b, a=a, h=h: la.ldl_solve(*la.ldl_factor(tp.tensor(a), hermitian=h), b, hermitian=h),
             b, reference=lambda b, a=a: np.linalg.solve(a, b)) for a, b, h in [
        (randn(4, 4) + randn(4, 4).T, randn(4, 2, seed=1), False),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), randn(2, 1), True),
        (reflected(complexn(4, 4)), complexn(4, 1, seed=1), True),
        (complexn(4, 4) + complexn(4, 4).T, complexn(4, 1, seed=1), False)]),
    *(Sample("eigh", spectral, a, reference=spectral_reference) for a in [
           randn(3, 3), randn(2, 2, 2), complexn(2, 2), np.zeros((0, 0))]),
    Sample("eigh, upper", lambda x: la.eigh(symmetric(x), UPLO="U")[0], randn(3, 3),
           reference=lambda a: np.linalg.eigvalsh(reflected(a))),
    Sample("eigvalsh", lambda x: la.eigvalsh(symmetric(x)), complexn(2, 2, 2),
           reference=lambda a: np.linalg.eigvalsh(reflected(a))),
    *(Sample("eig", eigen, a, reference=eigen_reference) for a in [randn(3, 3), randn(2, 2, 2), complexn(2, 2)]),
    Sample("eigvals", lambda x: (la.eigvals(x) ** 3).sum(-1), randn(3, 3),
           reference=lambda a: (np.linalg.eigvals(a) ** 3 + 0j).sum(-1)),
    *(Sample("svd", reconstructions, a, reference=reconstructions_reference) for a in [
           randn(3, 2), randn(2, 3), randn(2, 2, 2), complexn(2, 2), complexn(3, 2), complexn(2, 3)]),
    *(Sample("svd, full", lambda x: reconstructions(x, True), a, reference=lambda a: reconstructions_reference(a, True))
      for a in [randn(3, 2), randn(2, 3), complexn(3, 2)]),
    Sample("svd, the rest of U", lambda x: projector(la.svd(x)[0][..., 2:]), randn(4, 2),
           reference=lambda a: projector(np.linalg.svd(a)[0][..., 2:])),
    Sample("svdvals", la.svdvals, complexn(2, 3, 2), reference=lambda a: np.linalg.svd(a, compute_uv=False)),
    Sample("svd, legacy", lambda x: tp.svd(x)[1], randn(3, 2), reference=lambda a: np.linalg.svd(a, compute_uv=False)),
    *(Sample("pinv", la.pinv, a, reference=np.linalg.pinv) for a in [
           randn(3, 2), randn(2, 3), randn(2, 2, 2), complexn(3, 2), np.zeros((0, 2))]),
    Sample("pinv, hermitian", lambda x: la.pinv(symmetric(x), hermitian=True), complexn(2, 2),
           reference=lambda a: np.linalg.pinv(reflected(a))),
    Sample("pinv with a tolerance for each", lambda x: la.pinv(x, rtol=tp.tensor([0.0, 0.9])),
           np.stack([np.diag([2.0, 1.0])] * 2),
           reference=lambda a: np.stack([np.diag([0.5, 1.0]), np.diag([0.5, 0.0])]), grad=False, vmap=False),
    *(Sample(f"lstsq {driver}", lambda a, b, d=driver: la.lstsq(a, b, driver=d)[0], randn(3, 2), randn(3, 2, seed=1),
             reference=lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0])
      for driver in ("gelsy", "gels", "gelsd", "gelss")),
    Sample("lstsq, wide", lambda a, b: la.lstsq(a, b)[0], complexn(2, 3), complexn(2, 1, seed=1),
           reference=lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]),
    Sample("lstsq of vectors", lambda a, b: la.lstsq(a, b)[0], randn(2, 3, 2), randn(2, 3, seed=1),
           reference=lambda a, b: (np.linalg.pinv(a) @ b[..., None])[..., 0]),
    Sample("lstsq residuals", lambda a, b: la.lstsq(a, b, driver="gelsd")[1], randn(3, 2), randn(3, 2, seed=1),
           reference=lambda a, b: np.linalg.lstsq(a, b, rcond=None)[1]),
    *(Sample(f"matrix_power {n}", lambda x, n=n: la.matrix_power(x, n), shifted(2, 2),
             reference=lambda a, n=n: np.linalg.matrix_power(a, n)) for n in (-2, 0, 1, 2, 3, 5)),
    *(Sample("matrix_exp", la.matrix_exp, a, reference=scipy.linalg.expm) for a in [
           randn(3, 3), randn(2, 2, 2), complexn(2, 2), np.zeros((0, 0)), np.zeros((2, 2))]),
    *(Sample(f"matrix_norm {ord}", lambda x, o=ord: la.matrix_norm(x, o), a,
        gradgrad=ord not in (1, -1, np.inf, -np.inf),
             reference=lambda a, o=ord: np.linalg.norm(a, o, axis=(-2, -1)))
      for ord in ("fro", "nuc", np.inf, -np.inf, 1, -1, 2, -2) for a in (randn(2, 3, 2), complexn(2, 2))),
    *(Sample(f"matrix_norm over others {ord}", lambda x, o=ord: la.matrix_norm(x, o, dim=(2, 0), keepdim=True),
           randn(2, 2, 3),
             gradgrad=False, reference=lambda a, o=ord: np.linalg.norm(a, o, axis=(2, 0), keepdims=True))
      for ord in ("fro", "nuc", np.inf, 1, -2)),
    *(Sample(f"norm {ord}", lambda x, o=ord: la.norm(x, o), a, gradgrad=False,
           reference=lambda a, o=ord: np.linalg.norm(a, o))
      for ord, a in [(None, randn(3)), (None, randn(2, 3)), (3, randn(3)), ("nuc", randn(2, 3)), (1, randn(2, 3))]),
    *(Sample(f"cond {p}", lambda x, p=p: la.cond(x, p), shifted(2, 2), gradgrad=False,
             reference=lambda a, p=p: np.linalg.cond(a, p))
      for p in (None, "fro", "nuc", np.inf, -np.inf, 1, -1, 2, -2)),
    Sample("matrix_rank", la.matrix_rank, np.stack([np.eye(3), np.ones((3, 3)), np.zeros((3, 3))]), grad=False,
           vmap=False, reference=np.linalg.matrix_rank),
    Sample("matrix_rank with a tolerance", lambda x: la.matrix_rank(x, atol=1.5), np.diag([2.0, 1.0]), grad=False,
           vmap=False, reference=lambda a: np.array(1)),
    Sample("tensorinv", lambda x: la.tensorinv(x, ind=1), shifted(4).reshape(4, 2, 2),
           reference=lambda a: np.linalg.tensorinv(a, 1)),
    Sample("tensorsolve", la.tensorsolve, shifted(4).reshape(2, 2, 4), randn(2, 2, seed=1),
           reference=np.linalg.tensorsolve),
    Sample("tensorsolve of dims", lambda a, b: la.tensorsolve(a, b, dims=(0,)), shifted(4).reshape(4, 2, 2),
           randn(2, 2, seed=1), reference=lambda a, b: np.linalg.tensorsolve(a, b, (0,))),
    Sample("vander", la.vander, randn(3), reference=lambda a: np.vander(a, increasing=True)),
    Sample("vander", lambda x: la.vander(x, N=4), randn(2), reference=lambda a: np.vander(a, 4, increasing=True)),
    Sample("diagonal", la.diagonal, randn(2, 2, 3), reference=lambda a: np.diagonal(a, axis1=-2, axis2=-1)),
]  # fmt: skip
SAMPLES += [
    Sample("solve_triangular of many",
           lambda a, b, u=upper, t=unit: la.solve_triangular(a, b, upper=u, unitriangular=t),
           shifted(2, 9), randn(9, 2, 1, seed=1), gradgrad=False,
           reference=lambda a, b, u=upper, t=unit: each(
               lambda m, n: scipy.linalg.solve_triangular(m, n, lower=not u, unit_diagonal=t), a, b))
    for upper in (True, False) for unit in (True, False)
]  # fmt: skip
