"""Forward mode: values and tangents through a function in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.primitive import PRIMITIVES, Transposed
from ..core.tensor import Tensor
from ..core.transforms import enter, leave, make_dual, matching, unpack_dual


def push_forward(
    fn: Callable[[list[Tensor]], Sequence[Any]], primals: Sequence[Tensor], tangents: Sequence[Tensor | None]
) -> tuple[list[Any], list[Tensor | None]]:
    """Values of a function of a list of tensors, and their tangents.

    Parameters
    ----------
    fn
        Returns a flat sequence; what is no tensor in it passes through.
    primals, tangents
        Of equal shapes; None stands for a zero tangent.

    Returns
    -------
    tuple
        The values, and for each its tangent or None where it does not depend on the primals.
    """
    level = enter()
    try:
        duals = [x if t is None else make_dual(x, matching(t, x), level) for x, t in zip(primals, tangents)]
        values, directions = [], []
        for out in fn(duals):
            value, direction = unpack_dual(out, level) if isinstance(out, Tensor) else (out, None)
            values.append(value)
            directions.append(direction)
        return values, directions
    finally:
        leave(level)


def has_forward_rule(name: str) -> bool:
    """Whether a primitive has a forward rule of its own, rather than the transpose of its reverse rule or none."""
    return PRIMITIVES[name].push is not None and not isinstance(PRIMITIVES[name].forward_rules(), Transposed)


def forward_rules() -> dict[str, str]:
    """How each differentiable primitive goes forward: "rule", or "transposed" where it is derived from the reverse rule."""
    return {name: "rule" if has_forward_rule(name) else "transposed" for name, p in PRIMITIVES.items() if p.differentiable}
