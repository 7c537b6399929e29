"""Samples of interpolation and of sampling at given places."""

import numpy as np
import scipy.interpolate
from harness import Sample, randn

import tensorplay.nn.functional as F


def places(n, out, align_corners):
    if align_corners:
        return np.arange(out) * ((n - 1) / max(out - 1, 1))
    return (np.arange(out) + 0.5) * (n / out) - 0.5


def along(x, axis, out, align_corners):
    """Linear interpolation of one dimension."""
    at = places(x.shape[axis], out, align_corners).clip(0, x.shape[axis] - 1)
    return scipy.interpolate.interp1d(np.arange(x.shape[axis]), x, axis=axis)(at)


def linear(x, size, align_corners):
    for axis, out in enumerate(size, 2):
        x = along(x, axis, out, align_corners)
    return x


def nearest(x, size):
    for axis, out in enumerate(size, 2):
        x = x.take(np.arange(out) * x.shape[axis] // out, axis)
    return x


IMAGES = {1: (randn(1, 2, 4), (7,)), 2: (randn(1, 2, 4, 3), (3, 5)), 3: (randn(1, 1, 3, 2, 4), (2, 4, 3))}
SAMPLES = []
for n, (x, size) in IMAGES.items():
    mode = ("linear", "bilinear", "trilinear")[n - 1]
    SAMPLES += [
        Sample(
            f"interpolate, {mode}, aligned: {align}",
            lambda x, size=size, mode=mode, align=align: F.interpolate(x, size, mode=mode, align_corners=align), x,
            reference=lambda x, size=size, align=align: linear(x, size, align),
        )
        for align in (False, True)
    ]  # fmt: skip
    SAMPLES += [
        Sample(f"interpolate, nearest, {n}", lambda x, size=size: F.interpolate(x, size), x,
               reference=lambda x, size=size: nearest(x, size)),
        Sample(f"interpolate, twice the size, {n}", lambda x: F.interpolate(x, scale_factor=2, mode="nearest-exact"), x,
               reference=lambda x, n=n: np.kron(x, np.ones((1, 1, *(2,) * n)))),
        Sample(f"interpolate, area, {n}", lambda x, n=n: F.interpolate(x, (1,) * n, mode="area"), x,
               reference=lambda x, n=n: x.mean(tuple(range(2, 2 + n)), keepdims=True)),
    ]  # fmt: skip
# a cubic of each coordinate is reproduced away from the edges, a constant everywhere
SAMPLES += [
    Sample("interpolate, bicubic, the same size", lambda x: F.interpolate(x, (4, 3), mode="bicubic"), IMAGES[2][0],
           reference=lambda x: x),
    Sample("interpolate, bicubic", lambda x: F.interpolate(x, (6, 5), mode="bicubic", align_corners=True),
           IMAGES[2][0]),
    Sample("interpolate, antialiased", lambda x: F.interpolate(x, (2, 2), mode="bilinear", antialias=True),
           np.full((1, 1, 5, 4), 3.0), reference=lambda x: np.full((1, 1, 2, 2), 3.0)),
    Sample("interpolate, antialiased, bicubic", lambda x: F.interpolate(x, (2, 2), mode="bicubic", antialias=True),
           randn(1, 1, 5, 4)),
]  # fmt: skip

# ---- grids

GRID = np.random.default_rng(3).uniform(-0.9, 0.9, (1, 2, 3, 2))
FAR = 2.5 * GRID


def bilinear(x, grid, align_corners):
    """Linear between pixels, zero outside."""
    h, w = x.shape[2:]
    padded = np.pad(x[0], ((0, 0), (1, 1), (1, 1)))
    gx, gy = grid[0, ..., 0], grid[0, ..., 1]
    if align_corners:
        px, py = (gx + 1) / 2 * (w - 1), (gy + 1) / 2 * (h - 1)
    else:
        px, py = ((gx + 1) * w - 1) / 2, ((gy + 1) * h - 1) / 2
    at = np.stack([py, px], -1)
    axes = np.arange(-1, h + 1), np.arange(-1, w + 1)
    return np.stack([
        scipy.interpolate.RegularGridInterpolator(axes, c, bounds_error=False, fill_value=0)(at) for c in padded
    ])[None]  # fmt: skip


SAMPLES += [
    Sample(f"grid_sample, aligned: {align}", lambda x, g, align=align: F.grid_sample(x, g, align_corners=align),
           IMAGES[2][0], grid, reference=lambda x, g, align=align: bilinear(x, g, align))
    for align in (False, True) for grid in (GRID, FAR)
]  # fmt: skip
SAMPLES += [
    Sample(f"grid_sample, {mode}, {padding}",
           lambda x, g, mode=mode, padding=padding: F.grid_sample(x, g, mode, padding, align_corners=False),
           IMAGES[2][0], FAR, gradgrad=mode != "nearest")
    for mode in ("bilinear", "nearest", "bicubic") for padding in ("border", "reflection")
]  # fmt: skip
SAMPLES += [
    Sample("grid_sample of volumes", lambda x, g: F.grid_sample(x, g, align_corners=True), IMAGES[3][0],
           np.random.default_rng(4).uniform(-0.9, 0.9, (1, 1, 2, 2, 3))),
    Sample("affine_grid", lambda t: F.affine_grid(t, (1, 1, 2, 3), align_corners=True), randn(1, 2, 3),
           reference=lambda t: np.stack([
               [t[0] @ [x, y, 1] for x in (-1, 0, 1)] for y in (-1, 1)])[None]),
]  # fmt: skip
