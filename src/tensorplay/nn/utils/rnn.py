"""Sequences of different lengths: padded to one tensor, or packed without the padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core import dtype as dtypes
from ...core.tensor import Tensor
from ...ops.from_data import from_numpy
from ...ops.joining import cat

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedParts(NamedTuple):
    """What a packed sequence consists of."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedParts):
    """Sequences, the longest first, step by step: all first entries, then all second ones of those that have one.

    Made by :func:`pack_padded_sequence` and :func:`pack_sequence`.

    Parameters
    ----------
    data : Tensor
        The entries, one after another.
    batch_sizes : Tensor
        How many sequences have a first entry, a second one, and so on.
    sorted_indices, unsorted_indices : Tensor, optional
        How the sequences were sorted by length, and the inverse of that.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:  # as it was once made, from a pair
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The data in another dtype or on another device."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._replace(data=data)

    def cpu(self) -> PackedSequence:
        """The data in the memory of the host."""
        return self.to("cpu")

    def double(self) -> PackedSequence:
        """The data as float64."""
        return self.to(dtypes.float64)

    def short(self) -> PackedSequence:
        """The data as int16."""
        return self.to(dtypes.int16)

    def char(self) -> PackedSequence:
        """The data as int8."""
        return self.to(dtypes.int8)

    def byte(self) -> PackedSequence:
        """The data as uint8."""
        return self.to(dtypes.uint8)

    def float(self) -> PackedSequence:
        """The data as float32."""
        return self.to(dtypes.float32)

    def half(self) -> PackedSequence:
        """The data as float16."""
        return self.to(dtypes.float16)

    def long(self) -> PackedSequence:
        """The data as int64."""
        return self.to(dtypes.int64)

    def int(self) -> PackedSequence:
        """The data as int32."""
        return self.to(dtypes.int32)

    @property
    def is_cuda(self) -> bool:
        """False: the data is in the memory of the host."""
        return False

    def is_pinned(self) -> bool:
        """Whether the data is in page-locked memory: no."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another."""
    return None if permutation is None else permutation.argsort()


def rows_of_steps(batch_sizes: Any, batch: int) -> Tensor:
    """Where the entries of packed data stand in (time, batch), flattened."""
    return from_numpy(np.concatenate([t * batch + np.arange(n) for t, n in enumerate(batch_sizes)]))


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack sequences that were padded.

    Parameters
    ----------
    input : Tensor
        Of shape (T, B, ...), or (B, T, ...) with ``batch_first``.
    lengths : Tensor or sequence of int
        The length of each sequence.
    batch_first : bool
        Whether the batch is the first dimension.
    enforce_sorted : bool
        Whether the sequences must come sorted by length, the longest first; otherwise they are sorted.

    Examples
    --------
    >>> import tensorplay as tp
    >>> padded = tp.tensor([[1., 4.], [2., 5.], [3., 0.]])
    >>> tp.nn.utils.rnn.pack_padded_sequence(padded, [3, 2]).data
    tensor([1., 4., 2., 5., 3.])
    """
    sizes = np.array(lengths.tolist() if isinstance(lengths, Tensor) else list(lengths), np.int64)
    steps = input.transpose(0, 1) if batch_first else input
    time, batch = steps.shape[:2]
    if len(sizes) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={batch})"
        )
    if not len(sizes):
        raise RuntimeError("Cannot pack empty tensors.")
    if sizes.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if sizes.max() > time:
        raise RuntimeError(
            f"Expected all lengths to be at most {time}, the size of the time dimension, but got {sizes.max()}"
        )
    order = None
    if not enforce_sorted:
        order = from_numpy(np.argsort(-sizes, kind="stable"))
        sizes, steps = sizes[order.numpy()], steps.index_select(1, order)
    elif (np.diff(sizes) > 0).any():
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
                           "You can pass "
                           "`enforce_sorted=False` to have them sorted.")  # fmt: skip
    batch_sizes = (sizes[None] > np.arange(sizes[0])[:, None]).sum(1)
    data = steps.reshape((time * batch, *steps.shape[2:])).index_select(0, rows_of_steps(batch_sizes, batch))
    return PackedSequence(data, from_numpy(batch_sizes), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Pad sequences that were packed: the inverse of :func:`pack_padded_sequence`.

    Returns
    -------
    Tensor, Tensor
        The padded sequences, of shape (T, B, ...) or (B, T, ...), and their lengths.
    """
    sizes = sequence.batch_sizes.numpy()
    time, batch = len(sizes), int(sizes[0])
    if total_length is not None:
        if total_length < time:
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input, "
                             "but got "
                             f"total_length={total_length} and max sequence length being {time}")  # fmt: skip
        time = total_length
    data, rest = sequence.data, sequence.data.shape[1:]
    blank = data.new_full((time * batch, *rest), padding_value)
    padded = blank.index_copy(0, rows_of_steps(sizes, batch), data).reshape((time, batch, *rest))
    lengths = from_numpy((sizes[:, None] > np.arange(batch)[None]).sum(0))
    if sequence.unsorted_indices is not None:
        padded, lengths = padded.index_select(1, sequence.unsorted_indices), lengths[sequence.unsorted_indices]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """One tensor of sequences of different lengths, each of shape (L, ...).

    Parameters
    ----------
    sequences : list of Tensor
        The sequences.
    batch_first : bool
        Whether the result is of shape (B, T, ...) rather than (T, B, ...).
    padding_value : float
        What is filled in.
    padding_side : str
        ``"right"`` or ``"left"``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.utils.rnn.pad_sequence([tp.tensor([1, 2]), tp.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"pad_sequence: padding_side must be 'right' or 'left', got {padding_side!r}")
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, (list, tuple)):
        sequences = list(sequences)
    if not sequences:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    time, rest = max(s.shape[0] for s in sequences), sequences[0].shape[1:]
    rows = []
    for s in sequences:
        if s.shape[1:] != rest:
            raise RuntimeError(f"pad_sequence: the sequences must agree in all sizes but the first, got {s.shape} and "
                               f"{sequences[0].shape}")  # fmt: skip
        fill = s.new_full((time - s.shape[0], *rest), padding_value)
        row = s if not fill.shape[0] else cat([s, fill] if padding_side == "right" else [fill, s], 0)
        rows.append(row.unsqueeze(0 if batch_first else 1))
    return cat(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences that were padded on the right."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(padded_sequences.unbind(0), lengths)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths; see :func:`pack_padded_sequence`."""
    return pack_padded_sequence(pad_sequence(sequences), [s.shape[0] for s in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
