"""Tensors whose memory several processes use: a file in memory without a name, which is gone with its last user.

A forked process has the memory as it is. Where ``multiprocessing`` pickles a tensor, for a process that is spawned or
for a queue, the file's descriptor is sent along, and the receiver maps it.
"""

from __future__ import annotations

import mmap
import os
import weakref
from multiprocessing import reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from .tensor import Tensor, wrap
from .versions import storage_of

Array = np.ndarray[Any, Any]


def new_segment(size: int) -> int:
    """The descriptor of a file in memory that has no name."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("tensorplay")
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    try:
        if hasattr(os, "posix_fallocate"):  # an error now, not a signal when the memory is written to
            os.posix_fallocate(fd, 0, size)
        else:
            os.ftruncate(fd, size)
    except OSError:
        os.close(fd)
        raise
    return fd


class Segment(mmap.mmap):
    """The mapped memory of a shared tensor; keeps the descriptor for processes to come."""

    fd: int

    def __new__(cls, fd: int, size: int) -> Segment:
        self = super().__new__(cls, fd, size)
        self.fd = fd
        weakref.finalize(self, os.close, fd)
        return self


def segment_of(t: Tensor) -> Segment | None:
    """The segment that a tensor's memory lies in."""
    base = storage_of(t._data).base if type(t._data) is np.ndarray else None
    base = base.obj if isinstance(base, memoryview) else base
    return base if isinstance(base, Segment) else None


def is_shared(self: Tensor) -> bool:
    """Whether the memory is shared between processes; see :meth:`share_memory_`."""
    return segment_of(self) is not None


def share_memory_(self: Tensor) -> Tensor:
    """Move to memory that processes share: those that are forked from now on, and those that are sent the tensor.

    Returns
    -------
    Tensor
        ``self``. Unlike in PyTorch, other tensors over the same memory stay where they are.

    Raises
    ------
    RuntimeError
        For a part of a larger tensor, which would no longer be one; for a tensor without memory or inside a transform;
        where the system has no memory without a name (Windows).

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.ones(2).share_memory_()
    >>> x.is_shared(), x
    (True, tensor([1., 1.]))
    """
    data = self._data
    if type(data) is not np.ndarray:
        raise RuntimeError("share_memory_(): the tensor has no memory of its own: it is on meta, or inside a transform")
    if segment_of(self) is not None:
        return self
    if storage_of(data).nbytes != data.nbytes:
        raise RuntimeError("share_memory_(): the tensor is part of a larger one, or expanded; share that or clone it")
    if os.name != "posix":
        raise RuntimeError("share_memory_(): this system has no memory that processes share without a name")
    size = max(data.nbytes, 1)
    shared: Array = np.ndarray(data.shape, data.dtype, np.frombuffer(Segment(new_segment(size), size), np.uint8),
                               strides=np.empty_like(data).strides)  # fmt: skip
    shared[...] = data
    self._data = shared
    register(type(self))
    return self


def register(kind: type[Tensor]) -> None:
    """Let ``multiprocessing`` send tensors of a class by reference; parameters and buffers are made of a plain one."""
    if kind.__reduce_ex__ is Tensor.__reduce_ex__:
        ForkingPickler.register(kind, reduced)


def reduced(t: Tensor) -> Any:
    """What ``multiprocessing`` pickles of a tensor.

    Raises
    ------
    RuntimeError
        For the result of a recorded operator.
    """
    if not t.is_leaf:
        raise RuntimeError("multiprocessing: a tensor that is the result of a recorded operator cannot be sent, as "
                           "autograd does not cross processes; call detach() on it")  # fmt: skip
    segment = segment_of(t)
    if segment is None:
        return t.__reduce_ex__(5)
    data = t._data
    offset = data.__array_interface__["data"][0] - storage_of(data).__array_interface__["data"][0]
    place = (reduction.DupFd(segment.fd), len(segment), data.dtype, data.shape, offset, data.strides)
    return received, (type(t), *place, t._node is not None, t.__dict__)


def received(
    cls: type[Tensor], descriptor: Any, size: int, dtype: Any, shape: Any, offset: int, strides: Any,
    requires_grad: bool, attributes: dict[str, Any],
) -> Tensor:  # fmt: skip
    """The tensor in another process."""
    memory = np.frombuffer(Segment(descriptor.detach(), size), np.uint8)
    register(cls)
    t = wrap(np.ndarray(shape, dtype, memory, offset, strides), cls)
    t.__dict__.update(attributes)
    return t.requires_grad_() if requires_grad else t


register(Tensor)
for _function in (is_shared, share_memory_):
    setattr(Tensor, _function.__name__, _function)
