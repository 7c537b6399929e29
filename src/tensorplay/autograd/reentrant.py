"""Backward passes deep inside others: each so many of them begin a thread, whose stack is fresh.

Python limits the recursion of each thread, and a pass that a hook or a custom Function begins inside another takes
some of its frames.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

from ..core.state import state

DEPTH = 30
"""How many passes share a thread: few enough for what user code between two of them may need."""


def on_fresh_stack(call: Callable[[], Any]) -> Any:
    """What a call returns or raises, from a thread of its own that takes this one's modes and leaves them to it."""
    modes, mine = dict(vars(state)), vars(state)
    found: list[Any] = []
    raised: list[BaseException] = []

    def work() -> None:
        vars(state).update(modes)
        try:
            found.append(call())
        except BaseException as error:
            raised.append(error)
        modes.update(vars(state))

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="tensorplay backward")
    thread.start()
    thread.join()
    mine.update(modes)
    if raised:
        raise raised.pop()
    return found.pop()
