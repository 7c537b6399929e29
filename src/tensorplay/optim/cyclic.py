"""Schedules that change the rate after every batch, and momentum with it."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any, Literal

from .optimizer import Optimizer
from .schedule import LRScheduler, assign, per_group


class CyclicLR(LRScheduler):
    """The rate runs between two bounds (Smith, 2017, arXiv:1506.01186); call ``step`` after every batch.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    base_lr, max_lr : float or list of float
        The bounds, for all groups or for each.
    step_size_up, step_size_down : int
        Batches of the rising and of the falling half; the second is as the first by default.
    mode : {"triangular", "triangular2", "exp_range"}
        Same height in all cycles, half in each next one, or ``gamma`` to the number of the batch.
    gamma : float
        The base for ``"exp_range"``.
    scale_fn : callable, optional
        The height as a function of the cycle or the batch; ``mode`` is then ignored.
    scale_mode : {"cycle", "iterations"}
        What ``scale_fn`` is a function of.
    cycle_momentum : bool
        Let momentum (or the first of ``betas``) run against the rate, from ``max_momentum`` to ``base_momentum``.
    base_momentum, max_momentum : float or list of float
        Its bounds.
    last_epoch : int
        The last batch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0, momentum=0.9)
    >>> schedule = tp.optim.lr_scheduler.CyclicLR(opt, base_lr=0.0, max_lr=1.0, step_size_up=2)
    >>> opt.step(); schedule.step(); schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: float | list[float], max_lr: float | list[float],
        step_size_up: int = 2000, step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True, base_momentum: float = 0.8, max_momentum: float = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        groups = optimizer.param_groups
        bases = per_group("base_lr", base_lr, groups)
        self.max_lrs = per_group("max_lr", max_lr, groups)
        up, down = float(step_size_up), float(step_size_up if step_size_down is None else step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            self.base_momentums = per_group("base_momentum", base_momentum, groups)
            self.max_momentums = per_group("max_momentum", max_momentum, groups)
            if last_epoch == -1:
                for group, least, most in zip(groups, self.base_momentums, self.max_momentums):
                    set_momentum(group, most)
                    group["max_momentum"], group["base_momentum"] = most, least
        if last_epoch == -1:
            for group, base in zip(groups, bases):
                assign(group, "lr", base)
                group.pop("initial_lr", None)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = bases

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer and a function ``scale_fn``; of another callable the attributes are kept."""
        out = super().state_dict()
        own = out["_scale_fn_custom"]
        out["_scale_fn_custom"] = None if own is None or isinstance(own, types.FunctionType) else own.__dict__.copy()
        return out

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict()`` gave."""
        state_dict = {**state_dict}
        saved = state_dict.pop("_scale_fn_custom", None)
        super().load_state_dict(state_dict)
        if saved is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(saved)

    def scale_fn(self, x: float) -> float:
        """The height of cycle or batch ``x``."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums)
            for group, least, most in bounds:
                set_momentum(group, most - (most - least) * height)
        return [base + (most - base) * height for base, most in zip(self.base_lrs, self.max_lrs)]


def set_momentum(group: dict[str, Any], value: float) -> None:
    """Set the momentum of a group, or the first of its betas."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class OneCycleLR(LRScheduler):
    """The rate rises to ``max_lr``, then falls far below where it began (Smith and Topin, arXiv:1708.07120).

    Call ``step`` after every batch.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    max_lr : float or list of float
        The largest rate, for all groups or for each.
    total_steps : int, optional
        Batches in all; else ``epochs * steps_per_epoch``.
    epochs, steps_per_epoch : int, optional
        To tell the number of batches.
    pct_start : float
        The part of them in which the rate rises.
    anneal_strategy : {"cos", "linear"}
        The form of rise and fall.
    cycle_momentum : bool
        Let momentum (or the first of ``betas``) run against the rate, from ``max_momentum`` to ``base_momentum``.
    base_momentum, max_momentum : float or list of float
        Its bounds.
    div_factor : float
        ``max_lr`` over the first rate.
    final_div_factor : float
        The first rate over the last.
    three_phase : bool
        Fall back to the first rate as fast as it rose, then to the last; else to the last at once.
    last_epoch : int
        The last batch, to resume.

    Raises
    ------
    ValueError
        If the number of batches is unknown, or on a step beyond it.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0, momentum=0.9)
    >>> schedule = tp.optim.lr_scheduler.OneCycleLR(opt, max_lr=1.0, total_steps=11, pct_start=0.1)
    >>> before = schedule.get_last_lr()
    >>> opt.step(); schedule.step()
    >>> [round(lr, 3) for lr in before + schedule.get_last_lr()]
    [0.04, 0.98]
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: float | list[float], total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos", cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85, max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        counts = {"total_steps": total_steps, "epochs": epochs, "steps_per_epoch": steps_per_epoch}
        for name in ("total_steps",) if total_steps is not None else ("epochs", "steps_per_epoch"):
            count = counts[name]
            if count is None:
                raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
            if count <= 0 or not isinstance(count, int):
                raise ValueError(f"Expected positive integer {name}, but got {count}")
        self.total_steps: int = total_steps if total_steps is not None else epochs * steps_per_epoch  # type: ignore
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        top, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        phases: list[tuple[Any, ...]] = [(top, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            back = float(2 * pct_start * self.total_steps) - 2
            phases += [(back, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                             (last, "initial_lr", "min_lr", "max_momentum", "max_momentum")]  # fmt: skip
        else:
            phases += [(last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        parts = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
        self._schedule_phases = [dict(zip(parts, phase)) for phase in phases]
        self._anneal_func_type, self.cycle_momentum = anneal_strategy, cycle_momentum
        groups = optimizer.param_groups
        rates = per_group("max_lr", max_lr, groups)
        if last_epoch == -1:
            for group, most in zip(groups, rates):
                group["initial_lr"] = most / div_factor
                group["max_lr"] = most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            if last_epoch == -1:
                bounds = zip(groups, per_group("base_momentum", base_momentum, groups),
                             per_group("max_momentum", max_momentum, groups))  # fmt: skip
                for group, least, most in bounds:
                    set_momentum(group, most)
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2 * (1 + math.cos(math.pi * part))
        return start + (end - start) * part

    def get_lr(self) -> list[Any]:
        n = self.last_epoch
        if n > self.total_steps:
            raise ValueError(f"Tried to step {n} times. The specified number of total steps is {self.total_steps}")
        begin = 0.0
        for phase in self._schedule_phases:
            end, lr_from, lr_to, momentum_from, momentum_to = phase.values()
            if n <= end or phase is self._schedule_phases[-1]:
                part = (n - begin) / (end - begin)
                break
            begin = end
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                set_momentum(group, self._between(group[momentum_from], group[momentum_to], part))
        return [self._between(group[lr_from], group[lr_to], part) for group in self.optimizer.param_groups]
