"""Tensors in shared memory, and processes that are spawned."""

import copy
import io
import os
import time

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import multiprocessing as mp
from tensorplay import nn

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="memory is shared by descriptors"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*multi-?threaded, use of fork:DeprecationWarning"),
]
METHODS = ["fork", "spawn"]


@pytest.mark.parametrize(
    "t",
    [
        tp.arange(6.0).view(2, 3),
        tp.arange(6).view(2, 3).t(),
        tp.tensor(2.0),
        tp.empty(0, 3),
        tp.ones(2, dtype=tp.bfloat16),
    ],
    ids=["matrix", "transpose", "number", "empty", "bfloat16"],
)
def test_shared_tensors_keep_values_and_strides(t):
    before, shape, strides = t.tolist(), t.shape, t.stride()
    assert not t.is_shared() and t.share_memory_() is t and t.share_memory_().is_shared()
    assert (t.tolist(), t.shape, t.stride()) == (before, shape, strides)
    assert t.detach().is_shared() and not t.clone().is_shared() and not copy.deepcopy(t).is_shared()


def test_modules_are_shared_and_train_saved_and_copied_as_before():
    model = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
    model(tp.ones(3, 2)).sum().backward()
    assert model.share_memory() is model
    assert all(t.is_shared() for t in [*model.parameters(), *model.buffers(), model[0].weight.grad])
    assert isinstance(model[0].weight, nn.Parameter)
    tp.optim.SGD(model.parameters(), lr=0.1).step()
    file = io.BytesIO()
    tp.save(model.state_dict(), file)
    file.seek(0)
    assert all(tp.equal(v, model.state_dict()[k]) and not v.is_shared() for k, v in tp.load(file).items())
    assert not copy.deepcopy(model)[0].weight.is_shared()


@pytest.mark.parametrize(
    "share",
    [
        lambda: tp.arange(4.0)[:2].share_memory_(),
        lambda: tp.ones(1).expand(3).share_memory_(),
        lambda: tp.empty(2, device="meta").share_memory_(),
        lambda: tp.vmap(lambda x: x.share_memory_())(tp.ones(2)),
    ],
    ids=["part", "expanded", "meta", "vmap"],
)
def test_what_cannot_be_shared_is_refused(share):
    with pytest.raises(RuntimeError, match=r"share_memory_\(\): the tensor (is part|has no memory of its own)"):
        share()


def double_and_answer(model, queue, done):
    with tp.no_grad():
        model.weight.mul_(2)
    queue.put({"again": model.weight, "part": model.weight.detach()[0, 1:], "other": tp.ones(2)})
    done.wait()


@pytest.mark.parametrize("method", METHODS)
def test_what_a_process_writes_shows(method):
    context = mp.get_context(method)
    model = nn.Linear(3, 1, bias=False).share_memory()
    start, queue, done = model.weight.tolist(), context.Queue(), context.Event()
    process = context.Process(target=double_and_answer, args=(model, queue, done))
    process.start()
    came = queue.get(timeout=60)
    done.set()
    process.join()
    assert process.exitcode == 0
    np.testing.assert_array_equal(model.weight.detach(), 2 * np.array(start, np.float32))
    again, part = came["again"], came["part"]
    assert isinstance(again, nn.Parameter) and again.requires_grad and again.is_shared()
    with tp.no_grad():
        model.weight.fill_(5)
    assert again.tolist() == [[5, 5, 5]] and part.tolist() == [5, 5]
    assert came["other"].tolist() == [1, 1] and not came["other"].is_shared()


@pytest.mark.parametrize("share", [False, True])
def test_results_with_a_history_are_not_sent(share):
    receiver, sender = mp.Pipe(duplex=False)
    result = tp.ones(2, requires_grad=True) * 2
    if share:
        result.share_memory_()
    with receiver, sender:
        with pytest.raises(RuntimeError, match=r"cannot be sent.*call detach\(\)"):
            sender.send([result])
        sender.send([result.detach(), tp.ones(2, requires_grad=True)])
        detached, leaf = receiver.recv()
    assert detached.tolist() == [2, 2] and not detached.requires_grad and leaf.requires_grad


def take_a_step(shared, optimizer):
    own = copy.deepcopy(shared)
    own(tp.ones(1, 3)).sum().backward()
    for mine, its in zip(own.parameters(), shared.parameters()):
        its._grad = mine.grad
    optimizer.step()


@pytest.mark.parametrize("name", ["Adam", "Adagrad"])
def test_an_optimizer_in_another_process_moves_shared_parameters_by_shared_state(name):
    shared = nn.Linear(3, 1, bias=False)
    other = copy.deepcopy(shared)
    models = [(model, getattr(tp.optim, name)(model.parameters(), lr=0.1)) for model in (shared, other)]
    for model, optimizer in models:
        take_a_step(model, optimizer)
    shared.share_memory()
    if name == "Adagrad":
        models[0][1].share_memory()
    else:
        for state in models[0][1].state.values():
            for value in state.values():
                value.share_memory_()
    process = mp.get_context("fork").Process(target=take_a_step, args=models[0])
    process.start()
    process.join()
    take_a_step(*models[1])
    assert tp.equal(shared.weight, other.weight)
    keys = ["sum"] if name == "Adagrad" else ["step", "exp_avg", "exp_avg_sq"]
    (mine,), (its,) = (optimizer.state.values() for _, optimizer in models)
    assert all(tp.equal(mine[key], its[key]) for key in keys)


def test_memory_goes_with_its_last_tensor():
    def open_files():
        return len(os.listdir("/proc/self/fd"))

    if not os.path.exists("/proc/self/fd"):
        pytest.skip("the system does not list descriptors")
    tp.ones(1).share_memory_()
    before = open_files()
    kept = tp.ones(10).share_memory_()
    part = kept[2:]
    assert open_files() > before
    del kept
    assert open_files() > before and part.sum() == 8
    del part
    assert open_files() == before


def add_number(i, total):
    total[i] += i + 1


def fail_in_one(i, how):
    if i == 1:
        how()
    time.sleep(60)


def say_no():
    raise ValueError("no")


def end():
    os._exit(3)


def die():
    os.kill(os.getpid(), 9)


@pytest.mark.parametrize("method", METHODS)
def test_spawn_runs_a_function_by_number(method):
    total = tp.zeros(3).share_memory_()
    assert mp.spawn(add_number, (total,), nprocs=3, start_method=method) is None
    assert total.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "how, error, match",
    [
        (say_no, mp.ProcessRaisedException, "(?s)Process 1 terminated.*in say_no.*ValueError: no"),
        (end, mp.ProcessExitedException, "process 1 terminated with exit code 3"),
        (die, mp.ProcessExitedException, "process 1 terminated with signal SIGKILL"),
    ],
)
def test_a_process_that_fails_ends_the_others(how, error, match):
    started = mp.spawn(fail_in_one, (how,), nprocs=2, join=False, start_method="fork")
    assert started is not None
    with pytest.raises(error, match=match) as caught:
        while not started.join():
            pass
    assert caught.value.error_index == 1 and caught.value.pid == started.pids()[1]
    assert not any(process.is_alive() for process in started.processes)


def test_strategies_are_kept():
    for name in mp.get_all_sharing_strategies():
        mp.set_sharing_strategy(name)
        assert mp.get_sharing_strategy() == name
    with pytest.raises(AssertionError, match="file_descriptor"):
        mp.set_sharing_strategy("mail")
