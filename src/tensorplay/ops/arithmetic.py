"""Arithmetic: the operators of Python's own numbers, and what is close to them.

A rule multiplies by the derivative; forward mode uses the same rule on tangents, and complex numbers follow, because the
functions are holomorphic.
"""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import PRIMITIVES, elementwise, result_dtype
from ..core.tensor import Tensor
from .declare import BOOL_MINUS, refusing, zero

# ---- sums and products

elementwise("add", "add", inputs="input, other", vjp={"input": lambda F, g: g, "other": lambda F, g: g})
elementwise(
    "sub", "subtract", inputs="input, other", vjp={"input": lambda F, g: g, "other": lambda F, g: -g},
    check=refusing("b", BOOL_MINUS, RuntimeError, any_operand=True),
)  # fmt: skip


def scaled(name: str, input: Any, other: Any, alpha: Any) -> Any:
    """``alpha * other``, in the dtype that ``input + other`` has."""
    common = result_dtype(PRIMITIVES["add"], (input, other))
    if isinstance(alpha, bool) and common.category:
        raise RuntimeError(f"{name}(): Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, (float, complex)) and common.category < 2:
        raise RuntimeError(f"{name}(): For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and common.category < 3:
        raise RuntimeError(f"{name}(): For non-complex input tensors, argument alpha must not be a complex number.")
    if isinstance(other, Tensor) and other._data.dtype != common.numpy:
        other = F.cast(other, common.numpy)
    return other * alpha


@operator(out=False, inplace=True)
def add(input: Tensor, other: Tensor | complex, *, alpha: complex = 1, out: Tensor | None = None) -> Tensor:
    if alpha != 1:
        other = scaled("add", input, other, alpha)
    return F.add(input, other, out=out)


@operator(out=False, inplace=True, aliases=("subtract",))
def sub(input: Tensor, other: Tensor | complex, *, alpha: complex = 1, out: Tensor | None = None) -> Tensor:
    if alpha != 1:
        other = scaled("sub", input, other, alpha)
    return F.sub(input, other, out=out)


@operator(out=False)
def rsub(input: Tensor, other: Tensor | complex, *, alpha: complex = 1) -> Tensor:
    if alpha != 1:
        input = scaled("rsub", other, input, alpha)
    return F.sub(other, input)


mul = elementwise(
    "mul", "multiply", inputs="input, other",
    vjp={"input": lambda F, g, other: g * other, "other": lambda F, g, input: g * input},
)  # fmt: skip
operator(out=False, inplace=True, aliases=("multiply",))(mul)

neg = elementwise(
    "neg", "negative", vjp={"input": lambda F, g: -g},
    check=refusing("b", BOOL_MINUS.replace("Subtraction, the `-` operator, with", "Negation, the `-` operator, on"), RuntimeError),
)  # fmt: skip
operator(out=False, inplace=True, aliases=("negative",))(neg)


@operator(out=False)
def positive(input: Tensor) -> Tensor:
    if input._data.dtype.kind == "b":
        raise RuntimeError("positive(): The `+` operator, on a bool tensor is not supported.")
    return input


square = elementwise("square", "square", vjp={"input": lambda F, g, input: g * (2 * input)}, node_name="PowBackward0")
operator(out=False, inplace=True)(square)
reciprocal = elementwise("reciprocal", lambda xp, input: 1 / input if input.dtype.kind != "V" else xp.reciprocal(input),
                         promotes="float", vjp={"input": lambda F, g, out: -g * (out * out)})  # fmt: skip
operator(out=False, inplace=True)(reciprocal)

# ---- quotients and remainders

elementwise(
    "div", "true_divide", inputs="input, other", promotes="float",
    vjp={"input": lambda F, g, other: g / other, "other": lambda F, g, other, out: -g * (out / other)},
)  # fmt: skip


def check_divisor(other: Any) -> None:
    """A Python scalar as divisor means that the other operand is floating."""
    if not isinstance(other, (int, float)) and other.dtype.kind in "iu" and not other.all():
        raise RuntimeError("ZeroDivisionError: integer division or modulo by zero")


def floor_divide_kernel(xp: Any, input: Any, other: Any) -> Any:
    check_divisor(other)
    return xp.floor_divide(input, other)


def div_trunc_kernel(xp: Any, input: Any, other: Any) -> Any:
    kind = "f" if isinstance(input, (int, float)) else input.dtype.kind
    if kind == "u":
        return floor_divide_kernel(xp, input, other)
    if kind == "i":
        check_divisor(other)
        return (input - xp.fmod(input, other)) // other
    return xp.trunc(xp.divide(input, other))


floor_divide = elementwise("floor_divide", floor_divide_kernel, inputs="input, other", check=refusing("bc"))
operator(out=False, inplace=True)(floor_divide)
elementwise("div_floor", floor_divide_kernel, vjp={"input": zero, "other": zero}, check=refusing("bc"),
                        node_name="DivBackward1")  # fmt: skip
elementwise("div_trunc", div_trunc_kernel, vjp={"input": zero, "other": zero}, check=refusing("bc"),
                        node_name="DivBackward1")  # fmt: skip


@operator(out=False, inplace=True, aliases=("divide",))
def div(input: Tensor, other: Tensor | complex, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    if rounding_mode is None:
        return F.div(input, other, out=out)
    if rounding_mode == "floor":
        return F.div_floor(input, other, out=out)
    if rounding_mode == "trunc":
        return F.div_trunc(input, other, out=out)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


@operator(out=False, inplace=True)
def true_divide(input: Tensor, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
    return F.div(input, other, out=out)


def remainder_kernel(xp: Any, input: Any, other: Any) -> Any:
    check_divisor(other)
    return xp.remainder(input, other)


def fmod_kernel(xp: Any, input: Any, other: Any) -> Any:
    check_divisor(other)
    return xp.fmod(input, other)


remainder = elementwise(
    "remainder", remainder_kernel, check=refusing("bc"),
    vjp={"input": lambda F, g: g, "other": lambda F, g, input, other: -g * F.div_floor(input, other)},
)  # fmt: skip
operator(out=False, inplace=True)(remainder)
fmod = elementwise(
    "fmod", fmod_kernel, check=refusing("bc"),
    vjp={"input": lambda F, g: g, "other": lambda F, g, input, other: -g * F.div_trunc(input, other)},
)  # fmt: skip
operator(out=False, inplace=True)(fmod)

# ---- powers


def pow_scalar_kernel(xp: Any, input: Any, *, exponent: Any) -> Any:
    if exponent == 2:
        return xp.multiply(input, input)
    if exponent == 1:
        return xp.array(input)
    if exponent == 3:
        return input * input * input
    if input.dtype.kind in "fcV":
        if exponent == 0.5:
            return xp.sqrt(input)
        if exponent == -1:
            return 1 / input if input.dtype.kind != "V" else xp.reciprocal(input)
        if exponent == 4:
            input = input * input
            return input * input
    return xp.power(input, xp.asarray(exponent).astype(input.dtype))


def pow_scalar_vjp(F: Any, g: Any, input: Any, exponent: Any) -> Any:
    """No power below the zeroth is taken of an integer exponent, so that every derivative is right at 0."""
    if exponent == 0:
        return F.zeros_like(g)
    if exponent == 1:
        return g
    if exponent == 2:
        return g * (2 * input)
    return g * (exponent * F.pow_scalar(input, exponent - 1))


elementwise("pow_scalar", pow_scalar_kernel, vjp={"input": pow_scalar_vjp}, node_name="PowBackward0")


def pow_input_vjp(F: Any, g: Any, input: Any, other: Any) -> Any:
    """``other * input ** (other - 1)``, with 0 * 0 ** 0 where both are 0."""
    lower = F.where((input == 0) & (other == 0), 0, other - 1)
    return g * (other * F.pow(input, lower))


def pow_other_vjp(F: Any, g: Any, input: Any, other: Any, out: Any) -> Any:
    return g * (out * F.log(F.where((input == 0) & (F.real(other) >= 0), 1, input)))


elementwise(
    "pow", "power", inputs="input, other", vjp={"input": pow_input_vjp, "other": pow_other_vjp}, node_name="PowBackward1",
)  # fmt: skip


def power(input: Any, exponent: Any) -> Tensor:
    if isinstance(exponent, Number):
        if not isinstance(input, Tensor):
            raise TypeError(f"pow(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        kind = input._data.dtype.kind
        if kind in "iu" and isinstance(exponent, int) and exponent < 0:
            raise RuntimeError("pow(): Integers to negative integer powers are not allowed.")
        common = result_dtype(PRIMITIVES["pow"], (input, exponent)).numpy
        return F.pow_scalar(input if input._data.dtype == common else F.cast(input, common), exponent)
    return F.pow(input, exponent)


@operator(name="pow", inplace="pow_")
def pow(input: Tensor | complex, exponent: Tensor | complex) -> Tensor:
    return power(input, exponent)


@operator(inplace=True)
def float_power(input: Tensor | complex, exponent: Tensor | complex) -> Tensor:
    both = input, exponent
    wide = np.complex128 if any(isinstance(a, complex) or (isinstance(a, Tensor) and a.is_complex()) for a in both) else np.float64
    wide = np.dtype(wide)
    input, exponent = (F.cast(a, wide) if isinstance(a, Tensor) and a._data.dtype != wide else a for a in both)
    return power(input, exponent)


# ---- sums of products


@operator(inplace=True)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: complex = 1) -> Tensor:
    return add(input, F.mul(tensor1, tensor2), alpha=value)


@operator(inplace=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: complex = 1) -> Tensor:
    if all(a._data.dtype.kind in "biu" for a in (tensor1, tensor2)):
        raise RuntimeError(
            "addcdiv(): Integer division with addcdiv is no longer supported, and in a future release addcdiv will perform a "
            "true division of tensor1 and tensor2: use (input + value * tensor1 / tensor2), or make them floating point"
        )
    return add(input, F.div(tensor1, tensor2), alpha=value)


def lerp_kernel(xp: Any, input: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, so that both ends are met exactly."""
    return xp.where(abs(weight) < 0.5, input + weight * (end - input), end - (end - input) * (1 - weight))


elementwise(
    "lerp", lerp_kernel,
    vjp={"input": lambda F, g, weight: g * (1 - weight), "end": lambda F, g, weight: g * weight,
         "weight": lambda F, g, input, end: g * (end - input)},
)  # fmt: skip


@operator(inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    return F.lerp(input, end, weight)


# ---- Python's operators


def power_operator(input: Tensor, other: Any) -> Any:
    return power(input, other) if isinstance(other, (Tensor, Number)) else NotImplemented


def power_reflected(input: Tensor, other: Any) -> Any:
    return F.pow(other, input) if isinstance(other, Number) else NotImplemented


OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder"}
for python_name, primitive_name in OPERATORS.items():
    setattr(Tensor, f"__{python_name}__", PRIMITIVES[primitive_name].operator())
    setattr(Tensor, f"__r{python_name}__", PRIMITIVES[primitive_name].operator(reflected=True))
Tensor.__pow__ = power_operator
Tensor.__rpow__ = power_reflected
Tensor.__neg__ = neg
Tensor.__pos__ = positive


def in_place(name: str) -> Any:
    """``a += b`` and its like: the in-place twin, where the second operand is ours."""
    twin = getattr(Tensor, name)

    def method(self: Tensor, other: Any) -> Any:
        return twin(self, other) if isinstance(other, (Tensor, Number)) else NotImplemented

    return method


for python_name, twin_name in {"add": "add_", "sub": "sub_", "mul": "mul_", "truediv": "div_", "floordiv": "floor_divide_",
                               "mod": "remainder_", "pow": "pow_"}.items():  # fmt: skip
    setattr(Tensor, f"__i{python_name}__", in_place(twin_name))
