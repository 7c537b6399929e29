"""Samples of reductions and extrema."""

import numpy as np
import scipy.special
from harness import Sample, complexn, positive, randn

import tensorplay as tp

X = randn(2, 3, 4)
ZEROS = np.array([[2.0, 3.0, 0.0, 0.0], [1.0, 0.0, 5.0, -2.0], [1.0, 2.0, 3.0, 4.0]])
DIMS = [None, 0, -1, (0, 2), (0, 1, 2)]


def axes(dim):
    return tuple(dim) if isinstance(dim, (tuple, list)) else dim


def reducing(name, reference, *arrays, dims=DIMS, **options):
    """A reduction over several choices of dimensions, kept and not."""
    operator = getattr(tp, name)
    return [
        Sample(
            f"{name} over {dim}{', kept' * keepdim}",
            lambda x, dim=dim, keepdim=keepdim: operator(x, dim=dim, keepdim=keepdim),
            array,
            reference=lambda x, dim=dim, keepdim=keepdim: reference(x, axis=axes(dim), keepdims=keepdim),
            **options,
        )
        for array in arrays
        for dim in (dims if array.ndim == 3 else [None])
        for keepdim in ((False, True) if dim is not None else (False,))
    ]


def plain(name, fn, *arrays, reference, **options):
    """One call for each array."""
    return [Sample(name, fn, a, reference=reference, **options) for a in arrays]


def counts(fn):
    """An operator with an integer or bool result, as floating numbers, so that batching is tested."""
    return lambda *xs: fn(*xs).to(tp.float64)


def p_norm(p):
    def norm(x, axis=None, keepdims=False):
        a = np.abs(x)
        if p == 0:
            return (a != 0).sum(axis, keepdims=keepdims).astype(float)
        if np.isinf(p):
            return (a.max if p > 0 else a.min)(axis, keepdims=keepdims)
        return (a**p).sum(axis, keepdims=keepdims) ** (1 / p)

    return norm


SAMPLES = [
    *reducing("sum", np.sum, X, np.array(2.5), complexn(2, 3, 4)),
    *[Sample(f"sum to {size}", lambda x, size=size: x.sum_to_size(size), X,
             reference=lambda x, size=size, dims=dims: x.sum(dims).reshape(size))
      for size, dims in (((3, 1), (0, 2)), ((1, 3, 4), 0), ((2, 3, 4), ()), ((), None))],
    Sample("sum of nothing", tp.sum, np.zeros((0,)), reference=np.sum, grad=False),
    *reducing("mean", np.mean, X, np.array(2.5), complexn(2, 3, 4)),
    *reducing("nansum", np.nansum, X),
    *reducing("nanmean", np.nanmean, X),
    Sample("nansum leaves out nan", lambda x: tp.nansum(x * x, 1), np.where(X > 1, np.nan, X),
           reference=lambda x: np.nansum(x * x, 1), grad=False),
    *reducing("amax", np.amax, X, np.array(2.5)),
    *reducing("amin", np.amin, X, np.array(2.5)),
    *reducing("var", lambda x, **k: np.var(x, ddof=1, **k), X, complexn(2, 3, 4), dims=[None, -1, (0, 2)]),
    *reducing("std", lambda x, **k: np.std(x, ddof=1, **k), X, complexn(2, 3, 4), dims=[None, -1, (0, 2)]),
    Sample("var with a correction", lambda x: tp.var(x, 1, correction=0.5), X,
           reference=lambda x: np.var(x, 1, ddof=0.5)),
    Sample("var, biased", lambda x: x.var(False), X, reference=np.var),
    Sample("var_mean", lambda x: tp.var_mean(x, 1), X, reference=lambda x: (np.var(x, 1, ddof=1), x.mean(1))),
    Sample("std_mean", lambda x: tp.std_mean(x, -1, keepdim=True), X,
           reference=lambda x: (np.std(x, -1, ddof=1, keepdims=True), x.mean(-1, keepdims=True))),
    *reducing("logsumexp", scipy.special.logsumexp, X, dims=[0, -1, (0, 2)]),
    Sample("logsumexp of large numbers", lambda x: tp.logsumexp(1000 * x, 0), X,
           reference=lambda x: scipy.special.logsumexp(1000 * x, 0), gradgrad=False, grad=False),
    Sample("logsumexp, complex", lambda x: tp.logsumexp(x, 1), complexn(2, 3),
           reference=lambda x: np.log(np.exp(x).sum(1))),
    *[s for dim in (None, 0, -1) for s in plain(
        f"prod along {dim}", lambda x, dim=dim: x.prod() if dim is None else x.prod(dim), X, ZEROS, complexn(3, 2),
        np.array(2.0), reference=lambda x, dim=dim: np.prod(x) if dim is None else np.prod(x, dim))],
    Sample("prod, kept", lambda x: x.prod(1, keepdim=True), X, reference=lambda x: x.prod(1, keepdims=True)),
    Sample("prod of one element", lambda x: x.prod(1), randn(3, 1), reference=lambda x: x[:, 0]),
    *[s for dim in (0, 1, -1) for name, ref, arg in (("max", np.max, np.argmax), ("min", np.min, np.argmin))
      for s in plain(f"{name} along {dim}", lambda x, name=name, dim=dim: getattr(tp, name)(x, dim), X,
                     reference=lambda x, ref=ref, arg=arg, dim=dim: (ref(x, dim), arg(x, dim)))],
    Sample("max, kept", lambda x: x.max(1, keepdim=True).values, X, reference=lambda x: x.max(1, keepdims=True)),
    Sample("max of a scalar along 0", lambda x: x.max(0).values, np.array(2.0), reference=lambda x: x),
    Sample("max of all", tp.max, X, reference=np.max),
    Sample("min of all", tp.min, X, reference=np.min),
    Sample("max of two", tp.max, X, randn(3, 1, seed=1), reference=np.maximum),
    Sample("min of two", lambda x, y: tp.min(x, other=y), X, randn(3, 1, seed=1), reference=np.minimum),
    Sample("aminmax", lambda x: tp.aminmax(x), X, reference=lambda x: (x.min(), x.max())),
    Sample("aminmax along 1", lambda x: tp.aminmax(x, dim=1), X, reference=lambda x: (x.min(1), x.max(1))),
    *[Sample(f"{name} along {dim}", counts(lambda x, name=name, dim=dim: getattr(tp, name)(x, dim)), X,
             reference=lambda x, name=name, dim=dim: getattr(np, name)(x, dim), grad=False)
      for name in ("argmax", "argmin") for dim in (None, 0, -1)],
    Sample("argmax, kept", counts(lambda x: tp.argmax(x, 1, keepdim=True)), X,
           reference=lambda x: np.argmax(x, 1, keepdims=True), grad=False),
    *[Sample(f"{name} over {dim}", counts(lambda x, name=name, dim=dim: getattr(tp, name)(x > 0, dim)), X,
             reference=lambda x, name=name, dim=dim: getattr(np, name)(x > 0, axis=axes(dim)), grad=False)
      for name in ("all", "any") for dim in (None, 1, (0, 2), ())],
    *[Sample(f"count_nonzero over {dim}", counts(lambda x, dim=dim: tp.count_nonzero(x, dim)), ZEROS,
             reference=lambda x, dim=dim: np.count_nonzero(x, axis=dim), grad=False) for dim in (None, 0, (0, 1))],
    *[Sample(f"norm of order {p} over {dim}", lambda x, p=p, dim=dim: tp.norm(x, p, dim), positive(2, 3, 2),
             reference=lambda x, p=p, dim=dim: p_norm(p)(x, axes(dim)))
      for p in (0, 0.5, 1, 1.5, 2, 3, -1, np.inf, -np.inf) for dim in (None, 1, (0, 2))],
    *[Sample(f"linalg.vector_norm of order {p}, complex", lambda x, p=p: tp.linalg.vector_norm(x, p, -1, True),
             complexn(2, 3), reference=lambda x, p=p: p_norm(p)(x, -1, True)) for p in (1, 2, 3.5, np.inf)],
    Sample("dist", tp.dist, X, randn(3, 1, seed=1), reference=lambda x, y: np.linalg.norm((x - y).ravel())),
    Sample("dist of order 1", lambda x, y: tp.dist(x, y, 1), X, randn(2, 3, 4, seed=1),
           reference=lambda x, y: np.abs(x - y).sum()),
]  # fmt: skip
