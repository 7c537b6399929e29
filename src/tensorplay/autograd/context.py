"""The context of a custom Function, and its node: what one call keeps for its backward."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.carrier import Meta
from ..core.namespace import F
from ..core.node import Node, Output, freed
from ..core.primitive import is_differentiable
from ..core.saved import Packed, SavedTensor, refuse_stale
from ..core.state import count, state
from ..core.tensor import Tensor, wrap

if TYPE_CHECKING:
    from .function import Function

# ---- what is kept


class KeptOutput:
    """An output that the context keeps: as data, so that the node and its output form no cycle."""

    __slots__ = ("data", "index")

    def __init__(self, t: Tensor, index: int) -> None:
        self.data, self.index = t._data, index

    def rebuild(self, node: Node | None) -> Tensor:
        t = wrap(self.data)
        if node is not None and is_differentiable(t):
            t._node = Output(node, self.index) if node.outputs > 1 else node
        return t


class WithoutTangent:
    """Something computed in a forward that did not see the tangents: reading it as a constant would lose them."""

    __slots__ = ()


class FunctionSavedTensor(SavedTensor):
    """A place in what ``save_for_backward`` kept."""

    __slots__ = ()
    node: Any

    def packed(self, value: Any, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> Any:
        return pack_value(value, pack_hook, unpack_hook)

    def unpack(self) -> Any:
        return self.node.ctx.saved_tensors[self.index]


def pack_value(value: Any, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> Any:
    """A kept tensor, packed. Of an output the history is made when it is read."""
    if isinstance(value, KeptOutput):
        packed = Packed(wrap(value.data), pack_hook, unpack_hook)
        return PackedOutput(packed, value.index)
    return Packed(value, pack_hook, unpack_hook) if isinstance(value, Tensor) else value


class PackedOutput(NamedTuple):
    """An output as a pack hook left it."""

    packed: Packed
    place: int


class Freed(tuple[Any, ...]):
    """What a node keeps once its saved values were released; not the same as never having kept any."""

    __slots__ = ()


FREED = Freed()


# ---- the context


class Call:
    """What a context collects on behalf of one call."""

    __slots__ = ("dirty", "forward", "hold", "kept", "materialize", "node", "non_differentiable", "override", "save")

    def __init__(self) -> None:
        self.node: Any = None  # weak reference to the node
        self.save: tuple[Any, ...] = ()
        self.forward: tuple[Any, ...] | None = None  # what jvp reads
        self.override: tuple[Any, ...] | None = None  # saved tensors as another level sees them
        self.kept: dict[str, Any] = {}  # attributes that are outputs
        self.dirty: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize = True
        self.hold = False  # whether forward mode will want to know what was declared


NODE_ATTRIBUTES = frozenset(
    {"name", "next_functions", "metadata", "register_hook", "register_prehook", "_sequence_nr", "_raw_saved_tensors"}
)


class FunctionCtx:
    """What forward and backward of a custom Function share: ``ctx``.

    Any attribute may be set on it. Tensors that backward needs are better kept by :meth:`save_for_backward`, which
    checks that they were not written to in between and releases them after the backward pass.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of ``apply``, whether it is a tensor that requires grad.
    saved_tensors : tuple of Tensor
        In backward, what ``save_for_backward`` was given; in jvp, what ``save_for_forward`` was given.
    """

    __slots__ = ("__dict__", "__weakref__", "_call", "needs_input_grad")

    needs_input_grad: tuple[bool, ...]
    _call: Call

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        self = object.__new__(cls)
        self._call = Call()
        return self

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (or None) for backward, to be read as ``ctx.saved_tensors``. To be called once, in forward."""
        self._call.save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (or None) for jvp, to be read as ``ctx.saved_tensors``. To be called once, in forward."""
        self._call.forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare which arguments forward has written to. Each of them must be returned."""
        self._call.dirty = checked_tensors("mark_dirty", args)

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare which outputs have no gradient."""
        self._call.non_differentiable = checked_tensors("mark_non_differentiable", args)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward and jvp receive zeros (the default) rather than None where there is no gradient."""
        self._call.materialize = bool(value)

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Deprecated, and without effect: shared memory is found without being declared."""
        warnings.warn("mark_shared_storage is deprecated. Tensors with shared storages are automatically tracked. "
                      "Note that calls to `set_()` are not tracked", FutureWarning, stacklevel=2)  # fmt: skip

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What was kept, with its history.

        Raises
        ------
        RuntimeError
            If it was released after a backward pass, or was written to since it was saved.
        """
        call = self._call
        if call.override is not None:
            return call.override
        if call.forward is not None:
            return call.forward
        node = None if call.node is None else call.node()
        return call.save if node is None else node.unpack_saved()

    @property
    def to_save(self) -> tuple[Any, ...] | None:
        return self._call.save or None

    @property
    def saved_for_forward(self) -> tuple[Any, ...] | None:
        return self._call.forward

    @property
    def dirty_tensors(self) -> tuple[Any, ...] | None:
        return self._call.dirty or None

    @property
    def non_differentiable(self) -> tuple[Any, ...] | None:
        return self._call.non_differentiable or None

    def __getattr__(self, name: str) -> Any:
        if name == "_call":  # not made by __new__, as when it is copied
            raise AttributeError(name)
        call = self._call
        node = None if call.node is None else call.node()
        if name in call.kept:
            value = call.kept[name]
            if isinstance(value, WithoutTangent):
                raise lost_tangent(f"ctx.{name}")
            return value.rebuild(node)
        if node is not None and name in NODE_ATTRIBUTES:
            return getattr(node, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")


def checked_tensors(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    for i, a in enumerate(args):
        if not isinstance(a, Tensor):
            raise RuntimeError(f"{name} can only accept variables, but argument {i} is of type {type(a).__name__}")
    return args


def lost_tangent(what: str) -> RuntimeError:
    return RuntimeError(f"{what} was computed in forward, where the tangents of forward mode are not seen, so a "
                        "derivative through it would be wrong: return it as an output, or override "
                        "setup_context")  # fmt: skip


# ---- the node


class BackwardCFunction(Node):
    """The node of a custom Function. Attributes of the context can be read from it, too."""

    __slots__ = ("ctx", "inputs", "outputs", "results")

    _forward_cls: type[Function]
    ctx: FunctionCtx
    inputs: tuple[Any, ...]  # (position, shape, dtype) of each tensor among the arguments, in the order of the edges
    outputs: int
    results: tuple[Any, ...]  # (shape, dtype, whether meta) of each output; None for what is no tensor

    def __init__(
        self, ctx: FunctionCtx, args: tuple[Any, ...], edges: tuple[Node | None, ...], outs: Sequence[Any]
    ) -> None:
        self.ctx, self.edges, self.outputs, self.rare = ctx, edges, len(outs), None
        self.inputs = tuple([(i, a._data.shape, a._data.dtype) for i, a in enumerate(args) if isinstance(a, Tensor)])
        self.results = tuple([(o._data.shape, o._data.dtype, type(o._data) is Meta) if isinstance(o, Tensor) else None
                              for o in outs])  # fmt: skip
        self.order = count()
        self.saved = ()
        ctx._call.node = weakref.ref(self)

    def keep(self, tensors: tuple[Any, ...], outs: Sequence[Any]) -> None:
        """Take over what save_for_backward was given; outputs as data."""
        kept: list[Any] = []
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, (Tensor, WithoutTangent)):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
                )
            index = place_of(t, outs)
            kept.append(t if index is None else KeptOutput(outs[index], index))
        self.saved = tuple(kept)

    def unpack_saved(self) -> tuple[Tensor | None, ...]:
        """``ctx.saved_tensors``."""
        if self.saved is FREED:
            raise freed(self)
        result: list[Tensor | None] = []
        for i, value in enumerate(self.saved):
            if isinstance(value, WithoutTangent):
                raise lost_tangent(f"Saved tensor {i} of {self.name()}")
            if isinstance(value, PackedOutput):
                output = value.packed.unpack()
                value = KeptOutput(output, value.place)
            if isinstance(value, KeptOutput):
                refuse_stale(self, f"output {value.index}", value.data)
                value = value.rebuild(self)
            elif isinstance(value, Packed):
                value = value.unpack()
            if isinstance(value, Tensor):
                refuse_stale(self, f"saved tensor {i}", value._data)
            result.append(value)
        return tuple(result)

    def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        row = cotangent if type(cotangent) is list else [cotangent]
        parts = self.run(
            [None if g is None else wrap(g if type(g) is np.ndarray else np.asarray(g)) for g in row], edges
        )
        return tuple([None if p is None else p._data for p in parts])

    def pull_tensors(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        return self.run(cotangent if type(cotangent) is list else [cotangent], edges)

    def run(self, cotangents: list[Tensor | None], edges: Any) -> tuple[Tensor | None, ...]:
        ctx = self.ctx
        if ctx._call.materialize:
            cotangents = [zeros(r) if g is None and r is not None else g for g, r in zip(cotangents, self.results)]
        grads = self._forward_cls._reverse_rule()(ctx, *cotangents)
        parts = self.checked_gradients(grads if isinstance(grads, tuple) else (grads,), edges)
        if state.evaluating_pass is not None and not state.evaluating_pass.retain and self.saved:
            self.saved = FREED
        return parts

    def checked_gradients(self, grads: tuple[Any, ...], edges: Any) -> tuple[Tensor | None, ...]:
        """What backward returned, one gradient for each edge, in the shape and dtype of its input."""
        expected = len(self.ctx.needs_input_grad)
        if len(grads) < expected or any(g is not None for g in grads[expected:]):
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected "
                               f"{expected}, got {len(grads)})")  # fmt: skip
        tensors = {position for position, _, _ in self.inputs}
        for i, g in enumerate(grads[:expected]):
            if g is not None and i not in tensors:
                raise RuntimeError(f"function {self.name()} returned a gradient different than None at position "
                                   f"{i + 1}, but the corresponding forward input was not a Variable")  # fmt: skip
            if g is not None and not isinstance(g, Tensor):
                raise RuntimeError(f"function {self.name()}: expected Variable or None (got {type(g).__name__})")
        return tuple([None if edge is None or grads[at] is None else self.fitted(n, grads[at], shape, dtype)
                      for n, (edge, (at, shape, dtype)) in enumerate(zip(edges, self.inputs))])  # fmt: skip

    def fitted(self, n: int, g: Tensor, shape: tuple[int, ...], dtype: Any) -> Tensor:
        have = g._data.shape
        if have != shape:
            lead = len(have) - len(shape)
            if lead < 0 or any(e not in (1, h) for e, h in zip(shape, have[lead:])):
                raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {n} - got "
                                   f"{list(have)} but expected shape compatible with {list(shape)}")  # fmt: skip
            g = F.sum_to(g, shape)
        if g._data.dtype != dtype:
            if g._data.dtype.kind == "c" and dtype.kind != "c":
                raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {n} - expected a "
                                   f"real one, got {g.dtype}")  # fmt: skip
            g = F.cast(g, dtype)
        return g

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        """What ``save_for_backward`` kept, with its history."""
        return self.ctx.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[FunctionSavedTensor, ...]:
        if self.saved is FREED:
            raise freed(self)
        return tuple([FunctionSavedTensor(self, i) for i in range(len(self.saved))])

    def __getattr__(self, name: str) -> Any:
        if name == "ctx":
            raise AttributeError(name)
        return getattr(self.ctx, name)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *vars(self.ctx), *self.ctx._call.kept]


def zeros(result: tuple[tuple[int, ...], Any, bool]) -> Tensor:
    shape, dtype, meta = result
    return wrap(Meta(shape, dtype) if meta else np.zeros(shape, dtype))


def place_of(t: Any, tensors: Sequence[Any]) -> int | None:
    """Where a tensor is among others, by identity."""
    return next((i for i, other in enumerate(tensors) if other is t), None) if isinstance(t, Tensor) else None
