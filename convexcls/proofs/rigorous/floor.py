"""The lower bound that needs no multipliers: an objective that is a sum of parts, none of which is negative.

It is what is left where the optimum is 0: a separating hyperplane of the perceptron, a perfect fit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Constraint
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.products import factors
from convexcls.rows import DiagonalRows, Rows

Array = NDArray[np.float64]


def floor(e: Evaluation) -> float:
    """The constant of the objective where nothing else of it can be negative, else minus infinity. Squares, and losses
    whose rounding is known, are not negative; a slack is not where its rows say so."""
    problem, slacks = e.problem, e.structure.slacks
    if any(np.any(q) for v, q in problem.linear.items() if v not in slacks):
        return -math.inf
    if any(form is None or form.least < 0 for form in e.forms.values()):
        return -math.inf
    for v, slack in slacks.items():
        if np.any(slack.cost) and not _nonnegative(slack.pieces, v):
            return -math.inf
    return problem.constant


def _nonnegative(rows: tuple[Constraint, ...], slack: str) -> bool:
    """Whether a slack is above a number that is not negative, or above two numbers whose sum is not."""
    if any(len(c.entries) == 1 and np.all(c.rhs <= 0) for c in rows):
        return True
    return any(_opposite(a, b, slack) for a in rows for b in rows if a is not b)


def _opposite(one: Constraint, other: Constraint, slack: str) -> bool:
    """Whether the rows of one block are minus those of the other, right-hand sides and all."""
    given = {*getattr(one, "_exactly", {}), *getattr(other, "_exactly", {})}
    if given or one.entries.keys() != other.entries.keys() or not np.array_equal(one.rhs, -other.rhs):
        return False
    return all(_negative(r, other.entries[v]) for v, r in one.entries.items() if v != slack)


def _negative(rows: Rows, others: Rows) -> bool:
    if isinstance(rows, DiagonalRows) and isinstance(others, DiagonalRows):
        return np.array_equal(rows.values, -others.values)
    a, b = factors(rows), factors(others)
    ones = np.ones(rows.shape[0])
    left, right = (ones if f.left is None else f.left for f in (a, b))
    return a.core is b.core and a.right is b.right and np.array_equal(left, -right)
