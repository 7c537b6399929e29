"""Bessel functions and their relatives.

Each family is one primitive whose order is an attribute. The derivative of a function is a combination of its
neighbours (DLMF 10.6, 10.29, 10.51), so that derivatives of every order exist, and are right at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import elementwise
from ..core.tensor import Tensor
from .declare import declare, document, refusing
from .kernels import narrowed, widened
from .special import also_special

REAL = refusing("c")


def by_order(general: str, *special: str) -> Callable[..., Any]:
    """The kernel by functions of scipy.special: those of order 0 and 1, and that of any order."""

    def kernel(xp: Any, input: Any, *, order: int) -> Any:
        import scipy.special

        x = widened(input)
        with np.errstate(all="ignore"):
            if order < len(special):
                out = getattr(scipy.special, special[order])(x)
            else:
                out = getattr(scipy.special, general)(order, x)
        return narrowed(np.asarray(out), input.dtype)

    return kernel


def neighbours(name: str, first: int, lower: int, upper: int) -> Callable[..., Any]:
    """The rule ``(lower * f(n - 1) + upper * f(n + 1)) / 2``, which at order 0 is ``first * f(1)``."""

    def rule(F: Any, g: Any, input: Any, order: int) -> Any:
        function = getattr(F, name)
        if order == 0:
            return g * (first * function(input, 1))
        return g * (0.5 * (lower * function(input, order - 1) + upper * function(input, order + 1)))

    return rule


for name, kernel, signs in [
    ("bessel_j", by_order("jv", "j0", "j1"), (-1, 1, -1)),
    ("bessel_y", by_order("yn", "y0", "y1"), (-1, 1, -1)),
    ("bessel_i", by_order("iv", "i0", "i1"), (1, 1, 1)),
    ("bessel_k", by_order("kn", "k0", "k1"), (-1, -1, -1)),
]:
    elementwise(name, kernel, vjp={"input": neighbours(name, *signs)}, promotes="float", check=REAL)


def scaled_i_vjp(F: Any, g: Any, input: Any, out: Any, order: int) -> Any:
    """Of ``exp(-abs(x)) * i(x)``."""
    return neighbours("scaled_bessel_i", 1, 1, 1)(F, g, input, order) - g * (F.sgn(input) * out)


def scaled_k_vjp(F: Any, g: Any, input: Any, out: Any, order: int) -> Any:
    """Of ``exp(x) * k(x)``."""
    return neighbours("scaled_bessel_k", -1, -1, -1)(F, g, input, order) + g * out


elementwise("scaled_bessel_i", by_order("ive", "i0e", "i1e"), vjp={"input": scaled_i_vjp}, promotes="float", check=REAL)
elementwise("scaled_bessel_k", by_order("kve", "k0e", "k1e"), vjp={"input": scaled_k_vjp}, promotes="float", check=REAL)


def spherical_j_kernel(xp: Any, input: Any, *, order: int) -> Any:
    import scipy.special

    with np.errstate(all="ignore"):
        return narrowed(np.asarray(scipy.special.spherical_jn(order, widened(input))), input.dtype)


def spherical_j_vjp(F: Any, g: Any, input: Any, order: int) -> Any:
    upper = F.spherical_bessel_j(input, order + 1)
    if order == 0:
        return -g * upper
    lower = F.spherical_bessel_j(input, order - 1)
    return g * ((order * lower - (order + 1) * upper) * (1 / (2 * order + 1)))


elementwise("spherical_bessel_j", spherical_j_kernel, vjp={"input": spherical_j_vjp}, promotes="float")


def of_order(name: str, primitive: str, order: int, summary: str, shows: str) -> Callable[..., Any]:
    """The public function of one order."""
    call = getattr(F, primitive)

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        return call(input, order, out=out)

    function.__name__ = function.__qualname__ = name
    where = "" if name == "i0" else "special."
    document(function, summary, f"tp.{where}{name}(tp.tensor([0.5, 2.]))", shows)
    if name == "i0":
        operator(out=False, inplace=True)(function)
        also_special(function)
    else:
        operator(out=False, namespace="special", method=False)(function)
    return function


for name, primitive, order, summary, shows in [
    ("bessel_j0", "bessel_j", 0, "The Bessel function of the first kind, of order 0.", "tensor([0.9385, 0.2239])"),
    ("bessel_j1", "bessel_j", 1, "The Bessel function of the first kind, of order 1.", "tensor([0.2423, 0.5767])"),
    ("bessel_y0", "bessel_y", 0, "The Bessel function of the second kind, of order 0.", "tensor([-0.4445,  0.5104])"),
    ("bessel_y1", "bessel_y", 1, "The Bessel function of the second kind, of order 1.", "tensor([-1.4715, -0.1070])"),
    ("i0", "bessel_i", 0, "The modified Bessel function of the first kind, of order 0.", "tensor([1.0635, 2.2796])"),
    ("i1", "bessel_i", 1, "The modified Bessel function of the first kind, of order 1.", "tensor([0.2579, 1.5906])"),
    ("i0e", "scaled_bessel_i", 0, "``exp(-abs(x)) * i0(x)``, without overflow in between.", "tensor([0.6450, 0.3085])"),
    ("i1e", "scaled_bessel_i", 1, "``exp(-abs(x)) * i1(x)``, without overflow in between.", "tensor([0.1564, 0.2153])"),
    ("modified_bessel_i0", "bessel_i", 0, "The modified Bessel function of the first kind, of order 0.",
     "tensor([1.0635, 2.2796])"),
    ("modified_bessel_i1", "bessel_i", 1, "The modified Bessel function of the first kind, of order 1.",
     "tensor([0.2579, 1.5906])"),
    ("modified_bessel_k0", "bessel_k", 0, "The modified Bessel function of the second kind, of order 0.",
     "tensor([0.9244, 0.1139])"),
    ("modified_bessel_k1", "bessel_k", 1, "The modified Bessel function of the second kind, of order 1.",
     "tensor([1.6564, 0.1399])"),
    ("scaled_modified_bessel_k0", "scaled_bessel_k", 0, "``exp(x) * modified_bessel_k0(x)``, without underflow.",
     "tensor([1.5241, 0.8416])"),
    ("scaled_modified_bessel_k1", "scaled_bessel_k", 1, "``exp(x) * modified_bessel_k1(x)``, without underflow.",
     "tensor([2.7310, 1.0335])"),
    ("spherical_bessel_j0", "spherical_bessel_j", 0, "The spherical Bessel function of order 0, ``sin(x) / x``.",
     "tensor([0.9589, 0.4546])"),
]:
    of_order(name, primitive, order, summary, shows)


def sinc_kernel(xp: Any, input: Any) -> Any:
    with np.errstate(all="ignore"):
        return narrowed(xp.asarray(xp.sinc(widened(input))), input.dtype)


sinc = declare(  # by the spherical Bessel function, because the quotient has no derivatives at 0
    "sinc", sinc_kernel, lambda F, g, input: g * (-math.pi * F.spherical_bessel_j(input * math.pi, 1)),
    "``sin(pi * x) / (pi * x)``, and 1 at 0.", "tp.sinc(tp.tensor([0., 0.5, 1.5]))",
    "tensor([ 1.0000,  0.6366, -0.2122])", promotes="float",
)  # fmt: skip
also_special(sinc)

# ---- Airy functions: the second derivative of either is x times itself


def airy_kernel(which: int) -> Callable[..., Any]:
    def kernel(xp: Any, input: Any) -> Any:
        import scipy.special

        with np.errstate(all="ignore"):
            return narrowed(np.asarray(scipy.special.airy(widened(input))[which]), input.dtype)

    return kernel


elementwise("airy_ai_derivative", airy_kernel(1), promotes="float", check=REAL,
            vjp={"input": lambda F, g, input: g * (input * F.airy_ai(input))})  # fmt: skip
airy_ai = declare(
    "airy_ai", airy_kernel(0), lambda F, g, input: g * F.airy_ai_derivative(input), "The Airy function Ai.",
    "tp.special.airy_ai(tp.tensor([0., 1.]))", "tensor([0.3550, 0.1353])",
    namespace="special", method=False, inplace=False, promotes="float",
    check=REAL,
)  # fmt: skip
