"""Worker processes of the DataLoader: order, seeds, how they start, fail, die and end, and how batches travel."""

import gc
import multiprocessing
import os
import pickle
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    Sampler,
    TensorDataset,
    dataloader,
    get_worker_info,
)
from tensorplay.utils.data._utils import exchange, worker

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),  # of the tests' own forks, where XLA has threads
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]
METHODS = multiprocessing.get_all_start_methods()
LIMIT = 120  # seconds after which a test is taken to hang

needs_fork = pytest.mark.skipif("fork" not in METHODS, reason="datasets of this test are no names of a module")


@pytest.fixture(autouse=True)
def no_hang_and_nothing_left(monkeypatch):
    """A test that hangs fails, and so does one that leaves processes or open files behind."""

    def hangs(*_):
        raise TimeoutError(f"the test did not end within {LIMIT} s")

    old = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(LIMIT)
    gc.collect()
    before = descriptors()
    yield
    gc.collect()
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)
    assert not multiprocessing.active_children()
    assert descriptors() <= before


def descriptors():
    """Open files of this process; those that multiprocessing keeps for itself are left out."""
    try:
        found = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if exists(fd)]
    except OSError:
        return 0
    return sum("socket" in target or "memfd" in target for target in found)


def exists(fd):
    return os.path.lexists(f"/proc/self/fd/{fd}")


def wait_until(condition):
    """Wait for something that has to come."""
    while not condition():
        time.sleep(0.01)


def is_running(pid):
    """Whether a process is there, and not merely its entry."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc").exists()
    except OSError:
        return False


class Rows(Dataset):
    """Samples of several kinds, large enough not to go through the socket."""

    def __init__(self, n=11, size=2000):
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return {"x": np.full(self.size, index, np.float32), "y": index, "z": (tp.full((3,), index), str(index))}


class Shared(IterableDataset):
    """Numbers, of which each worker takes its share."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        return iter(range(self.n) if info is None else range(info.id, self.n, info.num_workers))


class Call(Dataset):
    """Samples are what a function makes of their key."""

    def __init__(self, function, n=8):
        self.function, self.n = function, n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return self.function(index)


def same(batch):
    """A batch as values that can be compared."""
    if isinstance(batch, tp.Tensor):
        return batch.dtype, batch.tolist()
    if isinstance(batch, dict):
        return {key: same(value) for key, value in batch.items()}
    return [same(value) for value in batch] if isinstance(batch, (list, tuple)) else batch


# ---- the same as without


@pytest.mark.parametrize("workers, persistent, prefetch", [(1, False, None), (2, True, 1), (3, False, 5)])
@pytest.mark.parametrize("size, drop_last", [(None, False), (3, False), (3, True), (50, False)])
def test_order_is_the_same_as_without_workers(workers, persistent, prefetch, size, drop_last):
    expected = [same(batch) for batch in DataLoader(Rows(), size, drop_last=drop_last)]
    loader = DataLoader(
        Rows(), size, drop_last=drop_last, num_workers=workers, persistent_workers=persistent, prefetch_factor=prefetch
    )
    for _ in range(2):
        assert [same(batch) for batch in loader] == expected
    assert len(loader) == len(expected) == len(iter(loader))


@pytest.mark.parametrize("method", METHODS)
def test_start_methods(method):
    loader = DataLoader(Rows(5), 2, num_workers=1, multiprocessing_context=method)
    assert [same(batch) for batch in loader] == [same(batch) for batch in DataLoader(Rows(5), 2)]


def test_shuffling_is_the_same_as_without_workers():
    def order(workers):
        tp.manual_seed(4)
        return [batch["y"].tolist() for _ in range(2) for batch in DataLoader(Rows(), 4, True, num_workers=workers)]

    assert order(0) == order(2)


@pytest.mark.parametrize(
    "n, size, expected",
    [
        (7, 2, [[0, 2], [1, 3], [4, 6], [5]]),
        (6, None, [0, 1, 2, 3, 4, 5]),
        (1, 2, [[0]]),
        (0, 2, []),
    ],
)
@pytest.mark.parametrize("persistent", [False, True])
def test_iterated_datasets_take_turns(n, size, expected, persistent):
    loader = DataLoader(Shared(n), size, num_workers=2, persistent_workers=persistent)
    for _ in range(3):
        assert [batch.tolist() if size else batch for batch in loader] == expected


@needs_fork
def test_batches_come_as_they_get_ready():
    go = multiprocessing.get_context("fork").Event()

    def value(index):
        if index == 0:
            go.wait()
        return index

    iterator = iter(DataLoader(Call(value, 6), None, num_workers=2, in_order=False, multiprocessing_context="fork"))
    first = [next(iterator) for _ in range(3)]
    go.set()
    assert 0 not in first and sorted([*first, *iterator]) == list(range(6))


def test_loaders_are_used_side_by_side():
    loader = DataLoader(Rows(4), 2, num_workers=1)
    pairs = [(a["y"].tolist(), b["y"].tolist()) for a in loader for b in loader]
    assert pairs == [([0, 1], [0, 1]), ([0, 1], [2, 3]), ([2, 3], [0, 1]), ([2, 3], [2, 3])]


def test_loader_in_a_thread():
    found = queue.Queue()
    thread = threading.Thread(
        target=lambda: found.put([b["y"].tolist() for b in DataLoader(Rows(4), 2, num_workers=1)])
    )
    thread.start()
    thread.join()
    assert found.get_nowait() == [[0, 1], [2, 3]]


# ---- what a worker knows


def numbers_of_worker(index):
    info = get_worker_info()
    drawn = tp.randint(2**31, ()).item(), random.random(), np.random.random()
    return info.id, info.num_workers, info.seed, len(info.dataset), drawn, tp.get_num_threads(), os.getpid()


def test_workers_are_seeded():
    def samples():
        tp.manual_seed(11)
        return list(DataLoader(Call(numbers_of_worker, 6), None, num_workers=2))

    first, second = samples(), samples()
    assert [sample[:5] for sample in first] == [sample[:5] for sample in second]
    assert [sample[0] for sample in first] == [0, 1] * 3
    assert {(sample[1], sample[3]) for sample in first} == {(2, 6)}
    assert first[1][2] == first[0][2] + 1
    for kind in range(3):
        assert len({sample[4][kind] for sample in first}) == 6
    assert {sample[5] for sample in first} == {1} and os.getpid() not in {sample[6] for sample in first}
    assert samples()[0][2] != list(DataLoader(Call(numbers_of_worker, 2), None, num_workers=2))[0][2]


def test_worker_info():
    info = worker.WorkerInfo(1, 2, 3, "data")
    assert repr(info) == "WorkerInfo(id=1, num_workers=2, seed=3, dataset=data)"
    with pytest.raises(RuntimeError, match="Cannot assign"):
        info.id = 2
    assert get_worker_info() is None


@needs_fork
def test_worker_init_fn_runs_after_seeding():
    loader = DataLoader(
        Call(lambda i: np.random.random()), None, num_workers=2, multiprocessing_context="fork",
        worker_init_fn=lambda worker_id: np.random.seed(worker_id),
    )  # fmt: skip
    expected = [np.random.RandomState(i).random(4).tolist() for i in range(2)]
    assert list(loader) == [expected[i % 2][i // 2] for i in range(8)]


def test_persistent_workers_stay():
    loader = DataLoader(Call(numbers_of_worker, 4), None, num_workers=2, persistent_workers=True)
    passes = [{sample[6] for sample in loader} for _ in range(3)]
    assert passes[0] == passes[1] == passes[2] and len(passes[0]) == 2
    iterator = iter(loader)
    assert next(iterator)[0] == 0 and len(list(loader)) == 4  # the second pass begins anew
    assert all(is_running(pid) for pid in passes[0])
    del iterator, loader
    gc.collect()
    assert not any(is_running(pid) for pid in passes[0])


# ---- exceptions


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


def raising(error):
    def function(index):
        if index == 2:
            raise error
        return index

    return function


@needs_fork
@pytest.mark.parametrize(
    "error, kind, text",
    [
        (ValueError("so not"), ValueError, "ValueError: so not"),
        (KeyError("key"), KeyError, "KeyError: 'key'"),
        (Odd(1, 2), RuntimeError, r"Odd: \(1, 2\)"),
        (UnicodeDecodeError("utf8", b"x", 0, 1, "bad"), RuntimeError, "UnicodeDecodeError"),
        (type("Local", (Exception,), {})("here"), RuntimeError, "Local: here"),
    ],
)
def test_exceptions_of_a_dataset(error, kind, text):
    iterator = iter(DataLoader(Call(raising(error), 4), None, num_workers=2, multiprocessing_context="fork"))
    assert [next(iterator), next(iterator)] == [0, 1]
    with pytest.raises(kind, match="(?s)in DataLoader worker process 0.*Traceback.*in function.*" + text):
        next(iterator)
    assert list(iterator) == [3]


def fails(*_):
    raise ZeroDivisionError("on purpose")


class Failing(IterableDataset):
    def __iter__(self):
        yield 1
        fails()


@pytest.mark.parametrize(
    "arguments, method",
    [
        ({"dataset": Rows(), "collate_fn": fails}, METHODS[0]),
        ({"dataset": Rows(), "worker_init_fn": fails}, METHODS[0]),
        ({"dataset": Failing(), "batch_size": 2}, METHODS[0]),
        ({"dataset": Rows(), "worker_init_fn": fails}, "spawn"),
    ],
)
def test_exceptions_of_functions(arguments, method):
    iterator = iter(DataLoader(**arguments, num_workers=1, multiprocessing_context=method))
    with pytest.raises(ZeroDivisionError, match="(?s)worker process 0.*in fails.*on purpose"):
        next(iterator)


@needs_fork
def test_samples_that_cannot_be_sent():
    iterator = iter(DataLoader(Call(lambda i: (lambda: i) if i == 1 else i, 3), None, num_workers=1))
    assert next(iterator) == 0
    with pytest.raises((AttributeError, pickle.PicklingError), match="(?s)worker process 0.*(pickle|local object)"):
        next(iterator)
    assert next(iterator) == 2


def not_again():
    raise LookupError("not again")


class Once:
    def __reduce__(self):
        return not_again, ()


def make_once(index):
    return Once() if index == 0 else index


def test_samples_that_cannot_be_read():
    iterator = iter(DataLoader(Call(make_once, 2), None, num_workers=1))
    with pytest.raises(LookupError, match="(?s)on the way.*not again"):
        next(iterator)
    assert next(iterator) == 1


def test_keys_that_cannot_be_read_or_sent():
    class Keys(Sampler):
        def __iter__(self):
            return iter([0, Once(), 2, lambda: 3, 4])

    iterator = iter(DataLoader(Call(abs), None, sampler=Keys(), num_workers=1, prefetch_factor=1))
    assert next(iterator) == 0
    with pytest.raises(LookupError, match="(?s)worker process 0.*not again"):
        next(iterator)
    assert next(iterator) == 2
    with pytest.raises((AttributeError, pickle.PicklingError), match="pickle|local object"):
        next(iterator)
    assert list(iterator) == [4]


@pytest.mark.parametrize("method", [method for method in METHODS if method != "fork"])
def test_datasets_that_cannot_be_sent(method):
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="pickle|local object"):
        iter(DataLoader(Call(lambda i: i), num_workers=2, multiprocessing_context=method))


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_a_sampler_comes_in_its_turn(workers):
    def keys():
        yield from range(5)
        fails()

    iterator = iter(DataLoader(range(9), None, sampler=keys(), num_workers=workers))
    assert [next(iterator) for _ in range(5)] == list(range(5))
    with pytest.raises(ZeroDivisionError, match="^on purpose$"):
        next(iterator)
    assert list(iterator) == []


# ---- death


def killed(index):
    if index == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return index


def exits(index):
    if index == 3:
        os._exit(5)
    return index


def leaves(index):
    if index == 3:
        sys.exit(6)
    return index


@pytest.mark.parametrize(
    "function, how, method",
    [
        (killed, "SIGKILL", METHODS[0]),
        (exits, "exit code 5", METHODS[0]),
        (leaves, "exit code 6", METHODS[0]),
        (leaves, "exit code 6", "spawn"),
    ],
)
def test_a_worker_that_dies_is_an_error(function, how, method):
    iterator = iter(DataLoader(Call(function, 9), None, num_workers=2, multiprocessing_context=method))
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly.*{how}"):
        list(iterator)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(iterator)


def test_a_persistent_loader_starts_workers_anew_after_one_died():
    loader = DataLoader(Call(numbers_of_worker, 4), None, num_workers=1, persistent_workers=True)
    (pid,) = {sample[6] for sample in loader}
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="SIGKILL"):
        list(loader)
    assert {sample[6] for sample in loader} != {pid}


def wait_for_death(index):
    time.sleep(LIMIT)


def test_a_worker_that_is_killed_while_others_wait(monkeypatch):
    monkeypatch.setattr(dataloader, "GRACE", 0.2)
    iterator = iter(DataLoader(Call(wait_for_death), None, num_workers=2))
    victim = iterator._workers[1].process.pid
    threading.Timer(0.2, os.kill, (victim, signal.SIGKILL)).start()
    with pytest.raises(RuntimeError, match=f"{victim}.*SIGKILL"):
        next(iterator)


@needs_fork
def test_death_shows_although_another_process_holds_the_socket(monkeypatch):
    monkeypatch.setattr(dataloader, "CHECK_INTERVAL", 0.1)
    reader, writer = os.pipe()

    def orphan(index):
        if os.fork() == 0:
            os.close(writer)
            os.read(reader, 1)  # until the test ends
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)

    iterator = iter(DataLoader(Call(orphan), None, num_workers=1, multiprocessing_context="fork"))
    with pytest.raises(RuntimeError, match="SIGKILL"):
        next(iterator)
    os.close(writer)
    os.close(reader)


def stuck(index):
    if index:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(LIMIT)
    return index


def test_timeout(monkeypatch):
    monkeypatch.setattr(dataloader, "GRACE", 0.2)
    iterator = iter(DataLoader(Call(stuck), None, num_workers=1, timeout=1))
    assert next(iterator) == 0
    for _ in range(2):
        with pytest.raises(RuntimeError, match="timed out after 1 seconds"):
            next(iterator)


def test_a_worker_that_was_stopped_goes_on():
    loader = DataLoader(range(10**6), 10**5, num_workers=1, timeout=1, collate_fn=len, prefetch_factor=4)
    iterator = iter(loader)
    assert next(iterator) == 10**5
    pid = iterator._workers[0].process.pid
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(RuntimeError, match="timed out"):
        list(iterator)
    iterator._timeout = 0
    os.kill(pid, signal.SIGCONT)
    assert {10**5} == set(iterator)


# ---- the end


@pytest.mark.parametrize("taken", [0, 1, 5])
@pytest.mark.parametrize("persistent", [False, True])
def test_iterators_are_abandoned(taken, persistent):
    loader = DataLoader(Rows(50), 2, num_workers=2, persistent_workers=persistent)
    iterator = iter(loader)
    pids = [worker.process.pid for worker in iterator._workers]
    for _ in range(taken):
        next(iterator)
    del iterator, loader
    gc.collect()
    assert not any(is_running(pid) for pid in pids)


def test_workers_end_with_the_pass():
    iterator = iter(DataLoader(Rows(3), num_workers=2))
    pids = [worker.process.pid for worker in iterator._workers]
    assert len(list(iterator)) == 3 and not any(is_running(pid) for pid in pids)
    with pytest.raises(StopIteration):
        next(iterator)


def inner_loader(index):
    return [batch.tolist() for batch in DataLoader(range(index, index + 3), 2)]


def inner_workers(index):
    return list(DataLoader(range(3), num_workers=1))


def test_loaders_within_workers():
    assert list(DataLoader(Call(inner_loader, 2), None, num_workers=2)) == [[[0, 1], [2]], [[1, 2], [3]]]
    with pytest.raises(AssertionError, match="daemonic"):  # what Python says; workers of workers could be left behind
        list(DataLoader(Call(inner_workers, 1), None, num_workers=1))


SCRIPT = """
import os, signal, sys, threading, time
import tensorplay as tp
from tensorplay.utils.data import DataLoader
from tensorplay.utils.data._utils import worker

worker.GRACE = 0.5

class Slow:
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        if {slow}:
            threading.Thread(target=time.sleep, args=(600,)).start()
            time.sleep(600)
        return tp.zeros(5000)

if __name__ == "__main__":
    loader = DataLoader(Slow(), 2, num_workers=2, multiprocessing_context={method!r}, persistent_workers={persistent})
    iterator = iter(loader)
    if not {slow}:
        next(iterator)
    print(*[worker.process.pid for worker in iterator._workers], flush=True)
    {end}
"""


def run_script(tmp_path, **options):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(**{"slow": False, "persistent": False, "method": METHODS[0], **options}))
    result = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=LIMIT)
    pids = [int(pid) for pid in result.stdout.split()]
    assert len(pids) == 2
    return result, pids


@pytest.mark.parametrize(
    "end, code, method, persistent",
    [
        ("pass", 0, METHODS[0], False),
        ("pass", 0, METHODS[0], True),
        ("sys.exit(3)", 3, METHODS[0], False),
        ("del iterator", 0, METHODS[0], False),
        ("pass", 0, "spawn", False),
    ],
)
def test_the_interpreter_exits_with_live_workers(tmp_path, end, code, method, persistent):
    result, pids = run_script(tmp_path, end=end, method=method, persistent=persistent)
    assert (result.returncode, result.stderr) == (code, "")
    assert not any(is_running(pid) for pid in pids)


@pytest.mark.parametrize("slow", [False, True])
def test_workers_end_when_their_loader_is_killed(tmp_path, slow):
    result, pids = run_script(tmp_path, end="os.kill(os.getpid(), signal.SIGKILL)", slow=slow)
    assert result.returncode == -signal.SIGKILL
    wait_until(lambda: not any(is_running(pid) for pid in pids))


@needs_fork
def test_a_forked_copy_of_an_iterator_is_of_no_use_and_does_no_harm():
    iterator = iter(DataLoader(Rows(20), 2, num_workers=2))
    next(iterator)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            next(iterator)
        except RuntimeError:
            code = 7
        finally:
            iterator._finalizer()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert len(list(iterator)) == 9


# ---- how batches travel


def test_memory_that_is_kept_is_not_used_again():
    loader = DataLoader(Rows(60, 5000), 2, num_workers=2)
    kept = list(loader)
    assert [batch["x"][:, 0].tolist() for batch in kept] == [[2 * i, 2 * i + 1] for i in range(30)]
    assert all(bool((batch["x"] == batch["x"][:, :1]).all()) for batch in kept)
    parts = [batch["x"][1] for batch in loader]  # views keep it, too
    assert [part[-1].item() for part in parts] == list(range(1, 60, 2))
    kept[0]["x"].add_(1)
    assert kept[0]["x"][0, 0] == 1 and kept[1]["x"][0, 0] == 2


@pytest.mark.skipif(not exchange.CAN_SHARE, reason="descriptors cannot be sent")
def test_memory_that_is_let_go_is_used_again():
    iterator = iter(DataLoader(Rows(200, 5000), 2, num_workers=1))
    places = set()
    for batch in iterator:
        places.add(batch["x"].data_ptr())
        segments = len(iterator._workers[0].inlet.segments) if iterator._workers else 0
        assert segments <= 6
    assert len(places) <= 6


@needs_fork
def test_memory_that_a_forked_process_reads_is_not_used_again():
    iterator = iter(DataLoader(Rows(80, 5000), 2, num_workers=1))
    batch = next(iterator)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        os.read(reader, 1)  # until the other process has gone on
        os._exit(0 if bool((batch["x"][1] == 1).all()) else 1)
    os.close(reader)
    del batch
    assert len(list(iterator)) == 39
    os.close(writer)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@needs_fork
@pytest.mark.parametrize("most", [0, 1])
def test_without_memory_to_share(monkeypatch, most):
    expected = [same(batch) for batch in DataLoader(Rows(9, 100_000), 4)]
    if most:
        monkeypatch.setattr(exchange.Outlet, "place", lambda self, size: None)
    else:
        monkeypatch.setattr(exchange, "CAN_SHARE", False)
    assert [same(batch) for batch in DataLoader(Rows(9, 100_000), 4, num_workers=2)] == expected


@needs_fork
def test_segments_that_are_files(monkeypatch):
    for name in ("memfd_create", "posix_fallocate"):
        monkeypatch.delattr(os, name, raising=False)
    assert [batch["y"].item() for batch in DataLoader(Rows(5), num_workers=1)] == list(range(5))


@needs_fork
def test_large_tasks_and_large_answers_do_not_wait_for_each_other(monkeypatch):
    monkeypatch.setattr(exchange, "CAN_SHARE", False)
    n = 200_000
    data = TensorDataset(tp.arange(n))
    batches = list(DataLoader(data, n // 2, num_workers=1, prefetch_factor=8, batch_sampler=None, shuffle=True))
    assert sorted(tp.cat([x for (x,) in batches]).tolist()) == list(range(n))


WHOLE = tp.arange(1_000_000.0)


def tensors(index):
    leaf = tp.ones(600, requires_grad=True)
    view = WHOLE[index : index + 2]
    return {
        "array": np.ones(900),
        "bfloat16": tp.full((700,), index, dtype=tp.bfloat16),
        "bool": tp.ones(5000, dtype=tp.bool),
        "complex": tp.full((600,), 1j),
        "empty": tp.zeros(0, 3),
        "leaf": leaf,
        "parameter": tp.nn.Parameter(tp.ones(600)),
        "part": tp.nn.Parameter(WHOLE[index : index + 600]),
        "pickled": len(exchange.pickled(view)[0]),
        "same": (leaf, leaf),
        "strided": WHOLE[: 10 * index + 10].reshape(-1, 10).T,
        "text": "a" * 10_000,
        "view": view,
    }


def test_tensors_of_all_kinds():
    for index, sent in enumerate(DataLoader(Call(tensors, 3), None, num_workers=1, collate_fn=dict)):
        expected = tensors(index)
        assert sent["pickled"] < 1000  # a view takes no more than its own elements along
        assert sent["same"][0] is sent["same"][1] is sent["leaf"]
        assert sent["leaf"].is_leaf and sent["leaf"].requires_grad and not sent["view"].requires_grad
        assert type(sent["parameter"]) is tp.nn.Parameter and type(sent["array"]) is np.ndarray
        for name in set(sent) - {"same", "pickled"}:
            value, wanted = sent[name], expected[name]
            assert (same(value) == same(wanted)) if name != "array" else np.array_equal(value, wanted)
        sent["array"] += 1  # what was sent can be written to
        sent["bfloat16"].add_(1)
        sent["strided"].add_(1)


def recorded(index):
    return tp.ones(2, requires_grad=True) * 2


def test_history_does_not_travel():
    with pytest.raises(RuntimeError, match="(?s)worker process 0.*detach"):
        list(DataLoader(Call(recorded), None, num_workers=1))


def test_workers_are_forked_without_a_warning_where_jax_is_at_work():
    jax = pytest.importorskip("jax", reason="the threads are those of the extra `xla`")
    jax.numpy.ones(2).block_until_ready()
    loader = DataLoader(range(6), batch_size=2, num_workers=2, multiprocessing_context="fork")
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5]]
