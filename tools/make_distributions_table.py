"""Write tests/data/distributions.json: what PyTorch's distributions give, of those that SciPy does not have.

Run it where PyTorch is installed; tests/test_distributions.py compares it with ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import distributions

PATH = Path(__file__).parent.parent / "tests" / "data" / "distributions.json"
ATTRIBUTES = ("mean", "variance", "stddev", "entropy")

MATRIX = [[2.0, 0.5, 0.0], [0.5, 1.0, -0.25], [0.0, -0.25, 1.5]]
FACTOR = [[1.0, 0.0, 0.0], [0.5, 0.8, 0.0], [-0.3, 0.2, 1.1]]
VECTORS = [[0.5, -1.0, 2.0], [0.0, 0.25, 1.0]]
PARTS = [[0.2, 0.5, 0.3], [0.01, 0.04, 0.95]]
CORRELATION = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.3, -0.4, 0.75**0.5]]

Call = dict[str, Any]
CASES: list[tuple[str, Call, Any]] = [
    ("ContinuousBernoulli", {"probs": [0.1, 0.4, 0.93]}, [[0.2, 0.5, 0.9], [0.0, 1.0, 0.5]]),
    ("ContinuousBernoulli", {"logits": [-8.0, -0.5, 3.0]}, [0.2, 0.5, 0.9]),
    ("Geometric", {"logits": [-3.0, 0.0, 3.0]}, [0.0, 2.0, 5.0]),
    ("Kumaraswamy", {"concentration1": [0.5, 2.0, 3.0], "concentration0": [0.7, 3.0, 1.5]}, [0.2, 0.5, 0.9]),
    ("LKJCholesky", {"dim": 3, "concentration": [0.5, 1.0, 4.0]}, CORRELATION),
    ("LogisticNormal", {"loc": [0.5, -1.0], "scale": [1.0, 0.5]}, PARTS),
    ("LowRankMultivariateNormal",
     {"loc": [0.0, 1.0, 2.0], "cov_factor": [[1.0, 0.5], [2.0, -1.0], [0.5, 0.0]], "cov_diag": [1.0, 2.0, 0.5]},
     VECTORS),
    ("MultivariateNormal", {"loc": VECTORS, "precision_matrix": MATRIX}, [1.0, 0.0, -1.0]),
    ("MultivariateNormal", {"loc": [0.0, 1.0, 2.0], "scale_tril": [FACTOR, FACTOR]}, VECTORS),
    ("NegativeBinomial", {"total_count": [0.5, 3.0, 0.0], "logits": [0.5, -1.0, 0.0]}, [0.0, 4.0, 0.0]),
    ("OneHotCategorical", {"logits": [0.5, -1.0, 2.0]}, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("Categorical", {"probs": [[1.0, 2.0, 5.0], [1.0, 0.0, 1.0]]}, [[0.0, 1.0], [2.0, 0.0]]),
    ("RelaxedBernoulli", {"temperature": 0.7, "probs": [0.1, 0.8]}, [[0.2, 0.5], [0.9, 0.01]]),
    ("RelaxedOneHotCategorical", {"temperature": 0.7, "probs": [[1.0, 2.0, 5.0], [1.0, 1.0, 1.0]]}, PARTS),
    ("Wishart", {"df": [3.0, 5.5], "precision_matrix": MATRIX}, MATRIX),
    ("Independent", {"base_distribution": ["Laplace", {"loc": VECTORS, "scale": 2.0}], "reinterpreted_batch_ndims": 1},
     [1.0, 0.0, -1.0]),
    ("MixtureSameFamily",
     {"mixture_distribution": ["Categorical", {"probs": [0.2, 0.8]}],
      "component_distribution": ["Normal", {"loc": [-1.0, 1.0], "scale": [0.5, 2.0]}]}, [-30.0, 0.0, 2.0]),
    ("MixtureSameFamily",
     {"mixture_distribution": ["Categorical", {"probs": [0.2, 0.8]}],
      "component_distribution": ["MultivariateNormal", {"loc": VECTORS, "scale_tril": FACTOR}]}, VECTORS),
]  # fmt: skip


def made(value: Any) -> Any:
    """A list of numbers as a tensor, [name, arguments] as a distribution."""
    if isinstance(value, list) and isinstance(value[0], str):
        return getattr(distributions, value[0])(**{k: made(v) for k, v in value[1].items()})
    return torch.tensor(value, dtype=torch.float64) if isinstance(value, (list, float)) else value


def entry(name: str, arguments: Call, value: Any) -> Call:
    d = made([name, arguments])
    found: Call = {"name": name, "arguments": arguments, "value": value, "log_prob": d.log_prob(made(value)).tolist()}
    for attribute in ATTRIBUTES:
        try:
            result = getattr(d, attribute)
            found[attribute] = (result() if callable(result) else result).tolist()
        except NotImplementedError:
            pass
    return found


if __name__ == "__main__":
    entries = [entry(*case) for case in CASES]
    PATH.write_text("[\n" + ",\n".join(json.dumps(e) for e in entries) + "\n]\n")
