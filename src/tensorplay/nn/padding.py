"""Padding as modules: entries around the last dimensions of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.tensor import Tensor
from . import functional as F
from .module import Module


class Padding(Module):
    """Entries around the last ``dims`` dimensions; ``padding`` is one number, or two for each, the last first."""

    dims: int
    mode: str

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != 2 * self.dims:
            raise ValueError(
                f"{self._get_name()}: padding must be an int or {2 * self.dims} of them, got {self.padding}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Options."""
        return f"{self.padding}"


class ConstantPadding(Padding):
    """Padding with one value."""

    value: float

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Options."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(ConstantPadding):
    """A constant around sequences.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.ConstantPad1d((2, 1), 7.)(tp.ones(1, 2))
    tensor([[7., 7., 1., 1., 7.]])
    """

    dims = 1


class ConstantPad2d(ConstantPadding):
    """A constant around images."""

    dims = 2


class ConstantPad3d(ConstantPadding):
    """A constant around volumes."""

    dims = 3


class ZeroPad1d(ConstantPad1d):
    """Zeros around sequences."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Options."""
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros around images."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Options."""
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros around volumes."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Options."""
        return f"{self.padding}"


class ReflectionPad1d(Padding):
    """Around sequences, their mirror image, without the edge itself.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.ReflectionPad1d(1)(tp.tensor([[1., 2., 3.]]))
    tensor([[2., 1., 2., 3., 2.]])
    """

    dims, mode = 1, "reflect"


class ReflectionPad2d(Padding):
    """Around images, their mirror image, without the edge itself."""

    dims, mode = 2, "reflect"


class ReflectionPad3d(Padding):
    """Around volumes, their mirror image, without the edge itself."""

    dims, mode = 3, "reflect"


class ReplicationPad1d(Padding):
    """Around sequences, their edge again and again."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(Padding):
    """Around images, their edge again and again."""

    dims, mode = 2, "replicate"


class ReplicationPad3d(Padding):
    """Around volumes, their edge again and again."""

    dims, mode = 3, "replicate"


class CircularPad1d(Padding):
    """Around sequences, their other end."""

    dims, mode = 1, "circular"


class CircularPad2d(Padding):
    """Around images, their other end."""

    dims, mode = 2, "circular"


class CircularPad3d(Padding):
    """Around volumes, their other end."""

    dims, mode = 3, "circular"
