"""Saving and loading, in the format of PyTorch's checkpoints: what one library saves, the other one loads.

A checkpoint is a zip archive that is not compressed: ``data.pkl`` is a pickle of everything but the numbers, and
``data/0``, ``data/1``, ... are the memory of the tensors. The pickle names PyTorch's functions (``names.py`` says what
they mean here). At the end of a file that :func:`save` has written stands a digest of all of it.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from typing import IO, Any

from ..core.device import device as Device
from .archive import ALIGNMENT, Archive, write_archive
from .files import replacing
from .legacy import load_legacy
from .names import STORAGE_DTYPES, Storage
from .pickling import (
    Pickler,
    SafeUnpickler,
    Unpickler,
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

File = str | os.PathLike[str] | IO[bytes]


def save(
    obj: object, f: File, pickle_module: Any = pickle, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False,
) -> None:  # fmt: skip
    """Save anything that can be pickled, and the tensors in it, to a file that PyTorch can load, too.

    A file under a path is replaced once all of the new one is on the disk: if saving is broken off, by whatever, the
    old one is still there. Its permissions are kept.

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
        If a tensor is one inside a transform, or the folder does not exist.
    ValueError
        For another module than pickle, or for the format before PyTorch 1.6.
    AttributeError
        If ``f`` is neither a path nor a file.

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
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(f"save(): argument 'f' must be a path, or a file with 'write', got {type(f).__name__}")
    if not _use_new_zipfile_serialization:
        raise ValueError("save(): only the zip format can be written")
    buffer = io.BytesIO()
    pickler = Pickler(buffer, pickle_protocol)
    pickler.dump(obj)
    records: dict[str, Any] = {"data.pkl": buffer.getbuffer(), ".format_version": b"1"}
    records[".storage_alignment"] = str(ALIGNMENT).encode()
    if not _disable_byteorder_record:
        records["byteorder"] = sys.byteorder.encode()
    records |= {f"data/{key}": elements.data for key, _, _, elements in pickler.storages.values()}
    records["version"] = b"3\n"
    if isinstance(f, (str, os.PathLike)):
        root = os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive"
        with replacing(f) as file:
            write_archive(file, root, records)
    else:
        write_archive(f, "archive", records)


def load(
    f: File, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """Load what :func:`save` or PyTorch's has saved.

    By default no code from the file is run, whatever it holds. What :func:`save` has written is checked as a whole
    before anything is made of it; of PyTorch's files, each record.

    Parameters
    ----------
    f : str, path or file
        Where from: a file is read from where it stands.
    map_location : str, device, dict or callable, optional
        The device for what was on others: one for all, one for each, or ``function(storage, location)``. Devices that
        stand in the file by themselves, as among options, are mapped where they are not there, but by no function.
    pickle_module : module, optional
        Only :mod:`pickle`.
    weights_only : bool, optional
        Whether to read tensors, plain values and what :func:`add_safe_globals` allows alone, as is the default. A file
        that is loaded without may run any code: only ever do so if you trust where it is from.
    mmap : bool, optional
        Whether memory is read from the file when it is first used. Needs a path. Everything but the numbers is checked
        then: the pickle, and that each memory has its place in the file. The file has to stay as it is, as long as its
        tensors are used: one that is cut off ends the process when they are read. (:func:`save` replaces a file by a
        new one, and does no harm.)
    pickle_load_args
        Go to the unpickler, such as ``encoding``.

    Raises
    ------
    UnpicklingError
        If the file is no checkpoint, or its pickle is damaged or holds what ``weights_only`` does not allow.
    RuntimeError
        If the archive is damaged; for tensors of devices that are not there, and files of TorchScript.
    EOFError
        If the file is empty, or stands at its end.
    AttributeError
        If ``f`` is neither a path nor a file.

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
    kind = Unpickler if weights_only is False else SafeUnpickler
    options = {"encoding": "utf-8", **pickle_load_args}
    find = Finder(map_location)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return load_from(file, f, os.fspath(f) if mmap else None, kind, find, options)
    if mmap:
        raise ValueError("load(): argument 'f' must be a path with mmap=True")
    if not hasattr(f, "read"):
        raise AttributeError(f"load(): argument 'f' must be a path, or a file with 'read', got {type(f).__name__}")
    if not (hasattr(f, "seekable") and f.seekable()):
        f = io.BytesIO(f.read())
    start = f.tell()
    try:
        return load_from(f, getattr(f, "name", f), None, kind, find, options)
    except BaseException:
        f.seek(start)
        raise


def load_from(
    file: IO[bytes], name: Any, mapped: str | None, kind: type[SafeUnpickler] | type[Unpickler],
    find: Finder, options: dict[str, Any],
) -> Any:  # fmt: skip
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if not head:
        raise EOFError(f"load(): {name!r} is empty, or stands at its end; call seek(0) on a file that was written to")
    if head != b"PK\3\4":
        if mapped is not None:
            raise RuntimeError(f"load(): {name!r} is no file in the zip format, as mmap=True needs")
        return load_legacy(file, name, kind, find, options)
    archive = Archive(file, name, mapped)
    storages: dict[str, Storage] = {}

    def storage(pid: Any) -> Storage:
        found = find(pid)
        key = pid[2]
        if key not in storages:
            if not found.meta:
                if f"data/{key}" not in archive:
                    raise pickle.UnpicklingError(f"load(): the archive lacks {archive.root}data/{key}")
                content = archive.read(f"data/{key}", map=True)
                if len(content) < found.nbytes:
                    raise pickle.UnpicklingError(
                        f"load(): {archive.root}data/{key} holds {len(content)} bytes, its tensors need {found.nbytes}"
                    )
                found.fill(content[: found.nbytes], archive.swapped)
            storages[key] = found
        elif storages[key].dtype is not found.dtype:
            raise pickle.UnpicklingError(f"load(): {archive.root}data/{key} is of several dtypes")
        return storages[key]

    unpickler = kind(io.BytesIO(archive.read("data.pkl").data), **options)
    unpickler.find_storage, unpickler.find_device = storage, find.device
    value = unpickler.load()
    file.seek(archive.end)
    return value


class Finder:
    """Makes what a pickle has on devices, which ``map_location`` may put onto others."""

    def __init__(self, map_location: Any) -> None:
        self.map_location = map_location

    def __call__(self, pid: Any) -> Storage:
        """A storage, without its memory yet, of what a pickle refers to.

        That is ``("storage", type, key, location, number of elements)``; files from before PyTorch 1.6 have one entry
        more.
        """
        try:
            kind, type_, key, location, numel = pid[:5]
            storage = Storage(STORAGE_DTYPES[type_], numel)
        except (KeyError, TypeError, ValueError):
            raise pickle.UnpicklingError(f"load(): a reference to something other than a storage: {pid!r}") from None
        if kind != "storage" or [type(key), type(location), type(numel)] != [str, str, int] or numel < 0:
            raise pickle.UnpicklingError(f"load(): a reference to something other than a storage: {pid!r}")
        storage.meta = self.is_meta(storage, location)
        return storage

    def mapped(self, location: str) -> Any:
        """The device in place of another one, by all but a function."""
        if isinstance(self.map_location, dict):
            return self.map_location.get(location, location)
        return location if self.map_location is None or callable(self.map_location) else self.map_location

    def device(self, kind: str, index: int | None = None) -> Device:
        """A device that stands in the pickle by itself; one that is not here gives way to that of ``map_location``."""
        location = kind if index is None else f"{kind}:{index}"
        try:
            return Device(location)
        except RuntimeError:
            try:
                return Device(self.mapped(location))
            except RuntimeError:
                raise RuntimeError(f"load(): the file names the device {location}, and there is none; load it with "
                                   "map_location='cpu'") from None  # fmt: skip

    def is_meta(self, storage: Storage, location: str) -> bool:
        found: Any = self.mapped(location)
        if callable(self.map_location):
            other = self.map_location(storage, location)
            found = "cpu" if other is storage else location if other is None else other
        device = str(found).partition(":")[0]
        if device not in ("cpu", "meta"):
            raise RuntimeError(
                f"load(): a tensor was saved on, or is to be loaded onto, the device {found}, and there is none; load "
                "it with map_location='cpu'"
            )
        return device == "meta"
