"""Transforms of functions: they nest in any order and to any depth."""

from .batching import vmap
from .forward import hessian, jacfwd, jvp
from .laplacian import hessian_diag, hvp, laplacian
from .rearranging import debug_unwrap, rearrange
from .reverse import grad, grad_and_value, jacrev, linearize, vjp
from .taylor import jet

__all__ = [
    "debug_unwrap",
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
    "vjp",
    "vmap",
]
