"""The operators that the core and all other rules are built from: broadcasting, casts, reshaping, basic views."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.carrier import Meta
from ..core.namespace import F
from ..core.node import Partial
from ..core.primitive import batch_size, expand_to_batch, primitive
from ..core.tensor import wrap
from .reducing import reduce_array

# ---- broadcasting and its transpose


def expand_kernel(xp: Any, input: Any, *, shape: tuple[int, ...]) -> Any:
    if isinstance(input, np.generic):
        input = np.asarray(input)
    if type(input) is np.ndarray and input.dtype.char in "fd" and input.flags.c_contiguous and input.size:
        lead, fits, strides = len(shape) - input.ndim, True, []  # broadcast_to takes five times as long
        for n, m, stride in zip(input.shape, shape[lead:] if lead else shape, input.strides, strict=False):
            fits = fits and (n == m or n == 1)
            strides.append(stride if n != 1 else 0)
        if fits and lead >= 0:
            return np.ndarray(shape, input.dtype, input, 0, (*(0,) * lead, *strides))
    out = xp.broadcast_to(input, shape)
    if type(out) is np.ndarray and input.flags.writeable:
        out.flags.writeable = True  # NumPy protects what it broadcast; we refuse by the strides, where it matters
    return out


def expand_batch(p: Any, values: list[Any], dims: list[Any], shape: tuple[int, ...]) -> Any:
    size, *inner = values[0]._data.shape
    value = (
        F.reshape(values[0], (size, *(1,) * (len(shape) - len(inner)), *inner))
        if len(inner) < len(shape)
        else values[0]
    )
    return F.expand(value, (size, *shape))


expand = primitive(
    "expand", expand_kernel, vjp={"input": lambda F, g, input_shape: F.sum_to(g, input_shape)}, jvp="linear",
    batch=expand_batch, view=True,
)  # fmt: skip


def sum_to_kernel(xp: Any, input: Any, *, shape: tuple[int, ...]) -> Any:
    have = input.shape
    if have == shape:
        return input
    lead = len(have) - len(shape)
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 != have[i + lead])
    if input.dtype.char in "eE":  # float16 and bfloat16: sums in 16 bits stop growing early
        return reduce_array(xp.add, input.astype(np.float32), axes, True).reshape(shape).astype(input.dtype)
    return reduce_array(xp.add, input, axes, True).reshape(shape)


def sum_to_batch(p: Any, values: list[Any], dims: list[Any], shape: tuple[int, ...]) -> Any:
    size, *inner = values[0]._data.shape
    ones = (1,) * (len(inner) - len(shape))
    return F.reshape(F.sum_to(values[0], (size, *ones, *shape)), (size, *shape))


def sum_to_vjp(F: Any, g: Any, input_shape: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    return F.expand(g, input_shape)


sum_to = primitive(
    "sum_to", sum_to_kernel, vjp={"input": sum_to_vjp}, jvp="linear", batch=sum_to_batch, node_name="SumBackward0"
)

# ---- dtypes


def cast_kernel(xp: Any, input: Any, *, dtype: Any) -> Any:
    if input.dtype.kind == "c" != dtype.kind and dtype.kind != "b":
        input = input.real
    if dtype.kind == "u" and input.dtype.kind in "fV":  # as C compilers do it: through the signed type of 64 bits
        input = input.astype(np.int64)
    return input.astype(dtype)


def cast_vjp(F: Any, g: Any, input_dtype: Any) -> Any:
    return F.cast(g, input_dtype)


cast = primitive("cast", cast_kernel, vjp={"input": cast_vjp}, jvp="linear", batch="same", holomorphic=False,
                 node_name="ToCopyBackward0")  # fmt: skip


def conj_kernel(xp: Any, input: Any) -> Any:
    return xp.conjugate(input) if input.dtype.kind == "c" else input


conj = primitive(
    "conj", conj_kernel, vjp={"input": lambda F, g: F.conj(g)}, jvp="linear", batch="same", holomorphic=False
)

# ---- constants of a tensor's shape

zeros_like = primitive("zeros_like", lambda xp, input: xp.zeros_like(input), batch="same")
ones_like = primitive("ones_like", lambda xp, input: xp.ones_like(input), batch="same")

# ---- shape


def reshape_batch(p: Any, values: list[Any], dims: list[Any], shape: tuple[int, ...]) -> Any:
    return F.reshape(values[0], (values[0]._data.shape[0], *shape))


reshape = primitive(
    "reshape", lambda xp, input, *, shape: input.reshape(shape),
    vjp={"input": lambda F, g, input_shape: F.reshape(g, input_shape)}, jvp="linear", batch=reshape_batch,
    view="where possible", node_name="ViewBackward0",
)  # fmt: skip


def inverse_permutation(dims: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes one; both count dimensions from the end."""
    n = len(dims)
    inverse = [0] * n
    for i, d in enumerate(dims):
        inverse[d + n] = i - n
    return tuple(inverse)


def permute_batch(p: Any, values: list[Any], _: list[Any], dims: tuple[int, ...]) -> Any:
    return F.permute(values[0], (-1 - len(dims), *dims))


permute = primitive(
    "permute",
    lambda xp, input, *, dims: input.transpose(dims),
    vjp={"input": lambda F, g, dims: F.permute(g, inverse_permutation(dims))},
    jvp="linear",
    batch=permute_batch,
    view=True,
)
"""``dims`` count from the end."""

# ---- basic indexing: ints, slices and None, already in full (no Ellipsis)


def slice_batch(p: Any, values: list[Any], dims: list[Any], index: tuple[Any, ...]) -> Any:
    return p.function(values[0], (slice(None), *index))


def slice_vjp(F: Any, g: Any, input_shape: tuple[int, ...], index: tuple[Any, ...]) -> Any:
    if type(g) is np.ndarray and g.dtype.char in "fd":
        return Partial(g, input_shape, index)
    return F.unslice(g, input_shape, index)


for name in ("slice", "select", "unsqueeze"):  # one operator; the history has PyTorch's name for its last step
    primitive(
        name, lambda xp, input, *, index: input[(*index, ...)], vjp={"input": slice_vjp}, jvp="linear",
        batch=slice_batch, view=True, partial="makes",
    )  # fmt: skip


def unslice_kernel(xp: Any, input: Any, *, shape: tuple[int, ...], index: tuple[Any, ...]) -> Any:
    out = xp.zeros(shape, input.dtype)
    out[index] = input
    return out


def unslice_batch(p: Any, values: list[Any], dims: list[Any], shape: tuple[int, ...], index: tuple[Any, ...]) -> Any:
    return F.unslice(values[0], (values[0]._data.shape[0], *shape), (slice(None), *index))


unslice = primitive(
    "unslice", unslice_kernel, vjp={"input": lambda F, g, index: F.slice(g, index)}, jvp="linear", batch=unslice_batch,
    node_name="SliceBackward0",
)  # fmt: skip

# ---- joining; the dimension counts from the end


def cat_vjp(F: Any, g: Any, tensors_shapes: Any, needs: Any, dim: int) -> Any:
    out, start, trailing = [], 0, (slice(None),) * (-1 - dim)
    for shape, need in zip(tensors_shapes, needs, strict=True):
        stop = start + shape[dim]
        lead = (slice(None),) * (len(shape) + dim)
        out.append(F.slice(g, (*lead, slice(start, stop), *trailing)) if need else None)
        start = stop
    return tuple(out)


cat = primitive(
    "cat", lambda xp, *tensors, dim: xp.concatenate(tensors, axis=dim), vjp=cat_vjp, jvp="linear", batch="same"
)


def stack_vjp(F: Any, g: Any, needs: Any, dim: int) -> Any:
    lead = (slice(None),) * (len(g.shape) + dim)
    return tuple(F.slice(g, (*lead, i)) if need else None for i, need in enumerate(needs))


stack = primitive(
    "stack", lambda xp, *tensors, dim: xp.stack(tensors, axis=dim), vjp=stack_vjp, jvp="linear", batch="same"
)

# ---- putting the value of a view back into its base


def view_of(array: Any, steps: tuple[Any, ...]) -> Any:
    """The view that the steps take of a base, over arrays."""
    for primitive_, attrs, index in steps:
        array = primitive_.array_kernel(array, *attrs)
        if index is not None:
            array = array[index]
    return array


def put_view_kernel(xp: Any, input: Any, source: Any, *, steps: tuple[Any, ...]) -> Any:
    out = np.array(input, copy=True, order="C")
    view = view_of(out, steps)
    if np.may_share_memory(view, out):
        view.flags.writeable = True  # NumPy protects what it broadcast, be it to the same shape
        view[...] = source
    else:  # a view by strides of memory that lies in another order
        out.reshape(-1)[view_of(np.arange(out.size).reshape(out.shape), steps)] = source
    return out


def put_view_source_vjp(F_: Any, g: Any, source_shape: tuple[int, ...], steps: tuple[Any, ...]) -> Any:
    if F_ is not F:
        return view_of(g, steps)
    for primitive_, attrs, index in steps:
        g = primitive_.function(g, *attrs)
        if index is not None:
            g = g[index]
    return g


def zeros_of(F_: Any, shape: tuple[int, ...], like: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """Zeros of a shape: an array or a Tensor, as ``like`` is, and of its dtype if none is given."""
    if F_ is not F:
        return np.zeros(shape, dtype or like.dtype)
    dtype = dtype or like._data.dtype
    return wrap(Meta(shape, dtype) if like.is_meta else np.zeros(shape, dtype))


def put_view_input_vjp(F: Any, g: Any, source_shape: Any, source_dtype: Any, steps: tuple[Any, ...]) -> Any:
    return F.put_view(g, zeros_of(F, source_shape, g, source_dtype), steps)


PUT: dict[str, Any] = {}
"""By the names of views of parts of elements: ``rule(F, input, value)``, the input with another such view."""


def put_view_batch(p: Any, values: list[Any], dims: list[Any], steps: tuple[Any, ...]) -> Any:
    """The elements of the view by their flat positions in the base, the same for every example."""
    size = batch_size(values, dims)
    base, source = (expand_to_batch(v, size) if d is None else v for v, d in zip(values, dims, strict=True))
    for i, (view, attrs, _) in enumerate(steps):
        if view.name in PUT:  # in three parts: what is behind this view, the view itself, what is before it
            inner = base
            for before, before_attrs, index in steps[:i]:
                inner = before.batch(before, [inner], [0], *before_attrs)
                inner = inner if index is None else inner[index]
            part = put_view_batch(p, [view.batch(view, [inner], [0], *attrs), source], [0, 0], steps[i + 1 :])
            return put_view_batch(p, [base, PUT[view.name](F, inner, part)], [0, 0], steps[:i])
    if not steps:
        return source
    shape = base._data.shape[1:]
    count = int(np.prod(shape, dtype=int))
    positions = view_of(np.arange(count).reshape(shape), steps)
    if source._data.shape[1:] != positions.shape:  # one number for all elements, say
        ones = (1,) * (positions.ndim + 1 - source._data.ndim)
        source = F.expand(F.reshape(source, (size, *ones, *source._data.shape[1:])), (size, *positions.shape))
    source = F.reshape(source, (size, positions.size))
    flat = F.put_columns(F.reshape(base, (size, count)), source, positions.reshape(-1))
    return F.reshape(flat, (size, *shape))


put_view = primitive(
    "put_view", put_view_kernel, vjp={"input": put_view_input_vjp, "source": put_view_source_vjp}, jvp="linear",
    batch=put_view_batch, holomorphic=False, node_name="CopySlices",  # of real parts, too
)  # fmt: skip


def put_columns_kernel(xp: Any, input: Any, source: Any, *, positions: Any) -> Any:
    out = input.copy()
    out[..., positions] = source
    return out


def zero_columns(F: Any, g: Any, positions: Any) -> Any:
    return F.put_columns(g, zeros_of(F, (*g.shape[:-1], len(positions)), g), positions)


put_columns = primitive(
    "put_columns",
    put_columns_kernel,
    vjp={"input": zero_columns, "source": lambda F, g, positions: F.take_columns(g, positions)},
    jvp="linear",
    batch="same",
)

take_columns = primitive(
    "take_columns",
    lambda xp, input, *, positions: xp.take(input, positions, axis=-1),
    vjp={"input": lambda F, g, input_shape, positions: F.add_columns(g, input_shape[-1], positions)},
    jvp="linear",
    batch="same",
)


def add_columns_kernel(xp: Any, input: Any, *, extent: int, positions: Any) -> Any:
    out = np.zeros((*input.shape[:-1], extent), input.dtype)
    where: Any = (..., positions)
    np.add.at(out, where, input)
    return out


add_columns = primitive(
    "add_columns",
    add_columns_kernel,
    vjp={"input": lambda F, g, positions: F.take_columns(g, positions)},
    jvp="linear",
    batch="same",
)
