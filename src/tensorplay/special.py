"""Special functions: error and gamma functions, Bessel functions, polynomials; the names of ``torch.special``."""

from __future__ import annotations

from .core.operator import OPERATORS as _OPERATORS
from .core.operator import exported as _exported

__getattr__ = _exported("special", globals())
__all__ = sorted(_OPERATORS["special"])


def __dir__() -> list[str]:
    return __all__
