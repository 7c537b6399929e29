"""Cross entropy and negative log likelihood of classes, fused over the scores."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.namespace import F, R
from ..core.node import Partial
from ..core.operator import operator
from ..core.primitive import batch_size, expand_to_batch, primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .kernels import BLOCK, each_block, narrowed, row_exponentials, widened
from .loss import REDUCTIONS, reduction_of, total, total_over

# ---- one score of each row, chosen by class; classes are the last dimension


def pick_kernel(xp: Any, input: Any, target: Any) -> Any:
    index = target.clip(0, input.shape[-1] - 1)
    return np.take_along_axis(input, index[..., None], -1)[..., 0]


def place_kernel(xp: Any, input: Any, target: Any, *, classes: int) -> Any:
    out = np.zeros((*input.shape, classes), input.dtype)
    np.put_along_axis(out, target.clip(0, classes - 1)[..., None], input[..., None], -1)
    return out


def pick_vjp(F: Any, g: Any, input_shape: tuple[int, ...], target: Any) -> Any:
    return F.place(g, target, input_shape[-1])


pick = primitive("pick", pick_kernel, vjp={"input": pick_vjp}, jvp="linear", batch="same", node_name="GatherBackward0")
place = primitive(
    "place", place_kernel, vjp={"input": lambda F, g, target: F.pick(g, target)}, jvp="linear", batch="same",
    node_name="ScatterBackward0",
)  # fmt: skip


def class_weights_kernel(
    xp: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    mean: bool = False,
    ndim: int = 1,
    dtype: Any = None,
) -> Any:
    """What each row counts for; for the mean they sum to one over the last ``ndim`` dimensions."""
    out = (target != ignore_index).astype(dtype)
    if weight is not None:
        index = target.clip(0, weight.shape[-1] - 1)
        if weight.ndim == 1:
            out *= weight.take(index)
        else:
            out *= np.take_along_axis(weight, index.reshape(len(index), -1), -1).reshape(out.shape)
    if mean:
        whole = np.add.reduce(widened(out), axis=tuple(range(-ndim, 0)), keepdims=True)
        out = narrowed(out / whole, out.dtype)
    return out


def class_weights_batch(p: Any, values: list[Any], dims: list[Any], *attrs: Any) -> Any:
    target, weight = values
    if dims[0] is None:
        target = expand_to_batch(target, batch_size(values, dims))
    return F.class_weights(target, weight, *attrs)


class_weights = primitive("class_weights", class_weights_kernel, batch=class_weights_batch)


def check_classes(target: Any, classes: int, ignore_index: int, name: str) -> Any:
    """None if all targets are classes that count, else where they are; the others are ``ignore_index``.

    Raises
    ------
    IndexError
        If a target is neither.
    """
    if ignore_index < 0 or ignore_index >= classes:  # as unsigned numbers, negative targets are too large as well
        unsigned = target.view(np.uint64) if target.dtype.itemsize == 8 else target
        if not target.size or np.maximum.reduce(unsigned, axis=None) < classes:
            return None
    valid = target != ignore_index
    wrong = target[valid & ((target < 0) | (target >= classes))]
    if wrong.size:
        raise IndexError(f"Target {wrong[0]} is out of bounds. ({name} has {classes} classes)")
    return valid


# ---- cross entropy with class indices


def cross_entropy_kernel(xp: Any, input: Any, target: Any, *, ignore_index: int, reduction: str) -> Any:
    """Returns the loss; and for the reverse rule the exponentials, their sums and where the targets are among them."""
    classes = input.shape[-1]
    valid = check_classes(target, classes, ignore_index, "cross_entropy")
    x = widened(input)
    if target.ndim != 1:
        x, target = x.reshape(target.size, classes), target.reshape(-1)
    count = len(x)
    at = np.arange(0, count * classes, classes or 1)
    if valid is None:
        at += target
    else:
        valid = valid.reshape(-1)
        at += np.where(valid, target, 0)
        count = int(np.count_nonzero(valid))
    scores = x.reshape(-1).take(at)
    e = np.empty(x.shape, x.dtype)
    if x.size <= BLOCK:
        top, sums = row_exponentials(x, e)
        if top is not None:
            scores -= top[:, 0]
    else:
        sums = np.empty((len(x), 1), x.dtype)

        def work(b: slice) -> None:
            top, sums[b] = row_exponentials(x[b], e[b])
            if top is not None:
                scores[b] -= top[:, 0]

        each_block(work, *e.shape)
    losses = np.log(sums[:, 0])
    losses -= scores
    if valid is not None:
        losses *= valid
    out: Any
    if reduction == "none":
        out = losses.reshape(input.shape[:-1])
    else:
        out = np.add.reduce(losses)
        if reduction == "mean":
            out = out / out.dtype.type(count or np.nan)
    return narrowed(out, input.dtype), (e, sums, at, valid, count)


def cross_entropy_vjp(F: Any, g: Any, input: Any, target: Any, ignore_index: int, reduction: str, kept: Any) -> Any:
    if kept is None:
        w = class_weights_of(F, input, target, ignore_index, reduction) * g
        return F.softmax(input, -1) * F.reshape(w, (*w.shape, 1)) - F.place(w, target, input.shape[-1])
    e, sums, at, valid, count = kept
    if reduction == "mean":
        g = widened(g) / e.dtype.type(count or np.nan)
    elif reduction == "none":
        g = widened(g).reshape(-1)
    if valid is not None:
        g = g * valid
    scale = g.reshape(-1, 1) / sums
    if e.size <= BLOCK:
        out = e * scale
    else:
        out = np.empty(e.shape, e.dtype)
        each_block(lambda b: np.multiply(e[b], scale[b], out=out[b]), *e.shape)
    out.reshape(-1)[at] -= g
    return narrowed(out.reshape(input.shape), input.dtype)


def class_weights_of(F: Any, input: Any, target: Any, ignore_index: int, reduction: str) -> Any:
    return F.class_weights(target, None, ignore_index, reduction == "mean", target.ndim, as_numpy_dtype(input))


def as_numpy_dtype(x: Any) -> Any:
    return x._data.dtype if isinstance(x, Tensor) else x.dtype


def cross_entropy_jvp(F: Any, t: Any, input: Any, target: Any, ignore_index: int, reduction: str) -> Any:
    mean = F.sum_to(F.softmax(input, -1) * t, (*t.shape[:-1], 1))
    rows = (F.reshape(mean, target.shape) - F.pick(t, target)) * class_weights_of(
        F, input, target, ignore_index, reduction
    )
    return rows if reduction == "none" else total(F, rows)


def cross_entropy_batch(p: Any, values: list[Any], dims: list[Any], ignore_index: int, reduction: str) -> Any:
    size = batch_size(values, dims)
    input, target = (expand_to_batch(v, size) if d is None else v for v, d in zip(values, dims, strict=True))
    rows = F.cross_entropy(input, target, ignore_index, "none")
    return reduce_rows(rows, target, None, ignore_index, reduction)


def reduce_rows(rows: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    """Each example's sum or mean of its rows."""
    if reduction == "none":
        return rows
    ndim = target._data.ndim - 1
    if reduction == "mean":
        rows = F.where(F.ne(target, ignore_index), rows, 0.0) * F.class_weights(
            target, weight, ignore_index, True, ndim, rows._data.dtype)  # fmt: skip
    return sum_of_rows(rows, ndim, reduction)


def sum_of_rows(rows: Tensor, ndim: int, reduction: str) -> Tensor:
    """Each example's sum of its rows; the mean of no rows is nan."""
    out = total_over(rows, ndim)
    return out * math.nan if reduction == "mean" and not rows._data.size else out


cross_entropy_ = primitive(
    "cross_entropy", cross_entropy_kernel, vjp={"input": cross_entropy_vjp}, jvp={"input": cross_entropy_jvp},
    batch=cross_entropy_batch, node_name="CrossEntropyBackward0",
)  # fmt: skip

# ---- negative log likelihood


def nll_loss_kernel(
    xp: Any, input: Any, target: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    classes = input.shape[-1]
    valid = check_classes(target, classes, ignore_index, "nll_loss")
    if valid is None and input.ndim == 2:
        losses = input[np.arange(len(target)), target]
    else:
        losses = pick_kernel(xp, input, target)
    losses = -losses
    if valid is not None:
        losses = np.where(valid, losses, losses.dtype.type(0))
    if weight is None:
        if reduction == "none":
            return losses
        out = np.add.reduce(widened(losses), axis=None)
        if reduction == "mean":
            count = target.size if valid is None else np.count_nonzero(valid)
            out = out / out.dtype.type(count or np.nan)
        return narrowed(out, input.dtype)
    w = class_weights_kernel(
        xp, target, weight, ignore_index=ignore_index, mean=False, ndim=target.ndim, dtype=input.dtype
    )
    losses = losses * w
    if reduction == "none":
        return losses
    out = np.add.reduce(widened(losses), axis=None)
    if reduction == "mean":
        out = out / np.add.reduce(widened(w), axis=None)
    return narrowed(out, input.dtype)


def nll_loss_vjp(
    F: Any, g: Any, input_shape: Any, input_dtype: Any, target: Any, weight: Any, ignore_index: int, reduction: str
) -> Any:
    w = F.class_weights(target, weight, ignore_index, reduction == "mean", target.ndim, input_dtype)
    rows = -(g * w)
    if F is R and rows.size and target.ndim == 1 and rows.dtype.char in "fd":
        return Partial(rows, input_shape, (np.arange(len(rows)), target.clip(0, input_shape[-1] - 1)), rows[:, None])
    return F.place(rows, target, input_shape[-1])


def nll_loss_jvp(F: Any, t: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    w = F.class_weights(target, weight, ignore_index, reduction == "mean", target.ndim, as_numpy_dtype(t))
    rows = -(F.pick(t, target) * w)
    return rows if reduction == "none" else total(F, rows)


def nll_loss_batch(p: Any, values: list[Any], dims: list[Any], ignore_index: int, reduction: str) -> Any:
    size = batch_size(values, dims)
    input, target = (expand_to_batch(v, size) if d is None else v for v, d in zip(values[:2], dims[:2], strict=True))
    rows = F.nll_loss(input, target, None, ignore_index, "none")
    weight, dtype = values[2], input._data.dtype
    if weight is not None or reduction == "mean":
        rows = rows * F.class_weights(target, weight, ignore_index, reduction == "mean", target._data.ndim - 1, dtype)
    return rows if reduction == "none" else sum_of_rows(rows, target._data.ndim - 1, reduction)


nll_loss_ = primitive(
    "nll_loss", nll_loss_kernel, vjp={"input": nll_loss_vjp}, jvp={"input": nll_loss_jvp}, batch=nll_loss_batch,
    partial="makes",
)  # fmt: skip


def classes_last(input: Tensor, target: Tensor, name: str) -> Tensor:
    """The scores with their classes, dimension 1 (or 0 of a single row), moved to the end; shapes are checked."""
    shape, wanted = input._data.shape, target._data.shape
    n = len(shape)
    if n == 0:
        raise ValueError(f"{name}(): input must have at least 1 dimension (classes), got a 0-dim tensor")
    if (shape[:1] if n > 1 else ()) != wanted[:1]:
        raise ValueError(
            f"Expected input batch_size ({shape[0] if n > 1 else 1}) to match target batch_size "
            f"({wanted[0] if wanted else 1}). ({name}: input {list(shape)}, target {list(wanted)})"
        )
    if shape[2:] != wanted[1:]:
        raise RuntimeError(f"{name}(): Expected target size {[*shape[:1], *shape[2:]]}, got {list(wanted)}")
    return F.permute(input, (-n, *range(2 - n, 0), 1 - n)) if n > 2 else input


def class_weight(weight: Tensor | None, classes: int, name: str, like: Tensor | None = None) -> None:
    """Check the rescaling weight of the classes; beside classes by number it has the dtype of ``like``, no gradient."""
    if weight is None:
        return
    if weight._data.shape != (classes,):
        raise RuntimeError(
            f"{name}(): weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight._data.shape)}"
        )
    if like is not None and weight._data.dtype != like._data.dtype:
        raise RuntimeError(f"{name}(): expected scalar type {like.dtype} but found {weight.dtype} for the weight")
    if like is not None and weight._node is not None:
        raise RuntimeError(f"{name}(): the derivative for 'weight' is not implemented; detach() it")


def index_target(target: Tensor, name: str) -> None:
    if target._data.dtype.kind not in "iu" or target._data.dtype.itemsize not in (1, 8):
        raise RuntimeError(f"{name}(): expected scalar type Long but found {target.dtype} for the target")


@operator(namespace="nn.functional", method=False, out=False)
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood: minus the log-probability of the target class, ``-weight[y_n] * x[n, y_n]``.

    Parameters
    ----------
    input : Tensor
        Log-probabilities of shape (C,), (N, C) or (N, C, d1, ...).
    target : Tensor
        Classes, int64, of shape (), (N,) or (N, d1, ...).
    weight : Tensor, optional
        What each class counts for, (C,). The mean divides by the weights of the targets.
    ignore_index : int
        A target that counts for nothing.
    reduction : {"mean", "sum", "none"}

    Raises
    ------
    IndexError
        If a target is no class.

    Examples
    --------
    >>> import tensorplay as tp
    >>> logp = tp.log_softmax(tp.tensor([[0., 0.], [0., 0.]]), 1)
    >>> tp.nn.functional.nll_loss(logp, tp.tensor([0, 1]))
    tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce, "nll_loss")
    arg.tensor(input, "nll_loss")
    arg.tensor(target, "nll_loss", "target", 2)
    index_target(target, "nll_loss")
    data = input._data
    if data.dtype.kind not in "fV":
        raise NotImplementedError(f"nll_loss(): not implemented for {input.dtype}")
    class_weight(weight, data.shape[min(1, data.ndim - 1)] if data.ndim else 0, "nll_loss", input)
    ignore_index = arg.integer(ignore_index, "nll_loss", "ignore_index", 5)
    return F.nll_loss(classes_last(input, target, "nll_loss"), target, weight, ignore_index, reduction)


@operator(namespace="nn.functional", method=False, out=False)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of softmax(input) against classes, or against probabilities of classes.

    Parameters
    ----------
    input : Tensor
        Logits of shape (C,), (N, C) or (N, C, d1, ...).
    target : Tensor
        Classes, int64, of shape (), (N,) or (N, d1, ...); or probabilities in the shape of the input.
    weight : Tensor, optional
        What each class counts for, (C,). With classes as targets the mean divides by the weights of the targets.
    ignore_index : int
        A target that counts for nothing.
    reduction : {"mean", "sum", "none"}
    label_smoothing : float
        The share, in [0, 1], of every target that is spread evenly over all classes.

    Raises
    ------
    IndexError
        If a target is no class.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.cross_entropy(tp.tensor([[2., 0.]]), tp.tensor([0]))
    tensor(0.1269)
    """
    if type(label_smoothing) is not float:
        label_smoothing = arg.real(label_smoothing, "cross_entropy", "label_smoothing", 8)
    if type(ignore_index) is not int:
        ignore_index = arg.integer(ignore_index, "cross_entropy", "ignore_index", 5)
    if size_average is not None or reduce is not None or reduction not in REDUCTIONS:
        reduction = reduction_of(reduction, size_average, reduce, "cross_entropy")
    if weight is None and label_smoothing == 0.0:
        try:
            shape, wanted = input._data.shape, target._data
        except AttributeError:
            pass  # no tensors: refused below
        else:
            if (
                len(shape) == 2
                and wanted.shape == shape[:1]
                and wanted.dtype.char in "lq"
                and input._data.dtype.kind in "fV"
            ):
                return F.cross_entropy(input, target, ignore_index, reduction)
    scores, wanted = arg.tensor(input, "cross_entropy")._data, arg.tensor(target, "cross_entropy", "target", 2)._data
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"cross_entropy(): label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if scores.dtype.kind not in "fV":
        raise NotImplementedError(f'cross_entropy(): "log_softmax" not implemented for {input.dtype}')
    if wanted.shape == scores.shape:
        if wanted.dtype.kind not in "fV":
            raise RuntimeError(
                f"cross_entropy(): Expected floating point type for target with class probabilities, got {target.dtype}"
            )
        return cross_entropy_of_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)
    if wanted.dtype.kind != "i" or scores.ndim != 2 or wanted.shape != scores.shape[:1]:
        index_target(target, "cross_entropy")
        input = classes_last(input, target, "cross_entropy")
    if weight is None and not label_smoothing:
        return F.cross_entropy(input, target, ignore_index, reduction)
    class_weight(weight, input._data.shape[-1], "cross_entropy", input)
    logp = F.log_softmax(input, -1)
    loss = F.nll_loss(logp, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return loss
    return loss * (1 - label_smoothing) + smoothing(logp, target, weight, ignore_index, reduction) * (
        label_smoothing / input._data.shape[-1])  # fmt: skip


def smoothing(logp: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    """The loss against all classes at once."""
    rows = -total_over(logp if weight is None else logp * weight, 1)
    rows = F.where(F.ne(target, ignore_index), rows, 0.0)
    if reduction == "none":
        return rows
    whole = total(F, rows)
    if reduction == "sum":
        return whole
    return whole / total(F, F.class_weights(target, weight, ignore_index, False, target.ndim, rows._data.dtype))


def cross_entropy_of_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, label_smoothing: float
) -> Tensor:
    if ignore_index >= 0:
        raise RuntimeError("cross_entropy(): ignore_index is not supported for floating point target")
    n = input._data.ndim
    dim = -n if n == 1 else 1 - n
    classes = input._data.shape[dim]
    class_weight(weight, classes, "cross_entropy")
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    terms = F.log_softmax(input, dim) * target
    if weight is not None:
        terms = terms * F.reshape(weight, (classes, *(1,) * (-1 - dim)))
    if reduction == "none":
        shape = input._data.shape
        kept = shape[:dim] + (1,) + shape[n + dim + 1 :]
        return -F.reshape(F.sum_to(terms, kept), shape[:dim] + shape[n + dim + 1 :])
    loss = -total(F, terms)
    return loss / (input._data.size / classes if classes else math.nan) if reduction == "mean" else loss


@dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How :func:`linear_cross_entropy` may divide its work. The result does not depend on it: the work is done whole.

    Parameters
    ----------
    allow_retain_graph : bool
        Whether a graph may be kept; it always may.
    batch_chunk_size : int, optional
        How many rows of the input to take at a time.
    chunking_method : str, optional
        ``"auto"``, or ``"aspect_ratio:"`` and a number.
    acc_policy : {"auto", "accurate", "balanced", "compact"}
        What to do about digits lost in sums over pieces.
    acc_dtype : dtype, optional
        The floating dtype of these sums.

    Raises
    ------
    ValueError
        If an option is none of these.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.LinearCrossEntropyOptions(batch_chunk_size=64).acc_policy
    'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtypes.dtype | None = None

    def __post_init__(self) -> None:
        size, method = self.batch_chunk_size, self.chunking_method
        if size is not None and (not isinstance(size, int) or size <= 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size}")
        if method not in (None, "auto") and not re.fullmatch(r"aspect_ratio:\d+(\.\d+)?", method):
            raise ValueError(f"invalid chunking_method: {method!r}")
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.acc_dtype is not None and not self.acc_dtype.is_floating_point:
            raise ValueError(f"acc_dtype must be a floating dtype or None, got {self.acc_dtype}")


@operator(namespace="nn.functional", method=False, out=False)
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """:func:`cross_entropy` of a linear map of the input.

    Parameters
    ----------
    input : Tensor
        Of shape (N, features) or (features,).
    linear_weight : Tensor
        Of shape (C, features), or (C, d1, ..., features) for targets of more dimensions.
    target : Tensor
        Classes or probabilities, as of :func:`cross_entropy`.
    linear_bias : Tensor, optional
        Added to the logits: of shape (C,) or (C, d1, ...).
    weight, reduction, label_smoothing
        As of :func:`cross_entropy`.
    ignore_index : int, optional
        A target that counts for nothing.
    options : LinearCrossEntropyOptions, optional
        How the work may be divided; the result does not depend on it.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.linear_cross_entropy(tp.zeros(1, 3), tp.ones(2, 3), tp.tensor([0]))
    tensor(0.6931)
    """
    if options is not None and not isinstance(options, LinearCrossEntropyOptions):
        raise TypeError("linear_cross_entropy(): argument 'options' must be LinearCrossEntropyOptions, not "
                        f"{type(options).__name__}")  # fmt: skip
    shape = arg.tensor(linear_weight, "linear_cross_entropy", "linear_weight", 2)._data.shape
    if arg.tensor(input, "linear_cross_entropy")._data.ndim not in (1, 2):
        raise RuntimeError(f"linear_cross_entropy(): expected input with dimensionality 1 or 2, got {input._data.ndim}")
    if len(shape) < 2:
        raise RuntimeError(
            f"linear_cross_entropy(): expected linear_weight with dimensionality at least 2, got {len(shape)}"
        )
    if len(shape) > 2 and input._data.ndim != 2:
        raise RuntimeError(
            f"linear_cross_entropy(): K-dimensional loss defined by linear_weight of size {list(shape)} "
            f"requires a batched input, (N, features), but got {list(input.shape)}"
        )
    rows = F.reshape(linear_weight, (math.prod(shape[:-1]), shape[-1]))
    if linear_bias is not None and linear_bias._data.shape != shape[:-1]:
        raise RuntimeError(
            f"linear_cross_entropy(): expected linear_bias to have shape {list(shape[:-1])}, got "
            f"{list(linear_bias.shape)}"
        )
    bias = None if linear_bias is None else F.reshape(linear_bias, (math.prod(shape[:-1]),))
    logits = F.linear(input, rows, bias)
    logits = F.reshape(logits, (*logits._data.shape[:-1], *shape[:-1]))
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )
