"""Sorting, selecting by rank, searching in what is sorted, and sets of values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import return_types
from ..core.interop import readable
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .extrema import extremum, ordered, picked, picking, with_dim
from .kernels import widened
from .scatter import places

INT64 = np.dtype(np.int64)
PACKED = 4096  # elements from which one sort of packed integers beats a stable argsort

# ---- the order of the elements along a dimension; equal ones keep theirs, and nan is largest


def order(xp: Any, x: Any, dim: int, descending: bool = False) -> Any:
    """The indices that sort."""
    if x.dtype.kind in "fV" and x.dtype.itemsize == 2:
        x = x.astype(np.float32)
    large = x.size >= PACKED
    if large and (keys := packed(x, dim, descending)) is not None:
        keys.sort(dim)
        return np.remainder(keys, x.shape[dim], out=keys)
    argsort = quick_argsort if large else stable_argsort
    if not descending:
        return argsort(xp, x, dim)
    turned = (..., slice(None, None, -1), *(slice(None),) * (-1 - dim))
    return (x.shape[dim] - 1) - argsort(xp, x[turned], dim)[turned]


def part(x: Any, dim: int, start: int, stop: int | None) -> Any:
    """A slice of an array along one dimension."""
    return x[(..., slice(start, stop), *(slice(None),) * (-1 - dim))]


def stable_argsort(xp: Any, x: Any, dim: int) -> Any:
    return x.argsort(dim, kind="stable")


def quick_argsort(xp: Any, x: Any, dim: int) -> Any:
    """Quicksort; then equal elements are put into their order by a sort of (number of the run, index), packed."""
    index, n = x.argsort(dim), x.shape[dim]
    values = np.moveaxis(x[places(index, dim)], dim, 0)
    new = np.ones(values.shape, bool)
    new[1:] = (values[1:] != values[:-1]) & ((values[1:] == values[1:]) | (values[:-1] == values[:-1]))
    if new.all():
        return index
    keys = np.moveaxis(np.cumsum(new, 0), 0, dim) * n + index
    keys.sort(dim)
    return np.remainder(keys, n, out=keys)


def packed(x: Any, dim: int, descending: bool) -> Any:
    """Integers that sort as the elements do and hold their index in the lowest digits; None if that takes more bits."""
    n = x.shape[dim]
    if x.dtype == np.float32:  # the bits of floats order as integers, but for negative ones, which run backwards
        bits = (x + np.float32(0)).view(np.int32)  # -0. becomes 0.
        keys = np.where(bits < 0, bits ^ 0x7FFFFFFF, bits).astype(np.int64)
        keys[x != x] = 0x7FFFFFFF
        low, high = -(1 << 31), 1 << 31
    elif x.dtype.kind in "biu":
        low, high = int(x.min()), int(x.max())
        keys = None
    else:
        return None
    if (high - low + 1) * n >= 1 << 62:
        return None
    if keys is None:
        keys = x.astype(np.int64)  # wraps around for large uint64, and the difference wraps back
    keys = np.subtract(high, keys, out=keys) if descending else np.subtract(keys, low, out=keys)
    keys *= n
    keys += np.arange(n).reshape(-1, *(1,) * (-1 - dim))
    return keys


def sort_kernel(xp: Any, input: Any, *, dim: int, descending: bool) -> Any:
    index = order(xp, input, dim, descending)
    return input[places(index, dim)], index


def lines_vjp(F: Any, g: Any, out: Any, input_shape: tuple[int, ...], dim: int) -> Any:
    return F.put_along(g[0], out[1], input_shape[dim], dim)


def lines_jvp(F: Any, tangents: Any, out: Any, dim: int) -> Any:
    return [F.gather(tangents[0], out[1], dim), None]


primitive("sort", sort_kernel, vjp={"input": lines_vjp}, jvp=lines_jvp, batch="same", outputs=2, read=(1,))


def lines(name: str, input: Tensor, d: int, *attrs: Any) -> Any:
    """(values, indices) along a dimension; a 0-dim tensor counts as a line of one."""
    if input._data.ndim:
        return getattr(return_types, name)(*getattr(F, name)(input, d, *attrs))
    values, indices = getattr(F, name)(F.reshape(input, (1,)), d, *attrs)
    return getattr(return_types, name)(F.reshape(values, ()), F.reshape(indices, ()))


def comparable(input: Tensor, name: str) -> Tensor:
    """Refuse complex numbers, which have no order."""
    if arg.tensor(input, name)._data.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex dtypes, which have no order; got {input.dtype}")
    return input


@operator(out="exact")
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> return_types.sort:
    """Sort along a dimension. A nan counts as largest.

    Parameters
    ----------
    input : Tensor
        Not complex.
    dim : int
        The dimension to sort along.
    descending : bool
        Whether the largest come first.
    stable : bool, optional
        Equal elements always keep their order, whatever is given here.

    Returns
    -------
    return_types.sort
        A tuple (values, indices).

    Raises
    ------
    RuntimeError
        For complex tensors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.sort(tp.tensor([2., 3., 1.]))
    tensorplay.return_types.sort(
    values=tensor([1., 2., 3.]),
    indices=tensor([2, 0, 1]))
    """
    d = arg.dimension(dim, arg.tensor(input, "sort")._data.ndim, "sort")
    comparable(input, "sort")
    return lines("sort", input, d, arg.flag(descending, "sort", "descending"))


@operator(out=False)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The indices (int64) that sort along a dimension; equal elements keep their order.

    Parameters
    ----------
    input : Tensor
        Not complex.
    dim : int
        The dimension to sort along.
    descending : bool
        Whether the largest come first.
    stable : bool
        Equal elements always keep their order, whatever is given here.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.argsort(tp.tensor([2., 3., 1.]))
    tensor([2, 0, 1])
    """
    d = arg.dimension(dim, arg.tensor(input, "argsort")._data.ndim, "argsort")
    comparable(input, "argsort")
    return lines("sort", input, d, arg.flag(descending, "argsort", "descending")).indices


@operator(out="exact")
def msort(input: Tensor) -> Tensor:
    """Sort along the first dimension: the values alone.

    Parameters
    ----------
    input : Tensor
        Not complex.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.msort(tp.tensor([[2, 1], [1, 3]]))
    tensor([[1, 1],
            [2, 3]])
    """
    return lines("sort", comparable(input, "msort"), -input._data.ndim or -1, False).values


# ---- selection by rank


def topk_kernel(xp: Any, input: Any, *, dim: int, k: int, largest: bool) -> Any:
    n = input.shape[dim]
    if 8 * k < n:
        x = input.astype(np.float32) if input.dtype.kind == "V" else input
        chosen = x.argpartition(n - k if largest and k else k, dim)
        chosen = np.sort(part(chosen, dim, n - k, n) if largest else part(chosen, dim, 0, k), dim)
        chosen = chosen[places(order(xp, input[places(chosen, dim)], dim, largest), dim)]
    else:
        chosen = part(order(xp, input, dim, largest), dim, 0, k)
    return input[places(chosen, dim)], chosen


primitive("topk", topk_kernel, vjp={"input": lines_vjp}, jvp=lines_jvp, batch="same", outputs=2, read=(1,))


@operator(out="exact")
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> return_types.topk:
    """The k largest or smallest elements along a dimension, the most extreme first. A nan counts as largest.

    Parameters
    ----------
    input : Tensor
        Not complex or bool.
    k : int
        How many.
    dim : int
        The dimension to select along.
    largest : bool
        Whether the largest, or else the smallest.
    sorted : bool
        The result is always sorted, whatever is given here.

    Returns
    -------
    return_types.topk
        A tuple (values, indices).

    Raises
    ------
    RuntimeError
        If there are fewer than k elements, and for complex and bool tensors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.topk(tp.tensor([2., 3., 1.]), 2)
    tensorplay.return_types.topk(
    values=tensor([3., 2.]),
    indices=tensor([1, 0]))
    """
    data = comparable(input, "topk")._data
    if data.dtype.kind == "b":
        raise RuntimeError("topk(): does not support bool; cast it first, as in input.to(uint8)")
    d, k = arg.dimension(dim, data.ndim, "topk"), arg.integer(k, "topk", "k", 2)
    n = data.shape[d] if data.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError(f"topk(): selected index k out of range: got {k}, expected 0 to {n}, the size of dim {dim}")
    arg.flag(sorted, "topk", "sorted")
    return lines("topk", input, d, k if data.ndim else 1, arg.flag(largest, "topk", "largest"))


def kth(xp: Any, input: Any, dim: int, k: int) -> Any:
    x = input.astype(np.float32) if input.dtype.kind == "V" else input
    return part(x.argpartition(k, dim), dim, k, k + 1)


picking("kthvalue_dim", kth, ranked=True)


@operator(out="apart")
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> return_types.kthvalue:
    """The k-th smallest element along a dimension, counted from 1, and its index. A nan counts as largest.

    Parameters
    ----------
    input : Tensor
        Not complex or bool.
    k : int
        The rank, from 1.
    dim : int
        The dimension to reduce.
    keepdim : bool
        Whether the reduced dimension stays, with extent 1.

    Returns
    -------
    return_types.kthvalue
        A tuple (values, indices).

    Raises
    ------
    RuntimeError
        If there are fewer than k elements.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.kthvalue(tp.tensor([2., 3., 1.]), 2).values
    tensor(2.)
    """
    numeric(input, "kthvalue")
    shape = input._data.shape
    d, k = arg.dimension(dim, len(shape), "kthvalue"), arg.integer(k, "kthvalue", "k", 2)
    arg.nonempty(input, (d,), "kthvalue")
    if not 1 <= k <= (shape[d] if shape else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}: got {k}")
    return picked("kthvalue", input, dim, keepdim, k - 1)


def numeric(input: Tensor, name: str) -> None:
    """Refuse what has no order, and bools."""
    ordered(input, name)
    if input._data.dtype.kind == "b":
        raise NotImplementedError(f"{name}(): not implemented for bool; cast it first, as in input.to(uint8)")


def median_position(xp: Any, input: Any, dim: int) -> Any:
    """Where the lower median is; a nan if there is one."""
    rank = (input.shape[dim] - 1) // 2
    middle = part(order(xp, input, dim), dim, rank, rank + 1)
    if input.dtype.kind not in "fV":
        return middle
    missing = input != input
    return xp.where(missing.any(dim, keepdims=True), missing.argmax(dim, keepdims=True), middle)


def nanmedian_position(xp: Any, input: Any, dim: int) -> Any:
    """Where the lower median of what is not nan is."""
    rank = xp.maximum((input == input).sum(dim, keepdims=True) - 1, 0) // 2
    return order(xp, input, dim)[places(rank, dim)]


for name, position in (("median", median_position), ("nanmedian", nanmedian_position)):
    picking(name + "_dim", position, node_name=name.capitalize() + "Backward1")

    def value_kernel(xp: Any, input: Any, dim: Any, keepdim: bool, position: Any = position) -> Any:
        value = input[places(position(xp, input, dim[0]), dim[0])]
        return value if keepdim else value.squeeze(dim[0])

    extremum(name, value_kernel, name.capitalize() + "Backward0", True)


def middle(name: str, input: Tensor, dim: Any, keepdim: bool) -> Any:
    numeric(input, name)
    if dim is not None:
        return picked(name, input, dim, keepdim)
    if keepdim is not False:
        raise TypeError(f"{name}(): argument 'keepdim' needs 'dim'")
    n = math.prod(input._data.shape)
    if n:
        return getattr(F, name)(F.reshape(input, (n,)), (-1,), False)
    if input._data.dtype.kind not in "fV":
        raise RuntimeError(f"{name}(): there is no median of no integers")
    return input.sum() * math.nan


@operator()
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements, or along a dimension with its index; of two in the middle the lower. nan if one is.

    Parameters
    ----------
    input : Tensor
        Not complex or bool.
    dim : int, optional
        The dimension to reduce; all of them by default.
    keepdim : bool
        Whether the reduced dimension stays, with extent 1.

    Returns
    -------
    Tensor or return_types.median
        With ``dim`` a tuple (values, indices).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.median(tp.tensor([4., 1., 3., 2.]))
    tensor(2.)
    """
    return middle("median", input, dim, keepdim)


@operator()
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not nan, of all or along a dimension with its index; of two the lower.

    Parameters
    ----------
    input : Tensor
        Not complex or bool.
    dim : int, optional
        The dimension to reduce; all of them by default.
    keepdim : bool
        Whether the reduced dimension stays, with extent 1.

    Returns
    -------
    Tensor or return_types.nanmedian
        With ``dim`` a tuple (values, indices). Where all elements are nan the value is.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nanmedian(tp.tensor([1., float("nan"), 3., 2.]))
    tensor(2.)
    """
    return middle("nanmedian", input, dim, keepdim)


def mode_position(xp: Any, input: Any, dim: int) -> Any:
    """The end of the longest run of equal elements in sorted order; of several the first."""
    index = order(xp, input, dim)
    values = input[places(index, dim)]
    place = xp.arange(input.shape[dim]).reshape(-1, *(1,) * (-1 - dim))
    starts = xp.zeros(values.shape, bool)
    part(starts, dim, 1, None)[...] = part(values, dim, 1, None) != part(values, dim, 0, -1)
    run = place - xp.maximum.accumulate(xp.where(starts, place, 0), dim)
    return index[places(run.argmax(dim, keepdims=True), dim)]


picking("mode_dim", mode_position)


@operator(out="exact")
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> return_types.mode:
    """The most frequent element along a dimension, of several the smallest, and the index of its last occurrence.

    Parameters
    ----------
    input : Tensor
        Not complex.
    dim : int
        The dimension to reduce.
    keepdim : bool
        Whether the reduced dimension stays, with extent 1.

    Returns
    -------
    return_types.mode
        A tuple (values, indices).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.mode(tp.tensor([3, 1, 3, 2]))
    tensorplay.return_types.mode(
    values=tensor(3),
    indices=tensor(2))
    """
    return picked("mode", input, dim, keepdim)


# ---- sets of values


def at_positions(input: Tensor, positions: Any, d: int | None) -> Tensor:
    """The flattened elements, or slices along a dimension, at known positions."""
    if d is None:
        return F.take_columns(F.reshape(input, (math.prod(input._data.shape),)), positions)
    ndim = input._data.ndim
    swapped = tuple(-1 if i == d else d if i == -1 else i for i in range(-ndim, 0))
    return F.permute(F.take_columns(F.permute(input, swapped), positions), swapped)


def distinct(name: str, input: Tensor, dim: Any, find: Any, inverse: bool, counts: bool) -> Any:
    """``find(rows)`` gives (positions, inverse, counts) of the distinct rows of a matrix."""
    if arg.tensor(input, name)._data.dtype.kind == "c":
        raise NotImplementedError(f"{name}(): not implemented for {input.dtype}: complex numbers have no order")
    array = readable(input, name)
    d = None if dim is None else arg.dimension(dim, array.ndim, name)
    if d is not None and not array.ndim:
        raise IndexError(f"{name}(): Dimension specified as {dim} but tensor has no dimensions")
    if d is None:
        if not array.ndim:
            input, d = F.reshape(input, (1,)), None
        rows = array.reshape(-1, 1)
    else:
        rows = np.moveaxis(array, d, 0)
        if 0 in rows.shape[1:]:
            if len(rows):
                raise RuntimeError(f"{name}(): There are 0 sized dimensions, and they aren't selected, so unique "
                                   f"cannot be applied along dim {dim} of shape {list(array.shape)}")  # fmt: skip
        rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    positions, to, n = find(rows.astype(np.float32) if rows.dtype.kind == "V" else rows)
    out = [at_positions(input, positions, d)]
    if inverse:
        out.append(wrap(to.reshape(array.shape) if d is None else to))
    if counts:
        out.append(wrap(n))
    return tuple(out) if len(out) > 1 else out[0]


def run_lengths(starts: Any, size: int) -> tuple[Any, Any, Any]:
    """(positions of the starts, number of the run of each row, lengths of the runs) from a mask of starts."""
    positions = np.flatnonzero(starts)
    return positions, np.cumsum(starts) - 1, np.diff(np.append(positions, size))


def runs_of(rows: Any) -> tuple[Any, Any, Any]:
    starts = np.ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(1)
    return run_lengths(starts, len(rows))


def sorted_sets(rows: Any) -> tuple[Any, Any, Any]:
    """Of the rows sorted lexicographically; each distinct one is at its first position."""
    index = np.lexsort(rows.T[::-1]) if rows.shape[1] > 1 else order(np, rows[:, 0], -1)
    positions, runs, counts = runs_of(rows[index])
    to = np.empty(len(rows), INT64)
    to[index] = runs
    return index[positions], to, counts


@operator(out=False)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or the distinct slices along a dimension, in ascending order.

    Each nan is distinct. Gradients go to the first of equal elements.

    Parameters
    ----------
    input : Tensor
        Not complex.
    sorted : bool
        The result is always sorted, whatever is given here.
    return_inverse : bool
        Whether to return, for each element, where it is in the output.
    return_counts : bool
        Whether to return how often each output occurs.
    dim : int, optional
        The dimension whose slices to compare; by default the elements are.

    Returns
    -------
    Tensor or tuple of Tensors
        The values, then what was asked for, in this order.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.unique(tp.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    return distinct("unique", input, dim, sorted_sets, return_inverse, return_counts)


@operator(out=False)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements, or slices along a dimension, that differ from the one before.

    Parameters
    ----------
    input : Tensor
        Not complex.
    return_inverse : bool
        Whether to return, for each element, where it is in the output.
    return_counts : bool
        Whether to return how long each run is.
    dim : int, optional
        The dimension whose slices to compare; by default the elements are.

    Returns
    -------
    Tensor or tuple of Tensors
        The values, then what was asked for, in this order.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.unique_consecutive(tp.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    return distinct("unique_consecutive", input, dim, runs_of, return_inverse, return_counts)


def isin_kernel(xp: Any, elements: Any, test_elements: Any, *, invert: bool) -> Any:
    return xp.isin(elements, test_elements, invert=invert)


def isin_batch(p: Any, values: list[Any], dims: list[Any], invert: bool) -> Any:
    """Each example with its own tests: all compared with all."""
    elements, tests = values
    if dims[1] is None:
        return p.function(elements, tests, invert)
    size, *shape = tests._data.shape
    tests = F.reshape(tests, (size, *(1,) * (elements._data.ndim - (dims[0] == 0)), math.prod(shape)))
    found = F.any(with_dim(F, elements, -1) == tests, (-1,), False)
    return F.logical_not(found) if invert else found


primitive("isin", isin_kernel, batch=isin_batch)


@operator(method=False, out="exact")
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each element is among others. A nan never is.

    Parameters
    ----------
    elements, test_elements : Tensor or number
        One of them may be a number.
    assume_unique : bool
        Whether neither has equal elements; the result is the same.
    invert : bool
        Whether to test for absence.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.isin(tp.tensor([1, 2, 3]), tp.tensor([2, 5]))
    tensor([False,  True, False])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin(): one of 'elements' and 'test_elements' must be a Tensor, got "
                        f"{type(elements).__name__} and {type(test_elements).__name__}")  # fmt: skip
    both = [x if isinstance(x, Tensor) else wrap(np.asarray(x)) for x in (elements, test_elements)]
    for x in both:
        if x._data.dtype.kind in "bc":
            raise RuntimeError(f"isin(): Unsupported input type encountered: {x.dtype}")
    both = [F.cast(x, np.dtype(np.float32)) if x._data.dtype.kind == "V" else x for x in both]
    return F.isin(*both, arg.flag(invert, "isin", "invert"))


# ---- searching


def searchsorted_kernel(xp: Any, sorted_sequence: Any, input: Any, *, right: bool) -> Any:
    """By bisection; each line of values in its own line of boundaries, or all in the only one."""
    n = sorted_sequence.shape[-1]
    sorted_sequence, input = widened(sorted_sequence), widened(input)  # NumPy knows no order of bfloat16 and integers
    common = xp.result_type(sorted_sequence, input)
    bounds, values = sorted_sequence.astype(common), input.astype(common)
    if bounds.ndim == 1 and common.kind != "V" and (not n or bounds[-1] == bounds[-1]):
        return xp.searchsorted(bounds, values, side="right" if right else "left")
    shape = values.shape
    if bounds.ndim == 1:
        values = values.reshape(-1)
    low, high = xp.zeros(values.shape, INT64), xp.full(values.shape, n)
    for _ in range(n.bit_length()):
        open_, middle = low < high, (low + high) >> 1
        probe = xp.take_along_axis(bounds, xp.minimum(middle, n - 1), -1)
        go = open_ & ~(probe > values if right else probe >= values)
        low, high = xp.where(go, middle + 1, low), xp.where(open_ & ~go, middle, high)
    return low.reshape(shape)


def searchsorted_batch(p: Any, values: list[Any], dims: list[Any], right: bool) -> Any:
    bounds, x = values
    if dims[0] is None and bounds._data.ndim == 1:
        return p.function(bounds, x, right)
    size = next(v._data.shape[0] for v, d in zip(values, dims, strict=True) if d == 0)
    bounds, x = (v if d == 0 else F.expand(v, (size, *v._data.shape)) for v, d in zip((bounds, x), dims, strict=True))
    shape = x._data.shape
    if bounds._data.ndim == 2:
        x = F.reshape(x, (size, math.prod(shape[1:])))
    return F.reshape(p.function(bounds, x, right), shape)


primitive("searchsorted", searchsorted_kernel, batch=searchsorted_batch)


def searched(bounds: Tensor, values: Any, right: bool, out_int32: bool, name: str) -> Tensor:
    if not isinstance(values, Tensor):
        values = wrap(np.asarray(arg.real(values, name, "input", 2)))
    for x in (bounds, values):
        if x._data.dtype.kind in "cb":
            raise NotImplementedError(f"{name}(): not implemented for {x.dtype}")
    out = F.searchsorted(bounds, values, right)
    return F.cast(out, np.dtype(np.int32)) if arg.flag(out_int32, name, "out_int32") else out


@operator(out="exact")
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Where each value would be inserted to keep the last dimension sorted.

    Parameters
    ----------
    sorted_sequence : Tensor
        The boundaries, ascending along the last dimension: one line for all values, or one for each line of them.
    input : Tensor or number
        The values.
    out_int32 : bool
        Whether the result is int32 rather than int64.
    right : bool
        Whether to insert behind equal boundaries rather than before them.
    side : str, optional
        "left" or "right", the same by name.
    sorter : Tensor, optional
        Indices that sort ``sorted_sequence``, if it is not sorted.

    Raises
    ------
    RuntimeError
        If shapes do not fit, or ``side`` and ``right`` contradict each other.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.searchsorted(tp.tensor([1, 3, 5]), tp.tensor([3, 6]))
    tensor([1, 3])
    """
    name = "searchsorted"
    shape = arg.tensor(sorted_sequence, name, "sorted_sequence")._data.shape
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(f"{name}(): side can only be 'left' or 'right' but got {side}")
        if side == "left" and right:
            raise RuntimeError(f"{name}(): side and right can't be set to opposites, got side='left' and right=True")
    if not shape:
        raise RuntimeError(f"{name}(): boundaries tensor should have positive dimension, but got 0 dimension")
    values = tuple(input._data.shape) if isinstance(input, Tensor) else ()
    if len(shape) > 1 and (len(values) != len(shape) or values[:-1] != shape[:-1]):
        raise RuntimeError(f"{name}(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                           "boundaries tensor and input value tensor must match, but we got boundaries tensor "
                           f"{list(shape)} and input value tensor {list(values)}")  # fmt: skip
    if sorter is not None:
        if arg.tensor(sorter, name, "sorter")._data.shape != shape:
            raise RuntimeError(f"{name}(): boundary and sorter must have the same size, but got boundary tensor "
                               f"{list(shape)} and got sorter tensor {list(sorter.shape)}")  # fmt: skip
        if sorter._data.dtype != INT64:
            raise RuntimeError(f"{name}(): sorter must be a tensor of long dtype but got dtype {sorter.dtype}")
        if type(sorter._data) is np.ndarray and sorter._data.size:
            if sorter._data.min() < 0 or sorter._data.max() >= shape[-1]:
                raise RuntimeError(f"{name}(): sorter index out of range for {shape[-1]} boundaries")
        sorted_sequence = F.gather(sorted_sequence, sorter, -1)
    return searched(sorted_sequence, input, right or side == "right", out_int32, name)


@operator(out="exact")
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The bucket of each value: where it would be inserted among the boundaries.

    Parameters
    ----------
    input : Tensor or number
        The values.
    boundaries : Tensor
        Of one dimension, ascending.
    out_int32 : bool
        Whether the result is int32 rather than int64.
    right : bool
        Whether a value equal to a boundary belongs to the bucket behind it rather than before.

    Raises
    ------
    RuntimeError
        If ``boundaries`` has not one dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.bucketize(tp.tensor([3, 6]), tp.tensor([1, 3, 5]))
    tensor([1, 3])
    """
    if arg.tensor(boundaries, "bucketize", "boundaries", 2)._data.ndim != 1:
        raise RuntimeError(f"bucketize(): boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searched(boundaries, input, arg.flag(right, "bucketize", "right"), out_int32, "bucketize")
