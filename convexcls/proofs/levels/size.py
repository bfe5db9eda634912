"""Which problems are small enough for rationals where only doubles were asked for."""

from __future__ import annotations

from convexcls.problem import Problem

#: So many entries are not too many for an exact proof, and so many not for bounds in rationals at a known point.
MOST_TO_PROVE, MOST_TO_BOUND = 1_000, 10_000


def small(problem: Problem) -> bool:
    """Whether nobody waits long for an exact proof."""
    return _entries(problem) <= MOST_TO_PROVE


def moderate(problem: Problem) -> bool:
    """Whether nobody waits long for bounds in rationals at a known point."""
    return _entries(problem) <= MOST_TO_BOUND


def _entries(problem: Problem) -> int:
    """The entries of all rows, and of the matrices of the objective."""
    blocks = (*problem.terms, *problem.constraints)
    entries = sum(rows.entries for b in blocks for rows in b.entries.values())
    return entries + sum(p.entries for p in problem.matrices.values())
