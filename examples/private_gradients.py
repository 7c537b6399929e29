"""Train on handwritten digits with differential privacy: gradients of each example, clipped, with noise (DP-SGD).

    python examples/private_gradients.py [--epochs N] [--noise A B ...] [--picture FILE]

No image may matter too much, so its own gradient is needed: ``vmap(grad(loss))`` gives those of a whole batch at once.
Each is clipped to a norm, their sum gets Gaussian noise of that norm times a multiplier, and the accountant says what
epsilon the whole training amounts to at delta = 1e-5.

Algorithm: M. Abadi et al., Deep Learning with Differential Privacy, 2016. Accountant: I. Mironov, K. Talwar, L. Zhang,
Renyi Differential Privacy of the Sampled Gaussian Mechanism, 2019, whole orders.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.progress import Progress
from scipy.special import gammaln, logsumexp
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tensorplay as tp
from tensorplay import func
from tensorplay.nn import functional as F

Parameters = dict[str, tp.Tensor]
DELTA = 1e-5


def load(seed: int = 0) -> tuple[tp.Tensor, tp.Tensor, tp.Tensor, tp.Tensor]:
    """Pixels scaled to [0, 1] and labels: a stratified 80/20 split."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16, labels, test_size=0.2, stratify=labels, random_state=seed)
    x, x_test = (tp.tensor(part, dtype=tp.float32) for part in parts[:2])
    y, y_test = (tp.tensor(part, dtype=tp.int64) for part in parts[2:])
    return x, y, x_test, y_test


def initial(width: int = 32) -> Parameters:
    """Weights and biases of a network with one hidden layer."""
    return {
        "w1": tp.randn(width, 64) / 8, "b1": tp.zeros(width),
        "w2": tp.randn(10, width) / width**0.5, "b2": tp.zeros(10),
    }  # fmt: skip


def scores(p: Parameters, x: tp.Tensor) -> tp.Tensor:
    return F.linear(F.linear(x, p["w1"], p["b1"]).tanh(), p["w2"], p["b2"])


def loss(p: Parameters, x: tp.Tensor, y: tp.Tensor) -> tp.Tensor:
    """The loss of one example."""
    return F.cross_entropy(scores(p, x), y)


each_gradient = tp.vmap(func.grad_and_value(loss), in_dims=(None, 0, 0))
"""Gradients and losses of all examples of a batch."""


def accuracy(p: Parameters, x: tp.Tensor, y: tp.Tensor) -> float:
    return (scores(p, x).argmax(dim=1) == y).float().mean().item()


def norms(gradients: Parameters) -> tp.Tensor:
    """The norm of each example's gradient, over all parameters."""
    return sum((g.flatten(1) ** 2).sum(dim=1) for g in gradients.values()).sqrt()


def private_gradient(gradients: Parameters, clip: float, noise: float, expected: float) -> Parameters:
    """The mean of clipped gradients with noise; ``expected`` is the mean size of a batch."""
    factor = (clip / norms(gradients).clamp_min(1e-12)).clamp_max(1)
    private = {}
    for name, g in gradients.items():
        total = tp.tensordot(factor, g, 1)
        private[name] = (total + noise * clip * tp.randn(*total.shape)) / expected
    return private


def epsilon(noise: float, rate: float, steps: int, delta: float = DELTA) -> float:
    """What the training spends: the best bound over the whole Renyi orders from 2 to 256."""
    if noise == 0:
        return math.inf
    best = math.inf
    for order in range(2, 257):
        k = np.arange(order + 1)
        log_binomial = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
        terms = log_binomial + (order - k) * math.log1p(-rate) + k * math.log(rate) + k * (k - 1) / (2 * noise**2)
        renyi = float(logsumexp(terms)) / (order - 1)
        best = min(best, steps * renyi + math.log(1 / delta) / (order - 1))
    return best


def train(
    noise: float, epochs: int, progress: Progress, clip: float = 1.0, batch: int = 256, lr: float = 2.0
) -> tuple[Parameters, dict[str, list[Any]]]:
    """DP-SGD: each step takes every example with the same small probability, whatever came before."""
    tp.manual_seed(0)
    x, y, x_test, y_test = load()
    p, rate = initial(), batch / len(x)
    steps = round(epochs / rate)
    curves: dict[str, list[Any]] = {"accuracy": [], "epsilon": [], "norms": []}
    task = progress.add_task(f"noise {noise:g}", total=steps)
    for step in range(1, steps + 1):
        chosen = (tp.rand(len(x)) < rate).nonzero().flatten()
        gradients, _ = each_gradient(p, x[chosen], y[chosen])
        if step in (1, steps):
            curves["norms"].append(norms(gradients).numpy())
        g = private_gradient(gradients, clip, noise, batch)
        p = {name: value - lr * g[name] for name, value in p.items()}
        if step % 10 == 0 or step == steps:
            curves["accuracy"].append(accuracy(p, x_test, y_test))
            curves["epsilon"].append(epsilon(noise, rate, step))
            progress.update(task, completed=step,
                            description=f"noise {noise:g}: accuracy {curves['accuracy'][-1]:.1%}")  # fmt: skip
    return p, curves


def speed(size: int = 256) -> tuple[float, float]:
    """Seconds for the gradients of a batch's examples: all at once, and one after the other."""
    x, y, _, _ = load()
    p, x, y = initial(), x[:size], y[:size]
    each_gradient(p, x, y)
    started = time.perf_counter()
    together, _ = each_gradient(p, x, y)
    middle = time.perf_counter()
    alone = [func.grad(loss)(p, x[i], y[i]) for i in range(size)]
    ended = time.perf_counter()
    assert all(tp.allclose(together[name], tp.stack([g[name] for g in alone]), atol=1e-5) for name in p)
    return middle - started, ended - middle


def draw(results: dict[float, dict[str, list[Any]]], file: str) -> None:
    """Accuracy against what it costs in privacy, and the norms that are clipped."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    for noise, curves in results.items():
        spent = curves["epsilon"]
        if math.isfinite(spent[-1]):
            left.plot(spent, curves["accuracy"], label=f"noise {noise:g}: epsilon {spent[-1]:.1f}")
        else:
            left.axhline(curves["accuracy"][-1], color="gray", linestyle="--", label="without noise")
    left.set(title="test accuracy", xlabel="epsilon spent", xscale="log", ylim=(0, 1))
    left.legend()
    first, last = next(iter(results.values()))["norms"]
    right.hist([first, last], bins=30, label=["first batch", "last batch"])
    right.axvline(1.0, color="black", linestyle=":", label="clipped here")
    right.set(title="norms of the examples' gradients")
    right.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def main() -> dict[float, tuple[float, float]]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 1.0, 2.0, 4.0])
    parser.add_argument("--picture", default="private_gradients.png")
    args = parser.parse_args()
    results = {}
    with Progress() as progress:
        for noise in args.noise:
            results[noise] = train(noise, args.epochs, progress)[1]
    draw(results, args.picture)
    for noise, curves in results.items():
        print(f"noise {noise:g}: test accuracy {curves['accuracy'][-1]:.1%}, epsilon {curves['epsilon'][-1]:.2f}")
    together, alone = speed()
    print(f"gradients of 256 examples: {together * 1e3:.1f} ms by vmap, {alone * 1e3:.0f} ms one by one")
    print(f"picture in {args.picture}")
    return {noise: (curves["accuracy"][-1], curves["epsilon"][-1]) for noise, curves in results.items()}


if __name__ == "__main__":
    main()
