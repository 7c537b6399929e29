"""Choosing between values: where, the larger and the smaller of two, clamping."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..core.callpath import MISSING, either
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import PRIMITIVES, elementwise, result_dtype
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .declare import declare, refusing
from .kernels import narrowed
from .writing import constant

COMMON = "In the operands' common dtype."

elementwise(
    "where", lambda xp, condition, input, other: xp.where(condition, input, other), unpromoted=("condition",),
    vjp={"input": lambda F, g, condition: F.where(condition, g, 0),
         "other": lambda F, g, condition: F.where(condition, 0, g)},
)  # fmt: skip


@operator(method=False)
def where(condition: Tensor, input: Tensor | complex | None = None, other: Tensor | complex | None = None) -> Any:
    """``input`` where the condition holds, ``other`` elsewhere.

    Parameters
    ----------
    condition : Tensor
        Of dtype bool, any shape.
    input, other : Tensor or number, optional
        Broadcast with the condition and promoted to a common dtype. Without both, the result is that of
        ``condition.nonzero(as_tuple=True)``.

    Returns
    -------
    Tensor, or tuple of Tensor

    Raises
    ------
    RuntimeError
        If the condition is not of dtype bool.
    TypeError
        If only one of the values is given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., -2., 3.])
    >>> tp.where(x > 0, x, 0.)
    tensor([1., 0., 3.])
    """
    kind = arg.tensor(condition, "where", "condition")._data.dtype
    if type(other) is float and isinstance(input, Tensor) and input._data.dtype.kind == "f":  # needs no promotion
        other = wrap(np.array(other, input._data.dtype))
    elif type(input) is float and isinstance(other, Tensor) and other._data.dtype.kind == "f":
        input = wrap(np.array(input, other._data.dtype))
    elif type(other) is int and isinstance(input, Tensor) and input._data.dtype.kind in "iu":  # which would wrap around
        other = constant(other, input, "where")
    elif type(input) is int and isinstance(other, Tensor) and other._data.dtype.kind in "iu":
        input = constant(input, other, "where")
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if input is None or other is None:
        raise TypeError("where(): expected the condition alone, or condition, input and other; got two arguments")
    if kind.kind != "b" and kind != np.uint8:
        raise RuntimeError(
            f"where(): expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}"
        )
    return F.where(condition, input, other)


@operator(name="where", function=False, out=False, documented={"other": "y"})
def where_method(
    self: Tensor, condition: Tensor, other: Tensor | complex = MISSING, y: Tensor | complex | None = None
) -> Tensor:
    """The tensor where the condition holds, ``other`` elsewhere; see :func:`where`."""
    if y is not None:
        other = either("where", "other", other, "y", y)
    return where(condition, self, other)


# ---- the larger and the smaller of two

ORDERED = refusing("c", "not implemented for complex tensors", RuntimeError)


def halved_at_ties(worse: str) -> dict[str, Any]:
    """Each operand has half of the cotangent where they are equal."""

    def rule(F: Any, g: Any, mine: Any, theirs: Any) -> Any:
        return F.where(getattr(F, worse)(mine, theirs), 0, F.where(mine == theirs, g / 2, g))

    return {"input": lambda F, g, input, other: rule(F, g, input, other),
            "other": lambda F, g, input, other: rule(F, g, other, input)}  # fmt: skip


def first_at_ties(better: str) -> dict[str, Any]:
    """The first operand has the cotangent where they are equal; what is nan has none, unless both are."""

    def first(F: Any, input: Any, other: Any) -> Any:
        return getattr(F, better)(input, other) | F.isnan(other)

    return {"input": lambda F, g, input, other: F.where(first(F, input, other), g, 0),
            "other": lambda F, g, input, other: F.where(first(F, input, other), 0, g)}  # fmt: skip


maximum = declare(
    "maximum", "maximum", halved_at_ties("lt"), "The larger of two elements; nan if one of them is.",
    "tp.maximum(tp.tensor([1., 5.]), tp.tensor([3., 2.]))", "tensor([3., 5.])", inputs="input, other", returns=COMMON,
    inplace=False, check=ORDERED, numbers=(), notes="Where they are equal, each has half of the gradient.",
)  # fmt: skip
minimum = declare(
    "minimum", "minimum", halved_at_ties("gt"), "The smaller of two elements; nan if one of them is.",
    "tp.minimum(tp.tensor([1., 5.]), tp.tensor([3., 2.]))", "tensor([1., 2.])", inputs="input, other", returns=COMMON,
    inplace=False, check=ORDERED, numbers=(), notes="Where they are equal, each has half of the gradient.",
)  # fmt: skip
fmax = declare(
    "fmax", "fmax", first_at_ties("ge"), "The larger of two elements; where one of them is nan, the other.",
    "tp.fmax(tp.tensor([1., math.nan]), tp.tensor([3., 2.]))", "tensor([3., 2.])",
    inputs="input, other", returns=COMMON,
    inplace=False, check=ORDERED, numbers=(),
)  # fmt: skip
fmin = declare(
    "fmin", "fmin", first_at_ties("le"), "The smaller of two elements; where one of them is nan, the other.",
    "tp.fmin(tp.tensor([1., math.nan]), tp.tensor([3., 2.]))", "tensor([1., 2.])",
    inputs="input, other", returns=COMMON,
    inplace=False, check=ORDERED, numbers=(),
)  # fmt: skip

# ---- clamping: at a bound the gradient still passes

CLAMPED = refusing("c", "clamp is not supported for complex types")


def clamp_min_into(input: Any, min: Any) -> None:
    np.maximum(input, min, out=input)


def clamp_max_into(input: Any, max: Any) -> None:
    np.minimum(input, max, out=input)


def clamp_into(input: Any, min: Any = None, max: Any = None) -> None:
    """Both bounds are numbers, or the general path has to look at them."""
    if min is None or max is None or isinstance(min, np.ndarray) or isinstance(max, np.ndarray):
        raise TypeError("clamp: not two numbers")
    np.minimum(np.maximum(input, min, out=input), max, out=input)


elementwise(
    "clamp_min", "maximum", inputs="input, min", check=CLAMPED,
    vjp={"input": lambda F, g, input, min: F.where(input >= min, g, 0),
         "min": lambda F, g, input, min: F.where(input < min, g, 0)},
)  # fmt: skip
elementwise(
    "clamp_max", "minimum", inputs="input, max", check=CLAMPED,
    vjp={"input": lambda F, g, input, max: F.where(input <= max, g, 0),
         "max": lambda F, g, input, max: F.where(input > max, g, 0)},
)  # fmt: skip


def clamp_numbers_kernel(xp: Any, input: Any, *, min: Any, max: Any) -> Any:
    if input.dtype.kind == "f" and min is not None and max is not None:
        return xp.minimum(xp.maximum(input, min), max)
    if input.dtype.kind in "iu":  # a bound outside of the dtype's range is none
        limits = np.iinfo(input.dtype)
        min = None if min is None or min <= limits.min else builtins.min(min, limits.max)
        max = None if max is None or max >= limits.max else builtins.max(max, limits.min)
    out = input if min is None else xp.maximum(input, min)
    out = out if max is None else xp.minimum(out, max)
    return xp.array(out) if out is input else narrowed(xp.asarray(out), input.dtype)


def clamp_numbers_vjp(F: Any, g: Any, input: Any, min: Any, max: Any) -> Any:
    if min is None or max is None:
        inside = input <= max if min is None else input >= min
    else:
        inside = (input >= min) & (input <= max)
    return F.where(inside, g, 0)


elementwise("clamp_numbers", clamp_numbers_kernel, vjp={"input": clamp_numbers_vjp}, check=CLAMPED,
            node_name="ClampBackward1")  # fmt: skip


def clamped(input: Tensor, min: Any, max: Any) -> Tensor:
    """The input within bounds; those that are None do not count."""
    numbers = all(b is None or type(b) is int or type(b) is float for b in (min, max))
    dtype = input._data.dtype
    if not numbers or dtype.kind not in "fV":
        for bound in (min, max):
            if bound is not None:
                common = result_dtype(PRIMITIVES["clamp_min"], (input, bound)).numpy
                if input._data.dtype != common:
                    input = F.cast(input, common)
    if numbers:
        return F.clamp_numbers(input, min, max)
    if min is not None:
        input = F.clamp_min(input, min)
    return input if max is None else F.clamp_max(input, max)


@operator(inplace=True, into=clamp_min_into)
def clamp_min(input: Tensor, min: Tensor | float) -> Tensor:
    """Each element, but not less than ``min``.

    Parameters
    ----------
    input : Tensor
        Any shape.
    min : Tensor or number
        Broadcast with the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.clamp_min(tp.tensor([-1., 2.]), 0)
    tensor([0., 2.])
    """
    return clamped(arg.tensor(input, "clamp_min"), min, None)


@operator(inplace=True, into=clamp_max_into)
def clamp_max(input: Tensor, max: Tensor | float) -> Tensor:
    """Each element, but not more than ``max``.

    Parameters
    ----------
    input : Tensor
        Any shape.
    max : Tensor or number
        Broadcast with the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.clamp_max(tp.tensor([-1., 2.]), 0)
    tensor([-1.,  0.])
    """
    return clamped(arg.tensor(input, "clamp_max"), None, max)


@operator(inplace=True, aliases=("clip",), into=clamp_into)
def clamp(input: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """Each element, but not less than ``min`` and not more than ``max``; ``max`` if ``min`` is larger.

    Parameters
    ----------
    input : Tensor
        Any shape.
    min, max : Tensor or number, optional
        The bounds, at least one; broadcast with the input.

    Returns
    -------
    Tensor
        In the operands' common dtype.

    Raises
    ------
    RuntimeError
        If there is no bound, or the input is complex.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.clamp(tp.tensor([-1., 0.5, 2.]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("clamp(): At least one of 'min' or 'max' must not be None")
    return clamped(arg.tensor(input, "clamp"), min, max)
