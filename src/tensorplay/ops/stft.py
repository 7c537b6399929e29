"""Fourier transforms of short pieces of a signal, and the signal back from them."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.carrier import Batched, Meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.tensor import Tensor
from . import arguments as arg
from .complex import is_complex
from .matrices import type_name
from .padding import pad
from .shape import transpose

NORM = {False: "backward", True: "ortho"}


def lengths(name: str, n_fft: Any, hop_length: Any, win_length: Any) -> tuple[int, int, int]:
    """The number of points of a transform, the step between pieces, and the length of the window."""
    points = arg.integer(n_fft, name, "n_fft", 2)
    hop = points // 4 if hop_length is None else arg.integer(hop_length, name, "hop_length", 3)
    length = points if win_length is None else arg.integer(win_length, name, "win_length", 4)
    if not 0 < length <= points:
        raise RuntimeError(f"{name}(): expected 0 < win_length <= n_fft={points}, but got win_length={length}")
    return points, hop, length


def padded_window(name: str, window: Any, length: int, points: int, like: Tensor) -> Tensor | None:
    """The window in the middle of ``points`` zeros; None where it is 1 everywhere."""
    if window is None:
        if length == points:
            return None
        window = like.new_ones(length, dtype=like.dtype.to_real())
    elif arg.tensor(window, name, "window", 5)._data.shape != (length,):
        raise RuntimeError(
            f"{name}(): expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{list(window._data.shape)}"
        )
    left = (points - length) // 2
    return F.pad(window, ((left, points - length - left),), 0) if length < points else window


@operator(out=False)
def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:  # fmt: skip
    """The short-time Fourier transform: of overlapping pieces of a signal, each under a window.

    Parameters
    ----------
    input : Tensor
        Shape (length,) or (batch, length), real or complex.
    n_fft : int
        The number of points of each transform.
    hop_length : int, optional
        The distance from one piece to the next; ``n_fft // 4`` by default.
    win_length : int, optional
        The length of the window, which is in the middle of a piece; ``n_fft`` by default.
    window : Tensor, optional
        Shape (win_length,); 1 everywhere by default.
    center : bool
        Whether the signal is padded by ``n_fft // 2`` at both ends, so that piece t has t * hop_length in its middle.
    pad_mode : str
        How it is padded; see :func:`tensorplay.nn.functional.pad`.
    normalized : bool
        Whether the result is divided by the root of ``n_fft``.
    onesided : bool, optional
        Whether only the frequencies from 0 up are returned; so it is where input and window are real.
    return_complex : bool, optional
        Whether the result is complex; must be given for real input. If not, its parts are a last dimension of 2.
    align_to_window : bool, optional
        Without ``center``: whether the first piece begins where its window does, not where its zeros do.

    Returns
    -------
    Tensor
        Shape (batch, frequencies, pieces).

    Raises
    ------
    RuntimeError
        If the lengths do not fit each other or the input.

    Notes
    -----
    ``X[k, t] = sum(window[j] * input[t * hop_length + j] * exp(-2j * pi * j * k / n_fft) for j in range(n_fft))``

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.stft(tp.ones(6), 4, 2, window=tp.tensor([0., 1., 2., 1.]), center=False, return_complex=True).real
    tensor([[ 4.,  4.],
            [-2., -2.],
            [ 0.,  0.]])
    """
    shape = arg.tensor(input, "stft")._data.shape
    if return_complex is None:
        if not (is_complex(input) or (isinstance(window, Tensor) and is_complex(window))):
            raise RuntimeError(
                "stft() requires the return_complex parameter be given for real inputs; "
                "return_complex=True is the usual one"
            )
        return_complex = True
    if input._data.dtype.char not in "fdFD":
        if input._data.dtype.kind in "fV":
            raise RuntimeError(f"stft(): Unsupported dtype {type_name(input)}; convert the input to float32 first")
        raise RuntimeError(f"stft(): expected a tensor of floating point or complex values, got {type_name(input)}")
    if len(shape) not in (1, 2):
        raise RuntimeError(f"stft(): expected a 1D or 2D tensor, got one of shape {list(shape)}")
    if center and align_to_window is not None:
        raise RuntimeError("stft(): align_to_window should only be set when center = false")
    points, hop, length = lengths("stft", n_fft, hop_length, win_length)
    taper = padded_window("stft", window, length, points, input)
    margin = points // 2 if center else (points - length) // 2 if align_to_window else 0
    if margin:
        x = F.reshape(input, (1, *(1,) * (2 - len(shape)), *shape))
        x = pad(x, (margin, margin), pad_mode if center else "constant")
        input = F.reshape(x, (*shape[:-1], x._data.shape[-1]))
    extent = input._data.shape[-1]
    if not 0 < points <= extent:
        raise RuntimeError(f"stft(): expected 0 < n_fft <= {extent}, the number of samples, but got n_fft={points}")
    if hop <= 0:
        raise RuntimeError(f"stft(): expected hop_length > 0, but got hop_length={hop}")
    pieces = F.unfold(input, -1, points, hop)
    if taper is not None:
        pieces = pieces * taper
    if onesided is None:
        onesided = not is_complex(pieces)
    if onesided and is_complex(pieces):
        raise RuntimeError("stft(): Cannot have onesided output if window or input is complex")
    transform = F.fft_r2c if onesided else F.fft_c2c
    out = transpose(transform(pieces, (-1,), True, NORM[bool(normalized)]), -2, -1)
    return out if return_complex else F.view_as_real(out)


@operator(out=False)
def istft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
    length: int | None = None, return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal from its short-time Fourier transform, the best fit where no signal has such a transform.

    Parameters
    ----------
    input : Tensor
        Shape (frequencies, pieces) or (batch, frequencies, pieces), complex: what :func:`stft` returns.
    n_fft, hop_length, win_length, window, center, normalized
        What :func:`stft` was given.
    onesided : bool, optional
        Whether there are only the frequencies from 0 up; by default told from the input's shape.
    length : int, optional
        The length of the signal; zeros are added where the pieces do not reach so far. By default that of the pieces.
    return_complex : bool
        Whether the signal is complex.

    Returns
    -------
    Tensor
        Shape (length,) or (batch, length).

    Raises
    ------
    RuntimeError
        If the lengths do not fit each other or the input, or the windows do not reach a part of the signal.

    Notes
    -----
    The pieces under their windows, added up, over the sum of the squared windows [1]_.

    .. [1] D. W. Griffin, J. S. Lim, "Signal estimation from modified short-time Fourier transform", IEEE Transactions
       on Acoustics, Speech, and Signal Processing 32 (1984).

    Examples
    --------
    >>> import tensorplay as tp
    >>> window = tp.tensor([0., 1., 2., 1.])
    >>> spectrum = tp.stft(tp.arange(8.), 4, 1, window=window, return_complex=True)
    >>> tp.istft(spectrum, 4, 1, window=window)
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    shape = arg.tensor(input, "istft")._data.shape
    if not is_complex(input):
        raise RuntimeError("istft(): requires a complex-valued input tensor, as stft returns with return_complex=True")
    if isinstance(window, Tensor) and is_complex(window) and not return_complex:
        raise RuntimeError("istft(): Complex windows are incompatible with return_complex=False")
    if len(shape) not in (2, 3):
        raise RuntimeError(f"istft(): expected a tensor with 2 or 3 dimensions, but got shape {list(shape)}")
    if 0 in shape:
        raise RuntimeError(f"istft(): input tensor cannot be empty, got shape {list(shape)}")
    points, hop, extent = lengths("istft", n_fft, hop_length, win_length)
    if not 0 < hop <= extent:
        raise RuntimeError(f"istft(): expected 0 < hop_length <= win_length={extent}, but got hop_length={hop}")
    frequencies, count = shape[-2:]
    if onesided is None:
        onesided = frequencies != points
    if onesided and return_complex:
        raise RuntimeError("istft(): Cannot have onesided output if window or input is complex")
    expected = points // 2 + 1 if onesided else points
    if frequencies != expected:
        raise RuntimeError(
            f"istft(): expected the frequency dimension (the last but one) of the input to have {expected} entries for "
            f"n_fft={points} and onesided={onesided}, but got {frequencies}"
        )
    taper = padded_window("istft", window, extent, points, input)
    spectra, norm = transpose(input, -2, -1), NORM[bool(normalized)]
    if return_complex:
        pieces = F.fft_c2c(spectra, (-1,), False, norm)
    else:
        half = F.slice(spectra, (*(slice(None),) * (len(shape) - 1), slice(0, points // 2 + 1)))
        pieces = F.fft_c2r(half, (-1,), points, False, norm)
    if taper is None:
        taper = input.new_ones(points, dtype=pieces.dtype)
    whole = points + hop * (count - 1)
    start = points // 2 if center else 0
    stop = whole - start if length is None else start + arg.integer(length, "istft", "length", 9)
    kept = slice(start, min(stop, whole))
    signal = F.fold_windows(pieces * taper, (*shape[:-2], whole), -1, points, hop)[..., kept]
    weight = F.fold_windows(F.expand(taper * taper, (count, points)), (whole,), -1, points, hop)[kept]
    if not weight.numel():
        raise RuntimeError(f"istft(): there is no sample between {start} and {stop}, got length={length}")
    lowest = weight.abs().min()
    if not isinstance(lowest.detach()._data, (Batched, Meta)) and lowest.item() <= 1e-11:
        raise RuntimeError(
            f"istft(): window overlap add min: {lowest.item()}; windows reach every sample where hop_length is small "
            "enough and, for windows that begin with 0, center=True"
        )
    signal = signal / weight
    if stop > whole:
        warnings.warn(f"istft(): The signal has {whole - start} samples, less than length={length}; zeros are added at "
                      "its end", stacklevel=2)  # fmt: skip
        signal = F.pad(signal, ((0, stop - whole),), 0)
    return signal
