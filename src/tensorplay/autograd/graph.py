"""The graph from outside: nodes, edges, hooks over several tensors, and what is done with saved values."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.carrier import Meta
from ..core.inplace import after_write, preserving
from ..core.node import Node, RemovableHandle, place
from ..core.state import set_recording, state
from ..core.tensor import Tensor, wrap
from ..core.versions import array_of, storage_of
from . import observed

if TYPE_CHECKING:
    from .drawing import Drawing, draw
    from .explaining import Explanation, explain

__all__ = [
    "Drawing",
    "Explanation",
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "draw",
    "explain",
    "get_gradient_edge",
    "increment_version",
    "region_activation_memory_budget",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

LATER = {"Drawing": "drawing", "Explanation": "explaining", "draw": "drawing", "explain": "explaining"}


def __getattr__(name: str) -> Any:
    """Pictures and explanations come with modules of their own, imported at need."""
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{LATER[name]}", __package__), name)
    return found


# ---- edges


class GradientEdge(NamedTuple):
    """A place in the graph: a node, and which of the outputs of its forward.

    :func:`tensorplay.autograd.grad` and ``backward`` take edges where they take tensors, so that a gradient can be
    asked for without keeping the tensor.
    """

    node: Node
    output_nr: int
    ownership_token: Node | None = None


class TensorEdge(GradientEdge):
    """An edge that knows the shape and dtype of its tensor: one without memory, ``like``, has them."""

    like: Tensor


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of the graph that computes the gradient of a tensor.

    Parameters
    ----------
    tensor : Tensor
        One that requires grad.

    Raises
    ------
    RuntimeError
        If the tensor does not require grad.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> y = x * 3
    >>> edge = tp.autograd.graph.get_gradient_edge(y)
    >>> loss = (y * y).sum()
    >>> del y
    >>> tp.autograd.grad(loss, edge)
    (tensor([ 6., 12.]),)
    """
    if tensor._node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge, data = TensorEdge(*place(tensor._node)), tensor._data
    edge.like = wrap(data if type(data) is Meta else np.broadcast_to(np.zeros((), data.dtype), data.shape))
    return edge


# ---- a hook over several tensors


class MultiHandle:
    """Takes a hook over several tensors away again."""

    def __init__(self, handles: Sequence[RemovableHandle], hook: observed.MultiGrad | None) -> None:
        self.handles, self.hook = handles, hook

    def remove(self) -> None:
        """Take the hook away; nothing happens if it is gone already."""
        for handle in self.handles:
            handle.remove()
        if self.hook is not None:
            observed.awaiting.discard(self.hook)

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: Literal["all", "any"] = "all"
) -> MultiHandle:
    """Call a hook once in each backward pass, for the gradients of several tensors.

    Parameters
    ----------
    tensors : sequence of Tensor
        They require grad.
    fn : callable
        In mode ``"all"`` called with a list: the gradient of each tensor, None for those that the pass does not reach.
        It is called when the last of them is computed. In mode ``"any"`` called with the first gradient that is
        computed.
    mode : {"all", "any"}
        See above.

    Returns
    -------
    handle
        Its ``remove()`` takes the hook away.

    Raises
    ------
    ValueError
        For another mode.
    RuntimeError
        If a tensor does not require grad.

    Examples
    --------
    >>> import tensorplay as tp
    >>> a, b = tp.tensor(2., requires_grad=True), tp.tensor(3., requires_grad=True)
    >>> handle = tp.autograd.graph.register_multi_grad_hook([a, b], print)
    >>> (a * b).backward()
    [tensor(3.), tensor(2.)]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    for i, t in enumerate(tensors):
        if t._node is None:
            raise RuntimeError(f"register_multi_grad_hook: tensor {i} does not require grad; expected all tensors to")
    if mode == "any":

        def first(grad: Tensor) -> None:
            notes = state.evaluating_pass.notes
            if first not in notes:
                notes[first] = True
                fn(grad)

        return MultiHandle([t.register_hook(first) for t in tensors], None)
    hook = observed.MultiGrad([place(t._node)[0] for t in tensors], fn)  # type: ignore[arg-type]
    observed.awaiting.add(hook)

    def listener(i: int) -> Callable[[Tensor], None]:
        return lambda grad: hook.arrived(i, grad)

    return MultiHandle([t.register_hook(listener(i)) for i, t in enumerate(tensors)], hook)


# ---- saved values


class saved_tensors_hooks:
    """Pack what the backward pass will need as it is saved, and unpack it when it is read.

    Parameters
    ----------
    pack_hook : callable
        Called with each tensor that is saved; returns anything.
    unpack_hook : callable
        Called with what ``pack_hook`` returned; returns a tensor of the same values, shape and dtype.

    Raises
    ------
    RuntimeError
        On entering, inside :class:`disable_saved_tensors_hooks`; at an operator, if ``pack_hook`` writes to its input.
    TypeError
        In the backward pass, if ``unpack_hook`` returns no tensor.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> def halve(t):
    ...     return t.half()
    >>> def restore(t):
    ...     return t.float()
    >>> with tp.autograd.graph.saved_tensors_hooks(halve, restore):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if state.saved_tensors_hooks_disabled is not None:
            raise RuntimeError(state.saved_tensors_hooks_disabled)
        state.saved_tensors_hooks = (*state.saved_tensors_hooks, (self.pack_hook, self.unpack_hook))
        set_recording(bool(state.recording))

    def __exit__(self, *exc: object) -> None:
        state.saved_tensors_hooks = state.saved_tensors_hooks[:-1]
        set_recording(bool(state.recording))


class save_on_cpu(saved_tensors_hooks):
    """Keep in the memory of the CPU what the backward pass will need, and bring it back when it is read.

    Parameters
    ----------
    pin_memory : bool
        Whether the copies between a device and the CPU may overlap with other work. What is on the CPU stays as it is.
    device_type : str
        The type of that device.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> with tp.autograd.graph.save_on_cpu():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(t: Tensor) -> Any:
            return t.device, t if t.is_meta else t.cpu()

        def unpack(packed: Any) -> Tensor:
            device, t = packed
            return t.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Generator[None]:
    """Refuse :class:`saved_tensors_hooks`, as code does that could not work under them.

    Parameters
    ----------
    error_message : str
        The message of the RuntimeError that entering the hooks raises.

    Examples
    --------
    >>> import tensorplay as tp
    >>> with tp.autograd.graph.disable_saved_tensors_hooks("not here"):
    ...     with tp.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    RuntimeError: not here
    """
    if state.saved_tensors_hooks:
        raise RuntimeError(error_message)
    before, state.saved_tensors_hooks_disabled = state.saved_tensors_hooks_disabled, error_message
    try:
        yield
    finally:
        state.saved_tensors_hooks_disabled = before


class Kept:
    """A saved tensor that survives writes to its memory: it is copied just before the first."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class Preserved:
    """The saved tensors of one :func:`allow_mutation_on_saved_tensors`, by the array that owns their memory."""

    def __init__(self) -> None:
        self.active = True
        self.kept: dict[int, tuple[Any, weakref.WeakSet[Kept]]] = {}
        self.limit = 64

    def pack(self, t: Tensor) -> Kept:
        kept = Kept(t._alias())
        owner = storage_of(array_of(t._data))
        if len(self.kept) >= self.limit:
            self.kept = {key: entry for key, entry in self.kept.items() if entry[1]}
            self.limit = 2 * len(self.kept) + 64
        self.kept.setdefault(id(owner), (owner, weakref.WeakSet()))[1].add(kept)
        return kept

    def unpack(self, kept: Kept) -> Tensor:
        if not self.active:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                                 "which the graph was originally recorded.")  # fmt: skip
        return kept.tensor

    def before_write(self, t: Tensor) -> None:
        """Copy what is saved of the memory that is about to be written to."""
        found = self.kept.pop(id(storage_of(array_of(t._data))), None)
        for kept in list(found[1]) if found is not None else ():
            recording, state.recording = state.recording, False
            try:
                kept.tensor = kept.tensor.clone()
            finally:
                state.recording = recording

    def clear(self) -> None:
        """Forget what was kept."""
        self.kept.clear()


@contextmanager
def allow_mutation_on_saved_tensors() -> Generator[Preserved]:
    """Let tensors be written to in place although the backward pass needs their old values, which are copied first.

    The backward pass has to run inside, too.

    Raises
    ------
    RuntimeError
        If such contexts are nested.
    AssertionError
        If a graph recorded inside is run outside.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> with tp.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.exp()
    ...     z = y.log()
    ...     _ = y.zero_()
    ...     z.sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """
    if any(getattr(pack, "__self__", None).__class__ is Preserved for pack, _ in state.saved_tensors_hooks):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    saved = Preserved()
    preserving.append(saved)
    try:
        with saved_tensors_hooks(saved.pack, saved.unpack):
            yield saved
    finally:
        preserving.remove(saved)
        saved.active = False
        saved.clear()


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Declare that the memory of tensors was written to by means that the library does not see.

    A backward pass that needs the old values raises then, rather than use the new ones.

    Parameters
    ----------
    tensor : Tensor or iterable of Tensor
        The tensors whose memory has changed.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.ones(2)
    >>> x.numpy()[0] = 5
    >>> tp.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    if not isinstance(tensor, (Tensor, Iterable)):
        raise RuntimeError(f"increment_version expect a Iterable[Tensor] as input, got {type(tensor).__name__}")
    tensors = [tensor] if isinstance(tensor, Tensor) else list(tensor)
    for t in tensors:
        if not isinstance(t, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor, "
                               f"got {type(t).__name__}")  # fmt: skip
        if t.is_inference() and not state.inference:
            raise RuntimeError(
                "increment_version: Inplace update to inference tensor outside InferenceMode is not allowed."
            )
    for t in tensors:
        after_write(t, False, False)


def region_activation_memory_budget(budget: float) -> AbstractContextManager[None]:
    """Limit what a compiled region keeps for its backward pass; in eager mode there is nothing to limit.

    Parameters
    ----------
    budget : float
        Between 0, where all is computed again, and 1, where the fastest plan may keep what it likes.

    Raises
    ------
    TypeError, ValueError
        If the budget is no number between 0 and 1.
    RuntimeError
        Outside a compiled region, as in PyTorch; use :mod:`tensorplay.utils.checkpoint` there.
    """
    if isinstance(budget, bool) or not isinstance(budget, (int, float)):
        raise TypeError(f"region_activation_memory_budget: expects a float, got {type(budget).__name__}")
    if not 0 <= budget <= 1:
        raise ValueError(f"region_activation_memory_budget: must be in [0, 1], got {budget}")
    raise RuntimeError(
        "region_activation_memory_budget can only be used inside a compiled region; it has no effect in eager mode, "
        "where utils.checkpoint computes a region again instead of keeping it"
    )
