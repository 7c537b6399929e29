"""Samples at the edges of what operators take: no elements, nan and infinity, vectors that are broadcast."""

import numpy as np
from harness import Sample, randn

import tensorplay as tp
import tensorplay.nn.functional as F

NAN = np.nan
IMAGE = np.where(np.arange(5) == 1, NAN, randn(2, 3, 5))
ONES = tp.ones(3, dtype=tp.float64)


def mean_pools(x):
    return np.stack([x[..., 0:2].mean(-1), x[..., 1:4].mean(-1), x[..., 3:5].mean(-1)], -1)


def constant(fn, *arrays, name, value, **options):
    return Sample(name, fn, *arrays, reference=lambda *a: value, grad=False, **options)


SAMPLES = [
    # nan is not lost, and does not spread
    *[
        constant(lambda x, fn=fn: fn(x), np.array([1.0, NAN]), name=f"{name} of nan", value=NAN)
        for name, fn in {
            "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, 2 * x, tp.tensor([1, 1])),
            "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, tp.tensor([-1, -1])),
            "multi_margin_loss": lambda x: F.multi_margin_loss(x, tp.tensor(0)),
            "triplet_margin_loss": lambda x: F.triplet_margin_loss(x, 2 * x, 3 * x),
            "pairwise_distance": lambda x: F.pairwise_distance(x, 2 * x),
        }.items()
    ],
    constant(lambda x: F.normalize(x, dim=0), np.array([1.0, NAN]), name="normalize of nan", value=np.full(2, NAN)),
    Sample("interpolate an image with nan", lambda x: F.interpolate(x, 9, mode="linear", align_corners=True), IMAGE,
           reference=lambda x: np.stack([(x[..., i // 2] + x[..., (i + 1) // 2]) / 2 for i in range(9)], -1),
           grad=False),
    Sample("adaptive_avg_pool1d of nan", lambda x: F.adaptive_avg_pool1d(x, 3), IMAGE, reference=mean_pools,
           grad=False),
    Sample("grid_sample outside of infinite pixels", lambda x, at: F.grid_sample(x, at, align_corners=False),
           np.full((1, 1, 2, 2), np.inf), np.full((1, 1, 1, 2), 3.0), reference=lambda x, at: np.zeros((1, 1, 1, 1)),
           grad=False),
    constant(tp.det, np.full((2, 2), NAN), name="det of nan", value=NAN),
    # no elements
    *[
        constant(fn, np.zeros(shape), name=f"{name} of nothing", value=np.zeros(out), vmap=False)
        for name, fn, shape, out in (
            ("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, 3), (0, 2, 5, 7), (0, 2, 3, 3)),
            ("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 5), (0, 8), (0, 5)),
            ("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 3), (0, 8), (0, 3)),
            ("bilinear", lambda x: F.bilinear(x, x, tp.zeros(0, 4, 4, dtype=tp.float64)), (0, 3, 4), (0, 3, 0)),
            ("batch_norm", lambda x: F.batch_norm(x, 0 * ONES, ONES, training=True), (0, 3, 2), (0, 3, 2)),
            ("linear", lambda x: F.linear(x, tp.zeros(2, 0, dtype=tp.float64)), (3, 2, 0), (3, 2, 2)),
        )
    ],
    *[
        constant(lambda x, loss=loss: getattr(F, loss)(x, tp.zeros(x.shape[:1], dtype=tp.int64)), np.zeros(shape),
                 name=f"{loss} of {name}", value=NAN)
        for name, shape in {"no rows": (0, 3), "nothing": (0, 0)}.items() for loss in ("cross_entropy", "nll_loss")
    ],
    constant(lambda x: F.multilabel_soft_margin_loss(x, x), np.zeros((2, 0)), name="loss of no labels", value=NAN),
    # others
    *[
        Sample(f"linear, bias of shape {bias.shape}", F.linear, randn(2, 3), randn(4, 3, seed=1), bias,
               reference=lambda x, w, b: x @ w.T + b)
        for bias in (randn(1, seed=2), randn(seed=2), randn(2, 4, seed=2), randn(2, 1, seed=2))
    ],
    Sample("pairwise_distance of numbers", lambda x, y: F.pairwise_distance(x, y, keepdim=True), randn(), randn(seed=1),
           reference=lambda x, y: abs(x - y + 1e-6)),
    Sample("cross_entropy of probabilities, weighted", lambda x, p, w: F.cross_entropy(x, p, w), randn(3, 4),
           np.abs(randn(3, 4, seed=1)), np.abs(randn(4, seed=2)),
           reference=lambda x, p, w: -((x - np.log(np.exp(x).sum(1, keepdims=True))) * p * w).sum() / 3),
    Sample("view_copy of a transposed tensor", lambda x: tp.view_copy(x.mT, (6,)), randn(2, 3),
           reference=lambda x: x.T.reshape(6)),
    Sample("histc of one large number", lambda x: tp.histc(x, 3), np.array(1e30),
           reference=lambda x: np.array([0, 1, 0]), grad=False, vmap=False),
    Sample("addcmul of integers", lambda x, y: tp.addcmul(x, x, y, value=2.9), np.arange(3), np.arange(1, 4),
           reference=lambda x, y: x + 2 * x * y),
]  # fmt: skip
