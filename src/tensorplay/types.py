"""Types by the names that hints in programs use."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, TypeAlias

from .core.device import device as _device
from .core.dtype import dtype as _dtype  # noqa: F401  a name of PyTorch's, as the next one
from .core.layout import layout as _layout  # noqa: F401
from .core.tensor import Size, Tensor

__all__ = ["Device", "FileLike", "Number"]

_int, _float, _bool = builtins.int, builtins.float, builtins.bool
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
Number: TypeAlias = int | float | bool
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
