"""Utilities around tensors: data loading, checkpoints, exchange with other libraries."""
