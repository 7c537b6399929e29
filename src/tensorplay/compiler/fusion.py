"""Where XLA must not fuse: its loops compute cheap operands anew wherever they are read.

That is quick, but not in a long recurrence whose values are read more than once, as the gradients of a loop in Python
are: there, every loop computes all of the steps before it. Such a chain is cut by calls that XLA keeps as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.core import Literal, jaxpr_as_fun

CHEAP = frozenset(
    "abs add and broadcast_in_dim ceil convert_element_type copy eq floor ge gt imag integer_pow le lt max min mul ne "
    "neg not or real reshape select_n sign slice square squeeze sub transpose xor".split()
)
"""What XLA fuses into each of its readers."""

LONG = 24
"""How many operations there may be in a loop, before what is read twice is kept in memory."""

AGAIN = 3
"""How often operations may be computed, on average, before chains are cut."""


def cuts(jaxpr: Any) -> set[int]:
    """The equations whose results XLA must keep."""
    number = {v: i for i, eqn in enumerate(jaxpr.eqns) for v in eqn.outvars}
    readers: dict[int, int] = {}
    for v in [v for eqn in jaxpr.eqns for v in eqn.invars] + list(jaxpr.outvars):
        if not isinstance(v, Literal) and v in number:
            readers[number[v]] = readers.get(number[v], 0) + 1
    cheap = [eqn.primitive.name in CHEAP for eqn in jaxpr.eqns]

    def walk(limit: float) -> tuple[set[int], int]:
        """Those that are too long, and how many operations all loops have together."""
        found: set[int] = set()
        behind: dict[int, int] = {}  # the operations that a reader computes, as bits
        total = 0
        for i, eqn in enumerate(jaxpr.eqns):
            operations = 1 << i if cheap[i] else 0
            for v in eqn.invars:
                if not isinstance(v, Literal):
                    operations |= behind.get(number.get(v, -1), 0)
            if not cheap[i]:
                total += operations.bit_count()
            elif readers.get(i, 0) > 1 and operations.bit_count() >= limit:
                found.add(i)
                total += operations.bit_count()
            else:
                behind[i] = operations
        results = {number[v] for v in jaxpr.outvars if not isinstance(v, Literal) and v in number}
        return found, total + sum(behind.get(i, 0).bit_count() for i in results)

    if sum(cheap) < LONG or walk(float("inf"))[1] <= AGAIN * sum(cheap):
        return set()
    return walk(LONG)[0]


def function_of(closed: Any) -> Callable[..., Any]:
    """A closed program (a jaxpr) as a function for :func:`jax.jit`."""
    jaxpr = closed.jaxpr
    kept = cuts(jaxpr)
    if not kept:
        return jaxpr_as_fun(closed)

    def run(*arrays: Any) -> list[Any]:
        values: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *arrays]))

        def read(v: Any) -> Any:
            return v.val if isinstance(v, Literal) else values[v]

        for i, eqn in enumerate(jaxpr.eqns):
            bound = eqn.primitive.get_bind_params(eqn.params)
            functions, params = bound if isinstance(bound, tuple) else ((), bound)  # by the version of JAX
            operands = [*functions, *map(read, eqn.invars)]
            if i in kept:
                with set_xla_metadata(inlineable="false"):
                    out = jax.jit(eqn.primitive.bind, static_argnames=tuple(params))(*operands, **params)
            else:
                out = eqn.primitive.bind(*operands, **params)
            values.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
        return [read(v) for v in jaxpr.outvars]

    return run
