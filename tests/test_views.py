"""Views: what shares memory with what, strides, bases, and what a layout does not allow."""

import numpy as np
import pytest

import tensorplay as tp

VIEWS = {
    "x[1]": lambda x: x[1],
    "x[:, 1:]": lambda x: x[:, 1:],
    "x[..., None]": lambda x: x[..., None],
    "x[:]": lambda x: x[:],
    "select": lambda x: x.select(1, 2),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "view": lambda x: x.view(-1),
    "reshape": lambda x: x.reshape(3, 4, 2),
    "flatten": lambda x: x.flatten(1),
    "ravel": lambda x: x.ravel(),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "transpose": lambda x: x.transpose(0, 2),
    "mT": lambda x: x.mT,
    "permute": lambda x: x.permute(2, 0, 1),
    "movedim": lambda x: x.movedim(0, -1),
    "squeeze": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "expand": lambda x: x.expand(2, 2, 3, 4),
    "broadcast_to": lambda x: tp.broadcast_to(x, (2, 2, 3, 4)),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "unfold": lambda x: x.unfold(2, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 3), 2),
    "view of a dtype": lambda x: x.view(tp.int32),
    "view_as": lambda x: x.view_as(x),
    "split": lambda x: x.split(2, 1)[0],
    "chunk": lambda x: x.chunk(2, 2)[1],
    "unbind": lambda x: x.unbind(2)[3],
    "tensor_split": lambda x: x.tensor_split(2)[1],
    "iteration": lambda x: next(iter(x)),
    "meshgrid": lambda x: tp.meshgrid(x[0, 0], x[0, 1], indexing="ij")[0],
    "atleast_3d": lambda x: tp.atleast_3d(x[0]),
}
COPIES = {
    "clone": lambda x: x.clone(),
    "x[[0]]": lambda x: x[[0]],
    "x[mask]": lambda x: x[x >= 0],
    "reshape of a transposed tensor": lambda x: x.mT.reshape(-1),
    "flatten of a transposed tensor": lambda x: x.mT.flatten(),
    "ravel of a column": lambda x: x[0, :, 0].ravel(),
    "ravel of a diagonal": lambda x: x.diagonal(0, 1, 2)[1].ravel(),
    "ravel of one entry each": lambda x: x[0, :, :1].ravel(),
    "contiguous": lambda x: x.mT.contiguous(),
    "repeat": lambda x: x.repeat(1, 1, 1),
    "tile": lambda x: x.tile(1),
    "repeat_interleave": lambda x: x.repeat_interleave(1, 0),
    "flip": lambda x: x.flip(0),
    "roll": lambda x: x.roll(0, 0),
    "rot90": lambda x: x.rot90(1, (0, 1)),
    "cat": lambda x: tp.cat([x]),
    "stack": lambda x: tp.stack([x]),
    "diag": lambda x: tp.diag(x[0, :3, :3]),
    "tril": lambda x: x.tril(9),
    "narrow_copy": lambda x: tp.narrow_copy(x, 0, 0, 2),
    "index_select": lambda x: x.index_select(0, tp.tensor([0, 1])),
}


def tensor(*shape):
    return tp.arange(float(np.prod(shape, dtype=int))).reshape(shape).clone()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shares_memory_base_and_version(name):
    x = tensor(2, 3, 4)
    v = VIEWS[name](x)
    assert v._is_view() and v._base is x
    x.zero_()
    assert not v.any()
    assert v._version == x._version == 1


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_shares_nothing(name):
    x = tensor(2, 3, 4)
    y = COPIES[name](x)
    before = y.tolist()
    assert not y._is_view() and y._base is None
    x.zero_()
    assert y.tolist() == before
    assert y._version == 0


def test_the_base_of_a_view_of_a_view_is_the_first_tensor():
    x = tensor(2, 3, 4)
    assert x[0].t()[1]._base is x


@pytest.mark.parametrize(
    "view, strides, offset, contiguous",
    [
        (lambda x: x, (12, 4, 1), 0, True),
        (lambda x: x[1], (4, 1), 12, True),
        (lambda x: x[:, 1], (12, 1), 4, False),
        (lambda x: x[:, ::2], (12, 8, 1), 0, False),
        (lambda x: x.mT, (12, 1, 4), 0, False),
        (lambda x: x.permute(2, 0, 1), (1, 12, 4), 0, False),
        (lambda x: x.unsqueeze(0), (24, 12, 4, 1), 0, True),
        (lambda x: x[:, :1].expand(2, 3, 4), (12, 0, 1), 0, False),
        (lambda x: x.diagonal(0, 1, 2), (12, 5), 0, False),
        (lambda x: x.unfold(2, 2, 1), (12, 4, 1, 1), 0, False),
        (lambda x: x.as_strided((2, 2), (1, 3), 2), (1, 3), 2, False),
        (lambda x: x[1, 2, 3], (), 23, True),
        (lambda x: x.mT.clone(), (12, 1, 4), 0, False),
        (lambda x: x.mT.contiguous(), (12, 3, 1), 0, True),
        (lambda x: x[:, ::2].clone(), (8, 4, 1), 0, True),
    ],
)
def test_strides_and_offsets(view, strides, offset, contiguous):
    v = view(tensor(2, 3, 4))
    assert v.stride() == strides
    assert v.storage_offset() == offset
    assert v.is_contiguous() is contiguous


def test_memory_formats():
    x = tensor(2, 3, 4, 5)
    y = x.contiguous(memory_format=tp.channels_last)
    assert y.stride() == (60, 1, 15, 3) and y.tolist() == x.tolist()
    assert x.clone(memory_format=tp.channels_last).stride() == y.stride()
    assert y.clone().stride() == y.stride()
    assert y.clone(memory_format=tp.contiguous_format).is_contiguous()
    assert y.contiguous(memory_format=tp.channels_last) is y
    with pytest.raises(RuntimeError, match="rank 4"):
        tensor(2, 3).contiguous(memory_format=tp.channels_last)


def test_contiguous_and_flatten_give_the_tensor_itself_where_nothing_is_to_do():
    x = tensor(4)
    assert x.contiguous() is x
    assert x.flatten() is x


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: x.t().view(6), RuntimeError, "view size is not compatible with input tensor's size and stride"),
        (lambda x: x[:, :2].view(-1), RuntimeError, "Use .reshape"),
        (lambda x: x.view(7), RuntimeError, "shape '\\[7\\]' is invalid for input of size 6"),
        (lambda x: x.reshape(-1, -1), RuntimeError, "only one dimension can be inferred"),
        (lambda x: x.reshape(-2), RuntimeError, "invalid shape dimension -2"),
        (lambda x: x[:0].reshape(-1, 0), RuntimeError, "ambiguous"),
        (lambda x: x.reshape(2.0, 3), TypeError, "must be tuple of ints"),
        (lambda x: x.permute(0), RuntimeError, "does not match the length"),
        (lambda x: x.permute(0, 0), RuntimeError, "duplicate dims"),
        (lambda x: x.permute(0, 2), IndexError, "expected to be in range of \\[-2, 1\\], but got 2"),
        (lambda x: x.transpose(0, 2), IndexError, "Dimension out of range"),
        (lambda x: x.transpose(0.0, 1), TypeError, "'dim0' \\(position 2\\) must be int, not float"),
        (lambda x: x[None].t(), RuntimeError, "<= 2 dimensions"),
        (lambda x: x[None].H, RuntimeError, "only supported on matrices"),
        (lambda x: x[0].mT, RuntimeError, "1-D"),
        (lambda x: x.expand(2), RuntimeError, "greater or equal to the number of dimensions"),
        (lambda x: x.expand(3, 2), RuntimeError, "must match the existing size \\(2\\) at non-singleton dimension 0"),
        (lambda x: x.expand(-1, 2, 3), RuntimeError, "leading, non-existing dimension 0"),
        (lambda x: x.squeeze((0, 0)), RuntimeError, "appears multiple times"),
        (lambda x: x.unsqueeze(4), IndexError, "\\[-3, 2\\], but got 4"),
        (lambda x: x.flatten(1, 0), RuntimeError, "start_dim cannot come after end_dim"),
        (lambda x: x.unflatten(1, (2, 2)), RuntimeError, "don't multiply up to the size of dim 1"),
        (lambda x: x.movedim((0, 1), (0,)), RuntimeError, "same number"),
        (lambda x: x.repeat(2), RuntimeError, "can not be smaller than number of dimensions"),
        (lambda x: x.flip(0, 0), RuntimeError, "multiple times"),
        (lambda x: x.roll(1, (0, 1)), RuntimeError, "must align"),
        (lambda x: x.rot90(1, (0,)), RuntimeError, "total rotation dims == 2"),
        (lambda x: x.diagonal(0, 0, 0), RuntimeError, "cannot be identical"),
        (lambda x: x.unfold(1, 4, 1), RuntimeError, "maximum size"),
        (lambda x: x.unfold(1, 2, 0), RuntimeError, "step is 0"),
        (lambda x: x.as_strided((3, 3), (3, 3)), RuntimeError, "out of bounds for storage of size 24"),
        (lambda x: x.split(-1), RuntimeError, "split_size=-1"),
        (lambda x: x.split([1, 2]), RuntimeError, "sum exactly to 2"),
        (lambda x: x.chunk(0), RuntimeError, "greater than 0"),
        (lambda x: x.narrow(0, 1, 5), RuntimeError, "exceeds dimension size"),
        (lambda x: x.narrow(0, 5, 1), IndexError, "start out of range"),
        (lambda x: x.select(0, 5), IndexError, "index 5 out of range for tensor of size \\[2, 3\\] at dimension 0"),
        (lambda x: tp.cat([]), ValueError, "non-empty"),
        (lambda x: tp.cat(x), TypeError, "must be tuple of Tensors, not Tensor"),
        (lambda x: tp.cat([x, x[0]]), RuntimeError, "same number of dimensions: got 2 and 1"),
        (lambda x: tp.cat([x, x[:, :2]]), RuntimeError, "except in dimension 0"),
        (lambda x: tp.cat([x, x[0, 0]]), RuntimeError, "zero-dimensional"),
        (lambda x: tp.stack([x, x[0]]), RuntimeError, "equal size"),
        (lambda x: x.view(tp.complex128), RuntimeError, "divisible"),
        (lambda x: x.t().view(tp.int64), RuntimeError, "stride"),
        (lambda x: tp.meshgrid(x), RuntimeError, "0D or 1D"),
        (lambda x: x.hsplit(2), RuntimeError, "not divisible"),
        (lambda x: x.hsplit(), TypeError, "one of 'indices_or_sections', 'indices' and 'sections', got 0"),
        (lambda x: x.tensor_split(2, sections=2), TypeError, "'indices' and 'sections', got 2"),
        (lambda x: x.dsplit(1), RuntimeError, "at least 3"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(tp.ones(2, 3))


def test_view_of_another_dtype_reads_the_same_bytes():
    x = tp.tensor([1.0, -2.0, 0.5, 3.0])
    assert x.view(tp.int32).tolist() == x.numpy().view(np.int32).tolist()
    assert x.view(tp.uint8).shape == (16,)
    assert x.view(tp.float64).shape == (2,)
    assert not x.requires_grad_().view(tp.int32).requires_grad
    x.view(tp.int32).zero_()
    assert x.tolist() == [0, 0, 0, 0]


def test_shapes_broadcast():
    assert tp.broadcast_shapes((2, 1), (3,), 1, ()) == (2, 3)
    with pytest.raises(RuntimeError, match="Shape mismatch"):
        tp.broadcast_shapes((2,), (3,))


def test_views_of_meta_tensors_have_shapes():
    x = tp.empty(2, 3, 4, device="meta")
    assert x.view(6, 4).shape == (6, 4) and x.mT.shape == (2, 4, 3) and x[:, 1:].is_meta
    assert [t.shape for t in x.split(2, 1)] == [(2, 2, 4), (2, 1, 4)]


def test_detached_tensors_share_memory_and_version_but_are_no_views():
    x = tp.ones(3, requires_grad=True)
    y = x * 2
    d = y.detach()
    d.zero_()
    assert not d._is_view() and not d.requires_grad
    assert y.tolist() == [0, 0, 0] and y._version == d._version == 1


def test_gradients_of_several_views_meet_in_the_base():
    x = tp.arange(6.0).reshape(2, 3).clone().requires_grad_()
    (x[0] * x.t()[:, 1] + x.view(-1)[3:] + x.diagonal().sum() + x.expand(4, 2, 3)[0, 0]).sum().backward()
    assert x.grad.tolist() == [[3 + 1 + 3, 4 + 1, 5 + 1], [0 + 1, 1 + 1 + 3, 2 + 1]]


def test_dead_views_are_forgotten():
    x = tp.ones(2)
    for _ in range(1000):
        x[0]
    assert len(x._rare.views) <= 16


def test_where_to_split_has_several_names():
    x = tp.arange(8).reshape(2, 2, 2)
    for name in ("tensor_split", "hsplit", "vsplit", "dsplit"):
        for split in (getattr(x, name), lambda name=name, **k: getattr(tp, name)(x, **k)):
            want = [part.tolist() for part in split(indices_or_sections=2)]
            assert [part.tolist() for part in split(sections=2)] == want
            assert [part.tolist() for part in split(indices=[1])] == want


# ---- set_: other memory for the same tensor


@pytest.mark.parametrize(
    ("args", "want"),
    [
        ((), [0.0, 1.0, 2.0, 3.0]),
        ((1, (3,)), [1.0, 2.0, 3.0]),
        ((0, (2, 2)), [[0.0, 1.0], [2.0, 3.0]]),
        ((1, (2, 2), (1, 1)), [[1.0, 2.0], [2.0, 3.0]]),
    ],
)
def test_set_shares_the_memory_of_another_tensor(args, want):
    x, y = tp.zeros(1), tp.arange(4.0)
    before = x._version
    assert x.set_(y, *args) is x and x.tolist() == want and x._version > before
    y[2] = 9.0
    assert 9.0 in x.flatten().tolist() and x.data_ptr() == y[args[0] if args else 0 :].data_ptr()


def test_set_leaves_old_memory_to_those_who_share_it():
    x = tp.zeros(3)
    view = x[1:]
    x.set_(tp.arange(2.0))
    view[0] = 5.0
    assert x.tolist() == [0.0, 1.0] and view.tolist() == [5.0, 0.0]
    assert x.set_().shape == (0,)


def test_set_of_a_leaf_under_no_grad():
    x = tp.zeros(3, requires_grad=True)
    with tp.no_grad():
        x.set_(tp.ones(2))
    assert x.requires_grad and x.is_leaf and x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, y: x.set_(y.double()), RuntimeError, "Could not set tensor of type"),
        (lambda x, y: x.set_([1.0]), TypeError, "argument 'source'"),
        (lambda x, y: x.set_(y, 1), TypeError, "argument 'size' must be given"),
        (lambda x, y: x.set_(y, 3, (2,)), RuntimeError, "out of bounds for storage"),
        (lambda x, y: x.set_(y.to("meta")), RuntimeError, "on device cpu to one on meta"),
        (lambda x, y: x.requires_grad_().set_(y), RuntimeError, "a leaf Variable that requires grad"),
        (lambda x, y: x.set_(y.requires_grad_() * 2), RuntimeError, "history would be lost"),
    ],
)
def test_set_refuses_what_does_not_fit(call, error, message):
    x = tp.zeros(3)
    with pytest.raises(error, match=message):
        call(x, tp.arange(4.0))
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_ravel_of_what_has_gaps_is_contiguous():
    x = tensor(2, 3)
    y = x[:, 0].ravel()
    assert y.is_contiguous() and y.stride() == (1,)
    y.fill_(9.0)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


BEFORE_STRIDES = {
    "None": lambda x: x[None],
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "unsqueeze, transpose": lambda x: x.unsqueeze(0).transpose(0, 1),
    "unsqueeze, movedim": lambda x: x.unsqueeze(0).movedim(0, -1),
    "unsqueeze, expand": lambda x: x.unsqueeze(0).expand(2, 2, 3),
    "as_strided": lambda x: x[None].as_strided((1, 6), (6, 1)),
    "None, permute": lambda x: x[:, None].permute(2, 1, 0),
}


@pytest.mark.parametrize("before", BEFORE_STRIDES.values(), ids=BEFORE_STRIDES)
def test_as_strided_of_a_view_shares_the_memory(before):
    x = tensor(2, 3)
    v = before(x).as_strided((2,), (3,), 0)
    assert v.stride() == (3,) and v.data_ptr() == x.data_ptr()
    x[-1] = 30
    assert v.tolist() == [0, 30]
    v.fill_(7)
    assert x.tolist() == [[7, 1, 2], [7, 30, 30]]


@pytest.mark.parametrize("before", BEFORE_STRIDES.values(), ids=BEFORE_STRIDES)
def test_as_strided_of_a_view_follows_writes_with_their_gradients(before):
    x = tensor(2, 3).requires_grad_()
    y = x * 2
    v = before(y).as_strided((2,), (3,), 0)
    y[-1] = x[0] * 30 + 1
    v.mul_(2)
    assert v.tolist() == [0, 2] and y.tolist() == [[0, 2, 4], [2, 31, 61]]
    y.sum().backward()
    assert x.grad.tolist() == [[64, 32, 32], [0, 0, 0]]


def test_as_strided_reaches_the_memory_beyond_the_view():
    assert tensor(2, 3)[None, :, 0].as_strided((2,), (1,), 0).tolist() == [0, 1]


def test_the_size_of_a_view_by_name():
    x = tensor(2, 3)
    assert x.view(size=(3, 2)).tolist() == x.view(3, 2).tolist()
    for wrong in (x.view, lambda: x.view(3, size=(3, 2))):
        with pytest.raises(TypeError, match="one of 'size' and 'dtype'"):
            wrong()
