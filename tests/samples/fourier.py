"""Samples of Fourier transforms, against SciPy."""

import numpy as np
import scipy.fft
from harness import Sample, complexn, randn

import tensorplay as tp

X, Z = randn(3, 4), complexn(3, 4)
DEEP = complexn(2, 3, 2)
REAL_INPUT = ("rfft", "ihfft")


def transform(name, *args, reference=None, label="", **kwargs):
    """A call of ``fft.name``, whose reference is SciPy's function of that name with ``axes`` for ``dim``."""
    array, *rest = args
    several = name.endswith(("2", "n"))
    renamed = {"dim": "axes" if several else "axis"}
    there = {renamed.get(k, k): v for k, v in kwargs.items()}
    return Sample(f"fft.{name}{label or kwargs or ''}", lambda x: getattr(tp.fft, name)(x, *rest, **kwargs), array,
                  reference=reference or (lambda x: getattr(scipy.fft, name)(x, *rest, **there)))  # fmt: skip


def input_of(name, real, complex):
    return real if name.startswith(REAL_INPUT) else complex


NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SAMPLES = [
    # one dimension: along each, resized, in each scale, of odd and even sizes
    *[transform(name, input_of(name, X, Z), **kwargs) for name in NAMES for kwargs in (
        {}, {"dim": 0}, {"n": 3}, {"n": 6, "norm": "ortho"}, {"n": 5, "norm": "forward", "dim": 0})],
    *[transform(name, X, label=" of real input", **kwargs) for name in ("fft", "ifft", "irfft", "hfft")
      for kwargs in ({}, {"dim": 0}, {"n": 6}, {"n": 5, "norm": "forward"})],
    *[transform(name, input_of(name, randn(1), complexn(1)), 1, label=" of one point") for name in NAMES],
    *[transform(name, input_of(name, X, Z).T, label=" of strided input") for name in NAMES],
    *[transform(name, np.zeros((0, 3)), label=" of no elements") for name in NAMES],
    # several dimensions
    *[transform(name + form, input_of(name, X, Z), **kwargs) for name in NAMES for form in ("2", "n") for kwargs in (
        {}, {"dim": (1, 0)}, {"s": (2, 5), "norm": "ortho"}, {"s": (4, 3), "norm": "forward"})],
    *[transform(name + "n", input_of(name, DEEP.real, DEEP), **kwargs) for name in NAMES for kwargs in (
        {"dim": (0, -1)}, {"dim": (-2,)})],
    *[transform(name + "2", X, label=" of real input") for name in ("fft", "ifft", "irfft", "hfft")],
    transform("fftn", randn(2, 3, 2), dim=(1, 2, 0), label=" of real input"),
    transform("fftn", Z, s=(5,), reference=lambda x: scipy.fft.fft(x, 5), label=" of as many sizes as dimensions"),
    transform("fftn", Z, s=(-1, 3), reference=lambda x: scipy.fft.fftn(x, (3, 3)), label=" of one size left"),
    transform("irfftn", Z, s=(2, -1), reference=lambda x: scipy.fft.irfftn(x, (2, 6)), label=" of one size left"),
    transform("fftn", Z, dim=(), reference=lambda x: x, label=" over no dimension"),
    transform("fftn", np.array(2.0), reference=lambda x: x + 0j, label=" of a scalar"),
    # frequencies
    *[Sample(f"fft.{name}({n}, {d})", lambda x, name=name, n=n, d=d: x * getattr(tp.fft, name)(n, d, dtype=tp.float64),
             np.array(1.0), reference=lambda x, name=name, n=n, d=d: x * getattr(scipy.fft, name)(n, d))
      for name in ("fftfreq", "rfftfreq") for n, d in ((1, 1.0), (4, 1.0), (5, 0.25))],
    *[transform(name, X, **kwargs, reference=lambda x, name=name, kwargs=kwargs:
                getattr(scipy.fft, name)(x, kwargs.get("dim"))) for name in ("fftshift", "ifftshift")
      for kwargs in ({}, {"dim": 0}, {"dim": (-1,)}, {"dim": (1, 0)})],
    # compositions, whose derivatives meet all three primitives
    Sample("convolution by transforms", lambda x, y: tp.fft.irfft(tp.fft.rfft(x) * tp.fft.rfft(y), x.shape[-1]),
           randn(5), randn(5, seed=1),
           reference=lambda x, y: np.array([sum(x[j] * y[(i - j) % 5] for j in range(5)) for i in range(5)])),
    Sample("power spectrum", lambda x: tp.fft.rfft2(x).abs().square(), X,
           reference=lambda x: np.abs(scipy.fft.rfft2(x)) ** 2),
]  # fmt: skip
