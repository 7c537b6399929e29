"""Things by name, some of which come with a module that is imported when one of its names is first asked for.

So importing the package costs what every program needs, and no more.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, TypeVar

T = TypeVar("T")


class Registry(MutableMapping[str, T]):
    """A mapping from names; ``later`` says in which modules those are that have not been entered yet."""

    def __init__(self) -> None:
        self.found: dict[str, T] = {}
        self.later: dict[str, str] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self.found and name in self.later:
            importlib.import_module(self.later[name])
        return self.found[name]

    def __setitem__(self, name: str, value: T) -> None:
        self.found[name] = value

    def __delitem__(self, name: str) -> None:
        del self.found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.found or name in self.later

    def __iter__(self) -> Iterator[str]:
        return iter([*self.found, *(name for name in self.later if name not in self.found)])

    def __len__(self) -> int:
        return len(self.found.keys() | self.later.keys())


class Registries(dict[str, Registry[T]]):
    """Registries by name, made at the first need."""

    def __missing__(self, name: str) -> Registry[T]:
        made = self[name] = Registry()
        return made


class LaterAttribute:
    """Stands in a class for an attribute that a module enters there when it is imported."""

    __slots__ = ("cls", "module", "name")

    def __init__(self, cls: type, name: str, module: str) -> None:
        self.cls, self.name, self.module = cls, name, module
        setattr(cls, name, self)

    def bring(self) -> None:
        """Import the module; an attribute that it does not enter is gone after."""
        importlib.import_module(self.module)
        if vars(self.cls).get(self.name) is self:
            delattr(self.cls, self.name)

    def __get__(self, instance: Any, owner: Any) -> Any:
        self.bring()
        return getattr(owner if instance is None else instance, self.name)

    def __set__(self, instance: Any, value: Any) -> None:
        self.bring()
        setattr(instance, self.name, value)


def attributes_later(package: dict[str, Any], modules: Iterable[str], members: dict[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package for some of its modules, and for members of modules (name: module)."""

    def get(name: str) -> Any:
        if name in members:
            module = importlib.import_module(f"{package['__name__']}.{members[name]}")
            package[name] = getattr(module, name)
        elif name in modules:
            package[name] = importlib.import_module(f"{package['__name__']}.{name}")
        else:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        return package[name]

    return get
