"""``vmap``: a function of one example becomes one of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core import pytree
from ..core.generator import default_generator
from ..core.namespace import F
from ..core.state import state
from ..core.tensor import Tensor
from ..core.transforms import enter, expanded, leave, make_batched, moved, unpack_batched
from .arguments import name_of

DIMS = (int, type(None))


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Vectorise a function of one example over a batch of them.

    Parameters
    ----------
    func
        Takes and returns tensors, or nested containers of them.
    in_dims
        Which dimension of each positional argument is the batch; None: the argument is the same for every example. One
        number for all, or a nested container that mirrors the arguments. Keyword arguments are never batched.
    out_dims
        Where each result has its batch dimension.
    randomness
        What random operators do inside: ``"error"``, ``"same"`` (one draw for all examples) or ``"different"``.
    chunk_size
        How many examples run at once; None: all.

    Returns
    -------
    Callable
        The function over batches.

    Raises
    ------
    ValueError
        If the arguments do not fit ``in_dims``, the batch sizes differ, or a result is no tensor.
    RuntimeError
        If the function reads a value that differs from example to example, as ``if x.sum() > 0`` does: use ``where``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x, y = tp.ones(3, 2), tp.ones(3, 2)
    >>> tp.vmap(lambda a, b: (a * b).sum())(x, y)
    tensor([2., 2., 2.])
    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(
            f"vmap: Only allowed values for randomness are 'error', 'different', or 'same', got {randomness!r}"
        )
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, spec, dims, size = batch_of(func, in_dims, args)
        call = Call(func, spec, dims, out_dims, randomness, kwargs)
        return call.at_once(leaves, size) if chunk_size is None else call.in_chunks(leaves, size, chunk_size)

    return batched


def batch_of(func: Any, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], pytree.Spec, list[Any], int]:
    """The leaves of the arguments with the batch dimension of each, counted from the front, and the batch size."""
    name = name_of(func)
    if type(in_dims) is list:
        in_dims = tuple(in_dims)
    if type(in_dims) is not int and not isinstance(in_dims, tuple):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially "
            f"nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = pytree.flatten(args)
    dims: list[Any] | None = (
        [in_dims] * len(leaves) if type(in_dims) is int else pytree.broadcast_prefix(in_dims, spec, DIMS)
    )
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of "
            f"inputs. in_dims has structure {pytree.flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    size = None
    for i, (x, dim) in enumerate(zip(leaves, dims)):
        if dim is None:
            continue
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the input is "
                f"of type {type(x).__name__}. We cannot vmap over non-Tensor arguments, please use None as the "
                "respective in_dim"
            )
        shape = x._data.shape
        n = len(shape)
        if not -n <= dim < n:
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that input "
                f"is a Tensor of dimensionality {n} so expected in_dim to satisfy -{n} <= in_dim < {n}."
            )
        if dim < 0:
            dims[i] = dim = dim + n
        if size is None:
            size = shape[dim]
        elif size != shape[dim]:
            sizes = [x._data.shape[d] for x, d in zip(leaves, dims) if d is not None]
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{sizes} for the mapped dimension"
            )
    if size is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): at least one input must be vmapped over: "
            "every in_dim is None"
        )
    return leaves, spec, dims, size


class Call:
    """One call of a function over batches."""

    __slots__ = ("dims", "func", "kwargs", "out_dims", "randomness", "spec")

    def __init__(
        self,
        func: Callable[..., Any],
        spec: pytree.Spec,
        dims: list[int | None],
        out_dims: Any,
        randomness: str,
        kwargs: dict[str, Any],
    ) -> None:
        self.func, self.spec, self.dims = func, spec, dims
        self.out_dims, self.randomness, self.kwargs = out_dims, randomness, kwargs

    def at_once(self, leaves: list[Any], size: int) -> Any:
        """All examples in one run of the function."""
        level, dims = enter(), self.dims
        batches, running = state.batches, state.running
        constants = [x for x, dim in zip(leaves, dims) if dim is None]
        state.batches = (*batches, (level, size, self.randomness))
        state.running = (*running, (level, "vmap", (self.func, constants, self.kwargs)))
        try:
            given = [x if dim is None else make_batched(x, dim, level) for x, dim in zip(leaves, dims)]
            out = self.func(*pytree.unflatten(given, self.spec), **self.kwargs)
            if type(out) is Tensor and type(self.out_dims) is int:
                return self.result(out, self.out_dims, level, size)
            outs, spec = pytree.flatten(out)
            places = self.places(outs, spec)
            return pytree.unflatten([self.result(o, d, level, size) for o, d in zip(outs, places)], spec)
        finally:
            state.batches, state.running = batches, running
            leave(level)

    def in_chunks(self, leaves: list[Any], size: int, chunk: int) -> Any:
        """At most ``chunk`` examples at once, joined along the batch dimensions of the results."""
        if size <= chunk:
            return self.at_once(leaves, size)
        same = default_generator.get_state() if self.randomness == "same" else None
        parts = []
        for start in range(0, size, chunk):
            if same is not None:
                default_generator.set_state(same)
            stop = min(start + chunk, size)
            some = [
                x if dim is None else F.slice(x, (*(slice(None),) * dim, slice(start, stop)))
                for x, dim in zip(leaves, self.dims)
            ]
            parts.append(pytree.flatten(self.at_once(some, stop - start)))
        columns, spec = list(zip(*[outs for outs, _ in parts])), parts[0][1]
        if any(other != spec for _, other in parts):
            raise RuntimeError(f"{self.name()}: with chunk_size={chunk}, the chunks returned different structures")
        joined = [
            column[0] if dim is None else F.cat(*column, dim=dim if dim < 0 else dim - column[0]._data.ndim)
            for column, dim in zip(columns, self.places([column[0] for column in columns], spec))
        ]
        return pytree.unflatten(joined, spec)

    def places(self, outs: list[Any], spec: pytree.Spec) -> list[int | None]:
        """Where each result has its batch dimension."""
        if not outs:
            raise ValueError(
                f"{self.name()}: `{name_of(self.func)}` must only return Tensors, it returned none (structure {spec})."
            )
        out_dims = self.out_dims
        if type(out_dims) is int or out_dims is None:
            return [out_dims] * len(outs)
        if spec is pytree.LEAF and type(out_dims) is tuple and len(out_dims) == 1:
            out_dims = out_dims[0]
        if type(out_dims) is tuple and spec.kind is list:
            out_dims = list(out_dims)
        places = pytree.broadcast_prefix(out_dims, spec, DIMS)
        if places is None:
            raise ValueError(
                f"vmap({name_of(self.func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
                f"structure of `outputs`. out_dims has structure {pytree.flatten(out_dims)[1]} but outputs has "
                f"structure {spec}."
            )
        return places

    def result(self, t: Any, dim: int | None, level: int, size: int) -> Any:
        """A result as seen from outside, its batch in dimension ``dim``; for None, whatever is not batched."""
        if not isinstance(t, Tensor):
            if dim is None:
                return t
            raise ValueError(
                f"{self.name()}: `{name_of(self.func)}` must only return Tensors, got type {type(t)} as a return. "
                "Did you mean to set out_dims= to None for output?"
            )
        value = unpack_batched(t, level)
        if dim is None:
            if value is not None:
                raise ValueError(
                    f"{self.name()}: `{name_of(self.func)}` can not return a BatchedTensor when out_dim is None"
                )
            return t
        if value is None:
            value = expanded(t, size)
        if dim == 0:
            return value
        n = value._data.ndim
        if not -n <= dim < n:
            raise IndexError(
                f"{self.name()}: with out_dims={self.out_dims}, Dimension out of range (expected to be in range of "
                f"[{-n}, {n - 1}], but got {dim})"
            )
        return moved(value, 0, dim % n)

    def name(self) -> str:
        """How messages call it."""
        return f"vmap({name_of(self.func)}, ...)"
