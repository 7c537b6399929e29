"""Reductions: sums, products, extrema, logical tests, moments, norms.

The attribute ``dim`` of a primitive is None (all dimensions) or a tuple of dimensions counted from the end.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core import return_types
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments as arg

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


def wide(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype to accumulate in: float32 for the short floats, int64 for integers, None for the dtype itself."""
    return None if dtype.char in "dfDF" else FLOAT32 if dtype.kind in "fV" else INT64


# ---- sum and mean


def sum_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
    dtype = input.dtype
    if dtype.char in "dfDF":
        return xp.add.reduce(input, dim, keepdims=True) if keepdim else xp.add.reduce(input, dim)
    out = xp.add.reduce(input, dim, dtype=wide(dtype), keepdims=keepdim)
    return out.astype(dtype) if dtype.kind in "fV" else out


primitive("sum", sum_kernel, vjp={"input": spread}, jvp="linear", batch=reduce_batch)


@operator()
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
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
    if dtype is not None:
        input = arg.cast(input, dtype, "sum")
    if dim is not None:
        dim = arg.reduced(dim, arg.tensor(input, "sum")._data.ndim, "sum")
    if keepdim is not False:
        arg.flag(keepdim, "sum", "keepdim")
    out = F.sum(input, dim, keepdim)
    return out if dtype is None else arg.cast(out, dtype, "sum")


def mean_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
    n, dtype = input.size if dim is None else count_of(input.shape, dim), input.dtype
    if dtype.char in "dfDF":
        return (xp.add.reduce(input, dim, keepdims=True) if keepdim else xp.add.reduce(input, dim)) / n
    return (xp.add.reduce(input, dim, dtype=FLOAT32, keepdims=keepdim) / n).astype(dtype)


def mean_vjp(F: Any, g: Any, input_shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    return spread(F, g / (count_of(input_shape, dim) or 1), input_shape, dim, keepdim)


primitive("mean", mean_kernel, vjp={"input": mean_vjp}, jvp="linear", batch=reduce_batch)


@operator()
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
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
    if dtype is not None:
        input = arg.cast(input, dtype, "mean")
    if dim is not None:
        dim = arg.reduced(dim, arg.tensor(input, "mean")._data.ndim, "mean")
    if keepdim is not False:
        arg.flag(keepdim, "mean", "keepdim")
    if arg.tensor(input, "mean")._data.dtype.kind not in "fcV":
        whose = "Input dtype" if dtype is None else "Optional dtype"
        raise RuntimeError(f"mean(): could not infer output dtype. {whose} must be either a floating point or complex dtype. "
                           f"Got: {input.dtype}; pass dtype=")  # fmt: skip
    return F.mean(input, dim, keepdim)


# ---- product


def product_of_others(F: Any, x: Any, dim: int) -> Any:
    """For each element the product of all others along a dimension.

    Multiplications alone, so that zeros need no care: of what stands before and behind over arrays, by pairs and pairs of
    pairs over Tensors, where every higher derivative is then right, too.
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
    out = xp.multiply.reduce(input, dim, dtype=wide(dtype), keepdims=keepdim)
    return out.astype(dtype) if dtype.kind in "fV" and dtype.itemsize == 2 else out


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
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
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
    ndim = arg.tensor(input, "prod")._data.ndim
    if dtype is not None:
        input = arg.cast(input, dtype, "prod")
    dims = None if dim is None else arg.reduced(arg.integer(dim, "prod", "dim"), ndim, "prod")
    out = F.prod(input, dims, arg.flag(keepdim, "prod", "keepdim"))
    return out if dtype is None else arg.cast(out, dtype, "prod")


# ---- largest and smallest elements


def extremum(name: str, ufunc: str, node_name: str, nan_is_larger: bool) -> None:
    """Declare the values of amax and its like. Elements that tie share the cotangent evenly.

    Where the result is nan, either the nans share it, or every gradient is nan.
    """

    def kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
        return getattr(xp, ufunc).reduce(input, dim, keepdims=keepdim)

    def share(F: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool) -> Any:
        tied = F.cast(input == restored(F, out, input.shape, dim, keepdim), input_dtype)
        if nan_is_larger:
            tied = tied + F.cast(input != input, input_dtype)
        return tied / F.sum(tied, dim, True)

    def vjp(F: Any, g: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool) -> Any:
        return restored(F, g, input.shape, dim, keepdim) * share(F, input, out, input_dtype, dim, keepdim)

    def jvp(F: Any, t: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool) -> Any:
        return F.sum(t * share(F, input, out, input_dtype, dim, keepdim), dim, keepdim)

    primitive(name, kernel, vjp={"input": vjp}, jvp={"input": jvp}, batch=reduce_batch, node_name=node_name)


extremum("amax", "maximum", "AmaxBackward0", False)
extremum("amin", "minimum", "AminBackward0", False)
extremum("max", "maximum", "MaxBackward1", True)
extremum("min", "minimum", "MinBackward1", True)

# ---- picking one element of each line along a dimension; the positions are distinct


def take_along_kernel(xp: Any, input: Any, index: Any, *, dim: int) -> Any:
    return xp.take_along_axis(input, index, dim)


def take_along_vjp(F: Any, g: Any, index: Any, input_shape: tuple[int, ...], dim: int) -> Any:
    return F.put_along(g, index, input_shape[dim], dim)


def take_along_jvp(F: Any, t: Any, index: Any, dim: int) -> Any:
    return F.take_along(t, index, dim)


def put_along_kernel(xp: Any, input: Any, index: Any, *, extent: int, dim: int) -> Any:
    shape = list(input.shape)
    shape[dim] = extent
    out = np.zeros(shape, input.dtype)
    if input.size:
        np.put_along_axis(out, index, input, dim)
    return out


primitive("take_along", take_along_kernel, vjp={"input": take_along_vjp}, jvp={"input": take_along_jvp}, batch="same",
          node_name="GatherBackward0")  # fmt: skip
primitive(
    "put_along", put_along_kernel, vjp={"input": lambda F, g, index, dim: F.take_along(g, index, dim)},
    jvp={"input": lambda F, t, index, extent, dim: F.put_along(t, index, extent, dim)}, batch="same",
    node_name="ScatterBackward0",
)  # fmt: skip
"""Zeros, with the input at the positions ``index``, no two of which are the same."""


def with_dim(F: Any, x: Any, dim: int) -> Any:
    """One more dimension, of extent 1, at ``dim``."""
    shape = tuple(x.shape)
    at = len(shape) + 1 + dim
    return F.reshape(x, (*shape[:at], 1, *shape[at:]))


def without_dim(F: Any, x: Any, dim: int) -> Any:
    """The dimension ``dim``, of extent 1, left out."""
    shape = tuple(x.shape)
    at = len(shape) + dim
    return F.reshape(x, (*shape[:at], *shape[at + 1 :]))


def picked_vjp(F: Any, g: Any, out: Any, input_shape: tuple[int, ...], dim: int, keepdim: bool) -> Any:
    """The vjp of (values, indices) where each value is the element at the index."""
    cotangent, index = g[0], out[1]
    if not keepdim:
        cotangent, index = with_dim(F, cotangent, dim), with_dim(F, index, dim)
    return F.put_along(cotangent, index, input_shape[dim], dim)


def picked_jvp(F: Any, tangents: Any, out: Any, dim: int, keepdim: bool) -> Any:
    if keepdim:
        return [F.take_along(tangents[0], out[1], dim), None]
    return [without_dim(F, F.take_along(tangents[0], with_dim(F, out[1], dim), dim), dim), None]


def picking(name: str, choose: Callable[[Any, Any, int], Any]) -> None:
    """Declare an operator (input, dim, keepdim) -> (values, indices); ``choose(xp, input, dim)`` gives the indices."""

    def kernel(xp: Any, input: Any, *, dim: int, keepdim: bool) -> Any:
        index = xp.expand_dims(choose(xp, input, dim), dim)
        values = xp.take_along_axis(input, index, dim)
        return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))

    primitive(name, kernel, vjp={"input": picked_vjp}, jvp=picked_jvp, batch="same", outputs=2,
              node_name=name.removesuffix("_dim").capitalize() + "Backward0")  # fmt: skip


picking("max_dim", lambda xp, input, dim: input.argmax(dim))
picking("min_dim", lambda xp, input, dim: input.argmin(dim))


def picked(name: str, input: Tensor, dim: Any, keepdim: bool, *attrs: Any) -> Any:
    """(values, indices) of a primitive declared by :func:`picking`, named; a 0-dim tensor counts as a line of one."""
    ordered(input, name)
    d = arg.dimension(dim, input._data.ndim, name)
    arg.flag(keepdim, name, "keepdim")
    arg.nonempty(input, (d,), name)
    if not input._data.ndim:
        input, keepdim = F.reshape(input, (1,)), False
    return getattr(return_types, name)(*getattr(F, name + "_dim")(input, d, keepdim, *attrs))


def ordered(input: Tensor, name: str) -> None:
    """Refuse complex numbers, which have no order."""
    if arg.tensor(input, name)._data.dtype.kind == "c":
        raise NotImplementedError(f"{name}(): not implemented for {input.dtype}: complex numbers have no order")


def extreme_values(name: str, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    ordered(input, name)
    dims = arg.reduced(dim, input._data.ndim, name)
    arg.nonempty(input, dims, name)
    return getattr(F, name)(input, dims, arg.flag(keepdim, name, "keepdim"))


@operator()
def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The largest element, or the largest over some dimensions. Elements that tie share the gradient evenly.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of ints
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.

    Raises
    ------
    IndexError, RuntimeError
        If there is no element to choose from.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.amax(tp.tensor([[1., 5.], [3., 2.]]), 1)
    tensor([5., 3.])
    """
    return extreme_values("amax", input, dim, keepdim)


@operator()
def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The smallest element, or the smallest over some dimensions. Elements that tie share the gradient evenly.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of ints
        The dimensions to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.

    Raises
    ------
    IndexError, RuntimeError
        If there is no element to choose from.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.amin(tp.tensor([[1., 5.], [3., 2.]]), 1)
    tensor([1., 2.])
    """
    return extreme_values("amin", input, dim, keepdim)


def extreme(name: str, input: Tensor, dim: Any, keepdim: bool, other: Any) -> Any:
    """The three forms of max and min."""
    if dim is None and other is None:
        if keepdim is not False:
            raise TypeError(f"{name}(): argument 'keepdim' needs 'dim'")
        ordered(input, name)
        arg.nonempty(input, None, name)
        return getattr(F, name)(input, None, False)
    if other is None and not isinstance(dim, Tensor):
        return picked(name, input, dim, keepdim)
    if other is not None and dim is not None:
        raise TypeError(f"{name}(): got both 'dim' and 'other'; pass one of them")
    return getattr(F, name + "imum")(input, dim if other is None else other)


@operator()
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The largest element; along ``dim`` the largest elements with their indices; or the larger of two tensors.

    Parameters
    ----------
    input : Tensor
    dim : int or Tensor, optional
        The dimension to reduce; or a second tensor, to compare with element by element.
    keepdim : bool
        Whether the reduced dimension stays, with extent 1.
    other : Tensor, optional
        The second tensor, by name.

    Returns
    -------
    Tensor or return_types.max
        With ``dim`` a tuple (values, indices): of elements that tie, the first, which alone receives the gradient.
        Without, elements that tie share the gradient evenly. A nan counts as largest.

    Raises
    ------
    IndexError, RuntimeError
        If there is no element to choose from.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([[1., 5.], [3., 2.]])
    >>> x.max()
    tensor(5.)
    >>> x.max(dim=1)
    tensorplay.return_types.max(
    values=tensor([5., 3.]),
    indices=tensor([1, 0]))
    """
    return extreme("max", input, dim, keepdim, other)


@operator()
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The smallest element; along ``dim`` the smallest elements with their indices; or the smaller of two tensors.

    Parameters
    ----------
    input : Tensor
    dim : int or Tensor, optional
        The dimension to reduce; or a second tensor, to compare with element by element.
    keepdim : bool
        Whether the reduced dimension stays, with extent 1.
    other : Tensor, optional
        The second tensor, by name.

    Returns
    -------
    Tensor or return_types.min
        With ``dim`` a tuple (values, indices): of elements that tie, the first, which alone receives the gradient.
        Without, elements that tie share the gradient evenly. A nan counts as smallest.

    Raises
    ------
    IndexError, RuntimeError
        If there is no element to choose from.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1., 5.], [3., 2.]]).min(dim=1).values
    tensor([1., 2.])
    """
    return extreme("min", input, dim, keepdim, other)
