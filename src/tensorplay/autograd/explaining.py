"""In words: how an output depends on an input, or where the way between them ends.

The graph tells which operators were recorded, what they kept, and which of their operands had no history. It does not
tell where an operand without history came from: what cannot be known is said to be unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core.carrier import Carrier
from ..core.inplace import Ambiguous
from ..core.node import AccumulateGrad, Node, endpoint, place
from ..core.saved import Packed
from ..core.state import grad_mode
from ..core.tensor import Tensor, tensors_alive
from ..core.versions import memory_of, version, written_since
from ..ops.declare import zero
from .context import BackwardCFunction
from .function import DelayedError

__all__ = ["Explanation", "explain"]


class Explanation:
    """What :func:`explain` found; it prints as its text, and is true if the output depends on the input.

    Attributes
    ----------
    text : str
        The findings in words.
    depends : bool
        Whether recorded operators lead from the output to the input.
    path : tuple of Node
        The shortest way: the nodes from the output to the input.
    paths : int
        How many ways there are.
    """

    def __init__(self, sentences: Iterable[str], path: tuple[Node, ...] = (), paths: int = 0) -> None:
        self.text = "\n".join(sentences)
        self.path, self.paths, self.depends = path, paths, paths > 0

    def __bool__(self) -> bool:
        return self.depends

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def explain(output: Tensor, input: Tensor, names: Mapping[str, Tensor] | None = None) -> Explanation:
    """Say how an output depends on an input, or why no gradient gets from the one to the other.

    Parameters
    ----------
    output, input : Tensor
        The tensors; the input may be a leaf or a result.
    names : mapping of str to Tensor, optional
        Names of leaves, such as ``dict(model.named_parameters())``, to be used in the text.

    Returns
    -------
    Explanation
        Prints as the text. Of a dependency: the operators on the way, how many ways there are, and what will keep a
        gradient from passing (freed or overwritten values, derivatives that are zero). Else: where the way was cut, as
        far as graph and tensors show it, and what it may have been where they do not.

    Raises
    ------
    TypeError
        If either is no tensor.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.autograd.graph import explain
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> w = tp.tensor([3., 4.], requires_grad=True)
    >>> explain((x * w).sum(), x)
    The output depends on the input, in one way:
      output <- SumBackward0 <- MulBackward0 <- input
    >>> explain((x.detach() * w).sum(), x)
    The output does not depend on the input: no recorded operator leads from the one to the other.
    MulBackward0 took the input as its operand 'input', but without history: by detach(), .data or numpy(), or under no_grad().
    The graph of the output ends in: a leaf (float32 [2]).
    """  # noqa: E501
    for t, what in ((output, "output"), (input, "input")):
        if not isinstance(t, Tensor):
            raise TypeError(f"explain(): argument '{what}' must be Tensor, not {type(t).__name__}")
    if output is input:
        return Explanation(["The output is the input itself: the derivative is one."], (), 1)
    called = Names(names or {})
    for what, top, below in levels(output, input):
        if top is not None and below is not None and (path := shortest(top, below)) is not None:
            return connected(what, path, top, below)
    return Explanation([*cut(output, input, called)])


# ---- looking at the graph


def levels(output: Tensor, input: Tensor) -> Iterator[tuple[str, Node | None, Node | None]]:
    """The nodes of both, and then of what is inside their carriers, each pair with words for where it is."""
    for what, out in inside(output):
        for _, inp in inside(input):
            yield what, out._node, inp._node


def inside(t: Tensor) -> Iterator[tuple[str, Tensor]]:
    """A tensor, and the tensors that its carriers hold."""
    yield "", t
    data = t._data
    if isinstance(data, Carrier):
        for part in data.parts:
            for what, further in inside(part):
                yield what or f"inside {data.transform}", further


def sources(node: Node) -> Iterator[Node]:
    """The nodes that a node leads to, as the user sees them."""
    for edge in node.edges:
        source = endpoint(edge)[0]
        if source is not None:
            yield source


def graph(root: Node | None, oldest: int = 0) -> list[Node]:
    """The nodes that a node leads to and itself, as the user sees them, newest first."""
    if root is None:
        return []
    start = place(root)[0]
    found, stack = {start}, [start]
    while stack:
        for source in sources(stack.pop()):
            if source not in found and source.order >= oldest:
                found.add(source)
                stack.append(source)
    return sorted(found, key=lambda node: -node.order)


def shortest(top: Node, below: Node) -> tuple[Node, ...] | None:
    """The shortest way from one node to another: nodes with both ends; None if there is none."""
    start, (end, index) = place(top)[0], place(below)
    if start is end and place(top)[1] != index:
        return None  # another output of the same operator
    came: dict[Node, Node | None] = {start: None}
    layer = [start]
    while layer and end not in came:
        following = []
        for node in layer:
            for edge in node.edges:
                source, number = endpoint(edge)
                if source is None or source in came or source.order < end.order:
                    continue
                if source is end and number != index:
                    continue
                came[source] = node
                following.append(source)
        layer = following
    if end not in came:
        return None
    path, step = [], came.get(end)
    path.append(end)
    while step is not None:
        path.append(step)
        step = came[step]
    return tuple(reversed(path))


def count_ways(top: Node, below: Node, passing: Any = lambda node, i: True) -> int:
    """How many ways lead from one node to another, along edges that let something pass."""
    start, (end, index) = place(top)[0], place(below)
    ways = {start: 1}
    for node in graph(start, end.order):
        n = ways.get(node, 0)
        if node is end or not n:
            continue
        for i, edge in enumerate(node.edges):
            source, number = endpoint(edge)
            if source is not None and (source is not end or number == index) and passing(node, i):
                ways[source] = ways.get(source, 0) + n
    return ways.get(end, 0)


def operand_names(node: Node) -> list[str]:
    """Names of the operands to which the edges of a node belong; empty where they are not known."""
    p, n = node.primitive, len(node.edges)
    if isinstance(node, BackwardCFunction):
        return [f"argument {at}" for at, _, _ in node.inputs]
    if p is None:
        return [""] * n
    if p.variadic:
        return [f"{p.inputs[0]}[{i}]" for i in range(n)]
    names = [p.inputs[i] for i in p.plan.rules]
    if len(names) == n:
        return names
    numbers = {name for name in node.saved_names if name in p.inputs and name not in node.saved_tensors}
    left = [name for name in names if name not in numbers]
    return left if len(left) == n else [""] * n


def zero_derivative(node: Node, i: int) -> bool:
    """Whether the rule of an edge gives zeros whatever comes: of a function that is constant between its jumps."""
    p = node.primitive
    if p is None or not isinstance(p.vjp, dict):
        return False
    name = operand_names(node)[i]
    return p.vjp.get(name) is zero


# ---- words


class Names:
    """What leaves are called."""

    def __init__(self, names: Mapping[str, Tensor]) -> None:
        self.names = {t._node: name for name, t in names.items() if t._node is not None}

    def leaf(self, node: AccumulateGrad) -> str:
        variable = node.variable
        name = self.names.get(node)
        kind = "a leaf" if name is None else repr(name)
        return kind if variable is None else f"{kind} ({shape_in_words(variable._data)})"

    def result(self, t: Tensor) -> str:
        """A tensor that requires grad."""
        assert t._node is not None
        node = place(t._node)[0]
        return self.leaf(node) if type(node) is AccumulateGrad else f"a result of {node.name()}"


def shape_in_words(data: Any) -> str:
    return f"{data.dtype.name} {list(data.shape)}"


def listed(things: Iterable[str], most: int = 6) -> str:
    """Things in a row, each once."""
    each = list(dict.fromkeys(things))
    more = [f"and {len(each) - most} more"] if len(each) > most else []
    return ", ".join(each[:most] + more)


# ---- there is a way


def connected(what: str, path: tuple[Node, ...], top: Node, below: Node) -> Explanation:
    """The way, and what will keep a gradient from taking it."""
    ways = count_ways(top, below)
    last = [] if type(path[-1]) is AccumulateGrad else [path[-1].name()]
    steps = [node.name() for node in path[:-1]] + last
    if len(steps) > 12:
        steps = [*steps[:6], f"... {len(steps) - 12} more ...", *steps[-6:]]
    where = f" ({what})" if what else ""
    number = "in one way" if ways == 1 else f"in {ways} ways, the shortest being"
    text = [f"The output depends on the input{where}, {number}:", "  " + " <- ".join(["output", *steps, "input"])]
    if not count_ways(top, below, lambda node, i: not zero_derivative(node, i)):
        flat = listed(n.name() for n in between(top, below) if any(zero_derivative(n, i) for i in range(len(n.edges))))
        text.append(f"But every way passes {flat}, which is constant between its jumps: the gradient is zero.")
    return Explanation([*text, *obstacles(between(top, below))], path, ways)


def between(top: Node, below: Node) -> list[Node]:
    """The nodes on ways from one node to another, without the last."""
    end = place(below)[0]
    nodes, leads = graph(top, end.order), {end}
    for node in reversed(nodes):
        if any(source in leads for source in sources(node)):
            leads.add(node)
    return [node for node in nodes if node in leads and node is not end]


def obstacles(nodes: list[Node]) -> Iterator[str]:
    """What a backward pass over nodes would stumble on, or silently lose."""
    freed = [n.name() for n in nodes if n.saved is None]
    if freed:
        yield (f"A backward pass has been here and freed what {listed(freed)} kept: a further one raises, unless the "
               "first had retain_graph=True.")  # fmt: skip
    for node in nodes:
        for name, data in kept(node):
            if written_since(data, node.order):
                yield (f"{node.name()} kept {name!r} ({shape_in_words(data)}), which was written to in place since: a "
                       "backward pass raises.")  # fmt: skip
        if isinstance(node, Ambiguous):
            yield "A view on the way was taken under no_grad() and its base written to since: a backward pass raises."
        if isinstance(node, DelayedError):
            yield f"A backward pass raises: {node.message}."
    custom = listed(n.name() for n in nodes if isinstance(n, BackwardCFunction))
    if custom:
        yield f"{custom}: the backward of a custom Function, which may return None; the graph does not tell."
    hooked = listed(n.name() for n in nodes if n.rare is not None and (n.rare.hooks or n.rare.pre_hooks or
                                                                       n.rare.post_hooks))  # fmt: skip
    if hooked:
        yield f"Hooks may change the gradient at {hooked}."


def kept(node: Node) -> Iterator[tuple[str, Any]]:
    """The tensors that a node keeps, as names and data; packed ones are not looked at."""
    if node.primitive is None or not node.saved:
        return
    for name, value in zip(node.saved_names, node.saved):
        if name in node.saved_tensors or name == "out":
            for data in value if type(value) is tuple else (value,):
                if hasattr(data, "dtype"):
                    yield name, data


# ---- there is none


class Constant(NamedTuple):
    """An operand without history."""

    node: Node
    name: str
    data: Any  # an array, a number, or None if the node does not keep it


def constants(nodes: Iterable[Node]) -> Iterator[Constant]:
    """The operands without history of nodes, as far as the graph shows them."""
    for node in nodes:
        p = node.primitive
        if p is None:
            if isinstance(node, BackwardCFunction):
                for (at, _, _), edge in zip(node.inputs, node.edges):
                    if edge is None:
                        yield Constant(node, f"argument {at}", None)
            continue
        saved = dict(zip(node.saved_names, node.saved)) if node.saved else {}
        if p.variadic:
            arrays = saved.get(p.inputs[0])
            for i, edge in enumerate(node.edges):
                if edge is None:
                    yield Constant(node, f"{p.inputs[0]}[{i}]", arrays[i] if type(arrays) is tuple else None)
            continue
        tracked = {name for name, edge in zip(operand_names(node), node.edges) if edge is not None}
        for name in p.inputs:
            value = saved.get(name)
            unknown = value is None and (name in p.optional or "" in tracked or (
                name not in node.saved_names and p.inputs.index(name) not in p.differentiable))  # fmt: skip
            if name not in tracked and not unknown:
                yield Constant(node, name, None if isinstance(value, Packed) else value)


def cut(output: Tensor, input: Tensor, called: Names) -> Iterator[str]:
    """Why no way leads from the output to the input."""
    yield "The output does not depend on the input: no recorded operator leads from the one to the other."
    nodes = graph(output._node)
    if output._node is None:
        yield from without_history(output, input)
    clues: list[str] = []
    if input._node is None:
        yield from not_recorded(input)
    elif output._node is not None:
        clues += related(output, input, nodes, called)
    found = list(constants(nodes))
    clues += traces(found, input)
    yield from clues
    if nodes:
        found = [c for c in found if not isinstance(c.data, (int, float)) or suspicious(c.data)]
        if not clues and found:
            shown = [f"{name!r} of {node.name()}" + (f" ({described(data)})" if data is not None else "")
                     for node, name, data in found]  # fmt: skip
            yield (f"Operands without history, by which the input may have come in: {listed(shown)}. Where they came "
                   "from is not known: of tensors that do not require grad, or of the input by no_grad(), detach() or "
                   "an integer operator, or of values taken out by item(), tolist() or numpy().")  # fmt: skip
        ends = [called.leaf(node) for node in nodes if type(node) is AccumulateGrad]
        yield f"The graph of the output ends in: {listed(ends) or 'no leaf'}."


def described(data: Any) -> str:
    return shape_in_words(data) if hasattr(data, "dtype") else f"the number {data!r}"


def without_history(output: Tensor, input: Tensor) -> Iterator[str]:
    """An output that does not require grad."""
    data, rare = output._data, output._rare
    view = None if rare is None else rare.view
    if data.dtype.kind not in "fcV":
        yield (f"The output is {shape_in_words(data)}: integers and booleans have no derivative. An operator that "
               "makes them (a comparison, argmax, a cast) cuts the graph.")  # fmt: skip
    elif output.is_inference():
        yield "The output was made in inference mode, where nothing is recorded."
    elif view is not None and view.without_grad and view.base._node is not None:
        steps = ", ".join(primitive.name for primitive, _, _ in view.steps)
        yield (f"The output is a view ({steps}) of a tensor that requires grad, but was taken under "
               "no_grad().")  # fmt: skip
    elif memory_of(data) is memory_of(input._data):
        yield ("The output has the memory of the input, but no history: detach(), .data or numpy() give "
               "that.")  # fmt: skip
    elif same_values(data, input._data):
        yield ("The output does not require grad, and holds the values of the input: a copy, perhaps by tensor(), "
               "numpy(), or clone() under no_grad().")  # fmt: skip
    else:
        yield ("The output does not require grad. Why is not known: it was made under no_grad(), or of tensors that do "
               "not require grad, or of values taken out by item(), tolist() or numpy().")  # fmt: skip
    if not grad_mode():
        yield "Recording is off here and now: explain() was called under no_grad()."


def same_values(a: Any, b: Any) -> bool:
    arrays = type(a) is type(b) is np.ndarray
    return arrays and a.shape == b.shape and a.size > 0 and bool(np.array_equal(a, b))


def not_recorded(input: Tensor) -> Iterator[str]:
    """An input that does not require grad."""
    data = input._data
    if data.dtype.kind not in "fcV":
        yield f"The input is {shape_in_words(data)}: only floating and complex tensors can require grad."
    elif input.is_inference():
        yield "The input was made in inference mode, and cannot be recorded."
    else:
        yield ("The input does not require grad, so operators did not record it: call requires_grad_() before the "
               "output is computed.")  # fmt: skip


def related(output: Tensor, input: Tensor, nodes: list[Node], called: Names) -> Iterator[str]:
    """Both require grad: whether the input came too late, or is another result of what the output uses."""
    assert input._node is not None and output._node is not None
    own, leaf = place(input._node)[0], type(input._node) is AccumulateGrad
    if own.order > place(output._node)[0].order:
        if leaf:
            yield "The input came to require grad after the output was computed: requires_grad_() was called too late."
        else:
            written = version(input._data)
            yield (f"The input, {called.result(input)}, was computed after the output"
                   + ("; its memory was written to in place: the output may have used it as it was before"
                      if written else "") + ".")  # fmt: skip
    if not leaf:
        common = set(nodes) & set(graph(input._node))
        if own in common:
            yield f"Both are results of {own.name()}, but the output uses another one than the input."
        elif common:
            newest = max(common, key=lambda node: node.order)
            what = called.leaf(newest) if type(newest) is AccumulateGrad else f"the result of {newest.name()}"
            yield (f"Both come from {what}, but the output uses that, and not the input, which was computed from it "
                   "beside.")  # fmt: skip


def traces(found: list[Constant], input: Tensor) -> Iterator[str]:
    """Operands without history in which the input, or what was computed from it, can be recognised."""
    memory, array, end = memory_of(input._data), input._data, input._node
    alive: dict[int, list[Tensor]] | None = None
    for node, name, data in found:
        operand = f"as its operand {name!r}"
        if hasattr(data, "dtype"):
            owner = memory_of(data)
            if owner is memory:
                if end is None:
                    yield f"{node.name()} took the input {operand}."
                elif type(end) is AccumulateGrad and node.order < end.order:
                    yield f"{node.name()} took the input {operand}, before it required grad."
                else:
                    yield f"{node.name()} took the input {operand}, but without history: {WITHOUT}."
                continue
            if alive is None:
                alive = by_memory() if end is not None else {}
            made = next((t for t in alive.get(id(owner), ()) if shortest(t._node, end) is not None), None)  # type: ignore[arg-type]
            if made is not None:
                result = place(made._node)[0].name()  # type: ignore[arg-type]
                yield (f"{node.name()} took a result of {result}, which depends on the input, {operand}, but without "
                       f"history: {WITHOUT}.")  # fmt: skip
            elif data.dtype.kind in "biu":
                yield (f"{node.name()} took {shape_in_words(data)} {operand}: nothing is differentiated through "
                       "integers and booleans.")  # fmt: skip
            elif same_values(data, array):
                yield (f"{node.name()} took a copy of the input's values {operand}: by tensor(), numpy(), or clone() "
                       "under no_grad().")  # fmt: skip
        elif suspicious(data) and type(array) is np.ndarray and 0 < array.size <= 10_000 and (array == data).any():
            yield (f"{node.name()} took the number {data!r} {operand}, which the input holds: a value taken out by "
                   "item() or float() has no history.")  # fmt: skip


WITHOUT = "by detach(), .data or numpy(), or under no_grad()"


def suspicious(value: Any) -> bool:
    """Whether a number may be a tensor's value, rather than written in the program."""
    return type(value) is float and not value.is_integer()


def by_memory() -> dict[int, list[Tensor]]:
    """All tensors alive that have a history, by the array that owns their memory."""
    found: dict[int, list[Tensor]] = {}
    for t in tensors_alive():
        if t._node is not None:
            found.setdefault(id(memory_of(t._data)), []).append(t)
    return found
