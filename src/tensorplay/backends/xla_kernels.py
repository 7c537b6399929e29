"""Kernels for XLA, where those over NumPy use what tracers lack (memory, values), or where XLA has an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

KERNELS: dict[str, Callable[..., Any]] = {}
"""By the name of the primitive: ``kernel(*arrays, **attributes)``."""

VALUE_DEPENDENT = frozenset({"binomial", "nonzero", "poisson"})
"""Primitives that cannot be traced: shapes or draws depend on values."""
