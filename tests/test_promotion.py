"""Promotion against a table of PyTorch's answers, made by tools/make_promotion_table.py."""

import json
from itertools import permutations
from pathlib import Path

import pytest

from tensorplay.core import dtype as dt
from tensorplay.core.dtype import bool as bool_
from tensorplay.core.dtype import complex64, complex128, float16, float32, float64, int32, int64, uint8, uint16
from tensorplay.core.promotion import can_cast, promote, promote_types

TABLE = json.loads((Path(__file__).parent / "data" / "promotion.json").read_text())
PYTHON_TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}


@pytest.fixture
def default_dtype(request):
    before = dt.get_default_dtype()
    dt.set_default_dtype(getattr(dt, request.param))
    yield request.param
    dt.set_default_dtype(before)


def name_or_none(function, *args):
    try:
        return function(*args).name
    except RuntimeError as error:
        assert "Promotion for uint16, uint32, uint64 types is not supported" in str(error)
        return None


def operand(name, priority):
    return (getattr(dt, name) if priority else dt.as_dtype(PYTHON_TYPES[name])), priority


def test_promote_types_is_pytorchs_for_all_pairs():
    assert TABLE["dtypes"] == list(TABLE["promote_types"]) == [d.name for d in dt.ALL]
    for a, row in TABLE["promote_types"].items():
        assert [name_or_none(promote_types, getattr(dt, a), b) for b in dt.ALL] == row, a


def test_can_cast_is_pytorchs_for_all_pairs():
    assert list(TABLE["can_cast"]) == [d.name for d in dt.ALL]
    for a, row in TABLE["can_cast"].items():
        assert [can_cast(getattr(dt, a), b) for b in dt.ALL] == row, a


@pytest.mark.parametrize("default_dtype", ["float16", "float32", "float64"], indirect=True)
def test_promote_is_pytorchs_for_all_pairs_and_priorities(default_dtype):
    names = (TABLE["scalars"], TABLE["dtypes"], TABLE["dtypes"])
    tables = TABLE[f"result_type {default_dtype}"]
    assert len(tables) == (9 if default_dtype == "float32" else 5)
    for priorities, rows in tables.items():
        p, q = map(int, priorities.split())
        assert list(rows) == names[p]
        for a, row in rows.items():
            assert [name_or_none(promote, [operand(a, p), operand(b, q)]) for b in names[q]] == row, (priorities, a)


@pytest.mark.parametrize("default_dtype", ["bfloat16"], indirect=True)
def test_bfloat16_as_default_promotes_complex_numbers_to_complex64(default_dtype):
    assert promote([(int64, 2), (dt.default_complex(), 0)]) is complex64


@pytest.mark.parametrize(
    "operands, expected",
    [
        ([(float32, 2)], float32),
        ([(float64, 2), (int64, 1), (complex64, 0)], complex128),
        ([(int32, 2), (float64, 1), (complex64, 0)], complex128),
        ([(bool_, 2), (uint8, 1), (int64, 0)], uint8),
        ([(float16, 2), (float32, 2), (float64, 1)], float32),
        ([(int32, 2), (int64, 2), (float32, 0)], float32),
        ([(uint16, 2), (float32, 1), (complex64, 0)], complex64),
    ],
)
def test_more_or_fewer_than_two_operands_promote_in_any_order(operands, expected):
    for permuted in permutations(operands):
        assert promote(permuted) is expected
        assert promote(iter(permuted)) is expected


def test_python_types_name_dtypes_of_fixed_width():
    assert promote_types(float, int32) is float64
    assert promote_types(complex64, complex) is complex128
    assert promote_types(bool, bool) is bool_
    assert can_cast(int, float32) is True
    assert can_cast(float32, int) is False


@pytest.mark.parametrize(
    "function, args, message",
    [
        (
            promote_types,
            (float32, 3),
            r"promote_types\(\): argument 'type2' \(position 2\) must be tensorplay.dtype, not int",
        ),
        (
            promote_types,
            ([], int32),
            r"promote_types\(\): argument 'type1' \(position 1\) must be tensorplay.dtype, not list",
        ),
        (
            can_cast,
            ("float32", int32),
            r"can_cast\(\): argument 'from_' \(position 1\) must be tensorplay.dtype, not str",
        ),
        (can_cast, (int32, None), r"can_cast\(\): argument 'to' \(position 2\) must be tensorplay.dtype, not NoneType"),
    ],
)
def test_what_is_not_a_dtype_raises(function, args, message):
    with pytest.raises(TypeError, match=message):
        function(*args)


def test_wide_unsigned_types_do_not_mix():
    with pytest.raises(RuntimeError, match="attempted to promote tensorplay.uint16 and tensorplay.int32; convert"):
        promote([(uint16, 2), (int32, 2)])
    with pytest.raises(RuntimeError, match="attempted to promote tensorplay.bool and tensorplay.uint16; convert"):
        promote([(bool_, 2), (uint16, 1)])


def test_no_operands_raise():
    with pytest.raises(ValueError, match="no operands"):
        promote([])
