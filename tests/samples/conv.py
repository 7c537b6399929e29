"""Samples of convolutions, against loops over all positions."""

import itertools

import numpy as np
from harness import Sample, complexn, randn

import tensorplay as tp
import tensorplay.nn.functional as F


def per_dim(value, n):
    return value if isinstance(value, tuple) else (value,) * n


def convolved(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """The definition: every output is the sum of a window times the weights."""
    n = w.ndim - 2
    stride, dilation = per_dim(stride, n), per_dim(dilation, n)
    reach = [d * (k - 1) for d, k in zip(dilation, w.shape[2:])]
    if padding == "same":
        edges = [(r // 2, r - r // 2) for r in reach]
    else:
        edges = [(p, p) for p in per_dim(0 if padding == "valid" else padding, n)]
    x = np.pad(x, [(0, 0), (0, 0), *edges])
    size = [(m - r - 1) // s + 1 for m, r, s in zip(x.shape[2:], reach, stride)]
    out = np.zeros((x.shape[0], w.shape[0], *size), np.result_type(x, w))
    per_group, outputs = w.shape[1], w.shape[0] // groups
    for o in range(w.shape[0]):
        channels = slice(o // outputs * per_group, (o // outputs + 1) * per_group)
        for at in itertools.product(*map(range, size)):
            index = tuple(slice(i * s, i * s + r + 1, d) for i, s, r, d in zip(at, stride, reach, dilation))
            out[(slice(None), o, *at)] = (x[(slice(None), channels, *index)] * w[o]).sum(tuple(range(1, n + 2)))
    return out if b is None else out + b.reshape(-1, *(1,) * n)


def transposed(x, w, b=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The definition: every input adds its weights, times itself, to a window."""
    n = w.ndim - 2
    stride, padding, dilation = per_dim(stride, n), per_dim(padding, n), per_dim(dilation, n)
    reach = [d * (k - 1) for d, k in zip(dilation, w.shape[2:])]
    extra = per_dim(output_padding, n)
    whole = [(m - 1) * s + r + e + 1 for m, s, r, e in zip(x.shape[2:], stride, reach, extra)]
    out = np.zeros((x.shape[0], w.shape[1] * groups, *whole))
    for c in range(x.shape[1]):
        g = c // (x.shape[1] // groups)
        channels = slice(g * w.shape[1], (g + 1) * w.shape[1])
        for at in itertools.product(*map(range, x.shape[2:])):
            index = tuple(slice(i * s, i * s + r + 1, d) for i, s, r, d in zip(at, stride, reach, dilation))
            value = x[(slice(None), c, *at)].reshape(-1, *(1,) * (n + 1))
            out[(slice(None), channels, *index)] += value * w[c]
    out = out[(..., *(slice(p, m - p) for p, m in zip(padding, whole)))]
    return out if b is None else out + b.reshape(-1, *(1,) * n)


SIZES, WINDOWS = (5, 4, 3), (3, 2, 2)
OPTIONS = [
    {}, {"padding": 1}, {"padding": "same"}, {"padding": "valid", "stride": 2}, {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2}, {"groups": 2}, {"groups": 2, "stride": 2},
]  # fmt: skip
TRANSPOSED = [
    {}, {"padding": 1}, {"stride": 2}, {"stride": 2, "padding": 1, "output_padding": 1}, {"groups": 2, "stride": 3},
    {"dilation": 2, "output_padding": 1},
]  # fmt: skip
SAMPLES = []
for n in (1, 2, 3):
    size, window = SIZES[:n], WINDOWS[:n]
    for options in OPTIONS if n < 3 else OPTIONS[:2] + OPTIONS[4:5]:
        SAMPLES.append(
            Sample(
                f"conv{n}d{options}", lambda x, w, b, n=n, options=options: getattr(F, f"conv{n}d")(x, w, b, **options),
                randn(2, 2, *size), randn(4, 2 // options.get("groups", 1), *window, seed=1), randn(4, seed=2),
                reference=lambda x, w, b, options=options: convolved(x, w, b, **options),
            )
        )  # fmt: skip
    for options in TRANSPOSED if n < 3 else TRANSPOSED[:1] + TRANSPOSED[3:4]:
        SAMPLES.append(
            Sample(
                f"conv_transpose{n}d{options}",
                lambda x, w, b, n=n, options=options: getattr(F, f"conv_transpose{n}d")(x, w, b, **options),
                randn(2, 2, *size), randn(2, 1, *window, seed=1), randn(options.get("groups", 1), seed=2),
                reference=lambda x, w, b, options=options: transposed(x, w, b, **options),
            )
        )  # fmt: skip
SAMPLES += [
    Sample("conv2d, depthwise", lambda x, w: F.conv2d(x, w, groups=3, padding=1), randn(2, 3, 4, 4), randn(3, 1, 3, 3),
           reference=lambda x, w: convolved(x, w, groups=3, padding=1)),
    Sample("conv2d, depthwise with multiples", lambda x, w: F.conv2d(x, w, groups=2, stride=2), randn(2, 2, 4, 4),
           randn(4, 1, 2, 2), reference=lambda x, w: convolved(x, w, groups=2, stride=2)),
    Sample("conv2d of single elements", F.conv2d, randn(2, 3, 3, 2), randn(4, 3, 1, 1), reference=convolved),
    Sample("conv2d without a batch", lambda x, w: F.conv2d(x, w, padding=(1, 0)), randn(2, 3, 3), randn(1, 2, 2, 2),
           reference=lambda x, w: convolved(x[None], w, padding=(1, 0))[0]),
    Sample("conv1d of no images", F.conv1d, np.zeros((0, 2, 4)), randn(3, 2, 2), reference=convolved),
    Sample("conv1d of complex numbers", F.conv1d, complexn(1, 2, 4), complexn(2, 2, 2, seed=1), reference=convolved),
    Sample("conv2d of a transposed image", lambda x, w: F.conv2d(x.transpose(2, 3), w), randn(1, 2, 4, 3),
           randn(2, 2, 2, 2), reference=lambda x, w: convolved(x.swapaxes(2, 3), w)),
    Sample("conv_tbc", lambda x, w, b: tp.conv_tbc(x, w, b, 1), randn(4, 2, 3), randn(2, 3, 2), randn(2),
           reference=lambda x, w, b: convolved(
               x.transpose(1, 2, 0), w.transpose(2, 1, 0), b, padding=1).transpose(2, 0, 1)),
]  # fmt: skip


def columns(x, kernel, stride, padding, dilation):
    """Windows as columns, one after the other."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    size = [(m - d * (k - 1) - 1) // s + 1 for m, d, k, s in zip(x.shape[2:], dilation, kernel, stride)]
    out = []
    for i, j in itertools.product(*map(range, size)):
        i, j = i * stride[0], j * stride[1]
        rows = slice(i, i + dilation[0] * (kernel[0] - 1) + 1, dilation[0])
        out.append(x[:, :, rows, j : j + dilation[1] * (kernel[1] - 1) + 1 : dilation[1]].reshape(len(x), -1))
    return np.stack(out, -1)


def folded(y, size, *geometry):
    """The transpose of ``columns``, by its matrix."""
    channels = y.shape[1] // (geometry[0][0] * geometry[0][1])
    shape = (channels, *size)
    basis = np.eye(int(np.prod(shape))).reshape(-1, *shape)
    return np.tensordot(y, columns(basis, *geometry), ((1, 2), (1, 2))).reshape(len(y), *shape)


for geometry in (((2, 2), (1, 1), (0, 0), (1, 1)), ((2, 3), (2, 1), (1, 1), (1, 1)), ((2, 2), (1, 2), (0, 1), (2, 1))):
    kernel, stride, padding, dilation = geometry
    SAMPLES += [
        Sample(
            f"unfold{geometry}",
            lambda x, k=kernel, s=stride, p=padding, d=dilation: F.unfold(x, k, d, p, s), randn(2, 2, 4, 4),
            reference=lambda x, geometry=geometry: columns(x, *geometry),
        ),
        Sample(
            f"fold{geometry}",
            lambda y, k=kernel, s=stride, p=padding, d=dilation: F.fold(y, (4, 4), k, d, p, s),
            columns(randn(2, 1, 4, 4), *geometry),
            reference=lambda y, geometry=geometry: folded(y, (4, 4), *geometry),
        ),
    ]  # fmt: skip
