"""A worker process: takes tasks, and sends what comes of them; ends when its loader does, whatever happens."""

from __future__ import annotations

import os
import pickle
import queue
import random
import selectors
import socket
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from .exchange import MOST, Outlet, pickled, receive
from .fetch import IterableFetcher

CHECK_INTERVAL = 5.0
"""Seconds after which a process that waits looks whether the other one is still there, should its end not show."""

GRACE = 5.0
"""Seconds that workers have for what they are doing when they are told to stop, before they are terminated."""

RESUME = "resume"

sockets_of_loaders: weakref.WeakSet[socket.socket] = weakref.WeakSet()
"""The ends of this process. A worker that is forked closes its copies, so that the end of this process shows."""


class WorkerInfo:
    """What :func:`get_worker_info` returns: ``id``, ``num_workers``, ``seed`` and ``dataset`` of a worker process."""

    id: int
    num_workers: int
    seed: int
    dataset: Any

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.__dict__.update(id=id, num_workers=num_workers, seed=seed, dataset=dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError(f"Cannot assign attributes to WorkerInfo objects: {name}")

    def __repr__(self) -> str:
        return f"WorkerInfo({', '.join(f'{k}={v}' for k, v in vars(self).items())})"


worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What a dataset has to know about the worker process that it is in; None in any other process.

    Returns
    -------
    WorkerInfo or None
        With the attributes ``id`` (from 0), ``num_workers``, ``seed`` (of this worker: the loader's base seed plus
        ``id``) and ``dataset`` (this process's copy of it).

    Examples
    --------
    >>> from tensorplay.utils.data import get_worker_info
    >>> get_worker_info() is None
    True
    """
    return worker_info


class EndOfDataset:
    """What a worker sends when its iterator has ended."""


class KeyErrorMessage(str):
    """A text that a KeyError shows with its line breaks."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception of another process, with its traceback as text."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind = type(error)
        text = "".join(traceback.format_exception(error))
        self.message = f"Caught {self.kind.__name__} {where}.\nOriginal {text}"

    def reraise(self) -> None:
        """Raise an exception of the same class, whose message ends with the traceback."""
        message = KeyErrorMessage(self.message) if self.kind is KeyError else self.message
        try:
            error = self.kind(message)
        except Exception:  # a class whose constructor wants something else
            raise RuntimeError(message) from None
        raise error


class Spec(NamedTuple):
    """What a worker has to know."""

    fetcher: Callable[[], Any]
    dataset: Any
    init_fn: Callable[[int], None] | None
    id: int
    num_workers: int
    base_seed: int


def seed_all(base_seed: int, worker_id: int) -> int:
    """Seed tensorplay's, Python's and NumPy's generators, differently in each worker; returns the worker's seed."""
    import numpy as np

    from ....core.generator import manual_seed

    seed = base_seed + worker_id
    manual_seed(seed)
    random.seed(seed)
    np.random.seed(np.random.SeedSequence((base_seed, worker_id)).generate_state(4))
    return seed


def worker_loop(spec: Spec, sock: socket.socket) -> None:
    """What a worker process runs."""
    global worker_info
    from ....core.threads import set_num_threads

    for inherited in list(sockets_of_loaders):
        inherited.close()
    set_num_threads(1)
    where = f"in DataLoader worker process {spec.id}"
    worker_info = WorkerInfo(spec.id, spec.num_workers, seed_all(spec.base_seed, spec.id), spec.dataset)
    outlet = Outlet(sock, max(4, MOST // spec.num_workers))
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(sock, tasks, outlet), daemon=True).start()
    try:
        fetcher: Any = None
        broken: ExceptionWrapper | None = None
        try:
            if spec.init_fn is not None:
                spec.init_fn(spec.id)
        except Exception as error:
            broken = ExceptionWrapper(error, where)
        while (task := tasks.get()) is not None:
            if task == RESUME:
                fetcher = None
                continue
            key, keys = task
            value: Any = broken
            if broken is None:
                try:
                    if fetcher is None:
                        fetcher = spec.fetcher()
                    value = fetcher.fetch(pickle.loads(keys))
                except StopIteration as error:
                    value = EndOfDataset() if isinstance(fetcher, IterableFetcher) else ExceptionWrapper(error, where)
                except Exception as error:
                    value = ExceptionWrapper(error, where)
            outlet.send(key, *packed(value, where))
    except (KeyboardInterrupt, ConnectionError):
        pass  # the loader's process was interrupted, too, or is gone: there is nobody to tell


def packed(value: Any, where: str) -> tuple[bytes, list[memoryview]]:
    """A value, ready to be sent; if it cannot be pickled, what that raises."""
    try:
        return pickled(value)
    except Exception as error:
        wrapper = value if isinstance(value, ExceptionWrapper) else ExceptionWrapper(error, where)
    try:
        return pickled(wrapper)
    except Exception:  # the class of the exception cannot be pickled
        wrapper.kind = RuntimeError
        return pickled(wrapper)


def listen(sock: socket.socket, tasks: queue.SimpleQueue[Any], outlet: Outlet) -> None:
    """Take in messages, so that the loader never waits to send one, and notice the loader's end."""
    parent = os.getppid()
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        try:
            while True:
                if not selector.select(CHECK_INTERVAL):
                    if os.getppid() != parent:
                        break
                    continue
                message = receive(sock)
                if message is None:
                    break
                task, returned = message
                outlet.returned.extend(returned)
                if task == RESUME:
                    empty(tasks)
                tasks.put(task)
        except (OSError, EOFError):
            pass
    empty(tasks)
    tasks.put(None)
    time.sleep(2 * GRACE)
    os._exit(1)  # still here: the loader would have terminated this process by now, if it could


def empty(tasks: queue.SimpleQueue[Any]) -> None:
    """Drop the tasks that nobody waits for any more."""
    try:
        while True:
            tasks.get_nowait()
    except queue.Empty:
        pass
