"""The share of a dataset that one of several processes takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.generator import Generator
from ...ops.random import randperm
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[Any]):
    """Every ``num_replicas``-th key, starting with the ``rank``-th: the shares of all ranks make up the dataset.

    All ranks have the same number of keys: the first ones come again at the end, or, with ``drop_last``, the last ones
    are left out. Call :meth:`set_epoch` before each epoch, or every epoch has the same order.

    Parameters
    ----------
    dataset : Dataset
        The whole.
    num_replicas : int
        How many processes there are. There is no process group that could tell, so it has to be given.
    rank : int
        Which of them this is.
    shuffle : bool
        Whether the order is random, and the same for all ranks.
    seed : int
        Of that order; the same for all ranks.
    drop_last : bool
        Whether keys are left out, rather than repeated, where they do not divide evenly.

    Raises
    ------
    ValueError
        If ``num_replicas`` or ``rank`` is left out, or out of range.

    Examples
    --------
    >>> from tensorplay.utils.data.distributed import DistributedSampler
    >>> [list(DistributedSampler("abcde", num_replicas=2, rank=rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
        seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        if num_replicas is None or rank is None:
            raise ValueError(
                "DistributedSampler(): Default process group has not been initialized; give num_replicas and rank"
            )
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"DistributedSampler(): Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[Any]:
        n = len(self.dataset)
        if self.shuffle:
            keys = randperm(n, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        else:
            keys = list(range(n))
        if n:
            keys = (keys * -(-self.total_size // n))[: self.total_size]
        return iter(keys[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next; it enters the seed of the order.

        Parameters
        ----------
        epoch : int
            Its number.
        """
        self.epoch = epoch
