"""Multi-head attention with its projections (Vaswani et al., 2017)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .attention import scaled_dot_product_attention
from .dense import linear
from .dropout import dropout

NAME = "multi_head_attention_forward"


def part(t: Tensor, dim: int, start: int, stop: int) -> Tensor:
    """The entries from ``start`` to ``stop`` of a dimension that counts from the end."""
    return F.slice(t, (*(slice(None),) * (t._data.ndim + dim), slice(start, stop), *(slice(None),) * (-1 - dim)))


def thirds(t: Tensor | None, size: int) -> list[Tensor | None]:
    """The parts of a stacked weight or bias that belong to query, key and value."""
    if t is None:
        return [None, None, None]
    return [part(t, -t._data.ndim, i * size, (i + 1) * size) for i in range(3)]


def additive(mask: Tensor | None, dtype: Any, argument: str) -> Tensor | None:
    """A mask as numbers that are added to the scores: where a bool one is true, -inf.

    Raises
    ------
    AssertionError
        If it is neither bool nor floating.
    """
    if mask is None or mask._data.dtype.kind in "fV":
        return mask
    if mask._data.dtype.kind != "b":
        raise AssertionError(f"{NAME}(): only bool and floating types of {argument} are supported, got {mask.dtype}")
    return F.where(mask, wrap(np.full((), -math.inf, dtype)), 0.0)


def check_shapes(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int
) -> bool:
    """Whether there is a batch dimension.

    Raises
    ------
    AssertionError
        If shapes do not fit.
    """
    ndim = arg.tensor(query, NAME, "query")._data.ndim
    if ndim not in (2, 3):
        raise AssertionError(
            f"{NAME}(): query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor"
        )
    if key._data.ndim != ndim or value._data.ndim != ndim:
        raise AssertionError(
            f"{NAME}(): For {'batched (3-D)' if ndim == 3 else 'unbatched (2-D)'} `query`, expected `key` and `value` "
            f"to be {ndim}-D but found {key._data.ndim}-D and {value._data.ndim}-D tensors respectively"
        )
    if padding is not None and padding._data.ndim != ndim - 1:
        raise AssertionError(
            f"{NAME}(): expected `key_padding_mask` to be None or {ndim - 1}-D but found {padding._data.ndim}-D"
        )
    if mask is not None:
        if mask._data.ndim not in (2, 3):
            raise AssertionError(f"{NAME}(): expected `attn_mask` to be None, 2-D or 3-D but found {mask._data.ndim}-D")
        wanted = (heads, query._data.shape[0], key._data.shape[0])
        if ndim == 2 and mask._data.ndim == 3 and mask._data.shape != wanted:
            raise AssertionError(f"{NAME}(): Expected `attn_mask` shape to be {wanted} but got {mask._data.shape}")
    return ndim == 3


def appended(t: Tensor | None, extra: Tensor | None, dim: int) -> Tensor | None:
    """One more entry of a dimension: the given one, or a zero."""
    if t is None:
        return None
    if extra is None:
        return F.pad(t, ((0, 1), *((0, 0),) * (-1 - dim)), 0)
    return F.cat(t, extra, dim=dim)


@operator(namespace="nn.functional", method=False, out=False)
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, with the projections into and out of them.

    Parameters
    ----------
    query, key, value : Tensor
        Of shapes (L, N, E), (S, N, K) and (S, N, V), or without N.
    embed_dim_to_check : int
        E.
    num_heads : int
        A divisor of E.
    in_proj_weight, in_proj_bias : Tensor or None
        Projections of query, key and value, stacked: (3 E, E) and (3 E,).
    bias_k, bias_v : Tensor or None
        One more key and value, (1, 1, E).
    add_zero_attn : bool
        Append a key and a value of zeros.
    dropout_p : float
        Probability that a weight is dropped in training.
    out_proj_weight, out_proj_bias : Tensor
        The projection of the result.
    training : bool
    key_padding_mask : Tensor, optional
        Keys to leave out, (N, S), or numbers that are added to their scores.
    need_weights : bool
        Return the attention weights as well.
    attn_mask : Tensor, optional
        Pairs to leave out, (L, S) or (N heads, L, S), or numbers that are added to their scores.
    use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight
        Projections that are not stacked.
    static_k, static_v : Tensor, optional
        Keys and values as the heads see them, (N heads, S, E / heads).
    average_attn_weights : bool
        Average the weights over the heads.
    is_causal : bool
        A hint that ``attn_mask`` is the causal one.

    Returns
    -------
    tuple of Tensor
        The result, (L, N, E), and the weights, (N, L, S) or (N, heads, L, S), or None.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x, w = tp.ones(1, 1, 2), tp.cat([tp.eye(2)] * 3)
    >>> out, _ = tp.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 2, 1, w, None, None, None, False, 0.0, tp.eye(2), None)
    >>> out
    tensor([[[1., 1.]]])
    """
    batched = check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    dtype = query._data.dtype
    if not batched:
        same = key is query, value is key
        query = F.reshape(query, (query._data.shape[0], 1, query._data.shape[1]))
        key = query if same[0] else F.reshape(key, (key._data.shape[0], 1, key._data.shape[1]))
        value = key if same[1] else F.reshape(value, (value._data.shape[0], 1, value._data.shape[1]))
        if key_padding_mask is not None:
            key_padding_mask = F.reshape(key_padding_mask, (1, *key_padding_mask._data.shape))
    length, n, size = query._data.shape
    source = key._data.shape[0]
    padding = additive(key_padding_mask, dtype, "key_padding_mask")
    if is_causal and attn_mask is None:
        raise RuntimeError(f"{NAME}(): Need attn_mask if specifying the is_causal hint.")
    if is_causal and padding is None and not need_weights:
        mask = None
    else:
        mask = additive(attn_mask, dtype, "attn_mask")
        is_causal = False
    if size != embed_dim_to_check:
        raise AssertionError(f"{NAME}(): was expecting embedding dimension of {embed_dim_to_check}, but got {size}")
    head = size // num_heads
    if head * num_heads != size:
        raise AssertionError(f"{NAME}(): embed_dim {size} not divisible by num_heads {num_heads}")
    q, k, v = projected(
        query, key, value, in_proj_weight, in_proj_bias, use_separate_proj_weight,
        (q_proj_weight, k_proj_weight, v_proj_weight),
    )  # fmt: skip
    if mask is not None:
        mask = checked_mask(mask, n * num_heads, length, source)
    if (bias_k is None) != (bias_v is None):
        raise AssertionError(f"{NAME}(): bias_k and bias_v must be given together")
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError(f"{NAME}(): bias cannot be added to static key or value.")
        bias_k, bias_v = (b if b.dtype is t.dtype else F.cast(b, t._data.dtype) for b, t in ((bias_k, k), (bias_v, v)))
        k = F.cat(k, F.expand(bias_k, (1, n, size)), dim=-3)
        v = F.cat(v, F.expand(bias_v, (1, n, size)), dim=-3)
        mask, padding = appended(mask, None, -1), appended(padding, None, -1)
    q = by_heads(q, num_heads, head)
    k = by_heads(k, num_heads, head) if static_k is None else static_k
    v = by_heads(v, num_heads, head) if static_v is None else static_v
    if add_zero_attn:
        k, v = F.pad(k, ((0, 1), (0, 0)), 0), F.pad(v, ((0, 1), (0, 0)), 0)
        mask, padding = appended(mask, None, -1), appended(padding, None, -1)
    source = k._data.shape[1]
    if padding is not None:
        if padding._data.shape != (n, source):
            raise AssertionError(
                f"{NAME}(): expecting key_padding_mask shape of {(n, source)}, but got {padding._data.shape}"
            )
        padding = F.expand(F.reshape(padding, (n, 1, 1, source)), (n, num_heads, 1, source))
        padding = F.reshape(padding, (n * num_heads, 1, source))
        mask = padding if mask is None else mask + padding
    dropout_p = dropout_p if training else 0.0
    weights = None
    if need_weights:
        scores = F.matmul(q * math.sqrt(1.0 / head), F.mT(k))
        weights = F.softmax(scores if mask is None else scores + mask, -1)
        weights = dropout(weights, dropout_p) if dropout_p > 0 else weights
        out = F.matmul(weights, v)
    else:
        q, k, v = (F.reshape(t, (n, num_heads, t._data.shape[1], head)) for t in (q, k, v))
        if mask is not None:
            rows = mask._data.shape[1]
            shape = (1, 1, rows, source) if mask._data.shape[0] == 1 else (n, num_heads, rows, source)
            mask = F.reshape(mask, shape)
        out = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
        out = F.reshape(out, (n * num_heads, length, head))
    out = F.reshape(F.permute(out, (-2, -3, -1)), (length, n, size))
    out = linear(out, out_proj_weight, out_proj_bias)
    if weights is not None:
        weights = F.reshape(weights, (n, num_heads, length, source))
        if average_attn_weights:
            weights = F.mean(weights, (-3,), False)
    if batched:
        return out, weights
    return F.reshape(out, out._data.shape[::2]), None if weights is None else F.reshape(
        weights, weights._data.shape[1:]
    )


def projected(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    separate: bool,
    weights: tuple[Tensor | None, Tensor | None, Tensor | None],
) -> list[Tensor]:
    """Query, key and value after their linear maps; one product where they are the same tensor."""
    size = query._data.shape[-1]
    if separate:
        for name, w in zip(("q", "k", "v"), weights, strict=True):
            if w is None:
                raise AssertionError(f"{NAME}(): use_separate_proj_weight is True but {name}_proj_weight is None")
        if key._data.shape[:2] != value._data.shape[:2]:
            raise AssertionError(
                f"{NAME}(): key's sequence and batch dims {key._data.shape[:2]} do not match value's "
                f"{value._data.shape[:2]}"
            )
        matrices = list(weights)
    else:
        if weight is None:
            raise AssertionError(f"{NAME}(): use_separate_proj_weight is False but in_proj_weight is None")
        if key._data.shape != value._data.shape:
            raise AssertionError(
                f"{NAME}(): key shape {key._data.shape} does not match value shape {value._data.shape}"
            )
        if query is key and key is value:
            whole = F.linear(query, weight, bias)
            return [part(whole, -1, i * size, (i + 1) * size) for i in range(3)]
        matrices = thirds(weight, size)
    return [F.linear(x, w, b) for x, w, b in zip((query, key, value), matrices, thirds(bias, size), strict=True)]


def by_heads(t: Tensor, heads: int, head: int) -> Tensor:
    """(L, N, E) as (N heads, L, E / heads)."""
    length, n, _ = t._data.shape
    return F.permute(F.reshape(t, (length, n * heads, head)), (-2, -3, -1))


def checked_mask(mask: Tensor, rows: int, length: int, source: int) -> Tensor:
    """The mask with three dimensions."""
    shape = mask._data.shape
    if len(shape) == 2:
        if shape != (length, source):
            raise RuntimeError(f"{NAME}(): The shape of the 2D attn_mask is {shape}, but should be {(length, source)}.")
        return F.reshape(mask, (1, *shape))
    if shape != (rows, length, source):
        raise RuntimeError(
            f"{NAME}(): The shape of the 3D attn_mask is {shape}, but should be {(rows, length, source)}."
        )
    return mask
