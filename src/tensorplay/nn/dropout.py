"""Dropout: random zeros while training."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from .module import Module


class RandomZeros(Module):
    """What the kinds of dropout have in common."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """Options."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(RandomZeros):
    """Sets elements to zero with probability ``p`` while training, and scales the others by 1 / (1 - p).

    Source: Srivastava et al., 2014.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Dropout(0.5).eval()(tp.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(RandomZeros):
    """:class:`Dropout` of whole channels of sequences, (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(RandomZeros):
    """:class:`Dropout` of whole channels of images, (N, C, H, W); three dimensions are taken as (N, C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(RandomZeros):
    """:class:`Dropout` of whole channels of volumes, (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(RandomZeros):
    """Dropout for :class:`SELU` networks, which keeps mean and variance (Klambauer et al., 2017)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(RandomZeros):
    """:class:`AlphaDropout` of whole channels of (N, C, ...)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements."""
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
