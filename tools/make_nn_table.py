"""Write tests/data/nn.json: what PyTorch's modules are printed as, hold and compute, for tests/test_nn_layers.py.

Run it where PyTorch is installed. Inputs and parameters are given by formulas (``values``), and of each result its
shape and its product with a vector of cosines (``projected``) are stored: outputs, and gradients of the inputs, of
the parameters, and the buffers after.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

CASES: list[dict[str, Any]] = []


def case(name: str, *args: Any, inputs: Any, evaluate: bool = False, **kwargs: Any) -> None:
    """Inputs are (kind, shape): numbers, "positive" ones, "sign"s, or whole numbers below an int."""
    inputs = [["numbers", list(i)] if isinstance(i[0], int) else [i[0], list(i[1])] for i in inputs]
    CASES.append({"name": name, "args": list(args), "kwargs": kwargs, "inputs": inputs, "eval": evaluate})


def below(limit: int, *shape: int) -> Any:
    return f"below {limit}", shape


def positive(*shape: int) -> Any:
    return "positive", shape


def sign(*shape: int) -> Any:
    return "sign", shape


def values(kind: str, shape: list[int], number: int) -> np.ndarray[Any, Any]:
    """The entries of the input of that number, or of a parameter, whose numbers begin at 100."""
    i = np.arange(np.prod(shape, dtype=int), dtype=float)
    wave = np.sin(1.7 * i + 0.3 * number)
    if kind.startswith("below"):
        return ((7 * i + 3 * number) % int(kind.split()[1])).astype(np.int64).reshape(shape)
    made = {"numbers": 1.5 * wave, "positive": 0.5 + 0.4 * wave, "sign": np.where(wave > 0, 1.0, -1.0)}[kind]
    return made.reshape(shape)


def projected(array: np.ndarray[Any, Any]) -> list[Any]:
    flat = np.asarray(array, dtype=float).reshape(-1)
    return [list(np.shape(array)), float(f"{flat @ np.cos(0.5 * np.arange(flat.size)):.12g}")]


def elementwise() -> None:
    names = (
        "ReLU ReLU6 Tanh Sigmoid SELU SiLU Mish Hardsigmoid Hardswish LogSigmoid Softsign Tanhshrink ELU CELU "
        "LeakyReLU GELU GLU Hardshrink Softshrink Softplus Hardtanh PReLU"
    ).split()
    for name in names:
        case(name, inputs=[(4, 6)])
    for name in ("ReLU", "ELU", "LeakyReLU", "Hardtanh"):
        case(name, inplace=True, inputs=[])
    case("Threshold", 0.1, 20, inputs=[(4, 6)])
    case("RReLU", inputs=[(4, 6)], evaluate=True)
    case("PReLU", 6, inputs=[(4, 6)])
    case("GELU", "tanh", inputs=[(4, 6)])
    case("Hardtanh", -0.5, 0.25, inputs=[(4, 6)])
    for name in ("Softmax", "Softmin", "LogSoftmax"):
        case(name, 1, inputs=[(4, 6)])
    case("Softmax2d", inputs=[(2, 3, 4, 4)])
    for name in "Dropout Dropout1d AlphaDropout FeatureAlphaDropout".split():
        case(name, 0.3, inputs=[(2, 3, 4)], evaluate=True)
    case("Dropout2d", 0.3, inputs=[(2, 3, 4, 4)], evaluate=True)
    case("Dropout3d", 0.3, inputs=[(2, 3, 4, 4, 2)], evaluate=True)


def spatial() -> None:
    for d in (1, 2, 3):
        size = (8, 7, 6)[:d]
        case(f"Conv{d}d", 4, 6, 3, stride=2, padding=1, groups=2, inputs=[(2, 4, *size)])
        case(f"Conv{d}d", 4, 6, 2, padding="same", dilation=2, bias=False, inputs=[(4, *size)])
        for mode in ("reflect", "replicate", "circular"):
            case(f"Conv{d}d", 2, 3, 3, padding=1, padding_mode=mode, inputs=[(2, 2, *size)])
        case(f"Conv{d}d", 2, 3, 4, padding="same", padding_mode="circular", inputs=[(2, 2, *size)])
        options: dict[str, Any] = {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}
        case(f"ConvTranspose{d}d", 4, 6, 3, **options, inputs=[(2, 4, *size)])
        case(f"MaxPool{d}d", 3, 2, 1, inputs=[(2, 3, *size)])
        case(f"AvgPool{d}d", 3, 2, 1, inputs=[(2, 3, *size)])
        case(f"MaxPool{d}d", 2, return_indices=True, inputs=[(2, 3, *size)])
        case(f"LPPool{d}d", 2, 2, inputs=[positive(2, 3, *size)])
        case(f"AdaptiveAvgPool{d}d", 3, inputs=[(2, 3, *size)])
        case(f"AdaptiveMaxPool{d}d", 3, True, inputs=[(2, 3, *size)])
        for kind in ("ReflectionPad", "ReplicationPad", "CircularPad", "ZeroPad"):
            case(f"{kind}{d}d", 2, inputs=[(2, 3, *size)])
        case(f"ConstantPad{d}d", list(range(2 * d)), 3.5, inputs=[(2, 3, *size)])
        case(f"MaxUnpool{d}d", 2, inputs=[])
        for evaluate in (False, True):
            x = [(4, 3, *size)]
            case(f"BatchNorm{d}d", 3, inputs=x, evaluate=evaluate)
            case(f"BatchNorm{d}d", 3, momentum=None, affine=False, inputs=x, evaluate=evaluate)
            case(f"BatchNorm{d}d", 3, track_running_stats=False, bias=False, inputs=x, evaluate=evaluate)
            case(f"InstanceNorm{d}d", 3, affine=True, track_running_stats=True, inputs=x, evaluate=evaluate)
        case(f"InstanceNorm{d}d", 3, inputs=[(3, *size)])
        for kind in (f"LazyConv{d}d", f"LazyConvTranspose{d}d"):
            case(kind, 3, 2, inputs=[(2, 4, *size)])
        for kind in (f"LazyBatchNorm{d}d", f"LazyInstanceNorm{d}d"):
            case(kind, inputs=[(2, 4, *size)])
    case("LazyLinear", 3, inputs=[(2, 4)])
    case("SyncBatchNorm", 3, inputs=[], evaluate=True)
    case("FractionalMaxPool2d", 3, output_size=2, inputs=[])
    case("LayerNorm", [3, 4], inputs=[(2, 3, 4)])
    case("LayerNorm", 4, bias=False, inputs=[(2, 3, 4)])
    case("LayerNorm", 4, elementwise_affine=False, inputs=[(2, 3, 4)])
    case("RMSNorm", 4, inputs=[(2, 3, 4)])
    case("GroupNorm", 2, 4, inputs=[(2, 4, 5)])
    case("LocalResponseNorm", 3, inputs=[(2, 6, 5)])


def recurrent() -> None:
    options: dict[str, Any]
    for shape in ((5, 2, 3), (5, 3)):
        for options in ({}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "bias": False}):
            for name in ("RNN", "LSTM", "GRU"):
                case(name, 3, 4, **options, inputs=[shape])
    case("RNN", 3, 4, nonlinearity="relu", inputs=[(5, 2, 3)])
    case("LSTM", 3, 4, proj_size=2, num_layers=2, bidirectional=True, inputs=[(5, 2, 3)])
    for name in ("RNNCell", "LSTMCell", "GRUCell"):
        case(name, 3, 4, inputs=[(2, 3)])
        case(name, 3, 4, bias=False, inputs=[(3,)])
    case("RNNCell", 3, 4, nonlinearity="relu", inputs=[(2, 3)])


def other() -> None:
    case("Embedding", 6, 3, padding_idx=-1, inputs=[below(6, 2, 4)])
    case("Embedding", 6, 3, max_norm=1.0, inputs=[below(6, 2, 4)])
    for mode in ("sum", "mean", "max"):
        case("EmbeddingBag", 6, 3, mode=mode, padding_idx=1, inputs=[below(6, 2, 4)])
    case("Linear", 3, 4, inputs=[(2, 3)])
    case("Bilinear", 3, 4, 5, inputs=[(2, 3), (2, 4)])
    case("Identity", 1, 2, inputs=[(2,)])
    case("Upsample", scale_factor=2, inputs=[(1, 2, 3)])
    case("Upsample", size=[5, 6], mode="bicubic", align_corners=True, inputs=[(1, 2, 3, 4)])
    case("UpsamplingBilinear2d", scale_factor=2, inputs=[(1, 2, 3, 4)])
    case("UpsamplingNearest2d", [5, 6], inputs=[(1, 2, 3, 4)])
    case("PixelShuffle", 2, inputs=[(1, 8, 3, 3)])
    case("PixelUnshuffle", 2, inputs=[(1, 2, 4, 4)])
    case("ChannelShuffle", 2, inputs=[(1, 4, 3, 3)])
    case("Fold", [4, 4], 2, inputs=[(1, 12, 9)])
    case("Unfold", 2, padding=1, inputs=[(1, 3, 4, 4)])
    case("Flatten", inputs=[(2, 3, 4)])
    case("Unflatten", 1, [2, 3], inputs=[(4, 6)])
    case("CosineSimilarity", inputs=[(3, 4), (3, 4)])
    case("PairwiseDistance", 1.0, keepdim=True, inputs=[(3, 4), (3, 4)])
    options: dict[str, Any]
    for options in (
        {},
        {"batch_first": True},
        {"kdim": 4, "vdim": 4, "add_bias_kv": True, "add_zero_attn": True},
        {"kdim": 3, "vdim": 5, "bias": False},
    ):
        sizes = (4, options.get("kdim", 4), options.get("vdim", 4))
        case("MultiheadAttention", 4, 2, **options, inputs=[(5, 3, n) for n in sizes])
    case("MultiheadAttention", 4, 2, inputs=[(5, 4)] * 3)
    for options in ({}, {"norm_first": True, "activation": "gelu", "batch_first": True}, {"bias": False}):
        case("TransformerEncoderLayer", 4, 2, 8, 0.0, **options, inputs=[(5, 3, 4)])
        case("TransformerDecoderLayer", 4, 2, 8, 0.0, **options, inputs=[(5, 3, 4)] * 2)
    case("Transformer", 4, 2, 1, 2, 8, 0.0, inputs=[(5, 3, 4)] * 2)


def losses() -> None:
    pair = [(3, 4), (3, 4)]
    for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss"):
        for reduction in ("mean", "sum", "none"):
            case(name, reduction=reduction, inputs=pair)
    case("SmoothL1Loss", beta=0.3, inputs=pair)
    case("MSELoss", size_average=False, inputs=pair)
    case("L1Loss", reduce=False, inputs=pair)
    case("NLLLoss", inputs=[(3, 4), below(4, 3)])
    case("CrossEntropyLoss", label_smoothing=0.1, inputs=[(3, 4), below(4, 3)])
    case("BCELoss", inputs=[positive(3, 4), positive(3, 4)])
    case("BCEWithLogitsLoss", inputs=[(3, 4), positive(3, 4)])
    case("KLDivLoss", log_target=True, reduction="batchmean", inputs=pair)
    case("PoissonNLLLoss", full=True, inputs=[(3, 4), positive(3, 4)])
    case("GaussianNLLLoss", full=True, inputs=[*pair, positive(3, 4)])
    case("SoftMarginLoss", inputs=[(3, 4), sign(3, 4)])
    case("HingeEmbeddingLoss", margin=0.5, inputs=[(3, 4), sign(3, 4)])
    case("MultiLabelMarginLoss", inputs=[(3, 4), below(4, 3, 4)])
    case("MultiLabelSoftMarginLoss", inputs=[(3, 4), positive(3, 4)])
    case("MultiMarginLoss", 2, 0.5, inputs=[(3, 4), below(4, 3)])
    case("MarginRankingLoss", 0.1, inputs=[(3,), (3,), sign(3)])
    case("CosineEmbeddingLoss", 0.1, inputs=[*pair, sign(3)])
    case("TripletMarginLoss", 1.0, 1.0, 1e-6, True, inputs=[*pair, (3, 4)])
    case("TripletMarginWithDistanceLoss", swap=True, inputs=[*pair, (3, 4)])
    case("LinearCrossEntropyLoss", 4, 5, bias=True, out_features=[2], inputs=[(3, 4), below(5, 3, 2)])
    case("AdaptiveLogSoftmaxWithLoss", 16, 10, [2, 5], inputs=[(4, 16), below(10, 4)])
    case("CTCLoss", 1, inputs=[])


def variants() -> None:
    """Further options, one at a time or in pairs."""
    for d in (1, 2, 3):
        size = (8, 7, 6)[:d]
        x = [(2, 4, *size)]
        for mode in ("reflect", "replicate", "circular"):
            case(f"Conv{d}d", 4, 2, 3, padding="same", dilation=2, padding_mode=mode, inputs=x)
        case(f"Conv{d}d", 4, 8, 1, 2, groups=4, inputs=x)
        case(f"Conv{d}d", 4, 2, [1, 2, 3][:d], [2, 1, 1][:d], [0, 1, 1][:d], padding_mode="reflect", inputs=x)
        case(f"Conv{d}d", 4, 2, 2, padding="valid", inputs=x)
        case(f"ConvTranspose{d}d", 4, 6, 2, 3, dilation=2, bias=False, inputs=x)
        case(f"ConvTranspose{d}d", 4, 6, 3, 2, 1, 1, 2, inputs=[(4, *size)])
        case(f"MaxPool{d}d", 3, 2, 1, 2, ceil_mode=True, inputs=x)
        case(f"MaxPool{d}d", 3, 2, ceil_mode=True, return_indices=True, inputs=[(4, *size)])
        case(f"AvgPool{d}d", 3, 2, 1, True, False, inputs=x)
        case(f"LPPool{d}d", 3, 2, 1, True, inputs=[positive(2, 3, *size)])
        case(f"AdaptiveAvgPool{d}d", [3, 5, 1][:d], inputs=[(4, *size)])
        case(f"AdaptiveMaxPool{d}d", [4, 3, 5][:d], inputs=x)
        for kind in ("ReflectionPad", "ReplicationPad", "CircularPad", "ZeroPad"):
            case(f"{kind}{d}d", [2, 1, 0, 3, 1, 2][: 2 * d], inputs=[(3, *size)])
        for evaluate in (False, True):
            case(f"BatchNorm{d}d", 4, 0.1, 0.3, False, inputs=x, evaluate=evaluate)
            case(f"InstanceNorm{d}d", 4, momentum=0.7, track_running_stats=True, inputs=x, evaluate=evaluate)
        case(f"LazyConv{d}d", 2, 2, bias=False, padding=1, padding_mode="circular", inputs=x)
        case(f"LazyBatchNorm{d}d", momentum=None, inputs=x)
    case("AvgPool2d", 2, divisor_override=3, inputs=[(2, 3, 5, 5)])
    case("BatchNorm1d", 4, inputs=[(6, 4)])
    case("GroupNorm", 4, 4, affine=False, inputs=[(2, 4, 3, 3)])
    case("GroupNorm", 1, 4, 0.1, inputs=[(3, 4)])
    case("LayerNorm", [2, 3, 4], 0.1, inputs=[(2, 3, 4)])
    case("RMSNorm", [3, 4], elementwise_affine=False, eps=0.1, inputs=[(2, 3, 4)])
    case("LocalResponseNorm", 2, 0.5, 2.0, 1.5, inputs=[(2, 5, 3, 3)])
    activations: dict[str, dict[str, Any]] = {
        "ELU": {"alpha": 0.5}, "CELU": {"alpha": 2.0}, "Hardshrink": {"lambd": 0.2}, "Softshrink": {"lambd": 0.2},
        "Softplus": {"beta": 2.0, "threshold": 1.0}, "LeakyReLU": {"negative_slope": 0.3},
        "PReLU": {"num_parameters": 6, "init": 0.1}, "GLU": {"dim": 0}, "Softmax": {"dim": -2},
    }  # fmt: skip
    for name, options in activations.items():
        case(name, **options, inputs=[(4, 6)])
    case("Embedding", 6, 3, scale_grad_by_freq=True, padding_idx=2, inputs=[below(6, 2, 4)])
    case("Embedding", 6, 3, max_norm=0.5, norm_type=1.0, inputs=[below(6, 5)])
    case("Bilinear", 3, 4, 5, bias=False, inputs=[(3,), (4,)])
    case("CosineSimilarity", 0, 0.1, inputs=[(3, 4), (1, 4)])
    case("PairwiseDistance", 3.0, 0.1, inputs=[(4,), (3, 4)])
    for mode, shape in {"nearest": (7,), "linear": (7,), "bilinear": (4, 5), "bicubic": (4, 5), "trilinear": (3, 4, 2),
                        "area": (4, 5), "nearest-exact": (4, 5)}.items():  # fmt: skip
        case("Upsample", scale_factor=1.5, mode=mode, inputs=[(1, 2, *shape)])
    case("Fold", [5, 6], [2, 3], 1, 1, 2, inputs=[(1, 12, 9)])
    case("Unfold", [2, 3], 2, 1, 2, inputs=[(1, 2, 7, 8)])
    for options in ({"p": 2, "margin": 0.5}, {"reduction": "none"}):
        case("MultiMarginLoss", **options, inputs=[(3, 4), below(4, 3)])
    case("NLLLoss", ignore_index=1, inputs=[(3, 4, 2), below(4, 3, 2)])
    case("CrossEntropyLoss", ignore_index=1, label_smoothing=0.3, reduction="sum", inputs=[(3, 4, 2), below(4, 3, 2)])
    case("CrossEntropyLoss", label_smoothing=0.3, inputs=[(3, 4), positive(3, 4)])
    case("PoissonNLLLoss", log_input=False, eps=0.1, reduction="sum", inputs=[positive(3, 4), positive(3, 4)])
    case("KLDivLoss", reduction="batchmean", inputs=[(3, 4), positive(3, 4)])
    case("HuberLoss", delta=0.3, inputs=[(3, 4), (3, 4)])
    case("TripletMarginWithDistanceLoss", margin=0.5, reduction="sum", inputs=[(3, 4), (3, 4), (3, 4)])
    case("LSTM", 3, 4, 2, False, True, 0.0, True, 2, inputs=[(2, 5, 3)])
    case("TransformerEncoderLayer", 4, 2, 8, 0.0, "gelu", 0.1, True, inputs=[(5, 3, 4)])
    case("Transformer", 4, 2, 1, 1, 8, 0.0, norm_first=True, batch_first=True, bias=False, inputs=[(5, 3, 4)] * 2)


def tensors(result: Any) -> list[torch.Tensor]:
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in tensors(part)]
    return [] if result is None else [result]


def fill(module: torch.nn.Module) -> None:
    """Parameters by formula."""
    with torch.no_grad():
        for n, p in enumerate(module.parameters()):
            p.copy_(torch.from_numpy(values("numbers", list(p.shape), 100 + n) / 3))


def record(entry: dict[str, Any]) -> None:
    args = [tuple(a) if isinstance(a, list) else a for a in entry["args"]]
    kwargs = {k: tuple(v) if isinstance(v, list) else v for k, v in entry["kwargs"].items()}
    module = getattr(torch.nn, entry["name"])(*args, **kwargs)
    entry["repr"] = repr(module)
    entry["signs"] = [i[0] not in ("sign",) and not i[0].startswith("below") for i in entry["inputs"]]
    arrays = [values(kind, shape, n) for n, (kind, shape) in enumerate(entry["inputs"])]
    inputs = [torch.from_numpy(a).requires_grad_(s) for a, s in zip(arrays, entry["signs"])]
    module.double()
    if entry["name"].startswith("Lazy"):
        module(*inputs)
        module.reset_parameters()
    entry["state"] = {name: list(t.shape) for name, t in module.state_dict().items()}
    fill(module)
    if entry["eval"]:
        module.eval()
    if not inputs:
        return
    outputs = tensors(module(*inputs))
    entry["outputs"] = [projected(o.detach().numpy()) for o in outputs]
    total = sum(
        (o * torch.cos(0.5 * torch.arange(o.numel(), dtype=torch.float64)).reshape(o.shape)).sum()
        for o in outputs
        if o.requires_grad
    )
    if isinstance(total, torch.Tensor):
        total.backward()
    leaves = {**{f"input {n}": x for n, x in enumerate(inputs)}, **dict(module.named_parameters())}
    entry["gradients"] = {k: projected(t.grad.numpy()) for k, t in leaves.items() if t.grad is not None}
    entry["buffers"] = {k: projected(b.numpy()) for k, b in module.named_buffers()}


def main() -> None:
    warnings.simplefilter("ignore")
    for make in (elementwise, spatial, recurrent, other, losses, variants):
        make()
    for entry in CASES:
        record(entry)
        del entry["signs"]
    path = Path(__file__).parent.parent / "tests" / "data" / "nn.json"
    path.write_text("[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in CASES) + "\n]\n")


if __name__ == "__main__":
    main()
