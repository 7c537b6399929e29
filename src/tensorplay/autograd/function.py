"""Custom operators: a forward and a backward given by the user.

``apply`` meets the transforms from the outside in, as primitives do: a batch goes to the ``vmap`` rule, a dual tensor
to ``jvp``, and ``forward`` sees what is left. Each level that requires grad has a node of its own, whose context
``setup_context`` fills with the tensors of that level.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..core import pytree, streams
from ..core.carrier import Batched, Carrier, Dual
from ..core.inplace import derive_views, rebase
from ..core.namespace import F
from ..core.node import AccumulateGrad, Node, Output
from ..core.primitive import is_differentiable, revived
from ..core.saved import observe_forward
from ..core.state import RARE, count, live_levels, state
from ..core.tensor import Tensor, View, inference_made, refuse_inference, wrap
from ..core.transforms import enter, expanded, leave, moved, unpack_batched
from ..core.versions import note_write
from .context import BackwardCFunction, FunctionCtx, KeptOutput, WithoutTangent, pack_value, place_of

__all__ = [
    "BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "NestedIOFunction",
    "once_differentiable",
]  # fmt: skip

NEEDS_SETUP_CONTEXT = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
    "the setup_context staticmethod: forward(*args) computes, setup_context(ctx, inputs, output) saves. Here, {name} "
    "met {what}."
)


# ---- the Function


class VmapInfo(NamedTuple):
    """What the vmap rule of a Function is told: how many examples, and what random operators are to do."""

    batch_size: int
    randomness: str


class FunctionMeta(type):
    """Makes for each Function the class of its nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        super().__init__(name, bases, attrs)
        cls._batched_forms: dict[Any, Any] = {}
        cls._defaults: bool | None = None
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), {"__slots__": (), "_forward_cls": cls,
                                                                          "__module__": cls.__module__})  # fmt: skip


class Function(FunctionCtx, metaclass=FunctionMeta):
    """An operator with a backward of its own. Subclass it, and call ``apply``.

    Override ``forward`` and ``backward`` as static methods. ``forward`` either takes the context as its first
    argument, or takes the arguments alone while ``setup_context(ctx, inputs, output)`` fills the context; only the
    second form nests within ``vmap``, ``func.jvp`` and their like. For ``vmap`` override ``vmap`` or set
    ``generate_vmap_rule = True``; for forward mode override ``jvp``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> class Exp(tp.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = x.exp()
    ...         ctx.save_for_backward(y)
    ...         return y
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         y, = ctx.saved_tensors
    ...         return grad * y
    >>> x = tp.tensor(0., requires_grad=True)
    >>> y = Exp.apply(x)
    >>> y
    tensor(1., grad_fn=<ExpBackward>)
    >>> tp.autograd.grad(y, x)
    (tensor(1.),)

    With a context apart, rules for every transform:

    >>> class Square(tp.autograd.Function):
    ...     generate_vmap_rule = True
    ...
    ...     @staticmethod
    ...     def forward(x):
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def setup_context(ctx, inputs, output):
    ...         ctx.save_for_backward(*inputs)
    ...         ctx.save_for_forward(*inputs)
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         x, = ctx.saved_tensors
    ...         return 2 * x * grad
    ...
    ...     @staticmethod
    ...     def jvp(ctx, tangent):
    ...         x, = ctx.saved_tensors
    ...         return 2 * x * tangent
    >>> tp.vmap(tp.func.grad(Square.apply))(tp.tensor([1., 2., 3.]))
    tensor([2., 4., 6.])
    """

    _backward_cls: type[BackwardCFunction]
    _batched_forms: dict[Any, type[Function]]
    _defaults: bool | None
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
                      "should invoke them on the class itself. Instantiating an autograd function will raise an "
                      "error in a future version.", DeprecationWarning, stacklevel=2)  # fmt: skip

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use "
                           "new-style autograd function with static forward method, and call it by apply.")  # fmt: skip

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The values: ``forward(ctx, *args)``, or ``forward(*args)`` beside a :meth:`setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill the context, given the arguments and the result of ``forward``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradient of each argument (None where it has none), given those of the outputs."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")  # fmt: skip

    vjp = backward
    """Another name for :meth:`backward`; override one of them."""

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangent of each output, given those of the arguments (None for what is no tensor)."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with "
                                  "forward mode AD.")  # fmt: skip

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The result over a batch and its ``out_dims``; ``in_dims`` says where each argument has its batch, or None."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap "
                                  "staticmethod or set generate_vmap_rule=True.")  # fmt: skip

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the operator.

        Raises
        ------
        RuntimeError
            If a transform is met for which the Function has no rule; if a leaf that requires grad was written to, or a
            tensor that was declared to be written to is not returned.
        """
        if kwargs or cls._has_defaults():
            args = cls._bound(args, kwargs)
        out, ctx = at_level(cls, args)
        ctx._call.forward = None
        return out

    # ---- what the class says about itself

    @classmethod
    def _separate(cls) -> bool:
        """Whether the context is filled by setup_context."""
        return cls.setup_context is not Function.setup_context

    @classmethod
    def _reverse_rule(cls) -> Callable[..., Any]:
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                               "should only implement one of them.")  # fmt: skip
        return cls.vjp

    @classmethod
    def _has_defaults(cls) -> bool:
        if cls._defaults is None:
            code = getattr(cls.forward, "__defaults__", None), getattr(cls.forward, "__kwdefaults__", None)
            cls._defaults = cls._separate() and any(code)
        return cls._defaults

    @classmethod
    def _bound(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in their order, those given by name, too; beside setup_context also the defaults.

        Raises
        ------
        TypeError
            As Python does, and for parameters that can be given by name alone: gradients are returned by position.
        """
        separate = cls._separate()
        lead = () if separate else (None,)
        bound = inspect.signature(cls.forward).bind(*lead, *args, **kwargs)
        if separate or bound.kwargs:
            bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(f"{cls.__name__}.apply(): forward must take {', '.join(bound.kwargs)!r} by position, too")
        return bound.args[len(lead) :]


# ---- through the levels


def at_level(cls: type[Function], args: tuple[Any, ...], hold: bool = False) -> tuple[Any, FunctionCtx]:
    """The result on arguments of any level, and a context filled at that level; ``hold``: with all that it was told."""
    if live_levels or any(isinstance(a, Tensor) and isinstance(a._data, Carrier) for a in args):
        given, spec = pytree.flatten(args)
        leaves = [revived(a, cls.__name__) for a in given]
        carriers = [a._data for a in leaves if isinstance(a, Tensor) and isinstance(a._data, Carrier)]
        if carriers:
            top = max(carriers, key=lambda data: data.level)
            if not isinstance(top, (Batched, Dual)):
                raise NotImplementedError(
                    f"{cls.__name__}: a custom Function has no rule for func.{top.transform}; its jvp takes one "
                    "tangent only. Write it with tensorplay's operators, or nest func.jvp."
                )
            return (on_batch if type(top) is Batched else on_duals)(cls, leaves, spec, top.level)
        if any(a is not b for a, b in zip(given, leaves)):
            args = pytree.unflatten(leaves, spec)
    ctx = context(args)
    ctx._call.hold = hold
    edges = edges_of(args)
    recording, state.recording = state.recording, False
    try:
        if cls._separate():
            out = cls.forward(*args)
            cls.setup_context(ctx, args, out)
        else:
            out = cls.forward(ctx, *args)
    finally:
        state.recording = recording
    return finished(cls, ctx, args, edges, out), ctx


def context(args: tuple[Any, ...]) -> FunctionCtx:
    ctx = FunctionCtx()
    ctx.needs_input_grad = tuple([isinstance(a, Tensor) and a._node is not None for a in args])
    return ctx


def edges_of(args: tuple[Any, ...]) -> tuple[Node | None, ...]:
    return tuple([a._node for a in args if isinstance(a, Tensor)])


def filled(cls: type[Function], args: tuple[Any, ...], out: Any) -> FunctionCtx:
    """A context for arguments and results of a higher level, which forward did not see."""
    ctx = context(args)
    recording, state.recording = state.recording, False
    try:
        cls.setup_context(ctx, args, out)
    finally:
        state.recording = recording
    return ctx


def on_batch(cls: type[Function], leaves: list[Any], spec: Any, level: int) -> tuple[Any, FunctionCtx]:
    """The vmap rule one level down, and its result as a batch."""
    if not cls._separate():
        raise RuntimeError(NEEDS_SETUP_CONTEXT.format(name=cls.__name__, what="vmap"))
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an "
                           "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
                           "overridden vmap staticmethod to avoid ambiguity.")  # fmt: skip
    if not own and not cls.generate_vmap_rule:
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
                           "override and implement the vmap staticmethod or set generate_vmap_rule=True.")  # fmt: skip
    values: list[Any] = []
    dims: list[int | None] = []
    size = 0
    for a in leaves:
        data = a._data if isinstance(a, Tensor) else None
        if type(data) is Batched and data.level == level:
            values.append(data.value)
            dims.append(0)
            size = data.value._data.shape[0]
        else:
            values.append(a)
            dims.append(None)
    inner = pytree.unflatten(values, spec)
    if own:
        info = VmapInfo(size, next((r for number, _, r in state.batches if number == level), "error"))
        batches = state.batches
        state.batches = tuple([b for b in batches if b[0] < level])  # the rule itself sees no batch
        try:
            result = cls.vmap(info, pytree.unflatten(dims, spec), *inner)
        finally:
            state.batches = batches
    else:
        out, ctx = at_level(vmapped(cls, tuple(dims), spec, size), inner)
        ctx._call.forward = None
        result = out, 0
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
                           f"structure compatible with the output. Got a {type(result)} instead")  # fmt: skip
    outs, out_spec = pytree.flatten(result[0])
    places = pytree.broadcast_prefix(result[1], out_spec, (int, type(None)))
    if places is None:
        raise RuntimeError("The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
                           f"tuple. Expected out_dims={result[1]} to be compatible with the structure of `output`, "
                           f"{out_spec}.")  # fmt: skip
    wrapped = []
    for o, dim in zip(outs, places):
        at = place_of(o, values)
        if at is not None and leaves[at] is not o:  # written to in place: the argument itself
            wrapped.append(leaves[at])
        elif dim is None or not isinstance(o, Tensor):
            wrapped.append(o)
        else:
            wrapped.append(wrap(Batched(moved(o, dim % o._data.ndim, 0), level)))
    return recorded(cls, pytree.unflatten(leaves, spec), pytree.unflatten(wrapped, out_spec))


def on_duals(cls: type[Function], leaves: list[Any], spec: Any, level: int) -> tuple[Any, FunctionCtx]:
    """The values one level down, and their tangents by the jvp rule."""
    primals, tangents = [], []
    for a in leaves:
        data: Any = a._data if isinstance(a, Tensor) else None
        dual = type(data) is Dual and data.level == level
        primals.append(data.primal if dual else a)
        tangents.append(data.tangent if dual else None)
    if not cls._separate() and any(isinstance(p, Tensor) and isinstance(p._data, Carrier) for p in primals):
        raise RuntimeError(NEEDS_SETUP_CONTEXT.format(name=cls.__name__, what="nested transforms"))
    if not state.forward_ad:
        return at_level(cls, pytree.unflatten(primals, spec))
    args = pytree.unflatten(leaves, spec)
    out, ctx = at_level(cls, pytree.unflatten(primals, spec), hold=True)
    call = ctx._call
    if call.materialize:
        tangents = [F.zeros_like(p.detach()) if t is None and isinstance(p, Tensor) and is_differentiable(p) else t
                    for p, t in zip(primals, tangents)]  # fmt: skip
    pushed = cls.jvp(ctx, *pytree.unflatten(tangents, spec))
    call.forward = None
    outs = out if isinstance(out, tuple) else (out,)
    directions = pushed if isinstance(pushed, tuple) else (pushed,)
    if len(directions) != len(outs):
        raise RuntimeError(f"{cls.__name__}: jvp returned {len(directions)} tangents for {len(outs)} outputs")
    duals = []
    for i, (o, t) in enumerate(zip(outs, directions)):
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(f"{cls.__name__}: jvp must return Tensors or None, got {type(t).__name__} for output {i}")
        if t is None or not isinstance(o, Tensor) or not is_differentiable(o):
            duals.append(o)
            continue
        if t._data.shape != o._data.shape:
            raise RuntimeError(f"{cls.__name__}: jvp returned a tangent of shape {list(t.shape)} for output {i} of "
                               f"shape {list(o.shape)}")  # fmt: skip
        data = Dual(o, F.cast(t, o._data.dtype) if t._data.dtype != o._data.dtype else t, level)
        at = place_of(o, primals)
        if at is not None and leaves[at] is not o:  # written to in place: the argument itself
            leaves[at]._data = data
            duals.append(leaves[at])
        else:
            duals.append(wrap(data))
    result = tuple(duals) if isinstance(out, tuple) else duals[0]
    if cls._separate():
        release(ctx, outs)
        return recorded(cls, args, result)
    upper = lifted(ctx, (*primals, *outs), (*leaves, *duals))
    release(ctx, outs)
    return finished(cls, upper, args, edges_of(args), result), upper


def recorded(cls: type[Function], args: tuple[Any, ...], out: Any) -> tuple[Any, FunctionCtx]:
    """The node of a level above arrays."""
    ctx = filled(cls, args, out)
    return finished(cls, ctx, args, edges_of(args), out), ctx


def lifted(ctx: FunctionCtx, lower: Sequence[Any], upper: Sequence[Any]) -> FunctionCtx:
    """A context that forward filled with primals, as one over dual tensors.

    Only arguments and results are known at both levels; anything else has no tangent, and says so when it is read.
    """

    def lift(t: Any) -> Any:
        if not isinstance(t, Tensor) or not is_differentiable(t):
            return t
        at = place_of(t, lower)
        return WithoutTangent() if at is None else upper[at]

    new, old = FunctionCtx(), ctx._call
    new.needs_input_grad = ctx.needs_input_grad
    call = new._call
    call.materialize = old.materialize
    call.save, call.dirty, call.non_differentiable = (
        tuple([lift(t) for t in group]) for group in (old.save, old.dirty, old.non_differentiable)
    )
    for name, value in vars(ctx).items():
        value = lift(value)
        if isinstance(value, WithoutTangent):
            call.kept[name] = value
        else:
            setattr(new, name, value)
    return new


# ---- from the result of forward to what apply returns


def finished(
    cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], edges: tuple[Node | None, ...], out: Any
) -> Any:
    """The outputs, with a node where one is due."""
    call = ctx._call
    outs = list(out) if isinstance(out, tuple) else [out]
    recording = bool(state.recording) and any([e is not None for e in edges])
    dirty = call.dirty
    for d in dirty:
        written_to(d, args, outs, recording)
    for i, o in enumerate(outs):
        if not isinstance(o, Tensor) or place_of(o, dirty) is not None:
            continue
        if place_of(o, args) is not None:
            outs[i] = returned_as_is(o)
        elif o._node is not None or place_of(o, outs[:i]) is not None:  # somebody else's, or returned twice
            outs[i] = o._alias()
    if recording:
        differentiable = [isinstance(o, Tensor) and is_differentiable(o) and place_of(o, call.non_differentiable) is
        None
                          for o in outs]  # fmt: skip
        if any(differentiable):
            record(cls, ctx, args, edges, outs, differentiable)
    return tuple(outs) if isinstance(out, tuple) else outs[0]


def written_to(t: Tensor, args: tuple[Any, ...], outs: list[Any], recording: bool) -> None:
    """Check, and note as written, an argument that forward declared to have written to."""
    if place_of(t, args) is None:
        warnings.warn("ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
                      "mutated should be passed to ctx.mark_dirty().", UserWarning, stacklevel=5)  # fmt: skip
        return
    if place_of(t, outs) is None:
        raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The "
                           "inputs that are modified inplace must all be outputs of the Function.")  # fmt: skip
    if recording:
        view = None if t._rare is None else t._rare.view
        if type((t if view is None else view.base)._node) is AccumulateGrad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if view is not None and len(outs) > 1:
            raise RuntimeError("If your Function modifies inplace an input that is a view of another Tensor, your "
                               "Function cannot return more than one Tensor. Either make sure that the input is not "
                               "a view (using .clone() for example), or split the Function in two: one that does the "
                               "in-place operation and returns a single Tensor, and a second one that does the "
                               "rest.")  # fmt: skip
    note_write(t._data)


def returned_as_is(t: Tensor) -> Tensor:
    """An argument that forward returned untouched, as a view of itself: the node belongs to the result alone."""
    alias = t._alias()
    view = None if t._rare is None else t._rare.view
    base, steps = (t, ()) if view is None else (view.base, view.steps)
    alias._rarely().view = View(base, steps, False, False)
    alias._enter_views(base._rarely())
    return alias


def record(
    cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], edges: tuple[Node | None, ...], outs: list[Any],
    differentiable: list[bool],
) -> None:  # fmt: skip
    """Enter the call in the graph."""
    call = ctx._call
    tensors = sum(isinstance(o, Tensor) for o in outs)
    node = cls._backward_cls(ctx, args, edges, outs)
    for i, (o, wanted) in enumerate(zip(outs, differentiable)):
        if not wanted:
            continue
        own = Output(node, i) if node.outputs > 1 else node
        view = None if o._rare is None else o._rare.view
        if place_of(o, call.dirty) is not None and place_of(o, args) is not None:
            value = wrap(o._data)
            value._node = own
            rebase(o, value)
            derive_views(o if view is None else view.base, False)
        else:
            o._node = own
            if view is not None:
                view.custom, view.multiple = True, tensors > 1
    if inference_made:
        refuse_inference(*[t for t in call.save if isinstance(t, Tensor)])
    node.keep(call.save, outs)
    if not call.hold:
        release(ctx, outs)
    if state.recording is RARE:
        observe_forward(node)
        if state.saved_tensors_hooks:
            hooks = state.saved_tensors_hooks[-1]
            node.saved = tuple([pack_value(value, *hooks) for value in node.saved])
    if streams.CURRENT:
        streams.note(node, outs[differentiable.index(True)])


def release(ctx: FunctionCtx, outs: Sequence[Any]) -> None:
    """Forget what a context was told, and let it not hold its node through an output."""
    call = ctx._call
    for name, value in list(vars(ctx).items()):
        index = place_of(value, outs)
        if index is not None and value._node is not None:
            call.kept[name] = KeptOutput(value, index)
            delattr(ctx, name)
    call.save = call.dirty = call.non_differentiable = ()


# ---- the vmap rule that is generated: the Function itself, run on batches


@contextmanager
def batches_of(size: int) -> Iterator[int]:
    """A level for batches of the given size."""
    level, before = enter(), state.batches
    state.batches = (*before, (level, size, "error"))
    try:
        yield level
    finally:
        state.batches = before
        leave(level)


def vmapped(cls: type[Function], dims: tuple[Any, ...], spec: Any, size: int) -> type[Function]:
    """A Function over batches that runs ``cls`` on all examples at once; ``dims`` says which arguments are batches."""
    forms, key = cls._batched_forms, (dims, spec, size)
    if key not in forms:
        if len(forms) >= 64:
            forms.clear()
        forms[key] = make_vmapped(cls, dims, spec, size)
    return forms[key]


def make_vmapped(cls: type[Function], dims: tuple[Any, ...], spec: Any, size: int) -> type[Function]:
    """A custom Function like another one, over batches in the given dimensions of its arguments."""

    def inside(level: int, args: tuple[Any, ...]) -> tuple[Any, ...]:
        leaves = nested_like(args, spec)
        return pytree.unflatten([batched(level, a) if d == 0 else a for a, d in zip(leaves, dims)], spec)

    def batched(level: int, t: Any) -> Any:
        return wrap(Batched(t, level)) if isinstance(t, Tensor) else t

    def outside(level: int, t: Any) -> Any:
        if not isinstance(t, Tensor):
            return t
        value = unpack_batched(t, level)
        return expanded(t, size) if value is None else value

    def tree(change: Callable[[int, Any], Any], level: int, values: Any) -> Any:
        return pytree.tree_map(functools.partial(change, level), values)

    @contextmanager
    def reading(ctx: Any, dims: list[Any]) -> Iterator[tuple[int, FunctionCtx]]:
        """A level, and the user's context with what it saved as batches of the level."""
        with batches_of(size) as level:
            call = ctx.inner._call
            call.override = tuple([batched(level, t) if d == 0 else t for t, d in zip(ctx.saved_tensors, dims)])
            try:
                yield level, ctx.inner
            finally:
                call.override = None

    class Vmapped(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*args: Any) -> Any:
            with batches_of(size) as level:
                return tree(outside, level, cls.forward(*inside(level, args)))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            with batches_of(size) as level:
                ctx.inner = inner = FunctionCtx()
                inner.needs_input_grad = ctx.needs_input_grad
                outs, out_spec = pytree.flatten(output)
                cls.setup_context(
                    inner, inside(level, inputs), pytree.unflatten([batched(level, o) for o in outs], out_spec)
                )
                call = inner._call
                if call.dirty:
                    raise RuntimeError(f"{cls.__name__}: generate_vmap_rule=True does not support mark_dirty; "
                                       "implement the vmap staticmethod")  # fmt: skip
                values = [unpack_batched(t, level) if isinstance(t, Tensor) else None for t in call.save]
                ctx.saved_dims = [None if value is None else 0 for value in values]
                ctx.save_for_backward(*[t if value is None else value for t, value in zip(call.save, values)])
                if call.forward is not None:
                    pushed = [unpack_batched(t, level) if isinstance(t, Tensor) else None for t in call.forward]
                    ctx.forward_dims = [None if value is None else 0 for value in pushed]
                    ctx.save_for_forward(*[t if value is None else value for t, value in zip(call.forward, pushed)])
                ctx.mark_non_differentiable(*[unpack_batched(t, level) for t in call.non_differentiable])
                ctx.set_materialize_grads(call.materialize)
                call.save = call.non_differentiable = ()
                call.forward = None

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            with reading(ctx, ctx.saved_dims) as (level, inner):
                found = cls._reverse_rule()(inner, *[batched(level, g) for g in grads])
                return tuple([outside(level, g) for g in (found if isinstance(found, tuple) else (found,))])

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            with reading(ctx, getattr(ctx, "forward_dims", ctx.saved_dims)) as (level, inner):
                return tree(outside, level, cls.jvp(inner, *inside(level, tangents)))

    Vmapped.__name__ = Vmapped.__qualname__ = cls.__name__
    Vmapped._backward_cls.__name__ = cls._backward_cls.__name__
    return Vmapped


# ---- helpers and older forms


class DelayedError(Node):
    """The history of gradients that must not be differentiated again."""

    __slots__ = ("message",)

    def __init__(self, message: str, edges: tuple[Node | None, ...]) -> None:
        self.edges, self.saved, self.rare, self.message, self.order = edges, (), None, message, count()

    def pull(self, cotangent: Any, saved: Any, edges: Any) -> tuple[Any, ...]:
        raise RuntimeError(self.message)

    pull_tensors = pull


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``backward`` that is not to be differentiated: where that is tried, an error says so.

    Examples
    --------
    >>> import tensorplay as tp
    >>> class Double(tp.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     @tp.autograd.function.once_differentiable
    ...     def backward(ctx, grad):
    ...         return tp.from_numpy(grad.numpy() * 2)
    >>> x = tp.tensor([1.], requires_grad=True)
    >>> tp.autograd.grad(Double.apply(x), x, tp.ones(1))
    (tensor([2.]),)
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        recording, state.recording = state.recording, False
        try:
            outputs = fn(ctx, *args)
        finally:
            state.recording = recording
        if not recording:
            return outputs
        node = ctx._call.node() if ctx._call.node is not None else None
        edges = (*(a._node for a in args if isinstance(a, Tensor)), *(node.edges if node is not None else ()))
        error = DelayedError(
            "trying to differentiate twice a function that was marked with @once_differentiable", edges
        )

        def guarded(t: Any) -> Any:
            return t._alias(error) if isinstance(t, Tensor) and is_differentiable(t) else t

        return tuple([guarded(t) for t in outputs]) if isinstance(outputs, tuple) else guarded(outputs)

    return wrapper


class InplaceFunction(Function):
    """A Function whose subclasses know by ``inplace`` whether to write to their input. Kept for older code."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class Structure:
    """Where a call notes the structure of its result."""

    spec: Any = None


class NestedIOFunction(Function):
    """A Function whose arguments and results may be nested containers of tensors.

    Override ``forward_extended(ctx, *args)`` and ``backward_extended(ctx, *grads)``: the gradients come, and are
    returned, in the same containers.

    Examples
    --------
    >>> import tensorplay as tp
    >>> class Swap(tp.autograd.function.NestedIOFunction):
    ...     @staticmethod
    ...     def forward_extended(ctx, pair):
    ...         return {"first": pair[1] * 1, "second": pair[0] * 1}
    ...
    ...     @staticmethod
    ...     def backward_extended(ctx, grads):
    ...         return [grads["second"], grads["first"]]
    >>> a, b = tp.tensor(1., requires_grad=True), tp.tensor(2., requires_grad=True)
    >>> out = Swap.apply([a, b])
    >>> tp.autograd.grad(out["first"] * 10 + out["second"], (a, b))
    (tensor(1.), tensor(10.))
    """

    @classmethod
    def apply(cls, *args: Any) -> Any:
        leaves, spec = pytree.flatten(args)
        result = Structure()
        flat = super().apply(spec, result, *leaves)
        return pytree.unflatten(flat, result.spec)

    @classmethod
    def forward(cls, ctx: Any, spec: Any, result: Structure, *leaves: Any) -> Any:
        outs, result.spec = pytree.flatten(cls.forward_extended(ctx, *pytree.unflatten(leaves, spec)))
        ctx.specs = spec, result.spec
        return tuple(outs)

    @classmethod
    def backward(cls, ctx: Any, *grads: Any) -> Any:
        spec, out_spec = ctx.specs
        found = cls.backward_extended(ctx, pytree.unflatten(grads, out_spec))
        found = found if len(spec.children) > 1 else (found,)
        return (None, None, *nested_like(found, spec))

    @staticmethod
    def forward_extended(ctx: Any, *args: Any) -> Any:
        """The values."""
        raise NotImplementedError("You must implement forward_extended for a NestedIOFunction.")

    @staticmethod
    def backward_extended(ctx: Any, grads: Any) -> Any:
        """The gradients of the arguments, in their containers, given those of the results in theirs."""
        raise NotImplementedError("You must implement backward_extended for a NestedIOFunction.")


def nested_like(tree: Any, spec: Any) -> list[Any]:
    """The leaves of a tree of gradients, in which None may stand for a whole container."""
    if spec is pytree.LEAF:
        return [tree]
    if tree is None:
        return [None] * spec.leaves
    container: Any = pytree.CONTAINERS[spec.kind]
    children = container.flatten(tree)[0]
    return [leaf for child, inner in zip(children, spec.children) for leaf in nested_like(child, inner)]
