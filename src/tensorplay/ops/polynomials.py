"""Orthogonal polynomials of integer degree, differentiable in their argument.

The derivative of a polynomial is one of a lower degree (DLMF 18.9). Those of Chebyshev and Legendre lie in the family
of Gegenbauer, C(n, alpha), whose derivative is ``2 * alpha * C(n - 1, alpha + 1)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import elementwise
from ..core.tensor import Tensor
from .declare import document, refusing
from .kernels import narrowed

REAL = refusing("c")


def evaluated(name: str, input: Any, n: Any, *parameters: float) -> Any:
    """A polynomial by scipy.special; of a negative degree, zero. At infinity it has the sign of far away."""
    import scipy.special

    dtype = next(a.dtype for a in (input, n) if isinstance(a, np.ndarray))
    x, degree = np.asarray(input, np.float64), np.asarray(n).astype(np.int64)
    infinite = np.isinf(x)
    with np.errstate(all="ignore"):
        far = np.where(infinite, np.copysign(1e8, x), x) if infinite.any() else x
        out = getattr(scipy.special, name)(np.maximum(degree, 0), *parameters, far)
        out = np.where(infinite & (degree > 0), out * np.inf, out)
    return narrowed(np.where(degree < 0, 0.0, out), dtype)


def by_scipy(name: str) -> Callable[..., Any]:
    def kernel(xp: Any, input: Any, n: Any) -> Any:
        return evaluated(name, input, n)

    return kernel


def polynomial(name: str, kernel: Callable[..., Any], vjp: Callable[..., Any]) -> None:
    elementwise(name, kernel, vjp={"input": vjp}, promotes="float", check=REAL)


# ---- the families as primitives


def gegenbauer_kernel(xp: Any, input: Any, n: Any, *, alpha: float) -> Any:
    return evaluated("eval_gegenbauer", input, n, alpha)


def gegenbauer_vjp(F: Any, g: Any, input: Any, n: Any, alpha: float) -> Any:
    return g * (2 * alpha * F.gegenbauer(input, n - 1, alpha + 1))


def laguerre_kernel(xp: Any, input: Any, n: Any, *, alpha: float) -> Any:
    return evaluated("eval_genlaguerre", input, n, alpha)


def laguerre_vjp(F: Any, g: Any, input: Any, n: Any, alpha: float) -> Any:
    return -g * F.laguerre(input, n - 1, alpha + 1)


polynomial("gegenbauer", gegenbauer_kernel, gegenbauer_vjp)
polynomial("laguerre", laguerre_kernel, laguerre_vjp)
polynomial("legendre", by_scipy("eval_legendre"), lambda F, g, input, n: g * F.gegenbauer(input, n - 1, 1.5))
polynomial("chebyshev_t", by_scipy("eval_chebyt"), lambda F, g, input, n: g * (n * F.chebyshev_u(input, n - 1)))
polynomial("chebyshev_u", by_scipy("eval_chebyu"), lambda F, g, input, n: g * (2 * F.gegenbauer(input, n - 1, 2.0)))
polynomial("hermite_h", by_scipy("eval_hermite"), lambda F, g, input, n: g * (2 * n * F.hermite_h(input, n - 1)))
polynomial("hermite_he", by_scipy("eval_hermitenorm"), lambda F, g, input, n: g * (n * F.hermite_he(input, n - 1)))

# ---- the public functions


def chebyshev_v(input: Any, n: Any) -> Tensor:
    return F.chebyshev_u(input, n) - F.chebyshev_u(input, n - 1)


def chebyshev_w(input: Any, n: Any) -> Tensor:
    return F.chebyshev_u(input, n) + F.chebyshev_u(input, n - 1)


def public(name: str, call: Callable[..., Any], summary: str, shows: str, shifted: bool = False) -> None:
    """The polynomial as a function of argument and degree; the fraction of a degree does not count."""

    def function(input: Tensor | float, n: Tensor | float) -> Tensor:
        if isinstance(input, Tensor) and input._data.dtype.kind in "biu":  # before arithmetic that could wrap around
            input = F.cast(input, dtypes.get_default_dtype().numpy)
        if isinstance(n, Tensor):
            n = F.trunc(n) if n.is_floating_point() else F.cast(n, np.dtype(np.int64))
        else:
            n = int(n)
        return call(2 * input - 1 if shifted else input, n)

    function.__name__ = function.__qualname__ = name
    document(function, summary, f"tp.special.{name}(tp.tensor([0.5, 2.]), 3)", shows,
             n="The degree; broadcast with the input. Of a negative degree, the polynomial is 0.")  # fmt: skip
    operator(namespace="special", method=False)(function)


for letter, call, kind, plain, shifted in [
    ("t", F.chebyshev_t, "first", "tensor([-1., 26.])",
     "tensor([-0., 99.])"),
    ("u", F.chebyshev_u, "second", "tensor([-1., 56.])",
     "tensor([ -0., 204.])"),
    ("v", chebyshev_v, "third", "tensor([-1., 41.])",
     "tensor([  1., 169.])"),
    ("w", chebyshev_w, "fourth", "tensor([-1., 71.])",
     "tensor([ -1., 239.])"),
]:
    public(f"chebyshev_polynomial_{letter}", call, f"The Chebyshev polynomial of the {kind} kind and degree n.", plain)
    public(f"shifted_chebyshev_polynomial_{letter}", call,
           f"The Chebyshev polynomial of the {kind} kind and degree n, at ``2 * input - 1``.", shifted,
           shifted=True)  # fmt: skip
for name, call, summary, shows in [
    ("hermite_polynomial_h", F.hermite_h, "The Hermite polynomial of degree n for the weight ``exp(-x**2)``.",
     "tensor([-5., 40.])"),
    ("hermite_polynomial_he", F.hermite_he, "The Hermite polynomial of degree n for the weight ``exp(-x**2 / 2)``.",
     "tensor([-1.3750,  2.0000])"),
    ("laguerre_polynomial_l", lambda input, n: F.laguerre(input, n, 0.0), "The Laguerre polynomial of degree n.",
     "tensor([-0.1458, -0.3333])"),
    ("legendre_polynomial_p", F.legendre, "The Legendre polynomial of degree n.",
     "tensor([-0.4375, 17.0000])"),
]:
    public(name, call, summary, shows)
