"""Optimizers, schedules of their learning rates, and averages of the weights."""

import sys as _sys

from . import adagrad, adam, lr_scheduler, rmsprop, sgd, swa_utils
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

# PyTorch has a file for each optimizer; here those of a kind share one
for _name, _file in (
    ("adadelta", adagrad), ("adamax", adam), ("adamw", adam), ("asgd", sgd), ("nadam", adam), ("radam", adam),
    ("rprop", rmsprop),
):  # fmt: skip
    globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _file
