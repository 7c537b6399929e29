"""How elements lie in memory: PyTorch's layout and memory-format objects, and arrays arranged by them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np


class Named:
    """One of a few objects that are compared by identity and print as ``tensorplay.<name>``."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, *args: Any) -> NoReturn:
        raise TypeError(f"cannot create 'tensorplay.{cls.__name__}' instances")

    def __repr__(self) -> str:
        return f"tensorplay.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(Named):
    """The layout of a tensor's elements: always ``tensorplay.strided``."""

    __slots__ = ()


class memory_format(Named):
    """An order of dimensions in memory, such as ``tensorplay.channels_last``."""

    __slots__ = ()


def named(cls: Any, name: str) -> Any:
    instance = object.__new__(cls)
    instance.name = name
    return instance


strided: layout = named(layout, "strided")
contiguous_format: memory_format = named(memory_format, "contiguous_format")
preserve_format: memory_format = named(memory_format, "preserve_format")
channels_last: memory_format = named(memory_format, "channels_last")
channels_last_3d: memory_format = named(memory_format, "channels_last_3d")
MEMORY_FORMATS = {f.name: f for f in (contiguous_format, preserve_format, channels_last, channels_last_3d)}

CHANNELS_LAST = {
    channels_last: (0, 2, 3, 1),
    channels_last_3d: (0, 2, 3, 4, 1),
}  # dimensions, outermost in memory first


def check_strided(value: Any, name: str) -> None:
    """Refuse a ``layout`` argument other than None and strided."""
    if value is not None and value is not strided:
        raise TypeError(f"{name}(): argument 'layout' must be tensorplay.strided, not {value!r}")


def check_format(value: Any, ndim: int, name: str) -> None:
    """Refuse a ``memory_format`` argument that is none, or that needs another number of dimensions."""
    if value is not None and type(value) is not memory_format:
        raise TypeError(
            f"{name}(): argument 'memory_format' must be tensorplay.memory_format, not {type(value).__name__}"
        )
    if value in CHANNELS_LAST and ndim != len(CHANNELS_LAST[value]):
        raise RuntimeError(
            f"{name}(): required rank {len(CHANNELS_LAST[value])} tensor to use {value} format, got rank {ndim}"
        )


def in_memory_order(shape: tuple[int, ...], order: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An uninitialised array whose dimensions lie in memory in the given order, outermost first."""
    inverse = [0] * len(order)
    for position, dim in enumerate(order):
        inverse[dim] = position
    return np.empty([shape[d] for d in order], dtype).transpose(inverse)


def empty_in_format(shape: tuple[int, ...], format: memory_format, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An uninitialised array in a memory format."""
    if format in CHANNELS_LAST:
        return in_memory_order(shape, CHANNELS_LAST[format], dtype)
    return np.empty(shape, dtype)
