"""Pruning: which entries a way of choosing leaves, and what becomes of the parameter."""

import copy
import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn
from tensorplay.nn.utils import prune

WEIGHT = np.array([[1.0, -0.5, 3.0, 0.25], [-2.0, 0.75, -0.1, 0.2], [0.6, -0.7, 0.8, -0.9]])


def layer():
    m = nn.Linear(4, 3)
    with tp.no_grad():
        m.weight.copy_(tp.tensor(WEIGHT))
    return m


def smallest(n, of=WEIGHT):
    mask = np.ones(of.size)
    mask[np.argsort(np.abs(of).reshape(-1), kind="stable")[:n]] = 0
    return mask.reshape(of.shape)


def without(rows=(), columns=()):
    mask = np.ones_like(WEIGHT)
    mask[list(rows)], mask[:, list(columns)] = 0, 0
    return mask


@pytest.mark.parametrize(
    ("steps", "mask"),
    [
        ([prune.identity], smallest(0)),
        ([(prune.l1_unstructured, 3)], smallest(3)),
        ([(prune.l1_unstructured, 0.5)], smallest(6)),
        ([(prune.l1_unstructured, 1.0)], np.zeros((3, 4))),
        ([(prune.ln_structured, 1, 2, 0)], without(rows=[2])),  # norms 3.2, 2.1, 1.5
        ([(prune.ln_structured, 0.5, 1, -1)], without(columns=[1, 3])),  # sums 3.6, 1.95, 3.9, 1.35
        ([(prune.ln_structured, 1, math.inf, 1)], without(columns=[1])),  # maxima 2, 0.75, 3, 0.9
        ([(prune.custom_from_mask, tp.tensor(WEIGHT > 0))], WEIGHT > 0),
        # a second pruning chooses among what the first has left
        ([(prune.l1_unstructured, 3), (prune.l1_unstructured, 1)], smallest(4)),
        ([(prune.l1_unstructured, 4), (prune.l1_unstructured, 0.5)], smallest(8)),
        ([(prune.ln_structured, 1, 2, 0), (prune.ln_structured, 1, 2, 0)], without(rows=[1, 2])),
        ([(prune.ln_structured, 1, 2, 0), (prune.l1_unstructured, 3)],
         np.where(without(rows=[2]) == 0, 0, smallest(3, np.where(without(rows=[2]), WEIGHT, 9)))),
        ([(prune.l1_unstructured, 3), (prune.custom_from_mask, tp.tensor(WEIGHT > 0))], smallest(3) * (WEIGHT > 0)),
    ],
)  # fmt: skip
def test_what_is_left(steps, mask):
    m = layer()
    for step in steps:
        method, *args = step if isinstance(step, tuple) else (step,)
        assert method(m, "weight", *args) is m
    np.testing.assert_array_equal(m.weight_mask.numpy(), mask)
    np.testing.assert_array_equal(m.weight.detach().numpy(), (WEIGHT * mask).astype(np.float32))
    assert len(m._forward_pre_hooks) == 1 and prune.is_pruned(nn.Sequential(m))


@pytest.mark.parametrize(
    ("method", "args", "left"),
    [("random_unstructured", (5,), 7), ("random_unstructured", (0.25,), 9), ("random_structured", (0.5, 1), 6),
     ("random_structured", (2, 0), 4)],
)  # fmt: skip
def test_random_pruning_leaves_so_many(method, args, left):
    m = getattr(prune, method)(layer(), "weight", *args)
    assert int(m.weight_mask.sum()) == left and m.weight_mask.unique().tolist() == [0.0, 1.0]


def test_a_pruned_parameter_learns_where_it_was_left():
    m = prune.l1_unstructured(prune.l1_unstructured(layer(), "bias", 1), "weight", 0.5)
    optimizer = tp.optim.SGD(m.parameters(), lr=0.1)
    assert [name for name, _ in m.named_parameters()] == ["bias_orig", "weight_orig"]
    (m(tp.ones(2, 4)) ** 2).sum().backward()
    assert ((m.weight_orig.grad == 0) == (m.weight_mask == 0)).all()
    optimizer.step()
    out = m(tp.ones(1, 4))
    weight = m.weight.detach()
    assert prune.remove(m, "weight") is m and isinstance(m.weight, nn.Parameter) and m.weight.requires_grad
    assert tp.equal(m.weight, weight) and tp.equal(m(tp.ones(1, 4)), out)
    prune.remove(m, "bias")
    assert sorted(m.state_dict()) == ["bias", "weight"] and not prune.is_pruned(m)


def test_pruned_modules_are_loaded_copied_and_converted():
    m, other = prune.l1_unstructured(layer(), "weight", 3), prune.identity(nn.Linear(4, 3), "weight")
    other.load_state_dict(m.state_dict())
    x = tp.ones(1, 4)
    assert tp.equal(other(x), m(x))
    assert prune.l1_unstructured(layer().double(), "weight", 3)(x.double()).dtype is tp.float64
    m.eval().requires_grad_(False)
    m(x)
    assert tp.equal(copy.deepcopy(m)(x), m(x))


def test_several_parameters_are_pruned_as_one():
    m = nn.Sequential(layer(), nn.ReLU(), layer())
    with tp.no_grad():
        m[2].weight.mul_(10)
    whole = [(m[0], "weight"), (m[2], "weight")]
    prune.global_unstructured(whole, prune.L1Unstructured, amount=11)
    np.testing.assert_array_equal(m[0].weight_mask.numpy(), smallest(10))  # all but -2 and 3
    np.testing.assert_array_equal(m[2].weight_mask.numpy(), smallest(1))  # -1
    prune.global_unstructured(whole, prune.L1Unstructured, {(m[0], "weight"): 100 * tp.ones(3, 4)}, amount=2)
    assert int(m[0].weight_mask.sum()) == 2 and int(m[2].weight_mask.sum()) == 9


def test_the_choice_may_be_made_by_other_numbers():
    scores = tp.arange(12.0).reshape(3, 4)
    m = prune.l1_unstructured(layer(), "weight", 4, importance_scores=scores)
    np.testing.assert_array_equal(m.weight_mask.numpy(), without(rows=[0]))
    t = tp.tensor([3.0, -1.0, 2.0])
    assert prune.L1Unstructured(1).prune(t).tolist() == [3.0, 0.0, 2.0]
    assert prune.L1Unstructured(1).prune(t, importance_scores=-t + 4).tolist() == [0.0, -1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: prune.l1_unstructured(m, "weight", 13), ValueError, "smaller than the number of parameters"),
        (lambda m: prune.l1_unstructured(m, "weight", 1.5), ValueError, "range"),
        (lambda m: prune.l1_unstructured(m, "weight", "x"), TypeError, "int or float"),
        (lambda m: prune.l1_unstructured(m, "other", 1), AttributeError, "other"),
        (lambda m: prune.l1_unstructured(m, "weight", 1, tp.ones(2)), AssertionError, "shape"),
        (lambda m: prune.ln_structured(m, "weight", 1, 2, 2), IndexError, "Invalid index 2"),
        (lambda m: prune.ln_structured(m, "bias", 1, 2, 0), ValueError, "multidimensional"),
        (lambda m: prune.custom_from_mask(m, "weight", tp.ones(2)), AssertionError, "the mask has shape"),
        (lambda m: prune.remove(m, "weight"), ValueError, "has to be pruned"),
        (lambda m: prune.global_unstructured(3, prune.Identity), TypeError, "not an Iterable"),
        (lambda m: prune.global_unstructured([(m, "weight")], prune.LnStructured, amount=1, n=2), TypeError,
         'Only "unstructured"'),
        (lambda m: prune.PruningContainer().add_pruning_method(3), TypeError, "not a BasePruningMethod"),
        (lambda m: prune.BasePruningMethod(), TypeError, "abstract"),
    ],
)  # fmt: skip
def test_bad_prunings_are_refused_and_leave_the_module_as_it_was(call, error, message):
    m = layer()
    with pytest.raises(error, match=message):
        call(m)
    assert list(m.state_dict()) == ["weight", "bias"] and not m._forward_pre_hooks
    assert m(tp.ones(4)).shape == (3,)
