"""Schedules of learning rates.

A schedule says how the rate follows from that of the epoch before, so that several may act on one optimizer.
"""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from .cyclic import CyclicLR, OneCycleLR
from .optimizer import Optimizer
from .schedule import EPOCH_IS_DEPRECATED, LRScheduler, assign, copied, per_group

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


class _LRScheduler(LRScheduler):
    """The name that programs knew :class:`LRScheduler` by."""


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    lr_lambda : callable or list of callables
        The factor of an epoch; one for all groups, or one for each.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=0.5)
    >>> schedule = tp.optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.5**epoch)
    >>> opt.step(); schedule.step(); schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        groups = optimizer.param_groups
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * len(groups)
        )
        if len(self.lr_lambdas) != len(groups):
            raise ValueError(f"Expected {len(groups)} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; functions are left out, of other callables the attributes are kept."""
        out = super().state_dict()
        out["lr_lambdas"] = [
            None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in self.lr_lambdas
        ]  # fmt: skip
        return out

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict()`` gave; functions stay as they are."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for f, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if saved is not None:
                f.__dict__.update(saved)

    def get_lr(self) -> list[Any]:
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    """The rate times a function of the epoch, epoch after epoch.

    Parameters are those of :class:`LambdaLR`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.MultiplicativeLR(opt, lambda epoch: 0.5)
    >>> for _ in range(3):
    ...     opt.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.125]
    """

    def get_lr(self) -> list[Any]:
        if self._is_initial:
            return self._unchanged()
        return [g["lr"] * f(self.last_epoch) for f, g in zip(self.lr_lambdas, self.optimizer.param_groups)]


class StepLR(LRScheduler):
    """The rate times ``gamma`` every ``step_size`` epochs.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    step_size : int
        Epochs between the changes.
    gamma : float
        The factor.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    >>> for _ in range(4):
    ...     opt.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._unchanged()
        return self._times(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times ``gamma`` at each of the ``milestones``.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    milestones : iterable of int
        Epochs of the changes; one may stand several times.
    gamma : float
        The factor.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.MultiStepLR(opt, milestones=[1, 3], gamma=0.5)
    >>> for _ in range(4):
    ...     opt.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        times = self.milestones.get(self.last_epoch)
        return self._times(self.gamma**times) if times else self._unchanged()

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rate times ``factor`` for the first ``total_iters`` epochs.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    factor : float
        The factor, between 0 and 1.
    total_iters : int
        How many epochs it lasts.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.ConstantLR(opt, factor=0.5, total_iters=2)
    >>> before = schedule.get_last_lr()
    >>> for _ in range(2):
    ...     opt.step(); schedule.step()
    >>> before, schedule.get_last_lr()
    ([0.5], [1.0])
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return self._times(self.factor)
        return self._times(1 / self.factor) if self.last_epoch == self.total_iters else self._unchanged()

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * (self.factor if self.last_epoch < self.total_iters else 1) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The rate times a factor that goes linearly from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    start_factor, end_factor : float
        The factors at both ends, between 0 and 1; the first is not 0.
    total_iters : int
        Epochs on the way.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.LinearLR(opt, start_factor=0.5, total_iters=2)
    >>> opt.step(); schedule.step(); schedule.get_last_lr()
    [0.75]
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        passed = min(self.total_iters, epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * passed

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return self._times(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        return self._times(self._factor(self.last_epoch) / self._factor(self.last_epoch - 1))

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self._factor(self.last_epoch) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rate times ``gamma`` every epoch.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    gamma : float
        The factor.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
    >>> opt.step(); schedule.step(); schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self._unchanged() if self._is_initial else self._times(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The initial rate times ``(1 - epoch / total_iters) ** power``.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    total_iters : int
        Epochs until the rate is 0.
    power : float
        The power.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.PolynomialLR(opt, total_iters=4, power=2.0)
    >>> opt.step(); schedule.step(); schedule.get_last_lr()
    [0.5625]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return (1 - min(self.total_iters, epoch) / self.total_iters) ** self.power

    def get_lr(self) -> list[Any]:
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        left = (1 - self.last_epoch / self.total_iters) / (1 - (self.last_epoch - 1) / self.total_iters)
        return self._times(left**self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self._factor(self.last_epoch) for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to ``eta_min`` in ``T_max`` epochs, and back.

    The schedule of SGDR without restarts (Loshchilov and Hutter, 2017, arXiv:1608.03983).

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    T_max : int
        Half the period, in epochs.
    eta_min : float
        Least rate.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=2)
    >>> opt.step(); schedule.step(); round(schedule.get_last_lr()[0], 6)
    0.5
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        epoch, T, low = self.last_epoch, self.T_max, self.eta_min
        groups = self.optimizer.param_groups
        if self._is_initial:
            return self._unchanged()
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - T) % (2 * T) == 0:  # the epoch before was at the minimum: there is no ratio
            return [g["lr"] + (base - low) * (1 - math.cos(math.pi / T)) / 2 for base, g in zip(self.base_lrs, groups)]
        ratio = (1 + math.cos(math.pi * epoch / T)) / (1 + math.cos(math.pi * (epoch - 1) / T))
        return [low + ratio * (g["lr"] - low) for g in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the initial rate to ``eta_min``, again and again (Loshchilov and Hutter, arXiv:1608.03983).

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    T_0 : int
        Epochs until the first restart.
    T_mult : int
        By which each period is longer than the one before.
    eta_min : float
        Least rate.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=2)
    >>> for _ in range(2):
    ...     opt.step(); schedule.step()
    >>> schedule.get_last_lr()
    [1.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the rates of the next epoch, or of ``epoch``, which may be a fraction: ``epoch + batch / batches``."""
        if epoch is None and self.last_epoch >= 0:
            self.last_epoch += 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
            self._set(self.get_lr())
        else:
            self._go_to(0 if epoch is None else epoch)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.T_cur, self.T_i = epoch, self.T_0
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            while self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())


class SequentialLR(LRScheduler):
    """Schedules that follow one another.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    schedulers : list of LRScheduler
        The schedules, of this optimizer.
    milestones : list of int
        The epochs at which the second and the following begin.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> parts = [ConstantLR(opt, factor=0.5, total_iters=9), ExponentialLR(opt, gamma=0.5)]
    >>> schedule = SequentialLR(opt, parts, milestones=[2])
    >>> for _ in range(3):
    ...     opt.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        check_schedulers(type(self).__name__, schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("SequentialLR expects one scheduler more than milestones, but got "
                             f"{len(schedulers)} schedulers and {len(milestones)} milestones")  # fmt: skip
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:  # undo the first steps of all, then take that of the first
            assign(group, "lr", copied(group["initial_lr"]))
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch."""
        if epoch is not None:
            raise TypeError("SequentialLR.step: it takes no epoch; call step() once per epoch")
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._step_count += 1
            scheduler._go_to(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer, with the states of the schedules."""
        return with_states(super().state_dict(), self._schedulers)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict()`` gave."""
        load_states(self, state_dict)


class ChainedScheduler(LRScheduler):
    """Schedules that act one after the other in each epoch.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
        The schedules.
    optimizer : Optimizer, optional
        Their optimizer.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = ChainedScheduler([ConstantLR(opt, factor=0.5, total_iters=9), ExponentialLR(opt, gamma=0.5)])
    >>> opt.step(); schedule.step(); schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        optimizer = optimizer if optimizer is not None or not schedulers else schedulers[0].optimizer
        check_schedulers(type(self).__name__, schedulers, optimizer)
        self._schedulers, self.optimizer = list(schedulers), schedulers[0].optimizer
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]

    def step(self, epoch: None = None) -> None:  # type: ignore[override]
        """Let each schedule set the rates of the next epoch."""
        if epoch is not None:
            raise TypeError("ChainedScheduler.step: it takes no epoch; call step() once per epoch")
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer, with the states of the schedules."""
        return with_states(super().state_dict(), self._schedulers)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict()`` gave."""
        load_states(self, state_dict)


def check_schedulers(name: str, schedulers: Sequence[LRScheduler], optimizer: Any) -> None:
    """Refuse schedules that cannot be combined."""
    if len(schedulers) < 1:
        raise ValueError(f"{name} expects at least one scheduler to be chained, but got no scheduler.")
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(f"{name} does not support `ReduceLROnPlateau`, whose step takes a metric, but got one at "
                             f"index {i}")  # fmt: skip
        if scheduler.optimizer is not optimizer:
            raise ValueError(f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                             f"{type(scheduler).__name__} at index {i} with another one.")  # fmt: skip


def with_states(state: dict[str, Any], schedulers: Sequence[LRScheduler]) -> dict[str, Any]:
    """A state in which schedules stand as their own states."""
    return {**state, "_schedulers": [s.state_dict() for s in schedulers]}


def load_states(scheduler: Any, state: dict[str, Any]) -> None:
    """Take over a state in which schedules stand as their own states."""
    scheduler.__dict__.update({k: v for k, v in state.items() if k != "_schedulers"})
    for part, saved in zip(scheduler._schedulers, state["_schedulers"]):
        part.load_state_dict(saved)


class ReduceLROnPlateau(LRScheduler):
    """The rate times ``factor`` when a metric has stopped improving.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    mode : {"min", "max"}
        Whether a smaller or a larger metric is better.
    factor : float
        By which the rate is reduced; below one.
    patience : int
        Epochs without improvement that are let pass.
    threshold : float
        Least improvement that counts.
    threshold_mode : {"rel", "abs"}
        Whether the threshold is relative to the best metric.
    cooldown : int
        Epochs after a reduction in which none are counted.
    min_lr : float or list of float
        Least rate, for all groups or for each.
    eps : float
        Smaller changes of the rate are left out.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.1]
    """

    def __init__(
        self, optimizer: Optimizer, mode: Literal["min", "max"] = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: Literal["rel", "abs"] = "rel", cooldown: int = 0,
        min_lr: list[float] | float = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        if isinstance(min_lr, (list, tuple)) and len(min_lr) != len(optimizer.param_groups):
            raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
        self.optimizer = optimizer
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = per_group("min_lr", min_lr, optimizer.param_groups)
        self.mode, self.factor, self.patience, self.cooldown = mode, factor, patience, cooldown
        self.threshold, self.threshold_mode, self.eps = threshold, threshold_mode, eps
        self.last_epoch = 0
        self._last_lr = self._unchanged()
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether bad epochs are not counted now."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether a metric improves on the best one by more than the threshold."""
        sign = -1 if self.mode == "min" else 1
        bound = best * (1 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return a < bound if self.mode == "min" else a > bound

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the metric of an epoch into account.

        Parameters
        ----------
        metrics : float or Tensor
            The metric.
        epoch : int, optional
            Its number (deprecated).
        """
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_IS_DEPRECATED, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._unchanged()

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(f"ReduceLROnPlateau: the optimizer has {len(groups)} param groups, but min_lr was "
                                   f"given for {len(self.min_lrs)}; add to the attribute min_lrs")  # fmt: skip
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                assign(group, "lr", new)
