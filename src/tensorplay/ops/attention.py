"""Attention: a fused primitive, and the multi-head form around it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.namespace import F, R
from ..core.operator import operator
from ..core.primitive import batch_size, check_broadcast, expand_to_batch, primitive
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .dropout import dropout
from .kernels import narrowed, row_sums, widened

functional = operator(namespace="nn.functional", method=False, out=False)

# ---- softmax(scale * query @ key.T + mask) @ value


def swap(x: Any) -> Any:
    return x.swapaxes(-1, -2)


def attention_kernel(
    xp: Any, input: Any, key: Any, value: Any, mask: Any = None, *, scale: float = 1.0, causal: bool = False
) -> Any:
    """Returns the result; and the weights for the reverse rule."""
    q, k, v = widened(input), widened(key), widened(value)
    p = np.matmul(q, swap(k))
    p *= scale
    if mask is not None:
        if mask.shape != p.shape and np.broadcast_shapes(mask.shape, p.shape) != p.shape:
            p = p + widened(mask)
        else:
            p += widened(mask)
    if causal:
        p += future(p)
    p -= safe_maximum(p, mask is not None)
    np.exp(p, out=p)
    total = row_sums(p)
    if mask is not None:
        total[total == 0] = 1  # a row that is masked altogether attends to nothing
    p /= total
    return narrowed(np.matmul(p, v), input.dtype), p


def future(p: Any) -> Any:
    """-inf for keys behind the query's own position, else 0."""
    rows, columns = p.shape[-2:]
    return np.triu(np.full((rows, columns), -np.inf, p.dtype), 1)


def safe_maximum(p: Any, masked: bool) -> Any:
    top = np.maximum.reduce(p, axis=-1, keepdims=True, initial=-np.inf)
    if masked:
        top[top == -np.inf] = 0
    return top


def product(F: Any, x: Any, y: Any) -> Any:
    return F.matmul(x, y) if len(x.shape) > 2 else F.mm(x, y)


def weights_of(F: Any, q: Any, k: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The attention weights, by operators that can be differentiated."""
    scores = product(F, q, F.mT(k)) * scale
    if mask is not None:
        scores = scores + mask
    if causal:
        scores = F.mask_future(scores)
    return F.softmax(scores, -1) if mask is None else F.masked_softmax(scores)


def attention_vjp(
    F: Any, g: Any, input: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool, kept: Any, needs: Any
) -> Any:
    if kept is not None:
        return attention_pull(g, input, key, value, mask, scale, kept, needs)
    p = weights_of(F, input, key, mask, scale, causal)
    of_value = product(F, F.mT(p), g) if needs[2] else None
    if not (needs[0] or needs[1] or needs[3]):
        return None, None, of_value, None
    of_scores = F.softmax_backward(product(F, g, F.mT(value)), p, -1)
    of_mask = F.sum_to(of_scores, mask.shape) if needs[3] else None
    of_scores = of_scores * scale
    of_input = product(F, of_scores, key) if needs[0] else None
    of_key = product(F, F.mT(of_scores), input) if needs[1] else None
    return of_input, of_key, of_value, of_mask


def attention_pull(g: Any, input: Any, key: Any, value: Any, mask: Any, scale: float, p: Any, needs: Any) -> Any:
    """The reverse rule over arrays, from what the kernel kept."""
    g, dtype = widened(g), g.dtype
    of_value = narrowed(np.matmul(swap(p), g), dtype) if needs[2] else None
    of_scores = np.matmul(g, swap(widened(value)))
    of_scores -= np.vecdot(of_scores, p)[..., None]
    of_scores *= p
    of_mask = narrowed(R.sum_to(of_scores, mask.shape), mask.dtype) if needs[3] else None
    of_scores *= scale
    of_input = narrowed(np.matmul(of_scores, widened(key)), dtype) if needs[0] else None
    of_key = narrowed(np.matmul(swap(of_scores), widened(input)), dtype) if needs[1] else None
    return of_input, of_key, of_value, of_mask


def attention_jvp(
    F: Any, tangents: Any, input: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool
) -> Any:
    of_input, of_key, of_value, of_mask = tangents
    p = weights_of(F, input, key, mask, scale, causal)
    scores = out = None
    for left, right in ((of_input, key), (input, of_key)):
        if left is not None and right is not None:
            term = product(F, left, F.mT(right)) * scale
            scores = term if scores is None else scores + term
    if of_mask is not None:
        scores = of_mask if scores is None else scores + of_mask
    if scores is not None:
        if scores._data.shape != p._data.shape:
            scores = F.expand(scores, p._data.shape)
        out = product(F, F.softmax_backward(scores, p, -1), value)
    if of_value is not None:
        term = product(F, p, of_value)
        out = term if out is None else out + term
    return out


def attention_batch(p: Any, values: list[Any], dims: list[Any], scale: float, causal: bool) -> Any:
    size = batch_size(values, dims)
    q, k, v = (expand_to_batch(x, size) if d is None else x for x, d in zip(values[:3], dims[:3], strict=True))
    mask, of_mask = values[3], dims[3]
    if of_mask == 0:
        shape = mask._data.shape
        mask = F.reshape(mask, (size, *(1,) * (q._data.ndim - len(shape)), *shape[1:]))
    return F.attention(q, k, v, mask, scale, causal)


primitive("attention", attention_kernel, vjp=attention_vjp, jvp=attention_jvp, batch=attention_batch,
          node_name="ScaledDotProductAttentionBackward0")  # fmt: skip
primitive("mask_future", lambda xp, input: input + future(input), vjp={"input": lambda F, g: F.tril(g, 0)},
          jvp={"input": lambda F, t: F.tril(t, 0)}, batch="same")  # fmt: skip


def masked_softmax_kernel(xp: Any, input: Any) -> Any:
    e = np.exp(widened(input) - safe_maximum(widened(input), True))
    total = np.add.reduce(e, axis=-1, keepdims=True)
    total[total == 0] = 1
    return narrowed(e / total, input.dtype)


primitive("masked_softmax", masked_softmax_kernel, vjp={"input": lambda F, g, out: F.softmax_backward(g, out, -1)},
          jvp={"input": lambda F, t, out: F.softmax_backward(t, out, -1)}, batch="same")  # fmt: skip
"""Softmax over the last dimension, and zeros where all of a row is -inf."""


def lead_expanded(name: str, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors whose dimensions but the last two are broadcast against each other."""
    leads = [t._data.shape[:-2] for t in tensors]
    if all(lead == leads[0] for lead in leads):
        return tensors
    check_broadcast(name, leads)
    lead = np.broadcast_shapes(*leads)
    return tuple(F.expand(t, (*lead, *t._data.shape[-2:])) for t in tensors)


@functional
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale + mask) @ value`` (Vaswani et al., 2017).

    Parameters
    ----------
    query : Tensor
        Of shape (..., L, E).
    key, value : Tensor
        Of shapes (..., S, E) and (..., S, V).
    attn_mask : Tensor, optional
        Broadcast to (..., L, S): bool, true where a query may attend to a key, or numbers that are added to the scores.
    dropout_p : float
        Probability that a weight is dropped.
    is_causal : bool
        Let query i attend to the keys up to i.
    scale : float, optional
        ``1 / sqrt(E)`` by default.
    enable_gqa : bool
        Let groups of the query's heads, dimension -3, share a head of key and value.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit, or both a mask and ``is_causal`` are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.eye(2)
    >>> tp.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    if scale is not None and type(scale) is not float:
        scale = arg.real(scale, "scaled_dot_product_attention", "scale", 7)
    if type(dropout_p) is not float:
        dropout_p = arg.real(dropout_p, "scaled_dot_product_attention", "dropout_p", 5)
    name = "scaled_dot_product_attention"
    q, k, v = (arg.tensor(t, name, a, i)._data for i, (a, t) in
               enumerate((("query", query), ("key", key), ("value", value)), 1))  # fmt: skip
    if not q.dtype == k.dtype == v.dtype:
        raise RuntimeError(
            f"{name}: Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype} "
            f"key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    if q.dtype.kind not in "fcV":
        raise RuntimeError(f"{name}: expected query, key and value of a floating dtype, but got {query.dtype}")
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise RuntimeError(
            f"{name}: Expected query, key, and value to all be at least 2 dimensional, but got query.dim: {q.ndim}, "
            f"key.dim: {k.ndim} and value.dim: {v.ndim} instead."
        )
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise RuntimeError(
            f"{name}: the last dimensions of query and key, and the lengths of key and value, must be equal, got query "
            f"{list(q.shape)}, key {list(k.shape)} and value {list(v.shape)}"
        )
    if attn_mask is not None and is_causal:
        raise RuntimeError(f"{name}: Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        key, value = (repeated_heads(name, t, q.shape[-3]) for t in (key, value))
    bias = None
    if attn_mask is not None:
        bias = arg.tensor(attn_mask, name, "attn_mask", 4)
        kind = bias._data.dtype
        if kind.kind == "b":
            bias = F.where(bias, wrap(np.zeros((), q.dtype)), -math.inf)
        elif kind != q.dtype:
            raise RuntimeError(
                f"{name}: Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                f"attn_mask.dtype: {attn_mask.dtype} and query.dtype: {query.dtype} instead."
            )
    query, key, value = lead_expanded(name, query, key, value)
    scale = 1 / math.sqrt(q.shape[-1] or 1) if scale is None else scale
    if not dropout_p:
        return F.attention(query, key, value, bias, scale, is_causal)
    return product(F, dropout(weights_of(F, query, key, bias, scale, is_causal), dropout_p), value)


def repeated_heads(name: str, t: Tensor, heads: int) -> Tensor:
    """Key or value with every head repeated for its group of query heads."""
    *lead, own, length, size = t._data.shape
    if not own or heads % own:
        raise RuntimeError(
            f"{name}: Number of heads in key and value must divide the number of heads in query, got {own} and {heads}"
        )
    t = F.expand(F.reshape(t, (*lead, own, 1, length, size)), (*lead, own, heads // own, length, size))
    return F.reshape(t, (*lead, heads, length, size))
