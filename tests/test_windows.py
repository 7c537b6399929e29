"""Window functions, against SciPy."""

import numpy as np
import pytest
import scipy.signal.windows as reference

import tensorplay as tp

SIZES = (0, 1, 2, 3, 8, 9)
WINDOWS = {
    "bartlett": ({}, lambda n, sym: reference.bartlett(n, sym)),
    "blackman": ({}, lambda n, sym: reference.blackman(n, sym)),
    "cosine": ({}, lambda n, sym: reference.cosine(n, sym)),
    "exponential": ({"tau": 2.5}, lambda n, sym: reference.exponential(n, tau=2.5, sym=sym)),
    "gaussian": ({"std": 1.5}, lambda n, sym: reference.gaussian(n, 1.5, sym)),
    "general_cosine": ({"a": [0.5, 0.3, 0.2]}, lambda n, sym: reference.general_cosine(n, [0.5, 0.3, 0.2], sym)),
    "general_hamming": ({"alpha": 0.6}, lambda n, sym: reference.general_hamming(n, 0.6, sym)),
    "hamming": ({}, lambda n, sym: reference.hamming(n, sym)),
    "hann": ({}, lambda n, sym: reference.hann(n, sym)),
    "kaiser": ({"beta": 5.0}, lambda n, sym: reference.kaiser(n, 5.0, sym)),
    "nuttall": ({}, lambda n, sym: reference.nuttall(n, sym)),
}
PACKAGE = {
    "bartlett_window": ((), reference.bartlett),
    "blackman_window": ((), reference.blackman),
    "hann_window": ((), reference.hann),
    "hamming_window": ((0.6, 0.4), lambda n, sym: reference.general_hamming(n, 0.6, sym)),
    "kaiser_window": ((5.0,), lambda n, sym: reference.kaiser(n, 5.0, sym)),
}


def equal(got, want, dtype=tp.float64):
    assert got.dtype is dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_equal_those_of_scipy(name, sym):
    options, want = WINDOWS[name]
    for n in SIZES:
        equal(getattr(tp.signal.windows, name)(n, sym=sym, dtype=tp.float64, **options), want(n, sym))


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", PACKAGE)
def test_windows_of_the_package_are_periodic_by_default(name, periodic):
    options, want = PACKAGE[name]
    function = getattr(tp, name)
    for n in SIZES:
        equal(function(n, periodic, *options, dtype=tp.float64), want(n, sym=not periodic))
    assert tp.equal(function(6), function(6, periodic=True))


def test_an_exponential_may_have_its_center_anywhere_if_periodic():
    got = tp.signal.windows.exponential(6, center=1.0, tau=2.0, sym=False, dtype=tp.float64)
    equal(got, reference.exponential(6, center=1.0, tau=2.0, sym=False))


def test_options_of_all_windows():
    for make in (tp.signal.windows.hann, tp.hann_window):
        assert make(4).dtype is tp.float32
        assert make(4, requires_grad=True).requires_grad
        assert make(4, device="meta").is_meta and make(4, device="meta").shape == (4,)
    assert tp.hann_window(4, dtype=tp.float16).tolist() == [0.0, 0.5, 1.0, 0.5]
    assert tp.hann_window(4, dtype=tp.bfloat16).tolist() == [0.0, 0.5, 1.0, 0.5]


ERRORS = [
    (lambda w: w.hann(-1), ValueError, "non-negative window length, got M=-1"),
    (lambda w: w.hann(2.5), TypeError, "argument 'M'"),
    (lambda w: w.hann(4, dtype=tp.int32), ValueError, "float32 or float64 dtypes, got: tensorplay.int32"),
    (lambda w: w.hann(4, dtype=tp.float16), ValueError, "float32 or float64"),
    (lambda w: w.gaussian(4, std=0.0), ValueError, "Standard deviation must be positive, got: 0.0"),
    (lambda w: w.exponential(4, tau=-1.0), ValueError, "Tau must be positive, got: -1.0"),
    (lambda w: w.exponential(4, center=1.0), ValueError, "Center must be None for symmetric windows"),
    (lambda w: w.kaiser(4, beta=-1.0), ValueError, "beta must be non-negative, got: -1.0"),
    (lambda w: w.general_cosine(4, a=[]), ValueError, "Coefficients cannot be empty"),
    (lambda w: w.general_cosine(4, a=3.0), TypeError, "Coefficients must be a list/tuple"),
    (lambda _: tp.hann_window(-1), RuntimeError, "non-negative window length, got window_length=-1"),
    (lambda _: tp.hann_window(4, dtype=tp.int64), RuntimeError, "floating point dtypes"),
    (lambda _: tp.hann_window(4, pin_memory=True), RuntimeError, "pin_memory"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call(tp.signal.windows)
