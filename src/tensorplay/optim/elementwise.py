"""How updates that treat each element alike are run: over arrays in place, in blocks, or over Tensors and recorded.

An optimizer states its rule once, with Python's operators and the names of a namespace; it writes to the parameter and
its state alone. Over Tensors the same rule is differentiable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..backends import MODULES
from ..core.inplace import move
from ..core.namespace import F
from ..core.node import AccumulateGrad
from ..core.state import grad_mode, set_recording
from ..core.tensor import Tensor, wrap
from ..core.versions import note_write
from .optimizer import Array, Optimizer, array_of, counter

ndarray = np.ndarray

BLOCK = 1 << 17
"""Elements that a rule sees at a time: temporaries stay in the cache, and are large enough that NumPy reuses them."""

Rule = Callable[[Any, Sequence[Any], Sequence[Any], dict[str, Any]], Sequence[Any]]


class Elementwise(Optimizer):
    """An optimizer that treats each element of a parameter alike."""

    counts_steps = True  # whether the state has a ``step``
    follows_state = False  # whether the scalars depend on more than the number of the step

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Names of the state that has the shape of the parameter."""
        raise NotImplementedError

    def scalars(self, group: dict[str, Any], number: Callable[[Any], Any], t: int, state: dict[str, Any]) -> Any:
        """The numbers of step ``t`` that the rule takes after the decay; options pass through ``number``.

        Where steps are not counted, ``t`` is 1 at a parameter's first step and 2 later.
        """
        raise NotImplementedError

    @staticmethod
    def rule(xp: Any, arrays: Sequence[Any], scalars: Sequence[Any], group: dict[str, Any]) -> Sequence[Any]:
        """Update ``arrays`` (the parameter, its gradient, and its state) in place, with the functions of ``xp``.

        Returns the parameter and its state: over Tensors they are new.
        """
        raise NotImplementedError

    def initial(self, name: str, group: dict[str, Any], like: Array) -> Array:
        """State before the first step."""
        return np.zeros_like(like)

    def start(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Enter the scalars of a parameter's state."""
        state["step"] = counter()

    def update_group(self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> None:
        names, rule, counts = self.buffers(group), self.rule, self.counts_steps
        recorded = group.get("differentiable", False)
        number: Callable[[Any], Any] = as_given if recorded else float
        scalars: Any = None
        known: Any = None
        for p, grad in zip(params, grads):
            x, g = p._data, grad._data
            if type(x) is not ndarray or type(g) is not ndarray or x.shape != g.shape:
                if type(x) in MODULES and x.shape == g.shape:
                    recording = grad_mode()
                    set_recording(False)
                    try:
                        self.update_traced(group, p, grad)
                    finally:
                        set_recording(recording)
                    continue
                refuse(self, p, grad)
            state = self.state[p] if counts or names else {}
            if counts and not state:
                self.start(state, group)
            arrays, t = [x, g], 2
            for name in names:
                buffer = state.get(name)
                if buffer is None:
                    buffer = state[name] = wrap(self.initial(name, group, x))
                    t = 1
                arrays.append(buffer._data)
            if counts:
                step = state["step"]._data
                t = int(step.item()) + 1
                step[()] = t
            dtype = x.dtype
            if known != (t, dtype) or self.follows_state or recorded:
                scalars = (decay(group, number), *self.scalars(group, number, t, state))
                if recorded:
                    record(rule, p, grad, state, names, scalars, group)
                    continue
                scalars, known = [scalar(v, dtype) for v in scalars], (t, dtype)
            if dtype in PLAIN and x.size <= BLOCK:
                rule(np, arrays, scalars, group)
            else:
                run(rule, arrays, scalars, group)
            note_write(x)


    def update_traced(self, group: dict[str, Any], p: Tensor, grad: Tensor) -> None:
        """The step of one parameter whose array is none of NumPy's, as inside ``compile``: the rule over Tensors."""
        names, t = self.buffers(group), 2
        state = self.state[p] if self.counts_steps or names else {}
        if self.counts_steps and not state:
            self.start(state, group)
        for name in names:
            if state.get(name) is None:
                state[name] = F.zeros_like(p.detach()) if type(self).initial is Elementwise.initial else wrap(
                    self.initial(name, group, np.empty(p._data.shape, p._data.dtype))
                )  # fmt: skip
                t = 1
        number: Any = t
        if self.counts_steps:
            move(state["step"], state["step"] + 1, "step")
            number = F.cast(state["step"], np.dtype(np.float64))
        scalars: Any = (decay(group, in_double), *self.scalars(group, in_double, number, state))
        tensors = [p.detach(), grad.detach(), *[state[name] for name in names]]
        wide = [F.view_as_real(a) if p.is_complex() else a for a in tensors]
        dtype = wide[0]._data.dtype
        if dtype not in PLAIN:
            dtype = np.dtype(np.float32)
            wide = [F.cast(a, dtype) for a in wide]
        scalars = [F.cast(v, dtype) if isinstance(v, Tensor) else v for v in scalars]
        results = self.rule(F, [fresh(a) for a in wide], scalars, group)
        for target, value in zip([p, *tensors[2:]], results):
            move(target, F.view_as_complex(value) if p.is_complex() else value, type(self).__name__)


def in_double(value: Any) -> Any:
    """An option as a number that scalars are computed from: a tensor in float64, where it is one."""
    return F.cast(value.detach(), np.dtype(np.float64)) if isinstance(value, Tensor) else float(value)


def refuse(optimizer: Optimizer, p: Tensor, grad: Tensor) -> None:
    """Say why a parameter cannot be updated."""
    x, g = array_of(p, "parameter"), array_of(grad, "gradient")
    raise RuntimeError(f"{type(optimizer).__name__}: a parameter of shape {list(x.shape)} has a gradient of shape "
                       f"{list(g.shape)}")  # fmt: skip


def decay(group: dict[str, Any], number: Callable[[Any], Any]) -> Any:
    """The L2 penalty, or what is left of a parameter after a decoupled decay."""
    weight_decay = number(group.get("weight_decay", 0))
    return 1 - number(group["lr"]) * weight_decay if group.get("decoupled_weight_decay") else weight_decay


PLAIN = (np.dtype("float32"), np.dtype("float64"))


def as_given(value: Any) -> Any:
    """A tensor that the result is to depend on, or a number."""
    if isinstance(value, Tensor) and (value._node is not None or type(value._data) is not ndarray):
        return value
    return float(value)


@lru_cache(maxsize=256)
def scalar(value: float, dtype: np.dtype[Any]) -> Array:
    """A number as an operand of arrays of a dtype: NumPy takes it twice as fast as a Python number."""
    real = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype if dtype in PLAIN else np.float32
    out = np.array(value, real)
    out.flags.writeable = False
    return out


def run(rule: Rule, arrays: list[Array], scalars: Sequence[Any], group: dict[str, Any]) -> None:
    """Run a rule over arrays that are large or of a dtype that wants care."""
    x = arrays[0]
    if x.dtype.kind == "c":  # real and imaginary parts as elements of their own
        run(rule, [a.real for a in arrays], scalars, group)
        run(rule, [a.imag for a in arrays], scalars, group)
    elif x.dtype not in PLAIN:  # narrow: computed in float32, rounded once
        wide = [a.astype(np.float32) for a in arrays]
        run(rule, wide, scalars, group)
        for a, w in zip(arrays, wide):
            if a is not arrays[1]:
                a[...] = w
    elif x.size > BLOCK and all(a.flags.c_contiguous for a in arrays):
        flat = [a.reshape(-1) for a in arrays]
        for i in range(0, x.size, BLOCK):
            rule(np, [a[i : i + BLOCK] for a in flat], scalars, group)
    else:
        rule(np, arrays, scalars, group)


class Fresh(Tensor):
    """A Tensor without in-place operators: Python then computes ``x -= y`` as ``x = x - y``."""

    __slots__ = ()

    def __iadd__(self, other: Any) -> Any:  # type: ignore[misc]
        return NotImplemented

    __isub__ = __imul__ = __itruediv__ = __iadd__


def fresh(t: Tensor) -> Tensor:
    """The same tensor without in-place operators."""
    out = wrap(t._data, Fresh)
    out._node = t._node
    return out


def record(
    rule: Rule, p: Tensor, grad: Tensor, state: dict[str, Any], names: Sequence[str], scalars: Any,
    group: dict[str, Any],
) -> None:  # fmt: skip
    """Run a rule over Tensors, so that the result depends on what the parameter, gradient and options depend on.

    The parameter and its state get new memory: what was recorded with the old keeps its values.
    """
    if grad_mode() and type(p._node) is AccumulateGrad:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    tensors = [p, grad, *[state[name] for name in names]]
    if p.is_complex():
        results: Sequence[Any] = [
            F.view_as_complex(t) for t in rule(F, [fresh(F.view_as_real(t)) for t in tensors], scalars, group)
        ]
    else:
        results = rule(F, [fresh(t) for t in tensors], scalars, group)
    p._data, p._node = results[0]._data, results[0]._node
    state.update(zip(names, results[1:]))


def prepared(x: Any, g: Any, decay: Any, group: dict[str, Any]) -> tuple[Any, Any]:
    """The parameter after a decoupled decay; the gradient, reversed for an ascent, with the L2 penalty added."""
    if group["maximize"]:
        g = -g
    if group["weight_decay"]:
        if group.get("decoupled_weight_decay"):
            x *= decay
        else:
            g = g + x * decay
    return x, g


def assigned(target: Any, value: Any) -> Any:
    """A value in the memory of the target array; over Tensors the value itself."""
    if type(target) is ndarray:
        target[...] = value
        return target
    return value
