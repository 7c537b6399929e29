"""Utilities around tensors: data loading, checkpoints, exchange with other libraries."""

from ..core.registry import attributes_later
from . import checkpoint, data, dlpack

__all__ = ["checkpoint", "data", "dlpack", "safetensors"]

__getattr__ = attributes_later(globals(), ("_pytree", "safetensors"), {})
