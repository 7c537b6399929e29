"""Programs written for PyTorch train as they do there, once only what is imported is changed."""

import json
from pathlib import Path

import pytest
from training import PROGRAMS

import tensorplay as tp

TABLE = json.loads((Path(__file__).parent / "data" / "training.json").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses_are_those_of_pytorch(name):
    assert PROGRAMS[name](tp) == pytest.approx(TABLE[name], rel=1e-8, abs=1e-10)
