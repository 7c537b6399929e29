"""Rates from the size and the sign of gradients: RMSprop and Rprop."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .elementwise import Elementwise, assigned, prepared
from .optimizer import Array, Params, checked


class RMSprop(Elementwise):
    r"""RMSprop (Hinton, 2012), also centered (Graves, 2013, arXiv:1308.0850).

    With :math:`v \leftarrow \alpha v + (1 - \alpha) g^2`, from which the centered form takes the square of the average
    gradient: :math:`x \leftarrow x - \gamma g / (\sqrt v + \epsilon)`; with momentum :math:`\mu` the fraction enters a
    velocity :math:`b \leftarrow \mu b + g / (\sqrt v + \epsilon)`, and :math:`x \leftarrow x - \gamma b`.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Learning rate.
    alpha : float
        Decay of the averages.
    eps : float
        Added to the denominator.
    weight_decay : float
        L2 penalty.
    momentum : float
        Momentum factor.
    centered : bool
        Divide by an estimate of the deviation, not of the size.
    capturable, foreach : bool
        Taken for compatibility: there is one implementation.
    maximize : bool
        Ascend instead of descend.
    differentiable : bool
        Record the step, see :class:`SGD`.

    References
    ----------
    G. Hinton (2012): Neural networks for machine learning, lecture 6e.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.RMSprop([w], lr=0.01)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        checked("epsilon value", eps)
        checked("momentum value", momentum)
        checked("weight_decay value", weight_decay)
        checked("alpha value", alpha)
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered,
                                      weight_decay=weight_decay, capturable=capturable, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable))  # fmt: skip

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        names = ["square_avg"]
        if group["momentum"]:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return tuple(names)

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        alpha = number(group["alpha"])
        return number(group["lr"]), alpha, 1 - alpha, group["eps"], number(group["momentum"])

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, lr, alpha, new, eps, momentum = scalars
        x, g, square, *more = arrays
        x, g = prepared(x, g, decay, group)
        square *= alpha
        square += g * g * new
        variance = square
        if group["centered"]:
            mean = more.pop()
            mean *= alpha
            mean += g * new
            variance = square - mean * mean
        step = g / (xp.sqrt(variance) + eps)
        if more:
            velocity = more[0]
            velocity *= momentum
            velocity += step
            step = more[0] = velocity
        x -= step * lr
        return (x, square, *more, mean) if group["centered"] else (x, square, *more)


class Rprop(Elementwise):
    r"""Resilient backpropagation (Riedmiller and Braun, 1993).

    Each element has a step of its own, against the sign of its gradient. The step grows by :math:`\eta_+` while the
    sign stays; it shrinks by :math:`\eta_-` when the sign has changed, and the element then rests once.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        The first step.
    etas : (float, float)
        The factors :math:`\eta_-` and :math:`\eta_+`.
    step_sizes : (float, float)
        The smallest and the largest step.
    capturable, foreach : bool
        Taken for compatibility: there is one implementation.
    maximize : bool
        Ascend instead of descend.
    differentiable : bool
        Record the step, see :class:`SGD`.

    References
    ----------
    M. Riedmiller, H. Braun (1993): A direct adaptive method for faster backpropagation learning: the RPROP algorithm.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.Rprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))  # fmt: skip

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "prev", "step_size"

    def initial(self, name: str, group: dict[str, Any], like: Array) -> Array:
        if name == "prev":
            return np.zeros_like(like)
        lr = float(group["lr"])
        return np.full_like(like, complex(lr, lr) if like.dtype.kind == "c" else lr)

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        return *map(number, group["etas"]), *group["step_sizes"]

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        _, shrink, grow, smallest, largest = scalars
        x, g, previous, sizes = arrays
        if group["maximize"]:
            g = -g
        agreement = g * previous
        turned = agreement < 0
        changed = xp.where(turned, sizes * shrink, xp.where(agreement > 0, sizes * grow, sizes))
        sizes = assigned(sizes, changed.clip(smallest, largest))
        g = xp.where(turned, 0.0, g)
        x -= xp.sign(g) * sizes
        return x, assigned(previous, g), sizes
