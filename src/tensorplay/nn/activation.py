"""Activations as modules: each holds the options of the function that it calls."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..ops.factories import empty
from . import functional as F
from . import init as initial
from .module import Module
from .parameter import Parameter


class Activation(Module):
    """A function, element by element or along a dimension; ``__constants__`` are its options, in order.

    Options that say ``inplace`` are shown when they are set.
    """

    __constants__: tuple[str, ...] = ()
    inplace: bool = False

    def extra_repr(self) -> str:
        """Options."""
        shown = [f"{name}={getattr(self, name)!r}" for name in self.__constants__]
        return ", ".join(shown + ["inplace=True"] * bool(self.inplace))


class WithInplace(Activation):
    """An activation that has no option but to overwrite its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class WithDim(Activation):
    """An activation along a dimension."""

    __constants__ = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class ReLU(WithInplace):
    """max(x, 0), element by element.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.ReLU()(tp.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.relu(input, inplace=self.inplace)


class Tanh(Activation):
    """Hyperbolic tangent, element by element."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return input.tanh()


class Sigmoid(Activation):
    """1 / (1 + exp(-x)), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return input.sigmoid()


class SELU(WithInplace):
    """``scale * (max(0, x) + min(0, alpha * (exp(x) - 1)))`` with constants that keep mean and variance.

    Source: Klambauer et al., 2017.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.selu(input, inplace=self.inplace)


class SiLU(WithInplace):
    """``x * sigmoid(x)``, also known as swish."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.silu(input, inplace=self.inplace)


class Mish(WithInplace):
    """``x * tanh(softplus(x))`` (Misra, 2019)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.mish(input, inplace=self.inplace)


class Hardsigmoid(WithInplace):
    """``relu6(x + 3) / 6``, a piecewise linear sigmoid."""

    def extra_repr(self) -> str:
        """Nothing."""
        return ""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardsigmoid(input, inplace=self.inplace)


class Hardswish(WithInplace):
    """``x * relu6(x + 3) / 6``."""

    def extra_repr(self) -> str:
        """Nothing."""
        return ""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardswish(input, inplace=self.inplace)


class LogSigmoid(Activation):
    """log(1 / (1 + exp(-x))), without overflow."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.logsigmoid(input)


class Softsign(Activation):
    """``x / (1 + |x|)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softsign(input)


class Tanhshrink(Activation):
    """``x - tanh(x)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.tanhshrink(input)


class ELU(Activation):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""

    __constants__ = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(Activation):
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``."""

    __constants__ = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.celu(input, self.alpha, self.inplace)


class LeakyReLU(Activation):
    """``x`` where it is positive, else ``negative_slope * x``."""

    __constants__ = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class GELU(Activation):
    """``x`` times the standard normal distribution function at ``x`` (Hendrycks and Gimpel, 2016)."""

    __constants__ = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.gelu(input, approximate=self.approximate)


class GLU(Activation):
    """The first half of a dimension times the sigmoid of the second."""

    __constants__ = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.glu(input, self.dim)


class Hardshrink(Activation):
    """``x`` outside of [-lambd, lambd], else 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Options."""
        return f"{self.lambd}"


class Softshrink(Activation):
    """``x`` moved towards 0 by ``lambd``, and 0 where it is nearer than that."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Options."""
        return f"{self.lambd}"


class Softplus(Activation):
    """``log(1 + exp(beta * x)) / beta``, a smooth relu; ``x`` itself where ``beta * x`` exceeds the threshold."""

    __constants__ = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softplus(input, self.beta, self.threshold)


class Threshold(Activation):
    """``x`` where it is above the threshold, else ``value``."""

    __constants__ = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(Activation):
    """:class:`LeakyReLU` with random slopes in training, and with their mean otherwise (Xu et al., 2015)."""

    __constants__ = ("lower", "upper")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(Activation):
    """``x`` between ``min_val`` and ``max_val``, the nearer of the two outside."""

    __constants__: tuple[str, ...] = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        self.min_val = min_val if min_value is None else min_value  # the later two are old names
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if not self.max_val > self.min_val:
            raise AssertionError(
                f"Hardtanh: max_val must be greater than min_val, got {self.max_val} and {self.min_val}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """min(max(x, 0), 6), element by element."""

    __constants__ = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Softmax(WithDim):
    """exp(x) / sum(exp(x)) along a dimension.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.Softmax(dim=0)(tp.tensor([0., 0.]))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softmax(input, self.dim)


class Softmin(WithDim):
    """:class:`Softmax` of -x."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softmin(input, self.dim)


class LogSoftmax(WithDim):
    """The logarithm of :class:`Softmax`, without underflow."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.log_softmax(input, self.dim)


class Softmax2d(Activation):
    """:class:`Softmax` over the channels of images, (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


class PReLU(Module):
    """``x`` where it is positive, else ``weight * x`` with a learned weight for all channels or each (He et al., 2015).

    Parameters
    ----------
    num_parameters : int
        1, or the number of channels, which is the size of dimension 1.
    init : float
        The weights' first value.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty((num_parameters,), device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to their first value."""
        initial.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Options."""
        return f"num_parameters={self.num_parameters}"
