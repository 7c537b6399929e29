"""Datasets: what can be indexed, what can only be iterated over, and what is put together from others."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...core.generator import Generator, default_generator
from ...core.tensor import Tensor

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """Samples by key: a subclass defines ``__getitem__``, and ``__len__`` for the samplers that need it.

    A subclass may also define ``__getitems__``, which takes a list of keys and returns the list of their samples;
    :class:`DataLoader` then fetches whole batches with it. ``a + b`` is a :class:`ConcatDataset`.

    Examples
    --------
    >>> from tensorplay.utils.data import DataLoader, Dataset
    >>> class Squares(Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> list(DataLoader(Squares(), batch_size=2))
    [tensor([0, 1]), tensor([4, 9])]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples in the order in which they come: a subclass defines ``__iter__``.

    With several worker processes each one iterates over a copy of its own, so ``__iter__`` has to ask
    :func:`get_worker_info` for its share of the samples; else each sample comes once per worker. ``a + b`` is a
    :class:`ChainDataset`.

    Examples
    --------
    >>> from tensorplay.utils.data import DataLoader, IterableDataset, get_worker_info
    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         worker = get_worker_info()
    ...         return iter(range(6) if worker is None else range(worker.id, 6, worker.num_workers))
    >>> list(DataLoader(Count(), batch_size=4))
    [tensor([0, 1, 2, 3]), tensor([4, 5])]
    """

    def __add__(self, other: Dataset[T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors: sample ``i`` is the tuple of the entries ``i`` of all of them.

    Parameters
    ----------
    *tensors : Tensor
        Of the same extent in their first dimension.

    Raises
    ------
    AssertionError
        If the extents differ.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.data import TensorDataset
    >>> data = TensorDataset(tp.tensor([[1., 2.], [3., 4.]]), tp.tensor([0, 1]))
    >>> len(data), data[1]
    (2, (tensor([3., 4.]), tensor(1)))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError(f"Size mismatch between tensors: their first extents are {[len(t) for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([t[index] for t in self.tensors])

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Datasets side by side: a sample is the tuple, or the dict, of their samples with the same key.

    Parameters
    ----------
    *args : Dataset
        For samples that are tuples.
    **kwargs : Dataset
        For samples that are dicts.

    Raises
    ------
    ValueError
        If there are none, or some of both kinds, or their lengths differ.

    Examples
    --------
    >>> from tensorplay.utils.data import StackDataset
    >>> StackDataset(image=["a", "b"], label=[0, 1])[1]
    {'image': 'b', 'label': 1}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("StackDataset(): give datasets either by position, for tuples, or by name, for dicts")
        if not args and not kwargs:
            raise ValueError("StackDataset(): At least one dataset should be passed")
        self.datasets = args or kwargs
        self._length = len(self._parts()[0])
        if any(len(part) != self._length for part in self._parts()):
            raise ValueError(
                f"StackDataset(): Size mismatch between datasets, of lengths {[len(p) for p in self._parts()]}"
            )

    def _parts(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _joined(self, samples: Iterable[Any]) -> Any:
        return dict(zip(self.datasets, samples)) if isinstance(self.datasets, dict) else tuple(samples)

    def __getitem__(self, index: Any) -> Any:
        return self._joined([part[index] for part in self._parts()])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = []
        for part in self._parts():
            column = samples(part, indices)
            if len(column) != len(indices):
                raise ValueError(
                    f"StackDataset(): __getitems__ of {type(part).__name__} returned {len(column)} samples for "
                    f"{len(indices)} keys"
                )
            columns.append(column)
        return [self._joined(row) for row in zip(*columns)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other.

    Parameters
    ----------
    datasets : iterable of Dataset
        At least one, none of them iterable-style.

    Raises
    ------
    AssertionError
        If there is none, or an :class:`IterableDataset` among them.

    Examples
    --------
    >>> from tensorplay.utils.data import ConcatDataset
    >>> both = ConcatDataset(["ab", "cde"])
    >>> len(both), both[1], both[2], both[-1]
    (5, 'b', 'c', 'e')
    """

    datasets: list[Dataset[T_co]]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """How many samples there are up to, and with, each dataset."""
        return list(itertools.accumulate(len(part) for part in sequence))

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("ConcatDataset(): datasets should not be an empty iterable")
        if any(isinstance(part, IterableDataset) for part in self.datasets):
            raise AssertionError("ConcatDataset(): ConcatDataset does not support IterableDataset; use ChainDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError(
                    f"ConcatDataset: absolute value of index should not exceed dataset length, got {idx} for "
                    f"{len(self)} samples"
                )
            idx += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[number][idx - (self.cumulative_sizes[number - 1] if number else 0)]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old name of ``cumulative_sizes``."""
        warnings.warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Iterable-style datasets one after the other; the next one starts when the one before it ends.

    Parameters
    ----------
    datasets : iterable of IterableDataset
        The datasets.

    Examples
    --------
    >>> from tensorplay.utils.data import ChainDataset, IterableDataset
    >>> class Letters(IterableDataset):
    ...     def __init__(self, text):
    ...         self.text = text
    ...     def __iter__(self):
    ...         return iter(self.text)
    >>> "".join(ChainDataset([Letters("ab"), Letters("cd")]))
    'abcd'
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for part in self.datasets:
            if not isinstance(part, IterableDataset):
                raise AssertionError(f"ChainDataset only supports IterableDataset, got {type(part).__name__}")
            yield part

    def __iter__(self) -> Iterator[Any]:
        for part in self._checked():
            yield from part

    def __len__(self) -> int:
        return sum(len(part) for part in self._checked())


class Subset(Dataset[T_co]):
    """Some of the samples of a dataset.

    Parameters
    ----------
    dataset : Dataset
        The whole.
    indices : sequence
        The keys, in the whole, of the samples.

    Examples
    --------
    >>> from tensorplay.utils.data import Subset
    >>> list(Subset("abcdef", [5, 0]))
    ['f', 'a']
    """

    dataset: Dataset[T_co]
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        return samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def samples(dataset: Any, keys: list[Any]) -> list[Any]:
    """The samples of several keys, all at once where the dataset can do that."""
    all_at_once = getattr(dataset, "__getitems__", None)
    return all_at_once(keys) if all_at_once else [dataset[key] for key in keys]


def random_split(
    dataset: Dataset[T], lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[T]]:
    """Split a dataset at random into parts of given lengths that do not overlap.

    Parameters
    ----------
    dataset : Dataset
        The whole.
    lengths : sequence
        Numbers of samples that add up to the length of the dataset; or fractions that add up to 1, whose parts are
        rounded down, after which what is left goes to the first parts, one sample each.
    generator : Generator, optional
        Source of the permutation.

    Returns
    -------
    list of Subset

    Raises
    ------
    ValueError
        If the lengths do not add up, or a fraction is not between 0 and 1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.data import random_split
    >>> parts = random_split(range(10), [0.7, 0.3], generator=tp.Generator().manual_seed(0))
    >>> [len(part) for part in parts], sorted([*parts[0], *parts[1]]) == list(range(10))
    ([7, 3], True)
    """
    from ...ops.random import randperm

    n = len(dataset)  # type: ignore[arg-type]
    total = sum(lengths)
    if math.isclose(total, 1) and total <= 1:
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"random_split(): Fraction at index {i} is not between 0 and 1, got {fraction}")
        counts = [math.floor(n * fraction) for fraction in lengths]
        for i in range(n - sum(counts)):
            counts[i % len(counts)] += 1
        for i, count in enumerate(counts):
            if not count:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2
                )
    else:
        counts = list(lengths)  # type: ignore[arg-type]
    if sum(counts) != n:
        raise ValueError(
            f"random_split(): Sum of input lengths does not equal the length of the input dataset! Got {total} for "
            f"{n} samples"
        )
    order = randperm(n, generator=generator).tolist()
    ends = itertools.accumulate(counts)
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts)]
