"""What the transforms check and take apart alike: the arguments named by ``argnums``, outputs, auxiliary outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..core import pytree
from ..core.tensor import Tensor


def name_of(func: Callable[..., Any]) -> str:
    """How messages call a user's function."""
    return getattr(func, "__name__", None) or type(func).__name__


def chosen(argnums: Any, args: tuple[Any, ...], name: str) -> Any:
    """The arguments to differentiate: one, or a tuple of them."""
    if type(argnums) is int:
        return args[position(argnums, len(args), name)]
    if isinstance(argnums, tuple):
        if not argnums:
            raise RuntimeError(f"{name}: argnums must be an int or a tuple of ints that is not empty")
        places = [position(a, len(args), name) for a in argnums]
        if len(set(places)) != len(places):
            raise RuntimeError(f"{name}: argnums elements must be unique, got {argnums}")
        return tuple(args[i] for i in places)
    raise RuntimeError(f"{name}: argnums must be int or Tuple[int, ...], got: {type(argnums)}")


def position(argnum: Any, count: int, name: str) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"{name}: argnums must be int or Tuple[int, ...], got an element of {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"{name}: Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def replaced(args: tuple[Any, ...], argnums: Any, values: Any) -> tuple[Any, ...]:
    """The arguments with the chosen ones replaced."""
    new = list(args)
    if type(argnums) is int:
        new[argnums] = values
    else:
        for i, value in zip(argnums, values):
            new[i] = value
    return tuple(new)


def differentiable(
    leaves: list[Any],
    name: str,
    what: str,
    error: type[Exception] = RuntimeError,
    foreign: type[Exception] = ValueError,
) -> list[Tensor]:
    """The leaves, all of them tensors that have derivatives.

    Raises
    ------
    Exception
        Of the class ``foreign`` for what is no tensor, of the class ``error`` for a dtype without derivatives:
        PyTorch's transforms differ in these.
    """
    for i, x in enumerate(leaves):
        if not isinstance(x, Tensor):
            raise foreign(f"{name}: {what} must hold Tensors only, got {type(x).__name__} (leaf {i})")
        if x._data.dtype.kind not in "fcV":
            raise error(
                f"{name}: only Tensors of floating point and complex dtype can require gradients, but {what} holds "
                f"one of {x.dtype} (leaf {i}): expected it to be floating point or complex"
            )
    return leaves


def split_aux(out: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """Output and auxiliary output of a function that returns both."""
    if not has_aux:
        return out, None
    if not isinstance(out, tuple) or len(out) != 2:
        got = f"a tuple of {len(out)}" if isinstance(out, tuple) else type(out).__name__
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True, got {got}"
        )
    return out


def tensors_of(out: Any, name: str, what: str = "f(*primals)") -> tuple[list[Tensor], pytree.Spec]:
    """The leaves of a function's output, at least one and all of them tensors."""
    leaves, spec = pytree.flatten(out)
    if not leaves:
        raise RuntimeError(
            f"{name}: Expected {what} to return at least one tensor, got the structure {spec} without tensors"
        )
    for o in leaves:
        if not isinstance(o, Tensor):
            raise RuntimeError(f"{name}: Expected {what} to return only tensors, got {type(o).__name__}")
    return leaves, spec


def differentiable_outputs(outs: list[Tensor], name: str) -> None:
    """Refuse integers among what a reverse transform pulls back from: their gradients would be zeros without a word.

    Raises
    ------
    RuntimeError
        Naming the transform, and the position of the output.
    """
    for i, o in enumerate(outs):
        if o._data.dtype.kind not in "fcV":
            raise RuntimeError(
                f"{name}(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{o.dtype} (output {i}); return it by has_aux=True"
            )


def tree_like(
    tree: Any,
    spec: pytree.Spec,
    name: str,
    what: str,
    like: list[Tensor],
    foreign: type[Exception] = TypeError,
) -> list[Tensor]:
    """The leaves of tangents or cotangents that mirror given tensors."""
    leaves = pytree.flatten_like(tree, spec, name, what)
    for i, (v, x) in enumerate(zip(leaves, like)):
        if not isinstance(v, Tensor):
            raise foreign(f"{name}: {what} must hold Tensors only, got {type(v).__name__} (leaf {i})")
        if v._data.shape != x._data.shape:
            raise RuntimeError(
                f"{name}: {what} must have the shapes of what they belong to: leaf {i} has {list(v.shape)}, "
                f"expected {list(x.shape)}"
            )
    return leaves


def check_real(tensors: Iterable[Any], name: str, what: str) -> None:
    """Refuse complex tensors, as PyTorch's Jacobians do: their derivative is no one matrix.

    Raises
    ------
    RuntimeError
        Naming the function, and the position of the first complex tensor.
    """
    for i, t in enumerate(tensors):
        if isinstance(t, Tensor) and t._data.dtype.kind == "c":
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened {what[:-1]} idx: "
                f"{i}; use view_as_real, or vjp and jvp"
            )
