"""``x[...]``, reading and writing.

Ints, slices, None and Ellipsis give views and are one primitive, ``slice``. What tensors, lists, masks and bools select
comes down to one primitive too, ``index``: entries along one dimension, at positions that are a tensor. Indices into
several dimensions become one index into these dimensions merged.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.carrier import Meta
from ..core.inplace import check_writable, only_memory, update, write
from ..core.namespace import F
from ..core.primitive import PRIMITIVES, batch_size, primitive
from ..core.state import state
from ..core.tensor import Tensor, wrap
from ..core.versions import note_write
from . import arguments as arg
from .factories import converted
from .writing import constant

ndarray = np.ndarray
FULL = slice(None)
INT64 = np.dtype(np.int64)

# ---- entries along one dimension, and adding them up where they came from


def no_such_index(index: Any, extent: int, dim: int) -> IndexError:
    """The error of the first index that is out of bounds."""
    bad = index[(index < -extent) | (index >= extent)]
    first = bad.reshape(-1)[0] if bad.size else index
    return IndexError(f"index {first} is out of bounds for dimension {dim} with size {extent}")


def index_kernel(xp: Any, input: Any, index: Any, *, dim: int) -> Any:
    if not input.shape[dim] and index.size:
        raise no_such_index(index, 0, dim + input.ndim)
    try:
        return input.take(index, dim)
    except IndexError:
        raise no_such_index(index, input.shape[dim], dim + input.ndim) from None


def index_batch(p: Any, values: Any, dims: Any, dim: int) -> Any:
    """An index of each example into its own rows is one index into the rows of all; else only dimensions move."""
    (input, index), (input_dim, index_dim) = values, dims
    if index_dim is None:
        return F.index(input, index, dim)
    if input_dim is None:
        return to_front(F.index(input, index, dim), dim + 1 - index._data.ndim)
    rows, flat = in_all_rows(input, index, dim)
    out = F.index(rows, flat, -1 - (rows._data.ndim - 1))
    return from_front(out, flat._data.ndim, dim)


def to_front(t: Any, dim: int) -> Any:
    """One dimension, counted from the end, moved to the front."""
    ndim = t._data.ndim
    return F.permute(t, (dim, *(d for d in range(-ndim, 0) if d != dim)))


def from_front(t: Any, index_ndim: int, dim: int) -> Any:
    """Behind the batch dimension of t: its index dimensions, now first, moved to where ``dim`` was."""
    ndim = t._data.ndim
    behind = -1 - dim
    index, rest = range(1 - ndim, index_ndim - ndim), range(index_ndim - ndim, 0)
    split = len(rest) - behind
    return F.permute(t, (-ndim, *rest[:split], *index, *rest[split:]))


def in_all_rows(input: Any, index: Any, dim: int) -> tuple[Any, Any]:
    """The dimension of each example moved behind the batch and merged with it, and the index into the merged one."""
    ndim, size, extent = input._data.ndim, input._data.shape[0], input._data.shape[dim]
    order = (-ndim, dim, *(d for d in range(1 - ndim, 0) if d != dim))
    moved = F.permute(input, order)
    rows = F.reshape(moved, (size * extent, *moved._data.shape[2:]))
    first = wrap(np.arange(size).reshape(size, *(1,) * (index._data.ndim - 1)) * extent)
    return rows, F.add(F.normal_index(index, extent, dim), first)


def normal_index_kernel(xp: Any, index: Any, *, extent: int, dim: int) -> Any:
    """Indices from 0 to extent - 1: negative ones count from the end."""
    if index.size and type(index) is ndarray:
        low = index.min()
        if low < -extent or index.max() >= extent:
            raise no_such_index(index, extent, dim)
        if low >= 0:
            return index
    return xp.where(index < 0, index + extent, index)


primitive("normal_index", normal_index_kernel, batch="same")

index_ = primitive(
    "index",
    index_kernel,
    vjp={"input": lambda F, g, index, input_shape, dim: F.unindex(g, index, input_shape[dim], dim)},
    jvp={"input": lambda F, t, index, dim: F.index(t, index, dim)},
    batch=index_batch,
)
"""``index(input, index, dim)``: the entries along ``dim`` (from the end) at integer positions of any shape, which takes
the place of ``dim``."""


def unindex_kernel(xp: Any, input: Any, index: Any, *, extent: int, dim: int) -> Any:
    behind = -1 - dim
    before = input.ndim - index.ndim - behind
    out = np.zeros((*input.shape[:before], extent, *input.shape[input.ndim - behind :]), input.dtype)
    add_at(out, index, input, dim)
    return out


def unindex_batch(p: Any, values: Any, dims: Any, extent: int, dim: int) -> Any:
    (input, index), (input_dim, index_dim) = values, dims
    if index_dim is None:
        return F.unindex(input, index, extent, dim)
    size = batch_size(values, dims)
    if input_dim is None:
        input = F.expand(input, (size, *input._data.shape))
    ndim, count, behind = input._data.ndim, index._data.ndim - 1, -1 - dim
    places = range(-count - behind, -behind)
    order = (-ndim, *places, *(d for d in range(1 - ndim, 0) if d not in places))
    first = wrap(np.arange(size).reshape(size, *(1,) * count) * extent)
    rest = ndim - 1 - count
    rows = F.unindex(
        F.permute(input, order), F.add(F.normal_index(index, extent, dim), first), size * extent, -1 - rest
    )
    apart = F.reshape(rows, (size, extent, *rows._data.shape[1:]))
    return from_front(apart, 2, dim)


primitive(
    "unindex", unindex_kernel, vjp={"input": lambda F, g, index, dim: F.index(g, index, dim)},
    jvp={"input": lambda F, t, index, extent, dim: F.unindex(t, index, extent, dim)}, batch=unindex_batch,
    node_name="IndexBackwardBackward0",
)  # fmt: skip
"""The transpose of ``index``: entries are added up at their positions among zeros."""

SMALL = 4096
"""Elements up to which scattering through flat positions costs less than importing scipy.sparse would."""


def add_at(out: Any, index: Any, values: Any, dim: int) -> None:
    """``out[..., index, ...] += values`` along ``dim``, in memory, repeated indices included.

    A 1-dim ``np.add.at`` is fast. For rows it is not, and adding the product with a sparse matrix of ones is.
    """
    count = index.size
    if not count or not out.size:
        return
    axis = out.ndim + dim
    before, extent, behind = out.shape[:axis], out.shape[axis], out.shape[axis + 1 :]
    values, index = values.reshape(*before, count, *behind), index.reshape(-1)
    if out.ndim == 1:
        np.add.at(out, index, values)
        return
    if out.dtype.itemsize == 2 and out.dtype.kind in "fV":
        total = np.zeros(out.shape, np.float32)
        add_at(total, index, values.astype(np.float32), dim)
        out += total.astype(out.dtype)
        return
    if not out.flags.c_contiguous or out.dtype.kind == "b":
        np.add.at(out, (*(FULL,) * axis, index), values)
        return
    index = normal_index_kernel(np, index, extent=extent, dim=axis)
    rows, columns = int(np.prod(before, dtype=int)), int(np.prod(behind, dtype=int))
    if values.size < SMALL or rows > 1 and 4 * values.size < out.size:
        flat = (np.arange(rows)[:, None, None] * extent + index[:, None]) * columns + np.arange(columns)
        np.add.at(out.reshape(-1), flat.reshape(-1), values.reshape(-1))
        return
    if rows == 1:
        add_rows(out.reshape(extent, columns), index, values.reshape(count, columns))
        return
    total = np.zeros((extent, *before, *behind), out.dtype)
    add_rows(total.reshape(extent, -1), index, np.moveaxis(values, axis, 0).reshape(count, -1))
    out += np.moveaxis(total, 0, axis)


def add_rows(out: Any, index: Any, values: Any) -> None:
    """``out[index] += values`` for contiguous matrices: out + ones @ values, with a sparse matrix of ones."""
    from scipy.sparse import _sparsetools

    count = index.size
    ones, starts = np.ones(count, out.dtype), np.arange(count + 1, dtype=index.dtype)
    _sparsetools.csc_matvecs(
        out.shape[0], count, out.shape[1], starts, index, ones, values.reshape(-1), out.reshape(-1)
    )


# ---- writing entries


def put_store(out: Any, index: Any, values: Any, dim: int, merged: int, accumulate: bool) -> None:
    """Write to the entries of ``merged`` dimensions that count as one, the first of which is ``dim``, in memory."""
    axis = out.ndim + dim
    if merged != 1:
        flat = out.reshape(merged_shape(out.shape, dim, merged))
        if not np.may_share_memory(flat, out):
            where = np.unravel_index(index, out.shape[axis : axis + merged])
            place = (*(FULL,) * axis, *where)
            if accumulate:
                np.add.at(out, place, values)
            else:
                out[place] = values
            return
        out, dim = flat, dim + merged - 1
    if accumulate:
        shape = (*out.shape[:axis], *index.shape, *out.shape[axis + 1 :])
        add_at(out, index, values if values.shape == shape else np.broadcast_to(values, shape), dim)
    else:
        try:
            out[(*(FULL,) * axis, index)] = values
        except IndexError:
            raise no_such_index(index, out.shape[axis], axis) from None


def put_kernel(xp: Any, input: Any, index: Any, values: Any, *, dim: int, merged: int, accumulate: bool) -> Any:
    out = input.copy(order="C")
    put_store(out, index, values, dim, merged, accumulate)
    return out


def merged_shape(shape: tuple[int, ...], dim: int, count: int) -> tuple[int, ...]:
    """The shape with ``count`` dimensions from ``dim`` on merged."""
    axis = len(shape) + dim
    size = 1
    for n in shape[axis : axis + count]:
        size *= n
    return (*shape[:axis], size, *shape[axis + count :])


def put_input_vjp(F: Any, g: Any, index: Any, dim: int, merged: int, accumulate: bool) -> Any:
    return g if accumulate else F.put(g, index, zero_like(F, g), dim, merged, False)


def zero_like(F_: Any, g: Any) -> Any:
    """A 0-dim zero of the dtype of g, an array or a Tensor as g is."""
    return wrap(np.zeros((), g._data.dtype)) if F_ is F else np.zeros((), g.dtype)


def put_values_vjp(F: Any, g: Any, index: Any, values_shape: Any, dim: int, merged: int, accumulate: bool) -> Any:
    taken = F.index(g if merged == 1 else F.reshape(g, merged_shape(g.shape, dim, merged)), index, dim + merged - 1)
    return taken if taken.shape == values_shape else F.sum_to(taken, values_shape)


def put_jvp(F: Any, tangents: Any, input: Any, values: Any, index: Any, dim: int, merged: int, accumulate: bool) -> Any:
    t = F.zeros_like(input) if tangents[0] is None else tangents[0]
    if tangents[2] is None:
        return t if accumulate else F.put(t, index, zero_like(F, t), dim, merged, False)
    return F.put(t, index, tangents[2], dim, merged, accumulate)


def put_batch(p: Any, values: Any, dims: Any, dim: int, merged: int, accumulate: bool) -> Any:
    (input, index, source), (input_dim, index_dim, source_dim) = values, dims
    size = batch_size(values, dims)
    if input_dim is None:
        input = F.expand(input, (size, *input._data.shape))
    inner = input._data.shape[1:]
    shape = merged_shape(inner, dim, merged)
    dim += merged - 1
    axis = len(shape) + dim
    spread = index._data.shape[index_dim == 0 and 1 or 0 :]
    result = (*shape[:axis], *spread, *shape[axis + 1 :])
    have = source._data.shape[1:] if source_dim == 0 else source._data.shape
    if have != result or source_dim is None:  # to the whole shape of what is written
        lead = (size,) if source_dim == 0 else (1,)
        source = F.expand(F.reshape(source, (*lead, *(1,) * (len(result) - len(have)), *have)), (size, *result))
    flat_input = F.reshape(input, (size, *shape))
    if index_dim is None:
        return F.reshape(F.put(flat_input, index, source, dim, 1, accumulate), (size, *inner))
    rows, flat = in_all_rows(flat_input, index, dim)
    k = len(spread)
    ndim = 1 + len(result)
    places = range(-k - (-1 - dim), -(-1 - dim)) if k else range(0)
    source = F.permute(source, (-ndim, *places, *(d for d in range(1 - ndim, 0) if d not in places)))
    out = F.put(rows, flat, source, -rows._data.ndim, 1, accumulate)
    apart = F.reshape(out, (size, shape[axis], *out._data.shape[1:]))
    return F.reshape(from_front(apart, 2, dim), (size, *inner))


put = primitive(
    "put", put_kernel, vjp={"input": put_input_vjp, "values": put_values_vjp}, jvp=put_jvp, batch=put_batch,
    node_name="IndexPutBackward0",
)  # fmt: skip
"""``put(input, index, values, dim, merged, accumulate)``: the input with the entries that ``index`` takes replaced (or
added to); ``merged`` dimensions from ``dim`` on count as merged into one. The values broadcast."""

# ---- what an index says


def positions_of(item: Any) -> Any:
    """An index that is no int, slice, None or Ellipsis: a bool, or a tensor of integers or bools."""
    if isinstance(item, Tensor) or item is True or item is False:
        return item
    if isinstance(item, (ndarray, np.bool_)):
        array = np.asarray(item)
    elif isinstance(item, (Sequence, range)) and not isinstance(item, (str, bytes)):
        if any(isinstance(i, Tensor) for i in item):
            array = np.array([arg.integer(i, "index", "index") for i in item])
        else:
            array = np.array(item, np.int64) if len(item) == 0 else np.asarray(item)
    elif hasattr(item, "__index__"):
        return item.__index__()
    else:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{type(item).__name__})"
        )
    if array.dtype.kind == "O" or array.dtype.kind in "US":
        raise IndexError(f"an index must be integers or bools, or equal lists of them, got {item!r}")
    return wrap(array)


def as_tuple(index: Any) -> tuple[Any, ...]:
    """The index as one entry per item; a list that holds more than numbers counts as a tuple."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and any(
        isinstance(i, (list, tuple, slice, Tensor, ndarray)) or i is None or i is Ellipsis for i in index
    ):
        return tuple(index)
    return (index,)


def is_mask(t: Tensor) -> bool:
    return t._data.dtype.kind == "b" or t._data.dtype == np.uint8


def span(item: Any) -> int:
    """How many dimensions an entry of the index consumes."""
    if item is None or item is Ellipsis or item is True or item is False:
        return 0
    return item._data.ndim if isinstance(item, Tensor) and is_mask(item) else 1


def bound(value: Any) -> Any:
    """A bound of a slice as an int; tensors of one element count as ints."""
    if value is None or type(value) is int:
        return value
    if isinstance(value, Tensor):
        return arg.integer(value, "slice", "index")
    try:
        return value.__index__()
    except AttributeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method, got "
                        f"{type(value).__name__}") from None  # fmt: skip


def parse(index: Any, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], list[tuple[int, Any]]]:
    """Split an index into the basic part and the rest.

    Returns
    -------
    basic : tuple
        Ints, slices and None for every dimension of the tensor.
    advanced : list of (int, Tensor)
        Masks and integer tensors, with the dimension of ``x[basic]`` where each applies.
    """
    items = [
        i if type(i) is int or type(i) is slice or i is None or i is Ellipsis else positions_of(i)
        for i in as_tuple(index)
    ]
    used, ndim = sum(span(i) for i in items), len(shape)
    if used > ndim:
        if ndim == 0 and len(items) == 1:
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` to convert it to a number")
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    basic: list[Any] = []
    advanced: list[tuple[int, Any]] = []
    dim = kept = 0  # in the tensor, and in the result of the basic part
    expanded = False
    for item in items:
        if item is Ellipsis:
            n = 0 if expanded else ndim - used
            expanded = True
            basic += [FULL] * n
            dim, kept = dim + n, kept + n
        elif item is None:
            basic.append(None)
            kept += 1
        elif type(item) is slice:
            step = bound(item.step)
            if step is not None and step <= 0:
                raise ValueError("slice step cannot be zero" if step == 0 else "slice step must be greater than zero")
            basic.append(slice(bound(item.start), bound(item.stop), step))
            dim, kept = dim + 1, kept + 1
        elif item is True or item is False:
            basic.append(None)
            advanced.append((kept, wrap(np.zeros(int(item), np.int64))))
            kept += 1
        elif isinstance(item, Tensor):
            data = item._data
            kind = data.dtype.kind
            if is_mask(item):
                if kind == "u":
                    warnings.warn(
                        "indexing with dtype tensorplay.uint8 is deprecated, use a dtype of bool",
                        stacklevel=4,
                    )
                if data.shape != shape[dim : dim + data.ndim]:
                    raise IndexError(
                        f"The shape of the mask {list(data.shape)} at index {dim} does not match the shape of the "
                        f"indexed tensor {list(shape)} at index {dim}"
                    )
                if data.ndim == 0:
                    basic.append(None)
                advanced.append((kept, item))
                basic += [FULL] * data.ndim
                dim, kept = dim + data.ndim, kept + max(data.ndim, 1)
            elif kind != "i" or data.dtype.itemsize < 4:
                raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {item.dtype}")
            elif data.ndim == 0 and type(data) is ndarray:
                basic.append(checked(int(data), shape[dim], dim))
                dim += 1
            else:
                basic.append(FULL)
                advanced.append((kept, item))
                dim, kept = dim + 1, kept + 1
        else:
            basic.append(checked(item, shape[dim], dim))
            dim += 1
    return tuple(basic), advanced


def checked(index: int, extent: int, dim: int) -> int:
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {extent}")
    return index


def true_positions(mask: Tensor) -> list[Tensor]:
    """For each dimension of a mask, the positions of its true elements."""
    found = arg.values(mask, "indexing with a mask")
    if not found.ndim:
        return [wrap(np.zeros(int(found), np.int64))]
    return [wrap(i) for i in found.nonzero()]


def merge(view: Tensor, advanced: list[tuple[int, Any]]) -> tuple[Tensor, Tensor, int, int]:
    """All indices as one: the view with the indexed dimensions side by side, the index into them merged, their first
    dimension (from the end) and their number."""
    if len(advanced) == 1 and is_mask(advanced[0][1]) and advanced[0][1]._data.ndim:
        dim, mask = advanced[0]
        found = arg.values(mask, "indexing with a mask")
        return view, wrap(np.flatnonzero(found)), dim - view._data.ndim, found.ndim
    pairs: list[tuple[int, Tensor]] = []
    for dim, index in advanced:
        if is_mask(index):
            pairs += enumerate(true_positions(index), dim)
        else:
            pairs.append((dim, index))
    dims = [dim for dim, _ in pairs]
    shape = view._data.shape
    ndim = len(shape)
    if len(pairs) == 1:
        return view, pairs[0][1], dims[0] - ndim, 1
    first = dims[0]
    if dims[-1] - first != len(dims) - 1:  # apart: their place is in front
        order = dims + [d for d in range(ndim) if d not in dims]
        view, first = F.permute(view, tuple(d - ndim for d in order)), 0
    if all([type(i._data) is ndarray for _, i in pairs]):
        where = joint([i._data for _, i in pairs], [shape[dim] for dim in dims], dims)
        return view, wrap(where), first - ndim, len(dims)
    check_together([i._data.shape for _, i in pairs])
    if any(i.is_meta for _, i in pairs):
        pairs = [(dim, wrap(Meta(i._data.shape, i._data.dtype))) for dim, i in pairs]
    index = None
    for dim, i in pairs:
        i = F.normal_index(i if i._data.dtype == np.int64 else F.cast(i, np.dtype(np.int64)), shape[dim], dim)
        index = i if index is None else F.add(F.mul(index, shape[dim]), i)
    return view, index, first - ndim, len(dims)


def check_together(shapes: list[tuple[int, ...]]) -> None:
    """Raise PyTorch's error if index tensors cannot be broadcast."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes "
                         f"{', '.join(str(list(shape)) for shape in shapes)}") from None  # fmt: skip


def joint(indices: list[Any], extents: list[int], dims: list[int]) -> Any:
    """The index into merged dimensions, from indices (that count from the end if negative) into each."""
    try:
        return np.asarray(np.ravel_multi_index(tuple(indices), extents))
    except (ValueError, TypeError):  # some are negative or out of bounds, or there is nothing to index
        check_together([index.shape for index in indices])
        total: Any = 0
        for index, extent, dim in zip(indices, extents, dims):
            total = total * extent + normal_index_kernel(np, index, extent=extent, dim=dim)
        return np.asarray(total)


# ---- reading

SLICE, SELECT, UNSQUEEZE = PRIMITIVES["slice"], PRIMITIVES["select"], PRIMITIVES["unsqueeze"]


def last_step(index: tuple[Any, ...]) -> Any:
    """The primitive named after what an index does last, dimension after dimension."""
    for item in reversed(index):
        if type(item) is int:
            return SELECT
        if item is None:
            return UNSQUEEZE
        if item != FULL:
            break
    return SLICE


def getitem(self: Tensor, index: Any) -> Tensor:
    """Part of the tensor: a view for ints, slices, None and Ellipsis, else a copy of the entries selected."""
    data, kind = self._data, type(index)
    if kind is tuple:
        simple = len(index) <= len(data.shape) and all(map(is_simple, index, data.shape))
        place = index
    else:
        simple = bool(data.shape) and is_simple(index, data.shape[0])
        place = (index,)
    if simple:
        view = SLICE if self._node is None else SELECT if place and type(place[-1]) is int else last_step(place)
        return view.viewed(self, data[(*place, ...)], place) if type(data) is ndarray else view.function(self, place)
    if kind is Tensor and index._data.dtype == INT64 and index._data.ndim and data.ndim:
        return F.index(self, index, -data.ndim)
    basic, advanced = parse(index, self._data.shape)
    if not advanced:
        return last_step(basic).function(self, basic)
    if any(i is not FULL for i in basic):
        self = F.slice(self, basic)
    view, where, dim, count = merge(self, advanced)
    if count > 1:
        view = F.reshape(view, merged_shape(view._data.shape, dim, count))
    return F.index(view, where, dim + count - 1)


def plain(bound: Any) -> bool:
    return bound is None or type(bound) is int


def is_simple(item: Any, extent: int) -> bool:
    """Whether an entry of an index is an int within bounds or a slice of ints with step 1."""
    kind = type(item)
    if kind is int:
        return -extent <= item < extent
    return kind is slice and item.step is None and plain(item.start) and plain(item.stop)


# ---- writing


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """Write to part of the tensor, broadcasting and casting the value."""
    data, kind = self._data, type(value)
    if kind is Tensor:
        new = value._data
        plain = type(new) is ndarray and new.dtype is data.dtype and (value._node is None or not state.recording)
    else:
        new = value
        plain = kind is float and data.dtype.kind in "fc" or kind is int
    if plain and only_memory(self) and (
        all(map(is_simple, index, data.shape)) and len(index) <= data.ndim if type(index) is tuple else
        data.ndim and is_simple(index, data.shape[0])
    ):  # fmt: skip
        try:
            data[index] = new
        except (ValueError, OverflowError):
            pass  # what it was is said below
        else:
            note_write(data)
            return
    set_entries(self, index, value)


def set_entries(self: Tensor, index: Any, value: Any) -> None:
    name = "__setitem__"
    if not isinstance(value, Tensor):
        try:
            value = constant(value, self, name, converted)
        except TypeError:
            raise TypeError(
                f"can't assign a {type(value).__name__} to a tensor; make it one with tensor(...)"
            ) from None
    basic, advanced = parse(index, self._data.shape)
    if any(i is not FULL for i in basic):
        self = F.slice(self, basic)
    check_writable(self, name)
    shape = value._data.shape
    while shape and shape[0] == 1 and len(shape) > (1 if advanced else self._data.ndim):
        shape = shape[1:]  # ones in front are dropped as far as need be
    if not advanced:
        if len(shape) > self._data.ndim or any(
            n not in (1, m) for n, m in zip(reversed(shape), reversed(self._data.shape))
        ):
            raise RuntimeError(f"The expanded size of the tensor {list(self._data.shape)} must match the existing size "
                               f"{list(shape)}: the value cannot be broadcast to the part written to")  # fmt: skip
        write(self, value if shape == value._data.shape else F.reshape(value, shape), name)
        return
    if value._data.dtype != self._data.dtype:
        if len(advanced) > 1 or math.prod(shape) != 1 or not is_mask(advanced[0][1]):
            raise RuntimeError("Index put requires the source and destination dtypes match, got "
                               f"{self.dtype} for the destination and {value.dtype} for the source.")  # fmt: skip
        value = F.cast(value, self._data.dtype)
    if len(advanced) == 1 and not shape and is_mask(advanced[0][1]):
        dim, mask = advanced[0]
        if mask._data.ndim:
            behind = self._data.ndim - dim - mask._data.ndim
            mask = F.reshape(mask, (*mask._data.shape, *(1,) * behind)) if behind else mask
            fill_where(self, mask, F.reshape(value, ()), name)
            return
    view, where, dim, count = merge(self, advanced)
    have = view._data.shape
    axis = len(have) + dim
    result = (*have[:axis], *where._data.shape, *have[axis + count :])
    while shape and shape[0] == 1 and len(shape) > len(result):
        shape = shape[1:]
    if len(shape) > len(result) or any(n not in (1, m) for n, m in zip(reversed(shape), reversed(result))):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._data.shape)} cannot be broadcast to indexing result "
            f"of shape {list(result)}"
        )
    if shape != value._data.shape:
        value = F.reshape(value, shape)
    update(
        view, PRIMITIVES["put"], (checked_index(where, have, dim, count), value), (dim, count, False), put_store, name
    )


def checked_index(index: Tensor, shape: tuple[int, ...], dim: int, count: int) -> Tensor:
    """An index that is in bounds before anything is written."""
    return index if count > 1 else F.normal_index(index, shape[dim], dim + len(shape))


def fill_where_store(out: Any, mask: Any, value: Any) -> None:
    np.copyto(out, value, where=mask.astype(bool, copy=False))


def fill_where_kernel(xp: Any, input: Any, mask: Any, value: Any) -> Any:
    return xp.where(mask, value, input)


def fill_where_jvp(F: Any, tangents: Any, input: Any, mask: Any, value: Any) -> Any:
    t, v = tangents[0], tangents[2]
    t = F.zeros_like(input) if t is None else t
    return F.fill_where(t, mask, zero_like(F, t) if v is None else v)


def fill_where_batch(p: Any, values: Any, dims: Any) -> Any:
    from ..core.primitive import align

    size = batch_size(values, dims)
    input = values[0] if dims[0] == 0 else F.expand(values[0], (size, *values[0]._data.shape))
    return F.fill_where(*align([input, *values[1:]], [0, *dims[1:]]))


def fill_where_value_vjp(F: Any, g: Any, mask: Any, value_shape: Any) -> Any:
    return F.sum_to(F.where(mask, g, 0), value_shape)


primitive(
    "fill_where", fill_where_kernel,
    vjp={"input": lambda F, g, mask: F.where(mask, 0, g), "value": fill_where_value_vjp},
    jvp=fill_where_jvp, batch=fill_where_batch, node_name="MaskedFillBackward0",
)  # fmt: skip
"""The input with the value (of its dtype) where a mask, that broadcasts to it, is true."""


def fill_where(t: Tensor, mask: Tensor, value: Tensor, name: str) -> Tensor:
    return update(t, PRIMITIVES["fill_where"], (mask, value), (), fill_where_store, name)


# ---- iteration


def iterate(self: Tensor) -> Iterator[Tensor]:
    """The entries along the first dimension."""
    if not self._data.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(F.unbind(self, -self._data.ndim))


def length(self: Tensor) -> int:
    """The extent of the first dimension."""
    if not self._data.shape:
        raise TypeError("len() of a 0-d tensor")
    return self._data.shape[0]


def contains(self: Tensor, element: Any) -> bool:
    """Whether any element equals a number or tensor."""
    if not isinstance(element, (Tensor, int, float, complex, np.generic)):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element).__name__}."
        )
    return bool(arg.values(F.eq(self, element), "in").any())


Tensor.__getitem__ = getitem  # type: ignore[assignment, method-assign]
Tensor.__setitem__ = setitem  # type: ignore[assignment, method-assign]
Tensor.__iter__ = iterate  # type: ignore[assignment, method-assign]
Tensor.__len__ = length  # type: ignore[assignment, method-assign]
Tensor.__contains__ = contains  # type: ignore[assignment, method-assign]
