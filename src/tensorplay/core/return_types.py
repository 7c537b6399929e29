"""Named tuples of the operators that return several tensors; public as ``tensorplay.return_types``."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def named(name: str, fields: str) -> Any:
    """A tuple type whose fields have names, and that prints as PyTorch's do."""
    base = namedtuple(name, fields)  # type: ignore[misc]

    def show(self: Any) -> str:
        parts = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"tensorplay.return_types.{name}(\n{parts})"

    members = {"__slots__": (), "__repr__": show, "__module__": "tensorplay.return_types",
               "__doc__": f"What :func:`tensorplay.{name}` returns: {fields.replace(' ', ', ')}."}  # fmt: skip
    return type(name, (base,), members)


FIELDS = {
    "max": "values indices",
    "min": "values indices",
    "aminmax": "min max",
    "cummax": "values indices",
    "cummin": "values indices",
    "sort": "values indices",
    "topk": "values indices",
    "kthvalue": "values indices",
    "median": "values indices",
    "nanmedian": "values indices",
    "mode": "values indices",
    "histogram": "hist bin_edges",
    "frexp": "mantissa exponent",
    "histogramdd": "hist bin_edges",
    "slogdet": "sign logabsdet",
    "qr": "Q R",
    "svd": "U S V",
    "geqrf": "a tau",
    "triangular_solve": "solution cloned_coefficient",
    "lu_unpack": "P L U",
    "linalg_slogdet": "sign logabsdet",
    "linalg_inv_ex": "inverse info",
    "linalg_solve_ex": "result info",
    "linalg_cholesky_ex": "L info",
    "linalg_qr": "Q R",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_eig": "eigenvalues eigenvectors",
    "linalg_svd": "U S Vh",
    "linalg_lstsq": "solution residuals rank singular_values",
    "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots",
    "linalg_lu_factor_ex": "LU pivots info",
    "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
}


def __getattr__(name: str) -> Any:
    if name not in FIELDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = named(name, FIELDS[name])
    return made
