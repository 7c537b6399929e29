"""Dual tensors made by hand."""

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.autograd.forward_ad as fwad
from tensorplay import autograd, func


def t(x, **kwargs):
    return tp.tensor(x, dtype=tp.float64, **kwargs)


@pytest.fixture(autouse=True)
def no_level_stays():
    yield
    with pytest.raises(RuntimeError, match="no level exists"):
        fwad.exit_dual_level()


def close(got, want):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)


def test_tangents_follow_the_values():
    with fwad.dual_level():
        x = fwad.make_dual(t([1.0, 2.0]), t([1.0, 10.0]))
        assert x.shape == (2,) and x.dtype == tp.float64 and not x.requires_grad
        out = fwad.unpack_dual((x * x).sum())
        assert isinstance(out, fwad.UnpackedDualTensor) and out._fields == ("primal", "tangent")
        assert out.primal.item() == 5.0 and out.tangent.item() == 42.0


def test_tangents_are_computed_whatever_way_an_operator_is_written():
    with fwad.dual_level():
        x = fwad.make_dual(t([1.0, 2.0]), t([1.0, 10.0]))
        for y in (3 * x, x * 3, x.mul(3), tp.mul(x, 3), x + x + x, tp.stack([x, x, x]).sum(0), x.clone().mul_(3)):
            close(fwad.unpack_dual(y).tangent, [3.0, 30.0])
        close(fwad.unpack_dual(x.exp()).tangent, np.exp([1.0, 2.0]) * [1.0, 10.0])
        assert fwad.unpack_dual(tp.zeros(2)).tangent is None
        assert fwad.unpack_dual(x.detach()).tangent is None
        assert fwad.unpack_dual(x > 1).tangent is None


def test_a_tensor_without_tangent_is_its_own_primal():
    x = t([1.0])
    assert fwad.unpack_dual(x) == (x, None)
    with fwad.dual_level():
        assert fwad.unpack_dual(x) == (x, None)


def test_levels_nest_and_are_counted():
    with fwad.dual_level() as outer:
        x = fwad.make_dual(t(3.0), t(1.0))
        with fwad.dual_level() as inner:
            assert (outer, inner) == (0, 1)
            y = fwad.make_dual(x, t(1.0))
            cube = y**3
            first = fwad.unpack_dual(cube).tangent
            assert fwad.unpack_dual(first, level=outer).primal.item() == 27.0
            assert fwad.unpack_dual(first, level=outer).tangent.item() == 18.0
            z = fwad.make_dual(t(5.0), t(7.0), level=outer)
            assert fwad.unpack_dual(z, level=outer).tangent.item() == 7.0
            assert fwad.unpack_dual(z).tangent is None
        assert fwad.unpack_dual(cube).tangent.item() == 27.0  # the inner level has ended: the cube is its primal


def test_a_level_used_as_a_decorator():
    @fwad.dual_level()
    def derivative(f, x):
        return fwad.unpack_dual(f(fwad.make_dual(x, tp.ones_like(x)))).tangent

    assert derivative(lambda x: x**3, t(2.0)).item() == 12.0
    assert derivative(lambda x: derivative(lambda y: y**3 * x, x), t(2.0)).item() == 36.0


def test_levels_end_from_the_inside():
    assert fwad.enter_dual_level() == 0
    assert fwad.enter_dual_level() == 1
    with pytest.raises(RuntimeError, match="not the last one that was created"):
        fwad.exit_dual_level(level=0)
    fwad.exit_dual_level(level=1)
    fwad.exit_dual_level()


def test_after_the_end_a_dual_is_its_primal():
    with fwad.dual_level():
        x = fwad.make_dual(t([1.0, 2.0]), t([1.0, 10.0]))
        y, view = x * 2, (x * 2)[0]
    close(y + 1, [3.0, 5.0])
    close(view * 1, 2.0)
    assert y.tolist() == [2.0, 4.0] and fwad.unpack_dual(y).tangent is None
    y.add_(1)
    close(y + 0, [3.0, 5.0])
    with fwad.dual_level():
        again = fwad.make_dual(y, t([1.0, 1.0]))
        close(fwad.unpack_dual(again * again).tangent, [6.0, 10.0])


def test_an_exception_ends_the_level():
    with pytest.raises(KeyError):
        with fwad.dual_level():
            raise KeyError
    assert fwad.enter_dual_level() == 0
    fwad.exit_dual_level()


def test_in_place_writes_carry_tangents():
    with fwad.dual_level():
        x = fwad.make_dual(t([1.0, 2.0]), t([1.0, 10.0]))
        fresh = tp.zeros(2, dtype=tp.float64)
        fresh[0] = x[1]
        close(fwad.unpack_dual(fresh).tangent, [10.0, 0.0])
        fresh.copy_(x)
        close(fwad.unpack_dual(fresh).tangent, [1.0, 10.0])
        fresh[1:] = 0
        close(fwad.unpack_dual(fresh).tangent, [1.0, 0.0])
        row = x[0:1]
        row *= x[1:]
        close(fwad.unpack_dual(x).primal, [2.0, 2.0])
        close(fwad.unpack_dual(x).tangent, [12.0, 10.0])


def test_a_write_leaves_the_given_tangent_alone():
    v = t([1.0, 10.0])
    with fwad.dual_level():
        x = fwad.make_dual(t([1.0, 2.0]), v)
        x.mul_(3)
        close(fwad.unpack_dual(x).tangent, [3.0, 30.0])
    close(v, [1.0, 10.0])


def test_requires_grad_goes_through():
    x = t([1.0, 2.0], requires_grad=True)
    with fwad.dual_level():
        d = fwad.make_dual(x, t([1.0, 1.0]))
        out = fwad.unpack_dual((d**3).sum())
        close(autograd.grad(out.primal, x, retain_graph=True)[0], [3.0, 12.0])
        close(autograd.grad(out.tangent, x)[0], [6.0, 12.0])  # reverse over forward


def test_a_tangent_that_requires_grad():
    v = t([1.0, 2.0], requires_grad=True)
    with fwad.dual_level():
        out = fwad.unpack_dual((fwad.make_dual(t([3.0, 4.0]), v) ** 2).sum())
        close(autograd.grad(out.tangent, v)[0], [6.0, 8.0])


BAD = [
    (RuntimeError, "different size|shape", lambda: fwad.make_dual(t([1.0]), t([1.0, 2.0]))),
    (RuntimeError, "dtype", lambda: fwad.make_dual(t([1.0]), tp.ones(1, dtype=tp.float32))),
    (
        ValueError,
        "Expected primal to be floating point or complex, but got: tensorplay.int64",
        lambda: fwad.make_dual(tp.tensor([1]), t([1.0])),
    ),
    (ValueError, "Expected tangent to be floating point or complex", lambda: fwad.make_dual(t([1.0]), tp.tensor([1]))),
    (TypeError, "argument 'tangent' must be Tensor, not float", lambda: fwad.make_dual(t([1.0]), 1.0)),
    (TypeError, "argument 'tensor' must be Tensor, not float", lambda: fwad.make_dual(1.0, t([1.0]))),
    (TypeError, "argument 'tensor' must be Tensor, not float", lambda: fwad.unpack_dual(1.0)),
    (
        RuntimeError,
        "already has a forward gradient at the same level",
        lambda: fwad.make_dual(fwad.make_dual(t(1.0), t(1.0)), t(1.0)),
    ),
    (RuntimeError, "no forward AD level 4; 1 levels are active", lambda: fwad.make_dual(t(1.0), t(1.0), level=4)),
]


@pytest.mark.parametrize("error, message, call", BAD)
def test_bad_arguments_are_named(error, message, call):
    with fwad.dual_level(), pytest.raises(error, match=message):
        call()


def test_without_a_level_there_is_no_dual():
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fwad.make_dual(t(1.0), t(1.0))


def test_forward_mode_can_be_switched_off():
    with fwad.dual_level():
        x = fwad.make_dual(t(2.0), t(1.0))
        with fwad._set_fwd_grad_enabled(False):
            assert not fwad._is_fwd_grad_enabled()
            y = x * x
        assert fwad._is_fwd_grad_enabled()
        assert y.item() == 4.0 and fwad.unpack_dual(y).tangent is None
        assert fwad.unpack_dual(x * x).tangent.item() == 4.0


def test_a_dual_prints_its_tangent_until_its_level_ends():
    with fwad.dual_level():
        x = fwad.make_dual(tp.tensor([1.0, 2.0]), tp.tensor([1.0, 10.0]))
        assert repr(x) == "tensor([1., 2.], tangent=tensor([ 1., 10.]))"
    assert repr(x) == "tensor([1., 2.])"


def test_setting_data_keeps_the_tangent():
    with fwad.dual_level():
        y = fwad.make_dual(tp.tensor([1.0, 2.0]), tp.tensor([1.0, 1.0])) * 2
        y.data = tp.tensor([5.0, 6.0])
        primal, tangent = fwad.unpack_dual(y * y)
        assert primal.tolist() == [25, 36] and tangent.tolist() == [20, 24]
        with pytest.raises(RuntimeError, match="shape and dtype of its primal"):
            y.data = tp.tensor([1.0, 2.0, 3.0])
    assert y.tolist() == [5, 6]


def test_setting_data_takes_no_tangent_along():
    with fwad.dual_level():
        x = fwad.make_dual(tp.tensor([1.0, 2.0]), tp.tensor([1.0, 1.0]))
        y = tp.zeros(2)
        y.data = x
        primal, tangent = fwad.unpack_dual(y * 3)
        assert primal.tolist() == [3, 6] and tangent is None


def test_data_are_not_set_where_the_derivative_would_not_follow():
    def change(x):
        y = x * 2
        y.data = tp.tensor([5.0, 6.0])
        return y * y

    x, outside = tp.tensor([1.0, 2.0]), tp.tensor([0.0, 0.0])
    for run in (lambda: func.jvp(change, (x,), (x,)), lambda: func.jvp(func.vmap(change), (x[None],), (x[None],))):
        with pytest.raises(RuntimeError, match=r"mutating directly with `\.data` inside jvp is not allowed"):
            run()
    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        func.vmap(lambda x: setattr(outside, "data", x))(x)
    assert func.vmap(change)(tp.stack([x, x])).tolist() == [[25, 36], [25, 36]]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("removed", [False, True])
def test_hooks_on_a_dual_see_the_gradients_of_what_is_unpacked(which, removed):
    x, kept = tp.tensor([1.0, 2.0], requires_grad=True), []

    def f(x):
        y = x * 2
        handle = y.register_hook(lambda g: g * 10)
        y.retain_grad()
        kept.append(y)
        if removed:
            handle.remove()
        return y * x

    with fwad.dual_level():
        tp.sum(fwad.unpack_dual(f(fwad.make_dual(x, tp.tensor([1.0, 2.0]))))[which]).backward()
        factor = 1 if removed else 10
        assert x.grad.tolist() == [2 + 2 * factor, 4 + 4 * factor]
        assert kept[0].grad.tolist() == [factor, 2 * factor]
