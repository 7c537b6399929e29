"""Load a checkpoint that PyTorch has saved, without PyTorch: evaluate the network, train on, and save it for others.

    python examples/load_torch_checkpoint.py [--checkpoint FILE] [--epochs N] [--out FOLDER]

The file beside this one was made by tools/make_torch_digits.py, by ``torch.save({"model": model.state_dict(), ...})``.
It holds the weights of a small convolutional network for scikit-learn's digits, the state of its optimizer, and what
PyTorch found: the accuracy on unseen images, and the scores of the first four. The network here has to agree.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tensorplay as tp
from tensorplay import nn
from tensorplay.nn import functional as F
from tensorplay.utils import safetensors

CHECKPOINT = Path(__file__).parent / "data" / "torch_digits.pt"


def network() -> nn.Module:
    """The same modules in the same order as in PyTorch's script, so that the names of the weights are the same."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip


def load_images() -> tuple[tp.Tensor, tp.Tensor, tp.Tensor, tp.Tensor]:
    """The split that the checkpoint was made with."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16, labels, test_size=0.2, stratify=labels, random_state=0)
    x, x_test = (tp.tensor(part, dtype=tp.float32).reshape(-1, 1, 8, 8) for part in parts[:2])
    y, y_test = (tp.tensor(part, dtype=tp.int64) for part in parts[2:])
    return x, y, x_test, y_test


@tp.no_grad()
def evaluate(model: nn.Module, x: tp.Tensor, y: tp.Tensor) -> tuple[float, tp.Tensor]:
    """The fraction of images that are named rightly, and all scores."""
    model.eval()
    scores = model(x)
    return (scores.argmax(dim=1) == y).float().mean().item(), scores


def show(state: dict[str, tp.Tensor]) -> None:
    table = Table("name", "shape", "dtype")
    for name, t in state.items():
        table.add_row(name, str(list(t.shape)), t.dtype.name)
    Console().print(table)


def main() -> tuple[float, float, float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=Path, default=CHECKPOINT)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("."))
    args = parser.parse_args()
    x, y, x_test, y_test = load_images()

    checkpoint = tp.load(args.checkpoint)  # tensors and plain values alone: no code from the file is run
    show(checkpoint["model"])
    model = network()
    model.load_state_dict(checkpoint["model"])
    accuracy, scores = evaluate(model, x_test, y_test)
    difference = (scores[:4] - checkpoint["first scores"]).abs().max().item()
    print(f"accuracy {accuracy:.2%}, that of PyTorch {checkpoint['test accuracy']:.2%}")
    print(f"scores differ by {difference:.1e}")

    optimizer = tp.optim.AdamW(model.parameters())
    optimizer.load_state_dict(checkpoint["optimizer"])  # goes on with its averages, and at its learning rate
    tp.manual_seed(0)
    for _ in track(range(args.epochs), f"epochs after the {checkpoint['epoch']}th"):
        model.train()
        for part in tp.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    after, _ = evaluate(model, x_test, y_test)
    print(f"accuracy {after:.2%} after {args.epochs} more epochs")

    tp.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, args.out / "digits.pt")
    safetensors.save_model(model, args.out / "digits.safetensors", {"test accuracy": f"{after:.4f}"})
    print(f"saved as {args.out / 'digits.pt'}, for torch.load, and as {args.out / 'digits.safetensors'}")
    return accuracy, after, difference


if __name__ == "__main__":
    main()
