"""Operators that return several tensors return named tuples, which print as PyTorch's do."""

import copy
import pickle

import pytest

import tensorplay as tp

X = tp.tensor([[1.0, 5.0], [3.0, 2.0]])
NAMED = {
    "max": (lambda: X.max(1), ("values", "indices")),
    "min": (lambda: X.min(1), ("values", "indices")),
    "aminmax": (lambda: tp.aminmax(X), ("min", "max")),
    "cummax": (lambda: X.cummax(1), ("values", "indices")),
    "cummin": (lambda: X.cummin(1), ("values", "indices")),
    "sort": (lambda: X.sort(), ("values", "indices")),
    "topk": (lambda: X.topk(1), ("values", "indices")),
    "kthvalue": (lambda: X.kthvalue(1), ("values", "indices")),
    "median": (lambda: X.median(1), ("values", "indices")),
    "nanmedian": (lambda: X.nanmedian(1), ("values", "indices")),
    "mode": (lambda: X.mode(1), ("values", "indices")),
    "histogram": (lambda: tp.histogram(X, 2), ("hist", "bin_edges")),
    "histogramdd": (lambda: tp.histogramdd(X, [2, 2]), ("hist", "bin_edges")),
}
each = pytest.mark.parametrize("name", NAMED)


@each
def test_fields_are_the_elements(name):
    call, fields = NAMED[name]
    result = call()
    assert type(result) is getattr(tp.return_types, name)
    assert isinstance(result, tuple) and len(result) == len(fields)
    assert all(getattr(result, field) is part for field, part in zip(fields, result))


@each
def test_the_text_names_the_fields(name):
    call, fields = NAMED[name]
    result = call()
    parts = ",\n".join(f"{field}={part!r}" for field, part in zip(fields, result))
    assert repr(result) == f"tensorplay.return_types.{name}(\n{parts})"


def test_how_a_result_prints():
    assert repr(X.max(1)) == "tensorplay.return_types.max(\nvalues=tensor([5., 3.]),\nindices=tensor([1, 0]))"


@each
def test_results_are_copied_and_pickled(name):
    result = NAMED[name][0]()
    for twin in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert type(twin) is type(result)
        assert repr(twin) == repr(result)


def test_out_receives_and_returns_the_named_tuple():
    out = (tp.empty(2), tp.empty(2, dtype=tp.int64))
    result = tp.sort(X[0], out=out)
    assert type(result) is tp.return_types.sort
    assert result.values is out[0] and result.indices is out[1]
    assert out[0].tolist() == [1, 5] and out[1].tolist() == [0, 1]


def test_transforms_keep_the_names():
    result = tp.vmap(lambda x: x.max(0))(X)
    assert type(result) is tp.return_types.max
    assert result.indices.tolist() == [1, 0]
