"""Complex numbers: parts, sizes and angles."""

from __future__ import annotations

from typing import Any

from ..core.operator import operator
from ..core.primitive import elementwise
from ..core.tensor import Tensor


def abs_kernel(xp: Any, input: Any) -> Any:
    return xp.abs(input)


def abs_vjp(F: Any, g: Any, input: Any) -> Any:
    return g * F.sgn(input)


def sgn_kernel(xp: Any, input: Any) -> Any:
    return xp.sign(input)


sgn = elementwise("sgn", sgn_kernel, vjp={"input": lambda F, g: F.zeros_like(g)}, holomorphic=False)
operator(out=False, inplace=True)(sgn)
abs = elementwise("abs", abs_kernel, vjp={"input": abs_vjp}, holomorphic=False)
operator(out=False, inplace=True, aliases=("absolute",))(abs)
Tensor.__abs__ = abs
elementwise("real", lambda xp, input: xp.real(input), holomorphic=False)
