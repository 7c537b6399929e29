"""Solve Burgers' equation with a neural network, and compare with the exact solution.

    python examples/burgers.py [--steps N] [--forward] [--picture FILE]

    u_t + u u_x = nu u_xx    on x in [-1, 1], t in [0, 1],    nu = 0.01 / pi
    u(0, x) = -sin(pi x),    u(t, -1) = u(t, 1) = 0

The network u(t, x) is trained until the equation holds at random points: its residual needs u_t, u_x and u_xx, which
``autograd.grad(create_graph=True)`` gives by reverse mode and, with ``--forward``, ``func.jvp`` by forward mode. The
loss is then differentiated once more, for the weights: derivatives of derivatives of derivatives.

The exact solution is that of Cole (1951) and Hopf (1950): with u = -2 nu (log w)_x the equation becomes that of heat.
"""

from __future__ import annotations

import argparse
import math
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.progress import Progress

import tensorplay as tp
from tensorplay import func, nn
from tensorplay.autograd import grad

NU = 0.01 / math.pi


def exact(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The Cole-Hopf solution on the grid of t and x, shape (len(t), len(x)), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite.hermgauss(100)
    shifted = x[None, :, None] - 2 * np.sqrt(NU * t)[:, None, None] * nodes
    exponent = -np.cos(math.pi * shifted) / (2 * math.pi * NU)
    kernel = weights * np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return -(np.sin(math.pi * shifted) * kernel).sum(-1) / kernel.sum(-1)


class Network(nn.Module):
    """A tanh network times a factor that makes the boundary and initial values exact."""

    def __init__(self, width: int = 32, depth: int = 4) -> None:
        super().__init__()
        sizes = [2] + [width] * depth + [1]
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, sizes[1:], strict=False))
        for layer in self.layers:
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, t: tp.Tensor, x: tp.Tensor) -> tp.Tensor:
        h = tp.stack([2 * t - 1, x], dim=-1)
        for layer in self.layers[:-1]:
            h = layer(h).tanh()
        free = self.layers[-1](h).squeeze(-1)
        return -tp.sin(math.pi * x) + t * (1 - x * x) * free


def residual_reverse(u: Network, t: tp.Tensor, x: tp.Tensor) -> tp.Tensor:
    """u_t + u u_x - nu u_xx, with the derivatives by reverse mode."""
    t, x = t.detach().requires_grad_(), x.detach().requires_grad_()
    value = u(t, x)
    u_t, u_x = grad(value.sum(), (t, x), create_graph=True)
    (u_xx,) = grad(u_x.sum(), x, create_graph=True)
    return u_t + value * u_x - NU * u_xx


def residual_forward(u: Network, t: tp.Tensor, x: tp.Tensor) -> tp.Tensor:
    """The same, with the derivatives by forward mode: each point is pushed along t, and along x twice."""
    one, zero = tp.ones_like(x), tp.zeros_like(x)

    def along_x(x: tp.Tensor) -> tuple[tp.Tensor, tp.Tensor]:
        return func.jvp(lambda x: u(t, x), (x,), (one,))

    (value, u_x), (_, u_xx) = func.jvp(along_x, (x,), (one,))
    _, u_t = func.jvp(lambda t: u(t, x), (t,), (one + zero,))
    return u_t + value * u_x - NU * u_xx


def sample(points: int, generator: np.random.Generator) -> tuple[tp.Tensor, tp.Tensor]:
    """Random points, half of them where the shock forms."""
    t = generator.uniform(0, 1, points)
    x = generator.uniform(-1, 1, points)
    near = points // 2
    x[:near] = np.clip(generator.normal(0, 0.1, near), -1, 1)
    return tp.tensor(t, dtype=tp.float32), tp.tensor(x, dtype=tp.float32)


def train(steps: int, forward: bool, points: int = 1000, seed: int = 0) -> tuple[Network, list[float]]:
    """Minimise the mean squared residual with Adam; the learning rate falls as a cosine."""
    tp.manual_seed(seed)
    generator = np.random.default_rng(seed)
    u = Network()
    optimizer = tp.optim.Adam(u.parameters(), lr=5e-3)
    residual = residual_forward if forward else residual_reverse
    losses = []
    with Progress() as progress:
        task = progress.add_task("training", total=steps)
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = 5e-3 * (0.5 + 0.5 * math.cos(math.pi * step / steps)) + 1e-5
            t, x = sample(points, generator)
            r = residual(u, t, x)
            loss = (r * r).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if step % 20 == 0:
                progress.update(task, completed=step, description=f"residual {losses[-1]:.1e}")
        progress.update(task, completed=steps)
    return u, losses


def compare(u: Network, nt: int = 100, nx: int = 256) -> tuple[float, np.ndarray, np.ndarray]:
    """The relative L2 error on a grid, and both solutions."""
    t, x = np.linspace(0, 1, nt), np.linspace(-1, 1, nx)
    want = exact(t, x)
    with tp.no_grad():
        grid_t, grid_x = (tp.tensor(g, dtype=tp.float32) for g in np.meshgrid(t, x, indexing="ij"))
        got = u(grid_t, grid_x).numpy()
    return float(np.linalg.norm(got - want) / np.linalg.norm(want)), got, want


def draw(got: np.ndarray, want: np.ndarray, losses: list[float], file: str) -> None:
    """Both solutions, some cuts through them, and the training curve."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 7))
    for axis, values, title in ((axes[0, 0], got, "network"), (axes[0, 1], got - want, "error")):
        image = axis.imshow(values.T, origin="lower", extent=(0, 1, -1, 1), aspect="auto", cmap="RdBu")
        axis.set(title=title, xlabel="t", ylabel="x")
        figure.colorbar(image, ax=axis)
    x = np.linspace(-1, 1, got.shape[1])
    for row, color in ((25, "C0"), (50, "C1"), (99, "C2")):
        axes[1, 0].plot(x, want[row], color=color, label=f"t = {row / 99:.2f}")
        axes[1, 0].plot(x, got[row], "--", color="black", linewidth=1)
    axes[1, 0].set(title="exact (colours) and network (dashed)", xlabel="x")
    axes[1, 0].legend()
    axes[1, 1].semilogy(losses)
    axes[1, 1].set(title="mean squared residual", xlabel="step")
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--forward", action="store_true", help="take the derivatives by forward mode")
    parser.add_argument("--picture", default="burgers.png")
    args = parser.parse_args()
    started = time.perf_counter()
    u, losses = train(args.steps, args.forward)
    error, got, want = compare(u)
    draw(got, want, losses, args.picture)
    print(f"relative L2 error {error:.2%} after {args.steps} steps in {time.perf_counter() - started:.0f} s; "
          f"picture in {args.picture}")  # fmt: skip
    return error


if __name__ == "__main__":
    main()
