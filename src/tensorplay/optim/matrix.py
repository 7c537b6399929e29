"""Optimizers that see a parameter as a matrix: Adafactor and Muon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from ..core.versions import note_write
from .optimizer import Array, Optimizer, Params, array_of, counter

PRECISE = (np.dtype("float32"), np.dtype("float64"))


def described(name: str, value: Any, ok: bool, wanted: str) -> None:
    """Refuse an option that is not as wanted."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not ok:
        raise ValueError(f"{name} should be {wanted} but is: {value}")


def wide(a: Array) -> Array:
    """An array in a precision to compute in: itself, or a float32 copy."""
    return a if a.dtype in PRECISE else a.astype(np.float32)


class Adafactor(Optimizer):
    r"""Adafactor: adaptive learning rates with sublinear memory cost (Shazeer and Stern, 2018, arXiv:1804.04235).

    The average of :math:`g^2` of a matrix is kept as those of its rows :math:`r` and columns :math:`c`, and estimated
    by :math:`\hat v = r c / \mathrm{mean}(r)`; vectors keep it whole. The decay at step :math:`t` is
    :math:`1 - t^{\tau}`. With :math:`u = g / \sqrt{\hat v}`, :math:`\rho_t = \min(\gamma, 1 / \sqrt t)` and
    :math:`\alpha_t = \max(\epsilon_2, \mathrm{RMS}(x)) \rho_t`:
    :math:`x \leftarrow x - \alpha_t u / \max(1, \mathrm{RMS}(u) / d)`.

    Parameters
    ----------
    params : iterable
        The tensors to optimise, or groups of them.
    lr : float or Tensor
        Upper bound :math:`\gamma` of the relative step.
    beta2_decay : float
        The power :math:`\tau`.
    eps : (float or None, float)
        Bounds from below: :math:`\epsilon_1` of the averages (None: the resolution of the parameter's dtype), and
        :math:`\epsilon_2` of the parameter's size.
    d : float
        Clips the size of the update.
    weight_decay : float
        Decoupled decay of the parameters.
    foreach : bool, optional
        Taken for compatibility: there is one implementation.
    maximize : bool
        Ascend instead of descend.

    Raises
    ------
    ValueError
        If an option is out of its range.
    RuntimeError
        From ``step``, for complex parameters.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.ones(2, 2, requires_grad=True)
    >>> opt = tp.optim.Adafactor([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> opt.step()
    >>> w
    tensor([[0.9000, 0.9000],
            [0.9000, 0.9000]], requires_grad=True)
    """

    counts_steps = True

    def __init__(
        self, params: Params, lr: float | Tensor = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
        foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        described("Learning rate", lr, bool(lr >= 0), ">= 0")
        described("beta2_decay", beta2_decay, beta2_decay <= 0, "<= 0")
        described("epsilon1", eps[0], eps[0] is None or eps[0] >= 0, ">= 0")
        described("epsilon2", eps[1], eps[1] >= 0, ">= 0")
        described("Clipping threshold d", d, d >= 1, ">= 1")
        described("weight_decay", weight_decay, weight_decay >= 0, ">= 0")
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize))  # fmt: skip

    def update_group(self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> None:
        lr, (eps1, eps2), power = float(group["lr"]), group["eps"], group["beta2_decay"]
        for p, grad in zip(params, grads):
            x, g = array_of(p, "parameter"), wide(array_of(grad, "gradient"))
            if x.dtype.kind == "c":
                raise RuntimeError("Adafactor does not support complex parameters")
            if not x.size:
                continue
            state = self.state[p]
            if not state:
                state["step"] = counter()
                if x.ndim > 1:
                    state["row_var"] = wrap(np.zeros((*x.shape[:-1], 1), x.dtype))
                    state["col_var"] = wrap(np.zeros((*x.shape[:-2], 1, x.shape[-1]), x.dtype))
                else:
                    state["variance"] = wrap(np.zeros_like(x))
            step = state["step"]._data
            step += 1
            t = step.item()
            new, values = t**power, wide(x)
            least = float(np.finfo(values.dtype).eps if x.dtype in PRECISE else resolution(p)) if eps1 is None else eps1
            size = max(eps2, rms(values)) * min(lr, t**-0.5)
            square = g * g
            if x.ndim > 1:
                row = averaged(state["row_var"]._data, square.mean(-1, keepdims=True), new)
                column = averaged(state["col_var"]._data, square.mean(-2, keepdims=True), new)
                variance = row @ column
                variance /= np.maximum(row.mean(-2, keepdims=True), least)
            else:
                variance = averaged(state["variance"]._data, square, new)
            update = g / np.sqrt(np.maximum(variance, least * least))
            update *= size / max(1.0, rms(update) / group["d"])
            if group["weight_decay"]:
                values = values * (1 - lr * float(group["weight_decay"]))
            x[...] = values + update if group["maximize"] else values - update
            note_write(x)


def resolution(p: Tensor) -> float:
    """The distance from one to the next number of a parameter's dtype."""
    import ml_dtypes

    return float(ml_dtypes.finfo(p._data.dtype).eps)


def rms(a: Array) -> float:
    """The root of the mean square."""
    return float(np.linalg.norm(a)) / math.sqrt(a.size) if a.size else 0.0


def averaged(average: Array, value: Array, new: float) -> Array:
    """A moving average after a new value, entered in place and given in a precision to compute in."""
    out = wide(average)
    out += (value - out) * new
    if out is not average:
        average[...] = out
    return out


class Muon(Optimizer):
    r"""Momentum orthogonalised by Newton-Schulz iterations (Jordan et al., 2024), for weight matrices.

    With :math:`b \leftarrow \mu b + (1 - \mu) g`, and :math:`u = b`, or :math:`(1 - \mu) g + \mu b` with Nesterov's
    momentum, the step goes along a matrix near the orthogonal factor of :math:`u`: from :math:`X = u / \|u\|`,
    ``ns_steps`` times :math:`A = X X^T` and :math:`X \leftarrow a X + (b A + c A^2) X`. As in PyTorch the iteration
    is rounded to bfloat16.

    Parameters
    ----------
    params : iterable
        The matrices to optimise, or groups of them; other parameters are left to another optimizer.
    lr : float
        Learning rate.
    weight_decay : float
        Decoupled decay of the parameters.
    momentum : float
        Momentum factor :math:`\mu`.
    nesterov : bool
        Nesterov's momentum.
    ns_coefficients : (float, float, float)
        The coefficients :math:`a, b, c`.
    eps : float
        Least norm to divide by.
    ns_steps : int
        Number of iterations, below 100.
    adjust_lr_fn : {"original", "match_rms_adamw"}, optional
        For a matrix of n rows and m columns the rate is multiplied by :math:`\sqrt{\max(1, n / m)}`, the default, or by
        :math:`0.2 \sqrt{\max(n, m)}`, so that updates are of the size of AdamW's (Liu et al., 2025, arXiv:2502.16982).

    Raises
    ------
    ValueError
        If a parameter is no matrix, or an option out of its range.

    References
    ----------
    K. Jordan et al. (2024): Muon: An optimizer for hidden layers in neural networks.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.zeros(2, 2, requires_grad=True)
    >>> opt = tp.optim.Muon([w], lr=0.1)
    >>> (w * tp.tensor([[1.0, 0.0], [0.0, 5.0]])).sum().backward()
    >>> opt.step()
    >>> w.detach().diagonal() < -0.06
    tensor([True, True])
    """

    def __init__(
        self, params: Params, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        described("Learning rate", lr, bool(lr >= 0), ">= 0")
        described("momentum", momentum, momentum >= 0, ">= 0")
        described("weight decay", weight_decay, weight_decay >= 0, ">= 0")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps,
                                      adjust_lr_fn=adjust_lr_fn))  # fmt: skip

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.ndim != 2:
                self.param_groups.pop()
                raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.shape}")

    def update_group(self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> None:
        lr, decay, momentum = float(group["lr"]), float(group["weight_decay"]), group["momentum"]
        for p, grad in zip(params, grads):
            x, g = array_of(p, "parameter"), wide(array_of(grad, "gradient"))
            if x.dtype.kind == "c":
                raise RuntimeError("Muon does not support complex parameters")
            state = self.state[p]
            if not state:
                state["momentum_buffer"] = wrap(np.zeros_like(x))
            update = averaged(state["momentum_buffer"]._data, g, 1 - momentum)
            if group["nesterov"]:
                update = g + (update - g) * momentum
            update = orthogonalised(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
            rows, columns = x.shape
            if group["adjust_lr_fn"] == "match_rms_adamw":
                size = lr * 0.2 * math.sqrt(max(rows, columns))
            else:
                size = lr * math.sqrt(max(1, rows / columns))
            values = wide(x)
            x[...] = values * (1 - lr * decay) - update.astype(values.dtype) * size
            note_write(x)


def orthogonalised(m: Array, coefficients: tuple[float, float, float], steps: int, eps: float) -> Array:
    """A matrix near the orthogonal factor of ``m``, in float32, by Newton-Schulz iterations rounded to bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = map(np.float32, coefficients)
    x = rounded(m if m.shape[0] <= m.shape[1] else m.T)
    x = rounded(x / max(rounded(np.linalg.norm(x)), np.float32(eps)))
    for _ in range(steps):
        gram = rounded(x @ x.T)
        gram = rounded(b * gram + c * (gram @ gram))
        x = rounded(a * x + gram @ x)
    return x if m.shape[0] <= m.shape[1] else x.T


def rounded(a: Any) -> Any:
    """Values of bfloat16, in float32."""
    import ml_dtypes

    return np.asarray(a, np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)
