"""Special functions: error functions, gamma functions, entropy, the normal distribution.

Kernels are those of scipy.special, imported at the first use; rules are the formulas of DLMF (dlmf.nist.gov), written
in functions of the same families, so that derivatives of every order exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import elementwise
from ..core.tensor import Tensor
from . import arguments as arg
from .activation import log_softmax, softmax
from .complex import real_part
from .declare import declare, refusing
from .elementwise import exp2, expm1, log1p, logit, round, sigmoid
from .kernels import narrowed, widened
from .reduction import logsumexp

REAL = refusing("c")
FLOAT = "In the input's dtype; integers give the default float."
ROOT_PI = math.sqrt(math.pi)
ROOT_2PI = math.sqrt(2 * math.pi)


def by_scipy(name: str) -> Callable[..., Any]:
    """The kernel that is a function of scipy.special."""

    def kernel(xp: Any, input: Any) -> Any:
        import scipy.special

        with np.errstate(all="ignore"):
            return narrowed(np.asarray(getattr(scipy.special, name)(widened(input))), input.dtype)

    return kernel


def by_scipy2(name: str) -> Callable[..., Any]:
    """The kernel of two variables that is a function of scipy.special; one of them may be a Python number."""

    def kernel(xp: Any, input: Any, other: Any) -> Any:
        import scipy.special

        arrays = [widened(np.asarray(a)) for a in (input, other)]
        dtype = next(a.dtype for a in (input, other) if isinstance(a, np.ndarray))
        with np.errstate(all="ignore"):
            return narrowed(np.asarray(getattr(scipy.special, name)(*arrays)), dtype)

    return kernel


def unknown(what: str) -> Callable[..., Any]:
    """The rule of an input in which no derivative is known."""

    def rule(F: Any, g: Any) -> Any:
        raise NotImplementedError(f"the derivative for {what} is not implemented; detach() that input")

    return rule


def also_special(function: Any, *names: str) -> None:
    """Export a function in the special namespace too."""
    for name in names or (function.__name__,):
        operator(name=name, namespace="special", method=False, out=False)(function)


# ---- error functions

erf = declare(
    "erf", by_scipy("erf"), lambda F, g, input: g * (2 / ROOT_PI * F.exp(-(input * input))),
    "The error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to x.",
    "tp.erf(tp.tensor([0., 1.]))", "tensor([0.0000, 0.8427])", promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip
erfc = declare(
    "erfc", by_scipy("erfc"), lambda F, g, input: g * (-2 / ROOT_PI * F.exp(-(input * input))),
    "``1 - erf(x)``, exact also for large x.",
    "tp.erfc(tp.tensor([0., 5.]))", "tensor([1.0000e+00, 1.5375e-12])", promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip
erfinv = declare(
    "erfinv", by_scipy("erfinv"), lambda F, g, input: g * (ROOT_PI / 2 * F.exp(F.square(F.erfinv(input)))),
    "The inverse of the error function on (-1, 1).",
    "tp.erfinv(tp.tensor([0., 0.5, 1.]))", "tensor([0.0000, 0.4769,    inf])",
    promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip
erfcx = declare(
    "erfcx", by_scipy("erfcx"), lambda F, g, input, out: g * (2 * input * out - 2 / ROOT_PI),
    "``exp(x**2) * erfc(x)``, without underflow in between.", "tp.special.erfcx(tp.tensor([0., 10.]))",
    "tensor([1.0000, 0.0561])",
    namespace="special", method=False, inplace=False, promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip

# ---- the normal distribution

ndtr = declare(
    "ndtr", by_scipy("ndtr"), lambda F, g, input: g * (F.exp(input * input * -0.5) * (1 / ROOT_2PI)),
    "The area under the standard normal density up to x.", "tp.special.ndtr(tp.tensor([-1., 0., 1.]))",
    "tensor([0.1587, 0.5000, 0.8413])",
    namespace="special", method=False, inplace=False, promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip
ndtri = declare(
    "ndtri", by_scipy("ndtri"), lambda F, g, out: g * (ROOT_2PI * F.exp(out * out * 0.5)),
    "The point up to which the area under the standard normal density is x; the inverse of ``ndtr``.",
    "tp.special.ndtri(tp.tensor([0., 0.25, 0.5]))", "tensor([   -inf, -0.6745,  0.0000])",
    namespace="special", method=False, inplace=False, promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip
log_ndtr = declare(
    "log_ndtr", by_scipy("log_ndtr"),
    lambda F, g, input: g * (math.sqrt(2 / math.pi) / F.erfcx(input * -math.sqrt(0.5))),
    "The logarithm of the area under the standard normal density up to x, exact also where that underflows.",
    "tp.special.log_ndtr(tp.tensor([-50., 0.]))", "tensor([-1.2548e+03, -6.9315e-01])",
    namespace="special", method=False, inplace=False, promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip

# ---- gamma functions


def lgamma_kernel(xp: Any, input: Any) -> Any:
    import scipy.special

    with np.errstate(all="ignore"):
        x = widened(input)
        return narrowed(np.where(np.isinf(x), np.inf, scipy.special.gammaln(x)), input.dtype)


lgamma = declare(
    "lgamma", lgamma_kernel, lambda F, g, input: g * F.digamma(input),
    "The logarithm of the absolute value of the gamma function.",
    "tp.lgamma(tp.tensor([0.5, 1., 5.]))", "tensor([0.5724, 0.0000, 3.1781])",
    promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip
digamma = declare(
    "digamma", by_scipy("psi"), lambda F, g, input: g * F.polygamma(input, 1),
    "The derivative of the logarithm of the gamma function.",
    "tp.digamma(tp.tensor([0.5, 1.]))", "tensor([-1.9635, -0.5772])", promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip


def polygamma_kernel(xp: Any, input: Any, *, n: int) -> Any:
    import scipy.special

    with np.errstate(all="ignore"):
        return narrowed(np.asarray(scipy.special.polygamma(n, widened(input))), input.dtype)


def polygamma_vjp(F: Any, g: Any, input: Any, n: int) -> Any:
    return g * F.polygamma(input, n + 1)


elementwise("polygamma", polygamma_kernel, vjp={"input": polygamma_vjp}, promotes="float", check=REAL)


@operator(method=False)
def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of the digamma function.

    Parameters
    ----------
    n : int
        Not negative.
    input : Tensor
        Any shape.

    Raises
    ------
    RuntimeError
        If ``n`` is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.polygamma(1, tp.tensor([0.5, 1.]))
    tensor([4.9348, 1.6449])
    """
    n = arg.integer(n, "polygamma", "n", 1)
    if n < 0:
        raise RuntimeError(f"polygamma(n, x): does not support negative n, got {n}")
    input = arg.tensor(input, "polygamma", "input", 2)
    return F.polygamma(input, n) if n else F.digamma(input)


@operator(name="polygamma", function=False, inplace=True, out=False)
def polygamma_method(input: Tensor, n: int) -> Tensor:
    """The n-th derivative of the digamma function; see :func:`polygamma`."""
    return polygamma(n, input)


@operator(inplace=True)
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p, without its constant's derivative.

    ``p * (p - 1) / 4 * log(pi)`` plus the sum of ``lgamma(input - j / 2)`` for j from 0 to p - 1.

    Parameters
    ----------
    input : Tensor
        Any shape; larger than (p - 1) / 2.
    p : int
        At least 1.

    Raises
    ------
    RuntimeError
        If ``p`` is less than 1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.mvlgamma(tp.tensor([2., 3.]), 2)
    tensor([0.4516, 1.5502])
    """
    p = arg.integer(p, "mvlgamma", "p", 2)
    if p < 1:
        raise RuntimeError(f"mvlgamma(): p has to be greater than or equal to 1, got {p}")
    total = F.lgamma(arg.tensor(input, "mvlgamma"))
    for j in range(1, p):
        total = total + F.lgamma(input - j / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


def gamma_density(F: Any, g: Any, input: Any, other: Any) -> Any:
    """The derivative of the lower incomplete gamma function, ``other**(input-1) * exp(-other) / gamma(input)``."""
    return g * F.exp((input - 1) * F.log(other) - other - F.lgamma(input))


def gamma_order(F: Any, g: Any, input: Any, other: Any) -> Any:
    """The derivative of the lower incomplete gamma function in its first argument, an integral (see draws.py)."""
    return g * F.exp(input * F.log(other) - other - F.lgamma(input)) * F.gamma_cdf_derivative(input, other, 1)


igamma = declare(
    "igamma", by_scipy2("gammainc"), {"input": gamma_order, "other": gamma_density},
    "The regularised lower incomplete gamma function P(input, other).",
    "tp.igamma(tp.tensor([1., 2.]), tp.tensor([1., 1.]))", "tensor([0.6321, 0.2642])",
    promotes="float", check=REAL, returns=FLOAT, numbers=(),
)  # fmt: skip
igammac = declare(
    "igammac", by_scipy2("gammaincc"),
    {"input": lambda F, g, input, other: -gamma_order(F, g, input, other),
     "other": lambda F, g, input, other: -gamma_density(F, g, input, other)},
    "The regularised upper incomplete gamma function Q(input, other), ``1 - igamma(input, other)``.",
    "tp.igammac(tp.tensor([1., 2.]), tp.tensor([1., 1.]))", "tensor([0.3679, 0.7358])",
    promotes="float", check=REAL, returns=FLOAT, numbers=(),
)  # fmt: skip
zeta = declare(
    "zeta", by_scipy2("zeta"),
    {"input": unknown("the first argument of zeta"),
     "other": lambda F, g, input, other: g * (-input * F.zeta(input + 1, other))},
    "The Hurwitz zeta function, the sum of ``(other + k)**-input`` over k from 0 on.",
    "tp.special.zeta(tp.tensor([2., 4.]), 1)", "tensor([1.6449, 1.0823])",
    namespace="special", method=False, inplace=False, promotes="float",
    check=REAL, returns=FLOAT, notes="There is no derivative in the first argument.",
)  # fmt: skip

# ---- products with logarithms, in which zero wins


def log_product(logarithm: str) -> Callable[..., Any]:
    def kernel(xp: Any, input: Any, other: Any) -> Any:
        with np.errstate(all="ignore"):
            product = input * getattr(xp, logarithm)(other)
        dtype = next(a.dtype for a in (input, other) if isinstance(a, np.ndarray))
        return narrowed(xp.asarray(xp.where((input == 0) & (other == other), 0, product)), dtype)

    return kernel


xlogy = declare(
    "xlogy", log_product("log"),
    {"input": lambda F, g, input, other: g * F.log(F.where((input == 0) & (real_part(F, other) <= 0), 1, other)),
     "other": lambda F, g, input, other: g * (input / other)},
    "``input * log(other)``, and 0 where the input is 0 (unless the other is nan).",
    "tp.xlogy(tp.tensor([0., 2.]), tp.tensor([0., 2.]))", "tensor([0.0000, 1.3863])",
    promotes="float", returns=FLOAT, check=REAL,
)  # fmt: skip
xlog1py = declare(
    "xlog1py", log_product("log1p"),
    {"input": lambda F, g, input, other: g * F.log1p(F.where((input == 0) & (other <= -1), 0, other)),
     "other": lambda F, g, input, other: g * (input / (other + 1))},
    "``input * log(1 + other)``, and 0 where the input is 0 (unless the other is nan).",
    "tp.special.xlog1py(tp.tensor([0., 2.]), tp.tensor([-1., 1.]))", "tensor([0.0000, 1.3863])",
    namespace="special", method=False, inplace=False,
    promotes="float", returns=FLOAT, check=REAL,
)  # fmt: skip
entr = declare(
    "entr", by_scipy("entr"), lambda F, g, input: g * (-1 - F.log(input)),
    "The term of an entropy, ``-x * log(x)``: 0 at 0, and -inf below.", "tp.special.entr(tp.tensor([0., 0.5, -1.]))",
    "tensor([0.0000, 0.3466,   -inf])",
    namespace="special", method=False, inplace=False, promotes="float", check=REAL, returns=FLOAT,
)  # fmt: skip

# ---- names that the special namespace has for functions of the package

for function, *names in [
    (erf,), (erfc,), (erfinv,), (digamma, "digamma", "psi"), (lgamma, "gammaln"), (igamma, "gammainc"),
    (igammac, "gammaincc"), (xlogy,), (sigmoid, "expit"), (logit,), (exp2,), (expm1,), (log1p,),
]:  # fmt: skip
    also_special(function, *names)
for name, function in [
    ("polygamma", polygamma), ("multigammaln", mvlgamma), ("round", round), ("softmax", softmax),
    ("log_softmax", log_softmax), ("logsumexp", logsumexp),
]:  # fmt: skip
    operator(name=name, namespace="special", method=False)(function)
