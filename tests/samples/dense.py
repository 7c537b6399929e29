"""Samples of linear maps, embeddings, padding and attention."""

import numpy as np
import scipy.special
from harness import Sample, complexn, randn

import tensorplay as tp
import tensorplay.nn.functional as F

W, B = randn(4, 3, seed=1), randn(4, seed=2)
SAMPLES = [
    Sample(f"linear of {x.ndim} dimensions", F.linear, x, W, B, reference=lambda x, w, b: x @ w.T + b)
    for x in (randn(3), randn(2, 3), randn(2, 2, 3), np.zeros((0, 3)))
]
SAMPLES += [
    Sample("linear without bias", F.linear, randn(2, 3), W, reference=lambda x, w: x @ w.T),
    Sample("linear to one output", F.linear, randn(2, 2, 3), randn(3, seed=1), reference=lambda x, w: x @ w),
    Sample("linear of a transposed input", lambda x, w: F.linear(x.T, w), randn(3, 2), W,
           reference=lambda x, w: x.T @ w.T),
    Sample("linear of complex numbers", F.linear, complexn(2, 3), complexn(4, 3, seed=1), complexn(4, seed=2),
           reference=lambda x, w, b: x @ w.T + b),
    Sample("bilinear", F.bilinear, randn(5, 2), randn(5, 3), randn(4, 2, 3), B,
           reference=lambda x, y, w, b: np.einsum("ni,oij,nj->no", x, w, y) + b),
    Sample("one_hot", lambda i: F.one_hot(i, 4), np.array([[0, 3], [1, 1]]), reference=lambda i: np.eye(4)[i]),
]  # fmt: skip

# ---- embeddings

TABLE, INDICES = randn(5, 3), np.array([[0, 2, 2], [4, 0, 2]])
SAMPLES += [
    Sample("embedding", lambda i, w: F.embedding(i, w), INDICES, TABLE, reference=lambda i, w: w[i]),
    Sample("embedding of one index", lambda i, w: F.embedding(i, w), np.array(3), TABLE, reference=lambda i, w: w[i]),
    Sample("embedding of many rows", lambda i, w: F.embedding(i, w), np.arange(1500) % 5, TABLE, gradgrad=False,
           grad=False, reference=lambda i, w: w[i]),
]  # fmt: skip
BAGS = {"sum": np.sum, "mean": np.mean, "max": np.max}
for mode, reduce in BAGS.items():
    SAMPLES += [
        Sample(f"embedding_bag, {mode}", lambda i, w, mode=mode: F.embedding_bag(i, w, mode=mode), INDICES, TABLE,
               reference=lambda i, w, reduce=reduce: reduce(w[i], 1)),
        Sample(
            f"embedding_bag with offsets, {mode}",
            lambda i, w, mode=mode: F.embedding_bag(i, w, tp.tensor([0, 2, 2]), mode=mode),
            np.array([0, 2, 2, 4]), TABLE,
            reference=lambda i, w, reduce=reduce: np.stack(
                [reduce(w[i[:2]], 0), np.zeros(3), reduce(w[i[2:]], 0)]),
        ),
        Sample(
            f"embedding_bag with padding, {mode}",
            lambda i, w, mode=mode: F.embedding_bag(i, w, mode=mode, padding_idx=0), np.array([[0, 2, 3]]), TABLE,
            reference=lambda i, w, reduce=reduce: reduce(w[i[:, 1:]], 1), grad=False,
        ),
    ]  # fmt: skip
SAMPLES.append(
    Sample("embedding_bag, weighted", lambda i, w, s: F.embedding_bag(i, w, mode="sum", per_sample_weights=s), INDICES,
           TABLE, randn(2, 3, seed=3), reference=lambda i, w, s: (w[i] * s[..., None]).sum(1))
)  # fmt: skip

# ---- padding and pixels

PADS = [((1, 2), ((0, 0), (0, 0), (1, 2))), ((1, 0, 2, 1), ((0, 0), (2, 1), (1, 0)))]
MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
X = randn(2, 3, 4)
for pad, widths in PADS:
    SAMPLES += [
        Sample(f"pad{pad}", lambda x, pad=pad: F.pad(x, pad), X, reference=lambda x, w=widths: np.pad(x, w)),
        Sample(f"pad{pad} with 2", lambda x, pad=pad: F.pad(x, pad, value=2.0), X,
               reference=lambda x, w=widths: np.pad(x, w, constant_values=2)),
    ]  # fmt: skip
    SAMPLES += [
        Sample(f"pad{pad}, {mode}", lambda x, pad=pad, mode=mode: F.pad(x, pad, mode=mode), X,
               reference=lambda x, w=widths, name=name: np.pad(x, w, mode=name))
        for mode, name in MODES.items()
    ]  # fmt: skip
SAMPLES += [
    Sample("pad with a negative width", lambda x: F.pad(x, (-1, 2)), X,
           reference=lambda x: np.pad(x[..., 1:], ((0, 0), (0, 0), (0, 2)))),
    Sample("pad of many copies", lambda x: F.pad(x, (30, 30), mode="replicate"), randn(1, 40), gradgrad=False,
           reference=lambda x: np.pad(x, ((0, 0), (30, 30)), mode="edge")),
    Sample("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), randn(2, 4, 2, 3), reference=lambda x: np.stack(
        [np.stack([x[:, 2 * i + j] for j in (0, 1)], -1).reshape(2, 2, 6) for i in (0, 1)], 2).reshape(2, 1, 4, 6)),
    Sample("pixel_unshuffle", lambda x: F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), randn(1, 8, 2, 1),
           reference=lambda x: x),
    Sample("channel_shuffle", lambda x: F.channel_shuffle(x, 2), randn(1, 4, 2),
           reference=lambda x: x[:, [0, 2, 1, 3]]),
]  # fmt: skip

# ---- attention


def attention(q, k, v, mask=0.0, scale=None):
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + mask
    return scipy.special.softmax(scores, -1) @ v


Q, K, V = randn(2, 3, 4), randn(2, 5, 4, seed=1), randn(2, 5, 2, seed=2)
CAUSAL = np.where(np.tri(3, 5, dtype=bool), 0, -np.inf)
SAMPLES += [
    Sample("attention", F.scaled_dot_product_attention, Q, K, V, reference=attention),
    Sample("attention of matrices", F.scaled_dot_product_attention, Q[0], K[0], V[0], reference=attention),
    Sample("attention over heads", F.scaled_dot_product_attention, randn(1, 2, 2, 3), randn(1, 2, 3, 3),
           randn(1, 2, 3, 2), reference=attention),
    Sample("attention, causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), Q, K, V,
           reference=lambda q, k, v: attention(q, k, v, CAUSAL)),
    Sample("attention, scaled", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3), Q, K, V,
           reference=lambda q, k, v: attention(q, k, v, scale=0.3)),
    Sample("attention with a mask of numbers", F.scaled_dot_product_attention, Q, K, V, randn(3, 5),
           reference=attention),
    Sample("attention with a mask for each", F.scaled_dot_product_attention, Q, K, V, randn(2, 1, 5),
           reference=attention),
    Sample("attention with a mask", lambda q, k, v: F.scaled_dot_product_attention(
        q, k, v, tp.tensor(CAUSAL == 0)), Q, K, V, reference=lambda q, k, v: attention(q, k, v, CAUSAL)),
    Sample("attention of shared heads", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
           randn(4, 2, 3), randn(2, 3, 3), randn(2, 3, 2), reference=lambda q, k, v: attention(
               q, k.repeat(2, 0), v.repeat(2, 0))),
]  # fmt: skip


def multihead(x, w, b, o):
    q, k, v = np.split(x @ w.T + b, 3, -1)
    heads = lambda t: t.reshape(len(x), -1, 2, 2).transpose(1, 2, 0, 3)
    out = attention(heads(q), heads(k), heads(v))
    return out.transpose(2, 0, 1, 3).reshape(x.shape) @ o.T


for weights in (True, False):
    SAMPLES.append(
        Sample(
            f"multi_head_attention_forward{' with weights' * weights}",
            lambda x, w, b, o, weights=weights: F.multi_head_attention_forward(
                x, x, x, 4, 2, w, b, None, None, False, 0.0, o, None, need_weights=weights)[0],
            randn(3, 2, 4), randn(12, 4), randn(12), randn(4, 4), reference=multihead,
        )
    )  # fmt: skip
