"""Convolutions in any number of dimensions, and the sliding windows they are made of.

Three primitives are closed under differentiation: ``conv`` and its two transposes, ``conv_input`` and ``conv_weight``.
A kernel copies the windows of a few images into columns, then multiplies matrices. At stride 1 a whole image is one
long row: a window shifts it, so the copies are long; the columns then hold a few positions that nobody reads.
Where channels lie last in the memory of an operand, they do in that of the result.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..backends import onednn
from ..core import dtype as dtypes
from ..core import layout as layouts
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import batch_size, expand_to_batch, primitive
from ..core.tensor import Tensor
from ..core.threads import get_num_threads
from . import arguments as arg
from .kernels import narrowed, widened

COLUMNS = 1 << 18
"""Elements of the columns that are built at a time."""


class Layout(NamedTuple):
    """How windows lie in a padded image, in elements."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    size: tuple[int, ...]  # of the image
    padded: tuple[int, ...]  # of the padded image
    out: tuple[int, ...]  # positions of the window
    pitch: tuple[int, ...]  # steps from one entry of a dimension of the padded image to the next
    flat: bool  # stride 1: columns are slices of the image as one row
    length: int  # of a column

    @property
    def offsets(self) -> Iterator[tuple[int, ...]]:
        """Where in the padded image each element of the first window lies."""
        return itertools.product(*(range(0, k * d, d) for k, d in zip(self.kernel, self.dilation, strict=True)))

    @property
    def taps(self) -> int:
        """Elements of a window."""
        return math.prod(self.kernel)

    def part(self, offset: tuple[int, ...]) -> tuple[Any, ...]:
        """The elements of a padded image that one element of the window meets, as an index."""
        return (..., *(slice(i, i + (o - 1) * s + 1, s) for i, o, s in zip(offset, self.out, self.stride, strict=True)))

    def start(self, offset: tuple[int, ...]) -> int:
        return sum(i * p for i, p in zip(offset, self.pitch, strict=True))

    @property
    def inner(self) -> tuple[Any, ...]:
        """The image in the padded image, as an index."""
        return (..., *(slice(p, p + n) for p, n in zip(self.padding, self.size, strict=True)))


def layout_of(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Layout:
    padded = tuple(n + 2 * p for n, p in zip(size, padding, strict=True))
    out = tuple((n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(padded, dilation, kernel, stride, strict=True))
    pitch = [1]
    for n in padded[:0:-1]:
        pitch.append(pitch[-1] * n)
    pitch.reverse()
    positions = math.prod(out)
    length = sum((o - 1) * p for o, p in zip(out, pitch, strict=True)) + 1
    flat = all(s == 1 for s in stride) and 0 < length <= 1.5 * positions
    return Layout(kernel, stride, padding, dilation, tuple(size), padded, out, tuple(pitch), flat,
                  length if flat else positions)  # fmt: skip


def pad_images(x: Any, layout: Layout) -> Any:
    """The images with zeros around them, contiguous."""
    if layout.padded == layout.size:
        return np.ascontiguousarray(x)
    out = np.zeros((*x.shape[:2], *layout.padded), x.dtype)
    out[layout.inner] = x
    return out


def windows(x: Any, layout: Layout) -> Any:
    """The view (N, C, *kernel, length) or (N, C, *kernel, *out) of padded images."""
    steps = [n * x.itemsize for n in layout.pitch]
    taps = [n * d for n, d in zip(steps, layout.dilation, strict=True)]
    shape, strides = layout.out, [n * s for n, s in zip(steps, layout.stride, strict=True)]
    if layout.flat:
        shape, strides = (layout.length,), [x.itemsize]
    return np.ndarray((*x.shape[:2], *layout.kernel, *shape), x.dtype, x, 0, (*x.strides[:2], *taps, *strides))


def positions(x: Any, layout: Layout) -> Any:
    """The view (N, C, *out) of an array (N, C, length), which may hold positions between those of the window."""
    if not layout.flat:
        return x.reshape(*x.shape[:2], *layout.out)
    return np.ndarray(
        (*x.shape[:2], *layout.out), x.dtype, x, 0, (*x.strides[:2], *(n * x.itemsize for n in layout.pitch))
    )


def some_images(images: int, channels: int, layout: Layout) -> int:
    """How many images' columns are built at a time."""
    return max(1, min(images, COLUMNS // max(1, channels * layout.taps * layout.length)))


def same_dtype(name: str, *arrays: Any) -> None:
    first = arrays[0].dtype
    for a in arrays[1:]:
        if a is not None and a.dtype != first:
            names = ", ".join(str(dtypes.by_numpy[b.dtype]) for b in arrays if b is not None)
            raise RuntimeError(
                f"{name}(): Input type and weight type should be the same, and that of the bias, got {names}"
            )


def empty_images(shape: tuple[int, ...], *operands: Any) -> Any:
    """An uninitialised array whose channels lie last in memory if those of an operand do."""
    dtype = operands[0].dtype
    if any(map(onednn.has_channels_last, operands)):
        return layouts.in_memory_order(shape, (0, *range(2, len(shape)), 1), dtype)
    return np.empty(shape, dtype)


def is_depthwise(channels: int, per_group: int, groups: int) -> bool:
    return per_group == 1 and groups == channels and groups > 1


# ---- kernels


def conv_kernel(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any = (),
    padding: Any = (),
    dilation: Any = (),
    groups: int = 1,
) -> Any:
    same_dtype("convolution", input, weight, bias)
    images, channels, *size = input.shape
    outputs, per_group, *kernel = weight.shape
    layout = layout_of(size, tuple(kernel), stride, padding, dilation)
    x, w = widened(input), widened(weight)
    result = empty_images((images, outputs, *layout.out), x, w)
    if onednn.suits(x, w, result):
        b = None if bias is None else widened(bias)
        if onednn.convolution(x, w, b, result, stride, padding, dilation, groups, get_num_threads()):
            return narrowed(result, input.dtype)
    if not result.size:
        return narrowed(result, input.dtype)
    shift = None if bias is None else widened(bias).reshape(-1, *(1,) * len(size))
    if not per_group:
        result[...] = 0 if shift is None else shift
        return narrowed(result, input.dtype)
    step = some_images(images, channels, layout)
    depthwise = is_depthwise(channels, per_group, groups)
    if not depthwise:
        w = w.reshape(groups, outputs // groups, per_group * layout.taps) if groups > 1 else w.reshape(outputs, -1)
        single = layout.taps == 1 and layout.flat
        columns: Any = None if single else np.empty((step, channels, *layout.kernel, *windows_shape(layout)), x.dtype)
    product = np.empty((step, outputs, layout.length), x.dtype)
    for start in range(0, images, step):
        part = pad_images(x[start : start + step], layout)
        n = len(part)
        if depthwise:
            out = depthwise_product(part, w, product[:n], layout)
        else:
            if single:
                rows = part.reshape(n, channels, -1)
            else:
                np.copyto(columns[:n], windows(part, layout))
                rows = columns[:n]
            if groups > 1:
                rows = rows.reshape(n, groups, -1, layout.length)
                np.matmul(w, rows, out=product[:n].reshape(n, groups, -1, layout.length))
            else:
                np.matmul(w, rows.reshape(n, -1, layout.length), out=product[:n])
            out = product[:n]
        out = positions(out, layout)
        if shift is None:
            result[start : start + n] = out
        else:
            np.add(out, shift, out=result[start : start + n])
    return narrowed(result, input.dtype)


def windows_shape(layout: Layout) -> tuple[int, ...]:
    return (layout.length,) if layout.flat else layout.out


def depthwise_product(x: Any, w: Any, out: Any, layout: Layout) -> Any:
    """A window of its own for every channel: a sum of shifted images."""
    n, channels = x.shape[:2]
    multiples = len(w) // channels
    target = out.reshape(n, channels, multiples, *windows_shape(layout))
    extra = (1,) * (target.ndim - 3)
    taps = w.reshape(channels, multiples, layout.taps)
    term = np.empty(target.shape, out.dtype)
    for i, offset in enumerate(layout.offsets):
        factor = taps[:, :, i].reshape(channels, multiples, *extra)
        shifted = shift_of(x, offset, layout)
        if i:
            np.multiply(shifted[:, :, None], factor, out=term)
            target += term
        else:
            np.multiply(shifted[:, :, None], factor, out=target)
    return out


def shift_of(x: Any, offset: tuple[int, ...], layout: Layout) -> Any:
    """What one element of the window meets, as columns lay it out."""
    if layout.flat:
        start = layout.start(offset)
        return x.reshape(*x.shape[:2], -1)[:, :, start : start + layout.length]
    return x[layout.part(offset)]


def spread(g: Any, layout: Layout) -> Any:
    """Cotangents (N, O, *out) as columns lay them out, zeros in between."""
    if not layout.flat or layout.length == math.prod(layout.out):
        return np.ascontiguousarray(g).reshape(*g.shape[:2], layout.length)
    out = np.zeros((*g.shape[:2], layout.length), g.dtype)
    positions(out, layout)[...] = g
    return out


def conv_input_kernel(
    xp: Any, input: Any, weight: Any, *, stride: Any, padding: Any, dilation: Any, groups: int, size: tuple[int, ...]
) -> Any:
    same_dtype("convolution", input, weight)
    images, outputs = input.shape[:2]
    _, per_group, *kernel = weight.shape
    channels = per_group * groups
    layout = layout_of(size, tuple(kernel), stride, padding, dilation)
    g, w = widened(input), widened(weight)
    if layout.out != input.shape[2:]:
        layout = layout._replace(out=input.shape[2:], length=math.prod(input.shape[2:]), flat=False)
    elif onednn.suits(g, w):
        result = empty_images((images, channels, *size), g, w)
        if result.size and onednn.convolution_input(g, w, result, stride, padding, dilation, groups, get_num_threads()):
            return narrowed(result, input.dtype)
    result = empty_images((images, channels, *size), g, w)
    if not g.size or not result.size:
        result[...] = 0
        return narrowed(result, input.dtype)
    step = some_images(images, channels, layout)
    depthwise = is_depthwise(channels, per_group, groups)
    single = layout.taps == 1 and layout.flat and layout.padded == layout.size
    w = (
        w.reshape(groups, outputs // groups, per_group * layout.taps).swapaxes(1, 2)
        if groups > 1
        else w.reshape(outputs, -1).T
    )
    columns: Any = None if depthwise else np.empty((step, groups, per_group * layout.taps, layout.length), g.dtype)
    for start in range(0, images, step):
        rows = spread(g[start : start + step], layout)
        n = len(rows)
        if single and groups == 1:
            part = result[start : start + n]
            if part.flags.c_contiguous:
                np.matmul(w, rows, out=part.reshape(n, channels, -1))
            else:
                part[...] = np.matmul(w, rows).reshape(part.shape)
            continue
        if depthwise:
            term = rows.reshape(n, channels, -1, layout.length)
        else:
            product = columns[:n] if groups > 1 else columns[:n, 0]
            np.matmul(w, rows.reshape(n, groups, -1, layout.length) if groups > 1 else rows, out=product)
            term = columns[:n].reshape(n, channels, layout.taps, layout.length)
        images_ = np.zeros((n, channels, *layout.padded), g.dtype)
        for i, offset in enumerate(layout.offsets):
            if depthwise:
                tap = np.einsum("gt,ngtl->ngl", w[:, i], term) if term.shape[2] > 1 else term[:, :, 0] * w[:, i]
            else:
                tap = term[:, :, i]
            target = shift_of(images_, offset, layout)
            target += tap.reshape(target.shape)
        result[start : start + n] = images_[layout.inner]
    return narrowed(result, input.dtype)


def conv_weight_kernel(
    xp: Any, input: Any, other: Any, *, stride: Any, padding: Any, dilation: Any, groups: int, window: tuple[int, ...]
) -> Any:
    same_dtype("convolution", input, other)
    images, channels, *size = input.shape
    outputs = other.shape[1]
    per_group = channels // groups
    layout = layout_of(size, window, stride, padding, dilation)
    x, g = widened(input), widened(other)
    if layout.out != other.shape[2:]:  # a transposed convolution whose output padding exceeds the stride
        layout = layout._replace(out=other.shape[2:], length=math.prod(other.shape[2:]), flat=False)
    elif onednn.suits(x, g):
        result = np.empty((outputs, per_group, *window), x.dtype)
        if result.size and onednn.convolution_weight(
            x, g, result, stride, padding, dilation, groups, get_num_threads()
        ):
            return narrowed(result, input.dtype)
    result = np.zeros((groups, outputs // groups if groups else 0, per_group * layout.taps), x.dtype)
    if x.size and g.size and result.size:
        step = some_images(images, channels, layout)
        depthwise = is_depthwise(channels, per_group, groups)
        columns: Any = None if depthwise else np.empty((channels, *window, step, *windows_shape(layout)), x.dtype)
        for start in range(0, images, step):
            part = pad_images(x[start : start + step], layout)
            rows = spread(g[start : start + step], layout)
            n = len(part)
            if depthwise:
                weight_of_channels(part, rows.reshape(n, channels, -1, layout.length), result, layout)
                continue
            rows = rows.swapaxes(0, 1).reshape(groups, -1, n * layout.length)
            if n < step:
                columns = np.empty((channels, *window, n, *windows_shape(layout)), x.dtype)
            lead = len(window) + 1
            np.copyto(columns, windows(part, layout).transpose(*range(1, lead + 1), 0, *range(lead + 1, columns.ndim)))
            flat = columns.reshape(groups, per_group * layout.taps, n * layout.length)
            if groups > 1:
                result += np.matmul(rows, flat.swapaxes(1, 2))
            else:
                result[0] += rows[0].dot(flat[0].T)
    return narrowed(result.reshape(outputs, per_group, *window), input.dtype)


def weight_of_channels(x: Any, rows: Any, result: Any, layout: Layout) -> None:
    for i, offset in enumerate(layout.offsets):
        shifted = np.ascontiguousarray(shift_of(x, offset, layout)).reshape(*x.shape[:2], 1, layout.length)
        result[:, :, i] += np.einsum("ngtl,ngtl->gt", np.broadcast_to(shifted, rows.shape), rows)


# ---- rules


def conv_vjp_input(
    F: Any, g: Any, input_shape: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return F.conv_input(g, weight, stride, padding, dilation, groups, input_shape[2:])


def conv_vjp_weight(
    F: Any, g: Any, input: Any, weight_shape: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return F.conv_weight(input, g, stride, padding, dilation, groups, weight_shape[2:])


def over_positions(F: Any, g: Any) -> Any:
    """The sum over images and positions."""
    outputs = g.shape[1]
    return F.reshape(F.sum_to(g, (1, outputs, *(1,) * (len(g.shape) - 2))), (outputs,))


def conv_jvp(
    F: Any, tangents: Any, input: Any, weight: Any, out: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    of_input, of_weight, of_bias = tangents
    total = None
    if of_input is not None:
        total = F.conv(of_input, weight, None, stride, padding, dilation, groups)
    if of_weight is not None:
        term = F.conv(input, of_weight, None, stride, padding, dilation, groups)
        total = term if total is None else total + term
    if of_bias is not None:
        term = F.reshape(of_bias, (of_bias.shape[0], *(1,) * (len(out.shape) - 2)))
        total = term if total is None else total + term
    return total


def fold_images(x: Tensor) -> Tensor:
    """(B, N, ...) as (B * N, ...)."""
    b, n, *rest = x._data.shape
    return F.reshape(x, (b * n, *rest))


def unfold_images(x: Tensor, size: int) -> Tensor:
    n, *rest = x._data.shape
    return F.reshape(x, (size, n // size, *rest))


def fold_channels(x: Tensor) -> Tensor:
    """(B, N, C, ...) as (N, B * C, ...)."""
    b, n, c, *rest = x._data.shape
    k = len(rest)
    return F.reshape(F.permute(x, (-2 - k, -3 - k, -1 - k, *range(-k, 0))), (n, b * c, *rest))


def unfold_channels(x: Tensor, size: int) -> Tensor:
    """(N, B * C, ...) as (B, N, C, ...)."""
    n, c, *rest = x._data.shape
    k = len(rest)
    return F.permute(F.reshape(x, (n, size, c // size, *rest)), (-2 - k, -3 - k, -1 - k, *range(-k, 0)))


def conv_batch(
    p: Any, values: list[Any], dims: list[Any], stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """Shared weights take the examples as more images; weights of each example are groups of channels."""
    (input, weight, bias), size = values, batch_size(values, dims)
    attrs = (stride, padding, dilation)
    if dims[1] is None and dims[0] == 0:
        inside = bias if dims[2] is None else None
        out = unfold_images(F.conv(fold_images(input), weight, inside, *attrs, groups), size)
        bias = None if dims[2] is None else bias
    elif dims[1] is None:
        out = F.conv(input, weight, None, *attrs, groups)
    else:
        folded = fold_images(weight)
        if dims[0] is None and groups == 1:
            out = F.conv(input, folded, None, *attrs, groups)
        else:
            images = expand_to_batch(input, size) if dims[0] is None else input
            out = F.conv(fold_channels(images), folded, None, *attrs, groups * size)
        out = unfold_channels(out, size)
    if bias is None:
        return out
    shape = bias._data.shape
    return F.add(out, F.reshape(bias, (*shape[:-1], 1, shape[-1], *(1,) * len(stride))))


CONVOLUTION = "ConvolutionBackward0"
conv_ = primitive(
    "conv", conv_kernel,
    vjp={"input": conv_vjp_input, "weight": conv_vjp_weight, "bias": lambda F, g: over_positions(F, g)},
    jvp=conv_jvp, batch=conv_batch, node_name=CONVOLUTION,
)  # fmt: skip


def conv_input_batch(
    p: Any, values: list[Any], dims: list[Any], stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    (g, weight), examples = values, batch_size(values, dims)
    attrs = (stride, padding, dilation)
    if dims[1] is None:
        return unfold_images(F.conv_input(fold_images(g), weight, *attrs, groups, size), examples)
    g = expand_to_batch(g, examples) if dims[0] is None else g
    out = F.conv_input(fold_channels(g), fold_images(weight), *attrs, groups * examples, size)
    return unfold_channels(out, examples)


def conv_input_vjp_weight(
    F: Any, g: Any, input: Any, weight_shape: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return F.conv_weight(g, input, stride, padding, dilation, groups, weight_shape[2:])


def conv_input_vjp_input(
    F: Any, g: Any, input_shape: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return first_positions(F, F.conv(g, weight, None, stride, padding, dilation, groups), input_shape)


def first_positions(F: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """A convolution's result without the positions that an output padding beyond the stride adds."""
    return x if x.shape == shape else F.slice(x, (slice(None), slice(None), *(slice(0, n) for n in shape[2:])))


primitive(
    "conv_input", conv_input_kernel, vjp={"input": conv_input_vjp_input, "weight": conv_input_vjp_weight},
    jvp={
        "input": lambda F, t, weight, stride, padding, dilation, groups, size: F.conv_input(
            t, weight, stride, padding, dilation, groups, size),
        "weight": lambda F, t, input, stride, padding, dilation, groups, size: F.conv_input(
            input, t, stride, padding, dilation, groups, size),
    },
    batch=conv_input_batch, node_name=CONVOLUTION,
)  # fmt: skip


def conv_weight_batch(
    p: Any, values: list[Any], dims: list[Any], stride: Any, padding: Any, dilation: Any, groups: int, window: Any
) -> Any:
    (x, g), size = values, batch_size(values, dims)
    attrs = (stride, padding, dilation)
    if groups == 1 and dims[0] is None:
        out = F.conv_weight(x, fold_channels(g), *attrs, 1, window)
    elif groups == 1 and dims[1] is None:
        return unfold_channels(F.conv_weight(fold_channels(x), g, *attrs, 1, window), size)
    else:
        x, g = (fold_channels(expand_to_batch(v, size) if d is None else v) for v, d in zip(values, dims, strict=True))
        out = F.conv_weight(x, g, *attrs, groups * size, window)
    return unfold_images(out, size)


def conv_weight_vjp_input(
    F: Any, g: Any, input_shape: Any, other: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return F.conv_input(other, g, stride, padding, dilation, groups, input_shape[2:])


def conv_weight_vjp_other(
    F: Any, g: Any, input: Any, other_shape: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return first_positions(F, F.conv(input, g, None, stride, padding, dilation, groups), other_shape)


primitive(
    "conv_weight", conv_weight_kernel, vjp={"input": conv_weight_vjp_input, "other": conv_weight_vjp_other},
    jvp={
        "input": lambda F, t, other, stride, padding, dilation, groups, window: F.conv_weight(
            t, other, stride, padding, dilation, groups, window),
        "other": lambda F, t, input, stride, padding, dilation, groups, window: F.conv_weight(
            input, t, stride, padding, dilation, groups, window),
    },
    batch=conv_weight_batch, node_name=CONVOLUTION,
)  # fmt: skip


# ---- convolution


def per_dimension(value: Any, n: int, name: str, argument: str, least: int, complaint: str) -> tuple[int, ...]:
    """One int for each dimension, from an int or a sequence.

    Raises
    ------
    RuntimeError
        If their number or size is wrong.
    """
    out = (value,) * n if type(value) is int else arg.integers(value, name, argument)
    if len(out) != n:
        if len(out) != 1:
            raise RuntimeError(
                f"{name}(): expected {argument} to be a single integer value or a list of {n} values to match the "
                f"convolution dimensions, but got {argument}={list(out)}"
            )
        out = out * n
    if min(out) < least:
        raise RuntimeError(f"{name}(): {complaint}, got {argument}={list(out)}")
    return out


def checked_operands(
    name: str,
    n: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    dilation: Any,
    groups: Any,
    transposed: bool,
) -> tuple[bool, tuple[int, ...], tuple[int, ...]]:
    """Whether the input has a batch dimension; stride and dilation for each dimension."""
    x = arg.tensor(input, name)._data.shape
    w = arg.tensor(weight, name, "weight", 2)._data.shape
    if len(x) not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {list(x)}"
        )
    if len(w) != n + 2:
        raise RuntimeError(f"{name}(): expected weight of {n + 2} dimensions, but got weight of size {list(w)}")
    stride = per_dimension(stride, n, name, "stride", 1, "non-positive stride is not supported")
    dilation = per_dimension(dilation, n, name, "dilation", 1, "dilation should be greater than zero")
    if type(groups) is not int:
        groups = arg.integer(groups, name, "groups")
    if groups < 1:
        raise RuntimeError(f"{name}(): non-positive groups is not supported, got groups={groups}")
    channels = x[-1 - n]
    wanted = w[0] if transposed else w[1] * groups
    if w[0] % groups or w[0] < groups:
        raise RuntimeError(
            f"{name}(): Given groups={groups}, expected weight to be at least {groups} at dimension 0 and divisible by "
            f"it, but got weight of size {list(w)} instead"
        )
    if channels != wanted:
        raise RuntimeError(
            f"{name}(): Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {list(w)}, "
            f"expected input{list(x)} to have {wanted} channels, but got {channels} channels instead"
        )
    outputs = w[1] * groups if transposed else w[0]
    if bias is not None and arg.tensor(bias, name, "bias", 3)._data.shape != (outputs,):
        raise RuntimeError(
            f"{name}(): Given weight of size {list(w)}, expected bias to be 1-dimensional with {outputs} elements, but "
            f"got bias of size {list(bias.shape)} instead"
        )
    if 0 in w[2:]:
        raise RuntimeError(f"{name}(): kernel size should be greater than zero, but got kernel size: {list(w[2:])}")
    return len(x) == n + 2, stride, dilation


def convolve(
    name: str,
    n: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    batched, stride, dilation = checked_operands(name, n, input, weight, bias, stride, dilation, groups, False)
    kernel = weight._data.shape[2:]
    if isinstance(padding, str):
        input, padding = padded_by_name(name, n, input, padding, kernel, stride, dilation)
    else:
        padding = per_dimension(padding, n, name, "padding", 0, "negative padding is not supported")
    size = input._data.shape[-n:]
    for i in range(n):
        if size[i] + 2 * padding[i] < dilation[i] * (kernel[i] - 1) + 1:
            whole = " x ".join(str(s + 2 * p) for s, p in zip(size, padding, strict=True))
            reach = " x ".join(str(d * (k - 1) + 1) for k, d in zip(kernel, dilation, strict=True))
            raise RuntimeError(
                f"{name}(): Calculated padded input size per channel: ({whole}). Kernel size: ({reach}). Kernel size "
                "can't be greater than actual input size"
            )
    if batched:
        return F.conv(input, weight, bias, stride, padding, dilation, groups)
    out = F.conv(F.reshape(input, (1, *input._data.shape)), weight, bias, stride, padding, dilation, groups)
    return F.reshape(out, out._data.shape[1:])


def padded_by_name(
    name: str,
    n: int,
    input: Tensor,
    padding: str,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[Tensor, tuple[int, ...]]:
    """The padding "valid" or "same"; an odd one is put on the input itself, behind."""
    if padding == "valid":
        return input, (0,) * n
    if padding != "same":
        raise RuntimeError(f"{name}(): Invalid padding string: '{padding}'; choose 'valid' or 'same'")
    if any(s != 1 for s in stride):
        raise RuntimeError(
            f"{name}(): padding='same' is not supported for strided convolutions, got stride={list(stride)}"
        )
    whole = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    if any(t % 2 for t in whole):
        shape = input._data.shape
        lead = len(shape) - n
        larger = (*shape[:lead], *(s + t % 2 for s, t in zip(shape[lead:], whole, strict=True)))
        input = F.unslice(input, larger, tuple(slice(0, s) for s in shape))
    return input, tuple(t // 2 for t in whole)


def convolve_transposed(
    name: str,
    n: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    batched, stride, dilation = checked_operands(name, n, input, weight, bias, stride, dilation, groups, True)
    padding = per_dimension(padding, n, name, "padding", 0, "negative padding is not supported")
    extra = per_dimension(output_padding, n, name, "output_padding", 0, "negative output_padding is not supported")
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(
            f"{name}(): output padding must be smaller than either stride or dilation, but got output_padding: "
            f"{list(extra)}, stride: {list(stride)}, dilation: {list(dilation)}"
        )
    kernel, shape = weight._data.shape[2:], input._data.shape[-n:]
    size = tuple((o - 1) * s - 2 * p + d * (k - 1) + e + 1 for o, s, p, d, k, e in
                 zip(shape, stride, padding, dilation, kernel, extra, strict=True))  # fmt: skip
    if min(size) < 1:
        raise RuntimeError(
            f"{name}(): Given input size per channel: {list(shape)}. Calculated output size per channel: {list(size)}. "
            "Output size is too small"
        )
    same_dtype(name, input._data, weight._data, None if bias is None else bias._data)
    images = input if batched else F.reshape(input, (1, *input._data.shape))
    out = F.conv_input(images, weight, stride, padding, dilation, groups, size)
    if bias is not None:
        out = F.add(out, F.reshape(bias, (-1, *(1,) * n)))
    return out if batched else F.reshape(out, out._data.shape[1:])


DESCRIPTION = """Cross-correlate {planes} with learned windows.

Parameters
----------
input : Tensor
    Of shape (N, C, {size}), or without N.
weight : Tensor
    Windows, of shape (outputs, C / groups, {kernel}).
bias : Tensor, optional
    Added to each output channel.
stride, dilation : int or tuple
    Steps between windows, and between the elements of one.
padding : int, tuple, "valid" or "same"
    Zeros around the input; "same" keeps its size (stride 1 only).
groups : int
    Groups of channels that do not see each other.

Raises
------
RuntimeError
    If shapes or dtypes do not fit.

Examples
--------
>>> import tensorplay as tp
>>> tp.nn.functional.conv{n}d(tp.ones(1, 1, {threes}), tp.ones(2, 1, {twos})).shape
tensorplay.Size([1, 2, {twos}])
"""

TRANSPOSED = """Transposed convolution of {planes}: the gradient of :func:`conv{n}d` with respect to its input.

Parameters
----------
input : Tensor
    Of shape (N, C, {size}), or without N.
weight : Tensor
    Windows, of shape (C, outputs / groups, {kernel}).
bias : Tensor, optional
    Added to each output channel.
stride, dilation, padding : int or tuple
    As of the convolution that is transposed.
output_padding : int or tuple
    Added to one side of the output size.
groups : int
    Groups of channels that do not see each other.

Raises
------
RuntimeError
    If shapes or dtypes do not fit.

Examples
--------
>>> import tensorplay as tp
>>> tp.nn.functional.conv_transpose{n}d(tp.ones(1, 2, {twos}), tp.ones(2, 1, {twos})).shape
tensorplay.Size([1, 1, {threes}])
"""


def convolution(text: str, n: int) -> Any:
    """Register a function with the documentation of its number of dimensions."""

    def register(function: Any) -> Any:
        function.__doc__ = text.format(
            n=n, planes=("sequences", "images", "volumes")[n - 1], size=("L", "H, W", "D, H, W")[n - 1],
            kernel=("k", "kh, kw", "kd, kh, kw")[n - 1], twos=", ".join(["2"] * n), threes=", ".join(["3"] * n),
        )  # fmt: skip
        operator(method=False, out=False)(function)
        return operator(namespace="nn.functional", method=False, out=False)(function)

    return register


@convolution(DESCRIPTION, 1)
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@convolution(DESCRIPTION, 2)
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@convolution(DESCRIPTION, 3)
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


@convolution(TRANSPOSED, 1)
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    return convolve_transposed(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@convolution(TRANSPOSED, 2)
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    return convolve_transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@convolution(TRANSPOSED, 3)
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    return convolve_transposed(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@operator(method=False, out=False)
@operator(namespace="nn.functional", method=False, out=False)
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """:func:`conv1d` of sequences laid out as (time, batch, channels).

    Parameters
    ----------
    input : Tensor
        Of shape (T, N, C).
    weight : Tensor
        Of shape (k, C, outputs).
    bias : Tensor
        Of shape (outputs,).
    pad : int
        Zeros before and behind.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.conv_tbc(tp.ones(3, 1, 1), tp.ones(2, 1, 1), tp.zeros(1)).reshape(2)
    tensor([2., 2.])
    """
    if arg.tensor(input, "conv_tbc")._data.ndim != 3 or arg.tensor(weight, "conv_tbc", "weight", 2)._data.ndim != 3:
        raise RuntimeError(
            "conv_tbc(): Input and weight must have 3 dims: time, batch, in_channel, and kernel, in_channel, "
            f"out_channel; got {list(input.shape)} and {list(weight.shape)}"
        )
    out = conv1d(F.permute(input, (-2, -1, -3)), F.permute(weight, (-1, -2, -3)), bias, 1, pad)
    return F.permute(out, (-1, -3, -2))
