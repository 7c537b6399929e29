"""Dense layers: linear maps, embeddings."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.inplace import write
from ..core.namespace import F, R
from ..core.operator import operator, write_out
from ..core.primitive import align, batch_size, expand_to_batch, primitive
from ..core.state import set_recording, state
from ..core.tensor import Tensor, wrap
from . import arguments as arg
from .kernels import narrowed, widened

# ---- linear: rows times a matrix, in three primitives that are closed under differentiation


def multiply(x: Any, y: Any) -> Any:
    """The matrix product; dtypes that BLAS lacks go through the kernel of matmul."""
    if x.dtype.kind in "fc" and x.dtype.itemsize > 2:
        return x.dot(y)
    return R.mm(x, y) if x.ndim > 1 else R.mv(y.T, x)


def linear_kernel(xp: Any, input: Any, weight: Any, bias: Any = None) -> Any:
    dtype = input.dtype
    if dtype != weight.dtype or (bias is not None and bias.dtype != dtype):
        names = [dtypes.by_numpy[a.dtype] for a in (input, weight, bias) if a is not None]
        raise RuntimeError(
            f"linear(): input, weight and bias must have the same dtype, but got {', '.join(map(str, names))}"
        )
    if dtype.itemsize == 2 and bias is not None and dtype.kind in "fV":  # rounded once
        return narrowed(linear_kernel(xp, widened(input), widened(weight), widened(bias)), dtype)
    shape = input.shape
    if not shape or not weight.ndim:
        raise RuntimeError("linear(): both arguments to linear need to be at least 1D, but they are "
                           f"{input.ndim}D and {weight.ndim}D")  # fmt: skip
    x = input.reshape(-1, shape[-1]) if len(shape) > 2 and shape[-1] else input
    try:
        out = multiply(x, weight.T)
    except ValueError:
        rows = math.prod(shape[:-1])
        raise RuntimeError(f"linear(): mat1 and mat2 shapes cannot be multiplied ({rows}x{shape[-1]} and "
                           f"{weight.shape[1]}x{weight.shape[0]})") from None  # fmt: skip
    if bias is not None:
        try:
            out += bias
        except ValueError:
            raise RuntimeError(f"linear(): The expanded size of the bias ({bias.shape}) must match the output features "
                               f"({weight.shape[0]})") from None  # fmt: skip
    return out.reshape(*shape[:-1], weight.shape[0]) if len(shape) > 2 else out


def linear_batch(p: Any, values: list[Any], dims: list[Any]) -> Any:
    """A shared matrix takes the examples as rows; a shared input meets all matrices as one tall one."""
    (input, weight, bias), (of_input, of_weight, of_bias) = values, dims
    if of_weight is None:
        if of_input is None:
            out = F.linear(input, weight)
        elif of_bias is None:
            return F.linear(input, weight, bias)
        else:
            out = F.linear(input, weight)
    elif of_input is None:
        size, o, i = weight._data.shape
        out = F.linear(input, F.reshape(weight, (size * o, i)))
        out = F.reshape(out, (*out._data.shape[:-1], size, o))
        n = out._data.ndim
        out = F.permute(out, (-2, *range(-n, -2), -1))
        of_input = 0
    else:
        shape, o = input._data.shape, weight._data.shape[-2]
        rows = F.reshape(input, (shape[0], math.prod(shape[1:-1]), shape[-1]))
        out = F.reshape(F.matmul(rows, F.mT(weight)), (*shape[:-1], o))
    if bias is None:
        return out
    return F.add(*align([out, bias], [None if of_input is of_weight is None else 0, of_bias]))


def as_rows(x: Any) -> Any:
    """All dimensions but the last as one."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


FEW = 1 << 12


@lru_cache(maxsize=64)
def ones(count: int, dtype: Any) -> Any:
    """A vector of ones; a new one each time would cost as much as a small sum."""
    return np.ones(count, dtype)


def sum_rows_kernel(xp: Any, input: Any) -> Any:
    rows = widened(input)
    rows = as_rows(rows) if rows.ndim > 2 else rows
    if rows.ndim == 1:
        return input
    count, dtype = len(rows), rows.dtype
    return narrowed((ones(count, dtype) if count < FEW else np.ones(count, dtype)).dot(rows), input.dtype)


def sum_rows_batch(p: Any, values: list[Any], dims: list[Any]) -> Any:
    size, *rows, columns = values[0]._data.shape
    if not rows:
        return values[0]
    return F.reshape(F.sum_to(values[0], (size, *(1,) * (values[0]._data.ndim - 2), columns)), (size, columns))


primitive("sum_rows", sum_rows_kernel, vjp={"input": lambda F, g, input_shape: F.expand(g, input_shape)}, jvp="linear",
          batch=sum_rows_batch, node_name="SumBackward1")  # fmt: skip
"""The sum over all dimensions but the last: as a product with ones, it is BLAS's."""

linear_ = primitive(
    "linear", linear_kernel,
    vjp={
        "input": lambda F, g, weight: F.linear(g, F.mT(weight)),
        "weight": lambda F, g, input: F.linear_weight(g, input),
        "bias": lambda F, g: F.sum_rows(g),
    },
    jvp={
        "input": lambda F, t, weight: F.linear(t, weight),
        "weight": lambda F, t, input: F.linear(input, t),
        "bias": lambda F, t, out: F.expand(t, out.shape),
    },
    batch=linear_batch, node_name="AddmmBackward0",
)  # fmt: skip


def linear_weight_kernel(xp: Any, input: Any, other: Any) -> Any:
    if input.ndim == 1:
        return np.multiply.outer(input, other)
    if input.ndim > 2:
        input, other = as_rows(input), as_rows(other)
    return multiply(input.T, other)


def linear_weight_batch(p: Any, values: list[Any], dims: list[Any]) -> Any:
    (g, x), (of_g, of_x) = values, dims
    o, i, size = g._data.shape[-1], x._data.shape[-1], batch_size(values, dims)
    if of_g is None or of_x is None:
        batched = x if of_g is None else g
        n = batched._data.ndim
        folded = F.permute(batched, (*range(1 - n, -1), -n, -1))
        shape = folded._data.shape
        folded = F.reshape(folded, (*shape[:-2], shape[-2] * shape[-1]))
        if of_g is None:
            out = F.reshape(F.linear_weight(g, folded), (o, size, i))
            return F.permute(out, (-2, -3, -1))
        return F.reshape(F.linear_weight(folded, x), (size, o, i))
    rows = math.prod(g._data.shape[1:-1])
    if rows == 1:
        return F.mul(F.reshape(g, (size, o, 1)), F.reshape(x, (size, 1, i)))
    return F.matmul(F.mT(F.reshape(g, (size, rows, o))), F.reshape(x, (size, rows, i)))


linear_weight = primitive(
    "linear_weight",
    linear_weight_kernel,
    vjp={"input": lambda F, g, other: F.linear(other, g), "other": lambda F, g, input: F.linear(input, F.mT(g))},
    jvp={
        "input": lambda F, t, other: F.linear_weight(t, other),
        "other": lambda F, t, input: F.linear_weight(input, t),
    },
    batch=linear_weight_batch,
)
"""``input`` (..., o) and ``other`` (..., i): the sum over all rows of their outer products, (o, i)."""


@operator(namespace="nn.functional", method=False)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """Rows times a matrix: ``input @ weight.T + bias``.

    Parameters
    ----------
    input : Tensor
        Of shape (..., in_features).
    weight : Tensor
        Of shape (out_features, in_features), or (in_features,) for one output without a dimension.
    bias : Tensor, optional
        Of shape (out_features,).
    out : Tensor, optional
        Receives the result.

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.linear(tp.ones(2, 3), tp.ones(1, 3), tp.tensor([0.5]))
    tensor([[3.5000],
            [3.5000]])
    """
    if out is not None:
        return write_out("linear", linear(input, weight, bias), out)
    if isinstance(weight, Tensor) and weight._data.ndim == 1:
        result = F.linear(input, F.reshape(weight, (1, -1)))
        result = F.reshape(result, result._data.shape[:-1])
        return result if bias is None else F.add(result, bias)
    if bias is not None and isinstance(bias, Tensor) and bias._data.shape != weight._data.shape[:1]:
        return add_bias(F.linear(input, weight), bias)
    return F.linear(input, weight, bias)


def add_bias(out: Tensor, bias: Tensor) -> Tensor:
    """A bias that is broadcast to the features.

    Raises
    ------
    RuntimeError
        If it cannot be.
    """
    shape = out._data.shape
    if arg.broadcast_shape("linear", shape, bias._data.shape) != shape:
        raise RuntimeError(f"linear(): The expanded size of the bias {list(bias.shape)} must match the output "
                           f"features, got an output of {list(shape)}")  # fmt: skip
    return F.add(out, bias)


# ---- embedding: rows of a matrix, by number


def within_kernel(xp: Any, input: Any, *, rows: int) -> Any:
    if input.size and not (0 <= input.min() and input.max() < rows):
        raise IndexError(
            f"index out of range in self: embedding() has {rows} rows, but its indices reach from {input.min()} to "
            f"{input.max()}"
        )
    return input


within = primitive("within", within_kernel, batch="same")


def embedding_kernel(xp: Any, weight: Any, indices: Any) -> Any:
    return weight.take(within_kernel(xp, indices, rows=len(weight)), 0)


def embedding_batch(p: Any, values: list[Any], dims: list[Any]) -> Any:
    """A shared table takes the indices of all examples; several tables become one tall one."""
    (weight, indices), (of_weight, of_indices) = values, dims
    if of_weight is None:
        return F.embedding(weight, indices)
    size, rows, *columns = weight._data.shape
    return F.embedding(F.reshape(weight, (size * rows, *columns)), offset(indices, of_indices, size, rows))


def offset(indices: Tensor, dim: int | None, size: int, rows: int) -> Tensor:
    """Indices into the tables of all examples, one above the other."""
    ndim = indices._data.ndim - (dim == 0)
    starts = wrap(np.arange(0, size * rows, max(rows, 1)).reshape(size, *(1,) * ndim))
    return F.add(F.within(indices, rows), starts)


def embedding_vjp(F: Any, g: Any, weight_shape: tuple[int, ...], indices: Any) -> Any:
    return F.embedding_weight(g, indices, weight_shape[0])


embedding_ = primitive(
    "embedding", embedding_kernel, vjp={"weight": embedding_vjp}, jvp="linear", batch=embedding_batch
)


def embedding_weight_kernel(xp: Any, input: Any, indices: Any, *, rows: int) -> Any:
    columns = input.shape[indices.ndim :]
    return add_rows(input.reshape(indices.size, math.prod(columns)), indices.reshape(-1), rows).reshape(rows, *columns)


def add_rows(values: Any, indices: Any, rows: int) -> Any:
    """A matrix of ``rows`` rows: the sums of the values with the same index."""
    if values.dtype.itemsize == 2:
        return add_rows(values.astype(np.float32), indices, rows).astype(values.dtype)
    if values.size <= 1 << 12 or values.shape[1] == 1:
        out = np.zeros((rows, values.shape[1]), values.dtype)
        np.add.at(out, indices, values)
        return out
    from scipy.sparse import csc_array

    n = len(indices)
    hot = csc_array((np.ones(n, values.dtype), indices, np.arange(n + 1)), shape=(rows, n))
    return hot @ values


def embedding_weight_batch(p: Any, values: list[Any], dims: list[Any], rows: int) -> Any:
    (g, indices), (of_g, of_indices) = values, dims
    size = batch_size(values, dims)
    g = expand_to_batch(g, size) if of_g is None else g
    if of_indices is None:
        indices = expand_to_batch(indices, size)
    out = F.embedding_weight(g, offset(indices, 0, size, rows), size * rows)
    return F.reshape(out, (size, rows, *out._data.shape[1:]))


embedding_weight = primitive(
    "embedding_weight",
    embedding_weight_kernel,
    vjp={"input": lambda F, g, indices: F.embedding(g, indices)},
    jvp="linear",
    batch=embedding_weight_batch,
    node_name="EmbeddingDenseBackward0",
)


def scaled_gradient_kernel(xp: Any, input: Any, indices: Any, *, padding_idx: int | None, by_freq: bool) -> Any:
    return input


def scaled_gradient_vjp(F: Any, g: Any, indices: Any, padding_idx: int | None, by_freq: bool) -> Any:
    return F.scale_rows(g, indices, padding_idx, by_freq)


scaled_gradient = primitive(
    "scaled_gradient", scaled_gradient_kernel, vjp={"input": scaled_gradient_vjp}, jvp="linear", batch="same",
    node_name="EmbeddingBackward0",
)  # fmt: skip
"""The table itself, whose gradient is divided by the number of times a row was used, and zero for the padding."""


def scale_rows_kernel(xp: Any, input: Any, indices: Any, *, padding_idx: int | None, by_freq: bool) -> Any:
    out = input.copy()
    if by_freq:
        rows = input.shape[-2]
        flat = indices.reshape(*input.shape[:-2], -1)
        counts = np.zeros((*input.shape[:-2], rows), input.dtype)
        for place in np.ndindex(flat.shape[:-1]):
            counts[place] = np.bincount(flat[place], minlength=rows)
        out /= np.maximum(counts, 1)[..., None]
    if padding_idx is not None:
        out[..., padding_idx, :] = 0
    return out


scale_rows = primitive(
    "scale_rows", scale_rows_kernel,
    vjp={"input": scaled_gradient_vjp}, jvp="linear", batch="same",
)  # fmt: skip


def renormalised_kernel(xp: Any, input: Any, indices: Any, *, max_norm: float, norm_type: float) -> Any:
    *lead, rows, _ = input.shape
    used = np.zeros((*lead, rows), bool)
    np.put_along_axis(used, within_kernel(xp, indices, rows=rows).reshape(*lead, -1), True, -1)
    norms = np.linalg.norm(widened(input), norm_type, axis=-1)
    factor = np.where(used & (norms > max_norm), max_norm / (norms + 1e-7), 1)
    return narrowed(widened(input) * factor[..., None], input.dtype)


primitive("renormalised", renormalised_kernel, batch="same")


def renormalise(indices: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale rows that are used and too long down to ``max_norm``, in place and unrecorded."""
    before = bool(state.recording)
    set_recording(False)
    try:
        write(weight, F.renormalised(weight, indices, max_norm, norm_type), "embedding")
    finally:
        set_recording(before)


@operator(namespace="nn.functional", method=False, out=False)
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of ``weight`` by number.

    Parameters
    ----------
    input : Tensor
        Indices, int64 or int32, of any shape.
    weight : Tensor
        Of shape (rows, columns).
    padding_idx : int, optional
        A row that receives no gradient.
    max_norm, norm_type : float
        Rows that are used and whose norm is larger are first scaled down to it, in place.
    scale_grad_by_freq : bool
        Divide each row's gradient by the number of times it was used.
    sparse : bool
        Accepted; gradients are dense.

    Raises
    ------
    IndexError
        If an index is out of range.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.embedding(tp.tensor([1, 1]), tp.tensor([[1., 2.], [3., 4.]]))
    tensor([[3., 4.],
            [3., 4.]])
    """
    indices = arg.tensor(input, "embedding", "indices")
    if indices._data.dtype.kind not in "iu" or indices._data.dtype.itemsize < 4:
        raise RuntimeError(
            "embedding(): Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
            f"Int; but got {indices.dtype} instead"
        )
    rows = arg.tensor(weight, "embedding", "weight", 2)._data.shape[0] if weight._data.ndim else 0
    if weight._data.ndim != 2:
        raise RuntimeError(f"embedding(): 'weight' must be 2-D, got {weight._data.ndim}-D")
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError(
                f"embedding(): padding_idx must be within num_embeddings, got {padding_idx} for {rows} rows"
            )
        padding_idx %= rows
    if max_norm is not None:
        renormalise(indices, weight, max_norm, norm_type)
    if padding_idx is None and not scale_grad_by_freq:
        return F.embedding(weight, indices)
    return F.embedding(scaled_gradient(weight, indices, padding_idx, scale_grad_by_freq), indices)


# ---- bilinear, one_hot


@operator(method=False, out=False)
@operator(namespace="nn.functional", method=False, out=False)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A bilinear form for each output: ``input1 @ weight[k] @ input2 + bias[k]``.

    Parameters
    ----------
    input1, input2 : Tensor
        Of shapes (..., in1) and (..., in2).
    weight : Tensor
        Of shape (out, in1, in2).
    bias : Tensor, optional
        Of shape (out,).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.bilinear(tp.ones(1, 2), tp.ones(1, 3), tp.ones(1, 2, 3))
    tensor([[6.]])
    """
    left, right, shape = (arg.tensor(x, "bilinear")._data.shape for x in (input1, input2, weight))
    if len(shape) != 3:
        raise RuntimeError(f"bilinear(): weight must have 3 dimensions, got {list(shape)}")
    if left[:-1] != right[:-1]:
        raise RuntimeError(f"bilinear(): input batch dimensions do not match: got {list(left)} and {list(right)}")
    outputs, n, m = shape
    if left[-1:] != (n,) or right[-1:] != (m,):
        raise RuntimeError(
            f"bilinear(): input1 and input2 must end in sizes {n} and {m} for weight of size {list(shape)}, but got "
            f"{list(left)} and {list(right)}"
        )
    if bias is not None and bias._data.shape != (outputs,):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {list(bias.shape)} but expected [{outputs}]"
        )
    halves = F.linear(input1, F.reshape(F.mT(weight), (outputs * m, n)))
    products = F.mul(F.reshape(halves, (*left[:-1], outputs, m)), F.reshape(input2, (*right[:-1], 1, m)))
    out = F.sum(products, (-1,), False)
    out = out if out._data.dtype == products._data.dtype else F.cast(out, products._data.dtype)
    return out if bias is None else F.add(out, bias)


def one_hot_kernel(xp: Any, input: Any, *, classes: int) -> Any:
    if input.size and input.min() < 0:
        raise RuntimeError("one_hot(): Class values must be non-negative.")
    if input.size and input.max() >= classes:
        raise RuntimeError(
            f"one_hot(): Class values must be smaller than num_classes, got {input.max()} for {classes}."
        )
    return (input[..., None] == np.arange(classes)).astype(np.int64)


primitive("one_hot", one_hot_kernel, batch="same")


@operator(namespace="nn.functional", method=False, out=False)
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Classes as vectors that are 1 at the class and 0 elsewhere.

    Parameters
    ----------
    tensor : Tensor
        Classes, int64, of any shape.
    num_classes : int
        -1: one more than the largest class.

    Returns
    -------
    Tensor
        Of dtype int64 and one more dimension.

    Raises
    ------
    RuntimeError
        If a class is out of range, or the number of classes is to be inferred where values cannot be read.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.one_hot(tp.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    data = arg.tensor(tensor, "one_hot", "tensor")._data
    if data.dtype != np.int64:
        raise RuntimeError(
            f"one_hot(): one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}."
        )
    if num_classes == -1:
        if type(data) is not np.ndarray:
            raise RuntimeError(
                "one_hot(): the number of classes cannot be read from the values inside vmap or on the meta device; "
                "give num_classes"
            )
        if not data.size:
            raise RuntimeError("one_hot(): Can not infer total number of classes from empty tensor.")
        num_classes = int(data.max()) + 1
    elif num_classes < 1 and not data.size:
        raise RuntimeError(
            f"one_hot(): Class values must be smaller than num_classes, and num_classes positive, got {num_classes}."
        )
    return F.one_hot(tensor, max(num_classes, 0))
