"""What every thread keeps for itself, and the one counter that all threads share."""

from __future__ import annotations

import itertools
import threading
from typing import Any

count = itertools.count(1).__next__
"""One order in time for nodes, leaves, writes and levels: atomic, and never reused."""

RARE = "rare"
"""Value of ``state.recording`` when something uncommon (saved-tensor hooks, anomaly mode) watches the tape."""


class State(threading.local):
    """The thread's modes. Class attributes are what a new thread starts with."""

    recording: Any = True  # False: no tape at any level; True: the common case; RARE: recorded by the careful path
    inference: bool = False
    forward_ad: bool = True
    saved_tensors_hooks: list[Any] | None = None  # innermost last
    saved_tensors_hooks_disabled: str | None = None
    anomaly: bool = False
    anomaly_check_nan: bool = True
    evaluating_node: Any = None  # the node whose backward runs now
    multithreading: bool = True
    view_replay: bool = False
    batches: tuple[Any, ...] = ()  # (level, size, randomness) of each vmap that runs, innermost last


state = State()

live_levels: set[int] = set()
"""Levels of the transforms that are running; a level is never used twice."""


def set_recording(mode: bool) -> None:
    """Turn the tape on or off for this thread, keeping what watches it."""
    state.recording = mode and (RARE if state.saved_tensors_hooks or state.anomaly else True)
