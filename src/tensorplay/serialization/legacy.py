"""Checkpoints from before PyTorch 1.6, which are no archives: some pickles in a row, and the memory of the tensors."""

from __future__ import annotations

import pickle
import sys
from typing import IO, Any

import numpy as np

from .archive import read_bytes
from .names import Storage
from .pickling import SafeUnpickler, Unpickler

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


def load_legacy(
    file: IO[bytes], name: Any, kind: type[SafeUnpickler] | type[Unpickler],
    find: Any, options: dict[str, Any],
) -> Any:  # fmt: skip
    """Load from the file; ``find`` makes a storage, without memory, of what the pickle refers to.

    Raises
    ------
    UnpicklingError
        If it is no such file, or damaged.
    """
    start = file.tell()
    size = file.seek(0, 2) - start
    file.seek(start)
    try:
        known = (SafeUnpickler(file).load(), SafeUnpickler(file).load()) == (MAGIC, PROTOCOL)
        system = SafeUnpickler(file).load() if known else {}
    except pickle.UnpicklingError as error:
        raise unknown(name) from error
    if not known:
        raise unknown(name)
    swapped = system.get("little_endian", True) != (sys.byteorder == "little")
    storages: dict[str, Storage] = {}
    left = size

    def storage(pid: Any) -> Storage:
        nonlocal left
        found = find(pid)
        key = pid[2]
        if key not in storages:
            left -= found.nbytes  # memory for more than the file can hold is not even asked for
            if left < 0:
                raise truncated(name)
            if not found.meta:
                found.array = np.empty(found.nbytes, np.uint8)  # filled once all tensors are known
            storages[key] = found
        return part_of(storages[key], pid[5]) if len(pid) > 5 and pid[5] is not None else storages[key]

    unpickler = kind(file, **options)
    unpickler.find_storage, unpickler.find_device = storage, find.device
    value = unpickler.load()
    keys = SafeUnpickler(file).load()
    if not isinstance(keys, list) or sorted(map(str, keys)) != sorted(storages):
        raise pickle.UnpicklingError(f"load(): {name!r} is damaged: it does not hold the memory of its tensors")
    for key in keys:
        found = storages[key]
        count, content = read_bytes(file, 8), read_bytes(file, found.nbytes)
        stored = "big" if swapped == (sys.byteorder == "little") else "little"
        if count is None or content is None or int.from_bytes(count.tobytes(), stored) != found.numel:  # type: ignore[arg-type]
            raise truncated(name)
        if not found.meta:
            found.fill(content, swapped)
    return value


def part_of(storage: Storage, part: tuple[str, int, int]) -> Storage:
    """A storage that was itself part of another one, from an offset, as before PyTorch 0.4."""
    _, offset, numel = part
    if not 0 <= offset <= offset + numel <= storage.numel:
        raise pickle.UnpicklingError(f"load(): a part of a storage from {offset} on, of {numel} elements, is not in it")
    found, item = Storage(storage.dtype, numel), 1 if storage.dtype is None else storage.dtype.itemsize
    found.meta = storage.meta
    if storage.array is not None:
        found.array = storage.array[offset * item : (offset + numel) * item]
    return found


def unknown(name: Any) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(
        f"load(): {name!r} is no checkpoint, neither in the zip format nor in that from before PyTorch 1.6"
    )


def truncated(name: Any) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(f"load(): {name!r} is damaged: its tensors have more memory than it holds")
