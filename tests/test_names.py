"""Names of arguments: the ones that PyTorch's parser takes, and the ones that its documentation gives."""

import inspect

import pytest

import tensorplay as tp

X, B, INDEX = tp.tensor([1.0, 2.0, 4.0]), tp.arange(8.0).reshape(2, 2, 2), tp.tensor([2, 0])
BOTH = [  # method, input, arguments in front, own name, documented name, value
    ("mul", X, (), "other", "value", 3.0),
    ("multiply", X, (), "other", "value", X),
    ("mul_", X, (), "other", "value", 3.0),
    ("div", X, (), "other", "value", 3.0),
    ("div_", X, (), "other", "value", X),
    ("divide", X, (), "other", "value", 3.0),
    ("true_divide", X, (), "other", "value", X),
    ("floor_divide", X, (), "other", "value", 3.0),
    ("floor_divide_", X, (), "other", "value", 3.0),
    ("fmod", X, (), "other", "divisor", 3.0),
    ("remainder_", X, (), "other", "divisor", 3.0),
    ("bmm", B, (), "mat2", "batch2", B),
    ("matmul", B, (), "other", "tensor2", B),
    ("dot", X, (), "tensor", "other", X),
    ("take", X, (), "index", "indices", INDEX),
    ("type_as", X, (), "other", "tensor", INDEX),
    ("where", X, (X > 1,), "other", "y", 0.0),
    ("hsplit", B, (), "indices_or_sections", "split_size_or_sections", 2),
    ("vsplit", B, (), "indices_or_sections", "split_size_or_sections", [1]),
    ("dsplit", B, (), "indices_or_sections", "split_size_or_sections", 2),
    ("index_copy", X, (0, INDEX), "source", "tensor2", X[:2]),
    ("index_copy_", X, (0, INDEX), "source", "tensor", X[:2]),
    ("masked_scatter", X, (X > 1,), "source", "tensor", X),
    ("resize_as_", X, (), "the_template", "tensor", B),
    ("broadcast_to", X, (), "size", "shape", (2, 3)),
]


def values(result):
    return [t.tolist() for t in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("method, x, front, own, documented, value", BOTH, ids=[row[0] for row in BOTH])
def test_an_argument_has_both_names(method, x, front, own, documented, value):
    def call(*more, **keywords):
        return values(getattr(x.clone(), method)(*front, *more, **keywords))

    want = call(value)
    assert call(**{own: value}) == want and call(**{documented: value}) == want
    for more, keywords in (
        ((value,), {documented: value}),
        ((), {own: value, documented: value}),
        ((value,), {"nonsense": 1}),
    ):
        with pytest.raises(TypeError):
            call(*more, **keywords)
    if method not in ("hsplit", "vsplit", "dsplit"):
        with pytest.raises(TypeError):
            call()
    shown = inspect.signature(getattr(tp.Tensor, method)).parameters
    assert documented in shown and own not in shown


def test_a_dimension_has_three_names():
    want = X.narrow(0, 1, 2).tolist()
    for name in ("dim", "dimension", "axis"):
        assert X.narrow(**{name: 0}, start=1, length=2).tolist() == want
    with pytest.raises(TypeError, match="multiple values"):
        X.narrow(0, 1, 2, dimension=0)


@pytest.mark.parametrize("method", ["uniform_", "random_"])
def test_a_keyword_of_python_is_a_name_all_the_same(method):
    draw = getattr(tp.empty(50), method)(**{"from": 3, "to": 5})
    assert bool(((draw >= 3) & (draw < 5)).all())
    assert "from" in inspect.signature(getattr(tp.Tensor, method)).parameters


def test_functions_keep_the_names_of_the_parser():
    assert [*inspect.signature(tp.div).parameters] == ["input", "other", "rounding_mode", "out"]
    assert [*inspect.signature(tp.matmul).parameters] == ["input", "other", "out"]
    assert [*inspect.signature(tp.mul).parameters] == ["input", "other", "out"]
    for call in (
        lambda: tp.mul(X, value=2),
        lambda: X.mul(X, out=X),
        lambda: X.mul_(2, 3),
        lambda: X.bitwise_and_(value=1),
    ):
        with pytest.raises(TypeError):
            call()
    assert X.tolist() == [1, 2, 4]


@pytest.mark.parametrize(
    "method, numbers",
    [("flip", (0, 1)), ("tile", (1, 2)), ("new_zeros", (2, 1)), ("new_ones", (2, 1)), ("new_empty", (2, 1))],
)
def test_sizes_given_one_by_one_are_not_shown(method, numbers):
    call = getattr(B, method)
    assert "more" not in inspect.signature(getattr(tp.Tensor, method)).parameters
    assert call(*numbers).shape == call(numbers).shape
