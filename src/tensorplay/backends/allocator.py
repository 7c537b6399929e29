"""Memory that was freed is kept for the next array.

The C library gives large blocks back to the system when they are freed, so each large temporary is made of fresh pages,
and touching those for the first time costs several times the arithmetic. Backward passes make many temporaries of the
same sizes: the first one asks the C library to keep some of what is freed, as array libraries with an allocator of
their own do.
"""

from __future__ import annotations

import platform

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
KEPT = 1 << 28

kept: int | None = None  # what the C library was asked to keep; None: not asked yet


def keep_freed_memory(nbytes: int = KEPT) -> bool:
    """Let the process keep freed memory, rather than return it to the system.

    Parameters
    ----------
    nbytes : int
        How many bytes at the most, and the size up to which single blocks are kept: 256 MiB by default, which the first
        backward pass asks for if nobody has asked before. 0 restores the C library's own thresholds.

    Returns
    -------
    bool
        Whether it took effect: only GNU's C library offers it.

    Raises
    ------
    ValueError
        If ``nbytes`` is negative or no int.

    Examples
    --------
    >>> from tensorplay.backends.allocator import keep_freed_memory
    >>> took_effect = keep_freed_memory(1 << 28)
    """
    global kept
    if type(nbytes) is not int or not 0 <= nbytes < 1 << 31:
        raise ValueError(f"keep_freed_memory(): nbytes must be an int from 0 to {(1 << 31) - 1}, got {nbytes!r}")
    kept = nbytes
    if platform.system() != "Linux" or platform.libc_ver()[0] != "glibc":
        return False
    import ctypes

    mallopt = ctypes.CDLL(None).mallopt
    size = nbytes or 1 << 17
    done = mallopt(M_TRIM_THRESHOLD, size) and (mallopt(M_MMAP_THRESHOLD, size) or mallopt(M_MMAP_THRESHOLD, 1 << 25))
    return bool(done)
