"""Hooks of modules, and what else reaches into them: states, submodules, conversions."""

import copy
import pickle

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn
from tensorplay.nn import module as modules


class Sum(nn.Module):
    def forward(self, x, y=0, *, scale=1):
        return (x + y) * scale


class Fails(nn.Module):
    def forward(self, x):
        raise ValueError("forward failed")


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = nn.Buffer(tp.ones(1))
        self.scratch = nn.Buffer(tp.ones(1), persistent=False)


def test_forward_hooks_see_and_replace_keyword_arguments():
    m = Sum()
    m.register_forward_pre_hook(lambda m, args, kwargs: (args, {**kwargs, "scale": 3}), with_kwargs=True)
    m.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["scale"], with_kwargs=True)
    assert m(tp.tensor(1.0), scale=2).item() == 6.0
    m.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="tuple of \\(new_args, new_kwargs\\)"):
        m(tp.tensor(1.0))


def test_hooks_that_are_prepended_come_first():
    m, seen = nn.Identity(), []
    m.register_forward_hook(lambda *a: seen.append("b"))
    m.register_forward_hook(lambda *a: seen.append("a"), prepend=True)
    m.register_forward_pre_hook(lambda *a: seen.append(2))
    m.register_forward_pre_hook(lambda *a: seen.append(1), prepend=True)
    m(tp.tensor(1.0))
    assert seen == [1, 2, "a", "b"]


def test_hooks_that_are_always_called_see_failures():
    m, seen = Fails(), []
    m.register_forward_hook(lambda m, args, out: seen.append(out))
    m.register_forward_hook(lambda m, args, out: seen.append(("always", out)), always_call=True)
    with pytest.raises(ValueError, match="forward failed"):
        m(tp.tensor(1.0))
    assert seen == [("always", None)]

    def broken(m, args, out):
        raise KeyError("hook")

    m.register_forward_hook(broken, always_call=True)
    with pytest.raises(ValueError, match="forward failed"), pytest.warns(UserWarning, match="silenced"):
        m(tp.tensor(1.0))


def test_full_backward_hooks_see_and_replace_gradients():
    m, seen = Sum(), []
    x, y = tp.tensor([1.0, 2.0], requires_grad=True), tp.tensor([3.0, 4.0], requires_grad=True)
    first = m.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 10,))
    second = m.register_full_backward_hook(
        lambda m, inputs, outputs: seen.append((len(inputs), outputs[0].tolist())) or (inputs[0] + 1, None)
    )
    m(x, y, scale=2).sum().backward()
    assert seen == [(2, [10.0, 10.0])] and x.grad.tolist() == [21.0, 21.0] and y.grad is None
    first.remove()
    second.remove()
    m(x, y).sum().backward()
    assert x.grad.tolist() == [22.0, 22.0] and y.grad.tolist() == [1.0, 1.0] and len(seen) == 1


def test_backward_hooks_of_a_module_whose_inputs_require_no_gradient():
    m, seen = nn.Linear(2, 1), []
    m.register_full_backward_hook(lambda m, inputs, outputs: seen.append((inputs, outputs[0].tolist())))
    m(tp.ones(1, 2)).sum().backward()
    assert seen == [((None,), [[1.0]])] and m.weight.grad.tolist() == [[1.0, 1.0]]


def test_backward_hooks_within_other_transforms():
    m, seen = Sum(), []
    m.register_full_backward_hook(lambda m, inputs, outputs: seen.append(1))
    x = tp.tensor([1.0, 2.0])
    assert tp.func.grad(lambda x: (m(x, x) ** 2).sum())(x).tolist() == [8.0, 16.0] and seen == [1]
    assert tp.vmap(tp.func.grad(lambda x: m(x, x) ** 2))(x).tolist() == [8.0, 16.0]


def test_backward_hooks_with_the_wrong_number_of_gradients():
    m = Sum()
    m.register_full_backward_hook(lambda m, inputs, outputs: (inputs[0], inputs[0], inputs[0]))
    x = tp.tensor(1.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="returned 3 gradients, but 1"):
        m(x).backward()


@pytest.mark.parametrize(
    ("register", "hook", "seen"),
    [
        (modules.register_module_forward_hook, lambda m, args, out: out + 1, [2.0, 2.0]),
        (modules.register_module_forward_pre_hook, lambda m, args: (args[0] * 5,), [5.0, 5.0]),
    ],
)
def test_hooks_of_all_modules(register, hook, seen):
    with register(hook):
        assert nn.Identity()(tp.ones(2)).tolist() == seen
    assert nn.Identity()(tp.ones(2)).tolist() == [1.0, 1.0]


def test_backward_hooks_of_all_modules():
    seen = []
    x = tp.ones(2, requires_grad=True)
    with modules.register_module_full_backward_hook(lambda m, i, o: seen.append(type(m).__name__)):
        with modules.register_module_full_backward_pre_hook(lambda m, o: (o[0] * 3,)):
            nn.Identity()(x).sum().backward()
    assert seen == ["Identity"] and x.grad.tolist() == [3.0, 3.0]


def test_state_dict_hooks():
    m, seen = nn.Sequential(nn.Linear(1, 1)), []
    m[0].register_state_dict_pre_hook(lambda m, prefix, keep_vars: seen.append((prefix, keep_vars)))
    m[0].register_state_dict_post_hook(lambda m, state, prefix, meta: state.update({prefix + "more": tp.ones(1)}))
    assert list(m.state_dict()) == ["0.weight", "0.bias", "0.more"] and seen == [("0.", False)]
    m[0].register_state_dict_post_hook(lambda m, state, prefix, meta: state)
    with pytest.raises(RuntimeError, match="must return None"):
        m.state_dict()


def test_load_state_dict_hooks():
    m, other = nn.Linear(1, 1), nn.Linear(1, 1)
    renamed = {"w": other.weight.detach(), "bias": other.bias.detach()}

    def rename(module, state, prefix, *rest):
        state[prefix + "weight"] = state.pop(prefix + "w")

    handle = m.register_load_state_dict_pre_hook(rename)
    m.load_state_dict(renamed)
    assert tp.equal(m.weight, other.weight) and list(renamed) == ["w", "bias"]
    handle.remove()
    with pytest.raises(RuntimeError, match="Missing"):
        m.load_state_dict({"bias": tp.zeros(1)})
    m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert m.load_state_dict({"bias": tp.zeros(1)}).missing_keys == [] and m.bias.item() == 0


def test_extra_state_is_saved_and_loaded():
    class Counter(nn.Module):
        count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    m, other = nn.Sequential(Counter()), nn.Sequential(Counter())
    m[0].count = 7
    state = m.state_dict()
    assert state == {"0._extra_state": {"count": 7}}
    other.load_state_dict(state)
    assert other[0].count == 7
    with pytest.raises(RuntimeError, match='Missing key.*"0._extra_state"'):
        other.load_state_dict({})
    with pytest.raises(RuntimeError, match="Unexpected key"):
        nn.Sequential(nn.Identity()).load_state_dict(state)


def test_overridden_loading_takes_part():
    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            super()._load_from_state_dict(state_dict, prefix, *rest)

    m = nn.Sequential(Renamed(1, 1))
    m.load_state_dict({"0.kernel": tp.tensor([[3.0]]), "0.bias": tp.zeros(1)})
    assert m[0].weight.tolist() == [[3.0]]
    with pytest.raises(RuntimeError, match="size mismatch"):
        m.load_state_dict({"0.kernel": tp.ones(1, 1), "0.bias": tp.zeros(2)})
    assert m[0].weight.tolist() == [[3.0]]


def test_state_dicts_know_the_versions():
    assert nn.Sequential(nn.BatchNorm1d(1)).state_dict()._metadata == {"": {"version": 1}, "0": {"version": 2}}


def test_submodules_are_replaced_by_name():
    m = nn.Sequential(nn.Sequential(nn.Linear(1, 1)))
    m.set_submodule("0.0", nn.Tanh())
    assert isinstance(m[0][0], nn.Tanh)
    m.set_submodule("0.last", nn.ReLU())
    assert list(m[0]._modules) == ["0", "last"]
    with pytest.raises(AttributeError, match="no attribute `9`"):
        m.set_submodule("0.9", nn.Tanh(), strict=True)
    with pytest.raises(ValueError, match="without a target name"):
        m.set_submodule("", nn.Tanh())
    with pytest.raises(ValueError, match="not an nn.Module"):
        m.set_submodule("0", 3)


def test_duplicates_are_named_on_request():
    a = nn.Linear(1, 1, bias=False)
    m = nn.ModuleList([a, a])
    assert [n for n, _ in m.named_parameters(remove_duplicate=False)] == ["0.weight", "1.weight"]
    assert [n for n, _ in m.named_modules(remove_duplicate=False)] == ["", "0", "1"]
    assert len(list(m.modules(remove_duplicate=False))) == 3 and len(list(m.modules())) == 2


@pytest.mark.parametrize("args", [("cpu", tp.float64), (tp.float64,), (tp.zeros(1, dtype=tp.float64),)])
def test_to_takes_dtype_device_or_tensor(args):
    assert nn.Linear(1, 1).to(*args).weight.dtype is tp.float64


def test_to_refuses_what_is_no_number_of_the_reals_or_complex():
    with pytest.raises(TypeError, match="only accepts floating point or complex"):
        nn.Linear(1, 1).to(tp.int64)
    with pytest.raises(TypeError, match="unexpected keyword argument 'color'"):
        nn.Linear(1, 1).to(color=1)


def test_modules_on_the_meta_device_get_memory_by_to_empty():
    m = nn.Linear(2, 3, device="meta")
    assert m.weight.is_meta
    weight = m.weight
    m.to_empty(device="cpu")
    assert m.weight is weight and not m.weight.is_meta and m.weight.shape == (3, 2)
    assert nn.utils.skip_init(nn.Linear, 2, 3).weight.shape == (3, 2)
    with pytest.raises(RuntimeError, match="support a 'device' arg"):
        nn.utils.skip_init(nn.ReLU)


def test_type_and_cpu():
    m = nn.Linear(1, 1).type(tp.float64).cpu()
    assert m.bias.dtype is tp.float64


def test_apply_visits_children_first():
    seen = []
    nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())).apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["ReLU", "Tanh", "Sequential", "Sequential"]


def test_buffers_assigned_as_such():
    m = Holder()
    for twin in (m, copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert list(twin.state_dict()) == ["kept"] and [n for n, _ in twin.named_buffers()] == ["kept", "scratch"]
        assert isinstance(twin.kept, nn.Buffer)


def test_copies_keep_hooks_and_old_pickles_get_them():
    m = nn.Identity()
    m.register_forward_hook(double)
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert twin(tp.tensor(1.0)).item() == 2.0
    state = {k: v for k, v in m.__dict__.items() if "hook" not in k}
    old = nn.Identity.__new__(nn.Identity)
    old.__setstate__(state)
    assert old(tp.tensor(1.0)).item() == 1.0 and list(old.state_dict()) == []


def double(module, args, output):
    return output * 2


def test_sequential_is_a_list():
    m = nn.Sequential(nn.ReLU(), nn.Tanh())
    m.insert(1, nn.Sigmoid())
    assert [type(x).__name__ for x in m] == ["ReLU", "Sigmoid", "Tanh"] and list(m._modules) == ["0", "1", "2"]
    assert isinstance(m.pop(1), nn.Sigmoid) and list(m._modules) == ["0", "1"]
    m[0] = nn.GELU()
    del m[1]
    m.extend([nn.ReLU()])
    assert [type(x).__name__ for x in m + m] == ["GELU", "ReLU"] * 2 and len(m * 3) == 6
    m += nn.Sequential(nn.Tanh())
    assert [type(x).__name__ for x in m[1:]] == ["ReLU", "Tanh"] and "0" not in dir(m)
    with pytest.raises(IndexError):
        m[3]
    with pytest.raises(ValueError, match="Non-positive"):
        m * 0


def test_module_list_and_dict():
    m = nn.ModuleList([nn.ReLU()])
    m.insert(0, nn.Tanh())
    m += [nn.GELU()]
    m[1] = nn.Sigmoid()
    assert [type(x).__name__ for x in m] == ["Tanh", "Sigmoid", "GELU"]
    del m[0]
    assert isinstance(m.pop(-1), nn.GELU) and len(m) == 1 and len(m + m) == 2
    with pytest.raises(TypeError, match="not a Module subclass"):
        m.append(3)
    d = nn.ModuleDict({"a": nn.ReLU()})
    d.update([("b", nn.Tanh())])
    assert list(d) == ["a", "b"] == list(d.keys()) and "a" in d and len(d) == 2
    assert isinstance(d.pop("a"), nn.ReLU) and [k for k, _ in d.items()] == ["b"]
    d.clear()
    assert not list(d.values())


def test_parameter_list_and_dict():
    m = nn.ParameterList([tp.ones(2), nn.Parameter(tp.zeros(1)), 3])
    assert len(list(m.parameters())) == 2 and m[2] == 3 and len(m) == 3 and len(m[:2]) == 2
    m[0] = tp.zeros(4)
    m += [tp.ones(1)]
    assert m.pop(1).shape == (1,) and [getattr(v, "shape", v) for v in m] == [(4,), 3, (1,)]
    assert list(m.state_dict()) == ["0", "2"]
    assert "(1): Object of type: int" in repr(m)
    d = nn.ParameterDict({"a": tp.ones(2), "b": 3})
    d["c"] = tp.ones(1)
    assert [n for n, _ in d.named_parameters()] == ["a", "c"] and list(reversed(d)) == ["c", "b", "a"]
    assert d.get("x", 5) == 5 and d.setdefault("e", 1) == 1 and d.popitem() == ("e", 1)
    assert list((d | nn.ParameterDict({"z": 1})).keys()) == ["a", "b", "c", "z"] and len(d.copy()) == 3
    del d["a"]
    assert "a" not in d and d.pop("b") == 3 and list(d.fromkeys(["q"], 2).items()) == [("q", 2)]
    with pytest.raises(KeyError, match="already exists"):
        d["forward"] = tp.ones(1)
    with pytest.raises(RuntimeError, match="should not be called"):
        d(1)


def test_containers_of_parameters_are_copied():
    m = nn.ParameterList([tp.ones(2)])
    twin = copy.deepcopy(m)
    with tp.no_grad():
        twin[0].zero_()
    np.testing.assert_array_equal(m[0].detach().numpy(), [1, 1])


def test_data_parallel_on_the_host_is_its_module():
    inner = nn.Linear(1, 1)
    m = nn.DataParallel(inner)
    x = tp.ones(2, 1)
    assert tp.equal(m(x), inner(x)) and list(m.state_dict()) == ["module.weight", "module.bias"]
    with pytest.raises(ValueError, match="no devices"):
        nn.DataParallel(inner, device_ids=[0])


def test_what_modules_are_given_is_seen_and_may_be_replaced():
    seen = []
    handles = [
        modules.register_module_parameter_registration_hook(lambda m, name, p: seen.append(("parameter", name))),
        modules.register_module_buffer_registration_hook(lambda m, name, b: b * 0),
        modules.register_module_module_registration_hook(lambda m, name, c: seen.append(("module", name))),
    ]
    try:
        m = nn.Sequential(nn.BatchNorm1d(1))
        m.weight = nn.Parameter(tp.ones(1))
        m.none = None
        m.register_buffer("ones", tp.ones(1))
        m.register_parameter("empty", None)
    finally:
        for handle in handles:
            handle.remove()
    assert seen == [("parameter", "weight"), ("parameter", "bias"), ("module", "0"), ("parameter", "weight")]
    assert m.ones.item() == 0.0


def test_hooks_that_are_always_called_get_the_output_of_a_forward_that_came_to_its_end():
    m, seen = nn.Identity(), []

    def fails(module, args, output):
        raise ValueError("hook")

    m.register_forward_hook(fails)
    m.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
    with pytest.raises(ValueError, match="hook"):
        m(3)
    assert seen == [3]


def test_backward_hooks_say_that_they_cannot_see_outputs_in_a_dict():
    class Named(nn.Module):
        def forward(self, x):
            return {"twice": 2 * x}

    m, x = Named(), tp.ones(1, requires_grad=True)
    m.register_full_backward_hook(lambda *_: pytest.fail("called"))
    with pytest.warns(UserWarning, match="the backward hooks of Named are not called: forward returned dict"):
        out = m(x)
    out["twice"].sum().backward()
    assert x.grad.item() == 2.0


def test_hooks_of_all_modules_take_the_options_of_one_modules():
    seen, m = [], Sum()
    with modules.register_module_forward_hook(
        lambda module, args, kwargs, output: seen.append((kwargs, output)), with_kwargs=True, always_call=True
    ):
        m(tp.ones(1), scale=2)
        with pytest.raises(TypeError):
            m(tp.ones(1), scale="x", y=None)
    m(tp.ones(1))
    assert [(kwargs, None if output is None else output.item()) for kwargs, output in seen] == [
        ({"scale": 2}, 2.0), ({"scale": "x", "y": None}, None)]  # fmt: skip
