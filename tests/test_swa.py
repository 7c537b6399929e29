"""Averages of weights: means, exponential averages, buffers, and the rate that goes with them."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn, optim
from tensorplay.optim import swa_utils

CASES = json.loads((Path(__file__).parent / "data" / "optim_schedules.json").read_text())["cases"]


class Model(nn.Module):
    """A weight, a running value and a count."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(tp.zeros(2))
        self.register_buffer("running", tp.zeros(2))
        self.register_buffer("seen", tp.tensor(0))

    def forward(self, x):
        return x * self.weight

    def put(self, value, count):
        with tp.no_grad():
            self.weight.fill_(value)
            self.running.fill_(10 * value)
            self.seen.fill_(count)


VALUES = [1.0, 2.0, 6.0, -3.0]


def averaged(**options):
    model = Model()
    average = swa_utils.AveragedModel(model, **options)
    for i, value in enumerate(VALUES):
        model.put(value, i)
        average.update_parameters(model)
    return average


def exponential(decay):
    value = VALUES[0]
    for v in VALUES[1:]:
        value = decay * value + (1 - decay) * v
    return value


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, np.mean(VALUES)),
        ({"avg_fn": swa_utils.get_swa_avg_fn()}, np.mean(VALUES)),
        ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, np.mean(VALUES)),
        ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, exponential(0.75)),
        ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)}, exponential(0.75)),
        ({"avg_fn": lambda average, value, n: tp.maximum(average, value)}, 6.0),
    ],
)
@pytest.mark.parametrize("use_buffers", [False, True])
def test_weights_are_averaged_and_buffers_as_asked(options, want, use_buffers):
    average = averaged(use_buffers=use_buffers, **options)
    assert average.n_averaged.item() == 4
    np.testing.assert_allclose(average.module.weight.detach().numpy(), [want] * 2, rtol=1e-6)
    np.testing.assert_allclose(
        average.module.running.numpy(), [10 * (want if use_buffers else VALUES[-1])] * 2, rtol=1e-6
    )
    assert average.module.seen.dtype is tp.int64


def test_the_average_is_a_copy_that_answers_as_the_model():
    model = Model()
    model.put(2.0, 0)
    average = swa_utils.AveragedModel(model)
    model.put(5.0, 0)
    assert average(tp.ones(2)).tolist() == [2.0, 2.0]
    assert isinstance(average.module.weight, nn.Parameter) and average.module.weight.requires_grad


def test_an_average_can_be_saved_and_resumed():
    average, other = averaged(), swa_utils.AveragedModel(Model())
    other.load_state_dict(average.state_dict())
    assert {*average.state_dict()} == {"n_averaged", "module.weight", "module.running", "module.seen"}
    model = Model()
    model.put(7.0, 1)
    for a in (average, other, clone := copy.deepcopy(average)):
        a.update_parameters(model)
    assert other.n_averaged.item() == 5
    assert tp.equal(other.module.weight, average.module.weight)
    assert clone.n_averaged.item() == 5 and tp.equal(clone.module.weight, average.module.weight)


@pytest.mark.parametrize("make", [swa_utils.get_ema_avg_fn, swa_utils.get_ema_multi_avg_fn])
@pytest.mark.parametrize("decay", [-0.1, 1.5])
def test_decays_outside_the_unit_interval_are_refused(make, decay):
    with pytest.raises(ValueError, match="Invalid decay value"):
        make(decay)


def test_two_functions_are_refused():
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        swa_utils.AveragedModel(Model(), avg_fn=lambda *a: a[0], multi_avg_fn=lambda *a: None)


class BatchNormOfMeans(nn.Module):
    """The running mean of a batch norm, cumulative without momentum."""

    def __init__(self):
        super().__init__()
        self.momentum = 0.1
        self.register_buffer("running_mean", tp.full((2,), 9.0))
        self.count = 5

    def reset_running_stats(self):
        self.running_mean.zero_()
        self.count = 0

    def forward(self, x):
        if self.training:
            self.count += 1
            weight = self.momentum if self.momentum is not None else 1 / self.count
            self.running_mean += weight * (x.mean(0) - self.running_mean)
        return x


@pytest.mark.parametrize("pairs", [False, True])
def test_statistics_are_computed_anew_over_all_batches(pairs):
    norm = BatchNormOfMeans()
    model = nn.Sequential(nn.Identity(), norm)
    model.eval()
    batches = [tp.tensor(np.random.default_rng(i).normal(size=(4, 2)), dtype=tp.float32) for i in range(3)]
    swa_utils.update_bn([(b, "label") for b in batches] if pairs else batches, model)
    np.testing.assert_allclose(norm.running_mean.numpy(), np.mean([b.numpy() for b in batches], (0, 1)), rtol=1e-5)
    assert norm.momentum == 0.1 and not model.training


def test_without_batch_norms_no_batch_is_taken():
    swa_utils.update_bn(iter(lambda: pytest.fail("a batch was taken"), None), Model())


@pytest.mark.parametrize("case", [c for c in CASES if c["name"] == "SWALR"], ids=lambda c: str(c["options"]))
def test_the_rate_follows_pytorch(case):
    p, q = (tp.zeros(1, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=1.0, momentum=0.9)
    schedule = swa_utils.SWALR(optimizer, **case["options"])
    got = []
    for _ in case["rates"]:
        got.append([x for g in optimizer.param_groups for x in (g["lr"], g["momentum"])])
        optimizer.step()
        schedule.step()
    np.testing.assert_allclose(got, case["rates"], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"swa_lr": 0.1, "anneal_strategy": "sin"}, "must by one of 'cos' or 'linear'"),
        ({"swa_lr": 0.1, "anneal_epochs": -1}, "equal or greater than 0, got -1"),
        ({"swa_lr": [0.1, 0.2]}, "swa_lr must have the same length"),
    ],
)
def test_bad_schedules_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        swa_utils.SWALR(optim.SGD([tp.zeros(1)]), **options)
