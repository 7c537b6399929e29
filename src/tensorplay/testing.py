"""Comparing and making tensors in tests; the names of ``torch.testing``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .core import dtype as dtypes
from .core.device import device as Device
from .core.interop import readable
from .core.layout import memory_format as MemoryFormat
from .core.promotion import promote_types
from .core.tensor import Tensor
from .ops.arguments import sizes
from .ops.complex import view_as_complex
from .ops.from_data import as_tensor
from .ops.random import rand, randint

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

# ---- comparing

TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5), dtypes.bfloat16: (1.6e-2, 1e-5), dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7), dtypes.complex64: (1.3e-6, 1e-5), dtypes.complex128: (1e-7, 1e-7),
}  # fmt: skip
"""Relative and absolute; 0 for the dtypes that are not listed."""
OLD_TOLERANCES = {dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5), dtypes.float64: (1e-5, 1e-8)}
NUMBERS = {bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


class Options:
    """What the values of a comparison are held to."""

    def __init__(self, rtol: float | None, atol: float | None, equal_nan: bool, **checks: bool) -> None:
        if (rtol is None) != (atol is None):
            raise ValueError(
                "assert_close(): Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                + ("rtol." if rtol is None else "atol.")
            )
        self.given = None if rtol is None or atol is None else (rtol, atol)
        if self.given is not None and min(self.given) < 0:
            raise ValueError(f"assert_close(): tolerances must not be negative, got rtol={rtol} and atol={atol}")
        self.equal_nan, self.checks = equal_nan, checks

    def tolerances(self, *found: dtypes.dtype) -> tuple[float, float]:
        """The relative and the absolute tolerance for values of two dtypes: the larger ones."""
        if self.given is not None:
            return self.given
        pairs = [TOLERANCES.get(d, (0.0, 0.0)) for d in found]
        return max(r for r, _ in pairs), max(a for _, a in pairs)


def pairs(actual: Any, expected: Any, subclasses: bool, where: str = "") -> Iterator[tuple[Any, Any, str]]:
    """What is to be compared with what, and where it stands in sequences and mappings.

    Raises
    ------
    AssertionError
        If sequences differ in length, or mappings in their keys.
    TypeError
        If two values cannot be compared.
    """
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing, additional = expected.keys() - actual.keys(), actual.keys() - expected.keys()
        if missing or additional:
            lines = [f"Missing keys in the actual mapping: {sorted(missing, key=repr)}"] if missing else []
            lines += [f"Additional keys in the actual mapping: {sorted(additional, key=repr)}"] if additional else []
            raise AssertionError("\n".join(["The keys of the mappings do not match:", *lines]) + place(where))
        for key in actual:
            yield from pairs(actual[key], expected[key], subclasses, f"{where}[{key!r}]")
    elif is_sequence(actual) and is_sequence(expected):
        if len(actual) != len(expected):
            raise AssertionError(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}" + place(where)
            )
        for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
            yield from pairs(a, b, subclasses, f"{where}[{i}]")
    elif comparable(actual, expected, subclasses):
        yield actual, expected, where
    else:
        raise TypeError(
            f"assert_close(): No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
            + place(where)
        )


def is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.bool_, np.number))


def comparable(actual: Any, expected: Any, subclasses: bool) -> bool:
    if actual is None or expected is None or (is_number(actual) and is_number(expected)):
        return True
    if not all(isinstance(value, (Tensor, np.ndarray)) for value in (actual, expected)):
        return False
    if not subclasses:
        return type(actual) is type(expected)
    return isinstance(actual, type(expected)) or isinstance(expected, type(actual))


def place(where: str) -> str:
    return f"\n\nThe failure occurred for item {where}" if where else ""


def difference(actual: Any, expected: Any, options: Options) -> str | None:
    """A report of how two values differ, or None."""
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}"
    if not is_number(actual):
        return difference_of_tensors(as_tensor(actual).detach(), as_tensor(expected).detach(), options)
    actual, expected = (v.item() if isinstance(v, np.generic) else v for v in (actual, expected))
    if isinstance(actual, bool) and isinstance(expected, bool):
        return None if actual is expected else f"Booleans mismatch: {actual} is not {expected}"
    if options.checks["dtype"] and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    rtol, atol = options.tolerances(NUMBERS[type(actual)], NUMBERS[type(expected)])
    return difference_of_values(np.asarray(actual), np.asarray(expected), rtol, atol, options.equal_nan)


def difference_of_tensors(actual: Tensor, expected: Tensor, options: Options) -> str | None:
    """As :func:`difference`, for tensors: their attributes first."""
    checked = [("shape", True), *((name, options.checks[name]) for name in ("layout", "device", "dtype"))]
    for name, check in checked:
        a, b = getattr(actual, name), getattr(expected, name)
        if check and a != b:
            return f"The values for attribute '{name}' do not match: {a} != {b}."
    if options.checks["stride"] and actual.stride() != expected.stride():
        return f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}."
    if actual.is_meta or expected.is_meta:
        return None
    rtol, atol = options.tolerances(actual.dtype, expected.dtype)
    common = promote_types(actual.dtype, expected.dtype)
    a, b = (readable(t.to(common), "assert_close()") for t in (actual, expected))
    return difference_of_values(a, b, rtol, atol, options.equal_nan)


def difference_of_values(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> str | None:
    """As :func:`difference`, for arrays of one shape and dtype."""
    with np.errstate(all="ignore"):
        apart, size = distances(a, b)
        equal = (a == b) | (np.isfinite(a) & np.isfinite(b) & (apart <= atol + rtol * size))
        if equal_nan:
            equal |= (a != a) & (b != b)
        if equal.all():
            return None
        apart = np.where(equal, 0, apart)
        relative = np.where(equal, 0, apart / size)
    exact = rtol == 0 and atol == 0
    verb = "equal" if exact else "close"
    allowed = ["" if exact else f" (up to {tolerance} allowed)" for tolerance in (atol, rtol)]
    if not a.ndim:
        return (f"Scalars are not {verb}!\n\nExpected {b.item()} but got {a.item()}.\n"
                f"Absolute difference: {apart.item()}{allowed[0]}\n"
                f"Relative difference: {relative.item()}{allowed[1]}")  # fmt: skip
    wrong = equal.size - np.count_nonzero(equal)
    lines = [f"Tensor-likes are not {verb}!", "",
             f"Mismatched elements: {wrong} / {equal.size} ({wrong / equal.size:.1%})"]  # fmt: skip
    for kind, values, bound in (("absolute", apart, allowed[0]), ("relative", relative, allowed[1])):
        index = tuple(int(i) for i in np.unravel_index(np.argmax(values), values.shape))
        lines.append(f"Greatest {kind} difference: {values[index].item()} at index {index}{bound}")
    return "\n".join(lines)


def distances(a: Any, b: Any) -> tuple[Any, Any]:
    """``abs(a - b)`` and ``abs(b)``; of integers exact, and without overflow."""
    if a.dtype.kind == "V" or a.dtype == np.float16:
        a, b = a.astype(np.float32), b.astype(np.float32)
    if a.dtype.kind not in "biu":
        return np.abs(a - b), np.abs(b)
    wide = np.uint64 if a.dtype.kind == "u" else np.int64
    high, low = np.maximum(a, b).astype(wide), np.minimum(a, b).astype(wide)
    return high.view(np.uint64) - low.view(np.uint64), np.abs(b.astype(np.float64))


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Assert that two values are close: ``abs(actual - expected) <= atol + rtol * abs(expected)`` everywhere.

    Parameters
    ----------
    actual, expected
        Tensors, NumPy arrays, numbers or None, or sequences or mappings of such. Infinities are close only to
        themselves.
    allow_subclasses : bool
        Whether a value of a subclass may be compared with one of its base class.
    rtol, atol : float, optional
        The tolerances, both or none; the defaults depend on the dtype: 1.3e-6 and 1e-5 for float32, 1e-7 twice for
        float64, 1e-3 and 1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16, 0 for integers.
    equal_nan : bool
        Whether nan is close to nan.
    check_device, check_dtype, check_layout, check_stride : bool
        Whether these must be the same.
    msg : str or callable, optional
        The message of the error, or a function that makes it from the report.

    Raises
    ------
    AssertionError
        If they are not close; the report says how many elements are not, and where the difference is greatest.
    ValueError
        If only one tolerance is given.
    TypeError
        If the values are of types that cannot be compared.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.testing.assert_close(tp.tensor([1., 2.]).sqrt() ** 2, tp.tensor([1., 2.]))
    >>> tp.testing.assert_close(tp.tensor([1., 2., 4.]), tp.tensor([1., 2., 3.]))
    Traceback (most recent call last):
    ...
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 3 (33.3%)
    Greatest absolute difference: 1.0 at index (2,) (up to 1e-05 allowed)
    Greatest relative difference: 0.3333333432674408 at index (2,) (up to 1.3e-06 allowed)
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    options = Options(rtol, atol, equal_nan, device=check_device, dtype=check_dtype, layout=check_layout,
                      stride=check_stride)  # fmt: skip
    for a, b, where in list(pairs(actual, expected, allow_subclasses)):
        report = difference(a, b, options)
        if report is not None:
            report += place(where)
            raise AssertionError(report if msg is None else msg(report) if callable(msg) else msg)


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True,
    msg: str = "",
) -> None:  # fmt: skip
    """As :func:`assert_close`, of dtypes that may differ and with wider tolerances; deprecated.

    Parameters
    ----------
    actual, expected : array_like
        Anything that :func:`tensorplay.tensor` takes.
    rtol, atol : float, optional
        The tolerances, both or none; by default 1e-4 and 1e-5 for float32, 1e-5 and 1e-8 for float64, twice 1e-3 for
        float16, and else 0.
    equal_nan : bool
        Whether nan is close to nan.
    msg : str
        The message of the error.

    Examples
    --------
    >>> import warnings
    >>> import tensorplay as tp
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     tp.testing.assert_allclose(tp.tensor([1.]), [1.00001])
    """
    __tracebackhide__ = True
    warnings.warn("tensorplay.testing.assert_allclose() is deprecated; use tensorplay.testing.assert_close()",
                  FutureWarning, stacklevel=2)  # fmt: skip
    a = as_tensor(actual)
    b = as_tensor(expected) if isinstance(expected, (Tensor, np.ndarray)) else as_tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        found = [OLD_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (a, b)]
        rtol, atol = max(r for r, _ in found), max(t for _, t in found)
    assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


# ---- making


def make_tensor(
    *shape: int | Sequence[int], dtype: dtypes.dtype, device: str | Device, low: float | None = None,
    high: float | None = None, requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:  # fmt: skip
    """A tensor of random numbers, uniform in ``[low, high)``.

    Parameters
    ----------
    shape : int...
        One by one or as a sequence.
    dtype : tensorplay.dtype
    device : str or tensorplay.device
    low, high : float, optional
        The range, cut off at what the dtype can hold. By default [-9, 9) for floating and complex dtypes (both parts),
        [-9, 10) for signed integers, [0, 10) for unsigned ones.
    requires_grad : bool
        Whether operations on the tensor are recorded.
    noncontiguous : bool
        Whether every other element of memory is left out; of fewer than two elements none is.
    exclude_zero : bool
        Whether zeros are replaced: by 1, or by the smallest normal number.
    memory_format : tensorplay.memory_format, optional
        The order of the dimensions in memory.

    Raises
    ------
    ValueError
        If the range is empty or not one of the dtype's, the dtype cannot require grad, or ``noncontiguous`` is asked
        for along with a format.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.testing.make_tensor(2, 3, dtype=tp.float32, device="cpu", low=0, high=1)
    >>> x.shape, bool((x >= 0).all() and (x < 1).all())
    (tensorplay.Size([2, 3]), True)
    """
    d = dtypes.dtype_argument(dtype, "make_tensor", "dtype", 2)
    whole = d.category < dtypes.FLOATING
    if whole and requires_grad:
        raise ValueError(
            f"make_tensor(): `requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={d}"
        )
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "make_tensor(): The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    size = sizes(shape[0], shape[1:], "make_tensor", "shape") if shape else ()
    doubled = noncontiguous and math.prod(size) > 1
    start, stop = value_range(d, low, high)
    out = uniform((*size[:-1], 2 * size[-1]) if doubled else size, start, stop, d, device)
    if doubled:
        out = out[..., ::2]
    if exclude_zero:
        out.masked_fill_(out == 0, 1 if whole else dtypes.finfo(d).tiny * (1 + 1j if d.is_complex else 1))
    if memory_format is not None:
        out = out.contiguous(memory_format=memory_format)
    return out.requires_grad_(requires_grad)


def uniform(size: tuple[int, ...], start: float, stop: float, d: dtypes.dtype, device: Any) -> Tensor:
    """Numbers of a dtype in ``[start, stop)``; those are whole already where the dtype is."""
    if d.category < dtypes.FLOATING:
        return randint(int(start), int(stop), size, dtype=d, device=device)
    if d.is_complex:
        return view_as_complex(uniform((*size, 2), start, stop, d.to_real(), device))
    share = rand(size, dtype=dtypes.float64, device=device)
    out = (start * (1 - share) + stop * share).to(d)
    return out.masked_fill(out >= stop, start)  # where rounding got there


def value_range(d: dtypes.dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """The range to draw from: as asked for, cut off at what the dtype can hold."""
    whole = d.category < dtypes.FLOATING
    least: float
    most: float
    start: float
    stop: float
    if d is dtypes.bool:
        least, most, start, stop = 0, 2, 0, 2
    elif whole:
        info = dtypes.iinfo(d)
        least, most, start, stop = info.min, info.max + 1, max(info.min, -9), 10
    else:
        least, most, start, stop = dtypes.finfo(d).min, dtypes.finfo(d).max, -9, 9
    start, stop = start if low is None else low, stop if high is None else high
    if start != start or stop != stop:
        raise ValueError(f"make_tensor(): `low` and `high` cannot be NaN, but got low={start} and high={stop}")
    if start > stop or (whole and start == stop):
        raise ValueError(f"make_tensor(): `low` must be less than `high`, but got {start} >= {stop}")
    if stop <= least or start >= most:
        raise ValueError(
            f"make_tensor(): The value interval specified by `low` and `high` is [{start}, {stop}), but {d} only "
            f"supports [{least}, {most})"
        )
    kept = max(start, least), min(stop, most)
    if whole and math.ceil(kept[0]) >= math.ceil(kept[1]):
        raise ValueError(f"make_tensor(): there is no integer in [{start}, {stop})")
    return (math.ceil(kept[0]), math.ceil(kept[1])) if whole else kept
