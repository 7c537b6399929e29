"""Schedules of learning rates: the rates of PyTorch, closed forms, resuming, and refusals."""

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import optim
from tensorplay.optim import lr_scheduler

CASES = json.loads((Path(__file__).parent / "data" / "optim_schedules.json").read_text())["cases"]
PLAIN = [c for c in CASES if "options" in c and c["name"] not in ("ReduceLROnPlateau", "SWALR")]


def two_groups():
    p, q = (tp.zeros(1, requires_grad=True) for _ in range(2))
    return optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=1.0, momentum=0.9)


def one_group(lr=1.0, **options):
    return optim.SGD([tp.zeros(1, requires_grad=True)], lr=lr, **options)


def rates(optimizer, schedule, epochs):
    out = []
    for _ in range(epochs):
        out.append([x for g in optimizer.param_groups for x in (g["lr"], g["momentum"])])
        optimizer.step()
        schedule.step()
    return out


def label(case):
    return f"{case['name']}-{case.get('options', case.get('parts'))}-{case.get('last_epoch', '')}"


def begun(case, optimizer):
    """The schedule of a case, resumed at its last epoch."""
    last_epoch = case.get("last_epoch", -1)
    if last_epoch != -1:
        for group in optimizer.param_groups:
            group["initial_lr"] = 2 * group["lr"]
    return getattr(lr_scheduler, case["name"])(optimizer, **case["options"], last_epoch=last_epoch)


@pytest.mark.parametrize("case", PLAIN, ids=label)
def test_rates_and_momentum_follow_pytorch(case):
    optimizer = two_groups()
    schedule = begun(case, optimizer)
    np.testing.assert_allclose(rates(optimizer, schedule, len(case["rates"])), case["rates"], rtol=1e-12, atol=1e-15)
    assert schedule.get_last_lr() == [g["lr"] for g in optimizer.param_groups]


def combined(case, optimizer):
    parts = [getattr(lr_scheduler, name)(optimizer, **options) for name, options in case["parts"]]
    if case["name"] == "SequentialLR":
        return lr_scheduler.SequentialLR(optimizer, parts, case["milestones"])
    return lr_scheduler.ChainedScheduler(parts)


@pytest.mark.parametrize("case", [c for c in CASES if "parts" in c], ids=label)
def test_combined_schedules_follow_pytorch(case):
    optimizer = two_groups()
    schedule = combined(case, optimizer)
    np.testing.assert_allclose(rates(optimizer, schedule, len(case["rates"])), case["rates"], rtol=1e-12)


@pytest.mark.parametrize("case", [c for c in CASES if c["name"] == "ReduceLROnPlateau"], ids=label)
def test_plateaus_are_found_as_pytorch_does(case):
    optimizer = two_groups()
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, **case["options"])
    for metric, want in zip(case["metrics"], case["rates"]):
        schedule.step(tp.tensor(metric))
        np.testing.assert_allclose([g["lr"] for g in optimizer.param_groups], want, rtol=1e-12)


@pytest.mark.parametrize("case", [c for c in CASES if c["name"] != "SWALR" and "last_epoch" not in c], ids=label)
def test_a_saved_schedule_goes_on(case):
    def start(optimizer):
        if "parts" in case:
            return combined(case, optimizer)
        return getattr(lr_scheduler, case["name"])(optimizer, **case["options"])

    def go(optimizer, schedule, metrics):
        out = []
        for metric in metrics:
            optimizer.step()
            schedule.step(*[metric] * (case["name"] == "ReduceLROnPlateau"))
            out.append([g["lr"] for g in optimizer.param_groups])
        return out

    metrics = case.get("metrics", range(18))
    optimizer = two_groups()
    schedule = start(optimizer)
    go(optimizer, schedule, metrics[:7])
    saved = pickle.loads(pickle.dumps((optimizer.state_dict(), schedule.state_dict())))
    other = two_groups()
    resumed = start(other)
    other.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    assert resumed.get_last_lr() == schedule.get_last_lr()
    assert go(other, resumed, metrics[7:]) == go(optimizer, schedule, metrics[7:])


CLOSED = [
    (lambda o: lr_scheduler.StepLR(o, 3), lambda t: 0.1 ** (t // 3)),
    (lambda o: lr_scheduler.MultiStepLR(o, [2, 5, 5]), lambda t: 0.1 ** ((t >= 2) + 2 * (t >= 5))),
    (lambda o: lr_scheduler.ConstantLR(o, 0.5, 3), lambda t: 0.5 if t < 3 else 1.0),
    (lambda o: lr_scheduler.LinearLR(o, 0.2, 1.0, 4), lambda t: 0.2 + 0.8 * min(t, 4) / 4),
    (lambda o: lr_scheduler.ExponentialLR(o, 0.9), lambda t: 0.9**t),
    (lambda o: lr_scheduler.PolynomialLR(o, 6, 2.0), lambda t: (1 - min(t, 6) / 6) ** 2),
    (lambda o: lr_scheduler.CosineAnnealingLR(o, 5), lambda t: (1 + math.cos(math.pi * t / 5)) / 2),
    (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 4), lambda t: (1 + math.cos(math.pi * (t % 4) / 4)) / 2),
    (lambda o: lr_scheduler.LambdaLR(o, lambda t: 1 / (1 + t)), lambda t: 1 / (1 + t)),
    (
        lambda o: lr_scheduler.MultiplicativeLR(o, lambda t: 0.5 + t),
        lambda t: math.prod(0.5 + i for i in range(1, t + 1)),
    ),
]


@pytest.mark.parametrize(("make", "formula"), CLOSED)
def test_rates_are_those_of_the_closed_form(make, formula):
    optimizer = one_group()
    schedule = make(optimizer)
    got = [x[0] for x in rates(optimizer, schedule, 14)]
    np.testing.assert_allclose(got, [formula(t) for t in range(14)], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("make", "formula"), CLOSED[:8])
def test_one_can_go_to_an_epoch(make, formula):
    optimizer = one_group()
    schedule = make(optimizer)
    optimizer.step()
    if isinstance(schedule, lr_scheduler.CosineAnnealingWarmRestarts):
        schedule.step(7)
    else:
        with pytest.warns(UserWarning, match="deprecated"):
            schedule.step(7)
    assert schedule.last_epoch == 7
    assert optimizer.param_groups[0]["lr"] == pytest.approx(formula(7))


def test_warm_restarts_take_fractions_of_an_epoch():
    optimizer = one_group()
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2)
    for epoch, part in [(0.5, 0.25), (1.5, 0.75), (2.0, 0.0), (3.0, 0.25), (6.0, 0.0), (8.0, 0.25)]:
        schedule.step(epoch)
        assert schedule.get_last_lr() == [pytest.approx((1 + math.cos(math.pi * part)) / 2)]


@pytest.mark.parametrize("name", ["CyclicLR", "OneCycleLR"])
def test_the_first_beta_runs_against_the_rate(name):
    optimizer = optim.Adam([tp.zeros(1, requires_grad=True)], betas=(0.5, 0.99))
    options = {"base_lr": 0.1, "step_size_up": 4} if name == "CyclicLR" else {"total_steps": 9, "pct_start": 0.5}
    schedule = getattr(lr_scheduler, name)(optimizer, max_lr=1.0, base_momentum=0.8, max_momentum=0.9, **options)
    seen = []
    for _ in range(8):
        seen.append((optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["betas"]))
        optimizer.step()
        schedule.step()
    assert all(betas[1] == 0.99 and 0.8 <= betas[0] <= 0.9 for _, betas in seen)
    assert np.corrcoef([lr for lr, _ in seen], [betas[0] for _, betas in seen])[0, 1] < -0.99


def test_the_height_of_cycles_may_be_given():
    optimizer = one_group(momentum=0.9)
    schedule = lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=1, scale_fn=lambda cycle: 1 / cycle)
    got = [x[0] for x in rates(optimizer, schedule, 6)]
    np.testing.assert_allclose(got, [0, 1, 0, 1 / 2, 0, 1 / 3], atol=1e-12)


def test_a_rate_that_is_a_tensor_is_written_in_place():
    rate = tp.tensor(1.0)
    optimizer = optim.SGD([tp.zeros(1, requires_grad=True)], lr=rate)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    for _ in range(2):
        optimizer.step()
        schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.25
    assert schedule.get_last_lr()[0].item() == 0.25 and schedule.base_lrs[0].item() == 1.0


def test_schedules_act_on_one_another():
    optimizer = one_group()
    schedules = [lr_scheduler.ExponentialLR(optimizer, 0.5), lr_scheduler.StepLR(optimizer, 2, 0.1)]
    for _ in range(2):
        optimizer.step()
        for schedule in schedules:
            schedule.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5**2 * 0.1)


class Decay:
    """A callable with a state of its own."""

    def __init__(self, base):
        self.base = base

    def __call__(self, epoch):
        return self.base**epoch


OF_ALL = ["_get_lr_called_within_step", "_is_initial", "_last_lr", "_step_count", "base_lrs", "last_epoch"]
KEYS = [
    (lambda o: lr_scheduler.StepLR(o, 2), [*OF_ALL, "gamma", "step_size"]),
    (lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0),
     [*OF_ALL, "_scale_fn_custom", "base_momentums", "cycle_momentum", "gamma", "max_lrs", "max_momentums", "mode",
      "scale_mode", "step_ratio", "total_size", "use_beta1"]),
    (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 10),
     [*OF_ALL, "_anneal_func_type", "_schedule_phases", "cycle_momentum", "total_steps", "use_beta1"]),
    (lambda o: lr_scheduler.ReduceLROnPlateau(o),
     ["_last_lr", "best", "cooldown", "cooldown_counter", "default_min_lr", "eps", "factor", "last_epoch", "min_lrs",
      "mode", "mode_worse", "num_bad_epochs", "patience", "threshold", "threshold_mode"]),
]  # fmt: skip


@pytest.mark.parametrize("make, keys", KEYS, ids=[keys[-1] for _, keys in KEYS])
def test_states_have_the_keys_of_pytorchs(make, keys):
    assert sorted(make(two_groups()).state_dict()) == sorted(keys)


def test_cycles_leave_their_momenta_in_the_groups():
    optimizer = two_groups()
    lr_scheduler.CyclicLR(optimizer, 0.1, 1.0, base_momentum=0.7)
    assert [(g["base_momentum"], g["max_momentum"]) for g in optimizer.param_groups] == [(0.7, 0.9)] * 2


def test_a_schedule_can_tell_whether_its_rates_are_asked_for_within_a_step():
    class Told(lr_scheduler.LRScheduler):
        def get_lr(self):
            seen.append(self._get_lr_called_within_step)
            return self.base_lrs

    seen = []
    optimizer = two_groups()
    schedule = Told(optimizer)
    optimizer.step()
    schedule.step()
    schedule.get_lr()
    assert seen == [True, True, False]


def test_attributes_of_callables_are_saved_and_functions_are_not():
    schedule = lr_scheduler.LambdaLR(two_groups(), [Decay(0.5), lambda epoch: 1.0])
    saved = schedule.state_dict()
    assert saved["lr_lambdas"] == [{"base": 0.5}, None] and "optimizer" not in saved
    other = lr_scheduler.LambdaLR(two_groups(), [Decay(0.9), lambda epoch: 1.0])
    other.load_state_dict(saved)
    assert other.lr_lambdas[0].base == 0.5


def test_a_step_of_the_schedule_before_that_of_the_optimizer_is_warned_of():
    schedule = lr_scheduler.StepLR(one_group(), 2)
    with pytest.warns(UserWarning, match=r"before optimizer.step\(\)"):
        schedule.step()


def test_plateaus_of_new_groups():
    optimizer = one_group()
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=0.05)
    listed = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.05])
    optimizer.add_param_group({"params": [tp.zeros(1)], "lr": 0.2})
    for _ in range(2):
        schedule.step(1.0)
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.05]
    listed.step(1.0)
    with pytest.raises(RuntimeError, match="has 2 param groups, but min_lr was given for 1"):
        listed.step(1.0)


def test_one_cycle_ends():
    optimizer = one_group(momentum=0.9)
    schedule = lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=2)
    rates(optimizer, schedule, 2)
    with pytest.raises(ValueError, match="Tried to step 3 times. The specified number of total steps is 2"):
        schedule.step()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda o: lr_scheduler.StepLR(3, 2), TypeError, "int is not an Optimizer"),
        (lambda o: lr_scheduler.StepLR(o, 2, last_epoch=1), KeyError, "'initial_lr' is not specified"),
        (lambda o: lr_scheduler.LambdaLR(o, [Decay(1)] * 2), ValueError, "Expected 1 lr_lambdas, but got 2"),
        (lambda o: lr_scheduler.ConstantLR(o, 2.0), ValueError, "between 0 and 1"),
        (lambda o: lr_scheduler.LinearLR(o, 0.0), ValueError, "greater than 0 and less or equal to 1"),
        (lambda o: lr_scheduler.LinearLR(o, 0.5, 2.0), ValueError, "Ending multiplicative factor"),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError, "positive integer T_0, but got 0"),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 1, 0), ValueError, "integer T_mult >= 1, but got 0"),
        (lambda o: lr_scheduler.CyclicLR(o, [0.1, 0.2], 1.0), ValueError, "base_lr must have the same length"),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, mode="square"), ValueError, "mode is invalid"),
        (lambda o: lr_scheduler.CyclicLR(optim.Rprop([tp.zeros(1)]), 0.1, 1.0), ValueError, "must support momentum"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0), ValueError, "define either total_steps OR"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=-1), ValueError, "positive integer total_steps"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 9, pct_start=2.0), ValueError, "between 0 and 1 pct_start"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 9, anneal_strategy="sin"), ValueError, "must be one of 'cos'"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be < 1.0"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="mean"), ValueError, "mode mean is unknown"),
        (lambda o: lr_scheduler.SequentialLR(o, [], []), ValueError, "at least one scheduler"),
        (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 1)], [1]), ValueError, "1 schedulers and 1"),
        (
            lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(one_group(), 1)], []),
            ValueError,
            "same optimizer",
        ),
        (lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ReduceLROnPlateau(o)]), ValueError, "takes a metric"),
        (lambda o: lr_scheduler.LRScheduler(o), NotImplementedError, "LRScheduler defines no get_lr"),
    ],
)
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make(one_group())
