"""Normalisation: by layer, batch, group, instance, root mean square and neighbourhood."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import align, batch_size, expand_to_batch, primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .kernels import narrowed, sum_over, widened

# ---- layer_norm: over the last dimensions, which are ``ndim`` many


def layer_norm_kernel(xp: Any, input: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5) -> Any:
    """Returns the result; and the normalised rows with the reciprocal deviations, for the reverse rule."""
    shape = input.shape
    size = math.prod(shape[len(shape) - ndim :])
    x = widened(input).reshape(-1, size) if size else widened(input).reshape(-1, 1)[:0]
    scale = x.dtype.type(size or 1)
    mean = np.add.reduce(x, axis=1, keepdims=True)
    mean /= scale
    hat = x - mean
    rstd = np.vecdot(hat, hat)[:, None]
    rstd /= scale
    rstd += x.dtype.type(eps)
    np.sqrt(rstd, out=rstd)
    np.reciprocal(rstd, out=rstd)
    hat *= rstd
    if weight is not None:
        out = hat * weight.reshape(-1)
        if bias is not None:
            out += bias.reshape(-1)
    else:
        out = hat.copy() if bias is None else hat + bias.reshape(-1)
    return narrowed(out.reshape(shape), input.dtype), (hat, rstd)


def standardised(F: Any, x: Any, ndim: int, eps: float) -> tuple[Any, Any]:
    """Rows of mean zero and variance one, and the reciprocal deviations, by operators that can be differentiated."""
    shape = x.shape
    kept, size = (*shape[: len(shape) - ndim], *(1,) * ndim), math.prod(shape[len(shape) - ndim :]) or 1
    centred = x - F.sum_to(x, kept) * (1 / size)
    rstd = (F.sum_to(centred * centred, kept) * (1 / size) + eps) ** -0.5
    return centred * rstd, rstd


def layer_norm_vjp(F: Any, g: Any, input: Any, weight: Any, bias_shape: Any, ndim: int, eps: float, kept: Any, needs: Any) -> Any:
    if kept is not None:
        return layer_norm_pull(g, weight, bias_shape, kept, needs)
    hat, rstd = standardised(F, input, ndim, eps)
    scaled = g if weight is None else g * weight
    of_weight = F.sum_to(g * hat, weight.shape) if needs[1] else None
    of_bias = F.sum_to(g, bias_shape) if needs[2] else None
    return layer_norm_tangent(F, scaled, hat, rstd, ndim) if needs[0] else None, of_weight, of_bias


def layer_norm_tangent(F: Any, t: Any, hat: Any, rstd: Any, ndim: int) -> Any:
    """The Jacobian of standardising, which is symmetric, times ``t``."""
    shape = t.shape
    kept, size = rstd.shape, math.prod(shape[len(shape) - ndim :]) or 1
    return (t - F.sum_to(t, kept) * (1 / size) - hat * (F.sum_to(t * hat, kept) * (1 / size))) * rstd


def layer_norm_pull(g: Any, weight: Any, bias_shape: Any, kept: Any, needs: Any) -> Any:
    """The reverse rule over arrays, from what the kernel kept."""
    hat, rstd = kept
    size = hat.dtype.type(hat.shape[1] or 1)
    rows = widened(g).reshape(hat.shape)
    inner = None
    of_weight = np.add.reduce(rows * hat, axis=0).reshape(weight.shape) if needs[1] else None
    of_bias = np.add.reduce(rows, axis=0).reshape(bias_shape) if needs[2] else None
    if needs[0]:
        scaled = rows if weight is None else rows * weight.reshape(-1)
        mean = np.add.reduce(scaled, axis=1, keepdims=True)
        mean /= size
        along = np.vecdot(scaled, hat)[:, None]
        along /= size
        inner = hat * along
        np.subtract(scaled, inner, out=inner)
        inner -= mean
        inner *= rstd
        inner = narrowed(inner.reshape(g.shape), g.dtype)
    return inner, of_weight if of_weight is None else narrowed(of_weight, g.dtype), of_bias if of_bias is None else narrowed(
        of_bias, g.dtype)  # fmt: skip


def layer_norm_jvp(F: Any, tangents: Any, input: Any, weight: Any, ndim: int, eps: float) -> Any:
    of_input, of_weight, of_bias = tangents
    hat, rstd = standardised(F, input, ndim, eps)
    out = None
    if of_input is not None:
        out = layer_norm_tangent(F, of_input, hat, rstd, ndim)
        out = out if weight is None else out * weight
    if of_weight is not None:
        out = hat * of_weight if out is None else out + hat * of_weight
    if of_bias is not None:
        out = of_bias if out is None else out + of_bias
    return out


def layer_norm_batch(p: Any, values: list[Any], dims: list[Any], ndim: int, eps: float) -> Any:
    input, weight, bias = values
    if dims[1] is dims[2] is None:
        return F.layer_norm(input, weight, bias, ndim, eps)
    out, of_out = F.layer_norm(input, None, None, ndim, eps), dims[0]
    for operator, operand, dim in ((F.mul, weight, dims[1]), (F.add, bias, dims[2])):
        if operand is not None:
            out = operator(*align([out, operand], [of_out, dim]))
            of_out = 0 if dim == 0 else of_out
    return out


layer_norm_ = primitive(
    "layer_norm", layer_norm_kernel, vjp=layer_norm_vjp, jvp=layer_norm_jvp, batch=layer_norm_batch,
    node_name="NativeLayerNormBackward0",
)  # fmt: skip


@operator(namespace="nn.functional", method=False, out=False)
def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise over the last dimensions: ``(x - mean) / sqrt(var + eps) * weight + bias``.

    Parameters
    ----------
    input : Tensor
    normalized_shape : sequence of int
        The extents of the dimensions that are normalised together, the last ones of the input.
    weight, bias : Tensor, optional
        Of shape ``normalized_shape``.
    eps : float
        Added to the (biased) variance.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.layer_norm(tp.tensor([[0., 1., 2.]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    shape = (normalized_shape,) if type(normalized_shape) is int else tuple(normalized_shape)
    whole = arg.tensor(input, "layer_norm")._data.shape
    n = len(shape)
    if not n:
        raise RuntimeError("layer_norm(): Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
                           f"element, but got normalized_shape = {list(shape)}")  # fmt: skip
    if whole[max(len(whole) - n, 0) :] != shape:
        raise RuntimeError(f"layer_norm(): Given normalized_shape={list(shape)}, expected input with shape [*, "
                           f"{', '.join(map(str, shape))}], but got input of size{list(whole)}")  # fmt: skip
    for name, a in (("weight", weight), ("bias", bias)):
        if a is not None and a._data.shape != shape:
            raise RuntimeError(f"layer_norm(): Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                               f"{list(a._data.shape)} and normalized_shape = {list(shape)}")  # fmt: skip
    if input._data.dtype.kind not in "fV":
        raise RuntimeError(f'layer_norm(): "LayerNormKernelImpl" not implemented for {input.dtype}')
    return F.layer_norm(input, weight, bias, n, eps)
