"""Rates from sums of squared gradients: Adagrad and Adadelta."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from .elementwise import Elementwise, prepared
from .optimizer import Array, Params, array_of, checked


class Adagrad(Elementwise):
    r"""Adaptive subgradient methods (Duchi, Hazan and Singer, 2011).

    With :math:`s \leftarrow s + g^2` and :math:`\gamma_t = \gamma / (1 + (t - 1) \eta)`:
    :math:`x \leftarrow x - \gamma_t g / (\sqrt s + \epsilon)`.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Learning rate :math:`\gamma`.
    lr_decay : float
        Its decay :math:`\eta`.
    weight_decay : float
        L2 penalty.
    initial_accumulator_value : float
        The sum :math:`s` before the first step.
    eps : float
        Added to the denominator.
    foreach, fused : bool, optional
        Taken for compatibility: there is one implementation.
    maximize : bool
        Ascend instead of descend.
    differentiable : bool
        Record the step, see :class:`SGD`.

    References
    ----------
    J. Duchi, E. Hazan, Y. Singer (2011): Adaptive subgradient methods for online learning and stochastic optimization.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.Adagrad([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        checked("lr_decay value", lr_decay)
        checked("weight_decay value", weight_decay)
        checked("initial_accumulator_value value", initial_accumulator_value)
        checked("epsilon value", eps)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, fused=fused))  # fmt: skip

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for p in group["params"]:  # the sums are there before the first step
            self.start(self.state[p], group)
            self.state[p]["sum"] = wrap(self.initial("sum", group, array_of(p, "parameter")))

    def share_memory(self) -> None:
        """Move the sums to memory that processes share; see :meth:`tensorplay.Tensor.share_memory_`."""
        for own in self.state.values():
            own["sum"].share_memory_()

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("sum",)

    def initial(self, name: str, group: dict[str, Any], like: Array) -> Array:
        value = group["initial_accumulator_value"]
        return np.full_like(like, complex(value, value) if like.dtype.kind == "c" else value)

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        return number(group["lr"]) / (1 + (t - 1) * group["lr_decay"]), group["eps"]

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, lr, eps = scalars
        x, g, total = arrays
        x, g = prepared(x, g, decay, group)
        total += g * g
        x -= g * lr / (xp.sqrt(total) + eps)
        return x, total


class Adadelta(Elementwise):
    r"""Adadelta: an adaptive learning rate method (Zeiler, 2012, arXiv:1212.5701).

    With the averages :math:`v \leftarrow \rho v + (1 - \rho) g^2` and, of the steps
    :math:`\Delta = \sqrt{u + \epsilon} / \sqrt{v + \epsilon} \cdot g`, then
    :math:`u \leftarrow \rho u + (1 - \rho) \Delta^2`: :math:`x \leftarrow x - \gamma \Delta`.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        What the step is multiplied with.
    rho : float
        Decay of the averages.
    eps : float
        Added under the roots.
    weight_decay : float
        L2 penalty.
    foreach, capturable : bool
        Taken for compatibility: there is one implementation.
    maximize : bool
        Ascend instead of descend.
    differentiable : bool
        Record the step, see :class:`SGD`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.Adadelta([w], lr=10.0)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.9684], requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        checked("rho value", rho)
        if rho > 1:
            raise ValueError(f"Invalid rho value: {rho}")
        checked("epsilon value", eps)
        checked("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      capturable=capturable, foreach=foreach,
                                      differentiable=differentiable))  # fmt: skip

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "square_avg", "acc_delta"

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        rho = number(group["rho"])
        return number(group["lr"]), rho, 1 - rho, group["eps"]

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, lr, rho, new, eps = scalars
        x, g, square, steps = arrays
        x, g = prepared(x, g, decay, group)
        square *= rho
        square += g * g * new
        delta = xp.sqrt((steps + eps) / (square + eps)) * g
        steps *= rho
        steps += delta * delta * new
        x -= delta * lr
        return x, square, steps
