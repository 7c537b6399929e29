"""What every operator is checked for, given a table of samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import tensorplay as tp
from tensorplay import autograd, func


class Sample:
    """One call of an operator.

    ``fn`` takes one Tensor for each array. Floating and complex arrays are differentiated and batched, the others are
    constants. ``reference`` is the same function over the arrays; None where the value is tested elsewhere. ``layouts``
    is False where the operator is about how its input lies in memory.
    """

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        *arrays: Any,
        reference: Callable[..., Any] | None = None,
        grad: bool = True,
        gradgrad: bool = True,
        vmap: bool = True,
        layouts: bool = True,
        tol: float = 1e-7,
    ) -> None:
        self.name, self.fn, self.arrays, self.reference = name, fn, [np.asarray(a) for a in arrays], reference
        self.grad, self.gradgrad, self.vmap, self.layouts, self.tol = grad, grad and gradgrad, vmap, layouts, tol

    def __repr__(self) -> str:
        return f"{self.name}({', '.join('x'.join(map(str, a.shape)) or 'scalar' for a in self.arrays)})"

    @property
    def varying(self) -> list[int]:
        """Positions of the arrays that are differentiated and batched."""
        return [i for i, a in enumerate(self.arrays) if a.dtype.kind in "fc"]

    def tensors(self) -> list[Any]:
        return [tp.tensor(a) for a in self.arrays]

    def of_varying(self, constants: list[Any]) -> Callable[..., tuple[Any, ...]]:
        """The call as a function of the varying tensors alone; its floating outputs, always a tuple."""

        def call(*xs: Any) -> tuple[Any, ...]:
            args = list(constants)
            for i, x in zip(self.varying, xs):
                args[i] = x
            return floating(self.fn(*args))

        return call


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def randn(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal numbers, the same for the same seed."""
    return rng(seed).normal(size=shape)


def positive(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between 0.5 and 2."""
    return rng(seed).uniform(0.5, 2.0, size=shape)


def complexn(*shape: int, seed: int = 0) -> np.ndarray:
    """Complex normal numbers."""
    r = rng(seed)
    return r.normal(size=shape) + 1j * r.normal(size=shape)


def spd(n: int, *batch: int, seed: int = 0) -> np.ndarray:
    """Symmetric positive definite matrices."""
    a = randn(*batch, n, n, seed=seed)
    return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)


def as_tuple(out: Any) -> tuple[Any, ...]:
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


def floating(out: Any) -> tuple[Any, ...]:
    return tuple(o for o in as_tuple(out) if o.is_floating_point() or o.is_complex())


def to_numpy(t: Any) -> np.ndarray:
    return t.detach().numpy()


def assert_close(got: Any, want: Any, tol: float, what: str) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, want {want.shape}"
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol, err_msg=what)


def check_value(s: Sample) -> None:
    """Values and shapes equal those of the reference."""
    got = as_tuple(s.fn(*s.tensors()))
    want = as_tuple(s.reference(*s.arrays))  # type: ignore[misc]
    assert len(got) == len(want)
    for i, (g, w) in enumerate(zip(got, want)):
        assert_close(to_numpy(g), w, s.tol, f"{s}: output {i}")


def check_gradients(s: Sample) -> None:
    """First derivatives equal finite differences."""
    xs = [t.requires_grad_() for i, t in enumerate(s.tensors()) if i in s.varying]
    assert autograd.gradcheck(s.of_varying(s.tensors()), xs, eps=1e-6, atol=1e-5, rtol=1e-4)


def check_second_derivatives(s: Sample) -> None:
    """Second derivatives equal finite differences of the first."""
    xs = [t.requires_grad_() for i, t in enumerate(s.tensors()) if i in s.varying]
    call = s.of_varying(s.tensors())
    assert autograd.gradgradcheck(call, xs, check_fwd_over_rev=True, eps=1e-6, atol=1e-4, rtol=1e-3)


def check_forward_mode(s: Sample) -> None:
    """<u, jvp(v)> = <vjp(u), v>."""
    tensors = s.tensors()
    call = s.of_varying(tensors)
    primals = tuple(tensors[i] for i in s.varying)
    r = rng(5)

    def like(t: Any) -> Any:
        v = r.normal(size=tuple(t.shape))
        return tp.tensor(v + 1j * r.normal(size=tuple(t.shape)) if t.is_complex() else v, dtype=t.dtype)

    vs = tuple(map(like, primals))
    outs, tangents = func.jvp(call, primals, vs)
    us = tuple(map(like, outs))
    outs2, pull = func.vjp(call, *primals)
    cotangents = as_tuple(pull(us))
    left = sum(np.vdot(to_numpy(u), to_numpy(t)).real for u, t in zip(us, tangents))
    right = sum(np.vdot(to_numpy(c), to_numpy(v)).real for c, v in zip(cotangents, vs))
    np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-8, err_msg=f"{s}: jvp against vjp")
    for a, b in zip(outs, outs2):
        assert_close(to_numpy(a), to_numpy(b), 1e-12, f"{s}: outputs of jvp and vjp")


def check_batching(s: Sample) -> None:
    """vmap equals a stack of the calls on each example, over all batch positions."""
    tensors = s.tensors()
    call = s.of_varying(tensors)
    xs = [s.arrays[i] for i in s.varying]
    size = 3
    stacks = [np.stack([x * (1 + 0.1 * k) for k in range(size)]) for x in xs]
    choices = [[None, *range(x.ndim + 1)] for x in xs]
    for dims in itertools.islice(itertools.product(*choices), 40):
        if all(d is None for d in dims):
            continue
        args = [tp.tensor(x) if d is None else tp.tensor(np.moveaxis(st, 0, d)) for x, st, d in zip(xs, stacks, dims)]
        got = tp.vmap(call, in_dims=tuple(dims))(*args)
        rows = [
            call(*[tp.tensor(x if d is None else st[k]) for x, st, d in zip(xs, stacks, dims)]) for k in range(size)
        ]
        for i, (g, *w) in enumerate(zip(got, *rows)):
            assert_close(to_numpy(g), np.stack([to_numpy(r) for r in w]), 1e-9, f"{s}: vmap over {dims}, output {i}")


def apart(a: np.ndarray) -> Any:
    """A tensor whose elements do not lie side by side."""
    return tp.tensor(np.stack([a, np.roll(a, 1)], -1))[..., 0]


def reversed_order(a: np.ndarray) -> Any:
    """A tensor that lies in memory from the first dimension to the last."""
    return tp.tensor(a.T.copy()).permute(tuple(range(a.ndim)[::-1]))


def check_layouts(s: Sample) -> None:
    """Values and gradients do not depend on how the inputs lie in memory."""

    def results(lay: Callable[[np.ndarray], Any]) -> list[Any]:
        tp.manual_seed(0)
        tensors = [lay(a) for a in s.arrays]
        xs = [t.requires_grad_() for i, t in enumerate(tensors) if s.grad and i in s.varying]
        outs = as_tuple(s.fn(*tensors))
        found = [to_numpy(o) for o in outs if isinstance(o, tp.Tensor)]
        ys = [o for o in outs if isinstance(o, tp.Tensor) and o.requires_grad]
        if xs and ys:
            grads = autograd.grad(ys, xs, [tp.ones_like(y) for y in ys], allow_unused=True)
            found += [np.zeros(()) if g is None else to_numpy(g) for g in grads]
        return found

    want = results(tp.tensor)
    for lay in (apart, reversed_order):
        for i, (g, w) in enumerate(zip(results(lay), want, strict=True)):
            assert_close(g, w, max(s.tol, 1e-9), f"{s}, {lay.__name__}: result {i}")
