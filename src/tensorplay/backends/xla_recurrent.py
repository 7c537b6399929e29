"""Recurrent layers for XLA: a loop that is compiled once, however many steps there are."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from .xla_kernels import kernel, wide


def stepped(mode: str, x: Any, state: Any, weight: Any, bias: Any, project: Any) -> tuple[Any, ...]:
    """One step, from what the input gives and the state before to the state after."""
    h = state[0]
    inner = h @ weight.T if bias is None else h @ weight.T + bias
    if mode == "LSTM":
        i, f, g, o = jnp.split(x + inner, 4, -1)
        c = lax.logistic(f) * state[1] + lax.logistic(i) * jnp.tanh(g)
        h = lax.logistic(o) * jnp.tanh(c)
        return (h if project is None else h @ project.T), c
    if mode == "GRU":
        (xr, xz, xn), (hr, hz, hn) = jnp.split(x, 3, -1), jnp.split(inner, 3, -1)
        n = jnp.tanh(xn + lax.logistic(xr + hr) * hn)
        return (n + lax.logistic(xz + hz) * (h - n),)
    return (jnp.maximum(x + inner, 0) if mode == "RNN_RELU" else jnp.tanh(x + inner),)


@kernel("recurrent")
def recurrent(
    x: Any, hidden: Any, weight_ih: Any, weight_hh: Any, cell: Any = None, bias_ih: Any = None, bias_hh: Any = None,
    weight_hr: Any = None, mode: str = "LSTM", sizes: Any = (), reverse: bool = False,
) -> Any:  # fmt: skip
    if len(set(sizes)) != 1 or x.dtype.kind == "c":  # sequences of several lengths
        raise NotImplementedError
    dtype = x.dtype
    state = tuple([wide(jnp.asarray(s)) for s in (hidden, cell) if s is not None])
    rest = [None if w is None else wide(w) for w in (weight_hh, bias_hh, weight_hr)]
    inputs = wide(x) @ wide(weight_ih).T
    if bias_ih is not None:
        inputs = inputs + wide(bias_ih)

    def step(state: Any, x: Any) -> Any:
        state = stepped(mode, x, state, *rest)
        return state, state[0]

    state, out = lax.scan(step, state, inputs.reshape(len(sizes), sizes[0], -1), reverse=reverse)
    return out.reshape(-1, out.shape[-1]).astype(dtype), *[s.astype(dtype) for s in state]
