"""Separability in words."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from convexcls.proofs.separability.result import Separability
from convexcls.wording import listed, paragraph, rounded_text, short_rational

#: Longer lists are cut.
MOST_NAMED = 12
#: Longer fractions are shown rounded.
LONGEST = 24


def explain(told: Separability) -> str:
    """The verdict and its proof."""
    if told.pairs:
        return "\n".join(_several(told))
    return "\n".join(_two(told))


def _two(told: Separability) -> list[str]:
    first, second = map(repr, told.labels)
    if told.verdict == "strictly separable":
        return paragraph(
            f"STRICTLY SEPARABLE. The hyperplane f(x) = 0 with f(x) = {_formula(told)} has every sample of {second} "
            f"above and every sample of {first} below it, none nearer than {told.margin:.6g}. All signs are worked out "
            "without rounding, on the data as given.",
            "A hard margin exists; the likelihood of logistic regression has no maximum; the perceptron finds a "
            "solution.",
        )
    if told.verdict == "weakly separable":
        lines = paragraph(
            f"WEAKLY SEPARABLE (quasi-complete separation). With f(x) = {_formula(told)} no sample of {second} is "
            f"below and none of {first} above 0, but these are at 0 exactly, as along every such hyperplane: samples "
            f"{listed(told.rows_on_it)} ({told.rows_on_it.size} of {told.samples.size}). The proof that they cannot "
            f"be moved off it: weights > 0 on samples {listed(told.weights)} add up to 0.",
            "No hard margin exists, and neither does the maximum of the likelihood; the perceptron criterion is 0.",
        )
    else:
        lines = paragraph(
            "OVERLAPPING. No hyperplane has all samples on their sides, not even with some on it. The proof: weights > "
            f"0 on samples {listed(told.weights)} add up to 0, and every other sample depends on these; so a "
            "hyperplane that has no sample on the wrong side has all of them on it.",
            "No hard margin exists; the maximum of the likelihood does; the perceptron criterion is above 0.",
        )
    return [*lines, *_hull_lines(told)]


def _hull_lines(told: Separability) -> list[str]:
    hull = told.hull
    if hull is None:
        return []
    lines = [
        "That the classes are not strictly separable is proved by a point of both convex hulls:"
        if told.intercept
        else "That the classes are not strictly separable through the origin is proved by weights with the same sums:"
    ]
    for label in told.labels:
        terms = [f"{_number(w)} x_{i}" for i, w in list(hull.weights[label].items())[:MOST_NAMED]]
        more = " + ..." if len(hull.weights[label]) > MOST_NAMED else ""
        lines.append(f"  {label!r}: {' + '.join(terms) or '0'}{more}")
    lines.append(f"  both are ({_numbers(hull.point)}).")
    lines.append("Without any one of these samples the others are separable.")
    return lines


def _several(told: Separability) -> list[str]:
    scores = f"Linear scores of the {len(told.labels)} classes"
    meaning = {
        "strictly separable": f"STRICTLY SEPARABLE. {scores} give every sample its own class.",
        "weakly separable": f"WEAKLY SEPARABLE. {scores} never prefer another class to a sample's own, and tie for "
        f"some margins of {told.rows_on_it.size} of {told.samples.size} samples, as all such scores do.",
        "overlapping": "OVERLAPPING. No linear scores give every sample at least a tie for its own class, unless they "
        "tie for all samples and classes. The maximum of the likelihood of softmax regression exists.",
    }[told.verdict]
    lines = paragraph(meaning)
    if told.verdict != "overlapping":
        lines.append("The likelihood of softmax regression has no maximum.")
    if told.weights:
        on = f"{len(told.weights)} margins (sample, other class)"
        lines += paragraph(f"Weights > 0 on {on} add up to 0: {listed(told.weights)}.")
    lines.append("Two classes at a time:")
    lines += [f"  {a!r} and {b!r}: {verdict.verdict}" for (a, b), verdict in told.pairs.items()]
    return lines


def _formula(told: Separability) -> str:
    assert told.direction is not None
    terms = [f"{_number(v)} {name}" for v, name in zip(told.direction.coef, told.features, strict=True) if v]
    if told.intercept:
        terms.append(_number(told.direction.intercept))
    shown = terms if len(terms) <= MOST_NAMED else [*terms[:MOST_NAMED], "..."]
    return " + ".join(shown).replace("+ -", "- ")


def _numbers(values: Iterable[Fraction]) -> str:
    return listed(map(_number, values), MOST_NAMED)


def _number(value: Fraction) -> str:
    return short_rational(value, LONGEST) or rounded_text(value, 10)
