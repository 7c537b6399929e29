"""Utilities around tensors: data loading, checkpoints, exchange with other libraries."""

from . import checkpoint, dlpack

__all__ = ["checkpoint", "dlpack"]
