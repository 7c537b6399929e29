"""Draws from the gamma and Dirichlet distributions, with derivatives in their parameters, and from the von Mises one.

A draw is a quantile: where ``F(x; a) = u``, ``dx/da = -(dF/da) / (dF/dx)``, whatever algorithm has drawn x (Figurnov,
Mohamed, Mnih 2018, "Implicit reparameterization gradients"). With log x for the gamma distribution, and logit x for the
beta one, densities q are log-concave over the whole line, and derivatives of F in the parameters are integrals over
the tail on one side, ``q(y) * polynomial of log x``, taken by the formula of Gauss. All orders are of this form, so the
derivatives have derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from ..core.generator import Generator
from ..core.namespace import F, R
from ..core.operator import operator
from ..core.primitive import elementwise, primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .declare import zero
from .kernels import each_block, sum_over
from .random import own_draws, source, unsupported

# ---- integrals over a tail


@lru_cache
def tail_rule(single: bool) -> tuple[Any, Any, float]:
    """Nodes and weights over [0, 1] that lie closer and closer towards 0, and how deep a tail is followed."""
    nodes, weights = np.polynomial.legendre.leggauss(16 if single else 64)
    nodes, weights = (nodes + 1) / 2, weights / 2
    return (nodes**2)[:, None], 2 * nodes * weights, -18.0 if single else -42.0


def first_reach(fall: Any, bend: Any, depth: float) -> Any:
    """An estimate of :func:`reach` by the first two derivatives of the exponent at 0, negated."""
    return -depth / (fall + np.sqrt(bend * (-depth / 2)))


def reach(exponent: Callable[[Any], tuple[Any, Any]], u: Any, depth: float) -> Any:
    """Where a concave exponent that is 0 at 0, and not rising, comes down to ``depth``; some percent too far.

    ``exponent`` gives its derivative, too. From an estimate Newton's method goes to the far side of the root in its
    first step, as the function is concave, and stays there.
    """
    for _ in range(20):
        value, slope = exponent(u)
        step = (value - depth) / slope
        u = u - step
        if not (np.abs(step) > u / 8).any():
            break
    return u


def over_elements(
    work: Callable[..., Any], arrays: tuple[Any, ...], orders: tuple[int, ...]
) -> np.ndarray[Any, np.dtype[Any]]:
    """``work(nodes, weights, depth, *arrays, *orders)`` over blocks of the elements of arrays, in float64."""
    whole = np.broadcast_arrays(*arrays)
    dtype = np.result_type(*arrays)
    flat = [np.ascontiguousarray(a, np.float64).reshape(-1) for a in whole]
    out = np.empty(flat[0].size)
    rule = tail_rule(dtype.itemsize <= 4)

    def block(part: slice) -> None:
        with np.errstate(all="ignore"):
            out[part] = work(*rule, *(a[part] for a in flat), *orders)

    each_block(block, out.size, 16 * rule[0].size)  # small blocks: there are many intermediate results
    return out.reshape(whole[0].shape).astype(dtype)


def density_derivative(cumulant: Callable[[int, int], Any], i: int, j: int = 0) -> Any:
    """The derivative of order i, j of a density in two parameters, over the density: a complete Bell polynomial.

    ``cumulant(k, l)`` is that of its logarithm.
    """
    if i:
        terms = [(comb(i - 1, k) * comb(j, l), (i - 1 - k, j - l), (k + 1, l)) for k in range(i) for l in range(j + 1)]
    else:
        terms = [(comb(j - 1, l), (0, j - 1 - l), (0, l + 1)) for l in range(j)]
    total: Any = 0 if terms else 1
    for count, rest, order in terms:
        factor = cumulant(*order)
        total = total + (factor if rest == (0, 0) else density_derivative(cumulant, *rest) * factor) * count
    return total


def polygamma(F: Any, n: int, x: Any) -> Any:
    return F.polygamma(x, n) if n else F.digamma(x)


# ---- the gamma distribution


def gamma_cumulant(F: Any, concentration: Any, log_value: Any, beyond: Any = 0) -> Callable[[int, int], Any]:
    """Derivatives of the log-density ``concentration * y - value - lgamma(concentration)`` of y.

    That is the logarithm of the value, ``log_value + beyond``.
    """

    def cumulant(i: int, _: int) -> Any:
        return log_value - polygamma(F, 0, concentration) + beyond if i == 1 else -polygamma(F, i - 1, concentration)

    return cumulant


def gamma_tail(nodes: Any, weights: Any, depth: float, a: Any, x: Any, order: int) -> Any:
    x = np.maximum(x, np.finfo(np.float64).tiny)
    side = np.where(x <= a, -1.0, 1.0)
    farthest = np.where(x <= a, np.inf, np.log1p((1 - depth) / x) + 1)  # above, it falls exponentially

    def exponent(u: Any) -> tuple[Any, Any]:
        u = side * u
        growth = x * np.expm1(u)
        return a * u - growth, side * (a - x - growth)

    end = reach(exponent, np.minimum(first_reach(np.abs(a - x), x, depth), farthest), depth)
    u = side * end * nodes
    integrand = a * u
    integrand -= np.expm1(u) * x
    np.exp(integrand, out=integrand)
    integrand *= density_derivative(gamma_cumulant(R, a, np.log(x), u), order)
    return -side * (weights @ integrand * end)


def gamma_cdf_derivative_kernel(xp: Any, concentration: Any, value: Any, *, order: int) -> Any:
    return over_elements(gamma_tail, (concentration, value), (order,))


def gamma_cdf_derivative_by_concentration(F: Any, g: Any, concentration: Any, value: Any, out: Any, order: int) -> Any:
    score = F.log(value) - F.digamma(concentration)
    return g * (F.gamma_cdf_derivative(concentration, value, order + 1) - out * score)


def gamma_cdf_derivative_by_value(F: Any, g: Any, concentration: Any, value: Any, out: Any, order: int) -> Any:
    at_end = density_derivative(gamma_cumulant(F, concentration, F.log(value)), order)
    return g * ((at_end - out * (concentration - value)) / value)


elementwise(
    "gamma_cdf_derivative",
    gamma_cdf_derivative_kernel,
    vjp={"concentration": gamma_cdf_derivative_by_concentration, "value": gamma_cdf_derivative_by_value},
)
"""The derivative of some order of the distribution function in the concentration, over the density of log(value)."""


def standard_gamma_kernel(xp: Any, input: Any, *, generator: Any) -> Any:
    if not (input >= 0).all():
        raise RuntimeError("_standard_gamma(): the concentrations must not be negative")
    draws = source(generator, "_standard_gamma").standard_gamma(input.astype(np.float64))
    return np.maximum(draws, smallest(input.dtype)).astype(input.dtype)


def smallest(dtype: np.dtype[Any]) -> float:
    """The smallest normal number, which stands for draws that would be 0."""
    return float(np.finfo(np.float32 if dtype.kind == "V" else dtype).tiny)


def standard_gamma_rule(F: Any, g: Any, input: Any, out: Any) -> Any:
    return g * (-out * F.gamma_cdf_derivative(input, out, 1))


elementwise("standard_gamma", standard_gamma_kernel, vjp={"input": standard_gamma_rule})


def check_real(input: Any, name: str) -> Tensor:
    if arg.tensor(input, name)._data.dtype.kind not in "fV":
        raise unsupported(name, input._data.dtype)
    return input


@operator(name="_standard_gamma", method=False, out=False)
def standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws from gamma distributions of the given concentrations and rate 1, differentiable in these.

    Raises
    ------
    RuntimeError
        If a concentration is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> bool((tp._standard_gamma(tp.ones(100)) > 0).all())
    True
    """
    return F.standard_gamma(own_draws("_standard_gamma", check_real(input, "_standard_gamma")), generator)


@operator(name="_standard_gamma_grad", method=False, out=False)
def standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """The derivative of draws from gamma distributions in their concentrations.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp._standard_gamma_grad(tp.tensor([1.0, 20.0]), tp.tensor([1.0, 20.0]))
    tensor([1.1736, 1.0084])
    """
    return -output * F.gamma_cdf_derivative(input, output, 1)


# ---- the beta and Dirichlet distributions


def beta_cumulant(F: Any, a: Any, b: Any, log_value: Any, log_rest: Any) -> Callable[[int, int], Any]:
    """Derivatives of the log-density ``a * log_value + b * log_rest - log(beta(a, b))`` of the logit."""

    def cumulant(i: int, j: int) -> Any:
        common = polygamma(F, i + j - 1, a + b)
        if i and j:
            return common
        linear = (log_value if i else log_rest) if i + j == 1 else 0
        return linear - polygamma(F, i + j - 1, a if i else b) + common

    return cumulant


def beta_tail(nodes: Any, weights: Any, depth: float, a: Any, b: Any, x: Any, i: int, j: int) -> Any:
    total, lower = a + b, x * (a + b) <= a
    near = np.clip(np.where(lower, x, 1 - x), np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).epsneg)
    power = np.where(lower, a, b)

    def exponent(u: Any) -> tuple[Any, Any]:
        rest = near * np.expm1(-u)
        return -power * u - total * np.log1p(rest), total * (near + rest) / (1 + rest) - power

    end = reach(exponent, first_reach(power - total * near, total * near * (1 - near), depth), depth)
    u = end * nodes
    shared = np.log1p(near * np.expm1(-u))
    log_near, log_far = np.log(near) - u - shared, np.log1p(-near) - shared
    logs = np.where(lower, log_near, log_far), np.where(lower, log_far, log_near)
    integrand = np.exp(-power * u - total * shared) * density_derivative(beta_cumulant(R, a, b, *logs), i, j)
    return np.where(lower, 1.0, -1.0) * (weights @ integrand * end)


def beta_cdf_derivative_kernel(xp: Any, a: Any, b: Any, value: Any, *, i: int, j: int) -> Any:
    return over_elements(beta_tail, (a, b, value), (i, j))


def beta_cdf_derivative_by_a(F: Any, g: Any, a: Any, b: Any, value: Any, out: Any, i: int, j: int) -> Any:
    score = F.log(value) - F.digamma(a) + F.digamma(a + b)
    return g * (F.beta_cdf_derivative(a, b, value, i + 1, j) - out * score)


def beta_cdf_derivative_by_b(F: Any, g: Any, a: Any, b: Any, value: Any, out: Any, i: int, j: int) -> Any:
    score = F.log1p(-value) - F.digamma(b) + F.digamma(a + b)
    return g * (F.beta_cdf_derivative(a, b, value, i, j + 1) - out * score)


def beta_cdf_derivative_by_value(F: Any, g: Any, a: Any, b: Any, value: Any, out: Any, i: int, j: int) -> Any:
    at_end = density_derivative(beta_cumulant(F, a, b, F.log(value), F.log1p(-value)), i, j)
    return g * ((at_end - out * (a - (a + b) * value)) / (value * (1 - value)))


elementwise(
    "beta_cdf_derivative",
    beta_cdf_derivative_kernel,
    vjp={"a": beta_cdf_derivative_by_a, "b": beta_cdf_derivative_by_b, "value": beta_cdf_derivative_by_value},
)
"""The derivative of order i, j of the distribution function in a and b, over the density of logit(value)."""


def sample_dirichlet_kernel(xp: Any, input: Any, *, generator: Any) -> Any:
    if not (input >= 0).all():
        raise RuntimeError("_sample_dirichlet(): the concentrations must not be negative")
    rng, a = source(generator, "_sample_dirichlet"), input.astype(np.float64)
    with np.errstate(all="ignore"):  # logarithms of gamma draws: those of small concentrations would be 0
        logs = np.log(rng.standard_gamma(a + 1)) - rng.standard_exponential(a.shape) / a
        logs -= logs.max(-1, keepdims=True, initial=-np.inf)
        draws = np.exp(logs)
    draws /= draws.sum(-1, keepdims=True)
    return np.maximum(draws, smallest(input.dtype)).astype(input.dtype)


def dirichlet_factor(F: Any, value: Any, concentration: Any, total: Any) -> Any:
    return -value * F.beta_cdf_derivative(concentration, total - concentration, value, 1, 0)


def sample_dirichlet_vjp(F: Any, g: Any, input: Any, out: Any) -> Any:
    return dirichlet_factor(F, out, input, sum_over(F, input, -1)) * (g - sum_over(F, out * g, -1))


def sample_dirichlet_jvp(F: Any, t: Any, input: Any, out: Any) -> Any:
    moved = dirichlet_factor(F, out, input, sum_over(F, input, -1)) * t
    return moved - out * sum_over(F, moved, -1)


primitive(
    "sample_dirichlet",
    sample_dirichlet_kernel,
    vjp={"input": sample_dirichlet_vjp},
    jvp={"input": sample_dirichlet_jvp},
    batch="same",
)


@operator(name="_sample_dirichlet", method=False, out=False)
def sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws from Dirichlet distributions, whose concentrations are along the last dimension; differentiable in these.

    Where one concentration grows, its part follows the quantile of its beta distribution and the other parts keep
    their proportions.

    Raises
    ------
    RuntimeError
        If a concentration is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp._sample_dirichlet(tp.ones(2, 3)).shape
    tensorplay.Size([2, 3])
    """
    return F.sample_dirichlet(own_draws("_sample_dirichlet", check_real(input, "_sample_dirichlet")), generator)


@operator(name="_dirichlet_grad", method=False, out=False)
def dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """The derivative of the quantile x of a beta distribution in its parameter alpha, divided by ``1 - x``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp._dirichlet_grad(tp.tensor([0.5]), tp.tensor([1.0]), tp.tensor([2.0]))
    tensor([0.6931])
    """
    return dirichlet_factor(F, x, alpha, total)


# ---- the von Mises distribution


def von_mises_kernel(xp: Any, loc: Any, concentration: Any, *, generator: Any) -> Any:
    angles = source(generator, "von_mises").vonmises(loc.astype(np.float64), concentration.astype(np.float64))
    return np.asarray(angles).astype(loc.dtype)


elementwise("von_mises", von_mises_kernel, vjp={"loc": zero, "concentration": zero})


def von_mises(loc: Tensor, concentration: Tensor, generator: Generator | None = None) -> Tensor:
    """Angles from -pi to pi; nothing is learnt through such a draw."""
    whole = F.expand(loc, (loc + concentration)._data.shape)
    return F.von_mises(own_draws("von_mises", whole), concentration, generator)
