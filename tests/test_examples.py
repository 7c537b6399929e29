"""The examples run, and reach in a short setting what they reach in a long one, nearly."""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

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


def test_a_convolutional_network_learns_digits(monkeypatch, tmp_path):
    picture = tmp_path / "cnn_digits.png"
    assert main(example("cnn_digits"), monkeypatch, "--epochs", 5, "--seeds", 1, "--picture", picture) > 0.96
    assert picture.stat().st_size > 10_000


def test_images_are_shifted_by_up_to_one_pixel():
    tp.manual_seed(0)
    image = tp.zeros(1, 1, 8, 8)
    image[0, 0, 3, 4] = 1.0
    found = {tuple(shifted.nonzero()[0, 2:].tolist()) for shifted in example("cnn_digits").shifted(
        image.expand(200, 1, 8, 8)).split(1)}  # fmt: skip
    assert found == {(row, column) for row in (2, 3, 4) for column in (3, 4, 5)}


def test_a_gpt_learns_to_write(monkeypatch, tmp_path):
    """After a few steps it knows more than how often each character occurs."""
    picture = tmp_path / "char_gpt.png"
    arguments = ("--steps", 120, "--width", 32, "--layers", 1, "--batch", 16, "--sample", 50, "--picture", picture)
    module = example("char_gpt")
    loss, sample = main(module, monkeypatch, *arguments)
    text = module.Text()
    counts = np.bincount(text.train.numpy(), minlength=len(text.alphabet)) + 1
    assert loss < -np.log(counts / counts.sum())[text.valid.numpy()].mean() - 0.2
    assert sample.startswith("The ") and len(sample) == 54
    assert picture.stat().st_size > 10_000


def test_a_gpt_sees_nothing_of_what_comes():
    module = example("char_gpt")
    tp.manual_seed(0)
    model = module.GPT(11, width=8, layers=2, heads=2, context=6)
    x = tp.randint(11, (1, 6))
    changed = x.clone()
    changed[0, 4:] = (x[0, 4:] + 1) % 11
    a, b = model(x), model(changed)
    assert tp.equal(a[0, :4], b[0, :4]) and not tp.equal(a[0, 4], b[0, 4])


def test_a_vae_tells_digits_from_noise(monkeypatch, tmp_path):
    picture = tmp_path / "vae.png"
    module = example("vae")
    before, after = main(module, monkeypatch, "--epochs", 20, "--picture", picture)
    assert after < 27 < 44 < before  # nats per image; a code of one bit for each pixel takes 44.4
    assert picture.stat().st_size > 10_000


def test_the_divergence_of_a_vae_is_that_of_normal_distributions():
    """As a mean over draws of the ratio of the densities."""
    module = example("vae")
    tp.manual_seed(0)
    model = module.VAE(pixels=4, hidden=8)
    model.decoder[-1].weight.data.zero_()
    model.decoder[-1].bias.data.zero_()  # pixels cost the same whatever z is
    x = tp.rand(1, 4)
    with tp.no_grad():
        meaning = model.encode(x)
    mean, deviation = meaning.mean, meaning.stddev
    z = mean + deviation * tp.randn(200_000, 2)
    ratio = ((z**2 - ((z - mean) / deviation) ** 2) / 2 - deviation.log()).sum(1)
    np.testing.assert_allclose(module.negative_bound(model, x).item() - 4 * np.log(2), ratio.mean().item(), atol=5e-3)


def test_a_gru_forecasts_better_than_no_change(monkeypatch, tmp_path):
    picture = tmp_path / "gru_forecast.png"
    errors = main(example("gru_forecast"), monkeypatch, "--steps", 200, "--picture", picture)
    assert errors["GRU"][0] < errors["no change"][0] / 2 and errors["GRU"][9] < errors["no change"][9] / 2
    assert picture.stat().st_size > 10_000


def test_the_series_to_forecast_solves_its_equation():
    """The slope of a spline through its days is that of the equation; steps of another size give the same."""
    module = example("gru_forecast")
    x = module.series(200)
    slope = CubicSpline(np.arange(200), x)(np.arange(200), 1)
    want = 0.2 * x[:-17] / (1 + x[:-17] ** 10) - 0.1 * x[17:]
    np.testing.assert_allclose(slope[27:-10], want[10:-10], atol=3e-3)
    np.testing.assert_allclose(module.series(50, substeps=40), x[:50], atol=1e-3)


def test_lbfgs_finds_the_peaks_of_a_spectrum(monkeypatch, tmp_path):
    picture = tmp_path / "lbfgs_fit.png"
    slope, off, evaluations = main(example("lbfgs_fit"), monkeypatch, "--adam", 5, "--picture", picture)
    assert slope < 0.01 and off < 4 and evaluations < 80
    assert picture.stat().st_size > 10_000


def test_standard_errors_are_those_of_fisher():
    """At the truth, the curvature of the expected cost is J.T diag(1 / expected) J."""
    module = example("lbfgs_fit")
    x = tp.linspace(0, 10, 400, dtype=tp.float64)
    expected = module.spectrum(x, tp.tensor(module.TRUTH))
    q = tp.tensor(module.TRUTH / module.SCALE)
    jacobian = tp.func.jacfwd(lambda q: module.spectrum(x, q * tp.tensor(module.SCALE)))(q).numpy()
    want = np.sqrt(np.diag(np.linalg.inv(jacobian.T @ (jacobian / expected.numpy()[:, None])))) * module.SCALE
    np.testing.assert_allclose(module.standard_errors(q, x, expected), want, rtol=1e-6)


def test_a_checkpoint_of_pytorch_gives_what_pytorch_found(monkeypatch, tmp_path):
    module = example("load_torch_checkpoint")
    accuracy, after, difference = main(module, monkeypatch, "--epochs", 1, "--out", tmp_path)
    checkpoint = tp.load(module.CHECKPOINT)
    assert accuracy == pytest.approx(checkpoint["test accuracy"]) and difference < 1e-4 and after > 0.97
    saved = tp.load(tmp_path / "digits.pt")
    assert saved["optimizer"]["state"][0]["step"] == checkpoint["optimizer"]["state"][0]["step"] + 23
    weights = module.safetensors.load_file(tmp_path / "digits.safetensors")
    assert all(tp.equal(weights[name], t) for name, t in saved["model"].items())
