"""Settings that PyTorch programs make, and what they mean here, where every operator is deterministic and precise."""

from __future__ import annotations

from typing import Any

_deterministic = "default"
_precision = "highest"

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
