"""Settings that PyTorch programs make, and what they mean here, where every operator is deterministic and precise."""

from __future__ import annotations

from numbers import Integral
from typing import Any

_deterministic = "default"
_precision = "highest"
_interop_threads = 1
_warn_always = False

MODES = ("default", "warn", "error")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for operators that give the same result each time: all of them do.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.use_deterministic_algorithms(True)
    >>> tp.are_deterministic_algorithms_enabled()
    True
    >>> tp.use_deterministic_algorithms(False)
    """
    set_deterministic_debug_mode(("warn" if warn_only else "error") if mode else "default")


def are_deterministic_algorithms_enabled() -> bool:
    """Whether :func:`use_deterministic_algorithms` asked for them."""
    return _deterministic != "default"


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether :func:`use_deterministic_algorithms` asked for warnings rather than errors."""
    return _deterministic == "warn"


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """As :func:`use_deterministic_algorithms`, by a name ("default", "warn" or "error") or its number.

    Raises
    ------
    TypeError, RuntimeError
        If there is no such mode.
    """
    global _deterministic
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(
            f"set_deterministic_debug_mode(): debug_mode must be str or int, but got {type(debug_mode).__name__}"
        )
    names: Any = MODES if isinstance(debug_mode, str) else range(len(MODES))
    if debug_mode not in names:
        raise RuntimeError(
            f"set_deterministic_debug_mode(): invalid value of debug_mode, expected one of {MODES} or 0, 1, 2, "
            f"got {debug_mode!r}"
        )
    _deterministic = debug_mode if isinstance(debug_mode, str) else MODES[debug_mode]


def get_deterministic_debug_mode() -> int:
    """The number of the mode: 0 for "default", 1 for "warn", 2 for "error"."""
    return MODES.index(_deterministic)


def set_float32_matmul_precision(precision: str) -> None:
    """Allow products of float32 matrices less than full precision; they always have it.

    Parameters
    ----------
    precision
        "highest", "high" or "medium".

    Raises
    ------
    RuntimeError
        For any other name.
    """
    global _precision
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"set_float32_matmul_precision(): expected 'highest', 'high' or 'medium', got {precision!r}")
    _precision = precision


def get_float32_matmul_precision() -> str:
    """What :func:`set_float32_matmul_precision` was given last.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.get_float32_matmul_precision()
    'highest'
    """
    return _precision


def set_num_interop_threads(int: int) -> None:  # PyTorch's name for the argument
    """Set how many threads may run operators side by side; here they run in the thread that calls them.

    Raises
    ------
    RuntimeError
        If it is not a positive integer.
    """
    global _interop_threads
    if not isinstance(int, Integral) or int < 1:
        raise RuntimeError(f"set_num_interop_threads(): expected a positive integer, got {int!r}")
    _interop_threads = int


def get_num_interop_threads() -> int:
    """What :func:`set_num_interop_threads` was given last.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.get_num_interop_threads()
    1
    """
    return _interop_threads


def set_warn_always(b: bool, /) -> None:
    """Ask for every warning, not the first of its kind alone; this package gives all to Python's filters.

    Raises
    ------
    RuntimeError
        If it is no bool.
    """
    global _warn_always
    if not isinstance(b, bool):
        raise RuntimeError(f"set_warn_always(): expected a bool, but got {type(b).__name__}")
    _warn_always = b


def is_warn_always_enabled() -> bool:
    """What :func:`set_warn_always` was given last.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_warn_always_enabled()
    False
    """
    return _warn_always
