"""Exchange of tensors with other libraries, without a copy."""

from ..core.interop import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
