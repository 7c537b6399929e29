"""Modules: what they own, how they are walked, saved and loaded."""

import copy
import pickle

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(tp.tensor([2.0, 3.0]))
        self.register_buffer("seen", tp.zeros(2))
        self.register_buffer("scratch", tp.zeros(1), persistent=False)

    def forward(self, x):
        return self.factor * x


def model():
    tp.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2)))


def test_linear_is_the_affine_map():
    layer = nn.Linear(3, 2)
    x = tp.randn(5, 3)
    want = x.numpy() @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(x).detach().numpy(), want, rtol=1e-6)
    assert nn.Linear(3, 2, bias=False).bias is None


def test_initial_weights_lie_within_the_bound_of_their_fan_in():
    layer = nn.Linear(100, 50)
    bound = 1 / 10
    assert layer.weight.abs().max().item() <= bound and layer.bias.abs().max().item() <= bound
    assert layer.weight.std().item() == pytest.approx(bound / np.sqrt(3), rel=0.1)


def test_parameters_buffers_and_modules_are_found_by_name():
    m = nn.Sequential(Scale(), Scale())
    assert [n for n, _ in m.named_parameters()] == ["0.factor", "1.factor"]
    assert [n for n, _ in m.named_buffers()] == ["0.seen", "0.scratch", "1.seen", "1.scratch"]
    assert [n for n, _ in m.named_modules()] == ["", "0", "1"]
    assert list(m.state_dict()) == ["0.factor", "0.seen", "1.factor", "1.seen"]
    assert m.get_submodule("1") is m[1] and m.get_parameter("0.factor") is m[0].factor
    with pytest.raises(AttributeError, match="no attribute"):
        m.get_submodule("2")


def test_shared_parameters_are_counted_once():
    a = Scale()
    m = nn.ModuleList([a, a])
    assert len(list(m.parameters())) == 1
    b = Scale()
    b.factor = a.factor
    assert len(list(nn.ModuleList([a, b]).parameters())) == 1


def test_state_dict_round_trip_and_refusals():
    m, other = model(), model()
    for p in other.parameters():
        with tp.no_grad():
            p.zero_()
    assert repr(other.load_state_dict(m.state_dict())) == "<All keys matched successfully>"
    x = tp.randn(2, 3)
    assert tp.equal(m(x), other(x))
    state = m.state_dict()
    state.pop("0.bias")
    state["more"] = tp.zeros(1)
    before = {k: v.clone() for k, v in other.state_dict().items()}
    with pytest.raises(
        RuntimeError, match=r'Missing key\(s\) in state_dict: "0.bias"(.|\n)*Unexpected key\(s\).*"more"'
    ):
        other.load_state_dict(state)
    assert all(tp.equal(before[k], v) for k, v in other.state_dict().items())
    result = other.load_state_dict(state, strict=False)
    assert result.missing_keys == ["0.bias"] and result.unexpected_keys == ["more"]
    with pytest.raises(RuntimeError, match="size mismatch for 0.bias"):
        other.load_state_dict({**m.state_dict(), "0.bias": tp.zeros(7)})


def test_loading_with_assign_takes_the_tensors_themselves():
    m = Scale()
    new = tp.tensor([5.0, 6.0])
    m.load_state_dict({"factor": new, "seen": tp.ones(2)}, assign=True)
    new.mul_(2)
    assert m.factor.tolist() == [10.0, 12.0] and m.factor.requires_grad


def test_modes_reach_all_modules():
    m = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.9)))
    x = tp.ones(1000)
    m.train()
    assert 0 < (m[0](x) == 0).sum().item() < 1000
    m.eval()
    assert tp.equal(m(x), x) and not m[1][0].training


def test_to_changes_floating_point_tensors_alone():
    m = Scale()
    m.register_buffer("count", tp.tensor(3))
    m.double()
    assert m.factor.dtype is tp.float64 and m.seen.dtype is tp.float64 and m.count.dtype is tp.int64
    assert isinstance(m.factor, nn.Parameter) and m.factor.requires_grad


def test_hooks_see_and_may_replace():
    m, seen = nn.Identity(), []
    first = m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    second = m.register_forward_hook(lambda module, args, out: seen.append(out.item()) or out * 10)
    assert m(tp.tensor(1.0)).item() == 20.0 and seen == [2.0]
    first.remove()
    second.remove()
    assert m(tp.tensor(1.0)).item() == 1.0


def test_zero_grad_and_requires_grad():
    m = model()
    m(tp.randn(2, 3)).sum().backward()
    m.zero_grad(set_to_none=False)
    assert all((p.grad == 0).all().item() for p in m.parameters())
    m.zero_grad()
    assert all(p.grad is None for p in m.parameters())
    m.requires_grad_(False)
    assert not m(tp.randn(2, 3)).requires_grad


def test_copies_and_pickles_are_independent_and_keep_the_class():
    m = model()
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert isinstance(twin[0].weight, nn.Parameter) and twin[0].weight.requires_grad
        with tp.no_grad():
            twin[0].weight.zero_()
        assert m[0].weight.abs().sum().item() > 0


def test_printing():
    assert repr(model()) == (
        "Sequential(\n  (0): Linear(in_features=3, out_features=4, bias=True)\n  (1): ReLU()\n  (2): Sequential(\n"
        "    (0): Linear(in_features=4, out_features=2, bias=True)\n  )\n)"
    )


@pytest.mark.parametrize(
    ("assign", "error", "message"),
    [
        (lambda m: setattr(m, "factor", tp.zeros(2)), TypeError, "cannot assign 'Tensor' object to parameter 'factor'"),
        (lambda m: m.register_parameter("a.b", None), KeyError, "contain '.'"),
        (lambda m: m.register_buffer("forward", None), KeyError, "already exists"),
        (lambda m: m.register_buffer("factor", tp.ones(1)), KeyError, "attribute 'factor' already exists"),
        (lambda m: m.add_module("factor", nn.Identity()), KeyError, "attribute 'factor' already exists"),
        (lambda m: m.add_module("x", 3), TypeError, "not a Module subclass"),
        (lambda m: m.nothing, AttributeError, "'Scale' object has no attribute 'nothing'"),
    ],
)
def test_bad_assignments(assign, error, message):
    with pytest.raises(error, match=message):
        assign(Scale())


def test_what_a_class_has_hides_no_parameter():
    class Hidden(nn.Module):
        weight = None

    with pytest.raises(KeyError, match="attribute 'weight' already exists"):
        Hidden().weight = nn.Parameter(tp.zeros(1))


def test_init_takes_arguments_for_a_base_that_follows():
    class Named:
        def __init__(self, name):
            self.name = name

    class Both(nn.Module, Named):
        call_super_init = True

    assert Both("x").name == "x"
    with pytest.raises(TypeError, match="unexpected keyword argument 'name'"):
        nn.Module(name="x")


@pytest.mark.parametrize(
    ("find", "message"),
    [
        (lambda m: m.get_parameter("seen"), "`seen` is not an nn.Parameter"),
        (lambda m: m.get_buffer("factor"), "`factor` is not a buffer"),
        (lambda m: m.get_buffer("other"), "Scale has no attribute `other`"),
    ],
)
def test_what_a_name_leads_to_is_said(find, message):
    with pytest.raises(AttributeError, match=message):
        find(Scale())


def test_values_for_a_module_without_memory_are_assigned_or_left_out_with_a_warning():
    with tp.device("meta"):
        m = nn.Linear(2, 1)
    state = nn.Linear(2, 1).state_dict()
    with pytest.warns(UserWarning, match="Did you mean to pass `assign=True`"):
        m.load_state_dict(state)
    assert m.weight.is_meta
    m.requires_grad_(False)
    m.load_state_dict({k: nn.Parameter(v) for k, v in state.items()}, assign=True)
    assert tp.equal(m.weight, state["weight"]) and not m.weight.requires_grad


def test_a_module_without_init_says_so():
    class Hasty(nn.Module):
        def __init__(self):
            self.p = nn.Parameter(tp.zeros(1))

    with pytest.raises(AttributeError, match="before Module.__init__"):
        Hasty()


def test_losses_are_their_functions():
    x, y = tp.randn(4, 3), tp.randn(4, 3)
    assert nn.MSELoss()(x, y).item() == pytest.approx(float(((x - y) ** 2).mean()))
    labels = tp.tensor([0, 2, 1, 1])
    z = x.numpy() - x.numpy().max(1, keepdims=True)
    want = -(z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(4), labels.numpy()].mean()
    assert nn.CrossEntropyLoss()(x, labels).item() == pytest.approx(want, rel=1e-5)


def test_gains_and_fans_of_initialisation():
    w = tp.empty(64, 32)
    nn.init.kaiming_normal_(w, nonlinearity="relu")
    assert w.std().item() == pytest.approx(np.sqrt(2 / 32), rel=0.1)
    nn.init.xavier_uniform_(w)
    assert w.abs().max().item() <= np.sqrt(6 / 96)
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_normal_(tp.empty(3))
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        nn.init.calculate_gain("step")


def test_layers_are_found_where_pytorch_has_them():
    from tensorplay.nn.modules.distance import PairwiseDistance

    from tensorplay.nn.modules import batchnorm, upsampling

    assert PairwiseDistance is nn.modules.PairwiseDistance is nn.PairwiseDistance
    assert batchnorm.BatchNorm2d is nn.BatchNorm2d and upsampling.Upsample is nn.Upsample
    assert {n for n, c in vars(nn).items() if isinstance(c, type) and issubclass(c, nn.Module)} <= set(
        vars(nn.modules)
    )


@pytest.mark.parametrize(
    "options",
    [{"batch_chunk_size": 0}, {"chunking_method": "rows"}, {"acc_policy": "some"}, {"acc_dtype": tp.int64}],
)
def test_options_of_linear_cross_entropy_are_checked(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        nn.LinearCrossEntropyOptions(**options)
    with pytest.raises(TypeError, match="LinearCrossEntropyOptions"):
        nn.functional.linear_cross_entropy(tp.ones(2, 3), tp.ones(4, 3), tp.tensor([0, 1]), options=options)


@pytest.mark.parametrize("n, options", [(1, {}), (2, {"stride": 2, "padding": 1, "groups": 2}), (2, {"stride": (1, 3)}),
                                        (3, {"dilation": 2, "padding": (2, 1, 0)})])  # fmt: skip
def test_gradients_of_convolutions_are_those_of_autograd(n, options):
    rng = np.random.default_rng(0)
    input = tp.tensor(rng.normal(size=(2, 4, *(8, 7, 6)[:n])), requires_grad=True)
    weight = tp.tensor(rng.normal(size=(6, 4 // options.get("groups", 1), *(3, 2, 2)[:n])), requires_grad=True)
    out = getattr(nn.functional, f"conv{n}d")(input, weight, **options)
    g = tp.tensor(rng.normal(size=tuple(out.shape)), requires_grad=True)
    by_input = getattr(nn.grad, f"conv{n}d_input")(input.shape, weight, g, **options)
    by_weight = getattr(nn.grad, f"conv{n}d_weight")(input, weight.shape, g, **options)
    want = tp.autograd.grad(out, (input, weight), g, create_graph=True)
    for got, expected in zip((by_input, by_weight), want):
        np.testing.assert_allclose(got.detach(), expected.detach(), atol=1e-12)
    (once,), (twice,) = (tp.autograd.grad(t.square().sum(), g) for t in (by_input, want[0]))
    np.testing.assert_allclose(once, twice, atol=1e-10)


def test_gradients_of_convolutions_check_shapes():
    with pytest.raises(RuntimeError, match=r"conv2d_input\(\): argument 'grad_output' .* \[1, 1, 2, 2\], got"):
        nn.grad.conv2d_input((1, 2, 3, 3), tp.ones(1, 2, 2, 2), tp.ones(1, 1, 3, 3))
    with pytest.raises(RuntimeError, match="input size of 3 dimensions"):
        nn.grad.conv1d_weight(tp.ones(2, 3), (1, 2, 2), tp.ones(1, 2))


def test_a_prefix_is_taken_off_the_names_of_a_state_dict():
    state = nn.DataParallel(nn.Sequential(nn.Linear(1, 2))).state_dict()
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["0.weight", "0.bias"] and "0" in state._metadata
    nn.Sequential(nn.Linear(1, 2)).load_state_dict(state)


def test_functions_tell_their_names():
    assert [f.__name__ for f in (nn.functional.relu, nn.functional.softmax, nn.functional.gelu)] == [
        "relu", "softmax", "gelu"]  # fmt: skip
    assert pickle.loads(pickle.dumps(nn.functional.relu)) is nn.functional.relu
