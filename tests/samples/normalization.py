"""Samples of normalisation."""

import numpy as np
from harness import Sample, complexn, positive, randn

import tensorplay as tp
import tensorplay.nn.functional as F

X = randn(3, 4, 5)


def standardised(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def channels(v, x):
    return v.reshape(-1, *(1,) * (x.ndim - 2))


def grouped(x, groups):
    return standardised(x.reshape(len(x), groups, -1), -1).reshape(x.shape)


def response(x, size, alpha, beta, k):
    out = np.zeros_like(x)
    for c in range(x.shape[1]):
        first = max(c - size // 2, 0)
        total = (x[:, first : c + (size - 1) // 2 + 1] ** 2).sum(1) / size
        out[:, c] = x[:, c] / (k + alpha * total) ** beta
    return out


SAMPLES = [
    Sample("layer_norm", lambda x: F.layer_norm(x, (5,)), X, reference=lambda x: standardised(x, -1)),
    Sample("layer_norm with weight", lambda x, w: F.layer_norm(x, (5,), w), X, randn(5),
           reference=lambda x, w: standardised(x, -1) * w),
    Sample("layer_norm with bias", lambda x, b: F.layer_norm(x, (5,), None, b), X, randn(5),
           reference=lambda x, b: standardised(x, -1) + b),
    Sample("layer_norm with both, over two dimensions", lambda x, w, b: F.layer_norm(x, (4, 5), w, b, 0.1), X,
           randn(4, 5), randn(4, 5, seed=1), reference=lambda x, w, b: standardised(x, (1, 2), 0.1) * w + b),
    Sample("layer_norm of a transposed tensor", lambda x: F.layer_norm(x.T, (3,)), randn(3, 4),
           reference=lambda x: standardised(x.T, -1)),
    Sample("rms_norm", lambda x, w: F.rms_norm(x, (5,), w, 0.1), X, randn(5),
           reference=lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 0.1) * w),
    Sample("rms_norm over two dimensions", lambda x: tp.rms_norm(x, (4, 5)), X,
           reference=lambda x: x / np.sqrt((x * x).mean((1, 2), keepdims=True))),
    Sample("rms_norm of complex numbers", lambda x: F.rms_norm(x, (3,)), complexn(2, 3),
           reference=lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True))),
    Sample("batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, True), X, randn(4), randn(4, seed=1),
           reference=lambda x, w, b: standardised(x, (0, 2)) * channels(w, x) + channels(b, x)),
    Sample("batch_norm of a matrix", lambda x: F.batch_norm(x, None, None, training=True), randn(5, 3),
           reference=lambda x: standardised(x, 0)),
    Sample("batch_norm of images", lambda x, w: F.batch_norm(x, None, None, w, training=True), randn(2, 3, 2, 2),
           randn(3), reference=lambda x, w: standardised(x, (0, 2, 3)) * channels(w, x)),
    Sample("batch_norm by running moments", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), X, randn(4),
           positive(4), randn(4, seed=1), randn(4, seed=2),
           reference=lambda x, m, v, w, b: (x - channels(m, x)) / channels(np.sqrt(v + 1e-5), x) * channels(w, x)
           + channels(b, x)),
    Sample("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), X, randn(4), randn(4, seed=1),
           reference=lambda x, w, b: grouped(x, 2) * channels(w, x) + channels(b, x)),
    Sample("instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), X, randn(4), randn(4, seed=1),
           reference=lambda x, w, b: grouped(x, 4) * channels(w, x) + channels(b, x)),
    Sample("local_response_norm", lambda x: F.local_response_norm(x, 3, 0.5, 0.75, 2.0), X,
           reference=lambda x: response(x, 3, 0.5, 0.75, 2.0)),
    Sample("local_response_norm over an even number", lambda x: F.local_response_norm(x, 2, 0.5), randn(2, 3, 2, 2),
           reference=lambda x: response(x, 2, 0.5, 0.75, 1.0)),
]  # fmt: skip
