"""Stochastic gradient descent, and its average."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..core.versions import note_write
from .elementwise import BLOCK, PLAIN, Elementwise, prepared, scalar
from .optimizer import Params, checked, counter

ndarray = np.ndarray


class SGD(Elementwise):
    r"""Stochastic gradient descent, with momentum after Sutskever et al. (2013).

    With the gradient :math:`g` (plus ``weight_decay`` times the parameter) the velocity becomes
    :math:`v \leftarrow \mu v + (1 - \tau) g`, at the first step :math:`v = g`, and the parameter
    :math:`x \leftarrow x - \gamma v`, or :math:`x - \gamma (g + \mu v)` with Nesterov's momentum.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Learning rate :math:`\gamma`.
    momentum, dampening, weight_decay : float
        Momentum factor :math:`\mu`, its dampening :math:`\tau`, and the L2 penalty.
    nesterov : bool
        Nesterov's momentum; wants ``momentum > 0`` and no dampening.
    maximize : bool
        Ascend instead of descend.
    foreach, fused : bool, optional
        Taken for compatibility: there is one implementation.
    differentiable : bool
        Record the step, so that one can differentiate through it; parameters are then no leaves, and ``step`` gives
        them new memory.

    Raises
    ------
    ValueError
        If an option is out of its range.

    References
    ----------
    I. Sutskever, J. Martens, G. Dahl, G. Hinton (2013): On the importance of initialization and momentum in deep
    learning.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.8000], requires_grad=True)
    """

    counts_steps = False

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float | Tensor = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        checked("momentum value", momentum)
        checked("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize, foreach=foreach,
                                      differentiable=differentiable, fused=fused))  # fmt: skip

    def update_group(self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> None:
        if group["momentum"] or group["weight_decay"] or group["maximize"] or group["differentiable"]:
            super().update_group(group, params, grads)
            return
        if type(params[0]._data) is not ndarray:
            super().update_group(group, params, grads)
            return
        lr, known, rate = float(group["lr"]), None, None
        for p, grad in zip(params, grads):  # the plain case, nothing but x -= lr * g
            x, g = p._data, grad._data
            if type(x) is type(g) is ndarray and (dtype := x.dtype) in PLAIN and g.shape == x.shape and x.size <= BLOCK:
                if dtype is not known:
                    rate, known = scalar(lr, dtype), dtype
                x -= g * rate
                note_write(x)
            else:
                super().update_group(group, [p], [grad])

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        fresh = 1 if t == 1 else 1 - group["dampening"]
        return number(group["lr"]), number(group["momentum"]), number(fresh)

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, lr, momentum, fresh = scalars
        x, g, *buffer = arrays
        x, g = prepared(x, g, decay, group)
        if buffer:
            velocity = buffer[0]
            velocity *= momentum
            velocity += g * fresh
            g = g + velocity * momentum if group["nesterov"] else velocity
            buffer[0] = velocity
        x -= g * lr
        return x, *buffer


class ASGD(Elementwise):
    r"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992), with the rates of Bottou.

    The parameter follows :math:`x \leftarrow (1 - \lambda \eta) x - \eta g`, the average under ``"ax"`` in the state
    :math:`\bar x \leftarrow \bar x + \mu (x - \bar x)`, with :math:`\eta_t = \gamma / (1 + \lambda \gamma t)^\alpha`
    and :math:`\mu_t = 1 / \max(1, t - t_0)`.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Learning rate :math:`\gamma`.
    lambd, alpha : float
        Decay :math:`\lambda` and the power :math:`\alpha` of the rate.
    t0 : float
        Step after which the average begins.
    weight_decay : float
        L2 penalty.
    maximize : bool
        Ascend instead of descend.
    foreach, capturable : bool
        Taken for compatibility: there is one implementation.
    differentiable : bool
        Record the step, see :class:`SGD`.

    References
    ----------
    B. T. Polyak, A. B. Juditsky (1992): Acceleration of stochastic approximation by averaging.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.ASGD([w], lr=0.1, t0=0)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.8000], requires_grad=True)
    """

    follows_state = True

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        checked("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize, differentiable=differentiable,
                                      capturable=capturable))  # fmt: skip

    def start(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=counter(), eta=rate(group["lr"], group), mu=counter(1.0))

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("ax",)

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        lr, lambd = number(group["lr"]), group["lambd"]
        eta, mu = number(state["eta"]), number(state["mu"])
        state["eta"] = rate(lr / (1 + lambd * lr * t) ** group["alpha"], group)  # both for the next step
        state["mu"] = counter(1 / max(1, t - group["t0"]))
        return eta, 1 - lambd * eta, mu

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, eta, shrink, mu = scalars
        x, g, average = arrays
        x, g = prepared(x, g, decay, group)
        x *= shrink
        x -= g * eta
        average += (x - average) * mu
        return x, average


def rate(value: Any, group: dict[str, Any]) -> Tensor:
    """A rate of the state; with its history, if steps are recorded."""
    return value if group["differentiable"] and isinstance(value, Tensor) else counter(float(value))
