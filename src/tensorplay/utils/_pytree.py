"""Nested containers as lists of leaves, by the names that programs import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.pytree import Spec as TreeSpec
from ..core.pytree import flatten as tree_flatten
from ..core.pytree import leaves as tree_leaves
from ..core.pytree import register as register_pytree_node
from ..core.pytree import tree_map
from ..core.pytree import unflatten as tree_unflatten

__all__ = ["TreeSpec", "register_pytree_node", "tree_all", "tree_any", "tree_flatten", "tree_leaves", "tree_map",
           "tree_map_only", "tree_unflatten"]  # fmt: skip


def tree_map_only(kind: Any, fn: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to the leaves of some types.

    Examples
    --------
    >>> from tensorplay.utils._pytree import tree_map_only
    >>> tree_map_only(int, lambda x: x + 1, {"a": 1, "b": [2, "c"]})
    {'a': 2, 'b': [3, 'c']}
    """
    return tree_map(lambda leaf: fn(leaf) if isinstance(leaf, kind) else leaf, tree)


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether something holds of all leaves."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether something holds of any leaf."""
    return any(map(pred, tree_leaves(tree)))
