"""``backward``: what reaches ``.grad``, and when the graph can be run again."""

import gc
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd


def leaf(values=(1.0, 2.0), **options):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True, **options)


def equal(t, values):
    np.testing.assert_allclose(t.detach().numpy(), values, rtol=1e-12)


def test_gradients_accumulate():
    x = leaf()
    (x * x).sum().backward()
    first = x.grad
    equal(x.grad, [2, 4])
    (x * 3).sum().backward()
    equal(x.grad, [5, 7])
    assert x.grad is first, "later gradients are added in place"
    x.grad = None
    (x * 3).backward(tp.tensor([1.0, 10.0], dtype=tp.float64))
    equal(x.grad, [3, 30])


def test_the_gradient_given_is_not_the_one_stored():
    x, v = leaf(), tp.ones(2, dtype=tp.float64)
    x.backward(v)
    x.backward(v)
    equal(v, [1, 1])
    equal(x.grad, [2, 2])
    x.grad = None
    with pytest.warns(UserWarning, match="reference cycle"):
        x.backward(v, create_graph=True)
    assert x.grad is not v
    with tp.no_grad():
        x.grad.zero_()
    equal(v, [1, 1])


@pytest.mark.parametrize("used", ["twice", "by both operands", "through branches", "through a broadcast"])
def test_every_use_counts(used):
    x = leaf()
    y = {
        "twice": lambda: x * 2 + x * 3,
        "by both operands": lambda: x + x,
        "through branches": lambda: (x * 2).exp().log() + (x * 3),
        "through a broadcast": lambda: x + tp.zeros(5, 2, dtype=tp.float64),
    }[used]()
    y.sum().backward()
    equal(x.grad, {"by both operands": [2, 2]}.get(used, [5, 5]))


def test_several_tensors_at_once():
    x = leaf()
    autograd.backward([(x * x).sum(), x * 3], [None, tp.tensor([1.0, 10.0], dtype=tp.float64)])
    equal(x.grad, [2 + 3, 4 + 30])


def test_only_the_inputs_receive_gradients():
    x, w = leaf(), leaf([3.0, 4.0])
    y = x * w
    (y * y).sum().backward(inputs=[w])
    assert x.grad is None
    equal(w.grad, [6, 32])


def test_an_input_that_is_no_leaf_retains_its_gradient():
    x = leaf()
    y = x * 2
    (y * y).sum().backward(inputs=[y], retain_graph=True)
    assert y.retains_grad and x.grad is None
    equal(y.grad, [4, 8])
    (y * y).sum().backward()
    equal(y.grad, [8, 16])
    equal(x.grad, [8, 16])


def test_inputs_may_be_a_mapping_or_an_edge():
    x, w = leaf(), leaf()
    (x * w).sum().backward(inputs={"w": w})
    assert x.grad is None and w.grad is not None
    (x * w).sum().backward(inputs=autograd.graph.get_gradient_edge(x))
    equal(x.grad, [1, 2])


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x: (x * 2).backward(), RuntimeError, r"implicitly created only for scalar outputs.*shape \[2\]"),
        (lambda x: x.detach().backward(), RuntimeError, "element 0 of tensors does not require grad"),
        (lambda x: autograd.backward([x.sum(), tp.tensor(1.0)]), RuntimeError, "element 1 of tensors does not"),
        (lambda x: (x.sum() * 1j).backward(), RuntimeError, "only for real scalar outputs but got"),
        (lambda x: (x * 2).backward(tp.ones(3)), RuntimeError, r"Mismatch in shape: grad_output\[0\].*\[3\].*\[2\]"),
        (lambda x: (x * 2).backward(tp.ones(2, dtype=tp.complex64)), RuntimeError, "both grad_output and output"),
        (lambda x: x.sum().backward(3.0), TypeError, "got float"),
        (lambda x: autograd.backward([x.sum()], [3.0]), TypeError, "either Tensors or None, but got float"),
        (lambda x: autograd.backward([x.sum(), x.sum()], tp.ones(())), RuntimeError, "got 2 tensors and 1 gradients"),
        (lambda x: autograd.backward(3), TypeError, "tensors must be a Tensor, a GradientEdge or a sequence"),
        (lambda x: autograd.backward([3]), RuntimeError, "have to be Tensors or GradientEdges, but got int at index 0"),
        (lambda x: x.sum().backward(inputs=[]), RuntimeError, r"`inputs` argument to `backward\(\)` cannot be empty"),
        (lambda x: x.sum().backward(inputs=[tp.tensor(1.0)]), RuntimeError, "not require grad: the input at index 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_differentiated_is_refused(call, error, words):
    x = leaf()
    with pytest.raises(error, match=words):
        call(x)
    assert x.grad is None


def test_a_gradient_of_another_real_dtype_is_cast():
    x = leaf()
    (x * 2).backward(tp.tensor([1, 2]))
    assert x.grad.dtype is tp.float64
    equal(x.grad, [2, 4])


def test_the_old_name_of_the_gradients_warns():
    x = leaf()
    with pytest.warns(FutureWarning, match="grad_variables"):
        autograd.backward(x.sum(), grad_variables=tp.ones((), dtype=tp.float64))
    equal(x.grad, [1, 1])
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="both passed"):
        autograd.backward(x.sum(), tp.ones(()), grad_variables=tp.ones(()))


# ---- the graph is freed


def test_a_second_pass_through_a_freed_graph_is_an_error():
    x = leaf()
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="through the graph a second time.*MulBackward0.*retain_graph=True"):
        y.backward()


def test_a_graph_that_keeps_nothing_can_run_again():
    x = leaf()
    y = (x + 1).sum()
    y.backward()
    y.backward()
    equal(x.grad, [2, 2])


def test_a_graph_that_is_retained_can_run_again():
    x = leaf()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    equal(x.grad, [4, 8])


def test_create_graph_retains_the_graph_and_warns_of_the_cycle():
    x = leaf()
    y = (x**3).sum()
    with pytest.warns(UserWarning, match="create a reference cycle between the parameter and its gradient"):
        y.backward(create_graph=True)
    equal(x.grad, [3, 12])
    g, x.grad = x.grad, None
    (second,) = autograd.grad(g.sum(), x)
    equal(second, [6, 12])
    y.backward()


def test_saved_values_are_released_as_the_pass_goes():
    x = leaf()
    held = []

    def noting(y):
        value = tp.ones(2, dtype=tp.float64)
        held.append(weakref.ref(value._data))
        return y * value

    y = noting(noting(noting(x)))
    alive = []
    x.register_hook(lambda g: alive.append([r() is not None for r in held]))
    y.sum().backward()
    assert alive == [[False, False, False]]


# ---- graphs of any size, dropped without the collector


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


OPERATORS = [
    lambda x: x * x,
    lambda x: x.exp(),
    lambda x: x.tanh() + x,
    lambda x: x.sum(),
    lambda x: x / (x + 3),
    lambda x: x.reshape(2, 1).expand(2, 5).sum(),
    lambda x: (x * 1).mul_(x),
    lambda x: (x * 1).exp_(),
    lambda x: x.max(0)[0],
    lambda x: x.unbind()[1],
    lambda x: tp.stack([x, x * 2])[1],
    lambda x: x.softmax(0),
    lambda x: x.cumsum(0),
    lambda x: x.sort()[0],
]


@pytest.mark.parametrize("f", OPERATORS)
@pytest.mark.parametrize("use", ["dropped", "run", "differentiated twice"])
def test_a_dropped_graph_is_freed_by_counting_references(f, use, no_collector):
    x = leaf()
    y = f(x)
    nodes, stack = [], [y.grad_fn]
    while stack:
        node = stack.pop()
        nodes.append(weakref.ref(node))
        stack.extend(n for n, _ in node.next_functions if n is not None and n.next_functions)
    if use == "run":
        y.sum().backward()
    elif use == "differentiated twice":
        (g,) = autograd.grad(y.sum(), x, create_graph=True)
        if g.requires_grad:
            g.sum().backward()
        del g
    del y, node, stack
    assert [r() for r in nodes] == [None] * len(nodes)


def orders(f, x, n):
    """The first n derivatives of an elementwise function, by repeated reverse passes."""
    y, found = f(x), []
    for _ in range(n):
        (y,) = autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.detach().numpy())
    return found


@pytest.mark.parametrize("f", [tp.exp, lambda x: tp.stack([x.exp(), x]).unbind()[0], lambda x: (x * 1).exp_()])
def test_a_saved_output_has_its_history_at_every_order(f, no_collector):
    x = leaf()
    for g in orders(f, x, 4):
        np.testing.assert_allclose(g, np.exp([1.0, 2.0]))
    g = tp.func.jvp(tp.func.grad(lambda x: f(x).sum()), (x.detach(),), (x.detach(),))[1]
    equal(g, np.exp([1.0, 2.0]) * [1, 2])
    g = tp.vmap(tp.func.grad(tp.func.grad(lambda x: f(x[None].expand(2)).sum() / 2)))(x.detach())
    equal(g, np.exp([1.0, 2.0]))


def test_an_in_place_result_does_not_keep_itself(no_collector):
    x = leaf()
    y = x * 2
    y.mul_(y)
    y.exp_()
    alive = weakref.ref(y)
    del y
    assert alive() is None


def test_a_detached_loss_does_not_keep_the_graph(no_collector):
    x = leaf()
    loss = (x * x).sum()
    graph = weakref.ref(loss.grad_fn)
    kept = loss.detach()
    del loss
    assert graph() is None
    equal(kept, 5)


def test_retain_grad_does_not_keep_the_tensor(no_collector):
    x = leaf()
    y = x * 2
    y.retain_grad()
    z = y.sum()
    alive = weakref.ref(y)
    del y
    assert alive() is None
    z.backward()
    equal(x.grad, [2, 2])


@pytest.mark.parametrize("length", [100_000])
def test_a_long_chain_is_built_run_and_dropped(length, no_collector):
    x = tp.ones((), requires_grad=True)
    y = x
    for _ in range(length):
        y = y + x
    middle = weakref.ref(y.grad_fn)
    y.backward()
    assert x.grad.item() == length + 1
    del y
    assert middle() is None


# ---- accumulation under transforms, and beside writes


@pytest.mark.parametrize("under_a_dual", [False, True])
def test_a_grad_whose_entries_share_memory_is_replaced(under_a_dual):
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    x.grad = one = tp.ones(1).expand(2)
    with tp.autograd.forward_ad.dual_level():
        y = tp.tensor([3.0, 4.0])
        if under_a_dual:
            y = tp.autograd.forward_ad.make_dual(y, tp.ones(2))
        (x * y).sum().backward()
    assert x.grad.tolist() == [4.0, 5.0] and one.tolist() == [1.0, 1.0]


def test_a_saved_gradient_that_is_added_to_is_stale():
    x, w = leaf(), leaf([3.0, 4.0])
    x.sum().backward()
    y = (w * x.grad).sum()
    x.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_stale_value_of_a_branch_that_does_not_run_is_no_error():
    a, b = leaf(), leaf([3.0, 4.0])
    p, q = a * 1, b * 1
    y = p * p
    z = q * q
    loss = (y + z).sum()
    q.mul_(2)
    (g,) = autograd.grad(loss, a, retain_graph=True)
    equal(g, [2, 4])
    with pytest.raises(RuntimeError, match=r"saved by MulBackward0 as '(other|input)', is at version 1"):
        autograd.grad(loss, b)


def test_only_what_the_rules_read_is_saved():
    w, x, mask = leaf(), tp.tensor([3.0, 4.0], dtype=tp.float64), tp.tensor([0.0, 1.0], dtype=tp.float64)
    z = w * x
    z.mul_(mask)
    z.sum().backward()
    equal(w.grad, [0, 4])


def test_a_detached_alias_that_is_written_to_makes_the_graph_stale():
    w = leaf()
    y = w.exp()
    loss = y.sum()
    alias = y.detach()
    del y
    alias.zero_()
    with pytest.raises(RuntimeError, match="ExpBackward0 as 'result'"):
        loss.backward()


def test_the_gradient_is_checked_when_it_is_assigned():
    x = leaf()
    for value, error, words in [
        (3.0, TypeError, "got grad of type float"),
        (tp.ones(3, dtype=tp.float64), RuntimeError, "different size"),
        (tp.ones(2), RuntimeError, "different type"),
        (x, RuntimeError, "own grad"),
    ]:
        with pytest.raises(error, match=words):
            x.grad = value
    x.grad = tp.ones(2, dtype=tp.float64)
    x.sum().backward()
    equal(x.grad, [2, 2])
    del x.grad
    assert x.grad is None


def test_the_gradient_of_a_result_that_retains_none_warns():
    y = leaf() * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert y.grad is None


def test_hooks_survive_while_a_leaf_is_frozen():
    x, seen = leaf(), []
    x.register_hook(lambda g: seen.append("hook"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
    x.requires_grad_(False).requires_grad_(True)
    x.sum().backward()
    assert seen == ["hook", "accumulated"]


def test_a_backward_pass_inside_another_is_independent():
    x, w = leaf(), leaf([3.0, 4.0])

    def inner(g):
        with tp.enable_grad():
            (w * w).sum().backward()

    y = x * x
    y.register_hook(inner)
    y.sum().backward()
    equal(x.grad, [2, 4])
    equal(w.grad, [6, 8])


def test_backward_inside_vmap_refuses_to_store_a_batch():
    w = leaf()
    with pytest.raises(RuntimeError, match="inside vmap"):
        tp.vmap(lambda x: (w * x).sum().backward())(tp.ones(3, 2, dtype=tp.float64))
    assert w.grad is None


def test_backward_over_a_dual_tensor_stores_the_primal():
    w = leaf(3.0)
    with autograd.forward_ad.dual_level():
        d = autograd.forward_ad.make_dual(w.detach(), tp.ones((), dtype=tp.float64))
        (w * d * d).backward()
    equal(w.grad, 9)


# ---- cotangents that are zero but for a part


def parts_of(x):
    """Uses of a tensor by parts, some of them of a part, next to uses of it whole."""
    yield lambda: (x[0] * x[1]).sum()
    yield lambda: x[0].sum() + (x * x).sum() + x[:, 1].exp().sum()
    yield lambda: (x * x).sum() + x[1, 2] ** 2
    yield lambda: x[1:][0, None, ::2].sin().sum() + x[..., 0].sum()
    logp = tp.log_softmax(x, -1)
    target = tp.tensor([2, 0])
    yield lambda: tp.nn.functional.nll_loss(logp, target)
    yield lambda: tp.nn.functional.nll_loss(logp, target, reduction="sum") + logp[:, 1].sum()
    yield lambda: logp[0].sum() + tp.nn.functional.nll_loss(logp, target) + (logp * logp).sum()
    yield lambda: logp[:, 0].sum()
    yield lambda: tp.nn.functional.nll_loss(logp, tp.tensor([-100, 1]), weight=tp.tensor([1.0, 2, 3], dtype=tp.float64))


@pytest.mark.parametrize("case", range(9))
def test_gradients_of_parts_are_summed(case):
    x = tp.tensor([[0.3, -0.2, 0.9], [0.1, 0.5, -0.4]], dtype=tp.float64, requires_grad=True)
    loss = list(parts_of(x))[case]
    want = autograd.grad(loss(), x, create_graph=True)[0]  # over tensors, where there are no such cotangents
    assert tp.allclose(autograd.grad(loss(), x, retain_graph=True)[0], want)
    loss().backward(retain_graph=True)
    assert tp.allclose(x.grad, want)
    loss().backward()
    assert tp.allclose(x.grad, 2 * want)


def test_hooks_see_the_whole_gradient_of_what_is_used_by_part():
    x = tp.tensor([[0.3, -0.2, 0.9], [0.1, 0.5, -0.4]], requires_grad=True)
    seen = []
    logp = tp.log_softmax(x, -1)
    logp.retain_grad()
    logp.register_hook(lambda g: seen.append(g.clone()))
    logp.grad_fn.register_prehook(lambda gs: seen.append(gs[0].clone()))
    loss = tp.nn.functional.nll_loss(logp, tp.tensor([2, 0]))
    asked = autograd.grad(loss, [logp, x], retain_graph=True)
    loss.backward()
    want = tp.tensor([[0.0, 0.0, -0.5], [-0.5, 0.0, 0.0]])
    assert all(tp.equal(g, want) for g in [*seen, logp.grad / 2, asked[0]]) and len(seen) == 4
    assert tp.allclose(x.grad, asked[1])
    y = x * 1
    y.register_hook(lambda g: seen.append(g))
    handle = y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: seen.extend([*grad_inputs, *grad_outputs]))
    y[0].sum().backward()
    handle.remove()
    assert [g.tolist() for g in seen[4:]] == [[[1.0] * 3, [0.0] * 3]] * 3
    z = x * 1
    part = z[1]
    part.grad_fn.register_hook(lambda grad_inputs, grad_outputs: seen.append(grad_inputs[0]))
    part.sum().backward()
    assert seen[-1].tolist() == [[0.0] * 3, [1.0] * 3]
