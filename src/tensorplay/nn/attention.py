"""Which implementation of ``scaled_dot_product_attention`` a program wants: there is one, whatever it is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(Enum):
    """Names of implementations, with PyTorch's numbers."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """A region whose attention may be computed by some implementations only; results are the same for all.

    Parameters
    ----------
    backends : SDPBackend or list of SDPBackend
        What may be used. The one implementation stands for each of them.
    set_priority : bool
        Whether the order says what is preferred.

    Raises
    ------
    AssertionError
        If ``backends`` is something else.
    RuntimeError
        If nothing may be used.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.nn.attention import SDPBackend, sdpa_kernel
    >>> with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    ...     tp.nn.functional.scaled_dot_product_attention(*[tp.ones(1, 1, 2, 2)] * 3)
    tensor([[[[1., 1.],
              [1., 1.]]]])
    """
    wanted = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(wanted, list) or not all(isinstance(b, SDPBackend) for b in wanted):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                             f"{type(backends).__name__}")  # fmt: skip
    if not [b for b in wanted if b is not SDPBackend.ERROR]:
        raise RuntimeError("sdpa_kernel: No viable backend for scaled_dot_product_attention was named")
    yield
