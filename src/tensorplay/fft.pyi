"""Made by tools/make_stubs.py."""

import builtins
from collections.abc import Sequence

from tensorplay.core.device import device as _device
from tensorplay.core.dtype import dtype as _dtype
from tensorplay.core.layout import layout as _layout
from tensorplay.core.tensor import Tensor as Tensor

def fft(input: Tensor, n: builtins.int | None = None, dim: builtins.int = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform."""
def fft2(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform over two dimensions."""
def fftfreq(n: builtins.int, d: builtins.float = 1.0, *, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """The frequencies of :func:`fft`, in cycles per unit of the distance ``d`` between points."""
def fftn(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform over several dimensions."""
def fftshift(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
    """A spectrum with frequency 0 in the middle."""
def hfft(input: Tensor, n: builtins.int | None = None, dim: builtins.int = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of a Hermitian signal, given by its half."""
def hfft2(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of a Hermitian signal, given by its half over two dimensions."""
def hfftn(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of a Hermitian signal, given by its half over several dimensions."""
def ifft(input: Tensor, n: builtins.int | None = None, dim: builtins.int = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform."""
def ifft2(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform over two dimensions."""
def ifftn(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform over several dimensions."""
def ifftshift(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
    """The inverse of :func:`fftshift`."""
def ihfft(input: Tensor, n: builtins.int | None = None, dim: builtins.int = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the discrete Fourier transform of a Hermitian signal: its half."""
def ihfft2(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the discrete Fourier transform of a Hermitian signal: its half over two dimensions."""
def ihfftn(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the discrete Fourier transform of a Hermitian signal: its half over several dimensions."""
def irfft(input: Tensor, n: builtins.int | None = None, dim: builtins.int = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the discrete Fourier transform of real input."""
def irfft2(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the discrete Fourier transform of real input over two dimensions."""
def irfftn(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the discrete Fourier transform of real input over several dimensions."""
def rfft(input: Tensor, n: builtins.int | None = None, dim: builtins.int = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of real input, its half of frequencies from 0 up."""
def rfft2(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of real input, its half of frequencies from 0 up over two dimensions."""
def rfftfreq(n: builtins.int, d: builtins.float = 1.0, *, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """The frequencies of :func:`rfft`, in cycles per unit of the distance ``d`` between points."""
def rfftn(input: Tensor, s: Sequence[builtins.int] | None = None, dim: Sequence[builtins.int] | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of real input, its half of frequencies from 0 up over several dimensions."""
