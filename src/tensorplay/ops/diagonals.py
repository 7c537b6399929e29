"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core import layout as layouts
from ..core.carrier import Meta
from ..core.device import is_meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor, wrap
from . import arguments as arg


def diagonal_kernel(xp: Any, input: Any, *, offset: int, dim1: int, dim2: int) -> Any:
    out = input.diagonal(offset, dim1, dim2)
    if input.flags.writeable:
        out.flags.writeable = True
    return out


def diagonal_vjp(F: Any, g: Any, input_shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> Any:
    return F.undiagonal(g, input_shape, offset, dim1, dim2)


primitive("diagonal", diagonal_kernel, vjp={"input": diagonal_vjp}, jvp="linear", batch="same", view=True)
"""The dimensions count from the end."""


def undiagonal_kernel(xp: Any, input: Any, *, shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> Any:
    out = np.zeros(shape, input.dtype)
    diagonal_kernel(np, out, offset=offset, dim1=dim1, dim2=dim2)[...] = input
    return out


def undiagonal_vjp(F: Any, g: Any, offset: int, dim1: int, dim2: int) -> Any:
    return F.diagonal(g, offset, dim1, dim2)


def undiagonal_batch(p: Any, values: Any, dims: Any, shape: tuple[int, ...], *attrs: Any) -> Any:
    return F.undiagonal(values[0], (values[0]._data.shape[0], *shape), *attrs)


primitive("undiagonal", undiagonal_kernel, vjp={"input": undiagonal_vjp}, jvp="linear", batch=undiagonal_batch,
          node_name="DiagEmbedBackward0")  # fmt: skip


def plane(ndim: int, dim1: Any, dim2: Any, name: str) -> tuple[int, int]:
    """Two different dimensions."""
    first = arg.dimension(dim1, ndim, name, "dim1", 3)
    second = arg.dimension(dim2, ndim, name, "dim2", 4)
    if first == second:
        raise RuntimeError(f"{name}(): diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


@operator(out=False)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of the diagonal of a plane; it becomes the last dimension.

    Parameters
    ----------
    input : Tensor
    offset : int
        Diagonals above (positive) or below the main one.
    dim1, dim2 : int
        The plane.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]]).diagonal()
    tensor([1, 4])
    """
    ndim = arg.tensor(input, "diagonal")._data.ndim
    if ndim < 2:
        arg.dimension(dim1, ndim, "diagonal", "dim1", 3)
        arg.dimension(dim2, ndim, "diagonal", "dim2", 4)
        raise RuntimeError("diagonal(): diagonal dimensions cannot be identical, the tensor has less than two")
    dim1, dim2 = plane(ndim, dim1, dim2, "diagonal")
    return F.diagonal(input, arg.integer(offset, "diagonal", "offset", 2), dim1, dim2)


@operator(out=False)
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Square planes with the last dimension of the input on a diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.diag_embed(tp.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    shape = arg.tensor(input, "diag_embed")._data.shape
    offset = arg.integer(offset, "diag_embed", "offset", 2)
    first, second = plane(len(shape) + 1, dim1, dim2, "diag_embed")
    if not shape:
        input, shape = F.reshape(input, (1,)), (1,)
    extent = shape[-1] + abs(offset)
    rest = iter(shape[:-1])
    whole = tuple(extent if d in (first, second) else next(rest) for d in range(-len(shape) - 1, 0))
    return F.undiagonal(input, whole, offset, first, second)


@operator()
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A square matrix with the vector on a diagonal; or a copy of the diagonal of a matrix.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.diag(tp.tensor([1, 2])), tp.diag(tp.tensor([[1, 2], [3, 4]]))
    (tensor([[1, 0],
            [0, 2]]), tensor([1, 4]))
    """
    ndim = arg.tensor(input, "diag")._data.ndim
    if ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    if ndim == 1:
        return diag_embed(input, diagonal)
    return F.clone(F.diagonal(input, arg.integer(diagonal, "diag", "diagonal", 2), -2, -1), "C")


@operator(out=False)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A square matrix with all elements of the input on a diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.diagflat(tp.tensor([1, 2]), 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    return diag_embed(F.reshape(arg.tensor(input, "diagflat"), (input._data.size,)), offset)


# ---- triangles


def triangle(name: str) -> None:
    """``tril`` or ``triu``: a mask, so linear and its own transpose."""
    keep = getattr(np, name)
    primitive(
        name, lambda xp, input, *, diagonal: keep(input, diagonal),
        vjp={"input": lambda F, g, diagonal: getattr(F, name)(g, diagonal)}, jvp="linear", batch="same",
    )  # fmt: skip


triangle("tril")
triangle("triu")


def matrix(input: Tensor, diagonal: Any, name: str) -> int:
    """The number of the diagonal, of a tensor with matrices."""
    if arg.tensor(input, name)._data.ndim < 2:
        raise RuntimeError(f"{name}(): input tensor must have at least 2 dimensions, got {input._data.ndim}")
    return arg.integer(diagonal, name, "diagonal", 2)


@operator(inplace=True)
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrices with zeros above a diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tril(tp.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return F.tril(input, matrix(input, diagonal, "tril"))


@operator(inplace=True)
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrices with zeros below a diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.triu(tp.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return F.triu(input, matrix(input, diagonal, "triu"))


def triangle_indices(
    name: str, keep: Any, row: Any, col: Any, offset: Any, dtype: Any, device: Any, layout: Any
) -> Tensor:
    layouts.check_strided(layout, name)
    rows, columns = arg.integer(row, name, "row", 1), arg.integer(col, name, "col", 2)
    if rows < 0 or columns < 0:
        raise RuntimeError(f"{name}(): row and col must be non-negative, got {rows} and {columns}")
    target = np.dtype(np.int64) if dtype is None else dtypes.dtype_argument(dtype, name, "dtype", 4).numpy
    found = np.stack(keep(rows, arg.integer(offset, name, "offset", 3), columns)).astype(target)
    return wrap(Meta(found.shape, target) if is_meta(device) else found)


@operator(method=False, out=False)
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None
) -> Tensor:
    """Row and column numbers of the entries on and below a diagonal, as a tensor of two rows.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return triangle_indices("tril_indices", np.tril_indices, row, col, offset, dtype, device, layout)


@operator(method=False, out=False)
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None
) -> Tensor:
    """Row and column numbers of the entries on and above a diagonal, as a tensor of two rows.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return triangle_indices("triu_indices", np.triu_indices, row, col, offset, dtype, device, layout)
