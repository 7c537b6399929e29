"""Operators on shapes: views, and those that arrange elements anew.

Everything here moves elements and computes nothing, so each primitive is linear and its vjp moves them back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.callpath import MISSING, either
from ..core.carrier import Meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import PRIMITIVES, primitive
from ..core.tensor import Size, Tensor, wrap
from . import arguments as arg

PERMUTE = PRIMITIVES["permute"]

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


@operator(out=False, method=False)
def reshape(input: Tensor, shape: Any) -> Tensor:
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
    return reshape_method(input, shape)


@operator(name="reshape", out=False, function=False)
def reshape_method(input: Tensor, shape: Any, *more: int) -> Tensor:
    """:func:`reshape`, whose shape may also be given one by one."""
    data = arg.tensor(input, "reshape")._data
    return F.reshape(input, inferred(arg.sizes(shape, more, "reshape", "shape"), data.size, "reshape"))


@operator(out=False, function=False)
def view(input: Tensor, dtype: Any = None, *more: int, size: Any = None) -> Tensor:
    """The same memory under another shape, or read as another dtype.

    Parameters
    ----------
    input : Tensor
    dtype : int... or dtype
        The new extents, as for :func:`reshape`; or a dtype, where the last dimension grows or shrinks with the size of
        its elements.
    size : tuple of ints, optional
        The new extents, by name.

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
    if size is not None and dtype is None:
        dtype = size
    elif size is not None or dtype is None:
        raise TypeError("view(): expected one of 'size' and 'dtype'")
    if isinstance(dtype, dtypes.dtype):
        return view_as_dtype(input, dtype)
    out = F.reshape(input, inferred(arg.sizes(dtype, more, "view"), data.size, "view"))
    if not out._is_view():
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return out


def view_dtype_kernel(xp: Any, input: Any, *, dtype: Any) -> Any:
    return input.view(dtype)


primitive("view_dtype", view_dtype_kernel, batch="same", view=True)


def view_as_dtype(input: Tensor, dtype: dtypes.dtype) -> Tensor:
    """The same bytes read as another dtype; not differentiable."""
    data, target = input._data, dtype.numpy
    if data.dtype == target:
        return F.reshape(input, data.shape)
    have, want = data.dtype.itemsize, target.itemsize
    if have != want:
        if not data.ndim:
            raise RuntimeError(
                f"view(): self.dim() cannot be 0 to view {input.dtype} as {dtype} (different element sizes)"
            )
        if have < want and data.shape[-1] * have % want:
            raise RuntimeError(
                f"view(): self.size(-1) must be divisible by {want // have} to view {input.dtype} as {dtype} "
                f"(different element sizes), but got {data.shape[-1]}"
            )
        strides = input._strides()
        if strides[-1] != 1 or have < want and any(s % (want // have) for s in strides[:-1]):
            raise RuntimeError(
                "view(): self.stride(-1) must be 1, and the other strides multiples of the new element size, to view "
                f"{input.dtype} as {dtype}, but got strides {list(strides)}"
            )
    return F.view_dtype(input, target)


@operator(out=False, function=False)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of another tensor."""
    return view(input, arg.tensor(other, "view_as", "other", 2)._data.shape)


@operator(out=False, function=False)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of another tensor."""
    return reshape(input, arg.tensor(other, "reshape_as", "other", 2)._data.shape)


@operator(out=False)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from ``start_dim`` to ``end_dim`` into one; a 0-dim tensor gets one.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3, 5).flatten(1).shape
    tensorplay.Size([2, 15])
    """
    shape = arg.tensor(input, "flatten")._data.shape
    ndim = len(shape)
    start = arg.dimension(start_dim, ndim, "flatten", "start_dim", 2)
    end = arg.dimension(end_dim, ndim, "flatten", "end_dim", 3)
    if start > end:
        raise RuntimeError(f"flatten(): start_dim cannot come after end_dim, got {start_dim} and {end_dim}")
    if start == end:
        return input if ndim else F.reshape(input, (1,))
    merged = 1
    for n in shape[start : end + 1 or None]:
        merged *= n
    return F.reshape(input, (*shape[:start], merged, *shape[ndim + end + 1 :]))


@operator(out=False)
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Split one dimension into several; one of ``sizes`` may be -1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 15).unflatten(1, (3, -1)).shape
    tensorplay.Size([2, 3, 5])
    """
    shape = arg.tensor(input, "unflatten")._data.shape
    dim = arg.dimension(dim, len(shape), "unflatten")
    sizes = arg.integers(sizes, "unflatten", "sizes", 3)
    if not sizes:
        raise RuntimeError("unflatten(): sizes must be non-empty")
    if not shape:
        raise RuntimeError("unflatten(): the tensor has no dimensions")
    try:
        inner = inferred(sizes, shape[dim], "unflatten")
    except RuntimeError:
        raise RuntimeError(
            f"unflatten(): Provided sizes {list(sizes)} don't multiply up to the size of dim {dim % len(shape)} "
            f"({shape[dim]}) in the input tensor"
        ) from None
    return view(input, (*shape[:dim], *inner, *shape[len(shape) + dim + 1 :]))


@operator(out=False)
def ravel(input: Tensor) -> Tensor:
    """The elements in one dimension: a view where the tensor is contiguous, else a copy.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.ravel(tp.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    out = F.reshape(arg.tensor(input, "ravel"), (input._data.size,))
    return out if out.is_contiguous() else F.clone(out, "C")


# ---- the order of dimensions


@operator(out=False, method=False)
def permute(input: Tensor, dims: Any) -> Tensor:
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
    return permute_method(input, dims)


@operator(name="permute", out=False, function=False)
def permute_method(input: Tensor, dims: Any, *more: int) -> Tensor:
    """:func:`permute`, whose dims may also be given one by one."""
    ndim = arg.tensor(input, "permute")._data.ndim
    order = arg.sizes(dims, more, "permute", "dims")
    if len(order) != ndim:
        raise RuntimeError(f"permute(): number of dimensions in the tensor input does not match the length of dims: "
                           f"input.dim() = {ndim} is not equal to len(dims) = {len(order)}")  # fmt: skip
    order = tuple(arg.dimension(d, ndim, "permute") for d in order)
    if len(set(order)) < ndim:
        raise RuntimeError(
            f"permute(): duplicate dims are not allowed, got {list(dims) if not more else [dims, *more]}"
        )
    return F.permute(input, order)


@operator(out=False, aliases=("swapdims",))
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
        if type(input._data) is np.ndarray:
            return PERMUTE.viewed(input, input._data.swapaxes(dim0, dim1), tuple(order))
    return F.permute(input, tuple(order))


@operator(out=False)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """A view with two dimensions swapped; :func:`transpose` under NumPy's name.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3, 5).swapaxes(0, 2).shape
    tensorplay.Size([5, 3, 2])
    """
    return transpose(input, axis0, axis1)


@operator(out=False)
def t(input: Tensor) -> Tensor:
    """A view of a matrix with its two dimensions swapped; of fewer dimensions, as it is.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).t().shape
    tensorplay.Size([3, 2])
    """
    data = arg.tensor(input, "t")._data
    ndim = data.ndim
    if ndim == 2 and type(data) is np.ndarray:
        return PERMUTE.viewed(input, data.T, (-1, -2))
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return F.permute(input, tuple(range(-1, -ndim - 1, -1)))


def matrix_transpose(input: Tensor) -> Tensor:
    """A view with the last two dimensions swapped; a 0-dim tensor stays as it is."""
    ndim = input._data.ndim
    if ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return F.permute(input, (*range(-ndim, -2), -1, -2) if ndim else ())


def conjugate_transpose(input: Tensor) -> Tensor:
    """A view with the last two dimensions swapped, conjugated if complex; a 0-dim tensor stays as it is."""
    if input._data.ndim == 1:
        raise RuntimeError("tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.")
    out = matrix_transpose(input)
    return F.conj(out) if out._data.dtype.kind == "c" else out


def hermitian(input: Tensor) -> Tensor:
    """The conjugate transpose of a matrix."""
    if input._data.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {input._data.ndim}-D tensor. For batches of "
            "matrices, consider using tensor.mH"
        )
    return conjugate_transpose(input)


def reversed_dimensions(input: Tensor) -> Tensor:
    """The dimensions reversed."""
    return F.permute(input, tuple(range(-1, -input._data.ndim - 1, -1)))


Tensor.T = property(reversed_dimensions, doc=reversed_dimensions.__doc__)  # type: ignore[assignment, method-assign]
Tensor.mT = property(matrix_transpose, doc=matrix_transpose.__doc__)  # type: ignore[assignment, method-assign]
Tensor.H = property(hermitian, doc=hermitian.__doc__)  # type: ignore[assignment, method-assign]
Tensor.mH = property(conjugate_transpose, doc=conjugate_transpose.__doc__)  # type: ignore[assignment, method-assign]


@operator(out=False)
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions swapped, conjugated if complex.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3, 5).adjoint().shape
    tensorplay.Size([2, 5, 3])
    """
    if arg.tensor(input, "adjoint")._data.ndim == 1:
        raise RuntimeError("adjoint(): expected a matrix or batches of matrices, got a 1-D tensor")
    return conjugate_transpose(input)


@operator(out=False, aliases=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with dimensions moved to other places, the others kept in their order.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3, 5).movedim(0, -1).shape
    tensorplay.Size([3, 5, 2])
    """
    ndim = arg.tensor(input, "movedim")._data.ndim
    if isinstance(source, (tuple, list)) != isinstance(destination, (tuple, list)):
        raise TypeError("movedim(): source and destination must both be ints or both tuples of ints")
    froms = [arg.dimension(d, ndim, "movedim", "source", 2) for d in arg.integers(source, "movedim", "source", 2)]
    tos = [
        arg.dimension(d, ndim, "movedim", "destination", 3)
        for d in arg.integers(destination, "movedim", "destination", 3)
    ]
    if len(froms) != len(tos):
        raise RuntimeError(
            f"movedim(): Invalid source or destination dims: source ({source}) should contain the same number of dims "
            f"as destination ({destination})"
        )
    for which, dims in (("source", froms), ("destination", tos)):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim(): repeated dim in `{which}` ({source if which == 'source' else destination})")
    if not ndim:
        return F.permute(input, ())
    order: list[Any] = [None] * ndim
    for a, b in zip(froms, tos):
        order[b] = a
    rest = iter(d for d in range(-ndim, 0) if d not in froms)
    return F.permute(input, tuple(next(rest) if d is None else d for d in order))


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
    if dim == -ndim - 1:
        return F.unsqueeze(input, (None,))
    return F.unsqueeze(input, (slice(None),) * (dim + ndim + 1) + (None,) + (slice(None),) * (-1 - dim))


# ---- repeating without copying


def expanded_shape(input: Tensor, size: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that ``expand`` gives, -1 filled in."""
    shape = input._data.shape
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(shape)})"
        )
    out = []
    for i, want in enumerate(size):
        have = shape[i - lead] if i >= lead else 1
        if want == -1 and i >= lead:
            want = have
        elif want < 0:
            raise RuntimeError(
                f"expand(): The expanded size of the tensor ({want}) isn't allowed in a leading, non-existing "
                f"dimension {i}"
            )
        elif want != have != 1:
            raise RuntimeError(
                f"expand(): The expanded size of the tensor ({want}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}. Target sizes: {list(size)}. Tensor sizes: {list(shape)}"
            )
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


@operator(out=False, function=False)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """A view expanded to the shape of another tensor."""
    return F.expand(input, expanded_shape(input, arg.tensor(other, "expand_as", "other", 2)._data.shape))


@operator(out=False, method=False)
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """A view broadcast to a shape, without copying.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.broadcast_to(tp.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return broadcast_to_method(arg.tensor(input, "broadcast_to"), arg.integers(size, "broadcast_to", "size", 2))


@operator(name="broadcast_to", out=False, function=False, documented={"size": "shape", "more": ""})
def broadcast_to_method(input: Tensor, size: Any = MISSING, *more: int, shape: Any = MISSING) -> Tensor:
    """:func:`broadcast_to`, whose size may also be given one by one."""
    if shape is not MISSING or size is MISSING:
        size = either("broadcast_to", "size", size, "shape", shape)
    return F.expand(input, expanded_shape(input, arg.sizes(size, more, "broadcast_to")))


@operator(out=False, method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that shapes (ints or tuples) broadcast to.

    Raises
    ------
    RuntimeError
        If they do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.broadcast_shapes((2, 1), (3,), 1)
    tensorplay.Size([2, 3])
    """
    out: list[int] = []
    for shape in shapes:
        extents = arg.integers(shape, "broadcast_shapes", "shapes")
        if any(n < 0 for n in extents):
            raise RuntimeError(f"broadcast_shapes(): Trying to create tensor with negative dimension: {list(extents)}")
        out = [1] * (len(extents) - len(out)) + out
        for i, n in enumerate(reversed(extents), 1):
            if out[-i] == 1:
                out[-i] = n
            elif n not in (1, out[-i]):
                raise RuntimeError("broadcast_shapes(): Shape mismatch: objects cannot be broadcast to a single shape: "
                                   f"{', '.join(str(s) for s in shapes)}")  # fmt: skip
    return Size(out)


@operator(out=False, method=False)
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of the tensors, broadcast to their common shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> [t.shape for t in tp.broadcast_tensors(tp.zeros(2, 1), tp.zeros(3))]
    [tensorplay.Size([2, 3]), tensorplay.Size([2, 3])]
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    tensors = arg.tensors(tensors, "broadcast_tensors")
    shape = broadcast_shapes(*(tuple(t._data.shape) for t in tensors))
    return tuple(F.expand(t, tuple(shape)) for t in tensors)


# ---- repeating


def own_memory(out: Tensor) -> Tensor:
    """The tensor, copied if it is a view: for operators that promise fresh memory."""
    return F.clone(out) if out._rare is not None and out._rare.view is not None else out


@operator(out=False, function=False)
def repeat(input: Tensor, repeats: Any, *more: int) -> Tensor:
    """The tensor laid out ``repeats`` times along each dimension, new ones in front first.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    shape = input._data.shape
    counts = arg.sizes(repeats, more, "repeat", "repeats")
    lead = len(counts) - len(shape)
    if lead < 0:
        raise RuntimeError(
            "repeat(): Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor, got "
            f"{list(counts)} for {len(shape)} dimensions"
        )
    if any(n < 0 for n in counts):
        raise RuntimeError(f"repeat(): Trying to create tensor with negative dimension, got repeats {list(counts)}")
    shape = (1,) * lead + shape
    apart = F.reshape(input, tuple(n for extent in shape for n in (1, extent)))
    spread = F.expand(apart, tuple(n for pair in zip(counts, shape) for n in pair))
    return own_memory(F.reshape(spread, tuple(c * n for c, n in zip(counts, shape))))


@operator(out=False, method=False)
def tile(input: Tensor, dims: Any) -> Tensor:
    """The tensor laid out several times; missing counts in front are 1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tile(tp.tensor([[1, 2]]), (2,))
    tensor([[1, 2, 1, 2]])
    """
    return tile_method(input, dims)


@operator(name="tile", out=False, function=False, documented={"more": ""})
def tile_method(input: Tensor, dims: Any, *more: int) -> Tensor:
    """:func:`tile`, whose dims may also be given one by one."""
    counts = arg.sizes(dims, more, "tile", "dims")
    return repeat(input, (1,) * (arg.tensor(input, "tile")._data.ndim - len(counts)) + counts)


@operator(out=False)
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each entry along a dimension repeated in place; without ``dim``, of the flattened tensor.

    ``repeat_interleave(repeats)`` alone gives each index as often as ``repeats`` says.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1, 2]).repeat_interleave(2), tp.tensor([1, 2]).repeat_interleave(tp.tensor([1, 2]))
    (tensor([1, 1, 2, 2]), tensor([1, 2, 2]))
    """
    name = "repeat_interleave"
    if repeats is None:
        arg.tensor(input, name, "repeats")
        numbers = wrap(np.arange(input._data.size, dtype=input._data.dtype if input._data.dtype.kind in "iu" else None))
        return repeat_interleave(numbers, input, 0, output_size=output_size)
    if dim is None:
        input, dim = flatten(input), 0
    shape = arg.tensor(input, name)._data.shape or (1,)
    dim = arg.dimension(dim, len(shape), name, position=3)
    if isinstance(repeats, Tensor) and repeats._data.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): repeats has to be Long or Int tensor, got {repeats.dtype}")
    if not isinstance(repeats, Tensor) or repeats._data.size == 1:
        count = arg.integer(repeats, name, "repeats", 2)
        if count < 0:
            raise RuntimeError(f"{name}(): repeats can not be negative, got {count}")
        check_output_size(count * shape[dim], output_size)
        behind = shape[len(shape) + dim + 1 :]
        apart = F.reshape(input, (*shape[: len(shape) + dim + 1], 1, *behind))
        spread = F.expand(apart, (*shape[: len(shape) + dim + 1], count, *behind))
        return own_memory(F.reshape(spread, (*shape[:dim], shape[dim] * count, *behind)))
    if repeats.is_meta and output_size is not None:
        return F.index(F.reshape(input, shape), wrap(Meta((output_size,), np.dtype(np.int64))), dim)
    counts = arg.values(repeats, name)
    if counts.ndim != 1 or counts.shape[0] != shape[dim]:
        raise RuntimeError(
            f"{name}(): repeats must be 0-dim, or 1-dim with the size of input along dim {dim + len(shape)} "
            f"({shape[dim]}), got shape {list(counts.shape)}"
        )
    if counts.size and counts.min() < 0:
        raise RuntimeError(f"{name}(): repeats can not be negative")
    index = np.repeat(np.arange(counts.shape[0]), counts)
    check_output_size(index.size, output_size)
    return F.index(F.reshape(input, shape), wrap(index), dim)


def check_output_size(size: int, expected: int | None) -> None:
    if expected is not None and size != expected:
        raise RuntimeError(
            f"repeat_interleave(): allocated size does not match required size: output_size is {expected}, the repeats "
            f"sum to {size}"
        )


# ---- reversing and rolling


def flip_kernel(xp: Any, input: Any, *, dims: tuple[int, ...]) -> Any:
    index = [slice(None)] * input.ndim
    for d in dims:
        index[d] = slice(None, None, -1)
    return input[tuple(index)].copy()


primitive("flip", flip_kernel, vjp={"input": lambda F, g, dims: F.flip(g, dims)}, jvp="linear", batch="same")


@operator(out=False, method=False)
def flip(input: Tensor, dims: Any) -> Tensor:
    """A copy with the order of the entries reversed along dimensions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]]).flip(0, 1)
    tensor([[4, 3],
            [2, 1]])
    """
    return flip_method(input, dims)


@operator(name="flip", out=False, function=False, documented={"more": ""})
def flip_method(input: Tensor, dims: Any, *more: int) -> Tensor:
    """:func:`flip`, whose dims may also be given one by one."""
    ndim = arg.tensor(input, "flip")._data.ndim
    dims = arg.dimensions(arg.sizes(dims, more, "flip", "dims"), ndim, "flip", "dims")
    return F.flip(input, dims if ndim else ())


@operator(out=False)
def fliplr(input: Tensor) -> Tensor:
    """A copy with the second dimension reversed.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.fliplr(tp.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
    """
    if arg.tensor(input, "fliplr")._data.ndim < 2:
        raise RuntimeError(f"fliplr(): Input must be >= 2-d, got {input._data.ndim}-d")
    return flip(input, 1)


@operator(out=False)
def flipud(input: Tensor) -> Tensor:
    """A copy with the first dimension reversed.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.flipud(tp.tensor([1, 2]))
    tensor([2, 1])
    """
    if arg.tensor(input, "flipud")._data.ndim < 1:
        raise RuntimeError("flipud(): Input must be >= 1-d, got 0-d")
    return flip(input, 0)


def roll_vjp(F: Any, g: Any, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    return F.roll(g, tuple(-s for s in shifts), dims)


def roll_kernel(xp: Any, input: Any, *, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    out = input
    for shift, dim in zip(shifts, dims):
        extent, behind = out.shape[dim], (slice(None),) * (-1 - dim)
        cut = -shift % extent if extent else 0
        if cut:
            out = xp.concatenate((out[(..., slice(cut, None), *behind)], out[(..., slice(0, cut), *behind)]), dim)
    return out.copy() if out is input else out


primitive("roll", roll_kernel, vjp={"input": roll_vjp}, jvp="linear", batch="same")


@operator(out=False)
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """The entries shifted along dimensions, those pushed out coming in again; without ``dims``, all in one row.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1, 2, 3]).roll(1)
    tensor([3, 1, 2])
    """
    shape = arg.tensor(input, "roll")._data.shape
    shifts = arg.integers(shifts, "roll", "shifts", 2)
    places = () if dims is None else arg.integers(dims, "roll", "dims", 3)
    if not shifts:
        raise RuntimeError("roll(): `shifts` required")
    if not places and len(shifts) == 1:
        return F.reshape(F.roll(F.reshape(input, (input._data.size,)), shifts, (-1,)), shape)
    if len(places) != len(shifts):
        raise RuntimeError(f"roll(): shifts and dimensions must align. shifts: {len(shifts)}, dims: {len(places)}")
    places = tuple(arg.dimension(d, len(shape), "roll", "dims", 3) for d in places)
    if not shape:
        raise IndexError("roll(): Dimension specified as 0 but tensor has no dimensions")
    return F.roll(input, shifts, places)


@operator(out=False)
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy turned ``k`` times by 90 degrees in the plane of two dimensions, from the first towards the second.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.rot90(tp.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    ndim = arg.tensor(input, "rot90")._data.ndim
    pair = arg.integers(dims, "rot90", "dims", 3)
    if len(pair) != 2:
        raise RuntimeError(f"rot90(): expected total rotation dims == 2, but got dims = {len(pair)}")
    if ndim < 2:
        raise RuntimeError(f"rot90(): expected total dims >= 2, but got total dims = {ndim}")
    if pair[0] == pair[1] or abs(pair[0] - pair[1]) == ndim:
        raise RuntimeError(
            f"rot90(): expected rotation dims to be different, but got dim0 = {pair[0]} and dim1 = {pair[1]}"
        )
    for d in pair:
        if not -ndim <= d < ndim:
            raise RuntimeError(f"rot90(): Rotation dim out of range, dim = {d}")
    first, second = (arg.dimension(d, ndim, "rot90") for d in pair)
    turns = arg.integer(k, "rot90", "k", 2) % 4
    if turns == 0:
        return F.clone(input)
    if turns == 2:
        return F.flip(input, (first, second))
    if turns == 1:
        return own_memory(transpose(F.flip(input, (second,)), first, second))
    return own_memory(F.flip(transpose(input, first, second), (second,)))


# ---- at least so many dimensions


def at_least(ndim: int, tensors: Any) -> Any:
    name = f"atleast_{ndim}d"
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        return tuple(padded(t, ndim) for t in arg.tensors(tensors[0], name))
    out = tuple(padded(t, ndim) for t in arg.tensors(tensors, name))
    return out[0] if len(out) == 1 else out


def padded(t: Tensor, ndim: int) -> Tensor:
    shape = t._data.shape
    if len(shape) >= ndim:
        return t
    if ndim == 3 and len(shape) == 2:
        return F.reshape(t, (*shape, 1))
    return F.reshape(t, (1, *shape, 1) if ndim == 3 and len(shape) == 1 else (1,) * (ndim - len(shape)) + shape)


@operator(out=False, method=False)
def atleast_1d(*tensors: Tensor) -> Any:
    """Views of one dimension where there was none; a tuple for several tensors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.atleast_1d(tp.tensor(1.))
    tensor([1.])
    """
    return at_least(1, tensors)


@operator(out=False, method=False)
def atleast_2d(*tensors: Tensor) -> Any:
    """Views of at least two dimensions, new ones in front; a tuple for several tensors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.atleast_2d(tp.tensor([1., 2.]))
    tensor([[1., 2.]])
    """
    return at_least(2, tensors)


@operator(out=False, method=False)
def atleast_3d(*tensors: Tensor) -> Any:
    """Views of at least three dimensions: vectors become (1, n, 1), matrices (m, n, 1); a tuple for several tensors.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.atleast_3d(tp.zeros(2, 5)).shape
    tensorplay.Size([2, 5, 1])
    """
    return at_least(3, tensors)
