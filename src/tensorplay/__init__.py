"""Tensors and automatic differentiation with PyTorch's names and semantics, in Python on NumPy."""

import importlib as _importlib
import warnings as _warnings
from math import e, inf, nan, pi

# NumPy reports divisions by zero and overflow as warnings; tensors hold inf and nan instead, as PyTorch's do.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tensorplay\.")

from .core import dtype as _dtype  # noqa: E402
from .core.device import device, get_default_device, set_default_device  # noqa: E402
from .core.dtype import dtype as dtype  # noqa: E402
from .core.dtype import finfo, get_default_dtype, iinfo, set_default_dtype  # noqa: E402
from .core.generator import (  # noqa: E402
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .core.interop import from_dlpack, to_dlpack  # noqa: E402
from .core.layout import (  # noqa: E402
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from .core.operator import OPERATORS as _OPERATORS  # noqa: E402
from .core.operator import exported as _exported  # noqa: E402
from .core.printing import set_printoptions  # noqa: E402
from .core.promotion import can_cast, promote_types  # noqa: E402
from .core.settings import (  # noqa: E402
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    use_deterministic_algorithms,
)
from .core.tensor import Size, Tensor  # noqa: E402
from . import ops as _ops  # noqa: E402, F401, I001
from .ops.typed import TENSOR_TYPES as _TENSOR_TYPES, set_default_tensor_type  # noqa: E402
from . import autograd, func, random  # noqa: E402
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled  # noqa: E402
from .autograd.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .func import vmap  # noqa: E402

newaxis = None
globals().update({d.name: d for d in _dtype.ALL} | _dtype.ALIASES | _TENSOR_TYPES)

__version__ = "0.1.0"

_MODULES = ("cuda", "linalg", "nn", "optim", "return_types", "special", "utils")  # imported when they are first named
_operator = _exported("", globals())

_public = {_name for _name in globals() if not _name.startswith("_")} - {"core", "ops"}
__all__ = sorted({*_public, *_OPERATORS[""], *_MODULES})


def __getattr__(name: str) -> object:
    return _importlib.import_module(f"{__name__}.{name}") if name in _MODULES else _operator(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
