"""Reductions: sums, products, logical tests, moments, norms.

The attribute ``dim`` of a primitive is None (all dimensions) or a tuple of dimensions counted from the end.
"""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.namespace import F
from ..core.operator import OPERATORS, operator, renamed, write_out
from ..core.primitive import primitive
from ..core.promotion import promote_types
from ..core.tensor import Tensor
from . import arguments as arg
from .reducing import reduce_array

ALL_DIMS = [tuple(range(-n, 0)) for n in range(65)]
FLOAT32, INT64 = np.dtype(np.float32), np.dtype(np.int64)

# ---- what the rules of reductions share


def reduce_batch(p: Any, values: list[Any], dims: list[Any], dim: Any, *attrs: Any) -> Any:
    """None, all dimensions, becomes those of the example."""
    value = values[0]
    return p.function(value, ALL_DIMS[value._data.ndim - 1] if dim is None else dim, *attrs)


def count_of(shape: tuple[int, ...], dim: tuple[int, ...] | None) -> int:
    """How many elements are reduced to one."""
    return math.prod(shape) if dim is None else math.prod([shape[d] for d in dim])


def restored(F: Any, reduced: Any, shape: tuple[int, ...], dim: tuple[int, ...] | None, keepdim: bool) -> Any:
    """A result with ones where dimensions were reduced, so that it broadcasts against the input."""
    if keepdim or dim is None or not dim:
        return reduced
    kept = list(shape)
    for d in dim:
        kept[d] = 1
    return F.reshape(reduced, tuple(kept))


def spread(F: Any, g: Any, input_shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """The transpose of a sum: every element receives the cotangent of its sum. A view, without a copy."""
    return F.expand(restored(F, g, input_shape, dim, keepdim), input_shape)


# ---- sum and mean


def sum_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
    dtype = input.dtype
    if dtype.char in "dfDF":
        if dim is None and not keepdim:
            return xp.add.reduce(input, None)
        return reduce_array(xp.add, input, dim, keepdim)
    if dtype.kind in "fV":
        return reduce_array(xp.add, input.astype(FLOAT32), dim, keepdim).astype(dtype)
    if dtype.kind == "b" and dim is None and not keepdim:
        return xp.asarray(xp.count_nonzero(input))
    return xp.add.reduce(input, dim, dtype=INT64, keepdims=keepdim)


primitive("sum", sum_kernel, vjp={"input": spread}, jvp="linear", batch=reduce_batch)


@operator()
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **numpy_names: Any) -> Tensor:
    """The sum of all elements, or over some dimensions.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    dtype : dtype, optional
        What to cast to first. Integers and bools are summed as int64 by default.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.sum(tp.tensor([[1., 2.], [3., 4.]]), dim=0)
    tensor([4., 6.])
    """
    if numpy_names:
        return renamed(sum, numpy_names, input, dim=dim, keepdim=keepdim, dtype=dtype)
    if dtype is not None:
        input = arg.cast(input, dtype, "sum")
    if dim is not None:
        dim = arg.reduced(dim, arg.tensor(input, "sum")._data.ndim, "sum")
    if keepdim is not False:
        arg.flag(keepdim, "sum", "keepdim")
    out = F.sum(input, dim, keepdim)
    return out if dtype is None else arg.cast(out, dtype, "sum")


@operator(function=False)
def sum_to_size(input: Tensor, size: Any = (), *more: int) -> Tensor:
    """The sum over dimensions that broadcasting to the shape of ``input`` would add or repeat.

    Parameters
    ----------
    input : Tensor
    size : int...
        The shape of the result, number by number or as a tuple.

    Raises
    ------
    RuntimeError
        If ``size`` does not broadcast to the shape of ``input``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1., 2.], [3., 4.]]).sum_to_size(1, 2)
    tensor([[4., 6.]])
    """
    shape = arg.tensor(input, "sum_to_size")._data.shape
    wanted = arg.sizes(size, more, "sum_to_size")
    lead = len(shape) - len(wanted)
    if lead < 0 or builtins.any(n not in (1, m) for n, m in zip(wanted, shape[lead:])):
        raise RuntimeError(f"sum_to_size(): size {list(wanted)} is not expandable to size {list(shape)}")
    if not wanted:
        return sum(input)
    dims = [*range(lead), *(i + lead for i, n in enumerate(wanted) if n == 1 != shape[i + lead])]
    return F.reshape(sum(input, dims, True), wanted) if dims else input


def mean_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
    n, dtype = input.size if dim is None else count_of(input.shape, dim), input.dtype
    if dtype.char in "dfDF":
        return reduce_array(xp.add, input, dim, keepdim) / n
    return (reduce_array(xp.add, input.astype(FLOAT32), dim, keepdim) / n).astype(dtype)


def mean_vjp(F: Any, g: Any, input_shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    return spread(F, g / (count_of(input_shape, dim) or 1), input_shape, dim, keepdim)


primitive("mean", mean_kernel, vjp={"input": mean_vjp}, jvp="linear", batch=reduce_batch)


@operator()
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **numpy_names: Any) -> Tensor:
    """The mean of all elements, or over some dimensions; nan where there are none.

    Parameters
    ----------
    input : Tensor
        Of a floating or complex dtype, unless ``dtype`` is.
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    dtype : dtype, optional
        What to cast to first.

    Raises
    ------
    RuntimeError
        For integers and bools without ``dtype``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.mean(tp.tensor([1., 2., 6.]))
    tensor(3.)
    """
    if numpy_names:
        return renamed(mean, numpy_names, input, dim=dim, keepdim=keepdim, dtype=dtype)
    if dtype is not None:
        input = arg.cast(input, dtype, "mean")
    if dim is not None:
        dim = arg.reduced(dim, arg.tensor(input, "mean")._data.ndim, "mean")
    if keepdim is not False:
        arg.flag(keepdim, "mean", "keepdim")
    if arg.tensor(input, "mean")._data.dtype.kind not in "fcV":
        whose = "Input dtype" if dtype is None else "Optional dtype"
        raise RuntimeError(f"mean(): could not infer output dtype. {whose} must be either a floating point or complex "
                           f"dtype. Got: {input.dtype}; pass dtype=")  # fmt: skip
    return F.mean(input, dim, keepdim)


# ---- product


def product_of_others(F: Any, x: Any, dim: int) -> Any:
    """For each element the product of all others along a dimension.

    Multiplications alone, so that zeros need no care: of what stands before and behind over arrays, by pairs and pairs
    of pairs over Tensors, where every higher derivative is then right, too.
    """
    shape = x.shape
    axis = len(shape) + dim
    n, lead, trail = shape[dim], (slice(None),) * axis, (slice(None),) * (-1 - dim)

    def part(y: Any, start: int | None, stop: int | None, step: int | None = None) -> Any:
        return F.slice(y, (*lead, slice(start, stop, step), *trail))

    if n <= 1:
        return F.ones_like(x)
    if type(x) is np.ndarray:
        out, behind = np.ones_like(x), np.ones_like(x)
        np.multiply.accumulate(part(x, None, -1), dim, out=part(out, 1, None))
        np.multiply.accumulate(part(x, None, 0, -1), dim, out=part(behind, n - 2, None, -1))
        return np.multiply(out, behind, out=out)
    whole = n - n % 2
    even, odd = part(x, 0, whole, 2), part(x, 1, whole, 2)
    pairs, rest = even * odd, part(x, whole, n)
    others = product_of_others(F, F.cat(pairs, rest, dim=dim) if n % 2 else pairs, dim)
    of_pairs = part(others, 0, whole // 2)
    out = F.reshape(F.stack(of_pairs * odd, of_pairs * even, dim=dim), (*shape[:axis], whole, *shape[axis + 1 :]))
    return F.cat(out, part(others, whole // 2, whole // 2 + 1), dim=dim) if n % 2 else out


def prod_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
    dtype = input.dtype
    if dtype.char in "dfDF":
        return reduce_array(xp.multiply, input, dim, keepdim)
    out = xp.multiply.reduce(input, dim, dtype=FLOAT32 if dtype.kind in "fV" else INT64, keepdims=keepdim)
    return out.astype(dtype) if dtype.kind in "fV" else out


def prod_others(F: Any, input: Any, dim: Any) -> Any:
    if dim is None:
        return F.reshape(product_of_others(F, F.reshape(input, (math.prod(input.shape),)), -1), input.shape)
    return product_of_others(F, input, dim[0])


def prod_vjp(F: Any, g: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    return restored(F, g, input.shape, dim, keepdim) * prod_others(F, input, dim)


def prod_jvp(F: Any, t: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    return F.sum(t * prod_others(F, input, dim), dim, keepdim)


def prod_batch(p: Any, values: list[Any], dims: list[Any], dim: Any, keepdim: bool) -> Any:
    value = values[0]
    if dim is not None:
        return p.function(value, dim, keepdim)
    size, *inner = value._data.shape
    out = p.function(F.reshape(value, (size, math.prod(inner))), (-1,), False)
    return F.reshape(out, (size, *(1,) * len(inner))) if keepdim else out


primitive("prod", prod_kernel, vjp={"input": prod_vjp}, jvp={"input": prod_jvp}, batch=prod_batch)


@operator()
def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None, **numpy_names: Any
) -> Tensor:
    """The product of all elements, or along a dimension. Derivatives are right at zeros, to any order.

    Parameters
    ----------
    input : Tensor
    dim : int, optional
        The dimension to reduce; all of them by default.
    keepdim : bool
        Whether the reduced dimension stays, with extent 1.
    dtype : dtype, optional
        What to cast to first. Integers and bools are multiplied as int64 by default.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.prod(tp.tensor([2., 3., 4.]))
    tensor(24.)
    """
    if numpy_names:
        return renamed(prod, numpy_names, input, dim=dim, keepdim=keepdim, dtype=dtype)
    ndim = arg.tensor(input, "prod")._data.ndim
    if dtype is not None:
        input = arg.cast(input, dtype, "prod")
    dims = None if dim is None else arg.reduced(arg.integer(dim, "prod", "dim"), ndim, "prod")
    out = F.prod(input, dims, arg.flag(keepdim, "prod", "keepdim"))
    return out if dtype is None else arg.cast(out, dtype, "prod")


# ---- logical tests and counts


def logical_kernel(ufunc: str) -> Callable[..., Any]:
    def kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
        out = reduce_array(getattr(xp, ufunc), input if input.dtype.kind == "b" else input != 0, dim, keepdim)
        return out.astype(np.uint8) if input.dtype == np.uint8 else out

    return kernel


primitive("all", logical_kernel("logical_and"), batch=reduce_batch)
primitive("any", logical_kernel("logical_or"), batch=reduce_batch)


def tested(name: str, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    ndim = arg.tensor(input, name)._data.ndim
    dims = None if dim is None else arg.dimensions(dim, ndim, name)
    if not ndim and dims:
        dims = None
    return getattr(F, name)(input, dims, arg.flag(keepdim, name, "keepdim"))


@operator()
def all(input: Tensor, dim: Any = None, keepdim: bool = False, **numpy_names: Any) -> Tensor:
    """Whether all elements are true (not zero), of the whole tensor or over some dimensions.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.

    Returns
    -------
    Tensor
        Of dtype bool; uint8 for uint8.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.all(tp.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])
    """
    if numpy_names:
        return renamed(all, numpy_names, input, dim=dim, keepdim=keepdim)
    return tested("all", input, dim, keepdim)


@operator()
def any(input: Tensor, dim: Any = None, keepdim: bool = False, **numpy_names: Any) -> Tensor:
    """Whether any element is true (not zero), of the whole tensor or over some dimensions.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.

    Returns
    -------
    Tensor
        Of dtype bool; uint8 for uint8.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.any(tp.tensor([[True, False], [False, False]]), dim=1)
    tensor([ True, False])
    """
    if numpy_names:
        return renamed(any, numpy_names, input, dim=dim, keepdim=keepdim)
    return tested("any", input, dim, keepdim)


def count_nonzero_kernel(xp: Any, input: Any, *, dim: Any) -> Any:
    return xp.add.reduce(input != 0, dim, dtype=INT64)


primitive("count_nonzero", count_nonzero_kernel, batch=reduce_batch)


@operator(out=False)
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not zero, of all or over some dimensions (int64).

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.count_nonzero(tp.tensor([[0, 1], [2, 3]]), dim=0)
    tensor([1, 2])
    """
    return F.count_nonzero(input, arg.reduced(dim, arg.tensor(input, "count_nonzero")._data.ndim, "count_nonzero"))


# ---- sums that leave out nan


def floating_out(name: str, value: Tensor, out: Any) -> Tensor:
    """The value in ``out``, which must have a floating dtype if it has.

    Raises
    ------
    NotImplementedError
        If it has not.
    """
    if isinstance(out, Tensor) and value._data.dtype.kind in "fV" and out._data.dtype.kind not in "fV":
        raise NotImplementedError(f"{name}(): not implemented for out of {out.dtype}")
    return write_out(name, value, out)


@operator()
def nansum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """The sum of the elements that are not nan, of all or over some dimensions.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    dtype : dtype, optional
        What to cast to first. Integers and bools are summed as int64 by default.

    Raises
    ------
    RuntimeError
        For complex tensors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nansum(tp.tensor([1., float("nan"), 2.]))
    tensor(3.)
    """
    kind = arg.tensor(input, "nansum")._data.dtype.kind
    if kind == "c":
        raise RuntimeError("nansum(): does not support complex inputs")
    total = sum(F.where(input != input, 0, input) if kind in "fV" else input, dim, keepdim, dtype=dtype)
    return total if out is None else floating_out("nansum", total, out)


@operator()
def nanmean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """The mean of the elements that are not nan, of all or over some dimensions; nan where there are none.

    Parameters
    ----------
    input : Tensor
        Of a floating dtype.
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    dtype : dtype, optional
        What to cast to first.

    Raises
    ------
    RuntimeError
        For integer, bool and complex tensors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nanmean(tp.tensor([1., float("nan"), 2.]))
    tensor(1.5000)
    """
    if arg.tensor(input, "nanmean")._data.dtype.kind not in "fV":
        raise RuntimeError(f"nanmean(): expected input to have floating point dtype but got {input.dtype}")
    mean = nansum(input, dim, keepdim, dtype=dtype) / sum(input == input, dim, keepdim)
    return mean if out is None else floating_out("nanmean", mean, out)


# ---- variance and standard deviation


def centered(F: Any, input: Any, dim: Any) -> Any:
    return input - F.mean(input, dim, True)


def per_degree(shape: tuple[int, ...], dim: Any, correction: float) -> float:
    """One over the degrees of freedom; inf if there are none."""
    degrees = count_of(shape, dim) - correction
    return 1 / degrees if degrees > 0 else math.inf


def var_array(xp: Any, input: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    x = input if input.dtype.char in "dfDF" else input.astype(FLOAT32)
    n = count_of(x.shape, dim)
    c = x - reduce_array(xp.add, x, dim, True) / n
    square = c * c if c.dtype.kind == "f" else c.real * c.real + c.imag * c.imag
    total = reduce_array(xp.add, square, dim, keepdim)
    if n > correction:
        return total / (n - correction)
    with np.errstate(all="ignore"):
        return total / 0


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtypes.by_numpy[dtype].to_real().numpy


def var_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool, correction: float) -> Any:
    return var_array(xp, input, dim, keepdim, correction).astype(real_dtype(input.dtype))


def var_direction(F: Any, input: Any, dim: Any, correction: float) -> Any:
    """Half the gradient of the variance."""
    scale, c = per_degree(input.shape, dim, correction), centered(F, input, dim)
    return c * scale if scale < math.inf else F.abs(c) * scale


def var_vjp(F: Any, g: Any, input: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    return restored(F, 2 * g, input.shape, dim, keepdim) * var_direction(F, input, dim, correction)


def inner(F: Any, direction: Any, t: Any, dtype: np.dtype[Any], dim: Any, keepdim: bool) -> Any:
    """The real inner product of a gradient with a tangent: the forward rule of a real function."""
    return F.sum(direction * t if dtype.kind != "c" else F.real(F.conj(direction) * t), dim, keepdim)


def var_jvp(F: Any, t: Any, input: Any, input_dtype: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    return 2 * inner(F, var_direction(F, input, dim, correction), t, input_dtype, dim, keepdim)


primitive("var", var_kernel, vjp={"input": var_vjp}, jvp={"input": var_jvp}, batch=reduce_batch, holomorphic=False)


def std_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool, correction: float) -> Any:
    return xp.sqrt(var_array(xp, input, dim, keepdim, correction)).astype(real_dtype(input.dtype))


def reciprocal_or_zero(F: Any, x: Any) -> Any:
    """1 / x, and zero with zero derivatives where x is zero."""
    zero = x == 0
    return F.where(zero, 0, 1 / F.where(zero, 1, x))


def std_vjp(F: Any, g: Any, input: Any, out: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    g = restored(F, g * reciprocal_or_zero(F, out), input.shape, dim, keepdim)
    return g * var_direction(F, input, dim, correction)


def std_jvp(F: Any, t: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    return reciprocal_or_zero(F, out) * inner(F, var_direction(F, input, dim, correction), t, input_dtype, dim, keepdim)


primitive("std", std_kernel, vjp={"input": std_vjp}, jvp={"input": std_jvp}, batch=reduce_batch, holomorphic=False)
"""Where the deviation is zero the gradient is zero."""


def moment_arguments(name: str, input: Tensor, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    """(dim, keepdim, correction) of the forms ``(unbiased)``, ``(dim, unbiased, keepdim)`` and with ``correction``."""
    if dim.__class__ is bool:
        if unbiased is not None:
            raise TypeError(f"{name}(): argument 'unbiased' was given twice")
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{name}(): got both 'unbiased' and 'correction'; pass one of them")
        correction = int(arg.flag(unbiased, name, "unbiased"))
    if arg.tensor(input, name)._data.dtype.kind not in "fcV":
        raise RuntimeError(f"{name}(): std and var only support floating point and complex dtypes, got {input.dtype}")
    dims = arg.reduced(dim, input._data.ndim, name)
    correction = 1 if correction is None else arg.real(correction, name, "correction", 5)
    if count_of(input._data.shape, dims) - correction <= 0:
        warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
                      "factor (input numel divided by output numel).", UserWarning, stacklevel=3)  # fmt: skip
    return dims, arg.flag(keepdim, name, "keepdim"), correction


@operator()
def var(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """The variance: sum(abs(x - mean) ** 2) / max(0, n - correction).

    Parameters
    ----------
    input : Tensor
        Of a floating or complex dtype.
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    unbiased : bool, optional
        True for a correction of 1, False for 0.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    correction : int or float, optional
        What to subtract from the number of elements; 1 by default.

    Raises
    ------
    RuntimeError
        For integers and bools.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.var(tp.tensor([1., 2., 6.]))
    tensor(7.)
    """
    return F.var(input, *moment_arguments("var", input, dim, unbiased, keepdim, correction))


@operator()
def std(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """The standard deviation: the square root of the variance. Its gradient is zero where it is zero.

    Parameters
    ----------
    input : Tensor
        Of a floating or complex dtype.
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    unbiased : bool, optional
        True for a correction of 1, False for 0.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    correction : int or float, optional
        What to subtract from the number of elements; 1 by default.

    Raises
    ------
    RuntimeError
        For integers and bools.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.std(tp.tensor([1., 3., 5.]))
    tensor(2.)
    """
    return F.std(input, *moment_arguments("std", input, dim, unbiased, keepdim, correction))


@operator(out=False)
def var_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """The variance and the mean; parameters as for :func:`var`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.var_mean(tp.tensor([1., 2., 6.]))
    (tensor(7.), tensor(3.))
    """
    dims, keepdim, correction = moment_arguments("var_mean", input, dim, unbiased, keepdim, correction)
    return F.var(input, dims, keepdim, correction), F.mean(input, dims, keepdim)


@operator(out=False)
def std_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean; parameters as for :func:`std`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.std_mean(tp.tensor([1., 3., 5.]))
    (tensor(2.), tensor(3.))
    """
    dims, keepdim, correction = moment_arguments("std_mean", input, dim, unbiased, keepdim, correction)
    return F.std(input, dims, keepdim, correction), F.mean(input, dims, keepdim)


# ---- logarithm of a sum of exponentials


def logsumexp_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
    x = input if input.dtype.char in "dfDF" else input.astype(FLOAT32)
    if x.size:
        top = reduce_array(xp.maximum, x.real if x.dtype.kind == "c" else x, dim, True)
    else:
        top = xp.maximum.reduce(x.real, dim, keepdims=True, initial=-np.inf)
    top = xp.where(xp.isfinite(top), top, 0)
    with np.errstate(all="ignore"):
        out = xp.log(reduce_array(xp.add, xp.exp(x - top), dim, True)) + top
    if not keepdim:
        out = out.squeeze(dim) if dim is not None else out.reshape(())
    return out.astype(input.dtype)


def softmax_from(F: Any, input: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    """exp(input - out): zeros where all inputs are -inf."""
    return F.exp(input - restored(F, F.where(out == -math.inf, 0, out), input.shape, dim, keepdim))


def logsumexp_vjp(F: Any, g: Any, input: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    return restored(F, g, input.shape, dim, keepdim) * softmax_from(F, input, out, dim, keepdim)


def logsumexp_jvp(F: Any, t: Any, input: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    return F.sum(t * softmax_from(F, input, out, dim, keepdim), dim, keepdim)


primitive("logsumexp", logsumexp_kernel, vjp={"input": logsumexp_vjp}, jvp={"input": logsumexp_jvp}, batch=reduce_batch)


@operator()
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) without overflow. Where all elements are -inf it is -inf, with a gradient of zero.

    Parameters
    ----------
    input : Tensor
        Integers are computed in the default dtype.
    dim : int or tuple of ints
        The dimensions to reduce.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.logsumexp(tp.tensor([1000., 1000.]), dim=0)
    tensor(1000.6932)
    """
    dims = arg.reduced(dim, arg.tensor(input, "logsumexp")._data.ndim, "logsumexp")
    return F.logsumexp(as_float(input), dims, arg.flag(keepdim, "logsumexp", "keepdim"))


def as_float(input: Tensor) -> Tensor:
    """Integers and bools in the default dtype."""
    return input if input._data.dtype.kind in "fcV" else F.cast(input, dtypes.get_default_dtype().numpy)


# ---- norms


def vector_norm_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool, ord: float) -> Any:
    x = input if input.dtype.char in "dfDF" else input.astype(FLOAT32)
    if ord and (input.size if dim is None else math.prod([input.shape[d] for d in dim])) == 1:
        ord = math.inf  # one number's is its absolute value, however large its powers are
    if ord == 2:
        if dim is None and not keepdim and x.flags.c_contiguous:
            flat = x.reshape(-1)
            out = xp.sqrt(xp.vdot(flat, flat).real)
        else:
            square = x * x if x.dtype.kind == "f" else x.real * x.real + x.imag * x.imag
            out = xp.sqrt(xp.add.reduce(square, dim, keepdims=keepdim))
    elif ord == 0:
        out = xp.add.reduce(x != 0, dim, dtype=x.real.dtype, keepdims=keepdim)
    elif ord == 1:
        out = xp.add.reduce(xp.abs(x), dim, keepdims=keepdim)
    elif ord == math.inf:
        out = xp.maximum.reduce(xp.abs(x), dim, keepdims=keepdim)
    elif ord == -math.inf:
        out = xp.minimum.reduce(xp.abs(x), dim, keepdims=keepdim)
    else:
        with np.errstate(all="ignore"):
            out = xp.add.reduce(xp.abs(x) ** ord, dim, keepdims=keepdim) ** (1 / ord)
    return out.astype(real_dtype(input.dtype))


def norm_direction(F: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool, ord: float) -> Any:
    """The gradient of the norm; zero where the norm is zero."""
    if ord == 0:
        return F.zeros_like(input)
    if ord == 1:
        return F.sgn(input)
    if ord == 2:
        return input * restored(F, reciprocal_or_zero(F, out), input.shape, dim, keepdim)
    if abs(ord) == math.inf:
        tied = F.cast(F.abs(input) == restored(F, out, input.shape, dim, keepdim), real_dtype(input_dtype))
        return F.sgn(input) * (tied / F.sum(tied, dim, True))
    ratio = F.where(input == 0, 1, F.abs(input)) * restored(F, reciprocal_or_zero(F, out), input.shape, dim, keepdim)
    if ord < 1:
        ratio = F.where(ratio == 0, math.inf, ratio)
    return F.sgn(input) * ratio ** (ord - 1)


def norm_vjp(F: Any, g: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool, ord: float) -> Any:
    g = restored(F, g, input.shape, dim, keepdim)
    return g * norm_direction(F, input, out, input_dtype, dim, keepdim, ord)


def norm_jvp(F: Any, t: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool, ord: float) -> Any:
    return inner(F, norm_direction(F, input, out, input_dtype, dim, keepdim, ord), t, input_dtype, dim, keepdim)


primitive("vector_norm", vector_norm_kernel, vjp={"input": norm_vjp}, jvp={"input": norm_jvp}, batch=reduce_batch,
          holomorphic=False, node_name="LinalgVectorNormBackward0")  # fmt: skip


@operator(namespace="linalg", method=False)
def vector_norm(x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The vector norm sum(abs(x) ** ord) ** (1 / ord) of all elements, or over some dimensions.

    Its gradient is zero where the norm is zero.

    Parameters
    ----------
    x : Tensor
        Of a floating or complex dtype.
    ord : int or float
        The order: inf takes the largest, -inf the smallest absolute value, 0 counts what is not zero.
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    dtype : dtype, optional
        What to cast to first.

    Returns
    -------
    Tensor
        Real, also for complex ``x``.

    Raises
    ------
    RuntimeError
        For integers, for a dtype narrower than that of ``x``, and for an infinite or negative order of no elements.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.vector_norm(tp.tensor([3., -4.]))
    tensor(5.)
    """
    name = "linalg.vector_norm"
    kind = arg.tensor(x, name, "x")._data.dtype.kind
    if type(ord) is not float and type(ord) is not int:
        ord = arg.real(ord, name, "ord", 2)
    if kind not in "fcV":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype}")
    if dtype is not None:
        wanted = dtypes.dtype_argument(dtype, name, "dtype", 5)
        if not (wanted.is_floating_point or wanted.is_complex):
            raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {wanted}")
        if wanted.is_complex != (kind == "c"):
            words = ("complex", "complex") if kind == "c" else ("real", "real")
            raise RuntimeError(f"{name}: dtype should be {words[0]} for {words[1]} inputs, but got {wanted}")
        if promote_types(wanted, x.dtype) is not wanted:
            raise RuntimeError(f"{name}: the dtype of the input ({x.dtype}) should be convertible without narrowing to "
                               f"the specified dtype ({wanted})")  # fmt: skip
        x = arg.cast(x, wanted, name)
    dims, shape = arg.reduced(dim, x._data.ndim, name), x._data.shape
    if (ord < 0 or ord == math.inf) and 0 in (shape if dims is None else [shape[d] for d in dims]):
        raise RuntimeError(f"{name} cannot compute the {ord} norm on an empty tensor or dimension because the "
                           "operation does not have an identity")  # fmt: skip
    return F.vector_norm(x, dims, arg.flag(keepdim, name, "keepdim"), float(ord))


@operator()
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of all elements as a vector, or over some dimensions.

    Parameters
    ----------
    input : Tensor
        Of a floating or complex dtype.
    p : int, float, inf, -inf, "fro" or "nuc"
        The order, as in :func:`tensorplay.linalg.vector_norm`; "fro" is 2, "nuc" the sum of singular values.
    dim : int or tuple of ints, optional
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    dtype : dtype, optional
        What to cast to first.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.norm(tp.tensor([3., -4.]))
    tensor(5.)
    """
    if isinstance(p, str) and p != "fro":
        if p != "nuc":
            raise RuntimeError(f"norm(): Order {p} not supported.")
        dims = (-2, -1) if dim is None else dim
        return OPERATORS["linalg"]["matrix_norm"].function(input, p, dims, keepdim, dtype=dtype)
    return vector_norm(input, 2 if p is None or isinstance(p, str) else p, dim, keepdim, dtype=dtype)


@operator(out=False)
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of ``input - other``.

    Parameters
    ----------
    input, other : Tensor
        Of shapes that broadcast together.
    p : float
        The order, as in :func:`tensorplay.linalg.vector_norm`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.dist(tp.tensor([1., 2.]), tp.tensor([4., 6.]))
    tensor(5.)
    """
    return vector_norm(arg.tensor(input, "dist") - arg.tensor(other, "dist", "other", 2), p)
