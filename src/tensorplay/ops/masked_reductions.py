"""Reductions, scans and normalisations of the elements that a mask declares valid: the names of ``torch.masked``.

All are composites. The elements that are left out are given a value that does not take part: the identity of a
reduction, or an infinity of which the exponential is zero. So gradients are zero there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core import dtype as dtypes
from ..core.namespace import F
from ..core.operator import operator
from ..core.tensor import Tensor
from . import activation, extrema, reduction, scan, sorting
from . import arguments as arg
from .factories import Dtype
from .masked import masked_fill

# ---- masks and dtypes


def broadcast_mask(mask: Any, shape: tuple[int, ...], name: str, argument: str = "mask") -> Tensor:
    """A mask as bools, of the shape of the input."""
    arg.tensor(mask, name, argument)
    if mask.ndim > len(shape):
        raise IndexError(
            f"{name}(): expected broadcastable mask (got mask dimensionality higher than of the input): {argument} has "
            f"shape {list(mask.shape)}, input {list(shape)}"
        )
    return mask.bool().expand(shape)


def valid(input: Tensor, mask: Tensor | None, value: complex, name: str, argument: str = "mask") -> Tensor:
    """The input with a value where the mask is false."""
    if mask is None:
        return input
    return masked_fill(input, ~broadcast_mask(mask, tuple(input.shape), name, argument), value)


def converted(input: Any, dtype: Dtype, name: str) -> Tensor:
    return arg.tensor(input, name) if dtype is None else arg.cast(input, dtype, name)


def lowest(input: Tensor, name: str) -> float:
    """The identity of a maximum in the input's dtype."""
    return -math.inf if input.is_floating_point() else limits(input, name).min


def highest(input: Tensor, name: str) -> float:
    """The identity of a minimum in the input's dtype."""
    return math.inf if input.is_floating_point() else limits(input, name).max


def limits(input: Tensor, name: str) -> Any:
    if input.dtype is dtypes.bool:
        raise NotImplementedError(f"{name}(): identity of {name.removeprefix('masked.')} on {input.dtype} input")
    return dtypes.iinfo(input.dtype)  # which raises TypeError for complex numbers


# ---- documentation

MEANINGS = {
    "input": "Tensor\n    Any shape.",
    "other": "Tensor\n    Broadcast with the input.",
    "ord": "float\n    The order of the norm; see :func:`tensorplay.linalg.vector_norm`.",
    "dim": "int or tuple of ints, optional\n    The dimensions to reduce; all of them by default.",
    "unbiased": "bool, optional\n    False is a correction of 0.",
    "correction": "float, optional\n    What is subtracted from the number of elements; 1 by default.",
    "keepdim": "bool\n    Whether reduced dimensions stay, with extent 1.",
    "eps": "float\n    The least norm to divide by.",
    "dtype": "dtype, optional\n    What to cast to first.",
    "mask": "Tensor, optional\n    True where an element is valid; broadcast to the input's shape. All are by default.",
    "input_mask": "Tensor, optional\n    True where an element of the input is valid.",
    "other_mask": "Tensor, optional\n    True where an element of ``other`` is valid.",
}
ONE_DIM = "int\n    The dimension."


def public(summary: str, call: str, shows: str, **meanings: str) -> Callable[[Any], Any]:
    """Register a function, with its documentation."""

    def register(fn: Any) -> Any:
        names = [n for n in fn.__annotations__ if n != "return"]
        lines = [f"{n} : {meanings.get(n) or MEANINGS[n]}" for n in names]
        fn.__doc__ = "\n".join([
            summary, "", "Parameters", "----------", *lines, "", "Returns", "-------", "Tensor", "", "Examples",
            "--------", ">>> import tensorplay as tp", ">>> x = tp.tensor([3., -4., 1.])",
            ">>> mask = tp.tensor([True, True, False])", f">>> tp.masked.{call}", shows,
        ])  # fmt: skip
        return operator(namespace="masked", method=False, out=False)(fn)

    return register


Dims = int | Sequence[int] | None

# ---- reductions


@public("The sum of the valid elements; 0 where there are none.", "sum(x, mask=mask)", "tensor(-1.)")
def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.sum")
    return reduction.sum(valid(x, mask, 0, "masked.sum"), dim, keepdim, dtype=dtype)


@public("The product of the valid elements; 1 where there are none.", "prod(x, mask=mask)", "tensor(-12.)")
def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = valid(converted(input, dtype, "masked.prod"), mask, 1, "masked.prod")
    dims = arg.reduced(dim, x.ndim, "masked.prod")
    if dims is None:
        out = reduction.prod(x, dtype=dtype)
        return out.reshape((1,) * x.ndim) if keepdim else out
    for d in sorted(dims):  # counted from the end, so that those that go do not move the others
        x = reduction.prod(x, d, keepdim, dtype=dtype)
    return x


@public("The largest of the valid elements; -inf, or the least number, where there are none.", "amax(x, mask=mask)",
        "tensor(3.)")  # fmt: skip
def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.amax")
    return extrema.amax(valid(x, mask, lowest(x, "masked.amax"), "masked.amax"), () if dim is None else dim, keepdim)


@public("The smallest of the valid elements; inf, or the largest number, where there are none.", "amin(x, mask=mask)",
        "tensor(-4.)")  # fmt: skip
def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.amin")
    return extrema.amin(valid(x, mask, highest(x, "masked.amin"), "masked.amin"), () if dim is None else dim, keepdim)


@public("The index of the largest of the valid elements, in the input's dtype; 0 where there are none.",
        "argmax(x, mask=mask)", "tensor(0.)", dim="int, optional\n    The dimension to reduce; by default the tensor "
        "counts as flattened.")  # fmt: skip
def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.argmax")
    return extrema.argmax(valid(x, mask, lowest(x, "masked.argmax"), "masked.argmax"), dim, keepdim).to(x.dtype)


@public("The index of the smallest of the valid elements, in the input's dtype; 0 where there are none.",
        "argmin(x, mask=mask)", "tensor(1.)", dim="int, optional\n    The dimension to reduce; by default the tensor "
        "counts as flattened.")  # fmt: skip
def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.argmin")
    return extrema.argmin(valid(x, mask, highest(x, "masked.argmin"), "masked.argmin"), dim, keepdim).to(x.dtype)


def count(x: Tensor, dim: Dims, keepdim: bool, mask: Tensor | None, name: str) -> Tensor:
    """The number of valid elements."""
    ones = x.new_ones((), dtype=dtypes.bool) if mask is None else mask
    return reduction.sum(broadcast_mask(ones, tuple(x.shape), name), dim, keepdim)


@public("The mean of the valid elements; nan where there are none.", "mean(x, mask=mask)", "tensor(-0.5000)")
def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.mean")
    if not (x.is_floating_point() or x.is_complex()):
        whose = "Input" if dtype is None else "Optional"
        raise ValueError(f"masked.mean(): Could not infer output dtype. {whose} dtype must be either a floating point "
                         f"or complex dtype. Got: {x.dtype}")  # fmt: skip
    total = reduction.sum(valid(x, mask, 0, "masked.mean"), dim, keepdim)
    return total / count(x, dim, keepdim, mask, "masked.mean")


@public("The median of the valid elements that are not nan, the lower of two; nan where there are none.",
        "median(x, mask=mask)", "tensor(-4.)", dim=ONE_DIM)  # fmt: skip
def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.median")
    if x.is_floating_point() or mask is None:
        return sorting.nanmedian(valid(x, mask, math.nan, "masked.median"), dim, keepdim).values
    number = count(x, dim, True, mask, "masked.median")
    if not bool((number > 0).all()):
        raise ValueError(
            f"masked.median(): expects no fully masked out rows if dtype is not floating point, got {x.dtype}"
        )
    integers = x.to(dtypes.uint8) if x.dtype is dtypes.bool else x
    ordered = valid(integers, mask, highest(integers, "masked.median"), "masked.median").sort(dim).values
    out = ordered.gather(dim, (number - 1) // 2).to(x.dtype)
    return out if keepdim else out.squeeze(dim)


@public("The norm of the valid elements; 0 where there are none, inf for a negative order.", "norm(x, 2, mask=mask)",
        "tensor(5.)")  # fmt: skip
def norm(
    input: Tensor, ord: float = 2.0, dim: Dims = None, *, keepdim: bool = False, dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x, negative = converted(input, dtype, "masked.norm"), ord is not None and ord < 0
    if negative and mask is not None and ord != -math.inf:
        powers = valid(x, mask, 1, "masked.norm").abs() ** ord  # finite, and so are their derivatives
        return reduction.sum(valid(powers, mask, 0, "masked.norm"), dim, keepdim) ** (1 / ord)
    return reduction.vector_norm(valid(x, mask, math.inf if negative else 0, "masked.norm"), ord, dim, keepdim)


def variance(
    input: Any, dim: Dims, unbiased: bool | None, correction: float | None, keepdim: bool, dtype: Dtype,
    mask: Tensor | None, name: str, root: bool,
) -> Tensor:  # fmt: skip
    """The variance, or its root."""
    if unbiased is not None and correction is not None:
        raise ValueError(f"{name}(): Only one of unbiased and correction may be given")
    less = correction if correction is not None else 1 if unbiased is None else int(unbiased)
    x = converted(input, dtype, name)
    if x.dtype is dtypes.bool:
        raise RuntimeError(f"{name}(): Subtraction, the `-` operator, with a bool tensor is not supported")
    x = x if x.is_floating_point() or x.is_complex() else x.to(dtypes.get_default_dtype())
    number = count(x, dim, True, mask, name)
    rest = valid(x - reduction.sum(valid(x, mask, 0, name), dim, True) / number, mask, 0, name)
    total = reduction.sum(rest * rest.conj(), dim, keepdim)
    number = number if keepdim else number.reshape(total.shape)
    out = (total / (number - less).clamp(min=0)).to(total.dtype)
    return out.sqrt() if root else out


@public("The variance of the valid elements; nan where there are too few.", "var(x, mask=mask)", "tensor(24.5000)")
def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return variance(input, dim, unbiased, correction, keepdim, dtype, mask, "masked.var", False)


@public("The standard deviation of the valid elements; nan where there are too few.", "std(x, mask=mask)",
        "tensor(4.9497)")  # fmt: skip
def std(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return variance(input, dim, unbiased, correction, keepdim, dtype, mask, "masked.std", True)


@public("log(sum(exp(x))) of the valid elements, in the input's dtype; -inf where there are none.",
        "logsumexp(x, mask=mask)", "tensor(3.0009)")  # fmt: skip
def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.logsumexp")
    least = -math.inf if x.is_complex() else lowest(x, "masked.logsumexp")
    out = reduction.logsumexp(valid(x, mask, least, "masked.logsumexp"), () if dim is None else dim, keepdim)
    return out.to(x.dtype)


# ---- scans


@public("The sums of the valid elements up to each place.", "cumsum(x, 0, mask=mask)", "tensor([ 3., -1., -1.])",
        dim=ONE_DIM)  # fmt: skip
def cumsum(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Tensor:
    x = scanned(input, dtype, "masked.cumsum")
    return scan.cumsum(valid(x, mask, 0, "masked.cumsum"), dim, dtype=x.dtype)


@public("The products of the valid elements up to each place.", "cumprod(x, 0, mask=mask)",
        "tensor([  3., -12., -12.])", dim=ONE_DIM)  # fmt: skip
def cumprod(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Tensor:
    x = scanned(input, dtype, "masked.cumprod")
    return scan.cumprod(valid(x, mask, 1, "masked.cumprod"), dim, dtype=x.dtype)


def scanned(input: Any, dtype: Dtype, name: str) -> Tensor:
    """The input of a scan, whose result has its dtype."""
    x = converted(input, dtype, name)
    if x.dtype is dtypes.bool:
        raise NotImplementedError(f"{name}(): not implemented for {x.dtype}; pass dtype=")
    return x


# ---- normalisations


@public("Exponentials of the valid elements along a dimension, scaled to sum to one; 0 where not valid.",
        "softmax(x, 0, mask=mask)", "tensor([9.9909e-01, 9.1105e-04, 0.0000e+00])", dim=ONE_DIM)  # fmt: skip
def softmax(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Tensor:
    x = converted(input, dtype, "masked.softmax")
    return activation.softmax(valid(x, mask, lowest(x, "masked.softmax"), "masked.softmax"), dim)


@public("The logarithms of :func:`softmax`; -inf where not valid.", "log_softmax(x, 0, mask=mask)",
        "tensor([-9.1142e-04, -7.0009e+00,        -inf])", dim=ONE_DIM)  # fmt: skip
def log_softmax(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Tensor:
    x = converted(input, dtype, "masked.log_softmax")
    return activation.log_softmax(valid(x, mask, lowest(x, "masked.log_softmax"), "masked.log_softmax"), dim)


@public(":func:`softmax` of the elements with the other sign.", "softmin(x, 0, mask=mask)",
        "tensor([9.1105e-04, 9.9909e-01, 0.0000e+00])", dim=ONE_DIM)  # fmt: skip
def softmin(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Tensor:
    x = converted(input, dtype, "masked.softmin")
    return activation.softmax(-valid(x, mask, highest(x, "masked.softmin"), "masked.softmin"), dim)


@public("The valid elements, scaled to a norm of one along dimensions; 0 where not valid.",
        "normalize(x, 2, 0, mask=mask)", "tensor([ 0.6000, -0.8000,  0.0000])")  # fmt: skip
def normalize(
    input: Tensor, ord: float, dim: Dims, *, eps: float = 1e-12, dtype: Dtype = None, mask: Tensor | None = None
) -> Tensor:
    x = converted(input, dtype, "masked.normalize")
    size = norm(x, ord, dim, keepdim=True, mask=mask).clamp(min=eps)
    return valid(x, mask, 0, "masked.normalize") / size


@public("log(exp(input) + exp(other)) of the valid elements; -inf where there are none.",
        "logaddexp(x, x, input_mask=mask)", "tensor([ 3.6931, -3.3069,  1.0000])")  # fmt: skip
def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Dtype = None, input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x, y = (converted(t, dtype, "masked.logaddexp") for t in (input, other))
    a = valid(x, input_mask, -math.inf, "masked.logaddexp", "input_mask")
    return F.logaddexp(a, valid(y, other_mask, -math.inf, "masked.logaddexp", "other_mask"))
