"""Comparison, logic and bits, and choosing between values: results that are bool, or one of the operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import PRIMITIVES, elementwise, primitive
from ..core.tensor import Tensor
from .declare import refusing

# ---- comparison

for name, kernel, alias, refuses in [
    ("eq", "equal", None, ""), ("ne", "not_equal", "not_equal", ""), ("lt", "less", "less", "c"),
    ("le", "less_equal", "less_equal", "c"), ("gt", "greater", "greater", "c"), ("ge", "greater_equal", "greater_equal", "c"),
]:  # fmt: skip
    compare = elementwise(name, kernel, inputs="input, other", check=refusing(refuses))
    operator(out=False, inplace=True, aliases=(alias,) if alias else ())(compare)
    setattr(Tensor, f"__{name}__", PRIMITIVES[name].operator())

# ---- logic


def logical_not_kernel(xp: Any, input: Any) -> Any:
    return xp.equal(input, 0)


elementwise("logical_and", "logical_and", inputs="input, other")
elementwise("logical_or", "logical_or", inputs="input, other")
elementwise("logical_xor", "logical_xor", inputs="input, other")
elementwise("logical_not", logical_not_kernel)
for name in ("logical_and", "logical_or", "logical_xor", "logical_not"):
    operator(out=False, inplace=True)(PRIMITIVES[name].function)

# ---- bits

for name in ("and", "or", "xor"):
    bits = elementwise(f"bitwise_{name}", f"bitwise_{name}", inputs="input, other", check=refusing("fcV"))
    operator(out=False, inplace=True)(bits)
    setattr(Tensor, f"__{name}__", PRIMITIVES[f"bitwise_{name}"].operator())
    setattr(Tensor, f"__r{name}__", PRIMITIVES[f"bitwise_{name}"].operator(reflected=True))
bitwise_not = elementwise("bitwise_not", "invert", check=refusing("fcV"))
operator(out=False, inplace=True)(bitwise_not)
Tensor.__invert__ = bitwise_not


def left_shift_kernel(xp: Any, input: Any, other: Any) -> Any:
    """A shift by a negative number, or by as many bits as there are, leaves nothing."""
    bits = 8 * input.dtype.itemsize
    inside = (other >= 0) & (other < bits)
    return xp.where(inside, xp.left_shift(input, xp.where(inside, other, 0)), 0)


def right_shift_kernel(xp: Any, input: Any, other: Any) -> Any:
    """A shift by a negative number, or by as many bits as there are, leaves the sign alone."""
    bits = 8 * input.dtype.itemsize
    inside = (other >= 0) & (other < bits)
    return xp.right_shift(input, xp.where(inside, other, bits - 1).astype(input.dtype))


for name, kernel in (("left_shift", left_shift_kernel), ("right_shift", right_shift_kernel)):
    shift = elementwise(f"bitwise_{name}", kernel, check=refusing("bfcV"))
    operator(out=False, inplace=True)(shift)
    python_name = "lshift" if name == "left_shift" else "rshift"
    setattr(Tensor, f"__{python_name}__", PRIMITIVES[f"bitwise_{name}"].operator())
    setattr(Tensor, f"__r{python_name}__", PRIMITIVES[f"bitwise_{name}"].operator(reflected=True))

# ---- tests of a value

for name in ("isnan", "isinf", "isfinite"):
    operator(out=False)(elementwise(name, name))
elementwise("signbit", lambda xp, input: xp.signbit(input) if input.dtype.kind != "b" else xp.zeros_like(input), check=refusing("c"))

# ---- choosing


def where_kernel(xp: Any, condition: Any, input: Any, other: Any) -> Any:
    return xp.where(condition, input, other)


elementwise(
    "where", where_kernel, unpromoted=("condition",),
    vjp={"input": lambda F, g, condition: F.where(condition, g, 0), "other": lambda F, g, condition: F.where(condition, 0, g)},
)  # fmt: skip


@operator()
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if not isinstance(condition, Tensor):
        raise TypeError(f"where(): argument 'condition' (position 1) must be Tensor, not {type(condition).__name__}")
    if condition._data.dtype.kind != "b" and condition._data.dtype != np.uint8:
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}")
    return F.where(condition, input, other)


Tensor.where = lambda self, condition, other: where(condition, self, other)


def half_at_ties(better: str) -> dict[str, Any]:
    """Rules of the larger or smaller of two: each operand has half of the cotangent where they are equal."""

    def of_input(F: Any, g: Any, input: Any, other: Any) -> Any:
        return F.where(getattr(F, better)(input, other), g, F.where(input == other, g / 2, 0))

    def of_other(F: Any, g: Any, input: Any, other: Any) -> Any:
        return F.where(getattr(F, better)(other, input), g, F.where(input == other, g / 2, 0))

    return {"input": of_input, "other": of_other}


for name, better in (("maximum", "gt"), ("minimum", "lt"), ("fmax", "gt"), ("fmin", "lt")):
    extremum = elementwise(name, name, inputs="input, other", vjp=half_at_ties(better), check=refusing("c"))
    operator(out=False)(extremum)
