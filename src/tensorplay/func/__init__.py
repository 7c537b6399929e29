"""Transforms of functions: they nest in any order and to any depth."""

from .batching import vmap
from .forward import hessian, jacfwd, jvp
from .rearranging import debug_unwrap, rearrange
from .reverse import grad, grad_and_value, jacrev, linearize, vjp

__all__ = [
    "debug_unwrap",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "vjp",
    "vmap",
]
