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


max = named("max", "values indices")
min = named("min", "values indices")
aminmax = named("aminmax", "min max")
cummax = named("cummax", "values indices")
cummin = named("cummin", "values indices")
sort = named("sort", "values indices")
topk = named("topk", "values indices")
kthvalue = named("kthvalue", "values indices")
median = named("median", "values indices")
nanmedian = named("nanmedian", "values indices")
mode = named("mode", "values indices")
histogram = named("histogram", "hist bin_edges")
frexp = named("frexp", "mantissa exponent")
histogramdd = named("histogramdd", "hist bin_edges")
slogdet = named("slogdet", "sign logabsdet")
qr = named("qr", "Q R")
svd = named("svd", "U S V")
geqrf = named("geqrf", "a tau")
triangular_solve = named("triangular_solve", "solution cloned_coefficient")
lu_unpack = named("lu_unpack", "P L U")
linalg_slogdet = named("linalg_slogdet", "sign logabsdet")
linalg_inv_ex = named("linalg_inv_ex", "inverse info")
linalg_solve_ex = named("linalg_solve_ex", "result info")
linalg_cholesky_ex = named("linalg_cholesky_ex", "L info")
linalg_qr = named("linalg_qr", "Q R")
linalg_eigh = named("linalg_eigh", "eigenvalues eigenvectors")
linalg_eig = named("linalg_eig", "eigenvalues eigenvectors")
linalg_svd = named("linalg_svd", "U S Vh")
linalg_lstsq = named("linalg_lstsq", "solution residuals rank singular_values")
linalg_lu = named("linalg_lu", "P L U")
linalg_lu_factor = named("linalg_lu_factor", "LU pivots")
linalg_lu_factor_ex = named("linalg_lu_factor_ex", "LU pivots info")
linalg_ldl_factor = named("linalg_ldl_factor", "LD pivots")
linalg_ldl_factor_ex = named("linalg_ldl_factor_ex", "LD pivots info")
