"""Samples of reductions, scans and normalisations under a mask, against the same of the valid elements alone."""

import numpy as np
import scipy.special
from harness import Sample, complexn, randn

import tensorplay as tp

X, Y, Z = randn(2, 3, 4), randn(2, 3, 4, seed=1), complexn(2, 3)
MASK = np.random.default_rng(2).random((2, 3, 4)) < 0.6
MASK[:, 0] = True  # so that no line along the middle dimension is left without an element


def reduce(function, dim=None, keepdim=False):
    """The reduction of the valid elements over dimensions, one line after the other."""

    def reduced(x, mask):
        mask = np.broadcast_to(mask, x.shape)
        dims = range(x.ndim) if dim is None else np.atleast_1d(dim) % x.ndim
        kept = [d for d in range(x.ndim) if d not in dims]
        x, mask = (np.transpose(a, [*kept, *dims]) for a in (x, mask))
        lead = x.shape[: len(kept)]
        out = np.array([function(x[i][mask[i]]) for i in np.ndindex(lead)]).reshape(lead)
        return np.expand_dims(out, tuple(dims)) if keepdim else out

    return reduced


def median(v):
    return np.sort(v)[(len(v) - 1) // 2]


REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min, "mean": np.mean, "norm": np.linalg.norm,
    "logsumexp": scipy.special.logsumexp, "var": lambda v: np.var(v, ddof=1) if len(v) > 1 else np.nan,
    "std": lambda v: np.std(v, ddof=1) if len(v) > 1 else np.nan,
}  # fmt: skip


def softmax(x, mask, dim):
    return scipy.special.softmax(np.where(mask, x, -np.inf), dim)


def call(name, *args, **kwargs):
    return lambda x, mask: getattr(tp.masked, name)(x, *args, mask=mask, **kwargs)


def safe(name):
    """A mask with enough elements in each line for the reduction and its derivatives."""
    if name not in ("var", "std"):
        return MASK
    mask = MASK.copy()
    mask[:, 1] = True
    return mask


SAMPLES = [
    *[Sample(f"masked.{name} over {dim}", call(name, dim=dim), X, safe(name), reference=reduce(function, dim))
      for name, function in REDUCTIONS.items() for dim in (None, 1, (0, 1), (0, 1, 2))],
    *[Sample(f"masked.{name}, keepdim", call(name, dim=(0, 1), keepdim=True), X, safe(name),
             reference=reduce(function, (0, 1), True)) for name, function in REDUCTIONS.items()],
    *[Sample(f"masked.{name} of everything, keepdim", call(name, keepdim=True), X, safe(name),
             reference=reduce(function, None, True)) for name, function in REDUCTIONS.items()],
    *[Sample(f"masked.{name} without a mask", lambda x, name=name: getattr(tp.masked, name)(x, dim=1), X,
             reference=lambda x, f=function: reduce(f, 1)(x, True)) for name, function in REDUCTIONS.items()],
    *[Sample(f"masked.{name} with a mask that is broadcast", call(name, dim=(0, 2)), X,
             np.array([[True, False, True, True]]), reference=reduce(function, (0, 2)))
      for name, function in REDUCTIONS.items()],
    *[Sample(f"masked.{name}, complex", call(name, dim=1), Z, np.array([True, True, False]),
             reference=reduce(REDUCTIONS[name], 1)) for name in ("sum", "prod", "mean", "norm", "logsumexp")],
    *[Sample(f"masked.{name}, correction {correction}", call(name, 1, correction=correction), X, safe(name),
             reference=reduce(lambda v, f=f, c=correction: f(v, ddof=c), 1))
      for name, f in (("var", np.var), ("std", np.std)) for correction in (0, 0.5)],
    Sample("masked.var, biased", call("var", 1, False), X, safe("var"), reference=reduce(np.var, 1)),
    *[Sample(f"masked.norm of order {order}", call("norm", order, 1), X, MASK,
             reference=reduce(lambda v, order=order: np.linalg.norm(v, order), 1), grad=order != 0)
      for order in (0, 1, 3, -1, np.inf, -np.inf)],
    Sample("masked.median", call("median", 1), X, MASK, reference=reduce(median, 1)),
    Sample("masked.median, keepdim", call("median", 1, keepdim=True), X, MASK, reference=reduce(median, 1, True)),
    *[Sample(f"masked.{name} over {dim}", call(name, dim), X, MASK,
             reference=lambda x, mask, name=name, dim=dim: getattr(np, name)(
                 np.where(mask, x, np.inf if name == "argmin" else -np.inf), dim).astype(float), grad=False)
      for name in ("argmax", "argmin") for dim in (None, 1)],
    *[Sample(f"masked.{name}", call(name, 1), X, MASK,
             reference=lambda x, mask, f=f, fill=fill: f(np.where(mask, x, fill), 1))
      for name, f, fill in (("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1))],
    Sample("masked.softmax", call("softmax", 1), X, MASK, reference=lambda x, mask: softmax(x, mask, 1)),
    Sample("masked.softmin", call("softmin", 1), X, MASK, reference=lambda x, mask: softmax(-x, mask, 1)),
    Sample("masked.log_softmax", lambda x, mask: tp.masked.log_softmax(x, 1, mask=mask)[mask], X, MASK,
           reference=lambda x, mask: np.log(softmax(x, mask, 1)[mask]), vmap=False),
    *[Sample(f"masked.normalize, order {order}", call("normalize", order, 1), X, MASK,
             reference=lambda x, mask, order=order: np.where(mask, x, 0) / reduce(
                 lambda v: np.linalg.norm(v, order), 1, True)(x, mask)) for order in (1, 2)],
    Sample("masked.normalize of a small norm", call("normalize", 2, 1, eps=100.0), X, MASK,
           reference=lambda x, mask: np.where(mask, x, 0) / 100),
    Sample("masked.logaddexp", lambda x, y, mask: tp.masked.logaddexp(x, y, input_mask=mask), X, Y, MASK,
           reference=lambda x, y, mask: np.where(mask, np.logaddexp(x, y), y)),
    Sample("masked.logaddexp of two masks", lambda x, y, mask: tp.masked.logaddexp(
        x, y, input_mask=mask, other_mask=~mask), X, Y, MASK, reference=lambda x, y, mask: np.where(mask, x, y)),
]  # fmt: skip

AT = np.array([[0], [7], [2]]), np.array([[1, -1]])
INSIDE = np.array([[True], [False], [True]])
PLACES = [tp.tensor(i) for i in AT]
SAMPLES += [
    Sample("_unsafe_masked_index", lambda x, mask: tp._unsafe_masked_index(x, mask, PLACES, 0.5), randn(3, 4), INSIDE,
           reference=lambda x, mask: np.where(mask, x[AT[0].clip(max=2), AT[1]], 0.5)),
    Sample("_unsafe_masked_index_put_accumulate",
           lambda x, y, mask: tp._unsafe_masked_index_put_accumulate(x, mask, PLACES, y),
           randn(3, 4), randn(3, 2, seed=1), INSIDE,
           reference=lambda x, y, mask: x + np.insert(np.zeros((3, 2)), [1, 1], 0, 1) + np.stack(
               [0 * x[:, 0], (y * mask)[:, 0], 0 * x[:, 0], (y * mask)[:, 1]], 1)),
]  # fmt: skip
