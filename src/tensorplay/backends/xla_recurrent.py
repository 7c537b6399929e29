"""Recurrent layers, and what else goes through time, for XLA: a loop is compiled once, however many steps there are."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
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


# ---- connectionist temporal classification; see ops/ctc.py

NEVER = -1e30
"""The logarithm of what does not happen, where infinities would make the derivatives undefined."""


def ctc(x: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int) -> Any:
    """The losses; ``-NEVER`` about where a target does not fit."""
    if not len(x):
        raise NotImplementedError
    states = jnp.full((len(targets), 2 * targets.shape[1] + 1), blank).at[:, 1::2].set(targets)
    skips = jnp.pad((states[:, 2:] != states[:, :-2]) & (states[:, 2:] != blank), ((0, 0), (2, 0)))[
        :, : states.shape[1]
    ]
    scores = jnp.take_along_axis(x, jnp.broadcast_to(states, (len(x), *states.shape)), 2)
    place, last = np.arange(states.shape[1]), 2 * target_lengths[:, None]
    ends = (place == last) | ((place == last - 1) & (place >= 0))
    alpha = jnp.where((place == 0) | ((place == 1) & (last > 0)), scores[0], NEVER)

    def step(alpha: Any, now: Any) -> Any:
        t, score = now
        one, two = (jnp.pad(alpha, ((0, 0), (k, 0)), constant_values=NEVER)[:, : len(place)] for k in (1, 2))
        moved = jnp.logaddexp(jnp.logaddexp(alpha, one), jnp.where(skips, two, NEVER)) + score
        return jnp.where((t < input_lengths)[:, None], moved, alpha), None

    alpha, _ = lax.scan(step, alpha, (np.arange(1, len(x)), scores[1:]))
    losses = -jax.nn.logsumexp(jnp.where(ends, alpha, NEVER), axis=-1)
    return jnp.where(input_lengths == 0, jnp.where(target_lengths == 0, 0, -NEVER), losses)


@kernel("ctc_loss")
def ctc_loss(x: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int) -> Any:
    losses = ctc(wide(x), targets, input_lengths, target_lengths, blank)
    return jnp.where(losses > -NEVER / 2, jnp.inf, losses).astype(x.dtype)


@kernel("ctc_gradient")
def ctc_gradient(g: Any, x: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int) -> Any:
    """Probabilities less the share of the paths, as of normalised inputs."""
    dtype, x, g = x.dtype, wide(x), wide(g)
    losses, pull = jax.vjp(lambda x: ctc(x, targets, input_lengths, target_lengths, blank), x)
    shares = pull(jnp.where(losses > -NEVER / 2, jnp.nan, 1.0).astype(losses.dtype))[0]
    counts = (np.arange(len(x))[:, None] < input_lengths) & (g != 0)
    return jnp.where(counts[..., None], (jnp.exp(x) + shares) * g[:, None], 0).astype(dtype)
