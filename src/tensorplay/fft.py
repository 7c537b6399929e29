"""Discrete Fourier transforms; the names of ``torch.fft``."""

from __future__ import annotations

from .core.operator import OPERATORS as _OPERATORS
from .core.operator import exported as _exported
from .core.tensor import Tensor as Tensor

__getattr__ = _exported("fft", globals())
__all__ = ["Tensor", *sorted(_OPERATORS["fft"])]


def __dir__() -> list[str]:
    return __all__
