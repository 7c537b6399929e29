"""Rules that follow from a definition in terms of other operators.

A primitive whose kernel fuses a long computation has its reverse rule over arrays written out. Wherever its rules are
asked for Tensors (``create_graph``, forward mode, ``vmap``), the computation as it is defined takes its place: it is
differentiable to any order, and right under every carrier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .state import set_recording, state
from .tensor import Tensor
from .transforms import Alias, enter, expanded, leave, make_batched, make_dual, unpack_batched, unpack_dual
from .transpose import REVERSE_PASS

Definition = Callable[..., tuple[Tensor, ...]]


def pull_through(
    definition: Definition, g: Sequence[Tensor | None], args: Sequence[Tensor | None], attrs: tuple[Any, ...],
    needs: Sequence[bool],
) -> list[Tensor | None]:  # fmt: skip
    """Cotangents of the arguments that are needed, from those of the outputs."""
    create_graph = bool(state.recording)
    set_recording(True)
    try:
        stand_ins = list(args)  # the pass ends at these, although one argument may have been computed from another
        for i, a in enumerate(args):
            if a is not None and needs[i]:
                stand_ins[i] = a._alias(Alias(a._node))  # type: ignore[arg-type]
        ends = [a for a, needed in zip(stand_ins, needs, strict=True) if a is not None and needed]
        outputs = definition(*stand_ins, *attrs)
        asked = [(out, part) for out, part in zip(outputs, g, strict=True) if part is not None]
        found = iter(REVERSE_PASS[0]([out for out, _ in asked], ends, [part for _, part in asked], create_graph))
    finally:
        set_recording(create_graph)
    return [next(found) if a is not None and needed else None for a, needed in zip(args, needs, strict=True)]


def push_through(
    definition: Definition, tangents: Sequence[Tensor | None], args: Sequence[Tensor | None], attrs: tuple[Any, ...]
) -> list[Tensor | None]:
    """Tangents of the outputs, from those of the arguments."""
    level = enter()
    try:
        duals = [a if t is None else make_dual(a, t, level) for a, t in zip(args, tangents, strict=True)]  # type: ignore[arg-type]
        return [unpack_dual(out, level)[1] for out in definition(*duals, *attrs)]
    finally:
        leave(level)


def batch_through(
    definition: Definition, values: Sequence[Tensor | None], dims: Sequence[int | None], attrs: tuple[Any, ...]
) -> list[Tensor]:
    """The outputs for each example, where values have the batch dimension in front if ``dims`` says 0."""
    level = enter()
    try:
        size = next(v._data.shape[0] for v, dim in zip(values, dims, strict=True) if v is not None and dim == 0)
        batched = [make_batched(v, 0, level) if v is not None and dim == 0 else v
                   for v, dim in zip(values, dims, strict=True)]  # fmt: skip
        found = []
        for out in definition(*batched, *attrs):
            value = unpack_batched(out, level)
            found.append(expanded(out, size) if value is None else value)
        return found
    finally:
        leave(level)
