"""Pooling: the maximum or the mean of windows of the last dimensions.

Where the extra ``onednn`` is installed, its library is asked first. Memory keeps its order: channels may lie last.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends import onednn
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from ..core.threads import get_num_threads
from . import arguments as arg
from .kernels import each_block, narrowed, widened

# ---- windows, one dimension after the other


def lowest(dtype: np.dtype[Any]) -> Any:
    """What is no larger than anything else of the dtype."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return -np.inf if dtype.kind != "b" else False


def surrounded(x: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any, fill: Any) -> Any:
    """The array with ``fill`` around its last dimensions, as far as windows reach."""
    n = len(window)
    size = x.shape[-n:]
    reach = [(o - 1) * s + d * (k - 1) + 1 for o, s, d, k in zip(places, stride, dilation, window, strict=True)]
    whole = [max(r, p + m) for r, p, m in zip(reach, padding, size, strict=True)]
    if not any(padding) and whole == list(size):
        return x
    out: Any = np.empty_like(x, shape=(*x.shape[:-n], *whole))
    out[...] = fill
    inner: Any = (..., *(slice(p, p + m) for p, m in zip(padding, size, strict=True)))
    out[inner] = x
    return out


def slide(x: Any, combine: Any, window: Any, stride: Any, dilation: Any, places: Any) -> Any:
    """``combine`` the elements of each window: as it is a product, one dimension after the other, outermost first."""
    n = len(window)
    for i, (k, s, d, o) in enumerate(zip(window, stride, dilation, places, strict=True)):
        behind = (slice(None),) * (n - 1 - i)
        parts = [x[(..., slice(j * d, j * d + (o - 1) * s + 1, s), *behind)] for j in range(k)]
        if k == 1:
            x = parts[0]
            continue
        x = combine(parts[0], parts[1])
        for part in parts[2:]:
            combine(x, part, out=x)
    return x


def own(out: Any, x: Any) -> Any:
    """A dense array; a copy where it is still part of ``x``, as windows of one element leave it."""
    return onednn.dense(out.copy("K") if out.base is x or out.base is not None and out.base is x.base else out)[0]


LARGE = 1 << 21
"""Elements from which images are pooled in blocks, which stay in the cache, and which threads share."""


def in_blocks(work: Callable[..., Any], n: int, sizes: Any, dtype: Any, *arrays: Any) -> Any:
    """``work`` of arrays, of which it looks at the last ``n`` dimensions; those of the result are ``sizes``."""
    large = max(arrays, key=np.size)
    if large.size < LARGE or not all(a.flags.c_contiguous for a in arrays):
        return work(*arrays)
    lead = large.shape[: large.ndim - n]
    rows = math.prod(lead)
    flat = [a.reshape(rows, *a.shape[a.ndim - n :]) for a in arrays]
    out = np.empty((rows, *sizes), dtype)

    def block(part: slice) -> None:
        out[part] = work(*(a[part] for a in flat))

    each_block(block, rows, large.size // rows)
    return out.reshape(*lead, *sizes)


def corners(window: Any, dilation: Any) -> Any:
    """Where in the array the elements of the first window lie, in row-major order."""
    return itertools.product(*(range(0, k * d, d) for k, d in zip(window, dilation, strict=True)))


def part_at(corner: Any, stride: Any, places: Any) -> tuple[Any, ...]:
    """The elements that one element of the window meets, as an index."""
    return (..., *(slice(i, i + (o - 1) * s + 1, s) for i, s, o in zip(corner, stride, places, strict=True)))


# ---- elements by their flat position in the last dimensions


def flat_shape(x: Any, ndim: int) -> tuple[int, ...]:
    return (*x.shape[: x.ndim - ndim], math.prod(x.shape[x.ndim - ndim :]))


def take_places_kernel(xp: Any, input: Any, indices: Any, *, ndim: int) -> Any:
    rows = input.reshape(flat_shape(input, ndim))
    return np.take_along_axis(rows, indices.reshape(flat_shape(indices, ndim)), -1).reshape(indices.shape)


def add_places_kernel(xp: Any, input: Any, indices: Any, *, size: tuple[int, ...]) -> Any:
    ndim = len(size)
    g, columns = widened(input), math.prod(size)
    lead = input.shape[: input.ndim - ndim]
    rows = math.prod(lead)
    out = np.zeros(rows * columns, g.dtype)
    where = (
        indices.reshape(rows, math.prod(indices.shape[indices.ndim - ndim :]))
        + np.arange(0, rows * columns, max(columns, 1))[:, None]
    )
    np.add.at(out, where.reshape(-1), g.reshape(-1))
    return narrowed(out.reshape(*lead, *size), input.dtype)


def take_places_vjp(F: Any, g: Any, input_shape: Any, indices: Any, ndim: int) -> Any:
    return F.add_places(g, indices, input_shape[len(input_shape) - ndim :])


take_places = primitive("take_places", take_places_kernel, vjp={"input": take_places_vjp}, jvp="linear", batch="same")
"""``input[..., indices]`` with its last ``ndim`` dimensions as one; the indices are of as many dimensions."""

add_places = primitive(
    "add_places", add_places_kernel, vjp={"input": lambda F, g, indices, size: F.take_places(g, indices, len(size))},
    jvp="linear", batch="same",
)  # fmt: skip

# ---- max_pool


def max_pool_kernel(xp: Any, input: Any, *, window: Any, stride: Any, padding: Any, dilation: Any, places: Any) -> Any:
    found = onednn.max_pool(widened(input), window, stride, padding, dilation, places, get_num_threads())
    if found is not None:
        return narrowed(found[0], input.dtype), found[1]

    def maxima(x: Any) -> Any:
        x = surrounded(x, window, stride, padding, dilation, places, lowest(x.dtype))
        return own(slide(x, np.maximum, window, stride, dilation, places), x)

    out = in_blocks(maxima, len(window), places, input.dtype, input)
    return out, out.copy("K")  # the rule reads the copy, so that an activation may overwrite the result


def max_pool_indices_kernel(
    xp: Any, input: Any, *, window: Any, stride: Any, padding: Any, dilation: Any, places: Any
) -> Any:
    """The flat position of each window's maximum: its first one, or its last NaN."""
    x = widened(input) if input.dtype.kind != "b" else input
    size = input.shape[input.ndim - len(window) :]
    found = onednn.max_pool(x, window, stride, padding, dilation, places, get_num_threads())
    if found is not None:
        return positions_of(found[1].reshape(found[0].shape), size, window, stride, padding, dilation)
    x = surrounded(x, window, stride, padding, dilation, places, lowest(input.dtype))
    best: Any = None
    index: Any = None
    for corner in corners(window, dilation):
        part = x[part_at(corner, stride, places)]
        flat, valid = np.zeros((), np.int64), np.ones((), bool)
        for i, c in enumerate(corner):
            place = np.arange(places[i]) * stride[i] + c - padding[i]
            shape = (-1, *(1,) * (len(corner) - 1 - i))
            valid = valid & ((place >= 0) & (place < size[i])).reshape(shape)
            flat = flat * size[i] + place.reshape(shape)
        if best is None:
            best, index = part.copy(), np.where(valid, flat, -1) + np.zeros(part.shape, np.int64)
            continue
        better = ((part > best) | (part != part) | (index < 0)) & valid
        np.copyto(best, part, where=better)
        np.copyto(index, np.broadcast_to(flat, index.shape), where=better)
    return index


def positions_of(choice: Any, size: Any, window: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """The flat positions of the elements chosen from each window."""
    n = len(window)
    pitch = [math.prod(size[i + 1 :]) for i in range(n)]
    out = np.array([sum(c * p for c, p in zip(corner, pitch)) for corner in corners(window, dilation)])[choice]
    for i, (o, s, p) in enumerate(zip(choice.shape[choice.ndim - n :], stride, padding)):
        out += ((np.arange(o) * s - p) * pitch[i]).reshape(-1, *(1,) * (n - 1 - i))
    return out


primitive("max_pool_indices", max_pool_indices_kernel, batch="same")


def max_pool_backward_kernel(
    xp: Any, input: Any, source: Any, result: Any, *, window: Any, stride: Any, padding: Any, dilation: Any, places: Any
) -> Any:
    """Each cotangent to the first maximum of its window; ``result`` may be what the library chose instead."""
    n = len(window)
    chosen = result.dtype == np.uint8
    if chosen:
        size = source.shape[source.ndim - n :]
        found = onednn.max_pool_input(
            widened(input), result, size, window, stride, padding, dilation, get_num_threads()
        )
        if found is not None:
            return narrowed(found, input.dtype)
    if chosen or (result != result).any():
        indices = max_pool_indices_kernel(
            xp, source, window=window, stride=stride, padding=padding, dilation=dilation, places=places
        )
        return add_places_kernel(xp, input, indices, size=source.shape[source.ndim - n :])
    return in_blocks(
        lambda g, x, y: to_first_maxima(g, x, y, window, stride, padding, dilation, places),
        n, source.shape[source.ndim - n :], input.dtype, input, source, result,
    )  # fmt: skip


def to_first_maxima(
    g: Any, source: Any, result: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any
) -> Any:
    """Each cotangent to the first element of its window that is its maximum, one element of windows after the other."""
    x = surrounded(source, window, stride, padding, dilation, places, lowest(source.dtype))
    overlap = any(s < d * (k - 1) + 1 for s, d, k in zip(stride, dilation, window, strict=True))
    out = np.zeros_like(x, g.dtype)
    free, last = np.ones(result.shape, bool), math.prod(window) - 1
    for i, corner in enumerate(corners(window, dilation)):
        where = part_at(corner, stride, places)
        hit = free if i == last else np.equal(x[where], result)
        if i and i < last:
            hit &= free
        if overlap:
            out[where] += g * hit
        else:
            np.multiply(g, hit, out=out[where])
        if i < last:
            free ^= hit
    if x is not source:
        size = source.shape[source.ndim - len(window) :]
        inner: Any = (..., *(slice(p, p + m) for p, m in zip(padding, size, strict=True)))
        out = out[inner]
    return out


def max_pool_vjp(
    F: Any, g: Any, input: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any, kept: Any
) -> Any:
    result = F.max_pool(input, window, stride, padding, dilation, places) if kept is None else kept
    return F.max_pool_backward(g, input, result, window, stride, padding, dilation, places)


def max_pool_jvp(F: Any, t: Any, input: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any) -> Any:
    return F.take_places(t, F.max_pool_indices(input, window, stride, padding, dilation, places), len(window))


def max_pool_backward_vjp(
    F: Any, g: Any, source: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any
) -> Any:
    return F.take_places(g, F.max_pool_indices(source, window, stride, padding, dilation, places), len(window))


primitive(
    "max_pool_backward", max_pool_backward_kernel, vjp={"input": max_pool_backward_vjp}, jvp="linear", batch="same"
)
primitive("max_pool", max_pool_kernel, vjp={"input": max_pool_vjp}, jvp={"input": max_pool_jvp}, batch="same",
          node_name="MaxPoolBackward0")  # fmt: skip

# ---- sums of windows


def sum_pool_kernel(
    xp: Any, input: Any, *, window: Any, stride: Any, padding: Any, places: Any, factor: float = 1.0
) -> Any:
    """The sums of windows, times a factor."""
    ones = (1,) * len(window)

    def sums(x: Any) -> Any:
        x = surrounded(x, window, stride, padding, ones, places, 0)
        return own(slide(x, np.add, window, stride, ones, places), x)

    x = widened(input)
    out = onednn.mean_pool(x, window, stride, padding, places, get_num_threads())
    if out is None:
        out = in_blocks(sums, len(window), places, x.dtype, x)
    else:
        factor *= math.prod(window)
    return narrowed(times(out, factor), input.dtype)


def times(x: Any, factor: float) -> Any:
    """The array, in place, times a number, which may be one but for rounding."""
    if abs(factor - 1) > 1e-12:
        x *= factor
    return x


def sum_pool_input_kernel(
    xp: Any, input: Any, *, window: Any, stride: Any, padding: Any, places: Any, size: tuple[int, ...],
    factor: float = 1.0,
) -> Any:  # fmt: skip
    """The transpose: each value, times a factor, to all elements of its window."""
    n, x = len(window), widened(input)
    out = onednn.mean_pool_input(x, size, window, stride, padding, get_num_threads())
    if out is not None:
        return narrowed(times(out, factor * math.prod(window)), input.dtype)
    if factor != 1:
        x = x * factor
    out = in_blocks(lambda x: to_windows(x, window, stride, padding, places, size), n, size, x.dtype, x)
    return narrowed(out, input.dtype)


def to_windows(x: Any, window: Any, stride: Any, padding: Any, places: Any, size: Any) -> Any:
    """At each element the sum over the windows that it is in: one dimension after the other, innermost first."""
    n = len(window)
    for i in reversed(range(n)):
        k, s, o, p = window[i], stride[i], places[i], padding[i]
        behind = (slice(None),) * (n - 1 - i)
        axis = x.ndim - n + i
        length = max((o - 1) * s + k, p + size[i])
        out = np.zeros_like(x, shape=(*x.shape[:axis], length, *x.shape[axis + 1 :]))
        for j in range(k):
            reached: Any = (..., slice(j, j + (o - 1) * s + 1, s), *behind)
            out[reached] += x
        inner: Any = (..., slice(p, p + size[i]), *behind)
        x = out[inner]
    return x


def sum_pool_vjp(
    F: Any, g: Any, input_shape: Any, window: Any, stride: Any, padding: Any, places: Any, factor: float
) -> Any:
    return F.sum_pool_input(g, window, stride, padding, places, input_shape[len(input_shape) - len(window) :], factor)


def sum_pool_input_vjp(F: Any, g: Any, window: Any, stride: Any, padding: Any, places: Any, factor: float) -> Any:
    return F.sum_pool(g, window, stride, padding, places, factor)


primitive("scaled", lambda xp, input, *, factor: narrowed(input * factor, input.dtype),
          vjp={"input": lambda F, g, factor: F.scaled(g, factor)}, jvp="linear", batch="same")  # fmt: skip
primitive("divided_down", lambda xp, input, *, divisor: (input / divisor).astype(input.dtype), batch="same")
primitive(
    "sum_pool", sum_pool_kernel, vjp={"input": sum_pool_vjp}, jvp="linear", batch="same", node_name="AvgPoolBackward0"
)
primitive("sum_pool_input", sum_pool_input_kernel, vjp={"input": sum_pool_input_vjp}, jvp="linear", batch="same",
          node_name="AvgPoolBackward0")  # fmt: skip

# ---- maxima of windows that are listed: adaptive and fractional pooling


def listed_indices_kernel(xp: Any, input: Any, *, tables: tuple[Any, ...]) -> Any:
    """The flat position of each window's maximum; ``tables`` hold, for each dimension, the indices (places, window)."""
    n = len(tables)
    size = input.shape[input.ndim - n :]
    index, flat = [], np.zeros((), np.int64)
    for i, table in enumerate(tables):
        shape = [1] * (2 * n)
        shape[i], shape[n + i] = table.shape
        index.append(table.reshape(shape))
        flat = flat * size[i] + index[-1]
    candidates = widened(input)[(..., *index)] if input.dtype.kind in "fV" else input[(..., *index)]
    lead, places = input.shape[: input.ndim - n], candidates.shape[input.ndim - n : input.ndim]
    window = math.prod(candidates.shape[input.ndim :])
    choice = candidates.reshape(*lead, *places, window).argmax(-1)
    flat = np.broadcast_to(flat, candidates.shape[input.ndim - n :]).reshape(*places, window)
    return np.take_along_axis(np.broadcast_to(flat, (*lead, *flat.shape)), choice[..., None], -1)[..., 0]


primitive("listed_indices", listed_indices_kernel, batch="same")


def adaptive_table(size: int, places: int) -> Any:
    """Windows that cover a dimension evenly; shorter ones repeat their last index."""
    start = np.arange(places) * size // places
    stop = -((np.arange(1, places + 1) * -size) // places)
    width = int((stop - start).max()) if places else 1
    return np.minimum(start[:, None] + np.arange(width), stop[:, None] - 1)


def adaptive_matrix(size: int, places: int) -> Any:
    """The matrix (size, places) that averages each window of a dimension."""
    start = np.arange(places) * size // places
    stop = -((np.arange(1, places + 1) * -size) // places)
    at = np.arange(size)[:, None]
    return ((at >= start) & (at < stop)) / (stop - start)


# ---- arguments


def per_window(value: Any, n: int, name: str, argument: str) -> tuple[int, ...]:
    """One int for each dimension of the window."""
    out = (value,) * n if type(value) is int else arg.integers(value, name, argument)
    if len(out) != n:
        if len(out) != 1:
            raise RuntimeError(
                f"{name}(): {argument} must either be a single int, or a tuple of {n} ints, got {list(out)}"
            )
        out = out * n
    return out


def window_of(
    name: str, n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Window, stride, padding, dilation and the number of places of each pooled dimension.

    Raises
    ------
    RuntimeError
        If the window does not fit.
    """
    shape = arg.tensor(input, name)._data.shape
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D input tensor, but got input of size {list(shape)}")
    window = per_window(kernel_size, n, name, "kernel_size")
    stride = window if stride is None or (isinstance(stride, (tuple, list)) and not stride) else per_window(
        stride, n, name, "stride")  # fmt: skip
    padding = per_window(padding, n, name, "padding")
    dilation = per_window(dilation, n, name, "dilation")
    arg.flag(ceil_mode, name, "ceil_mode")
    if 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected input with non-zero dimensions other than the batch, but got {list(shape)}"
        )
    if min(window) < 1:
        raise RuntimeError(f"{name}(): kernel size should be greater than zero, but got {list(window)}")
    if min(stride) < 1:
        raise RuntimeError(f"{name}(): stride should not be zero, but got {list(stride)}")
    if min(dilation) < 1:
        raise RuntimeError(f"{name}(): dilation should be greater than zero, but got {list(dilation)}")
    size, places = shape[len(shape) - n :], []
    for m, k, s, p, d in zip(size, window, stride, padding, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"{name}(): pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"{name}(): pad should be at most half of effective kernel size, but got pad={p}, "
                f"kernel_size={k} and dilation={d}"
            )
        room = m + 2 * p - d * (k - 1) - 1
        o = (room + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (o - 1) * s >= m + p:
            o -= 1
        places.append(o)
    if min(places) < 1:
        raise RuntimeError(
            f"{name}(): Given input size: {list(size)}. Calculated output size: {places}. Output size is too small"
        )
    return window, stride, padding, dilation, tuple(places)


def refuse(name: str, input: Tensor, kinds: str) -> None:
    if input._data.dtype.kind in kinds:
        raise NotImplementedError(f'"{name}" not implemented for {input.dtype}')


# ---- max pooling


def pool_maxima(
    name: str,
    n: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: bool,
) -> Any:
    attrs = window_of(name, n, input, kernel_size, stride, padding, dilation, ceil_mode)
    refuse(name, input, "bc")
    if not indices:
        return F.max_pool(input, *attrs)
    return F.max_pool(input, *attrs), F.max_pool_indices(input, *attrs)


MAXIMA = """The maximum of each window of {planes}.

Parameters
----------
input : Tensor
    Of shape (N, C, {size}), or without N.
kernel_size : int or tuple
    Size of the window.
stride : int or tuple, optional
    Steps between windows; the window's size by default.
padding : int or tuple
    Width of an edge that never is the maximum.
dilation : int or tuple
    Steps between the elements of a window.
ceil_mode : bool
    Whether a window may begin inside and end outside.
return_indices : bool
    Return the flat positions of the maxima as well.

Raises
------
RuntimeError
    If the windows do not fit.

Examples
--------
>>> import tensorplay as tp
>>> tp.nn.functional.max_pool{n}d(tp.arange(4.).reshape(1, 1, {shape}), {kernel}).item()
3.0
"""

MEANS = """The mean of each window of {planes}.

Parameters
----------
input : Tensor
    Of shape (N, C, {size}), or without N.
kernel_size : int or tuple
    Size of the window.
stride : int or tuple, optional
    Steps between windows; the window's size by default.
padding : int or tuple
    Width of an edge of zeros.
ceil_mode : bool
    Whether a window may begin inside and end outside.
count_include_pad : bool
    Whether the edge's elements count.
{more}
Raises
------
RuntimeError
    If the windows do not fit.

Examples
--------
>>> import tensorplay as tp
>>> tp.nn.functional.avg_pool{n}d(tp.arange(4.).reshape(1, 1, {shape}), {kernel}).item()
1.5
"""

ADAPTIVE_MAXIMA = """Divide {planes} evenly into ``output_size`` windows, and take their maxima.

Parameters
----------
input : Tensor
    Of shape (N, C, {size}), or without N.
output_size : int or tuple
    Number of windows; None keeps the size of that dimension.
return_indices : bool
    Return the flat positions of the maxima as well.

Examples
--------
>>> import tensorplay as tp
>>> tp.nn.functional.adaptive_max_pool{n}d(tp.arange(4.).reshape(1, 1, {shape}), 1).item()
3.0
"""

ADAPTIVE_MEANS = """Divide {planes} evenly into ``output_size`` windows, and take their means.

Parameters
----------
input : Tensor
    Of shape (N, C, {size}), or without N.
output_size : int or tuple
    Number of windows; None keeps the size of that dimension.

Examples
--------
>>> import tensorplay as tp
>>> tp.nn.functional.adaptive_avg_pool{n}d(tp.arange(4.).reshape(1, 1, {shape}), 1).item()
1.5
"""


def pooling(text: str, n: int, *, public: bool = False, out: bool = False) -> Any:
    """Register a function with the documentation of its number of dimensions; ``public``: in the package as well."""

    def register(function: Any) -> Any:
        shape = ("4", "2, 2", "1, 2, 2")[n - 1]
        function.__doc__ = text.format(
            n=n, planes=("sequences", "images", "volumes")[n - 1], size=("L", "H, W", "D, H, W")[n - 1], shape=shape,
            kernel=shape if n == 1 else f"({shape})", fours=", ".join(["4"] * n), twos=", ".join(["2"] * n),
            more="" if n == 1 else "divisor_override : int, optional\n    Divide the sums by this instead.\n",
        )  # fmt: skip
        if public:
            operator(method=False, out=False)(function)
        return operator(namespace="nn.functional", method=False, out=out)(function)

    return register


@pooling(MAXIMA, 1)
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    return pool_maxima("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@pooling(MAXIMA, 2)
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    return pool_maxima("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@pooling(MAXIMA, 3)
def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    return pool_maxima("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


# ---- average pooling


def pool_means(
    name: str,
    n: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    with_pad: bool,
    divisor: Any,
) -> Tensor:
    window, stride, padding, _, places = window_of(name, n, input, kernel_size, stride, padding, 1, ceil_mode)
    arg.flag(with_pad, name, "count_include_pad")
    divisor = None if divisor is None else arg.integer(divisor, name, "divisor_override", 7)
    if divisor == 0:
        raise RuntimeError(f"{name}(): divisor must be not zero")
    refuse(name, input, "bc")
    size, dtype = input._data.shape[-n:], input._data.dtype
    count: Any = divisor
    if divisor is None and not ceil_mode and (with_pad or not any(padding)):
        count = math.prod(window)
    elif divisor is None:
        count = np.ones(())
        for m, k, s, p, o in zip(size, window, stride, padding, places, strict=True):
            start = np.arange(o) * s - p
            stop = np.minimum(start + k, m + p)
            count = count[..., None] * (stop - start if with_pad else np.minimum(stop, m) - np.maximum(start, 0))
    if dtype.kind in "iu":
        return F.divided_down(F.sum_pool(input, window, stride, padding, places), count)
    if not isinstance(count, np.ndarray):
        return F.sum_pool(input, window, stride, padding, places, 1 / count)
    return F.scaled(F.sum_pool(input, window, stride, padding, places), (1 / count).astype(dtype))


@pooling(MEANS, 1, public=True)
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    return pool_means("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@pooling(MEANS, 2, out=True)
def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    return pool_means(
        "avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@pooling(MEANS, 3, out=True)
def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    return pool_means(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


for maximum in (max_pool1d, max_pool2d, max_pool3d):
    operator(method=False, out=False)(maximum)


# ---- adaptive pooling


def adaptive_size(
    name: str, n: int, input: Tensor, output_size: Any, channels: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes of the input and of the output of the pooled dimensions; ``channels`` if there have to be some."""
    shape = arg.tensor(input, name)._data.shape
    if len(shape) <= n:
        raise ValueError(f"{name}(): Input dimension should be at least {n + 1}, got {len(shape)}")
    if len(shape) > n + 2:
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got {list(shape)}")
    size = shape[len(shape) - n :]
    wanted = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * n
    if len(wanted) != n:
        raise RuntimeError(f"{name}(): output_size must be {n} numbers, got {list(wanted)}")
    wanted = arg.integers([s if w is None else w for w, s in zip(wanted, size, strict=True)], name, "output_size", 2)
    if min(wanted) < 0:
        raise RuntimeError(
            f"{name}(): elements of output_size must be greater than or equal to 0 but received {list(wanted)}"
        )
    if 0 in size[-n:] or (channels and len(shape) == n + 2 and not shape[1]):
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got {list(shape)}"
        )
    return size, wanted


def adaptive_maxima(name: str, n: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    size, wanted = adaptive_size(name, n, input, output_size, True)
    refuse(name, input, "bciu")
    if not return_indices and 0 not in wanted and not any(s % w for s, w in zip(size, wanted, strict=True)):
        window = tuple(s // w for s, w in zip(size, wanted, strict=True))
        return F.max_pool(input, window, window, (0,) * n, (1,) * n, wanted)
    where = F.listed_indices(input, tuple(adaptive_table(s, w) for s, w in zip(size, wanted, strict=True)))
    out = F.take_places(input, where, n)
    return (out, where) if return_indices else out


def adaptive_means(name: str, n: int, input: Tensor, output_size: Any) -> Tensor:
    size, wanted = adaptive_size(name, n, input, output_size, False)
    refuse(name, input, "bciu")
    if 0 not in wanted and not any(s % w for s, w in zip(size, wanted, strict=True)):
        window = tuple(s // w for s, w in zip(size, wanted, strict=True))
        return F.sum_pool(input, window, window, (0,) * n, wanted, 1 / math.prod(window))
    out = input
    for i in range(n):
        out = F.map_dim(out, adaptive_matrix(size[i], wanted[i]), i - n)
    return out


@pooling(ADAPTIVE_MAXIMA, 1)
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    return adaptive_maxima("adaptive_max_pool1d", 1, input, output_size, return_indices)


@pooling(ADAPTIVE_MAXIMA, 2)
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    return adaptive_maxima("adaptive_max_pool2d", 2, input, output_size, return_indices)


@pooling(ADAPTIVE_MAXIMA, 3)
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    return adaptive_maxima("adaptive_max_pool3d", 3, input, output_size, return_indices)


@pooling(ADAPTIVE_MEANS, 1, public=True)
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    return adaptive_means("adaptive_avg_pool1d", 1, input, output_size)


@pooling(ADAPTIVE_MEANS, 2)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    return adaptive_means("adaptive_avg_pool2d", 2, input, output_size)


@pooling(ADAPTIVE_MEANS, 3)
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    return adaptive_means("adaptive_avg_pool3d", 3, input, output_size)


# ---- the maxima together with their positions, by names of their own


def in_company(pooled: Any) -> None:
    """Register ``<name>_with_indices``: the pooling whose ``return_indices`` is True."""

    @functools.wraps(pooled)
    def with_indices(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        bound = signature.bind(*args, **kwargs)
        bound.arguments["return_indices"] = True
        return pooled(*bound.args, **bound.kwargs)

    signature = inspect.signature(pooled)
    with_indices.__name__ = with_indices.__qualname__ = pooled.__name__ + "_with_indices"
    windows = "2, output_size=1" if "fractional" in pooled.__name__ else 1
    shape = (2,) * int(pooled.__name__[-2])
    with_indices.__doc__ = f""":func:`{pooled.__name__}`, which returns the flat positions of the maxima as well.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.zeros(1, 1, {", ".join(map(str, shape))})
    >>> values, where = tp.nn.functional.{with_indices.__name__}(x, {windows})
    >>> where.dtype
    tensorplay.int64
    """
    operator(namespace="nn.functional", method=False, out=False)(with_indices)


for pooled in (max_pool1d, max_pool2d, max_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d):
    in_company(pooled)
