"""Made by tools/make_stubs.py."""

import builtins
from typing import Any

from tensorplay.core.dtype import dtype as _dtype
from tensorplay.core.tensor import Tensor

def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Airy function Ai."""
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 0."""
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 1."""
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 0."""
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 1."""
def chebyshev_polynomial_t(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the first kind and degree n."""
def chebyshev_polynomial_u(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the second kind and degree n."""
def chebyshev_polynomial_v(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the third kind and degree n."""
def chebyshev_polynomial_w(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the fourth kind and degree n."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of the logarithm of the gamma function."""
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The term of an entropy, ``-x * log(x)``: 0 at 0, and -inf below."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to x."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 - erf(x)``, exact also for large x."""
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x**2) * erfc(x)``, without underflow in between."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function on (-1, 1)."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of each element."""
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logistic function of each element, ``1 / (1 + exp(-x))``."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x) - 1``, exact also for small x."""
def gammainc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
def gammaincc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularised upper incomplete gamma function Q(input, other), ``1 - igamma(input, other)``."""
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
def hermite_polynomial_h(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Hermite polynomial of degree n for the weight ``exp(-x**2)``."""
def hermite_polynomial_he(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Hermite polynomial of degree n for the weight ``exp(-x**2 / 2)``."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(-abs(x)) * i0(x)``, without overflow in between."""
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(-abs(x)) * i1(x)``, without overflow in between."""
def laguerre_polynomial_l(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Laguerre polynomial of degree n."""
def legendre_polynomial_p(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Legendre polynomial of degree n."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + x)``, exact also for small x."""
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the area under the standard normal density up to x, exact also where that underflows."""
def log_softmax(input: Tensor, dim: builtins.int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, without underflow: ``x_i - log(sum_j exp(x_j))``."""
def logit(input: Tensor, eps: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the logistic function, ``log(x / (1 - x))``."""
def logsumexp(input: Tensor, dim: Any, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) without overflow. Where all elements are -inf it is -inf, with a gradient of zero."""
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 0."""
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 1."""
def multigammaln(input: Tensor, p: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p, without its constant's derivative."""
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The area under the standard normal density up to x."""
def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The point up to which the area under the standard normal density is x; the inverse of ``ndtr``."""
def polygamma(n: builtins.int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of the digamma function."""
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of the logarithm of the gamma function."""
def round(input: Tensor, *, decimals: builtins.int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest integer, or the nearest number of some decimals; of two, the even one."""
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x) * modified_bessel_k0(x)``, without underflow."""
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x) * modified_bessel_k1(x)``, without underflow."""
def shifted_chebyshev_polynomial_t(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the first kind and degree n, at ``2 * input - 1``."""
def shifted_chebyshev_polynomial_u(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the second kind and degree n, at ``2 * input - 1``."""
def shifted_chebyshev_polynomial_v(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the third kind and degree n, at ``2 * input - 1``."""
def shifted_chebyshev_polynomial_w(input: Tensor | builtins.float, n: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the fourth kind and degree n, at ``2 * input - 1``."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(pi * x) / (pi * x)``, and 1 at 0."""
def softmax(input: Tensor, dim: builtins.int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Exponentials along a dimension, scaled to sum to one: ``exp(x_i) / sum_j exp(x_j)``."""
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function of order 0, ``sin(x) / x``."""
def xlog1py(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input * log(1 + other)``, and 0 where the input is 0 (unless the other is nan)."""
def xlogy(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input * log(other)``, and 0 where the input is 0 (unless the other is nan)."""
def zeta(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function, the sum of ``(other + k)**-input`` over k from 0 on."""
