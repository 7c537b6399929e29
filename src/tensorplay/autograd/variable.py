"""``Variable``, the older name of a tensor that may require grad."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Every tensor counts as a Variable."""

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """A tensor over the same memory that requires grad or not. Use tensors themselves: this is kept for older code.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.autograd.Variable(tp.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Tensor:  # type: ignore[misc]
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
