"""Averages of weights over the steps of an optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Literal

import numpy as np

from ..autograd.grad_mode import no_grad
from ..core.tensor import Tensor, wrap
from ..nn.module import Module
from .optimizer import Optimizer
from .schedule import LRScheduler, per_group

__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip

MultiAverage = Callable[[list[Tensor], list[Tensor], Any], None]
Average = Callable[[Tensor, Tensor, Any], Tensor]


def approach(averages: Iterable[Tensor], current: Iterable[Tensor], weight: float) -> None:
    """Move averages towards current values in place; tensors that cannot be averaged take the value."""
    with no_grad():
        for average, value in zip(averages, current):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(value.detach().to(average.dtype), weight)
            else:
                average.copy_(value)


def checked_decay(decay: float) -> None:
    """Refuse a decay outside [0, 1]."""
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """An exponential moving average for all parameters at once, in place.

    Examples
    --------
    >>> import tensorplay as tp
    >>> average = tp.tensor([0.0])
    >>> tp.optim.swa_utils.get_ema_multi_avg_fn(0.75)([average], [tp.tensor([4.0])], 1)
    >>> average
    tensor([1.])
    """
    checked_decay(decay)
    return lambda averages, current, num_averaged: approach(averages, current, 1 - decay)


def get_swa_multi_avg_fn() -> MultiAverage:
    """The mean of all that was averaged, for all parameters at once, in place."""
    return lambda averages, current, num_averaged: approach(averages, current, 1 / (float(num_averaged) + 1))


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """An exponential moving average of one parameter: ``decay * average + (1 - decay) * value``."""
    checked_decay(decay)
    return no_grad()(lambda average, value, num_averaged: decay * average + (1 - decay) * value)


def get_swa_avg_fn() -> Average:
    """The mean of all that was averaged, of one parameter: ``average + (value - average) / (n + 1)``."""
    return no_grad()(lambda average, value, num_averaged: average + (value - average) / (num_averaged + 1))


class AveragedModel(Module):
    """A copy of a model that holds averages of its parameters.

    Stochastic weight averaging (Izmailov et al., 2018, arXiv:1803.05407), or exponential moving averages (Polyak and
    Juditsky, 1992).

    Parameters
    ----------
    model : Module
        The model.
    device : optional
        Where the averages live.
    avg_fn : callable, optional
        ``avg_fn(average, value, num_averaged)`` gives the new average of a parameter; the mean by default.
    multi_avg_fn : callable, optional
        ``multi_avg_fn(averages, values, num_averaged)`` changes the averages in place.
    use_buffers : bool
        Average the buffers, too; else they are copied.

    Raises
    ------
    AssertionError
        If both functions are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> model = tp.nn.Linear(1, 1, bias=False)
    >>> averaged = tp.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 2.0, 6.0):
    ...     with tp.no_grad():
    ...         _ = model.weight.fill_(value)
    ...     averaged.update_parameters(model)
    >>> averaged(tp.ones(1)).item()
    3.0
    """

    n_averaged: Tensor
    module: Module

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        self.register_buffer("n_averaged", wrap(np.array(0)))
        if device is not None:
            self.to(device)
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model gives."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the present parameters of a model into the averages."""
        averages: list[Tensor] = list(self.module.parameters())
        current: list[Tensor] = list(model.parameters())
        buffers = list(zip(self.module.buffers(), model.buffers()))
        if self.use_buffers:
            averages += [a for a, _ in buffers]
            current += [b for _, b in buffers]
        count = int(self.n_averaged.item())
        with no_grad():
            if count == 0:
                approach(averages, current, 1.0)
            elif self.avg_fn is not None:
                for average, value in zip(averages, current):
                    average.copy_(self.avg_fn(average.detach(), value.detach(), self.n_averaged))
            else:
                average_all = self.multi_avg_fn or get_swa_multi_avg_fn()
                average_all([a.detach() for a in averages], [c.detach() for c in current], self.n_averaged)
            if not self.use_buffers:
                for average, value in buffers:
                    average.copy_(value)
            self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the statistics of a model's batch norms anew, over all batches of ``loader``.

    Parameters
    ----------
    loader : iterable
        The batches; of lists and tuples the first item is the input.
    model : Module
        The model.
    device : optional
        Where the inputs are brought to.
    """
    norms: dict[Any, Any] = {}
    for module in model.modules():
        if any("BatchNorm" in cls.__name__ for cls in type(module).__mro__):
            module.reset_running_stats()
            norms[module] = module.momentum
    if not norms:
        return
    was_training = model.training
    model.train()
    for norm in norms:
        norm.momentum = None  # a cumulative average
    with no_grad():
        for batch in loader:
            value = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(value if device is None else value.to(device))
    for norm, momentum in norms.items():
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """The rate goes to that of weight averaging, and stays there (Izmailov et al., 2018, arXiv:1803.05407).

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    swa_lr : float or list of float
        The last rate, for all groups or for each.
    anneal_epochs : int
        Epochs on the way.
    anneal_strategy : {"cos", "linear"}
        The form of the way.
    last_epoch : int
        The last epoch, to resume.

    Examples
    --------
    >>> import tensorplay as tp
    >>> opt = tp.optim.SGD([tp.zeros(1)], lr=1.0)
    >>> schedule = tp.optim.swa_utils.SWALR(opt, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for _ in range(3):
    ...     opt.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: float | list[float], anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos", last_epoch: int = -1,
    ) -> None:  # fmt: skip
        for group, lr in zip(optimizer.param_groups, per_group("swa_lr", swa_lr, optimizer.param_groups)):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Any]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        out = []
        for group in self.optimizer.param_groups:
            lr, last = group["lr"], group["swa_lr"]
            first = last if before == 1 else (lr - before * last) / (1 - before)
            out.append(last * now + first * (1 - now))
        return out
