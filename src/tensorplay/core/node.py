"""Nodes of the backward graph.

A node holds its edges (to nodes, or None where no gradient is wanted), what its rules asked to keep, and a number
that is larger than that of every node it leads to: numbers sort a graph topologically.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .namespace import F, R
from .state import count

if TYPE_CHECKING:
    from .tensor import Tensor


ndarray = np.ndarray


PYTORCH_NAMES = {"self": "input", "result": "out"}
"""PyTorch's names for what is kept, where they differ from ours."""
OUR_NAMES = {ours: theirs for theirs, ours in PYTORCH_NAMES.items()}


def freed(node: Node) -> RuntimeError:
    """The error of a second pass through a freed graph."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        f"been freed). Saved intermediate values of the graph ({node.name()}) are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you "
        "need to access saved tensors after calling backward."
    )


class Hooks(dict[int, Callable[..., Any]]):
    """Hooks in the order of their registration, by the number of their handle."""

    __slots__ = ("__weakref__",)


class Rare:
    """What few nodes have: hooks, metadata, packed saved values, the traceback of the forward pass."""

    __slots__ = ("hooks", "metadata", "packed", "parent", "post_hooks", "pre_hooks", "retains", "stream", "traceback")

    def __init__(self) -> None:
        self.hooks: dict[int, Hooks] = {}  # tensor hooks, by the number of the output
        self.retains: dict[int, Any] = {}  # states of the tensors whose .grad is retained, by the number of the output
        self.pre_hooks: Hooks | None = None
        self.post_hooks: Hooks | None = None
        self.metadata: dict[Any, Any] | None = None
        self.packed: bool = False
        self.traceback: list[str] | None = None
        self.parent: Node | None = None  # the node whose backward made this one, in anomaly mode
        self.stream: Any = None


class SavedValue:
    """``grad_fn._saved_<name>`` or ``grad_fn._raw_saved_<name>`` of the nodes of one class."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, node: Node | None, cls: type[Node]) -> Any:
        if node is None:
            return self
        from . import saved

        return saved.attribute(node, self.name)


class Node:
    """A step of the backward pass; ``grad_fn`` of the tensors it made.

    There is no ``__getattr__``, which would make every attribute slower, those that the pass reads of each node too.
    """

    __slots__ = ("__weakref__", "first", "more", "order", "rare", "saved", "second")

    outputs = 1  # how many tensors the forward made; more than one: gradients arrive as a list
    keeps = False  # whether anything is saved, and so can be freed
    takes_partial = False  # whether the rule over arrays takes a cotangent that is a Partial
    saved_names: tuple[str, ...] = ()
    saved_tensors: dict[str, int | None] = {}  # noqa: RUF012  names of saved operands, with the place of their edge
    checked: list[int] = []  # noqa: RUF012  which of the saved values are refused if they were written to
    primitive: Any = None  # None: a node of another kind, such as a leaf's

    # edges: the first two in slots of their own, so that most nodes need no tuple for the garbage collector to visit
    first: Node | None
    second: Node | None
    more: tuple[Node | None, ...]
    arity: int | None = None  # how many edges nodes of this class have; None: all of them are in ``more``

    order: int
    rare: Rare | None
    saved: Any

    def __init_subclass__(cls) -> None:
        for name in vars(cls).get("saved_names", ()):
            for shown in {name, OUR_NAMES.get(name, name)}:
                for attribute in (f"_saved_{shown}", f"_raw_saved_{shown}"):
                    setattr(cls, attribute, SavedValue(attribute))

    @property
    def edges(self) -> tuple[Node | None, ...]:
        """Where the gradients of the inputs go."""
        arity = self.arity
        if arity is None:
            return self.more
        return (self.first, self.second, *self.more)[:arity]

    @edges.setter
    def edges(self, edges: tuple[Node | None, ...]) -> None:
        self.first = self.second = None
        if self.arity is None:
            self.more = edges
        else:
            self.first, self.second, *more = (*edges, None, None) if len(edges) < 2 else edges
            self.more = tuple(more) if len(edges) > 2 else ()

    def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        """Cotangents of the inputs from that of the output, over arrays; None where an edge is."""
        raise RuntimeError(f"{self.name()} has no rule over arrays")

    def pull_into(self, cotangent: Any, pending: Any, summed: Any, wanted: Any, retain: bool) -> bool | None:
        """The same, entered into what is pending for the nodes that the edges lead to (those wanted; None: all).

        Unless it is to be retained, what was saved is freed. True: the node has a rare part, and nothing was done. The
        question is for here because code that is made for one class reads its slots the fastest.
        """
        return self.enter_all(self.pull, cotangent, pending, summed, wanted, retain)

    def pull_tensors_into(self, cotangent: Any, pending: Any, summed: Any, wanted: Any, retain: bool) -> bool | None:
        """The same over Tensors."""
        return self.enter_all(self.pull_tensors, cotangent, pending, summed, wanted, retain)

    def enter_all(self, pull: Any, cotangent: Any, pending: Any, summed: Any, wanted: Any, retain: bool) -> bool | None:
        """Enter what ``pull`` returns."""
        if self.rare is not None:
            return True
        saved, edges = self.saved, self.wanted_edges(wanted)
        if saved is None:
            raise freed(self)
        for edge, part in zip(edges, pull(cotangent, saved, edges) or ()):
            if edge is not None and part is not None:
                enter(edge, part, pending, summed)
        if self.keeps and not retain:
            self.saved = None
        return None

    def wanted_edges(self, wanted: Any) -> tuple[Node | None, ...]:
        """The edges, with None for those that lead nowhere wanted."""
        edges = self.edges
        return edges if wanted is None else tuple([e if wanted.get(e) else None for e in edges])

    def pull_tensors(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        """The same over Tensors: differentiable, and right under carriers."""
        raise RuntimeError(f"{self.name()} has no rule over tensors")

    def rarely(self) -> Rare:
        """The node's rare part, made at the first need."""
        rare = self.rare
        if rare is None:
            rare = self.rare = Rare()
        return rare

    # ---- what PyTorch's Node offers

    def name(self) -> str:
        """Name of the node, as in ``MulBackward0``."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes this one leads to, each with the number of its output."""
        return tuple(endpoint(edge) for edge in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own notes."""
        rare = self.rarely()
        if rare.metadata is None:
            rare.metadata = {}
        return rare.metadata

    @property
    def _sequence_nr(self) -> int:
        return self.order

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node has run.

        Both are tuples of tensors or None. A tuple that the hook returns takes the place of ``grad_inputs``.

        Examples
        --------
        >>> import tensorplay as tp
        >>> x = tp.tensor([1.], requires_grad=True)
        >>> y = x.exp()
        >>> handle = y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (grad_outputs[0] * 10,))
        >>> y.backward()
        >>> x.grad
        tensor([10.])
        """
        rare = self.rarely()
        if rare.post_hooks is None:
            rare.post_hooks = Hooks()
        return RemovableHandle(rare.post_hooks, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs.

        ``grad_outputs`` is a tuple of tensors or None. A tuple that the hook returns takes its place.

        Examples
        --------
        >>> import tensorplay as tp
        >>> x = tp.tensor([1.], requires_grad=True)
        >>> y = x * 3
        >>> handle = y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
        >>> y.backward()
        >>> x.grad
        tensor([30.])
        """
        rare = self.rarely()
        if rare.pre_hooks is None:
            rare.pre_hooks = Hooks()
        return RemovableHandle(rare.pre_hooks, fn)

    def hooks_on(self, index: int) -> Hooks:
        """The hooks on the tensor that is output ``index``."""
        return self.rarely().hooks.setdefault(index, Hooks())

    def __dir__(self) -> list[str]:
        from . import saved

        return [*(n for n in super().__dir__() if not n.startswith(("_saved_", "_raw_saved_"))), *saved.names(self)]


class Partial:
    """A cotangent, over arrays, that is zero but for a part: what indexing hands back, without making the zeros.

    A node is handed one only if it ``takes_partial``; for all others it becomes an array, or is added to one. ``sums``
    are its sums over the last dimension, where whoever made it knows them.
    """

    __slots__ = ("index", "shape", "sums", "values")

    def __init__(self, values: Any, shape: tuple[int, ...], index: Any, sums: Any = None) -> None:
        self.values, self.shape, self.index, self.sums = values, shape, index, sums

    def dense(self) -> Any:
        """The whole cotangent."""
        out = np.zeros(self.shape, self.values.dtype)
        out[self.index] = self.values
        return out

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.dense(), dtype)


def enter(node: Node, part: Any, pending: dict[Node, Any], summed: set[Node]) -> None:
    """Add to what is pending for a node; in place, if the sum is the pass's own."""
    old = pending.get(node)
    if type(part) is Partial:
        if old is None and node.takes_partial:
            pending[node] = part
        elif old is None:
            pending[node] = part.dense()
            summed.add(node)
        else:
            if node not in summed:
                pending[node] = old = old.dense() if type(old) is Partial else np.array(old)
                summed.add(node)
            old[part.index] += part.values
    elif old is None:
        pending[node] = part
    elif node in summed and type(part) is ndarray:
        old += part
    elif part is not None:
        pending[node] = old = (old.dense() if type(old) is Partial else old) + part
        if type(old) is ndarray:
            summed.add(node)


class AccumulateGrad(Node):
    """Where a graph ends in a leaf: adds what arrives to the leaf's ``.grad``."""

    __slots__ = ("internal", "leaf", "post_accumulate", "tensor")

    internal: bool  # of a transform that has run its function: nobody else can ask for its gradient
    leaf: Any  # the rare part of the leaf, which holds .grad
    tensor: weakref.ref[Tensor]
    post_accumulate: Hooks | None

    arity = 0

    def __init__(self, tensor: Tensor) -> None:
        self.first = self.second = None
        self.more = self.saved = ()
        self.rare = None
        self.leaf = tensor._rarely()
        self.tensor = weakref.ref(tensor)
        self.post_accumulate = None
        self.internal = False
        self.order = count()

    @property
    def variable(self) -> Tensor | None:
        """The leaf."""
        return self.tensor()


class Output(Node):
    """One output of a node that has several: passes its gradient into that node's list."""

    __slots__ = ("index",)

    arity = 1
    index: int

    def __init__(self, node: Node, index: int) -> None:
        self.first, self.second, self.more = node, None, ()
        self.saved = ()
        self.rare = None
        self.index = index
        self.order = count()


class Reduce(Node):
    """The edge of an operand that was broadcast: sums a cotangent back to the operand's shape."""

    __slots__ = ("shape",)

    arity = 1
    shape: tuple[int, ...]

    def __init__(self, edge: Node, shape: tuple[int, ...]) -> None:
        self.first, self.second, self.more = edge, None, ()
        self.saved = ()
        self.rare = None
        self.shape = shape
        self.order = count()

    def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        return (R.sum_to(cotangent, self.shape),)

    def pull_into(self, cotangent: Any, pending: Any, summed: Any, wanted: Any, retain: bool) -> bool | None:
        if self.rare is not None:
            return True
        enter(self.first, R.sum_to(cotangent, self.shape), pending, summed)  # type: ignore[arg-type]
        return None

    def pull_tensors(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        return (F.sum_to(cotangent, self.shape),)

    def pull_tensors_into(self, cotangent: Any, pending: Any, summed: Any, wanted: Any, retain: bool) -> bool | None:
        if self.rare is not None:
            return True
        enter(self.first, F.sum_to(cotangent, self.shape), pending, summed)  # type: ignore[arg-type]
        return None


def endpoint(edge: Node | None) -> tuple[Node | None, int]:
    """The node an edge leads to as the user sees it, and the number of its output."""
    while type(edge) is Reduce:
        edge = edge.edges[0]
    if type(edge) is Output:
        return edge.edges[0], edge.index
    return edge, 0


def place(edge: Node) -> tuple[Node, int]:
    """The node that a tensor's ``_node`` stands for, and the number of its output."""
    return (edge.edges[0], edge.index) if type(edge) is Output else (edge, 0)  # type: ignore[return-value]


class RemovableHandle:
    """Takes a hook away again: by ``remove()``, or at the end of a ``with`` block.

    It holds the hooks weakly, so that a hook which removes itself keeps nothing alive.
    """

    also: RemovableHandle | None = None  # of the same hook at another place

    def __init__(self, hooks: dict[int, Callable[..., Any]], fn: Callable[..., Any]) -> None:
        self.id = count()
        self._hooks: Any = (lambda: hooks) if type(hooks) is dict else weakref.ref(hooks)
        hooks[self.id] = fn

    def remove(self) -> None:
        """Take the hook away; nothing happens if it is gone already."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)
        if self.also is not None:
            self.also.remove()

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()
