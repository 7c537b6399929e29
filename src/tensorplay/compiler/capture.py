"""What a function can reach: the tensors that are its inputs, and the Python values that a compiled program rests on.

A compiled program is good as long as the Python around it is what it was. So everything that the function can reach is
walked through once, when it is compiled: closures, globals that it names, attributes and items of what it finds there.
Tensors become inputs. The containers are kept with what they held, as a guard: a call with other contents compiles
anew.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator, Mapping
from operator import is_
from typing import Any

import numpy as np

from ..core.captured import global_names
from ..core.node import AccumulateGrad, Hooks
from ..core.tensor import Tensor

LIMIT = 200_000
VALUES = (int, float, complex, bool, str, bytes, type(None))
OPAQUE = (*VALUES, type, types.BuiltinFunctionType, types.CodeType, types.FrameType, types.GeneratorType, np.ndarray,
          np.generic, np.dtype)  # fmt: skip
LIBRARY = frozenset({*sys.stdlib_module_names, "tensorplay", "numpy", "scipy", "jax", "jaxlib", "ml_dtypes", "pytest",
                     "_pytest"} - {"__main__"})  # fmt: skip


def in_library(name: Any) -> bool:
    """Whether code of this module is no part of the user's program."""
    return isinstance(name, str) and name.partition(".")[0] in LIBRARY


def shown(key: Any) -> str:
    """A key in a label; not all values of a tensor."""
    return f"a tensor of {list(key.shape)}" if isinstance(key, Tensor) else repr(key)


class Place:
    """A container with what it held."""

    __slots__ = ("held", "holder", "label", "names")

    def __init__(self, holder: Any, names: tuple[Any, ...] | None, label: str) -> None:
        self.holder, self.names, self.label = holder, names, label
        self.held = self.now()

    def now(self) -> list[Any]:
        """What it holds."""
        holder, names = self.holder, self.names
        if names is not None:
            get = holder.get
            return [get(n) for n in names]
        kind = type(holder)
        if kind is types.CellType:
            try:
                return [holder.cell_contents]
            except ValueError:  # not assigned yet
                return []
        return list(holder.values()) if isinstance(holder, Mapping) else list(holder)

    def changed(self) -> Any:
        """Whether it holds something else: None, or a pair of index and value."""
        held, now = self.held, self.now()
        if len(held) == len(now) and all(map(is_, held, now)):
            return None
        if len(held) != len(now):
            return -1
        for i, (a, b) in enumerate(zip(held, now)):
            if a is not b:
                if type(a) is not type(b) or type(a) not in VALUES or (a != b and (a == a or b == b)):
                    return i
        self.held = now
        return None

    def name_of(self, i: int) -> str:
        """How the user would name an item."""
        if i < 0:
            return f"the number of items of {self.label}"
        if self.names is not None:
            return f"{self.label}{self.names[i]}"
        if isinstance(self.holder, Mapping):
            key = list(self.holder)[i]
            return f"{self.label}{key}" if self.label.endswith(".") else f"{self.label}[{shown(key)}]"
        return self.label if type(self.holder) is types.CellType else f"{self.label}[{i}]"

    def snapshot(self) -> Any:
        """What ``restore`` needs to put it back."""
        holder = self.holder
        return dict(holder) if isinstance(holder, Mapping) and self.names is None else self.held

    def restore(self, before: Any) -> None:
        """Put back what it held."""
        holder = self.holder
        if self.names is not None:
            for name, value in zip(self.names, before):
                if holder.get(name) is not value:
                    holder[name] = value
        elif type(holder) is types.CellType:
            if before:
                holder.cell_contents = before[0]
        elif isinstance(holder, Mapping):
            if list(holder) != list(before):
                holder.clear()  # type: ignore[attr-defined]
            holder.update(before)  # type: ignore[attr-defined]
        elif isinstance(holder, list):
            holder[:] = before
        elif isinstance(holder, set):
            holder.clear()
            holder.update(before)


class Reach:
    """The tensors and containers that roots lead to."""

    def __init__(self, roots: list[tuple[Any, str]]) -> None:
        self.tensors: dict[int, tuple[Tensor, str]] = {}
        self.places: list[Place] = []
        self.seen: dict[int, Any] = {}
        stack = list(reversed(roots))
        while stack and len(self.seen) < LIMIT:
            obj, label = stack.pop()
            if isinstance(obj, OPAQUE) or id(obj) in self.seen:
                continue
            self.seen[id(obj)] = obj
            stack.extend(reversed(list(self.parts(obj, label))))

    def hold(self, holder: Any, label: str, names: tuple[Any, ...] | None = None) -> list[Any]:
        place = Place(holder, names, label)
        if place.held or names is None:
            self.places.append(place)
        return place.held

    def parts(self, obj: Any, label: str) -> Iterator[tuple[Any, str]]:
        """What an object holds; containers are noted on the way."""
        if isinstance(obj, Tensor):
            self.tensors[id(obj)] = (obj, label)
            rare = obj._rare
            if rare is not None and rare.grad is not None:
                yield rare.grad, label + ".grad"
            if obj.__dict__:
                yield obj.__dict__, label + "."
            node = obj._node
            if type(node) is AccumulateGrad and (node.rare is not None or node.post_accumulate is not None):
                more = node.rarely()
                if node.post_accumulate is None:  # so that the first one is noticed
                    node.post_accumulate = Hooks()
                for hooks in (more.pre_hooks, more.post_hooks, node.hooks_on(0), node.post_accumulate):
                    if hooks is not None:
                        yield hooks, f"the hooks of {label}"
        elif isinstance(obj, types.FunctionType):
            yield from self.function(obj, label)
        elif isinstance(obj, types.MethodType):
            yield obj.__self__, label.rpartition(".")[0] or "self"
            yield obj.__func__, label
        elif isinstance(obj, functools.partial):
            yield obj.func, label
            yield obj.args, label
            yield obj.keywords, label
        elif isinstance(obj, types.ModuleType):
            return
        elif isinstance(obj, Mapping):
            if isinstance(obj, dict):
                held = self.hold(obj, label)
                for key, value in zip(list(obj), held):
                    if isinstance(key, Tensor):
                        yield key, f"{label} key"
                    yield value, f"{label}{key}" if label.endswith(".") else f"{label}[{shown(key)}]"
        elif isinstance(obj, (list, tuple, set, frozenset)):
            for i, value in enumerate(self.hold(obj, label) if not isinstance(obj, tuple) else obj):
                yield value, f"{label}[{i}]"
        elif type(obj).__module__.startswith("tensorplay.compiler"):
            yield obj.__wrapped__, label
        elif not in_library(type(obj).__module__) or type(obj).__module__.startswith("tensorplay."):
            yield from self.instance(obj, label)

    def function(self, f: Any, label: str) -> Iterator[tuple[Any, str]]:
        wrapped = f.__dict__.get("__wrapped__")
        if in_library(f.__module__) and wrapped is None and not f.__closure__:
            return
        code = f.__code__
        for name, cell in zip(code.co_freevars, f.__closure__ or ()):
            for value in self.hold(cell, name):
                yield value, name
        yield f.__defaults__ or (), label
        yield f.__kwdefaults__ or {}, label
        if wrapped is not None:
            yield wrapped, label
        if in_library(f.__module__):
            return
        names = tuple([n for n in dict.fromkeys(global_names(code)) if n in f.__globals__])
        if names:
            for name, value in zip(names, self.hold(f.__globals__, "", names)):
                if isinstance(value, types.ModuleType):
                    if not in_library(value.__name__):
                        used = tuple([n for n in names_of(code) if n in vars(value)])
                        for n, part in zip(used, self.hold(vars(value), f"{name}.", used)):
                            yield part, f"{name}.{n}"
                else:
                    yield value, name

    def instance(self, obj: Any, label: str) -> Iterator[tuple[Any, str]]:
        attributes = getattr(obj, "__dict__", None)
        if attributes is not None:
            yield attributes, label + "."
        for cls in type(obj).__mro__:
            if in_library(cls.__module__):
                continue
            for name, value in list(vars(cls).items()):
                if isinstance(value, (types.FunctionType, Tensor)):
                    yield value, f"{label}.{name}"
                elif isinstance(value, (staticmethod, classmethod)):
                    yield value.__func__, f"{label}.{name}"
                elif isinstance(value, property) and value.fget is not None:
                    yield value.fget, f"{label}.{name}"
            for name in getattr(cls, "__slots__", ()):
                if isinstance(name, str) and not name.startswith("__"):
                    value = getattr(obj, name, None)
                    yield value, f"{label}.{name}"


def names_of(code: types.CodeType) -> dict[str, None]:
    return dict.fromkeys(global_names(code))
