"""Settings that programs make for an accelerator's library: kept, and without effect, for there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether there is such a library: no.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.backends.cudnn.is_available()
    False
    """
    return False


def version() -> int | None:
    """Its version: None without one."""
    return None


@contextmanager
def flags(
    enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False,
    allow_tf32: bool = True, fp32_precision: str = "none",
) -> Iterator[None]:  # fmt: skip
    """Other settings inside a ``with`` block."""
    module, given = globals(), {"enabled": enabled, "benchmark": benchmark, "deterministic": deterministic}
    given["allow_tf32"] = allow_tf32
    before = {name: module[name] for name in given}
    module.update(given)
    try:
        yield
    finally:
        module.update(before)
