"""One run of a function on tracers: its inputs found, its outputs and writes taken down, and everything put back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from ..amp.autocast_mode import region
from ..backends.xla import DataDependent, Missed, Traced, enable_x64
from ..core import pytree, versions
from ..core.node import AccumulateGrad, Node
from ..core.state import count, state
from ..core.tensor import Tensor, TensorState, overrides, tensors_alive, wrap
from .capture import Place, Reach

Array = np.ndarray[Any, Any]
ndarray = np.ndarray


class Unsupported(RuntimeError):
    """What the function does cannot be said by one program."""


class Unsettled(Unsupported):
    """The function changed Python values that it reads: the next call may find them settled."""


class WatchedState(TensorState):
    """The rare part of an input while it is traced: knows whether ``.grad`` was looked at."""

    looked_at = False
    held: Tensor | None = None

    @property
    def grad(self) -> Tensor | None:
        self.looked_at = True
        return self.held

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self.looked_at = True
        self.held = value


NOT_TRACKED, LEAF, INNER, HOOKED = range(4)  # the last: a leaf whose hooks are among the places


def tracking(t: Tensor) -> int:
    """Whether a tensor requires grad, and whether as a leaf."""
    node = t._node
    return NOT_TRACKED if node is None else LEAF if type(node) is AccumulateGrad else INNER


def hooked(t: Tensor) -> bool:
    """Whether a tensor is a leaf that may have hooks."""
    node = t._node
    return type(node) is AccumulateGrad and (node.rare is not None or node.post_accumulate is not None)


@contextmanager
def without_hooks(ends: list[Any]) -> Iterator[None]:
    """A pass that is part of one outside, which calls the hooks of what both end in."""
    kept = [(end, end.rare) for end in ends]
    try:
        for end in ends:
            end.rare = None
        yield
    finally:
        for end, rare in kept:
            end.rare = rare


class Boundary(Node):
    """The node, while the function is traced, of an input that was computed outside.

    A pass inside that would go on into the graph outside is refused: that graph holds values of this call.
    """

    __slots__ = ("label",)

    def __init__(self, edge: Node, label: str) -> None:
        self.edges, self.saved, self.rare, self.order, self.label = (edge,), (), None, count(), label

    def pull_tensors(self, cotangent: Any, saved: Any, edges: Any) -> Any:
        raise Unsupported(f"a backward pass inside the function reaches what made {self.label} outside of it")


def within(roots: list[Node]) -> list[Node]:
    """The nodes that roots lead to inside of the function."""
    found: dict[Node, None] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            if type(node) is not Boundary:
                stack.extend([e for e in node.edges if e is not None])
    return list(found)


class Slot:
    """A tensor from outside of the function: what it held, and the cell that it holds while the function is traced."""

    def __init__(self, tensor: Tensor, label: str, index: int, owner: Trace) -> None:
        self.tensor, self.label, self.index = tensor, label, index
        self.array: Array = tensor._data
        self.node, self.rare = tensor._node, tensor._rare
        self.shape, self.dtype, self.tracking = self.array.shape, self.array.dtype, tracking(tensor)
        self.hooked = hooked(tensor)
        self.grad = None if self.rare is None else self.rare.grad
        self.had_grad = self.grad is not None
        self.grad_of: Slot | None = None  # the tensor whose .grad this one is
        self.argument: int | None = None  # its place among the leaves of the arguments
        self.touched = False
        self.strides: Any = None  # those it must have, if they matter
        self.cell = Traced(owner, None, self.shape, self.dtype)
        self.cell.like = self.array
        self.watched = WatchedState()
        self.leaf: Node | None = None  # where gradients with respect to it end

    def enter(self) -> None:
        """Let the tensor hold the cell."""
        t, watched = self.tensor, self.watched
        watched.held = self.grad
        if self.rare is not None and self.rare.inference:
            watched.inference = True
        t._data, t._rare = self.cell, watched
        if self.tracking == LEAF:
            self.node.leaf = watched  # type: ignore[union-attr]
            self.leaf = self.node
        elif self.tracking == INNER:
            self.leaf = t._node = Boundary(self.node, self.label)  # type: ignore[arg-type]
        watched.looked_at = False

    def leave(self) -> None:
        """Put back what it held."""
        t = self.tensor
        t._data, t._node, t._rare = self.array, self.node, self.rare
        if self.tracking == LEAF:
            self.node.leaf = self.rare  # type: ignore[union-attr]
        elif self.leaf is not None:
            self.leaf.edges = ()  # a pass of the program ends here

    @property
    def tracer_dtype(self) -> Any:
        return jax.ShapeDtypeStruct(self.shape, self.dtype)


class Draw:
    """Random numbers that a function takes: drawn with NumPy before each run, in the same order."""

    def __init__(self, make: Callable[[], Array], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.make, self.shape, self.dtype = make, shape, dtype


def given_places(parts: Any, label: str) -> Iterator[Place]:
    """The lists, dicts and tensors' attributes inside the arguments: a program does not change those of its call."""
    for name, part in parts.items() if isinstance(parts, dict) else enumerate(parts):
        inner = f"{label}{name}" if label.endswith(" ") else f"{label}[{name!r}]"
        if isinstance(part, (list, dict)):
            yield Place(part, None, inner)
        elif isinstance(part, Tensor):
            yield Place(part.__dict__, None, f"{inner}.")
        if isinstance(part, (list, tuple, dict)):
            yield from given_places(part, inner)


class Trace:
    """The run of a function on tracers."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn, self.args, self.kwargs = fn, args, kwargs
        self.leaves, self.spec = pytree.flatten((args, kwargs))
        roots: list[tuple[Any, str]] = [(fn, getattr(fn, "__name__", type(fn).__name__))]
        roots += [(leaf, f"argument {i}") for i, leaf in enumerate(self.leaves) if not isinstance(leaf, Tensor)]
        self.reach = Reach(roots)
        self.given = [*given_places(args, "argument "), *given_places(kwargs, "argument ")]
        self.missed: list[Tensor] = []
        self.ended = False
        self.started = 0
        self.callbacks: dict[str, str] = {}
        self.draws: list[Draw] = []
        self.expected: list[Draw] = []
        self.slots: list[Slot] = []
        self.by_cell: dict[int, Slot] = {}
        self.older: list[Tensor] = []
        self.old: set[int] = set()
        self.results: list[Any] = []
        self.spent: list[tuple[int, Node]] = []
        self.tracers: tuple[Any, ...] = ()

    def forget(self) -> None:
        """Keep of the run only what a backward pass outside will need."""
        self.ended = True
        for gathered in (self.older, self.old, self.results, self.by_cell, self.spent):
            gathered.clear()
        self.leaves, self.args, self.kwargs, self.tracers, self.given = [], (), {}, (), []
        for slot in self.slots:
            slot.array = slot.rare = slot.grad = slot.cell.like = None  # type: ignore[assignment]
        self.missed = []
        self.reach.seen = {}

    # ---- what traced arrays ask

    def tracer_of(self, cell: Traced) -> Any:
        """The tracer of an input, at its first use."""
        slot = self.by_cell[id(cell)]
        slot.touched = True
        return self.tracers[slot.index]

    def constant(self, array: Any) -> Any:
        """An array that was made inside the function, as a constant of the program."""
        if type(array) is ndarray:
            self.check_new(array)
        elif not isinstance(array, np.generic):
            raise Unsupported(f"a {type(array).__name__} takes part in the compiled function")
        return np.array(array)

    def check_new(self, array: Array) -> None:
        """Refuse memory from outside that is no input."""
        owner = versions.storage_of(array)
        if id(array) in self.old or id(owner) in self.old:
            raise Missed(owner)

    def write(self, base: Tensor, data: Any) -> None:
        """Write to the memory of a tensor."""
        old = base._data
        if type(old) is Traced:
            old.assign(data)
        else:
            self.check_new(old)
            base._data = data.copy()

    def called_back(self, name: str, error: BaseException | None) -> None:
        """Note that a primitive runs by callback."""
        self.callbacks.setdefault(name, "" if error is None else f"{type(error).__name__}: {error}".split("\n")[0])

    def refuse(self, what: str) -> None:
        raise DataDependent(f"{what} cannot be compiled")

    def draw(self, sample: Any, source: Callable[[], Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Random numbers as an input."""
        like = np.asarray(sample(np.random.Generator(np.random.SFC64(0)), shape, dtype))
        made = Draw(lambda: np.asarray(sample(source(), shape, dtype)), like.shape, like.dtype)
        i = len(self.draws)
        self.draws.append(made)
        if i < len(self.expected) and (like.shape, like.dtype) == (self.expected[i].shape, self.expected[i].dtype):
            return Traced(self, self.tracers[len(self.slots) + i], like.shape, like.dtype)
        return Traced(self, jax.numpy.asarray(like), like.shape, like.dtype)

    # ---- running

    def run(self) -> Any:
        """Trace until all inputs are known; the closed program (a jaxpr)."""
        for leaf in self.leaves:
            if isinstance(leaf, (ndarray, np.random.Generator)):
                raise Unsupported(f"an argument is a {type(leaf).__name__}; make a tensor of it")
        before = [(place, place.snapshot()) for place in [*self.reach.places, *self.given]]
        for _ in range(100):
            try:
                closed = self.attempt()
            except Missed as missed:
                self.add(missed.array)
                continue
            finally:
                changed = next(((p, i) for p, _ in before if (i := p.changed()) is not None), None)
                for place, held in before:
                    place.restore(held)
            if changed is not None:
                place, i = changed
                raise Unsettled(f"the function changes a Python value that it can read, {place.name_of(i)}; keep it in "
                                "a tensor, or change it outside of the function")  # fmt: skip
            if [(d.shape, d.dtype) for d in self.draws] != [(d.shape, d.dtype) for d in self.expected]:
                self.expected = self.draws
                continue
            return closed
        raise Unsupported("the inputs of the function change from run to run")

    def add(self, array: Array) -> None:
        """Make an input of the tensors that hold some memory."""
        found = [t for t in self.older if type(t._data) is ndarray
                 and (t._data is array or versions.storage_of(t._data) is array)]  # fmt: skip
        known = {id(s.tensor) for s in self.slots}
        new = [t for t in found if id(t) not in known]
        if not new:
            raise Unsupported("memory of a tensor from outside was met in a way that is not followed")
        self.missed += new

    def find_slots(self) -> None:
        """The tensors that may be inputs."""
        known: dict[int, Slot] = {}
        self.slots, self.by_cell = [], {}
        tensors = [(leaf, f"argument {i}", i) for i, leaf in enumerate(self.leaves) if isinstance(leaf, Tensor)]
        gradients: list[Any] = [(t.grad, f"{label}.grad", None) for t, label, _ in tensors
                                if t._rare is not None and t._rare.grad is not None]  # fmt: skip
        captured: list[Any] = [(t, label, None) for t, label in self.reach.tensors.values()]
        missed: list[Any] = [(t, "a tensor from outside", None) for t in self.missed]
        self.captured = {id(t) for t, _, _ in captured + missed}
        self.twins: dict[int, int] = {}  # arguments that are the same tensor as an earlier one
        for t, label, argument in [*tensors, *captured, *gradients, *missed]:
            slot = known.get(id(t))
            if slot is not None:
                if argument is not None and slot.argument is not None:
                    self.twins[argument] = slot.argument
                continue
            if type(t._data) is not ndarray:
                if isinstance(getattr(t._data, "level", None), int) and t.is_meta:
                    continue
                raise Unsupported(f"{label} is a tensor inside a transform")
            slot = known[id(t)] = Slot(t, label, len(self.slots), self)
            slot.argument = argument
            self.slots.append(slot)
            self.by_cell[id(slot.cell)] = slot
        for slot in self.slots:
            if slot.grad is not None and id(slot.grad) in known:
                known[id(slot.grad)].grad_of = slot

    def attempt(self) -> Any:
        """One run on tracers."""
        self.find_slots()
        self.older = tensors_alive()
        self.old = set()
        for t in self.older:
            if type(t._data) is ndarray:
                self.old.add(id(t._data))
                self.old.add(id(versions.storage_of(t._data)))
        self.draws, self.callbacks = [], {}
        self.started = count()
        avals = [s.tracer_dtype for s in self.slots]
        avals += [jax.ShapeDtypeStruct(d.shape, d.dtype) for d in self.expected]
        outer, casts = state.tracing, region.cache
        try:
            for slot in self.slots:
                slot.enter()
            region.cache = None if casts is None else {}  # what is cast inside stays inside
            state.tracing = self
            with enable_x64(True):
                return jax.make_jaxpr(self.body)(*avals)
        finally:
            state.tracing, region.cache = outer, casts
            for slot in self.slots:
                slot.leave()

    def body(self, *tracers: Any) -> list[Any]:
        """What JAX traces: the function, then everything that it returned or wrote."""
        self.tracers = tracers
        out = self.fn(*self.args, **self.kwargs)
        self.results = []
        self.take_outputs(out)
        self.take_writes()
        self.take_residuals()
        for entry in list(versions.written.values()):
            if entry.number > self.started and id(entry.owner()) in self.old:
                raise Unsupported("the function wrote to a tensor that it cannot be seen to reach; pass it as an "
                                  "argument")  # fmt: skip
        return self.results

    def result(self, tracer: Any) -> int:
        """Enter a tracer as an output of the program; its number."""
        self.results.append(tracer)
        return len(self.results) - 1

    def take_outputs(self, out: Any) -> None:
        """What was returned: ``outputs`` says how each leaf is made after a run."""
        leaves, self.out_spec = pytree.flatten(out)
        self.outputs: list[tuple[str, Any]] = []
        self.tracked: list[tuple[int, Node]] = []  # outputs that require grad, with their nodes
        self.spent = []  # those whose graph was freed by a backward pass inside
        self.ends: list[Slot] = []
        inputs = {id(s.tensor): s for s in self.slots}
        cells = {id(s.cell): s for s in self.slots}
        seen: dict[int, int] = {}
        for i, leaf in enumerate(leaves):
            if not isinstance(leaf, Tensor):
                if isinstance(leaf, (ndarray, Traced)):
                    raise Unsupported(f"the function returns a {type(leaf).__name__}")
                self.outputs.append(("object", leaf))
                continue
            slot = inputs.get(id(leaf))
            if slot is not None:
                slot.touched = True
                self.outputs.append(("input", slot))
            elif id(leaf) in seen:
                self.outputs.append(("again", seen[id(leaf)]))
            else:
                seen[id(leaf)] = i
                if overrides(type(leaf)):
                    raise Unsupported(f"the function returns a new tensor of {type(leaf).__name__}, which overrides "
                                      "operators")  # fmt: skip
                view: Any
                data, view = leaf._data, None if leaf._rare is None else leaf._rare.view
                base = None if view is None else inputs.get(id(view.base))
                if type(data) is not Traced and type(data) is not ndarray:
                    raise Unsupported("the function returns a tensor of a transform that has ended")
                if leaf._node is not None and type(leaf._node) is not AccumulateGrad:
                    self.tracked.append((i, leaf._node))
                elif leaf._node is not None:
                    raise Unsupported("the function returns a new leaf that requires grad")
                if base is not None and type(data) is Traced and leaf._node is None and not view.multiple:
                    base.touched = True
                    self.outputs.append(("view", (base, view.steps)))
                elif leaf._node is None and id(data) in cells:
                    cells[id(data)].touched = True
                    self.outputs.append(("detached", cells[id(data)]))
                elif type(data) is Traced:
                    self.outputs.append(("value", self.result(data.read())))
                else:
                    self.check_new(leaf._data)
                    self.outputs.append(("constant", data.copy()))

    def take_writes(self) -> None:
        """The inputs that were written to, and the gradients that were left."""
        self.writes: list[tuple[Slot, int]] = []
        self.grads: list[tuple[Slot, str, Any]] = []
        inputs = {id(s.tensor): s for s in self.slots}
        for slot in self.slots:
            t = slot.tensor
            data = t._data
            if data is not slot.cell or slot.cell.version:
                if type(data) is not Traced and type(data) is not ndarray or data.shape != slot.shape or (
                    data.dtype != slot.dtype
                ):  # fmt: skip
                    raise Unsupported(f"the function changes shape or dtype of {slot.label}")
                if not slot.array.flags.writeable or 0 in slot.array.strides and slot.array.size > 1:
                    raise Unsupported(f"the function writes to {slot.label}, whose memory cannot be written to")
                slot.touched = True
                self.writes.append((slot, self.result(data.read() if type(data) is Traced else self.constant(data))))
            if t._node is not slot.leaf:
                raise Unsupported(f"the function changes the history of {slot.label}")
            rare = t._rare
            held = rare.held if type(rare) is WatchedState else None
            if held is slot.grad:
                continue
            if held is None:
                self.grads.append((slot, "none", None))
            elif id(held) in inputs:
                self.grads.append((slot, "input", inputs[id(held)]))
                inputs[id(held)].touched = True
            elif held._node is not None or type(held._data) not in (Traced, ndarray):
                raise Unsupported(f"the .grad of {slot.label} has a history")
            else:
                data = held._data
                value = data.read() if type(data) is Traced else self.constant(data)
                self.grads.append((slot, "value", self.result(value)))
        if self.writes:
            self.check_overlap()

    def check_overlap(self) -> None:
        """Refuse inputs that share memory, if one of them is written to."""
        for slot, _ in self.writes:
            for other in self.slots:
                if other is not slot and other.touched and np.may_share_memory(slot.array, other.array):
                    raise Unsupported(f"{slot.label} is written to and shares memory with {other.label}")

    def take_residuals(self) -> None:
        """What a backward pass outside of the function will need: what the nodes of the outputs keep."""
        self.residuals: list[tuple[Traced, Any]] = []  # cells, with the number of their result or the input
        if not self.tracked:
            return
        places = {id(tracer): i for i, tracer in enumerate(self.tracers)}
        seen: set[int] = set()
        live: list[tuple[int, Node]] = []
        for i, node in self.tracked:
            spent = any(n.saved is None for n in within([node]))  # a backward pass has been here
            (self.spent if spent else live).append((i, node))
        self.tracked = live
        nodes = dict.fromkeys(within([node for _, node in live]))
        self.ends = [s for s in self.slots if s.leaf is not None and s.leaf in nodes]
        for slot in self.ends:
            slot.touched = True
        for node in nodes:
            if node.rare is not None and (node.rare.hooks or node.rare.pre_hooks or node.rare.post_hooks):
                raise Unsupported("hooks on the graph that the function returns")
            for value in pytree.flatten(node.saved)[0] if node.saved else ():
                if type(value) is not Traced or id(value) in seen:
                    continue
                seen.add(id(value))
                tracer = value.read()
                at = places.get(id(tracer))
                if at is not None and at < len(self.slots):
                    self.slots[at].touched = True
                    self.residuals.append((value, self.slots[at]))
                else:
                    self.residuals.append((value, self.result(tracer)))
        for slot, _ in self.writes:
            if any(where is slot for _, where in self.residuals):
                raise Unsupported(f"{slot.label} is written to, and needed for a gradient outside of the function")


class BackwardTrace:
    """The run of a backward pass on tracers, through the graph that a trace has left."""

    def __init__(self, forward: Trace, given: tuple[bool, ...]) -> None:
        self.forward, self.given = forward, given
        self.ended = False
        self.draws: list[Draw] = []
        self.callbacks: dict[str, str] = {}

    called_back, refuse = Trace.called_back, Trace.refuse

    def constant(self, array: Any) -> Any:
        return np.array(array)

    def write(self, base: Tensor, data: Any) -> None:
        old = base._data
        if type(old) is Traced:
            old.assign(data)
        else:
            base._data = data.copy()

    def draw(self, *args: Any) -> Any:
        raise Unsupported("random numbers in a backward pass")

    def run(self, shapes: list[Any]) -> Any:
        """The program: residuals, then cotangents, to the gradients of ``ends``."""
        residuals = [jax.ShapeDtypeStruct(cell.shape, cell.dtype) for cell, _ in self.forward.residuals]
        outer, state.tracing = state.tracing, self
        try:
            with enable_x64(True):
                return jax.make_jaxpr(self.body)(residuals, shapes)
        finally:
            state.tracing = outer
            self.ended = True

    def body(self, residuals: Any, cotangents: Any) -> list[Any]:
        from ..autograd.engine import run

        forward = self.forward
        for (cell, _), tracer in zip(forward.residuals, residuals):
            cell.owner, cell.tracer, cell.parent = self, tracer, None
        given = iter(cotangents)
        roots = []
        for (_, node), there in zip(forward.tracked, self.given):
            if there:
                g = next(given)
                roots.append((node, wrap(Traced(self, g, g.shape, g.dtype))))
        ends = [slot.leaf for slot in forward.ends]
        with without_hooks(ends):
            found = run(roots, ends, retain_graph=True, create_graph=False, accumulate=False, bare=False)  # type: ignore[arg-type]
        out = []
        for slot in forward.ends:
            g = found.get(slot.leaf)  # type: ignore[arg-type]
            data = None if g is None else g._data
            out.append(None if data is None else data.read() if type(data) is Traced else np.array(data))
        self.reached = [g is not None for g in out]
        return [g for g in out if g is not None]
