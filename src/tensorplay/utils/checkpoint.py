"""Activation checkpointing: memory traded for time.

A checkpointed function keeps nothing for the backward pass but its arguments. When the pass needs what its operators
would have kept, the function runs again.

The nodes of the graph are the ordinary ones. What they save is packed into slots (as
:class:`~tensorplay.autograd.graph.saved_tensors_hooks` do), which are empty once the function has returned; the first
slot that is read runs the function again, and fills them all. So gradients of every order, hooks, ``autograd.grad`` and
the transforms around or inside the function are what they would be without a checkpoint.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from ..autograd.function import Function
from ..autograd.gradient import backward
from ..core import pytree
from ..core.carrier import Carrier
from ..core.generator import get_rng_state, set_rng_state
from ..core.saved import Packed, forward_traceback
from ..core.state import count, grad_mode, live_levels, set_recording, state, thread_locals
from ..core.tensor import Tensor, wrap
from ..core.versions import memory_of, written_since
from .selective import (
    SAC_IGNORED_OPS,
    CheckpointError,
    CheckpointPolicy,
    Contexts,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "SAC_IGNORED_OPS", "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext",
    "check_backward_validity", "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts",
    "detach_variable", "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip

class Settings(threading.local):
    """What the context managers of this module set, for this thread; None: what the call says."""

    early_stop: bool | None = None
    debug: bool | None = None


settings = Settings()
thread_locals.append(settings)


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Generator[None]:
    """Say for all checkpoints made inside whether running again stops at the last value that is needed.

    Parameters
    ----------
    enable : bool
        False: the function always runs to its end, for the sake of its side effects.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> def f(x):
    ...     y = x.exp() + 1
    ...     print("done")
    ...     return y
    >>> x = tp.tensor(0., requires_grad=True)
    >>> checkpoint(f, x, use_reentrant=False).backward()
    done
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(f, x, use_reentrant=False)
    done
    >>> y.backward()
    done
    """
    before, settings.early_stop = settings.early_stop, enable
    try:
        yield
    finally:
        settings.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Generator[None]:
    """Say for all checkpoints made inside whether errors show where values were saved; None: as each call says.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import checkpoint, set_checkpoint_debug_enabled
    >>> with set_checkpoint_debug_enabled(True):
    ...     y = checkpoint(tp.sin, tp.tensor(0., requires_grad=True), use_reentrant=False)
    """
    before, settings.debug = settings.debug, enabled
    try:
        yield
    finally:
        settings.debug = before


def noop_context_fn() -> Contexts:
    """Two contexts that do nothing: the default ``context_fn`` of :func:`checkpoint`."""
    return nullcontext(), nullcontext()


# ---- what surrounds a call

SURROUNDINGS = ("batches", "devices", "dual_levels", "forward_ad", "running")


class Surroundings:
    """The transforms, devices and random numbers around a call, for a second call under the same."""

    __slots__ = ("levels", "rng", "values")

    def __init__(self, preserve_rng_state: bool) -> None:
        self.values = [getattr(state, name) for name in SURROUNDINGS]
        self.levels = frozenset(live_levels)
        self.rng = get_rng_state() if preserve_rng_state and state.tracing is None else None

    @contextmanager
    def again(self) -> Generator[None]:
        """As it was; levels of transforms that have returned live once more."""
        ended = self.levels - live_levels
        before = [getattr(state, name) for name in SURROUNDINGS]
        rng = None if self.rng is None else get_rng_state()
        live_levels.update(ended)
        try:
            for name, value in zip(SURROUNDINGS, self.values):
                setattr(state, name, value)
            if self.rng is not None:
                set_rng_state(self.rng)
            yield
        finally:
            for name, value in zip(SURROUNDINGS, before):
                setattr(state, name, value)
            if rng is not None:
                set_rng_state(rng)
            live_levels.difference_update(ended)


@contextmanager
def undrawn() -> Generator[None]:
    """Refuse random numbers inside ``compile``, whose second run would not draw the same ones."""
    trace = state.tracing
    before = 0 if trace is None else len(trace.draws)
    yield
    if trace is not None and len(trace.draws) > before:
        trace.refuse("checkpoint() of a function that draws random numbers")


# ---- what is saved, and not kept


class Slot:
    """Something that a node has saved: how to recognise it when it comes again.

    While the function runs for the first time the tensor is there, for passes within the function.
    """

    __slots__ = ("__weakref__", "below", "device", "dtype", "memory", "number", "region", "shape", "tensor", "trace")

    def __init__(self, region: Region, t: Tensor) -> None:
        data = t._data
        self.region = region
        self.tensor: Tensor | None = t
        self.shape, self.dtype, self.device = data.shape, data.dtype, t.device.type
        self.below = histories_below(data)
        self.memory = weakref.ref(memory_of(data))
        self.trace = forward_traceback() if region.debug else None
        self.number = count()

    def describe(self) -> str:
        return describe(self.shape, self.dtype, self.device)


def describe(shape: tuple[int, ...], dtype: Any, device: str) -> str:
    return f"{{'shape': {tuple(shape)}, 'dtype': {dtype.name}, 'device': {device}}}"


def fields(carrier: Carrier) -> dict[str, Any]:
    """What a carrier holds, by name: its tensors, or tuples of them, and what describes them."""
    names = [name for cls in type(carrier).__mro__ for name in getattr(cls, "__slots__", ())]
    return {name: getattr(carrier, name) for name in names}


def histories_below(data: Any) -> Any:
    """Of a carrier, its level and the nodes of the tensors that it holds, all the way down."""
    if not isinstance(data, Carrier):
        return None
    tensors = [t for t in pytree.leaves(list(fields(data).values())) if isinstance(t, Tensor)]
    return type(data), data.level, [(t._node, histories_below(t._data)) for t in tensors]


def grafted(data: Any, below: Any) -> Any:
    """Data computed again, with the levels and histories that the first ones had."""
    if below is None and not isinstance(data, Carrier):
        return data
    kind, level, nodes = below or (None, 0, ())
    following = iter(nodes)

    def renewed(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        node, further = next(following)
        new = wrap(grafted(value._data, further))
        new._node = node
        return new

    if type(data) is not kind or len(histories_below(data)[2]) != len(nodes):
        raise CheckpointError("tensorplay.utils.checkpoint: a value belongs to another transform when the function "
                              "runs again than it did during the forward pass")  # fmt: skip
    new = object.__new__(kind)
    for name, value in fields(data).items():
        setattr(new, name, pytree.tree_map(renewed, value))
    new.level = level
    return new


class Enough(BaseException):
    """Stops a function that runs again: all that is needed is there. No Exception, so that nobody handles it."""

    def __init__(self, region: Region) -> None:
        self.region = region


class Region:
    """One call of a checkpointed function, and what it takes to call it again."""

    __slots__ = ("arguments", "check", "contexts", "debug", "early_stop", "function", "key", "number", "slots", "spec",
                 "surroundings")  # fmt: skip

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, contexts: Contexts, determinism_check: str,
        debug: bool, early_stop: bool, preserve_rng_state: bool,
    ) -> None:  # fmt: skip
        self.function, self.contexts, self.check = function, contexts, determinism_check == "default"
        self.debug = debug if settings.debug is None else settings.debug
        self.early_stop = early_stop if settings.early_stop is None else settings.early_stop
        self.slots: list[weakref.ref[Slot]] = []
        self.key = object()  # under which a pass notes what was computed again; it holds no argument
        self.surroundings = Surroundings(preserve_rng_state)
        leaves, self.spec = pytree.flatten((args, kwargs))
        hooks = state.saved_tensors_hooks  # of a checkpoint around this one, for example: then nothing is kept here
        self.arguments = [Packed(a, *hooks[-1]) if hooks and isinstance(a, Tensor) else a for a in leaves]
        self.number = count()

    def run(self, args: Any, kwargs: Any) -> Any:
        """The call itself."""
        before = state.saved_tensors_hooks
        if state.saved_tensors_hooks_disabled is not None:
            raise RuntimeError(state.saved_tensors_hooks_disabled)
        state.saved_tensors_hooks = (*before, (self.pack, self.unpack))
        set_recording(True)
        try:
            with self.contexts[0], undrawn():
                return self.function(*args, **kwargs)
        finally:
            state.saved_tensors_hooks = before
            set_recording(True)
            for reference in self.slots:
                if (slot := reference()) is not None:
                    slot.tensor = None

    def pack(self, t: Tensor) -> Slot:
        slot = Slot(self, t)
        self.slots.append(weakref.ref(slot))
        return slot

    def unpack(self, slot: Slot) -> Tensor:
        if slot.tensor is not None:
            return slot.tensor
        run = state.evaluating_pass
        found = None if run is None else run.notes.get(self.key)
        if found is None or slot not in found:
            found = Again(self).run()
            if run is not None:
                run.notes[self.key] = found  # until the pass ends, or the slot is released
        data, number = found[slot]
        refuse_written(data, number, "computed again")
        return wrap(data)

    def inputs(self) -> tuple[Any, Any]:
        """The arguments, checked not to have been written to."""
        leaves = []
        for a in self.arguments:
            if isinstance(a, Packed):
                a = a.unpack()
            elif isinstance(a, Tensor):
                refuse_written(a._data, self.number, "an argument of the function")
            leaves.append(a)
        return pytree.unflatten(leaves, self.spec)


def refuse_written(data: Any, number: int, what: str) -> None:
    """Refuse data whose memory was written to since the given number."""
    write = written_since(data, number)
    if write is not None:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{data.dtype.name} {list(data.shape)}], {what}, is at version {write.version}, written after the "
            "checkpoint needed it. Hint: a checkpointed function must find its arguments, and what else it reads, as "
            "they were; clone them before the in-place operation."
        )


class Again:
    """A second call of a region's function, which fills the slots."""

    __slots__ = ("found", "region", "seen")

    def __init__(self, region: Region) -> None:
        self.region, self.seen = region, 0
        self.found: weakref.WeakKeyDictionary[Slot, tuple[Any, int]] = weakref.WeakKeyDictionary()

    def run(self) -> weakref.WeakKeyDictionary[Slot, tuple[Any, int]]:
        region = self.region
        args, kwargs = region.inputs()
        before = state.recording, state.saved_tensors_hooks, state.saved_tensors_hooks_disabled
        try:
            with region.surroundings.again():
                state.saved_tensors_hooks, state.saved_tensors_hooks_disabled = ((self.pack, lambda t: t),), None
                set_recording(True)
                with region.contexts[1]:
                    region.function(*args, **kwargs)
        except Enough as enough:
            if enough.region is not region:
                raise
        finally:
            state.recording, state.saved_tensors_hooks, state.saved_tensors_hooks_disabled = before
        if self.seen < len(region.slots):
            raise self.error(
                "A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(region.slots)}\n"
                f"Number of tensors saved during recomputation: {self.seen}"
            )
        return self.found

    def pack(self, t: Tensor) -> Tensor:
        region, i = self.region, self.seen
        if i == len(region.slots):
            raise self.error("trying to save more tensors during recomputation than during the original forward pass.")
        self.seen += 1
        slot = region.slots[i]()
        if slot is not None:  # somebody will read it
            data = t._data
            if region.check:
                self.compare(slot, t, i)
            if memory_of(data) is slot.memory():  # a tensor from outside of the function
                refuse_written(data, slot.number, "read by the function")
            self.found[slot] = grafted(data, slot.below), count()
        if self.seen == len(region.slots) and region.early_stop:
            raise Enough(region)
        return t

    def compare(self, slot: Slot, t: Tensor, i: int) -> None:
        data, device = t._data, t.device.type
        if data.shape != slot.shape or data.dtype != slot.dtype or device != slot.device:
            raise self.error(
                "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                f"tensor at position {i}:\nsaved metadata: {slot.describe()}\n"
                f"recomputed metadata: {describe(data.shape, data.dtype, device)}",
                slot,
            )

    def error(self, message: str, slot: Slot | None = None) -> CheckpointError:
        """The error, in debug mode with where the tensors were saved; else with a hint."""
        text = f"tensorplay.utils.checkpoint: {message}"
        if slot is not None and slot.trace is not None:
            text += (f"\nSaved in the forward pass by:\n{''.join(slot.trace)}"
                     f"Recomputed by:\n{''.join(forward_traceback())}")  # fmt: skip
        elif self.region.debug:
            saved = [r() for r in self.region.slots]
            places = [f"{j}: {s.describe()}\n{''.join(s.trace or ())}" for j, s in enumerate(saved) if s is not None]
            text += "\nSaved in the forward pass, and still needed:\n" + "".join(places)
        else:
            text += ("\nA checkpointed function has to do the same when it runs again. Tip: pass debug=True to "
                     "checkpoint(), or use set_checkpoint_debug_enabled(True), to see where tensors were "
                     "saved.")  # fmt: skip
        return CheckpointError(text)


# ---- the function


REENTRANT_BY_DEFAULT = (
    "the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended: it keeps hooks, "
    "autograd.grad and transforms as they are. Without it, use_reentrant=True is assumed, as in PyTorch."
)


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function without keeping what its backward pass needs: that is computed again when it is needed.

    Parameters
    ----------
    function : callable
        Does the same whenever it is called with the same arguments. It may close over tensors, such as parameters.
    *args, **kwargs
        Its arguments; they are kept. ``preserve_rng_state=False`` is taken out: random numbers are then drawn anew,
        rather than repeated, in the second call.
    use_reentrant : bool
        False (recommended): the graph is the ordinary one, and the function runs again once a saved value is read.
        True: the whole function is one node, whose backward runs the function again and a backward pass within the
        pass; that works for ``backward()`` without ``inputs`` alone, needs an argument that requires grad, and takes no
        keyword arguments. Not given, it is True, with a warning.
    context_fn : callable
        Returns two contexts, for the first call and for the second; see :func:`create_selective_checkpoint_contexts`.
    determinism_check : {"default", "none"}
        Whether the second call is checked to save tensors of the same shapes and dtypes.
    debug : bool
        Let errors show where tensors were saved.
    early_stop : bool
        Let the second call end where the last value is computed that is needed.

    Returns
    -------
    Any
        What the function returns.

    Raises
    ------
    ValueError
        For another ``determinism_check``, and for options that ``use_reentrant=True`` does not have.
    CheckpointError
        In the backward pass, if the second call saves other tensors than the first one.
    RuntimeError
        In the backward pass, if an argument, or a tensor that the function reads and saves, was written to since; with
        ``use_reentrant=True`` also where that does not work.

    Notes
    -----
    Nested checkpoints keep only what the outermost needs. A function with side effects has them twice: batch
    normalisation, for example, updates its running statistics in both calls.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import checkpoint
    >>> def block(x):
    ...     print("block")
    ...     return x.sin().exp()
    >>> x = tp.tensor(0., requires_grad=True)
    >>> y = checkpoint(block, x, use_reentrant=False)
    block
    >>> y.backward()
    block
    >>> x.grad
    tensor(1.)

    Under transforms, too:

    >>> tp.vmap(tp.func.grad(lambda x: checkpoint(tp.sin, x, use_reentrant=False)))(tp.zeros(3))
    tensor([1., 1., 1.])
    """
    if use_reentrant is None:
        warnings.warn(f"tensorplay.utils.checkpoint: {REENTRANT_BY_DEFAULT}", UserWarning, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        if any(isinstance(a, Tensor) and isinstance(a._data, Carrier) for a in args):
            raise RuntimeError("checkpoint(): use_reentrant=True does not work inside vmap, jvp and forward_ad; pass "
                               "use_reentrant=False")  # fmt: skip
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    if not grad_mode() or state.inference:
        return function(*args, **kwargs)
    contexts = context_fn()
    region = Region(function, args, kwargs, contexts, determinism_check, debug, early_stop, preserve)
    return region.run(args, kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other, in segments that are checkpointed, all but the last.

    Parameters
    ----------
    functions : Sequential or sequence of callables
        Each takes what the one before returns.
    segments : int
        The number of segments.
    input : Any
        What the first one takes.
    use_reentrant : bool
        See :func:`checkpoint`.
    **kwargs
        Only ``preserve_rng_state``.

    Returns
    -------
    Any
        What the last one returns.

    Raises
    ------
    ValueError
        For another keyword argument, and if there are more segments than functions, or none.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import checkpoint_sequential
    >>> x = tp.tensor(0., requires_grad=True)
    >>> checkpoint_sequential([tp.sin, tp.exp, tp.cos, tp.exp], 2, x, use_reentrant=False)
    tensor(1.7165, grad_fn=<ExpBackward0>)
    """
    if use_reentrant is None:
        warnings.warn(f"tensorplay.utils.checkpoint.checkpoint_sequential: {REENTRANT_BY_DEFAULT}", UserWarning,
                      stacklevel=2)  # fmt: skip
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    steps = list(functions.children() if hasattr(functions, "children") else functions)
    if not 1 <= segments <= len(steps):
        raise ValueError(f"checkpoint_sequential(): segments must be from 1 to the number of functions, {len(steps)}, "
                         f"got {segments}")  # fmt: skip
    size = len(steps) // segments
    last = size * (segments - 1)
    for start in range(0, last, size):
        chain = Chain(steps[start : start + size])
        input = checkpoint(chain, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return Chain(steps[last:])(input)


class Chain:
    """Functions, one after the other."""

    __slots__ = ("steps",)

    def __init__(self, steps: Sequence[Callable[[Any], Any]]) -> None:
        self.steps = steps

    def __call__(self, value: Any) -> Any:
        for step in self.steps:
            value = step(value)
        return value


# ---- the whole function as one node


class CheckpointFunction(Function):
    """What :func:`checkpoint` applies with ``use_reentrant=True``: ``apply(function, preserve_rng_state, *args)``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import CheckpointFunction
    >>> x = tp.tensor(0., requires_grad=True)
    >>> CheckpointFunction.apply(tp.exp, True, x).backward()
    >>> x.grad
    tensor(1.)
    """

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        if state.tracing is not None:
            state.tracing.refuse("checkpoint() with use_reentrant=True")
        ctx.run_function, ctx.surroundings = run_function, Surroundings(preserve_rng_state)
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        run = state.evaluating_pass
        if run.ends is not None or run.create_graph:
            raise RuntimeError(
                "When use_reentrant=True, tensorplay.utils.checkpoint is incompatible with .grad(), with create_graph "
                "and with passing an `inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without them."
            )
        inputs = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors):
            inputs[i] = t
        detached = detach_variable(tuple(inputs))
        recording = bool(state.recording)
        set_recording(True)
        try:
            with ctx.surroundings.again():
                outputs = ctx.run_function(*detached)
        finally:
            set_recording(recording)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[x.grad if isinstance(x, Tensor) and x.is_leaf else None for x in detached])


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors of a tuple without their history, requiring grad as they did; anything else as it is.

    Raises
    ------
    RuntimeError
        If ``inputs`` is no tuple.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import detach_variable
    >>> detach_variable((tp.tensor(1., requires_grad=True) * 2, 3))
    (tensor(2., requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple([x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs])


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among the arguments requires grad: with ``use_reentrant=True`` there is no gradient then.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import check_backward_validity
    >>> check_backward_validity([tp.tensor(1., requires_grad=True)])
    """
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2)


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The accelerators among the devices of tensors, and the states of their generators: there are none.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.utils.checkpoint.get_device_states(tp.ones(2))
    ([], [])
    """
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Set the states of the generators of accelerators, as :func:`get_device_states` gave them.

    Raises
    ------
    RuntimeError
        If a device is named: there are none.
    """
    if len(devices):
        raise RuntimeError(f"set_device_states(): there are no accelerators here, got devices {list(devices)}")
