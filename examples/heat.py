"""Solve the heat equation in ten dimensions with a neural network, by the forward Laplacian.

    python examples/heat.py [--dimensions D] [--steps N] [--picture FILE]

    u_t = laplacian(u)    on the torus [-1, 1]^d, t in [0, 0.1]
    u(0, x) = mean_i sin(pi x_i) + mean_i cos(pi x_i) cos(pi x_(i+1))

The network u(t, x) is trained until the equation holds at random points. ``func.laplacian`` computes its Laplacian in
one sweep, ``func.jvp`` its derivative in time, and ``backward`` differentiates both for the weights. The same Laplacian
as the trace of ``func.hessian`` takes several times as long: this is measured, too. The exact solution is known: both
parts of u(0, x) decay, as exp(-pi^2 t) and exp(-2 pi^2 t).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.progress import Progress

import tensorplay as tp
from tensorplay import func, nn

END = 0.1


def parts(x: tp.Tensor) -> tuple[tp.Tensor, tp.Tensor]:
    """The two parts of the initial value, for points along the last dimension."""
    c = tp.cos(math.pi * x)
    return tp.sin(math.pi * x).mean(-1), (c * c.roll(1, -1)).mean(-1)


def exact(t: tp.Tensor, x: tp.Tensor) -> tp.Tensor:
    """The solution."""
    slow, fast = parts(x)
    return tp.exp(-(math.pi**2) * t) * slow + tp.exp(-2 * math.pi**2 * t) * fast


class Network(nn.Module):
    """The initial value plus t times a tanh network of periodic features."""

    def __init__(self, dimensions: int, width: int = 64, depth: int = 2) -> None:
        super().__init__()
        sizes = [1 + 2 * dimensions] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, sizes[1:]))
        self.last = nn.Linear(width, 1)
        nn.init.zeros_(self.last.weight)  # training starts at the initial value

    def forward(self, t: tp.Tensor, x: tp.Tensor) -> tp.Tensor:
        """The value at one point."""
        h = tp.cat([t.reshape(1) / END, tp.sin(math.pi * x), tp.cos(math.pi * x)])
        for layer in self.layers:
            h = layer(h).tanh()
        return sum(parts(x)) + t / END * self.last(h).squeeze(-1)


def swept(u: Network, t: tp.Tensor, x: tp.Tensor) -> tp.Tensor:
    """The Laplacian at one point by the forward Laplacian."""
    return func.laplacian(lambda x: u(t, x), x)[2]


def traced(u: Network, t: tp.Tensor, x: tp.Tensor) -> tp.Tensor:
    """The same as the trace of the Hessian."""
    return func.hessian(lambda x: u(t, x))(x).diagonal().sum()


def residual(u: Network, t: tp.Tensor, x: tp.Tensor) -> tp.Tensor:
    """u_t - laplacian(u) at one point."""
    _, u_t = func.jvp(lambda t: u(t, x), (t,), (tp.ones_like(t),))
    return u_t - swept(u, t, x)


def sample(points: int, dimensions: int) -> tuple[tp.Tensor, tp.Tensor]:
    return END * tp.rand(points), 2 * tp.rand(points, dimensions) - 1


def error(u: Network, dimensions: int, points: int = 2000) -> float:
    """The relative L2 error at random points at the end."""
    with tp.no_grad():
        _, x = sample(points, dimensions)
        t = tp.full((points,), END)
        got, want = tp.vmap(u)(t, x), exact(t, x)
        return ((got - want).norm() / want.norm()).item()


def train(dimensions: int, steps: int, points: int = 128, seed: int = 0) -> tuple[Network, list[float]]:
    """Minimise the mean squared residual with Adam; the learning rate falls as a cosine."""
    tp.manual_seed(seed)
    u = Network(dimensions)
    optimizer = tp.optim.Adam(u.parameters(), lr=1e-2)
    losses = []
    with Progress() as progress:
        task = progress.add_task("training", total=steps)
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = 1e-2 * (0.5 + 0.5 * math.cos(math.pi * step / steps)) + 1e-5
            t, x = sample(points, dimensions)
            r = tp.vmap(lambda t, x: residual(u, t, x))(t, x)
            loss = (r * r).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if step % 20 == 0:
                progress.update(task, completed=step, description=f"residual {losses[-1]:.1e}")
        progress.update(task, completed=steps)
    return u, losses


def seconds(call: Callable[[], object], repeats: int = 7) -> float:
    """The shortest of several runs."""
    found = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return min(found)


def speed(u: Network, dimensions: int, points: int = 256) -> tuple[float, float]:
    """Seconds for the Laplacians at some points: forward Laplacian, and trace of the Hessian."""
    t, x = sample(points, dimensions)
    with tp.no_grad():
        ways = [tp.vmap(lambda t, x, way=way: way(u, t, x)) for way in (swept, traced)]
        first, second = (way(t, x) for way in ways)
        assert tp.allclose(first, second, rtol=1e-3, atol=1e-3)
        swept_time, traced_time = (seconds(lambda way=way: way(t, x)) for way in ways)  # type: ignore[misc]
    return swept_time, traced_time


def draw(u: Network, losses: list[float], dimensions: int, file: str) -> None:
    """The solution along a diagonal of the torus at several times, and the training curve."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    s = np.linspace(-1, 1, 101)
    x = tp.tensor(np.repeat(s[:, None], dimensions, axis=1), dtype=tp.float32)
    for color, fraction in enumerate((0.0, 0.25, 0.5, 1.0)):
        t = tp.full((len(s),), END * fraction)
        with tp.no_grad():
            left.plot(s, exact(t, x).numpy(), color=f"C{color}", label=f"t = {END * fraction:g}")
            left.plot(s, tp.vmap(u)(t, x).numpy(), "--", color="black", linewidth=1)
    left.set(title="exact (colours) and network (dashed)", xlabel="all coordinates")
    left.legend()
    right.semilogy(losses)
    right.set(title="mean squared residual", xlabel="step")
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def main() -> tuple[float, float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimensions", type=int, default=10)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--picture", default="heat.png")
    args = parser.parse_args()
    started = time.perf_counter()
    u, losses = train(args.dimensions, args.steps)
    found = error(u, args.dimensions)
    print(f"relative error at t = {END} {found:.2%}, trained in {time.perf_counter() - started:.1f} s")
    one_sweep, traces = speed(u, args.dimensions)
    print(f"256 Laplacians in {args.dimensions} dimensions: {one_sweep * 1e3:.1f} ms by the forward Laplacian, "
          f"{traces * 1e3:.1f} ms by the trace of the Hessian: {traces / one_sweep:.1f} times as long")  # fmt: skip
    draw(u, losses, args.dimensions, args.picture)
    print(f"picture in {args.picture}")
    return found, traces / one_sweep


if __name__ == "__main__":
    main()
