"""Samples of scans, differences and integrals along a dimension."""

import numpy as np
import scipy.integrate
from harness import Sample, complexn, randn

import tensorplay as tp

X = randn(2, 3, 4)
ZEROS = np.array([[2.0, 3.0, 0.0, 4.0, 0.0], [1.0, 0.0, 5.0, -2.0, 3.0], [1.0, 2.0, 3.0, 4.0, 0.5]])


def logcumsumexp(x, axis):
    return np.log(np.cumsum(np.exp(x), axis))


def last_extreme(x, axis, better):
    """Indices of the running extremum; of equal elements the last."""
    x = np.moveaxis(x, axis, -1)
    out = np.zeros(x.shape, int)
    for place in np.ndindex(x.shape):
        line = x[place[:-1]]
        out[place] = max(range(place[-1] + 1), key=lambda i: (better * line[i], i))
    return np.moveaxis(out, -1, axis)


SAMPLES = [
    *[Sample(f"{name} along {dim}", lambda x, name=name, dim=dim: getattr(tp, name)(x, dim), array,
             reference=lambda x, name=name, dim=dim: getattr(np, name)(x, dim))
      for name in ("cumsum", "cumprod") for dim, array in (
          (0, X), (1, X), (-1, X), (0, ZEROS), (1, ZEROS), (0, complexn(3, 2)), (0, randn(1)), (0, randn(9)))],
    *[Sample(f"{name} of no elements", lambda x, name=name: getattr(tp, name)(x, 0), np.zeros((0, 2)),
             reference=lambda x: x) for name in ("cumsum", "cumprod", "logcumsumexp")],
    *[Sample(f"{name} of a scalar", lambda x, name=name: getattr(tp, name)(x, 0), np.array(2.0), reference=lambda x: x)
      for name in ("cumsum", "cumprod", "logcumsumexp")],
    *[Sample(f"logcumsumexp along {dim}", lambda x, dim=dim: tp.logcumsumexp(x, dim), array,
             reference=lambda x, dim=dim: logcumsumexp(x, dim))
      for dim, array in ((0, X), (1, X), (-1, X), (0, randn(9)))],
    Sample("logcumsumexp, complex", lambda x: tp.logcumsumexp(x, 1), 0.3 * complexn(2, 3),
           reference=lambda x: logcumsumexp(x, 1)),
    Sample("logcumsumexp of large numbers", lambda x: tp.logcumsumexp(1000 * x, 0), X,
           reference=lambda x: np.logaddexp.accumulate(1000 * x, 0), grad=False),
    *[Sample(f"{name} along {dim}", lambda x, name=name, dim=dim: getattr(tp, name)(x, dim), X,
             reference=lambda x, u=ufunc, dim=dim, sign=sign: (u.accumulate(x, dim), last_extreme(x, dim, sign)))
      for name, ufunc, sign in (("cummax", np.maximum, 1), ("cummin", np.minimum, -1)) for dim in (0, 1, -1)],
    *[Sample(f"diff {n} times along {dim}", lambda x, n=n, dim=dim: tp.diff(x, n, dim), X,
             reference=lambda x, n=n, dim=dim: np.diff(x, n, dim))
      for n, dim in ((0, 0), (1, 0), (1, -1), (2, -1), (3, 2))],
    Sample("diff with ends", lambda x, a, b: tp.diff(x, dim=1, prepend=a, append=b), X, randn(2, 1, 4, seed=1),
           randn(2, 2, 4, seed=2), reference=lambda x, a, b: np.diff(x, axis=1, prepend=a, append=b)),
    Sample("diff of bools", lambda x: tp.diff(x), np.array([True, True, False]), reference=np.diff),
    Sample("diff of more than there is", lambda x: tp.diff(x, 5), X, reference=lambda x: x[..., :0], grad=False),
    Sample("trapezoid", lambda y: tp.trapezoid(y, dx=0.5, dim=1), X,
           reference=lambda y: scipy.integrate.trapezoid(y, dx=0.5, axis=1)),
    Sample("trapezoid at positions", lambda y, x: tp.trapezoid(y, x, dim=1), X, randn(3, seed=1),
           reference=lambda y, x: scipy.integrate.trapezoid(y, x, axis=1)),
    Sample("trapezoid at positions of each line", lambda y, x: tp.trapezoid(y, x), X, randn(3, 4, seed=1),
           reference=lambda y, x: scipy.integrate.trapezoid(y, x)),
    Sample("cumulative_trapezoid", lambda y: tp.cumulative_trapezoid(y), X,
           reference=scipy.integrate.cumulative_trapezoid),
    Sample("cumulative_trapezoid at positions", lambda y, x: tp.cumulative_trapezoid(y, x, dim=0), X, randn(2, seed=1),
           reference=lambda y, x: scipy.integrate.cumulative_trapezoid(y, x, axis=0)),
    *[Sample(f"gradient {options}", lambda x, options=options: tp.gradient(x, **options), X,
             reference=lambda x, there=there: there(x)) for options, there in (
        ({}, lambda x: np.gradient(x)),
        ({"edge_order": 1, "spacing": 0.5}, lambda x: np.gradient(x, 0.5)),
        ({"spacing": [1.0, 2.0, 3.0]}, lambda x: np.gradient(x, 1.0, 2.0, 3.0)),
        ({"dim": 1, "edge_order": 2}, lambda x: [np.gradient(x, axis=1, edge_order=2)]),
        ({"dim": (-1, 0), "spacing": (2, 1)}, lambda x: np.gradient(x, 2, 1, axis=(-1, 0))))],
    *[Sample(f"gradient at positions, edge_order {order}",
             lambda y, a, b, order=order: tp.gradient(y, spacing=(a, b), dim=(1, 2), edge_order=order), X,
             np.array([0.0, 1.0, 2.5]), np.array([0.0, 0.5, 1.5, 3.0]),
             reference=lambda y, a, b, order=order: np.gradient(y, a, b, axis=(1, 2), edge_order=order))
      for order in (1, 2)],
    Sample("gradient of two samples", lambda x: tp.gradient(x), randn(2), reference=lambda x: (np.gradient(x),)),
    Sample("gradient, complex", lambda x: tp.gradient(x, edge_order=2), complexn(4),
           reference=lambda x: (np.gradient(x, edge_order=2),)),
    Sample("gradient of integers", lambda x: tp.gradient(x.to(tp.int8))[0].double(), np.array([-100.0, 100.0, 3.0]),
           reference=np.gradient, grad=False),
]  # fmt: skip
