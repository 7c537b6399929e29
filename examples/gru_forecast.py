"""Forecast a chaotic series with a GRU, which goes on from its own forecasts.

    python examples/gru_forecast.py [--steps N] [--seed N] [--picture FILE]

The series solves the equation of Mackey and Glass (1977) for the number of blood cells, which depends on the number 17
days ago: x'(t) = 0.2 x(t - 17) / (1 + x(t - 17)^10) - 0.1 x(t). The network reads the past and then forecasts day after
day, each from the one that it has forecast before. Its error is compared with two simple forecasts: that nothing
changes, and the best linear combination of the last 20 days.
"""

from __future__ import annotations

import argparse
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.progress import Progress

import tensorplay as tp
from tensorplay import nn
from tensorplay.nn import functional as F

PAST, FUTURE = 60, 60  # days that are read, and that are forecast


def series(days: int, delay: float = 17.0, substeps: int = 10) -> np.ndarray:
    """The solution day by day, by the method of Runge and Kutta of fourth order, without its beginning."""

    def slope(x: float, delayed: float) -> float:
        return 0.2 * delayed / (1 + delayed**10) - 0.1 * x

    h, lag, skip = 1 / substeps, round(delay * substeps), 300
    x = np.full(lag + 1 + (days + skip) * substeps, 1.2)
    for i in range(lag, len(x) - 1):
        before, after = x[i - lag], x[i - lag + 1]
        middle = (before + after) / 2
        k1 = slope(x[i], before)
        k2 = slope(x[i] + h / 2 * k1, middle)
        k3 = slope(x[i] + h / 2 * k2, middle)
        k4 = slope(x[i] + h * k3, after)
        x[i + 1] = x[i] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x[lag::substeps][skip : skip + days]


def windows(x: np.ndarray, length: int) -> tp.Tensor:
    """All parts of the series of some length, (n, length, 1)."""
    return tp.tensor(np.lib.stride_tricks.sliding_window_view(x, length).copy(), dtype=tp.float32)[:, :, None]


class Forecaster(nn.Module):
    """A GRU that reads a value each day, and tells by how much the next day's will differ."""

    def __init__(self, hidden: int = 48) -> None:
        super().__init__()
        self.gru, self.change = nn.GRU(1, hidden, batch_first=True), nn.Linear(hidden, 1)

    def forward(self, x: tp.Tensor, state: tp.Tensor | None = None) -> tuple[tp.Tensor, tp.Tensor]:
        """The forecast for the day after each of those in x (batch, days, 1), and the state after the last."""
        seen, state = self.gru(x, state)
        return x + self.change(seen), state

    @tp.no_grad()
    def forecast(self, past: tp.Tensor, days: int) -> tp.Tensor:
        """The days after the past (batch, days, 1), each from the forecast before."""
        x, state = self(past)
        found = [x[:, -1:]]
        while len(found) < days:
            x, state = self(found[-1], state)
            found.append(x)
        return tp.cat(found, dim=1)


def linear_forecast(x: np.ndarray, past: np.ndarray, days: int, order: int = 20) -> np.ndarray:
    """By the linear combination of the last days that is best, in least squares, over the series x."""
    rows = np.lib.stride_tricks.sliding_window_view(x, order + 1)
    weights = np.linalg.lstsq(np.c_[rows[:, :-1], np.ones(len(rows))], rows[:, -1], rcond=None)[0]
    found = past[:, -order:]
    for _ in range(days):
        found = np.c_[found, np.c_[found[:, -order:], np.ones(len(found))] @ weights]
    return found[:, order:]


def train(model: Forecaster, pieces: tp.Tensor, steps: int, progress: Progress) -> list[float]:
    """The losses. A little noise on what is read teaches the network to go on from forecasts that are a little off."""
    optimizer = tp.optim.Adam(model.parameters(), lr=5e-3)
    schedule = tp.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    task = progress.add_task("training", total=steps)
    for _ in range(steps):
        x = pieces[tp.randint(len(pieces), (32,))]
        noisy = x[:, :-1] + 0.003 * tp.randn_like(x[:, :-1])
        found, _ = model(noisy)
        loss = F.mse_loss(found[:, 10:], x[:, 11:])  # the first days tell too little
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        progress.update(task, advance=1, description=f"error of one day {losses[-1] ** 0.5:.4f}")
    return losses


def main() -> dict[str, np.ndarray]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", default="gru_forecast.png")
    args = parser.parse_args()
    started = time.perf_counter()
    tp.manual_seed(args.seed)
    x = series(4000)
    x = (x - x[:3000].mean()) / x[:3000].std()
    model = Forecaster()
    with Progress() as progress:
        train(model, windows(x[:3000], PAST + 1), args.steps, progress)
    test = windows(x[3000:], PAST + FUTURE)[::5]
    past, future = test[:, :PAST], test[:, PAST:].numpy()[:, :, 0]
    found = {
        "GRU": model.forecast(past, FUTURE).numpy()[:, :, 0],
        "linear": linear_forecast(x[:3000], past.numpy()[:, :, 0], FUTURE),
        "no change": np.repeat(past.numpy()[:, -1], FUTURE, axis=1),
    }
    errors = {name: np.sqrt(((f - future) ** 2).mean(0)) for name, f in found.items()}
    figure, axes = plt.subplots(1, 2, figsize=(12, 4))
    days = np.arange(1, FUTURE + 1)
    for name, error in errors.items():
        axes[0].plot(days, error, label=name)
    axes[0].set(xlabel="days ahead", title="error, in standard deviations of the series", ylim=(0, None))
    axes[0].legend()
    axes[1].plot(np.arange(-PAST + 1, FUTURE + 1), test[20, :, 0].numpy(), color="black", label="series")
    axes[1].plot(days, found["GRU"][20], color="C0", label="GRU")
    axes[1].plot(days, found["linear"][20], color="C1", label="linear")
    axes[1].set(xlabel="day", title="one forecast")
    axes[1].legend()
    figure.tight_layout()
    figure.savefig(args.picture, dpi=100)
    plt.close(figure)
    for day in (1, 10, 30, 60):
        print(f"error {day:2} days ahead: " + ", ".join(f"{name} {e[day - 1]:.4f}" for name, e in errors.items()))
    print(f"{time.perf_counter() - started:.1f} s; picture in {args.picture}")
    return errors


if __name__ == "__main__":
    main()
