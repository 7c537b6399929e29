"""What programs ask before they use Apple's accelerator: there is none."""

from __future__ import annotations


def is_available() -> bool:
    """Whether tensors can live on it: no.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.backends.mps.is_available()
    False
    """
    return False


def is_built() -> bool:
    """Whether it is supported: no."""
    return False
