"""Compiled functions: which program a call runs, and what becomes of its results."""

from __future__ import annotations

import functools
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from ..amp.autocast_mode import region
from ..backends.xla import DataDependent, enable_x64, in_memory_of, operand
from ..core import dtype as dtypes
from ..core import pytree
from ..core.carrier import Batched, Carrier, Dual
from ..core.node import Node, Output
from ..core.state import RARE, count, live_levels, state
from ..core.tensor import Tensor, mark_inference, overrides, wrap
from ..core.threads import get_num_threads
from ..core.versions import note_write, written, written_since
from .capture import VALUES
from .fusion import function_of
from .quick import MISS, quick
from .tracing import (
    LEAF,
    NOT_TRACKED,
    BackwardTrace,
    Draw,
    Slot,
    Trace,
    Unsettled,
    Unsupported,
    hooked,
    tracking,
    without_hooks,
)

ndarray = np.ndarray
Array = np.ndarray[Any, Any]

LIMIT = 64
"""How many programs a function may have before it is run eagerly."""

KINDS = "", " (a leaf that requires grad)", " (a result that requires grad)"

FEW = 8
"""How many programs one Python value that changes may have."""

compiling = threading.RLock()


def executable(closed: Any, used: list[int], threads: int) -> Callable[..., Any]:
    """The program of a jaxpr, as a function of those inputs that it uses."""
    run, n = function_of(closed), len(closed.jaxpr.invars)
    given = {id(v) for v in [*closed.jaxpr.invars, *closed.jaxpr.constvars]}
    seen: set[int] = set()
    copied = []  # results that are inputs, or another result: they need memory of their own
    for i, v in enumerate(closed.jaxpr.outvars):
        if id(v) in given or id(v) in seen or isinstance(v, jax.extend.core.Literal):
            copied.append(i)
        seen.add(id(v))

    def program(*arrays: Any) -> Any:
        full: list[Any] = [None] * n
        for i, a in zip(used, arrays):
            full[i] = a
        out = list(run(*full))
        for i in copied:
            out[i] = jax.numpy.array(out[i], copy=True)
        return out

    options = None if threads > 1 else {"xla_cpu_multi_thread_eigen": False}
    return jax.jit(program, compiler_options=options)


def sole_owner(t: Tensor) -> bool:
    """Whether nobody but the tensor can see its array."""
    return sys.getrefcount(t._data) <= ALONE


ALONE = 0
while not sole_owner(wrap(np.empty(1))):
    ALONE += 1


def store(t: Tensor, result: Any) -> None:
    """Write a result to the memory of a tensor; where nobody else can see that, the result's memory takes its place."""
    if sys.getrefcount(t._data) <= ALONE and (t._data.base is None or hasattr(t._data.base, "xla_array")):
        t._data = in_memory_of(result)
    else:
        np.copyto(t._data, np.asarray(result))
        note_write(t._data)


named: set[str] = set()


def name_callbacks(function: str, callbacks: dict[str, str]) -> None:
    """Say once for each operator that XLA has no kernel for it."""
    new = sorted(set(callbacks) - named)
    if new:
        named.update(new)
        warnings.warn(f"compile: {function}: NumPy computes {', '.join(new)} by callback, as XLA has no kernel for "
                      f"{'it' if len(new) == 1 else 'them'}", stacklevel=5)  # fmt: skip


def rehome(t: Tensor) -> None:
    """Move a tensor's array, which nobody else can see, into memory that XLA takes without a copy."""
    data = t._data
    alone = sys.getrefcount(data) <= ALONE + 1  # `data` is one more
    if alone and data.base is None and data.flags.c_contiguous and data.flags.writeable:
        with enable_x64(True):
            t._data = in_memory_of(jax.numpy.array(data, copy=True))


MODES = "grad mode", "inference mode", "default dtype", "number of threads", "autocast", "inside vmap", "device"


def mode_key() -> tuple[Any, ...]:
    """What else the trace of a function depends on."""
    return (bool(state.recording), state.inference, dtypes.get_default_dtype(), get_num_threads() > 1, region.dtype,
            bool(state.batches), state.devices)  # fmt: skip


class Overlap(Exception):
    """The tensors of a call share memory as a program does not expect it."""


class Entry:
    """One program of a compiled function, and when it may run."""

    def __init__(self, trace: Trace, closed: Any, mode: tuple[Any, ...], reason: str) -> None:
        self.mode, self.reason, self.runs = mode, reason, 0
        self.spec, self.places = trace.spec, trace.reach.places
        self.callbacks = trace.callbacks
        self.trace = trace if trace.tracked else None
        slots = [s for s in trace.slots if s.touched]
        numbers = [s.index for s in slots] + [len(trace.slots) + i for i in range(len(trace.draws))]
        self.draws: list[Draw] = trace.draws
        self.inputs: list[Slot] = slots
        for slot in slots:
            slot.strides = slot.array.strides if slot.cell.arranged else None
        self.results = [(v.aval.shape, np.dtype(v.aval.dtype)) for v in closed.jaxpr.outvars]
        self.program = executable(closed, numbers, get_num_threads())
        self.leaves = self.leaf_checks(trace)
        self.twins = trace.twins
        self.pinned = {s.argument: s.tensor for s in trace.slots if s.argument is not None
                       and id(s.tensor) in trace.captured}  # fmt: skip
        self.others = [s for s in slots if s.argument is None and s.grad_of is None]
        self.watched = [s for s in trace.slots if s.watched.looked_at and s.tracking == LEAF]
        self.out_spec, self.outputs = trace.out_spec, trace.outputs
        self.writes, self.grads = trace.writes, trace.grads
        self.tracked = [i for i, _ in trace.tracked]
        self.residuals = [where for _, where in trace.residuals]
        self.ends, self.spent = trace.ends, [i for i, _ in trace.spent]
        self.backwards: dict[tuple[bool, ...], Any] = {}
        self.arity = len(self.leaves)
        self.names = [s.label for s in slots]
        trace.forget()
        for slot in slots:
            rehome(slot.tensor)
        self.quick = quick(self)
        for slot in trace.slots:  # arguments of the first call are nobody's business any more
            if slot.argument is not None and slot.argument not in self.pinned:
                slot.tensor = None  # type: ignore[assignment]

    @staticmethod
    def leaf_checks(trace: Trace) -> list[Any]:
        """For each leaf of the arguments: what it must be."""
        out: list[Any] = []
        for leaf in trace.leaves:
            if isinstance(leaf, Tensor):
                data = leaf._data
                out.append((type(leaf), data.shape, data.dtype, tracking(leaf)))
            elif type(leaf) in VALUES:
                out.append((None, type(leaf), leaf))
            else:
                out.append((None, None, leaf))
        return out

    # ---- may it run

    def distance(self, spec: Any, mode: tuple[Any, ...]) -> int:
        """How much there is between a call and the program, roughly."""
        return sum(a != b for a, b in zip(mode, self.mode)) + (spec != self.spec)

    def mismatch(self, leaves: list[Any], spec: Any, mode: tuple[Any, ...]) -> str | None:
        """Why it may not run; None if it may."""
        if mode != self.mode:
            return next(f"{n} is {b}, was {a}" for n, a, b in zip(MODES, self.mode, mode) if a != b)
        if spec != self.spec:
            return f"structure of the arguments: {spec}, was {self.spec}"
        for i, (leaf, check) in enumerate(zip(leaves, self.leaves)):
            kind = check[0]
            if kind is None:
                want = check[2]
                if leaf is not want and (check[1] is None or type(leaf) is not check[1] or leaf != want):
                    return f"argument {i}: {leaf!r}, was {want!r}"
            else:
                if type(leaf) is not kind:
                    return f"argument {i}: {type(leaf).__name__}, was {kind.__name__}"
                data = leaf._data
                if type(data) is not ndarray or data.shape != check[1] or data.dtype != check[2] or (
                    leaf._node is not None if check[3] == NOT_TRACKED else tracking(leaf) != check[3]
                ):  # fmt: skip
                    now, was = KINDS[tracking(leaf)], KINDS[check[3]]
                    if now == was:
                        now = was = ""
                    return f"argument {i}: {data.dtype} {list(data.shape)}{now}, was {check[2]} {list(check[1])}{was}"
                if check[3] == LEAF and hooked(leaf):
                    return f"argument {i} has hooks"
        for i, t in self.pinned.items():
            if leaves[i] is not t:
                return f"argument {i} is no longer a tensor that the function closes over"
        for i, j in self.twins.items():
            if leaves[i] is not leaves[j]:
                return f"arguments {i} and {j} are no longer the same tensor"
        for slot in self.others:
            t = slot.tensor
            data = t._data
            if data.shape != slot.shape or data.dtype is not slot.dtype or (
                t._node is not None if slot.tracking == NOT_TRACKED else tracking(t) != slot.tracking
            ):  # fmt: skip
                return f"{slot.label}: {data.dtype} {list(data.shape)}, was {slot.dtype} {list(slot.shape)}"
            if not slot.hooked and slot.tracking == LEAF and hooked(t):
                return f"{slot.label} has hooks"
        for slot in self.inputs:
            if slot.strides is not None and self.tensor_of(slot, leaves)._data.strides != slot.strides:
                return f"strides of {slot.label}"
        for slot in self.watched:
            t = slot.tensor if slot.tensor is not None else leaves[slot.argument]
            rare = t._rare
            if (rare is not None and rare.grad is not None) is not slot.had_grad:
                return f"{slot.label}.grad is {'None' if slot.had_grad else 'there'}, was not"
        for place in self.places:
            i = place.changed()
            if i is not None:
                return f"{place.name_of(i)} has changed"
        return None

    # ---- running

    def tensor_of(self, slot: Slot, leaves: list[Any]) -> Tensor:
        """The tensor that an input is in this call."""
        if slot.grad_of is not None:
            return self.tensor_of(slot.grad_of, leaves)._rare.grad  # type: ignore[union-attr,return-value]
        return slot.tensor if slot.tensor is not None else leaves[slot.argument]

    def run(self, leaves: list[Any]) -> Any:
        """Run the program on the tensors of a call; write back, and make the result."""
        tensors: dict[Slot, Tensor] = {}
        arrays: list[Any] = []
        memory: list[int] = []
        t: Any
        for slot in self.inputs:
            t = slot.tensor
            if t is None or slot.grad_of is not None:
                t = self.tensor_of(slot, leaves)
            tensors[slot] = t
            data = t._data
            base = data.base
            arrays.append(operand(data))
            memory.append(id(data if type(base) is not ndarray else base))
        data = base = t = None
        if self.writes and len(set(memory)) < len(memory):
            self.check_overlap(tensors)
        self.runs += 1
        drawn = [draw.make() for draw in self.draws]
        with enable_x64(True):
            results = self.program(*arrays, *drawn)
        if results:
            results[0].block_until_ready()  # all results are there when the first one is
        kept = self.keep(results, arrays, tensors) if self.tracked else None
        arrays = None  # type: ignore[assignment]  # who else holds an array matters to `store`
        for slot, i in self.writes:
            store(tensors[slot], results[i])
        for slot, how, what in self.grads:
            t = tensors.get(slot)
            if t is None:
                t = self.tensor_of(slot, leaves)
            if how == "value":
                t._rarely().grad = wrap(in_memory_of(results[what]))
            else:
                t._rarely().grad = None if how == "none" else tensors[what]
        out: list[Any] = []
        for how, what in self.outputs:
            if how == "value":
                out.append(wrap(in_memory_of(results[what])))
            elif how == "input":
                out.append(tensors[what])
            elif how == "object":
                out.append(what)
            elif how == "again":
                out.append(out[what])
            elif how == "view":
                out.append(self.view(tensors[what[0]], what[1]))
            elif how == "detached":
                out.append(tensors[what].detach())
            else:
                out.append(wrap(what.copy()))
        for i in self.spent:
            out[i]._node = Spent()
        if self.mode[1]:
            for (how, _), t in zip(self.outputs, out):
                if how in ("value", "constant"):
                    mark_inference(t)
        if self.tracked:
            self.link(out, kept, tensors, leaves, drawn)
        return out[0] if self.out_spec is pytree.LEAF else pytree.unflatten(out, self.out_spec)

    def check_overlap(self, tensors: dict[Slot, Tensor]) -> None:
        """Refuse inputs that share memory, if one of them is written to."""
        for slot, _ in self.writes:
            for other, t in tensors.items():
                if other is not slot and np.may_share_memory(tensors[slot]._data, t._data):
                    raise Overlap(f"{slot.label} is written to and shares memory with {other.label}")

    @staticmethod
    def view(base: Tensor, steps: tuple[Any, ...]) -> Tensor:
        """A view of an input that the function returned."""
        t = base
        for primitive, attrs, index in steps:
            t = primitive.function(t, *attrs)
            t = t if index is None else t[index]
        return t

    def written(self) -> list[str]:
        """Names of what is written to."""
        return [s.label for s, _ in self.writes] + [f"{s.label}.grad" for s, *_ in self.grads]

    # ---- derivatives

    def keep(self, results: Any, arrays: list[Any], tensors: dict[Slot, Tensor]) -> list[Any]:
        """What the backward program will read."""
        places = {slot: i for i, slot in enumerate(tensors)}
        return [arrays[places[w]] if isinstance(w, Slot) else results[w] for w in self.residuals]

    def link(self, out: list[Any], kept: Any, tensors: dict[Slot, Tensor], leaves: list[Any], drawn: Any) -> None:
        """Give the results the history of one operator."""
        read = [tensors[w]._data for w in self.residuals if isinstance(w, Slot)]
        ends = [tensors[s] for s in self.ends]
        node = CompiledBackward(self, kept, ends, leaves, drawn, read, list(tensors.values()))
        for k, i in enumerate(self.tracked):
            out[i]._node = Output(node, k)

    def backward(self, given: tuple[bool, ...], cotangents: list[Any]) -> Any:
        """The program of a backward pass in which these outputs have cotangents."""
        found = self.backwards.get(given)
        if found is None:
            with compiling:
                trace = BackwardTrace(self.trace, given)  # type: ignore[arg-type]
                shapes = [jax.ShapeDtypeStruct(g.shape, g.dtype) for g in cotangents]
                closed = trace.run(shapes)
                self.callbacks.update(trace.callbacks)
                n = len(closed.jaxpr.invars)
                found = executable(closed, list(range(n)), get_num_threads()), trace.reached
                self.backwards[given] = found
        return found


class CompiledBackward(Node):
    """The node of a compiled function: its reverse rule is a program, too."""

    __slots__ = ("drawn", "entry", "inputs", "leaves", "outputs", "read", "tensors")

    keeps = True

    def __init__(
        self, entry: Entry, kept: Any, inputs: list[Tensor], leaves: list[Any], drawn: Any, read: list[Array],
        tensors: list[Tensor],
    ) -> None:  # fmt: skip
        self.edges = tuple([t._node for t in inputs])
        self.saved, self.rare = kept, None
        self.entry, self.inputs, self.leaves, self.drawn = entry, inputs, leaves, drawn
        self.read, self.tensors = read, tensors
        self.outputs = len(entry.tracked)
        self.order = count()

    def check(self, arrays: list[Array]) -> None:
        """Refuse what was written to since."""
        for array in arrays if written else ():
            if (write := written_since(array, self.order)) is not None:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{array.dtype} {list(array.shape)}], an input of a compiled function, is at version "
                    f"{write.version}, written after the function ran. Hint: clone it before the in-place operation."
                )

    def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        self.check(self.read)
        given = tuple([g is not None for g in cotangent])
        there = [operand(g) for g in cotangent if g is not None]
        program, reached = self.entry.backward(given, there)
        with enable_x64(True):
            found = program(*saved, *there)
        if found:
            found[0].block_until_ready()
        results = iter(found)
        return tuple([in_memory_of(next(results)) if r else None for r in reached])

    def pull_tensors(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        """Where the pass itself is to be differentiated: the function is run again, eagerly."""
        self.check([t._data for t in self.tensors])
        from ..autograd.engine import run

        entry = self.entry
        recording, tracing = state.recording, state.tracing
        state.recording, state.tracing = True, Repeated(self.drawn)
        try:
            args, kwargs = pytree.unflatten(self.leaves, entry.spec)
            out = pytree.flatten(entry.trace.fn(*args, **kwargs))[0]  # type: ignore[union-attr]
        finally:
            state.recording, state.tracing = recording, tracing
        roots = [(out[i]._node, g) for i, g in zip(entry.tracked, cotangent) if g is not None]
        ends = [t._node for t in self.inputs]
        with without_hooks(ends):
            found = run(roots, ends, retain_graph=True, create_graph=bool(recording), accumulate=False, bare=False)  # type: ignore[arg-type]
        return tuple([found.get(end) for end in ends])  # type: ignore[arg-type]


class Spent(Node):
    """The node of a result whose graph a backward pass inside the compiled function has freed."""

    __slots__ = ()
    keeps = True

    def __init__(self) -> None:
        self.edges, self.saved, self.rare, self.order = (), None, None, count()

    def name(self) -> str:
        return "CompiledBackward"


class Repeated:
    """Stands for a trace while a function is run again: random numbers are those of the first time."""

    def __init__(self, drawn: list[Any]) -> None:
        self.next = iter(drawn).__next__

    def draw(self, *args: Any) -> Any:
        return self.next()

    def write(self, base: Tensor, data: Any) -> None:
        base._data = data


ALL: weakref.WeakSet[Compiled] = weakref.WeakSet()
"""Every compiled function."""


class Compiled:
    """A function that runs as a program of XLA; made by :func:`tensorplay.compile`."""

    def __init__(self, fn: Callable[..., Any], fullgraph: bool, disable: bool) -> None:
        self.__wrapped__ = fn
        self._fullgraph, self._disable = fullgraph, disable
        self._forget()
        ALL.add(self)
        if not hasattr(fn, "forward"):
            functools.update_wrapper(self, fn)

    def _forget(self) -> None:
        """Start anew."""
        self._entries: list[Entry] = []  # the newest first
        self._refused: str | None = None  # why it is run eagerly
        self._events: list[str] = []
        self._unsettled = 0
        self._derived: dict[Any, Any] = {}  # of transforms around it

    @property
    def _name(self) -> str:
        return getattr(self.__wrapped__, "__name__", type(self.__wrapped__).__name__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {self._name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._disable or self._refused is not None or state.tracing is not None or state.recording is RARE:
            return self.__wrapped__(*args, **kwargs)
        mode = mode_key()
        if not kwargs:
            for entry in self._entries:
                if entry.quick is not None and entry.arity == len(args):
                    out = entry.quick(mode, *args)
                    if out is not MISS:
                        return out
        leaves, spec = pytree.flatten((args, kwargs))
        for entry in self._entries:
            if entry.mismatch(leaves, spec, mode) is None:
                try:
                    return entry.run(leaves)
                except Overlap as overlap:
                    return self._once(str(overlap), args, kwargs)
        return self._miss(args, kwargs, leaves, spec, mode)

    def _miss(self, args: Any, kwargs: Any, leaves: list[Any], spec: Any, mode: tuple[Any, ...]) -> Any:
        level, kind = 0, None
        for data in [leaf._data for leaf in leaves if isinstance(leaf, Tensor) and isinstance(leaf._data, Carrier)]:
            if data.level not in live_levels:
                return self.__wrapped__(*args, **kwargs)
            if data.level > level:
                level, kind = data.level, type(data)
        if level:
            if state.recording and any([isinstance(x, Tensor) and x._node is not None for x in leaves]):
                return self.__wrapped__(*args, **kwargs)  # the tape is that of the transform's level
            if kind is Batched:
                return self._batched(leaves, spec, level)
            if kind is Dual:
                return self._dual(leaves, spec, level)
            return self.__wrapped__(*args, **kwargs)
        if any([isinstance(leaf, Tensor) and leaf.is_meta for leaf in leaves]):
            return self.__wrapped__(*args, **kwargs)
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor) and overrides(type(leaf)):
                return self._once(f"argument {i} is of {type(leaf).__name__}, which overrides operators", args, kwargs)
            if isinstance(leaf, Tensor) and hooked(leaf):
                return self._once(f"argument {i} has hooks", args, kwargs)
            if isinstance(leaf, Tensor) and leaf.__dict__:  # which may decide, and those of the next call differ
                return self._once(f"argument {i} has attributes of its own: {', '.join(leaf.__dict__)}", args, kwargs)
        with compiling:
            reason = "first call"
            if any(e.mismatch(leaves, spec, mode) is None for e in self._entries):
                return self(*args, **kwargs)  # another thread has compiled it meanwhile
            if self._entries:
                nearest = min(self._entries, key=lambda e: e.distance(spec, mode))
                reason = nearest.mismatch(leaves, spec, mode) or "first call"
            if reason.endswith("has changed") and sum(e.reason == reason for e in self._entries) >= FEW:
                return self._give_up(f"{reason} for the {FEW + 1}th time; keep it in a tensor", args, kwargs)
            if len(self._entries) >= LIMIT:
                return self._give_up(f"it was compiled {LIMIT} times, last because of {reason}", args, kwargs)
            trace = Trace(self.__wrapped__, args, kwargs)
            try:
                closed = trace.run()
                entry = Entry(trace, closed, mode, reason)
            except Unsettled as error:
                self._unsettled += 1
                if self._unsettled > 2 or self._fullgraph and self._unsettled > 1:
                    return self._give_up(str(error), args, kwargs, error)
                self._events.append(f"run eagerly once: {error}")
                return self.__wrapped__(*args, **kwargs)
            except (Unsupported, DataDependent) as error:
                return self._give_up(str(error), args, kwargs, error)
            except Exception as error:
                if self._fullgraph:
                    raise
                return self._after_failure(error, args, kwargs)
            finally:
                trace.forget()
            self._unsettled = 0
            self._entries.insert(0, entry)
            self._events.append(reason)
            if entry.callbacks:
                name_callbacks(self._name, entry.callbacks)
        return entry.run(leaves)

    def _give_up(self, why: str, args: Any, kwargs: Any, error: Exception | None = None) -> Any:
        """Run eagerly from now on, with a warning; or raise, if only a whole program will do."""
        if self._fullgraph:
            raise RuntimeError(f"compile(fullgraph=True): {self._name} cannot be compiled: {why}") from error
        self._refused = why
        warnings.warn(f"compile: {self._name} is run eagerly: {why}", stacklevel=4)
        return self.__wrapped__(*args, **kwargs)

    def _once(self, why: str, args: Any, kwargs: Any) -> Any:
        """Run one call eagerly."""
        if self._fullgraph:
            raise RuntimeError(f"compile(fullgraph=True): {self._name} cannot be run on these tensors: {why}")
        event = f"run eagerly once: {why}"
        if event not in self._events:
            self._events.append(event)
            warnings.warn(f"compile: {self._name} is run eagerly for a call: {why}", stacklevel=4)
        return self.__wrapped__(*args, **kwargs)

    def _after_failure(self, error: Exception, args: Any, kwargs: Any) -> Any:
        """Where tracing failed: the error is the caller's, if the function raises it eagerly, too."""
        out = self.__wrapped__(*args, **kwargs)
        why = f"{type(error).__name__} while it was traced: {error}"
        self._refused = why
        warnings.warn(f"compile: {self._name} is run eagerly: {why}", stacklevel=4)
        return out

    # ---- inside of transforms: the transformed function is compiled

    def _batched(self, leaves: list[Any], spec: Any, level: int) -> Any:
        from ..func import vmap

        dims = tuple([0 if type(d := getattr(x, "_data", None)) is Batched and d.level == level else None
                      for x in leaves])  # fmt: skip
        randomness = next(r for n, _, r in state.batches if n == level)
        values = [x._data.value if d == 0 else x for x, d in zip(leaves, dims)]
        key = ("vmap", dims, spec, randomness)
        derived = self._derived.get(key)
        if derived == "tracked":
            return self._inline(leaves, spec)
        if derived is None:
            fn = self.__wrapped__

            def batched(*xs: Any) -> Any:
                def one(*moving: Any) -> Any:
                    following = iter(moving).__next__
                    args, kwargs = pytree.unflatten(
                        [following() if d == 0 else x for x, d in zip(xs, dims)], spec)  # fmt: skip
                    return fn(*args, **kwargs)

                return vmap(one, randomness=randomness)(*[x for x, d in zip(xs, dims) if d == 0])

            derived = self._derived[key] = Compiled(batched, self._fullgraph, False)
        batches = state.batches
        state.batches = tuple([b for b in batches if b[0] != level])
        try:
            out = derived(*values)
        finally:
            state.batches = batches
        if any([isinstance(t, Tensor) and t._node is not None for t in pytree.leaves(out)]):
            self._derived[key] = "tracked"  # a closed-over tensor requires grad: its tape is that of the level, too
            return self._inline(leaves, spec)
        return pytree.tree_map(lambda t: wrap(Batched(t, level)) if isinstance(t, Tensor) else t, out)

    def _dual(self, leaves: list[Any], spec: Any, level: int) -> Any:
        from ..func import jvp

        moving = tuple([type(d := getattr(x, "_data", None)) is Dual and d.level == level for x in leaves])
        primals = [x._data.primal if m else x for x, m in zip(leaves, moving)]
        tangents = [x._data.tangent for x, m in zip(leaves, moving) if m]
        key = ("jvp", moving, spec)
        derived = self._derived.get(key)
        if derived == "tracked":
            return self._inline(leaves, spec)
        if derived is None:
            fn = self.__wrapped__

            def pushed(xs: Any, tangents: Any) -> Any:
                def of_moving(*given: Any) -> Any:
                    following = iter(given).__next__
                    args, kwargs = pytree.unflatten([following() if m else x for x, m in zip(xs, moving)], spec)
                    return fn(*args, **kwargs)

                return jvp(of_moving, tuple([x for x, m in zip(xs, moving) if m]), tuple(tangents))

            derived = self._derived[key] = Compiled(pushed, self._fullgraph, False)
        out, tangent = derived(primals, tangents)
        outs, out_spec = pytree.flatten(out)
        if any([isinstance(o, Tensor) and o._node is not None for o in outs]):
            self._derived[key] = "tracked"
            return self._inline(leaves, spec)
        pushed_outs = [wrap(Dual(o, t, level)) for o, t in zip(outs, pytree.flatten(tangent)[0])]
        return pytree.unflatten(pushed_outs, out_spec)

    def _inline(self, leaves: list[Any], spec: Any) -> Any:
        args, kwargs = pytree.unflatten(leaves, spec)
        return self.__wrapped__(*args, **kwargs)


class Program(NamedTuple):
    """One program of a compiled function, as ``explain`` tells of it.

    Attributes
    ----------
    reason : str
        Why it was compiled.
    runs : int
        How often it has run.
    inputs, written : list of str
        The tensors that it reads, and those that it writes to.
    callbacks : dict
        Operators that NumPy computes, with the reason.
    """

    reason: str
    runs: int
    inputs: list[str]
    written: list[str]
    callbacks: dict[str, str]


class Explanation:
    """What a compiled function has compiled; see :func:`tensorplay.compiler.explain`."""

    def __init__(self, compiled: Compiled) -> None:
        self.name, self.eager, self.events = compiled._name, compiled._refused, list(compiled._events)
        self.programs = [
            Program(e.reason, e.runs, e.names, e.written(),
                    dict(e.callbacks))
            for e in reversed(compiled._entries)
        ]  # fmt: skip

    def __str__(self) -> str:
        def many(n: int, what: str) -> str:
            return f"{n} {what}{'s' * (n != 1)}"

        lines = [f"{self.name}: {many(len(self.programs), 'program')}"]
        for i, p in enumerate(self.programs, 1):
            lines.append(f"  {i}. {p.reason}: {many(p.runs, 'run')}, {many(len(p.inputs), 'input')}, "
                         f"{len(p.written)} written")  # fmt: skip
            if p.callbacks:
                lines.append(f"     NumPy computes {', '.join(sorted(p.callbacks))}")
        lines += [f"  {event}" for event in self.events if event.startswith("run eagerly")]
        if self.eager is not None:
            lines.append(f"  run eagerly: {self.eager}")
        return "\n".join(lines)

    __repr__ = __str__
