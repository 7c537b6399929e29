"""Samplers: the order in which a dataset's samples are taken."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from ...core import dtype as dtypes
from ...core.generator import Generator
from ...ops.from_data import as_tensor
from ...ops.random import multinomial, randint, randperm

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T_co = TypeVar("T_co", covariant=True)

BLOCK = 1024  # draws with replacement are made this many at a time


class Sampler(Generic[T_co]):
    """Keys of samples: a subclass defines ``__iter__``, and ``__len__`` where the number of keys is known.

    Examples
    --------
    >>> from tensorplay.utils.data import DataLoader, Sampler
    >>> class Backwards(Sampler):
    ...     def __init__(self, data):
    ...         self.data = data
    ...     def __iter__(self):
    ...         return iter(range(len(self.data) - 1, -1, -1))
    ...     def __len__(self):
    ...         return len(self.data)
    >>> list(DataLoader("abc", sampler=Backwards("abc"), batch_size=2))
    [['c', 'b'], ['a']]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__}: a Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """All keys from 0 upwards.

    Parameters
    ----------
    data_source : Sized
        The dataset.

    Examples
    --------
    >>> from tensorplay.utils.data import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Keys in random order, each once, or drawn with replacement.

    Parameters
    ----------
    data_source : Sized
        The dataset.
    replacement : bool
        Whether each draw is from all keys.
    num_samples : int, optional
        How many; if left out, as many as the dataset has. More than those, without replacement, go on with a further
        permutation.
    generator : Generator, optional
        Source of the numbers; if left out, each pass takes a seed from the default generator.

    Raises
    ------
    TypeError
        If ``replacement`` is no bool.
    ValueError
        If ``num_samples`` is no positive integer.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.data import RandomSampler
    >>> sorted(RandomSampler("abc"))
    [0, 1, 2]
    >>> len(RandomSampler("abc", replacement=True, num_samples=5))
    5
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:  # fmt: skip
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f"RandomSampler(): replacement should be a boolean value, but got {replacement=}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                "RandomSampler(): num_samples should be a positive integer value, but got num_samples="
                f"{self.num_samples}" + ": the dataset is empty" * (num_samples is None)
            )

    @property
    def num_samples(self) -> int:
        """How many keys a pass has; the dataset may have changed its length since."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, left = len(self.data_source), self.num_samples
        generator = Generator().manual_seed(random_seed(None)) if self.generator is None else self.generator
        while left > 0:
            if self.replacement:
                keys = randint(n, (min(BLOCK, left),), generator=generator).tolist()
            else:
                if not n:
                    raise ZeroDivisionError("RandomSampler: there is nothing to draw from, as the dataset is empty")
                keys = randperm(n, generator=generator).tolist()[:left]
            left -= len(keys)
            yield from keys

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given keys in random order.

    Parameters
    ----------
    indices : sequence
        The keys.
    generator : Generator, optional
        Source of the numbers; the default generator if left out.

    Examples
    --------
    >>> from tensorplay.utils.data import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([2, 5, 7]))
    [2, 5, 7]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Keys drawn with given probabilities.

    Parameters
    ----------
    weights : sequence of float
        One for each key; they need not sum to 1.
    num_samples : int
        How many keys to draw.
    replacement : bool
        Whether a key may be drawn more than once.
    generator : Generator, optional
        Source of the numbers; the default generator if left out.

    Raises
    ------
    ValueError
        If an argument is of the wrong kind, or ``weights`` has more than one dimension.

    Examples
    --------
    >>> from tensorplay.utils.data import WeightedRandomSampler
    >>> set(WeightedRandomSampler([0.0, 1.0, 3.0], 50)) <= {1, 2}
    True
    """

    num_samples: int
    replacement: bool

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        checked_count("WeightedRandomSampler", "num_samples", num_samples)
        checked_flag("WeightedRandomSampler", "replacement", replacement)
        self.weights = as_tensor(weights, dtype=dtypes.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                "WeightedRandomSampler(): weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of the keys of another sampler.

    Parameters
    ----------
    sampler : Sampler or iterable
        The keys.
    batch_size : int
        How many make a list.
    drop_last : bool
        Whether to leave the last list out if it is shorter.

    Raises
    ------
    ValueError
        If ``batch_size`` is no positive integer, or ``drop_last`` no bool.

    Examples
    --------
    >>> from tensorplay.utils.data import BatchSampler
    >>> list(BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    batch_size: int
    drop_last: bool

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        checked_count("BatchSampler", "batch_size", batch_size)
        checked_flag("BatchSampler", "drop_last", drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        keys = iter(self.sampler)
        while batch := list(itertools.islice(keys, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n: int = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def random_seed(generator: Generator | None) -> int:
    """A seed, drawn."""
    return randint(2**63 - 1, (), generator=generator, dtype=dtypes.int64).item()


def checked_count(name: str, argument: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name}(): {argument} should be a positive integer value, but got {argument}={value}")


def checked_flag(name: str, argument: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name}(): {argument} should be a boolean value, but got {argument}={value}")
