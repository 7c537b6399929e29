"""Window functions; the names of ``torch.signal.windows``."""

from __future__ import annotations

from ..core.operator import OPERATORS as _OPERATORS
from ..core.operator import exported as _exported

__getattr__ = _exported("signal.windows", globals())
__all__ = sorted(_OPERATORS["signal.windows"])


def __dir__() -> list[str]:
    return __all__
