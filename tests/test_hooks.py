"""Hooks on tensors, leaves and nodes: which run, in which order, and what they may do."""

import gc
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.autograd import forward_ad, grad
from tensorplay.autograd.graph import register_multi_grad_hook


def leaf(values=(1.0, 2.0)):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True)


def ones(*shape):
    return tp.ones(shape, dtype=tp.float64)


def equal(t, values):
    np.testing.assert_allclose(t.detach().numpy(), values, rtol=1e-12)


def test_the_order_of_all_hooks():
    x, log = leaf(), []
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: (log.append(("tensor", g.tolist())), g * 10)[1])
    y.grad_fn.register_prehook(lambda out: (log.append(("pre", out[0].tolist())), (out[0] * 10,))[1])
    y.grad_fn.register_hook(lambda into, out: log.append(("post", into[0].tolist(), out[0].tolist())))
    x.register_hook(lambda g: log.append(("leaf tensor", g.tolist())))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t.grad.tolist())))
    end = y.grad_fn.next_functions[0][0]
    end.register_prehook(lambda out: log.append(("leaf pre", out[0].tolist())))
    end.register_hook(lambda into, out: log.append(("leaf post", into, out[0].tolist())))
    y.sum().backward()
    assert log == [
        ("tensor", [1, 1]),
        ("pre", [10, 10]),
        ("post", [100, 200], [100, 100]),
        ("leaf tensor", [200, 400]),
        ("leaf pre", [200, 400]),
        ("accumulated", [200, 400]),
        ("leaf post", (), [200, 400]),
    ]
    equal(y.grad, [10, 10])  # retained last among the tensor's hooks, before those of the node


def test_hooks_run_in_the_order_of_registration_and_see_what_the_last_one_returned():
    x, seen = leaf(), []
    x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: g + 1)
    x.sum().backward()
    assert seen == [[2, 2]]
    equal(x.grad, [3, 3])


def test_a_removed_hook_does_not_run():
    x, seen = leaf(), []
    handle = x.register_hook(lambda g: seen.append(1))
    handle.remove()
    handle.remove()
    with x.register_hook(lambda g: seen.append(2)):
        x.sum().backward()
    x.sum().backward()
    assert seen == [2]


def test_hooks_change_during_the_pass():
    x, seen = leaf(), []
    y = x * 2
    z = y * 3
    late = y.register_hook(lambda g: seen.append("removed"))

    def on_z(g):
        late.remove()
        y.register_hook(lambda g: seen.append("added upstream"))

    def on_y(g):
        y.register_hook(lambda g: seen.append("added to the tensor that runs"))

    y.register_hook(on_y)
    z.register_hook(on_z)
    z.sum().backward()
    assert seen == ["added upstream"]


def test_a_hook_that_removes_itself_keeps_nothing_alive():
    gc.collect()
    gc.disable()
    try:
        x = leaf()
        y = x * 2
        handle = y.register_hook(lambda g: handle.remove())
        y.sum().backward()
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_hooks_of_one_of_several_outputs():
    x, seen = leaf(), []
    a, b = (x * 2).unbind()
    a.retain_grad()
    a.register_hook(lambda g: g * 10)
    a.grad_fn.register_prehook(lambda out: seen.append([None if g is None else g.item() for g in out]))
    a.grad_fn.register_hook(lambda into, out: seen.append(into[0].tolist()))
    (a * 3).backward()
    equal(a.grad, 30)
    assert seen == [[30, None], [30, 0]]
    equal(x.grad, [60, 0])


def test_hooks_see_the_sum_of_all_uses():
    x, seen = leaf(), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 3 + y * 4).sum().backward()
    assert seen == [[7, 7]]


def test_node_hooks_see_the_operand_as_it_was_before_it_was_broadcast():
    x, seen = leaf(), []
    y = x * ones(5, 2)
    y.grad_fn.register_hook(lambda into, out: seen.append((into[0].shape, out[0].shape)))
    y.grad_fn.register_hook(lambda into, out: (into[0] * 10, into[1]))
    y.sum().backward()
    assert seen == [((2,), (5, 2))]
    equal(x.grad, [50, 50])


def test_hooks_stay_with_the_value_and_retained_gradients_with_the_tensor():
    x, seen = leaf(), []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    assert seen == [("after", [1, 1]), ("before", [3, 3])]
    equal(y.grad, [1, 1])


def test_a_retained_gradient_follows_a_write_through_a_view():
    x = leaf()
    b = x * 2
    b.retain_grad()
    b[:1].mul_(5)
    (b * b).sum().backward()
    equal(b.grad, [20, 8])
    equal(x.grad, [200, 16])


def test_a_copied_tensor_and_its_copy_have_gradients_of_their_own():
    x, y = tp.zeros(2, dtype=tp.float64), leaf()
    x.copy_(y)
    gx, gy = grad((x * 2 + y * 5).sum(), [x, y])
    equal(gx, [2, 2])
    equal(gy, [7, 7])


def test_an_input_whose_own_node_runs_too_is_taken_before_its_hooks():
    # so does PyTorch
    x = leaf()
    y = x * 2
    y.register_hook(lambda g: g * 10)
    equal(grad(y.sum(), y, retain_graph=True)[0], [10, 10])
    gy, gx = grad(y.sum(), [y, x])
    equal(gy, [1, 1])
    equal(gx, [20, 20])


def test_hooks_run_at_every_order():
    x, seen = leaf(3.0), []
    y = x**3
    y.register_hook(lambda g: (seen.append(g.requires_grad), g * 2)[1])
    (g,) = grad(y, x, create_graph=True)
    equal(g, 54)
    equal(grad(g, x)[0], 36)
    assert seen == [False]


def named(g):
    return ones(3)


@pytest.mark.parametrize(
    "register, result, error, words",
    [
        ("register_hook", None, RuntimeError, r"hook 'named' has changed the size of value \(was \[2\] got \[3\]\)"),
        ("register_hook", 3.0, TypeError, "expected Variable, but hook returned 'float'"),
        ("register_hook", tp.ones(2), RuntimeError, "has changed the type of value"),
        ("pre", ones(2), TypeError, "expected tuple, but hook returned 'Tensor'"),
        ("pre", (ones(2), ones(2)), RuntimeError, r"incorrect number of values \(got 2, but expected 1\)"),
        ("pre", (ones(5),), RuntimeError, "has changed the size of value"),
        ("post", ones(2), TypeError, "expected tuple, but hook returned 'Tensor'"),
        ("post", (ones(2),) * 3, RuntimeError, r"incorrect number of values \(got 3, but expected 2\)"),
        ("post", (3.0, None), TypeError, "expected Variable, but hook returned 'float'"),
        ("post", (None, ones(2)), RuntimeError, "can't replace a None gradient with a non-None value"),
    ],
)
def test_what_hooks_return_is_checked(register, result, error, words):
    x = leaf()
    y = x * tp.tensor([1.0, 1.0], dtype=tp.float64)
    if register == "register_hook":
        y.register_hook(named if result is None else lambda g: result)
    elif register == "pre":
        y.grad_fn.register_prehook(lambda out: result)
    else:
        y.grad_fn.register_hook(lambda into, out: result)
    with pytest.raises(error, match=words):
        y.sum().backward()
    assert x.grad is None


def test_a_pre_hook_may_stop_the_gradient():
    x, w = leaf(), leaf()
    y = x * 2
    y.grad_fn.register_prehook(lambda out: (None,))
    w.view(2).grad_fn.next_functions[0][0].register_prehook(lambda out: (None,))
    (y * w + x * 3).sum().backward()
    equal(x.grad, [3, 3])
    assert w.grad is None


def test_post_accumulate_hooks_return_nothing():
    x = leaf()
    x.register_post_accumulate_grad_hook(named)
    with pytest.raises(RuntimeError, match="hook 'named': Tensor post accumulate grad hooks should return None"):
        x.sum().backward()


def test_hooks_need_a_tensor_that_requires_grad():
    plain, result = tp.ones(2), leaf() * 2
    for call, words in [
        (lambda: plain.register_hook(print), "cannot register a hook on a tensor that doesn't require gradient"),
        (lambda: plain.retain_grad(), "can't retain_grad on Tensor that has requires_grad=False"),
        (lambda: plain.register_post_accumulate_grad_hook(print), "doesn't require gradient"),
        (lambda: result.register_post_accumulate_grad_hook(print), "cannot be registered on non-leaf tensors"),
    ]:
        with pytest.raises(RuntimeError, match=words):
            call()


# ---- leaves


def test_a_leaf_is_reached_as_soon_as_its_last_consumer_has_run():
    log = []
    p, q, r = leaf(), leaf(), leaf()
    for name, t in [("p", p), ("q", q), ("r", r)]:
        t.register_post_accumulate_grad_hook(lambda t, name=name: log.append(name))
    h = p * q
    h.register_hook(lambda g: log.append("h"))
    h2 = h * q
    h2.register_hook(lambda g: log.append("h2"))
    (h2 * r).sum().backward()
    assert log == ["r", "h2", "h", "p", "q"]


class Nothing(tp.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return None


def test_a_consumer_that_passes_nothing_on_does_not_delay_a_leaf():
    log = []
    p, q = leaf(), leaf()
    p.register_post_accumulate_grad_hook(lambda t: log.append("p"))
    q.register_hook(lambda g: log.append("q"))
    early = q * 2
    early.register_hook(lambda g: log.append("early"))
    (Nothing.apply(p) + p * early).sum().backward()
    assert log == ["p", "early", "q"]
    equal(p.grad, [2, 4])


def test_an_optimizer_in_the_backward_pass_frees_gradients_as_they_come():
    alive = []
    weights = [leaf([float(i), 1.0]) for i in range(5)]

    def step(w):
        alive.append(sum(v.grad is not None for v in weights))
        w.data.sub_(w.grad)
        w.grad = None

    y = ones(2)
    for w in weights:
        w.register_post_accumulate_grad_hook(step)
        y = y * 0.5 + w
    y.sum().backward()
    assert alive == [1] * 5


def test_post_accumulate_hooks_do_not_run_for_grad():
    x, seen = leaf(), []
    x.register_post_accumulate_grad_hook(seen.append)
    grad(x.sum(), x)
    assert seen == []


# ---- several tensors


def test_a_hook_for_all_gradients_of_a_pass():
    x, seen = leaf(), []
    a, b = x * 2, x * 3
    handle = register_multi_grad_hook(
        [a, b, x], lambda gs: seen.append([None if g is None else g.tolist() for g in gs])
    )
    (a * b).sum().backward(retain_graph=True)
    (b * 1).sum().backward(retain_graph=True)
    grad((a * b).sum(), [a])
    handle.remove()
    (b * 1).sum().backward()
    assert seen == [
        [[3, 6], [2, 4], [12, 24]],
        [None, [1, 1], [3, 3]],
        [[3, 6], None, None],
    ]


def test_a_hook_for_outputs_without_gradient_is_called_at_the_end():
    x, seen = leaf(), []
    a, b = (x * 2).unbind()
    register_multi_grad_hook([a, b], lambda gs: seen.append(gs[0]))
    b.backward()
    assert seen == [None]


def test_a_hook_for_the_first_gradient_of_a_pass():
    x, seen = leaf(), []
    a, b = x * 2, x * 3
    register_multi_grad_hook([a, b], lambda g: seen.append(g.tolist()), mode="any")
    (a * b).sum().backward(retain_graph=True)
    (b * 1).sum().backward()
    assert len(seen) == 2 and seen[1] == [1, 1]


def test_a_hook_over_several_tensors_does_not_keep_their_graph():
    gc.collect()
    gc.disable()
    try:
        y = leaf() * 2
        register_multi_grad_hook([y], print)
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_modes_and_tensors_of_multi_hooks_are_checked():
    with pytest.raises(ValueError, match=r"Expects mode to be one of \('all', 'any'\) but got some"):
        register_multi_grad_hook([leaf()], print, mode="some")
    with pytest.raises(RuntimeError, match="tensor 1 does not require grad"):
        register_multi_grad_hook([leaf(), tp.ones(2)], print)


# ---- passes inside hooks


def test_a_pass_inside_a_hook_may_use_the_same_leaves():
    x = leaf()
    y = x * x

    def inner(g):
        with tp.enable_grad():
            (x * 3).sum().backward()

    y.register_hook(inner)
    y.sum().backward()
    equal(x.grad, [3 + 2, 3 + 4])


def test_a_hook_may_differentiate_the_gradient_it_is_given():
    x, seen = leaf(3.0), []
    y = x**2
    y.register_hook(lambda g: seen.append(grad(g, x, retain_graph=True)[0].item() if g.requires_grad else "plain"))
    (g,) = grad(y**2, x, create_graph=True)
    assert seen == ["plain", 12.0]  # the gradient of y**2 by y is 2 * y, which leads through y once more
    equal(g, 108)


def test_an_error_in_a_hook_leaves_no_mode_behind():
    x = leaf()
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert tp.is_grad_enabled()
    (x * 3).sum().backward()
    equal(x.grad, [3, 3])


@pytest.mark.parametrize("reached", [True, False])
def test_a_multi_grad_hook_may_be_registered_during_the_pass(reached):
    x, w, unused = (tp.tensor([1.0, 2.0], requires_grad=True) for _ in range(3))
    found = []
    tensors = (x, w) if reached else (x, unused)
    z = x * w
    z.register_hook(lambda g: tp.autograd.graph.register_multi_grad_hook(tensors, found.append) and None)
    z.sum().backward()
    (grads,) = found
    assert [g if g is None else g.tolist() for g in grads] == [[1.0, 2.0], [1.0, 2.0] if reached else None]


def nested_passes(depth, innermost):
    """A pass inside the hook of a pass, and so on."""
    x = tp.tensor([1.0], requires_grad=True)
    y = x * 2

    def hook(g):
        with tp.enable_grad():
            if depth:
                nested_passes(depth - 1, innermost)
            else:
                innermost()

    y.register_hook(hook)
    y.sum().backward()
    assert x.grad.tolist() == [2]


def test_passes_may_nest_deeper_than_python_recurses():
    seen = []

    def innermost():
        seen.append((tp.is_grad_enabled(), np.geterr()["divide"], forward_ad._is_fwd_grad_enabled()))

    with forward_ad._set_fwd_grad_enabled(False), np.errstate(divide="raise"):
        nested_passes(400, innermost)
    assert seen == [(True, "ignore", False)]
    assert tp.is_grad_enabled() and forward_ad._is_fwd_grad_enabled()


def test_passes_deep_inside_others_autocast_as_those_around_them():
    seen = []
    with tp.autocast("cpu", dtype=tp.bfloat16):
        nested_passes(100, lambda: seen.append((tp.is_autocast_enabled("cpu"), (tp.ones(1, 1) @ tp.ones(1, 1)).dtype)))
        assert tp.is_autocast_enabled("cpu")
    assert seen == [(True, tp.bfloat16)] and not tp.is_autocast_enabled("cpu")


def test_an_error_deep_inside_comes_out_and_leaves_no_mode_behind():
    def fail():
        tp.set_grad_enabled(False)
        raise KeyError("deep inside")

    with pytest.raises(KeyError, match="deep inside"):
        nested_passes(100, fail)
    assert tp.is_grad_enabled()


def hooked_product(x):
    y = x * 2
    y.register_hook(lambda g: g * 10)
    return (y * x).sum()


NESTED = {
    # a hook inside belongs to the transform that differentiates the function, as in PyTorch's func
    "grad": (lambda x: func.grad(hooked_product)(x), 22, 1),
    "vjp, pulled later": (lambda x: func.vjp(hooked_product, x)[1](tp.ones((), dtype=x.dtype))[0], 22, 1),
    "jacrev": (lambda x: func.jacrev(hooked_product)(x), 22, 1),
    "grad of grad": (lambda x: func.grad(lambda x: func.grad(hooked_product)(x).sum())(x), 22, 0),
    "jacfwd of jacrev": (lambda x: func.hessian(hooked_product)(x).sum(0), 22, 0),
    "grad around autograd.grad": (
        lambda x: func.grad(lambda x: autograd.grad(hooked_product(x), x, create_graph=True)[0].sum())(x), 40, 0),
    "vmap of grad": (lambda x: func.vmap(func.grad(hooked_product))(x), 22, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_a_hook_inside_a_transform_runs_when_that_computes_gradients(name):
    f, factor, power = NESTED[name]
    x = leaf().detach()
    assert f(x).tolist() == (factor * x**power).tolist()


def test_a_hook_runs_in_each_pass_outside_of_transforms():
    x = leaf()
    g = grad(hooked_product(x), x, create_graph=True)[0]
    assert grad(g.sum(), x)[0].tolist() == [40, 40]
    y = x * 2
    y.register_hook(lambda g: g * 10)
    assert func.grad(lambda z: (z * y).sum())(leaf().detach()).tolist() == [2, 4]
