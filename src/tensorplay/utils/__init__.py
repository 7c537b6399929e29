"""Utilities around tensors: data loading, checkpoints, exchange with other libraries."""

from . import checkpoint, data, dlpack

__all__ = ["checkpoint", "data", "dlpack"]
