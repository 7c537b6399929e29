"""Resampling of images: interpolation along each dimension, and at given places."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import batch_size, expand_to_batch, primitive
from ..core.tensor import Tensor
from . import arguments as arg
from . import padding, pool  # noqa: F401  # register take_dim and map_dim

functional = operator(namespace="nn.functional", method=False, out=False)

# ---- weights of the entries of one dimension, as a matrix (n, out)


def triangle(x: Any) -> Any:
    return np.maximum(1 - np.abs(x), 0)


def cubic(a: float) -> Callable[[Any], Any]:
    """The cubic convolution kernel (Keys, 1981)."""

    def kernel(x: Any) -> Any:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0))

    return kernel


def places(n: int, out: int, align_corners: bool, scale: float) -> Any:
    """Where in the input, between its entries, each entry of the output lies."""
    if align_corners:
        return np.arange(out) * ((n - 1) / (out - 1) if out > 1 else 0.0)
    return (np.arange(out) + 0.5) * scale - 0.5


def gathered(n: int, at: Any, weights: Any) -> Any:
    """The matrix that adds up entries with weights; both are (taps, out), and places outside are those at the edge."""
    matrix = np.zeros((n, at.shape[1]))
    np.add.at(matrix, (at.clip(0, n - 1), np.arange(at.shape[1])), weights)
    return matrix


def linear_matrix(n: int, out: int, align_corners: bool, scale: float) -> Any:
    x = np.maximum(places(n, out, align_corners, scale), 0)
    low = np.minimum(np.floor(x).astype(np.int64), n - 1)
    part = np.clip(x - low, 0, 1)
    return gathered(n, np.stack([low, low + 1]), np.stack([1 - part, part]))


def cubic_matrix(n: int, out: int, align_corners: bool, scale: float) -> Any:
    x = places(n, out, align_corners, scale)
    low = np.floor(x).astype(np.int64)
    at = low + np.arange(-1, 3)[:, None]
    return gathered(n, at, cubic(-0.75)(x - at))


def smoothed_matrix(n: int, out: int, align_corners: bool, scale: float, kernel: Any, reach: int) -> Any:
    """With antialiasing: where the image shrinks, the kernel widens."""
    if align_corners:
        scale = (n - 1) / (out - 1) if out > 1 else 0.0
    widening = max(scale, 1.0)
    centre = ((np.arange(out) + 0.5) * scale)[None]
    at = np.arange(n)[:, None]
    first = np.maximum((centre - reach * widening / 2 + 0.5).astype(np.int64), 0)
    last = np.minimum((centre + reach * widening / 2 + 0.5).astype(np.int64), n)
    weights = np.where((at >= first) & (at < last), kernel((at - centre + 0.5) / widening), 0)
    total = weights.sum(0, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def nearest_index(n: int, out: int, scale: float, exact: bool) -> Any:
    steps = np.arange(out, dtype=np.float32) + np.float32(0.5 if exact else 0)
    return np.minimum(np.floor(steps * np.float32(scale)).astype(np.int64), n - 1)


# ---- interpolate

MODES = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "bicubic": (2,),
    "trilinear": (3,),
    "area": (1, 2, 3),
}


@functional
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize sequences, images or volumes.

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, ...) with one, two or three more dimensions.
    size : int or tuple, optional
        The new size; else ``scale_factor`` gives it.
    scale_factor : float or tuple, optional
        The new size relative to the old one.
    mode : {"nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"}
    align_corners : bool, optional
        Whether the first and the last entries keep their places, rather than the edges of the pixels.
    recompute_scale_factor : bool, optional
        Use the ratio of the sizes, which are integers, rather than ``scale_factor`` itself.
    antialias : bool
        Average where the image shrinks; "bilinear" and "bicubic" only.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.interpolate(tp.tensor([[[1., 3.]]]), size=4, mode="linear", align_corners=False)
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    shape = arg.tensor(input, "interpolate")._data.shape
    n = len(shape) - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "interpolate(): align_corners option can only be set with the interpolating modes: linear | bilinear | "
                "bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    out, ratios = output_size(shape[2:], size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic") and n == 2):
        raise ValueError(
            "interpolate(): Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as "
            "input"
        )
    if mode not in MODES or n not in MODES[mode]:
        raise NotImplementedError(
            f"interpolate(): Input Error: Only 3D, 4D and 5D input Tensors supported (got {len(shape)}D) for the "
            f"modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
        )
    if min(out) < 1 or 0 in shape[1:]:
        raise RuntimeError(
            f"interpolate(): Input and output sizes should be greater than 0, but got input (H, W): {list(shape[2:])} "
            f"output (H, W): {list(out)}"
        )
    if mode == "area":
        return pool.adaptive_means("interpolate", n, input, out)
    kind = input._data.dtype.kind
    if kind in "bc" or (kind in "iu" and (input._data.dtype != np.uint8 or (mode in ("linear", "trilinear")))):
        raise NotImplementedError(f'interpolate(): "{mode}" not implemented for {input.dtype}')
    result, of_bytes = input, kind == "u" and not mode.startswith("nearest")
    for dim in range(-1, -1 - n, -1):
        old, new, ratio = shape[dim], out[dim], ratios[dim]
        if mode.startswith("nearest"):
            index = nearest_index(old, new, ratio, mode == "nearest-exact")
            if new != old or (index != np.arange(old)).any():
                result = F.take_dim(result, index, dim)
            continue
        corners = bool(align_corners)
        if antialias:
            kernel, reach = (triangle, 2) if mode == "bilinear" else (cubic(-0.5), 4)
            matrix = smoothed_matrix(old, new, corners, ratio, kernel, reach)
        else:
            matrix = (cubic_matrix if mode == "bicubic" else linear_matrix)(old, new, corners, ratio)
        if of_bytes:  # images of bytes are bytes again after each dimension
            result = F.to_bytes(F.map_dim(F.cast(result, np.dtype(np.float64)), in_16_bits(matrix), dim))
        else:
            result = F.map_dim(result, matrix, dim)
    return input * 1 if result is input else result


def in_16_bits(weights: Any) -> Any:
    """Weights rounded to the fixed-point numbers that images of bytes are multiplied with."""
    unit = 2.0 ** (14 - math.floor(math.log2(max(float(np.abs(weights).max()), 2.0**-8))))
    return np.trunc(weights * unit + np.copysign(0.5, weights)) / unit


primitive("to_bytes", lambda xp, input: np.floor(input + 0.5).clip(0, 255).astype(np.uint8), batch="same")


def output_size(
    old: tuple[int, ...], size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The new size, and how far in the input one step of the output goes."""
    n = len(old)
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate(): either size or scale_factor should be defined, and only one of both")
    if size is not None:
        if recompute:
            raise ValueError("interpolate(): recompute_scale_factor is not meaningful with an explicit size.")
        out = tuple(arg.integers(size, "interpolate", "size", 2))
        out = out * n if len(out) == 1 and not isinstance(size, (tuple, list)) else out
        if len(out) != n:
            raise ValueError(
                "interpolate(): Input and output must have the same number of spatial dimensions, but got input with "
                f"spatial dimensions of {list(old)} and output size of {list(out)}"
            )
        return out, tuple(a / b if b else 1.0 for a, b in zip(old, out, strict=True))
    factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
    if len(factors) != n:
        raise ValueError(
            "interpolate(): Input and scale_factor must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(old)} and scale_factor of shape {list(factors)}"
        )
    out = tuple(math.floor(a * float(f)) for a, f in zip(old, factors, strict=True))
    if recompute:
        return out, tuple(a / b if b else 1.0 for a, b in zip(old, out, strict=True))
    return out, tuple(1 / f for f in factors)


@functional
def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """:func:`interpolate` by its former name.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.upsample(tp.tensor([[[1., 3.]]]), size=4)
    tensor([[[1., 1., 3., 3.]]])
    """
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


@functional
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """:func:`interpolate` with mode "nearest".

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.upsample_nearest(tp.tensor([[[1., 3.]]]), size=4)
    tensor([[[1., 1., 3., 3.]]])
    """
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


@functional
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """:func:`interpolate` with mode "bilinear" and aligned corners.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.upsample_bilinear(tp.tensor([[[[1., 3.]]]]), size=(1, 3))
    tensor([[[[1., 2., 3.]]]])
    """
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# ---- sampling at given places


@functional
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The places that affine maps give to the pixels of an image, for :func:`grid_sample`.

    Parameters
    ----------
    theta : Tensor
        Maps, of shape (N, 2, 3) or (N, 3, 4).
    size : sequence of int
        (N, C, H, W) or (N, C, D, H, W).
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the outermost pixels, rather than the edges of the image.

    Returns
    -------
    Tensor
        Of shape (N, H, W, 2) or (N, D, H, W, 3).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.affine_grid(tp.tensor([[[1., 0., 0.], [0., 1., 0.]]]), (1, 1, 1, 2), align_corners=True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
    """
    size = arg.integers(size, "affine_grid", "size", 2)
    data = arg.tensor(theta, "affine_grid", "theta")._data
    if data.dtype.kind not in "fV":
        raise ValueError(f"affine_grid(): Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            f"affine_grid(): only supports 4D and 5D sizes, for 2D and 3D affine transforms, got size {size}"
        )
    if data.shape != (size[0], n, n + 1):
        raise ValueError(
            f"affine_grid(): Expected a batch of {n}D affine matrices of shape {size[0]}x{n}x{n + 1} for size {size}. "
            f"Got {list(data.shape)}."
        )
    if min(size) < 1:
        raise ValueError(f"affine_grid(): Expected non-zero, positive output size. Got {size}")
    axes = []
    for extent in size[2:]:
        steps = np.linspace(-1, 1, extent) if extent > 1 else np.zeros(1)
        axes.append(steps if align_corners else steps * ((extent - 1) / extent))
    mesh = np.meshgrid(*axes, indexing="ij")
    base = np.stack([*(m.reshape(-1) for m in reversed(mesh)), np.ones(mesh[0].size)])
    return F.reshape(F.mT(F.map_dim(theta, base, -1)), (size[0], *size[2:], n))


def unnormalised(x: Tensor, n: int, align_corners: bool) -> Tensor:
    """From [-1, 1] to pixels."""
    return (x + 1) * ((n - 1) / 2) if align_corners else ((x + 1) * n - 1) * 0.5


def reflected(x: Tensor, n: int, align_corners: bool) -> Tensor:
    """Reflected at the image's edges until it is inside."""
    low, span = (0.0, float(n - 1)) if align_corners else (-0.5, float(n))
    if span == 0:
        return x * 0
    away = F.abs(x - low)
    flips = F.floor((away / span).detach())
    rest = away - flips * span
    odd = F.ne(F.remainder(flips, 2), 0)
    return F.where(odd, span - rest, rest) + low


def clipped(x: Tensor, n: int) -> Tensor:
    """The nearest place inside; the edges count as outside, for gradients."""
    return F.where(x >= n - 1, float(n - 1), F.where(x > 0, x, 0.0))


def sampled_at(input: Tensor, at: list[Tensor], size: tuple[int, ...]) -> Tensor:
    """The pixels at whole places, (N, ...), for all channels; zeros outside."""
    inside, flat = None, None
    for x, n in zip(at, size, strict=True):
        fits = (x >= 0) & (x <= n - 1)
        inside = fits if inside is None else inside & fits
        whole = F.cast(F.where(x > 0, F.where(x < n - 1, x, float(n - 1)), 0.0), np.dtype(np.int64))
        flat = whole if flat is None else flat * n + whole
    n, channels = input._data.shape[:2]
    shape = flat._data.shape  # type: ignore[union-attr]
    spread = (n, channels, *shape[1:])
    index = F.expand(F.reshape(flat, (n, 1, *shape[1:])), spread)
    return F.where(F.reshape(inside, (n, 1, *shape[1:])), F.take_places(input, index, len(size)), 0.0)


def places_of(grid: Tensor, size: tuple[int, ...], padding_mode: str, align_corners: bool, clip: bool) -> list[Tensor]:
    """The places along each dimension, in the order of the dimensions, of a grid that ends with (x, y, z)."""
    ndim = grid._data.ndim
    out = []
    for i, n in enumerate(size):
        x = unnormalised(F.slice(grid, (*(slice(None),) * (ndim - 1), len(size) - 1 - i)), n, align_corners)
        if clip and padding_mode == "reflection":
            x = reflected(x, n, align_corners)
        if clip and padding_mode != "zeros":
            x = clipped(x, n)
        out.append(x)
    return out


primitive(
    "indifferent", lambda xp, input, other: input, jvp={"input": lambda F, t: t},
    vjp={"input": lambda F, g: g, "other": lambda F, g, other: F.zeros_like(other)},
    batch=lambda p, values, dims: values[0] if dims[0] == 0 else expand_to_batch(values[0], batch_size(values, dims)),
)  # fmt: skip
"""The input, whose gradient with respect to ``other`` is zero rather than absent: it depends on it in steps."""


@functional
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Sample images at given places.

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, H, W) or (N, C, D, H, W).
    grid : Tensor
        Places (x, y) or (x, y, z) in [-1, 1], of shape (N, h, w, 2) or (N, d, h, w, 3).
    mode : {"bilinear", "nearest", "bicubic"}
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside of the image.
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the outermost pixels, rather than the edges of the image.

    Returns
    -------
    Tensor
        Of shape (N, C, h, w) or (N, C, d, h, w).

    Examples
    --------
    >>> import tensorplay as tp
    >>> image = tp.tensor([[[[1., 3.]]]])
    >>> tp.nn.functional.grid_sample(image, tp.zeros(1, 1, 1, 2), align_corners=False)
    tensor([[[[2.]]]])
    """
    name = "grid_sample"
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"{name}(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            f"{name}(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    shape, wanted = arg.tensor(input, name)._data.shape, arg.tensor(grid, name, "grid", 2)._data.shape
    n = len(shape) - 2
    if n not in (2, 3) or len(wanted) != len(shape):
        raise RuntimeError(
            f"{name}(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(shape)} and grid with sizes {list(wanted)}"
        )
    if shape[0] != wanted[0]:
        raise RuntimeError(
            f"{name}(): expected grid and input to have same batch size, but got input with sizes {list(shape)} and "
            f"grid with sizes {list(wanted)}"
        )
    if wanted[-1] != n:
        raise RuntimeError(
            f"{name}(): expected grid to have size {n} in last dimension, but got grid with sizes {list(wanted)}"
        )
    if 0 in shape[2:]:
        raise RuntimeError(
            f"{name}(): expected input to have non-empty spatial dimensions, but input has sizes {list(shape)}"
        )
    if mode == "bicubic" and n == 3:
        raise RuntimeError(f"{name}(): bicubic interpolation only supports 4D input")
    if input._data.dtype != grid._data.dtype:
        raise RuntimeError(
            f"{name}(): expected input and grid to have the same dtype, but got {input.dtype} and {grid.dtype}"
        )
    corners, size = bool(align_corners), shape[2:]
    at = places_of(grid, size, padding_mode, corners, mode != "bicubic")
    if mode == "nearest":
        return F.indifferent(sampled_at(input, [F.round(x.detach(), 0) for x in at], size), grid)
    low = [F.floor(x.detach()) for x in at]
    if mode == "bilinear":
        taps = [[(whole, 1 - (x - whole)), (whole + 1, x - whole)] for x, whole in zip(at, low, strict=True)]
    else:
        taps = [
            bicubic_taps(x, whole, extent, padding_mode, corners)
            for x, whole, extent in zip(at, low, size, strict=True)
        ]
    total = None
    for choice in itertools.product(*taps):
        weight = choice[0][1]
        for _, w in choice[1:]:
            weight = weight * w
        pixel = sampled_at(input, [place for place, _ in choice], size)
        term = pixel * F.reshape(weight, (wanted[0], 1, *wanted[1:-1]))
        total = term if total is None else total + term
    return total  # type: ignore[return-value]


def bicubic_taps(x: Tensor, low: Tensor, n: int, padding_mode: str, align_corners: bool) -> list[tuple[Tensor, Tensor]]:
    """Four places around each place, with their weights."""
    a, t, taps = -0.75, x - low, []
    for k in range(-1, 3):
        d = t + 1 if k == -1 else t if k == 0 else 1 - t if k == 1 else 2 - t
        near = k in (0, 1)
        weight = ((a + 2) * d - (a + 3)) * d * d + 1 if near else ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        place = low + k
        if padding_mode == "reflection":
            place = reflected(place, n, align_corners)
        if padding_mode != "zeros":
            place = clipped(place, n)
        taps.append((F.round(place, 0) if padding_mode == "reflection" else place, weight))
    return taps


# ---- the package's own forms, with numbers for the modes

SAMPLING, EDGES = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


@operator(method=False, out=False, aliases=("grid_sampler_2d", "grid_sampler_3d"))
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`tensorplay.nn.functional.grid_sample`, with the modes as numbers.

    Parameters
    ----------
    input, grid : Tensor
    interpolation_mode : {0, 1, 2}
        Bilinear, nearest, bicubic.
    padding_mode : {0, 1, 2}
        Zeros, border, reflection.
    align_corners : bool

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.grid_sampler(tp.tensor([[[[1., 3.]]]]), tp.zeros(1, 1, 1, 2), 0, 0, False)
    tensor([[[[2.]]]])
    """
    return grid_sample(input, grid, SAMPLING[interpolation_mode], EDGES[padding_mode], align_corners)


@operator(method=False, out=False)
def affine_grid_generator(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    """As :func:`tensorplay.nn.functional.affine_grid`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.affine_grid_generator(tp.tensor([[[1., 0., 0.], [0., 1., 0.]]]), (1, 1, 1, 2), True).shape
    tensorplay.Size([1, 1, 2, 2])
    """
    return affine_grid(theta, size, align_corners)
