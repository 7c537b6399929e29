"""Samples of special functions: values from SciPy, derivatives also where quotients have none."""

import numpy as np
import scipy.special as scipy
from harness import Sample, complexn, positive, randn

import tensorplay as tp

X, P = randn(2, 3), positive(2, 3)
UNIT = np.linspace(-0.9, 0.9, 6).reshape(2, 3)
AT_ZERO = np.array([0.0, 0.4, -1.2])
DEGREES = np.array([0, 1, 2, 5, -1])
POINTS = np.array([[-0.8], [0.3], [1.5]])


def unary(name, *arrays, reference=None, **options):
    """A function of one tensor, by name, on each array; in the special namespace if it is nowhere else."""
    fn = getattr(tp, name, None) or getattr(tp.special, name)
    return [Sample(name, fn, a, reference=reference or getattr(scipy, name), **options) for a in arrays]


def polynomial(name, reference):
    fn = getattr(tp.special, name)
    return [
        Sample(name, lambda x, n: fn(x, n), POINTS, DEGREES,
               reference=lambda x, n: np.where(n < 0, 0, reference(np.maximum(n, 0), x))),
        Sample(f"{name} of degree 4", lambda x: fn(x, 4), POINTS, reference=lambda x: reference(4, x)),
    ]  # fmt: skip


def third(n, x):
    return scipy.eval_chebyu(n, x) - np.where(n > 0, scipy.eval_chebyu(np.maximum(n - 1, 0), x), 0)


def fourth(n, x):
    return scipy.eval_chebyu(n, x) + np.where(n > 0, scipy.eval_chebyu(np.maximum(n - 1, 0), x), 0)


SAMPLES = [
    *unary("erf", X),
    *unary("erfc", X),
    *unary("erfinv", UNIT),
    *unary("erfcx", X),
    *unary("ndtr", X),
    *unary("ndtri", (UNIT + 1) / 2),
    *unary("log_ndtr", X, np.array([-30.0, 5.0])),
    *unary("expit", X),
    *unary("lgamma", P, np.array([-1.5, -0.3, 7.2]), reference=scipy.gammaln),
    *unary("gammaln", P),
    *unary("digamma", P, np.array([-1.5, -0.3, 7.2])),
    *[Sample(f"polygamma of order {n}", lambda x, n=n: tp.polygamma(n, x), P,
             reference=lambda x, n=n: scipy.polygamma(n, x)) for n in (0, 1, 3)],
    *[Sample(f"mvlgamma of dimension {p}", lambda x, p=p: tp.mvlgamma(x, p), P + 2,
             reference=lambda x, p=p: scipy.multigammaln(x, p) if not np.ndim(x) else np.vectorize(
                 lambda a: scipy.multigammaln(a, p))(x)) for p in (1, 3)],
    Sample("igamma", tp.igamma, P[0], P, reference=scipy.gammainc),
    Sample("igammac", tp.igammac, P[0], P, reference=scipy.gammaincc),
    Sample("igamma far out", tp.igamma, np.array([0.1, 50.0, 3.0]), np.array([9.0, 45.0, 1e-3]),
           reference=scipy.gammainc),
    Sample("zeta", lambda q: tp.special.zeta(tp.tensor(P + 1.2), q), P, reference=lambda q: scipy.zeta(P + 1.2, q)),
    Sample("xlogy", tp.xlogy, X, positive(3, seed=1), reference=scipy.xlogy),
    Sample("xlogy at zero", lambda y: tp.xlogy(tp.tensor(AT_ZERO), y), positive(3),
           reference=lambda y: scipy.xlogy(AT_ZERO, y)),
    Sample("xlogy with numbers", lambda x: tp.xlogy(x, 2) + tp.xlogy(2, x), P,
           reference=lambda x: scipy.xlogy(x, 2) + scipy.xlogy(2, x)),
    Sample("xlog1py", tp.special.xlog1py, X, positive(3, seed=1), reference=scipy.xlog1py),
    *unary("entr", P),
    *unary("sinc", X, AT_ZERO, complexn(2, 3), reference=np.sinc),
    # Bessel functions and their relatives
    *unary("bessel_j0", AT_ZERO, P, reference=scipy.j0),
    *unary("bessel_j1", AT_ZERO, P, reference=scipy.j1),
    *unary("bessel_y0", P, reference=scipy.y0),
    *unary("bessel_y1", P, reference=scipy.y1),
    *unary("i0", AT_ZERO),
    *unary("i1", AT_ZERO),
    *unary("i0e", P, -P),
    *unary("i1e", P, -P),
    *unary("modified_bessel_i0", AT_ZERO, reference=scipy.i0),
    *unary("modified_bessel_i1", AT_ZERO, reference=scipy.i1),
    *unary("modified_bessel_k0", P, reference=scipy.k0),
    *unary("modified_bessel_k1", P, reference=scipy.k1),
    *unary("scaled_modified_bessel_k0", P, reference=scipy.k0e),
    *unary("scaled_modified_bessel_k1", P, reference=scipy.k1e),
    *unary("spherical_bessel_j0", AT_ZERO, P, reference=lambda x: scipy.spherical_jn(0, x)),
    *unary("airy_ai", X, reference=lambda x: scipy.airy(x)[0]),
    # polynomials
    *polynomial("chebyshev_polynomial_t", scipy.eval_chebyt),
    *polynomial("chebyshev_polynomial_u", scipy.eval_chebyu),
    *polynomial("chebyshev_polynomial_v", third),
    *polynomial("chebyshev_polynomial_w", fourth),
    *polynomial("shifted_chebyshev_polynomial_t", scipy.eval_sh_chebyt),
    *polynomial("shifted_chebyshev_polynomial_u", scipy.eval_sh_chebyu),
    *polynomial("shifted_chebyshev_polynomial_v", lambda n, x: third(n, 2 * x - 1)),
    *polynomial("shifted_chebyshev_polynomial_w", lambda n, x: fourth(n, 2 * x - 1)),
    *polynomial("hermite_polynomial_h", scipy.eval_hermite),
    *polynomial("hermite_polynomial_he", scipy.eval_hermitenorm),
    *polynomial("laguerre_polynomial_l", scipy.eval_laguerre),
    *polynomial("legendre_polynomial_p", scipy.eval_legendre),
]  # fmt: skip
