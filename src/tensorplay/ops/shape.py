"""Operators on shapes: views, and those that arrange elements anew.

Everything here moves elements and computes nothing, so each primitive is linear and its vjp moves them back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.promotion import promote_types
from ..core.tensor import Size, Tensor
from . import arguments as arg

# ---- reshaping


def inferred(shape: tuple[int, ...], numel: int, name: str) -> tuple[int, ...]:
    """The shape with its one -1 replaced by the extent that fits.

    Raises
    ------
    RuntimeError
        If the elements do not fit.
    """
    known, hole = 1, -1
    for i, n in enumerate(shape):
        if n >= 0:
            known *= n
        elif n != -1:
            raise RuntimeError(f"{name}(): invalid shape dimension {n} at index {i} of shape {list(shape)}")
        elif hole >= 0:
            raise RuntimeError(f"{name}(): only one dimension can be inferred, got shape {list(shape)}")
        else:
            hole = i
    if hole >= 0:
        if known == 0 and numel == 0:
            raise RuntimeError(f"{name}(): cannot reshape tensor of 0 elements into shape {list(shape)} because the "
                               "unspecified dimension size -1 can be any value and is ambiguous")  # fmt: skip
        if known and numel % known == 0:
            return (*shape[:hole], numel // known, *shape[hole + 1 :])
    elif known == numel:
        return shape
    raise RuntimeError(f"{name}(): shape '{list(shape)}' is invalid for input of size {numel}")


@operator(out=False)
def reshape(input: Tensor, shape: Any, *more: int) -> Tensor:
    """The elements in row-major order under another shape: a view where the strides allow it, else a copy.

    Parameters
    ----------
    input : Tensor
    shape : int...
        The new extents, one by one or as a tuple; one of them may be -1 and is inferred.

    Raises
    ------
    RuntimeError
        If the number of elements differs.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    data = arg.tensor(input, "reshape")._data
    return F.reshape(input, inferred(arg.sizes(shape, more, "reshape", "shape"), data.size, "reshape"))


@operator(out=False, function=False)
def view(input: Tensor, dtype: Any, *more: int) -> Tensor:
    """The same memory under another shape, or read as another dtype.

    Parameters
    ----------
    input : Tensor
    dtype : int... or dtype
        The new extents, as for :func:`reshape`; or a dtype, where the last dimension grows or shrinks with the size of
        its elements.

    Raises
    ------
    RuntimeError
        If the strides do not allow the shape, or the last dimension the dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.zeros(4)
    >>> x.view(2, 2)[0] = 1.
    >>> x
    tensor([1., 1., 0., 0.])
    """
    data = input._data
    if isinstance(dtype, dtypes.dtype):
        raise NotImplementedError
    out = F.reshape(input, inferred(arg.sizes(dtype, more, "view"), data.size, "view"))
    if not out._is_view():
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans "
                           "across two contiguous subspaces). Use .reshape(...) instead.")  # fmt: skip
    return out


# ---- the order of dimensions


@operator(out=False)
def permute(input: Tensor, dims: Any, *more: int) -> Tensor:
    """A view with the dimensions in the given order.

    Raises
    ------
    RuntimeError
        If ``dims`` does not name each dimension once.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3, 5).permute(2, 0, 1).shape
    tensorplay.Size([5, 2, 3])
    """
    ndim = arg.tensor(input, "permute")._data.ndim
    order = arg.sizes(dims, more, "permute", "dims")
    if len(order) != ndim:
        raise RuntimeError(f"permute(): number of dimensions in the tensor input does not match the length of dims: "
                           f"input.dim() = {ndim} is not equal to len(dims) = {len(order)}")  # fmt: skip
    order = tuple(arg.dimension(d, ndim, "permute") for d in order)
    if len(set(order)) < ndim:
        raise RuntimeError(f"permute(): duplicate dims are not allowed, got {list(dims) if not more else [dims, *more]}")
    return F.permute(input, order)


@operator(out=False, aliases=("swapaxes", "swapdims"))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions swapped.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3, 5).transpose(0, 2).shape
    tensorplay.Size([5, 3, 2])
    """
    ndim = arg.tensor(input, "transpose")._data.ndim
    dim0 = arg.dimension(dim0, ndim, "transpose", "dim0", 2)
    dim1 = arg.dimension(dim1, ndim, "transpose", "dim1", 3)
    order = list(range(-ndim, 0))
    if ndim:
        order[dim0], order[dim1] = dim1, dim0
    return F.permute(input, tuple(order))


@operator(out=False)
def t(input: Tensor) -> Tensor:
    """A view of a matrix with its two dimensions swapped; of fewer dimensions, as it is.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).t().shape
    tensorplay.Size([3, 2])
    """
    ndim = arg.tensor(input, "t")._data.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return F.permute(input, tuple(range(-1, -ndim - 1, -1)))


# ---- dimensions of extent 1


@operator(out=False)
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """A view without the dimensions of extent 1: without all of them, or without those among ``dim``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(1, 3, 1).squeeze().shape, tp.zeros(1, 3, 1).squeeze(0).shape
    (tensorplay.Size([3]), tensorplay.Size([3, 1]))
    """
    shape = arg.tensor(input, "squeeze")._data.shape
    ndim = len(shape)
    chosen = range(-ndim, 0) if dim is None else arg.dimensions(dim, ndim, "squeeze")
    index = tuple(0 if n == 1 and i - ndim in chosen else slice(None) for i, n in enumerate(shape))
    return F.slice(input, index)


@operator(out=False)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a new dimension of extent 1 at ``dim``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).unsqueeze(-1).shape
    tensorplay.Size([2, 3, 1])
    """
    ndim = arg.tensor(input, "unsqueeze")._data.ndim
    dim = arg.dimension(dim, ndim + 1, "unsqueeze")
    return F.slice(input, (slice(None),) * (dim + ndim + 1) + (None,) + (slice(None),) * (-1 - dim))


# ---- repeating without copying


def expanded_shape(input: Tensor, size: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that ``expand`` gives, -1 filled in."""
    shape = input._data.shape
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to the number of "
                           f"dimensions in the tensor ({len(shape)})")  # fmt: skip
    out = []
    for i, want in enumerate(size):
        have = shape[i - lead] if i >= lead else 1
        if want == -1 and i >= lead:
            want = have
        elif want < 0:
            raise RuntimeError(f"expand(): The expanded size of the tensor ({want}) isn't allowed in a leading, non-existing "
                               f"dimension {i}")  # fmt: skip
        elif want != have != 1:
            raise RuntimeError(f"expand(): The expanded size of the tensor ({want}) must match the existing size ({have}) at "
                               f"non-singleton dimension {i}. Target sizes: {list(size)}. Tensor sizes: {list(shape)}")  # fmt: skip
        out.append(want)
    return tuple(out)


@operator(out=False, function=False)
def expand(input: Tensor, size: Any, *more: int, implicit: bool = False) -> Tensor:
    """A view in which dimensions of extent 1 are repeated, without copying; -1 keeps an extent.

    Raises
    ------
    RuntimeError
        If another dimension would change.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1.], [2.]]).expand(-1, 3)
    tensor([[1., 1., 1.],
            [2., 2., 2.]])
    """
    return F.expand(input, expanded_shape(input, arg.sizes(size, more, "expand")))


# ---- joining


def of_common_dtype(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The tensors cast to the dtype that all of them promote to."""
    first = tensors[0]._data.dtype
    if all(t._data.dtype is first for t in tensors):
        return tensors
    common = tensors[0].dtype
    for t in tensors[1:]:
        common = promote_types(common, t.dtype)
    return tuple(t if t._data.dtype == common.numpy else F.cast(t, common.numpy) for t in tensors)


@operator(aliases=("concat", "concatenate"), method=False)
def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors joined along a dimension that they have; all other extents agree.

    A tensor of shape (0,) is left aside whatever the others' shape. Dtypes are promoted.

    Raises
    ------
    RuntimeError
        If extents or numbers of dimensions disagree.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cat([tp.zeros(2), tp.ones(1)])
    tensor([0., 0., 1.])
    """
    tensors = arg.tensors(tensors, "cat")
    if not tensors:
        raise ValueError("cat(): expected a non-empty list of Tensors")
    tensors = of_common_dtype(tensors)
    kept = tensors if all(t._data.ndim > 1 for t in tensors) else tuple(t for t in tensors if t._data.shape != (0,))
    if not kept:
        arg.dimension(dim, 1, "cat")
        return F.cat(*tensors, dim=-1)
    shape = kept[0]._data.shape
    ndim = len(shape)
    dim = arg.dimension(dim, ndim, "cat")
    before, behind = shape[:dim], shape[ndim + dim + 1 :]
    for i, other in enumerate(kept):
        have = other._data.shape
        if not have:
            raise RuntimeError(f"cat(): zero-dimensional tensor (at position {i}) cannot be concatenated")
        if len(have) != ndim:
            raise RuntimeError(f"cat(): Tensors must have same number of dimensions: got {ndim} and {len(have)}")
        if have[:dim] != before or have[ndim + dim + 1 :] != behind:
            raise RuntimeError(f"cat(): Sizes of tensors must match except in dimension {dim + ndim}. Expected shape "
                               f"{list(shape)} but got {list(have)} for tensor number {i} in the list.")  # fmt: skip
    return F.cat(*kept, dim=dim)


@operator(method=False)
def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors of one shape joined along a new dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.stack([tp.zeros(2), tp.ones(2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    tensors = arg.tensors(tensors, "stack")
    if not tensors:
        raise RuntimeError("stack(): expected a non-empty list of Tensors")
    tensors = of_common_dtype(tensors)
    shape = tensors[0]._data.shape
    for i, other in enumerate(tensors):
        if other._data.shape != shape:
            raise RuntimeError(f"stack(): expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                               f"{list(other._data.shape)} at entry {i}")  # fmt: skip
    return F.stack(*tensors, dim=arg.dimension(dim, len(shape) + 1, "stack"))


# ---- copies

clone_ = primitive(
    "clone", lambda xp, input: input.copy() if input.flags.c_contiguous else copy_in_order(input),
    vjp={"input": lambda F, g: g}, jvp="linear", batch="same",
)  # fmt: skip


def copy_in_order(array: Any) -> Any:
    """A copy in the memory order of a dense array, else in row-major order."""
    strides = array.strides
    dense = 0 not in strides and min(strides, default=1) > 0
    if dense:
        order = sorted(range(array.ndim), key=lambda i: (strides[i], array.shape[i]))
        expected = array.itemsize
        for i in order:
            if array.shape[i] != 1:
                dense = dense and strides[i] == expected
                expected *= array.shape[i]
    return array.copy(order="K" if dense else "C")


@operator(out=False)
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy of the elements in memory of its own; gradients pass through.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.zeros(2)
    >>> y = x.clone()
    >>> x.fill_(1.), y
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    return F.clone(arg.tensor(input, "clone"))
