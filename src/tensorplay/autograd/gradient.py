"""``backward`` and ``grad``: the two doors to a backward pass."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..core.carrier import Batched
from ..core.namespace import F
from ..core.node import AccumulateGrad, Node, Output
from ..core.state import count, live_levels
from ..core.tensor import Tensor, wrap
from . import engine


class GradientEdge(NamedTuple):
    """A place in the graph: a node, and which of its outputs."""

    node: Node
    output_nr: int
    ownership_token: Node | None = None


TensorOrEdge = Tensor | GradientEdge
Inputs = TensorOrEdge | Sequence[TensorOrEdge]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of the graph that computes the gradient of a tensor.

    Raises
    ------
    RuntimeError
        If the tensor does not require grad.
    """
    if tensor._node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor._node
    if type(node) is Output:
        return GradientEdge(node.edges[0], node.index, node)  # type: ignore[arg-type]
    return GradientEdge(node, 0)


def key_of(x: TensorOrEdge) -> Node | None:
    """The node by which the pass knows a tensor or edge."""
    if isinstance(x, Tensor):
        return x._node
    node, index = x.node, x.output_nr
    if x.ownership_token is not None:
        return x.ownership_token
    return node if node.outputs == 1 else Output(node, index)


def as_sequence(x: Any, name: str, what: str) -> list[Any]:
    items = [x] if isinstance(x, (Tensor, GradientEdge)) else list(x) if isinstance(x, Sequence) else None
    if items is None or any(not isinstance(i, (Tensor, GradientEdge)) for i in items):
        bad = x if items is None else next(i for i in items if not isinstance(i, (Tensor, GradientEdge)))
        raise TypeError(f"{name}(): {what} must be a Tensor, a GradientEdge or a sequence of them, got {type(bad).__name__}")
    return items


def seeds(outputs: list[Any], grad_outputs: Any, name: str, batched: bool) -> list[Tensor | None]:
    """One cotangent for each output; None where the output needs none."""
    if grad_outputs is None:
        given: list[Any] = [None] * len(outputs)
    else:
        given = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    if len(given) != len(outputs):
        raise RuntimeError(f"{name}(): got {len(outputs)} outputs and {len(given)} grad_outputs; one for each output is needed")
    result: list[Tensor | None] = []
    for i, (out, g) in enumerate(zip(outputs, given, strict=True)):
        if g is None:
            if isinstance(out, Tensor):
                if out._node is None:
                    result.append(None)
                    continue
                if out._data.size != 1:
                    raise RuntimeError(f"grad can be implicitly created only for scalar outputs (output {i} has shape "
                                       f"{list(out.shape)}; give {name}() a gradient for it)")  # fmt: skip
                if out._data.dtype.kind == "c":
                    raise RuntimeError("grad can be implicitly created only for real scalar outputs but got "
                                       f"{out.dtype}")  # fmt: skip
                result.append(F.ones_like(out.detach()))
                continue
            raise RuntimeError(f"{name}(): output {i} is a GradientEdge, and so needs its entry of grad_outputs")
        if not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if isinstance(out, Tensor):
            shape = g._data.shape[1:] if batched else g._data.shape
            if shape != out._data.shape:
                note = "If you only want to differentiate `grad_output` batched, its first dimension is the batch. " * batched
                raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {list(g.shape)} and output[{i}] has a "
                                   f"shape of {list(out.shape)}. {note}")  # fmt: skip
            if g._data.dtype != out._data.dtype:
                if (g._data.dtype.kind == "c") != (out._data.dtype.kind == "c"):
                    raise RuntimeError(
                        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                        f"dtype: grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a dtype of {out.dtype}."
                    )
                g = F.cast(g, out._data.dtype)
        result.append(g)
    return result


def started(outputs: list[Any], cotangents: list[Tensor | None], name: str) -> list[tuple[Node, Tensor]]:
    """The roots of the pass."""
    roots = []
    for i, (out, g) in enumerate(zip(outputs, cotangents, strict=True)):
        key = key_of(out)
        if key is None:
            if g is None and len(outputs) > 1:
                continue
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        if g is not None:
            roots.append((key, g))
    return roots


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
    """The sum of the gradients of outputs with respect to inputs: a vector-Jacobian product."""
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
                      "other parts of the graph, please use autograd.backward.", FutureWarning, stacklevel=2)  # fmt: skip
    if allow_unused is None:
        allow_unused = materialize_grads
    elif materialize_grads and not allow_unused:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")  # fmt: skip
    keys = list(inputs) if isinstance(inputs, Mapping) else None
    wanted = as_sequence(list(inputs.values()) if isinstance(inputs, Mapping) else inputs, "grad", "inputs")
    outs = as_sequence(outputs, "grad", "outputs")
    if not wanted:
        raise ValueError("grad requires non-empty inputs.")
    cotangents = seeds(outs, grad_outputs, "grad", is_grads_batched)
    roots = started(outs, cotangents, "grad")
    ends = [key_of(x) for x in wanted]
    for i, end in enumerate(ends):
        if end is None:
            raise RuntimeError(f"One of the differentiated Tensors does not require grad (input {label(i, keys)})")
    retain = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        found = batched_pass(roots, ends, retain, create_graph)
    else:
        found = engine.run(roots, ends, retain_graph=retain, create_graph=create_graph, accumulate=False)
    result: list[Tensor | None] = []
    for i, (x, end) in enumerate(zip(wanted, ends, strict=True)):
        g = found.get(end)
        if g is None:
            if not allow_unused:
                raise RuntimeError(
                    "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
                    f"this is the desired behavior. (Input {label(i, keys)}: {where_cut(outs, x)})"
                )
            if materialize_grads:
                if isinstance(x, GradientEdge):
                    raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
                g = F.zeros_like(x.detach())
        result.append(g)
    return tuple(result) if keys is None else dict(zip(keys, result, strict=True))


def label(i: int, keys: list[Any] | None) -> str:
    return str(i) if keys is None else repr(keys[i])


def where_cut(outputs: list[Any], x: Any) -> str:
    """In words, where the connection of an unused input to the outputs ends."""
    kind = "a leaf" if isinstance(x, Tensor) and x.is_leaf else "a result of " + key_of(x).name()  # type: ignore[union-attr]
    shape = f" of shape {list(x.shape)}" if isinstance(x, Tensor) else ""
    names: dict[str, None] = {}
    for out in outputs:
        key = key_of(out)
        if key is not None:
            for node in engine.collect([key], 0):
                if type(node) is AccumulateGrad:
                    variable = node.variable
                    names["a leaf" + (f" of shape {list(variable.shape)}" if variable is not None else "")] = None
    reached = ", ".join(list(names)[:4]) or "no leaf"
    return (f"it is {kind}{shape}, and no recorded operator leads from the outputs to it; their graph ends in {reached}. "
            "A detach(), no_grad(), an integer operator or a value read with item() or numpy() cuts a graph")  # fmt: skip


def batched_pass(roots: Any, ends: list[Any], retain: bool, create_graph: bool) -> dict[Node, Tensor]:
    """Many cotangents at once: one pass over batches."""
    level = count()
    live_levels.add(level)
    try:
        size = roots[0][1]._data.shape[0] if roots else 0
        batched = [(key, wrap(Batched(g, level))) for key, g in roots]
        found = engine.run(batched, ends, retain_graph=retain, create_graph=create_graph, accumulate=False)
        out = {}
        for key, g in found.items():
            data = g._data
            if type(data) is Batched and data.level == level:
                out[key] = data.value
            else:
                out[key] = F.expand(g, (size, *data.shape))
        return out
    finally:
        live_levels.discard(level)


def backward(
    tensors: Inputs,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Inputs | None = None,
) -> None:
    """Accumulate the gradients of tensors into the ``.grad`` of the leaves they depend on."""
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please "
                               "only use `grad_tensors`.")  # fmt: skip
        grad_tensors = grad_variables
    outs = as_sequence(tensors, "backward", "tensors")
    wanted = None if inputs is None else as_sequence(inputs, "backward", "inputs")
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    cotangents = seeds(outs, grad_tensors, "backward", False)
    roots = started(outs, cotangents, "backward")
    retain = create_graph if retain_graph is None else retain_graph
    ends = None
    if wanted is not None:
        ends = [key_of(x) for x in wanted]
        if any(end is None for end in ends):
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    engine.run(roots, ends, retain_graph=retain, create_graph=create_graph, accumulate=True)


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Inputs | None = None,
) -> None:
    """Accumulate the gradients of this tensor into the ``.grad`` of the leaves it depends on."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


Tensor.backward = tensor_backward  # type: ignore[attr-defined]
