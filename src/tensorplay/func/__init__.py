"""Transforms of functions: they nest in any order and to any depth."""

import importlib as _importlib

from .batching import vmap
from .forward import hessian, jacfwd, jvp
from .laplacian import hessian_diag, hvp, laplacian
from .rearranging import debug_unwrap, functionalize, rearrange
from .reverse import grad, grad_and_value, jacrev, linearize, vjp
from .taylor import jet

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "hessian_diag",
    "hvp",
    "jacfwd",
    "jacrev",
    "jet",
    "jvp",
    "laplacian",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

# what is about modules stands with them, a layer above, and is imported when it is first named
_OF_MODULES = ("functional_call", "replace_all_batch_norm_modules_", "stack_module_state")
_LATER = dict.fromkeys(_OF_MODULES, "tensorplay.nn.utils.stateless")


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_importlib.import_module(_LATER[name]), name)
    return found
