"""Whether a direction has no curvature: P d = 0 for a matrix P.

A kernel matrix is often singular to rounding although no two samples are alike, so a product that is merely small
proves nothing. Where P = R'R is known by its root R, the question is R d = 0, which is as well posed as any constraint.
Otherwise P d has to be zero to the last bit: in rationals where P is small (``recession.py``), and where it is not,
for directions made of powers of two, whose products are exact.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.rows import JoinedRows, Rows
from convexcls.rows.gram import GramRows

Array = NDArray[np.float64]


def curvature_rows(problem: Problem) -> list[JoinedRows]:
    """The rows over all of x that vanish where a matrix P does: its root, or P itself."""
    matrices = {v: _root(p) for v, p in problem.quadratic.items() if isinstance(p, Rows)}
    return [problem.joined({v: rows}, rows.shape[0]) for v, rows in matrices.items()]


def _root(p: Rows) -> Rows:
    return p.root if isinstance(p, GramRows) else p


def vanishes_exactly(problem: Problem, direction: Array) -> bool:
    """Whether P d is exactly zero for every matrix P without a root, and that without rational arithmetic."""
    for v, p in problem.quadratic.items():
        d = direction[problem.layout[v]]
        if not isinstance(p, Rows) or isinstance(p, GramRows) or not np.any(d):
            continue
        used = np.flatnonzero(d)
        if np.any(np.abs(np.frexp(d[used])[0]) != 0.5):  # not a power of two: the products would be rounded
            return False
        products = p.to_dense()[:, used] * d[used]
        if any(math.fsum(row) for row in products):
            return False
    return True
