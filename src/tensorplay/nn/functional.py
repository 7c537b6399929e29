"""Functions of neural networks; what PyTorch has in ``torch.nn.functional``."""

from __future__ import annotations

from ..core.operator import OPERATORS, exported

__all__ = sorted(OPERATORS["nn.functional"])
__getattr__ = exported("nn.functional", globals())


def __dir__() -> list[str]:
    return __all__
