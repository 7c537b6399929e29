"""Activations: elementwise nonlinearities, softmax and what is built from them."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.namespace import F
from ..core.node import Partial
from ..core.operator import inplace_twin, operator
from ..core.primitive import elementwise, primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .declare import refusing
from .elementwise import sigmoid, tanh
from .kernels import BLOCK, each_block, narrowed, positive_part, row_exponentials, sum_over, widened

FLOATING = refusing("biuc")
REAL = refusing("bc")


def in_place(fn: Callable[..., Any], *, public: bool = False, package: bool = False) -> Callable[..., Any]:
    """The in-place twin of a function, ``name_``: what ``inplace=True`` calls; public where PyTorch exports it."""
    twin = inplace_twin(fn, fn.__name__ + "_")
    if public:
        operator(namespace="nn.functional", method=False, out=False)(twin)
    if package:
        operator(method=False, out=False)(twin)
    return twin


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of one array, computed in float32 where it has 16 bits."""

    @functools.wraps(kernel)
    def run(xp: Any, input: Any, **attributes: Any) -> Any:
        if input.dtype.itemsize == 2:
            return kernel(xp, input.astype(np.float32), **attributes).astype(input.dtype)
        return kernel(xp, input, **attributes)

    return run


functional = operator(namespace="nn.functional", method=False, out=False)
functional_with_out = operator(namespace="nn.functional", method=False)

# ---- piecewise linear

relu = elementwise("relu", lambda xp, input: positive_part(input) if xp is np else xp.maximum(input, 0),
                   vjp={"input": lambda F, g, out: g * (out != 0)}, check=refusing("bc"), piecewise_linear=True,
                   doc="""The positive part, ``max(x, 0)``.

Examples
--------
>>> import tensorplay as tp
>>> tp.relu(tp.tensor([-1., 2.]))
tensor([0., 2.])
""")  # fmt: skip
operator(out=False, inplace=True)(relu)
in_place(relu, public=True)
functional(sigmoid)
functional(tanh)


@operator(name="relu", namespace="nn.functional", method=False, out=False)
def functional_relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The positive part, ``max(x, 0)``; ``inplace`` writes it into the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.relu(tp.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return input.relu_() if inplace else F.relu(input)


def leaky_relu_kernel(xp: Any, input: Any, *, negative_slope: float) -> Any:
    return narrowed(xp.where(input > 0, input, input * negative_slope), input.dtype)


elementwise("leaky_relu", leaky_relu_kernel, check=FLOATING, piecewise_linear=True,
            vjp={"input": lambda F, g, input, negative_slope: F.where(input > 0, g, g * negative_slope)})  # fmt: skip


@functional
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``x`` where it is positive, else ``negative_slope * x``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.leaky_relu(tp.tensor([-1., 2.]))
    tensor([-0.0100,  2.0000])
    """
    if type(negative_slope) is not float:
        negative_slope = arg.real(negative_slope, "leaky_relu", "negative_slope", 2)
    return leaky_relu_(input, negative_slope) if inplace else F.leaky_relu(input, negative_slope)


leaky_relu_ = in_place(leaky_relu, public=True)


def prelu_weight_vjp(F: Any, g: Any, input: Any) -> Any:
    return F.where(input > 0, 0.0, g * input)


elementwise(
    "prelu", lambda xp, input, weight: xp.where(input > 0, input, input * weight),
    check=FLOATING, piecewise_linear=True,
    vjp={"input": lambda F, g, input, weight: F.where(input > 0, g, g * weight), "weight": prelu_weight_vjp},
)  # fmt: skip


@functional
@operator(out=False)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``x`` where it is positive, else ``weight * x``.

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, ...).
    weight : Tensor
        One slope, or one for each of the C channels.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.prelu(tp.tensor([-1., 2.]), tp.tensor([0.5]))
    tensor([-0.5000,  2.0000])
    """
    shape, slopes = arg.tensor(input, "prelu")._data.shape, arg.tensor(weight, "prelu", "weight", 2)._data
    if input._data.dtype != slopes.dtype:
        raise RuntimeError(f"prelu(): Type promoting not supported. Got {input.dtype} and {weight.dtype}")
    if slopes.ndim > 1:
        raise RuntimeError(f"prelu(): Expected `weight` to be a scalar or 1D tensor, but got: ndim = {slopes.ndim}")
    if slopes.ndim and slopes.shape[0] != 1:
        channels = shape[1] if len(shape) > 1 else 1
        if not shape:
            raise RuntimeError("prelu(): Not allow zero-dim input tensor with several weights")
        if channels != slopes.shape[0]:
            raise RuntimeError(
                "prelu(): Mismatch of parameter numbers and input channel size. Found parameter numbers "
                f"= {slopes.shape[0]} and channel size = {channels}"
            )
        weight = F.reshape(weight, (channels, *(1,) * (len(shape) - 2)))
    elif slopes.ndim:
        weight = F.reshape(weight, (1,) * len(shape))
    return F.prelu(input, weight)


def hardtanh_kernel(xp: Any, input: Any, *, min_val: float, max_val: float) -> Any:
    return xp.minimum(xp.maximum(input, input.dtype.type(min_val)), input.dtype.type(max_val))


def between(F: Any, g: Any, input: Any, low: float, high: float) -> Any:
    return F.where((input > low) & (input < high), g, 0.0)


elementwise("hardtanh", hardtanh_kernel, check=REAL, piecewise_linear=True,
            vjp={"input": lambda F, g, input, min_val, max_val: F.where(
                (input <= min_val) | (input >= max_val), 0.0, g)})  # fmt: skip


@functional
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``x`` between ``min_val`` and ``max_val``, the nearer of the two outside.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.hardtanh(tp.tensor([-3., 0.5, 2.]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if type(min_val) is not float:
        min_val = arg.real(min_val, "hardtanh", "min_val", 2)
    if type(max_val) is not float:
        max_val = arg.real(max_val, "hardtanh", "max_val", 3)
    if min_val > max_val:
        raise ValueError(f"hardtanh(): min_val cannot be greater than max_val, got {min_val} and {max_val}")
    if min_val < 0 and arg.tensor(input, "hardtanh")._data.dtype.kind == "u":
        raise RuntimeError(f"hardtanh(): cannot do hardtanh on an unsigned type with negative limits, got {min_val}")
    return hardtanh_(input, min_val, max_val) if inplace else F.hardtanh(input, min_val, max_val)


hardtanh_ = in_place(hardtanh, public=True)


@functional
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(x, 0), 6)``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.relu6(tp.tensor([-1., 3., 8.]))
    tensor([0., 3., 6.])
    """
    return relu6_(input) if inplace else F.hardtanh(input, 0, 6)


relu6_ = in_place(relu6)


@in_float32
def hardsigmoid_kernel(xp: Any, input: Any) -> Any:
    return xp.minimum(xp.maximum(input + 3, 0), 6) / 6


elementwise("hardsigmoid", hardsigmoid_kernel, check=FLOATING, piecewise_linear=True,
            vjp={"input": lambda F, g, input: between(F, g * (1 / 6), input, -3.0, 3.0)})  # fmt: skip


@functional
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``relu6(x + 3) / 6``, a piecewise linear sigmoid.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.hardsigmoid(tp.tensor([-3., 0., 3.]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return hardsigmoid_(input) if inplace else F.hardsigmoid(input)


hardsigmoid_ = in_place(hardsigmoid)


@in_float32
def hardswish_kernel(xp: Any, input: Any) -> Any:
    return input * xp.minimum(xp.maximum(input + 3, 0), 6) / 6


def hardswish_vjp(F: Any, g: Any, input: Any) -> Any:
    return F.where(input <= -3, 0.0, F.where(input < 3, g * (input * (1 / 3) + 0.5), g))


elementwise("hardswish", hardswish_kernel, vjp={"input": hardswish_vjp}, check=FLOATING)


@functional
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * relu6(x + 3) / 6``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.hardswish(tp.tensor([-3., 1., 3.]))
    tensor([-0.0000,  0.6667,  3.0000])
    """
    return hardswish_(input) if inplace else F.hardswish(input)


hardswish_ = in_place(hardswish)


def threshold_kernel(xp: Any, input: Any, *, threshold: float, value: float) -> Any:
    return xp.where(input <= threshold, input.dtype.type(value), input)


elementwise("threshold", threshold_kernel, check=REAL, piecewise_linear=True,
            vjp={"input": lambda F, g, input, threshold, value: F.where(input <= threshold, 0.0, g)})  # fmt: skip


@functional
@operator(method=False, out=False)
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``x`` where it is above the threshold, else ``value``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.threshold(tp.tensor([0.5, 2.]), 1., 0.)
    tensor([0., 2.])
    """
    if type(threshold) is not float:
        threshold = arg.real(threshold, "threshold", "threshold", 2)
    if type(value) is not float:
        value = arg.real(value, "threshold", "value", 3)
    return threshold_(input, threshold, value) if inplace else F.threshold(input, threshold, value)


threshold_ = in_place(threshold, public=True, package=True)


def hardshrink_kernel(xp: Any, input: Any, *, lambd: float) -> Any:
    return xp.where((input >= -lambd) & (input <= lambd), input.dtype.type(0), input)


def outside(F: Any, g: Any, input: Any, lambd: float) -> Any:
    return F.where((input >= -lambd) & (input <= lambd), 0.0, g)


elementwise("hardshrink", hardshrink_kernel, vjp={"input": outside}, check=FLOATING, piecewise_linear=True)


@functional_with_out
@operator()
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``x`` outside of [-lambd, lambd], else 0.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.hardshrink(tp.tensor([-1., 0.5, 2.]))
    tensor([-1.,  0.,  2.])
    """
    if type(lambd) is not float:
        lambd = arg.real(lambd, "hardshrink", "lambd", 2)
    return F.hardshrink(input, lambd)


def softshrink_kernel(xp: Any, input: Any, *, lambd: float) -> Any:
    x = widened(input)
    return narrowed(xp.where(x > lambd, x - lambd, xp.where(x < -lambd, x + lambd, x * 0)), input.dtype)


elementwise("softshrink", softshrink_kernel, vjp={"input": outside}, check=FLOATING, piecewise_linear=True)


@functional_with_out
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``x`` moved towards 0 by ``lambd``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.softshrink(tp.tensor([-1., 0.2, 2.]))
    tensor([-0.5000,  0.0000,  1.5000])
    """
    if type(lambd) is not float:
        lambd = arg.real(lambd, "softshrink", "lambd", 2)
    if lambd < 0:
        raise RuntimeError(f"softshrink(): lambda must be greater or equal to 0, but found to be {lambd}.")
    return F.softshrink(input, lambd)


# ---- exponential


@in_float32
def elu_kernel(xp: Any, input: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    negative = xp.expm1(xp.minimum(input, 0) * input_scale) * (alpha * scale)
    return xp.where(input > 0, input * scale, negative)


def elu_vjp(F: Any, g: Any, input: Any, alpha: float, scale: float, input_scale: float) -> Any:
    below = input <= 0  # a nan is not, and so has the gradient 1
    negative = F.exp(F.where(below, input, 0.0) * input_scale) * (alpha * scale * input_scale)
    return F.where(below, g * negative, g * scale)


elementwise("elu", elu_kernel, vjp={"input": elu_vjp}, check=FLOATING)


@functional
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.elu(tp.tensor([-1., 2.]))
    tensor([-0.6321,  2.0000])
    """
    if type(alpha) is not float:
        alpha = arg.real(alpha, "elu", "alpha", 2)
    return elu_(input, alpha) if inplace else F.elu(input, alpha, 1.0, 1.0)


elu_ = in_place(elu, public=True)


@functional
@operator(method=False, out=False)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """A scaled :func:`elu` that keeps mean 0 and variance 1 of its inputs (Klambauer et al., 2017).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.selu(tp.tensor([-1., 2.]))
    tensor([-1.1113,  2.1014])
    """
    return (
        selu_(input)
        if inplace
        else F.elu(input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)
    )


selu_ = in_place(selu, public=True, package=True)


@functional
@operator(method=False, out=False)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.celu(tp.tensor([-1., 2.]))
    tensor([-0.6321,  2.0000])
    """
    if type(alpha) is not float:
        alpha = arg.real(alpha, "celu", "alpha", 2)
    if alpha == 0:
        raise RuntimeError("celu(): ZeroDivisionError: alpha cannot be 0 for CELU")
    return celu_(input, alpha) if inplace else F.elu(input, alpha, 1.0, 1 / alpha)


celu_ = in_place(celu, public=True, package=True)


@in_float32
def softplus_kernel(xp: Any, input: Any, *, beta: float, threshold: float) -> Any:
    scaled = input * beta
    soft = xp.log1p(xp.exp(xp.minimum(scaled, threshold))) / beta
    return xp.where(scaled > threshold, input, soft)


def softplus_vjp(F: Any, g: Any, input: Any, beta: float, threshold: float) -> Any:
    scaled = input * beta
    return F.where(scaled > threshold, g, g * F.sigmoid(scaled))


elementwise("softplus", softplus_kernel, vjp={"input": softplus_vjp}, check=FLOATING)


@functional_with_out
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, a smooth relu; ``x`` itself where ``beta * x`` exceeds the threshold.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.softplus(tp.tensor([-1., 30.]))
    tensor([ 0.3133, 30.0000])
    """
    if type(beta) is not float:
        beta = arg.real(beta, "softplus", "beta", 2)
    if type(threshold) is not float:
        threshold = arg.real(threshold, "softplus", "threshold", 3)
    return F.softplus(input, beta, threshold)


@in_float32
def logsigmoid_kernel(xp: Any, input: Any) -> Any:
    return xp.minimum(input, 0) - xp.log1p(xp.exp(-xp.abs(input)))


logsigmoid_ = elementwise("logsigmoid", logsigmoid_kernel, vjp={"input": lambda F, g, input: g * F.sigmoid(-input)},
                          check=FLOATING, node_name="LogSigmoidBackward0")  # fmt: skip


@functional_with_out
def logsigmoid(input: Tensor) -> Tensor:
    """``log(sigmoid(x))``, without underflow.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.logsigmoid(tp.tensor([0., -100.]))
    tensor([  -0.6931, -100.0000])
    """
    return F.logsigmoid(input)


def silu_kernel(xp: Any, input: Any) -> Any:
    x = widened(input)
    return narrowed(x / (1 + xp.exp(-x)), input.dtype)


def silu_vjp(F: Any, g: Any, input: Any) -> Any:
    s = F.sigmoid(input)
    return g * (s * (1 + input * (1 - s)))


elementwise("silu", silu_kernel, vjp={"input": silu_vjp}, check=refusing("biu"))


@functional
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * sigmoid(x)``, also called swish.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.silu(tp.tensor([-1., 2.]))
    tensor([-0.2689,  1.7616])
    """
    return silu_(input) if inplace else F.silu(input)


silu_ = in_place(silu)


@in_float32
def mish_kernel(xp: Any, input: Any) -> Any:
    return input * xp.tanh(xp.logaddexp(input, 0))


def mish_vjp(F: Any, g: Any, input: Any) -> Any:
    t = F.tanh(F.softplus(input, 1.0, 20.0))
    return g * (t + input * ((1 - t * t) * F.sigmoid(input)))


elementwise("mish", mish_kernel, vjp={"input": mish_vjp}, check=FLOATING)


@functional
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * tanh(softplus(x))``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.mish(tp.tensor([-1., 2.]))
    tensor([-0.3034,  1.9440])
    """
    return mish_(input) if inplace else F.mish(input)


mish_ = in_place(mish)

# ---- gelu


def gelu_kernel(xp: Any, input: Any, *, approximate: str) -> Any:
    """Returns the result; and tanh, or the normal distribution function, at the input for the reverse rule."""
    x = np.asarray(widened(input), order="C")
    factor, out = np.empty(x.shape, x.dtype), np.empty(x.shape, x.dtype)
    flat, factors, outs = x.reshape(-1), factor.reshape(-1), out.reshape(-1)
    each_block(lambda part: gelu_block(flat[part], factors[part], outs[part], approximate), x.size, 1)
    return narrowed(out, input.dtype), factor


SQRT_2_OVER_PI, CUBIC = math.sqrt(2 / math.pi), 0.044715


def gelu_block(x: Any, factor: Any, out: Any, approximate: str) -> None:
    if approximate == "none":
        write_normal_cdf(x, factor)
        np.multiply(x, factor, out=out)
        return
    np.multiply(x, x, out=factor)
    factor *= SQRT_2_OVER_PI * CUBIC
    factor += SQRT_2_OVER_PI
    factor *= x
    np.tanh(factor, out=factor)
    np.add(factor, 1, out=out)
    out *= x
    out *= 0.5


def gelu_vjp(F: Any, g: Any, input: Any, approximate: str, kept: Any) -> Any:
    if kept is not None:
        return gelu_pull(g, input, kept, approximate)
    if approximate == "none":
        return g * (F.normal_cdf(input) + input * normal_density(F, input))
    square = input * input
    t = F.tanh(input * (square * (SQRT_2_OVER_PI * CUBIC) + SQRT_2_OVER_PI))
    inner = square * (3 * SQRT_2_OVER_PI * CUBIC) + SQRT_2_OVER_PI
    return g * ((1 + t) * 0.5 + input * ((1 - t * t) * inner) * 0.5)


def gelu_pull(g: Any, input: Any, factor: Any, approximate: str) -> Any:
    """The reverse rule over arrays, from what the kernel kept."""
    x, g = np.asarray(widened(input), order="C"), np.asarray(widened(g), order="C")
    out = np.empty(x.shape, x.dtype)
    flat, factors, outs, gs = x.reshape(-1), factor.reshape(-1), out.reshape(-1), g.reshape(-1)

    def work(part: slice) -> None:
        x, t, o = flat[part], factors[part], outs[part]
        np.multiply(x, x, out=o)
        if approximate == "none":
            o *= -0.5
            np.exp(o, out=o)
            o *= 1 / math.sqrt(2 * math.pi)
            o *= x
            o += t
        else:
            o *= 1.5 * SQRT_2_OVER_PI * CUBIC
            o += 0.5 * SQRT_2_OVER_PI
            o *= x
            rest = t * t
            np.subtract(1, rest, out=rest)
            o *= rest
            np.multiply(t, 0.5, out=rest)
            o += rest
            o += 0.5
        o *= gs[part]

    each_block(work, x.size, 1)
    return narrowed(out, input.dtype)


def normal_density(F: Any, x: Any) -> Any:
    return F.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


def normal_cdf_kernel(xp: Any, input: Any) -> Any:
    x = widened(input).reshape(-1)
    out = np.empty(x.shape, x.dtype)
    write_normal_cdf(x, out)
    return narrowed(out.reshape(input.shape), input.dtype)


ERFC = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
        0.17087277)  # fmt: skip
"""Coefficients of the logarithm of erfc(z) exp(z**2) / t in powers of t = 1 / (1 + z / 2), for z of at least 0; the
relative error is below 1.2e-7 (Press et al., Numerical Recipes, section 6.2)."""


def write_normal_cdf(x: Any, out: Any) -> None:
    """The distribution function of the standard normal, also far out; float32 by a few NumPy passes."""
    if x.dtype != np.float32:
        from scipy.special import ndtr

        ndtr(x, out=out)
        return
    z = np.abs(x)
    z *= np.float32(math.sqrt(0.5))
    t = np.multiply(z, 0.5)
    t += 1
    np.reciprocal(t, out=t)
    np.multiply(t, ERFC[-1], out=out)
    for c in ERFC[-2:0:-1]:
        out += c
        out *= t
    out += ERFC[0]
    z *= z
    out -= z
    np.exp(out, out=out)
    out *= t
    out *= 0.5
    np.multiply(out, -2, out=t)  # where x > 0: 1 - out
    t += 1
    t *= x > 0
    out += t


elementwise("normal_cdf", normal_cdf_kernel, vjp={"input": lambda F, g, input: g * normal_density(F, input)})
elementwise("gelu", gelu_kernel, vjp={"input": gelu_vjp}, check=FLOATING)


@functional_with_out
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``x`` times the standard normal distribution function at ``x`` (Hendrycks and Gimpel, 2016).

    Parameters
    ----------
    input : Tensor
    approximate : {"none", "tanh"}
        "tanh" replaces the distribution function by ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 x**3))) / 2``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.gelu(tp.tensor([-1., 2.]))
    tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"gelu(): approximate argument must be either none or tanh, got {approximate!r}")
    return F.gelu(input, approximate)


# ---- compositions


@functional
def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.softsign(tp.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    return arg.tensor(input, "softsign") / (F.abs(input) + 1)


@functional
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.tanhshrink(tp.tensor([-1., 3.]))
    tensor([-0.2384,  2.0049])
    """
    return arg.tensor(input, "tanhshrink") - F.tanh(input)


@functional
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of a dimension times the sigmoid of the second.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.glu(tp.tensor([1., 0.]))
    tensor([0.5000])
    """
    shape = arg.tensor(input, "glu")._data.shape
    if not shape:
        raise RuntimeError("glu(): glu does not support 0-dimensional tensors")
    if input._data.dtype.kind not in "fV":
        raise NotImplementedError(f'"glu_cpu" not implemented for {input.dtype}')
    dim = arg.dimension(dim, len(shape), "glu")
    half, odd = divmod(shape[dim], 2)
    if odd:
        raise RuntimeError(
            f"glu(): Halving dimension must be even, but dimension {dim + len(shape)} is size {shape[dim]}"
        )
    lead, trail = (slice(None),) * (len(shape) + dim), (slice(None),) * (-1 - dim)
    left, right = F.slice(input, (*lead, slice(0, half), *trail)), F.slice(input, (*lead, slice(half, None), *trail))
    return left * F.sigmoid(right)


# ---- softmax


def softmax_kernel(xp: Any, input: Any, *, dim: int) -> Any:
    if not input.size:
        return input.copy()
    x = widened(input)
    if dim == -1:
        out = np.empty(x.shape, x.dtype)
        rows, targets = x.reshape(-1, x.shape[-1]), out.reshape(-1, x.shape[-1])

        def work(block: slice) -> None:
            target = targets[block]
            target /= row_exponentials(rows[block], target)[1]

        each_block(work, *rows.shape)
    else:
        out = x - np.maximum.reduce(x, axis=dim, keepdims=True)
        np.exp(out, out=out)
        out /= np.add.reduce(out, axis=dim, keepdims=True)
    return narrowed(out, input.dtype)


def softmax_backward_kernel(xp: Any, input: Any, result: Any, *, dim: int) -> Any:
    return by_rows(pull_softmax, input, result, dim)


def by_rows(pull: Callable[..., None], input: Any, result: Any, dim: int) -> Any:
    """``pull(g, out, target, dim)`` over all of the arrays, or over blocks of their rows."""
    g, out = widened(input), widened(result)
    inner = np.empty(out.shape, out.dtype)
    if dim == -1 and out.size > BLOCK:
        columns = out.shape[-1]
        g, rows, targets = g.reshape(-1, columns), out.reshape(-1, columns), inner.reshape(-1, columns)
        each_block(lambda block: pull(g[block], rows[block], targets[block], -1), *rows.shape)
    else:
        pull(g, out, inner, dim)
    return narrowed(inner, result.dtype)


def pull_softmax(g: Any, out: Any, target: Any, dim: int) -> None:
    np.multiply(g, out, out=target)
    total = np.add.reduce(target, axis=dim, keepdims=True)
    np.subtract(g, total, out=target)
    target *= out


def softmax_backward_result_vjp(F: Any, g: Any, input: Any, result: Any, dim: int) -> Any:
    return g * (input - sum_over(F, input * result, dim)) - input * sum_over(F, g * result, dim)


def softmax_backward_result_jvp(F: Any, t: Any, input: Any, result: Any, dim: int) -> Any:
    return t * (input - sum_over(F, input * result, dim)) - result * sum_over(F, input * t, dim)


softmax_backward = primitive(
    "softmax_backward", softmax_backward_kernel,
    vjp={"input": lambda F, g, result, dim: F.softmax_backward(g, result, dim), "result": softmax_backward_result_vjp},
    jvp={"input": lambda F, t, result, dim: F.softmax_backward(t, result, dim), "result": softmax_backward_result_jvp},
    batch="same",
)  # fmt: skip
"""The cotangent ``input`` times the Jacobian of softmax at its ``result``: a symmetric matrix."""

softmax_ = primitive(
    "softmax", softmax_kernel,
    vjp={"input": lambda F, g, out, dim: F.softmax_backward(g, out, dim)},
    jvp={"input": lambda F, t, out, dim: F.softmax_backward(t, out, dim)},
    batch="same",
)  # fmt: skip


def log_softmax_kernel(xp: Any, input: Any, *, dim: int) -> Any:
    if not input.size:
        return input.copy()
    x = widened(input)
    if dim == -1:
        out = np.empty(x.shape, x.dtype)
        rows, targets = x.reshape(-1, x.shape[-1]), out.reshape(-1, x.shape[-1])

        def work(block: slice) -> None:
            row, target = rows[block], targets[block]
            top, total = row_exponentials(row, target)
            np.log(total, out=total)
            if top is not None:
                np.subtract(row, top, out=target)
                row = target
            np.subtract(row, total, out=target)

        each_block(work, *rows.shape)
    else:
        out = x - np.maximum.reduce(x, axis=dim, keepdims=True)
        out -= np.log(np.add.reduce(np.exp(out), axis=dim, keepdims=True))
    return narrowed(out, input.dtype)


def log_softmax_backward_kernel(xp: Any, input: Any, result: Any, *, dim: int) -> Any:
    return by_rows(pull_log_softmax, input, result, dim)


def pull_log_softmax(g: Any, out: Any, target: Any, dim: int) -> None:
    np.exp(out, out=target)
    target *= np.add.reduce(g, axis=dim, keepdims=True)
    np.subtract(g, target, out=target)


def log_softmax_vjp(F: Any, g: Any, out: Any, dim: int) -> Any:
    if type(g) is not Partial:
        return F.log_softmax_backward(g, out, dim)
    if g.sums is None or dim != -1 or out.ndim != 2 or out.dtype.itemsize == 2:
        return F.log_softmax_backward(g.dense(), out, dim)
    inner, minus = np.empty(out.shape, out.dtype), -g.sums

    def work(block: slice) -> None:
        target = inner[block]
        np.exp(out[block], out=target)
        target *= minus[block]

    each_block(work, *out.shape)
    inner[g.index] += g.values
    return inner


def push_log_softmax(F: Any, t: Any, out: Any, dim: int) -> Any:
    return t - sum_over(F, F.exp(out) * t, dim)


def log_softmax_backward_result(F: Any, g: Any, input: Any, result: Any, dim: int) -> Any:
    return -(g * (F.exp(result) * sum_over(F, input, dim)))


log_softmax_backward = primitive(
    "log_softmax_backward", log_softmax_backward_kernel,
    vjp={"input": lambda F, g, result, dim: push_log_softmax(F, g, result, dim), "result": log_softmax_backward_result},
    jvp={
        "input": lambda F, t, result, dim: F.log_softmax_backward(t, result, dim),
        "result": log_softmax_backward_result,
    },
    batch="same",
)  # fmt: skip
"""The cotangent ``input`` times the Jacobian of log_softmax at its ``result``."""

log_softmax_ = primitive(
    "log_softmax", log_softmax_kernel, vjp={"input": log_softmax_vjp}, jvp={"input": push_log_softmax}, batch="same",
    partial="takes",
)  # fmt: skip


def floating(input: Tensor, dtype: Any, name: str) -> Tensor:
    """The input in ``dtype`` if that is given; it must be floating.

    Raises
    ------
    RuntimeError
        If the result is not floating: softmax has no value in it.
    """
    arg.tensor(input, name)
    if dtype is not None:
        input = F.cast(input, dtype.numpy) if input._data.dtype != dtype.numpy else input
    if input._data.dtype.kind not in "fV":
        raise NotImplementedError(f'"{name}" not implemented for {input.dtype}; give a floating dtype=')
    return input


def legacy_dim(name: str, ndim: int) -> int:
    """The dimension that PyTorch once chose where none was given."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


@operator()
def softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """Exponentials along a dimension, scaled to sum to one: ``exp(x_i) / sum_j exp(x_j)``.

    Parameters
    ----------
    input : Tensor
    dim : int
        The dimension whose entries sum to one.
    dtype : dtype, optional
        Cast the input first.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.softmax(tp.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    input = floating(input, dtype, "softmax")
    dim = arg.dimension(dim, input._data.ndim, "softmax")
    return F.softmax(input, dim) if input._data.ndim else F.reshape(F.softmax(F.reshape(input, (1,)), -1), ())


@operator()
def log_softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, without underflow: ``x_i - log(sum_j exp(x_j))``.

    Parameters
    ----------
    input : Tensor
    dim : int
        The dimension whose probabilities sum to one.
    dtype : dtype, optional
        Cast the input first.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.log_softmax(tp.tensor([0., 0.]), 0)
    tensor([-0.6931, -0.6931])
    """
    input = floating(input, dtype, "log_softmax")
    dim = arg.dimension(dim, input._data.ndim, "log_softmax")
    return F.log_softmax(input, dim) if input._data.ndim else F.reshape(F.log_softmax(F.reshape(input, (1,)), -1), ())


@operator(name="softmax", namespace="nn.functional", method=False, out=False)
def functional_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None
) -> Tensor:
    """As :func:`tensorplay.softmax`; without ``dim`` one is chosen, with a warning.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.softmax(tp.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return softmax(input, legacy_dim("softmax", input.ndim) if dim is None else dim, dtype)


@operator(name="log_softmax", namespace="nn.functional", method=False, out=False)
def functional_log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None
) -> Tensor:
    """As :func:`tensorplay.log_softmax`; without ``dim`` one is chosen, with a warning.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.log_softmax(tp.tensor([0., 0.]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return log_softmax(input, legacy_dim("log_softmax", input.ndim) if dim is None else dim, dtype)


for function, name in (
    (functional_relu, "relu"), (functional_softmax, "softmax"), (functional_log_softmax, "log_softmax"),
):  # fmt: skip
    function.__name__ = name  # which programs print


@functional
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None) -> Tensor:
    """:func:`softmax` of ``-x``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.softmin(tp.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return softmax(-arg.tensor(input, "softmin"), legacy_dim("softmin", input.ndim) if dim is None else dim, dtype)
