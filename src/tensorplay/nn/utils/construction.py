"""How modules are made, and how their weights lie in memory."""

from __future__ import annotations

import inspect
from typing import Any

from ..conv import Convolution
from ..module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """A module whose parameters have no values yet, which saves drawing them.

    Parameters
    ----------
    module_cls : type
        Its class, whose ``__init__`` must take ``device``.
    *args, **kwargs
        What the class takes; ``device`` is where the module is in the end.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise TypeError(f"skip_init: expected a subclass of Module, got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    final = kwargs.pop("device", "cpu")
    return module_cls(*args, **{"device": "meta", **kwargs}).to_empty(device=final)


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Give the weights of all 2-dimensional convolutions a memory format."""
    return convert(module, 4, memory_format)


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Give the weights of all 3-dimensional convolutions a memory format."""
    return convert(module, 5, memory_format)


def convert(module: Module, rank: int, memory_format: Any) -> Module:
    for child in module.modules():
        if isinstance(child, Convolution) and child.weight.ndim == rank:
            child.weight.data = child.weight.detach().clone().contiguous(memory_format=memory_format)
    return module
