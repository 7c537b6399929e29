"""Utilities around tensors: data loading, checkpoints, exchange with other libraries."""

from . import dlpack

__all__ = ["dlpack"]
