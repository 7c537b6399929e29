"""Samples of pooling, against loops over all windows."""

import itertools

import numpy as np
from harness import Sample, randn

import tensorplay.nn.functional as F

SIZES = (5, 4, 3)


def pooled(x, n, combine, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
    """``combine`` the elements of every window, given as lists with None for the edge."""
    stride = kernel if stride is None else stride
    size, places = x.shape[-n:], []
    for m in size:
        room = m + 2 * padding - dilation * (kernel - 1) - 1
        o = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
        places.append(o - 1 if ceil_mode and (o - 1) * stride >= m + padding else o)
    rows = x.reshape(-1, *size)
    out = np.zeros((len(rows), *places))
    for i, image in enumerate(rows):
        for at in itertools.product(*map(range, places)):
            axes = [[o * stride - padding + dilation * k for k in range(kernel)] for o in at]
            inside = [all(0 <= c < m for c, m in zip(cell, size)) for cell in itertools.product(*axes)]
            known = [all(c < m + padding for c, m in zip(cell, size)) for cell in itertools.product(*axes)]
            values = [image[cell] for cell, ok in zip(itertools.product(*axes), inside) if ok]
            out[(i, *at)] = combine(values, sum(known))
    return out.reshape(*x.shape[:-n], *places)


def maximum(values, count):
    return max(values)


def mean(values, count):
    return sum(values) / count


def mean_of_inside(values, count):
    return sum(values) / len(values)


OPTIONS = [
    {"kernel_size": 2}, {"kernel_size": 3, "stride": 2, "padding": 1}, {"kernel_size": 2, "stride": 1},
    {"kernel_size": 2, "stride": 3}, {"kernel_size": 3, "stride": 2, "ceil_mode": True},
]  # fmt: skip
SAMPLES = []


def arguments(options):
    return {"kernel" if k == "kernel_size" else k: v for k, v in options.items()}


for n in (1, 2, 3):
    x = randn(2, 2, *SIZES[:n])
    for options in OPTIONS if n < 3 else OPTIONS[:2]:
        for name, combine, more in (
            (f"max_pool{n}d", maximum, {}),
            (f"avg_pool{n}d", mean, {}),
            (f"avg_pool{n}d", mean_of_inside, {"count_include_pad": False}),
        ):
            SAMPLES.append(
                Sample(
                    f"{name}{ {**options, **more} }",
                    lambda x, name=name, more=more, options=options: getattr(F, name)(x, **options, **more), x,
                    reference=lambda x, n=n, f=combine, options=options: pooled(x, n, f, **arguments(options)),
                )
            )  # fmt: skip
    dilated = {"kernel_size": 2, "stride": 1, "dilation": 2}
    SAMPLES += [
        Sample(
            f"max_pool{n}d{dilated}", lambda x, n=n, o=dilated: getattr(F, f"max_pool{n}d")(x, **o), x,
            reference=lambda x, n=n, o=dilated: pooled(x, n, maximum, **arguments(o)),
        ),
        Sample(
            f"max_pool{n}d with indices",
            lambda x, n=n: getattr(F, f"max_pool{n}d")(x, 2, return_indices=True)[0], x,
            reference=lambda x, n=n: pooled(x, n, maximum, 2),
        ),
        Sample(
            f"max_unpool{n}d",
            lambda x, n=n: getattr(F, f"max_unpool{n}d")(
                *getattr(F, f"max_pool{n}d")(x, 2, return_indices=True), 2, output_size=x.shape
            ), x,
        ),
        Sample(
            f"lp_pool{n}d", lambda x, n=n: getattr(F, f"lp_pool{n}d")(x * x, 3.0, 2), x,
            reference=lambda x, n=n: pooled(x * x, n, lambda v, _: sum(e**3 for e in v) ** (1 / 3), 2),
        ),
    ]  # fmt: skip


def adaptive(x, n, combine, out):
    size = x.shape[-n:]
    rows = x.reshape(-1, *size)
    result = np.zeros((len(rows), *(out,) * n))
    for at in itertools.product(range(out), repeat=n):
        index = tuple(slice(i * m // out, -(-(i + 1) * m // out)) for i, m in zip(at, size))
        result[(slice(None), *at)] = combine(rows[(slice(None), *index)].reshape(len(rows), -1), 1)
    return result.reshape(*x.shape[:-n], *(out,) * n)


for n in (1, 2, 3):
    for out in (1, 2, 3):
        for kind, combine in (("avg", np.mean), ("max", np.max)):
            SAMPLES.append(
                Sample(
                    f"adaptive_{kind}_pool{n}d to {out}",
                    lambda x, n=n, out=out, kind=kind: getattr(F, f"adaptive_{kind}_pool{n}d")(x, out),
                    randn(2, 2, *SIZES[:n]),
                    reference=lambda x, n=n, out=out, combine=combine: adaptive(x, n, combine, out),
                )
            )  # fmt: skip
# where windows tie, the first maximum receives the gradient: checked against the values only
SAMPLES.append(
    Sample("max_pool2d of ties", lambda x: F.max_pool2d(x, 2), np.ones((1, 1, 4, 4)), grad=False,
           reference=lambda x: np.ones((1, 1, 2, 2)))
)  # fmt: skip
