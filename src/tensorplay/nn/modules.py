"""Where PyTorch has its layers: ``nn.modules.linear`` and the like are names for the files beside this one."""

import sys as _sys
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import Any as _Any

_FILES = {name: name for name in (
    "activation", "adaptive", "container", "conv", "distance", "dropout", "lazy", "linear", "loss", "module",
    "normalization", "padding", "pooling", "rnn", "transformer",
)} | {
    "batchnorm": "normalization", "channelshuffle": "shape", "flatten": "shape", "fold": "shape",
    "instancenorm": "normalization", "linear_cross_entropy_options": "loss", "pixelshuffle": "shape",
    "sparse": "embedding", "upsampling": "shape",
}  # fmt: skip

_BASES = {
    "conv": {"_ConvNd": "Convolution", "_ConvTransposeNd": "Transposed"}, "dropout": {"_DropoutNd": "RandomZeros"},
    "loss": {"_Loss": "Loss", "_WeightedLoss": "WeightedLoss"},
    "normalization": {"_NormBase": "Statistics", "_BatchNorm": "BatchNormalization",
                      "_InstanceNorm": "InstanceNormalization"},
    "padding": {"_ConstantPadNd": "ConstantPadding"},
    "pooling": {"_MaxPoolNd": "MaxPooling", "_AvgPoolNd": "AveragePooling", "_LPPoolNd": "PowerPooling",
                "_MaxUnpoolNd": "Unpooling", "_AdaptiveAvgPoolNd": "AdaptiveAverage",
                "_AdaptiveMaxPoolNd": "AdaptiveMaximum"},
    "transformer": {"_get_activation_fn": "activation_of", "_get_clones": "copies"},
}  # fmt: skip
"""The names by which programs test for a kind of layer, or derive their own from it; and what they borrow."""


def _ntuple(n: int) -> _Callable[[_Any], tuple[_Any, ...]]:
    """A function that makes n of one."""
    return lambda value: tuple(value) if isinstance(value, _Iterable) else (value,) * n


def _consume_prefix_in_state_dict_if_present(state_dict: dict[str, _Any], prefix: str) -> None:
    """Take a prefix off the names of a state dict, in place; say that of a ``DataParallel``, ``module.``."""
    metadata = getattr(state_dict, "_metadata", {})
    for name in list(state_dict):
        if name.startswith(prefix):
            state_dict[name[len(prefix) :]] = state_dict.pop(name)
    for name in list(metadata):
        if name and (name + ".").startswith(prefix):
            metadata[name[len(prefix) :]] = metadata.pop(name)


__path__: list[str] = []  # which makes this a package, with the modules that are entered here
for _name, _file in _FILES.items():
    _module = globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _import_module(f"tensorplay.nn.{_file}")
    globals().update(
        {n: c for n, c in vars(_module).items() if isinstance(c, type) and c.__module__ == _module.__name__}
    )
    vars(_module).update({n: vars(_module)[base] for n, base in _BASES.get(_file, {}).items()})

activation.MultiheadAttention = transformer.MultiheadAttention  # type: ignore[name-defined]  # noqa: F821  entered above
parallel = _sys.modules["tensorplay.nn.parallel"] = container  # type: ignore[name-defined]  # noqa: F821
utils = _sys.modules[f"{__name__}.utils"] = _ModuleType(f"{__name__}.utils", "One number for each dimension.")
vars(utils).update(_ntuple=_ntuple, _single=_ntuple(1), _pair=_ntuple(2), _triple=_ntuple(3), _quadruple=_ntuple(4),
                   consume_prefix_in_state_dict_if_present=_consume_prefix_in_state_dict_if_present)  # fmt: skip
