"""In-place operators: memory, history, views, versions, errors; random programs against finite differences."""

import random

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import func, nn
from tensorplay.autograd import forward_ad
from tensorplay.nn import functional

# ---- random programs of views and writes, the same over tensors and over arrays


def copy(x):
    return x.clone() if isinstance(x, tp.Tensor) else x.copy()


def sin(x):
    return tp.sin(x) if isinstance(x, tp.Tensor) else np.sin(x)


VIEWS = [
    lambda x: x[:],
    lambda x: x[0, ...] if x.ndim > 1 else x[:1],
    lambda x: x[-1:, ...],
    lambda x: x[..., ::2],
    lambda x: x[..., 1:],
    lambda x: x[None] if x.ndim < 4 else x[:, ...],
    lambda x: x[..., None] if x.ndim < 4 else x[:, ...],
    lambda x: x.swapaxes(0, -1),
    lambda x: x.reshape(-1),
    lambda x: x.reshape(x.shape[0], -1),
    lambda x: x.squeeze() if x.squeeze().ndim else x,
    lambda x: x.diagonal() if x.ndim > 1 and isinstance(x, tp.Tensor) else diagonal_of(x),
]


def diagonal_of(x):
    """NumPy's diagonal, writable."""
    if x.ndim < 2:
        return x[:]
    out = x.diagonal()
    out.flags.writeable = True
    return out


def put(x, index, value):
    x[index] = value


WRITES = [
    lambda x, y, k: x.__imul__(k),
    lambda x, y, k: x.__iadd__(copy(y)),
    lambda x, y, k: x.__imul__(copy(y)),
    lambda x, y, k: put(x, ..., k),
    lambda x, y, k: put(x, ..., sin(copy(x))),
    lambda x, y, k: put(x, ..., sin(copy(y)) * copy(x)),
    lambda x, y, k: put(x, 0, k),
    lambda x, y, k: put(x, 0, y[-1] * k),
    lambda x, y, k: put(x, slice(1, None), copy(y)[:-1]),
    lambda x, y, k: put(x, (..., -1), copy(y)[..., 0] * copy(y)[..., -1]),
    lambda x, y, k: put(x, [0, -1], k * copy(y)[[-1, 0]]) if x.shape[0] > 1 else None,
    lambda x, y, k: put(x, np.arange(x.shape[0])[::2].copy(), copy(y)[np.arange(x.shape[0])[::2].copy()]),
]


def run(program, leaf):
    """Run a program of (operator, number of the operand, number of the other operand, k) on a leaf; all its tensors."""
    pool = [leaf * 1, sin(leaf), leaf * leaf]
    for kind, operator, i, j, k in program:
        x = pool[i % len(pool)]
        if 0 in x.shape or not x.ndim:
            continue
        if kind == "view":
            pool.append(VIEWS[operator](x))
            continue
        alike = [p for p in pool if p.shape == x.shape]
        WRITES[operator](x, alike[j % len(alike)], k)
    return pool


def loss(program, leaf):
    """A weighted sum of everything."""
    total = (leaf * 0).sum()
    for i, p in enumerate(run(program, leaf)):
        weights = np.cos(np.arange(int(np.prod(p.shape, dtype=int))) + i).reshape(tuple(p.shape))
        total = total + (p * (tp.tensor(weights) if isinstance(p, tp.Tensor) else weights)).sum()
    return total


def random_program(seed):
    r = random.Random(seed)
    program = []
    for _ in range(r.randrange(3, 14)):
        kind = r.choice(["view", "view", "write"]) if r.random() < 0.5 else r.choice(["view", "write"])
        operator = r.randrange(len(VIEWS if kind == "view" else WRITES))
        program.append((kind, operator, r.randrange(30), r.randrange(30), round(r.uniform(0.5, 1.5), 2)))
    shape = tuple(r.choice([1, 2, 3]) for _ in range(r.randrange(1, 4)))
    return program, np.random.default_rng(seed).uniform(0.3, 1.2, shape)


def finite_differences(program, x, eps=1e-6):
    out = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        out[i] = (loss(program, x + step) - loss(program, x - step)) / (2 * eps)
    return out


PROGRAMS = range(150)


@pytest.mark.parametrize("seed", PROGRAMS)
def test_random_programs_have_numpys_values_and_the_gradients_of_finite_differences(seed):
    program, x = random_program(seed)
    leaf = tp.tensor(x, requires_grad=True)
    want = run(program, x)
    for got, array in zip(run(program, leaf), want, strict=True):
        np.testing.assert_allclose(got.detach().numpy(), array, rtol=1e-12, atol=1e-12)
    (gradient,) = tp.autograd.grad(loss(program, leaf), leaf)
    np.testing.assert_allclose(gradient.numpy(), finite_differences(program, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", PROGRAMS)
def test_random_programs_under_transforms(seed):
    program, x = random_program(seed)
    examples = np.stack([x, x * 1.1, x - 0.2])
    gradients = [tp.func.grad(lambda leaf: loss(program, leaf))(tp.tensor(e)).numpy() for e in examples]
    np.testing.assert_allclose(gradients[0], finite_differences(program, x), rtol=1e-5, atol=1e-6)
    values = tp.vmap(lambda leaf: loss(program, leaf))(tp.tensor(examples))
    np.testing.assert_allclose(values.numpy(), [loss(program, e) for e in examples], rtol=1e-10, atol=1e-10)
    batched = tp.vmap(tp.func.grad(lambda leaf: loss(program, leaf)))(tp.tensor(examples))
    np.testing.assert_allclose(batched.numpy(), np.stack(gradients), rtol=1e-9, atol=1e-9)
    direction = np.sin(np.arange(x.size)).reshape(x.shape)
    value, tangent = tp.func.jvp(lambda leaf: loss(program, leaf), (tp.tensor(x),), (tp.tensor(direction),))
    np.testing.assert_allclose(value.item(), loss(program, x), rtol=1e-10)
    np.testing.assert_allclose(tangent.item(), (gradients[0] * direction).sum(), rtol=1e-8, atol=1e-9)


# ---- history


def leaf(*shape):
    return tp.ones(*shape, requires_grad=True)


def test_a_write_through_a_view_rewrites_the_history_of_base_and_views():
    w = leaf(2, 3)
    y = w * 2
    row, column = y[0], y[:, 1]
    row.mul_(3)
    column.add_(w[:, 0] * 10)
    assert y.grad_fn.name() == "CopySlices" and row.requires_grad
    assert y.tolist() == [[6, 16, 6], [2, 12, 2]] and row.tolist() == [6, 16, 6]
    row.sum().backward()
    assert w.grad.tolist() == [[16, 6, 6], [0, 0, 0]]


def test_a_buffer_takes_the_history_of_what_is_written_to_it():
    w = leaf(3)
    buffer = tp.zeros(3, 2)
    view = buffer[:, 1]
    for i in range(3):
        buffer[i] = w[i] * (i + 1)
    assert buffer.requires_grad and view.requires_grad
    view.sum().backward()
    assert w.grad.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "overwrite, name, source",
    [
        (lambda y, s: y.copy_(s), "CopyBackwards", [1, 1]),
        (lambda y, s: y.copy_(s[:1]), "CopyBackwards", [2, 0]),
        (lambda y, s: y.copy_(s.float()), "CopyBackwards", [1, 1]),
        (lambda y, s: y.__setitem__(..., s), "CopyBackwards", [1, 1]),
        (lambda y, s: y.fill_(s[1]), "FillBackward0", [0, 2]),
        (lambda y, s: y.copy_(s.detach()), "CopyBackwards", None),
        (lambda y, s: y.fill_(3), "FillBackward0", None),
        (lambda y, s: y.zero_(), "ZeroBackward0", None),
    ],
)
def test_a_tensor_that_is_overwritten_gives_its_old_value_a_gradient_of_zero(overwrite, name, source):
    old, new = (tp.tensor([1.0, 2.0], dtype=tp.float64, requires_grad=True) for _ in range(2))
    y = old * 3
    overwrite(y, new)
    assert y.grad_fn.name() == name
    first, second = tp.autograd.grad(y.sum(), (old, new), allow_unused=True)
    assert first.tolist() == [0, 0] and (second if source is None else second.tolist()) == source


def test_what_was_copied_is_another_tensor_than_its_copy():
    source = leaf(2) * 2
    for copy in (tp.zeros(2).copy_(source), tp.zeros(2)):
        copy[...] = source
        out = (copy * source).sum()
        assert tp.autograd.grad(out, copy, retain_graph=True)[0].tolist() == [2, 2]
        assert tp.autograd.grad(out, source)[0].tolist() == [4, 4]


def test_a_constant_cuts_the_gradient_of_what_it_overwrites():
    w = leaf(3)
    y = w * 2
    y[0] = 5
    y[1:].zero_()
    assert y.requires_grad
    y.sum().backward()
    assert w.grad.tolist() == [0, 0, 0]


def test_copy_fill_and_zero():
    w = leaf(2)
    x = tp.zeros(3, 2)
    x.copy_(w * 2)
    x[0].fill_(w[0] * 7)
    x.sum().backward()
    assert w.grad.tolist() == [4 + 14, 4]
    y = tp.zeros(2, dtype=tp.int64)
    assert (
        y.copy_(tp.tensor(2.9)).tolist() == [2, 2] and y.fill_(3.9).tolist() == [3, 3] and y.zero_().tolist() == [0, 0]
    )
    assert y._version == 3


def test_an_operator_on_itself():
    w = leaf(2)
    y = w * 3
    y.mul_(y)
    y.sum().backward()
    assert y.tolist() == [9, 9] and w.grad.tolist() == [18, 18]


def test_in_place_results_form_no_cycle():
    import gc
    import weakref

    w = leaf(2)
    y = w * 3
    y.mul_(w).exp_().add_(y[0].detach())
    node = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y
        assert node() is None
    finally:
        gc.enable()


# ---- versions


def test_versions_count_writes_to_shared_memory():
    x = tp.zeros(4)
    v, d = x.view(2, 2), x.detach()
    x.add_(1)
    v[0] = 2
    d.mul_(2)
    assert x._version == v._version == d._version == 3
    assert x.clone()._version == 0


@pytest.mark.parametrize(
    "write", [lambda y: y.add_(1), lambda y: y[:1].zero_(), lambda y: y.detach().zero_(), lambda y: y.t_()]
)
def test_a_saved_value_that_was_written_to_is_an_error(write):
    w = leaf(2, 2)
    y = w.exp()
    out = y.sum()
    write(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_a_write_that_no_rule_reads_is_no_error():
    w = leaf(2)
    y = w * 2
    out = (y + 1).sum()
    y.zero_()
    out.backward()
    assert w.grad.tolist() == [2, 2]


FACTOR = tp.tensor([2.0, 4.0, 8.0], dtype=tp.float64)
WRITABLE_RESULTS = {
    "division": lambda x: x / FACTOR,
    "division by": lambda x: FACTOR / x,
    "a number over": lambda x: 1 / x,
    "over its norm": lambda x: x / x.norm(),
    "normalize": functional.normalize,
    "softsign": functional.softsign,
    "nanmean": lambda x: x.nanmean(1),
    "erfinv": lambda x: tp.erfinv(x / 10),
    "slogdet": lambda x: tp.linalg.slogdet(x @ x.mT)[1],
    "frexp": lambda x: tp.frexp(x)[0],
    "frexp of a number": lambda x: tp.frexp(x[0, 0])[0],
    "local_response_norm": lambda x: functional.local_response_norm(x[None], 2),
    "max": lambda x: x.max(1).values,
    "min": lambda x: x.min(0, keepdim=True).values,
    "sort": lambda x: x.sort(descending=True).values,
    "msort": tp.msort,
    "topk": lambda x: x.topk(2).values,
    "median": lambda x: x.median(1).values,
    "nanmedian": lambda x: x.nanmedian(1).values,
    "kthvalue": lambda x: x.kthvalue(2).values,
    "mode": lambda x: x.mode().values,
    "cummax": lambda x: x.cummax(1).values,
    "cummin": lambda x: x.cummin(1).values,
    "max_pool1d": lambda x: functional.max_pool1d(x, 2, 1),
    "max_pool2d": lambda x: functional.max_pool2d(x[None], 2, 1, 1),
    "max_pool3d": lambda x: functional.max_pool3d(x[None, None], (1, 2, 2)),
    "adaptive_max_pool1d": lambda x: functional.adaptive_max_pool1d(x, 1),
    "adaptive_max_pool2d": lambda x: functional.adaptive_max_pool2d(x[None], 1),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("fn", WRITABLE_RESULTS.values(), ids=WRITABLE_RESULTS)
def test_a_result_that_no_rule_reads_may_be_written_to(fn, create_graph):
    x = tp.tensor([[3.0, 1.0, 4.0], [1.5, 9.0, 2.5]], dtype=tp.float64, requires_grad=True)
    (want,) = tp.autograd.grad(fn(x).sum(), [x])
    y = fn(x)
    y += 1
    (got,) = tp.autograd.grad(y.sum(), [x], create_graph=create_graph)
    assert tp.equal(got, want)


@pytest.mark.parametrize("parts", [
    lambda y: y.unsafe_split(2), lambda y: tp.unsafe_chunk(y, 2), lambda y: y.unsafe_split_with_sizes([2, 1]),
])  # fmt: skip
def test_parts_made_one_by_one_may_be_written_to(parts):
    x = leaf(3)
    y = x * 2
    first, second = parts(y)
    first.mul_(5)
    second.mul_(first[0])
    y.sum().backward()
    assert y.tolist() == [10, 10, 20] and x.grad.tolist() == [30, 10, 20]


def test_lengths_and_differences_are_copied():
    x, lengths = tp.randn(4, 2, 3, requires_grad=True).log_softmax(2), tp.tensor([4, 4])
    loss = functional.ctc_loss(x, tp.tensor([[1, 2], [2, 1]]), lengths, tp.tensor([2, 2]))
    lengths.zero_()
    loss.backward()
    assert x.diff(n=0).add_(1) is not x and x.diff(n=0)._version == 0


def test_an_activation_overwrites_what_a_pool_gave():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.ReLU(inplace=True))
    x = tp.randn(1, 1, 8, 8)
    model(x).sum().backward()
    got = model[0].weight.grad
    (want,) = tp.autograd.grad(nn.functional.max_pool2d(model[0](x), 2).relu().sum(), [model[0].weight])
    assert tp.allclose(got, want)


# ---- what is refused


def under_no_grad(fn, *args):
    with tp.no_grad():
        return fn(*args)


@pytest.mark.parametrize(
    "write, message",
    [
        (lambda w, y: w.mul_(2), "a leaf Variable that requires grad is being used in an in-place operation"),
        (lambda w, y: w.__setitem__(0, 1), "a view of a leaf Variable that requires grad"),
        (lambda w, y: w[0].zero_(), "a view of a leaf Variable that requires grad"),
        (lambda w, y: w.t_(), "a leaf Variable that requires grad"),
        (lambda w, y: w.fill_(1), "a leaf Variable that requires grad"),
        (lambda w, y: w.index_add_(0, tp.tensor([0]), tp.ones(1, 3)), "a leaf Variable that requires grad"),
        (lambda w, y: under_no_grad(lambda: y[0]).mul_(2), "created in no_grad mode and is being modified inplace"),
        (lambda w, y: under_no_grad(lambda: w[0]).zero_(), "created in no_grad mode and is being modified inplace"),
        (lambda w, y: y.unbind()[0].mul_(2), "Output 0 of UnbindBackward0 is a view and is being modified inplace"),
        (lambda w, y: y.split(1)[1].mul_(2), "Output 1 of SplitBackward0 is a view"),
        (lambda w, y: y.chunk(2)[0][0].mul_(2), "multiple views"),
        (lambda w, y: tp.zeros(1).expand(3).add_(1), "more than one element of the written-to tensor"),
        (lambda w, y: tp.zeros(3).copy_(tp.zeros(7)), "must match"),
        (lambda w, y: tp.zeros(3).copy_(tp.zeros(1, 3)), r"shape \[3\] doesn't match the broadcast shape \[1, 3\]"),
        (lambda w, y: tp.zeros(()).copy_(tp.zeros(1)), r"shape \[\] doesn't match the broadcast shape \[1\]"),
        (lambda w, y: tp.zeros(3).add_(tp.zeros(2, 3)), "doesn't match the broadcast shape"),
        (lambda w, y: tp.zeros(3).fill_(tp.zeros(2)), "0-dimension"),
        (lambda w, y: tp.zeros(3).fill_(1j), "cannot be converted"),
        (lambda w, y: tp.zeros(3, dtype=tp.int64).add_(0.5), "can't be cast"),
        (lambda w, y: y.resize_(2), "cannot resize variables that require grad"),
        (lambda w, y: y[0].detach_(), "Can't detach views in-place"),
    ],
)
def test_writes_that_are_refused(write, message):
    w = leaf(2, 3)
    y = w * 1
    with pytest.raises(RuntimeError, match=message):
        write(w, y)
    assert w.tolist() == y.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert w._version == y._version == 0


def test_what_is_allowed_under_no_grad_or_without_gradients():
    w = leaf(2)
    with tp.no_grad():
        w.mul_(2)
        w[0] = 7
    assert w.tolist() == [7, 2] and w.is_leaf and w.requires_grad and w._version == 2
    x = tp.ones(2, 2)
    for part in x.unbind():
        part.mul_(3)
    x.expand(1, 2, 2).add_(1)
    assert x.tolist() == [[4, 4], [4, 4]]


ALIKE = {
    "expand": lambda x: x.expand(2, 3),
    "detach": lambda x: x.expand(2, 3).detach(),
    "data": lambda x: tp.broadcast_to(x, (2, 3)).data,
    "from_numpy": lambda x: tp.from_numpy(x.expand(2, 3).numpy()),
    "from_dlpack": lambda x: tp.from_dlpack(x.expand(2, 3)),
}


@pytest.mark.parametrize("expanded", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("dtype", [tp.float32, tp.int64], ids=str)
def test_a_part_of_an_expanded_tensor_is_written_to_where_no_two_elements_share_memory(expanded, dtype):
    x = tp.zeros(6, dtype=dtype)[::2]
    v = expanded(x)
    v[0].fill_(1)
    v[1:, 1] = 5
    v[:1, 2:] += 2
    assert x.tolist() == [1, 5, 3] and v.tolist() == [[1, 5, 3]] * 2
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        v.add_(1)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        v[:] = 1
    assert x.tolist() == [1, 5, 3]


def test_an_expanded_tensor_takes_one_value():
    x = tp.zeros(3)
    assert x.expand(2, 3).fill_(2).tolist() == [[2, 2, 2]] * 2 and x.tolist() == [2, 2, 2]
    x.expand(2, 3).zero_()
    assert x.tolist() == [0, 0, 0]
    x.expand(2, 3).numpy()[0, 1] = 4
    assert x.tolist() == [0, 4, 0]


@pytest.mark.parametrize(
    "write",
    [
        lambda v: v.masked_fill_(tp.tensor([True, False, True]), 1),
        lambda v: v.__setitem__(tp.tensor([[True, False, True], [False, False, False]]), 1),
        lambda v: v.__setitem__((tp.tensor([0, 1]), tp.tensor([0, 2])), tp.ones(2)),
        lambda v: v.index_put_((tp.tensor([0, 1]), tp.tensor([0, 2])), tp.ones(2)),
        lambda v: v.index_fill_(1, tp.tensor([0, 2]), 1),
    ],
)
def test_chosen_elements_of_an_expanded_tensor_are_written_to_with_a_warning(write):
    x = tp.zeros(3)
    with pytest.warns(UserWarning, match="on expanded tensors is deprecated"):
        write(x.expand(2, 3))
    assert x.tolist() == [1, 0, 1]


def test_what_is_made_of_read_only_memory_stays_so():
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = tp.from_numpy(array)
    for t in (x, x.expand(2, 3)[0], x[None].expand(1, 3), x[1:]):
        with pytest.raises(RuntimeError, match="read-only"):
            t.add_(1)
    assert array.tolist() == [0, 0, 0]


def test_a_view_made_under_no_grad_has_no_history_to_tell_once_its_base_has():
    w = leaf(2)
    x = tp.zeros(2)
    with tp.no_grad():
        v = x[:1]
    x.mul_(w)
    with pytest.raises(RuntimeError, match="no_grad mode and its base"):
        v.sum().backward()


def test_read_only_memory_is_not_written_to():
    array = np.ones(3)
    array.flags.writeable = False
    with pytest.warns(UserWarning):
        x = tp.from_numpy(array)
    with pytest.raises(RuntimeError, match="read-only"):
        x.add_(1)
    assert array.tolist() == [1, 1, 1]


# ---- geometry in place


@pytest.mark.parametrize(
    "name, args, shape",
    [
        ("t_", (), (3, 2)),
        ("transpose_", (0, 1), (3, 2)),
        ("swapaxes_", (0, 1), (3, 2)),
        ("unsqueeze_", (1,), (2, 1, 3)),
        ("squeeze_", (), (2, 3)),
        ("as_strided_", ((2, 2), (1, 2), 1), (2, 2)),
    ],
)
def test_a_tensor_becomes_a_view_of_itself(name, args, shape):
    w = leaf(2, 3)
    y = w * tp.arange(6.0).view(2, 3)
    row = y[1]
    want = getattr(y.clone(), name[:-1])(*args)
    assert getattr(y, name)(*args) is y
    assert y.shape == shape and tp.equal(y, want) and not y._is_view() and y._version == 1
    y.mul_(2)
    assert row.shape == (3,)
    assert row.tolist() == [6, 8, 10] if name != "as_strided_" else row.tolist() == [6, 8, 5]
    row.sum().backward()
    assert w.grad[1].tolist() == row.tolist()


def test_a_view_changes_its_own_geometry():
    w = leaf(2, 3)
    y = w * 1
    v = y[0]
    v.unsqueeze_(1)
    v.mul_(5)
    assert v.shape == (3, 1) and v._is_view() and v._base is y
    y.sum().backward()
    assert w.grad.tolist() == [[5, 5, 5], [1, 1, 1]]


def test_geometry_changed_under_no_grad_keeps_the_history():
    w = leaf(2, 3)
    y = w * 2
    with tp.no_grad():
        y.t_()
    (y[0] * tp.tensor([1.0, 10.0])).sum().backward()
    assert w.grad.tolist() == [[2, 0, 0], [20, 0, 0]]


def test_resizing():
    x = tp.arange(6.0).clone()
    address = x.data_ptr()
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and x.data_ptr() == address
    assert x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_(8).tolist()[:6] == [0, 1, 2, 3, 4, 5]
    assert x.resize_as_(tp.zeros(1, 3)).shape == (1, 3)


def test_fill_diagonal():
    assert tp.zeros(3, 2).fill_diagonal_(4).tolist() == [[4, 0], [0, 4], [0, 0]]
    assert tp.zeros(5, 2).fill_diagonal_(4, wrap=True).tolist() == [[4, 0], [0, 4], [0, 0], [4, 0], [0, 4]]


# ---- under transforms


def test_a_write_under_jvp_leaves_the_memory_of_other_tangents_alone():
    def f(x):
        y = x + 1
        y.mul_(2)
        return x + y

    out, tangent = tp.func.jvp(f, (tp.ones(2),), (tp.ones(2),))
    assert out.tolist() == [5, 5] and tangent.tolist() == [3, 3]


def test_views_of_duals_and_batches_see_writes_through_each_other():
    def f(x):
        y = x * 1
        a, b = y[0], y[0]
        a.mul_(y[1])
        return y, b

    (y, b), (t, _) = tp.func.jvp(f, (tp.tensor([2.0, 3.0]),), (tp.tensor([1.0, 10.0]),))
    assert y.tolist() == [6, 3] and b == 6 and t.tolist() == [23, 10]
    y, b = tp.vmap(f)(tp.tensor([[2.0, 3.0], [4.0, 5.0]]))
    assert y.tolist() == [[6, 3], [20, 5]] and b.tolist() == [6, 20]


def test_a_write_to_the_argument_of_vmap_changes_the_tensor_outside():
    x = tp.tensor([[1.0, 2.0], [3.0, 4.0]])
    tp.vmap(lambda row: row.mul_(2))(x)
    assert x.tolist() == [[2, 4], [6, 8]]


# ---- what is whose


@pytest.mark.parametrize(
    "overwrite",
    [
        lambda a, z: a.copy_(z), lambda a, z: a.copy_(z[0]), lambda a, z: a.fill_(z[0]),
        lambda a, z: a.__setitem__(..., z),
    ],
)  # fmt: skip
def test_under_vmap_what_was_copied_stays_apart_from_its_copy(overwrite):
    def f(z):
        a = tp.zeros_like(z)
        overwrite(a, z)
        a.mul_(2)
        s = tp.zeros_like(z)
        source = z * 1
        overwrite(s, source)
        source.mul_(5)
        return a, s

    z = tp.tensor([[1.0, 2.0], [10.0, 20.0]])
    want = [tp.stack(rows).tolist() for rows in zip(*map(f, z))]
    assert [t.tolist() for t in tp.vmap(f)(z)] == want
    assert z.tolist() == [[1, 2], [10, 20]]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: tp.ones(2, 3, 2) @ x, lambda x: x.roll(1), lambda x: tp.kron(x, tp.ones(2)),
        lambda x: tp.quantile(x, tp.tensor([0.5])), lambda x: tp.nn.functional.group_norm(x.expand(1, 2, 2), 2),
    ],
)  # fmt: skip
def test_the_result_of_an_operator_of_several_steps_is_no_view(make):
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    assert not make(x)._is_view() and make(x)._base is None
    assert not make(x).detach_().requires_grad
    with tp.no_grad():
        y = make(x)
    y.mul_(tp.ones((), requires_grad=True))
    assert y.requires_grad


def test_a_view_made_before_its_base_became_a_leaf_is_not_written_to():
    x = tp.zeros(2)
    first = x[0]
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        first.add_(1)
    assert x.tolist() == [0, 0]


def test_the_data_of_what_requires_grad_stay_floating():
    x = leaf(2)
    with pytest.raises(RuntimeError, match="must be floating point or complex dtype, got tensorplay.int64"):
        x.data = tp.tensor([5])
    assert x.tolist() == [1, 1]


def set_imag(z, x):
    z.imag = x


@pytest.mark.parametrize(
    "write, slope",
    [
        (set_imag, [-1, 3]),
        (lambda z, x: z.imag.copy_(x), [-1, 3]),
        (lambda z, x: z.imag.add_(x), [1, 2]),
        (lambda z, x: z.real.mul_(x), [2, 27]),
        (lambda z, x: tp.view_as_real(z)[:, 1].mul_(x), [0, 1]),
        (lambda z, x: tp.view_as_real(z).copy_(x[:, None] * tp.tensor([1.0, 3.0])), [5, 26]),
        (lambda z, x: z[:1].mul_(x[1]), [0, 7]),
    ],
)
def test_gradients_of_what_is_written_to_parts_of_complex_numbers(write, slope):
    x = tp.tensor([1.0, 2.0], dtype=tp.float64, requires_grad=True)
    weights = tp.tensor([1 + 2j, 3 - 1j], dtype=tp.complex128)

    def loss(x):
        z = weights * 1
        write(z, x)
        return (z * weights).real.sum() + (z * z.conj()).real.sum() / 2

    assert tp.autograd.grad(loss(x), x)[0].tolist() == slope
    assert tp.func.grad(loss)(x.detach()).tolist() == slope
    assert tp.autograd.gradcheck(loss, x, check_forward_ad=True)


def in_forward_ad(f, x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, tp.ones_like(x)))).primal


MODES = {
    "plain": lambda f, x: f(x),
    "jvp": lambda f, x: func.jvp(f, (x,), (tp.ones_like(x),))[0],
    "forward_ad": in_forward_ad,
    "vmap": lambda f, x: func.vmap(f)(tp.stack([x, x]))[1],
}
ROWS = tp.tensor([1.0, 2.0])
SHARED = {
    # writes to two rows of three elements each, which share memory: None where it is refused
    "mul_": (lambda y: y.mul_(2), None),
    "exp_": (lambda y: y.exp_(), None),
    "copy_": (lambda y: y.copy_(tp.arange(6.0).reshape(2, 3)), None),
    "a row": (lambda y: y.__setitem__(0, tp.tensor([1.0, 2.0, 3.0])), None),
    "scatter_": (lambda y: y.scatter_(0, tp.tensor([[0, 0, 0]]), 5.0), None),
    "zero_": (lambda y: y.zero_(), [0.0, 0.0]),
    "fill_": (lambda y: y.fill_(3.0), [3.0, 3.0]),
    "masked_fill_": (lambda y: y.masked_fill_(tp.tensor([[True], [False]]), 9.0), [9.0, 2.0]),
    "a masked row": (lambda y: y.__setitem__(tp.tensor([True, False]), 7.0), [7.0, 2.0]),
}


@pytest.mark.filterwarnings("ignore:.*on expanded tensors is deprecated")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("fresh", [False, True])
def test_writes_to_elements_that_share_memory_are_refused_in_every_transform(name, mode, fresh):
    change, want = SHARED[name]

    def f(x):
        y = (tp.tensor([1.0, 2.0]) if fresh else x.clone()).reshape(2, 1).expand(2, 3)
        change(y)
        return y + 0 * x[0]

    if want is None:
        with pytest.raises(RuntimeError, match=r"_: unsupported operation: more than one element"):
            MODES[mode](f, ROWS)
    else:
        assert MODES[mode](f, ROWS).tolist() == [[v] * 3 for v in want]


@pytest.mark.parametrize("mode", ["jvp", "forward_ad", "vmap"])
def test_a_varying_value_is_not_written_to_shared_elements_that_stand_still(mode):
    with pytest.raises(RuntimeError, match="add_: unsupported operation"):
        MODES[mode](lambda x: tp.zeros(2, 1).expand(2, 3).add_(x.reshape(2, 1)), ROWS)
