"""A variational autoencoder for handwritten digits: how likely an image is, and images that nobody has written.

    python examples/vae.py [--epochs N] [--seed N] [--picture FILE]

The encoder says what a picture may mean: a normal distribution over two numbers. The decoder says how likely each pixel
is lit, given the two. Both are trained on a lower bound of the log-likelihood of the images (Kingma and Welling, 2014).
The 1,797 images of 8 by 8 pixels ship with scikit-learn.
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
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tensorplay as tp
from tensorplay import distributions, nn
from tensorplay.nn import functional as F


def load(seed: int) -> tuple[tp.Tensor, tp.Tensor, np.ndarray]:
    """Images (n, 64) with values from 0 to 1, four fifths to train with, and the labels of the other fifth."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16, labels, test_size=0.2, stratify=labels, random_state=seed)
    return tp.tensor(parts[0], dtype=tp.float32), tp.tensor(parts[1], dtype=tp.float32), parts[3]


class VAE(nn.Module):
    """An encoder to means and logarithms of deviations, a decoder to the logits of the pixels."""

    def __init__(self, pixels: int = 64, hidden: int = 256, latent: int = 2) -> None:
        super().__init__()
        self.latent = latent
        self.encoder = nn.Sequential(
            nn.Linear(pixels, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 2 * latent)
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, pixels)
        )

    def encode(self, x: tp.Tensor) -> distributions.Normal:
        """What each image (batch, pixels) may mean, as a distribution over (batch, latent)."""
        mean, log_deviation = self.encoder(x).chunk(2, dim=1)
        return distributions.Normal(mean, log_deviation.exp())

    def forward(self, x: tp.Tensor) -> tuple[tp.Tensor, distributions.Normal]:
        """Logits of the pixels for a meaning drawn at random, and the distribution that it was drawn from."""
        meaning = self.encode(x)
        return self.decoder(meaning.rsample()), meaning  # drawn so that it can be differentiated


def negative_bound(model: VAE, x: tp.Tensor) -> tp.Tensor:
    """What an image costs, in nats: to tell the pixels given z, and to tell z, by its divergence from a normal one."""
    logits, meaning = model(x)
    pixels = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
    divergence = distributions.kl_divergence(meaning, distributions.Normal(0.0, 1.0)).sum(1)
    return (pixels + divergence).mean()


@tp.no_grad()
def evaluate(model: VAE, x: tp.Tensor, draws: int = 20) -> float:
    """The mean cost of the images, over several draws."""
    return sum(negative_bound(model, x).item() for _ in range(draws)) / draws


def train(model: VAE, x: tp.Tensor, x_test: tp.Tensor, epochs: int, progress: Progress) -> list[tuple[float, float]]:
    """The costs of the images to train with and of the others, after each epoch."""
    optimizer = tp.optim.Adam(model.parameters(), lr=2e-3)
    schedule = tp.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    curve = []
    task = progress.add_task("training", total=epochs)
    for _ in range(epochs):
        total = 0.0
        for part in tp.randperm(len(x)).split(64):
            loss = negative_bound(model, x[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(part)
        schedule.step()
        curve.append((total / len(x), evaluate(model, x_test, 1)))
        progress.update(task, advance=1, description=f"bound on unseen images {-curve[-1][1]:.2f} nats")
    return curve


@tp.no_grad()
def draw(model: VAE, x: tp.Tensor, labels: np.ndarray, curve: list[tuple[float, float]], file: str) -> None:
    """The costs; where the digits lie in the plane of meanings; what is decoded from a grid over the plane."""
    figure, axes = plt.subplots(1, 3, figsize=(15, 5))
    for values, label in zip(zip(*curve), ("training", "unseen"), strict=True):
        axes[0].plot(values, label=label)
    axes[0].set(xlabel="epoch", title="negative bound in nats per image", ylim=(None, curve[min(3, len(curve) - 1)][1]))
    axes[0].legend()
    points = axes[1].scatter(*model.encode(x).mean.numpy().T, c=labels, cmap="tab10", s=12)
    figure.colorbar(points, ax=axes[1], ticks=range(10))
    axes[1].set_title("means of unseen images, by digit")
    side = 15  # the grid has equal shares of the probability between its lines
    at = math.sqrt(2) * tp.special.erfinv(tp.linspace(-0.96, 0.96, side))
    grid = tp.stack(tp.meshgrid(at, -at, indexing="xy"), dim=-1).reshape(-1, 2)
    tiles = model.decoder(grid).sigmoid().reshape(side, side, 8, 8).permute(0, 2, 1, 3).reshape(8 * side, 8 * side)
    axes[2].imshow(tiles.numpy(), cmap="gray_r")
    axes[2].axis("off")
    axes[2].set_title("images that nobody has written")
    figure.tight_layout()
    figure.savefig(file, dpi=90)
    plt.close(figure)


def main() -> tuple[float, float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", default="vae.png")
    args = parser.parse_args()
    started = time.perf_counter()
    tp.manual_seed(args.seed)
    x, x_test, labels = load(args.seed)
    model = VAE()
    with Progress() as progress:
        before = evaluate(model, x_test)
        curve = train(model, x, x_test, args.epochs, progress)
    after = evaluate(model, x_test)
    draw(model, x_test, labels, curve, args.picture)
    print(f"bound of the log-likelihood of unseen images: {-before:.2f} nats before training, {-after:.2f} after")
    print(f"{time.perf_counter() - started:.1f} s; picture in {args.picture}")
    return before, after


if __name__ == "__main__":
    main()
