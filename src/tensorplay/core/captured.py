"""Tensors that a transformed function did not make: what it may read, but not write its own values into.

A value that depends on the arguments of a transform must not outlive it in a tensor from outside. A tensor does not
know where it was made, so the function is asked what it can reach: closures, globals that it names, the objects it is
bound to.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .carrier import Carrier
from .state import state
from .tensor import Tensor


def refuse_captured(t: Tensor, value: Tensor, name: str) -> None:
    """Raise if ``t`` is from outside of a running transform and the value belongs to it.

    Called before an in-place write while a transform runs; ``state.running`` holds a number that is newer than all that
    existed before, and what the function can reach, for each.
    """
    base = t if t._rare is None or t._rare.view is None else t._rare.view.base
    level = base._data.level if isinstance(base._data, Carrier) else 0
    newest = value._data.level if isinstance(value._data, Carrier) and value._data.level > level else 0
    if state.recording and value._node is not None:
        newest = max(newest, value._node.order)
    for started, transform, roots in state.running:
        if newest < started or level >= started:
            continue
        captured = base._node.order < started if base._node is not None else reaches(roots, base)
        if captured:
            raise RuntimeError(
                f"{name}: During a {transform} transform, the function provided attempted an in-place operation that "
                "would mutate a captured Tensor. This is not supported; please rewrite the function being transformed "
                "to explicitly accept the mutated Tensor(s) as inputs, or to return the new value."
            )


def reaches(roots: Iterable[Any], target: Tensor) -> bool:
    """Whether an object can be reached from functions and values."""
    stack = list(roots)
    seen: set[int] = set()
    while stack:
        obj = stack.pop()
        if obj is target:
            return True
        if id(obj) in seen or len(seen) > 100_000:
            continue
        seen.add(id(obj))
        stack.extend(parts(obj))
    return False


ATOMS = (int, float, complex, str, bytes, type(None), type, types.ModuleType, types.BuiltinFunctionType)


def parts(obj: Any) -> Iterator[Any]:
    """What an object holds."""
    if isinstance(obj, ATOMS):
        return
    if isinstance(obj, Tensor):
        if obj._rare is not None and obj._rare.view is not None:
            yield obj._rare.view.base
    elif isinstance(obj, types.FunctionType):
        for cell in obj.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # not assigned yet
                pass
        yield from obj.__defaults__ or ()
        yield from (obj.__kwdefaults__ or {}).values()
        for name in global_names(obj.__code__):
            if name in obj.__globals__:
                yield obj.__globals__[name]
    elif isinstance(obj, types.MethodType):
        yield obj.__self__
        yield obj.__func__
    elif isinstance(obj, functools.partial):
        yield from (obj.func, *obj.args, *obj.keywords.values())
    elif isinstance(obj, Mapping):
        yield from obj.values()
    elif isinstance(obj, (list, tuple, set, frozenset)):
        yield from obj
    else:
        yield from getattr(obj, "__dict__", {}).values()


def global_names(code: types.CodeType) -> Iterator[str]:
    """The names that a function's code, and that of functions defined in it, may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from global_names(constant)
