"""Settings that programs make for the libraries of a CUDA device: kept, and without effect, for there is none."""

from __future__ import annotations

from types import SimpleNamespace

matmul = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False, fp32_precision="none",
)  # fmt: skip

kernels = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}
"""Which kernels of attention may be chosen."""


def is_built() -> bool:
    """Whether CUDA is supported: no.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.backends.cuda.is_built()
    False
    """
    return False


def enable_flash_sdp(enabled: bool) -> None:
    """Whether one kernel of attention may be chosen: kept."""
    kernels["flash"] = enabled


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """As :func:`enable_flash_sdp`, of another one."""
    kernels["mem_efficient"] = enabled


def enable_math_sdp(enabled: bool) -> None:
    """As :func:`enable_flash_sdp`, of another one."""
    kernels["math"] = enabled


def enable_cudnn_sdp(enabled: bool) -> None:
    """As :func:`enable_flash_sdp`, of another one."""
    kernels["cudnn"] = enabled


def flash_sdp_enabled() -> bool:
    """What :func:`enable_flash_sdp` was told."""
    return kernels["flash"]


def mem_efficient_sdp_enabled() -> bool:
    """What :func:`enable_mem_efficient_sdp` was told."""
    return kernels["mem_efficient"]


def math_sdp_enabled() -> bool:
    """What :func:`enable_math_sdp` was told."""
    return kernels["math"]


def cudnn_sdp_enabled() -> bool:
    """What :func:`enable_cudnn_sdp` was told."""
    return kernels["cudnn"]
