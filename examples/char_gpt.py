"""Train a small GPT, character by character, on the documentation of Python's syntax, and let it write.

    python examples/char_gpt.py [--steps N] [--width N] [--layers N] [--sample N] [--picture FILE]

The text is ``pydoc_data.topics``, which is what ``help("assert")`` and its like show: 465,000 characters that come with
Python. The last tenth of it is kept for validation. The loss is in nats per character.
"""

from __future__ import annotations

import argparse
import math
import time

import matplotlib

matplotlib.use("Agg")
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
from rich.progress import Progress

import tensorplay as tp
from tensorplay import nn
from tensorplay.nn import functional as F


class Text:
    """The characters as numbers, and batches of pieces of them."""

    def __init__(self) -> None:
        text = "\n\n".join(topics.values())
        self.alphabet = sorted(set(text))
        self.numbers = {c: i for i, c in enumerate(self.alphabet)}
        data = self.encode(text)
        self.train, self.valid = data[: len(data) * 9 // 10], data[len(data) * 9 // 10 :]

    def encode(self, text: str) -> tp.Tensor:
        return tp.tensor([self.numbers[c] for c in text])

    def decode(self, numbers: tp.Tensor) -> str:
        return "".join(self.alphabet[i] for i in numbers.tolist())

    def batch(self, size: int, length: int) -> tuple[tp.Tensor, tp.Tensor]:
        """Pieces of the text for training, and the characters that follow each of theirs."""
        starts = tp.randint(len(self.train) - length, (size, 1))
        pieces = self.train[starts + tp.arange(length + 1)]
        return pieces[:, :-1], pieces[:, 1:]

    def pieces(self, length: int) -> tuple[tp.Tensor, tp.Tensor]:
        """All of the text for validation, in pieces that follow each other."""
        end = (len(self.valid) - 1) // length * length
        return self.valid[:end].reshape(-1, length), self.valid[1 : end + 1].reshape(-1, length)


class Block(nn.Module):
    """Attention to what came before, then a network for each character; both add to what there is."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))

    def forward(self, x: tp.Tensor) -> tp.Tensor:
        batch, length, width = x.shape
        parts = self.query_key_value(self.norm1(x)).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.network(self.norm2(x))


class GPT(nn.Module):
    """From characters (batch, length) to scores of the ones that follow (batch, length, alphabet)."""

    def __init__(self, alphabet: int, width: int, layers: int, heads: int, context: int) -> None:
        super().__init__()
        self.context = context
        self.characters, self.positions = nn.Embedding(alphabet, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, alphabet, bias=False)
        self.scores.weight = self.characters.weight  # a character means the same where it is read and written
        for name, p in self.named_parameters():
            if p.ndim == 2:  # what is added to the stream is smaller, the more often something is
                added = name.endswith(("out.weight", "network.2.weight"))
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * layers) if added else 0.02)

    def forward(self, x: tp.Tensor) -> tp.Tensor:
        x = self.characters(x) + self.positions(tp.arange(x.shape[1]))
        return self.scores(self.norm(self.blocks(x)))


def loss_of(model: GPT, x: tp.Tensor, y: tp.Tensor) -> tp.Tensor:
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


@tp.no_grad()
def validate(model: GPT, text: Text, limit: int | None = None) -> float:
    """The mean loss over the text for validation, or over the first ``limit`` pieces."""
    x, y = (t[:limit] for t in text.pieces(model.context))
    total = sum(loss_of(model, a, b).item() * len(a) for a, b in zip(x.split(64), y.split(64)))
    return total / len(x)


@tp.no_grad()
def write(model: GPT, text: Text, start: str, count: int, temperature: float = 0.7) -> str:
    """``count`` characters that the model takes for likely to follow the start."""
    found = text.encode(start)
    for _ in range(count):
        scores = model(found[None, -model.context :])[0, -1] / temperature
        found = tp.cat([found, tp.multinomial(scores.softmax(0), 1)])
    return text.decode(found)


def draw(curve: list[tuple[int, float, float]], file: str) -> None:
    figure, axis = plt.subplots(figsize=(7, 4))
    steps, train, valid = zip(*curve)
    axis.plot(steps, train, label="training")
    axis.plot(steps, valid, label="validation")
    axis.set(xlabel="step", ylabel="loss in nats per character")
    axis.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def main() -> tuple[float, str]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", default="char_gpt.png")
    args = parser.parse_args()
    started = time.perf_counter()
    tp.manual_seed(args.seed)
    text = Text()
    model = GPT(len(text.alphabet), args.width, args.layers, heads=4, context=args.context)
    optimizer = tp.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.05)
    schedule = tp.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=3e-3, total_steps=args.steps, pct_start=0.1, cycle_momentum=False
    )
    curve, recent = [], 0.0
    with Progress() as progress:
        task = progress.add_task("training", total=args.steps)
        for step in range(1, args.steps + 1):
            loss = loss_of(model, *text.batch(args.batch, args.context))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            recent = loss.item() if step == 1 else 0.95 * recent + 0.05 * loss.item()
            if step % max(1, args.steps // 10) == 0:
                curve.append((step, recent, validate(model, text, 64)))
                progress.update(task, description=f"training {recent:.2f}, validation {curve[-1][2]:.2f}")
            progress.advance(task)
    valid = validate(model, text)
    draw(curve, args.picture)
    size = sum(p.numel() for p in model.parameters())
    print(f"{size:,} parameters; validation loss {valid:.3f} nats in {time.perf_counter() - started:.1f} s")
    sample = write(model, text, "The ", args.sample)
    print(sample)
    return valid, sample


if __name__ == "__main__":
    main()
