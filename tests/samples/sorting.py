"""Samples of sorting, selection by rank, sets and searches."""

import numpy as np
import scipy.stats
from harness import Sample, randn, rng

import tensorplay as tp

X = randn(2, 3, 5)
TIES = rng(3).integers(0, 4, (3, 6))


def floating(fn):
    """An operator with an integer or bool result, as floating numbers, so that batching is tested."""
    return lambda *xs: fn(*xs).to(tp.float64)


def sorted_by(x, axis, descending):
    order = np.argsort(-x if descending else x, axis, kind="stable")
    return np.take_along_axis(x, order, axis), order


def top(x, k, axis, largest):
    values, order = sorted_by(x, axis, largest)
    return np.take(values, range(k), axis), np.take(order, range(k), axis)


def ranked(x, k, axis):
    order = np.take(np.argsort(x, axis, kind="stable"), k, axis)
    return np.squeeze(np.take_along_axis(x, np.expand_dims(order, axis), axis), axis), order


def last_mode(x):
    values = scipy.stats.mode(x, axis=-1).mode
    return values, np.array([np.flatnonzero(line == v)[-1] for line, v in zip(x, values)])


SAMPLES = [
    *[Sample(f"sort along {dim}{', descending' * down}", lambda x, dim=dim, down=down: tp.sort(x, dim, down), array,
             reference=lambda x, dim=dim, down=down: sorted_by(x, dim, down))
      for dim in (0, 1, -1) for down in (False, True) for array in (X, TIES) if array.ndim > dim],
    Sample("sort of many", lambda x: tp.sort(x, 0, stable=True), randn(5000), grad=False, vmap=False,
           reference=lambda x: sorted_by(x, 0, False)),
    Sample("sort of many, float32", lambda x: tp.sort(x.float(), descending=True).indices, randn(5000).round(1),
           grad=False, vmap=False, reference=lambda x: sorted_by(x.astype(np.float32), 0, True)[1]),
    Sample("sort of many equal", lambda x: tp.sort(x, 1, True), rng(1).integers(0, 9, (20, 300)),
           reference=lambda x: sorted_by(x, 1, True)),
    Sample("sort of many equal, floating", lambda x: tp.sort(x), rng(1).integers(0, 9, (20, 300)) / 2,
           reference=lambda x: sorted_by(x, -1, False), grad=False, vmap=False),
    Sample("sort of a scalar", lambda x: tp.sort(x).values, np.array(2.0), reference=lambda x: x),
    Sample("argsort", floating(lambda x: tp.argsort(x, 1)), X, reference=lambda x: np.argsort(x, 1), grad=False),
    Sample("msort", tp.msort, X, reference=lambda x: np.sort(x, 0)),
    *[Sample(f"topk of {k} along {dim}{', smallest' * (not largest)}",
             lambda x, k=k, dim=dim, largest=largest: tp.topk(x, k, dim, largest), X, grad=k > 0,
             reference=lambda x, k=k, dim=dim, largest=largest: top(x, k, dim, largest))
      for k in (0, 2) for dim in (-1, 0) for largest in (True, False)],
    *[Sample(f"topk of 3 among many{', smallest' * (not largest)}",
             lambda x, largest=largest: tp.topk(x, 3, 0, largest), randn(40),
             reference=lambda x, largest=largest: top(x, 3, 0, largest)) for largest in (True, False)],
    *[Sample(f"kthvalue {k} along {dim}", lambda x, k=k, dim=dim: tp.kthvalue(x, k, dim), X,
             reference=lambda x, k=k, dim=dim: ranked(x, k - 1, dim)) for k in (1, 2) for dim in (0, 1, -1)],
    *[Sample(f"{name} along {dim}", lambda x, name=name, dim=dim: getattr(tp, name)(x, dim), X,
             reference=lambda x, dim=dim: ranked(x, (x.shape[dim] - 1) // 2, dim))
      for name in ("median", "nanmedian") for dim in (0, 1, -1)],
    *[Sample(f"{name} of all", getattr(tp, name), X, reference=lambda x: np.sort(x.ravel())[14])
      for name in ("median", "nanmedian")],
    Sample("median of nan", lambda x: tp.median(x, 0), np.array([1.0, np.nan, 2.0, np.nan]),
           reference=lambda x: (np.nan, 1), grad=False),
    Sample("nanmedian of nan", lambda x: tp.nanmedian(x, 0), np.array([1.0, np.nan, 2.0, 3.0]),
           reference=lambda x: (2.0, 2), grad=False),
    Sample("mode", lambda x: tp.mode(x), TIES, reference=last_mode),
    Sample("mode of distinct numbers", lambda x: tp.mode(x, 0).values, X, reference=lambda x: x.min(0)),
    Sample("unique", lambda x: tp.unique(x, return_inverse=True, return_counts=True), TIES,
           reference=lambda x: np.unique(x, return_inverse=True, return_counts=True)),
    Sample("unique, differentiable", lambda x: tp.unique(x), X, reference=np.unique, vmap=False),
    Sample("unique rows", lambda x: tp.unique(x, return_inverse=True, return_counts=True, dim=0), TIES[[0, 1, 0, 2]],
           reference=lambda x: np.unique(x, return_inverse=True, return_counts=True, axis=0)),
    Sample("unique columns", lambda x: tp.unique(x, dim=1), TIES[:, [1, 0, 1]] / 2.0,
           reference=lambda x: np.unique(x, axis=1), grad=False, vmap=False),
    Sample("unique_consecutive", lambda x: tp.unique_consecutive(x, True, True), np.array([1, 1, 2, 2, 2, 1, 3, 3]),
           reference=lambda x: ([1, 2, 1, 3], [0, 0, 1, 1, 1, 2, 3, 3], [2, 3, 1, 2])),
    Sample("unique_consecutive rows", lambda x: tp.unique_consecutive(x, dim=0), np.array([[1, 2], [1, 2], [1, 3]]),
           reference=lambda x: x[1:]),
    Sample("isin", floating(lambda x, y: tp.isin(x, y)), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 3.0]),
           reference=np.isin, grad=False),
    Sample("isin, inverted", lambda x: tp.isin(x, 2, invert=True), TIES, reference=lambda x: x != 2),
    *[Sample(f"searchsorted{', right' * right}", floating(lambda b, x, right=right: tp.searchsorted(b, x, right=right)),
             np.array([1.0, 3.0, 3.0, 5.0]), np.array([[0.0, 1.0, 3.0], [4.0, 5.0, 6.0]]), grad=False,
             reference=lambda b, x, right=right: np.searchsorted(b, x, side="right" if right else "left"))
      for right in (False, True)],
    Sample("searchsorted in rows", floating(tp.searchsorted), np.sort(randn(2, 7)), randn(2, 3, seed=1), grad=False,
           reference=lambda b, x: np.array([np.searchsorted(*pair) for pair in zip(b, x)])),
    Sample("searchsorted with a sorter", lambda b, s, x: tp.searchsorted(b, x, sorter=s), np.array([5, 1, 3]),
           np.array([1, 2, 0]), np.array([0, 2, 5, 6]), reference=lambda b, s, x: np.searchsorted(b[s], x)),
    Sample("bucketize", floating(lambda x, b: tp.bucketize(x, b, right=True)), X, np.array([-1.0, 0.0, 1.0]),
           reference=lambda x, b: np.digitize(x, b), grad=False),
]  # fmt: skip
