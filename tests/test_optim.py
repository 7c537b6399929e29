"""Optimizers: each step against the formula, written out."""

import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import optim

START, TARGET = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.5, -1.0])


def gradients(x):
    """Of sum((x - target)^4) / 4."""
    return (x - TARGET) ** 3


def run(make, steps=50):
    x = tp.tensor(START, requires_grad=True)
    optimizer = make([x])
    path = []
    for _ in range(steps):
        optimizer.zero_grad()
        ((x - tp.tensor(TARGET)) ** 4).sum().div(4).backward()
        optimizer.step()
        path.append(x.detach().numpy().copy())
    return np.array(path)


def sgd(lr=0.01, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    x, buffer = START.copy(), None
    while True:
        g = gradients(x) * (-1 if maximize else 1) + weight_decay * x
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        x = x - lr * g
        yield x


def adam(lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False, decoupled=False):
    x, m, v, largest, t = START.copy(), 0.0, 0.0, 0.0, 0
    while True:
        t += 1
        g = gradients(x) * (-1 if maximize else 1)
        if decoupled:
            x = x * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * x
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        largest = np.maximum(largest, v)
        second = (largest if amsgrad else v) / (1 - betas[1] ** t)
        x = x - lr * m / (1 - betas[0] ** t) / (np.sqrt(second) + eps)
        yield x


CASES = [
    (optim.SGD, sgd, {}),
    (optim.SGD, sgd, {"momentum": 0.9}),
    (optim.SGD, sgd, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    (optim.SGD, sgd, {"momentum": 0.5, "nesterov": True}),
    (optim.SGD, sgd, {"maximize": True, "lr": 1e-4}),
    (optim.Adam, adam, {}),
    (optim.Adam, adam, {"betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    (optim.Adam, adam, {"amsgrad": True, "lr": 0.1}),
    (optim.Adam, adam, {"maximize": True}),
    (optim.AdamW, adam, {"weight_decay": 0.3, "decoupled": True}),
]


@pytest.mark.parametrize(("cls", "formula", "options"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_fifty_steps_follow_the_formula(cls, formula, options):
    steps = formula(**options)
    want = np.array([next(steps) for _ in range(50)])
    given = {"lr": 0.01, **{k: v for k, v in options.items() if k != "decoupled"}}
    np.testing.assert_allclose(run(lambda params: cls(params, **given)), want, rtol=1e-10)


@pytest.mark.parametrize("cls", [optim.SGD, optim.Adam])
def test_state_can_be_saved_and_resumed(cls):
    options = {"lr": 0.05, **({"momentum": 0.9} if cls is optim.SGD else {})}
    whole = run(lambda p: cls(p, **options), 20)
    x = tp.tensor(START, requires_grad=True)
    optimizer = cls([x], **options)
    for step in range(20):
        if step == 7:
            saved = optimizer.state_dict()
            optimizer = cls([x], lr=9.0)
            optimizer.load_state_dict(saved)
        optimizer.zero_grad()
        ((x - tp.tensor(TARGET)) ** 4).sum().div(4).backward()
        optimizer.step()
    np.testing.assert_allclose(x.detach().numpy(), whole[-1], rtol=1e-12)


def test_groups_have_options_of_their_own():
    a, b = (tp.tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.5)
    (a + b).sum().backward()
    optimizer.step()
    assert (a.item(), b.item()) == (0.0, 0.5)


def test_parameters_without_gradient_stay():
    a, b = (tp.tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = optim.Adam([a, b], lr=0.1)
    a.sum().backward()
    optimizer.step()
    assert b.item() == 1.0 and a.item() == pytest.approx(0.9)


def test_a_closure_is_evaluated_with_gradients():
    x = tp.tensor([2.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with tp.no_grad():
        assert optimizer.step(closure).item() == 4.0
    assert x.item() == 1.0


def test_step_counts_as_a_write():
    x = tp.tensor([2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    version = x._version
    optim.SGD([x], lr=0.1).step()
    assert x._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_hooks_surround_a_step():
    x, seen = tp.tensor([1.0], requires_grad=True), []
    optimizer = optim.SGD([x], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert seen == ["before", "after", "before"]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: optim.SGD(tp.zeros(1), lr=0.1), TypeError, "should be an iterable of Tensors or dicts"),
        (lambda: optim.SGD([], lr=0.1), ValueError, "empty parameter list"),
        (lambda: optim.SGD([3], lr=0.1), TypeError, "can only optimize Tensors"),
        (lambda: optim.SGD([tp.zeros(1, requires_grad=True) * 2], lr=0.1), ValueError, "non-leaf"),
        (lambda: optim.SGD([tp.zeros(1)], lr=-1.0), ValueError, "Invalid learning rate: -1.0"),
        (lambda: optim.SGD([tp.zeros(1)], nesterov=True), ValueError, "Nesterov momentum requires"),
        (lambda: optim.Adam([tp.zeros(1)], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (
            lambda: optim.Adam([tp.zeros(1)]).load_state_dict({"state": {}, "param_groups": []}),
            ValueError,
            "different number",
        ),
    ],
)
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_same_parameter_in_two_groups_is_refused():
    x = tp.zeros(1, requires_grad=True)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": [x]}, {"params": [x]}], lr=0.1)


def test_float32_parameters_stay_float32():
    x = tp.tensor([1.0], requires_grad=True)
    for cls in (optim.SGD, optim.Adam):
        optimizer = cls([x], lr=0.1)
        (x * x).sum().backward()
        optimizer.step()
        assert x.dtype is tp.float32 and math.isfinite(x.item())
