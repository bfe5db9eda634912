"""Several solves described: a comparison of solvers, a path, a summary, leave-one-out, and verdicts with their proofs
in words."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from convexcls.describe.parts import Column, Fact, Facts, Mark, Part, Prose, Table
from convexcls.describe.problem import some_of, title
from convexcls.describe.solution import MAX_ROWS_LISTED
from convexcls.fits import Appraisal, Appraisals
from convexcls.proofs.portable import Verification
from convexcls.proofs.separability import Separability
from convexcls.studies.compare import COMPARED_COLUMNS, Comparison
from convexcls.studies.conflict import Conflict
from convexcls.studies.inference import Existence, Summary
from convexcls.studies.inference.summary import cells, head, heading, titles
from convexcls.studies.leave_one_out import LeaveOneOut
from convexcls.studies.leave_one_out.result import facts, how
from convexcls.studies.paths import PATH_COLUMNS, Path
from convexcls.wording import MAX_FILE_DIGITS, rational_text


def comparison_table(comparison: Comparison) -> Table:
    """A row a solver, all judged by the same check."""
    columns = [
        Column(name, "text" if name in ("solver", "status") else "number", begins=name == "gap")
        for name in COMPARED_COLUMNS
    ]
    rows = [_with_mark(row) for row in comparison.table()]
    caption = f"Tolerance {comparison.tol:.0e}; the gap and the four residuals are relative"
    return Table(
        "comparison", caption, tuple(columns), tuple(rows), sortable=len(rows) > 1, values=comparison.to_dict()
    )


def comparison_parts(comparison: Comparison) -> list[Part]:
    """The table, how to read it, and what fell short of a proof."""
    lines = [
        "The last five columns are relative: duality gap, stationarity, primal and dual feasibility,",
        f"complementary slackness. An optimum is proved where all are at most {comparison.tol:.0e}.",
    ]
    if any(row.status in ("infeasible", "unattained") for row in comparison.rows):
        lines.append("Infeasible and unattained are proved by other means, which 'convexcls solve' shows.")
    for row in comparison.rows:
        if row.status == "undecided":
            lines.append(f"  {row.solver} is not proved: {row.solution.certificate.reason or row.message}")
    if comparison.not_run:
        lines.append(comparison.remarks()[-1])
    return [comparison_table(comparison), Prose("\n".join(lines))]


def _with_mark(row: list[str]) -> tuple[Any, ...]:
    """A row whose second entry is a verdict."""
    return (row[0], Mark(row[1], "word"), *row[2:])


def path_table(path: Path) -> Table:
    """One line a value, then what the table cannot show."""
    columns = [Column(name, "text" if name == "status" else "number") for name in (path.parameter, *PATH_COLUMNS)]
    caption = f"{path.model} along {path.parameter}"
    rows = tuple(map(_with_mark, path.table()))
    return Table("path", caption, tuple(columns), rows, remarks=tuple(path.remarks()), values=path.to_dict())


def summary_parts(summary: Summary) -> list[Part]:
    """The fit as a whole, then the coefficients, equation by equation, then the notes."""
    pairs = [pair for column in zip(*head(summary), strict=True) for pair in column if pair[0]]
    parts: list[Part] = [
        Prose(Mark(summary.title, "strong")),
        Facts(tuple(Fact(name.rstrip(":"), value) for name, value in pairs)),
    ]
    for equation, group in groupby(summary.coefficients, key=lambda c: c.equation):
        columns = (Column(heading(equation)), *(Column(name, "number") for name in titles(summary)))
        rows = tuple((c.name, *cells(c)) for c in group)
        parts.append(Table("coefficients", "Coefficients", columns, rows, values=summary.to_dict()))
    return [*parts, Prose("\n\n".join(summary.notes))]


def leave_one_out_facts(found: LeaveOneOut, most: int | None = MAX_ROWS_LISTED) -> Facts:
    """What was found, then the rows that are predicted wrongly; programs read every sample's score besides."""
    rows = np.flatnonzero(found.errors == 1) if found.error_count else np.array([], dtype=int)
    named, cut = some_of(rows, most)
    data = {
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
        **{name: getattr(found, name) for name in ("scores", "predictions", "log_likelihoods", "squared_errors")},
        "score_bounds": found.bounds,
        "seconds": found.seconds,
    }
    return Facts(
        (
            Fact("problem", title(found.problem), data),
            Fact("left out", f"each sample in turn, {how(found)}; {found.seconds:.2g} s"),
            *(Fact(name, value) for name, value in facts(found)),
            Fact("wrong", f"rows, {named}" if rows.size else "", cut=cut),
        )
    )


# ---- verdicts in words ----------------------------------------------------------------------------------


def verdict_parts(found: Separability | Existence | Appraisal | Appraisals | Conflict) -> list[Part]:
    """The verdict as a badge, then its proof."""
    return [Prose((Mark(found.verdict, "badge"),)), Prose(found.explain())]


def appraisal_prose(found: Appraisal) -> Prose:
    """How far a point is from the optimum, and its conditions; for programs with the point and its multipliers."""
    data = {
        "verdict": found.verdict,
        "status": found.certificate.status,
        "level": found.level,
        "problem": found.problem.name,
        "objective": found.objective,
        "lower": found.lower,
        "upper": found.upper,
        "conditions": found.kkt.measures(),
        "point": {name: part.tolist() for name, part in found.problem.split(found.point).items()},
        "multipliers": {name: part.tolist() for name, part in found.multipliers.items()},
        "multipliers_are": found.source,
        "findings": found.findings,
    }
    return Prose(found.explain(), data=data)


def separability_prose(found: Separability) -> Prose:
    """The verdict and its proof; for programs with every number of the proof, rationals as text."""
    hull, way = found.hull, found.direction
    shares = {} if hull is None else hull.weights
    weights = {str(label): {i: str(v) for i, v in rows.items()} for label, rows in shares.items()}
    data = {
        "verdict": found.verdict,
        "labels": found.labels,
        "direction": None if way is None else {"coef": _texts(way.coef), "intercept": _texts(way.intercept)},
        "margin": found.margin,
        "rows_on_it": found.rows_on_it,
        "hull": None if hull is None else {"point": _texts(hull.point), "weights": weights},
        "weights": {str(row): str(value) for row, value in found.weights.items()},
        "pairs": [{"labels": pair, "verdict": one.verdict} for pair, one in found.pairs.items()],
    }
    return Prose(found.explain(), data=data)


def verification_prose(found: Verification) -> Prose:
    """The outcome of checking a certificate; for programs what it speaks of and the bounds as text."""
    parsed = found.parsed if found.accepted else None
    bounds = {"lower": found.lower, "upper": found.upper}
    data = {
        "accepted": found.accepted,
        **{name: getattr(parsed, name, None) for name in ("verdict", "level", "model", "samples")},
        **{name: None if value is None else rational_text(value, MAX_FILE_DIGITS) for name, value in bounds.items()},
        "rounded": found.rounded,
        "reasons": found.reasons,
    }
    return Prose(found.explain(), data=data)


def _texts(values: Any) -> Any:
    return [_texts(value) for value in values] if isinstance(values, (tuple, list)) else str(values)
