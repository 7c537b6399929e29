"""Samples of activations and softmax."""

import numpy as np
import scipy.special
from harness import Sample, complexn, randn

import tensorplay as tp
import tensorplay.nn.functional as F

X = np.concatenate([3 * randn(20), [0.3, -0.3, 2.5, -2.7, 5.0, -6.5, 25.0]]).reshape(3, 9)
STRIDED = (3 * randn(4, 3, seed=1)).T
SCALAR, EMPTY = np.array(0.7), np.zeros((0, 3))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x, beta=1.0):
    return np.logaddexp(0, beta * x) / beta


def elu(x, alpha=1.0, scale=1.0, width=1.0):
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) * width))


SELU = 1.6732632423543772, 1.0507009873554805
POINTWISE = [
    ("relu", {}, lambda x: np.maximum(x, 0)),
    ("relu6", {}, lambda x: np.clip(x, 0, 6)),
    ("leaky_relu", {"negative_slope": 0.2}, lambda x: np.where(x > 0, x, 0.2 * x)),
    ("rrelu", {"lower": 0.1, "upper": 0.3}, lambda x: np.where(x > 0, x, 0.2 * x)),
    ("hardtanh", {"min_val": -2.0, "max_val": 0.5}, lambda x: np.clip(x, -2, 0.5)),
    ("hardsigmoid", {}, lambda x: np.clip(x + 3, 0, 6) / 6),
    ("hardswish", {}, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    ("threshold", {"threshold": 0.2, "value": 5.0}, lambda x: np.where(x > 0.2, x, 5)),
    ("hardshrink", {"lambd": 0.8}, lambda x: np.where(np.abs(x) > 0.8, x, 0)),
    ("softshrink", {"lambd": 0.8}, lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.8, 0)),
    ("elu", {"alpha": 0.7}, lambda x: elu(x, 0.7)),
    ("selu", {}, lambda x: elu(x, *SELU)),
    ("celu", {"alpha": 0.5}, lambda x: elu(x, 0.5, 1, 2)),
    ("softplus", {"beta": 2.0}, lambda x: softplus(x, 2.0)),
    ("logsigmoid", {}, lambda x: -softplus(-x)),
    ("silu", {}, lambda x: x * sigmoid(x)),
    ("mish", {}, lambda x: x * np.tanh(softplus(x))),
    ("gelu", {}, lambda x: x * scipy.special.ndtr(x)),
    ("gelu", {"approximate": "tanh"}, lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2),
    ("softsign", {}, lambda x: x / (1 + np.abs(x))),
    ("tanhshrink", {}, lambda x: x - np.tanh(x)),
    ("sigmoid", {}, sigmoid),
    ("tanh", {}, np.tanh),
]
SAMPLES = [
    Sample(
        f"{name}{options or ''}",
        lambda x, name=name, options=options: getattr(F, name)(x, **options),
        array,
        reference=reference,
    )  # fmt: skip
    for name, options, reference in POINTWISE
    for array in (X, STRIDED, SCALAR, EMPTY)
]
SAMPLES += [
    Sample("silu of complex numbers", F.silu, complexn(4), reference=lambda z: z / (1 + np.exp(-z))),
    Sample("softsign of integers", F.softsign, np.array([-3, 0, 1]), reference=lambda x: x / (1 + np.abs(x)), tol=1e-6),
    Sample("prelu, one slope", tp.prelu, X, np.array([0.3]), reference=lambda x, w: np.where(x > 0, x, w * x)),
    Sample("prelu of a scalar", tp.prelu, np.array(-2.0), np.array(0.3), reference=lambda x, w: w * x),
    Sample(
        "prelu, a slope for each channel", F.prelu, randn(2, 3, 4), randn(3, seed=2),
        reference=lambda x, w: np.where(x > 0, x, w[:, None] * x),
    ),
]  # fmt: skip
SAMPLES += [
    Sample(
        f"glu over {dim}", lambda x, dim=dim: F.glu(x, dim), randn(4, 3, 2),
        reference=lambda x, dim=dim: np.split(x, 2, dim)[0] * sigmoid(np.split(x, 2, dim)[1]),
    )
    for dim in (0, -1)
]  # fmt: skip

# ---- softmax

LARGE = 30 * randn(2, 5, seed=3)
for dim in (0, 1, -1):
    for name, reference in (
        ("softmax", lambda x, dim: scipy.special.softmax(x, dim)),
        ("log_softmax", lambda x, dim: scipy.special.log_softmax(x, dim)),
        ("softmin", lambda x, dim: scipy.special.softmax(-x, dim)),
    ):
        SAMPLES += [
            Sample(
                f"{name} over {dim}", lambda x, name=name, dim=dim: getattr(F, name)(x, dim=dim), array,
                reference=lambda x, reference=reference, dim=dim: reference(x, dim),
            )
            for array in (randn(3, 4), randn(2, 3, 2), LARGE)
        ]  # fmt: skip
SAMPLES += [
    Sample("softmax of a scalar", lambda x: tp.softmax(x, 0), SCALAR, reference=np.ones_like),
    Sample("log_softmax of a scalar", lambda x: tp.log_softmax(x, -1), SCALAR, reference=np.zeros_like),
    Sample("_softmax_backward_data of numbers", lambda g, out: tp._softmax_backward_data(g, out, 0, tp.float64),
           SCALAR, SCALAR, reference=lambda g, out: out * (g - g * out)),
    Sample("_softmax_backward_data", lambda g, out: tp._softmax_backward_data(g, out, 1, tp.float64),
           randn(2, 3), scipy.special.softmax(randn(2, 3, seed=1), 1),
           reference=lambda g, out: out * (g - (g * out).sum(1, keepdims=True))),
    Sample("softmax of nothing", lambda x: x.softmax(1), np.zeros((2, 0))),
    Sample(
        "softmax with impossible classes",
        lambda x: tp.softmax(tp.where(tp.tensor([True, False, True]), x, -tp.inf), 1), randn(2, 3),
        reference=lambda x: np.insert(scipy.special.softmax(x[:, ::2], 1), 1, 0, 1),
    ),
]  # fmt: skip
