"""Every operator compiled: the samples of its table, many in one program, give what they give eagerly."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from samples import FAMILIES

import tensorplay as tp

pytest.importorskip("jax", reason="compiling is JAX's part, which the extra 'xla' installs")

TOGETHER = 40
"""Samples in one program: compiling each for itself takes ten times as long."""

VALUES_DECIDE = (
    "bincount", "complex istft", "histogramdd", "istft", "masked.log_softmax", "masked_scatter", "masked_select",
    "repeat_interleave by counts", "segment_reduce", "unique",
)  # fmt: skip
"""Beginnings of the names of samples whose shapes, or checks of arguments, depend on values: they are run eagerly."""


def first_of_each_name(samples):
    return list({s.name: s for s in reversed(samples)}.values())[::-1]


def groups():
    for family, samples in FAMILIES.items():
        chosen = [s for s in first_of_each_name(samples) if not s.name.startswith(VALUES_DECIDE)]
        for i in range(0, len(chosen), TOGETHER):
            yield pytest.param(chosen[i : i + TOGETHER], id=f"{family}-{i // TOGETHER}")


def tensors_of(out):
    return [t for t in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(t, tp.Tensor)]


@pytest.mark.parametrize("samples", list(groups()))
def test_compiled_operators_equal_eager_ones(samples):
    def run(groups):
        return [tensors_of(s.fn(*args)) for s, args in zip(samples, groups)]

    arguments = [s.tensors() for s in samples]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "compile: run: NumPy computes")
        compiled = tp.compile(run, fullgraph=True)(arguments)
        eager = run(arguments)
    for sample, got, want in zip(samples, compiled, eager):
        assert len(got) == len(want), sample
        for g, w in zip(got, want):
            assert g.dtype is w.dtype and g.shape == w.shape, sample
            assert g.requires_grad == w.requires_grad, sample
            if g.dtype is tp.bfloat16:
                g, w = g.float(), w.float()
            tol = 1e-2 if w.dtype.itemsize == 2 else 2e-5 if w.dtype in (tp.float32, tp.complex64) else 1e-8
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=tol, atol=tol, err_msg=repr(sample))


def test_operators_whose_values_decide_are_refused():
    refused = [
        s for samples in FAMILIES.values() for s in first_of_each_name(samples) if s.name.startswith(VALUES_DECIDE)
    ]
    assert len(refused) >= len(VALUES_DECIDE)
    for s in refused:
        with pytest.raises((RuntimeError, TypeError, AttributeError, NotImplementedError)):
            tp.compile(s.fn, fullgraph=True)(*s.tensors())


# ---- kernels at the values that samples do not have


INF, NAN = np.inf, np.nan
LINE = np.array([0.0, -0.0, INF, -INF, NAN, 1e-300, -1e-7, 0.3, 1.0, 1.5, 2.5, -0.5, -2.0, -9.75, 12.0, 40.0, 1e3, 1e9])
ORDERS = np.array([-1.0, 0.0, 1e-9, 0.5, 3.0, 90.0, 1e5 + 1, 1e7, INF, NAN])
AMOUNTS = np.array([-1.0, 0.0, 1e-9, 0.4, 3.0, 99.0, 99_800.0, 1e5, 1e7 + 2e3, INF, NAN])
POINTS = np.array([0.0, 0.3, -0.7, 1.0, -1.0, 2.5, NAN])
DEGREES = np.array([-1.0, 0.0, 1.0, 2.0, 5.0, 12.0])
TIES = np.array([[2.0, NAN, 1.0, 2.0, 1.0], [NAN, NAN, NAN, NAN, NAN], [0.0, 3.0, 3.0, -0.0, INF]])

EDGES = [
    ("erfcx", (LINE,), {}),
    ("log_ndtr", (LINE,), {}),
    ("digamma", (LINE,), {}),
    *[("polygamma", (LINE,), {"n": n}) for n in (1, 2, 5)],
    ("zeta", (np.array([1.0, 1.5, 2.0, 30.0, 0.5])[:, None], LINE), {}),
    ("igamma", (ORDERS[:, None], AMOUNTS), {}),
    ("igammac", (ORDERS[:, None], AMOUNTS), {}),
    ("xlogy", (LINE[:, None], LINE), {}),
    ("xlog1py", (LINE[:, None], LINE), {}),
    *[(name, (LINE,), {"order": n}) for name in ("bessel_i", "spherical_bessel_j") for n in (0, 1, 2, 4)],
    *[(name, (np.array([0.0, 1e-7, 1e-2, 0.7, 1.999, 2.0, 8.0, 24.9, 25.1, 31.0, 80.0, 700.0, NAN]),), {"order": n})
      for name in ("bessel_j", "bessel_y", "bessel_k", "scaled_bessel_k") for n in (0, 1, 2, 5)],
    *[("scaled_bessel_i", (LINE[np.isfinite(LINE)],), {"order": n}) for n in (0, 1, 2, 4)],
    *[(name, (POINTS[:, None], DEGREES), {}) for name in
      ("chebyshev_t", "chebyshev_u", "hermite_h", "hermite_he")],
    ("legendre", (POINTS[:-1, None], DEGREES), {}),
    ("laguerre", (POINTS[:, None], DEGREES), {"alpha": 1.5}),
    ("gegenbauer", (POINTS[:, None], DEGREES), {"alpha": 1.5}),
    *[(name, (TIES,), {"dim": d, "keepdim": k}) for name in ("median_dim", "nanmedian_dim", "mode_dim")
      for d, k in ((-1, False), (-2, True))],
    *[(name, (row,), {"dim": (-1,), "keepdim": False}) for name in ("median", "nanmedian") for row in TIES],
    *[("histc", (TIES[i : i + 1], ), {"bins": 4, "low": 0.0, "high": 2.0}) for i in range(3)],
    ("histc", (np.array([[1.0, 1.0], [0.0, 3.0], [1e17, 1e17]]),), {"bins": 5, "low": 0.0, "high": 0.0}),
    ("histc", (np.empty((2, 0)),), {"bins": 3, "low": 0.0, "high": 0.0}),
    ("histogram", (np.array([1.0, 1.0]), None, None), {"bins": 3, "range": None, "density": False}),
    ("histogram", (np.array([0.0, 1.0, 4.0, NAN]), np.array([0.0, 1.0, 4.0]), np.array([2.0, 3.0, 4.0, 5.0])),
     {"bins": 0, "range": None, "density": True}),
    ("bag_maxima", (np.array([[1.0, NAN, 3.0, 3.0], [-INF, 2.0, -INF, 5.0]]), np.array([0, 0, 2, 2]),
                    np.array([1.0, 1.0, 1.0, 0.0])), {"count": 4}),
    ("bag_maxima", (np.arange(24.0).reshape(2, 3, 4), np.array([[0, 0, 1, 1], [1, 1, 2, 0]]), np.ones((2, 4))),
     {"count": 3}),
    ("pinv", (np.array([[4.0, 100.0], [1.0, 2.0]]), np.zeros((1, 1)), np.full((1, 1), 1e-5)), {"hermitian": True}),
    ("pinv", (np.ones((2, 3, 2)), np.zeros((1, 1)), np.full((1, 1), 1e-5)), {"hermitian": False}),
    *[("lstsq", (np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), np.arange(6.0).reshape(3, 2)),
       {"rcond": 1e-5, "driver": d}) for d in ("gelsd", "gelss", "gelsy")],
    ("lstsq", (np.arange(12.0).reshape(2, 2, 3) ** 2, np.ones((2, 1))), {"rcond": 1e-5, "driver": "gels"}),
    ("eig", (np.array([[[0.0, 1.0], [-1.0, 0.0]], [[2.0, 1.0], [0.0, 3.0]]]),), {}),
    ("pivot_matrix", (np.array([[3, 2, 3], [1, 3, 3]], np.int32),), {"n": 3, "dtype": np.dtype(np.float64)}),
    ("logcumsumexp", (np.array([1 + 2j, -INF, 700 - 3j, 2j]),), {"dim": -1}),
]  # fmt: skip


def arrays_of(out):
    return [np.asarray(o) for o in (out if isinstance(out, (tuple, list)) else (out,))]


@pytest.mark.parametrize(("name", "arrays", "attributes"), EDGES)
def test_kernels_agree_with_numpy_at_the_edges(name, arrays, attributes):
    import jax

    from tensorplay.backends.xla import enable_x64
    from tensorplay.backends.xla_kernels import KERNELS
    from tensorplay.core.primitive import PRIMITIVES

    places = [i for i, a in enumerate(arrays) if a is not None]

    def run(*given):
        full = [None] * len(arrays)
        for i, a in zip(places, given):
            full[i] = a
        return KERNELS[name](*full, **attributes)

    narrower = arrays[0].dtype == np.float64
    for dtype in (np.float64, np.float32) if narrower else (None,):
        cast = [a.astype(dtype) if a is not None and a.dtype == np.float64 else a for a in arrays]
        with enable_x64(True), np.errstate(all="ignore"):
            got = arrays_of(jax.jit(run)(*[cast[i] for i in places]))
            want = arrays_of(PRIMITIVES[name].array_kernel(*cast, **attributes))
        assert [g.dtype for g in got] == [w.dtype for w in want]
        assert [g.shape for g in got] == [w.shape for w in want]
        tol = 2e-5 if dtype is np.float32 else 1e-8
        for g, w in zip(got, want):
            np.testing.assert_allclose(g, w, rtol=tol, atol=tol)


def test_parts_of_complex_elements_are_written_to():
    def write(z, x):
        z = z.clone()
        z.real[0] = x
        z.imag.mul_(2)
        tp.view_as_real(z)[1, :, 1] = x
        return z

    z = tp.randn(2, 3, dtype=tp.complex128, requires_grad=True)
    x = tp.randn(3, dtype=tp.float64, requires_grad=True)
    got, want = tp.compile(write, fullgraph=True)(z, x), write(z, x)
    assert (got == want).all()
    cotangent = tp.randn(2, 3, dtype=tp.complex128)
    for g, w in zip(tp.autograd.grad(got, (z, x), cotangent), tp.autograd.grad(want, (z, x), cotangent)):
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-12)


# ---- NumPy's kernels, called from a program


@pytest.fixture
def called_back(monkeypatch):
    """Let a primitive have no kernel for XLA."""
    from tensorplay.backends import MODULES
    from tensorplay.backends.xla import Traced
    from tensorplay.core.primitive import PRIMITIVES

    def refuse(*args, **attributes):
        raise NotImplementedError

    return lambda name: monkeypatch.setattr(MODULES[Traced].kernel_of(PRIMITIVES[name]), "run", refuse)


EXACT = {
    tp.float64: [1 + 2.0**-50, -(2.0**-1070), 1e308], tp.int64: [2**62 + 1, -(2**53) - 1, 7],
    tp.complex128: [1 + 2.0**-50 - 1e300j, 3j, -0.1 + 2.0**-1070j],
    tp.float32: [1 + 2.0**-20, -0.1, 3e38], tp.complex64: [1 + 2j, -0.1j, 3], tp.float16: [0.1, -2, 6e4],
    tp.bfloat16: [0.1, -2, 1e30], tp.int32: [2**30 + 1, -1, 0], tp.int16: [-300, 2, 3], tp.int8: [-100, 5, 0],
    tp.uint8: [200, 5, 0], tp.bool: [True, False, True],
}  # fmt: skip


@pytest.mark.parametrize("dtype", list(EXACT), ids=str)
@pytest.mark.parametrize("shape", [(3,), (), (0,), (2, 0), (3, 1)], ids=str)
def test_callbacks_keep_every_bit(called_back, dtype, shape):
    called_back("stack")
    values = tp.tensor(EXACT[dtype], dtype=dtype)
    x = values[0] if shape == () else values.reshape(shape) if 0 not in shape else tp.zeros(shape, dtype=dtype)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*NumPy computes stack")
        compiled = tp.compile(lambda t: tp.stack([t, t]), fullgraph=True)
        got = compiled(x.clone())
    assert "stack" in tp.compiler.explain(compiled).programs[0].callbacks
    assert got.dtype is dtype and got.shape == (2, *x.shape)
    assert got.view(-1).contiguous().numpy().tobytes() == x.numpy().tobytes() * 2


@pytest.mark.parametrize("dtype", [tp.float64, tp.int64, tp.complex128], ids=str)
def test_callbacks_keep_every_bit_in_threads(called_back, dtype):
    for name in ("flip", "sort"):
        called_back(name)
    x = tp.tensor(EXACT[dtype], dtype=dtype)

    def function(t):
        return [t.flip(0), *([] if t.is_complex() else tp.sort(t, stable=True))]

    compiled = tp.compile(function, fullgraph=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*NumPy computes")
        compiled(x)
    assert "flip" in tp.compiler.explain(compiled).programs[0].callbacks
    want = [t.numpy().tobytes() for t in function(x)]
    with ThreadPoolExecutor(4) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for got in pool.map(lambda _: [compiled(x) for _ in range(10)], range(4)):
            for out in got:
                assert [t.dtype for t in out] == [t.dtype for t in function(x)]
                assert [t.numpy().tobytes() for t in out] == want
