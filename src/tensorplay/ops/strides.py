"""Views by size and stride: sliding windows, as_strided, and views that a tensor itself becomes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..core.inplace import change_geometry, check_writable, strides_overlap
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.state import state
from ..core.tensor import Tensor
from ..core.versions import note_write, storage_of
from . import arguments as arg
from .shape import squeeze, swapaxes, t, transpose, unsqueeze

# ---- windows and strides


def windows(array: Any, dim: int, size: int, step: int) -> Any:
    """A view with the windows of ``size`` entries, ``step`` apart, in a new last dimension."""
    shape, strides = list(array.shape), list(array.strides)
    shape[dim] = (shape[dim] - size) // step + 1
    inner, strides[dim] = strides[dim], strides[dim] * step
    return strided(array, (*shape, size), (*strides, inner))


def strided(array: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Any:
    """A view of the memory of an array; strides and the offset from its first element count bytes.

    None if the memory does not reach so far.
    """
    storage = storage_of(array)
    offset += array.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides)) + array.itemsize
    if 0 in shape:
        return np.empty(shape, array.dtype)
    if last > storage.nbytes or offset < 0:
        return None
    flat = storage if storage.flags.c_contiguous else storage.ravel(order="K")
    out = np.ndarray(shape, array.dtype, flat, offset, strides) if flat.base is storage or flat is storage else None
    if out is None:  # memory from elsewhere that has gaps
        out = np.lib.stride_tricks.as_strided(array, shape, strides)
    out.flags.writeable = array.flags.writeable
    return out


def unfold_vjp(F: Any, g: Any, input_shape: Any, dim: int, size: int, step: int) -> Any:
    return F.fold_windows(g, input_shape, dim, size, step)


primitive("unfold", lambda xp, input, *, dim, size, step: windows(input, dim, size, step), vjp={"input": unfold_vjp},
          jvp="linear", batch="same", view=True)  # fmt: skip


def fold_windows_kernel(xp: Any, input: Any, *, shape: tuple[int, ...], dim: int, size: int, step: int) -> Any:
    """Add the windows up where they came from, in parts of ``step`` places: these do not overlap."""
    out = np.zeros(shape, input.dtype)
    count, behind = input.shape[dim - 1], (slice(None),) * (-1 - dim)
    for start in range(0, size, step):
        width = min(step, size - start)
        place: Any = (..., slice(start, start + step * (count - 1) + width), *behind)
        windows(out[place], dim, width, step)[...] += input[..., start : start + width]
    return out


def fold_windows_batch(p: Any, values: Any, dims: Any, shape: Any, *attrs: Any) -> Any:
    return F.fold_windows(values[0], (values[0]._data.shape[0], *shape), *attrs)


def fold_windows_vjp(F: Any, g: Any, dim: int, size: int, step: int) -> Any:
    return F.unfold(g, dim, size, step)


primitive("fold_windows", fold_windows_kernel, vjp={"input": fold_windows_vjp}, jvp="linear", batch=fold_windows_batch,
          node_name="UnfoldBackwardBackward0")  # fmt: skip


@operator(out=False, function=False)
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of all windows of ``size`` entries along a dimension, ``step`` apart; they are a new last dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1, 2, 3, 4]).unfold(0, 2, 1)
    tensor([[1, 2],
            [2, 3],
            [3, 4]])
    """
    shape = input._data.shape
    dim = arg.dimension(dimension, len(shape), "unfold", "dimension", 1)
    size, step = arg.integer(size, "unfold", "size", 2), arg.integer(step, "unfold", "step", 3)
    extent = shape[dim] if shape else 1
    if size < 0:
        raise RuntimeError(f"unfold(): size is {size} but must be >= 0")
    if step <= 0:
        raise RuntimeError(f"unfold(): step is {step} but must be > 0")
    if size > extent:
        raise RuntimeError(
            f"unfold(): maximum size for tensor at dimension {dim + max(len(shape), 1)} is {extent} but size is {size}"
        )
    if not shape:
        return F.slice(F.reshape(input, (1,)), (slice(0, size),))
    return F.unfold(input, dim, size, step)


def positions(origin: tuple[Any, Any], size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """Flat indices, in a tensor of shape and strides ``origin``, of the elements of ``as_strided``.

    -1 for those that lie in the storage but not in the tensor.
    """
    shape, strides = origin
    count = int(np.prod(shape, dtype=int))
    before = max(-offset, 0)
    reach = offset + sum((n - 1) * s for n, s in zip(size, stride)) + 1 if 0 not in size else 1
    own = sum((n - 1) * s for n, s in zip(shape, strides)) + 1 if count else 0
    whole = np.full(before + max(reach, own), -1)
    memory, item = whole[before:], whole.itemsize
    if count:
        np.lib.stride_tricks.as_strided(memory, shape, [s * item for s in strides])[...] = np.arange(count).reshape(
            shape
        )
    return np.lib.stride_tricks.as_strided(whole[before + offset :], size, [s * item for s in stride]).reshape(-1)


def own_positions(origin: tuple[Any, Any], size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """The same, where no other will do."""
    out = positions(origin, size, stride, offset)
    if out.size and out.min() < 0:
        raise RuntimeError("as_strided(): elements beyond the tensor itself cannot be batched, pushed or traced")
    return out


def as_strided_kernel(xp: Any, input: Any, *, size: Any, stride: Any, offset: int, origin: Any) -> Any:
    """A view where the memory lies as it did for the tensor it was called for, else the same elements gathered."""
    item = input.itemsize
    if input.shape == origin[0] and all(  # the stride of a single entry says nothing
        [n <= 1 or have == s * item for n, have, s in zip(input.shape, input.strides, origin[1], strict=True)]
    ):
        view = strided(input, size, tuple(s * item for s in stride), offset * item)
        if view is not None:
            return view
    return input.reshape(-1)[own_positions(origin, size, stride, offset)].reshape(size)


def as_strided_vjp(F: Any, g: Any, size: Any, stride: Any, offset: int, origin: Any) -> Any:
    """Elements of the storage beyond the tensor are not its own; those that share memory share the cotangent."""
    where, count = positions(origin, size, stride, offset), int(np.prod(origin[0], dtype=int))
    flat = F.reshape(g, (where.size,))
    if where.size and where.min() < 0:
        own = np.flatnonzero(where >= 0)
        flat, where = F.take_columns(flat, own), where[own]
    flat = F.add_columns(flat, count, where)
    if strides_overlap(origin[1], origin[0]):
        shared = positions(origin, origin[0], origin[1], 0)
        flat = F.take_columns(flat, shared) * (len(np.unique(shared)) / count)
    return F.reshape(flat, origin[0])


def as_strided_batch(p: Any, values: Any, dims: Any, size: Any, stride: Any, offset: int, origin: Any) -> Any:
    batch = values[0]._data.shape[0]
    flat = F.reshape(values[0], (batch, int(np.prod(origin[0], dtype=int))))
    return F.reshape(F.take_columns(flat, own_positions(origin, size, stride, offset)), (batch, *size))


primitive("as_strided", as_strided_kernel, vjp={"input": as_strided_vjp}, jvp="linear", batch=as_strided_batch,
          view="where possible")  # fmt: skip


@operator(out=False)
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the storage with the given extents and strides (in elements), from an offset in the storage.

    Raises
    ------
    RuntimeError
        If it would reach beyond the storage.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.arange(6).as_strided((2, 2), (1, 2), 1)
    tensor([[1, 3],
            [2, 4]])
    """
    arg.tensor(input, "as_strided")
    size, stride = arg.integers(size, "as_strided", "size", 2), arg.integers(stride, "as_strided", "stride", 3)
    if len(size) != len(stride):
        raise RuntimeError(f"as_strided(): mismatch in length of strides and shape, got {len(stride)} and {len(size)}")
    if any(n < 0 for n in (*size, *stride)):
        raise RuntimeError(
            f"as_strided(): Negative strides or sizes are not supported, got {list(stride)}, {list(size)}"
        )
    start = input.storage_offset()
    offset = start if storage_offset is None else arg.integer(storage_offset, "as_strided", "storage_offset", 4)
    data = input._innermost()
    if isinstance(data, np.ndarray) and data is input._data and 0 not in size:
        reach = offset + sum((n - 1) * s for n, s in zip(size, stride)) + 1
        if offset < 0 or reach * data.itemsize > storage_of(data).nbytes:
            raise RuntimeError(
                f"as_strided(): setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
                f"itemsize {data.itemsize} requiring a storage size of {reach * data.itemsize} are out of bounds for "
                f"storage of size {storage_of(data).nbytes}"
            )
    return F.as_strided(input, size, stride, offset - start, (tuple(input._data.shape), input._strides()))


# ---- geometry in place


def in_place(fn: Any) -> Any:
    """The in-place form of an operator that gives a view: the tensor becomes that view of itself."""
    name = fn.__name__ + "_"

    @functools.wraps(fn)
    def changed(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(arg.tensor(input, name), name)
        return change_geometry(input, lambda t: fn(t, *args, **kwargs), name)

    changed.__name__ = changed.__qualname__ = name
    changed.__doc__ = f"In-place form of :func:`{fn.__name__}`: the tensor itself becomes the view."
    return changed


for _fn, _names in (
    (squeeze, ("squeeze_",)), (unsqueeze, ("unsqueeze_",)), (t, ("t_",)), (as_strided, ("as_strided_",)),
    (transpose, ("transpose_", "swapdims_")),
    (swapaxes, ("swapaxes_",)),
):  # fmt: skip
    for _name in _names:
        operator(name=_name, out=False, function=_name in ("squeeze_", "unsqueeze_", "t_", "as_strided_"))(
            in_place(_fn)
        )


@operator(function=False, out=False)
def set_(
    input: Tensor, source: Tensor | None = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Let a tensor share the memory of another one, in place; without one, it becomes empty.

    Parameters
    ----------
    input : Tensor
        Without history; what it held before is left to those who share it.
    source : Tensor, optional
        Of the same dtype and device.
    storage_offset, size, stride
        Which elements of the source's storage; all of the source by default.

    Raises
    ------
    RuntimeError
        If one of them has history that would be lost, dtype or device differ, or the storage does not reach so far.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x, y = tp.zeros(1), tp.arange(4.)
    >>> x.set_(y, 1, (2,))[0] = 10.
    >>> y
    tensor([ 0., 10.,  2.,  3.])
    """
    check_writable(input, "set_")
    if source is None:
        source = input.new_empty(0)
    elif arg.tensor(source, "set_", "source").dtype is not input.dtype:
        raise RuntimeError(f"set_(): Could not set tensor of type {source.dtype} to a tensor of type {input.dtype}")
    if source.device != input.device:
        raise RuntimeError(
            f"set_(): Attempted to set the storage of a tensor on device {input.device} to one on {source.device}"
        )
    if state.recording and not all(t.is_leaf for t in (input, source)):
        raise RuntimeError("set_(): history would be lost; detach() the tensors first, or use no_grad()")
    if size is not None:
        sizes = arg.integers(size, "set_", "size", 3)
        steps = input.new_empty(sizes, device="meta").stride() if stride is None else stride
        source = as_strided(source.detach(), sizes, steps, storage_offset)
    elif storage_offset or stride is not None:
        raise TypeError("set_(): argument 'size' must be given along with 'storage_offset' and 'stride'")
    input.data = source
    note_write(input._data)
    return input
