"""Samples of losses and distances."""

import numpy as np
import scipy.special
from harness import Sample, complexn, positive, randn

import tensorplay as tp
import tensorplay.nn.functional as F

X, Y, W = randn(3, 4), randn(3, 4, seed=1), positive(3, 4, seed=2)
P, Q = (a / (1 + a) for a in (positive(3, 4), positive(3, 4, seed=1)))
SIGNS = np.sign(randn(3, 4, seed=3))
REDUCTIONS = {"none": lambda x: x, "sum": np.sum, "mean": np.mean}
SUM_OR_NONE = {name: REDUCTIONS[name] for name in ("none", "sum")}


def reducing(name, *arrays, reference, options=None, reductions=REDUCTIONS, **sample_options):
    """A loss with each of the reductions of its elements."""
    options = options or {}
    return [
        Sample(
            f"{name}, {reduction}{options or ''}",
            lambda *ts, reduction=reduction: getattr(F, name)(*ts, reduction=reduction, **options),
            *arrays,
            reference=lambda *a, reduce=reduce: reduce(reference(*a)),
            **sample_options,
        )
        for reduction, reduce in reductions.items()
    ]


def log_sigmoid(x):
    return -np.logaddexp(0, -x)


def entropy_of_bits(x, y):
    return -(y * np.log(x) + (1 - y) * np.log(1 - x))


def huber(d, delta):
    a = np.abs(d)
    return np.where(a < delta, d * d / 2, delta * (a - delta / 2))


def gaussian(x, y, v):
    return (np.log(v) + (x - y) ** 2 / v) / 2


SAMPLES = [
    *reducing("mse_loss", X, Y, reference=lambda x, y: (x - y) ** 2),
    *reducing("mse_loss", np.array(2.0), np.array(0.5), reference=lambda x, y: (x - y) ** 2),
    *reducing("l1_loss", X, Y, reference=lambda x, y: np.abs(x - y)),
    *reducing("smooth_l1_loss", X, Y, reference=lambda x, y: huber(x - y, 0.7) / 0.7, options={"beta": 0.7}),
    *reducing("huber_loss", X, Y, reference=lambda x, y: huber(x - y, 0.7), options={"delta": 0.7}),
    *reducing("binary_cross_entropy", P, Q, reference=entropy_of_bits),
    *reducing("binary_cross_entropy", P, Q, W, reference=lambda x, y, w: w * entropy_of_bits(x, y)),
    *reducing(
        "binary_cross_entropy_with_logits", 5 * X, Q,
        reference=lambda x, y: -y * log_sigmoid(x) - (1 - y) * log_sigmoid(-x),
    ),
    # the mean over all elements warns that it is not the divergence
    *reducing("kl_div", X, P, reference=lambda x, y: y * (np.log(y) - x), reductions=SUM_OR_NONE),
    *reducing(
        "kl_div", X, Y, reference=lambda x, y: np.exp(y) * (y - x), options={"log_target": True}, reductions=SUM_OR_NONE
    ),
    *reducing("poisson_nll_loss", X, P, reference=lambda x, y: np.exp(x) - y * x),
    *reducing(
        "poisson_nll_loss", P, Q, reference=lambda x, y: x - y * np.log(x + 1e-8), options={"log_input": False}
    ),
    *reducing("gaussian_nll_loss", X, Y, W, reference=gaussian),
    *reducing("gaussian_nll_loss", X, Y, positive(3), reference=lambda x, y, v: gaussian(x, y, v[:, None])),
    *reducing("soft_margin_loss", X, SIGNS, reference=lambda x, y: np.logaddexp(0, -y * x)),
    *reducing(
        "hinge_embedding_loss", X, SIGNS, reference=lambda x, y: np.where(y == 1, x, np.maximum(0, 0.7 - x)),
        options={"margin": 0.7}, grad=False,
    ),
    *reducing(
        "multilabel_soft_margin_loss", X, Q,
        reference=lambda x, y: -(y * log_sigmoid(x) + (1 - y) * log_sigmoid(-x)).mean(-1),
    ),
    Sample("mse_loss of complex numbers", lambda x, y: F.l1_loss(x, y), complexn(3), complexn(3, seed=1),
           reference=lambda x, y: np.abs(x - y).mean()),
    Sample("mse_loss, weighted", lambda x, y, w: F.mse_loss(x, y, weight=w), X, Y, W,
           reference=lambda x, y, w: (w * (x - y) ** 2).sum() / w.sum()),
    Sample("kl_div, batchmean", lambda x, y: F.kl_div(x, y, reduction="batchmean"), X, P,
           reference=lambda x, y: (y * (np.log(y) - x)).sum() / 3),
    Sample(
        "binary_cross_entropy_with_logits with weights of the first class",
        lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, pos_weight=w), X, Q, positive(4),
        reference=lambda x, y, w: -(w * y * log_sigmoid(x) + (1 - y) * log_sigmoid(-x)).mean(),
    ),
]  # fmt: skip

# ---- classes


def nll(logp, target, weight, ignored):
    """Losses and weights of the rows (N, ..., C)."""
    valid = target != ignored
    safe = np.where(valid, target, 0)
    w = valid * (1.0 if weight is None else weight[safe])
    return -np.take_along_axis(logp, safe[..., None], -1)[..., 0] * w, w


def class_loss(logp, target, reduction, weight=None, ignored=-100):
    losses, w = nll(np.moveaxis(logp, min(1, logp.ndim - 1), -1), target, weight, ignored)
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / w.sum()}[reduction]


CLASSES = np.array([0, 2, 2, 3, 1])
WEIGHT = np.array([0.5, 1.0, 2.0, 0.25])
for reduction in REDUCTIONS:
    for scores, target in (
        (randn(5, 4), CLASSES),
        (30 * randn(5, 4, seed=4), CLASSES),
        (randn(4), np.array(2)),
        (randn(2, 4, 3), np.array([[0, 1, 2], [3, 3, 0]])),
        (randn(1, 4, 2, 2), np.array([[[0, 1], [2, 3]]])),
    ):
        for ignored in (-100, 2):
            if ignored == 2 and target.ndim == 0:
                continue
            for weight in (None, WEIGHT):
                options = {"reduction": reduction, "ignore_index": ignored}
                w = None if weight is None else tp.tensor(weight)
                text = f"{reduction}, ignoring {ignored}" + ", weighted" * (weight is not None)
                SAMPLES += [
                    Sample(
                        f"cross_entropy, {text}",
                        lambda x, y, options=options, w=w: F.cross_entropy(x, y, weight=w, **options), scores, target,
                        reference=lambda x, y, r=reduction, w=weight, i=ignored: class_loss(
                            scipy.special.log_softmax(x, min(1, x.ndim - 1)), y, r, w, i),
                    ),
                    Sample(
                        f"nll_loss, {text}",
                        lambda x, y, options=options, w=w: F.nll_loss(x, y, weight=w, **options), scores, target,
                        reference=lambda x, y, r=reduction, w=weight, i=ignored: class_loss(x, y, r, w, i),
                    ),
                ]  # fmt: skip
SAMPLES += [
    Sample(
        "cross_entropy with smoothed labels", lambda x, y: F.cross_entropy(x, y, label_smoothing=0.2),
        randn(5, 4), CLASSES,
        reference=lambda x, y: -(
            (0.8 * np.eye(4)[y] + 0.05) * scipy.special.log_softmax(x, 1)).sum(1).mean(),
    ),
    Sample(
        "cross_entropy with probabilities", F.cross_entropy, X, P,
        reference=lambda x, y: -(y * scipy.special.log_softmax(x, 1)).sum(1).mean(),
    ),
    Sample(
        "linear_cross_entropy", F.linear_cross_entropy, randn(5, 3), randn(4, 3), CLASSES,
        reference=lambda x, w, y: class_loss(scipy.special.log_softmax(x @ w.T, 1), y, "mean"),
    ),
]  # fmt: skip

# ---- margins, distances


def multi_margin(x, y, p=1):
    own = x[np.arange(len(y)), y][:, None]
    terms = np.maximum(0, 1 - own + x) ** p
    terms[np.arange(len(y)), y] = 0
    return terms.sum(1) / x.shape[1]


def multilabel_margin(x, y):
    out = []
    for row, labels in zip(x, y):
        labels = labels[: np.argmax(labels < 0)] if (labels < 0).any() else labels
        rest = [j for j in range(len(row)) if j not in labels]
        out.append(sum(max(0, 1 - row[i] + row[j]) for i in labels for j in rest) / len(row))
    return np.array(out)


def cosine(x, y):
    return (x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1))


def distance(x, y, p=2):
    return (np.abs(x - y + 1e-6) ** p).sum(-1) ** (1 / p)


Z = randn(3, 4, seed=5)
LABELS = np.array([[0, 2, -1, 1], [3, -1, 0, 0], [1, 2, 3, 0]])
SAMPLES += [
    *reducing("multi_margin_loss", randn(5, 4), CLASSES, reference=multi_margin),
    *reducing(
        "multi_margin_loss", randn(5, 4), CLASSES, reference=lambda x, y: multi_margin(x, y, 2), options={"p": 2},
        gradgrad=False,
    ),
    *reducing("multilabel_margin_loss", X, LABELS, reference=multilabel_margin),
    *reducing(
        "margin_ranking_loss", X, Y, SIGNS, reference=lambda x, y, s: np.maximum(0, 0.3 - s * (x - y)),
        options={"margin": 0.3}, grad=False,
    ),
    *reducing(
        "cosine_embedding_loss", X, Y, np.array([1, -1, 1]),
        reference=lambda x, y, t: np.where(t == 1, 1 - cosine(x, y), np.maximum(0, cosine(x, y) + 0.5)),
        options={"margin": -0.5},
    ),
    *reducing(
        "triplet_margin_loss", X, Y, Z,
        reference=lambda a, b, c: np.maximum(0, distance(a, b) - distance(a, c) + 5), options={"margin": 5.0},
    ),
    *reducing(
        "triplet_margin_loss", X, Y, Z,
        reference=lambda a, b, c: np.maximum(
            0, distance(a, b, 3) - np.minimum(distance(a, c, 3), distance(b, c, 3)) + 5),
        options={"margin": 5.0, "p": 3, "swap": True},
    ),
    *reducing(
        "triplet_margin_with_distance_loss", X, Y, Z,
        reference=lambda a, b, c: np.maximum(0, distance(a, b) - distance(a, c) + 5), options={"margin": 5.0},
    ),
    Sample("cosine_similarity", lambda x, y: tp.cosine_similarity(x, y, dim=-1), X, Y, reference=cosine),
    Sample("cosine_similarity, broadcast", F.cosine_similarity, X, Y[:1], reference=cosine),
    Sample("pairwise_distance", lambda x, y: F.pairwise_distance(x, y, p=3.0), X, Y,
           reference=lambda x, y: distance(x, y, 3)),
    Sample("pdist", tp.pdist, X, reference=lambda x: np.sqrt([
        ((x[i] - x[j]) ** 2).sum() for i in range(3) for j in range(i + 1, 3)])),
    Sample("normalize", F.normalize, X, reference=lambda x: x / np.sqrt((x * x).sum(1, keepdims=True))),
    Sample("normalize to sums", lambda x: F.normalize(x, p=1, dim=0), X,
           reference=lambda x: x / np.abs(x).sum(0, keepdims=True)),
]  # fmt: skip

# ---- ctc


def ctc(logp, targets, input_lengths, target_lengths):
    """The sum over all paths, path by path."""
    import itertools

    losses = []
    for n, (times, length) in enumerate(zip(input_lengths, target_lengths)):
        total = 0.0
        for path in itertools.product(range(logp.shape[2]), repeat=int(times)):
            labels = [k for k, _ in itertools.groupby(path) if k != 0]
            if labels == list(targets[n, :length]):
                total += np.exp(sum(logp[t, n, k] for t, k in enumerate(path)))
        losses.append(-np.log(total))
    return np.array(losses)


TARGETS, TIMES, LENGTHS = np.array([[1, 1], [2, 1]]), np.array([4, 3]), np.array([2, 1])
SAMPLES += [
    Sample(
        f"ctc_loss, {reduction}",
        lambda x, t, i, n, reduction=reduction: F.ctc_loss(F.log_softmax(x, -1), t, i, n, reduction=reduction),
        randn(4, 2, 3), TARGETS, TIMES, LENGTHS,
        reference=lambda x, t, i, n, reduction=reduction: REDUCTIONS[reduction](
            ctc(scipy.special.log_softmax(x, -1), t, i, n) / (LENGTHS if reduction == "mean" else 1)),
    )
    for reduction in REDUCTIONS
]  # fmt: skip
