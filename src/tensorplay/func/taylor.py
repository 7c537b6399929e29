"""Taylor mode: ``jet`` carries the Taylor polynomial of every value through a function, in one pass.

An operator maps the coefficients of its inputs to those of its output in one of four ways. Where its forward rule reads
nothing that moves it is affine, and each coefficient goes through that rule alone. Products are Cauchy products. Common
functions solve their differential equation, coefficient by coefficient [1]_. For all others the forward rule itself
runs over polynomials of one order less: it gives the derivative ``dy/dt``, whose integral is the result. So every
operator that has a forward rule has a Taylor rule of any order, and none is approximate.

.. [1] A. Griewank, A. Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapter 13.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core import pytree
from ..core.callpath import names_of
from ..core.carrier import Moving, is_integral, match
from ..core.namespace import F
from ..core.primitive import Primitive, Transposed
from ..core.state import state
from ..core.tensor import Tensor, wrap
from ..core.transforms import Alias, alive, enter, leave, matching
from .arguments import differentiable, tensors_of

Coefficients = Sequence[Any]
"""Taylor coefficients (derivatives over factorials) from order 0 upwards; None stands for zero."""


class Jet(Moving):
    """A polynomial in one variable: its value at zero and its Taylor coefficients of the orders 1, 2, ..."""

    __slots__ = ("rest",)
    transform = "jet"

    def __init__(self, coefficients: Coefficients, level: int) -> None:
        primal = coefficients[0]
        data = primal._data
        self.primal, self.level = primal, level
        self.rest = tuple([None if c is None else match(c, primal) for c in coefficients[1:]])
        self.shape, self.dtype, self.ndim = data.shape, data.dtype, data.ndim

    @property
    def coefficients(self) -> tuple[Any, ...]:
        return (self.primal, *self.rest)

    @property
    def parts(self) -> tuple[Tensor, ...]:
        return tuple([c for c in self.coefficients if c is not None])

    def at(self, primal: Tensor) -> Jet:
        return Jet((primal, *self.rest), self.level)

    def still(self) -> Jet:
        return Jet((self.primal, *[None] * len(self.rest)), self.level)

    def run(self, primitive: Primitive, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        series: list[Any] = []
        orders = []
        for a in args:
            data = getattr(a, "_data", None)
            if type(data) is Jet and data.level == self.level:
                series.append(data.coefficients)
                orders.append(len(data.rest))
            else:
                series.append(None)
        order = min(orders)  # rules that run over derivatives have one order less than what surrounds them
        series = [None if s is None else s[: order + 1] for s in series]
        return polynomial(primitive, series, args, attrs, order, self.level)


def polynomial(
    p: Primitive, series: list[Any], args: tuple[Any, ...], attrs: tuple[Any, ...], order: int, level: int
) -> Any:
    """What an operator makes of polynomials (None for what is constant): data of the results, or lower Tensors."""
    primals = tuple([a if s is None else s[0] for a, s in zip(args, series)])
    series = [s if s is not None and any([c is not None for c in s[1:]]) else None for s in series]
    moving = tuple([i for i, s in enumerate(series) if s is not None and (p.variadic or i in p.differentiable)])
    if not moving or p.push is None or not state.forward_ad:
        return call(p, primals, attrs)
    found: Any = None
    if affine(p, moving) or (p.name in PIECEWISE and primals[0]._data.dtype.kind != "c"):
        out = call(p, primals, attrs)
        if is_integral(out):
            return out
        return joined(out, [push_order(p, k, series, out, primals, attrs) for k in range(1, order + 1)], level)
    if moving[:2] == (0, 1) and p.name in BILINEAR:
        found = cauchy_product(p, series, primals, attrs, order, args[0] is args[1])
    elif p.name in RECURRENCES:
        found = RECURRENCES[p.name](series, primals, p.function(*primals, *attrs), order, attrs)
    if found is not None:
        return joined(found[0], found[1:], level)
    return integrated(p, series, primals, attrs, order, level)


def call(p: Primitive, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    return p.apply(args, attrs) if p.variadic else p.function(*args, *attrs)


def joined(out: Any, rest: Sequence[Any], level: int) -> Any:
    """Values and their coefficients of order 1, 2, ..., for one output or several, as data that move."""
    if type(out) is tuple or type(out) is list:
        return [joined(o, [None if c is None else c[i] for c in rest], level) for i, o in enumerate(out)]
    return out if all([c is None for c in rest]) else Jet((out, *rest), level)


def integrated(
    p: Primitive, series: list[Any], primals: tuple[Any, ...], attrs: tuple[Any, ...], order: int, level: int
) -> Any:
    """Any operator: its forward rule over polynomials of one order less gives ``dy/dt``."""
    assert p.push is not None
    if order == 1:
        out = call(p, primals, attrs)
        return joined(out, [p.push([None if s is None else s[1] for s in series], out, primals, attrs)], level)
    lower = tuple([a if s is None else wrap(Jet(s[:-1], level)) for a, s in zip(primals, series)])
    rates = [None if s is None else rate(s, level) for s in series]
    if "out" in reads(p, tuple(i for i, r in enumerate(rates) if r is not None)):
        out = call(p, lower, attrs)
    else:
        out = call(p, primals, attrs)
    pushed = p.push(rates, out, lower, attrs)
    if type(out) is tuple or type(out) is list:
        columns = [integral(r, order, level) for r in pushed]
        return joined([value_of(o, level) for o in out], list(zip(*columns)), level)
    return joined(value_of(out, level), integral(pushed, order, level), level)


def rate(s: Coefficients, level: int) -> Tensor | None:
    """The derivative of a polynomial; None if it is zero."""
    found = [None if c is None else c * k if k > 1 else c for k, c in enumerate(s[1:], 1)]
    if all([c is None for c in found]):
        return None
    return wrap(Jet((F.zeros_like(s[0]) if found[0] is None else found[0], *found[1:]), level))


def integral(t: Tensor | None, order: int, level: int) -> list[Any]:
    """The coefficients of the orders 1, 2, ... of the integral of a polynomial."""
    if t is None:
        return [None] * order
    data = t._data
    found = data.coefficients if type(data) is Jet and data.level == level else (t, *[None] * (order - 1))
    return [None if c is None else c / k if k > 1 else c for k, c in enumerate(found, 1)]


def value_of(t: Tensor, level: int) -> Tensor:
    return t._data.primal if type(t._data) is Jet and t._data.level == level else t


# ---- affine operators

PIECEWISE = {
    "abs", "amax", "amin", "clamp_max", "clamp_min", "clamp_numbers", "cummax", "cummin", "fmax", "fmin", "hardshrink",
    "hardsigmoid", "hardtanh", "kthvalue_dim", "leaky_relu", "max", "max_dim", "max_pool", "maximum", "median",
    "median_dim", "min", "min_dim", "minimum", "mode_dim", "nanmedian", "nanmedian_dim", "relu", "softshrink", "sort",
    "threshold", "topk",
}  # fmt: skip
"""Affine between their kinks, for real numbers, though their forward rules read on which side of those they are."""


@functools.cache
def affine(p: Primitive, moving: tuple[int, ...]) -> bool:
    """Whether an operator is affine in some inputs: its forward rules then read neither them nor the output."""
    return p.jvp == "linear" or reads(p, moving).isdisjoint({"out", "kept", *[p.inputs[i] for i in moving]})


def reads(p: Primitive, moving: tuple[int, ...]) -> set[str]:
    """What the forward rules of some inputs read.

    Raises
    ------
    NotImplementedError
        If the operator has no forward rule of its own.
    """
    rules = p.forward_rules()
    if isinstance(rules, Transposed):
        raise NotImplementedError(
            f"{p.name} has no forward rule (jvp), from which func.jet and func.laplacian take theirs; declare one, or "
            "nest func.jvp"
        )
    return set(names_of(rules)) if callable(rules) else {n for i in moving if i in rules for n in names_of(rules[i])}


def push_order(p: Primitive, k: int, series: list[Any], out: Any, primals: tuple[Any, ...], attrs: Any) -> Any:
    """The forward rule at the coefficients of order k; None if all are zero."""
    directions = [None if s is None else s[k] for s in series]
    if all([d is None for i, d in enumerate(directions) if p.variadic or i in p.differentiable]):
        return None
    assert p.push is not None
    return p.push(directions, out, primals, attrs)


# ---- products

BILINEAR = {"conv", "conv_input", "conv_weight", "cross", "dot", "linear", "linear_weight", "matmul", "mm", "mul", "mv"}
"""Linear in each of the first two operands; a third one is a bias."""


def cauchy_product(
    p: Primitive, series: list[Any], primals: tuple[Any, ...], attrs: tuple[Any, ...], order: int, square: bool
) -> Coefficients:
    """The coefficients of a product: ``y[k]`` is the sum of ``a[i] b[k - i]``."""
    a, b = series[:2]
    nothing = [None] * (len(primals) - 2)
    found: list[Any] = [p.function(*primals, *attrs)]
    for k in range(1, order + 1):
        total = None
        if len(primals) > 2 and series[2] is not None and series[2][k] is not None:
            assert p.push is not None
            total = p.push([None, None, series[2][k]], found[0], primals, attrs)
        mirrored = square and p.name == "mul"
        for i in range(k // 2 + 1 if mirrored else k + 1):
            if a[i] is not None and b[k - i] is not None:
                term = p.function(a[i], b[k - i], *nothing, *attrs)
                if mirrored and 2 * i < k:
                    term = term * 2
                total = term if total is None else total + term
        found.append(total)
    return found


# ---- functions that solve a differential equation, one coefficient after the other


def product(a: Coefficients, b: Coefficients, k: int, low: int = 0, high: int | None = None) -> Any:
    """The sum of ``a[i] * b[k - i]`` for i from ``low`` to ``high`` (k by default); None if all terms are zero."""
    total = None
    high = k if high is None else high
    mirrored = a is b and low + high == k  # then all terms but the middle one come twice
    for i in range(low, (k // 2 if mirrored else high) + 1):
        if a[i] is not None and b[k - i] is not None:
            term = a[i] * b[k - i]
            if mirrored and 2 * i < k:
                term = term * 2
            total = term if total is None else total + term
    return total


def slope(x: Coefficients, h: Coefficients, k: int, high: int | None = None) -> Any:
    """Coefficient k of the y of which ``y' = h x'``: the sum of ``i x[i] h[k - i] / k`` from 1 to ``high``."""
    total = None
    for i in range(1, (k if high is None else high) + 1):
        if x[i] is not None and h[k - i] is not None:
            term = x[i] * h[k - i]
            if i != k:
                term = term * (i / k)
            total = term if total is None else total + term
    return total


def difference(a: Any, b: Any) -> Any:
    if b is None:
        return a
    return -b if a is None else a - b


def exp_series(series: Any, primals: Any, value: Tensor, order: int, attrs: Any) -> Coefficients:
    """y' = y x'."""
    x: Coefficients = series[0]
    y: list[Any] = [value]
    for k in range(1, order + 1):
        y.append(slope(x, y, k))
    return y


def expm1_series(series: Any, primals: Any, value: Tensor, order: int, attrs: Any) -> Coefficients:
    """The exponential's, but for the value."""
    return [value, *exp_series(series, primals, value + 1, order, attrs)[1:]]


def log_series(series: Any, primals: Any, value: Tensor, order: int, attrs: Any) -> Coefficients:
    """x y' = x'."""
    x: Coefficients = series[0]
    y: list[Any] = [value]
    for k in range(1, order + 1):
        rest = difference(x[k], slope(y, x, k, k - 1))
        y.append(None if rest is None else rest / x[0])
    return y


def sine_and_cosine(x: Coefficients, sine: Tensor, cosine: Tensor, order: int, sign: int) -> tuple[Any, Any]:
    """s' = c x' and c' = sign s x'."""
    s, c = [sine], [cosine]
    for k in range(1, order + 1):
        s_k, c_k = slope(x, c, k), slope(x, s, k)
        s.append(s_k)
        c.append(-c_k if c_k is not None and sign < 0 else c_k)
    return s, c


def tanh_series(series: Any, primals: Any, value: Tensor, order: int, attrs: Any) -> Coefficients:
    """y' = (1 - y^2) x'."""
    x: Coefficients = series[0]
    y: list[Any] = [value]
    h: list[Any] = [1 - value * value]
    for k in range(1, order + 1):
        y.append(slope(x, h, k))
        h.append(difference(None, product(y, y, k)) if k < order else None)
    return y


def sigmoid_series(series: Any, primals: Any, value: Tensor, order: int, attrs: Any) -> Coefficients:
    """y' = (y - y^2) x'."""
    x: Coefficients = series[0]
    y: list[Any] = [value]
    h: list[Any] = [value - value * value]
    for k in range(1, order + 1):
        y.append(slope(x, h, k))
        h.append(difference(y[k], product(y, y, k)) if k < order else None)
    return y


def sqrt_series(series: Any, primals: Any, value: Tensor, order: int, attrs: Any) -> Coefficients:
    """y y = x."""
    x: Coefficients = series[0]
    y: list[Any] = [value]
    for k in range(1, order + 1):
        rest = difference(x[k], product(y, y, k, 1, k - 1))
        y.append(None if rest is None else rest / (2 * value))
    return y


def quotient_series(series: Any, primals: Any, value: Tensor, order: int, attrs: Any) -> Coefficients:
    """y b = a, where a may be constant."""
    a, b = series[0] if len(series) == 2 else None, series[-1]
    y: list[Any] = [value]
    for k in range(1, order + 1):
        rest = difference(None if a is None else a[k], product(b, y, k, 1))
        y.append(None if rest is None else rest / primals[-1])
    return y


def power_series(series: Any, primals: Any, value: Tensor, order: int, attrs: Any) -> Coefficients | None:
    """Small whole powers, by products: right at zero, too. Others follow from the forward rule."""
    x, exponent = series[0], attrs[0] if attrs else 2
    if exponent not in (2, 3, 4):
        return None
    y = x
    for _ in range(int(exponent) - 1):
        y = [product(x, y, k) for k in range(order + 1)]
    return [value, *y[1:]]


RECURRENCES: dict[str, Callable[..., Coefficients | None]] = {
    "exp": exp_series,
    "expm1": expm1_series,
    "log": log_series,
    "sin": lambda s, x, value, order, attrs: sine_and_cosine(s[0], value, F.cos(x[0]), order, -1)[0],
    "cos": lambda s, x, value, order, attrs: sine_and_cosine(s[0], F.sin(x[0]), value, order, -1)[1],
    "sinh": lambda s, x, value, order, attrs: sine_and_cosine(s[0], value, F.cosh(x[0]), order, 1)[0],
    "cosh": lambda s, x, value, order, attrs: sine_and_cosine(s[0], F.sinh(x[0]), value, order, 1)[1],
    "tanh": tanh_series,
    "sigmoid": sigmoid_series,
    "sqrt": sqrt_series,
    "reciprocal": quotient_series,
    "div": quotient_series,
    "square": power_series,
    "pow_number": power_series,
}


# ---- the transform


def jet(f: Callable[..., Any], primals: Sequence[Tensor], series: Sequence[Sequence[Tensor]]) -> tuple[Any, Any]:
    """Derivatives of a function along a curve, up to any order, in one pass (Taylor mode).

    The arguments follow a curve ``h(t)`` of which the derivatives at zero are given; the result has those of
    ``f(h(t))``. Derivatives, not Taylor coefficients: no factorials are divided out on either side. For derivatives
    along a straight line ``x + t v`` the series is ``(v, 0, 0, ...)``.

    Parameters
    ----------
    f
        Takes one tensor for each primal; returns tensors, or nested containers of them.
    primals
        ``h(0)``: one floating or complex tensor for each argument.
    series
        For each primal the derivatives ``h'(0), h''(0), ...``, each of the shape of the primal; as many for all
        primals, at least one. They say up to which order is differentiated.

    Returns
    -------
    tuple
        ``(f(h(0)), derivatives)``: in place of each tensor of the output, ``derivatives`` has the list of its
        derivatives of order 1, 2, ...

    Raises
    ------
    ValueError
        If primals and series do not fit together, or a primal is not a floating or complex Tensor.
    RuntimeError
        If a derivative does not have the shape of its primal.
    NotImplementedError
        If ``f`` calls an operator without forward rule, or a custom ``Function``.

    See Also
    --------
    jvp : The same to first order, for nested containers.

    Notes
    -----
    An operator takes order squared as long as without derivatives, where nested ``jvp`` takes two to the order.
    Algorithms: A. Griewank, A. Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapter 13.

    Examples
    --------
    The derivatives of the third power at 2:

    >>> import tensorplay as tp
    >>> one, zero = tp.tensor(1.), tp.tensor(0.)
    >>> tp.func.jet(lambda x: x ** 3, (tp.tensor(2.),), ((one, zero, zero, zero),))
    (tensor(8.), [tensor(12.), tensor(12.), tensor(6.), tensor(0.)])
    """
    if not isinstance(primals, (tuple, list)) or not primals:
        raise ValueError(f"jet: primals must be a tuple of at least one Tensor, got {type(primals).__name__}")
    if not isinstance(series, (tuple, list)) or len(series) != len(primals):
        got = len(series) if isinstance(series, (tuple, list)) else type(series).__name__
        raise ValueError(f"jet: series must have a list of derivatives for each of {len(primals)} primals, got {got}")
    differentiable(list(primals), "jet", "primals", ValueError)
    orders = set()
    for i, (x, terms) in enumerate(zip(primals, series)):
        if not isinstance(terms, (tuple, list)) or not terms:
            raise ValueError(f"jet: series[{i}] must be a list of derivatives, at least one, got {terms!r}")
        orders.add(len(terms))
        for k, t in enumerate(terms, 1):
            if not isinstance(t, Tensor):
                raise ValueError(f"jet: series[{i}] must hold Tensors, got {type(t).__name__} for order {k}")
            if t._data.shape != x._data.shape:
                raise RuntimeError(f"jet: the derivative of order {k} of primal {i} has the shape {list(t.shape)}, "
                                   f"expected that of the primal, {list(x.shape)}")  # fmt: skip
    if len(orders) > 1:
        raise ValueError(f"jet: series must have as many derivatives for each primal, got {sorted(orders)}")
    order = orders.pop()
    given = [[x, *[matching(t, x) / math.factorial(k) if k > 1 else matching(t, x) for k, t in enumerate(terms, 1)]]
             for x, terms in zip(primals, series)]  # fmt: skip
    outs, spec = pushed_series(f, given, "jet")
    values, derivatives = [], []
    for value, *rest in outs:
        rest += [None] * (order - len(rest))
        values.append(value)
        derivatives.append([
            F.zeros_like(value.detach()) if c is None else c * math.factorial(k) if k > 1 else c
            for k, c in enumerate(rest, 1)
        ])  # fmt: skip
    return pytree.unflatten(values, spec), pytree.unflatten(derivatives, spec)


def pushed_series(f: Callable[..., Any], given: Sequence[Coefficients], name: str) -> tuple[list[Any], pytree.Spec]:
    """The coefficients of each output of a function of polynomials: the value alone for what is constant."""
    level, running = enter(), state.running
    state.running = (*running, (level, name, (f, [c[0] for c in given])))
    try:
        outs, spec = tensors_of(f(*[moving_tensor(Jet(c, level)) for c in given]), name)
        found = []
        for o in outs:
            data = o._data
            own = type(data) is Jet and data.level == level
            found.append(list(data.coefficients) if own else [alive(o, level)])
        return found, spec
    finally:
        state.running = running
        leave(level)


def moving_tensor(data: Moving) -> Tensor:
    """A tensor that moves. If its primal requires grad so does it, by an edge to that."""
    t = wrap(data)
    if data.primal._node is not None:
        t._node = Alias(data.primal._node)
    return t
