"""What all optimizers share: groups of parameters, state, and its saving."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import numpy as np

from ..autograd.grad_mode import enable_grad, no_grad
from ..core.node import RemovableHandle
from ..core.tensor import Tensor
from ..core.versions import note_write

REQUIRED = object()


class Optimizer:
    """Base class of optimizers.

    Parameters
    ----------
    params : iterable of Tensor, of (name, Tensor) pairs, or of dicts
        The tensors to optimise; dicts are groups with options of their own.
    defaults : dict
        Options of groups that do not give them.

    Raises
    ------
    TypeError
        If ``params`` is a single Tensor, or holds something else than tensors.
    ValueError
        If there are no parameters, one stands in two groups, or one is no leaf.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            f"{type(params).__name__}")  # fmt: skip
        self.defaults = defaults
        self.state: dict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._step_pre_hooks: dict[int, Callable[..., Any]] = {}
        self._step_post_hooks: dict[int, Callable[..., Any]] = {}
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of its own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = {**param_group}
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        items = [params] if isinstance(params, Tensor) else list(params)
        if items and isinstance(items[0], tuple):
            group["param_names"] = [name for name, _ in items]
            items = [p for _, p in items]
        for p in items:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            group.setdefault(name, default)
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in known for p in items):
            raise ValueError("some parameters appear in more than one parameter group")
        group["params"] = items
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                rare = p._rare
                if rare is None or rare.grad is None:
                    continue
                if set_to_none:
                    rare.grad = None
                else:
                    rare.grad = rare.grad.detach()
                    rare.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient.

        Parameters
        ----------
        closure : callable, optional
            Evaluates the model again and returns the loss.
        """
        for pre in list(self._step_pre_hooks.values()):
            pre(self, (closure,), {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    rare = p._rare
                    if rare is not None and rare.grad is not None:
                        self.update(p, rare.grad, group)
        for post in list(self._step_post_hooks.values()):
            post(self, (closure,), {})
        return loss

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        """Update one parameter; defined by each optimizer."""
        raise NotImplementedError(f"{type(self).__name__} defines no update")

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step."""
        return RemovableHandle(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._step_post_hooks, hook)

    # ---- saving

    def state_dict(self) -> dict[str, Any]:
        """Options and state; parameters are named by their position."""
        position = {id(p): i for i, p in enumerate(chain.from_iterable(g["params"] for g in self.param_groups))}
        groups = [
            {k: v if k != "params" else [position[id(p)] for p in v] for k, v in g.items()} for g in self.param_groups
        ]
        state = {position[id(p)]: {k: as_saved(v) for k, v in s.items()} for p, s in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and state that ``state_dict`` gave.

        Raises
        ------
        ValueError
            If the groups do not match.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(s["params"]) != len(g["params"]) for s, g in zip(saved, self.param_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params = list(chain.from_iterable(g["params"] for g in self.param_groups))
        ids = list(chain.from_iterable(s["params"] for s in saved))
        by_id = dict(zip(ids, params, strict=True))
        self.state = defaultdict(dict)
        for key, s in state_dict["state"].items():
            self.state[by_id[key]] = {k: as_state(v) for k, v in s.items()}
        for group, s in zip(self.param_groups, saved, strict=True):
            group.update({k: deepcopy(v) for k, v in s.items() if k != "params"})

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def as_saved(value: Any) -> Any:
    """State as it is saved: arrays become tensors."""
    from ..core.tensor import wrap

    return wrap(value) if isinstance(value, np.ndarray) else value


def as_state(value: Any) -> Any:
    """State as the updates use it: an own copy of a saved tensor's array."""
    return value.detach().numpy().copy() if isinstance(value, Tensor) else deepcopy(value)


def array_of(t: Tensor, what: str) -> np.ndarray[Any, Any]:
    """The array of a parameter or gradient."""
    if type(t._data) is not np.ndarray:
        raise RuntimeError(f"an optimizer updates plain tensors; the {what} is {t!r} inside a transform")
    return t._data


def written(p: Tensor) -> None:
    """Note that the memory of a parameter was written to."""
    note_write(p._data)


def checked(name: str, value: float, at_least: float = 0.0, below: float = float("inf")) -> float:
    """An option within its range."""
    if not at_least <= value < below:
        raise ValueError(f"Invalid {name}: {value}")
    return value


Params = Iterable[Any]
