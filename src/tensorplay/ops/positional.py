"""The package's own forms of functions of ``nn.functional``: another order of arguments, and numbers for reductions."""

from __future__ import annotations

from typing import Any

from ..core import dtype as dtypes
from ..core.namespace import F
from ..core.operator import operator
from ..core.tensor import Tensor
from . import arguments as arg
from . import dense, loss, normalization, pool
from . import margin as margins
from .loss import reduced

package = operator(method=False, out=False)
REDUCTION = ("none", "mean", "sum")

# ---- losses: 0, 1 and 2 are "none", "mean" and "sum"


@package
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """As :func:`tensorplay.nn.functional.binary_cross_entropy_with_logits`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.binary_cross_entropy_with_logits(tp.tensor([0.]), tp.tensor([1.]))
    tensor(0.6931)
    """
    return loss.binary_cross_entropy_with_logits(
        input, target, weight, reduction=REDUCTION[reduction], pos_weight=pos_weight
    )


@package
def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """As :func:`tensorplay.nn.functional.kl_div`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.kl_div(tp.tensor([0.5, 0.5]).log(), tp.tensor([1., 0.]), 2)
    tensor(0.6931)
    """
    return reduced(F.kl_div(input, target, log_target), REDUCTION[reduction])


@package
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """As :func:`tensorplay.nn.functional.poisson_nll_loss`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.poisson_nll_loss(tp.tensor([0.]), tp.tensor([1.]), True, False, 1e-8, 1)
    tensor(1.)
    """
    return loss.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=REDUCTION[reduction])


@package
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1) -> Tensor:
    """As :func:`tensorplay.nn.functional.hinge_embedding_loss`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.hinge_embedding_loss(tp.tensor([0.5]), tp.tensor([-1.]))
    tensor(0.5000)
    """
    return margins.hinge_embedding_loss(input, target, margin, reduction=REDUCTION[reduction])


@package
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """As :func:`tensorplay.nn.functional.margin_ranking_loss`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.margin_ranking_loss(tp.tensor([1.]), tp.tensor([3.]), tp.tensor([1.]))
    tensor(2.)
    """
    return margins.margin_ranking_loss(input1, input2, target, margin, reduction=REDUCTION[reduction])


@package
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """As :func:`tensorplay.nn.functional.cosine_embedding_loss`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cosine_embedding_loss(tp.tensor([1., 0.]), tp.tensor([1., 0.]), tp.tensor(-1.))
    tensor(1.)
    """
    return margins.cosine_embedding_loss(input1, input2, target, margin, reduction=REDUCTION[reduction])


@package
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """As :func:`tensorplay.nn.functional.triplet_margin_loss`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.triplet_margin_loss(tp.tensor([[0.]]), tp.tensor([[1.]]), tp.tensor([[1.]]))
    tensor(1.)
    """
    return margins.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=REDUCTION[reduction])


# ---- normalisation; the last flags choose between implementations that are one here


@package
def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    """As :func:`tensorplay.nn.functional.layer_norm`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.layer_norm(tp.tensor([0., 2.]), (2,))
    tensor([-1.0000,  1.0000])
    """
    return normalization.layer_norm(input, normalized_shape, weight, bias, eps)


@package
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """As :func:`tensorplay.nn.functional.batch_norm`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.batch_norm(tp.tensor([[0.], [2.]]), None, None, None, None, True, 0.1, 0.0, True)
    tensor([[-1.],
            [ 1.]])
    """
    return normalization.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@package
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """As :func:`tensorplay.nn.functional.instance_norm`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.instance_norm(tp.tensor([[[0., 2.]]]), None, None, None, None, True, 0.1, 0.0, True)
    tensor([[[-1.,  1.]]])
    """
    return normalization.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@package
def native_layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`layer_norm`, with the means and the reciprocal deviations.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.native_layer_norm(tp.tensor([0., 2.]), (2,), None, None, 0.0)
    (tensor([-1.,  1.]), tensor([1.]), tensor([1.]))
    """
    n = len(normalization.normalised_shape("native_layer_norm", input, normalized_shape, weight, bias))
    out = F.layer_norm(input, weight, bias, n, eps, True)
    return out, *mean_and_rstd(input, tuple(range(-n, 0)), eps)


def mean_and_rstd(x: Tensor, dims: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor]:
    """Means and reciprocal deviations over some dimensions, which are kept."""
    mean = F.mean(x, dims, True)
    centred = x - mean
    return mean, F.rsqrt(F.mean(centred * centred, dims, True) + eps)


@package
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`group_norm`, with the means and the reciprocal deviations of each group.

    Examples
    --------
    >>> import tensorplay as tp
    >>> out, mean, rstd = tp.native_group_norm(tp.tensor([[[0., 2.]]]), None, None, 1, 1, 2, 1, 0.0)
    >>> mean, rstd
    (tensor([[1.]]), tensor([[1.]]))
    """
    out = normalization.group_norm(input, group, weight, bias, eps)
    rows = F.reshape(input, (N, group, C // group * HxW))
    return out, *(F.reshape(m, (N, group)) for m in mean_and_rstd(rows, (-1,), eps))


@operator(method=False)
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`batch_norm`, with the means and reciprocal deviations of the batch, which are empty without ``training``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> out, mean, rstd = tp.native_batch_norm(tp.tensor([[0.], [2.]]), None, None, None, None, True, 0.1, 0.0)
    >>> mean, rstd
    (tensor([1.]), tensor([1.]))
    """
    out = normalization.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        empty = F.reshape(F.slice(F.reshape(input.detach(), (-1,)), (slice(0, 0),)), (0,))
        return out, empty, empty
    ndim = input._data.ndim
    moments = mean_and_rstd(input, (-ndim, *range(2 - ndim, 0)), eps)
    return out, *(F.reshape(m, (input._data.shape[1],)) for m in moments)


@operator(method=False)
def _native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None, *args: Any) -> Any:
    """:func:`native_batch_norm`, also without running moments.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp._native_batch_norm_legit(tp.tensor([[0.], [2.]]), None, None, True, 0.1, 0.0)[1]
    tensor([1.])
    """
    if isinstance(args[0], bool):
        args = (None, None, *args)
    return native_batch_norm(input, weight, bias, *args)


# ---- softmax


@package
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtypes.dtype) -> Tensor:
    """The cotangent ``grad_output`` of a softmax whose result was ``output``, as one of its input.

    Parameters
    ----------
    grad_output, output : Tensor
        Of one shape.
    dim : int
        The dimension of the softmax.
    input_dtype : dtype
        That of the input. The result has the dtype of ``output``, which differs only on other devices.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp._softmax_backward_data(tp.tensor([1., 0.]), tp.tensor([0.5, 0.5]), 0, tp.float32)
    tensor([ 0.2500, -0.2500])
    """
    name = "_softmax_backward_data"
    g, out = arg.tensor(grad_output, name, "grad_output"), arg.tensor(output, name, "output", 2)
    if g._data.shape != out._data.shape:
        raise RuntimeError(f"{name}(): Expected tensor for argument #1 'grad' to have same size as tensor for argument "
                           f"#2 'output'; but {list(g.shape)} does not equal {list(out.shape)}")  # fmt: skip
    if out._data.dtype.kind not in "fV":
        raise NotImplementedError(f"{name}(): not implemented for {out.dtype}")
    if g._data.dtype != out._data.dtype:
        raise RuntimeError(f"{name}(): expected grad_output and output of one dtype, got {g.dtype} and {out.dtype}")
    dtypes.dtype_argument(input_dtype, name, "input_dtype", 4)
    dim = arg.dimension(dim, out._data.ndim, name)
    if not out._data.ndim:
        return F.reshape(F.softmax_backward(F.reshape(g, (1,)), F.reshape(out, (1,)), -1), ())
    return F.softmax_backward(g, out, dim)


# ---- embeddings, pooling


@package
def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """As :func:`tensorplay.nn.functional.embedding`; a negative ``padding_idx`` stands for none.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.embedding(tp.tensor([[1., 2.], [3., 4.]]), tp.tensor([1]))
    tensor([[3., 4.]])
    """
    return dense.embedding(
        indices, weight, padding_idx if padding_idx >= 0 else None, scale_grad_by_freq=scale_grad_by_freq
    )


@package
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    """:func:`tensorplay.nn.functional.adaptive_max_pool1d`, with the positions of the maxima.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.adaptive_max_pool1d(tp.tensor([[1., 3., 2.]]), 1)
    (tensor([[3.]]), tensor([[1]]))
    """
    return pool.adaptive_max_pool1d(input, output_size, True)
