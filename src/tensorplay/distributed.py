"""What programs ask before they train with several processes: that is not supported."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized"]


def is_available() -> bool:
    """Whether processes can train one model together: no.

    Examples
    --------
    >>> from tensorplay import distributed as dist
    >>> dist.get_rank() if dist.is_available() and dist.is_initialized() else 0
    0
    """
    return False


def is_initialized() -> bool:
    """Whether a group of processes was set up: no."""
    return False


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Set up a group of processes.

    Raises
    ------
    RuntimeError
        Always: there is no distributed training.
    """
    raise RuntimeError("init_process_group(): there is no distributed training; run the program in one process")


def get_rank(group: Any = None) -> NoReturn:
    """The number of this process in its group.

    Raises
    ------
    ValueError
        Always: there is no group.
    """
    raise ValueError("get_rank(): Default process group has not been initialized: there is no distributed training")


def get_world_size(group: Any = None) -> NoReturn:
    """The number of processes in the group.

    Raises
    ------
    ValueError
        Always: there is no group.
    """
    raise ValueError("get_world_size(): Default process group has not been initialized: there is no distributed "
                     "training")  # fmt: skip
