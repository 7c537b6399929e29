"""Transforms: inverses, Jacobians against derivatives, caches, shapes; constraints, and the ways into their sets."""

import copy
import math
import pickle

import numpy as np
import pytest
from test_distributions import INF, NAN, D, close, t

import tensorplay as tp
from tensorplay import func
from tensorplay.distributions import constraints, transforms

LINE = [-3.0, -0.5, 0.2, 2.5]
PLUS = [1e-3, 0.5, 1.0, 7.0]
VECTOR, MATRIX = [0.5, -1.0, 0.3], [[0.5, -1.0], [0.3, 0.2]]

ELEMENTWISE = {  # a transform, arguments, results by NumPy
    "exp": (D.ExpTransform(), LINE, np.exp),
    "power": (D.PowerTransform(t(-1.5)), PLUS, lambda x: x**-1.5),
    "power of a number": (D.PowerTransform(2.0), PLUS, lambda x: x**2),
    "sigmoid": (D.SigmoidTransform(), LINE, lambda x: 1 / (1 + np.exp(-x))),
    "softplus": (D.SoftplusTransform(), LINE, lambda x: np.log1p(np.exp(x))),
    "tanh": (D.TanhTransform(), LINE, np.tanh),
    "affine": (D.AffineTransform(t(0.5), t(-2.0)), LINE, lambda x: 0.5 - 2 * x),
    "affine of numbers": (D.AffineTransform(0.5, 2), LINE, lambda x: 0.5 + 2 * x),
    "composition": (D.ComposeTransform([D.AffineTransform(0.5, -2.0), D.ExpTransform()]), LINE,
                    lambda x: np.exp(0.5 - 2 * x)),
    "inverse": (D.ExpTransform().inv, PLUS, np.log),
    "inverse of a composition": (D.ComposeTransform([D.AffineTransform(0.5, 2.0), D.ExpTransform()]).inv, PLUS,
                                 lambda x: (np.log(x) - 0.5) / 2),
    "identity": (D.identity_transform, LINE, lambda x: x),
    "distribution function": (D.CumulativeDistributionTransform(D.Cauchy(t(0.5), t(2.0))), LINE,
                              lambda x: np.arctan((x - 0.5) / 2) / np.pi + 0.5),
    "stack": (D.StackTransform([D.ExpTransform(), D.AffineTransform(0.0, 3.0)], dim=-1), [[0.3, 0.4], [1.0, -2.0]],
              lambda x: np.stack([np.exp(x[:, 0]), 3 * x[:, 1]], -1)),
    "cat": (D.CatTransform([D.ExpTransform(), D.AffineTransform(0.0, 3.0)], dim=0, lengths=[1, 3]), LINE,
            lambda x: np.concatenate([np.exp(x[:1]), 3 * x[1:]])),
}  # fmt: skip
VECTORS = {
    "stick breaking": (D.StickBreakingTransform(), [VECTOR, [0.0, 0.0, 0.0]]),
    "correlation": (D.CorrCholeskyTransform(), [VECTOR, [0.0, 2.0, -0.7]]),
    "correlation of many": (D.CorrCholeskyTransform(), np.linspace(-1, 1, 10)),
    "correlation of two": (D.CorrCholeskyTransform(), [0.4]),
    "reshape": (D.ReshapeTransform((3,), (1, 3)), [VECTOR, VECTOR]),
    "independent": (D.IndependentTransform(D.ExpTransform(), 1), [VECTOR, VECTOR]),
    "affine of vectors": (D.AffineTransform(0.5, t([2.0, -1.0, 3.0]), event_dim=1), [VECTOR, VECTOR]),
    "composed": (D.ComposeTransform([D.AffineTransform(t(VECTOR), 0.5), D.StickBreakingTransform()]), [VECTOR, VECTOR]),
}
NOT_INJECTIVE = {
    "softmax": (D.SoftmaxTransform(), VECTOR, constraints.simplex),
    "absolute value": (D.AbsTransform(), LINE, constraints.positive),
    "lower Cholesky": (D.LowerCholeskyTransform(), MATRIX, constraints.lower_cholesky),
    "positive definite": (D.PositiveDefiniteTransform(), MATRIX, constraints.positive_definite),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_transforms(name):
    transform, values, reference = ELEMENTWISE[name]
    x = t(values)
    y = transform(x)
    close(y, reference(np.array(values)))
    close(transform.inv(y), values)
    assert transform.bijective and transform.inv.inv is transform
    slopes = func.grad(lambda x: transform(x).sum())(x)
    close(transform.log_abs_det_jacobian(x, y), np.log(np.abs(slopes.numpy())))
    close(transform.inv.log_abs_det_jacobian(y, x), -np.log(np.abs(slopes.numpy())))
    if not isinstance(transform, (D.StackTransform, D.CatTransform)):
        assert (slopes.sign() == transform.sign).all() and transform.forward_shape((5, 4)) == (5, 4)


def free(y):
    """The entries of a result that determine it, as a vector."""
    if y.dim() == 2 and y.shape[0] == y.shape[1] > 1:
        return D.utils.tril_matrix_to_vec(y, -1)
    return y.reshape(-1)


@pytest.mark.parametrize("name", VECTORS)
def test_transforms_of_vectors(name):
    transform, values = VECTORS[name]
    x = t(values)
    y = transform(x)
    assert transform.codomain.check(y).all() and transform.domain.check(x).all()
    close(transform.inv(y), values)
    assert y.shape == transform.forward_shape(x.shape) and x.shape == transform.inverse_shape(y.shape)
    rows = x.reshape(-1, x.shape[-1])
    logs = transform.log_abs_det_jacobian(x, y).reshape(-1)
    for row, got in zip(rows, logs):
        jacobian = func.jacrev(lambda v: free(transform(v))[: len(v)])(row)
        close(got, tp.linalg.slogdet(jacobian)[1].numpy())
    close(func.vmap(transform)(rows), transform(rows).numpy(), 1e-12)
    _, tangent = func.jvp(transform, (rows,), (tp.ones_like(rows),))
    step = 1e-6
    close(tangent, ((transform(rows + step) - transform(rows - step)) / (2 * step)).numpy(), 1e-6)


@pytest.mark.parametrize("name", NOT_INJECTIVE)
def test_transforms_that_are_not_injective(name):
    transform, values, codomain = NOT_INJECTIVE[name]
    y = transform(t(values))
    assert not transform.bijective and codomain.check(y).all()
    close(transform(transform.inv(y)), y.numpy())
    with pytest.raises(NotImplementedError, match="log_abs_det_jacobian"):
        transform.log_abs_det_jacobian(t(values), y)
    with pytest.raises(NotImplementedError, match="sign"):
        _ = transform.sign


def test_jacobians_far_out():
    far = t([-400.0, 400.0])
    close(D.TanhTransform().log_abs_det_jacobian(far, None), [2 * math.log(2) - 800.0] * 2)
    close(D.SigmoidTransform().log_abs_det_jacobian(far, None), [-400.0, -400.0])
    close(D.SoftplusTransform().log_abs_det_jacobian(far, None), [-400.0, 0.0])
    close(D.SoftplusTransform().inv(t([1e-20, 50.0])), [math.log(1e-20), 50.0])
    sigmoid = D.SigmoidTransform()
    assert sigmoid.inv(t([0.0, 1.0])).isfinite().all() and 0 < float(sigmoid(t(-800.0))) < float(sigmoid(t(800.0))) < 1


def test_jacobians_of_parts_are_summed_where_they_join():
    x = tp.ones(2, 3).double()
    cat = D.CatTransform([D.ExpTransform(), D.AffineTransform(0.0, 2.0)], dim=-1, lengths=[1, 2])
    close(cat.log_abs_det_jacobian(x, cat(x)), [[1.0, math.log(2), math.log(2)]] * 2)
    vectors = D.CatTransform([D.IndependentTransform(D.ExpTransform(), 1), D.AffineTransform(0.0, 2.0, 1)], dim=0)
    close(vectors.log_abs_det_jacobian(x, vectors(x)), [3.0, 3 * math.log(2)])
    assert vectors.event_dim == 1 and vectors.bijective and vectors.length == 2
    whole = D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0.0, 2.0, event_dim=1)])
    close(whole.log_abs_det_jacobian(x, whole(x)), [3 + 3 * math.log(2)] * 2)
    assert whole.domain.event_dim == whole.codomain.event_dim == 1


@pytest.mark.parametrize("make", [
    lambda size: D.ExpTransform(cache_size=size), lambda size: D.AffineTransform(0.5, 2.0, cache_size=size),
    lambda size: D.PowerTransform(t(3.0), cache_size=size), lambda size: D.StickBreakingTransform(cache_size=size),
    lambda size: D.IndependentTransform(D.TanhTransform(), 1, cache_size=size),
    lambda size: D.ComposeTransform([D.TanhTransform(), D.AffineTransform(0.0, 2.0)], cache_size=size),
    lambda size: D.StackTransform([D.TanhTransform()] * 3, dim=-1, cache_size=size),
    lambda size: D.CatTransform([D.TanhTransform()] * 3, dim=-1, cache_size=size),
    lambda size: D.ReshapeTransform((3,), (3, 1), cache_size=size),
    lambda size: D.CumulativeDistributionTransform(D.Normal(0.0, 1.0), cache_size=size),
])  # fmt: skip
def test_a_cache_remembers_one_pair(make):
    cached, plain = make(1), make(0)
    x = tp.tensor([0.3, 8.0, 9.5])
    y = cached(x)
    assert cached.inv(y) is x
    if not isinstance(cached, D.ComposeTransform):
        assert cached(x) is y
    assert plain.inv(plain(x)) is not x
    other = plain.with_cache(1)
    assert type(other) is type(plain) and other.inv(other(x)) is x and plain.with_cache(0) is plain
    back = cached.inv
    assert back(cached(x)) is x and cached.inv is back
    same = pickle.loads(pickle.dumps(plain))
    close(same(x).double(), plain(x).double().numpy())
    close(copy.deepcopy(cached)(x).double(), y.double().numpy())


def test_equality():
    exp, affine = D.ExpTransform, D.AffineTransform
    assert exp() == exp(cache_size=1) and exp() != D.SigmoidTransform() and exp().inv == exp().inv != exp()
    assert affine(0.0, 2.0) == affine(0.0, t(2.0)) != affine(1.0, 2.0)
    assert D.PowerTransform(t(2.0)) == D.PowerTransform(2.0) != D.PowerTransform(3.0)
    assert D.ComposeTransform([exp(), affine(0, 1)]) == D.ComposeTransform([exp(), affine(0, 1)])
    assert D.ComposeTransform([exp()]) != D.ComposeTransform([])


def test_representations():
    assert repr(D.ExpTransform().inv) == "_InverseTransform(ExpTransform())"
    assert repr(D.IndependentTransform(D.ExpTransform(), 1)) == "IndependentTransform(ExpTransform(), 1)"
    whole = D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0, 1)])
    assert repr(whole) == "ComposeTransform(\n    ExpTransform(),\n    AffineTransform()\n)"


BAD = [
    (lambda: D.ExpTransform(cache_size=2), ValueError, "0 or 1"),
    (lambda: D.ReshapeTransform((2, 3), (7,)), ValueError, "numbers of elements"),
    (lambda: D.ReshapeTransform((2,), (1, 2)).forward_shape((3,)), ValueError, "must be"),
    (lambda: D.ReshapeTransform((2,), (1, 2)).inverse_shape((2,)), ValueError, "too few"),
    (lambda: D.StickBreakingTransform().forward_shape(()), ValueError, "at least 1"),
    (lambda: D.CorrCholeskyTransform().forward_shape((4,)), ValueError, "4 entries"),
    (lambda: D.CorrCholeskyTransform().inverse_shape((2, 3)), ValueError, "square"),
    (lambda: D.IndependentTransform(D.ExpTransform(), 1)(t(1.0)), ValueError, "at least 1"),
    (lambda: D.StickBreakingTransform().event_dim + D.CorrCholeskyTransform().event_dim, ValueError, "differ"),
    (lambda: D.StackTransform([3]), AssertionError, "Transforms"),
    (lambda: D.StackTransform([D.ExpTransform()])(t([1.0, 2.0])), AssertionError, "extent 1"),
    (lambda: D.StackTransform([D.ExpTransform()], dim=1)(t([1.0])), AssertionError, "dimension 1"),
    (lambda: D.CatTransform([D.ExpTransform()], lengths=[1, 2]), AssertionError, "2 lengths"),
    (lambda: D.CatTransform([D.ExpTransform()])(t([1.0, 2.0])), AssertionError, "extent 1"),
    (lambda: D.Transform()(t(1.0)), NotImplementedError, "_call"),
    (lambda: D.biject_to(constraints.positive_definite), NotImplementedError, "_PositiveDefinite"),
    (lambda: D.transform_to(3), NotImplementedError, "int"),
    (lambda: D.biject_to.register(3, lambda c: c), TypeError, "Constraint"),
    (lambda: constraints.dependent.check(t(1.0)), ValueError, "instance"),
    (lambda: constraints.dependent.event_dim, NotImplementedError, "event_dim"),
    (lambda: constraints.Constraint().check(t(1.0)), NotImplementedError, "checked"),
    (lambda: constraints.independent(constraints.real, 2).check(t([1.0])), ValueError, "at least 2"),
    (lambda: constraints.cat([constraints.real], lengths=[1, 2]), AssertionError, "2 lengths"),
    (lambda: D.utils.tril_matrix_to_vec(t(MATRIX), 2), ValueError, "diag"),
    (lambda: D.utils.vec_to_tril_matrix(t([1.0, 2.0])), RuntimeError, "2 entries"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_arguments_are_refused(case):
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call()


# ---- transformed distributions


def test_transformed_distributions_know_their_shapes():
    base = D.Normal(tp.zeros(4, 3), 1.0)
    for steps, batch, event in [
        ([], (4, 3), ()), ([D.ExpTransform()], (4, 3), ()), ([D.StickBreakingTransform()], (4,), (4,)),
        ([D.ReshapeTransform((3,), (3, 1))], (4,), (3, 1)), ([D.CorrCholeskyTransform()], (4,), (3, 3)),
        ([D.AffineTransform(tp.zeros(2, 1, 1), 1.0)], (2, 4, 3), ()),
        ([D.AffineTransform(0.0, 1.0, event_dim=2), D.ExpTransform()], (), (4, 3)),
    ]:  # fmt: skip
        d = D.TransformedDistribution(base, steps)
        assert (d.batch_shape, d.event_shape) == (batch, event)
        x = d.rsample((5,))
        assert x.shape == (5, *batch, *event) and d.log_prob(x).shape == (5, *batch)
        assert d.support.check(x).all() and d.expand((2, *batch)).sample().shape == (2, *batch, *event)


def test_transformed_densities_integrate_to_one():
    x = np.linspace(1e-7, 1 - 1e-7, 200001)
    for base, steps in [
        (D.Normal(t(0.3), t(0.8)), [D.SigmoidTransform()]),
        (D.Laplace(t(0.3), t(0.2)), [D.TanhTransform(), D.AffineTransform(0.5, -0.5)]),
        (D.Gamma(t(3.0), t(2.0)), [D.AffineTransform(0.0, -1.0), D.ExpTransform()]),
    ]:
        d = D.TransformedDistribution(base, steps)
        density = d.log_prob(t(x)).exp().numpy()
        assert abs(np.trapezoid(density, x) - 1) < 1e-4
        close(d.cdf(t(x[100000:100001])), np.trapezoid(density[:100001], x[:100001]), 1e-4)


def test_falling_transforms_turn_probabilities_around():
    base = D.Normal(t(0.0), t(1.0))
    for scale in (-2.0, t(-2.0), t([-2.0, 2.0])):
        d = D.TransformedDistribution(base, [D.AffineTransform(0.5, scale)])
        close(d.cdf(d.icdf(t([0.1, 0.9]))), [0.1, 0.9])
        assert (d.icdf(t([0.9, 0.9])) > 0.5).all()


# ---- constraints

INSIDE_AND_OUTSIDE = [
    (constraints.boolean, [0.0, 1.0, 0.5], [1, 1, 0]), (constraints.real, [0.0, NAN, INF], [1, 0, 1]),
    (constraints.nonnegative_integer, [0.0, 3.0, -1.0, 0.5], [1, 1, 0, 0]),
    (constraints.positive_integer, [0.0, 3.0], [0, 1]),
    (constraints.integer_interval(1, 3), [0.0, 3.0, 2.5, 4.0], [0, 1, 0, 0]),
    (constraints.positive, [0.0, 1e-300, NAN], [0, 1, 0]), (constraints.nonnegative, [0.0, -1e-300], [1, 0]),
    (constraints.greater_than(t([0.0, 1.0])), [0.5, 0.5], [1, 0]), (constraints.less_than(1.0), [0.5, 1.0], [1, 0]),
    (constraints.interval(0, 2), [0.0, 2.0, 2.1], [1, 1, 0]),
    (constraints.half_open_interval(0, 2), [0.0, 2.0], [1, 0]),
    (constraints.unit_interval, [0.0, 1.0, -0.1], [1, 1, 0]),
    (constraints.real_vector, [[0.0, 1.0], [0.0, NAN]], [1, 0]),
    (constraints.simplex, [[0.5, 0.5], [0.5, 0.4], [1.5, -0.5]], [1, 0, 0]),
    (constraints.one_hot, [[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]], [1, 0, 0]),
    (constraints.multinomial(3), [[1.0, 2.0], [2.0, 2.0], [-1.0, 2.0]], [1, 0, 0]),
    (constraints.lower_triangular, [[[1.0, 0.0], [2.0, -3.0]], [[1.0, 1.0], [0.0, 1.0]]], [1, 0]),
    (constraints.lower_cholesky, [[[1.0, 0.0], [2.0, 3.0]], [[1.0, 0.0], [2.0, -3.0]]], [1, 0]),
    (constraints.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.9]]], [1, 0]),
    (constraints.symmetric, [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [3.0, 1.0]]], [1, 0]),
    (constraints.positive_definite,
     [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]], [[2.0, 1.0], [0.5, 2.0]]], [1, 0, 0]),
    (constraints.positive_semidefinite, [[[1.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]]], [1, 0]),
    (constraints.independent(constraints.positive, 1), [[1.0, 2.0], [1.0, -2.0]], [1, 0]),
    (constraints.cat([constraints.positive, constraints.real], 0, [1, 2]), [-1.0, -1.0, 2.0], [0, 1, 1]),
    (constraints.stack([constraints.positive, constraints.real], -1), [[-1.0, -1.0], [1.0, NAN]], [[0, 1], [1, 0]]),
    (constraints.MixtureSameFamilyConstraint(constraints.positive), [1.0, -1.0], [1, 0]),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(INSIDE_AND_OUTSIDE)))
def test_constraints_check(case):
    constraint, values, want = INSIDE_AND_OUTSIDE[case]
    x = t(values)
    got = constraint.check(x)
    assert got.dtype == tp.bool and got.tolist() == np.array(want, bool).tolist()
    if x.dim() == 1 and not any(word in repr(constraint) for word in ("Cat", "tensor")):
        assert func.vmap(constraint.check)(x).tolist() == got.tolist()


def test_square_needs_no_values():
    assert constraints.square.check(tp.ones(4, 2, 2)).tolist() == [True] * 4
    for constraint in (constraints.square, constraints.symmetric, constraints.positive_definite):
        assert constraint.check(tp.ones(2, 3)).tolist() is False


def test_constraints_that_depend_on_parameters():
    assert constraints.is_dependent(D.Uniform.support) and not constraints.is_dependent(D.Normal.support)
    assert D.Binomial.support.is_discrete and D.Categorical.support.event_dim == 0
    assert constraints.dependent(event_dim=1).event_dim == 1
    assert repr(D.Uniform(0.0, 2.0).support) == "Interval(lower_bound=0.0, upper_bound=2.0)"
    assert repr(constraints.real_vector) == "IndependentConstraint(Real(), 1)"
    assert constraints.cat([constraints.positive, constraints.simplex]).event_dim == 1
    assert constraints.stack([constraints.boolean, constraints.real]).is_discrete


WAYS = [
    constraints.real, constraints.real_vector, constraints.positive, constraints.nonnegative,
    constraints.less_than(2.0), constraints.greater_than(t([1.0, 2.0, 3.0])), constraints.interval(-2.0, 3.0),
    constraints.unit_interval,
    constraints.half_open_interval(0.0, 4.0), constraints.simplex, constraints.corr_cholesky,
    constraints.independent(constraints.positive, 1),
    constraints.cat([constraints.positive, constraints.less_than(0.0)], -1, [1, 2]),
    constraints.stack([constraints.positive, constraints.real, constraints.unit_interval], -1),
]  # fmt: skip
MATRIX_WAYS = [constraints.lower_cholesky, constraints.positive_definite, constraints.positive_semidefinite]


@pytest.mark.parametrize("constraint", WAYS, ids=repr)
def test_bijections_lead_to_the_set_and_back(constraint):
    x = t([[0.5, -1.0, 2.0], [-0.2, 0.3, 0.1]])
    transform = D.biject_to(constraint)
    y = transform(x)
    assert transform.bijective and constraint.check(y).all()
    close(transform.inv(y), x.numpy())
    logs = transform.log_abs_det_jacobian(x, y)
    assert logs.isfinite().all()
    free_space = D.transform_to(constraint)
    z = free_space(x)
    assert constraint.check(z).all()
    close(free_space(free_space.inv(z)), z.numpy())


@pytest.mark.parametrize("constraint", MATRIX_WAYS, ids=repr)
def test_ways_to_sets_of_matrices(constraint):
    transform = D.transform_to(constraint)
    y = transform(t([MATRIX, [[0.0, 1.0], [2.0, -0.5]]]))
    assert constraint.check(y).all()
    close(transform(transform.inv(y)), y.numpy())


def test_every_parameter_is_within_reach_of_optimisation():
    for d in (D.Normal(0.0, 1.0), D.Gamma(1.0, 2.0), D.Beta(1.0, 2.0), D.Uniform(0.0, 1.0), D.Poisson(2.0)):
        for name, constraint in d.arg_constraints.items():
            free_value = D.transform_to(constraint).inv(getattr(d, name))
            close(D.transform_to(constraint)(free_value), getattr(d, name).numpy(), 1e-6)


def test_a_registry_takes_constraints_of_users():
    class Even(constraints.Constraint):
        def check(self, value):
            return value % 2 == 0

    registry = D.constraint_registry.ConstraintRegistry()

    @registry.register(Even())
    def to_even(constraint):
        return D.AffineTransform(0.0, 2.0)

    assert registry(Even())(t(3.0)) == 6 and to_even(Even()) == D.AffineTransform(0.0, 2.0)


def test_triangles_are_written_row_by_row():
    for diag in (-1, 0, 1):
        matrix = tp.arange(16.0).reshape(4, 4).tril(diag)
        vector = D.utils.tril_matrix_to_vec(matrix, diag)
        assert vector.tolist() == matrix.numpy()[np.tril_indices(4, diag)].tolist()
        assert (D.utils.vec_to_tril_matrix(vector, diag) == matrix).all()
    assert D.utils.vec_to_tril_matrix(tp.ones(5, 3)).shape == (5, 2, 2)
    assert transforms.identity_transform(vector) is vector
