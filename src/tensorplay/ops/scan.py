"""Scans: cumulative sums, products and extrema; differences of neighbours, integrals and derivatives of samples."""

from __future__ import annotations

import builtins
from numbers import Number
from typing import Any

import numpy as np

from ..core import return_types
from ..core.dtype import get_default_dtype
from ..core.namespace import F
from ..core.operator import OPERATORS, operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .extrema import ordered
from .reduction import INT64

WIDER = {"e": np.float32, "f": np.float64, "F": np.complex128}  # what long sums are carried in


def scan(name: str, input: Tensor, dim: Any, *attrs: Any) -> Any:
    """A primitive along a checked dimension; a 0-dim tensor counts as a line of one."""
    ndim = arg.tensor(input, name)._data.ndim
    d = arg.dimension(dim, ndim, name)
    if ndim:
        return getattr(F, name)(input, d, *attrs)
    out = getattr(F, name)(F.reshape(input, (1,)), d, *attrs)
    return tuple(F.reshape(o, ()) for o in out) if type(out) is tuple else F.reshape(out, ())


def accumulate(ufunc: np.ufunc, input: Any, dim: int) -> Any:
    """``ufunc.accumulate`` in a wide dtype; integers and bools as int64."""
    dtype = input.dtype
    if dtype.kind in "biu":
        return ufunc.accumulate(input, dim, dtype=INT64)
    if dtype.char in "dD":
        return ufunc.accumulate(input, dim)
    return ufunc.accumulate(input, dim, dtype=WIDER.get(dtype.char, np.float32)).astype(dtype)


def parts(F: Any, x: Any, dim: int, start: int | None, stop: int | None, step: int | None = None) -> Any:
    """A slice along one dimension."""
    lead, trail = (slice(None),) * (len(x.shape) + dim), (slice(None),) * (-1 - dim)
    return F.slice(x, (*lead, slice(start, stop, step), *trail))


def recurrence(F: Any, a: Any, b: Any, dim: int) -> Any:
    """y[i] = a[i] * y[i - 1] + b[i] along a dimension, with y[-1] = 0.

    Two steps make one step of the same form, so half as many give every second element, and these the others. There are
    only sums and products, so every derivative is right.
    """
    n = b.shape[dim]
    if n <= 1:
        return b
    even_a, odd_a = parts(F, a, dim, 0, n - 1, 2), parts(F, a, dim, 1, n, 2)
    even_b, odd_b = parts(F, b, dim, 0, n - 1, 2), parts(F, b, dim, 1, n, 2)
    odd = recurrence(F, odd_a * even_a, odd_a * even_b + odd_b, dim)
    first, before = parts(F, b, dim, 0, 1), parts(F, odd, dim, 0, (n - 1) // 2)
    rest = parts(F, a, dim, 2, n, 2) * before + parts(F, b, dim, 2, n, 2)
    even = F.cat(first, rest, dim=dim)
    last = parts(F, even, dim, n // 2, None)  # one more than the odd ones if n is odd
    pairs = F.stack(parts(F, even, dim, 0, n // 2), odd, dim=dim)
    shape = list(b.shape)
    shape[dim] = n - n % 2
    out = F.reshape(pairs, tuple(shape))
    return F.cat(out, last, dim=dim) if n % 2 else out


def shifted(F: Any, x: Any, dim: int, first: Any) -> Any:
    """The element before each one; ``first`` stands before all."""
    return F.cat(first(parts(F, x, dim, 0, 1)), parts(F, x, dim, 0, -1), dim=dim)


def backwards(F: Any, x: Any, dim: int) -> Any:
    return parts(F, x, dim, None, None, -1)


# ---- cumulative sum


def cumsum_kernel(xp: Any, input: Any, *, dim: int, reverse: bool = False) -> Any:
    if not reverse:
        return accumulate(xp.add, input, dim)
    turned = (..., slice(None, None, -1), *(slice(None),) * (-1 - dim))
    return accumulate(xp.add, input[turned], dim)[turned]


primitive(
    "cumsum", cumsum_kernel, vjp={"input": lambda F, g, dim, reverse: F.cumsum(g, dim, not reverse)}, jvp="linear",
    batch="same",
)  # fmt: skip


@operator(inplace=True)
def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The sums of all elements up to each one, along a dimension.

    Parameters
    ----------
    input : Tensor
    dim : int
        The dimension to sum along.
    dtype : dtype, optional
        What to cast to first. Integers and bools are summed as int64 by default.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cumsum(tp.tensor([1., 2., 3.]), dim=0)
    tensor([1., 3., 6.])
    """
    if dtype is None:
        return scan("cumsum", input, dim, False)
    return arg.cast(scan("cumsum", arg.cast(input, dtype, "cumsum"), dim, False), dtype, "cumsum")


# ---- cumulative product


def before(F: Any, out: Any, dim: int) -> Any:
    """The product of all elements before each one."""
    return shifted(F, out, dim, F.ones_like)


def cumprod_vjp(F: Any, g: Any, input: Any, out: Any, dim: int) -> Any:
    """Backwards, g[i] + x[i + 1] * (g[i + 1] + x[i + 2] * ...), times the product before i: no division by x.

    Over arrays one may look, and divide where no product is zero or has overflowed.
    """
    if not input.shape[dim]:
        return g
    if type(out) is np.ndarray and out.all() and np.isfinite(out).all():
        return F.cumsum(g * out, dim, True) / input
    factors = shifted(F, backwards(F, input, dim), dim, F.zeros_like)
    return before(F, out, dim) * backwards(F, recurrence(F, factors, backwards(F, g, dim), dim), dim)


def cumprod_jvp(F: Any, t: Any, input: Any, out: Any, dim: int) -> Any:
    return recurrence(F, input, t * before(F, out, dim), dim) if input.shape[dim] else t


primitive("cumprod", lambda xp, input, *, dim: accumulate(xp.multiply, input, dim), vjp={"input": cumprod_vjp},
          jvp={"input": cumprod_jvp}, batch="same")  # fmt: skip


@operator(inplace=True)
def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The products of all elements up to each one, along a dimension. Derivatives are right at zeros, to any order.

    Parameters
    ----------
    input : Tensor
    dim : int
        The dimension to multiply along.
    dtype : dtype, optional
        What to cast to first. Integers and bools are multiplied as int64 by default.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cumprod(tp.tensor([2., 3., 4.]), dim=0)
    tensor([ 2.,  6., 24.])
    """
    if dtype is None:
        return scan("cumprod", input, dim)
    return arg.cast(scan("cumprod", arg.cast(input, dtype, "cumprod"), dim), dtype, "cumprod")


# ---- cumulative extrema


def cumulative_extremum(name: str, ufunc: str) -> None:
    def kernel(xp: Any, input: Any, *, dim: int) -> Any:
        values = getattr(xp, ufunc).accumulate(input, dim)
        steps = xp.arange(input.shape[dim]).reshape(-1, *(1,) * (-1 - dim))
        new = (input == values) | (input != input)
        return values, xp.maximum.accumulate(xp.where(new, steps, 0), dim)

    def vjp(F: Any, g: Any, out: Any, input_shape: tuple[int, ...], dim: int) -> Any:
        return F.ungather(g[0], out[1], input_shape, dim)

    def jvp(F: Any, tangents: Any, out: Any, dim: int) -> Any:
        return [F.gather(tangents[0], out[1], dim), None]

    primitive(name, kernel, vjp={"input": vjp}, jvp=jvp, batch="same", outputs=2, read=(1,))


cumulative_extremum("cummax", "maximum")
cumulative_extremum("cummin", "minimum")


@operator(out="exact")
def cummax(input: Tensor, dim: int) -> return_types.cummax:
    """The largest of all elements up to each one along a dimension, and its index; the last of several.

    Parameters
    ----------
    input : Tensor
    dim : int
        The dimension to scan.

    Returns
    -------
    return_types.cummax
        A tuple (values, indices).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cummax(tp.tensor([1., 3., 2.]), dim=0)
    tensorplay.return_types.cummax(
    values=tensor([1., 3., 3.]),
    indices=tensor([0, 1, 1]))
    """
    ordered(input, "cummax")
    return return_types.cummax(*scan("cummax", input, dim))


@operator(out="exact")
def cummin(input: Tensor, dim: int) -> return_types.cummin:
    """The smallest of all elements up to each one along a dimension, and its index; the last of several.

    Parameters
    ----------
    input : Tensor
    dim : int
        The dimension to scan.

    Returns
    -------
    return_types.cummin
        A tuple (values, indices).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cummin(tp.tensor([3., 1., 2.]), dim=0)
    tensorplay.return_types.cummin(
    values=tensor([3., 1., 1.]),
    indices=tensor([0, 1, 1]))
    """
    ordered(input, "cummin")
    return return_types.cummin(*scan("cummin", input, dim))


# ---- cumulative logarithm of sums of exponentials


def logcumsumexp_kernel(xp: Any, input: Any, *, dim: int) -> Any:
    x = input if input.dtype.char in "dfDF" else input.astype(np.float32)
    with np.errstate(all="ignore"):
        if x.dtype.kind != "c":
            return xp.logaddexp.accumulate(x, dim).astype(input.dtype)
        out = xp.moveaxis(x.copy(), dim, 0)
        for i in range(1, len(out)):
            out[i] = complex_logaddexp(xp, out[i - 1], out[i])
        return xp.moveaxis(out, 0, dim)


def complex_logaddexp(xp: Any, a: Any, b: Any) -> Any:
    """Adds to the larger one, so that imaginary parts are not taken modulo two pi."""
    swap = a.real < b.real
    larger, smaller = xp.where(swap, b, a), xp.where(swap, a, b)
    return xp.where(xp.isinf(larger.real), larger, larger + xp.log1p(xp.exp(smaller - larger)))


def shares(F: Any, input: Any, out: Any, dim: int) -> tuple[Any, Any]:
    """exp(x[i] - out[i]), and exp(out[i - 1] - out[i]): what x[i] and all before it contribute; zeros for -inf."""
    finite = F.where(out == -np.inf, 0, out)
    return F.exp(input - finite), F.exp(shifted(F, out, dim, F.zeros_like) - finite)


def logcumsumexp_vjp(F: Any, g: Any, input: Any, out: Any, dim: int) -> Any:
    if not input.shape[dim]:
        return g
    own, carried = shares(F, input, out, dim)
    factors = shifted(F, backwards(F, carried, dim), dim, F.zeros_like)
    return own * backwards(F, recurrence(F, factors, backwards(F, g, dim), dim), dim)


def logcumsumexp_jvp(F: Any, t: Any, input: Any, out: Any, dim: int) -> Any:
    if not input.shape[dim]:
        return t
    own, carried = shares(F, input, out, dim)
    return recurrence(F, carried, own * t, dim)


primitive("logcumsumexp", logcumsumexp_kernel, vjp={"input": logcumsumexp_vjp}, jvp={"input": logcumsumexp_jvp},
          batch="same")  # fmt: skip


@operator(out="exact")
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """log(cumsum(exp(x))) along a dimension, without overflow.

    Parameters
    ----------
    input : Tensor
        Of a floating or complex dtype.
    dim : int
        The dimension to sum along.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.logcumsumexp(tp.tensor([1000., 1000.]), dim=0)
    tensor([1000.0000, 1000.6932])
    """
    if arg.tensor(input, "logcumsumexp")._data.dtype.kind not in "fcV":
        raise NotImplementedError(f"logcumsumexp(): not implemented for {input.dtype}; cast it to a floating dtype")
    return scan("logcumsumexp", input, dim)


# ---- differences, and integrals by the trapezoidal rule


@operator()
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Each element minus the one before, along a dimension, ``n`` times; of bools whether they differ.

    Parameters
    ----------
    input : Tensor
        Of one dimension or more.
    n : int
        How often to take differences.
    dim : int
        The dimension to take them along, which gets shorter by n.
    prepend, append : Tensor, optional
        What to put before and behind ``input`` along ``dim`` first.

    Raises
    ------
    RuntimeError
        For a 0-dim tensor, a negative ``n`` or shapes that do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.diff(tp.tensor([1, 3, 2]))
    tensor([ 2, -1])
    """
    ndim = arg.tensor(input, "diff")._data.ndim
    if not ndim:
        raise RuntimeError("diff(): expects input to be at least one-dimensional")
    n, d = arg.integer(n, "diff", "n"), arg.dimension(dim, ndim, "diff")
    if n < 0:
        raise RuntimeError(f"diff(): order must be non-negative but got {n}")
    for extra, name in ((prepend, "prepend"), (append, "append")):
        if extra is None:
            continue
        have, want = list(arg.tensor(extra, "diff", name)._data.shape), list(input._data.shape)
        if len(have) != ndim:
            raise RuntimeError(f"diff(): expects {name} to have {ndim} dimensions, as input has, got {len(have)}")
        have[d] = want[d]
        if have != want:
            raise RuntimeError(f"diff(): expects the shape of {name} to match that of input except along dim {dim}, "
                               f"got {list(extra.shape)} and {list(input.shape)}")  # fmt: skip
    if not n:
        return F.clone(input)
    pieces = [p for p in (prepend, input, append) if p is not None]
    x = input if len(pieces) == 1 else OPERATORS[""]["cat"].plain(pieces, d)
    for _ in range(builtins.min(n, x._data.shape[d])):
        later, earlier = parts(F, x, d, 1, None), parts(F, x, d, 0, -1)
        x = F.logical_xor(later, earlier) if x._data.dtype.kind == "b" else later - earlier
    return F.clone(x) if x is input else x


def steps(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: Any) -> tuple[Tensor, int]:
    """(y[i] + y[i + 1]) * (x[i + 1] - x[i]), twice the areas of the trapezoids, and the dimension they are along."""
    for value, which in ((y, "y"), (x, "x")):
        if value is not None and arg.tensor(value, name, which, 1 + (which == "x"))._data.dtype.kind == "b":
            raise RuntimeError(f"{name}(): received a bool input for `{which}`, but bool is not supported")
    if not y._data.ndim:
        raise IndexError(f"{name}(): Dimension specified as {dim} but tensor has no dimensions")
    d = arg.dimension(dim, y._data.ndim, name)
    both = parts(F, y, d, 1, None) + parts(F, y, d, 0, -1)
    if x is None:
        return both * (1 if dx is None else arg.number(dx, name, "dx", 3)), d
    if dx is not None:
        raise TypeError(f"{name}(): got both 'x' and 'dx'; pass one of them")
    n = y._data.shape[d]
    if x._data.ndim == 1:
        if x._data.shape[0] != n:
            raise RuntimeError(f"{name}(): There must be one `x` value for each sample point, "
                               f"got {x._data.shape[0]} for {n}")  # fmt: skip
        width = parts(F, x, -1, 1, None) - parts(F, x, -1, 0, -1)
        return both * F.reshape(width, (builtins.max(n - 1, 0), *(1,) * (-1 - d))), d
    if x._data.ndim < -d:
        x = F.reshape(x, (*(1,) * (y._data.ndim - x._data.ndim), *x._data.shape))
    return both * (parts(F, x, d, 1, None) - parts(F, x, d, 0, -1)), d


@operator(aliases=("trapz",), method=False, out=False)
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """The integral of samples ``y`` by the trapezoidal rule along a dimension.

    Parameters
    ----------
    y : Tensor
        The samples.
    x : Tensor, optional
        Where they were taken: one position for each along ``dim``, or a shape that broadcasts with ``y``.
    dx : float, optional
        The distance between samples; 1 by default.
    dim : int
        The dimension to integrate along.

    Raises
    ------
    RuntimeError
        For bools and positions that do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.trapezoid(tp.tensor([1., 2., 4.]))
    tensor(4.5000)
    """
    areas, d = steps("trapezoid", y, x, dx, dim)
    return areas.sum(d) / 2


@operator(method=False, out=False)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """The integrals of samples ``y`` from the first to each later one, by the trapezoidal rule along a dimension.

    Parameters
    ----------
    y : Tensor
        The samples.
    x : Tensor, optional
        Where they were taken: one position for each along ``dim``, or a shape that broadcasts with ``y``.
    dx : float, optional
        The distance between samples; 1 by default.
    dim : int
        The dimension to integrate along.

    Raises
    ------
    RuntimeError
        For bools and positions that do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cumulative_trapezoid(tp.tensor([1., 2., 4.]))
    tensor([1.5000, 4.5000])
    """
    areas, d = steps("cumulative_trapezoid", y, x, dx, dim)
    return cumsum(areas, d) / 2


# ---- derivatives of samples


def three_point(x: Tensor, dim: int, at: int, h: Any, k: Any) -> Tensor:
    """The derivative, at the first, middle or last (-1, 0, 1) of three neighbours, of the parabola through them.

    ``h`` and ``k`` are the distances from the first to the second and from the second to the third.
    """
    a, b, c = parts(F, x, dim, 0, -2), parts(F, x, dim, 1, -1), parts(F, x, dim, 2, None)
    if h is k and not at:
        return (c - a) / (h + k)
    left, right = (b - a) / h, (c - b) / k
    if at:
        return (left - (right - left) * (h / (h + k))) if at < 0 else (right + (right - left) * (k / (h + k)))
    return (k * left + h * right) / (h + k)


def slope(x: Tensor, dim: int, spacing: Any, edge_order: int) -> Tensor:
    """The derivative along a dimension: of samples a distance apart, or at the positions that are given."""
    at_positions = isinstance(spacing, Tensor) and spacing._data.ndim > 0
    if at_positions:
        gaps = parts(F, spacing, -1, 1, None) - parts(F, spacing, -1, 0, -1)
        gaps = F.reshape(gaps, (*gaps._data.shape, *(1,) * (-1 - dim)))

    def gap(start: int, stop: int | None) -> Any:
        return parts(F, gaps, dim, start, stop) if at_positions else spacing

    middle = three_point(x, dim, 0, gap(0, -1), gap(1, None))
    if edge_order == 1:
        first = (parts(F, x, dim, 1, 2) - parts(F, x, dim, 0, 1)) / gap(0, 1)
        last = (parts(F, x, dim, -1, None) - parts(F, x, dim, -2, -1)) / gap(-1, None)
    else:
        first = three_point(parts(F, x, dim, 0, 3), dim, -1, gap(0, 1), gap(1, 2))
        last = three_point(parts(F, x, dim, -3, None), dim, 1, gap(-2, -1), gap(-1, None))
    return F.cat(first, middle, last, dim=dim)


@operator(method=False, out=False)
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The derivatives of samples along dimensions, from differences of neighbours.

    Parameters
    ----------
    input : Tensor
        The samples.
    spacing : number, or sequence of number or Tensor
        The distance between samples, one for all dimensions or one for each; or the positions along each dimension.
    dim : int or sequence of int, optional
        The dimensions; all by default.
    edge_order : {1, 2}
        Whether the derivative at the ends is that of a line, or of a parabola, through the nearest samples.

    Returns
    -------
    tuple of Tensor
        One derivative for each dimension, of the shape of the input.

    Raises
    ------
    RuntimeError
        If a dimension has fewer than edge_order + 1 samples, or the spacing does not fit.

    Notes
    -----
    Inside, the derivative of the parabola through three neighbours: an error of second order in the spacing.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.gradient(tp.tensor([0., 1., 4., 9.]))
    (tensor([1., 2., 4., 5.]),)
    """
    x = arg.tensor(input, "gradient")
    ndim, kind = x._data.ndim, x._data.dtype.kind
    if dim is not None and not ndim:
        raise IndexError(f"gradient(): Dimension specified as {dim} but tensor has no dimensions")
    if kind == "b" or x._data.dtype == np.uint8:
        raise RuntimeError(f"gradient(): does not support {x.dtype} input; its differences are no numbers of it")
    if kind in "iu":
        x = F.cast(x, get_default_dtype().numpy)
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient(): only supports edge_order=1 and edge_order=2, got {edge_order}")
    dims = tuple(range(-ndim, 0)) if dim is None else arg.dimensions(dim, ndim, "gradient")
    if any(not ndim or x._data.shape[d] <= edge_order for d in dims):
        raise RuntimeError(
            f"gradient(): expected each dimension size to be at least edge_order+1, got shape {list(x.shape)} and "
            f"edge_order={edge_order}"
        )
    spacings = spacing if isinstance(spacing, (tuple, list)) else [1 if spacing is None else spacing] * len(dims)
    if len(spacings) != len(dims):
        raise RuntimeError(
            f"gradient(): expected spacing to be unspecified, a scalar, or a list of length {len(dims)}, one for each "
            f"dimension, but got a list of length {len(spacings)}"
        )
    for value, d in zip(spacings, dims):
        if isinstance(value, Tensor) and (spacings is spacing or value._data.ndim):
            if spacings is not spacing:
                raise TypeError("gradient(): argument 'spacing' must be a number or a list, not a Tensor of positions")
            if value._data.shape != (x._data.shape[d],):
                raise RuntimeError(
                    f"gradient(): expected each element of spacing to have one dimension of the size of the input's, "
                    f"{x._data.shape[d]}, but got shape {list(value._data.shape)}"
                )
        elif not isinstance(value, (Tensor, Number)):
            raise TypeError(f"gradient(): argument 'spacing' must be numbers or Tensors, not {type(value).__name__}")
    return tuple(slope(x, d, value, edge_order) for d, value in zip(dims, spacings))
