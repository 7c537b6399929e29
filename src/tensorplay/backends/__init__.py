"""Array modules: what the data of tensors may be, beside NumPy's arrays.

Kernels are written over an array module, ``kernel(xp, *arrays, ...)``. A backend registers its type of array with the
module that computes on it (CuPy's arrays with ``cupy``, say); tensors that hold such arrays then run the same kernels
over that module, and no operator knows of it. NumPy is the module of everything else, and needs no entry.

Examples
--------
>>> from tensorplay import backends
>>> backends.module_of([]).__name__
'numpy'
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy

LATER = {"cuda": "cuda", "cudnn": "cudnn", "mkldnn": "onednn", "mps": "mps", "onednn": "onednn"}


def __getattr__(name: str) -> Any:
    """What PyTorch's programs ask ``backends`` for is imported at need."""
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{LATER[name]}", __name__)


MODULES: dict[type, Any] = {}
"""Array modules by the exact type of their arrays; empty while NumPy is alone."""


def register(array_type: type, module: Any) -> None:
    """Let tensors hold arrays of a type.

    Parameters
    ----------
    array_type : type
        The exact type; its instances have ``shape``, ``dtype`` (NumPy's), ``ndim``, ``size``, ``astype`` and
        ``reshape``.
    module : module
        Has NumPy's functions for such arrays, and accepts NumPy arrays among them.
    """
    MODULES[array_type] = module


def module_of(arrays: Iterable[Any]) -> Any:
    """The module that computes on arrays: that of the first one that is not NumPy's.

    Raises
    ------
    RuntimeError
        If arrays of two modules meet.
    """
    found: Any = numpy
    for array in arrays:
        module = MODULES.get(type(array))
        if module is not None and module is not found:
            if found is not numpy:
                raise RuntimeError("Expected all tensors to be on the same device, but found arrays of "
                                   f"{found.__name__} and of {module.__name__}")  # fmt: skip
            found = module
    return found
