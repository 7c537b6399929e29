"""Write tests/data/promotion.json: the dtypes PyTorch gives, which tests/test_promotion.py compares with ours.

Run it where PyTorch is installed. complex32, which tensorplay lacks, is written as complex64; null is an error.
"""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import torch

NAMES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
).split()
SCALARS = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}
DEFAULTS = ("float16", "float32", "float64")  # PyTorch has no complex default for bfloat16


def name_of(f: Callable[..., torch.dtype], *args: object) -> str | None:
    try:
        return str(f(*args)).removeprefix("torch.").replace("complex32", "complex64")
    except RuntimeError:
        return None


def operand(name: str, priority: int) -> object:
    if priority == 0:
        return SCALARS[name]
    return torch.zeros([2] * (priority - 1), dtype=getattr(torch, name))


def result_types(p: int, q: int) -> dict[str, list[str | None]]:
    return {
        a: [name_of(torch.result_type, operand(a, p), operand(b, q)) for b in (NAMES if q else SCALARS)]
        for a in (NAMES if p else SCALARS)
    }


def main() -> None:
    warnings.simplefilter("ignore")  # complex32 is experimental
    types = [getattr(torch, name) for name in NAMES]
    table: dict[str, object] = {
        "dtypes": NAMES,
        "scalars": list(SCALARS),
        "promote_types": {a: [name_of(torch.promote_types, t, u) for u in types] for a, t in zip(NAMES, types)},
        "can_cast": {a: [torch.can_cast(t, u) for u in types] for a, t in zip(NAMES, types)},
    }
    for default in DEFAULTS:
        torch.set_default_dtype(getattr(torch, default))
        table[f"result_type {default}"] = {
            f"{p} {q}": result_types(p, q)
            for p, q in itertools.product(range(3), repeat=2)
            if default == "float32" or 0 in (p, q)  # the default dtype matters to Python numbers only
        }
    path = Path(__file__).parent.parent / "tests" / "data" / "promotion.json"
    path.write_text(json.dumps(table).replace("], ", "],\n") + "\n")


if __name__ == "__main__":
    main()
