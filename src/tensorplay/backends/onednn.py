"""Convolution, pooling and batch normalisation by oneDNN, where its library is installed (extra ``onednn``).

Only its C interface is used, through ctypes. A primitive is built once for each shape and kept. That of a convolution
names the layout in which it wants its operands, and these are brought into it, if need be, by reorders; the others
take them as they are. Everything is kept by thread, for a primitive must not run twice at once.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import POINTER, byref, c_float, c_int, c_int64, c_size_t, c_uint, c_void_p
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

__all__ = [
    "batch_norm", "batch_norm_input", "convolution", "convolution_input", "convolution_weight", "flags", "is_available",
    "max_pool", "max_pool_input", "mean_pool", "mean_pool_input", "suits",
]  # fmt: skip

KEPT = 128
"""Primitives that a thread keeps; the one not used for the longest goes first."""

SMALL = 1 << 26
"""Multiplications, about a millisecond, below which one thread does the work: waking the others costs more."""

# values of the enumerations of dnnl_types.h
FLOAT32, UINT8, ANY, CPU, IN_ORDER = 3, 6, 1, 1, 1
FORWARD, AUTO, MAXIMUM, MEAN = 64, 3, 0x1FF, 0x2FF
BACKWARD, WITH_SCALE, WITH_SHIFT = 128, 2, 4
SRC, DST, WEIGHTS, BIAS, WORKSPACE, DIFF_SRC, DIFF_DST, DIFF_WEIGHTS = 1, 17, 33, 41, 64, 129, 145, 161
AVERAGE, VARIANCE, SCALE, SHIFT, DIFF_SCALE, DIFF_SHIFT = 49, 50, 51, 52, 255, 256
VECTORS = {BIAS, AVERAGE, VARIANCE, SCALE, SHIFT, DIFF_SCALE, DIFF_SHIFT}
FROM, TO = 1, 17  # operands of a reorder
QUERIES = {SRC: 129, DIFF_SRC: 130, WEIGHTS: 131, DIFF_WEIGHTS: 132, DST: 133, DIFF_DST: 134, WORKSPACE: 135}
OUTPUTS = {DST, DIFF_SRC, DIFF_WEIGHTS}
NAME = 8  # of the implementation of a primitive


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
            "pooling_forward_primitive_desc_create": [
                handle, c_void_p, c_int, c_int, *[c_void_p] * 2, *[dims] * 5, c_void_p,
            ],
            "pooling_backward_primitive_desc_create": [
                handle, c_void_p, c_int, *[c_void_p] * 2, *[dims] * 5, c_void_p, c_void_p,
            ],
            "batch_normalization_forward_primitive_desc_create": [
                handle, c_void_p, c_int, c_void_p, c_void_p, c_float, c_uint, c_void_p,
            ],
            "batch_normalization_backward_primitive_desc_create": [
                handle, c_void_p, c_int, *[c_void_p] * 3, c_float, c_uint, c_void_p, c_void_p,
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
            ("primitive_desc_query", [c_void_p, c_int, c_int, c_void_p], c_int),
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
        self.forked = False
        os.register_at_fork(after_in_child=self.alone)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def made(self, function: str, *args: Any) -> c_void_p:
        """What a creating function makes."""
        out = c_void_p()
        getattr(self, function)(byref(out), *args)
        return out

    def alone(self) -> None:
        """In the child of a fork: OpenMP would wait for threads that only the parent has."""
        self.forked, self.local = True, threading.local()

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


def layout_of(lib: Library, which: int, shape: Sequence[int], channels_last: bool) -> c_void_p:
    """A description of the memory of a dense array."""
    return lib.made("memory_desc_create_with_strides", len(shape), ints(shape),
                    UINT8 if which == WORKSPACE else FLOAT32, ints(strides_of(shape, channels_last)))  # fmt: skip


class Operand:
    """The memory of an array, that which the primitive works on, and the reorder between them if they differ."""

    def __init__(self, lib: Library, plan: Any, which: int, shape: Sequence[int], channels_last: bool) -> None:
        self.which, self.is_output = which, which in OUTPUTS
        user = layout_of(lib, which, shape, channels_last)
        inner = user if which in VECTORS else c_void_p(lib.primitive_desc_query_md(plan, QUERIES[which], 0))
        self.user = lib.made("memory_create", user, lib.engine, None)
        self.inner, self.reorder, self.size = self.user, None, 0
        if not lib.memory_desc_equal(user, inner):
            if which == WORKSPACE:
                raise Refused("oneDNN: positions of maxima that do not lie as the maxima do")
            self.size = lib.memory_desc_get_size(inner)
            self.inner = lib.made("memory_create", inner, lib.engine, None)
            ends = [(user, self.user), (inner, self.inner)]
            (source, first), (target, second) = ends[::-1] if self.is_output else ends
            reorder = lib.made("reorder_primitive_desc_create", source, lib.engine, target, lib.engine, None)
            self.reorder = lib.made("primitive_create", reorder)
            lib.primitive_desc_destroy(reorder)
            self.arguments = (Argument * 2)(Argument(FROM, first), Argument(TO, second))
        lib.memory_desc_destroy(user)

    def destroy(self, lib: Library) -> None:
        lib.memory_destroy(self.user)
        if self.reorder is not None:
            lib.memory_destroy(self.inner)
            lib.primitive_destroy(self.reorder)


# ---- what a primitive is made from, and hints that led to it; ``at`` has the layouts of the operands


def convolution_plan(lib: Library, at: dict[int, Any], stride: Any, dilation: Any, padding: Any) -> list[Any]:
    return [
        lib.made("convolution_forward_primitive_desc_create", lib.engine, FORWARD, AUTO, at[SRC], at[WEIGHTS],
                 at.get(BIAS), at[DST], stride, dilation, padding, padding, None)
    ]  # fmt: skip


def convolution_input_plan(lib: Library, at: dict[int, Any], *window: Any) -> list[Any]:
    (hint,) = convolution_plan(lib, {SRC: at[DIFF_SRC], WEIGHTS: at[WEIGHTS], DST: at[DIFF_DST]}, *window)
    return [
        lib.made("convolution_backward_data_primitive_desc_create", lib.engine, AUTO, at[DIFF_SRC], at[WEIGHTS],
                 at[DIFF_DST], *window, window[-1], hint, None),
        hint,
    ]  # fmt: skip


def convolution_weight_plan(lib: Library, at: dict[int, Any], *window: Any) -> list[Any]:
    (hint,) = convolution_plan(lib, {SRC: at[SRC], WEIGHTS: at[DIFF_WEIGHTS], DST: at[DIFF_DST]}, *window)
    return [
        lib.made("convolution_backward_weights_primitive_desc_create", lib.engine, AUTO, at[SRC], at[DIFF_WEIGHTS],
                 None, at[DIFF_DST], *window, window[-1], hint, None),
        hint,
    ]  # fmt: skip


def pooling_plan(lib: Library, at: dict[int, Any], *window: Any) -> list[Any]:
    kind = MAXIMUM if WORKSPACE in at else MEAN
    return [
        lib.made("pooling_forward_primitive_desc_create", lib.engine, FORWARD, kind, at[SRC], at[DST], *window, None)
    ]


def pooling_input_plan(lib: Library, at: dict[int, Any], *window: Any) -> list[Any]:
    kind = MAXIMUM if WORKSPACE in at else MEAN
    (hint,) = pooling_plan(lib, {**at, SRC: at[DIFF_SRC], DST: at[DIFF_DST]}, *window)
    return [
        lib.made("pooling_backward_primitive_desc_create", lib.engine, kind, at[DIFF_SRC], at[DIFF_DST], *window, hint,
                 None),
        hint,
    ]  # fmt: skip


def normalisation_plan(lib: Library, at: dict[int, Any], eps: float) -> list[Any]:
    flags = WITH_SCALE * (SCALE in at) | WITH_SHIFT * (SHIFT in at)
    return [
        lib.made("batch_normalization_forward_primitive_desc_create", lib.engine, FORWARD, at[SRC], at[DST], eps, flags,
                 None)
    ]  # fmt: skip


def normalisation_input_plan(lib: Library, at: dict[int, Any], eps: float) -> list[Any]:
    (hint,) = normalisation_plan(lib, {**at, DST: at[SRC], SHIFT: None}, eps)
    return [
        lib.made("batch_normalization_backward_primitive_desc_create", lib.engine, BACKWARD, at[DIFF_SRC], at[DIFF_DST],
                 at[SRC], eps, WITH_SCALE | WITH_SHIFT, hint, None),
        hint,
    ]  # fmt: skip


AS_GIVEN = {pooling_plan, pooling_input_plan, normalisation_plan, normalisation_input_plan}
"""Plans whose operands stay in the order they have."""


def is_compiled(lib: Library, plan: Any) -> bool:
    """Whether a primitive is code made for its shape, rather than a loop that serves for all."""
    name = ctypes.c_char_p()
    lib.primitive_desc_query(plan, NAME, 0, byref(name))
    return b"jit" in (name.value or b"")


class Call:
    """A primitive with its operands, for arrays of given shapes."""

    def __init__(self, lib: Library, plan: Callable[..., list[Any]], operands: Sequence[tuple[int, Any, bool]],
                 geometry: Sequence[Sequence[int]]) -> None:  # fmt: skip
        self.lib = lib
        at = {
            which: layout_of(lib, which, shape, last) if plan in AS_GIVEN or which in VECTORS
            else lib.made("memory_desc_create_with_tag", len(shape), ints(shape), FLOAT32, ANY)
            for which, shape, last in operands
        }  # fmt: skip
        plans = plan(lib, at, *(ints(g) if isinstance(g, tuple) else g for g in geometry))
        if plan in AS_GIVEN and not is_compiled(lib, plans[0]):
            raise Refused("oneDNN: a shape without code of its own, which would be slow")
        self.operands = [Operand(lib, plans[0], *operand) for operand in operands]
        self.primitive = lib.made("primitive_create", plans[0])
        self.arguments = (Argument * len(operands))(*(Argument(o.which, o.inner) for o in self.operands))
        for made in plans:
            lib.primitive_desc_destroy(made)
        for made in at.values():
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


def has_channels_last(array: Any) -> bool:
    """Whether an array lies densely with its channels as the last dimension in memory, and not in the usual order."""
    flags = array.flags
    return (
        not flags.c_contiguous and array.ndim > 2
        and array.transpose(0, *range(2, array.ndim), 1).flags.c_contiguous
    )  # fmt: skip


def dense(array: Any) -> tuple[Any, bool]:
    """An array that lies densely, and whether its channels are the last dimension in memory."""
    if array.flags.c_contiguous:
        return array, False
    if has_channels_last(array):
        return array, True
    return np.ascontiguousarray(array), False


def run(plan: Callable[..., list[Any]], operands: Sequence[tuple[int, Any]], geometry: tuple[Any, ...], work: int,
        threads: int, groups: int = 1, channels_last: bool | None = None) -> bool:  # fmt: skip
    """Run a primitive over arrays, which all have the given order if there is one; False if there is none for them."""
    lib = library()
    assert lib is not None
    ours = lib.ours()
    count = 1 if work < SMALL or lib.forked else threads
    if ours.threads != count:
        lib.openmp.omp_set_num_threads(count)
        ours.threads = count
    placed = []
    for which, array in operands:
        array, last = dense(array) if channels_last is None else (array, channels_last)
        if which in (WEIGHTS, DIFF_WEIGHTS) and groups > 1:
            array, last = np.ascontiguousarray(array).reshape(groups, -1, *array.shape[1:]), False
        placed.append((which, array, last))
    key = (plan, geometry, count, *((which, array.shape, last) for which, array, last in placed))
    call = ours.calls.get(key, ours)
    if call is ours:
        try:
            call = Call(lib, plan, [(which, a.shape, last) for which, a, last in placed], geometry)
        except Refused:
            call = None
        ours.calls[key] = call
        if len(ours.calls) > KEPT:
            oldest = ours.calls.popitem(last=False)[1]
            if oldest is not None:
                oldest.destroy()
    else:
        ours.calls.move_to_end(key)
    if call is None:
        return False
    call(ours.stream, [array for _, array, _ in placed])
    return True


def steps_between(dilation: tuple[int, ...]) -> tuple[int, ...]:
    """Dilation as oneDNN counts it."""
    return tuple([d - 1 for d in dilation])


def multiplications(out: Sequence[int], weight: Sequence[int]) -> int:
    """Of a convolution with a result and a weight of these shapes."""
    return math.prod(out) * math.prod(weight[1:])


def convolution(
    input: Any, weight: Any, bias: Any, out: Any, stride: Any, padding: Any, dilation: Any, groups: int, threads: int
) -> bool:
    """Write a convolution to ``out``, a contiguous array; False if it has to be computed in another way."""
    operands = [(SRC, input), (WEIGHTS, weight), (DST, out)]
    if bias is not None:
        operands.append((BIAS, bias))
    work = multiplications(out.shape, weight.shape)
    return run(convolution_plan, operands, (stride, steps_between(dilation), padding), work, threads, groups)


def convolution_input(
    grad: Any, weight: Any, out: Any, stride: Any, padding: Any, dilation: Any, groups: int, threads: int
) -> bool:
    """The same for the gradient with respect to the input."""
    operands = [(DIFF_DST, grad), (WEIGHTS, weight), (DIFF_SRC, out)]
    work = multiplications(grad.shape, weight.shape)
    return run(convolution_input_plan, operands, (stride, steps_between(dilation), padding), work, threads, groups)


def convolution_weight(
    input: Any, grad: Any, out: Any, stride: Any, padding: Any, dilation: Any, groups: int, threads: int
) -> bool:
    """The same for the gradient with respect to the weight."""
    operands = [(SRC, input), (DIFF_DST, grad), (DIFF_WEIGHTS, out)]
    work = multiplications(grad.shape, out.shape)
    return run(convolution_weight_plan, operands, (stride, steps_between(dilation), padding), work, threads, groups)


# ---- pooling


class Images:
    """A dense array (N, C, ...) of float32 and its order in memory, made of one with more or fewer dimensions."""

    def __init__(self, x: Any, n: int) -> None:
        self.lead, self.n = x.shape[: x.ndim - n], n
        shape = math.prod(self.lead[:-1]), math.prod(self.lead[-1:]), *x.shape[x.ndim - n :]
        self.array, self.channels_last = dense(x.reshape(shape))

    def like(self, sizes: Sequence[int], dtype: Any = np.float32) -> Any:
        """An uninitialised array of other sizes of the last dimensions, in the same order."""
        shape = (*self.array.shape[:2], *sizes)
        if not self.channels_last:
            return np.empty(shape, dtype)
        return np.moveaxis(np.empty((shape[0], *sizes, shape[1]), dtype), -1, 1)

    def unfolded(self, array: Any) -> Any:
        """An array like this one, with the leading dimensions that there were."""
        return array.reshape(*self.lead, *array.shape[2:])

    @property
    def is_finite(self) -> bool:
        row = (np.moveaxis(self.array, 1, -1) if self.channels_last else self.array).reshape(-1)
        return math.isfinite(row.dot(row))

    def pool(self, plan: Any, source: Any, operands: list[tuple[int, Any]], window: Any, stride: Any, padding: Any,
             dilation: Any, threads: int) -> bool:  # fmt: skip
        """Run a primitive over operands in this order."""
        result = operands[0][1].shape
        beyond = tuple([
            max(0, (o - 1) * s + d * (k - 1) + 1 - p - m)
            for m, o, k, s, p, d in zip(source[1].shape[2:], result[2:], window, stride, padding, dilation)
        ])  # fmt: skip
        geometry = stride, window, steps_between(dilation), padding, beyond
        work = COMPARISON * math.prod(result) * math.prod(window)
        return run(plan, [source, *operands], geometry, work, threads, channels_last=self.channels_last)


COMPARISON = 32
"""How many multiplications of a convolution take as long as one element of a window in pooling."""


def suits_pooling(x: Any, n: int) -> bool:
    """Whether the library pools the last ``n`` dimensions of an array."""
    return enabled and x.dtype == np.float32 and n in (2, 3) and x.ndim >= n and x.size > 0 and library() is not None


def max_pool(
    x: Any, window: Any, stride: Any, padding: Any, dilation: Any, places: Any, threads: int
) -> tuple[Any, Any] | None:
    """The maxima of windows, and which element of its window each is, in row-major order, for ``max_pool_input``.

    None if they have to be computed in another way. The library skips nan and knows no -inf: all must be finite.
    """
    if not suits_pooling(x, len(window)) or math.prod(window) > 255:
        return None
    images = Images(x, len(window))
    if not images.is_finite:
        return None
    out, choice = images.like(places), images.like(places, np.uint8)
    operands = [(DST, out), (WORKSPACE, choice)]
    if not images.pool(pooling_plan, (SRC, images.array), operands, window, stride, padding, dilation, threads):
        return None
    return images.unfolded(out), choice


def max_pool_input(
    g: Any, choice: Any, size: Any, window: Any, stride: Any, padding: Any, dilation: Any, threads: int
) -> Any:
    """The gradient with respect to the input, whose last dimensions have the given sizes; None as above."""
    images = Images(g, len(window))
    if images.array.strides != tuple([4 * s for s in choice.strides]):
        images.channels_last = not choice.flags.c_contiguous
        arranged = images.like(images.array.shape[2:])
        arranged[...] = images.array
        images.array = arranged
    out = images.like(size)
    operands = [(DIFF_DST, images.array), (WORKSPACE, choice)]
    if not images.pool(pooling_input_plan, (DIFF_SRC, out), operands, window, stride, padding, dilation, threads):
        return None
    return images.unfolded(out)


def mean_pool(x: Any, window: Any, stride: Any, padding: Any, places: Any, threads: int) -> Any:
    """The means of windows, edges included; None if they have to be computed in another way."""
    if not suits_pooling(x, len(window)):
        return None
    images = Images(x, len(window))
    out = images.like(places)
    ones = (1,) * len(window)
    if not images.pool(pooling_plan, (SRC, images.array), [(DST, out)], window, stride, padding, ones, threads):
        return None
    return images.unfolded(out)


def mean_pool_input(g: Any, size: Any, window: Any, stride: Any, padding: Any, threads: int) -> Any:
    """The gradient with respect to the input, whose last dimensions have the given sizes; None as above."""
    if not suits_pooling(g, len(window)):
        return None
    images = Images(g, len(window))
    out = images.like(size)
    ones = (1,) * len(window)
    if not images.pool(pooling_input_plan, (DIFF_SRC, out), [(DIFF_DST, images.array)], window, stride, padding, ones,
                       threads):  # fmt: skip
        return None
    return images.unfolded(out)


# ---- normalisation of batches


def batch_norm(x: Any, weight: Any, bias: Any, eps: float, threads: int) -> tuple[Any, Any, Any] | None:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, and mean and variance of each channel.

    None if they have to be computed in another way: only where channels lie last is the library the faster one.
    """
    vectors = [(which, vector) for which, vector in ((SCALE, weight), (SHIFT, bias)) if vector is not None]
    if not suits(x) or not has_channels_last(x) or any(vector.dtype != x.dtype for _, vector in vectors):
        return None
    out, mean, var = np.empty_like(x), np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    operands = [(SRC, x), (DST, out), (AVERAGE, mean), (VARIANCE, var), *vectors]
    done = run(normalisation_plan, operands, (eps,), COMPARISON * x.size, threads)
    return (out, mean, var) if done else None


def batch_norm_input(
    g: Any, x: Any, mean: Any, var: Any, weight: Any, eps: float, threads: int
) -> tuple[Any, Any, Any] | None:
    """The gradients with respect to input, weight and bias, from what ``batch_norm`` gave; None as above."""
    if not has_channels_last(g):
        arranged = np.empty_like(x)
        arranged[...] = g
        g = arranged
    out, of_weight, of_bias = np.empty_like(x), np.empty_like(mean), np.empty_like(mean)
    scale = np.ones_like(mean) if weight is None else weight
    operands = [(SRC, x), (DIFF_DST, g), (AVERAGE, mean), (VARIANCE, var), (SCALE, scale), (DIFF_SRC, out),
                (DIFF_SCALE, of_weight), (DIFF_SHIFT, of_bias)]  # fmt: skip
    done = run(normalisation_input_plan, operands, (eps,), COMPARISON * x.size, threads)
    return (out, of_weight, of_bias) if done else None
