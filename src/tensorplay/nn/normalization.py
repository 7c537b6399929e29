"""Normalisation: batch, instance, layer, group and their like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import dtype as dtypes
from ..core.tensor import Tensor
from ..ops.factories import empty, ones, zeros
from ..ops.from_data import tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def add_affine(module: Module, shape: Any, weight: bool, bias: bool, device: Any, dtype: Any) -> None:
    """Register a weight and a bias, or places for them."""
    for name, there in (("weight", weight), ("bias", bias)):
        module.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if there else None)


def reset_affine(module: Module) -> None:
    """Weights are 1, biases 0."""
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


class Statistics(Module):
    """What batch and instance normalisation have in common: the statistics of channels, and how they run.

    ``ranks`` are the numbers of dimensions that an input may have.
    """

    _version = 2
    ranks: tuple[int, ...] = ()
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None
    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        add_affine(self, (num_features,), affine, affine and bias, device, dtype)
        track, place = track_running_stats, {"device": device}
        self.register_buffer("running_mean", zeros((num_features,), dtype=dtype, **place) if track else None)
        self.register_buffer("running_var", ones((num_features,), dtype=dtype, **place) if track else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=dtypes.int64, **place) if track else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget what was seen."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weights are 1, biases 0; what was seen is forgotten."""
        self.reset_running_stats()
        reset_affine(self)

    def _check_input_dim(self, input: Tensor) -> None:
        if self.ranks and input.ndim not in self.ranks:
            expected = " or ".join(f"{n}D" for n in self.ranks)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.num_batches_tracked is not None and key not in state_dict:
            state_dict[key] = self.num_batches_tracked.detach().clone()  # what was saved before it was counted
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        """Sizes and options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNormalization(Statistics):
    """What batch normalisation has in common."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input, by its own statistics in training and by those seen otherwise."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            by_batch,
            factor,
            self.eps,
        )


class BatchNorm1d(BatchNormalization):
    """Normalises each channel over the batch and all positions of (N, C) or (N, C, L) (Ioffe and Szegedy, 2015).

    Parameters
    ----------
    num_features : int
        The number of channels.
    eps : float
        Added to the variance.
    momentum : float, optional
        How much a batch counts in the running statistics; None takes the mean of all batches.
    affine : bool
        Whether a weight and a bias for each channel are learned.
    track_running_stats : bool
        Whether the statistics seen in training are kept, and used in evaluation.
    bias : bool
        Whether ``affine`` comes with a bias.

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.BatchNorm1d(2)
    >>> layer(tp.tensor([[0., 1.], [2., 5.]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    >>> layer.running_mean
    tensor([0.1000, 0.3000])
    """

    ranks = (2, 3)


class BatchNorm2d(BatchNormalization):
    """:class:`BatchNorm1d` of images, (N, C, H, W)."""

    ranks = (4,)


class BatchNorm3d(BatchNormalization):
    """:class:`BatchNorm1d` of volumes, (N, C, D, H, W)."""

    ranks = (5,)


class SyncBatchNorm(BatchNormalization):
    """:class:`BatchNorm1d` of inputs of any rank above 1; with one process there is nothing to synchronise."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        if process_group is not None:
            raise ValueError("SyncBatchNorm: there are no process groups here; process_group must be None")
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """A module whose batch normalisations are of this class, with their parameters and buffers."""
        made = module
        if isinstance(module, BatchNormalization) and not isinstance(module, cls):
            made = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                       process_group, bias=module.bias is not None)  # fmt: skip
            for table in ("_parameters", "_buffers"):
                getattr(made, table).update(getattr(module, table))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class InstanceNormalization(Statistics):
    """What instance normalisation has in common; ``ranks`` are those without and with a batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input."""
        self._check_input_dim(input)
        alone = input.ndim == self.ranks[0]
        channels = input.shape[0 if alone else 1]
        if self.affine and channels != self.num_features:
            raise ValueError(f"expected input's size at dim={0 if alone else 1} to match num_features "
                             f"({self.num_features}), but got: {channels}.")  # fmt: skip
        out = F.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out.squeeze(0) if alone else out


class InstanceNorm1d(InstanceNormalization):
    """Normalises each channel of each example over all positions of (N, C, L) or (C, L) (Ulyanov et al., 2016).

    The parameters are those of :class:`BatchNorm1d`.
    """

    ranks = (2, 3)


class InstanceNorm2d(InstanceNormalization):
    """:class:`InstanceNorm1d` of images, (N, C, H, W) or (C, H, W)."""

    ranks = (3, 4)


class InstanceNorm3d(InstanceNormalization):
    """:class:`InstanceNorm1d` of volumes, (N, C, D, H, W) or (C, D, H, W)."""

    ranks = (4, 5)


def normalized(shape: int | Sequence[int]) -> tuple[int, ...]:
    """The sizes of the last dimensions."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


class LayerNorm(Module):
    """Normalises over the last dimensions (Ba et al., 2016).

    Parameters
    ----------
    normalized_shape : int or tuple of int
        Their sizes.
    eps : float
        Added to the variance.
    elementwise_affine : bool
        Whether a weight and a bias of these sizes are learned.
    bias : bool
        Whether ``elementwise_affine`` comes with a bias.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.LayerNorm(2)(tp.tensor([[0., 1.], [2., 5.]])).detach()
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = normalized(normalized_shape), eps, elementwise_affine
        add_affine(self, self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights are 1, biases 0."""
        reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Sizes and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root mean square of the last dimensions (Zhang and Sennrich, 2019).

    Parameters
    ----------
    normalized_shape : int or tuple of int
        Their sizes.
    eps : float, optional
        Added to the mean square; the machine epsilon of the dtype by default.
    elementwise_affine : bool
        Whether a weight of these sizes is learned.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = normalized(normalized_shape), eps, elementwise_affine
        weight = empty(self.normalized_shape, device=device, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", None if weight is None else Parameter(weight))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights are 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the input."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Sizes and options."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalises groups of channels of each example over all positions of (N, C, ...) (Wu and He, 2018).

    Parameters
    ----------
    num_groups, num_channels : int
        How many groups and channels there are.
    eps : float
        Added to the variance.
    affine : bool
        Whether a weight and a bias for each channel are learned.
    bias : bool
        Whether ``affine`` comes with a bias.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        add_affine(self, (num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights are 1, biases 0."""
        reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Sizes and options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides by a power of the mean square of neighbouring channels: ``x / (k + alpha * mean(x**2)) ** beta``."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
