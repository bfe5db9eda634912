"""A quadratic program as exact arithmetic sees it: few unknowns, and many samples that each cost a convex function.

A slack that only bounds lines from above,

    minimise over xi:   c xi (or p/2 xi^2)   subject to   xi >= R_k z - h_k   for every line k,

is worked out by hand for each sample, so that systems have the size of the unknowns z and not of the data. What is left
is

    minimise  1/2 z'Hz + g'z + constant + sum_i cost_i(z)   subject to   A z = b,  G z <= h

with H, g and the constant as rationals: half-square terms are multiplied out without rounding. The rows of constraints
and lines with their shifts are ``AffineRows``, which are added up over many samples without rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Literal

import numpy as np

from convexcls.arrays import Indices
from convexcls.problem import Epigraph, Problem, Term
from convexcls.proofs.claims.affine_rows import AffineRows, Weights, added
from convexcls.proofs.claims.curvature import exact_kernel
from convexcls.rational.elimination import Matrix, is_semidefinite

#: More unknowns besides slacks are beyond exact arithmetic.
MAX_EXACT_UNKNOWNS = 1500


class NoProof(ValueError):
    """There is no exact proof; the message says why."""


@dataclass(frozen=True, eq=False)
class Samples(Epigraph):
    """A slack variable, one entry a sample, with the ``lines`` that it stays above: its pieces without the slack."""

    lines: tuple[AffineRows, ...] = ()

    def weights_at(self, costs: Literal["cost", "curvature"], index: Indices) -> Weights:
        """Some of the costs: doubles where these are exact."""
        if getattr(self, f"given_{costs}") is not None:
            return self.rational(costs, index)
        return np.asarray(getattr(self, costs)[index])


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

    def joined(self, values: Mapping[str, Sequence[Fraction]]) -> list[Fraction]:
        """z, from its values by variable."""
        return [value for name in self.kept for value in values[name]]

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
    if size > MAX_EXACT_UNKNOWNS:
        raise NoProof(
            f"{size} unknowns besides slacks are too many for exact arithmetic (at most {MAX_EXACT_UNKNOWNS})"
        )
    blocks = {c.name: AffineRows(c, problem.narrow_rows(c.entries, kept), size) for c in problem.constraints}
    quadratic, linear, constant = _objective(problem, kept, size)
    plain = [c for c in problem.constraints if not slacks & c.entries.keys()]
    return Statement(
        problem,
        kept,
        size,
        quadratic,
        linear,
        constant,
        tuple(blocks[c.name] for c in plain if c.relation == "=="),
        tuple(blocks[c.name] for c in plain if c.relation == "<="),
        tuple(
            Samples(**{f.name: getattr(e, f.name) for f in fields(e)}, lines=tuple(blocks[p.name] for p in e.pieces))
            for e in epigraphs
        ),
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
        augmented = added(augmented, measured.gram(term.counted, weights_of(term)))
    linear = [augmented[j][size] for j in range(size)]
    quadratic = [row[:size] for row in augmented[:size]]
    start = 0
    for name in kept:
        n = problem.variable(name).size
        P = problem.P.get(name)
        if P is not None and P.as_kernel is not None and (matrix := exact_kernel(problem)) is not None:
            _add_matrix(quadratic, matrix, start)
        elif P is not None:
            _add_quadratic(quadratic, problem, start, name)
        for j, q in enumerate(problem.rational_costs("linear", name)):
            linear[start + j] += q
        start += n
    return quadratic, linear, augmented[size][size] / 2 + Fraction(problem.constant)


def weights_of(term: Term) -> Weights:
    """The weights of the rows that have one: doubles where these are exact."""
    if term.given_rationals("weights") is None:
        return np.asarray(term.row_weights[term.counted])
    width = term.loss.width
    return term.rational_vector("weights", term.counted // width)


def _add_quadratic(quadratic: Matrix, problem: Problem, start: int, name: str) -> None:
    if name in problem.diagonals:
        for j, value in enumerate(problem.rational_costs("quadratic", name)):
            quadratic[start + j][start + j] += value
        return
    matrix = problem.P[name].rational()
    if not is_semidefinite(matrix):
        raise NoProof(f"the quadratic part of {name!r} is not positive semidefinite once nothing is rounded any more")
    _add_matrix(quadratic, matrix, start)


def _add_matrix(quadratic: Matrix, matrix: Matrix, start: int) -> None:
    for j, row in enumerate(matrix, start):
        for k, value in enumerate(row, start):
            quadratic[j][k] += value
