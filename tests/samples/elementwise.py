"""Samples of arithmetic and of the elementary functions."""

import operator

import numpy as np
import scipy.special
from harness import Sample, complexn, positive, randn

import tensorplay as tp

X = randn(2, 3)
ROW, COLUMN = randn(3, seed=1), randn(2, 1, seed=2)
UNIT = np.linspace(-0.9, 0.9, 6).reshape(2, 3)
STRIDED = randn(4, 6, seed=3)[::2, ::-2]
EMPTY = np.zeros((0, 3))
Z = complexn(2, 3)


def unary(name, *arrays, reference=None, **options):
    """A function of one tensor, by name, on each array."""
    reference = reference or getattr(np, name)
    return [Sample(name, getattr(tp, name), a, reference=reference, **options) for a in arrays]


def binary(name, *pairs, reference=None, **options):
    """A function of two tensors, by name, on each pair of arrays; broadcast in every way."""
    reference = reference or getattr(np, name)
    return [Sample(name, getattr(tp, name), *pair, reference=reference, **options) for pair in pairs]


def with_number(name, fn, *arrays, **options):
    """A call with Python numbers among the operands, whose reference is the same code on arrays."""
    return [Sample(name, fn, a, reference=fn, **options) for a in arrays]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


Z_ROW = complexn(3, seed=1)
PAIRS = [(X, ROW), (X, COLUMN), (ROW, COLUMN), (np.array(1.5), X), (STRIDED, X), (EMPTY, ROW), (X, Z), (Z, Z_ROW)]
DIVISORS = [(X, positive(3)), (np.array(2.5), positive(2, 1)), (STRIDED, -positive(2, 3)), (Z, Z_ROW)]
QUOTIENTS = [(X * 5, positive(3)), (np.array(-7.3), positive(2, 1)), (STRIDED * 5, -positive(2, 3))]
REAL_PAIRS = [(X, ROW), (ROW, COLUMN), (np.array(1.5), X), (STRIDED, X)]

SAMPLES = [
    # arithmetic
    *binary("add", *PAIRS),
    *binary("sub", *PAIRS, reference=np.subtract),
    *binary("mul", *PAIRS, reference=np.multiply),
    *binary("div", *DIVISORS, reference=np.divide),
    *binary("floor_divide", *QUOTIENTS),
    *binary("remainder", *QUOTIENTS),
    *binary("fmod", *QUOTIENTS),
    *unary("neg", X, Z, EMPTY, reference=np.negative),
    *unary("positive", X),
    *unary("square", X, Z),
    *unary("reciprocal", positive(2, 3), Z),
    *with_number("numbers on the right", lambda x: (x + 2) * 3 - x / 4 + x // 0.7 + x % 0.7, X, np.array(0.3), STRIDED),
    *with_number("numbers on the left", lambda x: (2 + x) * (3 - x) + 4 / x, X, np.array(0.3), Z),
    *with_number("remainders of a number", lambda x: 5.3 % x + 5.3 // x, positive(2, 3)),
    *with_number("complex numbers", lambda x: (x + 1j) * 2j, X, Z),
    Sample("add scaled", lambda x, y: tp.add(x, y, alpha=-2.5), X, ROW, reference=lambda x, y: x - 2.5 * y),
    Sample("sub scaled", lambda x, y: tp.sub(x, y, alpha=2), X, ROW, reference=lambda x, y: x - 2 * y),
    Sample("rsub", lambda x, y: tp.rsub(x, y, alpha=2), X, ROW, reference=lambda x, y: y - 2 * x),
    *[Sample(f"div rounded: {mode}", lambda x, y, mode=mode: tp.div(x, y, rounding_mode=mode), *pair,
             reference=lambda x, y, rounded=rounded: rounded(x / y))
      for mode, rounded in [("trunc", np.trunc), ("floor", np.floor)] for pair in QUOTIENTS],
    *[Sample(f"addcmul by {value}", lambda x, a, b, value=value: tp.addcmul(x, a, b, value=value), X, ROW, COLUMN,
             reference=lambda x, a, b, value=value: x + value * a * b) for value in (1, 0.5)],
    *[Sample(f"addcdiv by {value}", lambda x, a, b, value=value: tp.addcdiv(x, a, b, value=value), X, ROW,
             positive(2, 1), reference=lambda x, a, b, value=value: x + value * a / b) for value in (1, 0.5)],
    *[Sample(f"lerp by {weight}", lambda x, y, weight=weight: tp.lerp(x, y, weight), X, ROW,
             reference=lambda x, y, weight=weight: x + weight * (y - x)) for weight in (0.0, 0.25, 0.75, 1.0)],
    Sample("lerp by a tensor", tp.lerp, X, ROW, UNIT, reference=lambda x, y, w: x + w * (y - x)),
    Sample("lerp of complex tensors", tp.lerp, Z, Z_ROW, UNIT + 0j, reference=lambda x, y, w: x + w * (y - x)),
    # powers
    *[Sample(f"power of {n}", lambda x, n=n: x**n, array, reference=lambda x, n=n: x**n, tol=1e-6)
      for n in (0, 1, 2, 3, 4, 7, -1, -2) for array in (X, Z, np.array(-1.3))],
    *[Sample(f"power of {n} at zero", lambda x, n=n: x**n, np.array([0.0, 1.0, -1.0]), reference=lambda x, n=n: x**n)
      for n in (0, 1, 2, 3, 5)],
    *[Sample(f"power of {n}", lambda x, n=n: x**n, positive(2, 3), reference=lambda x, n=n: x**n)
      for n in (0.5, -0.5, 2.5, -1.3)],
    *binary("pow", (positive(2, 3), ROW), (positive(3), COLUMN), (Z, Z_ROW), (positive(2, 3), Z), reference=np.power),
    *with_number("power with a number as the base", lambda x: 2.5**x, X, Z),
    *binary("float_power", (positive(2, 3), ROW)),
    Sample("float_power of integers", lambda x, y: tp.float_power(x, y), np.array([1, 2, 3]), np.array([-1, 2, 3]),
           reference=np.float_power),
    # exponentials and logarithms
    *unary("exp", X, Z, EMPTY, np.array(0.5), STRIDED),
    *unary("exp2", X, Z),
    *unary("expm1", X, Z),
    *unary("log", positive(2, 3), Z),
    *unary("log2", positive(2, 3), Z),
    *unary("log10", positive(2, 3), Z),
    *unary("log1p", positive(2, 3), Z),
    *unary("sqrt", positive(2, 3), Z),
    *unary("rsqrt", positive(2, 3), Z, reference=lambda x: 1 / np.sqrt(x)),
    *unary("sigmoid", X * 3, Z, np.array(0.5), EMPTY, reference=sigmoid),
    *unary("logit", (UNIT + 1) / 2, reference=scipy.special.logit),
    Sample("logit clamped", lambda x: tp.logit(x, eps=0.1), np.array([0.05, 0.3, 0.97]),
           reference=lambda x: scipy.special.logit(np.clip(x, 0.1, 0.9))),
    # trigonometry
    *unary("sin", X, Z, STRIDED),
    *unary("cos", X, Z),
    *unary("tan", UNIT, Z),
    *unary("asin", UNIT, Z, reference=np.arcsin),
    *unary("acos", UNIT, Z, reference=np.arccos),
    *unary("atan", X, Z, reference=np.arctan),
    *unary("sinh", X, Z),
    *unary("cosh", X, Z),
    *unary("tanh", X, Z),
    *unary("asinh", X, Z, reference=np.arcsinh),
    *unary("acosh", positive(2, 3) + 1, Z, -Z, reference=np.arccosh),
    *unary("atanh", UNIT, Z, reference=np.arctanh),
    *unary("deg2rad", X * 90),
    *unary("rad2deg", X),
    # rounding
    *unary("floor", X * 3),
    *unary("ceil", X * 3),
    *unary("trunc", X * 3),
    *unary("frac", X * 3, reference=lambda x: x - np.trunc(x)),
    *unary("round", X * 3),
    *[Sample(f"round to {d} decimals", lambda x, d=d: tp.round(x, decimals=d), X * 30,
             reference=lambda x, d=d: np.round(x, d)) for d in (1, 2, -1)],
    *unary("nan_to_num", np.array([np.nan, 1.0, np.inf, -np.inf]), grad=False),
    *unary("nan_to_num", X),
    # two variables
    *binary("atan2", *REAL_PAIRS, reference=np.arctan2),
    *binary("hypot", *REAL_PAIRS),
    *binary("logaddexp", *REAL_PAIRS),
    *binary("logaddexp2", *REAL_PAIRS),
    Sample("logaddexp of complex numbers", tp.logaddexp, Z, Z_ROW,
           reference=lambda x, y: np.log(np.exp(x) + np.exp(y))),
    *binary("copysign", (X, ROW), (ROW, COLUMN)),
    *binary("heaviside", (X, ROW), (np.array([-1.0, 0.0, 2.0]), np.array(0.5)), grad=False),
    *binary("nextafter", (X, ROW), grad=False),
    *binary("gcd", (np.array([12, -7, 0]), np.array([[8], [0]]))),
    *binary("lcm", (np.array([12, -7, 0]), np.array([[8], [0]]))),
    Sample("ldexp", tp.ldexp, X, np.array([1, -2, 3]), reference=np.ldexp),
    Sample("frexp", lambda x: tp.frexp(x).mantissa, X * 5, reference=lambda x: np.frexp(x)[0]),
    # Python's operators between tensors
    *[Sample(name, getattr(operator, name), positive(2, 3), positive(3, seed=1), reference=getattr(operator, name))
      for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")],
]  # fmt: skip
