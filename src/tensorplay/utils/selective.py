"""Selective checkpoints: the results of some operators are kept after all.

While a checkpointed function runs, the calls of primitives are intercepted: in the first call a policy says which
results are kept, and in the second call those are taken instead of being computed.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ..core.carrier import Carrier, Meta
from ..core.interception import Interception
from ..core.operator import OPERATORS
from ..core.primitive import PRIMITIVES, Primitive, promoted
from ..core.state import count, thread_locals
from ..core.tensor import Tensor
from ..core.versions import written_since

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """A function that was run again did not save the tensors that it had saved before."""


# ---- what is kept


class CheckpointPolicy(enum.Enum):
    """What becomes of an operator's result in a selective checkpoint.

    ``MUST`` and ``PREFER`` do the same here, and so do saving and moving to the memory of the CPU.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


RECOMPUTE = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)


class SelectiveCheckpointContext:
    """What a policy is told beside the operator and its arguments.

    Attributes
    ----------
    is_recompute : bool
        Whether the function runs again; a policy is asked in the first call only.
    op_output : Tensor or tuple of Tensor
        The result.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


SAC_IGNORED_OPS = {"multinomial", "poisson"}
"""Operators that are always computed again, like views: the random numbers they draw must be drawn again, too."""


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | Sequence[Any], allow_cache_entry_mutation: bool = False
) -> Contexts:
    """Contexts for :func:`checkpoint` that keep the results of some operators rather than compute them again.

    Parameters
    ----------
    policy_fn_or_list : callable or sequence
        ``policy(ctx, op, *args, **kwargs)`` is asked for each operator in the first call and returns a
        :class:`CheckpointPolicy`; ``ctx`` is a :class:`SelectiveCheckpointContext`, ``op`` the primitive (``op.name``
        is "mm", for example; the profiler shows which primitives a function runs). Or the operators whose results are
        kept: names of primitives, primitives, or public functions such as ``tensorplay.matmul``, within which
        everything is kept.
    allow_cache_entry_mutation : bool
        Whether a result that is kept may be written to in place.

    Returns
    -------
    tuple
        The contexts of the first and of the second call.

    Raises
    ------
    TypeError
        If the argument is neither callable nor a sequence, or the policy returns something else than a policy.
    ValueError
        If an element of the sequence is no operator.
    RuntimeError
        In the backward pass, if a result that was kept has been written to.

    Examples
    --------
    >>> import functools
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> contexts = functools.partial(create_selective_checkpoint_contexts, [tp.matmul])
    >>> w = tp.ones(2, 2, requires_grad=True)
    >>> y = checkpoint(lambda w: (w @ w).sin().sum(), w, use_reentrant=False, context_fn=contexts)
    >>> y.backward()  # computes sin again, but not the product
    """
    whole: set[Any] = set()
    if callable(policy_fn_or_list):
        policy = policy_fn_or_list
    elif isinstance(policy_fn_or_list, (list, tuple, set, frozenset)):
        names: set[str] = set()
        for op in policy_fn_or_list:
            add_operator(op, names, whole)

        def policy(ctx: SelectiveCheckpointContext, op: Primitive, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            keep = op.name in names or selecting.within
            return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops, got "
                        f"{type(policy_fn_or_list).__name__}")  # fmt: skip
    kept = Kept(policy, allow_cache_entry_mutation)
    return Selecting(kept.first, whole, kept.begin), Selecting(kept.second, set(), kept.rewind)


def add_operator(op: Any, names: set[str], whole: set[Any]) -> None:
    """Enter an operator that a user lists: a primitive by its name, a public function as it is."""
    if isinstance(op, str) and op in PRIMITIVES:
        names.add(op)
        return
    if isinstance(op, Primitive):
        names.add(op.name)
        return
    for operators in OPERATORS.values():
        for entry in operators.found.values():
            if op is entry.plain or op is vars(entry).get("function"):
                primitive = next((p for p in PRIMITIVES.found.values() if p.forms.get("function") is op), None)
                if primitive is not None:
                    names.add(primitive.name)
                else:
                    whole.add(entry.plain)
                return
    raise ValueError("Expected op in `op_list` to be a public function, a primitive or the name of one, but got: "
                     f"{op!r} of type {type(op)}")  # fmt: skip


class Kept:
    """The results of operators in one selective checkpoint, in their order, by the operator's name."""

    def __init__(self, policy: Callable[..., Any], mutable: bool) -> None:
        self.policy, self.mutable = policy, mutable
        self.results: dict[str, list[Any]] = {}
        self.position: dict[str, int] = {}

    def begin(self) -> None:
        self.results = {}

    def rewind(self) -> None:
        self.position = dict.fromkeys(self.results, 0)

    def first(self, p: Primitive, args: Any, kwargs: Any, call: Callable[[], Any], form: str) -> Any:
        """A call in the forward pass: the policy says whether its result is kept."""
        out = call()
        asked = self.policy(SelectiveCheckpointContext(is_recompute=False, op_output=out), p, *args, **kwargs)
        if isinstance(asked, bool):
            asked = CheckpointPolicy.MUST_SAVE if asked else CheckpointPolicy.PREFER_RECOMPUTE
        if not isinstance(asked, CheckpointPolicy):
            raise TypeError(f"a checkpoint policy must return a CheckpointPolicy, got {type(asked).__name__}")
        entry = None
        if asked not in RECOMPUTE:
            entry = (tuple([o._data for o in out]) if isinstance(out, tuple) else out._data), count()
        self.results.setdefault(p.name, []).append(entry)
        return out

    def second(self, p: Primitive, args: Any, kwargs: Any, call: Callable[[], Any], form: str) -> Any:
        """A call when the function runs again: the result if it was kept."""
        i = self.position.get(p.name, 0)
        results = self.results.get(p.name, ())
        if i >= len(results):
            raise CheckpointError(f"tensorplay.utils.checkpoint: {p.name} is called more often during recomputation "
                                  "than during the original forward pass")  # fmt: skip
        self.position[p.name] = i + 1
        if results[i] is None:
            return call()
        out, number = results[i]
        if not self.mutable:
            for data in out if type(out) is tuple else (out,):
                if written_since(data, number):
                    raise RuntimeError(
                        f"Tensor cached during selective activation checkpoint has been mutated: the result of {p.name}"
                        ", which was kept, was written to in place. Pass allow_cache_entry_mutation=True if that does "
                        "no harm."
                    )
        inputs, attrs = operands(p, form, args, kwargs)
        if p.promotes:
            return p.finish(out, promoted(p, inputs), attrs, None, p.numbers_in(inputs))
        return p.finish(out, inputs, attrs)


def operands(p: Primitive, form: str, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Inputs and attributes of a call of a primitive."""
    if p.variadic:
        return args, tuple([kwargs.get(name, default) for name, default in p.attrs.items()])
    names = [*p.inputs, *p.attrs]
    given = dict(zip(reversed(names) if form == "reflected" else names, args)) | kwargs
    return tuple([given.get(n) for n in p.inputs]), tuple([given.get(n, d) for n, d in p.attrs.items()])


class Depth(threading.local):
    """How many listed functions this thread is in."""

    within = 0


selecting = Depth()
thread_locals.append(selecting)
Answer = Callable[[Primitive, Any, Any, Callable[[], Any], str], Any]


class Selecting:
    """A context in which this thread's calls of primitives over arrays are answered by ``answer``.

    What is above arrays passes: the transforms call the primitives again, on what is inside their carriers.
    """

    def __init__(self, answer: Answer, whole: set[Any], begin: Callable[[], None]) -> None:
        self.answer, self.whole, self.begin = answer, whole, begin

    def __enter__(self) -> None:
        self.begin()
        self.thread = threading.get_ident()
        handlers: dict[Any, Any] = {Primitive.call_variadic: self.variadic}
        for p in list(PRIMITIVES.found.values()):
            if not p.view:
                handlers |= {f: self.handler(p, form) for form, f in p.forms.items()}
        handlers |= dict.fromkeys(self.whole, self.inside)
        self.interception = Interception(handlers)
        self.interception.__enter__()

    def __exit__(self, *exc: object) -> None:
        self.interception.__exit__(*exc)

    def inside(self, call: Any, args: Any, kwargs: Any) -> Any:
        if threading.get_ident() != self.thread:
            return call(*args, **kwargs)
        selecting.within += 1
        try:
            return call(*args, **kwargs)
        finally:
            selecting.within -= 1

    def handler(self, p: Primitive, form: str) -> Any:
        def handle(call: Any, args: Any, kwargs: Any) -> Any:
            if not self.asked(p, args, kwargs):
                return call(*args, **kwargs)
            return self.answer(p, args, kwargs, lambda: call(*args, **kwargs), form)

        return handle

    def variadic(self, call: Any, args: Any, kwargs: Any) -> Any:
        p, *rest = args
        if p.view or not self.asked(p, rest, kwargs):
            return call(*args, **kwargs)
        return self.answer(p, tuple(rest), kwargs, lambda: call(*args, **kwargs), "function")

    def asked(self, p: Primitive, args: Any, kwargs: Any) -> bool:
        if threading.get_ident() != self.thread or p.name in SAC_IGNORED_OPS or kwargs.get("out") is not None:
            return False
        tensors = [a._data for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        return bool(tensors) and not any(isinstance(data, (Carrier, Meta)) for data in tensors)
