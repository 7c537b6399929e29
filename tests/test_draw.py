"""Pictures of the graph: every node and edge is there, and stands where it should."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd
from tensorplay.autograd.graph import draw, get_gradient_edge, saved_tensors_hooks

SVG = "{http://www.w3.org/2000/svg}"


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


def leaf(*shape):
    return tp.ones(shape, requires_grad=True)


def network():
    params = {"w1": leaf(8, 4), "b1": leaf(8), "w2": leaf(3, 8), "unused": leaf(2)}
    h = tp.nn.functional.linear(tp.ones(5, 4), params["w1"], params["b1"]).tanh()
    a, b = h.split(4, dim=1)
    out = Cube.apply((tp.cat([a * b, b], 1) + h) @ params["w2"].T)
    return out.sum() + (params["w1"] ** 2).sum() * 0.1, params


@pytest.fixture
def picture():
    loss, params = network()
    return draw(loss, params)


def titles(boxes):
    return sorted(box.title for box in boxes)


def nodes_of(svg):
    """Title, rows and rectangle of each node in an SVG."""
    found = []
    for g in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if g.get("class").startswith("node"):
            title, *rows = [text.text for text in g.iter(f"{SVG}text")]
            rect = g.find(f"{SVG}rect")
            found.append((title, rows, *[float(rect.get(name)) for name in ("x", "y", "width", "height")]))
    return found


def paths_of(svg):
    return [g.find(f"{SVG}path").get("d") for g in ElementTree.fromstring(svg).iter(f"{SVG}g") if
            g.get("class") == "edge"]  # fmt: skip


# ---- what is in it


def test_every_node_of_the_graph_is_a_box(picture):
    assert titles(picture.boxes) == sorted(
        ["w1", "b1", "w2", "unused", "output", "AddmmBackward0", "TanhBackward0", "SplitBackward0", "MulBackward0",
         "CatBackward0", "AddBackward0", "PermuteBackward0", "MmBackward0", "CubeBackward", "SumBackward0",
         "PowBackward0", "SumBackward0", "MulBackward0", "AddBackward0"]
    )  # fmt: skip
    kinds = {box.title: box.kind for box in picture.boxes}
    assert kinds["w1"] == "parameter" and kinds["unused"] == "unused" and kinds["output"] == "output"
    assert kinds["CubeBackward"] == "function" and kinds["TanhBackward0"] == "operator"


def test_arrows_lead_from_what_is_used_to_what_uses_it(picture):
    arrows = [(a.source.title, a.target.title, a.label) for a in picture.arrows]
    for arrow in [
        ("w1", "AddmmBackward0", "weight (8, 4)"),
        ("b1", "AddmmBackward0", "bias (8,)"),
        ("AddmmBackward0", "TanhBackward0", "(5, 8)"),
        ("SplitBackward0", "MulBackward0", "[0] (5, 4)"),
        ("SplitBackward0", "CatBackward0", "[1] tensors[1] (5, 4)"),
        ("MulBackward0", "CatBackward0", "tensors[0] (5, 4)"),
        ("PermuteBackward0", "MmBackward0", "other (8, 3)"),
        ("MmBackward0", "CubeBackward", "(5, 3)"),
        ("AddBackward0", "output", "()"),
    ]:
        assert arrow in arrows
    assert len(arrows) == 21


def test_boxes_tell_what_is_kept(picture):
    rows = {box.title: box.rows for box in picture.boxes if box.title not in ("MulBackward0", "AddBackward0")}
    assert rows["TanhBackward0"] == ["out: float32 (5, 8)"]
    assert rows["AddmmBackward0"] == ["input: float32 (5, 4)"]
    assert rows["CubeBackward"] == ["saved: float32 (5, 3)"]
    assert rows["SplitBackward0"] == ["sizes: (4, 4)", "dim: -1"]
    assert rows["w1"] == ["float32 (8, 4)"] and rows["unused"] == ["float32 (2,)", "not reached"]
    numbers = [box.rows for box in picture.boxes if box.title == "MulBackward0"]
    assert ["other: 0.1"] in numbers


def test_what_was_freed_and_what_was_packed():
    x = leaf(2)
    y = Cube.apply(x.exp()).sum()
    y.backward()
    rows = {box.title: box.rows for box in draw(y).boxes}
    assert rows["ExpBackward0"] == rows["CubeBackward"] == ["freed"]
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp()
    assert {box.title: box.rows for box in draw(y).boxes}["ExpBackward0"] == ["out: packed"]


@pytest.mark.parametrize(
    "make, shape",
    [
        (lambda x: x + tp.ones(2, 1), "(2, 3)"),  # by the operand that was broadcast, and the result
        (lambda x: x.sin().exp().neg(), "(3,)"),
        (lambda x: (x * 2).reshape(3, 1), "(3,)"),
        (lambda x: (x * 2).sum(), "(3,)"),
        (lambda x: tp.vmap(lambda a: a.sin())(x * 2), "(3,)"),
    ],
)
def test_shapes_are_told_where_the_graph_tells_them(make, shape):
    x = leaf(3)
    labels = [a.label for a in draw(make(x) * 1).arrows]
    assert any(shape in label for label in labels) and all("(" in label for label in labels)


def test_shapes_and_saved_values_can_be_left_out():
    loss, params = network()
    picture = draw(loss, params, show_saved=False, show_shapes=False)
    assert not any(box.rows for box in picture.boxes if box.kind in ("operator", "function"))
    assert {a.label for a in picture.arrows} == {"", "input", "other", "weight", "bias", "tensors[0]", "[0]", "[1]",
                                                 "[1] tensors[1]"}  # fmt: skip


def test_several_outputs_edges_and_outputs_without_history():
    x = leaf(3)
    y = x.sin()
    picture = draw([y.exp(), y.cos(), get_gradient_edge(y), tp.ones(1)])
    ends = [box for box in picture.boxes if box.kind == "output"]
    assert titles(ends) == ["output 0", "output 1", "output 2", "output 3"]
    assert ends[3].rows == ["float32 (1,)", "no history"]
    assert titles(a.target for a in picture.arrows if a.source.title == "SinBackward0") == [
        "CosBackward0", "ExpBackward0", "output 2"
    ]  # fmt: skip


def test_names_of_results_and_of_what_does_not_require_grad():
    x = leaf(3)
    y = x.sin()
    picture = draw(y.exp(), [("hidden", y), ("fixed", tp.ones(2)), ("x", x)])
    assert "SinBackward0 = hidden" in titles(picture.boxes)
    assert next(b for b in picture.boxes if b.title == "fixed").rows == ["float32 (2,)", "does not require grad"]


def test_the_graph_of_a_gradient():
    x = leaf(3)
    (g,) = autograd.grad((x**3).sum(), x, create_graph=True)
    picture = draw(g, {"x": x})
    assert {box.kind for box in picture.boxes} == {"parameter", "operator", "output"}
    assert len([box for box in picture.boxes if box.kind == "parameter"]) == 1


# ---- as SVG


def test_the_svg_holds_every_node_and_edge(picture):
    nodes = nodes_of(picture.svg)
    assert sorted((title, rows) for title, rows, *_ in nodes) == sorted((b.title, b.rows) for b in picture.boxes)
    assert len(paths_of(picture.svg)) == len(picture.arrows)
    labels = re.findall(r"<text[^>]*stroke=\"#fff\"[^>]*>([^<]*)<", picture.svg)
    assert sorted(labels) == sorted(a.label for a in picture.arrows)


def random_graph(seed, n=40):
    random = np.random.default_rng(seed)
    values = [leaf(2) for _ in range(4)]
    for _ in range(n):
        i, j = random.integers(0, len(values), 2)
        values.append(values[i].sin() if random.random() < 0.4 else values[i] * values[j])
    return sum(values[-6:])


@pytest.mark.parametrize("make", [lambda: network()[0], *[lambda s=s: random_graph(s) for s in range(6)]])
def test_boxes_do_not_overlap_and_arrows_lead_down(make):
    picture = draw(make())
    nodes = nodes_of(picture.svg)
    width, height = map(float, re.search(r'width="(\d+)" height="(\d+)"', picture.svg).groups())
    for i, (_, _, x, y, w, h) in enumerate(nodes):
        assert 0 <= x and 0 <= y and x + w <= width + 1 and y + h <= height + 1
        for _, _, a, b, c, d in nodes[i + 1 :]:
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y
    where = {box.id: node[2:] for box, node in zip(picture.boxes, nodes)}
    for arrow, path in zip(picture.arrows, paths_of(picture.svg)):
        (x, y, w, h), (a, b, c, _) = where[arrow.source.id], where[arrow.target.id]
        assert y + h < b
        numbers = [float(number) for number in re.findall(r"-?\d+\.\d", path)]
        assert x - 0.1 <= numbers[0] <= x + w + 0.1 and numbers[1] == pytest.approx(y + h, abs=0.2)
        assert a - 0.1 <= numbers[-2] <= a + c + 0.1 and numbers[-1] == pytest.approx(b - 1, abs=0.2)


def test_deep_and_wide_graphs():
    x = leaf(2)
    y = x
    for _ in range(400):
        y = y.sin() * x
    wide = tp.stack([x.sin() * i for i in range(1, 300)]).sum()
    for out in (y, wide):
        picture = draw(out)
        assert len(nodes_of(picture.svg)) == len(picture.boxes) > 590


def test_texts_are_escaped():
    x = leaf(2)
    picture = draw(x.exp(), {'<a> & "b"': x})
    assert ('<a> & "b"', ["float32 (2,)"]) in [node[:2] for node in nodes_of(picture.svg)]
    assert '[label="<a> & \\"b\\"\\nfloat32 (2,)"' in picture.dot
    assert 'n0["&lt;a&gt; &amp; #quot;b#quot;<br/>float32 (2,)"]:::parameter' in picture.mermaid


# ---- as text


def test_dot(picture):
    nodes = re.findall(r'^  n(\d+) \[label="([^"\\]*)', picture.dot, re.M)
    assert [(int(i), title) for i, title in nodes] == [(box.id, box.title) for box in picture.boxes]
    edges = re.findall(r'^  n(\d+) -> n(\d+)(?: \[label="(.*)"\])?;$', picture.dot, re.M)
    assert [(int(a), int(b), label) for a, b, label in edges] == [
        (a.source.id, a.target.id, a.label) for a in picture.arrows
    ]
    assert picture.dot.startswith("digraph") and picture.dot.count("{") == picture.dot.count("}") == 1


def test_mermaid(picture):
    first, *lines = picture.mermaid.splitlines()
    assert first == "flowchart TD"
    nodes = [m for line in lines if (m := re.fullmatch(r'    n(\d+)\["(.*?)(<br/>.*)?"\]:::(\w+)', line))]
    assert [(int(m[1]), m[2], m[4]) for m in nodes] == [(box.id, box.title, box.kind) for box in picture.boxes]
    edges = [m for line in lines if (m := re.fullmatch(r'    n(\d+) -->(?:\|"(.*)"\|)? n(\d+)', line))]
    assert [(int(m[1]), int(m[3])) for m in edges] == [(a.source.id, a.target.id) for a in picture.arrows]
    classes = {m[1] for line in lines if (m := re.match(r"    classDef (\w+) ", line))}
    assert classes == {box.kind for box in picture.boxes}
    assert len(nodes) + len(edges) + len(classes) == len(lines)


# ---- the object


@pytest.mark.parametrize(
    "suffix, kind", [("svg", "svg"), ("dot", "dot"), ("gv", "dot"), ("mmd", "mermaid"), ("mermaid", "mermaid")]
)
def test_files(picture, tmp_path, suffix, kind):
    picture.save(tmp_path / f"graph.{suffix}")
    assert (tmp_path / f"graph.{suffix}").read_text() == getattr(picture, kind)


def test_notebooks_show_it(picture):
    assert picture._repr_svg_() == picture.svg
    assert repr(picture) == f"<drawing of {len(picture.boxes)} nodes and {len(picture.arrows)} edges>"


def test_wrong_arguments(picture, tmp_path):
    with pytest.raises(ValueError, match=r"one of .svg, .dot, .gv, .mmd, .mermaid; got"):
        picture.save(tmp_path / "graph.png")
    assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="output must be a Tensor.*got int at index 1"):
        draw([leaf(2), 3])
    with pytest.raises(TypeError, match="params must hold Tensors, got list for 'w'"):
        draw(leaf(2), {"w": [1]})


def test_the_graph_is_left_as_it_is():
    loss, params = network()
    draw(loss, params).svg  # noqa: B018
    loss.backward()
    assert params["w1"].grad is not None


def test_what_is_no_tensor_is_named():
    with pytest.raises(TypeError, match="a sequence of them, got int"):
        tp.autograd.graph.draw(3)
