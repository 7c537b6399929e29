"""Made by tools/make_stubs.py."""

import builtins
from collections.abc import Iterable

from tensorplay.core.device import device as _device
from tensorplay.core.dtype import dtype as _dtype
from tensorplay.core.layout import layout as _layout
from tensorplay.core.tensor import Tensor

def bartlett(M: builtins.int, *, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A triangle."""
def blackman(M: builtins.int, *, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A sum of three cosines."""
def cosine(M: builtins.int, *, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """Half a wave of the sine."""
def exponential(M: builtins.int, *, center: builtins.float | None = None, tau: builtins.float = 1.0, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A decay from the middle to both sides."""
def gaussian(M: builtins.int, *, std: builtins.float = 1.0, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A Gaussian."""
def general_cosine(M: builtins.int, *, a: Iterable[builtins.float], sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A sum of cosines."""
def general_hamming(M: builtins.int, *, alpha: builtins.float = 0.54, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A raised cosine."""
def hamming(M: builtins.int, *, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A raised cosine with steps at its ends."""
def hann(M: builtins.int, *, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A raised cosine."""
def kaiser(M: builtins.int, *, beta: builtins.float = 12.0, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A window near to the one with the most energy in its main lobe."""
def nuttall(M: builtins.int, *, sym: builtins.bool = True, dtype: _dtype | builtins.type | None = None, layout: _layout | None = None, device: _device | builtins.str | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A sum of four cosines with low side lobes."""
