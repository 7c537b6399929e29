"""The two namespaces that rules are written over.

``F`` holds the primitives over Tensors, ``R`` the same names over bare arrays. A rule receives one of them as its first
parameter: over arrays the backward pass makes no Tensor and touches no tape; over Tensors the same rule is
differentiable and right under every carrier. Python's operators work on both, so a rule may simply say ``g * other``.
"""

from __future__ import annotations

from typing import Any


class Namespace:
    """Operators by name."""

    find: Any = None  # finds what was not entered yet

    def __getattr__(self, name: str) -> Any:
        found = None if self.find is None else self.find(name)
        if found is not None:
            setattr(self, name, found)
            return found
        raise AttributeError(f"no primitive is registered under the name {name!r}")


F = Namespace()
R = Namespace()
