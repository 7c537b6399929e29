"""Functions and modules compiled by XLA, through JAX (extra ``xla``).

``compile`` runs a function once with XLA's tracers as the data of its tensors, backward passes and optimizer steps
included, and runs the program from then on. See the page on compiling for what is an input, and what is not followed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..core.state import state

if TYPE_CHECKING:
    from .compiled import Explanation

__all__ = ["compile", "disable", "explain", "is_compiling", "list_backends", "reset"]

Function = TypeVar("Function", bound=Callable[..., Any])

BACKENDS = ("xla", "eager")
OLD_NAMES = {"inductor": "xla"}  # PyTorch's default, as programs write it out


@overload
def compile(
    model: Function, *, fullgraph: bool = False, dynamic: bool | None = None, backend: str = "xla",
    mode: str | None = None, options: dict[str, Any] | None = None, disable: bool = False,
) -> Function: ...  # fmt: skip
@overload
def compile(
    model: None = None, *, fullgraph: bool = False, dynamic: bool | None = None, backend: str = "xla",
    mode: str | None = None, options: dict[str, Any] | None = None, disable: bool = False,
) -> Callable[[Function], Function]: ...  # fmt: skip
def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None, backend: str = "xla",
    mode: str | None = None, options: dict[str, Any] | None = None, disable: bool = False,
) -> Any:  # fmt: skip
    """A function, or a module, that runs as a program of XLA.

    The function is traced at its first call, and anew for arguments of other shapes, dtypes, structure or Python
    values, in another grad mode, and where a Python value that it can reach has changed. The tensors among its
    arguments and those that it can reach (parameters, buffers, an optimizer's state, ``.grad``) are inputs of the
    program; what it writes to them is written back after each run. Random numbers are drawn as without compiling, in
    the same order.

    Parameters
    ----------
    model : callable, optional
        The function or module. Left out, a decorator is returned.
    fullgraph : bool, default False
        Raise where the function cannot be compiled; otherwise it is run eagerly, with one warning.
    dynamic : bool, optional
        Taken for compatibility: each shape has a program of its own. True is refused.
    backend : str, default "xla"
        ``"eager"`` runs the function as it is. PyTorch's ``"inductor"`` is taken as ``"xla"``.
    mode : str, optional
        Taken for compatibility: ``"default"``, ``"reduce-overhead"``, ``"max-autotune"`` are the same.
    options : dict, optional
        Refused, unless empty.
    disable : bool, default False
        Whether the function is left as it is.

    Returns
    -------
    callable
        Takes the same arguments. Attributes are those of ``model``; of a module, a module that has it as its child.

    Raises
    ------
    ImportError
        If JAX is not installed.
    RuntimeError
        From the call, with ``fullgraph=True``: if the function's control flow depends on values of tensors, or it does
        something else that a program cannot.
    ValueError
        For an unknown backend or mode, and for options.

    See Also
    --------
    explain : what was compiled, how often and why.

    Examples
    --------
    >>> import tensorplay as tp
    >>> @tp.compile
    ... def f(x, y):
    ...     return (x * y).sum()
    >>> f(tp.tensor([1., 2.]), tp.tensor([3., 4.]))
    tensor(11.)
    """
    backend = OLD_NAMES.get(backend, backend)
    if backend not in BACKENDS:
        raise ValueError(f"compile(): unknown backend {backend!r}; there are {', '.join(map(repr, BACKENDS))}")
    if mode not in (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"):
        raise ValueError(f"compile(): unknown mode {mode!r}")
    if options:
        raise ValueError(f"compile(): there are no options for XLA here, got {options}")
    if dynamic:
        raise ValueError("compile(): dynamic=True is not supported: each shape has a program of its own")
    if model is None:
        return lambda fn: compile(fn, fullgraph=fullgraph, backend=backend, mode=mode, disable=disable)
    if not callable(model):
        raise TypeError(f"compile(): argument 'model' must be callable, not {type(model).__name__}")
    try:
        from .compiled import Compiled
    except ImportError as error:
        raise ImportError("compile() needs JAX; install it by: pip install 'tensorplay[xla]'") from error
    modules = sys.modules.get("tensorplay.nn.module")
    if modules is not None and isinstance(model, modules.Module):
        from .module import OptimizedModule

        return OptimizedModule(model, fullgraph, disable or backend == "eager")
    return Compiled(model, fullgraph, disable or backend == "eager")


def explain(compiled: Callable[..., Any]) -> Explanation:
    """What a compiled function has compiled.

    Parameters
    ----------
    compiled : callable
        A result of :func:`compile`.

    Returns
    -------
    Explanation
        ``programs`` (a list: ``reason``, ``runs``, ``inputs``, ``written``, ``callbacks`` of each), ``events`` (the
        reason of each compilation, and of calls that were run eagerly), ``eager`` (why the function is run eagerly, or
        None). Printed, it is a report.

    Raises
    ------
    TypeError
        If it was not compiled.

    Examples
    --------
    >>> import tensorplay as tp
    >>> f = tp.compile(lambda x: x * 2)
    >>> y = f(tp.ones(3)), f(tp.ones(3)), f(tp.ones(4))
    >>> print(tp.compiler.explain(f))
    <lambda>: 2 programs
      1. first call: 2 runs, 1 input, 0 written
      2. argument 0: float32 [4], was float32 [3]: 1 run, 1 input, 0 written
    """
    from .compiled import Compiled, Explanation

    compiled = getattr(compiled, "_compiled", compiled)
    if not isinstance(compiled, Compiled):
        raise TypeError(f"explain(): expected a compiled function, got {type(compiled).__name__}")
    return Explanation(compiled)


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that is not traced: what calls it in a compiled function is run eagerly.

    Parameters
    ----------
    fn : callable, optional
        The function. Left out, a decorator is returned.
    recursive : bool
        Taken for compatibility: what it calls is not traced either.
    reason : str, optional
        Told in the warning.

    Examples
    --------
    >>> import tensorplay as tp
    >>> @tp.compiler.disable
    ... def log(x):
    ...     print(x.item())
    >>> log(tp.tensor(2.))
    2.0
    """
    if fn is None:
        return lambda f: disable(f, recursive, reason=reason)
    import functools

    @functools.wraps(fn)
    def untraced(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            why = f" ({reason})" if reason else ""
            state.tracing.refuse(f"{getattr(fn, '__name__', fn)}, which is marked with compiler.disable{why},")
        return fn(*args, **kwargs)

    return untraced


def is_compiling() -> bool:
    """Whether this thread traces a function.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.compiler.is_compiling()
    False
    """
    return state.tracing is not None


def list_backends() -> list[str]:
    """Names that :func:`compile` takes as ``backend``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.compiler.list_backends()
    ['xla', 'eager']
    """
    return list(BACKENDS)


def reset() -> None:
    """Forget all programs: every compiled function is traced anew at its next call.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.compiler.reset()
    """
    compiled = sys.modules.get(__name__ + ".compiled")
    if compiled is not None:
        for function in list(compiled.ALL):
            function._forget()


compile.explain = explain  # type: ignore[attr-defined]
