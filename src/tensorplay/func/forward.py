"""Transforms of forward mode: ``jvp``, ``jacfwd``, and ``hessian``, forward over reverse."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd._forward import push_forward
from ..core import pytree
from ..core.namespace import F
from ..core.state import count, state
from ..core.tensor import Tensor
from ..core.transforms import unit_vectors
from .arguments import check_real, chosen, differentiable, replaced, split_aux, tensors_of, tree_like
from .batching import vmap
from .reverse import jacrev


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Value of a function and its derivative in one direction, in one pass.

    Parameters
    ----------
    func
        Takes the primals; returns tensors, or nested containers of them.
    primals, tangents
        Tuples of the same structure and shapes.
    strict
        Whether an output that does not depend on the primals is an error rather than a zero tangent.
    has_aux
        Whether ``func`` returns ``(output, aux)``; then the result is ``(output, tangent, aux)``.

    Returns
    -------
    tuple
        ``(output, tangent)``.

    Raises
    ------
    RuntimeError
        If primals and tangents differ in structure or shape, or hold anything but tensors; with ``strict``, if an
        output is independent of the primals.
    ValueError
        If a primal has no derivatives, as integers.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.jvp(lambda x: x * x, (tp.tensor(3.),), (tp.tensor(1.),))
    (tensor(9.), tensor(6.))
    """
    if not isinstance(primals, tuple) or not primals:
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected primals to be a tuple that is not empty, got {type(primals)}"
        )
    if not isinstance(tangents, tuple):
        raise RuntimeError(f"jvp(f, primals, tangents): Expected tangents to be a tuple, got {type(tangents)}")
    xs, spec = pytree.flatten(primals)
    differentiable(xs, "jvp", "primals", ValueError, RuntimeError)
    ts = tree_like(tangents, spec, "jvp", "the tangents", xs, RuntimeError)
    return pushed(func, xs, ts, spec, strict, has_aux, "jvp")


def pushed(
    func: Callable[..., Any], xs: list[Tensor], ts: list[Any], spec: pytree.Spec, strict: bool, has_aux: bool, name: str
) -> Any:
    """Output and tangent (and auxiliary output) of a function of a tree."""
    extra: list[Any] = []

    def call(duals: list[Tensor]) -> list[Any]:
        out, aux = split_aux(func(*pytree.unflatten(duals, spec)), has_aux, name)
        outs, out_spec = tensors_of(out, name)
        others, aux_spec = pytree.flatten(aux)
        extra.extend([len(outs), out_spec, aux_spec])
        return outs + others

    running = state.running
    state.running = (*running, (count(), name, (func, xs)))
    try:
        values, directions = push_forward(call, xs, ts)
    finally:
        state.running = running
    n, out_spec, aux_spec = extra
    given = {id(t._data) for t in ts if t is not None}
    for i in range(n):
        tangent = directions[i]
        if tangent is not None and id(tangent._data) in given:  # the caller's own, which he may write to
            directions[i] = F.clone(tangent)
        if tangent is None:
            if strict:
                raise RuntimeError(
                    f"{name}(f, primals, tangents, strict=True): The output of f is independent of the inputs "
                    f"(output {i}). This is not allowed with strict=True."
                )
            directions[i] = F.zeros_like(values[i].detach())
    result = pytree.unflatten(values[:n], out_spec), pytree.unflatten(directions[:n], out_spec)
    return (*result, pytree.unflatten(values[n:], aux_spec)) if has_aux else result


def jacfwd(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The function that computes the Jacobian of ``func`` by forward mode.

    Parameters
    ----------
    func
        Returns tensors, or nested containers of them.
    argnums
        Which positional argument (a tensor or a nested container of them) to differentiate; a tuple names several.
    has_aux
        Whether ``func`` returns ``(output, aux)``; then so does the result: ``(jacobian, aux)``.
    randomness
        What random operators do: ``"error"``, ``"same"`` or ``"different"`` for each column.

    Returns
    -------
    Callable
        Its result has the structure of the output with that of the argument inside; each part has the shape of the
        output followed by that of the input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.jacfwd(lambda x: x * x)(tp.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        inputs = chosen(argnums, args, "jacfwd")
        xs, spec = pytree.flatten(inputs)
        differentiable(xs, "jacfwd", f"the argument that argnums={argnums} names", ValueError)
        check_real(xs, "jacfwd", "inputs")
        wrapped = pytree.Spec(tuple, None, (spec,))
        call = lambda tree: func(*replaced(args, argnums, tree), **kwargs)
        aux: Any = None
        columns: list[list[Tensor]] = []
        out_spec = pytree.LEAF
        for i, x in enumerate(xs):  # one batch of directions for each input; the others stand still

            def push(direction: Tensor, i: int = i) -> Any:
                nonlocal aux
                directions = [direction if j == i else None for j in range(len(xs))]
                _, tangent, *rest = pushed(call, xs, directions, wrapped, False, has_aux, "jacfwd")
                aux = rest[0] if rest else None
                check_real(pytree.flatten(tangent)[0], "jacfwd", "outputs")
                return tangent

            basis = unit_vectors(x, 0, int(x._data.size))
            outs, out_spec = pytree.flatten(vmap(push, out_dims=-1, randomness=randomness)(basis))
            columns.append([F.reshape(t, (*t._data.shape[:-1], *x._data.shape)) for t in outs])
        jac = pytree.unflatten([pytree.unflatten(row, spec) for row in zip(*columns)], out_spec)
        return (jac, aux) if has_aux else jac

    return jacobian


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function that computes the Hessian of ``func``: forward mode over reverse mode.

    Parameters
    ----------
    func
        Returns tensors, or nested containers of them (commonly a scalar).
    argnums
        Which positional argument to differentiate; a tuple names several.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.hessian(lambda x: (x * x * x).sum())(tp.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
