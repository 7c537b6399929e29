"""Parametrizations: parameters and buffers that are computed from others."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ..container import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

caching = 0  # how many ``cached`` blocks are open
cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once within the block."""
    global caching
    caching += 1
    try:
        yield
    finally:
        caching -= 1
        if not caching:
            cache.clear()


def enter(module: Module, name: str, value: Tensor) -> None:
    """Register a parameter or a buffer."""
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and ``original``, or ``original0`` and so on, from which it is computed.

    Calling it computes the tensor. The first right inverses made the originals.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype, before = original.shape, original.dtype, original.data
        with no_grad():
            made: Any = original
            for module in reversed(list(modules)):
                if hasattr(module, "right_inverse"):
                    try:
                        made = module.right_inverse(made)
                    except NotImplementedError:
                        pass  # then the tensor itself is the original
        self.is_tensor = isinstance(made, Tensor)
        if self.is_tensor:
            if made.dtype != dtype and not unsafe:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype: "
                                 f"{made.dtype} is not "
                                 f"{dtype}")  # fmt: skip
            with no_grad():  # the optimizer knows the parameter itself, so it stays the same object
                if made is not original:
                    original.data = made.detach() if made.shape != shape else made.detach().clone()
            enter(self, "original", original)
            self.ntensors = 1
        elif isinstance(made, Sequence):
            self.ntensors = len(made)
            for i, part in enumerate(made):
                if not isinstance(part, Tensor):
                    raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                                     "tuple...). Got "
                                     f"element {i} of the sequence with type {type(part).__name__}.")  # fmt: skip
                if isinstance(original, Parameter):
                    part = Parameter(part.detach(), original.requires_grad and part.is_floating_point())
                enter(self, f"original{i}", part)
        else:
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                             f"{type(made).__name__}")  # fmt: skip
        if not unsafe:
            try:
                self._check(shape, dtype)
            except Exception:
                original.data = before
                raise

    def _check(self, shape: Any, dtype: Any) -> None:
        """Whether shape and dtype are those of the tensor that is computed."""
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        if result.dtype != dtype:
            raise ValueError("Registering a parametrization may not change the dtype of the tensor, unless "
                             "`unsafe` flag "
                             f"is enabled: {result.dtype} is not {dtype}.")  # fmt: skip
        if result.shape != shape:
            raise ValueError("Registering a parametrization may not change the shape of the tensor, unless "
                             "`unsafe` flag "
                             f"is enabled: {tuple(result.shape)} is not {tuple(shape)}.")  # fmt: skip

    def originals(self) -> list[Tensor]:
        """The tensors from which it is computed."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the computed tensor is ``value``."""
        with no_grad():
            made: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                made = module.right_inverse(made)
            parts = [made] if self.is_tensor else list(made)
            if len(parts) != self.ntensors:
                raise ValueError("'right_inverse' must return a sequence of tensors of length "
                                 f"{self.ntensors}, got {len(parts)}")  # fmt: skip
            for original, part in zip(self.originals(), parts):
                if part.dtype != original.dtype:
                    raise ValueError(f"The tensor returned by `right_inverse` has dtype {part.dtype} while the "
                                     "original has "
                                     f"dtype {original.dtype}")  # fmt: skip
                if part.shape == original.shape:
                    original.copy_(part)
                else:
                    original.data = part.detach()

    def forward(self) -> Tensor:
        """The computed tensor."""
        first, *rest = self
        x = first(*self.originals())
        for module in rest:
            x = module(x)
        return x


def prepare_class(module: Module) -> None:
    """Give the module a class of its own, which can have properties."""
    cls = type(module)

    def deepcopy(self: Module, memo: dict[int, Any]) -> Module:
        if id(self) in memo:
            return memo[id(self)]
        twin = memo[id(self)] = self.__new__(type(self))
        twin.__dict__ = copy.deepcopy(Module.__getstate__(self), memo)
        return twin

    def getstate(self: Module) -> Any:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(): save "
                           "module.state_dict() and load it into a module with the same parametrizations")  # fmt: skip

    members: dict[str, Any] = {"__getstate__": getstate, "_before": cls, "__module__": cls.__module__}
    if "__deepcopy__" not in vars(cls):
        members["__deepcopy__"] = deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def prepare_property(module: Module, name: str) -> None:
    """Make the tensor an attribute that is computed."""

    def get(self: Module) -> Tensor:
        if not caching:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in cache:
            cache[key] = self.parametrizations[name]()
        return cache[key]

    def put(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or buffer of a module from another tensor, by a module.

    Parameters
    ----------
    module : Module
        Whose tensor it is.
    tensor_name : str
        Its name.
    parametrization : Module
        Computes the tensor from ``module.parametrizations[name].original``, or from several originals. With a
        ``right_inverse`` the originals are set so that the tensor keeps its value, and assignments work.
    unsafe : bool
        Whether shape and dtype may change.

    Returns
    -------
    Module
        The module, whose class is one of its own now.

    Examples
    --------
    >>> import tensorplay as tp
    >>> class Symmetric(tp.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = tp.nn.Linear(3, 3)
    >>> _ = tp.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parts = module.parametrizations[tensor_name]
        if not unsafe:
            value = getattr(module, tensor_name)
            result = parametrization(value)
            if not isinstance(result, Tensor) or result.dtype != value.dtype or result.shape != value.shape:
                raise ValueError("Registering a parametrization may not change the shape or dtype of the "
                                 "tensor, unless "
                                 "`unsafe` flag is enabled.")  # fmt: skip
            if hasattr(parametrization, "right_inverse"):
                with no_grad():
                    back = parametrization.right_inverse(value)
                if not isinstance(back, Tensor) or back.dtype != value.dtype or back.shape != value.shape:
                    raise ValueError("parametrization.right_inverse may not change the shape or dtype of the "
                                     "tensor, unless "
                                     "`unsafe` flag is enabled.")  # fmt: skip
        if hasattr(parametrization, "right_inverse"):
            with no_grad():
                value = getattr(module, tensor_name)
                parts.append(parametrization)
                try:
                    parts.right_inverse(value)
                except Exception:
                    parts.pop(-1)
                    raise
        else:
            parts.append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")  # fmt: skip
    original = getattr(module, tensor_name)
    parts = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        prepare_class(module)
        module.parametrizations = ModuleDict()
    prepare_property(module, tensor_name)
    module.parametrizations[tensor_name] = parts
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one for the named tensor."""
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor a parameter or buffer again.

    Parameters
    ----------
    module : Module
        Whose tensor it is.
    tensor_name : str
        Its name.
    leave_parametrized : bool
        Whether it keeps the computed value, or takes the original's.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parts = module.parametrizations[tensor_name]
    if parts.is_tensor:
        kept = parts.original
        if leave_parametrized:
            with no_grad():
                kept.data = getattr(module, tensor_name).detach().clone()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        kept = Parameter(value.detach().clone()) if value.requires_grad else value.detach().clone()
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
                         "parametrized in terms "
                         "of a sequence of tensors.")  # fmt: skip
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    enter(module, tensor_name, kept)
    if not is_parametrized(module):
        del module._modules["parametrizations"]
        module.__class__ = vars(type(module))["_before"]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it was parametrized."""
    return type(module)._before if is_parametrized(module) else type(module)  # type: ignore[attr-defined]


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give one module the parametrizations of another, and their originals; buffers and parameters are copied.

    ``tensor_name`` says which ones; all by default.
    """
    if not is_parametrized(from_module):
        return to_module
    found = from_module.parametrizations
    for name in found if tensor_name is None else [tensor_name]:
        if (
            name not in to_module._parameters
            and name not in to_module._buffers
            and not is_parametrized(to_module, name)
        ):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for part in found[name]:
            register_parametrization(to_module, name, copy.deepcopy(part), unsafe=True)
        with no_grad():
            for mine, theirs in zip(to_module.parametrizations[name].originals(), found[name].originals()):
                mine.data = theirs.detach().clone()
    return to_module
