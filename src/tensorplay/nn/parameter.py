"""Parameters and buffers: the tensors a module owns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.carrier import Carrier
from ..core.tensor import Tensor, disabled_torch_function, wrap


class Parameter(Tensor):
    """A tensor that a :class:`Module` counts among its parameters when assigned as an attribute.

    Parameters
    ----------
    data : Tensor, optional
        The values; the parameter shares their memory. Empty by default.
    requires_grad : bool
        Whether operators record it.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Parameter(tp.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()
    __torch_function__ = staticmethod(disabled_torch_function)  # operators on parameters give plain tensors

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = Tensor(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter(): argument 'data' must be Tensor, not {type(data).__name__}")
        t = wrap(data._data, cls)
        if requires_grad:
            t.requires_grad_()
        return t  # type: ignore[return-value]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuild_parameter, (self.detach(), self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return made


def rebuild_parameter(data: Tensor, requires_grad: bool) -> Parameter:
    """What unpickling a parameter calls."""
    return Parameter(data, requires_grad)


class Buffer(Tensor):
    """A tensor that a :class:`Module` counts among its buffers when assigned as an attribute."""

    __slots__ = ()
    __torch_function__ = staticmethod(disabled_torch_function)

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        data = Tensor(0) if data is None else data
        if not isinstance(data, Tensor):
            raise TypeError(f"Buffer(): argument 'data' must be Tensor, not {type(data).__name__}")
        t = wrap(data._data, cls)
        t.__dict__["persistent"] = persistent
        return t  # type: ignore[return-value]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuild_buffer, (self.detach(), self.__dict__.get("persistent", True))

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = rebuild_buffer(self.detach().clone(), self.__dict__.get("persistent", True))
        return made


def rebuild_buffer(data: Tensor, persistent: bool) -> Buffer:
    """What unpickling a buffer calls."""
    return Buffer(data, persistent=persistent)


def is_lazy(value: Any) -> bool:
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(value, Uninitialized)


class Unshaped(Carrier):
    """Data of an unknown shape: it has a dtype and a device, and whoever asks for more is refused."""

    __slots__ = ("held",)

    def __init__(self, held: Tensor) -> None:
        self.held = held

    @property
    def inner(self) -> Tensor:
        return self.held

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        return self.held._data.dtype

    @property
    def shape(self) -> Any:  # type: ignore[override]
        raise ValueError("Attempted to use an uninitialized parameter or buffer. It has no shape before the first call "
                         "of its module: call `forward` once, with an input of the right size.")  # fmt: skip

    ndim = size = level = shape


class Uninitialized:
    """What parameters and buffers without a shape have in common; those of lazy modules, until the first call."""

    __slots__ = ()
    initialized: type[Tensor]

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a parameter or buffer of the given shape, without values."""
        mine: Any = self
        like = mine._data.held
        made = like.new_empty(shape, device=device or like.device, dtype=dtype or like.dtype)
        mine.__class__ = self.initialized
        mine._data = made._data

    def detach(self, *args: Any, **kwargs: Any) -> Any:
        """Raises, as all use does but for conversions."""
        mine: Any = self
        return mine._data.shape

    numpy = tolist = detach

    def convert(self, fn: Callable[[Tensor], Tensor]) -> None:
        """Take the dtype and device of what a function makes of no elements."""
        mine: Any = self
        mine._data = Unshaped(fn(mine._data.held))

    @property
    def shape(self) -> Any:
        """Raises: there is none yet."""
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. Call `forward` to "
                           "initialize "
                           "the parameters before accessing their attributes.")  # fmt: skip

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(Uninitialized, Parameter):
    """A parameter whose shape is not known yet; ``materialize(shape)`` makes it one.

    Examples
    --------
    >>> import tensorplay as tp
    >>> p = tp.nn.UninitializedParameter()
    >>> p.materialize((2, 3))
    >>> p.shape
    tensorplay.Size([2, 3])
    """

    __slots__ = ()
    initialized = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> UninitializedParameter:
        return super().__new__(cls, unshaped(device, dtype), requires_grad)  # type: ignore[return-value]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return UninitializedParameter, (self.requires_grad, self.device, self.dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedParameter:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return made


class UninitializedBuffer(Uninitialized, Buffer):
    """A buffer whose shape is not known yet."""

    __slots__ = ()
    initialized = Buffer

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> UninitializedBuffer:
        made = super().__new__(cls, unshaped(device, dtype), persistent=persistent)
        return made.requires_grad_(requires_grad)  # type: ignore[return-value]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return UninitializedBuffer, (self.requires_grad, self.device, self.dtype, self.__dict__.get("persistent", True))

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedBuffer:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = self.__reduce_ex__(2)[0](*self.__reduce_ex__(2)[1])
        return made


def unshaped(device: Any, dtype: Any) -> Tensor:
    """A tensor without a shape, of a device and dtype."""
    from ..ops.factories import empty

    return wrap(Unshaped(empty((0,), device=device, dtype=dtype)))


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """What of a layer's keyword arguments is meant for the functions that make its tensors.

    Parameters
    ----------
    kwargs : dict, optional
        ``device``, ``dtype`` and ``memory_format``, here or in a dict under ``factory_kwargs``.

    Raises
    ------
    TypeError
        If there is anything else, or one of them twice.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty(2, **tp.nn.factory_kwargs({"dtype": tp.float64})).dtype
    tensorplay.float64
    """
    given = dict(kwargs or {})
    inner = given.pop("factory_kwargs", {})
    if unknown := given.keys() - {"device", "dtype", "memory_format"}:
        raise TypeError(f"factory_kwargs: unexpected kwargs {sorted(unknown)}")
    if twice := given.keys() & inner.keys():
        raise TypeError(f"factory_kwargs: {sorted(twice)} specified twice, in **kwargs and in factory_kwargs")
    return {**given, **inner}
