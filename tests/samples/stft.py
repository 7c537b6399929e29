"""Samples of short-time Fourier transforms, against their definition."""

import numpy as np
from harness import Sample, complexn, positive, randn

import tensorplay as tp


def pieces(x, points, hop):
    count = 1 + (x.shape[-1] - points) // hop
    return np.stack([x[..., t * hop : t * hop + points] for t in range(count)], -2)


def stft(x, window, points, hop, *, center=True, mode="reflect", scale=1.0, onesided=True, align=False):
    left = (points - len(window)) // 2
    margin = points // 2 if center else left if align else 0
    padding = [(0, 0)] * (x.ndim - 1) + [(margin, margin)]
    x = np.pad(x, padding, mode=mode if center else "constant")
    window = np.pad(window, (left, points - len(window) - left))
    out = np.fft.fft(pieces(x, points, hop) * window) * scale
    return np.swapaxes(out[..., : points // 2 + 1] if onesided else out, -1, -2)


def istft(z, window, points, hop, *, center=True, scale=1.0):
    parts = np.fft.irfft(np.swapaxes(z, -1, -2), points) * window / scale
    total = points + hop * (z.shape[-1] - 1)
    signal, weight = np.zeros((*z.shape[:-2], total)), np.zeros(total)
    for t in range(z.shape[-1]):
        signal[..., t * hop : t * hop + points] += parts[..., t, :]
        weight[t * hop : t * hop + points] += window**2
    kept = slice(points // 2, total - points // 2) if center else slice(None)
    return signal[..., kept] / weight[kept]


X, W = randn(2, 9), positive(4, seed=1)
SPECTRUM = complexn(2, 3, 4)

SAMPLES = [
    Sample("stft", lambda x, w: tp.stft(x, 4, window=w, return_complex=True), X, W,
           reference=lambda x, w: stft(x, w, 4, 1)),
    Sample("stft of one signal", lambda x, w: tp.stft(x, 4, 3, window=w, return_complex=True), X[0], W,
           reference=lambda x, w: stft(x, w, 4, 3)),
    Sample("stft of an odd number of points", lambda x, w: tp.stft(x, 5, 2, window=w, return_complex=True), X,
           positive(5), reference=lambda x, w: stft(x, w, 5, 2)),
    Sample("stft with a short window", lambda x, w: tp.stft(x, 4, 2, 3, w, normalized=True, return_complex=True), X,
           positive(3), reference=lambda x, w: stft(x, w, 4, 2, scale=0.5)),
    Sample("stft without a window", lambda x: tp.stft(x, 4, 2, return_complex=True), X,
           reference=lambda x: stft(x, np.ones(4), 4, 2)),
    Sample("stft with a short window of ones", lambda x: tp.stft(x, 4, 2, 2, return_complex=True), X,
           reference=lambda x: stft(x, np.ones(2), 4, 2)),
    Sample("stft, not centred", lambda x, w: tp.stft(x, 4, 2, window=w, center=False, return_complex=True), X, W,
           reference=lambda x, w: stft(x, w, 4, 2, center=False)),
    Sample("stft, aligned", lambda x, w: tp.stft(x, 6, 2, 2, w, center=False, align_to_window=True,
                                                 return_complex=True),
           X, positive(2), reference=lambda x, w: stft(x, w, 6, 2, center=False, align=True)),
    *[Sample(f"stft, padding {mode}", lambda x, w, mode=mode: tp.stft(x, 4, 2, window=w, pad_mode=mode,
                                                                      return_complex=True),
             X, W, reference=lambda x, w, there=there: stft(x, w, 4, 2, mode=there))
      for mode, there in (("constant", "constant"), ("replicate", "edge"), ("circular", "wrap"))],
    Sample("stft, two-sided", lambda x, w: tp.stft(x, 4, 2, window=w, onesided=False, return_complex=True), X, W,
           reference=lambda x, w: stft(x, w, 4, 2, onesided=False)),
    Sample("stft as real numbers", lambda x, w: tp.stft(x, 4, 2, window=w, return_complex=False), X, W,
           reference=lambda x, w: np.stack([(z := stft(x, w, 4, 2)).real, z.imag], -1)),
    Sample("stft of complex input", lambda x, w: tp.stft(x, 4, 2, window=w), complexn(9), W,
           reference=lambda x, w: stft(x, w, 4, 2, onesided=False)),
    Sample("stft with a complex window", lambda x, w: tp.stft(x, 4, 2, window=w), X, complexn(4),
           reference=lambda x, w: stft(x, w, 4, 2, onesided=False)),
    Sample("istft", lambda z, w: tp.istft(z, 4, window=w), SPECTRUM, W, reference=lambda z, w: istft(z, w, 4, 1)),
    Sample("istft, not centred", lambda z, w: tp.istft(z, 4, 2, window=w, center=False), SPECTRUM, W,
           reference=lambda z, w: istft(z, w, 4, 2, center=False)),
    Sample("istft, normalized", lambda z, w: tp.istft(z, 4, 2, window=w, normalized=True), SPECTRUM[0], W,
           reference=lambda z, w: istft(z, w, 4, 2, scale=0.5)),
    Sample("istft of an odd number of points", lambda z, w: tp.istft(z, 5, 2, window=w), SPECTRUM, positive(5),
           reference=lambda z, w: istft(z, w, 5, 2)),
    Sample("istft of a given length", lambda z, w: tp.istft(z, 4, 2, window=w, length=5), SPECTRUM, W,
           reference=lambda z, w: istft(z, w, 4, 2)[..., :5]),
    Sample("istft, complex", lambda z, w: tp.istft(z, 4, 2, window=w, center=False, return_complex=True),
           complexn(4, 2), W),
    Sample("istft of what stft gave", lambda x, w: tp.istft(tp.stft(x, 4, 2, window=w, return_complex=True), 4, 2,
                                                            window=w, length=9), X, W, reference=lambda x, w: x),
    Sample("complex istft of what stft gave",
           lambda x, w: tp.istft(tp.stft(x, 4, 2, window=w), 4, 2, window=w, length=9, return_complex=True),
           complexn(2, 9), W, reference=lambda x, w: x),
]  # fmt: skip
