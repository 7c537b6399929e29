"""Backward passes deep inside others: each so many of them begin a thread, whose stack is fresh.

Python limits the recursion of each thread, and a pass that a hook or a custom Function begins inside another takes
some of its frames.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

from ..core.state import thread_locals

DEPTH = 30
"""How many passes share a thread: few enough for what user code between two of them may need."""


def on_fresh_stack(call: Callable[[], Any]) -> Any:
    """What a call returns or raises, from a thread of its own that takes this one's modes and leaves them to it."""
    mine = [vars(local) for local in thread_locals]
    modes = list(map(dict, mine))
    found: list[Any] = []
    raised: list[BaseException] = []

    def work() -> None:
        theirs = [vars(local) for local in thread_locals[: len(mine)]]
        for there, kept in zip(theirs, modes):
            there.update(kept)
        try:
            found.append(call())
        except BaseException as error:
            raised.append(error)
        for kept, there in zip(modes, theirs):
            kept.update(there)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="tensorplay backward")
    thread.start()
    thread.join()
    for here, kept in zip(mine, modes):
        here.update(kept)
    if raised:
        raise raised.pop()
    return found.pop()
