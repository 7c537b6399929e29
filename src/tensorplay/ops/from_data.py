"""Making tensors from data: Python numbers and sequences, NumPy arrays, buffers, other tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..core import device as devices
from ..core import dtype as dtypes
from ..core.carrier import Carrier, Meta
from ..core.interop import from_array, from_dlpack
from ..core.namespace import F, R
from ..core.operator import operator
from ..core.promotion import promote_types
from ..core.tensor import Size, Tensor, mark_inference, wrap
from . import arguments as arg
from .arguments import number
from .factories import (
    Array,
    Device,
    Dtype,
    Layout,
    check_options,
    converted,
    dtype_name,
    dtype_of,
    made,
    numpy_dtype,
)

# ---- what dtype and shape data have

PYTHON_NUMBERS = {bool, int, float, complex}
LISTS = {list, tuple}


def leaf_types(data: Any, found: set[type]) -> set[type]:
    """The types of what nested lists and tuples hold."""
    kinds = set(map(type, data))
    if kinds <= LISTS:
        for part in data:
            leaf_types(part, found)
    else:
        found |= kinds
    return found


def array_of(data: Any, dtype: Any, name: str) -> Array:
    """A fresh array of the data, of the dtype that PyTorch infers if none is given."""
    kind = type(data)
    if kind in PYTHON_NUMBERS:
        inferred = dtype_of(data) if dtype is None else None
        return np.asarray(scalar(data, numpy_dtype(dtype, name, inferred), name))
    if kind in LISTS:
        kinds = leaf_types(data, set())
        if kinds <= PYTHON_NUMBERS:
            return array_of_numbers(data, kinds, dtype, name)
    return array_of_anything(data, dtype, name)


def scalar(value: Any, target: np.dtype[Any], name: str) -> Any:
    if isinstance(value, complex) and target.kind not in "cb":
        raise TypeError(f"{name}(): must be real number, not complex, to become {dtype_name(target)}")
    if type(value) is int and target == np.int64 and not -(2**63) <= value < 2**63:
        raise overflow(name, value)
    return converted(value, target, name)


def overflow(name: str, value: Any) -> ValueError:
    return ValueError(f"{name}(): Overflow when unpacking long long: {value} does not fit into int64")


def array_of_numbers(data: Any, kinds: set[type], dtype: Any, name: str) -> Array:
    """Nested lists of nothing but Python numbers: the common case, at NumPy's speed."""
    try:
        array = np.array(data)
    except ValueError:
        raise_ragged(data, name)
    if complex in kinds:
        inferred = dtypes.default_complex()
    elif float in kinds or not kinds:
        inferred = dtypes.get_default_dtype()
    else:
        inferred = dtypes.int64 if int in kinds else dtypes.bool
    target = numpy_dtype(dtype, name, inferred)
    if array.dtype == target:
        return array
    if target.kind in "iu":
        check_integers(array, data, target, name)
    elif array.dtype.kind == "O":
        array = np.array(data, np.float64)
    return cast(array, target, name)


def check_integers(array: Array, data: Any, target: np.dtype[Any], name: str) -> None:
    """Refuse numbers that an integer type does not hold."""
    if array.dtype.kind == "c":
        raise TypeError(f"{name}(): 'complex' object cannot be interpreted as an integer")
    for value in leaves(data) if array.dtype.kind in "Ou" or target.itemsize < 8 or array.dtype.kind == "f" else ():
        scalar(value, target, name)


def leaves(data: Any) -> Any:
    for part in data:
        if type(part) in LISTS:
            yield from leaves(part)
        else:
            yield part


def cast(array: Array, target: np.dtype[Any], name: str) -> Array:
    """The array in another dtype, as a fresh array."""
    if array.dtype.kind == "c" and target.kind not in "cb":
        raise TypeError(f"{name}(): must be real number, not complex, to become {dtype_name(target)}")
    with np.errstate(all="ignore"):
        return array.astype(target)


def raise_ragged(data: Any, name: str) -> NoReturn:
    """The error of sequences whose lengths or depths differ, in PyTorch's words."""
    shape, level = [], data
    while type(level) in LISTS:
        shape.append(len(level))
        if not level:
            break
        level = level[0]

    def check(part: Any, dim: int) -> None:
        if dim == len(shape):
            if type(part) in LISTS:
                raise TypeError(
                    f"{name}(): '{type(part).__name__}' object cannot be interpreted as a number: the sequence "
                    f"has {len(shape)} dimensions where it begins, and more further on"
                )
            return
        if type(part) not in LISTS:
            raise TypeError(f"{name}(): not a sequence: expected one of length {shape[dim]} at dim {dim}, got {part!r}")
        if len(part) != shape[dim]:
            raise ValueError(f"{name}(): expected sequence of length {shape[dim]} at dim {dim} (got {len(part)})")
        for p in part:
            check(p, dim + 1)

    check(data, 0)
    raise ValueError(f"{name}(): the sequences have too many dimensions")


def array_of_anything(data: Any, dtype: Any, name: str) -> Array:
    """Arrays, tensors, NumPy scalars, other sequences, and lists that hold any of these."""
    if isinstance(data, Tensor):
        data = constant_array(data, name)
    if isinstance(data, (np.ndarray, np.generic)):
        array = from_array(np.asarray(data), name, share=False)
        return R.cast(array, numpy_dtype(dtype, name, dtypes.by_numpy[array.dtype]))
    found: list[dtypes.dtype] = []
    nested = plain(data, found, name)
    if not isinstance(nested, list):
        return array_of(nested, dtype, name)
    inferred = found[0] if found else dtypes.get_default_dtype()
    for d in found[1:]:
        inferred = promote_types(inferred, d)
    target = numpy_dtype(dtype, name, inferred)
    try:
        array = np.array(nested, None if target.kind != "V" else np.float32)
    except ValueError:
        raise_ragged(nested, name)
    if array.dtype.kind == "O":
        array = np.array(nested, np.float64)
    return cast(array, target, name)


def plain(data: Any, found: list[dtypes.dtype], name: str) -> Any:
    """Data as nested lists of numbers and arrays, noting the dtypes met."""
    kind = type(data)
    if kind in PYTHON_NUMBERS:
        note(found, dtype_of(data))
        if kind is int and not -(2**63) <= data < 2**63:
            raise overflow(name, data)
        return data
    if isinstance(data, Tensor):
        if data._data.size != 1:
            raise ValueError(
                f"{name}(): only one element tensors can be converted to Python scalars; the list holds one of "
                f"size {list(data.shape)}: use stack"
            )
        note(found, data.dtype)
        return constant_array(data, name).reshape(()).item()
    if isinstance(data, (np.ndarray, np.generic)):
        array = from_array(np.asarray(data), name)
        note(found, dtypes.by_numpy[array.dtype])
        return (
            array.astype(np.float64).tolist()
            if array.dtype.kind == "V"
            else array.tolist()
            if array.ndim
            else array[()]
        )
    if isinstance(data, (int, float, complex)):
        base: Any = next(t for t in (bool, int, float, complex) if isinstance(data, t))
        return plain(base(data), found, name)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"{name}(): new(): invalid data type '{kind.__name__}'")
    if hasattr(data, "__array__"):
        return plain(np.asarray(data), found, name)
    if isinstance(data, Sequence) or (
        hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, dict)
    ):
        return [plain(part, found, name) for part in data]
    raise RuntimeError(f"{name}(): Could not infer dtype of {kind.__name__}")


def note(found: list[dtypes.dtype], d: dtypes.dtype) -> None:
    if d not in found:
        found.append(d)


def constant_array(t: Tensor, name: str) -> Array:
    """The values of a tensor inside of data."""
    if t.is_meta:
        raise RuntimeError(f"{name}(): cannot copy out of a meta tensor: it has no data")
    data = t.detach()._data
    if isinstance(data, Carrier):
        raise RuntimeError(
            f"vmap: {name}() of a list that holds a tensor of the function's own reads values that differ from "
            "example to example. Use stack to join tensors."
        )
    return data


def entered(array: Array) -> Tensor:
    """A tensor over the memory of an array."""
    t = wrap(array)
    mark_inference(t)
    return t


# ---- the public functions


@operator(method=False, out=False)
def tensor(
    data: Any, *, dtype: Dtype = None, device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of a copy of the data, without history.

    Parameters
    ----------
    data
        A number, a nested sequence of numbers, a NumPy array or scalar, a tensor.
    dtype
        If left out: what arrays, NumPy scalars and tensors have; of Python numbers bool, int64, the default
        dtype or its complex type; the promotion of these where they are mixed.
    device
        ``'cpu'`` or ``'meta'``; the default device if left out.
    requires_grad
        Whether operators should record the tensor.
    pin_memory
        Only False: there is no accelerator.

    Raises
    ------
    TypeError, ValueError
        If the data are no numbers, or sequences of unequal lengths.
    RuntimeError
        If a number does not fit into the dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> tp.tensor([1, 2.5], requires_grad=True)
    tensor([1.0000, 2.5000], requires_grad=True)
    """
    if pin_memory:
        check_options("tensor", None, pin_memory)
    if isinstance(data, Tensor) and (type(data._data) is not np.ndarray):
        return copied("tensor", data, dtype, device, requires_grad)
    array = array_of(data, dtype, "tensor")
    t = wrap(Meta(array.shape, array.dtype) if devices.is_meta(device) else array)
    mark_inference(t)
    return t.requires_grad_() if requires_grad else t


def copied(name: str, data: Tensor, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """A copy of a tensor of any kind of data; inside a transform it stays what it is there."""
    target = numpy_dtype(dtype, name, data.dtype)
    if data.is_meta or (device is not None and devices.is_meta(device)):
        if device is not None and not devices.is_meta(device):
            raise RuntimeError(f"{name}(): Cannot copy out of meta tensor; no data!")
        t = wrap(Meta(data._data.shape, target))
    else:
        source = data.detach()
        t = F.clone(source) if source._data.dtype == target else F.cast(source, target)
        t._node = None
    return t.requires_grad_() if requires_grad else t


@operator(method=False, out=False)
def as_tensor(data: Any, dtype: Dtype = None, device: Device = None) -> Tensor:
    """The data as a tensor: a tensor itself, an array's memory shared where dtype and device allow, else a copy.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorplay as tp
    >>> a = np.zeros(2)
    >>> t = tp.as_tensor(a)
    >>> a[0] = 1
    >>> t
    tensor([1., 0.], dtype=tensorplay.float64)
    """
    if isinstance(data, Tensor):
        return F.cast(data, numpy_dtype(dtype, "as_tensor")) if dtype is not None and dtype is not data.dtype else data
    if devices.is_meta(device):
        return tensor(data, dtype=dtype, device=device)
    if isinstance(data, np.ndarray):
        array = from_array(data, "as_tensor")
        target = numpy_dtype(dtype, "as_tensor", dtypes.by_numpy[array.dtype])
        return entered(array if array.dtype == target else R.cast(array, target))
    return entered(array_of(data, dtype, "as_tensor"))


@operator(method=False, out=False)
def from_numpy(ndarray: Array) -> Tensor:
    """A tensor that shares the memory of an array.

    Raises
    ------
    TypeError
        If it is no array, or of a dtype that tensors do not have.
    ValueError
        For negative strides, and for a byte order that is not the machine's.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorplay as tp
    >>> tp.from_numpy(np.array([1, 2]))
    tensor([1, 2])
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy(): expected np.ndarray (got {type(ndarray).__name__})")
    return entered(from_array(ndarray, "from_numpy"))


@operator(method=False, out=False)
def asarray(
    obj: Any, *, dtype: Dtype = None, device: Device = None, copy: bool | None = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The data as a tensor that shares their memory where that can be.

    Parameters
    ----------
    obj
        A tensor, a NumPy array or scalar, an object that exports DLPack or a buffer, a number, a sequence of numbers.
    dtype, device
        As for :func:`tensor`; the elements of a buffer are read as this dtype, or as the default dtype.
    copy
        True: never share memory; False: never copy; None: copy where needed.
    requires_grad
        False: a tensor that requires grad stays in its graph.

    Raises
    ------
    ValueError
        If ``copy`` is False and the memory cannot be shared.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorplay as tp
    >>> a = np.zeros(2)
    >>> t = tp.asarray(a)
    >>> a[0] = 1
    >>> t
    tensor([1., 0.], dtype=tensorplay.float64)
    """
    t, shared = aliased(obj, dtype)
    target = numpy_dtype(dtype, "asarray", t.dtype)
    elsewhere = device is not None and devices.is_meta(device) != t.is_meta
    if t._data.dtype != target or elsewhere:
        if copy is False:
            raise ValueError(
                f"asarray(): can't alias tensor with dtype '{t.dtype}' and device '{t.device}' into dtype "
                f"'{dtypes.by_numpy[target]}' and device '{device}'."
            )
        t = copied("asarray", t, dtypes.by_numpy[target], device, False) if elsewhere else F.cast(t, target)
    elif copy and shared:
        t = F.clone(t)
    elif copy is False and not shared:
        raise ValueError("asarray(): can't alias arbitrary sequence into a tensor.")
    if requires_grad:
        return t if t._node is not None else (t.detach() if t is obj else t).requires_grad_()
    return t


def aliased(obj: Any, dtype: Any) -> tuple[Tensor, bool]:
    """A tensor of the object, and whether it shares its memory."""
    if isinstance(obj, Tensor):
        return obj, True
    if isinstance(obj, np.ndarray):
        return entered(from_array(obj, "asarray")), True
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj), True
    if not isinstance(obj, (np.generic, str, *LISTS, *PYTHON_NUMBERS)):
        try:
            memory = memoryview(obj)
        except TypeError:
            pass
        else:
            return frombuffer(memory, dtype=dtype or dtypes.get_default_dtype()), True
    return entered(array_of(obj, dtype, "asarray")), False


@operator(method=False, out=False)
def frombuffer(
    buffer: Any, *, dtype: Dtype, count: int = -1, offset: int = 0, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A vector over the memory of an object with Python's buffer interface, which it shares.

    Parameters
    ----------
    buffer
        ``bytes``, ``bytearray``, ``memoryview``, ``array.array``, ``mmap``...
    dtype
        How its bytes are read.
    count
        Number of elements; all there are if negative.
    offset
        Bytes to leave out at the beginning.

    Raises
    ------
    ValueError
        If the object has no such interface, or not so many bytes.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.frombuffer(bytearray(b"abc"), dtype=tp.uint8, offset=1)
    tensor([98, 99], dtype=tensorplay.uint8)
    """
    target = numpy_dtype(dtype, "frombuffer")
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError(
            f"frombuffer(): {type(buffer).__name__} object does not implement Python buffer protocol."
        ) from None
    size, width = view.nbytes, target.itemsize
    if not size or not count:
        raise ValueError(f"frombuffer(): both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"frombuffer(): offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) minus 1"
        )
    if count < 0 and (size - offset) % width:
        raise ValueError(
            f"frombuffer(): buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple "
            f"of element size ({width})"
        )
    if count > 0 and count * width > size - offset:
        raise ValueError(
            f"frombuffer(): requested buffer length ({count} * {width} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({size} bytes)"
        )
    array = np.frombuffer(view, np.uint8, -1 if count < 0 else count * width, offset).view(target)
    t = entered(from_array(array, "frombuffer"))
    return t.requires_grad_() if requires_grad else t


@operator(function=False, out=False)
def new_tensor(
    input: Tensor, data: Any, *, dtype: Dtype = None, device: Device = None, requires_grad: bool = False,
    layout: Layout = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of a copy of the data, with the dtype and device of this tensor unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(1).new_tensor([1, 2])
    tensor([1., 2.])
    """
    check_options("new_tensor", layout, pin_memory)
    return tensor(
        data,
        dtype=input.dtype if dtype is None else dtype,
        device=input.device if device is None else device,
        requires_grad=requires_grad,
    )


@operator(function=False, out=False)
def new(input: Tensor, *args: Any, device: Device = None) -> Tensor:
    """As ``Tensor(...)``, with the dtype and device of this tensor: from sizes, or from a sequence of numbers.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1]).new([2, 3])
    tensor([2, 3])
    >>> tp.tensor([1]).new(2, 3).shape
    tensorplay.Size([2, 3])
    """
    return of_type(input.dtype, args, input.device if device is None else device)


def of_type(dtype: dtypes.dtype, args: tuple[Any, ...], device: Any) -> Tensor:
    """A tensor of sizes, passed one by one or as a Size, or of data, in a given dtype."""
    if len(args) == 1 and not isinstance(args[0], (int, np.integer, Size)):
        data = args[0]
        if isinstance(data, Tensor):
            if data.dtype is not dtype:
                raise TypeError(f"expected {dtype} (got {data.dtype})")
            return data._alias(data._node)
        if not isinstance(data, (Sequence, np.ndarray)) or isinstance(data, str):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        return tensor(data, dtype=dtype, device=device)
    shape = arg.sizes(args[0], args[1:], "new") if args else (0,)
    return made("new", np.empty, shape, dtype, None, device, False, False)


@operator(method=False, out=False)
def scalar_tensor(
    s: complex | Tensor, *, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of no dimensions, of the default dtype unless another is given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.scalar_tensor(3)
    tensor(3.)
    """
    value = number(s, "scalar_tensor", "s", 1)
    return made(
        "scalar_tensor",
        lambda shape, dtype: np.full(shape, converted(value, dtype, "scalar_tensor"), dtype),
        (),
        dtype,
        layout,
        device,
        requires_grad,
        pin_memory,
    )
