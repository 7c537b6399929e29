"""Scaling of losses, so that small gradients survive a dtype of few exponents."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..autograd.grad_mode import no_grad
from ..core import dtype as dtypes
from ..core.tensor import Tensor
from ..optim.optimizer import Optimizer
from .autocast_mode import check_device

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"


class GradScaler:
    """Multiplies losses by a factor, divides gradients by it, and leaves out steps whose gradients are not finite.

    Parameters
    ----------
    device : str
        "cpu". For a device that is not there scaling is disabled, and a warning says so.
    init_scale : float
        The first factor.
    growth_factor : float
        What the factor is multiplied by after ``growth_interval`` steps without inf or nan in a row.
    backoff_factor : float
        What it is multiplied by after a step that was left out.
    growth_interval : int
    enabled : bool
        If False, everything happens as without a scaler.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.], requires_grad=True)
    >>> optimizer, scaler = tp.optim.SGD([w], lr=0.5), tp.amp.GradScaler("cpu", init_scale=8.)
    >>> scaler.scale((w * w).sum()).backward()
    >>> w.grad
    tensor([16.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w
    tensor([0.], requires_grad=True)
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        check_device("GradScaler", device)
        if enabled and device != "cpu":
            warnings.warn(f"GradScaler(): {device} is not available. Disabling.", stacklevel=2)
            enabled = False
        if enabled:
            check_factors(growth_factor, backoff_factor)
        self._enabled = bool(enabled)
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._scaled = False  # whether there was a loss yet
        self._stages: dict[int, tuple[str, bool]] = {}  # of each optimizer: how far it is, and whether inf was found

    def scale(self, outputs: Any) -> Any:
        """The losses, a tensor or an iterable of them, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            self._scaled = True
            return outputs * self._scale
        if isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes)):
            scaled = [self.scale(o) for o in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (tuple, list)) else iter(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the factor, before they are clipped, say.

        Raises
        ------
        RuntimeError
            If that has been done since the last ``update``.
        ValueError
            For float16 gradients, which would lose what scaling has saved.
        """
        if not self._enabled:
            return
        self._check_scaled("unscale_")
        stage, _ = self._stages.get(id(optimizer), (READY, False))
        if stage == UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        found = False
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        with no_grad():
            for t in grads:
                if t.dtype is dtypes.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                t.mul_(1.0 / self._scale)
                found = found or not bool(np.isfinite(t._data).all())
        if grads:
            self._stages[id(optimizer)] = UNSCALED, found

    def _check_scaled(self, name: str) -> None:
        if not self._scaled:
            raise AssertionError(f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                                 "scaler.scale(loss or outputs) earlier in the iteration.")  # fmt: skip

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step, left out if a gradient is not finite; unscales first where that is still to do.

        Raises
        ------
        RuntimeError
            If there was a step since the last ``update``, or for a closure.
        AssertionError
            If no loss was scaled, or no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scaled("step")
        stage, _ = self._stages.get(id(optimizer), (READY, False))
        if stage == STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage == READY:
            self.unscale_(optimizer)
        if id(optimizer) not in self._stages:
            raise AssertionError("No inf checks were recorded for this optimizer: no parameter of it has a gradient.")
        _, found = self._stages[id(optimizer)]
        result = None if found else optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = STEPPED, found
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Choose the next factor, at the end of an iteration.

        Parameters
        ----------
        new_scale : float or Tensor, optional
            The factor itself.

        Raises
        ------
        AssertionError
            If there was no step since the last update.
        """
        if not self._enabled:
            return
        self._check_scaled("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not self._stages:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(found for _, found in self._stages.values()):
                self._scale *= self._backoff_factor
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = self._scale * self._growth_factor
                    self._scale = grown if np.isfinite(np.float32(grown)) else self._scale
                    self._growth_tracker = 0
        self._stages = {}

    # ---- what it consists of

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor; 1 if disabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """What the factor grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the factor grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the factor shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the factor shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps the factor grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """Everything that :meth:`load_state_dict` needs; empty if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what :meth:`state_dict` returned.

        Raises
        ------
        RuntimeError
            If it is empty, that of a disabled scaler.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance "
                               "of GradScaler.")  # fmt: skip
        self._scale, self._growth_tracker = float(state_dict["scale"]), state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]


def check_factors(growth: float, backoff: float) -> None:
    if growth <= 1.0:
        raise AssertionError(f"GradScaler(): The growth factor must be > 1.0, got {growth}")
    if backoff >= 1.0:
        raise AssertionError(f"GradScaler(): The backoff factor must be < 1.0, got {backoff}")
