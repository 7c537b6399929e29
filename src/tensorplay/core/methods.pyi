"""Made by tools/make_stubs.py."""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from tensorplay.autograd.graph import GradientEdge as _GradientEdge
from tensorplay.core.device import device as _device
from tensorplay.core.dtype import dtype as _dtype
from tensorplay.core.generator import Generator as _Generator
from tensorplay.core.layout import layout as _layout
from tensorplay.core.layout import memory_format as _memory_format
from tensorplay.core.tensor import Tensor
from tensorplay.return_types import cummax as _cummax
from tensorplay.return_types import cummin as _cummin
from tensorplay.return_types import frexp as _frexp
from tensorplay.return_types import geqrf as _geqrf
from tensorplay.return_types import histogram as _histogram
from tensorplay.return_types import histogramdd as _histogramdd
from tensorplay.return_types import kthvalue as _kthvalue
from tensorplay.return_types import mode as _mode
from tensorplay.return_types import qr as _qr
from tensorplay.return_types import slogdet as _slogdet
from tensorplay.return_types import sort as _sort
from tensorplay.return_types import svd as _svd
from tensorplay.return_types import topk as _topk
from tensorplay.return_types import triangular_solve as _triangular_solve

class Methods:
    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
    def __abs__(self) -> Tensor:
        """The absolute value of each element."""
    def __add__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __and__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> np.ndarray[Any, Any]:
        """What ``np.asarray(tensor)`` gives."""
    def __array_ufunc__(self, ufunc: np.ufunc, method: builtins.str, *inputs: Any, **options: Any) -> Any:
        """What a ufunc of NumPy does with tensors."""
    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: builtins.bool = False) -> Tensor:
        """What a NumPy function of tensors returns: a tensor."""
    def __bool__(self) -> builtins.bool: ...
    def __complex__(self) -> builtins.complex: ...
    def __contains__(self, element: Any) -> builtins.bool:
        """Whether any element equals a number or tensor."""
    def __copy__(self) -> Tensor:
        """A leaf that shares the memory."""
    def __deepcopy__(self, memo: builtins.dict[builtins.int, Any]) -> Tensor:
        """A leaf of its own memory; views of one tensor that are copied together share memory again."""
    def __div__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        """A DLPack capsule of the tensor's memory, for :func:`from_dlpack` of another library."""
    def __dlpack_device__(self) -> builtins.tuple[builtins.int, builtins.int]:
        """Type and number of the device, as DLPack counts them: (1, 0), the CPU."""
    def __eq__(self, other: Tensor | builtins.complex) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> builtins.float: ...
    def __floordiv__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __format__(self, spec: builtins.str) -> builtins.str:
        """A tensor of no dimensions is formatted as its number, any other as its text."""
    def __ge__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __getitem__(self, index: Any) -> Tensor:
        """Part of the tensor: a view for ints, slices, None and Ellipsis, else a copy of the entries selected."""
    def __gt__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __iadd__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __iand__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __idiv__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __ifloordiv__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __ilshift__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __imod__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __imul__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __index__(self) -> builtins.int: ...
    def __int__(self) -> builtins.int: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __ipow__(self, exponent: Any) -> Any: ...
    def __irshift__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __isub__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __iter__(self) -> Iterator[Tensor]:
        """The entries along the first dimension."""
    def __itruediv__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __ixor__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __le__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __len__(self) -> builtins.int:
        """The extent of the first dimension."""
    def __lshift__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __lt__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __matmul__(self, other: Tensor) -> Tensor:
        """Matrix product of two tensors; ``input @ other``."""
    def __mod__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __mul__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __ne__(self, other: Tensor | builtins.complex) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor:
        """Each element with the other sign."""
    def __or__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __pos__(self) -> Tensor:
        """The input itself."""
    def __pow__(self, exponent: Any) -> Any: ...
    def __radd__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rand__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rdiv__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickled as the memory and the part of it: tensors that share memory in one pickle share it when it is loaded."""
    def __repr__(self) -> builtins.str:
        """``repr(tensor)``; of a carrier, what it holds."""
    def __reversed__(self) -> Tensor:
        """``reversed(t)``: the tensor with its first dimension in the opposite order."""
    def __rfloordiv__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rlshift__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rmatmul__(self, other: Any) -> Tensor: ...
    def __rmod__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rmul__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __ror__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rpow__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rrshift__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rshift__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __rsub__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rtruediv__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __rxor__(self, input: Tensor | builtins.complex) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None:
        """Write to part of the tensor, broadcasting and casting the value."""
    def __sub__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __truediv__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def __xor__(self, other: Tensor | builtins.complex) -> Tensor: ...
    def abs(self) -> Tensor:
        """The absolute value of each element."""
    def abs_(self) -> Tensor:
        """In-place form of :func:`abs`: writes the result into ``input`` and returns it."""
    def absolute(self) -> Tensor:
        """The absolute value of each element."""
    def absolute_(self) -> Tensor:
        """In-place form of :func:`abs`: writes the result into ``input`` and returns it."""
    def acos(self) -> Tensor:
        """The inverse of the cosine, in radians."""
    def acos_(self) -> Tensor:
        """In-place form of :func:`acos`: writes the result into ``input`` and returns it."""
    def acosh(self) -> Tensor:
        """The inverse of the hyperbolic cosine."""
    def acosh_(self) -> Tensor:
        """In-place form of :func:`acosh`: writes the result into ``input`` and returns it."""
    def add(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1) -> Tensor:
        """``input + alpha * other``."""
    def add_(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1) -> Tensor:
        """In-place form of :func:`add`: writes the result into ``input`` and returns it."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2).sum(0)``."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """In-place form of :func:`addbmm`: writes the result into ``input`` and returns it."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = 1) -> Tensor:
        """``input + value * tensor1 / tensor2``."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = 1) -> Tensor:
        """In-place form of :func:`addcdiv`: writes the result into ``input`` and returns it."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = 1) -> Tensor:
        """``input + value * tensor1 * tensor2``."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = 1) -> Tensor:
        """In-place form of :func:`addcmul`: writes the result into ``input`` and returns it."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)`` for two matrices."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """In-place form of :func:`addmm`: writes the result into ``input`` and returns it."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * (mat @ vec)`` for a matrix and a vector."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """In-place form of :func:`addmv`: writes the result into ``input`` and returns it."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * outer(vec1, vec2)``."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """In-place form of :func:`addr`: writes the result into ``input`` and returns it."""
    def adjoint(self) -> Tensor:
        """The last two dimensions swapped, conjugated if complex."""
    def all(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        """Whether all elements are true (not zero), of the whole tensor or over some dimensions."""
    def allclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
        """Whether all elements are nearly equal; see :func:`isclose`."""
    def amax(self, dim: Any = (), keepdim: builtins.bool = False) -> Tensor:
        """The largest element, or the largest over some dimensions. Elements that tie share the gradient evenly."""
    def amin(self, dim: Any = (), keepdim: builtins.bool = False) -> Tensor:
        """The smallest element, or the smallest over some dimensions. Elements that tie share the gradient evenly."""
    def aminmax(self, *, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Any:
        """The smallest and the largest element, of all or along a dimension. Elements that tie share the gradient evenly."""
    def angle(self) -> Tensor:
        """The angle of a complex number, in (-pi, pi]; of a real one, 0 or pi."""
    def any(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        """Whether any element is true (not zero), of the whole tensor or over some dimensions."""
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it."""
    def arccos(self) -> Tensor:
        """The inverse of the cosine, in radians."""
    def arccos_(self) -> Tensor:
        """In-place form of :func:`acos`: writes the result into ``input`` and returns it."""
    def arccosh(self) -> Tensor:
        """The inverse of the hyperbolic cosine."""
    def arccosh_(self) -> Tensor:
        """In-place form of :func:`acosh`: writes the result into ``input`` and returns it."""
    def arcsin(self) -> Tensor:
        """The inverse of the sine, in radians."""
    def arcsin_(self) -> Tensor:
        """In-place form of :func:`asin`: writes the result into ``input`` and returns it."""
    def arcsinh(self) -> Tensor:
        """The inverse of the hyperbolic sine."""
    def arcsinh_(self) -> Tensor:
        """In-place form of :func:`asinh`: writes the result into ``input`` and returns it."""
    def arctan(self) -> Tensor:
        """The inverse of the tangent, in radians."""
    def arctan2(self, other: Tensor) -> Tensor:
        """The angle of the point (other, input) with the first axis, in [-pi, pi]."""
    def arctan2_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`atan2`: writes the result into ``input`` and returns it."""
    def arctan_(self) -> Tensor:
        """In-place form of :func:`atan`: writes the result into ``input`` and returns it."""
    def arctanh(self) -> Tensor:
        """The inverse of the hyperbolic tangent."""
    def arctanh_(self) -> Tensor:
        """In-place form of :func:`atanh`: writes the result into ``input`` and returns it."""
    def argmax(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """The index (int64) of the largest element, of all in row-major order or along a dimension; the first of several."""
    def argmin(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """The index (int64) of the smallest element, of all in row-major order or along a dimension; the first of several."""
    def argsort(self, dim: builtins.int = -1, descending: builtins.bool = False, *, stable: builtins.bool = False) -> Tensor:
        """The indices (int64) that sort along a dimension; equal elements keep their order."""
    def argwhere(self) -> Tensor:
        """The positions of all elements that are not zero, one row each."""
    def as_strided(self, size: Any, stride: Any, storage_offset: builtins.int | None = None) -> Tensor:
        """A view of the storage with the given extents and strides (in elements), from an offset in the storage."""
    def as_strided_(self, size: Any, stride: Any, storage_offset: builtins.int | None = None) -> Tensor:
        """In-place form of :func:`as_strided`: the tensor itself becomes the view."""
    def as_strided_scatter(self, src: Tensor, size: Any, stride: Any, storage_offset: builtins.int | None = None) -> Tensor:
        """A copy of the input with ``src`` as the elements that ``as_strided`` takes."""
    def asin(self) -> Tensor:
        """The inverse of the sine, in radians."""
    def asin_(self) -> Tensor:
        """In-place form of :func:`asin`: writes the result into ``input`` and returns it."""
    def asinh(self) -> Tensor:
        """The inverse of the hyperbolic sine."""
    def asinh_(self) -> Tensor:
        """In-place form of :func:`asinh`: writes the result into ``input`` and returns it."""
    def atan(self) -> Tensor:
        """The inverse of the tangent, in radians."""
    def atan2(self, other: Tensor) -> Tensor:
        """The angle of the point (other, input) with the first axis, in [-pi, pi]."""
    def atan2_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`atan2`: writes the result into ``input`` and returns it."""
    def atan_(self) -> Tensor:
        """In-place form of :func:`atan`: writes the result into ``input`` and returns it."""
    def atanh(self) -> Tensor:
        """The inverse of the hyperbolic tangent."""
    def atanh_(self) -> Tensor:
        """In-place form of :func:`atanh`: writes the result into ``input`` and returns it."""
    def backward(self, gradient: Tensor | None = None, retain_graph: builtins.bool | None = None, create_graph: builtins.bool = False, inputs: Tensor | _GradientEdge | Sequence[Tensor | _GradientEdge] | Mapping[Any, Tensor | _GradientEdge] | None = None) -> None:
        """Accumulate the gradients of this tensor into the ``.grad`` of the leaves it depends on."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2)``."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """In-place form of :func:`baddbmm`: writes the result into ``input`` and returns it."""
    def bernoulli(self, p: builtins.float | None = None, *, generator: _Generator | None = None) -> Tensor:
        """Ones with the probabilities that ``input`` holds (or with ``p``, in its shape), else zeros."""
    def bernoulli_(self, p: builtins.float | Tensor = 0.5, *, generator: _Generator | None = None) -> Tensor:
        """Fill with ones, each with probability ``p`` (a number, or a tensor of one for each element), else with zeros."""
    def bfloat16(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in bfloat16; itself if it is of that dtype already."""
    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
        """How often each integer from 0 to the largest occurs, or the sums of their weights. Differentiable in the weights."""
    def bitwise_and(self, other: Tensor | builtins.complex) -> Tensor:
        """Where both integers have a bit set; for bools, whether both are true."""
    def bitwise_and_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`bitwise_and`: writes the result into ``input`` and returns it."""
    def bitwise_left_shift(self, other: Tensor | builtins.complex) -> Tensor:
        """``input * 2**other`` for integers, without the bits that do not fit."""
    def bitwise_left_shift_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`bitwise_left_shift`: writes the result into ``input`` and returns it."""
    def bitwise_not(self) -> Tensor:
        """Each integer with all bits the other way; for bools, the opposite."""
    def bitwise_not_(self) -> Tensor:
        """In-place form of :func:`bitwise_not`: writes the result into ``input`` and returns it."""
    def bitwise_or(self, other: Tensor | builtins.complex) -> Tensor:
        """Where one of two integers has a bit set; for bools, whether one is true."""
    def bitwise_or_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`bitwise_or`: writes the result into ``input`` and returns it."""
    def bitwise_right_shift(self, other: Tensor | builtins.complex) -> Tensor:
        """``input / 2**other`` for integers, rounded towards minus infinity."""
    def bitwise_right_shift_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`bitwise_right_shift`: writes the result into ``input`` and returns it."""
    def bitwise_xor(self, other: Tensor | builtins.complex) -> Tensor:
        """Where exactly one of two integers has a bit set; for bools, whether they differ."""
    def bitwise_xor_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`bitwise_xor`: writes the result into ``input`` and returns it."""
    @overload
    def bmm(self, batch2: Tensor) -> Tensor:
        """Products of two batches of matrices; nothing broadcasts."""
    @overload
    def bmm(self, mat2: Tensor) -> Tensor:
        """Products of two batches of matrices; nothing broadcasts."""
    def bool(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in bool; itself if it is of that dtype already."""
    @overload
    def broadcast_to(self, shape: Any) -> Tensor:
        """:func:`broadcast_to`, whose size may also be given one by one."""
    @overload
    def broadcast_to(self, size: Any, *more: builtins.int) -> Tensor:
        """:func:`broadcast_to`, whose size may also be given one by one."""
    def bucketize(self, boundaries: Tensor, *, out_int32: builtins.bool = False, right: builtins.bool = False) -> Tensor:
        """The bucket of each value: where it would be inserted among the boundaries."""
    def byte(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in uint8; itself if it is of that dtype already."""
    def cauchy_(self, median: builtins.float = 0.0, sigma: builtins.float = 1.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with numbers from a Cauchy distribution."""
    def cdouble(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in complex128; itself if it is of that dtype already."""
    def ceil(self) -> Tensor:
        """The smallest integer that is not smaller, for each element."""
    def ceil_(self) -> Tensor:
        """In-place form of :func:`ceil`: writes the result into ``input`` and returns it."""
    def cfloat(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in complex64; itself if it is of that dtype already."""
    def char(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in int8; itself if it is of that dtype already."""
    def cholesky(self, upper: builtins.bool = False) -> Tensor:
        """Cholesky factor of a Hermitian positive-definite matrix; as :func:`tensorplay.linalg.cholesky`."""
    def cholesky_inverse(self, upper: builtins.bool = False) -> Tensor:
        """Inverse of a matrix, given its Cholesky factor."""
    def cholesky_solve(self, input2: Tensor, upper: builtins.bool = False) -> Tensor:
        """:func:`cholesky_solve`, with the method's name for the factor."""
    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """Views of at most ``chunks`` consecutive parts of one size; the last may be smaller."""
    def clamp(self, min: Tensor | builtins.float | None = None, max: Tensor | builtins.float | None = None) -> Tensor:
        """Each element, but not less than ``min`` and not more than ``max``; ``max`` if ``min`` is larger."""
    def clamp_(self, min: Tensor | builtins.float | None = None, max: Tensor | builtins.float | None = None) -> Tensor:
        """In-place form of :func:`clamp`: writes the result into ``input`` and returns it."""
    def clamp_max(self, max: Tensor | builtins.float) -> Tensor:
        """Each element, but not more than ``max``."""
    def clamp_max_(self, max: Tensor | builtins.float) -> Tensor:
        """In-place form of :func:`clamp_max`: writes the result into ``input`` and returns it."""
    def clamp_min(self, min: Tensor | builtins.float) -> Tensor:
        """Each element, but not less than ``min``."""
    def clamp_min_(self, min: Tensor | builtins.float) -> Tensor:
        """In-place form of :func:`clamp_min`: writes the result into ``input`` and returns it."""
    def clip(self, min: Tensor | builtins.float | None = None, max: Tensor | builtins.float | None = None) -> Tensor:
        """Each element, but not less than ``min`` and not more than ``max``; ``max`` if ``min`` is larger."""
    def clip_(self, min: Tensor | builtins.float | None = None, max: Tensor | builtins.float | None = None) -> Tensor:
        """In-place form of :func:`clamp`: writes the result into ``input`` and returns it."""
    def clone(self, *, memory_format: Any = None) -> Tensor:
        """A copy of the elements in memory of its own; gradients pass through."""
    def combinations(self, r: builtins.int = 2, with_replacement: builtins.bool = False) -> Tensor:
        """All combinations of ``r`` entries of a vector, as rows, in lexicographic order of positions."""
    def conj(self) -> Tensor:
        """The complex conjugate; of a real tensor, the tensor itself."""
    def conj_physical(self) -> Tensor:
        """The complex conjugate; the same as :func:`conj`, with an in-place form."""
    def conj_physical_(self) -> Tensor:
        """In-place form of :func:`conj_physical`: writes the result into ``input`` and returns it."""
    def contiguous(self, memory_format: Any = ...) -> Tensor:
        """The tensor itself if its memory is in row-major (or the given) order, else a copy that is."""
    @overload
    def copy_(self, src: Any, non_blocking: builtins.bool = False) -> Tensor:
        """Write the elements of ``other``, broadcast and cast, into the tensor."""
    @overload
    def copy_(self, other: Any, non_blocking: builtins.bool = False) -> Tensor:
        """Write the elements of ``other``, broadcast and cast, into the tensor."""
    def copysign(self, other: Tensor | builtins.complex) -> Tensor:
        """The size of ``input`` with the sign of ``other``, also that of zeros."""
    def copysign_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`copysign`: writes the result into ``input`` and returns it."""
    def corrcoef(self) -> Tensor:
        """The correlation coefficients of variables in rows, with observations in columns."""
    def cos(self) -> Tensor:
        """The cosine of each element, in radians."""
    def cos_(self) -> Tensor:
        """In-place form of :func:`cos`: writes the result into ``input`` and returns it."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine of each element."""
    def cosh_(self) -> Tensor:
        """In-place form of :func:`cosh`: writes the result into ``input`` and returns it."""
    def count_nonzero(self, dim: Any = None) -> Tensor:
        """How many elements are not zero, of all or over some dimensions (int64)."""
    def cov(self, *, correction: builtins.int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance matrix of variables in rows, with observations in columns."""
    def cpu(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor on the CPU: itself."""
    def cross(self, other: Tensor, dim: builtins.int | None = None) -> Tensor:
        """Cross products of vectors in three dimensions."""
    def cummax(self, dim: builtins.int) -> _cummax:
        """The largest of all elements up to each one along a dimension, and its index; the last of several."""
    def cummin(self, dim: builtins.int) -> _cummin:
        """The smallest of all elements up to each one along a dimension, and its index; the last of several."""
    def cumprod(self, dim: builtins.int, *, dtype: Any = None) -> Tensor:
        """The products of all elements up to each one, along a dimension. Derivatives are right at zeros, to any order."""
    def cumprod_(self, dim: builtins.int, *, dtype: Any = None) -> Tensor:
        """In-place form of :func:`cumprod`: writes the result into ``input`` and returns it."""
    def cumsum(self, dim: builtins.int, *, dtype: Any = None) -> Tensor:
        """The sums of all elements up to each one, along a dimension."""
    def cumsum_(self, dim: builtins.int, *, dtype: Any = None) -> Tensor:
        """In-place form of :func:`cumsum`: writes the result into ``input`` and returns it."""
    def deg2rad(self) -> Tensor:
        """Degrees as radians."""
    def deg2rad_(self) -> Tensor:
        """In-place form of :func:`deg2rad`: writes the result into ``input`` and returns it."""
    def det(self) -> Tensor:
        """Determinant of a square matrix; as :func:`tensorplay.linalg.det`."""
    def diag(self, diagonal: builtins.int = 0) -> Tensor:
        """A square matrix with the vector on a diagonal; or a copy of the diagonal of a matrix."""
    def diag_embed(self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1) -> Tensor:
        """Square planes with the last dimension of the input on a diagonal."""
    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """A square matrix with all elements of the input on a diagonal."""
    def diagonal(self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
        """A view of the diagonal of a plane; it becomes the last dimension."""
    def diagonal_scatter(self, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
        """A copy of the input with ``src`` as a diagonal."""
    def diff(self, n: builtins.int = 1, dim: builtins.int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """Each element minus the one before, along a dimension, ``n`` times; of bools whether they differ."""
    def digamma(self) -> Tensor:
        """The derivative of the logarithm of the gamma function."""
    def digamma_(self) -> Tensor:
        """In-place form of :func:`digamma`: writes the result into ``input`` and returns it."""
    def dim_order(self, ambiguity_check: builtins.bool = False) -> builtins.tuple[builtins.int, ...]:
        """The dimensions as they lie in memory, the outermost first."""
    def dist(self, other: Tensor, p: builtins.float = 2) -> Tensor:
        """The p-norm of ``input - other``."""
    @overload
    def div(self, value: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """``input / other``, perhaps rounded."""
    @overload
    def div(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """``input / other``, perhaps rounded."""
    @overload
    def div_(self, value: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """In-place form of :func:`div`: writes the result into ``input`` and returns it."""
    @overload
    def div_(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """In-place form of :func:`div`: writes the result into ``input`` and returns it."""
    @overload
    def divide(self, value: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """``input / other``, perhaps rounded."""
    @overload
    def divide(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """``input / other``, perhaps rounded."""
    @overload
    def divide_(self, value: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """In-place form of :func:`divide`: writes the result into ``input`` and returns it."""
    @overload
    def divide_(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """In-place form of :func:`divide`: writes the result into ``input`` and returns it."""
    @overload
    def dot(self, other: Tensor) -> Tensor:
        """Dot product of two vectors: the sum of their products, without conjugation."""
    @overload
    def dot(self, tensor: Tensor) -> Tensor:
        """Dot product of two vectors: the sum of their products, without conjugation."""
    def double(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in float64; itself if it is of that dtype already."""
    @overload
    def dsplit(self, split_size_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
        """Views of equal parts, or cut at indices, along the third dimension."""
    @overload
    def dsplit(self, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
        """Views of equal parts, or cut at indices, along the third dimension."""
    def eq(self, other: Tensor | builtins.complex) -> Tensor:
        """``input == other``, element by element."""
    def eq_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`eq`: writes the result into ``input`` and returns it."""
    def equal(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape and equal elements."""
    def erf(self) -> Tensor:
        """The error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to x."""
    def erf_(self) -> Tensor:
        """In-place form of :func:`erf`: writes the result into ``input`` and returns it."""
    def erfc(self) -> Tensor:
        """``1 - erf(x)``, exact also for large x."""
    def erfc_(self) -> Tensor:
        """In-place form of :func:`erfc`: writes the result into ``input`` and returns it."""
    def erfinv(self) -> Tensor:
        """The inverse of the error function on (-1, 1)."""
    def erfinv_(self) -> Tensor:
        """In-place form of :func:`erfinv`: writes the result into ``input`` and returns it."""
    def exp(self) -> Tensor:
        """The exponential function, e to the power of each element."""
    def exp2(self) -> Tensor:
        """2 to the power of each element."""
    def exp2_(self) -> Tensor:
        """In-place form of :func:`exp2`: writes the result into ``input`` and returns it."""
    def exp_(self) -> Tensor:
        """In-place form of :func:`exp`: writes the result into ``input`` and returns it."""
    def expand(self, size: Any, *more: builtins.int, implicit: builtins.bool = False) -> Tensor:
        """A view in which dimensions of extent 1 are repeated, without copying; -1 keeps an extent."""
    def expand_as(self, other: Tensor) -> Tensor:
        """A view expanded to the shape of another tensor."""
    def expm1(self) -> Tensor:
        """``exp(x) - 1``, exact also for small x."""
    def expm1_(self) -> Tensor:
        """In-place form of :func:`expm1`: writes the result into ``input`` and returns it."""
    def exponential_(self, lambd: builtins.float = 1.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with numbers from the exponential distribution of the given rate."""
    def fill(self, value: Any) -> Tensor:
        """A tensor of the same shape and dtype filled with one number."""
    def fill_(self, value: Any) -> Tensor:
        """Write one number, or the value of a 0-dim tensor, into all elements."""
    def fill_diagonal_(self, fill_value: Any, wrap: builtins.bool = False) -> Tensor:
        """Write one number into the main diagonal."""
    def fix(self) -> Tensor:
        """Each element without its fraction."""
    def fix_(self) -> Tensor:
        """In-place form of :func:`trunc`: writes the result into ``input`` and returns it."""
    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Merge the dimensions from ``start_dim`` to ``end_dim`` into one; a 0-dim tensor gets one."""
    def flip(self, dims: Any, *more: builtins.int) -> Tensor:
        """:func:`flip`, whose dims may also be given one by one."""
    def fliplr(self) -> Tensor:
        """A copy with the second dimension reversed."""
    def flipud(self) -> Tensor:
        """A copy with the first dimension reversed."""
    def float(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in float32; itself if it is of that dtype already."""
    def float_power(self, exponent: Tensor | builtins.complex) -> Tensor:
        """``input ** exponent`` in double precision."""
    def float_power_(self, exponent: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`float_power`: the input is of the dtype of the result."""
    def floor(self) -> Tensor:
        """The largest integer that is not larger, for each element."""
    def floor_(self) -> Tensor:
        """In-place form of :func:`floor`: writes the result into ``input`` and returns it."""
    @overload
    def floor_divide(self, value: Tensor | builtins.complex) -> Tensor:
        """The quotient, rounded towards minus infinity."""
    @overload
    def floor_divide(self, other: Tensor | builtins.complex) -> Tensor:
        """The quotient, rounded towards minus infinity."""
    @overload
    def floor_divide_(self, value: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`floor_divide`: writes the result into ``input`` and returns it."""
    @overload
    def floor_divide_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`floor_divide`: writes the result into ``input`` and returns it."""
    def fmax(self, other: Tensor) -> Tensor:
        """The larger of two elements; where one of them is nan, the other."""
    def fmin(self, other: Tensor) -> Tensor:
        """The smaller of two elements; where one of them is nan, the other."""
    @overload
    def fmod(self, divisor: Tensor | builtins.complex) -> Tensor:
        """What the division rounded towards zero leaves: zero, or of the sign of ``input``."""
    @overload
    def fmod(self, other: Tensor | builtins.complex) -> Tensor:
        """What the division rounded towards zero leaves: zero, or of the sign of ``input``."""
    @overload
    def fmod_(self, divisor: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`fmod`: writes the result into ``input`` and returns it."""
    @overload
    def fmod_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`fmod`: writes the result into ``input`` and returns it."""
    def frac(self) -> Tensor:
        """The fraction of each element, ``x - trunc(x)``."""
    def frac_(self) -> Tensor:
        """In-place form of :func:`frac`: writes the result into ``input`` and returns it."""
    def frexp(self) -> _frexp:
        """Each element as a mantissa in [0.5, 1) times a power of two."""
    def gather(self, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool = False) -> Tensor:
        """For each element of ``index``, the element of the input at that position along ``dim``, all else equal."""
    def gcd(self, other: Tensor) -> Tensor:
        """The greatest common divisor of two integers; that of 0 and 0 is 0."""
    def gcd_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`gcd`: writes the result into ``input`` and returns it."""
    def ge(self, other: Tensor | builtins.complex) -> Tensor:
        """``input >= other``, element by element."""
    def ge_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`ge`: writes the result into ``input`` and returns it."""
    def geometric_(self, p: builtins.float, *, generator: _Generator | None = None) -> Tensor:
        """Fill with the number of trials up to the first success, where each succeeds with probability ``p``."""
    def geqrf(self) -> _geqrf:
        """QR decomposition in LAPACK's form: R above, reflectors below the diagonal, and their factors."""
    def ger(self, vec2: Tensor) -> Tensor:
        """Products of all elements of one vector with all of another."""
    def greater(self, other: Tensor | builtins.complex) -> Tensor:
        """``input > other``, element by element."""
    def greater_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`gt`: writes the result into ``input`` and returns it."""
    def greater_equal(self, other: Tensor | builtins.complex) -> Tensor:
        """``input >= other``, element by element."""
    def greater_equal_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`ge`: writes the result into ``input`` and returns it."""
    def gt(self, other: Tensor | builtins.complex) -> Tensor:
        """``input > other``, element by element."""
    def gt_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`gt`: writes the result into ``input`` and returns it."""
    def half(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in float16; itself if it is of that dtype already."""
    def hardshrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """``x`` outside of [-lambd, lambd], else 0."""
    def heaviside(self, values: Tensor) -> Tensor:
        """The step function: 0 below zero, 1 above, and ``values`` at zero."""
    def heaviside_(self, values: Tensor) -> Tensor:
        """In-place form of :func:`heaviside`: writes the result into ``input`` and returns it."""
    def histc(self, bins: builtins.int = 100, min: builtins.float = 0, max: builtins.float = 0) -> Tensor:
        """How many elements fall into each of ``bins`` equal parts of a range. Elements outside, and nan, are not counted."""
    def histogram(self, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None, density: builtins.bool = False) -> _histogram:
        """The histogram of all elements. Elements outside the bins are not counted."""
    def histogramdd(self, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: builtins.bool = False) -> _histogramdd:
        """The histogram of points in several dimensions. Points outside the bins are not counted."""
    @overload
    def hsplit(self, split_size_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
        """Views of equal parts, or cut at indices, along the second dimension; the first of a vector."""
    @overload
    def hsplit(self, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
        """Views of equal parts, or cut at indices, along the second dimension; the first of a vector."""
    def hypot(self, other: Tensor) -> Tensor:
        """The length of the hypotenuse, ``sqrt(input**2 + other**2)``, without overflow in between."""
    def hypot_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`hypot`: writes the result into ``input`` and returns it."""
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> Tensor:
        """In-place form of :func:`i0`: writes the result into ``input`` and returns it."""
    def igamma(self, other: Tensor) -> Tensor:
        """The regularised lower incomplete gamma function P(input, other)."""
    def igamma_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`igamma`: writes the result into ``input`` and returns it."""
    def igammac(self, other: Tensor) -> Tensor:
        """The regularised upper incomplete gamma function Q(input, other), ``1 - igamma(input, other)``."""
    def igammac_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`igammac`: writes the result into ``input`` and returns it."""
    @property
    def imag(self) -> Tensor:
        """The imaginary part, a view."""
    def index_add(self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.complex = 1) -> Any:
        """The input with ``alpha`` times the slices of ``source`` added at the given positions; repeated ones add up."""
    def index_add_(self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.complex = 1) -> Any:
        """In-place form of :func:`index_add`: changes ``input`` and returns it."""
    @overload
    def index_copy(self, dim: builtins.int, index: Tensor, tensor2: Tensor) -> Any:
        """The input with slices replaced by those of ``source`` at the given positions."""
    @overload
    def index_copy(self, dim: builtins.int, index: Tensor, source: Tensor) -> Any:
        """The input with slices replaced by those of ``source`` at the given positions."""
    @overload
    def index_copy_(self, dim: builtins.int, index: Tensor, tensor: Tensor) -> Any:
        """In-place form of :func:`index_copy`: changes ``input`` and returns it."""
    @overload
    def index_copy_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Any:
        """In-place form of :func:`index_copy`: changes ``input`` and returns it."""
    def index_fill(self, dim: builtins.int, index: Tensor, value: Any) -> Any:
        """The input with one number in the slices at the given positions."""
    def index_fill_(self, dim: builtins.int, index: Tensor, value: Any) -> Any:
        """In-place form of :func:`index_fill`: changes ``input`` and returns it."""
    def index_put(self, indices: Any, values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """The input with ``values`` written (or added, repeated ones too) at ``input[indices]``."""
    def index_put_(self, indices: Any, values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """In-place form of :func:`index_put`: changes ``input`` and returns it."""
    def index_reduce(self, dim: builtins.int, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True) -> Any:
        """The slices of ``source`` that go to one position along ``dim`` combined with each other and the input."""
    def index_reduce_(self, dim: builtins.int, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True) -> Any:
        """In-place form of :func:`index_reduce`: changes ``input`` and returns it."""
    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """The slices of the input at the given positions along a dimension."""
    def inner(self, other: Tensor) -> Tensor:
        """Sums of products over the last dimension of both; a 0-dim tensor multiplies."""
    def int(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in int32; itself if it is of that dtype already."""
    def inverse(self) -> Tensor:
        """Inverse of a square matrix; as :func:`tensorplay.linalg.inv`."""
    def is_conj(self) -> builtins.bool:
        """Whether the elements are conjugates yet to be computed: never, conj() computes them."""
    def is_neg(self) -> builtins.bool:
        """Whether the elements are negatives yet to be computed: never."""
    def is_nonzero(self) -> builtins.bool:
        """Whether the only element of a tensor is not zero."""
    def is_pinned(self) -> builtins.bool:
        """Whether the memory is page-locked for an accelerator: never."""
    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape."""
    def is_set_to(self, tensor: Tensor) -> builtins.bool:
        """Whether two tensors are the same part of the same memory."""
    def is_shared(self) -> builtins.bool:
        """Whether the memory is shared between processes; see :meth:`share_memory_`."""
    def isclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
        """Whether elements are nearly equal: ``abs(input - other) <= atol + rtol * abs(other)``."""
    def isfinite(self) -> Tensor:
        """Whether an element is neither nan nor infinite."""
    def isinf(self) -> Tensor:
        """Whether an element is inf or -inf; for a complex one, whether a part is."""
    def isnan(self) -> Tensor:
        """Whether an element is nan; for a complex one, whether a part is."""
    def isneginf(self) -> Tensor:
        """Whether an element is -inf."""
    def isposinf(self) -> Tensor:
        """Whether an element is inf."""
    def isreal(self) -> Tensor:
        """Whether an element has no imaginary part."""
    def istft(self, n_fft: builtins.int, hop_length: builtins.int | None = None, win_length: builtins.int | None = None, window: Tensor | None = None, center: builtins.bool = True, normalized: builtins.bool = False, onesided: builtins.bool | None = None, length: builtins.int | None = None, return_complex: builtins.bool = False) -> Tensor:
        """The signal from its short-time Fourier transform, the best fit where no signal has such a transform."""
    def item(self) -> Any:
        """The value of a tensor of one element, as a Python number."""
    def kron(self, other: Tensor) -> Tensor:
        """Kronecker product: blocks of ``other``, one for each element of ``input``, multiplied by it."""
    def kthvalue(self, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False) -> _kthvalue:
        """The k-th smallest element along a dimension, counted from 1, and its index. A nan counts as largest."""
    def lcm(self, other: Tensor) -> Tensor:
        """The least common multiple of two integers, never negative."""
    def lcm_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`lcm`: writes the result into ``input`` and returns it."""
    def ldexp(self, other: Tensor) -> Tensor:
        """``input * 2**other``."""
    def ldexp_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`ldexp`: writes the result into ``input`` and returns it."""
    def le(self, other: Tensor | builtins.complex) -> Tensor:
        """``input <= other``, element by element."""
    def le_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`le`: writes the result into ``input`` and returns it."""
    def lerp(self, end: Tensor, weight: Tensor | builtins.float) -> Tensor:
        """From ``input`` to ``end`` on a straight line: ``input + weight * (end - input)``."""
    def lerp_(self, end: Tensor, weight: Tensor | builtins.float) -> Tensor:
        """In-place form of :func:`lerp`: writes the result into ``input`` and returns it."""
    def less(self, other: Tensor | builtins.complex) -> Tensor:
        """``input < other``, element by element."""
    def less_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`lt`: writes the result into ``input`` and returns it."""
    def less_equal(self, other: Tensor | builtins.complex) -> Tensor:
        """``input <= other``, element by element."""
    def less_equal_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`le`: writes the result into ``input`` and returns it."""
    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""
    def lgamma_(self) -> Tensor:
        """In-place form of :func:`lgamma`: writes the result into ``input`` and returns it."""
    def log(self) -> Tensor:
        """The natural logarithm of each element."""
    def log10(self) -> Tensor:
        """The logarithm to base 10 of each element."""
    def log10_(self) -> Tensor:
        """In-place form of :func:`log10`: writes the result into ``input`` and returns it."""
    def log1p(self) -> Tensor:
        """``log(1 + x)``, exact also for small x."""
    def log1p_(self) -> Tensor:
        """In-place form of :func:`log1p`: writes the result into ``input`` and returns it."""
    def log2(self) -> Tensor:
        """The logarithm to base 2 of each element."""
    def log2_(self) -> Tensor:
        """In-place form of :func:`log2`: writes the result into ``input`` and returns it."""
    def log_(self) -> Tensor:
        """In-place form of :func:`log`: writes the result into ``input`` and returns it."""
    def log_normal_(self, mean: builtins.float = 1.0, std: builtins.float = 2.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with exponentials of numbers from a normal distribution of the given mean and standard deviation."""
    def log_softmax(self, dim: builtins.int, dtype: _dtype | None = None) -> Tensor:
        """The logarithm of :func:`softmax`, without underflow: ``x_i - log(sum_j exp(x_j))``."""
    def logaddexp(self, other: Tensor) -> Tensor:
        """``log(exp(input) + exp(other))``, without overflow in between."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """``log2(2**input + 2**other)``, without overflow in between."""
    def logcumsumexp(self, dim: builtins.int) -> Tensor:
        """log(cumsum(exp(x))) along a dimension, without overflow."""
    def logdet(self) -> Tensor:
        """Logarithm of the determinant: -inf where it is zero, nan where it is negative."""
    def logical_and(self, other: Tensor) -> Tensor:
        """Whether both elements are true."""
    def logical_and_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`logical_and`: writes the result into ``input`` and returns it."""
    def logical_not(self) -> Tensor:
        """Whether an element is false, that is zero."""
    def logical_not_(self) -> Tensor:
        """In-place form of :func:`logical_not`: writes the result into ``input`` and returns it."""
    def logical_or(self, other: Tensor) -> Tensor:
        """Whether one of two elements is true, or both."""
    def logical_or_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`logical_or`: writes the result into ``input`` and returns it."""
    def logical_xor(self, other: Tensor) -> Tensor:
        """Whether exactly one of two elements is true."""
    def logical_xor_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`logical_xor`: writes the result into ``input`` and returns it."""
    def logit(self, eps: builtins.float | None = None) -> Tensor:
        """The inverse of the logistic function, ``log(x / (1 - x))``."""
    def logit_(self, eps: builtins.float | None = None) -> Tensor:
        """In-place form of :func:`logit`: writes the result into ``input`` and returns it."""
    def logsumexp(self, dim: Any, keepdim: builtins.bool = False) -> Tensor:
        """log(sum(exp(x))) without overflow. Where all elements are -inf it is -inf, with a gradient of zero."""
    def long(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in int64; itself if it is of that dtype already."""
    def lt(self, other: Tensor | builtins.complex) -> Tensor:
        """``input < other``, element by element."""
    def lt_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`lt`: writes the result into ``input`` and returns it."""
    def lu(self, pivot: builtins.bool = True, get_infos: builtins.bool = False) -> Any:
        """LU decomposition, packed; :func:`tensorplay.linalg.lu_factor_ex` in its older form."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """Solve AX = b, given the packed LU decomposition of A; :func:`tensorplay.linalg.lu_solve` in its older form."""
    @property
    def mH(self) -> Tensor:
        """A view with the last two dimensions swapped, conjugated if complex; a 0-dim tensor stays as it is."""
    @property
    def mT(self) -> Tensor:
        """A view with the last two dimensions swapped; a 0-dim tensor stays as it is."""
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it and of those in ``x`` and ``y``."""
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it and of the one in ``tensor``."""
    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        """The input with one number where a mask is true; input and mask broadcast."""
    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        """In-place form of :func:`masked_fill`: changes ``input`` and returns it."""
    @overload
    def masked_scatter(self, mask: Tensor, tensor: Tensor) -> Any:
        """The input with the elements of ``source``, one after the other, where a mask is true."""
    @overload
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Any:
        """The input with the elements of ``source``, one after the other, where a mask is true."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Any:
        """In-place form of :func:`masked_scatter`: changes ``input`` and returns it."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where a mask is true, in one dimension; input and mask broadcast."""
    @overload
    def matmul(self, tensor2: Tensor) -> Tensor:
        """Matrix product of two tensors; ``input @ other``."""
    @overload
    def matmul(self, other: Tensor) -> Tensor:
        """Matrix product of two tensors; ``input @ other``."""
    def matrix_exp(self) -> Tensor:
        """Exponential of a square matrix."""
    def matrix_power(self, n: builtins.int) -> Tensor:
        """A square matrix to an integer power; as :func:`tensorplay.linalg.matrix_power`."""
    def max(self, dim: Any = None, keepdim: builtins.bool = False, *, other: Tensor | None = None) -> Any:
        """The largest element; along ``dim`` the largest elements with their indices; or the larger of two tensors."""
    def maximum(self, other: Tensor) -> Tensor:
        """The larger of two elements; nan if one of them is."""
    def mean(self, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The mean of all elements, or over some dimensions; nan where there are none."""
    def median(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Any:
        """The median of all elements, or along a dimension with its index; of two in the middle the lower. nan if one is."""
    def min(self, dim: Any = None, keepdim: builtins.bool = False, *, other: Tensor | None = None) -> Any:
        """The smallest element; along ``dim`` the smallest elements with their indices; or the smaller of two tensors."""
    def minimum(self, other: Tensor) -> Tensor:
        """The smaller of two elements; nan if one of them is."""
    def mm(self, mat2: Tensor) -> Tensor:
        """Product of two matrices; nothing broadcasts."""
    def mode(self, dim: builtins.int = -1, keepdim: builtins.bool = False) -> _mode:
        """The most frequent element along a dimension, of several the smallest, and the index of its last occurrence."""
    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """A view with dimensions moved to other places, the others kept in their order."""
    def movedim(self, source: Any, destination: Any) -> Tensor:
        """A view with dimensions moved to other places, the others kept in their order."""
    def msort(self) -> Tensor:
        """Sort along the first dimension: the values alone."""
    @overload
    def mul(self, value: Tensor | builtins.complex) -> Tensor:
        """``input * other``, element by element."""
    @overload
    def mul(self, other: Tensor | builtins.complex) -> Tensor:
        """``input * other``, element by element."""
    @overload
    def mul_(self, value: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`mul`: writes the result into ``input`` and returns it."""
    @overload
    def mul_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`mul`: writes the result into ``input`` and returns it."""
    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = False, *, generator: _Generator | None = None) -> Tensor:
        """Positions drawn with probabilities in proportion to the weights in each row of ``input``."""
    @overload
    def multiply(self, value: Tensor | builtins.complex) -> Tensor:
        """``input * other``, element by element."""
    @overload
    def multiply(self, other: Tensor | builtins.complex) -> Tensor:
        """``input * other``, element by element."""
    @overload
    def multiply_(self, value: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`mul`: writes the result into ``input`` and returns it."""
    @overload
    def multiply_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`mul`: writes the result into ``input`` and returns it."""
    def mv(self, vec: Tensor) -> Tensor:
        """Product of a matrix and a vector."""
    def mvlgamma(self, p: builtins.int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p, without its constant's derivative."""
    def mvlgamma_(self, p: builtins.int) -> Tensor:
        """In-place form of :func:`mvlgamma`: writes the result into ``input`` and returns it."""
    def nan_to_num(self, nan: builtins.float | None = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Tensor:
        """Finite numbers in the place of nan and the infinities."""
    def nan_to_num_(self, nan: builtins.float | None = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Tensor:
        """In-place form of :func:`nan_to_num`: writes the result into ``input`` and returns it."""
    def nanmean(self, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The mean of the elements that are not nan, of all or over some dimensions; nan where there are none."""
    def nanmedian(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Any:
        """The median of the elements that are not nan, of all or along a dimension with its index; of two the lower."""
    def nanquantile(self, q: Any, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, interpolation: builtins.str = 'linear') -> Tensor:
        """The q-th quantiles of the elements that are not nan, of all or along a dimension; nan where there are none."""
    def nansum(self, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The sum of the elements that are not nan, of all or over some dimensions."""
    @overload
    def narrow(self, dimension: builtins.int, start: Any, length: builtins.int) -> Tensor:
        """A view of ``length`` entries along a dimension, from ``start`` on."""
    @overload
    def narrow(self, dim: builtins.int, start: Any, length: builtins.int) -> Tensor:
        """A view of ``length`` entries along a dimension, from ``start`` on."""
    def narrow_copy(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """A copy of ``length`` entries along a dimension, from ``start`` on."""
    def ne(self, other: Tensor | builtins.complex) -> Tensor:
        """``input != other``, element by element."""
    def ne_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`ne`: writes the result into ``input`` and returns it."""
    def neg(self) -> Tensor:
        """Each element with the other sign."""
    def neg_(self) -> Tensor:
        """In-place form of :func:`neg`: writes the result into ``input`` and returns it."""
    def negative(self) -> Tensor:
        """Each element with the other sign."""
    def negative_(self) -> Tensor:
        """In-place form of :func:`neg`: writes the result into ``input`` and returns it."""
    def new(self, *args: Any, device: _device | builtins.str | None = None) -> Tensor:
        """As ``Tensor(...)``, with the dtype and device of this tensor: from sizes, or from a sequence of numbers."""
    def new_empty(self, size: builtins.int | Sequence[builtins.int], *more: builtins.int, dtype: _dtype | builtins.type | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, layout: _layout | None = None, pin_memory: builtins.bool = False) -> Tensor:
        """A tensor of unset elements, with the dtype and device of this tensor unless others are given."""
    def new_empty_strided(self, size: Sequence[builtins.int], stride: Sequence[builtins.int], dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False) -> Tensor:
        """As :func:`empty_strided`, with the dtype and device of this tensor unless others are given."""
    def new_full(self, size: Sequence[builtins.int], fill_value: builtins.complex | Tensor, *, dtype: _dtype | builtins.type | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, layout: _layout | None = None, pin_memory: builtins.bool = False) -> Tensor:
        """One number in the given shape, with the dtype and device of this tensor unless others are given."""
    def new_ones(self, size: builtins.int | Sequence[builtins.int], *more: builtins.int, dtype: _dtype | builtins.type | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, layout: _layout | None = None, pin_memory: builtins.bool = False) -> Tensor:
        """Ones with the dtype and device of this tensor unless others are given."""
    def new_tensor(self, data: Any, *, dtype: _dtype | builtins.type | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, layout: _layout | None = None, pin_memory: builtins.bool = False) -> Tensor:
        """A tensor of a copy of the data, with the dtype and device of this tensor unless others are given."""
    def new_zeros(self, size: builtins.int | Sequence[builtins.int], *more: builtins.int, dtype: _dtype | builtins.type | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, layout: _layout | None = None, pin_memory: builtins.bool = False) -> Tensor:
        """Zeros with the dtype and device of this tensor unless others are given."""
    def nextafter(self, other: Tensor) -> Tensor:
        """The next number of the dtype after ``input`` in the direction of ``other``."""
    def nextafter_(self, other: Tensor) -> Tensor:
        """In-place form of :func:`nextafter`: writes the result into ``input`` and returns it."""
    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """The positions of all elements that are not zero: one row each; or a tuple with a vector for each dimension."""
    def nonzero_static(self, *, size: builtins.int, fill_value: builtins.int = -1) -> Tensor:
        """The first ``size`` positions of elements that are not zero, one row each, filled up if there are fewer."""
    def norm(self, p: Any = 'fro', dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The norm of all elements as a vector, or over some dimensions."""
    def normal_(self, mean: builtins.float = 0.0, std: builtins.float = 1.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with numbers from a normal distribution."""
    def not_equal(self, other: Tensor | builtins.complex) -> Tensor:
        """``input != other``, element by element."""
    def not_equal_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`ne`: writes the result into ``input`` and returns it."""
    def numpy(self, *, force: builtins.bool = False) -> np.ndarray[Any, Any]:
        """The values as a NumPy array that shares the tensor's memory."""
    def orgqr(self, input2: Tensor) -> Tensor:
        """:func:`orgqr`, with the method's name for the second argument."""
    def ormqr(self, input2: Tensor, input3: Tensor, left: builtins.bool = True, transpose: builtins.bool = False) -> Tensor:
        """:func:`ormqr`, with the method's names for the second and third arguments."""
    def outer(self, vec2: Tensor) -> Tensor:
        """Products of all elements of one vector with all of another."""
    def permute(self, dims: Any, *more: builtins.int) -> Tensor:
        """:func:`permute`, whose dims may also be given one by one."""
    def pin_memory(self, device: _device | builtins.str | None = None) -> Tensor:
        """The tensor in memory that an accelerator reads directly."""
    def pinverse(self, rcond: builtins.float = 1e-15) -> Tensor:
        """Moore-Penrose pseudoinverse; as :func:`tensorplay.linalg.pinv` with ``rtol=rcond``."""
    def polygamma(self, n: builtins.int) -> Tensor:
        """The n-th derivative of the digamma function; see :func:`polygamma`."""
    def polygamma_(self, n: builtins.int) -> Tensor:
        """In-place form of :func:`polygamma_method`: writes the result into ``input`` and returns it."""
    def positive(self) -> Tensor:
        """The input itself."""
    def pow(self, exponent: Tensor | builtins.complex) -> Tensor:
        """``input ** exponent``, element by element."""
    def pow_(self, exponent: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`pow`: writes the result into ``input`` and returns it."""
    def prelu(self, weight: Tensor) -> Tensor:
        """``x`` where it is positive, else ``weight * x``."""
    def prod(self, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The product of all elements, or along a dimension. Derivatives are right at zeros, to any order."""
    def put(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Any:
        """The input with elements written (or added) at flat positions."""
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Any:
        """In-place form of :func:`put`: changes ``input`` and returns it."""
    def qr(self, some: builtins.bool = True) -> _qr:
        """QR decomposition; :func:`tensorplay.linalg.qr` in its older form."""
    def quantile(self, q: Any, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, interpolation: builtins.str = 'linear') -> Tensor:
        """The q-th quantiles of all elements, or along a dimension; nan where an element is."""
    def rad2deg(self) -> Tensor:
        """Radians as degrees."""
    def rad2deg_(self) -> Tensor:
        """In-place form of :func:`rad2deg`: writes the result into ``input`` and returns it."""
    def random_(self, from_: builtins.int | None = None, to: builtins.int | None = None, *, generator: _Generator | None = None) -> Tensor:
        """Fill with integers: ``random_(from, to)`` without ``to``, ``random_(to)`` from 0, ``random_()`` all there are."""
    def ravel(self) -> Tensor:
        """The elements in one dimension: a view where the tensor is contiguous, else a copy."""
    @property
    def real(self) -> Tensor:
        """The real part, a view; of a real tensor, the tensor itself."""
    def reciprocal(self) -> Tensor:
        """One over each element."""
    def reciprocal_(self) -> Tensor:
        """In-place form of :func:`reciprocal`: writes the result into ``input`` and returns it."""
    def relu(self) -> Tensor:
        """The positive part, ``max(x, 0)``."""
    def relu_(self) -> Tensor:
        """In-place form of :func:`relu`: writes the result into ``input`` and returns it."""
    @overload
    def remainder(self, divisor: Tensor | builtins.complex) -> Tensor:
        """What the division rounded towards minus infinity leaves: zero, or of the sign of ``other``."""
    @overload
    def remainder(self, other: Tensor | builtins.complex) -> Tensor:
        """What the division rounded towards minus infinity leaves: zero, or of the sign of ``other``."""
    @overload
    def remainder_(self, divisor: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`remainder`: writes the result into ``input`` and returns it."""
    @overload
    def remainder_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`remainder`: writes the result into ``input`` and returns it."""
    def renorm(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Tensor:
        """Scale the slices along one dimension whose norm is larger down to ``maxnorm``."""
    def renorm_(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Tensor:
        """In-place form of :func:`renorm`: writes the result into ``input`` and returns it."""
    def repeat(self, repeats: Any, *more: builtins.int) -> Tensor:
        """The tensor laid out ``repeats`` times along each dimension, new ones in front first."""
    def repeat_interleave(self, repeats: Any = None, dim: builtins.int | None = None, *, output_size: builtins.int | None = None) -> Tensor:
        """Each entry along a dimension repeated in place; without ``dim``, of the flattened tensor."""
    def reshape(self, shape: Any, *more: builtins.int) -> Tensor:
        """:func:`reshape`, whose shape may also be given one by one."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of another tensor."""
    def resize_(self, size: Any, *more: builtins.int, memory_format: Any = None) -> Tensor:
        """Give the tensor another shape, in place; where it grows, new elements are zero and the memory is new."""
    @overload
    def resize_as_(self, tensor: Tensor, *, memory_format: Any = None) -> Tensor:
        """Give the tensor the shape of another, in place; see :meth:`Tensor.resize_`."""
    @overload
    def resize_as_(self, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
        """Give the tensor the shape of another, in place; see :meth:`Tensor.resize_`."""
    def resolve_conj(self) -> Tensor:
        """The tensor itself: its conjugation is never put off."""
    def resolve_neg(self) -> Tensor:
        """The tensor itself: its negation is never put off."""
    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """The entries shifted along dimensions, those pushed out coming in again; without ``dims``, all in one row."""
    def rot90(self, k: builtins.int = 1, dims: Any = (0, 1)) -> Tensor:
        """A copy turned ``k`` times by 90 degrees in the plane of two dimensions, from the first towards the second."""
    def round(self, *, decimals: builtins.int = 0) -> Tensor:
        """The nearest integer, or the nearest number of some decimals; of two, the even one."""
    def round_(self, *, decimals: builtins.int = 0) -> Tensor:
        """In-place form of :func:`round`: writes the result into ``input`` and returns it."""
    def rsqrt(self) -> Tensor:
        """One over the square root of each element."""
    def rsqrt_(self) -> Tensor:
        """In-place form of :func:`rsqrt`: writes the result into ``input`` and returns it."""
    def rsub(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1) -> Tensor:
        """``other - alpha * input``."""
    def scatter(self, dim: builtins.int, index: Tensor, src: Any = None, *, value: Any = None, reduce: builtins.str | None = None) -> Any:
        """The input with elements written at positions along ``dim``: the reverse of :func:`gather`."""
    def scatter_(self, dim: builtins.int, index: Tensor, src: Any = None, *, value: Any = None, reduce: builtins.str | None = None) -> Any:
        """In-place form of :func:`scatter`: changes ``input`` and returns it."""
    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor) -> Any:
        """The input with the elements of ``src`` added at positions along ``dim``; repeated ones add up."""
    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Any:
        """In-place form of :func:`scatter_add`: changes ``input`` and returns it."""
    def scatter_reduce(self, dim: builtins.int, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True) -> Any:
        """The elements of ``src`` that go to one position along ``dim`` combined with each other and the input."""
    def scatter_reduce_(self, dim: builtins.int, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True) -> Any:
        """In-place form of :func:`scatter_reduce`: changes ``input`` and returns it."""
    def searchsorted(self, input: Any, *, out_int32: builtins.bool = False, right: builtins.bool = False, side: builtins.str | None = None, sorter: Tensor | None = None) -> Tensor:
        """Where each value would be inserted to keep the last dimension sorted."""
    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """A view of one entry along a dimension, which is gone."""
    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
        """A copy of the input with ``src`` as the entry ``index`` along a dimension."""
    def set_(self, source: Tensor | None = None, storage_offset: builtins.int = 0, size: Any = None, stride: Any = None) -> Tensor:
        """Let a tensor share the memory of another one, in place; without one, it becomes empty."""
    def sgn(self) -> Tensor:
        """The sign of a real number; the direction ``z / abs(z)`` of a complex one."""
    def sgn_(self) -> Tensor:
        """In-place form of :func:`sgn`: writes the result into ``input`` and returns it."""
    def share_memory_(self) -> Tensor:
        """Move to memory that processes share: those that are forked from now on, and those that are sent the tensor."""
    def short(self, memory_format: _memory_format = ...) -> Tensor:
        """The tensor in int16; itself if it is of that dtype already."""
    def sigmoid(self) -> Tensor:
        """The logistic function of each element, ``1 / (1 + exp(-x))``."""
    def sigmoid_(self) -> Tensor:
        """In-place form of :func:`sigmoid`: writes the result into ``input`` and returns it."""
    def sign(self) -> Tensor:
        """The sign of each element: -1, 0 or 1."""
    def sign_(self) -> Tensor:
        """In-place form of :func:`sign`: writes the result into ``input`` and returns it."""
    def signbit(self) -> Tensor:
        """Whether the sign of an element is minus, also that of -0."""
    def sin(self) -> Tensor:
        """The sine of each element, in radians."""
    def sin_(self) -> Tensor:
        """In-place form of :func:`sin`: writes the result into ``input`` and returns it."""
    def sinc(self) -> Tensor:
        """``sin(pi * x) / (pi * x)``, and 1 at 0."""
    def sinc_(self) -> Tensor:
        """In-place form of :func:`sinc`: writes the result into ``input`` and returns it."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine of each element."""
    def sinh_(self) -> Tensor:
        """In-place form of :func:`sinh`: writes the result into ``input`` and returns it."""
    def slice_scatter(self, src: Tensor, dim: builtins.int = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1) -> Tensor:
        """A copy of the input with ``src`` in place of a slice along a dimension."""
    def slogdet(self) -> _slogdet:
        """Sign and logarithm of the absolute value of the determinant; as :func:`tensorplay.linalg.slogdet`."""
    def softmax(self, dim: builtins.int, dtype: _dtype | None = None) -> Tensor:
        """Exponentials along a dimension, scaled to sum to one: ``exp(x_i) / sum_j exp(x_j)``."""
    def sort(self, dim: builtins.int = -1, descending: builtins.bool = False, *, stable: builtins.bool | None = None) -> _sort:
        """Sort along a dimension. A nan counts as largest."""
    def split(self, split_size: Any, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """Views of consecutive parts, as :func:`tensorplay.split` gives them."""
    def split_with_sizes(self, split_sizes: Any, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """Views of consecutive parts of the given sizes, which sum to the extent of the dimension."""
    def sqrt(self) -> Tensor:
        """The square root of each element."""
    def sqrt_(self) -> Tensor:
        """In-place form of :func:`sqrt`: writes the result into ``input`` and returns it."""
    def square(self) -> Tensor:
        """Each element times itself."""
    def square_(self) -> Tensor:
        """In-place form of :func:`square`: writes the result into ``input`` and returns it."""
    def squeeze(self, dim: Any = None) -> Tensor:
        """A view without the dimensions of extent 1: without all of them, or without those among ``dim``."""
    def squeeze_(self, dim: Any = None) -> Tensor:
        """In-place form of :func:`squeeze`: the tensor itself becomes the view."""
    def std(self, dim: Any = None, unbiased: Any = None, keepdim: builtins.bool = False, *, correction: Any = None) -> Tensor:
        """The standard deviation: the square root of the variance. Its gradient is zero where it is zero."""
    def std_mean(self, dim: Any = None, unbiased: Any = None, keepdim: builtins.bool = False, *, correction: Any = None) -> builtins.tuple[Tensor, Tensor]:
        """The standard deviation and the mean; parameters as for :func:`std`."""
    def stft(self, n_fft: builtins.int, hop_length: builtins.int | None = None, win_length: builtins.int | None = None, window: Tensor | None = None, center: builtins.bool = True, pad_mode: builtins.str = 'reflect', normalized: builtins.bool = False, onesided: builtins.bool | None = None, return_complex: builtins.bool | None = None, align_to_window: builtins.bool | None = None) -> Tensor:
        """The short-time Fourier transform: of overlapping pieces of a signal, each under a window."""
    def sub(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1) -> Tensor:
        """``input - alpha * other``."""
    def sub_(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1) -> Tensor:
        """In-place form of :func:`sub`: writes the result into ``input`` and returns it."""
    def subtract(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1) -> Tensor:
        """``input - alpha * other``."""
    def subtract_(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1) -> Tensor:
        """In-place form of :func:`sub`: writes the result into ``input`` and returns it."""
    def sum(self, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The sum of all elements, or over some dimensions."""
    def sum_to_size(self, size: Any = (), *more: builtins.int) -> Tensor:
        """The sum over dimensions that broadcasting to the shape of ``input`` would add or repeat."""
    def svd(self, some: builtins.bool = True, compute_uv: builtins.bool = True) -> _svd:
        """Singular value decomposition; :func:`tensorplay.linalg.svd` in its older form, which returns V itself."""
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """A view with two dimensions swapped; :func:`transpose` under NumPy's name."""
    def swapaxes_(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """In-place form of :func:`swapaxes`: the tensor itself becomes the view."""
    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """A view with two dimensions swapped."""
    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """In-place form of :func:`transpose`: the tensor itself becomes the view."""
    def t(self) -> Tensor:
        """A view of a matrix with its two dimensions swapped; of fewer dimensions, as it is."""
    def t_(self) -> Tensor:
        """In-place form of :func:`t`: the tensor itself becomes the view."""
    @overload
    def take(self, indices: Tensor) -> Tensor:
        """The elements at flat positions; negative ones count from the end."""
    @overload
    def take(self, index: Tensor) -> Tensor:
        """The elements at flat positions; negative ones count from the end."""
    def take_along_dim(self, indices: Tensor, dim: builtins.int | None = None) -> Tensor:
        """Elements along a dimension by index, input and indices broadcast against each other; or of the flattened input."""
    def tan(self) -> Tensor:
        """The tangent of each element, in radians."""
    def tan_(self) -> Tensor:
        """In-place form of :func:`tan`: writes the result into ``input`` and returns it."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""
    def tanh_(self) -> Tensor:
        """In-place form of :func:`tanh`: writes the result into ``input`` and returns it."""
    def tensor_split(self, indices_or_sections: Any = None, dim: builtins.int = 0, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
        """Views of consecutive parts: so many, as equal as possible, or cut at the given indices."""
    def tile(self, dims: Any, *more: builtins.int) -> Tensor:
        """:func:`tile`, whose dims may also be given one by one."""
    def to(self, *args: Any, memory_format: _memory_format | None = None, **kwargs: Any) -> Tensor:
        """The tensor with another dtype, device or memory format; itself if it has these already."""
    def to_dense(self, dtype: _dtype | None = None, *, masked_grad: builtins.bool | None = None) -> Tensor:
        """The tensor itself, as its layout is dense, or a cast."""
    def tolist(self) -> Any:
        """The values as nested lists of Python numbers; of a tensor of no dimensions the number."""
    def topk(self, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True, sorted: builtins.bool = True) -> _topk:
        """The k largest or smallest elements along a dimension, the most extreme first. A nan counts as largest."""
    def trace(self) -> Tensor:
        """Sum of the diagonal of a matrix."""
    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """A view with two dimensions swapped."""
    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """In-place form of :func:`transpose`: the tensor itself becomes the view."""
    def triangular_solve(self, A: Tensor, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False) -> _triangular_solve:
        """Solve AX = b for a triangular A; :func:`tensorplay.linalg.solve_triangular` in its older form."""
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """The matrices with zeros above a diagonal."""
    def tril_(self, diagonal: builtins.int = 0) -> Tensor:
        """In-place form of :func:`tril`: writes the result into ``input`` and returns it."""
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """The matrices with zeros below a diagonal."""
    def triu_(self, diagonal: builtins.int = 0) -> Tensor:
        """In-place form of :func:`triu`: writes the result into ``input`` and returns it."""
    @overload
    def true_divide(self, value: Tensor | builtins.complex) -> Tensor:
        """``input / other``; the same as :func:`div` without rounding."""
    @overload
    def true_divide(self, other: Tensor | builtins.complex) -> Tensor:
        """``input / other``; the same as :func:`div` without rounding."""
    @overload
    def true_divide_(self, value: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`true_divide`: writes the result into ``input`` and returns it."""
    @overload
    def true_divide_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`true_divide`: writes the result into ``input`` and returns it."""
    def trunc(self) -> Tensor:
        """Each element without its fraction."""
    def trunc_(self) -> Tensor:
        """In-place form of :func:`trunc`: writes the result into ``input`` and returns it."""
    def type(self, dtype: _dtype | builtins.str | None = None, non_blocking: builtins.bool = False) -> Any:
        """The tensor in another dtype; without an argument the name of its type, such as ``tensorplay.FloatTensor``."""
    @overload
    def type_as(self, tensor: Tensor) -> Tensor:
        """The tensor in the dtype of ``other``."""
    @overload
    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype of ``other``."""
    def unbind(self, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """Views of all entries along a dimension, which is gone."""
    def unflatten(self, dim: builtins.int, sizes: Any) -> Tensor:
        """Split one dimension into several; one of ``sizes`` may be -1."""
    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """A view of all windows of ``size`` entries along a dimension, ``step`` apart; they are a new last dimension."""
    def uniform_(self, from_: builtins.float = 0.0, to: builtins.float = 1.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with numbers from the uniform distribution over [from_, to)."""
    def unique(self, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Any:
        """The distinct elements, or the distinct slices along a dimension, in ascending order."""
    def unique_consecutive(self, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Any:
        """The elements, or slices along a dimension, that differ from the one before."""
    def unsafe_chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """:func:`chunk`, with parts that may be written to, as of :func:`unsafe_split`."""
    def unsafe_split(self, split_size: Any, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """:func:`split`, with parts that may be written to where gradients are recorded; the whole tensor sees it."""
    def unsafe_split_with_sizes(self, split_sizes: Any, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """:func:`split_with_sizes`, with parts that may be written to, as of :func:`unsafe_split`."""
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """A view with a new dimension of extent 1 at ``dim``."""
    def unsqueeze_(self, dim: builtins.int) -> Tensor:
        """In-place form of :func:`unsqueeze`: the tensor itself becomes the view."""
    def var(self, dim: Any = None, unbiased: Any = None, keepdim: builtins.bool = False, *, correction: Any = None) -> Tensor:
        """The variance: sum(abs(x - mean) ** 2) / max(0, n - correction)."""
    def var_mean(self, dim: Any = None, unbiased: Any = None, keepdim: builtins.bool = False, *, correction: Any = None) -> builtins.tuple[Tensor, Tensor]:
        """The variance and the mean; parameters as for :func:`var`."""
    def vdot(self, other: Tensor) -> Tensor:
        """Dot product of two vectors, the first one conjugated."""
    def view(self, dtype: Any = None, *more: builtins.int, size: Any = None) -> Tensor:
        """The same memory under another shape, or read as another dtype."""
    def view_as(self, other: Tensor) -> Tensor:
        """A view in the shape of another tensor."""
    @overload
    def vsplit(self, split_size_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
        """Views of equal parts, or cut at indices, along the first of at least two dimensions."""
    @overload
    def vsplit(self, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
        """Views of equal parts, or cut at indices, along the first of at least two dimensions."""
    @overload
    def where(self, condition: Tensor, y: Tensor | builtins.complex) -> Tensor:
        """The tensor where the condition holds, ``other`` elsewhere; see :func:`where`."""
    @overload
    def where(self, condition: Tensor, other: Tensor | builtins.complex) -> Tensor:
        """The tensor where the condition holds, ``other`` elsewhere; see :func:`where`."""
    def xlogy(self, other: Tensor | builtins.complex) -> Tensor:
        """``input * log(other)``, and 0 where the input is 0 (unless the other is nan)."""
    def xlogy_(self, other: Tensor | builtins.complex) -> Tensor:
        """In-place form of :func:`xlogy`: writes the result into ``input`` and returns it."""
    def zero_(self) -> Tensor:
        """Write zeros into all elements."""
