"""Distances and similarities between vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import check_broadcast
from ..core.promotion import promote_types
from ..core.tensor import Tensor
from . import arguments as arg
from .reduction import vector_norm


def expanded(name: str, x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    """Two tensors broadcast to one shape and cast to one dtype."""
    a, b = arg.tensor(x1, name, "x1")._data, arg.tensor(x2, name, "x2", 2)._data
    if a.dtype != b.dtype:
        dtype = promote_types(x1.dtype, x2.dtype).numpy
        x1, x2 = (x if x._data.dtype == dtype else F.cast(x, dtype) for x in (x1, x2))
    if a.shape != b.shape:
        check_broadcast(name, [a.shape, b.shape])
        shape = np.broadcast_shapes(a.shape, b.shape)
        x1, x2 = (x if x._data.shape == shape else F.expand(x, shape) for x in (x1, x2))
    return x1, x2


def at_least(x: Tensor, low: float) -> Tensor:
    """``max(x, low)``, with the gradient of ``x`` where they are equal; nan stays."""
    return F.where(x < low, low, x)


@operator(method=False, out=False)
@operator(namespace="nn.functional", method=False, out=False)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors: ``x1 . x2 / (max(|x1|, eps) max(|x2|, eps))``.

    Parameters
    ----------
    x1, x2 : Tensor
        Of shapes that broadcast.
    dim : int
        The dimension the vectors lie along.
    eps : float

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cosine_similarity(tp.tensor([1., 0.]), tp.tensor([1., 1.]), dim=0)
    tensor(0.7071)
    """
    if type(eps) is not float:
        eps = arg.real(eps, "cosine_similarity", "eps", 4)
    x1, x2 = expanded("cosine_similarity", x1, x2)
    if x1._data.dtype.kind not in "fVc":
        raise RuntimeError(
            f"cosine_similarity(): expected common dtype to be floating point, yet common dtype is {x1.dtype}"
        )
    dims = (arg.dimension(dim, x1._data.ndim, "cosine_similarity"),)
    if not x1._data.ndim:
        x1, x2 = F.reshape(x1, (1,)), F.reshape(x2, (1,))
        dims = (-1,)
    left, right = (x / at_least(F.vector_norm(x, dims, True, 2.0), eps) for x in (x1, x2))
    return F.sum(left * right, dims, False)


@operator(method=False, out=False)
@operator(namespace="nn.functional", method=False, out=False)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.pairwise_distance(tp.tensor([[0., 0.]]), tp.tensor([[3., 4.]]))
    tensor([5.0000])
    """
    if type(p) is not float:
        p = arg.real(p, "pairwise_distance", "p", 3)
    if type(eps) is not float:
        eps = arg.real(eps, "pairwise_distance", "eps", 4)
    x1, x2 = expanded("pairwise_distance", x1, x2)
    difference = x1 - x2 + eps
    if not difference._data.ndim:
        return F.vector_norm(F.reshape(difference, (1,)), (-1,), False, float(p))
    return F.vector_norm(difference, (-1,), keepdim, float(p))


@operator(method=False, out=False)
@operator(namespace="nn.functional", method=False, out=False)
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norm distances between all pairs of rows, row by row of the upper triangle.

    Parameters
    ----------
    input : Tensor
        Of shape (n, d).
    p : float
        At least 0.

    Returns
    -------
    Tensor
        Of shape (n (n - 1) / 2,).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.pdist(tp.tensor([[0.], [1.], [3.]]))
    tensor([1., 3., 2.])
    """
    data = arg.tensor(input, "pdist")._data
    if data.ndim != 2:
        raise RuntimeError(f"pdist(): only supports 2D tensors, got: {data.ndim}D")
    if data.dtype.kind not in "fV":
        raise RuntimeError(f"pdist(): only supports floating-point dtypes, got {input.dtype}")
    if p < 0:
        raise RuntimeError(f"pdist(): only supports non-negative p values, got {p}")
    first, second = np.triu_indices(data.shape[0], 1)
    columns = F.mT(input)
    difference = F.mT(F.sub(F.take_columns(columns, first), F.take_columns(columns, second)))
    return F.vector_norm(difference, (-1,), False, float(p))


@operator(namespace="nn.functional", method=False)
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Divide vectors by their p-norm, or by ``eps`` if that is larger.

    Parameters
    ----------
    input : Tensor
    p : float
    dim : int or tuple of int
        The dimensions the vectors lie along.
    eps : float
    out : Tensor, optional
        Receives the result.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.normalize(tp.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    if out is not None:
        from ..core.operator import write_out

        return write_out("normalize", normalize(input, p, dim, eps), out)
    norm = vector_norm(arg.tensor(input, "normalize"), p, dim, True)
    return input / at_least(norm, eps)
