"""Differentiation: reverse mode, forward mode, and what stands around them."""

from __future__ import annotations

from .gradient import backward, grad

__all__ = ["backward", "grad"]
