"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.tensor import Tensor
from ...ops.joining import cat


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """One vector of all entries.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.utils.parameters_to_vector([tp.ones(2, 2), tp.zeros(1)])
    tensor([1., 1., 1., 1., 0.])
    """
    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give parameters the entries of one vector, whose memory they share then.

    Raises
    ------
    TypeError
        If ``vec`` is no tensor.
    RuntimeError
        If it is too short.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected Tensor, but got: {type(vec).__name__}")
    parameters = list(parameters)
    if sum(p.numel() for p in parameters) > vec.numel():
        raise RuntimeError(f"vector_to_parameters: the vector has {vec.numel()} entries, the parameters have "
                           f"{sum(p.numel() for p in parameters)}")  # fmt: skip
    start = 0
    for p in parameters:
        p.data = vec.detach()[start : start + p.numel()].view_as(p)
        start += p.numel()
