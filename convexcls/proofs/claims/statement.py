"""A quadratic program as exact arithmetic sees it: few unknowns, and many samples that each cost a convex function.

A slack that only bounds lines from above,

    minimise over xi:   c xi (or p/2 xi^2)   subject to   xi >= R_k z - h_k   for every line k,

is worked out by hand for each sample, so that systems have the size of the unknowns z and not of the data. What is left
is

    minimise  1/2 z'Hz + g'z + constant + sum_i cost_i(z)   subject to   A z = b,  G z <= h

with H, g and the constant as rationals: half-square terms are multiplied out without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Epigraph, Problem
from convexcls.proofs.claims.affine import AffineRows, added
from convexcls.proofs.claims.curvature import exact_kernel
from convexcls.proofs.enclosure.moments import Moments
from convexcls.rational.doubles import Matrix
from convexcls.rational.elimination import is_semidefinite
from convexcls.rows import Rows

#: More unknowns besides slacks are beyond exact arithmetic.
MOST_UNKNOWNS = 1500
#: The moments of data with more entries are not worked out again: residuals in doubles judge them.
MAX_MOMENT_ENTRIES = 5_000_000


class NoProof(ValueError):
    """There is no exact proof; the message says why."""


@dataclass(frozen=True, eq=False)
class Samples:
    """A slack variable and the lines that it stays above, its pieces without the slack."""

    epigraph: Epigraph
    lines: tuple[AffineRows, ...]

    @property
    def cost(self) -> Array:
        """The linear cost c of each sample."""
        return self.epigraph.cost

    @property
    def curvature(self) -> Array:
        """The quadratic cost p of each sample."""
        return self.epigraph.curvature

    @property
    def size(self) -> int:
        """The number of samples."""
        return self.epigraph.size


@dataclass(frozen=True, eq=False)
class Statement:
    """The program over the unknowns z of the variables ``kept``."""

    problem: Problem
    kept: tuple[str, ...]
    size: int
    quadratic: Matrix
    linear: list[Fraction]
    constant: Fraction
    equalities: tuple[AffineRows, ...]
    inequalities: tuple[AffineRows, ...]
    samples: tuple[Samples, ...]

    def point(self, z: list[Fraction]) -> dict[str, list[Fraction]]:
        """z by variable."""
        out, start = {}, 0
        for name in self.kept:
            stop = start + self.problem.variable(name).size
            out[name] = z[start:stop]
            start = stop
        return out


def state(problem: Problem) -> Statement:
    """The statement of a problem; ``NoProof`` where it is not a quadratic program of moderate size."""
    _refuse(problem)
    epigraphs = [e for e in problem.epigraphs if e.is_unit]
    slacks = {e.variable for e in epigraphs}
    kept = tuple(v.name for v in problem.variables if v.name not in slacks)
    size = sum(problem.variable(v).size for v in kept)
    if size > MOST_UNKNOWNS:
        raise NoProof(f"{size} unknowns besides slacks are too many for exact arithmetic (at most {MOST_UNKNOWNS})")
    blocks = {c.name: AffineRows(c, problem.narrow_rows(c.entries, kept), size) for c in problem.constraints}
    quadratic, linear, constant = _objective(problem, kept, size)
    plain = [blocks[c.name] for c in problem.constraints if not slacks & c.entries.keys()]
    return Statement(
        problem,
        kept,
        size,
        quadratic,
        linear,
        constant,
        tuple(m for m in plain if m.block.relation == "=="),  # type: ignore[union-attr]
        tuple(m for m in plain if m.block.relation == "<="),  # type: ignore[union-attr]
        tuple(Samples(e, tuple(blocks[piece.name] for piece in e.pieces)) for e in epigraphs),
    )


def _refuse(problem: Problem) -> None:
    if problem.norm_bounds:
        raise NoProof(
            "the optimum of a problem with a norm bound is in general not rational: prove the quadratic program that "
            "it is equivalent to (of MaxMargin: HardMarginSVM, whose optimum is 1 / (2 distance^2))"
        )
    for term in problem.terms:
        if not term.is_half_square:
            raise NoProof(f"the {term.loss.name} loss has no rational values: it can be enclosed, not proved exactly")


def _objective(problem: Problem, kept: tuple[str, ...], size: int) -> tuple[Matrix, list[Fraction], Fraction]:
    """H, g and the constant over the unknowns that are kept."""
    augmented = [[Fraction(0)] * (size + 1) for _ in range(size + 1)]
    for term in problem.terms:
        measured = AffineRows(term, problem.narrow_rows(term.entries, kept), size)
        augmented = added(augmented, measured.gram(term.counted, term.weights[term.counted]), Fraction(1))
    linear = [augmented[j][size] for j in range(size)]
    quadratic = [row[:size] for row in augmented[:size]]
    start = 0
    for name in kept:
        n = problem.variable(name).size
        P = problem.P.get(name)
        if P is not None and P.as_kernel is not None and (matrix := exact_kernel(problem)) is not None:
            _add_matrix(quadratic, matrix, start)
        elif P is not None:
            _add_quadratic(quadratic, P, start, name)
        for j, q in enumerate(np.asarray(problem.linear.get(name, np.zeros(n))).tolist()):
            linear[start + j] += Fraction(q)
        start += n
    return quadratic, linear, augmented[size][size] / 2 + Fraction(problem.constant)


def _add_quadratic(quadratic: Matrix, P: Rows, start: int, name: str) -> None:
    if (diagonal := P.diagonal()) is not None:
        for j, value in enumerate(diagonal.tolist()):
            quadratic[start + j][start + j] += Fraction(value)
        return
    matrix = P.rational()
    if not is_semidefinite(matrix):
        raise NoProof(f"the quadratic part of {name!r} is not positive semidefinite once nothing is rounded any more")
    _add_matrix(quadratic, matrix, start)


def _add_matrix(quadratic: Matrix, matrix: Matrix, start: int) -> None:
    for j, row in enumerate(matrix, start):
        for k, value in enumerate(row, start):
            quadratic[j][k] += value


# ---- Gaussian classes --------------------------------------------------------------------------------------------


def has_moments(problem: Problem) -> bool:
    """Whether the optimum of a problem is a formula of moments, which are rational."""
    return hasattr(problem, "moments_as_given")


def has_few_moments(problem: Any) -> bool:
    """Whether the moments are not too many to be added up by whoever verifies a claim."""
    return has_moments(problem) and problem.data.n * problem.data.d <= MAX_MOMENT_ENTRIES


def moments(problem: Any) -> list[Moments]:
    """The moments of the data as they were given."""
    return list(problem.moments_as_given())
