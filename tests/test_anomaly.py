"""Anomaly mode: what went wrong in the backward pass, and where in the forward pass it began."""

import warnings

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd
from tensorplay.autograd import Function, detect_anomaly, grad, set_detect_anomaly


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Anomaly Detection has been enabled")
        yield
    assert not tp.is_anomaly_enabled()


def leaf(values=(0.0, 1.0)):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True)


def first_step(x):
    return x.log()


class Raises(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("from inside")


class Nan(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g, g * np.nan


def test_a_nan_names_its_node_and_carries_the_forward_call():
    x = leaf()
    with detect_anomaly():
        y = first_step(x) * 0
        with pytest.raises(RuntimeError, match=r"Function 'LogBackward0' returned nan values in its 0th output\.") as e:
            y.sum().backward()
    text = str(e.value)
    assert "Error detected in LogBackward0. Traceback of forward call that caused the error:" in text
    assert "in first_step" in text and "return x.log()" in text
    assert "tensorplay/core" not in text and "in mul" not in text
    assert x.grad is None


def test_the_output_is_counted():
    with (
        detect_anomaly(),
        pytest.raises(RuntimeError, match="Function 'NanBackward' returned nan values in its 1th output"),
    ):
        Nan.apply(leaf(), leaf()).sum().backward()


def test_the_first_infinity_is_told_with_the_nan_that_came_of_it():
    x = leaf()
    with detect_anomaly():
        y = (x * 0).sqrt() * 1
        with pytest.raises(
            RuntimeError, match="'MulBackward0' returned nan.*The first infinite gradient came from SqrtBackward0"
        ):
            y.sum().backward()


def test_an_infinity_alone_is_no_error():
    x = leaf([0.0])
    with detect_anomaly():
        (g,) = grad(x.sqrt().sum(), x)
    assert np.isinf(g.item())


@pytest.mark.parametrize("check_nan", [True, False])
def test_errors_keep_their_class_and_get_the_traceback(check_nan):
    x = leaf()
    with detect_anomaly(check_nan=check_nan):
        y = Raises.apply(x).sum()
        with pytest.raises(ValueError, match="from inside\nError detected in RaisesBackward") as e:
            y.backward()
    assert "y = Raises.apply(x).sum()" in str(e.value)


def test_nan_is_not_looked_for_where_that_is_not_wanted():
    x = leaf()
    with detect_anomaly(check_nan=False):
        (first_step(x) * 0).sum().backward()
    assert np.isnan(x.grad.numpy()[0])


def test_a_graph_recorded_outside_has_no_traceback():
    y = (first_step(leaf()) * 0).sum()
    with detect_anomaly(), pytest.raises(RuntimeError, match="LogBackward0.*\n.*No forward pass information available"):
        y.backward()


def test_the_cause_is_followed_to_the_forward_of_a_first_derivative():
    x = leaf([0.0])
    with detect_anomaly():
        (g,) = grad((x**1.5).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match=r"This node was made by the backward of PowBackward0") as e:
            (g * 0).sum().backward()
    assert "(g,) = grad((x**1.5).sum(), x, create_graph=True)" in str(e.value)


def test_stale_values_are_traced_too():
    x = leaf([1.0, 2.0])
    with detect_anomaly():
        a = x * 1
        y = a.exp()
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as e:
            y.sum().backward()
    assert "y = a.exp()" in str(e.value)


def test_nan_in_carriers_is_found():
    w = leaf([0.0])
    with detect_anomaly(), pytest.raises(RuntimeError, match="'LogBackward0' returned nan"):
        tp.vmap(lambda x: grad((w.log() * x).sum(), w)[0])(tp.zeros(3, 1, dtype=tp.float64))


def test_the_mode_as_function_and_context_manager():
    assert not tp.is_anomaly_enabled()
    setting = set_detect_anomaly(True, check_nan=False)
    try:
        assert tp.is_anomaly_enabled() and not tp.is_anomaly_check_nan_enabled()
        assert (leaf() * 2).grad_fn.rare.traceback
    finally:
        set_detect_anomaly(False)
    assert not tp.is_anomaly_enabled() and tp.is_anomaly_check_nan_enabled()
    with set_detect_anomaly(True):
        assert tp.is_anomaly_enabled()
        with tp.no_grad():
            assert not tp.is_grad_enabled()
        with set_detect_anomaly(False):
            assert not tp.is_anomaly_enabled()
        assert tp.is_anomaly_enabled()
    assert setting is not None and tp.is_grad_enabled()


def test_detect_anomaly_warns_that_it_is_slow():
    with pytest.warns(UserWarning, match="should only be enabled for debugging"):
        autograd.detect_anomaly()


def test_gradients_are_the_same():
    def program(x):
        y = (x * x.exp()).tanh()
        return grad(y.sum(), x, create_graph=True)[0]

    x = leaf([0.5, 1.0])
    expected = program(x)
    with detect_anomaly():
        found = program(x)
        np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
        np.testing.assert_array_equal(grad(found.sum(), x)[0].numpy(), grad(expected.sum(), x)[0].numpy())
