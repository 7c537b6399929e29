"""Mixed precision: which operators compute in which dtype (as PyTorch's do), and the scaling of gradients."""

import threading

import pytest

import tensorplay as tp
from tensorplay import amp, nn
from tensorplay.nn import functional as F

BF16, F16, F32, F64 = tp.bfloat16, tp.float16, tp.float32, tp.float64
INDEX = tp.tensor([0, 1])


def rand(*shape, dtype=F32):
    return (tp.rand(*shape) + 0.5).to(dtype)


def matrix(dtype=F32):
    return (3 * tp.eye(3)).to(dtype)


# what each computes in, given float32 and given bfloat16; r(...) makes tensors of that dtype, m() a matrix
OPERATORS = {
    (BF16, BF16): [
        lambda r, m: tp.mm(r(2, 3), r(3, 2)), lambda r, m: r(2, 3) @ r(3, 2), lambda r, m: r(2, 3).matmul(rand(3, 2)),
        lambda r, m: tp.bmm(r(2, 2, 3), r(2, 3, 2)), lambda r, m: tp.addmm(r(2, 2), r(2, 3), r(3, 2)),
        lambda r, m: tp.baddbmm(r(2, 2, 2), r(2, 2, 3), r(2, 3, 2)), lambda r, m: tp.einsum("ij,jk", r(2, 3), r(3, 2)),
        lambda r, m: tp.tensordot(r(2, 3), r(3, 2), 1), lambda r, m: F.linear(r(2, 3), rand(4, 3), rand(4)),
        lambda r, m: F.conv1d(r(1, 2, 5), rand(3, 2, 2)), lambda r, m: F.conv2d(r(1, 2, 5, 5), r(3, 2, 2, 2)),
        lambda r, m: F.conv_transpose1d(r(1, 2, 5), r(2, 3, 2)), lambda r, m: F.prelu(r(2, 3), r(3)),
        lambda r, m: F.scaled_dot_product_attention(*[r(1, 1, 2, 3) for _ in range(3)]),
        lambda r, m: tp.linalg.vecdot(r(3), r(3)), lambda r, m: tp.linalg.multi_dot([r(2, 3), r(3, 2), r(2, 2)]),
        lambda r, m: nn.Linear(3, 4)(r(2, 3)), lambda r, m: nn.Conv2d(1, 1, 1)(r(1, 1, 2, 2)),
        lambda r, m: nn.MultiheadAttention(4, 2)(*[r(2, 1, 4) for _ in range(3)])[0],
    ],
    (F32, F32): [
        lambda r, m: tp.prod(r(3)), lambda r, m: tp.quantile(r(3), 0.5), lambda r, m: tp.trace(r(3, 3)),
        lambda r, m: tp.cdist(r(2, 3), r(2, 3)), lambda r, m: tp.fft.hfft(r(4)), lambda r, m: tp.linalg.inv(m()),
        lambda r, m: tp.linalg.cholesky(m()), lambda r, m: tp.linalg.svd(m()).S, lambda r, m: tp.linalg.eigh(m())[0],
        lambda r, m: tp.linalg.solve(m(), r(3)), lambda r, m: tp.qr(m()).Q, lambda r, m: F.mse_loss(r(3), rand(3)),
        lambda r, m: F.cross_entropy(r(2, 3), INDEX), lambda r, m: F.nll_loss(r(2, 3), INDEX),
        lambda r, m: F.binary_cross_entropy_with_logits(r(3), r(3)), lambda r, m: F.l1_loss(r(3), r(3)),
        lambda r, m: F.max_pool3d(r(1, 2, 4, 4, 4), 2), lambda r, m: F.grid_sample(r(1, 1, 3, 3), r(1, 2, 2, 2)),
        lambda r, m: F.pad(r(1, 2, 3), (1, 1), "reflect"), lambda r, m: F.pad(r(1, 2, 3), (1, 1), mode="replicate"),
        lambda r, m: tp.cat([r(3), rand(3)]), lambda r, m: tp.stack([r(3), rand(3)]),
        lambda r, m: tp.index_copy(r(3), 0, INDEX, rand(2)),
    ],
    (F32, BF16): [
        lambda r, m: tp.softmax(r(3), 0), lambda r, m: tp.exp(r(3)), lambda r, m: r(3).sum(), lambda r, m: r(3) ** 2,
        lambda r, m: tp.mv(r(2, 3), r(3)), lambda r, m: tp.dot(r(3), r(3)), lambda r, m: F.pad(r(1, 2, 3), (1, 1)),
        lambda r, m: F.layer_norm(r(2, 3), (3,)), lambda r, m: F.gelu(r(3)), lambda r, m: F.embedding(INDEX, r(3, 2)),
        lambda r, m: F.avg_pool2d(r(1, 2, 4, 4), 2), lambda r, m: tp.outer(r(2), r(3)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", ["LSTM", "GRU", "LSTMCell", "GRUCell", "RNN"])
def test_states_that_gates_carry_on_are_not_rounded(name):
    layer = getattr(nn, name)(3, 4)
    x = rand(2, 3) if name.endswith("Cell") else rand(5, 2, 3)
    with tp.autocast("cpu"):
        out, low = layer(x), layer(x.bfloat16())
    first, of_low = (t[0] if isinstance(t, tuple) else t for t in (out, low))
    assert first.dtype is (BF16 if name in ("LSTM", "RNN") else F32) and of_low.dtype is BF16
    first.sum().backward()
    assert all(p.grad.dtype is F32 for p in layer.parameters())


def test_attention_with_biases_of_keys_gives_parameters_gradients_in_their_dtype():
    layer, x = nn.MultiheadAttention(4, 2, add_bias_kv=True), rand(5, 2, 4)
    with tp.autocast("cpu"):
        layer(x, x, x)[0].sum().backward()
    assert {p.grad.dtype for p in layer.parameters()} == {F32}


@pytest.mark.parametrize(("dtypes", "call"), [(d, call) for d, calls in OPERATORS.items() for call in calls])
def test_operators_compute_in_the_dtype_of_their_kind(dtypes, call):
    for given, want in zip((F32, BF16), dtypes):
        with tp.autocast("cpu"):
            got = call(lambda *shape: rand(*shape, dtype=given), lambda: matrix(given))  # noqa: B023
        assert got.dtype is want


def product():
    return (tp.ones(2, 2) @ tp.ones(2, 2)).dtype


def test_regions_nest_and_end():
    with tp.autocast("cpu"):
        seen = [product()]
        with tp.autocast("cpu", enabled=False):
            seen.append(product())
            with tp.autocast("cpu", dtype=F16):
                seen.append(product())
        seen.append(product())
    assert seen == [BF16, F32, F16, BF16] and product() is F32
    with pytest.raises(ZeroDivisionError), tp.autocast("cpu"):
        1 / 0  # noqa: B018
    assert product() is F32


def test_a_region_is_that_of_its_thread():
    seen = []
    with tp.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((product(), tp.is_autocast_enabled())))
        thread.start()
        thread.join()
        seen.append((product(), tp.is_autocast_enabled()))
    assert seen == [(F32, False), (BF16, True)]


def test_a_region_as_a_decorator():
    @tp.autocast("cpu", dtype=F16)
    def run(again):
        return [product(), tp.get_autocast_dtype("cpu"), *(run(False) if again else [])]

    assert run(True) == [F16, F16, F16, F16] and run.__name__ == "run" and product() is F32


def test_float64_and_integers_stay():
    with tp.autocast("cpu"):
        assert (tp.ones(2, 2, dtype=F64) @ tp.ones(2, 2, dtype=F64)).dtype is F64
        assert tp.mm(tp.ones(2, 2, dtype=tp.int64), tp.ones(2, 2, dtype=tp.int64)).dtype is tp.int64
        assert F.mse_loss(tp.ones(2, dtype=F64), tp.ones(2)).dtype is F64


def test_gradients_have_the_dtype_of_their_leaves():
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.ReLU(), nn.Linear(4, 2))
    x, target = tp.randn(5, 3), tp.tensor([0, 1, 0, 1, 1])
    with tp.autocast("cpu"):
        low = F.cross_entropy(model(x), target)
    low.backward()
    grads = [p.grad for p in model.parameters()]
    assert low.dtype is F32 and all(g.dtype is F32 for g in grads)
    model.zero_grad()
    F.cross_entropy(model(x), target).backward()
    for g, p in zip(grads, model.parameters()):
        tp.testing.assert_close(g, p.grad, rtol=0.1, atol=0.02)


def test_parameters_are_cast_once_in_a_region():
    w, x = tp.ones(2, 2, requires_grad=True), tp.ones(2, 2)

    def casts(**options):
        with tp.autocast("cpu", **options):
            first, second = x @ w, x @ w
        return {first.grad_fn.next_functions[-1][0], second.grad_fn.next_functions[-1][0]}

    assert len(casts()) == 1 and len(casts(cache_enabled=False)) == 2
    with tp.autocast("cpu"):
        before = (x @ w).sum()
        with tp.no_grad():
            assert not (x @ w).requires_grad
        (before + (x @ w).sum()).backward()
    assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_regions_within_transforms():
    with tp.autocast("cpu"):
        out, tangent = tp.func.jvp(lambda w: w @ tp.ones(2), (tp.ones(2, 2),), (tp.ones(2, 2),))
        assert out.dtype is BF16 and tangent.tolist() == [2.0, 2.0]
        batched = tp.vmap(lambda a: a @ tp.ones(2, 2))(tp.ones(3, 2, 2))
        grad = tp.func.grad(lambda w: (w @ w).sum())(tp.ones(2, 2))
    assert batched.dtype is BF16 and grad.dtype is F32 and grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_what_regions_warn_of():
    with pytest.warns(UserWarning, match="cuda is not available. Disabling autocast"):
        region = tp.autocast("cuda")
    with region:
        assert product() is F32
    with pytest.warns(UserWarning, match="only supports dtypes of bfloat16 and float16"):
        tp.autocast("cpu", dtype=F64)
    tp.autocast("cuda", enabled=False)
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        tp.autocast("toaster")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        tp.autocast(tp.device("cpu"))
    assert amp.is_autocast_available("cpu") and not amp.is_autocast_available("cuda")


def test_older_programs_find_the_names_for_a_device_that_is_not_there():
    with pytest.warns(UserWarning, match="cuda is not available. Disabling"):
        scaler = tp.cuda.amp.GradScaler()
    with tp.cuda.amp.autocast(enabled=tp.cuda.is_available()):
        assert product() is F32
    with pytest.warns(UserWarning, match="Disabling autocast"), tp.cuda.amp.autocast():
        assert product() is F32
    w = tp.ones(2, requires_grad=True)
    optimizer = tp.optim.SGD([w], lr=1.0)
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.0, 0.0] and scaler.get_scale() == 1.0

    class Twice(tp.autograd.Function):
        @staticmethod
        @tp.cuda.amp.custom_fwd(cast_inputs=tp.float32)
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        @tp.cuda.amp.custom_bwd
        def backward(ctx, g):
            return 2 * g

    Twice.apply(w).sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("cast_inputs", [None, F32])
def test_custom_functions_run_as_their_surroundings_did_or_without_autocast(cast_inputs):
    seen = []

    class Product(tp.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx, a, b):
            seen.append((a.dtype, product()))
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append(product())
            return g @ b.T, a.T @ g

    a = tp.ones(2, 2, dtype=BF16, requires_grad=True)
    with tp.autocast("cpu"):
        y = Product.apply(a, tp.ones(2, 2))
    y.float().sum().backward()
    inside = BF16 if cast_inputs is None else F32
    assert y.dtype is inside and seen == [(BF16 if cast_inputs is None else F32, inside), inside]
    assert a.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


# ---- GradScaler


def made(**options):
    w = tp.tensor([1.0, 2.0], requires_grad=True)
    return w, tp.optim.SGD([w], lr=0.25), amp.GradScaler("cpu", **{"init_scale": 8.0, **options})


def iterate(w, optimizer, scaler, factor=1.0):
    optimizer.zero_grad()
    scaler.scale((w * w).sum() * factor).backward()
    scaler.step(optimizer)
    scaler.update()


def test_steps_are_those_without_a_scaler():
    w, optimizer, scaler = made()
    iterate(w, optimizer, scaler)
    assert w.tolist() == [0.5, 1.0] and w.grad.tolist() == [2.0, 4.0]
    w, optimizer, scaler = made(enabled=False)
    iterate(w, optimizer, scaler)
    assert w.tolist() == [0.5, 1.0] and scaler.get_scale() == 1.0 and scaler.state_dict() == {}


def test_a_step_whose_gradients_are_not_finite_is_left_out():
    w, optimizer, scaler = made(growth_interval=2)
    scales = []
    for factor in (1.0, tp.inf, 1.0, 1.0):
        before = w.tolist()
        iterate(w, optimizer, scaler, factor)
        assert (w.tolist() == before) is (factor != 1.0)
        scales.append(scaler.get_scale())
    assert scales == [8.0, 4.0, 4.0, 8.0]


def test_the_factor_grows_as_far_as_float32_goes():
    w, optimizer, scaler = made(init_scale=2.0**127, growth_interval=1)
    scaler.scale(w[:0].sum() + (w * 0).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_gradients_may_be_clipped_between():
    w, optimizer, scaler = made()
    scaler.scale((w * w).sum()).backward()
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [2.0, 4.0]
    w.grad.clamp_(max=2.0)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 1.5]


def test_several_losses():
    scaler = made()[2]
    assert [t.tolist() for t in scaler.scale([tp.ones(1), tp.ones(2)])] == [[8.0], [8.0, 8.0]]
    assert isinstance(scaler.scale((tp.ones(1),)), tuple)
    assert [t.item() for t in scaler.scale(tp.ones(()) for _ in range(2))] == [8.0, 8.0]
    assert scaler.scale(tp.ones(1, dtype=F16)).dtype is F16


def test_a_scaler_continues_where_it_was():
    w, optimizer, scaler = made(growth_interval=3)
    iterate(w, optimizer, scaler)
    other = amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    assert (other.get_scale(), other.get_growth_interval(), other._growth_tracker) == (8.0, 3, 1)
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.1)
    scaler.set_growth_interval(5)
    assert (scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()) == (3.0, 0.1, 5)
    scaler.update(2.0)
    assert scaler.get_scale() == 2.0
    scaler.update(tp.tensor(4.0))
    assert scaler.get_scale() == 4.0


def scaled():
    w, optimizer, scaler = made()
    scaler.scale((w * w).sum()).backward()
    return optimizer, scaler


def twice(first, second):
    optimizer, scaler = scaled()
    getattr(scaler, first)(optimizer)
    getattr(scaler, second)(optimizer)


def half():
    w = tp.ones(2, dtype=F16, requires_grad=True)
    scaler = amp.GradScaler("cpu")
    scaler.scale((w * w).sum()).backward()
    scaler.step(tp.optim.SGD([w], lr=0.1))


def without_gradients():
    w, optimizer, scaler = made()
    scaler.scale(w.sum())
    scaler.step(optimizer)


ERRORS = [
    (lambda: twice("unscale_", "unscale_"), RuntimeError, "already been called on this optimizer since"),
    (lambda: twice("step", "unscale_"), RuntimeError, "is being called after step"),
    (lambda: twice("step", "step"), RuntimeError, "already been called since the last update"),
    (lambda: scaled()[1].update(), AssertionError, "No inf checks were recorded prior to update"),
    (lambda: made()[2].update(), AssertionError, "did not use scaler.scale"),
    (lambda: made()[2].step(None), AssertionError, "did not use scaler.scale"),
    (without_gradients, AssertionError, "no parameter of it has a gradient"),
    (half, ValueError, "Attempting to unscale FP16 gradients"),
    (lambda: scaled()[1].step(scaled()[0], closure=lambda: 1), RuntimeError, "Closure use is not currently supported"),
    (lambda: made()[2].scale(3), ValueError, "must be a Tensor or an iterable of Tensors"),
    (lambda: amp.GradScaler("cpu", growth_factor=1.0), AssertionError, "growth factor must be > 1.0"),
    (lambda: amp.GradScaler("cpu", backoff_factor=1.0), AssertionError, "backoff factor must be < 1.0"),
    (lambda: made()[2].load_state_dict({}), RuntimeError, "source state dict is empty"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_of_scalers(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_scaler_for_a_device_that_is_not_there_is_disabled():
    with pytest.warns(UserWarning, match="cuda is not available. Disabling"):
        assert not amp.GradScaler().is_enabled()
