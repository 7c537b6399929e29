"""Losses that ask for a margin: between classes, between pairs, within triplets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .cross_entropy import index_target
from .distance import pairwise_distance
from .loss import reduced, reduction_of, total_over

functional = operator(namespace="nn.functional", method=False, out=False)


def positive_part(x: Tensor) -> Tensor:
    """``max(x, 0)``, with the gradient of ``x`` at 0; nan stays, and has none."""
    return F.clamp_min(x, 0)


@functional
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1.

    Parameters
    ----------
    input, target : Tensor
        Of the same shape.
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.soft_margin_loss(tp.tensor([0., 0.]), tp.tensor([1., -1.]))
    tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce, "soft_margin_loss")
    arg.tensor(input, "soft_margin_loss")
    return reduced(-F.logsigmoid(input * arg.tensor(target, "soft_margin_loss", "target", 2)), reduction)


@functional
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1.

    Parameters
    ----------
    input, target : Tensor
        Of the same shape.
    margin : float
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.hinge_embedding_loss(tp.tensor([0.5, 0.5]), tp.tensor([1., -1.]), reduction="sum")
    tensor(1.)
    """
    if type(margin) is not float:
        margin = arg.real(margin, "hinge_embedding_loss", "margin", 3)
    reduction = reduction_of(reduction, size_average, reduce, "hinge_embedding_loss")
    arg.tensor(input, "hinge_embedding_loss")
    arg.tensor(target, "hinge_embedding_loss", "target", 2)
    apart = F.where(F.ne(target, 1), positive_part(margin - input), 0.0)
    return reduced(F.where(F.ne(target, -1), input, 0.0) + apart, reduction)


@functional
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, margin - target * (input1 - input2))``: where the target is 1 the first input should be the larger.

    Parameters
    ----------
    input1, input2, target : Tensor
        Of as many dimensions.
    margin : float
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.margin_ranking_loss(tp.tensor([1.]), tp.tensor([3.]), tp.tensor([1.]))
    tensor(2.)
    """
    if type(margin) is not float:
        margin = arg.real(margin, "margin_ranking_loss", "margin", 4)
    name = "margin_ranking_loss"
    reduction = reduction_of(reduction, size_average, reduce, name)
    ranks = [arg.tensor(x, name)._data.ndim for x in (input1, input2, target)]
    if len(set(ranks)) > 1:
        raise RuntimeError(
            f"{name}(): All input tensors should have same dimension but got sizes: input1: {list(input1.shape)}, "
            f"input2: {list(input2.shape)}, target: {list(target.shape)}"
        )
    return reduced(positive_part(-target * (input1 - input2) + margin), reduction)


@functional
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.

    Parameters
    ----------
    input1, input2 : Tensor
        Vectors, of shape (N, D) or (D,).
    target : Tensor
        Of shape (N,) or ().
    margin : float
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.cosine_embedding_loss(tp.tensor([1., 0.]), tp.tensor([1., 0.]), tp.tensor(-1.))
    tensor(1.)
    """
    if type(margin) is not float:
        margin = arg.real(margin, "cosine_embedding_loss", "margin", 4)
    name = "cosine_embedding_loss"
    reduction = reduction_of(reduction, size_average, reduce, name)
    wanted = arg.tensor(target, name, "target", 3)._data.ndim
    sizes = f"target size {list(target.shape)}, input1 size {list(input1.shape)} and input2 size {list(input2.shape)}"
    if wanted > 1:
        raise RuntimeError(f"{name}(): 0D or 1D target tensor expected, multi-target not supported, got {sizes}")
    if input1._data.ndim != wanted + 1 or input2._data.ndim != wanted + 1:
        raise RuntimeError(f"{name}(): {wanted}D target tensor expects {wanted + 1}D input tensors, but found {sizes}")
    product, first, second = (F.sum(a * b, (-1,), False) for a, b in
                              ((input1, input2), (input1, input1), (input2, input2)))  # fmt: skip
    cosine = product / F.sqrt((first + 1e-12) * (second + 1e-12))
    near = F.where(F.eq(target, 1), 1 - cosine, 0.0)
    return reduced(near + F.where(F.eq(target, -1), positive_part(cosine - margin), 0.0), reduction)


# ---- triplets


@functional
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` with the p-norm distance.

    Parameters
    ----------
    anchor, positive, negative : Tensor
        Vectors, of shape (N, D) or (D,).
    margin : float
        Above 0.
    p, eps : float
        As of :func:`pairwise_distance`.
    swap : bool
        Use the distance of positive and negative where it is the smaller one (Balntas et al., 2016).
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> a, b = tp.tensor([[0.]]), tp.tensor([[1.]])
    >>> tp.nn.functional.triplet_margin_loss(a, b, b)
    tensor(1.)
    """
    if type(margin) is not float:
        margin = arg.real(margin, "triplet_margin_loss", "margin", 4)
    reduction = reduction_of(reduction, size_average, reduce, "triplet_margin_loss")
    return triplets(
        "triplet_margin_loss",
        lambda a, b: pairwise_distance(a, b, p, eps),
        anchor,
        positive,
        negative,
        margin,
        swap,
        reduction,
    )


def triplets(
    name: str,
    distance: Callable[[Tensor, Tensor], Tensor],
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    if margin <= 0:
        raise ValueError(f"{name}(): margin must be greater than 0, got {margin}")
    ranks = [arg.tensor(x, name)._data.ndim for x in (anchor, positive, negative)]
    if len(set(ranks)) > 1:
        raise RuntimeError(
            f"{name}(): The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative {ranks[2]}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = F.minimum(far, distance(positive, negative))
    return reduced(positive_part(near - far + margin), reduction)


@functional
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """:func:`triplet_margin_loss` with any distance.

    Parameters
    ----------
    anchor, positive, negative : Tensor
    distance_function : callable, optional
        Takes two tensors; :func:`pairwise_distance` by default.
    margin : float
        Above 0.
    swap : bool
        Use the distance of positive and negative where it is the smaller one.
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> a, b = tp.tensor([[0.]]), tp.tensor([[1.]])
    >>> tp.nn.functional.triplet_margin_with_distance_loss(a, b, b)
    tensor(1.)
    """
    name = "triplet_margin_with_distance_loss"
    reduction = reduction_of(reduction, None, None, name)
    return triplets(name, distance_function or pairwise_distance, anchor, positive, negative, margin, swap, reduction)


# ---- classes


def rows_of(name: str, input: Tensor, target: Tensor) -> bool:
    """Whether the input is one row.

    Raises
    ------
    RuntimeError
        If it is no vector or matrix of at least one class.
    """
    shape = arg.tensor(input, name)._data.shape
    arg.tensor(target, name, "target", 2)
    if len(shape) > 2 or 0 in shape[len(shape) - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )
    return len(shape) < 2


@functional
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of ``max(0, margin - x[target] + x[i]) ** p``, the target left out.

    Parameters
    ----------
    input : Tensor
        Scores, of shape (N, C) or (C,).
    target : Tensor
        Classes, int64, of shape (N,) or ().
    p : {1, 2}
    margin : float
    weight : Tensor, optional
        What each class counts for as a target, (C,).
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.multi_margin_loss(tp.tensor([[1., 1.]]), tp.tensor([0]))
    tensor(0.5000)
    """
    if type(margin) is not float:
        margin = arg.real(margin, "multi_margin_loss", "margin", 4)
    name = "multi_margin_loss"
    reduction = reduction_of(reduction, size_average, reduce, name)
    if p not in (1, 2):
        raise ValueError(f"{name}(): only p == 1 and p == 2 supported, got {p}")
    if weight is not None and arg.tensor(weight, name, "weight", 5)._data.ndim != 1:
        raise ValueError(f"{name}(): weight must be one-dimensional")
    single = rows_of(name, input, target)
    index_target(target, name)
    classes = input._data.shape[-1] if input._data.ndim else 1
    x = F.reshape(input, (-1, classes)) if single else input
    shape = target._data.shape
    if len(shape) > 1 or target._data.size != x._data.shape[0]:
        raise RuntimeError(f"{name}(): inconsistent target size, expected {x._data.shape[0]} but got {list(shape)}")
    if weight is not None and weight._data.shape != (classes,):
        raise RuntimeError(f"{name}(): inconsistent weight size, expected {classes} but got {list(weight._data.shape)}")
    y = F.reshape(target, (x._data.shape[0],))
    own = F.reshape(F.pick(x, F.in_classes(y, classes)), (x._data.shape[0], 1))
    terms = positive_part(margin - own + x)
    terms = terms * terms if p == 2 else terms
    if weight is not None:
        terms = terms * F.reshape(F.class_weights(y, weight, -1, False, 1, weight._data.dtype), (-1, 1))
    losses = total_over(terms * F.other_classes(y, classes, x._data.dtype), 1) * (1 / classes)
    return F.reshape(losses, ()) if reduction == "none" and single and not shape else reduced(losses, reduction)


def in_classes_kernel(xp: Any, input: Any, *, classes: int) -> Any:
    if input.size and not (input.min() >= 0 and input.max() < classes):
        raise RuntimeError(f"multi_margin_loss(): target out of range: it must be in [0, {classes}), but reaches from "
                           f"{input.min()} to {input.max()}")  # fmt: skip
    return input


primitive("in_classes", in_classes_kernel, batch="same")
primitive("other_classes", lambda xp, input, *, classes, dtype: (input[..., None] != np.arange(classes)).astype(dtype),
          batch="same")  # fmt: skip


@functional
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The sum of ``max(0, 1 - x[i] + x[j]) / C`` over the target's classes i and all other classes j.

    Parameters
    ----------
    input : Tensor
        Scores, of shape (N, C) or (C,).
    target : Tensor
        The classes of each row, int64, in the input's shape; -1 ends the list.
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.multilabel_margin_loss(tp.tensor([1., 1.]), tp.tensor([0, -1]))
    tensor(0.5000)
    """
    name = "multilabel_margin_loss"
    reduction = reduction_of(reduction, size_average, reduce, name)
    single = rows_of(name, input, target)
    if input._data.shape != target._data.shape:
        raise RuntimeError(
            f"{name}(): inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    index_target(target, name)
    classes = input._data.shape[-1] if input._data.ndim else 1
    x, y = (F.reshape(t, (-1, classes)) if single else t for t in (input, target))
    dtype = x._data.dtype
    listed, absent = F.listed_classes(y, dtype)
    n = x._data.shape[0]
    own = F.reshape(F.pick(F.expand(F.reshape(x, (n, 1, classes)), (n, classes, classes)), y), (n, classes, 1))
    terms = positive_part(1 - own + F.reshape(x, (n, 1, classes)))
    terms = terms * F.reshape(listed, (n, classes, 1)) * F.reshape(absent, (n, 1, classes))
    losses = total_over(terms, 2) * (1 / classes)
    return F.reshape(losses, ()) if single and reduction == "none" else reduced(losses, reduction)


def listed_classes_kernel(xp: Any, input: Any, *, dtype: Any) -> Any:
    """Which entries are before the first -1; which classes are not among them."""
    classes = input.shape[-1]
    if input.size and not (input.min() >= -1 and input.max() < classes):
        raise RuntimeError(
            f"multilabel_margin_loss(): target is out of range: it must be in [-1, {classes}), but reaches from "
            f"{input.min()} to {input.max()}"
        )
    listed = np.logical_and.accumulate(input >= 0, axis=-1)
    absent = np.ones((*input.shape[:-1], classes), bool)
    for k in range(classes):
        rows = listed[..., k]
        absent[rows, input[..., k][rows]] = False
    return listed.astype(dtype), absent.astype(dtype)


primitive("listed_classes", listed_classes_kernel, batch="same", outputs=2)
