"""Samples of indexing, reading and writing, and of the functions that select and scatter."""

import numpy as np
from harness import Sample, complexn, randn

import tensorplay as tp

V, M, X = randn(5, seed=1), randn(3, 4, seed=2), randn(3, 4, 5, seed=3)
I, J = np.array([2, 0, 2]), np.array([[1, 0], [-1, 1]])
MASK = np.array([[True, False, True, False], [False, False, True, True], [False, True, False, False]])
ROW_MASK = np.array([True, False, True])

BASIC = [
    0,
    -1,
    slice(1, None),
    slice(None, None, 2),
    slice(2, 1),
    (0, 1),
    (slice(None), 1),
    (..., -1),
    None,
    (None, 0, ..., None),
    (1, 2, 3),
    ...,
    (slice(0, 2), slice(1, 3)),
    (),
]
ADVANCED = [
    I,
    J,
    [0, 2],
    (I, I),
    (slice(None), I),
    (I, slice(None), I),
    (0, slice(None), I),
    (slice(None), J, 1),
    (J, slice(None), J),
    (..., I),
    (I[:, None], I),
    (None, I),
    (slice(1, None), None, I, slice(0, 2)),
    MASK,
    ROW_MASK,
    (slice(None), MASK[0]),
    (ROW_MASK, slice(None), np.array([1, 3])),
    True,
    False,
    (True, I),
    np.array(1),
    (np.array(1), I),
    [],
    (I, I, I),
]


def is_number(i):
    return type(i) is int or isinstance(i, np.ndarray) and i.ndim == 0 and i.dtype != bool


def taken(x, index):
    """``x[index]`` by NumPy, but for ints beside arrays: they take no part in where the arrays' dimensions go."""
    items = [np.array(i, int) if isinstance(i, list) else i for i in (index if isinstance(index, tuple) else (index,))]
    if any(isinstance(i, (list, np.ndarray)) for i in items):
        for dim in reversed(range(len(items))):
            if is_number(items[dim]):
                x = np.take(x, int(items.pop(dim)), dim)
    return x[tuple(items)]


def written(x, index, value):
    """A copy of x with the value at the index."""
    out, place = x.copy(), np.arange(x.size).reshape(x.shape)
    where = taken(place, index)
    out.reshape(-1)[where] = np.broadcast_to(value, where.shape)
    return out


def to_tensors(index):
    if isinstance(index, tuple):
        return tuple(map(to_tensors, index))
    return tp.tensor(index) if isinstance(index, np.ndarray) else index


def write(x, index, value):
    out = x.clone()
    out[to_tensors(index)] = value
    return out


def unique(index):
    """Whether no element is written twice, as the result would be undefined."""
    where = taken(np.arange(X.size).reshape(X.shape), index)
    return np.unique(where).size == where.size


READING = [
    Sample(f"x[{index!r}]", lambda x, i=index: x[to_tensors(i)], X, reference=lambda x, i=index: taken(x, i))
    for index in BASIC + ADVANCED
]
WRITING = [
    Sample(
        f"x[{index!r}] = a number",
        lambda x, v, i=index: write(x, i, v),
        X,
        randn(),
        reference=lambda x, v, i=index: written(x, i, v),
    )
    for index in BASIC + ADVANCED
    if unique(index)
] + [
    Sample(
        f"x[{index!r}] = a tensor",
        lambda x, v, i=index: write(x, i, v),
        X,
        randn(*taken(X, index).shape[-1:]),
        reference=lambda x, v, i=index: written(x, i, v),
    )
    for index in BASIC + ADVANCED
    if unique(index)
]
MORE = [
    Sample("vector[i]", lambda x, i: x[i], V, np.array([0, 4, 0, -1]), reference=lambda x, i: x[i]),
    Sample("many rows", lambda x, i: x[i], randn(7, 3), np.arange(60) % 5, reference=lambda x, i: x[i]),
    Sample("rows of a transposed tensor", lambda x, i: x.t()[i], M, I, reference=lambda x, i: x.T[i]),
    Sample("complex rows", lambda x, i: x[i], complexn(3, 2), I, reference=lambda x, i: x[i]),
    Sample("rows of nothing", lambda x: x[[]], M, reference=lambda x: x[:0]),
    Sample("iteration", lambda x: tuple(x), M, reference=tuple),
]

# ---- functions

S = randn(3, 2, 5, seed=6)
K = np.array([3, 0])
D = randn(2, 4, seed=7)
G = np.array([[0, 2, 1, 0], [2, 2, 0, 1]])


def added(x, dim, index, source, alpha=1):
    out = x.copy()
    np.add.at(np.moveaxis(out, dim, 0), index, alpha * np.moveaxis(source, dim, 0))
    return out


def replaced(x, dim, index, source):
    out = x.copy()
    np.moveaxis(out, dim, 0)[index] = np.moveaxis(source, dim, 0) if np.ndim(source) else source
    return out


def scattered(x, index, source, combine=None, own=True):
    """Along the first of two dimensions, one element after the other."""
    out, seen = x.copy(), np.zeros(x.shape, int)
    for i, j in np.ndindex(*index.shape):
        place = index[i, j], j
        first = not own and not seen[place]
        out[place] = source[i, j] if combine is None or first else combine(out[place], source[i, j])
        seen[place] += 1
    return out, seen


def reduced(x, index, source, reduce, own=True):
    if reduce == "mean":
        out, seen = scattered(x, index, source, np.add, own)
        return np.where(seen > 0, out / np.maximum(seen + own, 1), out)
    combine = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[reduce]
    return scattered(x, index, source, combine, own)[0]


SELECTING = [
    Sample("index_select", lambda x, i: tp.index_select(x, 1, i), X, K, reference=lambda x, i: x.take(i, 1)),
    Sample(
        "index_select with repeats",
        lambda x, i: x.index_select(-1, i),
        M,
        np.array([1, 1, 0]),
        reference=lambda x, i: x.take(i, -1),
    ),
    Sample("gather", lambda x, i: x.gather(0, i), M, G, reference=lambda x, i: np.take_along_axis(x, i, 0)),
    Sample(
        "gather fewer",
        lambda x, i: x.gather(1, i),
        M,
        np.array([[3], [1]]),
        reference=lambda x, i: np.take_along_axis(x[:2], i, 1),
    ),
    Sample("gather one", lambda x, i: x.gather(0, i), randn(), np.array(0), reference=lambda x, i: x),
    Sample("take", lambda x, i: x.take(i), M, np.array([[0, -1], [5, 5]]), reference=lambda x, i: x.reshape(-1)[i]),
    Sample(
        "take_along_dim",
        lambda x, i: tp.take_along_dim(x, i, 1),
        M,
        np.array([[1], [0], [-1]]),
        reference=lambda x, i: np.take_along_axis(x, i, 1),
    ),
    Sample(
        "take_along_dim, broadcast",
        lambda x, i: tp.take_along_dim(x, i, 0),
        M,
        np.array([[1], [0]]),
        reference=lambda x, i: x[i[:, 0]],
    ),
    Sample("masked_select", lambda x, m: x.masked_select(m), M, MASK, reference=lambda x, m: x[m]),
    Sample(
        "masked_select, broadcast",
        lambda x, m: x.masked_select(m),
        V,
        np.array([[True], [False], [True]]),
        reference=lambda x, m: np.concatenate([x, x]),
    ),
]

CHANGING = [
    Sample("index_add", lambda x, s, i: x.index_add(1, i, s), X, S, K, reference=lambda x, s, i: added(x, 1, i, s)),
    Sample(
        "index_add with repeats",
        lambda x, s, i: x.index_add(0, i, s, alpha=3),
        M,
        randn(3, 4),
        I,
        reference=lambda x, s, i: added(x, 0, i, s, 3),
    ),
    Sample(
        "index_copy", lambda x, s, i: x.index_copy(1, i, s), X, S, K, reference=lambda x, s, i: replaced(x, 1, i, s)
    ),
    Sample(
        "index_fill",
        lambda x, v, i: x.index_fill(1, i, v),
        X,
        randn(),
        K,
        reference=lambda x, v, i: replaced(x, 1, i, v),
    ),
    Sample(
        "index_put",
        lambda x, v, i, j: x.index_put((i, j), v),
        M,
        randn(3),
        np.array([0, 1, 2]),
        np.array([3, 3, -2]),
        reference=lambda x, v, i, j: written(x, (i, j), v),
    ),
    Sample(
        "index_put, accumulating",
        lambda x, v, i: x.index_put((i,), v, accumulate=True),
        M,
        randn(4),
        I,
        reference=lambda x, v, i: added(x, 0, i, np.broadcast_to(v, (3, 4))),
    ),
    Sample(
        "put",
        lambda x, s, i: x.put(i, s),
        M,
        randn(3),
        np.array([0, 5, -1]),
        reference=lambda x, s, i: written(x.reshape(-1), i, s).reshape(3, 4),
    ),
    Sample(
        "put, accumulating",
        lambda x, s, i: x.put(i, s, True),
        M,
        randn(3),
        np.array([0, 5, 5]),
        reference=lambda x, s, i: added(x.reshape(-1), 0, i, s).reshape(3, 4),
    ),
    Sample(
        "masked_fill",
        lambda x, v, m: x.masked_fill(m, v),
        M,
        randn(),
        MASK,
        reference=lambda x, v, m: np.where(m, v, x),
    ),
    Sample(
        "masked_fill, broadcast",
        lambda x, v, m: x.masked_fill(m, v),
        randn(4),
        randn(),
        MASK,
        reference=lambda x, v, m: np.where(m, v, x),
    ),
    Sample(
        "masked_scatter",
        lambda x, s, m: x.masked_scatter(m, s),
        M,
        randn(6),
        MASK,
        reference=lambda x, s, m: written(x, m, s[:5]),
    ),
    Sample(
        "select_scatter",
        lambda x, s: tp.select_scatter(x, s, 1, -1),
        M,
        randn(3),
        reference=lambda x, s: written(x, (slice(None), slice(3, 4)), s[:, None]),
    ),
    Sample(
        "slice_scatter",
        lambda x, s: tp.slice_scatter(x, s, 1, 0, None, 2),
        M,
        randn(3, 2),
        reference=lambda x, s: written(x, (slice(None), slice(0, None, 2)), s),
    ),
    Sample(
        "scatter",
        lambda x, s, i: x.scatter(0, i, s),
        M,
        D,
        np.array([[0, 2, 1, 0], [2, 1, 0, 1]]),
        reference=lambda x, s, i: scattered(x, i, s)[0],
    ),
    Sample(
        "scatter of a number",
        lambda x, v, i: x.scatter(0, i, v),
        M,
        randn(),
        G[:1],
        reference=lambda x, v, i: scattered(x, i, np.broadcast_to(v, i.shape))[0],
    ),
    Sample(
        "scatter_add",
        lambda x, s, i: x.scatter_add(0, i, s),
        M,
        D,
        G,
        reference=lambda x, s, i: scattered(x, i, s, np.add)[0],
    ),
    Sample(
        "scatter_add of fewer",
        lambda x, s, i: x.scatter_add(0, i, s),
        M,
        randn(3, 4),
        G[:, :2],
        reference=lambda x, s, i: scattered(x, i, s, np.add)[0],
    ),
    *(
        Sample(
            f"scatter_reduce by {reduce}{', without self' * (not own)}",
            lambda x, s, i, reduce=reduce, own=own: x.scatter_reduce(0, i, s, reduce, include_self=own),
            M,
            D,
            G,
            reference=lambda x, s, i, reduce=reduce, own=own: reduced(x, i, s, reduce, own),
        )
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
    ),
    *(
        Sample(
            f"index_reduce by {reduce}",
            lambda x, s, i, reduce=reduce: x.index_reduce(0, i, s, reduce),
            M,
            randn(3, 4, seed=8),
            I,
            reference=lambda x, s, i, reduce=reduce: reduced(x, np.repeat(i[:, None], 4, 1), s, reduce),
        )
        for reduce in ("prod", "mean", "amax", "amin")
    ),
    Sample(
        "product with one zero factor",
        lambda x, s, i: x.scatter_reduce(0, i, s, "prod"),
        M,
        D * (np.arange(8) != 2).reshape(2, 4),
        G,
        reference=lambda x, s, i: reduced(x, i, s, "prod"),
    ),
]

SAMPLES = READING + WRITING + MORE + SELECTING + CHANGING
