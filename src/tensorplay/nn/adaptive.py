"""Softmax over many classes, of which the rare ones are grouped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core import dtype as dtypes
from ..core.tensor import Tensor
from ..ops.joining import cat
from . import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module


class ASMoutput(NamedTuple):
    """The log-probability of each target, and minus their mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax whose frequent classes stand in a head, and whose others in clusters (Grave et al., 2017).

    Parameters
    ----------
    in_features, n_classes : int
        The size of the input, and the number of classes, the most frequent ones first.
    cutoffs : sequence of int
        Where the clusters begin.
    div_value : float
        The input is projected to a size divided by this to the power of the cluster's number.
    head_bias : bool
        Whether the map of the head has a bias.

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.AdaptiveLogSoftmaxWithLoss(16, 10, [2, 5])
    >>> layer(tp.randn(4, 16), tp.tensor([0, 3, 9, 1])).output.shape
    tensorplay.Size([4])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                             "where each value is between 1 and n_classes-1")  # fmt: skip
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        place = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **place)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            first, second = Linear(in_features, hidden, bias=False, **place), Linear(hidden, size, bias=False, **place)
            self.tail.append(Sequential(first, second))

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> ASMoutput:
        """The log-probability of each target, and minus their mean."""
        input, target = input_, target_
        if input.ndim not in (1, 2) or target.ndim != input.ndim - 1:
            raise RuntimeError("AdaptiveLogSoftmaxWithLoss: expected input of 1 or 2 dimensions and target of "
                               "one less, "
                               f"got {input.ndim} and {target.ndim}")  # fmt: skip
        if target.ndim and input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        alone = input.ndim == 1
        if alone:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        if target.numel() and not (0 <= int(target.min()) and int(target.max()) < self.n_classes):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{int(target.min())}, {int(target.max())}] were found. ")  # fmt: skip
        head = F.log_softmax(self.head(input), 1)
        place = target.to(dtypes.int64)
        for i in range(self.n_clusters):  # in the head, a cluster is one class
            inside = (target >= self.cutoffs[i]) & (target < self.cutoffs[i + 1])
            place = place.masked_fill(inside, self.shortlist_size + i)
        output = head.gather(1, place.unsqueeze(1)).squeeze(1)
        for i, cluster in enumerate(self.tail):
            inside = (target >= self.cutoffs[i]) & (target < self.cutoffs[i + 1])
            rows = inside.nonzero().squeeze(1)
            if rows.numel():
                local = F.log_softmax(cluster(input.index_select(0, rows)), 1)
                class_of = target.index_select(0, rows).to(dtypes.int64) - self.cutoffs[i]
                output = output.index_add(0, rows, local.gather(1, class_of.unsqueeze(1)).squeeze(1))
        loss = -output.mean()
        return ASMoutput(output.squeeze(0) if alone else output, loss)

    def _get_full_log_prob(self, input: Tensor, head: Tensor) -> Tensor:
        whole = F.log_softmax(head, 1)
        parts = [whole[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            parts.append(F.log_softmax(cluster(input), 1) + whole[:, self.shortlist_size + i].unsqueeze(1))
        return cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row; rows that need no cluster do not compute it."""
        head = self.head(input)
        output = head.argmax(1)
        rare = (output >= self.shortlist_size).nonzero().squeeze(1)
        if rare.numel():
            best = self._get_full_log_prob(input.index_select(0, rare), head.index_select(0, rare)).argmax(1)
            output = output.index_copy(0, rare, best)
        return output
