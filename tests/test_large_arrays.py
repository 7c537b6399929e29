"""Large arrays, whose parts several threads may share: what comes out, what goes wrong, and what is left alone."""

import os
import threading
import warnings

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.core import threads
from tensorplay.ops import kernels, pool

F = tp.nn.functional
LARGE = threads.ENOUGH


@pytest.fixture
def three_threads():
    before = tp.get_num_threads()
    tp.set_num_threads(3)
    yield
    tp.set_num_threads(before)


def in_company(work):
    """Parts of which the caller and another thread have one each, and the names of the threads that took them."""
    meeting, names = threading.Barrier(2, timeout=20), {}

    def part(i):
        names[i] = threading.current_thread().name
        meeting.wait()
        work(threading.current_thread() is threading.main_thread())

    return part, names


def test_threads_are_as_many_as_were_set(three_threads):
    meeting = threading.Barrier(3, timeout=20)  # passes only if three are there at once
    threads.share(lambda part: meeting.wait(), range(6), LARGE)
    assert tp.get_num_threads() == 3


@pytest.mark.parametrize("count, size", [(1, LARGE), (3, LARGE - 1)])
def test_one_thread_and_little_work_stay_with_the_caller(count, size):
    before, names = tp.get_num_threads(), set()
    tp.set_num_threads(count)
    try:
        threads.share(lambda part: names.add(threading.current_thread()), range(5), size)
    finally:
        tp.set_num_threads(before)
    assert names == {threading.current_thread()}


@pytest.mark.parametrize("count", [0, -1])
def test_a_number_of_threads_is_positive(count):
    with pytest.raises(RuntimeError, match="positive number of threads"):
        tp.set_num_threads(count)


@pytest.mark.parametrize("fails_in_caller", [True, False])
def test_an_exception_of_any_thread_reaches_the_caller(three_threads, fails_in_caller):
    def work(in_caller):
        if in_caller is fails_in_caller:
            raise KeyError("from a part")

    part, names = in_company(work)
    with pytest.raises(KeyError, match="from a part"):
        threads.share(part, range(2), LARGE)
    assert len(set(names.values())) == 2
    done = []
    threads.share(done.append, range(5), LARGE)  # the pool still works
    assert sorted(done) == list(range(5))


def test_how_numpy_treats_errors_is_carried_into_the_threads(three_threads):
    part, names = in_company(lambda in_caller: None if in_caller else np.float32(1) / np.zeros(1, np.float32))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        threads.share(part, range(2), LARGE)
    for state, wanted in (("warn", 1), ("ignore", 0)):
        part, names = in_company(lambda in_caller: None if in_caller else np.float32(1) / np.zeros(1, np.float32))
        with np.errstate(divide=state), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            threads.share(part, range(2), LARGE)
        assert len(caught) == wanted and len(set(names.values())) == 2


def test_shared_work_may_share_work(three_threads):
    done = []
    threads.share(lambda i: threads.share(lambda j: done.append((i, j)), range(4), LARGE), range(8), LARGE)
    assert sorted(done) == [(i, j) for i in range(8) for j in range(4)]


def test_several_threads_share_at_once_while_the_number_of_threads_changes(three_threads):
    done = [[] for _ in range(4)]

    def work(mine):
        for _ in range(50):
            threads.share(mine.append, range(4), LARGE)

    callers = [threading.Thread(target=work, args=(mine,)) for mine in done]
    for t in callers:
        t.start()
    for i in range(50):
        tp.set_num_threads(2 + i % 3)
    for t in callers:
        t.join()
    assert all(sorted(mine) == sorted([0, 1, 2, 3] * 50) for mine in done)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:.*fork.*:RuntimeWarning")
def test_a_forked_process_makes_threads_of_its_own(three_threads):
    threads.share(lambda part: None, range(4), LARGE)
    assert threads.workers.pool is not None
    child = os.fork()
    if child == 0:
        status = 1
        try:
            part, names = in_company(lambda in_caller: None)
            threads.share(part, range(2), LARGE)
            status = int(len(set(names.values())) != 2)
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("function", [F.gelu, lambda x: F.log_softmax(x, 1), lambda x: F.softmax(x, 1)])
def test_results_are_the_same_bits_with_any_number_of_threads(function):
    before = tp.get_num_threads()
    x = tp.randn(1100, 1000, generator=tp.Generator().manual_seed(0)).requires_grad_()
    assert x.numel() >= LARGE
    found = []
    try:
        for count in (1, 2, 3):
            tp.set_num_threads(count)
            y = function(x)
            found.append((y.detach(), *tp.autograd.grad((y * y).sum(), x)))
    finally:
        tp.set_num_threads(before)
    for values, grad in found[1:]:
        assert tp.equal(values, found[0][0]) and tp.equal(grad, found[0][1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_the_positive_part_of_large_arrays_in_any_order(dtype):
    """It goes row by row, with a rest, where elements lie densely."""
    x = np.random.default_rng(0).integers(-9, 9, (3, 20, 17, 101)).astype(dtype)
    if x.dtype.kind == "f":
        x[0, 0, 0, :3] = np.nan, -np.inf, np.inf
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    for array in (x, last, x.transpose(1, 0, 3, 2), x[:, ::2], np.broadcast_to(x[:1], x.shape)):
        got = F.relu(tp.from_numpy(array.copy("K") if not array.flags.writeable else array)).numpy()
        np.testing.assert_array_equal(got, np.maximum(array, 0))
    assert F.relu(tp.from_numpy(last)).is_contiguous(memory_format=tp.channels_last)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name, window, options", [
    ("max_pool2d", 3, {"stride": 2, "padding": 1}), ("max_pool2d", 2, {}), ("max_pool2d", 1, {"stride": 2}),
    ("avg_pool2d", 3, {"stride": 2, "padding": 1}), ("avg_pool2d", 2, {"ceil_mode": True}), ("max_pool3d", 2, {}),
])  # fmt: skip
def test_images_that_are_pooled_in_blocks(name, window, options, count, monkeypatch):
    shape = (3, 7, 9, 8) if name.endswith("2d") else (3, 7, 4, 5, 6)
    x = tp.randn(shape, generator=tp.Generator().manual_seed(0), dtype=tp.float64).requires_grad_()
    before, found = tp.get_num_threads(), []
    try:
        for large in (1 << 30, 1):
            monkeypatch.setattr(pool, "LARGE", large)
            monkeypatch.setattr(kernels, "BLOCK", 256)
            monkeypatch.setattr(threads, "ENOUGH", 1)
            tp.set_num_threads(count)
            y = getattr(F, name)(x, window, **options)
            found.append((y.detach(), *tp.autograd.grad(y, x, y.detach().cos())))
    finally:
        tp.set_num_threads(before)
    assert all(tp.equal(whole, blocks) for whole, blocks in zip(*found))
