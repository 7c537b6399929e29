"""Convolution and pooling for XLA."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from . import xla_kernels
from .xla_kernels import kernel, wide


def dimension_numbers(n: int) -> tuple[str, str, str]:
    """Images (N, C, ...), weights (O, I, ...)."""
    axes = "DHW"[-n:] if n <= 3 else "".join(chr(ord("a") + i) for i in range(n))
    return "NC" + axes, "OI" + axes, "NC" + axes


def convolved(x: Any, w: Any, dtype: Any, **options: Any) -> Any:
    if x.dtype.kind not in "fc":
        raise NotImplementedError
    return lax.conv_general_dilated(
        x, w, dimension_numbers=dimension_numbers(x.ndim - 2), precision=lax.Precision.HIGHEST, **options
    ).astype(dtype)


@kernel("conv")
def conv(x: Any, weight: Any, bias: Any = None, stride: Any = (), padding: Any = (), dilation: Any = (),
         groups: int = 1) -> Any:  # fmt: skip
    if x.dtype != weight.dtype or not weight.shape[1]:
        raise NotImplementedError
    out = convolved(wide(x), wide(weight), wide(x).dtype, window_strides=stride, padding=[(p, p) for p in padding],
                    rhs_dilation=dilation, feature_group_count=groups)  # fmt: skip
    if bias is not None:
        out = out + wide(bias).reshape(-1, *(1,) * (x.ndim - 2))
    return out.astype(x.dtype)


def extent(k: int, d: int) -> int:
    return d * (k - 1) + 1


@kernel("conv_input")
def conv_input(g: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any) -> Any:
    """The transpose: a convolution of the spread cotangent with the turned weights."""
    outputs, per_group, *window = weight.shape
    if not per_group or not g.size:
        raise NotImplementedError
    w = wide(weight).reshape(groups, outputs // groups, per_group, *window).swapaxes(1, 2)
    w = jnp.flip(w.reshape(groups * per_group, outputs // groups, *window), tuple(range(2, 2 + len(window))))
    pads = []
    for n, m, k, s, p, d in zip(size, g.shape[2:], window, stride, padding, dilation):
        low = extent(k, d) - 1 - p
        pads.append((low, n + extent(k, d) - 1 - low - ((m - 1) * s + 1)))
    return convolved(wide(g), w, g.dtype, window_strides=(1,) * len(window), padding=pads, lhs_dilation=stride,
                     rhs_dilation=dilation, feature_group_count=groups)  # fmt: skip


@kernel("conv_weight")
def conv_weight(x: Any, g: Any, stride: Any, padding: Any, dilation: Any, groups: int, window: Any) -> Any:
    """A convolution over the images, in which channels are what is batched."""
    n, channels, *size = x.shape
    outputs = g.shape[1]
    per_group = channels // groups
    if not x.size or not g.size or not per_group:
        raise NotImplementedError
    lhs = wide(x).reshape(n, groups, per_group, *size).swapaxes(0, 2).reshape(per_group, groups * n, *size)
    rhs = wide(g).swapaxes(0, 1)  # (outputs, n, ...)
    pads = []
    for length, m, k, s, p, d in zip(size, g.shape[2:], window, stride, padding, dilation):
        pads.append((p, extent(m, s) + (k - 1) * d - length - p))
    out = convolved(lhs, rhs, x.dtype, window_strides=dilation, padding=pads, rhs_dilation=stride,
                    feature_group_count=groups)  # fmt: skip
    return out.swapaxes(0, 1).reshape(outputs, per_group, *window)


# ---- pooling; windows lie in the last dimensions


def lowest(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return np.zeros((), bool)
    return np.asarray(-np.inf if dtype.kind in "fV" else np.iinfo(dtype).min, dtype)


def pads_of(size: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any) -> list[tuple[int, int]]:
    return [(p, (o - 1) * s + extent(k, d) - n - p)
            for n, k, s, p, d, o in zip(size, window, stride, padding, dilation, places)]  # fmt: skip


def reduced(x: Any, start: Any, combine: Any, window: Any, stride: Any, padding: Any, dilation: Any,
            places: Any) -> Any:  # fmt: skip
    lead = x.ndim - len(window)
    pads = pads_of(x.shape[lead:], window, stride, padding, dilation, places)
    x = lax.pad(x, start, [(0, 0, 0)] * lead + [(0, min(high, 0), 0) for _, high in pads])
    pads = [(low, max(high, 0)) for low, high in pads]
    ones = (1,) * lead
    return lax.reduce_window(x, start, combine, (*ones, *window), (*ones, *stride), ((0, 0),) * lead + tuple(pads),
                             window_dilation=(*ones, *dilation))  # fmt: skip


@kernel("max_pool")
def max_pool(x: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any) -> Any:
    return reduced(x, lowest(x.dtype), lax.max, window, stride, padding, dilation, places)


def taps(x: Any, fill: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any) -> Any:
    """The windows, as one more dimension at the end."""
    lead = x.ndim - len(window)
    pads = pads_of(x.shape[lead:], window, stride, padding, dilation, places)
    x = lax.pad(x, fill, [(0, 0, 0)] * lead + [(low, high, 0) for low, high in pads])
    parts = []
    for corner in np.ndindex(*window):
        start = [c * d for c, d in zip(corner, dilation)]
        stop = [a + (o - 1) * s + 1 for a, o, s in zip(start, places, stride)]
        parts.append(lax.slice(x, [0] * lead + start, [*x.shape[:lead], *stop], [1] * lead + list(stride)))
    return jnp.stack(parts, axis=-1)


@kernel("max_pool_indices")
def max_pool_indices(x: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any) -> Any:
    n = len(window)
    size = x.shape[x.ndim - n :]
    positions = np.arange(math.prod(size)).reshape(size)
    values = taps(wide(x), lowest(wide(x).dtype), window, stride, padding, dilation, places)
    where = np.asarray(numpy_taps(positions, window, stride, padding, dilation, places))
    valid = where >= 0
    score = jnp.where(valid, values, lowest(values.dtype))
    if values.dtype.kind == "f":
        missing = (values != values) & valid
        last = (missing.shape[-1] - 1) - jnp.argmax(jnp.flip(missing, -1), axis=-1)
        best = jnp.where(valid & (score == jnp.max(score, -1, keepdims=True)), 1, 0)
        first = jnp.argmax(best, axis=-1)
        choice = jnp.where(missing.any(-1), last, first)
    else:
        choice = jnp.argmax(jnp.where(valid & (score == jnp.max(score, -1, keepdims=True)), 1, 0), axis=-1)
    table = jnp.broadcast_to(where, (*choice.shape, where.shape[-1]))
    return jnp.take_along_axis(table, choice[..., None], axis=-1)[..., 0].astype(np.int64)


def numpy_taps(positions: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any) -> Any:
    """The positions that are in each window; -1 outside."""
    pads = pads_of(positions.shape, window, stride, padding, dilation, places)
    x = np.pad(positions, [(low, max(high, 0)) for low, high in pads], constant_values=-1)
    parts = []
    for corner in np.ndindex(*window):
        start = [c * d for c, d in zip(corner, dilation)]
        index = tuple(slice(a, a + (o - 1) * s + 1, s) for a, o, s in zip(start, places, stride))
        parts.append(x[index])
    return np.stack(parts, axis=-1)


@kernel("max_pool_backward")
def max_pool_backward(g: Any, source: Any, result: Any, window: Any, stride: Any, padding: Any, dilation: Any,
                      places: Any) -> Any:  # fmt: skip
    """Each cotangent to the first maximum of its window, one tap after the other."""
    lead, n = source.ndim - len(window), len(window)
    pads = pads_of(source.shape[lead:], window, stride, padding, dilation, places)
    x = lax.pad(source, lowest(source.dtype), [(0, 0, 0)] * lead + [(low, high, 0) for low, high in pads])
    free, out = jnp.ones(result.shape, bool), None
    corners = list(np.ndindex(*window))
    for i, corner in enumerate(corners):
        start = [c * d for c, d in zip(corner, dilation)]
        stop = [a + (o - 1) * s + 1 for a, o, s in zip(start, places, stride)]
        part = lax.slice(x, [0] * lead + start, [*x.shape[:lead], *stop], [1] * lead + list(stride))
        hit = free & ((part == result) | (part != part)) if i + 1 < len(corners) else free
        free = free & ~hit
        term = jnp.where(hit, g, np.zeros((), g.dtype))
        spread = lax.pad(term, np.zeros((), g.dtype), [(0, 0, 0)] * lead + [
            (a, x.shape[lead + j] - b, s - 1) for j, (a, b, s) in enumerate(zip(start, stop, stride))])  # fmt: skip
        out = spread if out is None else out + spread
    return lax.pad(out, np.zeros((), g.dtype), [(0, 0, 0)] * lead + [(-low, -high, 0) for low, high in pads]) if (
        n
    ) else out  # fmt: skip


@kernel("sum_pool")
def sum_pool(x: Any, window: Any, stride: Any, padding: Any, places: Any, factor: float = 1.0) -> Any:
    w = wide(x)
    out = reduced(w, np.zeros((), w.dtype), lax.add, window, stride, padding, (1,) * len(window), places)
    return (out if factor == 1 else out * np.asarray(factor, w.dtype)).astype(x.dtype)


@kernel("sum_pool_input")
def sum_pool_input(g: Any, window: Any, stride: Any, padding: Any, places: Any, size: Any, factor: float = 1.0) -> Any:
    """The transpose: sums over the windows of the spread cotangent."""
    lead, x = g.ndim - len(window), wide(g)
    x = x if factor == 1 else x * np.asarray(factor, x.dtype)
    pads = [(k - 1 - p, n + p - ((o - 1) * s + 1))
            for n, k, s, p, o in zip(size, window, stride, padding, places)]  # fmt: skip
    zero = np.zeros((), x.dtype)
    x = lax.pad(x, zero, [(0, 0, 0)] * lead + [(low, high, s - 1) for (low, high), s in zip(pads, stride)])
    ones = (1,) * lead
    return lax.reduce_window(x, zero, lax.add, (*ones, *window), (1,) * x.ndim, "VALID").astype(g.dtype)


@kernel("listed_indices")
def listed_indices(x: Any, tables: Any) -> Any:
    n = len(tables)
    size = x.shape[x.ndim - n :]
    index, flat = [], np.zeros((), np.int64)
    for i, table in enumerate(tables):
        shape = [1] * (2 * n)
        shape[i], shape[n + i] = table.shape
        index.append(table.reshape(shape))
        flat = flat * size[i] + index[-1]
    candidates = wide(x)[(..., *index)]
    lead, out = x.shape[: x.ndim - n], candidates.shape[x.ndim - n : x.ndim]
    count = math.prod(candidates.shape[x.ndim :])
    choice = jnp.argmax(candidates.reshape(*lead, *out, count), axis=-1)
    flat = jnp.asarray(np.broadcast_to(flat, candidates.shape[x.ndim - n :]).reshape(*out, count))
    table = jnp.broadcast_to(flat, (*lead, *flat.shape))
    return jnp.take_along_axis(table, choice[..., None], axis=-1)[..., 0].astype(np.int64)


def flattened(x: Any, ndim: int) -> Any:
    return x.reshape(*x.shape[: x.ndim - ndim], math.prod(x.shape[x.ndim - ndim :]))


@kernel("take_places")
def take_places(x: Any, indices: Any, ndim: int) -> Any:
    return jnp.take_along_axis(flattened(x, ndim), flattened(indices, ndim), axis=-1).reshape(indices.shape)


def at_places(x: Any, indices: Any, size: Any) -> Any:
    ndim = len(size)
    lead, columns = x.shape[: x.ndim - ndim], math.prod(size)
    rows = math.prod(lead)
    zeros = jnp.zeros((rows, columns), x.dtype)
    where = jnp.asarray(indices).reshape(rows, -1)
    return zeros.at[np.arange(rows)[:, None], where], x.reshape(rows, -1), (*lead, *size)


@kernel("add_places")
def add_places(x: Any, indices: Any, size: Any) -> Any:
    at, values, shape = at_places(wide(x), indices, size)
    return at.add(values).reshape(shape).astype(x.dtype)


@kernel("put_places")
def put_places(x: Any, indices: Any, size: Any) -> Any:
    at, values, shape = at_places(x, indices, size)
    return at.set(values).reshape(shape)


@kernel("unfold_images")
def unfold_images(x: Any, window: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    n, channels, *size = x.shape
    out = [(m + 2 * p - extent(k, d)) // s + 1 for m, p, k, d, s in zip(size, padding, window, dilation, stride)]
    parts = taps(x, np.zeros((), x.dtype), window, stride, padding, dilation, out)
    return jnp.moveaxis(parts, -1, 2).reshape(n, channels * math.prod(window), math.prod(out))


@kernel("fold_images")
def fold_images(g: Any, window: Any, stride: Any, padding: Any, dilation: Any, size: Any) -> Any:
    n, rows, _ = g.shape
    channels, x = rows // math.prod(window), wide(g)
    places = [(m + 2 * p - extent(k, d)) // s + 1 for m, p, k, d, s in zip(size, padding, window, dilation, stride)]
    x = x.reshape(n, channels, math.prod(window), *places)
    zero, total = np.zeros((), x.dtype), None
    for i, corner in enumerate(np.ndindex(*window)):
        pads = []
        for c, d, o, s, m, p in zip(corner, dilation, places, stride, size, padding):
            start = c * d - p
            pads.append((start, m - start - ((o - 1) * s + 1), s - 1))
        term = lax.pad(x[:, :, i], zero, [(0, 0, 0), (0, 0, 0), *pads])
        total = term if total is None else total + term
    return total.astype(g.dtype)  # type: ignore[union-attr]


assert xla_kernels
