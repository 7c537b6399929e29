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
