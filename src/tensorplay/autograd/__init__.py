"""Differentiation: reverse mode, forward mode, and what stands around them."""

from __future__ import annotations

from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph, variable
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function, NestedIOFunction
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

__all__ = [
    "Function", "GradcheckError", "NestedIOFunction", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad",
    "enforce_grad_layout_policy", "forward_ad", "function", "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck",
    "graph", "inference_mode", "is_multithreading_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled",
    "set_multithreading_enabled", "variable",
]  # fmt: skip
