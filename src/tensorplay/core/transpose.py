"""The forward rule that follows from a reverse one: a vjp is linear in its cotangent, and its transpose is the jvp."""

from __future__ import annotations

from typing import Any

from .namespace import F
from .state import set_recording, state
from .tensor import Tensor, wrap

REVERSE_PASS: list[Any] = []
"""The reverse pass, ``(outputs, inputs, cotangents, create_graph) -> gradients``, entered by the layer that has it."""


def tangent(primitive: Any, tangents: list[Any], args: Any, attrs: tuple[Any, ...]) -> Any:
    """The tangent of ``primitive(*args, *attrs)``: differentiate u -> <vjp(u), tangents> at any u."""
    vector_jacobian = REVERSE_PASS[0]
    before = bool(state.recording)
    set_recording(True)
    try:
        leaves = [wrap(a._data).requires_grad_() if isinstance(a, Tensor) and t is not None else a
                  for a, t in zip(args, tangents, strict=True)]  # fmt: skip
        out = primitive.apply(tuple(leaves), attrs)
        outs = out if isinstance(out, tuple) else (out,)
        us = [wrap(F.zeros_like(o.detach())._data).requires_grad_() if o._node is not None else None for o in outs]
        chosen = [a for a, t in zip(leaves, tangents, strict=True) if t is not None]
        total = vector_jacobian(
            [o for o in outs if o._node is not None], chosen, [u for u in us if u is not None], True
        )
        dot: Any = None
        for g, t in zip(total, (t for t in tangents if t is not None), strict=True):
            if g is not None:
                part = F.sum_to(F.mul(g, F.conj(t)), ())
                dot = part if dot is None else F.add(dot, part)
        found = iter(vector_jacobian([dot], [u for u in us if u is not None], [F.ones_like(dot.detach())], before))
    finally:
        set_recording(before)
    result = [None if u is None else next(found) for u in us]
    return result if isinstance(out, tuple) else result[0]
