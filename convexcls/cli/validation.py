"""Leave-one-out cross-validation as text and as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from convexcls.cli.tables import show_facts
from convexcls.report.reading import title
from convexcls.validation import LeaveOneOut
from convexcls.validation.words import facts, how

MOST_ROWS = 20


def show_validation(console: Console, found: LeaveOneOut, everything: bool = False) -> None:
    """What was found, then the rows that are predicted wrongly."""
    lines: list[tuple[str, str | Text]] = [
        ("problem", title(found.problem)),
        ("left out", f"each sample in turn, {how(found)}; {found.seconds:.2g} s"),
        *facts(found),
    ]
    if found.error_count:
        lines.append(("wrong", _wrong(found, everything)))
    show_facts(console, lines)


def _wrong(found: LeaveOneOut, everything: bool) -> str:
    rows = np.flatnonzero(found.errors == 1)
    shown = rows if everything else rows[:MOST_ROWS]
    more = f" and {rows.size - shown.size} more (--all lists them)" if shown.size < rows.size else ""
    return f"rows, counted from 0: {', '.join(map(str, shown))}{more}"


def validation_dict(found: LeaveOneOut) -> dict[str, Any]:
    """Everything that the text says, and every sample's score, as plain values."""
    return {
        "schema": "convexcls-validation/1",
        "problem": found.problem.name,
        "method": found.method,
        "samples": found.problem.data.n,
        "errors": found.error_count,
        "mean_error": found.mean_error,
        "log_likelihood": found.total_log_likelihood,
        "mean_log_likelihood": found.mean_log_likelihood,
        "squared_error": found.total_squared_error,
        "mean_squared_error": found.mean_squared_error,
        "undetermined": {str(row): reason for row, reason in found.undetermined.items()},
        "scores": found.scores,
        "predictions": found.predictions,
        "log_likelihoods": found.log_likelihoods,
        "squared_errors": found.squared_errors,
        "score_bounds": found.bounds,
        "seconds": found.seconds,
    }
