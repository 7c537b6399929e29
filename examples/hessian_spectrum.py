"""The spectrum of a network's Hessian, without the Hessian: Lanczos on Hessian-vector products.

    python examples/hessian_spectrum.py [--epochs N] [--iterations N] [--picture FILE]

A classifier of handwritten digits is trained; before and after, ``func.hvp`` multiplies the Hessian of its loss with
vectors, forward mode over reverse mode, at the price of a few gradients. From such products Lanczos' method finds the
outermost eigenvalues, and a density of all of them (stochastic Lanczos quadrature). The network is small enough to form
its Hessian, with ``func.hessian``, so both are compared with the truth.

Methods: C. Lanczos, 1950, with full reorthogonalisation; B. Ghorbani, S. Krishnan, Y. Xiao, An Investigation into
Neural Net Optimization via Hessian Eigenvalue Density, 2019.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.progress import Progress
from scipy.linalg import eigh_tridiagonal
from sklearn.datasets import load_digits

import tensorplay as tp
from tensorplay import func
from tensorplay.nn import functional as F

WIDTH = 8
SHAPES = {"w1": (WIDTH, 64), "b1": (WIDTH,), "w2": (10, WIDTH), "b2": (10,)}
SIZES = [int(np.prod(shape)) for shape in SHAPES.values()]

Product = Callable[[tp.Tensor], tp.Tensor]


def load(examples: int = 500) -> tuple[tp.Tensor, tp.Tensor]:
    images, labels = load_digits(return_X_y=True)
    return tp.tensor(images[:examples] / 16), tp.tensor(labels[:examples])


def loss(weights: tp.Tensor, x: tp.Tensor, y: tp.Tensor) -> tp.Tensor:
    """The loss of a network of which all weights are in one vector."""
    split = tp.split(weights, SIZES)
    w1, b1, w2, b2 = (part.reshape(shape) for part, shape in zip(split, SHAPES.values()))
    return F.cross_entropy(F.linear(F.linear(x, w1, b1).tanh(), w2, b2), y)


def lanczos(product: Product, start: tp.Tensor, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues of the matrix on the Krylov space of a vector, and the vector's share in each."""
    basis = [start / start.norm()]
    diagonal: list[float] = []
    beside: list[float] = []
    for k in range(iterations):
        w = product(basis[k])
        diagonal.append((w @ basis[k]).item())
        q = tp.stack(basis)
        for _ in range(2):  # once is not enough in floating point
            w = w - (q @ w) @ q
        norm = w.norm().item()
        if k + 1 == iterations or norm < 1e-10 * max(map(abs, diagonal)):
            break
        beside.append(norm)
        basis.append(w / norm)
    values, vectors = eigh_tridiagonal(np.array(diagonal), np.array(beside))
    return values, vectors[0] ** 2


def density(
    product: Product, n: int, iterations: int, vectors: int, grid: np.ndarray, width: float, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """The density of eigenvalues on a grid, smoothed, from random vectors; and all eigenvalues found."""
    total, found = np.zeros_like(grid), []
    task = progress.add_task("Lanczos", total=vectors)
    for _ in range(vectors):
        values, shares = lanczos(product, tp.randn(n, dtype=tp.float64), iterations)
        total += smoothed(values, shares, grid, width) / vectors
        found.append(values)
        progress.update(task, advance=1)
    return total, np.concatenate(found)


def smoothed(values: np.ndarray, shares: np.ndarray, grid: np.ndarray, width: float) -> np.ndarray:
    """A normal distribution around each value."""
    bells = np.exp(-(((grid[:, None] - values) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))
    return bells @ shares


def train(epochs: int, progress: Progress) -> tuple[tp.Tensor, tp.Tensor]:
    """Weights before and after training, by gradient descent on all examples, with momentum."""
    tp.manual_seed(0)
    x, y = load()
    scale = tp.cat([tp.full((n,), 1 / s[-1] ** 0.5 if len(s) == 2 else 0.0) for n, s in zip(SIZES, SHAPES.values())])
    first = weights = tp.randn(sum(SIZES), dtype=tp.float64) * scale
    velocity = tp.zeros_like(weights)
    gradient = func.grad_and_value(loss)
    task = progress.add_task("training", total=epochs)
    for _ in range(epochs):
        g, value = gradient(weights, x, y)
        velocity = 0.9 * velocity - 0.2 * g
        weights = weights + velocity
        progress.update(task, advance=1, description=f"training: loss {value.item():.3f}")
    return first, weights


def draw(curves: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]], file: str) -> None:
    """The density of eigenvalues before and after training, by Lanczos and by the Hessian itself."""
    figure, axes = plt.subplots(1, len(curves), figsize=(11, 4))
    for axis, (title, (grid, estimated, true)) in zip(axes, curves.items()):
        axis.semilogy(grid, np.maximum(true, 1e-6), color="C0", label="eigenvalues of the Hessian")
        axis.semilogy(grid, np.maximum(estimated, 1e-6), "--", color="black", label="Lanczos")
        axis.set(title=title, xlabel="eigenvalue", ylabel="density", ylim=(1e-4, None))
        axis.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--vectors", type=int, default=10)
    parser.add_argument("--picture", default="hessian_spectrum.png")
    args = parser.parse_args()
    x, y = load()
    curves, lines, worst = {}, [], 0.0
    with Progress() as progress:
        for title, weights in zip(("before training", "after training"), train(args.epochs, progress)):

            def product(v: tp.Tensor, weights: tp.Tensor = weights) -> tp.Tensor:
                return func.hvp(lambda w: loss(w, x, y), (weights,), (v,))

            started = time.perf_counter()
            true = np.linalg.eigvalsh(func.hessian(lambda w: loss(w, x, y))(weights).numpy())
            formed = time.perf_counter() - started
            width = 0.02 * (true[-1] - true[0])
            grid = np.linspace(true[0] - 3 * width, true[-1] + 3 * width, 400)
            started = time.perf_counter()
            estimated, found = density(product, len(weights), args.iterations, args.vectors, grid, width, progress)
            spent = time.perf_counter() - started
            worst = max(worst, abs(found.max() - true[-1]) / true[-1])
            curves[title] = grid, estimated, smoothed(true, np.full(len(true), 1 / len(true)), grid, width)
            lines.append(f"{title}: largest eigenvalue {found.max():.6f} (true {true[-1]:.6f}); {len(found)} products "
                         f"in {spent:.1f} s, the Hessian of {len(true)} weights in {formed:.1f} s")  # fmt: skip
    draw(curves, args.picture)
    print("\n".join(lines))
    print(f"relative error of the largest eigenvalue {worst:.1e}; picture in {args.picture}")
    return worst


if __name__ == "__main__":
    main()
