"""Primitives: kernel, vjp, jvp and batch rule of one operator, declared in one place.

``primitive(name, kernel, vjp=..., jvp=..., batch=...)`` registers an operator under its name in the namespaces ``F``
(over Tensors) and ``R`` (over arrays) and returns the function over Tensors. See ``docs/design.md`` for the conventions
that rules follow, and CONTRIBUTING.md for an operator added from start to end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np

from ..backends import MODULES, module_of
from . import dtype as dtypes
from . import streams
from .callpath import EMPTY, Plan, call_path, check_fresh, names_of, parameters_of, push_path, with_history
from .carrier import Batched, Carrier, Dual, DualLevel, Meta
from .namespace import F, R
from .node import Node, Output
from .promotion import promote
from .registry import Registry
from .saved import observe
from .state import RARE, count, inferring, live_levels, state
from .tensor import Tensor, inference_made, mark_inference, refuse_inference, wrap
from .versions import written

PRIMITIVES: Registry[Primitive] = Registry()
F.find = lambda name: PRIMITIVES[name].function if name in PRIMITIVES else None
R.find = lambda name: PRIMITIVES[name].array_kernel if name in PRIMITIVES else None
BFLOAT16 = dtypes.bfloat16.numpy


class Primitive:
    """One operator. Calling it takes Tensors (and None for optional ones), then attributes."""

    def __init__(
        self,
        name: str,
        kernel: str | Callable[..., Any],
        inputs: str,
        vjp: dict[str, Callable[..., Any]] | Callable[..., Any] | None,
        jvp: Any,
        batch: Any,
        elementwise: bool,
        promotes: str | None,
        unpromoted: tuple[str, ...],
        holomorphic: bool,
        view: bool | str,
        multi_view: bool,
        outputs: int,
        node_name: str | None,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.vjp: Any = {} if vjp is None else vjp
        self.elementwise = self.broadcasts = elementwise
        self.promotes, self.unpromoted = promotes, unpromoted
        self.check: Callable[[str, list[Any], Any], None] | None = None
        self.numbers: tuple[str, ...] | None = None  # inputs that may be Python numbers; None: all
        self.piecewise_linear = False
        self.common_dtypes: dict[Any, Any] = {}  # results of promotion, by the operands' kinds
        self.holomorphic, self.view, self.multi_view, self.outputs = holomorphic, view, multi_view, outputs
        self.node_name = node_name or "".join(part.capitalize() for part in name.strip("_").split("_")) + "Backward0"
        self.attrs: dict[str, Any] = {}
        if isinstance(kernel, str):
            names = [n.strip() for n in inputs.split(",")]
            self.array_kernel = getattr(np, kernel)
        else:
            parameters = parameters_of(kernel)[1:]
            names = ["*" * (q.kind == "*") + q.name + ("=None" if q.default is None else "")
                     for q in parameters if q.kind != "keyword"]  # fmt: skip
            self.attrs = {q.name: q.default for q in parameters if q.kind == "keyword"}
        self.variadic = names[0].startswith("*")
        self.optional = {n[:-5] for n in names if n.endswith("=None")}
        self.inputs = tuple(n.removesuffix("=None").lstrip("*") for n in names)
        rules: Any = self.inputs if callable(vjp) else self.vjp
        self.differentiable = tuple([i for i, n in enumerate(self.inputs) if n in rules])
        self.jvp = jvp
        self.meta: Callable[..., Any] | None = None
        self.read: tuple[int, ...] | None = None  # the outputs that reverse rules read; None: all
        self.partial = ""  # "makes", "takes": whether the reverse rule over arrays gives or is given a Partial
        self.batch = BATCH_RULES[batch] if isinstance(batch, str) else batch or loop_over_batch
        PRIMITIVES[name] = self
        self.function: Callable[..., Any] = self.call_variadic if self.variadic else call_path(self)
        self.forms: dict[str, Callable[..., Any]] = {} if self.variadic else {"function": self.function}
        setattr(F, name, self.function)

    # ---- made at the first need

    @cached_property
    def keeping_kernel(self) -> Callable[..., Any]:
        """The kernel over NumPy arrays; where a rule reads ``kept``, it returns that beside its result."""
        return getattr(np, self.kernel) if isinstance(self.kernel, str) else self.bind(self.kernel, np)

    @cached_property
    def array_kernel(self) -> Callable[..., Any]:
        """The kernel over NumPy arrays."""
        return self.without_kept(self.keeping_kernel)

    def without_kept(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel with its result alone."""
        rules = [self.vjp] if callable(self.vjp) else self.vjp.values()
        if any("kept" in names_of(rule) for rule in rules):
            return lambda *args, **attrs: kernel(*args, **attrs)[0]
        return kernel

    def kernel_over(self, xp: Any) -> Callable[..., Any]:
        """The kernel over the arrays of a module."""
        if xp is np:
            return self.array_kernel
        if hasattr(type(xp), "kernel_of"):  # a backend with kernels of its own
            return xp.kernel_of(self)
        return self.without_kept(
            getattr(xp, self.kernel) if isinstance(self.kernel, str) else self.bind(self.kernel, xp)
        )

    @cached_property
    def plan(self) -> Plan | None:
        """Which rules read what; None without rules."""
        return Plan(self, set()) if self.differentiable and not self.variadic else None

    @cached_property
    def node_class(self) -> Any:
        """The class of the nodes that calls record."""
        if self.variadic:
            return variadic_node_class(self)
        return None if self.plan is None else self.plan.node_class()

    @cached_property
    def record(self) -> Callable[..., Node | None]:
        """Makes the node of a call that came through ``apply``."""
        assert self.plan is not None
        return self.plan.recorder(self.node_class)

    @cached_property
    def push(self) -> Callable[..., Any] | None:
        """The forward rule; None for operators that are not differentiable."""
        return push_path(self)

    @cached_property
    def plans(self) -> dict[str, Any]:
        """What the call path records: of tensors alone, and with a Python scalar as the second operand."""
        plans: dict[str, Any] = {"": None if self.plan is None else (self.plan, self.node_class)}
        if len(self.inputs) == 2 and self.promotes and (self.numbers is None or self.inputs[1] in self.numbers):
            plans["scalar"] = self.scalar_plan(1)
        return plans

    def scalar_plan(self, position: int) -> tuple[Plan, type[Node]] | None:
        """What is recorded when one operand is a Python scalar."""
        plan = Plan(self, {self.inputs[position]}) if self.differentiable else None
        return (plan, plan.node_class()) if plan is not None and plan.rules else None

    def reflected_plans(self) -> dict[str, Any]:
        """What ``__radd__`` and its like record."""
        return {"": None, "scalar": self.scalar_plan(0)}

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        return self.function(*args, **attrs)

    def operator(self, reflected: bool = False) -> Callable[..., Any]:
        """The call path as a method for one of Python's binary operators, or for its reflected form."""
        form = "reflected" if reflected else "operator"
        made = self.forms[form] = call_path(self, form)
        return made

    def __repr__(self) -> str:
        return f"<primitive {self.name}({', '.join([*self.inputs, *self.attrs])})>"

    def bind(self, kernel: Callable[..., Any], xp: Any) -> Callable[..., Any]:
        """The kernel over an array module, with the attributes positional or by name."""
        names = parameters_of(kernel)[1:]
        if any(q.kind == "*" for q in names):
            return lambda *arrays, **attrs: kernel(xp, *arrays, **attrs)
        left = ", ".join(q.name + ("" if q.default is EMPTY else f"=defaults[{q.name!r}]") for q in names)
        right = ", ".join(f"{q.name}={q.name}" if q.kind == "keyword" else q.name for q in names)
        scope = {"kernel": kernel, "xp": xp, "defaults": {q.name: q.default for q in names}}
        return eval(f"lambda {left}: kernel(xp, {right})", scope)

    def node_class_for(self, outputs: int) -> type[Node]:
        """The class of the node of a call with so many outputs."""
        return outputs_variant(self.node_class, outputs)

    def viewed(self, input: Tensor, out: Any, *attrs: Any) -> Tensor:
        """The view of which the kernel's result is there already; its generated code replaces it at the first call."""
        return self.function(input, *attrs)

    # ---- the general path

    def apply_operator(self, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """As :meth:`apply`, for Python's operators: another type gets its turn where an operand is not ours."""
        if not all(isinstance(a, (Tensor, Number)) for a in args):
            arrays = [isinstance(a, (np.ndarray, np.generic)) and a.dtype in dtypes.by_numpy for a in args]
            if not all(array or isinstance(a, (Tensor, Number)) for array, a in zip(arrays, args, strict=True)):
                return NotImplemented
            args = tuple(wrap(np.asarray(a)) if array else a for array, a in zip(arrays, args, strict=True))
        return self.apply(args, attrs)

    def call_variadic(self, *args: Any, **attrs: Any) -> Any:
        """What a call path is to other primitives, for those that take any number of tensors."""
        values = tuple([attrs.get(n, d) for n, d in self.attrs.items()])
        try:
            arrays = [a._data for a in args]
        except AttributeError:
            return self.apply(args, values)
        for data in arrays:
            if type(data) is not np.ndarray:
                return self.apply(args, values)
        return self.finish(self.array_kernel(*arrays, **attrs), args, values)

    def apply(self, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """Tensors (or scalars) of any data, dtype and level; what the generated call path leaves aside."""
        numbers: list[str] = []
        if self.promotes:
            if state.recording is RARE:
                numbers = self.numbers_in(args)
            args = promoted(self, args)
        top, meta, ndarray = None, False, np.ndarray
        for a in args:
            if a is None:
                continue
            try:
                data = a._data
            except AttributeError:
                i = next(i for i, b in enumerate(args) if b is a)
                raise TypeError(f"{self.name}(): argument '{self.inputs[min(i, len(self.inputs) - 1)]}' (position "
                                f"{i + 1}) must be Tensor, not {type(a).__name__}") from None  # fmt: skip
            kind = type(data)
            if kind is ndarray:
                continue
            if kind in CARRIERS or isinstance(data, Carrier):
                if data.level not in live_levels:
                    return self.apply(tuple(revived(b, self.name) for b in args), attrs)
                if top is None or data.level > top.level:
                    top = data
            elif kind is Meta:
                meta = True
        if top is not None:
            out = top.run(self, args, attrs)
        elif meta:
            out = on_meta(self, args, attrs)
        else:
            out = on_arrays(self, args, attrs)
        return self.finish(out, args, attrs, None, numbers)

    def numbers_in(self, args: tuple[Any, ...]) -> list[str]:
        """The names of the operands that are Python numbers."""
        return [n for n, a in zip(self.inputs, args) if a is not None and not isinstance(a, Tensor)]

    def finish(
        self, out: Any, args: tuple[Any, ...], attrs: tuple[Any, ...], kept: Any = None, numbers: Sequence[str] = ()
    ) -> Any:
        """Wrap the data of the outputs; link views to their base; record the node."""
        kind = type(out)
        if kind is tuple or kind is list:
            result: Any = tuple([wrap(o) if type(o) is np.ndarray else wrapped(o) for o in out])
            if self.view:
                parent, several = args[0], self.multi_view
                for i, t in enumerate(result):
                    t._become_view(parent, self, attrs, i, several)
        elif isinstance(out, Tensor):
            result = out
        else:
            result = wrap(out) if kind is np.ndarray or kind in CARRIERS else wrapped(out)
            if self.view and (self.view is True or shares_memory(result._data, args[0]._data)):
                result._become_view(args[0], self, attrs, None, self.multi_view)
        if self.differentiable and state.recording:
            for a in args:
                if a is not None and a._node is not None:
                    self.record_slowly(args, attrs, result, kept, numbers)
                    break
        elif inferring and not self.view:
            for t in result if type(result) is tuple else (result,):
                mark_inference(t)
        return result

    def record_slowly(
        self, args: tuple[Any, ...], attrs: tuple[Any, ...], result: Any, kept: Any = None, numbers: Sequence[str] = ()
    ) -> Any:
        """Record the node of any call: any dtype, any level, hooks on saved tensors, anomaly mode."""
        several = type(result) is tuple
        first = next((r for r in result if is_differentiable(r)), None) if several else result
        if first is None or (kind := first._data.dtype.kind) not in "fcV":
            return result
        if self.promotes and not all([a is None or isinstance(a, Tensor) for a in args]):
            numbers = self.numbers_in(args)
            args = promoted(self, args)  # a Python scalar, where the call path has computed the result already
        if self.variadic:
            edges = tuple([None if a is None else a._node for a in args])
            if not any([e is not None for e in edges]):
                return result
            node = self.node_class(args, attrs, edges, tuple([r._data for r in result]) if several else result._data)
        else:
            outs = result
            if self.read is not None:
                outs = tuple([t if i in self.read else UNREAD for i, t in enumerate(result)])
            node = self.record(args, attrs, outs, kept if kind == "f" and state.recording is True else None)
            if node is None:
                return result
        if inference_made and node.keeps:
            self.refuse_inference(node, args)
        if kind == "f":
            pass
        elif kind == "c" and self.holomorphic:
            node.__class__ = variant(type(node), pull_conjugate)
        elif kind == "V" and self.name != "cast":  # which changes the dtype on purpose
            node.__class__ = variant(type(node), pull_bfloat16)
        if several:
            node.__class__ = outputs_variant(type(node), len(result))
            for i, r in enumerate(result):
                if is_differentiable(r):
                    r._node = Output(node, i)
        else:
            result._node = node
        if state.recording is RARE:
            observe(node, numbers)
        if streams.CURRENT:
            streams.note(node, first)
        return result

    def refuse_inference(self, node: Node, args: tuple[Any, ...]) -> None:
        """Refuse operands of inference mode that the node of a call keeps."""
        kept = [n for n, value in zip(node.saved_names, node.saved) if value is not None and n in node.saved_tensors]
        names = self.inputs[:1] * len(args) if self.variadic else self.inputs
        refuse_inference(*[a for n, a in zip(names, args) if n in kept])

    @staticmethod
    def rebuild_output(data: Any, node: Node) -> Any:
        """A saved output as a Tensor of the graph: kept as data, so that a node and its output form no cycle."""
        if type(data) is tuple:
            return tuple([
                None if d is None else with_history(d, Output(node, i) if d.dtype.kind in "fcV" else None)
                for i, d in enumerate(data)
            ])
        return with_history(data, node)

    @staticmethod
    def write_out(name: str, value: Any, out: Any) -> Any:
        """The ``out=`` form; the layer above knows how to write."""
        from .operator import write_out

        return write_out(name, value, out)

    def forward_rules(self) -> Any:
        """The rules of forward mode: those given, or derived where the form of the operator says them."""
        jvp = self.jvp
        if jvp is None and not self.differentiable:
            return None
        if jvp == "linear":
            return self.linear_push
        if jvp is None:
            if self.elementwise and isinstance(self.vjp, dict):  # a diagonal derivative: the same rules, on tangents
                return {i: self.vjp[self.inputs[i]] for i in self.differentiable}
            return Transposed(self)
        if isinstance(jvp, dict):
            return {self.inputs.index(n): rule for n, rule in jvp.items()}
        return jvp

    @property
    def linear_push(self) -> Callable[..., Any]:
        """Forward rule of an operator that is linear in all its differentiable inputs together."""

        def push(F: Any, tangents: list[Any], args: Any, attrs: tuple[Any, ...]) -> Any:
            operands = list(args)
            for i, t in enumerate(tangents):
                if i in self.differentiable or self.variadic:
                    operands[i] = F.zeros_like(args[i]) if t is None and args[i] is not None else t
            return self.apply(tuple(operands), attrs)

        return push


CARRIERS = frozenset({Batched, Dual})
UNREAD = wrap(None)
"""In place of an output that no reverse rule reads, so that its node does not keep it."""


def wrapped(out: Any) -> Tensor:
    """A result as a Tensor: what a batch rule or a carrier returns is one already, a ufunc may return a scalar."""
    if isinstance(out, Tensor):
        return out
    return wrap(np.asarray(out) if isinstance(out, np.generic) or not hasattr(out, "dtype") else out)


def shares_memory(out: Any, data: Any) -> bool:
    """Whether reshaping gave a view rather than a copy."""
    if type(out) is np.ndarray or type(out) in MODULES:
        base = getattr(out, "base", None)
        return base is not None and (base is data or base is data.base) or out is data
    if isinstance(out, Carrier):
        return out.inner._is_view()
    return type(out) is Meta


class Transposed:
    """The forward rule that follows from the reverse one: the transpose of the vjp, by differentiating it."""

    def __init__(self, primitive: Primitive) -> None:
        self.primitive = primitive

    def __call__(self, F: Any, tangents: list[Any], args: Any, attrs: tuple[Any, ...]) -> Any:
        from . import transpose

        return transpose.tangent(self.primitive, tangents, args, attrs)


def is_differentiable(t: Tensor) -> bool:
    return t._data.dtype.kind in "fcV"


# ---- nodes for complex numbers, for bfloat16, and for operators with several outputs


def pull_conjugate(base: Callable[..., Any], namespace: Any, node: Node, g: Any, saved: Any, edges: Any) -> Any:
    """The pull of a holomorphic operator: conj(rule(conj(g))), so that rules are written as for real numbers."""
    return conjugate_all(namespace, base(node, conjugate_all(namespace, g), saved, edges))


def conjugate_all(namespace: Any, g: Any) -> Any:
    """The conjugates of cotangents, or of lists of them; those that are real as they are."""
    if type(g) is list or type(g) is tuple:
        return [conjugate_all(namespace, part) for part in g]
    if g is None:
        return None
    data = g._data if isinstance(g, Tensor) else g
    return namespace.conj(g) if data.dtype.kind == "c" else g


def pull_bfloat16(base: Callable[..., Any], namespace: Any, node: Node, g: Any, saved: Any, edges: Any) -> Any:
    """A Python scalar widens a bfloat16 array in NumPy: cast the cotangents back."""

    def back(part: Any) -> Any:
        if part is None or namespace is F or part.dtype.kind != "f":
            return part
        return part.astype(BFLOAT16)

    return [back(part) for part in base(node, g, saved, edges)]


VARIANTS: dict[Any, type[Node]] = {}


def variant(cls: type[Node], pull: Callable[..., Any]) -> type[Node]:
    """The class of nodes like ``cls`` whose pulls go through ``pull``."""
    made = VARIANTS.get((cls, pull))
    if made is None:
        bare, tensors = cls.pull, cls.pull_tensors
        members = {
            "__slots__": (),
            "pull": lambda node, g, saved, edges: pull(bare, R, node, g, saved, edges),
            "pull_into": Node.pull_into,
            "pull_tensors_into": Node.pull_tensors_into,
            "pull_tensors": lambda node, g, saved, edges: pull(tensors, F, node, g, saved, edges),
        }
        made = VARIANTS[cls, pull] = type(cls.__name__, (cls,), members)
    return made


def outputs_variant(cls: type[Node], outputs: int) -> type[Node]:
    """The class of nodes like ``cls`` of calls with so many outputs."""
    made = VARIANTS.get((cls, outputs))
    if made is None:
        made = VARIANTS[cls, outputs] = type(cls.__name__, (cls,), {"__slots__": (), "outputs": outputs})
    return made


def variadic_node_class(p: Primitive) -> type[Node]:
    """Nodes of an operator that takes any number of tensors; its vjp is one rule for all of them.

    The rule may read the inputs (a tuple), ``<inputs>_shapes``, ``out``, ``needs`` and the attributes.
    """
    name, names = p.inputs[0], names_of(p.vjp)
    keeps = name in names

    def init(node: Any, args: Any, attrs: Any, edges: Any, out_saved: Any) -> None:
        node.edges = edges
        values = dict(zip(p.attrs, attrs, strict=True))
        values[name] = tuple([a._data for a in args]) if keeps else None
        values[f"{name}_shapes"] = tuple(a._data.shape for a in args)
        values["out"] = out_saved
        node.saved = tuple(values.get(n) for n in names)
        node.rare = None
        node.order = count()

    def pull_over(namespace: Any) -> Callable[..., Any]:
        def pull(node: Node, g: Any, saved: Any, edges: Any) -> Any:
            if written:
                check_fresh(node, saved)
            values = []
            for n, value in zip(names, saved, strict=True):
                if n == "needs":
                    value = tuple(e is not None for e in edges)
                elif namespace is F and n == name:
                    value = tuple(map(with_history, value, node.edges))
                elif namespace is F and n == "out":
                    value = p.rebuild_output(value, node)
                values.append(value)
            return p.vjp(namespace, g, *values)

        return pull

    members = {
        "__slots__": (),
        "__init__": init,
        "primitive": p,
        "keeps": keeps or "out" in names,
        "saved_names": tuple(names),
        "saved_tensors": {name: None} if keeps else {},
        "checked": [i for i, n in enumerate(names) if n == "out" or (keeps and n == name)],
        "pull": pull_over(R),
        "pull_tensors": pull_over(F),
    }
    return type(p.node_name, (Node,), members)


# ---- where a primitive meets its data


def on_arrays(p: Primitive, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """The kernel of the module whose arrays these are; an error of broadcasting is told as PyTorch does."""
    arrays: list[Any] = [None if a is None else a._data for a in args]
    kernel = p.kernel_over(module_of(arrays)) if MODULES else p.array_kernel
    if p.variadic:
        return kernel(*arrays, **dict(zip(p.attrs, attrs, strict=True)))
    if p.broadcasts and len(arrays) > 1:
        try:
            return kernel(*arrays, *attrs)
        except ValueError:
            check_broadcast(p.name, [a.shape for a in arrays])
            raise
    return kernel(*arrays, *attrs)


def check_broadcast(name: str, shapes: list[tuple[int, ...]]) -> None:
    """Raise PyTorch's error if the shapes cannot be broadcast together."""
    whole: list[int] = []
    for shape in shapes:
        for i in range(1, len(shape) + 1):
            if i > len(whole):
                whole.append(shape[-i])
            elif whole[i - 1] != shape[-i] and shape[-i] != 1:
                if whole[i - 1] != 1:
                    raise RuntimeError(
                        f"The size of tensor a ({whole[i - 1]}) must match the size of tensor b ({shape[-i]}) at "
                        f"non-singleton dimension {max(len(whole), len(shape)) - i} ({name}: shapes "
                        f"{', '.join(str(list(s)) for s in shapes)})"
                    )
                whole[i - 1] = shape[-i]


def on_meta(p: Primitive, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """Shapes and dtypes alone: the kernel runs on arrays whose strides are zero."""
    stand_ins: list[Any] = []
    for i, a in enumerate(args):
        if a is None or type(a._data) is Meta:
            stand_ins.append(None if a is None else wrap(a._data.value))
        elif a._data.ndim == 0 or i not in p.differentiable:
            stand_ins.append(a)
        else:
            raise RuntimeError(
                f"{p.name}: Expected all tensors to be on the same device, but found at least two devices, meta and "
                "cpu!"
            )
    if p.elementwise:  # one element tells the dtype
        shapes = [a._data.shape for a in stand_ins]
        check_broadcast(p.name, shapes)
        one = on_arrays(p, tuple(wrap(np.ones((1,) * a._data.ndim, a._data.dtype)) for a in stand_ins), attrs)
        return Meta(np.broadcast_shapes(*shapes), one.dtype)
    if p.meta is not None:
        return p.meta(*(None if a is None else a._data for a in stand_ins), *attrs)
    out = on_arrays(p, tuple(stand_ins), attrs)
    if type(out) is tuple or type(out) is list:
        return [Meta(o.shape, o.dtype) for o in out]
    return Meta(np.shape(out), out.dtype)


def revived(a: Any, name: str) -> Any:
    """A tensor of a forward_ad level that has ended is its primal; of any other transform that ended, an error."""
    if isinstance(a, Tensor) and isinstance(a._data, Carrier) and a._data.level not in live_levels:
        if type(a._data) is Dual and type(a._data.level) is DualLevel:
            return a._data.primal
        kind = a._data.transform
        raise RuntimeError(
            f"{name}: a tensor made inside {kind} is used after {kind} has returned; return it from the function "
            "instead"
        )
    return a


# ---- type promotion

SCALAR_DTYPES = {bool: dtypes.bool, int: dtypes.int64}


def scalar_dtype(value: Any) -> Any:
    """The dtype as which a Python or NumPy scalar takes part in promotion; None for anything else."""
    kind = type(value)
    if kind in SCALAR_DTYPES:
        return SCALAR_DTYPES[kind]
    if isinstance(value, (bool, np.bool_)):
        return dtypes.bool
    if isinstance(value, (int, np.integer)):
        return dtypes.int64
    if isinstance(value, (float, np.floating)):
        return dtypes.get_default_dtype()
    if isinstance(value, (complex, np.complexfloating)):
        return dtypes.default_complex()
    return None


def result_dtype(p: Primitive, args: tuple[Any, ...]) -> Any:
    """The common dtype of the operands that take part in promotion; looked up where the same kinds came before."""
    key = (dtypes.get_default_dtype(), *[
        (a._data.dtype, a._data.ndim > 0) if isinstance(a, Tensor) else type(a) for a in args])  # fmt: skip
    common = p.common_dtypes.get(key)
    if common is None:
        common = p.common_dtypes[key] = common_dtype(p, args)
    return common


def common_dtype(p: Primitive, args: tuple[Any, ...]) -> Any:
    """The common dtype by PyTorch's rules.

    Raises
    ------
    TypeError
        If an operand is neither a Tensor nor a number, or a number where the operator takes none.
    """
    operands = []
    for name, a in zip(p.inputs, args, strict=True):
        if name in p.unpromoted or (a is None and name in p.optional):
            continue
        if isinstance(a, Tensor):
            operands.append((dtypes.by_numpy[a._data.dtype], 2 if a._data.ndim else 1))
        else:
            d, number = scalar_dtype(a), p.numbers is None or name in p.numbers
            if d is None or not number:
                raise TypeError(f"{p.name}(): argument '{name}' (position {p.inputs.index(name) + 1}) must be Tensor"
                                f"{' or Number' * number}, not {type(a).__name__}")  # fmt: skip
            operands.append((d, 0))
    if len(operands) > 1 and not p.unpromoted and not any(priority for _, priority in operands):
        raise TypeError(
            f"{p.name}(): argument '{p.inputs[0]}' (position 1) must be Tensor, not {type(args[0]).__name__}"
        )
    common = promote(operands) if len(operands) > 1 else operands[0][0]
    if p.promotes == "float" and common.category < dtypes.FLOATING:
        common = dtypes.get_default_dtype()
    if p.check is not None:
        p.check(p.name, [d for d, _ in operands], common)
    return common


def promoted(p: Primitive, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands as Tensors of their common dtype."""
    first = args[0]
    if isinstance(first, Tensor) and p.check is None and (dtype := first._data.dtype).kind == "f":
        scalars = False
        for a in args[1:]:
            if type(a) is float or type(a) is int:
                if p.numbers is not None:
                    break
                scalars = True
            elif not isinstance(a, Tensor) or a._data.dtype is not dtype:
                break
        else:
            return tuple([a if isinstance(a, Tensor) else wrap(np.array(a, dtype)) for a in args]) if scalars else args
    common = result_dtype(p, args)
    target, out = common.numpy, []
    for name, a in zip(p.inputs, args, strict=True):
        if isinstance(a, Tensor):
            if a._data.dtype != target and name not in p.unpromoted:
                a = F.cast(a, target)
        elif a is not None:
            a = wrap(scalar_array(a, target))
        out.append(a)
    return tuple(out)


def scalar_array(value: Any, target: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A Python scalar as a 0-dim array; integers of up to 64 bits wrap around as in C."""
    if target.kind in "iu" and isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise RuntimeError(f"Overflow when unpacking long: {value} has more than 64 bits")
        bits = 8 * target.itemsize
        value &= (1 << bits) - 1
        if target.kind == "i" and value >> (bits - 1):
            value -= 1 << bits
    with np.errstate(all="ignore"):
        return np.array(value).astype(target) if target.kind != "V" else np.array(value, target)


# ---- batch rules that many primitives share; the batch dimension of a value is always its first


def align(values: list[Any], dims: list[Any]) -> list[Any]:
    """Ones behind the batch dimension, so that broadcasting lines up the dimensions of the examples."""
    ranks = [0 if v is None else v._data.ndim - (d == 0) for v, d in zip(values, dims)]
    ndim = max(ranks)
    if all([d is None or rank == ndim for d, rank in zip(dims, ranks)]):
        return values
    out = []
    for v, d, rank in zip(values, dims, ranks, strict=True):
        if d == 0 and rank < ndim:
            shape = v._data.shape
            v = F.reshape(v, shape[:1] + (1,) * (ndim - rank) + shape[1:])
        out.append(v)
    return out


def batch_elementwise(p: Primitive, values: list[Any], dims: list[Any], *attrs: Any) -> Any:
    """Examples broadcast against each other and against what is not batched."""
    return p.function(*align(values, dims), *attrs)


def batch_same(p: Primitive, values: list[Any], dims: list[Any], *attrs: Any) -> Any:
    """Attributes count dimensions from the end, so the operator acts on the batch as it is; all operands get one."""
    size = batch_size(values, dims)
    values = [expand_to_batch(v, size) if d is None and v is not None else v for v, d in zip(values, dims, strict=True)]
    if p.variadic:
        return p.apply(tuple(values), attrs)
    return p.function(*values, *attrs)


def batch_size(values: list[Any], dims: list[Any]) -> int:
    """The number of examples."""
    return next(v._data.shape[0] for v, d in zip(values, dims, strict=True) if d == 0)


def expand_to_batch(v: Tensor, size: int) -> Tensor:
    """A value that is not batched, repeated (without copying) for every example."""
    return F.expand(v, (size, *v._data.shape))


def loop_over_batch(p: Primitive, values: list[Any], dims: list[Any], *attrs: Any) -> Any:
    """The rule of a primitive that has none: one call for each example."""
    import warnings

    warnings.warn(f"vmap: {p.name} has no batch rule; it runs once for each example", stacklevel=2)
    return loop(p, values, dims, *attrs)


def loop(p: Primitive, values: list[Any], dims: list[Any], *attrs: Any) -> Any:
    """One call for each example, stacked."""
    size = batch_size(values, dims)
    rows = [p.apply(tuple(F.slice(v, (i,)) if d == 0 else v for v, d in zip(values, dims, strict=True)), attrs)
            for i in range(size)]  # fmt: skip
    if type(rows[0]) is tuple:
        return [F.stack(*column, dim=-1 - column[0]._data.ndim) for column in zip(*rows, strict=True)]
    return F.stack(*rows, dim=-1 - rows[0]._data.ndim)


BATCH_RULES = {"elementwise": batch_elementwise, "same": batch_same, "loop": loop}


# ---- declaring


def primitive(
    name: str,
    kernel: str | Callable[..., Any],
    *,
    inputs: str = "input",
    vjp: dict[str, Callable[..., Any]] | Callable[..., Any] | None = None,
    jvp: Any = None,
    batch: Any = None,
    holomorphic: bool = True,
    view: bool | str = False,
    multi_view: bool = False,
    outputs: int = 1,
    node_name: str | None = None,
    meta: Callable[..., Any] | None = None,
    read: tuple[int, ...] | None = None,
    partial: str = "",
) -> Callable[..., Any]:
    """Declare an operator; the function over Tensors is returned, and is ``F.<name>``.

    Parameters
    ----------
    name
        Name in the namespaces; the node is called after it (``exp``: ``ExpBackward0``).
    kernel
        ``kernel(xp, *arrays, **attributes)`` over the array module ``xp``: positional parameters are tensors (optional
        ones have the default None), keyword-only ones are attributes. Or the name of a function of the module.
    inputs
        The tensors' names, where the kernel is given by name.
    vjp
        One rule per input, ``rule(F, g, ...)``, or one for all, which returns a tuple. A rule's further parameters say
        what the tape keeps: names of inputs, ``out``, ``<input>_shape``, ``<input>_dtype``, attributes, and (joint
        rules) ``needs``, a tuple of flags. Written as for real numbers where the operator is holomorphic. Where a rule
        reads ``kept`` the kernel returns a pair, its result and what it sets aside for that rule: over arrays on the
        common path ``kept`` is that, otherwise None, and the rule derives it anew from what else it reads
        (differentiably).
    jvp
        ``"linear"``, one rule per input over its tangent, or one for all over a list of tangents. Left out, an
        elementwise operator uses its vjp rules, any other the transpose of its vjp.
    batch
        ``"elementwise"``, ``"same"`` (attributes count dimensions from the end), or ``rule(primitive, values, dims,
        *attributes)`` with the batch dimension in front where ``dims`` has 0.
    holomorphic
        Whether the operator is complex differentiable. If not, the rules are written for complex numbers, too: a
        gradient is the conjugate Wirtinger derivative.
    view, multi_view
        The output shares the first input's memory: True, or "where possible". ``multi_view``: the operator returns
        several views.
    outputs
        More than one if the kernel returns a tuple.
    node_name
        The name of the node, where another one is wanted.
    meta
        ``meta(*arrays, *attributes)`` over arrays of zeros: shape and dtype of each output as a ``Meta``. Needed only
        where the kernel depends on values, or is slow; else the kernel itself runs.
    read
        Which of several outputs the reverse rules read, all of them by default. The others are None in their ``out``,
        and may be written to.
    partial
        ``"makes"`` if a reverse rule returns a ``Partial`` over arrays, ``"takes"`` if it deals with one as cotangent.
    """
    made = Primitive(name, kernel, inputs, vjp, jvp, batch, False, None, (), holomorphic, view, multi_view, outputs,
                     node_name)  # fmt: skip
    made.read = read
    made.meta, made.partial = meta, partial
    return made.function


def elementwise(
    name: str,
    kernel: str | Callable[..., Any],
    *,
    inputs: str = "input",
    vjp: dict[str, Callable[..., Any]] | None = None,
    jvp: Any = None,
    promotes: str = "same",
    unpromoted: tuple[str, ...] = (),
    check: Callable[[str, list[Any], Any], None] | None = None,
    numbers: tuple[str, ...] | None = None,
    holomorphic: bool = True,
    node_name: str | None = None,
    piecewise_linear: bool = False,
    doc: str | None = None,
) -> Callable[..., Any]:
    """Declare an operator that acts on each element: broadcasting, promotion, batching and forward mode follow.

    ``promotes``: "same" computes in the operands' common dtype, "float" in the default float where they are integers.
    ``unpromoted`` names inputs that keep their dtype (conditions). ``check(name, dtypes, common)`` raises where the
    operator does not take the operands' dtypes or their common one. ``numbers`` names the inputs that may be Python
    numbers, all by default. ``piecewise_linear``: the derivative does not vary, but its own, zero, is to be had.
    ``doc`` is the docstring. The function takes ``out=``. The others are as in
    :func:`primitive`.
    """
    made = Primitive(
        name,
        kernel,
        inputs,
        vjp,
        jvp,
        "elementwise",
        True,
        promotes,
        unpromoted,
        holomorphic,
        False,
        False,
        1,
        node_name,
    )
    made.check, made.numbers, made.piecewise_linear = check, numbers, piecewise_linear
    made.function.__doc__ = doc
    return made.function


def linked_kernel(xp: Any, input: Any, source: Any) -> Any:
    shape = np.broadcast_shapes(input.shape, source.shape)
    return input if input.shape == shape else xp.broadcast_to(input, shape)


elementwise("linked", linked_kernel, unpromoted=("source",),
            vjp={"input": lambda F, g: g, "source": lambda F, g, source: F.zeros_like(source)})  # fmt: skip
"""The input, with a path to the source along which the derivative is zero: a path that there is, as in PyTorch."""

