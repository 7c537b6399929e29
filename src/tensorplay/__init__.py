"""tensorplay."""

from .core.tensor import Tensor
from .ops import elementwise, structural
