"""What nodes keep for the backward pass: seen from outside, packed, moved, preserved."""

import gc
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function, grad
from tensorplay.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    increment_version,
    save_on_cpu,
    saved_tensors_hooks,
)


def leaf(values=(1.0, 2.0)):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True)


def equal(t, values):
    np.testing.assert_allclose(t.detach().numpy(), values, rtol=1e-12)


# ---- seen from outside


def test_saved_values_have_pytorchs_names():
    x = leaf()
    y = x * x.exp()
    node = y.grad_fn
    assert node._saved_self is x
    equal(node._saved_other, np.exp([1.0, 2.0]))
    exp = node.next_functions[1][0]
    equal(exp._saved_result, np.exp([1.0, 2.0]))
    assert exp._saved_result.grad_fn is exp
    assert {"_saved_self", "_saved_other", "_raw_saved_self"} <= set(dir(node))
    with pytest.raises(AttributeError, match="'MulBackward0' object has no attribute '_saved_dim'"):
        node._saved_dim  # noqa: B018
    assert not hasattr(node, "_saved_result")
    y.sum().backward()
    with pytest.raises(RuntimeError, match="directly access saved tensors after they have already been freed"):
        node._saved_self  # noqa: B018


def test_saved_values_that_were_written_to_are_stale_from_outside_too():
    x = leaf()
    a = x * 1
    y = a * a
    e = a.exp()
    a.mul_(2)
    e.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.grad_fn._saved_self  # noqa: B018
    exp = e.grad_fn.next_functions[0][0]
    with pytest.raises(RuntimeError, match="ExpBackward0 as 'result'"):
        exp._saved_result  # noqa: B018


def test_hooks_on_one_saved_value():
    x, log = leaf(), []
    y = x * x.exp()
    saved = y.grad_fn._raw_saved_self
    saved.register_hooks(lambda t: (log.append("pack"), t.detach() * 2)[1], lambda t: (log.append("unpack"), t)[1])
    equal(y.grad_fn._saved_self, [2, 4])
    equal(saved.unpack(), [2, 4])
    assert log == ["pack", "unpack", "unpack"]
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        saved.register_hooks(lambda t: t, lambda t: t)
    equal(grad(y.sum(), x)[0], np.exp([1.0, 2.0]) * (1 + np.array([2.0, 4.0])))
    with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor after it has been freed"):
        saved.register_hooks(lambda t: t, lambda t: t)


# ---- packing


def test_everything_that_is_saved_is_packed_and_unpacked_when_it_is_read():
    x, packed, unpacked = leaf(), [], []

    def pack(t):
        packed.append(t.tolist())
        return t.detach().numpy().copy()

    def unpack(a):
        unpacked.append(a.tolist())
        return tp.from_numpy(a)

    with saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    e = np.exp([1.0, 2.0]).tolist()
    assert sorted(packed) == sorted([e, [1, 2], e]) and unpacked == []
    y.sum().backward()
    assert sorted(unpacked) == sorted(packed)
    equal(x.grad, np.exp([1.0, 2.0]) * [2, 3])


PROGRAMS = {
    "mul": lambda x: x * x,
    "exp": lambda x: x.exp(),
    "scalar": lambda x: x * 3,
    "several inputs": lambda x: tp.stack([x, x * 2]).prod(0),
    "several outputs": lambda x: tp.linalg.eigh(x[:, None] * x + tp.eye(2, dtype=tp.float64))[1],
    "matmul": lambda x: x[:, None] @ x[None],
    "in place": lambda x: (x * 1).mul_(x).exp_(),
    "softmax": lambda x: x.softmax(0),
    "views": lambda x: x.reshape(2, 1).expand(2, 3) * x[:1],
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("hooks", ["copied", "identity", "on cpu", "mutation allowed"])
def test_packing_changes_no_gradient_of_any_order(f, hooks):
    def gradients(x):
        (g,) = grad((f(x) * tp.tensor([1.0, 2.0], dtype=tp.float64).sum()).sum(), x, create_graph=True)
        return g, grad((g * g).sum(), x, allow_unused=True, materialize_grads=True)[0] if g.requires_grad else g * 0

    expected = gradients(leaf())
    context = {
        "copied": lambda: saved_tensors_hooks(lambda t: t.detach().numpy().copy(), tp.from_numpy),
        "identity": lambda: saved_tensors_hooks(lambda t: t, lambda t: t),
        "on cpu": save_on_cpu,
        "mutation allowed": allow_mutation_on_saved_tensors,
    }[hooks]()
    with context:
        found = gradients(leaf())
    for a, b in zip(found, expected):
        equal(a, b.detach().numpy())


def test_the_innermost_hooks_pack():
    x, log = leaf(), []
    with saved_tensors_hooks(lambda t: (log.append("outer"), t)[1], lambda t: t):
        with saved_tensors_hooks(lambda t: (log.append("inner"), t)[1], lambda t: t):
            x.exp()
        x.exp()
    x.exp()
    assert log == ["inner", "outer"]


def test_hooks_pack_what_a_function_saves():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y, None)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y, nothing = ctx.saved_tensors
            assert nothing is None
            return g * y + 0 * x

    x, log = leaf(), []
    with saved_tensors_hooks(lambda t: (log.append(t.tolist()), t.detach().clone())[1], lambda t: t):
        y = Exp.apply(x)
    assert log == [[1, 2], np.exp([1.0, 2.0]).tolist()]
    (g,) = grad(y.sum(), x, create_graph=True)
    equal(g, np.exp([1.0, 2.0]))
    equal(grad(g.sum(), x)[0], np.exp([1.0, 2.0]))


def test_hooks_run_without_recording_and_must_not_write():
    x, seen = leaf(), []
    with saved_tensors_hooks(lambda t: (seen.append(tp.is_grad_enabled()), t)[1], lambda t: t):
        x.exp()
    assert seen == [False] and tp.is_grad_enabled()
    with saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"):
            x.exp()
    assert tp.is_grad_enabled()


def test_an_unpack_hook_returns_a_tensor():
    x = leaf()
    with saved_tensors_hooks(lambda t: 3, lambda n: n):
        y = x.exp()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int"):
        y.sum().backward()


def test_an_unpack_hook_may_fill_memory_of_its_own():
    def fill(array):
        return tp.empty(array.shape, dtype=tp.float64).copy_(tp.from_numpy(array))

    x = leaf()
    with saved_tensors_hooks(lambda t: t.detach().numpy().copy(), fill):
        y = (x * x.exp()).sum()
    equal(grad(y, x)[0], [2 * np.e, 3 * np.e**2])


def test_a_write_to_what_was_saved_is_seen_through_hooks_that_keep_it():
    x = leaf() * 1
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.sin().sum()
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_packed_values_are_released():
    class Token:
        pass

    x, tokens = leaf(), []

    def pack(t):
        token = Token()
        token.tensor = t
        tokens.append(weakref.ref(token))
        return token

    with saved_tensors_hooks(pack, lambda token: token.tensor):
        y = x.exp()
    gc.disable()
    try:
        assert tokens[0]() is not None
        y.sum().backward()
        assert tokens[0]() is None
    finally:
        gc.enable()


def test_packing_an_output_makes_no_cycle():
    x = leaf()
    gc.collect()
    gc.disable()
    try:
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            y = x.exp()
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_hooks_can_be_forbidden():
    with disable_saved_tensors_hooks("not in here"):
        with pytest.raises(RuntimeError, match="not in here"), save_on_cpu():
            pass
        with disable_saved_tensors_hooks("nor here"):
            with pytest.raises(RuntimeError, match="nor here"), save_on_cpu():
                pass
        with pytest.raises(RuntimeError, match="not in here"), save_on_cpu():
            pass
    with save_on_cpu():
        with (
            pytest.raises(RuntimeError, match="not while hooks are set"),
            disable_saved_tensors_hooks("not while hooks are set"),
        ):
            pass


# ---- writes to what is saved


WRITES = {
    "in place": lambda a: a.mul_(5),
    "through a view": lambda a: a[:1].zero_(),
    "through an alias": lambda a: a.detach().zero_(),
    "by index": lambda a: a.__setitem__(0, 100.0),
    "out=": lambda a: tp.add(tp.ones(2, dtype=tp.float64), 1, out=a.detach()),
    "twice": lambda a: (a.mul_(5), a.add_(1)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("f", [lambda a: a * a, lambda a: a.exp(), lambda a: a / (a + 1)])
def test_writes_to_saved_tensors(f, write):
    x = leaf()
    expected = grad(f(x * 1).sum(), x)[0]

    def program():
        a = x * 1
        y = f(a)
        loss = y.sum()
        write(a)
        write(y)
        return grad(loss, x)[0]

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        program()
    with allow_mutation_on_saved_tensors():
        equal(program(), expected.numpy())


def test_mutation_is_allowed_inside_only():
    x = leaf()
    with allow_mutation_on_saved_tensors() as kept:
        y = (x * x).sum()
        with pytest.raises(RuntimeError, match="contexts cannot be nested"), allow_mutation_on_saved_tensors():
            pass
        z = (x * x).sum()
        z.backward()
        kept.clear()
    with pytest.raises(
        AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    ):
        y.backward()


def test_only_what_is_written_to_is_copied():
    x = leaf()
    with allow_mutation_on_saved_tensors():
        a, b = x * 1, x * 2
        y = a * a + b * b
        left = y.grad_fn.next_functions[1][0]
        a.zero_()
        assert left._saved_self._data is not None
        assert np.shares_memory(left._saved_self.detach().numpy(), b.detach().numpy())
        equal(grad(y.sum(), x)[0], [2 + 8, 4 + 16])


def test_memory_changed_from_outside_is_declared():
    x = leaf()
    a = x * 1
    y = (a * a).sum()
    a.detach().numpy()[0] = 7
    increment_version(a)
    assert a._version == 1
    increment_version([a, a.detach()])
    assert a._version == 3
    with pytest.raises(RuntimeError, match="is at version 3"):
        y.backward()
    with pytest.raises(RuntimeError, match="each element of the iterable to be a tensor, got int"):
        increment_version([a, 3])
    with pytest.raises(RuntimeError, match=r"expect a Iterable\[Tensor\] as input, got int"):
        increment_version(3)
    assert a._version == 3


def test_numbers_are_not_packed():
    shapes = []
    x = tp.ones(1, requires_grad=True)
    with tp.autograd.graph.saved_tensors_hooks(lambda t: shapes.append(t.shape) or t, lambda t: t):
        y = 2 / (x * 2) + x**2
    assert shapes == [(1,)] * len(shapes) and shapes
    y.backward()
    assert x.grad.tolist() == [1.0]


UNPACKED = {
    # what an unpack hook makes of a saved tensor of shape (2,): None where it is refused
    "the same": (lambda t: t * 1, True),
    "another dtype": (lambda t: t.to(tp.float32), True),
    "one value for all": (lambda t: t[:1] * 0 + 3, True),
    "a further dimension": (lambda t: tp.stack([t, t]), False),
    "other extents": (lambda t: tp.cat([t, t]), False),
    "integers": (lambda t: t.long(), False),
}


@pytest.mark.parametrize("name", UNPACKED)
@pytest.mark.parametrize("f", [lambda x: x * x, lambda x: x.exp(), lambda x: tp.cat([x]).prod(0)])
def test_an_unpack_hook_changes_no_shape_and_no_dtype_of_a_gradient(name, f):
    unpack, fits = UNPACKED[name]
    x = leaf()
    with saved_tensors_hooks(lambda t: t, unpack):
        y = f(x).sum()
    if fits:
        (g,) = grad(y, x)
        assert g.shape == x.shape and g.dtype == x.dtype
    else:
        with pytest.raises(RuntimeError, match="saved tensor unpack_hook returned a tensor of"):
            grad(y, x)
