"""Selecting and writing by index tensors, as functions: gather, scatter, index_add and their like.

Functions that change parts of their input are declared once, by ``changes``: they check their arguments and say which
primitive changes the input, and both the function and its in-place twin follow.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.callpath import MISSING, either
from ..core.inplace import check_writable, update, write
from ..core.namespace import F, R
from ..core.operator import operator
from ..core.primitive import PRIMITIVES, primitive
from ..core.state import state
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .indexing import (
    checked_index,
    fill_where_store,
    merge,
    no_such_index,
    parse,
    put_store,
    zero_like,
)  # fmt: skip
from .structural import zeros_of
from .writing import constant

INT64 = np.dtype(np.int64)

STORES: dict[str, Callable[..., None]] = {"put": put_store, "fill_where": fill_where_store}
"""What a primitive does to memory in place, by its name."""


def changes(twin_documented: dict[str, str] | None = None, **options: Any) -> Callable[[Any], Any]:
    """Declare an operator that changes parts of its input.

    The function under it checks its arguments and returns the name of a primitive, its further operands and attributes;
    or a Tensor, where no such primitive fits.
    """

    def declare(fn: Callable[..., Any]) -> Callable[..., Any]:
        name = fn.__name__

        @functools.wraps(fn)
        def function(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            plan = fn(arg.tensor(input, name), *args, **kwargs)
            return plan if isinstance(plan, Tensor) else PRIMITIVES[plan[0]].function(input, *plan[1], *plan[2])

        @functools.wraps(fn)
        def twin(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            check_writable(arg.tensor(input, name + "_"), name + "_")
            plan = fn(input, *args, **kwargs)
            if isinstance(plan, Tensor):
                return write(input, plan, name + "_")
            p = PRIMITIVES[plan[0]]
            if plan[0] in STORES:
                return update(input, p, plan[1], plan[2], STORES[plan[0]], name + "_")
            old = input._alias(input._node)
            if state.recording and type(old._data) is np.ndarray:  # the rules may read it, and it is overwritten
                old._data = old._data.copy()
            return write(input, p.function(old, *plan[1], *plan[2]), name + "_")

        twin.__name__ = twin.__qualname__ = name + "_"
        twin.__doc__ = f"In-place form of :func:`{name}`: changes ``input`` and returns it."
        for made in (function, twin):
            made.__signature__ = inspect.signature(fn).replace(return_annotation=Tensor)  # type: ignore[attr-defined]
        operator(**options)(function)
        operator(name=name + "_", out=False, function=name in IN_PLACE_FUNCTIONS, documented=twin_documented)(twin)
        return function

    return declare


IN_PLACE_FUNCTIONS = {"index_put"}


def index_of(index: Any, name: str, position: int = 3) -> Tensor:
    """An index tensor, as int64."""
    dtype = arg.tensor(index, name, "index", position)._data.dtype
    if (dtype.kind != "i" or dtype.itemsize < 4) and not (dtype.kind in "iu" and name == "gather"):
        raise (IndexError if name.startswith("index_fill") else RuntimeError)(
            f"{name}(): Expected dtype int32 or int64 for index, got {index.dtype}")  # fmt: skip
    return index if index._data.dtype == INT64 else F.cast(index, INT64)


def as_vector(index: Tensor, name: str) -> Tensor:
    """An index tensor of one dimension; one of none counts as one entry."""
    if index._data.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, got shape {list(index.shape)}")
    return index if index._data.ndim else F.reshape(index, (1,))


def in_bounds(index: Tensor, extent: int, dim: int, name: str, negative: bool = False) -> Tensor:
    """The index, refused if it is out of bounds; checked before anything is written."""
    data = index._data
    if (
        type(data) is np.ndarray
        and data.size
        and (
            data.max() >= extent or data.min() < -extent if negative else data.view(f"u{data.itemsize}").max() >= extent
        )
    ):
        bad = data[(data >= extent) | (data < (-extent if negative else 0))].reshape(-1)[0]
        kind = (
            IndexError if name.startswith(("index_fill", "index_copy", "index_select", "take", "put")) else RuntimeError
        )
        raise kind(f"{name}(): index {bad} is out of bounds for dimension {dim} with size {extent}")
    return index


# ---- whole slices along a dimension


@operator(out="apart")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of the input at the given positions along a dimension.

    Parameters
    ----------
    input : Tensor
    dim : int
    index : Tensor
        A vector of int32 or int64.

    Raises
    ------
    IndexError
        If a position is out of bounds; negative ones are.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]]).index_select(1, tp.tensor([1, 1]))
    tensor([[2, 2],
            [4, 4]])
    """
    shape = arg.tensor(input, "index_select")._data.shape
    dim = arg.dimension(dim, len(shape), "index_select")
    vector = as_vector(index_of(index, "index_select"), "index_select")
    if not shape:
        if vector._data.size != 1:
            raise RuntimeError("index_select(): Index to scalar can have only 1 value, got "
                               f"{vector._data.size} value(s)")  # fmt: skip
        in_bounds(vector, 1, 0, "index_select")
        return F.clone(input)
    return F.index(input, in_bounds(vector, shape[dim], dim + len(shape), "index_select"), dim)


def slices(input: Tensor, dim: Any, index: Any, source: Any, name: str) -> tuple[int, Tensor, Tensor]:
    """Checked: the dimension, the index as a vector, and the source, that has so many slices."""
    shape = input._data.shape
    dim = arg.dimension(dim, len(shape), name)
    given = index_of(index, name)
    vector = as_vector(given, name)
    have = arg.tensor(source, name, "source", 4)._data.shape
    kind = IndexError if name == "index_copy" else RuntimeError
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            f"{name}(): self and source expected to have the same dtype, but got (self) {input.dtype} and (source) "
            f"{source.dtype}"
        )
    if not shape or not have:
        if len(shape) > 1 or len(have) > 1 or input._data.size != 1 and shape or source._data.size != vector._data.size:
            raise kind(
                f"{name}(): source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                f"self.shape = {list(shape)} source.shape = {list(have)}"
            )
        in_bounds(vector, shape[dim] if shape else 1, 0, name)
        return dim, vector, F.reshape(source, (vector._data.size,))
    if len(have) != len(shape):
        raise kind(f"{name}(): When source and destination are not scalars, their dimensionality must match. Source "
                   f"dimensionality ({len(have)}), destination dimensionality ({len(shape)})")  # fmt: skip
    if have[dim] != vector._data.size:
        raise kind(
            f"{name}(): Number of indices ({vector._data.size}) should be equal to source.size(dim): ({have[dim]}), "
            f"for dim: {dim + len(shape)}"
        )
    if (
        have[: len(shape) + dim] + have[len(shape) + dim + 1 :]
        != shape[: len(shape) + dim] + shape[len(shape) + dim + 1 :]
    ):
        raise RuntimeError(
            f"{name}(): source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(shape)} source.shape = {list(have)}"
        )
    return dim, in_bounds(vector, shape[dim], dim + len(shape), name), source


def put_slices(input: Tensor, dim: int, index: Tensor, source: Tensor, accumulate: bool) -> Any:
    """The plan that writes the slices; a 0-dim input is written to as a vector."""
    if not input._data.ndim:
        return F.reshape(F.put(F.reshape(input, (1,)), index, source, dim, 1, accumulate), ())
    return "put", (index, source), (dim, 1, accumulate)


@changes()
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: complex = 1) -> Any:
    """The input with ``alpha`` times the slices of ``source`` added at the given positions; repeated ones add up.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(3).index_add(0, tp.tensor([0, 2, 2]), tp.tensor([1., 2., 3.]))
    tensor([1., 0., 5.])
    """
    dim, index, source = slices(input, dim, index, source, "index_add")
    alpha = arg.number(alpha, "index_add", "alpha", 5)
    if alpha != 1:
        source = F.mul(source, constant(alpha, source, "index_add"))
    return put_slices(input, dim, index, source, True)


@changes(documented={"source": "tensor2"}, twin_documented={"source": "tensor"})
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Any:
    """The input with slices replaced by those of ``source`` at the given positions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(3).index_copy(0, tp.tensor([2, 0]), tp.tensor([1., 2.]))
    tensor([2., 0., 1.])
    """
    dim, index, source = slices(input, dim, index, source, "index_copy")
    return put_slices(input, dim, index, source, False)


@changes(out=False)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Any:
    """The input with one number in the slices at the given positions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(3).index_fill(0, tp.tensor([0, 2]), 1.)
    tensor([1., 0., 1.])
    """
    shape = input._data.shape
    dim = arg.dimension(dim, len(shape), "index_fill")
    vector = as_vector(index_of(index, "index_fill"), "index_fill")
    filler = number(value, input, "index_fill")
    vector = in_bounds(vector, shape[dim] if shape else 1, dim + len(shape), "index_fill", negative=True)
    if filler._data.ndim == 0 and type(vector._data) is np.ndarray:
        # each place once: the number's gradient is their sum
        vector = wrap(np.unique(vector._data % (shape[dim] if shape else 1)))
    return put_slices(input, dim, vector, filler, False)


def number(value: Any, like: Tensor, name: str) -> Tensor:
    """A number, or a 0-dim tensor, in the dtype of another tensor."""
    if not isinstance(value, Tensor):
        return constant(value, like, name)
    if value._data.ndim:
        raise RuntimeError(
            f"{name}(): only supports a 0-dimensional value tensor, but got tensor with {value._data.ndim} "
            "dimension(s)."
        )
    if value._data.dtype == like._data.dtype:
        return value
    if value._data.dtype.kind == "c":
        raise RuntimeError(f"{name}(): value of dtype {value.dtype} cannot be converted to {like.dtype}")
    return F.cast(value, like._data.dtype)


# ---- gather: an index for each element of the result


def beside(index_shape: tuple[int, ...], dim: int) -> list[Any]:
    """For all dimensions but ``dim``, their own positions, shaped to broadcast against the index."""
    ndim = len(index_shape)
    out: list[Any] = [np.arange(n).reshape((n,) + (1,) * (ndim - i - 1)) for i, n in enumerate(index_shape)]
    out[dim] = None
    return out


def places(index: Any, dim: int) -> tuple[Any, ...]:
    """NumPy's index for the elements that ``gather`` takes."""
    out = beside(index.shape, dim)
    out[dim] = index
    return tuple(out)


def flat_places(index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """The flat positions, in row-major order, of the elements that ``gather`` takes."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    strides.reverse()
    total = index * strides[dim]
    for own, stride in zip(beside(index.shape, dim), strides):
        if own is not None:
            total += own * stride
    return total


def gather_kernel(xp: Any, input: Any, index: Any, *, dim: int) -> Any:
    if type(input) is np.ndarray and index.size > 1000 and input.flags.c_contiguous and index.dtype == INT64:
        if index.view(np.uint64).max() >= input.shape[dim]:
            raise no_such_index(index, input.shape[dim], dim + input.ndim)
        return input.reshape(-1).take(flat_places(index, input.shape, dim))
    try:
        return input[places(index, dim)]
    except IndexError:
        raise no_such_index(index, input.shape[dim], dim + input.ndim) from None


primitive(
    "gather",
    gather_kernel,
    vjp={"input": lambda F, g, index, input_shape, dim: F.ungather(g, index, input_shape, dim)},
    jvp={"input": lambda F, t, index, dim: F.gather(t, index, dim)},
    batch="same",
)


def ungather_kernel(xp: Any, input: Any, index: Any, *, shape: tuple[int, ...], dim: int) -> Any:
    out = np.zeros(shape, input.dtype)
    add_along(out, index, input, dim)
    return out


def add_along(out: Any, index: Any, source: Any, dim: int) -> None:
    """Add the elements of the source where ``gather`` would take them."""
    source = source[tuple(map(slice, index.shape))]
    if out.flags.c_contiguous:
        np.add.at(out.reshape(-1), flat_places(index, out.shape, dim).reshape(-1), source.reshape(-1))
    else:
        np.add.at(out, places(index, dim), source)


def ungather_batch(p: Any, values: Any, dims: Any, shape: tuple[int, ...], dim: int) -> Any:
    size = next(v._data.shape[0] for v, d in zip(values, dims) if d == 0)
    values = [F.expand(v, (size, *v._data.shape)) if d is None else v for v, d in zip(values, dims)]
    return F.ungather(*values, (size, *shape), dim)


primitive(
    "ungather", ungather_kernel, vjp={"input": lambda F, g, index, dim: F.gather(g, index, dim)},
    jvp={"input": lambda F, t, index, shape, dim: F.ungather(t, index, shape, dim)}, batch=ungather_batch,
    node_name="GatherBackwardBackward0",
)  # fmt: skip
"""The transpose of ``gather``: elements are added up where they came from, among zeros."""


def along(input: Tensor, dim: Any, index: Any, name: str, source: Tensor | None = None) -> tuple[int, Tensor]:
    """Checked: the dimension (from the end) and the index, which is no larger than input and source."""
    shape = arg.tensor(input, name)._data.shape
    dim = arg.dimension(dim, len(shape), name)
    index = index_of(index, name)
    have = index._data.shape
    if index._data.size == 0:
        return dim, index
    whole, small = shape or (1,), have or (1,)
    if len(whole) != len(small):
        raise RuntimeError(
            f"{name}(): Index tensor must have the same number of dimensions as input tensor, got {len(have)} and "
            f"{len(shape)}"
        )
    for i, (n, m) in enumerate(zip(small, whole)):
        if n > m and i != len(whole) + dim:
            raise RuntimeError(
                f"{name}(): Expected index {list(have)} to be no larger than self {list(shape)} apart from dimension "
                f"{len(whole) + dim}"
            )
    if source is not None and source._data.ndim:
        if source._data.ndim != len(small):
            raise RuntimeError(
                f"{name}(): Index tensor must have the same number of dimensions as src tensor, got {len(have)} and "
                f"{source._data.ndim}"
            )
        if any(n > m for n, m in zip(small, source._data.shape)):
            raise RuntimeError(
                f"{name}(): Expected index {list(have)} to be no larger size than src {list(source._data.shape)}"
            )
    return dim, in_bounds(index, whole[dim], dim + len(whole), name)


def at_least_vectors(*tensors: Tensor) -> tuple[Tensor, ...]:
    return tuple(t if t._data.ndim else F.reshape(t, (1,)) for t in tensors)


@operator(out="apart")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """For each element of ``index``, the element of the input at that position along ``dim``, all else equal.

    ``out[i][j][k] = input[i][index[i][j][k]][k]`` for three dimensions and ``dim=1``.

    Parameters
    ----------
    input : Tensor
    dim : int
    index : Tensor
        int32 or int64, of as many dimensions; no larger than the input, except along ``dim``.
    sparse_grad : bool
        Accepted; gradients are dense.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.gather(tp.tensor([[1, 2], [3, 4]]), 1, tp.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    dim, index = along(input, dim, index, "gather")
    shape = index._data.shape
    if not index._data.size and index._data.ndim != input._data.ndim:
        none = F.slice(F.reshape(input, (input._data.size,)), (slice(0, 0),))  # with the input's history
        return F.reshape(none, shape)
    return (
        F.reshape(F.gather(*at_least_vectors(input, index), dim), shape)
        if not shape or not input._data.ndim
        else F.gather(input, index, dim)
    )


@operator()
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Elements along a dimension by index, input and indices broadcast against each other; or of the flattened input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([[3, 1], [2, 4]])
    >>> tp.take_along_dim(x, tp.tensor([[1], [0]]), dim=1)
    tensor([[1],
            [2]])
    """
    index = arg.tensor(indices, "take_along_dim", "indices", 2)
    if dim is None:
        flat = F.reshape(arg.tensor(input, "take_along_dim"), (input._data.size,))
        return gather(flat, 0, F.normal_index(F.reshape(index, (index._data.size,)), input._data.size, 0))
    ndim = arg.tensor(input, "take_along_dim")._data.ndim
    if index._data.ndim != ndim:
        raise RuntimeError("take_along_dim(): input and indices should have the same number of dimensions, but got "
                           f"{ndim} dimensions for input, and {index._data.ndim} dimensions for indices")  # fmt: skip
    dim = arg.dimension(dim, ndim, "take_along_dim", position=3)
    a, b = list(input._data.shape), list(index._data.shape)
    if ndim:
        a[dim] = b[dim] = 1
    try:
        common = list(np.broadcast_shapes(a, b))
    except ValueError:
        raise RuntimeError(
            f"take_along_dim(): input of shape {list(input.shape)} and indices of shape {list(index.shape)} cannot be "
            f"broadcast apart from dimension {dim}"
        ) from None
    for which, t in (("input", input), ("index", index)):
        if ndim:
            common[dim] = t._data.shape[dim]
        if tuple(common) != t._data.shape:
            t = F.expand(t, tuple(common))
        if which == "input":
            input = t
        else:
            index = t
    return gather(input, dim, F.normal_index(index, input._data.shape[dim] if ndim else 1, dim + ndim))


# ---- scatter


def scatter_store(out: Any, index: Any, source: Any, dim: int, accumulate: bool) -> None:
    """Write (or add) the elements of the source where ``gather`` would take them, in memory."""
    if not index.size:
        return
    if accumulate:
        add_along(out, index, source if source.ndim else np.broadcast_to(source, index.shape), dim)
    else:
        out[places(index, dim)] = source[tuple(map(slice, index.shape))] if source.ndim else source


def scatter_kernel(xp: Any, input: Any, index: Any, source: Any, *, dim: int, accumulate: bool) -> Any:
    out = input.copy()
    scatter_store(out, index, source, dim, accumulate)
    return out


STORES["scatter"] = scatter_store


def scatter_input_vjp(F: Any, g: Any, index: Any, dim: int, accumulate: bool) -> Any:
    return g if accumulate else F.scatter(g, index, zero_like(F, g), dim, False)


def scatter_source_vjp(F: Any, g: Any, index: Any, source_shape: Any, dim: int) -> Any:
    taken = F.gather(g, index, dim)
    if taken.shape == source_shape:
        return taken
    if source_shape == ():
        return F.sum_to(taken, ())
    return F.unslice(taken, source_shape, tuple(map(slice, taken.shape)))


def scatter_jvp(F: Any, tangents: Any, input: Any, index: Any, source: Any, dim: int, accumulate: bool) -> Any:
    t = F.zeros_like(input) if tangents[0] is None else tangents[0]
    if tangents[2] is None:
        return t if accumulate else F.scatter(t, index, zero_like(F, t), dim, False)
    return F.scatter(t, index, tangents[2], dim, accumulate)


def scatter_batch(p: Any, values: Any, dims: Any, *attrs: Any) -> Any:
    size = next(v._data.shape[0] for v, d in zip(values, dims) if d == 0)
    input, index, source = values
    if dims[2] == 0 and source._data.ndim == 1:  # a number for each example
        shape = index._data.shape if dims[1] is None else index._data.shape[1:]
        values = [input, index, F.expand(F.reshape(source, (size, *(1,) * len(shape))), (size, *shape))]
    spread = [v if d == 0 or v._data.ndim == 0 else F.expand(v, (size, *v._data.shape)) for v, d in zip(values, dims)]
    return F.scatter(*spread, *attrs)


primitive(
    "scatter", scatter_kernel, vjp={"input": scatter_input_vjp, "source": scatter_source_vjp}, jvp=scatter_jvp,
    batch=scatter_batch,
)  # fmt: skip
"""``scatter(input, index, source, dim, accumulate)``: the source has the shape of the index, or more, or none."""


def scattered(input: Tensor, dim: Any, index: Any, source: Tensor, accumulate: bool, name: str) -> Any:
    """The plan of a scatter; tensors of no dimensions are written to as vectors."""
    dim, index = along(input, dim, index, name, source)
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype, got {input.dtype} and {source.dtype}"
        )
    if not index._data.size and index._data.ndim != input._data.ndim:
        return F.clone(input)
    if not input._data.ndim:
        if source._data.ndim:
            source = F.reshape(source, (source._data.size,))
        return F.reshape(F.scatter(F.reshape(input, (1,)), *at_least_vectors(index), source, dim, accumulate), ())
    return "scatter", (*at_least_vectors(index), source), (dim, accumulate)


@changes()
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Any:
    """The input with elements written at positions along ``dim``: the reverse of :func:`gather`.

    ``out[i][index[i][j][k]][k] = src[i][j][k]`` for three dimensions and ``dim=1``.

    Parameters
    ----------
    input : Tensor
    dim : int
    index : Tensor
        int32 or int64, no larger than ``src``, and than the input except along ``dim``.
    src : Tensor or number
        Of the dtype of the input.
    value : number, optional
        Instead of ``src``.
    reduce : "add" or "multiply", optional
        Combine with what is there. Only ``src`` being a number, or no gradient, is allowed; see :func:`scatter_reduce`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 2).scatter(1, tp.tensor([[1], [0]]), 5.)
    tensor([[0., 5.],
            [5., 0.]])
    """
    if (src is None) == (value is None):
        raise TypeError("scatter(): exactly one of src and value must be given")
    source = src if isinstance(src, Tensor) else number(value if src is None else src, input, "scatter")
    if reduce is None:
        return scattered(input, dim, index, source, False, "scatter")
    if reduce == "add":
        return scattered(input, dim, index, source, True, "scatter")
    if reduce != "multiply":
        raise RuntimeError(f"scatter(): reduce argument must be either add or multiply, got {reduce}")
    index = index_of(index, "scatter")
    if not source._data.ndim and index._data.ndim:
        source = F.expand(source, index._data.shape)
    return reduced_along(input, dim, index, source, "prod", True, "scatter")


@changes()
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    """The input with the elements of ``src`` added at positions along ``dim``; repeated ones add up.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(3).scatter_add(0, tp.tensor([0, 0, 2]), tp.tensor([1., 2., 3.]))
    tensor([3., 0., 3.])
    """
    return scattered(input, dim, index, arg.tensor(src, "scatter_add", "src", 4), True, "scatter_add")


# ---- scatter with other reductions

REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "prod": (np.multiply, 1),
    "amax": (np.maximum, None),
    "amin": (np.minimum, None),
}


def identity_of(reduce: str, dtype: Any) -> Any:
    """What changes nothing under a reduction."""
    if reduce == "prod":
        return 1
    if dtype.kind in "fV":
        return -np.inf if reduce == "amax" else np.inf
    if dtype.kind == "b":
        return reduce == "amin"
    limits = np.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def scatter_reduce_kernel(
    xp: Any, input: Any, index: Any, source: Any, *, dim: int, reduce: str, include_self: bool
) -> Any:
    out = input.copy(order="C")
    where, source = places(index, dim), source[tuple(map(slice, index.shape))]
    if not include_self:
        out[where] = identity_of(reduce, out.dtype)
    REDUCTIONS[reduce][0].at(out, where, source)
    return out


def untouched(F: Any, g: Any, index: Any, dim: int) -> Any:
    """Ones where nothing was scattered to, zeros elsewhere."""
    return F.scatter(F.ones_like(g), index, zero_like(F, g), dim, False)


def fitted(F: Any, part: Any, shape: tuple[int, ...]) -> Any:
    """A cotangent of the elements that the index reaches, as one of the whole source."""
    return part if part.shape == shape else F.unslice(part, shape, tuple(map(slice, part.shape)))


def reached(F: Any, source: Any, index: Any) -> Any:
    return source if source.shape == index.shape else F.slice(source, tuple(map(slice, index.shape)))


def prod_vjp(F: Any, g: Any, input: Any, index: Any, source: Any, out: Any, dim: int, include_self: bool) -> Any:
    """Products of the others: zeros among them are left out of the quotient and multiplied in again.

    Up to three of them as the elementary symmetric polynomial of the zeros (by Newton's identities, from the sums of
    their powers), so that the result can be differentiated with respect to each.
    """
    zero = zero_like(F, g)
    factors = reached(F, source, index)
    is_zero = factors == 0
    kept = F.where(is_zero, 1, factors)
    own_zero = input == 0
    own = F.where(own_zero, 1, input)
    free = None
    if not include_self:
        free = untouched(F, g, index, dim)
        own, own_zero = F.where(free == 0, 1, own), F.where(free == 0, False, own_zero)
    rest = F.scatter_reduce(own, index, kept, dim, "prod", True)

    def summed(own_part: Any, part: Any) -> Any:
        return F.scatter(F.where(own_zero, own_part, zero), index, F.where(is_zero, part, zero), dim, True)

    def others(is_zero: Any, value: Any, kept: Any, count: Any, rest: Any, *sums: Any) -> Any:
        count = count - F.where(is_zero, F.ones_like(count), 0)
        value = F.where(is_zero, value, 0)
        first, second, third = sums[0] - value, sums[1] - value * value, sums[2] - value * value * value
        pair = (first * first - second) / 2
        triple = (first * first * first - 3 * first * second + 2 * third) / 6
        few = F.where(count == 1, first, F.where(count == 2, pair, F.where(count == 3, triple, 0)))
        return F.where(count == 0, 1, few) * rest / kept

    count = summed(F.ones_like(g), F.ones_like(factors))
    sums = [summed(input, factors)]
    sums += [summed(input**k, factors**k) for k in (2, 3)] if F is not R else sums * 2  # all of them are zero
    at = [F.gather(part, index, dim) for part in (count, rest, *sums)]
    g_source = F.gather(g, index, dim) * others(is_zero, factors, kept, *at)
    g_input = g * (others(own_zero, input, own, count, rest, *sums) if free is None else free)
    return g_input, None, fitted(F, g_source, source.shape)


def extremum_vjp(F: Any, g: Any, input: Any, index: Any, source: Any, out: Any, dim: int, include_self: bool) -> Any:
    """The cotangent, in equal shares, to those that are the extremum."""
    zero = zero_like(F, g)
    hits = F.where(reached(F, source, index) == F.gather(out, index, dim), 1, F.zeros_like(F.gather(g, index, dim)))
    own = F.where(input == out, F.ones_like(g), zero)
    if not include_self:
        own = own * untouched(F, g, index, dim)
    share = g / F.maximum(F.scatter(own, index, hits, dim, True), F.ones_like(g))
    return share * own, None, fitted(F, F.gather(share, index, dim) * hits, source.shape)


def scatter_reduce_vjp(
    F: Any, g: Any, input: Any, index: Any, source: Any, out: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    rule = prod_vjp if reduce == "prod" else extremum_vjp
    return rule(F, g, input, index, source, out, dim, include_self)


def scatter_reduce_jvp(
    F: Any, tangents: Any, input: Any, index: Any, source: Any, out: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    """The vjp's factors, which for each result are one number for each operand, summed over the operands."""
    ones = F.ones_like(out)
    to_input, _, to_source = scatter_reduce_vjp(F, ones, input, index, source, out, dim, reduce, include_self)
    total = F.zeros_like(out) if tangents[0] is None else tangents[0] * to_input
    if tangents[2] is not None:
        total = F.scatter(total, index, tangents[2] * to_source, dim, True)
    return total


primitive(
    "scatter_reduce", scatter_reduce_kernel, vjp=scatter_reduce_vjp, jvp=scatter_reduce_jvp, batch="same",
)  # fmt: skip


def reduced_along(
    input: Tensor, dim: Any, index: Any, source: Tensor, reduce: str, include_self: bool, name: str
) -> Any:
    """The plan of a scatter with a reduction."""
    if reduce == "sum" and include_self:
        return scattered(input, dim, index, source, True, name)
    checked_dim, index = along(input, dim, index, name, source)
    if reduce in ("amax", "amin") and input._data.dtype.kind == "c":
        raise NotImplementedError(f"{name}(): not implemented for {input.dtype}: complex numbers have no order")
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype, got {input.dtype} and {source.dtype}"
        )
    if not index._data.size:
        return F.clone(input)
    if not input._data.ndim or not index._data.ndim or not source._data.ndim:
        vectors = at_least_vectors(input, index, source)
        made = reduced_along(vectors[0], dim, vectors[1], vectors[2], reduce, include_self, name)
        whole = (
            made
            if isinstance(made, Tensor)
            else PRIMITIVES[made[0]].function(*at_least_vectors(input), *made[1], *made[2])
        )
        return F.reshape(whole, input._data.shape)
    if reduce in REDUCTIONS:
        return "scatter_reduce", (index, source), (checked_dim, reduce, include_self)
    start = input if include_self else F.scatter(input, index, constant(0, input, name), checked_dim, False)
    total = F.scatter(start, index, source, checked_dim, True)
    if reduce == "sum":
        return total
    ones = (
        wrap(np.ones(index._data.shape, input._data.dtype))
        if not input.is_meta
        else zeros_of(F, index._data.shape, input)
    )
    base = F.ones_like(input)
    counts = F.scatter(
        base if include_self else F.scatter(base, index, constant(0, input, name), checked_dim, False),
        index,
        ones,
        checked_dim,
        True,
    )
    if not include_self:
        counts = F.where(counts == 0, 1, counts)
    return F.div_floor(total, counts) if input._data.dtype.kind in "iu" else F.div(total, counts)


@changes()
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    """The elements of ``src`` that go to one position along ``dim`` combined with each other and the input.

    Parameters
    ----------
    input : Tensor
    dim : int
    index, src : Tensor
        As for :func:`scatter`.
    reduce : "sum", "prod", "mean", "amax" or "amin"
    include_self : bool
        Whether the input's own element takes part.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.ones(2).scatter_reduce(0, tp.tensor([0, 0, 1]), tp.tensor([2., 3., 4.]), "prod")
    tensor([6., 4.])
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"scatter_reduce(): reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    return reduced_along(
        input, dim, index, arg.tensor(src, "scatter_reduce", "src", 4), reduce, include_self, "scatter_reduce"
    )


@changes()
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    """The slices of ``source`` that go to one position along ``dim`` combined with each other and the input.

    Parameters
    ----------
    input : Tensor
    dim : int
    index : Tensor
        A vector of int32 or int64.
    source : Tensor
    reduce : "prod", "mean", "amax" or "amin"
    include_self : bool
        Whether the input's own slice takes part.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.ones(2).index_reduce(0, tp.tensor([0, 0, 1]), tp.tensor([2., 3., 4.]), "amax")
    tensor([3., 4.])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim, index, source = slices(input, dim, index, source, "index_reduce")
    spread = F.reshape(index, (index._data.size, *(1,) * (-1 - dim)))
    spread = F.expand(spread, source._data.shape)
    return reduced_along(input, dim, spread, source, reduce, include_self, "index_reduce")


# ---- by flat position, and by several indices


@operator(out="apart", documented={"index": "indices"})
def take(input: Tensor, index: Tensor = MISSING, indices: Tensor | None = None) -> Tensor:
    """The elements at flat positions; negative ones count from the end.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.take(tp.tensor([[1, 2], [3, 4]]), tp.tensor([0, -1]))
    tensor([1, 4])
    """
    if indices is not None:
        index = either("take", "index", index, "indices", indices)
    size = arg.tensor(input, "take")._data.size
    if arg.tensor(index, "take", "index", 2)._data.dtype != INT64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype}")
    if not size and index._data.size:
        raise IndexError("take(): tried to take from an empty tensor")
    return F.index(F.reshape(input, (size,)), in_bounds(index, size, 0, "take", negative=True), -1)


@changes(out=False)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    """The input with elements written (or added) at flat positions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 2).put(tp.tensor([0, -1]), tp.tensor([1., 2.]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    shape, size = input._data.shape, input._data.size
    if arg.tensor(index, "put", "index", 2)._data.dtype != INT64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype}")
    if arg.tensor(source, "put", "source", 3)._data.dtype != input._data.dtype:
        raise RuntimeError(
            f"put_(): Expected self and source to have the same dtype, but got self.dtype = {input.dtype} and "
            f"source.dtype = {source.dtype}"
        )
    if source._data.size != index._data.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source._data.size}, index.numel() = {index._data.size}"
        )
    if not size and index._data.size:
        raise IndexError("put_(): cannot put elements into an empty tensor")
    index = in_bounds(index, size, 0, "put", negative=True)
    source = F.reshape(source, index._data.shape)
    if not shape:
        return F.reshape(F.put(F.reshape(input, (1,)), index, source, -1, 1, accumulate), ())
    return "put", (F.normal_index(index, size, 0), source), (-len(shape), len(shape), accumulate)


@operator(out=False)
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """The input with ``values`` written (or added, repeated ones too) at ``input[indices]``.

    Parameters
    ----------
    input : Tensor
    indices : tuple of Tensor
        Integer tensors and masks, one for each of the first dimensions; they broadcast.
    values : Tensor
        Of the dtype of the input; broadcast to the shape of ``input[indices]``.
    accumulate : bool

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(3).index_put((tp.tensor([0, 0]),), tp.tensor([1., 2.]), accumulate=True)
    tensor([3., 0., 0.])
    """
    return index_put_(F.clone(arg.tensor(input, "index_put")), indices, values, accumulate)


@operator(out=False)
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """In-place form of :func:`index_put`: changes ``input`` and returns it."""
    name = "index_put_"
    check_writable(arg.tensor(input, name), name)
    indices = arg.tensors(indices, name, "indices", 2)
    if arg.tensor(values, name, "values", 3)._data.dtype != input._data.dtype:
        raise RuntimeError("Index put requires the source and destination dtypes match, got "
                           f"{input.dtype} for the destination and {values.dtype} for the source.")  # fmt: skip
    if input.is_meta:  # where a mask is true, nobody knows
        return input
    _, advanced = parse(tuple(at_least_vectors(*indices)), input._data.shape)
    view, index, dim, count = merge(input, advanced)
    have = view._data.shape
    axis = len(have) + dim
    result = (*have[:axis], *index._data.shape, *have[axis + count :])
    shape = values._data.shape
    if len(shape) > len(result) or any(n not in (1, m) for n, m in zip(reversed(shape), reversed(result))):
        raise RuntimeError(
            f"{name}(): shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing result of "
            f"shape {list(result)}"
        )
    update(
        view,
        PRIMITIVES["put"],
        (checked_index(index, have, dim, count), values),
        (dim, count, accumulate),
        put_store,
        name,
    )
    return input


@operator(method=False, out=False)
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates, one tensor for each dimension, of flat positions in a tensor of the given shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.unravel_index(tp.tensor([1, 5]), (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """
    if arg.tensor(indices, "unravel_index", "indices")._data.dtype.kind not in "iu":
        raise TypeError(f"unravel_index(): expected 'indices' to be integer dtype, but got {indices.dtype}")
    extents = arg.integers(tuple(shape) if isinstance(shape, Tensor) else shape, "unravel_index", "shape", 2)
    if any(n < 0 for n in extents):
        raise ValueError(f"unravel_index(): 'shape' cannot have negative values, but got {extents}")
    rest, out = indices if indices._data.dtype == INT64 else F.cast(indices, INT64), []
    for n in reversed(extents):
        out.append(F.remainder(rest, n))
        rest = F.div_floor(rest, n)
    return tuple(reversed(out))
