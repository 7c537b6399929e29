"""Make examples/data/torch_digits.pt: a small network trained by PyTorch, for examples/load_torch_checkpoint.py.

    python tools/make_torch_digits.py

Needs PyTorch, which neither the package nor its examples import.
"""

from pathlib import Path

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

TARGET = Path(__file__).parents[1] / "examples" / "data" / "torch_digits.pt"
EPOCHS = 10


def main() -> None:
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16, labels, test_size=0.2, stratify=labels, random_state=0)
    x, x_test = (torch.tensor(part, dtype=torch.float32).reshape(-1, 1, 8, 8) for part in parts[:2])
    y, y_test = (torch.tensor(part, dtype=torch.int64) for part in parts[2:])
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(x)).split(64):
            loss = nn.functional.cross_entropy(model(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        scores = model(x_test)
    accuracy = (scores.argmax(1) == y_test).float().mean().item()
    TARGET.parent.mkdir(exist_ok=True)
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": EPOCHS,
         "test accuracy": accuracy, "first scores": scores[:4].clone()},
        TARGET,
    )  # fmt: skip
    print(f"{accuracy:.2%} in {TARGET}, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
