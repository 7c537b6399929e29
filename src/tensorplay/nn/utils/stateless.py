"""Modules called with other parameters and buffers than their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.tensor import Tensor
from ...ops.joining import stack
from ..module import Module
from ..normalization import BatchNormalization


def holders(module: Module) -> dict[str, tuple[dict[str, Any], str]]:
    """Where each parameter and buffer stands, by its full name; shared ones stand in several places."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for path, child in module.named_modules(remove_duplicate=False):
        for table in (child._parameters, child._buffers):
            for name, value in table.items():
                if value is not None:
                    found[f"{path}.{name}" if path else name] = (table, name)
    return found


@contextmanager
def replaced(module: Module, values: Mapping[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    """The module with other parameters and buffers, which it has again what it had after."""
    places = holders(module)
    given = {name: value for name, value in values.items() if name in places}
    unexpected = [name for name in values if name not in places]
    if tie_weights:
        names_of: dict[int, list[str]] = {}
        for name, (table, key) in places.items():
            names_of.setdefault(id(table[key]), []).append(name)
        for names in names_of.values():
            chosen = [name for name in names if name in given]
            if len({id(given[name]) for name in chosen}) > 1:
                raise ValueError(f"functional_call got multiple values for keys {sorted(chosen)}, which are "
                                 "tied. Consider "
                                 "using tie_weights=False")  # fmt: skip
            if chosen:
                given.update((name, given[chosen[0]]) for name in names)
    if strict:
        missing = [name for name in places if name not in given]
        errors = [f"{kind} key(s): " + ", ".join(names) + "."
                  for kind, names in (("Unexpected", unexpected), ("Missing", missing)) if names]  # fmt: skip
        if errors:
            raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(errors))
    before = []
    try:
        for name, value in given.items():
            table, key = places[name]
            before.append((table, key, table[key]))
            table[key] = value
        yield
    finally:
        for name, (table, key) in places.items():  # buffers that forward put there belong to the caller
            if name in given and isinstance(values, dict) and name in values:
                values[name] = table[key]
        for table, key, value in reversed(before):
            table[key] = value


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers than its own.

    Parameters
    ----------
    module : Module
        What is called; it is unchanged after.
    parameter_and_buffer_dicts : dict or sequence of dict
        The tensors by name; names that are left out keep the module's own.
    args : tuple or any, optional
        Positional arguments, or a single one.
    kwargs : dict, optional
        Keyword arguments.
    tie_weights : bool
        Whether a tensor given for a shared parameter stands in all its places.
    strict : bool
        Whether all names must be given.

    Raises
    ------
    ValueError
        If a name occurs in several dicts, or shared parameters are given different tensors.
    RuntimeError
        With ``strict``, if names are missing or unexpected; without, what the module does not have is left out.

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.Linear(2, 1, bias=False)
    >>> tp.func.functional_call(layer, {"weight": tp.tensor([[2., 3.]])}, tp.ones(1, 2))
    tensor([[5.]])
    """
    if isinstance(parameter_and_buffer_dicts, Mapping):
        values: Any = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        values = {}
        for part in parameter_and_buffer_dicts:
            if not isinstance(part, Mapping):
                raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
            for name in part:
                if name in values:
                    raise ValueError(
                        f"{name} appears in multiple dictionaries; behavior of functional call is ambiguous"
                    )
            values.update(part)
    else:
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
                         f"{type(parameter_and_buffer_dicts)}")  # fmt: skip
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, values, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Parameters and buffers of several modules of one kind, stacked for :func:`tensorplay.vmap`.

    Returns
    -------
    dict, dict
        The parameters and the buffers by name, each with one more dimension, the first. They are new leaves.

    Examples
    --------
    >>> import tensorplay as tp
    >>> parameters, _ = tp.func.stack_module_state([tp.nn.Linear(2, 3) for _ in range(4)])
    >>> parameters["weight"].shape
    tensorplay.Size([4, 3, 2])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
        out = {}
        for name in parts[0]:
            own = [part[name] for part in parts]
            if len({t.requires_grad for t in own}) > 1:
                raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
            out[name] = stack([t.detach() for t in own]).requires_grad_(own[0].requires_grad)
        return out

    return stacked([dict(m.named_parameters()) for m in models]), stacked([dict(m.named_buffers()) for m in models])


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Have all batch normalisations below a module forget and no longer keep running statistics, in place.

    They cannot write to them under :func:`tensorplay.vmap`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> model = tp.func.replace_all_batch_norm_modules_(tp.nn.Sequential(tp.nn.BatchNorm1d(2)))
    >>> model[0].track_running_stats, model[0].running_mean
    (False, None)
    """
    for module in root.modules():
        if isinstance(module, BatchNormalization):
            module.track_running_stats = False
            module.running_mean = module.running_var = module.num_batches_tracked = None
    return root
