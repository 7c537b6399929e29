"""Arithmetic and elementary functions, element by element.

A rule multiplies by the derivative; forward mode uses the same rule on tangents, and complex numbers follow, because the
functions are holomorphic unless it is said otherwise.
"""

from __future__ import annotations

from typing import Any

from ..core.operator import operator
from ..core.primitive import elementwise

# ---- exponentials and trigonometry

exp = elementwise("exp", "exp", promotes="float", vjp={"input": lambda F, g, out: g * out})
log = elementwise("log", "log", promotes="float", vjp={"input": lambda F, g, input: g / input})
sin = elementwise("sin", "sin", promotes="float", vjp={"input": lambda F, g, input: g * F.cos(input)})
cos = elementwise("cos", "cos", promotes="float", vjp={"input": lambda F, g, input: -g * F.sin(input)})


def tanh_vjp(F: Any, g: Any, out: Any) -> Any:
    return g * (1 - out * out)


tanh = elementwise("tanh", "tanh", promotes="float", vjp={"input": tanh_vjp})
sqrt = elementwise("sqrt", "sqrt", promotes="float", vjp={"input": lambda F, g, out: g / (2 * out)})


def sigmoid_kernel(xp: Any, input: Any) -> Any:
    return 1 / (1 + xp.exp(-input))


sigmoid = elementwise("sigmoid", sigmoid_kernel, promotes="float", vjp={"input": lambda F, g, out: g * ((1 - out) * out)})
for function in (exp, log, sin, cos, tanh, sqrt, sigmoid):
    operator(out=False, inplace=True)(function)
