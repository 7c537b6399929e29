"""Activations, softmax and dropout."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import elementwise, primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .declare import refusing
from .kernels import BLOCK, narrowed, row_blocks, sum_over, widened

# ---- relu

relu = elementwise("relu", lambda xp, input: xp.maximum(input, 0), vjp={"input": lambda F, g, out: g * (out > 0)},
                   check=refusing("bc"), doc="""The positive part, ``max(x, 0)``.

Examples
--------
>>> import tensorplay as tp
>>> tp.relu(tp.tensor([-1., 2.]))
tensor([0., 2.])
""")  # fmt: skip
operator(out=False, inplace=True)(relu)


@operator(name="relu", namespace="nn.functional", method=False, out=False)
def functional_relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The positive part, ``max(x, 0)``; ``inplace`` writes it into the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.relu(tp.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return input.relu_() if inplace else F.relu(input)  # type: ignore[attr-defined]



# ---- softmax


def softmax_kernel(xp: Any, input: Any, *, dim: int) -> Any:
    if not input.size:
        return input.copy()
    if not input.ndim:
        return xp.ones_like(input)
    x = widened(input)
    out = np.empty(x.shape, x.dtype)
    if dim == -1 and x.size > BLOCK and x.flags.c_contiguous:
        columns = x.shape[-1]
        rows, targets = x.reshape(-1, columns), out.reshape(-1, columns)
        for block in row_blocks(len(rows), columns):
            exponentials(rows[block], targets[block], -1)
    else:
        exponentials(x, out, dim)
    return narrowed(out, input.dtype)


def exponentials(x: Any, out: Any, dim: int) -> None:
    np.subtract(x, np.maximum.reduce(x, axis=dim, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= np.add.reduce(out, axis=dim, keepdims=True)


def softmax_backward_kernel(xp: Any, input: Any, result: Any, *, dim: int) -> Any:
    if not input.ndim:
        return xp.zeros_like(result)
    g, out = widened(input), widened(result)
    inner = np.empty(out.shape, out.dtype)
    if dim == -1 and out.size > BLOCK and out.flags.c_contiguous:
        columns = out.shape[-1]
        gs, outs, targets = g.reshape(-1, columns), out.reshape(-1, columns), inner.reshape(-1, columns)
        for block in row_blocks(len(outs), columns):
            pull_softmax(gs[block], outs[block], targets[block], -1)
    else:
        pull_softmax(g, out, inner, dim)
    return narrowed(inner, result.dtype)


def pull_softmax(g: Any, out: Any, target: Any, dim: int) -> None:
    np.multiply(g, out, out=target)
    total = np.add.reduce(target, axis=dim, keepdims=True)
    np.subtract(g, total, out=target)
    target *= out


def softmax_backward_result_vjp(F: Any, g: Any, input: Any, result: Any, dim: int) -> Any:
    return g * (input - sum_over(F, input * result, dim)) - input * sum_over(F, g * result, dim)


softmax_backward = primitive(
    "softmax_backward", softmax_backward_kernel,
    vjp={"input": lambda F, g, result, dim: F.softmax_backward(g, result, dim), "result": softmax_backward_result_vjp},
    jvp={"input": lambda F, t, result, dim: F.softmax_backward(t, result, dim), "result": softmax_backward_result_vjp},
    batch="same",
)  # fmt: skip
"""The cotangent ``input`` times the Jacobian of softmax at its ``result``: a symmetric matrix."""

softmax_ = primitive(
    "softmax", softmax_kernel,
    vjp={"input": lambda F, g, out, dim: F.softmax_backward(g, out, dim)},
    jvp={"input": lambda F, t, out, dim: F.softmax_backward(t, out, dim)},
    batch="same",
)  # fmt: skip


def log_softmax_kernel(xp: Any, input: Any, *, dim: int) -> Any:
    if not input.size:
        return input.copy()
    if not input.ndim:
        return xp.zeros_like(input)
    x = widened(input)
    out = np.empty(x.shape, x.dtype)
    if dim == -1 and x.size > BLOCK and x.flags.c_contiguous:
        columns = x.shape[-1]
        rows, targets = x.reshape(-1, columns), out.reshape(-1, columns)
        for block in row_blocks(len(rows), columns):
            log_probabilities(rows[block], targets[block], -1)
    else:
        log_probabilities(x, out, dim)
    return narrowed(out, input.dtype)


def log_probabilities(x: Any, out: Any, dim: int) -> None:
    np.subtract(x, np.maximum.reduce(x, axis=dim, keepdims=True), out=out)
    total = np.add.reduce(np.exp(out), axis=dim, keepdims=True)
    out -= np.log(total, out=total)


def log_softmax_backward_kernel(xp: Any, input: Any, result: Any, *, dim: int) -> Any:
    if not input.ndim:
        return xp.zeros_like(result)
    g, out = widened(input), widened(result)
    inner = np.empty(out.shape, out.dtype)
    if dim == -1 and out.size > BLOCK and out.flags.c_contiguous:
        columns = out.shape[-1]
        gs, outs, targets = g.reshape(-1, columns), out.reshape(-1, columns), inner.reshape(-1, columns)
        for block in row_blocks(len(outs), columns):
            pull_log_softmax(gs[block], outs[block], targets[block], -1)
    else:
        pull_log_softmax(g, out, inner, dim)
    return narrowed(inner, result.dtype)


def pull_log_softmax(g: Any, out: Any, target: Any, dim: int) -> None:
    np.exp(out, out=target)
    target *= np.add.reduce(g, axis=dim, keepdims=True)
    np.subtract(g, target, out=target)


def push_log_softmax(F: Any, t: Any, out: Any, dim: int) -> Any:
    return t - sum_over(F, F.exp(out) * t, dim)


def log_softmax_backward_result(F: Any, g: Any, input: Any, result: Any, dim: int) -> Any:
    return -(g * (F.exp(result) * sum_over(F, input, dim)))


log_softmax_backward = primitive(
    "log_softmax_backward", log_softmax_backward_kernel,
    vjp={"input": lambda F, g, result, dim: push_log_softmax(F, g, result, dim), "result": log_softmax_backward_result},
    jvp={"input": lambda F, t, result, dim: F.log_softmax_backward(t, result, dim), "result": log_softmax_backward_result},
    batch="same",
)  # fmt: skip
"""The cotangent ``input`` times the Jacobian of log_softmax at its ``result``."""

log_softmax_ = primitive(
    "log_softmax", log_softmax_kernel,
    vjp={"input": lambda F, g, out, dim: F.log_softmax_backward(g, out, dim)},
    jvp={"input": push_log_softmax}, batch="same",
)  # fmt: skip


def floating(input: Tensor, dtype: Any, name: str) -> Tensor:
    """The input in ``dtype`` if that is given; it must be floating.

    Raises
    ------
    RuntimeError
        If the result is not floating: softmax has no value in it.
    """
    arg.tensor(input, name)
    if dtype is not None:
        input = F.cast(input, dtype.numpy) if input._data.dtype != dtype.numpy else input
    if input._data.dtype.kind not in "fV":
        raise RuntimeError(f'"{name}" not implemented for {input.dtype}; give a floating dtype=')
    return input


def legacy_dim(name: str, ndim: int) -> int:
    """The dimension that PyTorch once chose where none was given."""
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
                  UserWarning, stacklevel=3)  # fmt: skip
    return 0 if ndim in (0, 1, 3) else 1


@operator()
def softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """Exponentials along a dimension, scaled to sum to one: ``exp(x_i) / sum_j exp(x_j)``.

    Parameters
    ----------
    input : Tensor
    dim : int
        The dimension whose entries sum to one.
    dtype : dtype, optional
        Cast the input first.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.softmax(tp.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    input = floating(input, dtype, "softmax")
    return F.softmax(input, arg.dimension(dim, input._data.ndim, "softmax"))


@operator()
def log_softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, without underflow: ``x_i - log(sum_j exp(x_j))``.

    Parameters
    ----------
    input : Tensor
    dim : int
        The dimension whose probabilities sum to one.
    dtype : dtype, optional
        Cast the input first.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.log_softmax(tp.tensor([0., 0.]), 0)
    tensor([-0.6931, -0.6931])
    """
    input = floating(input, dtype, "log_softmax")
    return F.log_softmax(input, arg.dimension(dim, input._data.ndim, "log_softmax"))


@operator(name="softmax", namespace="nn.functional", method=False, out=False)
def functional_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None) -> Tensor:
    """As :func:`tensorplay.softmax`; without ``dim`` one is chosen, with a warning.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.softmax(tp.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return softmax(input, legacy_dim("softmax", input.ndim) if dim is None else dim, dtype)


@operator(name="log_softmax", namespace="nn.functional", method=False, out=False)
def functional_log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None
) -> Tensor:
    """As :func:`tensorplay.log_softmax`; without ``dim`` one is chosen, with a warning.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.functional.log_softmax(tp.tensor([0., 0.]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return log_softmax(input, legacy_dim("log_softmax", input.ndim) if dim is None else dim, dtype)
