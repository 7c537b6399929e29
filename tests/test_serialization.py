"""Saving and loading; tests/data/checkpoint.pt was saved by PyTorch (tools/make_checkpoint.py)."""

import io
import pickle
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn, serialization

CHECKPOINT = Path(__file__).parent / "data" / "checkpoint.pt"
OLD_CHECKPOINT = CHECKPOINT.with_name("checkpoint_1_5.pt")
DTYPES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64
float16 bfloat16 float32 float64 complex64 complex128""".split()


def optimizer_state():
    weights = [nn.Parameter(tp.zeros(2, 3)), nn.Parameter(tp.zeros(3))]
    optimizer = tp.optim.SGD([{"params": weights[:1]}, {"params": weights[1:], "lr": 0.25}], lr=0.5, momentum=0.75)
    for weight in weights:
        weight.grad = tp.arange(float(weight.numel())).reshape(weight.shape)
    optimizer.step()
    return optimizer.state_dict()


def content():
    """What tools/make_checkpoint.py has PyTorch save."""
    weight = tp.arange(6.0).reshape(2, 3)
    attributed = tp.ones(2)
    attributed.label = "ones"
    made = OrderedDict(
        weight=nn.Parameter(weight),
        row=weight[1:].t(),
        buffer=nn.Buffer(weight),
        leaf=tp.ones(2, requires_grad=True),
        meta=tp.zeros(2, 3, device="meta"),
        empty=tp.zeros(0, 3),
        number=tp.tensor(2.5),
        expanded=tp.ones(4).expand(3, 4),
        attributed=attributed,
        values=[1, 2.5, "text", None, (True,), {3}, b"bytes", 1j, slice(1, 2)],
        dtype=tp.float16,
        size=tp.Size([1, 2]),
        device=tp.device("cpu"),
        layout=tp.strided,
        nested={"epoch": 3, 4: [OrderedDict(part=weight[:, ::2]), (weight.to(tp.bfloat16),)], ("a", 1): 2**70},
        optimizer=optimizer_state(),
        **{name: tp.arange(3).to(getattr(tp, name)) for name in DTYPES},
    )
    made._metadata = {"version": 2}
    return made


def saved(obj, **options):
    file = io.BytesIO()
    tp.save(obj, file, **options)
    file.seek(0)
    return file


def load(file, *args, **options):
    file.seek(0)
    return tp.load(file, *args, **options)


def check_same(got, want):
    assert list(got) == list(want) and got._metadata == want._metadata
    check_same_value(dict(got), dict(want), "")
    assert got["attributed"].label == "ones" and got["nested"][4][0]["part"].data_ptr() == got["weight"].data_ptr()
    with tp.no_grad():
        got["weight"][1, 0] = 50.0
    assert got["row"].tolist() == [[50.0], [4.0], [5.0]] and got["buffer"][1, 0] == 50.0  # one memory


def check_same_value(g, w, name):
    assert type(g) is type(w), name
    if isinstance(w, dict):
        assert list(g) == list(w), name
    if isinstance(w, (dict, list, tuple)):
        for key in w if isinstance(w, dict) else range(len(w)):
            check_same_value(g[key], w[key], f"{name}[{key!r}]")
    elif isinstance(w, tp.Tensor):
        for attribute in ("dtype", "shape", "device", "requires_grad", "is_leaf"):
            assert getattr(g, attribute) == getattr(w, attribute), (name, attribute)
        if not w.is_meta:
            assert (g.stride(), g.storage_offset(), g.tolist()) == (w.stride(), w.storage_offset(), w.tolist()), name
    else:
        assert g == w, name


@pytest.mark.parametrize("options", [{}, {"weights_only": False}, {"mmap": True}, {"map_location": "cpu"}])
def test_files_of_pytorch_are_loaded(options):
    check_same(tp.load(CHECKPOINT, **options), content())


@pytest.mark.parametrize("options", [{}, {"weights_only": False}, {"map_location": "cpu"}])
def test_files_from_before_pytorch_1_6_are_loaded(options):
    check_same(tp.load(OLD_CHECKPOINT, **options), content())
    assert tp.load(OLD_CHECKPOINT, map_location="meta")["weight"].is_meta
    with open(OLD_CHECKPOINT, "rb") as file:
        tp.load(file)
        assert not file.read()  # another one could follow
    with pytest.raises(RuntimeError, match="as mmap=True needs"):
        tp.load(OLD_CHECKPOINT, mmap=True)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("protocol", range(1, pickle.HIGHEST_PROTOCOL + 1))
def test_what_was_saved_is_loaded(protocol, weights_only):
    check_same(tp.load(saved(content(), pickle_protocol=protocol), weights_only=weights_only), content())


def test_a_file_names_what_pytorch_names():
    names = []
    for source in (CHECKPOINT, saved(content())):
        with zipfile.ZipFile(source) as archive:
            assert archive.testzip() is None
            root = archive.namelist()[0].partition("/")[0]
            text = archive.read(root + "/data.pkl")
            names.append({line for line in text.split(b"\n") if line.startswith(b"_rebuild")})
            names[-1] |= {n.removeprefix(root) for n in archive.namelist() if "serialization_id" not in n}
    assert len(names[0]) > 20 and names[0] == names[1]


def test_memory_is_aligned_in_the_file_and_read_when_it_is_used(tmp_path):
    path = tmp_path / "large.pt"
    x = tp.arange(100_000.0)
    tp.save([x, x[::2], tp.ones(3)], path)
    loaded = tp.load(path, mmap=True)
    assert isinstance(loaded[0]._data.base.base, np.memmap)
    assert [t.data_ptr() % 64 for t in loaded] == [0, 0, 0]
    assert tp.equal(loaded[0], x) and tp.equal(loaded[1], x[::2])
    loaded[0][0] = 7.0  # a copy: the file stays as it is
    assert loaded[1][0] == 7.0 and tp.load(path)[0][0] == 0.0


def test_models_and_optimizers_continue_where_they_were(tmp_path):
    def step(model, optimizer):
        optimizer.zero_grad()
        model(tp.arange(12.0).reshape(4, 3)).square().mean().backward()
        optimizer.step()

    model = nn.Linear(3, 2)
    optimizer = tp.optim.Adam(model.parameters())
    step(model, optimizer)
    tp.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "state.pt")
    other = nn.Linear(3, 2)
    other_optimizer = tp.optim.Adam(other.parameters())
    state = tp.load(tmp_path / "state.pt")
    other.load_state_dict(state["model"])
    other_optimizer.load_state_dict(state["optimizer"])
    step(model, optimizer)
    step(other, other_optimizer)
    assert tp.equal(model.weight, other.weight) and tp.equal(model.bias, other.bias)


def test_whole_modules_need_trust(tmp_path):
    model = nn.Linear(3, 2)
    tp.save(model, tmp_path / "model.pt")
    with pytest.raises(pickle.UnpicklingError, match="Linear was not an allowed global"):
        tp.load(tmp_path / "model.pt")
    again = tp.load(tmp_path / "model.pt", weights_only=False)
    assert tp.equal(again.weight, model.weight) and isinstance(again.weight, nn.Parameter)


class Point:
    def __init__(self, x):
        self.x = x


def test_further_classes_may_be_allowed():
    file = saved(Point(tp.ones(2)))
    with pytest.raises(pickle.UnpicklingError, match="Point was not an allowed global"):
        tp.load(file)
    with serialization.safe_globals([Point]):
        assert tp.load(file).x.tolist() == [1.0, 1.0]
        assert serialization.get_safe_globals() == [Point]
    assert serialization.get_safe_globals() == []
    with zipfile.ZipFile(file) as archive:
        renamed = repacked(archive, lambda text: text.replace(b"Point", b"Pixel"))
    serialization.add_safe_globals([(Point, f"{__name__}.Pixel")])
    assert isinstance(tp.load(renamed), Point)
    serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        load(renamed)


def repacked(archive, change, without=(), extra=()):
    """The archive with another pickle, and with files left out or added."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name in archive.namelist():
            if not name.endswith(tuple(without) or ("\0",)):
                text = archive.read(name)
                target.writestr(name, change(text) if name.endswith("data.pkl") else text)
        for name, text in extra:
            target.writestr(name, text)
    out.seek(0)
    return out


def archive_of(pickled, *storages):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a/data.pkl", pickled)
        for i, storage in enumerate(storages):
            archive.writestr(f"a/data/{i}", storage)
    out.seek(0)
    return out


class Malice:
    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


FLOATS = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"


def tensor_pickle(offset, size, stride):
    """A pickle of a tensor over a storage of two floats."""
    offset, size, stride = (b"J" + n.to_bytes(4, "little", signed=True) for n in (offset, *size, *stride))
    arguments = FLOATS + offset + size + b"\x85" + stride + b"\x85" + b"\x89N"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + arguments + b"tR."


def test_a_pickle_written_by_hand_is_read():
    file = archive_of(tensor_pickle(1, (1,), (1,)), np.array([1.0, 2.0], np.float32).tobytes())
    assert tp.load(file).tolist() == [2.0]


@pytest.mark.parametrize(
    ("offset", "size", "stride"), [(1, (2,), (1,)), (-1, (1,), (1,)), (0, (2,), (-1,)), (0, (2,), (2,))]
)
def test_tensors_outside_of_their_memory_are_refused(offset, size, stride):
    file = archive_of(tensor_pickle(offset, size, stride), bytes(8))
    with pytest.raises(pickle.UnpicklingError, match="does not lie within its storage of 8 bytes"):
        tp.load(file)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Malice(print, "run"), "builtins.print"),
        (Malice(eval, "1"), "builtins.eval"),
        (Malice(getattr, "a", "upper"), "builtins.getattr"),
        (np.ones(2), "_reconstruct"),
        (np.float64(1.0), "scalar"),
    ],
)
def test_what_is_not_allowed_is_neither_found_nor_called(value, name, capsys):
    with pytest.raises(pickle.UnpicklingError, match=f"{name} was not an allowed global"):
        tp.load(archive_of(pickle.dumps(value, 2)))
    assert capsys.readouterr().out == ""


def test_a_file_cannot_change_classes_and_functions():
    for named in (b"ctorch\nTensor\n", b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch\nfloat32\n"):
        change = b"\x80\x02" + named + b"N}X\x07\x00\x00\x00__doc__X\x01\x00\x00\x00xs\x86b."
        with pytest.raises(pickle.UnpicklingError, match="Can only build"):
            tp.load(archive_of(change))
    disguised = b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n(ctorch\nFloatStorage\nN)}tR."
    with pytest.raises(pickle.UnpicklingError, match="where a tensor should be"):
        tp.load(archive_of(disguised))


ERRORS = [
    (lambda: tp.load(io.BytesIO(b"no zip")), pickle.UnpicklingError, "no checkpoint, neither in the zip format"),
    (lambda: tp.load(io.BytesIO()), EOFError, "is empty"),
    (lambda: tp.save(1, "no/such/folder/a.pt"), RuntimeError, "Parent directory .* does not exist"),
    (lambda: tp.load("missing.pt"), FileNotFoundError, "missing.pt"),
    (lambda: tp.load(3), AttributeError, "'f' must be a path, or a file with 'read', got int"),
    (lambda: tp.save(1, 3), AttributeError, "'f' must be a path, or a file with 'write', got int"),
    (lambda: tp.load(CHECKPOINT, pickle_module=sys), ValueError, "'pickle_module' must be pickle"),
    (lambda: tp.load(io.BytesIO(), mmap=True), ValueError, "must be a path with mmap=True"),
    (lambda: tp.load(CHECKPOINT, map_location="cuda"), RuntimeError, "device cuda, and there is none"),
    (lambda: tp.save(1, io.BytesIO(), pickle_module=sys), ValueError, "'pickle_module' must be pickle"),
    (lambda: tp.save(1, io.BytesIO(), _use_new_zipfile_serialization=False), ValueError, "only the zip format"),
    (lambda: tp.vmap(lambda x: tp.save(x, io.BytesIO()))(tp.ones(2)), RuntimeError, "inside a transform"),
    (lambda: tp.load(archive_of(b"\x80\x02X\x01\x00\x00\x00aQ.")), pickle.UnpicklingError, "other than a storage"),
    (lambda: tp.load(archive_of(tensor_pickle(0, (1,), (1,)))), pickle.UnpicklingError, "lacks a/data/0"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_archives_of_other_kinds_are_told_apart():
    with zipfile.ZipFile(CHECKPOINT) as archive:
        with pytest.raises(RuntimeError, match="TorchScript"):
            tp.load(repacked(archive, bytes, extra=[("checkpoint/constants.pkl", b"")]))
        with pytest.raises(RuntimeError, match=r"no data\.pkl"):
            tp.load(repacked(archive, bytes, without=["data.pkl"]))


def test_devices_of_files_are_mapped():
    with zipfile.ZipFile(saved(tp.tensor(2.5))) as archive:
        cuda = repacked(archive, lambda text: text.replace(b"\x03\x00\x00\x00cpu", b"\x06\x00\x00\x00cuda:0"))
    with pytest.raises(RuntimeError, match="device cuda:0, and there is none"):
        tp.load(cuda)
    for location in ("cpu", tp.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage):
        assert load(cuda, location).item() == 2.5
    assert load(cuda, "meta").is_meta
    assert tp.load(CHECKPOINT, lambda storage, location: None)["number"].item() == 2.5


def test_whole_objects_of_pytorch_are_told_from_damage(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.nn.modules.linear", None)  # also where PyTorch is installed
    file = archive_of(b"\x80\x02ctorch.nn.modules.linear\nLinear\n.")
    with pytest.raises(pickle.UnpicklingError, match=r"torch.nn.modules.linear.Linear, whose code .*state_dict\(\)"):
        tp.load(file, weights_only=False)


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_device_that_a_file_names_by_itself_is_mapped_if_there_is_none(weights_only):
    with zipfile.ZipFile(saved({"args": {"device": tp.device("cpu")}, "w": tp.device("meta")})) as archive:
        cuda = repacked(archive, lambda text: text.replace(b"\x03\x00\x00\x00cpu", b"\x06\x00\x00\x00cuda:0"))
    with pytest.raises(RuntimeError, match="the file names the device cuda:0, and there is none; .*map_location='cpu'"):
        tp.load(cuda, weights_only=weights_only)
    for location in ("cpu", tp.device("cpu"), {"cuda:0": "cpu"}):
        cuda.seek(0)
        found = tp.load(cuda, location, weights_only=weights_only)
        assert found == {"args": {"device": tp.device("cpu")}, "w": tp.device("meta")}


@pytest.mark.parametrize(
    "marks, want", [({"conj": True}, [1 - 2j]), ({"neg": True}, [-1 - 2j]), ({"conj": True, "neg": True}, [-1 + 2j]),
                    ({"conj": False}, [1 + 2j])]
)  # fmt: skip
def test_tensors_that_are_marked_as_conjugates_or_negatives_are_computed(marks, want):
    metadata = pickle.dumps(marks, 2)[2:-1].replace(b"q\x00", b"").replace(b"q\x01", b"").replace(b"q\x02", b"")
    text = tensor_pickle(0, (1,), (1,)).replace(b"K\x02tQ", b"K\x01tQ").replace(b"\x89N", b"\x89N" + metadata)
    file = archive_of(text.replace(b"FloatStorage", b"ComplexFloatStorage"), np.array([1 + 2j], np.complex64).tobytes())
    assert tp.load(file).tolist() == want


def test_the_order_of_bytes_is_that_of_the_file():
    x = tp.tensor([1.0, 2.0])
    with zipfile.ZipFile(saved(x)) as archive:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as target:
            for name in archive.namelist():
                text = archive.read(name)
                text = x.numpy().byteswap().tobytes() if name.endswith("data/0") else text
                other = {"little": b"big", "big": b"little"}[sys.byteorder]
                target.writestr(name, other if name.endswith("byteorder") else text)
    assert load(out).tolist() == [1.0, 2.0]
    file = saved(x, _disable_byteorder_record=True)
    with zipfile.ZipFile(file) as archive:
        assert not [name for name in archive.namelist() if "byteorder" in name]
    assert load(file).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "t",
    [
        tp.from_numpy(np.arange(24.0).reshape(2, 3, 4)[:, ::2].transpose(2, 0, 1)),
        tp.from_numpy(np.asfortranarray(np.arange(6.0).reshape(2, 3))),
        tp.tensor([1 + 2j, 3 - 4j]).imag,
        tp.tensor([1 + 2j, 3 - 4j])[1:].real,
        tp.from_numpy(np.frombuffer(bytearray(range(8)), np.int16)),
        tp.zeros(3, 0)[1:],
        tp.tensor(3.0).expand(2, 2),
    ],
    ids=lambda t: f"{t.dtype}{tuple(t.shape)}",
)
def test_memory_of_any_form_is_saved(t):
    got = tp.load(saved(t))
    assert got.dtype is t.dtype and got.shape == t.shape and got.tolist() == t.tolist()
    got.add_(1) if 0 not in got.stride() else None


def test_one_memory_under_two_dtypes_becomes_two():
    z = tp.tensor([1 + 2j])
    a, b = tp.load(saved([z, z.real]))
    assert a.tolist() == [1 + 2j] and b.tolist() == [1.0]


def test_attributes_of_parameters_and_parameters_without_data_are_kept():
    parameter = nn.Parameter(tp.ones(2), requires_grad=False)
    parameter.rank = 3
    got, meta = load(saved([parameter, nn.Parameter(tp.ones(2, 3, device="meta"))]))
    assert type(got) is nn.Parameter and got.rank == 3 and not got.requires_grad and got.tolist() == [1.0, 1.0]
    assert type(meta) is nn.Parameter and meta.is_meta and meta.shape == (2, 3)


def test_files_from_before_0_4_are_loaded():
    """Tensors and parameters as they were pickled then, and a storage that is part of another one."""
    start = b"".join(pickle.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04%btQ"
    tensor = b"ctorch._utils\n_rebuild_tensor\n(" + storage + b"K\x01K\x02\x85K\x01\x85tR"
    part = tensor % b"(X\x01\x00\x00\x00vK\x01K\x03t"
    parameter = b"ctorch.nn.parameter\nParameter\n" + tensor % b"N" + b"\x85R(%b\x89ccollections\nOrderedDict\n)Rtb"
    text = b"\x80\x02](" + tensor % b"N" + part + parameter % b"\x88" + parameter % b"\x89" + b"e."
    memory = (4).to_bytes(8, "little") + np.arange(4, dtype="<f4").tobytes()
    plain, later, learnt, fixed = tp.load(io.BytesIO(start + text + pickle.dumps(["0"], 2) + memory))
    assert plain.tolist() == [1.0, 2.0] and later.tolist() == [2.0, 3.0]
    plain[1] = 5.0
    assert later[0] == learnt[1] == fixed[1] == 5.0
    assert [type(p) for p in (learnt, fixed)] == [nn.Parameter] * 2
    assert learnt.requires_grad and not fixed.requires_grad
    with pytest.raises(pickle.UnpicklingError, match="a part of a storage from 2 on, of 3 elements"):
        tp.load(io.BytesIO(start + tensor % b"(X\x01\x00\x00\x00vK\x02K\x03t" + b"."))


def test_what_is_saved_in_one_file_comes_back_from_it_in_turn():
    """As a file from before PyTorch 1.6 may hold several; an archive is read from where the file stands."""
    file = io.BytesIO(b"front")
    file.seek(5)
    tp.save(tp.ones(2), file)
    file.seek(5)
    assert tp.load(file).tolist() == [1.0, 1.0] and not file.read()
    old = OLD_CHECKPOINT.read_bytes()
    file = io.BytesIO(old + old)
    for _ in range(2):
        check_same(tp.load(file), content())


@pytest.mark.parametrize("layout", ["little", "big"])
def test_files_from_before_1_6_of_either_order_of_bytes(layout):
    """Written by hand: numbers, an order, one tensor of each size, the keys and the memory."""
    tensors = {"Double": np.array([1.5, -2.0]), "ComplexFloat": np.array([1 + 2j, 3j], np.complex64),
               "Short": np.array([1, 258], np.int16), "Bool": np.array([True, False])}  # fmt: skip
    text = b"".join(pickle.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": layout == "little"}))
    text += b"\x80\x02]("
    for key, kind in enumerate(tensors):
        reference = b"(X\x07\x00\x00\x00storagectorch\n%bStorage\nX\x01\x00\x00\x00%dX\x03\x00\x00\x00cpuK\x02NtQ"
        storage = reference % (kind.encode(), key)
        text += b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00K\x02\x85K\x01\x85\x89NtR"
    text += b"e." + pickle.dumps([str(key) for key in range(len(tensors))], 2)
    for array in tensors.values():
        order = {"little": "<", "big": ">"}[layout]
        text += (2).to_bytes(8, layout) + array.astype(array.dtype.newbyteorder(order)).tobytes()
    for got, want in zip(tp.load(io.BytesIO(text)), tensors.values()):
        assert got.tolist() == want.tolist() and got.numpy().dtype == want.dtype
