"""The names by which older programs ask for mixed precision on a CUDA device: there is none, so nothing is cast."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import amp
from ..core import dtype as dtypes

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """``tensorplay.autocast("cuda")``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> with tp.cuda.amp.autocast(enabled=tp.cuda.is_available()):
    ...     y = tp.ones(2, 2) @ tp.ones(2, 2)
    >>> y.dtype
    tensorplay.float32
    """

    def __init__(
        self, enabled: bool = True, dtype: dtypes.dtype = dtypes.float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """``tensorplay.amp.GradScaler("cuda")``."""

    def __init__(
        self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
        growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: dtypes.dtype | None = None) -> Any:
    """``tensorplay.amp.custom_fwd`` with ``device_type="cuda"``."""
    if fwd is None:
        return partial(custom_fwd, cast_inputs=cast_inputs)
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """``tensorplay.amp.custom_bwd`` with ``device_type="cuda"``."""
    return amp.custom_bwd(bwd, device_type="cuda")
