"""Subclasses of Tensor, and other types, that override operators: PyTorch's ``__torch_function__``.

A program without such a type pays nothing: only when the first tensor of a subclass is made, or the first type is
registered, are the calls of all operators intercepted (see ``interception.py``). From then on every call looks at the
types of its arguments.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from .interception import Interception, exchanging
from .operator import OPERATORS
from .state import state
from .tensor import Tensor, disabled_torch_function

IGNORED = frozenset({"as_subclass", "tensor"})
PROPERTIES = ("T", "mT", "H", "mH", "real", "imag", "data", "grad")
"""Those that give tensors, which are to be of the subclass."""

PLAIN = {Tensor, int, float, complex, bool, str, type(None), slice, type(Ellipsis)}
kinds: dict[type, Any] = {}
"""The override of a type, None for those that have none."""


def override_of(kind: type) -> Any:
    """How a type overrides operators; None if it does not."""
    if kind not in kinds:
        found = getattr(kind, "__torch_function__", None)
        kinds[kind] = None if kind is Tensor or found is disabled_torch_function else found
    return kinds[kind]


def overloaded(values: Iterable[Any], found: list[type]) -> list[type]:
    """The types among arguments that override operators: subclasses before what they derive from, else in order."""
    for value in values:
        kind = type(value)
        if kind in PLAIN:
            continue
        if kind is list or kind is tuple:
            overloaded(value, found)
        elif override_of(kind) is not None and kind not in found:
            places = [i for i, other in enumerate(found) if issubclass(kind, other)]
            found.insert(places[0] if places else len(found), kind)
    return found


def handle(function: Any, types: list[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the first of the types that knows an answer makes of a call.

    Raises
    ------
    TypeError
        If all of them return NotImplemented.
    """
    for kind in types:
        result = kind.__torch_function__(function, tuple(types), args, kwargs)  # type: ignore[attr-defined]
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for '{name_of(function)}' on types that implement __torch_function__: "
        f"{[kind.__qualname__ for kind in types]}"
    )


def intercept(function: Any, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of an operator, by an override if one of its arguments has one."""
    if not state.overrides_off:
        types = overloaded(args, [])
        if kwargs:
            types = overloaded(kwargs.values(), types)
        if types:
            return handle(function, types, args, kwargs)
    return call(*args, **kwargs)


def name_of(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


class DisableTorchFunctionSubclass:
    """For the length of a ``with`` block, operators in this thread take subclasses for what they are: tensors."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = state.overrides_off
        state.overrides_off = True

    def __exit__(self, *exc: object) -> None:
        state.overrides_off = self.before


def default(cls: type[Tensor], function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """What a subclass does that says nothing else: the operator itself, whose tensors become those of the subclass."""
    if not all([issubclass(cls, kind) for kind in types]):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = function(*args, **(kwargs or {}))
        given = [*args, *(kwargs or {}).values()]
        return result if function in unwrapped() else converted(result, cls, given)


def converted(result: Any, cls: type[Tensor], given: list[Any]) -> Any:
    """A result of an operator with its tensors as those of a subclass; arguments stay what they are."""
    if isinstance(result, Tensor):
        if isinstance(result, cls):
            return result
        if type(result) is Tensor and not any([result is a for a in given]) and not given_inside(result, given):
            try:
                result.__class__ = cls
            except TypeError:  # of another layout: it has slots of its own
                pass
            else:
                return result
        return result.as_subclass(cls)
    if hasattr(result, "__next__"):  # of iter(x)
        return (converted(r, cls, given) for r in result)
    if isinstance(result, (tuple, list)) and any([isinstance(r, (Tensor, tuple, list)) for r in result]):
        parts = [converted(r, cls, given) for r in result]
        return result._make(parts) if hasattr(result, "_make") else type(result)(parts)
    return result


def given_inside(result: Tensor, given: list[Any]) -> bool:
    """Whether a result is in one of the lists among the arguments."""
    return any([isinstance(a, (list, tuple)) and any([result is b for b in a]) for a in given])


@functools.cache
def unwrapped() -> frozenset[Any]:
    """Properties whose tensors are somebody's already; their subclass is made as an alias, not by ``default``."""
    return frozenset({vars(Tensor)[name].fget for name in ("grad",)})


@functools.cache
def overridable() -> dict[Any, str]:
    """The functions that may be overridden, with their names: operators, methods, and properties that give tensors."""
    found: dict[Any, str] = {}
    for namespace, registry in list(OPERATORS.items()):
        for name in list(registry):
            function = registry[name].function
            if isinstance(function, FunctionType) and name not in IGNORED:
                found.setdefault(function, f"{namespace}.{name}".lstrip("."))
    for name in dir(Tensor):
        getattr(Tensor, name, None)  # what comes later comes now
    for name, member in list(vars(Tensor).items()):
        private = name.startswith("_") and not name.startswith("__")
        if isinstance(member, FunctionType) and not private and name not in IGNORED and name not in NOT_OPERATORS:
            found.setdefault(member, f"Tensor.{name}")
    for name in PROPERTIES:
        member = inspect.getattr_static(Tensor, name, None)
        if isinstance(member, property) and isinstance(member.fget, FunctionType):
            found.setdefault(member.fget, f"Tensor.{name}.__get__")
    return found


NOT_OPERATORS = frozenset(
    {"__new__", "__init__", "__hash__", "__reduce_ex__", "__setstate__", "__deepcopy__", "__copy__", "__dir__"}
)
watching: list[Interception] = []


def watch() -> None:
    """Intercept operators from now on, if they are not yet."""
    if not watching:
        interception = Interception({f: functools.partial(intercept, f) for f in overridable()})
        with exchanging:  # the first tensors of two threads wait for each other
            if not watching:
                watching.append(interception.__enter__())
