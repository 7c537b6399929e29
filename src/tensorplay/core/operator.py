"""Public operators: from one declaration the function, the method, the in-place twin and the ``out=`` form.

``@operator(...)`` registers a function under its name; the name in the operator file stays the plain function, which is
also the method. ``OPERATORS`` holds what the public namespaces export, and what stubs and reference pages derive from.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import dtype as dtypes
from .carrier import Meta
from .inplace import check_writable, old_value, write
from .promotion import can_cast
from .state import state
from .tensor import Tensor


class Operator(NamedTuple):
    """One public operator."""

    name: str
    namespace: str
    function: Callable[..., Any]  # the public function, with out= where it takes one
    plain: Callable[..., Any]
    method: str | None
    inplace: str | None


OPERATORS: dict[str, dict[str, Operator]] = {}
"""By namespace ("" is the package itself, "linalg", "nn.functional", ...), then by name."""


def operator(
    *,
    name: str | None = None,
    namespace: str = "",
    method: bool | str = True,
    inplace: bool | str = False,
    out: bool = True,
    function: bool = True,
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a public operator.

    Parameters
    ----------
    name
        Public name; the function's own by default.
    namespace
        Where it is exported: "" for the package, else such as "linalg" or "nn.functional".
    method
        Whether it is a method of Tensor (True: under its name; a string: under that name).
    inplace
        Whether it has an in-place twin, ``name_`` (or the given name).
    out
        Whether the function takes ``out=``.
    function
        Whether it is exported as a function at all.
    aliases
        Further names, with twins of their own.
    """

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        own = name or fn.__name__
        for public in (own, *aliases):
            wrapped = with_out(fn, public) if out and "out" not in inspect.signature(fn).parameters else fn
            as_method = public if method is True else method or None
            twin = (public + "_" if inplace is True else inplace) or None
            if as_method:
                setattr(Tensor, as_method, fn)
            if twin:
                twin_function = inplace_twin(fn, twin)
                setattr(Tensor, twin, twin_function)
            entry = Operator(public, namespace, wrapped, fn, as_method, twin)
            if function:
                OPERATORS.setdefault(namespace, {})[public] = entry
                if twin and namespace in ("", "nn.functional"):
                    OPERATORS[namespace][twin] = Operator(twin, namespace, twin_function, twin_function, None, None)
        return fn

    return register


def inplace_twin(fn: Callable[..., Any], name: str) -> Callable[..., Any]:
    """``name_``: the operator on an alias of the old value, written back."""

    @functools.wraps(fn)
    def twin(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        check_writable(input, name)
        old = old_value(input)
        args = tuple(old if a is input else a for a in args)
        for key, value in kwargs.items():
            if value is input:
                kwargs[key] = old
        value = fn(old, *args, **kwargs)
        check_cast(value, input, name)
        if value._node is not None and sys.getrefcount(old) > 2 + sum(a is old for a in args) and type(old._data) is np.ndarray:
            old._data, old._stamp = old._data.copy(), None  # a node keeps the old value, which is about to be overwritten
        return write(input, value, name)

    twin.__name__ = twin.__qualname__ = name
    twin.__doc__ = f"In-place form of :func:`{fn.__name__}`: writes the result into ``input`` and returns it."
    signature = inspect.signature(fn)
    twin.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p for p in signature.parameters.values() if p.name != "out"])  # fmt: skip
    return twin


def check_cast(value: Tensor, target: Tensor, name: str) -> None:
    """Refuse to write a dtype of a higher category into a tensor."""
    have, want = value._data.dtype, target._data.dtype
    if have is not want and not can_cast(dtypes.by_numpy[have], dtypes.by_numpy[want]):
        raise RuntimeError(f"{name}: result type {value.dtype} can't be cast to the desired output type {target.dtype}")


def with_out(fn: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function with a keyword ``out``: a tensor (or tuple of them) that receives the result."""
    signature = inspect.signature(fn)
    parameters = list(signature.parameters.values())
    variable = [p for p in parameters if p.kind is p.VAR_KEYWORD]
    keyword = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
    at = len(parameters) - len(variable)
    parameters = [*parameters[:at], keyword, *parameters[at:]]
    left, right, starred = [], [], False
    scope: dict[str, Any] = {"fn": fn, "write_out": write_out}
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            left.append("*" + p.name)
            right.append("*" + p.name)
            starred = True
            continue
        if p.kind is p.VAR_KEYWORD:
            left.append("**" + p.name)
            right.append("**" + p.name)
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            left.append("*")
            starred = True
        if p.default is not p.empty:
            scope[f"default_{p.name}"] = p.default
        left.append(p.name + ("" if p.default is p.empty else f"=default_{p.name}"))
        if p.name != "out":
            right.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name)
    call = f"fn({', '.join(right)})"
    source = (f"def {name}({', '.join(left)}):\n    if out is None: return {call}\n"
              f"    return write_out({name!r}, {call}, out)")  # fmt: skip
    exec(compile(source, f"<tensorplay {name}>", "exec"), scope)
    made = scope[name]
    functools.update_wrapper(made, fn)
    made.__name__ = made.__qualname__ = name
    made.__signature__ = signature.replace(parameters=parameters)
    return made


def write_out(name: str, value: Any, out: Any) -> Any:
    """Write a result into ``out``, which takes its shape.

    Raises
    ------
    RuntimeError
        If the result or ``out`` requires grad, or the result's dtype cannot be cast to that of ``out``.
    TypeError
        If ``out`` is no tensor, or no tuple of the right length for several results.
    """
    if isinstance(value, (tuple, list)):
        if not isinstance(out, (tuple, list)) or len(out) != len(value):
            raise TypeError(f"{name}(): argument 'out' must be a tuple of {len(value)} Tensors, got {type(out).__name__}")
        for v, o in zip(value, out, strict=True):
            check_out(name, v, o)
        for v, o in zip(value, out, strict=True):
            store_out(name, v, o)
        return type(value)(*out) if hasattr(value, "_fields") else type(value)(out)
    check_out(name, value, out)
    return store_out(name, value, out)


def check_out(name: str, value: Tensor, out: Any) -> None:
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if state.recording and (value._node is not None or out._node is not None):
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
                           "the arguments requires grad.")  # fmt: skip
    check_cast(value, out, name)
    if value.is_meta != out.is_meta:
        raise RuntimeError(f"{name}(): Expected out tensor to have device {value.device}, but got {out.device} instead")


def store_out(name: str, value: Tensor, out: Tensor) -> Tensor:
    if value._data.shape != out._data.shape:
        if out._data.size:
            import warnings

            warnings.warn(f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does "
                          f"not match the required output shape {list(value.shape)}. This behavior is deprecated; reuse an "
                          "out tensor of the right shape, or resize it to 0 elements first.", UserWarning, stacklevel=4)  # fmt: skip
        data, shape = out._data, value._data.shape
        out._data = Meta(shape, data.dtype) if type(data) is Meta else np.empty(shape, data.dtype)
    return write(out, value.detach() if value._node is not None else value, name)
