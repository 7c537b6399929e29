"""Arguments that are numbers: from Python, from NumPy or a tensor of no dimensions; anything else is a TypeError."""

import math

import numpy as np
import pytest

import tensorplay as tp

N = tp.nn.functional
X = tp.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [0.0, 1.0, 3.0]], dtype=tp.float64)
SIGN = tp.tensor([1, -1, 1])
REAL = {  # what takes a real number
    "nan_to_num": lambda v: tp.nan_to_num(X / 0, nan=v, posinf=v),
    "logit": lambda v: tp.logit(X, v),
    "elu": lambda v: N.elu(X, v),
    "celu": lambda v: N.celu(X, v),
    "leaky_relu": lambda v: N.leaky_relu(X, v),
    "hardtanh": lambda v: N.hardtanh(X, -1.0, v),
    "threshold": lambda v: N.threshold(X, 0.5, v),
    "softplus": lambda v: N.softplus(X, v),
    "hardshrink": lambda v: tp.hardshrink(X, v),
    "softshrink": lambda v: N.softshrink(X, v),
    "rrelu": lambda v: N.rrelu(X, v, 4.0),
    "huber_loss": lambda v: N.huber_loss(X, X.mT, delta=v),
    "smooth_l1_loss": lambda v: N.smooth_l1_loss(X, X.mT, beta=v),
    "poisson_nll_loss": lambda v: N.poisson_nll_loss(X.abs(), X, log_input=False, eps=v),
    "layer_norm": lambda v: N.layer_norm(X, (3,), eps=v),
    "batch_norm": lambda v: N.batch_norm(X, None, None, training=True, eps=v),
    "group_norm": lambda v: N.group_norm(X[None], 3, eps=v),
    "instance_norm": lambda v: N.instance_norm(X[None], eps=v),
    "pairwise_distance": lambda v: N.pairwise_distance(X, X.mT, v),
    "cosine_similarity": lambda v: N.cosine_similarity(X, X.mT, eps=v),
    "attention": lambda v: N.scaled_dot_product_attention(X, X, X, scale=v),
    "cdist": lambda v: tp.cdist(X, X, v),
    "norm": lambda v: tp.norm(X, v, -1) if v.__class__ is not str else tp.norm(X, float, -1),  # a str is an order
    "vector_norm": lambda v: tp.linalg.vector_norm(X, v),
    "std": lambda v: tp.std(X, 0, correction=v),
    "isclose": lambda v: tp.isclose(X, X.mT, v),
    "margin_ranking_loss": lambda v: N.margin_ranking_loss(X, X.mT, X.sign(), v),
    "cosine_embedding_loss": lambda v: N.cosine_embedding_loss(X, X.mT, SIGN, v),
    "searchsorted": lambda v: tp.searchsorted(tp.tensor([1.0, 2.0, 3.0], dtype=tp.float64), v),
    "logspace": lambda v: tp.logspace(0, 3, 4, v),
}
ANY = {  # complex ones, too, where the tensor is
    "addcmul": lambda v: tp.addcmul(X, X, X, value=v),
    "addcdiv": lambda v: tp.addcdiv(X, X, X + 3, value=v),
    "addmm": lambda v: tp.addmm(X, X, X, beta=v),
    "baddbmm": lambda v: tp.baddbmm(X[None], X[None], X[None], alpha=v),
    "renorm": lambda v: tp.renorm(X, 2.0, 0, v),
    "lerp": lambda v: tp.lerp(X, X.mT, v),
    "trapezoid": lambda v: tp.trapezoid(X, dx=v),
    "fill_diagonal_": lambda v: X.clone().fill_diagonal_(v),
    "pad": lambda v: N.pad(X, (1, 1), value=v),
    "add": lambda v: tp.add(X, X, alpha=v),
    "sub": lambda v: X.sub(X, alpha=v),
    "index_add": lambda v: X.index_add(0, tp.tensor([1]), X[:1], alpha=v),
}
INTEGER = {  # what takes an integer
    "add": lambda v: tp.arange(3).add(tp.arange(3), alpha=v),
    "rsub": lambda v: tp.rsub(tp.arange(3), tp.arange(3), alpha=v),
    "add_": lambda v: tp.arange(3).add_(tp.arange(3), alpha=v),
    "adaptive_avg_pool1d": lambda v: N.adaptive_avg_pool1d(X[None], [v]),
    "adaptive_max_pool2d": lambda v: N.adaptive_max_pool2d(X[None], (v, None)),
    "avg_pool2d": lambda v: N.avg_pool2d(tp.arange(16).reshape(1, 4, 4), v, divisor_override=v),
    "nll_loss": lambda v: N.nll_loss(X, tp.tensor([0, 1, 2]), X[0], ignore_index=v),
    "cross_entropy": lambda v: N.cross_entropy(X, tp.tensor([0, 1, 2]), X[0], ignore_index=v),
    "local_response_norm": lambda v: N.local_response_norm(tp.arange(8).reshape(1, 4, 2), v),
    "max": lambda v: X.expand(1, 1, 3, 3).max(v, True).values,
    "min": lambda v: X.expand(1, 1, 3, 3).min(v, keepdim=True).values,
    "all": lambda v: tp.ones(1, 1, 3).all(v),
}
FORMS = [2, np.float32(2), np.float64(2), np.int64(2), tp.tensor(2.0), tp.tensor(2)]


@pytest.mark.parametrize("name", [*REAL, *ANY])
def test_a_number_comes_from_python_numpy_or_a_tensor_of_no_dimensions(name):
    call = (REAL | ANY)[name]
    if name == "rrelu":
        tp.manual_seed(0)
    want = call(2.0)
    for form in FORMS:
        tp.testing.assert_close(call(form), want, equal_nan=True)


@pytest.mark.parametrize("name", [*REAL, *ANY])
def test_what_is_no_number_is_refused(name):
    call = (REAL | ANY)[name]
    for value in ("a", [1.0, 2.0, 3.0], np.ones(3), object(), {}):
        with pytest.raises(TypeError):
            call(value)
    if name not in ("lerp", "searchsorted"):  # which take tensors
        with pytest.raises(TypeError):
            call(tp.ones(3, dtype=tp.float64))
    if name in REAL:
        with pytest.raises(RuntimeError, match="without overflow"):
            call(1j)


@pytest.mark.parametrize("name", INTEGER)
def test_an_integer_comes_from_python_numpy_or_a_tensor_of_no_dimensions(name):
    call = INTEGER[name]
    want = call(2)
    for form in (np.int64(2), np.uint8(2), tp.tensor(2), tp.tensor(2, dtype=tp.int8)):
        tp.testing.assert_close(call(form), want)
    for value in (2.0, np.float64(2), tp.tensor(2.0), "2"):
        with pytest.raises((TypeError, RuntimeError)):
            call(value)


def test_a_number_cannot_carry_a_gradient():
    weight = tp.tensor(2.0, dtype=tp.float64, requires_grad=True)
    for call in (ANY["add"], ANY["addcmul"], REAL["elu"]):
        with pytest.raises(TypeError, match="must be Number"):
            call(weight)
        call(weight.detach())
        with pytest.raises(TypeError, match="must be Number"):
            tp.func.jvp(call, (weight.detach(),), (weight.detach(),))


def test_a_tensor_of_no_dimensions_has_a_dimension_to_reduce_whatever_names_it():
    for dim in (0, -1, (0,), np.int64(0), tp.tensor(0)):
        assert tp.tensor(1.0).all(dim=dim, keepdim=True).shape == tp.tensor(1.0).any(dim).shape == ()


def test_no_differences_leave_the_input_alone():
    assert tp.diff(tp.arange(3), 0, prepend=tp.tensor([7]), append=tp.tensor([7])).tolist() == [0, 1, 2]


def test_steps_between_integers_start_and_end_at_integers():
    assert tp.linspace(4.9, -2.9, 7, dtype=tp.int64).tolist() == [4, 3, 2, 1, 0, -1, -2]
    assert tp.logspace(1, 1.9, 3, dtype=tp.int64).tolist() == [10, 10, 10]


def test_a_flag_of_pooling_is_a_bool():
    for value in (1, "x", None):
        for call in (
            lambda v: N.max_pool2d(X[None], 2, ceil_mode=v),
            lambda v: N.avg_pool2d(X[None], 2, ceil_mode=v),
            lambda v: N.avg_pool2d(X[None], 2, count_include_pad=v),
        ):
            with pytest.raises(TypeError, match="must be bool"):
                call(value)


def test_means_without_channels_have_none():
    assert N.adaptive_avg_pool2d(tp.ones(2, 0, 7, 5), 3).shape == (2, 0, 3, 3)
    assert N.adaptive_avg_pool1d(tp.ones(2, 0, 6), 3).shape == (2, 0, 3)
    for size in (0, 1):
        with pytest.raises(RuntimeError, match="non-zero size"):
            N.adaptive_max_pool2d(tp.ones(2, 0, 7, 5), size)


def test_copy_takes_the_names_of_the_parser_and_of_the_documentation():
    assert tp.zeros(2).copy_(other=tp.ones(2)).tolist() == tp.zeros(2).copy_(src=tp.ones(2)).tolist() == [1, 1]


def test_numbers_of_their_own_kind():
    assert tp.quantile(X, np.int64(1)).item() == 3 == tp.quantile(X, True).item()
    assert tp.histc(X, tp.tensor(2), np.int64(-1), np.float64(3)).tolist() == [5, 4]
    assert tp.equal(tp.cov(X, correction=np.int64(0)), tp.cov(X, correction=0))
    for call in (
        lambda: tp.round(X, decimals=1.5),
        lambda: tp.cov(X, correction=1.5),
        lambda: tp.logical_and(X[:0], None),
        lambda: tp.fmod(X, None),
    ):
        with pytest.raises(TypeError):
            call()


def test_nan_is_no_tolerance_and_no_order():
    for call in (lambda: tp.allclose(X, X, math.nan), lambda: tp.cdist(X, X, math.nan)):
        with pytest.raises(RuntimeError):
            call()
