"""The examples run, and reach in a short setting what they reach in a long one, nearly."""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

import tensorplay as tp

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(module, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["example", *map(str, arguments)])
    return module.main()


def test_digits_are_learnt(monkeypatch, tmp_path):
    picture = tmp_path / "digits.png"
    assert main(example("digits"), monkeypatch, "--epochs", 12, "--seeds", 1, "--picture", picture) > 0.95
    assert picture.stat().st_size > 10_000


def test_burgers_residual_falls(monkeypatch, tmp_path):
    picture = tmp_path / "burgers.png"
    module = example("burgers")
    assert main(module, monkeypatch, "--steps", 150, "--picture", picture) < 0.8
    assert picture.stat().st_size > 10_000


@pytest.fixture
def burgers():
    tp.set_default_dtype(tp.float64)
    yield example("burgers")
    tp.set_default_dtype(tp.float32)


def test_burgers_residuals_agree_between_modes_with_their_gradients(burgers):
    tp.manual_seed(0)
    u = burgers.Network(width=8, depth=2)
    r = np.random.default_rng(0)
    t, x = tp.tensor(r.uniform(0, 1, 20)), tp.tensor(r.uniform(-1, 1, 20))
    found = []
    for residual in (burgers.residual_reverse, burgers.residual_forward):
        values = residual(u, t, x)
        found.append([values.detach(), *tp.autograd.grad((values**2).mean(), list(u.parameters()))])
    for a, b in zip(*found):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6, atol=1e-9)


def test_the_exact_solution_of_burgers_solves_it(burgers):
    """u_t + u u_x = nu u_xx by central differences, away from the shock; the initial and boundary values."""
    h = 1e-3
    t, x = np.array([0.2 - h, 0.2, 0.2 + h]), np.array([-0.6 - h, -0.6, -0.6 + h])
    u = burgers.exact(t, x)
    u_t, u_x = (u[2, 1] - u[0, 1]) / (2 * h), (u[1, 2] - u[1, 0]) / (2 * h)
    u_xx = (u[1, 2] - 2 * u[1, 1] + u[1, 0]) / h**2
    assert abs(u_t + u[1, 1] * u_x - burgers.NU * u_xx) < 1e-4
    grid = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(burgers.exact(np.array([0.0]), grid)[0], -np.sin(np.pi * grid), atol=1e-12)
    np.testing.assert_allclose(burgers.exact(np.array([0.5]), np.array([-1.0, 1.0]))[0], 0, atol=1e-12)


def test_private_gradients_learn_and_noise_costs_accuracy_and_buys_privacy(monkeypatch, tmp_path):
    picture = tmp_path / "private.png"
    arguments = ("--epochs", 8, "--noise", 0, 4, "--picture", picture)
    found = main(example("private_gradients"), monkeypatch, *arguments)
    assert found[0][0] > 0.9 and found[0][1] == float("inf")
    assert 0.6 < found[4][0] and 0.5 < found[4][1] < 3
    assert picture.stat().st_size > 10_000


def test_private_gradients_are_clipped():
    module = example("private_gradients")
    tp.manual_seed(0)
    p, x, y = module.initial(), tp.rand(6, 64), tp.tensor([0, 1, 2, 3, 4, 5])
    gradients, losses = module.each_gradient(p, x, y)
    assert losses.shape == (6,)
    bound = float(module.norms(gradients).min()) / 2
    mean = module.private_gradient(gradients, bound, 0.0, 6)
    want = sum(g["w1"] * bound / module.norms({k: v[None] for k, v in g.items()}) for g in
               ({k: v[i] for k, v in gradients.items()} for i in range(6))) / 6  # fmt: skip
    np.testing.assert_allclose(mean["w1"].numpy(), want.numpy(), rtol=1e-4, atol=1e-7)


def test_the_accountant_agrees_with_the_gaussian_mechanism_when_everybody_takes_part():
    """At a rate of one, Renyi divergences are order / (2 noise^2); more steps, or less noise, cost more."""
    module = example("private_gradients")
    noise, steps = 5.0, 10
    exact = min(steps * a / (2 * noise**2) + np.log(1e5) / (a - 1) for a in range(2, 257))
    np.testing.assert_allclose(module.epsilon(noise, 1 - 1e-12, steps), exact, rtol=1e-6)
    assert module.epsilon(2, 0.1, 100) < module.epsilon(1, 0.1, 100) < module.epsilon(1, 0.1, 200)


def test_the_largest_eigenvalue_of_a_hessian_is_found(monkeypatch, tmp_path):
    picture = tmp_path / "spectrum.png"
    arguments = ("--epochs", 30, "--iterations", 40, "--vectors", 2, "--picture", picture)
    assert main(example("hessian_spectrum"), monkeypatch, *arguments) < 1e-6
    assert picture.stat().st_size > 10_000


def test_lanczos_finds_all_eigenvalues_of_a_small_matrix():
    module = example("hessian_spectrum")
    r = np.random.default_rng(0)
    a = r.normal(size=(8, 8))
    a = tp.tensor(a + a.T)
    values, shares = module.lanczos(lambda v: a @ v, tp.tensor(r.normal(size=8)), 8)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a.numpy()), atol=1e-10)
    np.testing.assert_allclose(shares.sum(), 1, atol=1e-12)


def test_heat_spreads_in_ten_dimensions(monkeypatch, tmp_path):
    """What the network starts from is off by more than the whole solution."""
    picture = tmp_path / "heat.png"
    module = example("heat")
    error, ratio = main(module, monkeypatch, "--steps", 200, "--picture", picture)
    assert error < 0.6 < module.error(module.Network(10), 10) and ratio > 0
    assert picture.stat().st_size > 10_000


def test_the_exact_solution_of_the_heat_equation_solves_it():
    module = example("heat")
    tp.manual_seed(0)
    t, x = tp.rand(5, dtype=tp.float64) / 10, tp.rand(5, 4, dtype=tp.float64)
    residual = tp.vmap(lambda t, x: module.residual(module.exact, t, x))(t, x)
    np.testing.assert_allclose(residual.numpy(), 0, atol=1e-12)
