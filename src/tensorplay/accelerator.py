"""What programs ask before they choose an accelerator of whatever kind: there is none."""

from __future__ import annotations

from typing import NoReturn

from .core.device import device

__all__ = ["current_accelerator", "current_device_index", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Whether there is an accelerator: no.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.accelerator.current_accelerator().type if tp.accelerator.is_available() else "cpu"
    'cpu'
    """
    return False


def device_count() -> int:
    """The number of accelerators: 0."""
    return 0


def current_accelerator(check_available: bool = False) -> device | None:
    """The accelerator: None."""
    return None


def current_device_index() -> NoReturn:
    """The number of the accelerator in use.

    Raises
    ------
    RuntimeError
        Always: there is none.
    """
    raise RuntimeError("current_device_index(): Cannot access accelerator device when none is available.")


def synchronize(device: object = None) -> NoReturn:
    """Wait for the accelerator.

    Raises
    ------
    RuntimeError
        Always: there is none.
    """
    raise RuntimeError("synchronize(): Cannot access accelerator device when none is available.")
