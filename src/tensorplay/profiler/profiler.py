"""A profile over the steps of a program."""

from __future__ import annotations

import enum
import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from ..autograd import profiler
from ..autograd.profiler_util import EventList


class ProfilerAction(enum.Enum):
    """What a profile does in a step: nothing, warm up, record, or record and hand over what was recorded."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(enum.Enum):
    """What can be recorded: here, what the CPU does."""

    CPU = 0
    CUDA = 2
    XPU = 3


def supported_activities() -> set[ProfilerActivity]:
    """The activities that can be recorded.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Which steps a profile records: in cycles, after some that it skips, some that it waits, and some to warm up.

    Parameters
    ----------
    wait, warmup, active : int
        The numbers of steps of a cycle in which nothing is done, in which the profile prepares, and which are recorded.
    repeat : int
        The number of cycles; 0: without end.
    skip_first : int
        The number of steps before the first cycle.
    skip_first_wait : int
        If not 0, the first cycle does not wait.

    Raises
    ------
    AssertionError
        If a number is negative, or ``active`` is not positive.

    Examples
    --------
    >>> import tensorplay as tp
    >>> chosen = tp.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [chosen(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first, skip_first_wait) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0), "
            f"skip_first_wait={skip_first_wait} (need >= 0)."
        )
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat and step >= repeat * cycle:
            return ProfilerAction.NONE
        step %= cycle
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if step == cycle - 1 else ProfilerAction.RECORD

    return action


def always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str], worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """An ``on_trace_ready`` that writes a trace into a directory, as TensorBoard's plugin reads them.

    Parameters
    ----------
    dir_name : str
        The directory, made at need.
    worker_name : str
        The beginning of the files' names; by default host and process.
    use_gzip : bool
        Compress them.

    Examples
    --------
    >>> import os, tempfile
    >>> import tensorplay as tp
    >>> directory = tempfile.mkdtemp()
    >>> with tp.profiler.profile(on_trace_ready=tp.profiler.tensorboard_trace_handler(directory, "me")):
    ...     y = tp.ones(3).exp()
    >>> [name.split(".")[0] for name in os.listdir(directory)]
    ['me']
    """

    def handler(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        file = f"{name}.{time.time_ns()}.pt.trace.json{'.gz' * use_gzip}"
        prof.export_chrome_trace(os.path.join(dir_name, file))

    return handler


def optimizer_functions() -> dict[Any, Any]:
    """The functions of optimizers that are recorded."""
    from ..optim import Optimizer

    found: dict[Any, Any] = {}
    for name in ("step", "zero_grad"):
        for cls in subclasses(Optimizer):
            if name in vars(cls):
                found[vars(cls)[name]] = optimizer_label(name), "user"
    return found


def optimizer_label(name: str) -> Callable[..., str]:
    return lambda self, *_, **__: f"Optimizer.{name}#{type(self).__name__}.{name}"


def subclasses(cls: type) -> list[type]:
    """The class and all below it."""
    found = [cls]
    for c in found:
        below: list[type] = c.__subclasses__()
        found += [sub for sub in below if sub not in found]
    return found


def module_functions() -> dict[Any, Any]:
    """The function by which modules are called."""
    from ..nn.module import Module

    return {Module.__call__: (lambda self, *_, **__: f"nn.Module: {type(self).__name__}", "module")}


class profile:
    """Record where the time of a program goes.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, optional
        What is recorded: the CPU. Others are not available, which a warning says.
    schedule : callable, optional
        ``schedule(step)`` says what to do in a step; see :func:`schedule`. Without it everything is recorded.
    on_trace_ready : callable, optional
        Called with the profile at the end of each cycle of the schedule, or at the end of all.
    record_shapes : bool
        Note the shapes of operators' arguments.
    profile_memory : bool
        Note how much memory is allocated and freed, by Python and NumPy. Everything is slower then.
    with_stack : bool
        Note from where operators are called.
    with_flops : bool
        Note the floating-point operations of products, convolutions, attention and arithmetic.
    with_modules : bool
        Also record calls of modules.
    acc_events : bool
        Keep the events of earlier cycles.

    Raises
    ------
    AssertionError
        If ``activities`` holds none that is available; if results are asked for before there are any.
    RuntimeError
        If a profile is being taken already.

    Notes
    -----
    Events of all threads are recorded. Operators are a little slower while a profile is taken, by about as much as a
    small operator takes, and as fast as ever after.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.ones(3, requires_grad=True)
    >>> with tp.profiler.profile() as prof:
    ...     (x * x).sum().backward()
    >>> [event.name for event in prof.events() if event.cpu_parent is None]
    ['mul', 'sum', 'backward pass']
    >>> [event.name for event in prof.events() if event.scope == "backward"]
    ['SumBackward0', 'MulBackward0', 'AccumulateGrad']

    Over chosen steps of a loop:

    >>> def report(prof):
    ...     averages = prof.key_averages()
    ...     print(prof.step_num, *[f"{a.count} {a.key}" for a in averages if a.key == "exp"])
    >>> steps = tp.profiler.schedule(wait=1, warmup=1, active=2)
    >>> with tp.profiler.profile(schedule=steps, on_trace_ready=report) as prof:
    ...     for step in range(8):
    ...         y = x.exp()
    ...         prof.step()
    4 2 exp
    8 2 exp
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        acc_events: bool = False,
    ) -> None:
        wanted = set(supported_activities() if activities is None else activities)
        for activity in wanted - supported_activities():
            name = getattr(activity, "name", str(activity))
            warnings.warn(f"{name} is not available, disabling {name} profiling", UserWarning, stacklevel=2)
        if not wanted & supported_activities():
            raise AssertionError("No valid profiler activities found")
        self.schedule, self.on_trace_ready = schedule or always, on_trace_ready
        self.record_steps = schedule is not None
        self.with_modules = with_modules
        self.options: dict[str, Any] = {
            "record_shapes": record_shapes, "profile_memory": profile_memory, "with_stack": with_stack,
            "with_flops": with_flops, "acc_events": acc_events, "with_modules": with_modules,
        }  # fmt: skip
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.profiler: profiler.profile | None = None
        self.recording = False
        self.metadata: dict[str, Any] = {}
        self.mark: profiler.record_function | None = None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    # ---- steps

    def start(self) -> None:
        """Begin with step 0."""
        self.enter_action(self.current_action)
        self.begin_step()

    def step(self) -> None:
        """Say that the next step of the program begins."""
        self.end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self.finish()
        elif before is ProfilerAction.RECORD and self.current_action not in RECORDING:
            warnings.warn(f"Incorrect schedule: RECORD followed by {self.current_action.name}", UserWarning,
                          stacklevel=2)  # fmt: skip
            self.finish()
        self.enter_action(self.current_action)
        self.begin_step()

    def stop(self) -> None:
        """End, and hand over what was recorded."""
        self.end_step()
        if self.recording:
            self.finish()

    def begin_step(self) -> None:
        if self.record_steps:
            self.mark = profiler.record_function(f"ProfilerStep#{self.step_num}")
            self.mark.__enter__()

    def end_step(self) -> None:
        if self.mark is not None:
            self.mark.__exit__(None, None, None)
            self.mark = None

    def enter_action(self, action: ProfilerAction) -> None:
        if action is ProfilerAction.NONE or self.recording:
            return
        if self.profiler is None:
            also = optimizer_functions() | (module_functions() if self.with_modules else {})
            self.profiler = profiler.profile(also=also, **self.options)
        if action is ProfilerAction.WARMUP:
            self.profiler.prepare()
        else:
            self.profiler.__enter__()
            self.recording = True

    def finish(self) -> None:
        assert self.profiler is not None
        self.profiler.__exit__(None, None, None)
        self.recording = False
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # ---- results

    def finished(self, what: str) -> profiler.profile:
        if self.profiler is None or self.profiler.recorded is None:
            raise AssertionError(f"Profiler must be initialized before {what}: nothing has been recorded yet")
        return self.profiler

    def events(self) -> EventList:
        """The events of the last cycle, in the order of their beginning."""
        return self.finished("accessing events").function_events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The events of one key together.

        Parameters
        ----------
        group_by_input_shape : bool
            Keep calls with different shapes apart; needs ``record_shapes``.
        group_by_stack_n : int
            Keep calls apart that differ in the innermost so many lines of their stacks; needs ``with_stack``.

        Examples
        --------
        >>> import tensorplay as tp
        >>> with tp.profiler.profile(record_shapes=True) as prof:
        ...     for n in (2, 3, 3):
        ...         y = tp.ones(n).exp()
        >>> for a in prof.key_averages(group_by_input_shape=True):
        ...     if a.key == "exp":
        ...         print(a.input_shapes, a.count)
        [[2]] 1
        [[3]] 2
        """
        return self.finished("getting key averages").key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a trace that chrome://tracing and Perfetto show; compressed if the path ends in ".gz"."""
        self.finished("exporting a trace").export_chrome_trace(path, self.metadata)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write one line for each stack with its microseconds, as tools for flame graphs read it."""
        self.finished("exporting stacks").export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Put a string into the trace under a key of its own."""
        self.metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Put a value, given as JSON, into the trace under a key of its own."""
        self.metadata[key] = json.loads(value)
