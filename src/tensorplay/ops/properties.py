"""Questions about tensors as a whole: what they are, not what they hold. No gradients pass through."""

from __future__ import annotations

from typing import Any, TypeGuard

from ..core import dtype as dtypes
from ..core.operator import operator
from ..core.primitive import scalar_dtype
from ..core.promotion import DIMENSIONED, SCALAR, ZERO_DIM, promote
from ..core.tensor import Tensor
from . import arguments as arg


@operator(method=False, out=False)
def is_tensor(obj: Any) -> TypeGuard[Tensor]:
    """Whether an object is a tensor.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_tensor(tp.zeros(1)), tp.is_tensor(1)
    (True, False)
    """
    return isinstance(obj, Tensor)


@operator(method=False, out=False)
def typename(obj: Any) -> str:
    """The full name of an object's type, or of a type itself; for a tensor it tells the dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.typename(tp.zeros(1)), tp.typename(1)
    ('tensorplay.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None) or "builtins"
    return named.__qualname__ if module == "builtins" else f"{module}.{named.__qualname__}"


@operator(method=False, out=False)
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating point one.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_floating_point(tp.zeros(1))
    True
    """
    return arg.tensor(input, "is_floating_point").is_floating_point()


@operator(method=False, out=False)
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_complex(tp.zeros(1))
    False
    """
    return arg.tensor(input, "is_complex").is_complex()


@operator(method=False, out=False)
def is_signed(input: Tensor) -> bool:
    """Whether the dtype can hold negative numbers.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_signed(tp.tensor(1, dtype=tp.uint8))
    False
    """
    return arg.tensor(input, "is_signed").is_signed()


@operator(method=False, out=False)
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_inference(tp.zeros(1))
    False
    """
    return arg.tensor(input, "is_inference").is_inference()


@operator(method=False, out=False)
def numel(input: Tensor) -> int:
    """The number of elements.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.numel(tp.zeros(2, 3))
    6
    """
    return arg.tensor(input, "numel").numel()


@operator(out=False)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_same_size(tp.zeros(2), tp.zeros(2, 1))
    False
    """
    return bool(
        arg.tensor(input, "is_same_size")._data.shape == arg.tensor(other, "is_same_size", "other", 2)._data.shape
    )


@operator(out=False)
def is_conj(input: Tensor) -> bool:
    """Whether the elements are conjugates yet to be computed: never, conj() computes them.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_conj(tp.zeros(1))
    False
    """
    arg.tensor(input, "is_conj")
    return False


@operator(out=False)
def is_neg(input: Tensor) -> bool:
    """Whether the elements are negatives yet to be computed: never.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_neg(tp.zeros(1))
    False
    """
    arg.tensor(input, "is_neg")
    return False


@operator(out=False)
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: its conjugation is never put off.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.resolve_conj(tp.tensor([1j]))
    tensor([0.+1.j])
    """
    return arg.tensor(input, "resolve_conj")


@operator(out=False)
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: its negation is never put off.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.resolve_neg(tp.tensor([1.]))
    tensor([1.])
    """
    return arg.tensor(input, "resolve_neg")


@operator(method=False, out=False)
def result_type(tensor1: Tensor | complex, tensor2: Tensor | complex) -> dtypes.dtype:
    """The dtype of an operator's result over two operands, each a tensor or a number.

    Raises
    ------
    TypeError
        If an operand is neither.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.result_type(tp.tensor([1, 2]), 1.0)
    tensorplay.float32
    """
    operands = []
    for position, value in enumerate((tensor1, tensor2), 1):
        if isinstance(value, Tensor):
            operands.append((value.dtype, DIMENSIONED if value._data.shape else ZERO_DIM))
            continue
        d = scalar_dtype(value)
        if d is None:
            raise TypeError(
                f"result_type(): argument 'tensor{position}' (position {position}) must be Tensor or Number, not "
                f"{type(value).__name__}"
            )
        operands.append((d, SCALAR))
    return promote(operands)


@operator(method=False, out=False)
def get_device(input: Tensor) -> int:
    """Number of the device; -1 for the CPU.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.get_device(tp.zeros(1))
    -1
    """
    return arg.tensor(input, "get_device").get_device()


@operator(function=False, out=False)
def is_set_to(input: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same part of the same memory.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.zeros(2)
    >>> x.is_set_to(x.detach()), x.is_set_to(x.clone())
    (True, False)
    """
    arg.tensor(tensor, "is_set_to", "tensor", 2)
    return (input.data_ptr(), input.shape, input.stride(), input.dtype) == (
        tensor.data_ptr(),
        tensor.shape,
        tensor.stride(),
        tensor.dtype,
    )


@operator(function=False, out=False)
def is_pinned(input: Tensor) -> bool:
    """Whether the memory is page-locked for an accelerator: never.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(1).is_pinned()
    False
    """
    return False


@operator(function=False, out=False)
def dim_order(input: Tensor, ambiguity_check: bool = False) -> tuple[int, ...]:
    """The dimensions as they lie in memory, the outermost first.

    Parameters
    ----------
    ambiguity_check
        Refuse a tensor whose strides allow more than one order.

    Raises
    ------
    RuntimeError
        If the order is ambiguous, and that was to be checked.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).T.dim_order()
    (1, 0)
    """
    shape, strides = input.shape, input.stride()
    order = tuple(sorted(range(input.ndim), key=lambda d: -strides[d]))
    if ambiguity_check and (len(set(strides)) < len(strides) or 1 in shape or 0 in shape):
        raise RuntimeError(f"dim_order(): the tensor does not have unique dim order, of strides {strides}, {shape}")
    return order
