"""What there is to read in a solution, whatever the model: the answer as facts for the screen, a page or a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate import Residual
from convexcls.conic import Conic, conic
from convexcls.problem import NoAnswer, Problem, Term
from convexcls.report.text import count, shorten
from convexcls.solution import Solution

CONDITIONS = {
    "stationarity": "stationarity",
    "primal feasibility": "primal_feasibility",
    "dual feasibility": "dual_feasibility",
    "complementary slackness": "complementary_slackness",
}


def certified(solution: Solution) -> bool:
    """Whether the verdict carries a proof."""
    return solution.status != "undecided"


def title(problem: Problem) -> str:
    """The problem's name with its parameters and its data."""
    data = getattr(problem, "data", None)
    parameters = getattr(problem, "parameters", {})
    settings = ", ".join(f"{k}={v}" for k, v in parameters.items() if k != "intercept")
    if parameters.get("intercept") is False:
        settings = f"{settings}, no intercept".lstrip(", ")
    name = problem.name + (f" ({settings})" if settings else "")
    if data is None:
        return name
    names = [shorten(repr(label), 30) for label in (data.labels or ())[:7]]
    if data.labels is not None and len(data.labels) > len(names):
        names[-1] = f"{len(data.labels) - len(names) + 1} more"
    labels = ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1] if names else ""
    counts = f"{count(data.n, 'sample')}, {count(data.d, 'feature')}"
    if data.basis is not None:
        counts += f" made by {data.basis!r} of {len(data.expanded.inputs)}"
    return f"{name}: {counts}" + (f"; labels {labels}" if labels else "")


def conic_of(s: Solution) -> Conic | None:
    """The conic on which f(x) = 0, for a quadratic basis in the plane."""
    if getattr(getattr(s.problem, "data", None), "basis", None) is None:
        return None
    try:
        return conic(s)
    except NoAnswer:
        return None


def intercept_value(s: Solution) -> float | None:
    """The intercept, None where the model has none."""
    if in_samples(s.problem):
        return s.intercept if "intercept" in s.multipliers else None
    if "coef" not in s.problem.layout:
        return None
    if "intercept" not in s.problem.layout and not np.any(s.intercept):
        return None
    if "intercept" in s.problem.layout and s.values["intercept"].size != 1:
        return None
    return s.intercept


def interval(s: Solution) -> tuple[float, float]:
    """The intercepts that are optimal with this coef."""
    if "intercept" not in s.problem.layout and not in_samples(s.problem):
        return s.intercept, s.intercept
    return s.intercept_interval


def in_samples(problem: Problem) -> bool:
    """Whether the coefficients belong to samples, not to features, as those of a kernel do."""
    return hasattr(problem, "dual_coef_from")


def has_support(s: Solution) -> bool:
    """Whether the model speaks of support points: it has one margin constraint a sample, or one unknown a sample."""
    if in_samples(s.problem):
        return s.x is not None and bool(s.multipliers)
    rows = [c for c in s.problem.constraints if c.relation == "<=" and c.kind == "samples" and c.name == "margin"]
    return bool(rows) and s.x is not None and bool(s.multipliers)


def coefficients(s: Solution) -> list[tuple[str, float]]:
    """What was solved for, by feature name; by support point; by variable and index where it is neither."""
    values = s.values
    data = getattr(s.problem, "data", None)
    if in_samples(s.problem):
        return [(f"row {i}", float(s.dual_coef[i])) for i in s.support]
    if "coef" in values and data is not None and values["coef"].size == len(data.features):
        return [(name, float(v)) for name, v in zip(data.features, values["coef"], strict=True)]
    names = [v.name for v in s.problem.variables if v.name != "slack"]
    return [
        (name if values[name].size == 1 else f"{name}[{k}]", float(v))
        for name in names
        for k, v in enumerate(values[name])
    ]


def where(residual: Residual, features: Sequence[str]) -> str:
    if not residual.relative_values:
        return "no constraints"
    if residual.relative == 0:
        return "exact"
    block, row = residual.worst
    size = residual.relative_values[block].size
    if block == "coef" and size == len(features):
        return f"coef of {shorten(features[row], 30)}"
    return block if size == 1 else f"{block}, row {row}"


def solved(s: Solution) -> bool:
    """Whether there is a point to speak of."""
    return s.x is not None and s.status in ("optimal", "undecided")


def pulls(s: Solution, term: Term) -> NDArray[np.float64]:
    """The multipliers of a loss: its slopes, or minus them, with their weights."""
    u = s.problem.rows(term) @ point_of(s) + term.offset
    return np.asarray(term.loss.dual_sign * term.row_weights * term.loss.slope(u))


def point_of(s: Solution) -> NDArray[np.float64]:
    """The point, of a solution that has one."""
    return np.concatenate([s.values[v.name] for v in s.problem.variables])
