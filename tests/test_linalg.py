"""What the table of samples cannot say of matrix operators: coinciding spectra, errors, dtypes, names of results."""

import builtins
import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import autograd
from tensorplay.ops import einsum

la = tp.linalg
R = np.random.default_rng(0)
C = R.normal(size=(4, 4))
Q = np.linalg.qr(R.normal(size=(4, 4)))[0]
V = np.linalg.qr(R.normal(size=(4, 4)))[0]
EXACTLY_TWICE = Q @ np.diag([1.0, 1.0, 2.0, 3.0]) @ Q.T


def gradient(function, a):
    x = tp.tensor(a).requires_grad_()
    return autograd.grad(function(x), x)[0].numpy()


def symmetric(a):
    return (a + a.T) / 2


def function_of(h):
    """A loss that is linear in h(A), by eigenvalues."""

    def loss(x):
        values, vectors = la.eigh(x)
        return ((vectors * h(values)) @ vectors.mT * tp.tensor(C)).sum()

    return loss


def derivative(a, divided):
    """The gradient of that loss by the formula of Daleckii and Krein, with the divided differences of h."""
    values, vectors = np.linalg.eigh(a)
    weights = np.array([[divided(x, y) for y in values] for x in values])
    return vectors @ (weights * (vectors.T @ symmetric(C) @ vectors)) @ vectors.T


def divided(h, slope):
    return lambda x, y: slope(x) if abs(x - y) < 1e-9 else (h(x) - h(y)) / (x - y)


SPECTRAL = {
    "exp, twice": (lambda x: x.exp(), divided(np.exp, np.exp), symmetric(EXACTLY_TWICE)),
    "exp of the identity": (lambda x: x.exp(), divided(np.exp, np.exp), np.eye(4)),
    "inverse square root": (lambda x: x**-0.5, divided(lambda x: x**-0.5, lambda x: -0.5 * x**-1.5), 2 * np.eye(4)),
    "projector": (lambda x: (x < 1.5).to(x.dtype), divided(lambda x: float(x < 1.5), lambda x: 0.0),
        symmetric(EXACTLY_TWICE)),
    "identity": (lambda x: x, divided(lambda x: x, lambda x: 1.0), np.zeros((4, 4))),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECTRAL)
def test_gradients_of_matrix_functions_are_right_where_eigenvalues_coincide(name):
    h, differences, a = SPECTRAL[name]
    if name == "identity":
        a = np.eye(4)
    np.testing.assert_allclose(gradient(function_of(h), a), derivative(a, differences), rtol=1e-9, atol=1e-9)


def test_a_spectral_function_has_its_gradient_where_eigenvalues_coincide():
    a = symmetric(EXACTLY_TWICE)
    np.testing.assert_allclose(gradient(lambda x: la.eigvalsh(x).log().sum(), a), np.linalg.inv(a), rtol=1e-9,
        atol=1e-12)


@pytest.mark.parametrize("a", [np.eye(4), np.diag([1.0, 1.0, 2.0, 3.0]), Q @ np.diag([1.0, 1.0, 2.0, 3.0]) @ V])
def test_gradients_through_the_svd_are_right_where_singular_values_coincide(a):
    def rebuilt(x):
        U, S, Vh = la.svd(x)
        return ((U * S) @ Vh * tp.tensor(C)).sum()

    def polar(x):
        U, _, Vh = la.svd(x)
        return (U @ Vh * tp.tensor(C)).sum()

    def numerical(function):
        out = np.zeros_like(a)
        for i in np.ndindex(a.shape):
            step = np.zeros_like(a)
            step[i] = 1e-6
            out[i] = (function(tp.tensor(a + step)) - function(tp.tensor(a - step))).item() / 2e-6
        return out

    np.testing.assert_allclose(gradient(rebuilt, a), C, atol=1e-12)
    np.testing.assert_allclose(gradient(polar, a), numerical(polar), atol=1e-7)
    np.testing.assert_allclose(gradient(lambda x: la.svdvals(x).sum(), np.eye(4)), np.eye(4), atol=1e-12)


def test_second_derivatives_stay_finite_where_values_coincide():
    x = tp.eye(3, dtype=tp.float64).requires_grad_()
    U, S, Vh = la.svd(x)
    (g,) = autograd.grad(((U * S) @ Vh).norm(), x, create_graph=True)
    (h,) = autograd.grad(g.sum(), x)
    assert np.isfinite(h.numpy()).all()


def test_the_determinant_has_derivatives_at_singular_matrices():
    a = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0])  # rank 1: every cofactor is zero, their derivatives are not
    assert np.abs(gradient(la.det, a)).max() < 1e-12
    assert autograd.gradgradcheck(la.det, (tp.tensor(a).requires_grad_(),))
    np.testing.assert_array_equal(gradient(la.det, np.diag([0.0, 2.0, 3.0])), np.diag([6.0, 0.0, 0.0]))


def test_third_derivatives_of_the_determinant():
    x = tp.tensor(C).requires_grad_()
    slope = lambda y, a: autograd.grad(y, a, create_graph=True)[0]
    assert autograd.gradcheck(lambda a: slope(slope(la.det(a), a).sin().sum(), a), (x,))


def test_a_loss_that_depends_on_the_phase_of_a_complex_vector_raises():
    x = tp.tensor(C + 1j * Q).requires_grad_()
    with pytest.raises(RuntimeError, match="ill-defined"):
        la.eigh(x @ x.mH)[1].imag.sum().backward()
    with pytest.raises(RuntimeError, match="ill-defined"):
        la.svd(x)[0].imag.sum().backward()


# ---- errors

ones, zeros, eye = tp.ones, tp.zeros, tp.eye
SINGULAR = "the inversion could not be completed because the input matrix is singular"
ERRORS = [
    (lambda: la.inv(zeros(3, 3)), la.LinAlgError, rf"^linalg.inv: The diagonal element 1 is zero, {SINGULAR}\.$"),
    (lambda: la.inv(tp.stack([eye(2), zeros(2, 2)])), la.LinAlgError,
     rf"\(Batch element 1\): The diagonal element 1 .*{SINGULAR}"),
    (lambda: la.inv_ex(zeros(2, 2), check_errors=True), la.LinAlgError, "^linalg.inv_ex"),
    (lambda: tp.inverse(ones(2, 2)), la.LinAlgError, "The diagonal element 2 is zero"),
    (lambda: la.solve(zeros(2, 2), ones(2)), la.LinAlgError, "The solver failed because the input matrix is singular"),
    (lambda: la.cholesky(tp.tensor([[1.0, 0.0], [0.0, -1.0]])), la.LinAlgError,
     "the leading minor of order 2 is not positive-def"),
    (lambda: la.lu_factor(zeros(2, 2)), RuntimeError, r"U\[1,1\] is zero"),
    (lambda: la.ldl_factor(zeros(2, 2)), RuntimeError, r"D\[1,1\] is zero"),
    (lambda: la.svd(tp.full((2, 2), float("nan"))), la.LinAlgError, "non-finite"),
    (lambda: la.eig(tp.full((2, 2), float("nan"))), RuntimeError, "should not contain infs or NaNs"),
    (lambda: la.inv(ones(2, 3)), RuntimeError, "A must be batches of square matrices, but they are 2 by 3 matrices"),
    (lambda: la.inv(ones(3)), RuntimeError, "must have at least 2 dimensions"),
    (lambda: la.inv(ones(2, 2).half()), RuntimeError, "Low precision dtypes not supported. Got Half"),
    (lambda: la.det(tp.ones(2, 2, dtype=tp.int32)), RuntimeError,
     "Expected a floating point or complex tensor as input. Got Int"),
    (lambda: la.solve(eye(2), ones(3)), RuntimeError,
     r"Incompatible shapes of A and B for the equation AX = B \(2x2 and 3x1\)"),
    (lambda: la.solve(eye(2), ones(2).double()), RuntimeError, "A of type Float and B of type Double"),
    (lambda: la.qr(eye(2), mode="x"), RuntimeError, "unrecognized mode 'x'"),
    (lambda: la.eigh(eye(2), UPLO="x"), RuntimeError, "Expected UPLO argument to be 'L' or 'U'"),
    (lambda: la.lu(eye(2), pivot=False), RuntimeError, "without pivoting"),
    (lambda: la.lstsq(eye(2), ones(2), driver="x"), RuntimeError, "`driver` should be one of"),
    (lambda: la.matrix_norm(eye(2), 3), RuntimeError, "Order 3 not supported"),
    (lambda: la.matrix_norm(eye(2), dim=(0, 0)), RuntimeError, "dims must be different"),
    (lambda: la.matrix_norm(zeros(0, 2), -2), IndexError, "non-zero size"),
    (lambda: la.norm(ones(2, 2, 2), 2), RuntimeError, "input must be 1D or 2D. Got 3D"),
    (lambda: la.cond(eye(2), 3), RuntimeError, "invalid norm type"),
    (lambda: la.multi_dot([eye(2)]), RuntimeError, "expected at least 2 tensors but got 1"),
    (lambda: la.matrix_power(eye(2), 1.5), TypeError, "must be int, not float"),
    (lambda: la.tensorinv(ones(2, 3), ind=1), RuntimeError, "3 != 2"),
    (lambda: la.inv(2.0), TypeError, "must be Tensor, not float"),
    (lambda: tp.lu_unpack(eye(2), tp.tensor([1, 5], dtype=tp.int32)), RuntimeError, "must be between 1 and 2"),
    (lambda: ones(2, 3) @ ones(4, 5), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
    (lambda: ones(3) @ ones(4, 3), RuntimeError, r"cannot be multiplied \(1x3 and 4x3\)"),
    (lambda: ones(2, 3) @ ones(4), RuntimeError, r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
    (lambda: ones(3) @ ones(4), RuntimeError, "inconsistent tensor size"),
    (lambda: ones(2, 2, 3) @ ones(3, 3, 3), RuntimeError,
     r"size of tensor a \(2\) must match the size of tensor b \(3\)"),
    (lambda: ones(2, 2, 3) @ ones(2, 4, 3), RuntimeError, r"to be: \[2, 3\] but got: \[2, 4\]"),
    (lambda: tp.tensor(1.0) @ ones(3), RuntimeError, "need to be at least 1D, but they are 0D and 1D"),
    (lambda: ones(2, 3) @ ones(3, 2).double(), RuntimeError,
     "expected m1 and m2 to have the same dtype, but got: float != double"),
    (lambda: eye(2).bool() @ eye(2).bool(), NotImplementedError, "not implemented for 'Bool'"),
    (lambda: ones(2, 2) @ [[1.0]], TypeError, "must be Tensor, not list"),
    (lambda: tp.bmm(ones(2, 2), ones(2, 2)), RuntimeError, "batch1 must be a 3D tensor"),
    (lambda: tp.addmm(ones(3, 3), ones(2, 2), ones(2, 2)), RuntimeError,
     r"Target sizes: \[2, 2\].  Tensor sizes: \[3, 3\]"),
    (lambda: tp.dot(ones(2, 2), ones(2)), RuntimeError, "1D tensors expected, but got 2D and 1D"),
    (lambda: la.cross(ones(2), ones(2)), RuntimeError, "must have length 3"),
    (lambda: tp.tensordot(ones(2, 3), ones(4, 5), 1), RuntimeError,
     "first has size 3 in dim 1 and second has size 4 in dim 0"),
    (lambda: tp.einsum("ij,jk", ones(2, 3), ones(4, 5)), RuntimeError,
     "subscript j has size 4 for operand 1 which does not broad"),
    (lambda: tp.einsum("ij->l", ones(2, 3)), RuntimeError, "output subscript l does not appear"),
    (lambda: tp.einsum("i->ii", ones(2)), RuntimeError, "more than once"),
    (lambda: tp.einsum("ii", ones(2, 3)), RuntimeError, "sizes don't match"),
    (lambda: tp.einsum("ij", ones(2)), RuntimeError, "does not match the number of dimensions"),
    (lambda: tp.einsum("i.j", ones(2, 2)), RuntimeError, "not part of any ellipsis"),
    (lambda: tp.einsum("i,j", ones(2)), RuntimeError, "fewer operands"),
    (lambda: tp.einsum("i1", ones(2, 2)), RuntimeError, r"must be in \[a-zA-Z\]"),
]  # fmt: skip


@pytest.mark.parametrize("call, error, words", ERRORS, ids=[str(i) for i in range(len(ERRORS))])
def test_bad_input_raises_what_pytorch_raises(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_error_of_singular_matrices_is_a_runtime_error():
    assert issubclass(la.LinAlgError, RuntimeError)
    assert la.LinAlgError.__module__ == "tensorplay.linalg"


def test_codes_of_success_instead_of_errors():
    inverse, info = la.inv_ex(tp.stack([eye(2), zeros(2, 2)]))
    assert info.dtype == tp.int32 and info.tolist() == [0, 1]
    assert inverse[0].tolist() == [[1, 0], [0, 1]]
    assert la.cholesky_ex(-eye(3)).info.item() == 1
    assert la.solve_ex(eye(2), ones(2)).info.item() == 0
    assert la.lu_factor_ex(zeros(2, 2)).info.item() == 1
    nan = eye(3) * tp.tensor([1.0, math.nan, 1.0])
    assert la.cholesky_ex(nan).info.item() == 2 and la.cholesky_ex(tp.stack([eye(3), nan])).info.tolist() == [0, 2]
    with pytest.raises(la.LinAlgError, match="minor of order 2"):
        la.cholesky(nan)


def test_the_norm_of_one_number_is_its_size_however_large():
    large = tp.tensor([[1e30], [-3e30]])
    for order in (2, 3, -2, 0.5):
        assert tp.equal(la.vector_norm(large, order, 1), large.abs()[:, 0])
    assert tp.nn.functional.normalize(large).tolist() == [[1], [-1]]


def test_no_factor_is_an_identity_of_the_same_dtype():
    for dtype in (tp.bool, tp.int64, tp.float32):
        assert la.matrix_power(eye(2).to(dtype), 0).dtype is dtype


NAMED = {
    "linalg_svd": ("U S Vh", lambda a: la.svd(a)),
    "linalg_qr": ("Q R", lambda a: la.qr(a)),
    "linalg_eigh": ("eigenvalues eigenvectors", lambda a: la.eigh(a)),
    "linalg_eig": ("eigenvalues eigenvectors", lambda a: la.eig(a)),
    "linalg_lu": ("P L U", lambda a: la.lu(a)),
    "linalg_slogdet": ("sign logabsdet", lambda a: la.slogdet(a)),
    "linalg_lstsq": ("solution residuals rank singular_values", lambda a: la.lstsq(a, a)),
    "linalg_lu_factor": ("LU pivots", lambda a: la.lu_factor(a)),
    "svd": ("U S V", lambda a: tp.svd(a)),
    "triangular_solve": ("solution cloned_coefficient", lambda a: tp.triangular_solve(a, a)),
}


@pytest.mark.parametrize("name", NAMED)
def test_results_have_names(name):
    fields, call = NAMED[name]
    out = call(eye(2))
    assert type(out).__name__ == name and " ".join(out._fields) == fields
    assert repr(out).startswith(f"tensorplay.return_types.{name}(\n{fields.split()[0]}=tensor(")


# ---- dtypes


@pytest.mark.parametrize("dtype", [tp.int8, tp.uint8, tp.int16, tp.int32, tp.int64])
@pytest.mark.parametrize("n", [3, 40])
def test_products_of_integers_are_exact_modulo_their_range(dtype, n):
    limits = np.iinfo(dtype.numpy)
    a, b = (R.integers(limits.min, limits.max, (n, n), dtype=dtype.numpy, endpoint=True) for _ in range(2))
    exact = a.astype(object) @ b.astype(object)
    want = np.array([[(int(x) - limits.min) % 2 ** (8 * a.itemsize) + limits.min for x in row] for row in exact],
        dtype.numpy)
    out = tp.tensor(a) @ tp.tensor(b)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out.numpy(), want)


@pytest.mark.parametrize("dtype", [tp.float16, tp.bfloat16])
def test_half_precision_products_are_rounded_once(dtype):
    a, b = tp.randn(5, 300).to(dtype), tp.randn(300, 4).to(dtype)
    out = a @ b
    assert out.dtype == dtype
    assert tp.equal(out, (a.float() @ b.float()).to(dtype))
    x = a.detach().requires_grad_()
    (x @ b).sum().backward()
    assert x.grad.dtype == dtype


# ---- what a product keeps, and how it is batched


def test_a_product_keeps_the_other_factor_only():
    w, x = tp.randn(3, 2, requires_grad=True), tp.randn(4, 3)
    node = (x @ w).grad_fn
    assert node.name() == "MmBackward0"
    assert sum(value is not None for value in node.saved) == 1


def test_one_matrix_for_all_examples_is_one_product(monkeypatch):
    from tensorplay.ops import matmul as module

    calls = []
    kernel = module.product_kernel
    record = lambda xp, a, b: calls.append((a.shape, b.shape)) or kernel(xp, a, b)
    monkeypatch.setattr(module, "product_kernel", record)
    x, w = tp.randn(5, 2, 3), tp.randn(3, 4)
    out = tp.vmap(lambda a: a @ w)(x)
    assert calls == [((10, 3), (3, 4))]
    np.testing.assert_allclose(out.numpy(), x.numpy() @ w.numpy(), rtol=1e-5, atol=1e-6)


def test_einsum_needs_no_opt_einsum(monkeypatch):
    find = builtins.__import__

    def without(name, *rest):
        if name == "opt_einsum":
            raise ImportError(name)
        return find(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    einsum.contraction_path.cache_clear()
    a, b, c = R.normal(size=(2, 3)), R.normal(size=(3, 4)), R.normal(size=(4, 2))
    out = tp.einsum("ij,jk,kl->il", *map(tp.tensor, (a, b, c)))
    einsum.contraction_path.cache_clear()
    np.testing.assert_allclose(out.numpy(), a @ b @ c)


@pytest.mark.parametrize("call, shape", [
    (lambda a: a @ a, (3, 3)), (la.inv, (3, 3)), (lambda a: la.svd(a)[0], (3, 3)), (la.det, ()), (la.cholesky, (3, 3)),
    (lambda a: la.solve(a, a[:, 0]), (3,)), (lambda a: tp.einsum("ij,jk->i", a, a), (3,)),
     (lambda a: la.eigvals(a), (3,)),
])  # fmt: skip
def test_meta_tensors_have_shapes(call, shape):
    out = call(tp.empty(3, 3, device="meta"))
    assert out.is_meta and out.shape == shape


def test_without_beta_the_tensor_added_is_not_read_and_has_a_gradient_of_zeros():
    c = tp.full((2, 2), float("nan"), requires_grad=True)
    out = tp.addmm(c, eye(2), eye(2), beta=0)
    assert out.tolist() == [[1, 0], [0, 1]]
    out.sum().backward()
    assert c.grad.tolist() == [[0, 0], [0, 0]]
