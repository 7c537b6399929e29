"""Optimizers: each step against the formula or PyTorch's path, and what surrounds a step."""

import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import optim
from tensorplay.optim import elementwise
from tensorplay.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

START, TARGET = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.5, -1.0])
TABLE = json.loads((Path(__file__).parent / "data" / "optim.json").read_text())
ALL = ["SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "Adafactor", "ASGD", "RMSprop",
       "Rprop", "LBFGS", "Muon"]  # fmt: skip
ELEMENTWISE = [name for name in ALL if name not in ("Adafactor", "LBFGS", "Muon")]
EXTRA = {"SGD": {"momentum": 0.9}, "LBFGS": {"max_iter": 3}}


def made(name, params, **options):
    return getattr(optim, name)(params, **{**EXTRA.get(name, {}), **options})


def closure_of(optimizer, params):
    def closure():
        optimizer.zero_grad()
        loss = sum(((p - 0.25).abs() ** 2 * (1 + p.abs())).sum() for p in params)
        loss.backward()
        return loss

    return closure


def train(optimizer, params, steps):
    """Steps towards 0.25; the path of all elements."""
    path, closure = [], closure_of(optimizer, params)
    for _ in range(steps):
        optimizer.step(closure)
        path.append(np.concatenate([p.detach().numpy().reshape(-1).copy() for p in params]))
    return np.array(path)


def leaf(seed=0, shape=(3, 2), dtype=None):
    return tp.tensor(np.random.default_rng(seed).normal(size=shape), dtype=dtype, requires_grad=True)


# ---- paths


def gradients(x):
    """Of sum((x - target)^4) / 4."""
    return (x - TARGET) ** 3


def run(make, steps=50):
    x = tp.tensor(START, requires_grad=True)
    optimizer = make([x])
    path = []
    for _ in range(steps):
        optimizer.zero_grad()
        ((x - tp.tensor(TARGET)) ** 4).sum().div(4).backward()
        optimizer.step()
        path.append(x.detach().numpy().copy())
    return np.array(path)


def sgd(lr=0.01, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    x, buffer = START.copy(), None
    while True:
        g = gradients(x) * (-1 if maximize else 1) + weight_decay * x
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        x = x - lr * g
        yield x


def adam(lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False, decoupled=False):
    x, m, v, largest, t = START.copy(), 0.0, 0.0, 0.0, 0
    while True:
        t += 1
        g = gradients(x) * (-1 if maximize else 1)
        if decoupled:
            x = x * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * x
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        largest = np.maximum(largest, v)
        second = (largest if amsgrad else v) / (1 - betas[1] ** t)
        x = x - lr * m / (1 - betas[0] ** t) / (np.sqrt(second) + eps)
        yield x


def adagrad(lr=0.01, lr_decay=0.0, eps=1e-10):
    x, total, t = START.copy(), 0.0, 0
    while True:
        total = total + gradients(x) ** 2
        x = x - lr / (1 + t * lr_decay) * gradients(x) / (np.sqrt(total) + eps)
        t += 1
        yield x


def adamax(lr=0.01, betas=(0.9, 0.999), eps=1e-8):
    x, m, u, t = START.copy(), 0.0, 0.0, 0
    while True:
        t += 1
        g = gradients(x)
        m = betas[0] * m + (1 - betas[0]) * g
        u = np.maximum(betas[1] * u, np.abs(g) + eps)
        x = x - lr / (1 - betas[0] ** t) * m / u
        yield x


def adadelta(lr=0.01, rho=0.9, eps=1e-6):
    x, v, u = START.copy(), 0.0, 0.0
    while True:
        g = gradients(x)
        v = rho * v + (1 - rho) * g * g
        delta = np.sqrt(u + eps) / np.sqrt(v + eps) * g
        u = rho * u + (1 - rho) * delta * delta
        x = x - lr * delta
        yield x


def rmsprop(lr=0.01, alpha=0.99, eps=1e-8, momentum=0.0, centered=False):
    x, v, mean, velocity = START.copy(), 0.0, 0.0, 0.0
    while True:
        g = gradients(x)
        v = alpha * v + (1 - alpha) * g * g
        mean = alpha * mean + (1 - alpha) * g
        velocity = momentum * velocity + g / (np.sqrt(v - mean**2 if centered else v) + eps)
        x = x - lr * velocity
        yield x


CASES = [
    (optim.SGD, sgd, {}),
    (optim.SGD, sgd, {"momentum": 0.9}),
    (optim.SGD, sgd, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    (optim.SGD, sgd, {"momentum": 0.5, "nesterov": True}),
    (optim.SGD, sgd, {"maximize": True, "lr": 1e-4}),
    (optim.Adam, adam, {}),
    (optim.Adam, adam, {"betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    (optim.Adam, adam, {"amsgrad": True, "lr": 0.1}),
    (optim.Adam, adam, {"maximize": True}),
    (optim.AdamW, adam, {"weight_decay": 0.3, "decoupled": True}),
    (optim.Adamax, adamax, {}),
    (optim.Adagrad, adagrad, {"lr_decay": 0.1}),
    (optim.Adadelta, adadelta, {"rho": 0.8}),
    (optim.RMSprop, rmsprop, {"momentum": 0.5}),
    (optim.RMSprop, rmsprop, {"centered": True, "alpha": 0.9}),
]


@pytest.mark.parametrize(("cls", "formula", "options"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_fifty_steps_follow_the_formula(cls, formula, options):
    steps = formula(**options)
    want = np.array([next(steps) for _ in range(50)])
    given = {"lr": 0.01, **{k: v for k, v in options.items() if k != "decoupled"}}
    np.testing.assert_allclose(run(lambda params: cls(params, **given)), want, rtol=1e-10)


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda c: f"{c['name']}-{c['options']}-{c['complex']}")
def test_fifty_steps_follow_pytorch(case):
    dtype = complex if case["complex"] else float
    a, v = np.array(TABLE["matrix"], dtype), np.array(TABLE["vector"], dtype)
    if case["complex"]:
        a, v = a * (1 + 0.5j), v * (0.5 - 1j)
    a, v = tp.tensor(a, requires_grad=True), tp.tensor(v, requires_grad=True)
    target = tp.tensor(np.array(TABLE["target"], dtype))
    params = [a] if case["name"] == "Muon" else [a, v]
    options = {k: tuple(x) if isinstance(x, list) else x for k, x in case["options"].items()}
    optimizer = getattr(optim, case["name"])(params, **options)

    def closure():
        optimizer.zero_grad()
        residual = a @ v - target
        loss = (residual.abs() ** 2).sum() + 0.1 * (a.abs() ** 2).sum() + 0.05 * ((v.abs() ** 2) ** 2).sum()
        loss.backward()
        return loss

    path = []
    for step in range(1, TABLE["steps"] + 1):
        optimizer.step(closure)
        if step in TABLE["kept"]:
            path.append(np.concatenate([p.detach().numpy().view(float).reshape(-1) for p in params]))
    # Muon rounds to bfloat16, where a tie may go either way
    np.testing.assert_allclose(path, case["path"], atol=1e-4 if case["name"] == "Muon" else 1e-8, rtol=0)


def test_muon_goes_along_the_orthogonal_factor():
    w = tp.zeros(3, 2, dtype=tp.float64, requires_grad=True)
    slope = np.array([[3.0, 1.0], [0.5, -2.0], [1.0, 1.0]])
    (w * tp.tensor(slope)).sum().backward()
    optim.Muon([w], lr=1.0).step()
    u, _, vt = np.linalg.svd(slope, full_matrices=False)
    singular = np.linalg.svd(-w.detach().numpy())[1] / math.sqrt(3 / 2)
    assert np.all((singular > 0.6) & (singular < 1.3))  # where the iteration brings them
    assert np.abs(-w.detach().numpy() / math.sqrt(3 / 2) - u @ vt).max() < 0.35


def test_lbfgs_solves_a_quadratic_exactly_and_rosenbrock():
    matrix = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    right = np.array([1.0, -2.0, 0.5])
    x = tp.zeros(3, dtype=tp.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe", tolerance_change=1e-14, tolerance_grad=1e-12)

    def quadratic():
        optimizer.zero_grad()
        loss = x @ tp.tensor(matrix) @ x / 2 - tp.tensor(right) @ x
        loss.backward()
        return loss

    optimizer.step(quadratic)
    np.testing.assert_allclose(x.detach().numpy(), np.linalg.solve(matrix, right), atol=1e-10)

    w = tp.tensor([-1.2, 1.0], dtype=tp.float64, requires_grad=True)
    second = optim.LBFGS([w], max_iter=100, line_search_fn="strong_wolfe", tolerance_change=1e-14)

    def rosenbrock():
        second.zero_grad()
        loss = (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
        loss.backward()
        return loss

    second.step(rosenbrock)
    np.testing.assert_allclose(w.detach().numpy(), [1.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_blocks_layouts_and_narrow_types_change_nothing(name, monkeypatch):
    def path(block, dtype=tp.float64, transposed=False):
        monkeypatch.setattr(elementwise, "BLOCK", block)
        p = leaf(shape=(5, 7), dtype=dtype)
        if transposed:
            p = tp.tensor(p.detach().numpy().T.copy()).T.detach().requires_grad_()
        return train(made(name, [p], lr=0.01), [p], 5)

    whole = path(1000)
    np.testing.assert_array_equal(path(4), whole)
    np.testing.assert_allclose(path(4, transposed=True), whole, rtol=1e-13)
    half = path(1000, tp.float16)
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, whole, rtol=0.02, atol=0.02)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in ALL for dtype in (tp.float32, tp.bfloat16, tp.float64)
     if (name, dtype) != ("LBFGS", tp.bfloat16)],  # its dot products want a precision that bfloat16 lacks
)  # fmt: skip
def test_parameters_and_state_keep_their_dtype(name, dtype):
    p = leaf(dtype=dtype)
    optimizer = made(name, [p])
    before = p.detach().clone()
    train(optimizer, [p], 3)
    assert p.dtype is dtype and tp.isfinite(p.detach()).all() and not tp.equal(before, p.detach())
    for key, value in optimizer.state[p].items():
        if isinstance(value, tp.Tensor) and value.ndim:
            assert value.dtype is dtype, key


@pytest.mark.parametrize("name", [n for n in ALL if n != "Muon"])
def test_scalars_and_empty_parameters(name):
    scalar, empty = tp.tensor(2.0, requires_grad=True), tp.zeros(0, 3, requires_grad=True)
    optimizer = made(name, [scalar, empty])
    train(optimizer, [scalar, empty], 2)
    assert scalar.shape == () and scalar.item() < 2.0 and empty.shape == (0, 3)


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if n != "Rprop"])
def test_real_and_imaginary_parts_are_elements_of_their_own(name):
    real, imag = leaf(1), leaf(2)
    both = tp.complex(real.detach(), imag.detach()).requires_grad_()
    optimizer, pair = made(name, [both]), made(name, [real, imag])
    for _ in range(4):
        g = both.detach().numpy() * 0.5 + 1
        both.grad, real.grad, imag.grad = tp.tensor(g), tp.tensor(g.real.copy()), tp.tensor(g.imag.copy())
        optimizer.step()
        pair.step()
    np.testing.assert_allclose(both.detach().numpy(), real.detach().numpy() + 1j * imag.detach().numpy(), rtol=1e-14)


@pytest.mark.parametrize("name", ALL)
def test_a_tensor_as_rate_is_read_at_each_step(name):
    p, q = leaf(), leaf()
    rate = tp.tensor(0.01, dtype=tp.float64)
    with_tensor, with_float = made(name, [p], lr=rate), made(name, [q], lr=0.01)
    for value in (0.01, 0.02, 0.005):
        rate.fill_(value)
        with_float.param_groups[0]["lr"] = value
        np.testing.assert_array_equal(train(with_tensor, [p], 2), train(with_float, [q], 2))
    assert with_tensor.param_groups[0]["lr"] is rate


@pytest.mark.parametrize("name", [n for n in ALL if n not in ("LBFGS", "Muon")])
def test_maximize_climbs(name):
    p = tp.tensor([1.0], requires_grad=True)
    optimizer = made(name, [p], maximize=True)
    p.sum().backward()
    optimizer.step()
    assert p.item() > 1.0


# ---- saving


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("way", ["state_dict", "pickle", "deepcopy"])
def test_state_can_be_saved_and_resumed(name, way):
    p = leaf()
    whole = train(made(name, [p], lr=0.05), [p], 12)
    q = leaf()
    optimizer = made(name, [q], lr=0.05)
    train(optimizer, [q], 7)
    if way == "state_dict":
        saved = pickle.loads(pickle.dumps(optimizer.state_dict()))
        optimizer = made(name, [q], lr=9.0)
        optimizer.load_state_dict(saved)
    else:
        optimizer = copy.deepcopy(optimizer) if way == "deepcopy" else pickle.loads(pickle.dumps(optimizer))
        q = optimizer.param_groups[0]["params"][0]
    np.testing.assert_allclose(train(optimizer, [q], 5), whole[7:], rtol=1e-12)


KEYS = {
    "SGD": ["momentum_buffer"],
    "Adam": ["step", "exp_avg", "exp_avg_sq"],
    "AdamW": ["step", "exp_avg", "exp_avg_sq"],
    "Adamax": ["step", "exp_avg", "exp_inf"],
    "NAdam": ["step", "mu_product", "exp_avg", "exp_avg_sq"],
    "RAdam": ["step", "exp_avg", "exp_avg_sq"],
    "Adagrad": ["step", "sum"],
    "Adadelta": ["step", "square_avg", "acc_delta"],
    "Adafactor": ["step", "row_var", "col_var"],
    "ASGD": ["step", "eta", "mu", "ax"],
    "RMSprop": ["step", "square_avg"],
    "Rprop": ["step", "prev", "step_size"],
    "Muon": ["momentum_buffer"],
}


@pytest.mark.parametrize("name", KEYS)
def test_saved_state_has_the_keys_of_pytorch(name):
    p = leaf()
    optimizer = made(name, [p])
    train(optimizer, [p], 3)
    saved = optimizer.state_dict()
    assert sorted(saved["state"][0]) == sorted(KEYS[name])
    assert all(isinstance(v, tp.Tensor) for v in saved["state"][0].values())
    if "step" in KEYS[name]:
        step = saved["state"][0]["step"]
        assert step.dtype is tp.float32 and step.shape == () and step.item() == 3
    assert saved["param_groups"][0]["params"] == [0]
    assert {*saved["param_groups"][0]} == {"params", *optimizer.defaults}


def test_state_that_a_program_keeps_for_itself_is_loaded_as_it_is():
    class Counting(optim.Optimizer):
        @tp.no_grad()
        def step(self, closure=None):
            for p in self.param_groups[0]["params"]:
                state = self.state[p]
                state["step"] = state.get("step", 0) + 1
                state["seen"] = state.get("seen", ()) + (state["step"],)

    p = leaf()
    first, second = Counting([p], {}), Counting([p], {})
    first.step()
    second.load_state_dict(first.state_dict())
    second.step()
    assert second.state[p] == {"step": 2, "seen": (1, 2)} and type(second.state[p]["step"]) is int


def test_loaded_state_is_a_copy_in_the_dtype_of_the_parameter():
    p, q = leaf(dtype=tp.float64), leaf(dtype=tp.float32)
    first, second = optim.Adam([p]), optim.Adam([q])
    train(first, [p], 2)
    saved = first.state_dict()
    second.load_state_dict(saved)
    train(second, [q], 1)
    assert second.state[q]["exp_avg"].dtype is tp.float32 and second.state[q]["step"].item() == 3
    assert saved["state"][0]["step"].item() == 2
    saved["state"][0]["step"] = 5  # as old files have it
    second.load_state_dict(saved)
    assert second.state[q]["step"].item() == 5.0


def test_amsgrad_may_be_switched_on_later():
    p = leaf()
    optimizer = optim.Adam([p])
    train(optimizer, [p], 2)
    optimizer.param_groups[0]["amsgrad"] = True
    train(optimizer, [p], 1)
    assert optimizer.state[p]["max_exp_avg_sq"].shape == p.shape


def test_a_failed_load_leaves_the_optimizer_as_it_was():
    p = leaf()
    optimizer = optim.Adam([p], lr=0.3)
    with pytest.raises(ValueError, match="doesn't match the size"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1], "lr": 1.0}]})
    assert optimizer.param_groups[0]["lr"] == 0.3


def test_names_of_parameters_are_saved():
    model = tp.nn.Linear(2, 1)
    optimizer = optim.SGD(model.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


# ---- groups, gradients, closures


def test_groups_have_options_of_their_own():
    a, b = (tp.tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.5)
    (a + b).sum().backward()
    optimizer.step()
    assert (a.item(), b.item()) == (0.0, 0.5)


def test_parameters_without_gradient_stay():
    a, b = (tp.tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = optim.Adam([a, b], lr=0.1)
    a.sum().backward()
    optimizer.step()
    assert b.item() == 1.0 and a.item() == pytest.approx(0.9)
    assert b not in optimizer.state


@pytest.mark.parametrize("set_to_none", [True, False])
def test_zero_grad_drops_or_clears(set_to_none):
    p = tp.tensor([1.0], requires_grad=True)
    (p * p).sum().backward()
    grad = p.grad
    optim.SGD([p]).zero_grad(set_to_none=set_to_none)
    assert p.grad is None if set_to_none else p.grad is grad and grad.item() == 0.0


def test_a_closure_is_evaluated_with_gradients():
    x = tp.tensor([2.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with tp.no_grad():
        assert optimizer.step(closure).item() == 4.0
    assert x.item() == 1.0


@pytest.mark.parametrize("name", ALL)
def test_step_counts_as_a_write(name):
    x = leaf(shape=(2, 2))
    y = (x * x).sum()
    y.backward(retain_graph=True)
    version = x._version
    optimizer = made(name, [x])
    optimizer.step(lambda: y) if name == "LBFGS" else optimizer.step()
    assert x._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


# ---- hooks


def test_hooks_surround_a_step():
    x, seen = tp.tensor([1.0], requires_grad=True), []
    optimizer = optim.SGD([x], lr=0.1)
    handles = [
        register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append("all before")),
        register_optimizer_step_post_hook(lambda o, args, kwargs: seen.append("all after")),
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before")),
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after")),
    ]
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert seen == ["all before", "before", "after", "all after"]


def test_a_pre_hook_may_change_the_arguments():
    x = tp.tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1)
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 42.0), {}))
    assert optimizer.step() == 42.0
    handle.remove()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        optimizer.step()


def test_hooks_run_once_for_a_step_that_calls_its_base():
    class Twice(optim.SGD):
        def step(self, closure=None):
            super().step()
            return super().step(closure)

    x, seen = tp.tensor([1.0], requires_grad=True), []
    optimizer = Twice([x], lr=0.25)
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(x.item()))
    x.sum().backward()
    optimizer.step()
    assert seen == [0.5]


def test_hooks_surround_saving_and_loading():
    x, seen = tp.tensor([1.0], requires_grad=True), []
    optimizer = optim.SGD([x], lr=0.1)
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(state["more"]))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    optimizer.load_state_dict(optimizer.state_dict())
    assert seen == ["first", "second", 1, "loaded"]


def test_swapped_in_parameters_and_state_are_used_and_given_back():
    p, q = leaf(1), leaf(2)
    optimizer = optim.Adam([p], lr=0.1)
    train(optimizer, [p], 2)
    before, saved = p.detach().clone(), copy.deepcopy(optimizer.state_dict())
    saved["param_groups"][0]["lr"] = 0.5
    reference = leaf(2)
    other = optim.Adam([reference], lr=0.5)
    other.load_state_dict(saved)
    q.grad, reference.grad = tp.ones_like(q), tp.ones_like(q)
    other.step()
    with optim.swap_in_optimizer_params_and_state(optimizer, {"q": q}, saved):
        optimizer.step()
    assert tp.equal(q, reference) and tp.equal(p, before) and saved["state"][0]["step"].item() == 3
    assert optimizer.state[p]["step"].item() == 2 and optimizer.param_groups[0]["lr"] == 0.1
    with pytest.raises(ValueError, match="got 2 parameters for 1"):
        with optim.swap_in_optimizer_params_and_state(optimizer, {"q": q, "p": p}, saved):
            pass


# ---- differentiating through steps

META = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}),
    ("AdamW", {"weight_decay": 0.3}),
    ("NAdam", {}),
    ("RAdam", {"betas": (0.8, 0.9)}),
    ("Adamax", {}),
    ("Adagrad", {}),
    ("Adadelta", {}),
    ("ASGD", {"t0": 1}),
    ("RMSprop", {"momentum": 0.5, "centered": True}),
]


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize(("name", "options"), META)
def test_the_result_of_recorded_steps_has_the_gradient_of_finite_differences(name, options, complex_):
    rng = np.random.default_rng(0)
    start, x, y = rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)
    if complex_:
        start = start * (1 + 0.3j)

    def result(start, lr):
        w = start.clone()
        optimizer = getattr(optim, name)([w], lr=lr, differentiable=True, **options)
        for _ in range(4):
            loss = ((tp.tensor(x).to(w.dtype) @ w - tp.tensor(y)).abs() ** 2).sum() + (w.abs() ** 4).sum()
            (w.grad,) = tp.autograd.grad(loss, w, create_graph=True)
            optimizer.step()
        return (w.abs() ** 2).sum()

    def value(start, lr):
        return result(*leaves(start, lr)).item()

    def leaves(start, lr):
        return tp.tensor(start, requires_grad=True), tp.tensor(lr, dtype=tp.float64, requires_grad=True)

    given = leaves(start, 0.02)
    by_start, by_rate = tp.autograd.grad(result(*given), given)
    h = 1e-6
    want = [(value(start + h * e, 0.02) - value(start - h * e, 0.02)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(by_start.numpy().real, want, rtol=1e-5, atol=1e-7)
    want = (value(start, 0.02 + h) - value(start, 0.02 - h)) / (2 * h)
    np.testing.assert_allclose(by_rate.item(), want, rtol=1e-5)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_recorded_steps_are_the_same_steps(name):
    p, q = leaf(), leaf().detach()
    plain, recorded = made(name, [p]), made(name, [q], differentiable=True)
    for _ in range(4):
        p.grad, q.grad = p.detach() * 2 + 1, q.detach() * 2 + 1
        plain.step()
        recorded.step()
    np.testing.assert_allclose(q.numpy(), p.detach().numpy(), rtol=1e-12)


def test_a_leaf_cannot_be_stepped_recorded():
    p = tp.tensor([1.0], requires_grad=True)
    p.sum().backward()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        optim.SGD([p], differentiable=True).step()


# ---- refusals

ONE = [tp.zeros(1)]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: optim.SGD(tp.zeros(1), lr=0.1), TypeError, "should be an iterable of Tensors or dicts"),
        (lambda: optim.SGD([], lr=0.1), ValueError, "empty parameter list"),
        (lambda: optim.SGD([3], lr=0.1), TypeError, "can only optimize Tensors"),
        (lambda: optim.SGD([{"params": {tp.zeros(1)}}]), TypeError, "ordered collections"),
        (lambda: optim.SGD([("a", tp.zeros(1)), tp.zeros(1)]), ValueError, "Some param names are missing"),
        (lambda: optim.SGD([{"params": [("a", tp.zeros(1))]}, {"params": ONE}]), ValueError, "without names"),
        (lambda: optim.SGD([tp.zeros(1, requires_grad=True) * 2], lr=0.1), ValueError, "non-leaf"),
        (lambda: optim.SGD([tp.zeros(1).expand(3).detach()], lr=0.1), RuntimeError, "single memory location"),
        (lambda: optim.SGD(ONE, lr=-1.0), ValueError, "Invalid learning rate: -1.0"),
        (lambda: optim.SGD(ONE, lr=tp.ones(2)), ValueError, "Tensor lr must be 1-element"),
        (lambda: optim.SGD(ONE, fused=True, foreach=True), RuntimeError, "cannot be `True` together"),
        (lambda: optim.Adam(ONE, fused=True, differentiable=True), RuntimeError, "does not support `differentiable`"),
        (lambda: optim.SGD(ONE, nesterov=True), ValueError, "Nesterov momentum requires"),
        (lambda: optim.Adam(ONE, betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda: optim.Adam(ONE, betas=(tp.tensor(0.9), 0.9)), ValueError, "either both floats or both Tensors"),
        (lambda: optim.Adam(ONE, eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda: optim.Adam(ONE, lr=tp.tensor(0.1), foreach=True), ValueError, "lr as a Tensor is not supported"),
        (lambda: optim.NAdam(ONE, momentum_decay=-1), ValueError, "Invalid momentum_decay value: -1"),
        (lambda: optim.Adagrad(ONE, lr_decay=-1), ValueError, "Invalid lr_decay value: -1"),
        (lambda: optim.Adadelta(ONE, rho=2), ValueError, "Invalid rho value: 2"),
        (lambda: optim.RMSprop(ONE, alpha=-1), ValueError, "Invalid alpha value: -1"),
        (lambda: optim.Rprop(ONE, etas=(2, 1)), ValueError, "Invalid eta values: 2, 1"),
        (lambda: optim.ASGD(ONE, weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda: optim.Adafactor(ONE, d=0.5), ValueError, "Clipping threshold d should be >= 1 but is: 0.5"),
        (lambda: optim.Muon(ONE), ValueError, "Muon only supports 2D parameters"),
        (lambda: optim.Muon([tp.zeros(1, 1)], adjust_lr_fn="q"), ValueError, "function q is not supported"),
        (lambda: optim.LBFGS([{"params": ONE}, {"params": [tp.zeros(1)]}]), ValueError, "per-parameter options"),
        (lambda: optim.LBFGS(ONE).step(), TypeError, "needs a closure"),
        (lambda: optim.LBFGS(ONE, line_search_fn="armijo").step(lambda: 0), RuntimeError, "only 'strong_wolfe'"),
        (lambda: optim.Optimizer(ONE, {}).add_param_group([]), TypeError, "param_group must be a dict"),
        (lambda: optim.Adam(ONE).load_state_dict({"state": {}, "param_groups": []}), ValueError, "different number"),
    ],
)
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_same_parameter_in_two_groups_is_refused():
    x = tp.zeros(1, requires_grad=True)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": [x]}, {"params": [x]}], lr=0.1)


def test_complex_parameters_are_refused_where_there_is_no_rule():
    z = tp.zeros(2, 2, dtype=tp.complex64, requires_grad=True)
    z.grad = tp.ones(2, 2, dtype=tp.complex64)
    for name in ("Adafactor", "Muon"):
        with pytest.raises(RuntimeError, match=f"{name} does not support complex parameters"):
            made(name, [z]).step()


def test_a_base_class_without_rule_says_so():
    x = tp.zeros(1, requires_grad=True)
    x.sum().backward()
    with pytest.raises(NotImplementedError, match="defines neither step nor update_group"):
        optim.Optimizer([x], {}).step()


def test_optimizers_are_found_where_pytorch_has_them():
    from tensorplay.optim.adamw import AdamW
    from tensorplay.optim.rprop import Rprop

    assert AdamW is optim.AdamW and Rprop is optim.Rprop is optim.rprop.Rprop
    assert issubclass(optim.lr_scheduler._LRScheduler, optim.lr_scheduler.LRScheduler)


def test_optimizers_around_others_need_not_call_init():
    class Around(optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups = inner, inner.param_groups

        def step(self, closure=None):
            return self.inner.step(closure)

    p, seen = leaf(), []
    outer = Around(optim.SGD([p], lr=0.1))
    before = p.detach().clone()
    p.grad = tp.ones_like(p)
    outer.step()
    outer.register_step_post_hook(lambda *_: seen.append(1))
    Around(optim.SGD([p], lr=0.1)).step()
    outer.step()
    assert seen == [1] and tp.allclose(before - p, tp.full_like(p, 0.3))


def test_options_without_a_default_must_be_given():
    from tensorplay.optim.optimizer import Optimizer, required

    class Own(Optimizer):
        def __init__(self, params, lr=required):
            super().__init__(params, {"lr": lr})

    with pytest.raises(ValueError, match="required optimization parameter lr"):
        Own([leaf()])
    assert [g["lr"] for g in Own([{"params": leaf(), "lr": 2.0}]).param_groups] == [2.0]
