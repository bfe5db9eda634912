"""Which problems are small enough for rationals where only doubles were asked for."""

from __future__ import annotations

from convexcls.problem import Problem
from convexcls.rows import Rows

#: Entries of all rows, and of the matrices of the objective.
MOST_ENTRIES = 1_000


def small(problem: Problem) -> bool:
    """Whether nobody waits long for an exact proof."""
    blocks = (*problem.terms, *problem.constraints)
    entries = sum(rows.entries for b in blocks for rows in b.entries.values())
    return entries + sum(p.entries for p in problem.quadratic.values() if isinstance(p, Rows)) <= MOST_ENTRIES
