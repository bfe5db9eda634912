"""Kernel matrices without rounding, of the kernels that take rationals to rationals."""

from __future__ import annotations

from fractions import Fraction

from convexcls.problem import Problem
from convexcls.proofs.exact.products import Matrix, rational_product


def has_exact_kernel(problem: Problem) -> bool:
    """Whether ``exact_kernel`` knows the matrix of a problem."""
    kernel, data = problem.kernel, problem.data
    if kernel is None or data is None or data.signs is None:
        return False
    polynomial = kernel.kind in ("poly", "polynomial") and kernel.coef0 >= 0 and float(kernel.degree).is_integer()
    return bool(kernel.kind == "linear" or polynomial)


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
