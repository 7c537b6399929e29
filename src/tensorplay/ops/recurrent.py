"""Recurrent layers: all steps of one layer in one direction, as one primitive.

The steps of a batch stand behind one another as rows. ``sizes`` says how many sequences each step has, which are sorted
by length: those that still go on are the first ones. A state keeps the last value of each sequence, so that both
directions are the same loop: each step replaces the first rows of the state.

The kernels hold the gates apart, as (gates, rows, hidden): what a step reads and writes is contiguous then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..core import dtype as dtypes
from ..core.carrier import Meta
from ..core.definition import batch_through, pull_through, push_through
from ..core.namespace import F, R
from ..core.primitive import primitive
from ..core.tensor import Tensor
from .kernels import narrowed, widened

Sizes = tuple[int, ...]

# ---- definitions: one step, from what the input gives and the state before to the state after


def rnn_step(relu: bool, x: Tensor, state: Any, weight: Tensor, bias: Any, project: None) -> tuple[Tensor]:
    """``h' = tanh(x + W h + b)`` (Elman, 1990), or relu."""
    h = x + F.linear(state[0], weight, bias)
    return (F.relu(h) if relu else F.tanh(h),)


def lstm_step(x: Tensor, state: Any, weight: Tensor, bias: Any, project: Any) -> tuple[Tensor, Tensor]:
    """The gates i, f, o and the candidate g: ``c' = f c + i g``, ``h' = o tanh(c')`` (Hochreiter et al., 1997)."""
    h, c = state
    i, f, g, o = (x + F.linear(h, weight, bias)).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return (h if project is None else F.linear(h, project)), c


def gru_step(x: Tensor, state: Any, weight: Tensor, bias: Any, project: None) -> tuple[Tensor]:
    """The gates r and z: ``n = tanh(x_n + r (W h + b)_n)``, ``h' = (1 - z) n + z h`` (Cho et al., 2014)."""
    h = state[0]
    xr, xz, xn = x.chunk(3, -1)
    hr, hz, hn = F.linear(h, weight, bias).chunk(3, -1)
    n = (xn + (xr + hr).sigmoid() * hn).tanh()
    return (n + (xz + hz).sigmoid() * (h - n),)


def loop(
    input: Tensor, hidden: Tensor, weight_ih: Tensor, weight_hh: Tensor, cell: Tensor | None, bias_ih: Tensor | None,
    bias_hh: Tensor | None, weight_hr: Tensor | None, mode: str, sizes: Sizes, reverse: bool,
) -> tuple[Tensor, ...]:  # fmt: skip
    """All steps: the outputs, in the order of the input, and the last state of each sequence."""
    step, state = CELLS[mode].step, (hidden,) if cell is None else (hidden, cell)
    inputs = F.linear(input, weight_ih, bias_ih).split(list(sizes), 0)
    outputs: list[Any] = [None] * len(sizes)
    waiting: list[tuple[Tensor, ...]] = [state]  # states in the order of the sequences; the first part goes on
    for t in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        n = sizes[t]
        while waiting[0][0].shape[0] < n:  # sequences that begin here
            first, second, *rest = waiting
            waiting = [tuple(F.cat(a, b, dim=-2) for a, b in zip(first, second, strict=True)), *rest]
        if waiting[0][0].shape[0] > n:
            going, staying = zip(*[(s[:n], s[n:]) for s in waiting[0]], strict=True)
            waiting = [going, staying, *waiting[1:]]
        waiting[0] = step(inputs[t], waiting[0], weight_hh, bias_hh, weight_hr)
        outputs[t] = waiting[0][0]
    last = waiting[0] if len(waiting) == 1 else tuple(F.cat(*parts, dim=-2) for parts in zip(*waiting, strict=True))
    return F.cat(*outputs, dim=-2), *last


# ---- what the kernels share


def steps(sizes: Sizes, reverse: bool) -> Iterable[tuple[slice, int]]:
    """The rows of each step and their number, in the order in which the steps are taken."""
    parts = [(slice(end - n, end), n) for end, n in zip(accumulate(sizes), sizes, strict=True)]
    return parts[::-1] if reverse else parts


def by_gate(x: Any, order: tuple[int, ...]) -> Any:
    """A weight or bias, whose first dimension runs over all gates, with the gates apart and in the kernel's order."""
    return x.reshape(len(order), -1, *x.shape[1:])[list(order)]


def joined(x: Any, order: tuple[int, ...]) -> Any:
    """The inverse of :func:`by_gate`."""
    out = np.empty_like(x)
    out[list(order)] = x
    return out.reshape(-1, *x.shape[2:])


def mapped(input: Any, weight: Any, biases: tuple[Any, ...], order: tuple[int, ...]) -> Any:
    """What the inputs of all steps give to the gates, (gates, rows, hidden)."""
    out = np.matmul(input, by_gate(weight, order).swapaxes(1, 2))
    given = [by_gate(bias, order) for bias in biases if bias is not None]
    if given:
        out += sum(given[1:], given[0])[:, None]
    return out


def across(weight: Any, order: tuple[int, ...]) -> Any:
    """The matrices by which a state is multiplied in each step: contiguous, as BLAS likes them best."""
    return np.ascontiguousarray(by_gate(weight, order).swapaxes(1, 2))


def sigmoid_within(x: Any) -> None:
    np.negative(x, x)
    np.exp(x, x)
    x += 1
    np.reciprocal(x, x)


def of_weight(gates: Any, rows: Any, order: tuple[int, ...]) -> Any:
    """The gradient of a weight, from those of the gates and the rows that it was multiplied by."""
    return joined(np.matmul(gates.swapaxes(1, 2), rows), order)


def of_bias(gates: Any, order: tuple[int, ...]) -> Any:
    return joined(np.add.reduce(gates, axis=1), order)


def of_rows(gates: Any, weights: Any, out: Any = None) -> Any:
    """The gradient of the rows that the weights of all gates were multiplied by."""
    return np.add.reduce(np.matmul(gates, weights), axis=0, out=out)


def received(g: Any, like: Any) -> Any:
    """The cotangent of a state, in memory of its own."""
    return np.zeros_like(like) if g is None else np.array(g, like.dtype)


# ---- RNN

ONE = (0,)


def rnn_kernel(
    relu: bool, input: Any, hidden: Any, weight_ih: Any, weight_hh: Any, cell: None, bias_ih: Any, bias_hh: Any,
    weight_hr: None, sizes: Sizes, reverse: bool,
) -> Any:  # fmt: skip
    """Returns the outputs and the last state; and, for the reverse rule, the outputs again and the states before."""
    dtype = input.dtype
    out = mapped(widened(input), widened(weight_ih), (bias_ih, bias_hh), ONE)[0]
    h, weight = np.array(hidden, out.dtype), across(widened(weight_hh), ONE)[0]
    before = np.empty_like(out)
    for rows, n in steps(sizes, reverse):
        going, now = h[:n], out[rows]
        before[rows] = going
        now += going.dot(weight)
        np.maximum(now, 0, out=now) if relu else np.tanh(now, now)
        going[...] = now
    return (np.array(out, dtype), narrowed(h, dtype)), (out, before)


def rnn_pull(
    relu: bool, g: Any, input: Any, weight_ih: Any, weight_hh: Any, weight_hr: None, sizes: Sizes, reverse: bool,
    kept: Any, needs: Any,
) -> list[Any]:  # fmt: skip
    of_out, of_last = g
    out, before = kept
    h = received(of_last, before[: max(sizes)])
    weight_hh = widened(weight_hh)
    if relu:
        d = (out > 0).astype(out.dtype)
    else:
        d = out * out
        np.subtract(1, d, d)
    for rows, n in reversed(list(steps(sizes, reverse))):
        going, now = h[:n], d[rows]
        if of_out is not None:
            going += of_out[rows]
        now *= going
        np.dot(now, weight_hh, going)
    gates = d[None]
    return [
        d.dot(widened(weight_ih)) if needs[0] else None,
        h,
        of_weight(gates, widened(input), ONE) if needs[2] else None,
        of_weight(gates, before, ONE) if needs[3] else None,
        None,
        *[of_bias(gates, ONE) if needed else None for needed in needs[5:7]],
        None,
    ]


# ---- LSTM

LSTM = (2, 0, 1, 3)
"""The order of the gates in the kernel: g, i, f, o."""


def lstm_kernel(
    input: Any, hidden: Any, weight_ih: Any, weight_hh: Any, cell: Any, bias_ih: Any, bias_hh: Any, weight_hr: Any,
    sizes: Sizes, reverse: bool,
) -> Any:  # fmt: skip
    """Returns the outputs and the last states; and, for the reverse rule, what each step went through."""
    dtype = input.dtype
    gates = mapped(widened(input), widened(weight_ih), (bias_ih, bias_hh), LSTM)
    h, c = np.array(hidden, gates.dtype), np.array(cell, gates.dtype)
    weight = across(widened(weight_hh), LSTM)
    project = None if weight_hr is None else np.ascontiguousarray(widened(weight_hr).T)
    count, size = gates.shape[1:]
    squashed, cells = np.empty((2, count, size), gates.dtype)
    states = np.empty((count, h.shape[1]), gates.dtype)
    out = np.empty((count, size), gates.dtype)
    outputs = out if project is None else np.empty_like(states)
    scratch = np.empty((4, max(sizes), size), gates.dtype)
    for rows, n in steps(sizes, reverse):
        going, cells_now, now, part = h[:n], c[:n], gates[:, rows], scratch[:, :n]
        states[rows], cells[rows] = going, cells_now
        now += np.matmul(going, weight, part)
        np.tanh(now[0], now[0])
        sigmoid_within(now[1:])
        g, i, f, o = now
        cells_now *= f
        cells_now += np.multiply(i, g, part[0])
        np.multiply(o, np.tanh(cells_now, squashed[rows]), out[rows])
        if project is not None:
            np.dot(out[rows], project, outputs[rows])
        going[...] = outputs[rows]
    results = np.array(outputs, dtype) if project is None else narrowed(outputs, dtype)
    return (results, narrowed(h, dtype), narrowed(c, dtype)), (gates, states, cells, squashed, out)


def lstm_pull(
    g: Any, input: Any, weight_ih: Any, weight_hh: Any, weight_hr: Any, sizes: Sizes, reverse: bool, kept: Any,
    needs: Any,
) -> list[Any]:  # fmt: skip
    of_out, of_hidden, of_cell = g
    gates, states, cells, squashed, out = kept
    most = max(sizes)
    h, c = received(of_hidden, states[:most]), received(of_cell, cells[:most])
    back, project = by_gate(widened(weight_hh), LSTM), None if weight_hr is None else widened(weight_hr)
    candidate, entry, forget, exit = gates
    # all but the factors that the steps hand on: the slopes of the gates, times what each gate was multiplied by
    d = np.subtract(1, gates)
    d *= gates
    np.multiply(candidate, candidate, d[0])
    np.subtract(1, d[0], d[0])
    d[0] *= entry
    d[1] *= candidate
    d[2] *= cells
    d[3] *= squashed
    of_squashed = squashed * squashed
    np.subtract(1, of_squashed, of_squashed)
    of_squashed *= exit
    projected: Any = None if project is None else np.empty_like(states)
    scratch = np.empty((4, most, h.shape[1]), h.dtype)
    for rows, n in reversed(list(steps(sizes, reverse))):
        going, cells_now, now = h[:n], c[:n], d[:, rows]
        if of_out is not None:
            going += of_out[rows]
        of_h = going
        if project is not None:
            projected[rows] = going
            of_h = going.dot(project)
        now[3] *= of_h
        part = of_squashed[rows]
        part *= of_h
        cells_now += part
        now[:3] *= cells_now
        cells_now *= forget[rows]
        np.add.reduce(np.matmul(now, back, scratch[:, :n]), 0, None, going)
    return [
        of_rows(d, by_gate(widened(weight_ih), LSTM)) if needs[0] else None,
        h,
        of_weight(d, widened(input), LSTM) if needs[2] else None,
        of_weight(d, states, LSTM) if needs[3] else None,
        c,
        *[of_bias(d, LSTM) if needed else None for needed in needs[5:7]],
        projected.T.dot(out) if needs[7] and project is not None else None,
    ]


# ---- GRU

GRU_INPUT = (0, 1, 2)
GRU_HIDDEN = (2, 0, 1)
"""The gates r, z, n; those of the state with n in front, so that r and z are next to both kinds of n."""


def gru_kernel(
    input: Any, hidden: Any, weight_ih: Any, weight_hh: Any, cell: None, bias_ih: Any, bias_hh: Any, weight_hr: None,
    sizes: Sizes, reverse: bool,
) -> Any:  # fmt: skip
    """Returns the outputs and the last state; and, for the reverse rule, the gates and the states before."""
    dtype = input.dtype
    gates = mapped(widened(input), widened(weight_ih), (bias_ih,), GRU_INPUT)
    bias = None if bias_hh is None else by_gate(bias_hh, GRU_HIDDEN)[:, None]
    h, weight = np.array(hidden, gates.dtype), across(widened(weight_hh), GRU_HIDDEN)
    states, inner, out = np.empty((3, *gates.shape[1:]), gates.dtype)
    scratch = np.empty((3, max(sizes), h.shape[1]), gates.dtype)
    for rows, n in steps(sizes, reverse):
        going, now, part = h[:n], gates[:, rows], scratch[:, :n]
        states[rows] = going
        np.matmul(going, weight, part)
        if bias is not None:
            part += bias
        now[:2] += part[1:]
        sigmoid_within(now[:2])
        r, z, candidate = now
        inner[rows] = part[0]
        candidate += np.multiply(r, part[0], part[0])
        np.tanh(candidate, candidate)
        going -= candidate
        going *= z
        going += candidate
        out[rows] = going
    return (narrowed(out, dtype), narrowed(h, dtype)), (gates, states, inner)


def gru_pull(
    g: Any, input: Any, weight_ih: Any, weight_hh: Any, weight_hr: None, sizes: Sizes, reverse: bool, kept: Any,
    needs: Any,
) -> list[Any]:  # fmt: skip
    of_out, of_last = g
    gates, states, inner = kept
    reset, update, candidate = gates
    most = max(sizes)
    h, back = received(of_last, states[:most]), by_gate(widened(weight_hh), GRU_HIDDEN)
    # all but the factor that the steps hand on; d[1:] is of the input's gates, d[:3] of the state's
    d = np.empty((4, *inner.shape), inner.dtype)
    np.subtract(1, gates[:2], d[1:3])
    np.multiply(candidate, candidate, d[3])
    np.subtract(1, d[3], d[3])
    d[3] *= d[2]
    d[1] *= reset
    d[1] *= inner
    d[1] *= d[3]
    d[2] *= update
    d[2] *= states - candidate
    np.multiply(d[3], reset, d[0])
    scratch = np.empty((3, most, h.shape[1]), h.dtype)
    for rows, n in reversed(list(steps(sizes, reverse))):
        going, now, part = h[:n], d[:, rows], scratch[:, :n]
        if of_out is not None:
            going += of_out[rows]
        now *= going
        going *= update[rows]
        np.matmul(now[:3], back, part)
        for gate in part:
            going += gate
    return [
        of_rows(d[1:], by_gate(widened(weight_ih), GRU_INPUT)) if needs[0] else None,
        h,
        of_weight(d[1:], widened(input), GRU_INPUT) if needs[2] else None,
        of_weight(d[:3], states, GRU_HIDDEN) if needs[3] else None,
        None,
        of_bias(d[1:], GRU_INPUT) if needs[5] else None,
        of_bias(d[:3], GRU_HIDDEN) if needs[6] else None,
        None,
    ]


# ---- the primitive


class Cell(NamedTuple):
    """What tells the kinds of recurrent layers apart."""

    gates: int
    step: Callable[..., tuple[Tensor, ...]]
    kernel: Callable[..., Any]
    pull: Callable[..., list[Any]]


CELLS = {
    "RNN_TANH": Cell(1, partial(rnn_step, False), partial(rnn_kernel, False), partial(rnn_pull, False)),
    "RNN_RELU": Cell(1, partial(rnn_step, True), partial(rnn_kernel, True), partial(rnn_pull, True)),
    "LSTM": Cell(4, lstm_step, lstm_kernel, lstm_pull),
    "GRU": Cell(3, gru_step, gru_kernel, gru_pull),
}


def recurrent_kernel(
    xp: Any, input: Any, hidden: Any, weight_ih: Any, weight_hh: Any, cell: Any = None, bias_ih: Any = None,
    bias_hh: Any = None, weight_hr: Any = None, *, mode: str = "LSTM", sizes: Sizes = (), reverse: bool = False,
) -> Any:  # fmt: skip
    """Returns the outputs and the last states; and what the cell's reverse rule reads."""
    arrays = input, hidden, weight_ih, weight_hh, cell, bias_ih, bias_hh, weight_hr
    if len({a.dtype for a in arrays if a is not None}) > 1:
        names = ", ".join(str(dtypes.by_numpy[a.dtype]) for a in arrays if a is not None)
        raise RuntimeError(f"{mode}: input, states and parameters must have the same dtype, but got {names}")
    if mode == "RNN_RELU" and input.dtype.kind == "c":
        raise NotImplementedError("RNN_RELU: complex numbers have no order; use nonlinearity='tanh'")
    return CELLS[mode].kernel(*arrays, sizes, reverse)


def recurrent_vjp(
    F: Any, g: Any, input: Any, hidden: Any, weight_ih: Any, weight_hh: Any, cell: Any, bias_ih: Any, bias_hh: Any,
    weight_hr: Any, mode: str, sizes: Sizes, reverse: bool, kept: Any, needs: Any,
) -> Any:  # fmt: skip
    arrays = input, hidden, weight_ih, weight_hh, cell, bias_ih, bias_hh, weight_hr
    if F is not R:
        return pull_through(loop, g, arrays, (mode, sizes, reverse), needs)
    if kept is None:
        kept = CELLS[mode].kernel(*arrays, sizes, reverse)[1]
    parts = CELLS[mode].pull(g, input, weight_ih, weight_hh, weight_hr, sizes, reverse, kept, needs)
    return [None if part is None else narrowed(part, input.dtype) for part in parts]


def recurrent_jvp(
    F: Any, tangents: Any, input: Any, hidden: Any, weight_ih: Any, weight_hh: Any, cell: Any, bias_ih: Any,
    bias_hh: Any, weight_hr: Any, mode: str, sizes: Sizes, reverse: bool,
) -> Any:  # fmt: skip
    args = input, hidden, weight_ih, weight_hh, cell, bias_ih, bias_hh, weight_hr
    return push_through(loop, tangents, args, (mode, sizes, reverse))


def recurrent_batch(p: Any, values: list[Any], dims: list[Any], *attrs: Any) -> Any:
    return batch_through(loop, values, dims, attrs)


def recurrent_meta(
    input: Any, hidden: Any, weight_ih: Any, weight_hh: Any, cell: Any, bias_ih: Any, bias_hh: Any, weight_hr: Any,
    mode: str, sizes: Sizes, reverse: bool,
) -> list[Meta]:  # fmt: skip
    states = [s for s in (hidden, cell) if s is not None]
    return [Meta((len(input), hidden.shape[1]), input.dtype), *[Meta(s.shape, s.dtype) for s in states]]


recurrent = primitive(
    "recurrent", recurrent_kernel, vjp=recurrent_vjp, jvp=recurrent_jvp, batch=recurrent_batch, outputs=3,
    meta=recurrent_meta,
)  # fmt: skip
"""The outputs of all steps, and the last state of each sequence: ``h``, or ``h`` and ``c``."""
