"""The same values in another dtype, memory format or shape of memory; constants made of a tensor's number."""

import numpy as np
from harness import Sample, complexn, randn

import tensorplay as tp

X, C = randn(2, 3), complexn(2, 3)
IMAGE = randn(2, 3, 2, 2)

SAMPLES = [
    Sample("to", lambda x: x.to(tp.complex128), X, reference=lambda x: x.astype(complex)),
    Sample("to", lambda x: x.to(tp.float64, copy=True), X, reference=lambda x: x),
    Sample("to", lambda x: x.to(tp.int64), X * 3, reference=lambda x: x.astype(int), grad=False, vmap=False),
    Sample("to", lambda x: x.to(tp.complex128), np.array(1.5), reference=lambda x: x.astype(complex)),
    Sample("to", lambda x: x.to(memory_format=tp.channels_last), IMAGE, reference=lambda x: x),
    Sample("to", lambda x: x.to(memory_format=tp.contiguous_format), IMAGE.swapaxes(0, 1), reference=lambda x: x),
    Sample("double", lambda x: x.double(), np.zeros((0, 2)), reference=lambda x: x),
    Sample("cdouble", lambda x: x.cdouble(), C, reference=lambda x: x),
    Sample("type_as", lambda x, y: x.type_as(y), X, C, reference=lambda x, y: x.astype(complex)),
    Sample("resolve_conj", lambda x: x.resolve_conj(), C, reference=lambda x: x),
    Sample("zeros_like", lambda x: x * 2 + tp.zeros_like(x), X, reference=lambda x: x * 2),
    Sample("ones_like", lambda x: x * tp.ones_like(x), X, reference=lambda x: x),
    Sample("full_like", lambda x: x * tp.full_like(x, 3), X, reference=lambda x: x * 3),
    Sample("new_zeros", lambda x: x + x.new_zeros(3), X, reference=lambda x: x),
]  # fmt: skip
