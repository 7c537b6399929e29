"""Marks that models bear for TorchScript. There is no TorchScript: everything runs as the Python that it is.

:func:`tensorplay.compile` makes programs of functions and modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

__all__ = ["Final", "annotate", "export", "ignore", "is_scripting", "is_tracing", "script", "script_if_tracing",
           "unused"]  # fmt: skip

T = TypeVar("T")


def is_scripting() -> bool:
    """Whether the code runs as TorchScript: no.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.jit.is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """Whether the code is being traced for TorchScript: no."""
    return False


def script(obj: T, *args: Any, **kwargs: Any) -> T:
    """The function, class or module itself: it runs as Python.

    Examples
    --------
    >>> import tensorplay as tp
    >>> @tp.jit.script
    ... def swish(x):
    ...     return x * x.sigmoid()
    >>> swish(tp.zeros(2))
    tensor([0., 0.])
    """
    return obj


def script_if_tracing(fn: T) -> T:
    """The function itself."""
    return fn


def export(fn: T) -> T:
    """The method itself."""
    return fn


def unused(fn: T) -> T:
    """The function or method itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function or method itself; with an option, a decorator that gives it."""
    if callable(drop):
        return drop
    decorator: Callable[[T], T] = unused
    return decorator


def annotate(the_type: Any, the_value: T) -> T:
    """The value."""
    return the_value
