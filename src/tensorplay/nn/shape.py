"""Modules that rearrange or resize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .module import Module


class Rearranging(Module):
    """A module without parameters, whose options are its attributes in ``__constants__``."""

    __constants__: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        """Options."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.__constants__)


class Flatten(Rearranging):
    """Joins dimensions ``start_dim`` to ``end_dim``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Flatten()(tp.zeros(5, 2, 3)).shape
    tensorplay.Size([5, 6])
    """

    __constants__ = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Join the dimensions."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Rearranging):
    """Splits a dimension into several.

    Parameters
    ----------
    dim : int
        Which one.
    unflattened_size : tuple of int
        Their sizes; one of them may be -1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Unflatten(1, (2, 3))(tp.zeros(5, 6)).shape
    tensorplay.Size([5, 2, 3])
    """

    __constants__ = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"Unflatten: dim must be an int, got {type(dim).__name__}: dimensions have no names here")
        if not isinstance(unflattened_size, (tuple, list)) or not all(isinstance(n, int) for n in unflattened_size):
            raise TypeError(f"unflattened_size must be tuple of ints, but found {unflattened_size!r}")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Split the dimension."""
        return input.unflatten(self.dim, self.unflattened_size)


class PixelShuffle(Rearranging):
    """(N, C r^2, H, W) as (N, C, H r, W r) with ``r`` the factor (Shi et al., 2016).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.PixelShuffle(2)(tp.zeros(1, 8, 3, 3)).shape
    tensorplay.Size([1, 2, 6, 6])
    """

    __constants__ = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange channels into pixels."""
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Rearranging):
    """The inverse of :class:`PixelShuffle`."""

    __constants__ = ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange pixels into channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Rearranging):
    """Channels of several groups in turn."""

    __constants__ = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange the channels."""
        return F.channel_shuffle(input, self.groups)


class Fold(Rearranging):
    """Columns added up as windows of images (col2im): the gradient of :class:`Unfold`."""

    __constants__ = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """Add up the windows."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class Unfold(Rearranging):
    """The windows of images as columns (im2col).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Unfold(2)(tp.zeros(1, 3, 4, 4)).shape
    tensorplay.Size([1, 12, 9])
    """

    __constants__ = ("kernel_size", "dilation", "padding", "stride")

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """Take the windows."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Upsample(Module):
    """Resizes sequences, images or volumes; see :func:`tensorplay.nn.functional.interpolate`.

    Parameters
    ----------
    size : int or tuple of int, optional
        The new size; either this or ``scale_factor``.
    scale_factor : float or tuple of float, optional
        The new size over the old one.
    mode : str
        ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"bicubic"`` or ``"trilinear"``.
    align_corners : bool, optional
        Whether the outermost entries stay in their places.
    recompute_scale_factor : bool, optional
        Whether the factor is taken from the sizes, which are integers.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Upsample(scale_factor=2)(tp.tensor([[[1., 2.]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        if isinstance(scale_factor, tuple):
            scale_factor = tuple(map(float, scale_factor))
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.scale_factor = float(scale_factor) if isinstance(scale_factor, int) and scale_factor else scale_factor
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Resize the input."""
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        """Options."""
        size = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{size}, mode='{self.mode}'"


class UpsamplingNearest2d(Upsample):
    """:class:`Upsample` of images, to the nearest pixel."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """:class:`Upsample` of images, bilinear with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
