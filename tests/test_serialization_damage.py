"""Damaged and malicious files: an error of a documented class, nothing run, nothing half loaded; broken-off saves.

As a program it takes larger numbers: 1,000 corruptions of each kind of file, 50 saves killed.
"""

import codecs
import io
import os
import pickle
import random
import signal
import stat
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError

import tensorplay as tp
from tensorplay import nn
from tensorplay.utils import safetensors

DATA = Path(__file__).parent / "data"

# ---- corruption


def own_file():
    weight = tp.arange(60.0).reshape(6, 10)
    model = nn.Linear(3, 2)
    optimizer = tp.optim.Adam(model.parameters())
    model(tp.ones(1, 3)).sum().backward()
    optimizer.step()
    file = io.BytesIO()
    tp.save({"weight": weight, "row": weight[1], "optimizer": optimizer.state_dict(), "values": [1, "a", (2.5,)]}, file)
    return file.getvalue()


def flipped(r, data):
    for _ in range(r.choice([1, 1, 1, 2, 5, 50])):
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)


def cut(r, data):
    del data[r.randrange(len(data)) :]


def left_out(r, data):
    start = r.randrange(len(data))
    del data[start : start + r.choice([1, 3, 10, 100])]


def inserted(r, data):
    start = r.randrange(len(data) + 1)
    data[start:start] = r.randbytes(r.choice([1, 2, 8, 100, 5000]))


def overwritten(r, data):
    n = r.choice([1, 2, 4, 8])
    start = r.randrange(len(data) - n)
    data[start : start + n] = r.choice([b"\0", b"\xff", b"\x7f"]) * n


def swapped(r, data):
    n = r.choice([1, 4, 16, 64, 200])
    i, j = r.randrange(len(data) - n), r.randrange(len(data) - n)
    data[i : i + n], data[j : j + n] = data[j : j + n], data[i : i + n]


CHANGES = [flipped, cut, left_out, inserted, overwritten, swapped]


def corruptions(data, count, seed=0):
    r = random.Random(seed)
    while count:
        changed = bytearray(data)
        r.choice(CHANGES)(r, changed)
        if changed != data:
            count -= 1
            yield bytes(changed)


def described(value):
    """Text that tells all of a value."""
    if isinstance(value, tp.Tensor):
        numbers = None if value.is_meta else value.detach().numpy().tobytes()
        return (type(value).__name__, value.dtype.name, value.shape, value.stride(), value.requires_grad, numbers)
    if isinstance(value, dict):
        return (type(value).__name__, [(described(k), described(v)) for k, v in value.items()])
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [described(v) for v in value])
    return repr(value)


def load(data, **options):
    return tp.load(io.BytesIO(data), **options)


CHECKED, UNCHECKED = (RuntimeError, pickle.UnpicklingError, EOFError), (SafetensorError, TypeError)
# the content, how it is loaded, the documented errors, and whether a change of any number is noticed
KINDS = {
    "own": (own_file, load, CHECKED, True),
    "PyTorch's": (lambda: (DATA / "checkpoint.pt").read_bytes(), load, CHECKED, True),
    "before 1.6": (lambda: (DATA / "checkpoint_1_5.pt").read_bytes(), load, CHECKED, False),
    "safetensors": (lambda: (DATA / "checkpoint.safetensors").read_bytes(), safetensors.load, UNCHECKED, False),
}


def check_corruptions(kind, count, seed=0):
    """How the corruptions ended: the names of errors, "same" and, where there is no checksum, "other"."""
    content, loading, errors, noticed = KINDS[kind]
    data, found = content(), Counter()
    want = described(loading(data))
    for changed in corruptions(data, count, seed):
        try:
            value = loading(changed)
        except errors as error:
            found[type(error).__name__] += 1
        else:
            same = described(value) == want  # which also reads all of it
            assert same or not noticed
            found["same" if same else "other"] += 1
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_an_error_of_a_documented_class(kind):
    found = check_corruptions(kind, 60)
    assert found["same"] + found["other"] < (1 if kind == "own" else 50)


def test_of_an_own_file_every_single_byte_is_checked(tmp_path):
    file = io.BytesIO()
    tp.save(tp.arange(3), file)
    for i in range(len(file.getvalue())):
        changed = bytearray(file.getvalue())
        changed[i] ^= 0x20
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            load(bytes(changed))
    for rest in (b"\0", b"tensorplay", file.getvalue()):
        with pytest.raises(RuntimeError, match="is damaged"):
            load(file.getvalue() + rest)


def test_of_a_mapped_file_everything_but_the_numbers_is_checked(tmp_path):
    def described_as_zeros(value):
        if isinstance(value, tp.Tensor):
            return described(tp.zeros_like(value))
        if isinstance(value, dict):
            return [(k, described_as_zeros(v)) for k, v in value.items()]
        return [described_as_zeros(v) for v in value] if isinstance(value, (list, tuple)) else repr(value)

    data, path, ends = own_file(), tmp_path / "own.pt", Counter()
    path.write_bytes(data)
    want = described_as_zeros(tp.load(path, mmap=True))
    for i, changed in enumerate(corruptions(data, 200)):
        path = tmp_path / f"{i}.pt"  # a file that is mapped may not be cut off
        path.write_bytes(changed)
        try:
            value = tp.load(path, mmap=True)
        except CHECKED as error:
            ends[type(error).__name__] += 1
        else:
            assert described_as_zeros(value) == want
            ends["loaded"] += 1
    assert ends["RuntimeError"] > 50


def test_an_own_file_that_was_packed_anew_is_one_of_zip_again(tmp_path):
    """Neither the seal nor the marks that ask for it are left then; each record still has its sum."""
    data, out = own_file(), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as target:
        for name in archive.namelist():
            target.writestr(name, archive.read(name))
    assert described(load(out.getvalue())) == described(load(data))
    position = out.getvalue().index(np.arange(60, dtype=np.float32).tobytes())
    changed = bytearray(out.getvalue())
    changed[position + 7] ^= 1
    with pytest.raises(RuntimeError, match="is damaged"):
        load(bytes(changed))


def test_a_file_is_left_where_it_stood():
    file = io.BytesIO(b"front" + own_file()[:-1])
    file.seek(5)
    with pytest.raises(RuntimeError, match="is damaged.*Nothing was loaded"):
        tp.load(file)
    assert file.tell() == 5
    file = io.BytesIO(b"front" + own_file())
    file.seek(5)
    assert list(tp.load(file)) == ["weight", "row", "optimizer", "values"] and not file.read()


def test_a_stream_is_loaded(tmp_path):
    class Stream(io.RawIOBase):
        def __init__(self, data):
            self.file = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, view):
            return self.file.readinto(view)

    assert described(tp.load(Stream(own_file()))) == described(load(own_file()))


# ---- malice


class Called:
    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def archive_of(pickled, compression=zipfile.ZIP_STORED, **storages):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("a/data.pkl", pickled)
        for name, content in storages.items():
            archive.writestr(f"a/data/{name.strip('_')}", content)
    return out.getvalue()


def nested(depth, start=b")", nest=b"\x85"):
    return b"\x80\x02" + start + nest * depth


def storage(kind=b"FloatStorage", numel=b"K\x02"):
    return b"(X\x07\x00\x00\x00storagectorch\n" + kind + b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu" + numel + b"tQ"


def tensor(size=b"K\x02\x85", stride=b"K\x01\x85"):
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage() + b"K\x00" + size + stride + b"\x89NtR"


HUGE = b"\x8a\x06" + (1 << 40).to_bytes(6, "little")
MALICE = {
    "a call of the system": pickle.dumps(Called(os.system, "echo run"), 2),
    "eval": pickle.dumps(Called(eval, "print('run')"), 2),
    "exec": pickle.dumps(Called(exec, "print('run')"), 4),
    "import": pickle.dumps(Called(__import__, "this"), 2),
    "getattr": pickle.dumps(Called(getattr, "a", "upper"), 2),
    "a class to be instantiated": b"(X\x02\x00\x00\x00lsios\nsystem\n.",
    "an object to be made": b"\x80\x02(cos\nsystem\nX\x02\x00\x00\x00lso.",
    "a new object": b"\x80\x02csubprocess\nPopen\nX\x02\x00\x00\x00ls\x85\x81.",
    "a new tensor": b"\x80\x02ctorch\nTensor\nK\x02\x85\x81.",
    "the extension registry": b"\x80\x02\x82\x01.",
    "buffers from outside": b"\x80\x05\x97.",
    "a tensor class called": b"\x80\x02ctorch\nTensor\n(" + HUGE + HUGE + b"tR.",
    "a dtype called": b"\x80\x02ctorch\nfloat32\n)R.",
    "a dotted name": b"\x80\x04\x8c\x05torch\x8c\x0fTensor.__init__\x93.",
    "a bytearray by number": b"\x80\x02c__builtin__\nbytearray\n" + HUGE + b"\x85R.",
    "a codec that unpacks": b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00hex\x86R.",
    "a string that is not there": b"\x80\x04\x8d" + (1 << 60).to_bytes(8, "little") + b"a.",
    "bytes that are not there": b"\x80\x04\x8e" + (1 << 62).to_bytes(8, "little") + b"a.",
    "a bytearray that is not there": b"\x80\x05\x96" + (1 << 32).to_bytes(8, "little") + b"a.",
    "a number without end": b"I" + b"9" * 100_000 + b"\n.",
    "a key nested deeply": nested(200_000, b"}N)") + b"0}" + b")" + b"\x85" * 200_000 + b"Ns.",
    "a set nested deeply": b"\x80\x04\x8f(" + b")" + b"\x85" * 200_000 + b"\x90.",
    "a set made of a list nested deeply": b"\x80\x02c__builtin__\nset\n](" + b")" + b"\x85" * 200_000 + b"e\x85R.",
    "pairs nested deeply": b"\x80\x02ccollections\nOrderedDict\n](](" + b")" + b"\x85" * 200_000 + b"Nee\x85R.",
    "a key that doubles": b"\x80\x02})" + b"q\x00h\x00\x86" * 100 + b"Ns.",
    "slices as keys": b"\x80\x02})" + b"q\x00c__builtin__\nslice\nh\x00h\x00h\x00\x87R" * 60 + b"Ns.",
    "entries for a tensor": b"\x80\x04" + tensor() + b"(K\x01\x90.",
    "items for a tensor": b"\x80\x02" + tensor() + b"K\x00K\x01s.",
    "state for a tensor": b"\x80\x02" + tensor() + b"}b.",
    "an expanded tensor added to": b"\x80\x04" + tensor(HUGE + b"\x85", b"K\x00\x85") + b"(K\x01\x90.",
    "a storage of a negative length": b"\x80\x02" + storage(numel=b"J\xff\xff\xff\xff") + b".",
    "a storage longer than its file": b"\x80\x02" + storage(numel=HUGE) + b".",
    "a persistent id in text": b"Pnothing\n.",
    "a tensor of too many dimensions": b"\x80\x02" + tensor(*[b"(" + b"K\x01" * 100 + b"t"] * 2) + b".",
    "a memo that is empty": b"\x80\x02h\x05.",
    "nothing on the stack": b"\x80\x02\x85R.",
    "no end": b"\x80\x02}",
    "a protocol of the future": b"\x80\x09N.",
    "a layout that is not there": b"\x80\x02ctorch.serialization\n_get_layout\nX\x0c\x00\x00\x00torch.sparse\x85R.",
    "a tensor by another function": b"ctorch._tensor\n_rebuild_from_type_v2\n(c__builtin__\nset\nctorch\nTensor\n)}tR.",
}  # fmt: skip


@pytest.mark.parametrize("name", MALICE)
def test_a_malicious_pickle_is_refused(name, capfd):
    with pytest.raises(pickle.UnpicklingError):
        load(archive_of(MALICE[name], _0=bytes(8)))
    old = b"".join(pickle.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    with pytest.raises(pickle.UnpicklingError):
        load(old + MALICE[name] + pickle.dumps(["0"], 2) + (2).to_bytes(8, "little") + bytes(8))
    assert "run" not in capfd.readouterr().out


def test_a_pickle_that_holds_itself_is_read():
    cyclic = []
    cyclic.append(cyclic)
    got = load(archive_of(pickle.dumps(cyclic, 2)))
    assert got[0] is got
    deep = load(archive_of(b"\x80\x02" + b"]" * 50_000 + b"a" * 49_999 + b"."))
    assert len(deep) == 1


def entry(data, name, **changes):
    """The archive, with other numbers in the directory for one of its files."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
    at = data.index(b"PK\x01\x02")
    for n in names:
        length, extra, comment = (int.from_bytes(data[at + i : at + i + 2], "little") for i in (28, 30, 32))
        if n == name:
            changed = bytearray(data)
            for field, value in changes.items():
                where, size = {"crc": (16, 4), "packed": (20, 4), "size": (24, 4), "start": (42, 4)}[field]
                changed[at + where : at + where + size] = value.to_bytes(size, "little")
            return bytes(changed)
        at += 46 + length + extra + comment
    raise AssertionError(name)


GOOD = archive_of(b"\x80\x02" + tensor() + b".", _0=bytes(8))
ARCHIVES = {
    "a size beyond the file": (entry(GOOD, "a/data/0", size=1 << 31, packed=1 << 31), RuntimeError),
    "a size beyond the record": (entry(GOOD, "a/data/0", size=100), RuntimeError),
    "a size short of the record": (entry(GOOD, "a/data/0", size=4, packed=4), RuntimeError),
    "another sum": (entry(GOOD, "a/data/0", crc=1), RuntimeError),
    "another record's place": (entry(GOOD, "a/data/0", start=0), RuntimeError),
    "a place beyond the file": (entry(GOOD, "a/data/0", start=1 << 30), RuntimeError),
    "compressed": (archive_of(MALICE["eval"], zipfile.ZIP_DEFLATED), RuntimeError),
    "no tensors": (archive_of(b"\x80\x02" + tensor() + b"."), pickle.UnpicklingError),
    "fewer bytes than elements": (archive_of(b"\x80\x02" + tensor() + b".", _0=bytes(7)), pickle.UnpicklingError),
    "half a header": (b"PK\3\4" + bytes(100), RuntimeError),
    "text": (codecs.BOM_UTF8 + b"no checkpoint", pickle.UnpicklingError),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_is_not_consistent_is_refused(name):
    assert load(GOOD).tolist() == [0.0, 0.0]
    data, error = ARCHIVES[name]
    with pytest.raises(error):
        load(data)


def test_a_record_may_not_be_there_twice():
    out = io.BytesIO(GOOD)
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a/data.pkl", b"N.")
    with pytest.raises(RuntimeError, match="is damaged"):
        load(out.getvalue())


# ---- saving


def test_a_save_that_fails_leaves_the_old_file(tmp_path):
    file = tmp_path / "a.pt"
    tp.save([1], file)
    before = file.read_bytes()
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        tp.save([tp.ones(2), lambda: 0], file)
    assert file.read_bytes() == before and os.listdir(tmp_path) == ["a.pt"]


def test_permissions_and_links_stay(tmp_path):
    file, link = tmp_path / "a.pt", tmp_path / "link.pt"
    tp.save([1], file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask()
    file.chmod(0o604)
    link.symlink_to(file)
    tp.save([2], link)
    assert tp.load(file) == [2] and link.is_symlink() and stat.S_IMODE(file.stat().st_mode) == 0o604
    assert sorted(os.listdir(tmp_path)) == ["a.pt", "link.pt"]


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"
    with subprocess.Popen([sys.executable, "-c", code, pipe], stdout=subprocess.PIPE) as reader:
        tp.save({"x": tp.ones(2)}, pipe)
        data, _ = reader.communicate(timeout=60)
    assert load(data)["x"].tolist() == [1.0, 1.0]


SAVING = """
import sys
sys.path[:0] = {path!r}
import tensorplay as tp
n = 1
print("ready", flush=True)
while True:
    n += 1
    tp.save({{"n": n, "x": tp.full((300_000,), float(n))}}, {file!r})
"""


def kill_saves(folder, count, seed=0):
    """Kill saves at random points. How many different files were there after, and how many were being written."""
    file, r = folder / "a.pt", random.Random(seed)
    tp.save({"n": 1, "x": tp.full((300_000,), 1.0)}, file)
    seen, unfinished = set(), 0
    for _ in range(count):
        code = SAVING.format(path=sys.path, file=str(file))
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(r.uniform(0, 0.3))
            child.send_signal(signal.SIGKILL)
        loaded = tp.load(file)
        assert loaded["x"].shape == (300_000,) and bool((loaded["x"] == loaded["n"]).all())
        seen.add(loaded["n"])
        for rest in folder.glob(".a.pt.*.tmp"):
            unfinished += 1
            rest.unlink()
    return len(seen), unfinished


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
def test_a_save_that_is_killed_leaves_a_whole_file(tmp_path):
    files, unfinished = kill_saves(tmp_path, 4)
    assert files + unfinished > 1 and os.listdir(tmp_path) == ["a.pt"]


if __name__ == "__main__":
    import tempfile

    for kind in KINDS:
        print(kind, dict(check_corruptions(kind, 1000)))
    with tempfile.TemporaryDirectory() as folder:
        print("50 kills: {} different files, all whole; {} while one was written".format(*kill_saves(Path(folder), 50)))
