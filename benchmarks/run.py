"""Time against hand-written NumPy, in one run: ``python benchmarks/run.py``.

Each figure is a ratio: the least time of a call over the least time of the same step in NumPy, both from rounds that
take turns. The load of a machine moves both, so that the ratio stays; what a change of the code does to it shows.

``--check`` compares with ``baseline.json`` beside this file, and fails where a ratio has grown by more than the margin
(a workload over it is measured again before it counts). ``--store`` writes the baseline. ``--peer NAME`` adds a module
with the same names (it has to be installed); ``NAME+compile`` runs its compiled steps. ``--growth FILE.svg`` measures
and draws how time grows with size.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import numpy as np  # noqa: E402
from workloads import WORKLOADS, Random, Workload  # noqa: E402

BASELINE = Path(__file__).with_name("baseline.json")
MARGIN = 1.8


def values(result: Any) -> list[Any]:
    """What a step returned, as arrays, in order."""
    if isinstance(result, (tuple, list)):
        return [a for part in result for a in values(part)]
    return [np.asarray(result.detach() if hasattr(result, "detach") else result)]


def steps(work: Workload, modules: Sequence[str]) -> list[Callable[[], Any]]:
    """The step by hand, then that of each module; their first results agree."""
    made: list[Callable[[], Any]] = [work.hand(*work.data(Random()))]
    for name in modules:
        module, _, how = name.partition("+")
        T = importlib.import_module(module)
        if hasattr(T, "set_num_threads"):
            T.set_num_threads(1)
        step = work.step(T, *[T.tensor(a) for a in work.data(Random())])
        made.append(T.compile(step) if how == "compile" else step)
    want = values(made[0]())
    for name, step in zip(modules, made[1:]):
        got = values(step())
        if len(got) != len(want):
            raise AssertionError(f"{name}, {type(work).__name__}: {len(got)} results, {len(want)} by hand")
        for g, w in zip(got, want):
            np.testing.assert_allclose(g, w, rtol=2e-3, atol=2e-3 * float(np.abs(w).max()), err_msg=name)
    return made


def least_times(made: Sequence[Callable[[], Any]], rounds: int, seconds: float) -> list[float]:
    """The least time of one call of each step, in seconds."""
    counts = []
    for step in made:
        for _ in range(3):  # what compiles has then compiled
            step()
        start, calls = time.perf_counter(), 0
        while (spent := time.perf_counter() - start) < seconds:
            step()
            calls += 1
        counts.append(max(1, int(seconds * calls / spent)))
    least = [float("inf")] * len(made)
    for _ in range(rounds):
        for i, (step, count) in enumerate(zip(made, counts)):
            gc.collect()
            start = time.perf_counter()
            for _ in range(count):
                step()
            least[i] = min(least[i], (time.perf_counter() - start) / count)
    return least


def measure(name: str, modules: Sequence[str], rounds: int, seconds: float, size: int | None = None) -> list[float]:
    """Least times of a workload: by hand, then of each module."""
    return least_times(steps(WORKLOADS[name](size), modules), rounds, seconds)


def geometric_mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def table(figures: dict[str, list[float]], modules: Sequence[str]) -> None:
    """Times by hand in microseconds, and the ratios to them."""
    width = max(map(len, figures))
    print(f"{'':{width}}  {'NumPy, us':>10}  " + "  ".join(f"{m:>18}" for m in modules))
    for name, (floor, *others) in figures.items():
        print(f"{name:{width}}  {floor * 1e6:10.1f}  " + "  ".join(f"{t / floor:18.2f}" for t in others))
    means = [geometric_mean([times[i + 1] / times[0] for times in figures.values()]) for i in range(len(modules))]
    print(f"{'geometric mean':{width}}  {'':10}  " + "  ".join(f"{m:18.2f}" for m in means))


def check(figures: dict[str, list[float]], rounds: int, seconds: float) -> list[str]:
    """The workloads whose ratio has grown beyond the margin, each in words."""
    baseline, worse = json.loads(BASELINE.read_text()), []
    for name, times in figures.items():
        bound = baseline[name] * MARGIN
        ratio = times[1] / times[0]
        for again in range(2):
            if ratio > bound:
                floor, mine = measure(name, ["tensorplay"], 2 * rounds, seconds * (again + 1))
                ratio = min(ratio, mine / floor)
        if ratio > bound:
            worse.append(f"{name}: {ratio:.2f} times NumPy's time, {baseline[name]:.2f} in the baseline")
    return worse


def draw_growth(path: Path, modules: Sequence[str], rounds: int, seconds: float) -> None:
    """Time over size for each workload, on logarithmic axes."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 5, figsize=(15, 6), layout="constrained")
    for axis, (name, work) in zip(axes.flat, WORKLOADS.items()):
        rows = [measure(name, modules, rounds, seconds, size) for size in work.sizes]
        for label, times in zip(("NumPy by hand", *modules), zip(*rows)):
            axis.loglog(work.sizes, times, "o-", label=label)
            print(f"{name}, {label}: " + ", ".join(f"{s} {t * 1e6:.0f} us" for s, t in zip(work.sizes, times)))
        axis.set(title=name, xlabel=work.grows, ylabel="seconds")
        axis.grid(alpha=0.3)
    axes.flat[0].legend()
    figure.savefig(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of the workloads' names")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a round")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--growth", type=Path, metavar="FILE.svg")
    options = parser.parse_args()
    modules, chosen = ["tensorplay", *options.peer], [n for n in WORKLOADS if options.only in n]
    if not chosen:
        parser.error(f"--only {options.only}: there are {', '.join(WORKLOADS)}")
    if options.growth:
        draw_growth(options.growth, modules, options.rounds, options.seconds)
        return 0
    figures = {name: measure(name, modules, options.rounds, options.seconds) for name in chosen}
    table(figures, modules)
    if options.store:
        ratios = {name: round(times[1] / times[0], 2) for name, times in figures.items()}
        BASELINE.write_text(json.dumps(ratios, indent=2) + "\n")
    worse = check(figures, options.rounds, options.seconds) if options.check else []
    for line in worse:
        print(line, file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
