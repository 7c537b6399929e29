"""The pickle of a checkpoint: how values are written, and what may be made of them when it is read."""

from __future__ import annotations

import collections
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from ..core import dtype as dtypes
from ..core.carrier import Carrier, Meta
from ..core.device import device as Device
from ..core.interop import attributes, offset_in
from ..core.layout import layout
from ..core.tensor import Size, Tensor
from ..core.versions import storage_of
from .names import (
    CALLED,
    DEVICE,
    FROM_TYPE,
    GET_LAYOUT,
    KNOWN,
    REBUILD,
    REBUILD_META,
    REBUILD_PARAMETER,
    REBUILD_PARAMETER_WITH_STATE,
    REBUILD_WITH_DTYPE,
    SIZE,
    STORAGE_NAMES,
    TENSOR,
    UNTYPED,
    Named,
    Storage,
)

# ---- writing


class Reference:
    """A storage in a pickle."""

    def __init__(self, pid: Any) -> None:
        self.pid = pid


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
        if isinstance(obj, layout):
            return GET_LAYOUT, (f"torch.{obj.name}",)
        if not isinstance(obj, Tensor):
            return NotImplemented
        if isinstance(obj._data, Carrier):
            raise RuntimeError("save(): a tensor inside a transform cannot be saved; return it from the function first")
        nn = sys.modules.get("tensorplay.nn.parameter")  # where it was not imported there are no parameters
        if type(obj) is Tensor:
            function, args = self.rebuilding(obj)
            state = dict(attributes(obj))
            return (FROM_TYPE, (function, TENSOR, args, state)) if state else (function, args)
        if is_parameter(obj):
            hooks: Any = collections.OrderedDict()
            state, parts = dict(attributes(obj)), (obj.detach(), obj.requires_grad, hooks)
            return (REBUILD_PARAMETER_WITH_STATE, (*parts, state)) if state else (REBUILD_PARAMETER, parts)
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


# ---- reading


class Unpickler(pickle.Unpickler):
    """Reads any pickle: only for files from a source that is trusted."""

    find_storage: Callable[[Any], Storage]
    find_device: Callable[..., Device] = Device

    def persistent_load(self, pid: Any) -> Storage:
        return self.find_storage(pid)

    def find_class(self, module: str, name: str) -> Any:
        found = self.find_device if (module, name) == ("torch", "device") else KNOWN.get((module, name))
        if found is not None:
            return found
        try:
            return super().find_class(module, name)
        except ModuleNotFoundError as error:
            if module.partition(".")[0] != "torch":
                raise
            raise pickle.UnpicklingError(
                f"load(): the file holds a {module}.{name}, whose code is PyTorch's. Load it there, and save what is "
                "made of tensors and plain values, such as model.state_dict()"
            ) from error


class SafeUnpickler(pickle._Unpickler):
    """Reads tensors and plain values alone: what a pickle can call is listed, and so is what it can change.

    Raises
    ------
    UnpicklingError
        For anything else, and for a pickle that is damaged.
    """

    find_storage: Callable[[Any], Storage]
    find_device: Callable[..., Device] = Device
    stack: list[Any]
    read: Callable[[int], bytes]
    append: Callable[[Any], None]

    def persistent_load(self, pid: Any) -> Storage:
        return self.find_storage(pid)

    def load(self) -> Any:
        try:
            return super().load()
        except (OSError, RuntimeError, pickle.UnpicklingError):
            raise
        except Exception as error:  # what the functions say to arguments that they cannot do anything with
            raise pickle.UnpicklingError(
                f"load(): the pickle is damaged, or holds what no checkpoint does ({type(error).__name__}: {error})"
            ) from error

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

    def load_reduce(self) -> None:
        """Call what is listed."""
        function, args = self.stack[-2:]
        if function is Device:
            self.stack[-2] = self.find_device
        elif is_one_of(function, HASHING):
            check_hashable(args)
        elif not is_one_of(function, CALLABLE) and not is_one_of(function, SAFE.values()):
            raise refused("call", function)
        super().load_reduce()  # type: ignore[misc]

    def load_newobj(self) -> None:
        if not is_one_of(self.stack[-2], SAFE.values()):
            raise refused("make values of", self.stack[-2])
        super().load_newobj()  # type: ignore[misc]

    def load_newobj_ex(self) -> None:
        if not is_one_of(self.stack[-3], SAFE.values()):
            raise refused("make values of", self.stack[-3])
        super().load_newobj_ex()  # type: ignore[misc]

    def load_build(self) -> None:
        """State goes to values of listed classes alone, never to a class or function itself."""
        value = self.stack[-2]
        if type(value) is collections.OrderedDict:
            vars(value).update(self.stack.pop())
        elif is_parameter(value):  # before PyTorch 0.4, with (requires_grad, volatile, hooks)
            requires_grad, _, _ = self.stack.pop()
            value.requires_grad_(requires_grad)
        elif is_one_of(type(value), SAFE.values()):
            super().load_build()  # type: ignore[misc]
        else:
            raise pickle.UnpicklingError(
                f"load(): Weights only load failed. Can only build OrderedDicts and types allowed by add_safe_globals, "
                f"but got {type(value).__name__}"
            )

    def load_bytearray8(self) -> None:
        """As long as what is there, not as long as it is said to be."""
        size = int.from_bytes(self.read(8), "little")
        self.append(bytearray(self.read(size)))

    # what gets entries is a container, and what is hashed is no trap

    def load_append(self) -> None:
        self.check_container(self.stack[-2], list)
        super().load_append()  # type: ignore[misc]

    def load_appends(self) -> None:
        self.check_container(self.metastack[-1][-1], list)  # type: ignore[attr-defined]
        super().load_appends()  # type: ignore[misc]

    def load_setitem(self) -> None:
        self.check_container(self.stack[-3], dict)
        check_hashable(self.stack[-2])
        super().load_setitem()  # type: ignore[misc]

    def load_setitems(self) -> None:
        self.check_container(self.metastack[-1][-1], dict)  # type: ignore[attr-defined]
        check_hashable(*self.stack[::2])
        super().load_setitems()  # type: ignore[misc]

    def load_dict(self) -> None:
        check_hashable(*self.stack[::2])
        super().load_dict()  # type: ignore[misc]

    def load_additems(self) -> None:
        self.check_container(self.metastack[-1][-1], set)  # type: ignore[attr-defined]
        check_hashable(*self.stack)
        super().load_additems()  # type: ignore[misc]

    def load_frozenset(self) -> None:
        check_hashable(*self.stack)
        super().load_frozenset()  # type: ignore[misc]

    def check_container(self, value: Any, kind: type) -> None:
        if not isinstance(value, kind) and not is_one_of(type(value), SAFE.values()):
            raise refused("put entries into", value)


LEFT_OUT = (pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER)
SafeUnpickler.dispatch = {
    code: getattr(SafeUnpickler, function.__name__)
    for code, function in pickle._Unpickler.dispatch.items()
    if bytes([code]) not in LEFT_OUT
}
HASHING: Any = (set, frozenset, collections.OrderedDict, collections.Counter)
CALLABLE = list(CALLED.values())
SAFE: dict[str, Any] = {}


def is_parameter(value: Any) -> bool:
    nn = sys.modules.get("tensorplay.nn.parameter")
    return nn is not None and type(value) is nn.Parameter


def is_one_of(value: Any, values: Any) -> bool:
    return any(value is v for v in values)


def refused(action: str, value: Any) -> pickle.UnpicklingError:
    named = getattr(value, "__qualname__", None) or f"a {type(value).__name__}"
    return pickle.UnpicklingError(f"load(): Weights only load failed. The pickle may not {action} {named}")


def check_hashable(*keys: Any) -> None:
    """Refuse keys that nest so deeply, or hold themselves so often, that to hash them would exhaust stack or time."""
    stack: list[tuple[Any, int]] = [(keys, 0)]
    count = 0
    while stack:
        value, depth = stack.pop()
        parts = (value.start, value.stop, value.step) if type(value) is slice else value
        count += len(parts)
        if depth > 50 or count > 100_000_000:
            raise pickle.UnpicklingError("load(): a key that is nested too deeply")
        stack.extend((part, depth + 1) for part in parts if isinstance(part, (tuple, list, frozenset, slice)))


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
