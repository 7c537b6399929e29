"""Initial values and what helps around modules: clipping, vectors, parametrizations, packed sequences, fusion."""

import copy

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn
from tensorplay.nn import init
from tensorplay.nn.utils import parametrizations, parametrize, rnn


def double(shape):
    return tp.randn(*shape, dtype=tp.float64)


# ---- initial values


def test_truncated_normal_numbers():
    tp.manual_seed(0)
    w = init.trunc_normal_(tp.empty(20000, dtype=tp.float64), mean=1.0, std=2.0, a=-1.0, b=3.0)
    assert w.min() >= -1 and w.max() <= 3 and w.mean().item() == pytest.approx(1, abs=0.03)
    variance = 4 * (1 - 2 * np.exp(-0.5) / np.sqrt(2 * np.pi) / 0.6826894921370859)  # of a normal number cut at 1 std
    assert w.var().item() == pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (6, 2), (4, 2, 3)])
def test_orthogonal_values(shape):
    w = init.orthogonal_(tp.empty(*shape, dtype=tp.float64), gain=2).reshape(shape[0], -1)
    small = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(small.numpy(), 4 * np.eye(len(small)), atol=1e-12)


def test_dirac_values_pass_channels():
    w = init.dirac_(tp.empty(4, 2, 3), groups=2)
    x = tp.randn(1, 4, 5)
    assert tp.equal(nn.functional.conv1d(x, w, padding=1, groups=2), x)
    assert tp.equal(init.eye_(tp.empty(2, 3)), tp.eye(2, 3))


def test_sparse_values():
    w = init.sparse_(tp.empty(10, 4), 0.25, std=1.0)
    assert ((w == 0).sum(0) == 3).all()


def test_old_names_of_initial_values_warn():
    with pytest.warns(FutureWarning, match="constant_"):
        assert init.constant(tp.empty(1), 3.0).item() == 3.0
    with pytest.warns(UserWarning, match="zero-element"):
        init.kaiming_uniform_(tp.empty(0, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: init.eye_(tp.empty(3)), "2 dimensions"),
        (lambda: init.dirac_(tp.empty(3, 3)), "3, 4, or 5"),
        (lambda: init.dirac_(tp.empty(3, 3, 3), groups=2), "divisible by groups"),
        (lambda: init.orthogonal_(tp.empty(3)), "2 or more"),
        (lambda: init.sparse_(tp.empty(3), 0.5), "2 dimensions"),
        (lambda: init.kaiming_normal_(tp.empty(3, 3), mode="both"), "not supported"),
    ],
)
def test_bad_shapes_of_initial_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- gradients and vectors


def with_gradients():
    parameters = [tp.zeros(2, requires_grad=True), tp.zeros(1, requires_grad=True), tp.zeros(1, requires_grad=True)]
    parameters[0].grad, parameters[1].grad = tp.tensor([3.0, 0.0]), tp.tensor([-4.0])
    return parameters


@pytest.mark.parametrize(("norm", "want"), [(2.0, 5.0), (1.0, 7.0), (float("inf"), 4.0)])
def test_gradients_are_clipped_by_their_norm(norm, want):
    parameters = with_gradients()
    assert nn.utils.clip_grad_norm_(parameters, 1.0, norm).item() == pytest.approx(want)
    assert parameters[0].grad[0].item() == pytest.approx(3 / want) and parameters[2].grad is None
    assert nn.utils.clip_grad_norm_(parameters, 10.0, norm).item() == pytest.approx(1.0)
    assert parameters[1].grad.item() == pytest.approx(-4 / want)


def test_norms_that_are_no_numbers():
    parameters = with_gradients()
    parameters[0].grad[0] = float("nan")
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)
    assert parameters[1].grad.item() == -4.0
    assert nn.utils.get_total_norm([]).item() == 0.0
    with pytest.warns(FutureWarning):
        nn.utils.clip_grad_norm(with_gradients(), 1.0)


def test_gradients_are_clipped_by_value():
    parameters = with_gradients()
    nn.utils.clip_grad_value_(parameters, 2)
    assert parameters[0].grad.tolist() == [2.0, 0.0] and parameters[1].grad.tolist() == [-2.0]


def test_parameters_become_a_vector_and_back():
    m = nn.Linear(2, 3)
    v = nn.utils.parameters_to_vector(m.parameters())
    assert v.shape == (9,) and v.requires_grad
    nn.utils.vector_to_parameters(tp.arange(9.0), m.parameters())
    assert m.weight.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]] and m.bias.tolist() == [6.0, 7.0, 8.0]
    with pytest.raises(RuntimeError, match="has 3 entries"):
        nn.utils.vector_to_parameters(tp.zeros(3), m.parameters())
    with pytest.raises(TypeError, match="expected Tensor"):
        nn.utils.vector_to_parameters([1.0], m.parameters())


# ---- parametrizations


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x


def test_a_parametrized_weight_is_computed_and_learns():
    m = nn.Linear(3, 3).double()
    weight = m.weight
    assert parametrize.register_parametrization(m, "weight", Symmetric()) is m
    assert type(m).__name__ == "ParametrizedLinear" and isinstance(m, nn.Linear)
    assert parametrize.type_before_parametrizations(m) is nn.Linear and parametrize.is_parametrized(m, "weight")
    assert not parametrize.is_parametrized(m, "bias") and m.parametrizations.weight.original is weight
    assert [n for n, _ in m.named_parameters()] == ["bias", "parametrizations.weight.original"]
    assert tp.equal(m.weight, m.weight.T)
    m(double((2, 3))).sum().backward()
    assert (weight.grad.tril(-1) == 0).all() and weight.grad.triu().abs().sum() > 0
    target = double((3, 3))
    target = target + target.T
    m.weight = target
    assert tp.allclose(m.weight, target)
    twin = copy.deepcopy(m)
    twin.weight = tp.zeros(3, 3, dtype=tp.float64)
    assert tp.allclose(m.weight, target) and (twin.weight == 0).all()
    with parametrize.cached():
        assert m.weight is m.weight
    assert m.weight is not m.weight
    parametrize.remove_parametrizations(m, "weight")
    assert type(m) is nn.Linear and m.weight is weight and tp.allclose(m.weight, target)
    assert not parametrize.is_parametrized(m)


def test_parametrizations_follow_one_another():
    m = nn.Linear(2, 2, bias=False)
    parametrize.register_parametrization(m, "weight", Symmetric())
    parametrize.register_parametrization(m, "weight", Doubled())
    original = m.parametrizations.weight.original
    assert tp.equal(m.weight, 2 * (original.triu() + original.triu(1).T)) and len(m.parametrizations.weight) == 2
    with pytest.raises(RuntimeError, match="does not implement right_inverse"):
        m.weight = tp.zeros(2, 2)
    other = parametrize.transfer_parametrizations_and_params(m, nn.Linear(2, 2, bias=False))
    assert tp.equal(other.weight, m.weight)
    parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)
    assert m.weight is original


def test_parametrizations_that_change_shape_or_dtype_are_refused():
    class Flat(nn.Module):
        def forward(self, x):
            return x.flatten()

    m = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(m, "weight", Flat())
    assert type(m) is nn.Linear and isinstance(m.weight, nn.Parameter)

    class Cut(nn.Module):
        def forward(self, x):
            return x

        def right_inverse(self, x):
            return x[:1]

    before = m.weight.detach().clone()
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(m, "weight", Cut())
    assert tp.equal(m.weight, before)
    assert parametrize.register_parametrization(m, "weight", Flat(), unsafe=True).weight.shape == (4,)
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(m, "nothing", Flat())
    with pytest.raises(ValueError, match="does not have a parametrization"):
        parametrize.remove_parametrizations(m, "bias")


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_keeps_the_weight(dim):
    m = nn.Linear(3, 2).double()
    before = m.weight.detach().clone()
    parametrizations.weight_norm(m, dim=dim)
    assert tp.allclose(m.weight, before)
    norms = before.norm() if dim is None else before.norm(2, 1 - dim, keepdim=True)
    assert tp.allclose(m.parametrizations.weight.original0, norms)
    m(double((4, 3))).sum().backward()
    g, v = m.parametrizations.weight.original0, m.parametrizations.weight.original1
    kept = None if dim is None else 1 - dim
    along = (v.grad * v).sum() if kept is None else (v.grad * v).sum(kept)
    assert g.grad is not None and tp.allclose(along, tp.zeros_like(along), atol=1e-10)  # v learns its direction alone
    parametrize.remove_parametrizations(m, "weight")
    assert tp.allclose(m.weight, before)


def test_weight_norm_by_hooks():
    m = nn.Linear(3, 2)
    before = m.weight.detach().clone()
    with pytest.warns(FutureWarning):
        nn.utils.weight_norm(m)
    assert [n for n, _ in m.named_parameters()] == ["bias", "weight_g", "weight_v"]
    m(tp.ones(1, 3)).sum().backward()
    assert m.weight_g.grad is not None and tp.allclose(m.weight, before)
    nn.utils.remove_weight_norm(m)
    assert tp.allclose(m.weight, before) and isinstance(m.weight, nn.Parameter) and not m._forward_pre_hooks
    with pytest.raises(ValueError, match="not found"):
        nn.utils.remove_weight_norm(m)


@pytest.mark.parametrize(
    "make", [lambda: nn.Linear(4, 3), lambda: nn.Conv1d(2, 3, 2), lambda: nn.ConvTranspose1d(2, 3, 2)]
)
@pytest.mark.parametrize("norm", [parametrizations.spectral_norm, nn.utils.spectral_norm])
def test_spectral_norm_makes_the_largest_singular_value_one(make, norm):
    tp.manual_seed(0)
    m = make().double()
    norm(m, n_power_iterations=50)
    x = double((1, 4)) if isinstance(m, nn.Linear) else double((1, 2, 5))
    for _ in range(3):
        m(x).sum().backward()
    matrix = m.weight.detach()
    matrix = (matrix.transpose(0, 1) if isinstance(m, nn.ConvTranspose1d) else matrix).flatten(1)
    assert tp.linalg.matrix_norm(matrix, 2).item() == pytest.approx(1, rel=1e-6)
    before = m.eval().weight.detach().clone()
    if norm is nn.utils.spectral_norm:
        nn.utils.remove_spectral_norm(m)
    else:
        parametrize.remove_parametrizations(m, "weight")
    assert tp.allclose(m.weight, before) and isinstance(m.weight, nn.Parameter)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
@pytest.mark.parametrize("map", ["matrix_exp", "cayley", "householder", None])
@pytest.mark.parametrize("trivialized", [True, False])
def test_orthogonal_weights_stay_orthogonal(shape, map, trivialized):
    tp.manual_seed(0)
    m = nn.Linear(*shape, bias=False).double()
    parametrizations.orthogonal(m, orthogonal_map=map, use_trivialization=trivialized)

    def is_orthogonal(w):
        small = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
        return tp.allclose(small, tp.eye(len(small), dtype=tp.float64), atol=1e-10)

    assert is_orthogonal(m.weight)
    before = m.weight.detach().clone()
    (m.weight * tp.arange(8.0)[: m.weight.numel()].reshape(-1)[0] + m.weight.sin()).sum().backward()
    with tp.no_grad():
        original = m.parametrizations.weight.original
        original -= 0.1 * original.grad
    assert is_orthogonal(m.weight) and not tp.allclose(m.weight, before)
    if trivialized:
        target = init.orthogonal_(tp.empty_like(before))
        m.weight = target
        assert tp.allclose(m.weight, target)


def test_orthogonal_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="svd")
    with pytest.raises(ValueError, match="Expected a matrix"):
        parametrizations.orthogonal(nn.Linear(2, 2), "bias")


# ---- sequences


def test_sequences_are_packed_and_padded_again():
    sequences = [tp.arange(float(n)).reshape(n, 1) + 10 * n for n in (2, 4, 1)]
    padded = rnn.pad_sequence(sequences, padding_value=-1)
    assert padded.shape == (4, 3, 1) and padded[2:, 0, 0].tolist() == [-1.0, -1.0]
    assert rnn.pad_sequence(sequences, batch_first=True, padding_side="left")[2, :, 0].tolist() == [0.0, 0.0, 0.0, 10.0]
    packed = rnn.pack_sequence(sequences, enforce_sorted=False)
    kinds = {"byte": tp.uint8, "char": tp.int8, "short": tp.int16, "int": tp.int32, "half": tp.float16}
    assert all(getattr(packed, kind)().data.dtype is dtype for kind, dtype in kinds.items())
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1] and packed.sorted_indices.tolist() == [1, 0, 2]
    assert packed.data[:3, 0].tolist() == [40.0, 20.0, 10.0]
    again, lengths = rnn.pad_packed_sequence(packed, padding_value=-1)
    assert tp.equal(again, padded) and lengths.tolist() == [2, 4, 1]
    assert all(tp.equal(a, b) for a, b in zip(rnn.unpack_sequence(packed), sequences))
    assert all(tp.equal(a, b) for a, b in zip(rnn.unpad_sequence(padded, lengths), sequences))
    longer, _ = rnn.pad_packed_sequence(packed, batch_first=True, total_length=6)
    assert longer.shape == (3, 6, 1) and packed.double().data.dtype is tp.float64 and packed.float() is packed


def test_gradients_pass_through_packing():
    x = tp.ones(3, 2, dtype=tp.float64, requires_grad=True)
    packed = rnn.pack_padded_sequence(x, [3, 1])
    (rnn.pad_packed_sequence(packed)[0] ** 2).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 0.0], [2.0, 0.0]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rnn.pack_padded_sequence(tp.zeros(3, 2), [1, 3]), RuntimeError, "sorted in decreasing order"),
        (lambda: rnn.pack_padded_sequence(tp.zeros(3, 2), [3, 0]), RuntimeError, "greater than 0"),
        (lambda: rnn.pack_padded_sequence(tp.zeros(3, 2), [4, 1]), RuntimeError, "at most 3"),
        (lambda: rnn.pack_padded_sequence(tp.zeros(3, 2), [1]), RuntimeError, "equal to batch_size"),
        (lambda: rnn.pad_sequence([tp.zeros(1)], padding_side="up"), RuntimeError, "padding_side"),
        (lambda: rnn.pad_sequence([]), RuntimeError, "empty list"),
        (lambda: rnn.pad_packed_sequence(rnn.pack_sequence([tp.zeros(2)]), total_length=1), ValueError, "total_length"),
    ],
)
def test_bad_sequences(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- calls with other parameters


def test_modules_are_called_with_other_parameters():
    m = nn.Linear(2, 1)
    own = m.weight
    weights = {"weight": tp.tensor([[2.0, 3.0]]), "bias": tp.tensor([1.0])}
    x = tp.tensor([[1.0, 1.0]])
    assert tp.func.functional_call(m, weights, x).item() == 6.0 and m.weight is own
    grads = tp.func.grad(lambda w: tp.func.functional_call(m, w, (x,)).sum())(weights)
    assert grads["weight"].tolist() == [[1.0, 1.0]] and grads["bias"].tolist() == [1.0]
    assert tp.func.functional_call(m, [{"weight": weights["weight"]}, {"bias": weights["bias"]}], x).item() == 6.0
    with pytest.raises(ValueError, match="multiple dictionaries"):
        tp.func.functional_call(m, [weights, weights], x)
    assert tp.equal(tp.func.functional_call(m, {"more": x}, x), m(x))
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): more"):
        tp.func.functional_call(m, {**weights, "more": x}, x, strict=True)
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): bias"):
        tp.func.functional_call(m, {"weight": weights["weight"]}, x, strict=True)


def test_tied_weights_are_replaced_together():
    a, b = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    b.weight = a.weight
    m = nn.Sequential(a, b)
    x, w = tp.ones(1, 1), tp.tensor([[3.0]])
    assert tp.func.functional_call(m, {"0.weight": w}, x).item() == 9.0
    alone = tp.func.functional_call(m, {"0.weight": w}, x, tie_weights=False)
    assert alone.item() == pytest.approx(3 * a.weight.item())
    with pytest.raises(ValueError, match="which are tied"):
        tp.func.functional_call(m, {"0.weight": w, "1.weight": w + 1}, x)


def test_buffers_that_a_call_writes_are_the_given_ones():
    m = nn.BatchNorm1d(2)
    state = {k: v.clone() for k, v in m.state_dict().items()}
    tp.func.functional_call(m, state, tp.tensor([[0.0, 1.0], [2.0, 3.0]]))
    assert m.running_mean.tolist() == [0.0, 0.0] and m.num_batches_tracked.item() == 0
    np.testing.assert_allclose(state["running_mean"].numpy(), [0.1, 0.2], rtol=1e-6)
    assert state["num_batches_tracked"].item() == 1


def test_models_are_called_as_an_ensemble():
    models = [nn.Linear(2, 3).double() for _ in range(4)]
    parameters, buffers = tp.func.stack_module_state(models)
    assert parameters["weight"].requires_grad and parameters["weight"].is_leaf and buffers == {}
    x = double((5, 2))
    skeleton = nn.Linear(2, 3, device="meta")
    out = tp.vmap(lambda p: tp.func.functional_call(skeleton, p, (x,)))(parameters)
    assert tp.allclose(out, tp.stack([m(x) for m in models]))
    with pytest.raises(RuntimeError, match="at least one model"):
        tp.func.stack_module_state([])
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        tp.func.stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).eval()])
    with pytest.raises(RuntimeError, match="same class"):
        tp.func.stack_module_state([nn.Linear(1, 1), nn.ReLU()])


def test_batch_normalisation_under_vmap():
    m = nn.Sequential(nn.BatchNorm1d(2).double())
    x = double((3, 4, 2))
    with pytest.raises(RuntimeError):
        tp.vmap(m)(x)
    assert tp.func.replace_all_batch_norm_modules_(m) is m
    assert tp.allclose(tp.vmap(m)(x), tp.stack([m(row) for row in x]))


# ---- fusion


@pytest.mark.parametrize(
    ("layer", "norm", "x", "transpose"),
    [
        (lambda: nn.Conv2d(2, 4, 3), nn.BatchNorm2d, (1, 2, 5, 5), False),
        (lambda: nn.Conv2d(2, 4, 3, bias=False), nn.BatchNorm2d, (1, 2, 5, 5), False),
        (lambda: nn.ConvTranspose2d(2, 4, 3), nn.BatchNorm2d, (1, 2, 5, 5), True),
        (lambda: nn.Linear(3, 4), nn.BatchNorm1d, (2, 3), None),
    ],
)
def test_fused_layers_do_the_work_of_two(layer, norm, x, transpose):
    layer, bn, x = layer().double(), norm(4).double(), double(x)
    for _ in range(3):
        bn(layer(x) * 3 + 1)
    with tp.no_grad():
        bn.weight.uniform_()
        bn.bias.uniform_()
    fuse = nn.utils.fuse_linear_bn_eval if transpose is None else nn.utils.fuse_conv_bn_eval
    with pytest.raises(AssertionError, match="eval"):
        fuse(layer, bn)
    layer.eval(), bn.eval()
    fused = fuse(layer, bn, transpose=True) if transpose else fuse(layer, bn)
    assert tp.allclose(fused(x), bn(layer(x))) and isinstance(fused.weight, nn.Parameter)


def test_weights_of_convolutions_get_a_memory_format():
    m = nn.Sequential(nn.Conv2d(2, 3, 2), nn.Linear(1, 1))
    nn.utils.convert_conv2d_weight_memory_format(m, tp.channels_last)
    assert m[0].weight.is_contiguous(memory_format=tp.channels_last) and isinstance(m[0].weight, nn.Parameter)


def test_attention_has_one_implementation_by_all_names():
    from tensorplay.nn.attention import SDPBackend, sdpa_kernel

    x = tp.randn(1, 2, 3, 4)
    for wanted in [*list(SDPBackend)[1:], list(SDPBackend)]:
        with sdpa_kernel(wanted, set_priority=True):
            out = nn.functional.scaled_dot_product_attention(x, x, x)
        assert tp.equal(out, nn.functional.scaled_dot_product_attention(x, x, x))
    for wanted, error in ((3, AssertionError), ([], RuntimeError), (SDPBackend.ERROR, RuntimeError)):
        with pytest.raises(error, match="(?i)backend"), sdpa_kernel(wanted):
            pass


def test_what_makes_tensors_is_told_from_other_arguments():
    assert nn.factory_kwargs(None) == {} == nn.factory_kwargs({})
    assert nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": 1}}) == {"device": "cpu", "dtype": 1}
    with pytest.raises(TypeError, match="unexpected kwargs .*other"):
        nn.factory_kwargs({"other": 1})
    with pytest.raises(TypeError, match="dtype.* specified twice"):
        nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"dtype": 1}})
