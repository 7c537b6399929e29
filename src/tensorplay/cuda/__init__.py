"""What programs ask before they use an accelerator: there is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.registry import attributes_later
from ..core.tensor import Tensor

__getattr__ = attributes_later(globals(), ("amp",), {})


def is_available() -> bool:
    """Whether tensors can live on a CUDA device: no.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.device("cuda" if tp.cuda.is_available() else "cpu")
    device(type='cpu')
    """
    return False


def device_count() -> int:
    """The number of CUDA devices: 0."""
    return 0


def is_initialized() -> bool:
    """Whether CUDA has been set up: no."""
    return False


def manual_seed(seed: int) -> None:
    """Seed the device's generator: nothing to do without a device, as in PyTorch."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices: there are none, as in PyTorch."""


def synchronize(device: Any = None) -> None:
    """Wait for a device.

    Raises
    ------
    RuntimeError
        Always: there is none.
    """
    raise RuntimeError("synchronize(): no CUDA device is available; tensors live on the cpu")


class OutOfMemoryError(RuntimeError):
    """What programs catch to go on with a smaller batch; a lack of memory is Python's ``MemoryError`` here."""


def empty_cache() -> None:
    """Give memory back that no tensor uses: nothing to do without a device, as in PyTorch."""


def memory_allocated(device: Any = None) -> int:
    """Bytes of the tensors on a device: 0."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors on a device had: 0."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes that are kept for tensors on a device: 0."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that were kept: 0."""
    return 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """Count the most bytes anew: nothing to do without a device."""


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the device computes in bfloat16: no, without one."""
    return False


def get_rng_state_all() -> list[Tensor]:
    """The states of the generators of all devices: an empty list.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.cuda.get_rng_state_all()
    []
    """
    return []


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Set the states of the generators of all devices: there are none, as in PyTorch."""
