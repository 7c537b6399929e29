"""Reading and writing parts of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.tensor import Tensor


def getitem(self: Tensor, index: Any) -> Tensor:
    """Basic indexing."""
    data = self._data
    if type(index) is int:
        shape = data.shape
        if not shape:
            raise IndexError("invalid index of a 0-dim tensor; use tensor.item() to read its number")
        if not -shape[0] <= index < shape[0]:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {shape[0]}")
        return F.slice(self, (index,))
    if not isinstance(index, tuple):
        index = (index,)
    ndim, used = data.ndim, sum(1 for i in index if i is not None and i is not Ellipsis)
    full: list[Any] = []
    for i in index:
        if i is Ellipsis:
            full += [slice(None)] * (ndim - used)
        else:
            full.append(i)
    return F.slice(self, tuple(full))


def iterate(self: Tensor) -> Any:
    if not self._data.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter([self[i] for i in range(self._data.shape[0])])


def length(self: Tensor) -> int:
    if not self._data.shape:
        raise TypeError("len() of a 0-d tensor")
    return self._data.shape[0]


Tensor.__getitem__ = getitem
Tensor.__iter__ = iterate
Tensor.__len__ = length
