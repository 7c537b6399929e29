"""The graph of a model, from what autograd records of one call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from ...autograd.drawing import nodes_below, place_of, shapes_of
from ...autograd.grad_mode import enable_grad
from ...core import pytree
from ...core.generator import fork_rng
from ...core.node import AccumulateGrad, Node, endpoint
from ...core.state import count
from ...core.tensor import Tensor
from ...nn import Module

Calls = list[tuple[int, int, str]]


def graph(model: Module, inputs: Any) -> Any:
    """The operators that a call of the model records, each in the scope of the module that called it.

    Raises
    ------
    TypeError
        If the model is no Module.
    RuntimeError
        If nothing is recorded.
    """
    if not isinstance(model, Module):
        raise TypeError(f"add_graph(): expected a Module, got {type(model).__name__}")
    if inputs is None:
        raise ValueError("add_graph(): input_to_model is needed, as the graph is what a call of the model records")
    arguments = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    leaves = [t for t in pytree.leaves(arguments) if isinstance(t, Tensor)]
    alias = {id(t): differentiable(t) for t in leaves}
    scopes = scopes_of(model)
    with as_for_inference(model), fork_rng(), enable_grad(), noted(model, scopes) as calls:
        result = model(*pytree.tree_map(lambda t: alias.get(id(t), t), arguments))
    outputs = [t for t in pytree.leaves(result) if isinstance(t, Tensor) and t._node is not None]
    if not outputs:
        raise RuntimeError("add_graph(): autograd recorded nothing: the output depends on no float input or parameter")
    roots = [place_of(t) for t in outputs]
    nodes = nodes_below([root[0] for root in roots if root is not None])
    known = {id(alias[id(t)]): (f"input/input_{i}", "IO Node") for i, t in enumerate(leaves)}
    for path, module in model.named_modules():
        for own, parameter in module.named_parameters(recurse=False):
            known.setdefault(id(parameter), (f"{scopes[path]}/{own}", "Parameter"))
    names = Names()
    for node in nodes:
        if isinstance(node, AccumulateGrad):
            names.enter(node, *known.get(id(node.variable), (f"{scopes['']}/Leaf", "Leaf")))
        else:
            kind = node.name().partition("Backward")[0]
            names.enter(node, f"{scope_of(node, calls, scopes[''])}/{kind}", kind)
    shapes = shapes_of(nodes, outputs)

    def made(name: str, op: str, sources: list[tuple[Node, int]], shape: Any) -> Any:
        attributes = {} if shape is None else {"_output_shapes": shape_list(shape)}
        return NodeDef(name=name, op=op, input=[names.output(*source) for source in sources], attr=attributes)

    found = []
    for node in nodes:
        sources = [source for edge in node.edges if (source := endpoint(edge))[0] is not None]
        found.append(made(*names.found[node], sources, shapes.get((node, 0))))  # type: ignore[arg-type]
    for i, (t, root) in enumerate(zip(outputs, roots)):
        found.append(made(f"output/output_{i}", "IO Node", [root] if root is not None else [], tuple(t.shape)))
    return GraphDef(node=found, versions=VersionDef(producer=22))


class Names:
    """A name of its own for each node, and its kind."""

    def __init__(self) -> None:
        self.found: dict[Node, tuple[str, str]] = {}
        self.used: dict[str, int] = {}

    def enter(self, node: Node, name: str, kind: str) -> None:
        before = self.used.get(name, 0)
        self.used[name] = before + 1
        self.found[node] = f"{name}_{before}" if before else name, kind

    def output(self, node: Node, index: int) -> str:
        name = self.found[node][0]
        return f"{name}:{index}" if index else name


def differentiable(t: Tensor) -> Tensor:
    """The same values as a leaf that is recorded, where they are numbers that can be."""
    alias = t.detach()
    return alias.requires_grad_() if alias.is_floating_point() or alias.is_complex() else alias


def scopes_of(model: Module) -> dict[str, str]:
    """Modules by their path, with the names that they have in the graph: ``Net/Linear[fc]``."""
    scopes: dict[str, str] = {}
    for path, module in model.named_modules():
        above, _, own = path.rpartition(".")
        scopes[path] = f"{scopes[above]}/{type(module).__name__}[{own}]" if path else type(module).__name__
    return scopes


@contextlib.contextmanager
def as_for_inference(model: Module) -> Iterator[None]:
    """Switch the model to eval, and record frozen parameters, too, for a while."""
    modes = [(module, module.training) for module in model.modules()]
    frozen = [p for p in model.parameters() if not p.requires_grad and (p.is_floating_point() or p.is_complex())]
    model.eval()
    try:
        for p in frozen:
            p.requires_grad_()
        yield
    finally:
        for p in frozen:
            p.requires_grad_(False)
        for module, training in modes:
            module.training = training


@contextlib.contextmanager
def noted(model: Module, scopes: dict[str, str]) -> Iterator[Calls]:
    """Note between which numbers of nodes each module was called."""
    calls: Calls = []
    begun: list[int] = []

    def enter(module: Any, args: Any) -> None:
        begun.append(count())

    handles = []
    for path, module in model.named_modules():

        def leave(module: Any, args: Any, output: Any, scope: str = scopes[path]) -> None:
            calls.append((begun.pop(), count(), scope))

        handles += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def scope_of(node: Node, calls: Calls, otherwise: str) -> str:
    """The innermost module that was being called when a node was made."""
    around = [(end - begin, scope) for begin, end, scope in calls if begin < node.order < end]
    return min(around)[1] if around else otherwise


def shape_list(shape: tuple[int, ...]) -> Any:
    dims = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in shape])
    return AttrValue(list=AttrValue.ListValue(shape=[dims]))
