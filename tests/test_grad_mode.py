"""Switches for recording, as context managers and as decorators."""

import threading

import pytest

import tensorplay as tp
from tensorplay import autograd, func


@pytest.fixture
def x():
    return tp.tensor([1.0, 2.0], requires_grad=True)


MODES = [
    (tp.no_grad, (), False),
    (tp.enable_grad, (), True),
    (tp.set_grad_enabled, (False,), False),
    (tp.set_grad_enabled, (True,), True),
    (tp.inference_mode, (), False),
    (tp.inference_mode, (True,), False),
    (tp.inference_mode, (False,), True),
]


@pytest.mark.parametrize("mode, args, on", MODES)
@pytest.mark.parametrize("outside", [True, False])
def test_modes_as_context_managers(mode, args, on, outside, x):
    with tp.set_grad_enabled(outside):
        with mode(*args):
            assert tp.is_grad_enabled() is on
            assert (x * 2).requires_grad is on
        assert tp.is_grad_enabled() is outside
        with pytest.raises(ZeroDivisionError), mode(*args):
            1 / 0  # noqa: B018
        assert tp.is_grad_enabled() is outside
    assert tp.is_grad_enabled()


@pytest.mark.parametrize("mode, args, on", MODES)
def test_modes_as_decorators(mode, args, on):
    before = tp.is_grad_enabled()

    @mode(*args)
    def f(a, *, b):
        """What f does."""
        return tp.is_grad_enabled(), a, b

    assert tp.is_grad_enabled() is before
    assert f(1, b=2) == (on, 1, 2)
    assert f.__name__ == "f" and f.__doc__ == "What f does."
    assert tp.is_grad_enabled() is before


@pytest.mark.parametrize("mode, on", [(tp.no_grad, False), (tp.enable_grad, True), (tp.inference_mode, False)])
def test_decorators_without_parentheses(mode, on):
    @mode
    def f():
        return tp.is_grad_enabled()

    with tp.set_grad_enabled(not on):
        assert f() is on


def test_a_decorated_function_may_call_itself():
    @tp.no_grad()
    def f(n):
        inner = f(n - 1) if n else []
        with tp.enable_grad():
            pass
        return [*inner, tp.is_grad_enabled()]

    assert f(3) == [False] * 4
    assert tp.is_grad_enabled()


@pytest.mark.parametrize("mode, args, on", MODES)
def test_a_decorated_generator_has_the_mode_inside_only(mode, args, on):
    log = []

    @mode(*args)
    def steps():
        try:
            for i in range(10):
                log.append(tp.is_grad_enabled())
                try:
                    log.append((yield i))
                except KeyError:
                    log.append(("caught", tp.is_grad_enabled()))
                    yield "thrown"
        finally:
            log.append(("closed", tp.is_grad_enabled()))
        return "end"

    with tp.set_grad_enabled(not on):
        g = steps()
        assert next(g) == 0 and tp.is_grad_enabled() is not on
        assert g.send("sent") == 1 and tp.is_grad_enabled() is not on
        assert g.throw(KeyError("k")) == "thrown" and tp.is_grad_enabled() is not on
        g.close()
        assert tp.is_grad_enabled() is not on
    assert log == [on, "sent", on, ("caught", on), ("closed", on)]


def test_a_decorated_generator_returns_and_raises():
    @tp.no_grad()
    def returns():
        yield 1
        return "value"

    @tp.no_grad()
    def delegates():
        return (yield from returns())

    assert list(delegates()) == [1]
    g = delegates()
    next(g)
    with pytest.raises(StopIteration) as e:
        next(g)
    assert e.value.value == "value"

    @tp.no_grad()
    def fails():
        yield 1
        raise ValueError("inside")

    g = fails()
    next(g)
    with pytest.raises(ValueError, match="inside"):
        next(g)
    assert tp.is_grad_enabled()


def test_decorating_a_class_warns():
    class Model:
        def __init__(self):
            self.on = tp.is_grad_enabled()

    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        Decorated = tp.no_grad()(Model)
    assert Decorated().on is False


def test_set_grad_enabled_acts_at_once():
    try:
        switch = tp.set_grad_enabled(False)
        assert not tp.is_grad_enabled()
        assert repr(switch) == "set_grad_enabled(mode=False)"
    finally:
        tp.set_grad_enabled(True)
    assert tp.is_grad_enabled()


@pytest.mark.parametrize(
    "mode",
    [tp.set_grad_enabled, autograd.set_multithreading_enabled, autograd.enforce_grad_layout_policy, tp.inference_mode],
)
@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_modes_are_bools(mode, value):
    with pytest.raises(TypeError, match=rf"{mode.__name__}\(\): argument '\w+' \(position 1\) must be bool, not \w+"):
        mode(value)
    assert tp.is_grad_enabled()


def test_modes_belong_to_the_thread():
    seen = {}

    def work():
        seen["new thread"] = tp.is_grad_enabled(), tp.is_inference_mode_enabled()
        tp.set_grad_enabled(False)

    with tp.inference_mode():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == {"new thread": (True, False)}
    assert tp.is_grad_enabled()


@pytest.mark.parametrize(
    "setting, get",
    [(autograd.set_multithreading_enabled, autograd.is_multithreading_enabled)],
)
def test_settings_as_functions_context_managers_and_decorators(setting, get):
    assert get()
    with setting(False):
        assert not get()
    assert get()
    assert setting(False)(get)() is False
    assert get()
    setting(False)
    assert not get()
    setting(True)
    assert get()


def test_gradients_keep_their_layout_where_that_is_allowed():
    w = tp.ones(2, 3, requires_grad=True)
    with autograd.enforce_grad_layout_policy(False):
        (w.t() @ tp.ones(2, 2)).sum().backward()
    loose = w.grad
    w.grad = None
    (w.t() @ tp.ones(2, 2)).sum().backward()
    assert w.grad.is_contiguous()
    assert tp.equal(w.grad, loose)


# ---- inference mode


def test_what_is_made_in_inference_mode_says_so(x):
    plain = tp.ones(2)
    with tp.inference_mode():
        made = [
            tp.ones(2),
            tp.tensor([1.0]),
            tp.rand(2),
            x * 2,
            plain + 1,
            plain.sum(),
            tp.ones(2, 2).max(0)[0],
            tp.ones(2).view(2, 1),
        ]
        views = [plain.view(2, 1), x.detach()]
    assert [t.is_inference() for t in made] == [True] * len(made)
    assert [t.is_inference() for t in views] == [False] * len(views)
    y = made[0]
    assert [t.is_inference() for t in (y * 2, y.clone(), y.view(2, 1), y.detach())] == [False, False, True, True]
    assert not (plain + 1).is_inference()


def test_tensors_of_inference_mode_are_fixed_outside(x):
    with tp.inference_mode():
        y = tp.ones(2)
        y.add_(1)
        assert y.requires_grad_(False) is y
    for call, words in [
        (lambda: y.add_(1), "Inplace update to inference tensor outside InferenceMode is not allowed"),
        (
            lambda: y.requires_grad_(),
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
        ),
        (lambda: y._version, "Inference tensors do not track version counter"),
        (lambda: autograd.graph.increment_version(y), "Inplace update to inference tensor"),
    ]:
        with pytest.raises(RuntimeError, match=words):
            call()
    assert y.tolist() == [2, 2]


def test_inference_mode_inside_and_outside_others(x):
    with tp.inference_mode():
        assert tp.is_inference_mode_enabled() and not tp.is_grad_enabled()
        with tp.enable_grad():
            assert tp.is_grad_enabled() and not (x * 2).requires_grad
        with tp.inference_mode(False):
            assert not tp.is_inference_mode_enabled() and (x * 2).requires_grad and not (x * 2).is_inference()
        assert not (x * 2).requires_grad
        g = tp.func.grad(lambda x: (x * x).sum())(x.detach())
        assert g.tolist() == [2, 4]
    assert not tp.is_inference_mode_enabled() and tp.is_grad_enabled()


def test_no_grad_inside_a_transform_cuts_the_tape_in_inference_mode(x):
    with tp.inference_mode():

        def f(x):
            with tp.no_grad():
                c = x * x
            return (x * c).sum()

        assert tp.func.grad(f)(x.detach()).tolist() == [1, 4]
    assert tp.is_grad_enabled()


def test_no_grad_cuts_every_tape_but_no_tangent():
    def f(y):
        with tp.no_grad():
            c = y * y
        return y * c

    at = tp.tensor(2.0, dtype=tp.float64)
    assert tp.func.grad(f)(at).item() == 4
    assert tp.func.jvp(f, (at,), (tp.ones_like(at),))[1].item() == 12
    assert tp.func.jvp(tp.func.grad(f), (at,), (tp.ones_like(at),))[1].item() == 4
    assert tp.func.grad(tp.func.grad(f))(at).item() == 0


SAVING = {
    # what is computed from a tensor that requires grad and one of inference mode: whether the latter has to be kept
    "x * z": (lambda x, z: x * z, True),
    "x + z": (lambda x, z: x + z, False),
    "z / x, which keeps both": (lambda x, z: z / x, True),
    "x / z, mixed dtypes": (lambda x, z: x.float() / z, True),
    "x @ z": (lambda x, z: x @ z, True),
    "a copy": (lambda x, z: x * z.clone(), False),
    "where": (lambda x, z: tp.where(z > 0, x, z), False),
    "in place": (lambda x, z: (x * 1).mul_(z), True),
    "copy_": (lambda x, z: (x * 1).copy_(z), False),
    "einsum": (lambda x, z: tp.einsum("i,i->i", x, z), True),
    "several": (lambda x, z: tp.cat([x, z]), False),
    "broadcast": (lambda x, z: x[:1] * z, True),
    "complex": (lambda x, z: (x + 0j) * (z + 0j), False),
    "custom": (lambda x, z: Keeping.apply(x, z), True),
}


class Keeping(tp.autograd.Function):
    @staticmethod
    def forward(ctx, x, z):
        ctx.save_for_backward(z)
        return x * z.detach()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0], None


@pytest.mark.parametrize("name", SAVING)
def test_tensors_of_inference_mode_are_not_saved_for_backward(name):
    f, kept = SAVING[name]
    with tp.inference_mode():
        z = tp.tensor([1.0, 2.0], dtype=tp.float64) * 2
    x = tp.tensor([3.0, 4.0], dtype=tp.float64, requires_grad=True)
    if kept:
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            f(x, z)
    else:
        assert f(x, z).requires_grad
    assert tp.equal(f(x.detach(), z), f(x.detach(), z.clone()))  # nothing is saved here
    assert func.grad(lambda x: f(x, z).real.sum())(x.detach()).shape == (2,)  # nor for anybody outside
