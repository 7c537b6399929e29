"""Tensors and automatic differentiation with PyTorch's names and semantics, in Python on NumPy."""

import builtins as _builtins
import warnings as _warnings
from math import e, inf, nan, pi

from . import autograd, random
from . import ops as _ops
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core import dtype as _dtype
from .core.device import device, get_default_device, set_default_device
from .core.dtype import dtype as dtype
from .core.dtype import finfo, get_default_dtype, iinfo, set_default_dtype
from .core.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .core.interop import from_dlpack, to_dlpack
from .core.layout import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from .core.operator import OPERATORS as _OPERATORS
from .core.operator import exported as _exported
from .core.printing import set_printoptions
from .core.promotion import can_cast, promote_types
from .core.registry import attributes_later as _attributes_later
from .core.settings import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    is_deterministic_algorithms_warn_only_enabled,
    is_warn_always_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_num_interop_threads,
    set_warn_always,
    use_deterministic_algorithms,
)
from .core.tensor import Size, Tensor
from .core.threads import get_num_threads, set_num_threads
from .ops.typed import TENSOR_TYPES as _TENSOR_TYPES
from .ops.typed import set_default_tensor_type

# NumPy reports divisions by zero and overflow as warnings; tensors hold inf and nan instead, as PyTorch's do.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tensorplay\.")

newaxis = None
globals().update({d.name: d for d in _dtype.ALL} | _dtype.ALIASES | _TENSOR_TYPES)

__version__ = "0.1.0"

# imported when they are first named
_MODULES = (
    "accelerator", "amp", "compiler", "cuda", "distributed", "distributions", "fft", "func", "jit", "linalg", "masked",
    "multiprocessing", "nn", "optim", "overrides", "profiler", "return_types", "serialization", "signal", "special",
    "testing", "types", "utils", "version",
)  # fmt: skip
_MEMBERS = {
    "GradScaler": "amp", "OutOfMemoryError": "cuda", "autocast": "amp", "compile": "compiler",
    "get_autocast_dtype": "amp.autocast_mode", "is_autocast_enabled": "amp.autocast_mode", "load": "serialization",
    "save": "serialization", "vmap": "func",
}  # fmt: skip
_later = _attributes_later(globals(), _MODULES, _MEMBERS)
_operator = _exported("", globals())

_public = {_name for _name in globals() if not _name.startswith("_")} - {"core", "ops"} | {
    *_OPERATORS[""],
    *_MODULES,
    *_MEMBERS,
}
__all__ = sorted(_public - set(dir(_builtins)))  # a star import leaves Python's own names alone


def __getattr__(name: str) -> object:
    return _later(name) if name in _MODULES or name in _MEMBERS else _operator(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_public})
