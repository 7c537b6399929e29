"""Module: a callable that owns parameters, buffers and other modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..autograd.grad_mode import no_grad
from ..core import dtype as dtypes
from ..core.node import RemovableHandle
from ..core.tensor import Tensor
from .parameter import Buffer, Parameter


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict`` did not find, and what it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


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

    def __init__(self) -> None:
        put = super().__setattr__
        put("training", True)
        for name in ("_parameters", "_buffers", "_modules"):
            put(name, {})
        put("_non_persistent_buffers_set", set())
        for name in ("_forward_hooks", "_forward_pre_hooks"):
            put(name, OrderedDict())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; defined by every subclass."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._forward_pre_hooks and not self._forward_hooks:
            return self.forward(*args, **kwargs)
        for hook in list(self._forward_pre_hooks.values()):
            replaced = hook(self, args)
            if replaced is not None:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
        result = self.forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            replaced = hook(self, args, result)
            if replaced is not None:
                result = replaced
        return result

    # ---- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        if isinstance(value, (Parameter, Module, Buffer)):
            if "_parameters" not in tables:
                raise AttributeError(f"cannot assign {type(value).__name__.lower()}s before Module.__init__() call")
            for table in ("_parameters", "_buffers", "_modules"):
                tables[table].pop(name, None)
            tables.pop(name, None)
            kind = (
                "_parameters"
                if isinstance(value, Parameter)
                else "_modules"
                if isinstance(value, Module)
                else "_buffers"
            )
            tables[kind][name] = value
            return
        for table, kind in (("_parameters", "Parameter"), ("_modules", "Module"), ("_buffers", "Tensor")):
            if name in tables.get(table, ()):
                if value is not None and not (kind == "Tensor" and isinstance(value, Tensor)):
                    raise TypeError(f"cannot assign '{type(value).__name__}' object to {kind.lower()} '{name}' "
                                    f"({kind} or None required)")  # fmt: skip
                tables[table][name] = value
                return
        super().__setattr__(name, value)

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
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or a place for one."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' (Parameter or None required)"
            )
        self._check_name(name)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; ``persistent`` ones are part of the state dict."""
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (Tensor or None required)"
            )
        self._check_name(name)
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def _check_name(self, name: str) -> None:
        if "." in name or not name:
            raise KeyError(f"the name of a parameter, buffer or module cannot be empty or contain '.', got {name!r}")
        if (
            hasattr(self, name)
            and name not in self._parameters
            and name not in self._buffers
            and name not in self._modules
        ):
            raise KeyError(f"attribute '{name}' already exists")

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name(name)
        self._modules[name] = module

    register_module = add_module

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

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules():
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

    def _named_members(self, table: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[Any]:
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in getattr(module, table).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield path + ("." if path else "") + name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their names."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, for an optimizer."""
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their names."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

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

    def get_parameter(self, target: str) -> Parameter:
        """The parameter that a dotted name leads to."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._parameters.get(name)
        if found is None:
            raise AttributeError(f"{target} is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer that a dotted name leads to."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._buffers.get(name)
        if found is None:
            raise AttributeError(f"{target} is not a buffer")
        return found

    # ---- modes and conversion

    def train(self, mode: bool = True) -> Module:
        """Set training mode here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """Set evaluation mode here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
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

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Call ``fn`` on every module below, then here."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Module:
        if recurse:
            for module in self.children():
                module._apply(fn)
        for p in self._parameters.values():
            if p is not None:
                p.data = fn(p.detach())
                if p.grad is not None:
                    g = fn(p.grad)
                    p.grad = None
                    p.grad = g
        for name, b in self._buffers.items():
            if b is not None:
                self._buffers[name] = fn(b)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """Convert floating-point parameters and buffers to a dtype, and all to a device."""
        dtype = kwargs.get("dtype", next((a for a in args if isinstance(a, dtypes.dtype)), None))
        device = kwargs.get("device", next((a for a in args if not isinstance(a, (dtypes.dtype, bool))), None))
        if isinstance(device, Tensor):
            dtype, device = device.dtype, device.device

        def convert(t: Tensor) -> Tensor:
            same = dtype if dtype is not None and (t.is_floating_point() or t.is_complex()) else t.dtype
            return t.to(device or t.device, same)

        return self._apply(convert)

    def float(self) -> Module:
        """Floating-point parameters and buffers as float32."""
        return self.to(dtype=dtypes.float32)

    def double(self) -> Module:
        """Floating-point parameters and buffers as float64."""
        return self.to(dtype=dtypes.float64)

    def half(self) -> Module:
        """Floating-point parameters and buffers as float16."""
        return self.to(dtype=dtypes.float16)

    def bfloat16(self) -> Module:
        """Floating-point parameters and buffers as bfloat16."""
        return self.to(dtype=dtypes.bfloat16)

    # ---- hooks

    def register_forward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output."""
        return RemovableHandle(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments."""
        return RemovableHandle(self._forward_pre_hooks, hook)

    # ---- state

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Tensor]:
        """All parameters and persistent buffers by name; they share memory with the module's."""
        state = OrderedDict() if destination is None else destination
        for name, p in self._parameters.items():
            if p is not None:
                state[prefix + name] = p if keep_vars else p.detach()
        for name, b in self._buffers.items():
            if b is not None and name not in self._non_persistent_buffers_set:
                state[prefix + name] = b if keep_vars else b.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return state

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy (or with ``assign`` put) values into the parameters and buffers of the same names.

        Raises
        ------
        RuntimeError
            If shapes differ, or with ``strict`` if names are missing or unexpected; nothing is copied then.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = self.state_dict(keep_vars=True)
        missing = [k for k in own if k not in state_dict]
        unexpected = [k for k in state_dict if k not in own]
        errors = []
        if strict and unexpected:
            errors.append("Unexpected key(s) in state_dict: " + ", ".join(f'"{k}"' for k in unexpected) + ". ")
        if strict and missing:
            errors.append("Missing key(s) in state_dict: " + ", ".join(f'"{k}"' for k in missing) + ". ")
        for key, target in own.items():
            if key in state_dict and tuple(state_dict[key].shape) != tuple(target.shape):
                errors.append(
                    f"size mismatch for {key}: copying a param with shape {state_dict[key].shape} from checkpoint, the "
                    f"shape in current model is {target.shape}."
                )
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        with no_grad():
            for key, target in own.items():
                if key in state_dict:
                    if assign:
                        self._assign(key, state_dict[key], target)
                    else:
                        target.copy_(state_dict[key])
        return IncompatibleKeys(missing, unexpected)

    def _assign(self, key: str, value: Tensor, old: Tensor) -> None:
        path, _, name = key.rpartition(".")
        module = self.get_submodule(path)
        if name in module._parameters:
            module._parameters[name] = value if isinstance(value, Parameter) else Parameter(value, old.requires_grad)
        else:
            module._buffers[name] = value

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
