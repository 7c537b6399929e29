"""Tables of vectors, looked up by number, alone or in bags."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..core.tensor import Tensor
from ..ops.factories import empty
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class Table(Module):
    """What :class:`Embedding` and :class:`EmbeddingBag` have in common."""

    __constants__: tuple[str, ...] = ()
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Parameter

    def _set_up(self, padding_idx: int | None, _weight: Tensor | None, frozen: bool, device: Any, dtype: Any) -> None:
        rows = self.num_embeddings
        if padding_idx is not None:
            if not -rows <= padding_idx < rows:
                raise AssertionError(
                    f"padding_idx must be within num_embeddings: {padding_idx} is not in [-{rows}, {rows})"
                )
            padding_idx = padding_idx % rows
        self.padding_idx = padding_idx
        if _weight is None:
            made = empty((rows, self.embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(made, requires_grad=not frozen)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (rows, self.embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim: "
                                     f"{list(_weight.shape)} and {[rows, self.embedding_dim]}")  # fmt: skip
            self.weight = Parameter(_weight, requires_grad=not frozen)

    def reset_parameters(self) -> None:
        """Draw new initial values from the standard normal distribution; the padding's are 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def extra_repr(self) -> str:
        """Sizes, and options that are not the usual ones."""
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False,
                 "mode": ""}  # fmt: skip
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        shown += [f"{k}={getattr(self, k)!r}" for k in self.__constants__ if getattr(self, k) != usual[k]]
        return ", ".join(shown)


def shape_of(embeddings: Tensor) -> tuple[int, int]:
    """Rows and columns of a table that is given."""
    if embeddings.ndim != 2:
        raise AssertionError(f"Embeddings parameter is expected to be 2-dimensional, got {embeddings.ndim} dimensions")
    return embeddings.shape[0], embeddings.shape[1]


class Embedding(Table):
    """A table of vectors, looked up by number.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        How many vectors there are, and their length.
    padding_idx : int, optional
        The vector that is 0 at first and gets no gradient.
    max_norm, norm_type : float, optional
        Vectors whose p-norm is larger are scaled down, in the table itself, when they are looked up.
    scale_grad_by_freq : bool
        Whether gradients are divided by how often a number occurs.
    sparse : bool
        Gradients are dense here; see :func:`tensorplay.nn.functional.embedding`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> table = tp.nn.Embedding(10, 3)
    >>> table(tp.tensor([[1, 2], [4, 9]])).shape
    tensorplay.Size([2, 2, 3])
    """

    __constants__ = ("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._set_up(padding_idx, _weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Look the numbers up."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A table of given vectors, which by default do not learn."""
        rows, columns = shape_of(embeddings)
        return cls(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


class EmbeddingBag(Table):
    """Sums, means or maxima of vectors of a table, bag by bag.

    Parameters
    ----------
    num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, sparse, padding_idx
        As of :class:`Embedding`; the padding counts nothing in a bag.
    mode : str
        ``"sum"``, ``"mean"`` or ``"max"``.
    include_last_offset : bool
        Whether the offsets end with the number of indices.

    Examples
    --------
    >>> import tensorplay as tp
    >>> bags = tp.nn.EmbeddingBag.from_pretrained(tp.tensor([[1., 2.], [3., 4.]]), mode="sum")
    >>> bags(tp.tensor([0, 1, 1]), tp.tensor([0, 2]))
    tensor([[4., 6.],
            [3., 4.]])
    """

    __constants__ = (
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "padding_idx",
    )

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.mode = max_norm, norm_type, mode
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.include_last_offset = include_last_offset
        self._set_up(padding_idx, _weight, False, device, dtype)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """Reduce each bag: each row of ``input``, or what lies between two ``offsets``."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A table of given vectors, which by default do not learn."""
        rows, columns = shape_of(embeddings)
        made = cls(rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
                   include_last_offset, padding_idx)  # fmt: skip
        made.weight.requires_grad_(not freeze)
        return made
