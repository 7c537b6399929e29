"""Making tensors of a constant, of a range, or of no values at all."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import device as devices
from ..core import dtype as dtypes
from ..core import layout as layouts
from ..core.carrier import Meta
from ..core.namespace import F
from ..core.operator import operator, write_out
from ..core.state import inferring
from ..core.tensor import Tensor, mark_inference, wrap
from . import arguments as arg
from .arguments import number

Array = np.ndarray[Any, Any]
Allocate = Callable[[tuple[int, ...], np.dtype[Any]], Array]
Dtype = dtypes.dtype | type | None
Device = devices.device | str | None
Layout = layouts.layout | None
Format = layouts.memory_format | None

# ---- what all factories do with their options


def numpy_dtype(dtype: Any, name: str, default: dtypes.dtype | None = None) -> np.dtype[Any]:
    """The NumPy type that a ``dtype`` argument names; for None that of ``default``, or of the default dtype."""
    if dtype is None:
        return (default or dtypes.get_default_dtype()).numpy
    return dtypes.dtype_argument(dtype, name, "dtype", 2).numpy


def check_options(name: str, layout: Any, pin_memory: Any) -> None:
    """Refuse the kinds of memory that this library does not have."""
    layouts.check_strided(layout, name)
    if pin_memory:
        raise RuntimeError(f"{name}(): pin_memory=True requires an accelerator backend, and there is none")


def made(
    name: str, allocate: Allocate, shape: tuple[int, ...], dtype: Any, layout: Any, device: Any, requires_grad: Any,
    pin_memory: Any, out: Tensor | None = None, default: dtypes.dtype | None = None,
) -> Tensor:  # fmt: skip
    """A tensor with the given options, whose elements ``allocate(shape, NumPy type)`` makes."""
    if layout is not None or pin_memory:
        check_options(name, layout, pin_memory)
    for n in shape:
        if n < 0:
            raise RuntimeError(f"{name}(): Dimension size must be non-negative, got size {list(shape)}")
    if out is not None:
        return filled(name, allocate, shape, dtype, out)
    target = numpy_dtype(dtype, name, default)
    try:
        t = wrap(Meta(shape, target) if devices.is_meta(device) else allocate(shape, target))
    except (ValueError, MemoryError) as error:
        nbytes = math.prod(filter(None, shape)) * target.itemsize
        if nbytes < 1 << 63 and isinstance(error, ValueError):
            raise
        raise RuntimeError(f"{name}(): can't allocate memory: {nbytes} bytes for sizes={list(shape)}") from error
    if inferring:
        mark_inference(t)
    return t.requires_grad_() if requires_grad else t


def filled(name: str, allocate: Allocate, shape: tuple[int, ...], dtype: Any, out: Any) -> Tensor:
    """``out``, holding what the factory makes, in its own dtype."""
    arg.tensor(out, name, "out")
    target = out._data.dtype
    if dtype is not None and numpy_dtype(dtype, name) != target:
        raise RuntimeError(f"{name}(): dtype {dtype} does not match dtype of out parameter ({out.dtype})")
    return write_out(name, wrap(Meta(shape, target) if out.is_meta else allocate(shape, target)), out)


def dtype_name(target: np.dtype[Any]) -> str:
    return dtypes.by_numpy[target].name


def converted(value: Any, target: np.dtype[Any], name: str) -> Any:
    """A Python number as a NumPy scalar of a type.

    Raises
    ------
    RuntimeError
        If the type cannot hold the number; an unsigned type takes a negative one by wrapping around.
    """
    if target.kind == "f" and type(value) is float and -6e4 < value < 6e4:
        return target.type(value)
    if isinstance(value, complex) and target.kind != "c":
        if value.imag:
            raise unfit(name, value, target)
        value = value.real
    if target.kind not in "iu" or isinstance(value, bool):
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(target)[()] if target.kind == "V" else target.type(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise unfit(name, value, target)
        value = int(value)
    limits = np.iinfo(target)
    low, high = int(limits.min), int(limits.max)
    if not (-high if target.kind == "u" else low) <= value <= high:
        raise unfit(name, value, target)
    return target.type(value if value >= low else value + high + 1)


def held(value: Any, target: np.dtype[Any], name: str) -> Any:
    """A Python number as a NumPy scalar of a type that holds it: a finite number does not become infinite.

    Raises
    ------
    RuntimeError
        If the type cannot hold the number.
    """
    out = converted(value, target, name)
    if target.kind in "fcV" and np.isinf(out) and abs(value) < math.inf:
        raise unfit(name, value, target)
    return out


def unfit(name: str, value: Any, target: np.dtype[Any]) -> RuntimeError:
    return RuntimeError(
        f"{name}(): value cannot be converted to type {dtype_name(target)} without overflow, got {value}"
    )


def dtype_of(*numbers: Any) -> dtypes.dtype:
    """The dtype that Python numbers together have as data."""
    if any(isinstance(v, complex) for v in numbers):
        return dtypes.default_complex()
    if any(isinstance(v, float) for v in numbers):
        return dtypes.get_default_dtype()
    return dtypes.bool if all(isinstance(v, bool) for v in numbers) else dtypes.int64


# ---- constants


@operator(method=False)
def zeros(
    size: int | Sequence[int], *more: int, out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of zeros.

    Parameters
    ----------
    size
        The shape: as one sequence, or number by number.
    dtype
        The default dtype if left out.
    layout
        ``tensorplay.strided``, the only one.
    device
        ``'cpu'`` or ``'meta'``; the default device if left out.
    requires_grad
        Whether operators should record the tensor.
    pin_memory
        Only False: there is no accelerator.

    Raises
    ------
    RuntimeError
        For a negative size, or gradients of a dtype that has none.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return made(
        "zeros", np.zeros, arg.sizes(size, more, "zeros"), dtype, layout, device, requires_grad, pin_memory, out
    )


@operator(method=False)
def ones(
    size: int | Sequence[int], *more: int, out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of ones; arguments as for :func:`zeros`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.ones(2, dtype=tp.int64)
    tensor([1, 1])
    """
    return made("ones", np.ones, arg.sizes(size, more, "ones"), dtype, layout, device, requires_grad, pin_memory, out)


@operator(method=False)
def empty(
    size: int | Sequence[int], *more: int, out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
    memory_format: Format = layouts.contiguous_format,
) -> Tensor:  # fmt: skip
    """A tensor whose elements are not set; further arguments as for :func:`zeros`.

    Parameters
    ----------
    memory_format
        ``contiguous_format``, ``channels_last`` or ``channels_last_3d``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty(2, 3).shape
    tensorplay.Size([2, 3])
    """
    shape = arg.sizes(size, more, "empty")
    allocate: Allocate = np.empty
    if memory_format is not layouts.contiguous_format:
        allocate = in_format(memory_format, shape, "empty")
    return made("empty", allocate, shape, dtype, layout, device, requires_grad, pin_memory, out)


def in_format(memory_format: Any, shape: tuple[int, ...], name: str) -> Allocate:
    """How to allocate in a memory format."""
    layouts.check_format(memory_format, len(shape), name)
    if memory_format is layouts.preserve_format:
        raise RuntimeError(
            f"{name}(): unsupported memory format {memory_format}: there is no tensor whose format to preserve"
        )
    return lambda shape, dtype: layouts.empty_in_format(shape, memory_format, dtype)


@operator(method=False)
def full(
    size: Sequence[int], fill_value: complex | Tensor, *, out: Tensor | None = None, dtype: Dtype = None,
    layout: Layout = None, device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of one number; further arguments as for :func:`zeros`.

    Parameters
    ----------
    size
        The shape.
    fill_value
        A number, whose kind gives the dtype if that is left out, or a tensor of no dimensions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.full((2,), 7), tp.full((2,), 0.5)
    (tensor([7, 7]), tensor([0.5000, 0.5000]))
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    shape = arg.integers(size, "full", "size")
    if (
        isinstance(fill_value, Tensor)
        and type(fill_value._data) is not np.ndarray
        and out is None
        and not fill_value.is_meta
    ):
        if fill_value._data.shape:
            raise TypeError("full(): argument 'fill_value' (position 2) must be Number, not Tensor")
        target = numpy_dtype(dtype, "full", fill_value.dtype)
        return F.clone(F.expand(F.cast(fill_value.detach(), target), shape))
    value = number(fill_value, "full", "fill_value", 2)
    return made(
        "full", constant(value, "full"), shape, dtype, layout, device, requires_grad, pin_memory, out, dtype_of(value)
    )


def constant(value: Any, name: str) -> Allocate:
    return lambda shape, dtype: np.full(shape, held(value, dtype, name), dtype)


# ---- of another tensor's shape


def like(
    name: str, input: Any, fill: Callable[[Array], None] | None, dtype: Any, layout: Any, device: Any,
    requires_grad: Any, memory_format: Any, pin_memory: Any = False,
) -> Tensor:  # fmt: skip
    """A tensor of the shape, and by default dtype and device, of ``input``, whose elements ``fill(array)`` sets."""
    data = arg.tensor(input, name)._data
    if memory_format is not layouts.preserve_format and memory_format is not None:
        layouts.check_format(memory_format, data.ndim, name)
        preserve = False
    else:
        preserve = type(data) is np.ndarray and not data.flags.c_contiguous and 0 not in data.strides

    def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        array = np.empty_like(data, dtype) if preserve else layouts.empty_in_format(shape, memory_format, dtype)
        if fill is not None:
            fill(array)
        return array

    if device is None:
        device = input.device
    return made(name, allocate, data.shape, dtype, layout, device, requires_grad, pin_memory, None, input.dtype)


@operator(method=False, out=False)
def zeros_like(
    input: Tensor, *, dtype: Dtype = None, layout: Layout = None, device: Device = None, requires_grad: bool = False,
    pin_memory: bool = False, memory_format: Format = layouts.preserve_format,
) -> Tensor:  # fmt: skip
    """Zeros of the shape of ``input``, and of its dtype and device unless others are given.

    Parameters
    ----------
    memory_format
        ``preserve_format`` keeps the order of the dimensions in memory.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros_like(tp.tensor([1, 2]))
    tensor([0, 0])
    """
    return like(
        "zeros_like",
        input,
        lambda array: array.fill(0),
        dtype,
        layout,
        device,
        requires_grad,
        memory_format,
        pin_memory,
    )


@operator(method=False, out=False)
def ones_like(
    input: Tensor, *, dtype: Dtype = None, layout: Layout = None, device: Device = None, requires_grad: bool = False,
    pin_memory: bool = False, memory_format: Format = layouts.preserve_format,
) -> Tensor:  # fmt: skip
    """Ones of the shape of ``input``; arguments as for :func:`zeros_like`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.ones_like(tp.tensor([1, 2]))
    tensor([1, 1])
    """
    return like(
        "ones_like", input, lambda array: array.fill(1), dtype, layout, device, requires_grad, memory_format, pin_memory
    )


@operator(method=False, out=False)
def empty_like(
    input: Tensor, *, dtype: Dtype = None, layout: Layout = None, device: Device = None, requires_grad: bool = False,
    pin_memory: bool = False, memory_format: Format = layouts.preserve_format,
) -> Tensor:  # fmt: skip
    """A tensor of the shape of ``input`` whose elements are not set; arguments as for :func:`zeros_like`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty_like(tp.zeros(2, 3)).shape
    tensorplay.Size([2, 3])
    """
    return like("empty_like", input, None, dtype, layout, device, requires_grad, memory_format, pin_memory)


@operator(method=False, out=False)
def full_like(
    input: Tensor, fill_value: complex | Tensor, *, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False, pin_memory: bool = False, memory_format: Format = layouts.preserve_format,
) -> Tensor:  # fmt: skip
    """One number in the shape of ``input``; further arguments as for :func:`zeros_like`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.full_like(tp.zeros(2), 7)
    tensor([7., 7.])
    """
    value = number(fill_value, "full_like", "fill_value", 2)
    return like(
        "full_like",
        input,
        lambda array: array.fill(held(value, array.dtype, "full_like")),
        dtype,
        layout,
        device,
        requires_grad,
        memory_format,
        pin_memory,
    )


# ---- with a tensor's dtype and device by default; methods only


def new(
    name: str, input: Tensor, allocate: Allocate, shape: tuple[int, ...], dtype: Any, device: Any, requires_grad: Any,
    layout: Any, pin_memory: Any,
) -> Tensor:  # fmt: skip
    device = input.device if device is None else device
    return made(name, allocate, shape, dtype, layout, device, requires_grad, pin_memory, None, input.dtype)


@operator(function=False, out=False, documented={"more": ""})
def new_zeros(
    input: Tensor, size: int | Sequence[int], *more: int, dtype: Dtype = None, device: Device = None,
    requires_grad: bool = False, layout: Layout = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros with the dtype and device of this tensor unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1, 2]).new_zeros(3)
    tensor([0, 0, 0])
    """
    shape = arg.sizes(size, more, "new_zeros")
    return new("new_zeros", input, np.zeros, shape, dtype, device, requires_grad, layout, pin_memory)


@operator(function=False, out=False, documented={"more": ""})
def new_ones(
    input: Tensor, size: int | Sequence[int], *more: int, dtype: Dtype = None, device: Device = None,
    requires_grad: bool = False, layout: Layout = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones with the dtype and device of this tensor unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1, 2]).new_ones(3)
    tensor([1, 1, 1])
    """
    shape = arg.sizes(size, more, "new_ones")
    return new("new_ones", input, np.ones, shape, dtype, device, requires_grad, layout, pin_memory)


@operator(function=False, out=False, documented={"more": ""})
def new_empty(
    input: Tensor, size: int | Sequence[int], *more: int, dtype: Dtype = None, device: Device = None,
    requires_grad: bool = False, layout: Layout = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of unset elements, with the dtype and device of this tensor unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1, 2]).new_empty(3).dtype
    tensorplay.int64
    """
    shape = arg.sizes(size, more, "new_empty")
    return new("new_empty", input, np.empty, shape, dtype, device, requires_grad, layout, pin_memory)


@operator(function=False, out=False)
def new_full(
    input: Tensor, size: Sequence[int], fill_value: complex | Tensor, *, dtype: Dtype = None, device: Device = None,
    requires_grad: bool = False, layout: Layout = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """One number in the given shape, with the dtype and device of this tensor unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1., 2.]).new_full((3,), 7)
    tensor([7., 7., 7.])
    """
    shape = arg.integers(size, "new_full", "size")
    allocate = constant(number(fill_value, "new_full", "fill_value", 2), "new_full")
    return new("new_full", input, allocate, shape, dtype, device, requires_grad, layout, pin_memory)


@operator(function=False, out=False)
def new_empty_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], dtype: Dtype = None, layout: Layout = None,
    device: Device = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """As :func:`empty_strided`, with the dtype and device of this tensor unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    shape, allocate = strided("new_empty_strided", size, stride)
    return new("new_empty_strided", input, allocate, shape, dtype, device, requires_grad, layout, pin_memory)


# ---- memory of a given form


def strided(name: str, size: Any, stride: Any) -> tuple[tuple[int, ...], Allocate]:
    """The shape, and how to allocate it with the given strides, counted in elements."""
    shape, steps = arg.integers(size, name, "size"), arg.integers(stride, name, "stride", 2)
    if len(shape) != len(steps):
        raise RuntimeError(
            f"{name}(): dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    if min(steps, default=0) < 0:
        raise RuntimeError(f"{name}(): strides must be non-negative, got {list(steps)}")

    def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        extent = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, steps))
        memory = np.empty(extent, dtype)
        return np.ndarray(shape, dtype, memory, 0, [s * dtype.itemsize for s in steps])

    return shape, allocate


@operator(method=False, out=False)
def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of unset elements with the given steps, in elements, from one entry of a dimension to the next.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    shape, allocate = strided("empty_strided", size, stride)
    return made("empty_strided", allocate, shape, dtype, layout, device, requires_grad, pin_memory)


@operator(method=False)
def empty_permuted(
    size: Sequence[int], physical_layout: Sequence[int], *, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A dense tensor of unset elements whose dimensions lie in memory in the given order, outermost first.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty_permuted((2, 3, 4), (1, 0, 2)).stride()
    (4, 8, 1)
    """
    shape = arg.integers(size, "empty_permuted", "size")
    order = arg.integers(physical_layout, "empty_permuted", "physical_layout", 2)
    if len(shape) != len(order):
        raise RuntimeError(
            "empty_permuted(): Number of dimensions in size does not match the length of the physical_layout; "
            f"i.e. len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    if sorted(order) != list(range(len(order))):
        twice = len(set(order)) < len(order) and all(0 <= d < len(order) for d in order)
        raise RuntimeError(
            "empty_permuted(): "
            + ("Duplicate dim not allowed" if twice else "Dimension out of range")
            + f", got physical_layout {order}"
        )
    return made(
        "empty_permuted",
        lambda shape, dtype: layouts.in_memory_order(shape, order, dtype),
        shape,
        dtype,
        layout,
        device,
        requires_grad,
        pin_memory,
    )


# ---- ranges


def check_finite(name: str, start: Any, end: Any, step: Any) -> None:
    """Refuse a range that has no length."""
    for value in (start, end, step):
        if isinstance(value, complex):
            raise RuntimeError(f"{name}(): value cannot be converted to type double without overflow, got {value}")
    if not step:
        raise RuntimeError(f"{name}(): step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"{name}(): unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"{name}(): upper bound and lower bound inconsistent with step sign, "
            f"got start={start}, end={end}, step={step}"
        )


def check_ordered(target: np.dtype[Any], name: str) -> None:
    if target.kind not in "iufV":
        raise NotImplementedError(f'{name}(): "{name}_cpu" not implemented for {dtype_name(target)}')


def steps_from(start: Any, step: Any, n: int, target: np.dtype[Any]) -> Array:
    """``start + i * step``, each computed by itself: nothing adds up."""
    if step and isinstance(start, int) and isinstance(step, int) and abs(start + n * step) < 2**63:
        return np.arange(start, start + n * step, step).astype(target, copy=False)
    return (np.arange(n, dtype=np.float64) * step + start).astype(target)


def range_arguments(name: str, start: Any, end: Any, step: Any) -> tuple[Any, Any, Any]:
    if end is None:
        start, end = 0, number(start, name, "end", 1)
    elif start is None:
        start, end = 0, number(end, name, "end", 1)
    else:
        start, end = number(start, name, "start", 1), number(end, name, "end", 2)
    return start, end, number(step, name, "step", 3)


@operator(method=False)
def arange(
    start: complex | Tensor | None = None, end: complex | Tensor | None = None, step: complex | Tensor = 1, *,
    out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers from ``start`` up to, and without, ``end``; further arguments as for :func:`zeros`.

    Parameters
    ----------
    start, end, step
        One number alone is the end. All integers: the dtype is int64, otherwise the default dtype.

    Raises
    ------
    RuntimeError
        If the step is zero or leads away from the end.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.arange(3), tp.arange(1., 2., 0.5)
    (tensor([0, 1, 2]), tensor([1.0000, 1.5000]))
    """
    if start is None and end is None:
        raise TypeError("arange() missing 1 required positional argument: 'end'")
    first, stop, by = range_arguments("arange", start, end, step)
    integral = not any(isinstance(v, (float, complex)) for v in (first, stop, by))
    default = dtypes.int64 if integral else dtypes.get_default_dtype()
    target = out._data.dtype if isinstance(out, Tensor) else numpy_dtype(dtype, "arange", default)
    check_ordered(target, "arange")
    check_finite("arange", first, stop, by)
    if target == np.int64:
        first, stop, by, integral = int(first), int(stop), int(by), True
        if not by:
            raise ValueError("arange(): step must be nonzero, and is 0 as an integer")
    n = -((first - stop) // by) if integral else math.ceil((stop - first) / by)
    if target.kind in "iu":  # smaller integers: as many numbers as without rounding
        first, by = int(first), int(by)
    return made(
        "arange",
        lambda shape, dtype: steps_from(first, by, n, dtype),
        (n,),
        dtype,
        layout,
        device,
        requires_grad,
        pin_memory,
        out,
        default,
    )


@operator(name="range", method=False)
def inclusive_range(
    start: complex | Tensor = 0, end: complex | Tensor | None = None, step: complex | Tensor = 1, *,
    out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers from ``start`` to ``end``, included. Use :func:`arange`, which follows Python's range.

    Examples
    --------
    >>> import warnings
    >>> import tensorplay as tp
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     tp.range(1, 3)
    tensor([1., 2., 3.])
    """
    warnings.warn(
        "range is deprecated because its behavior is inconsistent with Python's range builtin. Use arange, which "
        "produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if end is None:
        raise TypeError("range() missing 1 required positional argument: 'end'")
    first, last, by = range_arguments("range", start, end, step)
    check_finite("range", first, last, by)
    n = math.floor((last - first) / by) + 1
    return made(
        "range",
        lambda shape, dtype: steps_from(first, by, n, dtype),
        (n,),
        dtype,
        layout,
        device,
        requires_grad,
        pin_memory,
        out,
    )


def check_no_dimensions(value: Tensor, name: str, argument: str) -> None:
    if value._data.shape:
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got {argument} with "
            f"{value.ndim} dimension(s)."
        )


def bound(value: Any, name: str, argument: str, position: int) -> Any:
    if isinstance(value, Tensor):
        check_no_dimensions(value, name, argument)
    return number(value, name, argument, position)


def spaced(name: str, start: Any, end: Any, steps: Any, dtype: Any) -> tuple[Any, Any, int, dtypes.dtype]:
    """The checked arguments of :func:`linspace` and :func:`logspace`, and the dtype if none is given."""
    steps = arg.integer(steps, name, "steps", 3)
    if steps < 0:
        raise RuntimeError(f"{name}(): number of steps must be non-negative, got {steps}")
    start, end = bound(start, name, "start", 1), bound(end, name, "end", 2)
    default = dtype_of(start, end, 0.0)
    if dtype is not None:
        target = numpy_dtype(dtype, name)
        if target.kind == "b":
            raise NotImplementedError(f'{name}(): "{name}_cpu" not implemented for {dtype_name(target)}')
        if default.is_complex and target.kind != "c":
            raise RuntimeError(f"{name}(): inferred dtype {default} can't be safely cast to passed dtype {dtype}")
        if target.kind in "iu" and math.isfinite(start) and math.isfinite(end):
            start, end = int(start), int(end)
    return start, end, steps, default


def is_carried(*values: Any) -> bool:
    """Whether a value is known to a transform or by its shape alone, and cannot be read."""
    return any(isinstance(v, Tensor) and type(v._data) is not np.ndarray for v in values)


def spaced_tensors(name: str, start: Any, end: Any, steps: Any, dtype: Any, requires_grad: bool) -> Tensor:
    """Equal steps between ends that are not to be read."""
    for argument, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor):
            check_no_dimensions(value, name, argument)
    steps = arg.integer(steps, name, "steps", 3)
    fractions = wrap(evenly(0.0, 1.0, steps))
    if any(v.is_meta for v in (start, end) if isinstance(v, Tensor)):
        fractions = wrap(Meta((steps,), fractions._data.dtype))
    start, end = (v.detach() if isinstance(v, Tensor) else v for v in (start, end))
    default = dtype_of(1j if any(isinstance(v, Tensor) and v.is_complex() for v in (start, end)) else 0.0)
    values = F.cast(start * (1 - fractions) + end * fractions, numpy_dtype(dtype, name, default))
    return values.requires_grad_() if requires_grad else values


def evenly(start: Any, end: Any, steps: int) -> Array:
    """Equal steps, the second half counted back from the end, so that both ends are exact."""
    kind = np.complex128 if isinstance(start, complex) or isinstance(end, complex) else np.float64
    index = np.arange(steps, dtype=kind)
    if steps == 1:
        return index + start
    step = (end - start) / (steps - 1) if steps else 0
    return np.where(np.arange(steps) < steps // 2, start + step * index, end - step * (steps - 1 - index))


@operator(method=False)
def linspace(
    start: complex | Tensor, end: complex | Tensor, steps: int, *, out: Tensor | None = None, dtype: Dtype = None,
    layout: Layout = None, device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """``steps`` numbers at equal distances from ``start`` to ``end``, both included; arguments as for :func:`zeros`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if is_carried(start, end) and out is None:
        return spaced_tensors("linspace", start, end, steps, dtype, requires_grad)
    start, end, steps, default = spaced("linspace", start, end, steps, dtype)
    return made(
        "linspace",
        lambda shape, dtype: evenly(start, end, steps).astype(dtype),
        (steps,),
        dtype,
        layout,
        device,
        requires_grad,
        pin_memory,
        out,
        default,
    )


@operator(method=False)
def logspace(
    start: complex | Tensor, end: complex | Tensor, steps: int, base: float = 10.0, *, out: Tensor | None = None,
    dtype: Dtype = None, layout: Layout = None, device: Device = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The powers of ``base`` whose exponents :func:`linspace` gives.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    if type(base) is not float:
        base = arg.real(base, "logspace", "base", 4)
    if is_carried(start, end) and out is None:
        exponents = spaced_tensors("logspace", start, end, steps, None, False)
        powers = F.cast(F.pow(base, exponents), numpy_dtype(dtype, "logspace", exponents.dtype))
        return powers.requires_grad_() if requires_grad else powers
    start, end, steps, default = spaced("logspace", start, end, steps, dtype)

    def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        with np.errstate(all="ignore"):
            return np.power(np.asarray(base, np.float64), evenly(start, end, steps)).astype(dtype)

    return made("logspace", allocate, (steps,), dtype, layout, device, requires_grad, pin_memory, out, default)


@operator(method=False)
def eye(
    n: int, m: int | None = None, *, out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A matrix of ``n`` rows and ``m`` (by default ``n``) columns with ones on the diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    n = arg.integer(n, "eye", "n", 1)
    m = n if m is None else arg.integer(m, "eye", "m", 2)
    for name, value in (("n", n), ("m", m)):
        if value < 0:
            raise RuntimeError(f"eye(): {name} must be greater or equal to 0, got {value}")
    return made(
        "eye",
        lambda shape, dtype: np.eye(*shape, dtype=dtype),
        (n, m),
        dtype,
        layout,
        device,
        requires_grad,
        pin_memory,
        out,
    )
