import numpy as np
from harness import Sample, complexn, randn

import tensorplay as tp


def product(*shapes, seed=0, make=randn):
    a, b = (make(*s, seed=seed + i) for i, s in enumerate(shapes))
    return Sample("matmul", lambda x, y: x @ y, a, b, reference=np.matmul)


SAMPLES = [
    *(product(*shapes) for shapes in [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3, 2), (2,)), ((2,), (3, 2, 2)),
        ((2, 3, 2), (2, 2)), ((3, 2), (2, 2, 2)), ((2, 1, 2), (2, 2, 3)), ((2, 1, 1, 2), (3, 2, 2)), ((0, 3), (3, 2)),
        ((2, 0), (0, 3)), ((2, 0, 3), (3, 2)), ((1, 1), (1, 1)),
    ]),
    product((2, 3), (3, 2), make=complexn),
    product((2, 2, 3), (3,), make=complexn),
    Sample("matmul with itself", lambda x: x @ x, randn(3, 3), reference=lambda a: a @ a),
    Sample("matmul with its transpose", lambda x: x @ x.mT, randn(2, 3), reference=lambda a: a @ a.T),
    Sample("matmul of transposes", lambda x, y: x.mT @ y.mT, randn(3, 2), randn(2, 3),
           reference=lambda a, b: a.T @ b.T),
    Sample("matmul of integers", lambda x, y: x @ y, np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2),
           reference=np.matmul),
    Sample("mm", tp.mm, randn(2, 3), randn(3, 2, seed=1), reference=np.matmul),
    Sample("bmm", tp.bmm, randn(2, 2, 3), randn(2, 3, 1, seed=1), reference=np.matmul),
    Sample("mv", tp.mv, randn(2, 3), randn(3, seed=1), reference=np.matmul),
    Sample("dot", tp.dot, randn(3), randn(3, seed=1), reference=np.dot),
    Sample("dot", tp.dot, complexn(3), complexn(3, seed=1), reference=np.dot),
    Sample("vdot", tp.vdot, complexn(3), complexn(3, seed=1), reference=np.vdot),
    Sample("vecdot", tp.linalg.vecdot, complexn(2, 3), complexn(3, seed=1),
           reference=lambda a, b: (a.conj() * b).sum(-1)),
    Sample("vecdot over the first", lambda x, y: tp.linalg.vecdot(x, y, dim=0), randn(2, 3), randn(2, 1, seed=1),
           reference=lambda a, b: (a * b).sum(0)),
    Sample("inner", tp.inner, randn(2, 3), randn(2, 1, 3, seed=1), reference=np.inner),
    Sample("inner", tp.inner, randn(), randn(2, seed=1), reference=np.multiply),
    Sample("outer", tp.outer, randn(2), randn(3, seed=1), reference=np.outer),
    Sample("outer", tp.outer, randn(0), randn(3, seed=1), reference=np.outer),
    Sample("addmm", lambda c, a, b: tp.addmm(c, a, b, beta=0.5, alpha=2.0), randn(2, seed=2), randn(3, 2),
           randn(2, 2, seed=1), reference=lambda c, a, b: 0.5 * c + 2 * a @ b),
    Sample("addmv", lambda c, a, b: tp.addmv(c, a, b, beta=0.5, alpha=2.0), randn(3, seed=2), randn(3, 2),
           randn(2, seed=1), reference=lambda c, a, b: 0.5 * c + 2 * a @ b),
    Sample("addr", lambda c, a, b: tp.addr(c, a, b, beta=0.5, alpha=2.0), randn(3, 2, seed=2), randn(3),
           randn(2, seed=1), reference=lambda c, a, b: 0.5 * c + 2 * np.outer(a, b)),
    Sample("baddbmm", lambda c, a, b: tp.baddbmm(c, a, b, beta=0.5, alpha=2.0), randn(1, 2, seed=2), randn(2, 3, 2),
           randn(2, 2, 2, seed=1), reference=lambda c, a, b: 0.5 * c + 2 * a @ b),
    Sample("addbmm", lambda c, a, b: tp.addbmm(c, a, b, beta=0.5, alpha=2.0), randn(3, 2, seed=2), randn(2, 3, 2),
           randn(2, 2, 2, seed=1), reference=lambda c, a, b: 0.5 * c + 2 * (a @ b).sum(0)),
    Sample("kron", tp.kron, randn(2, 3), randn(2, seed=1), reference=np.kron),
    Sample("kron", tp.kron, randn(2, 1), randn(1, 2, 2, seed=1), reference=np.kron),
    Sample("trace", tp.trace, randn(2, 3), reference=np.trace),
    Sample("trace", tp.trace, randn(3, 2), reference=np.trace),
    Sample("cross", lambda x, y: tp.linalg.cross(x, y), randn(2, 3), randn(1, 3, seed=1), reference=np.cross),
    Sample("cross over the first", lambda x, y: tp.cross(x, y, dim=0), complexn(3, 2), complexn(3, 2, seed=1),
           reference=lambda a, b: np.cross(a, b, axis=0)),
    Sample("tensordot", lambda x, y: tp.tensordot(x, y, dims=2), randn(2, 3, 2), randn(3, 2, 2, seed=1),
           reference=lambda a, b: np.tensordot(a, b, 2)),
    Sample("tensordot of pairs", lambda x, y: tp.tensordot(x, y, dims=([1, 0], [0, 2])), randn(2, 3),
           randn(3, 1, 2, seed=1), reference=lambda a, b: np.tensordot(a, b, ([1, 0], [0, 2]))),
    Sample("tensordot of none", lambda x, y: tp.tensordot(x, y, dims=0), randn(2), randn(3, seed=1),
           reference=lambda a, b: np.tensordot(a, b, 0)),
    Sample("cdist", tp.cdist, randn(2, 3, 2), randn(2, 2, seed=1),
           reference=lambda a, b: np.linalg.norm(a[:, :, None] - b[None, None], axis=-1)),
    Sample("cdist, manhattan", lambda x, y: tp.cdist(x, y, p=1), randn(3, 2), randn(2, 2, seed=1),
           reference=lambda a, b: np.abs(a[:, None] - b[None]).sum(-1)),
    Sample("cdist, chebyshev", lambda x, y: tp.cdist(x, y, p=float("inf")), randn(3, 2), randn(2, 2, seed=1),
           gradgrad=False, reference=lambda a, b: np.abs(a[:, None] - b[None]).max(-1)),
    Sample("cdist of no columns", tp.cdist, randn(3, 0), randn(2, 0), reference=lambda a, b: np.zeros((3, 2))),
    Sample("multi_dot", lambda *xs: tp.linalg.multi_dot(xs), randn(3), randn(3, 4, seed=1), randn(4, 2, seed=2),
           reference=lambda a, b, c: a @ b @ c),
    Sample("chain_matmul", tp.chain_matmul, randn(2, 3), randn(3, 1, seed=1), randn(1, 2, seed=2),
           reference=lambda a, b, c: a @ b @ c),
]  # fmt: skip

EQUATIONS = [
    ("ij,jk->ki", (2, 3), (3, 2)), ("ij,jk", (2, 3), (3, 2)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 1)),
    ("i,i", (3,), (3,)),
    ("i,j->ij", (2,), (3,)), ("i,i->i", (3,), (3,)), ("ii", (3, 3)), ("ii->i", (3, 3)), ("iij->ji", (2, 2, 3)),
    ("ij->", (2, 3)), ("...ij,...jk->...ik", (2, 2, 3), (1, 2, 3, 2)), ("a...b->b...a", (2, 3, 2)),
    ("...,i->...i", (2,), (3,)),
    ("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)), ("bn,anm,bm->ba", (2, 3), (2, 3, 2), (2, 2)), ("ij,kl->", (2, 2), (2, 3)),
    (",ij->ij", (), (2, 3)), ("ba,ca", (2, 3), (2, 3)), ("ij,jk->ik", (2, 0), (0, 3)),
    ("ijk,ijl->il", (2, 3, 1), (2, 3, 2)),
]  # fmt: skip
for equation, *shapes in EQUATIONS:
    SAMPLES.append(
        Sample(f"einsum {equation}", lambda *xs, e=equation: tp.einsum(e, *xs),
               *(randn(*s, seed=i) for i, s in enumerate(shapes)), reference=lambda *xs, e=equation: np.einsum(e, *xs))
    )  # fmt: skip
SAMPLES += [
    Sample("einsum in sublist form", lambda x, y: tp.einsum(x, [0, 1], y, [1, 2], [2, 0]), randn(2, 3),
           randn(3, 2, seed=1), reference=lambda a, b: (a @ b).T),
    Sample("einsum with an extent of one", lambda x, y: tp.einsum("ij,jk->ik", x, y), randn(2, 1), randn(3, 2, seed=1),
           reference=lambda a, b: a * b.sum(0)),
    Sample("einsum, complex", lambda x, y: tp.einsum("bi,bi->b", x, y), complexn(2, 3), complexn(2, 3, seed=1),
           reference=lambda a, b: (a * b).sum(-1)),
]  # fmt: skip
