"""Devices that run their work in streams.

A backend of such a device registers the type of its arrays. From then on a node that makes such an array notes the
stream it ran on; its backward runs on the same stream, and whoever reads a gradient first waits for the stream that
computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from .carrier import Carrier
from .node import Node, Reduce

if TYPE_CHECKING:
    from .tensor import Tensor


class Stream(Protocol):
    """What a stream has to offer: it is the current one inside ``with stream:``."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *exc: object) -> Any: ...

    def wait_stream(self, stream: Any) -> None:
        """Let all work given to this stream from now on wait for what the other one was given so far."""


CURRENT: dict[type, Callable[[], Stream]] = {}
"""How to ask for the current stream, by the type of the arrays; empty unless a backend with streams is loaded."""


def register(array_type: type, current: Callable[[], Stream]) -> None:
    """Declare that arrays of a type are computed in streams.

    Parameters
    ----------
    array_type
        The exact type of the arrays.
    current
        Returns the calling thread's current stream.
    """
    CURRENT[array_type] = current


def current(g: Any) -> Stream | None:
    """The current stream of the device that holds a gradient: an array, a Tensor, or a list of them."""
    if type(g) is list:
        g = next((part for part in g if part is not None), None)
    data = getattr(g, "_data", g)
    while isinstance(data, Carrier):
        data = data.inner._data
    ask = CURRENT.get(type(data))
    return None if ask is None else ask()


def note(node: Node, made: Tensor) -> None:
    """Let a node, and what reduces its broadcast operands' gradients, run on the stream that is current now."""
    stream = current(made)
    if stream is not None:
        node.rarely().stream = stream
        for edge in node.edges:
            if type(edge) is Reduce and edge.rare is None:
                edge.rarely().stream = stream
