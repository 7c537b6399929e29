"""Forward mode: values and tangents through a function in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.node import AccumulateGrad, Node
from ..core.primitive import PRIMITIVES, Transposed
from ..core.tensor import Tensor
from ..core.transforms import enter, leave, make_dual, matching, unpack_dual
from .engine import collect


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
    """How each differentiable primitive goes forward: by its "rule", or "transposed" from the reverse rule."""
    return {
        name: "rule" if has_forward_rule(name) else "transposed" for name, p in PRIMITIVES.items() if p.differentiable
    }


def dependent_inputs(
    fn: Callable[[list[Tensor]], Sequence[Any]], primals: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[list[Any], list[Tensor | None]]:
    """:func:`push_forward`, where every input must reach an output and every output be reached: the tape tells.

    Raises
    ------
    RuntimeError
        If an output depends on no input, or an input reaches no output.
    """
    ends: list[Node] = []
    reached: set[Node] = set()

    def watched(duals: list[Tensor]) -> Sequence[Any]:
        for dual in duals:
            if dual._node is None:
                dual._node = AccumulateGrad(dual)
            ends.append(dual._node)
        oldest = min(end.order for end in ends)
        outs = fn(duals)
        for i, out in enumerate(outs):
            below = collect([out._node], oldest) if out._node is not None else []
            found = {end for end in ends if end in set(below)}
            if not found:
                raise RuntimeError(
                    f"Output {i} of the user-provided function does not require gradients. The outputs must be "
                    "computed in a differentiable manner from the input when running in strict mode."
                )
            reached.update(found)
        for i, end in enumerate(ends):
            if end not in reached:
                raise RuntimeError(
                    f"The output of the user-provided function is independent of input {i}. This is not allowed "
                    "in strict mode."
                )
        return outs

    return push_forward(watched, primals, tangents)
