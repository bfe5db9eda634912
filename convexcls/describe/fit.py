"""How well a classifier does on its own samples: predictions beside labels, with each sample and without it, and, of
likelihoods, standard errors or why there are none."""

from __future__ import annotations

from math import exp, inf

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.describe.parts import Chapter, Column, Fact, Facts, Part, Prose, Table
from convexcls.describe.studies import summary_parts
from convexcls.models import Model
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.studies.inference import Summary
from convexcls.studies.leave_one_out import leave_one_out
from convexcls.studies.leave_one_out.newton import takes_newton
from convexcls.wording import shorten

MOST_LABELS = 12
#: Leaving out each sample in turn is asked for unasked up to so many entries where it needs no fit of its own, and up
#: to so many samples where it does.
MOST_ENTRIES, MOST_REFITS = 200_000, 60
LIKELIHOODS = ("logistic", "softmax")


def fit(s: Solution) -> Chapter | None:
    """Confusion matrices, on the training samples and by leave-one-out; nothing without labels or without a proof."""
    problem = s.problem
    if s.status != "optimal" or not isinstance(problem, Model) or problem.data.labels is None:
        return None
    data, labels = problem.data, [str(label) for label in problem.data.labels]
    if len(labels) > MOST_LABELS or data.classes is None:
        return None
    own = confusion(data.classes, winners(s.decision_function(data.samples)), len(labels))
    found = [("On the samples that it was fitted to", own)]
    if (without := _left_out(problem)) is not None:
        found.append(("Each sample by the fit to all others (leave-one-out)", without))
    parts: list[Part] = [Prose(one_label_only(own, labels)), _shares(found)]
    return Chapter("fit", "How well it fits", (*parts, *(_matrix(name, matrix, labels) for name, matrix in found)))


def winners(scores: Array) -> Indices:
    """The class that each row of scores gives."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


def confusion(classes: Indices, predicted: Indices, k: int) -> Indices:
    """How many samples of class i are predicted as class j."""
    return np.bincount(classes * k + predicted, minlength=k * k).reshape(k, k)


def one_label_only(matrix: Indices, labels: list[str]) -> str:
    """That some labels are never predicted, where that is so."""
    never = [repr(shorten(label, 30)) for label, times in zip(labels, matrix.sum(axis=0), strict=True) if not times]
    if not never:
        return ""
    if len(never) == len(labels) - 1:
        always = next(label for label, times in zip(labels, matrix.sum(axis=0), strict=True) if times)
        return f"This classifier always predicts {shorten(always, 30)!r}: no sample is given another label."
    return f"No sample is given the {'label' if len(never) == 1 else 'labels'} {', '.join(never)}."


def _left_out(problem: Model) -> Indices | None:
    """The confusion matrix by leave-one-out, where that is quick and every sample has a prediction."""
    data = problem.data
    quick = takes_newton(problem) or problem.kind == "least-squares"
    if data.sparse or (data.n * data.d > MOST_ENTRIES if quick else data.n > MOST_REFITS):
        return None
    try:
        found = leave_one_out(problem)
    except NoAnswer:
        return None
    if found.undetermined or data.classes is None or data.labels is None:
        return None
    return confusion(data.classes, winners(found.scores), len(data.labels))


def _shares(found: list[tuple[str, Indices]]) -> Facts:
    """Accuracies; balanced, every label counts as much as any other."""
    facts = []
    for (_, matrix), how in zip(found, ("", " (leave-one-out)"), strict=False):
        right = np.diag(matrix)
        recall = right / np.maximum(matrix.sum(axis=1), 1)
        facts.append(Fact(f"accuracy{how}", f"{right.sum() / matrix.sum():.4g} ({right.sum()} of {matrix.sum()})"))
        facts.append(Fact(f"balanced accuracy{how}", f"{recall.mean():.4g}"))
    return Facts(tuple(facts))


def _matrix(heading: str, matrix: Indices, labels: list[str]) -> Table:
    names = [shorten(label, 20) for label in labels]
    columns = (Column("label"), *(Column(f"predicted {name}", "count") for name in names), Column("found", "number"))
    rows = tuple(
        (name, *row.tolist(), f"{100 * row[k] / max(row.sum(), 1):.1f} %")
        for k, (name, row) in enumerate(zip(names, matrix, strict=True))
    )
    return Table("confusion", heading, columns, rows)


# ---- standard errors ------------------------------------------------------------------------------------


def inference(s: Solution) -> Chapter | None:
    """Standard errors, z and p of a likelihood, with odds ratios; or why there are none. Nothing for other models."""
    if s.problem.kind not in LIKELIHOODS:
        return None
    try:
        found = s.summary()
    except NoAnswer as refusal:
        return Chapter("inference", "Standard errors", (Prose(f"There are none: {refusal}"),))
    return Chapter("inference", "Standard errors", (*summary_parts(found)[1:], _odds(found)))


def _odds(found: Summary) -> Table:
    """Each coefficient as a factor: of the odds, for one unit more of the feature."""
    percent = f"{100 * found.confidence:g} %"
    columns = [Column("feature"), *(Column(name, "digits") for name in ("odds ratio", f"{percent} from", "to"))]
    told = [c for c in found.coefficients if c.name != "intercept"]
    rows = [(c.name, *map(_factor, (c.estimate, c.low, c.high))) for c in told]
    if any(c.equation is not None for c in told):
        columns.insert(1, Column("of"))
        rows = [(row[0], shorten(str(c.equation), 20), *row[1:]) for row, c in zip(rows, told, strict=True)]
    heading = "Odds ratios: by what one unit more of a feature multiplies the odds"
    return Table("odds", heading, tuple(columns), tuple(rows))


def _factor(value: float) -> float:
    return exp(value) if value < 700.0 else inf
