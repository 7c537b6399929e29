"""Special functions for XLA, as SciPy computes them: in float64, whatever floating dtype they are of.

Formulas are those of DLMF (dlmf.nist.gov). Loops have fixed lengths, long enough for float64 where each is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import special

from .xla_kernels import KERNELS, kernel


def in_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of real arrays that is computed in float64, with the dtype of the first array as the result's."""

    def computed(*arrays: Any, **attrs: Any) -> Any:
        arrays = tuple(map(jnp.asarray, arrays))
        dtype = next(a.dtype for a in arrays if a.dtype.kind in "fV")
        if any(a.dtype.kind == "c" for a in arrays):
            raise NotImplementedError
        return function(*jnp.broadcast_arrays(*[a.astype(np.float64) for a in arrays]), **attrs).astype(dtype)

    return computed


# ---- error functions


@kernel("erfcx")
@in_float64
def erfcx(x: Any) -> Any:
    """``exp(x**2) * erfc(x)``; from 3 on by its continued fraction (7.9.1)."""
    size = jnp.abs(x)
    far = jnp.maximum(size, 3.0)
    tail = lax.fori_loop(0, 60, lambda i, t: far + (60 - i) / 2 / t, far)
    right = jnp.where(size < 3, jnp.exp(x * x) * lax.erfc(size), 1 / (math.sqrt(math.pi) * tail))
    return jnp.where(x < 0, 2 * jnp.exp(x * x) - right, right)


@kernel("log_ndtr")
@in_float64
def log_ndtr(x: Any) -> Any:
    scaled = x * -math.sqrt(0.5)
    lower = jnp.log(erfcx(scaled) / 2) - scaled * scaled
    return jnp.where(x < -1, lower, jnp.log1p(-lax.erfc(-scaled) / 2))


# ---- gamma functions


@kernel("digamma")
@in_float64
def digamma(x: Any) -> Any:
    return jnp.where(x == 0, -1 / x, lax.digamma(x))


def hurwitz(s: Any, q: Any) -> Any:
    """The zeta function also at its poles, below 0 (25.11.3), and at large arguments (25.11.43)."""
    pole = q == jnp.floor(q)

    def below(carry: Any) -> Any:
        return jnp.any((carry[0] < 0) & ~pole)

    def upwards(carry: Any) -> Any:
        q, total = carry
        return jnp.where(q < 0, q + 1, q), jnp.where(q < 0, total + q**-s, total)

    start, terms = lax.while_loop(below, upwards, (jnp.where(pole & (q < 0), 0, q), jnp.zeros_like(q)))
    tail = jnp.where(s > 1, (1 / (s - 1) + 0.5 / q) * q ** (1 - s), jnp.where(s == 1, jnp.inf, jnp.nan))
    out = jnp.where(q > 1e8, tail, terms + lax.zeta(s, start))
    return jnp.where((s > 1) & (q <= 0) & pole, jnp.inf, out)


KERNELS["zeta"] = in_float64(hurwitz)


@kernel("polygamma")
@in_float64
def polygamma(x: Any, n: int) -> Any:
    """In terms of the zeta function (25.11.12)."""
    factorial = math.factorial(n) if n <= 170 else math.inf
    return (-1.0) ** (n + 1) * factorial * hurwitz(jnp.full(x.shape, n + 1.0), x)


LARGE = 1e5
"""The order from which on incomplete gamma functions come from their uniform expansion."""


def upper_of_large_order(a: Any, x: Any) -> Any:
    """The first term of Temme's expansion (8.12.4), of error 1e-11 at order 1e5."""
    ratio = jnp.where(jnp.isinf(a) & jnp.isfinite(x), -1, (x - a) / a)
    eta = jnp.sign(ratio) * jnp.sqrt(2 * jnp.maximum(jnp.where(ratio > 1e300, ratio, ratio - jnp.log1p(ratio)), 0))
    safe = jnp.where(jnp.abs(eta) < 1e-2, 1.0, eta)
    series = -1 / 3 + eta * (1 / 12 + eta * (-2 / 135 + eta / 864))
    term = jnp.where(jnp.abs(eta) < 1e-2, series, 1 / jnp.where(ratio == 0, 1, ratio) - 1 / safe)
    density = jnp.exp(-0.5 * a * eta * eta) / jnp.sqrt(2 * math.pi * a)
    return lax.erfc(eta * jnp.sqrt(a / 2)) / 2 + jnp.where(density == 0, 0, density * term)


def incomplete(function: Any, upper: bool) -> Callable[..., Any]:
    @in_float64
    def computed(a: Any, x: Any) -> Any:
        large = a > LARGE
        tail = upper_of_large_order(jnp.where(large, a, LARGE), x)
        tail = jnp.where(x >= 0, tail if upper else 1 - tail, jnp.nan)
        out = jnp.where(large, tail, function(jnp.where(large, 1.0, a), jnp.where(large, 1.0, x)))
        return jnp.where((a == 0) & (x > 0), 0.0 if upper else 1.0, out)

    return computed


KERNELS["igamma"] = incomplete(lax.igamma, False)
KERNELS["igammac"] = incomplete(lax.igammac, True)


def log_product(logarithm: Any) -> Callable[..., Any]:
    @in_float64
    def computed(x: Any, y: Any) -> Any:
        return jnp.where((x == 0) & (y == y), 0, x * logarithm(y))

    return computed


KERNELS["xlogy"] = log_product(jnp.log)
KERNELS["xlog1py"] = log_product(jnp.log1p)


# ---- Bessel functions of integer orders


def scaled_i(x: Any, order: int) -> Any:
    """``exp(-abs(x)) * I(x)``; of orders from 2 on by ratios of neighbours, a continued fraction (10.33.1)."""
    first, second = special.i0e(x), special.i1e(x)
    if order < 2:
        return second if order else first
    size, steps = jnp.abs(x), 200 + order
    near = jnp.clip(size, 1e-300, 1000)

    def back(i: Any, carry: Any) -> Any:
        ratio, product = carry
        ratio = 1 / (2 * (steps - i) / near + ratio)  # of order steps - i to the one before
        return ratio, jnp.where(steps - i <= order, product * ratio, product)

    _, product = lax.fori_loop(0, steps, back, (jnp.zeros_like(x), jnp.ones_like(x)))
    before, far = first, jnp.abs(second)
    for k in range(1, order):
        before, far = far, before - 2 * k / jnp.maximum(size, 1000) * far
    out = jnp.where(size < 1000, product * first, far)
    out = jnp.where(size == 0, 0, jnp.where(x == x, out, x))
    return jnp.where(x < 0, -out, out) if order % 2 else out


KERNELS["scaled_bessel_i"] = in_float64(scaled_i)


@kernel("bessel_i")
@in_float64
def bessel_i(x: Any, order: int) -> Any:
    if order < 2:
        return special.i1(x) if order else special.i0(x)
    half = jnp.exp(jnp.abs(x) / 2)
    return jnp.where(x == 0, 0, scaled_i(x, order) * half * half)


@kernel("spherical_bessel_j")
@in_float64
def spherical_bessel_j(x: Any, order: int) -> Any:
    """Near 0 the power series (10.53.1), beyond the recurrence (10.51.1), which is stable there."""
    size = jnp.abs(x)
    near, far = jnp.minimum(size, order + 2.0), jnp.maximum(size, order + 2.0)
    term = near**order / math.prod(range(1, 2 * order + 2, 2))
    series = term
    for k in range(1, 30 + order):
        term = term * (near * near * (-0.5 / (k * (2 * (order + k) + 1))))
        series = series + term
    sine, cosine = jnp.sin(far) / far, jnp.cos(far) / far
    before, out = cosine, sine
    for k in range(order):
        before, out = out, (2 * k + 1) / far * out - before
    out = jnp.where(size < order + 2, series, jnp.where(jnp.isinf(size), 0, out))
    return jnp.where(x < 0, -out, out) if order % 2 else out


# ---- polynomials, by their recurrences in the degree (18.9.1)


def polynomial(step: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of a family: ``step(k, x, p, before, **attrs)`` is of degree k + 1; of negative degrees it is 0."""

    @in_float64
    def computed(x: Any, n: Any, **attrs: Any) -> Any:
        degree = jnp.trunc(n)

        def further(carry: Any) -> Any:
            return carry[0] < jnp.max(degree, initial=-1.0)

        def advance(carry: Any) -> Any:
            k, before, p, out = carry
            before, p = p, step(k, x, p, before, **attrs)
            return k + 1, before, p, jnp.where(degree == k + 1, p, out)

        one = jnp.where(x == x, 1, x)
        start = 0.0, jnp.zeros_like(x), one, jnp.where(degree == 0, one, 0)
        return lax.while_loop(further, advance, start)[-1]

    return computed


KERNELS["chebyshev_t"] = polynomial(lambda k, x, p, before: jnp.where(k == 0, x, 2 * x * p - before))
KERNELS["chebyshev_u"] = polynomial(lambda k, x, p, before: 2 * x * p - before)
KERNELS["hermite_h"] = polynomial(lambda k, x, p, before: 2 * x * p - 2 * k * before)
KERNELS["hermite_he"] = polynomial(lambda k, x, p, before: x * p - k * before)
KERNELS["legendre"] = polynomial(lambda k, x, p, before: ((2 * k + 1) * x * p - k * before) / (k + 1))
KERNELS["laguerre"] = polynomial(
    lambda k, x, p, before, alpha: ((2 * k + 1 + alpha - x) * p - (k + alpha) * before) / (k + 1)
)
KERNELS["gegenbauer"] = polynomial(
    lambda k, x, p, before, alpha: (2 * (k + alpha) * x * p - (k + 2 * alpha - 1) * before) / (k + 1)
)
