"""Transforms of reverse mode: ``grad``, ``grad_and_value``, ``vjp``, ``jacrev``; and ``linearize``, transposed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd._reverse import Leaves, zeros_for
from ..core import pytree
from ..core.namespace import F
from ..core.state import set_recording, state
from ..core.tensor import Tensor, wrap
from ..core.transforms import matching, unit_vectors, zeros_of
from .arguments import (
    check_real,
    chosen,
    differentiable,
    differentiable_outputs,
    replaced,
    split_aux,
    tensors_of,
    tree_like,
)


def value_and_gradient(
    func: Callable[..., Any], argnums: Any, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> tuple[Any, Tensor, Any, Leaves]:
    """Gradient of a scalar function; its value and auxiliary output, and the leaves to release them from."""
    inputs = chosen(argnums, args, name)
    single = type(inputs) is Tensor
    xs, spec = ([inputs], pytree.LEAF) if single else pytree.flatten(inputs)
    differentiable(xs, name, f"the argument that argnums={argnums} names")
    recording, running = bool(state.recording), state.running
    set_recording(True)
    try:
        leaves = Leaves(xs, recording)
        state.running = (*running, (leaves.oldest, name, (func, args, kwargs)))
        given = leaves.tensors[0] if single else pytree.unflatten(leaves.tensors, spec)
        out, aux = split_aux(func(*replaced(args, argnums, given), **kwargs), has_aux, name)
        if not isinstance(out, Tensor):
            raise RuntimeError(f"{name}(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}")
        if out._data.shape != ():
            raise RuntimeError(
                f"{name}(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                f"{out._data.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        if out._node is None:
            found: list[Any] = [None] * len(xs)
        else:
            if out._data.dtype.kind == "c":
                raise RuntimeError(
                    f"{name}(f)(*args): grad can be implicitly created only for real scalar outputs, "
                    f"f returned {out.dtype}"
                )
            found = leaves.pull([out], [one_for(out)], None if recording else False, retain_graph=has_aux)
        leaves.done()
    finally:
        state.running = running
        set_recording(recording)
    gradients = [zeros_for(x) if g is None else g for g, x in zip(found, xs)]
    return gradients[0] if single else pytree.unflatten(gradients, spec), out, aux, leaves


def one_for(out: Tensor) -> Tensor:
    data = out._data
    return wrap(np.array(1, data.dtype)) if type(data) is np.ndarray else F.ones_like(wrap(data))


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that computes the gradient of ``func``.

    Parameters
    ----------
    func
        Returns a scalar tensor; with ``has_aux`` a tuple of that and an auxiliary output.
    argnums
        Which positional argument (a tensor or a nested container of them) to differentiate; a tuple names several.
    has_aux
        Whether the auxiliary output is returned along: ``(gradient, aux)``.

    Raises
    ------
    RuntimeError
        If ``func`` does not return a scalar tensor, or ``argnums`` names no argument.

    Notes
    -----
    ``no_grad`` around the call says that the gradient need not be differentiable; inside ``func`` it cuts the graph.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.grad(lambda x: x * x)(tp.tensor(3.))
    tensor(6.)
    """

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        g, _, aux, leaves = value_and_gradient(func, argnums, has_aux, args, kwargs, "grad")
        return (g, pytree.tree_map(leaves.released, aux)) if has_aux else g

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that computes gradient and value: ``(gradient, value)``, or ``(gradient, (value, aux))``.

    See :func:`grad` for the parameters.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.grad_and_value(lambda x: x * x)(tp.tensor(3.))
    (tensor(6.), tensor(9.))
    """

    @functools.wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        g, out, aux, leaves = value_and_gradient(func, argnums, has_aux, args, kwargs, "grad_and_value")
        value = leaves.released(out)
        return (g, (value, pytree.tree_map(leaves.released, aux))) if has_aux else (g, value)

    return gradient_and_value


class Recorded:
    """One recorded call of a function: its outputs, and the leaves that gradients are asked for."""

    __slots__ = ("aux", "leaves", "outs", "primals", "recording", "spec")

    def __init__(
        self, func: Callable[..., Any], primals: list[Any], spec: pytree.Spec, has_aux: bool, name: str
    ) -> None:
        self.primals = differentiable(primals, name, "primals", ValueError if name == "linearize" else RuntimeError)
        recording, running = bool(state.recording), state.running
        set_recording(True)
        try:
            self.leaves = Leaves(primals, recording)
            state.running = (*running, (self.leaves.oldest, name, (func,)))
            out, self.aux = split_aux(func(*pytree.unflatten(self.leaves.tensors, spec)), has_aux, name)
            self.leaves.done()
        finally:
            state.running = running
            set_recording(recording)
        self.outs, self.spec = tensors_of(out, name)

    def output(self) -> Any:
        """What the function returned, released."""
        return pytree.unflatten([self.leaves.released(o) for o in self.outs], self.spec)

    def auxiliary(self) -> Any:
        """What the function returned along, released."""
        return pytree.tree_map(self.leaves.released, self.aux)

    def pull(self, cotangents: list[Tensor], create_graph: bool | None = None) -> list[Tensor]:
        """Gradients of the primals, zeros where there is no path."""
        outs = self.outs
        for o, g in zip(outs, cotangents):
            if o._node is not None:
                found = self.leaves.pull(outs, [matching(g, o) for o, g in zip(outs, cotangents)], create_graph)
                return [zeros_for(x) if g is None else g for g, x in zip(found, self.primals)]
        return [zeros_for(x) for x in self.primals]


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Value of a function, and the function that pulls cotangents of its output back to its inputs.

    Parameters
    ----------
    func
        Takes the primals; returns tensors, or nested containers of them (with ``has_aux``: a tuple of that and more).
    primals
        Tensors, or nested containers of them.

    Returns
    -------
    tuple
        ``(output, pull)`` or ``(output, pull, aux)``; ``pull(cotangents)`` gives a tuple with the gradient of each
        primal. It may be called any number of times: what was recorded lives as long as ``pull``, whatever is given as
        its ``retain_graph``.

    Raises
    ------
    RuntimeError
        If an output is of integers, or the cotangents do not have the structure and shapes of the output.

    Examples
    --------
    >>> import tensorplay as tp
    >>> y, pull = tp.func.vjp(lambda x: x * x, tp.tensor([1., 2.]))
    >>> pull(tp.tensor([1., 1.]))
    (tensor([2., 4.]),)
    """
    xs, spec = pytree.flatten(primals)
    call = Recorded(func, xs, spec, has_aux, "vjp")
    differentiable_outputs(call.outs, "vjp")

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given = tree_like(cotangents, call.spec, "vjp", "the cotangents", call.outs)
        return pytree.unflatten(call.pull(given, create_graph), spec)

    return (call.output(), pull, call.auxiliary()) if has_aux else (call.output(), pull)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Value of a function, and its derivative as a function of the tangents.

    The function runs once, however often the derivative is applied: its recorded pullback is linear in the cotangent,
    and is transposed.

    Parameters
    ----------
    func
        Takes the primals; returns tensors, or nested containers of them.
    primals
        Tensors, or nested containers of them.

    Returns
    -------
    tuple
        ``(output, push)``; ``push(*tangents)`` gives the tangent of the output.

    Examples
    --------
    >>> import tensorplay as tp
    >>> y, push = tp.func.linearize(lambda x: x * x, tp.tensor(3.))
    >>> push(tp.tensor(1.))
    tensor(6.)
    """
    if not primals:
        raise RuntimeError("linearize: expected at least one primal")
    xs, spec = pytree.flatten(primals)
    call = Recorded(func, xs, spec, False, "linearize")
    reached = [o for o in call.outs if o._node is not None]
    recording = bool(state.recording)
    set_recording(True)
    try:
        cotangents = Leaves([zeros_for(o) for o in reached], False, call.leaves)
        cotangents.done()
        pulled = call.leaves.pull(reached, cotangents.tensors, True) if reached else [None] * len(xs)
    finally:
        set_recording(recording)

    def push(*tangents: Any) -> Any:
        given = tree_like(tangents, spec, "linearize", "the tangents", xs)
        for i, (t, x) in enumerate(zip(given, xs)):
            if t._data.dtype != x._data.dtype:
                raise RuntimeError(
                    f"linearize: tangent {i} with dtype {t.dtype} doesn't match the dtype {x.dtype} of the "
                    "corresponding primal"
                )
        pairs = [(g, t) for g, t in zip(pulled, given) if g is not None and g._node is not None]
        found = iter(cotangents.pull([g for g, _ in pairs], [t for _, t in pairs]) if pairs else [None] * len(reached))
        out = [next(found) if o._node is not None else None for o in call.outs]
        return pytree.unflatten([zeros_for(o) if t is None else t for o, t in zip(call.outs, out)], call.spec)

    return call.output(), push


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The function that computes the Jacobian of ``func`` by reverse mode.

    Parameters
    ----------
    func
        Returns tensors, or nested containers of them.
    argnums
        Which positional argument (a tensor or a nested container of them) to differentiate; a tuple names several.
    has_aux
        Whether ``func`` returns ``(output, aux)``; then so does the result: ``(jacobian, aux)``.
    chunk_size
        How many rows are computed at once; fewer need less memory. None: all.

    Returns
    -------
    Callable
        Its result has the structure of the output with that of the argument inside; each part has the shape of the
        output followed by that of the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.jacrev(lambda x: x * x)(tp.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or (isinstance(chunk_size, int) and chunk_size > 0)):
        raise ValueError(f"jacrev: `chunk_size` should be greater than 0, got {chunk_size}")

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        inputs = chosen(argnums, args, "jacrev")
        xs, spec = pytree.flatten(inputs)
        check_real(xs, "jacrev", "inputs")
        call = Recorded(
            lambda tree: func(*replaced(args, argnums, tree), **kwargs), xs, argument(spec), has_aux, "jacrev"
        )
        differentiable_outputs(call.outs, "jacrev")
        check_real(call.outs, "jacrev", "outputs")
        rows = [pytree.unflatten(rows_of(call, k, chunk_size), spec) for k in range(len(call.outs))]
        jac = pytree.unflatten(rows, call.spec)
        return (jac, call.auxiliary()) if has_aux else jac

    return jacobian


def argument(spec: pytree.Spec) -> pytree.Spec:
    """The structure of a tuple that holds one tree."""
    return pytree.Spec(tuple, None, (spec,))


def rows_of(call: Recorded, k: int, chunk: int | None) -> list[Tensor]:
    """The Jacobian of output ``k`` with respect to each primal."""
    out, xs = call.outs[k], call.primals
    shape, n = out._data.shape, int(out._data.size)
    if out._node is None or n == 0:
        return [zeros_of(x, shape) for x in xs]
    chunk = n if chunk is None else min(chunk, n)
    parts: list[list[Tensor]] = [[] for _ in xs]
    for start in range(0, n, chunk):
        stop = min(start + chunk, n)
        seeds = unit_vectors(out, start, stop)
        if stop - start == 1:
            found = call.leaves.pull([out], [F.reshape(seeds, shape)])
            found = [None if g is None else F.reshape(g, (1, *g._data.shape)) for g in found]
        else:
            found = call.leaves.pull_batch([out], [seeds])
        for part, g, x in zip(parts, found, xs):
            part.append(zeros_of(x, (stop - start,)) if g is None else g)
    whole = [p[0] if len(p) == 1 else F.cat(*p, dim=-p[0]._data.ndim) for p in parts]
    return [F.reshape(w, (*shape, *x._data.shape)) for w, x in zip(whole, xs)]
