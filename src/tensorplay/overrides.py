"""Types that override operators, as PyTorch's ``overrides``: subclasses of Tensor, and types like tensors.

The results of operators on a subclass of :class:`Tensor` are of that subclass. A ``__torch_function__`` of its own sees
each call instead:

>>> import tensorplay as tp
>>> class Counting(tp.Tensor):
...     calls = []
...     @classmethod
...     def __torch_function__(cls, func, types, args=(), kwargs=None):
...         cls.calls.append(func.__name__)
...         return super().__torch_function__(func, types, args, kwargs)
>>> x = tp.tensor([1., 2.]).as_subclass(Counting)
>>> type(x * 2 + 1).__name__, Counting.calls
('Counting', ['mul', 'add'])

From the first such tensor on, the calls of all operators are intercepted, which makes each of them slower by about a
microsecond; a program without subclasses pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .core import overriding
from .core.overriding import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from .core.tensor import Tensor

__all__ = [
    "DisableTorchFunctionSubclass",
    "get_overridable_functions",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "register",
    "resolve_name",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the values is of a type that overrides operators.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.overrides.has_torch_function((tp.ones(2), 3))
    False
    """
    return bool(overriding.overloaded(relevant_args, []))


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """The answer of the types among ``relevant_args`` to a call of a function, for functions of one's own.

    Parameters
    ----------
    public_api
        The function that was called.
    relevant_args
        The arguments that may override it.
    args, kwargs
        All arguments of the call.

    Raises
    ------
    TypeError
        If no type knows an answer.

    Examples
    --------
    >>> import tensorplay as tp
    >>> def double(x):
    ...     if tp.overrides.has_torch_function((x,)):
    ...         return tp.overrides.handle_torch_function(double, (x,), x)
    ...     return 2 * x
    >>> double(tp.ones(2))
    tensor([2., 2.])
    """
    return overriding.handle(public_api, overriding.overloaded(relevant_args, []), args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Whether a value is a tensor, or of a type that overrides operators.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.overrides.is_tensor_like(tp.ones(2)), tp.overrides.is_tensor_like(2)
    (True, False)
    """
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def register(cls: type) -> type:
    """Let operators look for a type that is no Tensor but has a ``__torch_function__``; usable as a decorator.

    PyTorch looks at every argument of every call; here the first type, or the first tensor of a subclass, begins that.

    Examples
    --------
    >>> import tensorplay as tp
    >>> @tp.overrides.register
    ... class Unit:
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return f"{func.__name__} of a unit"
    >>> tp.add(tp.ones(2), Unit())
    'add of a unit'
    """
    overriding.watch()
    return cls


def get_overridable_functions() -> dict[str, Callable[..., Any]]:
    """The functions that may be overridden, by their names.

    Examples
    --------
    >>> import tensorplay as tp
    >>> "Tensor.mean" in tp.overrides.get_overridable_functions()
    True
    """
    return {name: f for f, name in overriding.overridable().items()}


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The name of a function that may be overridden; None for others.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.overrides.resolve_name(tp.linalg.norm)
    'linalg.norm'
    """
    return overriding.overridable().get(f)
