"""Normal distributions of vectors, distributions of matrices."""

from __future__ import annotations

import math
import warnings
from typing import Any

import tensorplay as tp

from ..core.tensor import Size, Tensor
from ..ops.draws import standard_gamma
from . import constraints
from .continuous import LOG_2PI, Beta
from .distribution import Distribution, ExponentialFamily, Parameter, SampleShape, _Centred
from .utils import holds, lazy_property, like, only_one, randn

__all__ = ["LKJCholesky", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"]


def log_diagonal(factor: Tensor) -> Tensor:
    """The logarithm of the determinant of a triangular matrix."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def solved(factor: Tensor, vectors: Tensor) -> Tensor:
    """``factor**-1`` times vectors, the factors lower triangular; one solution for all vectors where there is one."""
    if factor.dim() == 2:
        n = factor.shape[-1]
        rows = tp.linalg.solve_triangular(factor, vectors.reshape(-1, n).mT, upper=False).mT
        return rows.reshape(vectors.shape)
    return tp.linalg.solve_triangular(factor, vectors.unsqueeze(-1), upper=False).squeeze(-1)


def squared_distance(factor: Tensor, vectors: Tensor) -> Tensor:
    """The squared Mahalanobis distance, ``vector.T (factor factor.T)**-1 vector``."""
    return solved(factor, vectors).square().sum(-1)


def times(factor: Tensor, vectors: Tensor) -> Tensor:
    return (factor @ vectors.unsqueeze(-1)).squeeze(-1)


def factor_of_inverse(precision: Tensor) -> Tensor:
    """The lower triangular factor of the inverse of a positive definite matrix."""
    # reversed, the factor of the reversed matrix is upper triangular: precision = U U.T, its inverse U**-T U**-1
    upper = tp.linalg.cholesky(precision.flip(-2, -1)).flip(-2, -1)
    eye = tp.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return tp.linalg.solve_triangular(upper.mT, eye, upper=False)


class _WithCovariance(Distribution):
    """Given by a covariance matrix, its inverse or its Cholesky factor, of which the others follow."""

    _unbroadcasted_scale_tril: Tensor

    def _given_matrix(self, **given: Tensor | None) -> tuple[str, Tensor]:
        """The matrix that is given, and its name."""
        name = only_one(type(self).__name__, **given)
        matrix: Any = given[name]
        if matrix.dim() < 2:
            raise ValueError(f"{type(self).__name__}(): {name} must have at least two dimensions, got {matrix.dim()}")
        return name, matrix

    def _set_matrix(self, name: str, matrix: Tensor, shape: Size, event_shape: Size, validate_args: Any) -> None:
        """Set the matrix, expanded to a batch shape, and once it has been checked the factor."""
        setattr(self, name, matrix.expand(*shape, *matrix.shape[-2:]))
        Distribution.__init__(self, shape, event_shape, validate_args=validate_args)
        if name != "scale_tril":
            matrix = tp.linalg.cholesky(matrix) if name == "covariance_matrix" else factor_of_inverse(matrix)
        self._unbroadcasted_scale_tril = matrix

    def _whole(self, matrix: Tensor) -> Tensor:
        n = matrix.shape[-1]
        return matrix.expand(*self._batch_shape, n, n)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The matrix of which :attr:`scale_tril` is the Cholesky factor."""
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """Its inverse."""
        return self._whole(tp.cholesky_inverse(self._unbroadcasted_scale_tril))


class MultivariateNormal(_Centred, _WithCovariance):
    """The normal distribution of vectors.

    Parameters
    ----------
    loc : Tensor
        ``(..., n)``: the mean.
    covariance_matrix, precision_matrix, scale_tril : Tensor
        ``(..., n, n)``: the covariance, its inverse, or its lower triangular factor; one of them. The last is the
        cheapest.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If not exactly one matrix is given, or dimensions are missing.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.MultivariateNormal(tp.zeros(2), tp.eye(2))
    >>> d.log_prob(tp.zeros(2)), d.entropy()
    (tensor(-1.8379), tensor(2.8379))
    """

    arg_constraints = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("MultivariateNormal(): loc must have at least one dimension, got none")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        name, matrix = self._given_matrix(**given)
        shape = tp.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(*shape, -1)
        self._set_matrix(name, matrix, shape, loc.shape[-1:], validate_args)

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.square().sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        noise = randn(self._extended_shape(sample_shape), self.loc)
        return self.loc + times(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        factor, n = self._unbroadcasted_scale_tril, self._event_shape[0]
        distance = squared_distance(factor, self._checked(value) - self.loc)
        return -0.5 * (n * LOG_2PI + distance) - log_diagonal(factor)

    def entropy(self) -> Tensor:
        n = self._event_shape[0]
        return (n / 2 * (1 + LOG_2PI) + log_diagonal(self._unbroadcasted_scale_tril)).expand(self._batch_shape)


class LowRankMultivariateNormal(_Centred):
    """The normal distribution of vectors of covariance ``cov_factor @ cov_factor.T + diag(cov_diag)``.

    Its inverse and determinant come from a small matrix, by the formulas of Woodbury and of Sylvester.

    Parameters
    ----------
    loc : Tensor
        ``(..., n)``: the mean.
    cov_factor : Tensor
        ``(..., n, rank)``.
    cov_diag : Tensor
        ``(..., n)``, positive.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If the shapes do not go together.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.LowRankMultivariateNormal(tp.zeros(2), tp.tensor([[1.0], [0.0]]), tp.ones(2))
    >>> d.variance, d.log_prob(tp.zeros(2))
    (tensor([2., 1.]), tensor(-2.1845))
    """

    arg_constraints = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("LowRankMultivariateNormal(): loc must have at least one dimension, got none")
        n = loc.shape[-1]
        if cov_factor.dim() < 2 or cov_factor.shape[-2] != n:
            raise ValueError(f"LowRankMultivariateNormal(): cov_factor must be of shape (..., {n}, rank), got "
                             f"{tuple(cov_factor.shape)}")  # fmt: skip
        if cov_diag.dim() < 1 or cov_diag.shape[-1] != n:
            raise ValueError(f"LowRankMultivariateNormal(): cov_diag must be of shape (..., {n}), got "
                             f"{tuple(cov_diag.shape)}")  # fmt: skip
        try:
            shape = tp.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError("LowRankMultivariateNormal(): the batch shapes do not go together: loc "
                             f"{tuple(loc.shape)}, cov_factor {tuple(cov_factor.shape)}, cov_diag "
                             f"{tuple(cov_diag.shape)}") from error  # fmt: skip
        self.loc, self.cov_diag = loc.expand(*shape, n), cov_diag.expand(*shape, n)
        self.cov_factor = cov_factor.expand(*shape, *cov_factor.shape[-2:])
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        super().__init__(shape, (n,), validate_args=validate_args)
        self._capacitance_tril = capacitance_factor(cov_factor, cov_diag)

    @lazy_property
    def variance(self) -> Tensor:
        each = self._unbroadcasted_cov_factor.square().sum(-1) + self._unbroadcasted_cov_diag
        return each.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return tp.linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor, diagonal = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        matrix = factor @ factor.mT + diagonal.diag_embed()
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        factor, diagonal = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        weighted = factor.mT / diagonal.unsqueeze(-2)
        half = tp.linalg.solve_triangular(self._capacitance_tril, weighted, upper=False)
        matrix = diagonal.reciprocal().diag_embed() - half.mT @ half
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        few = randn(Size((*shape[:-1], self.cov_factor.shape[-1])), self.loc)
        return self.loc + times(self._unbroadcasted_cov_factor, few) + (
            self._unbroadcasted_cov_diag.sqrt() * randn(shape, self.loc))  # fmt: skip

    def log_prob(self, value: Tensor) -> Tensor:
        factor, diagonal = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        distance = low_rank_distance(factor, diagonal, self._checked(value) - self.loc, self._capacitance_tril)
        log_det = low_rank_log_det(diagonal, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * LOG_2PI + log_det + distance)

    def entropy(self) -> Tensor:
        log_det = low_rank_log_det(self._unbroadcasted_cov_diag, self._capacitance_tril)
        return (0.5 * (self._event_shape[0] * (1 + LOG_2PI) + log_det)).expand(self._batch_shape)


def capacitance_factor(factor: Tensor, diagonal: Tensor) -> Tensor:
    """The Cholesky factor of ``I + factor.T diag**-1 factor``."""
    rank = factor.shape[-1]
    eye = tp.eye(rank, dtype=factor.dtype, device=factor.device)
    return tp.linalg.cholesky((factor.mT / diagonal.unsqueeze(-2)) @ factor + eye)


def low_rank_log_det(diagonal: Tensor, capacitance: Tensor) -> Tensor:
    return 2 * log_diagonal(capacitance) + diagonal.log().sum(-1)


def low_rank_distance(factor: Tensor, diagonal: Tensor, vectors: Tensor, capacitance: Tensor) -> Tensor:
    """The squared Mahalanobis distance under ``factor factor.T + diag``."""
    weighted = times(factor.mT, vectors / diagonal)
    return (vectors.square() / diagonal).sum(-1) - squared_distance(capacitance, weighted)


class Wishart(_WithCovariance, ExponentialFamily):
    """The Wishart distribution of positive definite matrices: of sums of ``df`` outer squares of normal vectors.

    Parameters
    ----------
    df : Tensor or float
        Degrees of freedom, larger than n - 1.
    covariance_matrix, precision_matrix, scale_tril : Tensor
        ``(..., n, n)``: the covariance of the vectors, its inverse, or its lower triangular factor; one of them.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If not exactly one matrix is given, dimensions are missing, or ``df`` is too small.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Wishart(tp.tensor(3.0), tp.eye(2))
    >>> d.mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, df: Parameter, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        name, matrix = self._given_matrix(**given)
        n = matrix.shape[-1]
        df = df if isinstance(df, Tensor) else like(matrix, df)
        if not holds(df > n - 1):
            raise ValueError(f"Wishart(): df must be larger than {n - 1} for matrices of {n} rows, got {df}")
        shape = tp.broadcast_shapes(df.shape, matrix.shape[:-2])
        self.df = df.expand(shape)
        self._set_matrix(name, matrix, shape, Size((n, n)), validate_args)

    @property
    def arg_constraints(self) -> Any:
        return {
            "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self._event_shape[-1] - 1),
        }  # fmt: skip

    @property
    def _scaled(self) -> tuple[Tensor, Tensor]:
        return self.df[..., None, None], self.covariance_matrix

    @property
    def mean(self) -> Tensor:
        df, matrix = self._scaled
        return df * matrix

    @property
    def mode(self) -> Tensor:
        df, matrix = self._scaled
        factor = df - self._event_shape[-1] - 1
        return tp.where(factor > 0, factor, tp.full_like(factor, math.nan)) * matrix

    @property
    def variance(self) -> Tensor:
        df, matrix = self._scaled
        diagonal = matrix.diagonal(dim1=-2, dim2=-1)
        return df * (matrix.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: SampleShape = ()) -> Tensor:
        """Draws by the factors of the standard case, which have independent entries (Bartlett 1934)."""
        n = self._event_shape[-1]
        shape = self._extended_shape(sample_shape)
        freedom = self.df.unsqueeze(-1) - tp.arange(n, dtype=self.df.dtype, device=self.df.device)
        chi = (2 * standard_gamma((freedom / 2).expand(shape[:-1]))).sqrt()
        root = self._unbroadcasted_scale_tril @ (randn(shape, chi).tril(-1) + chi.diag_embed())
        return root @ root.mT

    def rsample(self, sample_shape: SampleShape = (), max_try_correction: int | None = None) -> Tensor:
        """Draws; those that rounding has made singular are drawn again, ``max_try_correction`` times at most.

        By default that is 10 for one distribution, and 3 for a batch.
        """
        draws = self._bartlett_sampling(sample_shape)
        tries = (3 if self._batch_shape else 10) if max_try_correction is None else max_try_correction
        for _ in range(tries):
            good = self.support.check(draws.detach())
            if holds(good):
                break
            warnings.warn("Wishart.rsample(): singular draws are drawn again", stacklevel=2)
            draws = tp.where(good[..., None, None], draws, self._bartlett_sampling(sample_shape))
        return draws

    def log_prob(self, value: Tensor) -> Tensor:
        x, n, df = self._checked(value), self._event_shape[-1], self.df
        factor = self._unbroadcasted_scale_tril
        root = tp.linalg.cholesky(x)
        ratio = tp.linalg.solve_triangular(factor, root, upper=False)
        norm = df * (n / 2 * math.log(2) + log_diagonal(factor)) + tp.mvlgamma(df / 2, n)
        return (df - n - 1) * log_diagonal(root) - ratio.square().sum((-2, -1)) / 2 - norm

    def entropy(self) -> Tensor:
        n, df = self._event_shape[-1], self.df
        digammas = (df.unsqueeze(-1) / 2 - tp.arange(n, dtype=df.dtype, device=df.device) / 2).digamma().sum(-1)
        norm = (n + 1) * (n / 2 * math.log(2) + log_diagonal(self._unbroadcasted_scale_tril))
        return norm + tp.mvlgamma(df / 2, n) - (df - n - 1) / 2 * digammas + df * n / 2

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        n = self._event_shape[-1]
        half = y + (n + 1) / 2
        return half * (n * math.log(2) - tp.linalg.slogdet(-2 * x)[1]) + tp.mvlgamma(half, n)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices whose density is in proportion to ``det**(concentration - 1)``.

    Source: Lewandowski, Kurowicka, Joe (2009), "Generating random correlation matrices based on vines and extended
    onion method".

    Parameters
    ----------
    dim : int
        The number of rows.
    concentration : Tensor or float
        With 1 all correlation matrices are equally likely; larger ones favour the identity.
    validate_args : bool, optional
        See :class:`Distribution`.

    Raises
    ------
    ValueError
        If ``dim`` is less than 2.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.LKJCholesky(2, 1.0)
    >>> d.log_prob(tp.eye(2)), d.sample((5,)).shape
    (tensor(-0.6931), tensorplay.Size([5, 2, 2]))
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    concentration: Tensor

    def __init__(self, dim: int, concentration: Parameter = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky(): dim must be an int of at least 2, got {dim}")
        self.dim = dim
        self.concentration = like(None, concentration) if not isinstance(concentration, Tensor) else concentration
        # the squared norm of row i without its diagonal, which has i entries
        rows = tp.arange(1, dim, dtype=self.concentration.dtype, device=self.concentration.device)
        rest = self.concentration.unsqueeze(-1) + (dim - 1 - rows) / 2
        self._beta = Beta(rows / 2, rest, validate_args=False)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(LKJCholesky, _instance)
        new.dim, new.concentration = self.dim, self.concentration.expand(batch_shape)
        new._beta = self._beta.expand((*batch_shape, self.dim - 1))
        super(LKJCholesky, new).__init__(batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with tp.no_grad():
            norms = self._beta.sample(sample_shape).unsqueeze(-1)
            directions = randn(shape, self.concentration).tril(-1)[..., 1:, :]
            rows = norms.sqrt() * directions / directions.square().sum(-1, keepdim=True).sqrt()
            rows = tp.cat([rows.new_zeros((*shape[:-2], 1, self.dim)), rows], -2)
            rest = (1 - rows.square().sum(-1)).clamp(min=tp.finfo(rows.dtype).tiny)
            return rows + rest.sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        diagonal = self._checked(value).diagonal(dim1=-2, dim2=-1)[..., 1:]
        free = tp.arange(self.dim - 2, -1, -1, dtype=diagonal.dtype, device=diagonal.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + free
        alpha = self.concentration + (self.dim - 1) / 2
        log_volume = tp.mvlgamma(alpha - 0.5, self.dim - 1) - alpha.lgamma() * (self.dim - 1)
        return (powers * diagonal.log()).sum(-1) - log_volume - (self.dim - 1) / 2 * math.log(math.pi)
