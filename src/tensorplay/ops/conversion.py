"""The same values in another dtype, memory format or place."""

from __future__ import annotations

import warnings
from typing import Any

from ..core import device as devices
from ..core import dtype as dtypes
from ..core import layout as layouts
from ..core.callpath import MISSING, either
from ..core.carrier import Meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor, wrap
from . import arguments as arg

CONTIGUOUS, PRESERVE = layouts.contiguous_format, layouts.preserve_format


def arrange_kernel(xp: Any, input: Any, *, order: tuple[int, ...]) -> Any:
    n = len(order)
    out = layouts.in_memory_order(input.shape, tuple([d + n for d in order]), input.dtype)
    out[...] = input
    return out


def arrange_batch(p: Any, values: list[Any], dims: list[Any], order: tuple[int, ...]) -> Any:
    return F.arrange(values[0], (-1 - len(order), *order))


arrange = primitive(
    "arrange", arrange_kernel, vjp={"input": lambda F, g: g}, jvp="linear", batch=arrange_batch,
    node_name="CloneBackward0",
)  # fmt: skip
"""A copy whose dimensions, counted from the end, lie in memory in the given order, outermost first."""


def to_dtype(input: Tensor, target: dtypes.dtype) -> Tensor:
    """The tensor itself if it is of the dtype, else a cast."""
    have = input._data.dtype
    if have == target.numpy:
        return input
    if have.kind == "c" and target.category < dtypes.COMPLEX and target is not dtypes.bool:
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4)
    return F.cast(input, target.numpy)


def to_device(input: Tensor, meta: bool) -> Tensor:
    """The tensor itself if it is there, else its shape and dtype on the meta device."""
    if input.is_meta == meta:
        return input
    if not meta:
        raise NotImplementedError("to(): Cannot copy out of meta tensor; no data!")
    return wrap(Meta(input._data.shape, input._data.dtype))


def to_format(input: Tensor, memory_format: Any, name: str) -> Tensor:
    """The tensor itself if its memory is so ordered, else a copy that is."""
    layouts.check_format(memory_format, input._data.ndim, name)
    if memory_format in (None, PRESERVE) or input.is_contiguous(memory_format=memory_format):
        return input
    ndim = input._data.ndim
    order = layouts.CHANNELS_LAST.get(memory_format) or tuple(range(ndim))
    return F.arrange(input, tuple([d - ndim for d in order]))


def of_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dtypes.dtype | None, bool]:
    """What the arguments of ``to`` ask for: device, dtype and whether to copy in any case."""
    names: tuple[str, ...]
    other = kwargs.pop("other", None)
    if args and isinstance(args[0], Tensor):
        other, args = args[0], args[1:]
    if other is not None:
        names = ("non_blocking", "copy")
        given = {"device": other.device, "dtype": other.dtype}
    else:
        names = (
            ("dtype", "non_blocking", "copy")
            if args and is_dtype(args[0])
            else ("device", "dtype", "non_blocking", "copy")
        )
        given = {}
    if len(args) > len(names):
        raise TypeError(f"to() takes at most {len(names)} positional arguments after the tensor here, got {len(args)}")
    for name, value in [*zip(names, args), *kwargs.items()]:
        if name in given:
            raise TypeError(f"to() got multiple values for argument '{name}'")
        if name not in ("device", "dtype", "non_blocking", "copy"):
            raise TypeError(f"to() got an unexpected keyword argument '{name}'")
        given[name] = value
    dtype = given.get("dtype")
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        dtype = dtypes.dtype_argument(dtype, "to", "dtype", 2)
    return given.get("device"), dtype, bool(given.get("copy", False))


def is_dtype(value: Any) -> bool:
    return isinstance(value, (dtypes.dtype, type))


@operator(function=False, out=False)
def to(
    input: Tensor, *args: Any, memory_format: layouts.memory_format | None = None, **kwargs: Any,
) -> Tensor:  # fmt: skip
    """The tensor with another dtype, device or memory format; itself if it has these already.

    Called as ``to(dtype)``, ``to(device)``, ``to(device, dtype)`` or ``to(other)``, each followed by ``non_blocking``
    (which changes nothing on a CPU), ``copy`` (True: a copy in any case) and ``memory_format``. Gradients pass through.

    Raises
    ------
    NotImplementedError
        For the values of a meta tensor, which has none.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1.5, -2.5])
    >>> x.to(tp.int64)
    tensor([ 1, -2])
    >>> x.to("cpu") is x
    True
    """
    if len(args) == 1 and type(args[0]) is dtypes.dtype and not kwargs and memory_format is None:
        return to_dtype(input, args[0])
    device, dtype, copy = of_arguments(args, kwargs)
    out = input if device is None else to_device(input, devices.is_meta(device))
    if dtype is not None:
        out = to_dtype(out, dtype)
    if memory_format is not None:
        out = to_format(out, memory_format, "to")
    return F.clone(out) if copy and out is input else out


@operator(name="type", function=False, out=False)
def of_type(
    input: Tensor, dtype: dtypes.dtype | str | None = None, non_blocking: bool = False,
) -> Any:  # fmt: skip
    """The tensor in another dtype; without an argument the name of its type, such as ``tensorplay.FloatTensor``.

    Parameters
    ----------
    dtype : dtype or str, optional
        A dtype, or the name of a type.
    non_blocking : bool
        Accepted; nothing is copied between devices.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(1).type()
    'tensorplay.FloatTensor'
    >>> tp.zeros(1).type(tp.int64)
    tensor([0])
    """
    if dtype is None:
        return f"tensorplay.{NAMES[input.dtype]}Tensor"
    if isinstance(dtype, str):
        name = dtype.rpartition(".")[2].removesuffix("Tensor")
        if name not in BY_NAME or not dtype.endswith("Tensor"):
            raise ValueError(f"type(): invalid type: '{dtype}'; name one such as 'tensorplay.FloatTensor'")
        return to_dtype(input, BY_NAME[name])
    return to_dtype(input, dtypes.dtype_argument(dtype, "type", "dtype", 1))


NAMES = {
    dtypes.bool: "Bool",
    dtypes.uint8: "Byte",
    dtypes.uint16: "UInt16",
    dtypes.uint32: "UInt32",
    dtypes.uint64: "UInt64",
    dtypes.int8: "Char",
    dtypes.int16: "Short",
    dtypes.int32: "Int",
    dtypes.int64: "Long",
    dtypes.float16: "Half",
    dtypes.bfloat16: "BFloat16",
    dtypes.float32: "Float",
    dtypes.float64: "Double",
    dtypes.complex64: "ComplexFloat",
    dtypes.complex128: "ComplexDouble",
}
BY_NAME = {name: d for d, name in NAMES.items()}


@operator(function=False, out=False, documented={"other": "tensor"})
def type_as(input: Tensor, other: Tensor = MISSING, tensor: Tensor | None = None) -> Tensor:
    """The tensor in the dtype of ``other``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1.5]).type_as(tp.tensor(1))
    tensor([1])
    """
    if tensor is not None:
        other = either("type_as", "other", other, "tensor", tensor)
    return to_dtype(input, arg.tensor(other, "type_as", "other", 2).dtype)


@operator(function=False, out=False)
def cpu(input: Tensor, memory_format: layouts.memory_format = PRESERVE) -> Tensor:
    """The tensor on the CPU: itself.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.zeros(2)
    >>> x.cpu() is x
    True
    """
    return to_format(to_device(input, False), memory_format, "cpu")


@operator(function=False, out=False)
def pin_memory(input: Tensor, device: devices.device | str | None = None) -> Tensor:
    """The tensor in memory that an accelerator reads directly.

    Raises
    ------
    RuntimeError
        Always: there is no accelerator.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2).pin_memory()
    Traceback (most recent call last):
    RuntimeError: pin_memory(): Cannot access accelerator device when none is available.
    """
    raise RuntimeError("pin_memory(): Cannot access accelerator device when none is available.")


@operator(function=False, out=False)
def to_dense(input: Tensor, dtype: dtypes.dtype | None = None, *, masked_grad: bool | None = None) -> Tensor:
    """The tensor itself, as its layout is dense, or a cast.

    Parameters
    ----------
    dtype : dtype, optional
        The dtype of the result.
    masked_grad : bool, optional
        Accepted; it tells how gradients of sparse tensors are to be read.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.zeros(2)
    >>> x.to_dense() is x
    True
    """
    return input if dtype is None else to_dtype(input, dtypes.dtype_argument(dtype, "to_dense", "dtype", 1))


def register_cast(method: str, target: dtypes.dtype) -> None:
    """The method that casts to one dtype, such as ``Tensor.double``."""

    def cast(input: Tensor, memory_format: layouts.memory_format = PRESERVE) -> Tensor:
        return to_format(to_dtype(input, target), memory_format, method)

    cast.__name__ = cast.__qualname__ = method
    cast.__doc__ = f"The tensor in {target.name}; itself if it is of that dtype already."
    operator(function=False, out=False)(cast)


for _method, _target in {
    "bool": dtypes.bool, "byte": dtypes.uint8, "char": dtypes.int8, "short": dtypes.int16, "int": dtypes.int32,
    "long": dtypes.int64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "float": dtypes.float32,
    "double": dtypes.float64, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}.items():  # fmt: skip
    register_cast(_method, _target)
