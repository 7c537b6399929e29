"""Tensors as text, as PyTorch prints them, from plain arrays and what the caller knows of the tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from . import dtype as dt


class _Options(NamedTuple):
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=inf),
}

_options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed, for all threads.

    Parameters
    ----------
    precision : int, optional
        Digits after the point (4).
    threshold : float, optional
        Tensors of more elements are summarised (1000).
    edgeitems : int, optional
        Elements shown at each end of a summarised dimension (3).
    linewidth : int, optional
        Characters per line (80).
    profile : {'default', 'short', 'full'}, optional
        Where the values not given come from; the current ones if left out.
    sci_mode : bool, optional
        Whether to use the scientific notation; chosen from the values of each tensor if left out, in this call.

    Raises
    ------
    TypeError, ValueError
        If an option cannot be used. The options are then as before.

    Examples
    --------
    >>> set_printoptions(precision=2)
    >>> tensor_str(np.array([0.125, 3], 'float32'), dtype=dt.float32)
    'tensor([0.12, 3.00])'
    >>> set_printoptions(profile='default')
    """
    global _options
    options = _options
    if profile is not None:
        if not isinstance(profile, str) or profile.lower() not in _PROFILES:
            names = ", ".join(map(repr, _PROFILES))
            raise ValueError(f"set_printoptions(): argument 'profile' must be one of {names}, not {profile!r}")
        options = _PROFILES[profile.lower()]
    numbers = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    given: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None}
    for name, value in given.items():
        allowed, wanted = ((int, float, np.integer), "a number") if name == "threshold" else ((int, np.integer), "int")
        if not isinstance(value, allowed):
            raise TypeError(f"set_printoptions(): argument '{name}' must be {wanted}, not {type(value).__name__}")
        if not value >= 0:
            raise ValueError(f"set_printoptions(): argument '{name}' must not be negative, but it is {value}")
    if sci_mode not in (None, False, True):
        raise TypeError(f"set_printoptions(): argument 'sci_mode' must be bool or None, not {type(sci_mode).__name__}")
    _options = options._replace(**given, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """The options in force, by name: what `set_printoptions` takes.

    Examples
    --------
    >>> get_printoptions()
    {'precision': 4, 'threshold': 1000, 'edgeitems': 3, 'linewidth': 80, 'sci_mode': None}
    """
    return _options._asdict()


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Print differently inside a ``with`` block; takes what `set_printoptions` does.

    Examples
    --------
    >>> with printoptions(sci_mode=True):
    ...     print(tensor_str(np.array([20.0], 'float32'), dtype=dt.float32))
    tensor([2.0000e+01])
    """
    global _options
    before = _options
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        _options = before


def tensor_str(
    array: np.ndarray[Any, Any],
    *,
    dtype: dt.dtype,
    suffixes: Sequence[str] = (),
    prefix: str = "tensor(",
) -> str:
    """The text of a tensor that holds `array`.

    Parameters
    ----------
    array : numpy.ndarray
        The values, of any shape.
    dtype : dtype
        The dtype of the tensor.
    suffixes : sequence of str
        What else to tell, such as ``"device='cuda:0'"`` and ``'grad_fn=<MulBackward0>'``; size and dtype are added
        here where they are needed.
    prefix : str
        What comes first, the opening bracket included. Its last line sets the indentation.

    Returns
    -------
    str

    Examples
    --------
    >>> tensor_str(np.array([1.0, 2.0]), dtype=dt.float64, suffixes=['grad_fn=<MulBackward0>'])
    'tensor([1., 2.], dtype=tensorplay.float64, grad_fn=<MulBackward0>)'
    >>> tensor_str(np.zeros((0, 3), 'int64'), dtype=dt.int64)
    'tensor([], size=(0, 3), dtype=tensorplay.int64)'
    """
    indent = len(prefix) - prefix.rfind("\n") - 1
    implied = (dt.default_complex(), dt.int64, dt.bool) if array.size else ()  # the values themselves show these
    described = _dtype_suffix(dtype, implied)
    if array.ndim != 1 if array.size == 0 else _options.edgeitems == 0:
        described.insert(0, f"size={_size(array.shape)}")
    body = _array_str(array, indent) if array.size else "[]"
    return _with_suffixes(prefix, body, described, suffixes)


def meta_str(
    shape: Sequence[int],
    *,
    dtype: dt.dtype,
    suffixes: Sequence[str] = (),
    prefix: str = "tensor(",
) -> str:
    """The text of a tensor without values, on the device ``meta``; arguments as for `tensor_str`.

    Examples
    --------
    >>> meta_str((2, 3), dtype=dt.float32)
    "tensor(..., device='meta', size=(2, 3))"
    """
    described = ["device='meta'", f"size={_size(shape)}", *_dtype_suffix(dtype, [])]
    return _with_suffixes(prefix, "...", described, suffixes)


def _size(shape: Sequence[int]) -> str:
    return str(tuple(map(int, shape)))


def _dtype_suffix(dtype: dt.dtype, implied: Sequence[dt.dtype]) -> list[str]:
    return [] if dtype is dt.get_default_dtype() or dtype in implied else [f"dtype={dtype}"]


def _with_suffixes(prefix: str, body: str, described: Sequence[str], suffixes: Sequence[str]) -> str:
    first = [s for s in suffixes if s.startswith("device=")]
    last = [s for s in suffixes if not s.startswith("device=")]
    indent = len(prefix) - prefix.rfind("\n") - 1
    text = prefix + body
    used = len(text) - text.rfind("\n") + 1  # two more: what PyTorch leaves free after values, not after suffixes
    for suffix in [*first, *described, *last]:
        length = len(suffix.replace("tensorplay.", "torch."))  # lines break where they do in PyTorch
        used += 2 + length
        if used <= _options.linewidth:
            text += ", " + suffix
        else:
            text += ",\n" + " " * indent + suffix
            used = indent + length
    return text + ")"


class _Column:
    """How the numbers of one tensor are written: in one format and, as far as PyTorch aligns them, one width."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.spec, self.point = "", ""
        if values.dtype.kind != "f":
            self.width = max((len(str(v)) for v in values.ravel().tolist()), default=1)
            return
        measured = values[np.isfinite(values) & (values != 0)]  # zeros, infinities and nans count for nothing here
        integral = bool((measured == np.ceil(measured)).all())
        scientific = False
        if measured.size:
            sizes = np.abs(measured)
            low, high = float(sizes.min()), float(sizes.max())
            scientific = high / low > 1000 or high > 1e8 or (low < 1e-4 and not integral)
            if _options.sci_mode is not None:
                scientific = _options.sci_mode
        if scientific:
            self.spec = f".{_options.precision}e"
        elif integral:
            self.spec, self.point = ".0f", "."
        else:
            self.spec = f".{_options.precision}f"
        self.width = max((len(self._plain(v)) for v in measured.tolist()), default=1)

    def _plain(self, value: Any) -> str:
        text = format(value, self.spec) if self.spec else str(value)
        return text + self.point if isfinite(value) else text

    def write(self, value: Any) -> str:
        return self._plain(value).rjust(self.width)


def _array_str(array: np.ndarray[Any, Any], indent: int) -> str:
    edge = _options.edgeitems
    summarised = array.size > _options.threshold
    cut = [summarised and n > 2 * edge for n in array.shape]
    if any(cut):
        shown = [np.r_[:edge, n - edge : n] if c else np.arange(n) for n, c in zip(array.shape, cut)]
        array = array[np.ix_(*shown)]
    if array.dtype.kind not in "biu":
        with np.errstate(invalid="ignore"):  # signalling nans
            array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)

    if array.dtype.kind == "c":
        real, imag = _Column(array.real), _Column(array.imag)
        width = real.width + imag.width + 1

        def write(value: Any) -> str:
            imaginary = imag.write(value.imag).lstrip() + "j"
            return real.write(value.real) + ("" if imaginary[0] == "-" else "+") + imaginary

    else:
        column = _Column(array)
        width, write = column.width, column.write

    innermost = indent + max(0, array.ndim - 1)
    per_line = max(1, (_options.linewidth - innermost) // (width + 2))

    def row(values: list[Any]) -> list[str]:
        items = [write(v) for v in values]
        if cut[-1]:
            items.insert(edge, " ..." if edge else "...")
        return [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]

    def block(values: Any, axis: int) -> str:
        if axis == len(cut) - 1:
            parts = row(values)
        else:
            parts = [block(v, axis + 1) for v in values]
            if cut[axis]:
                parts.insert(edge, "...")
        line_breaks = "\n" * max(1, len(cut) - 1 - axis)
        return "[" + ("," + line_breaks + " " * (indent + axis + 1)).join(parts) + "]"

    return block(array.tolist(), 0) if cut else write(array.item())
