"""Every operator, driven by the tables in ``samples``: value, both modes, second derivatives, batching."""

import harness
import pytest
from samples import SAMPLES

every = pytest.mark.parametrize("sample", SAMPLES, ids=repr)


@every
def test_value(sample):
    if sample.reference is None:
        sample.fn(*sample.tensors())
    else:
        harness.check_value(sample)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.layouts], ids=repr)
def test_memory_may_lie_in_any_order(sample):
    harness.check_layouts(sample)


DIFFERENTIABLE = [s for s in SAMPLES if s.grad and s.varying]


@pytest.mark.parametrize("sample", DIFFERENTIABLE, ids=repr)
def test_gradients_equal_finite_differences(sample):
    harness.check_gradients(sample)


@pytest.mark.parametrize("sample", DIFFERENTIABLE, ids=repr)
def test_forward_mode_agrees_with_reverse_mode(sample):
    harness.check_forward_mode(sample)


@pytest.mark.parametrize("sample", [s for s in DIFFERENTIABLE if s.gradgrad], ids=repr)
def test_second_derivatives_equal_finite_differences(sample):
    harness.check_second_derivatives(sample)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.vmap and s.varying], ids=repr)
def test_batching_equals_a_loop(sample):
    harness.check_batching(sample)
