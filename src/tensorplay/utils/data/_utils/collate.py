"""From samples to a batch: tensors of one more dimension, within the containers that the samples are."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ....core import dtype as dtypes
from ....core.tensor import Tensor
from ....ops.from_data import as_tensor, tensor
from ....ops.joining import stack

CollateMap = dict[type | tuple[type, ...], Callable[..., Any]]


def default_convert(data: Any) -> Any:
    """NumPy arrays and scalars as tensors, within containers of any kind; everything else as it is.

    What :class:`DataLoader` does with each sample when it makes no batches. A tuple without names becomes a list.

    Parameters
    ----------
    data
        Anything.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorplay.utils.data import default_convert
    >>> default_convert({"x": np.float32(2), "name": "a"})
    {'x': tensor(2.), 'name': 'a'}
    >>> default_convert((0, np.array([1, 2])))
    [0, tensor([1, 2])]
    """
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SaUO" else as_tensor(data)
    if isinstance(data, Mapping):
        return like_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple):
        parts = [default_convert(part) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return like_sequence(data, [default_convert(part) for part in data])
    return data


def default_collate(batch: Any) -> Any:
    """A batch of samples: what they hold at the same place is stacked along a new first dimension.

    Parameters
    ----------
    batch : list
        The samples, all of the kind of the first one. Tensors, NumPy arrays and scalars become a tensor, floats one of
        dtype float64, integers and bools another; strings and bytes stay a list. Of mappings, named tuples, tuples and
        other sequences of samples each entry is collated, to a container of the kind; tuples become lists.

    Raises
    ------
    TypeError
        For samples of another kind. Give ``collate_fn`` to the :class:`DataLoader`, or enter a function for the type in
        ``tensorplay.utils.data._utils.collate.default_collate_fn_map``.
    RuntimeError
        For tensors or sequences of unequal sizes.

    Examples
    --------
    >>> from tensorplay.utils.data import default_collate
    >>> default_collate([(1, {"x": 0.5}), (2, {"x": 1.5})])
    [tensor([1, 2]), {'x': tensor([0.5000, 1.5000], dtype=tensorplay.float64)}]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """As :func:`default_collate`, with functions of one's own for the types of samples.

    Parameters
    ----------
    batch : list
        The samples.
    collate_fn_map : dict, optional
        From a type, or a tuple of types, to ``function(samples, *, collate_fn_map)``. The type of the first sample is
        looked up, then types that it is an instance of, in order; containers that are not found are taken apart.

    Raises
    ------
    TypeError, RuntimeError
        As :func:`default_collate` does.

    Examples
    --------
    >>> from tensorplay.utils.data._utils.collate import collate
    >>> def joined(batch, *, collate_fn_map):
    ...     return "".join(batch)
    >>> collate([("a", "x"), ("b", "y")], collate_fn_map={str: joined})
    ['ab', 'xy']
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for wanted, function in collate_fn_map.items():
            if isinstance(first, wanted):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return like_mapping(
            first, {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first}
        )
    if isinstance(first, Sequence):
        size = len(first)
        if any(len(sample) != size for sample in batch):
            raise RuntimeError(
                "default_collate: each element in list of batch should be of equal size, got sizes "
                f"{[len(sample) for sample in batch]}"
            )
        parts = [collate(entries, collate_fn_map=collate_fn_map) for entries in zip(*batch)]
        if isinstance(first, tuple):
            return kind(*parts) if hasattr(first, "_fields") else parts
        return like_sequence(first, parts)
    raise unknown(kind)


def unknown(kind: Any) -> TypeError:
    return TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{kind}; give the DataLoader a collate_fn for other samples"
    )


def like_mapping(model: Mapping[Any, Any], entries: dict[Any, Any]) -> Any:
    """A mapping of the kind of another one; a dict if that cannot be made."""
    if type(model) is dict:
        return entries
    try:
        if isinstance(model, MutableMapping):  # may have attributes that its constructor would not know
            made = copy.copy(model)
            made.update(entries)
            return made
        return type(model)(entries)  # type: ignore[call-arg]
    except TypeError:
        return entries


def like_sequence(model: Sequence[Any], entries: list[Any]) -> Any:
    """A sequence of the kind of another one; a list if that cannot be made."""
    if type(model) is list:
        return entries
    try:
        if isinstance(model, MutableSequence):
            made = copy.copy(model)
            for i, entry in enumerate(entries):
                made[i] = entry
            return made
        return type(model)(entries)  # type: ignore[call-arg]
    except TypeError:
        return entries


# ---- what can be collated


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Tensors of one shape, stacked."""
    return stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Arrays of one shape, stacked."""
    dtype, shape = batch[0].dtype, batch[0].shape
    if dtype.kind in "SaUO":
        raise unknown(dtype)
    if (collate_fn_map or {}).get(Tensor) is collate_tensor_fn and all(
        type(array) is np.ndarray and array.dtype == dtype and array.shape == shape for array in batch
    ):
        return as_tensor(np.stack(batch))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """NumPy's scalars, as a vector of their dtype."""
    return as_tensor(list(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Floats, as a vector of dtype float64."""
    return tensor(batch, dtype=dtypes.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Integers or bools, as a vector."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Strings or bytes, as they are."""
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
"""What :func:`default_collate` does with samples of each type; more may be entered."""

STANDARD = dict(default_collate_fn_map)  # what is there unless more is entered
