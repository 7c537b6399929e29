"""Layers import downwards only, wherever in a file the import stands."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
FILES = sorted(SRC.rglob("*.py"))

# Bottom to top. What is not named here is a public namespace, on top of all; those may import one another.
LAYERS = ["backends", "core", "ops", "autograd", "func"]
TOP = len(LAYERS)


def module_name(path):
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path) for path in FILES}


def layer(module):
    parts = module.split(".")
    return LAYERS.index(parts[1]) if len(parts) > 1 and parts[1] in LAYERS else TOP


def imported(tree, package):
    """(line, module) of what a file imports. `package` is where its relative imports start."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join(parts + ([node.module] if node.module else []))
            for name in (alias.name for alias in node.names) if base == "tensorplay" else ("",):
                is_module = f"{base}.{name}" in MODULES or name in LAYERS
                yield node.lineno, f"{base}.{name}" if is_module else base
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
            "import_module",
            "__import__",
        ):
            if node.args and isinstance(node.args[0], ast.Constant):
                yield node.lineno, str(node.args[0].value)


def upward(source, module, is_package=False):
    """`line: imported module` for each import of a layer above the module's own."""
    package = module if is_package else module.rpartition(".")[0]
    return [
        f"{line}: {target}"
        for line, target in imported(ast.parse(source), package)
        if target.split(".")[0] == "tensorplay" and layer(target) > layer(module)
    ]


@pytest.mark.parametrize(
    "module, source, found",
    [
        ("tensorplay.core.tensor", "import numpy\nfrom ..backends import numpy", []),
        ("tensorplay.core.tensor", "from ..ops import add", ["1: tensorplay.ops"]),
        ("tensorplay.core.tensor", "from .. import ops", ["1: tensorplay.ops"]),
        ("tensorplay.core.tensor", "def f():\n    import tensorplay.nn.functional", ["2: tensorplay.nn.functional"]),
        ("tensorplay.core.tensor", "from tensorplay import Tensor", ["1: tensorplay"]),
        ("tensorplay.ops.shape", "def f():\n  if 1:\n   from ..func.vmap import vmap", ["3: tensorplay.func.vmap"]),
        ("tensorplay.ops.shape", "importlib.import_module('tensorplay.autograd')", ["1: tensorplay.autograd"]),
        ("tensorplay.func.vmap", "from .. import autograd\nfrom ..core import tensor", []),
        ("tensorplay.autograd.functional", "from ..func import vmap", ["1: tensorplay.func"]),
        ("tensorplay.nn.modules", "from .. import optim\nimport tensorplay as tp", []),
    ],
)
def test_the_check_sees_every_form_of_import(module, source, found):
    assert upward(source, module) == found


def test_imports_lead_downwards():
    assert {"tensorplay.core", "tensorplay.ops"} <= MODULES
    found = [
        f"{path.relative_to(SRC)}:{line}"
        for path in FILES
        for line in upward(path.read_text(), module_name(path), path.name == "__init__.py")
    ]
    assert not found, "imports of a higher layer:\n" + "\n".join(found)


def test_a_backend_knows_no_tensor():
    names = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in FILES
        if module_name(path).startswith("tensorplay.backends")
        for node in ast.walk(ast.parse(path.read_text()))
        if "Tensor" in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "name", None))
    ]
    assert not names, "a backend names Tensor:\n" + "\n".join(names)
