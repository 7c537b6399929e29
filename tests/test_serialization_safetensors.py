"""safetensors files, both ways; tests/data/checkpoint.safetensors was saved from PyTorch (tools/make_checkpoint.py)."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors import numpy as reference

import tensorplay as tp
from tensorplay import nn
from tensorplay.utils import safetensors

CHECKPOINT = Path(__file__).parent / "data" / "checkpoint.safetensors"
DTYPES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64
float16 bfloat16 float32 float64 complex64""".split()


def content():
    return {name: tp.arange(3).to(getattr(tp, name)) for name in DTYPES} | {"empty": tp.zeros(0, 3)}


def check_same(got, want):
    assert set(got) == set(want)
    for name, w in want.items():
        assert (got[name].dtype, got[name].shape, got[name].tolist()) == (w.dtype, w.shape, w.tolist()), name
        got[name].add_(1) if w.dtype is not tp.bool else None  # in memory of its own


@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_files_of_pytorch_are_loaded(backend):
    check_same(safetensors.load_file(CHECKPOINT, backend=backend), content())
    check_same(safetensors.load(CHECKPOINT.read_bytes()), content())
    with safetensors.safe_open(CHECKPOINT, framework="pt", backend=backend) as file:
        assert file.metadata() == {"made by": "PyTorch"}
        assert sorted(file.keys()) == sorted(file.offset_keys()) == sorted(content())


def test_what_was_saved_is_loaded(tmp_path):
    file = tmp_path / "a.safetensors"
    safetensors.save_file(content(), file, {"epoch": "3"})
    check_same(safetensors.load_file(file), content())
    assert file.read_bytes() == safetensors.save(content(), {"epoch": "3"})
    others = reference.load_file(file)
    assert all(others[name].tolist() == t.numpy().tolist() for name, t in content().items())


def test_files_of_numpy_are_loaded(tmp_path):
    file = tmp_path / "a.safetensors"
    reference.save_file({"x": np.arange(6.0).reshape(2, 3)}, file)
    check_same(safetensors.load_file(file), {"x": tp.arange(6.0, dtype=tp.float64).reshape(2, 3)})


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path):
    file = tmp_path / "a.safetensors"
    file.write_bytes(b"old")
    file.chmod(0o640)
    safetensors.save_file({"x": tp.ones(2)}, file)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o640
    with pytest.raises(ValueError):
        safetensors.save_file({"x": tp.ones(2, 2).t()}, file)
    assert safetensors.load_file(file)["x"].tolist() == [1.0, 1.0] and os.listdir(tmp_path) == [file.name]


def test_parts_are_read_where_they_are_indexed(tmp_path):
    file = tmp_path / "a.safetensors"
    x = tp.arange(24).reshape(2, 3, 4).to(tp.bfloat16)
    safetensors.save_file({"x": x}, file)
    with safetensors.safe_open(file) as opened:
        part = opened.get_slice("x")
        assert (part.get_shape(), part.get_dtype(), part.dtype) == ([2, 3, 4], "BF16", tp.bfloat16)
        for index in (0, slice(1, None), (slice(None), slice(0, 2), 1), ...):
            assert tp.equal(part[index], x[index])
        assert tp.equal(opened.get_tensor("x"), x)
    with pytest.raises(SafetensorError, match="closed"):
        opened.get_tensor("x")


def test_without_data_there_are_shapes_and_dtypes():
    for name, t in safetensors.load_file(CHECKPOINT, device="meta").items():
        assert t.is_meta and (t.dtype, t.shape) == (content()[name].dtype, content()[name].shape)
    with safetensors.safe_open(CHECKPOINT, device="meta") as file:
        assert file.get_slice("float32")[1:].is_meta and file.get_slice("float32")[1:].shape == (2,)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(3, 3), nn.Linear(3, 3)
        self.decode.weight = self.encode.weight


def test_of_tensors_that_share_memory_one_is_saved(tmp_path):
    file, model, other = tmp_path / "a.safetensors", Tied(), Tied()
    with pytest.raises(RuntimeError, match="share memory.*decode.weight.*save_model"):
        safetensors.save_file(model.state_dict(), file)
    safetensors.save_model(model, file, {"decode.bias": "kept"})
    with safetensors.safe_open(file) as opened:
        assert opened.keys() == ["decode.bias", "decode.weight", "encode.bias"]
        assert opened.metadata() == {"decode.bias": "kept", "encode.weight": "decode.weight"}
    assert safetensors.load_model(other, file) == ([], [])
    assert other.decode.weight is other.encode.weight and tp.equal(other.encode.weight, model.encode.weight)


def test_names_that_only_one_side_has_are_an_error_or_returned(tmp_path):
    file, model = tmp_path / "a.safetensors", nn.Linear(3, 3)
    safetensors.save_file({"weight": tp.ones(3, 3), "scale": tp.ones(1)}, file)
    before = model.weight.tolist()
    with pytest.raises(RuntimeError, match=r"missing key\(s\) \['bias'\], unexpected key\(s\) \['scale'\]"):
        safetensors.load_model(model, file)
    assert model.weight.tolist() == before
    assert safetensors.load_model(model, file, strict=False) == (["bias"], ["scale"])
    assert model.weight.tolist() == tp.ones(3, 3).tolist()


def test_parts_of_a_memory_that_nobody_has_are_refused(tmp_path):
    model, memory = nn.Module(), tp.zeros(4)
    model.register_buffer("a", memory[:3])
    model.register_buffer("b", memory[1:])
    with pytest.raises(RuntimeError, match="none of them is all of it"):
        safetensors.save_model(model, tmp_path / "a.safetensors")
    apart = {"a": memory[:2], "b": memory[2:], "none": memory[:0]}
    check_same(safetensors.load(safetensors.save(apart)), apart)


def float8_file():
    header = b'{"x":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}'
    return len(header).to_bytes(8, "little") + header + b"ab"


ERRORS = [
    (lambda: safetensors.save([tp.ones(2)]), ValueError, "a dict of names and tensors, got list"),
    (lambda: safetensors.save({"a": 1}), ValueError, "'a' is of type int"),
    (lambda: safetensors.save({"a": tp.ones(2, 2).t()}), ValueError, r"'a' is not contiguous; call contiguous\(\)"),
    (lambda: safetensors.save({"a": tp.ones(2, device="meta")}), ValueError, "'a' has no data of its own"),
    (lambda: tp.vmap(lambda x: safetensors.save({"a": x}))(tp.ones(2)), ValueError, "inside a transform"),
    (lambda: safetensors.save({"a": tp.ones(2, dtype=tp.complex128)}), SafetensorError, "complex128"),
    (lambda: safetensors.load(b"abc"), SafetensorError, "header"),
    (lambda: safetensors.load(float8_file()), TypeError, "'x' is of dtype F8_E4M3, which tensors do not have"),
    (lambda: safetensors.load_file("missing"), FileNotFoundError, "missing"),
    (lambda: safetensors.load_file(CHECKPOINT, "cuda"), RuntimeError, "cuda"),
    (lambda: safetensors.safe_open(CHECKPOINT, "jax"), ValueError, "'framework' must be 'tensorplay'"),
    (lambda: safetensors.safe_open(CHECKPOINT).get_tensor("y"), SafetensorError, "y"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call()
