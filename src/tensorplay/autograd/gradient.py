"""``backward`` and ``grad``: the two doors to a backward pass."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.carrier import Batched, Carrier
from ..core.namespace import F
from ..core.node import AccumulateGrad, Node, Output, place
from ..core.state import live_levels, state
from ..core.tensor import Tensor, wrap
from ..core.transforms import enter, expanded, leave, unpack_batched
from . import engine
from .graph import GradientEdge, TensorEdge

TensorOrEdge = Tensor | GradientEdge
Inputs = TensorOrEdge | Sequence[TensorOrEdge]


def key_of(x: TensorOrEdge) -> Node | None:
    """The node by which the pass knows a tensor or edge."""
    if isinstance(x, Tensor):
        return x._node
    return x.node if x.node.outputs == 1 else Output(x.node, x.output_nr)


def as_sequence(x: Any, name: str, what: str) -> list[Any]:
    """One or several tensors or edges as a list; anything else is an error."""
    if isinstance(x, (Tensor, GradientEdge)):
        return [x]
    if isinstance(x, Mapping):
        x = x.values()
    try:
        items = list(x)
    except TypeError:
        raise TypeError(f"{name}(): {what} must be a Tensor, a GradientEdge or a sequence of them, "
                        f"got {type(x).__name__}") from None  # fmt: skip
    for i, item in enumerate(items):
        if not isinstance(item, (Tensor, GradientEdge)):
            raise RuntimeError(f"{name}(): all {what} have to be Tensors or GradientEdges, but got "
                               f"{type(item).__name__} at index {i}")  # fmt: skip
    return items


def seeds(outputs: list[Any], grad_outputs: Any, name: str, batched: bool) -> list[Tensor | None]:
    """One cotangent for each output; None where the output needs none."""
    if grad_outputs is None:
        given: list[Any] = [None] * len(outputs)
    elif isinstance(grad_outputs, Tensor):
        given = [grad_outputs]
    elif isinstance(grad_outputs, Iterable):
        given = list(grad_outputs)
    else:
        raise TypeError(f"{name}(): gradients must be a Tensor or a sequence of Tensors or None, "
                        f"got {type(grad_outputs).__name__}")  # fmt: skip
    if len(given) != len(outputs):
        raise RuntimeError(f"{name}(): got {len(outputs)} tensors and {len(given)} gradients; one for each is needed")
    return [seed(i, out, g, name, batched) for i, (out, g) in enumerate(zip(outputs, given))]


def seed(i: int, out: Any, g: Any, name: str, batched: bool) -> Tensor | None:
    """The cotangent of one output: as given, of its dtype; one for a scalar; None for what does not require grad."""
    if isinstance(out, Tensor):
        if g is None and out._node is None:
            return None
    elif isinstance(out, TensorEdge):
        out = out.like
    if g is None:
        if not isinstance(out, Tensor):
            raise RuntimeError(f"{name}(): grad can be implicitly created only for scalar outputs, and the shape of "
                               f"output {i}, a GradientEdge made by hand, is not known: give its gradient, or make the "
                               "edge with get_gradient_edge()")  # fmt: skip
        if batched:
            raise RuntimeError(f"{name}(): is_grads_batched=True needs a batch of gradients for output {i}, got None")
        if out._data.size != 1:
            raise RuntimeError(f"grad can be implicitly created only for scalar outputs (output {i} has shape "
                               f"{list(out.shape)}; give {name}() a gradient for it)")  # fmt: skip
        if out._data.dtype.kind == "c":
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}")
        data = out._data
        return wrap(np.array(1, data.dtype, ndmin=data.ndim)) if type(data) is np.ndarray else F.ones_like(out.detach())
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if not isinstance(out, Tensor):
        return g
    shape = g._data.shape
    if (shape[1:] if batched and shape else shape) != out._data.shape or (batched and not shape):
        if batched:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{i}] has a shape of {g.shape} and output[{i}] has "
                f"a shape of {out.shape}. If you only want some tensors in `grad_output` to be considered batched, "
                "consider using vmap."
            )
        raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape "
                           f"of {out.shape}.")  # fmt: skip
    if g._data.dtype != out._data.dtype:
        if (g._data.dtype.kind == "c") != (out._data.dtype.kind == "c"):
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                f"dtype: grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a dtype of {out.dtype}."
            )
        return F.cast(g, out._data.dtype)
    return g


def started(outputs: list[Any], cotangents: list[Tensor | None]) -> tuple[list[tuple[Node, Tensor]], bool]:
    """The roots of the pass, and whether it may run over bare arrays."""
    roots, bare = [], True
    for i, (out, g) in enumerate(zip(outputs, cotangents)):
        key = key_of(out)
        if key is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        roots.append((key, g))
        if isinstance(out, Tensor):
            bare = bare and not isinstance(out._data, Carrier)
        else:
            bare = bare and not live_levels  # an edge does not tell what its graph holds
    return roots, bare  # type: ignore[return-value]


def grad(
    outputs: Inputs,
    inputs: Inputs | Mapping[Any, TensorOrEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    r"""The sum of the gradients of outputs with respect to inputs.

    For outputs :math:`y_i` with cotangents :math:`v_i` and an input :math:`x`, the vector-Jacobian product
    :math:`\sum_i v_i^T\, \partial y_i / \partial x`. Only what leads from the outputs to the inputs is computed, and no
    ``.grad`` changes. Hooks run.

    Parameters
    ----------
    outputs : Tensor, GradientEdge, or sequence of them
        What is differentiated.
    inputs : Tensor, GradientEdge, sequence or mapping of them
        With respect to what; leaves or results of operators. An input may be repeated, and may be an output.
    grad_outputs : Tensor, or sequence of Tensor or None, optional
        The cotangent of each output, of its shape. None stands for one, and needs a real output of one element.
    retain_graph : bool, optional
        Keep the saved values, so that the graph can be run again. By default as ``create_graph``.
    create_graph : bool
        Record the computation of the gradients, so that they can be differentiated in turn.
    only_inputs : bool
        Deprecated, and without effect.
    allow_unused : bool, optional
        Return None for inputs that the outputs do not depend on, rather than raise. By default as
        ``materialize_grads``.
    is_grads_batched : bool
        ``grad_outputs`` have one more dimension in front: many cotangents at once, in one vectorised pass.
    materialize_grads : bool
        Return zeros for inputs that the outputs do not depend on.

    Returns
    -------
    tuple or dict
        One gradient for each input, in their order: a tuple, or for a mapping a dict with its keys.

    Raises
    ------
    RuntimeError
        If an output or input does not require grad; if an input is not used and ``allow_unused`` is not set, saying
        which one and where its connection ends; if a cotangent is missing or has the wrong shape; if the graph was
        freed, or a value that it needs was written to.
    ValueError
        If ``materialize_grads`` is set and ``allow_unused`` is False.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor(3., requires_grad=True)
    >>> y = x ** 2
    >>> tp.autograd.grad(y, x, create_graph=True)
    (tensor(6., grad_fn=<MulBackward0>),)

    Of a function with several outputs, the rows of its Jacobian in one pass:

    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> y = x * x
    >>> tp.autograd.grad(y, x, tp.eye(2), is_grads_batched=True)
    (tensor([[2., 0.],
            [0., 4.]]),)

    Parameters in a dict:

    >>> parameters = {"w": tp.tensor(2., requires_grad=True), "b": tp.tensor(1., requires_grad=True)}
    >>> tp.autograd.grad(parameters["w"] * 5 + parameters["b"], parameters)
    {'w': tensor(5.), 'b': tensor(1.)}
    """
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
                      "gradient for other parts of the graph, please use autograd.backward.", FutureWarning,
                      stacklevel=2)  # fmt: skip
    if allow_unused is None:
        allow_unused = materialize_grads
    elif materialize_grads and not allow_unused:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")  # fmt: skip
    keys = list(inputs) if isinstance(inputs, Mapping) else None
    wanted = as_sequence(inputs, "grad", "inputs")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    outs = as_sequence(outputs, "grad", "outputs")
    roots, bare = started(outs, seeds(outs, grad_outputs, "grad", is_grads_batched))
    ends: list[Node] = []
    for i, x in enumerate(wanted):
        end = key_of(x)
        if end is None:
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad: the input at {label(i, keys)}"
            )
        if materialize_grads and isinstance(x, GradientEdge):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        ends.append(end)
    retain = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        found = batched_pass(roots, ends, retain, create_graph)
    else:
        found = engine.run(roots, ends, retain_graph=retain, create_graph=create_graph, accumulate=False, bare=bare)
    result: list[Tensor | None] = []
    for i, (x, end) in enumerate(zip(wanted, ends)):
        g = found.get(end)
        if g is None:
            if not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at {label(i, keys)} appears to not have been used in the graph. Set "
                    f"allow_unused=True if this is the desired behavior. {where_cut(roots, x, end)}"
                )
            if materialize_grads:
                g = F.zeros_like(x.detach())
                if is_grads_batched:
                    g = F.expand(g, (roots[0][1]._data.shape[0], *g._data.shape))
        result.append(g)
    return tuple(result) if keys is None else dict(zip(keys, result))


def label(i: int, keys: list[Any] | None) -> str:
    return f"index {i}" if keys is None else f"key {keys[i]!r}"


def described(node: Node) -> str:
    """A place in the graph, in words."""
    if type(node) is AccumulateGrad:
        variable = node.variable
        return "a leaf" + (f" of shape {list(variable.shape)}" if variable is not None else "")
    return f"a result of {place(node)[0].name()}"


def where_cut(roots: list[tuple[Node, Tensor]], x: Any, end: Node) -> str:
    """In words, where the connection of the outputs to an unused input ends."""
    node = place(end)[0]
    graph = engine.collect([root for root, _ in roots], 0)
    users = [n for n in graph if any(edge is not None and place(edge)[0] is node for edge in n.edges)]
    what = described(end)
    if users:
        names = ", ".join(dict.fromkeys(n.name() for n in users))
        return f"It is {what}; the graph leads to it, but no gradient came from {names}: a rule returned None."
    if node.edges and any(edge in graph for edge in node.edges):
        return (f"It is {what}, computed from a tensor that the outputs depend on, but they use that tensor and not "
                "this result: it was made anew after they were computed, perhaps by indexing, or by writing to it in "
                "place.")  # fmt: skip
    leaves = dict.fromkeys(described(n) for n in graph if type(n) is AccumulateGrad)
    reached = ", ".join(list(leaves)[:4]) or "no leaf"
    return (f"It is {what}, and no recorded operator leads from the outputs to it; their graph ends in {reached}. A "
            "detach(), no_grad(), an integer operator or a value read with item() or numpy() cuts a "
            "graph.")  # fmt: skip


def batched_pass(roots: Any, ends: list[Any], retain: bool, create_graph: bool) -> dict[Node, Tensor]:
    """Many cotangents at once: one pass over batches."""
    sizes = {g._data.shape[0] for _, g in roots}
    if len(sizes) > 1:
        raise ValueError("grad(): is_grads_batched=True: expected all grad_outputs to have the same size in their "
                         f"first dimension, got {sorted(sizes)}")  # fmt: skip
    size = sizes.pop() if sizes else 0
    level, batches = enter(), state.batches
    state.batches = (*batches, (level, size, "error"))
    try:
        batched = [(key, wrap(Batched(g, level))) for key, g in roots]
        found = engine.run(batched, ends, retain_graph=retain, create_graph=create_graph, accumulate=False)
        out = {}
        for key, g in found.items():
            value = unpack_batched(g, level)
            out[key] = expanded(g, size) if value is None else value
        return out
    finally:
        state.batches = batches
        leave(level)


CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
    "the cycle and avoid the leak."
)


def backward(
    tensors: Inputs,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Inputs | Mapping[Any, TensorOrEdge] | None = None,
) -> None:
    """Accumulate the gradients of tensors into the ``.grad`` of the leaves they depend on.

    Parameters
    ----------
    tensors : Tensor, GradientEdge, or sequence of them
        What is differentiated.
    grad_tensors : Tensor, or sequence of Tensor or None, optional
        The cotangent of each tensor, of its shape. None stands for one, and needs a real tensor of one element.
    retain_graph : bool, optional
        Keep the saved values, so that the graph can be run again. By default as ``create_graph``.
    create_graph : bool
        Record the computation of the gradients. Parameter and gradient then refer to each other, which a warning says.
    grad_variables
        Deprecated name of ``grad_tensors``.
    inputs : Tensor, GradientEdge, sequence or mapping of them, optional
        The only tensors whose ``.grad`` is to receive anything; one that is no leaf retains its gradient from now on.

    Raises
    ------
    RuntimeError
        If a tensor does not require grad; if a cotangent is missing or has the wrong shape; if the graph was freed, or
        a value that it needs was written to; if ``inputs`` is empty.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> tp.autograd.backward([(x * x).sum(), x * 3], [None, tp.tensor([1., 10.])])
    >>> x.grad
    tensor([ 5., 34.])
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                               "`backward()`. Please only use `grad_tensors`.")  # fmt: skip
        grad_tensors = grad_variables
    run_backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def run_backward(tensors: Any, grad_tensors: Any, retain_graph: bool | None, create_graph: bool, inputs: Any) -> None:
    """What the function and the method ``backward`` do."""
    outs = as_sequence(tensors, "backward", "tensors")
    roots, bare = started(outs, seeds(outs, grad_tensors, "backward", False))
    ends: Any = None
    if inputs is not None:
        wanted = as_sequence(inputs, "backward", "inputs")
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        ends = [key_of(x) for x in wanted]
        for i, (x, end) in enumerate(zip(wanted, ends)):
            if end is None:
                raise RuntimeError(f"One of the differentiated Tensors does not require grad: the input at index {i}")
            if isinstance(x, Tensor):
                x.retain_grad()
    if create_graph:
        warnings.warn(CYCLE, UserWarning, stacklevel=3)
    retain = create_graph if retain_graph is None else retain_graph
    engine.run(roots, ends, retain_graph=retain, create_graph=create_graph, accumulate=True, bare=bare)


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Inputs | Mapping[Any, TensorOrEdge] | None = None,
) -> None:
    """Accumulate the gradients of this tensor into the ``.grad`` of the leaves it depends on.

    Parameters
    ----------
    gradient : Tensor, optional
        The cotangent of the tensor, of its shape; needed unless the tensor is real and has one element.
    retain_graph : bool, optional
        Keep the saved values, so that the graph can be run again. By default as ``create_graph``.
    create_graph : bool
        Record the computation of the gradients. Parameter and gradient then refer to each other, which a warning says.
    inputs : Tensor, GradientEdge, sequence or mapping of them, optional
        The only tensors whose ``.grad`` is to receive anything; one that is no leaf retains its gradient from now on.

    Raises
    ------
    RuntimeError
        If the tensor does not require grad; if its gradient is missing or has the wrong shape; if the graph was freed,
        or a value that it needs was written to; if ``inputs`` is empty.

    See Also
    --------
    tensorplay.autograd.grad : returns gradients instead.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> (x * 3).backward(tp.tensor([1., 10.]))  # adds to what is there
    >>> x.grad
    tensor([ 5., 34.])
    """
    run_backward(self, gradient, retain_graph, create_graph, inputs)


Tensor.backward = tensor_backward  # type: ignore[method-assign, assignment]
