"""Limited-memory BFGS with a line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..autograd.grad_mode import enable_grad
from ..core.tensor import Tensor, wrap
from ..core.versions import note_write
from .optimizer import Array, Closure, Optimizer, Params, array_of, checked


class Point(NamedTuple):
    """A point on the line of a search."""

    t: float
    loss: float
    gradient: Array
    slope: float


class LBFGS(Optimizer):
    r"""Limited-memory BFGS (Nocedal and Wright, 2006, algorithms 7.4 and 7.5).

    A step runs up to ``max_iter`` iterations, each along :math:`-H g`, where :math:`H` approximates the inverse of the
    Hessian from the last changes of gradient and parameters. All parameters form one group.

    Parameters
    ----------
    params : iterable
        The tensors to optimise.
    lr : float or Tensor
        Length of the step, or the first one that the line search tries.
    max_iter : int
        Iterations per step.
    max_eval : int, optional
        Evaluations of the closure per step; ``max_iter * 5 // 4`` by default.
    tolerance_grad, tolerance_change : float
        Stop below this largest element of the gradient, or change of loss or parameters.
    history_size : int
        How many changes are kept.
    line_search_fn : {"strong_wolfe"}, optional
        Search the line for a point with the strong Wolfe conditions; without it the step is ``lr``.

    Raises
    ------
    ValueError
        If there are several groups, or ``lr`` is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> w = tp.tensor([-1.0, 2.0], dtype=tp.float64, requires_grad=True)
    >>> opt = tp.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     opt.zero_grad()
    ...     loss = (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
    ...     loss.backward()
    ...     return loss
    >>> for _ in range(3):
    ...     loss = opt.step(closure)
    >>> w
    tensor([1.0000, 1.0000], dtype=tensorplay.float64, requires_grad=True)
    """

    def __init__(
        self, params: Params, lr: float | Tensor = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        checked("learning rate", lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad,
                                      tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn))  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Closure | None = None) -> Any:
        """Run up to ``max_iter`` iterations.

        Parameters
        ----------
        closure : callable
            Evaluates the model again, with its gradients, and returns the loss.

        Returns
        -------
        The loss before the step.

        Raises
        ------
        TypeError
            If there is no closure.
        RuntimeError
            If ``line_search_fn`` is unknown.
        """
        if closure is None:
            raise TypeError("LBFGS.step: it evaluates the model several times and needs a closure, got None")
        group = self.param_groups[0]
        params = group["params"]
        lr, max_iter, search = float(group["lr"]), group["max_iter"], group["line_search_fn"]
        if search not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluate() -> tuple[Any, Array]:
            with enable_grad():
                loss = closure()
            return loss, flat([p.grad if p.grad is not None else wrap(np.zeros_like(p._data)) for p in params])

        out, g = evaluate()
        loss, evaluations = float(out), 1
        state["func_evals"] += 1
        if largest(g) <= group["tolerance_grad"]:
            return out
        d, t, previous_g, previous_loss = (state.get(k) for k in ("d", "t", "prev_flat_grad", "prev_loss"))
        d, previous_g = (None if a is None else a._data for a in (d, previous_g))
        changes_g, changes_x, inverses = ([a._data for a in state.get(k, [])] for k in ("old_dirs", "old_stps", "ro"))
        scale = float(state.get("H_diag", 1))
        for n in range(1, max_iter + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1 or d is None:
                d = -g
            else:
                y, s = g - previous_g, d * t
                curvature = float(y @ s)
                if curvature > 1e-10:
                    if len(changes_g) == group["history_size"]:
                        for history in (changes_g, changes_x, inverses):
                            history.pop(0)
                    changes_g.append(y)
                    changes_x.append(s)
                    inverses.append(np.array(1 / curvature, g.dtype))
                    scale = curvature / float(y @ y)
                d = two_loops(g, changes_g, changes_x, inverses, scale)
            previous_g, previous_loss = g, loss
            t = min(1.0, 1.0 / float(np.abs(g).sum())) * lr if state["n_iter"] == 1 else lr
            slope = float(g @ d)
            if slope > -group["tolerance_change"]:
                break
            used = 0
            if search is not None:
                start = flat(params)

                def along(t: float, d: Array = d, start: Array = start) -> Point:
                    put(params, start + t * d)
                    loss, g = evaluate()
                    return Point(t, float(loss), g, float(g @ d))

                found, used = strong_wolfe(along, t, largest(d), Point(0.0, loss, g, slope))
                t, loss, g = found[:3]
                put(params, start + t * d)
            else:
                put(params, flat(params) + t * d)
                if n != max_iter:
                    value, g = evaluate()
                    loss, used = float(value), 1
            evaluations += used
            state["func_evals"] += used
            if (
                evaluations >= group["max_eval"]
                or largest(g) <= group["tolerance_grad"]
                or largest(d) * abs(t) <= group["tolerance_change"]
                or abs(loss - previous_loss) < group["tolerance_change"]
            ):
                break
        state.update(
            d=wrap(d), t=t, old_dirs=[wrap(a) for a in changes_g], old_stps=[wrap(a) for a in changes_x],
            ro=[wrap(a) for a in inverses], H_diag=wrap(np.array(scale, g.dtype)), prev_flat_grad=wrap(previous_g),
            prev_loss=previous_loss,
        )  # fmt: skip
        return out


def two_loops(g: Array, changes_g: list[Array], changes_x: list[Array], inverses: list[Array], scale: float) -> Array:
    """Minus the gradient times the approximate inverse Hessian (Nocedal and Wright, algorithm 7.4)."""
    q, weights = -g, []
    for y, s, inverse in zip(reversed(changes_g), reversed(changes_x), reversed(inverses)):
        weights.append(float(s @ q) * float(inverse))
        q -= y * weights[-1]
    q *= scale
    for y, s, inverse, weight in zip(changes_g, changes_x, inverses, reversed(weights)):
        q += s * (weight - float(y @ q) * float(inverse))
    return q


def strong_wolfe(
    along: Callable[[float], Point], t: float, length: float, start: Point, *, c1: float = 1e-4, c2: float = 0.9,
    tolerance: float = 1e-9, most: int = 25,
) -> tuple[Point, int]:  # fmt: skip
    """A point with sufficient decrease and a flat slope (Nocedal and Wright, algorithms 3.5 and 3.6).

    Safeguards are those of Schmidt's minFunc: extrapolation by a factor of 1.01 to 10, and points of a bracket that
    stay a tenth away from its ends.
    """

    def too_high(p: Point) -> bool:
        return p.loss > start.loss + c1 * p.t * start.slope

    def flat_enough(p: Point) -> bool:
        return abs(p.slope) <= -c2 * start.slope

    before, new = start, along(t)
    tried = 1
    while tried <= most:  # until an interval holds such a point
        if too_high(new) or (tried > 2 and new.loss >= before.loss):
            break
        if flat_enough(new):
            return new, tried
        if new.slope >= 0:
            break
        before, new = new, along(cubic_minimum(before, new, new.t + 0.01 * (new.t - before.t), new.t * 10))
        tried += 1
    else:
        before = start
    low, high = (before, new) if before.loss <= new.loss else (new, before)
    stalled = False
    while tried <= most:  # shrink the interval
        left, right = sorted((low.t, high.t))
        if (right - left) * length < tolerance:
            break
        t = cubic_minimum(low, high, left, right) if low.t <= high.t else cubic_minimum(high, low, left, right)
        margin = 0.1 * (right - left)
        near = min(right - t, t - left) < margin
        if near and (stalled or t >= right or t <= left):
            t = right - margin if abs(t - right) < abs(t - left) else left + margin
            near = False
        stalled = near
        new = along(t)
        tried += 1
        if too_high(new) or new.loss >= low.loss:
            low, high = (low, new) if low.loss <= new.loss else (new, low)
        elif flat_enough(new):
            return new, tried
        else:
            if new.slope * (high.t - low.t) >= 0:
                high = low
            low = new
    return low, tried


def cubic_minimum(a: Point, b: Point, least: float, most: float) -> float:
    """Where the cubic through two points and their slopes is least, within bounds (Nocedal and Wright, 3.59)."""
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2
    if a.t > b.t:
        a, b = b, a
    d2 = math.sqrt(square)
    denominator = b.slope - a.slope + 2 * d2
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / denominator) if denominator else math.nan
    return min(max(t, least), most) if t == t else (least + most) / 2


def largest(a: Array) -> float:
    """The largest absolute value."""
    return float(np.abs(a).max(initial=0.0))


def flat(tensors: list[Tensor]) -> Array:
    """All elements in one vector; complex ones as pairs."""
    return np.concatenate([real(array_of(t, "parameter or gradient")) for t in tensors])


def real(a: Array) -> Array:
    """The elements as a vector of real numbers."""
    a = a.reshape(-1)
    return np.ascontiguousarray(a).view(f"f{a.itemsize // 2}") if a.dtype.kind == "c" else a


def put(params: list[Tensor], values: Array) -> None:
    """Write a vector into the parameters."""
    i = 0
    for p in params:
        x = p._data
        n = x.size * (2 if x.dtype.kind == "c" else 1)
        part = values[i : i + n]
        x[...] = (part.copy().view(x.dtype) if x.dtype.kind == "c" else part).reshape(x.shape)
        note_write(x)
        i += n
