"""Devices with streams: a node's backward runs where its forward ran, and whoever reads a gradient waits for it.

The device here is NumPy under another name, with streams that write down what they are told.
"""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function, grad
from tensorplay.core import streams
from tensorplay.core.tensor import wrap


class FakeArray(np.ndarray):
    """An array of the device."""


class FakeStream:
    current = None

    def __init__(self, name, log):
        self.name, self.log = name, log

    def __enter__(self):
        self.before, FakeStream.current = FakeStream.current, self
        self.log.append(f"enter {self.name}")

    def __exit__(self, *exc):
        FakeStream.current = self.before

    def wait_stream(self, other):
        self.log.append(f"{self.name} waits for {other.name}")


@pytest.fixture
def device():
    log = []
    FakeStream.current = FakeStream("default", log)
    streams.register(FakeArray, lambda: FakeStream.current)
    yield lambda name: FakeStream(name, log), log
    streams.CURRENT.clear()
    FakeStream.current = None


def on_device(values):
    return wrap(np.asarray(values, dtype=np.float64).view(FakeArray))


class Seen(Function):
    """Notes the stream on which its backward runs."""

    streams = []

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Seen.streams.append(FakeStream.current.name)
        return g * 2


def test_backward_runs_on_the_stream_of_the_forward(device):
    stream, log = device
    side = stream("side")
    x = on_device([1.0, 2.0]).requires_grad_()
    Seen.streams.clear()
    y = Seen.apply(x)
    with side:
        z = Seen.apply(y)
    out = Seen.apply(z)
    log.clear()
    out.backward(on_device([1.0, 1.0]))
    assert Seen.streams == ["default", "side", "default"]
    assert x.grad.tolist() == [8, 8]
    assert log == ["side waits for default", "enter side", "default waits for side"]
    assert FakeStream.current.name == "default"


def test_the_callers_stream_waits_for_the_leaves(device):
    stream, log = device
    a, b = stream("a"), stream("b")
    x, w = on_device([1.0, 2.0]).requires_grad_(), on_device([3.0, 4.0]).requires_grad_()
    with a:
        y = x * w
    with b:
        z = y * y
    log.clear()
    with stream("caller"):
        z.backward(on_device([1.0, 1.0]))
        waited = [entry for entry in log if entry.startswith("caller waits")]
    assert waited == ["caller waits for a"] * 2
    assert log.index("b waits for caller") < log.index("enter b") < log.index("a waits for b") < log.index(waited[0])
    assert x.grad.tolist() == [18, 64]


def test_sums_of_gradients_from_two_streams_wait(device):
    stream, log = device
    a, b = stream("a"), stream("b")
    x = on_device([1.0, 2.0]).requires_grad_()
    y = x * 1
    with a:
        p = y * 2
    with b:
        q = y * 3
    log.clear()
    (g,) = grad(p + q, x, on_device([1.0, 1.0]))
    assert g.tolist() == [5, 5]
    assert "a waits for b" in log or "b waits for a" in log
    joined = [entry for entry in log if entry.startswith("default waits")]
    assert joined and log[-1] == joined[-1]


def test_asked_for_gradients_are_waited_for(device):
    stream, log = device
    side = stream("side")
    x = on_device([1.0, 2.0]).requires_grad_()
    with side:
        y = x * 3
        z = y * y
    log.clear()
    (g,) = grad(z, y, on_device([1.0, 1.0]))
    assert g.tolist() == [6, 12]
    assert log[-1] == "default waits for side"


def test_broadcast_operands_and_several_outputs(device):
    stream, log = device
    side = stream("side")
    x = on_device([[1.0, 2.0]]).requires_grad_()
    with side:
        y = x * on_device([[1.0], [2.0], [3.0]])
        a, b = (y * 1).sum(0).unbind()
        z = a * 3 + b
    z.backward(on_device(1.0))
    assert x.grad.tolist() == [[18, 6]]
    assert log[-1] == "default waits for side"


def test_hooks_run_on_the_stream(device):
    stream, _ = device
    side, seen = stream("side"), []
    x = on_device([1.0, 2.0]).requires_grad_()
    with side:
        y = x * 3
    y.register_hook(lambda g: seen.append(FakeStream.current.name))
    y.grad_fn.register_hook(lambda into, out: seen.append(FakeStream.current.name))
    x.register_hook(lambda g: seen.append(FakeStream.current.name))
    y.backward(on_device([1.0, 1.0]))
    assert seen == ["side", "side", "default"]


def test_the_cpu_beside_such_a_device_is_not_touched(device):
    _, log = device
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    assert y.grad_fn.rare is None
    y.sum().backward()
    assert log == [] and x.grad.tolist() == [2, 4]


def test_nothing_is_noted_without_such_a_device():
    assert streams.CURRENT == {}
    assert (tp.ones(2, requires_grad=True) * 2).grad_fn.rare is None
