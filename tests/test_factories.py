"""Making tensors: what dtype data get, what the options do, which errors come when it cannot be."""

import array

import numpy as np
import pytest

import tensorplay as tp


def check(t, values, dtype):
    assert t.dtype is dtype
    np.testing.assert_array_equal(t.detach().numpy(), np.asarray(values).astype(t.numpy().dtype))
    assert list(t.shape) == list(np.shape(values))


# ---- tensor(data)


@pytest.mark.parametrize(
    "data, dtype, values",
    [
        (3, tp.int64, 3),
        (2.5, tp.float32, 2.5),
        (True, tp.bool, True),
        (1 + 2j, tp.complex64, 1 + 2j),
        ([], tp.float32, []),
        ([[], []], tp.float32, np.zeros((2, 0))),
        ([1, 2], tp.int64, [1, 2]),
        ((1, 2.5), tp.float32, [1, 2.5]),
        ([True, 2], tp.int64, [1, 2]),
        ([True, 2.5], tp.float32, [1, 2.5]),
        ([1, 2j], tp.complex64, [1, 2j]),
        ([[1, 2], (3, 4)], tp.int64, [[1, 2], [3, 4]]),
        (range(3), tp.int64, [0, 1, 2]),
        (2**63 - 1, tp.int64, 2**63 - 1),
        (1e300, tp.float32, np.inf),
        (np.float64(1), tp.float64, 1),
        ([np.float64(1)], tp.float64, [1]),
        ([np.int8(1), np.int16(2)], tp.int16, [1, 2]),
        ([np.int8(1), 2], tp.int64, [1, 2]),
        ([np.float16(1), 2.0], tp.float32, [1, 2]),
        ([np.bool_(True)], tp.bool, [True]),
        (np.arange(3, dtype=np.uint8), tp.uint8, [0, 1, 2]),
        (np.arange(3.0)[::-1], tp.float64, [2, 1, 0]),
        (np.array(1.5), tp.float64, 1.5),
        ([np.array([1, 2], np.int8), np.array([3, 4], np.int16)], tp.int16, [[1, 2], [3, 4]]),
        ([tp.tensor(1, dtype=tp.int32), 1.5], tp.float32, [1, 1.5]),
        ([tp.tensor([1.0], dtype=tp.float64), 2], tp.float64, [1, 2]),
        (tp.tensor([1, 2], dtype=tp.int8), tp.int8, [1, 2]),
    ],
)
def test_the_dtype_of_data_is_inferred(data, dtype, values):
    check(tp.tensor(data), values, dtype)


@pytest.mark.parametrize(
    "data, dtype, values",
    [
        ([1, 2], tp.float64, [1, 2]),
        (1.5, tp.int64, 1),
        ([1.9, -1.9], tp.int32, [1, -1]),
        (-1, tp.uint8, 255),
        ([0, 2], tp.bool, [False, True]),
        (2**63, tp.float32, 2.0**63),
        (2**63, tp.uint64, 2**63),
        ([2**64], tp.float64, [2.0**64]),
        (1e10, tp.float16, np.inf),
        ([1, 2], float, [1, 2]),
        ([1.5], int, [1]),
        ([1], complex, [1 + 0j]),
        (np.array([300]), tp.uint8, [44]),
        (1.5, tp.bfloat16, 1.5),
        ([1, tp.tensor(2)], tp.bfloat16, [1, 2]),
    ],
)
def test_data_take_the_dtype_asked_for(data, dtype, values):
    python_types = {float: tp.float64, int: tp.int64, complex: tp.complex128}
    check(tp.tensor(data, dtype=dtype), values, python_types.get(dtype, dtype))


def test_python_floats_become_the_default_dtype():
    tp.set_default_dtype(tp.float64)
    assert tp.tensor([1.0]).dtype is tp.float64 and tp.tensor(1j).dtype is tp.complex128
    assert tp.zeros(1).dtype is tp.full((1,), 0.5).dtype is tp.arange(1.0).dtype is tp.rand(1).dtype is tp.float64


@pytest.mark.parametrize(
    "data, dtype, error, message",
    [
        ([[1, 2], [1]], None, ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([[1], [1, 2]], None, ValueError, r"expected sequence of length 1 at dim 1 \(got 2\)"),
        ([[[1, 2], [1, 2]], [[1, 2], [1]]], None, ValueError, r"expected sequence of length 2 at dim 2 \(got 1\)"),
        ([[1], 2], None, TypeError, "not a sequence"),
        ([1, [2]], None, TypeError, "'list' object cannot be interpreted"),
        ("a", None, TypeError, "invalid data type 'str'"),
        (b"a", None, TypeError, "invalid data type 'bytes'"),
        ([1, "a"], None, TypeError, "invalid data type 'str'"),
        (None, None, RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, None, RuntimeError, "Could not infer dtype of dict"),
        ([object()], None, RuntimeError, "Could not infer dtype of object"),
        (2**63, None, ValueError, "Overflow when unpacking long long"),
        ([1, 2**63], None, ValueError, "Overflow when unpacking long long"),
        ([2**63, -1], None, ValueError, "Overflow when unpacking long long"),
        (300, tp.uint8, RuntimeError, "cannot be converted to type uint8 without overflow"),
        ([300], tp.int8, RuntimeError, "cannot be converted to type int8 without overflow"),
        (float("nan"), tp.int32, RuntimeError, "cannot be converted to type int32 without overflow"),
        (1j, tp.float32, TypeError, "must be real number, not complex"),
        ([1j], tp.int64, TypeError, "'complex' object cannot be interpreted as an integer"),
        ([tp.zeros(2), tp.zeros(2)], None, ValueError, "only one element tensors .* use stack"),
        (np.array(["a"]), None, TypeError, "can't convert np.ndarray of type"),
        (np.array([1], ">i4"), None, ValueError, "byte order"),
        ([1], "float32", TypeError, r"tensor\(\): argument 'dtype'"),
        ([1], np.float32, TypeError, r"tensor\(\): argument 'dtype'"),
    ],
)
def test_data_that_are_no_tensor_are_refused(data, dtype, error, message):
    with pytest.raises(error, match=message):
        tp.tensor(data, dtype=dtype)


def test_a_tensor_copies_its_data():
    a = np.zeros(2)
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    copies = tp.tensor(a), tp.tensor(x)
    a[0] = 5
    check(copies[0], [0, 0], tp.float64)
    assert not copies[1].requires_grad and copies[1].data_ptr() != x.data_ptr()


def test_a_copy_inside_vmap_stays_a_batch():
    out = tp.vmap(lambda x: tp.tensor(x, dtype=tp.float64) + 1)(tp.arange(3.0))
    check(out, [1, 2, 3], tp.float64)
    with pytest.raises(RuntimeError, match="vmap.*stack"):
        tp.vmap(lambda x: tp.tensor([x, x]))(tp.arange(3.0))


def test_million_numbers_in_a_list():
    check(tp.tensor(list(range(10**6))), np.arange(10**6), tp.int64)


# ---- options


@pytest.mark.parametrize("make", [tp.zeros, tp.ones, tp.empty, tp.rand, tp.randn])
def test_sizes_come_one_by_one_or_together(make):
    for t in (make(2, 3), make((2, 3)), make([2, 3]), make(size=(2, 3)), make(tp.Size([2, 3])), make(np.int64(2), 3)):
        assert t.shape == (2, 3) and t.dtype is tp.float32
    assert make(()).shape == () and make(0).shape == (0,) and make(tp.tensor(2)).shape == (2,)
    with pytest.raises(TypeError, match="missing"):
        make()


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: tp.zeros(2.5), TypeError, "argument 'size'"),
        (lambda: tp.zeros(True), TypeError, "argument 'size'"),
        (lambda: tp.zeros("a"), TypeError, "argument 'size'"),
        (lambda: tp.zeros((2, 3), 4), TypeError, "argument 'size'"),
        (lambda: tp.ones(2, -1), RuntimeError, "Dimension size must be non-negative"),
        (lambda: tp.zeros(2, dtype="a"), TypeError, "argument 'dtype'"),
        (lambda: tp.zeros(2, device="moon"), RuntimeError, "device type at start of device string: moon"),
        (lambda: tp.zeros(2, device=0), RuntimeError, "accelerator"),
        (lambda: tp.zeros(2, layout="coo"), TypeError, "layout"),
        (lambda: tp.zeros(2, pin_memory=True), RuntimeError, "pin_memory"),
        (lambda: tp.zeros(2, dtype=tp.int64, requires_grad=True), RuntimeError, "floating point and complex"),
        (lambda: tp.zeros(2, out=tp.empty(2), dtype=tp.int64), RuntimeError, "does not match dtype of out parameter"),
        (lambda: tp.zeros(2, out=3), TypeError, "argument 'out'"),
        (lambda: tp.empty(2, 3, memory_format=tp.channels_last), RuntimeError, "required rank 4"),
        (lambda: tp.empty(2, memory_format=tp.preserve_format), RuntimeError, "unsupported memory format"),
        (lambda: tp.empty(2, memory_format=3), TypeError, "memory_format"),
        (lambda: tp.full(2, 1), TypeError, "argument 'size'"),
        (lambda: tp.full((2,), "a"), TypeError, "argument 'fill_value'"),
        (lambda: tp.full((2,), tp.zeros(1)), TypeError, "argument 'fill_value'"),
        (lambda: tp.full((2,), 1j, dtype=tp.float32), RuntimeError, "without overflow"),
        (lambda: tp.full((2,), 300, dtype=tp.uint8), RuntimeError, "without overflow"),
        (lambda: tp.zeros_like([1]), TypeError, "argument 'input'"),
        (lambda: tp.eye(-1), RuntimeError, "n must be greater or equal to 0"),
        (lambda: tp.eye(2, -1), RuntimeError, "m must be greater or equal to 0"),
        (lambda: tp.eye(2.5), TypeError, "argument 'n'"),
        (lambda: tp.arange(), TypeError, "'end'"),
        (lambda: tp.arange(1, 5, -1), RuntimeError, "inconsistent with step sign"),
        (lambda: tp.arange(1, 5, 0), RuntimeError, "step must be nonzero"),
        (lambda: tp.arange(0, 1, 0.1, dtype=tp.int64), ValueError, "step must be nonzero"),
        (lambda: tp.arange(float("nan")), RuntimeError, "unsupported range"),
        (lambda: tp.empty(2**62, 8), RuntimeError, r"allocate memory: \d+ bytes for sizes=\[4611686018427387904, 8\]"),
        (lambda: tp.zeros(2**40, 2**40), RuntimeError, "can't allocate memory"),
        (lambda: tp.full((2**60,), 1.0), RuntimeError, "can't allocate memory"),
        (lambda: tp.rand(2**60), RuntimeError, "can't allocate memory"),
        (lambda: tp.arange("a"), TypeError, "argument 'end'"),
        (lambda: tp.arange(2, dtype=tp.bool), NotImplementedError, "not implemented for bool"),
        (lambda: tp.linspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
        (lambda: tp.linspace(0, 1, 2.5), TypeError, "argument 'steps'"),
        (lambda: tp.linspace(0, 1j, 3, dtype=tp.float32), RuntimeError, "can't be safely cast"),
        (lambda: tp.linspace(tp.zeros(1), 1, 3), RuntimeError, "0-dimensional start and end"),
        (lambda: tp.empty_strided((2, 3), (1,)), RuntimeError, "dimensionality of sizes"),
        (lambda: tp.empty_strided((2, 3), (-1, 2)), RuntimeError, "non-negative"),
        (lambda: tp.empty_permuted((2, 3), (0, 0)), RuntimeError, "Duplicate dim"),
        (lambda: tp.empty_permuted((2, 3), (0,)), RuntimeError, "does not match the length"),
    ],
)
def test_arguments_that_cannot_be_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_options_of_dtype_device_and_gradients():
    check(tp.zeros(2, dtype=tp.int8), [0, 0], tp.int8)
    check(tp.ones(2, dtype=float), [1, 1], tp.float64)
    assert tp.zeros(2, requires_grad=True).is_leaf and tp.zeros(2, requires_grad=True).requires_grad
    assert tp.zeros(2, device="meta", layout=tp.strided, pin_memory=False).is_meta
    assert tp.zeros(2, device=tp.device("cpu:0")).device == tp.device("cpu")


def test_the_default_device_is_where_factories_put_tensors():
    with tp.device("meta"):
        assert tp.zeros(2).is_meta and tp.tensor([1]).is_meta and tp.arange(3).is_meta and tp.rand(2).is_meta
        with tp.device("cpu"):
            assert not tp.eye(2).is_meta
        assert not tp.zeros(2, device="cpu").is_meta
        assert not tp.ones_like(tp.zeros(2, device="cpu")).is_meta
    assert not tp.zeros(2).is_meta
    tp.set_default_device("meta")
    assert tp.ones(2).is_meta and tp.get_default_device() == tp.device("meta")


def test_out_receives_what_a_factory_makes_in_its_own_dtype():
    out = tp.empty(0, dtype=tp.int64)
    assert tp.ones(2, out=out) is out
    check(out, [1, 1], tp.int64)
    out = tp.empty(3)
    tp.arange(3, out=out)
    check(out, [0, 1, 2], tp.float32)
    tp.linspace(0, 4, 3, out=out)
    check(out, [0, 2, 4], tp.float32)


# ---- constants and ranges


@pytest.mark.parametrize(
    "t, values, dtype",
    [
        (tp.full((2,), 1), [1, 1], tp.int64),
        (tp.full((2,), True), [True, True], tp.bool),
        (tp.full((2,), 1j), [1j, 1j], tp.complex64),
        (tp.full((2,), tp.tensor(2.5)), [2.5, 2.5], tp.float32),
        (tp.full((2,), 1.5, dtype=tp.int64), [1, 1], tp.int64),
        (tp.full_like(tp.zeros(2, dtype=tp.int64), 1.5), [1, 1], tp.int64),
        (tp.full_like(tp.zeros(2), True), [1, 1], tp.float32),
        (tp.scalar_tensor(3), 3, tp.float32),
        (tp.scalar_tensor(3.5, dtype=tp.int32), 3, tp.int32),
        (tp.arange(5), range(5), tp.int64),
        (tp.arange(5.0), range(5), tp.float32),
        (tp.arange(1, 5), [1, 2, 3, 4], tp.int64),
        (tp.arange(end=3), [0, 1, 2], tp.int64),
        (tp.arange(5, 1, -2), [5, 3], tp.int64),
        (tp.arange(0, 3, 0.5, dtype=tp.int32), [0] * 6, tp.int32),
        (tp.arange(0, 3, 1.5, dtype=tp.int16), [0, 1], tp.int16),
        (tp.arange(0, 3, 1.5, dtype=tp.int64), [0, 1, 2], tp.int64),
        (tp.arange(5.9, 1, -1.5, dtype=tp.uint8), [5, 4, 3, 2], tp.uint8),
        (tp.arange(1, 2, 0.5), [1, 1.5], tp.float32),
        (tp.arange(True), [0], tp.int64),
        (tp.arange(tp.tensor(3)), [0, 1, 2], tp.int64),
        (tp.arange(0, 5, 1.5, dtype=tp.int64), range(5), tp.int64),
        (tp.arange(2**62, 2**62 + 2), [2**62, 2**62 + 1], tp.int64),
        (tp.arange(5, dtype=tp.float16), range(5), tp.float16),
        (tp.arange(0, dtype=tp.float64), [], tp.float64),
        (tp.linspace(0, 1, 5, dtype=tp.float64), [0, 0.25, 0.5, 0.75, 1], tp.float64),
        (tp.linspace(0, 10, 5, dtype=tp.int64), [0, 2, 5, 7, 10], tp.int64),
        (tp.linspace(3, 5, 1), [3], tp.float32),
        (tp.linspace(3, 5, 0), [], tp.float32),
        (tp.linspace(0, 1j, 3), [0, 0.5j, 1j], tp.complex64),
        (tp.linspace(tp.tensor(0), 4, 3), [0, 2, 4], tp.float32),
        (tp.logspace(0, 2, 3), [1, 10, 100], tp.float32),
        (tp.logspace(0, 2, 3, base=2, dtype=tp.int64), [1, 2, 4], tp.int64),
        (tp.logspace(0, 2, 3, base=-2), [1, -2, 4], tp.float32),
        (tp.eye(2, 3), [[1, 0, 0], [0, 1, 0]], tp.float32),
        (tp.eye(2, dtype=tp.bool), [[True, False], [False, True]], tp.bool),
        (tp.tensor([1, 2]).new_zeros(2), [0, 0], tp.int64),
        (tp.tensor([1, 2]).new_ones((2,), dtype=tp.float64), [1, 1], tp.float64),
        (tp.tensor([1, 2]).new_full((2,), 3.5), [3, 3], tp.int64),
        (tp.tensor([1.0]).new_tensor([1, 2]), [1, 2], tp.float32),
        (tp.tensor([1.0]).new_tensor([1, 2], dtype=tp.int8), [1, 2], tp.int8),
        (tp.tensor([1]).new([2, 3]), [2, 3], tp.int64),
        (tp.Tensor([1, 2]), [1, 2], tp.float32),
        (tp.LongTensor([1, 2]), [1, 2], tp.int64),
        (tp.Tensor(), [], tp.float32),
    ],
)
def test_values(t, values, dtype):
    check(t, values, dtype)


def test_range_includes_its_end_and_is_deprecated():
    with pytest.warns(UserWarning, match="arange"):
        check(tp.range(1, 3, 0.5), [1, 1.5, 2, 2.5, 3], tp.float32)


def test_long_ranges_do_not_add_up_errors():
    np.testing.assert_allclose(tp.arange(0, 1000, 0.1, dtype=tp.float64).numpy(), np.arange(10000) / 10, rtol=1e-15)
    x = tp.linspace(-1, 1, 10001, dtype=tp.float64)
    assert x[0] == -1 and x[-1] == 1 and (x + x.numpy()[::-1].copy()).abs().max() < 1e-15


def test_sizes_and_data_of_the_old_constructors():
    assert tp.Tensor(2, 3).shape == tp.Tensor(tp.Size([2, 3])).shape == tp.tensor([1]).new(2, 3).shape == (2, 3)
    assert isinstance(tp.zeros(1), tp.FloatTensor) and not isinstance(tp.zeros(1), tp.LongTensor)
    with pytest.raises(TypeError, match="data must be a sequence"):
        tp.Tensor(1.5)
    tp.set_default_tensor_type("tensorplay.DoubleTensor")
    assert tp.zeros(1).dtype is tp.float64
    with pytest.raises(TypeError, match="floating-point"):
        tp.set_default_tensor_type(tp.LongTensor)


# ---- memory


@pytest.mark.parametrize(
    "t, stride",
    [
        (tp.empty(2, 3, 4, 5, memory_format=tp.channels_last), (60, 1, 15, 3)),
        (tp.empty(2, 3, 4, 5, 6, memory_format=tp.channels_last_3d), (360, 1, 90, 18, 3)),
        (tp.zeros_like(tp.ones(2, 3, 4, 5).permute(3, 1, 0, 2)), (1, 20, 60, 5)),
        (tp.ones_like(tp.ones(2, 3).expand(4, 2, 3)), (6, 3, 1)),
        (tp.ones_like(tp.ones(3, 2).T, memory_format=tp.contiguous_format), (3, 1)),
        (tp.full_like(tp.ones(2, 3, 4, 5), 2, memory_format=tp.channels_last), (60, 1, 15, 3)),
        (tp.rand_like(tp.ones(3, 2).T), (1, 2)),
        (tp.empty_strided((2, 3), (1, 2)), (1, 2)),
        (tp.empty_strided((2, 3), (0, 0)), (0, 0)),
        (tp.zeros(1).new_empty_strided((2, 3), (5, 1)), (5, 1)),
        (tp.empty_permuted((2, 3, 4), (1, 0, 2)), (4, 8, 1)),
        (tp.zeros(2, 3, 4, 5).to(memory_format=tp.channels_last), (60, 1, 15, 3)),
        (tp.zeros(0, 3), (3, 1)),
    ],
)
def test_strides(t, stride):
    assert t.stride() == stride


def test_memory_formats_are_told_apart():
    x = tp.empty(2, 3, 4, 5, memory_format=tp.channels_last)
    assert x.is_contiguous(memory_format=tp.channels_last) and not x.is_contiguous()
    assert x.to(memory_format=tp.channels_last) is x and repr(tp.channels_last) == "tensorplay.channels_last"


def test_like_and_new_follow_the_device_of_the_tensor():
    m = tp.zeros(2, 3, device="meta")
    made = tp.zeros_like(m), tp.rand_like(m), m.new_ones(2), m.new_tensor([1]), tp.full_like(m, 2)
    assert all(t.is_meta for t in made)
    assert not tp.zeros_like(m, device="cpu").is_meta and tp.zeros_like(m, device="cpu").shape == (2, 3)


def test_a_batch_may_fill_a_tensor():
    out = tp.vmap(lambda x: tp.full((2,), x))(tp.arange(3.0))
    check(out, [[0, 0], [1, 1], [2, 2]], tp.float32)
    ends = tp.vmap(lambda a: tp.linspace(0, a, 3))(tp.tensor([2.0, 4.0]))
    check(ends, [[0, 1, 2], [0, 2, 4]], tp.float32)


# ---- sharing memory


def test_from_numpy_and_as_tensor_share_memory():
    a = np.zeros(2)
    tensors = tp.from_numpy(a), tp.as_tensor(a), tp.asarray(a)
    a[0] = 1
    for t in tensors:
        check(t, [1, 0], tp.float64)
    assert tp.as_tensor(a, dtype=tp.float32).dtype is tp.float32
    x = tp.zeros(2)
    assert tp.as_tensor(x) is x and tp.as_tensor([1, 2.0]).dtype is tp.float32


@pytest.mark.parametrize(
    "value, error, message",
    [
        ([1], TypeError, r"expected np.ndarray \(got list\)"),
        (np.float32(1), TypeError, r"expected np.ndarray \(got float32\)"),
        (np.arange(3)[::-1], ValueError, "stride in the given numpy array is negative"),
        (np.zeros(3, ">f4"), ValueError, "byte order"),
        (np.zeros(3, "M8[s]"), TypeError, "can't convert np.ndarray of type"),
        (np.zeros(3, "f4,i2")["f0"], ValueError, "not a multiple of the element byte size"),
    ],
)
def test_arrays_that_tensors_cannot_share(value, error, message):
    with pytest.raises(error, match=message):
        tp.from_numpy(value)


def test_asarray_copies_where_it_must_and_never_when_told_so():
    x = tp.ones(2)
    assert tp.asarray(x) is x and tp.asarray(x, copy=True).data_ptr() != x.data_ptr()
    check(tp.asarray([1, 2]), [1, 2], tp.int64)
    check(tp.asarray(np.float32(2)), 2, tp.float32)
    for call in (lambda: tp.asarray([1, 2], copy=False), lambda: tp.asarray(x, dtype=tp.int32, copy=False)):
        with pytest.raises(ValueError, match="can't alias"):
            call()
    y = x.requires_grad_() * 2
    assert tp.asarray(y) is y and tp.asarray(np.ones(2), requires_grad=True).is_leaf


def test_buffers_are_read_in_place():
    memory = bytearray(b"\x01\x00\x00\x00\x02\x00\x00\x00")
    t = tp.frombuffer(memory, dtype=tp.int32)
    memory[0] = 5
    check(t, [5, 2], tp.int32)
    check(tp.frombuffer(memory, dtype=tp.int32, offset=4), [2], tp.int32)
    check(tp.frombuffer(memory, dtype=tp.int32, count=1), [5], tp.int32)
    check(tp.frombuffer(array.array("d", [1.5]), dtype=tp.float64), [1.5], tp.float64)
    check(tp.asarray(memory, dtype=tp.uint8), list(memory), tp.uint8)


@pytest.mark.parametrize(
    "buffer, options, message",
    [
        (bytearray(8), {"count": 3}, "must not be greater than actual buffer length"),
        (bytearray(8), {"offset": 9}, "offset"),
        (bytearray(8), {"offset": 1}, "must be a multiple of element size"),
        (bytearray(0), {}, "must not be 0"),
        (bytearray(8), {"count": 0}, "must not be 0"),
        (3, {}, "buffer protocol"),
    ],
)
def test_buffers_that_hold_no_such_elements(buffer, options, message):
    with pytest.raises(ValueError, match=message):
        tp.frombuffer(buffer, dtype=tp.int32, **options)


# ---- conversion

CASTS = {
    "bool": tp.bool, "byte": tp.uint8, "char": tp.int8, "short": tp.int16, "int": tp.int32, "long": tp.int64,
    "half": tp.float16, "bfloat16": tp.bfloat16, "float": tp.float32, "double": tp.float64, "cfloat": tp.complex64,
    "cdouble": tp.complex128,
}  # fmt: skip


@pytest.mark.parametrize("method, dtype", CASTS.items())
def test_casting_methods(method, dtype):
    x = tp.tensor([0.0, 1.0, 2.0])
    out = getattr(x, method)()
    assert out.dtype is dtype and getattr(out, method)() is out
    check(out, [0, 1, 2], dtype)


def test_to_takes_dtypes_devices_and_tensors():
    x = tp.tensor([1.5, 2.0])
    assert x.to() is x.to("cpu") is x.to(tp.float32) is x.to(x) is x.to(tp.device("cpu"), tp.float32) is x
    assert x.to(tp.float32, copy=True) is not x and x.to("cpu", copy=True).data_ptr() != x.data_ptr()
    for out in (x.to(tp.int64), x.to("cpu", tp.int64), x.to(device="cpu", dtype=tp.int64), x.to(tp.tensor(1)),
                x.to(tp.int64, non_blocking=True), x.type(tp.int64), x.type("tensorplay.LongTensor"),
                x.type_as(tp.tensor(1))):  # fmt: skip
        check(out, [1, 2], tp.int64)
    assert x.to(float).dtype is tp.float64 and x.to("meta").is_meta and x.type() == "tensorplay.FloatTensor"


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: x.to("moon"), RuntimeError, "device string: moon"),
        (lambda x: x.to(3), RuntimeError, "accelerator"),
        (lambda x: x.to(np.float32), TypeError, "argument 'dtype'"),
        (lambda x: x.to("meta").to("cpu"), NotImplementedError, "Cannot copy out of meta tensor"),
        (lambda x: x.to("meta").cpu(), NotImplementedError, "Cannot copy out of meta tensor"),
        (lambda x: x.to(tp.int64, dtype=tp.int32), TypeError, "multiple values for argument 'dtype'"),
        (lambda x: x.to(color="red"), TypeError, "unexpected keyword argument 'color'"),
        (lambda x: x.to(memory_format=tp.channels_last), RuntimeError, "required rank 4"),
        (lambda x: x.type("FloatTable"), ValueError, "invalid type"),
    ],
)
def test_conversions_that_cannot_be(call, error, message):
    with pytest.raises(error, match=message):
        call(tp.zeros(2))


def test_casting_complex_to_real_warns():
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        check(tp.tensor([1 + 2j]).to(tp.float32), [1], tp.float32)


def test_gradients_pass_through_conversions_in_the_dtype_of_the_input():
    x = tp.ones(1, 2, 1, 1, requires_grad=True)
    for convert in (lambda x: x.double(), lambda x: x.bfloat16(), lambda x: x.to(memory_format=tp.channels_last),
                    lambda x: x.to(tp.complex128).abs(), lambda x: x.to(tp.float32, copy=True)):  # fmt: skip
        (g,) = tp.autograd.grad(convert(x * 2).sum(), x)
        assert g.dtype is tp.float32 and g.flatten().tolist() == [2, 2]
    assert not x.int().requires_grad
