"""Operators of neural networks: errors, low precision, large arrays, running moments, randomness, in-place forms."""

import warnings

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.nn.functional as F
from tensorplay.core import threads

EYE = tp.eye(3)
ERRORS = [
    (lambda: F.linear(tp.ones(2, 3), tp.ones(4, 5)), RuntimeError, r"cannot be multiplied \(2x3 and 5x4\)"),
    (lambda: F.linear(tp.ones(3), tp.ones(2, 3, dtype=tp.float64)), RuntimeError, "same dtype"),
    (lambda: F.embedding(tp.tensor([3]), EYE), IndexError, "index out of range in self"),
    (lambda: F.embedding(tp.tensor([-1]), EYE), IndexError, "index out of range in self"),
    (lambda: F.embedding(tp.tensor([1.0]), EYE), RuntimeError, "Long, Int"),
    (lambda: F.cross_entropy(EYE, tp.tensor([0, 1, 10])), IndexError, "Target 10 is out of bounds"),
    (lambda: F.cross_entropy(EYE, tp.tensor([0, 1, -1])), IndexError, "Target -1 is out of bounds"),
    (lambda: F.cross_entropy(EYE, tp.tensor([0, 1])), ValueError, "input batch_size"),
    (lambda: F.nll_loss(EYE, tp.tensor([0.0, 1.0, 2.0])), RuntimeError, "expected scalar type Long"),
    (lambda: F.cross_entropy(EYE, tp.tensor([0, 1, 2]), tp.ones(2)), RuntimeError, "all 3 classes or no classes"),
    (lambda: F.cross_entropy(EYE, tp.tensor([0, 1, 2]), label_smoothing=2.0), RuntimeError, "between 0.0 and 1.0"),
    (lambda: F.mse_loss(EYE, EYE, reduction="average"), ValueError, "not a valid value for reduction"),
    (lambda: F.binary_cross_entropy(2 * EYE, EYE), RuntimeError, "between 0 and 1"),
    (lambda: F.gaussian_nll_loss(EYE, EYE, -EYE), ValueError, "negative"),
    (lambda: F.softmax(EYE, 2), IndexError, r"\[-2, 1\], but got 2"),
    (lambda: F.softmax(tp.arange(3), 0), RuntimeError, "not implemented for"),
    (lambda: F.layer_norm(EYE, (2,)), RuntimeError, "expected input with shape"),
    (lambda: F.batch_norm(tp.ones(1, 3), None, None, training=True), ValueError, "more than 1 value per channel"),
    (lambda: F.group_norm(tp.ones(2, 3, 4), 2), RuntimeError, "divisible by num_groups"),
    (
        lambda: F.conv2d(tp.ones(1, 2, 4, 4), tp.ones(1, 3, 2, 2)),
        RuntimeError,
        "to have 3 channels, but got 2 channels",
    ),
    (lambda: F.conv2d(tp.ones(1, 1, 2, 2), tp.ones(1, 1, 3, 3)), RuntimeError, "greater than actual input size"),
    (lambda: F.conv1d(tp.ones(4), tp.ones(1, 1, 2)), RuntimeError, "Expected 2D"),
    (lambda: F.conv1d(tp.ones(1, 1, 4), tp.ones(1, 1, 2), padding="some"), RuntimeError, "Invalid padding string"),
    (lambda: F.conv1d(tp.ones(1, 1, 4), tp.ones(1, 1, 2), padding="same", stride=2), RuntimeError, "strided"),
    (lambda: F.max_pool2d(tp.ones(1, 1, 4, 4), 2, padding=2), RuntimeError, "at most half of effective kernel size"),
    (lambda: F.max_pool2d(tp.ones(1, 1, 1, 1), 2), RuntimeError, "Output size is too small"),
    (lambda: F.pad(EYE, (3, 0), mode="reflect"), RuntimeError, "less than the corresponding input dimension"),
    (lambda: F.pad(EYE, (1,)), RuntimeError, "divisible by 2"),
    (lambda: F.dropout(EYE, 1.5), ValueError, "between 0 and 1"),
    (lambda: F.one_hot(tp.tensor([3]), 3), RuntimeError, "smaller than num_classes"),
    (lambda: tp.vmap(lambda i: F.one_hot(i))(tp.tensor([1, 2])), RuntimeError, "give num_classes"),
    (lambda: F.interpolate(EYE[None], size=2, mode="cubic"), NotImplementedError, "nearest"),
    (lambda: F.scaled_dot_product_attention(EYE, EYE, EYE, EYE, is_causal=True), RuntimeError, "Explicit attn_mask"),
]


@pytest.mark.parametrize("call, error, words", ERRORS, ids=[words for *_, words in ERRORS])
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


LOW = {
    "linear": lambda x: F.linear(x, x, x[0]),
    "softmax": lambda x: F.softmax(x, 1),
    "log_softmax": lambda x: F.log_softmax(x, 0),
    "cross_entropy": lambda x: F.cross_entropy(x, tp.arange(4)),
    "layer_norm": lambda x: F.layer_norm(x, (4,), x[0], x[1]),
    "batch_norm": lambda x: F.batch_norm(x, None, None, x[0], x[1], True),
    "gelu": F.gelu,
    "mse_loss": lambda x: F.mse_loss(x, x * x),
    "conv1d": lambda x: F.conv1d(x[None], x[:, :, None], x[0]),
    "avg_pool1d": lambda x: F.avg_pool1d(x[None], 3, 1, 1),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
    "embedding": lambda x: F.embedding(tp.tensor([0, 2, 0]), x),
}


@pytest.mark.parametrize("dtype", [tp.float16, tp.bfloat16])
@pytest.mark.parametrize("name", LOW)
def test_16_bit_floats_are_computed_in_more(name, dtype):
    """Results and gradients have the dtype of the input, and the error of rounding once."""
    eps = {tp.float16: 2e-3, tp.bfloat16: 2e-2}[dtype]
    x = tp.tensor(np.random.default_rng(0).normal(size=(4, 4))).to(dtype).requires_grad_()
    exact = x.detach().double().requires_grad_()
    out, want = LOW[name](x), LOW[name](exact)
    assert out.dtype is dtype
    (g,) = tp.autograd.grad(out.sum(), [x])
    (w,) = tp.autograd.grad(want.sum(), [exact])
    assert g.dtype is dtype
    np.testing.assert_allclose(out.detach().double().numpy(), want.detach().numpy(), rtol=eps, atol=2 * eps)
    np.testing.assert_allclose(g.double().numpy(), w.numpy(), rtol=4 * eps, atol=10 * eps)


def test_sums_of_16_bit_cotangents_do_not_stop_growing():
    bias = tp.zeros(1, dtype=tp.bfloat16, requires_grad=True)
    (tp.ones(3000, 1, dtype=tp.bfloat16) + bias).backward(tp.ones(3000, 1, dtype=tp.bfloat16))
    assert abs(bias.grad.item() - 3000) < 20


LARGE = {
    "softmax": lambda x: F.softmax(x, -1),
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "cross_entropy": lambda x: F.cross_entropy(x, tp.arange(x.shape[0]) % x.shape[1], reduction="none"),
    "gelu": F.gelu,
    "gelu, tanh": lambda x: F.gelu(x, approximate="tanh"),
}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", LARGE)
def test_large_arrays_go_in_blocks_and_threads(name, count):
    """Every block is as it would be alone, with its gradient."""
    before = threads.workers.count
    tp.set_num_threads(count)
    try:
        x = tp.randn(1500, 800, generator=tp.Generator().manual_seed(0)) * 3
        x.requires_grad_()
        out = LARGE[name](x)
        (g,) = tp.autograd.grad(out, [x], out.detach())
        for rows in (slice(0, 20), slice(700, 720), slice(1480, 1500)):
            part = x.detach()[rows].double().requires_grad_()
            if name == "cross_entropy":
                want = F.cross_entropy(part, tp.arange(1500)[rows] % 800, reduction="none")
            else:
                want = LARGE[name](part)
            (w,) = tp.autograd.grad(want, [part], out.detach()[rows].double())
            np.testing.assert_allclose(out.detach()[rows].numpy(), want.detach().numpy(), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(g[rows].numpy(), w.numpy(), rtol=1e-3, atol=2e-5)
    finally:
        tp.set_num_threads(before)


def test_an_error_in_a_thread_is_raised():
    before = threads.workers.count
    tp.set_num_threads(2)
    try:
        with pytest.raises(ZeroDivisionError):
            threads.share(lambda part: 1 // part, [1, 1, 0, 1], 1 << 30)
    finally:
        tp.set_num_threads(before)


def test_convolution_of_many_images_goes_in_chunks():
    x, w = tp.randn(60, 8, 20, 20, dtype=tp.float64), tp.randn(6, 8, 3, 3, dtype=tp.float64)
    for options in ({"padding": 1}, {"stride": 2}, {"dilation": 2}):
        whole = F.conv2d(x, w, **options)
        parts = tp.cat([F.conv2d(x[i : i + 1], w, **options) for i in range(60)])
        assert tp.allclose(whole, parts)
        ws = w.clone().requires_grad_()
        (g,) = tp.autograd.grad(F.conv2d(x, ws, **options).sum(), [ws])
        each = [tp.autograd.grad(F.conv2d(x[i : i + 1], ws, **options).sum(), [ws])[0] for i in range(60)]
        assert tp.allclose(g, sum(each))


def test_running_moments_move_towards_those_of_the_batch():
    x = tp.randn(6, 3, 4, dtype=tp.float64)
    mean, var = tp.zeros(3, dtype=tp.float64), tp.ones(3, dtype=tp.float64)
    F.batch_norm(x, mean, var, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.25 * x.numpy().mean((0, 2)))
    np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * x.numpy().var((0, 2), ddof=1))
    before = mean.clone(), var.clone()
    out = F.batch_norm(x, mean, var)
    assert tp.equal(mean, before[0]) and tp.equal(var, before[1])
    want = (x.numpy() - mean.numpy()[:, None]) / np.sqrt(var.numpy()[:, None] + 1e-5)
    np.testing.assert_allclose(out.numpy(), want)


def test_padding_index_and_frequency_scale_the_gradient_of_an_embedding():
    w = tp.ones(4, 2, requires_grad=True)
    i = tp.tensor([0, 1, 1, 3])
    F.embedding(i, w, padding_idx=0).sum().backward()
    assert w.grad.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]
    (g,) = tp.autograd.grad(F.embedding(i, w, scale_grad_by_freq=True).sum(), [w])
    assert g.tolist() == [[1, 1], [1, 1], [0, 0], [1, 1]]


def test_max_norm_scales_used_rows_in_place():
    w = tp.tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]])
    out = F.embedding(tp.tensor([0, 1]), w, max_norm=1.0)
    np.testing.assert_allclose(out.numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-5)
    assert w[2].tolist() == [30, 40] and w._version == 1


def test_dropout_keeps_the_mean():
    tp.manual_seed(0)
    x = tp.ones(200, 200, requires_grad=True)
    out = F.dropout(x, 0.25)
    assert set(out.detach().unique().tolist()) == {0.0, tp.tensor(4 / 3).item()}
    assert abs(out.mean().item() - 1) < 0.02
    (g,) = tp.autograd.grad(out.sum(), [x])
    assert tp.equal(g, out.detach())
    assert F.dropout(x, 0.5, training=False) is x
    whole = F.dropout2d(tp.ones(50, 20, 3, 3), 0.5)
    assert tp.equal(whole, whole[:, :, :1, :1].expand(50, 20, 3, 3))


def test_alpha_dropout_keeps_mean_and_variance():
    tp.manual_seed(0)
    out = F.alpha_dropout(tp.randn(300, 300), 0.2, training=True)
    assert abs(out.mean().item()) < 0.02 and abs(out.std().item() - 1) < 0.02


def test_gumbel_softmax_samples_classes():
    tp.manual_seed(0)
    logits = tp.tensor([0.2, 0.3, 0.5]).log().expand(4000, 3)
    hard = F.gumbel_softmax(logits, hard=True)
    assert set(hard.unique().tolist()) == {0.0, 1.0} and tp.equal(hard.sum(1), tp.ones(4000))
    np.testing.assert_allclose(hard.mean(0).numpy(), [0.2, 0.3, 0.5], atol=0.03)


INPLACE = ["relu", "relu6", "elu", "selu", "celu", "leaky_relu", "hardtanh", "hardsigmoid", "hardswish", "silu", "mish"]


@pytest.mark.parametrize("name", INPLACE)
def test_inplace_activations_write_into_their_input(name):
    x = tp.linspace(-4, 4, 9)
    want, y = getattr(F, name)(x), x * 1
    assert getattr(F, name)(y, inplace=True) is y
    assert tp.equal(y, want)
    leaf = x.clone().requires_grad_()
    (g,) = tp.autograd.grad(getattr(F, name)(leaf * 1, inplace=True).sum(), [leaf])
    (w,) = tp.autograd.grad(getattr(F, name)(leaf).sum(), [leaf])
    assert tp.equal(g, w)


def test_kinks_have_the_gradients_of_pytorch():
    for fn, at, slope in (
        (F.relu, 0.0, 0.0), (F.relu6, 6.0, 0.0), (F.hardtanh, 1.0, 0.0), (lambda x: F.leaky_relu(x, 0.5), 0.0, 0.5),
        (F.hardsigmoid, 3.0, 0.0), (F.hardshrink, 0.5, 0.0), (F.softshrink, 0.5, 0.0), (F.elu, 0.0, 1.0),
        (lambda x: F.l1_loss(x, tp.zeros(1)), 0.0, 0.0), (lambda x: F.threshold(x, 1.0, 0.0), 1.0, 0.0),
    ):  # fmt: skip
        x = tp.tensor([at], requires_grad=True)
        (g,) = tp.autograd.grad(fn(x).sum(), [x])
        assert g.item() == slope


@pytest.mark.parametrize(
    "fn, slope",
    [
        (F.relu, 1), (F.relu6, 1), (F.hardtanh, 1), (F.elu, 1), (F.selu, 1.0507009873554805), (F.celu, 1),
        (F.hardswish, 1), (F.hardshrink, 1), (F.softshrink, 1), (lambda x: F.threshold(x, 0.0, 1.0), 1),
        (F.hardsigmoid, 0), (lambda x: x.clamp(0, 1), 0), (tp.abs, 0), (tp.nan_to_num, 0),
        (lambda x: F.l1_loss(x, tp.zeros(1)), 0), (lambda x: F.smooth_l1_loss(x, tp.zeros(1)), tp.nan),
        (lambda x: F.huber_loss(x, tp.zeros(1)), tp.nan), (lambda x: F.hinge_embedding_loss(x, -tp.ones(1)), 0),
        (lambda x: F.margin_ranking_loss(x, tp.zeros(1), tp.ones(1)), 0), (F.gelu, tp.nan), (F.silu, tp.nan),
    ],
)  # fmt: skip
def test_gradients_at_nan(fn, slope):
    x = tp.tensor([tp.nan], dtype=tp.float64, requires_grad=True)
    (g,) = tp.autograd.grad(fn(x).sum(), [x], create_graph=True)
    assert g.item() == pytest.approx(slope, nan_ok=True)
    _, tangent = tp.func.jvp(fn, (x.detach(),), (tp.ones(1, dtype=tp.float64),))
    assert tangent.item() == pytest.approx(slope, nan_ok=True)


def test_the_first_of_equal_maxima_receives_the_gradient():
    x = tp.ones(1, 1, 2, 4, requires_grad=True)
    (g,) = tp.autograd.grad(F.max_pool2d(x, 2).sum(), [x])
    assert g.tolist() == [[[[1, 0, 1, 0], [0, 0, 0, 0]]]]
    x = tp.tensor([[[1.0, tp.nan, 3.0, 2.0]]], requires_grad=True)
    out = F.max_pool1d(x, 2)
    (g,) = tp.autograd.grad(out.sum(), [x])
    assert np.isnan(out.detach().numpy()[0, 0, 0]) and g.tolist() == [[[0, 1, 1, 0]]]


def test_softmax_without_dim_warns_and_chooses():
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        out = F.softmax(tp.zeros(2, 4))
    assert out[0, 0].item() == 0.25


def test_losses_of_different_shapes_warn():
    with pytest.warns(UserWarning, match="different to the input size"):
        assert F.mse_loss(tp.zeros(2, 1), tp.ones(2)).item() == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.mse_loss(tp.zeros(2), tp.ones(2))


def test_rows_that_are_masked_altogether_attend_to_nothing():
    mask = tp.tensor([[True, False], [False, False]])
    x = tp.randn(2, 2, requires_grad=True)
    out = F.scaled_dot_product_attention(x, x, x, mask)
    assert tp.equal(out[1], tp.zeros(2)) and tp.equal(out[0], x[0])
    (g,) = tp.autograd.grad(out.sum(), [x])
    assert np.isfinite(g.numpy()).all()


def test_a_normalised_output_may_be_overwritten():
    """The reverse rule keeps what it needs apart from the result."""
    x = tp.randn(3, 4, requires_grad=True)
    (want,) = tp.autograd.grad(F.layer_norm(x, (4,)).sin().sum(), [x])
    out = F.layer_norm(x, (4,))
    y = out.sin()
    with tp.no_grad():
        out.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    out = F.layer_norm(x, (4,))
    (g,) = tp.autograd.grad(out.mul_(2).sum(), [x])
    np.testing.assert_allclose(g.numpy(), 0, atol=1e-5)
    assert want.shape == x.shape


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_ctc_loss_of_a_target_that_does_not_fit(reduction):
    x = tp.randn(2, 1, 3, requires_grad=True)
    arguments = (x.log_softmax(2), tp.tensor([[1, 1]]), (2,), (2,))
    assert F.ctc_loss(*arguments, reduction=reduction).item() == np.inf
    loss = F.ctc_loss(*arguments, reduction=reduction, zero_infinity=True)
    (g,) = tp.autograd.grad(loss, [x])
    assert loss.item() == 0 and not g.any()


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: F.max_pool2d(x, 1), lambda x: F.avg_pool2d(x, 1), lambda x: F.unfold(x, 1),
        lambda x: F.pad(x, (0, 0)),
        lambda x: F.conv2d(x, tp.ones(1, 1, 1, 1)), lambda x: F.interpolate(x, (3, 3)),
        lambda x: F.adaptive_max_pool2d(x, 3),
        lambda x: F.adaptive_avg_pool2d(x, 3), F.relu, F.gelu,
    ],
)  # fmt: skip
def test_results_have_memory_of_their_own(fn):
    x = tp.ones(1, 1, 3, 3)
    fn(x).zero_()
    assert x.all()
