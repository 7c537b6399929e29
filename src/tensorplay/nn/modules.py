"""Where PyTorch has its layers: ``nn.modules.linear`` and the like are names for the files beside this one."""

import sys as _sys
from importlib import import_module as _import_module

_FILES = {name: name for name in (
    "activation", "adaptive", "container", "conv", "distance", "dropout", "lazy", "linear", "loss", "module",
    "normalization", "padding", "pooling", "rnn", "transformer",
)} | {
    "batchnorm": "normalization", "channelshuffle": "shape", "flatten": "shape", "fold": "shape",
    "instancenorm": "normalization", "linear_cross_entropy_options": "loss", "pixelshuffle": "shape",
    "sparse": "embedding", "upsampling": "shape",
}  # fmt: skip

__path__: list[str] = []  # which makes this a package, with the modules that are entered here
for _name, _file in _FILES.items():
    _module = globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _import_module(f"tensorplay.nn.{_file}")
    globals().update(
        {n: c for n, c in vars(_module).items() if isinstance(c, type) and c.__module__ == _module.__name__}
    )
