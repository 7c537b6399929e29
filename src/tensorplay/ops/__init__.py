"""The operators, one file per family; importing one registers what is in it."""

from . import structural  # isort: skip
from . import arithmetic, comparison, complex, einsum, elementwise, extrema, factories, indexing, matmul, reduction, selection, shape
from . import diagonals, joining, masked, parts, scatter, strides, view_copies, writing
from . import bessel, polynomials, special
from . import activation, callables, conv, cross_entropy, dense, distance, loss, margin, normalization, padding, pool
from . import attention, conversion, dropout, from_data, properties, random, scan, sorting, statistics
from . import cholesky, decompositions, linalg, matrices, norms, spectra
