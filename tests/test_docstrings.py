"""The examples in docstrings run and print what they show; every public operator has one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import tensorplay as tp
from tensorplay.core.operator import OPERATORS

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = ["tensorplay", *(m.name for m in pkgutil.walk_packages(tp.__path__, "tensorplay."))]


def operators():
    """Each public operator's name and docstring; in-place twins refer to the operator they come from."""
    for namespace, found in OPERATORS.items():
        twins = {op.inplace for op in found.values()}
        for name, op in found.items():
            if name not in twins:
                yield f"tensorplay.{namespace + '.' * bool(namespace)}{name}", inspect.getdoc(op.plain) or ""


def methods():
    """Docstrings of methods that are no public functions."""
    functions = {op.plain for found in OPERATORS.values() for op in found.values()}
    for name, value in vars(tp.Tensor).items():
        if inspect.isfunction(value) and value not in functions and ">>>" in (value.__doc__ or ""):
            yield f"Tensor.{name}", inspect.getdoc(value)


def examples():
    """The docstrings with examples, each once, with the globals they see."""
    seen = {}
    for name, text in [*operators(), *methods()]:
        if ">>>" in text and text not in seen:
            seen[text] = name
            yield name, doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in map(importlib.import_module, MODULES):
        for test in finder.find(module, module.__name__):
            text = inspect.cleandoc(test.docstring or "")
            if test.examples and text not in seen:
                seen[text] = test.name
                yield test.name, test


EXAMPLES = list(examples())


@pytest.mark.filterwarnings("ignore:.*is deprecated")
@pytest.mark.parametrize("test", [test for _, test in EXAMPLES], ids=[name for name, _ in EXAMPLES])
def test_examples_print_what_they_show(test):
    failures = []
    doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(test, out=failures.append)
    assert not failures, "\n".join(failures)


def test_every_public_operator_has_an_example():
    variants = ("_", "_copy")  # in place, or a copy of what is a view: the docstring refers to the operator
    missing = [name for name, text in operators() if ">>>" not in text and not name.endswith(variants)]
    assert not missing, f"{len(missing)} operators without an example: {', '.join(missing)}"


def test_the_examples_of_all_layers_are_found():
    names = {name for name, _ in EXAMPLES}
    assert {"tensorplay.zeros", "tensorplay.core.printing.set_printoptions", "Tensor.item"} <= names
