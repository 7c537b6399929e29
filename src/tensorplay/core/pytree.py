"""Nested containers as a flat list of leaves and a spec of what held them.

Tuples, named tuples, lists, dicts, OrderedDicts and defaultdicts are containers, None is an empty one, and anything
else is a leaf; :func:`register` adds further containers.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class Spec:
    """The structure of a tree without its leaves."""

    __slots__ = ("children", "context", "kind")

    def __init__(self, kind: Any, context: Any, children: tuple[Spec, ...]) -> None:
        self.kind, self.context, self.children = kind, context, children

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Spec)
            and self.kind is other.kind
            and self.context == other.context
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return hash((self.kind, len(self.children)))

    @property
    def leaves(self) -> int:
        """How many leaves a tree of this structure has."""
        return 1 if self is LEAF else sum(child.leaves for child in self.children)

    def __repr__(self) -> str:
        return describe(self)


LEAF = Spec(None, None, ())
EMPTY = Spec(type(None), None, ())


class Container(NamedTuple):
    """How a type is taken apart and put together."""

    flatten: Callable[[Any], tuple[Sequence[Any], Any]]
    unflatten: Callable[[Sequence[Any], Any], Any]


def named(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


CONTAINERS: dict[type, Container | None] = {
    tuple: Container(lambda t: (t, None), lambda children, _: tuple(children)),
    list: Container(lambda t: (t, None), lambda children, _: list(children)),
    dict: Container(lambda t: (list(t.values()), tuple(t)), lambda children, keys: dict(zip(keys, children))),
    collections.OrderedDict: Container(
        lambda t: (list(t.values()), tuple(t)), lambda children, keys: collections.OrderedDict(zip(keys, children))
    ),
    collections.defaultdict: Container(
        lambda t: (list(t.values()), (t.default_factory, tuple(t))),
        lambda children, context: collections.defaultdict(context[0], zip(context[1], children)),
    ),
    type(None): Container(lambda t: ((), None), lambda children, _: None),
}


def register(
    cls: type,
    flatten: Callable[[Any], tuple[Sequence[Any], Any]],
    unflatten: Callable[[Sequence[Any], Any], Any],
) -> None:
    """Let a type be a container.

    Parameters
    ----------
    cls
        The type; subclasses are not included.
    flatten
        ``flatten(tree)`` gives the children and a context that can be compared.
    unflatten
        ``unflatten(children, context)`` puts a tree together.

    Raises
    ------
    ValueError
        If the type is registered already.
    """
    if CONTAINERS.get(cls) is not None:
        raise ValueError(f"register: {cls.__name__} is a container already")
    CONTAINERS[cls] = Container(flatten, unflatten)


UNSEEN = Container(lambda t: ((), None), lambda children, _: None)


def container_of(kind: type) -> Container | None:
    """How a type is taken apart; None for leaves. Each type is looked at once."""
    container = CONTAINERS.get(kind, UNSEEN)
    if container is UNSEEN:
        container = Container(lambda t: (t, None), lambda children, _: kind(*children)) if named(kind) else None
        CONTAINERS[kind] = container
    return container


def flatten(tree: Any) -> tuple[list[Any], Spec]:
    """The leaves of a tree, in order, and its structure."""
    container = container_of(type(tree))
    if container is None:
        return [tree], LEAF
    leaves: list[Any] = []
    return leaves, take_apart(tree, container, leaves)


def take_apart(tree: Any, container: Container, leaves: list[Any]) -> Spec:
    """The structure of a container; its leaves are appended to ``leaves``."""
    kind, specs = type(tree), []
    children, context = (tree, None) if kind is tuple or kind is list else container.flatten(tree)
    for child in children:
        inner = CONTAINERS.get(type(child), UNSEEN)
        if inner is UNSEEN:
            inner = container_of(type(child))
        if inner is None:
            leaves.append(child)
            specs.append(LEAF)
        else:
            specs.append(take_apart(child, inner, leaves))
    return Spec(kind, context, tuple(specs))


def unflatten(leaves: Iterable[Any], spec: Spec) -> Any:
    """The tree of the given structure and leaves."""
    following = iter(leaves).__next__
    return following() if spec is LEAF else put_together(spec, following)


def put_together(spec: Spec, following: Callable[[], Any]) -> Any:
    """The container of a structure, of the leaves that ``following`` gives one by one."""
    children = [following() if child is LEAF else put_together(child, following) for child in spec.children]
    kind = spec.kind
    if kind is tuple:
        return tuple(children)
    return children if kind is list else CONTAINERS[kind].unflatten(children, spec.context)  # type: ignore[union-attr]


def tree_map(fn: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """``fn`` of each leaf (and of the leaves in its place in other trees of the same structure)."""
    leaves, spec = flatten(tree)
    if not others:
        return unflatten(map(fn, leaves), spec)
    return unflatten(
        map(fn, leaves, *[flatten_like(other, spec, "tree_map", "a further tree") for other in others]), spec
    )


def leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, in order."""
    return flatten(tree)[0]


def flatten_like(tree: Any, spec: Spec, name: str, what: str) -> list[Any]:
    """The leaves of a tree that must have the structure of ``spec``; dicts may have their keys in another order.

    Raises
    ------
    RuntimeError
        If the structures differ; the message names the function and the argument.
    """
    found: list[Any] = []
    if not follow(tree, spec, found):
        raise RuntimeError(
            f"{name}: expected {what} to have the structure {describe(spec)}, got {describe(flatten(tree)[1])}"
        )
    return found


def follow(tree: Any, spec: Spec, found: list[Any]) -> bool:
    """Append the leaves of a tree to ``found``; whether it has the structure."""
    if spec is LEAF:
        found.append(tree)
        return container_of(type(tree)) is None
    children = children_as_in(spec, tree)
    return children is not None and all(follow(c, s, found) for c, s in zip(children, spec.children))


def children_as_in(spec: Spec, tree: Any) -> Any:
    """The children of a container in the order of ``spec``; None if it is another container than ``spec`` says."""
    if type(tree) is not spec.kind:
        return None
    children, context = container_of(spec.kind).flatten(tree)  # type: ignore[union-attr]
    if context != spec.context:
        if spec.kind not in (dict, collections.OrderedDict) or set(context) != set(spec.context):
            return None
        children = [tree[key] for key in spec.context]
    return children if len(children) == len(spec.children) else None


def broadcast_prefix(prefix: Any, spec: Spec, atoms: tuple[type, ...]) -> list[Any] | None:
    """One entry of ``prefix`` for each leaf of ``spec``; an atom stands for all below it. None: they do not fit."""
    found: list[Any] = []
    return found if spread(prefix, spec, atoms, found) else None


def spread(prefix: Any, spec: Spec, atoms: tuple[type, ...], found: list[Any]) -> bool:
    """Append an entry for each leaf to ``found``; whether the prefix fits the structure."""
    if type(prefix) in atoms:
        found.extend([prefix] * spec.leaves)
        return True
    children = children_as_in(spec, prefix)
    return children is not None and all(spread(c, s, atoms, found) for c, s in zip(children, spec.children))


def describe(spec: Spec) -> str:
    """A structure as it would be typed, with * for each leaf."""
    if spec is LEAF:
        return "*"
    if spec.kind is type(None):
        return "None"
    inner = [describe(child) for child in spec.children]
    if spec.kind is tuple:
        return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
    if spec.kind is list:
        return f"[{', '.join(inner)}]"
    if spec.kind is dict:
        return "{" + ", ".join(f"{key!r}: {child}" for key, child in zip(spec.context, inner)) + "}"
    return f"{spec.kind.__name__}({', '.join(inner)})"
