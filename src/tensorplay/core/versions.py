"""Who wrote to memory, and when.

A node keeps arrays. An in-place write enters the array that owns the memory here, under the next number of the one
counter; a saved array is stale if its memory was written to after its node was made. Aliases of memory share its entry
because they share its owner, and tensors that nobody writes to cost nothing.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .state import count

ndarray = np.ndarray
Array = np.ndarray[Any, Any]


class Write:
    """The last write to some memory: its number, and how many there were."""

    __slots__ = ("number", "owner", "version")

    def __init__(self, owner: Array, key: int) -> None:
        self.number, self.version = count(), 1
        self.owner = weakref.ref(owner, lambda _: written.pop(key, None))


written: dict[int, Write] = {}
"""By the identity of the array that owns the memory; an entry leaves with its array."""


def storage_of(array: Array) -> Array:
    """The array that owns the memory of a view."""
    while (base := getattr(array, "base", None)) is not None:
        if not isinstance(base, ndarray):
            base = getattr(base, "base", None)  # NumPy's as_strided puts a holder in between
            if not isinstance(base, ndarray):
                break
        array = base
    return array


def array_of(data: Any) -> Array:
    """The innermost array of data of any kind."""
    while type(data) is not ndarray:
        inner = getattr(data, "inner", None)
        if inner is not None:  # a carrier holds Tensors
            data = inner._data
        elif hasattr(data, "value"):  # Meta holds an array
            data = data.value
        else:  # an array of another kind
            break
    return data


def memory_of(data: Any) -> Array:
    """The array that owns the memory of data of any kind."""
    return storage_of(array_of(data))


def note_write(data: Any) -> None:
    """Enter a write to the memory of data."""
    owner = data if type(data) is ndarray and data.base is None else memory_of(data)
    key = id(owner)
    entry = written.get(key)
    if entry is None:
        written[key] = Write(owner, key)
    else:
        entry.number = count()
        entry.version += 1


def last_write(data: Any) -> Write | None:
    """The entry of the memory of data; None if it was never written to."""
    return written.get(id(memory_of(data))) if written else None


def version(data: Any) -> int:
    """How often the memory of data was written to."""
    entry = last_write(data)
    return 0 if entry is None else entry.version


def written_since(data: Any, order: int) -> Write | None:
    """The last write to the memory of data, if its number is newer than ``order``."""
    entry = last_write(data)
    return entry if entry is not None and entry.number > order else None
