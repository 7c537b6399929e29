"""Saving and loading, in the format of PyTorch's checkpoints: what one library saves, the other one loads.

A checkpoint is a zip archive that is not compressed: ``data.pkl`` is a pickle of everything but the numbers, and
``data/0``, ``data/1``, ... are the memory of the tensors. The pickle names PyTorch's functions; here they mean those in
``KNOWN``.
"""

from __future__ import annotations

import codecs
import collections
import io
import os
import pickle
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from .core import dtype as dtypes
from .core.carrier import Carrier, Meta
from .core.device import device as Device
from .core.interop import attributes, offset_in, part_of, restore
from .core.tensor import Size, Tensor, wrap
from .core.versions import storage_of

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

File = str | os.PathLike[str] | IO[bytes]
ALIGNMENT = 64  # of the numbers in the file, so that they can be mapped into memory

# ---- what the pickle names


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
SIZE, DEVICE = Named("torch", "Size"), Named("torch", "device")


class Storage:
    """The memory of tensors in a checkpoint: its elements, and where they were when they were saved."""

    def __init__(self, array: np.ndarray[Any, Any] | None, dtype: dtypes.dtype | None, numel: int, meta: bool) -> None:
        self.array, self.dtype, self.numel, self.meta = array, dtype, numel, meta


def rebuild_tensor(
    storage: Storage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, dtype: Any = None
) -> Tensor:
    """The part of a storage that a tensor is; what does not lie within the storage is refused."""
    d = dtype or storage.dtype
    if not isinstance(d, dtypes.dtype):
        raise pickle.UnpicklingError("load(): a tensor without a dtype")
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


def rebuild_with_dtype(
    storage: Storage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, dtype: Any, *rest: Any
) -> Tensor:
    return rebuild_tensor(storage, offset, size, stride, requires_grad, hooks, dtype)


def rebuild_meta(dtype: dtypes.dtype, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    return restore(wrap(Meta(tuple(size), dtype.numpy)), requires_grad, {})


def rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any, state: Any = None) -> Tensor:
    from .nn.parameter import Parameter

    return restore(Parameter(data, requires_grad), False, state or {})


def rebuild_from_type(function: Callable[..., Tensor], kind: type, args: Any, state: dict[str, Any]) -> Tensor:
    t = function(*args)
    if not isinstance(t, Tensor):
        raise pickle.UnpicklingError(f"load(): a {type(t).__name__} where a tensor should be")
    if state.get("_is_buffer"):
        from .nn.parameter import Buffer

        return Buffer(t, persistent=state.get("persistent", True))
    return restore(t, False, state)


def storage_type(d: dtypes.dtype | None) -> Callable[[], dtypes.dtype | None]:
    return lambda: d


KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): collections.OrderedDict, ("collections", "Counter"): collections.Counter,
    ("builtins", "set"): set, ("builtins", "frozenset"): frozenset, ("builtins", "complex"): complex,
    ("builtins", "slice"): slice, ("builtins", "bytearray"): bytearray, ("_codecs", "encode"): codecs.encode,
    ("torch", "Size"): Size, ("torch", "device"): Device, ("torch", "Tensor"): Tensor,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor, ("torch._utils", "_rebuild_tensor_v3"): rebuild_with_dtype,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild_meta,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild_from_type,
    ("torch.storage", "UntypedStorage"): storage_type(None),
    **{("torch", name + "Storage"): storage_type(d) for d, name in STORAGES.items()},
    **{("torch", d.name): d for d in dtypes.ALL},
}  # fmt: skip
STORAGE_DTYPES = {function: function() for (_, name), function in KNOWN.items() if name.endswith("Storage")}

# ---- saving


class Pickler(pickle._Pickler):
    """Writes tensors as references to their memory, which it collects."""

    def __init__(self, file: IO[bytes], protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[int, tuple[int, dtypes.dtype, Any, Any]] = {}  # key, dtype, owner, its elements

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Also names what is not there to be imported."""
        if isinstance(obj, dtypes.dtype):
            obj = Named("torch", obj.name)
        elif not isinstance(obj, Named):
            return super().save_global(obj, name)  # type: ignore[misc]
        if self.proto >= 4:  # type: ignore[attr-defined]
            self.save(obj.module)  # type: ignore[attr-defined]
            self.save(obj.name)  # type: ignore[attr-defined]
            self.write(pickle.STACK_GLOBAL)  # type: ignore[attr-defined]
        else:
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())  # type: ignore[attr-defined]

    def persistent_id(self, obj: Any) -> Any:
        return obj.pid if isinstance(obj, Reference) else None

    def reducer_override(self, obj: Any) -> Any:
        """How values of this library are written."""
        if isinstance(obj, (Named, dtypes.dtype)):
            return "named"
        if isinstance(obj, Size):
            return SIZE, (tuple(obj),)
        if isinstance(obj, Device):
            return DEVICE, (str(obj),)
        if not isinstance(obj, Tensor):
            return NotImplemented
        if isinstance(obj._data, Carrier):
            raise RuntimeError("save(): a tensor inside a transform cannot be saved; return it from the function first")
        nn = sys.modules.get("tensorplay.nn.parameter")  # where it was not imported there are no parameters
        if type(obj) is Tensor:
            function, args = self.rebuilding(obj)
            state = dict(attributes(obj))
            return (FROM_TYPE, (function, TENSOR, args, state)) if state else (function, args)
        if nn is not None and type(obj) is nn.Parameter and type(obj._data) is np.ndarray:
            return REBUILD_PARAMETER, (obj.detach(), obj.requires_grad, collections.OrderedDict())
        if nn is not None and type(obj) is nn.Buffer:
            function, args = self.rebuilding(obj)
            return FROM_TYPE, (function, TENSOR, args, {**attributes(obj), "_is_buffer": True})
        return NotImplemented

    def rebuilding(self, t: Tensor) -> tuple[Named, tuple[Any, ...]]:
        """The function that makes the tensor again, and its arguments."""
        requires_grad, array = t._node is not None, t._data
        if type(array) is Meta:
            return REBUILD_META, (t.dtype, tuple(t.shape), t.stride(), requires_grad)
        storage = storage_of(array)
        dense = storage.flags.c_contiguous or storage.flags.f_contiguous
        entry, item = self.storages.get(id(storage)), array.itemsize
        offset = offset_in(storage, array)
        if not dense or min(array.strides, default=0) < 0 or any(n % item for n in (offset, *array.strides)) or (
            entry is not None and entry[1] is not t.dtype
        ):  # fmt: skip
            storage = array = np.array(array, order="C")  # in memory of its own
            offset = 0
        key, reference = self.reference(storage, t.dtype)
        steps = tuple(s // item for s in array.strides) if array.size else t.stride()
        hooks: Any = collections.OrderedDict()
        args = (reference, offset // item, tuple(array.shape), steps, requires_grad, hooks)
        return (REBUILD, args) if t.dtype in STORAGE_NAMES else (REBUILD_WITH_DTYPE, (*args, t.dtype))

    def reference(self, storage: Any, dtype: dtypes.dtype) -> tuple[int, Reference]:
        """The number of a storage in the archive, and what refers to it in the pickle."""
        if id(storage) not in self.storages:
            flat = storage if storage.flags.c_contiguous else storage.T
            elements = flat.reshape(-1).view(np.uint8) if storage.size else np.empty(0, np.uint8)
            self.storages[id(storage)] = (len(self.storages), dtype, storage, elements)
        key, _, _, elements = self.storages[id(storage)]
        named = STORAGE_NAMES.get(dtype)
        count = len(elements) // dtype.itemsize if named else len(elements)
        return key, Reference(("storage", named or UNTYPED, str(key), "cpu", count))


class Reference:
    """A storage in a pickle."""

    def __init__(self, pid: Any) -> None:
        self.pid = pid


def save(
    obj: object, f: File, pickle_module: Any = pickle, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False,
) -> None:  # fmt: skip
    """Save anything that can be pickled, and the tensors in it, to a file that PyTorch can load, too.

    Parameters
    ----------
    obj : object
        Such as a ``state_dict``. Tensors that share memory share it again when they are loaded.
    f : str, path or file
        Where to.
    pickle_module : module
        Only :mod:`pickle`.
    pickle_protocol : int
        Its protocol; PyTorch loads those of protocol 2 without further ado.

    Raises
    ------
    RuntimeError
        If a tensor is one inside a transform.
    ValueError
        For another module than pickle, or for the format before PyTorch 1.6.

    See Also
    --------
    load

    Examples
    --------
    >>> import io
    >>> import tensorplay as tp
    >>> file = io.BytesIO()
    >>> tp.save({"step": 3, "weight": tp.tensor([1., 2.])}, file)
    >>> _ = file.seek(0)
    >>> tp.load(file)
    {'step': 3, 'weight': tensor([1., 2.])}
    """
    if pickle_module is not pickle:
        raise ValueError(f"save(): argument 'pickle_module' must be pickle, got {pickle_module!r}")
    if not _use_new_zipfile_serialization:
        raise ValueError("save(): only the zip format can be written")
    buffer = io.BytesIO()
    pickler = Pickler(buffer, pickle_protocol)
    pickler.dump(obj)
    stem = os.path.basename(os.fspath(f)) if isinstance(f, (str, os.PathLike)) else "archive"
    name = os.path.splitext(stem)[0] or "archive"
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        write(archive, f"{name}/data.pkl", buffer.getbuffer())
        write(archive, f"{name}/.format_version", b"1")
        write(archive, f"{name}/.storage_alignment", str(ALIGNMENT).encode())
        if not _disable_byteorder_record:
            write(archive, f"{name}/byteorder", sys.byteorder.encode())
        for key, _, _, elements in pickler.storages.values():
            write(archive, f"{name}/data/{key}", elements.data)
        write(archive, f"{name}/version", b"3\n")


def write(archive: zipfile.ZipFile, name: str, content: Any) -> None:
    """One file of the archive, its content aligned."""
    info = zipfile.ZipInfo(name)  # of 1980: equal content makes equal files
    large = len(content) >= zipfile.ZIP64_LIMIT
    start = archive.fp.tell() if archive.fp is not None else 0
    head = start + 30 + len(info.filename.encode()) + (20 if large else 0) + 4
    fill = -head % ALIGNMENT
    info.extra = struct.pack("<HH", 0x4246, fill) + b"Z" * fill  # a field that readers pass over
    with archive.open(info, "w", force_zip64=large) as file:
        file.write(content)


# ---- loading


class Reader:
    """Finds what the pickle of a checkpoint refers to."""

    def __init__(self, archive: zipfile.ZipFile, root: str, path: Any, place: Callable[[Storage, str], bool]) -> None:
        self.archive, self.root, self.path, self.place = archive, root, path, place
        self.storages: dict[str, Storage] = {}
        order = self.read("byteorder")
        self.swapped = order is not None and order.decode().strip() not in ("", sys.byteorder)

    def read(self, name: str) -> bytes | None:
        return self.archive.read(self.root + name) if self.root + name in self.archive.NameToInfo else None

    def storage(self, pid: Any) -> Storage:
        """The storage that is referred to as ``("storage", type, key, location, number of elements)``."""
        try:
            kind, type_, key, location, numel = pid
            dtype = STORAGE_DTYPES[type_]
        except (KeyError, TypeError, ValueError):
            raise pickle.UnpicklingError(f"load(): a reference to something other than a storage: {pid!r}") from None
        if kind != "storage":
            raise pickle.UnpicklingError(f"load(): a reference to something other than a storage: {kind!r}")
        if key not in self.storages:
            storage = Storage(None, dtype, numel, False)
            storage.meta = self.place(storage, location)
            if not storage.meta:
                numbers = np.dtype(np.uint8) if dtype is None else dtype.numpy
                storage.array = self.elements(f"{self.root}data/{key}", numbers)
            self.storages[key] = storage
        return self.storages[key]

    def elements(self, name: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        if name not in self.archive.NameToInfo:
            raise pickle.UnpicklingError(f"load(): the archive lacks {name}")
        info = self.archive.getinfo(name)
        if self.path is not None and info.file_size:
            mapped = np.memmap(self.path, np.uint8, "c", self.start(info), (info.file_size,))
            bytes_ = np.ndarray(mapped.shape, np.uint8, mapped)
        else:
            bytes_ = np.empty(info.file_size, np.uint8)
            view, at = bytes_.data, 0
            with self.archive.open(info) as file:
                while at < len(view) and (count := file.readinto(view[at:])):  # type: ignore[attr-defined]
                    at += count
        if self.swapped:
            bytes_ = bytes_.view(dtype).byteswap().view(np.uint8)
        return bytes_[: len(bytes_) // dtype.itemsize * dtype.itemsize].view(dtype)

    def start(self, info: zipfile.ZipInfo) -> int:
        """Where the content of a file begins in the archive."""
        if info.compress_type != zipfile.ZIP_STORED:
            raise RuntimeError("load(): mmap=True needs an archive that is not compressed")
        with open(self.path, "rb") as file:
            file.seek(info.header_offset + 26)
            name, extra = struct.unpack("<HH", file.read(4))
        return info.header_offset + 30 + name + extra


class Unpickler(pickle.Unpickler):
    """Reads any pickle: only for files from a source that is trusted."""

    reader: Reader

    def persistent_load(self, pid: Any) -> Storage:
        return self.reader.storage(pid)

    def find_class(self, module: str, name: str) -> Any:
        found = KNOWN.get((module, name))
        return super().find_class(module, name) if found is None else found


class SafeUnpickler(pickle._Unpickler):
    """Reads tensors and plain values alone: what a pickle can call is listed, and so is what it can change."""

    reader: Reader
    dispatch = dict(pickle._Unpickler.dispatch)

    def persistent_load(self, pid: Any) -> Storage:
        return self.reader.storage(pid)

    def find_class(self, module: str, name: str) -> Any:
        module = "builtins" if module == "__builtin__" else module  # its name up to protocol 2
        found = KNOWN.get((module, name), SAFE.get(f"{module}.{name}"))
        if found is None:
            raise pickle.UnpicklingError(
                f"load(): Weights only load failed. Unsupported global: GLOBAL {module}.{name} was not an allowed "
                "global by default. If you trust the file, allow it with tensorplay.serialization.add_safe_globals, "
                "or load everything with weights_only=False, which may run any code that the file contains."
            )
        return found

    def load_build(self) -> None:
        """State goes to values of listed classes alone, never to a class or function itself."""
        value = self.stack[-2]  # type: ignore[attr-defined]
        if type(value) is not collections.OrderedDict and type(value) not in SAFE.values():
            raise pickle.UnpicklingError(
                f"load(): Weights only load failed. Can only build OrderedDicts and types allowed by add_safe_globals, "
                f"but got {type(value).__name__}"
            )
        super().load_build()  # type: ignore[misc]

    dispatch[pickle.BUILD[0]] = load_build  # type: ignore[assignment]


SAFE: dict[str, Any] = {}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let :func:`load` with ``weights_only=True`` read values of further classes and call further functions.

    Parameters
    ----------
    safe_globals : list of classes, functions, or pairs of one and the full name that it has in files
    """
    for entry in safe_globals:
        value, name = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        SAFE[name] = value


def get_safe_globals() -> list[Any]:
    """What :func:`add_safe_globals` has added."""
    return list(SAFE.values())


def clear_safe_globals() -> None:
    """Forget what :func:`add_safe_globals` has added."""
    SAFE.clear()


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """As :func:`add_safe_globals`, for a while."""
    before = dict(SAFE)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        SAFE.clear()
        SAFE.update(before)


def placing(map_location: Any) -> Callable[[Storage, str], bool]:
    """A function that says of a storage and where it was whether it becomes one without data."""

    def place(storage: Storage, location: str) -> bool:
        found: Any = location
        if isinstance(map_location, dict):
            found = map_location.get(location, location)
        elif callable(map_location):
            mapped = map_location(storage, location)
            found = "cpu" if mapped is storage else location if mapped is None else mapped
        elif map_location is not None:
            found = map_location
        kind = str(found).partition(":")[0]
        if kind not in ("cpu", "meta"):
            raise RuntimeError(
                f"load(): a tensor was saved on, or is to be loaded onto, the device {found}, and there is none; load "
                "it with map_location='cpu'"
            )
        return kind == "meta"

    return place


def load(
    f: File, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """Load what :func:`save` or PyTorch's has saved.

    Parameters
    ----------
    f : str, path or file
        Where from.
    map_location : str, device, dict or callable, optional
        The device for what was on others: one for all, one for each, or ``function(storage, location)``.
    pickle_module : module, optional
        Only :mod:`pickle`.
    weights_only : bool, optional
        Whether to read tensors, plain values and what :func:`add_safe_globals` allows alone, as is the default. A file
        that is loaded without may run any code: only ever do so if you trust where it is from.
    mmap : bool, optional
        Whether memory is read from the file when it is first used. Needs a path.
    pickle_load_args
        Go to the unpickler, such as ``encoding``.

    Raises
    ------
    UnpicklingError
        If the file is none of this format, or holds what ``weights_only`` does not allow.
    RuntimeError
        For tensors of devices that are not there, and files of TorchScript.

    Examples
    --------
    >>> import io
    >>> import tensorplay as tp
    >>> file = io.BytesIO()
    >>> tp.save(tp.nn.Linear(2, 1).state_dict(), file)
    >>> _ = file.seek(0)
    >>> list(tp.load(file))
    ['weight', 'bias']
    """
    if pickle_module not in (None, pickle):
        raise ValueError(f"load(): argument 'pickle_module' must be pickle, got {pickle_module!r}")
    path = None
    if mmap:
        if not isinstance(f, (str, os.PathLike)):
            raise ValueError("load(): argument 'f' must be a path with mmap=True")
        path = os.fspath(f)
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile as error:
        raise pickle.UnpicklingError(
            f"load(): {f!r} is no checkpoint in the zip format ({error}); files from before PyTorch 1.6 have to be "
            "saved anew with a later version"
        ) from None
    with archive:
        names = [n for n in archive.namelist() if n.endswith("/data.pkl")]
        if len(names) != 1:
            raise pickle.UnpicklingError(f"load(): {f!r} is no checkpoint: it holds no data.pkl")
        root = names[0].removesuffix("data.pkl")
        if root + "constants.pkl" in archive.NameToInfo:
            raise RuntimeError("load(): files of TorchScript cannot be loaded")
        kind = Unpickler if weights_only is False else SafeUnpickler
        unpickler = kind(io.BytesIO(archive.read(names[0])), **pickle_load_args)
        unpickler.reader = Reader(archive, root, path, placing(map_location))
        return unpickler.load()
