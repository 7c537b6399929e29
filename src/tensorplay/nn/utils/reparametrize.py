"""Weights computed before each call, as they were before there were parametrizations."""

from __future__ import annotations

import warnings
from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from .. import functional as F
from ..conv import Transposed
from ..module import Module
from ..parameter import Parameter
from .parametrizations import SpectralNorm as Iteration
from .parametrizations import norm_except


class Computed:
    """A hook that computes a weight before each call."""

    name: str

    def compute(self, module: Any) -> Tensor:
        """The weight."""
        raise NotImplementedError

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module))

    def attach(self, module: Module) -> None:
        """Call the hook before the module."""
        for hook in module._forward_pre_hooks.values():
            if type(hook) is type(self) and hook.name == self.name:
                raise RuntimeError(f"Cannot register two {type(self).__name__} hooks on the same parameter {self.name}")
        module.register_forward_pre_hook(self)

    @classmethod
    def detach(cls, module: Module, name: str) -> Computed:
        """Take the hook away."""
        for key, hook in module._forward_pre_hooks.items():
            if type(hook) is cls and hook.name == name:
                del module._forward_pre_hooks[key]
                return hook
        raise ValueError(f"{cls.__name__} of '{name}' not found in {module}")


class WeightNorm(Computed):
    """``g v / |v|``."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute(self, module: Any) -> Tensor:
        """The weight."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / norm_except(v, self.dim))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn a weight by its norm ``weight_g`` and its direction ``weight_v`` (Salimans and Kingma, 2016).

    Deprecated in favour of :func:`tensorplay.nn.utils.parametrizations.weight_norm`.
    """
    warnings.warn("`nn.utils.weight_norm` is deprecated in favor of "
                  "`nn.utils.parametrizations.weight_norm`.", FutureWarning,
                  stacklevel=2)  # fmt: skip
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    hook.attach(module)
    delattr(module, name)
    with no_grad():
        module.register_parameter(name + "_g", Parameter(norm_except(weight.detach(), hook.dim).clone()))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute(module))
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again."""
    hook = WeightNorm.detach(module, name)
    weight: Any = hook.compute(module)
    for attribute in (name, name + "_g", name + "_v"):
        delattr(module, attribute)
    setattr(module, name, Parameter(weight.detach()))
    return module


class SpectralNorm(Computed):
    """A weight over its largest singular value."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")  # fmt: skip
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute(self, module: Any) -> Tensor:
        """The weight; in training, after steps of power iteration."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = weight.movedim(self.dim, 0).flatten(1)
        if module.training:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
        u, v = u.clone(), v.clone()  # later calls write to the buffers
        return weight / u.dot(matrix.mv(v))


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, which power iteration finds while training (Miyato et al., 2018).

    See :func:`tensorplay.nn.utils.parametrizations.spectral_norm`, which is newer. The weight itself is
    ``weight_orig``, and the singular vectors are ``weight_u`` and ``weight_v``.
    """
    if dim is None:
        dim = 1 if isinstance(module, Transposed) else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters.get(name)
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    hook.attach(module)
    start = Iteration(weight.detach(), n_power_iterations, dim, eps) if weight.ndim > 1 else None
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    ones = weight.detach().new_ones((1,))
    module.register_buffer(name + "_u", ones.new_ones(weight.shape) if start is None else start._u)
    module.register_buffer(name + "_v", ones if start is None else start._v)
    setattr(module, name, weight.detach())
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again, with the value that was computed."""
    hook = SpectralNorm.detach(module, name)
    training, module.training = module.training, False
    with no_grad():
        weight: Any = hook.compute(module)
    module.training = training
    for attribute in (name, name + "_orig", name + "_u", name + "_v"):
        delattr(module, attribute)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
