"""Standard errors, tests and intervals for models that are likelihoods: ``solution.summary()``.

They stand on the proof: a fit that is not optimal, not unique or penalised is refused, with the reason.

>>> import convexcls as cc
>>> summary = cc.LeastSquares([[0], [1], [2], [3]], [1, 2, 2, 4], coding="real").solve().summary()
>>> [c.name for c in summary.coefficients], summary.estimates.round(6).tolist()
(['x1', 'intercept'], [0.9, 0.9])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from convexcls.problem import NoAnswer
from convexcls.problem.duality import Dual
from convexcls.solution import Solution
from convexcls.studies.inference.design import refuse_unless_estimated
from convexcls.studies.inference.existence import Existence, existence
from convexcls.studies.inference.standard_errors import least_squares_summary, likelihood_summary
from convexcls.studies.inference.summary import Coefficient, Summary, Test

#: What carries out the summary of each kind of model.
BY_KIND: dict[str, Callable[[Solution, float], Summary]] = {
    "logistic": likelihood_summary,
    "softmax": likelihood_summary,
    "least-squares": least_squares_summary,
}


def summary(solution: Solution, confidence: float = 0.95) -> Summary:
    """The statistical output of a logistic, softmax or least-squares fit.

    >>> import convexcls as cc
    >>> s = cc.LeastSquares([[0], [1], [2], [3]], [1, 2, 2, 4], coding="real").solve()
    >>> round(cc.inference.summary(s, confidence=0.9).r_squared, 6)
    0.852632
    """
    level = _level(confidence)
    summarise = BY_KIND.get(solution.problem.kind)
    if summarise is None:
        back = " (ask the solution of its primal: .primal().summary())" if isinstance(solution.problem, Dual) else ""
        raise NoAnswer(
            f"there are no standard errors for the {solution.problem.name}{back}; "
            f"there are for models of kind {', '.join(BY_KIND)}"
        )
    refuse_unless_estimated(solution)
    return summarise(solution, level)


def _level(confidence: Any) -> float:
    try:
        level = float(confidence)
    except (TypeError, ValueError):
        level = math.nan
    if not 0 < level < 1:
        raise ValueError(f"confidence is {confidence!r}: it must be a number between 0 and 1, such as 0.95")
    return level


__all__ = ["BY_KIND", "Coefficient", "Existence", "Summary", "Test", "existence", "summary"]
