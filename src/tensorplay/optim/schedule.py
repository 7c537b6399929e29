"""The base class of schedules of learning rates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core.tensor import Tensor
from .optimizer import Optimizer

EPOCH_IS_DEPRECATED = "lr_scheduler.step(epoch) is deprecated: call step() once per epoch"


def copied(value: Any) -> Any:
    """An option, or a copy if it is a tensor."""
    return value.detach().clone() if isinstance(value, Tensor) else value


def assign(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option; a tensor is written in place."""
    if isinstance(group[key], Tensor):
        group[key].fill_(float(value))
    else:
        group[key] = value


def per_group(name: str, value: Any, groups: Sequence[Any]) -> list[Any]:
    """A value for each group from one or a list of them."""
    if isinstance(value, (list, tuple)):
        if len(value) != len(groups):
            raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
                             f"values, param_groups has {len(groups)}.")  # fmt: skip
        return [copied(v) for v in value]
    return [copied(value) for _ in groups]


class LRScheduler:
    """Base class of schedules; a subclass defines ``get_lr``.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer whose groups get new rates.
    last_epoch : int
        The last epoch, to resume; -1 begins. The rate of the beginning is kept in each group as ``initial_lr``.

    Raises
    ------
    TypeError
        If ``optimizer`` is none.
    KeyError
        If a group lacks ``initial_lr`` on resuming.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> class Harmonic(tp.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / (1 + self.last_epoch) for lr in self.base_lrs]
    >>> schedule = Harmonic(opt)
    >>> for _ in range(3):
    ...     opt.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                               "last_epoch >= 0")  # fmt: skip
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self.optimizer._opt_called = False
        self._is_initial, self._get_lr_called_within_step = True, False
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict()`` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that were set last, one per group."""
        return self._last_lr

    _last_lr: list[Any]

    def get_lr(self) -> list[Any]:
        """The rates of epoch ``last_epoch``, one per group, from those that the groups have."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr")

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch.

        Parameters
        ----------
        epoch : int, optional
            Go to this epoch instead (deprecated).
        """
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "lr_scheduler.step() was called before optimizer.step(): the first value of the schedule is skipped",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            self._set(self._called_within_step(self.get_lr))
        else:
            warnings.warn(EPOCH_IS_DEPRECATED, UserWarning, stacklevel=2)
            self._go_to(epoch)

    def _go_to(self, epoch: int) -> None:
        self.last_epoch = epoch
        self._set(self._called_within_step(getattr(self, "_get_closed_form_lr", self.get_lr)))

    def _called_within_step(self, rates: Callable[[], list[Any]]) -> list[Any]:
        """New rates; schedules of others look at the mark to warn of a ``get_lr`` outside of a step."""
        self._get_lr_called_within_step = True
        try:
            return rates()
        finally:
            self._get_lr_called_within_step = False

    def _set(self, rates: Iterable[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates):
            assign(group, "lr", lr)
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _times(self, factor: float) -> list[Any]:
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _unchanged(self) -> list[Any]:
        return [copied(group["lr"]) for group in self.optimizer.param_groups]
