"""Random programs of operators from all tables of samples, under random stacks of transforms.

A program is a function from vectors of three to vectors of three. Its steps call operators near the arguments of their
samples, write in place, or transform a smaller program that sees the variables of the outer ones. Over it stands a
stack of up to four transforms. Each draw must

- equal the same stack with every transform replaced by another way to the same numbers (``grad`` by ``jacfwd``,
  ``vmap`` by a loop, ``jet`` by ``jvp`` of ``jvp``, ...);
- equal finite differences, in float64, of what its outermost derivative differentiates.

A draw is told by its seed alone. More of them, or one that failed:

    python tests/test_random_programs.py --draws 2000 --seed 0
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import time
import warnings

import numpy as np
import pytest
import samples

import tensorplay as tp
from tensorplay import func
from tensorplay.utils.checkpoint import checkpoint

N = 3
DRAWS = int(os.environ.get("TENSORPLAY_RANDOM_PROGRAMS", "300"))
BLOCK = 20


def t64(values):
    return tp.tensor(np.asarray(values, float))


# ---- operators


def usable(s):
    """Smooth enough for several derivatives, the same at every call, small."""
    return (
        s.gradgrad
        and s.vmap
        and s.varying
        and all(s.arrays[i].dtype in (np.float64, np.complex128) for i in s.varying)
        and 0 < sum(s.arrays[i].size for i in s.varying) <= 40
    )


OPERATORS = {name: [s for s in found if usable(s)] for name, found in samples.FAMILIES.items()}
FAMILIES = [name for name, found in OPERATORS.items() if found]


class Operator:
    """One sample as a function of vectors: its arguments lie near those of the sample, its results are mixed."""

    def __init__(self, r, scope):
        self.sample = s = r.choice(OPERATORS[r.choice(FAMILIES)])
        noise = np.random.default_rng(r.getrandbits(32))
        self.call = s.of_varying(s.tensors())
        self.centres = [tp.tensor(s.arrays[i]) for i in s.varying]
        self.sources = [r.randrange(scope) for _ in s.varying]
        self.moves = [t64(noise.uniform(-0.02, 0.02, (s.arrays[i].size, N))) for i in s.varying]
        sizes = [int(o.numel()) * (2 if o.is_complex() else 1) for o in self.call(*self.centres)]
        self.mixes = [t64(noise.normal(size=(N, n)) / max(n, 1) ** 0.5) for n in sizes]

    def __call__(self, scope):
        args = [
            c + (m @ scope[i]).reshape(c.shape) for c, m, i in zip(self.centres, self.moves, self.sources, strict=True)
        ]
        total = 0
        for o, mix in zip(self.call(*args), self.mixes, strict=True):
            o = tp.view_as_real(o) if o.is_complex() else o
            total = total + mix @ o.reshape(-1)
        return tp.asinh(total)  # keeps what follows in a moderate range

    def __repr__(self):
        return repr(self.sample)


class Write:
    """Some entries of a vector replaced or multiplied in place, through views."""

    def __init__(self, r, scope):
        self.target, self.source = r.randrange(scope), r.randrange(scope)
        self.i, self.j, self.kind = r.randrange(N), r.randrange(N), r.choice(["put", "mul_", "add_", "fill"])

    def __call__(self, scope):
        y = scope[self.target] * 1.5
        v = scope[self.source][self.j]
        if self.kind == "put":
            y[self.i] = v.sin()
        elif self.kind == "fill":
            y[self.i :].fill_(0.25)
        else:
            getattr(y[self.i :], self.kind)(v)
        return y

    def __repr__(self):
        return f"write({self.kind})"


class Inner:
    """A transform of a smaller program, which sees the variables around it."""

    def __init__(self, r, scope):
        self.at = r.randrange(scope)
        self.transform, self.body = Transform(r), Program(r, scope + 1, r.randint(1, 2), False)

    def __call__(self, scope):
        visible = tuple(scope)  # as it is now: a checkpoint calls the body again, later
        return self.transform(lambda z: self.body([*visible, z]))(scope[self.at])

    def __repr__(self):
        return f"{self.transform}({self.body})"


class Program:
    """Steps one after the other; each sees all variables before."""

    def __init__(self, r, scope=1, steps=3, nested=True):
        self.steps = []
        for k in range(steps):
            kind = r.choices([Operator, Write, Inner], [6, 2, 2 if nested else 0])[0]
            self.steps.append(kind(r, scope + k))

    def __call__(self, scope):
        scope = list(scope)
        first = len(scope)
        for step in self.steps:
            scope.append(step(scope))
        return sum(scope[first:], scope[first - 1])

    def __repr__(self):
        return " -> ".join(map(repr, self.steps))


# ---- transforms: each maps a function of a vector to another one; the ways to the same numbers stand together


def looped_jacobian(f, x):
    return tp.stack([func.jvp(f, (x,), (e,))[1] for e in tp.eye(N, dtype=x.dtype)], dim=1)


PULLS = {
    "grad": lambda f, c: func.grad(lambda x: (c * f(x)).sum()),
    "vjp": lambda f, c: lambda x: func.vjp(f, x)[1](c)[0],
    "jacrev": lambda f, c: lambda x: c @ func.jacrev(f)(x),
    "jacfwd, transposed": lambda f, c: lambda x: c @ func.jacfwd(f)(x),
    "jvp of each unit": lambda f, c: lambda x: c @ looped_jacobian(f, x),
}
PUSHES = {
    "jvp": lambda f, c: lambda x: func.jvp(f, (x,), (c,))[1],
    "jacfwd": lambda f, c: lambda x: func.jacfwd(f)(x) @ c,
    "linearize": lambda f, c: lambda x: func.linearize(f, x)[1](c),
    "jacrev, transposed": lambda f, c: lambda x: func.jacrev(f)(x) @ c,
    "double vjp": lambda f, c: lambda x: func.vjp(lambda u: func.vjp(f, x)[1](u)[0], tp.zeros_like(c))[1](c)[0],
}
SECOND = {
    "jet": lambda f, c: lambda x: func.jet(f, (x,), ([c, tp.zeros_like(c)],))[1][1],
    "jvp of jvp": lambda f, c: PUSHES["jvp"](PUSHES["jvp"](f, c), c),
    "jvp of jacrev": lambda f, c: PUSHES["jvp"](PUSHES["jacrev, transposed"](f, c), c),
}
TRACE = {
    "laplacian": lambda f, c: lambda x: func.laplacian(f, x)[2] * c,
    "hessian": lambda f, c: lambda x: func.hessian(f)(x).diagonal(dim1=-2, dim2=-1).sum(-1) * c,
    "hessian_diag": lambda f, c: lambda x: func.hessian_diag(f, x).sum(-1) * c,
}
SCALES = t64([[1.0], [0.5], [-0.75]])
BATCHES = {
    "vmap": lambda f, c: lambda x: tp.vmap(f)(SCALES * x + c).mean(0),
    "vmap over columns": lambda f, c: lambda x: tp.vmap(f, 1, 1)((SCALES * x + c).T).mean(1),
    "loop": lambda f, c: lambda x: sum(f(s * x + c) for s in SCALES) / 3,
    "vmap in chunks": lambda f, c: lambda x: tp.vmap(f, chunk_size=2)(SCALES * x + c).mean(0),
}
PLAIN = {
    "checkpoint": lambda f, c: lambda x: checkpoint(f, x, use_reentrant=False),
    "nothing": lambda f, c: f,
}
KINDS = {"pull": PULLS, "push": PUSHES, "second": SECOND, "trace": TRACE, "batch": BATCHES, "plain": PLAIN}


class Transform:
    """One way of a kind; ``vector`` is the cotangent, the tangent, or the offset of a batch."""

    def __init__(self, r, kinds=("pull", "push", "batch", "plain")):
        self.kind = r.choice(kinds)
        self.way = r.choice(list(KINDS[self.kind]))
        self.vector = t64([r.uniform(-1, 1) for _ in range(N)])

    def __call__(self, f):
        return KINDS[self.kind][self.way](f, self.vector)

    def other(self, r):
        """Another way to the same numbers."""
        twin = object.__new__(Transform)
        twin.kind, twin.vector = self.kind, self.vector
        twin.way = r.choice([way for way in KINDS[self.kind] if way != self.way])
        return twin

    def differences(self, f, x, width=1.0):
        """What the derivative is by finite differences of f, extrapolated from two widths."""
        c = self.vector

        def slope(v, h):
            near, far = [(f(x + s * v) - f(x - s * v)) / (2 * s) for s in (h, 2 * h)]
            return (4 * near - far) / 3

        def bend(v, h):
            near, far = [(f(x + s * v) - 2 * f(x) + f(x - s * v)) / s**2 for s in (h, 2 * h)]
            return (4 * near - far) / 3

        units = tp.eye(N, dtype=x.dtype)
        if self.kind == "pull":
            return c @ tp.stack([slope(e, 1e-4 * width) for e in units], dim=1)
        if self.kind == "push":
            return slope(c, 1e-4 * width)
        return bend(c, 2e-3 * width) if self.kind == "second" else sum(bend(e, 2e-3 * width) for e in units) * c

    def __repr__(self):
        return self.way


ORDERS = {"pull": 1, "push": 1, "second": 2, "trace": 2, "batch": 0, "plain": 0}


class Draw:
    """A program, a stack of transforms over it (innermost first), and a point."""

    def __init__(self, seed):
        self.seed, r = seed, random.Random(seed)
        self.program = Program(r, 1, r.randint(1, 3))
        self.stack = []
        for _ in range(r.randint(1, 4)):
            room = 4 - sum(ORDERS[t.kind] for t in self.stack)
            self.stack.append(Transform(r, [k for k in KINDS if ORDERS[k] <= room]))
        self.twins = [t.other(r) for t in self.stack]
        self.x = t64([r.uniform(-1, 1) for _ in range(N)])

    def run(self, stack):
        f = lambda z: self.program([z])
        for t in stack:
            f = t(f)
        return f

    def check(self):
        """Raise AssertionError where two ways disagree."""
        got = self.run(self.stack)(self.x).numpy()
        same = self.run(self.twins)(self.x).numpy()
        size = max(np.abs(same).max(), self.scale())
        np.testing.assert_allclose(got, same, rtol=1e-7, atol=1e-9 * size, err_msg=f"{self!r}: against {self.twins}")
        derivatives = [k for k, t in enumerate(self.stack) if ORDERS[t.kind]]
        if derivatives:
            k = derivatives[-1]
            inner = self.run(self.stack[:k])
            found, t = self.stack[k](inner)(self.x).numpy(), self.stack[k]
            near = t.differences(inner, self.x).numpy()
            if not np.allclose(found, near, rtol=1e-4):  # a knot of a piecewise polynomial may lie within the width
                near = t.differences(inner, self.x, 0.1).numpy()
            size = max(np.abs(near).max(), np.abs(inner(self.x).numpy()).max(), 1e-3)
            tol = 1e-6 if ORDERS[t.kind] == 1 else 1e-5
            np.testing.assert_allclose(found, near, rtol=0, atol=tol * size, err_msg=f"{self!r}: finite differences")

    def scale(self):
        """The size of the program's values, by which rounding is measured."""
        return float(np.abs(self.program([self.x]).numpy()).max())

    def __repr__(self):
        return f"seed {self.seed}: {' of '.join(map(repr, reversed(self.stack)))} of {self.program!r}"


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("start", range(0, DRAWS, BLOCK))
def test_random_programs_agree_with_each_other_and_with_finite_differences(start):
    for seed in range(start, min(start + BLOCK, DRAWS)):
        Draw(seed).check()


def test_a_wrong_derivative_is_found(monkeypatch):
    """The net has no holes: with a tangent that is off by a millionth part, some draws fail."""
    wrong = {**PUSHES, "jvp": lambda f, c: lambda x: func.jvp(f, (x,), (c,))[1] * (1 + 3e-6)}
    monkeypatch.setitem(KINDS, "push", wrong)
    failed = 0
    for seed in range(40):
        try:
            Draw(seed).check()
        except AssertionError:
            failed += 1
    assert failed


def test_every_kind_of_step_and_transform_is_drawn():
    draws = [Draw(seed) for seed in range(100)]
    text = "\n".join(map(repr, draws))
    assert all(way in text for ways in KINDS.values() for way in ways)
    assert {len(d.stack) for d in draws} == {1, 2, 3, 4}
    assert {type(step) for d in draws for step in d.program.steps} == {Operator, Write, Inner}
    assert len(FAMILIES) > 20


def main() -> int:
    parser = argparse.ArgumentParser(description="Random programs under random stacks of transforms.")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    started, outcomes = time.perf_counter(), collections.Counter()
    drawn = set()
    for seed in range(args.seed, args.seed + args.draws):
        draw = Draw(seed)
        drawn |= {repr(step) for step in draw.program.steps if isinstance(step, Operator)}
        try:
            draw.check()
            outcomes["right"] += 1
        except AssertionError as error:
            outcomes["wrong"] += 1
            print(error)
        except Exception as error:
            outcomes["raised"] += 1
            print(f"{draw!r}: {type(error).__name__}: {error}")
    print(f"{dict(outcomes)}, {len(drawn)} different operator calls, {time.perf_counter() - started:.0f} s")
    return 1 if outcomes["wrong"] or outcomes["raised"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
