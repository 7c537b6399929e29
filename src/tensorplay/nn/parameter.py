"""Parameters and buffers: the tensors a module owns."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor, wrap


class Parameter(Tensor):
    """A tensor that a :class:`Module` counts among its parameters when assigned as an attribute.

    Parameters
    ----------
    data : Tensor, optional
        The values; the parameter shares their memory. Empty by default.
    requires_grad : bool
        Whether operators record it.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Parameter(tp.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = Tensor(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter(): argument 'data' must be Tensor, not {type(data).__name__}")
        t = wrap(data._data, cls)
        if requires_grad:
            t.requires_grad_()
        return t  # type: ignore[return-value]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuild_parameter, (self.detach(), self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return made


def rebuild_parameter(data: Tensor, requires_grad: bool) -> Parameter:
    """What unpickling a parameter calls."""
    return Parameter(data, requires_grad)


class Buffer(Tensor):
    """A tensor that a :class:`Module` counts among its buffers when assigned as an attribute."""

    __slots__ = ()

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        data = Tensor(0) if data is None else data
        t = wrap(data._data, cls)
        t.__dict__["persistent"] = persistent
        return t  # type: ignore[return-value]
