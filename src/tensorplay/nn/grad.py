"""Gradients of convolutions, for those who write a backward pass by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.namespace import F
from ..core.tensor import Tensor
from ..ops.conv import per_dimension
from ..ops.factories import empty
from . import functional

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

Ints = int | Sequence[int]


def options(
    name: str, n: int, input_size: Sequence[int], weight_size: Sequence[int], grad_output: Tensor, stride: Ints,
    padding: Ints, dilation: Ints, groups: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Stride, padding, dilation and groups, after the convolution was run without values to check them."""
    if len(input_size) != n + 2:
        raise RuntimeError(f"{name}(): expected an input size of {n + 2} dimensions, got {list(input_size)}")
    input, weight = empty(input_size, device="meta"), empty(weight_size, device="meta")
    convolution = getattr(functional, f"conv{n}d")
    shape = convolution(input, weight, None, stride, padding, dilation, groups).shape
    if grad_output.shape != shape:
        raise RuntimeError(f"{name}(): argument 'grad_output' must have the shape of the convolution's result, "
                           f"{list(shape)}, got {list(grad_output.shape)}")  # fmt: skip
    each = [per_dimension(value, n, name, "option", 0, "") for value in (stride, padding, dilation)]
    return (*each, groups)


def input_gradient(
    name: str, n: int, input_size: Sequence[int], weight: Tensor, grad_output: Tensor, *given: Any
) -> Tensor:
    chosen = options(name, n, input_size, weight.shape, grad_output, *given)
    return F.conv_input(grad_output, weight, *chosen, tuple(input_size[2:]))


def weight_gradient(
    name: str, n: int, input: Tensor, weight_size: Sequence[int], grad_output: Tensor, *given: Any
) -> Tensor:
    chosen = options(name, n, input.shape, weight_size, grad_output, *given)
    return F.conv_weight(input, grad_output, *chosen, tuple(weight_size[2:]))


def conv1d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`~tensorplay.nn.functional.conv1d` in its input.

    Parameters
    ----------
    input_size : sequence of int
        The shape of the input, ``(N, C, L)``.
    weight : Tensor
        Of shape ``(C_out, C / groups, kernel)``.
    grad_output : Tensor
        The gradient of the result, ``(N, C_out, L_out)``.
    stride, padding, dilation, groups
        Those of the convolution.

    Raises
    ------
    RuntimeError
        If the shapes are not those of a convolution.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.grad.conv1d_input((1, 1, 3), tp.tensor([[[1., 2.]]]), tp.ones(1, 1, 2))
    tensor([[[1., 3., 2.]]])
    """
    return input_gradient("conv1d_input", 1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`~tensorplay.nn.functional.conv1d` in its weight; see :func:`conv1d_input`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.grad.conv1d_weight(tp.tensor([[[1., 2., 3.]]]), (1, 1, 2), tp.ones(1, 1, 2))
    tensor([[[3., 5.]]])
    """
    return weight_gradient("conv1d_weight", 1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`~tensorplay.nn.functional.conv2d` in its input; see :func:`conv1d_input`."""
    return input_gradient("conv2d_input", 2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`~tensorplay.nn.functional.conv2d` in its weight; see :func:`conv1d_input`."""
    return weight_gradient("conv2d_weight", 2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`~tensorplay.nn.functional.conv3d` in its input; see :func:`conv1d_input`."""
    return input_gradient("conv3d_input", 3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`~tensorplay.nn.functional.conv3d` in its weight; see :func:`conv1d_input`."""
    return weight_gradient("conv3d_weight", 3, input, weight_size, grad_output, stride, padding, dilation, groups)
