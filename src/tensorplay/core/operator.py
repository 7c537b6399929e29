"""Public operators: from one declaration the function, the method, the in-place twin and the ``out=`` form.

``@operator(...)`` registers a function under its name; the name in the operator file stays the plain function, which is
also the method. ``OPERATORS`` holds what the public namespaces export, and what stubs and reference pages derive from.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from keyword import iskeyword
from numbers import Number
from types import FunctionType
from typing import Any

import numpy as np

from . import dtype as dtypes
from .callpath import MISSING, call_path, parameter_names
from .carrier import Meta, own_memory
from .inplace import check_writable, internally_overlapping, old_value, write
from .interception import copies
from .node import Node
from .primitive import PRIMITIVES
from .promotion import can_cast
from .registry import Registries
from .state import count, state
from .tensor import Tensor
from .versions import note_write, storage_of


class Operator:
    """One public operator.

    Attributes
    ----------
    name, namespace : str
        What it is called, and where it is exported.
    plain : callable
        The function as written, which is also the method.
    out : bool or str
        How the function takes ``out=``; see :func:`operator`.
    method, inplace : str or None
        Names of the method and of the in-place twin.
    """

    def __init__(self, name: str, namespace: str, plain: Callable[..., Any], out: bool | str,
                 method: str | None, inplace: str | None) -> None:  # fmt: skip
        self.name, self.namespace, self.plain, self.out = name, namespace, plain, out
        self.method, self.inplace = method, inplace

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        """The public function, with ``out=`` and NumPy's names where it takes them; made at the first need.

        It is pickled by name: where its file does not hold it (but what it was made from), by the public one.
        """
        function = with_out(self.plain, self.name, self.out) if self.out else self.plain
        if self.namespace in NUMPY_NAMESPACES:
            function = with_numpy_names(function, self.name)
            if function is not self.plain:  # also of a further name
                function.__name__ = function.__qualname__ = self.name
        module = sys.modules.get(function.__module__)
        if module is None or vars(module).get(function.__qualname__) is not function:
            function.__module__ = f"tensorplay.{self.namespace}".rstrip(".")
        return function


def exported(namespace: str, module: dict[str, Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a public module: its operators, made at the first need and kept in its globals."""
    operators = OPERATORS[namespace]

    def get(name: str) -> Any:
        if name not in operators:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        function = module[name] = operators[name].function
        return function

    return get


OPERATORS: Registries[Operator] = Registries()
"""By namespace ("" is the package itself, "linalg", "nn.functional", ...), then by name."""


def operator(
    *,
    name: str | None = None,
    namespace: str = "",
    method: bool | str = True,
    inplace: bool | str = False,
    out: bool | str = True,
    function: bool = True,
    aliases: tuple[str, ...] = (),
    into: Callable[..., None] | None = None,
    documented: dict[str, str] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a public operator.

    Parameters
    ----------
    name
        Public name; the function's own by default.
    namespace
        Where it is exported: "" for the package, else such as "linalg" or "nn.functional".
    method
        Whether it is a method of Tensor (True: under its name; a string: under that name).
    inplace
        Whether it has an in-place twin, ``name_`` (or the given name).
    out
        Whether the function takes ``out=``; "exact": only of the result's own dtype, "apart":
        and of other memory than the arguments'.
    function
        Whether it is exported as a function at all.
    aliases
        Further names, with twins of their own.
    into
        ``into(array, *operands)`` computes the in-place twin within the array: for plain arrays of one dtype without
        history. Of a primitive whose kernel is a ufunc it is known.
    documented
        By parameter, the name that PyTorch's documentation of the method gives it where its parser takes another: the
        method takes both, and shows this one; "" for a parameter that it does not show.
    """

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        own = name or fn.__name__
        if collects_numpy_names(fn):
            signature = inspect.signature(fn)  # what it shows are the names of the field
            shown = [p for p in signature.parameters.values() if p.name != "numpy_names"]
            fn.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        for public in (own, *aliases):
            takes_out = False if "out" in parameter_names(fn) else out
            as_method = public if method is True else method or None
            twin = (public + "_" if inplace is True else inplace) or None
            named = fn
            if documented:
                named = with_documented_names(fn, public, documented)
            elif NUMPY_NAMED.intersection(parameter_names(fn)):
                named = with_numpy_names(fn, public)
            if not function:  # so that whoever looks for operators finds it
                named.__module__ = fn.__module__
            if as_method:
                setattr(Tensor, as_method, named)
            if twin:
                twin_function = inplace_twin(named, twin, into or ufunc_into(fn))
                setattr(Tensor, twin, twin_function)
            entry = Operator(public, namespace, fn, takes_out, as_method, twin)
            if function:
                OPERATORS[namespace][public] = entry
                if twin and namespace in ("", "nn.functional"):
                    OPERATORS[namespace][twin] = Operator(twin, namespace, twin_function, False, None, None)
        return fn

    return register


NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}
NUMPY_NAMED = frozenset(NUMPY_NAMES.values())
NUMPY_NAMESPACES = ("", "linalg", "special", "fft")

@functools.cache
def compiled(source: str) -> Any:
    return compile(source, "<tensorplay named>", "exec")


def with_documented_names(fn: Callable[..., Any], name: str, documented: dict[str, str]) -> Callable[..., Any]:
    """The method of a function whose parameters have further names: by parameter, in ``documented``.

    Where a call must cost nothing more, the function itself has a parameter of the further name, and asks
    :func:`~tensorplay.core.callpath.either`. The second operand of a primitive gets that here.
    """
    signature, own, primitive = inspect.signature(fn), parameter_names(fn), PRIMITIVES.get(fn.__name__)
    further = {other: p for p, other in documented.items() if other and other not in own}
    shown = [p for p in signature.parameters.values() if p.name not in documented.values()]
    if primitive is not None and primitive.function is fn:
        (other,) = further
        method = call_path(primitive, other)
        shown = [p for p in shown if p.name != "out"]
    else:
        method = with_numpy_names(fn, name, further)
        if method is fn:
            method = FunctionType(fn.__code__, fn.__globals__, name, fn.__defaults__, fn.__closure__)
            method.__kwdefaults__ = fn.__kwdefaults__
        if len(shown) < len(signature.parameters):
            signature = signature.replace(parameters=[required_again(p) for p in shown])
            fn.__signature__ = signature  # type: ignore[attr-defined]
    if method.__dict__.get("__wrapped__") is not fn:  # does not call it
        copies.setdefault(fn, []).append(method)
    method.__doc__, method.__module__, annotations = fn.__doc__, fn.__module__, fn.__annotations__
    method.__annotations__ = annotations | {o: annotations[p] for p, o in documented.items() if p in annotations}
    parameters: list[inspect.Parameter] = []
    for p in map(required_again, shown):
        other = documented.get(p.name, p.name)
        if iskeyword(other):  # a signature has such a name only where it cannot be written as one
            parameters = [q.replace(kind=q.POSITIONAL_ONLY) for q in parameters]
            p = p.replace(kind=p.POSITIONAL_ONLY)
        if other:
            parameters.append(inspect.Parameter(other, p.kind, default=p.default, annotation=p.annotation))
    method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    own_signature = signature.replace(parameters=[required_again(p) for p in shown])
    method.own_signature = own_signature  # type: ignore[attr-defined]
    return method


def required_again(p: inspect.Parameter) -> inspect.Parameter:
    return p.replace(default=p.empty) if p.default is MISSING else p


def with_numpy_names(fn: Callable[..., Any], name: str, further: dict[str, str] | None = None) -> Callable[..., Any]:
    """The function under the given name, which takes ``axis`` for ``dim`` and ``keepdims`` for ``keepdim``, too.

    It also takes the names in ``further``. A function that every program calls collects these names itself (see
    :func:`renamed`), which saves a call.
    """
    parameters = list(inspect.signature(fn).parameters.values())
    if not (further or NUMPY_NAMED & {p.name for p in parameters}) or collects_numpy_names(fn):
        return fn
    if any(p.kind is p.VAR_POSITIONAL or p.kind is p.VAR_KEYWORD for p in parameters):
        return fn
    first, *rest = parameters
    scope: dict[str, Any] = {"fn": fn, "renamed": renamed, "MISSING": MISSING, "further": further}
    left, right, keywords, required = [first.name], [first.name], [], []
    for p in rest:
        if p.kind is p.KEYWORD_ONLY and "*" not in left:
            left.append("*")
        scope[f"default_{p.name}"] = MISSING if p.default is p.empty else p.default
        left.append(f"{p.name}=default_{p.name}")
        right.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name)
        keywords.append(f"{p.name}={p.name}")
        if p.default is p.empty:
            required.append(f"{p.name} is MISSING")
    source = (
        f"def named({', '.join(left)}, **numpy_names):\n"
        f"    if {' or '.join(['numpy_names', *required])}:\n"
        f"        return renamed(fn, numpy_names, {', '.join([first.name, 'further', *keywords])})\n"
        f"    return fn({', '.join(right)})"
    )
    exec(compiled(source), scope)
    made = functools.update_wrapper(scope["named"], fn)
    made.__module__, made.__qualname__ = "tensorplay", f"Tensor.{name}"  # as a function it is given another
    return made


def renamed(
    fn: Callable[..., Any], numpy_names: dict[str, Any], input: Any, further: dict[str, str] | None = None, /,
    **arguments: Any,
) -> Any:  # fmt: skip
    """The call of ``fn`` with keywords that NumPy uses, or of the ``further`` ones, under their own names.

    A reduction collects what it does not know in ``**numpy_names``, which costs the common call next to nothing.

    Raises
    ------
    TypeError
        If a keyword is none of NumPy's, or the argument is given twice.
    """
    for keyword, value in numpy_names.items():
        own = NUMPY_NAMES.get(keyword) or (further or {}).get(keyword)
        if own not in arguments:
            raise TypeError(f"{fn.__name__}() got an unexpected keyword argument {keyword!r}")
        if arguments[own] is not MISSING and arguments[own] is not inspect.signature(fn).parameters[own].default:
            raise TypeError(f"{fn.__name__}() got multiple values for argument {own!r}, also called {keyword!r}")
        arguments[own] = value
    return fn(input, **{name: value for name, value in arguments.items() if value is not MISSING})


def collects_numpy_names(fn: Callable[..., Any]) -> bool:
    code = getattr(getattr(fn, "__wrapped__", fn), "__code__", None)
    return code is not None and bool(code.co_flags & inspect.CO_VARKEYWORDS) and "numpy_names" in code.co_varnames


def inplace_twin(fn: Callable[..., Any], name: str, into: Callable[..., None] | None = None) -> Callable[..., Any]:
    """``name_``: the operator on an alias of the old value, written back; within memory if nothing is recorded."""

    def general(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        check_writable(input, name)
        old = old_value(input) if type(input._data) is np.ndarray else own_memory(input)
        args = tuple(old if a is input else a for a in args)
        for key, value in kwargs.items():
            if value is input:
                kwargs[key] = old
        if state.saved_tensors_hooks and type(old._data) is np.ndarray:
            old._data = old._data.copy()  # a pack hook must not be given memory that is about to be overwritten
        since = count()
        value = fn(old, *args, **kwargs)
        check_cast(value, input, name)
        if value._node is not None and type(old._data) is np.ndarray:
            keep_old_value(value._node, old._data, since)
        return write(input, value, name)

    twin = general if into is None else within_memory(into, general)
    functools.update_wrapper(twin, fn)
    twin.__module__ = getattr(fn, "__wrapped__", fn).__module__
    twin.__name__ = twin.__qualname__ = name
    twin.__doc__ = f"In-place form of :func:`{fn.__name__}`: writes the result into ``input`` and returns it."
    return twin


def keep_old_value(newest: Node, old: np.ndarray[Any, Any], since: int) -> None:
    """Copy what the nodes of an in-place operator (newer than ``since``) keep of memory about to be overwritten."""
    owner, stack, seen = storage_of(old), [newest], {newest}
    while stack:
        node = stack.pop()
        if node.saved and any(type(v) is np.ndarray for v in node.saved):
            node.saved = tuple(
                [v.copy() if type(v) is np.ndarray and storage_of(v) is owner else v for v in node.saved]
            )
        for edge in node.edges:
            if edge is not None and edge.order > since and edge not in seen:
                seen.add(edge)
                stack.append(edge)


# ---- the common case of in-place operators: plain arrays of one dtype, and nothing to record


def ufunc_into(fn: Callable[..., Any]) -> Callable[..., None] | None:
    """How a primitive whose kernel is a ufunc computes within its first operand."""
    p = PRIMITIVES.get(fn.__name__)
    if p is None or p.function is not fn or not p.promotes or not isinstance(p.kernel, str):
        return None
    if not isinstance(p.array_kernel, np.ufunc):
        return None
    return p.array_kernel if p.array_kernel.nin < 3 else None


def within_memory(into: Callable[..., None], general: Callable[..., Any]) -> Callable[..., Any]:
    """The twin that calls ``into`` where it can and ``general`` elsewhere."""
    if isinstance(into, np.ufunc) and into.nin == 2:
        return binary_within_memory(into, general)
    unary = isinstance(into, np.ufunc)

    def twin(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        data = plain(input)
        if data is None:
            return general(input, *args, **kwargs)
        operands = []
        for a in args:
            if type(a) is not float and type(a) is not int and a is not None:
                array = getattr(a, "_data", None)
                if (
                    type(array) is not np.ndarray
                    or array.dtype is not data.dtype
                    or (a._node is not None and state.recording)
                ):
                    return general(input, *args, **kwargs)
                a = array
            operands.append(a)
        try:
            into(data, data) if unary else into(data, *operands, **kwargs)
        except (TypeError, ValueError):  # other operands than the fast case has, or shapes that do not fit
            return general(input, *args, **kwargs)
        note_write(data)
        return input

    return twin


def binary_within_memory(ufunc: np.ufunc, general: Callable[..., Any]) -> Callable[..., Any]:
    """The twin of a ufunc of two operands; its own code, because optimizers and accumulations live on it."""
    ndarray, float32, float64, int64 = np.ndarray, np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)

    def twin(input: Tensor, other: Any = MISSING, value: Any = None) -> Tensor:
        if value is not None:
            return general(input, *(() if other is MISSING else (other,)), value=value)
        data, operand, kind = getattr(input, "_data", None), other, type(other)
        if type(data) is not ndarray:
            return general(input, other)
        dtype = data.dtype
        if kind is float or kind is int:
            if dtype is not float32 and dtype is not float64 and (dtype is not int64 or kind is float):
                return general(input, other)
            tracked = input._node is not None
        else:
            operand = getattr(other, "_data", None)
            if type(operand) is not ndarray or operand.dtype is not dtype:
                return general(input, other)
            if dtype is not float32 and dtype is not float64 and dtype is not int64:
                return general(input, other)
            tracked = input._node is not None or other._node is not None
        rare = input._rare
        if (tracked and state.recording) or (rare is not None and (rare.view is not None or rare.inference)):
            return general(input, other)
        if 0 in data.strides:
            return general(input, other)
        try:
            ufunc(data, operand, data)
        except (OverflowError, TypeError, ValueError):  # shapes or dtypes that do not fit, memory that is read-only
            return general(input, other)
        note_write(data)
        return input

    return twin


def plain(input: Any) -> np.ndarray[Any, Any] | None:
    """The array of a tensor that an in-place operator may compute in: its own memory, float, nothing recorded."""
    data = getattr(input, "_data", None)
    if type(data) is not np.ndarray or data.dtype.char not in "fd" or (input._node is not None and state.recording):
        return None
    rare = input._rare
    if (rare is not None and (rare.view is not None or rare.inference)) or 0 in data.strides:
        return None
    return data if data.flags.writeable else None


def operand_twin(name: str, twin: Callable[..., Any]) -> Callable[..., Any]:
    """The twin as a method for ``a += b`` and its like: another type gets its turn where ``b`` is not ours."""

    def general(input: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, Number)):
            return NotImplemented
        return twin(input, other)

    kernel = PRIMITIVES[name].array_kernel
    return binary_within_memory(kernel, general) if isinstance(kernel, np.ufunc) else general


def check_cast(value: Tensor, target: Tensor, name: str) -> None:
    """Refuse to write a dtype of a higher category into a tensor."""
    have, want = value._data.dtype, target._data.dtype
    if have is not want and not can_cast(dtypes.by_numpy[have], dtypes.by_numpy[want]):
        raise RuntimeError(f"{name}: result type {value.dtype} can't be cast to the desired output type {target.dtype}")


def with_out(fn: Callable[..., Any], name: str, kind: bool | str = True) -> Callable[..., Any]:
    """The function with a keyword ``out``: a tensor (or tuple of them) that receives the result."""
    signature = inspect.signature(fn)
    parameters = list(signature.parameters.values())
    variable = [p for p in parameters if p.kind is p.VAR_KEYWORD]
    keyword = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
    at = len(parameters) - len(variable)
    collects = collects_numpy_names(fn)
    parameters = [*parameters[:at], keyword, *parameters[at:]]
    left, right, starred = [], [], False
    scope: dict[str, Any] = {"fn": fn, "write_out": write_out}
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            left.append("*" + p.name)
            right.append("*" + p.name)
            starred = True
            continue
        if p.kind is p.VAR_KEYWORD:
            left.append("**" + p.name)
            right.append("**" + p.name)
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            left.append("*")
            starred = True
        if p.default is not p.empty:
            scope[f"default_{p.name}"] = p.default
        left.append(p.name + ("" if p.default is p.empty else f"=default_{p.name}"))
        if p.name != "out":
            right.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name)
    if collects:
        left.append("**numpy_names")
        right.append("**numpy_names")
    call = f"fn({', '.join(right)})"
    apart = f", ({', '.join(p.name for p in parameters[:-1])})" if kind == "apart" else ""
    source = (f"def {name}({', '.join(left)}):\n    if out is None: return {call}\n"
              f"    return write_out({name!r}, {call}, out, {kind is not True}{apart})")  # fmt: skip
    exec(compile(source, f"<tensorplay {name}>", "exec"), scope)
    made = scope[name]
    functools.update_wrapper(made, fn)
    made.__name__ = made.__qualname__ = name
    made.__signature__ = signature.replace(parameters=parameters)
    return made


def write_out(name: str, value: Any, out: Any, exact: bool = False, inputs: Any = ()) -> Any:
    """Write a result into ``out``, which takes its shape.

    Raises
    ------
    RuntimeError
        If the result or ``out`` requires grad, or the result's dtype cannot be cast to that of ``out`` (``exact``: is
        another one).
    TypeError
        If ``out`` is no tensor, or no tuple of the right length for several results.
    """
    if isinstance(value, (tuple, list)):
        if not isinstance(out, (tuple, list)) or len(out) != len(value):
            raise TypeError(
                f"{name}(): argument 'out' must be a tuple of {len(value)} Tensors, got {type(out).__name__}"
            )
        for v, o in zip(value, out, strict=True):
            check_out(name, v, o, exact)
            if inputs:
                check_apart(name, v, o, *inputs)
        for v, o in zip(value, out, strict=True):
            store_out(name, v, o)
        return type(value)(*out) if hasattr(value, "_fields") else type(value)(out)
    check_out(name, value, out, exact)
    if inputs:
        check_apart(name, value, out, *inputs)
    return store_out(name, value, out)


def check_apart(name: str, value: Tensor, out: Tensor, *inputs: Any) -> None:
    """Refuse to write to memory that is read from (or would be, grown as the result), or that elements share."""
    data = out._data
    if type(data) is not np.ndarray:
        return
    memory = data if data.shape == value._data.shape else storage_of(data)
    arrays = [t._data for t in inputs if isinstance(t, Tensor) and type(t._data) is np.ndarray]
    if internally_overlapping(data) or any(np.may_share_memory(memory, array) for array in arrays):
        raise RuntimeError(
            f"{name}(): unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def check_out(name: str, value: Tensor, out: Any, exact: bool) -> None:
    """Refuse an ``out`` that cannot take the result; nothing is written yet."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if state.recording and (value._node is not None or out._node is not None):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    check_cast(value, out, name)
    if exact and value._data.dtype != out._data.dtype:
        raise RuntimeError(f"{name}(): Expected out tensor to have dtype {value.dtype}, but got {out.dtype} instead")
    if value.is_meta != out.is_meta:
        raise RuntimeError(f"{name}(): Expected out tensor to have device {value.device}, but got {out.device} instead")


def store_out(name: str, value: Tensor, out: Tensor) -> Tensor:
    """Write the result, once it is clear that ``out`` takes it; its shape becomes the result's."""
    if value._data.shape != out._data.shape:
        if out._data.size:
            import warnings

            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does "
                f"not match the required output shape {list(value.shape)}. This behavior is deprecated; reuse an out "
                "tensor of the right shape, or resize it to 0 elements first.",
                UserWarning,
                stacklevel=4,
            )
        data, shape = out._data, value._data.shape
        out._data = Meta(shape, data.dtype) if type(data) is Meta else np.empty(shape, data.dtype)
    return write(out, value.detach() if value._node is not None else value, name)
