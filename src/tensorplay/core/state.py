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
    asked_in_inference: bool = True  # what is_grad_enabled() says in inference mode, where nothing is recorded
    forward_ad: bool = True
    saved_tensors_hooks: tuple[Any, ...] = ()  # pairs of pack and unpack, innermost last
    saved_tensors_hooks_disabled: str | None = None
    anomaly: bool = False
    anomaly_check_nan: bool = True
    evaluating_node: Any = None  # the node whose backward runs now, if it is watched
    evaluating_pass: Any = None  # the backward pass that runs now, innermost
    multithreading: bool = True
    view_replay: bool = False
    grad_layout: bool = True  # a leaf's .grad is made contiguous
    dual_levels: tuple[Any, ...] = ()  # of forward_ad, innermost last
    running: tuple[Any, ...] = ()  # (number, name, what its function can reach) of each transform, innermost last
    batches: tuple[Any, ...] = ()  # (level, size, randomness) of each vmap that runs, innermost last
    overrides_off: bool = False  # whether operators take tensors of subclasses for plain ones
    tracing: Any = None  # the trace of compile that runs in this thread
    devices: tuple[Any, ...] = ()  # the default devices that `with device(...)` has set, innermost last


state = State()

thread_locals: list[threading.local] = [state]
"""Everything a thread keeps for itself, which another one takes over that works in its place."""

live_levels: set[int] = set()
"""Levels of the transforms that are running; a level is never used twice."""


def set_recording(mode: bool) -> None:
    """Turn the tape on or off for this thread, keeping what watches it."""
    state.recording = mode and (RARE if state.saved_tensors_hooks or state.anomaly else True)


def set_grad_mode(mode: bool) -> None:
    """The same as the user asks for it: inference mode allows switching off only."""
    if not state.inference:
        set_recording(mode)
        return
    state.asked_in_inference = mode
    if not mode:
        state.recording = False


def grad_mode() -> bool:
    """Whether the user would say that grad mode is on."""
    return state.asked_in_inference if state.inference else bool(state.recording)


inferring: set[int] = set()
"""Threads in inference mode: empty in all but few programs, and so the one cheap test for marking what they make."""
