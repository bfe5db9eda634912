"""How well a classifier does on its own samples: predictions beside labels, with each sample and without it, and, of
likelihoods, standard errors or why there are none."""

from __future__ import annotations

from math import exp, inf

from convexcls.arrays import Array
from convexcls.data import Data
from convexcls.describe.parts import Chapter, Column, Fact, Facts, Prose, Table
from convexcls.describe.studies import summary_parts
from convexcls.models import Model
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.studies.evaluation import Evaluation, confusion
from convexcls.studies.inference import Summary
from convexcls.studies.leave_one_out import leave_one_out
from convexcls.studies.leave_one_out.newton import takes_newton
from convexcls.wording import count, shorten

MAX_LABELS = 12
#: Leaving out each sample in turn is asked for unasked up to so many entries where it needs no fit of its own, and up
#: to so many samples where it does.
MAX_ENTRIES, MAX_REFITS = 200_000, 100
#: What helps where a class is never predicted.
ALIKE = "Weights that make all classes count alike may change that: class_weight=balanced."
LIKELIHOODS = ("logistic", "softmax")


def fit(s: Solution) -> Chapter | None:
    """Confusion matrices, on the training samples and by leave-one-out; nothing without labels or without a proof."""
    problem = s.problem
    if s.status != "optimal" or not isinstance(problem, Model) or problem.data.labels is None:
        return None
    data = problem.data
    if len(problem.data.labels) > MAX_LABELS or data.classes is None:
        return None
    own = _evaluation(data, s.decision_function(data.samples))
    found = [("On the samples that it was fitted to", own)]
    without, note = _left_out(problem), ""
    if isinstance(without, Evaluation):
        found.append(("Each sample by the fit to all others (leave-one-out)", without))
    else:
        note = f"Leave-one-out: {without}."
    warning = f"This classifier {own.warning}. {ALIKE}" if own.warning else ""
    matrices = [_matrix(*each) for each in found]
    return Chapter("fit", "How well it fits", (Prose(warning), _shares(found), *matrices, Prose(note)))


def _evaluation(data: Data, scores: Array) -> Evaluation:
    classes, labels = data.grouping
    return Evaluation(labels, confusion(classes, scores, len(labels)))


def _left_out(problem: Model) -> Evaluation | str:
    """The same by leave-one-out, where that is quick and every sample has a prediction; or why it is not there."""
    data = problem.data
    quick = takes_newton(problem) or problem.kind == "least-squares"
    if data.sparse or (data.n * data.d > MAX_ENTRIES if quick else data.n > MAX_REFITS):
        return f"not unasked with {data.n} samples, for it takes long (convexcls validate, cc.leave_one_out)"
    try:
        found = leave_one_out(problem)
    except NoAnswer as refusal:
        return f"there is none: {refusal}"
    if found.undetermined:
        row, reason = next(iter(found.undetermined.items()))
        return (
            f"{count(len(found.undetermined), 'sample')} cannot be predicted by the others, such as row {row}: {reason}"
        )
    return _evaluation(data, found.scores)


def _shares(found: list[tuple[str, Evaluation]]) -> Facts:
    """Accuracies; balanced, every label counts as much as any other."""
    facts = []
    for (_, each), how in zip(found, ("", " (leave-one-out)"), strict=False):
        right = int(each.confusion.trace())
        facts.append(Fact(f"accuracy{how}", f"{each.accuracy:.4g} ({right} of {each.n})"))
        facts.append(Fact(f"balanced accuracy{how}", f"{each.balanced_accuracy:.4g}"))
    return Facts(tuple(facts))


def _matrix(heading: str, found: Evaluation) -> Table:
    names = [shorten(str(label), 20) for label in found.labels]
    columns = (Column("label"), *(Column(f"predicted {name}", "count") for name in names), Column("found", "number"))
    shares = [f"{100 * share:.1f} %" for share in found.recall]
    rows = tuple((name, *row.tolist(), share) for name, row, share in zip(names, found.confusion, shares, strict=True))
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
    others = [c for c in found.coefficients if c.name != "intercept"]
    rows = [(c.name, *map(_factor, (c.estimate, c.low, c.high))) for c in others]
    if any(c.equation is not None for c in others):
        columns.insert(1, Column("of"))
        rows = [(row[0], shorten(str(c.equation), 20), *row[1:]) for row, c in zip(rows, others, strict=True)]
    heading = "Odds ratios: by what one unit more of a feature multiplies the odds"
    return Table("odds", heading, tuple(columns), tuple(rows))


def _factor(value: float) -> float:
    return exp(value) if value < 700.0 else inf
