"""The operators, one file per family; importing one registers what is in it.

The families of everyday use are imported at once, the others when one of their operators is first named: so
``import tensorplay`` takes little longer than NumPy. ``index.py`` says which operators these have; tools/make_stubs.py
writes it. Where a file changed after that, all families are imported at once.
"""

import os as _os
import sys as _sys

from ..core.operator import OPERATORS as _OPERATORS
from ..core.primitive import PRIMITIVES as _PRIMITIVES
from ..core.registry import LaterAttribute as _LaterAttribute
from ..core.tensor import Tensor as _Tensor

from . import structural  # isort: skip
from . import (
    arithmetic,
    comparison,
    complex,
    conversion,
    elementwise,
    factories,
    from_data,
    indexing,
    matmul,
    reduction,
    selection,
    shape,
)
from .index import FAMILIES, SIZES


def sizes() -> dict[str, int]:
    """The families that are not imported yet, with the sizes of their files."""
    with _os.scandir(_os.path.dirname(__file__)) as entries:
        files = {e.name.removesuffix(".py"): e.stat().st_size for e in entries if e.name.endswith(".py")}
    return {
        name: size for name, size in files.items() if name != "__init__" and f"{__name__}.{name}" not in _sys.modules
    }


def put_off(family: str, names: dict[str, str]) -> None:
    """Enter the names of a family's primitives, methods and operators by namespace; whoever asks for one imports it."""
    module = f"{__name__}.{family}"
    for where, joined in names.items():
        for name in joined.split():
            if where == "Tensor":
                _LaterAttribute(_Tensor, name, module)
            else:
                (_PRIMITIVES if where == "F" else _OPERATORS[where.rpartition(":")[2]]).later[name] = module


def import_all() -> None:
    """Import every family."""
    import importlib

    for name in sizes():
        importlib.import_module(f"{__name__}.{name}")


if sizes() == SIZES:
    for _family, _names in FAMILIES.items():
        put_off(_family, _names)
else:
    import_all()
