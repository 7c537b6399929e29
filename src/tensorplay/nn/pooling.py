"""Pooling as modules: each holds the options of the function that it calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .conv import for_each
from .module import Module


class Pooling(Module):
    """A module whose options are its attributes in ``__constants__``."""

    __constants__: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        """Options."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.__constants__)


class MaxPooling(Pooling):
    """What maximum pooling has in common."""

    __constants__ = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode


class AveragePooling(Pooling):
    """What mean pooling has in common."""

    __constants__ = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override


class Unpooling(Pooling):
    """What :func:`max_unpool1d` and its like have in common."""

    __constants__ = ("kernel_size", "stride", "padding")
    dims: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = for_each(kernel_size, self.dims)
        self.stride = for_each(kernel_size if stride is None else stride, self.dims)
        self.padding = for_each(padding, self.dims)


class PowerPooling(Pooling):
    """What p-norm pooling has in common."""

    __constants__ = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode


class AdaptiveMaximum(Pooling):
    """What adaptive maximum pooling has in common."""

    __constants__ = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices


class AdaptiveAverage(Pooling):
    """What adaptive mean pooling has in common."""

    __constants__ = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size


class FractionalPooling(Pooling):
    """What fractional pooling has in common."""

    dims: int

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{self._get_name()} requires either an output size, or a pooling ratio, not both")
        self.kernel_size = for_each(kernel_size, self.dims)
        self.output_size = None if output_size is None else for_each(output_size, self.dims)
        ratio = (output_ratio,) * self.dims if isinstance(output_ratio, (int, float)) else output_ratio
        self.output_ratio = ratio
        if ratio is not None and not all(0 < r < 1 for r in ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)


class MaxPool1d(MaxPooling):
    """The maximum of each window of sequences."""

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.max_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class MaxPool2d(MaxPooling):
    """The maximum of each window of images.

    Parameters
    ----------
    kernel_size, stride, dilation : int or tuple of int
        The size of the windows, the steps between them (``kernel_size`` by default), and between their entries.
    padding : int or tuple of int
        How many entries, which are never the maximum, are added at each end.
    return_indices : bool
        Whether to return the positions of the maxima as well.
    ceil_mode : bool
        Whether windows may go beyond the end.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.MaxPool2d(2)(tp.arange(16.).reshape(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.max_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class MaxPool3d(MaxPooling):
    """The maximum of each window of volumes."""

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.max_pool3d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class AvgPool1d(AveragePooling):
    """The mean of each window of sequences."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(
            for_each(kernel_size, 1), for_each(stride, 1), for_each(padding, 1), ceil_mode, count_include_pad
        )

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(AveragePooling):
    """The mean of each window of images.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.AvgPool2d(2)(tp.arange(16.).reshape(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(AveragePooling):
    """The mean of each window of volumes."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class LPPool1d(PowerPooling):
    """The p-norm of each window of sequences: ``sum(x**p) ** (1 / p)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(PowerPooling):
    """The p-norm of each window of images: ``sum(x**p) ** (1 / p)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(PowerPooling):
    """The p-norm of each window of volumes: ``sum(x**p) ** (1 / p)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class AdaptiveAvgPool1d(AdaptiveAverage):
    """The means of ``output_size`` windows, into which sequences are divided evenly.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.AdaptiveAvgPool1d(2)(tp.tensor([[1., 3., 5., 7.]]))
    tensor([[2., 6.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveMaxPool1d(AdaptiveMaximum):
    """The maxima of ``output_size`` windows, into which sequences are divided evenly."""

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveAvgPool2d(AdaptiveAverage):
    """The means of ``output_size`` windows, into which images are divided evenly."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveMaxPool2d(AdaptiveMaximum):
    """The maxima of ``output_size`` windows, into which images are divided evenly."""

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveAvgPool3d(AdaptiveAverage):
    """The means of ``output_size`` windows, into which volumes are divided evenly."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool3d(AdaptiveMaximum):
    """The maxima of ``output_size`` windows, into which volumes are divided evenly."""

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class MaxUnpool1d(Unpooling):
    """Puts the maxima of :class:`MaxPool1d` back in their places, among zeros."""

    dims = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Spread the maxima."""
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(Unpooling):
    """Puts the maxima of :class:`MaxPool2d` back in their places, among zeros."""

    dims = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Spread the maxima."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(Unpooling):
    """Puts the maxima of :class:`MaxPool3d` back in their places, among zeros."""

    dims = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Spread the maxima."""
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class FractionalMaxPool2d(FractionalPooling):
    """The maxima of windows at random places, which make ``output_size`` of them (Graham, 2015)."""

    dims = 2

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.fractional_max_pool2d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool3d(FractionalPooling):
    """The maxima of windows at random places, which make ``output_size`` of them (Graham, 2015)."""

    dims = 3

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.fractional_max_pool3d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )
