"""The graph as its user sees it: nodes, edges, names, notes."""

import gc
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Variable, grad, graph
from tensorplay.autograd.graph import GradientEdge, Node, get_gradient_edge


def leaf(values=(1.0, 2.0)):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True)


def test_a_node_leads_to_those_of_the_operands():
    x, w = leaf(), leaf()
    y = (x * w).exp()
    assert isinstance(y.grad_fn, Node) and y.grad_fn.name() == "ExpBackward0"
    ((mul, number),) = y.grad_fn.next_functions
    assert mul.name() == "MulBackward0" and number == 0
    (end_x, _), (end_w, _) = mul.next_functions
    assert end_x.name() == "AccumulateGrad" and end_x.variable is x and end_w.variable is w
    assert end_x.next_functions == ()


def test_constants_have_no_edge_and_broadcasting_none_of_its_own():
    x = leaf()
    y = x * tp.ones(5, 2, dtype=tp.float64)
    (edge, _), (none, _) = y.grad_fn.next_functions
    assert edge.variable is x and none is None


def test_outputs_of_one_operator_share_a_node():
    a, b = (leaf() * 2).unbind()
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    assert (b * 1).grad_fn.next_functions[0] == (b.grad_fn, 1)


def test_leaves_and_results():
    x = leaf()
    y = x * 2
    assert x.is_leaf and x.grad_fn is None and not y.is_leaf and tp.ones(2).is_leaf
    assert y.detach().is_leaf and not y.detach().requires_grad
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad_(False)
    with pytest.raises(RuntimeError, match="only Tensors of floating point and complex dtype can require gradients"):
        tp.ones(2, dtype=tp.int64).requires_grad_()
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = True
    assert y.requires_grad_() is y
    y.detach_()
    assert y.is_leaf and not y.requires_grad


def test_a_node_carries_notes():
    y = leaf() * 2
    y.grad_fn.metadata["layer"] = 3
    assert y.grad_fn.metadata == {"layer": 3}


def test_numbers_of_nodes_rise():
    x = leaf()
    y = x * 2
    z = y * 2
    assert z.grad_fn._sequence_nr > y.grad_fn._sequence_nr
    assert not hasattr(y.grad_fn, "no_such_thing")


def test_gradient_edges():
    x = leaf()
    y = x * 2
    assert get_gradient_edge(y) == GradientEdge(y.grad_fn, 0)
    assert get_gradient_edge(x).node.variable is x
    for plain in (tp.ones(2), tp.ones(2, dtype=tp.int64)):
        with pytest.raises(RuntimeError, match="gradient edge for a Tensor that does not require gradients"):
            get_gradient_edge(plain)


def test_an_edge_keeps_the_graph_but_not_the_tensor():
    x = leaf()
    y = x * 2
    z = (y * y).sum()
    edge = get_gradient_edge(y)
    held = weakref.ref(y)
    del y
    gc.collect()
    (g,) = grad(z, edge)
    np.testing.assert_allclose(g.numpy(), [4, 8])
    assert held() is None or z is not None


def test_every_name_of_the_module():
    assert set(graph.__all__) >= {
        "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
        "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
    }  # fmt: skip
    for name in graph.__all__:
        assert getattr(graph, name).__doc__


def test_variable_is_the_older_name_of_a_tensor():
    data = tp.ones(2)
    v = Variable(data, requires_grad=True)
    assert isinstance(v, tp.Tensor) and isinstance(data, Variable) and not isinstance(3, Variable)
    assert v.requires_grad and not data.requires_grad
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        Variable(3)


# ---- nodes and numbers: every edge leads to a smaller number


def check_numbers(t):
    stack, seen = [t._node], set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for edge in node.edges:
            if edge is not None:
                assert edge.order < node.order, (node, edge)
                stack.append(edge)
    return len(seen)


class Twice(tp.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class TwiceInPlace(tp.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def in_place(x):
    y = x * 1
    v = y[:1]
    w = y.view(2, 1)
    v.mul_(3)
    y.exp_()
    return w * v.sum()


PROGRAMS = {
    "plain": lambda x: (x * x.exp()).sum(),
    "broadcast": lambda x: x + tp.ones(5, 2, dtype=tp.float64) * x,
    "in place and views": in_place,
    "function": lambda x: Twice.apply(x * 2),
    "function in place": lambda x: TwiceInPlace.apply(x * 2),
    "function in place on a view": lambda x: (lambda y: (TwiceInPlace.apply(y[:1]), y)[1])(x * 2),
    "gradient of a gradient": lambda x: grad((x**3).sum(), x, create_graph=True)[0],
    "hooks": lambda x: (lambda y: (y.register_hook(lambda g: g * 2), y * y)[1])(x * 2),
    "dual": lambda x: tp.func.jvp(lambda y: y * x, (x,), (x,))[1],
    "several outputs": lambda x: tp.linalg.eigh(x[:, None] * x)[1].sum(),
    "copied": lambda x: tp.zeros(2, dtype=tp.float64).copy_(x),
    "vmap": lambda x: tp.vmap(lambda y: y * x)(x.expand(3, 2)),
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_every_edge_leads_to_a_smaller_number(f):
    x = leaf()
    x.exp()  # a leaf's number is given when it starts to require grad, not by its first consumer
    out = f(x)
    assert check_numbers(out) > 1


@pytest.mark.parametrize(
    "budget, error", [("a", TypeError), (-1, ValueError), (2, ValueError), (0.5, RuntimeError)]
)
def test_a_memory_budget_is_for_compiled_regions_alone(budget, error):
    with pytest.raises(error, match="region_activation_memory_budget"):
        graph.region_activation_memory_budget(budget)
