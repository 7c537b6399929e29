"""What oneDNN and NumPy compute is the same, in values, in gradients and in what they refuse."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.backends import onednn

F = tp.nn.functional
CONVOLUTIONS = [  # of an input of a shape with a weight of a shape
    ((2, 3, 8), (4, 3, 3), {}),
    ((2, 3, 8), (4, 3, 3), {"stride": 2, "padding": 2, "dilation": 2}),
    ((2, 3, 7, 9), (5, 3, 3, 2), {"padding": (1, 0)}),
    ((2, 4, 9, 8), (6, 2, 3, 3), {"groups": 2, "stride": (2, 1)}),
    ((2, 16, 9, 9), (16, 1, 3, 3), {"groups": 16, "padding": 1, "dilation": 2}),
    ((1, 8, 6, 6), (8, 8, 1, 1), {}),
    ((3, 1, 12, 12), (16, 1, 5, 5), {"padding": 2}),
    ((2, 2, 5, 6, 7), (4, 2, 3, 2, 1), {"stride": (1, 2, 1), "padding": (1, 0, 0)}),
    ((2, 2, 5, 6, 7), (4, 1, 3, 3, 3), {"groups": 2, "padding": 1}),
]
needed = pytest.mark.skipif(not onednn.is_available(), reason="the library of the extra `onednn` is not installed")


def operands(shape, window, seed=0):
    random = np.random.default_rng(seed)
    arrays = (random.normal(size=s).astype(np.float32) for s in (shape, window, window[:1]))
    return [tp.tensor(a, requires_grad=True) for a in arrays]


def results(convolve, tensors):
    """Value, gradients, and gradients of the gradients."""
    y = convolve(*tensors)
    grads = tp.autograd.grad((y * y).sum(), tensors, create_graph=True)
    second = tp.autograd.grad(sum((g * g).sum() for g in grads), tensors)
    return [t.detach().numpy() for t in (y, *grads, *second)]


def both_ways(convolve, tensors):
    with onednn.flags(enabled=False):
        want = results(convolve, tensors)
    for g, w in zip(results(convolve, tensors), want):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5 * np.abs(w).max())


def of_dimension(name, shape):
    return getattr(F, f"{name}{len(shape) - 2}d")


@needed
@pytest.mark.parametrize("shape, window, options", CONVOLUTIONS)
def test_both_libraries_give_the_same_convolution(shape, window, options):
    convolve = of_dimension("conv", shape)
    both_ways(lambda x, w, b: convolve(x, w, b, **options), operands(shape, window))
    both_ways(lambda x, w: convolve(x, w, **options), operands(shape, window)[:2])


@needed
@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1, "output_padding": 1}, {"groups": 2}])
def test_both_libraries_give_the_same_transposed_convolution(options):
    x, w, _ = operands((2, 4, 5, 6), (4, 3, 3, 3))
    both_ways(lambda x, w: F.conv_transpose2d(x, w, **options), [x, w])


@needed
@pytest.mark.parametrize(
    "arranged",
    [
        lambda x: x.contiguous(memory_format=tp.channels_last),
        lambda x: x.transpose(2, 3),
        lambda x: x[:, :, ::2, 1:],
        lambda x: x[:, :1].expand(-1, 4, -1, -1),
        lambda x: x[:1].expand(3, -1, -1, -1),
    ],
)
def test_the_operands_may_lie_in_any_order(arranged):
    x, w, b = operands((3, 4, 9, 9), (5, 4, 3, 3))
    both_ways(lambda x, w, b: F.conv2d(arranged(x), w, b), [x, w, b])
    both_ways(lambda x, w, b: F.conv2d(x, w.transpose(2, 3), b), [x, w, b])


@pytest.mark.parametrize("window", [(6, 4, 3, 3), (6, 4, 1, 1), (4, 1, 3, 3)])
@pytest.mark.parametrize("enabled", [True, False])
def test_channels_that_lie_last_do_so_in_results_and_gradients(window, enabled):
    x, w, b = operands((2, 4, 5, 6), window)
    groups = 4 // window[1]
    y = F.conv2d(x, w, b, padding=1, groups=groups)
    want = tp.autograd.grad((y * y).sum(), x)[0]
    last = {"memory_format": tp.channels_last}
    x_last, w_last = x.contiguous(**last), w.contiguous(**last)
    with onednn.flags(enabled=enabled):
        for pair in ((x_last, w), (x, w_last), (x_last, w_last)):
            expected = any(not t.is_contiguous() for t in pair)
            got = F.conv2d(*pair, b, padding=1, groups=groups)
            assert got.is_contiguous(**last) == expected and tp.allclose(got, y, atol=1e-4)
            (grad,) = tp.autograd.grad((got * got).sum(), pair[0])
            assert grad.is_contiguous(**last) == expected and tp.allclose(grad, want, atol=1e-3)


@needed
def test_under_vmap_each_example_has_a_weight_of_its_own():
    x, w, _ = operands((3, 2, 4, 8, 8), (3, 6, 4, 3, 3))
    got = tp.vmap(lambda x, w: F.conv2d(x, w, padding=1))(x, w)
    with onednn.flags(enabled=False):
        want = tp.stack([F.conv2d(*pair, padding=1) for pair in zip(x, w)])
    assert tp.allclose(got, want, atol=1e-4)


@needed
def test_every_thread_has_primitives_of_its_own():
    x, w, b = (t.detach() for t in operands((4, 8, 20, 20), (8, 8, 3, 3)))
    want, got = F.conv2d(x, w, b), {}

    def work(i):
        got[i] = [F.conv2d(x, w, b) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(got) == 4 and all(tp.equal(y, want) for ys in got.values() for y in ys)


@needed
def test_primitives_are_kept_by_shape_and_the_oldest_go_first(monkeypatch):
    monkeypatch.setattr(onednn, "KEPT", 3)
    calls = onednn.library().ours().calls
    while calls:
        call = calls.popitem()[1]
        if call is not None:
            call.destroy()
    w = tp.ones(2, 2, 3, 3)
    for size in (5, 6, 5, 7, 8, 5):
        assert F.conv2d(tp.ones(1, 2, size, size), w).unique().tolist() == [18]
    assert len(calls) == 3


@needed
def test_the_number_of_threads_is_obeyed(monkeypatch):
    monkeypatch.setattr(onednn, "SMALL", 1 << 20)
    x, w, b = (t.detach() for t in operands((16, 16, 32, 32), (16, 16, 3, 3)))
    before, values = tp.get_num_threads(), []
    try:
        for n in (1, 2):
            tp.set_num_threads(n)
            values.append(F.conv2d(x, w, b))
            assert onednn.library().ours().threads == n
        F.conv2d(x[:1, :, :9, :9], w, b)
        assert onednn.library().ours().threads == 1  # for there is little to do
    finally:
        tp.set_num_threads(before)
    assert tp.allclose(*values, atol=1e-5)


@needed
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_a_forked_process_does_not_wait_for_threads_of_its_parent():
    program = """
import os
import tensorplay as tp
tp.backends.onednn.SMALL = 0
x, w = tp.randn(16, 16, 32, 32), tp.randn(16, 16, 3, 3)
tp.set_num_threads(2)
convolve = lambda: tp.nn.functional.max_pool2d(tp.nn.functional.conv2d(x, w), 2)
y = convolve()
child = os.fork()
if child == 0:
    os._exit(0 if tp.equal(convolve(), y) else 1)
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) == 0


def test_what_does_not_suit_the_library_is_computed_without_it():
    for x in (tp.ones(1, 1, 4, 4, dtype=tp.float64), tp.ones(0, 1, 4, 4)):
        assert not onednn.suits(x.numpy(), x.numpy())
    with onednn.flags(enabled=False):
        assert not onednn.suits(np.ones((1, 1, 4, 4), np.float32))
        with onednn.flags(enabled=True):
            assert onednn.enabled
        assert not onednn.enabled
    assert onednn.enabled


def test_half_precision_is_computed_in_float32():
    x, w, _ = (t.detach() for t in operands((2, 3, 6, 6), (4, 3, 3, 3)))
    for dtype, tolerance in ((tp.float16, 1e-2), (tp.bfloat16, 1e-1)):
        y = F.conv2d(x.to(dtype), w.to(dtype))
        assert y.dtype is dtype and tp.allclose(y.float(), F.conv2d(x, w), atol=tolerance, rtol=tolerance)


POOLS = [  # shape, window and options
    ((2, 16, 8, 12), 2, {}),
    ((2, 20, 9, 10), (3, 2), {"stride": (2, 1)}),
    ((3, 16, 9, 9), 3, {"stride": 2, "padding": 1}),
    ((2, 32, 8, 7), 3, {"stride": 2, "padding": 1, "ceil_mode": True}),
    ((2, 16, 7, 8), 2, {"ceil_mode": True}),
    ((16, 9, 9), 3, {"stride": 1, "padding": 1}),
    ((2, 32, 7, 7), 7, {}),
    ((2, 16, 6, 5, 7), 2, {}),
    ((2, 16, 6, 5, 7), (2, 3, 3), {"stride": (1, 2, 2), "padding": (1, 0, 1)}),
    ((2, 3, 8, 8), 2, {}),  # what the library is slow at
    ((2, 16, 12), 3, {"stride": 2}),
]
LASTS = {4: tp.channels_last, 5: tp.channels_last_3d}


def poolings(shape, window, options):
    """Poolings of all kinds that take the options, by name."""
    n = 1 if len(shape) == 3 and isinstance(window, int) and shape[1] != shape[2] else max(2, len(shape) - 2)
    maximum, mean = (getattr(F, f"{kind}_pool{n}d") for kind in ("max", "avg"))
    yield "max", lambda x: maximum(x, window, **options)
    yield "max with indices", lambda x: maximum(x, window, **options, return_indices=True)[0]
    yield "avg", lambda x: mean(x, window, **options)
    yield "avg of what is inside", lambda x: mean(x, window, **options, count_include_pad=False)
    if n > 1:
        yield "avg by another divisor", lambda x: mean(x, window, **options, divisor_override=5)


CASES = [
    pytest.param(pool, shape, last, id=f"{name} {shape} {window} {options}{' channels last' * last}")
    for shape, window, options in POOLS
    for name, pool in poolings(shape, window, options)
    for last in (False, True)
    if not last or len(shape) in LASTS
]


def images(shape, last=False, seed=0):
    """Random images with ties, so that the choice among equals counts."""
    x = tp.tensor(np.random.default_rng(seed).integers(-9, 9, shape).astype(np.float32) / 2)
    return (x.contiguous(memory_format=LASTS[len(shape)]) if last else x).requires_grad_()


@needed
@pytest.mark.parametrize("pool, shape, last", CASES)
def test_both_libraries_pool_alike(pool, shape, last):
    x = images(shape, last)
    both_ways(pool, [x])
    order = LASTS[len(shape)] if last else tp.contiguous_format
    for enabled in (True, False):
        with onednn.flags(enabled=enabled):
            assert pool(x).is_contiguous(memory_format=order)
    tangent = images(shape, seed=1).detach()
    value, got = tp.func.jvp(pool, (x.detach(),), (tangent,))
    with onednn.flags(enabled=False):
        assert tp.allclose(got, tp.func.jvp(pool, (x.detach(),), (tangent,))[1], atol=1e-5)
    batched = tp.vmap(pool)(tp.stack([x.detach(), tangent]))
    assert tp.allclose(batched[0], value, atol=1e-5) and tp.allclose(batched[1], pool(tangent), atol=1e-5)


@needed
@pytest.mark.parametrize("shape, window, options", POOLS)
@pytest.mark.parametrize("special", [np.nan, -np.inf, np.inf])
def test_both_libraries_choose_the_same_positions(shape, window, options, special):
    n = 1 if shape == (2, 16, 12) else max(2, len(shape) - 2)
    maximum, x = getattr(F, f"max_pool{n}d"), images(shape)
    rows = x.detach().clone()
    rows[..., :3] = special
    for input in (x, rows.requires_grad_()):
        found = []
        for enabled in (True, False):
            with onednn.flags(enabled=enabled):
                values, where = maximum(input, window, **options, return_indices=True)
                (grad,) = tp.autograd.grad(maximum(input, window, **options).sum(), input)
                found.append([values.detach().numpy(), where.numpy(), grad.numpy()])
        for got, want in zip(*found):
            np.testing.assert_array_equal(got, want)


@needed
def test_a_gradient_may_come_in_another_order_and_after_the_library_was_turned_off():
    for last in (False, True):
        x = images((2, 16, 8, 8), last)
        g = images((2, 16, 4, 4), not last, seed=1).detach()
        y = F.max_pool2d(x, 2)
        with onednn.flags(enabled=False):
            got = tp.autograd.grad(y, x, g)[0]
            want = tp.autograd.grad(F.max_pool2d(x, 2), x, g)[0]
        assert tp.equal(got, want)


@needed
def test_a_maximum_without_a_rule_of_the_library_for_its_gradient(monkeypatch):
    x = images((2, 16, 8, 8))
    (want,) = tp.autograd.grad(F.max_pool2d(x, 3, 2).sum(), x)
    y = F.max_pool2d(x, 3, 2)
    monkeypatch.setattr(onednn, "max_pool_input", lambda *args: None)
    (got,) = tp.autograd.grad(y.sum(), x)
    assert tp.equal(got, want)


@needed
def test_shapes_without_code_of_their_own_are_asked_about_once(monkeypatch):
    x, asked = images((2, 3, 10, 10)).detach(), []
    monkeypatch.setattr(onednn, "is_compiled", lambda lib, plan: asked.append(plan))
    for _ in range(3):
        assert F.max_pool2d(x, 5).shape == (2, 3, 2, 2)
    assert len(asked) == 1


@needed
@pytest.mark.parametrize("dtype, tolerance", [(tp.float16, 1e-2), (tp.bfloat16, 1e-1), (tp.float64, 0)])
def test_pooling_in_other_precisions(dtype, tolerance):
    x = images((2, 16, 8, 8)).detach().to(dtype).requires_grad_()
    for pool in (F.max_pool2d, F.avg_pool2d):
        y = pool(x, 2)
        (g,) = tp.autograd.grad(y.sum(), x)
        assert y.dtype is g.dtype is dtype
        assert tp.allclose(y.float(), pool(x.float(), 2), atol=tolerance, rtol=tolerance)


def normalised(**options):
    return lambda x, *vectors: F.batch_norm(x, None, None, *vectors, training=True, **options)


@needed
@pytest.mark.parametrize("shape", [(4, 16, 5, 6), (3, 20, 4, 4), (2, 16, 3, 4, 5)])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_both_libraries_normalise_batches_alike(shape, count):
    random = np.random.default_rng(0)
    x = images(shape, True).detach() + 100  # far from zero, where a difference of squares would be of no use
    vectors = [tp.tensor(random.normal(size=shape[1]).astype(np.float32), requires_grad=True) for _ in range(count)]
    both_ways(lambda *args: normalised(eps=1e-3)(*args).sin(), [x.requires_grad_(), *vectors])
    y = normalised()(x, *vectors)
    assert y.is_contiguous(memory_format=LASTS[len(shape)])
    g = images(shape, seed=1).detach()
    with onednn.flags(enabled=False):
        want = tp.autograd.grad(normalised()(x, *vectors), [x, *vectors], g)
    for enabled in (True, False):  # a gradient in another order; and one after the library was turned off
        y = normalised()(x, *vectors)
        with onednn.flags(enabled=enabled):
            got = tp.autograd.grad(y, [x, *vectors], g)
        assert all(tp.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in zip(got, want))


@needed
def test_running_statistics_and_half_precision_of_normalised_batches():
    x = images((4, 16, 5, 6), True).detach() + 3
    found = []
    for enabled in (True, False):
        layer = tp.nn.BatchNorm2d(16)
        with onednn.flags(enabled=enabled):
            layer(x)
            half = x.half().requires_grad_()
            y = F.batch_norm(half, None, None, training=True)
            (g,) = tp.autograd.grad(y, half, (x * x).half())
        assert y.dtype is g.dtype is tp.float16
        found.append((layer.running_mean, layer.running_var, y.detach().float(), g.float()))
    for got, want in zip(*found):
        assert tp.allclose(got, want, rtol=1e-2, atol=1e-2)


@needed
def test_batches_are_normalised_without_a_rule_of_the_library_for_their_gradient(monkeypatch):
    x = images((4, 16, 5, 6), True)
    w, b = (tp.ones(16).requires_grad_() for _ in range(2))
    y = normalised()(x, w, b)
    want = tp.autograd.grad((y * y * y).sum(), [x, w, b], retain_graph=True)
    monkeypatch.setattr(onednn, "batch_norm_input", lambda *args: None)
    got = tp.autograd.grad((y * y * y).sum(), [x, w, b])
    assert all(tp.allclose(a, c, rtol=1e-3, atol=1e-3) for a, c in zip(got, want))
