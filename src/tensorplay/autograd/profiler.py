"""How long operators and their backward take.

While a profile is taken, the functions of operators and a few of the engine's are intercepted (see
:mod:`tensorplay.core.interception`); otherwise nothing is there to be paid for.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import os
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from .. import ops
from ..core.interception import Interception
from ..core.node import AccumulateGrad, Node, Output, place
from ..core.operator import OPERATORS
from ..core.primitive import PRIMITIVES, Primitive
from ..core.state import count
from ..core.tensor import Tensor
from . import engine, observed
from .function import Function
from .profiler_util import EventList, FunctionEvent, FunctionEventAvg

__all__ = ["EventList", "FunctionEvent", "profile", "record_function"]

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
clock, ident = time.perf_counter_ns, threading.get_ident
Label = Callable[..., str]  # what is recorded of a call with given arguments
Also = Mapping[Any, tuple[Label, str]]  # further functions to watch, each with its label and scope

active: Recorder | None = None
"""What is recording now."""


# ---- which functions are watched

PREFIXES = {"linalg": "linalg_", "fft": "fft_", "special": "special_"}


@functools.cache
def everything() -> None:
    """Import all operators: those that come later would not be watched."""
    ops.import_all()


def operators() -> dict[Any, str]:
    """The functions of all operators, with the names under which they are recorded."""
    everything()
    found: dict[Any, str] = {}
    for p in PRIMITIVES.values():
        found |= dict.fromkeys(p.forms.values(), p.name)
    for name, f in vars(Tensor).items():
        if inspect.isfunction(f) and f.__module__.startswith("tensorplay.ops") and name not in QUIET:
            found.setdefault(f, name.strip("_") if name.startswith("__") else name)
    for namespace, entries in OPERATORS.items():
        for name, entry in entries.items():
            own = entry.plain.__name__  # of several names for one function, its own
            found.setdefault(entry.plain, PREFIXES.get(namespace, "") + (own if own in entries else name))
    for name, f in vars(Tensor).items():
        if name.startswith("__i") and inspect.isfunction(f) and f.__module__ == "tensorplay.core.operator":
            found.setdefault(f, name.strip("_")[1:] + "_")
    return found


QUIET = {"__len__", "__iter__", "__contains__", "is_set_to", "is_pinned", "dim_order"}


# ---- floating-point operations


def product_flops(out: Tensor, input: Tensor, other: Tensor) -> int:
    return 2 * out._data.size * input._data.shape[-1]


def conv_flops(out: Tensor, input: Tensor, weight: Tensor) -> int:
    return 2 * out._data.size * math.prod(weight._data.shape[1:])


def attention_flops(out: Tensor, query: Tensor, key: Tensor) -> int:
    columns = key._data.shape[-2]
    return 2 * columns * (query._data.size + out._data.size)


FLOPS: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("mm", "mv", "dot", "matmul", "linear"), product_flops),
    "conv": conv_flops, "attention": attention_flops,
    **dict.fromkeys(("add", "sub", "mul", "div"), lambda out, *operands: out._data.size),
}  # fmt: skip


# ---- recording


class Recorder:
    """Collects events, from all threads, between ``start`` and ``stop``."""

    def __init__(self, shapes: bool, memory: bool, stacks: bool, flops: bool, also: Also) -> None:
        self.shapes, self.memory, self.with_stacks, self.flops = shapes, memory, stacks, flops
        self.detailed = shapes or memory or stacks
        self.events: list[FunctionEvent] = []
        self.open: dict[int, list[FunctionEvent]] = {}
        self.forward: dict[int, FunctionEvent] = {}  # by the number of the node that an operator made
        self.origin = self.number = 0
        primitives = {f for p in PRIMITIVES.values() for f in p.forms.values()} if flops else set()
        handlers: dict[Any, Any] = {
            f: self.operator(label, FLOPS.get(label) if f in primitives else None) for f, label in operators().items()
        }
        handlers[Primitive.call_variadic] = self.named(lambda p, *_, **__: p.name, "operator")
        handlers[vars(Function)["apply"].__func__] = self.named(lambda cls, *_, **__: cls.__name__, "operator")
        handlers[engine.run] = self.named(lambda *_, **__: "backward pass", "pass")
        handlers[observed.prepare] = self.prepare
        handlers[observed.visit] = self.visit
        handlers[engine.Pass.reach_leaf] = self.reach_leaf
        handlers |= {f: self.named(label, scope) for f, (label, scope) in also.items()}
        self.interception = Interception(handlers)
        self.tracing = False

    def start(self) -> None:
        """Begin to record.

        Raises
        ------
        RuntimeError
            If a profile is being taken already.
        """
        global active
        if active is not None:
            raise RuntimeError("Profiler is already enabled: profiles cannot be taken inside each other; use "
                               "record_function() to mark a part")  # fmt: skip
        active = self
        if self.memory and not tracemalloc.is_tracing():
            tracemalloc.start()
            self.tracing = True
        self.number = count()
        self.interception.__enter__()
        self.origin = clock()

    def stop(self) -> None:
        """End recording; what is still open ends with it."""
        global active
        if active is not self:
            return
        end = clock()
        self.interception.__exit__()
        active = None
        for stack in list(self.open.values()):
            while stack:
                self.end(stack[-1], end)
        if self.tracing:
            tracemalloc.stop()
            self.tracing = False
        self.events.sort(key=lambda event: event.start_ns)
        for i, event in enumerate(self.events, 1):
            event.finish(i, self.origin)

    def begin(self, name: str, scope: str, args: Any = (), stack: list[FunctionEvent] | None = None) -> FunctionEvent:
        """Open an event within the one that is open in this thread."""
        thread = ident()
        if stack is None:
            stack = self.open.setdefault(thread, [])
        parent = stack[-1] if stack else None
        event = FunctionEvent(name, scope, thread, parent)
        stack.append(event)
        self.events.append(event)
        if self.detailed:
            self.describe(event, args)
        event.start_ns = clock()
        return event

    def end(self, event: FunctionEvent, at: int | None = None) -> None:
        """Close an event."""
        if active is not self and at is None:
            return  # it was closed when the profile ended
        event.end_ns = clock() if at is None else at
        stack = self.open[event.thread]
        while stack and stack.pop() is not event:
            pass
        if self.memory:
            event.cpu_memory_usage += tracemalloc.get_traced_memory()[0]

    def describe(self, event: FunctionEvent, args: Any) -> None:
        if self.shapes:
            event.input_shapes = [list(a._data.shape) if isinstance(a, Tensor) else [] for a in args]
            event.input_dtypes = [a._data.dtype.name if isinstance(a, Tensor) else type(a).__name__ for a in args]
        if self.with_stacks:
            event.stack = stack_of_user()
        if self.memory:
            event.cpu_memory_usage = -tracemalloc.get_traced_memory()[0]

    # ---- handlers

    def operator(self, label: str, flops: Callable[..., int] | None) -> Any:
        """The handler of an operator. A public function and its primitive of the same name count as one."""
        opened, begin, end, made = self.open, self.begin, self.end, self.made

        def handler(call: Any, args: Any, kwargs: Any) -> Any:
            stack = opened.get(ident())
            if stack is None:
                stack = opened.setdefault(ident(), [])
            if stack and stack[-1].name == label:
                out = call(*args, **kwargs)
                if flops is not None and stack:
                    stack[-1].flops = flops(out, *args[:2])
                return out
            event = begin(label, "operator", args, stack)
            try:
                out = call(*args, **kwargs)
            finally:
                end(event)
            made(event, out)
            if flops is not None:
                event.flops = flops(out, *args[:2])
            return out

        return handler

    def named(self, label: Label, scope: str) -> Any:
        """The handler of a function that tells by its arguments what is to be recorded."""

        def handler(call: Any, args: Any, kwargs: Any) -> Any:
            name, stack = label(*args, **kwargs), self.open.get(ident())
            if scope == "operator" and stack and stack[-1].name == name:
                return call(*args, **kwargs)
            event = self.begin(name, scope, args[1:])
            try:
                out = call(*args, **kwargs)
            finally:
                self.end(event)
            if scope == "operator":
                self.made(event, out)
            return out

        return handler

    def made(self, event: FunctionEvent, out: Any) -> None:
        """Note which node an operator has made: the innermost that returns it has."""
        t = out[0] if type(out) is tuple and out else out
        node = getattr(t, "_node", None)
        if isinstance(node, Node):
            node = place(node)[0]
            if type(node) is not AccumulateGrad and node.order > self.number and node.order not in self.forward:
                self.forward[node.order] = event
                event.sequence_nr = node.order

    def prepare(self, call: Any, args: Any, kwargs: Any) -> Any:
        """Before a pass: all nodes take the path on which they can be watched."""
        for node in args[1]:
            node.rarely()
        return call(*args, **kwargs)

    def visit(self, call: Any, args: Any, kwargs: Any) -> Any:
        """The backward of a node."""
        node = args[1]
        return call(*args, **kwargs) if type(node) is Output else self.node(call, args, node, node.name())

    def reach_leaf(self, call: Any, args: Any, kwargs: Any) -> Any:
        return self.node(call, args, args[1], "AccumulateGrad")

    def node(self, call: Any, args: Any, node: Node, name: str) -> Any:
        event = self.begin(name, "backward")
        event.sequence_nr = node.order
        try:
            return call(*args)
        finally:
            self.end(event)


def stack_of_user() -> list[str]:
    """The calls outside of this package that lead here, innermost first."""
    out: list[str] = []
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith((HERE, "<tensorplay ")):
            out.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return out


# ---- what users call


class record_function(contextlib.ContextDecorator):
    """Mark a part of a program by a name, under which a profile shows it. Without a profile it does nothing.

    Parameters
    ----------
    name : str
        The name.
    args : str, optional
        More about it, shown in the trace.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.autograd.profiler import record_function
    >>> with tp.profiler.profile() as prof:
    ...     with record_function("layer"):
    ...         y = tp.ones(2, 2) @ tp.ones(2)
    >>> [event.name for event in prof.events()]
    ['layer', 'ones', 'ones', 'matmul', 'mv']
    >>> prof.events()[3].cpu_parent.name
    'layer'

    As a decorator:

    >>> @record_function("step")
    ... def step(x):
    ...     return x + 1
    >>> step(tp.ones(1))
    tensor([2.])
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self.entered: list[tuple[Recorder, FunctionEvent] | None] = []

    def _recreate_cm(self) -> record_function:  # one for each call of a decorated function
        return type(self)(self.name, self.args)

    def __enter__(self) -> record_function:
        recorder = active
        if recorder is None:
            self.entered.append(None)
        else:
            event = recorder.begin(self.name, "user")
            event.args = self.args
            self.entered.append((recorder, event))
        return self

    def __exit__(self, *exc: object) -> None:
        entered = self.entered.pop()
        if entered is not None:
            recorder, event = entered
            recorder.end(event)


class profile:
    """Record how long operators take, and the backward of their nodes.

    :class:`tensorplay.profiler.profile` is built on it, and also knows schedules.

    Parameters
    ----------
    enabled : bool
        False: the context does nothing.
    record_shapes : bool
        Note the shapes of the arguments.
    with_flops : bool
        Note the floating-point operations of products, convolutions, attention and arithmetic.
    profile_memory : bool
        Note how much memory is allocated and freed, by Python and NumPy. Everything is slower then.
    with_stack : bool
        Note from where operators are called.
    with_modules : bool
        Also record calls of modules; only in :class:`tensorplay.profiler.profile`, which knows them.
    use_cuda, use_device, use_kineto
        For programs written for PyTorch: there is no device to be profiled, and one way to do it.
    use_cpu : bool
        True.
    acc_events : bool
        Keep the events when the profile is started again, rather than begin anew.

    Raises
    ------
    RuntimeError
        On entering, if a profile is being taken already.
    ValueError
        For ``use_cpu=False`` or ``with_modules=True``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.ones(3, requires_grad=True)
    >>> with tp.autograd.profiler.profile(record_shapes=True) as prof:
    ...     (x * x).sum().backward()
    >>> for event in prof.function_events[:2]:
    ...     print(event.name, event.input_shapes)
    mul [[3], [3]]
    sum [[3]]
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        acc_events: bool = False,
        also: Also | None = None,
    ) -> None:
        if use_cuda or use_device not in (None, "cpu"):
            device = (use_device or "cuda").upper()
            warnings.warn(f"{device} is not available, disabling {device} profiling", UserWarning, stacklevel=2)
        if not use_cpu:
            raise ValueError("profile(): use_cpu=False leaves nothing to record: there is no other device")
        if with_modules and also is None:
            raise ValueError("profile(): with_modules=True is for tensorplay.profiler.profile")
        self.enabled, self.record_shapes, self.with_flops = enabled, record_shapes, with_flops
        self.profile_memory, self.with_stack, self.acc_events = profile_memory, with_stack, acc_events
        self.also = also or {}
        self.recorder: Recorder | None = None
        self.recorded: list[FunctionEvent] | None = None

    def prepare(self) -> Recorder:
        """Do what takes time before the first event."""
        if self.recorder is None:
            self.recorder = Recorder(
                self.record_shapes, self.profile_memory, self.with_stack, self.with_flops, self.also
            )
        return self.recorder

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        self.prepare().start()
        return self

    def __exit__(self, *exc: object) -> None:
        recorder = self.recorder
        if not self.enabled or recorder is None:
            return
        recorder.stop()
        self.recorder = None
        self.recorded = (self.recorded or []) + recorder.events if self.acc_events else recorder.events

    @property
    def function_events(self) -> EventList:
        """The events, in the order of their beginning.

        Raises
        ------
        RuntimeError
            If nothing was recorded yet.
        """
        if self.recorded is None:
            raise RuntimeError("Profiler didn't finish running: there are events once its context has been left")
        return EventList(self.recorded, profile_memory=self.profile_memory, with_flops=self.with_flops)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The events of one key together; see :meth:`EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """The events as a table; see :meth:`EventList.table`."""
        return self.function_events.table(sort_by, row_limit, **options)

    def total_average(self) -> FunctionEventAvg:
        """All events together."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, each counted once."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
        """Write a trace; see :meth:`EventList.export_chrome_trace`."""
        self.function_events.export_chrome_trace(path, metadata)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write stacks with their times; see :meth:`EventList.export_stacks`.

        Raises
        ------
        RuntimeError
            Without ``with_stack``.
        """
        if not self.with_stack:
            raise RuntimeError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def __repr__(self) -> str:
        return "<unfinished profile>" if self.recorded is None else str(self.function_events)

    def __str__(self) -> str:
        return "<unfinished profile>" if self.recorded is None else self.function_events.table()
