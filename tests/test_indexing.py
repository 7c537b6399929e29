"""Indexing: what the samples do not say: kinds of indices, views, dtypes, errors, in-place forms, transforms."""

import math

import numpy as np
import pytest

import tensorplay as tp


def tensor(*shape):
    return tp.arange(float(np.prod(shape, dtype=int))).reshape(shape).clone()


# ---- kinds of indices

SAME = [
    (tp.tensor([2, 0]), [2, 0]),
    (np.array([2, 0]), [2, 0]),
    (range(0, 3, 2), [0, 2]),
    (tp.tensor([2, 0], dtype=tp.int32), [2, 0]),
    (np.int64(1), 1),
    (tp.tensor(1), 1),
    (tp.tensor([True, False, True]), [0, 2]),
    (np.array([True, False, True]), [0, 2]),
    ([True, False, True], [0, 2]),
    ([tp.tensor(1)], 1),
    ([[0, 1], [1, 2]], ([0, 1], [1, 2])),
    ([0, slice(1, 3)], (0, slice(1, 3))),
    (slice(tp.tensor(1), None), slice(1, None)),
    (slice(np.int64(0), np.int64(5)), slice(0, 5)),
]


@pytest.mark.parametrize("index, plain", SAME, ids=repr)
def test_indices_of_many_kinds_say_the_same(index, plain):
    x = tensor(3, 4)
    assert tp.equal(x[index], x[plain])
    y, z = x.clone(), x.clone()
    y[index], z[plain] = -1, -1
    assert tp.equal(y, z)


def test_bytes_are_masks_and_say_that_they_are_deprecated():
    with pytest.warns(UserWarning, match="uint8"):
        assert tensor(3)[tp.tensor([1, 0, 1], dtype=tp.uint8)].tolist() == [0, 2]


@pytest.mark.parametrize(
    "index, shape",
    [
        ((0, slice(None), [0, 1]), (3, 2)),  # ints are applied first, and do not move the dimension of the list
        (([0, 1], slice(None), [0, 1]), (2, 3)),
        ((slice(None), [0, 1], [0, 1]), (2, 2)),
        ((slice(None), [0, 1], None, [0, 1]), (2, 2, 1)),
        ((..., [0, 1], slice(None)), (2, 2, 4)),
        ((True, slice(None)), (1, 2, 3, 4)),
        (False, (0, 2, 3, 4)),
        ((0, True, [0, 1]), (2, 4)),
        (([[0], [1]], [0, 1]), (2, 2, 4)),
    ],
    ids=repr,
)
def test_where_the_dimensions_of_arrays_go(index, shape):
    assert tensor(2, 3, 4)[index].shape == shape


@pytest.mark.parametrize(
    "index, error, message",
    [
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        (-4, IndexError, "index -4 is out of bounds for dimension 0 with size 3"),
        ((slice(None), 4), IndexError, "index 4 is out of bounds for dimension 1 with size 4"),
        ([5], IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        (([0], [-5]), IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
        ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
        (slice(None, None, -1), ValueError, "slice step must be greater than zero"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        (slice(0, 1.5), TypeError, "slice indices must be integers"),
        (1.5, IndexError, "only integers, slices"),
        ("a", IndexError, "only integers, slices"),
        (tp.tensor([1.0]), IndexError, "must be long, int, byte or bool"),
        (tp.tensor([True]), IndexError, "shape of the mask \\[1\\] at index 0 does not match"),
        (([0, 1], [0, 1, 2]), IndexError, "could not be broadcast"),
    ],
    ids=repr,
)
def test_bad_indices(index, error, message):
    x = tensor(3, 4)
    with pytest.raises(error, match=message):
        x[index]
    with pytest.raises(error, match=message):
        x[index] = 0
    assert tp.equal(x, tensor(3, 4))


def test_a_number_has_nothing_to_index():
    x = tp.tensor(1.0)
    assert x[()].shape == x[...].shape == () and x[None].shape == x[True].shape == (1,)
    with pytest.raises(IndexError, match="0-dim"):
        x[0]
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(x)
    with pytest.raises(TypeError, match="0-d"):
        len(x)


def test_iteration_length_and_containment():
    x = tensor(3, 2)
    assert len(x) == 3 and [row.tolist() for row in x] == x.tolist()
    assert 5 in x and 6 not in x and tp.tensor(2.0) in x


def test_basic_indices_give_views_and_arrays_copies():
    x = tensor(3, 4)
    x[1][2] = -1
    assert x[1, 2] == -1
    x[[1]][0] = -5
    assert x[1, 0] == 4


# ---- writing


def test_what_is_written_is_broadcast_and_cast():
    x = tp.zeros(2, 3, dtype=tp.int64)
    x[0] = tp.tensor([1.9, 2.9, -3.9])
    x[1] = tp.tensor([[[7]]])
    assert x.tolist() == [[1, 2, -3], [7, 7, 7]]
    x[x > 5] = tp.tensor(2.5)
    assert x.tolist() == [[1, 2, -3], [2, 2, 2]]
    y = tp.zeros(2, dtype=tp.uint8)
    y[0] = -1
    assert y.tolist() == [255, 0]


@pytest.mark.parametrize(
    "index, value, error",
    [
        (0, tp.ones(5), RuntimeError),
        (0, tp.ones(2, 4), RuntimeError),
        ([0, 1], tp.ones(5), RuntimeError),
        ([True, False, True], tp.ones(3, 4), RuntimeError),
        (0, 1j, RuntimeError),
        (0, "a", TypeError),
        (0, None, TypeError),
        (0, [1, 2, 3, 4], TypeError),
    ],
    ids=repr,
)
def test_what_cannot_be_written_leaves_the_tensor_as_it_was(index, value, error):
    x = tensor(3, 4)
    with pytest.raises(error):
        x[index] = value
    assert tp.equal(x, tensor(3, 4)) and x._version == 0


def test_a_write_to_plain_memory_copies_no_tensor():
    x = tp.zeros(3, 4)
    address = x.data_ptr()
    x[0], x[[1, 2]], x[x > 5] = 1, tp.ones(2, 4), 0
    x.index_add_(0, tp.tensor([0]), tp.ones(1, 4)).masked_fill_(x > 1, 9).scatter_(0, tp.tensor([[0]]), 3)
    assert x.data_ptr() == address


def test_a_write_into_a_strided_view_reaches_the_base():
    x = tensor(2, 3, 4)
    v = x.permute(2, 0, 1)
    v[[0, 1], [1, 0]] = -1
    assert (x == -1).sum() == 6 and x[1, :, 0].tolist() == x[0, :, 1].tolist() == [-1] * 3
    w = x[:, ::2].mT
    w[w > 15] = 0
    assert x[1, 2].tolist() == [-1, 0, 0, 0]


def test_nothing_selected_is_read_and_written():
    x = tensor(3, 4)
    assert x[2:2, [0, 1]].shape == (0, 2) and x[[]].shape == (0, 4)
    x[[0, 1], [0, 1], None][:0] = 5
    x[2:2, [0, 1]] = 5
    x.view(3, 4, 1)[[0, 1], [2, 3], 1:] = 5
    assert tp.equal(x, tensor(3, 4))
    with pytest.raises(IndexError, match="out of bounds for dimension 0 with size 0"):
        x[:0][[0]]


def test_overlapping_source_and_target():
    x = tensor(5)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3]
    x[[4, 3, 2, 1, 0]] = x
    assert x.tolist() == [3, 2, 1, 0, 0]


def test_repeated_indices_read_add_their_gradients_and_written_the_last_counts():
    x = tp.zeros(3, requires_grad=True)
    x[[0, 0, 2]].sum().backward()
    assert x.grad.tolist() == [2, 0, 1]
    y = tp.zeros(3)
    y[[0, 0]] = tp.tensor([1.0, 2.0])
    assert y.tolist() == [2, 0, 0]


@pytest.mark.parametrize("dtype", [tp.float16, tp.bfloat16, tp.float32, tp.float64, tp.complex64, tp.int32, tp.uint8])
@pytest.mark.parametrize("shape, dim", [((7, 50), 0), ((3, 7, 20), 1), ((300, 7), 1), ((7,), 0)])
def test_many_rows_are_added_up_in_every_dtype(dtype, shape, dim):
    index = np.random.default_rng(0).integers(0, shape[dim], 120)
    source = np.random.default_rng(1).integers(0, 2, (*shape[:dim], 120, *shape[dim + 1 :]))
    want = np.zeros(shape)
    np.add.at(np.moveaxis(want, dim, 0), index, np.moveaxis(source, dim, 0))
    got = tp.zeros(*shape, dtype=dtype).index_add(dim, tp.tensor(index), tp.tensor(source).to(dtype))
    assert got.dtype is dtype
    np.testing.assert_array_equal(got.to(tp.complex128).numpy(), want)


# ---- functions

IN_PLACE = [
    ("index_add", lambda i, v, m: (0, i, v)),
    ("index_copy", lambda i, v, m: (0, i, v)),
    ("index_fill", lambda i, v, m: (0, i, 2.5)),
    ("index_reduce", lambda i, v, m: (0, i, v, "amax")),
    ("index_put", lambda i, v, m: ((i, i), v[:, 0])),
    ("put", lambda i, v, m: (i, v[:, 0])),
    ("scatter", lambda i, v, m: (0, i[:, None].expand(2, 4), v)),
    ("scatter_add", lambda i, v, m: (0, i[:, None].expand(2, 4), v)),
    ("scatter_reduce", lambda i, v, m: (0, i[:, None].expand(2, 4), v, "prod")),
    ("masked_fill", lambda i, v, m: (m, 2.5)),
    ("masked_scatter", lambda i, v, m: (m, tp.arange(12.0))),
    ("tril", lambda i, v, m: (-1,)),
    ("triu", lambda i, v, m: (1,)),
]


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("name, arguments", IN_PLACE, ids=[name for name, _ in IN_PLACE])
def test_the_in_place_form_changes_the_memory_and_gives_the_same(name, arguments, strided):
    x = tensor(4, 3).t() if strided else tensor(3, 4)
    args = arguments(tp.tensor([2, 0]), -tp.ones(2, 4), x % 2 == 0)
    want = getattr(x, name)(*args)
    view = x[:]
    assert getattr(x, name + "_")(*args) is x
    assert tp.equal(x, want) and tp.equal(view, want) and x._version == 1


@pytest.mark.parametrize("name, arguments", IN_PLACE, ids=[name for name, _ in IN_PLACE])
def test_the_in_place_form_has_the_same_gradients(name, arguments):
    grads = []
    for form in (name, name + "_"):
        x = (tensor(3, 4) + 0.5).requires_grad_()
        v = (-tp.ones(2, 4)).requires_grad_()
        y = x * 2
        args = arguments(tp.tensor([2, 0]), v, tp.arange(12).reshape(3, 4) % 2 == 0)
        out = getattr(y, form)(*args)
        grads.append(tp.autograd.grad((out * tensor(3, 4)).sum(), [x, v], allow_unused=True))
    for a, b in zip(*grads):
        assert a is b is None or tp.equal(a, b)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x, i: x.index_select(0, i + 5), IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        (lambda x, i: x.index_select(0, i[None]), IndexError, "vector"),
        (lambda x, i: x.index_select(0, x[0]), RuntimeError, "int32 or int64"),
        (lambda x, i: x.gather(0, i), RuntimeError, "same number of dimensions"),
        (lambda x, i: x.gather(0, i[None] + 5), RuntimeError, "index 5 is out of bounds"),
        (lambda x, i: x.gather(0, i[None] - 1), RuntimeError, "index -1 is out of bounds"),
        (lambda x, i: x.gather(0, i.repeat(5)[None]), RuntimeError, "no larger than self"),
        (lambda x, i: x.index_add(0, i, x), RuntimeError, "Number of indices"),
        (lambda x, i: x.index_add(0, i, x[:2].int()), RuntimeError, "same dtype"),
        (lambda x, i: x.index_copy(0, i + 5, x[:2]), IndexError, "out of bounds"),
        (lambda x, i: x.index_put((i,), x[0].int()), RuntimeError, "dtypes match"),
        (lambda x, i: x.index_put(i, x[0]), TypeError, "must be tuple of Tensors"),
        (lambda x, i: x.index_reduce(0, i, x[:2], "sum"), RuntimeError, "prod, mean, amax or amin"),
        (lambda x, i: x.scatter(0, i[None], x, reduce="amax"), RuntimeError, "add or multiply"),
        (lambda x, i: x.scatter(0, i[None], x.int()), RuntimeError, "equal to src.dtype"),
        (lambda x, i: x.scatter(0, i[None]), TypeError, "exactly one"),
        (lambda x, i: x.scatter_reduce(0, i[None], x, "foo"), RuntimeError, "got foo"),
        (lambda x, i: x.take(i + 12), IndexError, "index 12 is out of bounds"),
        (lambda x, i: x.take(i.int()), RuntimeError, "long"),
        (lambda x, i: x.put(i, x[0]), IndexError, "same number of elements"),
        (lambda x, i: x.masked_fill(x, 1), RuntimeError, "boolean masks"),
        (lambda x, i: x.masked_fill(x > 1, x[0]), RuntimeError, "0-dimensional"),
        (lambda x, i: x.masked_fill(x > 1, 1j), RuntimeError, "cannot be converted"),
        (lambda x, i: x.masked_select(x), RuntimeError, "boolean"),
        (lambda x, i: x.masked_scatter(x >= 0, x[0]), RuntimeError, "Number of elements of source"),
        (lambda x, i: x.select_scatter(x[0], 1, 0), RuntimeError, "size equal to the slice"),
        (lambda x, i: tp.take_along_dim(x, i, 1), RuntimeError, "same number of dimensions"),
    ],
)  # fmt: skip
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(tensor(3, 4), tp.tensor([0, 1]))


def test_nothing_is_written_where_an_index_is_out_of_bounds():
    x = tensor(3, 4)
    for write in (
        lambda: x.index_add_(0, tp.tensor([0, 3]), tp.ones(2, 4)),
        lambda: x.scatter_(0, tp.tensor([[0, 3]]), 1.0),
        lambda: x.index_put_((tp.tensor([0, 3]),), tp.tensor(1.0)),
        lambda: x.put_(tp.tensor([0, 12]), tp.ones(2)),
        lambda: x.__setitem__([0, 3], 1),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            write()
    assert tp.equal(x, tensor(3, 4)) and x._version == 0


def test_positions_of_what_is_not_zero():
    x = tp.tensor([[0, 5], [7, 0]])
    assert x.nonzero().tolist() == tp.argwhere(x).tolist() == [[0, 1], [1, 0]]
    assert [i.tolist() for i in x.nonzero(as_tuple=True)] == [[0, 1], [1, 0]]
    assert tp.tensor(3).nonzero().shape == (1, 0) and tp.tensor(0).nonzero().shape == (0, 0)


# ---- under transforms


def test_writes_of_batched_values_into_fresh_tensors():
    def f(x, i):
        out = tp.zeros(4)
        out[0] = x[0]
        out[i] = x[1]
        out[out > 5] = 5
        return out

    x, i = tp.tensor([[1.0, 2.0], [3.0, 9.0]]), tp.tensor([1, 3])
    assert tp.vmap(f)(x, i).tolist() == [[1, 2, 0, 0], [3, 0, 0, 5]]


def test_indices_of_each_example():
    x, i = tensor(3, 4), tp.tensor([[0, 3], [1, -1], [2, 2]])
    rows = [[x[k, int(n)].item() for n in i[k]] for k in range(3)]
    assert tp.vmap(lambda x, i: x[i])(x, i).tolist() == rows
    assert tp.vmap(lambda i: x[:, i][0])(i).tolist() == [x[0][j].tolist() for j in i]
    assert tp.vmap(lambda x, i: x.index_add(0, i, tp.ones(2)))(x, i)[2].tolist() == [8, 9, 12, 11]
    assert tp.vmap(lambda x, i: x.gather(0, i))(x, i % 4).tolist() == rows
    gradients = tp.vmap(tp.func.grad(lambda x, i: (x[i] ** 2).sum()))(x, i)
    assert gradients[2].tolist() == [0, 0, 40, 0]


def test_a_mask_that_differs_from_example_to_example_is_refused_where_it_decides_a_shape():
    with pytest.raises(RuntimeError, match="vmap"):
        tp.vmap(lambda x: x[x > 0])(tensor(2, 3))


def test_tangents_follow_writes():
    def f(x):
        y = x * 2
        y[0] = x[1] * x[1]
        y[[1, 2]] = y[[2, 1]].clone()
        return y

    x, t = tp.tensor([1.0, 2.0, 3.0]), tp.tensor([1.0, 10.0, 100.0])
    out, tangent = tp.func.jvp(f, (x,), (t,))
    assert out.tolist() == [4, 6, 4] and tangent.tolist() == [40, 200, 20]


@pytest.mark.parametrize(
    "index, name",
    [
        (0, "Select"), (-1, "Select"), ((0, 1), "Select"), ((slice(None), 0), "Select"), ((..., 0), "Select"),
        ((0, slice(None)), "Select"), (tp.tensor(0), "Select"), (np.int64(0), "Select"), (slice(0, 1), "Slice"),
        ((0, slice(0, 1)), "Slice"), (None, "Unsqueeze"), ((0, None), "Unsqueeze"), ([0, 1], "Index"),
    ],
)  # fmt: skip
def test_the_history_of_a_part_is_named_after_its_last_step(index, name):
    x = tp.ones(2, 3, requires_grad=True)
    assert x[index].grad_fn.name() == f"{name}Backward0"
    assert x.select(0, 1).grad_fn.name() == "SelectBackward0" and x.unsqueeze(0).grad_fn.name() == "UnsqueezeBackward0"


MASK, BOTH = tp.tensor([True, False]), tp.tensor([0, 1])


@pytest.mark.parametrize(
    "index, value, written",
    [
        (0, tp.tensor(1), True), (slice(None), tp.tensor([1, 2]), True), (MASK, tp.tensor(1), True),
        (MASK, tp.tensor([1]), True), (BOTH, 1, True), (BOTH, tp.tensor([1, 2]), False), (BOTH, tp.tensor(1), False),
        ([0, 1], tp.tensor([1]), False), (tp.tensor([True, True]), tp.tensor([1, 2]), False),
        (BOTH, tp.ones(2, dtype=tp.float64), False),
    ],
)  # fmt: skip
def test_what_is_written_at_indices_has_the_dtype_of_the_tensor(index, value, written):
    x = tp.zeros(2)
    if written:
        x[index] = value
        assert x[0] == 1
        return
    with pytest.raises(RuntimeError, match="source and destination dtypes match, got tensorplay.float32"):
        x[index] = value
    assert x.tolist() == [0, 0]


def set_first(x, value):
    x[0] = value
    return x


def set_where(x, value):
    x[x == 1] = value
    return x


@pytest.mark.parametrize(
    "change",
    [
        set_first,
        set_where,
        lambda x, v: x.fill_(v),
        lambda x, v: x.masked_fill(x == 1, v),
        lambda x, v: x.index_fill(0, tp.tensor([0]), v),
        lambda x, v: x.scatter(0, tp.tensor([0]), v),
        lambda x, v: tp.where(x == 1, v, x),
        lambda x, v: tp.full_like(x, v),
        lambda x, v: tp.nn.functional.pad(x, (1, 0), value=v),
    ],
)
def test_a_number_that_the_dtype_cannot_hold_is_refused(change):
    for dtype, value in ((tp.int8, 300), (tp.uint8, 2**40), (tp.int32, -(2**31) - 1)):
        x = tp.ones(2, dtype=dtype)
        with pytest.raises(RuntimeError, match="without overflow"):
            change(x, value)
        assert x.tolist() == [1, 1]
    assert change(tp.ones(2, dtype=tp.uint8), 255).max() == 255


@pytest.mark.parametrize("dtype, value", [(tp.float16, -1e9), (tp.float32, 1e39), (tp.bfloat16, 1e39)])
def test_a_finite_number_does_not_become_infinite(dtype, value):
    x = tp.ones(2, dtype=dtype)
    for change in (x.fill_, lambda v: x.masked_fill(x == 1, v), lambda v: tp.full((2,), v, dtype=dtype)):
        with pytest.raises(RuntimeError, match="without overflow"):
            change(value)
        assert change(math.inf).tolist() == [math.inf] * 2 and x.fill_(1) is x


def test_gathering_nothing_keeps_the_history():
    x = tp.ones(5, requires_grad=True)
    found = tp.gather(x, 0, tp.zeros(2, 0, dtype=tp.int64))
    assert found.shape == (2, 0)
    found.sum().backward()
    assert x.grad.tolist() == [0] * 5
