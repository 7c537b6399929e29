"""Every operator compiled: the samples of its table, many in one program, give what they give eagerly."""

import warnings

import numpy as np
import pytest
from samples import FAMILIES

import tensorplay as tp

pytest.importorskip("jax", reason="compiling is JAX's part, which the extra 'xla' installs")

TOGETHER = 40
"""Samples in one program: compiling each for itself takes ten times as long."""

VALUES_DECIDE = (
    "bincount", "complex istft", "histogramdd", "istft", "masked.log_softmax", "masked_scatter", "masked_select",
    "repeat_interleave by counts", "segment_reduce", "unique",
)  # fmt: skip
"""Beginnings of the names of samples whose shapes, or checks of arguments, depend on values: they are run eagerly."""


def first_of_each_name(samples):
    return list({s.name: s for s in reversed(samples)}.values())[::-1]


def groups():
    for family, samples in FAMILIES.items():
        chosen = [s for s in first_of_each_name(samples) if not s.name.startswith(VALUES_DECIDE)]
        for i in range(0, len(chosen), TOGETHER):
            yield pytest.param(chosen[i : i + TOGETHER], id=f"{family}-{i // TOGETHER}")


def tensors_of(out):
    return [t for t in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(t, tp.Tensor)]


@pytest.mark.parametrize("samples", list(groups()))
def test_compiled_operators_equal_eager_ones(samples):
    def run(groups):
        return [tensors_of(s.fn(*args)) for s, args in zip(samples, groups)]

    arguments = [s.tensors() for s in samples]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "compile: run: NumPy computes")
        compiled = tp.compile(run, fullgraph=True)(arguments)
        eager = run(arguments)
    for sample, got, want in zip(samples, compiled, eager):
        assert len(got) == len(want), sample
        for g, w in zip(got, want):
            assert g.dtype is w.dtype and g.shape == w.shape, sample
            assert g.requires_grad == w.requires_grad, sample
            if g.dtype is tp.bfloat16:
                g, w = g.float(), w.float()
            tol = 1e-2 if w.dtype.itemsize == 2 else 2e-5 if w.dtype in (tp.float32, tp.complex64) else 1e-8
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=tol, atol=tol, err_msg=repr(sample))


def test_operators_whose_values_decide_are_refused():
    refused = [
        s for samples in FAMILIES.values() for s in first_of_each_name(samples) if s.name.startswith(VALUES_DECIDE)
    ]
    assert len(refused) >= len(VALUES_DECIDE)
    for s in refused:
        with pytest.raises((RuntimeError, TypeError, AttributeError, NotImplementedError)):
            tp.compile(s.fn, fullgraph=True)(*s.tensors())
