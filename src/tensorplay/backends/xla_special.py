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


EULER = 0.5772156649015329


def near_zero(x: Any, order: int) -> tuple[Any, Any, Any]:
    """J of an order, and Y of orders 0 and 1, from 1e-3 to ``25 + order``.

    The recurrence downwards (Miller's algorithm, 3.6), scaled by ``J(0) + 2 J(2) + 2 J(4) + ... = 1`` (10.12.4), and
    the series of Neumann (10.8.3 for order 0, and its derivative).
    """
    steps = 2 * ((66 + order) // 2)
    zero = jnp.zeros_like(x)

    def down(i: Any, carry: Any) -> Any:
        after, now, *sums = carry
        k = steps - i - 1
        after, now = now, 2 * (k + 1) / x * now - after  # of order k
        sign, even = 1 - 2 * ((k // 2) % 2), k % 2 == 0
        terms = (
            jnp.where(even, jnp.where(k == 0, 1, 2), 0),
            jnp.where(k == order, 1, 0),
            jnp.where(k == 0, 1, 0),
            jnp.where(k == 1, 1, 0),
            jnp.where(even & (k > 0), sign * 2 / jnp.maximum(k, 1), 0),
            jnp.where(~even & (k > 1), sign * 4 * k / jnp.maximum(k * k - 1, 1), 0),
        )
        carry = after, now, *[s + t * now for s, t in zip(sums, terms)]
        scale = jnp.where(jnp.abs(now) > 1e100, 1e-100, 1.0)
        return tuple([c * scale for c in carry])

    start = zero, zero + 1e-100, *[zero] * 6
    _, _, total, wanted, first, second, evens, odds = lax.fori_loop(0, steps, down, start)
    logarithm = jnp.log(x / 2) + EULER
    y0 = 2 / math.pi * (logarithm * first - 2 * evens) / total
    y1 = 2 / math.pi * ((logarithm - 1) * second - first / x - odds) / total
    return wanted / total, y0, y1


def far_out(x: Any) -> tuple[Any, Any, Any, Any]:
    """J and Y of orders 0 and 1 from 25 on, by Hankel's expansions (10.17.3)."""
    out: list[Any] = []
    sine, cosine = jnp.sin(x), jnp.cos(x)
    for n, (along, across) in enumerate([(cosine + sine, sine - cosine), (sine - cosine, -cosine - sine)]):
        parts, term = [jnp.ones_like(x), jnp.zeros_like(x)], jnp.ones_like(x)
        for k in range(1, 25):
            term = term * ((4 * n * n - (2 * k - 1) ** 2) / (8 * k)) / x
            parts[k % 2] = parts[k % 2] + (term if k % 4 < 2 else -term)
        root = jnp.sqrt(1 / (math.pi * x))
        out += [root * (parts[0] * along - parts[1] * across), root * (parts[0] * across + parts[1] * along)]
    return out[0], out[2], out[1], out[3]


def upwards(x: Any, order: int, first: Any, second: Any, sign: int = 1) -> Any:
    """The recurrence in the order (10.6.1, 10.29.1), where it is stable."""
    for k in range(order):
        further = 2 * (k + 1) / x * second - sign * first
        first, second = second, jnp.where(jnp.isinf(second), second, further)
    return first


@kernel("bessel_j")
@in_float64
def bessel_j(x: Any, order: int) -> Any:
    size, end = jnp.abs(x), 25.0 + order
    tiny = (size / 2) ** order / math.factorial(order) * (1 - size * size / (4 * (order + 1)))
    middle = near_zero(jnp.clip(size, 1e-3, end), order)[0]
    far = jnp.maximum(size, end)
    beyond = upwards(far, order, *far_out(far)[:2])
    out = jnp.where(size < 1e-3, tiny, jnp.where(size < end, middle, beyond))
    return jnp.where(x < 0, -out, out) if order % 2 else out


@kernel("bessel_y")
@in_float64
def bessel_y(x: Any, order: int) -> Any:
    least = jnp.clip(x, 1e-300, 1e-3)
    _, low0, low1 = near_zero(jnp.clip(x, 1e-3, 25), 0)
    tiny0 = 2 / math.pi * ((jnp.log(least / 2) + EULER) * (1 - least * least / 4) + least * least / 4)
    tiny1 = -2 / (math.pi * least) + least / math.pi * (jnp.log(least / 2) + EULER - 0.5)
    _, _, far0, far1 = far_out(jnp.maximum(x, 25))
    first, second = (
        jnp.where(x < 1e-3, tiny, jnp.where(x < 25, low, far))
        for tiny, low, far in ((tiny0, low0, far0), (tiny1, low1, far1))
    )
    out = upwards(jnp.maximum(x, 1e-300), order, first, second)
    return jnp.where(x > 0, out, jnp.where(x == 0, -jnp.inf, jnp.nan))


@kernel("scaled_bessel_k")
@in_float64
def scaled_k(x: Any, order: int) -> Any:
    """``exp(x) * K(x)``: up to 2 by power series (10.31.1, 10.31.2), then a sum for its integral (10.32.9)."""
    near, far = jnp.clip(x, 1e-300, 2.0), jnp.maximum(x, 2.0)
    square, term, harmonic = near * near / 4, jnp.ones_like(x), 0.0
    logarithm = jnp.log(near / 2) + EULER
    sums = [-logarithm, (logarithm - 0.5) * near / 2]
    for k in range(1, 20):
        term = term * square / (k * k)  # over k! twice
        harmonic += 1 / k
        sums[0] = sums[0] + term * (harmonic - logarithm)
        sums[1] = sums[1] + term * near / (2 * (k + 1)) * (logarithm - harmonic - 0.5 / (k + 1))
    sums[1] = sums[1] + 1 / near
    t = np.linspace(0, 1, 41) * jnp.arccosh(1 + 42 / far)[..., None]
    weight = jnp.exp(-2 * far[..., None] * jnp.sinh(t / 2) ** 2) * jnp.where(np.arange(41) == 0, 0.5, 1)
    tails = [t[..., 1] * jnp.sum(weight * jnp.cosh(n * t), -1) for n in (0, 1)]
    first, second = (jnp.where(x < 2, jnp.exp(near) * s, tail) for s, tail in zip(sums, tails))
    out = upwards(jnp.maximum(x, 1e-300), order, first, second, -1)
    out = jnp.where(jnp.isinf(x), 0, out)
    return jnp.where(x > 0, out, jnp.where(x == 0, jnp.inf, jnp.nan))


@kernel("bessel_k")
@in_float64
def bessel_k(x: Any, order: int) -> Any:
    return jnp.where(x > 800, 0, scaled_k(x, order=order) * jnp.exp(-x))


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
