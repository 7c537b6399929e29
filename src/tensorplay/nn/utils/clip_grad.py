"""Gradients held within bounds, all together or one by one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ...ops.from_data import tensor
from ...ops.joining import stack


def as_list(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """One tensor or several as a list."""
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """The gradients that are there."""
    return [p.grad for p in as_list(parameters) if p.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The p-norm of tensors as if they were one vector.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor
        The parts of the vector.
    norm_type : float
        p, which may be ``inf``.
    error_if_nonfinite : bool
        Whether a norm that is infinite or nan raises.
    foreach : bool, optional
        Without effect: there is one way to compute it here.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.utils.get_total_norm([tp.tensor([3.]), tp.tensor([4.])])
    tensor(5.)
    """
    parts = as_list(tensors)
    if not parts:
        return tensor(0.0)
    p = float(norm_type)
    total = stack([t.norm(p) for t in parts]).norm(p)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(f"The total norm of order {p} for gradients from `parameters` is non-finite, so it "
                           "cannot be "
                           "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                           "`error_if_nonfinite=False`")  # fmt: skip
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients in place by ``max_norm / total_norm`` if that is below 1."""
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in gradients(parameters):
            grad.mul_(factor.to(grad.dtype))


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale gradients in place so that their norm, as if they were one vector, is at most ``max_norm``.

    Returns
    -------
    Tensor
        The norm before.

    Examples
    --------
    >>> import tensorplay as tp
    >>> p = tp.tensor([3., 4.], requires_grad=True)
    >>> (p * p / 2).sum().backward()
    >>> tp.nn.utils.clip_grad_norm_(p, 1.0)
    tensor(5.)
    >>> p.grad
    tensor([0.6000, 0.8000])
    """
    parameters = as_list(parameters)
    with no_grad():
        total = get_total_norm(gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:  # fmt: skip
    """Deprecated name of :func:`clip_grad_norm_`."""
    warnings.warn("`clip_grad_norm` is now deprecated in favor of `clip_grad_norm_`.", FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Hold the entries of gradients within ``[-clip_value, clip_value]``, in place."""
    bound = float(clip_value)
    with no_grad():
        for grad in gradients(parameters):
            grad.clamp_(-bound, bound)
