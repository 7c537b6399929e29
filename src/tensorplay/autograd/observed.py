"""The rare parts of a backward pass: hooks, retained gradients, packed saved values, anomaly mode, streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.callpath import freed
from ..core.carrier import Carrier
from ..core.node import AccumulateGrad, Node, Output
from ..core.state import set_recording, state
from ..core.tensor import Tensor, wrap


def early_leaves(order: Sequence[tuple[Node, Any, Any]]) -> dict[Node, int]:
    """Leaves with post-accumulate hooks, with the number of edges that lead to each in this pass.

    Their numbers are small, so they would come last; the hook is promised as soon as the last consumer has run.
    """
    leaves = [node for node, _, _ in order if type(node) is AccumulateGrad and node.post_accumulate]
    if not leaves:
        return {}
    counts = dict.fromkeys(leaves, 0)
    for _, edges, _ in order:
        for edge in edges or ():
            if edge in counts:
                counts[edge] += 1
    return counts


def as_tensor(g: Any) -> Tensor:
    return g if isinstance(g, Tensor) else wrap(np.asarray(g))


def like(g: Any, old: Any) -> Any:
    """What a hook returned, over what the pass works on."""
    return g if isinstance(old, Tensor) or g is None else g._data


def check_replacement(new: Any, old: Tensor) -> Tensor:
    if not isinstance(new, Tensor):
        raise TypeError(f"hook: expected a Tensor or None to be returned, got {type(new).__name__}")
    if new._data.shape != old._data.shape:
        raise RuntimeError(f"hook '{'hook'}' has changed the size of value: from {list(old.shape)} to {list(new.shape)}")
    if new._data.dtype != old._data.dtype:
        raise RuntimeError(f"hook 'hook' has changed the type of value (was {old.dtype} got {new.dtype})")
    return new


def before(run: Any, node: Node, g: Any) -> Any:
    """Tensor hooks, retained gradient and pre-hooks of a node or leaf; the gradient they leave."""
    rare = node.rare
    assert rare is not None
    if rare.hooks:
        t = as_tensor(g)
        for hook in list(rare.hooks.values()):
            result = hook(t)
            if result is not None:
                t = check_replacement(result, t)
        g = like(t, g)
    if rare.retains is not None:
        t = as_tensor(g)
        held = rare.retains.grad
        rare.retains.grad = t if held is None else held + t
    if rare.pre_hooks:
        several = type(g) is list
        ts = tuple(None if p is None else as_tensor(p) for p in (g if several else [g]))
        for hook in list(rare.pre_hooks.values()):
            result = hook(ts)
            if result is not None:
                ts = result if isinstance(result, tuple) else (result,)
        old = g if several else [g]
        new = [None if t is None else t if not run.bare else t._data for t in ts]
        g = new if several else new[0]
        del old
    return g


def visit(run: Any, node: Node, g: Any, edges: Any) -> Any:
    """A node that is watched, or asked for: its hooks and its rule. None: nothing further is wanted of it."""
    several = type(g) is list
    if node.rare is not None:
        g = before(run, node, g)
    if run.ends is not None and node in run.ends:
        if run.accumulate:
            accumulate_into_result(node, g, run)
        else:
            run.captured[node] = run.tensor(g) if not several else g
    if edges is None:
        return None
    if type(node) is Output:
        run.deposit(node, g)
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
        parts = run_rule(run, node, g, saved, edges)
    except Exception as error:
        if rare is not None and rare.traceback:
            from .anomaly_mode import annotate

            annotate(error, node)
        raise
    finally:
        state.evaluating_node = previous
    if rare is not None and rare.traceback and state.anomaly_check_nan:
        from .anomaly_mode import check_finite

        check_finite(node, parts)
    if node.keeps and not run.retain:
        node.saved = None
    if rare is not None and rare.post_hooks:
        parts = after(run, node, g, parts)
    return parts


def run_rule(run: Any, node: Node, g: Any, saved: Any, edges: Any) -> Any:
    """The node's rule, on the stream of its forward where the device has streams."""
    rare = node.rare
    if rare is not None and rare.stream is not None:
        with rare.stream:
            return node.pull(g, saved, edges) if run.bare else node.pull_tensors(g, saved, edges)
    return node.pull(g, saved, edges) if run.bare else node.pull_tensors(g, saved, edges)


def after(run: Any, node: Node, g: Any, parts: Any) -> Any:
    """Post-hooks of a node: ``hook(grad_inputs, grad_outputs)``."""
    grad_outputs = tuple(None if p is None else as_tensor(p) for p in (g if type(g) is list else [g]))
    grad_inputs = tuple(None if p is None else as_tensor(p) for p in parts)
    for hook in list(node.rare.post_hooks.values()):  # type: ignore[union-attr]
        result = hook(grad_inputs, grad_outputs)
        if result is not None:
            grad_inputs = result if isinstance(result, tuple) else (result,)
    return [p if p is None or not run.bare else p._data for p in grad_inputs]


def accumulate_into_result(node: Node, g: Any, run: Any) -> None:
    """``backward(inputs=...)`` with a tensor that is no leaf: its .grad receives the gradient."""
    target = run_targets.get(node)
    if target is not None:
        rare, t = target._rarely(), run.tensor(g)
        rare.grad = t if rare.grad is None else rare.grad + t


run_targets: dict[Node, Tensor] = {}


def after_accumulation(node: AccumulateGrad, g: Any) -> None:
    """Post-accumulate hooks and post-hooks of a leaf."""
    if node.post_accumulate:
        variable = node.variable
        recording = bool(state.recording)
        for hook in list(node.post_accumulate.values()):
            hook(variable)
        set_recording(recording)
    if node.rare is not None and node.rare.post_hooks:
        for hook in list(node.rare.post_hooks.values()):
            hook((), (as_tensor(g),))


def checked_for_leaf(node: AccumulateGrad, g: Tensor) -> Tensor:
    """Refuse to store a carrier in a .grad from outside its transform; of a dual, keep the primal."""
    from ..core.carrier import Dual

    variable = node.variable
    own = variable._data if variable is not None else None
    level = own.level if isinstance(own, Carrier) else 0
    while isinstance(g._data, Carrier) and g._data.level > level:
        if type(g._data) is Dual:
            g = g._data.primal
            continue
        raise RuntimeError(
            "backward() inside vmap would store a batch in the .grad of a tensor from outside; "
            "use autograd.grad or func.grad, which return the gradient"
        )
    return g
