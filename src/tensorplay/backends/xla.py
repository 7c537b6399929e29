"""XLA, through JAX's public interface: arrays that are traced rather than computed.

``Traced`` is the array of a tensor inside ``tensorplay.compile``: a cell that holds a JAX tracer. It is no NumPy array
and cannot be made one, so nothing leaks into NumPy by accident. Primitives meet it as they meet the arrays of any other
module; where XLA has no kernel for one, NumPy's runs by a callback.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from . import register
from .xla_kernels import KERNELS, VALUE_DEPENDENT

Array = np.ndarray[Any, Any]

UNTRACEABLE = (
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerBoolConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    AttributeError,
    IndexError,
    NotImplementedError,
    StopIteration,
    TypeError,
    ValueError,
)
"""What a kernel raises that cannot be traced. An error of its arguments is raised once more by NumPy's kernel."""


enable_x64: Any = getattr(jax, "enable_x64", None)
"""A context for this thread in which arrays may have 64 bits."""
if enable_x64 is None:  # older versions
    enable_x64 = importlib.import_module("jax.experimental").enable_x64


jax.config.update("jax_cpu_enable_async_dispatch", False)
# A compiled function waits for its results: a thread that computes them meanwhile only costs the way there and back.
# Where JAX has been used before, its threads are there already, and this changes nothing.


class DataDependent(RuntimeError):
    """Python asked for a value that is only known when the compiled program runs."""


class Missed(BaseException):
    """An array from outside took part that is no input yet: the function is traced again with it.

    It is nothing that the function may catch.
    """

    def __init__(self, array: Array) -> None:
        super().__init__("an array from outside of the compiled function was met")
        self.array = array


class Traced:
    """A cell with a tracer: memory as a compiled function sees it.

    Aliases share the cell, so a write is seen by all of them; a view remembers how it comes from its base.
    """

    __slots__ = (
        "__weakref__", "arranged", "base", "dtype", "like", "ndim", "owner", "parent", "seen", "shape", "step",
        "tracer", "version",
    )  # fmt: skip

    def __init__(self, owner: Any, tracer: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.owner, self.tracer = owner, tracer
        self.shape, self.dtype, self.ndim = tuple(shape), np.dtype(dtype), len(shape)
        self.parent: Traced | None = None
        self.base: Traced | None = None  # the cell at the root of a view, as an array's ``base`` is
        self.step: Callable[[Any], Any] | None = None
        self.like: Array | None = None  # an array of the same strides, never read
        self.arranged = False  # whether it mattered how the memory lies
        self.version = self.seen = 0

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def read(self) -> Any:
        """The tracer, as the last write left it."""
        owner = self.owner
        if owner.ended:
            raise RuntimeError(
                "a tensor made inside compile is used after the function was traced; return it from the function"
            )
        parent = self.parent
        if parent is not None:
            value = parent.read()
            if parent.version != self.seen:
                self.tracer = self.step(value)  # type: ignore[misc]
                self.seen = parent.version
                self.version += 1
        elif self.tracer is None:
            self.tracer = owner.tracer_of(self)
        return self.tracer

    def assign(self, value: Any) -> None:
        """Write: all aliases, and views, hold the value afterwards."""
        new = jnp.asarray(value.read() if isinstance(value, Traced) else np.array(value))
        if new.shape != self.shape:
            new = jnp.broadcast_to(new, self.shape)
        if new.dtype != self.dtype:
            new = new.astype(self.dtype)
        if self.parent is not None:
            put_part(self, new)
        self.tracer = new
        self.version += 1

    def copy(self) -> Traced:
        """The same value in a cell of its own."""
        return Traced(self.owner, self.read(), self.shape, self.dtype)

    def strides_like(self) -> Array:
        """An array with the strides that the memory would have, because these matter."""
        (self if self.base is None else self.base).arranged = True
        return self.alike()

    def alike(self) -> Array:
        """An array with the strides that the memory would have."""
        if self.like is None:
            self.like = np.empty(self.shape, self.dtype)
        return self.like

    def refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise DataDependent(
            "the value of a traced tensor is needed while the function is being compiled (bool(), int(), item(), "
            "numpy() and shapes that depend on values); use tensorplay.where, or compute it outside of the function"
        )

    __array__ = __bool__ = __int__ = __float__ = __complex__ = __index__ = __iter__ = item = tolist = refuse

    def __repr__(self) -> str:
        return f"<traced {self.dtype}{list(self.shape)}>"


def put_part(view: Traced, new: Any) -> None:
    """Write a view's new value into the cell that it is part of."""
    parent: Any = view.parent
    if parent.dtype != view.dtype:
        view.refuse()
    positions = np.arange(parent.size).reshape(parent.shape)
    places = np.asarray(view.step(positions))  # type: ignore[misc]
    value = parent.read().reshape(-1).at[places.reshape(-1)].set(new.reshape(-1)).reshape(parent.shape)
    parent.assign(Traced(view.owner, value, parent.shape, parent.dtype))
    view.seen = parent.version


class Module:
    """What stands for the array module of traced arrays: kernels come from here rather than by attribute."""

    __name__ = "jax.numpy"

    def __init__(self) -> None:
        self.made: dict[str, Callable[..., Any]] = {}

    def kernel_of(self, primitive: Any) -> Callable[..., Any]:
        """The kernel of a primitive over traced arrays."""
        kernel = self.made.get(primitive.name)
        if kernel is None:
            kernel = self.made[primitive.name] = Kernel(primitive)
        return kernel


class Kernel:
    """A primitive over traced arrays: by a kernel for XLA, by its own over ``jax.numpy``, or by a callback."""

    def __init__(self, primitive: Any) -> None:
        self.primitive = primitive
        name, kernel = primitive.name, primitive.kernel
        own = KERNELS.get(name)
        if own is not None:
            self.run = own
        elif isinstance(kernel, str):
            self.run = getattr(jnp, kernel)
        else:
            self.run = primitive.without_kept(primitive.bind(kernel, jnp))
        self.native = own is not None

    def __call__(self, *arrays: Any, **attrs: Any) -> Any:
        p = self.primitive
        operands, attributes = arrays, attrs
        if not p.variadic:
            n = len(p.inputs)
            operands = arrays[:n]
            attributes = dict(zip(p.attrs, arrays[n:])) | attrs
        owner = next(a.owner for a in operands if type(a) is Traced)
        if p.name in VALUE_DEPENDENT:
            owner.refuse(f"{p.name}, the shape of whose result depends on values,")
        values = [a.read() if type(a) is Traced else a if a is None else owner.constant(a) for a in operands]
        if p.name in owner.callbacks:
            out = self.called_back(owner, values, attributes)
        else:
            try:
                out = self.run(*values, **attributes)
            except UNTRACEABLE as error:
                out = self.called_back(owner, values, attributes, error)
        if type(out) is tuple or type(out) is list:
            cells: Any = [wrapped(owner, o) for o in out]
        else:
            cells = wrapped(owner, out)
        if p.view:
            self.link(operands[0], cells, attributes)
        return cells

    def link(self, parent: Any, cells: Any, attrs: dict[str, Any]) -> None:
        """Let cells be views where NumPy's arrays would be."""
        if type(parent) is not Traced:
            return
        array = parent.alike() if self.primitive.view is True else parent.strides_like()
        views = self.primitive.array_kernel(array, **attrs)
        several = type(cells) is list
        for i, (cell, view) in enumerate(zip(cells, views) if several else [(cells, views)]):
            cell.like = view
            if np.may_share_memory(view, array) or (not view.size and self.primitive.view is True):
                cell.parent, cell.seen = parent, parent.version
                cell.base = parent if parent.base is None else parent.base
                cell.step = self.part(i, attrs) if several else self.whole(attrs)

    def whole(self, attrs: dict[str, Any]) -> Callable[[Any], Any]:
        return lambda value: (self.primitive.array_kernel if type(value) is np.ndarray else self.run)(value, **attrs)

    def part(self, i: int, attrs: dict[str, Any]) -> Callable[[Any], Any]:
        whole = self.whole(attrs)
        return lambda value: whole(value)[i]

    def called_back(self, owner: Any, values: Sequence[Any], attrs: dict[str, Any], error: Any = None) -> Any:
        """NumPy's kernel, called from the compiled program; shapes and dtypes are those that it gives for zeros."""
        p = self.primitive
        zeros = [None if v is None else np.broadcast_to(np.zeros((), v.dtype), v.shape) for v in values]
        if p.meta is not None:
            like = p.meta(*zeros, *[attrs[n] for n in p.attrs])
        else:
            with np.errstate(all="ignore"):
                like = p.array_kernel(*zeros, **attrs)
        several = type(like) is tuple or type(like) is list
        specs = [jax.ShapeDtypeStruct(o.shape, o.dtype) for o in (like if several else [like])]
        places = [i for i, v in enumerate(values) if v is not None]
        given = [jax.ShapeDtypeStruct(values[i].shape, np.dtype(values[i].dtype)) for i in places]

        def on_host(*arrays: Any) -> Any:
            full: list[Any] = [None] * len(values)
            for i, a, s in zip(places, arrays, given):
                full[i] = np.ascontiguousarray(a).view(s.dtype).reshape(s.shape)
            with np.errstate(all="ignore"):
                out = p.array_kernel(*full, **attrs)
            parts = out if several else [out]
            return [in_words(np.ascontiguousarray(o, s.dtype), s) for o, s in zip(parts, specs)]

        owner.called_back(p.name, error)
        out = jax.pure_callback(on_host, [words(s) for s in specs], *[to_words(values[i]) for i in places])
        results = [from_words(o, s.dtype) for o, s in zip(out, specs)]
        return results if several else results[0]


# A callback runs in whichever thread XLA takes, and JAX halves what has 64 bits in threads that did not allow them:
# such values pass as 32-bit words.


def words(spec: Any) -> Any:
    """Shape and dtype of the words of an array."""
    if spec.dtype.itemsize < 8 or spec.dtype == np.complex64:
        return spec
    return jax.ShapeDtypeStruct((*spec.shape, spec.dtype.itemsize // 4), np.uint32)


def in_words(array: Array, spec: Any) -> Array:
    to = words(spec)
    return array.view(to.dtype).reshape(to.shape)


def to_words(x: Any) -> Any:
    if x.dtype == np.complex128:
        pairs = jnp.stack([x.real, x.imag], -1)
        return jax.lax.bitcast_convert_type(pairs, np.uint32).reshape(*x.shape, 4)
    return x if words(x) is x else jax.lax.bitcast_convert_type(x, np.uint32)


def from_words(x: Any, dtype: np.dtype[Any]) -> Any:
    if dtype == np.complex128:
        pairs = jax.lax.bitcast_convert_type(x.reshape(*x.shape[:-1], 2, 2), np.float64)
        return jax.lax.complex(pairs[..., 0], pairs[..., 1])
    return x if x.dtype == dtype else jax.lax.bitcast_convert_type(x, dtype)


def wrapped(owner: Any, out: Any) -> Traced:
    """A result as a cell."""
    if not hasattr(out, "dtype"):
        out = np.asarray(out)
    if getattr(out, "weak_type", False):
        out = jax.lax.convert_element_type(out, np.dtype(out.dtype))
    return Traced(owner, out, out.shape, out.dtype)


register(Traced, Module())


# ---- memory that both NumPy and XLA use


@functools.cache
def memory_class(nbytes: int) -> Any:
    """A class of blocks of memory; ``xla_array`` of a block is the array of XLA that owns it."""
    return type("Memory", (ctypes.c_char * nbytes,), {"__slots__": ("xla_array",)})


def over_memory(owner: Any, shape: tuple[int, ...], dtype: np.dtype[Any], block: Any) -> Array:
    """A writable array over the memory of an array of XLA, which nobody else must hold."""
    memory = block.from_address(owner.unsafe_buffer_pointer())
    memory.xla_array = owner
    return np.ndarray(shape, dtype, memory)


def in_memory_of(owner: Any) -> Array:
    """The same, for any array of XLA."""
    dtype, shape = owner.dtype, owner.shape
    if 0 in shape:
        return np.empty(shape, dtype)
    return over_memory(owner, shape, dtype, memory_class(dtype.itemsize * math.prod(shape)))


def operand(data: Array) -> Any:
    """An array as a compiled program takes it: without a copy where it is memory of XLA."""
    return getattr(data.base, "xla_array", data)
