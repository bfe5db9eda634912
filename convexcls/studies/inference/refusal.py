"""When there are no standard errors, and why."""

from __future__ import annotations

import numpy as np

from convexcls.problem import NoAnswer
from convexcls.rows import as_rows
from convexcls.solution import Solution
from convexcls.studies.inference.design import Design

#: More coefficients of a direction than this are not listed.
MOST_NAMED = 6
#: A coefficient of a direction below this fraction of the largest (in units of its column) is rounding.
NEGLIGIBLE = 1e-9


def refuse_unless_estimated(solution: Solution) -> None:
    """Raise ``NoAnswer`` unless the coefficients are proved to be the maximum-likelihood estimate."""
    problem = solution.problem
    l2 = problem.parameters["l2"]
    if l2 > 0:
        raise NoAnswer(
            f"the {problem.name} has no standard errors: a penalty (l2 = {l2:g}) pulls the coefficients towards 0, and "
            "how far off they are is not a matter of their variance alone. Fit with l2=0"
        )
    if solution.status == "unattained":
        raise NoAnswer(
            "there are no standard errors: the maximum likelihood estimate does not exist. The classes are separated, "
            f"and the likelihood keeps growing along {_direction(solution)}. Leave out a column, or use l2 > 0 and do "
            "without standard errors"
        )
    if solution.status != "optimal":
        Design.of(solution.data, problem.parameters["intercept"])  # a better reason
        reason = solution.certificate.reason or "no proof was found"
        raise NoAnswer(f"there are no standard errors: the fit is {solution.status}, not proved optimal ({reason})")


def _direction(solution: Solution) -> str:
    """The coefficients that run to infinity, each with its rate."""
    way, data = solution.certificate.direction, solution.data
    assert way is not None
    moving: list[tuple[str, float]] = []
    units = {"coef": as_rows(data.matrix).column_max()}
    blocks = solution.problem.split(way.x)
    sizes = {v: np.abs(rates) * np.resize(units.get(v, np.ones(1)), rates.size) for v, rates in blocks.items()}
    largest = max(float(size.max(initial=0.0)) for size in sizes.values())
    for variable, rates in blocks.items():
        names = _names(solution, variable, rates.size)
        moving += [(names[k], rates[k]) for k in np.flatnonzero(sizes[variable] > NEGLIGIBLE * largest)]
    told = ", ".join(f"{name} {rate:+.4g}" for name, rate in moving[:MOST_NAMED])
    return told + (f" and {len(moving) - MOST_NAMED} more" if len(moving) > MOST_NAMED else "")


def _names(solution: Solution, variable: str, size: int) -> list[str]:
    """What a variable's entries are called: by feature, and by label where there are several."""
    data = solution.data
    names = list(data.features) if variable == "coef" else [variable]
    if size == len(names):
        return names
    return [f"{name} of {label!r}" for label in data.labels or () for name in names]
