"""Second derivatives without Hessians: ``laplacian``, ``hvp``, ``hessian_diag``.

The forward Laplacian carries value, gradient and Laplacian of everything through a function, in one sweep [1]_. An
operator maps the Laplacian ``L`` of its input by its derivative, and adds its second derivative along the gradients:
``L(f(x)) = f'(x) L(x) + sum_i f''(x)[d_i x, d_i x]``. Affine operators add nothing; what the others add is in their
Taylor polynomial of order two, which :mod:`tensorplay.func.taylor` knows.

.. [1] R. Li et al., A computational framework for neural network-based variational Monte Carlo with Forward Laplacian,
   Nature Machine Intelligence 6 (2024) 209-219.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import pytree
from ..core.carrier import Batched, Moving, is_integral, match
from ..core.namespace import F
from ..core.primitive import Primitive
from ..core.state import state
from ..core.tensor import Tensor, wrap
from ..core.transforms import alive, enter, expanded, leave, moved, unit_vectors
from .arguments import differentiable, tensors_of
from .batching import vmap
from .forward import jvp
from .reverse import grad
from .taylor import BILINEAR, PIECEWISE, Jet, affine, call, moving_tensor, pushed_series


class Swept(Moving):
    """A value, its gradient (one derivative for each element of the argument, in front) and its Laplacian.

    The Laplacian is None where it is zero.
    """

    __slots__ = ("gradient", "laplacian")
    transform = "laplacian"

    def __init__(self, primal: Tensor, gradient: Tensor, laplacian: Tensor | None, level: int) -> None:
        data = primal._data
        self.primal, self.gradient, self.level = primal, gradient, level
        self.laplacian = None if laplacian is None else match(laplacian, primal)
        self.shape, self.dtype, self.ndim = data.shape, data.dtype, data.ndim
        if gradient._data.dtype != data.dtype:
            self.gradient = F.cast(gradient, data.dtype)
        if gradient._data.shape[1:] != data.shape:
            lead, shape = gradient._data.shape[0], gradient._data.shape[1:]
            ones = (1,) * (data.ndim - len(shape))
            self.gradient = F.expand(F.reshape(self.gradient, (lead, *ones, *shape)), (lead, *data.shape))

    @property
    def parts(self) -> tuple[Tensor, ...]:
        return (self.primal, self.gradient) if self.laplacian is None else (self.primal, self.gradient, self.laplacian)

    def at(self, primal: Tensor) -> Swept:
        return Swept(primal, self.gradient, self.laplacian, self.level)

    def still(self) -> Swept:
        return Swept(self.primal, F.zeros_like(self.gradient), None, self.level)

    def run(self, primitive: Primitive, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        p, level = primitive, self.level
        swept: list[Any] = []
        for a in args:
            data = getattr(a, "_data", None)
            swept.append(data if type(data) is Swept and data.level == level else None)
        primals = tuple([a if s is None else s.primal for a, s in zip(args, swept)])
        moving = tuple([i for i, s in enumerate(swept) if s is not None and (p.variadic or i in p.differentiable)])
        if not moving or p.push is None or not state.forward_ad:
            return call(p, primals, attrs)
        if affine(p, moving) or (p.name in PIECEWISE and primals[0]._data.dtype.kind != "c"):
            bilinear = False
        elif p.elementwise and len(moving) == 1 and (p.holomorphic or primals[moving[0]]._data.dtype.kind != "c"):
            return self.on_elements(p, moving[0], primals, attrs, swept[moving[0]])
        else:
            bilinear = moving[:2] == (0, 1) and p.name in BILINEAR
            if not bilinear:
                return self.on_jets(p, primals, attrs, swept)
        push: Any = p.push
        out = call(p, primals, attrs)
        if is_integral(out):
            return out
        gradients = [None if s is None else s.gradient for s in swept]
        slopes = along(gradients, lambda given: push(given, out, primals, attrs))
        rest = pushed_laplacians(p, out, primals, attrs, swept)
        if bilinear:
            nothing = [None] * (len(args) - 2)
            mixed = along(gradients[:2], lambda given: p.function(*given, *nothing, *attrs))
            rest = plus(2 * F.sum(mixed, (-mixed._data.ndim,), False), rest)
        return assembled(out, slopes, rest, level)

    def on_elements(self, p: Primitive, i: int, primals: tuple[Any, ...], attrs: Any, given: Swept) -> Any:
        """A function of each element: two derivatives say all, whatever the number of directions."""
        if p.name in DERIVATIVES:
            out = p.function(*primals, *attrs)
            first, second = DERIVATIVES[p.name](primals[0], out)
        else:
            found = derivatives(p, i, primals, attrs)
            if isinstance(found, Tensor):
                return found
            out, first, second = found
        gradient, laplacian, ndim = given.gradient, given.laplacian, out._data.ndim
        if gradient._data.ndim < ndim + 1:  # the operand is broadcast
            n, *shape = gradient._data.shape
            gradient = F.reshape(gradient, (n, *(1,) * (ndim - len(shape)), *shape))
        rest = None if second is None else second * F.sum(gradient * gradient, (-gradient._data.ndim,), False)
        if first is None:  # the derivative is zero here: a power of zero
            return Swept(out, F.zeros_like(gradient), rest, self.level)
        if laplacian is not None:
            rest = plus(first * laplacian, rest)
        return Swept(out, first * gradient, rest, self.level)

    def on_jets(self, p: Primitive, primals: tuple[Any, ...], attrs: tuple[Any, ...], swept: list[Any]) -> Any:
        """Any operator: its polynomials of order two along all directions at once."""
        values: Any = None

        def polynomials(given: list[Any]) -> list[Any]:
            nonlocal values
            level = enter()
            try:
                moved = tuple([x if t is None else wrap(Jet((x, t, None), level)) for x, t in zip(primals, given)])
                out = call(p, moved, attrs)
                outs = out if type(out) is tuple else (out,)
                found = [o._data.coefficients if jet_of(o, level) else (o, None, None) for o in outs]
            finally:
                leave(level)
            values = tuple([c[0] for c in found]) if type(out) is tuple else found[0][0]
            return [c[k] for k in (1, 2) for c in found]

        found = along([None if s is None else s.gradient for s in swept], polynomials)
        n = len(found) // 2
        bends = [None if c is None else 2 * F.sum(c, (-c._data.ndim,), False) for c in found[n:]]
        rest = pushed_laplacians(p, values, primals, attrs, swept)
        if type(values) is tuple:
            return assembled(values, found[:n], [plus(a, b) for a, b in zip(rest, bends)], self.level)
        return assembled(values, found[0], plus(rest, bends[0]), self.level)


def tanh_derivatives(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    first = 1 - y * y
    return first, -2 * (y * first)


def sigmoid_derivatives(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    first = y - y * y
    return first, first * (1 - 2 * y)


DERIVATIVES: dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "cos": lambda x, y: (-F.sin(x), -y),
    "exp": lambda x, y: (y, y),
    "sigmoid": sigmoid_derivatives,
    "sin": lambda x, y: (F.cos(x), -y),
    "tanh": tanh_derivatives,
}
"""First and second derivatives, from argument and value, of what networks are made of: in fewer steps."""


def derivatives(p: Primitive, i: int, primals: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """The value of a function of each element with its derivatives (None: zero); the value alone if it is constant."""
    x = primals[i]
    level = enter()
    try:
        moved = wrap(Jet((x, wrap(np.ones((), x._data.dtype)), None), level))
        out = p.function(*primals[:i], moved, *primals[i + 1 :], *attrs)
    finally:
        leave(level)
    if not jet_of(out, level):
        return out
    first, second = out._data.rest
    return out._data.primal, first, None if second is None else 2 * second


def pushed_laplacians(p: Primitive, out: Any, primals: tuple[Any, ...], attrs: Any, swept: list[Any]) -> Any:
    """The Laplacians of the inputs, mapped by the derivative."""
    laplacians = [None if s is None else s.laplacian for s in swept]
    if all([v is None for i, v in enumerate(laplacians) if p.variadic or i in p.differentiable]):
        return [None] * len(out) if type(out) is tuple or type(out) is list else None
    assert p.push is not None
    return p.push(laplacians, out, primals, attrs)


def plus(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    return b if a is None else a if b is None else a + b


def assembled(out: Any, slopes: Any, laplacians: Any, level: int) -> Any:
    """Results as data that move; as they are where they do not."""
    if type(out) is tuple or type(out) is list:
        return [assembled(*parts, level) for parts in zip(out, slopes, laplacians)]
    return out if slopes is None else Swept(out, slopes, laplacians, level)


def along(directions: list[Any], rule: Callable[[list[Any]], Any]) -> Any:
    """A rule for tangents, at all directions at once: its results have the directions in front."""
    n = next(d._data.shape[0] for d in directions if d is not None)
    level = enter()
    try:
        found = rule([None if d is None else wrap(Batched(d, level)) for d in directions])
        if type(found) is tuple or type(found) is list:
            return [unbatched(t, level, n) for t in found]
        return unbatched(found, level, n)
    finally:
        leave(level)


def unbatched(t: Tensor | None, level: int, n: int) -> Tensor | None:
    if t is None:
        return None
    data = t._data
    return data.value if type(data) is Batched and data.level == level else expanded(t, n)


def jet_of(t: Tensor, level: int) -> bool:
    return type(t._data) is Jet and t._data.level == level


# ---- the transforms


def laplacian(f: Callable[[Tensor], Any], x: Tensor) -> tuple[Any, Any, Any]:
    """Value, gradient and Laplacian of a function, in one forward sweep, without its Hessian.

    Parameters
    ----------
    f
        Takes one tensor; returns tensors, or nested containers of them.
    x
        A floating tensor of any shape; the Laplacian is the sum over all of its elements. For a batch of points use
        ``vmap``: ``vmap(lambda x: laplacian(f, x))(points)``.

    Returns
    -------
    tuple
        ``(value, gradient, laplacian)``, each of the structure of the output. The gradients have the shapes of the
        output followed by that of ``x``; value and Laplacian that of the output.

    Raises
    ------
    ValueError
        If ``x`` is not a floating or complex Tensor.
    NotImplementedError
        If ``f`` calls an operator without forward rule, or a custom ``Function``.

    Notes
    -----
    The forward Laplacian of R. Li et al., Nature Machine Intelligence 6 (2024) 209-219.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.laplacian(lambda x: (x ** 3).sum(), tp.tensor([1., 2.]))
    (tensor(9.), tensor([ 3., 12.]), tensor(18.))
    """
    differentiable([x], "laplacian", "x", ValueError)
    level, running, shape = enter(), state.running, x._data.shape
    state.running = (*running, (level, "laplacian", (f, x)))
    try:
        outs, spec = tensors_of(f(moving_tensor(Swept(x, unit_vectors(x, 0, x._data.size), None, level))), "laplacian")
        found: list[tuple[Any, Any, Any]] = []
        for o in outs:
            data = o._data
            if type(data) is not Swept or data.level != level:
                found.append((alive(o, level), None, None))
            else:
                found.append((data.primal, data.gradient, data.laplacian))
    finally:
        state.running = running
        leave(level)
    gradients, laplacians = [], []
    for value, gradient, second in found:
        lead = value._data.shape
        if gradient is None:
            zero = F.zeros_like(value.detach())
            gradients.append(F.expand(F.reshape(zero, (*lead, *(1,) * len(shape))), (*lead, *shape)))
        else:
            gradients.append(F.reshape(moved(gradient, 0, len(lead)), (*lead, *shape)))
        laplacians.append(F.zeros_like(value.detach()) if second is None else second)
    values = [value for value, _, _ in found]
    return pytree.unflatten(values, spec), pytree.unflatten(gradients, spec), pytree.unflatten(laplacians, spec)


def hvp(f: Callable[..., Tensor], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The Hessian of a scalar function times a vector: forward mode over reverse mode.

    Parameters
    ----------
    f
        Takes the primals; returns a scalar tensor.
    primals, tangents
        Tuples of the same structure and shapes.

    Returns
    -------
    Tensor or tuple
        For one primal the product, of its structure; for several a tuple with one part for each, the sum over all
        tangents.

    Raises
    ------
    RuntimeError
        If ``f`` does not return a scalar tensor, or primals and tangents differ in structure or shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.hvp(lambda x: (x ** 3).sum(), (tp.tensor([1., 2.]),), (tp.tensor([1., 1.]),))
    tensor([ 6., 12.])
    """
    if not isinstance(primals, tuple) or not primals:
        raise RuntimeError(f"hvp: Expected primals to be a tuple that is not empty, got {type(primals)}")
    if not isinstance(tangents, tuple) or len(tangents) != len(primals):
        got = len(tangents) if isinstance(tangents, tuple) else type(tangents)
        raise RuntimeError(f"hvp: Expected tangents to be a tuple of {len(primals)}, one for each primal, got {got}")
    argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(grad(f, argnums), primals, tangents)[1]


def hessian_diag(
    f: Callable[[Tensor], Any], x: Tensor, *, chunk_size: int | None = None, randomness: str = "error"
) -> Any:
    """The diagonal of the Hessian: the second derivative along each element of the argument, by Taylor polynomials.

    Parameters
    ----------
    f
        Takes one tensor; returns tensors, or nested containers of them.
    x
        A floating tensor of any shape.
    chunk_size
        How many elements are seen to at once; fewer need less memory. None: all.
    randomness
        What random operators in ``f`` do: ``"error"``, ``"same"`` (all elements see one function) or ``"different"``.

    Returns
    -------
    Tensor or container
        The structure of the output; each part has the shape of the output followed by that of ``x``.

    Raises
    ------
    ValueError
        If ``x`` is not a floating or complex Tensor.
    RuntimeError
        If ``f`` draws random numbers and ``randomness`` does not say how.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.func.hessian_diag(lambda x: (x ** 3).sum() + x[0] * x[1], tp.tensor([1., 2.]))
    tensor([ 6., 12.])
    """
    differentiable([x], "hessian_diag", "x", ValueError)
    shape, size = x._data.shape, int(x._data.size)

    def second(direction: Tensor) -> Any:
        outs, spec = pushed_series(f, [[x, direction, None]], "hessian_diag")
        zero = [F.zeros_like(c[0].detach()) if len(c) < 3 or c[2] is None else 2 * c[2] for c in outs]
        return pytree.unflatten(zero, spec)

    leaves, spec = pytree.flatten(vmap(second, 0, 0, randomness, chunk_size=chunk_size)(unit_vectors(x, 0, size)))
    found = [moved(t, 0, t._data.ndim - 1) for t in leaves]
    return pytree.unflatten([F.reshape(t, (*t._data.shape[:-1], *shape)) for t in found], spec)
