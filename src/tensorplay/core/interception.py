"""Calls of functions intercepted, for as long as somebody asks for it.

Operators are known by reference to modules, classes and rules, and their common path is short: a test in it for whoever
might watch would be paid by every call. So there is none. While an :class:`Interception` is entered, the *code* of the
functions is exchanged for a detour that hands each call to a handler, and all who hold the functions take it.
Afterwards the old code is back, and nothing is left.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any

Function = Any  # a plain Python function: anything that has __code__
Handler = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""``handler(call, args, kwargs)`` answers a call; ``call(*args, **kwargs)`` is what would have happened."""

WRITER = "write_at_first_call"
exchanging = threading.RLock()
points: dict[Function, Point] = {}
copies: dict[Function, list[Function]] = {}
"""By function, those that do the same without calling it, as methods whose arguments have further names."""


@functools.cache
def detour_code(names: tuple[str, ...]) -> CodeType:
    """Code that runs the constant "point" on its arguments, for a function with the given free variables."""
    free = "".join(f"{name}, " for name in names) or "()"
    source = f"def detour(*args, **kwargs):\n if 0: {free}\n return 'point'.run(*args, **kwargs)"
    if names:
        source = f"def outer({', '.join(names)}):\n " + source.replace("\n", "\n ") + "\n return detour"
    scope: dict[str, Any] = {}
    exec(compile(source, "<tensorplay interception>", "exec"), scope)
    return (scope["outer"](*names) if names else scope["detour"]).__code__


class Point:
    """A function with the handlers that its calls go through, the last one first."""

    __slots__ = ("code", "detour", "function", "handlers", "named", "original", "unwritten")

    def __init__(self, function: Function) -> None:
        self.function = function
        self.handlers: tuple[Handler, ...] = ()
        code = detour_code(function.__code__.co_freevars)
        constants = tuple([self if c == "point" else c for c in code.co_consts])
        self.detour = code.replace(co_consts=constants, co_name=function.__name__)
        self.read()

    def read(self) -> None:
        """Take note of the function's own code, and make a function of it."""
        f = self.function
        self.code = f.__code__
        self.unwritten = self.code.co_names == (WRITER,)  # an operator: its code is generated at its first call
        self.original = FunctionType(self.code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        self.original.__kwdefaults__, self.original.__annotations__ = f.__kwdefaults__, f.__annotations__

    def enter(self, handler: Handler) -> None:
        f = self.function
        if not self.handlers:
            if f.__code__ is not self.code:
                self.read()
            self.named = "__wrapped__" not in f.__dict__
            if self.named:
                f.__wrapped__ = self.original  # signatures are those of the function
            f.__code__ = self.detour
        self.handlers = (*self.handlers, handler)

    def leave(self, handler: Handler) -> None:
        f = self.function
        left = list(self.handlers)
        left.remove(handler)
        self.handlers = tuple(left)
        if not left:
            if f.__code__ is self.detour:
                f.__code__ = self.code
            if self.named:
                del f.__wrapped__

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """What a call of the function does now."""
        handlers = self.handlers
        if len(handlers) == 1:
            return handlers[0](self.call, args, kwargs)
        return self.through(handlers, *args, **kwargs)

    def through(self, handlers: tuple[Handler, ...], *args: Any, **kwargs: Any) -> Any:
        if not handlers:
            return self.call(*args, **kwargs)
        return handlers[-1](functools.partial(self.through, handlers[:-1]), args, kwargs)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """What a call does otherwise."""
        if self.unwritten:
            self.write()
        return self.original(*args, **kwargs)

    def write(self) -> None:
        """Let the function's code be generated."""
        with exchanging:
            if self.unwritten:
                self.function.__code__ = self.code
                self.function.__globals__[WRITER]()
                self.read()
                if self.handlers:
                    self.function.__code__ = self.detour


class Interception:
    """A context in which calls of functions go to handlers, in all threads.

    Parameters
    ----------
    handlers
        For each function (and its copies), ``handler(call, args, kwargs)``. Where interceptions nest, the innermost
        handler comes first, and its ``call`` leads to the next.

    Examples
    --------
    >>> def double(x):
    ...     return 2 * x
    >>> def tell(call, args, kwargs):
    ...     print("double of", *args)
    ...     return call(*args, **kwargs)
    >>> with Interception({double: tell}):
    ...     double(4)
    double of 4
    8
    >>> double(4)
    8
    """

    __slots__ = ("handlers",)

    def __init__(self, handlers: Mapping[Function, Handler]) -> None:
        self.handlers = dict(handlers)
        for function, handler in handlers.items():
            for copy in copies.get(function, ()):
                self.handlers.setdefault(copy, handler)

    def __enter__(self) -> Interception:
        with exchanging:
            for function, handler in self.handlers.items():
                point = points.get(function)
                if point is None:
                    point = points[function] = Point(function)
                point.enter(handler)
        return self

    def __exit__(self, *exc: object) -> None:
        with exchanging:
            for function, handler in self.handlers.items():
                points[function].leave(handler)
