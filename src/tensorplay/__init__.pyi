"""Made by tools/make_stubs.py."""

import builtins
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from . import accelerator as accelerator
from . import amp as amp
from . import autograd as autograd
from . import backends as backends
from . import compiler as compiler
from . import cuda as cuda
from . import distributed as distributed
from . import distributions as distributions
from . import fft as fft
from . import func as func
from . import jit as jit
from . import linalg as linalg
from . import masked as masked
from . import multiprocessing as multiprocessing
from . import nn as nn
from . import optim as optim
from . import overrides as overrides
from . import profiler as profiler
from . import random as random
from . import return_types as return_types
from . import serialization as serialization
from . import signal as signal
from . import special as special
from . import testing as testing
from . import types as types
from . import utils as utils
from . import version as version
from tensorplay.amp.autocast_mode import autocast as autocast
from tensorplay.amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from tensorplay.amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from tensorplay.amp.grad_scaler import GradScaler as GradScaler
from tensorplay.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from tensorplay.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from tensorplay.autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from tensorplay.autograd.grad_mode import enable_grad as enable_grad
from tensorplay.autograd.grad_mode import inference_mode as inference_mode
from tensorplay.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from tensorplay.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from tensorplay.autograd.grad_mode import no_grad as no_grad
from tensorplay.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from tensorplay.compiler import compile as compile
from tensorplay.core.device import device as _device
from tensorplay.core.device import device as device
from tensorplay.core.device import get_default_device as get_default_device
from tensorplay.core.device import set_default_device as set_default_device
from tensorplay.core.dtype import bfloat16 as bfloat16
from tensorplay.core.dtype import bool as bool
from tensorplay.core.dtype import cdouble as cdouble
from tensorplay.core.dtype import cfloat as cfloat
from tensorplay.core.dtype import complex128 as complex128
from tensorplay.core.dtype import complex64 as complex64
from tensorplay.core.dtype import double as double
from tensorplay.core.dtype import dtype as _dtype
from tensorplay.core.dtype import dtype as dtype
from tensorplay.core.dtype import finfo as finfo
from tensorplay.core.dtype import float as float
from tensorplay.core.dtype import float16 as float16
from tensorplay.core.dtype import float32 as float32
from tensorplay.core.dtype import float64 as float64
from tensorplay.core.dtype import get_default_dtype as get_default_dtype
from tensorplay.core.dtype import half as half
from tensorplay.core.dtype import iinfo as iinfo
from tensorplay.core.dtype import int as int
from tensorplay.core.dtype import int16 as int16
from tensorplay.core.dtype import int32 as int32
from tensorplay.core.dtype import int64 as int64
from tensorplay.core.dtype import int8 as int8
from tensorplay.core.dtype import long as long
from tensorplay.core.dtype import set_default_dtype as set_default_dtype
from tensorplay.core.dtype import short as short
from tensorplay.core.dtype import uint16 as uint16
from tensorplay.core.dtype import uint32 as uint32
from tensorplay.core.dtype import uint64 as uint64
from tensorplay.core.dtype import uint8 as uint8
from tensorplay.core.generator import Generator as Generator
from tensorplay.core.generator import Generator as _Generator
from tensorplay.core.generator import default_generator as default_generator
from tensorplay.core.generator import get_rng_state as get_rng_state
from tensorplay.core.generator import initial_seed as initial_seed
from tensorplay.core.generator import manual_seed as manual_seed
from tensorplay.core.generator import seed as seed
from tensorplay.core.generator import set_rng_state as set_rng_state
from tensorplay.core.interop import from_dlpack as from_dlpack
from tensorplay.core.interop import to_dlpack as to_dlpack
from tensorplay.core.layout import channels_last as channels_last
from tensorplay.core.layout import channels_last_3d as channels_last_3d
from tensorplay.core.layout import contiguous_format as contiguous_format
from tensorplay.core.layout import layout as _layout
from tensorplay.core.layout import layout as layout
from tensorplay.core.layout import memory_format as _memory_format
from tensorplay.core.layout import memory_format as memory_format
from tensorplay.core.layout import preserve_format as preserve_format
from tensorplay.core.layout import strided as strided
from tensorplay.core.printing import set_printoptions as set_printoptions
from tensorplay.core.promotion import can_cast as can_cast
from tensorplay.core.promotion import promote_types as promote_types
from tensorplay.core.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from tensorplay.core.settings import get_deterministic_debug_mode as get_deterministic_debug_mode
from tensorplay.core.settings import get_float32_matmul_precision as get_float32_matmul_precision
from tensorplay.core.settings import get_num_interop_threads as get_num_interop_threads
from tensorplay.core.settings import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
from tensorplay.core.settings import is_warn_always_enabled as is_warn_always_enabled
from tensorplay.core.settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from tensorplay.core.settings import set_float32_matmul_precision as set_float32_matmul_precision
from tensorplay.core.settings import set_num_interop_threads as set_num_interop_threads
from tensorplay.core.settings import set_warn_always as set_warn_always
from tensorplay.core.settings import use_deterministic_algorithms as use_deterministic_algorithms
from tensorplay.core.tensor import Size as Size
from tensorplay.core.tensor import Size as _Size
from tensorplay.core.tensor import Tensor as Tensor
from tensorplay.core.threads import get_num_threads as get_num_threads
from tensorplay.core.threads import set_num_threads as set_num_threads
from tensorplay.cuda import OutOfMemoryError as OutOfMemoryError
from tensorplay.func.batching import vmap as vmap
from tensorplay.ops.typed import set_default_tensor_type as set_default_tensor_type
from tensorplay.return_types import cummax as _cummax
from tensorplay.return_types import cummin as _cummin
from tensorplay.return_types import frexp as _frexp
from tensorplay.return_types import geqrf as _geqrf
from tensorplay.return_types import histogram as _histogram
from tensorplay.return_types import histogramdd as _histogramdd
from tensorplay.return_types import kthvalue as _kthvalue
from tensorplay.return_types import lu_unpack as _lu_unpack
from tensorplay.return_types import mode as _mode
from tensorplay.return_types import qr as _qr
from tensorplay.return_types import slogdet as _slogdet
from tensorplay.return_types import sort as _sort
from tensorplay.return_types import svd as _svd
from tensorplay.return_types import topk as _topk
from tensorplay.return_types import triangular_solve as _triangular_solve
from tensorplay.serialization import load as load
from tensorplay.serialization import save as save

class BFloat16Tensor(Tensor): ...
class BoolTensor(Tensor): ...
class ByteTensor(Tensor): ...
class CharTensor(Tensor): ...
class DoubleTensor(Tensor): ...
class FloatTensor(Tensor): ...
class HalfTensor(Tensor): ...
class IntTensor(Tensor): ...
class LongTensor(Tensor): ...
class ShortTensor(Tensor): ...
e: builtins.float
inf: builtins.float
nan: builtins.float
newaxis: None
pi: builtins.float
__version__: builtins.str
def _chunk_cat(tensors: Any, dim: builtins.int, num_chunks: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """Tensors cut into equal chunks along a dimension, each chunk as one row; the rows of all tensors side by side."""
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """The derivative of the quantile x of a beta distribution in its parameter alpha, divided by ``1 - x``."""
def _native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None, *args: Any, out: Tensor | None = None) -> Any:
    """:func:`native_batch_norm`, also without running moments."""
def _sample_dirichlet(input: Tensor, generator: _Generator | None = None) -> Tensor:
    """Draws from Dirichlet distributions, whose concentrations are along the last dimension; differentiable in these."""
def _segment_reduce(data: Tensor, reduce: builtins.str, *, lengths: Tensor | None = None, indices: None = None, offsets: Tensor | None = None, axis: builtins.int = 0, unsafe: builtins.bool = False, initial: builtins.float | None = None, out: Tensor | None = None) -> Tensor:
    """The segments of a dimension reduced to one element each."""
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: builtins.int, input_dtype: _dtype) -> Tensor:
    """The cotangent ``grad_output`` of a softmax whose result was ``output``, as one of its input."""
def _standard_gamma(input: Tensor, generator: _Generator | None = None) -> Tensor:
    """Draws from gamma distributions of the given concentrations and rate 1, differentiable in these."""
def _standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """The derivative of draws from gamma distributions in their concentrations."""
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Any, fill: builtins.complex) -> Tensor:
    """``input[indices]`` where a mask is true, a number elsewhere."""
def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Any, values: Tensor) -> Tensor:
    """The input with ``values`` added at ``input[indices]`` where a mask is true."""
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value of each element."""
def abs_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`abs`: writes the result into ``input`` and returns it."""
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value of each element."""
def absolute_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`abs`: writes the result into ``input`` and returns it."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the cosine, in radians."""
def acos_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`acos`: writes the result into ``input`` and returns it."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the hyperbolic cosine."""
def acosh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`acosh`: writes the result into ``input`` and returns it."""
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Divide sequences evenly into ``output_size`` windows, and take their means."""
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> builtins.tuple[Tensor, Tensor]:
    """:func:`tensorplay.nn.functional.adaptive_max_pool1d`, with the positions of the maxima."""
def add(input: Tensor, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1, out: Tensor | None = None) -> Tensor:
    """``input + alpha * other``."""
def add_(input: Tensor, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`add`: writes the result into ``input`` and returns it."""
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2).sum(0)``."""
def addbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place form of :func:`addbmm`: writes the result into ``input`` and returns it."""
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = 1, out: Tensor | None = None) -> Tensor:
    """``input + value * tensor1 / tensor2``."""
def addcdiv_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = 1) -> Tensor:
    """In-place form of :func:`addcdiv`: writes the result into ``input`` and returns it."""
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = 1, out: Tensor | None = None) -> Tensor:
    """``input + value * tensor1 * tensor2``."""
def addcmul_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = 1) -> Tensor:
    """In-place form of :func:`addcmul`: writes the result into ``input`` and returns it."""
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` for two matrices."""
def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place form of :func:`addmm`: writes the result into ``input`` and returns it."""
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat @ vec)`` for a matrix and a vector."""
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place form of :func:`addmv`: writes the result into ``input`` and returns it."""
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``."""
def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place form of :func:`addr`: writes the result into ``input`` and returns it."""
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions swapped, conjugated if complex."""
def affine_grid_generator(theta: Tensor, size: Any, align_corners: builtins.bool) -> Tensor:
    """As :func:`tensorplay.nn.functional.affine_grid`."""
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of a tensor."""
def all(input: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether all elements are true (not zero), of the whole tensor or over some dimensions."""
def allclose(input: Tensor, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
    """Whether all elements are nearly equal; see :func:`isclose`."""
def alpha_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """As :func:`tensorplay.nn.functional.alpha_dropout`, with all arguments given."""
def alpha_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """In-place form of :func:`alpha_dropout`: writes the result into ``input`` and returns it."""
def amax(input: Tensor, dim: Any = (), keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest element, or the largest over some dimensions. Elements that tie share the gradient evenly."""
def amin(input: Tensor, dim: Any = (), keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest element, or the smallest over some dimensions. Elements that tie share the gradient evenly."""
def aminmax(input: Tensor, *, dim: builtins.int | None = None, keepdim: builtins.bool = False, out: Tensor | None = None) -> Any:
    """The smallest and the largest element, of all or along a dimension. Elements that tie share the gradient evenly."""
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of a complex number, in (-pi, pi]; of a real one, 0 or pi."""
def any(input: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether any element is true (not zero), of the whole tensor or over some dimensions."""
def arange(start: builtins.complex | Tensor | None = None, end: builtins.complex | Tensor | None = None, step: builtins.complex | Tensor = 1, *, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """The numbers from ``start`` up to, and without, ``end``; further arguments as for :func:`zeros`."""
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the cosine, in radians."""
def arccos_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`acos`: writes the result into ``input`` and returns it."""
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the hyperbolic cosine."""
def arccosh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`acosh`: writes the result into ``input`` and returns it."""
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the sine, in radians."""
def arcsin_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`asin`: writes the result into ``input`` and returns it."""
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the hyperbolic sine."""
def arcsinh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`asinh`: writes the result into ``input`` and returns it."""
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the tangent, in radians."""
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input) with the first axis, in [-pi, pi]."""
def arctan2_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`atan2`: writes the result into ``input`` and returns it."""
def arctan_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`atan`: writes the result into ``input`` and returns it."""
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the hyperbolic tangent."""
def arctanh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`atanh`: writes the result into ``input`` and returns it."""
def argmax(input: Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """The index (int64) of the largest element, of all in row-major order or along a dimension; the first of several."""
def argmin(input: Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """The index (int64) of the smallest element, of all in row-major order or along a dimension; the first of several."""
def argsort(input: Tensor, dim: builtins.int = -1, descending: builtins.bool = False, *, stable: builtins.bool = False) -> Tensor:
    """The indices (int64) that sort along a dimension; equal elements keep their order."""
def argwhere(input: Tensor) -> Tensor:
    """The positions of all elements that are not zero, one row each."""
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: builtins.int | None = None) -> Tensor:
    """A view of the storage with the given extents and strides (in elements), from an offset in the storage."""
def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: builtins.int | None = None) -> Tensor:
    """In-place form of :func:`as_strided`: the tensor itself becomes the view."""
def as_strided_copy(input: Tensor, size: Any, stride: Any, storage_offset: builtins.int | None = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``as_strided`` gives a view of."""
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: builtins.int | None = None) -> Tensor:
    """A copy of the input with ``src`` as the elements that ``as_strided`` takes."""
def as_tensor(data: Any, dtype: _dtype | builtins.type | None = None, device: _device | builtins.str | None = None) -> Tensor:
    """The data as a tensor: a tensor itself, an array's memory shared where dtype and device allow, else a copy."""
def asarray(obj: Any, *, dtype: _dtype | builtins.type | None = None, device: _device | builtins.str | None = None, copy: builtins.bool | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """The data as a tensor that shares their memory where that can be."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the sine, in radians."""
def asin_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`asin`: writes the result into ``input`` and returns it."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the hyperbolic sine."""
def asinh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`asinh`: writes the result into ``input`` and returns it."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the tangent, in radians."""
def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input) with the first axis, in [-pi, pi]."""
def atan2_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`atan2`: writes the result into ``input`` and returns it."""
def atan_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`atan`: writes the result into ``input`` and returns it."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the hyperbolic tangent."""
def atanh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`atanh`: writes the result into ``input`` and returns it."""
def atleast_1d(*tensors: Tensor) -> Any:
    """Views of one dimension where there was none; a tuple for several tensors."""
def atleast_2d(*tensors: Tensor) -> Any:
    """Views of at least two dimensions, new ones in front; a tuple for several tensors."""
def atleast_3d(*tensors: Tensor) -> Any:
    """Views of at least three dimensions: vectors become (1, n, 1), matrices (m, n, 1); a tuple for several tensors."""
def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True) -> Tensor:
    """The mean of each window of sequences."""
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``."""
def baddbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place form of :func:`baddbmm`: writes the result into ``input`` and returns it."""
def bartlett_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False) -> Tensor:
    """A triangle."""
def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: builtins.bool, momentum: builtins.float, eps: builtins.float, cudnn_enabled: builtins.bool) -> Tensor:
    """As :func:`tensorplay.nn.functional.batch_norm`."""
def bernoulli(input: Tensor, p: builtins.float | None = None, *, generator: _Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Ones with the probabilities that ``input`` holds (or with ``p``, in its shape), else zeros."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A bilinear form for each output: ``input1 @ weight[k] @ input2 + bias[k]``."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: builtins.int = 1) -> Tensor:
    """As :func:`tensorplay.nn.functional.binary_cross_entropy_with_logits`."""
def bincount(input: Tensor, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
    """How often each integer from 0 to the largest occurs, or the sums of their weights. Differentiable in the weights."""
def binomial(count: Tensor, prob: Tensor, generator: _Generator | None = None) -> Tensor:
    """Successes in ``count`` trials of probability ``prob`` each, broadcast against each other."""
def bitwise_and(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """Where both integers have a bit set; for bools, whether both are true."""
def bitwise_and_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`bitwise_and`: writes the result into ``input`` and returns it."""
def bitwise_left_shift(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input * 2**other`` for integers, without the bits that do not fit."""
def bitwise_left_shift_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`bitwise_left_shift`: writes the result into ``input`` and returns it."""
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each integer with all bits the other way; for bools, the opposite."""
def bitwise_not_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`bitwise_not`: writes the result into ``input`` and returns it."""
def bitwise_or(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """Where one of two integers has a bit set; for bools, whether one is true."""
def bitwise_or_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`bitwise_or`: writes the result into ``input`` and returns it."""
def bitwise_right_shift(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input / 2**other`` for integers, rounded towards minus infinity."""
def bitwise_right_shift_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`bitwise_right_shift`: writes the result into ``input`` and returns it."""
def bitwise_xor(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """Where exactly one of two integers has a bit set; for bools, whether they differ."""
def bitwise_xor_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`bitwise_xor`: writes the result into ``input`` and returns it."""
def blackman_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False) -> Tensor:
    """A sum of three cosines."""
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices (vectors count as rows) along its diagonal."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of two batches of matrices; nothing broadcasts."""
def broadcast_shapes(*shapes: Any) -> _Size:
    """The shape that shapes (ints or tuples) broadcast to."""
def broadcast_tensors(*tensors: Tensor) -> builtins.tuple[Tensor, ...]:
    """Views of the tensors, broadcast to their common shape."""
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """A view broadcast to a shape, without copying."""
def bucketize(input: Any, boundaries: Tensor, *, out_int32: builtins.bool = False, right: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """The bucket of each value: where it would be inserted among the boundaries."""
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one entry of each vector, as rows."""
def cat(tensors: Any, dim: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined along a dimension that they have; all other extents agree."""
def cdist(x1: Tensor, x2: Tensor, p: builtins.float = 2.0, compute_mode: builtins.str = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """Distances between all rows of one matrix and all of another."""
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smallest integer that is not smaller, for each element."""
def ceil_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`ceil`: writes the result into ``input`` and returns it."""
def celu(input: Tensor, alpha: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``."""
def celu_(input: Tensor, alpha: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`celu`: writes the result into ``input`` and returns it."""
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Product of matrices, in the order that needs the fewest multiplications."""
def channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """Channels of several groups in turn: (N, C, ...) with C as (groups, C / groups), transposed."""
def cholesky(input: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """Cholesky factor of a Hermitian positive-definite matrix; as :func:`tensorplay.linalg.cholesky`."""
def cholesky_inverse(L: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a matrix, given its Cholesky factor."""
def cholesky_solve(B: Tensor, L: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """Solve AX = B, given the Cholesky factor of A."""
def chunk(input: Tensor, chunks: builtins.int, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
    """Views of at most ``chunks`` consecutive parts of one size; the last may be smaller."""
def clamp(input: Tensor, min: Tensor | builtins.float | None = None, max: Tensor | builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element, but not less than ``min`` and not more than ``max``; ``max`` if ``min`` is larger."""
def clamp_(input: Tensor, min: Tensor | builtins.float | None = None, max: Tensor | builtins.float | None = None) -> Tensor:
    """In-place form of :func:`clamp`: writes the result into ``input`` and returns it."""
def clamp_max(input: Tensor, max: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """Each element, but not more than ``max``."""
def clamp_max_(input: Tensor, max: Tensor | builtins.float) -> Tensor:
    """In-place form of :func:`clamp_max`: writes the result into ``input`` and returns it."""
def clamp_min(input: Tensor, min: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """Each element, but not less than ``min``."""
def clamp_min_(input: Tensor, min: Tensor | builtins.float) -> Tensor:
    """In-place form of :func:`clamp_min`: writes the result into ``input`` and returns it."""
def clip(input: Tensor, min: Tensor | builtins.float | None = None, max: Tensor | builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element, but not less than ``min`` and not more than ``max``; ``max`` if ``min`` is larger."""
def clip_(input: Tensor, min: Tensor | builtins.float | None = None, max: Tensor | builtins.float | None = None) -> Tensor:
    """In-place form of :func:`clamp`: writes the result into ``input`` and returns it."""
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy of the elements in memory of its own; gradients pass through."""
def column_stack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Vectors, as columns, and matrices joined along the second dimension."""
def combinations(input: Tensor, r: builtins.int = 2, with_replacement: builtins.bool = False) -> Tensor:
    """All combinations of ``r`` entries of a vector, as rows, in lexicographic order of positions."""
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from its real and imaginary parts."""
def concat(tensors: Any, dim: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined along a dimension that they have; all other extents agree."""
def concatenate(tensors: Any, dim: builtins.int = 0, *, axis: builtins.int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors joined along a dimension that they have; :func:`cat` under NumPy's names."""
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; of a real tensor, the tensor itself."""
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate; the same as :func:`conj`, with an in-place form."""
def conj_physical_(input: Tensor) -> Tensor:
    """In-place form of :func:`conj_physical`: writes the result into ``input`` and returns it."""
def constant_pad_nd(input: Tensor, pad: Any, value: builtins.complex = 0) -> Tensor:
    """A constant around a tensor: :func:`tensorplay.nn.functional.pad` in its first mode."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: builtins.int = 1) -> Tensor:
    """Cross-correlate sequences with learned windows."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: builtins.int = 1) -> Tensor:
    """Cross-correlate images with learned windows."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: builtins.int = 1) -> Tensor:
    """Cross-correlate volumes with learned windows."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: builtins.int = 0) -> Tensor:
    """:func:`conv1d` of sequences laid out as (time, batch, channels)."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: builtins.int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of sequences: the gradient of :func:`conv1d` with respect to its input."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: builtins.int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of images: the gradient of :func:`conv2d` with respect to its input."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: builtins.int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of volumes: the gradient of :func:`conv3d` with respect to its input."""
def copysign(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """The size of ``input`` with the sign of ``other``, also that of zeros."""
def copysign_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`copysign`: writes the result into ``input`` and returns it."""
def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients of variables in rows, with observations in columns."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine of each element, in radians."""
def cos_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`cos`: writes the result into ``input`` and returns it."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine of each element."""
def cosh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`cosh`: writes the result into ``input`` and returns it."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: builtins.float = 0.0, reduction: builtins.int = 1) -> Tensor:
    """As :func:`tensorplay.nn.functional.cosine_embedding_loss`."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: builtins.int = 1, eps: builtins.float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors: ``x1 . x2 / (max(|x1|, eps) max(|x2|, eps))``."""
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not zero, of all or over some dimensions (int64)."""
def cov(input: Tensor, *, correction: builtins.int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables in rows, with observations in columns."""
def cross(input: Tensor, other: Tensor, dim: builtins.int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Cross products of vectors in three dimensions."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: builtins.int = 0, reduction: builtins.str = 'mean', zero_infinity: builtins.bool = False) -> Tensor:
    """Negative log likelihood of label sequences, over all their alignments with the inputs (Graves et al., 2006)."""
def cummax(input: Tensor, dim: builtins.int, *, out: Tensor | None = None) -> _cummax:
    """The largest of all elements up to each one along a dimension, and its index; the last of several."""
def cummin(input: Tensor, dim: builtins.int, *, out: Tensor | None = None) -> _cummin:
    """The smallest of all elements up to each one along a dimension, and its index; the last of several."""
def cumprod(input: Tensor, dim: builtins.int, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The products of all elements up to each one, along a dimension. Derivatives are right at zeros, to any order."""
def cumprod_(input: Tensor, dim: builtins.int, *, dtype: Any = None) -> Tensor:
    """In-place form of :func:`cumprod`: writes the result into ``input`` and returns it."""
def cumsum(input: Tensor, dim: builtins.int, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The sums of all elements up to each one, along a dimension."""
def cumsum_(input: Tensor, dim: builtins.int, *, dtype: Any = None) -> Tensor:
    """In-place form of :func:`cumsum`: writes the result into ``input`` and returns it."""
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: builtins.float | None = None, dim: builtins.int = -1) -> Tensor:
    """The integrals of samples ``y`` from the first to each later one, by the trapezoidal rule along a dimension."""
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees as radians."""
def deg2rad_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`deg2rad`: writes the result into ``input`` and returns it."""
def det(input: Tensor) -> Tensor:
    """Determinant of a square matrix; as :func:`tensorplay.linalg.det`."""
def detach(input: Tensor) -> Tensor:
    """The same memory, without history: gradients do not pass."""
def detach_(input: Tensor) -> Tensor:
    """Take the tensor out of the graph that made it, in place."""
def diag(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """A square matrix with the vector on a diagonal; or a copy of the diagonal of a matrix."""
def diag_embed(input: Tensor, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1) -> Tensor:
    """Square planes with the last dimension of the input on a diagonal."""
def diagflat(input: Tensor, offset: builtins.int = 0) -> Tensor:
    """A square matrix with all elements of the input on a diagonal."""
def diagonal(input: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
    """A view of the diagonal of a plane; it becomes the last dimension."""
def diagonal_copy(input: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``diagonal`` gives a view of."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
    """A copy of the input with ``src`` as a diagonal."""
def diff(input: Tensor, n: builtins.int = 1, dim: builtins.int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element minus the one before, along a dimension, ``n`` times; of bools whether they differ."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of the logarithm of the gamma function."""
def digamma_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`digamma`: writes the result into ``input`` and returns it."""
def dist(input: Tensor, other: Tensor, p: builtins.float = 2) -> Tensor:
    """The p-norm of ``input - other``."""
def div(input: Tensor, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None, out: Tensor | None = None) -> Tensor:
    """``input / other``, perhaps rounded."""
def div_(input: Tensor, value: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`div`: writes the result into ``input`` and returns it."""
def divide(input: Tensor, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None, out: Tensor | None = None) -> Tensor:
    """``input / other``, perhaps rounded."""
def divide_(input: Tensor, value: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = None, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`divide`: writes the result into ``input`` and returns it."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Dot product of two vectors: the sum of their products, without conjugation."""
def dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """As :func:`tensorplay.nn.functional.dropout`, with all arguments given."""
def dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """In-place form of :func:`dropout`: writes the result into ``input`` and returns it."""
def dsplit(input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
    """Views of equal parts, or cut at indices, along the third dimension."""
def dstack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined along the third of at least three dimensions."""
def einsum(equation: Any, *operands: Any, out: Tensor | None = None) -> Tensor:
    """Sum of products of the operands' elements, over the labels that the output does not name."""
def embedding(weight: Tensor, indices: Tensor, padding_idx: builtins.int = -1, scale_grad_by_freq: builtins.bool = False, sparse: builtins.bool = False) -> Tensor:
    """As :func:`tensorplay.nn.functional.embedding`; a negative ``padding_idx`` stands for none."""
def empty(size: builtins.int | Sequence[builtins.int], *more: builtins.int, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, memory_format: _memory_format | None = ...) -> Tensor:
    """A tensor whose elements are not set; further arguments as for :func:`zeros`."""
def empty_like(input: Tensor, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, memory_format: _memory_format | None = ...) -> Tensor:
    """A tensor of the shape of ``input`` whose elements are not set; arguments as for :func:`zeros_like`."""
def empty_permuted(size: Sequence[builtins.int], physical_layout: Sequence[builtins.int], *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """A dense tensor of unset elements whose dimensions lie in memory in the given order, outermost first."""
def empty_strided(size: Sequence[builtins.int], stride: Sequence[builtins.int], *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """A tensor of unset elements with the given steps, in elements, from one entry of a dimension to the next."""
def eq(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input == other``, element by element."""
def eq_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`eq`: writes the result into ``input`` and returns it."""
def equal(input: Tensor, other: Tensor) -> builtins.bool:
    """Whether two tensors have the same shape and equal elements."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to x."""
def erf_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`erf`: writes the result into ``input`` and returns it."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 - erf(x)``, exact also for large x."""
def erfc_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`erfc`: writes the result into ``input`` and returns it."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function on (-1, 1)."""
def erfinv_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`erfinv`: writes the result into ``input`` and returns it."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The exponential function, e to the power of each element."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of each element."""
def exp2_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`exp2`: writes the result into ``input`` and returns it."""
def exp_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`exp`: writes the result into ``input`` and returns it."""
def expand_copy(input: Tensor, size: Any, *more: builtins.int, implicit: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """A copy of what ``expand`` gives a view of."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x) - 1``, exact also for small x."""
def expm1_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`expm1`: writes the result into ``input`` and returns it."""
def eye(n: builtins.int, m: builtins.int | None = None, *, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """A matrix of ``n`` rows and ``m`` (by default ``n``) columns with ones on the diagonal."""
def feature_alpha_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """As :func:`tensorplay.nn.functional.feature_alpha_dropout`, with all arguments given."""
def feature_alpha_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """In-place form of :func:`feature_alpha_dropout`: writes the result into ``input`` and returns it."""
def feature_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """As :func:`tensorplay.nn.functional.dropout2d`, with all arguments given."""
def feature_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """In-place form of :func:`feature_dropout`: writes the result into ``input`` and returns it."""
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of the same shape and dtype filled with one number."""
def fill_(input: Tensor, value: Any) -> Tensor:
    """Write one number, or the value of a 0-dim tensor, into all elements."""
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: builtins.bool = False) -> Tensor:
    """Write one number into the main diagonal."""
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element without its fraction."""
def fix_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`trunc`: writes the result into ``input`` and returns it."""
def flatten(input: Tensor, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
    """Merge the dimensions from ``start_dim`` to ``end_dim`` into one; a 0-dim tensor gets one."""
def flip(input: Tensor, dims: Any) -> Tensor:
    """A copy with the order of the entries reversed along dimensions."""
def fliplr(input: Tensor) -> Tensor:
    """A copy with the second dimension reversed."""
def flipud(input: Tensor) -> Tensor:
    """A copy with the first dimension reversed."""
def float_power(input: Tensor | builtins.complex, exponent: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input ** exponent`` in double precision."""
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest integer that is not larger, for each element."""
def floor_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`floor`: writes the result into ``input`` and returns it."""
def floor_divide(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """The quotient, rounded towards minus infinity."""
def floor_divide_(input: Tensor, value: Tensor | builtins.complex) -> Tensor:
    """In-place form of :func:`floor_divide`: writes the result into ``input`` and returns it."""
def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of two elements; where one of them is nan, the other."""
def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two elements; where one of them is nan, the other."""
def fmod(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """What the division rounded towards zero leaves: zero, or of the sign of ``input``."""
def fmod_(input: Tensor, divisor: Tensor | builtins.complex) -> Tensor:
    """In-place form of :func:`fmod`: writes the result into ``input`` and returns it."""
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The fraction of each element, ``x - trunc(x)``."""
def frac_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`frac`: writes the result into ``input`` and returns it."""
def frexp(input: Tensor, *, out: Tensor | None = None) -> _frexp:
    """Each element as a mantissa in [0.5, 1) times a power of two."""
def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor that shares the memory of an array."""
def frombuffer(buffer: Any, *, dtype: _dtype | builtins.type | None, count: builtins.int = -1, offset: builtins.int = 0, requires_grad: builtins.bool = False) -> Tensor:
    """A vector over the memory of an object with Python's buffer interface, which it shares."""
def full(size: Sequence[builtins.int], fill_value: builtins.complex | Tensor, *, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """A tensor of one number; further arguments as for :func:`zeros`."""
def full_like(input: Tensor, fill_value: builtins.complex | Tensor, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, memory_format: _memory_format | None = ...) -> Tensor:
    """One number in the shape of ``input``; further arguments as for :func:`zeros_like`."""
def gather(input: Tensor, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """For each element of ``index``, the element of the input at that position along ``dim``, all else equal."""
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The greatest common divisor of two integers; that of 0 and 0 is 0."""
def gcd_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`gcd`: writes the result into ``input`` and returns it."""
def ge(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input >= other``, element by element."""
def ge_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`ge`: writes the result into ``input`` and returns it."""
def geqrf(input: Tensor, *, out: Tensor | None = None) -> _geqrf:
    """QR decomposition in LAPACK's form: R above, reflectors below the diagonal, and their factors."""
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of all elements of one vector with all of another."""
def get_device(input: Tensor) -> builtins.int:
    """Number of the device; -1 for the CPU."""
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: builtins.int = 1) -> builtins.tuple[Tensor, ...]:
    """The derivatives of samples along dimensions, from differences of neighbours."""
def greater(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input > other``, element by element."""
def greater_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`gt`: writes the result into ``input`` and returns it."""
def greater_equal(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input >= other``, element by element."""
def greater_equal_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`ge`: writes the result into ``input`` and returns it."""
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: builtins.int, padding_mode: builtins.int, align_corners: builtins.bool) -> Tensor:
    """:func:`tensorplay.nn.functional.grid_sample`, with the modes as numbers."""
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: builtins.int, padding_mode: builtins.int, align_corners: builtins.bool) -> Tensor:
    """:func:`tensorplay.nn.functional.grid_sample`, with the modes as numbers."""
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: builtins.int, padding_mode: builtins.int, align_corners: builtins.bool) -> Tensor:
    """:func:`tensorplay.nn.functional.grid_sample`, with the modes as numbers."""
def group_norm(input: Tensor, num_groups: builtins.int, weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05) -> Tensor:
    """Normalise groups of channels of each example over all positions (Wu and He, 2018)."""
def gt(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input > other``, element by element."""
def gt_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`gt`: writes the result into ``input`` and returns it."""
def hamming_window(window_length: builtins.int, periodic: builtins.bool = True, alpha: builtins.float = 0.54, beta: builtins.float = 0.46, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False) -> Tensor:
    """A raised cosine with steps at its ends."""
def hann_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False) -> Tensor:
    """A raised cosine."""
def hardshrink(input: Tensor, lambd: builtins.float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``x`` outside of [-lambd, lambd], else 0."""
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: builtins.bool = False, mode: builtins.int = 0, out: Tensor | None = None) -> Tensor:
    """A number that tells tensors of different elements apart: the exclusive or of the bits of all elements."""
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The step function: 0 below zero, 1 above, and ``values`` at zero."""
def heaviside_(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`heaviside`: writes the result into ``input`` and returns it."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: builtins.float = 1.0, reduction: builtins.int = 1) -> Tensor:
    """As :func:`tensorplay.nn.functional.hinge_embedding_loss`."""
def histc(input: Tensor, bins: builtins.int = 100, min: builtins.float = 0, max: builtins.float = 0, *, out: Tensor | None = None) -> Tensor:
    """How many elements fall into each of ``bins`` equal parts of a range. Elements outside, and nan, are not counted."""
def histogram(input: Tensor, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None, density: builtins.bool = False, out: Tensor | None = None) -> _histogram:
    """The histogram of all elements. Elements outside the bins are not counted."""
def histogramdd(input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: builtins.bool = False) -> _histogramdd:
    """The histogram of points in several dimensions. Points outside the bins are not counted."""
def hsplit(input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
    """Views of equal parts, or cut at indices, along the second dimension; the first of a vector."""
def hstack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined horizontally: along the first dimension if they have one, else along the second."""
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The length of the hypotenuse, ``sqrt(input**2 + other**2)``, without overflow in between."""
def hypot_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`hypot`: writes the result into ``input`` and returns it."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def i0_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`i0`: writes the result into ``input`` and returns it."""
def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
def igamma_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`igamma`: writes the result into ``input`` and returns it."""
def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularised upper incomplete gamma function Q(input, other), ``1 - igamma(input, other)``."""
def igammac_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`igammac`: writes the result into ``input`` and returns it."""
def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view."""
def index_add(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.complex = 1, out: Tensor | None = None) -> Any:
    """The input with ``alpha`` times the slices of ``source`` added at the given positions; repeated ones add up."""
def index_copy(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Any:
    """The input with slices replaced by those of ``source`` at the given positions."""
def index_fill(input: Tensor, dim: builtins.int, index: Tensor, value: Any) -> Any:
    """The input with one number in the slices at the given positions."""
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: builtins.bool = False) -> Tensor:
    """The input with ``values`` written (or added, repeated ones too) at ``input[indices]``."""
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: builtins.bool = False) -> Tensor:
    """In-place form of :func:`index_put`: changes ``input`` and returns it."""
def index_reduce(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True, out: Tensor | None = None) -> Any:
    """The slices of ``source`` that go to one position along ``dim`` combined with each other and the input."""
def index_select(input: Tensor, dim: builtins.int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices of the input at the given positions along a dimension."""
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of products over the last dimension of both; a 0-dim tensor multiplies."""
def instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: builtins.bool, momentum: builtins.float, eps: builtins.float, cudnn_enabled: builtins.bool) -> Tensor:
    """As :func:`tensorplay.nn.functional.instance_norm`."""
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a square matrix; as :func:`tensorplay.linalg.inv`."""
def is_complex(input: Tensor) -> builtins.bool:
    """Whether the dtype is a complex one."""
def is_conj(input: Tensor) -> builtins.bool:
    """Whether the elements are conjugates yet to be computed: never, conj() computes them."""
def is_floating_point(input: Tensor) -> builtins.bool:
    """Whether the dtype is a floating point one."""
def is_inference(input: Tensor) -> builtins.bool:
    """Whether the tensor was made in inference mode."""
def is_neg(input: Tensor) -> builtins.bool:
    """Whether the elements are negatives yet to be computed: never."""
def is_nonzero(input: Tensor) -> builtins.bool:
    """Whether the only element of a tensor is not zero."""
def is_same_size(input: Tensor, other: Tensor) -> builtins.bool:
    """Whether two tensors have the same shape."""
def is_signed(input: Tensor) -> builtins.bool:
    """Whether the dtype can hold negative numbers."""
def is_tensor(obj: Any) -> TypeGuard[Tensor]:
    """Whether an object is a tensor."""
def isclose(input: Tensor, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
    """Whether elements are nearly equal: ``abs(input - other) <= atol + rtol * abs(other)``."""
def isfinite(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether an element is neither nan nor infinite."""
def isin(elements: Any, test_elements: Any, *, assume_unique: builtins.bool = False, invert: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """Whether each element is among others. A nan never is."""
def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether an element is inf or -inf; for a complex one, whether a part is."""
def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether an element is nan; for a complex one, whether a part is."""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether an element is -inf."""
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether an element is inf."""
def isreal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether an element has no imaginary part."""
def istft(input: Tensor, n_fft: builtins.int, hop_length: builtins.int | None = None, win_length: builtins.int | None = None, window: Tensor | None = None, center: builtins.bool = True, normalized: builtins.bool = False, onesided: builtins.bool | None = None, length: builtins.int | None = None, return_complex: builtins.bool = False) -> Tensor:
    """The signal from its short-time Fourier transform, the best fit where no signal has such a transform."""
def kaiser_window(window_length: builtins.int, periodic: builtins.bool = True, beta: builtins.float = 12.0, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False) -> Tensor:
    """A window near to the one with the most energy in its main lobe."""
def kl_div(input: Tensor, target: Tensor, reduction: builtins.int = 1, *, log_target: builtins.bool = False) -> Tensor:
    """As :func:`tensorplay.nn.functional.kl_div`."""
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Kronecker product: blocks of ``other``, one for each element of ``input``, multiplied by it."""
def kthvalue(input: Tensor, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> _kthvalue:
    """The k-th smallest element along a dimension, counted from 1, and its index. A nan counts as largest."""
def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05, cudnn_enable: builtins.bool = True) -> Tensor:
    """As :func:`tensorplay.nn.functional.layer_norm`."""
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The least common multiple of two integers, never negative."""
def lcm_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`lcm`: writes the result into ``input`` and returns it."""
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input * 2**other``."""
def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of :func:`ldexp`: writes the result into ``input`` and returns it."""
def le(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input <= other``, element by element."""
def le_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`le`: writes the result into ``input`` and returns it."""
def lerp(input: Tensor, end: Tensor, weight: Tensor | builtins.float, *, out: Tensor | None = None) -> Tensor:
    """From ``input`` to ``end`` on a straight line: ``input + weight * (end - input)``."""
def lerp_(input: Tensor, end: Tensor, weight: Tensor | builtins.float) -> Tensor:
    """In-place form of :func:`lerp`: writes the result into ``input`` and returns it."""
def less(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input < other``, element by element."""
def less_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`lt`: writes the result into ``input`` and returns it."""
def less_equal(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input <= other``, element by element."""
def less_equal_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`le`: writes the result into ``input`` and returns it."""
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
def lgamma_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`lgamma`: writes the result into ``input`` and returns it."""
def linspace(start: builtins.complex | Tensor, end: builtins.complex | Tensor, steps: builtins.int, *, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """``steps`` numbers at equal distances from ``start`` to ``end``, both included; arguments as for :func:`zeros`."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm of each element."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 10 of each element."""
def log10_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`log10`: writes the result into ``input`` and returns it."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + x)``, exact also for small x."""
def log1p_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`log1p`: writes the result into ``input`` and returns it."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 2 of each element."""
def log2_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`log2`: writes the result into ``input`` and returns it."""
def log_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`log`: writes the result into ``input`` and returns it."""
def log_softmax(input: Tensor, dim: builtins.int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, without underflow: ``x_i - log(sum_j exp(x_j))``."""
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(exp(input) + exp(other))``, without overflow in between."""
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log2(2**input + 2**other)``, without overflow in between."""
def logcumsumexp(input: Tensor, dim: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """log(cumsum(exp(x))) along a dimension, without overflow."""
def logdet(input: Tensor) -> Tensor:
    """Logarithm of the determinant: -inf where it is zero, nan where it is negative."""
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether both elements are true."""
def logical_and_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`logical_and`: writes the result into ``input`` and returns it."""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether an element is false, that is zero."""
def logical_not_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`logical_not`: writes the result into ``input`` and returns it."""
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether one of two elements is true, or both."""
def logical_or_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`logical_or`: writes the result into ``input`` and returns it."""
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether exactly one of two elements is true."""
def logical_xor_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`logical_xor`: writes the result into ``input`` and returns it."""
def logit(input: Tensor, eps: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the logistic function, ``log(x / (1 - x))``."""
def logit_(input: Tensor, eps: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`logit`: writes the result into ``input`` and returns it."""
def logspace(start: builtins.complex | Tensor, end: builtins.complex | Tensor, steps: builtins.int, base: builtins.float = 10.0, *, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """The powers of ``base`` whose exponents :func:`linspace` gives."""
def logsumexp(input: Tensor, dim: Any, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) without overflow. Where all elements are -inf it is -inf, with a gradient of zero."""
def lt(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input < other``, element by element."""
def lt_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`lt`: writes the result into ``input`` and returns it."""
def lu(A: Tensor, pivot: builtins.bool = True, get_infos: builtins.bool = False, *, out: Tensor | None = None) -> Any:
    """LU decomposition, packed; :func:`tensorplay.linalg.lu_factor_ex` in its older form."""
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Solve AX = b, given the packed LU decomposition of A; :func:`tensorplay.linalg.lu_solve` in its older form."""
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: builtins.bool = True, unpack_pivots: builtins.bool = True, *, out: Tensor | None = None) -> _lu_unpack:
    """P, L and U from a packed LU decomposition."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: builtins.float = 0.0, reduction: builtins.int = 1) -> Tensor:
    """As :func:`tensorplay.nn.functional.margin_ranking_loss`."""
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The input with one number where a mask is true; input and mask broadcast."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """The input with the elements of ``source``, one after the other, where a mask is true."""
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements where a mask is true, in one dimension; input and mask broadcast."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Matrix product of two tensors; ``input @ other``."""
def matrix_exp(A: Tensor) -> Tensor:
    """Exponential of a square matrix."""
def matrix_power(input: Tensor, n: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """A square matrix to an integer power; as :func:`tensorplay.linalg.matrix_power`."""
def max(input: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, other: Tensor | None = None, out: Tensor | None = None) -> Any:
    """The largest element; along ``dim`` the largest elements with their indices; or the larger of two tensors."""
def max_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of sequences."""
def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of images."""
def max_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of volumes."""
def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of two elements; nan if one of them is."""
def mean(input: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The mean of all elements, or over some dimensions; nan where there are none."""
def median(input: Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Any:
    """The median of all elements, or along a dimension with its index; of two in the middle the lower. nan if one is."""
def meshgrid(*tensors: Any, indexing: builtins.str | None = None) -> builtins.tuple[Tensor, ...]:
    """The coordinates of a grid: for each vector a view expanded along the others' dimensions."""
def min(input: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, other: Tensor | None = None, out: Tensor | None = None) -> Any:
    """The smallest element; along ``dim`` the smallest elements with their indices; or the smaller of two tensors."""
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two elements; nan if one of them is."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices; nothing broadcasts."""
def mode(input: Tensor, dim: builtins.int = -1, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> _mode:
    """The most frequent element along a dimension, of several the smallest, and the index of its last occurrence."""
def moveaxis(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with dimensions moved to other places, the others kept in their order."""
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with dimensions moved to other places, the others kept in their order."""
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sort along the first dimension: the values alone."""
def mul(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input * other``, element by element."""
def mul_(input: Tensor, value: Tensor | builtins.complex) -> Tensor:
    """In-place form of :func:`mul`: writes the result into ``input`` and returns it."""
def multinomial(input: Tensor, num_samples: builtins.int, replacement: builtins.bool = False, *, generator: _Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Positions drawn with probabilities in proportion to the weights in each row of ``input``."""
def multiply(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input * other``, element by element."""
def multiply_(input: Tensor, value: Tensor | builtins.complex) -> Tensor:
    """In-place form of :func:`mul`: writes the result into ``input`` and returns it."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of a matrix and a vector."""
def mvlgamma(input: Tensor, p: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p, without its constant's derivative."""
def mvlgamma_(input: Tensor, p: builtins.int) -> Tensor:
    """In-place form of :func:`mvlgamma`: writes the result into ``input`` and returns it."""
def nan_to_num(input: Tensor, nan: builtins.float | None = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Finite numbers in the place of nan and the infinities."""
def nan_to_num_(input: Tensor, nan: builtins.float | None = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`nan_to_num`: writes the result into ``input`` and returns it."""
def nanmean(input: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The mean of the elements that are not nan, of all or over some dimensions; nan where there are none."""
def nanmedian(input: Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Any:
    """The median of the elements that are not nan, of all or along a dimension with its index; of two the lower."""
def nanquantile(input: Tensor, q: Any, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, interpolation: builtins.str = 'linear', out: Tensor | None = None) -> Tensor:
    """The q-th quantiles of the elements that are not nan, of all or along a dimension; nan where there are none."""
def nansum(input: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The sum of the elements that are not nan, of all or over some dimensions."""
def narrow(input: Tensor, dim: builtins.int, start: Any, length: builtins.int) -> Tensor:
    """A view of ``length`` entries along a dimension, from ``start`` on."""
def narrow_copy(input: Tensor, dim: builtins.int, start: builtins.int, length: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``length`` entries along a dimension, from ``start`` on."""
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: builtins.bool, momentum: builtins.float, eps: builtins.float, *, out: Tensor | None = None) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """:func:`batch_norm`, with the means and reciprocal deviations of the batch, which are empty without ``training``."""
def native_channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """Channels of several groups in turn: (N, C, ...) with C as (groups, C / groups), transposed."""
def native_dropout(input: Tensor, p: builtins.float, train: builtins.bool | None) -> builtins.tuple[Tensor, Tensor]:
    """:func:`dropout`, and the mask of what was kept."""
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: builtins.int, C: builtins.int, HxW: builtins.int, group: builtins.int, eps: builtins.float) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """:func:`group_norm`, with the means and the reciprocal deviations of each group."""
def native_layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None, bias: Tensor | None, eps: builtins.float) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """:func:`layer_norm`, with the means and the reciprocal deviations."""
def ne(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input != other``, element by element."""
def ne_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`ne`: writes the result into ``input`` and returns it."""
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element with the other sign."""
def neg_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`neg`: writes the result into ``input`` and returns it."""
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element with the other sign."""
def negative_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`neg`: writes the result into ``input`` and returns it."""
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next number of the dtype after ``input`` in the direction of ``other``."""
def nextafter_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`nextafter`: writes the result into ``input`` and returns it."""
def nonzero(input: Tensor, *, as_tuple: builtins.bool = False, out: Tensor | None = None) -> Any:
    """The positions of all elements that are not zero: one row each; or a tuple with a vector for each dimension."""
def nonzero_static(input: Tensor, *, size: builtins.int, fill_value: builtins.int = -1, out: Tensor | None = None) -> Tensor:
    """The first ``size`` positions of elements that are not zero, one row each, filled up if there are fewer."""
def norm(input: Tensor, p: Any = 'fro', dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The norm of all elements as a vector, or over some dimensions."""
def normal(mean: Tensor | builtins.float, std: Tensor | builtins.float = 1.0, size: Sequence[builtins.int] | None = None, *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """Numbers from normal distributions: of the means and standard deviations in tensors, or of one pair and a size."""
def not_equal(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input != other``, element by element."""
def not_equal_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`ne`: writes the result into ``input`` and returns it."""
def numel(input: Tensor) -> builtins.int:
    """The number of elements."""
def ones(size: builtins.int | Sequence[builtins.int], *more: builtins.int, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """A tensor of ones; arguments as for :func:`zeros`."""
def ones_like(input: Tensor, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, memory_format: _memory_format | None = ...) -> Tensor:
    """Ones of the shape of ``input``; arguments as for :func:`zeros_like`."""
def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of a product of reflectors; :func:`tensorplay.linalg.householder_product`."""
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: builtins.bool = True, transpose: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """Multiply a matrix with a product of Householder reflectors."""
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of all elements of one vector with all of another."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: builtins.float = 2.0, eps: builtins.float = 1e-06, keepdim: builtins.bool = False) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
def pca_lowrank(A: Tensor, q: builtins.int | None = None, center: builtins.bool = True, niter: builtins.int = 2) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of a matrix, approximately, by random projections."""
def pdist(input: Tensor, p: builtins.float = 2) -> Tensor:
    """The p-norm distances between all pairs of rows, row by row of the upper triangle."""
def permute(input: Tensor, dims: Any) -> Tensor:
    """A view with the dimensions in the given order."""
def permute_copy(input: Tensor, dims: Any, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``permute`` gives a view of."""
def pinverse(input: Tensor, rcond: builtins.float = 1e-15) -> Tensor:
    """Moore-Penrose pseudoinverse; as :func:`tensorplay.linalg.pinv` with ``rtol=rcond``."""
def pixel_shuffle(input: Tensor, upscale_factor: builtins.int) -> Tensor:
    """Blocks of channels as pixels: (*, C r^2, H, W) to (*, C, H r, W r)."""
def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int) -> Tensor:
    """Blocks of pixels as channels: (*, C, H r, W r) to (*, C r^2, H, W)."""
def poisson(input: Tensor, generator: _Generator | None = None) -> Tensor:
    """Numbers from Poisson distributions of the given rates, in the dtype of ``input``."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: builtins.bool, full: builtins.bool, eps: builtins.float, reduction: builtins.int) -> Tensor:
    """As :func:`tensorplay.nn.functional.poisson_nll_loss`."""
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from sizes and angles: ``abs * (cos(angle) + 1j * sin(angle))``."""
def polygamma(n: builtins.int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of the digamma function."""
def positive(input: Tensor) -> Tensor:
    """The input itself."""
def pow(input: Tensor | builtins.complex, exponent: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input ** exponent``, element by element."""
def pow_(input: Tensor | builtins.complex, exponent: Tensor | builtins.complex) -> Tensor:
    """In-place form of :func:`pow`: writes the result into ``input`` and returns it."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``x`` where it is positive, else ``weight * x``."""
def prod(input: Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The product of all elements, or along a dimension. Derivatives are right at zeros, to any order."""
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Any:
    """The input with elements written (or added) at flat positions."""
def qr(input: Tensor, some: builtins.bool = True, *, out: Tensor | None = None) -> _qr:
    """QR decomposition; :func:`tensorplay.linalg.qr` in its older form."""
def quantile(input: Tensor, q: Any, dim: builtins.int | None = None, keepdim: builtins.bool = False, *, interpolation: builtins.str = 'linear', out: Tensor | None = None) -> Tensor:
    """The q-th quantiles of all elements, or along a dimension; nan where an element is."""
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians as degrees."""
def rad2deg_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`rad2deg`: writes the result into ``input`` and returns it."""
def rand(size: builtins.int | Sequence[builtins.int], *more: builtins.int, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """Numbers from the uniform distribution over [0, 1)."""
def rand_like(input: Tensor, *, generator: _Generator | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, memory_format: _memory_format | None = ...) -> Tensor:
    """As :func:`rand`, in the shape, dtype and device of ``input`` unless others are given."""
def randint(low: builtins.int = 0, high: Any = None, size: Sequence[builtins.int] | None = None, *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """Integers from ``low`` up to, and without, ``high``: ``randint(high, size)`` or ``randint(low, high, size)``."""
def randint_like(input: Tensor, low: builtins.int = 0, high: builtins.int | None = None, *, generator: _Generator | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, memory_format: _memory_format | None = ...) -> Tensor:
    """As :func:`randint`, in the shape, dtype and device of ``input`` unless others are given."""
def randn(size: builtins.int | Sequence[builtins.int], *more: builtins.int, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """Numbers from the normal distribution of mean 0 and variance 1; arguments as for :func:`rand`."""
def randn_like(input: Tensor, *, generator: _Generator | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, memory_format: _memory_format | None = ...) -> Tensor:
    """As :func:`randn`, in the shape, dtype and device of ``input`` unless others are given."""
def randperm(n: builtins.int, *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """The integers from 0 up to, and without, ``n`` in random order; further arguments as for :func:`rand`."""
def range(start: builtins.complex | Tensor = 0, end: builtins.complex | Tensor | None = None, step: builtins.complex | Tensor = 1, *, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """The numbers from ``start`` to ``end``, included. Use :func:`arange`, which follows Python's range."""
def ravel(input: Tensor) -> Tensor:
    """The elements in one dimension: a view where the tensor is contiguous, else a copy."""
def real(input: Tensor) -> Tensor:
    """The real part, a view; of a real tensor, the tensor itself."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One over each element."""
def reciprocal_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`reciprocal`: writes the result into ``input`` and returns it."""
def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The positive part, ``max(x, 0)``."""
def relu_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`relu`: writes the result into ``input`` and returns it."""
def remainder(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """What the division rounded towards minus infinity leaves: zero, or of the sign of ``other``."""
def remainder_(input: Tensor, divisor: Tensor | builtins.complex) -> Tensor:
    """In-place form of :func:`remainder`: writes the result into ``input`` and returns it."""
def renorm(input: Tensor, p: builtins.float, dim: builtins.int, maxnorm: builtins.float, *, out: Tensor | None = None) -> Tensor:
    """Scale the slices along one dimension whose norm is larger down to ``maxnorm``."""
def renorm_(input: Tensor, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Tensor:
    """In-place form of :func:`renorm`: writes the result into ``input`` and returns it."""
def repeat_interleave(input: Tensor, repeats: Any = None, dim: builtins.int | None = None, *, output_size: builtins.int | None = None) -> Tensor:
    """Each entry along a dimension repeated in place; without ``dim``, of the flattened tensor."""
def reshape(input: Tensor, shape: Any) -> Tensor:
    """The elements in row-major order under another shape: a view where the strides allow it, else a copy."""
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the shape of another, in place; see :meth:`Tensor.resize_`."""
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: its conjugation is never put off."""
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: its negation is never put off."""
def result_type(tensor1: Tensor | builtins.complex, tensor2: Tensor | builtins.complex) -> _dtype:
    """The dtype of an operator's result over two operands, each a tensor or a number."""
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: builtins.float | None = None) -> Tensor:
    """Divide by the root mean square of the last dimensions: ``x / sqrt(mean(x**2) + eps) * weight``."""
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """The entries shifted along dimensions, those pushed out coming in again; without ``dims``, all in one row."""
def rot90(input: Tensor, k: builtins.int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy turned ``k`` times by 90 degrees in the plane of two dimensions, from the first towards the second."""
def round(input: Tensor, *, decimals: builtins.int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest integer, or the nearest number of some decimals; of two, the even one."""
def round_(input: Tensor, *, decimals: builtins.int = 0) -> Tensor:
    """In-place form of :func:`round`: writes the result into ``input`` and returns it."""
def row_stack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined vertically, along the first of at least two dimensions."""
def rrelu(input: Tensor, lower: builtins.float = 0.125, upper: builtins.float = 0.3333333333333333, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """:func:`leaky_relu` with random slopes in training, and with their mean otherwise."""
def rrelu_(input: Tensor, lower: builtins.float = 0.125, upper: builtins.float = 0.3333333333333333, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`rrelu`: writes the result into ``input`` and returns it."""
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One over the square root of each element."""
def rsqrt_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`rsqrt`: writes the result into ``input`` and returns it."""
def rsub(input: Tensor, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1) -> Tensor:
    """``other - alpha * input``."""
def scalar_tensor(s: builtins.complex | Tensor, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """A tensor of no dimensions, of the default dtype unless another is given."""
def scatter(input: Tensor, dim: builtins.int, index: Tensor, src: Any = None, *, value: Any = None, reduce: builtins.str | None = None, out: Tensor | None = None) -> Any:
    """The input with elements written at positions along ``dim``: the reverse of :func:`gather`."""
def scatter_add(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Any:
    """The input with the elements of ``src`` added at positions along ``dim``; repeated ones add up."""
def scatter_reduce(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True, out: Tensor | None = None) -> Any:
    """The elements of ``src`` that go to one position along ``dim`` combined with each other and the input."""
def searchsorted(sorted_sequence: Tensor, input: Any, *, out_int32: builtins.bool = False, right: builtins.bool = False, side: builtins.str | None = None, sorter: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """Where each value would be inserted to keep the last dimension sorted."""
def segment_reduce(data: Tensor, reduce: builtins.str, *, lengths: Tensor | None = None, indices: None = None, offsets: Tensor | None = None, axis: builtins.int = 0, unsafe: builtins.bool = False, initial: builtins.float | None = None, out: Tensor | None = None) -> Tensor:
    """The segments of a dimension reduced to one element each."""
def select(input: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
    """A view of one entry along a dimension, which is gone."""
def select_copy(input: Tensor, dim: builtins.int, index: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``select`` gives a view of."""
def select_scatter(input: Tensor, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
    """A copy of the input with ``src`` as the entry ``index`` along a dimension."""
def selu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """A scaled :func:`elu` that keeps mean 0 and variance 1 of its inputs (Klambauer et al., 2017)."""
def selu_(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`selu`: writes the result into ``input`` and returns it."""
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sign of a real number; the direction ``z / abs(z)`` of a complex one."""
def sgn_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sgn`: writes the result into ``input`` and returns it."""
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logistic function of each element, ``1 / (1 + exp(-x))``."""
def sigmoid_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sigmoid`: writes the result into ``input`` and returns it."""
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sign of each element: -1, 0 or 1."""
def sign_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sign`: writes the result into ``input`` and returns it."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the sign of an element is minus, also that of -0."""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine of each element, in radians."""
def sin_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sin`: writes the result into ``input`` and returns it."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(pi * x) / (pi * x)``, and 1 at 0."""
def sinc_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sinc`: writes the result into ``input`` and returns it."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine of each element."""
def sinh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sinh`: writes the result into ``input`` and returns it."""
def slice_scatter(input: Tensor, src: Tensor, dim: builtins.int = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of the input with ``src`` in place of a slice along a dimension."""
def slogdet(input: Tensor, *, out: Tensor | None = None) -> _slogdet:
    """Sign and logarithm of the absolute value of the determinant; as :func:`tensorplay.linalg.slogdet`."""
def softmax(input: Tensor, dim: builtins.int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Exponentials along a dimension, scaled to sum to one: ``exp(x_i) / sum_j exp(x_j)``."""
def sort(input: Tensor, dim: builtins.int = -1, descending: builtins.bool = False, *, stable: builtins.bool | None = None, out: Tensor | None = None) -> _sort:
    """Sort along a dimension. A nan counts as largest."""
def split(tensor: Tensor, split_size_or_sections: Any, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
    """Views of consecutive parts: of one size (the last may be smaller), or of the given sizes."""
def split_with_sizes(input: Tensor, split_sizes: Any, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
    """Views of consecutive parts of the given sizes, which sum to the extent of the dimension."""
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: builtins.int = 0, *, out: Tensor | None = None) -> builtins.tuple[Tensor, ...]:
    """A copy of what ``split_with_sizes`` gives a view of."""
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root of each element."""
def sqrt_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sqrt`: writes the result into ``input`` and returns it."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element times itself."""
def square_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`square`: writes the result into ``input`` and returns it."""
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """A view without the dimensions of extent 1: without all of them, or without those among ``dim``."""
def squeeze_(input: Tensor, dim: Any = None) -> Tensor:
    """In-place form of :func:`squeeze`: the tensor itself becomes the view."""
def squeeze_copy(input: Tensor, dim: Any = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``squeeze`` gives a view of."""
def stack(tensors: Any, dim: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape joined along a new dimension."""
def std(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: builtins.bool = False, *, correction: Any = None, out: Tensor | None = None) -> Tensor:
    """The standard deviation: the square root of the variance. Its gradient is zero where it is zero."""
def std_mean(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: builtins.bool = False, *, correction: Any = None) -> builtins.tuple[Tensor, Tensor]:
    """The standard deviation and the mean; parameters as for :func:`std`."""
def stft(input: Tensor, n_fft: builtins.int, hop_length: builtins.int | None = None, win_length: builtins.int | None = None, window: Tensor | None = None, center: builtins.bool = True, pad_mode: builtins.str = 'reflect', normalized: builtins.bool = False, onesided: builtins.bool | None = None, return_complex: builtins.bool | None = None, align_to_window: builtins.bool | None = None) -> Tensor:
    """The short-time Fourier transform: of overlapping pieces of a signal, each under a window."""
def sub(input: Tensor, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``."""
def sub_(input: Tensor, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sub`: writes the result into ``input`` and returns it."""
def subtract(input: Tensor, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``."""
def subtract_(input: Tensor, other: Tensor | builtins.complex, *, alpha: builtins.complex = 1, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`sub`: writes the result into ``input`` and returns it."""
def sum(input: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The sum of all elements, or over some dimensions."""
def svd(input: Tensor, some: builtins.bool = True, compute_uv: builtins.bool = True, *, out: Tensor | None = None) -> _svd:
    """Singular value decomposition; :func:`tensorplay.linalg.svd` in its older form, which returns V itself."""
def svd_lowrank(A: Tensor, q: builtins.int = 6, niter: builtins.int = 2, M: Tensor | None = None) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of a matrix and their vectors, approximately, by random projections."""
def swapaxes(input: Tensor, axis0: builtins.int, axis1: builtins.int) -> Tensor:
    """A view with two dimensions swapped; :func:`transpose` under NumPy's name."""
def swapdims(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """A view with two dimensions swapped."""
def t(input: Tensor) -> Tensor:
    """A view of a matrix with its two dimensions swapped; of fewer dimensions, as it is."""
def t_(input: Tensor) -> Tensor:
    """In-place form of :func:`t`: the tensor itself becomes the view."""
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``t`` gives a view of."""
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements at flat positions; negative ones count from the end."""
def take_along_dim(input: Tensor, indices: Tensor, dim: builtins.int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Elements along a dimension by index, input and indices broadcast against each other; or of the flattened input."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent of each element, in radians."""
def tan_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`tan`: writes the result into ``input`` and returns it."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent of each element."""
def tanh_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`tanh`: writes the result into ``input`` and returns it."""
def tensor(data: Any, *, dtype: _dtype | builtins.type | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """A tensor of a copy of the data, without history."""
def tensor_split(input: Tensor, indices_or_sections: Any = None, dim: builtins.int = 0, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
    """Views of consecutive parts: so many, as equal as possible, or cut at the given indices."""
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, *, out: Tensor | None = None) -> Tensor:
    """Sums of products over several dimensions of both tensors."""
def threshold(input: Tensor, threshold: builtins.float, value: builtins.float, inplace: builtins.bool = False) -> Tensor:
    """``x`` where it is above the threshold, else ``value``."""
def threshold_(input: Tensor, threshold: builtins.float, value: builtins.float, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`threshold`: writes the result into ``input`` and returns it."""
def tile(input: Tensor, dims: Any) -> Tensor:
    """The tensor laid out several times; missing counts in front are 1."""
def topk(input: Tensor, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True, sorted: builtins.bool = True, *, out: Tensor | None = None) -> _topk:
    """The k largest or smallest elements along a dimension, the most extreme first. A nan counts as largest."""
def trace(input: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix."""
def transpose(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """A view with two dimensions swapped."""
def transpose_copy(input: Tensor, dim0: builtins.int, dim1: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``transpose`` gives a view of."""
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: builtins.float | None = None, dim: builtins.int = -1) -> Tensor:
    """The integral of samples ``y`` by the trapezoidal rule along a dimension."""
def trapz(y: Tensor, x: Tensor | None = None, *, dx: builtins.float | None = None, dim: builtins.int = -1) -> Tensor:
    """The integral of samples ``y`` by the trapezoidal rule along a dimension."""
def triangular_solve(b: Tensor, A: Tensor, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False, *, out: Tensor | None = None) -> _triangular_solve:
    """Solve AX = b for a triangular A; :func:`tensorplay.linalg.solve_triangular` in its older form."""
def tril(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """The matrices with zeros above a diagonal."""
def tril_(input: Tensor, diagonal: builtins.int = 0) -> Tensor:
    """In-place form of :func:`tril`: writes the result into ``input`` and returns it."""
def tril_indices(row: builtins.int, col: builtins.int, offset: builtins.int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
    """Row and column numbers of the entries on and below a diagonal, as a tensor of two rows."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: builtins.float = 1.0, p: builtins.float = 2.0, eps: builtins.float = 1e-06, swap: builtins.bool = False, reduction: builtins.int = 1) -> Tensor:
    """As :func:`tensorplay.nn.functional.triplet_margin_loss`."""
def triu(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """The matrices with zeros below a diagonal."""
def triu_(input: Tensor, diagonal: builtins.int = 0) -> Tensor:
    """In-place form of :func:`triu`: writes the result into ``input`` and returns it."""
def triu_indices(row: builtins.int, col: builtins.int, offset: builtins.int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
    """Row and column numbers of the entries on and above a diagonal, as a tensor of two rows."""
def true_divide(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input / other``; the same as :func:`div` without rounding."""
def true_divide_(input: Tensor, value: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`true_divide`: writes the result into ``input`` and returns it."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element without its fraction."""
def trunc_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`trunc`: writes the result into ``input`` and returns it."""
def typename(obj: Any) -> builtins.str:
    """The full name of an object's type, or of a type itself; for a tensor it tells the dtype."""
def unbind(input: Tensor, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
    """Views of all entries along a dimension, which is gone."""
def unbind_copy(input: Tensor, dim: builtins.int = 0, *, out: Tensor | None = None) -> builtins.tuple[Tensor, ...]:
    """A copy of what ``unbind`` gives a view of."""
def unflatten(input: Tensor, dim: builtins.int, sizes: Any) -> Tensor:
    """Split one dimension into several; one of ``sizes`` may be -1."""
def unfold_copy(input: Tensor, dimension: builtins.int, size: builtins.int, step: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``unfold`` gives a view of."""
def unique(input: Tensor, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Any:
    """The distinct elements, or the distinct slices along a dimension, in ascending order."""
def unique_consecutive(input: Tensor, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Any:
    """The elements, or slices along a dimension, that differ from the one before."""
def unravel_index(indices: Tensor, shape: Any) -> builtins.tuple[Tensor, ...]:
    """The coordinates, one tensor for each dimension, of flat positions in a tensor of the given shape."""
def unsafe_chunk(input: Tensor, chunks: builtins.int, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
    """:func:`chunk`, with parts that may be written to, as of :func:`unsafe_split`."""
def unsafe_split(tensor: Tensor, split_size: Any, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
    """:func:`split`, with parts that may be written to where gradients are recorded; the whole tensor sees it."""
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
    """:func:`split_with_sizes`, with parts that may be written to, as of :func:`unsafe_split`."""
def unsqueeze(input: Tensor, dim: builtins.int) -> Tensor:
    """A view with a new dimension of extent 1 at ``dim``."""
def unsqueeze_(input: Tensor, dim: builtins.int) -> Tensor:
    """In-place form of :func:`unsqueeze`: the tensor itself becomes the view."""
def unsqueeze_copy(input: Tensor, dim: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``unsqueeze`` gives a view of."""
def vander(x: Tensor, N: builtins.int | None = None, increasing: builtins.bool = False) -> Tensor:
    """Vandermonde matrix: the powers of the elements of a vector in the columns."""
def var(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: builtins.bool = False, *, correction: Any = None, out: Tensor | None = None) -> Tensor:
    """The variance: sum(abs(x - mean) ** 2) / max(0, n - correction)."""
def var_mean(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: builtins.bool = False, *, correction: Any = None) -> builtins.tuple[Tensor, Tensor]:
    """The variance and the mean; parameters as for :func:`var`."""
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Dot product of two vectors, the first one conjugated."""
def view_as_complex(input: Tensor) -> Tensor:
    """A view of a real tensor, whose last dimension holds real and imaginary parts, as a complex one."""
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``view_as_complex`` gives a view of."""
def view_as_real(input: Tensor) -> Tensor:
    """A view of a complex tensor as a real one with one more dimension, of 2: real and imaginary parts."""
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``view_as_real`` gives a view of."""
def view_copy(input: Tensor, size: Any, *more: builtins.int, out: Tensor | None = None) -> Tensor:
    """A copy of what ``view`` gives a view of."""
def vsplit(input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> builtins.tuple[Tensor, ...]:
    """Views of equal parts, or cut at indices, along the first of at least two dimensions."""
def vstack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined vertically, along the first of at least two dimensions."""
def where(condition: Tensor, input: Tensor | builtins.complex | None = None, other: Tensor | builtins.complex | None = None, *, out: Tensor | None = None) -> Any:
    """``input`` where the condition holds, ``other`` elsewhere."""
def xlogy(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """``input * log(other)``, and 0 where the input is 0 (unless the other is nan)."""
def xlogy_(input: Tensor, other: Tensor | builtins.complex, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`xlogy`: writes the result into ``input`` and returns it."""
def zero_(input: Tensor) -> Tensor:
    """Write zeros into all elements."""
def zeros(size: builtins.int | Sequence[builtins.int], *more: builtins.int, out: Tensor | None = None, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """A tensor of zeros."""
def zeros_like(input: Tensor, *, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False, memory_format: _memory_format | None = ...) -> Tensor:
    """Zeros of the shape of ``input``, and of its dtype and device unless others are given."""
