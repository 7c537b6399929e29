"""Make tests/data/checkpoint.pt: a file saved by PyTorch, for tests/test_serialization.py.

    python tools/make_checkpoint.py

Needs PyTorch, which neither the package nor its tests import. The values follow from ``arange``; the test knows them.
"""

from collections import OrderedDict
from pathlib import Path

import torch

TARGET = Path(__file__).parents[1] / "tests" / "data" / "checkpoint.pt"
DTYPES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64
float16 bfloat16 float32 float64 complex64 complex128""".split()


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
        **{name: torch.arange(3).to(getattr(torch, name)) for name in DTYPES},
    )
    vars(content)["_metadata"] = {"version": 2}  # as a state_dict has
    torch.save(content, TARGET)


if __name__ == "__main__":
    main()
