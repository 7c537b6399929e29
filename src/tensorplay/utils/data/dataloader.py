"""The DataLoader: batches of a dataset, made in this process or in others."""

from __future__ import annotations

import functools
import itertools
import os
import pickle
import selectors
import signal
import socket
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from ...core.generator import Generator
from ._utils.collate import default_collate, default_convert
from ._utils.exchange import Inlet, Message, framed
from ._utils.fetch import IterableFetcher, MapFetcher
from ._utils.worker import (
    CHECK_INTERVAL,
    GRACE,
    RESUME,
    EndOfDataset,
    ExceptionWrapper,
    Spec,
    get_worker_info,
    sockets_of_loaders,
    worker_loop,
)
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, random_seed

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)

FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _DatasetKind:
    """How the samples of a dataset are got at."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, *args: Any) -> MapFetcher | IterableFetcher:
        """What gets them: of ``(dataset, auto_collation, collate_fn, drop_last)``."""
        return (MapFetcher if kind == _DatasetKind.Map else IterableFetcher)(*args)


class _InfiniteConstantSampler(Sampler[Any]):
    """The keys of an iterable-style dataset, which has none."""

    def __iter__(self) -> Iterator[Any]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Batches of a dataset, in a given or random order, made by this process or by worker processes.

    Each ``iter(loader)`` is a pass over the dataset. With workers, a pass gives the same batches in the same order as
    without; up to ``prefetch_factor`` batches per worker are made ahead. Batches travel through memory that both
    processes map, not through a pipe. An exception in a worker is raised here, as its class with its traceback in the
    message; a worker that dies is a RuntimeError.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
        Anything with ``__getitem__`` and ``__len__``, or an :class:`IterableDataset`.
    batch_size : int, optional
        Samples per batch; None for single samples.
    shuffle : bool, optional
        Whether each pass has a new random order.
    sampler : Sampler or iterable, optional
        The order of the keys, instead of ``shuffle``.
    batch_sampler : Sampler or iterable, optional
        Lists of keys, instead of ``batch_size``, ``shuffle``, ``sampler`` and ``drop_last``.
    num_workers : int
        How many processes make batches; 0: this one does, when it is asked for one.
    collate_fn : callable, optional
        Makes a batch of a list of samples; :func:`default_collate` if left out, or, for single samples,
        :func:`default_convert`.
    pin_memory : bool
        Accepted with a warning: there is no accelerator to pin memory for.
    drop_last : bool
        Whether to leave out the last batch if it is smaller.
    timeout : float
        Seconds to wait for a batch of a worker; 0: as long as it lives.
    worker_init_fn : callable, optional
        Called as ``worker_init_fn(worker_id)`` in each worker at its start, after seeding.
    multiprocessing_context : str or context, optional
        How workers are started: "fork", "spawn" or "forkserver", or a context of ``multiprocessing``. Under "spawn" and
        "forkserver" the dataset and the functions have to be picklable, and the main module importable.
    generator : Generator, optional
        Source of the order, and of the base seed of the workers; the default generator if left out.
    prefetch_factor : int, optional
        Batches made ahead by each worker; 2 if left out.
    persistent_workers : bool
        Whether workers live on for the next pass.
    pin_memory_device : str
        Accepted, as ``pin_memory`` is.
    in_order : bool
        With False, batches come as they get ready.

    Raises
    ------
    ValueError
        If arguments are out of range, or exclude one another.

    See Also
    --------
    get_worker_info

    Notes
    -----
    Worker ``i`` seeds tensorplay's and Python's generators with ``base_seed + i``, and NumPy's with a mixture of the
    two; ``base_seed`` is drawn once for each pass, so :func:`tensorplay.manual_seed` makes runs repeat.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.data import DataLoader, TensorDataset
    >>> data = TensorDataset(tp.arange(5), tp.arange(5) ** 2)
    >>> for x, y in DataLoader(data, batch_size=2):
    ...     print(x, y)
    tensor([0, 1]) tensor([0, 1])
    tensor([2, 3]) tensor([4, 9])
    tensor([4]) tensor([16])
    >>> loader = DataLoader(data, batch_size=2, shuffle=True, drop_last=True)
    >>> len(loader), len(list(loader))
    (2, 2)
    """

    dataset: Dataset[T_co]
    batch_size: int | None
    num_workers: int
    sampler: Any
    collate_fn: Callable[[Any], Any]
    generator: Generator | None
    _iterator: _BaseDataLoaderIter | None = None
    _initialized = False

    def __init__(
        self, dataset: Dataset[T_co], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None, num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: str | BaseContext | None = None, generator: Generator | None = None, *,
        prefetch_factor: int | None = None, persistent_workers: bool = False, pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:  # fmt: skip
        if num_workers < 0:
            raise ValueError(
                f"DataLoader(): num_workers option should be non-negative, got {num_workers}; use num_workers=0 to "
                "load in this process"
            )
        if timeout < 0:
            raise ValueError(f"DataLoader(): timeout option should be non-negative, got {timeout}")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "DataLoader(): prefetch_factor option could only be specified in multiprocessing; let num_workers > 0, "
                "or leave prefetch_factor out"
            )
        if prefetch_factor is None:
            prefetch_factor = 2 if num_workers else None
        elif prefetch_factor < 0:
            raise ValueError(f"DataLoader(): prefetch_factor option should be non-negative, got {prefetch_factor}")
        if persistent_workers and num_workers == 0:
            raise ValueError("DataLoader(): persistent_workers option needs num_workers > 0")

        self.dataset = dataset
        self.num_workers, self.prefetch_factor = num_workers, prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn = timeout, worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order, self.persistent_workers = in_order, persistent_workers
        self.generator = generator
        self._IterableDataset_len_called: int | None = None

        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            for name, value, wrong in (
                ("shuffle", shuffle, shuffle not in (None, False)),
                ("sampler", sampler, sampler is not None),
                ("batch_sampler", batch_sampler, batch_sampler is not None),
            ):
                if wrong:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}; "
                        "the dataset itself says in which order its samples come"
                    )
        else:
            self._dataset_kind = _DatasetKind.Map
        if sampler is not None and shuffle:
            raise ValueError("DataLoader(): sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "DataLoader(): batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                    "drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "DataLoader(): batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )

        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)  # type: ignore[arg-type]
            else:
                sampler = SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self._initialized = True
        self.check_worker_number_rationality()

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_iterator"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    @property
    def multiprocessing_context(self) -> BaseContext | None:
        """How workers are started; None for Python's default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: str | BaseContext | None) -> None:
        if context is not None:
            import multiprocessing
            from multiprocessing.context import BaseContext

            if self.num_workers <= 0:
                raise ValueError(
                    "DataLoader(): multiprocessing_context can only be used with multi-process loading "
                    f"(num_workers > 0), but got num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(
                        "DataLoader(): multiprocessing_context option should specify a valid start method in "
                        f"{methods}, but got multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, BaseContext):
                raise TypeError(
                    "DataLoader(): multiprocessing_context option should be a valid context object or a string "
                    f"specifying the start method, but got multiprocessing_context={context!r}"
                )
        self._context = context

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> _BaseDataLoaderIter:
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None or self._iterator._ended:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        # an estimate: workers that each end with a smaller batch make more
        length = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn if there are to be more workers than cores that this process may use."""
        if self.num_workers:
            affinity = getattr(os, "sched_getaffinity", None)
            cores = len(affinity(0)) if affinity else os.cpu_count()
            if cores is not None and self.num_workers > cores:
                warnings.warn(
                    f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max "
                    f"number of worker in current system is {cores}, which is smaller than what this DataLoader is "
                    "going to create; they may slow one another down.",
                    stacklevel=3,
                )


class _BaseDataLoaderIter:
    """One pass over a dataset."""

    _ended = False
    """Whether there is nothing to go on with: a further pass needs a new iterator."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._index_sampler = loader._index_sampler
        self._timeout = loader.timeout
        if loader.pin_memory:
            if loader.pin_memory_device:
                warnings.warn(
                    f"pin_memory_device={loader.pin_memory_device!r} is ignored: there is no accelerator", stacklevel=4
                )
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used.",
                stacklevel=4,
            )
        self._fetcher = functools.partial(
            _DatasetKind.create_fetcher, loader._dataset_kind, loader.dataset, loader._auto_collation,
            loader.collate_fn, loader.drop_last,
        )  # fmt: skip
        self._start(loader)
        self._base_seed = random_seed(loader.generator)

    def _start(self, loader: DataLoader[Any]) -> None:
        """Begin a pass."""
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._length_told = loader._IterableDataset_len_called

    def _reset(self, loader: DataLoader[Any]) -> None:
        self._start(loader)

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        if self._length_told is not None and self._num_yielded > self._length_told:
            warnings.warn(
                f"Length of IterableDataset {self._dataset} was reported to be {self._length_told} (when accessing "
                f"len(dataloader)), but {self._num_yielded} batches have been fetched. With several workers, each must "
                "take a share of its own: see get_worker_info().",
                stacklevel=2,
            )
        return data

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Makes a batch when it is asked for one."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        if loader.timeout:
            raise AssertionError(
                f"DataLoader: timeout={loader.timeout} needs num_workers > 0, as only the batches of workers are "
                "waited for"
            )
        super().__init__(loader)
        self._dataset_fetcher = self._fetcher()

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(next(self._sampler_iter))


class _Worker:
    """A worker process, seen from its loader."""

    def __init__(self, context: Any, spec: Spec) -> None:
        mine, its = socket.socketpair()
        sockets_of_loaders.add(mine)
        self.inlet = Inlet(mine)
        self.unsent = bytearray()
        self.exhausted = False
        self.pending = 0  # tasks
        try:
            self.process: BaseProcess = context.Process(target=worker_loop, args=(spec, its), daemon=True)
            with warnings.catch_warnings():  # a worker leaves alone what has threads: XLA, and libraries of matrices
                warnings.filterwarnings("ignore", r".*multi-?threaded", RuntimeWarning)
                warnings.filterwarnings("ignore", r".*multi-threaded, use of fork", DeprecationWarning)
                self.process.start()
        except BaseException:
            mine.close()
            raise
        finally:
            its.close()

    def send(self, task: Any, deadline: float | None) -> None:
        """Send a task; the worker takes it in whatever it is doing, unless it is stopped or dead.

        Raises
        ------
        TimeoutError
            If it does not until the deadline; what is left then goes out before the next task.
        """
        self.unsent += framed((task, self.inlet.taken_back()))
        self.flush(deadline)

    def flush(self, deadline: float | None) -> None:
        """Send what is left."""
        try:
            while self.unsent:
                try:
                    del self.unsent[: self.inlet.socket.send(self.unsent)]
                except BlockingIOError:
                    wait_to_write(self.inlet.socket, deadline)
                    if not self.process.is_alive():
                        return
        except ConnectionError:
            self.unsent.clear()  # dead: reading will show it

    def stop(self) -> None:
        """Ask it to end."""
        self.unsent += framed(None)
        try:
            self.flush(time.monotonic())
        except TimeoutError:
            pass  # its end will be closed, or it will be terminated


def wait_to_write(sock: socket.socket, deadline: float | None) -> None:
    """Wait until something can be written, at most for the interval of checks."""
    left = CHECK_INTERVAL if deadline is None else min(CHECK_INTERVAL, deadline - time.monotonic())
    if left <= 0:
        raise TimeoutError
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_WRITE)
        selector.select(left)


def shut_down(workers: list[_Worker], owner: int) -> None:
    """End worker processes: they are asked, then terminated, then killed."""
    if os.getpid() != owner:  # a forked copy of the loader's process: the workers are not its own
        return
    for worker in workers:
        worker.stop()
        worker.inlet.close()
    left = [worker.process for worker in workers]
    workers.clear()
    for end, grace in (("", GRACE), ("terminate", 1.0), ("kill", GRACE)):
        for process in left if end else ():
            getattr(process, end)()
        deadline = time.monotonic() + grace
        left = [process for process in left if not has_ended(process, deadline)]


def has_ended(process: BaseProcess, deadline: float) -> bool:
    """Whether a process ends until the deadline."""
    process.join(max(0.0, deadline - time.monotonic()))
    if process.is_alive():
        return False
    process.close()
    return True


class _Task:
    """A batch that a worker was asked for, or the error that came of making or sending its keys."""

    __slots__ = ("error", "message", "worker")

    def __init__(self, worker: _Worker | None, error: Exception | None = None) -> None:
        self.worker, self.error = worker, error
        self.message: Message | None = None

    @property
    def done(self) -> bool:
        """Whether there is nothing to wait for: of an exhausted worker nothing more comes."""
        return self.message is not None or self.worker is None or self.worker.exhausted


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Asks worker processes for batches, in turn, and returns them in the order in which they were asked for.

    Each worker has a socket of its own, so there is no lock that a dying one could hold, and its end shows at once.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        import multiprocessing

        self._persistent_workers, self._in_order = loader.persistent_workers, loader.in_order
        self._prefetch_factor = 2 if loader.prefetch_factor is None else loader.prefetch_factor
        self._owner, self._failure = os.getpid(), ""
        self._keys = itertools.count()
        self._tasks: dict[int, _Task] = {}
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._finalizer = weakref.finalize(self, shut_down, self._workers, self._owner)
        context = loader.multiprocessing_context or multiprocessing.get_context()
        try:
            for i in range(loader.num_workers):
                spec = Spec(
                    self._fetcher, loader.dataset, loader.worker_init_fn, i, loader.num_workers, self._base_seed
                )
                worker = _Worker(context, spec)
                self._workers.append(worker)
                self._selector.register(worker.inlet.socket, selectors.EVENT_READ, worker)
            self._prime()
        except BaseException:
            self._shutdown_workers()
            raise

    def _reset(self, loader: DataLoader[Any]) -> None:
        super()._reset(loader)
        self._tasks.clear()  # what comes of them is dropped
        for worker in self._workers:
            worker.exhausted, worker.pending = False, 0
            self._sent(worker.send, RESUME, self._deadline())
        self._prime()

    def _prime(self) -> None:
        self._turn = itertools.cycle(self._workers)
        for _ in range(max(1, self._prefetch_factor * len(self._workers))):
            self._ask()

    def _ask(self) -> None:
        """Ask the worker whose turn it is for the next batch."""
        ready = [worker for worker in self._workers if not worker.exhausted]
        if not ready:
            return
        try:
            pickled = pickle.dumps(next(self._sampler_iter), pickle.HIGHEST_PROTOCOL)
        except StopIteration:
            return
        except Exception as error:
            self._tasks[next(self._keys)] = _Task(None, error)
            return
        worker = (
            next(worker for worker in self._turn if not worker.exhausted)
            if self._in_order
            else min(ready, key=lambda worker: worker.pending)
        )
        key = next(self._keys)
        self._tasks[key] = _Task(worker)
        worker.pending += 1
        self._sent(worker.send, (key, pickled), self._deadline())

    def _sent(self, send: Callable[..., None], *arguments: Any) -> None:
        try:
            send(*arguments)
        except TimeoutError:
            raise self._timed_out() from None

    def _next_data(self) -> Any:
        if self._failure:
            raise RuntimeError(self._failure)
        if os.getpid() != self._owner:
            raise RuntimeError("DataLoader: an iterator with workers cannot be used in a process that was forked later")
        deadline = self._deadline()
        while True:
            key = self._next_key()
            if key is None:
                if not self._tasks:
                    break
                self._receive(deadline)
                continue
            task = self._tasks.pop(key)
            if task.error is not None:
                self._ask()
                raise task.error
            if task.message is None or task.worker is None:  # the worker is exhausted
                continue
            try:
                value = task.message.value()
            except Exception as error:
                value = ExceptionWrapper(error, "on the way between a DataLoader and its worker")
            if isinstance(value, EndOfDataset):
                task.worker.exhausted = True
                if not self._persistent_workers:
                    task.worker.stop()
                self._ask()
                continue
            self._ask()
            if isinstance(value, ExceptionWrapper):
                value.reraise()
            return value
        if not self._persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    def _next_key(self) -> int | None:
        """The task whose turn it is, if it is done."""
        for key, task in self._tasks.items():
            if task.done:
                return key
            if self._in_order:
                return None
        return None

    def _receive(self, deadline: float | None) -> None:
        """Wait for something from any worker."""
        for worker in self._workers:
            if worker.unsent:
                self._sent(worker.flush, deadline)
        left = CHECK_INTERVAL if deadline is None else min(CHECK_INTERVAL, deadline - time.monotonic())
        ready = [entry.data for entry, _ in self._selector.select(max(0.0, left))]
        there = [entry.data for entry in self._selector.get_map().values()]
        # the end of a worker whose socket another process holds open, too, does not show
        for worker in ready or [worker for worker in there if not worker.process.is_alive()]:
            for key, message in worker.inlet.read():
                if key in self._tasks:
                    self._tasks[key].message = message
                    worker.pending -= 1
            if worker.inlet.closed or not ready:
                self._lost(worker)
        if not ready and left <= 0:
            raise self._timed_out()

    def _lost(self, worker: _Worker) -> None:
        """A worker is gone: an error, unless it was told to go."""
        self._selector.unregister(worker.inlet.socket)
        if worker.exhausted and not self._persistent_workers:
            return
        worker.process.join(GRACE)
        pid, code = worker.process.pid, worker.process.exitcode
        if code is None:
            how = "it closed its end of the connection"
        elif code >= 0:
            how = f"exit code {code}"
        else:
            names = {s.value: s.name for s in signal.Signals}
            how = f"it is killed by signal {names.get(-code, -code)}"
            if names.get(-code) in ("SIGKILL", "SIGBUS"):
                how += ", as the system does where memory runs out"
        self._failure = f"DataLoader worker (pid(s) {pid}) exited unexpectedly: {how}"
        self._shutdown_workers()
        raise RuntimeError(self._failure)

    def _deadline(self) -> float | None:
        return time.monotonic() + self._timeout if self._timeout else None

    def _timed_out(self) -> RuntimeError:
        return RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _shutdown_workers(self) -> None:
        self._ended = True
        self._tasks.clear()
        self._selector.close()
        self._finalizer()
