"""Arithmetic and elementary functions, element by element.

A rule multiplies by the derivative; forward mode uses the same rule on tangents, and complex numbers follow, because the
functions are holomorphic unless it is said otherwise.
"""

from __future__ import annotations

from typing import Any

from ..core.primitive import elementwise

# ---- arithmetic

add = elementwise("add", "add", inputs="input, other", vjp={"input": lambda F, g: g, "other": lambda F, g: g})
sub = elementwise("sub", "subtract", inputs="input, other", vjp={"input": lambda F, g: g, "other": lambda F, g: -g})
mul = elementwise(
    "mul", "multiply", inputs="input, other",
    vjp={"input": lambda F, g, other: g * other, "other": lambda F, g, input: g * input},
)  # fmt: skip
div = elementwise(
    "div", "true_divide", inputs="input, other", promotes="float",
    vjp={"input": lambda F, g, other: g / other, "other": lambda F, g, other, out: -g * (out / other)},
)  # fmt: skip
neg = elementwise("neg", "negative", vjp={"input": lambda F, g: -g})

# ---- exponentials and trigonometry

exp = elementwise("exp", "exp", promotes="float", vjp={"input": lambda F, g, out: g * out})
log = elementwise("log", "log", promotes="float", vjp={"input": lambda F, g, input: g / input})
sin = elementwise("sin", "sin", promotes="float", vjp={"input": lambda F, g, input: g * F.cos(input)})
cos = elementwise("cos", "cos", promotes="float", vjp={"input": lambda F, g, input: -g * F.sin(input)})


def tanh_vjp(F: Any, g: Any, out: Any) -> Any:
    return g * (1 - out * out)


tanh = elementwise("tanh", "tanh", promotes="float", vjp={"input": tanh_vjp})
