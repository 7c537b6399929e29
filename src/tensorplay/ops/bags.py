"""Sums, means and maxima of bags of embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments as arg
from . import pool  # noqa: F401  # registers take_places
from .dense import renormalise

MODES = ("sum", "mean", "max")


def bags_kernel(xp: Any, input: Any, *, count: int) -> Any:
    """The bag of each of ``count`` entries, from where the bags begin."""
    if input.shape[-1] and (input[..., 0] != 0).any():
        raise RuntimeError(
            "embedding_bag(): offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {input.reshape(-1)[0]}"
        )
    if input.size and input.max() > count:
        raise RuntimeError(
            f"embedding_bag(): offsets[-1] can not be greater than input's length({count}) but got offsets[-1] of "
            f"{input.max()}"
        )
    if input.ndim == 1:
        return np.searchsorted(input, np.arange(count), "right") - 1
    return (input[..., None, :] <= np.arange(count)[:, None]).sum(-1) - 1


primitive("bags", bags_kernel, batch="same")
primitive("bag_of_row", lambda xp, input, *, count, length: np.broadcast_to(
    np.repeat(np.arange(count), length), (*input.shape[:-2], count * length)), batch="same")  # fmt: skip


def bag_maxima_kernel(xp: Any, input: Any, bags: Any, kept: Any, *, count: int) -> Any:
    """For each bag and column where the largest entry is, and whether there is any; ``input`` is (columns, n)."""
    *lead, columns, n = input.shape
    best = np.zeros((*lead, columns, count), np.int64)
    found = np.zeros((*lead, 1, count), bool)
    for place in np.ndindex(*lead):
        for bag in range(count):
            members = np.flatnonzero((bags[place] == bag) & (kept[place] != 0))
            if members.size:
                best[(*place, slice(None), bag)] = members[input[place][:, members].argmax(-1)]
                found[(*place, 0, bag)] = True
    return best, found.astype(input.dtype)


primitive("bag_maxima", bag_maxima_kernel, batch="same", outputs=2)


def check_bags(
    input: Tensor, weight: Tensor, offsets: Tensor | None, mode: str, per_sample_weights: Tensor | None,
    scale_grad_by_freq: bool,
) -> None:  # fmt: skip
    """Refuse arguments that do not fit together, with PyTorch's exception classes."""
    name = "embedding_bag"
    indices, table = arg.tensor(input, name)._data, arg.tensor(weight, name, "weight", 2)._data
    if mode not in MODES:
        raise ValueError(f"{name}(): mode has to be one of sum, mean or max, got {mode!r}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError(f"{name}(): max mode does not support scaling the gradient by the frequency")
    if indices.dtype.kind not in "iu" or indices.dtype.itemsize < 4:
        raise RuntimeError(
            f"{name}(): Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
            f"Int; but got {input.dtype} instead"
        )
    if table.dtype.kind not in "fV":
        raise RuntimeError(f"{name}(): Expected tensor for argument #1 'weight' to have one of the following scalar "
                           f"types: Half, BFloat16, Float, Double; but got {weight.dtype}")  # fmt: skip
    if table.ndim != 2:
        raise RuntimeError(f"{name}(): weight has to be a 2D Tensor, but got Tensor of dimension {table.ndim}")
    if indices.ndim == 2:
        if offsets is not None:
            raise ValueError(
                f"{name}(): if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                "length sequences. However, found an offsets tensor"
            )
    elif indices.ndim == 1:
        if offsets is None:
            raise ValueError(f"{name}(): offsets has to be a 1D Tensor but got None")
        if arg.tensor(offsets, name, "offsets", 3)._data.ndim != 1:
            raise ValueError(f"{name}(): offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"{name}(): input has to be 1D or 2D Tensor, but got Tensor of dimension {indices.ndim}")
    if per_sample_weights is not None:
        if per_sample_weights._data.shape != indices.shape:
            raise ValueError(
                f"{name}(): If per_sample_weights ({list(per_sample_weights.shape)}) is not None, then it must have "
                f"the same shape as the input ({list(indices.shape)})"
            )
        if mode != "sum":
            raise NotImplementedError(
                f"{name}(): per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
                f"mode='{mode}')."
            )


@operator(namespace="nn.functional", method=False, out=False)
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of rows of ``weight``, bag by bag.

    Parameters
    ----------
    input : Tensor
        Indices: a bag in each row, (bags, n); or one after the other, (n,), with ``offsets``.
    weight : Tensor
        Of shape (rows, columns).
    offsets : Tensor, optional
        Where the bags begin.
    max_norm, norm_type : float
        Rows that are used and whose norm is larger are first scaled down to it, in place.
    scale_grad_by_freq : bool
        Divide each row's gradient by the number of times it was used.
    mode : {"mean", "sum", "max"}
    sparse : bool
        Accepted; gradients are dense.
    per_sample_weights : Tensor, optional
        Factors of the rows, in the shape of the input; "sum" only.
    include_last_offset : bool
        Whether the last offset is the end of the last bag.
    padding_idx : int, optional
        A row that counts for nothing.

    Returns
    -------
    Tensor
        Of shape (bags, columns); zeros for empty bags.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([[1., 2.], [3., 4.]])
    >>> tp.nn.functional.embedding_bag(tp.tensor([0, 1, 1]), w, tp.tensor([0, 2]), mode="sum")
    tensor([[4., 6.],
            [3., 4.]])
    """
    check_bags(input, weight, offsets, mode, per_sample_weights, scale_grad_by_freq)
    rows, columns = weight._data.shape
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError(
                f"embedding_bag(): padding_idx must be within the number of embeddings, got {padding_idx}"
            )
        padding_idx %= rows
    if offsets is None:
        count, length = input._data.shape
        bags = F.bag_of_row(input, count, length)
        indices = F.reshape(input, (count * length,))
        factors = None if per_sample_weights is None else F.reshape(per_sample_weights, (count * length,))
    else:
        indices, factors = input, per_sample_weights
        bags = F.bags(offsets, input._data.shape[0])
        count = offsets._data.shape[0] - (1 if include_last_offset else 0)
    if max_norm is not None:
        renormalise(indices, weight, max_norm, norm_type)
    if padding_idx is not None or scale_grad_by_freq:
        weight = F.scaled_gradient(weight, indices, padding_idx, scale_grad_by_freq)
    values = F.embedding(weight, indices)
    dtype, n = values._data.dtype, indices._data.shape[0]
    kept = F.cast(F.ne(indices, -1 if padding_idx is None else padding_idx), dtype)
    if mode == "max":
        upright = F.mT(values)
        where, found = F.bag_maxima(upright, bags, kept, count)
        return F.mT(F.take_places(upright, where, 1) * found) if n else F.embedding_weight(values, bags, count)
    if factors is not None:
        values = values * F.reshape(factors, (n, 1))
    if padding_idx is not None:
        values = values * F.reshape(kept, (n, 1))
    out = F.embedding_weight(values, bags, count)
    if mode == "sum":
        return out
    sizes = F.embedding_weight(F.reshape(kept, (n, 1)), bags, count)
    return out / F.where(sizes > 1, sizes, 1.0)
