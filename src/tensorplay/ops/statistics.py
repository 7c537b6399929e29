"""Quantiles, histograms, covariance."""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core import return_types
from ..core.carrier import Batched
from ..core.interop import readable
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .reduction import as_float, reduce_batch

INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)

# ---- quantiles


def probabilities(name: str, input: Tensor, q: Any) -> Any:
    """The checked q of a quantile: a number, or a Tensor."""
    if isinstance(q, Tensor):
        if q._data.ndim > 1:
            raise RuntimeError(f"{name}(): q must be a scalar or 1D tensor, got {q._data.ndim} dimensions")
        if q._data.dtype != input._data.dtype:
            raise RuntimeError(f"{name}(): q tensor must be same dtype as the input tensor, "
                               f"got {q.dtype} and {input.dtype}")  # fmt: skip
        inside = type(q._data) is not np.ndarray or bool(((q._data >= 0) & (q._data <= 1)).all())
    else:
        q = arg.real(q, name, "q", 2)
        inside, q = 0 <= q <= 1, input._data.dtype.type(q)
    if not inside:
        raise RuntimeError(f"{name}(): q must be in the range [0, 1] but got {q}")
    return q


ROUNDED = {
    "lower": (F.floor, np.floor), "higher": (F.ceil, np.ceil), "nearest": (lambda x: F.round(x, 0), np.rint),
}  # fmt: skip


def at_rank(values: Tensor, rank: Any, direction: str) -> Tensor:
    """Elements of each line by their rounded position: a number, or a Tensor with one line for each or one for all."""
    lead = values._data.shape[:-1]
    over_tensors, over_numbers = ROUNDED[direction]
    if not isinstance(rank, Tensor):
        place = int(over_numbers(rank))
        return F.slice(values, (*(slice(None),) * len(lead), slice(place, place + 1)))
    index = F.cast(over_tensors(rank), INT64)
    return F.gather(values, F.expand(index, (*lead, index._data.shape[-1])), -1)


def quantiles(
    name: str, input: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, ignore_nan: bool
) -> Tensor:
    shape = arg.tensor(input, name)._data.shape
    if input._data.dtype.char not in "df":
        raise RuntimeError(f"{name}(): input tensor must be either float or double dtype, got {input.dtype}")
    if 0 in shape:
        raise RuntimeError(f"{name}(): input tensor must be non-empty, got shape {list(shape)}")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(f"{name}(): interpolation must be one of linear, lower, higher, midpoint or nearest, "
                           f"but got {interpolation}")  # fmt: skip
    arg.flag(keepdim, name, "keepdim")
    q = probabilities(name, input, q)
    several = isinstance(q, Tensor) and q._data.ndim == 1
    d = None if dim is None else arg.dimension(dim, len(shape), name)
    if d is None or not shape:
        lines, rest = F.reshape(input, (math.prod(shape),)), ()
    else:
        kept = [i for i in range(-len(shape), 0) if i != d]
        lines, rest = F.permute(input, (*kept, d)), tuple([shape[i] for i in kept])
    n = lines._data.shape[-1]
    values = F.sort(lines, -1, False)[0]
    rank = q if several or not isinstance(q, Tensor) else F.reshape(q, (1,))
    if ignore_nan:
        count = F.sum(F.cast(lines == lines, input._data.dtype), (-1,), True)
        rank = (count - 1 + F.cast(count == 0, input._data.dtype)) * (rank if isinstance(rank, Tensor) else float(rank))
    else:
        rank = rank * (n - 1)
    if interpolation in ROUNDED:
        out = at_rank(values, rank, interpolation)
    else:
        below, above = at_rank(values, rank, "lower"), at_rank(values, rank, "higher")
        if interpolation == "midpoint":
            out = F.lerp_number(below, above, 0.5)
        elif isinstance(rank, Tensor):
            out = F.lerp(below, above, rank - F.floor(rank))
        else:
            out = F.lerp_number(below, above, float(rank - np.floor(rank)))
    if not ignore_nan:  # nan sorts last
        last = F.slice(values, (*(slice(None),) * len(rest), slice(n - 1, n)))
        out = F.where(last == last, out, last)
    out = F.permute(out, (-1, *range(-len(rest) - 1, -1)))
    if keepdim and shape:
        kept = [1 if d is None or i == d else shape[i] for i in range(-len(shape), 0)]
        out = F.reshape(out, (out._data.shape[0], *kept))
    return out if several else F.reshape(out, out._data.shape[1:])


@operator(out="exact")
def quantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The q-th quantiles of all elements, or along a dimension; nan where an element is.

    Parameters
    ----------
    input : Tensor
        Of dtype float32 or float64.
    q : float or Tensor
        Between 0 and 1; of a 1-D tensor the quantiles are along a new first dimension.
    dim : int, optional
        The dimension to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    interpolation : str
        Between two elements: "linear", "lower", "higher", "midpoint" or "nearest".

    Raises
    ------
    RuntimeError
        For other dtypes, an empty input, a q out of range or of another dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.quantile(tp.tensor([0., 1., 4.]), tp.tensor([0.5, 0.75]))
    tensor([1.0000, 2.5000])
    """
    return quantiles("quantile", input, q, dim, keepdim, interpolation, False)


@operator(out="exact")
def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The q-th quantiles of the elements that are not nan, of all or along a dimension; nan where there are none.

    Parameters
    ----------
    input : Tensor
        Of dtype float32 or float64.
    q : float or Tensor
        Between 0 and 1; of a 1-D tensor the quantiles are along a new first dimension.
    dim : int, optional
        The dimension to reduce; all of them by default.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    interpolation : str
        Between two elements: "linear", "lower", "higher", "midpoint" or "nearest".

    Raises
    ------
    RuntimeError
        For other dtypes, an empty input, a q out of range or of another dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nanquantile(tp.tensor([0., float("nan"), 4.]), 0.5)
    tensor(2.)
    """
    return quantiles("nanquantile", input, q, dim, keepdim, interpolation, True)


# ---- histograms


def finite_range(name: str, low: Any, high: Any, margin: float) -> tuple[Any, Any]:
    """The range of a histogram; wider by a margin if it is a point."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{name}(): range of [{low}, {high}] is not finite")
    return (low - margin, high + margin) if low == high else (low, high)


def histc_kernel(xp: Any, input: Any, *, bins: int, low: float, high: float) -> Any:
    """Counts of each line; the bounds are those of its elements if they are equal."""
    shape, dtype = input.shape[:-1], input.dtype
    lines = (input.astype(np.float32) if dtype.itemsize == 2 else input).reshape(math.prod(shape), input.shape[-1])
    out = np.zeros((len(lines), bins), dtype)
    for line, counts in zip(lines, out):
        least, most = (low, high) if low < high or not line.size else (line.min(), line.max())
        first, last = map(line.dtype.type, finite_range("histc", least, most, 1))
        line = line[(line >= first) & (line <= last)]
        width = last - first  # 0 where a margin of 1 is lost beside the elements
        place = np.minimum((line - first) * bins / width, bins - 1) if width else np.full(line.shape, bins // 2)
        counts[:] = np.bincount(place.astype(INT64), minlength=bins)
    return out.reshape(*shape, bins)


primitive("histc", histc_kernel, batch="same")


@operator(out="exact")
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of ``bins`` equal parts of a range. Elements outside, and nan, are not counted.

    Parameters
    ----------
    input : Tensor
        Of a floating dtype.
    bins : int
        The number of bins.
    min, max : float
        The range, upper end included; that of the elements if both are equal.

    Raises
    ------
    RuntimeError
        If the range is not finite or ``max`` is less than ``min``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.histc(tp.tensor([1., 2., 1.]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    if arg.tensor(input, "histc")._data.dtype.kind not in "fV":
        raise NotImplementedError(f"histc(): not implemented for {input.dtype}; cast it to a floating dtype")
    bins = arg.integer(bins, "histc", "bins", 2)
    min, max = arg.real(min, "histc", "min", 3), arg.real(max, "histc", "max", 4)
    if bins <= 0:
        raise RuntimeError(f"histc(): bins must be > 0, but got {bins}")
    if max < min:
        raise RuntimeError(f"histc(): max must be larger than min, got {max} and {min}")
    finite_range("histc", min, max, 1)
    return F.histc(F.reshape(input, (math.prod(input._data.shape),)), bins, float(min), float(max))


def edges_of(name: str, values: Any, bins: int, range: Sequence[float] | None) -> Any:
    """The edges of equal bins over the range of the values, or the given one."""
    if bins <= 0:
        raise RuntimeError(f"{name}(): bins must be > 0, but got {bins}")
    if range is None:
        low, high = (values.min(), values.max()) if values.size else (0, 1)
    else:
        if len(range) != 2:
            raise RuntimeError(f"{name}(): range should have 2 elements, got {len(range)}")
        low, high = range
        if low > high:
            raise RuntimeError(f"{name}(): min should not exceed max, but got min {low} max {high}")
    low, high = finite_range(name, low, high, 0.5)
    return np.linspace(low, high, bins + 1).astype(values.dtype)


def places(edges: Any, values: Any) -> tuple[Any, Any]:
    """The bin of each value, and which of them are within the edges; the last bin holds its upper edge, too."""
    within = (values >= edges[0]) & (values <= edges[-1])
    return np.minimum(np.searchsorted(edges, values, side="right") - 1, len(edges) - 2), within


def counted(columns: Any, edges: list[Any], weight: Any, density: bool) -> Any:
    """The histogram of points given by their coordinates."""
    shape = tuple([len(e) - 1 for e in edges])
    within, place = np.ones(columns.shape[1], bool), np.zeros(columns.shape[1], INT64)
    for column, e, n in zip(columns, edges, shape):
        bin_, inside = places(e, column)
        place, within = place * n + bin_, within & inside
    weights = None if weight is None else weight.reshape(-1)[within]
    out = np.bincount(place[within], weights, math.prod(shape)).astype(columns.dtype).reshape(shape)
    if density:
        volume = np.ones((), columns.dtype)
        for i, e in enumerate(edges):
            volume = volume * np.diff(e).reshape(-1, *(1,) * (len(edges) - 1 - i))
        out = out / (out.sum() * volume)
    return out


def check_histogram(name: str, input: Tensor, weight: Tensor | None, shape: tuple[int, ...], edges: list[Any]) -> None:
    """Refuse dtypes and shapes that do not fit."""
    if input._data.dtype.char not in "df":
        raise NotImplementedError(f"{name}(): not implemented for {input.dtype}; cast it to float32 or float64")
    if weight is not None and arg.tensor(weight, name, "weight")._data.shape != shape:
        raise RuntimeError(f"{name}(): if weight tensor is provided it should have shape {list(shape)}, but got "
                           f"{list(weight.shape)}")  # fmt: skip
    for other in (weight, *edges):
        if isinstance(other, Tensor) and other._data.dtype != input._data.dtype:
            raise RuntimeError(f"{name}(): input, weight and bins tensors should have the same dtype, but got "
                               f"{input.dtype} and {other.dtype}")  # fmt: skip
    for e in edges:
        if isinstance(e, Tensor) and e._data.ndim != 1:
            raise RuntimeError(f"{name}(): bins tensor should have one dimension, but got {e._data.ndim} dimensions")
        if isinstance(e, Tensor) and not e._data.size:
            raise RuntimeError(f"{name}(): bins tensor should have at least 1 element, but got 0")


def histogram_kernel(
    xp: Any, input: Any, edges: Any = None, weight: Any = None, *, bins: int = 0, range: Any = None, density: Any = 0
) -> Any:
    if edges is None:
        edges = edges_of("histogram", input, bins, range)
    return counted(input.reshape(1, -1), [edges], weight, density), edges


primitive("histogram", histogram_kernel, batch="loop", outputs=2)


@operator(out="exact")
def histogram(
    input: Tensor, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> return_types.histogram:
    """The histogram of all elements. Elements outside the bins are not counted.

    Parameters
    ----------
    input : Tensor
        Of dtype float32 or float64.
    bins : int or Tensor
        The number of equal bins, or their edges, ascending.
    range : (float, float), optional
        The range of equal bins; that of the elements by default.
    weight : Tensor, optional
        What each element counts, of the shape and dtype of ``input``.
    density : bool
        Whether to divide so that the integral over the bins is 1.

    Returns
    -------
    return_types.histogram
        A tuple (hist, bin_edges).

    Raises
    ------
    RuntimeError
        For shapes, dtypes or ranges that do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.histogram(tp.tensor([1., 2., 1.]), bins=2).hist
    tensor([2., 1.])
    """
    given = isinstance(bins, Tensor)
    check_histogram("histogram", arg.tensor(input, "histogram"), weight, input._data.shape, [bins] if given else [])
    if given and range is not None:
        raise TypeError("histogram(): argument 'range' needs a number of bins, got edges")
    arg.flag(density, "histogram", "density")
    number = 0 if given else arg.integer(bins, "histogram", "bins", 2)
    return return_types.histogram(*F.histogram(input, bins if given else None, weight, number, range, density))


@operator(out=False)
def histogramdd(
    input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> return_types.histogramdd:
    """The histogram of points in several dimensions. Points outside the bins are not counted.

    Parameters
    ----------
    input : Tensor
        The points: their coordinates are along the last dimension. Of dtype float32 or float64.
    bins : int, sequence of ints or sequence of Tensors
        The number of equal bins along each axis, or their edges, ascending.
    range : sequence of floats, optional
        Lower and upper bound of the bins along each axis; those of the points by default.
    weight : Tensor, optional
        What each point counts.
    density : bool
        Whether to divide so that the integral over the bins is 1.

    Returns
    -------
    return_types.histogramdd
        A tuple (hist, bin_edges), the latter with one tensor for each axis.

    Raises
    ------
    RuntimeError
        For shapes, dtypes or ranges that do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.histogramdd(tp.tensor([[0., 0.], [1., 1.], [0., 1.]]), bins=[2, 2]).hist
    tensor([[1., 1.],
            [0., 1.]])
    """
    name = "histogramdd"
    shape = arg.tensor(input, name)._data.shape
    if len(shape) < 2:
        raise RuntimeError(f"{name}(): input tensor should have at least 2 dimensions, but got {len(shape)}")
    n = shape[-1]
    bins = list(bins) if isinstance(bins, (tuple, list)) else [bins] * n
    check_histogram(name, input, weight, shape[:-1], bins)
    if len(bins) != n:
        raise RuntimeError(f"{name}(): expected {n} sequences of bins for input of {n} coordinates, got {len(bins)}")
    if range is not None and len(range) != 2 * n:
        raise RuntimeError(f"{name}(): for {n} coordinates range should have {2 * n} elements, got {len(range)}")
    columns = readable(input, name).reshape(-1, n).T
    edges = []
    for i, b in enumerate(bins):
        if isinstance(b, Tensor):
            if range is not None:
                raise TypeError(f"{name}(): argument 'range' needs numbers of bins, got edges")
            edges.append(readable(b, name))
        else:
            bounds = None if range is None else range[2 * i : 2 * i + 2]
            edges.append(edges_of(name, columns[i], arg.integer(b, name, "bins", 2), bounds))
    weights = None if weight is None else readable(weight, name)
    hist = counted(columns, edges, weights, arg.flag(density, name, "density"))
    return return_types.histogramdd(wrap(hist), tuple(map(wrap, edges)))


def counted_for_each(input: Tensor, values: Any, weights: Tensor | None, minlength: int) -> Tensor:
    """``bincount`` of each example of a batch, of which all have to have the same number of bins."""
    bins = np.maximum(values.max(-1, initial=-1) + 1, minlength)
    if bins.size and bins.min() != bins.max():
        raise RuntimeError(f"vmap: the results of bincount() differ in size, from {bins.min()} to {bins.max()} bins; "
                           f"give all examples as many by minlength={bins.max()}")  # fmt: skip
    if weights is None:
        weights = F.ones_like(F.cast(input, INT64))
    elif arg.tensor(weights, "bincount", "weights", 2)._data.dtype.char != "f":
        weights = arg.cast(weights, dtypes.float64, "bincount")
    if weights._data.shape != input._data.shape:
        raise RuntimeError("bincount(): weights should be 1-d and have the same length as input, got "
                           f"{list(weights.shape)} and {list(input.shape)}")  # fmt: skip
    zeros = wrap(np.zeros(int(bins.max(initial=minlength)), weights._data.dtype))
    return F.scatter(zeros, F.cast(input, INT64), weights, -1, True)


@operator(out=False)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each integer from 0 to the largest occurs, or the sums of their weights. Differentiable in the weights.

    Parameters
    ----------
    input : Tensor
        Integers that are not negative, of one dimension.
    weights : Tensor, optional
        What each element counts. The result has their dtype if that is float32, else float64.
    minlength : int
        The least number of bins.

    Raises
    ------
    RuntimeError
        For negative elements and for shapes that do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.bincount(tp.tensor([0, 2, 2]))
    tensor([1, 0, 2])
    """
    if arg.tensor(input, "bincount")._data.dtype.kind not in "iu":
        raise NotImplementedError(f"bincount(): not implemented for {input.dtype}; it counts integers")
    minlength = arg.integer(minlength, "bincount", "minlength", 3)
    if minlength < 0:
        raise RuntimeError(f"bincount(): minlength should be >= 0, got {minlength}")
    values = input._innermost() if type(input._data) is Batched else readable(input, "bincount")
    if input._data.ndim != 1 or values.size and values.min() < 0:
        raise RuntimeError("bincount(): only supports 1-d non-negative integral inputs")
    if type(input._data) is Batched:
        return counted_for_each(input, values, weights, minlength)
    count = builtins.max(minlength, int(values.max()) + 1 if values.size else 0)
    if weights is None:
        return wrap(np.bincount(values.astype(INT64), minlength=count))
    if arg.tensor(weights, "bincount", "weights", 2)._data.shape != values.shape:
        raise RuntimeError("bincount(): weights should be 1-d and have the same length as input, got "
                           f"{list(weights.shape)} and {list(input.shape)}")  # fmt: skip
    if weights._data.dtype.char != "f":
        weights = arg.cast(weights, dtypes.float64, "bincount")
    return F.add_columns(weights, count, values.astype(INT64))


# ---- covariance


def observation_weights(name: str, weights: Tensor | None, n: int, kinds: str, words: str) -> Tensor | None:
    """Checked weights of cov."""
    if weights is None:
        return None
    data = arg.tensor(weights, "cov", name)._data
    if data.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {data.ndim} dimensions")
    if data.dtype.kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {words} dtype but got {weights.dtype}")
    if data.size != n:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but "
                           f"got {data.size} != {n}")  # fmt: skip
    if type(data) is np.ndarray and (data < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return F.reshape(weights, (n,))


@operator(out=False)
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariance matrix of variables in rows, with observations in columns.

    Parameters
    ----------
    input : Tensor
        Of two dimensions, or of fewer for a single variable.
    correction : int
        What to subtract from the number of observations; 1 for the unbiased estimate.
    fweights : Tensor, optional
        How often each observation was made: integers.
    aweights : Tensor, optional
        The importance of each observation.

    Raises
    ------
    RuntimeError
        For more than two dimensions, bools, and weights that do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cov(tp.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    ndim = arg.tensor(input, "cov")._data.ndim
    if ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got {ndim} dimensions")
    if input._data.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    correction = arg.integer(correction, "cov", "correction", 2)
    x = as_float(input if ndim == 2 else F.reshape(input, (1, math.prod(input._data.shape))))
    n = x._data.shape[1]
    frequency = observation_weights("fweights", fweights, n, "iu", "integral")
    importance = observation_weights("aweights", aweights, n, "fV", "floating point")
    weights = frequency if importance is None else importance if frequency is None else frequency * importance
    norm: Any
    if weights is None:
        mean, norm = F.mean(x, (-1,), True), builtins.max(n - correction, 0)
    else:
        total = F.sum(weights, None, False)
        mean = F.sum(x * weights, (-1,), True) / total
        norm = total - correction
        if importance is not None and correction:
            norm = total - F.sum(weights * importance, None, False) * correction / total
        norm = F.where(norm > 0, norm, 0)
    low = norm <= 0 if isinstance(norm, int) else type(norm._data) is np.ndarray and norm._data <= 0
    if low:
        warnings.warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
                      "observations.", UserWarning, stacklevel=3)  # fmt: skip
    centered = x - mean
    weighted = centered if weights is None else centered * weights
    out = centered @ F.permute(F.conj(weighted), (-1, -2))
    out = out / norm if isinstance(norm, Tensor) or norm else out * math.inf
    return F.reshape(out, ()) if ndim < 2 else out.squeeze()


@operator(out=False)
def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients of variables in rows, with observations in columns.

    Parameters
    ----------
    input : Tensor
        Of two dimensions, or of fewer for a single variable.

    Raises
    ------
    RuntimeError
        For more than two dimensions and bools.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.corrcoef(tp.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    ndim = arg.tensor(input, "corrcoef")._data.ndim
    if ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got {ndim} dimensions")
    c: Any = cov(input)
    if not c._data.ndim:
        return c / c
    variance = c.diagonal()
    deviation = F.sqrt(variance.real if c.is_complex() else variance)
    n = deviation._data.shape[0]
    out = c / F.reshape(deviation, (n, 1)) / F.reshape(deviation, (1, n))
    if out.is_complex():
        return F.complex(out.real.clamp(-1, 1), out.imag.clamp(-1, 1))
    return out.clamp(-1, 1)


# ---- hashes


def hash_kernel(xp: Any, input: Any, *, dim: Any, keepdim: bool) -> Any:
    wide = input.astype(FLOAT64 if input.dtype.kind in "fV" else INT64)
    return xp.bitwise_xor.reduce(wide.view(np.uint64), dim, keepdims=keepdim)


primitive("hash_tensor", hash_kernel, batch=reduce_batch)


@operator(method=False, out="exact")
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """A number that tells tensors of different elements apart: the exclusive or of the bits of all elements.

    Parameters
    ----------
    input : Tensor
        Real; elements count as float64 or int64.
    dim : int or tuple of int
        The dimensions to reduce; all of them if empty.
    keepdim : bool
        Whether reduced dimensions stay, with extent 1.
    mode : int
        Only 0.

    Returns
    -------
    Tensor
        Of dtype uint64.

    Raises
    ------
    NotImplementedError
        For complex numbers.
    RuntimeError
        For another mode, or no elements to reduce.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.hash_tensor(tp.tensor([[1, 2], [3, 7]]), 1)
    tensor([3, 4], dtype=tensorplay.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"hash_tensor(): Unknown hash_tensor mode: {mode}")
    if arg.tensor(input, "hash_tensor")._data.dtype.kind == "c":
        raise NotImplementedError(f"hash_tensor(): not implemented for {input.dtype}")
    dims = arg.reduced(dim, input._data.ndim, "hash_tensor")
    arg.nonempty(input, dims, "hash_tensor")
    return F.hash_tensor(input, dims, arg.flag(keepdim, "hash_tensor", "keepdim"))
