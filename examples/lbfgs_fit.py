"""Fit peaks to a measured spectrum with L-BFGS, and tell how sure the result is.

    python examples/lbfgs_fit.py [--iterations N] [--seed N] [--picture FILE]

Four peaks, two of which overlap, stand on a sloping ground; counts are drawn from Poisson distributions, so that the
truth is known. The fit maximises the likelihood. L-BFGS with a line search (Wolfe's strong conditions) needs some dozen
evaluations where Adam needs thousands; the inverse of the Hessian, which forward over reverse mode gives exactly, tells
the standard errors.
"""

from __future__ import annotations

import argparse
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

import tensorplay as tp
from tensorplay import func

NAMES = [f"{what} {i}" for what in ("centre", "width", "area") for i in (1, 2, 3, 4)] + ["ground", "slope"]
TRUTH = np.array([2.0, 4.6, 5.4, 8.0, 0.3, 0.35, 0.25, 0.5, 900.0, 1500.0, 700.0, 1200.0, 60.0, -3.0])
SCALE = np.r_[np.ones(4), np.full(4, 0.3), np.full(4, 1000.0), 50.0, 5.0]  # the fit sees the parameters over these
GUESS = np.r_[1.8, 4.3, 5.8, 8.3, np.full(4, 0.4), np.full(4, 1000.0), 50.0, 0.0]


def spectrum(x: tp.Tensor, p: tp.Tensor) -> tp.Tensor:
    """Expected counts at the places x: Gaussian peaks with centre, width and area, and a line. Shape of x: (n,)."""
    centre, width, area = p[:4, None], p[4:8, None], p[8:12, None]
    peaks = area * (-(((x - centre) / width) ** 2) / 2).exp() / (width * (2 * tp.pi) ** 0.5)
    return peaks.sum(0) * (10 / len(x)) + p[12] + p[13] * (x - 5)


def cost(q: tp.Tensor, x: tp.Tensor, counts: tp.Tensor) -> tp.Tensor:
    """The negative logarithm of the likelihood of counts with Poisson distributions, but for a constant."""
    expected = spectrum(x, q * tp.tensor(SCALE)).clamp(min=1e-3)
    return (expected - counts * expected.log()).sum()


def fit(optimizer: tp.optim.Optimizer, q: tp.Tensor, x: tp.Tensor, counts: tp.Tensor, steps: int) -> list[float]:
    """The cost at each evaluation; q, which the optimizer holds, is the result after."""
    costs = []

    def closure() -> tp.Tensor:
        optimizer.zero_grad()
        value = cost(q, x, counts)
        value.backward()
        costs.append(value.item())
        return value

    for _ in range(steps):
        optimizer.step(closure)
    return costs


def standard_errors(q: tp.Tensor, x: tp.Tensor, counts: tp.Tensor) -> np.ndarray:
    """Of the parameters: by the curvature of the cost at its minimum."""
    curvature = func.hessian(cost)(q.detach(), x, counts)
    return tp.linalg.inv(curvature).diagonal().sqrt().numpy() * SCALE


def main() -> tuple[float, float, int]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--adam", type=int, default=3000, help="steps of Adam, for comparison")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", default="lbfgs_fit.png")
    args = parser.parse_args()
    started = time.perf_counter()
    tp.manual_seed(args.seed)
    x = tp.linspace(0, 10, 400, dtype=tp.float64)
    counts = tp.poisson(spectrum(x, tp.tensor(TRUTH)))
    start = tp.tensor(GUESS / SCALE)

    q = start.clone().requires_grad_()
    optimizer = tp.optim.LBFGS([q], max_iter=args.iterations, tolerance_grad=1e-6, line_search_fn="strong_wolfe")
    costs = fit(optimizer, q, x, counts, 1)
    other = start.clone().requires_grad_()
    other_costs = fit(tp.optim.Adam([other], lr=0.01), other, x, counts, args.adam)
    slope = func.grad(cost)(q.detach(), x, counts).abs().max().item()

    found, errors = q.detach().numpy() * SCALE, standard_errors(q, x, counts)
    table = Table("parameter", "truth", "found", "standard error", "off by, in errors")
    for row in zip(NAMES, TRUTH, found, errors, (found - TRUTH) / errors, strict=True):
        table.add_row(row[0], *(f"{v:.4g}" for v in row[1:4]), f"{row[4]:+.1f}")
    Console().print(table)

    least = min(costs[-1], *other_costs)
    figure, axes = plt.subplots(1, 2, figsize=(12, 4))
    axes[0].plot(x.numpy(), counts.numpy(), ".", color="gray", markersize=3, label="counts")
    axes[0].plot(x.numpy(), spectrum(x, tp.tensor(found)).numpy(), label="fit")
    axes[0].plot(x.numpy(), spectrum(x, tp.tensor(GUESS)).numpy(), ":", label="start")
    axes[0].legend()
    axes[1].loglog(np.arange(1, len(costs) + 1), np.array(costs) - least + 1e-6, label="L-BFGS")
    axes[1].loglog(np.arange(1, len(other_costs) + 1), np.array(other_costs) - least + 1e-6, label="Adam")
    axes[1].set(xlabel="evaluations", title="cost above the least, plus 1e-6")
    axes[1].legend()
    figure.tight_layout()
    figure.savefig(args.picture, dpi=100)
    plt.close(figure)
    print(f"L-BFGS: {costs[-1]:.6f} after {len(costs)} evaluations, largest slope {slope:.1e}")
    print(f"Adam: {other_costs[-1]:.6f} after {len(other_costs)}")
    print(f"{time.perf_counter() - started:.1f} s; picture in {args.picture}")
    return slope, float(np.abs((found - TRUTH) / errors).max()), len(costs)


if __name__ == "__main__":
    main()
