"""Freed memory is kept once a backward pass has run."""

import platform
import subprocess
import sys

import pytest

from tensorplay.backends import allocator

GLIBC = platform.system() == "Linux" and platform.libc_ver()[0] == "glibc"


def test_it_takes_effect_where_the_c_library_offers_it():
    assert allocator.keep_freed_memory() is GLIBC


def test_the_first_backward_pass_asks_for_it_unless_somebody_has():
    program = """
import tensorplay as tp
from tensorplay.backends import allocator
assert allocator.kept is None
{}
x = tp.ones(3, requires_grad=True)
x.sum().backward()
print(allocator.kept)
"""
    for before, want in (("", allocator.KEPT), ("allocator.keep_freed_memory(0)", 0)):
        done = subprocess.run(
            [sys.executable, "-c", program.format(before)], capture_output=True, text=True, check=True
        )
        assert int(done.stdout) == want


@pytest.mark.parametrize("nbytes", [-1, 1.5, 1 << 40, True])
def test_bad_sizes_are_refused(nbytes):
    with pytest.raises(ValueError, match="nbytes must be an int"):
        allocator.keep_freed_memory(nbytes)
