"""Derivatives of functions: Jacobian-vector products, Jacobians, Hessians.

Inputs and results are a tensor, a tuple of them, or nested containers; a tuple (or list) of inputs is passed as
separate arguments. Results mirror the structure of what they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import pytree
from ..core.namespace import F
from ..core.node import AccumulateGrad, Output, Reduce
from ..core.state import set_recording, state
from ..core.tensor import Tensor, wrap
from ..core.transforms import (
    StandIn,
    enter,
    leave,
    make_batched,
    make_dual,
    matching,
    unit_vectors,
    unpack_dual,
    zeros_of,
)
from ._forward import dependent_inputs, push_forward
from ._reverse import Leaves, unpacked, zeros_for
from .engine import collect

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


# ---- what all share


class Recording:
    """Recording on (or off) for a stretch of code, and as it was afterwards."""

    __slots__ = ("before", "mode")

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self.before = bool(state.recording)
        set_recording(self.mode)

    def __exit__(self, *exc: object) -> None:
        set_recording(self.before)


class Structure:
    """How the inputs were given: whether each is an argument of its own, and what they are nested in."""

    __slots__ = ("separate", "spec")

    def __init__(self, separate: bool, spec: pytree.Spec) -> None:
        self.separate, self.spec = separate, spec

    def call(self, func: Callable[..., Any], leaves: Sequence[Tensor]) -> Any:
        tree = pytree.unflatten(leaves, self.spec)
        return func(*tree) if self.separate else func(tree)


def taken_apart(tree: Any, name: str, what: str) -> tuple[list[Tensor], pytree.Spec]:
    """The tensors of a tree; anything else in it is an error."""
    leaves, spec = pytree.flatten(tree)
    for i, x in enumerate(leaves):
        if not isinstance(x, Tensor):
            if spec is pytree.LEAF:
                raise TypeError(
                    f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the given "
                    f"{what} has type {type(x)}."
                )
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the value at "
                f"index {i} has type {type(x)}."
            )
    if not leaves:
        raise TypeError(
            f"The {what} given to {name} must be either a Tensor or a tuple of Tensors, got no Tensor at all."
        )
    return leaves, spec


def inputs_of(inputs: Any, name: str) -> tuple[list[Tensor], Structure]:
    xs, spec = taken_apart(inputs, name, "inputs")
    for i, x in enumerate(xs):
        if x._data.dtype.kind not in "fcV":
            raise RuntimeError(
                f"{name}: only Tensors of floating point and complex dtype can require gradients, but input {i} "
                f"is of {x.dtype}"
            )
    return xs, Structure(spec.kind in (tuple, list), spec)


def outputs_of(out: Any, name: str) -> tuple[list[Tensor], pytree.Spec]:
    return taken_apart(out, name, "outputs of the user-provided function")


def vector(v: Any, like: list[Tensor], spec: pytree.Spec, name: str, what: str) -> list[Tensor]:
    """The tensors of ``v``, checked against those it belongs to; a single element needs none."""
    if v is None:
        if len(like) != 1 or like[0]._data.size != 1:
            raise RuntimeError(f"The vector v can only be None if {what}.")
        return [F.ones_like(wrap(like[0]._data))]
    vs, v_spec = taken_apart(v, name, "v")
    if len(vs) != len(like):
        raise RuntimeError(f"{name}: v is a tuple of invalid length: should be {len(like)} but got {len(vs)}.")
    if v_spec != spec:
        if spec.kind is dict or v_spec.kind is dict:
            vs = pytree.flatten_like(v, spec, name, "v")
        elif not (v_spec is pytree.LEAF or spec is pytree.LEAF or {v_spec.kind, spec.kind} <= {tuple, list}):
            raise RuntimeError(f"{name}: expected v to have the structure {spec}, got {v_spec}")
    result = []
    for i, (part, x) in enumerate(zip(vs, like)):
        entry = f"Entry {i} in v" if len(like) > 1 else "v"
        if part._data.shape != x._data.shape:
            raise RuntimeError(
                f"{name}: {entry} has invalid size: should be {list(x.shape)} but got {list(part.shape)}."
            )
        if part._data.dtype != x._data.dtype and (part._data.dtype.kind == "c") != (x._data.dtype.kind == "c"):
            raise RuntimeError(
                f"{name}: {entry} and what it multiplies must both be real or both complex: {entry} is of "
                f"{part.dtype}, expected {x.dtype}"
            )
        result.append(matching(part, x))
    return result


def inputs_and_vector(inputs: Any, v: Any, name: str) -> tuple[list[Tensor], Structure, list[Tensor]]:
    """The inputs, and a vector that is one of their tangents."""
    xs, structure = inputs_of(inputs, name)
    what = "the input to the user-provided function is a single Tensor with a single element"
    return xs, structure, vector(v, xs, structure.spec, name, what)


IN_STRICT_MODE = "This is not allowed in strict mode."

NO_PATH = {
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the user-provided function. "
    + IN_STRICT_MODE,
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    f"input {{i}} is independent of the input. {IN_STRICT_MODE} You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
    "example).",
    "hessian": "The hessian of the user-provided function with respect to input {i} is independent of the input. "
    f"{IN_STRICT_MODE} You should ensure that your function is thrice differentiable and that the hessian depends on "
    "the inputs.",
}


def require_path(parts: Sequence[Tensor | None], kind: str, strict: bool) -> None:
    """In strict mode, refuse results that do not depend on the inputs."""
    if not strict:
        return
    for i, part in enumerate(parts):
        if part is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {i}. {IN_STRICT_MODE}"
            )
        if part._node is None:
            raise RuntimeError(NO_PATH[kind].format(i=i))


def filled(
    parts: Sequence[Tensor | None], like: Sequence[Tensor], strict: bool, create_graph: bool, message: str, second: str
) -> list[Tensor]:
    """Zeros where there is no path; in strict mode that is an error, and so is a result that is constant."""
    result = []
    for i, (part, x) in enumerate(zip(parts, like)):
        if part is None:
            if strict:
                raise RuntimeError(f"{message.format(i=i)} {IN_STRICT_MODE}")
            part = zeros_for(x)
        elif strict and create_graph and part._node is None:
            raise RuntimeError(f"{second.format(i=i)} This is not allowed in strict mode when create_graph=True.")
        result.append(part)
    return result


INDEPENDENT = "The output of the user-provided function is independent of input {i}."
JACOBIAN_INDEPENDENT = "The jacobian of the user-provided function is independent of input {i}."
TRICK_INDEPENDENT = (
    "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
    "backward trick to compute forward mode gradients."
)
HESSIAN_INDEPENDENT = "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian."


def pulled(
    leaves: Leaves, outs: Sequence[Tensor | None], cotangents: Sequence[Tensor], create_graph: bool
) -> list[Tensor | None]:
    """Gradients of the leaves from those outputs that have a history."""
    pairs = [(o, g) for o, g in zip(outs, cotangents) if o is not None and o._node is not None]
    if not pairs:
        return [None] * len(leaves.ends)
    return leaves.pull([o for o, _ in pairs], [g for _, g in pairs], create_graph)


def finished(parts: Sequence[Tensor], spec: pytree.Spec, create_graph: bool) -> Any:
    """The results in their structure; without history unless it was asked for."""
    return pytree.unflatten(parts if create_graph else [p._alias(None) for p in parts], spec)


def scalar_output(outs: list[Tensor], spec: pytree.Spec, name: str) -> Tensor:
    """The only output of a function that has a gradient."""
    if spec is not pytree.LEAF:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outs[0]._data.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element, got shape "
            f"{list(outs[0].shape)}"
        )
    return outs[0]


def value_and_gradients(
    func: Callable[..., Any], xs: list[Tensor], structure: Structure, create_graph: bool, strict: bool, name: str
) -> tuple[Leaves, Tensor, pytree.Spec, list[Tensor | None]]:
    """The leaves of a scalar function, its output, and the gradients, which are differentiable themselves."""
    leaves = Leaves(xs, create_graph)
    outs, spec = outputs_of(structure.call(func, leaves.tensors), name)
    require_path(outs, "outputs", strict)
    out = scalar_output(outs, spec, name)
    gradients = pulled(leaves, [out], [F.ones_like(wrap(out._data))], True)
    require_path(gradients, "jacobian", strict)
    return leaves, out, spec, gradients


# ---- products


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of a vector and the Jacobian of a function.

    Parameters
    ----------
    func
        Takes the inputs; returns a tensor or a tuple of them.
    inputs
        A tensor, a tuple of them (separate arguments), or a nested container.
    v
        Has the shapes of the output; may be left out if that is a single element.
    create_graph
        Whether output and result are differentiable.
    strict
        Whether an input that the outputs do not depend on is an error rather than a zero gradient.

    Returns
    -------
    tuple
        ``(func_output, vjp)``; the second mirrors the inputs.

    Raises
    ------
    TypeError
        If inputs or outputs hold anything but tensors.
    RuntimeError
        If ``v`` does not fit the output; in strict mode, if there is no dependence.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.autograd.functional.vjp(lambda x: x * x, tp.tensor([1., 2.]), tp.tensor([1., 1.]))[1]
    tensor([2., 4.])
    """
    xs, structure = inputs_of(inputs, "vjp")
    with Recording(True):
        leaves = Leaves(xs, create_graph)
        outs, out_spec = outputs_of(structure.call(func, leaves.tensors), "vjp")
        require_path(outs, "outputs", strict)
        vs = vector(
            v, outs, out_spec, "vjp", "the user-provided function returns a single Tensor with a single element"
        )
        found = pulled(leaves, outs, vs, create_graph)
        result = filled(found, xs, strict, create_graph, INDEPENDENT, JACOBIAN_INDEPENDENT)
        return finished(outs, out_spec, create_graph), finished(result, structure.spec, create_graph)


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
    mode: str = "reversed",
) -> tuple[Any, Any]:
    """The product of the Jacobian of a function and a vector: its derivative in the direction of the vector.

    Parameters
    ----------
    func
        Takes the inputs; returns a tensor or a tuple of them.
    inputs
        A tensor, a tuple of them (separate arguments), or a nested container.
    v
        Has the shapes of the inputs; may be left out if they are a single element.
    create_graph
        Whether output and result are differentiable.
    strict
        Whether an input that no output depends on, or an output that depends on no input, is an error rather than zero.
    mode
        ``"reversed"`` pulls back twice (the pullback is linear in its cotangent). ``"forward"`` carries the tangent
        along in a single pass of forward mode: less work and memory, and no graph unless ``create_graph`` asks for
        one.

    Returns
    -------
    tuple
        ``(func_output, jvp)``; both have the structure that the function returned.

    Raises
    ------
    ValueError
        If ``mode`` is another one.
    TypeError
        If inputs or outputs hold anything but tensors.
    RuntimeError
        If ``v`` does not fit the inputs; in strict mode, if there is no dependence.

    Notes
    -----
    In forward mode without ``create_graph`` the function runs as under ``no_grad``: gradients inside it are taken with
    ``func.grad``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> def exp_reducer(x):
    ...     return x.exp().sum(dim=1)
    >>> inputs = tp.rand(4, 4)
    >>> output, tangent = tp.autograd.functional.jvp(exp_reducer, inputs, tp.ones(4, 4))
    >>> bool((output == tangent).all())
    True
    >>> def adder(x, y):
    ...     return 2 * x + 3 * y
    >>> tp.autograd.functional.jvp(adder, (tp.rand(2), tp.rand(2)), (tp.ones(2), tp.ones(2)), mode="forward")[1]
    tensor([5., 5.])
    """
    if mode not in ("reversed", "forward"):
        raise ValueError(f"jvp: mode must be 'reversed' or 'forward', got {mode!r}")
    xs, structure, vs = inputs_and_vector(inputs, v, "jvp")
    if mode == "forward":
        return forward_jvp(func, xs, vs, structure, create_graph, strict)
    with Recording(True):
        leaves = Leaves(xs, create_graph)
        outs, out_spec = outputs_of(structure.call(func, leaves.tensors), "jvp")
        require_path(outs, "outputs", strict)
        cotangents = Leaves([zeros_for(o) for o in outs], False, leaves)
        gradients = pulled(leaves, outs, cotangents.tensors, True)
        require_path(gradients, "grad_inputs", strict)
        found = pulled(cotangents, gradients, vs, create_graph)
        result = filled(found, outs, strict, create_graph, TRICK_INDEPENDENT, JACOBIAN_INDEPENDENT)
        return finished(outs, out_spec, create_graph), finished(result, out_spec, create_graph)


def forward_jvp(
    func: Callable[..., Any], xs: list[Tensor], vs: list[Tensor], structure: Structure, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    """One pass over duals."""
    spec = pytree.LEAF

    def call(duals: list[Tensor]) -> list[Tensor]:
        nonlocal spec
        outs, spec = outputs_of(structure.call(func, duals), "jvp")
        return outs

    if not create_graph:
        xs, vs = [x._alias(None) for x in xs], [v._alias(None) for v in vs]
    with Recording(create_graph or strict):
        if strict:
            outs, tangents = dependent_inputs(call, xs, vs)
        else:
            outs, tangents = push_forward(call, xs, vs)
        result = [zeros_for(o) if t is None else t for o, t in zip(outs, tangents)]
        return finished(outs, spec, create_graph), finished(result, spec, create_graph)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of a vector and the Hessian of a scalar function.

    Parameters
    ----------
    func
        Takes the inputs; returns a tensor of a single element.
    inputs
        A tensor, a tuple of them (separate arguments), or a nested container.
    v
        Has the shapes of the inputs; may be left out if they are a single element.
    create_graph
        Whether output and result are differentiable.
    strict
        Whether an input that the output or the gradient does not depend on is an error rather than zero.

    Returns
    -------
    tuple
        ``(func_output, vhp)``; the second mirrors the inputs.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.autograd.functional.vhp(lambda x: (x * x * x).sum(), tp.tensor([1., 2.]), tp.tensor([1., 1.]))[1]
    tensor([ 6., 12.])
    """
    xs, structure, vs = inputs_and_vector(inputs, v, "vhp")
    with Recording(True):
        leaves, out, out_spec, gradients = value_and_gradients(func, xs, structure, create_graph, strict, "vhp")
        found = pulled(leaves, gradients, vs, create_graph)
        result = filled(found, xs, strict, create_graph, INDEPENDENT, HESSIAN_INDEPENDENT)
        return finished([out], out_spec, create_graph), finished(result, structure.spec, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of the Hessian of a scalar function and a vector.

    See :func:`vhp` for the parameters.

    Notes
    -----
    Where operators alone made the graph the Hessian is symmetric, and this is :func:`vhp`. A hook or a custom
    Function may give gradients that are no derivatives: then, and in strict mode, it is pulled back twice through the
    gradient.

    Returns
    -------
    tuple
        ``(func_output, hvp)``; the second mirrors the inputs.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.autograd.functional.hvp(lambda x: (x * x * x).sum(), tp.tensor([1., 2.]), tp.tensor([1., 1.]))[1]
    tensor([ 6., 12.])
    """
    xs, structure, vs = inputs_and_vector(inputs, v, "hvp")
    with Recording(True):
        leaves, out, out_spec, gradients = value_and_gradients(func, xs, structure, create_graph, strict, "hvp")
        if not strict and hessian_is_symmetric(out, leaves):
            result = filled(pulled(leaves, gradients, vs, create_graph), xs, False, create_graph, "", "")
            return finished([out], out_spec, create_graph), finished(result, structure.spec, create_graph)
        cotangents = Leaves([zeros_for(x) for x in xs], False, leaves)
        second = pulled(leaves, gradients, cotangents.tensors, True)
        require_path(second, "hessian", strict)
        found = pulled(cotangents, second, vs, create_graph)
        result = filled(found, xs, strict, create_graph, TRICK_INDEPENDENT, HESSIAN_INDEPENDENT)
        return finished([out], out_spec, create_graph), finished(result, structure.spec, create_graph)


def hessian_is_symmetric(out: Tensor, leaves: Leaves) -> bool:
    """Whether operators alone made the graph: no hook, and no custom Function."""
    nodes = [] if out._node is None else collect([out._node], leaves.oldest)
    return all([node.rare is None and (node.primitive is not None or type(node) in PLAIN_NODES) for node in nodes])


PLAIN_NODES = (AccumulateGrad, StandIn, Output, Reduce)

# ---- whole matrices


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of a function.

    Parameters
    ----------
    func
        Takes the inputs; returns a tensor or a tuple of them.
    inputs
        A tensor, a tuple of them (separate arguments), or a nested container.
    create_graph
        Whether the result is differentiable.
    strict
        Whether an input that the outputs do not depend on is an error rather than a zero Jacobian.
    vectorize
        Whether all rows (or columns) are computed at once, by batching.
    strategy
        ``"reverse-mode"``, row by row, or ``"forward-mode"``, column by column (only with ``vectorize``).

    Returns
    -------
    Tensor or nested containers of them
        The structure of the outputs with that of the inputs inside; each part has the shape of the output followed by
        that of the input.

    Raises
    ------
    ValueError
        If ``strategy`` is another one.
    NotImplementedError
        For ``"forward-mode"`` with ``strict`` or without ``vectorize``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.autograd.functional.jacobian(lambda x: x * x, tp.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(
            f"jacobian: Expected strategy to be either 'forward-mode' or 'reverse-mode', got {strategy!r}. Hint: "
            "forward mode is for functions with more outputs than inputs."
        )
    xs, structure = inputs_of(inputs, "jacobian")
    if strategy == "forward-mode":
        if strict:
            raise NotImplementedError(
                'jacobian: `strict=True` and `strategy="forward-mode"` are not supported together '
                '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
            )
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented "
                f"for `vectorize=True`: got vectorize={vectorize}."
            )
        return forward_jacobian(func, xs, structure, create_graph)
    if strict and vectorize:
        raise RuntimeError(
            "jacobian: `strict=True` and `vectorized=True` are not supported together. Please either set "
            "`strict=False` or `vectorize=False`."
        )
    with Recording(True):
        leaves = Leaves(xs, create_graph)
        outs, out_spec = outputs_of(structure.call(func, leaves.tensors), "jacobian")
        require_path(outs, "outputs", strict)
        rows = []
        for o in outs:
            found = (
                rows_at_once(leaves, o, xs, create_graph)
                if vectorize
                else row_by_row(leaves, o, xs, create_graph, strict)
            )
            parts = [F.reshape(g, (*o._data.shape, *x._data.shape)) for g, x in zip(found, xs)]
            rows.append(finished(parts, structure.spec, create_graph))
        return pytree.unflatten(rows, out_spec)


def rows_at_once(leaves: Leaves, out: Tensor, xs: list[Tensor], create_graph: bool) -> list[Tensor]:
    """The rows of the Jacobians as one batch."""
    size = int(out._data.size)
    if out._node is None or size == 0:
        return [zeros_of(x, (size,)) for x in xs]
    found = leaves.pull_batch([out], [unit_vectors(out, 0, size)], create_graph)
    return [zeros_of(x, (size,)) if g is None else g for g, x in zip(found, xs)]


def row_by_row(leaves: Leaves, out: Tensor, xs: list[Tensor], create_graph: bool, strict: bool) -> list[Tensor]:
    """The rows of the Jacobians by one pass each."""
    size, shape = int(out._data.size), out._data.shape
    columns: list[list[Tensor]] = [[] for _ in xs]
    for i in range(size):
        seed = F.reshape(unit_vectors(out, i, i + 1), shape)
        found = pulled(leaves, [out], [seed], create_graph)
        for column, g in zip(columns, filled(found, xs, strict, create_graph, INDEPENDENT, JACOBIAN_INDEPENDENT)):
            column.append(g)
    return [F.stack(*column, dim=-1 - x._data.ndim) if column else zeros_of(x, (0,)) for column, x in zip(columns, xs)]


def forward_jacobian(func: Callable[..., Any], xs: list[Tensor], structure: Structure, create_graph: bool) -> Any:
    """One batch of directions for each input, in one pass of forward mode each."""
    columns, spec = [], pytree.LEAF
    if not create_graph:
        xs = [x._alias(None) for x in xs]
    with Recording(create_graph):
        for i, x in enumerate(xs):
            size = int(x._data.size)
            basis = unit_vectors(x, 0, size)
            batch_level, level = enter(), enter()
            try:
                duals = list(xs)
                duals[i] = make_dual(x, make_batched(basis, 0, batch_level), level)
                outs, spec = outputs_of(structure.call(func, duals), "jacobian")
                column = []
                for o in outs:
                    primal, tangent = unpack_dual(o, level)
                    t = unpacked(zeros_for(primal) if tangent is None else tangent, batch_level, size)
                    t = F.permute(t, (*range(1 - t._data.ndim, 0), -t._data.ndim))
                    column.append(F.reshape(t, (*t._data.shape[:-1], *x._data.shape)))
                columns.append(column)
            finally:
                leave(level)
                leave(batch_level)
        return pytree.unflatten([finished(row, structure.spec, create_graph) for row in zip(*columns)], spec)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function.

    Parameters
    ----------
    func
        Takes the inputs; returns a tensor of a single element.
    inputs
        A tensor, a tuple of them (separate arguments), or a nested container.
    create_graph
        Whether the result is differentiable.
    strict
        Whether an input that the gradient does not depend on is an error rather than zero.
    vectorize
        Whether all rows are computed at once, by batching.
    outer_jacobian_strategy
        How the Jacobian of the gradient is computed: ``"reverse-mode"``, or ``"forward-mode"`` with ``vectorize``.

    Returns
    -------
    Tensor or nested containers of them
        The structure of the inputs twice; each part has the shape of the first input followed by that of the second.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.autograd.functional.hessian(lambda x: (x * x * x).sum(), tp.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    if outer_jacobian_strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(
            f"hessian: Expected outer_jacobian_strategy to be either 'forward-mode' or 'reverse-mode', got "
            f"{outer_jacobian_strategy!r}"
        )
    xs, structure = inputs_of(inputs, "hessian")

    def gradient(*leaves: Tensor) -> tuple[Tensor, ...]:
        if outer_jacobian_strategy == "forward-mode":
            set_recording(True)
        own = Leaves(leaves, True)
        outs, out_spec = outputs_of(structure.call(func, own.tensors), "hessian")
        require_path(outs, "outputs", strict)
        out = scalar_output(outs, out_spec, "hessian")
        found = pulled(
            own, [out], [F.ones_like(wrap(out._data))], outer_jacobian_strategy == "reverse-mode" or create_graph
        )
        require_path(found, "jacobian", strict)
        return tuple(zeros_for(x) if g is None else g for g, x in zip(found, leaves))

    whole = jacobian(gradient, tuple(xs), create_graph, strict, vectorize, outer_jacobian_strategy)
    return pytree.unflatten([pytree.unflatten(row, structure.spec) for row in whole], structure.spec)
