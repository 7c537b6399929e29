"""Samples of operators on shapes: views, joining, splitting, diagonals, windows."""

import itertools

import numpy as np
import scipy.linalg
from harness import Sample, complexn, randn

import tensorplay as tp

S, V, M, X = randn(), randn(4, seed=1), randn(3, 4, seed=2), randn(2, 3, 4, seed=3)
Z = complexn(3, 4, seed=4)
EMPTY = np.zeros((2, 0, 3))


def same_name(name, *calls):
    """``(arguments, reference, arrays...)`` for each call of one operator, as a function or else a method."""
    fn = getattr(tp, name, None) or getattr(tp.Tensor, name)
    return [
        Sample(
            f"{name}{args}",
            lambda x, *ys, args=args: fn(x, *args, *ys),
            *arrays,
            reference=lambda x, *ys, reference=reference: reference(x, *ys),
        )
        for args, reference, *arrays in calls
    ]


def joining(name, fn, reference, *tables):
    return [Sample(name, lambda *xs: fn(xs), *arrays, reference=lambda *xs: reference(xs)) for arrays in tables]


def spread(x, counts):
    return np.tile(x, counts)


def windows(x, dim, size, step):
    out = np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)
    index = [slice(None)] * out.ndim
    index[dim % x.ndim] = slice(None, None, step)
    return out[tuple(index)]


def embedded(x, offset, dim1, dim2):
    n = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], n, n))
    rows = np.arange(x.shape[-1]) + max(-offset, 0)
    out[..., rows, rows + offset] = x
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


RESHAPING = [
    *same_name(
        "reshape",
        (((-1,),), lambda x: x.reshape(-1), X),
        (((4, 6),), lambda x: x.reshape(4, 6), X),
        (((1, 1),), lambda x: x.reshape(1, 1), S),
        (((),), lambda x: x.reshape(()), randn(1, 1)),
        (((0, 5),), lambda x: x.reshape(0, 5), EMPTY),
        (((6, 2),), lambda x: x.reshape(6, 2), Z),
    ),
    Sample("reshape of a transposed tensor", lambda x: x.t().reshape(2, 6), M, reference=lambda x: x.T.reshape(2, 6)),
    Sample("view", lambda x: x.view(6, -1), X, reference=lambda x: x.reshape(6, 4), layouts=False),
    *same_name(
        "flatten",
        ((), np.ravel, X),
        ((1,), lambda x: x.reshape(2, 12), X),
        ((0, 1), lambda x: x.reshape(6, 4), X),
        ((), np.ravel, S),
    ),
    *same_name(
        "unflatten",
        ((1, (3, 1)), lambda x: x.reshape(2, 3, 1, 4), X),
        ((-1, (-1, 2)), lambda x: x.reshape(2, 3, 2, 2), X),
    ),
    *same_name("ravel", ((), np.ravel, X), ((), np.ravel, S)),
    *same_name(
        "squeeze",
        ((), np.squeeze, randn(1, 3, 1)),
        ((0,), lambda x: x[0], randn(1, 3, 1)),
        ((1,), lambda x: x, randn(1, 3, 1)),
        (((0, -1),), lambda x: x[0, :, 0], randn(1, 3, 1)),
        ((), lambda x: x, S),
    ),
    *same_name(
        "unsqueeze",
        ((0,), lambda x: x[None], X),
        ((-1,), lambda x: x[..., None], X),
        ((2,), lambda x: x[:, :, None], X),
        ((0,), lambda x: x[None], S),
    ),
]

ORDER = [
    *same_name(
        "transpose",
        ((0, 2), lambda x: x.swapaxes(0, 2), X),
        ((-1, 1), lambda x: x.swapaxes(-1, 1), X),
        ((0, 0), lambda x: x, S),
    ),
    *same_name("t", ((), np.transpose, M), ((), lambda x: x, V), ((), np.transpose, Z)),
    *same_name(
        "permute",
        (((2, 0, 1),), lambda x: x.transpose(2, 0, 1), X),
        (((-1, 0, 1),), lambda x: x.transpose(2, 0, 1), X),
        (((),), lambda x: x, S),
    ),
    *same_name(
        "movedim",
        ((0, -1), lambda x: np.moveaxis(x, 0, -1), X),
        (((0, 1), (2, 0)), lambda x: np.moveaxis(x, (0, 1), (2, 0)), X),
    ),
    Sample("T", lambda x: x.T, M, reference=np.transpose),
    Sample("mT", lambda x: x.mT, X, reference=lambda x: x.swapaxes(1, 2)),
    Sample("H", lambda x: x.H, Z, reference=lambda x: x.conj().T),
    Sample("mH", lambda x: x.mH, complexn(2, 3, 4), reference=lambda x: x.conj().swapaxes(1, 2)),
    *same_name(
        "flip",
        (((0,),), np.flipud, X),
        (((0, 2),), lambda x: np.flip(x, (0, 2)), X),
        (((),), lambda x: x, X),
        (((1,),), lambda x: x, EMPTY),
    ),
    *same_name("fliplr", ((), np.fliplr, M)),
    *same_name("flipud", ((), np.flipud, V)),
    *same_name(
        "roll",
        ((1,), lambda x: np.roll(x, 1), M),
        ((-3, 1), lambda x: np.roll(x, -3, 1), X),
        (((1, 7), (0, 2)), lambda x: np.roll(x, (1, 7), (0, 2)), X),
    ),
    *same_name(
        "rot90",
        *(
            ((k, dims), lambda x, k=k, dims=dims: np.rot90(x, k, dims), X)
            for k in (-1, 0, 1, 2, 3)
            for dims in ((0, 1), (2, 0))
        ),
    ),
]

REPEATING = [
    Sample(
        "expand", lambda x: x.expand(3, 2, -1, 4), randn(2, 1, 4), reference=lambda x: np.broadcast_to(x, (3, 2, 1, 4))
    ),
    Sample("broadcast_to of sizes", lambda x: x.broadcast_to(3, 2), randn(2), reference=lambda x: np.stack([x] * 3)),
    Sample("expand of a number", lambda x: x.expand(2, 3), S, reference=lambda x: np.broadcast_to(x, (2, 3))),
    Sample("expand_as", lambda x, y: x.expand_as(y), randn(3, 1), M, reference=lambda x, y: np.broadcast_to(x, (3, 4))),
    *same_name("broadcast_to", (((2, 3, 4),), lambda x: np.broadcast_to(x, (2, 3, 4)), M)),
    Sample(
        "broadcast_tensors",
        lambda *xs: tp.broadcast_tensors(*xs),
        randn(3, 1),
        V,
        S,
        reference=lambda *xs: tuple(np.broadcast_arrays(*xs)),
    ),
    *same_name(
        "repeat",
        (((2, 3),), lambda x: np.tile(x, (2, 3)), M),
        (((2, 1, 3),), lambda x: np.tile(x, (2, 1, 3)), M),
        (((0, 1),), lambda x: np.tile(x, (0, 1)), M),
        (((1, 1),), lambda x: x, M),
    ),
    *same_name(
        "tile",
        (((2,),), lambda x: np.tile(x, 2), X),
        (((2, 1, 1, 2),), lambda x: np.tile(x, (2, 1, 1, 2)), X),
        (((3,),), lambda x: np.tile(x, 3), S),
    ),
    *same_name("repeat_interleave", ((2,), lambda x: np.repeat(x, 2), M), ((3, 1), lambda x: np.repeat(x, 3, 1), X)),
    Sample(
        "repeat_interleave by counts",
        lambda x, n: x.repeat_interleave(n, 1),
        M,
        np.array([1, 0, 2, 3]),
        reference=lambda x, n: np.repeat(x, n, 1),
    ),
    *same_name("clone", ((), np.copy, X), ((), np.copy, S)),
    Sample("contiguous", lambda x: x.t().contiguous(), M, reference=np.transpose),
]

JOINING = [
    *(
        sample
        for dim in (0, 1, -1)
        for sample in joining(
            f"cat along {dim}",
            lambda xs, dim=dim: tp.cat(xs, dim),
            lambda xs, dim=dim: np.concatenate(xs, dim),
            (X, X * 2),
            (X,),
        )
    ),
    *joining("_chunk_cat", lambda xs: tp._chunk_cat(xs, 0, 2), lambda xs: np.concatenate(
        [np.pad(x, ((0, -len(x) % 2), (0, 0))).reshape(2, -1) for x in xs], 1), (M, randn(2, 2)), (Z, Z[:1])),
    Sample("constant_pad_nd", lambda x: tp.constant_pad_nd(x, (1, -1, 0, 2), 0.5), M,
           reference=lambda x: np.pad(x[:, :-1], ((0, 2), (1, 0)), constant_values=0.5)),
    *joining("cat of several sizes", tp.cat, np.concatenate, (M, randn(1, 4), randn(0, 4)), (Z, Z[:1])),
    *joining("cat beside an empty vector", tp.cat, lambda xs: xs[0], (M, np.zeros(0))),
    *(
        sample
        for dim in (0, 2, -1)
        for sample in joining(
            f"stack along {dim}",
            lambda xs, dim=dim: tp.stack(xs, dim),
            lambda xs, dim=dim: np.stack(xs, dim),
            (M, M * 2, M + 1),
        )
    ),
    *joining("stack of numbers", tp.stack, np.stack, (S, S * 2)),
    *joining("hstack", tp.hstack, np.hstack, (M, M), (V, V), (S, S)),
    *joining("vstack", tp.vstack, np.vstack, (M, M), (V, V), (S, S)),
    *joining("dstack", tp.dstack, np.dstack, (M, M), (V, V), (X, X)),
    *joining("column_stack", tp.column_stack, np.column_stack, (V, randn(4, 2)), (M, M)),
    Sample("block_diag", tp.block_diag, M, V, S, randn(2, 1), reference=lambda *xs: scipy.linalg.block_diag(*xs)),
    Sample(
        "meshgrid",
        lambda x, y: tp.meshgrid(x, y, indexing="xy"),
        V,
        randn(3),
        reference=lambda x, y: tuple(np.meshgrid(x, y)),
    ),
    Sample(
        "cartesian_prod", tp.cartesian_prod, V, randn(2), reference=lambda x, y: np.array(list(itertools.product(x, y)))
    ),
    *same_name(
        "combinations",
        ((2,), lambda x: np.array(list(itertools.combinations(x, 2))), V),
        ((3, True), lambda x: np.array(list(itertools.combinations_with_replacement(x, 3))), randn(3)),
    ),
]

SPLITTING = [
    *same_name(
        "split",
        ((2, 1), lambda x: (x[:, :2], x[:, 2:]), X),
        (([1, 3], 2), lambda x: (x[..., :1], x[..., 1:]), X),
        ((5,), lambda x: (x,), X),
    ),
    *same_name("chunk", ((2, -1), lambda x: tuple(np.split(x, 2, -1)), X), ((2, 1), lambda x: (x[:, :2], x[:, 2:]), X)),
    *same_name(
        "tensor_split",
        ((3, 2), lambda x: tuple(np.array_split(x, 3, 2)), X),
        (((1, 3), 2), lambda x: tuple(np.split(x, (1, 3), 2)), X),
    ),
    *same_name("hsplit", ((3,), lambda x: tuple(np.hsplit(x, 3)), X)),
    *same_name("vsplit", ((2,), lambda x: tuple(np.vsplit(x, 2)), X)),
    *same_name("dsplit", (((1, 2),), lambda x: tuple(np.dsplit(x, (1, 2))), X)),
    *same_name("unbind", ((0,), tuple, X), ((-1,), lambda x: tuple(np.moveaxis(x, -1, 0)), X), ((), tuple, V)),
    Sample("one part of an unbound tensor", lambda x: x.unbind(1)[1] * 2, X, reference=lambda x: x[:, 1] * 2),
    Sample(
        "two parts of a split tensor",
        lambda x: x.split(1, 1)[0] * x.split(1, 1)[2],
        X,
        reference=lambda x: x[:, :1] * x[:, 2:],
    ),
    *same_name("narrow", ((1, 1, 2), lambda x: x[:, 1:3], X), ((-1, -2, 1), lambda x: x[..., 2:3], X)),
    *same_name("select", ((1, -1), lambda x: x[:, -1], X), ((0, 2), lambda x: x[2], V)),
]

DIAGONALS = [
    *same_name(
        "diagonal",
        *(
            ((o, a, b), lambda x, o=o, a=a, b=b: np.diagonal(x, o, a, b), X)
            for o, a, b in ((0, 0, 1), (1, 1, 2), (-1, 2, 0), (9, 0, 1))
        ),
    ),
    *same_name(
        "diag_embed",
        *(
            ((o, a, b), lambda x, o=o, a=a, b=b: embedded(x, o, a, b), M)
            for o, a, b in ((0, -2, -1), (1, 0, 2), (-2, 1, 0))
        ),
    ),
    *same_name("diag", ((), np.diag, V), ((1,), lambda x: np.diag(x, 1), M)),
    *same_name("diagflat", ((-1,), lambda x: np.diagflat(x, -1), M)),
    *same_name("tril", ((), np.tril, X), ((1,), lambda x: np.tril(x, 1), M), ((-1,), lambda x: np.tril(x, -1), Z)),
    *same_name("triu", ((), np.triu, X), ((1,), lambda x: np.triu(x, 1), M)),
    Sample(
        "diagonal_scatter",
        lambda x, y: tp.diagonal_scatter(x, y, 1),
        M,
        randn(3),
        reference=lambda x, y: x * (1 - np.eye(3, 4, 1)) + np.eye(3, 4, 1) * np.append(0, y),
    ),
]


def strides_replaced(x, y, size, stride, offset=0):
    out = x.copy()
    for index in np.ndindex(size):
        out.reshape(-1)[offset + int(np.dot(index, stride))] = y[index]
    return out


WINDOWS = [
    *same_name(
        "unfold",
        *(
            ((d, n, s), lambda x, d=d, n=n, s=s: windows(x, d, n, s), X)
            for d, n, s in ((2, 2, 1), (1, 3, 1), (-1, 2, 2), (0, 1, 1))
        ),
    ),
    Sample(
        "as_strided with overlaps",
        lambda x: x.as_strided((3, 2), (1, 2), 1),
        M,
        reference=lambda x: x.reshape(-1)[np.arange(3)[:, None] + 2 * np.arange(2) + 1],
        layouts=False,
    ),
    Sample(
        "as_strided of a transposed tensor",
        lambda x: (x * 1).t().as_strided((2, 2), (4, 1)),
        M,
        reference=lambda x: x[:2, :2],
        vmap=False,
        layouts=False,
    ),
    *(
        Sample(
            f"as_strided_scatter {name}",
            lambda x, y, geometry=geometry: tp.as_strided_scatter(x, y, *geometry),
            x,
            y,
            reference=lambda x, y, geometry=geometry: strides_replaced(x, y, *geometry),
            layouts=False,
        )
        for name, x, y, *geometry in (
            ("of one element", randn(1), randn(), (), ()),
            ("of no dimension", randn(), randn(1, 1), (1, 1), (5, 5)),
            ("of nothing", randn(3), randn(2, 0), (2, 0), (1, 1)),
            ("with steps", M, randn(2, 2), (2, 2), (6, 2), 1),
            ("with overlaps", M, randn(3, 2), (3, 2), (1, 1), 2),  # the last one that is written stays
        )
    ),
]

SAMPLES = RESHAPING + ORDER + REPEATING + JOINING + SPLITTING + DIAGONALS + WINDOWS
