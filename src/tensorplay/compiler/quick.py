"""The common call of a compiled function, written out: tensors by position, everything as the program expects it.

Python pays for each loop, tuple and attribute of a general call, and a small program runs in a few microseconds. So an
entry gets straight-line code that checks the tensors of a call, runs the program and makes the results. Whatever is
not as expected leaves through MISS, before anything is done, to the general path.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Mapping
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.xla import enable_x64, memory_class
from ..core import pytree
from ..core.node import AccumulateGrad
from ..core.tensor import Tensor, wrap
from .tracing import HOOKED, INNER, LEAF, NOT_TRACKED, Slot

if TYPE_CHECKING:
    from .compiled import Entry

MISS = object()
WRONG_NODE = {
    NOT_TRACKED: "{t}._node is not None",
    LEAF: "type({t}._node) is not AccumulateGrad or {t}._node.rare is not None "
          "or {t}._node.post_accumulate is not None",
    HOOKED: "type({t}._node) is not AccumulateGrad",
    INNER: "({t}._node is None or type({t}._node) is AccumulateGrad)",
}


class Writer:
    """Writes the code for an entry."""

    def __init__(self, entry: Entry) -> None:
        from . import compiled

        self.entry = entry
        self.scope: dict[str, Any] = {
            "MISS": MISS, "MODE": entry.mode, "entry": entry, "program": entry.program, "enable_x64": enable_x64,
            "ndarray": np.ndarray, "AccumulateGrad": AccumulateGrad, "new": object.__new__, "Tensor": Tensor,
            "store": compiled.store, "Spent": compiled.Spent, "wrap": wrap,
            "is_": is_, "references": sys.getrefcount, "ALONE": compiled.ALONE,
            "unflatten": pytree.unflatten, "out_spec": entry.out_spec,
        }  # fmt: skip
        self.lines: list[str] = []
        self.names: dict[Slot, str] = {}  # of the tensors that are closed over

    def constant(self, value: Any) -> str:
        """A name for an object."""
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def tensor(self, slot: Slot) -> str:
        """Source of the tensor that an input is."""
        if slot.grad_of is not None:
            return f"{self.tensor(slot.grad_of)}._rare.grad"
        if slot.argument is not None and slot.argument not in self.entry.pinned:
            return f"a{slot.argument}"
        if slot not in self.names:
            self.names[slot] = self.constant(slot.tensor)
        return self.names[slot]

    def check(self, t: str, shape: Any, dtype: Any, tracking: int, kind: Any = None) -> None:
        """Let ``d`` be the data of a tensor; leave if it is not as it should be."""
        wrong = f"type({t}) is not {self.constant(kind)} or " if kind is not None else ""
        self.lines += [
            f"d = {t}._data" if kind is None else f"d = getattr({t}, '_data', None)",
            f"if {wrong}type(d) is not ndarray or d.shape != {self.constant(shape)} or "
            f"d.dtype is not {self.constant(dtype)} or {WRONG_NODE[tracking].format(t=t)}: return MISS",
        ]

    def take(self, i: int) -> None:
        """Let ``x<i>`` be what the program takes of ``d``."""
        if (strides := self.entry.inputs[i].strides) is not None:
            self.lines.append(f"if d.strides != {self.constant(strides)}: return MISS")
        self.lines.append(f"x{i} = getattr(d.base, 'xla_array', d)")
        if self.entry.writes:
            self.lines.append(f"m{i} = id(d if type(d.base) is not ndarray else d.base)")

    def places(self) -> None:
        """Leave if a Python value that was read has changed; one that is equal but not the same leaves as well."""
        empty = []
        for place in self.entry.places:
            p, h, holder = self.constant(place), self.constant(place.holder), place.holder
            if not place.held and place.names is None and type(holder) is not types.CellType:
                empty.append(h)
                continue
            if place.names is not None:
                same = " and ".join(f"{h}.get({n!r}) is {p}.held[{i}]" for i, n in enumerate(place.names))
            elif type(holder) is types.CellType:
                same = f"{h}.cell_contents is {p}.held[0]" if place.held else "False"
            else:
                values = ".values()" if isinstance(holder, Mapping) else ""
                same = f"len({h}) == {len(place.held)} and all(map(is_, {h}{values}, {p}.held))"
            self.lines.append(f"if not ({same}) and {p}.changed() is not None: return MISS")
        for i in range(0, len(empty), 100):
            self.lines.append(f"if {' or '.join(empty[i : i + 100])}: return MISS")

    def memory(self, t: str, i: int) -> list[str]:
        """Let a tensor hold a result: ``over_memory``, written out."""
        shape, dtype = self.entry.results[i]
        block = memory_class(dtype.itemsize * math.prod(shape)).from_address
        return [
            f"m = {self.constant(block)}(r[{i}].unsafe_buffer_pointer())",
            f"m.xla_array = r[{i}]",
            f"{t}._data = ndarray({self.constant(shape)}, {self.constant(dtype)}, m)",
        ]

    def result(self, i: int) -> list[str]:
        """Let ``t`` be a new tensor of a result."""
        shape, dtype = self.entry.results[i]
        if 0 in shape:
            made = f"wrap(k_empty({self.constant(shape)}, {self.constant(dtype)}))"
            self.scope["k_empty"] = np.empty
            return [f"t = {made}"]
        return ["t = new(Tensor)", *self.memory("t", i), "t._node = t._rare = None"]

    def write(self) -> Callable[..., Any]:
        e, lines = self.entry, self.lines
        lines.append("if mode != MODE: return MISS")
        by_argument = {s.argument: (i, s) for i, s in enumerate(e.inputs) if s.argument is not None}
        for i, (kind, shape, dtype, tracking) in enumerate(e.leaves):
            if i in e.pinned:
                lines.append(f"if a{i} is not {self.constant(e.pinned[i])}: return MISS")
            self.check(f"a{i}", shape, dtype, tracking, kind)
            if i in by_argument:
                self.take(by_argument[i][0])
        for slot in e.watched:
            t = self.tensor(slot)
            wrong = "is None" if slot.had_grad else "is not None"
            lines.append(f"if {t}._rare is {'' if slot.had_grad else 'not '}None"
                         + (f" or {t}._rare.grad {wrong}" if slot.had_grad else f" and {t}._rare.grad {wrong}")
                         + ": return MISS")  # fmt: skip
        for i, slot in enumerate(e.inputs):
            if slot.argument is None or slot.grad_of is not None:
                self.check(self.tensor(slot), slot.shape, slot.dtype, HOOKED if slot.hooked else slot.tracking)
                self.take(i)
        self.places()
        if e.writes and len(e.inputs) > 1:
            ids = ", ".join(f"m{i}" for i in range(len(e.inputs)))
            lines.append(f"if len({{{ids}}}) < {len(e.inputs)}: return MISS")
        xs = [f"x{i}" for i in range(len(e.inputs))]
        lines += ["entry.runs += 1", "with enable_x64(True):", f"    r = program({', '.join(xs)})"]
        if e.results:
            lines.append("r[0].block_until_ready()")
        lines.append(" = ".join(["d", *xs, "None"]))
        for slot, i in e.writes:  # into the tensor's memory, or that of the result in its place if nobody can tell
            t = self.tensor(slot)
            if 0 in e.results[i][0]:
                continue
            lines += [
                f"if references({t}._data) <= ALONE and hasattr({t}._data.base, 'xla_array'):",
                *["    " + line for line in self.memory(t, i)],
                f"else: store({t}, r[{i}])",
            ]
        for slot, how, what in e.grads:
            t = self.tensor(slot)
            if how == "value":
                lines += self.result(what)
                value = "t"
            else:
                value = "None" if how == "none" else self.tensor(what)
            lines.append(f"({t}._rare or {t}._rarely()).grad = {value}")
        made = []
        for i, (how, what) in enumerate(e.outputs):
            if how == "value":
                lines += [*self.result(what), f"o{i} = t"]
            elif how == "input":
                lines.append(f"o{i} = {self.tensor(what)}")
            elif how == "object":
                lines.append(f"o{i} = {self.constant(what)}")
            elif how == "again":
                lines.append(f"o{i} = o{what}")
            elif how == "view":
                lines.append(f"o{i} = entry.view({self.tensor(what[0])}, {self.constant(what[1])})")
            elif how == "detached":
                lines.append(f"o{i} = {self.tensor(what)}.detach()")
            else:
                lines.append(f"o{i} = wrap({self.constant(what)}.copy())")
            if i in e.spent:
                lines.append(f"o{i}._node = Spent()")
            made.append(f"o{i}")
        spec = e.out_spec
        flat = all(child is pytree.LEAF for child in spec.children)
        if spec is pytree.LEAF:
            lines.append("return o0")
        elif flat and spec.kind is tuple:
            lines.append(f"return ({''.join(m + ', ' for m in made)})")
        elif flat and spec.kind is list:
            lines.append(f"return [{', '.join(made)}]")
        else:
            lines.append(f"return unflatten([{', '.join(made)}], out_spec)")
        parameters = ["mode", *[f"a{i}" for i in range(len(e.leaves))]]
        source = f"def quick({', '.join(parameters)}):\n" + "\n".join("    " + line for line in lines)
        exec(compile(source, "<tensorplay compiled>", "exec"), self.scope)
        return self.scope["quick"]


def quick(entry: Entry) -> Callable[..., Any] | None:
    """``quick(mode, *args)``: the result of a call, or MISS; None for entries that the general path serves."""
    positional = entry.spec.children[0]
    simple = (
        not entry.spec.children[1].children
        and all(child is pytree.LEAF for child in positional.children)
        and all(check[0] is not None for check in entry.leaves)
        and not (entry.twins or entry.draws or entry.tracked or entry.mode[1])
    )
    return Writer(entry).write() if simple else None
