"""The benchmark's workloads compute the same over tensors and by hand; its comparison sees what has slowed down."""

import importlib
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(FOLDER))
run, workloads = importlib.import_module("run"), importlib.import_module("workloads")
sys.path.remove(str(FOLDER))


@pytest.mark.parametrize("name", workloads.WORKLOADS)
def test_a_workload_over_tensors_equals_the_one_by_hand(name):
    work = workloads.WORKLOADS[name]
    by_hand, over_tensors = run.steps(work(min(work.sizes)), ["tensorplay"])
    assert len(run.values(by_hand())) == len(run.values(over_tensors())) > 0


def test_only_a_ratio_beyond_the_margin_is_reported(monkeypatch, tmp_path):
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps({"chain": 2.0, "softmax": 1.0}))
    monkeypatch.setattr(run, "BASELINE", baseline)
    monkeypatch.setattr(run, "measure", lambda name, *_: [1.0, 4.0 if name == "chain" else 1.2])
    worse = run.check({"chain": [1.0, 3.8], "softmax": [1.0, 1.7]}, 1, 0.1)
    assert worse == ["chain: 3.80 times NumPy's time, 2.00 in the baseline"]
