"""Selecting and writing by masks, and the positions where elements are not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.inplace import check_writable, update
from ..core.namespace import F
from ..core.operator import operator, write_out
from ..core.primitive import PRIMITIVES, primitive
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .indexing import fill_where_store, getitem
from .scatter import changes, index_put, number
from .selection import clamped


def bool_mask(mask: Any, name: str, position: int = 2) -> Tensor:
    if arg.tensor(mask, name, "mask", position)._data.dtype.kind != "b":
        raise RuntimeError(f"{name}(): only supports boolean masks, but got mask with dtype {mask.dtype}")
    return mask


@operator(out="apart")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask is true, in one dimension; input and mask broadcast.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([3, 1, 2])
    >>> x.masked_select(x > 1)
    tensor([3, 2])
    """
    chosen = arg.values(bool_mask(mask, "masked_select"), "masked_select")
    shape = arg.broadcast_shape("masked_select", arg.tensor(input, "masked_select")._data.shape, chosen.shape)
    index = wrap(np.flatnonzero(np.broadcast_to(chosen, shape)))
    flat = F.reshape(input if input._data.shape == shape else F.expand(input, shape), (int(np.prod(shape, dtype=int)),))
    return F.index(flat, index, -1)


@operator(out=False)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The input with one number where a mask is true; input and mask broadcast.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([3, 1, 2])
    >>> x.masked_fill(x > 1, 0)
    tensor([0, 1, 0])
    """
    mask, filler = bool_mask(mask, "masked_fill"), number(value, arg.tensor(input, "masked_fill"), "masked_fill")
    shape = arg.broadcast_shape("masked_fill", input._data.shape, mask._data.shape)
    return F.fill_where(input if input._data.shape == shape else F.expand(input, shape), mask, filler)


@operator(out=False, function=False)
def masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """In-place form of :func:`masked_fill`: changes ``input`` and returns it."""
    check_writable(input, "masked_fill_")
    mask, filler = bool_mask(mask, "masked_fill_"), number(value, input, "masked_fill_")
    whole = arg.broadcast_shape("masked_fill_", input._data.shape, mask._data.shape)
    if whole != input._data.shape:
        raise RuntimeError(
            f"masked_fill_(): output with shape {list(input.shape)} doesn't match the broadcast shape {list(whole)}"
        )
    return update(input, PRIMITIVES["fill_where"], (mask, filler), (), fill_where_store, "masked_fill_")


@changes(out=False, documented={"source": "tensor"})
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """The input with the elements of ``source``, one after the other, where a mask is true.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(3).masked_scatter(tp.tensor([True, False, True]), tp.tensor([1., 2.]))
    tensor([1., 0., 2.])
    """
    if arg.tensor(input, "masked_scatter").is_meta:
        return F.clone(F.expand(input, arg.broadcast_shape("masked_scatter", input._data.shape, mask._data.shape)))
    chosen = arg.values(bool_mask(mask, "masked_scatter"), "masked_scatter")
    if arg.tensor(source, "masked_scatter", "source", 3)._data.dtype != input._data.dtype:
        raise RuntimeError(f"masked_scatter(): expected self and source to have same dtypes but got {input.dtype} and "
                           f"{source.dtype}")  # fmt: skip
    shape = arg.broadcast_shape("masked_scatter", input._data.shape, chosen.shape)
    index = np.flatnonzero(np.broadcast_to(chosen, shape))
    if source._data.size < index.size:
        raise RuntimeError(
            f"masked_scatter(): Number of elements of source ({source._data.size}) < number of ones in mask "
            f"({index.size})"
        )
    values = F.slice(F.reshape(source, (source._data.size,)), (slice(0, index.size),))
    if shape != input._data.shape:
        input = F.expand(input, shape)
        return F.put(input, wrap(index), values, -len(shape), len(shape), False)
    if not shape:
        return F.reshape(F.put(F.reshape(input, (1,)), wrap(index), values, -1, 1, False), ())
    return "put", (wrap(index), values), (-len(shape), len(shape), False)


# ---- entries by indices that may lie outside where a mask is false


def within(input: Tensor, indices: Any, name: str) -> tuple[Tensor, ...]:
    """Index tensors with what lies outside moved to the nearest end."""
    indices = arg.tensors(indices, name, "indices", 3)
    return tuple(clamped(i, -n, n - 1) for i, n in zip(indices, input._data.shape))


@operator(method=False, out=False)
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Any, fill: complex) -> Tensor:
    """``input[indices]`` where a mask is true, a number elsewhere.

    Parameters
    ----------
    input : Tensor
    mask : Tensor
        Of bools; broadcast with ``input[indices]``.
    indices : sequence of Tensor
        Integers, one tensor for each of the first dimensions. Those outside the input count as its nearest end.
    fill : number

    Examples
    --------
    >>> import tensorplay as tp
    >>> x, index = tp.tensor([1., 2.]), tp.tensor([0, 5])
    >>> tp._unsafe_masked_index(x, index < 2, (index,), 7)
    tensor([1., 7.])
    """
    name = "_unsafe_masked_index"
    taken = getitem(input, within(arg.tensor(input, name), indices, name))
    return masked_fill(taken, F.logical_not(bool_mask(mask, name)), fill)


@operator(method=False, out=False)
def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Any, values: Tensor) -> Tensor:
    """The input with ``values`` added at ``input[indices]`` where a mask is true.

    Parameters
    ----------
    input : Tensor
    mask : Tensor
        Of bools; broadcast with the values.
    indices : sequence of Tensor
        Integers, one tensor for each of the first dimensions. Those outside the input count as its nearest end.
    values : Tensor
        Of the dtype of the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x, index = tp.tensor([1., 2.]), tp.tensor([0, 5])
    >>> tp._unsafe_masked_index_put_accumulate(x, index < 2, (index,), tp.tensor([10., 10.]))
    tensor([11.,  2.])
    """
    name = "_unsafe_masked_index_put_accumulate"
    added = masked_fill(arg.tensor(values, name, "values", 4), F.logical_not(bool_mask(mask, name)), 0)
    return index_put(input, within(arg.tensor(input, name), indices, name), added, True)


# ---- where elements are not zero


def nonzero_kernel(xp: Any, input: Any) -> Any:
    if not input.ndim:
        return np.zeros((int(bool(input)), 0), np.int64)
    return np.stack(input.nonzero(), axis=-1)


def nonzero_batch(p: Any, values: Any, dims: Any) -> Any:
    rows = [F.nonzero(F.slice(values[0], (i,))) for i in range(values[0]._data.shape[0])]
    if any(r._data.shape != rows[0]._data.shape for r in rows):
        raise RuntimeError(
            "vmap: nonzero() finds a different number of positions in different examples, which cannot be one tensor. "
            "Use where() to choose between values instead"
        )
    return F.stack(*rows, dim=-3)


def nonzero_meta(input: Any) -> Any:
    raise NotImplementedError("nonzero(): how many positions there are depends on values, which a meta tensor lacks")


primitive("nonzero", nonzero_kernel, batch=nonzero_batch, meta=nonzero_meta)


@operator()
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The positions of all elements that are not zero: one row each; or a tuple with a vector for each dimension.

    Raises
    ------
    RuntimeError
        Under vmap, where the number of positions would differ from example to example; for ``out`` of another dtype
        than int64, or with ``as_tuple``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nonzero(tp.tensor([0, 5, 0, 7]))
    tensor([[1],
            [3]])
    """
    if out is not None:
        arg.tensor(out, "nonzero", "out", 2)
        if as_tuple:
            raise RuntimeError("nonzero(): does not support the out kwarg when as_tuple is True")
        return write_out("nonzero", nonzero(input), out, True)
    if not as_tuple:
        return F.nonzero(arg.tensor(input, "nonzero"))
    rows = F.nonzero(input if arg.tensor(input, "nonzero")._data.ndim else F.reshape(input, (1,)))
    return F.unbind(rows, -1)


@operator(out=False)
def argwhere(input: Tensor) -> Tensor:
    """The positions of all elements that are not zero, one row each.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.argwhere(tp.tensor([[0, 5], [7, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    return nonzero(input)


@operator()
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first ``size`` positions of elements that are not zero, one row each, filled up if there are fewer.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nonzero_static(tp.tensor([0, 5, 0, 7]), size=3)
    tensor([[ 1],
            [ 3],
            [-1]])
    """
    size = arg.integer(size, "nonzero_static", "size", 2)
    if size < 0:
        raise RuntimeError(f"nonzero_static(): size must be non-negative, got {size}")
    return F.nonzero_static(
        arg.tensor(input, "nonzero_static"), size, arg.integer(fill_value, "nonzero_static", "fill_value", 3)
    )


def nonzero_static_kernel(xp: Any, input: Any, *, size: int, fill_value: int) -> Any:
    out = np.full((size, input.ndim), fill_value, np.int64)
    found = nonzero_kernel(np, input)[:size]
    out[: len(found)] = found
    return out


primitive("nonzero_static", nonzero_static_kernel, batch="loop")
