"""Named tuples of the operators that return several tensors."""

from .core.return_types import (
    aminmax as aminmax,
    cummax as cummax,
    cummin as cummin,
    frexp as frexp,
    histogram as histogram,
    histogramdd as histogramdd,
    kthvalue as kthvalue,
    max as max,
    median as median,
    min as min,
    mode as mode,
    nanmedian as nanmedian,
    sort as sort,
    topk as topk,
)
