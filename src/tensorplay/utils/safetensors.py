"""Reading and writing safetensors files; the names of ``safetensors.torch``.

Needs the package `safetensors <https://github.com/huggingface/safetensors>`_, which ``pip install
'tensorplay[safetensors]'`` brings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtype as dtypes
from ..core.carrier import Carrier, Meta
from ..core.device import device as Device
from ..core.tensor import Tensor, wrap
from ..core.versions import storage_of
from ..serialization.files import replacing

if TYPE_CHECKING:
    from ..nn import Module

__all__ = ["load", "load_file", "load_model", "safe_open", "save", "save_file", "save_model"]

Path = str | os.PathLike[str]

# ---- writing


def save(tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """The content of a safetensors file with these tensors.

    Parameters
    ----------
    tensors : dict of str to Tensor
        Contiguous, and none in the memory of another.
    metadata : dict of str to str, optional
        Text that goes along.

    Raises
    ------
    ValueError
        If a value is no tensor with data, or not contiguous.
    RuntimeError
        If tensors share memory, which the format cannot express: see :func:`save_model`.
    SafetensorError
        For a dtype that the format does not have (complex128).

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils import safetensors
    >>> safetensors.load(safetensors.save({"weight": tp.ones(2, dtype=tp.bfloat16)}))
    {'weight': tensor([1., 1.], dtype=tensorplay.bfloat16)}
    """
    import safetensors

    if not isinstance(tensors, Mapping):
        raise ValueError(f"save(): expected a dict of names and tensors, got {type(tensors).__name__}")
    arrays = {name: array_of(name, t) for name, t in tensors.items()}
    sharing = shared(tensors)
    if sharing:
        raise RuntimeError(
            f"save(): some tensors share memory, which safetensors cannot express: {sharing}. Save the model with "
            "save_model(), or clone() all but one"
        )
    specs = {
        name: safetensors.TensorSpec(
            dtype=tensors[name].dtype.name, shape=a.shape, data_ptr=a.ctypes.data, data_len=a.nbytes
        )
        for name, a in arrays.items()
    }
    return safetensors.serialize(specs, metadata)


def array_of(name: str, t: Any) -> np.ndarray[Any, Any]:
    """The array of a tensor that can be saved, its bytes in the order of the format."""
    if not isinstance(t, Tensor):
        raise ValueError(f"save(): '{name}' is of type {type(t).__name__}, and not a tensor")
    if isinstance(t._data, (Carrier, Meta)):
        raise ValueError(f"save(): '{name}' has no data of its own: it is on {t.device}, or inside a transform")
    array = t._data
    if not array.flags.c_contiguous:
        raise ValueError(f"save(): '{name}' is not contiguous; call contiguous() first")
    return array.astype(array.dtype.newbyteorder("<"), copy=False) if array.dtype.kind != "V" else array


def save_file(tensors: Mapping[str, Tensor], filename: Path, metadata: dict[str, str] | None = None) -> None:
    """Save tensors to a safetensors file, which takes the place of an older one once all of it is on the disk.

    Parameters
    ----------
    tensors : dict of str to Tensor
        Contiguous, and none in the memory of another.
    filename : str or path
        Where to.
    metadata : dict of str to str, optional
        Text that goes along.

    Raises
    ------
    ValueError, RuntimeError, SafetensorError
        As :func:`save` does.
    """
    content = save(tensors, metadata)
    with replacing(filename) as file:
        file.write(content)


def shared(tensors: Mapping[str, Tensor]) -> list[list[str]]:
    """The names of tensors that overlap in memory, in groups."""
    areas = []
    for name, t in tensors.items():
        if type(t._data) is np.ndarray and t._data.size:
            areas.append((*np.lib.array_utils.byte_bounds(t._data), name))
    groups: list[list[str]] = []
    stop = 0
    for start, end, name in sorted(areas):
        if start < stop:
            groups[-1].append(name)
        else:
            groups.append([name])
        stop = max(stop, end)
    return [sorted(names) for names in groups if len(names) > 1]


def save_model(
    model: Module, filename: Path, metadata: dict[str, str] | None = None, force_contiguous: bool = True
) -> None:
    """Save the state of a model, of tensors that share memory only one.

    Parameters
    ----------
    model : Module
        Whose ``state_dict()`` is saved.
    filename : str or path
        Where to.
    metadata : dict of str to str, optional
        Text that goes along. The name of each tensor that was left out is added, with that of the one it shares with.
    force_contiguous : bool
        Whether tensors are saved that are not contiguous.

    Raises
    ------
    RuntimeError
        If none of the tensors that share memory is all of it.
    """
    state = dict(model.state_dict())
    metadata = dict(metadata or {})
    for names in shared(state):
        whole = [name for name in names if state[name]._data.nbytes == storage_of(state[name]._data).nbytes]
        if not whole:
            raise RuntimeError(f"save_model(): {names} share memory, and none of them is all of it")
        for name in names:
            if name != whole[0]:
                metadata.setdefault(name, whole[0])
                del state[name]
    if force_contiguous:
        state = {name: t.contiguous() for name, t in state.items()}
    save_file(state, filename, metadata or None)


# ---- reading

NAMES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "U16": "uint16",
    "U32": "uint32", "U64": "uint64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "C64": "complex64",
}  # fmt: skip
DTYPES = {name: getattr(dtypes, own) for name, own in NAMES.items()}  # the names of dtypes in files


def dtype_of(name: str, written: str) -> dtypes.dtype:
    if written not in DTYPES:
        raise TypeError(f"load(): '{name}' is of dtype {written}, which tensors do not have; they have {list(DTYPES)}")
    return DTYPES[written]


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors in the content of a safetensors file.

    Parameters
    ----------
    data : bytes
        Such as :func:`save` returns.

    Raises
    ------
    SafetensorError
        If it is damaged. The format has no checksum: that a number has changed is not noticed.
    TypeError
        For a dtype that tensors do not have, such as floats of 8 bits.
    """
    import safetensors

    found = {}
    for name, entry in safetensors.deserialize(data):
        dtype = dtype_of(name, entry["dtype"])
        array = np.frombuffer(entry["data"], dtype.numpy).reshape(entry["shape"])
        found[name] = wrap(array.byteswap() if sys.byteorder == "big" else array)
    return found


def load_file(filename: Path, device: Any = "cpu", *, backend: str = "mmap") -> dict[str, Tensor]:
    """The tensors of a safetensors file.

    Parameters
    ----------
    filename : str or path
        Where from.
    device : str or device
        "cpu", or "meta" for shapes and dtypes alone.
    backend : {"mmap", "pread"}
        How the file is read.

    Raises
    ------
    SafetensorError, TypeError
        As :func:`load` does.

    Examples
    --------
    >>> import os, tempfile
    >>> import tensorplay as tp
    >>> from tensorplay.utils import safetensors
    >>> file = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> safetensors.save_file({"weight": tp.arange(3)}, file)
    >>> safetensors.load_file(file)
    {'weight': tensor([0, 1, 2])}
    """
    with safe_open(filename, device=device, backend=backend) as file:
        return file.get_tensors()


def load_model(
    model: Module, filename: Path, strict: bool = True, device: Any = "cpu", *, backend: str = "mmap"
) -> tuple[list[str], list[str]]:
    """Load a file into a model. Tensors that share memory are found if one of them is in the file.

    Parameters
    ----------
    model : Module
        Takes the tensors over.
    filename : str or path
        Where from.
    strict : bool
        Whether names that only one of the two has are an error.
    device, backend
        As of :func:`load_file`.

    Returns
    -------
    missing, unexpected : list of str
        The names that the file lacks, and those that the model lacks.

    Raises
    ------
    RuntimeError
        If ``strict`` and there are such names; the model stays as it was. And if a shape does not fit.
    """
    state, own = load_file(filename, device, backend=backend), model.state_dict()
    there = set(state).union(*(names for names in shared(own) if set(names) & set(state)))
    missing, unexpected = [n for n in own if n not in there], [n for n in state if n not in own]
    if strict and (missing or unexpected):
        raise RuntimeError(
            f"load_model(): error(s) in loading state_dict for {type(model).__name__}: missing key(s) {missing}, "
            f"unexpected key(s) {unexpected}"
        )
    model.load_state_dict(state, strict=False)
    return missing, unexpected


class safe_open:
    """A safetensors file of which tensors, or parts of them, are read as they are asked for.

    Parameters
    ----------
    filename : str or path
        Where from.
    framework : {"tensorplay", "pt"}
        Of which library the tensors are: always this one.
    device : str or device
        "cpu", or "meta" for shapes and dtypes alone.
    backend : {"mmap", "pread"}
        How the file is read.

    Raises
    ------
    SafetensorError
        If the file is damaged, or does not have a name.

    Examples
    --------
    >>> import os, tempfile
    >>> import tensorplay as tp
    >>> from tensorplay.utils import safetensors
    >>> name = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> safetensors.save_file({"weight": tp.arange(6).reshape(2, 3)}, name, {"epoch": "3"})
    >>> with safetensors.safe_open(name) as file:
    ...     file.metadata(), file.keys(), file.get_slice("weight")[:, 1:]
    ({'epoch': '3'}, ['weight'], tensor([[1, 2],
            [4, 5]]))
    """

    def __init__(
        self, filename: Path, framework: str = "tensorplay", device: Any = "cpu", *, backend: str = "mmap"
    ) -> None:
        import safetensors

        if framework not in ("tensorplay", "pt"):
            raise ValueError(f"safe_open(): argument 'framework' must be 'tensorplay' or 'pt', got {framework!r}")
        self.device = Device(device)
        self.file: Any = safetensors.safe_open(filename, framework="numpy", backend=backend)

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *exc: object) -> None:
        self.file.__exit__(*exc)

    def keys(self) -> list[str]:
        """The names of the tensors, in the order of the alphabet."""
        return list(self.file.keys())

    def offset_keys(self) -> list[str]:
        """The names of the tensors, in the order of the file."""
        return list(self.file.offset_keys())

    def metadata(self) -> dict[str, str] | None:
        """The text that goes along."""
        return self.file.metadata()

    def get_tensor(self, name: str) -> Tensor:
        """A tensor, in memory of its own."""
        part = self.get_slice(name)
        if self.device.type == "meta":
            return wrap(Meta(tuple(part.get_shape()), part.dtype.numpy))
        return wrap(self.file.get_tensor(name))

    def get_tensors(self) -> dict[str, Tensor]:
        """All tensors by their names."""
        return {name: self.get_tensor(name) for name in self.offset_keys()}

    def get_slice(self, name: str) -> Slice:
        """A tensor of which parts can be read: ``get_slice(name)[:, 2:4]``."""
        return Slice(self.file.get_slice(name), name, self.device)


class Slice:
    """A tensor in a file, read where it is indexed."""

    def __init__(self, part: Any, name: str, device: Device) -> None:
        self.part, self.device, self.dtype = part, device, dtype_of(name, part.get_dtype())

    def get_shape(self) -> list[int]:
        """Its shape."""
        return list(self.part.get_shape())

    def get_dtype(self) -> str:
        """The name of its dtype in the file, such as ``'F32'``."""
        return self.part.get_dtype()

    def __getitem__(self, index: Any) -> Tensor:
        if self.device.type == "meta":
            return wrap(Meta(tuple(self.get_shape()), self.dtype.numpy))[index]
        return wrap(self.part[index])
