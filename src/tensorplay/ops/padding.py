"""Padding, and the rearrangements of pixels and channels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .dense import add_rows
from .factories import held

functional = operator(namespace="nn.functional", method=False, out=False)
package = operator(method=False, out=False)

# ---- constants around the last dimensions; ``pads`` holds a pair for each of them, in order


def pad_kernel(xp: Any, input: Any, *, pads: tuple[tuple[int, int], ...], value: Any) -> Any:
    lead = input.ndim - len(pads)
    shape = list(input.shape[:lead])
    source: list[Any] = [...]
    target: list[Any] = [...]
    for n, (low, high) in zip(input.shape[lead:], pads, strict=True):
        shape.append(n + low + high)
        source.append(slice(max(-low, 0), n - max(-high, 0)))
        target.append(slice(max(low, 0), n + low + high - max(high, 0)))
    out = np.full(shape, value, input.dtype) if value else np.zeros(shape, input.dtype)
    out[tuple(target)] = input[tuple(source)]
    return out


def pad_vjp(F: Any, g: Any, pads: tuple[tuple[int, int], ...]) -> Any:
    return F.pad(g, tuple((-low, -high) for low, high in pads), 0)


primitive("pad", pad_kernel, vjp={"input": pad_vjp}, jvp={"input": lambda F, t, pads: F.pad(t, pads, 0)}, batch="same",
          node_name="ConstantPadNdBackward0")  # fmt: skip

# ---- entries of one dimension by constant indices


def take_dim_kernel(xp: Any, input: Any, *, index: Any, dim: int) -> Any:
    return input.take(index, dim)


def add_dim_kernel(xp: Any, input: Any, *, index: Any, dim: int, size: int) -> Any:
    moved = np.moveaxis(input, dim, 0)
    out = add_rows(moved.reshape(len(index), math.prod(moved.shape[1:])), index, size)
    return np.ascontiguousarray(np.moveaxis(out.reshape(size, *moved.shape[1:]), 0, dim))


primitive("take_dim", take_dim_kernel, jvp="linear", batch="same", node_name="IndexSelectBackward0",
          vjp={"input": lambda F, g, input_shape, index, dim: F.add_dim(g, index, dim, input_shape[dim])})  # fmt: skip
primitive("add_dim", add_dim_kernel, vjp={"input": lambda F, g, index, dim: F.take_dim(g, index, dim)}, jvp="linear",
          batch="same", node_name="IndexAddBackward0")  # fmt: skip


def edge_index(mode: str, n: int, low: int, high: int, dim: int, shape: tuple[int, ...]) -> Any:
    """Which entry each entry of the padded dimension repeats.

    Raises
    ------
    RuntimeError
        If there are not enough entries.
    """
    at = np.arange(-low, n + high)
    if mode == "replicate":
        return at.clip(0, n - 1)
    if mode == "circular":
        if low > n or high > n:
            raise RuntimeError(
                f"pad(): Padding value causes wrapping around more than once: padding ({low}, {high}) at dimension "
                f"{dim} of input {list(shape)}"
            )
        start, left = (
            max(-low, 0),
            n - max(-low, 0) - max(-high, 0),
        )  # what is cropped does not come back at the other end
        if not left and (low > 0 or high > 0):
            raise RuntimeError(
                f"pad(): nothing is left to repeat: padding ({low}, {high}) at dimension {dim} of input {list(shape)}"
            )
        return start + np.arange(-max(low, 0), left + max(high, 0)) % max(left, 1)
    if low >= n or high >= n:
        raise RuntimeError(
            "pad(): Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
            f"({low}, {high}) at dimension {dim} of input {list(shape)}"
        )
    at = np.abs(at)
    return np.where(at >= n, 2 * (n - 1) - at, at)


@functional
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Entries around a tensor, the last dimension first.

    Parameters
    ----------
    input : Tensor
    pad : sequence of int
        Numbers of entries before and behind the last dimension, then the one before it, and so on. Negative ones crop.
    mode : {"constant", "reflect", "replicate", "circular"}
        All but "constant" pad the last one, two or three dimensions of inputs that have one or two more.
    value : float, optional
        The constant; 0 by default.

    Raises
    ------
    RuntimeError
        If the padding does not fit the input.
    NotImplementedError
        If the mode is unknown, or not implemented for so many dimensions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.pad(tp.tensor([1., 2., 3.]), (1, 2))
    tensor([0., 1., 2., 3., 0., 0.])
    >>> tp.nn.functional.pad(tp.tensor([[1., 2., 3.]]), (1, 1), mode="reflect")
    tensor([[2., 1., 2., 3., 2.]])
    """
    if value is not None and type(value) is not float and type(value) is not int:
        value = arg.number(value, "pad", "value", 4)
    widths = arg.integers(pad, "pad", "pad", 2)
    shape = arg.tensor(input, "pad")._data.shape
    if len(widths) % 2:
        raise RuntimeError(f"pad(): Padding length must be divisible by 2, got {len(widths)}")
    n = len(widths) // 2
    if n > len(shape):
        raise RuntimeError(
            "pad(): Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(widths)} and input of dimension {len(shape)}"
        )
    pads = tuple((widths[2 * i], widths[2 * i + 1]) for i in range(n - 1, -1, -1))
    for i, (low, high) in enumerate(pads):
        size = shape[len(shape) - n + i]
        if size + min(low, high, low + high) < 0:
            raise RuntimeError(
                f"pad(): The input size {size}, plus negative padding {low} and {high} resulted in a negative output "
                f"size, which is invalid. Check dimension {len(shape) - n + i} of your input."
            )
    if mode == "constant":
        return F.pad(input, pads, held(value, input._data.dtype, "pad") if value else 0)
    if value is not None and value != 0:
        raise RuntimeError(f'pad(): Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"pad(): Unrecognised padding mode {mode}")
    if not 1 <= n <= 3 or len(shape) not in (n + 1, n + 2):
        raise NotImplementedError(
            f"pad(): Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: {mode} padding of "
            f"the last {n} dimensions takes an input of {n + 1} or {n + 2} dimensions, got {len(shape)}"
        )
    if 0 in shape[-n - 1 :]:
        raise RuntimeError(
            f"pad(): Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    out = input
    for i, (low, high) in enumerate(pads):
        if low or high:
            index = edge_index(mode, shape[len(shape) - n + i], low, high, len(shape) - n + i, shape)
            out = F.take_dim(out, index, i - n)
    return input * 1 if out is input else out


constant_pad = pad  # parameters have that name, too


@package
def constant_pad_nd(input: Tensor, pad: Any, value: complex = 0) -> Tensor:
    """A constant around a tensor: :func:`tensorplay.nn.functional.pad` in its first mode.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.constant_pad_nd(tp.tensor([1., 2.]), (1, 0), 3)
    tensor([3., 1., 2.])
    """
    return constant_pad(input, pad, "constant", value)


# ---- pixels and channels


@functional
@package
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Blocks of channels as pixels: (*, C r^2, H, W) to (*, C, H r, W r).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.pixel_shuffle(tp.arange(4.).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    shape, r = (
        arg.tensor(input, "pixel_shuffle")._data.shape,
        arg.integer(upscale_factor, "pixel_shuffle", "upscale_factor", 2),
    )
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, channels, h, w = shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    split = F.reshape(input, (*lead, channels // (r * r), r, r, h, w))
    n = len(lead)
    order = (*range(-5 - n, -5), -5, -2, -4, -1, -3)
    return F.reshape(F.permute(split, order), (*lead, channels // (r * r), h * r, w * r))


@functional
@package
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Blocks of pixels as channels: (*, C, H r, W r) to (*, C r^2, H, W).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.pixel_unshuffle(tp.arange(4.).reshape(1, 2, 2), 2).reshape(4)
    tensor([0., 1., 2., 3.])
    """
    shape = arg.tensor(input, "pixel_unshuffle")._data.shape
    r = arg.integer(downscale_factor, "pixel_unshuffle", "downscale_factor", 2)
    if len(shape) < 3:
        raise RuntimeError("pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
                           f"{len(shape)} dimension(s)")  # fmt: skip
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, channels, h, w = shape
    for name, extent, dim in (("height", h, -2), ("width", w, -1)):
        if extent % r:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                               f"input.size({dim})={extent} is not divisible by {r}")  # fmt: skip
    split = F.reshape(input, (*lead, channels, h // r, r, w // r, r))
    order = (*range(-5 - len(lead), -5), -5, -3, -1, -4, -2)
    return F.reshape(F.permute(split, order), (*lead, channels * r * r, h // r, w // r))


@functional
@operator(method=False, out=False, aliases=("native_channel_shuffle",))
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels of several groups in turn: (N, C, ...) with C as (groups, C / groups), transposed.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.channel_shuffle(tp.arange(4.).reshape(1, 4, 1), 2).reshape(4)
    tensor([0., 2., 1., 3.])
    """
    shape, groups = (
        arg.tensor(input, "channel_shuffle")._data.shape,
        arg.integer(groups, "channel_shuffle", "groups", 2),
    )
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    n, channels, *rest = shape
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    split = F.reshape(input, (n, groups, channels // groups, *rest))
    k = len(rest)
    return F.reshape(F.permute(split, (-3 - k, -1 - k, -2 - k, *range(-k, 0))), shape)
