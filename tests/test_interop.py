"""Tensors and the rest of Python: numbers, NumPy, other libraries, copies, pickles, text."""

import copy
import operator
import pickle
import warnings

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn

BATCH = "vmap.*where"


# ---- numbers


@pytest.mark.parametrize(
    "convert, value, want",
    [
        (float, tp.tensor(1.5), 1.5),
        (float, tp.tensor([[2]]), 2.0),
        (float, tp.tensor(2 + 0j), 2.0),
        (float, tp.tensor(1.5, dtype=tp.bfloat16), 1.5),
        (int, tp.tensor(2.7), 2),
        (complex, tp.tensor(1 + 2j), 1 + 2j),
        (bool, tp.tensor([0.0]), False),
        (bool, tp.tensor(1j), True),
        (operator.index, tp.tensor(3), 3),
        (operator.index, tp.tensor([True]), 1),
        (round, tp.tensor(2.0).item(), 2),
        (tp.Tensor.item, tp.tensor([2.5], dtype=tp.bfloat16), 2.5),
        (tp.Tensor.item, tp.tensor(True), True),
        (tp.Tensor.tolist, tp.tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (tp.Tensor.tolist, tp.tensor(1.5), 1.5),
        (tp.Tensor.tolist, tp.tensor([1.5], dtype=tp.bfloat16), [1.5]),
        (list, range(tp.tensor(2)), [0, 1]),
    ],
)
def test_python_numbers(convert, value, want):
    got = convert(value)
    assert got == want and type(got) is type(want)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: float(tp.zeros(2)), ValueError, "only one element tensors"),
        (lambda: float(tp.zeros(0)), ValueError, "only one element tensors"),
        (lambda: float(tp.tensor(1j)), RuntimeError, "without overflow"),
        (lambda: int(tp.tensor(float("nan"))), ValueError, "NaN"),
        (lambda: int(tp.tensor(float("inf"))), OverflowError, "infinity"),
        (lambda: bool(tp.zeros(0)), RuntimeError, "no values is ambiguous"),
        (lambda: bool(tp.zeros(2)), RuntimeError, "more than one value is ambiguous"),
        (lambda: tp.zeros(2).item(), RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
        (lambda: operator.index(tp.tensor(1.0)), TypeError, "only integer tensors of a single element"),
        (lambda: operator.index(tp.tensor([1, 2])), TypeError, "only integer tensors of a single element"),
        (lambda: tp.zeros(1, device="meta").item(), NotImplementedError, "Cannot copy out of meta tensor"),
        (lambda: tp.zeros(1, device="meta").tolist(), NotImplementedError, "Cannot copy out of meta tensor"),
        (lambda: tp.zeros(1, device="meta").numpy(), TypeError, "meta"),
        (lambda: tp.vmap(lambda x: x if x > 0 else -x)(tp.ones(2)), RuntimeError, BATCH),
        (lambda: tp.vmap(lambda x: x * float(x))(tp.ones(2)), RuntimeError, BATCH),
        (lambda: tp.vmap(lambda x: x * x.numpy())(tp.ones(2)), RuntimeError, BATCH),
        (lambda: tp.is_nonzero(tp.zeros(2)), RuntimeError, "more than one value is ambiguous"),
        (lambda: tp.zeros(1, 2).dim_order(ambiguity_check=True), RuntimeError, "unique dim order"),
        (lambda: tp.zeros(1).pin_memory(), RuntimeError, "accelerator"),
        (lambda: tp.numel(3), TypeError, "argument 'input'"),
        (lambda: tp.result_type("a", 1), TypeError, "argument 'tensor1'"),
    ],
)
def test_values_that_are_no_number(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_dual_is_read_as_its_primal():
    seen = []
    tp.func.jvp(lambda x: seen.append(x.item()) or x * x, (tp.tensor(3.0),), (tp.tensor(1.0),))
    assert seen == [3.0]


@pytest.mark.parametrize(
    "a, b, want",
    [
        (tp.zeros(2), tp.tensor(1, dtype=tp.float64), tp.float32),
        (tp.tensor(1), tp.tensor([1], dtype=tp.int8), tp.int8),
        (tp.tensor([1]), 1.5, tp.float32),
        (1, 1.5, tp.float32),
        (True, 2, tp.int64),
        (tp.zeros(1, dtype=tp.float64), 1j, tp.complex128),
    ],
)
def test_result_type(a, b, want):
    assert tp.result_type(a, b) is want


def test_questions_about_a_tensor():
    x = tp.zeros(2, 3)
    assert tp.is_tensor(x) and not tp.is_tensor(x.numpy()) and tp.numel(x) == 6 and tp.get_device(x) == -1
    assert tp.is_floating_point(x) and not tp.is_complex(x) and tp.is_signed(x) and not tp.is_inference(x)
    assert x.is_same_size(tp.ones(2, 3)) and x.is_set_to(x.detach()) and not x.is_pinned()
    assert x.layout is tp.strided and x.resolve_conj() is x and not x.is_conj() and not x.is_neg()
    assert x.T.dim_order() == x.T.dim_order(ambiguity_check=True) == (1, 0)
    assert x.to_dense() is x and x.to_dense(tp.float64).dtype is tp.float64


# ---- NumPy


def test_numpy_shares_memory_both_ways():
    x = tp.zeros(2)
    x.numpy()[0] = 1
    np.asarray(x)[1] = 2
    x.add_(1)
    assert x.tolist() == [2, 3] and x.numpy().tolist() == [2, 3]
    assert np.array(x).flags.owndata and np.asarray(x, dtype=np.int32).dtype == np.int32
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(x, dtype=np.float64, copy=False)


def test_a_tensor_that_requires_grad_gives_no_array_unless_forced():
    x = tp.ones(2, requires_grad=True)
    for call in (x.numpy, (x * 2).numpy, lambda: np.asarray(x), lambda: np.sin(x)):
        with pytest.raises(RuntimeError, match="requires grad. Use tensor.detach"):
            call()
    assert (x * 2).numpy(force=True).tolist() == [2, 2]


def test_numpy_functions_of_tensors_give_tensors_and_operators_are_ours():
    x, a = tp.tensor([1.0, 2.0]), np.ones(2)
    for out in (np.add(x, a), np.add(a, x), np.exp(x), a + x, x + a, a * x, a - x):
        assert isinstance(out, tp.Tensor)
    assert (a + x).dtype is tp.float64 and (np.float64(2) * x).dtype is tp.float32
    assert isinstance(np.concatenate([x, x]), np.ndarray)
    w = tp.ones(2, requires_grad=True)
    assert (a + w).requires_grad and (a @ w).requires_grad and np.add(a, w).requires_grad
    assert (np.array([1, 2]) & tp.tensor([3, 1])).tolist() == [1, 0] and (a < 2 * x).tolist() == [True, True]
    assert (x @ a).dtype is (a @ x).dtype is tp.float64 and (x @ np.eye(2, dtype=np.float32)).tolist() == [1, 2]
    assert isinstance(np.add.reduce(x), tp.Tensor) and [type(t) for t in np.modf(x)] == [tp.Tensor] * 2


def test_numpy_operators_in_place_write_to_the_array():
    x, a = tp.tensor([1.0, 2.0]), np.ones(2)
    before = a
    a += x
    a *= x
    assert before is a and a.tolist() == [2, 6]
    np.subtract(a, x, out=a)
    np.add.at(a, [0, 0], tp.ones(2))
    assert before.tolist() == [3, 4]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x, a: a.__iadd__(x.requires_grad_()), RuntimeError, "requires grad. Use tensor.detach"),
        (lambda x, a: np.add(a, a, out=x), TypeError, "out is a Tensor"),
        (lambda x, a: x * np.array([1, 2], dtype=object), TypeError, "type object"),
        (lambda x, a: np.array([1, 2], dtype=object) * x, TypeError, "type object"),
        (lambda x, a: x + np.array(["a", "b"]), TypeError, "did not contain a loop"),
        (lambda x, a: x @ [1.0, 2.0], TypeError, "must be Tensor, not list"),
        (lambda x, a: [1.0, 2.0] @ x, TypeError, "must be Tensor, not list"),
        (lambda x, a: tp.vmap(lambda row: a.__iadd__(row))(tp.ones(3, 2)), RuntimeError, "vmap"),
    ],
)
def test_what_tensors_and_arrays_refuse_of_each_other(call, error, message):
    a = np.ones(2)
    with pytest.raises(error, match=message):
        call(tp.tensor([1.0, 2.0]), a)
    assert a.tolist() == [1, 1]


def test_reversed_flips_the_first_dimension():
    assert reversed(tp.tensor([[1, 2], [3, 4]])).tolist() == [[3, 4], [1, 2]] and reversed(tp.tensor(3)).item() == 3


def test_tensors_over_foreign_memory_say_that_they_were_made_in_inference_mode():
    with tp.inference_mode():
        made = tp.from_numpy(np.zeros(2)), tp.as_tensor([1.0]), tp.asarray([1.0]), tp.zeros(1), tp.tensor(1.0)
    assert all(t.is_inference() for t in made) and not tp.from_numpy(np.zeros(2)).is_inference()


def test_numpy_indexes_with_tensors():
    assert np.arange(3)[tp.tensor(1)] == 1 and np.arange(3)[tp.tensor([0, 2])].tolist() == [0, 2]


def test_bfloat16_has_an_array_too():
    x = tp.tensor([1.5], dtype=tp.bfloat16)
    assert tp.from_numpy(x.numpy()).dtype is tp.bfloat16 and x.numpy().astype(float).tolist() == [1.5]


def test_read_only_memory_warns_and_is_never_written():
    a = np.zeros(2)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = tp.from_numpy(a)
    with pytest.raises(RuntimeError, match="read-only"):
        x.add_(1)
    assert a.tolist() == [0, 0] and (x + 1).tolist() == [1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tp.tensor(a).add_(1)


# ---- DLPack


def test_memory_passes_through_dlpack_both_ways():
    a = np.arange(3.0)
    x = tp.from_dlpack(a)
    y = np.from_dlpack(x)
    a[0] = 5
    assert x.tolist() == y.tolist() == [5, 1, 2]
    z = tp.utils.dlpack.from_dlpack(tp.utils.dlpack.to_dlpack(x))
    assert z.data_ptr() == x.data_ptr() and x.__dlpack_device__() == (1, 0)
    assert tp.from_dlpack(a, copy=True).data_ptr() != x.data_ptr()


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: tp.ones(1, requires_grad=True).__dlpack__(), BufferError, "detach"),
        (lambda: tp.zeros(1, device="meta").__dlpack__(), BufferError, "meta"),
        (lambda: tp.zeros(1, device="meta").__dlpack_device__(), BufferError, "meta"),
        (lambda: tp.zeros(1, dtype=tp.bfloat16).__dlpack__(), BufferError, "bfloat16"),
        (lambda: tp.from_dlpack(3), TypeError, "__dlpack__"),
        (lambda: tp.from_dlpack(np.zeros(1), device="meta"), RuntimeError, "device"),
        (lambda: tp.from_dlpack(np.arange(3)[::-1]), ValueError, "negative"),
    ],
)
def test_what_dlpack_cannot_pass(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- copies and pickles


def by_pickle(x):
    return pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("duplicate", [by_pickle, copy.deepcopy], ids=["pickle", "deepcopy"])
class TestDuplicates:
    @pytest.mark.parametrize(
        "x",
        [
            tp.tensor([[1.0, 2.0], [3.0, 4.0]]),
            tp.tensor(3),
            tp.zeros(0, 2),
            tp.tensor([1 + 2j]),
            tp.tensor([1.5], dtype=tp.bfloat16),
            tp.arange(6).reshape(2, 3).T,
            tp.arange(6)[1::2],
            tp.zeros(3).expand(2, 3),
            tp.from_numpy(np.asfortranarray(np.arange(6).reshape(2, 3)))[:, 1:],
        ],
        ids=repr,
    )
    def test_values_strides_and_dtype_are_kept(self, duplicate, x):
        y = duplicate(x)
        assert y.dtype is x.dtype and y.stride() == x.stride() and y.tolist() == x.tolist()
        assert y.data_ptr() != x.data_ptr() or not x.numel()

    def test_views_of_one_memory_share_memory_again(self, duplicate):
        x = tp.zeros(4)
        a, b = duplicate((x, x[1:3]))
        a[1] = 7
        assert b.tolist() == [7, 0] and x.tolist() == [0, 0, 0, 0]

    def test_leaves_require_grad_again(self, duplicate):
        x = duplicate(tp.ones(2, requires_grad=True))
        assert x.requires_grad and x.is_leaf
        (x * x).sum().backward()
        assert x.grad.tolist() == [2, 2]

    def test_parameters_stay_parameters(self, duplicate):
        p = duplicate(nn.Parameter(tp.ones(2)))
        assert type(p) is nn.Parameter and p.requires_grad
        assert not duplicate(nn.Parameter(tp.ones(2), requires_grad=False)).requires_grad

    def test_attributes_are_kept(self, duplicate):
        x = tp.zeros(1)
        x.tag = ["a"]
        y = duplicate(x)
        assert y.tag == ["a"] and y.tag is not x.tag

    def test_meta_tensors(self, duplicate):
        m = duplicate(tp.zeros(2, 3, device="meta", dtype=tp.int8))
        assert m.is_meta and m.shape == (2, 3) and m.dtype is tp.int8

    @pytest.mark.parametrize(
        "x", [tp.float32, tp.Size([2, 3]), tp.channels_last, tp.strided, tp.device("cpu:0")], ids=repr
    )
    def test_what_tensors_are_described_by(self, duplicate, x):
        assert duplicate(x) == x and type(duplicate(x)) is type(x)

    def test_generators_go_on_where_they_were(self, duplicate):
        g = tp.Generator().manual_seed(3)
        tp.rand(5, generator=g)
        h = duplicate(g)
        assert h is not g and tp.rand(3, generator=h).tolist() == tp.rand(3, generator=g).tolist()


def test_deepcopy_refuses_what_is_no_leaf_and_copies_grad_and_aliases():
    x = tp.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)
    (x * 3).sum().backward()
    y, z = copy.deepcopy([x, x])
    assert y is z and y.grad.tolist() == [3, 3] and y.grad is not x.grad


def test_a_shallow_copy_is_a_leaf_that_shares_memory():
    x = tp.ones(2, requires_grad=True)
    y = copy.copy(x)
    assert y is not x and y.requires_grad and y.is_leaf and y.data_ptr() == x.data_ptr()
    assert copy.copy(x * 2).is_leaf


def test_pickles_of_a_small_part_do_not_hold_a_large_memory_that_is_no_array():
    x = tp.zeros(1000, 10).T[:, ::2][:2]
    assert by_pickle(x).tolist() == x.tolist()


def test_tensors_inside_transforms_are_not_pickled():
    with pytest.raises(RuntimeError, match="inside a transform"):
        tp.vmap(lambda x: pickle.dumps(x))(tp.zeros(2))


# ---- text


@pytest.mark.parametrize(
    "text, want",
    [
        (f"{tp.tensor(1.5):.3f}", "1.500"),
        (f"{tp.tensor(3):05d}", "00003"),
        (f"{tp.tensor(1 + 2j):.1f}", "1.0+2.0j"),
        (f"{tp.ones(1, requires_grad=True)[0]:.2f}", "1.00"),
        (f"{tp.tensor([1.0, 2.0])}", "tensor([1., 2.])"),
        (str(tp.tensor(3)), "tensor(3)"),
        (repr(tp.zeros(2, device="meta")), "tensor(..., device='meta', size=(2,))"),
        (repr(tp.Size([1, 2])), "tensorplay.Size([1, 2])"),
        (repr(tp.device("cpu:1")), "device(type='cpu', index=1)"),
    ],
)
def test_text(text, want):
    assert text == want


def test_only_numbers_take_a_format():
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{tp.zeros(2):.2f}"


def test_print_options_are_public():
    tp.set_printoptions(precision=2)
    assert repr(tp.tensor([0.125])) == "tensor([0.12])"


# ---- sizes


def test_sizes_are_tuples_of_ints():
    s = tp.Size([1, 2])
    assert s == (1, 2) and hash(s) == hash((1, 2)) and s.numel() == 2 and tp.zeros(1, 2).shape == s
    for t in (s + (3,), (3,) + s, s * 2, 2 * s, s[:1], s[::-1]):
        assert type(t) is tp.Size
    assert s[1] == 2 and tp.Size([tp.tensor(2)]) == (2,) and tp.Size() == ()


@pytest.mark.parametrize("items", [["a"], [1.5], 3, [None]])
def test_sizes_of_anything_else_are_refused(items):
    with pytest.raises(TypeError):
        tp.Size(items)


# ---- Python functions


def test_python_functions_element_by_element():
    x = tp.tensor([[1, 2], [3, 4]])
    assert x.apply_(lambda v: v + 1) is x and x.tolist() == [[2, 3], [4, 5]]
    assert x.map_(tp.tensor([10, 20]), lambda a, b: a + b).tolist() == [[12, 23], [14, 25]]
    assert x.map2_(tp.tensor(1), tp.tensor(2), lambda a, b, c: a + b * c).tolist() == [[14, 25], [16, 27]]
    with pytest.raises(RuntimeError, match="requires grad"):
        tp.ones(2, requires_grad=True).apply_(lambda v: v)


def test_settings_that_programs_make():
    tp.use_deterministic_algorithms(True, warn_only=True)
    assert tp.are_deterministic_algorithms_enabled() and tp.is_deterministic_algorithms_warn_only_enabled()
    assert tp.get_deterministic_debug_mode() == 1
    tp.use_deterministic_algorithms(False)
    assert tp.get_deterministic_debug_mode() == 0
    with pytest.raises(RuntimeError, match="debug_mode"):
        tp.set_deterministic_debug_mode("loud")
    tp.set_float32_matmul_precision("high")
    assert tp.get_float32_matmul_precision() == "high"
    tp.set_float32_matmul_precision("highest")
    with pytest.raises(RuntimeError, match="set_float32_matmul_precision"):
        tp.set_float32_matmul_precision("best")
    tp.set_num_interop_threads(2)
    assert tp.get_num_interop_threads() == 2
    tp.set_num_interop_threads(1)
    with pytest.raises(RuntimeError, match="positive integer, got 0"):
        tp.set_num_interop_threads(0)
    tp.set_warn_always(True)
    assert tp.is_warn_always_enabled()
    tp.set_warn_always(False)
    with pytest.raises(RuntimeError, match="expected a bool"):
        tp.set_warn_always(1)
    assert not tp.cuda.is_available() and tp.cuda.device_count() == 0
