"""Optimizers, schedules of their learning rates, and averages of the weights."""

from . import lr_scheduler, swa_utils
from .adagrad import Adadelta, Adagrad
from .adam import Adam, Adamax, AdamW, NAdam, RAdam
from .lbfgs import LBFGS
from .matrix import Adafactor, Muon
from .optimizer import Optimizer, swap_in_optimizer_params_and_state
from .rmsprop import RMSprop, Rprop
from .sgd import ASGD, SGD

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop", "lr_scheduler", "swa_utils", "swap_in_optimizer_params_and_state",
]  # fmt: skip
