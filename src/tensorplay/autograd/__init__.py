"""Differentiation: reverse mode, forward mode, and what stands around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.registry import attributes_later as _attributes_later
from . import anomaly_mode, grad_mode, graph, variable
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .grad_mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .gradient import backward, grad
from .variable import Variable

if TYPE_CHECKING:
    from . import forward_ad, function, functional, profiler
    from .function import Function, NestedIOFunction

__all__ = [
    "Function", "GradcheckError", "NestedIOFunction", "Variable", "anomaly_mode", "backward", "detect_anomaly",
    "enable_grad", "enforce_grad_layout_policy", "forward_ad", "function", "functional", "grad", "grad_mode",
    "gradcheck", "gradgradcheck", "graph", "inference_mode", "is_multithreading_enabled", "no_grad", "profiler",
    "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable",
]  # fmt: skip
__getattr__ = _attributes_later(
    globals(),
    ("forward_ad", "function", "functional", "profiler", "profiler_util"),
    {"Function": "function", "NestedIOFunction": "function"},
)
