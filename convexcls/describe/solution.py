"""A solution described: the verdict, the numbers, the classifier. What people read and what programs read stand side by
side, fact by fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.describe.certificate import kkt_table
from convexcls.describe.parts import Column, Fact, Facts, Inline, Mark, Part, Prose, Table
from convexcls.describe.problem import some_of, title
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.certificate import Certificate
from convexcls.solution import Solution
from convexcls.studies.conic import Conic, conic
from convexcls.studies.paths import has_solution
from convexcls.wording import MAX_FILE_DIGITS, capitalized, count, number, rational_text, seconds, shorten, small

#: Above this many unknowns or rows, whether the solution is unique is not asked: it takes a dense factorization.
MAX_UNKNOWNS_FOR_UNIQUENESS = 1000
#: Intercepts that differ by less, relatively, are one.
NO_INTERVAL = 1e-6
VERDICT_MEANING = {
    "optimal": "this is a minimiser, and no other point does better",
    "infeasible": "no point satisfies all constraints",
    "unattained": "there is no minimiser: along a direction the objective falls for ever",
    "undecided": "this answer is not proved",
}


MAX_ROWS_LISTED = 20


def answer(s: Solution, most: int | None = MAX_ROWS_LISTED) -> list[Part]:
    """All of it: facts, classifier, KKT conditions, the proof in words. Of long lists ``most`` are shown."""
    parts: list[Part] = [facts(s, most), *classifier(s, most)]
    table = kkt_table(s.certificate) if has_solution(s) else None
    parts += [Facts((Fact("kkt", data={"kkt": None}),))] if table is None else [table]
    rule = s.rule_report
    report = {"report": rule.to_dict() if hasattr(rule, "to_dict") else None}
    parts.append(Prose("" if rule is None else str(rule), data=report))
    words = s.certificate.explain()
    parts.append(Prose(words, data={"explanation": words, "certificate": s.certificate.summary()}))
    return parts


# ---- the verdict ----------------------------------------------------------------------------------------


def certified(s: Solution) -> bool:
    """Whether the verdict carries a proof."""
    return s.status != "undecided"


def verdict(s: Solution) -> Prose:
    """The verdict, what it means and how well it is proved."""
    meaning = VERDICT_MEANING[s.status]
    if s.problem.sense == "max":
        meaning = meaning.replace("minimiser", "maximiser").replace("falls", "grows")
    proved: tuple[Inline, ...] = ("; proved ", how_proved(s.certificate)) if certified(s) else ()
    return Prose((Mark(s.status.upper(), "badge"), " ", meaning, *proved, "."), "verdict")


def how_proved(c: Certificate) -> Inline:
    """How far the proof reaches."""
    if c.level != "float":
        return {"rigorous": "despite rounding", "exact": "in exact arithmetic"}[c.level] + f", level {c.level}"
    if c.status == "optimal":
        return ("to the tolerance ", Mark(f"{c.tol:.0e}", "whole"))
    return "on the data as given"


# ---- the numbers ----------------------------------------------------------------------------------------


def facts(s: Solution, most: int | None = MAX_ROWS_LISTED) -> Facts:
    """Problem, solver, verdict; where there is a point, its objective, bounds, intercept and support, of which ``most``
    rows are named. None at all makes it brief: then the solver is not quoted, either."""
    c = s.certificate
    proved: Inline = (" (proved ", how_proved(c), ")") if certified(s) else " (not proved)"
    steps = f", {count(s.iterations, 'iteration')}" if s.iterations else ""
    said = f"; it said: {shorten(s.message, 200)}" if s.message and most != 0 else ""
    labels = getattr(s.problem.data, "labels", None)
    solver = {"solver": s.solver, "iterations": s.iterations, "seconds": s.seconds, "message": s.message}
    status = {"status": s.status, "certified": certified(s), "tolerance": c.tol, "level": c.level}
    return Facts(
        (
            Fact("problem", title(s.problem), {"problem": s.problem.name, "labels": labels}),
            Fact("solver", f"{s.solver}{steps}, {seconds(s.seconds)} s{said}", solver),
            Fact("chosen", s.chosen),
            Fact("verdict", (Mark(s.status.upper(), "badge"), proved), status),
            *_optimum(s),
            _intercept(s),
            _support(s, most),
            _boundary(s),
            Fact("note", "; ".join(filter(None, [_freedom(s), *_own_notes(s)]))),
        )
    )


def _own_notes(s: Solution) -> list[str]:
    """What is to be said of the proof that is not known of the problem already."""
    return [note for note in s.certificate.notes if note not in s.problem.notes]


def numbers(s: Solution) -> Facts:
    """The facts that go with the verdict where that is told in a line of its own; the solver is the last."""
    solver, *others = facts(s, most=0).without("problem", "verdict", "chosen", "note").items
    return Facts((*others, solver))


def _optimum(s: Solution) -> list[Fact]:
    """What the level proves of the optimum, the objective at the point, its bound, and what lies between."""
    c = s.certificate
    optimum = None if c.optimum is None else rational_text(c.optimum, MAX_FILE_DIGITS)
    bounds = {"lower": float(c.lower), "upper": float(c.upper), "optimum": optimum}
    if not has_solution(s):
        return [Fact("optimum", data={**bounds, "objective": None, "dual_objective": None, "gap": None})]
    relative = "" if c.kkt is None else f" (relative {small(c.kkt.relative_gap)})"
    return [
        Fact("optimum", _proved_optimum(c), bounds),
        Fact("objective", number(s.objective), {"objective": s.objective}),
        Fact("dual bound", number(s.dual_objective), {"dual_objective": s.dual_objective}),
        Fact("gap", f"{small(s.gap)}{relative}" if optimum is None else "0, without rounding", {"gap": s.gap}),
    ]


def _proved_optimum(c: Certificate) -> str:
    if c.level == "float":
        return ""
    if c.optimum is not None:
        return rational_text(c.optimum)
    if c.enclosure is not None:
        return str(c.enclosure.optimum_text)
    return f"between {float(c.lower):.17g} and {float(c.upper):.17g} (relative width {small(c.width)})"


def _intercept(s: Solution) -> Fact:
    value = intercept_value(s) if has_solution(s) else None
    if value is None:
        return Fact("intercept", data={"intercept": None, "intercept_interval": None})
    low, high = _interval(s)
    free = f", and every other in [{number(low)}, {number(high)}] is as good" if _intercept_is_free(s) else ""
    return Fact("intercept", number(value) + free, {"intercept": value, "intercept_interval": [low, high]})


def _intercept_is_free(s: Solution) -> bool:
    """Whether the intercept is one of an interval."""
    value = intercept_value(s) if s.status == "optimal" else None
    if value is None:
        return False
    low, high = _interval(s)
    return high - low > NO_INTERVAL * max(1.0, abs(value))


def intercept_value(s: Solution) -> float | None:
    """The intercept, None where the model has none."""
    if in_samples(s.problem):
        return s.intercept if "intercept" in s.multipliers else None
    if "coef" not in s.problem.layout:
        return None
    if "intercept" not in s.problem.layout:
        return s.intercept if np.any(s.intercept) else None
    return s.intercept if s.values["intercept"].size == 1 else None


def _interval(s: Solution) -> tuple[float, float]:
    """The intercepts that are optimal with this coef."""
    if "intercept" not in s.problem.layout and not in_samples(s.problem):
        return s.intercept, s.intercept
    return s.intercept_interval


def has_support(s: Solution) -> bool:
    """Whether the model speaks of support points: it has one margin constraint a sample, or one unknown a sample."""
    rows = any(c.relation == "<=" and c.kind == "samples" and c.name == "margin" for c in s.problem.constraints)
    return (rows or in_samples(s.problem)) and has_solution(s) and bool(s.multipliers)


def _support(s: Solution, most: int | None) -> Fact:
    if not has_support(s):
        return Fact("support", data={"support": None})
    rows = s.support
    text = f"{rows.size} of {getattr(s.problem.data, 'n', rows.size)} rows"
    named, cut = some_of(rows, most)
    return Fact("support", f"{text}, {named}" if rows.size and most != 0 else text, {"support": rows.tolist()}, cut)


def _boundary(s: Solution) -> Fact:
    """What conic it is and, where it has an inside, which label is there."""
    found = conic_of(s) if has_solution(s) else None
    if found is None:
        return Fact("boundary", data={"boundary": None})
    six = {name: getattr(found, name) for name in "abcdef"}
    measures = {name: getattr(found, name) for name in ("centre", "axes", "angle", "eccentricity", "vertex", "lines")}
    labels, text = s.data.labels, str(found)
    if found.kind in ("ellipse", "circle") and labels is not None and found.inside:
        text += f"; {shorten(repr(labels[int(found.inside > 0)]), 30)} inside"
    values = {"kind": found.kind, "coefficients": six, **measures, "text": str(found)}
    return Fact("boundary", text, {"boundary": values})


def conic_of(s: Solution) -> Conic | None:
    """The conic on which f(x) = 0, for a quadratic basis in the plane."""
    if getattr(s.problem.data, "basis", None) is None:
        return None
    try:
        return conic(s)
    except NoAnswer:
        return None


def _freedom(s: Solution) -> str:
    """That the solution is one of many, where that is known, cheap to find out, and not told of the intercept."""
    rows = sum(block.size for block in (*s.problem.terms, *s.problem.constraints))
    few = max(rows, s.problem.size) <= MAX_UNKNOWNS_FOR_UNIQUENESS
    if s.status != "optimal" or not few or "coef" not in s.problem.layout or _intercept_is_free(s):
        return ""
    unique = s.uniqueness
    return f"this is not the only solution: {unique.reason}" if unique.unique is False else ""


# ---- the classifier -------------------------------------------------------------------------------------


def classifier(s: Solution, most: int | None = MAX_ROWS_LISTED) -> list[Part]:
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
    spread = _spread(s)
    sizes = [value * spread[k] for k, (_, value) in enumerate(pairs)] if spread is not None else [v for _, v in pairs]
    largest = max(map(abs, sizes), default=0.0) or 1.0
    standardised = "size, per standard deviation" if spread is not None else "size"
    columns = (Column(titles[0]), Column(titles[1], "number"), Column(standardised, "bar", pages_only=True))
    rows = tuple((shorten(pairs[k][0]), pairs[k][1], sizes[k] / largest) for k in kept)
    cut = f"the {len(kept)} largest of {len(pairs)}" if len(kept) < len(pairs) else ""
    return Table("coef", "Coefficients", columns, rows, cut, sortable=len(rows) > 8, values={"coef": dict(pairs)})


def _spread(s: Solution) -> Array | None:
    """The standard deviation of each feature, by which coefficients are compared; nothing where that has no meaning."""
    data = s.problem.data
    if data is None or data.sparse or in_samples(s.problem) or "coef" not in s.values:
        return None
    if s.values["coef"].size != data.d:
        return None
    if data.by_block is not None:
        return np.asarray(data.by_block.extent.deviation)
    with np.errstate(all="ignore"):
        spread = np.asarray(data.matrix, dtype=float).std(axis=0)
    return spread if np.all(np.isfinite(spread)) else None


def coefficients(s: Solution) -> list[tuple[str, float]]:
    """What was solved for, by feature name; by support point; by variable and index where it is neither."""
    values, data = s.values, s.problem.data
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
    data = s.problem.data
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
        table = _grid("direction", titles, features, estimates.directions, rows, most)
        return [replace(table, remarks=(str(estimates),))]
    if "coef" in s.problem.layout and len(labels) * data.d == s.values["coef"].size and np.ndim(s.coef) == 2:
        rows = {"intercept": np.asarray(s.intercept)} if "intercept" in s.problem.layout else {}
        return [_grid("coef", labels, features, s.coef, rows, most)]
    return []


def _grid(
    name: str, titles: list[str], features: list[str], values: Any, more: Mapping[str, Any], most: int | None
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
    return Table(name, heading, columns, rows, cut, values={name: by_column})
