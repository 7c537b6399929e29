"""Samples of complex numbers: parts, sizes, angles, signs."""

import numpy as np
from harness import Sample, complexn, positive, randn

import tensorplay as tp

X, Z, W = randn(2, 3), complexn(2, 3), complexn(3, seed=1)
REAL_AND_COMPLEX = (X, Z, np.array(-1.5), np.array(1 - 2j))


def unary(name, *arrays, reference=None, **options):
    return [Sample(name, getattr(tp, name), a, reference=reference or getattr(np, name), **options) for a in arrays]


def direction(z):
    return z / np.abs(z)


SAMPLES = [
    *unary("abs", *REAL_AND_COMPLEX),
    *unary("angle", *REAL_AND_COMPLEX),
    *unary("sgn", *REAL_AND_COMPLEX, reference=direction),
    *unary("sign", X),
    *unary("real", X, Z),
    *unary("imag", Z),
    *unary("conj", X, Z),
    *unary("conj_physical", X, Z, reference=np.conj),
    *unary("resolve_conj", Z, reference=lambda z: z),
    *unary("resolve_neg", X, reference=lambda x: x),
    Sample("parts as attributes", lambda z: z.real * z.imag, Z, reference=lambda z: z.real * z.imag),
    Sample("complex", tp.complex, X, randn(3, seed=1), reference=lambda x, y: x + 1j * y),
    Sample("polar", tp.polar, positive(2, 3), randn(3, seed=1), reference=lambda r, a: r * np.exp(1j * a)),
    Sample("view_as_real", tp.view_as_real, Z, reference=lambda z: np.stack([z.real, z.imag], -1)),
    Sample("view_as_complex", tp.view_as_complex, randn(3, 2), reference=lambda x: x[..., 0] + 1j * x[..., 1],
           layouts=False),
    Sample("there and back", lambda z: tp.view_as_complex(tp.view_as_real(z) * 2), Z, reference=lambda z: 2 * z),
    Sample("size squared", lambda z: (z * z.conj()).real, Z, reference=lambda z: np.abs(z) ** 2),
    Sample("real times complex", lambda x, z: (x * z).abs(), X, W, reference=lambda x, z: np.abs(x * z)),
    Sample("log of the size", lambda z: tp.log(tp.abs(z)) + 1j * tp.angle(z), Z, reference=np.log),
    Sample("a part written to", lambda z: parted(z), Z, reference=lambda z: 3.0 + 1j * z.imag),
]


def parted(z):
    """A copy whose real part is overwritten through its view."""
    copy = z.clone()
    copy.real.fill_(3.0)
    return copy
