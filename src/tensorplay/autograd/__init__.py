"""Differentiation: reverse mode, forward mode, and what stands around them."""

from __future__ import annotations

from . import forward_ad, functional
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .gradient import backward, grad

__all__ = ["GradcheckError", "backward", "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck"]
