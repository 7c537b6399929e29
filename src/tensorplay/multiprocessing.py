"""Python's :mod:`multiprocessing`, and ``spawn``. Tensors in shared memory stay there when they go to a process.

Others are copied, as everything else is: call ``share_memory_()`` on a tensor or ``share_memory()`` on a module before
it is sent. Results of recorded operators cannot be sent; ``detach()`` them.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from multiprocessing.connection import Connection, wait
from typing import Any

from .core import sharing as sharing  # how tensors are sent

__all__ = [
    *multiprocessing.__all__,
    "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "get_all_sharing_strategies",
    "get_sharing_strategy", "set_sharing_strategy", "spawn",
]  # fmt: skip

strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names that :func:`set_sharing_strategy` takes."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """The name that was set."""
    return strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Kept for programs that call it: shared memory has a descriptor and no name, whichever is chosen.

    Raises
    ------
    AssertionError
        For an unknown name.
    """
    global strategy
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"set_sharing_strategy(): expected one of {sorted(get_all_sharing_strategies())}, got "
                             f"{new_strategy!r}")  # fmt: skip
    strategy = new_strategy


class ProcessRaisedException(Exception):
    """A process ended by an exception, whose traceback is the message."""

    def __init__(self, msg: str, error_index: int, error_pid: int | None) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, error_pid


class ProcessExitedException(Exception):
    """A process ended by a signal, or with an exit code other than 0."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int | None, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, error_pid
        self.exit_code, self.signal_name = exit_code, signal_name


def run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], sender: Connection) -> None:
    """What a process does."""
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the one who started it is told, too
    except Exception:
        sender.send(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """The processes that ``spawn(join=False)`` started."""

    def __init__(self, processes: list[Any], receivers: list[Connection]) -> None:
        self.processes, self.receivers = processes, receivers

    def pids(self) -> list[int]:
        """Their numbers."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one more process has ended, and whether all have.

        Parameters
        ----------
        timeout : float, optional
            How long to wait, in seconds.
        grace_period : float, optional
            How long the others have to end, in seconds, before they are terminated because one has failed.

        Raises
        ------
        ProcessRaisedException, ProcessExitedException
            If one has failed; the others are ended.
        """
        running = [process for process in self.processes if process.exitcode is None]
        wait([process.sentinel for process in running], timeout)
        for i, process in enumerate(self.processes):
            process.join(0)
            if process.exitcode:
                self.end(grace_period)
                raise self.failure(i)
        return all(process.exitcode is not None for process in self.processes)

    def end(self, grace_period: float | None) -> None:
        """End all processes."""
        deadline = time.monotonic() + (grace_period or 0)
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))
        for end, grace in (("terminate", 5), ("kill", None)):
            for process in self.processes:
                if process.is_alive():
                    getattr(process, end)()
            for process in self.processes:
                process.join(grace)

    def failure(self, i: int) -> Exception:
        """The exception that tells how a process failed."""
        process = self.processes[i]
        code = process.exitcode
        try:
            text = f"\n\n-- Process {i} terminated with the following error:\n{self.receivers[i].recv()}"
            return ProcessRaisedException(text, i, process.pid)
        except EOFError:  # it did not come to say anything
            pass
        name = signal.Signals(-code).name if code < 0 else None
        how = f"signal {name}" if name else f"exit code {code}"
        return ProcessExitedException(f"process {i} terminated with {how}", i, process.pid, code, name)


def spawn(
    fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """Run ``fn(i, *args)`` in ``nprocs`` processes, ``i`` being their number.

    Parameters
    ----------
    fn : callable
        Of a module's top level, as it is pickled by name.
    args : tuple
        Further arguments. Tensors in shared memory are shared.
    nprocs : int
        How many processes.
    join : bool
        Wait for them; else a :class:`ProcessContext` is returned.
    daemon : bool
        Whether they end with this process.
    start_method : str
        ``"spawn"``, ``"fork"`` or ``"forkserver"``.

    Raises
    ------
    ProcessRaisedException, ProcessExitedException
        If one of them fails; the others are terminated then.
    """
    context = multiprocessing.get_context(start_method)
    processes, receivers = [], []
    for i in range(nprocs):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=run, args=(fn, i, args, sender), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        sender.close()
        processes.append(process)
        receivers.append(receiver)
    started = ProcessContext(processes, receivers)
    if not join:
        return started
    while not started.join():
        pass
    return None
