"""Tensors seen otherwise: ``rearrange`` names their dimensions, ``debug_unwrap`` shows what a transform put inside."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..core.carrier import Carrier
from ..core.namespace import F
from ..core.tensor import Tensor

DOTS = ("...",)  # on its own: all dimensions that are not named, each for itself
Group = Sequence[str]  # the names that share one dimension


def parse(side: str, pattern: str) -> list[Group]:
    """The groups of one side of a pattern: ``a (b c) 1`` is ``[[a], [b, c], []]``."""
    groups: list[Group] = []
    inside: list[str] | None = None
    for token in re.findall(r"\.\.\.|\w+|\S", side):
        if token == "(" and inside is None:
            inside = []
        elif token == ")" and inside is not None:
            groups.append(inside)
            inside = None
        elif token in "()":
            raise ValueError(f"rearrange: Imbalanced parentheses in expression: {pattern!r}")
        elif token == "..." or token.isidentifier():
            if inside is not None:
                inside.append(token)
            else:
                groups.append(DOTS if token == "..." else [token])
        elif token == "1":
            if inside is None:
                groups.append([])
        elif token.isdigit():
            raise ValueError(f"rearrange only supports unnamed axes of size 1, got {token} in {pattern!r}")
        else:
            raise ValueError(f"rearrange: unexpected {token!r} in pattern {pattern!r}")
    if inside is not None:
        raise ValueError(f"rearrange: Imbalanced parentheses in expression: {pattern!r}")
    return groups


def check(left: list[Group], right: list[Group], pattern: str, given: set[str]) -> None:
    """Every name once on each side."""
    sides = [[name for group in side for name in group] for side in (left, right)]
    for names in sides:
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"rearrange: Indexing expression contains duplicate dimension {name!r} in {pattern!r}")
    if "..." in sides[1] and "..." not in sides[0]:
        raise ValueError(f"rearrange: Ellipsis found in right side, but not left side of a pattern {pattern!r}")
    if any("..." in group and group is not DOTS for group in left):
        raise ValueError(f"rearrange: Ellipsis is parenthesis in the left side is not allowed: {pattern!r}")
    lonely = set(sides[0]) ^ set(sides[1])
    if lonely:
        raise ValueError(
            f"Identifiers only on one side of rearrange expression (should be on both): {lonely} in {pattern!r}"
        )
    if given - set(sides[0]):
        raise ValueError(f"Identifiers not found in rearrange expression: {given - set(sides[0])} in {pattern!r}")


def sizes_of(left: list[Group], shape: tuple[int, ...], lengths: dict[str, int], pattern: str) -> dict[str, list[int]]:
    """The extents behind each name: one, or those that ``...`` stands for."""
    dotted = DOTS in left
    named = len(left) - dotted
    if len(shape) != named and not (dotted and len(shape) >= named):
        raise ValueError(
            f"rearrange: Number of dimensions in pattern ({named}) must be equal to the number of dimensions in "
            f"the tensor ({len(shape)}): {pattern!r}"
        )
    sizes: dict[str, list[int]] = {}
    dims = iter(shape)
    for group in left:
        if group is DOTS:
            sizes["..."] = [next(dims) for _ in range(len(shape) - named)]
            continue
        extent = next(dims)
        unknown = [name for name in group if name not in lengths]
        known = math.prod(lengths[name] for name in group if name in lengths)
        if len(unknown) > 1:
            raise ValueError(
                f"rearrange: cannot infer the sizes of {len(unknown)} dimensions at once, of {unknown}: give all "
                "but one by name"
            )
        if extent % known if unknown else extent != known:
            raise ValueError(
                f"rearrange: {group or '1'} of sizes {[lengths.get(name, '?') for name in group]} does not fit "
                f"into a dimension of {extent}: {pattern!r}"
            )
        for name in group:
            sizes[name] = [lengths.get(name, extent // known)]
    return sizes


def rearrange(tensor: Tensor | list[Tensor] | tuple[Tensor, ...], pattern: str, **axes_lengths: int) -> Tensor:
    """Reorder, split and merge dimensions by naming them.

    Parameters
    ----------
    tensor
        A tensor, or a sequence of tensors of one shape, which are stacked first.
    pattern
        Names of the dimensions, before and after ``->``: names in parentheses share one dimension, the last fastest;
        ``1`` or ``()`` is a dimension of size 1; ``...`` stands for any dimensions not named.
    axes_lengths
        Sizes of names; in each dimension that is split, one may be left to be inferred.

    Returns
    -------
    Tensor
        A view where memory allows.

    Raises
    ------
    ValueError
        If the pattern is malformed, or does not fit the tensor.

    Examples
    --------
    >>> import tensorplay as tp
    >>> images = tp.zeros(32, 30, 40, 3)
    >>> tp.func.rearrange(images, "b h w c -> b c h w").shape
    tensorplay.Size([32, 3, 30, 40])
    >>> tp.func.rearrange(images, "b (h h2) w c -> h2 b h (w c)", h2=2).shape
    tensorplay.Size([2, 32, 15, 120])
    """
    whole: Tensor = tensor if isinstance(tensor, Tensor) else F.stack(*tensor, dim=-1 - tensor[0]._data.ndim)
    if pattern.count("->") != 1:
        raise ValueError(f"rearrange: Pattern must contain a single '->' separator, got {pattern!r}")
    left, right = (parse(side, pattern) for side in pattern.split("->"))
    check(left, right, pattern, set(axes_lengths))
    sizes = sizes_of(left, whole._data.shape, axes_lengths, pattern)
    places: dict[str, list[int]] = {}
    apart: list[int] = []
    for name in (name for group in left for name in group):
        places[name] = list(range(len(apart), len(apart) + len(sizes[name])))
        apart += sizes[name]
    order = [i for group in right for name in group for i in places[name]]
    together: list[int] = []
    for group in right:
        together += sizes["..."] if group is DOTS else [math.prod(math.prod(sizes[name]) for name in group)]
    split = F.reshape(whole, tuple(apart))
    return F.reshape(F.permute(split, tuple(i - len(order) for i in order)), tuple(together))


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """What is inside a tensor that stands for a batch, or has a tangent: for printing while a transform runs.

    Parameters
    ----------
    tensor
        Any tensor.
    recurse
        Whether to go on to the innermost; otherwise one level is taken off.

    Examples
    --------
    >>> import tensorplay as tp
    >>> seen = []
    >>> _ = tp.vmap(lambda x: seen.append(tp.func.debug_unwrap(x)) or x)(tp.ones(2, 3))
    >>> seen[0].shape
    tensorplay.Size([2, 3])
    """
    data = tensor._data
    while isinstance(data, Carrier):
        tensor = data.inner
        data = tensor._data
        if not recurse:
            break
    return tensor


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function with its in-place operators seen as out-of-place ones.

    Here that is what they are to begin with: an in-place operator is recorded, differentiated and batched as its
    out-of-place twin, whose value is then put back. So the result computes what ``func`` does, writes to arguments
    included, and every transform of it is that of a program without mutation.

    Parameters
    ----------
    func : callable
        Any function of tensors.
    remove : {"mutations", "mutations_and_views"}
        What PyTorch would remove from a traced program.

    Raises
    ------
    RuntimeError
        For any other ``remove``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> def f(x):
    ...     y = x.clone()
    ...     y[0] = 0.0
    ...     return y.sum()
    >>> tp.func.grad(tp.func.functionalize(f))(tp.ones(3))
    tensor([0., 1., 1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. "
                           "Valid options are: 'mutations' and 'mutations_and_views'.")  # fmt: skip

    @functools.wraps(func)
    def functional(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return functional
