"""Call paths, written out once per primitive.

Python pays for every loop, tuple and keyword of a general call, so the common path of each primitive (plain arrays, one
dtype, no transform) and the pull of its node are generated here from its declaration, as ``dataclasses`` does: straight
line code that reads each slot once. Whatever is uncommon leaves through one test to ``Primitive.apply``.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from . import dtype as dtypes
from . import versions
from .namespace import F, R
from .node import Node, Output, Partial, Reduce, enter, freed
from .state import count, inferring, state
from .tensor import Tensor, inference_made, mark_inference, refuse_inference, wrap
from .versions import storage_of, written, written_since

if TYPE_CHECKING:
    from .primitive import Primitive

EMPTY = inspect.Parameter.empty
FAST = {"float32": dtypes.float32, "float64": dtypes.float64, "int64": dtypes.int64, "bool_": dtypes.bool}


def stale(node: Node, what: str, data: Any, write: versions.Write) -> NoReturn:
    """Raise the error of a saved value that was written to after it was saved."""
    kind, what = data.dtype.name, "result" if what == "out" else what
    raise RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace operation: [{kind} "
        f"{list(data.shape)}], saved by {node.name()} as {what!r}, is at version {write.version}, written after the "
        "operator saved it. Hint: clone it before the in-place operation, or use the out-of-place operator; "
        "autograd.set_detect_anomaly(True) shows the operator's forward call."
    )


def check_fresh(node: Node, saved: Any) -> None:
    """Refuse saved arrays whose memory was written to after the node was made."""
    order, get, ndarray = node.order, written.get, np.ndarray
    for i in node.checked:
        value = saved[i]
        if type(value) is ndarray:
            entry = get(id(value if value.base is None else storage_of(value)))
            if entry is not None and entry.number > order:
                stale(node, node.saved_names[i], value, entry)
        elif value is not None:
            for data in value if type(value) is tuple else (value,):
                if data is not None and (entry := written_since(data, order)):
                    stale(node, node.saved_names[i], data, entry)


def with_history(data: Any, edge: Node | None) -> Tensor:
    """A saved operand as the Tensor it was: its data, with the node to which the edge leads."""
    while type(edge) is Reduce:
        edge = edge.edges[0]
    t = wrap(data)
    t._node = edge
    return t


MISSING: Any = type("nothing", (), {})()
"""In place of an argument that has no default, as it may come under its other name; messages call it by its type."""


def either(function: str, own: str, given: Any, other: str, also: Any) -> Any:
    """The argument that has two names: what came under its own name was not all, or nothing.

    Raises
    ------
    TypeError
        If it is given under both names or under none.
    """
    if also is MISSING:
        raise TypeError(f"{function}() missing 1 required argument: {own!r}")
    if given is not MISSING:
        raise TypeError(f"{function}() got multiple values for argument {own!r}, also called {other!r}")
    return also


GLOBALS = {
    "MISSING": MISSING,
    "either": either,
    "Tensor": Tensor,
    "Reduce": Reduce,
    "Output": Output,
    "Partial": Partial,
    "new": object.__new__,
    "ndarray": np.ndarray,
    "asarray": np.asarray,
    "count": count,
    "state": state,
    "written": written,
    "check_fresh": check_fresh,
    "enter": enter,
    "freed": freed,
    "F": F,
    "R": R,
    "inferring": inferring,
    "mark_inference": mark_inference,
    "inference_made": inference_made,
    "refuse_inference": refuse_inference,
    **{name: d.numpy for name, d in FAST.items()},
    "__name__": "tensorplay.core.callpath",
}


def compile_function(source: str, name: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """The function ``name`` that ``source`` defines, with ``scope`` as its globals."""
    code = compile(source, f"<tensorplay {name}>", "exec")
    scope.update(GLOBALS)
    exec(code, scope)
    return scope[name]


STUBS: dict[str, CodeType] = {}
"""Code of functions that are not written yet, by their parameters."""

writing = threading.RLock()
"""Held while code is generated: several threads may call a function for the first time at once."""


def written_at_first_call(name: str, parameters: str, arguments: str, defaults: dict[str, Any],
                          write: Callable[[dict[str, Any]], Callable[..., Any]]) -> Callable[..., Any]:  # fmt: skip
    """A function whose code is generated when it is first called, so that importing the package stays cheap.

    ``write(scope)`` makes the real function in the given globals; its code then replaces that of the function returned
    here, which whoever holds it keeps.
    """
    key = f"({parameters}): return write_at_first_call()({arguments})"
    code = STUBS.get(key)
    if code is None:
        made: dict[str, Any] = dict(defaults)
        exec(compile(f"def stub{key}", f"<tensorplay {name}>", "exec"), made)
        code = STUBS[key] = made["stub"].__code__
    scope: dict[str, Any] = {"__builtins__": __builtins__, "__name__": GLOBALS["__name__"]}
    function = FunctionType(code, scope, name)
    function.__qualname__ = name
    ordinary, _, keyword = parameters.partition("*, ")
    function.__defaults__ = tuple(defaults[n] for n in re.findall(r"(\w+)=", ordinary)) or None
    function.__kwdefaults__ = {n: defaults[n] for n in re.findall(r"(\w+)=", keyword)} or None

    stub = function.__code__

    def write_at_first_call() -> Callable[..., Any]:
        with writing:
            if function.__code__ is stub:  # no other thread was first
                real = write(scope)
                function.__defaults__, function.__kwdefaults__ = real.__defaults__, real.__kwdefaults__
                function.__code__ = real.__code__
        return function

    scope["write_at_first_call"] = write_at_first_call
    return function


class Parameter(NamedTuple):
    """A parameter, read from a function's code: cheaper than ``inspect.signature``."""

    name: str
    kind: str  # "" for ordinary ones, "*" for the variable one, "keyword" for keyword-only ones
    default: Any


def parameters_of(function: Any) -> list[Parameter]:
    """The parameters of a plain function, or of the one that it wraps."""
    function = getattr(function, "__wrapped__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        kinds: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.KEYWORD_ONLY: "keyword"}
        return [
            Parameter(q.name, kinds.get(q.kind, ""), q.default) for q in inspect.signature(function).parameters.values()
        ]
    names, n, k = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    defaults = (EMPTY,) * (n - len(function.__defaults__ or ())) + (function.__defaults__ or ())
    out = [Parameter(name, "", d) for name, d in zip(names[:n], defaults, strict=True)]
    if code.co_flags & inspect.CO_VARARGS:
        out.append(Parameter(names[n + k], "*", EMPTY))
    keywords = function.__kwdefaults__ or {}
    return out + [Parameter(name, "keyword", keywords.get(name, EMPTY)) for name in names[n : n + k]]


def parameter_names(function: Callable[..., Any]) -> list[str]:
    """The names alone; asked of every function that is registered."""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS:
        return [q.name for q in parameters_of(function)]
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def names_of(rule: Callable[..., Any]) -> list[str]:
    """What a rule reads: its parameters after the namespace and the cotangent or tangent."""
    return parameter_names(rule)[2:]


def saved_expression(p: Primitive, name: str, readers: list[int], constants: set[str], lifted: set[str]) -> str:
    """What a node keeps under a name, given which inputs' rules read it; ``e0``, ``e1``... are the edges."""
    if name == "out":
        return "out_saved"
    if name in lifted:
        return f"asarray({name}, dtype)"
    if name in p.inputs and name not in constants:
        always = len(p.differentiable) == 1
        name = f"(None if {name} is None else {name}_data)" if name in p.optional else f"{name}_data"
        return name if always else f"{name} if {' or '.join(f'e{i} is not None' for i in readers)} else None"
    if name.endswith(("_shape", "_dtype")) and name[:-6] in p.inputs:
        owner = name[:-6]
        if name.endswith("_shape") and owner in constants:
            return "()"
        given = f"None if {owner} is None else " if owner in p.optional else ""
        return f"{given}{owner}_data.{name[-5:]}"
    return name


def calls_functions(rule: Callable[..., Any]) -> bool:
    """Whether a rule does more with its operands than arithmetic."""
    code = getattr(rule, "__code__", None)
    return code is None or bool(code.co_names)


def applied(rule: Callable[..., Any], name: str, namespace: str) -> str:
    """Source that applies a rule to the cotangent ``g``: what is passed on, or a single product, needs no call."""
    code = getattr(rule, "__code__", None)
    reads = names_of(rule)
    if code is not None and not code.co_freevars:
        if code.co_code == IDENTITY.co_code and code.co_varnames[:2] == IDENTITY.co_varnames:
            return "g"
        if code.co_code == PRODUCT.co_code and code.co_varnames[1:2] == ("g",) and len(reads) == 1:
            return f"g * {reads[0]}"
    return f"{name}({', '.join([namespace, 'g', *reads])})"


def edge_expression(place: int) -> str:
    """Source of a node's edge."""
    return ("node.first", "node.second")[place] if place < 2 else f"node.more[{place - 2}]"


IDENTITY = (lambda F, g: g).__code__
PRODUCT = (lambda F, g, x: g * x).__code__


class WrittenAtFirstCall:
    """A method whose code is generated when it is first looked up."""

    def __init__(self, name: str, source: str, scope: dict[str, Any]) -> None:
        self.name, self.source, self.scope = name, source, scope

    def __get__(self, node: Any, cls: type) -> Any:
        with writing:
            owner = next((c for c in cls.__mro__ if vars(c).get(self.name) is self), None)
            if owner is None:  # another thread was first
                function = getattr(cls, self.name)
            else:
                function = compile_function(self.source, self.name, self.scope)
                setattr(owner, self.name, function)
        return function if node is None else MethodType(function, node)


class Plan:
    """Which rules read what: shared by the call path, the pulls and the push of one primitive."""

    def __init__(self, p: Primitive, constants: set[str]) -> None:
        self.p, self.constants = p, constants
        self.joint = p.vjp if callable(p.vjp) else None
        readers: dict[str, list[int]] = {}
        if self.joint is not None:
            self.rules = dict.fromkeys(p.differentiable, self.joint)
            readers = {name: list(p.differentiable) for name in names_of(self.joint) if name != "needs"}
        else:
            self.rules = {i: p.vjp[name] for i, name in enumerate(p.inputs) if name in p.vjp and name not in constants}
            for i, rule in self.rules.items():
                for name in names_of(rule):
                    readers.setdefault(name, []).append(i)
        for name in readers:
            known = (
                name in ("out", "kept") or name in p.inputs or name in p.attrs
                or (name.endswith(("_shape", "_dtype")) and name[:-6] in p.inputs)
            )  # fmt: skip
            if not known:
                raise TypeError(f"{p.name}: a vjp rule reads {name!r}, which is no input, attribute, shape or 'out'")
        self.readers = readers
        # a number is kept as it is where rules only do arithmetic with it; a function would take it in float64
        self.lifted = {n for n in constants if any(calls_functions(self.rules[i]) for i in readers.get(n, ()))}
        self.names = tuple(readers)

    @property
    def keeps_out(self) -> bool:
        """Whether a rule reads the result."""
        return "out" in self.readers

    def saved(self) -> str:
        """Source of the tuple a node keeps."""
        parts = [saved_expression(self.p, n, r, self.constants, self.lifted) for n, r in self.readers.items()]
        return "(" + "".join(part + ", " for part in parts) + ")"

    def edges(self) -> str:
        """Source of the tuple of edges."""
        return "(" + "".join(f"e{i}, " for i in self.rules) + ")"

    def node_class(self) -> type[Node]:
        """A class of nodes with the pulls of this primitive, over arrays and over Tensors."""
        p, places = self.p, self.places
        scope: dict[str, Any] = {f"rule{i}": rule for i, rule in self.rules.items()} | {
            "rebuild": p.rebuild_output,
            "with_history": with_history,
        }
        members: dict[str, Any] = {"__slots__": (), "primitive": p, "outputs": p.outputs, "saved_names": self.names,
                                   "saved_tensors": {n: places.get(n) for n in self.tensors},
                                   "checked": [i for i, n in enumerate(self.names) if n in self.tensors or n == "out"],
                                   "keeps": self.keeps,
                                   "arity": len(self.rules), "takes_partial": p.partial == "takes"}  # fmt: skip
        for method, bare in (("pull", True), ("pull_tensors", False)):
            members[method] = WrittenAtFirstCall(method, self.pull_source(method, bare), scope)
            if self.joint is None:
                members[f"{method}_into"] = WrittenAtFirstCall(
                    f"{method}_into", self.pull_into_source(f"{method}_into", bare), scope
                )
        return type(p.node_name, (Node,), members)

    @property
    def places(self) -> dict[str, int]:
        """The place among the edges of each input that has one."""
        return {self.p.inputs[i]: place for place, i in enumerate(self.rules)}

    @property
    def tensors(self) -> set[str]:
        """What is saved of the inputs."""
        return {n for n in self.names if n in self.p.inputs and (n not in self.constants or n in self.lifted)}

    @property
    def keeps(self) -> bool:
        """Whether anything is saved that can be freed."""
        return not self.tensors.union({"out", "kept"}).isdisjoint(self.names)

    def kept_operand(self, name: str) -> str:
        """Source of the operand of which something is saved; None where the rules that read it do not run."""
        readers = self.readers[name]
        some = " or ".join(f"e{i} is not None" for i in readers)
        return name if len(self.p.differentiable) == 1 else f"{name} if {some} else None"

    def unpacked(self, bare: bool) -> list[str]:
        """Source that checks the saved values and gives them their names."""
        body = []
        if self.tensors or "out" in self.names:
            body.append("    if written: check_fresh(node, saved)")
        if self.names:
            body.append(f"    {', '.join(self.names)}, = saved")
        if "kept" in self.names and not bare:
            body.append("    kept = None")
        if "out" in self.names and not bare:
            body.append("    out = rebuild(out, node)")
        return body

    def with_history(self, names: Iterable[str]) -> list[str]:
        """Source that makes Tensors of saved inputs."""
        where = {n: edge_expression(self.places[n]) if n in self.places else "None" for n in self.tensors}
        return [f"if {n} is not None: {n} = with_history({n}, {where[n]})" for n in names if n in where]

    def call(self, i: int, bare: bool) -> str:
        """Source that applies the rule of an input."""
        call = applied(self.rules[i], f"rule{i}", "R" if bare else "F")
        if self.p.piecewise_linear and not bare:
            read = next(n for n in ("out", *self.p.inputs) if n in self.names)
            call = f"(F.linked({call}, {read}) if state.recording else {call})"
        return call

    def pull_source(self, method: str, bare: bool) -> str:
        """Source of a pull: the cotangents of all inputs."""
        body = [f"def {method}(node, g, saved, edges):", *self.unpacked(bare), f"    {self.edges()[1:-1]}= edges"]
        if not bare:
            body += ["    " + line for line in self.with_history(self.names)]
        if self.joint is not None:
            body.append(f"    needs = ({''.join(f'e{i} is not None, ' for i in self.rules)})")
            arguments = ", ".join([("R" if bare else "F"), "g", *names_of(self.joint)])
            body.append(f"    return rule{self.p.differentiable[0]}({arguments})")
        else:
            calls = [self.call(i, bare) for i in self.rules]
            if len(calls) > 1:
                calls = [f"None if e{i} is None else {call}" for i, call in zip(self.rules, calls, strict=True)]
            body.append("    return (" + "".join(call + ", " for call in calls) + ")")
        return "\n".join(body)

    def pull_into_source(self, method: str, bare: bool) -> str:
        """Source of a pull that enters its results itself: the loop of the common pass, unrolled."""
        body = [f"def {method}(node, g, pending, summed, wanted, retain):", "    if node.rare is not None: return True"]
        if self.names:
            body.append("    saved = node.saved")
        if self.keeps:
            body.append("    if saved is None: raise freed(node)")
        body += self.unpacked(bare)
        shared = [n for n, readers in self.readers.items() if len(readers) > 1]
        if not bare:
            body += ["    " + line for line in self.with_history(shared)]
        for place, (i, rule) in enumerate(self.rules.items()):
            body += [f"    edge = {edge_expression(place)}",
                     "    if edge is not None and (wanted is None or wanted.get(edge)):"]  # fmt: skip
            if not bare:
                own = [n for n in names_of(rule) if n not in shared]
                body += ["        " + line for line in self.with_history(own)]
            body += [
                f"        part = {self.call(i, bare)}",
                "        old = pending.get(edge)",
                "        if old is None and type(part) is not Partial: pending[edge] = part"
                if self.p.partial == "makes" else "        if old is None: pending[edge] = part",
                "        elif edge in summed and type(part) is ndarray: old += part",
                "        else: enter(edge, part, pending, summed)",
            ]  # fmt: skip
        if self.keeps:
            body.append("    if not retain: node.saved = None")
        return "\n".join(body)

    def store_edges(self) -> list[str]:
        """Source that gives a new node its edges."""
        names = [f"e{i}" for i in self.rules]
        first, second = [*names, "None", "None"][:2]
        more = f"({', '.join(names[2:])}, )" if len(names) > 2 else "()"
        return [f"node.first = {first}", f"node.second = {second}", f"node.more = {more}"]

    def recorder(self, cls: type[Node]) -> Callable[..., Node | None]:
        """``record(args, attrs, made, kept)``: the node of a call that came through ``apply``; None without edges."""
        p = self.p
        body = [f"    {', '.join(p.inputs)}, = args"]
        body += [f"    e{i} = None if {n} is None else {n}._node" if (n := p.inputs[i]) in p.optional
                 else f"    e{i} = {n}._node" for i in self.rules]  # fmt: skip
        body.append(f"    if {' is '.join(f'e{i}' for i in self.rules)} is None: return None")
        if p.attrs:
            body.append(f"    {', '.join(p.attrs)}, = attrs")
        if p.broadcasts and len(p.inputs) > 1:
            body.append("    made_shape = made._data.shape")
            body += [f"    if e{i} is not None and {n}._data.shape != made_shape: e{i} = Reduce(e{i}, {n}._data.shape)"
                     for i in self.rules for n in (p.inputs[i],)]  # fmt: skip
        if self.keeps_out:
            body.append("    out_saved = tuple([t._data for t in made]) if type(made) is tuple else made._data")
        for name in p.inputs:
            if not {name, f"{name}_shape", f"{name}_dtype"}.isdisjoint(self.readers):
                given = f"None if {name} is None else " if name in p.optional else ""
                body.append(f"    {name}_data = {given}{name}._data")
        body += ["    node = cls()", *("    " + s for s in self.store_edges()), f"    node.saved = {self.saved()}",
                 "    node.rare = None", "    node.order = count()", "    return node"]  # fmt: skip
        return compile_function(
            "def record(args, attrs, made, kept):\n" + "\n".join(body), "record", {"cls": cls}
        )


def call_path(p: Primitive, form: str = "function") -> Callable[..., Any]:
    """The function users and rules call: Tensors in, Tensors out; written at its first call.

    ``form`` is "function", "operator" (``a + b``: no ``out``, NotImplemented for foreign operands), "reflected"
    (``__radd__``: the Tensor is the second operand, the first one is none), or a further name of the second operand:
    a method that takes it under both.
    """
    def write(scope: dict[str, Any]) -> Callable[..., Any]:
        return write_call_path(p, p.reflected_plans() if form == "reflected" else p.plans, form, parameters, scope)

    parameters = [n + ("=None" if n in p.optional else "") for n in p.inputs]
    parameters += [n if v is inspect.Parameter.empty else f"{n}={n}_default" for n, v in p.attrs.items()]
    if form == "reflected":
        parameters.reverse()
    elif form not in ("function", "operator"):
        parameters = [p.inputs[0], f"{p.inputs[1]}=MISSING", f"{form}=MISSING"]
    elif p.promotes and form == "function":  # an elementwise primitive is the public function itself
        parameters += ["*", "out=None"]
    names = [q.partition("=")[0] for q in parameters if q != "*"]
    arguments = ", ".join(f"{n}={n}" if n == "out" else n for n in names)
    given = {**{n: None for n in p.optional}, **p.attrs, "out": None}
    given |= {n: MISSING for n in (p.inputs[-1], form) if f"{n}=MISSING" in parameters}
    source = ", ".join(n + "=None" if n in given and given[n] is not EMPTY else n for n in
                       [q.partition("=")[0] for q in parameters])  # fmt: skip
    return written_at_first_call(p.name, source, arguments, given, write)


def fast_dtypes(p: Primitive) -> list[str]:
    """Names of the commonest dtypes that an elementwise primitive takes as they are."""
    names = []
    for name, d in FAST.items():
        if p.promotes == "same" or d.is_floating_point:
            try:
                if p.check is not None:
                    p.check(p.name, [d] * len(p.inputs), d)
            except (RuntimeError, TypeError):
                continue
            names.append(name)
    return names


def write_call_path(p: Primitive, plans: dict[str, tuple[Plan, type[Node]] | None], form: str, parameters: list[str],
                    scope: dict[str, Any]) -> Callable[..., Any]:  # fmt: skip
    """Generate the code of a call path."""
    arguments, attrs = ", ".join(p.inputs), "".join(n + ", " for n in p.attrs)
    lines = [f"def {p.name}({', '.join(parameters)}):"]
    scope |= {f"{n}_default": v for n, v in p.attrs.items()}
    ours = form in ("operator", "reflected")
    scope |= {"apply": p.apply_operator if ours else p.apply, "kernel": p.keeping_kernel}
    result = "out, kept" if p.keeping_kernel is not p.array_kernel else "out"
    slow = f"return apply(({arguments}, ), ({attrs}))"
    fast = fast_dtypes(p) if p.promotes else []
    numeric = f" and ({' or '.join(f'dtype is {d}' for d in fast)})" if fast else ""

    def finish(plan: tuple[Plan, type[Node]] | None, indent: str, constants: set[str]) -> list[str]:
        """From the kernel's result to the Tensor, with a node where one is due."""
        if p.multi_view:
            out = [
                "t = []",
                "for i, part in enumerate(out):",
                "    v = new(Tensor)",
                "    v._data = part",
                "    v._node = None",
                f"    v._become_view({p.inputs[0]}, self, ({attrs}), i, True)",
                "    t.append(v)",
                "t = tuple(t)",
            ]
        elif p.view:
            out = ["t = new(Tensor)", "t._data = out", "t._node = None"]
            link = f"t._become_view({p.inputs[0]}, self, ({attrs}), None, False)"
            if p.view is True:
                out.append(link)
            else:
                out += [
                    "base = out.base",
                    f"if base is not None and (base is {p.inputs[0]}_data or base is {p.inputs[0]}_data.base): {link}",
                    "else: t._rare = None",
                ]
        else:
            out = ["if type(out) is not ndarray: out = asarray(out)", "t = new(Tensor)", "t._data = out",
                   "t._node = None", "t._rare = None"]  # fmt: skip
        mark = [] if p.view is True else ["elif inferring: mark_inference(t)"]
        if plan is None:
            return [indent + s for s in [*out, *[line.removeprefix("el") for line in mark], "return t"]]
        rules, cls = plan
        for i in rules.rules:
            name = p.inputs[i]
            out.append(
                f"e{i} = None if {name} is None else {name}._node" if name in p.optional else f"e{i} = {name}._node"
            )
        some = " or ".join(f"e{i} is not None" for i in rules.rules)
        out += [f"if {f'({some})' if len(rules.rules) > 1 else some} and (recording := state.recording):"]
        body = []
        special = "recording is not True"
        if p.multi_view:
            special += " or not out or out[0].dtype.kind != 'f'"
        elif not p.promotes:
            special += " or out.dtype.kind != 'f'"
        replay = f"return record_slowly(({arguments}, ), ({attrs}), t)"
        body.append(f"if {special}: {replay}")
        if rules.tensors:
            kept = ", ".join(rules.kept_operand(n) for n in p.inputs if n in rules.tensors and n not in rules.lifted)
            body.append(f"if inference_made: refuse_inference({kept})")
        if p.broadcasts and not constants and len(p.inputs) > 1:
            first, *others = [f"{n}_data.shape" for n in p.inputs]
            body.append(f"if {' or '.join(f'{first} != {o}' for o in others)}:")
            body.append("    shape = out.shape")
            for i in rules.rules:
                body.append(f"    if e{i} is not None and {p.inputs[i]}_data.shape != shape: "
                            f"e{i} = Reduce(e{i}, {p.inputs[i]}_data.shape)")  # fmt: skip
        if rules.keeps_out:
            body.append("out_saved = out")
        scope[cls_name := f"cls{len(scope)}"] = cls
        made = "self.node_class_for(len(out))" if p.multi_view else cls_name
        body += [f"node = {made}()", *rules.store_edges(), f"node.saved = {rules.saved()}",
                 "node.rare = None", "node.order = count()"]  # fmt: skip
        body += ["for i, v in enumerate(t): v._node = Output(node, i)"] if p.multi_view else ["t._node = node"]
        out += ["    " + b for b in body] + [*mark, "return t"]
        return [indent + s for s in out]

    scope["record_slowly"] = p.record_slowly
    body: list[str] = []
    if p.promotes and form == "function":
        scope["write_out"] = p.write_out
        body.append(f"    if out is not None: return write_out({p.name!r}, apply(({arguments}, ), ({attrs})), out)")
    elif not ours and form != "function":
        own = p.inputs[1]
        body.append(f"    if {form} is not MISSING or {own} is MISSING: "
                    f"{own} = either({p.name!r}, {own!r}, {own}, {form!r}, {form})")  # fmt: skip
    # a Python scalar as the second operand, the commonest mixed case; as the first one of a reflected operator
    floats, integers = "float64" in fast, "int64" in fast
    if "scalar" in plans and (floats or integers):
        scalar, tensor = p.inputs if form == "reflected" else p.inputs[::-1]
        operands = [n if n == scalar else f"{n}_data" for n in p.inputs]
        body += [
            f"    kind = type({scalar})",
            "    if kind is float or kind is int:",
            f"        try: {tensor}_data = {tensor}._data",
            f"        except AttributeError: {slow}",
            f"        dtype = {tensor}_data.dtype",
            f"        if type({tensor}_data) is ndarray and ("
            + " or ".join(
                ["dtype is float32 or dtype is float64"] * floats + ["kind is int and dtype is int64"] * integers
            )
            + "):",
            f"            try: {result} = kernel({', '.join([*operands, *p.attrs])})",
            f"            except (OverflowError, ValueError): {slow}",
        ]
        body += finish(plans["scalar"], "            ", {scalar})
        body += [f"        {slow}"]
    if form == "reflected":
        message = f"{p.name}(): the second operand must be Tensor"
        body.append(f"    if not isinstance({p.inputs[1]}, Tensor): raise TypeError({message!r})")
        return compile_function("\n".join([*lines, *body, f"    {slow}"]), p.name, scope)
    if p.promotes and not fast:
        return compile_function("\n".join([*lines, *body, f"    {slow}"]), p.name, scope)
    required = [n for n in p.inputs if n not in p.optional]
    body.append("    try:")
    body += [f"        {n}_data = {n}._data" for n in required]
    body += [f"        {n}_data = None if {n} is None else {n}._data" for n in p.optional]
    body.append(f"    except AttributeError: {slow}")
    test = " is ".join(["ndarray", *[f"type({n}_data)" for n in required[1:]]])
    test = f"type({required[0]}_data) is {test}"
    test += "".join(f" and ({n} is None or type({n}_data) is ndarray)" for n in p.optional)
    if p.promotes:
        same = [n for n in p.inputs if n not in p.unpromoted]
        first = f"(dtype := {same[0]}_data.dtype)"
        test += f" and {first}" + "".join(f" is {n}_data.dtype" for n in same[1:2])
        test = test if len(same) > 1 else test + " is not None"
        test += "".join(f" and dtype is {n}_data.dtype" for n in same[2:]) + numeric
    body.append(f"    if {test}:")
    call = f"kernel({', '.join([n + '_data' for n in p.inputs] + list(p.attrs))})"
    if p.broadcasts and len(p.inputs) > 1:
        body += [f"        try: {result} = {call}", f"        except ValueError: {slow}"]
    else:
        body.append(f"        {result} = {call}")
    if p.outputs == 1:
        scope["self"] = p
        if p.view is True and not p.multi_view:
            # what follows the kernel stands on its own, for callers that have its result already
            names = ", ".join([*p.inputs, "out", *p.attrs])
            source = "\n".join([f"def viewed({names}):", f"    {p.inputs[0]}_data = {p.inputs[0]}._data",
                                *finish(plans[""], "    ", set())])  # fmt: skip
            vars(p)["viewed"] = scope["viewed"] = compile_function(source, "viewed", scope)
            body.append(f"        return viewed({names})")
        else:
            body += finish(plans[""], "        ", set())
    else:
        kept = ", kept" if "kept" in result else ""
        body.append(f"        return finish(out, ({arguments}, ), ({attrs}){kept})")
        scope["finish"] = p.finish
    body.append(f"    {slow}")
    return compile_function("\n".join(lines + body), p.name, scope)


def push_path(p: Primitive) -> Callable[..., Any] | None:
    """``push(tangents, out, args, attrs)``: the tangent of the output, by the forward rules over Tensors."""
    rules = p.forward_rules()
    if rules is None:
        return None
    lines = ["def push(tangents, out, args, attrs):"]
    if not p.variadic:
        lines.append(f"    {', '.join(p.inputs)}, = args")
    if p.attrs:
        lines.append(f"    {', '.join(p.attrs)}, = attrs")
    scope: dict[str, Any] = {}

    def argument(name: str) -> str:
        if name.endswith(("_shape", "_dtype")) and name[:-6] in p.inputs:
            return f"{name[:-6]}._data.{name[-5:]}"
        if name == "kept":
            return "None"
        return "args" if p.variadic and name == p.inputs[0] else name

    if callable(rules):
        scope["rule"] = rules
        lines.append(f"    return rule({', '.join(['F', 'tangents', *map(argument, names_of(rules))])})")
        return compile_function("\n".join(lines), "push", scope)
    lines.append("    total = None")
    for i, rule in rules.items():
        scope[f"rule{i}"] = rule
        call = f"rule{i}({', '.join(['F', 't', *map(argument, names_of(rule))])})"
        if len(rules) == 1:
            lines += [f"    t = tangents[{i}]", f"    return {call}"]
            break
        lines += [f"    t = tangents[{i}]", "    if t is not None:", f"        t = {call}",
                  "        total = t if total is None else F.add(total, t)"]  # fmt: skip
    else:
        lines.append("    return total")
    return compile_function("\n".join(lines), "push", scope)
