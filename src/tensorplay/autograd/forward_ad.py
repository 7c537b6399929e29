"""Forward mode by hand: tensors with tangents, inside levels that may nest.

What is computed from dual tensors is dual itself, whatever operators are used: written as operators, methods or
functions, in place, through views. When its level ends, a dual tensor is read as its primal.
"""

from __future__ import annotations

from typing import NamedTuple

from ..core.carrier import Carrier, Dual, DualLevel
from ..core.state import count, live_levels, state
from ..core.tensor import Tensor, overrides
from ..core.transforms import make_dual as dual_of
from .grad_mode import Mode, PlainMode

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """What :func:`unpack_dual` returns.

    Attributes
    ----------
    primal
        The value.
    tangent
        The tangent; None if the tensor has none at the level.
    """

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begin a level, and return its number: 0 for the outermost.

    Dual tensors of several levels may meet in one operator: that is a derivative of a derivative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.autograd import forward_ad
    >>> forward_ad.enter_dual_level()
    0
    >>> forward_ad.exit_dual_level()
    """
    level = DualLevel(count())
    live_levels.add(level)
    state.dual_levels = (*state.dual_levels, level)
    return len(state.dual_levels) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """End the innermost level: what is dual in it is read as its primal from now on.

    Parameters
    ----------
    level
        The number of the level, which must be the innermost.

    Raises
    ------
    RuntimeError
        If there is no level, or it is not the innermost.
    """
    levels = state.dual_levels
    if not levels:
        raise RuntimeError("exit_dual_level: Trying to exit a forward AD level but no level exists")
    if level is not None and level != len(levels) - 1:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            f"supported. (got level {level}, the innermost is {len(levels) - 1})"
        )
    state.dual_levels = levels[:-1]
    live_levels.discard(levels[-1])


class dual_level(PlainMode):
    """A level of forward mode, for the length of a ``with`` block or a function.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(tp.tensor([1., 2.]), tp.tensor([1., 0.]))
    ...     forward_ad.unpack_dual(x * x).tangent
    tensor([2., 0.])
    """

    def __enter__(self) -> int:
        self.number = enter_dual_level()
        return self.number

    def __exit__(self, *exc: object) -> None:
        exit_dual_level(level=self.number)


def level_of(number: int | None, name: str) -> DualLevel | None:
    """The level that a user's number means; the innermost for None."""
    levels = state.dual_levels
    if number is None:
        return levels[-1] if levels else None
    if not 0 <= number < len(levels):
        raise RuntimeError(f"{name}: there is no forward AD level {number}; {len(levels)} levels are active")
    return levels[number]


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with a tangent.

    Parameters
    ----------
    tensor
        The primal, of floating point or complex dtype. If it requires grad so does the result, by an edge to it.
    tangent
        Of the same shape and dtype; used as it is, without a copy.
    level
        The number of the level; the innermost by default.

    Raises
    ------
    RuntimeError
        If no level was entered, shapes or dtypes differ, or the tensor has a tangent at that level already.
    ValueError
        If a dtype is neither floating point nor complex.

    Examples
    --------
    >>> import tensorplay as tp
    >>> from tensorplay.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(tp.tensor(3.), tp.tensor(1.))
    ...     forward_ad.unpack_dual(x * x)
    UnpackedDualTensor(primal=tensor(9.), tangent=tensor(6.))
    """
    for t, what in ((tensor, "tensor"), (tangent, "tangent")):
        if not isinstance(t, Tensor):
            raise TypeError(f"make_dual(): argument '{what}' must be Tensor, not {type(t).__name__}")
    own = level_of(level, "make_dual")
    if own is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for t, what in ((tensor, "primal"), (tangent, "tangent")):
        if t._data.dtype.kind not in "fcV":
            raise ValueError(f"make_dual: Expected {what} to be floating point or complex, but got: {t.dtype}")
    if type(tensor._data) is Dual and tensor._data.level == own:
        raise RuntimeError(
            "make_dual: Making a dual Tensor based on a Tensor that already has a forward gradient at the same "
            "level is not supported; unpack_dual() it first."
        )
    for t, what in ((tensor, "tensor"), (tangent, "tangent")):
        if isinstance(t._data, Carrier) and t._data.level > own:
            raise RuntimeError(
                f"make_dual: the {what} belongs to a transform further inside than level {level_number(own)}"
            )
    dual = dual_of(tensor, tangent, own)
    return dual.as_subclass(type(tensor)) if overrides(type(tensor)) else dual


def level_number(level: DualLevel) -> int:
    return state.dual_levels.index(level)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Primal and tangent of a tensor at a level.

    Parameters
    ----------
    tensor
        Any tensor; one without a tangent at the level is its own primal.
    level
        The number of the level; the innermost by default. Without any level the tangent is None.

    Returns
    -------
    UnpackedDualTensor
        ``(primal, tangent)``.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"unpack_dual(): argument 'tensor' must be Tensor, not {type(tensor).__name__}")
    own = level_of(level, "unpack_dual")
    data = tensor._data
    while type(data) is Dual:
        if data.level == own:
            return UnpackedDualTensor(data.primal, data.tangent)
        if type(data.level) is DualLevel and data.level not in live_levels:  # its level has ended
            tensor = data.primal
            data = tensor._data
            continue
        break
    return UnpackedDualTensor(tensor, None)


def _is_fwd_grad_enabled() -> bool:
    """Whether operators compute tangents in this thread."""
    return state.forward_ad


class _set_fwd_grad_enabled(Mode):
    """Whether operators compute tangents, for the length of a ``with`` block."""

    def __init__(self, mode: bool) -> None:
        self.before, self.mode = state.forward_ad, mode
        state.forward_ad = mode

    def __enter__(self) -> None:
        state.forward_ad = self.mode

    def __exit__(self, *exc: object) -> None:
        state.forward_ad = self.before

    def clone(self) -> _set_fwd_grad_enabled:
        return type(self)(self.mode)
