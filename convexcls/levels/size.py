"""Which problems are small enough for rationals where only doubles were asked for."""

from __future__ import annotations

from convexcls.problem import Problem

#: Rows times unknowns.
MOST_ENTRIES = 20_000


def too_large(problem: Problem) -> bool:
    """Whether the problem is left to doubles."""
    return sum(b.size for b in (*problem.terms, *problem.constraints)) * problem.size > MOST_ENTRIES
