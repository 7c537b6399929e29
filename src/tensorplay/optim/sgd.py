"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .optimizer import Optimizer, Params, array_of, checked, written


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum after Sutskever et al. (2013).

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float
        Learning rate.
    momentum, dampening, weight_decay : float
        Momentum factor, its dampening, and the L2 penalty.
    nesterov : bool
        Nesterov's momentum; wants ``momentum > 0`` and no dampening.
    maximize : bool
        Ascend instead of descend.

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

    def __init__(
        self, params: Params, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        checked("learning rate", float(lr))
        checked("momentum value", momentum)
        checked("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        if differentiable:
            raise ValueError("SGD: differentiable=True is not supported; write the update with out-of-place operators")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize, foreach=foreach, differentiable=False,
                                      fused=fused))  # fmt: skip

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        """One parameter's step, in its memory."""
        x, g = array_of(p, "parameter"), array_of(grad, "gradient")
        if group["maximize"]:
            g = -g
        if group["weight_decay"]:
            g = g + x * group["weight_decay"]
        momentum = group["momentum"]
        if momentum:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = g.copy()
            else:
                buffer *= momentum
                buffer += g * (1 - group["dampening"])
            g = g + buffer * momentum if group["nesterov"] else buffer
        np.subtract(x, g * float(group["lr"]), out=x, casting="unsafe")
        written(p)
