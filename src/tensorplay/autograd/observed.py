"""The rare parts of a backward pass: hooks, retained gradients, packed saved values, anomaly mode, streams."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import streams
from ..core.carrier import Carrier, Moving
from ..core.node import AccumulateGrad, Hooks, Node, Output, Partial, Reduce, freed
from ..core.state import set_recording, state
from ..core.tensor import Tensor, wrap

ndarray = np.ndarray

# ---- before the pass


def prepare(run: Any, order: Sequence[Node], last: Sequence[Node], wanted: Any) -> dict[Node, int]:
    """What a pass has to know before it starts; the leaves that must not wait for its end."""
    if state.anomaly or streams.CURRENT:
        for node in order:
            node.rarely()  # everything takes the careful path
    if awaiting:
        run.members = set(order)
    return early_leaves(order, last, wanted)


def early_leaves(order: Sequence[Node], last: Sequence[Node], wanted: Any) -> dict[Node, int]:
    """Leaves with post-accumulate hooks, with the number of edges that lead to each in this pass.

    Their numbers are small, so they would come last; the hook is promised as soon as the last consumer has run.
    """
    counts: dict[Any, int] = {
        node: 0 for node in last
        if type(node) is AccumulateGrad and node.post_accumulate and (wanted is None or wanted.get(node))
    }  # fmt: skip
    if counts:
        for node in order:
            for edge in node.wanted_edges(wanted):
                if edge in counts:
                    counts[edge] += 1
    return counts


def consumed(run: Any, edges: Any, waiting: dict[Node, int]) -> None:
    """A node has run, or will not: leaves whose last consumer it was are reached now."""
    for edge in edges or ():
        if edge in waiting:
            waiting[edge] -= 1
            if not waiting[edge] and (g := run.pending.pop(edge, None)) is not None:
                run.reach_leaf(edge, g)


# ---- what hooks are given, and what they give back


def as_tensor(g: Any) -> Tensor:
    """A gradient as hooks and callers see it."""
    return g if isinstance(g, Tensor) else wrap(g if type(g) is ndarray else np.asarray(g))


def bare(run: Any, t: Tensor | None, name: str) -> Any:
    """What a hook left, as the pass works on it."""
    if t is None or not run.bare:
        return t
    if type(t._data) is not ndarray:
        raise RuntimeError(f"hook '{name}' has returned a tensor of vmap or jvp in a backward pass outside of it")
    return t._data


def name_of(hook: Callable[..., Any]) -> str:
    """What messages call a hook."""
    return getattr(hook, "__name__", None) or type(hook).__name__


def replaced(hook: Callable[..., Any], new: Any, old: Tensor | None) -> Tensor | None:
    """A gradient as a hook returned it, checked against the one it replaces."""
    if new is None:
        return None
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if old is None:
        raise RuntimeError(f"hook '{name_of(hook)}': can't replace a None gradient with a non-None value")
    if new._data.shape != old._data.shape:
        raise RuntimeError(f"hook '{name_of(hook)}' has changed the size of value (was {list(old.shape)} "
                           f"got {list(new.shape)})")  # fmt: skip
    if new._data.dtype != old._data.dtype:
        raise RuntimeError(f"hook '{name_of(hook)}' has changed the type of value (was {old.dtype} got {new.dtype})")
    return new


def run_node_hooks(hooks: Hooks, ts: tuple[Tensor | None, ...], *others: Any) -> tuple[Tensor | None, ...]:
    """Hooks of a node over its gradients; a tuple that one returns is what the next one sees."""
    for hook in list(hooks.values()):
        result = hook(ts, *others)
        if result is None:
            continue
        if not isinstance(result, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
        if len(result) != len(ts):
            raise RuntimeError(f"hook '{name_of(hook)}' has returned an incorrect number of values "
                               f"(got {len(result)}, but expected {len(ts)})")  # fmt: skip
        ts = tuple([replaced(hook, new, old) for new, old in zip(result, ts)])
    return ts


def tensors_of(g: Any) -> tuple[Tensor | None, ...]:
    """The gradients that arrive at a node, one for each of its outputs."""
    return tuple([None if part is None else as_tensor(part) for part in (g if type(g) is list else (g,))])


# ---- at a node


def before(run: Any, node: Node, g: Any) -> Any:
    """The gradient as the hooks on the tensors themselves leave it; the last of them retains it."""
    rare = node.rare
    if rare is None or not (rare.hooks or rare.retains):
        return g
    if type(g) is not list:
        return hooked(run, rare, 0, g)
    return [None if part is None else hooked(run, rare, i, part) for i, part in enumerate(g)]


def hooked(run: Any, rare: Any, index: int, g: Any) -> Any:
    """The gradient of one output as the hooks on it leave it."""
    t = as_tensor(g)
    for hook in list(rare.hooks.get(index, {}).values()):
        result = hook(t)
        if result is not None:
            t = replaced(hook, result, t)  # type: ignore[assignment]
    retained = rare.retains.get(index)
    if retained is not None:
        own = wrap(np.array(t._data, order="C")) if type(t._data) is ndarray and not run.create_graph else t
        retained.grad = own if retained.grad is None else retained.grad + own
    return bare(run, t, "tensor hook")


def before_node(run: Any, node: Node, g: Any) -> Any:
    """The gradients as the pre-hooks of the node leave them."""
    hooks = node.rare.pre_hooks if node.rare is not None else None
    if not hooks:
        return g
    parts = [bare(run, t, "node pre-hook") for t in run_node_hooks(hooks, tensors_of(g))]
    return parts if type(g) is list else parts[0]


def after_node(run: Any, node: Node, g: Any, parts: Any, edges: Any) -> Any:
    """The gradients of the inputs as the post-hooks of the node leave them."""
    reduced = []
    for part, edge in zip(parts, edges):
        if type(edge) is Reduce and part is not None:  # hooks see what the operand had, before it was broadcast
            part = edge.pull(part, (), ())[0] if run.bare else edge.pull_tensors(part, (), ())[0]
        reduced.append(None if part is None or edge is None else as_tensor(part))
    ts = run_node_hooks(node.rare.post_hooks, tuple(reduced), tensors_of(g))  # type: ignore[union-attr, arg-type]
    return [bare(run, t, "node hook") for t in ts]


def capture(run: Any, node: Node, g: Any) -> None:
    """Note the gradients that were asked for at a node."""
    for key, index in run.ends[node]:
        part = g[index] if type(g) is list else g
        if part is not None:
            run.captured[key] = as_tensor(part)


def visit(run: Any, node: Node, g: Any, edges: Any) -> Any:
    """A node that is watched, or asked for: its hooks and its rule. None: nothing is left to be passed on."""
    if type(g) is Partial:
        g = g.dense()
    return visit_on_stream(run, node, g, edges) if streams.CURRENT else visit_here(run, node, g, edges)


def visit_here(run: Any, node: Node, g: Any, edges: Any) -> Any:
    """As in PyTorch, the gradient of an input includes what hooks on it made of it, unless its own node runs, too."""
    if type(node) is Output:
        run.deposit(node, g)
        return None
    asked = run.ends is not None and node in run.ends and not run.accumulate
    if run.ends is not None and not any([e is not None for e in edges]):
        edges = None  # the node is asked for, and nothing below it
    if asked and edges is not None:
        capture(run, node, g)
    g = before(run, node, g)
    if edges is None:
        if asked:
            capture(run, node, g)
        return None
    g = before_node(run, node, g)
    if g is None or (type(g) is list and all([part is None for part in g])):
        return None
    saved = node.saved
    if saved is None:
        raise freed(node)
    rare = node.rare
    if rare is not None and rare.packed:
        from ..core.saved import unpack

        saved = unpack(node)
    previous, state.evaluating_node = state.evaluating_node, node
    try:
        parts = node.pull(g, saved, edges) if run.bare else node.pull_tensors(g, saved, edges)
        if state.anomaly:
            from .anomaly_mode import check_finite

            check_finite(run, node, parts)
    except Exception as error:
        if state.anomaly:
            from .anomaly_mode import explain

            explain(error, node)
        raise
    finally:
        state.evaluating_node = previous
    if node.keeps and not run.retain:
        node.saved = None
    if rare is not None and rare.post_hooks:
        parts = after_node(run, node, g, parts, edges)
    return parts


# ---- at a leaf


def after_accumulation(node: AccumulateGrad, g: Any) -> None:
    """Post-accumulate hooks and post-hooks of a leaf."""
    if node.post_accumulate:
        variable = node.variable
        recording = bool(state.recording)
        for hook in list(node.post_accumulate.values()):
            if hook(variable) is not None:
                raise RuntimeError(f"hook '{name_of(hook)}': Tensor post accumulate grad hooks should return None.")
        set_recording(recording)
    if node.rare is not None and node.rare.post_hooks:
        for hook in list(node.rare.post_hooks.values()):
            hook((), tensors_of(g))


def checked_for_leaf(node: AccumulateGrad, g: Tensor) -> Tensor:
    """Refuse to store a carrier in a .grad from outside its transform; of a dual, keep the primal."""
    variable = node.variable
    own = variable._data if variable is not None else None
    level = own.level if isinstance(own, Carrier) else 0
    while isinstance(g._data, Carrier) and g._data.level > level:
        if isinstance(g._data, Moving):
            g = g._data.primal
            continue
        raise RuntimeError(
            "backward() inside vmap would store a batch in the .grad of a tensor from outside; "
            "use autograd.grad or func.grad, which return the gradient"
        )
    return g


# ---- streams: the backward of a node runs where its forward ran, and whoever reads a gradient waits for it


def visit_on_stream(run: Any, node: Node, g: Any, edges: Any) -> None:
    """Visit a node on its stream; one that has none runs on the caller's. What is on the host waits for nobody."""
    if type(node) is Output:
        run.deposit(node, g)
        target = node.edges[0]
        run.notes[target] = (*run.notes.get(target, ()), *run.notes.pop(node, ()))
        return
    caller, own = streams.current(g), None if node.rare is None else node.rare.stream
    if caller is not None:
        run.notes.setdefault(node, (caller,))
    join(run, node, own or caller)
    if own is None or own == caller:
        deposit(run, caller, edges, visit_here(run, node, g, edges))
        return
    with own:
        deposit(run, own, edges, visit_here(run, node, g, edges))
    if caller is not None and run.ends is not None and node in run.ends:
        caller.wait_stream(own)


def join(run: Any, node: Node, stream: Any) -> None:
    """Let a stream wait for those on which the gradients of a node were computed."""
    for other in run.notes.pop(node, ()):
        if other != stream and stream is not None:
            stream.wait_stream(other)


def deposit(run: Any, stream: Any, edges: Any, parts: Any) -> None:
    """Pass gradients on together with the stream they are computed on."""
    for edge, part in zip(edges or (), parts or ()):
        if edge is None or part is None:
            continue
        held = run.pending.get(edge)
        if held is not None:
            join(run, edge, stream)
            part = held + part
        run.pending[edge] = part
        if stream is not None:
            run.notes[edge] = (stream,)


# ---- hooks that wait for several gradients of one pass


class MultiGrad:
    """The hook of :func:`tensorplay.autograd.graph.register_multi_grad_hook` in its mode "all"."""

    def __init__(self, nodes: Sequence[Node], fn: Callable[[list[Tensor | None]], Any]) -> None:
        self.nodes, self.fn = [weakref.ref(node) for node in nodes], fn  # the nodes hold the hook

    def arrived(self, index: int, grad: Tensor) -> None:
        """The gradient of a tensor was computed in the pass that runs now."""
        run = state.evaluating_pass
        waiting = run.notes.get(self)
        if waiting is None:
            members = run.members  # None for a hook that was registered during the pass: the end of the pass tells
            expected = len(self.nodes) if members is None else sum(node() in members for node in self.nodes)
            waiting = run.notes[self] = [expected, [None] * len(self.nodes)]
        waiting[0] -= 1
        waiting[1][index] = grad
        if not waiting[0]:
            del run.notes[self]
            self.fn(waiting[1])


awaiting: weakref.WeakSet[MultiGrad] = weakref.WeakSet()
"""The hooks of this kind that are registered: while there are any, a pass notes which nodes it will reach."""


def finish(run: Any) -> None:
    """Call the hooks that still wait for gradients which turned out not to exist."""
    for hook, waiting in list(run.notes.items()):
        if type(hook) is MultiGrad:
            hook.fn(waiting[1])
