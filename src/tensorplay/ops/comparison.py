"""Comparison, logic and bits: results that are bool, or integers bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operand_twin, operator
from ..core.primitive import PRIMITIVES, elementwise
from ..core.tensor import Tensor
from . import arguments as arg
from .declare import declare, refusing

BOOL = "Of dtype bool."
BINARY: dict[str, Any] = {"inputs": "input, other"}
REAL = refusing("c")

# ---- comparison

for name, kernel, alias, sign, shows in [
    ("eq", "equal", None, "==", "tensor([False,  True, False])"),
    ("ne", "not_equal", "not_equal", "!=", "tensor([ True, False,  True])"),
    ("lt", "less", "less", "<", "tensor([ True, False, False])"),
    ("le", "less_equal", "less_equal", "<=", "tensor([ True,  True, False])"),
    ("gt", "greater", "greater", ">", "tensor([False, False,  True])"),
    ("ge", "greater_equal", "greater_equal", ">=", "tensor([False,  True,  True])"),
]:
    declare(
        name, kernel, {}, f"``input {sign} other``, element by element.", f"tp.{name}(tp.tensor([1, 2, 3]), 2)", shows,
        returns=BOOL, aliases=(alias,) if alias else (), check=None if name in ("eq", "ne") else REAL,
        numbers=("other",), **BINARY,
    )  # fmt: skip
    setattr(Tensor, f"__{name}__", PRIMITIVES[name].operator())


def isclose_kernel(xp: Any, input: Any, other: Any, *, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Equal values are close, also infinite ones; else a finite difference has to be small."""
    close = xp.equal(input, other)
    kind = input.dtype.kind
    if kind in "fVc" and equal_nan:
        close = close | ((input != input) & (other != other))
    if not (rtol or atol):
        return close
    if kind in "biu":
        input, other = xp.asarray(input, np.float64), xp.asarray(other, np.float64)
    difference = abs(input - other)
    return close | (xp.isfinite(difference) & (difference <= atol + abs(rtol * other)))


elementwise("isclose", isclose_kernel)


@operator(out=False)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether elements are nearly equal: ``abs(input - other) <= atol + rtol * abs(other)``.

    Parameters
    ----------
    input, other : Tensor
        Of one dtype; broadcast together.
    rtol, atol : float
        Relative and absolute tolerance.
    equal_nan : bool, default False
        Whether nan is close to nan.

    Returns
    -------
    Tensor
        Of dtype bool.

    Raises
    ------
    RuntimeError
        If the dtypes differ, or a tolerance is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.isclose(tp.tensor([1., 1.]), tp.tensor([1.000001, 1.1]))
    tensor([ True, False])
    """
    if type(rtol) is not float:
        rtol = arg.real(rtol, "isclose", "rtol", 3)
    if type(atol) is not float:
        atol = arg.real(atol, "isclose", "atol", 4)
    if arg.tensor(input, "isclose").dtype is not arg.tensor(other, "isclose", "other", 2).dtype:
        raise RuntimeError(f"isclose(): {input.dtype} did not match {other.dtype}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"isclose(): {name} must be greater than or equal to zero, but got {value}")
    return F.isclose(input, other, rtol, atol, equal_nan)


@operator(out=False)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are nearly equal; see :func:`isclose`.

    Parameters
    ----------
    input, other : Tensor
        Of one dtype; broadcast together.
    rtol, atol : float
        Relative and absolute tolerance.
    equal_nan : bool, default False
        Whether nan is close to nan.

    Returns
    -------
    bool

    Raises
    ------
    RuntimeError
        If the dtypes differ, or a tolerance is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.allclose(tp.tensor([1., 2.]), tp.tensor([1., 2.000001]))
    True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@operator(out=False)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and equal elements.

    Parameters
    ----------
    input, other : Tensor
        Of any dtypes.

    Returns
    -------
    bool

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.equal(tp.tensor([1, 2]), tp.tensor([1, 2]))
    True
    """
    if arg.tensor(input, "equal")._data.shape != arg.tensor(other, "equal", "other", 2)._data.shape:
        return False
    return bool(F.eq(input, other).all())


# ---- logic: zero is false

for name, summary, shows in [
    ("and", "Whether both elements are true.", "tensor([ True, False, False])"),
    ("or", "Whether one of two elements is true, or both.", "tensor([ True,  True, False])"),
    ("xor", "Whether exactly one of two elements is true.", "tensor([False,  True, False])"),
]:
    declare(
        f"logical_{name}", f"logical_{name}", {}, summary,
        f"tp.logical_{name}(tp.tensor([1, 2, 0]), tp.tensor([True, False, False]))", shows, returns=BOOL,
        numbers=(), **BINARY,
    )  # fmt: skip
logical_not = declare(
    "logical_not", lambda xp, input: xp.equal(input, 0), {}, "Whether an element is false, that is zero.",
    "tp.logical_not(tp.tensor([1., 0.]))", "tensor([False,  True])", returns=BOOL,
)  # fmt: skip

# ---- bits

BITS = refusing("fVc")
for name, summary, shows in [
    ("and", "Where both integers have a bit set; for bools, whether both are true.", "tensor([4, 3])"),
    ("or", "Where one of two integers has a bit set; for bools, whether one is true.", "tensor([13, 11])"),
    ("xor", "Where exactly one of two integers has a bit set; for bools, whether they differ.", "tensor([9, 8])"),
]:
    declare(
        f"bitwise_{name}", f"bitwise_{name}", {}, summary, f"tp.bitwise_{name}(tp.tensor([12, 11]), tp.tensor([5, 3]))",
        shows, check=BITS, **BINARY,
    )  # fmt: skip
bitwise_not = declare(
    "bitwise_not", "invert", {}, "Each integer with all bits the other way; for bools, the opposite.",
    "tp.bitwise_not(tp.tensor([0, 5]))", "tensor([-1, -6])", check=BITS,
)  # fmt: skip


def invert(input: Tensor) -> Tensor:
    if input._data.dtype.kind not in "biu":
        raise TypeError(f"~ (operator.invert) is only implemented on integer and bool tensors, got {input.dtype}")
    return F.bitwise_not(input)


def left_shift_kernel(xp: Any, input: Any, other: Any) -> Any:
    """A shift by a negative number, or by as many bits as there are, leaves nothing."""
    dtype = xp.result_type(input, other)
    inside = (xp.asarray(other) >= 0) & (xp.asarray(other) < 8 * dtype.itemsize)
    return xp.where(inside, xp.left_shift(input, xp.where(inside, other, 0)), 0).astype(dtype)


def right_shift_kernel(xp: Any, input: Any, other: Any) -> Any:
    """A shift by a negative number, or by as many bits as there are, leaves the sign alone."""
    dtype = xp.result_type(input, other)
    bits = 8 * dtype.itemsize
    inside = (xp.asarray(other) >= 0) & (xp.asarray(other) < bits)
    last = xp.right_shift(xp.right_shift(input, bits - 1), 1)
    return xp.where(inside, xp.right_shift(input, xp.where(inside, other, 0)), last).astype(dtype)


for name, shift, summary, shows in [
    ("left_shift", left_shift_kernel, "``input * 2**other`` for integers, without the bits that do not fit.",
     "tensor([ 2, 12])"),
    ("right_shift", right_shift_kernel, "``input / 2**other`` for integers, rounded towards minus infinity.",
     "tensor([0, 0])"),
]:  # fmt: skip
    declare(
        f"bitwise_{name}", shift, {}, summary, f"tp.bitwise_{name}(tp.tensor([1, 3]), tp.tensor([1, 2]))", shows,
        check=refusing("bfVc"),
    )  # fmt: skip

for name, method in {"__invert__": invert}.items():
    setattr(Tensor, name, method)
OPERATORS = {"and": "and", "or": "or", "xor": "xor", "lshift": "left_shift", "rshift": "right_shift"}
for python_name, name in OPERATORS.items():
    bits = PRIMITIVES[f"bitwise_{name}"]
    setattr(Tensor, f"__{python_name}__", bits.operator())
    setattr(Tensor, f"__r{python_name}__", bits.operator(reflected=True))
    setattr(Tensor, f"__i{python_name}__", operand_twin(bits.name, getattr(Tensor, f"bitwise_{name}_")))

# ---- tests of single values


def exactly(value: float) -> Any:
    def kernel(xp: Any, input: Any) -> Any:
        return xp.equal(input, value) if input.dtype.kind in "fV" else xp.zeros(input.shape, bool)

    return kernel


isnan = declare(
    "isnan", "isnan", {}, "Whether an element is nan; for a complex one, whether a part is.",
    "tp.isnan(tp.tensor([1., math.nan, math.inf]))", "tensor([False,  True, False])", returns=BOOL, inplace=False,
)  # fmt: skip
isinf = declare(
    "isinf", "isinf", {}, "Whether an element is inf or -inf; for a complex one, whether a part is.",
    "tp.isinf(tp.tensor([1., math.nan, -math.inf]))", "tensor([False, False,  True])", returns=BOOL, inplace=False,
)  # fmt: skip
isfinite = declare(
    "isfinite", "isfinite", {}, "Whether an element is neither nan nor infinite.",
    "tp.isfinite(tp.tensor([1., math.nan, math.inf]))", "tensor([ True, False, False])", returns=BOOL, inplace=False,
)  # fmt: skip
isposinf = declare(
    "isposinf", exactly(np.inf), {}, "Whether an element is inf.", "tp.isposinf(tp.tensor([math.inf, -math.inf]))",
    "tensor([ True, False])", returns=BOOL, inplace=False,
    check=refusing("c", "does not support complex inputs", RuntimeError),
)  # fmt: skip
isneginf = declare(
    "isneginf", exactly(-np.inf), {}, "Whether an element is -inf.", "tp.isneginf(tp.tensor([math.inf, -math.inf]))",
    "tensor([False,  True])", returns=BOOL, inplace=False,
    check=refusing("c", "does not support complex inputs", RuntimeError),
)  # fmt: skip
isreal = declare(
    "isreal", "isreal", {}, "Whether an element has no imaginary part.", "tp.isreal(tp.tensor([1 + 1j, 2]))",
    "tensor([False,  True])", returns=BOOL, inplace=False,
)  # fmt: skip
signbit = declare(
    "signbit", lambda xp, input: xp.less(input, 0) if input.dtype.kind in "biu" else xp.signbit(input), {},
    "Whether the sign of an element is minus, also that of -0.", "tp.signbit(tp.tensor([1., -1., -0.]))",
    "tensor([False,  True,  True])", returns=BOOL, inplace=False, check=REAL,
)  # fmt: skip


@operator(out=False)
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element of a tensor is not zero.

    Parameters
    ----------
    input : Tensor
        Of one element.

    Raises
    ------
    RuntimeError
        If there is not exactly one element.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_nonzero(tp.tensor([2.]))
    True
    """
    return bool(arg.tensor(input, "is_nonzero"))
