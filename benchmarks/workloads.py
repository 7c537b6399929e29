"""The workloads: each a step over tensors, and the same written out by hand in NumPy, which is the floor.

A workload has ``data(random)``, the arrays; ``step(T, *tensors)``, which sets up and returns the function to time,
for a module ``T`` with PyTorch's names; and ``hand(*arrays)``, which does the same for NumPy. Both return what the
other returns, so that a run begins with a comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Arrays = tuple[Any, ...]
Step = Callable[[], Any]


class Workload:
    """See the module; ``sizes`` are those at which growth is measured, the default one is ``size``."""

    size: int = 0
    sizes: tuple[int, ...] = ()
    grows = ""

    def __init__(self, size: int | None = None) -> None:
        self.size = size or self.size

    def data(self, random: Random) -> Arrays:
        raise NotImplementedError

    def step(self, T: Any, *tensors: Any) -> Step:
        raise NotImplementedError

    def hand(self, *arrays: Any) -> Step:
        raise NotImplementedError


class Random:
    """Normal float32 numbers, the same in every run."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)

    def __call__(self, *shape: int, scale: float = 1.0) -> np.ndarray[Any, Any]:
        return (self.generator.standard_normal(shape) * scale).astype(np.float32)

    def labels(self, classes: int, count: int) -> np.ndarray[Any, Any]:
        return self.generator.integers(0, classes, count)

    def layers(self, *widths: int) -> list[np.ndarray[Any, Any]]:
        """Weight (out, in) and bias of each layer of a network."""
        pairs = zip(widths, widths[1:])
        return [a for n, m in pairs for a in (self(m, n, scale=n**-0.5), self(m, scale=0.1))]


def network(T: Any, parameters: Any, x: Any, activation: Callable[[Any], Any]) -> Any:
    """Linear layers with an activation between them."""
    for i in range(0, len(parameters), 2):
        x = T.nn.functional.linear(x, parameters[i], parameters[i + 1])
        if i + 2 < len(parameters):
            x = activation(x)
    return x


def cross_entropy(logits: Any, labels: Any) -> tuple[Any, Any]:
    """Mean cross entropy, and its gradient."""
    rows = np.arange(len(labels))
    shifted = logits - logits.max(1, keepdims=True)
    powers = np.exp(shifted)
    sums = powers.sum(1, keepdims=True)
    loss = (np.log(sums[:, 0]) - shifted[rows, labels]).mean()
    powers /= sums
    powers[rows, labels] -= 1
    powers /= len(labels)
    return loss, powers


class Chain(Workload):
    """Links ``z = z * b + a`` on 8 elements, and the gradients of a and b: what an operator costs."""

    size, sizes, grows = 20, (10, 100, 1_000, 10_000, 100_000), "links"

    def data(self, random: Random) -> Arrays:
        return random(8), random(8) * np.float32(0.05) + np.float32(0.9), random(8)

    def step(self, T: Any, a: Any, b: Any, z: Any) -> Step:
        a.requires_grad_(), b.requires_grad_()

        def run() -> Any:
            y = z
            for _ in range(self.size):
                y = y * b + a
            return T.autograd.grad(y.sum(), (a, b))

        return run

    def hand(self, a: Any, b: Any, z: Any) -> Step:
        def run() -> Any:
            y, inputs = z, []
            for _ in range(self.size):
                inputs.append(y)
                y = y * b + a
            g, grad_a, grad_b = np.ones_like(y), np.zeros_like(a), np.zeros_like(b)
            for y in reversed(inputs):
                grad_a += g
                grad_b += g * y
                g = g * b
            return grad_a, grad_b

        return run


class Classifier(Workload):
    """Training step of a ReLU network 64-128-10 with cross entropy and SGD."""

    size, sizes, grows = 32, (8, 32, 128, 512, 2048), "examples"

    def data(self, random: Random) -> Arrays:
        return *random.layers(64, 128, 10), random(self.size, 64), random.labels(10, self.size)

    def step(self, T: Any, *tensors: Any) -> Step:
        *parameters, x, labels = tensors
        for p in parameters:
            p.requires_grad_()
        optimizer, functional = T.optim.SGD(parameters, lr=1e-3), T.nn.functional

        def run() -> Any:
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(T, parameters, x, functional.relu), labels)
            loss.backward()
            optimizer.step()
            return loss

        return run

    def hand(self, *arrays: Any) -> Step:
        W1, b1, W2, b2, x, labels = arrays

        def run() -> Any:
            h = x @ W1.T
            h += b1
            np.maximum(h, 0, out=h)
            loss, g = cross_entropy(h @ W2.T + b2, labels)
            grads = [g.T @ h, g.sum(0)]
            g = g @ W2
            g *= h > 0
            for p, grad in zip((W1, b1, W2, b2), (g.T @ x, g.sum(0), *grads)):
                grad *= np.float32(1e-3)
                p -= grad
            return loss

        return run


class HessianVectorProduct(Workload):
    """Hessian of a tanh network's squared error times a vector: two orders, nested."""

    size, sizes, grows = 64, (16, 64, 256, 1024), "hidden units"

    def data(self, random: Random) -> Arrays:
        return *random.layers(16, self.size, 1), *random.layers(16, self.size, 1), random(64, 16), random(64, 1)

    def step(self, T: Any, *tensors: Any) -> Step:
        parameters, vectors, (x, y) = tensors[:4], tensors[4:8], tensors[8:]

        def loss(*parameters: Any) -> Any:
            return (network(T, parameters, x, T.tanh) - y).square().mean()

        return lambda: T.autograd.functional.hvp(loss, parameters, vectors)[1]

    def hand(self, W1: Any, b1: Any, W2: Any, b2: Any, V1: Any, c1: Any, V2: Any, c2: Any, x: Any, y: Any) -> Step:
        def run() -> Any:
            scale = np.float32(2 / len(x))
            h = np.tanh(x @ W1.T + b1)
            slope = 1 - h * h
            g = (h @ W2.T + b2 - y) * scale
            dh = slope * (x @ V1.T + c1)
            dg = (dh @ W2.T + h @ V2.T + c2) * scale
            dz = (dg @ W2 + g @ V2) * slope - 2 * (g @ W2) * h * dh
            return dz.T @ x, dz.sum(0), dg.T @ h + g.T @ dh, dg.sum(0)

        return run


class Jacobian(Workload):
    """``func.jacrev`` of a tanh network: vmap over one backward pass."""

    size, sizes, grows = 64, (8, 32, 128), "outputs"

    def data(self, random: Random) -> Arrays:
        return *random.layers(self.size, self.size, self.size), random(self.size)

    def step(self, T: Any, *tensors: Any) -> Step:
        *parameters, x = tensors
        return lambda: T.func.jacrev(lambda x: network(T, parameters, x, T.tanh).tanh())(x)

    def hand(self, W1: Any, b1: Any, W2: Any, b2: Any, x: Any) -> Step:
        def run() -> Any:
            h = np.tanh(W1 @ x + b1)
            y = np.tanh(W2 @ h + b2)
            return ((1 - y * y)[:, None] * W2 * (1 - h * h)) @ W1

        return run


class PerExampleGradients(Workload):
    """``vmap(grad(loss))``: the gradient of each example."""

    size, sizes, grows = 64, (16, 64, 256, 1024), "examples"

    def data(self, random: Random) -> Arrays:
        return *random.layers(32, 64, 10), random(self.size, 32), random(self.size, 10)

    def step(self, T: Any, *tensors: Any) -> Step:
        parameters, x, y = tensors[:4], *tensors[4:]

        def loss(parameters: Any, x: Any, y: Any) -> Any:
            return (network(T, parameters, x, T.tanh) - y).square().mean()

        each = T.func.vmap(T.func.grad(loss), in_dims=(None, 0, 0))
        return lambda: each(parameters, x, y)

    def hand(self, W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any) -> Step:
        def run() -> Any:
            h = np.tanh(x @ W1.T + b1)
            g = (h @ W2.T + b2 - y) * np.float32(0.2)
            d = (g @ W2) * (1 - h * h)
            return d[:, :, None] * x[:, None, :], d, g[:, :, None] * h[:, None, :], g

        return run


class ForwardMode(Workload):
    """``func.jvp`` of six tanh layers: value and tangent in one pass."""

    size, sizes, grows = 128, (32, 128, 512), "width"

    def data(self, random: Random) -> Arrays:
        return *random.layers(*[self.size] * 7), random(32, self.size), random(32, self.size)

    def step(self, T: Any, *tensors: Any) -> Step:
        *parameters, x, v = tensors
        return lambda: T.func.jvp(lambda x: network(T, parameters, x, T.tanh), (x,), (v,))

    def hand(self, *arrays: Any) -> Step:
        *parameters, x, v = arrays

        def run() -> Any:
            h, t = x, v
            for i in range(0, len(parameters), 2):
                W, b = parameters[i : i + 2]
                h, t = h @ W.T + b, t @ W.T
                if i + 2 < len(parameters):
                    h = np.tanh(h)
                    t *= 1 - h * h
            return h, t

        return run


class Elementwise(Workload):
    """Gradient of ``(tanh(2 x + 1) exp(x)).sum()``: memory traffic."""

    size, sizes, grows = 300_000, (1_000, 30_000, 1_000_000), "elements"

    def data(self, random: Random) -> Arrays:
        return (random(self.size),)

    def step(self, T: Any, x: Any) -> Step:
        x.requires_grad_()
        return lambda: T.autograd.grad(((2 * x + 1).tanh() * x.exp()).sum(), x)[0]

    def hand(self, x: Any) -> Step:
        def run() -> Any:
            t = 2 * x
            t += 1
            np.tanh(t, out=t)
            e = np.exp(x)
            y = t * e
            y.sum()
            t *= t
            np.subtract(1, t, out=t)
            t *= e
            t *= 2
            y += t
            return y

        return run


class Softmax(Workload):
    """Cross entropy over 500 classes, and its gradient."""

    size, sizes, grows = 512, (32, 512, 8192), "examples"

    def data(self, random: Random) -> Arrays:
        return random(self.size, 500), random.labels(500, self.size)

    def step(self, T: Any, x: Any, labels: Any) -> Step:
        x.requires_grad_()

        def run() -> Any:
            loss = T.nn.functional.cross_entropy(x, labels)
            return loss, T.autograd.grad(loss, x)[0]

        return run

    def hand(self, x: Any, labels: Any) -> Step:
        return lambda: cross_entropy(x, labels)


class Attention(Workload):
    """Causal attention of 4 heads of 32, and its gradients."""

    size, sizes, grows = 64, (16, 64, 256), "positions"

    def data(self, random: Random) -> Arrays:
        return tuple(random(4, 4, self.size, 32) for _ in range(3))

    def step(self, T: Any, *tensors: Any) -> Step:
        for t in tensors:
            t.requires_grad_()
        attention = T.nn.functional.scaled_dot_product_attention
        return lambda: T.autograd.grad(attention(*tensors, is_causal=True).sum(), tensors)

    def hand(self, q: Any, k: Any, v: Any) -> Step:
        past = np.tri(self.size, dtype=bool)
        scale = np.float32(1 / math.sqrt(32))

        def run() -> Any:
            p = q @ k.swapaxes(-1, -2)
            p *= scale
            p[..., ~past] = -np.inf
            p -= p.max(-1, keepdims=True)
            np.exp(p, out=p)
            p /= p.sum(-1, keepdims=True)
            (p @ v).sum()
            g = np.ones_like(v)
            s = g @ v.swapaxes(-1, -2)
            s -= (s * p).sum(-1, keepdims=True)
            s *= p
            s *= scale
            return s @ k, s.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ g

        return run


class Convolution(Workload):
    """3x3 convolution of 16 into 32 channels on 16 images of 16x16, and its gradients."""

    size, sizes, grows = 16, (4, 16, 64), "images"

    def data(self, random: Random) -> Arrays:
        return random(self.size, 16, 16, 16), random(32, 16, 3, 3, scale=0.1)

    def step(self, T: Any, x: Any, w: Any) -> Step:
        x.requires_grad_(), w.requires_grad_()
        return lambda: T.autograd.grad(T.nn.functional.conv2d(x, w, padding=1).square().sum(), (x, w))

    def hand(self, x: Any, w: Any) -> Step:
        def run() -> Any:
            n, c, height, width = x.shape
            padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
            columns = np.empty((n, c, 3, 3, height, width), x.dtype)
            for i in range(3):
                for j in range(3):
                    columns[:, :, i, j] = padded[:, :, i : i + height, j : j + width]
            flat = columns.reshape(n, c * 9, height * width)
            kernel = w.reshape(len(w), -1)
            y = kernel @ flat
            (y * y).sum()
            y *= 2
            spread = (kernel.T @ y).reshape(columns.shape)
            grad = np.zeros_like(padded)
            for i in range(3):
                for j in range(3):
                    grad[:, :, i : i + height, j : j + width] += spread[:, :, i, j]
            return grad[:, :, 1:-1, 1:-1], (y @ flat.swapaxes(-1, -2)).sum(0).reshape(w.shape)

        return run


WORKLOADS: dict[str, type[Workload]] = {
    "chain": Chain,
    "classifier": Classifier,
    "elementwise": Elementwise,
    "softmax": Softmax,
    "attention": Attention,
    "convolution": Convolution,
    "forward mode": ForwardMode,
    "jacobian": Jacobian,
    "per-example gradients": PerExampleGradients,
    "hessian-vector product": HessianVectorProduct,
}
