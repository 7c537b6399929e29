"""Determinants, inverses, linear systems, least squares, and functions of a matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import return_types
from ..core.carrier import Meta
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import primitive
from ..core.tensor import Tensor
from . import arguments
from .cholesky import check_system
from .decompositions import getrf
from .diagonals import diagonal
from .matmul import batch_shape, check_inner, check_products, matmul, sum_batch
from .matrices import (
    LinAlgError,
    as_columns,
    block,
    constant,
    each,
    element,
    floating,
    identity,
    is_complex,
    mH,
    real_of,
    same,
    same_dtype,
    square,
    systems,
)

# ---- determinants


def without_one(values: Any) -> tuple[Any, Any]:
    """Products of all values but one, and of all but two (the diagonal left zero), without dividing by zero."""
    zero = values == 0
    filled = np.where(zero, 1, values)
    product, zeros = filled.prod(-1)[..., None], zero.sum(-1)[..., None]
    one = np.where(zeros - zero == 0, product / filled, 0)
    pair = zero[..., :, None].astype(int) + zero[..., None, :]
    two = product[..., None] / (filled[..., :, None] * filled[..., None, :])
    return one, np.where((zeros[..., None] - pair == 0) & ~np.eye(values.shape[-1], dtype=bool), two, 0)


def turned(input: Any) -> tuple[Any, ...]:
    """Matrices U, V and values s with A = U diag(s) V, and the determinant of the first two."""
    finite = np.isfinite(input).all((-2, -1))
    U, s, V = np.linalg.svd(np.where(finite[..., None, None], input, 0), full_matrices=False)
    s = np.where(finite[..., None], s, np.nan)
    return U, s.astype(input.dtype), V, (np.linalg.det(U) * np.linalg.det(V))[..., None, None]


def det_kernel(xp: Any, input: Any) -> Any:
    with np.errstate(all="ignore"):
        return xp.linalg.det(input)


def cofactor_kernel(xp: Any, input: Any) -> Any:
    """The cofactors, which are the gradient of the determinant; by singular values where it is zero or nearly so."""
    if not input.size:
        return input.copy()
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(input)
            sizes = np.linalg.norm(input, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
            if (sizes < np.finfo(input.dtype).eps ** -0.5).all():
                return np.linalg.det(input)[..., None, None] * inverse.swapaxes(-1, -2)
        except np.linalg.LinAlgError:
            pass
        U, s, V, sign = turned(input)
        return sign * ((U.conj() * without_one(s)[0][..., None, :]) @ V.conj())


def cofactor_push_kernel(xp: Any, input: Any, direction: Any) -> Any:
    """How the cofactors change in a direction; a symmetric bilinear form, the second derivative of the determinant."""
    if not input.size:
        return input.copy()
    with np.errstate(all="ignore"):
        U, s, V, sign = turned(input)
        inner = U.conj().swapaxes(-1, -2) @ direction @ V.conj().swapaxes(-1, -2)
        pairs = without_one(s)[1]
        change = -pairs * inner.swapaxes(-1, -2)
        along = (pairs @ np.diagonal(inner, axis1=-2, axis2=-1)[..., None])[..., 0]
        change[..., range(s.shape[-1]), range(s.shape[-1])] = along
        return sign * (U.conj() @ change @ V.conj())


def third_derivative(F: Any, input: Any, first: Any, second: Any) -> Any:
    """The third derivative of the determinant in two directions; for invertible matrices."""
    K, d = F.mT(F.inv(input, "")), F.reshape(F.det(input), (*input.shape[:-2], 1, 1))

    def trace(x: Any) -> Any:
        return F.sum(K * x, (-2, -1), True)

    def push(x: Any) -> Any:
        return F.matmul(K, F.matmul(F.mT(x), K))

    K_first, K_second = push(first), push(second)
    both = F.matmul(K_first, F.matmul(F.mT(second), K)) + F.matmul(K_second, F.matmul(F.mT(first), K))
    a, b = trace(first), trace(second)
    crossed = F.sum(K_first * second, (-2, -1), True)
    return d * ((a * b - crossed) * K - a * K_second - b * K_first + both)


primitive(
    "det", det_kernel,
    vjp={"input": lambda F, g, input: F.reshape(g, (*g.shape, 1, 1)) * F.cofactor(input)},
    jvp={"input": lambda F, t, input: F.sum(t * F.cofactor(input), (-2, -1), False)},
    batch="same", meta=lambda input: Meta(input.shape[:-2], input.dtype), node_name="LinalgDetBackward0",
)  # fmt: skip
primitive(
    "cofactor", cofactor_kernel, vjp={"input": lambda F, g, input: F.cofactor_push(input, g)},
    jvp={"input": lambda F, t, input: F.cofactor_push(input, t)}, batch="same", meta=same,
)  # fmt: skip
primitive(
    "cofactor_push", cofactor_push_kernel,
    vjp={"input": lambda F, g, input, direction: third_derivative(F, input, direction, g),
         "direction": lambda F, g, input: F.cofactor_push(input, g)},
    jvp={"input": lambda F, t, input, direction: third_derivative(F, input, direction, t),
         "direction": lambda F, t, input: F.cofactor_push(input, t)},
    batch="same", meta=same,
)  # fmt: skip


@operator(namespace="linalg", method=False)
def det(A: Tensor) -> Tensor:
    """Determinant of a square matrix.

    Its derivatives of first and second order are right for singular matrices too.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).

    Raises
    ------
    RuntimeError
        If the matrices are not square, or not of a floating or complex dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.det(tp.tensor([[2., 1.], [0., 3.]]))
    tensor(6.)
    """
    return F.det(square(A, "linalg.det"))


@operator(name="det", out=False)
def torch_det(input: Tensor) -> Tensor:
    """Determinant of a square matrix; as :func:`tensorplay.linalg.det`.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, n).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.det(tp.tensor([[2., 1.], [0., 3.]]))
    tensor(6.)
    """
    return F.det(square(input, "linalg.det"))


def slogdet_vjp(F: Any, g: Any, input: Any, out: Any) -> Any:
    """The differential of the logarithm of the determinant is tr(A^-1 dA)."""
    of_sign, of_log = g
    factor = of_log
    if of_sign is not None and is_complex(out[0]):
        turn = F.conj(of_sign) * out[0]
        turn = (F.conj(turn) - turn) * 0.5
        factor = turn if factor is None else factor + turn
    if factor is None:
        return F.zeros_like(input)
    return F.reshape(factor, (*factor.shape, 1, 1)) * mH(F, F.inv(input, ""))


def slogdet_jvp(F: Any, t: Any, input: Any, out: Any) -> Any:
    change = F.sum(t * F.mT(F.inv(input, "")), (-2, -1), False)
    if not is_complex(input):
        return [F.zeros_like(out[0]), change]
    return [out[0] * (change - F.conj(change)) * 0.5, F.real(change)]


def slogdet_kernel(xp: Any, input: Any) -> Any:
    sign, logarithm = xp.linalg.slogdet(input)
    return np.asarray(sign), np.asarray(logarithm)


primitive(
    "slogdet", slogdet_kernel, vjp={"input": slogdet_vjp}, jvp={"input": slogdet_jvp}, batch="same", holomorphic=False,
    outputs=2, read=(0,), node_name="LinalgSlogdetBackward0",
    meta=lambda input: [Meta(input.shape[:-2], dtype) for dtype in (input.dtype, real_of(input.dtype))],
)  # fmt: skip


@operator(namespace="linalg", method=False)
def slogdet(A: Tensor) -> Any:
    """Sign and logarithm of the absolute value of the determinant.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).

    Returns
    -------
    sign, logabsdet : Tensor
        The named tuple; sign is 0, and logabsdet -inf, for a singular matrix.

    Raises
    ------
    RuntimeError
        If the matrices are not square, or not of a floating or complex dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.slogdet(tp.tensor([[1., 0.], [0., -1.]]))
    tensorplay.return_types.linalg_slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(0.))
    """
    return return_types.linalg_slogdet(*F.slogdet(square(A, "linalg.slogdet")))


@operator(name="slogdet")
def torch_slogdet(input: Tensor) -> Any:
    """Sign and logarithm of the absolute value of the determinant; as :func:`tensorplay.linalg.slogdet`.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, n).

    Returns
    -------
    sign, logabsdet : Tensor
        The named tuple.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.slogdet(tp.tensor([[1., 0.], [0., -1.]])).sign
    tensor(-1.)
    """
    return return_types.slogdet(*F.slogdet(square(input, "slogdet", "input")))


@operator(out=False)
def logdet(input: Tensor) -> Tensor:
    """Logarithm of the determinant: -inf where it is zero, nan where it is negative.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, n).

    Raises
    ------
    RuntimeError
        If the matrices are not square, or not of a floating or complex dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.logdet(tp.tensor([[1., 0.], [0., 1.]]))
    tensor(0.)
    """
    sign, logarithm = F.slogdet(square(input, "logdet", "input"))
    return F.log(sign) + logarithm


# ---- inverses


def failures(input: Any) -> Any:
    """For each matrix 0, or the position of the first zero among its pivots."""
    factor = getrf(input.dtype)
    return np.asarray(each(lambda a: factor(a)[2], input))


def by_matrix(function: Any, info: Any, *arrays: Any) -> Any:
    """The function of the matrices that are not singular; nan for the others."""

    def one(code: Any, *matrices: Any) -> Any:
        if code[0, 0]:
            return np.full(matrices[-1].shape, np.nan, matrices[-1].dtype)
        return function(*matrices)

    return each(one, info[..., None, None], *arrays)


def inv_kernel(xp: Any, input: Any, *, check: str) -> Any:
    try:
        return xp.linalg.inv(input)
    except np.linalg.LinAlgError:
        info = failures(input)
    if check:
        where, order = element(info)
        raise LinAlgError(f"{check}: {where}The diagonal element {order} is zero, the inversion could not be completed "
                          "because the input matrix is singular.") from None  # fmt: skip
    return by_matrix(np.linalg.inv, info, input)


def inv_rule(F: Any, t: Any, out: Any) -> Any:
    return -F.matmul(out, F.matmul(t, out))


def inv_vjp(F: Any, g: Any, out: Any) -> Any:
    return inv_rule(F, g, F.mT(out))


primitive("inv", inv_kernel, vjp={"input": inv_vjp}, jvp={"input": inv_rule}, batch="same", meta=same,
          node_name="LinalgInvExBackward0")  # fmt: skip


@operator(namespace="linalg", method=False)
def inv(A: Tensor) -> Tensor:
    """Inverse of a square matrix.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.inv(tp.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return F.inv(square(A, "linalg.inv"), "linalg.inv")


@operator()
def inverse(input: Tensor) -> Tensor:
    """Inverse of a square matrix; as :func:`tensorplay.linalg.inv`.

    Parameters
    ----------
    input : Tensor
        Shape (..., n, n).

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.inverse(tp.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return F.inv(square(input, "linalg.inv"), "linalg.inv")


@operator(namespace="linalg", method=False)
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """Inverse together with a code of success, instead of an error.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).
    check_errors : bool
        Whether to raise all the same.

    Returns
    -------
    inverse, info : Tensor
        The named tuple. ``info``, of int32, is 0, or the position (from 1) of the first zero among the pivots; the
        inverse is then full of nan.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.inv_ex(tp.zeros(2, 2)).info
    tensor(1, dtype=tensorplay.int32)
    """
    name = "linalg.inv_ex"
    out = F.inv(square(A, name), name if check_errors else "")
    return return_types.linalg_inv_ex(out, F.lu_factor(A.detach(), "")[2])


# ---- linear systems: A X = B


def solve_kernel(xp: Any, input: Any, other: Any, *, check: str) -> Any:
    try:
        if input.ndim == 2 < other.ndim:
            return as_columns(lambda wide: xp.linalg.solve(input, wide), other)
        return xp.linalg.solve(input, other)
    except np.linalg.LinAlgError:
        info = failures(input)
    if check:
        raise LinAlgError(f"{check}: {element(info)[0]}The solver failed because the input matrix is singular."
                          "") from None  # fmt: skip
    return by_matrix(np.linalg.solve, info, input, other)


def solve_vjp(F: Any, g: Any, input: Any, out: Any, input_shape: Any, other_shape: Any, needs: Any) -> Any:
    of_other = F.solve(F.mT(input), g, "")
    of_input = sum_batch(F, -F.matmul(of_other, F.mT(out)), input_shape) if needs[0] else None
    return of_input, sum_batch(F, of_other, other_shape) if needs[1] else None


def solve_jvp(F: Any, tangents: Any, input: Any, out: Any) -> Any:
    of_input, right = tangents
    if of_input is not None:
        moved = F.matmul(of_input, out)
        right = -moved if right is None else right - moved
    return F.solve(input, right, "")


primitive("solve", solve_kernel, vjp=solve_vjp, jvp=solve_jvp, batch="elementwise", meta=systems,
          node_name="LinalgSolveExBackward0")  # fmt: skip


def solved(name: str, A: Tensor, B: Tensor, left: bool, check: str) -> Tensor:
    a = square(A, name)._data.shape
    b = floating(B, name, "B", 2)._data.shape
    same_dtype(name, A=A, B=B)
    vector = len(b) == 1 or (len(b) == len(a) - 1 and b == a[:-1])
    if vector:
        A, B, left = A if left else F.mT(A), F.reshape(B, (*b, 1)), True
    elif not b:
        raise RuntimeError(f"{name}: B must have at least one dimension, got a 0-dim tensor")
    check_system(name, A, B, left)
    out = F.solve(A, B, check) if left else F.mT(F.solve(F.mT(A), F.mT(B), check))
    return F.reshape(out, out._data.shape[:-1]) if vector else out


@operator(namespace="linalg", method=False)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Solve AX = B, or XA = B, for a square A.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).
    B : Tensor
        Shape (n,) or (..., n) with the batch of A, one vector for each matrix; or (..., n, k), or (..., k, n) if
        ``left`` is False, with a batch that broadcasts.
    left : bool
        Whether to solve AX = B.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.solve(tp.tensor([[2., 0.], [0., 4.]]), tp.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    return solved("linalg.solve", A, B, left, "linalg.solve")


@operator(namespace="linalg", method=False)
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """Solve AX = B, or XA = B, and return a code of success instead of an error.

    Parameters
    ----------
    A, B, left
        As for :func:`tensorplay.linalg.solve`.
    check_errors : bool
        Whether to raise all the same.

    Returns
    -------
    result, info : Tensor
        The named tuple. ``info``, of int32, is 0, or the position (from 1) of the first zero among the pivots; the
        result is then full of nan.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.solve_ex(tp.zeros(2, 2), tp.ones(2)).info
    tensor(1, dtype=tensorplay.int32)
    """
    name = "linalg.solve_ex"
    out = solved(name, A, B, left, name if check_errors else "")
    return return_types.linalg_solve_ex(out, F.lu_factor(A.detach(), "")[2])


@operator(namespace="linalg", method=False)
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """Inverse of a tensor with respect to :func:`tensorplay.tensordot` over ``ind`` dimensions.

    Parameters
    ----------
    A : Tensor
        The first ``ind`` extents have the same product as the others.
    ind : int
        How many leading dimensions are the rows.

    Raises
    ------
    RuntimeError
        If the products differ.
    LinAlgError
        If the tensor is singular.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.tensorinv(tp.eye(6).reshape(2, 3, 6)).shape
    tensorplay.Size([6, 2, 3])
    """
    name = "linalg.tensorinv"
    shape = floating(A, name)._data.shape
    if ind <= 0:
        raise RuntimeError(f"{name}: Expected ind to be a strictly positive integer, got {ind}")
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise RuntimeError(f"{name}: Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                           f"prod(self.shape[:ind]), but got {columns} != {rows}")  # fmt: skip
    return F.reshape(F.inv(F.reshape(A, (rows, rows)), name), (*shape[ind:], *shape[:ind]))


@operator(namespace="linalg", method=False)
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The tensor X with ``tensordot(A, X, dims=X.ndim) == B``.

    Parameters
    ----------
    A, B : Tensor
        The leading extents of A are those of B; the others have the same product.
    dims : sequence of int, optional
        Dimensions of A to move to its end first.

    Raises
    ------
    RuntimeError
        If the extents do not fit.
    LinAlgError
        If A is singular.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.tensorsolve(tp.eye(6).reshape(2, 3, 6), tp.ones(2, 3))
    tensor([1., 1., 1., 1., 1., 1.])
    """
    name = "linalg.tensorsolve"
    floating(A, name)
    floating(B, name, "B", 2)
    same_dtype(name, A=A, B=B)
    if dims is not None:
        last = [d % A._data.ndim for d in arguments.dimensions(list(dims), A._data.ndim, name, "dims", 3)]
        order = [d for d in range(A._data.ndim) if d not in last] + last
        A = F.permute(A, tuple(d - A._data.ndim for d in order))
    shape, n = A._data.shape[B._data.ndim :], B._data.size
    if math.prod(shape) != n or A._data.size != n * n:
        raise RuntimeError(f"{name}: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                           f"prod(self.shape[:other.ndim]), but got {math.prod(shape)} != {n}")  # fmt: skip
    return F.reshape(F.solve(F.reshape(A, (n, n)), F.reshape(B, (n, 1)), name), shape)


# ---- functions of a matrix


@operator(namespace="linalg", method=False)
def matrix_power(A: Tensor, n: int) -> Tensor:
    """A square matrix to an integer power, by repeated squaring.

    Parameters
    ----------
    A : Tensor
        Shape (..., m, m).
    n : int
        The exponent; a negative one inverts.

    Raises
    ------
    RuntimeError
        If the matrices are not square.
    LinAlgError
        If ``n`` is negative and a matrix is singular.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.matrix_power(tp.tensor([[1., 1.], [0., 1.]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    name = "linalg.matrix_power"
    n = arguments.integer(n, name, "n", 2)
    shape = arguments.tensor(A, name, "A")._data.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        square(A, name)
    if n == 0:
        return F.where(constant(F, np.zeros((), bool)), A, F.cast(identity(F, A), A._data.dtype))
    if n < 0:
        return matrix_power(F.inv(square(A, name), "linalg.inv"), -n)
    if n == 1:
        return F.clone(A)
    half = matrix_power(A, n // 2) if n > 3 else A
    out = matmul(half, half)
    return matmul(out, A) if n & 1 else out


@operator(name="matrix_power")
def torch_matrix_power(input: Tensor, n: int) -> Tensor:
    """A square matrix to an integer power; as :func:`tensorplay.linalg.matrix_power`.

    Parameters
    ----------
    input : Tensor
        Shape (..., m, m).
    n : int
        The exponent; a negative one inverts.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.matrix_power(tp.tensor([[1., 1.], [0., 1.]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    return matrix_power(input, n)


def matrix_exp_kernel(xp: Any, input: Any) -> Any:
    import scipy.linalg

    if not input.size:
        return input.copy()
    if input.dtype.char not in "fdFD":
        return scipy.linalg.expm(input.astype(np.float32)).astype(input.dtype)
    return scipy.linalg.expm(input).astype(input.dtype, copy=False)


def matrix_exp_jvp(F: Any, t: Any, input: Any) -> Any:
    """The upper right block of exp([[A, dA], [0, A]]): R. Mathias, A chain rule for matrix functions, 1996."""
    n = input.shape[-1]
    above, below = F.cat(input, t, dim=-1), F.cat(F.zeros_like(t), input, dim=-1)
    return block(F, F.matrix_exp(F.cat(above, below, dim=-2)), slice(0, n), slice(n, None))


def matrix_exp_vjp(F: Any, g: Any, input: Any) -> Any:
    return matrix_exp_jvp(F, g, F.mT(input))


primitive("matrix_exp", matrix_exp_kernel, vjp={"input": matrix_exp_vjp}, jvp={"input": matrix_exp_jvp}, batch="same",
          meta=same, node_name="LinalgMatrixExpBackward0")  # fmt: skip


@operator(out=False)
@operator(namespace="linalg", method=False, out=False)
def matrix_exp(A: Tensor) -> Tensor:
    """Exponential of a square matrix.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, n).

    Raises
    ------
    RuntimeError
        If the matrices are not square, or not of a floating or complex dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.matrix_exp(tp.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    name = "linalg.matrix_exp"
    half = isinstance(A, Tensor) and A._data.dtype.kind in "fV" and A._data.dtype.itemsize == 2
    square(A if not half else F.cast(A, np.dtype(np.float32)), name)
    return F.matrix_exp(A)


# ---- chains and small things


def chain(tensors: list[Tensor], name: str) -> Tensor:
    """The product of several matrices in the order that needs the fewest multiplications (dynamic programming)."""
    count = len(tensors)
    extents = [tensors[0]._data.shape[0], *(t._data.shape[1] for t in tensors)]
    for a, b in zip(tensors, tensors[1:], strict=False):
        check_products(name, a, b)
        check_inner(name, a._data.shape, b._data.shape)
    costs = [[0] * count for _ in range(count)]
    splits = [[0] * count for _ in range(count)]
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            j = i + length - 1
            costs[i][j], splits[i][j] = min(
                (costs[i][k] + costs[k + 1][j] + extents[i] * extents[k + 1] * extents[j + 1], k) for k in range(i, j))

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return tensors[i]
        return F.mm(product(i, splits[i][j]), product(splits[i][j] + 1, j))

    return product(0, count - 1)


@operator(namespace="linalg", method=False)
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Product of two or more matrices, in the order that needs the fewest multiplications.

    Parameters
    ----------
    tensors : sequence of Tensor
        Matrices; the first may be a vector (a row) and the last one (a column), whose dimension is dropped.

    Raises
    ------
    RuntimeError
        If there are fewer than two, or shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.multi_dot([tp.ones(2, 3), tp.ones(3, 4), tp.ones(4)])
    tensor([12., 12.])
    """
    name = "multi_dot"
    given = list(arguments.tensors(tensors, name))
    if len(given) < 2:
        raise RuntimeError(f"{name}(): expected at least 2 tensors but got {len(given)}")
    first, last = given[0]._data.ndim == 1, given[-1]._data.ndim == 1
    if first:
        given[0] = F.reshape(given[0], (1, *given[0]._data.shape))
    if last:
        given[-1] = F.reshape(given[-1], (*given[-1]._data.shape, 1))
    for i, t in enumerate(given):
        if t._data.ndim != 2:
            which = "1D or 2D" if i in (0, len(given) - 1) else "2D"
            raise RuntimeError(f"{name}(): tensor {i} must be {which} but got {t._data.ndim}D")
    out = chain(given, name)
    n, m = out._data.shape
    return F.reshape(out, (n,) * (not first) + (m,) * (not last)) if first or last else out


@operator(method=False)
def chain_matmul(*matrices: Tensor) -> Tensor:
    """Product of matrices, in the order that needs the fewest multiplications.

    Parameters
    ----------
    *matrices : Tensor
        One or more matrices.

    Raises
    ------
    RuntimeError
        If there are none, or shapes or dtypes do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.chain_matmul(tp.ones(1, 3), tp.ones(3, 4), tp.ones(4, 1))
    tensor([[12.]])
    """
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    given = list(arguments.tensors(matrices, "chain_matmul", "matrices"))
    for i, t in enumerate(given):
        if t._data.ndim != 2:
            raise RuntimeError(f"chain_matmul(): Tensor dimension is {t._data.ndim}, expected 2 instead (matrix {i})")
    return chain(given, "chain_matmul")


@operator(namespace="linalg", method=False)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Dot products of the vectors along one dimension, those of ``x`` conjugated.

    Parameters
    ----------
    x, y : Tensor
        Shapes that broadcast, of one dtype.
    dim : int
        The dimension of the vectors.

    Raises
    ------
    RuntimeError
        If the dtypes differ.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.vecdot(tp.tensor([[1., 2.], [3., 4.]]), tp.tensor([1., 1.]))
    tensor([3., 7.])
    """
    name = "linalg.vecdot"
    check_products(name, x, y, "y")
    shape = batch_shape(name, x._data.shape, y._data.shape)
    dim = arguments.dimension(dim, len(shape), name)
    product = F.conj(x) * y
    return F.sum(product, (dim,), False) if shape else product


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices; as :func:`tensorplay.diagonal`, for the last two dimensions by default.

    Parameters
    ----------
    A : Tensor
        Shape (..., n, m).
    offset : int
        Diagonals above (positive) or below the main one.
    dim1, dim2 : int
        The dimensions of rows and columns.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.diagonal(tp.tensor([[1., 2.], [3., 4.]]))
    tensor([1., 4.])
    """
    return diagonal(A, offset, dim1, dim2)


operator(name="diagonal", namespace="linalg", method=False, out=False)(linalg_diagonal)


@operator(namespace="linalg", method=False, out=False)
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Vandermonde matrix: the powers 0 to N - 1 of each element, along a new last dimension.

    Parameters
    ----------
    x : Tensor
        Shape (..., n).
    N : int, optional
        How many powers; n by default.

    Raises
    ------
    RuntimeError
        If ``N`` is not larger than 1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.linalg.vander(tp.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    name = "linalg.vander"
    shape = arguments.tensor(x, name, "x")._data.shape
    if x._data.dtype.kind == "b":
        raise RuntimeError(f"{name}: x of dtype bool is not supported")
    if not shape:
        x, shape = F.reshape(x, (1,)), (1,)
    N = shape[-1] if N is None else arguments.integer(N, name, "N", 2)
    if N <= 1:
        raise RuntimeError(f"{name}: N must be greater than 1, got {N}")
    if x._data.dtype.kind in "iu":
        x = F.cast(x, np.dtype(np.int64))
    return F.stack(*powers_of(x, N), dim=-1)


def powers_of(x: Tensor, count: int) -> list[Tensor]:
    """The powers from 0 on."""
    powers = [F.ones_like(x)]
    while len(powers) < count:
        powers.append(F.mul(powers[-1], x) if len(powers) > 1 else x)
    return powers


@operator(name="vander", method=False, out=False)
def torch_vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Vandermonde matrix: the powers of the elements of a vector in the columns.

    Parameters
    ----------
    x : Tensor
        Shape (n,).
    N : int, optional
        How many columns; n by default.
    increasing : bool
        Whether the powers increase from left to right.

    Raises
    ------
    RuntimeError
        If ``x`` is no vector, or ``N`` is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.vander(tp.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if arguments.tensor(x, "vander", "x")._data.ndim != 1:
        raise RuntimeError(f"vander: x must be a one-dimensional tensor, got {x._data.ndim} dimensions.")
    count = x._data.shape[0] if N is None else arguments.integer(N, "vander", "N", 2)
    if count < 0:
        raise RuntimeError(f"vander: N must be non-negative, got {N}.")
    if x._data.dtype.kind in "biu":
        x = F.cast(x, np.dtype(np.int64))
    if not count:
        return F.slice(F.reshape(x, (*x._data.shape, 1)), (slice(None), slice(0, 0)))
    powers = powers_of(x, count)
    return F.stack(*(powers if increasing else powers[::-1]), dim=-1)
