"""A direction along which the objective falls for ever, checked in rationals: no constraint is ever violated, nothing
curves, and the objective falls at a constant rate, or because no loss rises and one keeps falling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from convexcls.problem import Problem, Term
from convexcls.proofs.exact.dual_bound import dot
from convexcls.proofs.exact.kernel_matrix import exact_kernel
from convexcls.rows.signs import exact_signs

#: Larger matrices of the objective are not worked out in rationals.
LARGEST = 40_000


def in_rationals(problem: Problem) -> bool:
    """Whether a direction of the problem can be checked in rationals."""
    return not problem.norm_bounds and (not problem.matrices or problem.size**2 <= LARGEST)


def matrices_of(problem: Problem) -> dict[str, list[list[Fraction]]]:
    """The rows over all of x that vanish where a matrix of the objective does: a kernel's of the samples as given."""
    out = {}
    for v, p in problem.matrices.items():
        start, after = problem.layout[v].start, problem.size - problem.layout[v].stop
        matrix = exact_kernel(problem) or p.rational()
        out[v] = [[Fraction(0)] * start + row + [Fraction(0)] * after for row in matrix]
    return out


def proves_unattained(problem: Problem, direction: Mapping[str, list[Fraction]]) -> str:
    """Why the direction does not prove that there is no minimum; empty where it does."""
    sizes = {v.name: v.size for v in problem.variables}
    if {name: len(values) for name, values in direction.items()} != sizes:
        return "the direction does not give one number for every unknown"
    d = [value for v in problem.variables for value in direction[v.name]]
    if not in_rationals(problem):
        return "a direction is checked exactly only where there is no norm bound and no large matrix of the objective"
    for v in problem.quadratic:
        p = problem.diagonals.get(v)
        if p is None:
            curved = any(dot(row, d) for row in matrices_of(problem)[v])
        else:
            curved = any(curve and value for curve, value in zip(p.tolist(), direction[v], strict=True))
        if curved:
            return f"the objective curves along {v!r}"
    for c in problem.constraints:
        signs = exact_signs(problem.rows(c), d)
        if np.any(signs > 0) or (c.relation == "==" and np.any(signs)):
            return f"the direction leaves the constraint {c.name!r} at row {int(np.flatnonzero(signs)[0])}"
    rate = sum((Fraction(q) * value for q, value in zip(problem.q.tolist(), d, strict=True)), Fraction(0))
    falling = False
    for t in problem.terms:
        moves = _moves(problem, t, d)
        if moves is None:
            return f"a loss of {t.name!r} rises along the direction"
        falling = falling or moves
    if rate < 0 or (rate == 0 and falling):
        return ""
    return "the objective does not fall along the direction"


def _moves(problem: Problem, term: Term, d: Sequence[Fraction]) -> bool | None:
    """Whether a loss keeps falling along the direction; None where one rises, or may."""
    signs = exact_signs(problem.rows(term)[term.counted], d)
    low, high = term.loss.slopes
    if (high > 0 and np.any(signs > 0)) or (low < 0 and np.any(signs < 0)):
        return None
    return bool(np.any(signs)) and (low, high) != (0.0, 0.0)
