"""Nested containers: taken apart, put together, mapped, matched."""

import collections
from typing import NamedTuple

import pytest

from tensorplay.core import pytree


class Point(NamedTuple):
    x: object
    y: object


class Box:
    def __init__(self, value, label):
        self.value, self.label = value, label


pytree.register(Box, lambda box: ((box.value,), box.label), lambda children, label: Box(children[0], label))

TREES = [
    (1, [1]),
    ((1, 2), [1, 2]),
    ([1, (2, 3)], [1, 2, 3]),
    ({"b": 1, "a": [2, 3]}, [1, 2, 3]),
    (collections.OrderedDict(z=1, y=(2,)), [1, 2]),
    (collections.defaultdict(list, {"k": 1}), [1]),
    (Point(1, {"k": 2}), [1, 2]),
    (None, []),
    ((1, None, [None, 2]), [1, 2]),
    ((), []),
    ([], []),
    ({}, []),
]


@pytest.mark.parametrize("tree, leaves", TREES, ids=repr)
def test_a_tree_is_its_leaves_and_its_structure(tree, leaves):
    found, spec = pytree.flatten(tree)
    assert found == leaves
    assert spec.leaves == len(leaves)
    again = pytree.unflatten(found, spec)
    assert again == tree and type(again) is type(tree)
    assert pytree.leaves(tree) == leaves


@pytest.mark.parametrize("tree, leaves", TREES, ids=repr)
def test_map_keeps_the_structure(tree, leaves):
    doubled = pytree.tree_map(lambda a: 2 * a, tree)
    assert pytree.flatten(doubled)[1] == pytree.flatten(tree)[1]
    assert pytree.leaves(doubled) == [2 * a for a in leaves]
    assert pytree.leaves(pytree.tree_map(lambda a, b: a - b, doubled, tree)) == leaves


def test_a_default_dict_keeps_its_factory():
    tree = collections.defaultdict(list, {"k": 1})
    assert pytree.unflatten(*pytree.flatten(tree)).default_factory is list


def test_a_registered_type_is_a_container():
    leaves, spec = pytree.flatten([Box((1, 2), "a"), 3])
    assert leaves == [1, 2, 3]
    box = pytree.unflatten([4, 5, 6], spec)[0]
    assert isinstance(box, Box) and box.value == (4, 5) and box.label == "a"
    assert pytree.flatten(Box(1, "a"))[1] != pytree.flatten(Box(1, "b"))[1]


def test_a_type_is_registered_once():
    with pytest.raises(ValueError, match="tuple is a container already"):
        pytree.register(tuple, lambda t: (t, None), lambda children, _: tuple(children))


@pytest.mark.parametrize(
    "a, b",
    [((1, 2), [1, 2]), ((1, 2), (1, 2, 3)), ({"a": 1}, {"b": 1}), ((1,), 1), (Point(1, 2), (1, 2)), (None, 1)],
    ids=repr,
)
def test_structures_differ(a, b):
    assert pytree.flatten(a)[1] != pytree.flatten(b)[1]
    with pytest.raises(RuntimeError, match="f: expected the tangents to have the structure"):
        pytree.flatten_like(b, pytree.flatten(a)[1], "f", "the tangents")


def test_keys_may_come_in_another_order():
    spec = pytree.flatten({"a": 1, "b": [2, 3]})[1]
    assert pytree.flatten_like({"b": [5, 6], "a": 4}, spec, "f", "v") == [4, 5, 6]


PREFIXES = [
    (0, (1, [2, 3]), [0, 0, 0]),
    (None, (1, [2, 3]), [None, None, None]),
    ((0, None), (1, [2, 3]), [0, None, None]),
    ((0, [1, None]), (1, [2, 3]), [0, 1, None]),
    ({"b": 1, "a": 0}, {"a": 1, "b": (2, 3)}, [0, 1, 1]),
    ((0, None), (1, None), [0]),
    ((0, 1), (1, 2, 3), None),
    ((0, (1, 2)), (1, [2, 3]), None),
    ("x", (1,), None),
]


@pytest.mark.parametrize("prefix, tree, expected", PREFIXES, ids=repr)
def test_a_prefix_stands_for_all_leaves_below(prefix, tree, expected):
    assert pytree.broadcast_prefix(prefix, pytree.flatten(tree)[1], (int, type(None))) == expected


def test_a_structure_is_described_as_it_would_be_typed():
    spec = pytree.flatten({"w": (1, [2, 3]), "b": None, "p": Point(1, (2,))})[1]
    assert repr(spec) == "{'w': (*, [*, *]), 'b': None, 'p': Point(*, (*,))}"
