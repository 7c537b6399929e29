"""Graphs and passes in several threads."""

import sys
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function, grad
from tensorplay.core.primitive import PRIMITIVES, primitive


@pytest.fixture(autouse=True)
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*works):
    errors = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def leaf(values=(1.0, 2.0)):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True)


def test_first_calls_from_several_threads_at_once():
    """The code of an operator and of its rule is generated when they are first called."""
    names = [f"doubled_in_threads_{i}" for i in range(40)]
    functions = [primitive(name, lambda xp, input: 2 * input, vjp={"input": lambda F, g: g * 2}) for name in names]
    barrier = threading.Barrier(6, timeout=10)

    def work():
        for f in functions:
            barrier.wait()
            x = leaf()
            f(x).sum().backward()
            np.testing.assert_allclose(x.grad.numpy(), [2, 2])

    try:
        in_threads(*[work] * 6)
    finally:
        for name in names:
            del PRIMITIVES[name]


@pytest.mark.parametrize("how", ["backward", "through operators", "first gradient"])
def test_passes_into_a_shared_leaf_lose_nothing(how):
    w = leaf()
    rounds, threads = (1 if how == "first gradient" else 100), 8

    def work():
        for _ in range(rounds):
            y = w * w if how != "through operators" else (w * w).exp().log() * 1
            y.sum().backward()

    for _ in range(20 if how == "first gradient" else 1):
        w.grad = None
        in_threads(*[work] * threads)
        np.testing.assert_allclose(w.grad.numpy(), 2 * rounds * threads * np.array([1.0, 2.0]))


def test_one_graph_run_by_several_threads():
    x = leaf()
    y = x
    for _ in range(50):
        y = (y * x).tanh()
    loss = y.sum()
    (expected,) = grad(loss, x, retain_graph=True)
    found = []
    in_threads(*[lambda: found.append(grad(loss, x, retain_graph=True)[0]) for _ in range(8)])
    for g in found:
        np.testing.assert_array_equal(g.numpy(), expected.numpy())


def test_a_graph_built_in_one_thread_and_run_in_another():
    x, made = leaf(), []
    in_threads(lambda: made.append((x * x).sum()))
    in_threads(lambda: made[0].backward())
    np.testing.assert_allclose(x.grad.numpy(), [2, 4])


def test_graphs_that_pass_between_threads_stay_sorted():
    x = leaf()
    shared = [x * 1]
    lock = threading.Lock()

    def work():
        for _ in range(100):
            with lock:
                t = shared[0]
            t = t * 1.0001
            with lock:
                shared[0] = shared[0] * 0.5 + t * 0.5

    in_threads(*[work] * 4)
    stack, seen = [shared[0].grad_fn], set()
    while stack:
        node = stack.pop()
        for edge in node.edges:
            if edge is not None:
                assert edge.order < node.order
                if edge not in seen:
                    seen.add(edge)
                    stack.append(edge)
    (g,) = grad(shared[0].sum(), x)
    np.testing.assert_allclose(g.numpy(), shared[0].detach().numpy() / x.detach().numpy())


def test_modes_of_a_pass_belong_to_its_thread():
    x, seen = leaf(), {}
    barrier = threading.Barrier(2, timeout=10)

    class Waits(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            barrier.wait()
            seen[threading.current_thread().name] = tp.is_grad_enabled()
            barrier.wait()
            return g * 1

    def run(create_graph):
        threading.current_thread().name = f"create_graph={create_graph}"
        grad(Waits.apply(x).sum(), x, create_graph=create_graph)
        assert tp.is_grad_enabled()

    in_threads(lambda: run(True), lambda: run(False))
    assert seen == {"create_graph=True": True, "create_graph=False": False}


def test_hooks_and_writes_from_several_threads():
    w = leaf()
    count, lock = [0], threading.Lock()

    def hook(g):
        with lock:
            count[0] += 1
        return g * 2

    w.register_hook(hook)
    in_threads(*[lambda: [(w * w).sum().backward() for _ in range(50)]] * 4)
    assert count == [200]
    np.testing.assert_allclose(w.grad.numpy(), 2 * 2 * 200 * np.array([1.0, 2.0]))


def test_optimizer_steps_in_post_accumulate_hooks_of_several_threads():
    weights = [leaf() for _ in range(4)]

    def step(w):
        w.data.sub_(w.grad)
        w.grad = None

    for w in weights:
        w.register_post_accumulate_grad_hook(step)

    def work(w):
        for _ in range(20):
            (w * 0.5).sum().backward()

    in_threads(*[lambda w=w: work(w) for w in weights])
    for w in weights:
        np.testing.assert_allclose(w.detach().numpy(), np.array([1.0, 2.0]) - 20 * 0.5)
