"""Operators that join tensors, and those that take them apart."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import PRIMITIVES, primitive
from ..core.promotion import promote_types
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .shape import atleast_1d, atleast_2d, atleast_3d
from .structural import zeros_of

CAT = PRIMITIVES["cat"]

# ---- joining


def of_common_dtype(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The tensors cast to the dtype that all of them promote to."""
    first = tensors[0]._data.dtype
    for t in tensors:
        if t._data.dtype is not first:
            break
    else:
        return tensors
    common = tensors[0].dtype
    for t in tensors[1:]:
        common = promote_types(common, t.dtype)
    return tuple(t if t._data.dtype == common.numpy else F.cast(t, common.numpy) for t in tensors)


@operator(aliases=("concat",), method=False)
def cat(tensors: Any, dim: int = 0, *, out: Tensor | None = None) -> Tensor:
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
    kept = tensors
    shape = tensors[0]._data.shape
    for t in tensors:
        if t._data.shape == (0,) != shape or shape == (0,):
            kept = tuple([t for t in tensors if t._data.shape != (0,)]) or tensors[:1]
            shape = kept[0]._data.shape
            break
    ndim = len(shape)
    if not shape:
        raise RuntimeError("cat(): zero-dimensional tensor (at position 0) cannot be concatenated")
    dim = arg.dimension(dim, ndim, "cat")
    for i, t in enumerate(kept):
        have = t._data.shape
        if have == shape:
            continue
        if not have:
            raise RuntimeError(f"cat(): zero-dimensional tensor (at position {i}) cannot be concatenated")
        if len(have) != ndim:
            raise RuntimeError(f"cat(): Tensors must have same number of dimensions: got {ndim} and {len(have)}")
        if have[:dim] != shape[:dim] or have[ndim + dim + 1 :] != shape[ndim + dim + 1 :]:
            raise RuntimeError(f"cat(): Sizes of tensors must match except in dimension {dim + ndim}. Expected shape "
                               f"{list(shape)} but got {list(have)} for tensor number {i} in the list.")  # fmt: skip
    arrays = [t._data for t in kept]
    for data in arrays:
        if type(data) is not np.ndarray:
            joined = F.cat(*kept, dim=dim)
            break
    else:  # the same, by the shortest way
        joined = CAT.finish(np.concatenate(arrays, dim), kept, (dim,))
    return joined if out is None else arg.written_out("cat", joined, out, *tensors)


@operator(method=False)
def concatenate(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors joined along a dimension that they have; :func:`cat` under NumPy's names.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.concatenate([tp.zeros(1, 2), tp.ones(1, 1)], axis=1)
    tensor([[0., 0., 1.]])
    """
    return cat(tensors, dim if axis is None else axis, out=out)


@operator(method=False)
def stack(tensors: Any, dim: int = 0, *, out: Tensor | None = None) -> Tensor:
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
    stacked = F.stack(*tensors, dim=arg.dimension(dim, len(shape) + 1, "stack"))
    return stacked if out is None else arg.written_out("stack", stacked, out, *tensors)


@operator(method=False)
def hstack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined horizontally: along the first dimension if they have one, else along the second.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.hstack([tp.tensor([1, 2]), tp.tensor([3])])
    tensor([1, 2, 3])
    """
    tensors = atleast_1d(arg.nonempty_tensors(tensors, "hstack"))
    return cat(tensors, 0 if tensors[0]._data.ndim == 1 else 1, out=out)


@operator(method=False, aliases=("row_stack",))
def vstack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined vertically, along the first of at least two dimensions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.vstack([tp.tensor([1, 2]), tp.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    return cat(atleast_2d(arg.nonempty_tensors(tensors, "vstack")), 0, out=out)


@operator(method=False)
def dstack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined along the third of at least three dimensions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.dstack([tp.tensor([1, 2]), tp.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
    """
    return cat(atleast_3d(arg.nonempty_tensors(tensors, "dstack")), 2, out=out)


@operator(method=False)
def column_stack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Vectors, as columns, and matrices joined along the second dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.column_stack([tp.tensor([1, 2]), tp.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    tensors = arg.nonempty_tensors(tensors, "column_stack")
    return cat([t if t._data.ndim > 1 else F.reshape(t, (t._data.size, 1)) for t in tensors], 1, out=out)


@operator(method=False, out=False)
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices (vectors count as rows) along its diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.block_diag(tp.tensor([[1, 2]]), tp.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if not tensors:
        return wrap(np.zeros((1, 0), "f"))
    for i, t in enumerate(arg.tensors(tensors, "block_diag")):
        if t._data.ndim > 2:
            raise RuntimeError(
                f"block_diag(): Input tensors must have 2 or fewer dimensions. Input {i} has {t._data.ndim} dimensions"
            )
    blocks = of_common_dtype(tuple(t if t._data.ndim == 2 else F.reshape(t, (1, t._data.size)) for t in tensors))
    width, left, rows = sum(b._data.shape[1] for b in blocks), 0, []
    for b in blocks:
        height, own = b._data.shape
        parts = [zeros_of(F, (height, left), b), b, zeros_of(F, (height, width - left - own), b)]
        rows.append(F.cat(*parts, dim=-1))
        left += own
    return F.cat(*rows, dim=-2)


# ---- grids and combinations


@operator(method=False, out=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid: for each vector a view expanded along the others' dimensions.

    Parameters
    ----------
    *tensors : Tensor
        Vectors or numbers.
    indexing : "ij" or "xy", optional
        "ij" (the default) orders the dimensions as the vectors; "xy" swaps the first two.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.meshgrid(tp.tensor([1, 2]), tp.tensor([3, 4, 5]), indexing="ij")[0]
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid(): expects a non-empty TensorList")
    tensors = arg.tensors(tensors, "meshgrid")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'meshgrid(): indexing must be one of "xy" or "ij", but received: {indexing}')
    for t in tensors:
        if t._data.ndim > 1:
            raise RuntimeError(f"meshgrid(): Expected 0D or 1D tensor in the tensor list but got shape {list(t.shape)}")
        if t._data.dtype != tensors[0]._data.dtype:
            raise RuntimeError("meshgrid(): expects all tensors to have the same dtype, got "
                               f"{tensors[0].dtype} and {t.dtype}")  # fmt: skip
    shape = tuple(t._data.size for t in tensors)
    grids = [F.expand(F.reshape(t, (1,) * i + (n,) + (1,) * (len(shape) - i - 1)), shape)
             for i, (t, n) in enumerate(zip(tensors, shape))]  # fmt: skip
    if indexing == "xy" and len(shape) > 1:
        order = (-len(shape) + 1, -len(shape), *range(-len(shape) + 2, 0))
        grids = [F.permute(g, order) for g in grids]
    return tuple(grids)


@operator(method=False, out=False)
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one entry of each vector, as rows.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cartesian_prod(tp.tensor([1, 2]), tp.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    for t in arg.nonempty_tensors(tensors, "cartesian_prod"):
        if t._data.ndim != 1:
            raise RuntimeError(f"cartesian_prod(): Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors)
    return F.stack(*(F.reshape(g, (g._data.size,)) for g in grids), dim=-1)


@operator(out=False)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of ``r`` entries of a vector, as rows, in lexicographic order of positions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.combinations(tp.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    data = arg.tensor(input, "combinations")._data
    r = arg.integer(r, "combinations", "r", 2)
    if data.ndim != 1:
        raise RuntimeError(f"combinations(): Expect a 1D vector, but got shape {list(data.shape)}")
    if r < 0:
        raise RuntimeError(f"combinations(): Expect a non-negative number, but got {r}")
    if r == 0:
        return F.slice(input, (slice(0, 0),))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(data.shape[0]), r)), np.int64).reshape(-1, r)
    return F.index(input, wrap(rows), -1)


@operator(method=False)
def _chunk_cat(tensors: Any, dim: int, num_chunks: int, *, out: Tensor | None = None) -> Tensor:
    """Tensors cut into equal chunks along a dimension, each chunk as one row; the rows of all tensors side by side.

    What is missing from the last chunks of a tensor is zero.

    Raises
    ------
    RuntimeError
        If there is nothing to join, dtypes differ, or extents in front of the dimension do.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp._chunk_cat([tp.tensor([1, 2, 3]), tp.tensor([4, 5])], 0, 2)
    tensor([[1, 2, 4],
            [3, 0, 5]])
    """
    tensors = arg.nonempty_tensors(tensors, "_chunk_cat")
    chunks = arg.integer(num_chunks, "_chunk_cat", "num_chunks", 3)
    if chunks <= 0:
        raise RuntimeError(f"_chunk_cat(): expects positive num_chunks, got {chunks}")
    first = tensors[0]._data
    at = arg.dimension(dim, first.ndim, "_chunk_cat") + first.ndim
    rows = []
    for t in tensors:
        shape = t._data.shape
        if 0 in shape or not shape:
            raise RuntimeError(f"_chunk_cat(): expects non-empty tensors with dimensions, got shape {list(shape)}")
        if t._data.dtype != first.dtype:
            raise RuntimeError(
                f"_chunk_cat(): expects all input tensors with the same dtype, got {tensors[0].dtype} and {t.dtype}"
            )
        if at >= len(shape) or shape[:at] != first.shape[:at]:
            raise RuntimeError("_chunk_cat(): expects same sizes of 0,...,dim-1 dimensions for all tensors, got "
                               f"{list(first.shape)} and {list(shape)}")  # fmt: skip
        each = -(-shape[at] // chunks)
        missing = ((0, each * chunks - shape[at]), *((0, 0),) * (len(shape) - at - 1))
        rows.append(F.reshape(F.pad(t, missing, 0), (*shape[:at], chunks, each * math.prod(shape[at + 1 :]))))
    return cat(rows, -1, out=out)


# ---- taking apart: views that are several outputs of one node


def split_kernel(xp: Any, input: Any, *, sizes: tuple[int, ...], dim: int) -> Any:
    parts, start, behind = [], 0, (slice(None),) * (-1 - dim)
    for size in sizes:
        parts.append(input[(..., slice(start, start + size), *behind)])
        start += size
    return tuple(parts)


def split_vjp(F: Any, g: Any, input_shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> Any:
    some = next(part for part in g if part is not None)
    parts = [
        zeros_of(F, (*input_shape[:dim], n, *input_shape[len(input_shape) + dim + 1 :]), some) if part is None else part
        for part, n in zip(g, sizes)
    ]
    return F.cat(*parts, dim=dim)


primitive("split", split_kernel, vjp={"input": split_vjp}, jvp="linear", batch="same", view=True, multi_view=True)


def unbind_kernel(xp: Any, input: Any, *, dim: int) -> Any:
    behind = (slice(None),) * (-1 - dim)
    return tuple(input[(..., i, *behind)] for i in range(input.shape[dim]))


def unbind_vjp(F: Any, g: Any, input_shape: tuple[int, ...], dim: int) -> Any:
    shape = (*input_shape[:dim], *input_shape[len(input_shape) + dim + 1 :])
    some = next(part for part in g if part is not None)
    return F.stack(*(zeros_of(F, shape, some) if part is None else part for part in g), dim=dim)


primitive("unbind", unbind_kernel, vjp={"input": unbind_vjp}, jvp="linear", batch="same", view=True, multi_view=True)


@operator(out=False, method=False)
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of consecutive parts: of one size (the last may be smaller), or of the given sizes.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.split(tp.arange(5), 2), tp.split(tp.arange(5), [1, 4])
    ((tensor([0, 1]), tensor([2, 3]), tensor([4])), (tensor([0]), tensor([1, 2, 3, 4])))
    """
    shape = arg.tensor(tensor, "split", "tensor")._data.shape
    if isinstance(split_size_or_sections, (tuple, list)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    if not shape:
        raise RuntimeError("split(): expects at least a 1-dimensional tensor")
    dim = arg.dimension(dim, len(shape), "split", position=3)
    extent, size = shape[dim], arg.integer(split_size_or_sections, "split", "split_size", 2)
    if size < 0 or size == 0 and extent:
        raise RuntimeError(
            "split(): expects split_size be "
            f"{'positive for a dimension with entries' if size == 0 else 'non-negative'}, but got split_size={size}"
        )
    whole, rest = divmod(extent, size) if size else (1, 0)
    return F.split(tensor, (size,) * whole + ((rest,) if rest else ()) or (0,), dim)


def split_method(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of consecutive parts, as :func:`tensorplay.split` gives them."""
    return split(input, split_size, dim)


Tensor.split = split_method  # type: ignore[assignment, method-assign]


@operator(out=False)
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of consecutive parts of the given sizes, which sum to the extent of the dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.arange(3).split_with_sizes([1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    shape = arg.tensor(input, "split_with_sizes")._data.shape
    if not shape:
        raise RuntimeError("split_with_sizes(): expects at least a 1-dimensional tensor")
    dim = arg.dimension(dim, len(shape), "split_with_sizes", position=3)
    sizes = arg.integers(split_sizes, "split_with_sizes", "split_sizes", 2)
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"split_with_sizes(): expects split_sizes have only non-negative entries, got {list(sizes)}")
    if sum(sizes) != shape[dim]:
        raise RuntimeError(
            f"split_with_sizes(): expects split_sizes to sum exactly to {shape[dim]} (input tensor's size at dimension "
            f"{dim + len(shape)}), but got split_sizes={list(sizes)}"
        )
    return F.split(input, sizes, dim)


@operator(out=False)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of at most ``chunks`` consecutive parts of one size; the last may be smaller.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    shape = arg.tensor(input, "chunk")._data.shape
    chunks = arg.integer(chunks, "chunk", "chunks", 2)
    if not shape:
        raise RuntimeError("chunk(): expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk(): expects `chunks` to be greater than 0, got: {chunks}")
    dim = arg.dimension(dim, len(shape), "chunk", position=3)
    extent = shape[dim]
    size = -(-extent // chunks)
    if not extent:
        return F.split(input, (0,) * chunks, dim)
    whole, rest = divmod(extent, size)
    return F.split(input, (size,) * whole + ((rest,) if rest else ()), dim)


# ---- parts that may be written to: views made one by one, where the parts above are results of one operator


def one_by_one(input: Tensor, parts: tuple[Tensor, ...], dim: int) -> tuple[Tensor, ...]:
    """Views of the input where the parts of it lie."""
    dim %= input._data.ndim
    ends = [0, *itertools.accumulate(part._data.shape[dim] for part in parts)]
    return tuple(F.slice(input, (*(slice(None),) * dim, slice(a, b))) for a, b in itertools.pairwise(ends))


@operator(out=False)
def unsafe_split(tensor: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """:func:`split`, with parts that may be written to where gradients are recorded; the whole tensor sees it.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.ones(3, requires_grad=True)
    >>> first, second = (x * 1).unsafe_split(2)
    >>> tp.autograd.grad(first.mul_(5).sum(), x)
    (tensor([5., 5., 0.]),)
    """
    return one_by_one(tensor, split(tensor, split_size, dim), dim)


@operator(out=False)
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """:func:`split_with_sizes`, with parts that may be written to, as of :func:`unsafe_split`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.arange(3).unsafe_split_with_sizes([1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    return one_by_one(input, split_with_sizes(input, split_sizes, dim), dim)


@operator(out=False)
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """:func:`chunk`, with parts that may be written to, as of :func:`unsafe_split`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.arange(5).unsafe_chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return one_by_one(input, chunk(input, chunks, dim), dim)


@operator(out=False)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of all entries along a dimension, which is gone.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([[1, 2], [3, 4]]).unbind()
    (tensor([1, 2]), tensor([3, 4]))
    """
    ndim = arg.tensor(input, "unbind")._data.ndim
    dim = arg.dimension(dim, ndim, "unbind")
    if not ndim:
        raise IndexError("unbind(): Dimension specified as 0 but tensor has no dimensions")
    return F.unbind(input, dim)


def places(name: str, indices_or_sections: Any, indices: Any, sections: Any) -> Any:
    """Where to cut: the argument that was given, under any of its names."""
    given = [value for value in (indices_or_sections, indices, sections) if value is not None]
    if len(given) != 1:
        raise TypeError(f"{name}(): takes one of 'indices_or_sections', 'indices' and 'sections', got {len(given)}")
    return given[0]


@operator(out=False)
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """Views of consecutive parts: so many, as equal as possible, or cut at the given indices.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor_split(tp.arange(5), 2), tp.tensor_split(tp.arange(5), (1,))
    ((tensor([0, 1, 2]), tensor([3, 4])), (tensor([0]), tensor([1, 2, 3, 4])))
    """
    indices_or_sections = places("tensor_split", indices_or_sections, indices, sections)
    shape = arg.tensor(input, "tensor_split")._data.shape
    if not shape:
        raise RuntimeError("tensor_split(): expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = arg.dimension(dim, len(shape), "tensor_split", position=3)
    extent = shape[dim]
    if isinstance(indices_or_sections, Tensor):
        cuts = arg.values(indices_or_sections, "tensor_split")
        if cuts.ndim > 1:
            raise RuntimeError(
                "tensor_split(): expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
                f"tensor, but got a tensor with {cuts.ndim} dims"
            )
        if cuts.dtype != np.int64:
            raise RuntimeError("tensor_split(): expected tensor_indices_or_sections to have dtype of long, but got "
                               f"{indices_or_sections.dtype}")  # fmt: skip
        indices_or_sections = cuts.tolist()
    if not isinstance(indices_or_sections, (tuple, list)):
        sections = arg.integer(indices_or_sections, "tensor_split", "indices_or_sections", 2)
        if sections <= 0:
            raise RuntimeError(f"tensor_split(): number of sections must be larger than 0, got {sections}")
        small, larger = divmod(extent, sections)
        ends = list(itertools.accumulate((small + 1,) * larger + (small,) * (sections - larger)))[:-1]
    else:
        ends = list(arg.integers(indices_or_sections, "tensor_split", "indices_or_sections", 2))
    before, behind = (slice(None),) * (len(shape) + dim), (slice(None),) * (-1 - dim)
    return tuple(F.slice(input, (*before, slice(a, b), *behind)) for a, b in zip([0, *ends], [*ends, extent]))


def cut(input: Tensor, indices_or_sections: Any, dim: int, name: str, ndim: int) -> tuple[Tensor, ...]:
    """``tensor_split`` that insists on a dimension, and on equal parts."""
    shape = arg.tensor(input, name)._data.shape
    if len(shape) < ndim:
        raise RuntimeError(
            f"{name}(): requires a tensor with at least {ndim} dimension, but got a tensor with {len(shape)} "
            "dimensions!"
        )
    if not isinstance(indices_or_sections, (tuple, list)):
        sections = arg.integer(indices_or_sections, name, "indices_or_sections", 2)
        if not sections or shape[dim] % sections:
            raise RuntimeError(
                f"{name}(): attempted to split along dimension {dim}, but the size of the dimension {shape[dim]} is "
                f"not divisible by the split_size {sections}!"
            )
    return tensor_split(input, indices_or_sections, dim)


@operator(out=False, documented={"indices_or_sections": "split_size_or_sections"})
def hsplit(
    input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """Views of equal parts, or cut at indices, along the second dimension; the first of a vector.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.hsplit(tp.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    where = places("hsplit", indices_or_sections, indices, sections)
    return cut(input, where, 0 if arg.tensor(input, "hsplit")._data.ndim == 1 else 1, "hsplit", 1)


@operator(out=False, documented={"indices_or_sections": "split_size_or_sections"})
def vsplit(
    input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """Views of equal parts, or cut at indices, along the first of at least two dimensions.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.vsplit(tp.tensor([[1, 2], [3, 4]]), 2)
    (tensor([[1, 2]]), tensor([[3, 4]]))
    """
    return cut(input, places("vsplit", indices_or_sections, indices, sections), 0, "vsplit", 2)


@operator(out=False, documented={"indices_or_sections": "split_size_or_sections"})
def dsplit(
    input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """Views of equal parts, or cut at indices, along the third dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> [part.shape for part in tp.dsplit(tp.zeros(1, 2, 4), 2)]
    [tensorplay.Size([1, 2, 2]), tensorplay.Size([1, 2, 2])]
    """
    return cut(input, places("dsplit", indices_or_sections, indices, sections), 2, "dsplit", 3)
