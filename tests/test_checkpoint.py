"""Checkpoints: the same gradients from less memory."""

import functools
import gc
import threading
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.autograd.graph import disable_saved_tensors_hooks, saved_tensors_hooks
from tensorplay.core.interception import Interception
from tensorplay.core.primitive import PRIMITIVES
from tensorplay.utils import checkpoint as module
from tensorplay.utils.checkpoint import (
    CheckpointError,
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

saving = functools.partial(checkpoint, use_reentrant=False)


def saved(f):
    """The function, checkpointed."""
    return lambda *args: saving(f, *args)


def leaf(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return tp.tensor(values, requires_grad=True)


def constant(*shape, seed=0):
    return leaf(*shape, seed=seed).detach()


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12, atol=1e-14)


class Counted:
    """A function that counts its calls, and how often it came to its end."""

    def __init__(self, f):
        self.f, self.calls, self.ends = f, 0, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        out = self.f(*args, **kwargs)
        self.ends += 1
        return out


def in_place(x):
    y = x * 2
    y.add_(1)
    z = y * y
    w = tp.zeros(4, dtype=tp.float64)
    w[1:3] = z[:2].sin()
    return w * z


def penalised(x):
    (slope,) = autograd.grad((x**3).sum(), x, create_graph=True)
    return (slope * x).sin()


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, y := x**3)
        return y

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return 3 * x * x * g


FUNCTIONS = {
    "chain": lambda x: (x.sin() * x.exp()).tanh(),
    "views": lambda x: x.reshape(2, 2).T.exp()[0].repeat(2),
    "in place": in_place,
    "several results": lambda x: x.sort()[0].cumsum(0) * x.softmax(0),
    "a pass inside": penalised,
    "a function inside": lambda x: Cube.apply(x).sin() * Cube.apply(x.cos()),
    "vmap inside": lambda x: tp.vmap(lambda a: (a * x).sin().sum())(x),
    "grad inside": lambda x: tp.vmap(func.grad(lambda a: a.sin() * a * x.sum()))(x),
    "jvp inside": lambda x: func.jvp(lambda a: a.sin() * x, (x,), (x.cos(),))[1],
    "hessian inside": lambda x: func.hessian(lambda a: (a.sin() * x).prod())(x).sum(0),
    "nested": lambda x: saving(lambda y: saving(tp.sin, y * x).exp(), x.tanh()) * x,
    "without history": lambda x: x.detach().sin() * x * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_the_function(name):
    f = FUNCTIONS[name]
    x = leaf(4)
    close(saving(f, x), f(x))
    weights = constant(4, seed=1)
    loss = lambda f, x: (f(x) * weights).sum()
    saving(loss, f, x).backward()
    close(x.grad, autograd.grad(loss(f, x), x)[0])
    (first,) = autograd.grad(loss(saved(f), x), x, create_graph=True)
    (second,) = autograd.grad(first.sin().sum(), x)
    (plain,) = autograd.grad(loss(f, x), x, create_graph=True)
    close(second, autograd.grad(plain.sin().sum(), x)[0])


TRANSFORMS = {
    "grad": lambda f: lambda X: func.grad(lambda x: f(x).sum())(X[0]),
    "vjp": lambda f: lambda X: func.vjp(f, X[0])[1](X[1])[0],
    "jvp": lambda f: lambda X: func.jvp(f, (X[0],), (X[1],))[1],
    "vmap": lambda f: tp.vmap(f),
    "linearize": lambda f: lambda X: func.linearize(f, X[0])[1](X[1]),
    "jacrev": lambda f: lambda X: func.jacrev(f)(X[0]),
    "jacfwd": lambda f: lambda X: func.jacfwd(f)(X[0]),
    "vmap(grad)": lambda f: tp.vmap(func.grad(lambda x: f(x).sum())),
    "grad(vmap)": lambda f: func.grad(lambda X: tp.vmap(f)(X).sin().sum()),
    "grad(grad)": lambda f: lambda X: func.grad(lambda x: func.grad(lambda y: f(y).sum())(x).sin().sum())(X[0]),
    "grad(vmap(grad))": lambda f: func.grad(lambda X: tp.vmap(func.grad(lambda x: f(x).sum()))(X).sin().sum()),
    "grad(jvp)": lambda f: lambda X: func.grad(lambda x: func.jvp(f, (x,), (X[1],))[1].sin().sum())(X[0]),
    "jvp(grad)": lambda f: lambda X: func.jvp(func.grad(lambda x: f(x).sum()), (X[0],), (X[1],))[1],
    "vmap(hessian)": lambda f: tp.vmap(func.hessian(lambda x: f(x).sum())),
    "jacrev(jacrev)": lambda f: lambda X: func.jacrev(func.jacrev(f))(X[0]),
    "grad(laplacian)": lambda f: lambda X: func.grad(lambda x: func.laplacian(lambda y: f(y).sum(), x)[2])(X[0]),
    "laplacian(grad)": lambda f: lambda X: func.laplacian(func.grad(lambda x: f(x).sum()), X[0])[2],
    "grad(vmap(jvp))": lambda f: func.grad(
        lambda X: tp.vmap(lambda x: func.jvp(f, (x,), (x.cos(),))[1])(X).sin().sum()
    ),
}


@pytest.mark.parametrize("name", ["chain", "in place", "views", "nested", "grad inside", "vmap inside"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_outside(transform, name):
    f, X = FUNCTIONS[name], constant(3, 4)
    close(TRANSFORMS[transform](saved(f))(X), TRANSFORMS[transform](f)(X))


def test_tensors_of_an_outer_transform_are_closed_over():
    X = constant(3, 4)
    f = lambda run: lambda x: func.grad(lambda w: run(lambda w: (w * x).sin() * x, w).sum())(x)
    plain = lambda g, x: g(x)
    close(tp.vmap(f(saving))(X), tp.vmap(f(plain))(X))
    total = lambda run: lambda X: tp.vmap(f(run))(X).cos().sum()
    close(func.grad(total(saving))(X), func.grad(total(plain))(X))


def test_a_level_of_forward_mode_that_has_ended_lives_again():
    x, v = leaf(4), constant(4, seed=1)

    def tangent(run):
        with autograd.forward_ad.dual_level():
            dual = autograd.forward_ad.make_dual(x, v)
            return autograd.forward_ad.unpack_dual(run(FUNCTIONS["chain"], dual)).tangent

    close(autograd.grad(tangent(saving).sum(), x)[0], autograd.grad(tangent(lambda f, x: f(x)).sum(), x)[0])


def test_a_batch_of_cotangents_in_one_pass():
    x, f = leaf(4), FUNCTIONS["chain"]
    cotangents = tp.eye(4, dtype=tp.float64)
    (rows,) = autograd.grad(saving(f, x), x, cotangents, is_grads_batched=True)
    close(rows, func.jacrev(f)(x))


# ---- how often the function runs


def test_the_function_runs_once_more_in_each_pass():
    f, x = Counted(FUNCTIONS["chain"]), leaf(4)
    y = saving(f, x).sum()
    assert f.calls == 1
    y.backward(retain_graph=True)
    assert f.calls == 2
    y.backward()
    assert f.calls == 3
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    assert f.calls == 3


def test_it_does_not_run_again_for_what_nobody_asks_for():
    f, x, z = Counted(FUNCTIONS["chain"]), leaf(4), leaf(4)
    y = (saving(f, x) * z.exp()).sum()
    autograd.grad(y, z, retain_graph=True)
    assert f.calls == 1
    with tp.no_grad():
        saving(f, x)
    with tp.inference_mode():
        saving(f, x)
    assert f.calls == 3
    del y
    assert not saving(f, x.detach()).requires_grad


def test_a_node_shows_what_it_would_have_kept():
    f, x = Counted(lambda x: x.exp().sin()), leaf(4)
    y = saving(f, x)
    close(y.grad_fn._saved_self, x.exp())
    assert f.calls == 2
    y.sum().backward()
    assert f.calls == 3


def test_running_again_stops_where_all_is_known():
    x = leaf(4)

    def ends(**options):
        f = Counted(lambda x: x.exp() + 1)
        y = saving(f, x, **options)
        y.sum().backward()
        assert f.calls == 2
        return f.ends

    assert ends() == 1
    assert ends(early_stop=False) == 2
    with set_checkpoint_early_stop(False):
        assert ends(early_stop=True) == 2
    with set_checkpoint_early_stop(True):
        assert ends(early_stop=False) == 1


def test_a_handler_of_exceptions_does_not_see_the_stop():
    x, seen = leaf(4), []

    def f(x):
        try:
            return x.exp() + 1
        except Exception as error:
            seen.append(error)
            raise

    saving(f, x).sum().backward()
    close(x.grad, x.exp())
    assert not seen


def test_nested_checkpoints_run_the_inner_function_once_for_each_level():
    inner, x = Counted(lambda x: x.sin().exp()), leaf(4)
    outer = Counted(lambda x: saving(inner, saving(inner, x)))
    y = saving(outer, x)
    assert (outer.calls, inner.calls) == (1, 2)
    y.sum().backward()
    # outer once more, up to the arguments of its second inner call; then each inner call once more
    assert (outer.calls, inner.calls) == (2, 5)
    close(x.grad, autograd.grad(x.sin().exp().sin().exp().sum(), x)[0])


def test_passes_inside_do_not_run_it_again():
    f, x = Counted(FUNCTIONS["a pass inside"]), leaf(4)
    y = saving(f, x)
    assert f.calls == 1
    y.sum().backward()
    assert f.calls == 2


# ---- memory


def blocks(n):
    def block(x):
        for _ in range(6):
            x = x.sin().exp().tanh()
        return x

    return [block] * n


def peak(run, x):
    gc.collect()
    tracemalloc.start()
    try:
        run(x).sum().backward()
        return tracemalloc.get_traced_memory()[1] / x.nbytes
    finally:
        tracemalloc.stop()
        x.grad = None


def plainly(x):
    for block in blocks(8):
        x = block(x)
    return x


@pytest.mark.parametrize("reentrant", [False, True])
def test_less_memory(reentrant):
    x = leaf(20_000)
    run = lambda x: checkpoint_sequential(blocks(8), 8, x, use_reentrant=reentrant)
    whole, parts = peak(plainly, x), peak(run, x)
    assert whole > 8 * 12  # two arrays for three operators
    assert parts < 8 + 12 + 8  # the arguments of eight blocks, what one block saves, and what is at work


def test_nested_checkpoints_need_less_still():
    x = leaf(20_000)

    def nested(fs):
        if len(fs) == 1:
            return fs[0]
        left, right = nested(fs[: len(fs) // 2]), nested(fs[len(fs) // 2 :])
        return lambda x: saving(right, saving(left, x))

    flat = peak(lambda x: checkpoint_sequential(blocks(16), 16, x, use_reentrant=False), x)
    assert peak(nested(blocks(16)), x) < flat - 5


def test_nothing_is_left():
    x = leaf(4)
    argument = (x * 1).detach().requires_grad_()
    array = weakref.ref(argument._data)
    y = saving(lambda a: a.exp().sin(), argument * 1).sum()
    gc.disable()
    try:
        y.backward()
        argument = None
        assert array() is None
        z = leaf(4) * 1
        array = weakref.ref(z._data)
        y = saving(lambda a: saving(tp.sin, a.exp()), z)
        del y, z
        assert array() is None
    finally:
        gc.enable()


# ---- random numbers


def noisy(x):
    return (tp.nn.functional.dropout(x, 0.5) * tp.rand(1000)).exp()


def test_random_numbers_are_repeated_and_the_generator_goes_on():
    x = tp.ones(1000, requires_grad=True)
    tp.manual_seed(1)
    y = noisy(x)
    (expected,) = autograd.grad(y.sum(), x)
    following = tp.rand(3)
    tp.manual_seed(1)
    z = saving(noisy, x)
    close(z, y)
    z.sum().backward()
    close(x.grad, expected)
    close(tp.rand(3), following)


def test_random_numbers_are_drawn_anew_if_wanted():
    x = tp.ones(1000, requires_grad=True)
    y = saving(noisy, x, preserve_rng_state=False)
    (g,) = autograd.grad(y.sum(), x)
    assert not np.array_equal(g.numpy() != 0, (y != 1).numpy())


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_random_numbers_under_vmap(randomness):
    X = tp.ones(3, 1000)

    def gradient(run):
        tp.manual_seed(1)
        return func.grad(lambda X: tp.vmap(run, randomness=randomness)(X).sum())(X)

    close(gradient(saved(noisy)), gradient(noisy))


# ---- arguments


def test_arguments_of_any_kind():
    x, y = leaf(3), leaf(3, seed=1)
    index = tp.tensor([2, 0])

    def f(pair, *, table, scale, index, flag=None):
        assert flag is None
        return {"out": (pair[0] * table["y"] * scale)[index], "pair": pair}

    def run(call):
        out = call(f, [x * 1, 3], table={"y": y.exp()}, scale=2.0, index=index)
        assert out["pair"][1] == 3
        return autograd.grad(out["out"].sum(), (x, y))

    for a, b in zip(run(saving), run(lambda f, *args, **kwargs: f(*args, **kwargs)), strict=True):
        close(a, b)


def test_what_is_closed_over_gets_its_gradient():
    w, x = leaf(3), constant(3, seed=1)
    saving(lambda x: (x * w).sin(), x).sum().backward()
    close(w.grad, x * (x * w).cos())


def test_hooks_inside_run():
    x, seen = leaf(3), []

    def f(x):
        y = x.sin()
        y.register_hook(lambda g: seen.append(g) or g * 2)
        return y.exp()

    saving(f, x).sum().backward()
    (seen,) = seen
    close(seen, x.sin().exp())
    close(x.grad, 2 * x.sin().exp() * x.cos())


def test_saved_tensors_hooks_outside_keep_the_arguments_and_inside_keep_what_is_saved():
    x, packed = leaf(3), []

    def pack(t):
        packed.append(t.shape)
        return t.detach().numpy().copy()

    with saved_tensors_hooks(pack, tp.from_numpy):
        y = saving(lambda x: x.exp().sin() * x, x)
    assert packed == [(3,)]
    (g,) = autograd.grad(y.sum(), x)

    def inside(x):
        with saved_tensors_hooks(pack, tp.from_numpy):
            return x.exp().sin() * x

    close(autograd.grad(saving(inside, x).sum(), x)[0], g)
    close(g, x.exp().sin() + x * x.exp() * x.exp().cos())
    with disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        saving(tp.sin, x)


def test_a_pass_in_another_thread():
    x = leaf(3)
    y = saving(lambda x: x.exp().sin(), x).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    close(x.grad, x.exp() * x.exp().cos())
    assert tp.is_grad_enabled() and not tp.core.state.state.saved_tensors_hooks


def test_an_exception_leaves_nothing_behind():
    x, fail = leaf(3), [True]

    def f(x):
        y = x.exp().sin()
        if fail[0]:
            raise KeyError("mine")
        return y

    with pytest.raises(KeyError, match="mine"):
        saving(f, x)
    fail[0] = False
    y = saving(f, x, early_stop=False)
    fail[0] = True
    rng = tp.get_rng_state()
    with pytest.raises(KeyError, match="mine"):
        y.sum().backward()
    state = tp.core.state.state
    assert (tp.get_rng_state() == rng).all() and state.recording is True and not state.saved_tensors_hooks


# ---- functions that do not do the same again


class Changing:
    """A function that changes from its first call to its second."""

    def __init__(self, *functions):
        self.functions = iter(functions)

    def __call__(self, x):
        return next(self.functions)(x)


@pytest.mark.parametrize(
    "functions, options, message",
    [
        ([lambda x: x.sin().exp(), lambda x: x.sin()], {},
         r"A different number of tensors was saved[\s\S]*forward: 2\n.*recomputation: 1"),
        ([lambda x: x.sin(), lambda x: x.sin().exp()], {"early_stop": False},
         "trying to save more tensors during recomputation"),
        ([lambda x: x.float().sin(), lambda x: x.sin()], {},
         r"different metadata[\s\S]*position 0:\nsaved.*\(3,\).*float32[\s\S]*recomputed.*float64.*debug=True|"
         r"different metadata[\s\S]*position 0:\nsaved.*\(3,\).*float32[\s\S]*recomputed.*float64[\s\S]*debug=True"),
        ([lambda x: x.sin(), lambda x: x[:2].sin()], {"debug": True},
         r"different metadata[\s\S]*Saved in the forward pass by:[\s\S]*x\.sin\(\)[\s\S]*Recomputed by:[\s\S]*x\[:2\]"),
        ([lambda x: x.sin().exp(), lambda x: x.sin()], {"debug": True},
         r"A different number[\s\S]*still needed:\n0: [\s\S]*1: [\s\S]*x\.sin\(\)\.exp\(\)"),
    ],
)  # fmt: skip
def test_a_function_that_changes_is_found_out(functions, options, message):
    y = saving(Changing(*functions), leaf(3), **options)
    with pytest.raises(CheckpointError, match=message):
        y.sum().backward()


def test_the_check_can_be_left_out():
    x = leaf(3)
    f = Changing(lambda x: x.float().sin(), lambda x: x.sin())
    saving(f, x, determinism_check="none").sum().backward()
    assert tp.allclose(x.grad, x.cos(), atol=1e-6)  # in the precision of what was computed first


def test_debugging_can_be_set_from_outside():
    with set_checkpoint_debug_enabled(True):
        y = saving(Changing(tp.sin, lambda x: x[:2].sin()), leaf(3))
    with pytest.raises(CheckpointError, match="Saved in the forward pass by"):
        y.sum().backward()


@pytest.mark.parametrize("what", ["argument", "closed over", "by itself"])
def test_what_the_function_reads_must_not_change(what):
    a, w = leaf(3) * 1, constant(3)
    f = lambda x: (a.detach().mul_(1) if what == "by itself" else x) * w * x.sin()
    y = saving(f, a).sum()
    if what == "argument":
        a.detach().mul_(2)
    elif what == "closed over":
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_what_is_computed_again_must_not_be_spoiled_inside():
    def f(x):
        y = x * 1
        z = y.sin()
        y.mul_(2)
        return z.exp() * y

    y = saving(f, leaf(3)).sum()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"determinism_check": "perhaps"}, ValueError, r"one of \['default', 'none'\], but got perhaps"),
        ({"use_reentrant": True, "scale": 3}, ValueError, "Unexpected keyword arguments: scale"),
        ({"use_reentrant": True, "debug": True}, ValueError, "only supported when use_reentrant=False"),
        ({"use_reentrant": True, "context_fn": lambda: None}, ValueError, "only supported when use_reentrant=False"),
        ({"scale": 3}, TypeError, "unexpected keyword argument 'scale'"),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        checkpoint(lambda x: x, leaf(3), **{"use_reentrant": False} | options)


# ---- contexts


def test_contexts_around_both_calls():
    log = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append(self.name)

        def __exit__(self, *exc):
            log.append(f"end of {self.name}")

    x = leaf(3)
    y = saving(tp.sin, x, context_fn=lambda: (Note("first"), Note("second"))).sum()
    assert log == ["first", "end of first"]
    y.backward()
    assert log[2:] == ["second", "end of second"]


def calls_of(name, run):
    """How often a primitive is computed."""
    counted = []

    def count(call, args, kwargs):
        counted.append(1)
        return call(*args, **kwargs)

    with Interception(dict.fromkeys(PRIMITIVES[name].forms.values(), count)):
        run()
    return len(counted)


def layers(w):
    return ((w @ w).sin() @ w).exp().sum()


def keep_products(ctx, op, *args, **kwargs):
    assert not ctx.is_recompute and isinstance(ctx.op_output, tp.Tensor) and isinstance(args[0], tp.Tensor)
    return CheckpointPolicy.MUST_SAVE if op.name == "mm" else CheckpointPolicy.PREFER_RECOMPUTE


@pytest.mark.parametrize(
    "policy, products, sines",
    [
        (keep_products, 2, 2), (["mm"], 2, 2), ([tp.matmul], 2, 2), ([PRIMITIVES["mm"], tp.sin], 2, 1),
        ([tp.sin], 4, 1), ([], 4, 2), (lambda ctx, op, *args, **kwargs: True, 2, 1),
        (lambda ctx, op, *args, **kwargs: CheckpointPolicy.PREFER_CPU_OFFLOAD, 2, 1),
    ],
)  # fmt: skip
def test_results_that_are_kept_are_not_computed_again(policy, products, sines):
    w = leaf(3, 3)
    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    (expected,) = autograd.grad(layers(w), w)

    def run():
        y = saving(layers, w, context_fn=contexts)
        close(autograd.grad(y, w, retain_graph=True)[0], expected)

    backward_products = calls_of("mm", lambda: autograd.grad(layers(w), w)) - 2
    assert calls_of("mm", run) == products + backward_products
    assert calls_of("sin", run) == sines
    y = saving(layers, w, context_fn=contexts)
    for _ in range(2):
        close(autograd.grad(y, w, retain_graph=True)[0], expected)


def test_a_profile_shows_what_is_computed_again():
    w = leaf(3, 3)
    for kept, sines in (([], 2), (["sin"], 1)):
        contexts = functools.partial(create_selective_checkpoint_contexts, kept)
        with tp.profiler.profile() as prof:
            saving(layers, w, context_fn=contexts).backward()
        assert sum(event.name == "sin" for event in prof.events()) == sines


def test_selective_checkpoints_nest():
    w = leaf(3, 3)
    contexts = functools.partial(create_selective_checkpoint_contexts, ["mm"])
    inner = lambda w: saving(layers, w, context_fn=contexts)
    outer = lambda w: inner((w @ w).tanh()) * inner(w.exp())
    y = saving(outer, w, context_fn=contexts)
    plain = lambda w: layers((w @ w).tanh()) * layers(w.exp())
    close(autograd.grad(y, w)[0], autograd.grad(plain(w), w)[0])


@pytest.mark.parametrize("transform", ["vmap(grad)", "grad(vmap)", "jvp", "grad(grad)", "jvp(grad)"])
@pytest.mark.parametrize("name", ["chain", "in place", "several results", "grad inside"])
def test_selective_checkpoints_under_transforms(transform, name):
    f, X = FUNCTIONS[name], constant(3, 4)
    kept = ["exp", "sin", "sub", "sort", "softmax"] + ["mul"] * (name != "in place")
    contexts = functools.partial(create_selective_checkpoint_contexts, kept)
    run = lambda x: saving(f, x, context_fn=contexts)
    close(TRANSFORMS[transform](run)(X), TRANSFORMS[transform](f)(X))


def test_mixed_dtypes_and_scalars_in_selective_checkpoints():
    x = leaf(3)
    f = lambda x: ((2.0 - x) * tp.tensor([1, 2, 3]) + 1 / x).exp() * tp.cat([x, x])[:3]
    contexts = functools.partial(create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: True)
    close(autograd.grad(saving(f, x, context_fn=contexts).sum(), x)[0], autograd.grad(f(x).sum(), x)[0])


def test_random_operators_draw_again():
    x = tp.ones(1000, requires_grad=True)
    f = lambda x: tp.poisson(x * 3) * tp.nn.functional.dropout(x) * x
    contexts = functools.partial(create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: True)
    tp.manual_seed(3)
    (expected,) = autograd.grad(f(x).sum(), x)
    tp.manual_seed(3)
    close(autograd.grad(saving(f, x, context_fn=contexts).sum(), x)[0], expected)


def test_results_that_are_kept_must_not_be_written_to():
    x = leaf(3)

    def f(x):
        y = x.exp()
        z = y * 2
        y.detach().zero_()
        return z.sin()

    for mutable in (False, True):
        contexts = functools.partial(create_selective_checkpoint_contexts, ["exp"], mutable)
        y = saving(f, x, context_fn=contexts).sum()
        if mutable:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.backward()
        else:
            with pytest.raises(RuntimeError, match="cached during selective activation checkpoint has been mutated"):
                y.backward()


@pytest.mark.parametrize(
    "argument, error, message",
    [
        (3, TypeError, "either a function or a list of ops"),
        ([3], ValueError, "got: 3 of type"),
        (["flurb"], ValueError, "'flurb'"),
        ([len], ValueError, "built-in function len"),
    ],
)
def test_what_is_no_policy(argument, error, message):
    with pytest.raises(error, match=message):
        create_selective_checkpoint_contexts(argument)


def test_a_policy_returns_a_policy():
    contexts = functools.partial(create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: "keep")
    with pytest.raises(TypeError, match="must return a CheckpointPolicy, got str"):
        saving(tp.sin, leaf(3), context_fn=contexts)
    assert tp.sin.__code__.co_filename != "<tensorplay interception>"


# ---- the whole function as one node


def test_reentrant():
    f, x, w = Counted(lambda x, k, w: ((x * w).sin() * k, k)), leaf(3), leaf(3, seed=1)
    y, k = checkpoint(f, x * 1, 2.0, w, use_reentrant=True)
    assert type(y.grad_fn).__name__ == "CheckpointFunctionBackward" and k == 2.0
    y.sum().backward()
    assert f.calls == 2
    close(x.grad, 2 * w * (x * w).cos())
    close(w.grad, 2 * x * (x * w).cos())


def test_reentrant_reaches_what_is_closed_over_and_nests():
    x, w = leaf(3), leaf(3, seed=1)
    inner = lambda x: checkpoint(lambda x: (x * w).sin(), x, use_reentrant=True)
    checkpoint(lambda x: inner(x).exp(), x, use_reentrant=True).sum().backward()
    y = (x * w).sin()
    close(x.grad, w * (x * w).cos() * y.exp())
    close(w.grad, x * (x * w).cos() * y.exp())


def test_reentrant_repeats_random_numbers():
    x = tp.ones(1000, requires_grad=True)
    y = checkpoint(noisy, x, use_reentrant=True)
    y.sum().backward()
    assert np.array_equal(x.grad.numpy() != 0, (y != 1).detach().numpy())


@pytest.mark.parametrize(
    "run, message",
    [
        (lambda y, x: autograd.grad(y.sum(), x), "incompatible with .grad"),
        (lambda y, x: y.sum().backward(inputs=[x]), "passing an `inputs` parameter"),
        (lambda y, x: y.sum().backward(create_graph=True), "create_graph"),
    ],
)
def test_where_reentrant_does_not_work(run, message):
    x = leaf(3)
    y = checkpoint(tp.sin, x, use_reentrant=True)
    with warnings.catch_warnings(), pytest.raises(RuntimeError, match=message):
        warnings.simplefilter("ignore")
        run(y, x)


def test_reentrant_says_that_it_does_not_go_into_transforms():
    with pytest.raises(RuntimeError, match="use_reentrant=True does not work inside vmap"):
        tp.vmap(lambda x: checkpoint(tp.sin, x, use_reentrant=True))(leaf(3))


def test_reentrant_warns_and_refuses_what_has_no_gradient():
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not checkpoint(tp.sin, constant(3), use_reentrant=True).requires_grad
    y = checkpoint(lambda x: x.detach(), leaf(3), use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.sum().backward()


def test_it_should_be_said_which_kind():
    x = leaf(3)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        y = checkpoint(tp.sin, x)
    assert type(y.grad_fn).__name__ == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint_sequential([tp.sin, tp.exp], 2, x)


# ---- in sequence


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_functions_in_segments(segments, reentrant):
    x = leaf(3)
    steps = [Counted(f) for f in (tp.sin, tp.exp, tp.tanh, tp.cos, tp.exp)]
    y = checkpoint_sequential(steps, segments, x, use_reentrant=reentrant)
    z = x.sin().exp().tanh().cos().exp()
    close(y, z)
    y.sum().backward()
    close(x.grad, autograd.grad(z.sum(), x)[0])
    last = 5 // segments * (segments - 1)
    assert [s.calls for s in steps] == [2] * last + [1] * (5 - last)


@pytest.mark.parametrize(
    "segments, options, message",
    [(0, {}, "from 1 to the number of functions, 2, got 0"), (3, {}, "got 3"), (1, {"flurb": 1}, "flurb")],
)
def test_wrong_segments(segments, options, message):
    with pytest.raises(ValueError, match=message):
        checkpoint_sequential([tp.sin, tp.exp], segments, leaf(3), use_reentrant=False, **options)


def test_there_are_no_accelerators():
    assert module.get_device_states(leaf(3)) == ([], [])
    module.set_device_states([], [])
    with pytest.raises(RuntimeError, match="no accelerators"):
        module.set_device_states([0], [tp.get_rng_state()])
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported. Got Unsupported input type: Tensor"):
        module.detach_variable(leaf(3))
