"""Losses between inputs and targets, element by element."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import batch_size, check_broadcast, elementwise, primitive
from ..core.promotion import promote_types
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .declare import refusing
from .kernels import narrowed, widened

REDUCTIONS = ("mean", "sum", "none")


def total(F: Any, x: Any) -> Any:
    """The sum of all elements."""
    return F.sum_to(x, ())


def total_over(x: Tensor, ndim: int) -> Tensor:
    """The sum over the last ``ndim`` dimensions."""
    shape = x._data.shape
    keep = shape[: len(shape) - ndim]
    return F.reshape(F.sum_to(x, (*keep, *(1,) * ndim)), keep)


def reduction_of(reduction: Any, size_average: Any, reduce: Any, name: str) -> str:
    """The reduction, also from the two flags that came before it.

    Raises
    ------
    ValueError
        If it is none of "mean", "sum", "none".
    """
    if size_average is not None or reduce is not None:
        size_average = True if size_average is None else size_average
        reduction = ("mean" if size_average else "sum") if reduce is None or reduce else "none"
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
                      UserWarning, stacklevel=3)  # fmt: skip
    if reduction not in REDUCTIONS:
        raise ValueError(
            f"{name}(): {reduction!r} is not a valid value for reduction, which is one of {', '.join(REDUCTIONS)}"
        )
    return reduction


# ---- mean squared error


def mse_loss_kernel(xp: Any, input: Any, target: Any, *, mean: bool) -> Any:
    """Returns the loss, and the difference for the reverse rule."""
    difference = input - target
    flat = widened(difference).reshape(-1)
    out = flat.dot(flat)
    if mean:
        out = out / out.dtype.type(flat.size or np.nan)
    return narrowed(out, input.dtype), difference


def mse_loss_vjp(F: Any, g: Any, input: Any, target: Any, mean: bool, kept: Any) -> Any:
    difference = input - target if kept is None else kept
    return difference * (g * twice(difference, mean))


def twice(x: Any, mean: bool) -> float:
    """The derivative's factor: 2, or 2 / n."""
    return 2.0 / (math.prod(x.shape) or math.nan) if mean else 2.0


def mse_loss_joint(F: Any, g: Any, input: Any, target: Any, mean: bool, kept: Any, needs: Any) -> Any:
    of_input = mse_loss_vjp(F, g, input, target, mean, kept)
    return of_input if needs[0] else None, -of_input if needs[1] else None


def mse_loss_jvp(F: Any, tangents: Any, input: Any, target: Any, mean: bool) -> Any:
    of_input, of_target = tangents
    t = -of_target if of_input is None else of_input if of_target is None else of_input - of_target
    difference = input - target
    return total(F, difference * t) * twice(difference, mean)


def mse_loss_batch(p: Any, values: list[Any], dims: list[Any], mean: bool) -> Any:
    input, target = values
    difference = F.sub(input, target)
    out = total_over(F.mul(difference, difference), difference._data.ndim - 1)
    return out * (twice(difference, mean) * batch_size(values, dims) / 2) if mean else out


mse_loss_ = primitive(
    "mse_loss", mse_loss_kernel, vjp=mse_loss_joint, jvp=mse_loss_jvp, batch=mse_loss_batch,
)  # fmt: skip


def pair(input: Tensor, target: Tensor, name: str, argument: str = "target") -> tuple[Tensor, Tensor]:
    """Two tensors of one shape and dtype; broadcasting them is allowed, with a warning."""
    a, b = arg.tensor(input, name)._data, arg.tensor(target, name, argument, 2)._data
    if a.dtype != b.dtype:
        dtype = promote_types(input.dtype, target.dtype).numpy
        input, target = (x if x._data.dtype == dtype else F.cast(x, dtype) for x in (input, target))
    if a.shape != b.shape:
        warnings.warn(
            f"Using a target size ({list(b.shape)}) that is different to the input size ({list(a.shape)}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            UserWarning,
            stacklevel=4,
        )
        check_broadcast(name, [a.shape, b.shape])
        shape = np.broadcast_shapes(a.shape, b.shape)
        input, target = F.expand(input, shape), F.expand(target, shape)
    return input, target


@operator(namespace="nn.functional", method=False, out=False)
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Mean squared error: ``(input - target) ** 2``, averaged.

    Parameters
    ----------
    input, target : Tensor
        Of the same shape.
    reduction : {"mean", "sum", "none"}
    weight : Tensor, optional
        Factors of the squares, of the same shape; the mean divides by their sum.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.mse_loss(tp.tensor([1., 2.]), tp.tensor([1., 4.]))
    tensor(2.)
    """
    if size_average is not None or reduce is not None or reduction not in REDUCTIONS:
        reduction = reduction_of(reduction, size_average, reduce, "mse_loss")
    try:
        a, b = input._data, target._data
    except AttributeError:
        pair(input, target, "mse_loss")
        raise
    if a.shape != b.shape or a.dtype != b.dtype:
        input, target = pair(input, target, "mse_loss")
        a = input._data
    if a.dtype.kind not in "fVc":
        raise NotImplementedError(f'mse_loss(): "mse_cpu" not implemented for {input.dtype}')
    if weight is None and reduction != "none" and a.dtype.kind != "c":
        return F.mse_loss(input, target, reduction == "mean")
    difference = input - target
    return weighted(difference * difference, weight, reduction, "mse_loss")


def weighted(losses: Tensor, weight: Tensor | None, reduction: str, name: str) -> Tensor:
    """Losses times weights, reduced; the mean divides by the weights."""
    if weight is None:
        return reduced(losses, reduction)
    if weight._data.shape != losses._data.shape:
        raise ValueError(f"{name}(): Inputs and weight must have the same size, got {list(losses.shape)} and "
                         f"{list(weight.shape)}")  # fmt: skip
    losses = losses * weight
    if reduction == "none":
        return losses
    whole = total(F, losses)
    return whole / total(F, weight) if reduction == "mean" else whole


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """Losses after "mean", "sum" or "none"."""
    if reduction == "none":
        return losses
    whole = total(F, losses)
    return whole / (losses._data.size or math.nan) if reduction == "mean" else whole


# ---- other distances between elements


def difference_of(name: str, input: Tensor, target: Tensor) -> Tensor:
    return F.sub(*pair(input, target, name))


@operator(namespace="nn.functional", method=False, out=False)
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Mean absolute error: ``|input - target|``, averaged.

    Parameters
    ----------
    input, target : Tensor
        Of the same shape.
    reduction : {"mean", "sum", "none"}
    weight : Tensor, optional
        Factors of the errors, of the same shape; the mean divides by their sum.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.l1_loss(tp.tensor([1., 2.]), tp.tensor([1., 4.]))
    tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce, "l1_loss")
    return weighted(F.abs(difference_of("l1_loss", input, target)), weight, reduction, "l1_loss")


def smooth_l1_kernel(xp: Any, input: Any, *, beta: float) -> Any:
    x = widened(input)
    size = xp.abs(x)
    return narrowed(xp.where(size < beta, x * x * (0.5 / beta), size - 0.5 * beta), input.dtype)


def smooth_l1_vjp(F: Any, g: Any, input: Any, beta: float) -> Any:
    return g * F.where(F.abs(input) >= beta, F.sign(input), input * (1 / beta))


def huber_kernel(xp: Any, input: Any, *, delta: float) -> Any:
    x = widened(input)
    size = xp.abs(x)
    return narrowed(xp.where(size <= delta, x * x * 0.5, (size - 0.5 * delta) * delta), input.dtype)


def huber_vjp(F: Any, g: Any, input: Any, delta: float) -> Any:
    return g * F.where(F.abs(input) > delta, F.sign(input) * delta, input)


elementwise("smooth_l1", smooth_l1_kernel, vjp={"input": smooth_l1_vjp}, check=refusing("biuc"))
elementwise("huber", huber_kernel, vjp={"input": huber_vjp}, check=refusing("biuc"))


@operator(namespace="nn.functional", method=False, out=False)
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Half the squared error over ``beta`` where the error is below it, else the error less ``beta / 2``.

    Parameters
    ----------
    input, target : Tensor
        Of the same shape.
    reduction : {"mean", "sum", "none"}
    beta : float

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.smooth_l1_loss(tp.tensor([0., 3.]), tp.tensor([1., 0.]), reduction="none")
    tensor([0.5000, 2.5000])
    """
    if type(beta) is not float:
        beta = arg.real(beta, "smooth_l1_loss", "beta", 6)
    reduction = reduction_of(reduction, size_average, reduce, "smooth_l1_loss")
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss(): does not support negative values for beta, got {beta}")
    difference = difference_of("smooth_l1_loss", input, target)
    return reduced(F.smooth_l1(difference, beta) if beta else F.abs(difference), reduction)


@operator(namespace="nn.functional", method=False, out=False)
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the squared error up to ``delta``, beyond it a line of slope ``delta`` (Huber, 1964).

    Parameters
    ----------
    input, target : Tensor
        Of the same shape.
    reduction : {"mean", "sum", "none"}
    delta : float
        Above 0.
    weight : Tensor, optional
        Factors of the errors, of the same shape; the mean divides by their sum.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.huber_loss(tp.tensor([0., 3.]), tp.tensor([1., 0.]), reduction="none")
    tensor([0.5000, 2.5000])
    """
    if type(delta) is not float:
        delta = arg.real(delta, "huber_loss", "delta", 4)
    reduction = reduction_of(reduction, None, None, "huber_loss")
    if delta <= 0:
        raise RuntimeError(f"huber_loss(): does not support non-positive values for delta, got {delta}")
    return weighted(F.huber(difference_of("huber_loss", input, target), delta), weight, reduction, "huber_loss")


# ---- probabilities of two classes


def binary_kernel(xp: Any, input: Any, target: Any) -> Any:
    x, y = widened(input), widened(target)
    if x.size and not (x.min() >= 0 and x.max() <= 1):
        raise RuntimeError("binary_cross_entropy(): all elements of input should be between 0 and 1")
    out = (y - 1) * xp.maximum(xp.log1p(-x), -100) - y * xp.maximum(xp.log(x), -100)
    return narrowed(out, input.dtype)


def binary_vjp_input(F: Any, g: Any, input: Any, target: Any) -> Any:
    spread = input * (1 - input)
    return g * ((input - target) / F.where(spread > 1e-12, spread, 1e-12))


def binary_vjp_target(F: Any, g: Any, input: Any) -> Any:
    low, high = F.log1p(-input), F.log(input)
    return g * (F.where(low > -100, low, -100.0) - F.where(high > -100, high, -100.0))


elementwise("binary_cross_entropy", binary_kernel, check=refusing("biuc"),
            vjp={"input": binary_vjp_input, "target": binary_vjp_target})  # fmt: skip


def same_size(name: str, input: Tensor, target: Tensor) -> None:
    a, b = arg.tensor(input, name)._data.shape, arg.tensor(target, name, "target", 2)._data.shape
    if a != b:
        raise ValueError(f"{name}(): Target size ({list(b)}) must be the same as input size ({list(a)})")


@operator(namespace="nn.functional", method=False, out=False)
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of two classes: ``-(y log x + (1 - y) log(1 - x))``, with logarithms of at least -100.

    Parameters
    ----------
    input, target : Tensor
        Probabilities, of the same shape.
    weight : Tensor, optional
        Factors of the losses.
    reduction : {"mean", "sum", "none"}

    Raises
    ------
    RuntimeError
        If an input is no probability.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.binary_cross_entropy(tp.tensor([0.5, 1.]), tp.tensor([1., 1.]), reduction="none")
    tensor([0.6931, -0.0000])
    """
    reduction = reduction_of(reduction, size_average, reduce, "binary_cross_entropy")
    same_size("binary_cross_entropy", input, target)
    losses = F.binary_cross_entropy(input, target)
    return reduced(losses if weight is None else F.mul(losses, weight), reduction)


def logits_kernel(xp: Any, input: Any, target: Any) -> Any:
    x = widened(input)
    out = xp.log1p(xp.exp(-xp.abs(x)))
    out = out + xp.maximum(x, 0)
    out = out - x * widened(target)
    return narrowed(out, input.dtype)


elementwise(
    "binary_cross_entropy_with_logits", logits_kernel, check=refusing("biuc"),
    vjp={
        "input": lambda F, g, input, target: g * (F.sigmoid(input) - target),
        "target": lambda F, g, input: -(g * input),
    },
)  # fmt: skip


@operator(namespace="nn.functional", method=False, out=False)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """:func:`binary_cross_entropy` of ``sigmoid(input)``, without overflow.

    Parameters
    ----------
    input, target : Tensor
        Logits and probabilities, of the same shape.
    weight : Tensor, optional
        Factors of the losses.
    reduction : {"mean", "sum", "none"}
    pos_weight : Tensor, optional
        Factors of the first class's term.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.binary_cross_entropy_with_logits(tp.tensor([0., 100.]), tp.tensor([1., 1.]), reduction="none")
    tensor([0.6931, 0.0000])
    """
    reduction = reduction_of(reduction, size_average, reduce, "binary_cross_entropy_with_logits")
    same_size("binary_cross_entropy_with_logits", input, target)
    if pos_weight is None:
        losses = F.binary_cross_entropy_with_logits(input, target)
    else:
        losses = input * (1 - target) - ((pos_weight - 1) * target + 1) * F.logsigmoid(input)
    return reduced(losses if weight is None else F.mul(losses, weight), reduction)


# ---- divergences and likelihoods


def kl_kernel(xp: Any, input: Any, target: Any, *, log_target: bool) -> Any:
    x, y = widened(input), widened(target)
    if log_target:
        return narrowed(xp.exp(y) * (y - x), input.dtype)
    return narrowed(xp.where(y == 0, 0, y * xp.log(xp.where(y == 0, 1, y))) - y * x, input.dtype)


def kl_vjp_input(F: Any, g: Any, target: Any, log_target: bool) -> Any:
    return -(g * (F.exp(target) if log_target else target))


def kl_vjp_target(F: Any, g: Any, input: Any, target: Any, log_target: bool) -> Any:
    if log_target:
        return g * (F.exp(target) * (target - input + 1))
    return g * (F.where(target == 0, 0.0, F.log(target) + 1) - input)


elementwise("kl_div", kl_kernel, vjp={"input": kl_vjp_input, "target": kl_vjp_target}, check=refusing("biuc"))


@operator(namespace="nn.functional", method=False, out=False)
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Kullback-Leibler divergence: ``target * (log(target) - input)``.

    Parameters
    ----------
    input : Tensor
        Log-probabilities.
    target : Tensor
        Probabilities, or their logarithms.
    reduction : {"mean", "batchmean", "sum", "none"}
        "batchmean" divides the sum by the first dimension, which is what the divergence's definition asks for.
    log_target : bool
        Whether the target holds logarithms.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.kl_div(tp.tensor([0.5, 0.5]).log(), tp.tensor([1., 0.]), reduction="sum")
    tensor(0.6931)
    """
    if size_average is not None or reduce is not None or reduction not in ("batchmean", *REDUCTIONS):
        reduction = reduction_of(reduction, size_average, reduce, "kl_div")
    elif reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' "
            "divides only by the batch size, and aligns with the KL div math definition.",
            UserWarning,
            stacklevel=2,
        )
    losses = F.kl_div(arg.tensor(input, "kl_div"), arg.tensor(target, "kl_div", "target", 2), log_target)
    if reduction == "batchmean":
        return total(F, losses) / (input._data.shape[0] if input._data.ndim else 1)
    return reduced(losses, reduction)


@operator(namespace="nn.functional", method=False, out=False)
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of counts: ``exp(input) - target * input``, or ``input - target * log(input + eps)``.

    Parameters
    ----------
    input : Tensor
        Expected counts, or their logarithms.
    target : Tensor
        Counts.
    log_input : bool
        Whether the input holds logarithms.
    full : bool
        Add Stirling's approximation of ``log(target!)`` where the target exceeds 1.
    eps : float
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.poisson_nll_loss(tp.tensor([0., 1.]), tp.tensor([1., 2.]), reduction="none")
    tensor([1.0000, 0.7183])
    """
    if type(eps) is not float:
        eps = arg.real(eps, "poisson_nll_loss", "eps", 6)
    reduction = reduction_of(reduction, size_average, reduce, "poisson_nll_loss")
    arg.tensor(input, "poisson_nll_loss")
    arg.tensor(target, "poisson_nll_loss", "target", 2)
    losses = F.exp(input) - target * input if log_input else input - target * F.log(input + eps)
    if full:
        stirling = target * F.log(target) - target + F.log(target * (2 * math.pi)) * 0.5
        losses = losses + F.where(target > 1, stirling, 0.0)
    return reduced(losses, reduction)


@operator(namespace="nn.functional", method=False, out=False)
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Negative log likelihood of normal numbers: ``(log(var) + (input - target)**2 / var) / 2``.

    Parameters
    ----------
    input, target : Tensor
        Means and samples.
    var : Tensor or float
        Variances, in the input's shape, or with a last dimension that is 1 or missing.
    full : bool
        Add ``log(2 pi) / 2``.
    eps : float
        What the variance is at least; its gradient does not see that.
    reduction : {"mean", "sum", "none"}

    Raises
    ------
    ValueError
        If a variance is negative, or of the wrong shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.gaussian_nll_loss(tp.tensor([0.]), tp.tensor([2.]), tp.tensor([1.]))
    tensor(2.)
    """
    name = "gaussian_nll_loss"
    shape = arg.tensor(input, name)._data.shape
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError(f"{name}(): var has negative entry/entries, got {var}")
        var = wrap(np.full(shape, var, input._data.dtype))
    else:
        given = var._data.shape
        if given != shape:
            if shape[:-1] == given:
                var = F.reshape(var, (*given, 1))
            elif not (len(given) == len(shape) and (shape[:-1] == given[:-1] and given[-1] == 1)):
                try:
                    fits = np.broadcast_shapes(shape, given) == shape
                except ValueError:
                    fits = False
                if not fits:
                    raise ValueError(
                        f"{name}(): var is of incorrect size, got {list(given)} for an input of {list(shape)}"
                    )
        F.check_variance(var)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    lifted = F.sub(F.where(F.lt(var, eps), eps, var), var).detach()
    var = F.add(var, lifted)
    difference = F.sub(input, target)
    losses = (F.log(var) + difference * difference / var) * 0.5
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def check_variance_kernel(xp: Any, input: Any) -> Any:
    if (input < 0).any():
        raise ValueError("gaussian_nll_loss(): var has negative entry/entries")
    return input


primitive("check_variance", check_variance_kernel, batch="same")


@operator(namespace="nn.functional", method=False, out=False)
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """:func:`binary_cross_entropy_with_logits`, averaged over the classes, which are the last dimension.

    Parameters
    ----------
    input, target : Tensor
        Logits and labels in [0, 1], of the same shape.
    weight : Tensor, optional
        What each class counts for.
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.multilabel_soft_margin_loss(tp.tensor([[0., 0.]]), tp.tensor([[1., 0.]]))
    tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce, "multilabel_soft_margin_loss")
    arg.tensor(input, "multilabel_soft_margin_loss")
    losses = F.binary_cross_entropy_with_logits(input, arg.tensor(target, "multilabel_soft_margin_loss", "target", 2))
    losses = losses if weight is None else losses * weight
    n = losses._data.ndim
    classes = input._data.shape[-1] if n else 1
    losses = total_over(losses, min(n, 1)) * (1 / classes if classes else math.nan)
    return reduced(losses, reduction)
