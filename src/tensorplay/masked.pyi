"""Made by tools/make_stubs.py."""

import builtins
from collections.abc import Sequence

from tensorplay.core.dtype import dtype as _dtype
from tensorplay.core.tensor import Tensor

def amax(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The largest of the valid elements; -inf, or the least number, where there are none."""
def amin(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The smallest of the valid elements; inf, or the largest number, where there are none."""
def argmax(input: Tensor, dim: builtins.int | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The index of the largest of the valid elements, in the input's dtype; 0 where there are none."""
def argmin(input: Tensor, dim: builtins.int | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The index of the smallest of the valid elements, in the input's dtype; 0 where there are none."""
def cumprod(input: Tensor, dim: builtins.int, *, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The products of the valid elements up to each place."""
def cumsum(input: Tensor, dim: builtins.int, *, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The sums of the valid elements up to each place."""
def log_softmax(input: Tensor, dim: builtins.int, *, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithms of :func:`softmax`; -inf where not valid."""
def logaddexp(input: Tensor, other: Tensor, *, dtype: _dtype | builtins.type | None = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None) -> Tensor:
    """log(exp(input) + exp(other)) of the valid elements; -inf where there are none."""
def logsumexp(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) of the valid elements, in the input's dtype; -inf where there are none."""
def mean(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The mean of the valid elements; nan where there are none."""
def median(input: Tensor, dim: builtins.int = -1, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The median of the valid elements that are not nan, the lower of two; nan where there are none."""
def norm(input: Tensor, ord: builtins.float = 2.0, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The norm of the valid elements; 0 where there are none, inf for a negative order."""
def normalize(input: Tensor, ord: builtins.float, dim: builtins.int | Sequence[builtins.int] | None, *, eps: builtins.float = 1e-12, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The valid elements, scaled to a norm of one along dimensions; 0 where not valid."""
def prod(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The product of the valid elements; 1 where there are none."""
def softmax(input: Tensor, dim: builtins.int, *, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """Exponentials of the valid elements along a dimension, scaled to sum to one; 0 where not valid."""
def softmin(input: Tensor, dim: builtins.int, *, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """:func:`softmax` of the elements with the other sign."""
def std(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The standard deviation of the valid elements; nan where there are too few."""
def sum(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The sum of the valid elements; 0 where there are none."""
def var(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: _dtype | builtins.type | None = None, mask: Tensor | None = None) -> Tensor:
    """The variance of the valid elements; nan where there are too few."""
