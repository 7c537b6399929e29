"""Dropout and the other noise of training."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.namespace import F
from ..core.operator import inplace_twin, operator
from ..core.tensor import Tensor
from . import arguments as arg
from .activation import softmax
from .random import exponential, noise_for

if TYPE_CHECKING:
    from .random import Sample

functional = operator(namespace="nn.functional", method=False, out=False)
package = operator(method=False, out=False)


def kept(p: float, scale: float) -> Sample:
    """``scale`` with probability ``1 - p``, else 0."""

    def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        draw = rng.random(shape, np.float64 if dtype == np.float64 else np.float32)
        return np.multiply(draw >= p, scale, dtype=np.float32).astype(dtype) if dtype.itemsize <= 4 else (
            (draw >= p) * np.asarray(scale)).astype(dtype)  # fmt: skip

    return sample


def check_probability(p: float, name: str, error: type[Exception] = ValueError) -> None:
    """Refuse what is no probability."""
    if not 0 <= p <= 1:
        raise error(f"{name}(): dropout probability has to be between 0 and 1, but got {p}")


def keeps_all(name: str, data: Any, p: float, training: bool, features: bool) -> bool:
    """Whether nothing is dropped; if something is, the input must have channels where these are."""
    if p == 0 or not training or not data.size:
        return True
    if features and data.ndim < 2:
        raise RuntimeError(f"{name}(): Feature dropout requires at least 2 dimensions in the input, got {data.ndim}")
    return False


def drop(name: str, input: Tensor, p: float, training: bool, features: bool = False) -> Tensor:
    """Zeros with probability p, and the rest scaled up; ``features`` drops whole channels."""
    data = arg.tensor(input, name)._data
    if keeps_all(name, data, p, training, features):
        return input
    if data.dtype.kind not in "fcV":
        raise RuntimeError(f"{name}(): result type Float can't be cast to the desired output type {input.dtype}")
    return F.mul(input, mask_of(name, input, p, 1 / (1 - p), features) if p < 1 else 0.0)


def mask_of(name: str, input: Tensor, p: float, scale: float, features: bool) -> Tensor:
    """``scale`` where an element, or a whole channel, is kept."""
    like = input.detach()
    if features:
        like = F.slice(like, (slice(None), slice(None), *(slice(0, 1),) * (like._data.ndim - 2)))
    return noise_for(name, kept(p, scale), like, None)


@functional
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability ``p`` and scale the others by ``1 / (1 - p)`` (Srivastava et al., 2014).

    Parameters
    ----------
    input : Tensor
    p : float
    training : bool
        Without it the input is returned as it is.
    inplace : bool
        Write the result into the input.

    Raises
    ------
    ValueError
        If ``p`` is no probability.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.dropout(tp.ones(3), training=False)
    tensor([1., 1., 1.])
    """
    check_probability(p, "dropout")
    return dropout_(input, p, training) if inplace else drop("dropout", input, p, training)


dropout_ = inplace_twin(dropout, "dropout_")


def drop_channels(name: str, input: Tensor, p: float, training: bool, inplace: bool, unbatched: int) -> Tensor:
    """Drop channels of (N, C, ...); an input of ``unbatched`` dimensions has no N."""
    check_probability(p, name)
    arg.tensor(input, name)
    if inplace:
        return inplace_twin(lambda input: drop_channels(name, input, p, training, False, unbatched), name + "_")(input)
    shape = input._data.shape
    if len(shape) != unbatched:
        return drop(name, input, p, training, True)
    return F.reshape(drop(name, F.reshape(input, (1, *shape)), p, training, True), shape)


@functional
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels of sequences, (N, C, L) or (C, L).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.dropout1d(tp.ones(1, 2), training=False)
    tensor([[1., 1.]])
    """
    if arg.tensor(input, "dropout1d")._data.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input._data.ndim}D input. Note that dropout1d exists "
            "to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return drop_channels("dropout1d", input, p, training, inplace, 2)


@functional
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels of images, (N, C, H, W); three dimensions are taken as (N, C, L).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.dropout2d(tp.ones(1, 1, 1, 2), training=False)
    tensor([[[[1., 1.]]]])
    """
    ndim = arg.tensor(input, "dropout2d")._data.ndim
    if ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {ndim}-D input to dropout2d, which is deprecated and will result in an error in a "
            "future release.",
            UserWarning,
            stacklevel=2,
        )
    if ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
            "desired - input is interpreted as shape (N, C, L), where C is the channel dim.",
            UserWarning,
            stacklevel=2,
        )
    return drop_channels("dropout2d", input, p, training, inplace, -1)


@functional
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """:func:`dropout` of whole channels of volumes, (N, C, D, H, W) or (C, D, H, W).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.dropout3d(tp.ones(1, 1, 1, 1, 2), training=False).shape
    tensorplay.Size([1, 1, 1, 1, 2])
    """
    ndim = arg.tensor(input, "dropout3d")._data.ndim
    if ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {ndim}-D input to dropout3d, which is deprecated and will result in an error in a "
            "future release.",
            UserWarning,
            stacklevel=2,
        )
    return drop_channels("dropout3d", input, p, training, inplace, 4)


SELU_FLOOR = -1.7580993408473766
"""What selu tends to for small inputs: its scale times its alpha, negated."""


def drop_to_floor(name: str, input: Tensor, p: float, training: bool, features: bool) -> Tensor:
    """Drop to the floor of selu, and keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    if keeps_all(name, arg.tensor(input, name)._data, p, training, features):
        return input
    if p == 1:
        return input * 0
    scale = 1 / math.sqrt((SELU_FLOOR**2 * p + 1) * (1 - p))
    mask = mask_of(name, input, p, 1.0, features)
    return F.mul(input, mask * scale) + (1 - mask) * (scale * SELU_FLOOR) - scale * SELU_FLOOR * p


@functional
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout for :func:`selu` networks: dropped elements take its floor, and mean and variance are kept.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.alpha_dropout(tp.ones(3))
    tensor([1., 1., 1.])
    """
    check_probability(p, "alpha_dropout")
    return alpha_dropout_(input, p, training) if inplace else drop_to_floor("alpha_dropout", input, p, training, False)


alpha_dropout_ = inplace_twin(alpha_dropout, "alpha_dropout_")


@functional
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """:func:`alpha_dropout` of whole channels of (N, C, ...).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.feature_alpha_dropout(tp.ones(1, 2, 1)).shape
    tensorplay.Size([1, 2, 1])
    """
    check_probability(p, "feature_alpha_dropout")
    if inplace:
        return feature_alpha_dropout_(input, p, training)
    return drop_to_floor("feature_alpha_dropout", input, p, training, True)


feature_alpha_dropout_ = inplace_twin(feature_alpha_dropout, "feature_alpha_dropout_")

# ---- the package's own forms: positional, without defaults


def in_package(name: str, fn: Any) -> None:
    """``name(input, p, train)`` and its in-place twin."""

    def public(input: Tensor, p: float, train: bool) -> Tensor:
        check_probability(p, name, RuntimeError)
        return fn(input, p, train)

    public.__name__ = public.__qualname__ = name
    other = name.replace("feature_dropout", "dropout2d")
    public.__doc__ = f"""As :func:`tensorplay.nn.functional.{other}`, with all arguments given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.{name}(tp.ones(1, 3), 0.5, False)
    tensor([[1., 1., 1.]])
    """
    package(public)
    package(inplace_twin(public, name + "_"))


in_package("dropout", lambda input, p, train: drop("dropout", input, p, train))
in_package("feature_dropout", lambda input, p, train: drop("feature_dropout", input, p, train, True))
in_package("alpha_dropout", lambda input, p, train: drop_to_floor("alpha_dropout", input, p, train, False))
in_package(
    "feature_alpha_dropout",
    lambda input, p, train: drop_to_floor("feature_alpha_dropout", input, p, train, True),
)


@package
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """:func:`dropout`, and the mask of what was kept.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.native_dropout(tp.ones(2), 0.5, False)
    (tensor([1., 1.]), tensor([True, True]))
    """
    arg.tensor(input, "native_dropout")
    check_probability(p, "native_dropout", RuntimeError)
    if train is False or p == 0:
        return input * 1, F.eq(input.detach(), input.detach())
    mask = mask_of("native_dropout", input, p, 1.0, False)
    return F.mul(input, mask * (1 / (1 - p) if p < 1 else 0.0)), F.cast(mask, np.dtype(bool))


# ---- other noise


@functional
@package
def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """:func:`leaky_relu` with random slopes in training, and with their mean otherwise.

    Parameters
    ----------
    input : Tensor
    lower, upper : float
        The slopes are uniform between these.
    training : bool
    inplace : bool
        Write the result into the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.rrelu(tp.tensor([-2., 3.]), 0.25, 0.75)
    tensor([-1.,  3.])
    """
    if type(lower) is not float:
        lower = arg.real(lower, "rrelu", "lower", 2)
    if type(upper) is not float:
        upper = arg.real(upper, "rrelu", "upper", 3)
    if lower > upper:
        raise RuntimeError(
            f"rrelu(): Lower bound should be less than or equal to the upper bound, got {lower} and {upper}"
        )
    if inplace:
        return rrelu_(input, lower, upper, training)
    if not training:
        return F.leaky_relu(input, (lower + upper) / 2)

    def slopes(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return rng.uniform(lower, upper, shape).astype(dtype)

    return F.prelu(input, noise_for("rrelu", slopes, arg.tensor(input, "rrelu").detach(), None))


rrelu_ = package(functional(inplace_twin(rrelu, "rrelu_")))


@functional
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Samples of one-hot vectors, relaxed: softmax of the logits plus Gumbel noise (Jang et al., 2017).

    Parameters
    ----------
    logits : Tensor
    tau : float
        Temperature: the smaller, the nearer to one-hot.
    hard : bool
        Return one-hot vectors, with the gradient of the relaxed ones.
    eps : float
        Ignored, as in PyTorch.
    dim : int
        The dimension of the classes.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.gumbel_softmax(tp.tensor([0., 200.]), hard=True)
    tensor([0., 1.])
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = noise_for("gumbel_softmax", exponential, arg.tensor(logits, "gumbel_softmax").detach(), None)
    soft = softmax((logits - F.log(noise)) / tau, dim)
    if not hard:
        return soft
    top = soft.detach()
    index = top.argmax(dim, keepdim=True)
    one_hot = F.zeros_like(top).scatter(dim, index, 1.0)
    return one_hot - top + soft
