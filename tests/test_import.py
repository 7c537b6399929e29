"""What ``import tensorplay`` costs and brings."""

import json
import os
import subprocess
import sys

import pytest

import tensorplay as tp
from tensorplay.core.operator import OPERATORS
from tensorplay.core.primitive import PRIMITIVES


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run code in a fresh interpreter, whose byte code is kept from run to run; what it prints is JSON."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path_factory.mktemp("pycache"))

    def run(code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_heavy_libraries_are_imported_where_they_are_needed(python):
    loaded = python(
        "import sys, json, tensorplay as tp\n"
        "(tp.tensor([1., 2.], requires_grad=True) * 2).sum().backward()\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    heavy = ("scipy", "jax", "torch", "matplotlib", "sklearn", "numpy.random", "numpy.testing")
    assert not [m for m in loaded if m.startswith(heavy)]


def test_families_beyond_everyday_use_come_at_need(python):
    loaded = python(
        "import sys, json, tensorplay as tp\n"
        "family = 'tensorplay.ops.bessel'\n"
        "seen = [family in sys.modules, hasattr(tp.Tensor, 'i0') and hasattr(tp, 'i0')]\n"
        "x = tp.tensor([0.])\n"
        "seen += [x.i0().tolist(), tp.i0(x).tolist(), family in sys.modules]\n"
        "print(json.dumps(seen))"
    )
    assert loaded == [False, True, [1.0], [1.0], True]


def test_threads_may_be_the_first_to_name_a_family(python):
    seen = python(
        "import json, threading, tensorplay as tp\n"
        "x, seen = tp.tensor([0.5, 1.]), []\n"
        "calls = [lambda: x.i0(), lambda: tp.cumsum(x, 0), lambda: tp.linalg.norm(x), lambda: x.sort()[0],\n"
        "         lambda: tp.nn.functional.gelu(x), lambda: x.erfinv(), lambda: x.softmax(0)]\n"
        "work = lambda f: seen.append(f().numel())\n"
        "threads = [threading.Thread(target=work, args=(f,)) for f in calls * 4]\n"
        "[t.start() for t in threads], [t.join() for t in threads]\n"
        "print(json.dumps(seen))"
    )
    assert len(seen) == 28


def test_what_is_named_can_be_had():
    missing = [name for name in tp.__all__ if not hasattr(tp, name)]
    assert not missing
    assert set(tp.__all__) < set(dir(tp)) and "i0" in dir(tp.zeros(1)) and "i0" in dir(tp.special)
    for namespace, operators in OPERATORS.items():
        for name, op in operators.items():
            assert op.name == name and callable(op.function), f"{namespace}.{name}"
    assert all(p.name == name for name, p in PRIMITIVES.items())


def test_names_that_do_not_exist_say_so():
    for owner in (tp, tp.nn.functional, tp.linalg, tp.return_types, tp.Tensor, tp.zeros(1)):
        with pytest.raises(AttributeError, match="no attribute 'flurb'"):
            owner.flurb()
    with pytest.raises(AttributeError, match="no primitive is registered under the name 'flurb'"):
        tp.core.namespace.F.flurb()


def test_a_star_import_leaves_the_names_of_python_alone(python):
    assert python("from tensorplay import *\nprint(float(zeros(2).sum()) + sum(range(int('3'))))") == 3
