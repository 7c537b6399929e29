"""Samples of comparison, logic and bits, and of choosing between values."""

import operator

import numpy as np
from harness import Sample, randn

import tensorplay as tp

X, ROW, COLUMN = randn(2, 3), randn(3, seed=1), randn(2, 1, seed=2)
TIES = np.array([[1.0, 2.0, -1.0], [0.0, 2.0, 3.0]])
INTEGERS, MORE = np.array([[12, -7, 0], [5, 3, -1]]), np.array([5, 3, 2])
BOOLS, FLAGS = INTEGERS > 0, np.array([True, False, True])
ODD = np.array([1.0, np.nan, np.inf, -np.inf, -0.0])
SPREAD = np.array([-2.0, -0.4, 0.3, 1.7])


def counts(fn):
    """An operator with a bool result, as floating numbers, so that batching is tested."""
    return lambda *xs: fn(*xs).to(tp.float64)


def compared(name, reference):
    fn = getattr(tp, name)
    return [
        *[Sample(name, counts(fn), a, b, reference=reference, grad=False)
          for a, b in [(X, ROW), (TIES, TIES[0]), (ROW, COLUMN)]],
        Sample(name, fn, INTEGERS, MORE, reference=reference),
        Sample(name, counts(lambda x: fn(x, 2)), TIES, reference=lambda x: reference(x, 2), grad=False),
    ]  # fmt: skip


def tested(name, reference, *arrays):
    return [Sample(name, counts(getattr(tp, name)), a, reference=reference, grad=False) for a in arrays]


SAMPLES = [
    *compared("eq", np.equal),
    *compared("ne", np.not_equal),
    *compared("lt", np.less),
    *compared("le", np.less_equal),
    *compared("gt", np.greater),
    *compared("ge", np.greater_equal),
    *[Sample(f.__name__, counts(f), X, ROW, reference=f, grad=False)
      for f in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)],
    Sample("isclose", counts(lambda x, y: tp.isclose(x, y, rtol=0.5)), X, ROW,
           reference=lambda x, y: np.isclose(x, y, rtol=0.5), grad=False),
    Sample("isclose with nan", lambda x, y: tp.isclose(x, y, equal_nan=True), ODD, ODD,
           reference=lambda x, y: np.isclose(x, y, equal_nan=True), grad=False, vmap=False),
    # logic and bits
    *[Sample(f"logical_{name}", getattr(tp, f"logical_{name}"), a, b, reference=getattr(np, f"logical_{name}"))
      for name in ("and", "or", "xor") for a, b in [(BOOLS, FLAGS), (INTEGERS, MORE)]],
    Sample("logical_not", tp.logical_not, INTEGERS, reference=np.logical_not),
    *[Sample(f"bitwise_{name}", getattr(tp, f"bitwise_{name}"), a, b, reference=getattr(np, f"bitwise_{name}"))
      for name in ("and", "or", "xor") for a, b in [(BOOLS, FLAGS), (INTEGERS, MORE)]],
    Sample("bitwise_not", tp.bitwise_not, INTEGERS, reference=np.invert),
    Sample("bitwise_not of bools", operator.invert, BOOLS, reference=np.invert),
    Sample("left shift", operator.lshift, INTEGERS, MORE, reference=np.left_shift),
    Sample("right shift", operator.rshift, INTEGERS, MORE, reference=np.right_shift),
    Sample("shifts that leave nothing", lambda x, n: (x << n) + (x >> n), INTEGERS, np.array([64, -1, 100]),
           reference=lambda x, n: np.where(x < 0, -1, 0) + 0 * n),
    Sample("number with bits", lambda x: (6 & x) | (x ^ 5) | (1 << MORE.size), INTEGERS,
           reference=lambda x: (6 & x) | (x ^ 5) | 8),
    *tested("isnan", np.isnan, ODD),
    *tested("isinf", np.isinf, ODD),
    *tested("isfinite", np.isfinite, ODD),
    *tested("isposinf", np.isposinf, ODD),
    *tested("isneginf", np.isneginf, ODD),
    *tested("signbit", np.signbit, ODD, X),
    *tested("isreal", np.isreal, np.array([1 + 1j, 2.0])),
    # choosing
    Sample("where", lambda x, y: tp.where(tp.tensor(FLAGS), x, y), X, COLUMN,
           reference=lambda x, y: np.where(FLAGS, x, y)),
    Sample("where on a batched condition", lambda x, y: tp.where(x > 0, x, y), X, COLUMN,
           reference=lambda x, y: np.where(x > 0, x, y)),
    Sample("where with a number", lambda x: tp.where(x > 0, x, 2.5), X, reference=lambda x: np.where(x > 0, x, 2.5)),
    Sample("where with two numbers", counts(lambda x: tp.where(x > 0, 1, 2)), X,
           reference=lambda x: np.where(x > 0, 1, 2), grad=False),
    Sample("where as a method", lambda x, y: x.where(x > y, y), X, ROW, reference=np.maximum),
    *[Sample(name, getattr(tp, name), a, b, reference=getattr(np, name))
      for name in ("maximum", "minimum", "fmax", "fmin") for a, b in [(X, ROW), (ROW, COLUMN), (np.array(0.3), X)]],
    *[Sample(f"{name} with nan", getattr(tp, name), ODD, ODD[::-1].copy(), reference=getattr(np, name), grad=False,
             vmap=False)
      for name in ("maximum", "minimum", "fmax", "fmin")],
    *[Sample(f"clamp to [{lo}, {hi}]", lambda x, lo=lo, hi=hi: tp.clamp(x, lo, hi), SPREAD,
             reference=lambda x, lo=lo, hi=hi: np.clip(x, lo, hi)) for lo,
             hi in [(-1, 1), (None, 0.5), (-0.5, None), (1, -1)]],
    Sample("clamp to tensors", tp.clamp, X, ROW - 0.5, ROW + 0.5, reference=np.clip),
    Sample("clamp_min", tp.clamp_min, X, ROW, reference=np.maximum),
    Sample("clamp_max", tp.clamp_max, X, ROW, reference=np.minimum),
    Sample("clamp integers beyond their range", lambda x: tp.clamp(x, -1, 300), INTEGERS.astype(np.uint8),
           reference=lambda x: x),
]  # fmt: skip
