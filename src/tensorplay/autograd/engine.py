"""The reverse pass.

The part of the graph that leads to the requested ends is collected, sorted by number (numbers are a topological order),
and run newest first. Without ``create_graph`` and carriers the rules run over bare arrays; otherwise over Tensors.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ..backends import allocator
from ..core import streams
from ..core.carrier import Carrier
from ..core.namespace import F
from ..core.node import AccumulateGrad, Node, Output, enter, place
from ..core.state import count, set_recording, state
from ..core.tensor import Tensor, wrap
from ..core.transpose import REVERSE_PASS
from ..core.versions import note_write
from . import observed
from .reentrant import DEPTH, on_fresh_stack

ndarray = np.ndarray
accumulation = threading.Lock()
"""Held while a .grad is replaced or added to: passes of several threads may share a leaf."""

UNSHARED = 0  # references to an array that only the pass knows, as own_copy counts them: see count_references


def own_copy(g: Any) -> Any:
    """The array itself if nobody else can see it, else a copy: what a .grad may be."""
    if type(g) is not ndarray:
        return np.asarray(g)
    if g.base is None and sys.getrefcount(g) <= UNSHARED and g.flags.c_contiguous and g.flags.writeable:
        return g
    return np.array(g, order="C")


number = attrgetter("order")


def reached(roots: Sequence[Node], oldest: int) -> tuple[dict[Node, bool], list[Node], bool]:
    """The nodes that roots lead to and that are not older than ``oldest``, in the order in which they are found.

    A dict keeps that order, which is close to newest first in most graphs, so that sorting costs little. The other
    results are the nodes at which a way ends, and whether older nodes were left out.
    """
    found = dict.fromkeys([root for root in roots if root.order >= oldest], False)
    stack, cut = list(found), False
    last: list[Node] = []
    pop, push = stack.pop, stack.append
    while stack:
        node = pop()
        while True:  # along the first edges; the others wait on the stack
            edge = node.second
            if edge is not None and edge not in found:
                if edge.order >= oldest:
                    found[edge] = False
                    push(edge)
                else:
                    cut = True
            if node.more:
                for edge in node.more:
                    if edge is not None and edge not in found:
                        if edge.order >= oldest:
                            found[edge] = False
                            push(edge)
                        else:
                            cut = True
            edge = node.first
            if edge is None:
                if not node.edges:
                    last.append(node)
                break
            if edge in found:
                break
            if edge.order < oldest:
                cut = True
                break
            found[edge] = False
            node = edge
    return found, last, cut


def collect(roots: Sequence[Node], oldest: int) -> list[Node]:
    """The nodes that roots lead to and that are not older than ``oldest``, oldest first."""
    return sorted(reached(roots, oldest)[0], key=number)


def run(
    roots: Sequence[tuple[Node, Tensor]],
    ends: Sequence[Node] | None,
    *,
    retain_graph: bool,
    create_graph: bool,
    accumulate: bool,
    bare: bool = True,
) -> dict[Node, Tensor]:
    """Run a backward pass.

    Parameters
    ----------
    roots
        Where it starts: nodes (of tensors or gradient edges) with their cotangents.
    ends
        What it is asked for; None: every leaf, accumulated.
    retain_graph, create_graph
        Keep the saved values; record the pass itself.
    accumulate
        Add to the ``.grad`` of the ends, rather than return their gradients.
    bare
        False if a tensor that the pass starts from holds a carrier, and so its graph may.
    """
    if allocator.kept is None:
        allocator.keep_freed_memory()
    bare = bare and not create_graph and state.tracing is None
    for _, seed in roots:
        bare = bare and type(seed._data) is ndarray
    before, outer = bool(state.recording), state.evaluating_pass
    set_recording(create_graph)
    state.evaluating_pass = this = Pass(roots, ends, retain_graph, create_graph, accumulate, bare)
    if outer is not None:
        this.depth = outer.depth + 1  # in how many others it runs
    try:
        with np.errstate(all="ignore"):
            return on_fresh_stack(this.run) if this.depth % DEPTH == DEPTH - 1 else this.run()
    finally:
        set_recording(before)
        state.evaluating_pass = outer


def places(ends: Sequence[Node]) -> dict[Node, list[tuple[Node, int]]]:
    """The nodes at which a pass finds what it is asked for: under which key, and as the gradient of which output."""
    table: dict[Node, list[tuple[Node, int]]] = {}
    for end in ends:
        node, index = place(end)
        table.setdefault(node, []).append((end, index))
    return table


class Pass:
    """One backward pass: everything pending belongs to it, so passes may run inside and beside each other."""

    __slots__ = ("accumulate", "bare", "captured", "create_graph", "depth", "ends", "members", "notes", "pending",
                 "retain", "roots", "summed")  # fmt: skip

    def __init__(self, roots: Any, ends: Any, retain: bool, create_graph: bool, accumulate: bool, bare: bool) -> None:
        self.roots, self.retain, self.create_graph, self.depth = roots, retain, create_graph, 0
        self.accumulate, self.bare = accumulate, bare
        self.ends = None if ends is None else places(ends)
        self.pending: dict[Node, Any] = {}
        self.summed: set[Node] = set()  # pending sums that the pass made itself, and may add to in place
        self.captured: dict[Node, Tensor] = {}
        self.notes: dict[Any, Any] = {}  # of hooks and streams; see observed.py
        self.members: set[Node] | None = None  # the nodes to be run, if a hook that was there before has to know them

    def run(self) -> dict[Node, Tensor]:
        """Run the nodes, newest first; the gradients that were asked for."""
        pending, bare, retain = self.pending, self.bare, self.retain
        for root, seed in self.roots:
            self.add(root, seed._data if bare else seed)
        order, last, wanted, asked = self.plan()
        waiting = observed.prepare(self, order, last, wanted)
        take, summed = pending.pop, self.summed
        for node in reversed(order):
            g = take(node, None)
            if g is None:
                if waiting:
                    observed.consumed(self, node.wanted_edges(wanted), waiting)
                continue
            kind = type(node)
            if kind is AccumulateGrad:
                self.reach_leaf(node, g)  # type: ignore[arg-type]
                continue
            if kind is Output and node.rare is None:
                self.deposit(node, g)  # type: ignore[arg-type]
                g = None
                continue
            if (asked and node in asked) or (
                node.pull_into(g, pending, summed, wanted, retain) if bare
                else node.pull_tensors_into(g, pending, summed, wanted, retain)
            ):  # fmt: skip
                edges = node.wanted_edges(wanted)
                parts = observed.visit(self, node, g, edges)
                for edge, part in zip(edges, parts or ()):
                    if edge is not None and part is not None:
                        enter(edge, part, pending, summed)
                part = parts = None  # nothing here may keep a gradient alive, or look like a second owner
            g = None
            if waiting:
                observed.consumed(self, node.wanted_edges(wanted), waiting)
        if self.notes:
            observed.finish(self)
        return self.captured

    def plan(self) -> tuple[list[Node], list[Node], dict[Node, bool] | None, set[Node]]:
        """The nodes to run, newest last; where ways end; which are wanted (None: all); the ends that are no leaves.

        Nothing is made for an ordinary node: objects for each of a million nodes would keep the garbage collector busy.
        """
        ends, roots = self.ends, [root for root, _ in self.roots]
        if ends is None:
            found, last, _ = reached(roots, 0)
            return sorted(found, key=number), last, None, set()
        found, last, cut = reached(roots, min(end.order for end in ends))
        nodes = sorted(found, key=number)
        inner = {end for end in ends if type(end) is not AccumulateGrad}
        if not cut and not inner and all([node in ends for node in last]):
            return nodes, last, None, inner  # every way down ends at an end
        order: list[Node] = []
        append = order.append
        leads: Any = found.get
        for node in nodes:
            if node in ends or leads(node.first) or leads(node.second):
                found[node] = True
                append(node)
            elif node.more:
                for edge in node.more:
                    if leads(edge):
                        found[node] = True
                        append(node)
                        break
        return order, last, found, inner

    def add(self, node: Node, g: Any) -> None:
        """Add to what is pending for a node."""
        held = self.pending.get(node)
        self.pending[node] = g if held is None else held + g

    def deposit(self, output: Output, g: Any) -> None:
        """Enter the gradient of one output into its node's list."""
        node: Any = output.first
        row = self.pending.get(node)
        if row is None:
            row = self.pending[node] = [None] * node.outputs
        held = row[output.index]
        row[output.index] = g if held is None else held + g

    def reach_leaf(self, node: AccumulateGrad, g: Any) -> None:
        """Hooks of a leaf, then capture or accumulation."""
        if self.notes:
            observed.join(self, node, streams.current(g))
        if node.rare is not None:
            g = observed.before(self, node, g)
        if self.ends is not None and node in self.ends and not self.accumulate:
            observed.capture(self, node, g)
            return
        if node.rare is not None:
            g = observed.before_node(self, node, g)
            if g is None:
                return
        self.accumulate_into(node, g)
        observed.after_accumulation(node, g)

    def accumulate_into(self, node: AccumulateGrad, g: Any) -> None:
        """Add to the ``.grad`` of a leaf."""
        leaf = node.leaf
        with accumulation:
            old = leaf.grad
            if isinstance(g, Tensor):
                g = observed.checked_for_leaf(node, g)
                if old is None:
                    leaf.grad = F.clone(g)
                elif self.create_graph or type(g._data) is not ndarray or not self.added_in_place(old, g._data):
                    leaf.grad = old + g
            elif old is None:
                leaf.grad = wrap(own_copy(g))
            elif not self.added_in_place(old, g):
                leaf.grad = old + wrap(np.asarray(g))

    @staticmethod
    def added_in_place(old: Tensor, g: Any) -> bool:
        """Add to a ``.grad`` within its memory; False where it has a history, or memory not to be written to."""
        data = old._data
        if type(data) is not ndarray or old._node is not None or not data.flags.writeable or 0 in data.strides:
            return False
        data += g
        note_write(data)
        return True


def vector_jacobian(outputs: Any, inputs: Any, cotangents: Any, create_graph: bool) -> list[Tensor | None]:
    """Gradients of outputs with respect to inputs that all require grad; None where there is no path."""
    roots = [(out._node, g) for out, g in zip(outputs, cotangents, strict=True)]
    ends = [x._node for x in inputs]
    bare = not any([isinstance(out._data, Carrier) for out in outputs])
    found = run(roots, ends, retain_graph=True, create_graph=create_graph, accumulate=False, bare=bare)
    return [found.get(end) for end in ends]


REVERSE_PASS.append(vector_jacobian)


def count_references() -> None:
    """Find how many references ``own_copy`` sees to an array that only the pass holds: Python versions differ."""
    made: list[int] = []

    class Source(Node):
        __slots__ = ()

        def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
            array = np.ones(1)
            made.append(id(array))
            return (array,)

    global UNSHARED
    allocator.kept = 0  # these passes are none of the user's
    while UNSHARED < 10:
        UNSHARED += 1
        leaf, source = wrap(np.ones(1)), Source()
        source.edges, source.saved, source.rare = (AccumulateGrad(leaf),), (), None
        source.order = count()
        run([(source, leaf)], None, retain_graph=False, create_graph=False, accumulate=True)
        if id(leaf.grad._data) == made[-1]:  # type: ignore[union-attr]
            break
    allocator.kept = None


count_references()
