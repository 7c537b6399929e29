"""The Tensor: data, the node that made it, and a rare part for all that few tensors need.

Operators are attached as methods by their registration (see ``operator.py``); here stands what is not an operator.
"""

from __future__ import annotations

import functools
import gc
import operator
import sys
import threading
import warnings
import weakref
from collections.abc import Iterable, Sequence
from itertools import chain, groupby, starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtype as dtypes
from . import versions
from .carrier import Batched, Carrier, DualLevel, Meta, Moving
from .device import CPU, META, device, is_meta
from .layout import CHANNELS_LAST, strided
from .node import AccumulateGrad, Hooks, Node, Output, RemovableHandle, place
from .state import state
from .versions import storage_of

if TYPE_CHECKING:
    from .methods import Methods  # the operators, which their registration makes methods
else:
    Methods = object

Array = np.ndarray[Any, Any]
new, reference = object.__new__, weakref.ref
BY_NUMPY = dtypes.by_numpy
new_tuple = tuple.__new__


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints that also counts its elements.

    Raises
    ------
    TypeError
        If an item is no int.
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[int] = ()) -> Size:
        items = tuple(sizes)
        for i, n in enumerate(items):
            if type(n) is not int:
                try:
                    items = (*items[:i], operator.index(n), *items[i + 1 :])
                except TypeError:
                    raise TypeError(
                        f"tensorplay.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')"
                    ) from None
        return tuple.__new__(cls, items)

    def numel(self) -> int:
        """The number of elements."""
        n = 1
        for extent in self:
            n *= extent
        return n

    def __repr__(self) -> str:
        return f"tensorplay.Size({list(self)})"

    __str__ = __repr__

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return size_of(part) if isinstance(index, slice) else part

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(tuple.__add__(other, self))

    def __mul__(self, n: Any) -> Size:
        return size_of(tuple.__mul__(self, n))

    __rmul__ = __mul__


def size_of(shape: tuple[int, ...]) -> Size:
    """The shape of an array as a Size, unchecked."""
    return tuple.__new__(Size, shape)


class TensorState:
    """The rare part of a tensor; it never refers to the tensor itself."""

    grad: Tensor | None = None
    view: View | None = None
    views: list[weakref.ref[Tensor]] | None = None
    hooks: tuple[Hooks | None, Hooks | None] | None = None  # while the tensor does not require grad
    retains_grad: bool = False
    inference: bool = False


class View(TensorState):
    """The rare part of a view: how it comes from its base, and what in-place operators on it may do."""

    __slots__ = ("base", "chain", "multiple", "without_grad")

    base: Tensor
    chain: tuple[Any, ...]  # the last step: the chain before it, then primitive, attributes and number of the output
    multiple: bool  # one of several outputs
    without_grad: bool  # made under no_grad
    custom: bool = False  # returned by a custom Function, whose backward a replay of the steps would lose
    disowned: bool = False  # a base whose geometry changed in place: a view, though not to the user

    def __init__(self, base: Tensor, steps: tuple[Any, ...], multiple: bool, without_grad: bool) -> None:
        self.base, self.multiple, self.without_grad = base, multiple, without_grad
        chain: Any = None
        for step in steps:
            chain = (chain, *step)
        self.chain = chain

    @property
    def view(self) -> View:  # type: ignore[override]
        return self

    @property
    def steps(self) -> tuple[Any, ...]:
        """From the base to the view: (primitive, attributes, number of the output or None) for each step."""
        out, chain = [], self.chain
        while chain is not None:
            out.append(chain[1:])
            chain = chain[0]
        return tuple(reversed(out))


class Tensor(Methods):
    """A multi-dimensional array with automatic differentiation.

    Make one with :func:`tensorplay.tensor`, a factory such as :func:`tensorplay.zeros`, or ``Tensor(sizes)`` and
    ``Tensor(sequence)`` for the default dtype.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ("__dict__", "__weakref__", "_data", "_node", "_rare")

    _data: Any
    _node: Node | None
    _rare: TensorState | None

    __array_priority__ = 1000

    def __new__(cls, *args: Any, device: Any = None) -> Tensor:
        if cls is not Tensor:
            overridden(cls)
        default = dtypes.get_default_dtype().numpy
        if len(args) == 1 and not isinstance(args[0], (int, np.integer, Size)):
            value = args[0]
            if isinstance(value, Tensor):
                return wrap(value._data, cls)
            if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
                raise TypeError(f"new(): data must be a sequence (got {type(value).__name__})")
            data: Any = np.array(value, default)
        else:
            sizes = args[0] if args and isinstance(args[0], Size) else args or (0,)
            data = np.empty(sizes, default)
        return wrap(Meta(data.shape, default) if device is not None and is_meta(device) else data, cls)

    # ---- the parts of a tensor

    def _rarely(self) -> TensorState:
        rare = self._rare
        if rare is None:
            rare = self._rare = TensorState()
        return rare

    def _alias(self, node: Node | None = None) -> Tensor:
        """The same data in a new tensor, with the given history."""
        t = wrap(self._data)
        t._node = node
        return t

    def _become_view(self, parent: Tensor, primitive: Any, attrs: Any, index: int | None, multiple: bool) -> None:
        """Be known as a view to the base of the parent, or the parent itself."""
        rare = parent._rare
        if rare is None:
            rare = parent._rare = new(TensorState)
        view, mine = rare.view, new(View)
        if view is None:
            mine.base, mine.chain, mine.multiple = parent, (None, primitive, attrs, index), multiple
            mine.without_grad = not state.recording
        else:
            mine.base, mine.chain, mine.multiple = (
                view.base,
                (view.chain, primitive, attrs, index),
                multiple or view.multiple,
            )
            mine.without_grad = view.without_grad or not state.recording
            if view.custom:
                mine.custom = True
        if rare.inference:
            mine.inference = True
        if view is not None:
            rare = view.base._rare
        self._rare = mine
        views = rare.views  # type: ignore[union-attr]
        if views is None:
            rare.views = [reference(self)]  # type: ignore[union-attr]
        else:
            if len(views) >= 16 and not len(views) & (len(views) - 1):  # at each power of two: drop the dead ones
                views[:] = [r for r in views if r() is not None]
            views.append(reference(self))

    def _leave_lone_base(self) -> None:
        """Be a view no longer where nobody else holds the base: the result of an operator of several steps, say."""
        view = None if self._rare is None else self._rare.view
        if view is None or sys.getrefcount(view.base) > 2 or view.retains_grad:
            return
        if type(view.base._node) is not AccumulateGrad and type(self._node) is not AccumulateGrad:
            alone = self._rare = new(TensorState)
            vars(alone).update({name: value for name, value in vars(view).items() if hasattr(TensorState, name)})

    def _enter_views(self, rare: TensorState) -> None:
        """Be among the views of the base with the given rare part."""
        views = rare.views
        if views is None:
            views = rare.views = []
        elif len(views) >= 16 and not len(views) & (len(views) - 1):  # at each power of two: drop the dead ones
            views[:] = [r for r in views if r() is not None]
        views.append(weakref.ref(self))

    # ---- shape, dtype, device

    @property
    def shape(self) -> Size:
        """The extents of the dimensions."""
        return new_tuple(Size, self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one of its extents."""
        if dim is None:
            return new_tuple(Size, self._data.shape)
        shape = self._data.shape
        if not -len(shape) <= dim < len(shape):
            raise IndexError(f"Dimension out of range (expected to be in range of [{-max(len(shape), 1)}, "
                             f"{max(len(shape), 1) - 1}], but got {dim})")  # fmt: skip
        return shape[dim]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return int(self._data.size)

    nelement = numel

    @property
    def dtype(self) -> dtypes.dtype:
        """The element type."""
        return BY_NUMPY[self._data.dtype]

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self._data.dtype.itemsize

    def element_size(self) -> int:
        """Bytes per element."""
        return self._data.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel() * self._data.dtype.itemsize

    def _innermost(self) -> Any:
        data = self._data
        while isinstance(data, Carrier):
            data = data.inner._data
        return data

    @property
    def device(self) -> device:
        """Where the data lives."""
        return META if type(self._innermost()) is Meta else CPU

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has shape and dtype alone."""
        return type(self._innermost()) is Meta

    is_cpu = property(lambda self: not self.is_meta, doc="Whether the data lives on the CPU.")
    is_cuda = property(lambda self: False, doc="Whether the data lives on a CUDA device: never here.")
    is_sparse = property(lambda self: False, doc="Whether the layout is sparse: never here.")
    is_quantized = property(lambda self: False, doc="Whether the elements are quantised: never here.")

    layout = property(lambda self: strided, doc="The layout of the elements: ``tensorplay.strided``.")

    def get_device(self) -> int:
        """Number of the device; -1 for the CPU."""
        return -1

    def _strides(self) -> tuple[int, ...]:
        data = self._data
        if hasattr(data, "strides_like"):  # what is traced
            data = data.strides_like()
        if isinstance(data, np.ndarray) and data.size:
            strides = [s // data.itemsize for s in data.strides]
            if 0 in strides:  # NumPy's stride of a new dimension of one entry; PyTorch's leads behind what it holds
                for i in range(len(strides) - 1, -1, -1):
                    if not strides[i] and data.shape[i] == 1:
                        strides[i] = strides[i + 1] * data.shape[i + 1] if i + 1 < len(strides) else 1
            return tuple(strides)
        if isinstance(data, Carrier):
            inner = data.inner._strides()
            return inner[len(inner) - data.ndim :]
        strides, step = [], 1
        for extent in reversed(data.shape):
            strides.append(step)
            step *= max(extent, 1)
        return tuple(reversed(strides))

    def stride(self, dim: int | None = None) -> Any:
        """Steps in memory, in elements, from one entry of a dimension to the next."""
        return self._strides() if dim is None else self._strides()[dim]

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie in memory in row-major order, or in that of ``memory_format``."""
        shape, strides, step = self._data.shape, self._strides(), 1
        if 0 in shape:
            return True
        if memory_format in CHANNELS_LAST:
            order = CHANNELS_LAST[memory_format]
            if len(order) != len(shape):
                return False
            shape, strides = [shape[d] for d in order], tuple([strides[d] for d in order])
        for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
            if extent != 1:
                if stride != step:
                    return False
                step *= extent
        return True

    def storage_offset(self) -> int:
        """Where, in elements, the tensor begins in its storage."""
        data = self._innermost()
        if not isinstance(data, np.ndarray):
            return 0
        return (data.__array_interface__["data"][0] - storage_of(data).__array_interface__["data"][0]) // data.itemsize

    def data_ptr(self) -> int:
        """Address of the first element."""
        data = self._innermost()
        return data.__array_interface__["data"][0] if isinstance(data, np.ndarray) else 0

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating-point one."""
        return self._data.dtype.kind in "fV"

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one."""
        return self._data.dtype.kind == "c"

    def is_signed(self) -> bool:
        """Whether the dtype can hold negative numbers."""
        return self.dtype.is_signed

    # ---- autograd

    @property
    def requires_grad(self) -> bool:
        """Whether operators record how the tensor was used."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, mode: bool) -> None:
        if mode and not self.is_leaf:
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        self.requires_grad_(mode)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say whether operators should record this tensor, in place.

        Raises
        ------
        RuntimeError
            For integer and bool tensors, and when a result of an operator is to stop requiring grad.
        """
        node = self._node
        if requires_grad:
            if node is None:
                if self._data.dtype.kind not in "fcV":
                    raise RuntimeError("only Tensors of floating point and complex dtype can require gradients, "
                                       f"got {self.dtype}")  # fmt: skip
                if self._rare is not None and self._rare.inference and not state.inference:
                    raise RuntimeError(
                        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
                    )
                leaf = self._node = AccumulateGrad(self)
                if leaf.leaf.hooks is not None:
                    hooks, leaf.post_accumulate = leaf.leaf.hooks
                    if hooks:
                        leaf.rarely().hooks[0] = hooks
        elif node is not None:
            if type(node) is not AccumulateGrad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                    "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            self._rarely().hooks = None if node.rare is None else node.rare.hooks.get(0), node.post_accumulate
            self._node = None
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user rather than by an operator that is recorded."""
        return self._node is None or type(self._node) is AccumulateGrad

    @property
    def grad_fn(self) -> Node | None:
        """The node that made the tensor; None for leaves."""
        node = self._node
        if node is None or type(node) is AccumulateGrad:
            return None
        return node.edges[0] if type(node) is Output else node

    @property
    def output_nr(self) -> int:
        """Which output of its node the tensor is."""
        return self._node.index if type(self._node) is Output else 0

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have accumulated here; None before the first."""
        rare = self._rare
        grad = None if rare is None else rare.grad
        if grad is None and self._node is not None and type(self._node) is not AccumulateGrad and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
                "by mistake, make sure you access the leaf Tensor instead.",
                UserWarning,
                stacklevel=2,
            )
        return grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if value._data.shape != self._data.shape:
                raise RuntimeError("assigned grad has data of a different size: expected "
                                   f"{list(self._data.shape)}, got {list(value._data.shape)}")  # fmt: skip
            if value._data.dtype != self._data.dtype:
                raise RuntimeError(
                    f"assigned grad has data of a different type: expected {self.dtype}, got {value.dtype}"
                )
        self._rarely().grad = value

    @grad.deleter
    def grad(self) -> None:
        self._rarely().grad = None

    _grad = grad  # which programs assign to, that share gradients between processes

    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that is no leaf in its ``.grad``.

        Raises
        ------
        RuntimeError
            If the tensor does not require grad.

        Examples
        --------
        >>> import tensorplay as tp
        >>> x = tp.tensor([1., 2.], requires_grad=True)
        >>> y = x * 2
        >>> y.retain_grad()
        >>> (y * y).sum().backward()
        >>> y.grad
        tensor([4., 8.])
        """
        if self._node is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if type(self._node) is not AccumulateGrad:
            state_ = self._rarely()
            state_.retains_grad = True
            t: Any = self
            while t._node is not None and type(t._node) is not AccumulateGrad:
                node, index = place(t._node)
                node.rarely().retains[index] = state_
                if not isinstance(t._data, Moving):
                    break
                t = t._data.primal  # what is unpacked leads there

    @property
    def retains_grad(self) -> bool:
        """Whether the tensor is no leaf and its gradient is kept."""
        return self._rare is not None and self._rare.retains_grad

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad)`` whenever the gradient of this tensor is computed.

        A tensor that the hook returns takes the place of the gradient. Hooks run in the order of their registration.

        Returns
        -------
        RemovableHandle
            Its ``remove()`` takes the hook away.

        Raises
        ------
        RuntimeError
            If the tensor does not require grad.

        Notes
        -----
        A hook that is registered inside a function which ``func`` differentiates runs when that transform computes
        gradients, not when one around it does.

        Examples
        --------
        >>> import tensorplay as tp
        >>> x = tp.tensor([1., 2.], requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        if self._node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if state.running:
            hook = within_transform(hook)
        node, index = place(self._node)
        handle = RemovableHandle(node.hooks_on(index), hook)
        if isinstance(self._data, Moving) and self._data.primal._node is not None:
            handle.also = self._data.primal.register_hook(hook)  # what is unpacked leads there
        return handle

    def register_post_accumulate_grad_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(tensor)`` as soon as a backward pass has accumulated into this leaf's ``.grad``.

        It runs when the last operator that used the leaf has run, not at the end of the pass, so an optimizer that
        steps here and drops ``.grad`` frees memory early.

        Raises
        ------
        RuntimeError
            If the tensor is no leaf that requires grad.

        Examples
        --------
        >>> import tensorplay as tp
        >>> w = tp.tensor([1., 2.], requires_grad=True)
        >>> handle = w.register_post_accumulate_grad_hook(lambda w: print(w.grad))
        >>> (w * 3).sum().backward()
        tensor([3., 3.])
        """
        node = self._node
        if type(node) is not AccumulateGrad:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
                if node is not None
                else "cannot register a hook on a tensor that doesn't require gradient"
            )
        if node.post_accumulate is None:
            node.post_accumulate = Hooks()
        return RemovableHandle(node.post_accumulate, hook)

    def detach(self) -> Tensor:
        """The same memory, without history and without tangents."""
        data = self._data
        if type(data) is not np.ndarray and isinstance(data, Carrier):
            data = without_tangents(data)
        t = wrap(data)
        if self._rare is not None and self._rare.inference:
            t._rarely().inference = True
        return t

    def detach_(self) -> Tensor:
        """Take the tensor out of the graph that made it, in place."""
        self._leave_lone_base()
        if self._rare is not None and self._rare.view is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self._node = None
        if isinstance(self._data, Carrier):
            self._data = without_tangents(self._data)
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history and tangents. Unlike PyTorch's, a write through it counts as one."""
        data = self._data
        return wrap(without_tangents(data) if isinstance(data, Carrier) else data)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._node is not None and value._data.dtype.kind not in "fcV":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype, "
                f"got {value.dtype}"
            )
        new = value._data
        plain = not (state.running or isinstance(self._data, Carrier) or isinstance(new, Carrier))
        self._data = new if plain else exchanged(self, value)

    @property
    def _version(self) -> int:
        if self._rare is not None and self._rare.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return versions.version(self._data)

    @property
    def _base(self) -> Tensor | None:
        return self._rare.view.base if self._is_view() else None  # type: ignore[union-attr]

    def _is_view(self) -> bool:
        self._leave_lone_base()
        return self._rare is not None and self._rare.view is not None and not self._rare.view.disowned

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode."""
        return self._rare is not None and self._rare.inference

    # ---- subclasses

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What an operator does with a tensor of a subclass: the results are of the subclass. To be overridden.

        Parameters
        ----------
        func
            The operator: a function, a method or the getter of a property.
        types
            The types of the arguments that override operators.
        args, kwargs
            The arguments.
        """
        from . import overriding

        return overriding.default(cls, func, types, args, kwargs)

    def as_subclass(self, cls: type[Tensor]) -> Any:
        """The same tensor, with its memory and history, as one of a subclass.

        Raises
        ------
        TypeError
            If the class does not derive from Tensor.

        Examples
        --------
        >>> import tensorplay as tp
        >>> class Image(tp.Tensor):
        ...     pass
        >>> x = tp.ones(2, 2).as_subclass(Image)
        >>> type(x + 1).__name__, type(x.mean(0)).__name__
        ('Image', 'Image')
        """
        if not (isinstance(cls, type) and issubclass(cls, Tensor)):
            raise TypeError(f"as_subclass(): argument 'cls' must be a subclass of Tensor, not {cls!r}")
        before, state.overrides_off = state.overrides_off, True
        try:
            made = self.view_as(self)
            node = made._node
            if type(self._data) is not np.ndarray or cls.__basicsize__ != Tensor.__basicsize__:
                rare, data = made._rare, made._data
                made = wrap(data, cls)
                made._node, made._rare = node, rare
                if rare is not None and rare.view is not None:
                    made._enter_views(rare.view.base._rarely())
            else:
                made.__class__ = cls
        finally:
            state.overrides_off = before
        overridden(cls)
        return made

    @staticmethod
    def _make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Any:
        """A leaf of a subclass that shares the memory."""
        overridden(cls)
        return wrap(data.detach()._data, cls).requires_grad_(require_grad)

    # ---- identity

    def __hash__(self) -> int:
        return id(self)

    @property
    def T(self) -> Tensor:
        """The dimensions reversed."""
        return self.permute(*range(self.ndim - 1, -1, -1))


def disabled_torch_function(
    func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """The ``__torch_function__`` of subclasses that operators take for plain tensors, as parameters."""
    before, state.overrides_off = state.overrides_off, True
    try:
        return func(*args, **(kwargs or {}))
    finally:
        state.overrides_off = before


def overrides(cls: type[Tensor]) -> bool:
    """Whether operators ask a class what to do with its tensors."""
    return cls is not Tensor and cls.__torch_function__ is not disabled_torch_function


def overridden(cls: type[Tensor]) -> None:
    """Let operators look for subclasses from now on, if a tensor of one is about to be made."""
    if overrides(cls):
        from . import overriding

        overriding.watch()


def wrap(data: Any, cls: type[Tensor] = Tensor) -> Tensor:
    """A tensor of the given data, without history."""
    t = object.__new__(cls)
    t._data = data
    t._node = None
    t._rare = None
    return t


FORWARD = frozenset({"vmap", "jvp", "jacfwd", "jet", "laplacian", "hessian_diag"})
"""Transforms that run no backward pass of their own."""


def within_transform(hook: Any) -> Any:
    """A hook that runs only while the innermost transform of reverse mode does, of which the tensor is."""
    owners = [number for number, name, _ in state.running if name not in FORWARD]
    if not owners:
        return hook
    owner = owners[-1]

    @functools.wraps(hook, updated=())
    def own(grad: Tensor) -> Any:
        return hook(grad) if any([number == owner for number, _, _ in state.running]) else None

    return own


one_at_a_time = threading.Lock()
NO_TUPLES: dict[type, Any] = {tuple: ()}


def tensors_alive() -> list[Tensor]:
    """Every tensor of the process: what the collector finds to refer to the class or a subclass.

    Other threads must not run while that holds a tuple: one that they are building would have gained a reference, and
    the interpreter then refuses to finish it. So no byte code runs until the tuples are dropped.
    """
    kinds: set[type] = set()
    stack: list[type] = [Tensor]
    while stack:
        kind = stack.pop()
        kinds.add(kind)
        stack += kind.__subclasses__()
    groups = groupby(chain.from_iterable(starmap(gc.get_referrers, [tuple(kinds)])), type)
    rest: Iterable[Any] = chain.from_iterable(starmap(NO_TUPLES.get, groups))
    with one_at_a_time:
        collecting = gc.isenabled()
        gc.disable()  # finalizers are byte code
        try:
            found = list(rest)
        finally:
            if collecting:
                gc.enable()
    return [t for t in found if type(t) in kinds]


def exchanged(t: Tensor, value: Tensor) -> Any:
    """What a tensor holds after ``t.data = value`` inside a transform: as in PyTorch, tangents of forward_ad stay.

    Raises
    ------
    RuntimeError
        If the change would be lost to ``func``'s forward mode, or a value of a transform would get out of it.
    """
    from .captured import refuse_captured

    data, new = t._data, without_tangents(value._data)
    if isinstance(data, Moving) and type(data.level) is DualLevel:
        return data.at(wrap(new))
    inside = data
    while isinstance(inside, Carrier):
        if isinstance(inside, Moving):
            raise RuntimeError(f"data: mutating directly with `.data` inside {inside.transform} is not allowed: the "
                               "derivative would be that of the old value; use copy_(), or the new tensor")  # fmt: skip
        inside = inside.inner._data
    refuse_captured(t, wrap(new), "data")
    return new


def without_tangents(data: Any) -> Any:
    """Data that stand still in every forward mode around."""
    if isinstance(data, Moving):
        return without_tangents(data.primal._data)
    if type(data) is Batched:
        return Batched(wrap(without_tangents(data.value._data)), data.level)
    return data


def mark_inference(t: Tensor) -> None:
    """Note that a tensor was made in inference mode, if this thread is in it; a view is what its base is."""
    if state.inference and not t._is_view():
        t._rarely().inference = True
        inference_made.add(True)


inference_made: set[bool] = set()
"""Empty until a tensor is made in inference mode, and so the one cheap test before saved values are looked at."""


def refuse_inference(*saved: Any) -> None:
    """Refuse to keep tensors of inference mode for a backward pass, but for that of a transform.

    Raises
    ------
    RuntimeError
        If one of them, outside of inference mode, was made in it.
    """
    for t in saved:
        if t is not None and t._rare is not None and t._rare.inference and not state.inference and not state.running:
            raise RuntimeError(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
                "and use it in autograd, or use `tensorplay.no_grad()` instead of `tensorplay.inference_mode()`."
            )
