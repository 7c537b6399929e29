"""Views as copies: ``permute_copy`` is ``permute`` in memory of its own, and so on."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..core.namespace import F
from ..core.operator import operator
from ..core.tensor import Tensor
from . import complex as complex_operators
from . import diagonals, joining, parts, shape, strides


def view(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The view, of a copy if the tensor's strides do not allow one."""
    return shape.view(input if input.is_contiguous() else F.clone(input, "C"), *args, **kwargs)


functools.update_wrapper(view, shape.view)
VIEWS: tuple[Callable[..., Any], ...] = (
    view, shape.expand, shape.permute, shape.transpose, shape.t, shape.squeeze, shape.unsqueeze, strides.unfold,
    strides.as_strided, diagonals.diagonal, parts.select, joining.unbind, joining.split_with_sizes,
    complex_operators.view_as_real, complex_operators.view_as_complex,
)  # fmt: skip


def declare(view: Callable[..., Any]) -> None:
    """The operator that copies what a view operator gives."""
    name = view.__name__ + "_copy"

    @functools.wraps(view)
    def copied(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        out = view(input, *args, **kwargs)
        return tuple(F.clone(part, "C") for part in out) if isinstance(out, tuple) else F.clone(out, "C")

    copied.__name__ = copied.__qualname__ = name
    copied.__doc__ = f"A copy of what ``{view.__name__}`` gives a view of."
    parameters = [p for p in inspect.signature(view).parameters.values() if p.name != "size" or name != "view_copy"]
    parameters = [p.replace(name="size", default=p.empty) if p.name == "dtype" else p for p in parameters]
    copied.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    operator(method=False)(copied)


for _view in VIEWS:
    declare(_view)


@operator(method=False)
def alias_copy(input: Tensor) -> Tensor:
    """A copy of a tensor.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.alias_copy(tp.zeros(2))
    tensor([0., 0.])
    """
    return F.clone(input, "C")
