"""Window functions: those of ``torch.signal.windows``, and the package's older names for some of them.

Each is a function of the positions 0, 1, ... and of where the last one would be: at M - 1 for a symmetric window of M
points, at M for a periodic one, which is a symmetric one without its last point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.dtype import dtype_argument, get_default_dtype
from ..core.operator import operator
from ..core.tensor import Tensor
from . import arguments as arg
from .factories import Device, Dtype, Layout, check_options, made

Shape = Callable[[Any, int], Any]

# ---- shapes


def cosines(*coefficients: float) -> Shape:
    """A sum of cosines, with alternating signs."""

    def shape(at: Any, last: int) -> Any:
        angle = at * (2 * np.pi / last)
        return sum((-1) ** k * a * np.cos(k * angle) for k, a in enumerate(coefficients))

    return shape


def bartlett_shape(at: Any, last: int) -> Any:
    return 1 - np.abs(2 * at / last - 1)


def cosine_shape(at: Any, last: int) -> Any:
    return np.sin(np.pi * (at + 0.5) / (last + 1))


def kaiser_shape(beta: float) -> Shape:
    return lambda at, last: np.i0(beta * np.sqrt(1 - (2 * at / last - 1) ** 2)) / np.i0(beta)


# ---- making them


def window(
    name: str, M: Any, symmetric: bool, shape: Shape, dtype: Dtype, layout: Layout, device: Device,
    requires_grad: bool, error: type[Exception] = ValueError, argument: str = "M", chars: str = "fd",
) -> Tensor:  # fmt: skip
    """A window of M points; ``error`` is the class of errors about the length and the dtype, of which ``chars`` lists
    those that are allowed."""
    n = arg.integer(M, name, argument)
    if n < 0:
        raise error(f"{name}(): requires non-negative window length, got {argument}={n}")
    found = get_default_dtype() if dtype is None else dtype_argument(dtype, name, "dtype", 2)
    if found.numpy.char not in chars and not (found.numpy.kind == "V" and "V" in chars):
        kinds = "floating point dtypes" if "e" in chars else "float32 or float64 dtypes"
        raise error(f"{name}(): expects {kinds}, got: {found}")

    def allocate(extent: tuple[int, ...], target: np.dtype[Any]) -> Any:
        if n <= 1:
            return np.ones(extent, target)
        return np.broadcast_to(shape(np.arange(n), n - 1 if symmetric else n), extent).astype(target)

    return made(name, allocate, (n,), found, layout, device, requires_grad, False)


PARAMETERS = """M : int
    The number of points.
{own}sym : bool
    Whether the window is symmetric; a periodic one lacks the last point of a symmetric one of M + 1 points.
dtype : tensorplay.dtype, optional
    float32 or float64.
layout, device, requires_grad
    As for :func:`tensorplay.zeros`.

Returns
-------
Tensor
    Shape (M,); a single point is 1.

Raises
------
ValueError
    If M is negative{bad}, or for another dtype."""
OLD_PARAMETERS = """window_length : int
    The number of points.
periodic : bool
    Whether the window lacks the last point of a symmetric one of one point more.
{own}dtype : tensorplay.dtype, optional
    A floating one.
layout, device, pin_memory, requires_grad
    As for :func:`tensorplay.zeros`.

Returns
-------
Tensor
    Shape (window_length,); a single point is 1.

Raises
------
RuntimeError
    If the length is negative, or the dtype not a floating one."""


def documented(parameters: str, summary: str, formula: str, example: str, shows: str, own: str = "",
               bad: str = "") -> Callable[[Any], Any]:  # fmt: skip
    """Give a window function its documentation."""

    def document(fn: Any) -> Any:
        text = parameters.format(own=own, bad=bad)
        last = "M - 1 (M if not symmetric)" if parameters is PARAMETERS else "window_length (less 1 if not periodic)"
        notes = f"``{formula}``, where N is {last}." if "N" in formula else f"``{formula}``."
        fn.__doc__ = (f"{summary}\n\nParameters\n----------\n{text}\n\nNotes\n-----\n{notes}\n\nExamples\n--------\n"
                      f">>> import tensorplay as tp\n>>> {example}\n{shows}\n")  # fmt: skip
        return fn

    return document


public = operator(namespace="signal.windows", method=False, out=False)
package = operator(method=False, out=False)


def declare(name: str, shape: Shape, summary: str, formula: str, shows: str) -> Any:
    """A window without parameters of its own."""
    full_name = f"signal.windows.{name}"

    def made_window(
        M: int, *, sym: bool = True, dtype: Dtype = None, layout: Layout = None, device: Device = None,
        requires_grad: bool = False,
    ) -> Tensor:  # fmt: skip
        return window(full_name, M, sym, shape, dtype, layout, device, requires_grad)

    made_window.__name__ = made_window.__qualname__ = name
    return public(documented(PARAMETERS, summary, formula, f"tp.{full_name}(5)[1:4]", shows)(made_window))


BARTLETT = "A triangle.", "w[i] = 1 - abs(2 * i / N - 1)", "tensor([0.5000, 1.0000, 0.5000])"
BLACKMAN = (
    "A sum of three cosines.", "w[i] = 0.42 - 0.5 * cos(2 * pi * i / N) + 0.08 * cos(4 * pi * i / N)",
    "tensor([0.3400, 1.0000, 0.3400])",
)  # fmt: skip
HANN = "A raised cosine.", "w[i] = 0.5 - 0.5 * cos(2 * pi * i / N)", "tensor([0.5000, 1.0000, 0.5000])"
KAISER = (
    "A window near to the one with the most energy in its main lobe.",
    "w[i] = I0(beta * sqrt(1 - (2 * i / N - 1) ** 2)) / I0(beta)",
)

bartlett = declare("bartlett", bartlett_shape, *BARTLETT)
blackman = declare("blackman", cosines(0.42, 0.5, 0.08), *BLACKMAN)
cosine = declare(
    "cosine", cosine_shape, "Half a wave of the sine.", "w[i] = sin(pi * (i + 0.5) / (N + 1))",
    "tensor([0.8090, 1.0000, 0.8090])",
)  # fmt: skip
hamming = declare(
    "hamming", cosines(0.54, 0.46), "A raised cosine with steps at its ends.",
    "w[i] = 0.54 - 0.46 * cos(2 * pi * i / N)", "tensor([0.5400, 1.0000, 0.5400])",
)  # fmt: skip
hann = declare("hann", cosines(0.5, 0.5), *HANN)
nuttall = declare(
    "nuttall", cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411), "A sum of four cosines with low side lobes.",
    "w[i] = sum((-1)**k * a[k] * cos(2 * pi * k * i / N) for k in range(4)), "
    "a = (0.3635819, 0.4891775, 0.1365995, 0.0106411)", "tensor([0.2270, 1.0000, 0.2270])",
)  # fmt: skip


@public
@documented(
    PARAMETERS, "A decay from the middle to both sides.", "w[i] = exp(-abs(i - center) / tau)",
    "tp.signal.windows.exponential(5)", "tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])",
    bad=" or tau not positive, or there is a center of a symmetric window",
    own="""center : float, optional
    Where the largest value is; the middle by default, and always of a symmetric window.
tau : float
    The distance at which the value falls to 1/e.
""",
)  # fmt: skip
def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Dtype = None,
    layout: Layout = None, device: Device = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    if tau <= 0:
        raise ValueError(f"signal.windows.exponential(): Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError(f"signal.windows.exponential(): Center must be None for symmetric windows, got: {center}")

    def shape(at: Any, last: int) -> Any:
        return np.exp(-np.abs(at - (last / 2 if center is None else center)) / tau)

    return window("signal.windows.exponential", M, sym, shape, dtype, layout, device, requires_grad)


@public
@documented(
    PARAMETERS, "A Gaussian.", "w[i] = exp(-((i - N / 2) / std) ** 2 / 2)",
    "tp.signal.windows.gaussian(5)", "tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])",
    bad=" or std not positive",
    own="std : float\n    The standard deviation, in points.\n",
)  # fmt: skip
def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    if std <= 0:
        raise ValueError(f"signal.windows.gaussian(): Standard deviation must be positive, got: {std} instead.")

    def shape(at: Any, last: int) -> Any:
        return np.exp(-(((at - last / 2) / std) ** 2) / 2)

    return window("signal.windows.gaussian", M, sym, shape, dtype, layout, device, requires_grad)


@public
@documented(
    PARAMETERS, "A sum of cosines.", "w[i] = sum((-1)**k * a[k] * cos(2 * pi * k * i / N) for k in range(len(a)))",
    "tp.signal.windows.general_cosine(5, a=(0.5, 0.5))", "tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])",
    bad=" or there are no coefficients",
    own="a : sequence of float\n    The coefficients.\n",
)  # fmt: skip
def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    if not isinstance(a, Iterable):
        raise TypeError(f"signal.windows.general_cosine(): Coefficients must be a list/tuple, got {type(a).__name__}")
    coefficients = [float(value) for value in a]
    if not coefficients:
        raise ValueError("signal.windows.general_cosine(): Coefficients cannot be empty")
    shape = cosines(*coefficients)
    return window("signal.windows.general_cosine", M, sym, shape, dtype, layout, device, requires_grad)


@public
@documented(
    PARAMETERS, "A raised cosine.", "w[i] = alpha - (1 - alpha) * cos(2 * pi * i / N)",
    "tp.signal.windows.general_hamming(5, alpha=0.75)", "tensor([0.5000, 0.7500, 1.0000, 0.7500, 0.5000])",
    own="alpha : float\n    The mean over a period.\n",
)  # fmt: skip
def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    shape = cosines(alpha, 1.0 - alpha)
    return window("signal.windows.general_hamming", M, sym, shape, dtype, layout, device, requires_grad)


@public
@documented(
    PARAMETERS, *KAISER, "tp.signal.windows.kaiser(5, beta=2.)", "tensor([0.4387, 0.8348, 1.0000, 0.8348, 0.4387])",
    bad=" or beta",
    own="beta : float\n    The larger, the narrower.\n",
)  # fmt: skip
def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    if beta < 0:
        raise ValueError(f"signal.windows.kaiser(): beta must be non-negative, got: {beta} instead.")
    return window("signal.windows.kaiser", M, sym, kaiser_shape(beta), dtype, layout, device, requires_grad)


# ---- the package's own names


def old(name: str, window_length: Any, periodic: bool, shape: Shape, dtype: Dtype, layout: Layout, device: Device,
        pin_memory: bool, requires_grad: bool) -> Tensor:  # fmt: skip
    check_options(name, layout, pin_memory)
    return window(name, window_length, not periodic, shape, dtype, layout, device, requires_grad, RuntimeError,
                  "window_length", "efdV")  # fmt: skip


def declare_old(name: str, shape: Shape, summary: str, formula: str, shows: str) -> Any:
    """A window without parameters of its own, under the package's name."""

    def made_window(
        window_length: int, periodic: bool = True, *, dtype: Dtype = None, layout: Layout = None,
        device: Device = None, pin_memory: bool = False, requires_grad: bool = False,
    ) -> Tensor:  # fmt: skip
        return old(name, window_length, periodic, shape, dtype, layout, device, pin_memory, requires_grad)

    made_window.__name__ = made_window.__qualname__ = name
    return package(documented(OLD_PARAMETERS, summary, formula, f"tp.{name}(4)[1:]", shows)(made_window))


bartlett_window = declare_old("bartlett_window", bartlett_shape, *BARTLETT)
blackman_window = declare_old("blackman_window", cosines(0.42, 0.5, 0.08), *BLACKMAN)
hann_window = declare_old("hann_window", cosines(0.5, 0.5), *HANN)


@package
@documented(
    OLD_PARAMETERS, "A raised cosine with steps at its ends.", "w[i] = alpha - beta * cos(2 * pi * i / N)",
    "tp.hamming_window(4)", "tensor([0.0800, 0.5400, 1.0000, 0.5400])",
    own="alpha, beta : float\n    The mean, and half the height of the cosine.\n",
)  # fmt: skip
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Dtype = None,
    layout: Layout = None, device: Device = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    shape = cosines(alpha, beta)
    return old("hamming_window", window_length, periodic, shape, dtype, layout, device, pin_memory, requires_grad)


@package
@documented(
    OLD_PARAMETERS, *KAISER, "tp.kaiser_window(4, beta=2.)", "tensor([0.4387, 0.8348, 1.0000, 0.8348])",
    own="beta : float\n    The larger, the narrower.\n",
)  # fmt: skip
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    shape = kaiser_shape(beta)
    return old("kaiser_window", window_length, periodic, shape, dtype, layout, device, pin_memory, requires_grad)
