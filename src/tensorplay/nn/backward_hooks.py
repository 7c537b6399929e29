"""Where a module's inputs and outputs are crossed on the way back, for its backward hooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.function import Function
from ..core.state import state
from ..core.tensor import Tensor


class Boundary(Function):
    """Passes tensors on, and hands their gradients, which it may change, to a function on the way back."""

    generate_vmap_rule = True

    @staticmethod
    def forward(receive: Callable[..., Any], *tensors: Tensor) -> tuple[Tensor, ...]:
        """The same values."""
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep the function; gradients that nobody sent stay None."""
        ctx.receive = inputs[0]
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """What the function makes of the gradients."""
        return None, *ctx.receive(grads)

    @staticmethod
    def jvp(ctx: Any, receive: Any, *tangents: Any) -> Any:
        """The same tangents."""
        return tuple(None if t is None else t.view_as(t) for t in tangents)


class Crossing:
    """One call of a module with backward hooks."""

    def __init__(self, module: Any, hooks: list[Callable[..., Any]], before: list[Callable[..., Any]]) -> None:
        self.module, self.hooks, self.before = module, hooks, before
        self.grad_output: tuple[Any, ...] | None = None
        self.inputs = 0  # how many arguments the module got
        self.entered = False  # whether the way back leads through the inputs

    def cross(self, values: Sequence[Any], receive: Callable[[tuple[Any, ...]], Any]) -> tuple[tuple[Any, ...], bool]:
        """Values whose tensors have crossed a boundary that hands over one gradient for each value."""
        places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        if not state.recording or not any(values[i].requires_grad for i in places):
            return tuple(values), False

        def scattered(grads: tuple[Any, ...]) -> list[Any]:
            whole: list[Any] = [None] * len(values)
            for i, g in zip(places, grads):
                whole[i] = g
            received = receive(tuple(whole))
            return [received[i] for i in places]

        crossed = list(values)
        for i, t in zip(places, Boundary.apply(scattered, *(values[i] for i in places))):
            crossed[i] = t
        return tuple(crossed), True

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, whose gradients the hooks will see."""
        self.inputs = len(args)
        if self.hooks:
            args, self.entered = self.cross(args, self.receive_inputs)
        return args

    def leave(self, result: Any) -> Any:
        """The result, whose gradients the hooks will see."""
        single = not isinstance(result, (tuple, list))
        crossed, left = self.cross((result,) if single else result, self.receive_outputs)
        if self.entered and not left and not any(isinstance(r, Tensor) for r in crossed):
            warnings.warn(f"the backward hooks of {type(self.module).__name__} are not called: forward returned "
                          f"{type(result).__name__}, not a tensor or a tuple of tensors", stacklevel=5)  # fmt: skip
        if single:
            return crossed[0]
        if type(result) in (tuple, list):
            return type(result)(crossed)
        return type(result)(*crossed)  # a named tuple

    def replaced(self, hook: str, old: tuple[Any, ...], new: Any) -> tuple[Any, ...]:
        """What a hook returned, if anything."""
        if new is None:
            return old
        new = new if isinstance(new, tuple) else (new,)
        if len(new) != len(old):
            raise RuntimeError(f"{hook} returned {len(new)} gradients, but {len(old)} were given to it")
        return new

    def receive_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the outputs, after the pre-hooks."""
        for hook in self.before:
            grads = self.replaced("Backward pre hook", grads, hook(self.module, grads))
        self.grad_output = grads
        if not self.entered:  # no input requires grad: its hooks see that the output did
            for hook in self.hooks:
                if hook(self.module, (None,) * self.inputs, grads) is not None:
                    raise RuntimeError("Backward hook for Modules where no input requires gradient should "
                                       "always return "
                                       "None or None for all gradients.")  # fmt: skip
        return grads

    def receive_inputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the inputs, after the hooks."""
        if self.grad_output is None:  # a second derivative may reach the inputs without passing the outputs
            return grads
        for hook in self.hooks:
            grads = self.replaced("Backward hook", grads, hook(self.module, grads, self.grad_output))
        return grads
