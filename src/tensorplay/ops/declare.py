"""Declaring elementwise operators together with their documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.callpath import EMPTY, parameters_of
from ..core.operator import operator
from ..core.primitive import elementwise


def zero(F: Any, g: Any) -> Any:
    """The rule of a function that is constant between its jumps."""
    return F.zeros_like(g)


def refusing(
    kinds: str, message: str | None = None, error: type[Exception] = NotImplementedError, any_operand: bool = False
) -> Callable[[str, list[Any], Any], None]:
    """A check that refuses kinds of dtype: of "biufVc", V being bfloat16.

    It looks at the operands' common dtype, or at each of theirs.
    """

    def check(name: str, operands: list[Any], common: Any) -> None:
        for d in operands if any_operand else (common,):
            if d.numpy.kind in kinds:
                raise error(f'{name}(): {message or f"not implemented for {d}"}')

    return check


TYPES = {"input": "Tensor", "other": "Tensor | complex", "exponent": "Tensor | complex", "out": "Tensor | None"}
MEANINGS = {"input": "Any shape.", "out": "Receives the result."}


def document(
    function: Any, summary: str, example: str, shows: str, returns: str = "", raises: str = "", notes: str = "",
    **meanings: str,
) -> Any:  # fmt: skip
    """Give an elementwise function, or one that is close to it, annotations and a docstring."""
    lines = [summary, "", "Parameters", "----------"]
    annotations = {}
    for name, _, given in parameters_of(function):
        annotations[name] = TYPES.get(name, "Tensor | complex")
        kind = {"input": "Tensor", "out": "Tensor, optional"}.get(name, "Tensor or number")
        meaning = meanings.get(name) or MEANINGS.get(name) or "Broadcast with the input."
        default = "" if given is EMPTY or name == "out" else f", default {given!r}"
        lines += [f"{name} : {kind}{default}", f"    {meaning}"]
    lines += ["", "Returns", "-------", "Tensor"]
    lines += [f"    {returns}"] if returns else []
    if raises:
        lines += ["", "Raises", "------", *raises.split("\n")]
    if notes:
        lines += ["", "Notes", "-----", *notes.split("\n")]
    imports = [f">>> import {name}" for name in ("math",) if f"{name}." in example]
    lines += ["", "Examples", "--------", *imports, ">>> import tensorplay as tp", f">>> {example}", *shows.split("\n")]
    function.__doc__ = "\n".join(lines)
    if not getattr(function, "__annotations__", None):
        function.__annotations__ = {**annotations, "return": "Tensor"}
    return function


def declare(
    name: str,
    kernel: str | Callable[..., Any],
    vjp: Any,
    summary: str,
    example: str,
    shows: str,
    *,
    inplace: bool = True,
    aliases: tuple[str, ...] = (),
    namespace: str = "",
    method: bool = True,
    returns: str = "",
    raises: str = "",
    notes: str = "",
    meanings: dict[str, str] | None = None,
    into: Callable[..., None] | None = None,
    **options: Any,
) -> Any:
    """An elementwise primitive that is public under its own name; ``vjp`` is its rules, or the rule of its only input.

    ``options`` go to :func:`~tensorplay.core.primitive.elementwise`.
    """
    if callable(vjp):
        vjp = {"input": vjp}
    function = elementwise(name, kernel, vjp=vjp, **options)
    document(function, summary, example, shows, returns, raises, notes, **(meanings or {}))
    operator(out=False, inplace=inplace, aliases=aliases, namespace=namespace, method=method, into=into)(
        function)
    return function
