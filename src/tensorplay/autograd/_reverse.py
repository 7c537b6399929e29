"""Reverse mode at the border of a function: its inputs become leaves of its own, its results are released from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.carrier import Batched, Carrier
from ..core.namespace import F
from ..core.node import AccumulateGrad, Node
from ..core.state import count, state
from ..core.tensor import Tensor, wrap
from ..core.transforms import StandIn, enter, expanded, leave, unpack_batched
from . import engine


class Leaves:
    """Stand-ins for the inputs of one call of a function, by which its gradients are asked for.

    An input that is tracked outside stays connected, so that the outside may differentiate again; any other becomes a
    fresh leaf. What is computed from the leaves needs a graph of its own only if somebody outside can ask for it: if an
    input is tracked, or the graph has an end other than the leaves. The leaves' numbers tell: whatever the function
    found ready is older than they are. Leaves ``within`` others are of the same call.
    """

    __slots__ = ("ends", "fresh", "oldest", "tensors", "tracked")

    def __init__(self, inputs: Sequence[Tensor], recording: bool, within: Leaves | None = None) -> None:
        self.oldest: int = count() if within is None else within.oldest
        self.tensors: list[Tensor] = []
        self.ends: list[Node] = []
        self.fresh: set[Node] = set() if within is None else set(within.fresh)
        self.tracked: bool = within is not None and within.tracked
        for x in inputs:
            leaf = wrap(x._data)
            if recording and x._node is not None:
                leaf._node = StandIn(x._node)
                self.tracked = True
            else:
                leaf._node = AccumulateGrad(leaf)
                self.fresh.add(leaf._node)
            self.tensors.append(leaf)
            self.ends.append(leaf._node)

    def done(self) -> None:
        """The function has returned: nobody but this transform can ask for gradients of its fresh leaves any more."""
        for node in self.fresh:
            node.internal = True  # type: ignore[attr-defined]

    def asked_outside(self, t: Tensor) -> bool:
        """Whether the history of a tensor leads to anything but the fresh leaves, and those of transforms within."""
        root, oldest, fresh = t._node, self.oldest, self.fresh
        if root is None:
            return False
        if root.order < oldest:
            return True
        found, stack = {root}, [root]
        while stack:
            node = stack.pop()
            if type(node) is AccumulateGrad and node not in fresh and not node.internal:
                return True
            for edge in (node.first, node.second, *node.more):
                if edge is not None and edge not in found:
                    if edge.order < oldest:
                        return True
                    found.add(edge)
                    stack.append(edge)
        return False

    def asked_at_all(self, t: Tensor) -> bool:
        """The same of the tapes that run below, inside a carrier."""
        if self.asked_outside(t):
            return True
        data = t._data
        if not isinstance(data, Carrier):
            return False
        return any([self.asked_at_all(part) for part in data.parts])

    def released(self, t: Any) -> Any:
        """A result as seen from outside: without history, unless somebody outside can ask for it."""
        if not isinstance(t, Tensor) or t._node is None or t._node.order < self.oldest:
            return t
        if state.recording and self.asked_outside(t):
            return t
        return t._alias(None)

    def pull(
        self,
        outputs: Sequence[Tensor],
        cotangents: Sequence[Tensor],
        create_graph: bool | None = None,
        retain_graph: bool = True,
    ) -> list[Any]:
        """Gradients of the inputs, None where there is no path; ``create_graph=None``: if somebody outside can ask."""
        if create_graph is None:
            create_graph = bool(state.recording) and (
                self.tracked
                or any([self.asked_at_all(g) for g in cotangents])
                or any([self.asked_at_all(out) for out in outputs])
            )
        roots = [(out._node, g) for out, g in zip(outputs, cotangents) if out._node is not None]
        bare = all(not isinstance(out._data, Carrier) for out in outputs)
        retain = retain_graph or create_graph
        running = state.running
        if not running or running[-1][0] != self.oldest:
            state.running = (*running, (self.oldest, "pull", ()))  # hooks that were registered inside ask for it
        try:
            found = engine.run(
                roots, self.ends, retain_graph=retain, create_graph=create_graph, accumulate=False, bare=bare
            )
        finally:
            state.running = running
        return [found.get(end) for end in self.ends]

    def pull_batch(
        self, outputs: Sequence[Tensor], cotangents: Sequence[Tensor], create_graph: bool | None = None
    ) -> list[Any]:
        """The same for many cotangents at once, stacked in their first dimension; so are the gradients."""
        level = enter()
        try:
            size = cotangents[0]._data.shape[0]
            found = self.pull(outputs, [wrap(Batched(g, level)) for g in cotangents], create_graph)
            return [None if g is None else unpacked(g, level, size) for g in found]
        finally:
            leave(level)


def unpacked(g: Tensor, level: int, size: int) -> Tensor:
    value = unpack_batched(g, level)
    return expanded(g, size) if value is None else value


def zeros_for(x: Tensor) -> Tensor:
    """The gradient of an input that was not reached."""
    return F.zeros_like(x.detach() if x._node is not None else x)
