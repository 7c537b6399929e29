"""Files that are whole or not there: saved atomically, and sealed by a digest of all that they hold."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

SEAL = b"tensorplay sha256 "  # in front of the hexadecimal digits at the end of a file
MARK = b"tensorplay"  # in the header of each record of a file that has to end with a seal
BLANK = b"-" * hashlib.sha256().digest_size * 2
END = len(SEAL) + len(BLANK)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of the one at ``path`` once all of it is on the disk.

    It stands in the same folder until then. Where saving is broken off, the file at ``path`` stays as it was.

    Raises
    ------
    RuntimeError
        If the folder does not exist.
    OSError
        As :func:`open` does; nothing has changed then.
    """
    path = os.path.realpath(path)  # of a link, what it leads to
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"save(): Parent directory {folder} does not exist.")
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    if mode is not None and not stat.S_ISREG(mode):  # a pipe or a device holds nothing that could be lost
        with open(path, "wb") as file:
            yield file
        return
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    temporary = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)


class Sealing:
    """Passes on what is written, and computes the digest; the blank at the very end gives way to it."""

    def __init__(self, file: Any) -> None:
        self.file, self.digest, self.last = file, hashlib.sha256(), False

    def write(self, data: Any) -> int:
        if self.last and bytes(data[-len(BLANK) :]) == BLANK:
            self.digest.update(data[: -len(BLANK)])
            self.file.write(data[: -len(BLANK)] + self.digest.hexdigest().encode())
        else:
            self.digest.update(data)
            self.file.write(data)
        return len(data)

    def flush(self) -> None:
        if hasattr(self.file, "flush"):
            self.file.flush()


def changed(name: Any) -> RuntimeError:
    return RuntimeError(
        f"load(): the file {name!r} is damaged: it is not what was saved, or not all of it. Nothing was loaded; take "
        "another copy of it"
    )


def check_seal(file: IO[bytes], start: int, end: int, name: Any) -> bool:
    """Whether the file, from ``start`` to ``end``, ends with a seal.

    Raises
    ------
    RuntimeError
        If anything in the file has changed since it was sealed.
    """
    file.seek(max(start, end - END))
    tail = file.read(END)
    if not tail.startswith(SEAL):
        file.seek(start)
        head = file.read(1024)
        first = 30 + int.from_bytes(head[26:28], "little")
        if MARK in head[first : first + int.from_bytes(head[28:30], "little")]:
            raise changed(name)
        return False
    digest, left = hashlib.sha256(), end - start - len(BLANK)
    file.seek(start)
    while left:
        data = file.read(min(left, 1 << 20))
        if not data:
            raise changed(name)
        digest.update(data)
        left -= len(data)
    if digest.hexdigest().encode() != tail[len(SEAL) :]:
        raise changed(name)
    return True
