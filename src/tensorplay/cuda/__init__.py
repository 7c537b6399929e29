"""What programs ask before they use an accelerator: there is none."""

from __future__ import annotations

from typing import Any

from ..core.registry import attributes_later

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
