"""Explanations: how an output depends on an input, or where the way between them was cut."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd
from tensorplay.autograd.graph import explain


def leaf(values=(1.5, 2.5)):
    return tp.tensor(values, requires_grad=True)


class Double(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return None


# ---- there is a way


def test_the_operators_on_the_way():
    x, w = leaf(), leaf((3.0, 4.0))
    found = explain((x * w).sin().sum(), x)
    assert found and found.depends and found.paths == 1
    assert str(found) == repr(found) == found.text
    assert found.text.splitlines() == [
        "The output depends on the input, in one way:",
        "  output <- SumBackward0 <- SinBackward0 <- MulBackward0 <- input",
    ]
    assert [type(node).__name__ for node in found.path][-1] == "AccumulateGrad"


def test_the_input_may_be_a_result_and_the_output_a_leaf():
    x = leaf()
    y = x.sin()
    assert "output <- ExpBackward0 <- SinBackward0 <- input" in str(explain(y.exp(), y))
    assert "The output is the input itself" in str(explain(x, x)) and explain(x, x)
    assert not explain(leaf(), x) and not explain(x, y)


def test_all_ways_are_counted():
    x = leaf()
    y = x
    for _ in range(70):
        y = y * y
    found = explain(y + x, x)
    assert found.paths == 2**70 + 1
    assert f"in {2**70 + 1} ways, the shortest being:\n  output <- AddBackward0 <- input" in str(found)


def test_long_ways_are_shortened():
    x = leaf()
    y = x
    for _ in range(10_000):
        y = y.sin()
    assert "<- ... 9988 more ... <-" in str(explain(y, x))
    assert len(explain(y, x).path) == 10_001


def test_one_of_several_results():
    x = leaf((3.0, 1.0, 2.0))
    values, _ = x.sort()
    assert explain(values.sum(), x)
    a, b = x.split((1, 2))
    assert explain((a * 2).sum(), a) and explain((a * 2).sum(), x)
    text = str(explain((a * 2).sum(), b))
    assert "Both are results of SplitBackward0, but the output uses another one than the input." in text


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda x: x.floor() * 3, "every way passes FloorBackward0, which is constant between its jumps: the gradient"),
        (lambda x: x.sign().exp(), "every way passes SignBackward0"),
        (lambda x: Double.apply(x), "DoubleBackward: the backward of a custom Function, which may return None"),
        (lambda x: x.sin().sum(), None),
        (lambda x: x.floor() * x, None),
    ],
)
def test_what_keeps_a_gradient_from_passing(make, text):
    x = leaf()
    found = str(explain(make(x), x))
    assert (text in found) if text else len(found.splitlines()) == 2


def test_what_was_freed_or_written_to():
    x = leaf()
    y = x.exp()
    z = y.sin().sum()
    z.backward()
    assert "freed what SinBackward0, ExpBackward0 kept" in str(explain(z, x))
    y = x.exp()
    z = y.sin().sum()
    y.detach().zero_()
    text = str(explain(z, x))
    assert "SinBackward0 kept 'input' (float32 [2]), which was written to in place since" in text
    assert "ExpBackward0 kept 'out'" in text
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_hooks_are_mentioned():
    x = leaf()
    y = x.exp()
    y.register_hook(lambda g: g * 0)
    assert "Hooks may change the gradient at ExpBackward0" in str(explain(y.sum(), x))


def test_once_differentiable():
    class Once(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 2

    x = leaf()
    (g,) = autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    assert "trying to differentiate twice" in str(explain(g.sum(), x))


# ---- there is none


def under_no_grad(f, *args):
    with tp.no_grad():
        return f(*args)


def in_inference(f, *args):
    with tp.inference_mode():
        return f(*args)


OPERAND = "MulBackward0 took {} as its operand 'other'"
UNKNOWN = "Operands without history, by which the input may have come in: {}. Where they came from is not known"
CUTS = {
    "detach": (lambda x, w: w * x.detach(), OPERAND.format("the input") + ", but without history: by detach()"),
    "numpy": (lambda x, w: w * tp.from_numpy(x.detach().numpy()), OPERAND.format("the input")),
    "tolist": (lambda x, w: w * tp.tensor(x.tolist()), OPERAND.format("a copy of the input's values")),
    "item": (lambda x, w: w * x[1].item(), OPERAND.format("the number 2.5") + ", which the input holds"),
    "no_grad": (lambda x, w: w * under_no_grad(lambda: x * 3), UNKNOWN.format("'other' of MulBackward0 (float32 [2])")),
    "no_grad, not kept": (lambda x, w: w + under_no_grad(lambda: x * 3), UNKNOWN.format("'other' of AddBackward0")),
    "an index": (lambda x, w: w[x.long() - 1], "took int64 [2] as its operand 'index"),
    "several operands": (lambda x, w: tp.cat([w, x.detach()]), UNKNOWN.format("'tensors[1]' of CatBackward0")),
    "a custom function": (lambda x, w: Pair.apply(w, x.detach()), UNKNOWN.format("'argument 1' of PairBackward")),
    "nothing": (lambda x, w: w * w, "ends in: a leaf (float32 [2])"),
}


class Pair(autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b

    @staticmethod
    def backward(ctx, g):
        return g, g


@pytest.mark.parametrize("name", CUTS)
def test_where_a_graph_with_other_leaves_is_cut(name):
    make, text = CUTS[name]
    x, w = leaf(), leaf((3.0, 4.5))
    output = make(x, w)
    found = explain(output, x)
    assert not found and found.paths == 0 and found.path == ()
    assert text in str(found) and "The graph of the output ends in: a leaf (float32 [2])." in str(found)
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        autograd.grad(output.sum(), x)
    assert "ends in: 'w' (float32 [2])" in str(explain(output, x, {"w": w, "x": x}))


def test_an_intermediate_result_that_was_detached_is_recognised_while_it_lives():
    x, w = leaf(), leaf()
    y = x.exp()
    z = y.detach() * w
    assert "took a result of ExpBackward0, which depends on the input, as its operand 'input'" in str(explain(z, x))
    del y
    assert "Where they came from is not known" in str(explain(z, x))


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda x: x.argmax(), r"The output is int64 []: integers and booleans have no derivative"),
        (lambda x: x > 2, "The output is bool [2]"),
        (lambda x: x.detach(), "The output has the memory of the input, but no history"),
        (lambda x: tp.tensor(x.tolist()), "holds the values of the input"),
        (lambda x: under_no_grad(lambda: x * 2), "Why is not known"),
        (lambda x: in_inference(lambda: x * 2), "made in inference mode"),
    ],
)
def test_an_output_without_history(make, text):
    x = leaf()
    found = str(explain(make(x), x))
    assert text in found
    assert "ends in" not in found


def test_a_view_that_was_taken_without_recording():
    x = leaf()
    y = x * 2
    view = under_no_grad(lambda: y[:1])
    text = str(explain(view, x))
    assert "The output is a view (slice) of a tensor that requires grad, but was taken under no_grad()" in text


def test_it_says_if_recording_is_off_now():
    x = leaf()
    with tp.no_grad():
        assert "explain() was called under no_grad()" in str(explain(x * 2, x))


def test_an_input_that_is_not_recorded():
    w, x = leaf(), tp.tensor([1.5, 2.5])
    text = str(explain((w * x).sum(), x))
    assert "The input does not require grad, so operators did not record it" in text
    assert "MulBackward0 took the input as its operand 'other'." in text
    assert "only floating and complex tensors" in str(explain(w.sum(), tp.tensor([1])))
    assert "The input was made in inference mode" in str(explain(w.sum(), in_inference(lambda: tp.ones(1))))


def test_an_input_that_came_too_late():
    x, w = tp.tensor([1.5, 2.5]), leaf()
    y = (x * w).sum()
    x.requires_grad_()
    text = str(explain(y, x))
    assert "requires_grad_() was called too late" in text
    assert "MulBackward0 took the input as its operand 'input', before it required grad." in text


def test_an_input_that_was_made_beside():
    x = leaf()
    y = x * 2
    text = str(explain(y.exp(), y[0]))
    assert "The input, a result of SelectBackward0, was computed after the output" in text
    assert "Both come from the result of MulBackward0, but the output uses that" in text
    a = x * 1
    b = a * 2
    a.mul_(3)
    text = str(explain(b, a))
    assert "its memory was written to in place: the output may have used it as it was before" in text


# ---- inside transforms


def test_tensors_inside_transforms():
    X, w = tp.ones(3, 2), leaf()
    seen = []

    def f(x):
        y = x.sin().sum()
        seen.append((explain(y, x), explain(y * w.sum(), w), explain(y, w)))
        return y

    tp.vmap(tp.func.grad(f))(X)
    direct, outer, none = seen[0]
    assert "output <- SumBackward0 <- SinBackward0 <- input" in str(direct)
    assert outer.depends and not none.depends


def test_what_is_inside_a_batch():
    X, seen = tp.ones(3, 2, requires_grad=True), []
    tp.vmap(lambda x: seen.append(explain(x.sin(), x)) or x)(X)
    assert str(seen[0]).splitlines() == [
        "The output depends on the input (inside vmap), in one way:", "  output <- SinBackward0 <- input"
    ]  # fmt: skip


# ---- arguments


@pytest.mark.parametrize("args, what", [((np.ones(2), tp.ones(2)), "output"), ((tp.ones(2), 3), "input")])
def test_only_tensors_are_explained(args, what):
    with pytest.raises(TypeError, match=rf"explain\(\): argument '{what}' must be Tensor"):
        explain(*args)


def test_the_graph_is_left_as_it_is():
    x, w = leaf(), leaf()
    y = (x.detach() * w).exp().sum()
    explain(y, x), explain(y, w)
    y.backward()
    assert x.grad is None and w.grad is not None
