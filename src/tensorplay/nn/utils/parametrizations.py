"""Parametrizations for use: by norm and direction, of norm one, orthogonal."""

from __future__ import annotations

from typing import Any

from ... import linalg
from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ...ops.factories import eye
from .. import functional as F
from ..module import Module
from . import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def norm_except(v: Tensor, dim: int | None) -> Tensor:
    """The norm over all dimensions but one; over all of them for None or -1."""
    if dim is None or dim == -1:
        return v.norm()
    dim %= v.ndim
    return v.norm(2, [d for d in range(v.ndim) if d != dim], keepdim=True) if v.ndim > 1 else v.abs()


class WeightNorm(Module):
    """``g v / |v|``."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """The weight."""
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Norm and direction."""
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn a weight by its norm and its direction (Salimans and Kingma, 2016).

    Parameters
    ----------
    module : Module
        Whose weight it is; it has ``parametrizations.weight.original0`` (norm) and ``original1`` (direction) then.
    name : str
        Its name.
    dim : int, optional
        The dimension for whose entries there are norms; None takes one norm for all.

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.utils.parametrizations.weight_norm(tp.nn.Linear(2, 3))
    >>> layer.parametrizations.weight.original0.shape
    tensorplay.Size([3, 1])
    """
    return parametrize.register_parametrization(module, name, WeightNorm(dim), unsafe=True)


class SpectralNorm(Module):
    """A weight over its largest singular value, which power iteration finds while training."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError("Dimension out of range (expected to be in range of "
                             f"[-{weight.ndim}, {weight.ndim - 1}] but got {dim})")  # fmt: skip
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")  # fmt: skip
        self.dim, self.eps, self.n_power_iterations = dim % weight.ndim, eps, n_power_iterations
        if weight.ndim > 1:
            with no_grad():
                matrix = self._matrix(weight)
                self.register_buffer(
                    "_u", F.normalize(matrix.new_empty(matrix.shape[:1]).normal_(0, 1), dim=0, eps=eps)
                )
                self.register_buffer(
                    "_v", F.normalize(matrix.new_empty(matrix.shape[1:]).normal_(0, 1), dim=0, eps=eps)
                )
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _iterate(self, matrix: Tensor, times: int) -> None:
        with no_grad():
            for _ in range(times):
                self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight over its norm."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # later calls write to the buffers
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value (Miyato et al., 2018).

    Parameters
    ----------
    module : Module
        Whose weight it is.
    name : str
        Its name.
    n_power_iterations : int
        How many steps of power iteration each call in training does.
    eps : float
        The least norm that is divided by.
    dim : int, optional
        The dimension of the outputs: 1 for transposed convolutions, 0 for others by default.
    """
    from ..conv import Transposed

    if dim is None:
        dim = 1 if isinstance(module, Transposed) else 0
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    made = SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, made)


class Orthogonal(Module):
    """Orthogonal matrices by the matrix exponential, the Cayley map or Householder reflections."""

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        self.register_buffer("base", None)
        self.trivialized = use_trivialization
        if use_trivialization:
            rows, columns = weight.shape[-2:]
            self.base = orthogonal_basis(weight.detach().mT if rows < columns else weight.detach())

    def forward(self, X: Tensor) -> Tensor:
        """The orthogonal matrix."""
        rows, columns = X.shape[-2:]
        wide = rows < columns
        if wide:
            X, rows, columns = X.mT, columns, rows
        if self.orthogonal_map == "householder":
            lower = X.tril(-1)
            tau = 2.0 / (1.0 + (lower * lower).sum(-2))
            Q = linalg.householder_product(lower + eye(rows, columns, dtype=X.dtype), tau)
            Q = Q * X.detach().diagonal(dim1=-2, dim2=-1).unsqueeze(-2)  # its entries are 1 and -1
        else:
            A = X.tril()
            if rows != columns:
                A = F.pad(A, (0, rows - columns))
            A = A - A.mH
            if self.orthogonal_map == "matrix_exp":
                Q = A.matrix_exp()
            else:  # cayley: (I + A/2)(I - A/2)^-1
                one = eye(rows, dtype=A.dtype)
                Q = linalg.solve(one - A / 2, one + A / 2)
            Q = Q[..., :columns]
        if self.trivialized:
            Q = self.base @ Q
        return Q.mT if wide else Q

    def right_inverse(self, Q: Tensor) -> Tensor:
        """What is mapped to an orthogonal matrix."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        rows, columns = Q.shape[-2:]
        wide = rows < columns
        tall = Q.mT if wide else Q
        if self.trivialized:
            self.base = orthogonal_basis(tall)
            zero = tall.new_zeros(tall.shape)
            if self.orthogonal_map == "householder":
                zero.diagonal(dim1=-2, dim2=-1).fill_(-1)  # reflections of the axes, undone
            return zero.mT if wide else zero
        if self.orthogonal_map != "householder":
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley "
                                      "parametrizations "
                                      "when use_trivialization=False.")  # fmt: skip
        A, tau = linalg_geqrf(tall)
        A.diagonal(dim1=-2, dim2=-1).sign_()
        A.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
        return A.mT if wide else A


def orthogonal_basis(A: Tensor) -> Tensor:
    """A square orthogonal matrix whose first columns are those that the columns of a tall one make orthonormal."""
    with no_grad():
        q, r = linalg.qr(A, mode="complete")
        columns = A.shape[-1]
        sign = r.diagonal(dim1=-2, dim2=-1).sgn()
        q[..., :columns] *= sign.unsqueeze(-2)
        return q


def linalg_geqrf(A: Tensor) -> Any:
    """Householder vectors, below the diagonal, and their factors."""
    from ...core.operator import OPERATORS

    return OPERATORS[""]["geqrf"].function(A)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Make a matrix, or a batch of them, orthogonal: ``Q^T Q = 1``, or ``Q Q^T = 1`` if it is wide.

    Parameters
    ----------
    module : Module
        Whose weight it is.
    name : str
        Its name.
    orthogonal_map : str, optional
        ``"matrix_exp"``, ``"cayley"`` or ``"householder"``; the first by default for square and complex matrices, the
        last for others.
    use_trivialization : bool
        Whether the map starts from the weight, made orthogonal (Lezcano-Casado, 2019).

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.utils.parametrizations.orthogonal(tp.nn.Linear(3, 3))
    >>> tp.allclose(layer.weight @ layer.weight.T, tp.eye(3), atol=1e-5)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError("Expected a matrix or batch of matrices. "
                         f"Got a tensor of {weight.ndim} dimensions.")  # fmt: skip
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
                         f"Got: {orthogonal_map}")  # fmt: skip
    made = Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
