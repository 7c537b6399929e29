"""Logs of training runs, for TensorBoard to show. Needs the extra ``tensorboard``."""

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
