"""Tensors of one dtype under their old names: ``FloatTensor`` and its like make them, and ``isinstance`` knows them."""

from __future__ import annotations

from typing import Any

from ..core import dtype as dtypes
from ..core.tensor import Tensor
from .conversion import BY_NAME
from .from_data import of_type


class TensorType(type):
    """The type of ``FloatTensor`` and its like."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        return of_type(cls.dtype, args, device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype


def tensor_type(name: str, dtype: dtypes.dtype) -> TensorType:
    doc = f"A tensor of {dtype.name}, from sizes or a sequence of numbers; ``tensor(data, dtype=...)`` says it plainly."
    return TensorType(name, (), {"dtype": dtype, "__doc__": doc, "__module__": "tensorplay"})


TENSOR_TYPES = {
    f"{name}Tensor": tensor_type(f"{name}Tensor", BY_NAME[name])
    for name in ("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double")
}


def set_default_tensor_type(t: TensorType | str) -> None:
    """Set the default dtype by the name of a type of tensors; :func:`set_default_dtype` says it plainly.

    Raises
    ------
    TypeError
        If it is no floating point type of tensors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.set_default_tensor_type(tp.DoubleTensor)
    >>> tp.get_default_dtype()
    tensorplay.float64
    >>> tp.set_default_tensor_type("tensorplay.FloatTensor")
    """
    found = TENSOR_TYPES.get(t.rpartition(".")[2]) if isinstance(t, str) else t
    if not isinstance(found, TensorType) or not found.dtype.is_floating_point:
        raise TypeError(
            f"set_default_tensor_type(): only floating-point types are supported as the default type, got {t!r}"
        )
    dtypes.set_default_dtype(found.dtype)
