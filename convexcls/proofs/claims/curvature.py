"""Whether a direction has no curvature: P d = 0 for a matrix P.

A kernel matrix is often singular to rounding although no two samples are alike, so a product that is merely small
proves nothing. Where P = R'R is known by its root R, the question is R d = 0, which is as well posed as any constraint.
Otherwise P d has to be zero to the last bit: in rationals where P is small (``direction.py``), and where it is not,
for directions made of powers of two, whose products are exact.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.rational.doubles import rational_product
from convexcls.rational.elimination import Matrix
from convexcls.rows import JoinedRows
from convexcls.rows.kernel import KernelRows

#: Matrices with more entries are not made rows of a linear program: it would take longer than anybody waits.
MAX_MATRIX_ENTRIES = 1_000_000
#: Kernel matrices of more samples are not worked out in rationals.
MAX_EXACT_KERNEL_SAMPLES = 200
#: Kernels whose matrix is regular for any samples that differ (Micchelli 1986).
STRICTLY_DEFINITE = ("rbf", "laplacian")


def curvature_rows(problem: Problem) -> list[JoinedRows]:
    """The rows over all of x that vanish where a matrix P does: its root, or P itself."""
    matrices = {v: p if p.root is None else p.root for v, p in problem.matrices.items()}
    return [problem.joined({v: rows}, rows.shape[0]) for v, rows in matrices.items()]


def too_many_entries(problem: Problem) -> bool:
    """Whether the matrices P are too large for a linear program with P d = 0, or for the memory allowed for them."""
    matrices = problem.matrices.values()
    return any(p.beyond_memory for p in matrices) or sum(p.shape[0] * p.shape[1] for p in matrices) > MAX_MATRIX_ENTRIES


def vanishes_exactly(problem: Problem, direction: Array) -> bool:
    """Whether P d is exactly zero for every matrix P without a root, and that without rational arithmetic."""
    for v, p in problem.matrices.items():
        d = direction[problem.layout[v]]
        if p.root is not None or not np.any(d):
            continue
        used = np.flatnonzero(d)
        if np.any(np.abs(np.frexp(d[used])[0]) != 0.5):  # not a power of two: the products would be rounded
            return False
        if p.as_kernel is not None and _cancels_by_samples(p.as_kernel, d):
            continue
        products = p[used].to_dense().T * d[used]  # P is symmetric
        if any(math.fsum(row) for row in products):
            return False
    return True


def vanishes_as_given(problem: Problem, direction: Array) -> bool:
    """Whether Q d = 0 for the kernel of the samples as they were given: its doubles may be singular where it is not.

    Samples that are equal cancel each other in any kernel. Others never do in a kernel that is strictly positive
    definite; of one that takes rationals to rationals Q d is worked out. True where there is no kernel of samples, or a
    known root of samples that doubles hold.
    """
    matrices = [p.as_kernel for p in problem.matrices.values() if p.as_kernel is not None]
    kernel, data = problem.kernel, problem.data
    if not matrices or kernel is None or data is None:
        return True
    if data.exact_matrix is None and any(p.root is not None for p in matrices):
        return True
    pulls = matrices[0].factor * direction
    used = np.flatnonzero(pulls)
    totals: dict[tuple[Fraction, ...], Fraction] = {}
    for sample, pull in zip(data.exact_rows(used), pulls[used].tolist(), strict=True):
        totals[tuple(sample)] = totals.get(tuple(sample), Fraction(0)) + Fraction(pull)
    if not any(totals.values()):
        return True
    if kernel.kind in STRICTLY_DEFINITE:
        return False
    if problem.size > MAX_EXACT_KERNEL_SAMPLES:
        return kernel.kind == "precomputed"
    matrix = exact_kernel(problem)
    if matrix is None:
        return True
    d = [Fraction(v) for v in direction.tolist()]
    return not any(sum((q * v for q, v in zip(row, d, strict=True) if v), Fraction(0)) for row in matrix)


def _cancels_by_samples(p: KernelRows, d: Array) -> bool:
    """Whether samples that are equal cancel each other: then so do their rows, however they are computed."""
    pulls = p.factor * d
    used = np.flatnonzero(pulls)
    numbers = p.alike()[used]
    return not any(math.fsum(pulls[used[numbers == k]]) for k in np.unique(numbers))


def has_exact_kernel(problem: Problem) -> bool:
    """Whether ``exact_kernel`` knows the matrix of a problem."""
    kernel, data = problem.kernel, problem.data
    if kernel is None or data is None or data.signs is None:
        return False
    polynomial = kernel.kind in ("poly", "polynomial") and kernel.coef0 >= 0 and float(kernel.degree).is_integer()
    return bool(kernel.kind == "linear" or polynomial)


def has_blurred_kernel(problem: Problem) -> bool:
    """Whether a check knows how far the values of a kernel are from those of the samples as given."""
    return any(p.spread() is not None for p in problem.matrices.values())


def has_rounded_kernel(problem: Problem) -> bool:
    """Whether the values of a kernel are no rationals: then a proof in rationals speaks of the doubles next to them."""
    return has_blurred_kernel(problem) and not has_exact_kernel(problem)


def exact_kernel(problem: Problem) -> Matrix | None:
    """Q_ij = y_i y_j k(x_i, x_j) of a kernel machine, from its samples as they were given: of the linear kernel and of
    polynomials (gamma x'z + coef0)^degree with a whole degree and coef0 >= 0, which are positive semidefinite. None for
    other kernels and other problems."""
    data = problem.data
    if data is None or data.signs is None or not has_exact_kernel(problem):
        return None
    kernel = problem.kernel
    samples = [list(feature) for feature in zip(*data.exact_rows(), strict=True)]
    inner = rational_product(samples, samples)
    if kernel.kind != "linear":
        gamma, shift, degree = Fraction(kernel.gamma), Fraction(kernel.coef0), int(kernel.degree)
        inner = [[(gamma * value + shift) ** degree for value in row] for row in inner]
    signs = [int(sign) for sign in data.signs.tolist()]
    return [[s * t * value for t, value in zip(signs, row, strict=True)] for s, row in zip(signs, inner, strict=True)]


def exact_matrices(problem: Problem) -> dict[str, Matrix]:
    """The rows over all of x that vanish where a matrix of the objective does: a kernel's of the samples as given."""
    out = {}
    for v, p in problem.matrices.items():
        start, after = problem.layout[v].start, problem.size - problem.layout[v].stop
        matrix = exact_kernel(problem) or p.rational()
        out[v] = [[Fraction(0)] * start + row + [Fraction(0)] * after for row in matrix]
    return out
