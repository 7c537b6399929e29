"""Functions compiled by XLA, through JAX (extra ``xla``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["compile", "disable", "explain", "is_compiling", "reset"]


def compile(
    model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: str = "xla", mode: str | None = None, options: dict[str, Any] | None = None, disable: bool = False,
) -> Any:  # fmt: skip
    """A function, or a module, as a program that XLA compiles."""
    if model is None:
        return lambda fn: compile(fn, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
                                  options=options, disable=disable)  # fmt: skip
    from .compiled import Compiled

    return Compiled(model, fullgraph, disable or backend == "eager")
