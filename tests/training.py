"""Five small training programs written against PyTorch's API; the library is an argument.

``tools/make_training_table.py`` runs them with PyTorch and stores the losses; ``test_training.py`` runs them with
tensorplay. Data and initial weights are given by formulas, and nothing is random.
"""

# mypy: ignore-errors
# (classes derive from those of a library that is only known at run time)

import io
import math
from importlib import import_module

import numpy as np


def wave(shape, number=0, scale=1.0):
    """Numbers that look random enough."""
    return scale * np.sin(1.7 * np.arange(math.prod(shape)) + 0.9 * number).reshape(shape)


def fill(torch, model, scale=0.4):
    """Initial weights."""
    with torch.no_grad():
        for n, p in enumerate(model.parameters()):
            fan = math.prod(p.shape[1:]) if p.ndim > 1 else 4
            p.copy_(torch.tensor(wave(tuple(p.shape), n, scale * math.sqrt(4 / fan))) + (p.ndim == 1))
    return model.double()


def perceptron(torch, steps=12):
    """Groups with and without decay, SGD, a cosine schedule, clipping, loaders, evaluation."""
    nn, data = torch.nn, import_module(torch.__name__ + ".utils.data")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    X, y = torch.from_numpy(wave((48, 6))), (torch.arange(48) * 7 % 4)
    train = data.DataLoader(data.TensorDataset(X[:32], y[:32]), batch_size=8, shuffle=False, drop_last=True)
    test = data.DataLoader(data.TensorDataset(X[32:], y[32:]), batch_size=16)
    layers = [nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(inplace=True), nn.Dropout(0.0), nn.Linear(16, 4)]
    model = fill(torch, nn.Sequential(*layers)).to(device)
    groups = [{"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 1e-2},
              {"params": [p for p in model.parameters() if p.ndim < 2]}]  # fmt: skip
    optimizer = torch.optim.SGD(groups, lr=0.05, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    @torch.no_grad()
    def evaluate():
        model.eval()
        total = sum(criterion(model(x.to(device)), t.to(device)).item() for x, t in test)
        model.train()
        return total

    losses = []
    while len(losses) < steps + steps // 4:
        for x, t in train:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(x.to(device)), t.to(device))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        losses.append(evaluate())
    return losses


def convolutional(torch, steps=10):
    """Residual blocks, AdamW, one cycle, an average of the weights, and a checkpoint in between."""
    nn, F = torch.nn, torch.nn.functional
    swa = import_module(torch.__name__ + ".optim.swa_utils")

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
            self.norm1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, padding="same", padding_mode="reflect")
            self.short = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

        def forward(self, x):
            return F.leaky_relu(self.conv2(F.relu(self.norm1(self.conv1(x)))) + self.short(x), 0.1)

    def made():
        model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.GELU(), Block(4, 4, 1), Block(4, 8, 2),
                              nn.GroupNorm(2, 8), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 3))  # fmt: skip
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.02, total_steps=steps)
        return fill(torch, model), optimizer, scheduler

    x, y = torch.from_numpy(wave((6, 1, 8, 8))), torch.tensor([0, 1, 2, 2, 1, 0])
    model, optimizer, scheduler = made()
    average = swa.AveragedModel(model, multi_avg_fn=swa.get_ema_multi_avg_fn(0.9))
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        average.update_parameters(model)
        losses.append(loss.item())
        if step == steps // 2:
            file = io.BytesIO()
            torch.save({k: v.state_dict() for k, v in zip("mos", (model, optimizer, scheduler))}, file)
            file.seek(0)
            saved = torch.load(file)
            model, optimizer, scheduler = made()
            for part, key in zip((model, optimizer, scheduler), "mos"):
                part.load_state_dict(saved[key])
    with torch.inference_mode():
        return [*losses, average.eval()(x).log_softmax(-1).mean().item(), model.eval()(x).softmax(-1).max().item()]


def language(torch, steps=8):
    """A causal transformer with tied weights, accumulated gradients, warm-up, and greedy decoding."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, size, heads):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
            self.qkv, self.out = nn.Linear(size, 3 * size, bias=False), nn.Linear(size, size)
            self.mlp = nn.ModuleDict({"up": nn.Linear(size, 4 * size), "down": nn.Linear(4 * size, size)})
            self.heads = heads

        def forward(self, x):
            n, length, size = x.shape
            parts = self.qkv(self.norm1(x)).split(size, dim=2)
            q, k, v = (p.view(n, length, self.heads, size // self.heads).transpose(1, 2) for p in parts)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).contiguous().view(n, length, size))
            return x + self.mlp["down"](F.gelu(self.mlp["up"](self.norm2(x)), approximate="tanh"))

    class Model(nn.Module):
        def __init__(self, tokens=11, size=8, length=12):
            super().__init__()
            self.embed, self.place = nn.Embedding(tokens, size), nn.Embedding(length, size)
            self.blocks = nn.ModuleList([Block(size, 2) for _ in range(2)])
            self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, tokens, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, ids):
            x = self.embed(ids) + self.place(torch.arange(ids.size(1), device=ids.device))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    model = fill(torch, Model())
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.95), eps=1e-6)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 3, 1 / math.sqrt(s + 1)))
    ids = (torch.arange(8 * 13) ** 2 % 11).view(8, 13)
    losses = []
    for _ in range(steps):
        total = 0.0
        for part in ids.chunk(2):
            logits = model(part[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), part[:, 1:].reshape(-1)) / 2
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_value_(model.parameters(), 0.1)
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        losses.append(total)
    text = ids[:1, :4]
    with torch.no_grad():
        for _ in range(6):
            text = torch.cat((text, model(text)[:, -1].argmax(-1, keepdim=True)), dim=1)
    return [*losses, *map(float, text[0].tolist())]


def recurrent(torch, steps=8):
    """Packed sequences through an LSTM, a masked loss, RMSprop, and a schedule that waits for a plateau."""
    nn, rnn = torch.nn, import_module(torch.__name__ + ".nn.utils.rnn")
    data = import_module(torch.__name__ + ".utils.data")
    series = [torch.from_numpy(wave((n, 1), n)) for n in (9, 5, 7, 3, 8, 6)]

    class Series(data.Dataset):
        def __len__(self):
            return len(series)

        def __getitem__(self, i):
            return series[i][:-1], series[i][1:]

    def collate(pairs):
        lengths = torch.tensor([len(x) for x, _ in pairs])
        return (*(rnn.pad_sequence(part, batch_first=True) for part in zip(*pairs)), lengths)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(1, 6, num_layers=2, batch_first=True, bidirectional=True)
            self.cell, self.out = nn.GRUCell(12, 4), nn.Linear(16, 1)

        def forward(self, x, lengths):
            packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            out, (h, _) = self.lstm(packed)
            out, _ = rnn.pad_packed_sequence(out, batch_first=True)
            state = self.cell(torch.cat([h[-2], h[-1]], dim=-1)).unsqueeze(1).expand(-1, out.size(1), -1)
            return self.out(torch.cat([out, state], dim=-1))

    model = fill(torch, Model())
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3, momentum=0.5)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, threshold=0.2)
    losses = []
    for _ in range(steps // 2):
        seen = 0.0
        for x, y, lengths in data.DataLoader(Series(), batch_size=3, collate_fn=collate):
            mask = torch.arange(x.size(1))[None, :, None] < lengths[:, None, None]
            loss = (nn.SmoothL1Loss(reduction="none")(model(x, lengths), y) * mask).sum() / mask.sum()
            model.zero_grad()
            loss.backward()
            optimizer.step()
            seen += loss.item()
            losses.append(loss.item())
        scheduler.step(seen)
    return [*losses, optimizer.param_groups[0]["lr"]]


def autoencoder(torch, steps=10):
    """A convolutional VAE with given noise, groups with rates of their own, and schedules in sequence."""
    nn, F, schedules = torch.nn, torch.nn.functional, torch.optim.lr_scheduler

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.SiLU(), nn.BatchNorm2d(4), nn.Flatten(),
                                         nn.Linear(64, 8))  # fmt: skip
            self.decoder = nn.Sequential(nn.Linear(4, 16), nn.Unflatten(1, (4, 2, 2)), nn.PReLU(),
                                         nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1), nn.Softplus(),
                                         nn.Upsample(scale_factor=2, mode="bilinear"),
                                         nn.Conv2d(2, 1, 3, padding=1))  # fmt: skip

        def forward(self, x, noise):
            mean, log_variance = self.encoder(x).chunk(2, dim=1)
            return self.decoder(mean + noise * torch.exp(0.5 * log_variance)), mean, log_variance

    x = torch.sigmoid(torch.from_numpy(wave((5, 1, 8, 8), scale=3.0)))
    model = fill(torch, Model())
    optimizer = torch.optim.Adam([{"params": model.encoder.parameters()},
                                  {"params": model.decoder.parameters(), "lr": 1e-2}], lr=5e-3)  # fmt: skip
    scheduler = schedules.SequentialLR(
        optimizer, [schedules.LinearLR(optimizer, 0.1, total_iters=4), schedules.ExponentialLR(optimizer, 0.9)], [4]
    )
    losses = []
    for step in range(steps):
        logits, mean, log_variance = model(x, torch.from_numpy(wave((5, 4), step)))
        fit = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        loss = (fit + divergence) / x.size(0)
        for p in model.parameters():
            p.grad = None
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return [*losses, *scheduler.get_last_lr()]


PROGRAMS = {f.__name__: f for f in (perceptron, convolutional, language, recurrent, autoencoder)}
