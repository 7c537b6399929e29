"""Layers and losses: printed as, holding and computing what PyTorch's do (tools/make_nn_table.py)."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn

TABLE = json.loads((Path(__file__).parent / "data" / "nn.json").read_text())
BARE = {"Buffer", "Module", "Parameter", "UninitializedBuffer", "UninitializedParameter"}


def values(kind, shape, number):
    """The formulas of the table."""
    i = np.arange(np.prod(shape, dtype=int), dtype=float)
    wave = np.sin(1.7 * i + 0.3 * number)
    if kind.startswith("below"):
        return ((7 * i + 3 * number) % int(kind.split()[1])).astype(np.int64).reshape(shape)
    return {"numbers": 1.5 * wave, "positive": 0.5 + 0.4 * wave, "sign": np.where(wave > 0, 1.0, -1.0)}[kind].reshape(
        shape
    )


def tensors(result):
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in tensors(part)]
    return [] if result is None else [result]


def cosines(t):
    return tp.cos(0.5 * tp.arange(t.numel(), dtype=tp.float64)).reshape(t.shape)


def check(name, got, want):
    shape, projection = want
    assert list(got.shape) == shape, name
    found = float((got.detach().to(tp.float64) * cosines(got)).sum())
    assert found == pytest.approx(projection, rel=1e-7, abs=1e-8), name


def made(case):
    args = [tuple(a) if isinstance(a, list) else a for a in case["args"]]
    kwargs = {k: tuple(v) if isinstance(v, list) else v for k, v in case["kwargs"].items()}
    return getattr(nn, case["name"])(*args, **kwargs)


def ids(case):
    given = [*map(str, case["args"]), *(f"{k}={v}" for k, v in case["kwargs"].items())]
    return f"{case['name']}({', '.join(given)})" + (" eval" if case["eval"] else "")


@pytest.mark.parametrize("case", TABLE, ids=ids)
def test_layers_agree_with_the_reference(case):
    module = made(case)
    assert repr(module) == case["repr"]
    module.double()
    inputs = []
    for n, (kind, shape) in enumerate(case["inputs"]):
        x = tp.tensor(values(kind, shape, n))
        inputs.append(x.requires_grad_(kind in ("numbers", "positive")))
    if case["name"].startswith("Lazy"):
        module(*inputs)
        module.reset_parameters()
        assert type(module).__name__ == case["name"].removeprefix("Lazy")
    assert {name: list(t.shape) for name, t in module.state_dict().items()} == case["state"]
    assert list(module.state_dict()) == list(case["state"])
    with tp.no_grad():
        for n, p in enumerate(module.parameters()):
            p.copy_(tp.tensor(values("numbers", list(p.shape), 100 + n) / 3))
    module.train(not case["eval"])
    if not inputs:
        return
    outputs = tensors(module(*inputs))
    assert len(outputs) == len(case["outputs"])
    for n, (got, want) in enumerate(zip(outputs, case["outputs"])):
        check(f"output {n}", got, want)
    total = sum((o * cosines(o)).sum() for o in outputs if o.requires_grad)
    if isinstance(total, tp.Tensor):
        total.backward()
    leaves = {**{f"input {n}": x for n, x in enumerate(inputs)}, **dict(module.named_parameters())}
    gradients = {name: t.grad for name, t in leaves.items() if t.grad is not None}
    assert set(gradients) == set(case["gradients"])
    for name, want in case["gradients"].items():
        check(f"gradient of {name}", gradients[name], want)
    buffers = dict(module.named_buffers())
    assert set(buffers) == set(case["buffers"])
    for name, want in case["buffers"].items():
        check(name, buffers[name], want)


@pytest.mark.parametrize("case", TABLE, ids=ids)
def test_layers_are_copied_and_pickled(case):
    module = made(case)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert repr(twin) == repr(module)
        assert twin.state_dict().keys() == module.state_dict().keys()


def test_every_layer_is_in_the_table():
    bases = {
        "DataParallel",
        "ModuleDict",
        "ModuleList",
        "ParameterDict",
        "ParameterList",
        "RNNBase",
        "RNNCellBase",
        "Sequential",
    }
    once = {"FractionalMaxPool3d", "TransformerDecoder", "TransformerEncoder"}  # parts or twins of what is there
    public = {name: getattr(nn, name) for name in nn.__all__}
    classes = {name for name, cls in public.items() if isinstance(cls, type) and issubclass(cls, nn.Module)}
    assert classes - BARE - bases - once == {case["name"] for case in TABLE}


@pytest.mark.parametrize(
    ("layer", "bounds"),
    [
        (lambda: nn.Linear(100, 60), {"weight": 0.1, "bias": 0.1}),
        (lambda: nn.Bilinear(100, 5, 60), {"weight": 0.1, "bias": 0.1}),
        (lambda: nn.Conv2d(10, 60, (2, 5)), {"weight": 0.1, "bias": 0.1}),
        (lambda: nn.ConvTranspose1d(60, 50, 2), {"weight": 0.1, "bias": 0.1}),
        (lambda: nn.LSTM(30, 100), {"weight_ih_l0": 0.1, "bias_hh_l0": 0.1}),
        (lambda: nn.GRUCell(30, 100), {"weight_ih": 0.1, "bias_hh": 0.1}),
        (lambda: nn.LazyLinear(60), {"weight": 0.1, "bias": 0.1}),
        (lambda: nn.MultiheadAttention(48, 2), {"in_proj_weight": np.sqrt(6 / 192)}),
    ],
)
def test_initial_values_are_uniform_within_their_bound(layer, bounds):
    tp.manual_seed(0)
    layer = layer()
    if isinstance(layer, nn.LazyLinear):
        layer(tp.zeros(1, 100))
    for name, bound in bounds.items():
        p = layer.get_parameter(name)
        assert p.abs().max().item() <= bound and p.std().item() == pytest.approx(bound / np.sqrt(3), rel=0.15)


def test_embeddings_begin_normal_and_their_padding_zero():
    tp.manual_seed(0)
    table = nn.Embedding(200, 50, padding_idx=3)
    assert (table.weight[3] == 0).all() and table.weight.std().item() == pytest.approx(1, rel=0.05)
    given = nn.Embedding.from_pretrained(tp.ones(2, 3))
    assert not given.weight.requires_grad and given(tp.tensor([1])).tolist() == [[1.0, 1.0, 1.0]]


def test_fractional_pooling_takes_maxima():
    x = tp.randn(2, 3, 8, 8, 8)
    out, where = nn.FractionalMaxPool3d(2, output_size=3, return_indices=True)(x)
    assert out.shape == (2, 3, 3, 3, 3) and tp.equal(x.flatten(2).gather(2, where.flatten(2)), out.flatten(2))


def test_unpooling_undoes_pooling_but_for_zeros():
    x = tp.arange(16.0).reshape(1, 1, 4, 4)
    out, where = nn.MaxPool2d(2, return_indices=True)(x)
    back = nn.MaxUnpool2d(2)(out, where)
    assert tp.equal(back, tp.where((x % 2 == 1) & (x // 4 % 2 == 1), x, tp.zeros(())))


def test_transposed_convolutions_give_the_size_that_is_asked_for():
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2)
    assert layer(tp.zeros(1, 1, 3, 3), output_size=(8, 7)).shape == (1, 1, 8, 7)
    with pytest.raises(ValueError, match=r"valid sizes range from \[7, 7\] to \[8, 8\]"):
        layer(tp.zeros(1, 1, 3, 3), output_size=(9, 7))


def test_running_statistics_are_averages():
    layer = nn.BatchNorm1d(2, momentum=None).double()
    batches = [tp.tensor(values("numbers", [5, 2], n)) for n in range(3)]
    for batch in batches:
        layer(batch)
    want = np.mean([b.numpy().var(0, ddof=1) for b in batches], 0)
    np.testing.assert_allclose(layer.running_var.numpy(), want)
    assert layer.num_batches_tracked.item() == 3
    layer.eval()(batches[0])
    assert layer.num_batches_tracked.item() == 3
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0.0, 0.0] and layer.num_batches_tracked.item() == 0


def test_old_checkpoints_of_batch_normalisation_load():
    state = {k: v for k, v in nn.BatchNorm1d(2).state_dict().items() if k != "num_batches_tracked"}
    assert nn.BatchNorm1d(2).load_state_dict(state).missing_keys == []


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_run_as_each_alone(name, bidirectional):
    tp.manual_seed(0)
    layer = getattr(nn, name)(3, 4, num_layers=2, bidirectional=bidirectional).double()
    lengths = [2, 5, 3, 1]
    sequences = [tp.randn(n, 3, dtype=tp.float64) for n in lengths]
    packed = nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
    h0 = tp.randn(4 if bidirectional else 2, 4, 4, dtype=tp.float64)
    hx = (h0, h0 + 1) if name == "LSTM" else h0
    output, last = layer(packed, hx)
    for i, (x, y) in enumerate(zip(sequences, nn.utils.rnn.unpack_sequence(output))):
        alone, end = layer(x, (h0[:, i], h0[:, i] + 1) if name == "LSTM" else h0[:, i])
        np.testing.assert_allclose(y.detach().numpy(), alone.detach().numpy(), rtol=1e-10)
        for a, b in zip(tensors(last), tensors(end)):
            np.testing.assert_allclose(a[:, i].detach().numpy(), b.detach().numpy(), rtol=1e-10)


def test_a_recurrent_layer_is_its_cell_again_and_again():
    layer, cell = nn.GRU(3, 4), nn.GRUCell(3, 4)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in layer.state_dict().items()})
    x, h = tp.randn(5, 2, 3), tp.zeros(2, 4)
    output, _ = layer(x)
    for t in range(5):
        h = cell(x[t], h)
        assert tp.allclose(output[t], h, atol=1e-6)


def test_recurrent_layers_under_transforms():
    layer = nn.LSTM(3, 4).double()
    x = tp.randn(6, 5, 2, 3, dtype=tp.float64)
    batched = tp.vmap(lambda x: layer(x)[0])(x)
    assert tp.allclose(batched, tp.stack([layer(row)[0] for row in x]))


def test_attention_masks_leave_keys_out():
    tp.manual_seed(0)
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = tp.randn(2, 5, 4)
    hidden = tp.tensor([[False] * 5, [False] * 3 + [True] * 2])
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    _, weights = layer(x, x, x, key_padding_mask=hidden, attn_mask=causal == -tp.inf)
    assert (weights[1, :, 3:] == 0).all() and (weights.triu(1) == 0).all()
    assert tp.allclose(weights.sum(-1), tp.ones(2, 5))
    _, by_head = layer(x, x, x, average_attn_weights=False)
    assert by_head.shape == (2, 2, 5, 5)
    assert layer(x, x, x, need_weights=False)[1] is None


def test_a_causal_encoder_does_not_look_ahead():
    tp.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4)).eval()
    assert model.layers[0].linear1.weight is not model.layers[1].linear1.weight
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    x = tp.randn(1, 5, 4)
    y = x.clone()
    y[:, 3:] += 1
    a, b = model(x, mask=causal, is_causal=True), model(y, mask=causal, is_causal=True)
    assert tp.allclose(a[:, :3], b[:, :3], atol=1e-6) and not tp.allclose(a[:, 3:], b[:, 3:], atol=1e-3)


def test_adaptive_softmax_is_a_distribution():
    tp.manual_seed(0)
    layer = nn.AdaptiveLogSoftmaxWithLoss(16, 10, [2, 5]).double()
    x, target = tp.randn(7, 16, dtype=tp.float64), tp.arange(7) + 3
    logs = layer.log_prob(x)
    assert tp.allclose(logs.exp().sum(1), tp.ones(7, dtype=tp.float64))
    assert tp.allclose(layer(x, target).output, logs.gather(1, target.unsqueeze(1)).squeeze(1))
    assert tp.equal(layer.predict(x), logs.argmax(1))


@pytest.mark.parametrize(
    "use",
    [lambda w: w + 1, tp.exp, lambda w: w.ndim, lambda w: w.dim(), lambda w: w.numel(), lambda w: w.size(),
     lambda w: w.detach().sum(), lambda w: nn.init.ones_(w), lambda w: nn.functional.linear(tp.ones(1, 2), w),
     lambda w: nn.init.xavier_uniform_(w), lambda w: w.detach().numpy()],
)  # fmt: skip
def test_what_has_no_shape_yet_cannot_be_used(use):
    layer = nn.LazyLinear(2)
    with pytest.raises(ValueError, match="uninitialized parameter"):
        use(layer.weight)
    with pytest.raises(ValueError, match="uninitialized parameter"):
        use(nn.LazyBatchNorm1d().running_mean)
    for twin in (layer, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer.requires_grad_(False)))):
        twin.double().to("meta")
        assert twin.weight.dtype is tp.float64 and twin.weight.is_meta and nn.parameter.is_lazy(twin.weight)


def test_lazy_modules_learn_their_sizes_from_the_first_input_or_from_a_checkpoint():
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    with pytest.raises(RuntimeError, match="uninitialized parameter"):
        _ = model[0].weight.shape
    twin = copy.deepcopy(model)
    model(tp.randn(2, 3, 5, 5))
    assert [type(m) for m in model] == [nn.Conv2d, nn.BatchNorm2d, nn.Flatten, nn.Linear]
    assert model[3].in_features == 36 and isinstance(model[3].weight, nn.Parameter)
    model.eval(), twin.eval()
    twin.load_state_dict(model.state_dict())
    x = tp.randn(2, 3, 5, 5)
    assert tp.equal(twin(x), model(x))
    with pytest.raises(RuntimeError, match="checkpoint it is uninitialized"):
        nn.Linear(3, 2).load_state_dict(nn.LazyLinear(2).state_dict())


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "in_channels must be divisible by groups"),
        (lambda: nn.Conv2d(2, 3, 3, groups=2), ValueError, "out_channels must be divisible by groups"),
        (lambda: nn.Conv1d(2, 3, 3, padding="half"), ValueError, "Invalid padding string"),
        (lambda: nn.Conv1d(2, 3, 3, stride=2, padding="same"), ValueError, "not supported for strided"),
        (lambda: nn.Conv1d(2, 3, 3, padding_mode="mirror"), ValueError, "padding_mode must be one of"),
        (lambda: nn.ConvTranspose1d(2, 3, 3, padding_mode="reflect"), ValueError, 'Only "zeros"'),
        (lambda: nn.Dropout(1.5), ValueError, "between 0 and 1"),
        (lambda: nn.GroupNorm(2, 3), ValueError, "divisible by num_groups"),
        (lambda: nn.BatchNorm2d(3)(tp.zeros(2, 3)), ValueError, r"expected 4D input \(got 2D input\)"),
        (lambda: nn.InstanceNorm1d(3, affine=True)(tp.zeros(1, 2, 4)), ValueError, "match num_features"),
        (lambda: nn.MultiheadAttention(5, 2), AssertionError, "divisible by num_heads"),
        (lambda: nn.RNN(2, 3, nonlinearity="gelu"), ValueError, "Unknown nonlinearity"),
        (lambda: nn.LSTM(2, 3, proj_size=3), ValueError, "proj_size"),
        (lambda: nn.GRU(2, 3)(tp.zeros(4, 1, 5)), RuntimeError, "Expected 2, got 5"),
        (lambda: nn.GRU(2, 3)(tp.zeros(4, 1, 2), tp.zeros(1, 2, 3)), RuntimeError, r"Expected hidden size \(1, 1, 3\)"),
        (lambda: nn.LSTMCell(2, 3)(tp.zeros(4, 5)), RuntimeError, "got 5 expected 2"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), AssertionError, "padding_idx"),
        (lambda: nn.Softmax2d()(tp.zeros(2)), ValueError, "3D or 4D"),
        (lambda: nn.Hardtanh(1, 0), AssertionError, "greater than min_val"),
        (lambda: nn.FractionalMaxPool2d(2), ValueError, "either an output size, or a pooling ratio"),
        (lambda: nn.ReflectionPad2d((1, 2)), ValueError, "padding must be an int or 4"),
        (lambda: nn.Bilinear(0, 1, 1), ValueError, "in1_features"),
        (lambda: nn.Unflatten(1, 3), TypeError, "tuple of ints"),
        (lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"), RuntimeError, "relu/gelu"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2]), ValueError, "increasing order"),
    ],
)
def test_bad_options_and_inputs(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.MultiMarginLoss(p=3), ValueError, "only p == 1 and p == 2"),
        (lambda: nn.MultiMarginLoss(weight=tp.ones(2, 2)), ValueError, "single dimension"),
        (lambda: nn.TripletMarginLoss(margin=0), ValueError, "TripletMarginLoss: expected margin to be greater than 0"),
        (lambda: nn.TripletMarginWithDistanceLoss(margin=-1.0), ValueError, "greater than 0, got -1.0"),
        (lambda: nn.PReLU(3)(tp.ones(3)), RuntimeError, "parameter numbers = 3 and channel size = 1"),
        (lambda: nn.EmbeddingBag(3, 2, mode="max", scale_grad_by_freq=True)(tp.zeros(1, 2, dtype=tp.int64)), ValueError,
         "max mode does not support scaling"),
        (lambda: nn.Sequential({"a": nn.ReLU()}), TypeError, "dict is not a Module subclass"),
        (lambda: nn.RNN(2, 3, nonlinearity="relu").to(tp.complex64)(tp.ones(1, 2, dtype=tp.complex64)),
         NotImplementedError, "complex numbers have no order"),
        (lambda: nn.EmbeddingBag(3, 2).to(tp.complex64)(tp.zeros(1, 2, dtype=tp.int64)), RuntimeError, "complex64"),
        (lambda: nn.GRU(0, 2), ValueError, "input_size must be greater than zero"),
        (lambda: nn.LSTM(3, 2)(tp.zeros(4, 1, 3, dtype=tp.float64)), ValueError, r"model.to\(tensorplay.float64\)"),
        (lambda: nn.utils.skip_init(tp.ones, 3), TypeError, "a subclass of Module"),
        (lambda: nn.init.calculate_gain("leaky_relu", True), ValueError, "must be a number"),
    ],
)  # fmt: skip
def test_options_and_inputs_that_cannot_be_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_sixteen_bits_are_rounded_once():
    x, w, b = (tp.tensor(values("numbers", shape, n)).bfloat16() for n, shape in enumerate(([7, 5], [4, 5], [4])))
    want = x.double() @ w.double().T + b.double()
    assert tp.equal(nn.functional.linear(x, w, b), want.bfloat16())


def test_the_mean_squared_error_promotes_integers():
    assert nn.MSELoss()(tp.tensor([1, 2]), tp.tensor([1.0, 4.0])).item() == 2.0


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_recurrent_layers_take_batches_of_none(name):
    x = tp.ones(5, 0, 3, requires_grad=True)
    out, last = getattr(nn, name)(3, 4, num_layers=2, bidirectional=True)(x)
    out.sum().backward()
    assert out.shape == (5, 0, 8) and x.grad.shape == x.shape
    assert (last[0] if name == "LSTM" else last).shape == (4, 0, 4)


def test_the_parts_of_layers_may_be_overridden_by_their_names():
    class Shown(nn.TransformerEncoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            out, self.weights = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask)
            return self.dropout1(out)

    x = tp.randn(5, 3, 8)
    shown, plain = (cls(8, 2, 16, dropout=0.0) for cls in (Shown, nn.TransformerEncoderLayer))
    plain.load_state_dict(shown.state_dict())
    np.testing.assert_allclose(shown(x).detach().numpy(), plain(x).detach().numpy(), atol=1e-6)
    assert shown.weights.shape == (3, 5, 5)

    class Standardised(nn.Conv2d):
        def forward(self, x):
            weight = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
            return self._conv_forward(x, weight, self.bias)

    conv = Standardised(1, 2, 3, padding=1, padding_mode="reflect", bias=False)
    assert conv(tp.ones(1, 1, 5, 5)).abs().max().item() < 1e-6 and conv(tp.ones(1, 1, 5, 5)).shape == (1, 2, 5, 5)


def test_bases_of_layers_have_the_names_of_pytorch():
    from tensorplay.nn.modules.batchnorm import _BatchNorm
    from tensorplay.nn.modules.conv import _ConvNd, _ConvTransposeNd
    from tensorplay.nn.modules.utils import _pair

    class Own(_ConvNd):
        def __init__(self, size):
            super().__init__(1, 2, _pair(size), _pair(1), _pair(0), _pair(1), False, _pair(0), 1, True, "zeros")

        def forward(self, x):
            return nn.functional.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation)

    assert Own(3)(tp.ones(1, 1, 4, 4)).shape == (1, 2, 2, 2) and "kernel_size=(3, 3)" in repr(Own(3))
    assert isinstance(nn.BatchNorm2d(2), _BatchNorm) and not isinstance(nn.GroupNorm(1, 2), _BatchNorm)
    assert isinstance(nn.ConvTranspose1d(1, 1, 1), _ConvTransposeNd) and not isinstance(Own(3), _ConvTransposeNd)
    assert _pair((1, 2)) == (1, 2) and _pair(3) == (3, 3)
