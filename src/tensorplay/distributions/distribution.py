"""What all distributions share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeVar

import tensorplay as tp
from tensorplay import func

from ..core.tensor import Size, Tensor
from ..ops.activation import logsigmoid
from . import constraints
from .utils import broadcast_all, holds, lazy_property, logits_to_probs, only_one, probs_to_logits, sum_rightmost

__all__ = ["Distribution", "ExponentialFamily"]

D = TypeVar("D", bound="Distribution")
Parameter = Tensor | float
SampleShape = Sequence[int]


class Distribution:
    """A distribution of tensors; with ``batch_shape`` many independent ones that need not be the same.

    Subclasses set their parameters and then call this constructor, which checks them by ``arg_constraints``.

    Parameters
    ----------
    batch_shape : Size
        The shape of the distributions.
    event_shape : Size
        The shape of one draw from one of them.
    validate_args : bool, optional
        Whether parameters, and values given to ``log_prob`` and the like, are checked. By default they are, unless
        :meth:`set_default_validate_args` said otherwise or Python runs with ``-O``.

    Attributes
    ----------
    has_rsample : bool
        Whether draws are differentiable in the parameters, by :meth:`rsample`.
    has_enumerate_support : bool
        Whether all values can be listed, by :meth:`enumerate_support`.

    Raises
    ------
    ValueError
        If a parameter is not as its constraint says.

    Examples
    --------
    >>> import tensorplay as tp
    >>> d = tp.distributions.Normal(tp.zeros(2), 1.0)
    >>> d.batch_shape, d.event_shape, d.sample((3,)).shape
    (tensorplay.Size([2]), tensorplay.Size([]), tensorplay.Size([3, 2]))
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check their arguments where their constructor does not say.

        Raises
        ------
        ValueError
            If it is no bool.
        """
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args(): value must be True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _parametrise(self, validate_args: bool | None, **parameters: Parameter) -> None:
        """Set parameters of single numbers, broadcast against each other, and the batch shape that follows."""
        for name, value in zip(parameters, broadcast_all(*parameters.values())):
            setattr(self, name, value)
        Distribution.__init__(self, value.shape, validate_args=validate_args)

    def _validate_parameters(self) -> None:
        try:
            checks = self.arg_constraints
        except NotImplementedError:
            warnings.warn(f"{type(self).__name__} has no arg_constraints; say arg_constraints = {{}} if there is "
                          "nothing to check", stacklevel=4)  # fmt: skip
            return
        for name, constraint in checks.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property):
                continue  # follows from one that is checked
            value = getattr(self, name)
            if not holds(constraint.check(value)):
                raise ValueError(
                    f"{type(self).__name__}(): expected parameter {name}, of shape {tuple(value.shape)}, to satisfy "
                    f"the constraint {constraint!r}; got {value}"
                )

    def _validate_sample(self, value: Tensor) -> None:
        """Raise ValueError for what is no value of the distribution."""
        kind = type(self).__name__
        if not isinstance(value, Tensor):
            raise ValueError(f"{kind}: the value must be a Tensor, not {type(value).__name__}")
        at = value.dim() - len(self._event_shape)
        if value.shape[max(at, 0) :] != self._event_shape:
            raise ValueError(f"{kind}: the last dimensions of a value of shape {tuple(value.shape)} must be the "
                             f"event_shape {tuple(self._event_shape)}")  # fmt: skip
        whole = self._batch_shape + self._event_shape
        if any(i != j and 1 not in (i, j) for i, j in zip(reversed(value.shape), reversed(whole))):
            raise ValueError(f"{kind}: a value of shape {tuple(value.shape)} cannot be broadcast with batch_shape + "
                             f"event_shape, {tuple(whole)}")  # fmt: skip
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{kind} has no support, so values are not checked; validate_args=False says that this "
                          "is meant", stacklevel=4)  # fmt: skip
            return
        if not holds(support.check(value)):
            raise ValueError(f"{kind}: a value of shape {tuple(value.shape)} must be within the support {support!r}; "
                             f"got {value}")  # fmt: skip

    def _checked(self, value: Any) -> Tensor:
        """The value, after it has been checked where that is wanted."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """The instance to fill when ``cls`` expands itself: a subclass with a constructor of its own has to give it.

        Raises
        ------
        NotImplementedError
            If it does not.
        """
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(f"{type(self).__name__} has a constructor of its own, so it needs a method "
                                      f"expand of its own as well, beside that of {cls.__name__}")  # fmt: skip
        return self.__new__(type(self)) if _instance is None else _instance

    def expand(self: D, batch_shape: Sequence[int], _instance: Any = None) -> D:
        """The same distributions, repeated without copying into a larger batch shape.

        Raises
        ------
        NotImplementedError
            If the class is a user's, and has a constructor but no such method.
        """
        own = next(c for c in type(self).__mro__ if c.__module__.startswith(__package__ + "."))
        new, shape = self._get_checked_instance(own, _instance), Size(batch_shape)
        dims = self._parameter_dims()
        for name, value in vars(self).items():
            if name in vars(new):
                continue  # by the subclass that gave it
            if isinstance(value, Distribution):
                value = value.expand(shape)
            elif name in dims:
                value = value.expand(shape + value.shape[value.dim() - dims[name] :])
            elif isinstance(getattr(type(self), name, None), lazy_property):
                continue
            new.__dict__[name] = value
        Distribution.__init__(new, shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _parameter_dims(self) -> dict[str, int]:
        """How many dimensions each parameter that is set has for one distribution."""
        found: dict[str, int] = {}
        for table in [vars(c).get("arg_constraints") for c in type(self).__mro__] + [self.arg_constraints]:
            if isinstance(table, dict):
                found |= {k: c.event_dim for k, c in table.items() if isinstance(vars(self).get(k), Tensor)}
        return found

    @property
    def batch_shape(self) -> Size:
        """The shape of the distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw from one of them."""
        return self._event_shape

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """What each parameter must satisfy."""
        raise self._missing("arg_constraints")

    @property
    def support(self) -> Any:
        """The constraint that all values satisfy."""
        raise self._missing("support")

    @property
    def mean(self) -> Tensor:
        """The mean; nan where there is none."""
        raise self._missing("mean")

    @property
    def mode(self) -> Tensor:
        """The most likely value; nan where there is none."""
        raise self._missing("mode")

    @property
    def variance(self) -> Tensor:
        """The variance; inf where it is infinite, nan where there is none."""
        raise self._missing("variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: SampleShape = ()) -> Tensor:
        """Draws, of shape ``sample_shape + batch_shape + event_shape``, through which no gradient flows."""
        with tp.no_grad():
            return self.rsample(sample_shape).detach()  # of tangents too

    def rsample(self, sample_shape: SampleShape = ()) -> Tensor:
        """Draws that are differentiable in the parameters.

        Raises
        ------
        NotImplementedError
            If ``has_rsample`` is False.
        """
        raise self._missing("rsample")

    def sample_n(self, n: int) -> Tensor:
        """``sample((n,))``."""
        warnings.warn("sample_n(n) is deprecated; use sample((n,))", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at a value.

        Raises
        ------
        ValueError
            If it cannot be a value of the distribution, and arguments are checked.
        """
        raise self._missing("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values that are not larger."""
        raise self._missing("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile: the inverse of ``cdf``."""
        raise self._missing("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a first dimension; with ``expand`` for each of the batch, else for one.

        Raises
        ------
        NotImplementedError
            If ``has_enumerate_support`` is False.
        """
        raise self._missing("enumerate_support")

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """All values of single numbers, along a first dimension."""
        values = values.reshape(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        raise self._missing("entropy")

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: SampleShape = ()) -> Size:
        """The shape of draws."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def __repr__(self) -> str:
        given = {k: self.__dict__[k] for k in self.arg_constraints if k in self.__dict__}
        shown = [f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in given.items()]
        return f"{type(self).__name__}({', '.join(shown)})"


class _Centred(Distribution):
    """With mean and mode at ``loc``."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


class ExponentialFamily(Distribution):
    """A distribution of density ``exp(<t(x), theta> - F(theta) + k(x))``.

    Subclasses give the natural parameters ``_natural_params``, the log-normaliser ``_log_normalizer`` and the mean of
    the carrier measure ``_mean_carrier_measure``; entropies and divergences follow from derivatives of F (Nielsen and
    Nock 2010, "Entropies and cross-entropies of exponential families").

    Examples
    --------
    >>> import tensorplay as tp
    >>> isinstance(tp.distributions.Normal(0.0, 1.0), tp.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise self._missing("_natural_params")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise self._missing("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise self._missing("_mean_carrier_measure")

    def _expected_statistics(self) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The log-normaliser, and its gradient in the natural parameters."""
        value, pull = func.vjp(self._log_normalizer, *self._natural_params)
        return value, pull(tp.ones_like(value))

    def entropy(self) -> Tensor:
        carrier = self._mean_carrier_measure
        result, statistics = self._expected_statistics()
        for theta, mean in zip(self._natural_params, statistics):
            result = result - sum_rightmost(theta * mean, theta.dim() - len(self._batch_shape))
        return result - carrier


class ProbsOrLogits(Distribution):
    """Given by probabilities or by their logits, of which the other follows."""

    _is_binary = True

    def _choose(self, probs: Any, logits: Any, validate_args: bool | None, **others: Parameter) -> None:
        """Set the one that is given, and what else is broadcast with it."""
        self._given = only_one(type(self).__name__, probs=probs, logits=logits)
        value = probs if logits is None else logits
        self._parametrise(validate_args, **others, **{self._given: value})

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds, or the logarithms of the probabilities."""
        return probs_to_logits(self.probs, self._is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, self._is_binary)

    @property
    def _rest(self) -> Tensor:
        """The probability of the other outcome, of two."""
        return (-self.logits).sigmoid() if self._given == "logits" else 1 - self.probs

    def _trial_entropy(self) -> Tensor:
        """The entropy of one trial, of two outcomes."""
        return -(self.probs * logsigmoid(self.logits) + self._rest * logsigmoid(-self.logits))

    @property
    def _param(self) -> Tensor:
        return getattr(self, self._given)

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._param.size()
