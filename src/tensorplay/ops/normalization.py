"""Normalisation: by layer, batch, group, instance, root mean square and neighbourhood."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backends import onednn
from ..core import dtype as dtypes
from ..core.inplace import write
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import align, batch_size, expand_to_batch, primitive
from ..core.tensor import Tensor
from ..core.threads import get_num_threads
from . import arguments as arg
from .conv import fold_channels, unfold_channels
from .kernels import narrowed, row_sums, widened

FLOAT32 = np.dtype(np.float32)

# ---- layer_norm: over the last dimensions, which are ``ndim`` many; rms_norm leaves their mean as it is


def layer_norm_kernel(
    xp: Any, input: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5, centred: bool = True
) -> Any:
    """Returns the result; and the normalised rows with the reciprocal deviations, for the reverse rule."""
    shape = input.shape
    size = math.prod(shape[len(shape) - ndim :])
    x = widened(input).reshape(-1, size) if size else widened(input).reshape(-1, 1)[:0]
    scale = x.dtype.type(size or 1)
    hat = x
    if centred:
        mean = row_sums(x)
        mean /= scale
        hat = x - mean
    rstd = np.vecdot(hat, hat)[:, None]
    rstd /= scale
    rstd += x.dtype.type(eps)
    np.sqrt(rstd, out=rstd)
    np.reciprocal(rstd, out=rstd)
    hat = np.multiply(hat, rstd, out=hat if centred else None)
    if weight is not None:
        out = hat * weight.reshape(-1)
        if bias is not None:
            out += bias.reshape(-1)
    else:
        out = hat.copy() if bias is None else hat + bias.reshape(-1)
    return narrowed(out.reshape(shape), input.dtype), (hat, rstd)


def standardised(F: Any, x: Any, ndim: int, eps: float, centred: bool = True) -> tuple[Any, Any]:
    """Rows of (mean zero and) variance one, and the reciprocal deviations, by operators that can be differentiated."""
    shape = x.shape
    kept, size = (*shape[: len(shape) - ndim], *(1,) * ndim), math.prod(shape[len(shape) - ndim :]) or 1
    if centred:
        x = x - F.sum_to(x, kept) * (1 / size)
    rstd = F.rsqrt(F.sum_to(x * x, kept) * (1 / size) + eps)
    return x * rstd, rstd


def layer_norm_vjp(
    F: Any,
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: Any,
    ndim: int,
    eps: float,
    centred: bool,
    kept: Any,
    needs: Any,
) -> Any:
    if kept is not None:
        return layer_norm_pull(g, weight, bias_shape, centred, kept, needs)
    hat, rstd = standardised(F, input, ndim, eps, centred)
    scaled = g if weight is None else g * weight
    of_weight = F.sum_to(g * hat, weight.shape) if needs[1] else None
    of_bias = F.sum_to(g, bias_shape) if needs[2] else None
    return layer_norm_tangent(F, scaled, hat, rstd, ndim, centred) if needs[0] else None, of_weight, of_bias


def layer_norm_tangent(F: Any, t: Any, hat: Any, rstd: Any, ndim: int, centred: bool) -> Any:
    """The Jacobian of standardising, which is symmetric, times ``t``."""
    shape = t.shape
    kept, size = rstd.shape, math.prod(shape[len(shape) - ndim :]) or 1
    inner = t - hat * (F.sum_to(t * hat, kept) * (1 / size))
    return (inner - F.sum_to(t, kept) * (1 / size) if centred else inner) * rstd


def layer_norm_pull(g: Any, weight: Any, bias_shape: Any, centred: bool, kept: Any, needs: Any) -> Any:
    """The reverse rule over arrays, from what the kernel kept."""
    hat, rstd = kept
    size = hat.dtype.type(hat.shape[1] or 1)
    rows = widened(g).reshape(hat.shape)
    inner = of_weight = of_bias = None
    if needs[1]:
        of_weight = narrowed(np.add.reduce(rows * hat, axis=0).reshape(weight.shape), weight.dtype)
    if needs[2]:
        of_bias = narrowed(np.add.reduce(rows, axis=0).reshape(bias_shape), g.dtype)
    if needs[0]:
        scaled = rows if weight is None else rows * weight.reshape(-1)
        along = np.vecdot(scaled, hat)[:, None]
        along /= size
        inner = hat * along
        np.subtract(scaled, inner, out=inner)
        if centred:
            mean = row_sums(scaled)
            mean /= size
            inner -= mean
        inner *= rstd
        inner = narrowed(inner.reshape(g.shape), g.dtype)
    return inner, of_weight, of_bias


def layer_norm_jvp(F: Any, tangents: Any, input: Any, weight: Any, ndim: int, eps: float, centred: bool) -> Any:
    of_input, of_weight, of_bias = tangents
    hat, rstd = standardised(F, input, ndim, eps, centred)
    out = None
    if of_input is not None:
        out = layer_norm_tangent(F, of_input, hat, rstd, ndim, centred)
        out = out if weight is None else out * weight
    if of_weight is not None:
        out = hat * of_weight if out is None else out + hat * of_weight
    if of_bias is not None:
        out = of_bias if out is None else out + of_bias
    return out


def layer_norm_batch(p: Any, values: list[Any], dims: list[Any], *attrs: Any) -> Any:
    input, weight, bias = values
    if dims[1] is dims[2] is None:
        return F.layer_norm(input, weight, bias, *attrs)
    out, of_out = F.layer_norm(input, None, None, *attrs), dims[0]
    for combine, operand, dim in ((F.mul, weight, dims[1]), (F.add, bias, dims[2])):
        if operand is not None:
            out = combine(*align([out, operand], [of_out, dim]))
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
    if type(eps) is not float:
        eps = arg.real(eps, "layer_norm", "eps", 5)
    shape = normalised_shape("layer_norm", input, normalized_shape, weight, bias)
    if input._data.dtype.char not in "fd" and mixed(input, weight, bias):
        return in_float32(F.layer_norm, input, weight, bias, len(shape), eps, True)
    return F.layer_norm(input, weight, bias, len(shape), eps, True)


def mixed(input: Tensor, *parameters: Tensor | None) -> bool:
    """Whether an input of low precision meets parameters in float32, as those of a model often are."""
    low = input._data.dtype.char == "e" or input._data.dtype.kind == "V"
    return low and any(p is not None and p._data.dtype.char == "f" for p in parameters)


def in_float32(function: Any, input: Tensor, weight: Tensor | None, bias: Tensor | None, *attrs: Any) -> Tensor:
    """A function of an input and parameters, computed in float32: each of them gets a gradient of its own dtype."""
    wide = [None if t is None else F.cast(t, np.dtype(np.float32)) for t in (input, weight, bias)]
    return F.cast(function(*wide, *attrs), input._data.dtype)


def normalised_shape(
    name: str, input: Tensor, normalized_shape: Any, weight: Tensor | None, bias: Tensor | None, kinds: str = "fV"
) -> tuple[int, ...]:
    """The extents that are normalised together.

    Raises
    ------
    RuntimeError
        If they are not the last ones of the input, or a parameter has another shape.
    """
    shape = (normalized_shape,) if type(normalized_shape) is int else tuple(normalized_shape)
    data = arg.tensor(input, name)._data
    whole, n = data.shape, len(shape)
    if not n:
        raise RuntimeError(
            f"{name}(): Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            f"but got normalized_shape = {list(shape)}"
        )
    if whole[max(len(whole) - n, 0) :] != shape:
        raise RuntimeError(f"{name}(): Given normalized_shape={list(shape)}, expected input with shape [*, "
                           f"{', '.join(map(str, shape))}], but got input of size{list(whole)}")  # fmt: skip
    for argument, a in (("weight", weight), ("bias", bias)):
        if a is not None and a._data.shape != shape:
            raise RuntimeError(
                f"{name}(): Expected {argument} to be of same shape as normalized_shape, but got {argument} of shape "
                f"{list(a._data.shape)} and normalized_shape = {list(shape)}"
            )
    if data.dtype.kind not in kinds:
        raise NotImplementedError(f"{name}(): not implemented for {input.dtype}")
    return shape


@operator(method=False, out=False)
@operator(namespace="nn.functional", method=False, out=False)
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Divide by the root mean square of the last dimensions: ``x / sqrt(mean(x**2) + eps) * weight``.

    Parameters
    ----------
    input : Tensor
    normalized_shape : sequence of int
        The extents of the dimensions that are normalised together, the last ones of the input.
    weight : Tensor, optional
        Of shape ``normalized_shape``.
    eps : float, optional
        The dtype's machine epsilon by default.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.rms_norm(tp.tensor([3., 4.]), (2,))
    tensor([0.8485, 1.1314])
    """
    shape = normalised_shape("rms_norm", input, normalized_shape, weight, None, "fVc")
    eps = dtypes.finfo(input.dtype).eps if eps is None else eps
    if input._data.dtype.kind == "c":
        hat = standardised(F, input, len(shape), eps, False)[0]
        return hat if weight is None else hat * weight
    if input._data.dtype.char not in "fd" and mixed(input, weight):
        return in_float32(F.layer_norm, input, weight, None, len(shape), eps, False)
    return F.layer_norm(input, weight, None, len(shape), eps, False)


# ---- batch_norm: over all dimensions but the second


def per_channel(vector: Any, ndim: int) -> Any:
    return vector.reshape(-1, *(1,) * (ndim - 2))


def moments(x: Any) -> tuple[Any, Any, Any]:
    """The centred array, and mean and (biased) variance of each channel."""
    n, channels = x.shape[:2]
    size = x.dtype.type(x.size // channels if channels and x.size else 1)
    mean = np.add.reduce(x, axis=(0, *range(2, x.ndim))) / size
    centred = x - per_channel(mean, x.ndim)
    rows = centred.reshape(n, channels, math.prod(x.shape[2:]))
    return centred, mean, np.add.reduce(np.vecdot(rows, rows), axis=0) / size


def channel_moments_kernel(xp: Any, input: Any) -> Any:
    x = widened(input)
    return (onednn.batch_norm(x, None, None, 1.0, get_num_threads()) or moments(x))[1:]


def channel_moments_batch(p: Any, values: list[Any], dims: list[Any]) -> Any:
    size = batch_size(values, dims)
    return [F.reshape(m, (size, m._data.shape[0] // size)) for m in F.channel_moments(fold_channels(values[0]))]


primitive("channel_moments", channel_moments_kernel, batch=channel_moments_batch, outputs=2)


def batch_norm_kernel(xp: Any, input: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
    """Returns the result; and the centred input with the reciprocal deviations, for the reverse rule.

    Or the moments of the channels instead, if the library computes it.
    """
    x, weight, bias = (None if t is None else widened(t) for t in (input, weight, bias))
    found = onednn.batch_norm(x, weight, bias, eps, get_num_threads())
    if found is not None:
        return narrowed(found[0], input.dtype), found[1:]
    centred, rstd = centred_channels(x, eps)
    scale = rstd if weight is None else rstd * weight
    out = centred * per_channel(scale, input.ndim)
    if bias is not None:
        out += per_channel(bias, input.ndim)
    return narrowed(out, input.dtype), (centred, rstd)


def centred_channels(x: Any, eps: float) -> tuple[Any, Any]:
    """The centred array, and the reciprocal deviation of each channel."""
    centred, _, variance = moments(x)
    return centred, 1 / np.sqrt(variance + variance.dtype.type(eps))


def channels_only(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1, shape[1], *(1,) * (len(shape) - 2))


def standardised_channels(F: Any, x: Any, eps: float) -> tuple[Any, Any]:
    kept = channels_only(x.shape)
    size = math.prod(x.shape) // (x.shape[1] or 1) or 1
    centred = x - F.sum_to(x, kept) * (1 / size)
    rstd = F.rsqrt(F.sum_to(centred * centred, kept) * (1 / size) + eps)
    return centred * rstd, rstd


def spread_channels(F: Any, vector: Any, ndim: int) -> Any:
    return F.reshape(vector, (vector.shape[0], *(1,) * (ndim - 2)))


def batch_norm_tangent(F: Any, t: Any, hat: Any, rstd: Any) -> Any:
    """The Jacobian of standardising, which is symmetric, times ``t``."""
    size = math.prod(t.shape) // (t.shape[1] or 1) or 1
    kept = rstd.shape
    return (t - F.sum_to(t, kept) * (1 / size) - hat * (F.sum_to(t * hat, kept) * (1 / size))) * rstd


def batch_norm_vjp(
    F: Any, g: Any, input: Any, weight: Any, bias_shape: Any, bias_dtype: Any, eps: float, kept: Any, needs: Any
) -> Any:
    if kept is not None and kept[0].ndim == 1:
        return batch_norm_pull_moments(g, input, weight, bias_dtype, eps, kept, needs)
    if kept is not None:
        return batch_norm_pull(g, weight, bias_dtype, kept, needs)
    ndim = len(g.shape)
    hat, rstd = standardised_channels(F, input, eps)
    scaled = g if weight is None else g * spread_channels(F, weight, ndim)
    of_weight = F.reshape(F.sum_to(g * hat, rstd.shape), weight.shape) if needs[1] else None
    of_bias = F.reshape(F.sum_to(g, rstd.shape), bias_shape) if needs[2] else None
    return batch_norm_tangent(F, scaled, hat, rstd) if needs[0] else None, of_weight, of_bias


def batch_norm_pull(g: Any, weight: Any, bias_dtype: Any, kept: Any, needs: Any) -> Any:
    """The reverse rule over arrays, from what the kernel kept."""
    centred, rstd = kept
    rows = widened(g)
    n, channels = rows.shape[:2]
    total = np.add.reduce(rows, axis=(0, *range(2, rows.ndim)))
    lines = (n, channels, math.prod(rows.shape[2:]))
    along = np.add.reduce(np.vecdot(rows.reshape(lines), centred.reshape(lines)), axis=0) * rstd
    inner = None
    if needs[0]:
        size = rows.dtype.type(rows.size // channels if rows.size else 1)
        inner = centred * per_channel(along * rstd / -size, rows.ndim)
        inner += rows
        inner -= per_channel(total / size, rows.ndim)
        inner *= per_channel(rstd if weight is None else rstd * widened(weight), rows.ndim)
        inner = narrowed(inner, g.dtype)
    return inner, narrowed(along, weight.dtype) if needs[1] else None, narrowed(total, bias_dtype) if needs[2] else None


def batch_norm_pull_moments(g: Any, input: Any, weight: Any, bias_dtype: Any, eps: float, kept: Any, needs: Any) -> Any:
    """The same where the library kept the moments."""
    x, scale = widened(input), None if weight is None else widened(weight)
    mean, var = kept
    found = onednn.batch_norm_input(widened(g), x, mean, var, scale, eps, get_num_threads())
    if found is None:
        return batch_norm_pull(g, weight, bias_dtype, centred_channels(x, eps), needs)
    wanted = g.dtype, None if weight is None else weight.dtype, bias_dtype
    return tuple([narrowed(a, dtype) if need else None for a, dtype, need in zip(found, wanted, needs, strict=True)])


def batch_norm_jvp(F: Any, tangents: Any, input: Any, weight: Any, out: Any, eps: float) -> Any:
    of_input, of_weight, of_bias = tangents
    ndim = len(out.shape)
    hat, rstd = standardised_channels(F, input, eps)
    total = None
    if of_input is not None:
        total = batch_norm_tangent(F, of_input, hat, rstd)
        total = total if weight is None else total * spread_channels(F, weight, ndim)
    if of_weight is not None:
        term = hat * spread_channels(F, of_weight, ndim)
        total = term if total is None else total + term
    if of_bias is not None:
        term = spread_channels(F, of_bias, ndim)
        total = term if total is None else total + term
    return total


def batch_norm_batch(p: Any, values: list[Any], dims: list[Any], eps: float) -> Any:
    """The examples' channels stand side by side."""
    size = batch_size(values, dims)
    input, *vectors = (
        v if v is None or d == 0 else expand_to_batch(v, size) for v, d in zip(values, dims, strict=True)
    )
    folded = [None if v is None else F.reshape(v, (v._data.shape[0] * v._data.shape[1],)) for v in vectors]
    return unfold_channels(F.batch_norm(fold_channels(input), *folded, eps), size)


primitive("batch_norm", batch_norm_kernel, vjp=batch_norm_vjp, jvp=batch_norm_jvp, batch=batch_norm_batch,
          node_name="NativeBatchNormBackward0")  # fmt: skip


def floating(input: Tensor, name: str) -> Tensor:
    """The input, which must be of a floating dtype."""
    if arg.tensor(input, name)._data.dtype.kind not in "fV":
        raise NotImplementedError(f"{name}(): not implemented for {input.dtype}")
    return input


def check_vectors(name: str, channels: int, **vectors: Tensor | None) -> None:
    for argument, v in vectors.items():
        if v is not None and v._data.size != channels:
            raise RuntimeError(f"{name}(): {argument} should contain {channels} elements not {v._data.size}")


def with_statistics(
    input: Tensor, mean: Tensor, var: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` for each channel, with given moments."""
    ndim, dtype = input._data.ndim, input._data.dtype
    if dtype.char not in "fd":
        x, mean, var = (F.cast(t, FLOAT32) for t in (input, mean, var))
        weight, bias = (None if t is None else F.cast(t, FLOAT32) for t in (weight, bias))
        return F.cast(with_statistics(x, mean, var, weight, bias, eps), dtype)
    scale = F.rsqrt(F.add(var, eps))
    scale = scale if weight is None else F.mul(scale, weight)
    shift = F.neg(F.mul(mean, scale))
    shift = shift if bias is None else F.add(shift, bias)
    out = F.add(F.mul(input, spread_channels(F, scale, ndim)), spread_channels(F, shift, ndim))
    return out if out._data.dtype == dtype else F.cast(out, dtype)


def update_statistics(
    running_mean: Tensor | None, running_var: Tensor | None, mean: Tensor, var: Tensor, count: int, momentum: float
) -> None:
    """Move running moments towards those of a batch, in place; the variance as an unbiased one."""
    for running, new in ((running_mean, mean), (running_var, var * (count / (count - 1) if count > 1 else math.nan))):
        if running is not None:
            with_momentum = running.detach() * (1 - momentum) + new * momentum
            write(running, F.cast(with_momentum, running._data.dtype), "batch_norm")


@operator(namespace="nn.functional", method=False, out=False)
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel over the batch and all positions (Ioffe and Szegedy, 2015).

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, ...).
    running_mean, running_var : Tensor or None
        Moments of each channel: read where ``training`` is false, else moved towards those of the batch, in place.
    weight, bias : Tensor, optional
        Scale and shift of each channel.
    training : bool
        Use the batch's own moments.
    momentum : float
        How far the running moments move.
    eps : float
        Added to the variance.

    Raises
    ------
    ValueError
        If there is only one value per channel to train on.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.batch_norm(tp.tensor([[0.], [2.]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if type(eps) is not float:
        eps = arg.real(eps, "batch_norm", "eps", 8)
    data = arg.tensor(input, "batch_norm")._data
    shape = data.shape
    if len(shape) < 2:
        if not data.size:
            return input * 1
        raise RuntimeError(f"batch_norm(): expected an input of at least 2 dimensions, (N, C, ...), got {list(shape)}")
    if data.dtype.kind not in "fV":
        raise NotImplementedError(f'batch_norm(): "batch_norm" not implemented for {input.dtype}')
    check_vectors("batch_norm", shape[1], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("batch_norm(): Expected running_mean and running_var to be defined when training=False")
        return with_statistics(input, running_mean, running_var, weight, bias, eps)
    count = data.size // (shape[1] or 1)
    if count == 1:
        raise ValueError(
            f"batch_norm(): Expected more than 1 value per channel when training, got input size {list(shape)}"
        )
    if count and (running_mean is not None or running_var is not None):
        mean, var = F.channel_moments(input.detach())
        update_statistics(running_mean, running_var, mean, var, count, momentum)
    if data.dtype.char not in "fd" and mixed(input, weight, bias):
        return in_float32(F.batch_norm, input, weight, bias, eps)
    return F.batch_norm(input, weight, bias, eps)


# ---- group_norm, instance_norm, local_response_norm


@operator(method=False, out=False)
@operator(namespace="nn.functional", method=False, out=False)
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise groups of channels of each example over all positions (Wu and He, 2018).

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, ...).
    num_groups : int
        A divisor of C.
    weight, bias : Tensor, optional
        Scale and shift of each channel.
    eps : float
        Added to the variance.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.group_norm(tp.tensor([[0., 2., 5., 7.]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if type(eps) is not float:
        eps = arg.real(eps, "group_norm", "eps", 5)
    shape = floating(input, "group_norm")._data.shape
    if len(shape) < 2:
        raise RuntimeError(f"group_norm(): Expected at least 2 dimensions for input tensor but received {len(shape)}")
    n, channels = shape[:2]
    if num_groups < 1 or channels % num_groups:
        raise RuntimeError(
            "group_norm(): Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    for name, v in (("weight", weight), ("bias", bias)):
        if v is not None and v._data.shape != (channels,):
            raise RuntimeError(
                f"group_norm(): Expected {name} to be a vector of size equal to the number of channels in input, but "
                f"got {name} of shape {list(v._data.shape)} and input of shape {list(shape)}"
            )
    size = math.prod(shape[1:])
    if n * size // num_groups == 1:
        raise ValueError(
            f"group_norm(): Expected more than 1 value per channel when training, got input size {list(shape)}"
        )
    rows = F.reshape(input, (n, num_groups, size // num_groups))
    out = F.reshape(F.layer_norm(rows, None, None, 1, eps, True), shape)
    return affine(out, weight, bias)


def affine(out: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Scale and shift each channel."""
    ndim, dtype = out._data.ndim, out._data.dtype
    if weight is not None:
        out = F.mul(out, spread_channels(F, weight, ndim))
    if bias is not None:
        out = F.add(out, spread_channels(F, bias, ndim))
    return out if out._data.dtype == dtype else F.cast(out, dtype)


@operator(namespace="nn.functional", method=False, out=False)
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel of each example over all positions (Ulyanov et al., 2016).

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, ...).
    running_mean, running_var : Tensor, optional
        Moments of each channel: read where ``use_input_stats`` is false, else moved towards the examples' mean ones.
    weight, bias : Tensor, optional
        Scale and shift of each channel.
    use_input_stats : bool
        Use the moments of the example itself.
    momentum, eps : float
        As of :func:`batch_norm`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.instance_norm(tp.tensor([[[0., 2.], [5., 7.]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    if type(eps) is not float:
        eps = arg.real(eps, "instance_norm", "eps", 8)
    shape = floating(input, "instance_norm")._data.shape
    if len(shape) < 2:
        raise RuntimeError(f"instance_norm(): expected an input of shape (N, C, ...), got {list(shape)}")
    n, channels = shape[:2]
    check_vectors(
        "instance_norm",
        channels,
        running_mean=running_mean,
        running_var=running_var,
        weight=weight,
        bias=bias,
    )
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "instance_norm(): Expected running_mean and running_var to be defined when use_input_stats=False"
            )
        return with_statistics(input, running_mean, running_var, weight, bias, eps)
    size = math.prod(shape[2:])
    if size == 1:
        raise ValueError(
            f"instance_norm(): Expected more than 1 spatial element when training, got input size {list(shape)}"
        )
    rows = F.reshape(input, (n, channels, size))
    if running_mean is not None or running_var is not None:
        mean, var = (
            F.reshape(m, (n, channels)) for m in F.channel_moments(F.reshape(rows.detach(), (1, n * channels, size)))
        )
        mean, var = (F.reshape(F.sum_to(m, (1, channels)), (channels,)) * (1 / n) for m in (mean, var))
        update_statistics(running_mean, running_var, mean, var, size, momentum)
    return affine(F.reshape(F.layer_norm(rows, None, None, 1, eps, True), shape), weight, bias)


@operator(namespace="nn.functional", method=False, out=False)
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divide by a power of the mean square of neighbouring channels: ``x / (k + alpha * mean(x**2)) ** beta``.

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, ...).
    size : int
        Number of channels that are averaged.
    alpha, beta, k : float

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.local_response_norm(tp.tensor([[[1.]], [[2.]]]), 1, alpha=1., beta=0.5)
    tensor([[[0.7071]],
    <BLANKLINE>
            [[0.8944]]])
    """
    shape = arg.tensor(input, "local_response_norm")._data.shape
    if len(shape) < 3:
        raise ValueError(
            f"local_response_norm(): Expected 3D or higher dimensionality input (got {len(shape)} dimensions)"
        )
    size = arg.integer(size, "local_response_norm", "size", 2)
    if not input._data.size:
        return input
    n, channels = shape[:2]
    squares = F.reshape(F.mul(input, input), (n, channels, math.prod(shape[2:])))
    before, whole = size // 2, channels + size - 1
    padded = F.unslice(
        squares, (n, whole, squares._data.shape[2]), (slice(None), slice(before, before + channels), slice(None))
    )
    total = F.reshape(F.sum_pool(padded, (size, 1), (1, 1), (0, 0), (channels, squares._data.shape[2])), shape)
    mean = F.divided_down(total, size) if total._data.dtype.kind in "iu" else total * (1 / size)
    return input / (mean * alpha + k) ** beta
