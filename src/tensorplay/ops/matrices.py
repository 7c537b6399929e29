"""What the operators on matrices share: checks, the loop over a batch, and the words their rules are written in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.carrier import Meta
from ..core.namespace import R
from ..core.primitive import primitive
from ..core.tensor import Tensor, wrap
from . import arguments


class LinAlgError(RuntimeError):
    """A matrix that an algorithm cannot deal with: singular, not positive-definite, or without convergence.

    Examples
    --------
    >>> import tensorplay as tp
    >>> try:
    ...     tp.linalg.inv(tp.zeros(2, 2))
    ... except tp.linalg.LinAlgError as error:
    ...     print(error)
    linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is
    singular.
    """

    __module__ = "tensorplay.linalg"


# ---- checks

TYPE_NAMES = {
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "int8": "Char", "uint8": "Byte", "int16": "Short", "int32": "Int", "int64": "Long",
    "bool": "Bool",
}  # fmt: skip


def type_name(t: Tensor) -> str:
    """A dtype as PyTorch's messages name it."""
    name = t._data.dtype.name
    return TYPE_NAMES.get(name, name)


def floating(x: Any, name: str, argument: str = "A", position: int = 1) -> Tensor:
    """A tensor of a dtype that LAPACK has."""
    arguments.tensor(x, name, argument, position)
    if x._data.dtype.char not in "fdFD":
        if x._data.dtype.kind in "fV":
            raise NotImplementedError(f"{name}: Low precision dtypes not supported. Got {type_name(x)}; convert "
                                      f"{argument} to float32 first")  # fmt: skip
        raise NotImplementedError(f"{name}: Expected a floating point or complex tensor as input. Got {type_name(x)}")
    return x


def matrix(x: Any, name: str, argument: str = "A", position: int = 1) -> Tensor:
    """A floating or complex tensor of at least two dimensions."""
    floating(x, name, argument, position)
    if x._data.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    return x


def square(x: Any, name: str, argument: str = "A", position: int = 1) -> Tensor:
    """A batch of square matrices."""
    n, m = matrix(x, name, argument, position)._data.shape[-2:]
    if n != m:
        raise RuntimeError(f"{name}: {argument} must be batches of square matrices, but they are {n} by {m} matrices")
    return x


def same_dtype(name: str, **tensors: Tensor) -> None:
    (a, first), (b, second) = tensors.items()
    if first._data.dtype != second._data.dtype:
        raise RuntimeError(f"{name}: Expected {a} and {b} to have the same dtype, but found {a} of type "
                           f"{type_name(first)} and {b} of type {type_name(second)} instead")  # fmt: skip


def element(info: Any) -> tuple[str, int]:
    """Where in a batch the first failure is, and its number."""
    i = int(np.flatnonzero(info)[0])
    return (f"(Batch element {i}): " if info.ndim else ""), int(info.reshape(-1)[i])


# ---- kernels


def each(function: Callable[..., Any], *arrays: Any) -> Any:
    """The function of every matrix of a batch; what it returns, one array or several, is stacked."""
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    if not batch:
        return function(*arrays)
    count = math.prod(batch)
    if not count:
        out = function(*(np.eye(*a.shape[-2:], dtype=a.dtype) for a in arrays))
        return shaped(out, lambda part: np.zeros((*batch, *np.shape(part)), np.asarray(part).dtype))
    flat = [np.broadcast_to(a, (*batch, *a.shape[-2:])).reshape(count, *a.shape[-2:]) for a in arrays]
    rows = [function(*matrices) for matrices in zip(*flat, strict=True)]
    if type(rows[0]) is not tuple:
        return shaped(np.stack(rows), lambda part: part.reshape(*batch, *part.shape[1:]))
    return shaped(tuple(map(np.stack, zip(*rows, strict=True))), lambda part: part.reshape(*batch, *part.shape[1:]))


def shaped(out: Any, reshape: Callable[[Any], Any]) -> Any:
    return tuple(map(reshape, out)) if type(out) is tuple else reshape(out)


def as_columns(function: Callable[[Any], Any], other: Any) -> Any:
    """A function of columns, for a batch of right-hand sides of one matrix: all their columns at once."""
    *batch, n, k = other.shape
    wide = np.moveaxis(other, -2, 0).reshape(n, math.prod(batch) * k)
    out = function(wide)
    return np.moveaxis(out.reshape(out.shape[0], *batch, k), 0, -2)


# ---- shapes of results, for tensors without data

INT32 = np.dtype(np.int32)


def real_of(dtype: Any) -> Any:
    """The real dtype of the same precision."""
    return np.finfo(dtype).dtype


def complex_of(dtype: Any) -> Any:
    """The complex dtype of the same precision."""
    return np.result_type(dtype, np.complex64)


def same(input: Any, *rest: Any) -> Meta:
    """The shape and dtype of the input."""
    return Meta(input.shape, input.dtype)


def systems(input: Any, other: Any, *attrs: Any) -> Meta:
    """Solutions: like the right-hand sides, with the batch of both."""
    return Meta((*np.broadcast_shapes(input.shape[:-2], other.shape[:-2]), *other.shape[-2:]), other.dtype)


# ---- the words of the rules; they mean the same over arrays and over Tensors


def constant(F: Any, array: Any) -> Any:
    """An array as a value of the namespace."""
    return array if F is R else wrap(array)


def numpy_dtype(x: Any) -> Any:
    return (x._data if isinstance(x, Tensor) else x).dtype


def is_complex(x: Any) -> bool:
    return numpy_dtype(x).kind == "c"


def mH(F: Any, x: Any) -> Any:
    """The conjugate transpose."""
    x = F.mT(x)
    return F.conj(x) if is_complex(x) else x


def tril(F: Any, x: Any, diagonal: int = 0) -> Any:
    n, m = x.shape[-2:]
    return F.where(constant(F, np.tri(n, m, diagonal, bool)), x, 0)


def triu(F: Any, x: Any, diagonal: int = 0) -> Any:
    n, m = x.shape[-2:]
    return F.where(constant(F, np.tri(n, m, diagonal - 1, bool)), 0, x)


def eye(F: Any, x: Any) -> Any:
    """Where the diagonal of matrices of this shape is."""
    return constant(F, np.eye(*x.shape[-2:], dtype=bool))


def half_diagonal(F: Any, x: Any) -> Any:
    """The matrix with its diagonal halved."""
    return F.where(eye(F, x), x * 0.5, x)


def half_lower(F: Any, x: Any) -> Any:
    """The lower triangle with its diagonal halved."""
    halves = np.where(np.eye(*x.shape[-2:]) == 1, 0.5, 1).astype(numpy_dtype(x))
    return tril(F, x) * constant(F, halves)


def unit_diagonal(F: Any, x: Any) -> Any:
    """The matrix with ones on its diagonal."""
    return F.where(eye(F, x), 1, x)


def minus(F: Any, x: Any) -> Any:
    """The identity minus a matrix."""
    return F.where(eye(F, x), 1 - x, -x)


def identity(F: Any, x: Any) -> Any:
    """Identity matrices like the given matrices."""
    return F.where(eye(F, x), 1, F.zeros_like(x))


def diagonal(F: Any, x: Any) -> Any:
    return F.diagonal(x, 0, -2, -1)


def diagonal_matrix(F: Any, d: Any) -> Any:
    """Matrices with the given diagonals."""
    *batch, n = d.shape
    return F.where(constant(F, np.eye(n, dtype=bool)), F.reshape(d, (*batch, 1, n)), 0)


def scale_columns(F: Any, x: Any, d: Any) -> Any:
    """Each column times its factor: x @ diag(d)."""
    *batch, n = d.shape
    return x * F.reshape(d, (*batch, 1, n))


def block(F: Any, x: Any, rows: slice, columns: slice) -> Any:
    return F.slice(x, (*(slice(None),) * (len(x.shape) - 2), rows, columns))


def symmetrized(F: Any, x: Any) -> Any:
    """The Hermitian part."""
    return (x + mH(F, x)) * 0.5


def inverse_gaps_kernel(xp: Any, input: Any, *, sign: int) -> Any:
    """Differences, or sums, that are zero up to rounding count as infinite."""
    out = input[..., None, :] + sign * input[..., :, None]
    largest = xp.max(xp.abs(input), axis=-1, initial=0)[..., None, None]
    tiny = xp.abs(out) <= 8 * xp.finfo(input.dtype).eps * largest
    return xp.where(tiny, 0, 1 / xp.where(tiny, 1, out))


def inverse_gaps_vjp(F: Any, g: Any, out: Any, sign: int) -> Any:
    of_gap = -g * out * out
    return F.sum(of_gap, (-2,), False) + sign * F.sum(of_gap, (-1,), False)


def inverse_gaps_jvp(F: Any, t: Any, out: Any, sign: int) -> Any:
    n = t.shape
    return -(out * out) * (F.reshape(t, (*n[:-1], 1, n[-1])) + sign * F.reshape(t, (*n, 1)))


primitive("inverse_gaps", inverse_gaps_kernel, vjp={"input": inverse_gaps_vjp}, jvp={"input": inverse_gaps_jvp},
          batch="same")  # fmt: skip
"""Entry (i, j) is 1 / (x[j] + sign * x[i]), and 0 where that has no meaning: the spectra of rules for eigenvectors."""
