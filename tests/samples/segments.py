"""Samples of reductions of segments."""

import itertools

import numpy as np
from harness import Sample, randn

import tensorplay as tp

X = randn(6, 2)
PARTS = {"one empty": [2, 0, 4], "one": [6], "each": [1] * 6, "last one empty": [4, 2, 0]}
REDUCE = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
OF_NOTHING = {"sum": 0, "mean": np.nan, "max": -np.inf, "min": np.inf, "prod": 1}


def reduced(reduce, lengths, initial=None):
    def reference(x):
        ends = np.cumsum(lengths)
        pieces = [x[end - n : end] for n, end in zip(lengths, ends)]
        empty = np.full(x.shape[1:], OF_NOTHING[reduce] if initial is None else initial, float)
        if initial is not None:
            whole = {"sum": np.add, "mean": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}[reduce]
            over = [len(p) if reduce == "mean" else 1 for p in pieces]
            inner = REDUCE["sum" if reduce == "mean" else reduce]
            return np.stack([whole(inner(p, 0), initial) / n if len(p) else empty for p, n in zip(pieces, over)])
        return np.stack([REDUCE[reduce](p, 0) if len(p) else empty for p in pieces])

    return reference


def call(reduce, **options):
    return lambda x: tp.segment_reduce(x, reduce, **options)


SAMPLES = [
    *[
        Sample(f"segment_reduce, {reduce}, {name}", call(reduce, lengths=tp.tensor(lengths)), X,
               reference=reduced(reduce, lengths), grad=reduce in ("sum", "prod") or 0 not in lengths)
        for reduce, (name, lengths) in itertools.product(REDUCE, PARTS.items())
    ],
    *[
        Sample(f"segment_reduce, {reduce}, initial", call(reduce, lengths=tp.tensor([2, 0, 4]), initial=0.3), X,
               reference=reduced(reduce, [2, 0, 4], 0.3))
        for reduce in REDUCE
    ],
    Sample("segment_reduce by offsets", call("sum", offsets=tp.tensor([1, 3, 3, 5])), X,
           reference=lambda x: np.stack([x[1:3].sum(0), 0 * x[0], x[3:5].sum(0)])),
    Sample("segment_reduce, unsafe", call("sum", lengths=tp.tensor([1, 2]), unsafe=True), X,
           reference=lambda x: np.stack([x[0], x[1:3].sum(0)])),
    Sample("segment_reduce along the last dimension", call("sum", lengths=tp.tensor([[3, 1], [0, 4]]), axis=-1),
           randn(2, 4), reference=lambda x: np.array([[x[0, :3].sum(), x[0, 3]], [0, x[1].sum()]])),
    Sample("segment_reduce of nothing", call("sum", lengths=tp.tensor([0, 0])), np.zeros((0, 3)),
           reference=lambda x: np.zeros((2, 3))),
    Sample("segment_reduce to nothing", call("max", lengths=tp.zeros(0, dtype=tp.int64)), np.zeros((0, 3)),
           reference=lambda x: np.zeros((0, 3))),
]  # fmt: skip
