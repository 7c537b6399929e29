"""Compiled functions in several threads."""

import sys
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.compiler import explain
from tensorplay.core.tensor import tensors_alive

pytest.importorskip("jax", reason="compiling is JAX's part, which the extra 'xla' installs")


@pytest.fixture(autouse=True)
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
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


@pytest.mark.filterwarnings("ignore:compile.*by callback")
@pytest.mark.parametrize("n", [3, 4, 5])
def test_first_calls_of_one_function_at_once(n):
    def f(x, z, i):
        return x.median(0).values, tp.special.airy_ai(x), (x * i).mode(0).values, tp.linalg.eigvals(z)

    x, i = tp.randn(n, 5, dtype=tp.float64), tp.randint(0, 2**60, (n, 5))
    z = tp.randn(4, 4, dtype=tp.complex128)
    compiled, want, got = tp.compile(f), f(x, z, i), []
    in_threads(*[lambda: got.append(compiled(x, z, i))] * 4)
    assert len(got) == 4 and len(explain(compiled).programs) == 1
    for out in got:
        for a, b in zip(out, want):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-13, atol=1e-13)


def test_tuples_that_other_threads_build_while_a_function_is_compiled():
    """A tuple that is not finished must have one reference; the search for tensors must not be seen to hold it."""
    done = threading.Event()

    def build():
        while not done.is_set():
            for n in (5, 12, 30, 100):
                assert len(tuple(tp.Tensor for _ in range(n))) == n

    def search():
        try:
            for _ in range(100):
                tensors_alive()
            x = tp.ones(3)
            for k in range(5):
                assert tp.compile(lambda x: x * k)(x).tolist() == [k] * 3  # noqa: B023
        finally:
            done.set()

    in_threads(build, build, search)


def test_every_tensor_is_found():
    tensors = [tp.ones(1), tp.nn.Parameter(tp.ones(1)), tp.ones(2, requires_grad=True) * 2]
    found = tensors_alive()
    assert {id(t) for t in tensors} <= {id(t) for t in found}
    assert len(found) == len({id(t) for t in found}) and all(isinstance(t, tp.Tensor) for t in found)
