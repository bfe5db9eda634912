"""The classifier described: coefficients by feature, by support point, or by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from convexcls.describe.parts import Column, Fact, Facts, Part, Table
from convexcls.describe.problem import data_of_problem
from convexcls.problem import NoAnswer, Problem
from convexcls.solution import Solution
from convexcls.studies.paths.result import has_solution
from convexcls.wording import capitalized, shorten

MOST_ROWS = 20


def classifier(s: Solution, most: int | None = MOST_ROWS) -> list[Part]:
    """Coefficients by feature, by class, or by support point; the largest of many."""
    tables = _by_class(s, most) if has_solution(s) else []
    if has_solution(s) and not tables:
        return [_coefficients(s, most)]
    return [Facts((Fact("coef", data={"coef": None}),)), *tables]


def in_samples(problem: Problem) -> bool:
    """Whether the coefficients belong to samples, not to features, as those of a kernel do."""
    return problem.kernel is not None


def _coefficients(s: Solution, most: int | None) -> Table:
    pairs = coefficients(s)
    kept = list(range(len(pairs)))
    if most is not None and len(pairs) > most:
        kept = sorted(sorted(kept, key=lambda k: -abs(pairs[k][1]))[:most])
    titles = ("feature", "coef") if "coef" in s.problem.layout else ("variable", "value")
    titles = ("support point", "dual coef") if in_samples(s.problem) else titles
    largest = max((abs(value) for _, value in pairs), default=0.0) or 1.0
    columns = (Column(titles[0]), Column(titles[1], "number"), Column("size", "bar", pages_only=True))
    rows = tuple((shorten(pairs[k][0]), pairs[k][1], pairs[k][1] / largest) for k in kept)
    cut = f"the {len(kept)} largest of {len(pairs)}" if len(kept) < len(pairs) else ""
    return Table("coef", "Coefficients", columns, rows, cut, sortable=len(rows) > 8, values={"coef": dict(pairs)})


def coefficients(s: Solution) -> list[tuple[str, float]]:
    """What was solved for, by feature name; by support point; by variable and index where it is neither."""
    values, data = s.values, data_of_problem(s.problem)
    if in_samples(s.problem):
        return [(f"row {i}", float(s.dual_coef[i])) for i in s.support]
    if "coef" in values and data is not None and values["coef"].size == len(data.features):
        return [(name, float(v)) for name, v in zip(data.features, values["coef"], strict=True)]
    return [
        (v.name if v.size == 1 else f"{v.name}[{k}]", float(value))
        for v in s.problem.variables
        if v.name != "slack"
        for k, value in enumerate(values[v.name])
    ]


# ---- several classes ------------------------------------------------------------------------------------


def _by_class(s: Solution, most: int | None) -> list[Table]:
    """Tables of a solution whose unknowns do not belong to single features, a column for each class or direction; none
    for other models."""
    data = data_of_problem(s.problem)
    if data is None or data.labels is None:
        return []
    labels, features = [str(label) for label in data.labels], list(data.features)
    try:
        estimates: Any = s.estimates
    except NoAnswer:
        estimates = None
    if hasattr(estimates, "covariance"):
        one = estimates.covariance.ndim == 2
        names = ["covariance"] if one else [f"covariance of {name}" for name in labels]
        matrices = [estimates.covariance] if one else estimates.covariance
        means = _grid("mean", labels, features, estimates.means, {"prior": estimates.priors}, most)
        return [means, *(_grid(n, features, features, m, {}, most) for n, m in zip(names, matrices, strict=True))]
    if "coef_1" in s.problem.layout and estimates is not None:
        titles = [f"direction {k + 1}" for k in range(len(estimates.ratios))]
        rows = {"Rayleigh quotient": estimates.ratios}
        return [_grid("direction", titles, features, estimates.directions, rows, most, (str(estimates),))]
    if "coef" in s.problem.layout and len(labels) * data.d == s.values["coef"].size and np.ndim(s.coef) == 2:
        rows = {"intercept": np.asarray(s.intercept)} if "intercept" in s.problem.layout else {}
        return [_grid("coef", labels, features, s.coef, rows, most)]
    return []


def _grid(
    name: str,
    titles: list[str],
    features: list[str],
    values: Any,
    more: Mapping[str, Any],
    most: int | None,
    remarks: tuple[str, ...] = (),
) -> Table:
    """A row a feature, then further rows that have one number a column; of many rows the first and the last."""
    names = [*features, *more]
    matrix = np.vstack([np.asarray(values, dtype=float).T, *(np.asarray(row, dtype=float) for row in more.values())])
    kept = list(range(len(names)))
    if most is not None and len(names) > most:
        kept = [*kept[: most - 1], kept[-1]]
    columns = (Column(name), *(Column(shorten(title, 20), "number") for title in titles))
    rows = tuple((shorten(names[k]), *map(float, matrix[k])) for k in kept)
    cut = f"{len(kept)} of {len(names)} rows" if len(kept) < len(names) else ""
    by_column = {title: dict(zip(names, matrix[:, k].tolist(), strict=True)) for k, title in enumerate(titles)}
    heading = "Coefficients by class" if name == "coef" else capitalized(name)
    return Table(name, heading, columns, rows, cut, remarks, values={name: by_column})
