"""Elementary functions, element by element: exponentials, trigonometry, rounding, and functions of two variables.

A rule multiplies by the derivative; forward mode uses the same rule on tangents, and complex numbers follow, because
the functions are holomorphic unless it is said otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core import return_types
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import elementwise, primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .declare import declare, refusing, zero
from .kernels import narrowed, widened

LN2, LN10 = math.log(2), math.log(10)
FLOAT = "In the input's dtype; integers give the default float."
REAL, NUMBERS = refusing("c"), refusing("b")

# ---- exponentials and logarithms

exp = declare(
    "exp", "exp", lambda F, g, out: g * out, "The exponential function, e to the power of each element.",
    "tp.exp(tp.tensor([0., 1.]))", "tensor([1.0000, 2.7183])", returns=FLOAT, promotes="float",
)  # fmt: skip
exp2 = declare(
    "exp2", "exp2", lambda F, g, out: g * (out * LN2), "2 to the power of each element.",
    "tp.exp2(tp.tensor([0., 1., 3.]))", "tensor([1., 2., 8.])", returns=FLOAT, promotes="float",
)  # fmt: skip
expm1 = declare(
    "expm1", "expm1", lambda F, g, out: g * (out + 1), "``exp(x) - 1``, exact also for small x.",
    "tp.expm1(tp.tensor([0., 1e-6]))", "tensor([0.0000e+00, 1.0000e-06])", returns=FLOAT, promotes="float",
)  # fmt: skip
log = declare(
    "log", "log", lambda F, g, input: g / input, "The natural logarithm of each element.",
    "tp.log(tp.tensor([1., 10.]))", "tensor([0.0000, 2.3026])", returns=FLOAT, promotes="float",
)  # fmt: skip
log2 = declare(
    "log2", "log2", lambda F, g, input: g / (input * LN2), "The logarithm to base 2 of each element.",
    "tp.log2(tp.tensor([1., 8.]))", "tensor([0., 3.])", returns=FLOAT, promotes="float",
)  # fmt: skip
log10 = declare(
    "log10", "log10", lambda F, g, input: g / (input * LN10), "The logarithm to base 10 of each element.",
    "tp.log10(tp.tensor([1., 1000.]))", "tensor([0.0000, 3.0000])", returns=FLOAT, promotes="float",
)  # fmt: skip
log1p = declare(
    "log1p", "log1p", lambda F, g, input: g / (input + 1), "``log(1 + x)``, exact also for small x.",
    "tp.log1p(tp.tensor([0., 1e-6]))", "tensor([0.0000e+00, 1.0000e-06])", returns=FLOAT, promotes="float",
)  # fmt: skip
sqrt = declare(
    "sqrt", "sqrt", lambda F, g, out: g / (2 * out), "The square root of each element.",
    "tp.sqrt(tp.tensor([4., 2., -1.]))", "tensor([2.0000, 1.4142,    nan])", returns=FLOAT, promotes="float",
)  # fmt: skip
rsqrt = declare(
    "rsqrt", lambda xp, input: xp.reciprocal(xp.sqrt(input)), lambda F, g, out: g * (-0.5 * (out * out * out)),
    "One over the square root of each element.",
    "tp.rsqrt(tp.tensor([4., 2., 0.]))", "tensor([0.5000, 0.7071,    inf])", returns=FLOAT, promotes="float",
)  # fmt: skip


def sigmoid_kernel(xp: Any, input: Any) -> Any:
    if input.ndim == 0 or input.dtype.char not in "fd":
        return narrowed(xp.asarray(1 / (1 + xp.exp(-widened(input)))), input.dtype)
    out = xp.negative(input)
    xp.exp(out, out)
    xp.add(out, 1, out)
    return xp.reciprocal(out, out)


def in_place(result: Any, input: Any) -> bool:
    """Whether a product of the two can be computed in memory of its own, step by step."""
    return type(result) is np.ndarray and result.dtype.char in "fd" and result.shape == input.shape != ()


def sigmoid_backward_kernel(xp: Any, input: Any, result: Any) -> Any:
    if not in_place(result, input):
        return input * ((1 - result) * result)
    out = np.subtract(1, result)
    out *= result
    out *= input
    return out


elementwise(
    "sigmoid_backward", sigmoid_backward_kernel, numbers=(),
    vjp={
        "input": lambda F, g, result: F.sigmoid_backward(g, result),
        "result": lambda F, g, input, result: g * input * (1 - 2 * result),
    },
)  # fmt: skip
"""The cotangent ``input`` of the logistic function, times its slope at its ``result``."""

sigmoid = declare(
    "sigmoid", sigmoid_kernel, lambda F, g, out: F.sigmoid_backward(g, out),
    "The logistic function of each element, ``1 / (1 + exp(-x))``.",
    "tp.sigmoid(tp.tensor([-1., 0., 1.]))", "tensor([0.2689, 0.5000, 0.7311])", returns=FLOAT, promotes="float",
)  # fmt: skip


def logit_kernel(xp: Any, input: Any, *, eps: float | None = None) -> Any:
    x = widened(input)
    if eps is not None:
        eps = arg.real(eps, "logit", "eps", 2)
        x = xp.minimum(xp.maximum(x, eps), 1 - eps)
    return narrowed(xp.asarray(xp.log(x / (1 - x))), input.dtype)


def logit_vjp(F: Any, g: Any, input: Any, eps: float | None) -> Any:
    low, outside = (0.0, math.nan) if eps is None else (eps, 0.0)
    inside = (input >= low) & (input <= 1 - low)
    return F.where(inside, g / (input * (1 - input)), outside)


logit = declare(
    "logit", logit_kernel, logit_vjp, "The inverse of the logistic function, ``log(x / (1 - x))``.",
    "tp.logit(tp.tensor([0.2, 0.5, 1.]))", "tensor([-1.3863,  0.0000,     inf])",
    returns=FLOAT, promotes="float", check=REAL,
    notes="Outside of [0, 1] the result is nan, unless ``eps`` clamps the input.",
    meanings={"eps": "Clamps the input to [eps, 1 - eps]; None leaves it as it is."},
)  # fmt: skip

# ---- trigonometry

sin = declare(
    "sin", "sin", lambda F, g, input: g * F.cos(input), "The sine of each element, in radians.",
    "tp.sin(tp.tensor([0., 1.]))", "tensor([0.0000, 0.8415])", returns=FLOAT, promotes="float",
)  # fmt: skip
cos = declare(
    "cos", "cos", lambda F, g, input: -g * F.sin(input), "The cosine of each element, in radians.",
    "tp.cos(tp.tensor([0., 1.]))", "tensor([1.0000, 0.5403])", returns=FLOAT, promotes="float",
)  # fmt: skip
tan = declare(
    "tan", "tan", lambda F, g, out: g * (1 + out * out), "The tangent of each element, in radians.",
    "tp.tan(tp.tensor([0., 1.]))", "tensor([0.0000, 1.5574])", returns=FLOAT, promotes="float",
)  # fmt: skip
asin = declare(
    "asin", "arcsin", lambda F, g, input: g * F.rsqrt(1 - input * input), "The inverse of the sine, in radians.",
    "tp.asin(tp.tensor([0., 1., 2.]))", "tensor([0.0000, 1.5708,    nan])",
    returns=FLOAT, promotes="float", aliases=("arcsin",),
)  # fmt: skip
acos = declare(
    "acos", "arccos", lambda F, g, input: -g * F.rsqrt(1 - input * input), "The inverse of the cosine, in radians.",
    "tp.acos(tp.tensor([0., 1., 2.]))", "tensor([1.5708, 0.0000,    nan])",
    returns=FLOAT, promotes="float", aliases=("arccos",),
)  # fmt: skip
atan = declare(
    "atan", "arctan", lambda F, g, input: g / (1 + input * input), "The inverse of the tangent, in radians.",
    "tp.atan(tp.tensor([0., 1.]))", "tensor([0.0000, 0.7854])", returns=FLOAT, promotes="float", aliases=("arctan",),
)  # fmt: skip
sinh = declare(
    "sinh", "sinh", lambda F, g, input: g * F.cosh(input), "The hyperbolic sine of each element.",
    "tp.sinh(tp.tensor([0., 1.]))", "tensor([0.0000, 1.1752])", returns=FLOAT, promotes="float",
)  # fmt: skip
cosh = declare(
    "cosh", "cosh", lambda F, g, input: g * F.sinh(input), "The hyperbolic cosine of each element.",
    "tp.cosh(tp.tensor([0., 1.]))", "tensor([1.0000, 1.5431])", returns=FLOAT, promotes="float",
)  # fmt: skip


def tanh_backward_kernel(xp: Any, input: Any, result: Any) -> Any:
    if not in_place(result, input):
        return input * (1 - result * result)
    out = result * result
    np.subtract(1, out, out)
    out *= input
    return out


elementwise(
    "tanh_backward", tanh_backward_kernel, numbers=(),
    vjp={
        "input": lambda F, g, result: F.tanh_backward(g, result),
        "result": lambda F, g, input, result: g * input * (-2 * result),
    },
)  # fmt: skip
"""The cotangent ``input`` of the hyperbolic tangent, times its slope at its ``result``."""

tanh = declare(
    "tanh", "tanh", lambda F, g, out: F.tanh_backward(g, out), "The hyperbolic tangent of each element.",
    "tp.tanh(tp.tensor([0., 1.]))", "tensor([0.0000, 0.7616])", returns=FLOAT, promotes="float",
)  # fmt: skip
asinh = declare(
    "asinh", "arcsinh", lambda F, g, input: g * F.rsqrt(input * input + 1), "The inverse of the hyperbolic sine.",
    "tp.asinh(tp.tensor([0., 1.]))", "tensor([0.0000, 0.8814])", returns=FLOAT, promotes="float", aliases=("arcsinh",),
)  # fmt: skip
acosh = declare(  # two square roots: the root of the product is on the other branch where the real part is negative
    "acosh", "arccosh", lambda F, g, input: g * (F.rsqrt(input - 1) * F.rsqrt(input + 1)),
    "The inverse of the hyperbolic cosine.",
    "tp.acosh(tp.tensor([1., 2.]))", "tensor([0.0000, 1.3170])", returns=FLOAT, promotes="float", aliases=("arccosh",),
)  # fmt: skip
atanh = declare(
    "atanh", "arctanh", lambda F, g, input: g / (1 - input * input), "The inverse of the hyperbolic tangent.",
    "tp.atanh(tp.tensor([0., 0.5, 1.]))", "tensor([0.0000, 0.5493,    inf])",
    returns=FLOAT, promotes="float", aliases=("arctanh",),
)  # fmt: skip
deg2rad = declare(
    "deg2rad", lambda xp, input: narrowed(xp.asarray(input * (math.pi / 180)), input.dtype),
    lambda F, g: g * (math.pi / 180), "Degrees as radians.",
    "tp.deg2rad(tp.tensor([180., 90.]))", "tensor([3.1416, 1.5708])", returns=FLOAT, promotes="float", check=REAL,
)  # fmt: skip
rad2deg = declare(
    "rad2deg", lambda xp, input: narrowed(xp.asarray(input * (180 / math.pi)), input.dtype),
    lambda F, g: g * (180 / math.pi), "Radians as degrees.",
    "tp.rad2deg(tp.tensor([math.pi, 1.]))", "tensor([180.0000,  57.2958])", returns=FLOAT, promotes="float", check=REAL,
)  # fmt: skip

# ---- rounding: the derivative is zero, integers stay as they are


def rounding(ufunc: str) -> Any:
    def kernel(xp: Any, input: Any) -> Any:
        return xp.array(input) if input.dtype.kind in "iu" else getattr(xp, ufunc)(input)

    return kernel


ROUNDABLE = refusing("bc")
floor = declare(
    "floor", rounding("floor"), zero, "The largest integer that is not larger, for each element.",
    "tp.floor(tp.tensor([-1.5, 1.5]))", "tensor([-2.,  1.])", check=ROUNDABLE,
)  # fmt: skip
ceil = declare(
    "ceil", rounding("ceil"), zero, "The smallest integer that is not smaller, for each element.",
    "tp.ceil(tp.tensor([-1.5, 1.5]))", "tensor([-1.,  2.])", check=ROUNDABLE,
)  # fmt: skip
trunc = declare(
    "trunc", rounding("trunc"), zero, "Each element without its fraction.",
    "tp.trunc(tp.tensor([-1.5, 1.5]))", "tensor([-1.,  1.])", check=ROUNDABLE, aliases=("fix",),
)  # fmt: skip
frac = declare(
    "frac", lambda xp, input: xp.subtract(input, xp.trunc(input)), lambda F, g: g,
    "The fraction of each element, ``x - trunc(x)``.",
    "tp.frac(tp.tensor([-1.5, 1.25]))", "tensor([-0.5000,  0.2500])", check=refusing("biuc"),
)  # fmt: skip


def round_kernel(xp: Any, input: Any, *, decimals: int) -> Any:
    if input.dtype.kind in "iu":
        return xp.array(input)
    if not decimals:
        return xp.rint(input)
    x, scale = widened(input), 10.0 ** abs(decimals)
    out = xp.rint(x * scale) / scale if decimals > 0 else xp.rint(x / scale) * scale
    return narrowed(xp.asarray(out), input.dtype)


elementwise("round", round_kernel, vjp={"input": zero}, check=ROUNDABLE)


@operator(inplace=True)
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest integer, or the nearest number of some decimals; of two, the even one.

    Parameters
    ----------
    input : Tensor
        Any shape; integers stay as they are.
    decimals : int, default 0
        How many digits behind the point to keep; negative: how many in front of it to round to zero.

    Raises
    ------
    NotImplementedError
        For bool and complex tensors, and for integers with ``decimals``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.round(tp.tensor([0.5, 1.5, -2.7]))
    tensor([ 0.,  2., -3.])
    >>> tp.round(tp.tensor([1.2345]), decimals=2)
    tensor([1.2300])
    """
    if type(decimals) is not int:
        decimals = arg.integer(decimals, "round", "decimals", 2)
    if decimals and arg.tensor(input, "round")._data.dtype.kind in "iu":
        raise NotImplementedError(f"round(): decimals are not implemented for {input.dtype}")
    return F.round(input, decimals)


def nan_to_num_kernel(xp: Any, input: Any, *, nan: float | None = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if input.dtype.kind not in "fVc":
        return xp.array(input)
    x = widened(input)
    if x.dtype.kind == "c":
        out = np.empty_like(x)
        numbers = {"nan": nan, "posinf": posinf, "neginf": neginf}
        out.real, out.imag = (nan_to_num_kernel(xp, part, **numbers) for part in (x.real, x.imag))
        return out
    limits = dtypes.finfo(dtypes.by_numpy[input.dtype])
    nan, posinf, neginf = (
        None if v is None else arg.real(v, "nan_to_num", name, i)
        for i, (name, v) in enumerate((("nan", nan), ("posinf", posinf), ("neginf", neginf)), 2)
    )
    out = xp.where(xp.isnan(x), 0.0 if nan is None else nan, x)
    out = xp.where(x == math.inf, limits.max if posinf is None else posinf, out)
    return narrowed(xp.where(x == -math.inf, limits.min if neginf is None else neginf, out), input.dtype)


nan_to_num = declare(
    "nan_to_num", nan_to_num_kernel, lambda F, g, input: F.where(F.isfinite(input), g, 0),
    "Finite numbers in the place of nan and the infinities.",
    "tp.nan_to_num(tp.tensor([math.nan, math.inf, 1.]), posinf=9.)", "tensor([0., 9., 1.])",
    meanings={"nan": "In the place of nan; None means 0.",
              "posinf": "In the place of inf; None means the largest number of the dtype.",
              "neginf": "In the place of -inf; None means the smallest number of the dtype."},
)  # fmt: skip

# ---- two variables


def square_sum(input: Any, other: Any) -> Any:
    return input * input + other * other


def nonzero_square_sum(F: Any, input: Any, other: Any) -> Any:
    """The squared length, and 1 at the origin, where the angle gets no gradient."""
    total = square_sum(input, other)
    return F.where(total == 0, 1, total)


atan2 = declare(
    "atan2", "arctan2",
    {"input": lambda F, g, input, other: g * (other / nonzero_square_sum(F, input, other)),
     "other": lambda F, g, input, other: g * (-input / nonzero_square_sum(F, input, other))},
    "The angle of the point (other, input) with the first axis, in [-pi, pi].",
    "tp.atan2(tp.tensor([1., 1.]), tp.tensor([1., -1.]))", "tensor([0.7854, 2.3562])",
    inputs="input, other", returns=FLOAT, promotes="float",
    check=REAL, aliases=("arctan2",), numbers=(),
)  # fmt: skip
hypot = declare(
    "hypot", "hypot",
    {"input": lambda F, g, input, out: g * (input / out), "other": lambda F, g, other, out: g * (other / out)},
    "The length of the hypotenuse, ``sqrt(input**2 + other**2)``, without overflow in between.",
    "tp.hypot(tp.tensor([3.]), tp.tensor([4.]))", "tensor([5.])", inputs="input, other", check=refusing("biuc"),
    numbers=(),
)  # fmt: skip


def log_of_sum(ufunc: str, exponential: str, logarithm: str) -> Any:
    def kernel(xp: Any, input: Any, other: Any) -> Any:
        if input.dtype.kind != "c":
            return getattr(xp, ufunc)(input, other)
        swap = xp.real(input) < xp.real(other)
        larger, smaller = xp.where(swap, other, input), xp.where(swap, input, other)
        difference = xp.where(larger == smaller, 0, smaller - larger)  # also where both are infinite
        return larger + getattr(xp, logarithm)(1 + getattr(xp, exponential)(difference))

    return kernel


logaddexp = declare(
    "logaddexp", log_of_sum("logaddexp", "exp", "log"),
    {"input": lambda F, g, input, other: g * F.sigmoid(input - other),
     "other": lambda F, g, input, other: g * F.sigmoid(other - input)},
    "``log(exp(input) + exp(other))``, without overflow in between.",
    "tp.logaddexp(tp.tensor([0., 100.]), tp.tensor([0., 100.]))", "tensor([  0.6931, 100.6931])",
    inplace=False, check=refusing("biu"), numbers=(),
)  # fmt: skip
logaddexp2 = declare(
    "logaddexp2", log_of_sum("logaddexp2", "exp2", "log2"),
    {"input": lambda F, g, input, other: g / (1 + F.exp2(other - input)),
     "other": lambda F, g, input, other: g / (1 + F.exp2(input - other))},
    "``log2(2**input + 2**other)``, without overflow in between.",
    "tp.logaddexp2(tp.tensor([0., 9.]), tp.tensor([0., 9.]))", "tensor([ 1., 10.])",
    inplace=False, check=refusing("biu"), numbers=(),
)  # fmt: skip
copysign = declare(
    "copysign", "copysign", {"input": lambda F, g, input, out: g * (F.sgn(input) * F.sgn(out)), "other": zero},
    "The size of ``input`` with the sign of ``other``, also that of zeros.",
    "tp.copysign(tp.tensor([1., 2.]), tp.tensor([-0., 3.]))", "tensor([-1.,  2.])",
    inputs="input, other", returns=FLOAT, promotes="float",
    check=REAL, numbers=("other",),
)  # fmt: skip
nextafter = declare(
    "nextafter", "nextafter",
    {"input": lambda F, g, input, other: F.where(input == other, 0, g), "other": zero},
    "The next number of the dtype after ``input`` in the direction of ``other``.",
    "tp.nextafter(tp.tensor([1.]), tp.tensor([2.])) > 1", "tensor([True])",
    inputs="input, other", check=refusing("biuc"), numbers=(),
)  # fmt: skip
gcd = declare(
    "gcd", "gcd", {}, "The greatest common divisor of two integers; that of 0 and 0 is 0.",
    "tp.gcd(tp.tensor([12, 7]), tp.tensor([8, 0]))", "tensor([4, 7])", inputs="input, other", check=refusing("bfVc"),
    numbers=(),
)  # fmt: skip
lcm = declare(
    "lcm", "lcm", {}, "The least common multiple of two integers, never negative.",
    "tp.lcm(tp.tensor([4, 7]), tp.tensor([6, 0]))", "tensor([12,  0])", inputs="input, other", check=refusing("bfVc"),
    numbers=(),
)  # fmt: skip


def heaviside_kernel(xp: Any, input: Any, values: Any) -> Any:
    return xp.where(input == 0, values, (input > 0).astype(input.dtype))


def same_dtypes(name: str, operands: list[Any], common: Any) -> None:
    refusing("c")(name, operands, common)
    if operands[0] is not operands[1]:
        raise RuntimeError(
            f"{name} is not yet implemented for tensors with different dtypes, got {operands[0]} and {operands[1]}"
        )


heaviside = declare(
    "heaviside", heaviside_kernel, {}, "The step function: 0 below zero, 1 above, and ``values`` at zero.",
    "tp.heaviside(tp.tensor([-1., 0., 2.]), tp.tensor([0.5]))", "tensor([0.0000, 0.5000, 1.0000])", check=same_dtypes,
    raises="RuntimeError\n    If the dtypes differ.", numbers=(),
)  # fmt: skip


@operator(inplace=True)
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2**other``.

    Parameters
    ----------
    input : Tensor
        Any shape.
    other : Tensor
        The exponents, usually integers; broadcast with the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.ldexp(tp.tensor([1.5]), tp.tensor([1, 2, -1]))
    tensor([3.0000, 6.0000, 0.7500])
    """
    dtype = arg.tensor(input, "ldexp")._data.dtype
    if arg.tensor(other, "ldexp", "other", 2)._data.dtype.kind in "biu" and dtype.kind in "fVc":
        other = F.cast(other, dtype)
    return F.mul(input, F.pow(2.0, other))


def frexp_kernel(xp: Any, input: Any) -> Any:
    mantissa, exponent = xp.frexp(widened(input))
    return narrowed(xp.asarray(mantissa), input.dtype), xp.asarray(exponent, np.int32)


def scaled_down(F: Any, g: Any, out: Any) -> Any:
    """The mantissa is the input over a power of two, which does not change nearby."""
    return g / F.cast(F.exp2(out[1]), g._data.dtype if isinstance(g, Tensor) else g.dtype)


primitive(
    "frexp", frexp_kernel, vjp={"input": lambda F, g, out: scaled_down(F, g[0], out)},
    jvp=lambda F, tangents, out: [scaled_down(F, tangents[0], out), None], batch="same", outputs=2, read=(1,),
)  # fmt: skip


@operator()
def frexp(input: Tensor) -> Any:
    """Each element as a mantissa in [0.5, 1) times a power of two.

    Parameters
    ----------
    input : Tensor
        A floating-point tensor of any shape.

    Returns
    -------
    (mantissa, exponent) : named tuple
        The exponents are int32.

    Raises
    ------
    RuntimeError
        If the input is not floating-point.

    Examples
    --------
    >>> import tensorplay as tp
    >>> mantissa, exponent = tp.frexp(tp.tensor([1., 12.]))
    >>> mantissa, exponent
    (tensor([0.5000, 0.7500]), tensor([1, 4], dtype=tensorplay.int32))
    """
    if not arg.tensor(input, "frexp").is_floating_point():
        raise RuntimeError(f"frexp(): the input must be a floating-point tensor, got {input.dtype}")
    return return_types.frexp(*F.frexp(input))
