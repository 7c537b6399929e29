"""What all tests share."""

import warnings

import hypothesis
import pytest

import tensorplay as tp
from tensorplay.core import overriding

hypothesis.settings.register_profile("tensorplay", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("tensorplay")


@pytest.fixture(autouse=True)
def fresh_state():
    """The same random numbers for each test; the package's filter, which pytest's own replace; settings put back."""
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tensorplay\.")
    tp.manual_seed(0)
    yield
    tp.set_default_dtype(tp.float32)
    tp.set_default_device(None)
    tp.set_printoptions(profile="default")
    while overriding.watching:  # a tensor of a subclass was made: the next test has a process without one
        overriding.watching.pop().__exit__()
