"""Python functions applied element by element, in place: for odd jobs, not for speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.inplace import check_writable, write
from ..core.interop import readable
from ..core.operator import operator
from ..core.tensor import Tensor, wrap
from . import arguments as arg


def rewritten(name: str, function: Callable[..., Any], input: Tensor, *others: Tensor) -> Tensor:
    check_writable(arg.tensor(input, name), name)
    if any(t.requires_grad for t in (input, *others)):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    columns = [
        np.broadcast_to(readable(arg.tensor(t, name), name), input._data.shape).ravel().tolist()
        for t in (input, *others)
    ]
    values = np.array([function(*row) for row in zip(*columns)]).astype(input._data.dtype)
    return write(input, wrap(values.reshape(input._data.shape)), name)


@operator(function=False, out=False)
def apply_(input: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1., 2.]).apply_(lambda v: v * 10)
    tensor([10., 20.])
    """
    return rewritten("apply_", callable, input)


@operator(function=False, out=False)
def map_(input: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it and of the one in ``tensor``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1., 2.]).map_(tp.tensor([3., 4.]), lambda a, b: a * b)
    tensor([3., 8.])
    """
    return rewritten("map_", callable, input, tensor)


@operator(function=False, out=False)
def map2_(input: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it and of those in ``x`` and ``y``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensor([1., 2.]).map2_(tp.tensor([3., 4.]), tp.tensor([5., 6.]), lambda a, b, c: a * b + c)
    tensor([ 8., 14.])
    """
    return rewritten("map2_", callable, input, x, y)
