"""Pooling of other kinds: its inverse, power means, and windows at random places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .pool import flat_shape, in_company, per_window, pool_means, pooling
from .random import noise_for, uniform

functional = operator(namespace="nn.functional", method=False, out=False)

# ---- max_unpool


def put_places_kernel(xp: Any, input: Any, indices: Any, *, size: tuple[int, ...]) -> Any:
    ndim = len(size)
    lead, columns = input.shape[: input.ndim - ndim], math.prod(size)
    if indices.size and not (indices.min() >= 0 and indices.max() < columns):
        raise RuntimeError(
            "max_unpool: Found an invalid max index: "
            f"{indices.max() if indices.min() >= 0 else indices.min()} (output volumes are of size "
            f"{'x'.join(map(str, size))})"
        )
    out = np.zeros((*lead, columns), input.dtype)
    np.put_along_axis(out, indices.reshape(flat_shape(indices, ndim)), input.reshape(flat_shape(input, ndim)), -1)
    return out.reshape(*lead, *size)


primitive(
    "put_places", put_places_kernel, jvp="linear", batch="same", node_name="MaxUnpoolBackward0",
    vjp={"input": lambda F, g, indices, size: F.take_places(g, indices, len(size))},
)  # fmt: skip
"""Zeros of the given last dimensions, with the input at flat positions; of several at one the last counts."""


def unpool(
    name: str, n: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    shape, where = arg.tensor(input, name)._data.shape, arg.tensor(indices, name, "indices", 2)._data
    window = per_window(kernel_size, n, name, "kernel_size")
    stride = window if stride is None else per_window(stride, n, name, "stride")
    padding = per_window(padding, n, name, "padding")
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"{name}(): Input to {name} should be a {n + 1}d or {n + 2}d Tensor, but got {len(shape)} dimensions"
        )
    if where.dtype != np.int64:
        raise RuntimeError(f"{name}(): elements in indices should be type int64 but got: {indices.dtype}")
    if where.shape != shape:
        raise RuntimeError(
            f"{name}(): Expected shape of indices to be same as that of the input tensor ({list(shape)}) "
            f"but got indices tensor with shape: {list(where.shape)}"
        )
    if 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got {list(shape)}"
        )
    default = tuple((s - 1) * step + k - 2 * p for s, step, k, p in
                    zip(shape[len(shape) - n :], stride, window, padding, strict=True))  # fmt: skip
    size = default
    if output_size is not None:
        size = tuple(output_size)
        size = size[2:] if len(size) == n + 2 else size
        if len(size) != n:
            raise ValueError(
                f"{name}(): output_size should be a sequence containing {n} or {n + 2} elements, but it "
                f"has a length of '{len(output_size)}'"
            )
        for d, (got, usual, step) in enumerate(zip(size, default, stride, strict=True)):
            if not usual - step < got < usual + step:
                raise ValueError(
                    f"{name}(): invalid output_size {list(output_size)} (dim {d} must be between "
                    f"{usual - step} and {usual + step})"
                )
    return F.put_places(input, indices, size)


UNPOOL = """Put the maxima of :func:`max_pool{n}d` back in their places, among zeros.

Parameters
----------
input, indices : Tensor
    Maxima and their flat positions, of shape (N, C, {size}), or without N.
kernel_size, stride, padding : int or tuple
    As of the pooling.
output_size : tuple of int, optional
    Size of the result, where several sizes are possible.

Examples
--------
>>> import tensorplay as tp
>>> x = tp.arange(4.).reshape(1, 1, {shape})
>>> y, where = tp.nn.functional.max_pool{n}d(x, {kernel}, return_indices=True)
>>> tp.nn.functional.max_unpool{n}d(y, where, {kernel}).reshape(4)
tensor([0., 0., 0., 3.])
"""


@pooling(UNPOOL, 1)
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    return unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


@pooling(UNPOOL, 2)
def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    return unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


@pooling(UNPOOL, 3)
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    return unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)


# ---- lp_pool

POWER = """The p-norm of each window of {planes}: ``sum(x**p) ** (1 / p)``.

Parameters
----------
input : Tensor
    Of shape (N, C, {size}), or without N.
norm_type : float
    p.
kernel_size : int or tuple
    Size of the window.
stride : int or tuple, optional
    Steps between windows; the window's size by default.
ceil_mode : bool
    Whether a window may begin inside and end outside.

Examples
--------
>>> import tensorplay as tp
>>> tp.nn.functional.lp_pool{n}d(tp.ones(1, 1, {shape}), 2, {kernel}).item()
2.0
"""


def power_pool(name: str, n: int, input: Tensor, p: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Tensor:
    window = per_window(kernel_size, n, name, "kernel_size")
    mean = pool_means(name, n, arg.tensor(input, name) ** p, window, stride, 0, ceil_mode, True, None)
    return ((F.sign(mean) * F.relu(F.abs(mean))) * math.prod(window)) ** (1.0 / p)


@pooling(POWER, 1)
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    return power_pool("lp_pool1d", 1, input, norm_type, kernel_size, stride, ceil_mode)


@pooling(POWER, 2)
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    return power_pool("lp_pool2d", 2, input, norm_type, kernel_size, stride, ceil_mode)


@pooling(POWER, 3)
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    return power_pool("lp_pool3d", 3, input, norm_type, kernel_size, stride, ceil_mode)


# ---- fractional_max_pool


def random_indices_kernel(
    xp: Any, input: Any, samples: Any, *, window: tuple[int, ...], places: tuple[int, ...]
) -> Any:
    """The flat positions of the maxima of windows whose places follow from ``samples``, (N, C, n)."""
    n = len(window)
    size, lead = input.shape[input.ndim - n :], input.shape[: input.ndim - n]
    images, numbers = input.reshape(-1, *size), samples.reshape(-1, n)
    out = np.empty((len(images), *places), np.int64)
    for i, (image, sample) in enumerate(zip(images, numbers, strict=True)):
        index, flat = [], np.zeros((), np.int64)
        for d in range(n):
            number = sample[1 - d if n == 2 else d]  # of images, the width's first
            start = starts(size[d], places[d], window[d], number)
            shape = [1] * (2 * n)
            shape[d], shape[n + d] = places[d], window[d]
            index.append((start[:, None] + np.arange(window[d])).reshape(shape))
            flat = flat * size[d] + index[-1]
        chosen = image[tuple(index)].reshape(*places, -1).argmax(-1)
        flat = np.broadcast_to(flat, (*places, *window)).reshape(*places, -1)
        out[i] = np.take_along_axis(flat, chosen[..., None], -1)[..., 0]
    return out.reshape(*lead, *places)


def starts(size: int, places: int, window: int, sample: float) -> Any:
    """Where the windows begin (Graham, 2015); the last one ends at the edge."""
    if places == 1:
        return np.array([size - window])
    alpha = (size - window) / (places - 1)
    steps = ((np.arange(places) + sample) * alpha).astype(np.int64) - int(sample * alpha)
    steps[-1] = size - window
    return steps


primitive("random_indices", random_indices_kernel, batch="same")


def fractional(
    name: str,
    n: int,
    input: Tensor,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    indices: bool,
    samples: Tensor | None,
) -> Any:
    shape = arg.tensor(input, name)._data.shape
    if len(shape) not in (n + 1, n + 2) or 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected {n + 1}D or {n + 2}D tensor of non-zero size for non-batch dimensions, "
            f"but got input of size {list(shape)}"
        )
    window, size = per_window(kernel_size, n, name, "kernel_size"), shape[len(shape) - n :]
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{name}(): requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        places = per_window(output_size, n, name, "output_size")
    else:
        ratios = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
        places = tuple(int(s * r) for s, r in zip(size, ratios, strict=True))
    for s, k, o in zip(size, window, places, strict=True):
        if o < 1 or o + k - 1 > s:
            raise RuntimeError(
                f"{name}(): pool size {k} and output size {o} are too large relative to the input size {s}"
            )
    images = input if len(shape) == n + 2 else F.reshape(input, (1, *shape))
    whole = images._data.shape
    if samples is None:
        like = F.slice(images.detach(), (slice(None), slice(None), *(slice(0, 1),) * (n - 1), slice(0, 1)))
        draw = [noise_for(name, uniform, F.reshape(like, whole[:2]), None) for _ in range(n)]
        samples = F.stack(*draw, dim=-1)
    elif samples._data.ndim != 3 or samples._data.shape != (whole[0], whole[1], n):
        raise RuntimeError(
            f"{name}(): Expected _random_samples of shape {[whole[0], whole[1], n]}, got {list(samples.shape)}"
        )
    where = F.random_indices(images, samples, window, places)
    out = F.take_places(images, where, n)
    if len(shape) != n + 2:
        out, where = (F.reshape(t, (shape[0], *places)) for t in (out, where))
    return (out, where) if indices else out


FRACTIONAL = """The maxima of windows at random places, which make ``output_size`` of them (Graham, 2015).

Parameters
----------
input : Tensor
    Of shape (N, C, {size}), or without N.
kernel_size : int or tuple
    Size of the window.
output_size : int or tuple, optional
    Number of windows; or ``output_ratio`` gives it.
output_ratio : float or tuple, optional
    Number of windows relative to the input's size.
return_indices : bool
    Return the flat positions of the maxima as well.

Examples
--------
>>> import tensorplay as tp
>>> tp.nn.functional.fractional_max_pool{n}d(tp.ones(1, 1, {fours}), 2, output_size=2).shape
tensorplay.Size([1, 1, {twos}])
"""


@pooling(FRACTIONAL, 2)
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    return fractional(
        "fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


@pooling(FRACTIONAL, 3)
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    return fractional(
        "fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


in_company(fractional_max_pool2d)
in_company(fractional_max_pool3d)
