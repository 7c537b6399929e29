"""Parts along a dimension as views, and tensors with such a part replaced."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.inplace import strides_overlap
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import PRIMITIVES
from ..core.tensor import Tensor
from . import arguments as arg
from .diagonals import diagonal
from .strides import as_strided, positions


@operator(out=False)
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """A view of one entry along a dimension, which is gone.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]]).select(1, 0)
    tensor([1, 3])
    """
    return F.select(input, select_index(arg.tensor(input, "select")._data.shape, dim, index, "select"))


def select_index(shape: tuple[int, ...], dim: Any, index: Any, name: str) -> tuple[Any, ...]:
    if not shape:
        raise IndexError(f"{name}(): cannot be applied to a 0-dim tensor.")
    dim = arg.dimension(dim, len(shape), name)
    i = arg.integer(index, name, "index", 3)
    if not -shape[dim] <= i < shape[dim]:
        raise IndexError(
            f"{name}(): index {i} out of range for tensor of size {list(shape)} at dimension {dim + len(shape)}"
        )
    return (*(slice(None),) * (len(shape) + dim), i, *(slice(None),) * (-1 - dim))


@operator(out=False, documented={"dim": "dimension"})
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A view of ``length`` entries along a dimension, from ``start`` on.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    shape = arg.tensor(input, "narrow")._data.shape
    if not shape:
        raise RuntimeError("narrow(): cannot be applied to a 0-dim tensor.")
    dim = arg.dimension(dim, len(shape), "narrow")
    if isinstance(start, Tensor) and (start._data.ndim or start._data.dtype.kind not in "iu"):
        raise RuntimeError("narrow(): start must be an 0-dim integral Tensor.")
    begin, count, extent = (
        arg.integer(start, "narrow", "start", 3),
        arg.integer(length, "narrow", "length", 4),
        shape[dim],
    )
    if count < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {count}")
    if not -extent <= begin <= extent:
        raise IndexError(
            f"narrow(): start out of range (expected to be in range of [{-extent}, {extent}], but got {begin})"
        )
    begin += extent if begin < 0 else 0
    if begin + count > extent:
        raise RuntimeError(f"narrow(): start ({begin}) + length ({count}) exceeds dimension size ({extent}).")
    lead = (slice(None),) * (len(shape) + dim)
    return F.slice(input, (*lead, slice(begin, begin + count), *(slice(None),) * (-1 - dim)))


@operator()
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A copy of ``length`` entries along a dimension, from ``start`` on.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.narrow_copy(tp.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    ndim = arg.tensor(input, "narrow_copy")._data.ndim
    if arg.integer(dim, "narrow_copy", "dim", 2) >= ndim > 0:
        raise RuntimeError(f"narrow_copy(): expected dim < {ndim}, the number of dimensions, but got {dim}")
    return F.clone(narrow(input, dim, start, length), "C")


def replaced(input: Tensor, src: Any, view: str, attrs: tuple[Any, ...], shape: tuple[int, ...], name: str) -> Tensor:
    """The input with the view that a primitive takes replaced by ``src``."""
    if arg.tensor(src, name, "src", 2)._data.shape != shape:
        raise RuntimeError(f"{name}(): expected src to have a size equal to the slice of self. src size = "
                           f"{list(src.shape)}, slice size = {list(shape)}")  # fmt: skip
    if src._data.dtype != input._data.dtype:
        src = F.cast(src, input._data.dtype)
    return F.put_view(input, src, ((PRIMITIVES[view], attrs, None),))


@operator(out=False)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of the input with ``src`` as the entry ``index`` along a dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.select_scatter(tp.zeros(2, 2), tp.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    shape = arg.tensor(input, "select_scatter")._data.shape
    place = select_index(shape, dim, index, "select_scatter")
    at = next(i for i, p in enumerate(place) if type(p) is int)
    return replaced(input, src, "slice", (place,), (*shape[:at], *shape[at + 1 :]), "select_scatter")


@operator()
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of the input with ``src`` in place of a slice along a dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.slice_scatter(tp.zeros(4), tp.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    shape = arg.tensor(input, "slice_scatter")._data.shape
    if not shape:
        raise RuntimeError("slice_scatter(): cannot be applied to a 0-dim tensor.")
    dim = arg.dimension(dim, len(shape), "slice_scatter", position=3)
    if step <= 0:
        raise RuntimeError(f"slice_scatter(): slice step must be positive, got {step}")
    chosen = slice(*slice(start, end, step).indices(shape[dim]))
    lead = len(shape) + dim
    place = (*(slice(None),) * lead, chosen, *(slice(None),) * (-1 - dim))
    size = len(range(chosen.start, chosen.stop, chosen.step))
    return replaced(input, src, "slice", (place,), (*shape[:lead], size, *shape[lead + 1 :]), "slice_scatter")


@operator(out=False)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of the input with ``src`` as a diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.diagonal_scatter(tp.zeros(2, 2), tp.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    view = diagonal(input.detach(), offset, dim1, dim2)
    _, attrs, _ = view._rare.view.steps[-1]
    return replaced(input, src, "diagonal", attrs, view._data.shape, "diagonal_scatter")


@operator(out=False)
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of the input with ``src`` as the elements that ``as_strided`` takes.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.as_strided_scatter(tp.zeros(4), tp.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    name = "as_strided_scatter"
    shape, strides, start = arg.tensor(input, name)._data.shape, input._strides(), input.storage_offset()
    if strides_overlap(strides, shape):  # what shares memory has none of its own to write to
        input = F.clone(input, "C")
        strides, start = input._strides(), 0
    as_strided(input.detach(), size, stride, storage_offset)  # checks the geometry
    size, stride = arg.integers(size, name, "size", 3), arg.integers(stride, name, "stride", 4)
    if arg.tensor(src, name, "src", 2)._data.shape != size:
        raise RuntimeError(f"{name}(): expected src to have a size equal to the slice of self. src size = "
                           f"{list(src.shape)}, slice size = {list(size)}")  # fmt: skip
    if strides_overlap(stride, size):
        raise RuntimeError(
            f"{name}(): unsupported operation: more than one element of the written-to tensor refers to a single "
            f"memory location, as size {list(size)} has stride {list(stride)}"
        )
    offset = 0 if storage_offset is None else storage_offset - start
    where = positions((tuple(shape), strides), size, stride, offset)
    places, last = np.unique(where[::-1], return_index=True)  # where several write to one place, the last one stays
    last = (where.size - 1 - last)[places >= 0]
    source = F.take_columns(F.reshape(F.cast(src, input._data.dtype), (where.size,)), last)
    return F.reshape(F.put_columns(F.reshape(input, (math.prod(shape),)), source, places[places >= 0]), tuple(shape))
