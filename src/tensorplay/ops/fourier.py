"""Discrete Fourier transforms: the names of ``torch.fft``.

Three primitives, each over several dimensions: complex to complex, real to one half of a Hermitian spectrum, and from
such a half to real. ``forward`` is the sign of the exponent, ``norm`` says which of the two directions is scaled. The
matrix of a transform is symmetric, so every rule is one of the three again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.carrier import Meta
from ..core.dtype import dtype_argument, get_default_dtype
from ..core.namespace import F
from ..core.operator import operator, write_out
from ..core.primitive import primitive
from ..core.tensor import Tensor
from ..core.threads import ENOUGH, workers
from . import arguments as arg
from .arguments import number
from .complex import is_complex
from .factories import Device, Dtype, Layout, made
from .matrices import complex_of, constant, numpy_dtype, real_of, type_name
from .shape import roll

OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def threads(input: Any) -> int:
    """How many share a transform."""
    return workers.count if input.size >= ENOUGH else 1


# ---- complex to complex; of real input too, where it is faster


def c2c_kernel(xp: Any, input: Any, *, dims: tuple[int, ...], forward: bool, norm: str) -> Any:
    if not dims:
        return input.astype(complex_of(input.dtype))
    import scipy.fft as library

    n = threads(input)
    if len(dims) == 1:
        out = (library.fft if forward else library.ifft)(input, axis=dims[0], norm=norm, workers=n)
    else:
        out = (library.fftn if forward else library.ifftn)(input, axes=dims, norm=norm, workers=n)
    if input.dtype.kind == "f":  # what is real by symmetry comes with an imaginary part of -0, and so an angle of -pi
        own = [slice(None)] * input.ndim
        for d in dims:
            own[d] = slice(None, None, max(input.shape[d] // 2, 1)) if input.shape[d] % 2 == 0 else slice(1)
        out[tuple(own)] += 0
    return out


def c2c_vjp(F: Any, g: Any, input_dtype: Any, dims: tuple[int, ...], forward: bool, norm: str) -> Any:
    out = F.fft_c2c(g, dims, forward, norm)
    return out if input_dtype.kind == "c" else F.real(out)


def c2c_meta(input: Any, dims: tuple[int, ...], forward: bool, norm: str) -> Meta:
    return Meta(input.shape, complex_of(input.dtype))


primitive("fft_c2c", c2c_kernel, vjp={"input": c2c_vjp}, jvp="linear", batch="same", meta=c2c_meta,
          node_name="FftC2CBackward0")  # fmt: skip

# ---- real to half a spectrum, and back: of the last of the dimensions there are only the frequencies up to n // 2


def r2c_kernel(xp: Any, input: Any, *, dims: tuple[int, ...], forward: bool, norm: str) -> Any:
    import scipy.fft as library

    n = threads(input)
    if len(dims) == 1:
        return (library.rfft if forward else library.ihfft)(input, axis=dims[0], norm=norm, workers=n)
    return (library.rfftn if forward else library.ihfftn)(input, axes=dims, norm=norm, workers=n)


def c2r_kernel(xp: Any, input: Any, *, dims: tuple[int, ...], size: int, forward: bool, norm: str) -> Any:
    import scipy.fft as library

    n = threads(input)
    if len(dims) == 1:
        return (library.hfft if forward else library.irfft)(input, size, axis=dims[0], norm=norm, workers=n)
    sizes = (*(input.shape[d] for d in dims[:-1]), size)
    return (library.hfftn if forward else library.irfftn)(input, sizes, axes=dims, norm=norm, workers=n)


def counted(F: Any, half: Any, dim: int, size: int, weight: float) -> Any:
    """Half a spectrum with a weight on the frequencies that stand for two: all but 0 and, of an even size, the last."""
    weights = np.full(half.shape[dim], weight, real_of(numpy_dtype(half)))
    weights[0] = 1
    if size % 2 == 0:
        weights[size // 2 :] = 1
    return half * constant(F, weights.reshape(-1, *(1,) * (-1 - dim)))


def r2c_vjp(F: Any, g: Any, input_shape: tuple[int, ...], dims: tuple[int, ...], forward: bool, norm: str) -> Any:
    size = input_shape[dims[-1]]
    return F.fft_c2r(counted(F, g, dims[-1], size, 0.5), dims, size, not forward, OPPOSITE[norm])


def c2r_vjp(F: Any, g: Any, dims: tuple[int, ...], size: int, forward: bool, norm: str) -> Any:
    return counted(F, F.fft_r2c(g, dims, not forward, OPPOSITE[norm]), dims[-1], size, 2.0)


def r2c_meta(input: Any, dims: tuple[int, ...], forward: bool, norm: str) -> Meta:
    return resized_meta(input, dims[-1], input.shape[dims[-1]] // 2 + 1, complex_of(input.dtype))


def c2r_meta(input: Any, dims: tuple[int, ...], size: int, forward: bool, norm: str) -> Meta:
    return resized_meta(input, dims[-1], size, real_of(input.dtype))


def resized_meta(input: Any, dim: int, size: int, dtype: Any) -> Meta:
    shape = list(input.shape)
    shape[dim] = size
    return Meta(tuple(shape), dtype)


primitive("fft_r2c", r2c_kernel, vjp={"input": r2c_vjp}, jvp="linear", batch="same", holomorphic=False, meta=r2c_meta,
          node_name="FftR2CBackward0")  # fmt: skip
primitive("fft_c2r", c2r_kernel, vjp={"input": c2r_vjp}, jvp="linear", batch="same", holomorphic=False, meta=c2r_meta,
          node_name="FftC2RBackward0")  # fmt: skip

# ---- arguments


def numbers(input: Any, name: str) -> Tensor:
    """The input in a dtype that can be transformed; integers become the default float."""
    char = arg.tensor(input, name)._data.dtype.char
    if char in "fdFD":
        return input
    if char == "e" or input._data.dtype.kind == "V":
        raise RuntimeError(f"{name}(): Unsupported dtype {type_name(input)}; convert the input to float32 first")
    return input.to(get_default_dtype())


def transform_norm(norm: Any, name: str) -> str:
    if norm is None:
        return "backward"
    if not isinstance(norm, str):
        raise TypeError(f"{name}(): argument 'norm' (position 4) must be str, not {type(norm).__name__}")
    if norm not in OPPOSITE:
        raise RuntimeError(f"{name}(): Invalid normalization mode: {norm!r}; use 'backward', 'forward' or 'ortho'")
    return norm


def dimensions(dim: Any, ndim: int, name: str, position: int) -> tuple[int, ...]:
    """Dimensions, counted from the end, of a tensor that has some."""
    dims = arg.integers(dim, name, "dim", position)
    if dims and not ndim:
        raise IndexError(f"{name}(): Dimension specified as {dims[0]} but tensor has no dimensions")
    return tuple(arg.dimension(d, ndim, name) for d in dims)


def transform_dims(s: Any, dim: Any, ndim: int, name: str) -> tuple[tuple[int, ...], list[int]]:
    """The dimensions, counted from the end, and the size asked for in each, -1 for its own."""
    sizes = None if s is None else arg.integers(s, name, "s", 2)
    if dim is None:
        count = ndim if sizes is None else len(sizes)
        if count > ndim:
            raise RuntimeError(f"{name}(): Got shape with {count} values but input tensor only has {ndim} dimensions.")
        dims = tuple(range(-count, 0))
    else:
        dims = dimensions(dim, ndim, name, 3)
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"{name}(): FFT dims must be unique, got {dim}")
        if sizes is not None and len(sizes) != len(dims):
            raise RuntimeError(
                f"{name}(): When given, dim and shape arguments must have the same length, got {len(dims)} and "
                f"{len(sizes)}"
            )
    return dims, [-1] * len(dims) if sizes is None else list(sizes)


def resized(input: Tensor, dims: Sequence[int], sizes: Sequence[int], name: str) -> Tensor:
    """The input cut off, or filled up with zeros, to sizes; -1 leaves a dimension as it is."""
    shape = input._data.shape
    index, pads = [slice(None)] * len(shape), [(0, 0)] * len(shape)
    for d, n in zip(dims, sizes, strict=True):
        if n < 1 and (n != -1 or not shape[d]):
            raise RuntimeError(f"{name}(): Invalid number of data points ({n if n != -1 else shape[d]}) specified")
        if 0 < n < shape[d]:
            index[d] = slice(0, n)
        elif n > shape[d]:
            pads[d] = (0, n - shape[d])
    if index != [slice(None)] * len(shape):
        input = F.slice(input, tuple(index))
    return F.pad(input, tuple(pads), 0) if pads != [(0, 0)] * len(shape) else input


def stored(name: str, value: Tensor, out: Any) -> Tensor:
    """The value, or ``out`` that received it, which must be complex where the value is, and real where that is."""
    if out is None:
        return value
    if arg.tensor(out, name, "out").is_complex() is not value.is_complex():
        kind = "complex" if value.is_complex() else "floating point"
        raise RuntimeError(f"{name} expects a {kind} output tensor, but got {type_name(out)}")
    return write_out(name, value, out)


def transform(name: str, kind: str, forward: bool, input: Any, s: Any, dim: Any, norm: Any, out: Any) -> Tensor:
    """What all the public functions do; ``kind`` is "c2c", "r2c" or "c2r"."""
    x, norm = numbers(input, name), transform_norm(norm, name)
    dims, sizes = transform_dims(s, dim, x._data.ndim, name)
    if kind == "c2c":
        return stored(name, F.fft_c2c(resized(x, dims, sizes, name), dims, forward, norm), out)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    if kind == "r2c":
        if is_complex(x):
            raise RuntimeError(f"{name} expects a real input tensor, but got {type_name(x)}")
        return stored(name, F.fft_r2c(resized(x, dims, sizes, name), dims, forward, norm), out)
    size = sizes[-1] if sizes[-1] != -1 else 2 * (x._data.shape[dims[-1]] - 1)
    if size < 1:
        raise RuntimeError(f"{name}(): Invalid number of data points ({size}) specified")
    sizes[-1] = size // 2 + 1
    x = x if is_complex(x) else F.cast(x, complex_of(x._data.dtype))
    return stored(name, F.fft_c2r(resized(x, dims, sizes, name), dims, size, forward, norm), out)


# ---- the public functions: of each of six transforms the form over one, two and several dimensions

DOCUMENTATION = """{summary}{over}.

Parameters
----------
input : Tensor
    {input}
{size}
norm : {{"backward", "forward", "ortho"}}, optional
    Whether the inverse transforms are scaled by 1/n ("backward", the default), the forward ones ("forward"), or both by
    1/sqrt(n); n is the number of points.
out : Tensor, optional
    Receives the result.

Returns
-------
Tensor
    {returns}

Raises
------
RuntimeError
    If there are no points, dimensions repeat, or the dtype does not suit.
IndexError
    If a dimension does not exist.

Notes
-----
``y[k] = sum(x[j] * exp({sign}2j * pi * j * k / n) for j in range(n))``, times the scale, along each dimension.

Examples
--------
>>> import tensorplay as tp
>>> {example}
{shows}
"""
ONE = """n : int, optional
    The number of points: the input is cut off or filled up with zeros{half}.
dim : int
    The dimension."""
SEVERAL = """s : sequence of int, optional
    The number of points of each dimension: the input is cut off or filled up with zeros{half}; -1 leaves it as it is.
dim : sequence of int, optional
    The dimensions; {default}{last}."""
HALF = ", to n // 2 + 1 entries; twice the input's size less 2 by default"
LAST = ". Of the last one there is only the half of frequencies"
INPUTS = {
    "c2c": "Real or complex.",
    "r2c": "Real.",
    "c2r": "The half of a Hermitian spectrum; the rest is its conjugate.",
}
RETURNS = {
    "c2c": "Complex, of the (resized) input's shape.",
    "r2c": "Complex, with n // 2 + 1 entries along the {last}dimension.",
    "c2r": "Real, with n points along the {last}dimension.",
}


def documented(fn: Any, name: str, kind: str, forward: bool, over: str, size: str, summary: str,
               example: str, shows: str) -> Callable[..., Tensor]:  # fmt: skip
    """Register a transform."""
    half, last, default = kind == "c2r", kind != "c2c", "the last two" if name[-1] == "2" else "all by default"
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = DOCUMENTATION.format(
        summary=summary, over=over, input=INPUTS[kind], returns=RETURNS[kind].format(last="last " * (size is not ONE)),
        size=size.format(half=HALF * half, last=LAST * last, default=default), sign="-" * forward, example=example,
        shows=shows,
    )  # fmt: skip
    return operator(namespace="fft", method=False, out=False)(fn)


def declare(name: str, kind: str, forward: bool, summary: str, *examples: tuple[str, str]) -> list[Any]:
    """The three forms of a transform."""
    one_name, two_name, several_name = f"fft.{name}", f"fft.{name}2", f"fft.{name}n"

    def one(
        input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        if n == -1:
            raise RuntimeError(f"{one_name}(): Invalid number of data points (-1) specified")
        sizes = None if n is None else (arg.integer(n, one_name, "n", 2),)
        return transform(one_name, kind, forward, input, sizes, (arg.integer(dim, one_name, "dim", 3),), norm, out)

    def two(
        input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = (-2, -1), norm: str | None = None, *,
        out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        return transform(two_name, kind, forward, input, s, dim, norm, out)

    def several(
        input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None, norm: str | None = None, *,
        out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        return transform(several_name, kind, forward, input, s, dim, norm, out)

    forms = (
        (one, "", "", ONE),
        (two, "2", " over two dimensions", SEVERAL),
        (several, "n", " over several dimensions", SEVERAL),
    )
    return [documented(fn, name + suffix, kind, forward, over, size, summary, *example)
            for (fn, suffix, over, size), example in zip(forms, examples, strict=True)]  # fmt: skip


fft, fft2, fftn = declare(
    "fft", "c2c", True, "The discrete Fourier transform",
    ("tp.fft.fft(tp.tensor([1., 2., 3., 5.])).imag", "tensor([ 0.,  3.,  0., -3.])"),
    ("tp.fft.fft2(tp.ones(2, 2)).real.tolist()", "[[4.0, 0.0], [0.0, 0.0]]"),
    ("tp.fft.fftn(tp.ones(2, 2), dim=(0,)).real.tolist()", "[[2.0, 2.0], [0.0, 0.0]]"),
)  # fmt: skip
ifft, ifft2, ifftn = declare(
    "ifft", "c2c", False, "The inverse discrete Fourier transform",
    ("tp.fft.ifft(tp.tensor([4., 0., 0., 0.])).real", "tensor([1., 1., 1., 1.])"),
    ("tp.fft.ifft2(tp.fft.fft2(tp.ones(2, 2))).real.tolist()", "[[1.0, 1.0], [1.0, 1.0]]"),
    ("tp.fft.ifftn(tp.ones(2, 2), dim=(0,)).real.tolist()", "[[1.0, 1.0], [0.0, 0.0]]"),
)  # fmt: skip
rfft, rfft2, rfftn = declare(
    "rfft", "r2c", True, "The discrete Fourier transform of real input, its half of frequencies from 0 up",
    ("tp.fft.rfft(tp.tensor([1., 2., 3., 5.]))", "tensor([11.+0.j, -2.+3.j, -3.+0.j])"),
    ("tp.fft.rfft2(tp.ones(2, 2)).real.tolist()", "[[4.0, 0.0], [0.0, 0.0]]"),
    ("tp.fft.rfftn(tp.ones(2, 2), dim=(0,)).real.tolist()", "[[2.0, 2.0], [0.0, 0.0]]"),
)  # fmt: skip
irfft, irfft2, irfftn = declare(
    "irfft", "c2r", False, "The inverse of the discrete Fourier transform of real input",
    ("tp.fft.irfft(tp.tensor([11, -2 + 3j, -3]))", "tensor([1., 2., 3., 5.])"),
    ("tp.fft.irfft2(tp.tensor([[4., 0.], [0., 0.]])).tolist()", "[[1.0, 1.0], [1.0, 1.0]]"),
    ("tp.fft.irfftn(tp.tensor([[3., 6.], [0., 0.]]), (3,), (0,)).tolist()", "[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]"),
)  # fmt: skip
hfft, hfft2, hfftn = declare(
    "hfft", "c2r", True, "The discrete Fourier transform of a Hermitian signal, given by its half",
    ("tp.fft.hfft(tp.tensor([2, 1 + 1j, 0]))", "tensor([4., 4., 0., 0.])"),
    ("tp.fft.hfft2(tp.tensor([[4., 0.], [0., 0.]])).tolist()", "[[4.0, 4.0], [4.0, 4.0]]"),
    ("tp.fft.hfftn(tp.tensor([[3., 6.], [0., 0.]]), (3,), (0,)).tolist()", "[[3.0, 6.0], [3.0, 6.0], [3.0, 6.0]]"),
)  # fmt: skip
ihfft, ihfft2, ihfftn = declare(
    "ihfft", "r2c", False, "The inverse of the discrete Fourier transform of a Hermitian signal: its half",
    ("tp.fft.ihfft(tp.tensor([4., 4., 0., 0.])).real", "tensor([2., 1., 0.])"),
    ("tp.fft.ihfft2(tp.ones(2, 2)).real.tolist()", "[[1.0, 0.0], [0.0, 0.0]]"),
    ("tp.fft.ihfftn(tp.ones(2, 2), dim=(0,)).real.tolist()", "[[1.0, 1.0], [0.0, 0.0]]"),
)  # fmt: skip

# ---- frequencies


def frequencies(
    name: str, n: Any, d: Any, start: Callable[[int], Any], out: Tensor | None, dtype: Dtype, layout: Layout,
    device: Device, requires_grad: bool,
) -> Tensor:  # fmt: skip
    """The numbers ``start(n)``, divided by ``n * d``."""
    n, step = arg.integer(n, name, "n"), n * number(d, name, "d", 2)
    if dtype is not None and dtype_argument(dtype, name, "dtype", 4).numpy.kind not in "fcV":
        raise RuntimeError(f"{name}() requires a floating point or complex dtype, got {dtype}")

    def allocate(shape: tuple[int, ...], target: np.dtype[Any]) -> Any:
        with np.errstate(all="ignore"):
            return np.divide(start(n), step).astype(target)

    return made(name, allocate, (len(start(n)) if n >= 0 else n,), dtype, layout, device, requires_grad, False, out)


@operator(namespace="fft", method=False, out=False)
def fftfreq(
    n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of :func:`fft`, in cycles per unit of the distance ``d`` between points.

    Parameters
    ----------
    n : int
        The number of points.
    d : float
        The distance between them.
    out, dtype, layout, device, requires_grad
        As for :func:`tensorplay.zeros`; the dtype is a floating one.

    Returns
    -------
    Tensor
        Shape (n,): first those from 0 up, then the negative ones.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return frequencies("fft.fftfreq", n, d, lambda n: (np.arange(n) + n // 2) % max(n, 1) - n // 2, out, dtype, layout,
                       device, requires_grad)  # fmt: skip


@operator(namespace="fft", method=False, out=False)
def rfftfreq(
    n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of :func:`rfft`, in cycles per unit of the distance ``d`` between points.

    Parameters
    ----------
    n : int
        The number of points.
    d : float
        The distance between them.
    out, dtype, layout, device, requires_grad
        As for :func:`tensorplay.zeros`; the dtype is a floating one.

    Returns
    -------
    Tensor
        Shape (n // 2 + 1,).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return frequencies(
        "fft.rfftfreq", n, d, lambda n: np.arange(n // 2 + 1), out, dtype, layout, device, requires_grad
    )


def shifted(input: Tensor, dim: Any, name: str, shift: Callable[[int], int]) -> Tensor:
    """The input rolled along dimensions, all by default, by ``shift`` of their sizes."""
    shape = arg.tensor(input, name)._data.shape
    dims = tuple(range(-len(shape), 0)) if dim is None else dimensions(dim, len(shape), name, 2)
    if not dims:
        raise RuntimeError(f"{name}(): there is no dimension to shift")
    return roll(input, tuple(shift(shape[d]) for d in dims), dims)


@operator(namespace="fft", method=False, out=False)
def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A spectrum with frequency 0 in the middle.

    Parameters
    ----------
    input : Tensor
        In the order of :func:`fftfreq`.
    dim : int or sequence of int, optional
        The dimensions; all by default.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.fft.fftshift(tp.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return shifted(input, dim, "fft.fftshift", lambda n: n // 2)


@operator(namespace="fft", method=False, out=False)
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of :func:`fftshift`.

    Parameters
    ----------
    input : Tensor
        With frequency 0 in the middle.
    dim : int or sequence of int, optional
        The dimensions; all by default.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.fft.ifftshift(tp.tensor([-2, -1, 0, 1]))
    tensor([ 0,  1, -2, -1])
    """
    return shifted(input, dim, "fft.ifftshift", lambda n: (n + 1) // 2)
