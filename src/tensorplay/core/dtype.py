"""Element types: one interned object per type, named and behaving as PyTorch's.

The instances are attributes of this module under their public names, so ``bool``, ``int`` and ``float``
mean element types here; the Python types are reached through ``builtins``.
"""

from __future__ import annotations

import builtins
from typing import Any, NoReturn

import ml_dtypes
import numpy as np

BOOL, INTEGER, FLOATING, COMPLEX = range(4)  # categories, in the order of promotion


class dtype:
    """An element type, such as ``tensorplay.float32``.

    The instances are the only ones there will ever be: compare them with ``is`` or ``==``.

    Attributes
    ----------
    name : str
        The name, as in ``'float32'``.
    numpy : numpy.dtype
        The type of the arrays that hold such elements.
    itemsize : int
        Bytes per element.
    is_floating_point, is_complex, is_signed : bool
        What the elements are.
    category : int
        0 for bool, 1 for integers, 2 for floating point, 3 for complex numbers.

    Examples
    --------
    >>> from tensorplay.core.dtype import float32
    >>> float32, float32.itemsize, float32.to_complex()
    (tensorplay.float32, 4, tensorplay.complex64)
    """

    __slots__ = ("category", "is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy")

    name: str
    numpy: np.dtype[Any]
    itemsize: builtins.int
    is_floating_point: builtins.bool
    is_complex: builtins.bool
    is_signed: builtins.bool
    category: builtins.int

    def __new__(cls, *args: object, **kwargs: object) -> dtype:
        raise TypeError("cannot create 'tensorplay.dtype' instances; use one of " + _listed(ALL))

    def __init_subclass__(cls) -> None:
        raise TypeError("type 'tensorplay.dtype' is not an acceptable base type")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"'tensorplay.dtype' object: attribute {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"'tensorplay.dtype' object: attribute {name!r} cannot be deleted")

    def __repr__(self) -> str:
        return f"tensorplay.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # pickled by reference to this module; copies are the object itself

    def to_real(self) -> dtype:
        """The type of the real part: float32 for complex64, float64 for complex128, else the type itself."""
        return _TO_REAL.get(self, self)

    def to_complex(self) -> dtype:
        """The complex type of this precision; float16 and bfloat16 give complex64, the smallest there is.

        Raises
        ------
        RuntimeError
            For bool and integer types.
        """
        if self.category < FLOATING:
            raise RuntimeError(f"to_complex(): {self} has no complex type; convert to a floating point dtype first")
        return _TO_COMPLEX.get(self, self)


def _make(name: str, numpy_type: Any, category: builtins.int) -> dtype:
    instance = object.__new__(dtype)
    numpy = np.dtype(numpy_type)
    fields = {
        "name": name,
        "numpy": numpy,
        "itemsize": numpy.itemsize,
        "is_floating_point": category == FLOATING,
        "is_complex": category == COMPLEX,
        "is_signed": category >= FLOATING or numpy.kind == "i",
        "category": category,
    }
    for field, value in fields.items():
        object.__setattr__(instance, field, value)
    return instance


bool = _make("bool", np.bool_, BOOL)
uint8 = _make("uint8", np.uint8, INTEGER)
uint16 = _make("uint16", np.uint16, INTEGER)
uint32 = _make("uint32", np.uint32, INTEGER)
uint64 = _make("uint64", np.uint64, INTEGER)
int8 = _make("int8", np.int8, INTEGER)
int16 = _make("int16", np.int16, INTEGER)
int32 = _make("int32", np.int32, INTEGER)
int64 = _make("int64", np.int64, INTEGER)
float16 = _make("float16", np.float16, FLOATING)
bfloat16 = _make("bfloat16", ml_dtypes.bfloat16, FLOATING)
float32 = _make("float32", np.float32, FLOATING)
float64 = _make("float64", np.float64, FLOATING)
complex64 = _make("complex64", np.complex64, COMPLEX)
complex128 = _make("complex128", np.complex128, COMPLEX)

half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128

ALL: tuple[dtype, ...] = (
    bool,
    *(uint8, uint16, uint32, uint64),
    *(int8, int16, int32, int64),
    *(float16, bfloat16, float32, float64),
    *(complex64, complex128),
)
ALIASES: dict[str, dtype] = {
    "half": half,
    "float": float,
    "double": double,
    "short": short,
    "int": int,
    "long": long,
    "cfloat": cfloat,
    "cdouble": cdouble,
}
by_numpy: dict[np.dtype[Any], dtype] = {d.numpy: d for d in ALL}

_TO_REAL = {complex64: float32, complex128: float64}
_TO_COMPLEX = {float16: complex64, bfloat16: complex64, float32: complex64, float64: complex128}

_default = float32
_MISSING: Any = object()


def _listed(dtypes: tuple[dtype, ...]) -> str:
    return ", ".join(map(str, dtypes))


def get_default_dtype() -> dtype:
    """The floating point type of tensors made from Python floats; float32 unless it was set.

    Examples
    --------
    >>> get_default_dtype()
    tensorplay.float32
    """
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Set the floating point type of tensors made from Python floats, for all threads.

    Parameters
    ----------
    d : dtype
        float16, bfloat16, float32 or float64.

    Raises
    ------
    TypeError
        If `d` is not a floating point dtype.

    Examples
    --------
    >>> set_default_dtype(float64)
    >>> get_default_dtype()
    tensorplay.float64
    >>> set_default_dtype(float32)
    """
    global _default
    if not isinstance(d, dtype):
        raise TypeError(
            "invalid dtype object: only floating-point types are supported as the default type; "
            f"set_default_dtype() got {d!r}"
        )
    if not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type; set_default_dtype() got {d}")
    _default = d


def default_complex() -> dtype:
    """The type of tensors made from Python complex numbers: the complex type of the default dtype."""
    return _TO_COMPLEX[_default]


def from_numpy(numpy_dtype: np.dtype[Any]) -> dtype:
    """The dtype of arrays with `numpy_dtype`.

    Raises
    ------
    TypeError
        If there is none.
    ValueError
        If the byte order is not the machine's.

    Examples
    --------
    >>> from_numpy(np.dtype('int16'))
    tensorplay.int16
    """
    try:
        return by_numpy[numpy_dtype]
    except (KeyError, TypeError):
        pass
    numpy_dtype = np.dtype(numpy_dtype)  # also np.float32, 'f4', ...
    if numpy_dtype in by_numpy:
        return by_numpy[numpy_dtype]
    if not numpy_dtype.isnative:
        raise ValueError(
            f"given numpy array has byte order different from the native byte order ({numpy_dtype.str}); "
            "convert it first with x.astype(x.dtype.newbyteorder('='))"
        )
    raise TypeError(
        f"can't convert np.ndarray of type {numpy_dtype}. "
        f"The only supported types are: {', '.join(d.name for d in ALL)}."
    )


def numpy_dtype(d: dtype | None) -> np.dtype[Any]:
    """The NumPy type of `d`; of the default dtype for None."""
    return _default.numpy if d is None else d.numpy


def as_dtype(x: object) -> dtype:
    """`x` itself if it is a dtype, or the one that stands for Python's bool, int, float or complex.

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> as_dtype(builtins.int), as_dtype(builtins.float)
    (tensorplay.int64, tensorplay.float32)
    """
    if isinstance(x, dtype):
        return x
    if x is builtins.float:
        return _default
    if x is builtins.int:
        return int64
    if x is builtins.bool:
        return bool
    if x is complex:
        return _TO_COMPLEX[_default]
    raise TypeError(
        f"dtype must be a tensorplay.dtype or one of Python's bool, int, float, complex, not {x!r}; "
        f"use one of {_listed(ALL)}"
    )


def dtype_argument(x: object, operator: str, argument: str, position: builtins.int) -> dtype:
    """The dtype that a user passed as an argument, where Python's float names float64 and complex complex128.

    `as_dtype` answers another question: which dtype Python numbers of a type become.

    Raises
    ------
    TypeError
        If `x` is neither a dtype nor Python's bool, int, float or complex; the message names the argument.
    """
    if isinstance(x, dtype):
        return x
    if x is builtins.float:
        return float64
    if x is complex:
        return complex128
    if x is builtins.bool or x is builtins.int:
        return as_dtype(x)
    raise TypeError(
        f"{operator}(): argument '{argument}' (position {position}) must be tensorplay.dtype, not {type(x).__name__}"
    )


class _Info:
    """Read-only limits of a type, equal if of the same type."""

    __slots__ = ("bits", "dtype", "max", "min")

    bits: builtins.int
    dtype: str

    def _fill(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"attribute {name!r} of 'tensorplay.{type(self).__name__}' objects is not writable")

    def __eq__(self, other: object) -> builtins.bool:
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self) -> builtins.int:
        return hash((type(self), self.dtype))

    def __reduce__(self) -> tuple[type[_Info], tuple[object]]:
        return type(self), (globals()[self.dtype],)


class finfo(_Info):
    """Limits of a floating point type.

    Parameters
    ----------
    type : dtype, optional
        A floating point or complex dtype (which has the limits of its real type); the default dtype if left out.

    Attributes
    ----------
    bits : int
        Bits of a number.
    eps : float
        Distance from 1 to the next larger number.
    max, min : float
        Largest number and its negative.
    smallest_normal, tiny : float
        Smallest positive normal number, under two names.
    resolution : float
        ``10 ** -d``, where every decimal number of d digits survives a round trip.
    dtype : str
        Name of the type.

    Raises
    ------
    TypeError
        If `type` is not a floating point or complex dtype.

    Examples
    --------
    >>> finfo(float16).max
    65504.0
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")

    max: builtins.float
    min: builtins.float
    eps: builtins.float
    resolution: builtins.float
    smallest_normal: builtins.float
    tiny: builtins.float

    def __init__(self, type: dtype | builtins.type = _MISSING) -> None:
        d = _default if type is _MISSING else dtype_argument(type, "finfo", "type", 1)
        if d.category < FLOATING:
            raise TypeError(
                f"tensorplay.finfo() requires a floating point input type, not {d}. "
                "Use tensorplay.iinfo to handle integers"
            )
        d = d.to_real()
        limits = ml_dtypes.finfo(d.numpy)
        self._fill(
            bits=limits.bits,
            eps=builtins.float(limits.eps),
            max=builtins.float(limits.max),
            min=builtins.float(limits.min),
            smallest_normal=builtins.float(limits.smallest_normal),
            tiny=builtins.float(limits.smallest_normal),
            resolution=builtins.float(f"1e-{limits.precision}"),
            dtype=d.name,
        )

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Info):
    """Limits of an integer type.

    Parameters
    ----------
    type : dtype
        An integer dtype.

    Attributes
    ----------
    bits : int
        Bits of a number.
    max, min : int
        Largest and smallest number.
    dtype : str
        Name of the type.

    Raises
    ------
    TypeError
        If `type` is not an integer dtype.

    Examples
    --------
    >>> iinfo(int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    __slots__ = ()

    max: builtins.int
    min: builtins.int

    def __init__(self, type: dtype | builtins.type) -> None:
        d = dtype_argument(type, "iinfo", "type", 1)
        if d is bool:
            raise TypeError("tensorplay.bool is not supported by tensorplay.iinfo")
        if d.category != INTEGER:
            raise TypeError(
                f"tensorplay.iinfo() requires an integer input type, not {d}. "
                "Use tensorplay.finfo to handle floating point types"
            )
        limits = np.iinfo(d.numpy)
        self._fill(bits=limits.bits, max=builtins.int(limits.max), min=builtins.int(limits.min), dtype=d.name)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
