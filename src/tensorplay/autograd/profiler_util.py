"""What a profile consists of: events, averages of them, tables, traces for Chrome."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]


def format_time(us: float, unit: str | None = None) -> str:
    """A duration in the unit that suits it, or in the given one."""
    if unit is None:
        unit = "s" if us >= 1e6 else "ms" if us >= 1e3 else "us"
    return f"{us / {'s': 1e6, 'ms': 1e3, 'us': 1.0}[unit]:.3f}{unit}"


def format_memory(nbytes: float) -> str:
    """A number of bytes in the unit that suits it."""
    for unit, size in (("Gb", 2**30), ("Mb", 2**20), ("Kb", 2**10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes:.0f} b"


class Interval:
    """A span of time, in microseconds since the profile began."""

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """Its length."""
        return self.end - self.start

    def __repr__(self) -> str:
        return f"[{self.start:.3f}us, {self.end:.3f}us]"


class FunctionEvent:
    """One call of an operator, of a node's backward, or of what is inside a :class:`record_function`.

    Attributes
    ----------
    name, key : str
        What was called; under which key averages are taken.
    time_range : Interval
        When.
    thread : int
        In which thread.
    cpu_parent : FunctionEvent or None
        The event that this one is part of.
    cpu_children : list of FunctionEvent
        The events that are part of this one.
    cpu_time_total, self_cpu_time_total : float
        Microseconds, with and without the children.
    input_shapes, input_dtypes : list
        Shape and dtype of each tensor among the arguments; empty for anything else. Only with ``record_shapes``.
    stack : list of str
        Where the call came from, innermost first. Only with ``with_stack``.
    cpu_memory_usage, self_cpu_memory_usage : int
        Bytes allocated less bytes freed, with and without the children. Only with ``profile_memory``.
    flops : int
        Floating-point operations, where they are known. Only with ``with_flops``.
    sequence_nr : int
        The number of the graph's node that an operator made, or that a backward ran; -1 for neither.
    """

    count = 1
    id = 0
    sequence_nr = -1
    cpu_memory_usage = flops = 0
    args: str | None = None
    cpu_children: list[FunctionEvent]
    input_shapes: list[Any]
    input_dtypes: list[str]
    stack: list[str]

    def __init__(self, name: str, scope: str, thread: int, parent: FunctionEvent | None) -> None:
        self.name, self.scope, self.thread, self.cpu_parent = name, scope, thread, parent
        self.start_ns = self.end_ns = 0

    def finish(self, id: int, origin: int) -> None:
        """Once the profile has ended: give the event its number, count its times from the profile's beginning."""
        self.id = id
        self.start_ns -= origin
        self.end_ns -= origin
        self.cpu_children = []
        if self.cpu_parent is not None:
            self.cpu_parent.cpu_children.append(self)
        for name in ("input_shapes", "input_dtypes", "stack"):
            self.__dict__.setdefault(name, [])

    @property
    def key(self) -> str:
        return re.sub(r"^ProfilerStep#\d+$", "ProfilerStep*", self.name)

    @property
    def is_user_annotation(self) -> bool:
        return self.scope == "user"

    @property
    def time_range(self) -> Interval:
        return Interval(self.start_ns / 1e3, self.end_ns / 1e3)

    @property
    def cpu_time_total(self) -> float:
        return (self.end_ns - self.start_ns) / 1e3

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        own = self.end_ns - self.start_ns
        for child in self.cpu_children:
            own -= child.end_ns - child.start_ns
        return own / 1e3

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum([child.cpu_memory_usage for child in self.cpu_children])

    @property
    def within_itself(self) -> bool:
        """Whether an event of the same key contains this one."""
        key, above = self.key, self.cpu_parent
        while above is not None:
            if above.key == key:
                return True
            above = above.cpu_parent
        return False

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={format_time(self.cpu_time_total)} "
            f"time_range={self.time_range} thread={self.thread} children={[c.id for c in self.cpu_children]} "
            f"input_shapes={self.input_shapes} sequence_nr={self.sequence_nr}>"
        )


class FunctionEventAvg:
    """What the events of one key come to.

    Attributes
    ----------
    key : str
        What was called.
    count : int
        How often.
    cpu_time_total, self_cpu_time_total : float
        Microseconds of all calls together; a call within a call of the same key adds nothing to the former.
    cpu_time : float
        Microseconds of a call, on average.
    """

    def __init__(self) -> None:
        self.key = ""
        self.count = self.cpu_memory_usage = self.self_cpu_memory_usage = self.flops = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.input_shapes: Any = ""
        self.stack: list[str] = []
        self.scope = ""
        self.is_user_annotation = False

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Take an event, or another average, into this one."""
        if not self.count:
            self.key, self.scope, self.is_user_annotation = event.key, event.scope, event.is_user_annotation
        self.count += event.count
        if not isinstance(event, FunctionEvent) or not event.within_itself:
            self.cpu_time_total += event.cpu_time_total
            self.cpu_memory_usage += event.cpu_memory_usage
        self.self_cpu_time_total += event.self_cpu_time_total
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        self.flops += event.flops
        return self

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} count={self.count} self_cpu_time={format_time(self.self_cpu_time_total)}"
            f" cpu_time={format_time(self.cpu_time)} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list[Any]):
    """Events, or averages of them, with tables and exports.

    Examples
    --------
    >>> import tensorplay as tp
    >>> with tp.profiler.profile() as prof:
    ...     y = tp.ones(3).exp().sum()
    >>> [event.name for event in prof.events()]
    ['ones', 'exp', 'sum']
    >>> prof.key_averages().table(sort_by="self_cpu_time_total").splitlines()[1].split("  ")[-1].strip()
    '# of Calls'
    """

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False) -> None:
        super().__init__(events)
        self.profile_memory, self.with_flops = profile_memory, with_flops

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, each counted once."""
        return sum([event.self_cpu_time_total for event in self])

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The events of one key together, in the order in which the keys first came.

        Parameters
        ----------
        group_by_input_shapes : bool
            Keep calls with different shapes apart.
        group_by_stack_n : int
            Keep calls apart that differ in the innermost so many lines of their stacks.
        """
        found: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            stack = tuple(event.stack[:group_by_stack_n])
            key = event.key, event.scope, shapes, stack
            average = found.get(key)
            if average is None:
                average = found[key] = FunctionEventAvg()
                average.input_shapes, average.stack = event.input_shapes if group_by_input_shapes else "", list(stack)
            average.add(event)
        return EventList(found.values(), profile_memory=self.profile_memory, with_flops=self.with_flops)

    def total_average(self) -> FunctionEventAvg:
        """All events together, under the key "Total"."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        return total

    # ---- as a table

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table.

        Parameters
        ----------
        sort_by : str
            An attribute, largest first: "cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage",
            "self_cpu_memory_usage", "count", "flops". By default in the order of the list.
        row_limit : int
            How many rows are shown; -1: all.
        max_src_column_width, max_name_column_width, max_shapes_column_width : int
            Longer sources, names and shapes are cut.
        header : str
            A line above.
        top_level_events_only : bool
            Leave out events that are part of others.
        time_unit : {"s", "ms", "us"}
            The unit of all times; by default what suits each.

        Raises
        ------
        AttributeError
            If events cannot be sorted by that name.
        """
        if sort_by is not None and sort_by not in SORTABLE:
            raise AttributeError(f"table(): events have no {sort_by!r} to sort by; there are {', '.join(SORTABLE)}")
        rows = [e for e in self if not (top_level_events_only and getattr(e, "cpu_parent", None) is not None)]
        total = sum([event.self_cpu_time_total for event in self])
        if sort_by is not None:
            rows.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        columns = self.columns(rows, total, time_unit, max_name_column_width, max_shapes_column_width)
        stacks = [list(event.stack) for event in rows]
        if any(stacks):
            cut = [[cut_left(line, max_src_column_width) for line in stack] for stack in stacks]
            columns.append(("Source Location", [stack[0] if stack else "" for stack in cut], str.ljust))
        else:
            cut = [[] for _ in rows]
        shown = len(rows) if row_limit < 0 else row_limit
        widths = [max(map(len, [title, *cells])) for title, cells, _ in columns]
        line = "  ".join("-" * width for width in widths)
        out = [header] if header is not None else []
        out += [line, "  ".join(adjust(title, width) for (title, _, adjust), width in zip(columns, widths)), line]
        for i in range(min(shown, len(rows))):
            out.append("  ".join(adjust(cells[i], width) for (_, cells, adjust), width in zip(columns, widths)))
            indent = sum(widths[:-1]) + 2 * (len(widths) - 1)
            out += [" " * indent + source for source in cut[i][1:]]
        out += [line, f"Self CPU time total: {format_time(total, time_unit)}", ""]
        return "\n".join(row.rstrip() for row in out)

    def columns(
        self, rows: Sequence[Any], total: float, unit: str | None, name_width: int, shapes_width: int
    ) -> list[tuple[str, list[str], Any]]:
        """Title, cells and alignment of each column."""

        def share(us: float) -> str:
            return f"{100 * us / total:.2f}%" if total else "0.00%"

        names = [event.key if isinstance(event, FunctionEventAvg) else event.name for event in rows]
        columns: list[tuple[str, list[str], Any]] = [
            ("Name", [n if len(n) <= name_width else n[: name_width - 3] + "..." for n in names], str.rjust),
            ("Self CPU %", [share(e.self_cpu_time_total) for e in rows], str.rjust),
            ("Self CPU", [format_time(e.self_cpu_time_total, unit) for e in rows], str.rjust),
            ("CPU total %", [share(e.cpu_time_total) for e in rows], str.rjust),
            ("CPU total", [format_time(e.cpu_time_total, unit) for e in rows], str.rjust),
            ("CPU time avg", [format_time(e.cpu_time, unit) for e in rows], str.rjust),
        ]
        if self.profile_memory:
            columns.append(("CPU Mem", [format_memory(e.cpu_memory_usage) for e in rows], str.rjust))
            columns.append(("Self CPU Mem", [format_memory(e.self_cpu_memory_usage) for e in rows], str.rjust))
        columns.append(("# of Calls", [str(e.count) for e in rows], str.rjust))
        if any(e.input_shapes for e in rows):
            shapes = [str(e.input_shapes) for e in rows]
            columns.append(("Input Shapes", [s[:shapes_width] for s in shapes], str.rjust))
        if self.with_flops:
            columns.append(("Total FLOPs", [f"{e.flops:,}" if e.flops else "--" for e in rows], str.rjust))
        return columns

    # ---- for other programs

    def export_chrome_trace(self, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
        """Write a trace that chrome://tracing and Perfetto show; compressed if the path ends in ".gz".

        Arrows lead from each operator to the backward of the node that it made.
        """
        text = json.dumps(self.chrome_trace() | (metadata or {}))
        name = os.fspath(path)
        opened = gzip.open(name, "wt", encoding="utf-8") if name.endswith(".gz") else open(name, "w", encoding="utf-8")
        with opened as file:
            file.write(text)

    def chrome_trace(self) -> dict[str, Any]:
        """The trace as a dict: one complete event for each event, and flows from forward to backward."""
        pid = os.getpid()
        forward = {e.sequence_nr: e for e in self if e.scope == "operator" and e.sequence_nr >= 0}
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "python"}}
        ]
        flows: list[dict[str, Any]] = []
        for e in self:
            span = e.time_range
            args: dict[str, Any] = {"External id": e.id}
            if e.sequence_nr >= 0:
                args["Sequence number"] = e.sequence_nr
            if e.input_shapes:
                args["Input Dims"], args["Input type"] = e.input_shapes, e.input_dtypes
            if e.stack:
                args["Call stack"] = ";\n".join(e.stack)
            if self.profile_memory:
                args["Bytes"] = e.cpu_memory_usage
            if e.flops:
                args["FLOPs"] = e.flops
            if e.args is not None:
                args["args"] = e.args
            origin = forward.get(e.sequence_nr) if e.scope == "backward" else None
            if origin is not None:
                args["Fwd thread id"] = origin.thread
                flow = {"id": len(flows) // 2 + 1, "cat": "fwdbwd", "name": "fwdbwd", "pid": pid}
                flows.append({"ph": "s", **flow, "tid": origin.thread, "ts": origin.time_range.start})
                flows.append({"ph": "f", "bp": "e", **flow, "tid": e.thread, "ts": span.start})
            events.append({"ph": "X", "cat": CATEGORIES[e.scope], "name": e.name, "pid": pid, "tid": e.thread,
                           "ts": span.start, "dur": e.cpu_time_total, "args": args})  # fmt: skip
        return {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": events + flows}

    supported_export_stacks_metrics = ("self_cpu_time_total",)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write one line for each stack, "outermost;...;innermost microseconds", as tools for flame graphs read it.

        Raises
        ------
        ValueError
            For another metric than "self_cpu_time_total".
        """
        if metric not in self.supported_export_stacks_metrics:
            raise ValueError(f"metric should be one of: {list(self.supported_export_stacks_metrics)}, got {metric!r}")
        sums: dict[str, float] = {}
        for event in self:
            if event.stack:
                frames = [re.sub(r"[;\s]", "_", frame) for frame in reversed(event.stack)]
                line = ";".join([*frames, event.key])
                sums[line] = sums.get(line, 0.0) + event.self_cpu_time_total
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line} {int(us)}\n" for line, us in sums.items() if int(us))


SORTABLE = (
    "cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "count", "flops",
)  # fmt: skip
CATEGORIES = {"operator": "cpu_op", "backward": "cpu_op", "pass": "cpu_op", "module": "python_function",
              "user": "user_annotation"}  # fmt: skip


def cut_left(text: str, width: int) -> str:
    """The end of a text: of a path, the part that tells."""
    return text if len(text) <= width else "..." + text[3 - width :]
