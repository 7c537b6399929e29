"""What the pickle of a checkpoint names: PyTorch's functions and classes, and what stands for them here."""

from __future__ import annotations

import collections
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core import layout
from ..core.carrier import Meta
from ..core.device import device as Device
from ..core.interop import part_of, restore
from ..core.tensor import Size, Tensor, wrap


class Named:
    """Stands in a pickle for one of PyTorch's functions or classes."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:  # as pickle demands of what is called when a file is loaded
        raise TypeError(f"{self.module}.{self.name} has a meaning in files alone")


STORAGES = {
    dtypes.bool: "Bool", dtypes.uint8: "Byte", dtypes.int8: "Char", dtypes.int16: "Short", dtypes.int32: "Int",
    dtypes.int64: "Long", dtypes.float16: "Half", dtypes.bfloat16: "BFloat16", dtypes.float32: "Float",
    dtypes.float64: "Double", dtypes.complex64: "ComplexFloat", dtypes.complex128: "ComplexDouble",
}  # fmt: skip
STORAGE_NAMES = {d: Named("torch", name + "Storage") for d, name in STORAGES.items()}
UNTYPED = Named("torch.storage", "UntypedStorage")  # of the dtypes that have no name of their own
TENSOR, FROM_TYPE = Named("torch", "Tensor"), Named("torch._tensor", "_rebuild_from_type_v2")
REBUILD, REBUILD_WITH_DTYPE = Named("torch._utils", "_rebuild_tensor_v2"), Named("torch._utils", "_rebuild_tensor_v3")
REBUILD_META = Named("torch._utils", "_rebuild_meta_tensor_no_storage")
REBUILD_PARAMETER = Named("torch._utils", "_rebuild_parameter")
REBUILD_PARAMETER_WITH_STATE = Named("torch._utils", "_rebuild_parameter_with_state")
SIZE, DEVICE = Named("torch", "Size"), Named("torch", "device")
GET_LAYOUT = Named("torch.serialization", "_get_layout")


class Storage:
    """The memory of tensors in a checkpoint: its bytes, and how many elements of which dtype they are."""

    def __init__(self, dtype: dtypes.dtype | None, numel: int) -> None:
        self.dtype, self.numel = dtype, numel
        self.meta = False  # whether its tensors have no data
        self.array: np.ndarray[Any, Any] | None = None
        self.filled = False  # whether the bytes are there: files from before PyTorch 1.6 have them at the end
        self.swapped = False  # whether the bytes are in the other order, as nobody knew of what dtype they are

    @property
    def nbytes(self) -> int:
        return self.numel * (1 if self.dtype is None else self.dtype.itemsize)

    def fill(self, content: np.ndarray[Any, Any], swapped: bool) -> None:
        """Take over bytes; ``swapped`` if those of each element are in the other order than this machine's."""
        if swapped and self.dtype is None:
            self.swapped = True
        elif swapped and self.dtype is not None:
            part = self.dtype.itemsize // (2 if self.dtype.is_complex else 1)
            content = content.reshape(-1, part)[:, ::-1].reshape(-1)
        if self.array is None:
            self.array = content
        else:
            self.array[...] = content
        self.filled = True


def rebuild_tensor(
    storage: Storage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, dtype: Any = None
) -> Tensor:
    """The part of a storage that a tensor is; what does not lie within the storage is refused."""
    d = dtype or storage.dtype
    if not isinstance(d, dtypes.dtype):
        raise pickle.UnpicklingError(f"load(): a tensor without a dtype, or of one that there is not, {d}")
    if storage.swapped and d.itemsize > 1:
        raise pickle.UnpicklingError(f"load(): a tensor of dtype {d} with its bytes in the other order")
    shape, steps = tuple(map(int, size)), tuple(map(int, stride))
    if storage.meta or storage.array is None:
        return restore(wrap(Meta(shape, d.numpy)), requires_grad, {})
    item = d.itemsize
    last = offset + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)) + 1 if 0 not in shape else 0
    if min((offset, *shape, *steps), default=0) < 0 or last * item > storage.array.nbytes:
        raise pickle.UnpicklingError(
            f"load(): a tensor of shape {list(shape)}, strides {list(steps)} and offset {offset} does not lie within "
            f"its storage of {storage.array.nbytes} bytes"
        )
    strides = tuple(s * item for s in steps)
    return restore(wrap(part_of(storage.array, shape, strides, offset * item, d.numpy)), requires_grad, {})


def rebuild_with_metadata(
    storage: Storage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, metadata: Any = None
) -> Tensor:
    """A tensor that may be marked as the conjugate or the negative of what the storage holds; it is computed then."""
    marks = {name for name, marked in (metadata or {}).items() if marked}
    t = rebuild_tensor(storage, offset, size, stride, requires_grad and not marks, hooks)
    if marks and (marks - {"conj", "neg"} or not (storage.filled or storage.meta)):
        raise pickle.UnpicklingError(f"load(): a tensor that is marked as {', '.join(sorted(marks))}")
    t = t.conj() if "conj" in marks else t
    t = -t if "neg" in marks else t
    return t.requires_grad_() if marks and requires_grad else t


def rebuild_with_dtype(
    storage: Storage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, dtype: Any, *rest: Any
) -> Tensor:
    return rebuild_tensor(storage, offset, size, stride, requires_grad, hooks, dtype)


def rebuild_plain(storage: Storage, offset: int, size: Any, stride: Any) -> Tensor:
    """As before PyTorch 0.4."""
    return rebuild_tensor(storage, offset, size, stride, False, None)


def rebuild_meta(dtype: dtypes.dtype, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    return restore(wrap(Meta(tuple(size), dtype.numpy)), requires_grad, {})


def rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any, state: Any = None) -> Tensor:
    from ..nn.parameter import Parameter

    return restore(Parameter(data, requires_grad), False, state or {})


def make_parameter(data: Tensor, requires_grad: bool = True) -> Tensor:
    """As before PyTorch 0.4."""
    return rebuild_parameter(data, requires_grad, None)


def rebuild_from_type(function: Callable[..., Tensor], kind: type, args: Any, state: dict[str, Any]) -> Tensor:
    if function not in (rebuild_with_metadata, rebuild_with_dtype, rebuild_meta, rebuild_parameter):
        raise pickle.UnpicklingError(f"load(): {function!r} where a tensor should be made")
    t = function(*args)
    if state.get("_is_buffer"):
        from ..nn.parameter import Buffer

        return Buffer(t, persistent=state.get("persistent", True))
    return restore(t, False, state)


def storage_type(d: dtypes.dtype | None) -> Callable[[], dtypes.dtype | None]:
    return lambda: d


def get_layout(name: str) -> layout.layout:
    if name != "torch.strided":
        raise pickle.UnpicklingError(f"load(): the layout {name} is not supported; tensors are strided")
    return layout.strided


def encode(text: str, encoding: str) -> bytes:
    """How pickles up to protocol 2 hold bytes; other codecs may unpack a little to a lot."""
    if type(text) is not str or encoding != "latin1":
        raise pickle.UnpicklingError(f"load(): bytes in the encoding {encoding!r}")
    return text.encode("latin1")


def as_bytearray(*content: Any) -> bytearray:
    """Of bytes or text, not of a number, for which it would take as much memory as it is told to."""
    if content and not isinstance(content[0], (bytes, str)):
        raise pickle.UnpicklingError(f"load(): a bytearray of a {type(content[0]).__name__}")
    return bytearray(*content)


CALLED: dict[tuple[str, str], Callable[..., Any]] = {
    ("collections", "OrderedDict"): collections.OrderedDict, ("collections", "Counter"): collections.Counter,
    ("builtins", "set"): set, ("builtins", "frozenset"): frozenset, ("builtins", "complex"): complex,
    ("builtins", "slice"): slice, ("builtins", "bytearray"): as_bytearray, ("_codecs", "encode"): encode,
    ("torch", "Size"): Size, ("torch", "device"): Device,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_with_metadata,
    ("torch._utils", "_rebuild_tensor_v3"): rebuild_with_dtype,
    ("torch._utils", "_rebuild_tensor"): rebuild_plain, ("torch.nn.parameter", "Parameter"): make_parameter,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild_meta,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild_from_type,
    ("torch.serialization", "_get_layout"): get_layout,
}  # fmt: skip
"""What a checkpoint may call."""

KNOWN: dict[tuple[str, str], Any] = {
    **CALLED,
    ("torch", "Tensor"): Tensor,
    ("torch.storage", "UntypedStorage"): storage_type(None),
    **{("torch", name + "Storage"): storage_type(d) for d, name in STORAGES.items()},
    **{("torch", d.name): d for d in dtypes.ALL},
}
"""What a checkpoint may name."""

STORAGE_DTYPES = {function: function() for (_, name), function in KNOWN.items() if name.endswith("Storage")}
