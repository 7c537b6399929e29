"""Element types: identity, attributes, conversion, defaults and limits."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from tensorplay.core import dtype as dt

NAMES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
).split()


@pytest.fixture(autouse=True)
def restore_default():
    before = dt.get_default_dtype()
    yield
    dt.set_default_dtype(before)


def test_the_types_are_the_numeric_ones_of_pytorch():
    assert [d.name for d in dt.ALL] == NAMES
    assert all(getattr(dt, d.name) is d for d in dt.ALL)
    assert [repr(d) for d in dt.ALL] == [f"tensorplay.{name}" for name in NAMES]


def test_aliases_are_the_same_objects():
    expected = {
        "half": dt.float16,
        "float": dt.float32,
        "double": dt.float64,
        "short": dt.int16,
        "int": dt.int32,
        "long": dt.int64,
        "cfloat": dt.complex64,
        "cdouble": dt.complex128,
    }
    assert dt.ALIASES == expected
    assert all(getattr(dt, name) is d for name, d in expected.items())


@pytest.mark.parametrize("d", dt.ALL, ids=str)
def test_copies_and_pickles_are_the_object_itself(d):
    assert copy.copy(d) is d
    assert copy.deepcopy([d])[0] is d
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(d, protocol)) is d
    assert len({d, copy.copy(d)}) == 1


@pytest.mark.parametrize("d", dt.ALL, ids=str)
def test_attributes_agree_with_numpy(d):
    expected = np.dtype(ml_dtypes.bfloat16 if d is dt.bfloat16 else d.name)
    kind = "f" if d is dt.bfloat16 else expected.kind
    assert d.numpy == expected
    assert d.itemsize == expected.itemsize
    assert d.category == {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}[kind]
    assert d.is_floating_point is (kind == "f")
    assert d.is_complex is (kind == "c")
    assert d.is_signed is (kind in "ifc")


@pytest.mark.parametrize(
    "d, real, complex_",
    [
        (dt.float16, dt.float16, dt.complex64),
        (dt.bfloat16, dt.bfloat16, dt.complex64),
        (dt.float32, dt.float32, dt.complex64),
        (dt.float64, dt.float64, dt.complex128),
        (dt.complex64, dt.float32, dt.complex64),
        (dt.complex128, dt.float64, dt.complex128),
    ],
)
def test_to_real_and_to_complex_keep_the_precision(d, real, complex_):
    assert d.to_real() is real
    assert d.to_complex() is complex_


@pytest.mark.parametrize("d", [d for d in dt.ALL if d.category < 2], ids=str)
def test_integers_have_no_complex_type(d):
    assert d.to_real() is d
    with pytest.raises(RuntimeError, match=rf"to_complex\(\): {d} has no complex type"):
        d.to_complex()


def test_no_other_types_can_be_made_or_changed():
    with pytest.raises(TypeError, match="cannot create 'tensorplay.dtype' instances"):
        dt.dtype()
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("mine", (dt.dtype,), {})
    with pytest.raises(AttributeError, match="'itemsize' cannot be set"):
        dt.float32.itemsize = 8
    with pytest.raises(AttributeError, match="'new' cannot be set"):
        dt.float32.new = 8
    with pytest.raises(AttributeError, match="'name' cannot be deleted"):
        del dt.float32.name
    assert (dt.float32.name, dt.float32.itemsize) == ("float32", 4)


@pytest.mark.parametrize("d", dt.ALL, ids=str)
def test_from_numpy_is_the_inverse_of_numpy(d):
    assert dt.from_numpy(d.numpy) is d
    assert dt.from_numpy(d.numpy.type) is d
    assert dt.by_numpy[d.numpy] is d
    assert dt.numpy_dtype(d) is d.numpy


def test_from_numpy_takes_all_names_of_a_width():
    assert dt.from_numpy(np.dtype("longlong")) is dt.int64
    assert dt.from_numpy(np.dtype("intc")) is dt.int32
    assert dt.from_numpy("f4") is dt.float32


@pytest.mark.parametrize("other", [np.dtype("U3"), np.dtype(object), np.dtype("M8[s]"), np.dtype([("a", "f4")])])
def test_from_numpy_refuses_what_holds_no_numbers(other):
    with pytest.raises(
        TypeError, match="can't convert np.ndarray of type .* The only supported types are: bool, uint8,"
    ):
        dt.from_numpy(other)


def test_from_numpy_refuses_a_foreign_byte_order():
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        dt.from_numpy(np.dtype("float32").newbyteorder())


def test_python_numbers_become_the_default_types():
    assert [dt.as_dtype(t) for t in (bool, int, float, complex)] == [dt.bool, dt.int64, dt.float32, dt.complex64]
    dt.set_default_dtype(dt.float64)
    assert [dt.as_dtype(t) for t in (bool, int, float, complex)] == [dt.bool, dt.int64, dt.float64, dt.complex128]
    assert dt.as_dtype(dt.int8) is dt.int8


@pytest.mark.parametrize("x", ["float32", np.float32, np.dtype("f4"), str, None, 3, []])
def test_as_dtype_refuses_anything_else(x):
    with pytest.raises(TypeError, match="dtype must be a tensorplay.dtype or one of Python's"):
        dt.as_dtype(x)


@pytest.mark.parametrize(
    "d, complex_",
    [
        (dt.float16, dt.complex64),
        (dt.bfloat16, dt.complex64),
        (dt.float32, dt.complex64),
        (dt.float64, dt.complex128),
    ],
)
def test_the_default_dtype_can_be_any_floating_one(d, complex_):
    dt.set_default_dtype(d)
    assert dt.get_default_dtype() is d
    assert dt.default_complex() is complex_
    assert dt.numpy_dtype(None) is d.numpy
    assert dt.finfo() == dt.finfo(d)


@pytest.mark.parametrize("x", [dt.int32, dt.bool, dt.complex64, float, "float32", None])
def test_the_default_dtype_cannot_be_anything_else(x):
    before = dt.get_default_dtype()
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        dt.set_default_dtype(x)
    assert dt.get_default_dtype() is before


@pytest.mark.parametrize(
    "d, text",
    [
        (dt.float16, "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, "
                     "tiny=6.10352e-05, dtype=float16)"),
        (dt.bfloat16, "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, "
                      "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=bfloat16)"),
        (dt.complex64, "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
                       "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"),
        (dt.float64, "finfo(resolution=1e-15, min=-1.79769e+308, max=1.79769e+308, eps=2.22045e-16, "
                     "smallest_normal=2.22507e-308, tiny=2.22507e-308, dtype=float64)"),
    ],
)  # fmt: skip
def test_finfo_prints_as_in_pytorch(d, text):
    assert repr(dt.finfo(d)) == text


@pytest.mark.parametrize("d", [d for d in dt.ALL if d.category >= 2], ids=str)
def test_finfo_is_the_format_of_the_numbers(d):
    info, real = dt.finfo(d), d.to_real()
    one = np.ones((), real.numpy)
    assert info.dtype == real.name
    assert info.bits == 8 * real.itemsize
    assert (one + info.eps).astype(real.numpy) > one == (one + info.eps / 4).astype(real.numpy)
    assert np.array(info.max, real.numpy) == info.max == -info.min
    with np.errstate(over="ignore"):
        assert np.isinf(np.array(info.max, real.numpy) * real.numpy.type(2))
    assert info.tiny == info.smallest_normal == np.array(info.tiny, real.numpy) > 0
    assert all(type(getattr(info, name)) is float for name in ("eps", "max", "min", "tiny", "resolution"))


@pytest.mark.parametrize("d", [d for d in dt.ALL if d.category == 1], ids=str)
def test_iinfo_is_the_range_of_the_numbers(d):
    info = dt.iinfo(d)
    assert (info.bits, info.dtype) == (8 * d.itemsize, d.name)
    assert info.max == 2 ** (info.bits - d.is_signed) - 1
    assert info.min == (-info.max - 1 if d.is_signed else 0)
    assert type(info.max) is type(info.min) is type(info.bits) is int


def test_iinfo_prints_as_in_pytorch():
    assert repr(dt.iinfo(dt.uint8)) == "iinfo(min=0, max=255, dtype=uint8)"
    assert repr(dt.iinfo(dt.int64)) == "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"


def test_limits_compare_by_type_and_cannot_be_changed():
    assert dt.finfo(dt.float32) == dt.finfo(dt.complex64) != dt.finfo(dt.float64)
    assert dt.iinfo(dt.int8) == dt.iinfo(dt.int8) != dt.iinfo(dt.uint8)
    assert len({dt.finfo(dt.float32), dt.finfo(dt.complex64), dt.iinfo(dt.int32)}) == 2
    info = dt.finfo(dt.float32)
    with pytest.raises(AttributeError, match="attribute 'eps' of 'tensorplay.finfo' objects is not writable"):
        info.eps = 1.0
    assert info.eps == 2.0**-23


def test_python_types_name_limits_of_fixed_width():
    assert dt.finfo(float) == dt.finfo(complex) == dt.finfo(dt.float64)
    assert dt.iinfo(int) == dt.iinfo(dt.int64)


@pytest.mark.parametrize(
    "function, x, message",
    [
        (dt.finfo, dt.int32, r"finfo\(\) requires a floating point input type.*Use tensorplay.iinfo"),
        (dt.finfo, dt.bool, r"finfo\(\) requires a floating point input type"),
        (dt.finfo, "float32", r"finfo\(\): argument 'type' \(position 1\) must be tensorplay.dtype, not str"),
        (dt.finfo, None, r"finfo\(\): argument 'type' \(position 1\) must be tensorplay.dtype, not NoneType"),
        (dt.iinfo, dt.float32, r"iinfo\(\) requires an integer input type.*Use tensorplay.finfo"),
        (dt.iinfo, dt.bool, r"tensorplay.bool is not supported by tensorplay.iinfo"),
        (dt.iinfo, 3, r"iinfo\(\): argument 'type' \(position 1\) must be tensorplay.dtype, not int"),
    ],
)
def test_limits_of_other_types_raise(function, x, message):
    with pytest.raises(TypeError, match=message):
        function(x)
