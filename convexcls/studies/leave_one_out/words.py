"""Leave-one-out cross-validation told in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from convexcls.wording import listed

if TYPE_CHECKING:
    from convexcls.studies.leave_one_out.result import LeaveOneOut

_HOW = {
    "hat": "by the hat matrix, exact",
    "newton": "by Newton's method from the full fit, each to the end",
    "one-step": "by one Newton step from the full fit",
    "refit": "by refitting, each fit proved",
}
MOST_REASONS = 5


def in_words(result: LeaveOneOut) -> str:
    """A few lines with everything that was found."""
    lines = [f"Leave-one-out of {result.problem.name}: {result.problem.data.n} samples, {how(result)}."]
    lines += [f"  {name:<16}{value}" for name, value in facts(result)]
    return "\n".join(lines)


def how(result: LeaveOneOut) -> str:
    """The method in words."""
    return _HOW[result.method]


def facts(result: LeaveOneOut) -> list[tuple[str, str]]:
    """Names and values, one pair a line."""
    out = []
    n, weighted = int(result.determined.sum()), ", weighted" if result.problem.data.weighted else ""
    if result.errors is not None and n:
        share = f" ({100 * (result.mean_error or 0.0):.3g}%{weighted})"
        out.append(("errors", f"{result.error_count} of {n}{share}{_training(result)}"))
    for name, total, mean in (
        ("log-likelihood", result.total_log_likelihood, result.mean_log_likelihood),
        ("squared error", result.total_squared_error, result.mean_squared_error),
    ):
        if total is not None and mean is not None and n:
            out.append((name, f"{total:.10g}, {mean:.6g} a sample{weighted}"))
    if result.bounds is not None and n:
        out.append(("stated error", _stated(result)))
    if result.undetermined:
        left = ", not counted above" if n else ""
        out.append(("no prediction", f"{len(result.undetermined)} of {result.problem.data.n}{left}"))
        out += [("", reason) for reason in reasons(result)]
    return out


def _training(result: LeaveOneOut) -> str:
    data, full = result.problem.data, result.full
    if full.status != "optimal" or data.labels is None or data.classes is None:
        return ""
    right = np.array(data.labels)[data.classes]
    return f"; of the fit to all samples {int(np.sum(full.predict(data.samples) != right))}"


def _stated(result: LeaveOneOut) -> str:
    assert result.bounds is not None
    worst = float(np.nanmax(result.bounds))
    text = f"every score is within {worst:.1e} of the exact one (proved, up to rounding)"
    if result.log_likelihoods is not None:
        total = float(np.nansum(result.problem.data.weights * result.bounds))
        text += f", the log-likelihood within {total:.1e}"
    if result.in_doubt:
        text += f"; {result.in_doubt} prediction(s) might be the other label"
    return text


def reasons(result: LeaveOneOut) -> list[str]:
    """Why samples have no prediction, the frequent reasons first, with their rows."""
    counts = Counter(result.undetermined.values())
    out = []
    for reason, count in counts.most_common(MOST_REASONS):
        rows = [row for row, r in sorted(result.undetermined.items()) if r == reason]
        out.append(f"{'row' if count == 1 else 'rows'} {listed(rows, 10)}: {reason}")
    return out
