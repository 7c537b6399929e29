"""Operators on the elements that a mask declares valid; the names of ``torch.masked``."""

from __future__ import annotations

from .core.operator import OPERATORS as _OPERATORS
from .core.operator import exported as _exported

__getattr__ = _exported("masked", globals())
__all__ = sorted(_OPERATORS["masked"])


def __dir__() -> list[str]:
    return __all__
