"""Arithmetic: the operators of Python's own numbers, and what is close to them.

A rule multiplies by the derivative; forward mode uses the same rule on tangents, and complex numbers follow, because
the functions are holomorphic.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.callpath import MISSING, either
from ..core.namespace import F, R
from ..core.operator import operand_twin, operator
from ..core.primitive import PRIMITIVES, elementwise, result_dtype
from ..core.state import state
from ..core.tensor import Tensor
from . import arguments as arg
from .complex import real_part
from .declare import declare, refusing, zero
from .kernels import narrowed, widened

FLOAT = "In the operands' common dtype; integers give the default float."
COMMON = "In the operands' common dtype."
DIVISIBLE = refusing("bc")
NO_BOOL = (
    "{}, the `-` operator, {} a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead."
)

# ---- sums

elementwise("add", "add", inputs="input, other", vjp={"input": lambda F, g: g, "other": lambda F, g: g})
elementwise(
    "sub", "subtract", inputs="input, other", vjp={"input": lambda F, g: g, "other": lambda F, g: -g},
    check=refusing("b", NO_BOOL.format("Subtraction", "with"), RuntimeError, any_operand=True),
)  # fmt: skip


def scaled(name: str, input: Any, other: Any, alpha: Any) -> Any:
    """``alpha * other``, in the dtype that ``input`` and ``other`` have in common."""
    if type(alpha) is int and alpha == 1:
        return other
    alpha = arg.number(alpha, name, "alpha", 3)
    common = result_dtype(PRIMITIVES["add"], (input, other))
    if isinstance(alpha, bool):
        if common.category != dtypes.BOOL:
            raise RuntimeError(f"{name}(): Boolean alpha only supported for Boolean results.")
    elif isinstance(alpha, complex):
        if common.category != dtypes.COMPLEX:
            raise RuntimeError(f"{name}(): For non-complex input tensors, argument alpha must not be a complex number.")
    elif not isinstance(alpha, int) and common.category < dtypes.FLOATING:
        raise RuntimeError(f"{name}(): For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(other, Tensor) and other._data.dtype != common.numpy:
        other = F.cast(other, common.numpy)
    return other * (alpha if common.category else bool(alpha))


def times(other: Any, alpha: Any) -> Any:
    if type(alpha) is not int and type(alpha) is not float:
        raise TypeError(f"alpha is {type(alpha).__name__}, which the general path has to judge")
    return other if alpha == 1 else other * alpha


def add_into(input: Any, other: Any, alpha: Any = 1) -> None:
    np.add(input, times(other, alpha), input)


def sub_into(input: Any, other: Any, alpha: Any = 1) -> None:
    np.subtract(input, times(other, alpha), input)


@operator(out=False, inplace=True, into=add_into)
def add(input: Tensor, other: Tensor | complex, *, alpha: complex = 1, out: Tensor | None = None) -> Tensor:
    """``input + alpha * other``.

    Parameters
    ----------
    input : Tensor
        Any shape.
    other : Tensor or number
        Broadcast with the input.
    alpha : number, default 1
        Multiplies ``other``.
    out : Tensor, optional
        Receives the result.

    Returns
    -------
    Tensor
        In the operands' common dtype.

    Raises
    ------
    RuntimeError
        If ``alpha`` is of a higher category than the result.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.add(tp.tensor([1., 2.]), tp.tensor([10., 20.]), alpha=2)
    tensor([21., 42.])
    """
    return F.add(input, scaled("add", input, other, alpha), out=out)


@operator(out=False, inplace=True, aliases=("subtract",), into=sub_into)
def sub(input: Tensor, other: Tensor | complex, *, alpha: complex = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``.

    Parameters
    ----------
    input : Tensor
        Any shape.
    other : Tensor or number
        Broadcast with the input.
    alpha : number, default 1
        Multiplies ``other``.
    out : Tensor, optional
        Receives the result.

    Returns
    -------
    Tensor
        In the operands' common dtype.

    Raises
    ------
    RuntimeError
        If an operand is of dtype bool, or ``alpha`` is of a higher category than the result.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.sub(tp.tensor([1., 2.]), 0.5)
    tensor([0.5000, 1.5000])
    """
    return F.sub(input, scaled("sub", input, other, alpha), out=out)


@operator(out=False)
def rsub(input: Tensor, other: Tensor | complex, *, alpha: complex = 1) -> Tensor:
    """``other - alpha * input``.

    Parameters
    ----------
    input : Tensor
        Any shape.
    other : Tensor or number
        Broadcast with the input.
    alpha : number, default 1
        Multiplies ``input``.

    Raises
    ------
    RuntimeError
        As for :func:`sub`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.rsub(tp.tensor([1., 2.]), 10)
    tensor([9., 8.])
    """
    return F.sub(other, scaled("rsub", other, arg.tensor(input, "rsub"), alpha))


neg = declare(
    "neg", "negative", lambda F, g: -g, "Each element with the other sign.",
    "tp.neg(tp.tensor([1., -2.]))", "tensor([-1.,  2.])", aliases=("negative",),
    check=refusing("b", NO_BOOL.format("Negation", "on"), RuntimeError), raises="RuntimeError\n    For a bool tensor.",
)  # fmt: skip


@operator(out=False)
def positive(input: Tensor) -> Tensor:
    """The input itself.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Raises
    ------
    RuntimeError
        For a bool tensor.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.positive(tp.tensor([1., -2.]))
    tensor([ 1., -2.])
    """
    if arg.tensor(input, "positive")._data.dtype.kind == "b":
        raise RuntimeError("positive(): The `+` operator, on a bool tensor is not supported.")
    return input


# ---- products and quotients

mul = declare(
    "mul", "multiply", {"input": lambda F, g, other: g * other, "other": lambda F, g, input: g * input},
    "``input * other``, element by element.", "tp.mul(tp.tensor([1., 2.]), tp.tensor([[3.], [4.]]))",
    "tensor([[3., 6.],\n        [4., 8.]])",
    inputs="input, other", returns=COMMON, aliases=("multiply",), documented={"other": "value"},
)  # fmt: skip
square = declare(
    "square", lambda xp, input: xp.square(input, dtype=np.int64 if input.dtype.kind == "b" else None),
    lambda F, g, input: g * (2 * (input if F is R or not state.recording else F.pow_number(input, 1))),
    "Each element times itself.",
    "tp.square(tp.tensor([1., -3.]))", "tensor([1., 9.])", node_name="PowBackward0", into=np.square,
)  # fmt: skip
reciprocal = declare(
    "reciprocal", "reciprocal", lambda F, g, out: -g * (out * out), "One over each element.",
    "tp.reciprocal(tp.tensor([2., -4., 0.]))", "tensor([ 0.5000, -0.2500,     inf])", promotes="float",
    returns="In the input's dtype; integers give the default float.",
)  # fmt: skip

elementwise(
    "div", "true_divide", inputs="input, other", promotes="float",
    vjp={"input": lambda F, g, other: g / other, "other": lambda F, g, input, other: -g * ((input / other) / other)},
    jvp={"input": lambda F, t, other: t / other, "other": lambda F, t, other, out: -t * (out / other)},
)  # fmt: skip


def by_integers(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that refuses to divide integers by zero; one of the operands may be a Python number."""

    def checked(xp: Any, input: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            zero_divides = other.dtype.kind in "iu" and not other.all()
        else:
            zero_divides = other == 0 and input.dtype.kind in "iu"
        if zero_divides:
            raise RuntimeError("ZeroDivisionError: integer division or modulo by zero")
        return kernel(xp, input, other)

    return checked


def truncated_quotient(xp: Any, input: Any, other: Any) -> Any:
    if xp.result_type(input, other).kind in "iu":
        return xp.floor_divide(xp.subtract(input, xp.fmod(input, other)), other)
    return xp.trunc(xp.true_divide(input, other))


floor_divide_kernel = by_integers(lambda xp, input, other: xp.floor_divide(input, other))
div_trunc_kernel = by_integers(truncated_quotient)
ZERO = {"input": zero, "other": zero}
elementwise("div_floor", floor_divide_kernel, vjp=ZERO, check=DIVISIBLE, node_name="DivBackward1")
elementwise("div_trunc", div_trunc_kernel, vjp=ZERO, check=DIVISIBLE, node_name="DivBackward1")
floor_divide = declare(
    "floor_divide", floor_divide_kernel, ZERO,
    "The quotient, rounded towards minus infinity.", "tp.floor_divide(tp.tensor([7, -7]), 2)", "tensor([ 3, -4])",
    returns=COMMON, documented={"other": "value"},
    check=DIVISIBLE, raises="RuntimeError\n    If an integer is divided by zero.",
)  # fmt: skip


@operator(out=False, inplace=True, aliases=("divide",), documented={"other": "value"})
def div(
    input: Tensor, other: Tensor | complex = MISSING, value: Tensor | complex | None = None, *,
    rounding_mode: str | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """``input / other``, perhaps rounded.

    Parameters
    ----------
    input : Tensor
        Any shape.
    other : Tensor or number
        Broadcast with the input.
    rounding_mode : {None, "trunc", "floor"}
        None: the true quotient. "trunc": rounded towards zero, "floor": towards minus infinity; both keep integers.
    out : Tensor, optional
        Receives the result.

    Returns
    -------
    Tensor
        In the operands' common dtype; the true quotient of integers is of the default float.

    Raises
    ------
    RuntimeError
        For another ``rounding_mode``, and if a rounded quotient of integers has a divisor of zero.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.div(tp.tensor([7, -7]), 2)
    tensor([ 3.5000, -3.5000])
    >>> tp.div(tp.tensor([7, -7]), 2, rounding_mode="trunc")
    tensor([ 3, -3])
    """
    if value is not None:
        other = either("div", "other", other, "value", value)
    if rounding_mode is None:
        return F.div(input, other, out=out)
    if rounding_mode == "floor":
        return F.div_floor(input, other, out=out)
    if rounding_mode == "trunc":
        return F.div_trunc(input, other, out=out)
    raise RuntimeError(
        f"div(): expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}"
    )


@operator(out=False, inplace=True, documented={"other": "value"})
def true_divide(
    input: Tensor, other: Tensor | complex = MISSING, value: Tensor | complex | None = None, *,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """``input / other``; the same as :func:`div` without rounding.

    Parameters
    ----------
    input : Tensor
        Any shape.
    other : Tensor or number
        Broadcast with the input.
    out : Tensor, optional
        Receives the result.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.true_divide(tp.tensor([7, -7]), 2)
    tensor([ 3.5000, -3.5000])
    """
    if value is not None:
        other = either("true_divide", "other", other, "value", value)
    return F.div(input, other, out=out)


remainder = declare(
    "remainder", by_integers(lambda xp, input, other: xp.remainder(input, other)),
    {"input": lambda F, g: g, "other": lambda F, g, input, other: -g * F.div_floor(input, other)},
    "What the division rounded towards minus infinity leaves: zero, or of the sign of ``other``.",
    "tp.remainder(tp.tensor([7., -7.]), 4)", "tensor([3., 1.])", check=DIVISIBLE, returns=COMMON,
    raises="RuntimeError\n    If an integer is divided by zero.", documented={"other": "divisor"},
)  # fmt: skip
fmod = declare(
    "fmod", by_integers(lambda xp, input, other: xp.fmod(input, other)),
    {"input": lambda F, g: g, "other": lambda F, g, input, other: -g * F.div_trunc(input, other)},
    "What the division rounded towards zero leaves: zero, or of the sign of ``input``.",
    "tp.fmod(tp.tensor([7., -7.]), 4)", "tensor([ 3., -3.])", check=DIVISIBLE, returns=COMMON,
    raises="RuntimeError\n    If an integer is divided by zero.", numbers=("other",),
    documented={"other": "divisor"},
)  # fmt: skip

# ---- powers


def pow_number_kernel(xp: Any, input: Any, *, exponent: Any) -> Any:
    """Small powers by products: many times faster than the general one."""
    kind = input.dtype.kind
    if exponent == 2 and kind != "b":
        return xp.square(input)
    if exponent == 3:
        return input * input * input
    if kind in "fcV":
        if exponent == 0.5:
            return xp.sqrt(input)
        if exponent == -1:
            return xp.reciprocal(input)
        if exponent == 4:
            return xp.square(xp.square(input))
        if exponent == -0.5:
            return xp.reciprocal(xp.sqrt(input))
        if exponent == 1:
            return xp.array(input)
    with np.errstate(all="ignore"):
        return xp.power(input, xp.asarray(exponent).astype(input.dtype))


def pow_number_vjp(F: Any, g: Any, input: Any, exponent: Any) -> Any:
    """No power below the zeroth is taken of a natural exponent, so that derivatives of every order are right at 0."""
    if exponent == 0:
        return F.zeros_like(g)
    if F is R or not state.recording:  # else the path to the input stays: its next derivative is zero, not missing
        if exponent == 2:
            return g * (2 * input)
        if exponent == 1:
            return g
    return g * (exponent * F.pow_number(input, exponent - 1))


elementwise("pow_number", pow_number_kernel, vjp={"input": pow_number_vjp}, node_name="PowBackward0")


def pow_kernel(xp: Any, input: Any, exponent: Any) -> Any:
    """Integers to negative powers round towards zero: 1 and -1 alone leave anything."""
    negative = isinstance(exponent, np.ndarray) and exponent.dtype.kind == "i" and exponent < 0
    if not np.any(negative):
        return xp.power(input, exponent)
    powers = xp.power(input, xp.where(negative, 0, exponent))
    signs = xp.where(exponent % 2 == 0, 1, input)
    return xp.where(negative, xp.where(abs(input) == 1, signs, 0), powers).astype(powers.dtype)


def pow_input_vjp(F: Any, g: Any, input: Any, exponent: Any) -> Any:
    """``exponent * input ** (exponent - 1)``, where 0 * 0 ** -1 is 0."""
    lower = F.where((input == 0) & (exponent == 0), 0, exponent - 1)
    return g * (exponent * F.pow(input, lower))


def pow_exponent_vjp(F: Any, g: Any, input: Any, exponent: Any, out: Any) -> Any:
    """``input ** exponent * log(input)``, which tends to 0 at 0 if the exponent is positive."""
    return g * (out * F.log(F.where((input == 0) & (real_part(F, exponent) >= 0), 1, input)))


elementwise(
    "pow", pow_kernel, vjp={"input": pow_input_vjp, "exponent": pow_exponent_vjp}, node_name="PowBackward1",
    check=refusing("b"),
)  # fmt: skip


def power(input: Any, exponent: Any) -> Tensor:
    """The power, by a primitive of its own where the exponent is a number."""
    if not isinstance(exponent, Number):
        return F.pow(input, exponent)
    data = arg.tensor(input, "pow")._data
    if data.dtype.kind in "fcV" and not isinstance(exponent, complex):
        return F.pow_number(input, exponent)
    if data.dtype.kind in "biu" and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError("pow(): Integers to negative integer powers are not allowed.")
    common = result_dtype(PRIMITIVES["pow"], (input, exponent)).numpy
    return F.pow_number(input if data.dtype == common else F.cast(input, common), exponent)


@operator(inplace=True)
def pow(input: Tensor | complex, exponent: Tensor | complex) -> Tensor:
    """``input ** exponent``, element by element.

    Derivatives of every order are right at zero: those of ``x ** 2`` at 0 are 0, 2, 0, 0...

    Parameters
    ----------
    input : Tensor or number
        The base; of any shape.
    exponent : Tensor or number
        Broadcast with the input. One of the two is a Tensor.

    Returns
    -------
    Tensor
        In the operands' common dtype.

    Raises
    ------
    RuntimeError
        For an integer tensor and a negative integer as the exponent.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.pow(tp.tensor([1., 2., 3.]), 2)
    tensor([1., 4., 9.])
    >>> tp.pow(2, tp.tensor([1., 2., 3.]))
    tensor([2., 4., 8.])
    """
    return power(input, exponent)


@operator(inplace=False)
def float_power(input: Tensor | complex, exponent: Tensor | complex) -> Tensor:
    """``input ** exponent`` in double precision.

    Parameters
    ----------
    input : Tensor or number
        The base; of any shape.
    exponent : Tensor or number
        Broadcast with the input. One of the two is a Tensor.

    Returns
    -------
    Tensor
        float64, or complex128 if an operand is complex.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.float_power(tp.tensor([1, 2, 3]), -1)
    tensor([1.0000, 0.5000, 0.3333], dtype=tensorplay.float64)
    """
    wide = float_power_dtype(input, exponent).numpy
    return power(*(F.cast(a, wide) if isinstance(a, Tensor) else a for a in (input, exponent)))


def float_power_dtype(*operands: Any) -> dtypes.dtype:
    complex_ = any(a.is_complex() if isinstance(a, Tensor) else isinstance(a, complex) for a in operands)
    return dtypes.complex128 if complex_ else dtypes.float64


def float_power_(input: Tensor, exponent: Tensor | complex) -> Tensor:
    """In-place form of :func:`float_power`: the input is of the dtype of the result."""
    wide = float_power_dtype(input, exponent)
    if input.dtype is not wide:
        raise RuntimeError(
            f"float_power_(): the base has dtype {input.dtype} but the operation's result requires dtype {wide}"
        )
    return input.pow_(exponent)


# ---- sums of products


def addcmul_into(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> None:
    np.add(input, times(tensor1 * tensor2, value), input)


def addcdiv_into(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> None:
    np.add(input, times(tensor1 / tensor2, value), input)


@operator(inplace=True, into=addcmul_into)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: complex = 1) -> Tensor:
    """``input + value * tensor1 * tensor2``.

    Parameters
    ----------
    input, tensor1, tensor2 : Tensor
        Broadcast together.
    value : number, default 1
        Multiplies the product.

    Returns
    -------
    Tensor
        In the operands' common dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.addcmul(tp.tensor([1., 1.]), tp.tensor([1., 2.]), tp.tensor([3., 4.]), value=0.5)
    tensor([2.5000, 5.0000])
    """
    if type(value) is not float and type(value) is not int:
        value = arg.number(value, "addcmul", "value", 4)
        value = int(value) if type(value) is bool else value
    product = F.mul(tensor1, arg.tensor(tensor2, "addcmul", "tensor2", 3))
    if type(value) is float and isinstance(input, Tensor) and input._data.dtype.kind in "iu":
        value = int(value) if product._data.dtype.kind in "iu" else value  # PyTorch's factor of integers is one
    return add(input, product, alpha=value)


@operator(inplace=True, into=addcdiv_into)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: complex = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``.

    Parameters
    ----------
    input, tensor1, tensor2 : Tensor
        Broadcast together.
    value : number, default 1
        Multiplies the quotient.

    Returns
    -------
    Tensor
        In the operands' common dtype.

    Raises
    ------
    RuntimeError
        If both ``tensor1`` and ``tensor2`` are integers.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.addcdiv(tp.tensor([1., 1.]), tp.tensor([1., 2.]), tp.tensor([2., 4.]), value=2)
    tensor([2., 2.])
    """
    if type(value) is not float and type(value) is not int:
        value = arg.number(value, "addcdiv", "value", 4)
        value = int(value) if type(value) is bool else value
    operands = (arg.tensor(tensor1, "addcdiv", "tensor1", 2), arg.tensor(tensor2, "addcdiv", "tensor2", 3))
    if all(t._data.dtype.kind in "biu" for t in operands):
        raise RuntimeError("addcdiv(): Integer division with addcdiv is no longer supported; make an operand float")
    return add(input, F.div(tensor1, tensor2), alpha=value)


def lerp_kernel(xp: Any, input: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, so that both ends are met exactly."""
    start, stop, part = widened(input), widened(end), widened(weight)
    near, far = start + part * (stop - start), stop - (stop - start) * (1 - part)
    return narrowed(xp.asarray(xp.where(abs(part) < 0.5, near, far)), input.dtype)


def lerp_number_kernel(xp: Any, input: Any, end: Any, *, weight: Any) -> Any:
    start, stop = widened(input), widened(end)
    difference = xp.subtract(stop, start)
    out = start + difference * weight if abs(weight) < 0.5 else stop - difference * (1 - weight)
    return narrowed(xp.asarray(out), input.dtype)


INTERPOLATED = refusing("biu")
elementwise(
    "lerp", lerp_kernel, check=INTERPOLATED,
    vjp={"input": lambda F, g, weight: g * (1 - weight), "end": lambda F, g, weight: g * weight,
         "weight": lambda F, g, input, end: g * (end - input)},
)  # fmt: skip
elementwise(
    "lerp_number", lerp_number_kernel, check=INTERPOLATED, node_name="LerpBackward0",
    vjp={"input": lambda F, g, weight: g * (1 - weight), "end": lambda F, g, weight: g * weight},
)  # fmt: skip


def lerp_into(input: Any, end: Any, weight: Any) -> None:
    if isinstance(weight, np.ndarray) or abs(weight) >= 0.5:
        raise TypeError("lerp: the other end is nearer")
    np.add(input, (end - input) * weight, input)


@operator(inplace=True, into=lerp_into)
def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """From ``input`` to ``end`` on a straight line: ``input + weight * (end - input)``.

    Parameters
    ----------
    input, end : Tensor
        Where the line begins and ends; broadcast together, and of one dtype.
    weight : Tensor or number
        How far to go: 0 is ``input``, 1 is ``end``.

    Raises
    ------
    RuntimeError
        If the dtypes differ.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.lerp(tp.tensor([0., 10.]), tp.tensor([10., 20.]), 0.25)
    tensor([ 2.5000, 12.5000])
    """
    dtype = arg.tensor(input, "lerp")._data.dtype
    if isinstance(weight, Tensor) and not weight._data.shape and weight._data.dtype != dtype:
        weight = F.cast(weight, dtype)
    for name, t in (("end", end), ("weight", weight)):
        if isinstance(t, Tensor) and t._data.dtype != dtype:
            raise RuntimeError(f"lerp(): expected dtype {input.dtype} for `{name}` but got dtype {t.dtype}")
    if isinstance(weight, Tensor):
        return F.lerp(input, end, weight)
    if type(weight) is not float:
        weight = arg.number(weight, "lerp", "weight", 3)
        if type(weight) is complex and dtype.kind != "c":
            raise RuntimeError(f"lerp(): weight {weight} cannot be converted to {input.dtype} without overflow")
    return F.lerp_number(input, arg.tensor(end, "lerp", "end", 2), weight)


# ---- Python's operators


def power_operator(input: Tensor, exponent: Any) -> Any:
    return power(input, exponent) if isinstance(exponent, (Tensor, Number)) else NotImplemented


BINARY = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder"}
for python_name, name in BINARY.items():
    setattr(Tensor, f"__{python_name}__", PRIMITIVES[name].operator())
    setattr(Tensor, f"__r{python_name}__", PRIMITIVES[name].operator(reflected=True))
    setattr(Tensor, f"__i{python_name}__", operand_twin(name, getattr(Tensor, f"{name}_")))
METHODS = {
    "__pow__": power_operator, "__rpow__": PRIMITIVES["pow"].operator(reflected=True),
    "__ipow__": operand_twin("pow", Tensor.pow_), "__neg__": neg, "__pos__": positive, "float_power_": float_power_,
    "__div__": Tensor.__truediv__, "__rdiv__": Tensor.__rtruediv__, "__idiv__": Tensor.__itruediv__,
}  # fmt: skip
for name, method in METHODS.items():
    setattr(Tensor, name, method)
