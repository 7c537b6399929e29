"""Adam and its variant with decoupled weight decay."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .optimizer import Optimizer, Params, array_of, checked, written


class Adam(Optimizer):
    """Adam: a method for stochastic optimization (Kingma and Ba, 2015, arXiv:1412.6980).

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float
        Learning rate.
    betas : (float, float)
        Decay of the averages of the gradient and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
        L2 penalty, or with ``decoupled_weight_decay`` a decay of the parameters themselves.
    amsgrad : bool
        Use the largest average of the square so far (Reddi et al., 2018).
    maximize : bool
        Ascend instead of descend.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", float(lr))
        checked("epsilon value", eps)
        checked("beta parameter at index 0", betas[0], below=1.0)
        checked("beta parameter at index 1", betas[1], below=1.0)
        checked("weight_decay value", weight_decay)
        if differentiable:
            raise ValueError("Adam: differentiable=True is not supported; write the update with out-of-place operators")
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize, foreach=foreach, capturable=capturable, differentiable=False,
                                      fused=fused, decoupled_weight_decay=decoupled_weight_decay))  # fmt: skip

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        """One parameter's step, in its memory; two temporaries of its size."""
        x, g = array_of(p, "parameter"), array_of(grad, "gradient")
        lr, (beta1, beta2), decay = float(group["lr"]), group["betas"], group["weight_decay"]
        state = self.state[p]
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = np.zeros_like(x), np.zeros_like(x)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = np.zeros_like(x)
        state["step"] = step = int(state["step"]) + 1
        m, v = state["exp_avg"], state["exp_avg_sq"]
        if group["maximize"]:
            g = -g
        if decay:
            if group["decoupled_weight_decay"]:
                x *= 1 - lr * decay
            else:
                g = g + x * decay
        m *= beta1
        scratch = g * (1 - beta1)
        m += scratch
        v *= beta2
        np.multiply(g, g, out=scratch)
        scratch *= 1 - beta2
        v += scratch
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            np.maximum(largest, v, out=largest)
            v = largest
        np.sqrt(v, out=scratch)
        scratch *= 1 / (1 - beta2**step) ** 0.5
        scratch += group["eps"]
        np.divide(m, scratch, out=scratch)
        scratch *= lr / (1 - beta1**step)
        x -= scratch
        written(p)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, arXiv:1711.05101).

    Parameters are those of :class:`Adam`; ``weight_decay`` decays the parameters themselves.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.AdamW([w], lr=0.1, weight_decay=0.1)
    """

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)  # fmt: skip
