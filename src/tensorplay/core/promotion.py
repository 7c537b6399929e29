"""The dtype of a result: promotion within and between categories, as PyTorch does it."""

from __future__ import annotations

from collections.abc import Iterable

from .dtype import ALL, FLOATING, INTEGER, dtype, dtype_argument, float32, int16, uint16, uint32, uint64

SCALAR, ZERO_DIM, DIMENSIONED = range(3)  # priorities: a Python number, a 0-dim tensor, a tensor with dimensions

_WIDE_UNSIGNED = (uint16, uint32, uint64)


def _promoted(a: dtype, b: dtype) -> dtype | None:
    if a is b:
        return a
    if a.category > b.category:
        a, b = b, a
    if (a in _WIDE_UNSIGNED or b in _WIDE_UNSIGNED) and b.category != FLOATING:
        return None
    if a.category == FLOATING < b.category:
        a = a.to_complex()
    if a.category < b.category:
        return b
    if a.itemsize == b.itemsize and a is not b:  # uint8 with int8, float16 with bfloat16: neither holds the other
        return int16 if a.category == INTEGER else float32
    return a if a.itemsize > b.itemsize else b


def _widened(higher: dtype, lower: dtype) -> dtype | None:
    """The result for operands of different priority: only a higher category of the lower one counts."""
    if lower.category <= higher.category:
        return higher
    if higher.category == FLOATING:
        return higher.to_complex()  # the precision stays that of the higher priority
    return lower if higher.category == INTEGER else _promoted(higher, lower)


_PROMOTED = {(a, b): d for a in ALL for b in ALL if (d := _promoted(a, b)) is not None}
_WIDENED = {(a, b): d for a in ALL for b in ALL if (d := _widened(a, b)) is not None}


def _refuse(a: dtype, b: dtype) -> RuntimeError:
    return RuntimeError(
        "Promotion for uint16, uint32, uint64 types is not supported, "
        f"attempted to promote {a} and {b}; convert one of them first"
    )


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that is at least as wide as both, and of the higher category.

    Parameters
    ----------
    type1, type2 : dtype
        Python's bool, int, float and complex stand for bool, int64, float64 and complex128.

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        If an argument is not a dtype.
    RuntimeError
        For uint16, uint32 and uint64, except with themselves and with floating point dtypes.

    Examples
    --------
    >>> from tensorplay.core.dtype import float32, int32, int8, uint8
    >>> promote_types(int32, float32), promote_types(uint8, int8)
    (tensorplay.float32, tensorplay.int16)
    """
    try:
        return _PROMOTED[type1, type2]
    except (KeyError, TypeError):
        a = dtype_argument(type1, "promote_types", "type1", 1)
        b = dtype_argument(type2, "promote_types", "type2", 2)
        if (a, b) in _PROMOTED:
            return _PROMOTED[a, b]
        raise _refuse(a, b) from None


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether an in-place or ``out=`` result of dtype `from_` may be stored as `to`.

    True unless the category falls: complex to floating point, floating point to integer, anything to bool.

    Raises
    ------
    TypeError
        If an argument is not a dtype.

    Examples
    --------
    >>> from tensorplay.core.dtype import float32, float64, int64
    >>> can_cast(float64, float32), can_cast(float32, int64)
    (True, False)
    """
    source = dtype_argument(from_, "can_cast", "from_", 1)
    return source.category <= dtype_argument(to, "can_cast", "to", 2).category


def promote(operands: Iterable[tuple[dtype, int]]) -> dtype:
    """The dtype in which operands of an operator are combined.

    Operands of one priority promote as by `promote_types`. One of a lower priority changes the result only if its
    category is higher: an integer tensor with a Python float gives the float's dtype, a float32 tensor with a
    float64 tensor of no dimensions stays float32.

    Parameters
    ----------
    operands : iterable of (dtype, int)
        Each operand's dtype and priority: 2 for a tensor with dimensions, 1 for one with none, 0 for a Python number,
        whose dtype is bool, int64, the default dtype or its complex type.

    Returns
    -------
    dtype

    Raises
    ------
    RuntimeError
        Where `promote_types` does.
    ValueError
        If there are no operands.

    Examples
    --------
    >>> from tensorplay.core.dtype import complex128, float32, int64
    >>> promote([(int64, 2), (float32, 0)]), promote([(float32, 2), (complex128, 1)])
    (tensorplay.float32, tensorplay.complex64)
    """
    by_priority: list[dtype | None] = [None, None, None]
    for d, priority in operands:
        seen = by_priority[priority]
        by_priority[priority] = d if seen is None or seen is d else promote_types(seen, d)
    result = None
    for higher in by_priority:
        if higher is None or higher is result:
            continue
        if result is None:
            result = higher
        elif (higher, result) in _WIDENED:
            result = _WIDENED[higher, result]
        else:
            raise _refuse(higher, result)
    if result is None:
        raise ValueError("promote(): there are no operands to promote")
    return result
