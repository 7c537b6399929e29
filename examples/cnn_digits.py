"""Train a convolutional network on handwritten digits, for three random splits, and see what it mistakes.

    python examples/cnn_digits.py [--epochs N] [--seeds N] [--picture FILE]

The 1,797 images of 8 by 8 pixels ship with scikit-learn. The loop is that of a PyTorch script: a DataLoader, images
shifted at random, AdamW, a learning rate of one cycle, batch normalisation that train() and eval() switch over.
"""

from __future__ import annotations

import argparse
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.progress import Progress
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

import tensorplay as tp
from tensorplay import nn
from tensorplay.nn import functional as F
from tensorplay.utils.data import DataLoader, TensorDataset


def load(seed: int) -> tuple[tp.Tensor, tp.Tensor, tp.Tensor, tp.Tensor]:
    """Images (n, 1, 8, 8) scaled to [0, 1], and labels: a stratified 80/20 split."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16, labels, test_size=0.2, stratify=labels, random_state=seed)
    x, x_test = (tp.tensor(part, dtype=tp.float32).reshape(-1, 1, 8, 8) for part in parts[:2])
    y, y_test = (tp.tensor(part, dtype=tp.int64) for part in parts[2:])
    return x, y, x_test, y_test


class Network(nn.Sequential):
    """Two stages of convolutions, 8 by 8 and 4 by 4 pixels, and a linear layer over what is left."""

    def __init__(self, width: int = 16) -> None:
        super().__init__(
            *stage(1, width),
            *stage(width, width),
            nn.MaxPool2d(2),
            *stage(width, 2 * width),
            *stage(2 * width, 2 * width),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(8 * width, 10),
        )


def stage(before: int, after: int) -> list[nn.Module]:
    return [nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]


def shifted(images: tp.Tensor) -> tp.Tensor:
    """Each image moved by up to one pixel in either direction: there is no need to learn where a digit stands."""
    padded = F.pad(images, (1, 1, 1, 1))
    corners = tp.randint(0, 3, (2, len(images), 1, 1))
    rows, columns = corners[0] + tp.arange(8)[:, None], corners[1] + tp.arange(8)
    return padded[tp.arange(len(images))[:, None, None], 0, rows, columns][:, None]


@tp.no_grad()
def predict(model: nn.Module, x: tp.Tensor) -> tp.Tensor:
    """The class of each image."""
    model.eval()
    return model(x).argmax(dim=1)


def train(seed: int, epochs: int, progress: Progress) -> tuple[Network, float]:
    """One model and its accuracy on the images that it has not seen."""
    tp.manual_seed(seed)
    x, y, x_test, y_test = load(seed)
    batches = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, drop_last=True)
    model = Network()
    optimizer = tp.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-2)
    schedule = tp.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=epochs * len(batches))
    task = progress.add_task(f"seed {seed}", total=epochs)
    for _ in range(epochs):
        model.train()
        total = 0.0
        for images, labels in batches:
            loss = F.cross_entropy(model(shifted(images)), labels, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        progress.update(task, advance=1, description=f"seed {seed}: loss {total / len(batches):.3f}")
    return model, (predict(model, x_test) == y_test).float().mean().item()


def draw(model: Network, seed: int, file: str) -> None:
    """The filters of the first layer, the table of confusions, and the digits that were mistaken."""
    _, _, x, y = load(seed)
    found = predict(model, x)
    figure, axes = plt.subplots(1, 2, figsize=(10, 5))
    filters = model[0].weight.detach().numpy()[:, 0]
    tiles = np.full((4 * 4 - 1, 4 * 4 - 1), np.nan)
    for i, tile in enumerate(filters[:16]):
        row, column = divmod(i, 4)
        tiles[4 * row : 4 * row + 3, 4 * column : 4 * column + 3] = tile
    axes[0].imshow(tiles, cmap="gray")
    axes[0].axis("off")
    axes[0].set_title("filters of the first layer")
    table = confusion_matrix(y.numpy(), found.numpy())
    axes[1].imshow(np.log1p(table), cmap="Blues")
    for (row, column), count in np.ndenumerate(table):
        if count:
            axes[1].text(column, row, str(count), ha="center", va="center", color="white" if row == column else "red")
    axes[1].set(title="what (rows) was taken for what", xticks=range(10), yticks=range(10))
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--picture", default="cnn_digits.png")
    args = parser.parse_args()
    started = time.perf_counter()
    results = []
    with Progress() as progress:
        for seed in range(args.seeds):
            model, accuracy = train(seed, args.epochs, progress)
            results.append(accuracy)
            if seed == 0:
                draw(model, seed, args.picture)
    mean = sum(results) / len(results)
    print("test accuracy by seed:", ", ".join(f"{r:.2%}" for r in results))
    print(f"mean {mean:.2%} in {time.perf_counter() - started:.1f} s; picture in {args.picture}")
    return mean


if __name__ == "__main__":
    main()
