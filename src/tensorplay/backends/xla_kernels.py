"""Kernels for XLA, where those over NumPy use what tracers lack (memory, values), or where XLA has an operator.

They take arrays by position and attributes by name, as the primitive of the same name does, and do not check values:
a program cannot raise. An index that is out of range reads NaN (or the dtype's least integer) and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import special

KERNELS: dict[str, Callable[..., Any]] = {}
"""By the name of the primitive: ``kernel(*arrays, **attributes)``."""

VALUE_DEPENDENT = frozenset({"nonzero"})
"""Primitives that cannot be traced: the shapes of their results depend on values."""


def kernel(*names: str) -> Callable[[Any], Any]:
    """Enter a function as the kernel of primitives."""

    def enter(function: Any) -> Any:
        for name in names:
            KERNELS[name] = function
        return function

    return enter


def wide(x: Any) -> Any:
    """A floating array, in float32 if it has 16 bits."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays of one dtype that computes 16-bit floats in float32."""

    def computed(*arrays: Any, **attrs: Any) -> Any:
        dtype = arrays[0].dtype
        out = function(*[None if a is None else wide(jnp.asarray(a)) for a in arrays], **attrs)
        return out.astype(dtype)

    return computed


def along(values: Any, dim: int, ndim: int) -> Any:
    """A vector shaped to lie along one dimension, which counts from the end."""
    return values.reshape(*(1,) * (ndim + dim), -1, *(1,) * (-1 - dim))


def places(index: Any, dim: int) -> tuple[Any, ...]:
    """The index of the elements that ``gather`` takes."""
    out: list[Any] = [along(np.arange(n), i - index.ndim, index.ndim) for i, n in enumerate(index.shape)]
    out[dim] = index
    return tuple(out)


# ---- elementwise


@kernel("clone")
def clone(x: Any, order: str = "K") -> Any:
    return jnp.asarray(x)


@kernel("arrange")
def arrange(x: Any, order: Any) -> Any:
    return jnp.asarray(x)


@kernel("sign", "sgn")
def sgn(x: Any) -> Any:
    if x.dtype.kind == "b":
        return jnp.asarray(x)
    if x.dtype.kind == "c":
        size = jnp.abs(x)
        return jnp.where(size == 0, 0, x / jnp.where(size == 0, 1, size)).astype(x.dtype)
    return ((x > 0).astype(np.int8) - (x < 0).astype(np.int8)).astype(x.dtype)


@kernel("sigmoid")
def sigmoid(x: Any) -> Any:
    if x.dtype.kind == "c":
        return 1 / (1 + jnp.exp(-x))
    return lax.logistic(wide(jnp.asarray(x))).astype(x.dtype)


@kernel("square")
def square(x: Any) -> Any:
    return x.astype(np.int64) if x.dtype.kind == "b" else x * x


@kernel("complex")
def complex_(real: Any, imag: Any) -> Any:
    real, imag = jnp.broadcast_arrays(wide(real), wide(imag))
    return lax.complex(real, imag)


@kernel("div_floor", "floor_divide")
def floor_divide(x: Any, y: Any) -> Any:
    if x.dtype.kind == "b":
        return jnp.logical_and(x, y).astype(np.int8)
    return jnp.floor_divide(x, y)


@kernel("div_trunc")
def div_trunc(x: Any, y: Any) -> Any:
    return lax.div(*jnp.broadcast_arrays(x, y)) if x.dtype.kind in "iu" else jnp.trunc(x / y)


@kernel("remainder")
def remainder(x: Any, y: Any) -> Any:
    return jnp.remainder(x, y)


@kernel("fmod")
def fmod(x: Any, y: Any) -> Any:
    return jnp.fmod(x, y)


@kernel("entr")
@in_float32
def entr(x: Any) -> Any:
    out = -x * jnp.log(jnp.where(x > 0, x, 1))
    return jnp.where(x == 0, 0, jnp.where(x < 0, -np.inf, out))


for _name in ("erf", "erfc", "log_ndtr", "ndtri"):
    KERNELS[_name] = in_float32(getattr(special, _name))
KERNELS["erfinv"] = in_float32(special.erfinv)
KERNELS["ndtr"] = KERNELS["normal_cdf"] = in_float32(lambda x: 0.5 * lax.erfc(-x * np.sqrt(0.5).astype(x.dtype)))
KERNELS["lgamma"] = in_float32(lambda x: jnp.where(x == -jnp.inf, jnp.inf, lax.lgamma(x)))


@kernel("gelu")
@in_float32
def gelu(x: Any, approximate: str) -> Any:
    if approximate == "none":
        return x * (0.5 * lax.erfc(-x * np.sqrt(0.5).astype(x.dtype)))
    root = math.sqrt(2 / math.pi)
    return 0.5 * x * (1 + jnp.tanh(x * (x * x * (root * 0.044715) + root)))


# ---- checks of values, which a program does not make


@kernel("check_deviation", "check_variance", "in_classes", "within")
def unchecked(x: Any, **attrs: Any) -> Any:
    return jnp.asarray(x)


@kernel("binary_cross_entropy")
@in_float32
def binary_cross_entropy(x: Any, y: Any) -> Any:
    return (y - 1) * jnp.maximum(jnp.log1p(-x), -100) - y * jnp.maximum(jnp.log(x), -100)


@kernel("one_hot")
def one_hot(x: Any, classes: int) -> Any:
    return (x[..., None] == np.arange(classes)).astype(np.int64)


# ---- reductions and softmax


@kernel("vector_norm")
def vector_norm(x: Any, dim: Any, keepdim: bool, ord: float) -> Any:
    real = np.zeros((), x.dtype).real.dtype if x.dtype.kind == "c" else x.dtype
    x = wide(x) if x.dtype.kind in "fcV" else x.astype(np.float32)
    reduce = {"axis": dim, "keepdims": keepdim}
    if ord == 2:
        squares = x * x if x.dtype.kind == "f" else x.real * x.real + x.imag * x.imag
        out = jnp.sqrt(jnp.sum(squares, **reduce))
    elif ord == 0:
        out = jnp.sum(x != 0, dtype=x.real.dtype, **reduce)
    elif ord == math.inf:
        out = jnp.max(jnp.abs(x), **reduce)
    elif ord == -math.inf:
        out = jnp.min(jnp.abs(x), **reduce)
    else:
        size = jnp.abs(x)
        out = jnp.sum(size if ord == 1 else size**ord, **reduce) ** (1 / ord)
    return out.astype(real)


@kernel("softmax")
@in_float32
def softmax(x: Any, dim: int) -> Any:
    if not x.size:
        return x
    e = jnp.exp(x - jnp.max(x, axis=dim, keepdims=True))
    return e / jnp.sum(e, axis=dim, keepdims=True)


@kernel("log_softmax")
@in_float32
def log_softmax(x: Any, dim: int) -> Any:
    if not x.size:
        return x
    x = x - jnp.max(x, axis=dim, keepdims=True)
    return x - jnp.log(jnp.sum(jnp.exp(x), axis=dim, keepdims=True))


@kernel("softmax_backward")
@in_float32
def softmax_backward(g: Any, out: Any, dim: int) -> Any:
    product = g * out
    return product - out * jnp.sum(product, axis=dim, keepdims=True)


@kernel("log_softmax_backward")
@in_float32
def log_softmax_backward(g: Any, out: Any, dim: int) -> Any:
    return g - jnp.exp(out) * jnp.sum(g, axis=dim, keepdims=True)


def safe_maximum(x: Any) -> Any:
    top = jnp.max(x, axis=-1, keepdims=True, initial=-np.inf)
    return jnp.where(top == -np.inf, 0, top)


@kernel("masked_softmax")
@in_float32
def masked_softmax(x: Any) -> Any:
    e = jnp.exp(x - safe_maximum(x))
    total = jnp.sum(e, axis=-1, keepdims=True)
    return e / jnp.where(total == 0, 1, total)


@kernel("attention")
def attention(q: Any, k: Any, v: Any, mask: Any = None, scale: float = 1.0, causal: bool = False) -> Any:
    dtype = q.dtype
    q, k, v = wide(q), wide(k), wide(v)
    p = jnp.matmul(q, jnp.swapaxes(k, -1, -2)) * np.asarray(scale, q.dtype)
    if mask is not None:
        p = p + wide(mask)
    if causal:
        p = mask_future(p)
    weights = softmax(p, dim=-1) if mask is None else masked_softmax(p)
    return jnp.matmul(weights, v).astype(dtype)


@kernel("mask_future")
def mask_future(x: Any) -> Any:
    return x + np.triu(np.full(x.shape[-2:], -np.inf, x.dtype), 1)


@kernel("sum_rows")
def sum_rows(x: Any) -> Any:
    return x if x.ndim == 1 else jnp.sum(wide(x), axis=tuple(range(x.ndim - 1))).astype(x.dtype)


@kernel("mse_loss")
@in_float32
def mse_loss(x: Any, y: Any, mean: bool) -> Any:
    d = x - y
    return jnp.sum(d * d) / (d.size or np.nan) if mean else jnp.sum(d * d)


def complex_logaddexp(x: Any, y: Any) -> Any:
    """Adds to the larger one, so that imaginary parts are not taken modulo two pi."""
    swap = x.real < y.real
    larger, smaller = jnp.where(swap, y, x), jnp.where(swap, x, y)
    return jnp.where(jnp.isinf(larger.real), larger, larger + jnp.log1p(jnp.exp(smaller - larger)))


@kernel("logcumsumexp")
def logcumsumexp(x: Any, dim: int) -> Any:
    if x.dtype.kind == "c":
        return lax.associative_scan(complex_logaddexp, x, axis=x.ndim + dim)
    return lax.cumlogsumexp(wide(x), axis=x.ndim + dim).astype(x.dtype)


@kernel("cumsum")
def cumsum(x: Any, dim: int, reverse: bool = False) -> Any:
    out = np.int64 if x.dtype.kind == "b" else x.dtype
    x = wide(x) if x.dtype.kind in "fV" else x.astype(out)
    return lax.cumsum(x, axis=x.ndim + dim, reverse=reverse).astype(out)


# ---- normalisation


def standardised(x: Any, axes: tuple[int, ...], eps: float, centred: bool = True) -> tuple[Any, Any]:
    """Mean zero and variance one over some dimensions.

    Term by term as the reverse rules have it: XLA computes equal terms once.
    """
    share = np.asarray(1 / (math.prod(x.shape[a] for a in axes) or 1), x.dtype)
    if centred:
        x = x - jnp.sum(x, axis=axes, keepdims=True) * share
    return x, 1 / jnp.sqrt(jnp.sum(x * x, axis=axes, keepdims=True) * share + np.asarray(eps, x.dtype))


@kernel("channel_moments")
def channel_moments(x: Any) -> Any:
    x, axes = wide(x), (0, *range(2, x.ndim))
    share = np.asarray(1 / (math.prod(x.shape[a] for a in axes) or 1), x.dtype)
    mean = jnp.sum(x, axis=axes, keepdims=True) * share
    centred = x - mean
    return mean.reshape(-1), jnp.sum(centred * centred, axis=axes) * share


@kernel("batch_norm")
def batch_norm(x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    centred, rstd = standardised(wide(x), (0, *range(2, x.ndim)), eps)
    out = centred * rstd
    along = (-1, *(1,) * (x.ndim - 2))
    out = out if weight is None else out * wide(weight).reshape(along)
    return (out if bias is None else out + wide(bias).reshape(along)).astype(x.dtype)


@kernel("layer_norm")
def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, ndim: int = 1, eps: float = 1e-5, centred: bool = True
) -> Any:
    dtype = x.dtype
    x, rstd = standardised(wide(x), tuple(range(x.ndim - ndim, x.ndim)), eps, centred)
    out = x * rstd
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias).astype(dtype)


# ---- products


@kernel("dot", "mv", "mm", "matmul")
def product(x: Any, y: Any) -> Any:
    if x.dtype.kind in "fV":
        return jnp.matmul(wide(x), wide(y)).astype(x.dtype)
    if x.dtype.kind == "b":
        raise NotImplementedError
    return jnp.matmul(x, y)


@kernel("linear")
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    if x.dtype != weight.dtype or (bias is not None and bias.dtype != x.dtype):
        raise TypeError
    out = jnp.matmul(wide(x), wide(weight).T)
    return (out if bias is None else out + wide(bias)).astype(x.dtype)


@kernel("linear_weight")
def linear_weight(x: Any, y: Any) -> Any:
    if x.ndim == 1:
        return jnp.outer(x, y)
    x, y = x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1])
    return product(x.T, y)


@kernel("map_dim")
def map_dim(x: Any, matrix: Any, dim: int) -> Any:
    rows, factor = jnp.moveaxis(wide(x), dim, -1), matrix.astype(wide(x).dtype)
    out = jnp.matmul(rows, factor)

    def without_zeros() -> Any:  # what counts for nothing does not count if it is nan either
        return jnp.sum(jnp.where(factor == 0, 0, rows[..., None] * factor), axis=-2)

    out = lax.cond(jnp.isfinite(jnp.sum(out)), lambda: out, without_zeros)
    return jnp.moveaxis(out, -1, dim).astype(x.dtype)


@kernel("cdist")
def cdist(x: Any, y: Any) -> Any:
    d = x[..., :, None, :] - y[..., None, :, :]
    return jnp.sqrt(jnp.sum(d * d, axis=-1))


# ---- parts


@kernel("slice", "select", "unsqueeze")
def slice_(x: Any, index: Any) -> Any:
    return jnp.asarray(x)[index]


@kernel("unslice")
def unslice(x: Any, shape: Any, index: Any) -> Any:
    plain = len(index) <= len(shape) and all(
        type(i) is slice and (i.step is None or i.step > 0) or type(i) is int for i in index
    )
    if plain:  # zeros around, and between
        pads, size = [], []
        for i, n in zip([*index, *[slice(None)] * (len(shape) - len(index))], shape):
            if type(i) is int:
                i = slice(i % n, i % n + 1)
            start, stop, step = i.indices(n)
            count = len(range(start, stop, step))
            size.append(count)
            used = (count - 1) * step + 1 if count else 0
            pads.append((start, n - start - used, step - 1) if count else (0, n, 0))
        return lax.pad(x.reshape(size), np.zeros((), x.dtype), pads)
    return jnp.zeros(shape, x.dtype).at[index].set(x)


PARTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "real": (jnp.real, lambda x, part: lax.complex(part, x.imag)),
    "imag": (jnp.imag, lambda x, part: lax.complex(x.real, part)),
    "view_as_real": (
        lambda x: jnp.stack([x.real, x.imag], -1),
        lambda x, part: lax.complex(part[..., 0], part[..., 1]),
    ),
    "view_as_complex": (
        lambda x: lax.complex(x[..., 0], x[..., 1]),
        lambda x, part: jnp.stack([part.real, part.imag], -1),
    ),
}
"""Views of parts of elements: how they are taken, and what they are taken of with another such part."""


@kernel("put_view")
def put_view(x: Any, source: Any, steps: Any) -> Any:
    x = jnp.asarray(x)
    for i, (primitive, _, index) in enumerate(steps):
        if primitive.name in PARTS and index is None:  # what is behind this view, the view itself, what is before it
            inner = x
            for before, before_attrs, before_index in steps[:i]:
                inner = KERNELS[before.name](inner, *before_attrs)
                inner = inner if before_index is None else inner[before_index]
            of, with_part = PARTS[primitive.name]
            return put_view(x, with_part(inner, put_view(of(inner), source, steps[i + 1 :])), steps[:i])
        if primitive.name == "view_dtype":
            raise NotImplementedError
    if not steps:
        return jnp.broadcast_to(jnp.asarray(source).astype(x.dtype), x.shape)
    source = jnp.asarray(source).astype(x.dtype)
    if len(steps) == 1 and steps[0][0].name in ("slice", "select", "unsqueeze"):
        return x.at[steps[0][1][0]].set(source)
    flat = np.arange(x.size).reshape(x.shape)
    for primitive, attrs, index in steps:
        flat = primitive.array_kernel(flat, *attrs)
        flat = flat if index is None else flat[index]
    if flat.shape == x.shape and (flat.reshape(-1) == np.arange(x.size)).all():
        return jnp.broadcast_to(source, x.shape)
    source = jnp.broadcast_to(source, flat.shape).reshape(-1)
    return jnp.asarray(x).reshape(-1).at[flat.reshape(-1)].set(source).reshape(x.shape)


def addresses(size: Any, stride: Any, offset: int) -> Any:
    """Where in memory, in elements, each entry lies."""
    out = np.full(size, offset)
    for i, (n, s) in enumerate(zip(size, stride)):
        out = out + (np.arange(n) * s).reshape(-1, *(1,) * (len(size) - 1 - i))
    return out


@kernel("as_strided")
def as_strided(x: Any, size: Any, stride: Any, offset: int, origin: Any) -> Any:
    have, want = addresses(origin[0], origin[1], 0).reshape(-1), addresses(size, stride, offset)
    order = np.argsort(have, kind="stable")
    found = np.searchsorted(have[order], want).clip(0, max(len(have) - 1, 0))
    where = order[found] if len(have) else np.zeros(size, int)
    if not (have[where] == want).all():  # memory that the tensor does not have
        raise NotImplementedError
    return x.reshape(-1)[where]


@kernel("diagonal")
def diagonal(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    return jnp.diagonal(x, offset, dim1, dim2)


@kernel("undiagonal")
def undiagonal(x: Any, shape: Any, offset: int, dim1: int, dim2: int) -> Any:
    flat = np.arange(math.prod(shape)).reshape(shape).diagonal(offset, dim1, dim2)
    return jnp.zeros(math.prod(shape), x.dtype).at[flat.reshape(-1)].set(x.reshape(-1)).reshape(shape)


@kernel("tril")
def tril(x: Any, diagonal: int) -> Any:
    return jnp.tril(x, diagonal)


@kernel("triu")
def triu(x: Any, diagonal: int) -> Any:
    return jnp.triu(x, diagonal)


@kernel("unfold")
def unfold(x: Any, dim: int, size: int, step: int) -> Any:
    count = (x.shape[dim] - size) // step + 1
    where = np.arange(count)[:, None] * step + np.arange(size)
    out = jnp.take(x, where, axis=dim)
    return jnp.moveaxis(out, dim, -1)


@kernel("fold_windows")
def fold_windows(x: Any, shape: Any, dim: int, size: int, step: int) -> Any:
    count, n = x.shape[dim - 1], shape[dim]
    where = np.arange(count)[:, None] * step + np.arange(size)
    g = jnp.moveaxis(x, dim - 1, -2)
    out = jnp.zeros((*g.shape[:-2], n), x.dtype).at[..., where].add(g)
    return jnp.moveaxis(out, -1, dim)


@kernel("view_as_complex")
def view_as_complex(x: Any) -> Any:
    return lax.complex(x[..., 0], x[..., 1])


@kernel("view_dtype")
def view_dtype(x: Any, dtype: Any) -> Any:
    if x.dtype.itemsize != dtype.itemsize or "c" in (x.dtype.kind, dtype.kind):
        raise NotImplementedError
    if x.dtype.kind == "b":
        x = x.astype(np.uint8)
    return x.astype(bool) if dtype.kind == "b" else lax.bitcast_convert_type(x, dtype)


@kernel("pad")
def pad(x: Any, pads: Any, value: Any) -> Any:
    value = np.asarray(value or 0).astype(x.dtype)
    return lax.pad(x, value, [(0, 0, 0)] * (x.ndim - len(pads)) + [(low, high, 0) for low, high in pads])


# ---- indices


@kernel("normal_index")
def normal_index(index: Any, extent: int, dim: int) -> Any:
    return jnp.where(index < 0, index + extent, index)


@kernel("index")
def index_(x: Any, index: Any, dim: int) -> Any:
    return jnp.take(x, index, axis=dim)


@kernel("unindex")
def unindex(x: Any, index: Any, extent: int, dim: int) -> Any:
    behind = -1 - dim
    before = x.ndim - index.ndim - behind
    shape = (*x.shape[:before], extent, *x.shape[x.ndim - behind :])
    return jnp.zeros(shape, x.dtype).at[(slice(None),) * before + (index,)].add(x)


@kernel("embedding")
def embedding(weight: Any, indices: Any) -> Any:
    return jnp.take(weight, indices, axis=0)


@kernel("embedding_weight")
def embedding_weight(x: Any, indices: Any, rows: int) -> Any:
    columns = x.shape[indices.ndim :]
    flat = wide(x).reshape(indices.size, *columns)
    return jnp.zeros((rows, *columns), flat.dtype).at[indices.reshape(-1)].add(flat).astype(x.dtype)


@kernel("add_dim")
def add_dim(x: Any, index: Any, dim: int, size: int) -> Any:
    moved = jnp.moveaxis(x, dim, 0)
    out = jnp.zeros((size, *moved.shape[1:]), x.dtype).at[index].add(moved)
    return jnp.moveaxis(out, 0, dim)


@kernel("take_dim")
def take_dim(x: Any, index: Any, dim: int) -> Any:
    return jnp.take(x, index, axis=dim)


@kernel("add_columns")
def add_columns(x: Any, extent: int, positions: Any) -> Any:
    return jnp.zeros((*x.shape[: x.ndim - np.ndim(positions)], extent), x.dtype).at[..., positions].add(x)


@kernel("put_columns")
def put_columns(x: Any, source: Any, positions: Any) -> Any:
    return jnp.asarray(x).at[..., positions].set(source)


@kernel("put")
def put(x: Any, index: Any, values: Any, dim: int, merged: int, accumulate: bool) -> Any:
    x, axis = jnp.asarray(x), x.ndim + dim
    shape = x.shape
    flat = x.reshape(*shape[:axis], math.prod(shape[axis : axis + merged]), *shape[axis + merged :])
    at = flat.at[(slice(None),) * axis + (index,)]
    values = jnp.asarray(values).astype(x.dtype)
    return (at.add(values) if accumulate else at.set(values)).reshape(shape)


@kernel("gather")
def gather(x: Any, index: Any, dim: int) -> Any:
    return jnp.asarray(x)[places(index, dim)]


@kernel("ungather")
def ungather(x: Any, index: Any, shape: Any, dim: int) -> Any:
    return jnp.zeros(shape, x.dtype).at[places(index, dim)].add(x)


@kernel("put_along")
def put_along(x: Any, index: Any, extent: int, dim: int) -> Any:
    shape = list(x.shape)
    shape[dim] = extent
    return jnp.zeros(shape, x.dtype).at[places(index, dim)].set(x)


@kernel("scatter")
def scatter(x: Any, index: Any, source: Any, dim: int, accumulate: bool) -> Any:
    if not index.size:
        return jnp.asarray(x)
    source = jnp.asarray(source)
    part = source[tuple(map(slice, index.shape))] if source.ndim else source
    at = jnp.asarray(x).at[places(index, dim)]
    return at.add(part) if accumulate else at.set(part)


@kernel("scatter_reduce")
def scatter_reduce(x: Any, index: Any, source: Any, dim: int, reduce: str, include_self: bool) -> Any:
    where, source = places(index, dim), source[tuple(map(slice, index.shape))]
    x = jnp.asarray(x)
    if not include_self:
        if reduce == "prod":
            first: Any = 1
        elif x.dtype.kind == "f":
            first = -np.inf if reduce == "amax" else np.inf
        else:
            raise NotImplementedError
        x = x.at[where].set(first)
    at = x.at[where]
    return at.multiply(source) if reduce == "prod" else at.max(source) if reduce == "amax" else at.min(source)


# ---- losses by class


def picked(x: Any, target: Any) -> Any:
    """The entries of the last dimension that targets name; wrong ones name the nearest."""
    index = jnp.clip(target, 0, max(x.shape[-1] - 1, 0))
    return jnp.take_along_axis(x, index[..., None], axis=-1, mode="promise_in_bounds")[..., 0]


@kernel("pick")
def pick(x: Any, target: Any) -> Any:
    return picked(x, target)


@kernel("place")
def place(x: Any, target: Any, classes: int) -> Any:
    index = jnp.clip(target, 0, max(classes - 1, 0))
    return jnp.where(index[..., None] == np.arange(classes), x[..., None], np.zeros((), x.dtype))


@kernel("class_weights")
def class_weights(
    target: Any, weight: Any = None, ignore_index: int = -100, mean: bool = False, ndim: int = 1, dtype: Any = None
) -> Any:
    out = (target != ignore_index).astype(dtype)
    if weight is not None:
        index = jnp.clip(target, 0, weight.shape[-1] - 1)
        if weight.ndim == 1:
            out = out * jnp.take(weight, index)
        else:
            rows = index.reshape(len(index), -1)
            out = out * jnp.take_along_axis(weight, rows, axis=-1).reshape(out.shape)
    if mean:
        out = (out / jnp.sum(wide(out), axis=tuple(range(-ndim, 0)), keepdims=True)).astype(dtype)
    return out


@kernel("cross_entropy")
def cross_entropy(x: Any, target: Any, ignore_index: int, reduction: str) -> Any:
    rows = log_softmax(wide(x), dim=-1)
    return nll(rows, target, None, ignore_index, reduction).astype(x.dtype)


@kernel("nll_loss")
def nll_loss(x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    return nll(wide(x), target, weight, ignore_index, reduction).astype(x.dtype)


def nll(x: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    valid = target != ignore_index
    losses = jnp.where(valid, -picked(x, target), np.zeros((), x.dtype))
    if weight is None:
        counts: Any = valid
    else:
        counts = class_weights(target, weight, ignore_index, ndim=target.ndim, dtype=x.dtype)
        losses = losses * counts
    if reduction == "none":
        return losses
    return jnp.sum(losses) / jnp.sum(counts, dtype=x.dtype) if reduction == "mean" else jnp.sum(losses)


@kernel("listed_classes")
def listed_classes(x: Any, dtype: Any) -> Any:
    classes = x.shape[-1]
    listed = jnp.cumprod((x >= 0).astype(np.int8), axis=-1) > 0
    named = (x[..., None] == np.arange(classes)) & listed[..., None]
    return listed.astype(dtype), (~named.any(axis=-2)).astype(dtype)


# ---- sorting


def argsorted(x: Any, dim: int, descending: bool = False) -> Any:
    return jnp.argsort(wide(x), axis=dim, stable=True, descending=descending).astype(np.int64)


def chosen(x: Any, index: Any, dim: int, keepdim: bool) -> Any:
    values = jnp.take_along_axis(x, index, axis=dim)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


@kernel("sort")
def sort(x: Any, dim: int, descending: bool) -> Any:
    index = argsorted(x, dim, descending)
    return jnp.take_along_axis(x, index, axis=dim), index


@kernel("topk")
def topk(x: Any, dim: int, k: int, largest: bool) -> Any:
    index = lax.slice_in_dim(argsorted(x, dim, largest), 0, k, axis=dim)
    return jnp.take_along_axis(x, index, axis=dim), index


@kernel("kthvalue_dim")
def kthvalue(x: Any, dim: int, keepdim: bool, k: int) -> Any:
    return chosen(x, lax.slice_in_dim(argsorted(x, dim), k, k + 1, axis=dim), dim, keepdim)


def median_place(x: Any, dim: int) -> Any:
    """Where the lower median is; a nan if there is one."""
    rank = (x.shape[dim] - 1) // 2
    middle = lax.slice_in_dim(argsorted(x, dim), rank, rank + 1, axis=dim)
    missing = x != x
    return jnp.where(missing.any(dim, keepdims=True), jnp.argmax(missing, dim, keepdims=True), middle)


def nanmedian_place(x: Any, dim: int) -> Any:
    """Where the lower median of what is not nan is."""
    rank = jnp.maximum((x == x).sum(dim, keepdims=True) - 1, 0) // 2
    return jnp.take_along_axis(argsorted(x, dim), rank, axis=dim)


def mode_place(x: Any, dim: int) -> Any:
    """The end of the longest run of equal elements in sorted order; of several the first."""
    index = argsorted(x, dim)
    values = jnp.moveaxis(jnp.take_along_axis(x, index, axis=dim), dim, -1)
    starts = jnp.concatenate([jnp.ones_like(values[..., :1], bool), values[..., 1:] != values[..., :-1]], -1)
    place = np.arange(values.shape[-1])
    run = place - lax.cummax(jnp.where(starts, place, 0), axis=values.ndim - 1)
    return jnp.take_along_axis(index, jnp.moveaxis(jnp.argmax(run, -1, keepdims=True), -1, dim), axis=dim)


def picking(name: str, place: Callable[..., Any]) -> None:
    """The kernels of a statistic that is one of the elements: along a dimension, and the value alone."""

    def pair(x: Any, dim: int, keepdim: bool) -> Any:
        return chosen(x, place(x, dim).astype(np.int64), dim, keepdim)

    KERNELS[name + "_dim"] = pair
    KERNELS[name] = lambda x, dim, keepdim: pair(x, dim[0], keepdim)[0]


picking("median", median_place)
picking("nanmedian", nanmedian_place)
picking("mode", mode_place)


@kernel("max_dim")
def max_dim(x: Any, dim: int, keepdim: bool) -> Any:
    return chosen(x, jnp.argmax(x, axis=dim, keepdims=True).astype(np.int64), dim, keepdim)


@kernel("min_dim")
def min_dim(x: Any, dim: int, keepdim: bool) -> Any:
    return chosen(x, jnp.argmin(x, axis=dim, keepdims=True).astype(np.int64), dim, keepdim)


@kernel("searchsorted")
def searchsorted(bounds: Any, values: Any, right: bool) -> Any:
    common = jnp.result_type(bounds, values)
    bounds, values = bounds.astype(common), values.astype(common)
    side = "right" if right else "left"

    def search(b: Any, v: Any) -> Any:
        return jnp.searchsorted(b, v, side=side)

    if bounds.ndim == 1:
        return search(bounds, values).astype(np.int64)
    for _ in range(bounds.ndim - 1):
        search = jax.vmap(search)
    return search(bounds, values).astype(np.int64)


# ---- histograms


def counted(places: Any, within: Any, weight: Any, bins: int, dtype: Any) -> Any:
    """How much lies in each bin along the last dimension."""
    amounts = within.astype(np.float64 if dtype == np.float64 else np.float32)
    amounts = amounts if weight is None else jnp.where(within, weight, 0).astype(amounts.dtype)
    lines = np.arange(math.prod(places.shape[:-1]))[:, None]
    flat = jnp.zeros((len(lines), bins), amounts.dtype)
    where = jnp.where(within, places, bins).reshape(len(lines), places.shape[-1])  # beyond the end nothing is written
    return flat.at[lines, where].add(amounts.reshape(where.shape)).reshape(*places.shape[:-1], bins).astype(dtype)


@kernel("histc")
def histc(x: Any, bins: int, low: float, high: float) -> Any:
    """The bounds of equal elements are a margin of 1 away; where it is lost beside them, they are in the middle."""
    values = wide(x)
    if low < high:
        first, last = jnp.asarray(low, values.dtype), jnp.asarray(high, values.dtype)
    elif not x.shape[-1]:
        return jnp.zeros((*x.shape[:-1], bins), x.dtype)
    else:
        first, last = jnp.min(values, -1, keepdims=True), jnp.max(values, -1, keepdims=True)
        first, last = jnp.where(first == last, first - 1, first), jnp.where(first == last, last + 1, last)
    width = last - first
    place = jnp.minimum((values - first) * np.asarray(bins, values.dtype) / jnp.where(width == 0, 1, width), bins - 1)
    place = jnp.where(width == 0, bins // 2, place)
    within = (values >= first) & (values <= last)
    return counted(jnp.where(within, place, 0).astype(np.int64), within, None, bins, x.dtype)


@kernel("histogram")
def histogram(
    x: Any, edges: Any = None, weight: Any = None, bins: int = 0, range: Any = None, density: bool = False
) -> Any:
    values = x.reshape(-1)
    if edges is None:
        if bins <= 0 or (range is not None and not (len(range) == 2 and range[0] <= range[1])):
            raise ValueError
        bounds = range if range is not None else (jnp.min(values), jnp.max(values)) if values.size else (0, 1)
        low, high = (jnp.asarray(b, x.dtype if range is None else np.float64) for b in bounds)
        point = low == high
        low, high = jnp.where(point, low - 0.5, low), jnp.where(point, high + 0.5, high)
        edges = jnp.linspace(low.astype(np.float64), high.astype(np.float64), bins + 1).astype(x.dtype)
    edges = jnp.asarray(edges)
    within = (values >= edges[0]) & (values <= edges[-1])
    place = jnp.minimum(jnp.searchsorted(edges, values, side="right") - 1, edges.size - 2)
    out = counted(place, within, None if weight is None else weight.reshape(-1), edges.size - 1, x.dtype)
    return (out / (jnp.sum(out) * jnp.diff(edges)) if density else out), edges


# ---- bags of embeddings


@kernel("bag_maxima")
def bag_maxima(x: Any, bags: Any, kept: Any, count: int) -> Any:
    """The first of the largest entries of each bag, (columns, count), and whether there is any."""
    if x.ndim > 2:
        return jax.vmap(lambda *arrays: bag_maxima(*arrays, count=count))(x, bags, kept)
    values, member = wide(x), kept != 0
    bags = jnp.where(member, bags, count)  # beyond the end nothing is written
    top = jnp.full((x.shape[0], count), -np.inf, values.dtype).at[:, bags].max(values)
    hit = (values == jnp.take(top, bags, axis=1, mode="clip")) | (values != values)
    place = jnp.where(hit, np.arange(x.shape[1]), x.shape[1])
    best = jnp.full(top.shape, x.shape[1], np.int64).at[:, bags].min(place)
    found = jnp.zeros((1, count), bool).at[:, bags].set(True)
    return jnp.where(found, best, 0), found.astype(x.dtype)


from . import xla_linalg, xla_recurrent, xla_special, xla_windows  # noqa: E402, F401  they enter their kernels
