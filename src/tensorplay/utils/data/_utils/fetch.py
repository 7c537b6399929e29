"""From keys to a batch: what one task of a loader is."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ....core.tensor import Tensor
from ..dataset import Subset, TensorDataset, samples
from .collate import STANDARD, default_collate, default_collate_fn_map


class MapFetcher:
    """Batches, or single samples, of a dataset that is indexed."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset, self.auto_collation, self.collate_fn = dataset, auto_collation, collate_fn
        usual = auto_collation and collate_fn is default_collate and default_collate_fn_map == STANDARD
        self.rows = rows_of(dataset) if usual else None

    def fetch(self, keys: Any) -> Any:
        if not self.auto_collation:
            return self.collate_fn(self.dataset[keys])
        if self.rows is not None and type(keys) is list and set(map(type, keys)) == {int}:
            return self.rows(keys)
        return self.collate_fn(samples(self.dataset, keys))


class IterableFetcher:
    """Batches, or single samples, of a dataset that is iterated over; StopIteration when there are no more."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.iterator = iter(dataset)
        self.auto_collation, self.collate_fn, self.drop_last = auto_collation, collate_fn, drop_last
        self.ended = False

    def fetch(self, keys: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.iterator))
        batch = list(itertools.islice(self.iterator, len(keys)))
        self.ended = len(batch) < len(keys)
        if not batch or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(batch)


def rows_of(dataset: Any) -> Callable[[list[int]], Any] | None:
    """The batch of several keys by one step of indexing per tensor, which is what collating their rows would give.

    None for datasets that hold more than tensors, or that subclasses have changed.
    """
    kind = type(dataset)
    if kind is Tensor:
        return lambda keys: dataset[keys]
    if isinstance(dataset, TensorDataset):
        if kind.__getitem__ is not TensorDataset.__getitem__ or hasattr(kind, "__getitems__"):
            return None
        return lambda keys: [t[keys] for t in dataset.tensors]
    if isinstance(dataset, Subset):
        if kind.__getitem__ is not Subset.__getitem__ or kind.__getitems__ is not Subset.__getitems__:
            return None
        rows = rows_of(dataset.dataset)
        return None if rows is None else lambda keys: rows([int(dataset.indices[i]) for i in keys])
    return None
