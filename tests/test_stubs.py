"""The stubs are current, and a program that uses the package passes a type checker."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

PROGRAM = """
import tensorplay as tp
from tensorplay import Tensor, nn
from tensorplay.nn import functional as F

x: Tensor = tp.randn(4, 3, dtype=tp.float64, requires_grad=True)
y: Tensor = (2 * x + 1.0 - x / 3) ** 2 @ x.T
y = y[0, 1:].exp().sum(dim=0, keepdim=True).clamp_(max=1.0)
values: Tensor = tp.sort(x, dim=-1).values
z = F.relu(tp.linalg.inv(x @ x.T)) + tp.special.erf(x).mean()
n: int = x.numel() + x.shape[0] + x.size(0)
dtype: tp.dtype = x.dtype
model = nn.Linear(3, 2)
loss: Tensor = model(x.float()).square().mean()
loss.backward()
gradient: Tensor | None = x.grad
(g,) = tp.autograd.grad(x.sum(), [x])
h: Tensor = tp.vmap(lambda row: row.sum())(x)
reveal_type(x + 1)
reveal_type(tp.zeros(2, 3))
reveal_type(x.to(tp.float32))
reveal_type(tp.topk(x, 2))
reveal_type(x.item())
reveal_type(tp.float32)
"""

WRONG = """
import tensorplay as tp

tp.zeros("a")
tp.zeros(2).no_such_method()
tp.cumsum(tp.zeros(2), 0, wrong=1)
tp.zeros(2).cumsum("a")
tp.no_such_function
"""


def mypy(source, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(source)
    command = [sys.executable, "-m", "mypy", "--config-file", "", "--strict", "--no-error-summary",
               "--ignore-missing-imports", "--follow-imports", "silent", "--cache-dir", str(tmp_path / "cache"),
               str(file)]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, env={"MYPYPATH": str(ROOT / "src")}).stdout


def test_stubs_and_index_are_current():
    """`python tools/make_stubs.py` writes them."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_stubs.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_is_typed(tmp_path):
    out = mypy(PROGRAM, tmp_path)
    errors = [line for line in out.splitlines() if ": error:" in line]
    assert not errors, out
    revealed = [line.split('"')[1] for line in out.splitlines() if "Revealed type" in line]
    tensor = "tensorplay.core.tensor.Tensor"
    assert revealed[:3] == [tensor] * 3 and "topk" in revealed[3] and revealed[4] == "Any"
    assert revealed[5] == "tensorplay.core.dtype.dtype"


def test_mistakes_are_found(tmp_path):
    out = mypy(WRONG, tmp_path)
    lines = [int(line.split(":")[1]) for line in out.splitlines() if ": error:" in line]
    assert sorted(set(lines)) == [4, 5, 6, 7, 8], out
