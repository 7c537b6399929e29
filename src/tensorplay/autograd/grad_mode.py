"""Switches for recording: context managers that are decorators, for this thread alone."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Generator
from typing import Any, TypeVar, overload

from ..core.state import grad_mode, inferring, set_grad_mode, state

__all__ = [
    "enable_grad", "enforce_grad_layout_policy", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
    "is_multithreading_enabled", "no_grad", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether operators are recorded in this thread.

    Examples
    --------
    >>> import tensorplay as tp
    >>> with tp.no_grad():
    ...     tp.is_grad_enabled()
    False
    """
    return grad_mode()


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return state.inference


def is_multithreading_enabled() -> bool:
    """Whether a backward pass may use several threads."""
    return state.multithreading


class Mode:
    """A context manager that also decorates functions, generator functions and (with a warning) classes."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    def clone(self) -> Mode:
        """A mode like this one, for one call of a decorated function."""
        return type(self)()

    def __call__(self, orig_func: Function) -> Function:
        return decorated(self.clone, orig_func)


class PlainMode(Mode):
    """A mode without arguments: decorates with or without parentheses."""

    def __new__(cls, orig_func: Any = None) -> Any:
        self = object.__new__(cls)
        return self if orig_func is None else self(orig_func)

    def __init__(self, orig_func: Any = None) -> None:
        pass


def decorated(mode: Callable[[], Mode], fn: Any) -> Any:
    """The function run under a mode; of a generator, each of its steps."""
    if inspect.isclass(fn):
        warnings.warn("Decorating classes is deprecated and will be disabled in future versions. You should only "
                      "decorate functions or methods. To preserve the current behavior of class decoration, you can "
                      "directly decorate the `__init__` method and nothing else.", FutureWarning,
                      stacklevel=4)  # fmt: skip
        whole = fn

        @functools.wraps(fn, updated=())
        def make(*args: Any, **kwargs: Any) -> Any:
            with mode():
                return whole(*args, **kwargs)

        return make
    if inspect.isgeneratorfunction(fn):

        @functools.wraps(fn)
        def steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator = fn(*args, **kwargs)
            step, given = generator.send, None
            try:
                while True:
                    with mode():
                        value = step(given)
                    try:
                        step, given = generator.send, (yield value)
                    except GeneratorExit:
                        with mode():
                            generator.close()
                        raise
                    except BaseException as error:
                        step, given = generator.throw, error
            except StopIteration as end:
                return end.value

        return steps

    @functools.wraps(fn)
    def under(*args: Any, **kwargs: Any) -> Any:
        with mode():
            return fn(*args, **kwargs)

    return under


class Switch(PlainMode):
    """``no_grad`` and ``enable_grad``."""

    mode: bool

    def __enter__(self) -> None:
        self.before = grad_mode(), state.recording
        set_grad_mode(self.mode)

    def __exit__(self, *exc: object) -> None:
        restore(*self.before)


def restore(asked: bool, recording: Any) -> None:
    """Grad mode as it was before."""
    set_grad_mode(asked)
    if state.inference and recording:
        state.recording = recording


class no_grad(Switch):
    """Record nothing: results do not require grad, and nothing is kept for a backward pass.

    A context manager and a decorator, for this thread alone. Forward mode and ``vmap`` go on as they are.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1.], requires_grad=True)
    >>> with tp.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    >>> @tp.no_grad()
    ... def double(x):
    ...     return x * 2
    >>> double(x).requires_grad
    False
    """

    mode = False


class enable_grad(Switch):
    """Record again, inside :class:`no_grad`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1.], requires_grad=True)
    >>> with tp.no_grad(), tp.enable_grad():
    ...     (x * 2).requires_grad
    True
    """

    mode = True


class set_grad_enabled(Mode):
    """Switch recording on or off: at once as a function, for a while as a context manager or decorator.

    Parameters
    ----------
    mode : bool
        Whether to record.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1.], requires_grad=True)
    >>> with tp.set_grad_enabled(False):
    ...     (x * 2).requires_grad
    False
    >>> _ = tp.set_grad_enabled(False)
    >>> (x * 2).requires_grad
    False
    >>> _ = tp.set_grad_enabled(True)
    """

    def __init__(self, mode: bool) -> None:
        check_bool("set_grad_enabled", mode)
        self.before = grad_mode(), state.recording
        self.mode = mode
        set_grad_mode(mode)

    def __enter__(self) -> None:
        set_grad_mode(self.mode)

    def __exit__(self, *exc: object) -> None:
        restore(*self.before)

    def __call__(self, orig_func: Function) -> Function:
        restore(*self.before)
        return super().__call__(orig_func)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)


class inference_mode(Mode):
    """Record nothing, and mark what is made as unfit for recording later.

    Parameters
    ----------
    mode : bool
        False leaves inference mode, as inside another block.

    Notes
    -----
    Tensors made inside say so (``is_inference()``); outside they can neither be made to require grad nor be
    written to in place. Inside, :class:`enable_grad` does not record.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1.], requires_grad=True)
    >>> with tp.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad, y.is_inference()
    (False, True)
    """

    @overload
    def __new__(cls, mode: Function) -> Function: ...  # type: ignore[misc]

    @overload
    def __new__(cls, mode: bool = True) -> inference_mode: ...

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        if callable(mode) and not isinstance(mode, bool):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode: Any = True) -> None:
        check_bool("inference_mode", mode)
        self.mode = mode

    def __enter__(self) -> None:
        self.before = state.inference, state.recording, state.asked_in_inference
        self.set(self.mode)
        set_grad_mode(not self.mode)

    def __exit__(self, *exc: object) -> None:
        inference, state.recording, state.asked_in_inference = self.before
        self.set(inference)

    @staticmethod
    def set(inference: bool) -> None:
        state.inference = inference
        (inferring.add if inference else inferring.discard)(threading.get_ident())

    def clone(self) -> inference_mode:
        return type(self)(self.mode)


class Setting(Mode):
    """A thread-local setting: at once as a function, for a while as a context manager or decorator."""

    argument = "mode"

    def __init__(self, mode: bool) -> None:
        check_bool(type(self).__name__, mode, self.argument)
        self.mode, self.before = mode, self.get()
        self.set(mode)

    def get(self) -> bool:
        raise NotImplementedError

    def set(self, mode: bool) -> None:
        raise NotImplementedError

    def __enter__(self) -> None:
        self.set(self.mode)

    def __exit__(self, *exc: object) -> None:
        self.set(self.before)

    def __call__(self, orig_func: Function) -> Function:
        self.set(self.before)
        return super().__call__(orig_func)

    def clone(self) -> Setting:
        return type(self)(self.mode)


class set_multithreading_enabled(Setting):
    """Whether a backward pass may use several threads; a pass here runs in the thread that asked for it either way.

    Parameters
    ----------
    mode : bool
        The flag that :func:`is_multithreading_enabled` reports.

    Examples
    --------
    >>> import tensorplay as tp
    >>> with tp.autograd.set_multithreading_enabled(False):
    ...     tp.autograd.grad_mode.is_multithreading_enabled()
    False
    """

    def get(self) -> bool:
        return state.multithreading

    def set(self, mode: bool) -> None:
        state.multithreading = mode


class enforce_grad_layout_policy(Setting):
    """Whether a leaf's ``.grad`` is made contiguous even where the gradient that arrives is laid out otherwise.

    Parameters
    ----------
    enable : bool
        True: the ``.grad`` made by a backward pass is contiguous. False: a gradient that nobody else holds is taken
        over as it is.

    Examples
    --------
    >>> import tensorplay as tp
    >>> with tp.autograd.enforce_grad_layout_policy(False):
    ...     pass
    """

    argument = "enable"

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)

    def get(self) -> bool:
        return state.grad_layout

    def set(self, mode: bool) -> None:
        state.grad_layout = mode


def check_bool(name: str, mode: Any, argument: str = "mode") -> None:
    if not isinstance(mode, bool):
        raise TypeError(f"{name}(): argument '{argument}' (position 1) must be bool, not {type(mode).__name__}")
