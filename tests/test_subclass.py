"""Subclasses of Tensor, and other types, that override operators."""

import copy
import pickle
import sys
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn, overrides
from tensorplay.core import overriding


class Plain(tp.Tensor):
    pass


class Further(Plain):
    pass


class Unrelated(tp.Tensor):
    pass


class Labelled(tp.Tensor):
    """Results carry the label of the first operand that has one."""

    def __new__(cls, values, label):
        return super().__new__(cls, values)

    def __init__(self, values, label):
        self.label = label

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs)
        if isinstance(result, cls) and not hasattr(result, "label"):
            result.label = next(a.label for a in args if isinstance(a, cls))
        return result


class Logged(tp.Tensor):
    calls: list = []  # noqa: RUF012

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((func, types))
        return super().__torch_function__(func, types, args, kwargs)


@pytest.fixture(autouse=True)
def operators_as_before():
    yield
    while overriding.watching:
        overriding.watching.pop().__exit__()


@pytest.fixture
def x():
    return tp.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(Plain)


Y = tp.ones(2, 2)
KEEP = {
    "operator": lambda x: x + 1,
    "reflected": lambda x: 1 / x,
    "second operand": lambda x: Y @ x,
    "method": lambda x: x.mean(),
    "method of another": lambda x: Y.mul(x),
    "function": lambda x: tp.exp(x),
    "keyword": lambda x: tp.add(input=Y, other=x),
    "in a list": lambda x: tp.cat([Y, x]),
    "composite": lambda x: nn.functional.softmax(x, 0),
    "loss": lambda x: nn.functional.mse_loss(x, Y),
    "layer": lambda x: nn.Linear(2, 2)(x),
    "namespace": lambda x: tp.linalg.inv(x),
    "later family": lambda x: tp.special.bessel_j0(x),
    "view": lambda x: x[0],
    "comparison": lambda x: x > 1,
    "like": lambda x: tp.zeros_like(x),
    "in place": lambda x: x.clone().add_(1),
    "property": lambda x: x.T,
    "data": lambda x: x.data,
    "detached": lambda x: x.detach(),
    "parameter": lambda x: nn.Parameter(Y) + x,
    "made": lambda x: Plain([1.0, 2.0]),
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
    "pickled": lambda x: pickle.loads(pickle.dumps(x)),
}


@pytest.mark.parametrize("name", KEEP)
def test_results_are_of_the_subclass(name, x):
    assert type(KEEP[name](x)) is Plain


@pytest.mark.parametrize("f", [lambda x: x.max(0), lambda x: x.split(1), lambda x: [*x], lambda x: tp.linalg.svd(x)])
def test_each_of_several_results_is(f, x):
    found = f(x)
    assert [type(part) for part in found] == [Plain] * len(found)
    assert type(found) is type(f(x.as_subclass(tp.Tensor)))


NOT = {
    "number": (lambda x: x[0, 0].item(), float),
    "shape": (lambda x: x.shape, tp.Size),
    "array": (lambda x: x.numpy(), np.ndarray),
    "bool": (lambda x: tp.is_tensor(x), bool),
    "copy of the data": (lambda x: tp.tensor(x.tolist()), tp.Tensor),
    "plain again": (lambda x: x.as_subclass(tp.Tensor), tp.Tensor),
    "parameter": (lambda x: nn.Parameter(Y) + 1, tp.Tensor),
    "buffer": (lambda x: nn.Buffer(Y) + 1, tp.Tensor),
}


@pytest.mark.parametrize("name", NOT)
def test_what_is_no_tensor_of_the_subclass_stays_so(name, x):
    f, kind = NOT[name]
    assert type(f(x)) is kind


def test_memory_history_and_arguments_stay():
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 3).as_subclass(Plain)
    assert tp.autograd.grad((y * y).sum(), x)[0].tolist() == [18, 36]
    plain = tp.zeros(2)
    same = plain.as_subclass(Plain)
    same.add_(1)
    assert plain.tolist() == [1, 1] and type(plain) is tp.Tensor and type(plain.contiguous()) is tp.Tensor
    w = tp.ones(2).as_subclass(Plain).requires_grad_()
    (w * w).sum().backward()
    assert w.is_leaf and w.grad.tolist() == [2, 2]
    out = tp.empty(2)
    tp.add(same, 1, out=out)
    assert type(out) is tp.Tensor and out.tolist() == [2, 2]
    base = x * 1
    base.as_subclass(Plain)[0] = 7.0  # a view: the base's history is rewritten
    assert tp.autograd.grad(base.sum(), x)[0].tolist() == [0, 1]


def test_the_more_special_class_decides_and_unrelated_ones_have_no_answer(x):
    assert type(x + Y.as_subclass(Further)) is type(Y.as_subclass(Further) + x) is Further
    with pytest.raises(TypeError, match=r"no implementation found.*\['Plain', 'Unrelated'\]"):
        x + Y.as_subclass(Unrelated)
    with pytest.raises(TypeError, match="must be a subclass of Tensor"):
        Y.as_subclass(int)


def test_the_class_is_printed(x):
    assert repr(x) == "Plain([[1., 2.],\n       [3., 4.]])"
    assert repr(nn.Parameter(tp.ones(1))).startswith("Parameter containing:\ntensor(")


def test_an_override_may_carry_attributes_along():
    x = Labelled([1.0, 2.0], "metres")
    assert (x * 2 + 1).sum().label == "metres" and type(2 - x) is Labelled


def test_an_override_sees_each_public_call_once():
    x = tp.tensor([1.0, 2.0]).as_subclass(Logged)
    Logged.calls.clear()
    nn.functional.softmax(x * 2, 0)
    tp.stack([Y[0], x])
    functions = [f for f, _ in Logged.calls]
    assert functions[1:] == [nn.functional.softmax, tp.stack] and len(functions) == 3
    assert all(types == (Logged,) for _, types in Logged.calls)
    assert tp.overrides.resolve_name(tp.stack) == "stack"
    with overrides.DisableTorchFunctionSubclass():
        assert type(x + 1) is tp.Tensor
    assert len(Logged.calls) == 3


def test_types_that_are_no_tensors():
    handled = {}

    @overrides.register
    class Scaled:
        """A number times the identity."""

        def __init__(self, value):
            self.value = value

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return handled[func](*args, **(kwargs or {})) if func in handled else NotImplemented

    handled[tp.trace] = lambda scaled: 3 * scaled.value
    assert tp.trace(Scaled(2)) == 6
    assert overrides.is_tensor_like(Scaled(2)) and overrides.has_torch_function([1, Scaled(2)])
    with pytest.raises(TypeError, match="no implementation found for .*add"):
        tp.add(tp.ones(2), Scaled(2))


def test_without_subclasses_nothing_is_intercepted(x):
    intercepted = tp.exp.__code__
    overriding.watching.pop().__exit__()
    assert tp.exp.__code__ is not intercepted
    nn.Parameter(Y)
    tp.nn.UninitializedParameter()
    tp.FloatTensor([1.0])
    assert not overriding.watching


@pytest.mark.parametrize("run", [lambda f, x: tp.vmap(f)(x), lambda f, x: tp.func.grad(lambda x: f(x).sum())(x),
                                 lambda f, x: tp.func.jvp(f, (x,), (x,))[1]])  # fmt: skip
def test_transforms_take_them(run, x):
    f = lambda x: x * x
    assert run(f, x).tolist() == run(f, x.as_subclass(tp.Tensor)).tolist()


class Scaled(tp.Tensor):
    """Products are taken ``scale`` times."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs)
        if func.__name__ == "mul":
            result = result.as_subclass(tp.Tensor) * args[0].scale
        return result


def test_duals_are_of_the_subclass():
    x = tp.tensor([1.0, 2.0]).as_subclass(Plain).requires_grad_()
    with tp.autograd.forward_ad.dual_level():
        y = tp.autograd.forward_ad.make_dual(x, tp.ones(2)) ** 2
        assert type(y) is Plain
        assert tp.autograd.forward_ad.unpack_dual(y).tangent.tolist() == [2, 4]
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_first_tensors_of_several_threads_begin_one_interception():
    before, ready = sys.getswitchinterval(), threading.Barrier(4)
    found = []

    def work():
        ready.wait()
        found.append(type(tp.ones(2).as_subclass(Plain) + 1))

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert found == [Plain] * 4 and len(overriding.watching) == 1


def test_compiled_functions_give_what_overrides_make_of_the_operators():
    pytest.importorskip("jax")
    double = tp.compile(lambda x: x * 2)
    assert double(tp.ones(2)).tolist() == [2, 2]
    x = tp.ones(2).as_subclass(Scaled)
    with pytest.warns(UserWarning, match="argument 0 is of Scaled, which overrides operators"):
        for scale in (3, 5):
            x.scale = scale
            assert double(x).tolist() == [2 * scale, 2 * scale]
    with pytest.warns(UserWarning, match="argument 0 is of Plain"):
        assert type(double(tp.ones(2).as_subclass(Plain))) is Plain
    assert type(double(tp.ones(2))) is tp.Tensor
    kept = tp.ones(2).as_subclass(Plain)
    add = tp.compile(lambda x: x + kept)
    with pytest.warns(UserWarning, match="returns a new tensor of Plain"):
        assert [type(add(tp.ones(2))) for _ in range(2)] == [Plain, Plain]
    with pytest.raises(RuntimeError, match="Scaled"):
        tp.compile(lambda x: x * 2, fullgraph=True)(x)
