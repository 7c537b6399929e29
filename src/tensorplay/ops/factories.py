"""Making tensors: from data, of a constant, of a range."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.carrier import Meta
from ..core.device import is_meta
from ..core.operator import operator
from ..core.tensor import Tensor, wrap


def finished(data: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """The tensor of an array, on its device."""
    t = wrap(Meta(data.shape, data.dtype) if is_meta(device) else data)
    return t.requires_grad_() if requires_grad else t


def numpy_dtype(dtype: Any, default: Any = None) -> np.dtype[Any]:
    return (default or dtypes.get_default_dtype()).numpy if dtype is None else dtypes.as_dtype(dtype).numpy


def sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    """``zeros(2, 3)`` and ``zeros((2, 3))`` alike."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    return tuple(int(n) for n in size)


def array_of(data: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A fresh array of nested sequences, scalars, arrays or tensors, of the dtype PyTorch infers."""
    if isinstance(data, Tensor):
        array = data.detach().numpy()
    elif isinstance(data, np.ndarray):
        array = data
    else:
        array = np.array(unwrapped(data))
        if array.size == 0 and array.dtype == np.float64:
            array = array.astype(dtypes.get_default_dtype().numpy)
        elif array.dtype.kind == "f" and not isinstance(data, np.generic):
            array = array.astype(dtypes.get_default_dtype().numpy) if dtype is None else array
        elif array.dtype.kind == "c" and not isinstance(data, np.generic) and dtype is None:
            array = array.astype(dtypes.default_complex().numpy)
        elif array.dtype.kind == "O":
            raise TypeError(f"tensor(): cannot make a tensor of {type(data).__name__} with elements of unequal kinds or sizes")
    return np.array(array, dtype=numpy_dtype(dtype, dtypes.from_numpy(array.dtype)), order="C")


def unwrapped(data: Any) -> Any:
    """Tensors inside nested sequences as arrays."""
    if isinstance(data, Tensor):
        return data.detach().numpy()
    if isinstance(data, (list, tuple)):
        return [unwrapped(d) for d in data]
    return data


@operator(method=False, out=False)
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A tensor of a copy of the data."""
    return finished(array_of(data, dtype), dtype, device, requires_grad)


@operator(method=False)
def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    if is_meta(device):
        return finished(np.broadcast_to(np.zeros((), numpy_dtype(dtype)), sizes(size)), dtype, device, requires_grad)
    return finished(np.zeros(sizes(size), numpy_dtype(dtype)), dtype, device, requires_grad)


@operator(method=False)
def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    return finished(np.ones(sizes(size), numpy_dtype(dtype)), dtype, device, requires_grad)
