"""Modules that learn the sizes of their inputs from the first one."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..core import dtype as dtypes
from ..core.tensor import Tensor
from ..ops.from_data import tensor
from . import conv, linear, normalization
from .module import Module
from .parameter import UninitializedBuffer, UninitializedParameter, is_lazy


class LazyModuleMixin:
    """Makes a module lazy: it stands before the module among the bases.

    The module's ``__init__`` registers :class:`UninitializedParameter` and :class:`UninitializedBuffer`, and its
    ``initialize_parameters`` materializes them at the first call, for which it gets the arguments. After that the
    module is of the class ``cls_to_become``, if there is one.
    """

    cls_to_become: type[Module] | None = None

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give parameters their shapes; every lazy module defines it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Whether some parameter or buffer has no shape yet."""
        return any(is_lazy(t) for table in (self._parameters, self._buffers) for t in table.values())

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.cls_to_become is not None or self.has_uninitialized_params():
            self.initialize_parameters(*args, **kwargs)
            if self.has_uninitialized_params():
                raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
            if self.cls_to_become is not None:
                self.__class__ = self.cls_to_become
        return Module.__call__(self, *args, **kwargs)

    def _load_from_state_dict(self: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
        for table in (self._parameters, self._buffers):
            for name, mine in table.items():
                value = state_dict.get(prefix + name)
                if is_lazy(mine) and isinstance(value, Tensor) and not is_lazy(value):
                    with no_grad():
                        mine.materialize(value.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)  # type: ignore[misc]


class LazyLinear(LazyModuleMixin, linear.Linear):
    """A :class:`Linear` that takes ``in_features`` from its first input.

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.LazyLinear(2)
    >>> layer(tp.ones(4, 3)).shape
    tensorplay.Size([4, 2])
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become = linear.Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw new initial values, once there are places for them."""
        if self.in_features and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the size from the input."""
        loaded = not self.has_uninitialized_params()  # from a checkpoint
        if not self.in_features:
            self.in_features = input.shape[-1]
        if not loaded:
            materialize(self.weight, (self.out_features, self.in_features))
            materialize(self.bias, (self.out_features,))
            self.reset_parameters()


def materialize(place: Any, shape: tuple[int, ...]) -> None:
    """Give a parameter or buffer that has none a shape."""
    if is_lazy(place):
        with no_grad():
            place.materialize(shape)


class LazyConvolution(LazyModuleMixin):
    """What lazy convolutions have in common."""

    def reset_parameters(self: Any) -> None:
        """Draw new initial values, once there are places for them."""
        if self.in_channels and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def _delay(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if out_channels % self.groups != 0:
            raise ValueError(f"out_channels must be divisible by groups, got {out_channels} and {self.groups} groups")
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take the number of channels from the input."""
        if input.ndim not in (self.dims + 1, self.dims + 2):
            raise RuntimeError(f"Expected {self.dims + 1}D (unbatched) or {self.dims + 2}D (batched) input to "
                               f"{self._get_name()}, but got input of size: {input.shape}")  # fmt: skip
        channels = input.shape[-self.dims - 1]
        if channels % self.groups != 0:
            raise ValueError(f"in_channels must be divisible by groups, got {channels} and {self.groups} groups")
        loaded = not self.has_uninitialized_params()  # from a checkpoint
        if not self.in_channels:
            self.in_channels = channels
        if loaded:
            return
        pair = (channels, self.out_channels) if self.transposed else (self.out_channels, channels)
        materialize(self.weight, (pair[0], pair[1] // self.groups, *self.kernel_size))
        materialize(self.bias, (self.out_channels,))
        self.reset_parameters()


class LazyConv1d(LazyConvolution, conv.Conv1d):  # type: ignore[misc]
    """A :class:`Conv1d` that takes ``in_channels`` from its first input."""

    cls_to_become = conv.Conv1d

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._delay(out_channels, bias, device, dtype)


class LazyConv2d(LazyConvolution, conv.Conv2d):  # type: ignore[misc]
    """A :class:`Conv2d` that takes ``in_channels`` from its first input."""

    cls_to_become = conv.Conv2d

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._delay(out_channels, bias, device, dtype)


class LazyConv3d(LazyConvolution, conv.Conv3d):  # type: ignore[misc]
    """A :class:`Conv3d` that takes ``in_channels`` from its first input."""

    cls_to_become = conv.Conv3d

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._delay(out_channels, bias, device, dtype)


class LazyConvTranspose1d(LazyConvolution, conv.ConvTranspose1d):  # type: ignore[misc]
    """A :class:`ConvTranspose1d` that takes ``in_channels`` from its first input."""

    cls_to_become = conv.ConvTranspose1d

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._delay(out_channels, bias, device, dtype)


class LazyConvTranspose2d(LazyConvolution, conv.ConvTranspose2d):  # type: ignore[misc]
    """A :class:`ConvTranspose2d` that takes ``in_channels`` from its first input."""

    cls_to_become = conv.ConvTranspose2d

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._delay(out_channels, bias, device, dtype)


class LazyConvTranspose3d(LazyConvolution, conv.ConvTranspose3d):  # type: ignore[misc]
    """A :class:`ConvTranspose3d` that takes ``in_channels`` from its first input."""

    cls_to_become = conv.ConvTranspose3d

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._delay(out_channels, bias, device, dtype)


class LazyNormalization(LazyModuleMixin):
    """What lazy batch and instance normalisations have in common."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)  # type: ignore[call-arg]
        me: Any = self
        me.affine, me.track_running_stats = affine, track_running_stats
        if affine:
            me.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                me.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            me.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            me.running_var = UninitializedBuffer(device=device, dtype=dtype)
            me.num_batches_tracked = tensor(0, dtype=dtypes.int64, device=device)

    def reset_parameters(self: Any) -> None:
        """Set weights and statistics to their first values, once there are places for them."""
        if self.num_features and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor) -> None:
        """Take the number of channels from the input."""
        self._check_input_dim(input)
        alone = isinstance(self, normalization.InstanceNormalization) and input.ndim == self.ranks[0]
        channels = input.shape[0 if alone else 1]
        loaded = not self.has_uninitialized_params()  # from a checkpoint
        if not self.num_features:
            self.num_features = channels
        if not loaded:
            for place in (self.weight, self.bias, self.running_mean, self.running_var):
                materialize(place, (channels,))
            self.reset_parameters()


class LazyBatchNorm1d(LazyNormalization, normalization.BatchNorm1d):
    """A :class:`BatchNorm1d` that takes ``num_features`` from its first input."""

    cls_to_become = normalization.BatchNorm1d


class LazyBatchNorm2d(LazyNormalization, normalization.BatchNorm2d):
    """A :class:`BatchNorm2d` that takes ``num_features`` from its first input."""

    cls_to_become = normalization.BatchNorm2d


class LazyBatchNorm3d(LazyNormalization, normalization.BatchNorm3d):
    """A :class:`BatchNorm3d` that takes ``num_features`` from its first input."""

    cls_to_become = normalization.BatchNorm3d


class LazyInstanceNorm1d(LazyNormalization, normalization.InstanceNorm1d):
    """A :class:`InstanceNorm1d` that takes ``num_features`` from its first input."""

    cls_to_become = normalization.InstanceNorm1d


class LazyInstanceNorm2d(LazyNormalization, normalization.InstanceNorm2d):
    """A :class:`InstanceNorm2d` that takes ``num_features`` from its first input."""

    cls_to_become = normalization.InstanceNorm2d


class LazyInstanceNorm3d(LazyNormalization, normalization.InstanceNorm3d):
    """A :class:`InstanceNorm3d` that takes ``num_features`` from its first input."""

    cls_to_become = normalization.InstanceNorm3d
