"""What distributions share: parameters broadcast against each other, probabilities and their logits, noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

import tensorplay as tp

from ..core.carrier import Carrier
from ..core.tensor import Size, Tensor
from ..ops.activation import logsigmoid
from ..ops.random import exponential, noise, standard_normal, uniform

if TYPE_CHECKING:
    from ..ops.random import Sample

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

T = TypeVar("T")
R = TypeVar("R")
EULER = float(np.euler_gamma)


def broadcast_all(*values: Tensor | int | float | bool) -> tuple[Tensor, ...]:
    """Tensors and numbers, broadcast against each other.

    Parameters
    ----------
    *values : Tensor or number
        Numbers become tensors of the dtype of the first tensor, or of the default dtype where there is none or it
        holds integers and the number is a float.

    Returns
    -------
    tuple of Tensor
        All of the same shape.

    Raises
    ------
    ValueError
        If a value is neither a tensor nor a number.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.utils.broadcast_all(tp.zeros(2), 1.0)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    if isinstance(values[0], Tensor) and all(isinstance(v, Tensor) and v.shape == values[0].shape for v in values):
        return values  # type: ignore[return-value]
    for v in values:
        if not isinstance(v, (Tensor, int, float, np.number)):
            raise ValueError(f"broadcast_all(): each value must be a Tensor or a number, not {type(v).__name__}")
    first = next((v for v in values if isinstance(v, Tensor)), None)
    return tuple(tp.broadcast_tensors(*[v if isinstance(v, Tensor) else like(first, v) for v in values]))


def like(first: Tensor | None, value: Any) -> Tensor:
    """A number as a tensor like another one; a fraction is not cut off beside integers."""
    if first is None:
        return tp.tensor(value, dtype=tp.get_default_dtype())
    fits = first.is_floating_point() or isinstance(value, int)
    return tp.tensor(value, dtype=first.dtype if fits else tp.get_default_dtype(), device=first.device)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities from log-odds (binary), or from logarithms up to a constant along the last dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.utils.logits_to_probs(tp.zeros(4))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved away from 0 and 1, by the resolution of their dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.utils.clamp_probs(tp.tensor([0.0, 0.5]))
    tensor([1.1921e-07, 5.0000e-01])
    """
    eps = tp.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds (binary), or logarithms, of probabilities, which are clamped so that the result is finite.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.utils.probs_to_logits(tp.tensor([0.5, 0.2]), is_binary=True)
    tensor([ 0.0000, -1.3863])
    """
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


class lazy_property(Generic[T, R]):
    """A property that is computed when it is first read, with gradients, and kept in the instance.

    Examples
    --------
    >>> import tensorplay as tp
    >>> coin = tp.distributions.Bernoulli(probs=0.5)
    >>> "logits" in vars(coin), coin.logits, "logits" in vars(coin)
    (False, tensor(0.), True)
    """

    def __init__(self, wrapped: Callable[[T], R]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    @overload
    def __get__(self, instance: None, obj_type: Any = None) -> lazy_property[T, R]: ...
    @overload
    def __get__(self, instance: T, obj_type: Any = None) -> R: ...
    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self
        with tp.enable_grad():
            value = vars(instance)[self.wrapped.__name__] = self.wrapped(instance)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The entries of matrices on and below a diagonal, row by row.

    Raises
    ------
    ValueError
        If there is no such diagonal.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.utils.tril_matrix_to_vec(tp.tensor([[1, 0], [2, 3]]))
    tensor([1, 2, 3])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"tril_matrix_to_vec(): diag must be from {-n} to {n - 1}, got {diag}")
    rows, columns = np.tril_indices(n, diag)
    return mat[..., tp.tensor(rows), tp.tensor(columns)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Matrices from their entries on and below a diagonal, row by row; zero above.

    Raises
    ------
    RuntimeError
        If no square matrix has so many entries there.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.distributions.utils.vec_to_tril_matrix(tp.tensor([1, 2, 3]))
    tensor([[1, 0],
            [2, 3]])
    """
    count = vec.shape[-1]
    n = tril_extent(count, diag)
    if len(np.tril_indices(n, diag)[0]) != count or n <= 0:
        raise RuntimeError(f"vec_to_tril_matrix(): no square matrix has {count} entries on and below diagonal {diag}")
    place = np.full((n, n), count)
    place[np.tril_indices(n, diag)] = np.arange(count)
    padded = tp.cat([vec, vec.new_zeros((*vec.shape[:-1], 1))], -1)
    return padded[..., tp.tensor(place)]


def tril_extent(count: int, diag: int) -> int:
    """How large a square matrix is that has ``count`` entries on and below a diagonal."""
    corner = abs(diag) * (diag + 1)  # twice the part of the triangle that lies outside of the matrix, or is cut off
    linear = 1 + 2 * diag
    return round((np.sqrt(linear**2 + 4 * corner + 8 * count) - linear) / 2)


# ---- inside the package


def holds(condition: Tensor) -> bool:
    """Whether a condition is true of all elements, in all examples of a batch; of a meta tensor nothing is known."""
    data = condition._data
    while isinstance(data, Carrier):
        data = data.inner._data
    return not isinstance(data, np.ndarray) or bool(data.all())


def sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """The sum over so many of the last dimensions."""
    return value.sum(tuple(range(-dims, 0))) if dims else value


def only_one(name: str, **given: Any) -> str:
    """The name of the argument that was given.

    Raises
    ------
    ValueError
        If it is none, or more than one.
    """
    found = [k for k, v in given.items() if v is not None]
    if len(found) != 1:
        raise ValueError(f"{name}(): exactly one of {', '.join(given)} must be given, got {', '.join(found) or 'none'}")
    return found[0]


def drawn(sample: Sample, shape: Size, like: Tensor) -> Tensor:
    """Noise in the dtype of a tensor, and on its device; under vmap as that says."""
    if like.is_meta:
        return like.new_empty(shape)
    return noise("sample", sample, shape, like._data.dtype)


def rand(shape: Size, like: Tensor) -> Tensor:
    """Uniform over the open interval from 0 to 1."""
    return drawn(uniform, shape, like).clamp(min=tp.finfo(like.dtype).tiny)


def randn(shape: Size, like: Tensor) -> Tensor:
    return drawn(standard_normal, shape, like)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """:func:`tensorplay.randn`, by the name under which distributions of others import it."""
    return tp.randn(shape, dtype=dtype, device=device)


def rande(shape: Size, like: Tensor) -> Tensor:
    """Exponential of rate 1."""
    return drawn(exponential, shape, like)


def softplus(x: Tensor) -> Tensor:
    """``log(1 + exp(x))``, exact everywhere: that of neural networks is x itself from 20 on."""
    return -logsigmoid(-x)
