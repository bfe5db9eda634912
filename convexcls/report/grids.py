"""Solutions of models for several classes as tables: a column for each class or direction, a row for each feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from convexcls.problem import NoAnswer
from convexcls.solution import Solution


@dataclass(frozen=True)
class Grid:
    """A table of numbers: by column title, then by row."""

    name: str
    columns: Mapping[str, Mapping[str, float]]
    remark: str = ""


def grids(s: Solution) -> list[Grid]:
    """The tables of a solution whose unknowns do not belong to single features; none for other models."""
    data = getattr(s.problem, "data", None)
    if data is None or data.labels is None:
        return []
    estimates = _estimates(s)
    if hasattr(estimates, "covariance"):
        return _gaussian(data.features, data.labels, estimates)
    if "coef_1" in s.problem.layout and estimates is not None:
        titles = [f"direction {k + 1}" for k in range(len(estimates.ratios))]
        rows = {"Rayleigh quotient": estimates.ratios}
        return [Grid("direction", _columns(titles, data.features, estimates.directions, rows), str(estimates))]
    if "coef" in s.problem.layout and len(data.labels) * data.d == s.values["coef"].size and np.ndim(s.coef) == 2:
        rows = {"intercept": np.asarray(s.intercept)} if "intercept" in s.problem.layout else {}
        return [Grid("coef", _columns([str(label) for label in data.labels], data.features, s.coef, rows))]
    return []


def _estimates(s: Solution) -> Any:
    try:
        return s.estimates
    except NoAnswer:
        return None


def _gaussian(features: tuple[str, ...], labels: tuple[Any, ...], estimates: Any) -> list[Grid]:
    names = [str(label) for label in labels]
    out = [Grid("mean", _columns(names, features, estimates.means, {"prior": estimates.priors}))]
    if estimates.covariance.ndim == 2:
        return [*out, Grid("covariance", _columns(list(features), features, estimates.covariance, {}))]
    for name, covariance in zip(names, estimates.covariance, strict=True):
        out.append(Grid(f"covariance of {name}", _columns(list(features), features, covariance, {})))
    return out


def _columns(titles: list[str], features: tuple[str, ...], values: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    """By title: the values of the features, then further rows that have one number a column."""
    out: dict[str, Any] = {}
    for k, title in enumerate(titles):
        named = {name: float(v) for name, v in zip(features, values[k], strict=True)}
        out[title] = named | {name: float(row[k]) for name, row in more.items()}
    return out
