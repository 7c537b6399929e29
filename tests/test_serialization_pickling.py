"""What models are made of is pickled and copied: operators, dtypes and devices by name, the rest by value."""

import copy
import inspect
import pickle

import pytest

import tensorplay as tp
from tensorplay import nn, optim
from tensorplay.core import dtype
from tensorplay.core.operator import OPERATORS

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def twins(value, protocols=PROTOCOLS):
    """What comes back from a pickle of each protocol, and from the two ways to copy."""
    return [*(pickle.loads(pickle.dumps(value, p)) for p in protocols), copy.deepcopy(value), copy.copy(value)]


@pytest.mark.parametrize("namespace", list(OPERATORS))
def test_operators_are_pickled_by_name(namespace):
    for name in list(OPERATORS[namespace]):
        function = OPERATORS[namespace][name].function
        assert all(twin is function for twin in twins(function)), name


class Doubled(tp.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


NAMED = {**{str(d): d for d in dtype.ALL}, **{v.__name__: v for v in (tp.Tensor, tp.vmap, tp.no_grad, Doubled)}}


@pytest.mark.parametrize("value", NAMED.values(), ids=NAMED)
def test_what_has_a_name_is_itself_again(value):
    assert all(twin is value for twin in twins(value))


@pytest.mark.parametrize(
    "value",
    [tp.device("cpu"), tp.device("meta"), tp.Size([2, 3]), tp.strided, tp.channels_last, tp.finfo(tp.complex64),
     tp.iinfo(tp.int8)],
    ids=str,
)  # fmt: skip
def test_small_values_are_equal_again(value):
    for twin in twins(value):
        assert type(twin) is type(value) and twin == value and repr(twin) == repr(value)


def test_the_rule_of_a_function_is_applied_by_what_was_pickled():
    x = tp.ones(2, requires_grad=True)
    pickle.loads(pickle.dumps(Doubled.apply))(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_generators_go_on_where_they_were():
    generator = tp.Generator().manual_seed(3)
    tp.rand(5, generator=generator)
    others = [pickle.loads(pickle.dumps(generator, p)) for p in PROTOCOLS] + [copy.deepcopy(generator)]
    want = tp.rand(4, generator=generator)
    assert all(tp.equal(tp.rand(4, generator=g), want) for g in others)


ARGUMENTS = [(), (4,), (4, 4), (4, 4, 3), (4, 2), (8, 2, 2), (2, 3, 4)]
SPECIAL = {
    "AdaptiveLogSoftmaxWithLoss": (8, 6, [2, 4], 1.5), "Unflatten": (1, (2, 2)), "RNNBase": ("GRU", 2, 3),
    "RNNCellBase": (2, 3, True, 4), "Transformer": (4, 2, 1, 1, 8),
    "TransformerEncoder": (nn.TransformerEncoderLayer(4, 2, 4), 2),
    "TransformerDecoder": (nn.TransformerDecoderLayer(4, 2, 4), 2),
}  # fmt: skip
LAYERS = [name for name in dir(nn) if inspect.isclass(getattr(nn, name)) and issubclass(getattr(nn, name), nn.Module)]


def layer(name):
    """The layer, made with the first arguments that it takes."""
    for arguments in [SPECIAL[name]] if name in SPECIAL else ARGUMENTS:
        try:
            return getattr(nn, name)(*arguments)
        except (TypeError, ValueError):
            continue
    raise AssertionError(f"no arguments for {name}")


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_the_same_in_memory_of_their_own(name):
    made = layer(name)
    for twin in twins(made, [2, pickle.HIGHEST_PROTOCOL])[:-1]:
        assert type(twin) is type(made) and repr(twin) == repr(made)
        state = made.state_dict()
        assert list(twin.state_dict()) == list(state)
        for key, value in twin.state_dict().items():
            if isinstance(state[key], tp.Tensor) and not nn.parameter.is_lazy(state[key]):
                assert tp.equal(value, state[key]) and (value.data_ptr() != state[key].data_ptr() or not value.numel())


OPTIMIZERS = [name for name in dir(optim) if inspect.isclass(getattr(optim, name))
              and issubclass(getattr(optim, name), optim.Optimizer) and name != "Optimizer"]  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_and_its_model_go_on_together(name):
    def step(model, optimizer):
        def closure():
            optimizer.zero_grad()
            loss = model(tp.arange(6.0).reshape(2, 3)).square().mean()
            loss.backward()
            return loss

        optimizer.step(closure)

    model = nn.Linear(3, 2, bias=False)
    optimizer = getattr(optim, name)(model.parameters(), lr=0.01)
    step(model, optimizer)
    pairs = [pickle.loads(pickle.dumps((model, optimizer))), copy.deepcopy((model, optimizer))]
    step(model, optimizer)
    for twin, twin_optimizer in pairs:
        step(twin, twin_optimizer)
        assert tp.equal(twin.weight, model.weight) and repr(twin_optimizer) == repr(optimizer)
