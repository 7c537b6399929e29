"""Complex numbers: their parts, sizes and angles, and signs.

Most functions here are not holomorphic. Their rules follow PyTorch's convention: the gradient is the conjugate
Wirtinger derivative, so that a step against it goes downhill.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.namespace import F
from ..core.operator import operator
from ..core.primitive import elementwise, primitive
from ..core.tensor import Tensor
from . import arguments as arg
from .declare import declare, refusing, zero
from .structural import PUT


def is_complex(x: Any) -> bool:
    """Whether an array or Tensor holds complex numbers; a Python number among a rule's operands is real."""
    data = x._data if isinstance(x, Tensor) else x
    return hasattr(data, "dtype") and data.dtype.kind == "c"


def real_part(F: Any, x: Any) -> Any:
    return F.real(x) if is_complex(x) else x


# ---- parts, as views

primitive(
    "real", lambda xp, input: input.real, vjp={"input": lambda F, g, input_dtype: F.cast(g, input_dtype)}, jvp="linear",
    batch="same", holomorphic=False, view=True,
)  # fmt: skip
primitive(
    "imag", lambda xp, input: input.imag, vjp={"input": lambda F, g, input_dtype: F.cast(g, input_dtype) * 1j},
    jvp="linear", batch="same", holomorphic=False, view=True,
)  # fmt: skip


@operator(method=False, out=False)
def real(input: Tensor) -> Tensor:
    """The real part, a view; of a real tensor, the tensor itself.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.real(tp.tensor([1 + 2j, 3 - 4j]))
    tensor([1., 3.])
    """
    return F.real(input) if arg.tensor(input, "real").is_complex() else input


@operator(method=False, out=False)
def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view.

    Parameters
    ----------
    input : Tensor
        A complex tensor of any shape.

    Raises
    ------
    RuntimeError
        If the input is not complex.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.imag(tp.tensor([1 + 2j, 3 - 4j]))
    tensor([ 2., -4.])
    """
    if not arg.tensor(input, "imag").is_complex():
        raise RuntimeError(f"imag(): not implemented for tensors with non-complex dtypes, got {input.dtype}")
    return F.imag(input)


def set_real(self: Tensor, value: Any) -> None:
    real(self).copy_(value)


def set_imag(self: Tensor, value: Any) -> None:
    imag(self).copy_(value)


for name, part in {"real": property(real, set_real), "imag": property(imag, set_imag)}.items():
    setattr(Tensor, name, part)

COMPLEX_OF: dict[Any, Any] = {d.numpy: d.to_complex().numpy for d in (dtypes.float32, dtypes.float64)}
REAL_OF = {c: r for r, c in COMPLEX_OF.items()}


def view_as_complex_kernel(xp: Any, input: Any) -> Any:
    if input.strides[-1] != input.itemsize or any(s % (2 * input.itemsize) for s in input.strides[:-1]):
        input = xp.array(input, order="C")
    return input.view(COMPLEX_OF[input.dtype])[..., 0]


def view_as_real_vjp(F: Any, g: Any) -> Any:
    lead = (slice(None),) * (len(g.shape) - 1)
    return F.complex(F.slice(g, (*lead, 0)), F.slice(g, (*lead, 1)))


def view_as_complex_vjp(F: Any, g: Any) -> Any:
    return F.stack(F.real(g), F.imag(g), dim=-1)


primitive(
    "view_as_real", lambda xp, input: input[..., None].view(REAL_OF[input.dtype]), vjp={"input": view_as_real_vjp},
    jvp="linear", batch="same", holomorphic=False, view=True,
)  # fmt: skip
primitive(
    "view_as_complex", view_as_complex_kernel, vjp={"input": view_as_complex_vjp}, jvp="linear", batch="same",
    holomorphic=False, view="where possible",
)  # fmt: skip


PUT.update(  # the input of a view whose value has been replaced
    real=lambda F, input, value: F.complex(value, F.imag(input)),
    imag=lambda F, input, value: F.complex(F.real(input), value),
    view_as_real=lambda F, input, value: view_as_real_vjp(F, value),
    view_as_complex=lambda F, input, value: view_as_complex_vjp(F, value),
)


@operator(method=False, out=False)
def view_as_real(input: Tensor) -> Tensor:
    """A view of a complex tensor as a real one with one more dimension, of 2: real and imaginary parts.

    Parameters
    ----------
    input : Tensor
        A complex tensor of any shape.

    Raises
    ------
    RuntimeError
        If the input is not complex.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.view_as_real(tp.tensor([1 + 2j, 3 - 4j]))
    tensor([[ 1.,  2.],
            [ 3., -4.]])
    """
    if not arg.tensor(input, "view_as_real").is_complex():
        raise RuntimeError(f"view_as_real(): only supported for complex tensors, got {input.dtype}")
    return F.view_as_real(input)


@operator(method=False, out=False)
def view_as_complex(input: Tensor) -> Tensor:
    """A view of a real tensor, whose last dimension holds real and imaginary parts, as a complex one.

    Parameters
    ----------
    input : Tensor
        float32 or float64, of shape (..., 2), with a last dimension of stride 1 and even strides elsewhere.

    Raises
    ------
    RuntimeError
        For other dtypes, shapes or strides.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.view_as_complex(tp.tensor([[1., 2.], [3., -4.]]))
    tensor([1.+2.j, 3.-4.j])
    """
    data = arg.tensor(input, "view_as_complex")._data
    if data.dtype not in COMPLEX_OF:
        raise RuntimeError(f"view_as_complex(): only supported for float and double tensors, got {input.dtype}")
    if not data.shape:
        raise RuntimeError("view_as_complex(): Input tensor must have one or more dimensions")
    if data.shape[-1] != 2:
        raise RuntimeError(f"view_as_complex(): Tensor must have a last dimension of size 2, got {list(data.shape)}")
    strides = input.stride()
    if strides[-1] != 1:
        raise RuntimeError("view_as_complex(): Tensor must have a last dimension with stride 1; make it contiguous()")
    if any(s % 2 for s in strides[:-1]) or input.storage_offset() % 2:
        raise RuntimeError("view_as_complex(): Tensor must have even strides and offset; make it contiguous()")
    return F.view_as_complex(input)


# ---- from parts


def complex_kernel(xp: Any, real: Any, imag: Any) -> Any:
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), COMPLEX_OF[real.dtype])
    out.real, out.imag = real, imag
    return out


elementwise(
    "complex", complex_kernel, holomorphic=False, jvp="linear",
    vjp={"real": lambda F, g: F.real(g), "imag": lambda F, g: F.imag(g)},
)  # fmt: skip


def check_parts(name: str, first: Tensor, second: Tensor) -> None:
    """Refuse parts that are not two tensors of one real floating dtype."""
    a, b = arg.tensor(first, name).dtype, arg.tensor(second, name, "second", 2).dtype
    if a.numpy not in COMPLEX_OF or b.numpy not in COMPLEX_OF:
        raise RuntimeError(f"{name}(): Expected both inputs to be Float or Double tensors but got {a} and {b}")
    if a is not b:
        raise RuntimeError(f"{name}(): Expected object of scalar type {a} but got scalar type {b} for second argument")


@operator(method=False, out=False)
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from its real and imaginary parts.

    Parameters
    ----------
    real, imag : Tensor
        Both float32 or both float64; broadcast together.
    out : Tensor, optional
        Receives the result; of its dtype.

    Returns
    -------
    Tensor
        complex64 or complex128.

    Raises
    ------
    RuntimeError
        For other dtypes.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.complex(tp.tensor([1., 3.]), tp.tensor([2., -4.]))
    tensor([1.+2.j, 3.-4.j])
    """
    check_parts("complex", real, imag)
    if out is not None and out.dtype is not real.dtype.to_complex():
        raise RuntimeError(
            f"complex(): Expected object of scalar type {real.dtype.to_complex()} but got scalar type {out.dtype} for "
            "argument 'out'"
        )
    return F.complex(real, imag, out=out)


@operator(method=False)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """A complex tensor from sizes and angles: ``abs * (cos(angle) + 1j * sin(angle))``.

    Parameters
    ----------
    abs, angle : Tensor
        Both float32 or both float64; broadcast together.

    Returns
    -------
    Tensor
        complex64 or complex128.

    Raises
    ------
    RuntimeError
        For other dtypes.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.polar(tp.tensor([1., 2.]), tp.tensor([0., 1.]))
    tensor([1.0000+0.0000j, 1.0806+1.6829j])
    """
    check_parts("polar", abs, angle)
    return F.complex(abs * F.cos(angle), abs * F.sin(angle))


# ---- conjugates: made at once, so that no tensor is ever waiting for it


@operator(out=False)
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; of a real tensor, the tensor itself.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.conj(tp.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return F.conj(input) if arg.tensor(input, "conj").is_complex() else input


@operator(inplace=True)
def conj_physical(input: Tensor) -> Tensor:
    """The complex conjugate; the same as :func:`conj`, with an in-place form.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.conj_physical(tp.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return conj(input)


@operator(out=False)
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugates are never put off here.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.resolve_conj(tp.tensor([1 + 2j]).conj())
    tensor([1.-2.j])
    """
    return arg.tensor(input, "resolve_conj")


@operator(out=False)
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negation is never put off here.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.resolve_neg(tp.tensor([1.]))
    tensor([1.])
    """
    return arg.tensor(input, "resolve_neg")


@operator(out=False)
def is_conj(input: Tensor) -> bool:
    """Whether a conjugation is still to be carried out: never here.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_conj(tp.tensor([1 + 2j]).conj())
    False
    """
    arg.tensor(input, "is_conj")
    return False


@operator(out=False)
def is_neg(input: Tensor) -> bool:
    """Whether a negation is still to be carried out: never here.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.is_neg(tp.tensor([1.]))
    False
    """
    arg.tensor(input, "is_neg")
    return False


# ---- sign, size, angle


def sgn_kernel(xp: Any, input: Any) -> Any:
    """Zero has no direction, and neither has nan."""
    kind = input.dtype.kind
    if kind == "c":
        size = xp.abs(input)
        with np.errstate(all="ignore"):
            return xp.where(size == 0, 0, input / size).astype(input.dtype)
    return xp.array(input) if kind == "b" else xp.asarray(xp.subtract(input > 0, input < 0, dtype=np.int8), input.dtype)


def sgn_rule(F: Any, g: Any, input: Any, out: Any) -> Any:
    """Only what turns the number changes its direction: the part of ``g`` across it, over its size.

    Symmetric, and so the rule in both modes.
    """
    if not is_complex(input):
        return F.zeros_like(g)
    size = F.abs(input)
    across = g - out * F.real(F.conj(out) * g)
    return F.where(size == 0, 0, across / F.where(size == 0, 1, size))


sgn = declare(
    "sgn", sgn_kernel, sgn_rule, "The sign of a real number; the direction ``z / abs(z)`` of a complex one.",
    "tp.sgn(tp.tensor([3 + 4j, 0]))", "tensor([0.6000+0.8000j, 0.0000+0.0000j])",
    holomorphic=False, jvp={"input": sgn_rule},
)  # fmt: skip
sign = declare(
    "sign", sgn_kernel, zero, "The sign of each element: -1, 0 or 1.", "tp.sign(tp.tensor([-2., 0., 3.]))",
    "tensor([-1.,  0.,  1.])",
    check=refusing("c", "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use sgn instead."),
)  # fmt: skip
abs = declare(
    "abs", lambda xp, input: xp.abs(input), lambda F, g, input: g * F.sgn(input), "The absolute value of each element.",
    "tp.abs(tp.tensor([-1., 2.])), tp.abs(tp.tensor([3 + 4j]))", "(tensor([1., 2.]), tensor([5.]))",
    returns="Real, also for a complex input.",
    holomorphic=False, jvp={"input": lambda F, t, input: real_part(F, F.conj(F.sgn(input)) * t)}, aliases=("absolute",),
    check=refusing("b"), notes="The gradient at 0 is 0.",
)  # fmt: skip


def angle_kernel(xp: Any, input: Any) -> Any:
    if input.dtype.kind == "c":
        return xp.angle(input)
    return xp.asarray(xp.where(input < 0, math.pi, xp.where(input != input, math.nan, 0)), input.dtype)


def angle_vjp(F: Any, g: Any, input: Any) -> Any:
    if not is_complex(input):
        return F.zeros_like(g)
    return g * turned(F, input)


def turned(F: Any, input: Any) -> Any:
    """The direction in which the angle grows, ``1j * z / abs(z)**2``; zero at zero."""
    size = F.abs(input)
    return F.where(size == 0, 0, input * 1j / F.where(size == 0, 1, size * size))


def angle_jvp(F: Any, t: Any, input: Any) -> Any:
    if not is_complex(input):
        return F.zeros_like(t)
    return F.real(F.conj(turned(F, input)) * t)


angle = declare(
    "angle", angle_kernel, angle_vjp, "The angle of a complex number, in (-pi, pi]; of a real one, 0 or pi.",
    "tp.angle(tp.tensor([1j, -1.]))", "tensor([1.5708, 3.1416])",
    promotes="float", holomorphic=False, jvp={"input": angle_jvp}, inplace=False,
    returns="Real, also for a complex input.",
)  # fmt: skip
for name, method in {"__abs__": abs}.items():
    setattr(Tensor, name, method)
