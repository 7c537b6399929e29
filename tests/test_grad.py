"""``autograd.grad``: what is asked for, and nothing else."""

import re
import types

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.autograd import grad
from tensorplay.autograd.graph import GradientEdge, get_gradient_edge


def leaf(values=(1.0, 2.0)):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True)


def t64(values):
    return tp.tensor(values, dtype=tp.float64)


def equal(t, values):
    np.testing.assert_allclose(t.detach().numpy(), values, rtol=1e-12)


# ---- what may be asked for


def test_one_gradient_for_each_input_and_no_grad_changes():
    x, w = leaf(), leaf([3.0, 4.0])
    gx, gw = grad((x * w).sum(), [x, w])
    equal(gx, [3, 4])
    equal(gw, [1, 2])
    assert x.grad is None and w.grad is None and not gx.requires_grad


@pytest.mark.parametrize("container", [dict, types.MappingProxyType])
def test_a_mapping_gives_a_dict_with_its_keys_in_order(container):
    x, w = leaf(), leaf([3.0, 4.0])
    g = grad((x * w).sum(), container({"w": w, "x": x}))
    assert type(g) is dict and list(g) == ["w", "x"]
    equal(g["x"], [3, 4])


def test_inputs_may_be_any_iterable():
    x = leaf()
    (g,) = grad((x * x).sum(), (t for t in [x]))
    equal(g, [2, 4])


def test_an_input_may_be_repeated():
    x = leaf()
    y = x * x
    for g in grad(y.sum(), [x, y, x])[::2]:
        equal(g, [2, 4])


def test_an_output_may_be_an_input():
    x = leaf()
    (g,) = grad(x, x, t64([5.0, 6.0]))
    equal(g, [5, 6])
    y = x * 2
    gy, gx = grad([y, (y * y).sum()], [y, x], [t64([1.0, 1.0]), None])
    equal(gy, [1 + 4, 1 + 8])
    equal(gx, [10, 18])


def test_an_input_may_be_one_of_several_outputs_of_an_operator():
    x = leaf()
    a, b = (x * 2).unbind()
    ga, gb, gx = grad(a * 3 + a * b, [a, b, x])
    equal(ga, 3 + 4)
    equal(gb, 2)
    equal(gx, [14, 4])


def test_outputs_of_an_operator_that_its_own_rule_reads_count_with_the_others():
    A = t64([[2.0, 0.5], [0.5, 1.0]]).requires_grad_()
    values, vectors = tp.linalg.eigh(A)
    (g,) = grad(values[1], A, create_graph=True)
    direct, through = grad((g * t64([[1.0, 2.0], [2.0, 3.0]])).sum(), [A, vectors], allow_unused=True)
    step, d = 1e-6, t64([[1.0, 0.3], [0.3, 0.0]])

    def slope(A):
        A = A.detach().requires_grad_()
        (g,) = grad(tp.linalg.eigh(A)[0][1], A)
        return (g * t64([[1.0, 2.0], [2.0, 3.0]])).sum()

    expected = (slope(A + step * d) - slope(A - step * d)) / (2 * step)
    np.testing.assert_allclose((direct * d).sum().item(), expected.item(), rtol=1e-6)
    assert through is not None


def test_edges_stand_for_tensors():
    x = leaf()
    y = x * 2
    edge, root = get_gradient_edge(y), get_gradient_edge(x)
    z = y * y
    del y
    gy, gx = grad(z.sum(), [edge, root])
    equal(gy, [4, 8])
    equal(gx, [8, 16])
    (g,) = grad(get_gradient_edge(x * 3), x, t64([1.0, 10.0]))
    equal(g, [3, 30])


def test_the_edge_of_a_scalar_needs_no_cotangent():
    x = leaf()
    equal(grad(get_gradient_edge((x * x).sum()), x)[0], 2 * x.detach().numpy())
    equal(grad([x.sum(), get_gradient_edge(x[0] * 3)], x)[0], [4, 1])
    equal(grad(get_gradient_edge(x.prod()), x, tp.tensor(2.0))[0], 2 * x.detach().numpy()[::-1])  # cast to its dtype
    autograd.backward(get_gradient_edge(x.unbind()[1]))
    equal(x.grad, [0, 1])


def test_edges_of_several_outputs():
    x = leaf()
    a, b = (x * 2).unbind()
    edge = get_gradient_edge(b)
    assert edge.output_nr == 1 and edge.node is a.grad_fn
    out = a * 3 + b * b
    equal(grad(out, edge, retain_graph=True)[0], 8)
    equal(grad(out, GradientEdge(*out.grad_fn.next_functions[0]), retain_graph=True)[0], 1)
    equal(grad(edge, x, t64(1.0))[0], [0, 2])


def test_many_cotangents_are_one_pass():
    x = leaf()
    runs = []

    class Square(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            runs.append(g)
            return 2 * ctx.saved_tensors[0] * g

    y = Square.apply(Square.apply(x) * 1)
    count = 0

    def counted(*_):
        nonlocal count
        count += 1

    for node, _ in [(y.grad_fn, 0), *y.grad_fn.next_functions]:
        node.register_hook(counted)
    (jacobian,) = grad(y, x, tp.eye(2, dtype=tp.float64), is_grads_batched=True)
    equal(jacobian, [[4, 0], [0, 32]])
    assert len(runs) == 2 and count == 2


def test_batched_gradients_of_what_is_not_batched_are_repeated():
    x = leaf()
    (g,) = grad([x * x], [x], [tp.ones(3, 2, dtype=tp.float64)], is_grads_batched=True)
    equal(g, [[2, 4]] * 3)
    w = leaf()
    gx, gw = grad(x.sum(), [x, w], tp.ones(3, dtype=tp.float64), is_grads_batched=True, materialize_grads=True)
    assert gx.shape == gw.shape == (3, 2)
    equal(gw, np.zeros((3, 2)))


def test_batched_gradients_can_be_differentiated():
    x = leaf()
    (g,) = grad(x**3, x, tp.eye(2, dtype=tp.float64), is_grads_batched=True, create_graph=True)
    (h,) = grad(g.sum(), x)
    equal(h, [6, 12])


def test_the_gradient_of_the_gradient():
    x = leaf(3.0)
    y = x**4
    for expected in (108, 108, 72, 24):
        (y,) = grad(y, x, create_graph=True)
        equal(y, expected)


def test_create_graph_retains_the_graph():
    x = leaf()
    y = (x * x).sum()
    grad(y, x, create_graph=True)
    grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        grad(y, x)
    y = (x * x).sum()
    grad(y, x, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="second time"):
        grad(y, x)


def test_no_grad_does_not_keep_a_pass_from_recording():
    x = leaf()
    y = (x * x).sum()
    with tp.no_grad():
        (g,) = grad(y, x, create_graph=True)
        assert g.requires_grad and not tp.is_grad_enabled()
    (h,) = grad(g.sum(), x)
    equal(h, [2, 2])


# ---- what is not used


def test_unused_inputs():
    x, w = leaf(), leaf([3.0])
    assert grad(x.sum(), [w], allow_unused=True) == (None,)
    zero = grad(x.sum(), [w], materialize_grads=True)[0]
    equal(zero, [0])
    assert zero.shape == (1,)
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when materialize_grads=True"):
        grad(x.sum(), [w], allow_unused=False, materialize_grads=True)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        grad(x.sum(), [get_gradient_edge(w)], materialize_grads=True)


class Blocked(autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g, None


def unused_cases():
    x, w = leaf(), leaf([3.0])
    y = x * 2
    z = y.exp()
    y.add_(1)
    return [
        (x.sum(), [x, w], r"at index 1 .*a leaf of shape \[1\], and no recorded operator .* in a leaf of shape \[2\]"),
        (x.sum(), {"x": x, "w": w}, r"at key 'w' "),
        (x.detach().sum() + w.sum(), [x], r"ends in a leaf of shape \[1\]. A detach\(\), no_grad\(\)"),
        (x.sum(), [x[0]], r"a result of \w+Backward0, computed from a tensor that the outputs.*perhaps by indexing"),
        (z.sum(), [y], "made anew after they were computed.*writing to it in place"),
        (Blocked.apply(x, w).sum(), [w], "the graph leads to it, but no gradient came from BlockedBackward"),
    ]  # fmt: skip


@pytest.mark.parametrize("outputs, inputs, words", unused_cases())
def test_an_unused_input_is_named_with_the_end_of_its_connection(outputs, inputs, words):
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph. Set allow_unused=True.*") as e:
        grad(outputs, inputs)
    assert re.search(words, str(e.value)), str(e.value)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x: grad(x.sum(), []), RuntimeError, r"`inputs` argument to `grad\(\)` cannot be empty"),
        (lambda x: grad(x.sum(), {}), RuntimeError, r"`inputs` argument to `grad\(\)` cannot be empty"),
        (lambda x: grad(x.sum(), [x, t64(1.0)]), RuntimeError, "does not require grad: the input at index 1"),
        (lambda x: grad(x.sum(), {"c": t64(1.0)}, allow_unused=True), RuntimeError, "grad: the input at key 'c'"),
        (lambda x: grad(x.sum(), 3), TypeError, "inputs must be a Tensor, a GradientEdge or a .*, got int"),
        (lambda x: grad(x.sum(), [3]), RuntimeError, "inputs have to be Tensors or .*, but got int at index 0"),
        (lambda x: grad(3, x), TypeError, "outputs must be a Tensor"),
        (lambda x: grad([x.sum(), t64(1.0)], x), RuntimeError, "element 1 of tensors does not require grad"),
        (lambda x: grad(x * 2, x), RuntimeError, r"only for scalar outputs \(output 0 has shape \[2\]"),
        (lambda x: grad(x * 2, x, tp.ones(3)), RuntimeError, "Mismatch in shape"),
        (lambda x: grad(x * 2, x, 3.0), TypeError, "got float"),
        (lambda x: grad(x * 2, x, [3.0]), TypeError, "gradients can be either Tensors or None, but got float"),
        (lambda x: grad(x.sum(), x, [t64(1.0), t64(1.0)]), RuntimeError, "got 1 tensors and 2 gradients"),
        (lambda x: grad(GradientEdge((x * 2).grad_fn, 0), x), RuntimeError, "output 0, a GradientEdge made by hand"),
        (lambda x: grad(get_gradient_edge(x * 2), x), RuntimeError, r"only for scalar outputs \(output 0"),
        (lambda x: grad(get_gradient_edge(x * 2), x, tp.ones(3)), RuntimeError, "Mismatch in shape"),
        (lambda x: grad(get_gradient_edge(x.sum() * 1j), x), RuntimeError, "only for real scalar outputs"),
        (lambda x: grad(x * 2, x, tp.ones(2), is_grads_batched=True), RuntimeError, "we interpret the first dimension"),
        (lambda x: grad(x.sum(), x, t64(1.0), is_grads_batched=True), RuntimeError, "we interpret the first dimension"),
        (lambda x: grad(x.sum(), x, is_grads_batched=True), RuntimeError, "needs a batch of gradients for output 0"),
        (lambda x: grad([x.sum()] * 2, x, [tp.ones(2), tp.ones(3)], is_grads_batched=True), ValueError, "same size"),
    ],
)  # fmt: skip
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(leaf())


def test_only_inputs_is_deprecated():
    x = leaf()
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        grad(x.sum(), x, only_inputs=False)


def test_no_truth_value_of_a_tensor_decides():
    x = leaf(0.0)
    (g,) = grad(x * x, [x])
    equal(g, 0)
    (g,) = grad(x * 1, [x], t64(0.0), allow_unused=False)
    equal(g, 0)


# ---- only what leads to the inputs runs


def test_a_side_branch_does_not_run():
    x, w = leaf(), leaf([3.0, 4.0])
    ran = []

    class Noted(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            ran.append("function")
            return g

    y = x * 2
    side = Noted.apply(w * y)
    side.register_hook(lambda g: ran.append("hook"))
    w.register_hook(lambda g: ran.append("leaf"))
    loss = (y * y).sum() + side.sum()
    grad(loss, y, retain_graph=True)
    assert ran == ["hook", "function"], "what leads to y runs"
    ran.clear()
    z = y * 3
    younger = Noted.apply(w * 2)
    grad((z + younger).sum(), y)
    assert ran == []


def test_nodes_older_than_the_input_do_not_run():
    x = leaf()
    ran = []
    y = x * 2
    y.register_hook(lambda g: ran.append("y"))
    inner = leaf()
    z = (inner * y).sum()
    grad(z, inner)
    assert ran == []


def test_hooks_run_and_may_change_the_result():
    x = leaf()
    x.register_hook(lambda g: g * 10)
    equal(grad(x.sum(), x)[0], [10, 10])


# ---- under transforms


def test_a_pass_over_dual_tensors_carries_the_tangent():
    x, w = leaf(3.0), leaf(2.0)
    with autograd.forward_ad.dual_level():
        d = autograd.forward_ad.make_dual(x, t64(1.0))
        y = w * d**3
        gx, gw = grad(y, [x, w], t64(1.0), retain_graph=True)
        equal(autograd.forward_ad.unpack_dual(gx).primal, 54)
        equal(autograd.forward_ad.unpack_dual(gx).tangent, 36)
        equal(autograd.forward_ad.unpack_dual(gw).tangent, 27)
        (edge,) = grad(get_gradient_edge(y), [w], t64(1.0))
        equal(autograd.forward_ad.unpack_dual(edge).tangent, 27)


def test_one_gradient_per_example():
    w = leaf()
    X = t64([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    equal(tp.vmap(lambda x: grad((w * x).sum(), [w])[0])(X), X.numpy())


def test_func_grad_does_not_see_no_grad_outside():
    with tp.no_grad():
        g = func.grad(lambda x: x * x)(t64(3.0))
    equal(g, 6)
    assert not g.requires_grad
    c = func.grad(lambda y: y * tp.no_grad()(lambda: y * y)())(t64(2.0))
    equal(c, 4)
