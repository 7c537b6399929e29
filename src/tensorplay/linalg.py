"""Linear algebra: decompositions, solvers, norms; the names of ``torch.linalg``."""

from __future__ import annotations

from .core.operator import OPERATORS as _OPERATORS
from .core.operator import exported as _exported
from .ops.matrices import LinAlgError as LinAlgError

__getattr__ = _exported("linalg", globals())
__all__ = ["LinAlgError", *sorted(_OPERATORS["linalg"])]


def __dir__() -> list[str]:
    return __all__
