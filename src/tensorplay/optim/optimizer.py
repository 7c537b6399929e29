"""What all optimizers share: groups of parameters, their state, hooks, and saving."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import chain
from typing import Any

import numpy as np

from ..autograd.grad_mode import enable_grad
from ..core.dtype import get_default_dtype
from ..core.inplace import internally_overlapping
from ..core.node import Hooks, RemovableHandle
from ..core.tensor import Tensor, wrap

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

Array = np.ndarray[Any, Any]
Params = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
ParamsT, StateDict = Params, dict[str, Any]  # the names that optimizers of others hint by
Closure = Callable[[], Any]
ndarray = np.ndarray


class Required:
    """The default of an option that each group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = Required()

global_pre_hooks = Hooks()
global_post_hooks = Hooks()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer.

    See :meth:`Optimizer.register_step_pre_hook`.
    """
    return RemovableHandle(global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer."""
    return RemovableHandle(global_post_hooks, hook)


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A method ``step`` that runs the hooks; once, if it calls that of its base class."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        pre, post = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if not (pre or post or global_pre_hooks or global_post_hooks) or self._in_step:
            return step(self, *args, **kwargs)
        self._in_step = True
        try:
            for hook in [*global_pre_hooks.values(), *pre.values()]:
                changed = hook(self, (self, *args), kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(f"{type(self).__name__}.step: a pre-hook must return None or a tuple of "
                                           f"(new_args, new_kwargs), but got {changed}")  # fmt: skip
                    (_, *args), kwargs = changed
            out = step(self, *args, **kwargs)
            for hook in [*post.values(), *global_post_hooks.values()]:
                hook(self, (self, *args), kwargs)
        finally:
            self._in_step = False
        return out

    return hooked


class Optimizer:
    """Base class of optimizers.

    A subclass defines ``step``, or ``update_group`` and leaves closures and the choice of parameters to this class.

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
        If there are no parameters, one stands in two groups, one is no leaf, or some have a name and some have none.

    Examples
    --------
    >>> import tensorplay as tp
    >>> class SignDescent(tp.optim.Optimizer):
    ...     def __init__(self, params, lr=0.1):
    ...         super().__init__(params, {"lr": lr})
    ...     @tp.no_grad()
    ...     def step(self, closure=None):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p -= group["lr"] * p.grad.sign()
    >>> w = tp.tensor([1.0, -2.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> SignDescent([w]).step()
    >>> w
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    counts_steps = False  # whether the state has a ``step`` of this package's making
    _opt_called = False  # whether step was called: schedulers ask
    _in_step = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = with_hooks(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            f"{type(params).__name__}")  # fmt: skip
        if defaults.get("fused"):
            if defaults.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults.get("foreach"):
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._make_hooks()
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _make_hooks(self) -> None:
        for name in HOOKS:
            setattr(self, f"_optimizer_{name}_hooks", Hooks())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_optimizer_") and name.endswith("_hooks"):  # a subclass that calls no __init__
            self._make_hooks()
            return self.__dict__[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if type(v) is not Hooks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of its own.

        Parameters
        ----------
        param_group : dict
            The tensors under ``"params"``, and options; those that are missing are the optimizer's defaults.
        """
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
        named = [isinstance(p, tuple) for p in items]
        if any(named):
            if not all(named):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            group["param_names"] = [name for name, _ in items]
            items = [p for _, p in items]
        if self.param_groups and ("param_names" in group) != ("param_names" in self.param_groups[0]):
            with_or_without = "with" if "param_names" in group else "without"
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                             f"{with_or_without} names to the optimizer")  # fmt: skip
        for p in items:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
            if isinstance(p._data, np.ndarray) and internally_overlapping(p._data):
                raise RuntimeError("can't optimize a Tensor more than one element of which refers to a single memory "
                                   "location, as expand() makes them; clone() it first")  # fmt: skip
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        ids = {id(p) for p in items}
        if len(ids) != len(items):
            warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=3)
        if any(id(p) in ids for g in self.param_groups for p in g["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        group["params"] = items
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero in place.

        Parameters
        ----------
        set_to_none : bool
            Drop them: saves memory, and parameters that get no gradient are then left alone by ``step``.
        """
        for group in self.param_groups:
            for p in group["params"]:
                rare = p._rare
                if rare is None or rare.grad is None:
                    continue
                if set_to_none:
                    rare.grad = None
                else:
                    if rare.grad.requires_grad:
                        rare.grad = rare.grad.detach()
                    rare.grad.zero_()

    def step(self, closure: Closure | None = None) -> Any:
        """Update all parameters that have a gradient.

        Parameters
        ----------
        closure : callable, optional
            Evaluates the model again and returns the loss.

        Returns
        -------
        The loss that ``closure`` returned; None without one.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            params, grads = [], []
            for p in group["params"]:
                rare = p._rare
                if rare is not None and (grad := rare.grad) is not None:
                    params.append(p)
                    grads.append(grad)
            if params:
                self.update_group(group, params, grads)
        return loss

    def update_group(self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> None:
        """Update the parameters of a group that have a gradient; defined by each optimizer."""
        raise NotImplementedError(f"{type(self).__name__} defines neither step nor update_group")

    # ---- hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return new ``(args, kwargs)``."""
        return RemovableHandle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before each ``state_dict()``; first of all with ``prepend``."""
        return registered(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after each ``state_dict()``; what it returns takes its place."""
        return registered(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before each ``load_state_dict``; what it returns is loaded instead."""
        return registered(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after each ``load_state_dict``."""
        return registered(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    # ---- saving

    def state_dict(self) -> dict[str, Any]:
        """Options and state, with parameters named by their position.

        Returns
        -------
        dict
            ``"state"`` by position, and ``"param_groups"``. Tensors are those of the optimizer, not copies.
        """
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        position: dict[int, int] = {}
        for p in chain.from_iterable(g["params"] for g in self.param_groups):
            position.setdefault(id(p), len(position))
        out = {
            "state": {position[id(p)] if isinstance(p, Tensor) else p: s for p, s in self.state.items()},
            "param_groups": [
                {**{k: v for k, v in g.items() if k != "params"}, "params": [position[id(p)] for p in g["params"]]}
                for g in self.param_groups
            ],
        }
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            changed = hook(self, out)
            if changed is not None:
                out = changed
        return out

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a copy of options and state that ``state_dict()`` gave.

        State takes the dtype of its parameter, but for counts of steps.

        Raises
        ------
        ValueError
            If the groups do not match.
        """
        state_dict = {**state_dict}
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(s["params"]) != len(g["params"]) for s, g in zip(saved, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        ids = chain.from_iterable(s["params"] for s in saved)
        by_id = dict(zip(ids, chain.from_iterable(g["params"] for g in self.param_groups)))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            p = by_id.get(key)
            state[key if p is None else p] = taken_over(value, p)
        if self.counts_steps:  # old files have numbers
            for own in state.values():
                if "step" in own:
                    own["step"] = counter(float(own["step"]))
        groups = []
        for group, s in zip(self.param_groups, saved):
            options = {k: deepcopy(v) for k, v in s.items() if k != "params"}
            if "param_names" in group:
                options.setdefault("param_names", group["param_names"])
            groups.append({"params": group["params"], **{**self.defaults, **options}})
        self.state, self.param_groups = state, groups
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)


HOOKS = ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post")

Optimizer.step = with_hooks(Optimizer.step)  # type: ignore[method-assign]


def registered(hooks: Hooks, hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
    """The handle of a hook, entered last or first."""
    handle = RemovableHandle(hooks, hook)
    if prepend:
        first = {handle.id: hooks.pop(handle.id), **hooks}
        hooks.clear()
        hooks.update(first)
    return handle


def taken_over(value: Any, p: Tensor | None, key: Any = None) -> Any:
    """A copy of saved state for a parameter: tensors take its dtype, but for counts of steps."""
    if isinstance(value, dict):
        return {k: taken_over(v, p, k) for k, v in value.items()}
    if key == "step":
        return value.detach().clone() if isinstance(value, Tensor) else deepcopy(value)
    if isinstance(value, Tensor):
        array = value.detach()._data
        alike = p is not None and array.ndim and (array.dtype.kind == "c") == p.is_complex()
        return wrap(np.array(array, p._data.dtype if alike and p is not None else None, order="K"))
    if isinstance(value, (list, tuple)):
        return type(value)(taken_over(v, p) for v in value)
    return deepcopy(value)


def counter(value: float = 0.0) -> Tensor:
    """A scalar of a parameter's state: a float32 tensor, or a float64 one where that is the default."""
    return wrap(np.array(value, np.float64 if get_default_dtype().numpy == np.float64 else np.float32))


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Let an optimizer work on other parameters and another state for the length of a ``with`` block.

    Unlike ``load_state_dict`` the state is not copied: what a step writes into its tensors stays there.

    Parameters
    ----------
    optimizer : Optimizer
        Gets its own parameters, options and state back at the end.
    swapin_parameters : dict
        Tensors in the order of the optimizer's parameters.
    swapin_optim_state : dict
        As ``optimizer.state_dict()`` gives it.

    Raises
    ------
    ValueError
        If the number of parameters or groups differs.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w, other = (tp.tensor([1.0], requires_grad=True) for _ in range(2))
    >>> other.grad = tp.ones(1)
    >>> opt = tp.optim.SGD([w], lr=0.5)
    >>> with tp.optim.swap_in_optimizer_params_and_state(opt, {"w": other}, opt.state_dict()):
    ...     opt.step()
    >>> w, other
    (tensor([1.], requires_grad=True), tensor([0.5000], requires_grad=True))
    """
    own = optimizer.state, optimizer.param_groups
    params, saved = list(swapin_parameters.values()), swapin_optim_state["param_groups"]
    if [len(s["params"]) for s in saved] != [len(g["params"]) for g in own[1]]:
        raise ValueError("swap_in_optimizer_params_and_state: the groups of swapin_optim_state are not the optimizer's")
    ids = list(chain.from_iterable(s["params"] for s in saved))
    if len(params) != len(ids):
        raise ValueError(f"swap_in_optimizer_params_and_state: got {len(params)} parameters for {len(ids)}")
    by_id = dict(zip(ids, params))
    state: defaultdict[Any, Any] = defaultdict(dict)
    state.update({by_id.get(key, key): {**s} for key, s in swapin_optim_state["state"].items()})
    optimizer.state = state
    optimizer.param_groups = [{**s, "params": [by_id[i] for i in s["params"]]} for s in saved]
    try:
        yield
    finally:
        optimizer.state, optimizer.param_groups = own


# ---- options


def array_of(t: Tensor, what: str) -> Array:
    """The array of a parameter or gradient."""
    if type(t._data) is not ndarray:
        raise RuntimeError(f"an optimizer updates plain tensors; the {what} is {t!r} inside a transform")
    return t._data


def checked(name: str, value: Any, below: float | None = None) -> None:
    """Refuse an option that is negative or too large."""
    if name == "learning rate" and isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not value >= 0 or (below is not None and value >= below):
        raise ValueError(f"Invalid {name}: {value}")


def checked_betas(betas: Any) -> None:
    """Refuse decays outside [0, 1)."""
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        checked(f"beta parameter at index {i}", beta, below=1.0)
