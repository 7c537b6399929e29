"""Arguments that operators share: dimensions, sizes, tensors; checked with PyTorch's exception classes."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.carrier import Dual
from ..core.interop import readable
from ..core.namespace import F
from ..core.operator import check_apart, write_out
from ..core.primitive import check_broadcast
from ..core.promotion import can_cast as dtypes_can_cast
from ..core.tensor import Tensor


def tensor(value: Any, name: str, argument: str = "input", position: int = 1) -> Tensor:
    """The value, which must be a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}"
        )
    return value


def tensors(values: Any, name: str, argument: str = "tensors", position: int = 1) -> tuple[Tensor, ...]:
    """A tuple or list of Tensors."""
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be tuple of Tensors, "
                        f"not {type(values).__name__}")  # fmt: skip
    for i, t in enumerate(values):
        if not isinstance(t, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {i} of argument '{argument}', but got {type(t).__name__}"
            )
    return tuple(values)


def nonempty_tensors(values: Any, name: str) -> tuple[Tensor, ...]:
    """A tuple or list of at least one Tensor."""
    out = tensors(values, name)
    if not out:
        raise RuntimeError(f"{name}(): expects a non-empty TensorList")
    return out


def values(t: Tensor, name: str) -> np.ndarray[Any, Any]:
    """The array of a tensor whose values decide about shapes; refused under vmap."""
    return t._data if type(t._data) is np.ndarray else readable(t, name + "()")


def broadcast_shape(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to."""
    if all([s == shapes[0] for s in shapes]):
        return shapes[0]
    check_broadcast(name, list(shapes))
    return np.broadcast_shapes(*shapes)


def written_out(name: str, value: Tensor, out: Any, *inputs: Tensor) -> Tensor:
    """The value in ``out``, whose memory is none of the inputs'; where its dtype does not fit, PyTorch's TypeError."""
    if isinstance(out, Tensor) and not dtypes_can_cast(value.dtype, out.dtype):
        raise TypeError(f"{name}(): result type {value.dtype} can't be cast to the desired output type {out.dtype}")
    if isinstance(out, Tensor):
        check_apart(name, value, out, *inputs)
    return write_out(name, value, out)


def integer(value: Any, name: str, argument: str, position: int = 1) -> int:
    """A Python int from an int, a NumPy integer or an integer tensor of one element; never from a bool."""
    if type(value) is int:
        return value
    if not isinstance(value, (bool, np.bool_)):
        if isinstance(value, Tensor):
            if value._data.size == 1 and value._data.dtype.kind in "iu":
                return int(value.item())
        else:
            try:
                return python_operator.index(value)
            except TypeError:
                pass
    raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be int, not {type(value).__name__}")


def integers(value: Any, name: str, argument: str, position: int = 1) -> tuple[int, ...]:
    """A tuple of ints from an int or a sequence of them."""
    if isinstance(value, (tuple, list)):
        for v in value:
            if type(v) is not int:
                break
        else:
            return tuple(value)
        out = []
        for i, v in enumerate(value):
            try:
                out.append(integer(v, name, argument, position))
            except TypeError:
                raise TypeError(
                    f"{name}(): argument '{argument}' (position {position}) must be tuple of ints, but found element "
                    f"of type {type(v).__name__} at pos {i}"
                ) from None
        return tuple(out)
    return (integer(value, name, argument, position),)


def number(value: Any, name: str, argument: str, position: int) -> Any:
    """The Python number that an argument is: a number, a NumPy scalar or a tensor of no dimensions, without gradient.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    kind = type(value)
    if kind is int or kind is float or kind is bool or kind is complex:
        return value
    if isinstance(value, Tensor) and not value._data.shape and not value.requires_grad:
        if type(value._data) is Dual:  # whose tangent would be lost
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Number, not a tensor with "
                            "a tangent; pass its item()")  # fmt: skip
        return value.item()
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return value.item()
    if isinstance(value, Number) and isinstance(value, (int, float, complex)):
        return value
    raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Number, not {type(value).__name__}")


def real(value: Any, name: str, argument: str, position: int) -> float:
    """The real number that an argument is; what it may be is told by :func:`number`."""
    out = number(value, name, argument, position)
    if type(out) is complex:
        raise RuntimeError(
            f"{name}(): argument '{argument}' (position {position}): value cannot be converted to type double without "
            f"overflow, got {out}"
        )
    return int(out) if type(out) is bool else out


def sizes(first: Any, rest: Sequence[Any], name: str, argument: str = "size") -> tuple[int, ...]:
    """Sizes that were passed one by one or as one sequence."""
    if not rest and isinstance(first, (tuple, list)):
        return integers(first, name, argument)
    return integers((first, *rest), name, argument)


def out_of_range(dim: int, ndim: int) -> IndexError:
    """The error of a dimension that does not exist; a 0-dim tensor accepts 0 and -1."""
    ndim = max(ndim, 1)
    return IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")


def dimension(dim: Any, ndim: int, name: str, argument: str = "dim", position: int = 2) -> int:
    """A dimension counted from the end: -ndim to -1. A tensor of no dimensions counts as having one.

    Raises
    ------
    IndexError
        If there is no such dimension.
    TypeError
        If ``dim`` is no int.
    """
    if type(dim) is not int:
        dim = integer(dim, name, argument, position)
    if dim < 0:
        if dim >= -ndim:
            return dim
    elif dim < ndim:
        return dim - ndim
    if ndim or not -1 <= dim <= 0:
        raise out_of_range(dim, ndim)
    return -1


def dimensions(dims: Any, ndim: int, name: str, argument: str = "dim", position: int = 2) -> tuple[int, ...]:
    """Several dimensions (an int or a sequence), each counted from the end and none named twice."""
    out = tuple(dimension(d, ndim, name, argument, position) for d in integers(dims, name, argument, position))
    if len(set(out)) < len(out):
        twice = next(d for i, d in enumerate(out) if d in out[:i])
        raise RuntimeError(f"{name}(): dim {twice + max(ndim, 1)} appears multiple times in the list of dims")
    return out


def reduced(dim: Any, ndim: int, name: str) -> tuple[int, ...] | None:
    """The dimensions of a reduction: None, which means all of them, also for an empty sequence."""
    if dim is None:
        return None
    if type(dim) is int:
        dims: tuple[int, ...] = (dimension(dim, ndim, name),)
    elif isinstance(dim, (tuple, list)):
        dims = tuple([dimension(d, ndim, name) for d in dim])
        if len(dims) > 1 and len(set(dims)) < len(dims):
            dims = dimensions(dim, ndim, name)  # which raises
    else:
        dims = dimensions(dim, ndim, name)
    return dims if ndim and dims else None


def flag(value: Any, name: str, argument: str, position: int | None = None) -> bool:
    """The value, which must be a bool."""
    if value.__class__ is bool:
        return value
    where = "" if position is None else f" (position {position})"
    raise TypeError(f"{name}(): argument '{argument}'{where} must be bool, not {type(value).__name__}")


def nonempty(input: Tensor, dims: Sequence[int] | None, name: str) -> None:
    """Refuse to reduce no elements, for reductions that have no identity."""
    shape = input._data.shape
    if dims is None:
        if 0 in shape:
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                               "reduction dim with the 'dim' argument.")  # fmt: skip
        return
    for d in dims:
        if shape and not shape[d]:
            raise IndexError(f"{name}(): Expected reduction dim {d + len(shape)} to have non-zero size.")


def cast(input: Tensor, dtype: Any, name: str) -> Tensor:
    """The tensor in the dtype that the user asked for."""
    target = dtypes.dtype_argument(dtype, name, "dtype", 3).numpy
    return input if tensor(input, name)._data.dtype == target else F.cast(input, target)
