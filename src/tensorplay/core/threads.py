"""Work on large arrays, shared with other threads: NumPy's inner loops release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import Any

ENOUGH = 1 << 20
"""Elements from which handing work over pays, for kernels of a few passes."""


class Workers:
    """How many threads share the work, and the pool of those beside the caller's, made at the first need."""

    def __init__(self) -> None:
        self.count = available()
        self.pool: Any = None


def available() -> int:
    """The cores this process may use, or what OMP_NUM_THREADS says."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted):
        return int(wanted)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


workers = Workers()
if hasattr(os, "register_at_fork"):  # threads do not survive a fork; a child makes its own pool
    os.register_at_fork(after_in_child=lambda: setattr(workers, "pool", None))


def get_num_threads() -> int:
    """The number of threads that share work on large arrays.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.get_num_threads() >= 1
    True
    """
    return workers.count


def set_num_threads(int: int) -> None:  # PyTorch's name for the argument
    """Set the number of threads that share work on large arrays; BLAS has a setting of its own.

    Raises
    ------
    RuntimeError
        If it is not positive.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.set_num_threads(tp.get_num_threads())
    """
    if int < 1:
        raise RuntimeError(f"set_num_threads(): expected a positive number of threads, got {int}")
    workers.count, workers.pool = int, None


def share(work: Callable[[Any], None], parts: Iterable[Any], size: int) -> None:
    """Call ``work`` for each part; if ``size`` elements are enough, in several threads.

    The caller takes part, and waits only for what others have begun: a busy machine costs no more than one thread, and
    work that shares work in turn is never stuck. What an exception leaves undone is undefined. ``work`` runs in a copy
    of the caller's context, in which NumPy's handling of errors is.
    """
    parts = list(parts)
    others = min(workers.count, len(parts)) - 1
    if size < ENOUGH or others < 1:
        for part in parts:
            work(part)
        return
    left = iter(parts)

    def drain() -> None:
        for part in left:
            work(part)

    handed = hand_over(drain, others)
    try:
        drain()
    finally:
        for future in handed:
            if not future.cancel():
                future.result()


def hand_over(work: Callable[[], None], times: int) -> list[Any]:
    """Let the pool call ``work`` so often; the futures."""
    pool = workers.pool  # another thread may set the number of threads meanwhile
    if pool is None:
        from concurrent.futures import ThreadPoolExecutor

        pool = workers.pool = ThreadPoolExecutor(max(1, workers.count - 1), "tensorplay")
    try:
        return [pool.submit(copy_context().run, work) for _ in range(times)]
    except RuntimeError:  # the interpreter ends, and takes no more work
        return []
