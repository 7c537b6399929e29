"""Named tuples of the operators that return several tensors."""

from __future__ import annotations

from typing import Any

from .core import return_types as _types

__all__ = sorted(_types.FIELDS)


def __getattr__(name: str) -> Any:
    return getattr(_types, name)


def __dir__() -> list[str]:
    return __all__
