"""Samples of derivatives of the distribution functions of gamma and beta laws: values from mpmath."""

import mpmath
import numpy as np
from harness import Sample

import tensorplay as tp
from tensorplay.core.namespace import F

CONCENTRATIONS = np.array([0.01, 0.6, 3.0, 80.0])
GAMMA_VALUES = np.array([[1e-40, 0.1, 2.0, 70.0], [1e-3, 2.5, 9.0, 95.0]])
A, B = np.array([0.05, 0.6, 3.0, 80.0]), np.array([0.5, 4.0, 0.3, 30.0])
BETA_VALUES = np.array([[1e-9, 0.02, 0.7, 0.6], [0.5, 0.4, 0.99, 0.85]])
INSIDE = (np.array([0.7, 3.0]), np.array([0.4, 4.0]))


def derivative(function, orders, at):
    with mpmath.workdps(40):
        return mpmath.diff(function, at, orders, h=mpmath.mpf(10) ** -10)


@np.vectorize
def gamma_derivative(a, x, order):
    a, x = mpmath.mpf(a), mpmath.mpf(x)
    with mpmath.workdps(40):
        density = x**a * mpmath.exp(-x) / mpmath.gamma(a)
        return float(derivative(lambda s: mpmath.gammainc(s, 0, x, regularized=True), order, a) / density)


@np.vectorize
def beta_derivative(a, b, x, i, j):
    a, b, x = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
    with mpmath.workdps(40):
        density = x**a * (1 - x) ** b / mpmath.beta(a, b)
        cdf = lambda s, t: mpmath.betainc(s, t, 0, x, regularized=True)
        return float(derivative(cdf, (i, j), (a, b)) / density)


SAMPLES = [
    *[Sample(f"gamma_cdf_derivative of order {n}", lambda a, x, n=n: F.gamma_cdf_derivative(a, x, n), CONCENTRATIONS,
             GAMMA_VALUES, reference=lambda a, x, n=n: gamma_derivative(a, x, n), grad=False, vmap=n == 1)
      for n in (1, 2, 3)],
    *[Sample(f"beta_cdf_derivative of order {i}, {j}", lambda a, b, x, i=i, j=j: F.beta_cdf_derivative(a, b, x, i, j),
             A, B, BETA_VALUES, reference=lambda a, b, x, i=i, j=j: beta_derivative(a, b, x, i, j), grad=False,
             vmap=False) for i, j in ((1, 0), (0, 1), (1, 1), (2, 0))],
    Sample("gamma_cdf_derivative", lambda a, x: F.gamma_cdf_derivative(a, x, 1), *INSIDE),
    Sample("beta_cdf_derivative", lambda a, b, x: F.beta_cdf_derivative(a, b, x, 1, 0), *INSIDE, np.array([0.3, 0.6])),
    Sample("_standard_gamma_grad", tp._standard_gamma_grad, *INSIDE),
    Sample("_dirichlet_grad", lambda x, a: tp._dirichlet_grad(x, a, a + 1.5), np.array([0.3, 0.8]), INSIDE[0]),
]  # fmt: skip
