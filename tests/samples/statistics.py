"""Samples of quantiles, histograms and covariances."""

import numpy as np
from harness import Sample, complexn, positive, randn

import tensorplay as tp

X = randn(2, 3, 5)
Q = np.array([0.1, 0.45, 0.8])
INTERPOLATIONS = ["linear", "lower", "higher", "midpoint", "nearest"]

SAMPLES = [
    *[Sample(f"{name} {q} along {dim}{', kept' * keep}",
             lambda x, name=name, q=q, dim=dim, keep=keep: getattr(tp, name)(x, q, dim, keep), X,
             reference=lambda x, name=name, q=q, dim=dim, keep=keep: getattr(np, name)(x, q, dim, keepdims=keep))
      for name in ("quantile", "nanquantile") for q in (0, 0.3, 1) for dim in (None, 1, -1) for keep in (False, True)],
    *[Sample(f"{name}s along {dim}", lambda x, q, name=name, dim=dim: getattr(tp, name)(x, q, dim), X, Q,
             reference=lambda x, q, name=name, dim=dim: getattr(np, name)(x, q, dim))
      for name in ("quantile", "nanquantile") for dim in (None, 0, -1)],
    *[Sample(f"quantile, {way}", lambda x, way=way: tp.quantile(x, tp.tensor(Q), -1, interpolation=way), X,
             reference=lambda x, way=way: np.quantile(x, Q, -1, method=way)) for way in INTERPOLATIONS],
    Sample("nanquantile of nan", lambda x: tp.nanquantile(x, 0.4, 1), np.where(X > 1, np.nan, X),
           reference=lambda x: np.nanquantile(x, 0.4, 1), grad=False),
    Sample("quantile of nan", lambda x: tp.quantile(x, 0.4, 1), np.where(X > 1, np.nan, X),
           reference=lambda x: np.quantile(x, 0.4, 1), grad=False),
    Sample("histc", lambda x: tp.histc(x, 4, -1, 1), X, grad=False,
           reference=lambda x: np.histogram(x, 4, (-1, 1))[0]),
    Sample("histc over all", lambda x: tp.histc(x, 4), X, grad=False, reference=lambda x: np.histogram(x, 4)[0]),
    Sample("histogram", lambda x: tp.histogram(x, 4), X, grad=False, reference=lambda x: np.histogram(x, 4)),
    Sample("histogram with edges", lambda x, e: tp.histogram(x, e), X, np.array([-1.0, 0.0, 2.0]), grad=False,
           reference=np.histogram),
    Sample("histogram with weights", lambda x, w: tp.histogram(x, 4, weight=w, range=(-1, 1), density=True), X,
           positive(2, 3, 5), grad=False,
           reference=lambda x, w: np.histogram(x, 4, (-1, 1), weights=w, density=True)),
    Sample("histogramdd", lambda x: tp.histogramdd(x, [2, 3]).hist, randn(20, 2), grad=False, vmap=False,
           reference=lambda x: np.histogramdd(x, [2, 3])[0]),
    Sample("bincount", lambda x: tp.bincount(x, minlength=6), np.array([0, 3, 3, 1]),
           reference=lambda x: np.bincount(x, minlength=6)),
    Sample("bincount with weights", tp.bincount, np.array([0, 3, 3, 1]), randn(4), reference=np.bincount),
    *[Sample("cov", tp.cov, x, reference=np.cov) for x in (randn(3, 5), randn(5), complexn(2, 4))],
    Sample("cov, biased", lambda x: tp.cov(x, correction=0), randn(3, 5), reference=lambda x: np.cov(x, ddof=0)),
    Sample("cov with weights", lambda x, f, a: tp.cov(x, fweights=f, aweights=a), randn(3, 4), np.array([1, 2, 3, 1]),
           positive(4), reference=lambda x, f, a: np.cov(x, fweights=f, aweights=a)),
    *[Sample("corrcoef", tp.corrcoef, x, reference=np.corrcoef, grad=x.ndim > 1) for x in (randn(3, 5), randn(5))],
    *[Sample(f"hash_tensor over {dim}", lambda x, dim=dim: tp.hash_tensor(x, dim).to(tp.int64), x, grad=False,
             reference=lambda x, dim=dim: np.bitwise_xor.reduce(x.view(np.int64), None if dim == () else dim),
             vmap=False)
      for dim in ((), 0, (0, 1)) for x in (randn(2, 3), np.array([[1, -2], [3, 4]]))],
]  # fmt: skip
