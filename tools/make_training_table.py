"""Write tests/data/training.json: the losses of the programs of tests/training.py under PyTorch.

Run it where PyTorch is installed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

TESTS = Path(__file__).parent.parent / "tests"
sys.path.insert(0, str(TESTS))

from training import PROGRAMS  # noqa: E402  found by the path above


def main() -> None:
    table = {name: [float(f"{loss:.13g}") for loss in program(torch)] for name, program in PROGRAMS.items()}
    rows = [f"{json.dumps(name)}:{json.dumps(losses)}" for name, losses in table.items()]
    (TESTS / "data" / "training.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
