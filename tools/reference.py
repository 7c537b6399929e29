"""The API reference of what is registered at run time, for mkdocs.

As a hook of mkdocs it puts the operators on the pages: a line ``[operators] arithmetic elementwise`` becomes one entry
for each operator of these families (the modules of ``tensorplay.ops``), ``[operators linalg]`` those of a namespace,
``[show] device`` shows what the package has under these names, ``[tensor]`` the class with what only it has, and
``[methods]`` the table of its methods that are operators. A strict build fails that leaves an operator out.

As an extension of griffe it gives functions of the stubs, which hold the first line, their whole docstrings.
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parent))
from make_stubs import ENTERED  # noqa: E402  before tensorplay is imported: it notes what each family enters

from tensorplay.core.operator import OPERATORS, Operator  # noqa: E402
from tensorplay.core.tensor import Tensor  # noqa: E402

log = logging.getLogger("mkdocs.hooks.reference")

DIRECTIVE = re.compile(r"^\[(operators|methods|show|tensor)(?: ([\w.]+))?\](.*)$", re.M)
ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|exc):`~?([^`]+)`")

# ---- the operators, with the names that are the same operator


def twins(namespace: str) -> set[str]:
    """The in-place forms, which have no entries of their own."""
    return {op.inplace for op in OPERATORS[namespace].values() if op.inplace}


def entries(namespace: str) -> dict[str, list[str]]:
    """The operators of a namespace that have an entry, each with its other names."""
    first: dict[Any, str] = {}
    found: dict[str, list[str]] = {}
    left_out = twins(namespace)
    for name in OPERATORS[namespace]:
        if name in left_out or name.startswith("_"):
            continue
        own = first.setdefault(OPERATORS[namespace][name].plain, name)
        found.setdefault(own, []).extend([name] if name != own else [])
    return found


def of_family(family: str, namespace: str) -> list[str]:
    """The names that a family enters in a namespace; of one imported at once, in the order of the source."""
    entered = {name for where, name in ENTERED[f"tensorplay.ops.{family}"] if where == f":{namespace}"}
    return [name for name in entries(namespace) if name in entered]


def path_of(namespace: str, name: str) -> str:
    return ".".join(filter(None, ("tensorplay", namespace, name)))


PATHS = {path_of(space, name): (space, name) for space in OPERATORS for name in entries(space)}


def forms(operator: Operator, others: list[str]) -> str:
    """In which forms else there is the operator."""
    said = []
    if operator.method:
        said.append(f"method `{operator.method}`")
    if operator.inplace:
        said.append(f"in place `{operator.inplace}`")
    if others:
        said.append("also called " + ", ".join(f"`{name}`" for name in others))
    whole = "; ".join(said)
    return f"{whole[0].upper()}{whole[1:]}." if whole else ""


# ---- pages

shown: set[str] = set()


def entry(path: str) -> str:
    return f"::: {path}\n    options:\n      heading_level: 3\n"


def operator_entries(namespace: str, families: list[str]) -> Iterator[str]:
    names = entries(namespace) if not families else [n for f in families for n in of_family(f, namespace)]
    for name in names:
        shown.add(path_of(namespace, name))
        yield entry(path_of(namespace, name))


def method_table() -> Iterator[str]:
    """Methods that are operators, with the functions that tell about them."""
    yield "| Method | As a function |\n|---|---|"
    links: dict[str, str] = {}
    for namespace in ("", "linalg", "special"):
        for name, others in entries(namespace).items():
            for own in (name, *others):
                operator = OPERATORS[namespace][own]
                if operator.method:
                    links.setdefault(operator.method, f"[`{path_of(namespace, own)}`][{path_of(namespace, name)}]")
    for method, link in sorted(links.items()):
        yield f"| `{method}` | {link} |"


def tensor_entry() -> str:
    """The class, with the methods and properties that are no function's."""
    functions = {op.method for space in OPERATORS for op in OPERATORS[space].values()}
    functions |= {op.inplace for space in OPERATORS for op in OPERATORS[space].values()}
    members = [n for n, v in vars(Tensor).items() if n[0] != "_" and n not in functions and inspect.getdoc(v)]
    return (
        f"::: tensorplay.Tensor\n    options:\n      members: {members}\n      inherited_members: {members}\n"
        "      show_root_heading: false\n      show_root_toc_entry: false\n"
    )


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put in the place of each directive what it asks for."""

    def replace(match: re.Match[str]) -> str:
        if match[1] == "methods":
            return "\n".join(method_table())
        if match[1] == "tensor":
            return tensor_entry()
        if match[1] == "show":
            return "\n".join(entry(f"tensorplay.{name}") for name in match[3].split())
        return "\n".join(operator_entries(match[2] or "", match[3].split()))

    return DIRECTIVE.sub(replace, markdown)


def on_env(env: Any, **_: Any) -> None:
    """All pages were read: nothing is missing."""
    if missing := sorted(set(PATHS) - shown):
        log.warning("operators that no page of the reference shows: %s", ", ".join(missing))


# ---- docstrings


class Docstrings(griffe.Extension):
    """Whole docstrings for the functions of the stubs; roles of reStructuredText become links or code."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        for obj in everything(pkg):
            text = None if obj.docstring is None else obj.docstring.value
            if obj.path in PATHS:
                namespace, name = PATHS[obj.path]
                text = operator_docstring(namespace, name)
            elif obj.path.startswith("tensorplay.core.methods.Methods."):
                text = inspect.getdoc(inspect.getattr_static(Tensor, obj.name, None)) or text
            if text:
                text = ROLE.sub(linked, text)
                if obj.docstring is None:
                    obj.docstring = griffe.Docstring(text, parent=obj)
                else:
                    obj.docstring.value = text


def everything(obj: Any) -> Iterator[Any]:
    """An object of griffe's and what is in it; what is imported is entered where it comes from."""
    yield obj
    for member in obj.members.values():
        if not member.is_alias:
            yield from everything(member)


def operator_docstring(namespace: str, name: str) -> str:
    """The docstring of an operator, with its forms after the summary."""
    operator = OPERATORS[namespace][name]
    summary, _, rest = (inspect.getdoc(operator.plain) or "").partition("\n\n")
    return f"{summary}\n\n{forms(operator, entries(namespace).get(name, []))}\n\n{rest}"


def linked(match: re.Match[str]) -> str:
    target = match[1]
    for path in (target, f"tensorplay.{target}", f"tensorplay.nn.functional.{target}"):
        if path in PATHS:
            return f"[`{target}`][{path}]"
    return f"`{target}`"
