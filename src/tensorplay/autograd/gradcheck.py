"""Derivatives against finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.namespace import F
from ..core.state import set_recording, state
from ..core.tensor import Tensor, wrap
from ._forward import push_forward
from .gradient import grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Array = np.ndarray[Any, Any]


class GradcheckError(RuntimeError):
    """A derivative that :func:`gradcheck` found to be wrong."""


# ---- Jacobians, as real matrices: a complex element counts as two real ones


def real_columns(array: Array) -> Array:
    """The elements of an array as real numbers in a row, real and imaginary parts side by side."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind == "c":
        return np.stack([flat.real, flat.imag], axis=-1).reshape(-1).astype(np.float64)
    return flat.astype(np.float64)


def directions(x: Tensor) -> list[complex]:
    """The steps that each element can take."""
    return [1.0, 1j] if x._data.dtype.kind == "c" else [1.0]


def unit(x: Tensor, i: int, step: complex) -> Tensor:
    """The array of x's shape that is ``step`` at element ``i`` and zero elsewhere."""
    e = np.zeros(x._data.size, x._data.dtype)
    e[i] = step
    return wrap(e.reshape(x._data.shape))


def values_of(outs: Sequence[Tensor]) -> list[Array]:
    return [np.array(o.detach().numpy()) for o in outs]


class Displaced:
    """A tensor's memory with something added, as long as the block lasts."""

    def __init__(self, x: Tensor, change: Array) -> None:
        self.x, self.change = x, change

    def __enter__(self) -> None:
        self.kept = self.x._data.copy()
        self.x._data += self.change.astype(self.x._data.dtype)

    def __exit__(self, *exc: object) -> None:
        self.x._data[...] = self.kept


def difference(call: Callable[[], list[Tensor]], x: Tensor, direction: Array, eps: float) -> list[Array]:
    """The central difference quotient of each output along a direction of x."""
    with Displaced(x, -eps * direction):
        below = values_of(call())
    with Displaced(x, eps * direction):
        above = values_of(call())
    wide = [np.complex128 if a.dtype.kind == "c" else np.float64 for a in above]
    return [(a.astype(w) - b.astype(w)) / (2 * eps) for a, b, w in zip(above, below, wide)]


def numerical_jacobians(call: Callable[[], list[Tensor]], x: Tensor, eps: float, outputs: int) -> list[Array]:
    """For each output the matrix of difference quotients with respect to x: a row for each element of the output."""
    if not x._data.size:
        return [np.zeros((real_columns(o.detach().numpy()).size, 0)) for o in call()]
    columns: list[list[Array]] = [[] for _ in range(outputs)]
    for i in range(x._data.size):
        for step in directions(x):
            quotients = difference(call, x, unit(x, i, step)._data, eps)
            for column, q in zip(columns, quotients):
                column.append(real_columns(q))
    return [np.stack(c, axis=1) for c in columns]


def analytical_jacobians(
    out: Tensor, xs: Sequence[Tensor], rows: Callable[[Tensor], Sequence[Tensor | None]]
) -> tuple[list[Array], list[Tensor | None]]:
    """For each input the matrix of gradients of one output; also the gradients of its last row, for their dtypes."""
    matrices: list[list[Array]] = [[] for _ in xs]
    found: Sequence[Tensor | None] = [None] * len(xs)
    for i in range(out._data.size):
        for step in directions(out):
            found = rows(unit(out, i, step))
            for matrix, g, x in zip(matrices, found, xs):
                matrix.append(real_columns(np.zeros(x._data.shape, x._data.dtype) if g is None else g.detach().numpy()))
    width = [x._data.size * len(directions(x)) for x in xs]
    return [np.stack(m) if m else np.zeros((0, w)) for m, w in zip(matrices, width)], list(found)


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> list[Tensor]:
    """Difference quotients of a function's first output, one matrix for each input (or target) that requires grad.

    ``fn`` takes the inputs as one argument. Rows belong to elements of the input, columns to those of the output;
    complex elements count twice.
    """
    call = lambda: as_outputs(fn(inputs))[:1]
    xs = differentiable_inputs(tuple_of(inputs if target is None else target))
    return [wrap(grad_out * numerical_jacobians(call, x, eps, 1)[0].T) for x in xs]


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable[..., Any],
    input_idx: int,
    inputs: Any,
    outputs: Any,
    eps: float,
    input: Tensor | None = None,
    is_forward_ad: bool = False,
) -> tuple[Tensor, ...]:
    """Difference quotients with respect to ``inputs[input_idx]`` (or ``input``), one matrix for each output.

    ``fn`` takes the inputs as one argument. Rows belong to elements of the input, columns to those of the output;
    complex elements count twice, and so the matrices serve both modes, whatever ``is_forward_ad`` says.
    """
    x = tuple_of(inputs)[input_idx] if input is None else input
    found = numerical_jacobians(lambda: as_outputs(fn(inputs)), x, eps, len(as_outputs(outputs)))
    return tuple(wrap(j.T.copy()) for j in found)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """Gradients of one output, one matrix for each input that requires grad, with three checks.

    Returns
    -------
    tuple
        The matrices (rows belong to elements of the input), whether a second pass gave the same, and whether the
        gradients have the sizes and the dtypes of the inputs.
    """
    xs = differentiable_inputs(tuple_of(inputs))
    pull = lambda g: grad([output], xs, [g], retain_graph=True, allow_unused=True)
    first, parts = analytical_jacobians(output, xs, pull)
    second, _ = analytical_jacobians(output, xs, pull)
    reentrant = all(np.all(np.abs(a - b) <= nondet_tol) for a, b in zip(first, second))
    sizes = all(g is None or g._data.shape == x._data.shape for g, x in zip(parts, xs))
    types = all(g is None or g._data.dtype == x._data.dtype for g, x in zip(parts, xs))
    return tuple(wrap(grad_out * j.T) for j in first), reentrant, sizes, types


# ---- what is checked


def tuple_of(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def as_outputs(out: Any) -> list[Tensor]:
    """The outputs of a function that are differentiable."""
    outs = tuple_of(out)
    return [o for o in outs if isinstance(o, Tensor) and o._data.dtype.kind in "fcV"]


def tracked(outs: Sequence[Tensor]) -> list[int]:
    """The positions of the outputs that have a history."""
    return [i for i, o in enumerate(outs) if o._node is not None]


def differentiable_inputs(inputs: tuple[Any, ...]) -> list[Tensor]:
    return [x for x in inputs if isinstance(x, Tensor) and x._node is not None]


def check_inputs(inputs: tuple[Any, ...]) -> list[Tensor]:
    """The inputs to differentiate."""
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or x._node is None:
            continue
        if x._data.dtype not in (np.dtype(np.float64), np.dtype(np.complex128)):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex.",
                stacklevel=3,
            )
        if type(x._data) is not np.ndarray:
            raise RuntimeError(
                f"gradcheck: input {i} holds a batch or a tangent; check the function outside of transforms"
            )
        if x._data.size and any(s == 0 and n > 1 for s, n in zip(x._data.strides, x._data.shape)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    xs = differentiable_inputs(inputs)
    if not xs:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    return xs


def report(what: str, i: int, j: int, numerical: Array, analytical: Array) -> str:
    """Both Jacobians, and where they differ most."""
    difference = np.abs(numerical - analytical)
    at = np.unravel_index(np.argmax(np.where(np.isnan(difference), np.inf, difference)), difference.shape)
    return (
        f"{what} for output {i} with respect to input {j},\nnumerical:{wrap(numerical.T.copy())!r}\n"
        f"analytical:{wrap(analytical.T.copy())!r}\n(rows: elements of the input, columns: elements of the output; "
        f"complex elements count twice, real part first). The largest difference is {difference[at]:.3e}, "
        f"at input element {at[1]} and output element {at[0]}.\n"
    )


def agree(a: Array, b: Array, rtol: float, atol: float) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


class Check:
    """One call of gradcheck."""

    def __init__(
        self, func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, nondet: float
    ):
        self.func, self.inputs, self.eps, self.atol, self.rtol, self.nondet = func, inputs, eps, atol, rtol, nondet
        self.xs = check_inputs(inputs)
        outs = as_outputs(func(*inputs))
        self.places = tracked(outs) or list(range(len(outs)))  # a detached output beside others is taken at its word
        self.outs = [outs[i] for i in self.places]

    def call(self) -> list[Tensor]:
        return self.checked(self.func(*self.inputs))

    def checked(self, out: Any) -> list[Tensor]:
        """The outputs to be checked: those with a history; where none has one, all of them must be constant."""
        outs = as_outputs(out)
        return [outs[i] for i in self.places]

    def numerical(self) -> list[list[Array]]:
        """By input, then by output."""
        return [numerical_jacobians(self.call, x, self.eps, len(self.outs)) for x in self.xs]

    def pull(
        self, outs: Sequence[Tensor], cotangents: Sequence[Tensor], allow_unused: bool = True
    ) -> list[Tensor | None]:
        return list(grad(list(outs), self.xs, list(cotangents), retain_graph=True, allow_unused=allow_unused))

    def backward(self, numerical: list[list[Array]], dtypes: bool) -> None:
        """Reverse mode against difference quotients, twice."""
        reached = [(k, o) for k, o in enumerate(self.outs) if o._node is not None]  # by position: one may occur twice
        for i, out in enumerate(self.outs):
            if out._node is None:
                self.constant(i, numerical)
                continue
            pull = lambda g, i=i: self.pull(
                [o for _, o in reached], [g if k == i else F.zeros_like(o.detach()) for k, o in reached]
            )
            found, parts = analytical_jacobians(out, self.xs, pull)
            for j, (g, x) in enumerate(zip(parts, self.xs)):
                if g is not None and g._data.shape != x._data.shape:
                    raise GradcheckError(
                        f"Analytical gradient has incorrect size: {list(g.shape)} for input {j} of size {list(x.shape)}"
                    )
                if dtypes and g is not None and g._data.dtype != x._data.dtype:
                    raise GradcheckError(f"Gradient has dtype mismatch: {g.dtype} for input {j} of {x.dtype}")
                if not agree(found[j], numerical[j][i], self.rtol, self.atol):
                    raise GradcheckError(report("Jacobian mismatch", i, j, numerical[j][i], found[j]))
            again, _ = analytical_jacobians(out, self.xs, pull)
            for j, (first, second) in enumerate(zip(found, again)):
                if not agree(first, second, 0.0, self.nondet):
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                        "times gives different values, although analytical gradient matches numerical gradient. The "
                        f"tolerance for nondeterminism was {self.nondet}. (output {i}, input {j})"
                    )

    def constant(self, i: int, numerical: list[list[Array]]) -> None:
        """An output without history must not change."""
        for j, row in enumerate(numerical):
            if not agree(row[i], np.zeros_like(row[i]), self.rtol, self.atol):
                raise GradcheckError(
                    f"Numerical gradient for function expected to be zero: output {i} has no grad_fn, but "
                    f"changes with input {j}: {wrap(row[i].T.copy())!r}"
                )

    def push(self, x: Tensor, direction: Tensor) -> list[Tensor]:
        """Tangents of the outputs in a direction of one input."""
        call = lambda duals: self.checked(self.func(*[duals[0] if a is x else a for a in self.inputs]))
        values, tangents = push_forward(call, [x], [direction])
        return [F.zeros_like(o.detach()) if t is None else t for o, t in zip(values, tangents)]

    def forward(self, numerical: list[list[Array]], dtypes: bool) -> None:
        """Forward mode against difference quotients."""
        for j, x in enumerate(self.xs):
            columns: list[list[Array]] = [[] for _ in self.outs]
            for k in range(x._data.size):
                for step in directions(x):
                    for column, t, out in zip(columns, self.push(x, unit(x, k, step)), self.outs):
                        if dtypes and t._data.dtype != out._data.dtype:
                            raise GradcheckError(
                                f"Forward AD gradient has dtype mismatch: {t.dtype} for an output of {out.dtype}"
                            )
                        column.append(real_columns(t.detach().numpy()))
            for i, column in enumerate(columns):
                found = np.stack(column, axis=1) if column else numerical[j][i]
                if not agree(found, numerical[j][i], self.rtol, self.atol):
                    raise GradcheckError(
                        report("Jacobian computed with forward mode mismatch", i, j, numerical[j][i], found)
                    )

    # ---- one random projection of each Jacobian

    def projected(self, backward: bool, forward: bool) -> bool:
        """Whether v' J u agrees for random u and v."""
        rng = np.random.default_rng(0)
        for x in self.xs:
            u = randn_like(rng, x)
            quotients = difference(self.call, x, u._data, self.eps)
            pushed = self.push(x, u) if forward else None
            for i, (out, q) in enumerate(zip(self.outs, quotients)):
                v = randn_like(rng, out)
                want = inner(v._data, q)
                atol = self.atol * float(np.abs(real_columns(u._data)).sum() * np.abs(real_columns(v._data)).sum())
                if backward:
                    g = None if out._node is None else grad([out], [x], [v], retain_graph=True, allow_unused=True)[0]
                    got = 0.0 if g is None else inner(g.detach().numpy(), u._data)
                    if not abs(got - want) <= atol + self.rtol * abs(want):
                        return False
                if pushed is not None and not abs(
                    inner(v._data, pushed[i].detach().numpy()) - want
                ) <= atol + self.rtol * abs(want):
                    return False
        return True

    # ---- properties of the backward pass

    def scales_with_cotangent(self) -> None:
        """Zero cotangents give zero gradients, of the inputs' shapes and dtypes."""
        reached = [o for o in self.outs if o._node is not None]
        if not reached:
            return
        for j, (g, x) in enumerate(zip(self.pull(reached, [F.zeros_like(o.detach()) for o in reached]), self.xs)):
            if g is None:
                continue
            if np.any(g.detach().numpy() != 0):
                raise GradcheckError(
                    f"backward not multiplied by grad_output: zeros gave a gradient that is not zero (input {j})"
                )
            if g._data.shape != x._data.shape:
                raise GradcheckError(f"grad size is incorrect: {list(g.shape)} for input {j} of size {list(x.shape)}")
            if g._data.dtype != x._data.dtype:
                raise GradcheckError(f"grad is incorrect type: {g.dtype} for input {j} of {x.dtype}")

    def undefined_cotangents(self) -> None:
        """An output that got no cotangent counts as one that got zeros."""
        reached = [o for o in self.outs if o._node is not None]
        if len(reached) < 2:
            return
        for i, out in enumerate(reached):
            ones = F.ones_like(out.detach())
            all_given = [ones if k == i else F.zeros_like(o.detach()) for k, o in enumerate(reached)]
            try:
                alone = self.pull([out], [ones])
            except Exception as error:
                raise GradcheckError(
                    f"Expected backward function to handle undefined output grads: with a gradient for output "
                    f"{i} only it raised {type(error).__name__}: {error}"
                ) from error
            for j, (a, b) in enumerate(zip(alone, self.pull(reached, all_given))):
                x = self.xs[j]._data
                first, second = (np.zeros(x.shape, x.dtype) if g is None else g.detach().numpy() for g in (a, b))
                if not np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True):
                    raise GradcheckError(
                        "Expected all inputs to be treated alike whether output grads are undefined or zero: "
                        f"input {j} differs when only output {i} has a gradient"
                    )

    def batched_backward(self) -> None:
        """One pass over a batch of cotangents equals a pass for each."""
        rng = np.random.default_rng(0)
        for i, out in enumerate(self.outs):
            if out._node is None:
                continue
            stacks = [randn_like(rng, out) for _ in range(2)]
            one = lambda v, out=out: grad([out], self.xs, [v], retain_graph=True, allow_unused=True)
            rows = [one(v) for v in stacks]
            try:
                many = grad(
                    [out],
                    self.xs,
                    [wrap(np.stack([v._data for v in stacks]))],
                    retain_graph=True,
                    allow_unused=True,
                    is_grads_batched=True,
                )
            except Exception as error:
                raise GradcheckError(
                    f"While computing batched gradients, got: {type(error).__name__}: {error}"
                ) from error
            self.compare_batch(i, many, rows, "gradients")

    def batched_forward(self) -> None:
        """A batch of tangents at once equals one for each."""
        from ..core.transforms import enter, leave, make_batched
        from ._reverse import unpacked

        rng = np.random.default_rng(0)
        for x in self.xs:
            stacks = [randn_like(rng, x) for _ in range(2)]
            rows = [self.push(x, u) for u in stacks]
            level = enter()
            try:
                batch = make_batched(wrap(np.stack([u._data for u in stacks])), 0, level)
                many = [unpacked(t, level, 2) for t in self.push(x, batch)]
            except Exception as error:
                raise GradcheckError(
                    f"While computing batched tangents, got: {type(error).__name__}: {error}"
                ) from error
            finally:
                leave(level)
            self.compare_batch(0, many, rows, "tangents")

    def compare_batch(
        self, i: int, many: Sequence[Tensor | None], rows: Sequence[Sequence[Tensor | None]], what: str
    ) -> None:
        for j, (batch, *singles) in enumerate(zip(many, *rows)):
            if batch is None:
                continue
            want = np.stack(
                [np.zeros_like(batch.detach().numpy()[0]) if s is None else s.detach().numpy() for s in singles]
            )
            if not np.allclose(batch.detach().numpy(), want, rtol=self.rtol, atol=self.atol, equal_nan=True):
                raise GradcheckError(
                    f"For output {i} and input {j}: the batched {what} differ from those computed one by one:\n"
                    f"batched:{batch!r}\nsingle:{wrap(want)!r}"
                )


def randn_like(rng: np.random.Generator, x: Tensor) -> Tensor:
    shape, dtype = x._data.shape, x._data.dtype
    value = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype.kind == "c" else 0.0)
    return wrap(np.asarray(value).astype(dtype))


def inner(a: Array, b: Array) -> float:
    return float(np.dot(real_columns(a), real_columns(b)))


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check derivatives against central differences.

    Parameters
    ----------
    func
        Takes the inputs; returns a tensor or a tuple of them.
    inputs
        A tensor or a tuple; those that require grad are differentiated, and should be float64 or complex128.
    eps
        The step of the differences.
    atol, rtol
        Tolerances of the comparison.
    raise_exception
        Raise if a check fails, rather than return False.
    nondet_tol
        By how much two backward passes may differ.
    check_undefined_grad
        Check that outputs without a gradient count as ones with zeros.
    check_grad_dtypes
        Check the dtypes of gradients.
    check_batched_grad, check_batched_forward_grad
        Check that gradients or tangents computed as a batch equal those computed one by one.
    check_forward_ad, check_backward_ad
        Which modes to check.
    fast_mode
        Compare one random projection of each Jacobian instead of all elements.
    masked
        For sparse inputs, which do not exist here: without effect on dense ones.

    Returns
    -------
    bool
        True if all checks pass.

    Raises
    ------
    GradcheckError
        If a check fails; the report shows both Jacobians.
    ValueError
        If no input requires grad.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], dtype=tp.float64, requires_grad=True)
    >>> tp.autograd.gradcheck(lambda x: x.sin() * x, (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise ValueError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise ValueError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise ValueError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    recording = bool(state.recording)
    set_recording(True)
    try:
        check = Check(func, tuple_of(inputs), eps, atol, rtol, nondet_tol)
        if not (fast_mode and check.projected(check_backward_ad, check_forward_ad)):
            numerical = check.numerical()
            if check_backward_ad:
                check.backward(numerical, check_grad_dtypes)
            if check_forward_ad:
                check.forward(numerical, check_grad_dtypes)
            if fast_mode:
                raise GradcheckError(
                    "The random projections that fast_mode compares differ, although all elements of the Jacobians "
                    "agree within atol and rtol: the function is on the border of the tolerances, or not deterministic"
                )
        if check_batched_forward_grad:
            check.batched_forward()
        if check_backward_ad:
            check.scales_with_cotangent()
            if check_undefined_grad:
                check.undefined_cotangents()
            if check_batched_grad:
                check.batched_backward()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    finally:
        set_recording(recording)
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check second derivatives: :func:`gradcheck` of the gradients, as functions of inputs and cotangents.

    Parameters
    ----------
    func, inputs, eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes
        As in :func:`gradcheck`.
    grad_outputs
        One cotangent for each output that has a history; normal random numbers if left out.
    gen_non_contig_grad_outputs
        Lay the random cotangents out in memory with gaps.
    check_batched_grad, fast_mode, masked
        As in :func:`gradcheck`.
    check_fwd_over_rev, check_rev_over_rev
        Differentiate the gradients by forward mode, by reverse mode.

    Returns
    -------
    bool
        True if all checks pass.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], dtype=tp.float64, requires_grad=True)
    >>> tp.autograd.gradgradcheck(lambda x: x * x * x, (x,))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise ValueError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    given = tuple_of(inputs)
    recording = bool(state.recording)
    set_recording(True)
    try:
        outs = as_outputs(func(*given))
        places = tracked(outs) or list(range(len(outs)))
    finally:
        set_recording(recording)
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        cotangents = tuple(random_cotangent(rng, outs[i], gen_non_contig_grad_outputs) for i in places)
    else:
        cotangents = tuple_of(grad_outputs)
    n = len(cotangents)

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        args, us = args[:-n], args[-n:]
        outs = as_outputs(func(*args))
        reached = [(outs[i], u) for i, u in zip(places, us) if outs[i]._node is not None]
        if not reached:
            return ()
        xs = differentiable_inputs(args)
        found = grad([o for o, _ in reached], xs, [u for _, u in reached], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients,
        given + cotangents,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def random_cotangent(rng: np.random.Generator, out: Tensor, gaps: bool) -> Tensor:
    """A cotangent for an output, with gaps in its memory if these are asked for."""
    dtype = np.dtype(np.complex128 if out._data.dtype.kind == "c" else np.float64)
    u = randn_like(rng, wrap(np.zeros(out._data.shape, dtype)))._data
    if gaps and u.ndim:
        u = np.repeat(u, 2, axis=-1)[..., ::2]
    return wrap(u).requires_grad_()
