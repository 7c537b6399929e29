"""Devices: where a tensor's data lives. ``cpu`` holds it, ``meta`` knows shapes and dtypes alone."""

from __future__ import annotations

from typing import Any


class device:
    """A device, as in ``device('cpu')``.

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
    >>> from tensorplay.core.device import device
    >>> device('cpu')
    device(type='cpu')
    >>> device('cpu').type
    'cpu'
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: str | device, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        name, _, number = type.partition(":")
        if number:
            if index is not None:
                raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {type}")
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


CPU, META = device("cpu"), device("meta")


def is_meta(spec: Any) -> bool:
    """Whether a device argument (None: the cpu) names the meta device."""
    return spec is not None and (spec if isinstance(spec, device) else device(spec)).type == "meta"
