"""Adam and its family: averages of the gradient and of its size."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .elementwise import Elementwise, assigned, prepared
from .optimizer import Params, checked, checked_betas, counter


class Adam(Elementwise):
    r"""Adam: a method for stochastic optimization (Kingma and Ba, 2015, arXiv:1412.6980).

    With the averages :math:`m \leftarrow \beta_1 m + (1 - \beta_1) g` and
    :math:`v \leftarrow \beta_2 v + (1 - \beta_2) g^2`, both divided by what they lack at step :math:`t`:
    :math:`x \leftarrow x - \gamma \hat m / (\sqrt{\hat v} + \epsilon)` where :math:`\hat m = m / (1 - \beta_1^t)` and
    :math:`\hat v = v / (1 - \beta_2^t)`.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Learning rate :math:`\gamma`.
    betas : (float, float) or (Tensor, Tensor)
        Decay of the averages of the gradient and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
        L2 penalty, or with ``decoupled_weight_decay`` a decay of the parameters themselves.
    amsgrad : bool
        Use the largest average of the square so far (Reddi et al., 2018, arXiv:1904.09237).
    maximize : bool
        Ascend instead of descend.
    foreach, capturable, fused : bool
        Taken for compatibility: there is one implementation.
    differentiable : bool
        Record the step, see :class:`SGD`.
    decoupled_weight_decay : bool
        Decay the parameters themselves, as :class:`AdamW` does.

    Raises
    ------
    ValueError
        If an option is out of its range.

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
        self, params: Params, lr: float | Tensor = 1e-3, betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        if foreach and not capturable and isinstance(lr, Tensor):
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        checked("epsilon value", eps)
        checked_betas(betas)
        checked("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable, fused=fused,
                                      decoupled_weight_decay=decoupled_weight_decay))  # fmt: skip

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        beta1, beta2 = map(number, group["betas"])
        lacks = (1 - beta2**t) ** 0.5
        return beta1, 1 - beta1, beta2, 1 - beta2, number(group["lr"]) * lacks / (1 - beta1**t), group["eps"] * lacks

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, beta1, new1, beta2, new2, size, eps = scalars  # both sides of the fraction times sqrt(1 - beta2^t)
        x, g, m, v, *largest = arrays
        x, g = prepared(x, g, decay, group)
        m *= beta1
        m += g * new1
        v *= beta2
        v += g * g * new2
        if largest:
            largest[0] = assigned(largest[0], xp.maximum(largest[0], v))
        x -= m * size / (xp.sqrt(largest[0] if largest else v) + eps)
        return x, m, v, *largest


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, arXiv:1711.05101).

    Parameters are those of :class:`Adam`; ``weight_decay`` decays the parameters themselves: each step first takes
    ``lr * weight_decay`` of them away.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.AdamW([w], lr=0.1, weight_decay=0.5)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.8500], requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)  # fmt: skip


class Adamax(Elementwise):
    r"""Adam with the infinity norm (Kingma and Ba, 2015, arXiv:1412.6980, section 7.1).

    With :math:`m` as in :class:`Adam` and :math:`u \leftarrow \max(\beta_2 u, |g| + \epsilon)`:
    :math:`x \leftarrow x - \gamma / (1 - \beta_1^t) \cdot m / u`.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Learning rate.
    betas : (float, float)
        Decay of the average of the gradient and of its norm.
    eps : float
        Added to the gradient's absolute value.
    weight_decay : float
        L2 penalty.
    maximize : bool
        Ascend instead of descend.
    foreach, capturable : bool
        Taken for compatibility: there is one implementation.
    differentiable : bool
        Record the step, see :class:`SGD`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.Adamax([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        checked("epsilon value", eps)
        checked_betas(betas)
        checked("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable,
                                      capturable=capturable))  # fmt: skip

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_inf"

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        beta1, beta2 = map(number, group["betas"])
        return beta1, 1 - beta1, beta2, group["eps"], number(group["lr"]) / (1 - beta1**t)

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, beta1, new, beta2, eps, size = scalars
        x, g, m, norm = arrays
        x, g = prepared(x, g, decay, group)
        m *= beta1
        m += g * new
        norm = assigned(norm, xp.maximum(norm * beta2, xp.abs(g) + eps))
        x -= m * size / norm
        return x, m, norm


class NAdam(Elementwise):
    r"""Adam with Nesterov's momentum (Dozat, 2016).

    With :math:`m` and :math:`\hat v` as in :class:`Adam` and
    :math:`\mu_t = \beta_1 (1 - 0.5 \cdot 0.96^{t \psi})`:
    :math:`x \leftarrow x - \gamma \hat m / (\sqrt{\hat v} + \epsilon)` where
    :math:`\hat m = \mu_{t+1} m / (1 - \prod_{i \le t+1} \mu_i) + (1 - \mu_t) g / (1 - \prod_{i \le t} \mu_i)`.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Learning rate.
    betas : (float, float)
        Decay of the averages of the gradient and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
        L2 penalty, or with ``decoupled_weight_decay`` a decay of the parameters themselves.
    momentum_decay : float
        The decay :math:`\psi` of the momentum.
    decoupled_weight_decay : bool
        Decay the parameters themselves, as in :class:`AdamW`.
    maximize : bool
        Ascend instead of descend.
    foreach, capturable : bool
        Taken for compatibility: there is one implementation.
    differentiable : bool
        Record the step, see :class:`SGD`.

    References
    ----------
    T. Dozat (2016): Incorporating Nesterov momentum into Adam.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.NAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.8944], requires_grad=True)
    """

    follows_state = True

    def __init__(
        self, params: Params, lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        checked("epsilon value", eps)
        checked_betas(betas)
        checked("weight_decay value", weight_decay)
        checked("momentum_decay value", momentum_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable))  # fmt: skip

    def start(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=counter(), mu_product=counter(1.0))

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        beta1, beta2 = map(number, group["betas"])
        lr, lacks = number(group["lr"]), (1 - beta2**t) ** 0.5
        mu, following = (beta1 * (1 - 0.5 * 0.96 ** (i * group["momentum_decay"])) for i in (t, t + 1))
        if isinstance(mu, Tensor):
            product = state["mu_product"] = state["mu_product"] * mu
        else:
            array = state["mu_product"]._data
            array *= mu
            product = array.item()
        return (beta1, 1 - beta1, beta2, 1 - beta2, group["eps"] * lacks, lr * lacks * (1 - mu) / (1 - product),
                lr * lacks * following / (1 - product * following))  # fmt: skip

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, beta1, new1, beta2, new2, eps, now, ahead = scalars  # the fraction as in Adam
        x, g, m, v = arrays
        x, g = prepared(x, g, decay, group)
        m *= beta1
        m += g * new1
        v *= beta2
        v += g * g * new2
        x -= (g * now + m * ahead) / (xp.sqrt(v) + eps)
        return x, m, v


class RAdam(Elementwise):
    r"""Adam with a rectified variance of the adaptive rate (Liu et al., 2020, arXiv:1908.03265).

    With :math:`\rho_\infty = 2 / (1 - \beta_2) - 1` and
    :math:`\rho_t = \rho_\infty - 2 t \beta_2^t / (1 - \beta_2^t)` the step is that of :class:`Adam` times
    :math:`\sqrt{(\rho_t - 4)(\rho_t - 2) \rho_\infty / ((\rho_\infty - 4)(\rho_\infty - 2) \rho_t)}` where
    :math:`\rho_t > 5`, and :math:`\gamma \hat m` before.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Learning rate.
    betas : (float, float)
        Decay of the averages of the gradient and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
        L2 penalty, or with ``decoupled_weight_decay`` a decay of the parameters themselves.
    decoupled_weight_decay : bool
        Decay the parameters themselves, as in :class:`AdamW`.
    maximize : bool
        Ascend instead of descend.
    foreach, capturable : bool
        Taken for compatibility: there is one implementation.
    differentiable : bool
        Record the step, see :class:`SGD`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([1.0], requires_grad=True)
    >>> opt = tp.optim.RAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([0.8000], requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        checked("epsilon value", eps)
        checked_betas(betas)
        checked("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      foreach=foreach, capturable=capturable,
                                      decoupled_weight_decay=decoupled_weight_decay,
                                      differentiable=differentiable))  # fmt: skip

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    def scalars(self, group: dict[str, Any], number: Any, t: int, state: dict[str, Any]) -> Any:
        beta1, beta2 = map(number, group["betas"])
        size, lacks = number(group["lr"]) / (1 - beta1**t), 1 - beta2**t
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * t * beta2**t / lacks  # of the simple moving average that v is like
        adaptive = length > 5
        if adaptive:
            rectified = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
            size = size * rectified**0.5 * lacks**0.5
        return beta1, 1 - beta1, beta2, 1 - beta2, group["eps"], size, float(adaptive)

    @staticmethod
    def rule(xp: Any, arrays: Any, scalars: Any, group: dict[str, Any]) -> Any:
        decay, beta1, new1, beta2, new2, eps, size, adaptive = scalars
        x, g, m, v = arrays
        x, g = prepared(x, g, decay, group)
        m *= beta1
        m += g * new1
        v *= beta2
        v += g * g * new2
        step = m * size
        x -= step / (xp.sqrt(v) + eps) if adaptive else step
        return x, m, v
