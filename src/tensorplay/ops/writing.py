"""Copies, and writing to a tensor as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core import layout as layouts
from ..core.carrier import Meta
from ..core.inplace import after_write, check_writable, only_memory, write
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive, scalar_dtype
from ..core.state import state
from ..core.tensor import Tensor, wrap
from ..core.versions import note_write, storage_of
from . import arguments as arg
from .factories import held
from .structural import zeros_of

# ---- copies


def copy_in_order(array: Any) -> Any:
    """A copy in the memory order of a dense array, else in row-major order."""
    shape, strides = array.shape, array.strides
    step = array.itemsize
    for stride, extent in sorted(zip(strides, shape)):
        if extent != 1:
            if stride != step:
                return array.copy(order="C")
            step *= extent
    return array.copy(order="K")


def clone_kernel(xp: Any, input: Any, *, order: str = "K") -> Any:
    return input.copy() if order == "C" or input.flags.c_contiguous else copy_in_order(input)


primitive("clone", clone_kernel, vjp={"input": lambda F, g: g}, jvp="linear", batch="same")
"""``order`` is "C" for row-major memory, "K" for that of the input where it is dense."""


@operator(out=False)
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy of the elements in memory of its own; gradients pass through.

    Parameters
    ----------
    input : Tensor
    memory_format : memory_format, optional
        The order of dimensions in memory; by default that of the input where it has no gaps.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.zeros(2)
    >>> y = x.clone()
    >>> x.fill_(1.), y
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    ndim = arg.tensor(input, "clone")._data.ndim
    if memory_format is None or memory_format is layouts.preserve_format:
        return F.clone(input)
    layouts.check_format(memory_format, ndim, "clone")
    order = layouts.CHANNELS_LAST.get(memory_format)
    if order is None:
        return F.clone(input, "C")
    inverse = sorted(range(ndim), key=order.__getitem__)
    moved = F.clone(F.permute(input, tuple(d - ndim for d in order)), "C")
    return F.permute(moved, tuple(d - ndim for d in inverse))


@operator(out=False, function=False)
def contiguous(input: Tensor, memory_format: Any = layouts.contiguous_format) -> Tensor:
    """The tensor itself if its memory is in row-major (or the given) order, else a copy that is.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).t().contiguous().stride()
    (2, 1)
    """
    if memory_format is layouts.preserve_format:
        raise RuntimeError("contiguous(): preserve memory format is unsupported by the contiguous operator")
    layouts.check_format(memory_format, input._data.ndim, "contiguous")
    order = layouts.CHANNELS_LAST.get(memory_format)
    there = input if order is None else F.permute(input, tuple(d - input._data.ndim for d in order))
    return input if there.is_contiguous() else clone(input, memory_format=memory_format)


@operator(out=False, method=False)
def detach(input: Tensor) -> Tensor:
    """The same memory, without history: gradients do not pass.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.detach(tp.ones(2, requires_grad=True))
    tensor([1., 1.])
    """
    return arg.tensor(input, "detach").detach()


@operator(out=False, method=False)
def detach_(input: Tensor) -> Tensor:
    """Take the tensor out of the graph that made it, in place."""
    return arg.tensor(input, "detach_").detach_()


# ---- writing


def constant(value: Any, like: Tensor, name: str, convert: Callable[[Any, Any, str], Any] = held) -> Tensor:
    """A Python number as a 0-dim tensor of the dtype of another.

    Raises
    ------
    TypeError
        If it is no number.
    RuntimeError
        If the dtype cannot hold it.
    """
    target = like._data.dtype
    kind = scalar_dtype(value)
    if kind is None:
        raise TypeError(f"{name}(): argument 'value' must be Number or Tensor, not {type(value).__name__}")
    if kind.category == dtypes.COMPLEX and target.kind != "c":
        raise RuntimeError(f"{name}(): value cannot be converted to type {like.dtype} without overflow, got {value}")
    array = np.array(convert(value, target, name), target)
    return wrap(array if type(like._data) is not Meta else Meta((), target))


@operator(out=False, function=False, documented={"other": "src"})
def copy_(input: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Write the elements of ``other``, broadcast and cast, into the tensor.

    Parameters
    ----------
    other : Tensor or number
        What to write.
    non_blocking : bool
        Accepted; nothing is copied between devices.

    Raises
    ------
    RuntimeError
        If ``other`` cannot be broadcast to the shape of the tensor, or the tensor is a leaf that requires grad.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 2).copy_(tp.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if isinstance(other, Tensor) and only_memory(input):
        data, new = input._data, other._data
        if (
            type(new) is np.ndarray and new.dtype is data.dtype and new.ndim <= data.ndim
            and (other._node is None or not state.recording)
        ):  # fmt: skip
            try:
                np.copyto(data, new)
            except ValueError:
                pass  # what it was is said below
            else:
                note_write(data)
                return input
    check_writable(input, "copy_")
    return write(input, other if isinstance(other, Tensor) else constant(other, input, "copy_"), "copy_")


@operator(inplace=False, out=False, method="fill_", name="fill_")
def fill_(input: Tensor, value: Any) -> Tensor:
    """Write one number, or the value of a 0-dim tensor, into all elements.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2).fill_(3.)
    tensor([3., 3.])
    """
    check_writable(arg.tensor(input, "fill_"), "fill_")
    if type(value) is float and -6e4 < value < 6e4 and only_memory(input) and input._data.dtype.kind == "f":
        input._data.fill(value)
        note_write(input._data)
        return input
    if isinstance(value, Tensor):
        if value._data.ndim:
            raise RuntimeError("fill_(): only supports 0-dimension value tensor but got tensor with "
                               f"{value._data.ndim} dimensions.")  # fmt: skip
    else:
        value = constant(value, input, "fill_")
    return write(input, value, "fill_")


@operator(out=False)
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of the same shape and dtype filled with one number.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.fill(tp.zeros(2), 3.)
    tensor([3., 3.])
    """
    return fill_(F.clone(arg.tensor(input, "fill")), value)


@operator(out=False)
def zero_(input: Tensor) -> Tensor:
    """Write zeros into all elements.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.ones(2).zero_()
    tensor([0., 0.])
    """
    if only_memory(arg.tensor(input, "zero_")):
        input._data.fill(0)
        note_write(input._data)
        return input
    check_writable(input, "zero_")
    return write(input, wrap(np.zeros((), input._data.dtype)), "zero_")


@operator(out=False)
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write one number into the main diagonal.

    Parameters
    ----------
    input : Tensor
        At least two dimensions; more than two are of one extent.
    fill_value : number
    wrap : bool
        Begin again below the diagonal of a tall matrix, after a row left out.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 2).fill_diagonal_(1.)
    tensor([[1., 0.],
            [0., 1.]])
    """
    shape = arg.tensor(input, "fill_diagonal_")._data.shape
    if len(shape) < 2:
        raise RuntimeError(f"fill_diagonal_(): dimensions must larger than 1, got {len(shape)}")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(f"fill_diagonal_(): all dimensions of input must be of equal length, got {list(shape)}")
    check_writable(input, "fill_diagonal_")
    fill_value = arg.number(fill_value, "fill_diagonal_", "fill_value", 2)
    strides = input._strides()
    write(F.as_strided(input, (min(shape),), (sum(strides),), 0, (tuple(shape), strides)),
          constant(fill_value, input, "fill_diagonal_"), "fill_diagonal_")  # fmt: skip
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        height, width = shape
        rest = F.slice(input, (slice(width + 1, None), slice(None)))
        fill_diagonal_(rest, fill_value, True)
    return input


# ---- another size, in place


def resized(data: Any, shape: tuple[int, ...]) -> Any:
    """Memory of the new shape that begins with the old elements, the same memory where it is large enough."""
    if type(data) is Meta:
        return Meta(shape, data.dtype)
    storage = storage_of(data)
    offset = data.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
    count = int(np.prod(shape, dtype=int))
    flat = storage if storage.flags.c_contiguous else storage.ravel(order="K")
    if offset + count * data.itemsize <= storage.nbytes:
        return np.ndarray(shape, data.dtype, flat, offset) if count else np.empty(shape, data.dtype)
    out = np.zeros(count, data.dtype)
    old = np.ndarray((storage.nbytes - offset) // data.itemsize, data.dtype, flat, offset)
    out[: old.size] = old
    return out.reshape(shape)


@operator(out=False, function=False)
def resize_(input: Tensor, size: Any, *more: int, memory_format: Any = None) -> Tensor:
    """Give the tensor another shape, in place; where it grows, new elements are zero and the memory is new.

    Raises
    ------
    RuntimeError
        If the tensor requires grad.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1, 2, 3, 4]).resize_(2, 2)
    tensor([[1, 2],
            [3, 4]])
    """
    shape = arg.sizes(size, more, "resize_")
    if input._node is not None:
        raise RuntimeError("resize_(): cannot resize variables that require grad")
    if memory_format not in (None, layouts.contiguous_format):
        raise RuntimeError(f"resize_(): unsupported memory format {memory_format}")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"resize_(): Trying to create tensor with negative dimension: {list(shape)}")
    check_writable(input, "resize_")
    if input._data.shape == shape:
        return input
    if isinstance(input._data, (np.ndarray, Meta)):
        input._data = resized(input._data, shape)
    else:
        size, count = input._data.size, int(np.prod(shape, dtype=int))
        flat = F.reshape(input, (size,))
        flat = (
            F.slice(flat, (slice(0, count),))
            if count <= size
            else F.cat(flat, zeros_of(F, (count - size,), input), dim=-1)
        )
        input._data = F.reshape(flat, shape)._data
    return after_write(input, False, False)


@operator(out=False, documented={"the_template": "tensor"})
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the shape of another, in place; see :meth:`Tensor.resize_`."""
    return resize_(
        input, tuple(arg.tensor(the_template, "resize_as_", "the_template", 2)._data.shape), memory_format=memory_format
    )
