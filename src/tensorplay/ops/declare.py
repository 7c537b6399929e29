"""Declaring elementwise operators together with their documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.callpath import parameters_of
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


TENSOR, OPERAND, FLOAT, OUT = "Tensor", "Tensor | complex", "float | None", "Tensor | None"
TYPES = {"input": TENSOR, "out": OUT, "eps": FLOAT, "nan": FLOAT, "posinf": FLOAT, "neginf": FLOAT}
KINDS = {TENSOR: "Tensor", OPERAND: "Tensor or number", FLOAT: "float, optional", OUT: "Tensor, optional"}
MEANINGS = {"input": "Any shape.", "out": "Receives the result."}


def document(
    function: Any, summary: str, example: str, shows: str, returns: str = "", raises: str = "", notes: str = "",
    numbers: tuple[str, ...] | None = None, **meanings: str,
) -> Any:  # fmt: skip
    """Give an elementwise function, or one that is close to it, annotations and a docstring.

    ``numbers`` names the operands that may be Python numbers; by default all but ``input`` may.
    """
    lines = [summary, "", "Parameters", "----------"]
    annotations = {}
    for name, _, _ in parameters_of(function):
        operand = OPERAND if numbers is None or name in numbers else TENSOR
        kind = annotations[name] = TYPES.get(name, operand)
        meaning = meanings.get(name) or MEANINGS.get(name) or "Broadcast with the input."
        lines += [f"{name} : {KINDS[kind]}", f"    {meaning}"]
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
        function.__annotations__ = {**annotations, "return": TENSOR}
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
    documented: dict[str, str] | None = None,
    **options: Any,
) -> Any:
    """An elementwise primitive that is public under its own name; ``vjp`` is its rules, or the rule of its only input.

    ``options`` go to :func:`~tensorplay.core.primitive.elementwise`.
    """
    if callable(vjp):
        vjp = {"input": vjp}
    function = elementwise(name, kernel, vjp=vjp, **options)
    document(function, summary, example, shows, returns, raises, notes, options.get("numbers"), **(meanings or {}))
    operator(out=False, inplace=inplace, aliases=aliases, namespace=namespace, method=method, into=into,
             documented=documented)(function)  # fmt: skip
    return function
