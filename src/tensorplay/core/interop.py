"""Tensors and the rest of Python: NumPy, numbers, lists, text, copies, pickles, other libraries' arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import dtype as dtypes
from .carrier import Batched, Carrier, Dual, DualLevel, Meta, Moving
from .namespace import F
from .node import AccumulateGrad
from .printing import meta_str, tensor_str
from .registry import LaterAttribute
from .state import grad_mode, live_levels, state
from .tensor import Tensor, overridden, overrides, wrap
from .versions import storage_of

Array = np.ndarray[Any, Any]


def readable(t: Tensor, name: str) -> Array:
    """The array of a tensor's values; a dual is read as its primal, a batch not at all."""
    data = t._data
    while isinstance(data, Moving):
        data = data.primal._data
    if type(data) is Batched:
        raise RuntimeError(
            f"vmap: {name} reads a value that differs from example to example, as data-dependent control flow does. "
            "Use where() to choose between values, or return the tensor from the function."
        )
    if type(data) is Meta:
        raise NotImplementedError(f"{name}: Cannot copy out of meta tensor; no data!")
    if type(data) is not np.ndarray and state.tracing is not None:
        state.tracing.refuse(f"{name}, which reads values,")
    return data


# ---- Python numbers and lists


def item(self: Tensor) -> Any:
    """The value of a tensor of one element, as a Python number.

    Raises
    ------
    RuntimeError
        If there is not exactly one element, and for a batch inside vmap.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([2.5]).item()
    2.5
    """
    if self._data.size != 1:
        raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
    data = readable(self, "item()")
    value = data.item()
    return float(value) if data.dtype.kind == "V" else value


def tolist(self: Tensor) -> Any:
    """The values as nested lists of Python numbers; of a tensor of no dimensions the number.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    data = readable(self, "tolist()")
    return (data.astype(np.float32) if data.dtype.kind == "V" else data).tolist()


def single(self: Tensor) -> Any:
    """The number of a conversion such as ``float(t)``."""
    if self._data.size != 1:
        raise ValueError(
            f"only one element tensors can be converted to Python scalars, got size {list(self._data.shape)}"
        )
    return item(self)


def as_float(self: Tensor) -> float:
    value = single(self)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type double without overflow, got {value}")
        value = value.real
    return float(value)


def as_int(self: Tensor) -> int:
    value = single(self)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type int64 without overflow, got {value}")
        value = value.real
    return int(value)


def as_complex(self: Tensor) -> complex:
    return complex(single(self))


def as_index(self: Tensor) -> int:
    if self._data.size != 1 or self._data.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(readable(self, "index()").item())


def truth(self: Tensor) -> bool:
    size = self._data.size
    if size != 1:
        what = "more than one value" if size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    return bool(readable(self, "bool()").item())


# ---- NumPy


def numpy(self: Tensor, *, force: bool = False) -> Array:
    """The values as a NumPy array that shares the tensor's memory.

    Parameters
    ----------
    force
        Also of a tensor that requires grad: its values alone.

    Raises
    ------
    RuntimeError
        If the tensor requires grad while grad mode is on, and for a batch inside vmap.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.zeros(2)
    >>> x.numpy()[0] = 1
    >>> x
    tensor([1., 0.])
    """
    if self._node is not None and not force and grad_mode():
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self.is_meta:
        raise TypeError("can't convert meta device type tensor to numpy: it has no data")
    return readable(self, "numpy()")


def as_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """What ``np.asarray(tensor)`` gives."""
    array = numpy(self)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"cannot make an array of {np.dtype(dtype)} from a {self.dtype} tensor without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def wrap_array(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """What a NumPy function of tensors returns: a tensor."""
    return wrap(from_array(np.asarray(array), "__array_wrap__"))


OPERATORS = {
    np.add: ("add", "radd"), np.subtract: ("sub", "rsub"), np.multiply: ("mul", "rmul"), np.power: ("pow", "rpow"),
    np.true_divide: ("truediv", "rtruediv"), np.floor_divide: ("floordiv", "rfloordiv"),
    np.remainder: ("mod", "rmod"), np.matmul: ("matmul", "rmatmul"), np.bitwise_and: ("and", "rand"),
    np.bitwise_or: ("or", "ror"), np.bitwise_xor: ("xor", "rxor"), np.left_shift: ("lshift", "rlshift"),
    np.right_shift: ("rshift", "rrshift"), np.less: ("lt", "gt"), np.less_equal: ("le", "ge"),
    np.greater: ("gt", "lt"), np.greater_equal: ("ge", "le"), np.equal: ("eq", "eq"), np.not_equal: ("ne", "ne"),
}  # fmt: skip
"""What the ufuncs of Python's operators are to a tensor on their left, and to one on their right."""


def array_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
    """What a ufunc of NumPy does with tensors.

    ``array + tensor`` comes here, and is the tensor's own operator. Any other ufunc takes the values,
    and gives tensors. ``array += tensor`` comes as ``out=array``: the values go into the array, which is the result.
    """
    if method == "__call__" and ufunc in OPERATORS and not out and not options:
        (left, right), (name, reflected) = inputs, OPERATORS[ufunc]
        if isinstance(left, Tensor):
            result = getattr(left, f"__{name}__")(right)
        else:
            result = getattr(right, f"__{reflected}__")(left)
        if result is not NotImplemented:
            return result
    if any(isinstance(t, Tensor) for t in out):
        raise TypeError(f"{ufunc.__name__}: return arrays must be of ArrayType, but out is a Tensor; take its numpy()")
    arrays = [as_array(t) if isinstance(t, Tensor) else t for t in inputs]
    if out:
        return getattr(ufunc, method)(*arrays, out=out, **options)
    result = getattr(ufunc, method)(*arrays, **options)
    if type(result) is tuple:
        return tuple([wrap_array(self, part) for part in result])
    return None if result is None else wrap_array(self, result)


def from_array(array: Array, name: str, share: bool = True) -> Array:
    """The array, if a tensor can hold it.

    Raises
    ------
    TypeError
        For a type of elements that tensors do not have.
    ValueError
        For the other byte order, and for negative strides where the memory is to be shared.
    """
    dtypes.from_numpy(array.dtype)
    if share:
        if array.ndim and min(array.strides) < 0:
            raise ValueError(
                f"{name}(): At least one stride in the given numpy array is negative, and tensors with negative "
                "strides are not currently supported. (You can probably work around this by making a copy of "
                "your array with array.copy().)"
            )
        if any(s % array.itemsize for s in array.strides):
            raise ValueError(
                f"{name}(): given numpy array strides are not a multiple of the element byte size; make a copy "
                "with array.copy()"
            )
        if not array.flags.writeable:
            warnings.warn(
                f"{name}(): The given NumPy array is not writable, so neither is the tensor: in-place operators on it "
                "raise. Copy the array first, or use tensor() instead.",
                UserWarning,
                stacklevel=3,
            )
    return array if type(array) is np.ndarray else array.view(np.ndarray)


# ---- other libraries, through DLPack


def export(
    self: Tensor, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
) -> Any:
    """A DLPack capsule of the tensor's memory, for :func:`from_dlpack` of another library.

    Raises
    ------
    BufferError
        If the tensor requires grad, or has no memory of its own.
    """
    if self._node is not None:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if not isinstance(self._data, np.ndarray):
        raise BufferError(
            f"Can't export a tensor on {self.device} or inside a transform: it is no single array in memory"
        )
    if self._data.dtype.kind == "V":
        raise BufferError(
            "Can't export a bfloat16 tensor through DLPack: NumPy has no such type; convert it to float32 first"
        )
    options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    return self._data.__dlpack__(stream=stream, **{k: v for k, v in options.items() if v is not None})


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of the tensor's memory; ``from_dlpack(tensor)`` of the other library needs none.

    Raises
    ------
    BufferError
        If the tensor requires grad, or has no memory of its own.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.from_dlpack(tp.to_dlpack(tp.zeros(2)))
    tensor([0., 0.])
    """
    versioned = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # a capsule without a version is taken as read-only
    return export(tensor, max_version=(1, 0) if versioned else None)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """Type and number of the device, as DLPack counts them: (1, 0), the CPU."""
    if self.is_meta:
        raise BufferError("a meta tensor has no device that DLPack knows")
    return 1, 0


class Capsule:
    """A bare DLPack capsule, as an object that NumPy takes."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's array.

    Parameters
    ----------
    ext_tensor
        An object with ``__dlpack__``, or a DLPack capsule.
    device
        ``'cpu'``, or None.
    copy
        True: copy in any case; False: never; None: as the other library needs.

    Raises
    ------
    TypeError
        If it is neither.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorplay as tp
    >>> tp.from_dlpack(np.arange(3))
    tensor([0, 1, 2])
    """
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = Capsule(ext_tensor)
    elif not hasattr(ext_tensor, "__dlpack__"):
        raise TypeError(
            f"from_dlpack(): expected an object with __dlpack__ or a DLPack capsule, got {type(ext_tensor).__name__}"
        )
    if device is not None and str(device) not in ("cpu", "cpu:0"):
        raise RuntimeError(f"from_dlpack(): device {device} is not supported; use 'cpu'")
    if copy is None:
        return wrap(from_array(np.from_dlpack(ext_tensor), "from_dlpack"))
    return wrap(from_array(np.from_dlpack(ext_tensor, copy=copy), "from_dlpack"))


# ---- copies and pickles


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf of its own memory; views of one tensor that are copied together share memory again.

    Raises
    ------
    RuntimeError
        If the tensor is the result of a recorded operator.
    """
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment. Use tensor.detach().clone(), or copy before the operator that made the tensor."
        )
    import copy

    data = self._data
    if isinstance(data, Carrier):
        t = F.clone(self.detach())
    else:
        t = wrap(data if type(data) is Meta else in_memory(data, memo), type(self))
    memo[id(self)] = t
    restore(t, self._node is not None, copy.deepcopy(attributes(self), memo))
    if self.grad is not None:
        t.grad = copy.deepcopy(self.grad, memo)
    return t


def in_memory(array: Array, memo: dict[int, Any]) -> Array:
    """The same part of a copy of the array's whole memory."""
    storage = storage_of(array)
    copied = memo.get(id(storage))
    if copied is None:
        copied = memo[id(storage)] = storage.copy("K")
        memo.setdefault(id(memo), []).append(
            storage
        )  # as copy.deepcopy does: an id is only good while its object lives
    return part_of(copied, array.shape, array.strides, offset_in(storage, array), array.dtype)


def offset_in(storage: Array, array: Array) -> int:
    return int(array.__array_interface__["data"][0] - storage.__array_interface__["data"][0])


def part_of(storage: Array, shape: Any, strides: Any, offset: int, dtype: Any) -> Array:
    """An array over part of the memory of another one."""
    if storage.shape == shape and storage.strides == strides and storage.dtype == dtype and not offset:
        return storage
    if not storage.flags.c_contiguous:
        storage = storage.T
    return np.ndarray(shape, dtype, storage, offset, strides)


def attributes(t: Tensor) -> dict[str, Any]:
    return getattr(t, "__dict__", None) or {}


def restore(t: Tensor, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    """Give a fresh tensor what else belongs to it."""
    if requires_grad:
        t.requires_grad_()
    t.__dict__.update(attributes)
    return t


def shallow_copy(self: Tensor) -> Tensor:
    """A leaf that shares the memory."""
    t = wrap(self._data, type(self))
    return restore(t, self._node is not None, attributes(self))


def rebuild(
    cls: type[Tensor],
    storage: Any,
    shape: Any,
    strides: Any,
    offset: int,
    dtype: Any,
    requires_grad: bool,
    attributes: dict[str, Any],
) -> Tensor:
    """The tensor of a pickle."""
    overridden(cls)
    d = dtypes.by_numpy[dtype] if isinstance(dtype, np.dtype) else dtype
    if storage is None:
        return restore(wrap(Meta(tuple(shape), d.numpy), cls), requires_grad, attributes)
    if not storage.flags.writeable:
        storage = storage.copy("K")
    return restore(
        wrap(part_of(storage, tuple(shape), tuple(strides), offset, d.numpy), cls), requires_grad, attributes
    )


def reduce(self: Tensor, protocol: Any) -> Any:
    """Pickled as the memory and the part of it: tensors that share memory in one pickle share it when it is loaded."""
    if isinstance(self._data, Carrier):
        raise RuntimeError("a tensor inside a transform cannot be pickled; return it from the function first")
    extra = (self._node is not None, attributes(self))
    if type(self._data) is Meta:
        return rebuild, (type(self), None, self._data.shape, None, 0, self.dtype, *extra)
    array = self._data
    storage = storage_of(array)
    if storage.nbytes > 2 * array.nbytes + 1024 and not (storage.flags.c_contiguous or storage.flags.f_contiguous):
        storage = array = array.copy()
    return rebuild, (type(self), storage, array.shape, array.strides, offset_in(storage, array), self.dtype, *extra)


def flipped(self: Tensor) -> Tensor:
    """``reversed(t)``: the tensor with its first dimension in the opposite order."""
    return self.flip(0) if self._data.shape else self


# ---- text


def suffixes(t: Tensor) -> list[str]:
    if t._node is None:
        return []
    if type(t._node) is AccumulateGrad:
        return ["requires_grad=True"]
    return [f"grad_fn=<{t.grad_fn.name()}>"]  # type: ignore[union-attr]


def representation(self: Tensor) -> str:
    """``repr(tensor)``; of a carrier, what it holds."""
    data = self._data
    if type(data) is Dual:
        if type(data.level) is DualLevel and data.level not in live_levels:
            return representation(data.primal)
        if type(data.primal._data) is np.ndarray:
            tangent = f"tangent={representation(data.tangent)}"
            return tensor_str(data.primal._data, dtype=self.dtype, suffixes=[*suffixes(self), tangent])
    if isinstance(data, Carrier):
        kind = type(data).__name__
        inner = representation(data.inner)
        return f"{kind}(level={data.level}, {inner})"
    if type(data) is Meta:
        return meta_str(tuple(data.shape), dtype=self.dtype, suffixes=suffixes(self))
    kind = "tensor" if not overrides(type(self)) else type(self).__name__
    return tensor_str(data, dtype=self.dtype, suffixes=suffixes(self), prefix=f"{kind}(")


def formatted(self: Tensor, spec: str) -> str:
    """A tensor of no dimensions is formatted as its number, any other as its text."""
    if (
        not self._data.shape
        and type(self) is Tensor
        and type(self._data) is not Meta
        and not isinstance(self._data, Batched)
    ):
        return format(item(self), spec)
    return object.__format__(self, spec)


METHODS = {
    "item": item, "tolist": tolist, "numpy": numpy,
    "__array__": as_array, "__array_wrap__": wrap_array, "__array_ufunc__": array_ufunc,
    "__dlpack__": export, "__dlpack_device__": dlpack_device,
    "__float__": as_float, "__int__": as_int, "__complex__": as_complex, "__index__": as_index, "__bool__": truth,
    "__reversed__": flipped,
    "__repr__": representation, "__format__": formatted,
    "__deepcopy__": deepcopy, "__copy__": shallow_copy, "__reduce_ex__": reduce,
}  # fmt: skip
for _name, _function in METHODS.items():
    setattr(Tensor, _name, _function)
for _name in ("is_shared", "share_memory_"):
    LaterAttribute(Tensor, _name, "tensorplay.core.sharing")
