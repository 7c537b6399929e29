"""Tensors over arrays of another module: the same kernels and rules, with no operator knowing of it."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd, backends, func
from tensorplay.core.tensor import wrap


class Other(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of another library, as far as kernels know: no subclass of NumPy's."""

    def __init__(self, array):
        self.array = np.asarray(array)

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)

    def astype(self, dtype):
        return Other(self.array.astype(dtype))

    def reshape(self, *shape):
        return Other(self.array.reshape(*shape))

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return Other(getattr(ufunc, method)(*[bare(x) for x in inputs], **kwargs))


def bare(x):
    return x.array if isinstance(x, Other) else x


class Module:
    """NumPy's functions over such arrays, and a list of those that were called."""

    __name__ = "other"

    def __init__(self):
        self.called = []

    def __getattr__(self, name):
        def function(*args, **kwargs):
            self.called.append(name)
            return Other(getattr(np, name)(*[bare(a) for a in args], **kwargs))

        return function


@pytest.fixture
def module():
    module = Module()
    backends.register(Other, module)
    yield module
    del backends.MODULES[Other]


def test_operators_run_over_the_module_of_their_data(module):
    x, y = wrap(Other([1.0, 2.0])), tp.tensor([3.0, 4.0], dtype=tp.float64)
    out = tp.exp(x) * x + tp.sin(x)
    assert type(out._data) is Other and module.called[:2] == ["exp", "multiply"]
    np.testing.assert_allclose(out._data.array, np.exp([1, 2]) * [1, 2] + np.sin([1, 2]))
    assert type((x + y)._data) is Other


def test_derivatives_in_both_modes(module):
    x = wrap(Other([1.0, 2.0])).requires_grad_()
    y = tp.exp(x) * x
    (g,) = autograd.grad(y, x, wrap(Other([1.0, 1.0])), create_graph=True)
    want = np.exp([1, 2]) * [2, 3]
    assert type(g._data) is Other
    np.testing.assert_allclose(g._data.array, want)
    (h,) = autograd.grad(g, x, wrap(Other([1.0, 1.0])))
    np.testing.assert_allclose(h._data.array, np.exp([1, 2]) * [3, 4])
    _, tangent = func.jvp(lambda x: tp.exp(x) * x, (x.detach(),), (wrap(Other([1.0, 1.0])),))
    np.testing.assert_allclose(tangent._data.array, want)


def test_two_modules_do_not_mix(module):
    class Third(Other):
        pass

    backends.register(Third, type("Third", (Module,), {"__name__": "third"})())
    try:
        with pytest.raises(RuntimeError, match="same device, but found arrays of other and of third"):
            tp.exp(wrap(Other([1.0]))) + wrap(Third([1.0]))
    finally:
        del backends.MODULES[Third]


def test_writes_elsewhere_do_not_concern_such_arrays(module):
    other = tp.ones(2)
    other.add_(1)  # memory has been written to, and so saved arrays are looked up
    x = wrap(Other([1.0, 2.0])).requires_grad_()
    (g,) = autograd.grad(tp.exp(x) * x, x, wrap(Other([1.0, 1.0])))
    np.testing.assert_allclose(g._data.array, np.exp([1, 2]) * [2, 3])


def test_settings_of_accelerators_are_kept_and_none_is_there():
    cudnn = tp.backends.cudnn
    assert not cudnn.is_available() and cudnn.version() is None and not tp.backends.mps.is_available()
    with cudnn.flags(deterministic=True):
        assert cudnn.deterministic and not cudnn.enabled
    assert cudnn.enabled and not cudnn.deterministic
    assert tp.backends.mkldnn is tp.backends.onednn
    with pytest.raises(AttributeError, match="no attribute 'rocm'"):
        _ = tp.backends.rocm
