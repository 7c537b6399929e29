"""Sliding windows as the columns of a matrix, and their sum back into images: ``unfold`` and ``fold``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .conv import fold_images, layout_of, pad_images, per_dimension, unfold_images, windows
from .kernels import narrowed, widened


def unfold_windows_kernel(
    xp: Any, input: Any, *, window: tuple[int, ...], stride: Any, padding: Any, dilation: Any
) -> Any:
    n, channels, *size = input.shape
    layout = layout_of(size, window, stride, padding, dilation)._replace(flat=False)
    view = windows(pad_images(input, layout), layout)
    return view.copy().reshape(n, channels * layout.taps, math.prod(layout.out))


def fold_windows_kernel(
    xp: Any, input: Any, *, window: tuple[int, ...], stride: Any, padding: Any, dilation: Any, size: tuple[int, ...]
) -> Any:
    layout = layout_of(size, window, stride, padding, dilation)
    g = widened(input)
    n, rows, _ = g.shape
    channels = rows // layout.taps
    taps = g.reshape(n, channels, layout.taps, *layout.out)
    out = np.zeros((n, channels, *layout.padded), g.dtype)
    for i, offset in enumerate(layout.offsets):
        out[layout.part(offset)] += taps[:, :, i]
    return narrowed(np.ascontiguousarray(out[layout.inner]), input.dtype)


def windows_batch(p: Any, values: list[Any], dims: list[Any], *attrs: Any) -> Any:
    return unfold_images(p.function(fold_images(values[0]), *attrs), values[0]._data.shape[0])


def unfold_vjp(F: Any, g: Any, input_shape: Any, window: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    return F.fold_images(g, window, stride, padding, dilation, input_shape[2:])


def fold_vjp(F: Any, g: Any, window: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    return F.unfold_images(g, window, stride, padding, dilation)


primitive("unfold_images", unfold_windows_kernel, vjp={"input": unfold_vjp}, jvp="linear", batch=windows_batch,
          node_name="Im2ColBackward0")  # fmt: skip
primitive("fold_images", fold_windows_kernel, vjp={"input": fold_vjp}, jvp="linear", batch=windows_batch,
          node_name="Col2ImBackward0")  # fmt: skip


def window_arguments(
    name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[tuple[int, ...], ...]:
    return (
        per_dimension(kernel_size, 2, name, "kernel_size", 1, "kernel size should be greater than zero"),
        per_dimension(stride, 2, name, "stride", 1, "stride should be greater than zero"),
        per_dimension(padding, 2, name, "padding", 0, "padding should be non-negative"),
        per_dimension(dilation, 2, name, "dilation", 1, "dilation should be greater than zero"),
    )


@operator(namespace="nn.functional", method=False, out=False)
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of images as columns (im2col).

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, H, W) or (C, H, W).
    kernel_size, dilation, padding, stride : int or tuple
        As of :func:`conv2d`.

    Returns
    -------
    Tensor
        Of shape (N, C kh kw, L) or (C kh kw, L), for L windows.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.unfold(tp.arange(4.).reshape(1, 1, 2, 2), 2).reshape(4)
    tensor([0., 1., 2., 3.])
    """
    shape = arg.tensor(input, "unfold")._data.shape
    window, stride, padding, dilation = window_arguments("unfold", kernel_size, dilation, padding, stride)
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "unfold(): Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
            f"for input, but got: {list(shape)}"
        )
    layout = layout_of(shape[-2:], window, stride, padding, dilation)
    if min(layout.out) < 1:
        raise RuntimeError(
            f"unfold(): Given input with spatial size {list(shape[-2:])}, kernel_size={window}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, calculated shape of the array of sliding blocks as {layout.out}, but "
            "its components must be at least one."
        )
    if len(shape) == 4:
        return F.unfold_images(input, window, stride, padding, dilation)
    out = F.unfold_images(F.reshape(input, (1, *shape)), window, stride, padding, dilation)
    return F.reshape(out, out._data.shape[1:])


@operator(namespace="nn.functional", method=False, out=False)
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns added up as windows of images (col2im): the gradient of :func:`unfold`.

    Parameters
    ----------
    input : Tensor
        Of shape (N, C kh kw, L) or (C kh kw, L).
    output_size : int or tuple
        Height and width of the images.
    kernel_size, dilation, padding, stride : int or tuple
        As of :func:`unfold`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.fold(tp.ones(1, 2, 2), (1, 3), (1, 2))
    tensor([[[[1., 2., 1.]]]])
    """
    shape = arg.tensor(input, "fold")._data.shape
    window, stride, padding, dilation = window_arguments("fold", kernel_size, dilation, padding, stride)
    size = per_dimension(output_size, 2, "fold", "output_size", 1, "output size should be greater than zero")
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "fold(): Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    taps = math.prod(window)
    if shape[-2] % taps:
        raise RuntimeError(
            "fold(): Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[-2]} and kernel_size={window}."
        )
    layout = layout_of(size, window, stride, padding, dilation)
    if min(layout.out) < 1 or math.prod(layout.out) != shape[-1]:
        raise RuntimeError(
            f"fold(): Given output_size={size}, kernel_size={window}, dilation={dilation}, padding={padding}, "
            f"stride={stride}, expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{' * '.join(map(str, layout.out))} = {math.prod(layout.out)}, but got input.size(2)={shape[-1]}."
        )
    if len(shape) == 3:
        return F.fold_images(input, window, stride, padding, dilation, size)
    out = F.fold_images(F.reshape(input, (1, *shape)), window, stride, padding, dilation, size)
    return F.reshape(out, out._data.shape[1:])
