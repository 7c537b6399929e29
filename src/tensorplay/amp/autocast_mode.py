"""Regions in which operators choose the precision they compute in.

Products of matrices and convolutions take bfloat16 or float16, whatever they are given; operators that need more
precision take float32; the others take what comes. While a region is entered the functions of both kinds are
intercepted; elsewhere nothing is there to be paid for.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ..core import dtype as dtypes
from ..core.interception import Interception
from ..core.namespace import F
from ..core.operator import OPERATORS
from ..core.primitive import PRIMITIVES
from ..core.state import state, thread_locals
from ..core.tensor import Tensor

Fn = TypeVar("Fn", bound=Callable[..., Any])
DEVICES = ("cpu", "cuda", "ipu", "xpu", "mps", "hpu", "mtia", "maia", "xla", "meta")  # what PyTorch programs name

# ---- which operators compute in which precision, by namespace

LOWER = {
    "": "matmul mm bmm addmm baddbmm addbmm einsum tensordot chain_matmul prelu conv1d conv2d conv3d conv_tbc "
        "conv_transpose1d conv_transpose2d conv_transpose3d",
    "linalg": "vecdot multi_dot matrix_power",
    "nn.functional": "linear scaled_dot_product_attention",
}  # fmt: skip
FLOAT32 = {
    "": "prod quantile nanquantile trace cdist polar view_as_complex stft cholesky cholesky_inverse cholesky_solve "
        "inverse pinverse qr svd geqrf triangular_solve orgqr ormqr grid_sampler grid_sampler_2d grid_sampler_3d",
    "linalg": "cholesky cholesky_ex inv inv_ex qr svd svdvals eigh eigvalsh eig eigvals solve lstsq matrix_rank cond "
              "householder_product tensorinv tensorsolve",
    "fft": "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft hfft2 ihfft2 hfftn ihfftn",
    "nn.functional": "avg_pool3d max_pool3d lp_pool3d adaptive_avg_pool3d adaptive_max_pool3d "
                     "adaptive_max_pool3d_with_indices fractional_max_pool2d fractional_max_pool2d_with_indices "
                     "fractional_max_pool3d fractional_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d "
                     "grid_sample mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
                     "binary_cross_entropy_with_logits nll_loss cross_entropy kl_div poisson_nll_loss "
                     "hinge_embedding_loss cosine_embedding_loss margin_ranking_loss soft_margin_loss "
                     "triplet_margin_loss multi_margin_loss multilabel_margin_loss ctc_loss",
}  # fmt: skip


class Region(threading.local):
    """The innermost region this thread is in."""

    dtype: Any = None  # None: operators are left alone
    chosen: Any = dtypes.bfloat16
    cache: dict[int, tuple[Tensor, Tensor]] | None = None


region = Region()
thread_locals.append(region)


def functions(names: dict[str, str]) -> list[Any]:
    """The plain functions of operators."""
    found = {OPERATORS[n][name].plain: None for n, joined in names.items() for name in joined.split()}
    return list(found)


@functools.cache
def handlers() -> dict[Any, Any]:
    """What the calls of the listed operators go through."""
    from ..ops import import_all

    import_all()  # so that a function has the name of one operator only where it has
    found = dict.fromkeys(functions(LOWER), lower) | dict.fromkeys(functions(FLOAT32), higher)
    # modules call these as they are
    found |= {PRIMITIVES["linear"].function: lower, PRIMITIVES["recurrent"].function: recurrent}
    return found | {OPERATORS["nn.functional"]["pad"].plain: pad, OPERATORS[""]["index_copy"].plain: widest}


def lower(call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    if region.dtype is None:
        return call(*args, **kwargs)
    return call(*recast(args, region.dtype), **recast(kwargs, region.dtype))


def higher(call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    if region.dtype is None:
        return call(*args, **kwargs)
    return call(*recast(args, dtypes.float32), **recast(kwargs, dtypes.float32))


def recurrent(call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A state of another dtype that is carried on by gates is not rounded: that of a GRU, and of single steps."""
    mode, sizes = args[8], args[9]
    gated = mode == "GRU" or (mode == "LSTM" and len(sizes) == 1)
    return (higher if gated and args[1].dtype is not region.dtype else lower)(call, args, kwargs)


def pad(call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    mode = args[2] if len(args) > 2 else kwargs.get("mode", "constant")
    sides = args[1] if len(args) > 1 else kwargs.get("pad", ())
    listed = mode == "replicate" or (mode == "reflect" and len(sides) < 6)
    return higher(call, args, kwargs) if listed else call(*args, **kwargs)


def widest(call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """In float32 if one of the tensors is."""
    tensors = [t for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]
    return (higher if any(t.dtype is dtypes.float32 for t in tensors) else lower)(call, args, kwargs)


def recast(value: Any, dtype: dtypes.dtype) -> Any:
    """Tensors of a floating dtype, float64 excepted, in another one; also those in sequences."""
    if isinstance(value, Tensor):
        if value.dtype is dtype or not value.is_floating_point() or value.dtype is dtypes.float64:
            return value
        if region.cache is None or not value.requires_grad or not value.is_leaf or not state.recording:
            return F.cast(value, dtype.numpy)
        return cast_once(region.cache, value, dtype)
    if isinstance(value, dict):
        return {k: recast(v, dtype) for k, v in value.items()}
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)([recast(v, dtype) for v in value])
    return value


def cast_once(cache: dict[int, tuple[Tensor, Tensor]], leaf: Tensor, dtype: dtypes.dtype) -> Tensor:
    """A parameter in another dtype; the same for all who use it in a region."""
    known = cache.get(id(leaf))
    if known is None or known[1].dtype is not dtype or known[1]._version != 0:
        known = cache[id(leaf)] = leaf, F.cast(leaf, dtype.numpy)
    return known[1]


class autocast:
    """A region in which operators choose the precision they compute in; a context manager or a decorator.

    Parameters
    ----------
    device_type : str
        "cpu". For a device that is not there the region changes nothing, and a warning says so.
    dtype : dtype, optional
        What products of matrices and convolutions compute in: bfloat16, the default, or float16.
    enabled : bool
        Whether the region changes anything; False within another one leaves operators alone again.
    cache_enabled : bool, optional
        Whether parameters that are used several times are cast once, as is the default.

    Raises
    ------
    RuntimeError, ValueError
        If ``device_type`` names no device.

    Notes
    -----
    The backward pass computes in the dtypes of the forward pass; a region around it is not needed. NumPy computes in
    bfloat16 and float16 by way of float32: the numbers are those of mixed precision, the speed is not.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x, w = tp.ones(2, 2), tp.ones(2, 2, requires_grad=True)
    >>> with tp.autocast("cpu"):
    ...     y = x @ w
    ...     loss = tp.nn.functional.mse_loss(y, x)
    >>> y.dtype, loss.dtype
    (tensorplay.bfloat16, tensorplay.float32)
    """

    def __init__(
        self, device_type: str, dtype: dtypes.dtype | None = None, enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:  # fmt: skip
        check_device("autocast", device_type)
        self.device = device_type
        self.fast_dtype = region.chosen if dtype is None else dtypes.dtype_argument(dtype, "autocast", "dtype", 2)
        if enabled and device_type != "cpu":
            warnings.warn(f"autocast(): {device_type} is not available. Disabling autocast.", stacklevel=2)
            enabled = False
        elif enabled and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warnings.warn(
                f"autocast(): In CPU autocast, but the target dtype {self.fast_dtype} is not supported. Disabling "
                "autocast. CPU Autocast only supports dtypes of bfloat16 and float16.", stacklevel=2,
            )  # fmt: skip
            enabled = False
        self.enabled, self.caches = bool(enabled), cache_enabled is not False
        self.entered: list[Any] = []

    def __enter__(self) -> autocast:
        interception = Interception(handlers()) if self.enabled else None
        self.entered.append((interception, region.dtype, region.chosen, region.cache))
        if interception is not None:
            interception.__enter__()
        if self.device == "cpu":
            region.dtype = self.fast_dtype if self.enabled else None
            region.chosen = self.fast_dtype
            region.cache = (region.cache if region.cache is not None else {}) if self.caches else None
        return self

    def __exit__(self, *exc: object) -> None:
        interception, region.dtype, region.chosen, region.cache = self.entered.pop()
        if interception is not None:
            interception.__exit__(*exc)

    def __call__(self, func: Fn) -> Fn:
        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return cast(Fn, inside)


def check_device(name: str, device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"{name}(): Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if device_type not in DEVICES:
        raise RuntimeError(f"{name}(): Expected one of {', '.join(DEVICES)} device type, got {device_type!r}")


def is_autocast_available(device_type: str) -> bool:
    """Whether there are regions for a device: for "cpu" alone.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.amp.is_autocast_available("cpu")
    True
    """
    check_device("is_autocast_available", device_type)
    return device_type == "cpu"


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Whether this thread is in a region that changes what operators compute in.

    Examples
    --------
    >>> import tensorplay as tp
    >>> with tp.autocast("cpu"):
    ...     print(tp.is_autocast_enabled("cpu"))
    True
    """
    check_device("is_autocast_enabled", device_type)
    return device_type == "cpu" and region.dtype is not None


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The dtype of the innermost region, or what one without ``dtype`` would have.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.get_autocast_dtype("cpu")
    tensorplay.bfloat16
    """
    check_device("get_autocast_dtype", device_type)
    return region.chosen if device_type == "cpu" else dtypes.float16


# ---- custom Functions


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: dtypes.dtype | None = None) -> Any:
    """Decorate the ``forward`` of a custom Function that may be called in a region.

    Parameters
    ----------
    fwd : callable
        The static method ``forward(ctx, ...)``.
    device_type : str
        "cpu".
    cast_inputs : dtype, optional
        In a region: what floating inputs are cast to, and then forward runs as outside of it. Otherwise it runs as its
        surroundings do.

    Examples
    --------
    >>> import tensorplay as tp
    >>> class Product(tp.autograd.Function):
    ...     @staticmethod
    ...     @tp.amp.custom_fwd(device_type="cpu", cast_inputs=tp.float32)
    ...     def forward(ctx, a, b):
    ...         ctx.save_for_backward(a, b)
    ...         return a @ b
    ...
    ...     @staticmethod
    ...     @tp.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, g):
    ...         a, b = ctx.saved_tensors
    ...         return g @ b.T, a.T @ g
    >>> with tp.autocast("cpu"):
    ...     print(Product.apply(tp.ones(1, 1), tp.ones(1, 1)).dtype)
    tensorplay.float32
    """
    check_device("custom_fwd", device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        active = is_autocast_enabled(device_type)
        ctx._autocast = (region.chosen, active and cast_inputs is None)
        if not active or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *recast(args, cast_inputs), **recast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorate the ``backward`` of a custom Function: it runs as its ``forward`` did; see :func:`custom_fwd`.

    Parameters
    ----------
    bwd : callable
        The static method ``backward(ctx, ...)``.
    device_type : str
        "cpu".
    """
    check_device("custom_bwd", device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        dtype, active = ctx._autocast
        with autocast(device_type, dtype if active else None, enabled=active):
            return bwd(ctx, *args, **kwargs)

    return backward
