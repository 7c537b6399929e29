"""Neural network modules."""

from . import functional, init
from .layers import (
    CrossEntropyLoss,
    Dropout,
    Flatten,
    Identity,
    Linear,
    ModuleList,
    MSELoss,
    ReLU,
    Sequential,
    Sigmoid,
    Tanh,
)
from .module import Module
from .parameter import Buffer, Parameter

__all__ = [
    "Buffer",
    "CrossEntropyLoss",
    "Dropout",
    "Flatten",
    "Identity",
    "Linear",
    "MSELoss",
    "Module",
    "ModuleList",
    "Parameter",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Tanh",
    "functional",
    "init",
]
