"""Connectionist temporal classification (Graves et al., 2006).

The labels of a target, with blanks between them, are states; ``alpha`` sums, in logarithms, over the paths that reach
a state at a time, ``beta`` over those that go on from it. Over arrays both are computed at once for all targets. Over
Tensors the loss is composed of operators, and differentiated as any function is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends import MODULES
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import batch_size, expand_to_batch, primitive
from ..core.state import set_recording, state
from ..core.tensor import Tensor, wrap
from ..core.transpose import REVERSE_PASS
from . import arguments as arg
from .kernels import narrowed, widened
from .loss import reduced, reduction_of

NEVER = -1e30
"""The logarithm of what does not happen, where infinities would make the derivatives undefined."""


def states_of(targets: Any, blank: int) -> tuple[Any, Any]:
    """The labels of all states, (N, 2 S + 1), and from which states two steps may be taken at once."""
    n, length = targets.shape
    states = np.full((n, 2 * length + 1), blank)
    states[:, 1::2] = targets
    skips = np.zeros(states.shape, bool)
    skips[:, 2:] = (states[:, 2:] != states[:, :-2]) & (states[:, 2:] != blank)
    return states, skips


def shifted(x: Any, steps: int) -> Any:
    """Rows moved ``steps`` states on (or back, where negative); nothing reaches the states left over."""
    out = np.full(x.shape, -np.inf, x.dtype)
    if steps > 0:
        out[:, steps:] = x[:, :-steps]
    else:
        out[:, :steps] = x[:, -steps:]
    return out


def ctc_kernel(xp: Any, input: Any, targets: Any, input_lengths: Any, target_lengths: Any, *, blank: int) -> Any:
    """Returns the losses; and what the reverse rule starts from."""
    x = widened(input)
    times, n, _ = x.shape
    states, skips = states_of(targets, blank)
    scores = np.take_along_axis(x, np.broadcast_to(states, (times, *states.shape)), 2)
    alpha = np.full(scores.shape, -np.inf, x.dtype)
    rows = np.arange(n)
    if times:
        alpha[0, :, 0] = scores[0, :, 0]
        if states.shape[1] > 1:
            alpha[0, :, 1] = np.where(target_lengths > 0, scores[0, :, 1], -np.inf)
    for t in range(1, times):
        before = alpha[t - 1]
        reached = np.logaddexp(before, shifted(before, 1))
        alpha[t] = np.logaddexp(reached, np.where(skips, shifted(before, 2), -np.inf)) + scores[t]
    ends = alpha[np.maximum(input_lengths - 1, 0), rows] if times else np.full(states.shape, -np.inf, x.dtype)
    last = ends[rows, 2 * target_lengths]
    previous = np.where(target_lengths > 0, ends[rows, np.maximum(2 * target_lengths - 1, 0)], -np.inf)
    losses = -np.logaddexp(last, previous)
    losses = np.where(input_lengths == 0, np.where(target_lengths == 0, 0, np.inf), losses).astype(x.dtype)
    return narrowed(losses, input.dtype), (states, skips, scores, alpha, losses)


def ctc_pull(g: Any, input: Any, input_lengths: Any, target_lengths: Any, kept: Any) -> Any:
    """The reverse rule over arrays: probabilities less the share of the paths, as of normalised inputs."""
    states, skips, scores, alpha, losses = kept
    x = widened(input)
    times, n, _ = x.shape
    beta = np.full(states.shape, -np.inf, x.dtype)
    rows, out = np.arange(n), np.zeros(x.shape, x.dtype)
    onward = np.zeros(states.shape, bool)
    onward[:, :-2] = skips[:, 2:]
    for t in range(times - 1, -1, -1):
        following = np.logaddexp(beta, shifted(beta, -1))
        beta = np.logaddexp(following, np.where(onward, shifted(beta, -2), -np.inf)) + scores[t]
        ending = rows[input_lengths - 1 == t]
        beta[ending] = -np.inf
        at = 2 * target_lengths[ending]
        beta[ending, at] = scores[t, ending, at]
        some = at > 0
        beta[ending[some], at[some] - 1] = scores[t, ending[some], at[some] - 1]
        share = np.exp(alpha[t] + beta - scores[t] + losses[:, None])
        part = np.exp(x[t])
        np.subtract.at(part, (rows[:, None], states), share)
        counts = (t < input_lengths) & (g != 0)  # the loss of a target that does not fit may be infinite
        out[t] = np.where(counts[:, None], part * widened(g)[:, None], 0)
    return narrowed(out, input.dtype)


def ctc_gradient_kernel(
    xp: Any, g: Any, input: Any, targets: Any, input_lengths: Any, target_lengths: Any, *, blank: int
) -> Any:
    """The reverse rule where nothing was kept and nothing is recorded: in compiled programs."""
    kept = ctc_kernel(xp, input, targets, input_lengths, target_lengths, blank=blank)[1]
    return ctc_pull(g, input, input_lengths, target_lengths, kept)


primitive("ctc_gradient", ctc_gradient_kernel)


def ctc_vjp(
    F: Any, g: Any, input: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int, kept: Any
) -> Any:
    if kept is not None:
        return ctc_pull(g, input, input_lengths, target_lengths, kept)
    if not state.recording and isinstance(input, Tensor) and {type(g._data), type(input._data)} <= MODULES.keys():
        return F.ctc_gradient(g, input, targets, input_lengths, target_lengths, blank)
    wrapped = [
        x if isinstance(x, Tensor) else wrap(np.asarray(x)) for x in (g, input, targets, input_lengths, target_lengths)
    ]
    out = composed_gradient(wrapped[0], wrapped[1], wrapped[2], wrapped[3], wrapped[4], blank)
    return out if isinstance(input, Tensor) else out._data


def composed_gradient(
    g: Tensor, input: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int
) -> Tensor:
    """The rule over Tensors: the composed loss is differentiated, differentiably."""
    before = bool(state.recording)
    set_recording(True)
    try:
        x = wrap(input._data).requires_grad_() if input._node is None else F.mul(input, 1.0)
        losses = composed(x, targets, input_lengths, target_lengths, blank)
        untracked = all([v._node is None and type(v._data) is np.ndarray for v in (g, input)])
        (of_x,) = REVERSE_PASS[0]([losses], [x], [g], before and not untracked)
    finally:
        set_recording(before)
    times, n, _ = input._data.shape
    inside = F.within_lengths(input_lengths, times, input._data.dtype)
    return of_x + F.exp(input) * F.reshape(inside * F.reshape(g, (1, n)), (times, n, 1))


def composed(x: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int) -> Tensor:
    """The losses, by operators."""
    times, n, classes = x._data.shape
    dtype = x._data.dtype
    labels, skips, ends = F.ctc_states(targets, target_lengths, blank, classes, dtype)
    inside = F.within_lengths(input_lengths, times, dtype)
    scores = F.permute(F.matmul(F.permute(x, (-2, -3, -1)), F.mT(labels)), (-2, -3, -1))
    alpha = F.slice(scores, (0,)) + F.ctc_start(ends)
    for t in range(1, times):
        one = F.pad(alpha, ((1, -1),), NEVER)
        two = F.pad(alpha, ((2, -2),), NEVER) + skips
        moved = F.logaddexp(F.logaddexp(alpha, one), two) + F.slice(scores, (t,))
        alpha = F.where(F.reshape(F.slice(inside, (t,)), (n, 1)) > 0, moved, alpha)
    return -F.logsumexp(alpha + ends, (-1,), False)


def ctc_states_kernel(xp: Any, targets: Any, target_lengths: Any, *, blank: int, classes: int, dtype: Any) -> Any:
    """Labels of the states as one-hot vectors; logarithms of where two steps may be taken and where paths may end."""
    *lead, n, length = targets.shape
    states, skips = states_of(targets.reshape(-1, length), blank)
    at = np.arange(2 * length + 1)
    last = 2 * target_lengths.reshape(-1, 1)
    ends = np.where((at == last) | ((at == last - 1) & (at >= 0)), 0, NEVER)
    parts = (states[..., None] == np.arange(classes), np.where(skips, 0, NEVER), ends)
    return tuple(p.astype(dtype).reshape(*lead, n, *p.shape[1:]) for p in parts)


def ctc_start_kernel(xp: Any, input: Any) -> Any:
    """Logarithms of where paths may begin: in the first two states."""
    out = np.full(input.shape, NEVER, input.dtype)
    out[..., :2] = 0
    if input.shape[-1] > 1:
        out[..., 1] = np.where(input[..., 0] == 0, NEVER, 0)  # an empty target ends in the first state
    return out


primitive("ctc_states", ctc_states_kernel, batch="same", outputs=3)
primitive("ctc_start", ctc_start_kernel, batch="same")


def within_lengths_kernel(xp: Any, input: Any, *, times: int, dtype: Any) -> Any:
    return (np.arange(times)[:, None] < input[..., None, :]).astype(dtype)


primitive("within_lengths", within_lengths_kernel, batch="same")


def ctc_jvp(F: Any, t: Any, input: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int) -> Any:
    ones = wrap(np.ones(targets._data.shape[0], input._data.dtype))
    gradient = composed_gradient(ones, input, targets, input_lengths, target_lengths, blank)
    return F.sum(gradient * t, (-3, -1), False)


def ctc_batch(p: Any, values: list[Any], dims: list[Any], blank: int) -> Any:
    size = batch_size(values, dims)
    x, *rest = (v if d == 0 else expand_to_batch(v, size) for v, d in zip(values, dims, strict=True))
    _, times, n, classes = x._data.shape
    x = F.reshape(F.permute(x, (-3, -4, -2, -1)), (times, size * n, classes))
    rest = [F.reshape(v, (size * n, *v._data.shape[2:])) for v in rest]
    return F.reshape(F.ctc_loss(x, *rest, blank), (size, n))


primitive("ctc_loss", ctc_kernel, vjp={"input": ctc_vjp}, jvp={"input": ctc_jvp}, batch=ctc_batch)


def lengths_of(value: Any, n: int, name: str) -> Tensor:
    """Lengths as an int64 tensor of shape (n,)."""
    if isinstance(value, Tensor):
        if value._data.dtype.kind not in "iu":
            raise RuntimeError(f"ctc_loss(): {name} must be integral, got {value.dtype}")
        lengths = F.clone(value) if value._data.dtype == np.int64 else F.cast(value, np.dtype(np.int64))
        lengths = lengths if lengths._data.ndim else F.reshape(lengths, (1,))
    else:
        lengths = wrap(np.asarray(value, np.int64).reshape(-1))
    if lengths._data.shape != (n,):
        raise RuntimeError(f"ctc_loss(): {name} must be of size batch_size {n}, got {list(lengths.shape)}")
    return lengths


def read(t: Tensor, what: str) -> Any:
    if type(t._data) is not np.ndarray:
        raise RuntimeError(
            f"ctc_loss(): {what} cannot be read inside vmap; close over them, or pad the targets to (N, S)"
        )
    return t._data


@operator(method=False, out=False)
@operator(namespace="nn.functional", method=False, out=False)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Negative log likelihood of label sequences, over all their alignments with the inputs (Graves et al., 2006).

    Parameters
    ----------
    log_probs : Tensor
        Log-probabilities, of shape (T, N, C) or (T, C); the gradient takes them to be those of ``log_softmax``.
    targets : Tensor
        Labels, of shape (N, S), or one after the other.
    input_lengths, target_lengths : Tensor or tuple of int
        Lengths, of shape (N,) or ().
    blank : int
        The label between labels.
    reduction : {"mean", "sum", "none"}
        "mean" divides each loss by its target's length first.
    zero_infinity : bool
        Take targets that do not fit their input as losses of 0.

    Examples
    --------
    >>> import tensorplay as tp
    >>> logp = tp.full((2, 1, 2), 0.5).log()
    >>> tp.nn.functional.ctc_loss(logp, tp.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """
    if isinstance(reduction, int):
        reduction = ("none", "mean", "sum")[reduction]
    reduction = reduction_of(reduction, None, None, "ctc_loss")
    shape = arg.tensor(log_probs, "ctc_loss", "log_probs")._data.shape
    if len(shape) not in (2, 3):
        raise RuntimeError(f"ctc_loss(): log_probs must have 2 or 3 dimensions, (T, N, C) or (T, C), got {list(shape)}")
    if log_probs._data.dtype.kind not in "fV":
        raise NotImplementedError(f'ctc_loss(): "ctc_loss" not implemented for {log_probs.dtype}')
    single = len(shape) == 2
    x = F.reshape(log_probs, (shape[0], 1, shape[1])) if single else log_probs
    times, n, classes = x._data.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss(): blank must be in label range [0, {classes}), got {blank}")
    inputs, wanted = lengths_of(input_lengths, n, "input_lengths"), lengths_of(target_lengths, n, "target_lengths")
    labels = arg.tensor(targets, "ctc_loss", "targets", 2)
    labels = labels if labels._data.dtype == np.int64 else F.cast(labels, np.dtype(np.int64))
    if type(inputs._data) is np.ndarray and inputs._data.size and not 0 <= inputs._data.max() <= times:
        raise RuntimeError(
            f"ctc_loss(): Expected input_lengths to have value at most {times}, but got value {inputs._data.max()}"
        )
    if labels._data.ndim == 1:
        counts, flat = read(wanted, "target_lengths"), read(labels, "targets")
        if single:
            labels = F.reshape(labels, (1, -1))
        else:
            if counts.sum() != len(flat):
                raise RuntimeError(
                    f"ctc_loss(): Expected targets of length {counts.sum()}, the sum of target_lengths, got {len(flat)}"
                )
            padded = np.full((n, int(counts.max(initial=0))), blank)
            for row, part in zip(padded, np.split(flat, np.cumsum(counts)[:-1]), strict=True):
                row[: len(part)] = part
            labels = wrap(padded)
    if labels._data.shape[0] != n:
        raise RuntimeError(f"ctc_loss(): Expected targets to have {n} rows, got {list(labels.shape)}")
    losses = F.ctc_loss(x, labels, inputs, wanted, blank)
    if zero_infinity:
        losses = F.where(F.eq(losses, float("inf")), 0.0, losses)
    if reduction == "mean":
        losses = losses / F.where(wanted > 1, F.cast(wanted, losses._data.dtype), 1.0)
    return F.reshape(losses, ()) if single and reduction == "none" else reduced(losses, reduction)
