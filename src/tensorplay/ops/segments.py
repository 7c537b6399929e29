"""Reductions of segments: pieces of different lengths, one behind the other along a dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .scatter import scatter_reduce

START = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def segment_lengths(name: str, data: Tensor, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> tuple[Any, Any]:
    """The lengths of all segments, and how many elements of each line stand in front of the first one.

    Raises
    ------
    RuntimeError
        If there are neither lengths nor offsets, or they do not fit the data.
    """
    given = "offsets" if lengths is None else "lengths"
    rows = offsets if lengths is None else lengths
    if rows is None:
        raise RuntimeError(f"{name}(): Either lengths or offsets must be defined.")
    if arg.tensor(rows, name, given)._data.dtype.kind not in "iu":
        raise NotImplementedError(f"{name}(): {given} must be int32 or int64, got {rows.dtype}")
    if rows._data.ndim != axis + 1:
        raise RuntimeError(f"{name}(): Expected axis to be the last dimension of {given} but got {axis}.")
    if rows._data.shape[:axis] != data._data.shape[:axis]:
        raise RuntimeError(f"{name}(): Expected {given} of {list(rows.shape)} to begin with the shape of the data, "
                           f"{list(data.shape)}")  # fmt: skip
    if rows.is_meta:
        n = rows._data.shape[-1] - (given == "offsets")
        return np.zeros((*rows._data.shape[:-1], n), np.int64), np.zeros(rows._data.shape[:-1], np.int64)
    values = arg.values(rows, name)
    if given == "offsets" and not values.shape[-1]:
        raise RuntimeError(f"{name}(): offsets need one element more than there are segments, got none")
    if given == "offsets":
        return np.diff(values), values[..., 0]
    if (values < 0).any():
        raise RuntimeError(f"{name}(): lengths contains negative value!")
    if not unsafe and (values.sum(-1) != data._data.shape[axis]).any():
        raise RuntimeError(
            f"{name}(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe, "
            f"got rows that sum to {values.sum(-1).tolist()} for a dimension of {data._data.shape[axis]}"
        )
    return values, np.zeros(values.shape[:-1], np.int64)


def segment_of_each(lengths: Any, before: Any, extent: int) -> Any:
    """To which segment each element of a line belongs; elements of none belong to one more behind the last."""
    ends = lengths.cumsum(-1) + before[..., None]
    at = np.arange(extent)
    segment = (ends[..., None, :] <= at[:, None]).sum(-1)
    return np.where(at < before[..., None], lengths.shape[-1], segment)


@operator(method=False, aliases=("_segment_reduce",))
def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: None = None, offsets: Tensor | None = None,
    axis: int = 0, unsafe: bool = False, initial: float | None = None,
) -> Tensor:  # fmt: skip
    """The segments of a dimension reduced to one element each.

    Parameters
    ----------
    data : Tensor
        Of a floating dtype.
    reduce : "sum", "mean", "max", "min" or "prod"
    lengths : Tensor, optional
        The lengths of the segments in its last dimension, which stands for ``axis``; those before are the data's.
    indices : None
        Not implemented.
    offsets : Tensor, optional
        In place of lengths, where the segments begin, and where the last one ends.
    axis : int
        The dimension that is divided.
    unsafe : bool
        Whether the segments may leave elements out.
    initial : float, optional
        Takes part in the reduction of each segment. Without it, an empty segment gives what changes nothing under the
        reduction, and nan as its mean.

    Raises
    ------
    RuntimeError
        If lengths or offsets do not fit the data, or the reduction is unknown.
    NotImplementedError
        For data that are not floating, or lengths that are.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.segment_reduce(tp.tensor([1., 2., 3., 4.]), "sum", lengths=tp.tensor([3, 0, 1]))
    tensor([6., 0., 4.])
    """
    name = "segment_reduce"
    if reduce not in START:
        raise RuntimeError(f"{name}(): reduce argument must be either sum, prod, mean, max or min, got {reduce}")
    if indices is not None:
        raise RuntimeError(f"{name}(): indices based reduction is not supported yet.")
    if arg.tensor(data, name, "data")._data.dtype.kind not in "fV":
        raise NotImplementedError(f"{name}(): not implemented for {data.dtype}")
    shape = data._data.shape
    if not shape:
        raise RuntimeError(f"{name}(): expected data of at least one dimension, got a number")
    at = arg.dimension(axis, len(shape), name, "axis") + len(shape)
    counts, before = segment_lengths(name, data, lengths, offsets, at, unsafe)
    n, rest = counts.shape[-1], shape[at + 1 :]
    inner = (1,) * len(rest)
    segment = segment_of_each(counts, before, shape[at])
    index = F.expand(wrap(segment.reshape(*segment.shape, *inner)), shape)
    start = data.new_full((*shape[:at], n + 1, *rest), START[reduce] if initial is None else initial)
    if data.is_meta:
        index = index.to("meta")
    kind = {"max": "amax", "min": "amin", "mean": "sum"}.get(reduce, reduce)
    out = F.slice(scatter_reduce(start, at, index, data, kind), (*(slice(None),) * at, slice(0, n)))
    if reduce != "mean":
        return out
    number = wrap(counts.reshape(*counts.shape, *inner).astype(data._data.dtype))
    if initial is not None:  # which is the mean of nothing, too
        number = F.maximum(number, F.ones_like(number))
    return out / (number.to("meta") if data.is_meta else number)
