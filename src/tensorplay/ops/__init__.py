"""The operators, one file per family; importing one registers what is in it."""

from . import structural  # isort: skip
from . import arithmetic, comparison, complex, einsum, elementwise, extrema, factories, indexing, matmul, reduction, selection, shape
from . import activation, conv, dense, loss, normalization, pool
from . import conversion, from_data, random, scan
