"""Modules whose call is compiled: modules still, so that they can be parts of others, moved, saved and trained."""

from __future__ import annotations

from typing import Any

from ..nn.module import Module
from .compiled import Compiled

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """A module whose call runs as a program of XLA; :func:`tensorplay.compile` makes it of a module.

    Parameters, buffers and children are those of the original, which is the only child: ``_orig_mod``, a prefix of the
    names in ``state_dict()``, as in PyTorch. Other attributes are the original's.

    Examples
    --------
    >>> import tensorplay as tp
    >>> model = tp.compile(tp.nn.Linear(2, 1))
    >>> model.in_features, list(model.state_dict())
    (2, ['_orig_mod.weight', '_orig_mod.bias'])
    """

    def __init__(self, module: Module, fullgraph: bool, disable: bool) -> None:
        super().__init__()
        self._orig_mod = module
        self.training = module.training
        object.__setattr__(self, "_compiled", Compiled(module, fullgraph, disable))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The original's result."""
        return self._compiled(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_orig_mod":
                raise
            return getattr(self._orig_mod, name)

    def __reduce__(self) -> Any:
        compiled = self._compiled
        return type(self), (self._orig_mod, compiled._fullgraph, compiled._disable)
