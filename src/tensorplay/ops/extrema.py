"""The largest and smallest elements, and where they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import return_types
from ..core.namespace import F
from ..core.operator import operator, renamed
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .reducing import reduce_array
from .reduction import INT64, reduce_batch, restored
from .scatter import places

# ---- largest and smallest elements


def extremum(name: str, choose: Callable[..., Any], node_name: str, nan_shares: bool) -> None:
    """Declare one of the elements, ``choose(xp, input, dim, keepdim)``. Those equal to it share the cotangent evenly.

    Where it is nan, either the nans share the cotangent, or every gradient is nan.
    """

    def kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
        return choose(xp, input, dim, keepdim)

    def share(F: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool) -> Any:
        tied = F.cast(input == restored(F, out, input.shape, dim, keepdim), input_dtype)
        if nan_shares:
            missing = restored(F, F.cast(out != out, input_dtype), input.shape, dim, keepdim)
            tied = tied + F.cast(input != input, input_dtype) * missing
        return tied / F.sum(tied, dim, True)

    def vjp(F: Any, g: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool) -> Any:
        return restored(F, g, input.shape, dim, keepdim) * share(F, input, out, input_dtype, dim, keepdim)

    def jvp(F: Any, t: Any, input: Any, out: Any, input_dtype: Any, dim: Any, keepdim: bool) -> Any:
        return F.sum(t * share(F, input, out, input_dtype, dim, keepdim), dim, keepdim)

    primitive(name, kernel, vjp={"input": vjp}, jvp={"input": jvp}, batch=reduce_batch, node_name=node_name)


def largest(xp: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    return reduce_array(xp.maximum, input, dim, keepdim)


def smallest(xp: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    return reduce_array(xp.minimum, input, dim, keepdim)


extremum("amax", largest, "AmaxBackward0", False)
extremum("amin", smallest, "AminBackward0", False)
extremum("max", largest, "MaxBackward1", True)
extremum("min", smallest, "MinBackward1", True)

# ---- elements at distinct positions along a dimension


def put_along_kernel(xp: Any, input: Any, index: Any, *, extent: int, dim: int) -> Any:
    shape = list(input.shape)
    shape[dim] = extent
    out = np.zeros(shape, input.dtype)
    out[places(index, dim)] = input
    return out


primitive(
    "put_along", put_along_kernel, vjp={"input": lambda F, g, index, dim: F.gather(g, index, dim)},
    jvp={"input": lambda F, t, index, extent, dim: F.put_along(t, index, extent, dim)}, batch="same",
    node_name="ScatterBackward0",
)  # fmt: skip
"""Zeros, and the input where ``gather`` would take it: the transpose of one that takes nothing twice."""


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
        return [F.gather(tangents[0], out[1], dim), None]
    return [without_dim(F, F.gather(tangents[0], with_dim(F, out[1], dim), dim), dim), None]


def picking(name: str, choose: Callable[..., Any], ranked: bool = False, node_name: str = "") -> None:
    """Declare (input, dim, keepdim) -> (values, indices), where ``choose(xp, input, dim)`` gives the indices, kept.

    It may also give the values, as a second result. If ``ranked``, there is one more attribute, the rank ``k``,
    which ``choose`` takes last.
    """

    def finish(chosen: Any, input: Any, dim: int, keepdim: bool) -> Any:
        index, values = chosen if type(chosen) is tuple else (chosen, input[places(chosen, dim)])
        return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))

    def kernel(xp: Any, input: Any, *, dim: int, keepdim: bool) -> Any:
        return finish(choose(xp, input, dim), input, dim, keepdim)

    def ranked_kernel(xp: Any, input: Any, *, dim: int, keepdim: bool, k: int) -> Any:
        return finish(choose(xp, input, dim, k), input, dim, keepdim)

    node_name = node_name or name.removesuffix("_dim").capitalize() + "Backward0"
    primitive(name, ranked_kernel if ranked else kernel, vjp={"input": picked_vjp}, jvp=picked_jvp, batch="same",
              outputs=2, read=(1,), node_name=node_name)  # fmt: skip


def first_largest(xp: Any, input: Any, dim: int) -> Any:
    return input.argmax(dim, keepdims=True), reduce_array(xp.maximum, input, (dim,), True)


def first_smallest(xp: Any, input: Any, dim: int) -> Any:
    return input.argmin(dim, keepdims=True), reduce_array(xp.minimum, input, (dim,), True)


picking("max_dim", first_largest)
picking("min_dim", first_smallest)


def picked(name: str, input: Tensor, dim: Any, keepdim: bool, *attrs: Any) -> Any:
    """(values, indices) of a primitive declared by :func:`picking`, named; a 0-dim tensor counts as a line of one."""
    d = arg.dimension(dim, arg.tensor(input, name)._data.ndim, name)
    ordered(input, name)
    arg.flag(keepdim, name, "keepdim")
    arg.nonempty(input, (d,), name)
    if not input._data.ndim:
        input, keepdim = F.reshape(input, (1,)), False
    return getattr(return_types, name)(*getattr(F, name + "_dim")(input, d, keepdim, *attrs))


def ordered(input: Tensor, name: str) -> None:
    """Refuse complex numbers, which have no order."""
    if arg.tensor(input, name)._data.dtype.kind == "c":
        raise NotImplementedError(f"{name}(): not implemented for {input.dtype}: complex numbers have no order")


def extreme_values(name: str, input: Tensor, dim: Any, keepdim: bool, primitive: str) -> Tensor:
    ordered(input, name)
    dims = arg.reduced(dim, input._data.ndim, name)
    arg.nonempty(input, dims, name)
    return getattr(F, primitive)(input, dims, arg.flag(keepdim, name, "keepdim"))


@operator(out="exact")
def amax(input: Tensor, dim: Any = (), keepdim: bool = False, **numpy_names: Any) -> Tensor:
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
    if numpy_names:
        return renamed(amax, numpy_names, input, dim=dim, keepdim=keepdim)
    return extreme_values("amax", input, dim, keepdim, "amax")


@operator(out="exact")
def amin(input: Tensor, dim: Any = (), keepdim: bool = False, **numpy_names: Any) -> Tensor:
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
    if numpy_names:
        return renamed(amin, numpy_names, input, dim=dim, keepdim=keepdim)
    return extreme_values("amin", input, dim, keepdim, "amin")


def extreme(name: str, input: Tensor, dim: Any, keepdim: bool, other: Any) -> Any:
    """The three forms of max and min."""
    if dim is None and other is None:
        if keepdim is not False:
            raise TypeError(f"{name}(): argument 'keepdim' needs 'dim'")
        ordered(input, name)
        arg.nonempty(input, None, name)
        return getattr(F, name)(input, None, False)
    if other is None and (keepdim is not False or not isinstance(dim, Tensor)):
        return picked(name, input, dim, keepdim)
    if other is not None and dim is not None:
        raise TypeError(f"{name}(): got both 'dim' and 'other'; pass one of them")
    return getattr(F, name + "imum")(input, dim if other is None else other)


@operator()
def max(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None, **numpy_names: Any
) -> Any:
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
    if numpy_names:
        return renamed(max, numpy_names, input, dim=dim, keepdim=keepdim, other=other)
    return extreme("max", input, dim, keepdim, other)


@operator()
def min(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None, **numpy_names: Any
) -> Any:
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
    if numpy_names:
        return renamed(min, numpy_names, input, dim=dim, keepdim=keepdim, other=other)
    return extreme("min", input, dim, keepdim, other)


@operator(out="exact")
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element, of all or along a dimension. Elements that tie share the gradient evenly.

    Parameters
    ----------
    input : Tensor
    dim : int, optional
        The dimension to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.

    Returns
    -------
    return_types.aminmax
        A tuple (min, max).

    Raises
    ------
    IndexError, RuntimeError
        If there is no element to choose from.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.aminmax(tp.tensor([3., 1., 2.])).max
    tensor(3.)
    """
    dims: Any = () if dim is None else arg.integer(dim, "aminmax", "dim")
    low = extreme_values("aminmax", input, dims, keepdim, "amin")
    return return_types.aminmax(low, extreme_values("aminmax", input, dims, keepdim, "amax"))


def position(name: str, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    ordered(input, name)
    if input._data.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input; cast it first, as in input.to(uint8)")
    shape = input._data.shape
    arg.flag(keepdim, name, "keepdim")
    if dim is None:
        if input._data.size == 0:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        flat = getattr(F, name)(F.reshape(input, (math.prod(shape),)), -1)
        return F.reshape(flat, (1,) * len(shape)) if keepdim else flat
    d = arg.dimension(dim, len(shape), name)
    arg.nonempty(input, (d,), name)
    if not shape:
        return F.zeros_like(F.cast(input, INT64))
    out = getattr(F, name)(input, d)
    return with_dim(F, out, d) if keepdim else out


primitive("argmax", lambda xp, input, *, dim: input.argmax(dim), batch="same")
primitive("argmin", lambda xp, input, *, dim: input.argmin(dim), batch="same")


@operator(out="exact")
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False, **numpy_names: Any) -> Tensor:
    """The index (int64) of the largest element, of all in row-major order or along a dimension; the first of several.

    Parameters
    ----------
    input : Tensor
    dim : int, optional
        The dimension to reduce; by default the tensor counts as flattened.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.

    Raises
    ------
    IndexError
        If there is no element to choose from.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.argmax(tp.tensor([[1., 5.], [3., 2.]]), dim=1)
    tensor([1, 0])
    """
    if numpy_names:
        return renamed(argmax, numpy_names, input, dim=dim, keepdim=keepdim)
    return position("argmax", input, dim, keepdim)


@operator(out="exact")
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False, **numpy_names: Any) -> Tensor:
    """The index (int64) of the smallest element, of all in row-major order or along a dimension; the first of several.

    Parameters
    ----------
    input : Tensor
    dim : int, optional
        The dimension to reduce; by default the tensor counts as flattened.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.

    Raises
    ------
    IndexError
        If there is no element to choose from.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.argmin(tp.tensor([[1., 5.], [3., 2.]]), dim=1)
    tensor([0, 1])
    """
    if numpy_names:
        return renamed(argmin, numpy_names, input, dim=dim, keepdim=keepdim)
    return position("argmin", input, dim, keepdim)
