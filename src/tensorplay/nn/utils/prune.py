"""Pruning: masks that hold entries of a parameter at zero.

A pruned parameter ``weight`` is kept as the parameter ``weight_orig`` and the buffer ``weight_mask``; ``weight`` itself
is their product, computed anew before each call of the module.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ops.factories import ones_like
from ...ops.joining import cat
from ...ops.random import rand
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod(ABC):
    """Base class of the ways to choose what is pruned.

    A subclass sets ``PRUNING_TYPE`` and defines :meth:`compute_mask`. Its instances are hooks that are called before
    the module.

    Examples
    --------
    >>> import tensorplay as tp
    >>> class EveryOther(tp.nn.utils.prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = tp.nn.Linear(2, 2)
    >>> _ = EveryOther.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[0., 1.],
            [0., 1.]])
    """

    PRUNING_TYPE: str
    """What is chosen: ``"unstructured"`` single entries, ``"structured"`` slices along a dimension, ``"global"``."""
    _tensor_name: str = ""

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Ones where entries of ``t`` stay; zeros of ``default_mask``, which were pruned before, remain zeros.

        Parameters
        ----------
        t : Tensor
            What tells the importance of the entries.
        default_mask : Tensor
            The mask so far, in the shape of ``t``.
        """

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter of a module times its mask."""
        if not self._tensor_name:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = (getattr(module, self._tensor_name + end) for end in ("_mask", "_orig"))
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter of a module.

        Parameters
        ----------
        module : Module
            What owns the parameter.
        name : str
            The parameter's name.
        *args, **kwargs
            What the class takes.
        importance_scores : Tensor, optional
            What the choice is made by, in the shape of the parameter; the parameter itself by default.

        Returns
        -------
        BasePruningMethod
            The hook: a new one, or a :class:`PruningContainer` of all if the parameter is pruned already.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        found = hook_of(module, name)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif not isinstance(importance_scores, Tensor) or importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the shape of parameter '{name}' of {module}")
        if found is None:
            hook: BasePruningMethod = method
            mask = method.compute_mask(importance_scores.detach(), ones_like(original).detach())
            del module._parameters[name]
            module.register_parameter(name + "_orig", original)
        else:
            key, before = found
            hook = PruningContainer(before)
            hook._tensor_name = name
            hook.add_pruning_method(method)
            old = getattr(module, name + "_mask").to(importance_scores.dtype)
            mask = hook.compute_mask(importance_scores.detach(), old)
            del module._forward_pre_hooks[key]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, hook.apply_mask(module))
        module.register_forward_pre_hook(hook)
        return hook

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A pruned version of a tensor, without a module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        return t * self.compute_mask(scores, ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Make the parameter an ordinary one, with zeros where it was pruned."""
        name = self._tensor_name
        if not name:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        value = self.apply_mask(module)
        original: Parameter = module._parameters.pop(name + "_orig")  # type: ignore[assignment]
        original.data = value.detach()
        del module._buffers[name + "_mask"]
        module.__dict__.pop(name, None)
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several prunings of one parameter, each of what the ones before left over."""

    PRUNING_TYPE = "container"

    def __init__(self, *args: Any) -> None:
        methods = list(args[0]) if len(args) == 1 and isinstance(args[0], Iterable) else list(args)
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if methods and isinstance(methods[0], BasePruningMethod):
            self._tensor_name = methods[0]._tensor_name
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add one for the same parameter."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and method._tensor_name != self._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                             f"PruningContainer {self}. Found '{method._tensor_name}'")  # fmt: skip
        self._pruning_methods += () if method is None else (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask after the last pruning, which chooses among what is left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.ndim  # type: ignore[attr-defined]
            alive = mask.sum([d for d in range(t.ndim) if d != dim]) != 0
            left = (*(slice(None),) * dim, alive)
        elif method.PRUNING_TYPE == "global":
            left = (slice(None),) * t.ndim
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        after = mask.clone()
        after[left] = method.compute_mask(t[left], mask[left]).to(mask.dtype)
        return after


class Identity(BasePruningMethod):
    """Prunes nothing, and puts the mask in place."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far."""
        return default_mask


class Amount(BasePruningMethod):
    """A pruning of so many entries or slices, or of such a share of them.

    Parameters
    ----------
    amount : int or float
        A number of them, or a fraction from 0 to 1.
    """

    def __init__(self, amount: float) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        whole = isinstance(amount, numbers.Integral)
        if amount < 0 or (not whole and amount > 1):
            raise ValueError(f"amount={amount} should be a float in the range [0.0, 1.0] or a non-negative integer")
        self.amount: float = amount

    def count(self, size: int) -> int:
        """How many of ``size`` are pruned."""
        if not isinstance(self.amount, numbers.Integral):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(f"amount={self.amount} should be smaller than the number of parameters to prune={size}")
        return int(self.amount)


class Unstructured(Amount):
    """A pruning of single entries: those that :meth:`scores` rates lowest."""

    PRUNING_TYPE = "unstructured"

    def scores(self, t: Tensor) -> Tensor:
        """A number for each entry."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without the entries that are rated lowest."""
        mask = default_mask.clone()
        n = self.count(t.numel())
        if n:
            flat = mask.reshape(-1)
            flat[self.scores(t).reshape(-1).argsort(stable=True)[:n]] = 0
            mask = flat.reshape(mask.shape)
        return mask


class RandomUnstructured(Unstructured):
    """Prunes entries at random."""

    def scores(self, t: Tensor) -> Tensor:
        """Random numbers."""
        return rand(t.shape)


class L1Unstructured(Unstructured):
    """Prunes the entries of smallest magnitude."""

    def scores(self, t: Tensor) -> Tensor:
        """Magnitudes."""
        return t.abs()


class Structured(Amount):
    """A pruning of whole slices along a dimension: those that :meth:`scores` rates lowest."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def scores(self, t: Tensor, dim: int) -> Tensor:
        """A number for each slice."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without the slices that are rated lowest."""
        if t.ndim <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of "
                             f"shape {t.shape} with {t.ndim} dims")  # fmt: skip
        if not -t.ndim <= self.dim < t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        dim = self.dim % t.ndim
        mask = default_mask.clone()
        n = self.count(t.shape[dim])
        if n:
            mask[(*(slice(None),) * dim, self.scores(t, dim).argsort(stable=True)[:n])] = 0
        return mask


class RandomStructured(Structured):
    """Prunes slices at random."""

    def scores(self, t: Tensor, dim: int) -> Tensor:
        """Random numbers."""
        return rand(t.shape[dim])


class LnStructured(Structured):
    """Prunes the slices of smallest norm.

    Parameters
    ----------
    amount : int or float
        As of :class:`Amount`.
    n : int, float, inf or "fro"
        The order of the norm.
    dim : int
        What the slices are counted along.
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def scores(self, t: Tensor, dim: int) -> Tensor:
        """Norms."""
        return t.movedim(dim, 0).flatten(1).norm(2 if self.n == "fro" else self.n, 1)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        """Prune a parameter of a module; see :meth:`BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far without what the given one leaves out."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"the mask has shape {self.mask.shape}, the parameter {default_mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def hook_of(module: Module, name: str) -> tuple[int, BasePruningMethod] | None:
    """The pruning of a parameter, with its key among the hooks."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


# ---- functions: each prunes a parameter of a module, which it returns


def identity(module: Module, name: str) -> Module:
    """Put a mask of ones on a parameter."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune entries at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prune the entries of smallest magnitude.

    Parameters
    ----------
    module : Module
        What owns the parameter.
    name : str
        The parameter's name.
    amount : int or float
        How many entries, or which share of them from 0 to 1.
    importance_scores : Tensor, optional
        What to take the magnitudes of, in the shape of the parameter.

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.Linear(3, 1, bias=False)
    >>> _ = layer.weight.data.copy_(tp.tensor([[1.0, -3.0, 2.0]]))
    >>> tp.nn.utils.prune.l1_unstructured(layer, "weight", amount=1).weight.detach()
    tensor([[ 0., -3.,  2.]])
    >>> list(layer.state_dict())
    ['weight_orig', 'weight_mask']
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices along a dimension at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the slices along a dimension whose norm of order ``n`` is smallest."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter where a mask is zero."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one.

    Parameters
    ----------
    parameters : iterable of (Module, str)
        The parameters by their owner and name.
    pruning_method : type
        An unstructured way to choose, say :class:`L1Unstructured`.
    importance_scores : dict, optional
        What the choice is made by, for those parameters that it shall not be made by themselves.
    **kwargs
        What the class takes, say ``amount``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> prune = tp.nn.utils.prune
    >>> model = tp.nn.Sequential(tp.nn.Linear(4, 4), tp.nn.Linear(4, 2))
    >>> prune.global_unstructured([(m, "weight") for m in model], prune.L1Unstructured, amount=0.5)
    >>> sum(int((m.weight == 0).sum()) for m in model)
    12
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    owners: Sequence[tuple[Module, str]] = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores should be of type dict")
    method: Any = PruningContainer()
    method._tensor_name = "all"
    part = pruning_method(**kwargs)
    part._tensor_name = "all"
    if part.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {part.PRUNING_TYPE}")  # fmt: skip
    method.add_pruning_method(part)
    values = [getattr(module, name).detach() for module, name in owners]
    rated = [scores.get((module, name), v).detach() for (module, name), v in zip(owners, values)]
    masks = [getattr(module, name + "_mask", ones_like(v)) for (module, name), v in zip(owners, values)]
    whole = method.compute_mask(cat([r.reshape(-1) for r in rated]), cat([m.reshape(-1) for m in masks]))
    ends = np.cumsum([v.numel() for v in values]).tolist()
    for (module, name), v, start, end in zip(owners, values, [0, *ends], ends):
        custom_from_mask(module, name, whole[start:end].reshape(v.shape))


def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter an ordinary one, with zeros where it was pruned.

    Raises
    ------
    ValueError
        If it is not pruned.
    """
    found = hook_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of this module or of one below it is pruned."""
    return any(isinstance(h, BasePruningMethod) for m in module.modules() for h in m._forward_pre_hooks.values())
