"""Random numbers. Under vmap the transform's ``randomness`` says whether the examples share a draw.

Operators of tensors that are not drawn from directly (bernoulli, normal, ...) take their noise as an input of a
deterministic primitive, so that every transform meets them as it meets any other operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtype as dtypes
from ..core import layout as layouts
from ..core.carrier import Batched
from ..core.generator import Generator, default_generator
from ..core.inplace import check_writable, write
from ..core.namespace import F
from ..core.operator import operator, plain, write_out
from ..core.primitive import elementwise, primitive, wrapped
from ..core.state import state
from ..core.tensor import Tensor, wrap
from ..core.versions import note_write
from . import arguments as arg
from .arguments import number
from .factories import Array, Device, Dtype, Format, Layout, dtype_name, made, numpy_dtype
from .kernels import row_blocks

if TYPE_CHECKING:  # importing numpy.random takes a third as long as NumPy itself
    Sample = Callable[[np.random.Generator, tuple[int, ...], np.dtype[Any]], Array]

# ---- distributions over arrays


def unsupported(name: str, dtype: np.dtype[Any]) -> NotImplementedError:
    return NotImplementedError(f'"{name}" not implemented for {dtype_name(dtype)}')


def uniform(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Uniform over [0, 1), and never 1 however few bits the type has."""
    if dtype == np.float32 or dtype == np.float64:
        return rng.random(shape, dtype)
    if dtype.kind == "c":
        return uniform(rng, (*shape, 2), np.dtype(f"f{dtype.itemsize // 2}")).view(dtype)[..., 0]
    if dtype.kind not in "fV":
        raise unsupported("uniform", dtype)
    steps = 2048 if dtype == np.float16 else 256
    return (rng.integers(0, steps, shape, np.uint16).astype(np.float32) / steps).astype(dtype)


def standard_normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Normal of mean 0 and variance 1; of a complex number half of it in each part."""
    if dtype == np.float32 or dtype == np.float64:
        return rng.standard_normal(shape, dtype)
    if dtype.kind == "c":
        parts = standard_normal(rng, (*shape, 2), np.dtype(f"f{dtype.itemsize // 2}"))
        parts *= np.sqrt(0.5).astype(parts.dtype)
        return parts.view(dtype)[..., 0]
    if dtype.kind not in "fV":
        raise unsupported("normal", dtype)
    return rng.standard_normal(shape, np.float32).astype(dtype)


def exponential(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Exponential of mean 1, never 0."""
    if dtype.kind not in "fV":
        raise unsupported("exponential", dtype)
    draw = np.float32 if dtype.itemsize <= 4 else np.float64
    return np.maximum(rng.standard_exponential(shape, draw), np.finfo(draw).tiny).astype(dtype)


def integers(low: int, high: int) -> Sample:
    """Integers from ``low`` up to, and without, ``high``."""

    def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        if dtype.kind == "u" and dtype.itemsize == 8:
            return rng.integers(low, high, shape, np.uint64)
        return rng.integers(low, high, shape, np.int64).astype(dtype)

    return sample


# ---- drawing: outside of transforms, and under vmap


def source(generator: Any, name: str) -> np.random.Generator:
    if state.tracing is not None:
        state.tracing.refuse(f"{name}, whose draws depend on values,")
    if generator is None:
        return default_generator.numpy
    if not isinstance(generator, Generator):
        raise TypeError(f"{name}(): argument 'generator' must be tensorplay.Generator, not {type(generator).__name__}")
    return generator.numpy


def sampled(
    sample: Sample, generator: Any, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Any:  # fmt: skip
    """Random numbers; where a function is being compiled, an input of its program, drawn anew for each run."""
    if state.tracing is not None:
        return state.tracing.draw(sample, lambda: source(generator, name), shape, dtype)
    return sample(source(generator, name), shape, dtype)


def different_levels(name: str) -> list[tuple[int, int]]:
    """Level and size of each vmap around the call whose examples draw for themselves, the outermost first.

    Raises
    ------
    RuntimeError
        If a vmap does not say what random operators are to do.
    """
    found = []
    for level, size, randomness in state.batches:
        if randomness == "error":
            raise RuntimeError(
                f"vmap: called random operation {name} while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap (or on what runs the function under vmap, such as jacfwd or "
                "hessian_diag) or perform the randomness operation out of vmap"
            )
        if randomness == "different":
            found.append((level, size))
    return found


def drawn(
    name: str, sample: Sample, shape: tuple[int, ...], generator: Any, dtype: Any, layout: Any, device: Any,
    requires_grad: Any, pin_memory: Any, out: Tensor | None = None, default: dtypes.dtype | None = None,
) -> Tensor:  # fmt: skip
    """A tensor of random numbers with the options of a factory; one draw for each example where vmap says so."""
    if not state.batches:
        return made(
            name,
            lambda shape, dtype: sampled(sample, generator, name, shape, dtype),
            shape,
            dtype,
            layout,
            device,
            requires_grad,
            pin_memory,
            out,
            default,
        )
    levels = different_levels(name)
    sizes = tuple([size for _, size in levels])
    if out is not None:
        dtype = out.dtype
    t = made(
        name,
        lambda shape, dtype: sampled(sample, generator, name, shape, dtype),
        (*sizes, *shape),
        dtype,
        layout,
        device,
        False,
        pin_memory,
        None,
        default,
    )
    for level, _ in levels:
        t = wrap(Batched(t, level))
    if out is not None:
        return write_out(name, t, out)
    return t.requires_grad_() if requires_grad else t


def noise(name: str, sample: Sample, shape: tuple[int, ...], dtype: np.dtype[Any], generator: Any = None) -> Tensor:
    """Random numbers of the given shape for an operator of this name, drawn as vmap says."""
    if not state.batches:
        return wrapped(sampled(sample, generator, name, shape, dtype))
    return drawn(name, sample, shape, generator, dtypes.by_numpy[dtype], None, "cpu", False, False)


def noise_for(name: str, sample: Sample, input: Tensor, generator: Any, dtype: np.dtype[Any] | None = None) -> Tensor:
    """Noise in the shape of a tensor, and on its device."""
    dtype = dtype or input._data.dtype
    if input.is_meta:
        return drawn(name, sample, input._data.shape, generator, dtypes.by_numpy[dtype], None, "meta", False, False)
    return noise(name, sample, input._data.shape, dtype, generator)


def own_draws(name: str, input: Tensor) -> Tensor:
    """The parameters of a distribution, expanded so that each example that draws for itself has its own.

    Raises
    ------
    RuntimeError
        Where the examples are to share a draw and the parameters differ between them.
    """
    for level, size, randomness in state.batches:
        if randomness == "different":
            input = input + wrap(Batched(wrap(np.zeros(size, input._data.dtype)), level))
        elif randomness == "error":
            different_levels(name)
        elif belongs(input, level):
            raise RuntimeError(
                f"vmap: {name} cannot share a draw between examples whose parameters differ; use randomness='different'"
            )
    return input


def belongs(t: Tensor, level: int) -> bool:
    data = t._data
    while not isinstance(data, np.ndarray) and hasattr(data, "inner"):
        if data.level == level:
            return True
        data = data.inner._data
    return False


# ---- factories


@operator(method=False)
def rand(
    size: int | Sequence[int], *more: int, generator: Generator | None = None, out: Tensor | None = None,
    dtype: Dtype = None, layout: Layout = None, device: Device = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers from the uniform distribution over [0, 1).

    Parameters
    ----------
    size
        The shape: as one sequence, or number by number.
    generator
        Where the numbers come from; the default generator if left out.
    dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.rand(2, 3).shape
    tensorplay.Size([2, 3])
    """
    return drawn(
        "rand", uniform, arg.sizes(size, more, "rand"), generator, dtype, layout, device, requires_grad, pin_memory, out
    )


@operator(method=False)
def randn(
    size: int | Sequence[int], *more: int, generator: Generator | None = None, out: Tensor | None = None,
    dtype: Dtype = None, layout: Layout = None, device: Device = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers from the normal distribution of mean 0 and variance 1; arguments as for :func:`rand`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.randn(2, 3).shape
    tensorplay.Size([2, 3])
    """
    return drawn(
        "randn",
        standard_normal,
        arg.sizes(size, more, "randn"),
        generator,
        dtype,
        layout,
        device,
        requires_grad,
        pin_memory,
        out,
    )


def bounds(name: str, low: Any, high: Any, target: np.dtype[Any]) -> Sample:
    """How to draw integers from low up to, and without, high, which a dtype must be able to hold."""
    low, high = arg.integer(low, name, "low"), arg.integer(high, name, "high", 2)
    if low >= high:
        raise RuntimeError(f"{name}(): random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if target.kind == "c":
        raise unsupported("random_from_to", target)
    if target.kind in "iub":
        limits = (0, 1) if target.kind == "b" else (int(np.iinfo(target).min), int(np.iinfo(target).max))
        for argument, value in (("from", low), ("to - 1", high - 1)):
            if not limits[0] <= value <= limits[1]:
                raise RuntimeError(f"{name}(): {argument} is out of bounds for {dtype_name(target)}, got {value}")
    return integers(low, high)


@operator(method=False)
def randint(
    low: int = 0, high: Any = None, size: Sequence[int] | None = None, *, generator: Generator | None = None,
    out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None, device: Device = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Integers from ``low`` up to, and without, ``high``: ``randint(high, size)`` or ``randint(low, high, size)``.

    Raises
    ------
    RuntimeError
        If there is no such integer, or the dtype (int64 if left out) does not hold them.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.randint(3, 4, (2,))
    tensor([3, 3])
    """
    if size is None and isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if size is None:
        raise TypeError("randint() missing 1 required argument: 'size'")
    target = out._data.dtype if isinstance(out, Tensor) else numpy_dtype(dtype, "randint", dtypes.int64)
    sample = bounds("randint", low, high, target)
    return drawn(
        "randint",
        sample,
        arg.integers(size, "randint", "size"),
        generator,
        dtype,
        layout,
        device,
        requires_grad,
        pin_memory,
        out,
        dtypes.int64,
    )


@operator(method=False)
def randperm(
    n: int, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype = None,
    layout: Layout = None, device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The integers from 0 up to, and without, ``n`` in random order; further arguments as for :func:`rand`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.randperm(4).sort().values
    tensor([0, 1, 2, 3])
    """
    n = arg.integer(n, "randperm", "n")
    if n < 0:
        raise RuntimeError(f"randperm(): n must be non-negative, got {n}")

    def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        if dtype.kind in "bc":
            raise unsupported("randperm", dtype)
        if len(shape) == 1:
            return rng.permutation(n).astype(dtype)
        return rng.permuted(np.broadcast_to(np.arange(n), shape), axis=-1).astype(dtype)

    return drawn(
        "randperm", sample, (n,), generator, dtype, layout, device, requires_grad, pin_memory, out, dtypes.int64
    )


def drawn_like(
    name: str, sample: Sample, input: Any, generator: Any, dtype: Any, layout: Any, device: Any, requires_grad: Any,
    memory_format: Any, pin_memory: Any,
) -> Tensor:  # fmt: skip
    data = arg.tensor(input, name)._data
    layouts.check_format(memory_format, data.ndim, name)
    device = input.device if device is None else device
    ordered = sample
    if memory_format in layouts.CHANNELS_LAST or (
        memory_format is layouts.preserve_format and not input.is_contiguous()
    ):

        def ordered(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
            template = np.empty(shape, dtype)
            if type(data) is np.ndarray and memory_format is layouts.preserve_format and 0 not in data.strides:
                template = np.empty_like(data, dtype)
            elif len(shape) == data.ndim:
                template = layouts.empty_in_format(shape, memory_format, dtype)
            template[...] = sample(rng, shape, dtype)
            return template

    return drawn(
        name, ordered, data.shape, generator, dtype, layout, device, requires_grad, pin_memory, None, input.dtype
    )


@operator(method=False, out=False)
def rand_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
    memory_format: Format = layouts.preserve_format,
) -> Tensor:  # fmt: skip
    """As :func:`rand`, in the shape, dtype and device of ``input`` unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.rand_like(tp.zeros(2, 3)).shape
    tensorplay.Size([2, 3])
    """
    return drawn_like(
        "rand_like", uniform, input, generator, dtype, layout, device, requires_grad, memory_format, pin_memory
    )


@operator(method=False, out=False)
def randn_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
    memory_format: Format = layouts.preserve_format,
) -> Tensor:  # fmt: skip
    """As :func:`randn`, in the shape, dtype and device of ``input`` unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.randn_like(tp.zeros(2, 3)).shape
    tensorplay.Size([2, 3])
    """
    return drawn_like(
        "randn_like", standard_normal, input, generator, dtype, layout, device, requires_grad, memory_format, pin_memory
    )


@operator(method=False, out=False)
def randint_like(
    input: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None, dtype: Dtype = None,
    layout: Layout = None, device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
    memory_format: Format = layouts.preserve_format,
) -> Tensor:  # fmt: skip
    """As :func:`randint`, in the shape, dtype and device of ``input`` unless others are given.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.randint_like(tp.zeros(2), 3, 4)
    tensor([3., 3.])
    """
    if high is None:
        low, high = 0, low
    target = numpy_dtype(dtype, "randint_like", arg.tensor(input, "randint_like").dtype)
    sample = bounds("randint_like", low, high, target)
    return drawn_like(
        "randint_like", sample, input, generator, dtype, layout, device, requires_grad, memory_format, pin_memory
    )


# ---- from tensors of parameters: nothing is learnt through a draw, so gradients are zero


def zero(F: Any, g: Any) -> Any:
    return F.zeros_like(g)


def bernoulli_kernel(xp: Any, input: Any, noise: Any) -> Any:
    if not ((input >= 0) & (input <= 1)).all():
        raise RuntimeError("bernoulli(): Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    return (noise < input).astype(input.dtype)


elementwise("bernoulli", bernoulli_kernel, unpromoted=("noise",), vjp={"input": zero})


@operator()
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """Ones with the probabilities that ``input`` holds (or with ``p``, in its shape), else zeros.

    Raises
    ------
    RuntimeError
        If a probability is not between 0 and 1.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.bernoulli(tp.tensor([0., 1.]))
    tensor([0., 1.])
    """
    arg.tensor(input, "bernoulli")
    if p is not None:
        p = probability(p, "bernoulli")
        draw = noise_for("bernoulli", uniform, input, generator, float_for(input))
        return F.cast(draw < p, input._data.dtype)
    if input._data.dtype.kind not in "fV":
        raise unsupported("bernoulli", input._data.dtype)
    return F.bernoulli(input, noise_for("bernoulli", uniform, input, generator, float_for(input)))


def float_for(input: Tensor) -> np.dtype[Any]:
    """A float of enough bits for draws that decide about elements of a tensor."""
    return np.dtype(np.float64 if input._data.dtype == np.float64 else np.float32)


def probability(p: Any, name: str) -> float:
    p = float(number(p, name, "p", 2))
    if not 0 <= p <= 1:
        raise RuntimeError(f"{name} expects p to be in [0, 1], but got p={p}")
    return p


def normal_kernel(xp: Any, mean: Any, std: Any, noise: Any) -> Any:
    return mean + std * noise


elementwise("normal", normal_kernel, vjp={"mean": zero, "std": zero})


@operator(method=False)
def normal(
    mean: Tensor | float, std: Tensor | float = 1.0, size: Sequence[int] | None = None, *,
    generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype = None, layout: Layout = None,
    device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers from normal distributions: of the means and standard deviations in tensors, or of one pair and a size.

    Raises
    ------
    RuntimeError
        If a standard deviation is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.normal(tp.tensor([1., 2.]), 0.)
    tensor([1., 2.])
    >>> tp.normal(0., 1., (2, 3)).shape
    tensorplay.Size([2, 3])
    """
    if isinstance(std, Tensor):
        check_deviation(std)
    elif number(std, "normal", "std", 2) < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    tensors = [t for t in (mean, std) if isinstance(t, Tensor)]
    if not tensors:
        if size is None:
            raise TypeError("normal(): with two numbers the argument 'size' is needed")
        shape = arg.integers(size, "normal", "size")

        def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
            return (standard_normal(rng, shape, dtype) * std + mean).astype(dtype)

        return drawn("normal", sample, shape, generator, dtype, layout, device, requires_grad, pin_memory, out)
    if size is not None:
        raise TypeError("normal(): the argument 'size' goes with two numbers; tensors have a size of their own")
    whole = tensors[0] if len(tensors) == 1 else tensors[0] + tensors[1]
    for t in (whole, out):
        if t is not None and t._data.dtype.kind not in "fcV":
            raise unsupported("normal", t._data.dtype)
    value = F.normal(mean, std, noise_for("normal", standard_normal, whole, generator))
    return value if out is None else write_out("normal", value, out)


def check_deviation(std: Tensor) -> None:
    if std.is_complex():
        raise RuntimeError("normal expects standard deviation to be non-complex")
    F.check_deviation(std)


def check_deviation_kernel(xp: Any, input: Any) -> Any:
    if (input < 0).any():
        raise RuntimeError("normal expects all elements of std >= 0.0")
    return input


primitive("check_deviation", check_deviation_kernel, batch="same")


def poisson_kernel(xp: Any, input: Any, *, generator: Any) -> Any:
    if (input < 0).any():
        raise RuntimeError("poisson(): invalid Poisson rate, expected rate to be non-negative")
    return np.asarray(source(generator, "poisson").poisson(input.astype(np.float64))).astype(input.dtype)


primitive("poisson", poisson_kernel, vjp={"input": zero}, jvp={"input": zero}, batch="same")


@operator(method=False, out=False)
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers from Poisson distributions of the given rates, in the dtype of ``input``.

    Raises
    ------
    RuntimeError
        If a rate is negative.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.poisson(tp.zeros(3))
    tensor([0., 0., 0.])
    """
    if arg.tensor(input, "poisson")._data.dtype.kind not in "fV":
        raise unsupported("poisson", input._data.dtype)
    return F.poisson(own_draws("poisson", input), generator)


def binomial_kernel(xp: Any, count: Any, prob: Any, *, generator: Any) -> Any:
    if not ((count >= 0) & (prob >= 0) & (prob <= 1)).all():
        raise RuntimeError("binomial(): counts must be non-negative and probabilities between 0 and 1")
    n = count.astype(np.int64)
    return np.asarray(source(generator, "binomial").binomial(n, prob.astype(np.float64))).astype(count.dtype)


elementwise("binomial", binomial_kernel, vjp={"count": zero, "prob": zero})


@operator(method=False, out=False)
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Successes in ``count`` trials of probability ``prob`` each, broadcast against each other.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.binomial(tp.tensor([3., 5.]), tp.tensor([0., 1.]))
    tensor([0., 5.])
    """
    for position, (argument, t) in enumerate((("count", count), ("prob", prob)), 1):
        if arg.tensor(t, "binomial", argument, position)._data.dtype.kind not in "fV":
            raise ValueError(f"binomial only supports floating-point dtypes for {argument}, got: {t.dtype}")
    whole = count + prob
    return F.binomial(own_draws("binomial", F.expand(count, whole._data.shape)), prob, generator)


def multinomial_kernel(xp: Any, input: Any, noise: Any, *, num_samples: int, replacement: bool) -> Any:
    weights = input.astype(np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("multinomial(): probability tensor contains either `inf`, `nan` or element < 0")
    totals = np.cumsum(weights, -1)
    if not (weights.sum(-1) > 0).all():
        raise RuntimeError("multinomial(): invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement:  # a race: what arrives at times exponential with these rates comes in an order of this law
        with np.errstate(divide="ignore"):
            times = noise / weights
        return np.argsort(times, -1, kind="stable")[..., :num_samples]
    totals /= totals[..., -1:]
    rows, draws = totals.reshape(-1, totals.shape[-1]), noise.reshape(-1, num_samples)
    out = np.empty(draws.shape, np.int64)
    comparisons = num_samples * rows.shape[1]
    if comparisons <= 4096:  # fewer than what a call of the search costs
        for part in row_blocks(len(rows), comparisons):
            np.add.reduce(draws[part, :, None] >= rows[part, None, :-1], axis=-1, out=out[part])
    else:
        for i, row in enumerate(rows):
            out[i] = np.searchsorted(row, draws[i], "right")
    return out.reshape(noise.shape)


primitive("multinomial", multinomial_kernel, batch="same")


@operator()
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Positions drawn with probabilities in proportion to the weights in each row of ``input``.

    Parameters
    ----------
    input
        Weights: a vector, or a matrix of one distribution in each row.
    num_samples
        How many to draw from each row.
    replacement
        Whether a position may be drawn twice.

    Raises
    ------
    RuntimeError
        If weights are negative or not finite or sum to 0, or there are fewer than are to be drawn.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.multinomial(tp.tensor([0., 3., 0.]), 2, replacement=True)
    tensor([1, 1])
    """
    shape = arg.tensor(input, "multinomial")._data.shape
    num_samples = arg.integer(num_samples, "multinomial", "num_samples", 2)
    if input._data.dtype.kind not in "fV":
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype}")
    if not 1 <= len(shape) <= 2:
        raise RuntimeError(f"multinomial(): prob_dist must be 1 or 2 dim, got {len(shape)} dimensions")
    if num_samples <= 0:
        raise RuntimeError("multinomial(): cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > shape[-1]:
        raise RuntimeError(
            "multinomial(): cannot sample n_sample > prob_dist.size(-1) samples without replacement, got "
            f"{num_samples} > {shape[-1]}"
        )
    if out is not None:
        if arg.tensor(out, "multinomial", "out").dtype is not dtypes.int64:
            raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype}")
        drawn_now = multinomial(input, num_samples, replacement, generator=generator)
        return write_out("multinomial", drawn_now, out)
    size, double = (*shape[:-1], num_samples), np.dtype(np.float64)
    if input.is_meta:
        return input.new_empty(size, dtype=dtypes.int64)
    if replacement:
        draw = noise("multinomial", uniform, size, double, generator)
    else:
        draw = noise("multinomial", exponential, shape, double, generator)
    return F.multinomial(input.detach(), draw, num_samples, bool(replacement))


# ---- in place


def write_draw(input: Tensor, name: str, sample: Sample, generator: Any) -> Tensor:
    """Overwrite a tensor by random numbers; what it held before has no gradient after."""
    data = plain(input)
    if data is not None and not state.batches and state.tracing is None:
        np.copyto(data, sample(source(generator, name), data.shape, data.dtype))
        note_write(data)
        return input
    check_writable(arg.tensor(input, name), name)
    return write(input, noise_for(name, sample, input, generator), name)


def transformed(base: Sample, change: Callable[[Array], Array]) -> Sample:
    """Draws that are a function of draws; computed in float32 at least."""

    def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        wide = np.dtype(np.float32) if dtype.kind in "fV" and dtype.itemsize < 4 else dtype
        with np.errstate(all="ignore"):
            return change(base(rng, shape, wide)).astype(dtype)

    return sample


def as_integers(base: Sample) -> Sample:
    """The same draws for any dtype: computed in float64 where the tensor holds integers."""

    def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return base(rng, shape, dtype if dtype.kind in "fV" else np.dtype(np.float64)).astype(dtype)

    return sample


def float_arguments(name: str, **values: Any) -> list[float]:
    return [float(number(v, name, k, i)) for i, (k, v) in enumerate(values.items(), 1)]


@operator(function=False, out=False, documented={"from_": "from"})
def uniform_(input: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from the uniform distribution over [from_, to).

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.empty(100).uniform_(2, 3)
    >>> bool(((x >= 2) & (x < 3)).all())
    True
    """
    low, high = float_arguments("uniform_", from_=from_, to=to)
    if not low <= high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")

    def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        draws = uniform(rng, shape, dtype)
        if low == 0 and high == 1:
            return draws
        values = (draws * (high - low) + low).astype(dtype)
        if dtype.kind != "c" and low < high:  # rounding may reach the end, which does not belong to the range
            end = dtype.type(high)
            values = np.where(values >= end, np.nextafter(end, dtype.type(low)), values)
        return values

    return write_draw(input, "uniform_", sample, generator)


@operator(function=False, out=False)
def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from a normal distribution.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty(2).normal_(5., 0.)
    tensor([5., 5.])
    """
    mean, std = float_arguments("normal_", mean=mean, std=std)
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    sample = standard_normal if (mean, std) == (0, 1) else transformed(standard_normal, lambda z: z * std + mean)
    return write_draw(input, "normal_", sample, generator)


@operator(function=False, out=False, documented={"from_": "from"})
def random_(
    input: Tensor, from_: int | None = None, to: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Fill with integers: ``random_(from, to)`` without ``to``, ``random_(to)`` from 0, ``random_()`` all there are.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty(2).random_(3, 4)
    tensor([3., 3.])
    """
    target = arg.tensor(input, "random_")._data.dtype
    if to is None and from_ is not None:
        from_, to = 0, from_
    if to is None:
        if target.kind in "iu":
            to = int(np.iinfo(target).max) + (target.itemsize < 8)
        else:
            to = 2 if target.kind == "b" else 2 ** ({"V": 7}.get(target.kind) or np.finfo(target).nmant + 1) + 1
    return write_draw(input, "random_", bounds("random_", from_ or 0, to, target), generator)


@operator(function=False, out=False)
def bernoulli_(input: Tensor, p: float | Tensor = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones, each with probability ``p`` (a number, or a tensor of one for each element), else with zeros.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty(2).bernoulli_(1.)
    tensor([1., 1.])
    """
    check_writable(arg.tensor(input, "bernoulli_"), "bernoulli_")
    if isinstance(p, Tensor) and p._data.shape:
        draw = noise_for("bernoulli_", uniform, input, generator, np.dtype(np.float64))
        return write(input, F.cast(F.bernoulli(p.detach(), draw), input._data.dtype), "bernoulli_")
    p = probability(p, "bernoulli_")
    draw = noise_for("bernoulli_", uniform, input, generator, float_for(input))
    return write(input, F.cast(draw < p, input._data.dtype), "bernoulli_")


@operator(function=False, out=False)
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from the exponential distribution of the given rate.

    Examples
    --------
    >>> import tensorplay as tp
    >>> bool((tp.empty(100).exponential_() > 0).all())
    True
    """
    (rate,) = float_arguments("exponential_", lambd=lambd)
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    return write_draw(input, "exponential_", transformed(exponential, lambda x: x / rate), generator)


@operator(function=False, out=False)
def geometric_(input: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with the number of trials up to the first success, where each succeeds with probability ``p``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> bool((tp.empty(100).geometric_(0.5) >= 1).all())
    True
    """
    (p,) = float_arguments("geometric_", p=p)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    # by the inverse of the distribution function, with -log(1 - u) drawn as an exponential
    sample = as_integers(transformed(exponential, lambda e: np.maximum(np.ceil(e / -np.log1p(-p)), 1)))
    return write_draw(input, "geometric_", sample, generator)


@operator(function=False, out=False)
def cauchy_(input: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from a Cauchy distribution.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.empty(3).cauchy_().shape
    tensorplay.Size([3])
    """
    median, sigma = float_arguments("cauchy_", median=median, sigma=sigma)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    sample = transformed(uniform, lambda u: median + sigma * np.tan(np.pi * (u - 0.5)))
    return write_draw(input, "cauchy_", sample, generator)


@operator(function=False, out=False)
def log_normal_(input: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponentials of numbers from a normal distribution of the given mean and standard deviation.

    Examples
    --------
    >>> import tensorplay as tp
    >>> bool((tp.empty(100).log_normal_() > 0).all())
    True
    """
    mean, std = float_arguments("log_normal_", mean=mean, std=std)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return write_draw(input, "log_normal_", transformed(standard_normal, lambda z: np.exp(z * std + mean)), generator)
