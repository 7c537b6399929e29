"""Custom Functions: both styles, everything the context offers, every level of transforms."""

import gc
import re
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.autograd import Function, forward_ad, grad
from tensorplay.autograd.function import (
    BackwardCFunction,
    FunctionCtx,
    InplaceFunction,
    NestedIOFunction,
    once_differentiable,
)


def leaf(values=(1.0, 2.0)):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True)


def t64(values):
    return tp.tensor(values, dtype=tp.float64)


def equal(t, values, rtol=1e-12):
    np.testing.assert_allclose(t.detach().numpy(), values, rtol=rtol)


def make(forward, backward=None, **members):
    """A Function called Foo from plain functions."""
    given = {name: staticmethod(f) if callable(f) else f for name, f in members.items()}
    if backward is not None:
        given["backward"] = staticmethod(backward)
    return type("Foo", (Function,), {"forward": staticmethod(forward), **given})


# ---- the same operator in every style


class Old(Function):
    """x**2 * y, with the context given to forward."""

    @staticmethod
    def forward(ctx, x, y, scale=1):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.scale = scale
        return x * x * y * scale

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = 2 * x * y * g * ctx.scale if ctx.needs_input_grad[0] else None
        gy = x * x * g * ctx.scale if ctx.needs_input_grad[1] else None
        return gx, gy, None

    @staticmethod
    def jvp(ctx, tx, ty, _=None):
        x, y = ctx.saved_tensors
        return (2 * x * y * tx + x * x * ty) * ctx.scale


class New(Function):
    """The same with a context apart, and its vmap rule generated."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, scale=1):
        return x * x * y * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.scale = inputs
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)

    backward = staticmethod(Old.backward)
    jvp = staticmethod(Old.jvp)


class Ruled(New):
    """The same with a vmap rule of its own."""

    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, x, y, scale):
        def front(t, d):
            t = t.movedim(d, 0) if d is not None else t.expand(info.batch_size, *t.shape)
            return t

        dims = [t.dim() - (d is not None) for t, d in zip((x, y), in_dims)]
        x, y = front(x, in_dims[0]), front(y, in_dims[1])
        ndim = max(dims)
        x = x.reshape(info.batch_size, *[1] * (ndim - dims[0]), *x.shape[1:])
        y = y.reshape(info.batch_size, *[1] * (ndim - dims[1]), *y.shape[1:])
        return Ruled.apply(x, y, scale), 0


class Saves(New):
    """The same, keeping its output, and the output's square as a second one."""

    @staticmethod
    def forward(x, y, scale=1):
        out = x * x * y * scale
        return out, x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.scale = inputs
        ctx.save_for_backward(x, y, output[0])
        ctx.save_for_forward(x, y)
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, g, nothing):
        x, y, out = ctx.saved_tensors
        return g * out * 2 / x, g * out / y, None

    @staticmethod
    def jvp(ctx, tx, ty, _):
        return Old.jvp(ctx, tx, ty, None), None


def plain(x, y):
    return x * x * y


STYLES = {
    "forward with ctx": Old.apply,
    "setup_context": New.apply,
    "vmap rule": Ruled.apply,
    "keeps its output": lambda x, y: Saves.apply(x, y)[0],
}
NESTING = [name for name in STYLES if name != "forward with ctx"]


@pytest.mark.parametrize("style", STYLES)
def test_values_and_gradients_of_every_order(style):
    f = STYLES[style]
    x, y = leaf(), leaf([3.0, 4.0])
    out, expected = f(x, y), plain(x, y)
    equal(out, expected.detach().numpy())
    for _ in range(3):
        if not expected.requires_grad:
            break
        found = grad(out.sum(), [x, y], create_graph=True, allow_unused=True, materialize_grads=True)
        wanted = grad(expected.sum(), [x, y], create_graph=True, allow_unused=True, materialize_grads=True)
        for a, b in zip(found, wanted):
            equal(a, b.detach().numpy())
        out, expected = found[0] * found[1], wanted[0] * wanted[1]


X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
Y = np.array([3.0, 4.0])

NESTINGS = {
    "vmap": lambda f: tp.vmap(f, (0, None))(t64(X), t64(Y)),
    "vmap at the back": lambda f: tp.vmap(f, (1, None), out_dims=1)(t64(X), t64([1.0, 2.0, 3.0])),
    "vmap of both": lambda f: tp.vmap(f)(t64(X), t64(X * 2)),
    "vmap twice": lambda f: tp.vmap(tp.vmap(f, (None, 0)), (0, None))(t64(X), t64(X)),
    "grad": lambda f: func.grad(lambda x, y: f(x, y).sum(), (0, 1))(t64(X), t64(Y))[0],
    "grad of what was closed over": lambda f: func.grad(lambda y: f(t64(X), y).sum())(t64(Y)),
    "jvp": lambda f: func.jvp(f, (t64(X), t64(Y)), (t64(X) * 3, t64(Y)))[1],
    "jvp of one argument": lambda f: func.jvp(lambda x: f(x, t64(Y)), (t64(X),), (t64(X) * 3,))[1],
    "jvp of jvp": lambda f: func.jvp(
        lambda x: func.jvp(lambda x: f(x, t64(Y)), (x,), (x * 2,))[1], (t64(X),), (t64(X),))[1],
    "grad of grad": lambda f: func.grad(lambda x: func.grad(lambda x: f(x, t64(Y)).sum())(x).exp().sum())(t64(X) * 0.1),
    "vmap of grad": lambda f: tp.vmap(func.grad(lambda x: f(x, t64(Y)).sum()))(t64(X)),
    "grad of vmap": lambda f: func.grad(lambda y: tp.vmap(f, (0, None))(t64(X), y).sum())(t64(Y)),
    "jvp of grad": lambda f: func.jvp(func.grad(lambda x: f(x, t64(Y)).sum()), (t64(X),), (t64(X),))[1],
    "grad of jvp": lambda f: func.grad(lambda x: func.jvp(lambda x: f(x, t64(Y)), (x,), (x,))[1].sum())(t64(X)),
    "vmap of jvp": lambda f: tp.vmap(lambda x: func.jvp(lambda x: f(x, t64(Y)), (x,), (x * 2,))[1])(t64(X)),
    "jvp of vmap": lambda f: func.jvp(lambda y: tp.vmap(f, (0, None))(t64(X), y), (t64(Y),), (t64(Y),))[1],
    "hessian": lambda f: func.hessian(lambda x: f(x, t64(Y)).sum())(t64(X[0])),
    "jacfwd": lambda f: func.jacfwd(lambda x: f(x, t64(Y)))(t64(X[0])),
    "jacrev": lambda f: func.jacrev(lambda y: f(t64(X), y))(t64(Y)),
    "vmap of jvp of grad": lambda f: tp.vmap(
        lambda x: func.jvp(func.grad(lambda x: f(x, t64(Y)).sum()), (x,), (x,))[1])(t64(X)),
}  # fmt: skip


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("style", NESTING)
def test_every_nesting_agrees_with_the_operators_it_is_made_of(style, nesting):
    equal(NESTINGS[nesting](STYLES[style]), NESTINGS[nesting](plain).detach().numpy())


@pytest.mark.parametrize("style", NESTING)
def test_a_tape_outside_goes_through_the_batch(style):
    f = STYLES[style]

    def gradients(f):
        x, y = t64(X).requires_grad_(), leaf(Y)
        out = tp.vmap(f, (0, None))(x, y)
        first = grad((out * out).sum(), [x, y], create_graph=True)
        return *first, *grad(first[0].sum() + first[1].sum(), [x, y])

    for a, b in zip(gradients(f), gradients(plain)):
        equal(a, b.detach().numpy())


@pytest.mark.parametrize("style", NESTING)
def test_a_tape_inside_the_batch_reaches_what_was_closed_over(style):
    w = leaf(Y)
    found = tp.vmap(lambda x: grad(STYLES[style](x, w).sum(), w)[0])(t64(X))
    equal(found, X * X)


@pytest.mark.parametrize("style", ["forward with ctx", *NESTING])
def test_a_tape_over_dual_tensors_carries_the_tangent(style):
    def gradients(f):
        x, w = leaf(), leaf(Y)
        with forward_ad.dual_level():
            d = forward_ad.make_dual(x, t64([1.0, -1.0]))
            g = grad(f(d, w).sum(), [x, w])
            return [part for one in g for part in forward_ad.unpack_dual(one)]

    for a, b in zip(gradients(STYLES[style]), gradients(plain)):
        equal(a, b.detach().numpy())


# ---- what has no rule


class NoRules(Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2


class OldNoRules(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class BothRules(NoRules):
    generate_vmap_rule = True

    @staticmethod
    def vmap(info, in_dims, x):
        return x * 2, 0


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x: func.jvp(NoRules.apply, (x,), (x,)), NotImplementedError, "You must implement the jvp function"),
        (lambda x: func.jvp(OldNoRules.apply, (x,), (x,)), NotImplementedError, "You must implement the jvp function"),
        (lambda x: func.jacfwd(NoRules.apply)(x), RuntimeError, "over NoRules|implement the jvp function"),
        (lambda x: tp.vmap(NoRules.apply)(x), RuntimeError,
         "You tried to vmap over NoRules, but it does not have vmap support. Please override and implement the vmap "
         "staticmethod or set generate_vmap_rule=True"),
        (lambda x: tp.vmap(OldNoRules.apply)(x), RuntimeError,
         r"In order to use an autograd.Function with functorch transforms .* must override the setup_context static"),
        (lambda x: tp.vmap(BothRules.apply)(x), RuntimeError,
         "has both generate_vmap_rule=True and an overridden vmap staticmethod"),
        (lambda x: func.jvp(lambda y: func.jvp(Old.apply, (y, y), (y, y))[1], (x,), (x,)), RuntimeError,
         "override the setup_context"),
        (lambda x: make(lambda x: x).apply(x), TypeError, "positional argument"),
        (lambda x: type("Foo", (Function,), {}).apply(x), NotImplementedError, "implement the forward function"),
        (lambda x: make(lambda ctx, x: x * 2).apply(x).sum().backward(), NotImplementedError,
         "You must implement either the backward or vjp method"),
        (lambda x: make(lambda ctx, x: x, lambda ctx, g: g, vjp=lambda ctx, g: g).apply(x).backward(x), RuntimeError,
         "Implementing both 'backward' and 'vjp' for a custom Function is not allowed"),
    ],
)  # fmt: skip
def test_a_missing_rule_is_an_error(call, error, words):
    with pytest.raises(error, match=words):
        call(leaf())


@pytest.mark.parametrize(
    "result, words",
    [
        (lambda x: x, "Expected the vmap staticmethod to have two returns"),
        (lambda x: (x, x, x), "Expected the vmap staticmethod to have two returns"),
        (lambda x: ((x, x), (0,)), r"returned an incompatible \(output, out_dims\) tuple. Expected out_dims=\(0,\)"),
    ],
)
def test_what_a_vmap_rule_returns_is_checked(result, words):
    class Foo(NoRules):
        @staticmethod
        def vmap(info, in_dims, x):
            return result(x)

    with pytest.raises(RuntimeError, match=words):
        tp.vmap(Foo.apply)(t64(X))


def test_a_vmap_rule_is_told_the_batch():
    seen = []

    class Foo(NoRules):
        @staticmethod
        def vmap(info, in_dims, x):
            seen.append((info.batch_size, info.randomness, in_dims, x.shape))
            return x * 2, 0

    tp.vmap(Foo.apply, in_dims=1, randomness="same")(t64(X))
    assert seen == [(2, "same", (0,), (2, 3))]


def test_a_vmap_rule_may_return_its_batch_anywhere_or_none():
    class Foo(NoRules):
        @staticmethod
        def forward(x):
            return x * 2, x.sum()

        @staticmethod
        def vmap(info, in_dims, x):
            return (x.movedim(0, -1) * 2, x.sum()), (-1, None)

    doubled, total = tp.vmap(Foo.apply)(t64(X))
    equal(doubled, 2 * X)
    equal(total, [X.sum()] * 3)


def test_jvp_reads_what_was_saved_for_backward_where_nothing_was_for_forward():
    class Square(New):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        backward = staticmethod(lambda ctx, g: 2 * ctx.saved_tensors[0] * g)
        jvp = staticmethod(lambda ctx, t: 2 * ctx.saved_tensors[0] * t)

    def slope(x):
        return func.jvp(Square.apply, (x,), (tp.ones_like(x),))[1]

    equal(slope(t64(Y)), 2 * Y)
    equal(func.jvp(slope, (t64(Y),), (t64(Y),))[1], 2 * Y)
    equal(func.grad(lambda x: slope(x).sum())(t64(Y)), [2, 2])
    equal(tp.vmap(slope)(t64(X)), 2 * X)


def test_no_tangent_is_pushed_where_forward_mode_is_off():
    with forward_ad.dual_level():
        d = forward_ad.make_dual(t64(Y), t64(Y))
        with forward_ad._set_fwd_grad_enabled(False):
            y = NoRules.apply(d)
        assert forward_ad.unpack_dual(y).tangent is None
    equal(y, 2 * Y)


def test_what_jvp_returns_is_checked():
    for jvp, error, words in [
        (lambda ctx, t: (t, t), RuntimeError, "jvp returned 2 tangents for 1 outputs"),
        (lambda ctx, t: t.sum(), RuntimeError, r"a tangent of shape \[\] for output 0 of shape \[2\]"),
        (lambda ctx, t: 3.0, TypeError, "jvp must return Tensors or None, got float for output 0"),
    ]:
        Foo = make(lambda ctx, x: x * 2, jvp=jvp)
        with pytest.raises(error, match=words):
            func.jvp(Foo.apply, (t64([1.0, 2.0]),), (t64([1.0, 1.0]),))


def test_a_value_computed_in_forward_has_no_tangent_and_says_so():
    def forward(ctx, x):
        ctx.save_for_backward(x.exp())
        ctx.other = x.exp()
        return x.exp()

    Foo = make(forward, lambda ctx, g: g * ctx.saved_tensors[0], jvp=lambda ctx, t: t * ctx.other)
    x = leaf()
    equal(grad(Foo.apply(x).sum(), x)[0], np.exp([1.0, 2.0]))
    with forward_ad.dual_level():
        y = Foo.apply(forward_ad.make_dual(x, t64([1.0, 1.0])))
        equal(forward_ad.unpack_dual(y).tangent, np.exp([1.0, 2.0]))
        with pytest.raises(RuntimeError, match="computed in forward, where the tangents .* are not seen"):
            grad(y.sum(), x)


# ---- the context


def test_arguments_of_every_kind():
    seen = {}

    class Foo(Function):
        @staticmethod
        def forward(ctx, x, n, flag=True):
            seen["needs"] = ctx.needs_input_grad
            seen["args"] = n, flag
            return x * n

        @staticmethod
        def backward(ctx, g):
            return g * 3, None, None

    x = leaf()
    equal(Foo.apply(x, 3), [3, 6])
    assert seen == {"needs": (True, False), "args": (3, True)}
    y = Foo.apply(x, flag=False, n=5)
    assert seen == {"needs": (True, False, False), "args": (5, False)}
    equal(grad(y.sum(), x)[0], [3, 3])
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        Foo.apply(x, flag=False)
    with pytest.raises(TypeError, match="forward must take 'name' by position, too"):
        make(lambda ctx, x, *, name: x).apply(x, name=3)


def test_keyword_arguments_and_defaults_with_a_context_apart():
    x, y = leaf(), leaf([3.0, 4.0])
    equal(grad(New.apply(x, y=y, scale=2).sum(), x)[0], [12, 32])
    equal(grad(New.apply(x, y).sum(), x)[0], [6, 16])


def test_forward_runs_without_recording_and_backward_as_the_pass():
    modes = []

    def forward(ctx, x):
        modes.append(tp.is_grad_enabled())
        return x * 2

    def backward(ctx, g):
        modes.append(tp.is_grad_enabled())
        return g * 2

    Foo, x = make(forward, backward), leaf()
    grad(Foo.apply(x).sum(), x)
    grad(Foo.apply(x).sum(), x, create_graph=True)
    with tp.no_grad():
        assert not Foo.apply(x).requires_grad
    assert modes == [False, False, False, True, False]
    assert not Foo.apply(x.detach()).requires_grad


def test_several_outputs_and_missing_gradients():
    received = []

    def split(materialize):
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x.long(), 3, x * 5

        def backward(ctx, *grads):
            received.append([None if g is None else g.tolist() for g in grads])
            return grads[0] * 2 if grads[0] is not None else None

        return make(forward, backward)

    x = leaf()
    a, integer, number, b = split(True).apply(x)
    assert a.output_nr == 0 and b.output_nr == 3 and number == 3
    assert not integer.requires_grad and integer.dtype is tp.int64
    a.sum().backward()
    split(False).apply(x)[0].sum().backward()
    assert received == [[[1, 1], [0, 0], None, [0, 0]], [[1, 1], None, None, None]]
    equal(x.grad, [4, 4])


def test_outputs_without_gradient():
    def forward(ctx, x):
        y = x * 3
        ctx.mark_non_differentiable(y)
        return x * 2, y

    a, b = make(forward, lambda ctx, g, h: g * 2 + h).apply(leaf())
    assert a.requires_grad and not b.requires_grad and b.is_leaf


def test_results_that_are_no_tensors_pass_through():
    x = leaf()
    assert make(lambda ctx, x: 3).apply(x) == 3
    assert make(lambda ctx, x: None).apply(x) is None
    (y,) = make(lambda ctx, x: [x * 2]).apply(x)
    assert not y.requires_grad


def test_the_context_is_seen_from_the_node():
    def forward(ctx, x):
        ctx.note = "kept"
        ctx.save_for_backward(x)
        return x * 2

    x = leaf()
    y = make(forward, lambda ctx, g: g * 2).apply(x)
    node = y.grad_fn
    assert isinstance(node, BackwardCFunction) and isinstance(node, autograd.graph.Node)
    assert node.name() == "FooBackward" and "FooBackward" in repr(y)
    assert node.note == "kept" and node.needs_input_grad == (True,)
    assert node.saved_tensors[0] is x
    assert node.next_functions[0][0].variable is x
    with pytest.raises(AttributeError, match="no_such_thing"):
        node.no_such_thing  # noqa: B018
    log = []
    (raw,) = node._raw_saved_tensors
    raw.register_hooks(lambda t: (log.append("pack"), t.detach())[1], lambda t: (log.append("unpack"), t)[1])
    assert node.saved_tensors[0].tolist() == [1, 2] and log == ["pack", "unpack"]


def test_the_node_is_seen_from_the_context():
    seen = []

    def backward(ctx, g):
        seen.append((ctx.name(), ctx.metadata, len(ctx.next_functions)))
        return g

    y = make(lambda ctx, x: x * 2, backward).apply(leaf())
    y.grad_fn.metadata["note"] = 1
    y.sum().backward()
    assert seen == [("FooBackward", {"note": 1}, 1)]


def test_names_of_the_context_do_not_collide_with_the_engine():
    def forward(ctx, x):
        ctx.edges, ctx.order, ctx.saved, ctx.rare, ctx.outputs, ctx.pull = range(6)
        return x * 2

    def backward(ctx, g):
        assert [ctx.edges, ctx.order, ctx.saved, ctx.rare, ctx.outputs, ctx.pull] == list(range(6))
        return g * 2

    x = leaf()
    equal(grad(make(forward, backward).apply(x).sum(), x)[0], [2, 2])


def test_saved_tensors_are_checked_and_released():
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * 2

    def backward(ctx, g):
        x, nothing = ctx.saved_tensors
        return g * 2

    Foo, x = make(forward, backward), leaf()
    a = x * 1
    y = Foo.apply(a).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time.*FooBackward"):
        y.backward()
    y = Foo.apply(a)
    a.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*FooBackward as 'saved tensor 0'"):
        y.sum().backward()
    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 0 is of type int"):
        make(lambda ctx, x: (ctx.save_for_backward(3), x * 2)[1]).apply(x)


def test_a_saved_output_that_is_written_to_is_stale():
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    Foo = make(forward, lambda ctx, g: g * ctx.saved_tensors[0])
    y = Foo.apply(leaf())
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_function_whose_backward_reads_nothing_can_run_again():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    x = leaf()
    y = make(forward, lambda ctx, g: g * 2).apply(x).sum()
    y.backward()
    y.backward()
    equal(x.grad, [4, 4])


# ---- what backward returns


@pytest.mark.parametrize(
    "args, result, error, words",
    [
        (
            (3,),
            lambda g: g,
            RuntimeError,
            r"FooBackward returned an incorrect number of gradients \(expected 2, got 1\)",
        ),
        ((), lambda g: (g, g), RuntimeError, r"incorrect number of gradients \(expected 1, got 2\)"),
        ((3,), lambda g: (g, g), RuntimeError, "a gradient different than None at position 2, but the corresponding"),
        ((), lambda g: 3.0, RuntimeError, r"expected Variable or None \(got float\)"),
        (
            (),
            lambda g: tp.ones(3),
            RuntimeError,
            r"gradient at index 0 - got \[3\] but expected shape compatible with \[2\]",
        ),
        ((), lambda g: g.sum(), RuntimeError, r"got \[\] but expected shape compatible with \[2\]"),
        ((), lambda g: g * 1j, RuntimeError, "expected a real one, got tensorplay.complex128"),
    ],
)
def test_what_backward_returns_is_checked(args, result, error, words):
    x = leaf()
    y = make(lambda ctx, x, *rest: x * 2, lambda ctx, g: result(g)).apply(x, *args)
    with pytest.raises(error, match=words):
        y.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("create_graph", [False, True])
def test_what_backward_returns_is_fitted(create_graph):
    x = leaf()
    for result, expected in [
        (lambda g: (g, None, None), [1, 1]),
        (lambda g: tp.ones(4, 2), [4, 4]),
        (lambda g: tp.ones(2, dtype=tp.int64), [1, 1]),
    ]:
        y = make(lambda ctx, x: x * 2, lambda ctx, g, result=result: result(g)).apply(x)
        (found,) = grad(y.sum(), x, create_graph=create_graph)
        assert found.dtype is tp.float64
        equal(found, expected)


def test_gradients_of_arguments_that_need_none_are_dropped():
    x, c = leaf(), t64([3.0, 4.0])
    y = make(lambda ctx, x, c: x * c, lambda ctx, g: (g * 2, g * 3)).apply(x, c)
    y.sum().backward()
    assert c.grad is None
    equal(x.grad, [2, 2])


# ---- once differentiable


def test_once_differentiable():
    x = leaf()
    Foo = make(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1],
               once_differentiable(lambda ctx, g: g * 2 * ctx.saved_tensors[0].detach()))  # fmt: skip
    equal(grad(Foo.apply(x).sum(), x)[0], [2, 4])
    (g,) = grad(Foo.apply(x).sum(), x, create_graph=True)
    equal(g, [2, 4])
    assert g.requires_grad
    with pytest.raises(RuntimeError, match="differentiate twice a function that was marked with @once_differentiable"):
        grad(g.sum(), x)


# ---- views, arguments returned, writes


FORBIDDEN = "This view was created inside a custom Function"


def test_an_argument_returned_as_it_is():
    x = leaf()
    y = make(lambda ctx, x: x, lambda ctx, g: g * 3).apply(x)
    assert y is not x and y._base is x and x.is_leaf and y.grad_fn.name() == "FooBackward"
    equal(grad(y.sum(), x)[0], [3, 3])
    with pytest.raises(RuntimeError, match=FORBIDDEN):
        y.mul_(2)
    plain_in, plain_out = t64([1.0, 2.0]), None
    plain_out = make(lambda ctx, x: x, lambda ctx, g: g).apply(plain_in)
    plain_out.mul_(2)
    equal(plain_in, [2, 4])


def test_a_view_of_an_argument():
    x = leaf()
    a = x * 1
    Foo = make(lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2) * 3)
    y = Foo.apply(a)
    assert y._is_view()
    equal(grad(y.sum(), x, retain_graph=True)[0], [3, 3])
    with pytest.raises(RuntimeError, match=FORBIDDEN):
        y.mul_(2)
    with pytest.raises(RuntimeError, match=FORBIDDEN):
        y.view(2).mul_(2)
    a.mul_(2)
    with pytest.raises(RuntimeError, match="another view of its base has been modified inplace. " + FORBIDDEN):
        y.sum().backward()


def test_several_views():
    a = leaf() * 1
    first, second = make(lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: tp.cat([g, h]) * 3).apply(a)
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        first.mul_(2)
    equal(second, [2])


def test_a_tensor_of_somebody_else_that_is_returned_stays_his():
    w, x = leaf([3.0, 4.0]), leaf()
    y = make(lambda ctx, x: w, lambda ctx, g: g * 3).apply(x)
    assert y is not w and w.is_leaf
    gx, gw = grad(y.sum(), [x, w], allow_unused=True)
    equal(gx, [3, 3])
    assert gw is None


def test_an_output_returned_twice_counts_twice():
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = leaf()
    a, b = make(forward, lambda ctx, g, h: g * 2 + h * 20).apply(x)
    equal(grad((a + b).sum(), x)[0], [22, 22])


class Doubles(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_an_argument_that_is_written_to():
    x = leaf()
    a = x * 3
    before = a.grad_fn
    y = Doubles.apply(a)
    assert y is a and a.grad_fn.name() == "DoublesBackward" and a.grad_fn.next_functions[0][0] is before
    equal(a, [6, 12])
    equal(grad((a * a).sum(), x)[0], [72, 144])


def test_a_view_that_is_written_to():
    x = leaf()
    a = x * 3
    v = a[:1]
    other = a.view(2, 1)
    assert Doubles.apply(v) is v
    equal(grad((a * a).sum(), x, retain_graph=True)[0], [72, 36])
    equal(grad((v * v).sum(), x, retain_graph=True)[0], [72, 0])
    equal(grad((other * other).sum(), x)[0], [72, 36])


def test_writes_are_noted():
    a = leaf() * 1
    y = a * a
    Doubles.apply(a)
    assert a._version >= 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_written_argument_may_be_saved():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.exp_()
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf()
    (g,) = grad(Exp.apply(x * 1).sum(), x, create_graph=True)
    equal(g, np.exp([1.0, 2.0]))
    equal(grad(g.sum(), x)[0], np.exp([1.0, 2.0]))


@pytest.mark.parametrize(
    "forward, argument, error, words",
    [
        (Doubles.forward, leaf, RuntimeError, "a leaf Variable that requires grad has been used in an"),
        (Doubles.forward, lambda: leaf()[:1], RuntimeError, "a leaf Variable that requires grad"),
        (lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2), x * 1)[2], lambda: leaf() * 1, RuntimeError, "not returned"),
        (lambda ctx, x: (ctx.mark_dirty(x), (x.mul_(2), x * 3))[1], lambda: (leaf() * 1)[:1], RuntimeError,
         "your Function cannot return more than one Tensor"),
        (lambda ctx, x: (ctx.mark_dirty(3), x * 1)[1], leaf, RuntimeError, "mark_dirty can only accept variables"),
        (lambda ctx, x: (ctx.mark_non_differentiable(3), x * 1)[1], leaf, RuntimeError, "mark_non_differentiable can"),
    ],
)  # fmt: skip
def test_declarations_are_checked(forward, argument, error, words):
    with pytest.raises(error, match=words):
        make(forward, lambda ctx, *g: g[0]).apply(argument())


def test_a_declared_write_to_what_is_no_argument_warns():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match=r"ctx.mark_dirty\(\) received a tensor that was not an input"):
        make(forward, lambda ctx, g: g).apply(leaf())


def test_writes_under_forward_mode():
    def forward(x):
        return x.mul_(2)

    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    Foo = make(forward, lambda ctx, g: g * 2, setup_context=setup_context, jvp=lambda ctx, t: t * 2)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(t64([1.0, 2.0]), t64([1.0, -1.0])) * 1
        assert Foo.apply(d) is d
        primal, tangent = forward_ad.unpack_dual(d)
        equal(primal, [2, 4])
        equal(tangent, [2, -2])


# ---- memory


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def keeps_attribute(ctx, x):
    ctx.y = x.exp()
    return ctx.y


def keeps_saved(ctx, x):
    y = x.exp()
    ctx.save_for_backward(y)
    return y


def keeps_two(ctx, x):
    ctx.a, ctx.b = x.exp(), x * 2
    return ctx.a, ctx.b


@pytest.mark.parametrize("forward", [keeps_attribute, keeps_saved, keeps_two])
@pytest.mark.parametrize("use", ["dropped", "run", "differentiated twice"])
def test_a_context_that_keeps_outputs_is_freed_by_counting_references(forward, use, no_collector):
    contexts = []

    def noted(ctx, x):
        contexts.append(weakref.ref(ctx))
        return forward(ctx, x)

    def backward(ctx, g, h=None):
        y = ctx.saved_tensors[0] if forward is keeps_saved else ctx.a if forward is keeps_two else ctx.y
        return g * y

    x = leaf()
    out = make(noted, backward).apply(x)
    y = out[0] if isinstance(out, tuple) else out
    if use == "run":
        y.sum().backward()
        equal(x.grad, np.exp([1.0, 2.0]))
    elif use == "differentiated twice":
        (g,) = grad(y.sum(), x, create_graph=True)
        equal(grad(g.sum(), x)[0], np.exp([1.0, 2.0]))
        del g
    node = weakref.ref(y.grad_fn)
    del y, out
    assert contexts[0]() is None and node() is None


def test_vmap_over_a_function_keeps_nothing(no_collector):
    tp.vmap(New.apply)(t64(X), t64(X))
    x = t64(X).requires_grad_()
    y = tp.vmap(New.apply)(x, x)
    node = weakref.ref(y.grad_fn)
    y.sum().backward()
    del y
    assert node() is None


# ---- other forms


def test_functions_are_not_instantiated():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Old()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        instance(leaf())
    with pytest.warns(DeprecationWarning):
        assert InplaceFunction(inplace=True).inplace


def test_the_context_offers_what_a_function_inherits():
    assert issubclass(Function, FunctionCtx)
    with pytest.warns(FutureWarning, match="mark_shared_storage is deprecated"):
        FunctionCtx().mark_shared_storage()


def test_vjp_is_another_name_of_backward():
    x = leaf()
    y = make(lambda ctx, x: x * 2, vjp=lambda ctx, g: g * 7).apply(x)
    equal(grad(y.sum(), x)[0], [7, 7])


def test_nested_arguments_and_results():
    class Mix(NestedIOFunction):
        @staticmethod
        def forward_extended(ctx, pair, scale):
            ctx.scale = scale
            return {"sum": pair[0] + pair[1], "rest": [pair[0] * scale, None]}

        @staticmethod
        def backward_extended(ctx, grads):
            return [grads["sum"] + grads["rest"][0] * ctx.scale, grads["sum"]], None

    a, b = leaf(), leaf([3.0, 4.0])
    out = Mix.apply([a, b], 10)
    assert out["rest"][1] is None
    ga, gb = grad(out["sum"].sum() + out["rest"][0].sum(), [a, b])
    equal(ga, [11, 11])
    equal(gb, [1, 1])
    inside = tp.vmap(lambda x: x * Mix.apply([a, b], 10)["sum"])(t64(X))  # the arguments are no batch
    equal(inside, X * np.array([4.0, 6.0]))


def test_functions_inside_functions():
    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            with tp.enable_grad():
                ctx.inner = x.detach().requires_grad_()
                ctx.result = Old.apply(ctx.inner, ctx.inner)
            return ctx.result.detach()

        @staticmethod
        def backward(ctx, g):
            ctx.result.backward(g)
            return ctx.inner.grad

    x = leaf()
    equal(grad(Outer.apply(x).sum(), x)[0], [3, 12])


def test_random_numbers_in_a_generated_vmap_rule_are_refused():
    class Noise(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x + tp.rand(2, dtype=tp.float64)

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    with pytest.raises(RuntimeError, match="randomness"):
        tp.vmap(Noise.apply)(t64(X))


def test_the_documentation_names_every_method():
    for name in ("forward", "setup_context", "backward", "jvp", "vmap", "apply"):
        assert getattr(Function, name).__doc__
    assert re.search(r">>> class Exp\(tp.autograd.Function\)", Function.__doc__)
