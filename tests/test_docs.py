"""The code that the README and the docs show runs, and prints what they say."""

import doctest
import re
from pathlib import Path

import pytest

from tensorplay.core.namespace import F, R
from tensorplay.core.operator import OPERATORS
from tensorplay.core.primitive import PRIMITIVES
from tensorplay.core.tensor import Tensor
from tensorplay.ops import import_all

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$", re.M | re.S)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page):
    """(line, code) of the page's Python blocks. A block that includes a file is that file's own matter."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        language = match["info"].replace("{", " ").replace(".", " ").split()[:1]
        if language in (["python"], ["py"], ["pycon"]) and "--8<--" not in match["body"]:
            code = re.sub(f"^{match['indent']}", "", match["body"], flags=re.M)
            yield text.count("\n", 0, match.start()) + 2, code


def run(page):
    """Run the page's blocks one after the other, in one namespace: a page is read from top to bottom."""
    namespace = {"__name__": "__main__"}
    failures = []
    for line, code in blocks(page):
        if code.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), line - 1)
            runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
            runner.run(test, out=failures.append, clear_globs=False)
            namespace = test.globs
        else:
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    return failures


@pytest.fixture(autouse=True)
def operators_of_the_page_are_forgotten():
    """Pages that add operators leave the others as they were; all families are there first."""
    import_all()
    tables = [PRIMITIVES.found, *(OPERATORS[namespace].found for namespace in OPERATORS), vars(F), vars(R)]
    before = [dict(table) for table in tables]
    attributes = set(vars(Tensor))
    yield
    for table, old in zip(tables, before):
        for name in set(table) - set(old):
            del table[name]
    for name in set(vars(Tensor)) - attributes:
        delattr(Tensor, name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_run(page):
    failures = run(page)
    assert not failures, "\n".join(failures)


def test_blocks_are_found_and_a_wrong_one_fails(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n\n=== tab\n\n    ```pycon\n    >>> x\n    2\n    ```\n\n"
        "```sh\nnot python\n```\n\n```python\n--8<-- 'a.py'\n```\n"
    )
    assert [line for line, _ in blocks(page)] == [2, 8]
    (failure, *_) = run(page)
    assert "Expected:\n    2\nGot:\n    1" in failure
    assert sum(1 for page in PAGES for _ in blocks(page)) > 10
