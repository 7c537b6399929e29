"""Sums of products by Einstein's notation: parsed once, then done by matrix products two operands at a time."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.namespace import F
from ..core.operator import operator
from ..core.tensor import Tensor
from . import arguments
from .matmul import C_NAMES

Label = Any
"""A letter of the equation, an int of the sublist format, or a tuple ("...", i): the i-th dimension from the end of the
ellipsis."""
Labels = tuple[Label, ...]

# ---- reading the equation


def error(text: str) -> RuntimeError:
    return RuntimeError(f"einsum(): {text}")


def read_subscripts(text: str, place: str) -> Labels:
    """Letters and Ellipsis of one side of an operand."""
    labels: list[Label] = []
    i = 0
    while i < len(text):
        if text.startswith("...", i):
            if Ellipsis in labels:
                raise error(f"found '.' for {place} for which an ellipsis was already found")
            labels.append(Ellipsis)
            i += 3
        elif text[i].isascii() and text[i].isalpha():
            labels.append(text[i])
            i += 1
        elif text[i] == ".":
            raise error(f"found '.' for {place} that is not part of any ellipsis")
        else:
            raise error(f"invalid subscript given at index {i} in the equation string ({text[i]!r} for {place}), "
                        "subscripts must be in [a-zA-Z]")  # fmt: skip
    return tuple(labels)


@functools.lru_cache(1024)
def read_equation(equation: str, ndims: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand and of the output, for operands of the given ranks."""
    left, arrow, right = "".join(equation.split()).partition("->")
    sides = left.split(",")
    if len(sides) != len(ndims):
        fewer = "fewer" if len(sides) > len(ndims) else "more"
        raise error(f"{fewer} operands were provided than specified in the equation")
    operands = [read_subscripts(side, f"operand {i}") for i, side in enumerate(sides)]
    return resolve(operands, read_subscripts(right, "the output") if arrow else None, ndims)


def resolve(operands: list[Labels], output: Labels | None, ndims: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """Put dimensions for the ellipses, and find the output where the equation does not name it."""
    inputs, longest = [], 0
    for i, (labels, ndim) in enumerate(zip(operands, ndims, strict=True)):
        covered = ndim - len(labels) + (Ellipsis in labels)
        if covered < 0 or (covered and Ellipsis not in labels):
            what = "more than the number of dimensions" if covered < 0 and Ellipsis in labels else (
                f"does not match the number of dimensions ({ndim})")  # fmt: skip
            raise error(f"the number of subscripts in the equation ({len(labels) - (Ellipsis in labels)}) {what} for "
                        f"operand {i}{'' if Ellipsis in labels else ' and no ellipsis was given'}")  # fmt: skip
        longest = max(longest, covered)
        inputs.append(filled(labels, covered))
    if output is None:
        named = [label for labels in inputs for label in labels if type(label) is not tuple]
        once = sorted(label for label in set(named) if named.count(label) == 1)
        return tuple(inputs), (*filled((Ellipsis,), longest), *once)
    out = filled(output, longest)
    for label in out:
        if out.count(label) > 1:
            raise error(f"output subscript {label} appears more than once in the output")
        if not any(label in labels for labels in inputs):
            raise error(f"output subscript {label} does not appear in the equation for any input operand")
    return tuple(inputs), out


def filled(labels: Labels, covered: int) -> Labels:
    if Ellipsis not in labels:
        return labels
    i = labels.index(Ellipsis)
    return (*labels[:i], *(("...", covered - j) for j in range(covered)), *labels[i + 1 :])


@functools.lru_cache(1024)
def check_extents(inputs: tuple[Labels, ...], shapes: tuple[tuple[int, ...], ...]) -> None:
    """Raise unless the extents of each label agree; ones broadcast."""
    sizes: dict[Label, int] = {}
    for i, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        for label, n in zip(labels, shape, strict=True):
            seen = sizes.get(label, 1)
            if n != seen and n != 1 and seen != 1:
                raise error(f"subscript {label if type(label) is not tuple else '...'} has size {n} for operand {i} "
                            f"which does not broadcast with previously seen size {seen}")  # fmt: skip
            if n != 1 or label not in sizes:
                sizes[label] = n


# ---- contracting


def without_repeats(operand: Tensor, labels: Labels, position: int) -> tuple[Tensor, Labels]:
    """Take the diagonal wherever a label stands twice."""
    while len(set(labels)) < len(labels):
        i = next(i for i, label in enumerate(labels) if label in labels[:i])
        j, shape = labels.index(labels[i]), operand._data.shape
        if shape[i] != shape[j]:
            raise error(f"subscript {labels[i]} is repeated for operand {position} but the sizes don't match, "
                        f"{shape[i]} != {shape[j]}")  # fmt: skip
        others = [d for d in range(len(labels)) if d not in (i, j)]
        operand = F.diagonal(permuted(operand, [*others, j, i]), 0, -2, -1)
        labels = (*(labels[d] for d in others), labels[i])
    return operand, labels


def permuted(x: Tensor, order: Sequence[int]) -> Tensor:
    n = len(order)
    return x if tuple(order) == tuple(range(n)) else F.permute(x, tuple(d - n for d in order))


def summed(x: Tensor, labels: Labels, keep: Any) -> tuple[Tensor, Labels]:
    """Sum the dimensions whose labels are not to be kept."""
    gone = tuple(i - len(labels) for i, label in enumerate(labels) if label not in keep)
    if not gone:
        return x, labels
    return F.sum(x, gone, False), tuple(label for label in labels if label in keep)


class Product(NamedTuple):
    """How a sum of products becomes one product of matrices; None where there is nothing to do."""

    left_order: tuple[int, ...] | None  # batch, rows, inner
    left_shape: tuple[int, ...] | None
    right_order: tuple[int, ...] | None  # batch, inner, columns
    right_shape: tuple[int, ...] | None
    product: str
    shape: tuple[int, ...] | None
    out: Labels  # batch, rows, columns


@functools.lru_cache(4096)
def product_of(
    mine: Labels, yours: Labels, keep: frozenset[Label], left: tuple[int, ...], right: tuple[int, ...]
) -> Product:
    """For operands whose labels are all kept or shared, and whose shared extents agree."""
    sizes = dict(zip((*mine, *yours), (*left, *right), strict=True))
    batch = tuple(label for label in mine if label in yours and label in keep)
    inner = tuple(label for label in mine if label in yours and label not in keep)
    rows = tuple(label for label in mine if label not in yours)
    columns = tuple(label for label in yours if label not in mine)

    def order(labels: Labels, want: Labels) -> tuple[int, ...] | None:
        return None if labels == want else tuple(labels.index(label) - len(labels) for label in want)

    def extents_of(labels: Labels) -> tuple[int, ...]:
        return tuple(sizes[label] for label in labels)

    b, r, c = extents_of(batch), extents_of(rows), extents_of(columns)
    left_shape: tuple[int, ...]
    right_shape: tuple[int, ...]
    if inner:
        k, product = math.prod(extents_of(inner)), "matmul" if batch else "mm"
        left_shape, right_shape = (*b, math.prod(r), k), (*b, k, math.prod(c))
        made = (*b, math.prod(r), math.prod(c))
    else:
        product, left_shape, right_shape, made = "mul", (*b, *r, *(1,) * len(c)), (*b, *(1,) * len(r), *c), (*b, *r, *c)
    return Product(
        order(mine, (*batch, *rows, *inner)), None if extents_of((*batch, *rows, *inner)) == left_shape else left_shape,
        order(yours, (*batch, *inner, *columns)),
        None if extents_of((*batch, *inner, *columns)) == right_shape else right_shape,
        product, None if made == (*b, *r, *c) else (*b, *r, *c), (*batch, *rows, *columns),
    )  # fmt: skip


def contract(left: Tensor, mine: Labels, right: Tensor, yours: Labels, keep: frozenset[Label]) -> tuple[Tensor, Labels]:
    """The sum of products of two operands over all labels that are not kept."""
    for label in mine:  # an extent of 1 broadcasts: only the other counts
        if label in yours:
            n, m = left._data.shape[mine.index(label)], right._data.shape[yours.index(label)]
            if n != m:
                if m == 1:
                    right, yours = squeezed(right, yours, label)
                else:
                    left, mine = squeezed(left, mine, label)
    left, mine = summed(left, mine, {*keep, *yours})
    right, yours = summed(right, yours, {*keep, *mine})
    how = product_of(mine, yours, keep, left._data.shape, right._data.shape)
    if how.product != "mul" and left._data.dtype != right._data.dtype:
        a, b = left._data.dtype.name, right._data.dtype.name
        raise error(f"expected operands of one dtype, but got: {C_NAMES.get(a, a)} != {C_NAMES.get(b, b)}")
    if how.left_order:
        left = F.permute(left, how.left_order)
    if how.left_shape is not None:
        left = F.reshape(left, how.left_shape)
    if how.right_order:
        right = F.permute(right, how.right_order)
    if how.right_shape is not None:
        right = F.reshape(right, how.right_shape)
    out = F.mul(left, right) if how.product == "mul" else getattr(F, how.product)(left, right)
    return out if how.shape is None else F.reshape(out, how.shape), how.out


def squeezed(x: Tensor, labels: Labels, label: Label) -> tuple[Tensor, Labels]:
    i = labels.index(label)
    shape = x._data.shape
    return F.reshape(x, shape[:i] + shape[i + 1 :]), labels[:i] + labels[i + 1 :]


@functools.lru_cache(1024)
def contraction_path(inputs: tuple[Labels, ...], output: Labels, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """The order in which to contract: pairs of positions; what they make goes to the end of the list."""
    number: dict[Label, int] = {}
    for labels in inputs:
        for label in labels:
            number.setdefault(label, len(number))
    try:
        import opt_einsum
    except ImportError:
        if len(number) > 52:
            return [(0, 1)] * (len(inputs) - 1)
        call: list[Any] = []
        for labels, shape in zip(inputs, shapes, strict=True):
            call += [np.broadcast_to(np.float64(0), shape), [number[label] for label in labels]]
        return np.einsum_path(*call, [number[label] for label in output], optimize="greedy")[0][1:]
    symbols = [opt_einsum.get_symbol(i) for i in range(len(number))]
    sides = ["".join(symbols[number[label]] for label in labels) for labels in (*inputs, output)]
    equation = ",".join(sides[:-1]) + "->" + sides[-1]
    return opt_einsum.contract_path(equation, *shapes, shapes=True, optimize="auto")[0]


def evaluate(operands: list[Tensor], inputs: tuple[Labels, ...], output: Labels) -> Tensor:
    rest = [without_repeats(t, labels, i) for i, (t, labels) in enumerate(zip(operands, inputs, strict=True))]
    check_extents(tuple(labels for _, labels in rest), tuple(t._data.shape for t, _ in rest))
    path = [(0, 1)][: len(rest) - 1]
    if len(rest) > 2:
        path = contraction_path(tuple(labels for _, labels in rest), output, tuple(t._data.shape for t, _ in rest))
    for positions in path:
        group = [rest.pop(i) for i in sorted(positions, reverse=True)][::-1]
        while len(group) > 1:
            (a, mine), (b, yours), *group = group
            keep = frozenset((*output, *(label for _, labels in (*rest, *group) for label in labels)))
            group.append(contract(a, mine, b, yours, keep))
        rest += group
    ((x, labels),) = rest
    if labels == output:
        return x
    x, labels = summed(x, labels, output)
    return permuted(x, [labels.index(label) for label in output])


@operator(method=False)
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Sum of products of the operands' elements, over the labels that the output does not name.

    Parameters
    ----------
    equation : str
        Letters for the dimensions of each operand, separated by commas, then (after ``->``) those of the output;
        ``...`` stands for any further dimensions, which broadcast. A label that stands twice in one operand takes the
        diagonal. Without ``->`` the output has the ellipsis and, in alphabetical order, each label that occurs once.
    *operands : Tensor
        One for each part of the equation. In the sublist format, instead of all this: ``einsum(op1, [0, 1], op2, [1,
        2], [0, 2])``, with ints (and ``...``) for letters.

    Raises
    ------
    RuntimeError
        If equation, ranks and extents do not fit.

    Notes
    -----
    Three and more operands are contracted in the order that opt_einsum finds, if it is installed, else
    :func:`numpy.einsum_path`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.einsum("ij,kj->ik", tp.tensor([[1., 2.]]), tp.tensor([[3., 4.], [5., 6.]]))
    tensor([[11., 17.]])
    """
    if isinstance(equation, str):
        if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
            operands = tuple(operands[0])
        if not operands:
            raise ValueError(
                "einsum(): must specify the equation string and at least one operand, got the string alone"
            )
        tensors = [arguments.tensor(t, "einsum", "operands", i + 2) for i, t in enumerate(operands)]
        inputs, output = read_equation(equation, tuple(t._data.ndim for t in tensors))
        return evaluate(tensors, inputs, output)
    given = [equation, *operands]
    last = tuple(given.pop()) if len(given) % 2 else None
    tensors = [arguments.tensor(t, "einsum", "operands", 2 * i + 1) for i, t in enumerate(given[::2])]
    if not tensors:
        raise error("must provide at least one operand")
    sublists = [tuple(labels) for labels in given[1::2]]
    for label in (label for labels in (*sublists, last or ()) for label in labels):
        if label is not Ellipsis and not 0 <= arguments.integer(label, "einsum", "sublist") < 52:
            raise error(f"not within the range of allowed subscripts [0, 52), got {label}")
    inputs, output = resolve(sublists, last, tuple(t._data.ndim for t in tensors))
    return evaluate(tensors, inputs, output)


@operator(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sums of products over several dimensions of both tensors.

    Parameters
    ----------
    a, b : Tensor
        Tensors of one dtype.
    dims : int or two lists of ints
        How many dimensions, the last of ``a`` with the first of ``b``, or which ones, in pairs.

    Raises
    ------
    RuntimeError
        If the dimensions named do not fit.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.tensordot(tp.ones(2, 3, 4), tp.ones(3, 4, 5), dims=2).shape
    tensorplay.Size([2, 5])
    """
    left, right = arguments.tensor(a, "tensordot", "a")._data, arguments.tensor(b, "tensordot", "b", 2)._data
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims._data.ndim else dims.item()
    if isinstance(dims, (tuple, list)):
        mine, yours = (list(arguments.integers(d, "tensordot", "dims", 3)) for d in dims)
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(left.ndim, right.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got {dims}")
        mine, yours = list(range(left.ndim - dims, left.ndim)), list(range(dims))
    if len(mine) != len(yours):
        raise RuntimeError(f"tensordot: both dimension lists should have same length, got {mine} and {yours}")
    if left.dtype != right.dtype:
        raise RuntimeError(f"tensordot: both inputs should have same dtype, got {a.dtype} and {b.dtype}")
    mine = [left.ndim + arguments.dimension(d, left.ndim, "tensordot", "dims", 3) for d in mine]
    yours = [right.ndim + arguments.dimension(d, right.ndim, "tensordot", "dims", 3) for d in yours]
    if len(set(mine)) < len(mine) or len(set(yours)) < len(yours):
        raise RuntimeError(f"tensordot: a dimension appears multiple times in the list of dims, got {mine} and {yours}")
    rows, columns = list(range(left.ndim)), list(range(left.ndim, left.ndim + right.ndim))
    for i, j in zip(mine, yours, strict=True):
        n, m = left.shape[i], right.shape[j]
        if n != m and n != 1 and m != 1:
            raise RuntimeError(f"tensordot: contracted dimensions need to match, but first has size {n} in dim {i} and "
                               f"second has size {m} in dim {j}")  # fmt: skip
        columns[j] = i
    output = tuple(d for d in rows if d not in mine) + tuple(d for d in columns if d not in mine)
    out = evaluate([a, b], (tuple(rows), tuple(columns)), output)
    return out if out._data.dtype == left.dtype else F.cast(out, left.dtype)
