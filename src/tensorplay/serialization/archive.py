"""The zip archive of a checkpoint: its records are not compressed and lie aligned, so that they can be mapped."""

from __future__ import annotations

import struct
import sys
import zipfile
import zlib
from bisect import bisect_right
from typing import IO, Any

import numpy as np

from .files import BLANK, MARK, SEAL, Sealing, changed, check_seal

ALIGNMENT = 64  # of the numbers in the file, so that they can be mapped into memory


def write_archive(file: Any, root: str, records: dict[str, Any]) -> None:
    """Write the records (name: bytes or memory) below the folder ``root`` of an archive, and seal it."""
    sealing = Sealing(file)
    with zipfile.ZipFile(sealing, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
        for name, content in records.items():
            write_record(archive, f"{root}/{name}", content)
        archive.comment = SEAL + BLANK
        sealing.last = True


def write_record(archive: zipfile.ZipFile, name: str, content: Any) -> None:
    """One record, its content aligned by a field in its header that readers pass over."""
    info = zipfile.ZipInfo(name)  # of 1980: equal content makes equal files
    large = len(content) >= zipfile.ZIP64_LIMIT
    start = archive.fp.tell() if archive.fp is not None else 0
    head = start + 30 + len(info.filename.encode()) + (20 if large else 0) + 4 + len(MARK)
    fill = -head % ALIGNMENT
    info.extra = struct.pack("<2sH", b"TP", len(MARK) + fill) + MARK + bytes(fill)
    with archive.open(info, "w", force_zip64=large) as file:
        file.write(content)


class Archive:
    """Reads records, each checked: all at once where the archive is sealed, else by the sum that zip keeps of each.

    Raises
    ------
    RuntimeError
        If the archive is damaged, or compressed.
    """

    def __init__(self, file: IO[bytes], name: Any, path: str | None) -> None:
        self.file, self.name, self.path = file, name, path  # with a path, numbers are mapped and not checked
        start = file.tell()
        self.end = file.seek(0, 2)
        self.left = self.end - start  # an archive holds no more than its file, unless records overlap
        self.sealed = path is None and check_seal(file, start, self.end, name)
        try:
            with zipfile.ZipFile(file) as archive:
                self.infos = {info.filename: info for info in archive.infolist()}
                count, marked = len(archive.infolist()), any(MARK in info.extra for info in archive.infolist())
                self.offsets = sorted([info.header_offset for info in archive.infolist()] + [archive.start_dir])
        except Exception as error:  # whatever the reader of a damaged directory stumbles over
            raise changed(name) from error
        if count != len(self.infos) or (marked and path is None and not self.sealed):
            raise changed(name)
        pickles = [n for n in self.infos if n.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise RuntimeError(f"load(): {name!r} is no checkpoint: it holds no data.pkl")
        self.root = pickles[0].removesuffix("data.pkl")
        if self.root + "constants.pkl" in self.infos:
            raise RuntimeError("load(): files of TorchScript cannot be loaded")
        order = self.read("byteorder").tobytes().strip() if "byteorder" in self else b""
        if order not in (b"", b"little", b"big"):
            raise changed(name)
        self.swapped = order not in (b"", sys.byteorder.encode())

    def __contains__(self, name: str) -> bool:
        return self.root + name in self.infos

    def locate(self, name: str) -> tuple[int, int]:
        """Where the content of a record begins, and its length."""
        info = self.infos[self.root + name]
        written = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise RuntimeError(f"load(): {self.name!r} is compressed or encrypted; pack its files without either")
        if not 0 <= info.header_offset <= self.end - 30:
            raise changed(self.name)
        self.file.seek(info.header_offset)
        head = self.file.read(30)
        length, extra = struct.unpack("<HH", head[26:30])
        start = info.header_offset + 30 + length + extra
        following = self.offsets[bisect_right(self.offsets, info.header_offset) :]  # where the next record begins
        if head[:4] != b"PK\3\4" or self.file.read(length) != written or start + info.file_size > [*following, 0][0]:
            raise changed(self.name)
        return start, info.file_size

    def read(self, name: str, map: bool = False) -> np.ndarray[Any, Any]:
        """The bytes of a record, in memory of their own; with ``map`` that of the file, if it has a path."""
        start, size = self.locate(name)
        if map and self.path is not None and size:
            mapped = np.memmap(self.path, np.uint8, "c", start, (size,))
            return np.ndarray(mapped.shape, np.uint8, mapped)
        self.left -= size
        if self.left < 0:
            raise changed(self.name)
        self.file.seek(start)
        content = read_bytes(self.file, size)
        if content is None or (not self.sealed and zlib.crc32(content.data) != self.infos[self.root + name].CRC):
            raise changed(self.name)
        return content


def read_bytes(file: IO[bytes], size: int) -> np.ndarray[Any, Any] | None:
    """The next bytes of a file, or None if it ends before."""
    content = np.empty(size, np.uint8)
    view, at = content.data, 0
    while at < size:
        if hasattr(file, "readinto"):
            count = file.readinto(view[at:])
        else:
            data = file.read(size - at)
            view[at : at + len(data)] = np.frombuffer(data, np.uint8).data
            count = len(data)
        if not count:
            return None
        at += count
    return content
