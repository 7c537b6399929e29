"""Convolutions by oneDNN, where its library is installed (extra ``onednn``); found at the first convolution.

Only its C interface is used, through ctypes. A primitive is built once for each shape and kept; it names the layout in
which it wants its operands, and these are brought into it, if need be, by reorders. Everything is kept by thread, for
a primitive must not run twice at once.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import POINTER, byref, c_int, c_int64, c_size_t, c_uint, c_void_p
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

__all__ = ["convolution", "convolution_input", "convolution_weight", "flags", "is_available", "suits"]

KEPT = 128
"""Primitives that a thread keeps; the one not used for the longest goes first."""

SMALL = 1 << 21
"""Multiplications below which one thread does the work: waking the others costs more."""

# values of the enumerations of dnnl_types.h
FLOAT32, ANY, CPU, IN_ORDER = 3, 1, 1, 1
FORWARD, AUTO = 64, 3
SRC, DST, WEIGHTS, BIAS, DIFF_SRC, DIFF_DST, DIFF_WEIGHTS = 1, 17, 33, 41, 129, 145, 161
FROM, TO = 1, 17  # operands of a reorder
QUERIES = {SRC: 129, DIFF_SRC: 130, WEIGHTS: 131, DIFF_WEIGHTS: 132, DST: 133, DIFF_DST: 134}


class Argument(ctypes.Structure):
    """An operand of a primitive: which one, and its memory."""

    _fields_ = [("arg", c_int), ("memory", c_void_p)]


class Library:
    """The functions of the library, declared; one engine, and one stream for each thread."""

    def __init__(self, path: str) -> None:
        self.functions = ctypes.CDLL(path)
        handle, dims = POINTER(c_void_p), POINTER(c_int64)
        function: Any
        signatures: dict[str, list[Any]] = {
            "engine_create": [handle, c_int, c_size_t],
            "stream_create": [handle, c_void_p, c_uint],
            "stream_wait": [c_void_p],
            "memory_desc_create_with_strides": [handle, c_int, dims, c_int, dims],
            "memory_desc_create_with_tag": [handle, c_int, dims, c_int, c_int],
            "memory_create": [handle, c_void_p, c_void_p, c_void_p],
            "memory_set_data_handle": [c_void_p, c_void_p],
            "convolution_forward_primitive_desc_create": [
                handle, c_void_p, c_int, c_int, *[c_void_p] * 4, *[dims] * 4, c_void_p,
            ],
            "convolution_backward_data_primitive_desc_create": [
                handle, c_void_p, c_int, *[c_void_p] * 3, *[dims] * 4, c_void_p, c_void_p,
            ],
            "convolution_backward_weights_primitive_desc_create": [
                handle, c_void_p, c_int, *[c_void_p] * 4, *[dims] * 4, c_void_p, c_void_p,
            ],
            "reorder_primitive_desc_create": [handle, *[c_void_p] * 5],
            "primitive_create": [handle, c_void_p],
            "primitive_execute": [c_void_p, c_void_p, c_int, POINTER(Argument)],
            "primitive_destroy": [c_void_p],
            "primitive_desc_destroy": [c_void_p],
            "memory_desc_destroy": [c_void_p],
            "memory_destroy": [c_void_p],
        }  # fmt: skip
        for name, types in signatures.items():
            function = getattr(self.functions, f"dnnl_{name}")
            function.argtypes, function.restype = types, c_int
            function.errcheck = refuse
            setattr(self, name, function)
        for name, taken, result in [
            ("primitive_desc_query_md", [c_void_p, c_int, c_int], c_void_p),
            ("memory_desc_equal", [c_void_p, c_void_p], c_int),
            ("memory_desc_get_size", [c_void_p], c_size_t),
        ]:
            function = getattr(self.functions, f"dnnl_{name}")
            function.argtypes, function.restype = taken, result
            setattr(self, name, function)
        self.engine = self.made("engine_create", CPU, 0)
        self.local = threading.local()
        self.openmp = ctypes.CDLL("libgomp.so.1")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def made(self, function: str, *args: Any) -> c_void_p:
        """What a creating function makes."""
        out = c_void_p()
        getattr(self, function)(byref(out), *args)
        return out

    def ours(self) -> Any:
        """This thread's stream and primitives."""
        local = self.local
        if not hasattr(local, "stream"):
            local.stream = self.made("stream_create", self.engine, IN_ORDER)
            local.calls, local.threads = OrderedDict(), 0
        return local


class Refused(RuntimeError):
    """The library cannot do what was asked for."""


def refuse(status: int, function: Any, arguments: Any) -> int:
    if status:
        raise Refused(f"oneDNN: {function.__name__} failed with status {status}")
    return status


@cache
def library() -> Library | None:
    """The library of this environment, or None."""
    folder = Path(sys.prefix) / "lib"
    for name in ("libdnnl.so.3", "libdnnl.so"):
        if (folder / name).exists():
            # threads that spin while they wait for a core that others use make a call a hundred times longer
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            try:
                return Library(str(folder / name))
            except (AttributeError, OSError):  # of another version, or without what it depends on
                return None
    return None


enabled = True


def is_available() -> bool:
    """Whether the library is there.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.backends.onednn.is_available() in (True, False)
    True
    """
    return library() is not None


@contextmanager
def flags(enabled: bool = True) -> Iterator[None]:
    """Use the library, or not, inside a ``with`` block.

    Examples
    --------
    >>> import tensorplay as tp
    >>> x, w = tp.ones(1, 1, 3, 3), tp.ones(1, 1, 2, 2)
    >>> with tp.backends.onednn.flags(enabled=False):
    ...     tp.nn.functional.conv2d(x, w)
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    module = globals()
    before, module["enabled"] = module["enabled"], enabled
    try:
        yield
    finally:
        module["enabled"] = before


def suits(input: np.ndarray[Any, Any], *others: np.ndarray[Any, Any]) -> bool:
    """Whether a convolution of these arrays is one for the library."""
    return (
        enabled
        and input.dtype == np.float32
        and 3 <= input.ndim <= 5
        and all(a.size for a in (input, *others))
        and library() is not None
    )


def ints(values: Sequence[int]) -> Any:
    return (c_int64 * len(values))(*values)


def strides_of(shape: Sequence[int], channels_last: bool) -> list[int]:
    """Steps, in elements, of a dense array."""
    order = [0, *range(2, len(shape)), 1] if channels_last else list(range(len(shape)))
    steps, step = [0] * len(shape), 1
    for i in reversed(order):
        steps[i] = step
        step *= shape[i]
    return steps


class Operand:
    """The memory of an array, that which the primitive works on, and the reorder between them if they differ."""

    def __init__(self, lib: Library, made: Any, which: int, shape: Sequence[int], channels_last: bool) -> None:
        self.which, self.is_output = which, which in (DST, DIFF_SRC, DIFF_WEIGHTS)
        user = lib.made("memory_desc_create_with_strides", len(shape), ints(shape), FLOAT32,
                        ints(strides_of(shape, channels_last)))  # fmt: skip
        inner = user if which == BIAS else c_void_p(lib.primitive_desc_query_md(made, QUERIES[which], 0))
        self.user = lib.made("memory_create", user, lib.engine, None)
        self.inner, self.reorder, self.size = self.user, None, 0
        if not lib.memory_desc_equal(user, inner):
            self.size = lib.memory_desc_get_size(inner)
            self.inner = lib.made("memory_create", inner, lib.engine, None)
            ends = [(user, self.user), (inner, self.inner)]
            (source, first), (target, second) = ends[::-1] if self.is_output else ends
            plan = lib.made("reorder_primitive_desc_create", source, lib.engine, target, lib.engine, None)
            self.reorder = lib.made("primitive_create", plan)
            lib.primitive_desc_destroy(plan)
            self.arguments = (Argument * 2)(Argument(FROM, first), Argument(TO, second))
        lib.memory_desc_destroy(user)

    def destroy(self, lib: Library) -> None:
        lib.memory_destroy(self.user)
        if self.reorder is not None:
            lib.memory_destroy(self.inner)
            lib.primitive_destroy(self.reorder)


class Call:
    """A primitive with its operands, for arrays of given shapes."""

    def __init__(self, lib: Library, name: str, operands: Sequence[tuple[int, Sequence[int], bool]],
                 geometry: Sequence[Sequence[int]]) -> None:  # fmt: skip
        self.lib = lib
        anys = [
            lib.made("memory_desc_create_with_strides", 1, ints(shape), FLOAT32, ints([1])) if which == BIAS
            else lib.made("memory_desc_create_with_tag", len(shape), ints(shape), FLOAT32, ANY)
            for which, shape, _ in operands
        ]  # fmt: skip
        places = {which: d for (which, _, _), d in zip(operands, anys)}
        stride, dilation, padding = map(ints, geometry)
        window = stride, dilation, padding, padding

        def forward(src: Any, weights: Any, bias: Any, dst: Any) -> c_void_p:
            return lib.made("convolution_forward_primitive_desc_create", lib.engine, FORWARD, AUTO, src, weights, bias,
                            dst, *window, None)  # fmt: skip

        hint = None
        if name == "forward":
            plan = forward(places[SRC], places[WEIGHTS], places.get(BIAS), places[DST])
        elif name == "backward_data":
            hint = forward(places[DIFF_SRC], places[WEIGHTS], None, places[DIFF_DST])
            plan = lib.made("convolution_backward_data_primitive_desc_create", lib.engine, AUTO, places[DIFF_SRC],
                            places[WEIGHTS], places[DIFF_DST], *window, hint, None)  # fmt: skip
        else:
            hint = forward(places[SRC], places[DIFF_WEIGHTS], None, places[DIFF_DST])
            plan = lib.made("convolution_backward_weights_primitive_desc_create", lib.engine, AUTO, places[SRC],
                            places[DIFF_WEIGHTS], None, places[DIFF_DST], *window, hint, None)  # fmt: skip
        self.operands = [Operand(lib, plan, which, shape, last) for which, shape, last in operands]
        self.primitive = lib.made("primitive_create", plan)
        self.arguments = (Argument * len(operands))(*(Argument(o.which, o.inner) for o in self.operands))
        for made in (plan, hint):
            if made is not None:
                lib.primitive_desc_destroy(made)
        for made in anys:
            lib.memory_desc_destroy(made)

    def __call__(self, stream: Any, arrays: Sequence[Any]) -> None:
        lib, buffers = self.lib, []
        for operand, array in zip(self.operands, arrays):
            lib.memory_set_data_handle(operand.user, array.__array_interface__["data"][0])
            if operand.reorder is not None:
                buffers.append(np.empty(operand.size + 64, np.uint8))
                address = buffers[-1].__array_interface__["data"][0]
                lib.memory_set_data_handle(operand.inner, address + -address % 64)
                if not operand.is_output:
                    lib.primitive_execute(operand.reorder, stream, 2, operand.arguments)
        lib.primitive_execute(self.primitive, stream, len(self.arguments), self.arguments)
        for operand in self.operands:
            if operand.is_output and operand.reorder is not None:
                lib.primitive_execute(operand.reorder, stream, 2, operand.arguments)
        lib.stream_wait(stream)

    def destroy(self) -> None:
        self.lib.primitive_destroy(self.primitive)
        for operand in self.operands:
            operand.destroy(self.lib)


def dense(array: Any) -> tuple[Any, bool]:
    """An array that lies densely, and whether its channels are the last dimension in memory."""
    if array.flags.c_contiguous:
        return array, False
    if array.transpose(0, *range(2, array.ndim), 1).flags.c_contiguous:
        return array, True
    return np.ascontiguousarray(array), False


def run(name: str, operands: Sequence[tuple[int, Any]], groups: int, window: tuple[Any, Any, Any], work: int,
        threads: int) -> bool:  # fmt: skip
    """Run a primitive over arrays; False if the library has none for them."""
    lib = library()
    assert lib is not None
    ours = lib.ours()
    count = 1 if work < SMALL else threads
    if ours.threads != count:
        lib.openmp.omp_set_num_threads(count)
        ours.threads = count
    placed = []
    for which, array in operands:
        array, last = (array, False) if which in (DST, DIFF_SRC, DIFF_WEIGHTS, BIAS) else dense(array)
        if which in (WEIGHTS, DIFF_WEIGHTS) and groups > 1:
            array, last = np.ascontiguousarray(array).reshape(groups, -1, *array.shape[1:]), False
        placed.append((which, array, last))
    key = (name, window, count, *((which, array.shape, last) for which, array, last in placed))
    call = ours.calls.get(key)
    if call is None:
        stride, padding, dilation = window
        try:
            call = Call(lib, name, [(which, a.shape, last) for which, a, last in placed],
                        (stride, [d - 1 for d in dilation], padding))  # fmt: skip
        except Refused:
            return False
        ours.calls[key] = call
        if len(ours.calls) > KEPT:
            ours.calls.popitem(last=False)[1].destroy()
    else:
        ours.calls.move_to_end(key)
    call(ours.stream, [array for _, array, _ in placed])
    return True


def multiplications(out: Sequence[int], weight: Sequence[int]) -> int:
    """Of a convolution with a result and a weight of these shapes."""
    return math.prod(out) * math.prod(weight[1:])


def convolution(
    input: Any, weight: Any, bias: Any, out: Any, stride: Any, padding: Any, dilation: Any, groups: int, threads: int
) -> bool:
    """Write a convolution to ``out``, a contiguous array; False if it has to be computed in another way."""
    operands = [(SRC, input), (WEIGHTS, weight), (DST, out)]
    if bias is not None:
        operands.append((BIAS, np.ascontiguousarray(bias)))
    work = multiplications(out.shape, weight.shape)
    return run("forward", operands, groups, (stride, padding, dilation), work, threads)


def convolution_input(
    grad: Any, weight: Any, out: Any, stride: Any, padding: Any, dilation: Any, groups: int, threads: int
) -> bool:
    """The same for the gradient with respect to the input."""
    operands = [(DIFF_DST, grad), (WEIGHTS, weight), (DIFF_SRC, out)]
    work = multiplications(grad.shape, weight.shape)
    return run("backward_data", operands, groups, (stride, padding, dilation), work, threads)


def convolution_weight(
    input: Any, grad: Any, out: Any, stride: Any, padding: Any, dilation: Any, groups: int, threads: int
) -> bool:
    """The same for the gradient with respect to the weight."""
    operands = [(SRC, input), (DIFF_DST, grad), (DIFF_WEIGHTS, out)]
    work = multiplications(grad.shape, out.shape)
    return run("backward_weights", operands, groups, (stride, padding, dilation), work, threads)
