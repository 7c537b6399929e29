"""Tensors and automatic differentiation with PyTorch's names and semantics, in Python on NumPy."""

from __future__ import annotations

import warnings as _warnings

# NumPy reports divisions by zero and overflow as warnings; tensors hold inf and nan instead, as PyTorch's do.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tensorplay\.")

from .core import dtype as _dtype  # noqa: E402
from .core.device import device, get_default_device, set_default_device  # noqa: E402
from .core.dtype import finfo, get_default_dtype, iinfo, set_default_dtype  # noqa: E402
from .core.dtype import dtype as dtype  # noqa: E402
from .core.generator import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state  # noqa: E402
from .core.layout import channels_last, channels_last_3d, contiguous_format, layout, memory_format, preserve_format  # noqa: E402
from .core.layout import strided  # noqa: E402
from .core.operator import OPERATORS as _OPERATORS  # noqa: E402
from .core.operator import exported as _exported  # noqa: E402
from .core.interop import from_dlpack, to_dlpack  # noqa: E402
from .core.printing import set_printoptions  # noqa: E402
from .core.promotion import can_cast, promote_types  # noqa: E402
from .core.tensor import Size, Tensor  # noqa: E402
from . import ops as _ops  # noqa: E402, F401, I001
from . import autograd, func, random  # noqa: E402
from .func import vmap  # noqa: E402

globals().update({d.name: d for d in _dtype.ALL} | _dtype.ALIASES)
__getattr__ = _exported("", globals())

__version__ = "0.1.0"
__all__ = [
    "Size", "Tensor", "autograd", "can_cast", "device", "dtype", "finfo", "func", "get_default_dtype", "iinfo", "promote_types",
    "set_default_dtype", "vmap", *sorted(_OPERATORS[""]), *(d.name for d in _dtype.ALL), *_dtype.ALIASES,
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
