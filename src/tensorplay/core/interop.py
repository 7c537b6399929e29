"""Tensors and the rest of Python: NumPy, numbers, lists, printing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .carrier import Batched, Carrier, Dual, Meta
from .node import AccumulateGrad
from .printing import tensor_str
from .tensor import Tensor


def readable(t: Tensor, name: str) -> np.ndarray[Any, Any]:
    """The array of a tensor's values; a dual is read as its primal, a batch not at all."""
    data = t._data
    while type(data) is Dual:
        data = data.primal._data
    if type(data) is Batched:
        raise RuntimeError(
            f"vmap: {name} reads a value that differs from example to example, as data-dependent control flow does. "
            "Use where() to choose between values, or return the tensor from the function."
        )
    if type(data) is Meta:
        raise RuntimeError(f"{name} cannot be called on meta tensors: they have no data")
    return data


def item(self: Tensor) -> Any:
    """The value of a tensor of one element, as a Python number."""
    data = readable(self, "item()")
    if data.size != 1:
        raise RuntimeError(f"a Tensor with {data.size} elements cannot be converted to Scalar")
    value = data.item()
    return float(value) if data.dtype.kind == "V" else value


def tolist(self: Tensor) -> Any:
    """The values as nested lists of Python numbers."""
    data = readable(self, "tolist()")
    return (data.astype(np.float32) if data.dtype.kind == "V" else data).tolist()


def numpy(self: Tensor, *, force: bool = False) -> np.ndarray[Any, Any]:
    """The values as a NumPy array that shares the tensor's memory.

    Raises
    ------
    RuntimeError
        If the tensor requires grad; ``force=True`` detaches first.
    """
    if self._node is not None and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return readable(self, "numpy()")


def as_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    array = numpy(self)
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def truth(self: Tensor) -> bool:
    if self._data.size != 1:
        if self._data.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(readable(self, "bool()").item())


def suffixes(t: Tensor) -> list[str]:
    if t._node is None:
        return []
    if type(t._node) is AccumulateGrad:
        return ["requires_grad=True"]
    return [f"grad_fn=<{t.grad_fn.name()}>"]  # type: ignore[union-attr]


def representation(self: Tensor) -> str:
    data = self._data
    if isinstance(data, Carrier):
        kind = type(data).__name__
        inner = representation(data.inner)
        return f"{kind}(level={data.level}, {inner})"
    if type(data) is Meta:
        from .printing import meta_str

        return meta_str(tuple(data.shape), dtype=self.dtype, suffixes=suffixes(self))
    return tensor_str(data, dtype=self.dtype, suffixes=suffixes(self))


def index(self: Tensor) -> int:
    data = readable(self, "index()")
    if data.size != 1 or data.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(data.item())


Tensor.item, Tensor.tolist, Tensor.numpy, Tensor.__array__ = item, tolist, numpy, as_array  # type: ignore[attr-defined]
Tensor.__bool__, Tensor.__repr__, Tensor.__index__ = truth, representation, index  # type: ignore[attr-defined,assignment]
Tensor.__float__ = lambda self: float(item(self))  # type: ignore[attr-defined]
Tensor.__int__ = lambda self: int(item(self))  # type: ignore[attr-defined]
Tensor.__complex__ = lambda self: complex(item(self))  # type: ignore[attr-defined]
