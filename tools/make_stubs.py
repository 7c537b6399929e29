"""Write the type stubs of what is made at run time and the index of the operators, or check that they are current.

    python tools/make_stubs.py            write them
    python tools/make_stubs.py --check    exit with 1 if one differs from what would be written

Operators are registered (``tensorplay.core.operator``), so neither type checkers nor editors see them in the source.
Their signatures and the first line of their documentation go into the stubs: of the package and of each namespace as
functions, of ``Tensor`` as the methods in ``core/methods.pyi``, from which the class inherits for type checkers alone.

``ops/index.py`` tells which operators stand in the families that are imported at need.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import importlib.util
import inspect
import itertools
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterable
from importlib.machinery import SourceFileLoader
from keyword import iskeyword
from pathlib import Path
from typing import Any

# ---- the families: what each module of tensorplay.ops enters while it is imported

ENTERED: dict[str, set[tuple[str, str]]] = {}
execute = SourceFileLoader.exec_module


def entries() -> set[tuple[str, str]]:
    """Where and under which names operators are known now."""
    core = {name: sys.modules.get(f"tensorplay.core.{name}") for name in ("primitive", "operator", "tensor")}
    out = {("F", name) for name in getattr(core["primitive"], "PRIMITIVES", ())}
    out |= {("Tensor", name) for name in vars(getattr(core["tensor"], "Tensor", object))}
    namespaces = getattr(core["operator"], "OPERATORS", {})
    return out | {(f":{namespace}", name) for namespace, found in namespaces.items() for name in found}


def execute_and_note(loader: SourceFileLoader, module: types.ModuleType) -> None:
    """Run a module; what it enters itself is what is new after, without what the modules it imports enter."""
    if not module.__name__.startswith("tensorplay.ops."):
        return execute(loader, module)
    before, known = entries(), set(ENTERED)
    execute(loader, module)
    nested = set().union(*(names for name, names in ENTERED.items() if name not in known))
    ENTERED[module.__name__] = entries() - before - nested
    if module.__name__ == "tensorplay.ops.index":
        vars(module)["SIZES"] = {}  # so that all families are imported


SourceFileLoader.exec_module = execute_and_note  # type: ignore[method-assign, assignment]

import tensorplay  # noqa: E402
import tensorplay.core.sharing  # noqa: E402  whose methods come at need
from tensorplay.core import return_types  # noqa: E402
from tensorplay.core.operator import OPERATORS  # noqa: E402
from tensorplay.core.tensor import Tensor  # noqa: E402

PACKAGE = Path(tensorplay.__file__).parent
HEADER = '"""Made by tools/make_stubs.py."""\n'
FIELD_TYPES = {("histogramdd", "bin_edges"): "tuple[Tensor, ...]"}
UNANNOTATED = {"input": "Tensor", "other": "Tensor | builtins.complex", "out": "Tensor | None"}
BINARY = "add sub mul truediv div floordiv mod pow matmul and or xor lshift rshift"
IN_PLACE = {f"__i{name}__" for name in BINARY.split()}
BUILTIN_TYPES = {n: t for n, t in vars(builtins).items() if isinstance(t, type)}


class Stub:
    """The text of one stub file, and what it has to import."""

    def __init__(self) -> None:
        self.imports: set[tuple[str, str, str]] = set()  # module, name in it or "", alias or ""
        self.lines: list[str] = []

    def text(self) -> str:
        """The whole file, its imports sorted as ruff sorts them."""
        groups: list[list[str]] = [[], [], []]
        for module in sorted({module for module, _, _ in self.imports}):
            local = module.startswith((".", "tensorplay"))
            group = groups[2 if local else 1 if module == "numpy" else 0]
            named = {name: alias for m, name, alias in self.imports if m == module and name and name == alias}
            plain = sorted({name for m, name, alias in self.imports if m == module and name and not alias} - set(named))
            group += [
                f"import {m} as {alias}" if alias else f"import {m}"
                for m, name, alias in self.imports
                if m == module and not name
            ]
            group += [f"from {module} import {', '.join(plain)}"] if plain else []
            group += [
                f"from {m} import {name} as {alias}"
                for m, name, alias in sorted(self.imports)
                if m == module and name and alias
            ]
        blocks = ["\n".join(sorted(g, key=lambda line: line.startswith("from"))) for g in groups if g]
        return HEADER + "\n" + "\n\n".join(blocks) + "\n\n" + "\n".join(self.lines) + "\n"

    # ---- types

    def render(self, t: Any) -> str:
        """A type as source text."""
        if t is None or t is type(None):
            return "None"
        if t is Ellipsis:
            return "..."
        if t is Any:
            return self.named("typing", "Any")
        if isinstance(t, list):
            return f"[{', '.join(map(self.render, t))}]"
        origin, args = typing.get_origin(t), typing.get_args(t)
        if origin in (types.UnionType, typing.Union):
            return " | ".join(dict.fromkeys(map(self.render, args)))
        if origin is typing.Literal:
            return f"{self.named('typing', 'Literal')}[{', '.join(map(repr, args))}]"
        if origin is typing.TypeGuard:
            return f"{self.named('typing', 'TypeGuard')}[{self.render(args[0])}]"
        if origin is not None:
            return f"{self.render(origin)}[{', '.join(map(self.render, args))}]"
        if not isinstance(t, type):
            raise TypeError(f"cannot write the type {t!r}")
        if t.__module__ == "builtins":  # by their full names: operators and dtypes have the short ones
            self.imports.add(("builtins", "", ""))
            return f"builtins.{t.__name__}"
        if t.__module__ == "numpy":
            self.imports.add(("numpy", "", "np"))
            return f"np.{t.__name__}"
        if t is Tensor:
            return self.named("tensorplay.core.tensor", "Tensor")
        if t.__module__.startswith("tensorplay"):
            return self.named(t.__module__, t.__name__, "_")
        return self.named(t.__module__, t.__name__)

    def named(self, module: str, name: str, prefix: str = "") -> str:
        self.imports.add((module, name, prefix + name if prefix else ""))
        return prefix + name

    # ---- functions

    def method(self, name: str, fn: Callable[..., Any]) -> None:
        """The stub of a method, under each of the names that its parameters have."""
        shown, own = inspect.signature(fn), getattr(fn, "own_signature", None)
        if own is None:
            return self.function(name, fn, "    ", method=True)
        writable = not any(map(iskeyword, shown.parameters))
        if writable and not set(shown.parameters) <= set(own.parameters):
            for signature in (shown, own):
                self.lines.append(f"    @{self.named('typing', 'overload')}")
                self.function(name, fn, "    ", method=True, signature=signature)
        else:
            self.function(name, fn, "    ", method=True, signature=own)

    def function(
        self, name: str, fn: Callable[..., Any], indent: str = "", method: bool = False,
        signature: inspect.Signature | None = None,
    ) -> None:  # fmt: skip
        """The stub of a function; of a method the first parameter is ``self``."""
        annotations = Annotations(fn)
        parameters = list((signature or inspect.signature(fn)).parameters.values())
        written, star = [], False
        if method:
            written.append("self")
            parameters = [p for p in parameters[1:] if p.name != "out"]
        for p in parameters:
            if p.kind is p.KEYWORD_ONLY and not star:
                written.append("*")
                star = True
            star = star or p.kind is p.VAR_POSITIONAL
            prefix = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            annotation = self.annotation(annotations, p.name, UNANNOTATED.get("other" if method else p.name))
            if p.default is None and annotation != "Any" and not annotation.endswith("None"):
                annotation += " | None"
            written.append(f"{prefix}{p.name}: {annotation}{default_of(p)}")
        returns = self.annotation(annotations, "return", "Tensor")
        if (
            returns == "Any"
            and name in return_types.FIELDS
            and all(p.default is not None for p in parameters if p.name == "dim")
        ):
            returns = self.render(getattr(return_types, name))
        ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        doc = (inspect.getdoc(fn) or "").partition("\n")[0].replace("\\", "\\\\")
        head = f"{indent}def {name}({', '.join(written)}) -> {returns}:"
        self.lines += [head + ignore, f'{indent}    """{doc}"""'] if doc else [f"{head} ...{ignore}"]

    def annotation(self, annotations: Annotations, name: str, otherwise: str | None) -> str:
        found = annotations.get(name)
        if found is not Annotations:
            return self.render(found)
        if otherwise is None:
            return self.render(Any)
        if "Tensor" in otherwise:
            self.render(Tensor)
        if "builtins" in otherwise:
            self.imports.add(("builtins", "", ""))
        return otherwise


class Annotations:
    """The annotations of a function, evaluated where the function was written."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        inner = inspect.unwrap(fn)
        self.found = getattr(inner, "__annotations__", {}) | getattr(fn, "__annotations__", {})
        module = vars(sys.modules.get(getattr(inner, "__module__", None) or "", builtins))
        scope = {"Tensor": Tensor, "Any": Any, **module}
        # an operator file may define `complex` or `range`: there the names mean Python's types all the same
        self.scope = scope | {n: t for n, t in BUILTIN_TYPES.items() if not isinstance(scope.get(n), type)}

    def get(self, name: str) -> Any:
        """The annotation, or this class if there is none."""
        found = self.found.get(name, Annotations)
        return eval(found, self.scope) if isinstance(found, str) else found


def default_of(p: inspect.Parameter) -> str:
    """The default value as source text."""
    if p.default is p.empty:
        return ""
    plain = (type(None), bool, int, float, str)
    simple = isinstance(p.default, plain) or (
        isinstance(p.default, tuple) and all(isinstance(v, plain) for v in p.default)
    )
    return f" = {p.default!r}" if simple and repr(p.default) not in ("inf", "-inf", "nan") else " = ..."


# ---- the files


def public_names(stub: Stub, module: types.ModuleType, names: Iterable[str]) -> None:
    """What a namespace holds besides its operators."""
    for name in names:
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            if name not in module.__all__:
                continue
            relative = value.__name__.removeprefix(module.__name__)
            stub.imports.add((".", name, name) if relative.startswith(".") else (value.__name__, "", name))
        elif isinstance(value, type) and type(value).__name__ == "TensorType":
            stub.lines.append(f"class {name}({stub.render(Tensor)}): ...")
        elif getattr(value, "__module__", None) == module.__name__:
            if isinstance(value, type):
                stub.lines.append(f"class {name}({', '.join(map(stub.render, value.__bases__))}): ...")
            else:
                stub.function(name, value)
        elif getattr(value, "__module__", None) and getattr(sys.modules[value.__module__], name, None) is value:
            stub.imports.add((value.__module__, name, name))
        else:
            stub.lines.append(f"{name}: {stub.render(type(value))}")


def namespace_stub(namespace: str) -> str:
    """The stub of the package itself, or of one of its namespaces."""
    module = importlib.import_module("tensorplay" + ("." + namespace if namespace else ""))
    operators, stub = OPERATORS[namespace], Stub()
    public_names(stub, module, sorted({n for n in dir(module) if not n.startswith("_")} - set(operators)))
    if not namespace:
        stub.lines.append("__version__: builtins.str")
        stub.imports.add(("builtins", "", ""))
    for name in sorted(operators):
        stub.function(name, operators[name].function)
    return stub.text()


def methods_stub() -> str:
    """The methods that operators give to Tensor."""
    tree = ast.parse((PACKAGE / "core" / "tensor.py").read_text())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tensor").body
    own = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    own |= {t.id for node in body if isinstance(node, ast.Assign) for t in node.targets if isinstance(t, ast.Name)}
    own |= {n.target.id for n in body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    stub = Stub()
    stub.lines.append("class Methods:")
    for name, value in sorted(vars(Tensor).items()):
        if name in own or name in ("__doc__", "__module__", "__weakref__", "__dict__", "__slots__"):
            continue
        if isinstance(value, property):
            stub.lines.append("    @property")
            stub.function(name, value.fget, "    ", method=True)  # type: ignore[arg-type]
        elif name in IN_PLACE:
            stub.method(name, vars(Tensor)["__" + name[3:]])
        elif inspect.isfunction(value):
            stub.method(name, value)
    return stub.text()


def return_types_stub() -> str:
    """The named tuples."""
    stub = Stub()
    stub.named("typing", "NamedTuple")
    stub.lines += ["FIELDS: dict[str, str]", ""]
    for name, fields in sorted(return_types.FIELDS.items()):
        stub.lines += [
            f"class {name}(NamedTuple):",
            *(f"    {field}: {FIELD_TYPES.get((name, field), stub.render(Tensor))}" for field in fields.split()),
            "",
        ]
    return stub.text().rstrip() + "\n"


def public_return_types_stub() -> str:
    """Their public names."""
    return HEADER + "\n" + "".join(f"from .core.return_types import {n} as {n}\n" for n in sorted(return_types.FIELDS))


def index() -> str:
    """What the families that are imported at need enter."""
    order = list(ENTERED)
    families = [name.rpartition(".")[2] for name in order[order.index("tensorplay.ops.index") + 1 :]]
    sizes = {name: (PACKAGE / "ops" / f"{name}.py").stat().st_size for name in families}
    lines = [
        HEADER,
        "SIZES: dict[str, int] = {",
        *(f'    "{name}": {size},' for name, size in sorted(sizes.items())),
        "}",
    ]
    lines.append("FAMILIES: dict[str, dict[str, str]] = {")
    for family in sorted(families):
        entered = sorted(ENTERED[f"tensorplay.ops.{family}"])
        lines.append(f'    "{family}": {{')
        for where, names in itertools.groupby(entered, key=lambda entry: entry[0]):
            words = textwrap.wrap(" ".join(name for _, name in names), 90)
            if len(words) == 1:
                lines.append(f'        "{where}": "{words[0]}",')
            else:
                lines += [
                    f'        "{where}": (',
                    *(f'            "{w} "' for w in words[:-1]),
                    f'            "{words[-1]}"',
                    "        ),",
                ]
        lines.append("    },")
    return "\n".join([*lines, "}"]) + "\n"


def stubs() -> dict[Path, str]:
    """The text of each stub and of the index, by its path."""
    out = {PACKAGE / "ops" / "index.py": index()}
    out |= {
        PACKAGE / "core" / "methods.pyi": methods_stub(),
        PACKAGE / "core" / "return_types.pyi": return_types_stub(),
        PACKAGE / "return_types.pyi": public_return_types_stub(),
    }
    for namespace in OPERATORS:
        spec = importlib.util.find_spec("tensorplay" + ("." + namespace if namespace else ""))
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"operators are registered for tensorplay.{namespace}, which does not exist")
        out[Path(spec.origin).with_suffix(".pyi")] = namespace_stub(namespace)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; say whether the stubs are current")
    check = parser.parse_args().check
    stale = [path for path, text in stubs().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(("stale: " if check else "written: ") + str(path.relative_to(PACKAGE.parent)))
        if not check:
            path.write_text(stubs()[path])
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
