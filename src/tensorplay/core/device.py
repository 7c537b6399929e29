"""Devices: where a tensor's data lives. ``cpu`` holds it, ``meta`` knows shapes and dtypes alone."""

from __future__ import annotations

from typing import Any

from .state import state


class device:
    """A device, as in ``device('cpu')``. As a context manager it is the default device of factories.

    Parameters
    ----------
    type : str or device
        ``'cpu'`` or ``'meta'``, with an optional index: ``'cpu:0'``.
    index : int, optional
        The device's number among those of its type.

    Raises
    ------
    RuntimeError
        For a type that this build does not have.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.device('cpu')
    device(type='cpu')
    >>> with tp.device('meta'):
    ...     tp.zeros(2).device
    device(type='meta')
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: str | device, index: int | None = None) -> None:
        if isinstance(type, device):
            index = type.index if index is None else index
            type = type.type
        elif not isinstance(type, str):
            raise (
                accelerator_missing(type)
                if isinstance(type, int)
                else TypeError(f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}")
            )
        name, _, number = type.partition(":")
        if number:
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed explicitly: {type}"
                )
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        if name not in ("cpu", "meta"):
            raise RuntimeError(f"Expected one of cpu, meta device type at start of device string: {name}")
        self.type, self.index = name, index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self) -> str:
        return self.type + (f":{self.index}" if self.index is not None else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        state.devices = (*state.devices, self)
        return self

    def __exit__(self, *exc: object) -> None:
        state.devices = state.devices[:-1]


def accelerator_missing(number: int) -> RuntimeError:
    """The error of a bare device number, which PyTorch reads as that of an accelerator."""
    return RuntimeError(f"device {number} names an accelerator, and there is none; use device('cpu')")


CPU, META = device("cpu"), device("meta")
_default = CPU


def set_default_device(device: Any) -> None:
    """Set where factories put tensors when they are given no device; for all threads.

    Parameters
    ----------
    device : str, device or None
        None: the cpu.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.set_default_device('meta')
    >>> tp.zeros(2).is_meta
    True
    >>> tp.set_default_device(None)
    """
    global _default
    _default = CPU if device is None else as_device(device)


def get_default_device() -> device:
    """Where factories put tensors when they are given no device.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.get_default_device()
    device(type='cpu')
    """
    return state.devices[-1] if state.devices else _default


def as_device(spec: Any) -> device:
    """The device that an argument names."""
    return spec if isinstance(spec, device) else device(spec)


def is_meta(spec: Any) -> bool:
    """Whether a device argument (None: the default device) names the meta device."""
    return (get_default_device() if spec is None else as_device(spec)).type == "meta"
