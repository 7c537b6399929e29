"""Pictures of the graph: as SVG, laid out here in layers, and as text for Graphviz and Mermaid."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape

from ..core.inplace import Overwrite
from ..core.node import AccumulateGrad, Node, Reduce, endpoint, place
from ..core.tensor import Tensor
from ..core.transforms import Alias
from .context import BackwardCFunction
from .explaining import operand_names
from .graph import GradientEdge

__all__ = ["Drawing", "draw"]

Place = tuple[Node, int]  # a node, and the number of its output
Shape = tuple[int, ...]


class Box:
    """A node of the picture.

    Attributes
    ----------
    title, rows : str, list of str
        What is written in it.
    kind : str
        "operator", "function" (a custom one), "leaf", "parameter", "unused" (a parameter that is not reached) or
        "output".
    """

    __slots__ = ("id", "kind", "rows", "title")

    def __init__(self, id: int, kind: str, title: str, rows: list[str]) -> None:
        self.id, self.kind, self.title, self.rows = id, kind, title, rows

    def __repr__(self) -> str:
        return f"<{self.kind} {self.title}>"


class Arrow:
    """An edge of the picture, from what was used to what used it."""

    __slots__ = ("label", "source", "target")

    def __init__(self, source: Box, target: Box, label: str) -> None:
        self.source, self.target, self.label = source, target, label

    def __repr__(self) -> str:
        return f"{self.source.title} -> {self.target.title}"


def draw(
    output: Any,
    params: Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | None = None,
    *,
    show_saved: bool = True,
    show_shapes: bool = True,
) -> Drawing:
    """Draw the graph of one or more outputs.

    Parameters
    ----------
    output : Tensor, GradientEdge, or sequence of them
        Where the graph ends.
    params : mapping or iterable of pairs, optional
        Names of tensors, as ``model.named_parameters()`` gives them. Those that the outputs do not reach are drawn,
        too, apart from the rest.
    show_saved : bool
        Write into each operator what it keeps for the backward pass.
    show_shapes : bool
        Write shapes at the arrows, as far as the graph tells them.

    Returns
    -------
    Drawing
        Shows itself in a notebook; ``svg``, ``dot`` and ``mermaid`` are its texts, and ``save(path)`` writes one.

    Raises
    ------
    TypeError
        If an output is neither a tensor nor an edge, or a parameter no tensor.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.autograd.graph import draw
    >>> w, x = tp.ones(3, requires_grad=True), tp.ones(3)
    >>> print(draw((w * x).sum(), {"w": w}).mermaid)
    flowchart TD
        n0["w<br/>float32 (3,)"]:::parameter
        n1["MulBackward0<br/>other: float32 (3,)"]:::operator
        n2["SumBackward0<br/>dim: None<br/>keepdim: False"]:::operator
        n3["output<br/>float32 ()"]:::output
        n0 -->|"(3,)"| n1
        n1 -->|"(3,)"| n2
        n2 -->|"()"| n3
        classDef parameter fill:#cfe2ff,stroke:#3b6fb6,color:#1b1f24
        classDef operator fill:#f1f3f5,stroke:#868e96,color:#1b1f24
        classDef output fill:#d3f2d9,stroke:#2f9e44,color:#1b1f24
    """
    try:
        outputs = [output] if isinstance(output, (Tensor, GradientEdge)) else list(output)
    except TypeError:
        raise TypeError(f"draw(): output must be a Tensor, a GradientEdge or a sequence of them, got "
                        f"{type(output).__name__}") from None  # fmt: skip
    for i, out in enumerate(outputs):
        if not isinstance(out, (Tensor, GradientEdge)):
            raise TypeError(f"draw(): output must be a Tensor, a GradientEdge or a sequence of them, got "
                            f"{type(out).__name__} at index {i}")  # fmt: skip
    named = dict(params or {})
    for name, t in named.items():
        if not isinstance(t, Tensor):
            raise TypeError(f"draw(): params must hold Tensors, got {type(t).__name__} for {name!r}")
    return Drawing(*Builder(outputs, named, show_saved, show_shapes).build())


# ---- from the graph to boxes and arrows


class Builder:
    """Makes boxes of nodes and arrows of edges."""

    def __init__(self, outputs: list[Any], params: dict[str, Tensor], show_saved: bool, show_shapes: bool) -> None:
        self.outputs, self.params = outputs, params
        self.show_saved, self.show_shapes = show_saved, show_shapes
        self.names: dict[Place, str] = {place(t._node): name for name, t in params.items() if t._node is not None}
        roots = [place_of(out) for out in outputs]
        self.nodes = nodes_below([root[0] for root in roots if root is not None])
        self.shapes = shapes_of(self.nodes, outputs)

    def build(self) -> tuple[list[Box], list[Arrow]]:
        boxes: list[Box] = []
        of_node: dict[Node, Box] = {}

        def box(kind: str, title: str, rows: list[str]) -> Box:
            made = Box(len(boxes), kind, title, rows)
            boxes.append(made)
            return made

        for node in self.nodes:
            of_node[node] = box(*(self.leaf(node) if isinstance(node, AccumulateGrad) else self.operator(node)))
        arrows = []
        for node in self.nodes:
            names = operand_names(node)
            several = len({endpoint(e)[0] for e in node.edges if e is not None}) > 1
            for name, edge in zip(names, node.edges):
                source, index = endpoint(edge)
                if source is not None:
                    label = [name] if several and name else []
                    arrows.append(Arrow(of_node[source], of_node[node], self.label((source, index), label)))
        for i, out in enumerate(self.outputs):
            rows = [tensor_in_words(out._data)] if isinstance(out, Tensor) else []
            end = box("output", "output" if len(self.outputs) == 1 else f"output {i}", rows)
            at = place_of(out)
            if at is None:
                end.rows.append("no history")
            else:
                arrows.append(Arrow(of_node[at[0]], end, self.label(at, [])))
        for name, t in self.params.items():
            if t._node is None or place(t._node)[0] not in of_node:
                why = "not reached" if t._node is not None else "does not require grad"
                box("unused", name, [tensor_in_words(t._data), why])
        return boxes, arrows

    def leaf(self, node: AccumulateGrad) -> tuple[str, str, list[str]]:
        variable, name = node.variable, self.names.get((node, 0))
        rows = [] if variable is None else [tensor_in_words(variable._data)]
        return ("leaf", "leaf", rows) if name is None else ("parameter", name, rows)

    def operator(self, node: Node) -> tuple[str, str, list[str]]:
        called = [name for i in range(node.outputs) if (name := self.names.get((node, i))) is not None]
        title = node.name() + "".join(f" = {name}" for name in called)
        kind = "function" if isinstance(node, BackwardCFunction) else "operator"
        return kind, title, saved_in_words(node) if self.show_saved else []

    def label(self, at: Place, words: list[str]) -> str:
        node, index = at
        if node.outputs > 1:
            words = [f"[{index}]", *words]
        if self.show_shapes and at in self.shapes:
            words = [*words, str(self.shapes[at])]
        return " ".join(words)


def place_of(out: Any) -> Place | None:
    """Where the graph of an output begins."""
    if isinstance(out, GradientEdge):
        return out.node, out.output_nr
    return None if out._node is None else place(out._node)


def nodes_below(roots: list[Node]) -> list[Node]:
    """The nodes that roots lead to, as the user sees them, oldest first."""
    found, stack = set(roots), list(roots)
    while stack:
        for edge in stack.pop().edges:
            source = endpoint(edge)[0]
            if source is not None and source not in found:
                found.add(source)
                stack.append(source)
    return sorted(found, key=lambda node: node.order)


def shapes_of(nodes: list[Node], outputs: list[Any]) -> dict[Place, Shape]:
    """The shapes of results, as far as they can be told: from outputs and leaves, from what was kept, from broadcasts.

    An elementwise operator has the shape of its operands, unless they were broadcast.
    """
    found: dict[Place, Shape] = {}
    for out in outputs:
        at = place_of(out)
        if isinstance(out, Tensor) and at is not None:
            found[at] = tuple(out._data.shape)
    for node in nodes:
        if isinstance(node, AccumulateGrad):
            if node.variable is not None:
                found[node, 0] = tuple(node.variable._data.shape)
        elif isinstance(node, BackwardCFunction):
            found |= {(node, i): result[0] for i, result in enumerate(node.results) if result is not None}
            for edge, (_, shape, _) in zip(node.edges, node.inputs):
                if edge is not None:
                    found[endpoint(edge)] = shape  # type: ignore[index]
        else:
            from_saved(node, found)
        for edge in node.edges:
            if type(edge) is Reduce:
                found[endpoint(edge)] = edge.shape  # type: ignore[index]
    for order in (nodes[::-1], nodes):
        for node in order:
            if isinstance(node, (Alias, Overwrite)) or (node.primitive is not None and node.primitive.broadcasts):
                same: list[Any] = [(node, 0)]
                same += [endpoint(edge) for edge in node.edges if edge is not None and type(edge) is not Reduce]
                known = next((found[p] for p in same if p in found), None)
                if known is not None:
                    found |= {p: known for p in same if p not in found}
    return found


def from_saved(node: Node, found: dict[Place, Shape]) -> None:
    """Shapes that what a node keeps tells: of its own results, and of those it used."""
    if not node.saved:
        return
    saved = dict(zip(node.saved_names, node.saved))
    out = saved.get("out")
    for i, data in enumerate(out if type(out) is tuple else (out,)):
        if hasattr(data, "shape"):
            found[node, i] = tuple(data.shape)
    p = node.primitive
    for i, (name, edge) in enumerate(zip(operand_names(node), node.edges)):
        if edge is None or type(edge) is Reduce:
            continue
        if p is not None and p.variadic:
            shapes, arrays = saved.get(f"{p.inputs[0]}_shapes"), saved.get(p.inputs[0])
            shape = shapes[i] if shapes else getattr(arrays[i], "shape", None) if type(arrays) is tuple else None
        else:
            shape = saved.get(f"{name}_shape") or getattr(saved.get(name), "shape", None)
        if shape is not None:
            found[endpoint(edge)] = tuple(shape)  # type: ignore[index]


def tensor_in_words(data: Any) -> str:
    return f"{data.dtype.name} {tuple(data.shape)}"


def value_in_words(value: Any) -> str:
    if type(value) is tuple and any(hasattr(v, "dtype") and hasattr(v, "shape") for v in value):
        return ", ".join(map(value_in_words, value[:3])) + ", ..." * (len(value) > 3)
    if hasattr(value, "unpack"):
        return "packed"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return tensor_in_words(value)
    text = repr(value) if isinstance(value, (int, float, complex, str, tuple, list, slice, type(None))) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def saved_in_words(node: Node) -> list[str]:
    """What a node keeps, line by line."""
    if node.saved is None or (isinstance(node, BackwardCFunction) and type(node.saved) is not tuple):
        return ["freed"]
    if isinstance(node, BackwardCFunction):
        return [f"saved: {value_in_words(getattr(t, '_data', getattr(t, 'data', t)))}" for t in node.saved]
    return [
        f"{name}: {value_in_words(value)}"
        for name, value in zip(node.saved_names, node.saved)
        if not (value is None and name in node.saved_tensors) and not name.endswith(HIDDEN)
    ]


HIDDEN = ("_shape", "_shapes", "_dtype", "kept", "needs")
"""What nodes keep that the arrows show, or that is of use to the kernel alone."""


# ---- the picture

COLOURS = {
    "parameter": ("#cfe2ff", "#3b6fb6"),
    "leaf": ("#e3ecf7", "#6c8ebf"),
    "operator": ("#f1f3f5", "#868e96"),
    "function": ("#ffe8cc", "#d9822b"),
    "output": ("#d3f2d9", "#2f9e44"),
    "unused": ("#ffffff", "#adb5bd"),
}
TEXT = "#1b1f24"


class Drawing:
    """A picture of a graph.

    Attributes
    ----------
    boxes : list of Box
        The nodes, with ``title``, ``rows`` and ``kind``.
    arrows : list of Arrow
        The edges, with ``source``, ``target`` and ``label``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.ones(3, requires_grad=True)
    >>> picture = tp.autograd.graph.draw(w.exp(), {"w": w})
    >>> picture
    <drawing of 3 nodes and 2 edges>
    >>> picture.arrows
    [w -> ExpBackward0, ExpBackward0 -> output]
    >>> picture.svg[:4]
    '<svg'
    """

    def __init__(self, boxes: list[Box], arrows: list[Arrow]) -> None:
        self.boxes, self.arrows = boxes, arrows

    def __repr__(self) -> str:
        return f"<drawing of {len(self.boxes)} nodes and {len(self.arrows)} edges>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file: SVG, Graphviz or Mermaid, as its suffix says.

        Parameters
        ----------
        path : str
            Ends in ``.svg``, ``.dot``, ``.gv``, ``.mmd`` or ``.mermaid``.

        Raises
        ------
        ValueError
            For another suffix.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorplay as tp
        >>> path = pathlib.Path(tempfile.mkdtemp(), "graph.svg")
        >>> tp.autograd.graph.draw(tp.ones(3, requires_grad=True).exp()).save(path)
        >>> path.read_text()[:4]
        '<svg'
        """
        suffix = os.path.splitext(os.fspath(path))[1]
        kinds = {".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid"}
        if suffix not in kinds:
            raise ValueError(f"save(): the suffix says what is written, one of {', '.join(kinds)}; got {path!r}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(getattr(self, kinds[suffix]))

    @functools.cached_property
    def dot(self) -> str:
        """The graph in Graphviz's language."""

        def quoted(lines: Iterable[str]) -> str:
            return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'

        text = [
            "digraph tensorplay {",
            '  node [shape=box, style="filled,rounded", fontname="sans-serif", fontsize=11];',
            '  edge [fontname="sans-serif", fontsize=9, color="#868e96"];',
        ]
        for box in self.boxes:
            fill, line = COLOURS[box.kind]
            dashed = ', style="dashed,rounded"' if box.kind == "unused" else ""
            label = quoted([box.title, *box.rows])
            text.append(f'  n{box.id} [label={label}, fillcolor="{fill}", color="{line}"{dashed}];')
        for arrow in self.arrows:
            label = f" [label={quoted([arrow.label])}]" if arrow.label else ""
            text.append(f"  n{arrow.source.id} -> n{arrow.target.id}{label};")
        return "\n".join([*text, "}", ""])

    @functools.cached_property
    def mermaid(self) -> str:
        """The graph in Mermaid's language, which Markdown viewers draw."""

        def quoted(lines: Iterable[str]) -> str:
            return '"' + "<br/>".join(escape(line, {'"': "#quot;"}) for line in lines) + '"'

        text = ["flowchart TD"]
        text += [f"    n{box.id}[{quoted([box.title, *box.rows])}]:::{box.kind}" for box in self.boxes]
        for arrow in self.arrows:
            label = f"|{quoted([arrow.label])}|" if arrow.label else ""
            text.append(f"    n{arrow.source.id} -->{label} n{arrow.target.id}")
        for kind in dict.fromkeys(box.kind for box in self.boxes):
            fill, line = COLOURS[kind]
            dashed = ",stroke-dasharray:4" if kind == "unused" else ""
            text.append(f"    classDef {kind} fill:{fill},stroke:{line},color:{TEXT}{dashed}")
        return "\n".join(text)

    @functools.cached_property
    def svg(self) -> str:
        """The picture: inputs above, outputs below."""
        layout = Layout(self.boxes, self.arrows)
        width, height = layout.size
        text = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="{FONT}">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8z" fill="#868e96"/></marker></defs>',
        ]
        lines = layout.lines()
        for arrow, points, (x, y) in zip(self.arrows, lines, label_places(self.arrows, lines)):
            text.append(f'<g class="edge"><path d="{curve(points)}" fill="none" stroke="#868e96" '
                        'marker-end="url(#tip)"/>')  # fmt: skip
            if arrow.label:
                text.append(f'<text x="{x + 4:.1f}" y="{y + 4:.1f}" font-size="{FONT - 2}" fill="#5c636a" '
                            f'stroke="#fff" stroke-width="3" paint-order="stroke">{escape(arrow.label)}</text>')
            text.append("</g>")
        for box in self.boxes:
            x, y, w, h = layout.rectangle(box)
            fill, line = COLOURS[box.kind]
            dash = ' stroke-dasharray="4"' if box.kind == "unused" else ""
            text.append(f'<g class="node {box.kind}"><rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" '
                        f'rx="5" fill="{fill}" stroke="{line}"{dash}/>')  # fmt: skip
            for i, row in enumerate([box.title, *box.rows]):
                style = f'font-weight="bold" fill="{TEXT}"' if i == 0 else f'font-size="{FONT - 1}" fill="#495057"'
                text.append(f'<text x="{x + w / 2:.1f}" y="{y + PAD + LINE * (i + 0.75):.1f}" text-anchor="middle" '
                            f"{style}>{escape(row)}</text>")  # fmt: skip
            text.append("</g>")
        return "\n".join([*text, "</svg>", ""])


FONT, LINE, PAD = 12, 15, 6
GAP_X, GAP_Y, MARGIN = 18, 42, 12
LONGEST = 16
"""Edges over more layers go straight: points of their own in each layer would be too many in a deep graph."""


class Layout:
    """Positions of boxes in layers, so that arrows lead downwards and cross little (Sugiyama et al., 1981).

    Each box lies one layer above the highest box that uses it. Arrows that pass layers have a point in each. The order
    within a layer follows the mean position of the neighbours, swept up and down; then so do the positions, as far
    as the widths allow.
    """

    def __init__(self, boxes: list[Box], arrows: list[Arrow]) -> None:
        self.boxes, self.arrows = boxes, arrows
        n = len(boxes)
        self.width = [max([character_width(t) for t in (box.title, *box.rows)]) + 2 * PAD + 4 for box in boxes]
        self.height = [LINE * (1 + len(box.rows)) + 2 * PAD for box in boxes]
        self.layer = self.layers()
        self.above: list[list[int]] = [[] for _ in range(n)]
        self.below: list[list[int]] = [[] for _ in range(n)]
        self.chains = [self.chain(arrow) for arrow in arrows]
        rows: list[list[int]] = [[] for _ in range(max(self.layer, default=0) + 1)]
        for i, layer in enumerate(self.layer):
            rows[layer].append(i)
        self.rows = rows
        self.order()
        self.place()

    def layers(self) -> list[int]:
        """The layer of each box, 0 on top."""
        users: list[list[int]] = [[] for _ in self.boxes]
        waiting = [0] * len(self.boxes)
        for arrow in self.arrows:
            users[arrow.target.id].append(arrow.source.id)
            waiting[arrow.source.id] += 1
        depth = [0] * len(self.boxes)  # counted from the outputs
        ready = [i for i, n in enumerate(waiting) if not n]
        for i in ready:
            for source in users[i]:
                depth[source] = max(depth[source], depth[i] + 1)
                waiting[source] -= 1
                if not waiting[source]:
                    ready.append(source)
        deepest = max(depth, default=0)
        return [0 if box.kind == "unused" else deepest - d for box, d in zip(self.boxes, depth)]

    def chain(self, arrow: Arrow) -> list[int]:
        """The points of an arrow, one in each layer that it passes."""
        source, target = arrow.source.id, arrow.target.id
        chain = [source]
        if self.layer[target] - self.layer[source] <= LONGEST:
            for layer in range(self.layer[source] + 1, self.layer[target]):
                chain.append(len(self.layer))
                self.layer.append(layer)
                self.width.append(4)
                self.height.append(0)
                self.above.append([])
                self.below.append([])
        chain.append(target)
        for a, b in zip(chain, chain[1:]):
            self.below[a].append(b)
            self.above[b].append(a)
        return chain

    def order(self) -> None:
        """Order each layer by the mean position of the neighbours in the layers around."""
        position = [0.0] * len(self.layer)
        for row in self.rows:
            for i, v in enumerate(row):
                position[v] = i
        for sweep in range(8):
            down = sweep % 2 == 0
            neighbours = self.above if down else self.below
            for row in self.rows if down else self.rows[::-1]:
                weights = {v: mean([position[u] for u in neighbours[v]], position[v]) for v in row}
                row.sort(key=weights.__getitem__)
                for i, v in enumerate(row):
                    position[v] = i

    def place(self) -> None:
        """Give all points their coordinates: centres in ``x``, tops of layers in ``top``."""
        x = self.x = [0.0] * len(self.layer)
        for row in self.rows:
            at = 0.0
            for v in row:
                x[v] = at + self.width[v] / 2
                at += self.width[v] + GAP_X
        for sweep in range(12):
            down = sweep % 2 == 0
            for row in self.rows if down else self.rows[::-1]:
                wanted = [mean([x[u] for u in (self.above[v] if down else self.below[v])], x[v]) for v in row]
                self.settle(row, wanted)
        left = min([x[v] - self.width[v] / 2 for v in range(len(x))], default=0.0)
        for v in range(len(x)):
            x[v] += MARGIN - left
        self.top, at = [], float(MARGIN)
        for row in self.rows:
            self.top.append(at)
            at += max([self.height[v] for v in row], default=0) + GAP_Y
        self.tall = [max([self.height[v] for v in row], default=0) for row in self.rows]

    def settle(self, row: list[int], wanted: list[float]) -> None:
        """Move the points of a layer to where they are wanted, as far as they have to stay apart.

        Where they would overlap, a group moves together, to where its members want to be on average.
        """
        groups: list[list[float]] = []  # of each: how many members, and the sum of where they want its beginning
        offsets, at = [], 0.0
        for v in row:
            at += self.width[v] / 2
            offsets.append(at)
            at += self.width[v] / 2 + GAP_X
        for i in range(len(row)):
            groups.append([1, wanted[i] - offsets[i]])
            while len(groups) > 1 and groups[-2][1] / groups[-2][0] > groups[-1][1] / groups[-1][0]:
                n, total = groups.pop()
                groups[-1][0] += n
                groups[-1][1] += total
        i = 0
        for n, total in groups:
            for _ in range(int(n)):
                self.x[row[i]] = total / n + offsets[i]
                i += 1

    @property
    def size(self) -> tuple[float, float]:
        right = max([self.x[v] + self.width[v] / 2 for v in range(len(self.x))], default=0.0)
        return right + MARGIN, self.top[-1] + self.tall[-1] + MARGIN if self.top else 2 * MARGIN

    def rectangle(self, box: Box) -> tuple[float, float, float, float]:
        """Left, top, width and height of a box, in the middle of its layer."""
        i, layer = box.id, self.layer[box.id]
        y = self.top[layer] + (self.tall[layer] - self.height[i]) / 2
        return self.x[i] - self.width[i] / 2, y, self.width[i], self.height[i]

    def lines(self) -> list[list[tuple[float, float]]]:
        """The points of each arrow. Arrows at one box begin, and end, beside each other."""
        starts = self.ports([(arrow.source.id, chain[1]) for arrow, chain in zip(self.arrows, self.chains)])
        ends = self.ports([(arrow.target.id, chain[-2]) for arrow, chain in zip(self.arrows, self.chains)])
        lines = []
        for arrow, chain, start, end in zip(self.arrows, self.chains, starts, ends):
            _, y, _, h = self.rectangle(arrow.source)
            points = [(start, y + h)]
            for v in chain[1:-1]:
                layer = self.layer[v]
                points += [(self.x[v], self.top[layer]), (self.x[v], self.top[layer] + self.tall[layer])]
            points.append((end, self.rectangle(arrow.target)[1] - 1))
            lines.append(points)
        return lines

    def ports(self, ends: list[tuple[int, int]]) -> list[float]:
        """Where arrows meet their boxes, given the box and the next point of each: in the order of the latter."""
        at: dict[int, list[int]] = {}
        for i, (box, _) in enumerate(ends):
            at.setdefault(box, []).append(i)
        found = [0.0] * len(ends)
        for box, arrows in at.items():
            arrows.sort(key=lambda i: self.x[ends[i][1]])
            step = min(2 * LINE, self.width[box] / (len(arrows) + 1))
            for k, i in enumerate(arrows):
                found[i] = self.x[box] + (k - (len(arrows) - 1) / 2) * step
        return found


def mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def character_width(text: str) -> float:
    """About how wide a text is."""
    return 0.62 * FONT * len(text)


def curve(points: list[tuple[float, float]]) -> str:
    """A path through points that leaves and enters each of them vertically."""
    (x, y), *rest = points
    text = [f"M{x:.1f} {y:.1f}"]
    for nx, ny in rest:
        half = (y + ny) / 2
        text.append(f"L{nx:.1f} {ny:.1f}" if abs(nx - x) < 0.1 else
                    f"C{x:.1f} {half:.1f} {nx:.1f} {half:.1f} {nx:.1f} {ny:.1f}")  # fmt: skip
        x, y = nx, ny
    return "".join(text)


def label_places(arrows: list[Arrow], lines: list[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    """Where the labels stand: on the first part of each arrow, those of one box at different heights."""
    siblings: dict[int, list[int]] = {}
    for i, arrow in enumerate(arrows):
        siblings.setdefault(arrow.source.id, []).append(i)
    places = [(0.0, 0.0)] * len(arrows)
    for group in siblings.values():
        group.sort(key=lambda i: lines[i][0])
        for k, i in enumerate(group):
            (x, y), (nx, ny) = lines[i][:2]
            t = (k % 3 + 1) / (min(len(group), 3) + 1)
            ease = t * t * (3 - 2 * t)
            places[i] = (x + (nx - x) * ease, y + (ny - y) * t)
    return places
