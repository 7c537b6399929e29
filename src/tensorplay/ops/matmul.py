"""Products of vectors, matrices and batches of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.callpath import MISSING, either
from ..core.carrier import Meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.promotion import promote_types
from ..core.tensor import Tensor, wrap
from . import arguments

BLAS = "fdFD"
"""Type characters of the dtypes that BLAS multiplies."""

# ---- kernels


def product_kernel(xp: Any, input: Any, other: Any) -> Any:
    """Two vectors, a matrix and a vector, or two matrices: ``ndarray.dot`` has a third of the overhead of matmul."""
    return input.dot(other) if input.dtype.char in BLAS else without_blas(np.dot, input, other)


def matmul_kernel(xp: Any, input: Any, other: Any) -> Any:
    """Batches of matrices; a single right operand meets all rows of the batch in one product."""
    if other.ndim == 2:
        *batch, k = input.shape
        rows = product_kernel(xp, input.reshape(math.prod(batch), k), other)
        return rows.reshape(*batch, other.shape[1])
    return xp.matmul(input, other) if input.dtype.char in BLAS else without_blas(xp.matmul, input, other)


EXACT = 2**53
"""float64 holds all integers up to here."""


def without_blas(product: Callable[..., Any], input: Any, other: Any) -> Any:
    """The product in float32 or float64 for dtypes BLAS lacks. Integers stay exact, modulo their range."""
    dtype = input.dtype
    if dtype.kind in "fV":
        return product(input.astype(np.float32), other.astype(np.float32)).astype(dtype)
    if dtype.kind == "b":
        raise NotImplementedError("\"matmul\" not implemented for 'Bool'; convert the operands to integers first")
    if input.size < 512 or not other.size:
        return product(input, other)
    largest = max(int(input.max()), -int(input.min())) * max(int(other.max()), -int(other.min())) * input.shape[-1]
    if largest >= EXACT:
        return product(input, other)
    return product(input.astype(np.float64), other.astype(np.float64)).astype(np.int64).astype(dtype)


def product_meta(input: Any, other: Any) -> Meta:
    """The product of vectors and matrices without their values."""
    columns = other.shape[-1:] if other.ndim > 1 else ()
    batch = np.broadcast_shapes(input.shape[:-2], other.shape[:-2])
    return Meta((*batch, *input.shape[-2:-1], *columns), input.dtype)


# ---- the transpose of the last two dimensions

mT = primitive(
    "mT", lambda xp, input: input.swapaxes(-1, -2), vjp={"input": lambda F, g: F.mT(g)}, jvp="linear", batch="same",
    view=True, node_name="TransposeBackward0",
)  # fmt: skip

# ---- vector with vector, matrix with vector, matrix with matrix, batch with batch


def bilinear(name: str) -> dict[str, Any]:
    """The forward rules of a product: the product with the tangent of either factor."""
    return {"input": lambda F, t, other: getattr(F, name)(t, other),
            "other": lambda F, t, input: getattr(F, name)(input, t)}  # fmt: skip


def dot_batch(p: Any, values: list[Any], dims: list[Any]) -> Any:
    input, other = values
    if dims[1] is None:
        return F.mv(input, other)
    if dims[0] is None:
        return F.mv(other, input)
    size, k = input._data.shape
    return F.reshape(F.matmul(F.reshape(input, (size, 1, k)), F.reshape(other, (size, k, 1))), (size,))


F_dot = primitive(
    "dot", product_kernel,
    vjp={"input": lambda F, g, other: g * other, "other": lambda F, g, input: g * input},
    jvp=bilinear("dot"),
    batch=dot_batch, meta=product_meta,
)  # fmt: skip


def mv_batch(p: Any, values: list[Any], dims: list[Any]) -> Any:
    """Only the matrix batched: all rows at once. Only the vector batched: the vectors are the rows of a matrix."""
    input, other = values
    if dims[0] is None:
        return F.mm(other, F.mT(input))
    size, n, k = input._data.shape
    if dims[1] is None:
        return F.reshape(F.mv(F.reshape(input, (size * n, k)), other), (size, n))
    return F.reshape(F.matmul(input, F.reshape(other, (size, k, 1))), (size, n))


F_mv = primitive(
    "mv", product_kernel,
    vjp={"input": lambda F, g, other: F.reshape(g, (*g.shape, 1)) * other,
         "other": lambda F, g, input: F.mv(F.mT(input), g)},
    jvp=bilinear("mv"),
    batch=mv_batch, meta=product_meta,
)  # fmt: skip


def mm_batch(p: Any, values: list[Any], dims: list[Any]) -> Any:
    """One matrix for all examples makes one product: the examples are more rows, or more columns."""
    input, other = values
    if dims[0] is not None:
        return F.matmul(input, other)
    size, k, m = other._data.shape
    columns = F.mm(input, F.reshape(F.permute(other, (-2, -3, -1)), (k, size * m)))
    return F.permute(F.reshape(columns, (input._data.shape[0], size, m)), (-2, -3, -1))


F_mm = primitive(
    "mm", product_kernel,
    vjp={"input": lambda F, g, other: F.mm(g, F.mT(other)), "other": lambda F, g, input: F.mm(F.mT(input), g)},
    jvp=bilinear("mm"),
    batch=mm_batch, meta=product_meta,
)  # fmt: skip


def matmul_input_vjp(F: Any, g: Any, other: Any, input_shape: tuple[int, ...]) -> Any:
    return sum_batch(F, F.matmul(g, F.mT(other)), input_shape)


def matmul_other_vjp(F: Any, g: Any, input: Any, other_shape: tuple[int, ...]) -> Any:
    if len(other_shape) == 2:
        rows = math.prod(input.shape[:-1])
        return F.mm(F.mT(F.reshape(input, (rows, other_shape[0]))), F.reshape(g, (rows, other_shape[1])))
    return sum_batch(F, F.matmul(F.mT(input), g), other_shape)


def sum_batch(F: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of a batch that was broadcast."""
    return g if g.shape == shape else F.sum_to(g, shape)


F_matmul = primitive(
    "matmul", matmul_kernel,
    vjp={"input": matmul_input_vjp, "other": matmul_other_vjp},
    jvp=bilinear("matmul"),
    batch="elementwise", meta=product_meta, node_name="BmmBackward0",
)  # fmt: skip
"""Two or more dimensions on both sides; those before the last two are batches, which broadcast."""

# ---- the public functions

C_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long long",
    "int32": "int", "int16": "short", "int8": "signed char", "uint8": "unsigned char", "bool": "bool",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def check_products(name: str, input: Any, other: Any, second: str = "other") -> None:
    """Raise unless both are Tensors of one dtype that can be multiplied."""
    arguments.tensor(input, name)
    arguments.tensor(other, name, second, 2)
    a, b = input._data.dtype, other._data.dtype
    if a != b:
        raise RuntimeError(f"{name}: expected m1 and m2 to have the same dtype, but got: {C_NAMES.get(a.name, a.name)} "
                           f"!= {C_NAMES.get(b.name, b.name)}")  # fmt: skip
    if a.kind == "b":
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'; convert the operands to an integer dtype "
                                  "first")  # fmt: skip


@operator(documented={"other": "tensor2"})
def matmul(input: Tensor, other: Tensor = MISSING, tensor2: Tensor | None = None) -> Tensor:
    """Matrix product of two tensors; ``input @ other``.

    Two vectors give their dot product, two matrices their product, a matrix and a vector the matrix-vector product.
    With more than two dimensions the last two are matrices and the others batches, which broadcast; a vector then
    counts as a row on the left and as a column on the right, and its dimension does not appear in the result.

    Parameters
    ----------
    input, other : Tensor
        Shapes (..., n, k) or (k,), and (..., k, m) or (k,), of one dtype.

    Raises
    ------
    RuntimeError
        If the shapes do not fit, the dtypes differ, or an operand has no dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.matmul(tp.tensor([[1., 2.], [3., 4.]]), tp.tensor([1., 1.]))
    tensor([3., 7.])
    """
    if tensor2 is not None:
        other = either("matmul", "other", other, "tensor2", tensor2)
    try:
        a, b = input._data, other._data
        left, right = a.shape, b.shape
        if len(left) == 2 == len(right) and left[1] == right[0] and a.dtype is b.dtype:
            return F_mm(input, other)
    except AttributeError:
        input, other = with_array(input, other)
    return matmul_any(input, other)


def matmul_any(input: Tensor, other: Tensor) -> Tensor:
    """Any ranks, checked."""
    check_products("matmul", input, other)
    left, right = input._data.shape, other._data.shape
    if not left or not right:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{len(left)}D and {len(right)}D")  # fmt: skip
    if len(right) == 1:
        if len(left) == 1:
            return dot(input, other)
        if len(left) == 2:
            return mv(input, other)
        rows = math.prod(left[:-1])
        check_inner("matmul", (rows, left[-1]), (*right, 1))
        return F.reshape(F_mv(F.reshape(input, (rows, left[-1])), other), left[:-1])
    if len(left) == 1:
        check_inner("matmul", (1, *left), right)
        return matmul_any(F.mT(other), input)
    rows = math.prod(left[:-1]) if len(right) == 2 else left[-2]
    if len(left) == 2 or len(right) == 2:
        check_inner("matmul", (rows, left[-1]), right)
        if len(left) == 2 < len(right):  # the single matrix goes to the right, where it makes one product
            return F.mT(F_matmul(F.mT(other), F.mT(input)))
        return F_mm(input, other) if len(left) == 2 else F_matmul(input, other)
    batch = batch_shape("matmul", left[:-2], right[:-2])
    if left[-1] != right[-2]:
        raise RuntimeError("matmul: Expected size for first two dimensions of batch2 tensor to be: "
                           f"[{math.prod(batch)}, {left[-1]}] but got: [{math.prod(batch)}, {right[-2]}] (shapes "
                           f"{list(left)} and {list(right)}).")  # fmt: skip
    return F_matmul(input, other)


def check_inner(name: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    if left[-1] != right[-2]:
        raise RuntimeError(f"{name}: mat1 and mat2 shapes cannot be multiplied "
                           f"({left[-2]}x{left[-1]} and {right[-2]}x{right[-1]})")  # fmt: skip


def batch_shape(name: str, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of two batches."""
    try:
        return np.broadcast_shapes(left, right)
    except ValueError:
        ndim = max(len(left), len(right))
        a, b = (1,) * (ndim - len(left)) + left, (1,) * (ndim - len(right)) + right
        i = max(i for i in range(ndim) if a[i] != b[i] and 1 not in (a[i], b[i]))
        raise RuntimeError(f"{name}: The size of tensor a ({a[i]}) must match the size of tensor b ({b[i]}) at "
                           f"non-singleton dimension {i} (batches {list(left)} and {list(right)})"
                           "") from None  # fmt: skip


def with_array(t: Any, other: Any) -> tuple[Any, Any]:
    """A tensor and an array as tensors of their common dtype, as for Python's other operators; else as they are."""
    if isinstance(t, Tensor) and isinstance(other, np.ndarray) and other.dtype in dtypes.by_numpy:
        common = promote_types(dtypes.by_numpy[t._data.dtype], dtypes.by_numpy[other.dtype]).numpy
        return t if t._data.dtype == common else F.cast(t, common), wrap(np.asarray(other, common))
    return t, other


def rmatmul(self: Tensor, other: Any) -> Tensor:
    t, other = with_array(self, other)
    return matmul(other, t)


setattr(Tensor, "__matmul__", matmul)  # noqa: B010
setattr(Tensor, "__rmatmul__", rmatmul)  # noqa: B010


@operator()
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices; nothing broadcasts.

    Parameters
    ----------
    input, mat2 : Tensor
        Shapes (n, k) and (k, m).

    Raises
    ------
    RuntimeError
        If an operand is no matrix, the inner extents differ, or the dtypes do.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.mm(tp.tensor([[1., 2.]]), tp.tensor([[3.], [4.]]))
    tensor([[11.]])
    """
    check_products("mm", input, mat2, "mat2")
    check_rank("mm", 2, self=input, mat2=mat2)
    check_inner("mm", input._data.shape, mat2._data.shape)
    return F_mm(input, mat2)


def check_rank(name: str, ndim: int, **tensors: Tensor) -> None:
    for argument, t in tensors.items():
        if t._data.ndim != ndim:
            kind = {1: "a vector", 2: "a matrix", 3: "a 3D tensor"}[ndim]
            raise RuntimeError(f"{name}: {argument} must be {kind}, got {t._data.ndim}D of shape {list(t.shape)}")


@operator(documented={"mat2": "batch2"})
def bmm(input: Tensor, mat2: Tensor = MISSING, batch2: Tensor | None = None) -> Tensor:
    """Products of two batches of matrices; nothing broadcasts.

    Parameters
    ----------
    input, mat2 : Tensor
        Shapes (b, n, k) and (b, k, m).

    Raises
    ------
    RuntimeError
        If an operand is not of rank 3, or shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.bmm(tp.ones(2, 1, 3), tp.ones(2, 3, 1)).flatten()
    tensor([3., 3.])
    """
    if batch2 is not None:
        mat2 = either("bmm", "mat2", mat2, "batch2", batch2)
    check_products("bmm", input, mat2, "mat2")
    check_bmm("bmm", input, mat2)
    return F_matmul(input, mat2)


def check_bmm(name: str, batch1: Tensor, batch2: Tensor) -> None:
    check_rank(name, 3, batch1=batch1, batch2=batch2)
    (b, _, k), (c, j, _) = batch1._data.shape, batch2._data.shape
    if (b, k) != (c, j):
        raise RuntimeError(f"{name}: Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but "
                           f"got: [{c}, {j}].")  # fmt: skip


@operator()
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Product of a matrix and a vector.

    Parameters
    ----------
    input, vec : Tensor
        Shapes (n, k) and (k,).

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.mv(tp.tensor([[1., 2.], [3., 4.]]), tp.tensor([1., 1.]))
    tensor([3., 7.])
    """
    check_products("mv", input, vec, "vec")
    a, b = input._data.shape, vec._data.shape
    if len(a) != 2 or len(b) != 1:
        raise RuntimeError(f"mv: vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    if a[1] != b[0]:
        raise RuntimeError(f"mv: size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    return F_mv(input, vec)


@operator(documented={"tensor": "other"})
def dot(input: Tensor, tensor: Tensor = MISSING, other: Tensor | None = None) -> Tensor:
    """Dot product of two vectors: the sum of their products, without conjugation.

    Parameters
    ----------
    input, tensor : Tensor
        Both of shape (k,).

    Raises
    ------
    RuntimeError
        If an operand is no vector, or lengths or dtypes differ.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.dot(tp.tensor([2., 3.]), tp.tensor([2., 1.]))
    tensor(7.)
    """
    if other is not None:
        tensor = either("dot", "tensor", tensor, "other", other)
    check_vectors("dot", input, tensor)
    return F_dot(input, tensor)


def check_vectors(name: str, input: Tensor, tensor: Tensor) -> None:
    check_products(name, input, tensor, "tensor")
    a, b = input._data.shape, tensor._data.shape
    if len(a) != 1 or len(b) != 1:
        raise RuntimeError(f"{name}: 1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    if a != b:
        raise RuntimeError(f"{name}: inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the "
                           f"same number of elements, but got {a[0]} and {b[0]} elements respectively")  # fmt: skip


@operator()
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Dot product of two vectors, the first one conjugated.

    Parameters
    ----------
    input, other : Tensor
        Both of shape (k,).

    Raises
    ------
    RuntimeError
        If an operand is no vector, or lengths or dtypes differ.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.vdot(tp.tensor([2., 3.]), tp.tensor([2., 1.]))
    tensor(7.)
    """
    check_vectors("vdot", input, other)
    return F_dot(F.conj(input), other)


@operator()
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums of products over the last dimension of both; a 0-dim tensor multiplies.

    Parameters
    ----------
    input, other : Tensor
        Shapes (..., k) and (*, k); the result has shape (..., *).

    Raises
    ------
    RuntimeError
        If the last extents or the dtypes differ.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.inner(tp.tensor([[1., 2.], [3., 4.]]), tp.tensor([1., 1.]))
    tensor([3., 7.])
    """
    a, b = arguments.tensor(input, "inner")._data.shape, arguments.tensor(other, "inner", "other", 2)._data.shape
    if not a or not b:
        return F.mul(input, other)
    if a[-1] != b[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(a)} and {list(b)}")  # fmt: skip
    check_products("inner", input, other)
    rows, columns, k = math.prod(a[:-1]), math.prod(b[:-1]), a[-1]
    out = F_mm(F.reshape(input, (rows, k)), F.mT(F.reshape(other, (columns, k))))
    return F.reshape(out, (*a[:-1], *b[:-1]))


@operator(aliases=("ger",))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Products of all elements of one vector with all of another.

    Parameters
    ----------
    input, vec2 : Tensor
        Shapes (n,) and (m,); the result has shape (n, m).

    Raises
    ------
    RuntimeError
        If an operand is no vector.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.outer(tp.tensor([1., 2.]), tp.tensor([3., 4.]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    for name, value, position in (("input", input, 1), ("vec2", vec2, 2)):
        if arguments.tensor(value, "outer", name, position)._data.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {value._data.ndim}-D")
    return F.mul(F.reshape(input, (*input._data.shape, 1)), vec2)


# ---- a product added to a tensor


def add_product(name: str, input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """``beta * input + alpha * product``; without reading the input if beta is 0; integers drop fractions."""
    if beta.__class__ is not int or alpha.__class__ is not int:
        beta, alpha = arguments.number(beta, name, "beta", 4), arguments.number(alpha, name, "alpha", 5)
    have, want = input._data.shape, product._data.shape
    if input._data.dtype != product._data.dtype:
        raise RuntimeError(f"{name}: self and mat2 must have the same dtype, but got {input.dtype} and {product.dtype}")
    if len(have) > len(want) or any(n != m and n != 1 for n, m in zip(have[::-1], want[::-1], strict=False)):
        raise RuntimeError(f"{name}: The expanded size of the tensor must match the existing size at the non-singleton "
                           f"dimensions.  Target sizes: {list(want)}.  Tensor sizes: {list(have)}")  # fmt: skip
    if product._data.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    if alpha != 1:
        product = F.mul(product, alpha)
    if beta == 0:  # a gradient of zeros, where one is wanted
        return product if input._node is None else F.where(wrap(np.zeros((), bool)), input, product)
    return F.add(input if beta == 1 else F.mul(input, beta), product)


@operator(inplace=True)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` for two matrices.

    Parameters
    ----------
    input : Tensor
        Broadcast to the shape of the product; not read if ``beta`` is 0.
    mat1, mat2 : Tensor
        Shapes (n, k) and (k, m).

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.addmm(tp.ones(2), tp.ones(2, 3), tp.ones(3, 2), beta=2)
    tensor([[5., 5.],
            [5., 5.]])
    """
    arguments.tensor(input, "addmm")
    check_products("addmm", mat1, mat2, "mat2")
    check_rank("addmm", 2, mat1=mat1, mat2=mat2)
    check_inner("addmm", mat1._data.shape, mat2._data.shape)
    return add_product("addmm", input, F_mm(mat1, mat2), beta, alpha)


@operator(inplace=True)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat @ vec)`` for a matrix and a vector.

    Parameters
    ----------
    input : Tensor
        Broadcast to the shape (n,); not read if ``beta`` is 0.
    mat, vec : Tensor
        Shapes (n, k) and (k,).

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.addmv(tp.ones(2), tp.ones(2, 3), tp.ones(3))
    tensor([4., 4.])
    """
    arguments.tensor(input, "addmv")
    return add_product("addmv", input, mv(mat, vec), beta, alpha)


@operator(inplace=True)
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``.

    Parameters
    ----------
    input : Tensor
        Broadcast to the shape (n, m); not read if ``beta`` is 0.
    vec1, vec2 : Tensor
        Shapes (n,) and (m,).

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.addr(tp.zeros(2, 2), tp.tensor([1., 2.]), tp.tensor([3., 4.]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    arguments.tensor(input, "addr")
    product = outer(vec1, vec2)
    common = promote_types(input.dtype, product.dtype)
    if common.numpy.kind == "b":
        beta, alpha = bool(beta), bool(alpha)
    elif common.numpy.kind in "iu":
        for argument, value in (("alpha", alpha), ("beta", beta)):
            if isinstance(value, float):
                raise RuntimeError(f"addr: For integral input tensors, argument {argument} must not be a floating "
                                   "point number.")  # fmt: skip
    input, product = (arguments.cast(t, common, "addr") for t in (input, product))
    return add_product("addr", input, product, beta, alpha)


@operator(inplace=True)
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``.

    Parameters
    ----------
    input : Tensor
        Broadcast to the shape (b, n, m); not read if ``beta`` is 0.
    batch1, batch2 : Tensor
        Shapes (b, n, k) and (b, k, m).

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.baddbmm(tp.ones(1), tp.ones(2, 1, 3), tp.ones(2, 3, 1)).flatten()
    tensor([4., 4.])
    """
    arguments.tensor(input, "baddbmm")
    check_products("baddbmm", batch1, batch2, "batch2")
    check_bmm("baddbmm", batch1, batch2)
    return add_product("baddbmm", input, F_matmul(batch1, batch2), beta, alpha)


@operator(inplace=True)
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2).sum(0)``.

    Parameters
    ----------
    input : Tensor
        Broadcast to the shape (n, m); not read if ``beta`` is 0.
    batch1, batch2 : Tensor
        Shapes (b, n, k) and (b, k, m).

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.addbmm(tp.ones(1), tp.ones(2, 1, 3), tp.ones(2, 3, 1))
    tensor([[7.]])
    """
    arguments.tensor(input, "addbmm")
    check_products("addbmm", batch1, batch2, "batch2")
    check_bmm("addbmm", batch1, batch2)
    (b, n, k), m = batch1._data.shape, batch2._data.shape[2]
    rows = F.reshape(F.permute(batch1, (-2, -3, -1)), (n, b * k))
    return add_product("addbmm", input, F.mm(rows, F.reshape(batch2, (b * k, m))), beta, alpha)


# ---- products made of others


@operator()
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker product: blocks of ``other``, one for each element of ``input``, multiplied by it.

    Parameters
    ----------
    input, other : Tensor
        Any shapes; the one with fewer dimensions gets ones in front. Extents of the result are the products.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.kron(tp.tensor([1., 10.]), tp.tensor([1., 2.]))
    tensor([ 1.,  2., 10., 20.])
    """
    a, b = arguments.tensor(input, "kron")._data.shape, arguments.tensor(other, "kron", "other", 2)._data.shape
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    spread = [n for extent in a for n in (extent, 1)]
    blocks = [n for extent in b for n in (1, extent)]
    product = F.mul(F.reshape(input, tuple(spread)), F.reshape(other, tuple(blocks)))
    return F.reshape(product, tuple(n * m for n, m in zip(a, b, strict=True)))


@operator(out=False)
def trace(input: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix.

    Parameters
    ----------
    input : Tensor
        Shape (n, m).

    Raises
    ------
    RuntimeError
        If the input is no matrix.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.trace(tp.tensor([[1., 2.], [3., 4.]]))
    tensor(5.)
    """
    if arguments.tensor(input, "trace")._data.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._data.ndim}")
    if input._data.dtype.kind == "b":
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    if input._data.dtype.kind in "iu":
        input = F.cast(input, dtypes.int64.numpy)
    return F.sum(F.diagonal(input, 0, -2, -1), (-1,), False)


def cross_kernel(xp: Any, input: Any, other: Any, *, dim: int) -> Any:
    a, b = xp.moveaxis(input, dim, 0), xp.moveaxis(other, dim, 0)
    out = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return xp.stack(out, axis=dim)


F_cross = primitive(
    "cross", cross_kernel,
    vjp={"input": lambda F, g, other, dim: F.cross(other, g, dim),
         "other": lambda F, g, input, dim: F.cross(g, input, dim)},
    jvp={"input": lambda F, t, other, dim: F.cross(t, other, dim),
         "other": lambda F, t, input, dim: F.cross(input, t, dim)},
    batch="same", node_name="LinalgCrossBackward0",
)  # fmt: skip
"""Both operands have the shape of the result."""


def checked_cross(name: str, input: Tensor, other: Tensor, dim: int | None) -> Tensor:
    arguments.tensor(input, name)
    arguments.tensor(other, name, "other", 2)
    a, b = input._data.shape, other._data.shape
    if len(a) != len(b):
        raise RuntimeError(f"{name}: inputs must have the same number of dimensions, got {len(a)} and {len(b)}.")
    if input._data.dtype != other._data.dtype:
        raise RuntimeError(f"{name}: expected both inputs to have one dtype, but found {input.dtype} and {other.dtype}")
    if input._data.dtype.kind == "b":
        raise NotImplementedError(f"{name}: not implemented for {input.dtype}")
    if dim is None:
        dim = next((i for i, (n, m) in enumerate(zip(a, b, strict=True)) if n == 3 == m), None)
        if dim is None:
            raise RuntimeError(f"{name}: no dimension of size 3 in input, got shapes {list(a)} and {list(b)}")
    dim = arguments.dimension(dim, len(a), name)
    if a[dim] != 3 or b[dim] != 3:
        raise RuntimeError(f"{name}: inputs dimension {dim} must have length 3. Got {a[dim]} and {b[dim]}")
    shape = batch_shape(name, a, b)
    return F_cross(*(t if t._data.shape == shape else F.expand(t, shape) for t in (input, other)), dim)


@operator()
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Cross products of vectors in three dimensions.

    Parameters
    ----------
    input, other : Tensor
        Shapes that broadcast, with extent 3 in ``dim``.
    dim : int, optional
        The dimension of the vectors; the first one of extent 3 by default.

    Raises
    ------
    RuntimeError
        If ranks, extents or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cross(tp.tensor([1., 0., 0.]), tp.tensor([0., 1., 0.]), dim=0)
    tensor([0., 0., 1.])
    """
    return checked_cross("cross", input, other, dim)


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Cross products of vectors in three dimensions, along ``dim``; as :func:`tensorplay.cross`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.cross(tp.tensor([1., 0., 0.]), tp.tensor([0., 1., 0.]))
    tensor([0., 0., 1.])
    """
    return checked_cross("linalg.cross", input, other, dim)


operator(name="cross", namespace="linalg", method=False)(linalg_cross)
operator(name="matmul", namespace="linalg", method=False)(matmul)
