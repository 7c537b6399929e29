"""Make tests/data/checkpoint.pt, checkpoint_1_5.pt and checkpoint.safetensors: files saved by PyTorch, for tests.

    python tools/make_checkpoint.py

Needs PyTorch, which neither the package nor its tests import. The values follow from ``arange``;
tests/test_serialization.py knows them.
"""

from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

TARGET = Path(__file__).parents[1] / "tests" / "data"
DTYPES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64
float16 bfloat16 float32 float64 complex64 complex128""".split()


def optimizer_state() -> dict[str, object]:
    """That of SGD after a step from zero, with momentum and two groups."""
    weights = [torch.nn.Parameter(torch.zeros(2, 3)), torch.nn.Parameter(torch.zeros(3))]
    groups: list[dict[str, Any]] = [{"params": weights[:1]}, {"params": weights[1:], "lr": 0.25}]
    optimizer = torch.optim.SGD(groups, lr=0.5, momentum=0.75)
    for weight in weights:
        weight.grad = torch.arange(float(weight.numel())).reshape(weight.shape)
    optimizer.step()
    return optimizer.state_dict()


def main() -> None:
    weight = torch.arange(6.0).reshape(2, 3)
    attributed = torch.ones(2)
    vars(attributed)["label"] = "ones"
    content = OrderedDict(
        weight=torch.nn.Parameter(weight),
        row=weight[1:].t(),
        buffer=torch.nn.Buffer(weight),
        leaf=torch.ones(2, requires_grad=True),
        meta=torch.zeros(2, 3, device="meta"),
        empty=torch.zeros(0, 3),
        number=torch.tensor(2.5),
        expanded=torch.ones(4).expand(3, 4),
        attributed=attributed,
        values=[1, 2.5, "text", None, (True,), {3}, b"bytes", 1j, slice(1, 2)],
        dtype=torch.float16,
        size=torch.Size([1, 2]),
        device=torch.device("cpu"),
        layout=torch.strided,
        nested={"epoch": 3, 4: [OrderedDict(part=weight[:, ::2]), (weight.to(torch.bfloat16),)], ("a", 1): 2**70},
        optimizer=optimizer_state(),
        **{name: torch.arange(3).to(getattr(torch, name)) for name in DTYPES},
    )
    vars(content)["_metadata"] = {"version": 2}  # as a state_dict has
    torch.save(content, TARGET / "checkpoint.pt")
    torch.save(content, TARGET / "checkpoint_1_5.pt", _use_new_zipfile_serialization=False)
    saveable = {name: torch.arange(3).to(getattr(torch, name)) for name in DTYPES if name != "complex128"}
    save_file(saveable | {"empty": torch.zeros(0, 3)}, TARGET / "checkpoint.safetensors", {"made by": "PyTorch"})


if __name__ == "__main__":
    main()
