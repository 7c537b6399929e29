"""Convolutions and transposed convolutions of sequences, images and volumes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.factories import empty
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def for_each(value: Any, dims: int) -> tuple[Any, ...]:
    """One number for each dimension."""
    return (value,) * dims if isinstance(value, int) else tuple(value)


class Convolution(Module):
    """What convolutions have in common; ``dims`` is the number of spatial dimensions."""

    dims: int = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.transposed = transposed
        if not self.dims:  # a program's own kind of convolution
            self.dims = len(kernel_size)
        name = self._get_name()
        if groups <= 0:
            raise ValueError(f"{name}: groups must be a positive integer, got {groups}")
        for channels, which in ((in_channels, "in_channels"), (out_channels, "out_channels")):
            if channels % groups != 0:
                raise ValueError(f"{which} must be divisible by groups, got {channels} and {groups} groups")
        if padding_mode not in PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{padding_mode}'")
        self.stride = for_each(stride, self.dims)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same', 'valid'")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.dilation = for_each(kernel_size, self.dims), for_each(dilation, self.dims)
        self.padding = padding if isinstance(padding, str) else for_each(padding, self.dims)
        self.output_padding, self.padding_mode = for_each(output_padding, self.dims), padding_mode
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((first, second // groups, *self.kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty((out_channels,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values, uniform within ``1 / sqrt(fan_in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.fans(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _borders(self) -> list[int]:
        """The padding at both ends, the last dimension first, as ``pad`` takes it."""
        padding: Any = self.padding
        if padding == "valid":
            return [0] * (2 * self.dims)
        if padding == "same":
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return [n for t in reversed(total) for n in (t // 2, t - t // 2)]
        return [n for p in reversed(padding) for n in (p, p)]

    _reversed_padding_repeated_twice = property(_borders)  # for layers of others that pad by themselves

    def extra_repr(self) -> str:
        """Sizes and options."""
        shown = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        usual = {"padding": 0, "dilation": 1, "output_padding": 0}
        shown += [f"{k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k) != (v,) * self.dims]
        if self.groups != 1:
            shown.append(f"groups={self.groups}")
        if self.bias is None:
            shown.append("bias=False")
        if self.padding_mode != "zeros":
            shown.append(f"padding_mode={self.padding_mode}")
        return ", ".join(shown)


class Transposed(Convolution):
    """What transposed convolutions have in common."""

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        if output_size is None:
            return self.output_padding
        sizes = tuple(output_size)[-self.dims :]
        if len(output_size) not in (self.dims, input.ndim):
            raise ValueError(f"{self._get_name()}: for {input.ndim}D input, output_size must have {self.dims} or "
                             f"{input.ndim} elements (got {len(output_size)})")  # fmt: skip
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                input.shape[-self.dims :], self.stride, self.padding, self.dilation, self.kernel_size
            )
        ]
        most = [n + s - 1 for n, s in zip(least, self.stride)]
        if not all(a <= n <= b for a, n, b in zip(least, sizes, most)):
            raise ValueError(f"requested an output size of {list(sizes)}, but valid sizes range from {least} to {most} "
                             f"(for an input of {tuple(input.shape[2:])})")  # fmt: skip
        return tuple(n - a for n, a in zip(sizes, least))


class Conv1d(Convolution):
    """Cross-correlates sequences, (N, C, L) or (C, L), with learned windows.

    Parameters
    ----------
    in_channels, out_channels : int
        How many channels go in and come out.
    kernel_size, stride, dilation : int or tuple of int
        The size of the windows, the steps between them, and those between their entries.
    padding : int, tuple of int or str
        How many entries are added at each end; ``"valid"`` is none, ``"same"`` keeps the size.
    groups : int
        The channels are divided into so many groups, which do not meet.
    bias : bool
        Whether a number is added to each channel.
    padding_mode : str
        What is added: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Conv1d(2, 4, 3)(tp.zeros(5, 2, 8)).shape
    tensorplay.Size([5, 4, 6])
    """

    dims = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups,
                         bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._borders(), self.padding_mode), 0
        return F.conv1d(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv2d(Convolution):
    """Cross-correlates images, (N, C, H, W) or (C, H, W), with learned windows.

    Parameters
    ----------
    in_channels, out_channels : int
        How many channels go in and come out.
    kernel_size, stride, dilation : int or tuple of int
        The size of the windows, the steps between them, and those between their entries.
    padding : int, tuple of int or str
        How many entries are added at each end; ``"valid"`` is none, ``"same"`` keeps the size.
    groups : int
        The channels are divided into so many groups, which do not meet.
    bias : bool
        Whether a number is added to each channel.
    padding_mode : str
        What is added: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Conv2d(1, 4, 3, padding=1)(tp.zeros(5, 1, 8, 8)).shape
    tensorplay.Size([5, 4, 8, 8])
    """

    dims = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups,
                         bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._borders(), self.padding_mode), 0
        return F.conv2d(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv3d(Convolution):
    """Cross-correlates volumes, (N, C, D, H, W) or (C, D, H, W), with learned windows.

    Parameters
    ----------
    in_channels, out_channels : int
        How many channels go in and come out.
    kernel_size, stride, dilation : int or tuple of int
        The size of the windows, the steps between them, and those between their entries.
    padding : int, tuple of int or str
        How many entries are added at each end; ``"valid"`` is none, ``"same"`` keeps the size.
    groups : int
        The channels are divided into so many groups, which do not meet.
    bias : bool
        Whether a number is added to each channel.
    padding_mode : str
        What is added: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Conv3d(1, 2, 3)(tp.zeros(5, 1, 4, 4, 4)).shape
    tensorplay.Size([5, 2, 2, 2, 2])
    """

    dims = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups,
                         bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._borders(), self.padding_mode), 0
        return F.conv3d(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class ConvTranspose1d(Transposed):
    """Transposed convolution of sequences: the gradient of :class:`Conv1d` with respect to its input.

    The parameters are those of :class:`Conv1d`, and ``output_padding``, which adds to one end of the output;
    ``forward`` finds it for the ``output_size`` that it is given.
    """

    dims = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
                         groups, bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Convolve the input."""
        extra = self._output_padding(input, output_size)
        return F.conv_transpose1d(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose2d(Transposed):
    """Transposed convolution of images: the gradient of :class:`Conv2d` with respect to its input.

    The parameters are those of :class:`Conv2d`, and ``output_padding``, which adds to one end of the output;
    ``forward`` finds it for the ``output_size`` that it is given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.ConvTranspose2d(4, 1, 3, stride=2)(tp.zeros(5, 4, 3, 3)).shape
    tensorplay.Size([5, 1, 7, 7])
    """

    dims = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
                         groups, bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Convolve the input."""
        extra = self._output_padding(input, output_size)
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose3d(Transposed):
    """Transposed convolution of volumes: the gradient of :class:`Conv3d` with respect to its input.

    The parameters are those of :class:`Conv3d`, and ``output_padding``, which adds to one end of the output;
    ``forward`` finds it for the ``output_size`` that it is given.
    """

    dims = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
                         groups, bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Convolve the input."""
        extra = self._output_padding(input, output_size)
        return F.conv_transpose3d(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
