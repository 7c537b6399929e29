"""Modules that hold modules or parameters: in order, by number or by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from ..core.tensor import Tensor
from .module import Module
from .parameter import Parameter


def position(index: Any, length: int, end: bool = False) -> int:
    """A position from the start; ``end`` allows the one after the last."""
    i = operator.index(index)
    if not -length <= i < length + end:
        raise IndexError(f"index {i} is out of range for length {length}")
    return i + length if i < 0 else i


def is_table(value: Any) -> bool:
    """Whether something has items by name."""
    return isinstance(value, (Mapping, ModuleDict, ParameterDict))


class Ordered(Module):
    """Modules by number: what :class:`Sequential` and :class:`ModuleList` have in common."""

    def _held(self) -> list[Any]:
        return list(self._modules.values())

    def _hold(self, modules: Iterable[Any]) -> None:
        """Replace all modules."""
        modules = list(modules)
        for module in modules:
            if module is not None and not isinstance(module, Module):
                raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(modules))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, index: Any, module: Module) -> None:
        setattr(self, list(self._modules)[position(index, len(self))], module)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def pop(self, key: int | slice) -> Any:
        """Take a module away, and return it."""
        whole: Any = self
        found = whole[key]
        del self[key]
        return found


class Sequential(Ordered):
    """Modules one after another.

    Parameters
    ----------
    *args : Module
        The modules, or one ordered dict of them.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Sequential(tp.nn.Linear(3, 4), tp.nn.Tanh())
    Sequential(
      (0): Linear(in_features=3, out_features=4, bias=True)
      (1): Tanh()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else ((str(i), m) for i, m in enumerate(args)):
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """Pass the input through all modules in order."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._held()[position(index, len(self))]

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [names[position(index, len(self))]]:
            del self._modules[name]
        if all(name.isdigit() for name in self._modules):
            self._hold(self._held())

    def append(self, module: Module) -> Sequential:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Add a module before a position."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        modules = self._held()
        modules.insert(position(index, len(self), end=True), module)
        self._hold(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Add modules at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return type(self)(*self, *other)

    def __iadd__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return type(self)(*self._held() * checked_factor(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        self._hold(self._held() * checked_factor(other))
        return self


def checked_factor(n: Any) -> int:
    """How often modules are repeated."""
    if not isinstance(n, int):
        raise TypeError(f"unsupported operand type(s) for *: {Sequential} and {type(n)}")
    if n <= 0:
        raise ValueError(f"Non-positive multiplication factor {n} for {Sequential}")
    return n


class ModuleList(Ordered):
    """A list of modules.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.ModuleList([tp.nn.ReLU(), tp.nn.ReLU(), tp.nn.Tanh()])
    ModuleList(
      (0-1): 2 x ReLU()
      (2): Tanh()
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(self._held()[index])
        return self._held()[position(index, len(self))]

    def __delitem__(self, index: Any) -> None:
        modules = self._held()
        del modules[index if isinstance(index, slice) else position(index, len(self))]
        self._hold(modules)

    def append(self, module: Module) -> ModuleList:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Add a module before a position."""
        modules = self._held()
        modules.insert(index, module)
        self._hold(modules)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return type(self)([*self, *other])

    def __iadd__(self, other: Iterable[Module]) -> ModuleList:
        return self.extend(other)

    def __repr__(self) -> str:
        runs: list[list[Any]] = []  # first and last number of modules that look alike
        for i, shown in enumerate(map(repr, self)):
            if runs and runs[-1][2] == shown:
                runs[-1][1] = i
            else:
                runs.append([i, i, shown])
        if not runs:
            return self._get_name() + "()"
        lines = [
            (f"({a}): " if a == b else f"({a}-{b}): {b - a + 1} x ") + shown.replace("\n", "\n  ")
            for a, b, shown in runs
        ]
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules by name.

    Examples
    --------
    >>> import tensorplay as tp
    >>> choices = tp.nn.ModuleDict({"relu": tp.nn.ReLU()})
    >>> choices["tanh"] = tp.nn.Tanh()
    >>> list(choices)
    ['relu', 'tanh']
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules away."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module away, and return it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules: a mapping, or pairs of names and modules."""
        if not isinstance(modules, (Iterable, ModuleDict)):
            raise TypeError("ModuleDict.update should be called with an iterable of key/value pairs, but got "
                            f"{type(modules).__name__}")  # fmt: skip
        for key, module in pairs(modules):
            self[key] = module


class DataParallel(Module):
    """A module as it is where there is one device: it calls ``module``, under whose name the state dict has its state.

    Raises
    ------
    ValueError
        If ``device_ids`` or ``output_device`` name devices: there are none to divide the work among.
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        if device_ids or output_device is not None:
            raise ValueError("DataParallel: there are no devices; device_ids and output_device must be None")
        self.module, self.dim = module, dim
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """What programs test their models for; there are no processes to share the work, so none can be made.

    Raises
    ------
    RuntimeError
        Always.
    """

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("DistributedDataParallel: there is no distributed training here; use the module itself")


def pairs(items: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of a mapping or a sequence of pairs."""
    if is_table(items):
        yield from items.items()
        return
    for i, item in enumerate(items):
        if not isinstance(item, Iterable):
            raise TypeError(f"element #{i} should be Iterable; is {type(item).__name__}")
        pair = list(item)
        if len(pair) != 2:
            raise ValueError(f"element #{i} has length {len(pair)}; 2 is required")
        yield pair[0], pair[1]


def as_parameter(value: Any) -> Any:
    """A parameter of a tensor; everything else, and what is a parameter or buffer already, as it is."""
    return Parameter(value) if type(value) is Tensor else value


def described(values: Iterable[tuple[Any, Any]]) -> str:
    """A line for each parameter or other value."""
    lines = []
    for name, value in values:
        if isinstance(value, Tensor):
            kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
            size = "x".join(map(str, value.shape))
            lines.append(f"    ({name}): {kind} containing: [{value.dtype} of size {size}]")
        elif isinstance(value, Module):
            lines.append(f"    ({name}): Module containing: " + repr(value).replace("\n", "\n  "))
        else:
            lines.append(f"    ({name}): Object of type: {type(value).__name__}")
    return "\n".join(lines)


class ParameterList(Module):
    """A list of parameters; tensors become parameters, anything else is kept as it is.

    Examples
    --------
    >>> import tensorplay as tp
    >>> parameters = tp.nn.ParameterList([tp.ones(2), tp.ones(3)])
    >>> [p.shape for p in parameters.parameters()]
    [tensorplay.Size([2]), tensorplay.Size([3])]
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(i)) for i in range(len(self))])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, str(position(index, len(self))))

    def __setitem__(self, index: Any, param: Any) -> None:
        setattr(self, str(position(index, len(self))), as_parameter(param))

    def append(self, value: Any) -> ParameterList:
        """Add a value at the end."""
        setattr(self, str(self._size), as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add values at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def pop(self, key: int = -1) -> Any:
        """Take a value away, and return it."""
        values = list(self)
        i = position(key, len(self))
        found = values.pop(i)
        for j in range(i, len(values) + 1):
            delattr(self, str(j))
        self._size = i
        self.extend(values[i:])
        return found

    def __iadd__(self, other: Iterable[Any]) -> ParameterList:
        return self.extend(other)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")

    def __repr__(self) -> str:
        return f"{self._get_name()}(\n{described(enumerate(self))}\n)" if len(self) else self._get_name() + "()"


class ParameterDict(Module):
    """Parameters by name; tensors become parameters, anything else is kept as it is.

    Examples
    --------
    >>> import tensorplay as tp
    >>> parameters = tp.nn.ParameterDict({"a": tp.ones(2)})
    >>> parameters["a"]
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(key).__name__}').")  # fmt: skip
        if key not in self._keys and hasattr(type(self), key):
            raise KeyError(f"attribute '{key}' already exists")
        self._keys[key] = None
        setattr(self, key, as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a name, which is set to ``default`` if it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take all values away."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take a value away, and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last value away, and return it with its name."""
        if not self._keys:
            raise KeyError("popitem(): the ParameterDict is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, or ``default``."""
        return self[key] if key in self else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dict with one value for all names."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and values."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> Iterable[Any]:
        """The values."""
        return [self[key] for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Add values: a mapping, or pairs of names and values."""
        if not isinstance(parameters, (Iterable, ParameterDict)):
            raise TypeError("ParameterDict.update should be called with an iterable of key/value pairs, but got "
                            f"{type(parameters).__name__}")  # fmt: skip
        for key, value in pairs(parameters):
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __repr__(self) -> str:
        return f"{self._get_name()}(\n{described(self.items())}\n)" if len(self) else self._get_name() + "()"
