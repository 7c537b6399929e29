"""Write tests/data/printing.json: tensors as PyTorch prints them, which tests/test_printing.py compares with ours.

Run it where PyTorch is installed. A case holds a few values, which are repeated to fill its shape.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import torch

INTEGERS = "uint8 uint16 uint32 uint64 int8 int16 int32 int64".split()
FLOATS = "float16 bfloat16 float32 float64".split()
COMPLEX = "complex64 complex128".split()
SPECIAL = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0]
FLOAT_VALUES: list[list[float]] = [
    [1.0, 2.0, -3.0],
    [0.5, -1.25, 3.75, 1000.0],
    [0.0, -0.0],
    [0.00012, 0.5],
    [9.9e-05, 0.5],
    [9.9e-05],
    [1e-3, 1.5],
    [1e-3, 1.0],
    [1.0, 1000.0],
    [1.0, 1001.0],
    [1e8],
    [1e8 + 64, 1e8],
    [12345.678, -0.25, 100.0],
    [0.99999, 0.00005],
    [999.99995, 9.99995],
    [1e-30, 1e30],
    [1e-7, 3e-7, -2e-7],
    SPECIAL,
    [1.0, *SPECIAL],
    [1.5, *SPECIAL],
    [-1e10, 2.5, *SPECIAL],
]
SHAPES = [(), (1,), (3,), (8,), (10,), (40,), (2, 3), (3, 12), (2, 1, 4), (2, 2, 2, 2)]
LARGE = [(1001,), (40, 30), (501, 2), (2, 600), (5, 8, 30), (2, 1, 7, 99)]
EMPTY = [(0,), (0, 3), (2, 0), (4, 0, 2)]
OPTIONS: list[dict[str, Any]] = [
    {"precision": 2},
    {"precision": 0},
    {"precision": 8},
    {"sci_mode": True},
    {"sci_mode": False},
    {"sci_mode": True, "precision": 1},
    {"linewidth": 40},
    {"linewidth": 120},
    {"linewidth": 1},
    {"threshold": 5},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 0, "edgeitems": 2, "linewidth": 50},
    {"edgeitems": 0},
    {"edgeitems": 0, "threshold": 2},
    {"profile": "short"},
    {"profile": "full"},
    {"profile": "short", "edgeitems": 4, "threshold": 20},
]


class Table:
    """Draws what a case leaves open, and records what PyTorch prints."""

    def __init__(self) -> None:
        self.random = random.Random(0)
        self.cases: list[dict[str, Any]] = []

    def values(self, dtype: str) -> list[Any]:
        if dtype == "bool":
            return self.random.choice([[True], [False], [True, False, False]])
        if dtype in INTEGERS:
            limits = torch.iinfo(getattr(torch, dtype))
            low = self.random.choice([0, limits.min])
            high = self.random.choice([9, 100, limits.max])
            return [self.random.randint(low, high) for _ in range(7)]
        if dtype in FLOATS:
            if self.random.random() < 0.5:
                return self.random.choice(FLOAT_VALUES)
            scale = 10.0 ** self.random.randint(-6, 6)
            return [self.random.gauss(0, scale) for _ in range(7)]
        real, imag = self.values("float64"), self.values("float64")
        return [[real[i % len(real)], imag[i % len(imag)]] for i in range(max(len(real), len(imag)))]

    def add(self, dtype: str, shape: tuple[int, ...], values: list[Any] | None = None, **case: Any) -> None:
        """Keys of a case that are not given: options {}, default 'float32', kind 'plain' and the suffixes of that."""
        torch.set_default_dtype(getattr(torch, case.get("default", "float32")))
        torch.set_printoptions(profile="default")
        torch.set_printoptions(**case.get("options", {}))
        torch_dtype = getattr(torch, dtype)
        values = self.values(dtype) if values is None else values
        if dtype in COMPLEX:
            kept = torch.tensor(values, dtype=torch_dtype.to_real())
            base = torch.view_as_complex(kept)
        else:
            base = kept = torch.tensor(values, dtype=torch.float64 if dtype in FLOATS else torch_dtype).to(torch_dtype)
        # what the dtype holds of the values, exactly
        values = kept.to(torch.float64).tolist() if dtype in FLOATS + COMPLEX else kept.tolist()
        count = torch.Size(shape).numel()
        tensor = base[torch.arange(count) % len(base)].reshape(shape)

        kind = case.get("kind", "plain")
        if kind.startswith("meta"):
            tensor = tensor.to("meta")
        suffixes = []
        if kind.endswith("grad"):
            tensor, suffixes = tensor.requires_grad_(), ["requires_grad=True"]
        elif kind.endswith("result"):
            tensor = tensor.requires_grad_().clone()
            suffixes = [f"grad_fn=<{type(tensor.grad_fn).__name__}>"]
        elif kind.endswith("parameter"):
            tensor, suffixes = torch.nn.Parameter(tensor), ["requires_grad=True"]
        text = repr(tensor).replace("torch.", "tensorplay.")
        if suffixes:
            case["suffixes"] = suffixes
        self.cases.append({"dtype": dtype, "shape": shape, "values": values, **case, "text": text})


def main() -> None:
    table = Table()
    choose = table.random.choice
    dtypes = ["bool", *INTEGERS, *FLOATS, *COMPLEX]
    for values in FLOAT_VALUES:
        table.add("float32", (len(values),), values)
        table.add("float64", (len(values),), values, kind="grad")
        table.add("complex128", (len(values),), [[v, w] for v, w in zip(values, values[::-1])])
    for dtype in dtypes:
        for shape in SHAPES:
            table.add(dtype, shape)
        table.add(dtype, choose(LARGE))
        table.add(dtype, choose(EMPTY))
        table.add(dtype, choose(SHAPES), kind="meta")
    for options in OPTIONS:
        for dtype in ["float32", "int64", choose(["float16", "bfloat16", "bool"]), choose(COMPLEX)]:
            table.add(dtype, choose(SHAPES[3:] + [(7, 1, 8)]), options=options)
    for kind in ["grad", "result", "parameter", "meta grad", "meta parameter"]:
        for dtype in [*FLOATS, *COMPLEX]:
            table.add(dtype, choose(SHAPES + EMPTY), kind=kind)
    for default in ["float16", "bfloat16", "float64"]:
        for dtype in ["int64", *FLOATS, *COMPLEX]:
            table.add(dtype, choose(SHAPES[:3] + EMPTY[:2]), default=default, kind=choose(["plain", "meta"]))
    path = Path(__file__).parent.parent / "tests" / "data" / "printing.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, table.cases)) + "\n]\n")
    print(f"{len(table.cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
