"""Train a classifier on real handwritten digits, and see where it looks.

    python examples/digits.py [--epochs N] [--seeds N] [--picture FILE]

The 1,797 images of 8 by 8 pixels ship with scikit-learn, so nothing is downloaded. tensorplay does all the mathematics:
the network, its gradients, the optimizer, and the saliency maps. scikit-learn gives the data and the split, rich the
progress bar, matplotlib the picture.
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
from sklearn.model_selection import train_test_split

import tensorplay as tp
from tensorplay import autograd, nn
from tensorplay.nn import functional as F


def load(seed: int) -> tuple[tp.Tensor, tp.Tensor, tp.Tensor, tp.Tensor]:
    """Pixels scaled to [0, 1] and labels: a stratified 80/20 split."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16, labels, test_size=0.2, stratify=labels, random_state=seed)
    x, x_test = (tp.tensor(part, dtype=tp.float32) for part in parts[:2])
    y, y_test = (tp.tensor(part, dtype=tp.int64) for part in parts[2:])
    return x, y, x_test, y_test


def accuracy(model: nn.Module, x: tp.Tensor, y: tp.Tensor) -> float:
    """The fraction of images that are named rightly."""
    with tp.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def train(seed: int, epochs: int, progress: Progress) -> tuple[nn.Module, dict[str, list[float]]]:
    """One model, trained with Adam on batches of 64, and its curves."""
    tp.manual_seed(seed)
    x, y, x_test, y_test = load(seed)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = tp.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
    curves: dict[str, list[float]] = {"loss": [], "train accuracy": [], "test accuracy": []}
    task = progress.add_task(f"seed {seed}", total=epochs)
    for _ in range(epochs):
        order = tp.randperm(len(x))
        total = 0.0
        for start in range(0, len(x), 64):
            batch = order[start : start + 64]
            noisy = x[batch] + 0.1 * tp.randn(len(batch), 64)  # a little noise keeps the network from learning by heart
            loss = F.cross_entropy(model(noisy), y[batch], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        curves["loss"].append(total / len(x))
        curves["train accuracy"].append(accuracy(model, x, y))
        curves["test accuracy"].append(accuracy(model, x_test, y_test))
        progress.update(task, advance=1, description=f"seed {seed}: test accuracy {curves['test accuracy'][-1]:.1%}")
    return model, curves


def saliency(model: nn.Module, images: tp.Tensor) -> np.ndarray:
    """How strongly each pixel moves the score of the class that the model chose."""
    images = images.detach().requires_grad_()
    chosen = model(images).max(dim=1).values
    (gradient,) = autograd.grad(chosen.sum(), images)
    return gradient.abs().numpy()


def draw(model: nn.Module, curves: dict[str, list[float]], seed: int, file: str) -> None:
    """Curves above, misclassified digits with their saliency below."""
    _, _, x, y = load(seed)
    with tp.no_grad():
        predicted = model(x).argmax(dim=1)
    wrong = (predicted != y).nonzero().flatten()[:6]
    figure, axes = plt.subplots(3, 6, figsize=(12, 7))
    for axis in axes.flat:
        axis.axis("off")
    left, right = figure.add_subplot(3, 2, 1), figure.add_subplot(3, 2, 2)
    left.plot(curves["loss"])
    left.set(title="training loss", xlabel="epoch")
    right.plot(curves["train accuracy"], label="train")
    right.plot(curves["test accuracy"], label="test")
    right.set(title="accuracy", xlabel="epoch", ylim=(0.9, 1.005))
    right.legend()
    if len(wrong):
        maps = saliency(model, x[wrong])
        for column, index in enumerate(wrong.tolist()):
            axes[1, column].imshow(x[index].reshape(8, 8).numpy(), cmap="gray_r")
            axes[1, column].set_title(f"a {y[index].item()}, taken for {predicted[index].item()}")
            axes[2, column].imshow(maps[column].reshape(8, 8), cmap="inferno")
            axes[2, column].set_title("saliency")
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--picture", default="digits.png")
    args = parser.parse_args()
    started = time.perf_counter()
    results = []
    with Progress(transient=False) as progress:
        for seed in range(args.seeds):
            model, curves = train(seed, args.epochs, progress)
            results.append(curves["test accuracy"][-1])
            if seed == 0:
                draw(model, curves, seed, args.picture)
    mean = sum(results) / len(results)
    print("test accuracy by seed:", ", ".join(f"{r:.2%}" for r in results))
    print(f"mean {mean:.2%} in {time.perf_counter() - started:.1f} s; picture in {args.picture}")
    return mean


if __name__ == "__main__":
    main()
