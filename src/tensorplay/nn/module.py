"""Module: a callable that owns parameters, buffers and other modules."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from ..autograd.grad_mode import no_grad
from ..core import dtype as dtypes
from ..core.node import RemovableHandle
from ..core.tensor import Tensor
from .parameter import Buffer, Parameter, is_lazy

Self = TypeVar("Self", bound="Module")
EXTRA_STATE = "_extra_state"
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks",
         "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")  # fmt: skip
OF_CALLS = HOOKS[:4]
EVERYWHERE: OrderedDict[int, Any] = OrderedDict()
"""Hooks of all modules: (the table of a module whose hooks they come before, the hook, its options)."""
REGISTRATION: dict[str, OrderedDict[int, Any]] = {
    table: OrderedDict() for table in ("_parameters", "_buffers", "_modules")
}
"""Hooks that see what any module is given, by the table that it goes to."""


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict`` did not find, and what it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Hook(NamedTuple):
    """A hook as it is called."""

    id: int
    function: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False
    replaces: bool = False  # of state dicts: whether what it returns is the state dict

    def after(self, module: Module, args: Any, kwargs: Any, result: Any) -> Any:
        """Call a hook of forward."""
        if self.with_kwargs:
            return self.function(module, args, kwargs, result)
        return self.function(module, args, result)


def both(table: str, module: Module) -> list[Hook]:
    """The hooks of all modules, then those of one."""
    of_all = [Hook(id, hook, **options) for id, (kind, hook, options) in EVERYWHERE.items() if kind == table]
    return of_all + own(table, module)


def own(table: str, module: Module) -> list[Hook]:
    """The hooks of a module."""
    options = module._hook_options
    return [Hook(id, hook, **options.get(id, {})) for id, hook in getattr(module, table).items()]


class Module:
    """Base class of all neural network modules.

    Assign parameters and modules as attributes in ``__init__`` and write ``forward``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> class Scale(tp.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = tp.nn.Parameter(tp.tensor(2.0))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale()(tp.tensor([1., 2.]))
    tensor([2., 4.], grad_fn=<MulBackward0>)
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _version: int = 1  # of what the state dict holds
    _hooked: bool = False  # whether forward or backward hooks were ever registered, or the call is compiled
    _compiled_call_impl: Callable[..., Any] | None = None
    dump_patches: bool = False
    call_super_init: bool = False  # whether __init__ goes on to the class that follows in the order of resolution

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            got = f"an unexpected keyword argument '{next(iter(kwargs))}'" if kwargs else f"{len(args)} more arguments"
            raise TypeError(f"{type(self).__name__}.__init__() got {got}; Module.__init__() takes none")
        put = super().__setattr__
        put("training", True)
        for name in ("_parameters", "_buffers", "_modules"):
            put(name, {})
        put("_non_persistent_buffers_set", set())
        for name in HOOKS:
            put(name, OrderedDict())
        put("_hook_options", {})  # by the hook's id: with_kwargs and always_call
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; defined by every subclass."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooked or EVERYWHERE:
            return (self._compiled_call_impl or self._call_with_hooks)(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        pending = {hook.id: hook for hook in both("_forward_hooks", self) if hook.always_call}
        result: Any = None
        try:
            for hook in both("_forward_pre_hooks", self):
                if hook.with_kwargs:
                    replaced = hook.function(self, args, kwargs)
                    if replaced is not None:
                        if not (isinstance(replaced, tuple) and len(replaced) == 2):
                            raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, "
                                               f"new_kwargs), but got {replaced}.")  # fmt: skip
                        args, kwargs = replaced
                else:
                    replaced = hook.function(self, args)
                    if replaced is not None:
                        args = replaced if isinstance(replaced, tuple) else (replaced,)
            crossing = None
            backward, before = both("_backward_hooks", self), both("_backward_pre_hooks", self)
            if backward or before:
                from .backward_hooks import Crossing

                crossing = Crossing(self, [hook.function for hook in backward], [hook.function for hook in before])
                args = crossing.enter(args)
            result = self.forward(*args, **kwargs)
            for hook in both("_forward_hooks", self):
                pending.pop(hook.id, None)
                replaced = hook.after(self, args, kwargs, result)
                if replaced is not None:
                    result = replaced
            return result if crossing is None else crossing.leave(result)
        except Exception:
            for hook in pending.values():
                try:
                    hook.after(self, args, kwargs, result)
                except Exception as error:  # the first error is the one to raise
                    warnings.warn(f"forward hook with always_call=True raised an exception that was silenced as "
                                  f"another error was raised in forward: {error}", stacklevel=2)  # fmt: skip
            raise

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Run the calls of this module as programs of XLA from now on, its hooks included.

        Unlike :func:`tensorplay.compile` this leaves the module as it is: names in the state dict stay. Copies and
        pickles are not compiled.

        Parameters
        ----------
        *args, **kwargs
            Those of :func:`tensorplay.compile`.

        Raises
        ------
        ImportError
            If JAX is not installed.

        Examples
        --------
        >>> import tensorplay as tp
        >>> model = tp.nn.Linear(2, 1)
        >>> model.compile()
        >>> model(tp.zeros(3, 2)).shape, list(model.state_dict())
        (tensorplay.Size([3, 1]), ['weight', 'bias'])
        """
        from .. import compile

        self._compiled_call_impl = compile(self._call_with_hooks, *args, **kwargs)
        self._hooked = True

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in HOOKS:  # what was pickled by an older version lacks some
            self.__dict__.setdefault(name, OrderedDict())
        for name, empty in (("_hook_options", {}), ("_non_persistent_buffers_set", set())):
            self.__dict__.setdefault(name, empty)

    # ---- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        if isinstance(value, (Parameter, Module, Buffer)):
            if "_parameters" not in tables:
                raise AttributeError(f"cannot assign {type(value).__name__.lower()}s before Module.__init__() call")
            if isinstance(getattr(type(self), name, None), property):  # say, of a parametrized tensor
                return super().__setattr__(name, value)
            kinds = {"_parameters": Parameter, "_modules": Module, "_buffers": Buffer}
            kind = next(table for table, cls in kinds.items() if isinstance(value, cls))
            if kind != "_modules" and hasattr(type(self), name):  # it would hide what is put into the table
                raise KeyError(f"attribute '{name}' already exists")
            value = self._registered(kind, name, value)
            for table in kinds:  # in its own table a name keeps its place
                if table != kind:
                    tables[table].pop(name, None)
            tables.pop(name, None)
            tables[kind][name] = value
            if kind == "_buffers":
                persistent = getattr(value, "persistent", True)
                kept = self._non_persistent_buffers_set
                (kept.discard if persistent else kept.add)(name)
            return
        for table, kind in (("_parameters", "Parameter"), ("_modules", "Module"), ("_buffers", "Tensor")):
            if name in tables.get(table, ()):
                if value is not None and not (kind == "Tensor" and isinstance(value, Tensor)):
                    raise TypeError(f"cannot assign '{type(value).__name__}' object to {kind.lower()} '{name}' "
                                    f"({kind} or None required)")  # fmt: skip
                tables[table][name] = self._registered(table, name, value)
                return
        super().__setattr__(name, value)

    def _registered(self, table: str, name: str, value: Any) -> Any:
        """What the hooks of all modules make of a value that is about to be entered; an empty place is none."""
        if value is None and table == "_parameters":
            return None
        for hook in REGISTRATION[table].values():
            replaced = hook(self, name, value)
            value = value if replaced is None else replaced
        return value

    def __getattr__(self, name: str) -> Any:
        tables = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            found = tables.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or a place for one."""
        self._check_name(name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' (Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                             "explicitly; to express one as a function of another tensor, compute it in "
                             "forward().")  # fmt: skip
        self._parameters[name] = self._registered("_parameters", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; ``persistent`` ones are part of the state dict."""
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (Tensor or None required)"
            )
        self._check_name(name, "_buffers")
        self._buffers[name] = self._registered("_buffers", name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def _check_name(self, name: str, table: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter, buffer or module before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"the name of a parameter or buffer should be a string. Got {type(name).__name__}")
        if "." in name or not name:
            raise KeyError(f"the name of a parameter, buffer or module cannot be empty or contain '.', got {name!r}")
        if name not in self.__dict__[table] and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a name."""
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {type(name).__name__}")
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name(name, "_modules")
        self._modules[name] = self._registered("_modules", name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """:meth:`add_module`."""
        self.add_module(name, module)

    # ---- walking

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[Any]:
        """This module and all below it, with their names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly below."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[Any]:
        """What a function finds in this module and all below it, with full names."""
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield path + ("." if path else "") + name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their names."""
        return self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, for an optimizer."""
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their names."""
        return self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers."""
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    def get_submodule(self, target: str) -> Module:
        """The module that a dotted name leads to."""
        module: Module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module where a dotted name leads to; with ``strict`` there must be one already."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter that a dotted name leads to."""
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer that a dotted name leads to."""
        return self._member(target, "_buffers", "a buffer")

    def _member(self, target: str, table: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        found = getattr(module, table).get(name)
        if found is None:
            raise AttributeError(f"`{name}` is not {kind}")
        return found

    # ---- modes and conversion

    def train(self: Self, mode: bool = True) -> Self:
        """Set training mode here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: Self) -> Self:
        """Set evaluation mode here and below."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Say for all parameters whether operators record them."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad = p.grad.detach()
                    p.grad.zero_()

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` on every module below, then here."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: Self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        if recurse:
            for module in self.children():
                module._apply(fn)
        for p in self._parameters.values():
            if is_lazy(p):
                p.convert(fn)  # type: ignore[union-attr]
            elif p is not None:
                p.data = fn(p.detach())
                if p.grad is not None:
                    g = fn(p.grad)
                    p.grad = None
                    p.grad = g
        for name, b in self._buffers.items():
            if is_lazy(b):
                b.convert(fn)  # type: ignore[union-attr]
            elif b is not None:
                self._buffers[name] = fn(b)
        return self

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating-point parameters and buffers to a dtype, and all to a device.

        ``to(device=None, dtype=None, non_blocking=False)``, ``to(dtype, non_blocking=False)`` or
        ``to(tensor, non_blocking=False)``; ``memory_format`` is a keyword.
        """
        known = ("device", "dtype", "tensor", "non_blocking", "memory_format")
        for name in kwargs:
            if name not in known:
                raise TypeError(f"to() got an unexpected keyword argument '{name}'; it takes {', '.join(known)}")
        if len(args) > 3:
            raise TypeError(f"to() takes at most 3 positional arguments, got {len(args)}")
        like = kwargs.get("tensor", args[0] if args and isinstance(args[0], Tensor) else None)
        device, dtype, layout = kwargs.get("device"), kwargs.get("dtype"), kwargs.get("memory_format")
        if like is not None:
            device, dtype = like.device, like.dtype
        else:
            for value in args:
                if isinstance(value, dtypes.dtype):
                    dtype = value
                elif value is not None and not isinstance(value, bool):
                    device = value
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(t: Tensor) -> Tensor:
            same = dtype if dtype is not None and (t.is_floating_point() or t.is_complex()) else t.dtype
            t = t.to(t.device if device is None else device, same)
            return t if layout is None or t.ndim not in (4, 5) else t.contiguous(memory_format=layout)

        return self._apply(convert)

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device, say from ``meta``, without values."""
        from ..ops.factories import empty_like

        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def type(self: Self, dst_type: Any) -> Self:
        """All parameters and buffers in a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self: Self) -> Self:
        """All parameters and buffers in the memory of the host."""
        return self._apply(lambda t: t.cpu())

    def cuda(self: Self, device: Any = None) -> Self:
        """All parameters and buffers on a device that this package cannot reach: raises."""
        return self.to("cuda" if device is None else device)

    def float(self: Self) -> Self:
        """Floating-point parameters and buffers as float32."""
        return self.to(dtype=dtypes.float32)

    def double(self: Self) -> Self:
        """Floating-point parameters and buffers as float64."""
        return self.to(dtype=dtypes.float64)

    def half(self: Self) -> Self:
        """Floating-point parameters and buffers as float16."""
        return self.to(dtype=dtypes.float16)

    def bfloat16(self: Self) -> Self:
        """Floating-point parameters and buffers as bfloat16."""
        return self.to(dtype=dtypes.bfloat16)

    def share_memory(self: Self) -> Self:
        """Move parameters, their gradients and buffers to memory that processes share.

        See :meth:`tensorplay.Tensor.share_memory_`; do this before anything else refers to the memory.
        """
        for t in [*self.parameters(), *self.buffers()]:
            t.share_memory_()
            if t.grad is not None:
                t.grad.share_memory_()
        return self

    # ---- hooks

    def _register(
        self, table: str, hook: Callable[..., Any], prepend: bool = False, **options: bool
    ) -> RemovableHandle:
        hooks = getattr(self, table)
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        if any(options.values()):
            self._hook_options[handle.id] = options
        if table in OF_CALLS:
            self._hooked = True
        return handle

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output.

        Parameters
        ----------
        hook : callable
            What is called.
        prepend : bool
            Whether it comes before the hooks that are there.
        with_kwargs : bool
            Whether it is called as ``hook(module, args, kwargs, output)``.
        always_call : bool
            Whether it is called, with None for the output, even if forward raises.
        """
        return self._register("_forward_hooks", hook, prepend, with_kwargs=with_kwargs, always_call=always_call)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments.

        ``with_kwargs`` makes it ``hook(module, args, kwargs)``, which returns both or None.
        """
        return self._register("_forward_pre_hooks", hook, prepend, with_kwargs=with_kwargs)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        What it returns replaces ``grad_input``. Keyword arguments of forward are not seen.
        """
        return self._register("_backward_hooks", hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the gradients of the outputs are known; it may replace them."""
        return self._register("_backward_pre_hooks", hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The old name of :meth:`register_full_backward_hook`, which this is."""
        return self.register_full_backward_hook(hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the state dict is made."""
        return self._register("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` on the state dict, which it may change in place."""
        return self._register("_state_dict_hooks", hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        handle = self._register("_state_dict_hooks", hook)
        self._hook_options[handle.id] = {"replaces": True}
        return handle

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook before this module's entries are read.

        It is called as ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)``, and may change the state dict, which is a shallow copy of the caller's.
        """
        return self._register("_load_state_dict_pre_hooks", hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return self._register("_load_state_dict_pre_hooks", hook if with_module else lambda module, *args: hook(*args))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the lists of keys in place."""
        return self._register("_load_state_dict_post_hooks", hook)

    # ---- state

    def get_extra_state(self) -> Any:
        """What the state dict shall hold besides tensors; define it together with :meth:`set_extra_state`."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: Any) -> None:
        """Take back what :meth:`get_extra_state` gave."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by name; they share memory with the module's.

        Parameters
        ----------
        destination : dict, optional
            Where to put them.
        prefix : str
            What their names begin with.
        keep_vars : bool
            Whether they stay connected with automatic differentiation.
        """
        if args:  # as they stood before they were keywords
            given: Any = (*args, *(destination, prefix, keep_vars)[len(args) :])
            destination, prefix, keep_vars = given
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata: dict[str, Any] = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in own("_state_dict_hooks", self):
            result = hook.function(self, destination, prefix, metadata)
            if result is not None:
                if not hook.replaces:
                    raise RuntimeError("state_dict post-hook must return None")
                destination = result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Enter this module's own state."""
        for name, value in self._persistent():
            destination[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _persistent(self) -> Iterator[tuple[str, Tensor]]:
        for name, p in self._parameters.items():
            if p is not None:
                yield name, p
        for name, b in self._buffers.items():
            if b is not None and name not in self._non_persistent_buffers_set:
                yield name, b

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy (or with ``assign`` put) values into the parameters and buffers of the same names.

        Parameters
        ----------
        state_dict : dict
            Values by name.
        strict : bool
            Whether the names must be those of :meth:`state_dict`.
        assign : bool
            Whether the module takes the tensors themselves, with their dtype and device.

        Raises
        ------
        RuntimeError
            If shapes differ, or with ``strict`` if names are missing or unexpected; nothing is copied then.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", {}) or {}
        state = OrderedDict(state_dict)
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        writes: list[Callable[[], Any]] = []
        visited: list[Module] = []

        def visit(module: Module, prefix: str, state: Any) -> None:
            visited.append(module)
            local = {**metadata.get(prefix[:-1], {}), "writes": writes, "assign_to_params_buffers": assign}
            module._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    below = f"{prefix}{name}."
                    visit(child, below, {k: v for k, v in state.items() if k.startswith(below)})

        visit(self, "", state)
        keys = IncompatibleKeys(missing, unexpected)
        hooked = [m for m in reversed(visited) if m._load_state_dict_post_hooks]
        if not hooked or errors:  # hooks may forgive, once they have seen the values
            self._refuse(keys if strict else None, errors)
        with no_grad():
            for write in writes:
                write()
        for module in hooked:
            for hook in list(module._load_state_dict_post_hooks.values()):
                if hook(module, keys) is not None:
                    raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not "
                                         "expected to return new values, if incompatible_keys need to be modified, "
                                         "it should be done inplace.")  # fmt: skip
        self._refuse(keys if strict else None, [])
        return keys

    def _refuse(self, keys: IncompatibleKeys | None, errors: list[str]) -> None:
        for kind, names in (("Unexpected", keys and keys.unexpected_keys), ("Missing", keys and keys.missing_keys)):
            if names:
                errors = [f"{kind} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in names) + ". ", *errors]
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Read this module's own state: check it, and say in ``local_metadata["writes"]`` what is to be written.

        Overrides may change ``state_dict`` first; without ``writes`` the values are written at once.
        """
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = dict(self._persistent())
        assign = local_metadata.get("assign_to_params_buffers", False)
        writes: list[Callable[[], Any]] = []
        for name, target in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            value = state_dict[key]
            if not isinstance(value, Tensor):
                error_msgs.append(f'While copying the parameter named "{key}", expected tensorplay.Tensor or '
                                  f"Tensor-like object from checkpoint but received {type(value)}")  # fmt: skip
            elif is_lazy(target) and is_lazy(value):
                continue
            elif is_lazy(target):
                error_msgs.append(f'"{key}" has no shape yet, so its values cannot be loaded')
            elif is_lazy(value):
                error_msgs.append(f'"{key}" has a shape, but in the checkpoint it is uninitialized')
            elif value.shape != target.shape and not (target.shape == () and value.shape == (1,)):
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                    f"current model is {target.shape}."
                )
            elif target.is_meta and not value.is_meta and not assign:
                warnings.warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in "
                              "the current model, which is a no-op. (Did you mean to pass `assign=True` to assign "
                              "items in the state dictionary to their corresponding key in the module instead of "
                              "copying them in place?)", stacklevel=2)  # fmt: skip
            elif assign:
                writes.append(lambda n=name, v=value, t=target: self._assign(n, v, t))  # type: ignore[misc]
            else:
                writes.append(lambda v=value, t=target: t.copy_(v.reshape(t.shape)))  # type: ignore[misc]
        extra = prefix + EXTRA_STATE
        if type(self).set_extra_state is not Module.set_extra_state:
            if extra in state_dict:
                writes.append(lambda v=state_dict[extra]: self.set_extra_state(v))  # type: ignore[misc]
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, dot, _ = key[len(prefix) :].partition(".")
                    if not (first in self._modules if dot else first in own):
                        unexpected_keys.append(key)
        if "writes" in local_metadata:
            local_metadata["writes"].extend(writes)
        else:
            with no_grad():
                for write in writes:
                    write()

    def _assign(self, name: str, value: Tensor, old: Tensor) -> None:
        if name not in self._parameters:
            self._buffers[name] = value
        elif isinstance(value, Parameter):
            self._parameters[name] = value.requires_grad_(old.requires_grad)  # type: ignore[assignment]
        else:
            self._parameters[name] = Parameter(value, old.requires_grad)

    # ---- looks

    def extra_repr(self) -> str:
        """What stands between the parentheses when the module is printed."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [f"({name}): " + repr(m).replace("\n", "\n  ") for name, m in self._modules.items()]
        lines = extra + children
        if not lines:
            return self._get_name() + "()"
        if len(extra) == 1 and not children:
            return f"{self._get_name()}({extra[0]})"
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


def everywhere(table: str, hook: Callable[..., Any], **options: bool) -> RemovableHandle:
    """Enter a hook of all modules."""
    return RemovableHandle(EVERYWHERE, (table, hook, options))  # type: ignore[arg-type]


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """:meth:`Module.register_forward_hook` for all modules."""
    return everywhere("_forward_hooks", hook, with_kwargs=with_kwargs, always_call=always_call)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """:meth:`Module.register_forward_pre_hook` for all modules."""
    return everywhere("_forward_pre_hooks", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """:meth:`Module.register_full_backward_hook` for all modules."""
    return everywhere("_backward_hooks", hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """:meth:`Module.register_full_backward_pre_hook` for all modules."""
    return everywhere("_backward_pre_hooks", hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` whenever a module is given one; what it returns takes its place."""
    return RemovableHandle(REGISTRATION["_parameters"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` whenever a module is given one; what it returns takes its place."""
    return RemovableHandle(REGISTRATION["_buffers"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` whenever a module is given one; what it returns takes its place."""
    return RemovableHandle(REGISTRATION["_modules"], hook)
