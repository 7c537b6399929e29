"""Printing against a table of what PyTorch prints, made by tools/make_printing_table.py."""

import json
from pathlib import Path

import numpy as np
import pytest

from tensorplay.core import dtype as dt
from tensorplay.core.printing import get_printoptions, meta_str, printoptions, set_printoptions, tensor_str

CASES = json.loads((Path(__file__).parent / "data" / "printing.json").read_text())
DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


@pytest.fixture(autouse=True)
def restore():
    before = dt.get_default_dtype()
    yield
    dt.set_default_dtype(before)
    set_printoptions(profile="default")


def array_of(case):
    d = getattr(dt, case["dtype"])
    if d.is_complex:
        values = np.array(case["values"], d.to_real().numpy).view(d.numpy)
    else:
        values = np.array(case["values"], np.float64 if d.category == 2 else d.numpy).astype(d.numpy)
    return np.resize(values, case["shape"]), d


def text_of(case):
    array, d = array_of(case)
    kind = case.get("kind", "plain")
    prefix = "Parameter containing:\ntensor(" if kind.endswith("parameter") else "tensor("
    suffixes = case.get("suffixes", [])
    dt.set_default_dtype(getattr(dt, case.get("default", "float32")))
    with printoptions(**case.get("options", {})):
        if kind.startswith("meta"):
            return meta_str(array.shape, dtype=d, suffixes=suffixes, prefix=prefix)
        return tensor_str(array, dtype=d, suffixes=suffixes, prefix=prefix)


def test_the_table_has_every_dtype_and_kind():
    assert len(CASES) > 300
    assert {case["dtype"] for case in CASES} == {d.name for d in dt.ALL}
    assert {case.get("kind", "plain") for case in CASES} >= {"plain", "grad", "result", "parameter", "meta"}


@pytest.mark.parametrize("number", range(len(CASES)))
def test_tensors_print_as_in_pytorch(number):
    case = CASES[number]
    assert text_of(case) == case["text"]


@pytest.mark.parametrize("case", [c for c in CASES if len(c["shape"]) > 1][::7], ids=lambda c: str(c["shape"]))
def test_strides_do_not_show(case):
    array, d = array_of(case)
    with printoptions(**case.get("options", {})):
        expected = tensor_str(array, dtype=d)
        assert tensor_str(np.asfortranarray(array), dtype=d) == expected
        assert tensor_str(array[::-1][::-1], dtype=d) == expected


def test_summarising_costs_no_memory():
    array = np.broadcast_to(np.float32(1), (10**6, 10**6))
    assert tensor_str(array, dtype=dt.float32).splitlines() == [
        "tensor([[1., 1., 1.,  ..., 1., 1., 1.],",
        *["        [1., 1., 1.,  ..., 1., 1., 1.],"] * 2,
        "        ...,",
        *["        [1., 1., 1.,  ..., 1., 1., 1.],"] * 2,
        "        [1., 1., 1.,  ..., 1., 1., 1.]])",
    ]


@pytest.mark.parametrize("bits, d", [(np.uint32(0x7FA00000), dt.float32), (np.uint16(0x7FA0), dt.bfloat16)])
def test_signalling_nans_print_without_a_warning(bits, d):
    array = np.array([bits]).view(d.numpy)
    assert tensor_str(array, dtype=d).startswith("tensor([nan]")


def test_the_array_is_left_as_it_was():
    array = np.arange(2000.0)
    before = array.copy()
    array.flags.writeable = False
    tensor_str(array, dtype=dt.float64)
    assert (array == before).all()


def test_a_device_comes_before_size_and_dtype():
    text = tensor_str(
        np.zeros((0, 2)), dtype=dt.float64, suffixes=["requires_grad=True", "device='cuda:0'"], prefix="tensor("
    )
    assert text == "tensor([], device='cuda:0', size=(0, 2), dtype=tensorplay.float64,\n       requires_grad=True)"


def test_the_last_line_of_the_prefix_sets_the_indentation():
    text = tensor_str(np.eye(2, dtype="float32"), dtype=dt.float32, prefix="A\nlonger title:\nbuffer(")
    assert text == "A\nlonger title:\nbuffer([[1., 0.],\n        [0., 1.]])"


def test_options_are_kept_until_set_again():
    assert get_printoptions() == DEFAULTS
    set_printoptions(2, 10, 1, 60, sci_mode=True)
    assert get_printoptions() == {"precision": 2, "threshold": 10, "edgeitems": 1, "linewidth": 60, "sci_mode": True}
    set_printoptions(precision=3)
    assert get_printoptions() == {"precision": 3, "threshold": 10, "edgeitems": 1, "linewidth": 60, "sci_mode": None}
    set_printoptions(profile="Short", linewidth=50)
    assert get_printoptions() == {**DEFAULTS, "precision": 2, "edgeitems": 2, "linewidth": 50}
    set_printoptions(profile="full")
    assert get_printoptions() == {**DEFAULTS, "threshold": float("inf")}
    set_printoptions(profile="default")
    assert get_printoptions() == DEFAULTS


def test_printoptions_nest_and_end_also_with_an_exception():
    with printoptions(precision=2):
        with pytest.raises(KeyError), printoptions(linewidth=30, sci_mode=False):
            assert get_printoptions() == {**DEFAULTS, "precision": 2, "linewidth": 30, "sci_mode": False}
            raise KeyError
        assert get_printoptions() == {**DEFAULTS, "precision": 2}
    assert get_printoptions() == DEFAULTS


@pytest.mark.parametrize(
    "option, error, message",
    [
        ({"precision": -1}, ValueError, "'precision' must not be negative, but it is -1"),
        ({"precision": 2.5}, TypeError, "'precision' must be int, not float"),
        ({"threshold": float("nan")}, ValueError, "'threshold' must not be negative, but it is nan"),
        ({"threshold": "all"}, TypeError, "'threshold' must be a number, not str"),
        ({"edgeitems": "3"}, TypeError, "'edgeitems' must be int, not str"),
        ({"linewidth": -80}, ValueError, "'linewidth' must not be negative, but it is -80"),
        ({"profile": "long"}, ValueError, "'profile' must be one of 'default', 'short', 'full', not 'long'"),
        ({"profile": 3}, ValueError, "'profile' must be one of 'default', 'short', 'full', not 3"),
        ({"sci_mode": "yes"}, TypeError, "'sci_mode' must be bool or None, not str"),
    ],
)
def test_unusable_options_raise_and_change_nothing(option, error, message):
    set_printoptions(precision=6)
    before = get_printoptions()
    with pytest.raises(error, match=rf"set_printoptions\(\): argument {message}"):
        set_printoptions(**{"linewidth": 100, **option})
    with pytest.raises(error), printoptions(**option):
        pytest.fail("the block must not run")
    assert get_printoptions() == before
