"""What the tables of samples do not say about reductions, scans and sorting: dtypes, ties, zeros, nan, errors."""

import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd

NAN, INF = math.nan, math.inf
t = tp.tensor


def grad(fn, *values):
    xs = [t(v, dtype=tp.float64, requires_grad=True) for v in values]
    return [g.tolist() for g in autograd.grad(fn(*xs), xs)]


# ---- dtypes

SUMS = [("sum", [1, 1]), ("prod", [1, 1]), ("cumsum", [1, 1]), ("cumprod", [1, 1]), ("nansum", [1, 1])]


@pytest.mark.parametrize("name", [name for name, _ in SUMS])
@pytest.mark.parametrize("dtype", [tp.bool, tp.uint8, tp.int16, tp.int32, tp.int64])
def test_sums_and_products_of_integers_are_int64(name, dtype):
    assert getattr(tp, name)(t([1, 1], dtype=dtype), dim=0).dtype is tp.int64


@pytest.mark.parametrize("name", [name for name, _ in SUMS])
def test_dtype_casts_before_reducing(name):
    x = t([1.7, 1.7])
    out = getattr(tp, name)(x, dim=0, dtype=tp.int32)
    assert out.dtype is tp.int32
    assert out.flatten()[-1].item() == (2 if "sum" in name else 1)


@pytest.mark.parametrize("dtype", [tp.float16, tp.bfloat16])
def test_short_floats_are_summed_in_float32(dtype):
    ones = tp.ones(5000, dtype=dtype)
    assert ones.sum().dtype is dtype
    assert ones.sum().item() == pytest.approx(5000, rel=2**-8)
    assert ones.mean().item() == 1
    assert ones.cumsum(0)[-1].item() == pytest.approx(5000, rel=2**-8)


@pytest.mark.parametrize("name", ["var", "std", "norm", "logsumexp", "amax", "median"])
@pytest.mark.parametrize("dtype", [tp.float16, tp.bfloat16, tp.float32, tp.float64])
def test_floating_results_keep_their_dtype(name, dtype):
    x = tp.ones(4, dtype=dtype)
    args = (0,) if name == "logsumexp" else ()
    assert getattr(tp, name)(x, *args).dtype is dtype


@pytest.mark.parametrize("name", ["var", "std", "norm"])
def test_moments_and_norms_of_complex_numbers_are_real(name):
    assert getattr(tp, name)(t([1 + 2j, 3j], dtype=tp.complex128)).dtype is tp.float64


def test_logical_reductions_of_uint8_are_uint8():
    x = t([0, 3], dtype=tp.uint8)
    assert x.all().dtype is x.any().dtype is tp.uint8
    assert t([0.0, NAN]).any().item() is True
    assert t([1, 2]).all().dtype is tp.bool


@pytest.mark.parametrize("name", ["argmax", "argmin", "count_nonzero", "argsort"])
def test_indices_and_counts_are_int64(name):
    assert getattr(tp, name)(t([2.0, 1.0])).dtype is tp.int64


# ---- no elements

EMPTY = tp.zeros(0, 3)


OF_NOTHING = {"sum": 0.0, "prod": 1.0, "mean": NAN, "norm": 0.0, "all": True, "any": False, "median": NAN}


@pytest.mark.parametrize("name, value", OF_NOTHING.items())
def test_reducing_nothing_gives_the_identity(name, value):
    assert getattr(tp, name)(EMPTY).item() == pytest.approx(value, nan_ok=True)


def test_reducing_nothing_along_a_dimension():
    assert EMPTY.sum(0).tolist() == [0, 0, 0]
    assert EMPTY.prod(0).tolist() == [1, 1, 1]
    assert EMPTY.logsumexp(0).tolist() == [-INF] * 3
    assert EMPTY.amax(1).shape == (0,)
    assert EMPTY.max(1).indices.shape == (0,)


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "aminmax"])
def test_there_is_no_extreme_of_nothing(name):
    with pytest.raises(RuntimeError, match="Expected reduction dim to be specified"):
        getattr(tp, name)(EMPTY)
    with pytest.raises(IndexError, match="Expected reduction dim 0 to have non-zero size"):
        getattr(tp, name)(EMPTY, dim=0)


@pytest.mark.parametrize("ord", [INF, -INF, -1])
def test_norms_without_identity_refuse_nothing(ord):
    with pytest.raises(RuntimeError, match="does not have an identity"):
        tp.linalg.vector_norm(EMPTY, ord)


# ---- gradients where functions have kinks, ties or zeros


@pytest.mark.parametrize(
    "fn, want",
    [
        (lambda x: x.max(), [0, 0.5, 0.5]),
        (lambda x: x.amax(), [0, 0.5, 0.5]),
        (lambda x: x.amax(0), [0, 0.5, 0.5]),
        (lambda x: x.max(0).values, [0, 1, 0]),
        (lambda x: tp.aminmax(x).max, [0, 0.5, 0.5]),
        (lambda x: x.min(), [1, 0, 0]),
        (lambda x: x.median(), [0, 0.5, 0.5]),
        (lambda x: x.norm(INF), [0, 0.5, 0.5]),
        (lambda x: x.cummax(0).values.sum(), [1, 1, 1]),
    ],
)
def test_ties_share_the_gradient_or_the_index_takes_it(fn, want):
    assert grad(fn, [1.0, 3.0, 3.0]) == [want]


def test_the_gradient_of_a_maximum_goes_to_nan():
    assert grad(lambda x: x.max(), [1.0, NAN, 3.0]) == [[0, 1, 0]]


@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, 3, INF, -INF])
def test_norms_have_gradient_zero_at_zero(p):
    assert grad(lambda x: x.norm(p), [0.0, 0.0]) == [[0, 0]]


def test_a_standard_deviation_of_zero_has_gradient_zero():
    assert grad(lambda x: x.std(), [2.0, 2.0]) == [[0, 0]]


def test_logsumexp_of_minus_infinity_has_gradient_zero():
    assert grad(lambda x: x.logsumexp(0), [-INF, -INF]) == [[0, 0]]
    assert grad(lambda x: x.logcumsumexp(0)[-1], [-INF, 0.0]) == [[0, 1]]


@pytest.mark.parametrize("values, first", [
    ([2.0, 3.0, 0.0, 4.0], [0, 0, 24, 0]), ([2.0, 3.0, 0.0, 0.0], [0, 0, 0, 0]), ([0.0, 0.0, 0.0, 5.0], [0, 0, 0, 0]),
])  # fmt: skip
@pytest.mark.parametrize("product", [lambda x: x.prod(), lambda x: x.prod(0), lambda x: x.cumprod(0)[-1]])
def test_products_with_zeros_are_differentiated_twice(values, first, product):
    x = t(values, dtype=tp.float64, requires_grad=True)
    (g,) = autograd.grad(product(x), [x], create_graph=True)
    assert g.tolist() == first
    n = len(values)
    hessian = [autograd.grad(part, [x], retain_graph=True)[0].tolist() for part in g]
    for i in range(n):
        for j in range(n):
            others = [v for k, v in enumerate(values) if k not in (i, j)]
            assert hessian[i][j] == (0 if i == j else math.prod(others))


def test_the_cotangent_of_a_sum_is_spread_without_a_copy():
    node = tp.ones(3, 4, requires_grad=True).sum().grad_fn
    (spread,) = node.pull(np.float32(2), node.saved, node.edges)
    assert spread.shape == (3, 4) and spread.strides == (0, 0)


# ---- nan, order and ranks


def test_nan_is_the_largest_number():
    x = t([1.0, NAN, 3.0])
    assert x.argmax().item() == x.argmin().item() == 1
    assert tp.isnan(x.max()) and tp.isnan(x.min())
    assert x.sort().indices.tolist() == [0, 2, 1]
    assert x.sort(descending=True).indices.tolist() == [1, 2, 0]
    assert x.topk(1).indices.tolist() == [1]
    assert x.kthvalue(3).indices.item() == 1
    assert tp.isnan(x.median()) and x.nanmedian().item() == 1


SORTED = [tp.bool, tp.uint8, tp.int32, tp.int64, tp.float16, tp.bfloat16, tp.float32, tp.float64]


@pytest.mark.parametrize("dtype", SORTED)
@pytest.mark.parametrize("size", [30, 5000])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_stable(dtype, size, descending):
    values = np.random.default_rng(0).integers(0, 7, size) - (3 if dtype.is_signed else 0)
    x = t(values).to(dtype)
    keys = x.to(tp.float64).numpy()
    want = np.argsort(-keys if descending else keys, kind="stable")
    assert x.sort(descending=descending).indices.tolist() == want.tolist()


@pytest.mark.parametrize("dtype, extremes", [(tp.int64, [2**63 - 1, -(2**63), 0]), (tp.uint64, [2**64 - 1, 0, 2**63])])
@pytest.mark.parametrize("size", [4, 5000])
def test_sorting_of_the_widest_integers(dtype, extremes, size):
    values = np.resize(np.array(extremes, dtype.numpy), size)
    assert t(values).sort().indices.tolist() == np.argsort(values, kind="stable").tolist()


def test_negative_zero_and_zero_are_equal():
    x = tp.zeros(5000)
    x[::2] = -0.0
    assert x.sort().indices.tolist() == list(range(5000))


def test_gradients_of_unique_go_to_the_first_of_equal_elements():
    assert grad(lambda x: (x.unique() * t([1.0, 2.0], dtype=tp.float64)).sum(), [3.0, 1.0, 3.0]) == [[2, 1, 0]]


# ---- arguments


ALONG = ["sum", "mean", "amax", "argmax", "all", "var", "cumsum", "sort", "median", "mode", "logsumexp"]


@pytest.mark.parametrize("name", ALONG)
def test_a_dimension_out_of_range_is_an_index_error(name):
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 5\)"):
        getattr(tp, name)(tp.ones(2, 3), dim=5)
    with pytest.raises(IndexError, match=r"\[-1, 0\], but got 1"):
        getattr(tp, name)(t(1.0), dim=1)


@pytest.mark.parametrize("name", ["sum", "amax", "var", "any"])
def test_a_dimension_named_twice_is_refused(name):
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times in the list of dims"):
        getattr(tp, name)(tp.ones(2, 3), dim=(1, -1))


X = tp.ones(2, 3)
C = t([1j, 2j])
REFUSED = [
    (lambda: X.long().mean(), RuntimeError, "could not infer output dtype"),
    (lambda: X.mean(dtype=tp.int64), RuntimeError, "Optional dtype must be"),
    (lambda: X.sum("a"), TypeError, "argument 'dim'"),
    (lambda: X.sum(True), TypeError, "must be int, not bool"),
    (lambda: X.sum(0, 1), TypeError, "'keepdim'.* must be bool, not int"),
    (lambda: X.prod((0, 1)), TypeError, "must be int, not tuple"),
    (lambda: X.max((0, 1)), TypeError, "must be int, not tuple"),
    (lambda: X.sum_to_size(2, 2), RuntimeError, "not expandable"),
    (lambda: tp.sum([1.0]), TypeError, "must be Tensor, not list"),
    (lambda: C.max(), NotImplementedError, "no order"),
    (lambda: C.sort(), RuntimeError, "does not support complex"),
    (lambda: tp.argmax(t([True])), RuntimeError, "does not support bool"),
    (lambda: X.long().var(), RuntimeError, "only support floating point and complex"),
    (lambda: X.var(0, unbiased=True, correction=1), TypeError, "both 'unbiased' and 'correction'"),
    (lambda: X.max(keepdim=True), TypeError, "needs 'dim'"),
    (lambda: X.topk(4), RuntimeError, "k out of range"),
    (lambda: X.kthvalue(0), RuntimeError, "k out of range"),
    (lambda: X.long().norm(), RuntimeError, "Expected a floating point or complex tensor"),
    (lambda: tp.linalg.vector_norm(X, dtype=tp.float16), RuntimeError, "without narrowing"),
    (lambda: tp.linalg.vector_norm(X, dtype=tp.complex64), RuntimeError, "should be real"),
    (lambda: X.norm("abc"), RuntimeError, "abc"),
    (lambda: tp.diff(t(1.0)), RuntimeError, "at least one-dimensional"),
    (lambda: tp.diff(X, -1), RuntimeError, "non-negative"),
    (lambda: tp.trapezoid(X, tp.ones(2)), RuntimeError, "one `x` value for each"),
    (lambda: tp.trapezoid(X, X, dx=1.0), TypeError, "both 'x' and 'dx'"),
    (lambda: X.quantile(2.0), RuntimeError, r"range \[0, 1\]"),
    (lambda: X.quantile(t([0.5], dtype=tp.float64)), RuntimeError, "same dtype"),
    (lambda: X.quantile(0.5, interpolation="x"), RuntimeError, "interpolation must be one of"),
    (lambda: X.long().quantile(0.5), RuntimeError, "float or double"),
    (lambda: X.histc(4, 2, 1), RuntimeError, "max must be larger"),
    (lambda: (X * NAN).histc(), RuntimeError, "not finite"),
    (lambda: tp.histogram(X, 2, range=(1.0, 0.0)), RuntimeError, "min should not exceed max"),
    (lambda: t([-1]).bincount(), RuntimeError, "non-negative"),
    (lambda: tp.cov(X, aweights=-tp.ones(3)), RuntimeError, "cannot be negative"),
    (lambda: tp.cov(X, fweights=tp.ones(3)), RuntimeError, "integral dtype"),
    (lambda: tp.searchsorted(X, X[0]), RuntimeError, "first N-1 dimensions"),
    (lambda: tp.searchsorted(X[0], X, side="left", right=True), RuntimeError, "opposites"),
    (lambda: tp.searchsorted(X[0], X, sorter=t([0, 1, 7])), RuntimeError, "out of range"),
    (lambda: tp.bucketize(X, X), RuntimeError, "must be 1 dimension"),
    (lambda: tp.unique(t(1.0), dim=0), IndexError, "no dimensions"),
    (lambda: tp.gradient(t(1.0), dim=0), IndexError, "no dimensions"),
    (lambda: tp.isin(1, 2), TypeError, "must be a Tensor"),
    (lambda: tp.amax(X, 0, out=tp.empty(3, dtype=tp.float64)), RuntimeError, "Expected out tensor to have dtype"),
]


@pytest.mark.parametrize("call, error, message", REFUSED, ids=[m for _, _, m in REFUSED])
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_no_degrees_of_freedom_warn():
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert tp.isnan(t([1.0]).var())
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert t([[1.0, 2.0], [3.0, 5.0]]).cov(correction=5)[0, 1].item() == INF


def test_data_dependent_shapes_are_refused_in_vmap():
    for fn in (tp.unique, tp.unique_consecutive):
        with pytest.raises(RuntimeError, match="vmap"):
            tp.vmap(fn)(X)
    with pytest.raises(RuntimeError, match="vmap"):
        tp.vmap(tp.bincount)(t([[1, 2], [2, 4]]))


# ---- operands that lie in memory in other ways


@pytest.mark.parametrize("name", [*ALONG, "prod", "norm", "cumprod", "logcumsumexp", "quantile"])
def test_strided_and_broadcast_inputs_give_the_values_of_a_copy(name):
    x = tp.tensor(np.random.default_rng(0).normal(size=(4, 6)))
    for view in (x.T, x[::2, 1::2], x[:, :1].expand(4, 3)):
        args = {"quantile": (0.3, 0), "norm": (2, 0)}.get(name, (0,))
        got, want = (getattr(tp, name)(y, *args) for y in (view, view.clone()))
        for g, w in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)):
            np.testing.assert_allclose(g.numpy(), w.numpy())


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_place_of_an_extremum_of_nothing_is_no_index(name):
    with pytest.raises(IndexError, match="Expected reduction dim to be specified"):
        getattr(tp.empty(0), name)()


# ---- keywords as NumPy calls them


@pytest.mark.parametrize("name", "sum mean prod all any std var amax amin argmax argmin max min".split())
def test_axis_and_keepdims_are_dim_and_keepdim(name):
    x = tp.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 9.0]])
    for function in (getattr(tp, name), getattr(tp.Tensor, name)):
        want, have = function(x, 1, keepdim=True), function(x, axis=1, keepdims=True)
        if name in ("max", "min"):
            assert have.indices.tolist() == want.indices.tolist()
            want, have = want.values, have.values
        assert have.tolist() == want.tolist() and have.shape == (2, 1)
        with pytest.raises(TypeError, match=f"{name}.. got an unexpected keyword argument 'axes'"):
            function(x, axes=1)
        with pytest.raises(TypeError, match="multiple values for argument 'dim', also called 'axis'"):
            function(x, 0, axis=1)


X33 = tp.arange(9.0).reshape(3, 3)
AT = tp.zeros(3, 3, dtype=tp.int64)
PLAIN = (
    "softmax log_softmax cumsum cumprod cummax logcumsumexp logsumexp squeeze unsqueeze sort argsort median nanmedian "
    "mode unbind aminmax count_nonzero nansum var_mean std_mean diff"
)
NAMED = {name: {} for name in PLAIN.split()} | {
    "gather": {"index": AT}, "scatter_add": {"index": AT, "src": X33}, "index_select": {"index": AT[0]},
    "kthvalue": {"k": 1}, "topk": {"k": 2}, "narrow": {"start": 0, "length": 2}, "select": {"index": 1},
    "chunk": {"chunks": 2}, "tensor_split": {"indices_or_sections": 2}, "renorm": {"p": 2, "maxnorm": 1.0},
    "quantile": {"q": 0.5}, "index_fill": {"index": AT[0], "value": 2.0},
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_axis_is_dim_for_functions_and_methods(name):
    options = NAMED[name]
    want = getattr(tp, name)(X33, dim=1, **options)
    for function in (getattr(tp, name), getattr(tp.Tensor, name)):
        have = function(X33, axis=1, **options)
        pairs = zip(have, want, strict=True) if isinstance(want, tuple) else [(have, want)]
        assert all(tp.equal(h, w) for h, w in pairs)
        with pytest.raises(TypeError, match=f"{name}.. got an unexpected keyword argument 'axes'"):
            function(X33, axes=1, **options)
        with pytest.raises(TypeError, match="multiple values for argument 'dim', also called 'axis'"):
            function(X33, dim=-2, axis=1, **options)


def test_what_has_no_default_is_still_asked_for():
    with pytest.raises(TypeError, match="softmax.. missing 1 required positional argument: 'dim'"):
        X33.softmax()
    with pytest.raises(TypeError, match="gather.. missing 1 required positional argument: 'index'"):
        tp.gather(X33, axis=1)


def test_functions_of_several_tensors_and_of_namespaces_take_axis():
    assert tp.cat([X33, X33], axis=1).shape == (3, 6)
    assert tp.stack([X33, X33], axis=2).shape == (3, 3, 2)
    assert tp.equal(tp.linalg.vector_norm(X33, axis=0, keepdims=True), tp.linalg.vector_norm(X33, dim=0, keepdim=True))
    assert tp.equal(tp.fft.fft(X33, axis=0), tp.fft.fft(X33, dim=0))
    assert tp.equal(X33.median(axis=0, keepdims=True)[0], X33.median(0, True)[0])
    assert X33.clone().cumsum_(axis=0).tolist() == X33.cumsum(0).tolist()


def test_names_of_numpy_go_with_out():
    x, out = tp.ones(2, 3), tp.empty(3)
    assert tp.sum(x, axis=0, out=out) is out and out.tolist() == [2, 2, 2]


def test_values_and_boundaries_of_any_two_dtypes_are_compared():
    bounds = tp.tensor([1, 2, 3])
    for dtype in (tp.bfloat16, tp.float16, tp.float64, tp.uint8):
        values = tp.tensor([1, 5]).to(dtype)
        assert tp.bucketize(values, bounds).tolist() == [0, 3]
        assert tp.bucketize(tp.tensor([1, 5]), bounds.to(dtype)).tolist() == [0, 3]
