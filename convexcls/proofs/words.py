"""Certificates in words, of every level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from convexcls.proofs.claims.curvature import has_blurred_kernel, has_rounded_kernel
from convexcls.wording import indented, listed, paragraph, rational_text, shorten

if TYPE_CHECKING:
    from convexcls.problem import Problem
    from convexcls.proofs.certificate import Certificate
    from convexcls.proofs.kkt.residuals import Residual

MEASURES = {
    "stationarity": "the gradient of the Lagrangian vanishes",
    "primal feasibility": "the constraints hold",
    "dual feasibility": "no multiplier has the wrong sign",
    "complementary slackness": "only tight constraints have multipliers",
    "duality gap": "primal and dual objective agree",
}


#: So many samples, and so many rows of a contradiction, are named.
MAX_SAMPLES_NAMED = 8
MAX_ROWS_NAMED = 12
MORE = ", and {} more"
#: What is noted of an exact optimum where its point was checked in rationals.
ATTAINED = "the point shown, in doubles, attains the optimum to the tolerance; that was worked out in rationals"


def explain_certificate(certificate: Certificate) -> str:
    """A paragraph on the verdict, then a line for each condition."""
    tell = {
        "optimal": _optimal,
        "infeasible": _infeasible,
        "unattained": _unattained,
        "undecided": _undecided,
    }[certificate.status]
    lines = level_words(certificate) or tell(certificate)
    if speaks_of_doubles(certificate):
        lines += ["Note: this certificate speaks of the data rounded to doubles."]
    if certificate.level == "exact" and has_rounded_kernel(certificate.problem):
        lines += ["Note: this certificate speaks of the kernel's values rounded to doubles."]
    lines += [line for note in certificate.notes for line in paragraph(f"Note: {note}.")]
    coding = getattr(certificate.problem.data, "coding", None)
    if coding is not None and not coding.plain:
        lines += ["The samples are coded so:", *indented(coding.lines())]
    return "\n".join(lines)


def _optimal(c: Certificate) -> list[str]:
    assert c.kkt is not None
    objective = c.problem.reported(c.kkt.objective)
    bound = c.problem.reported(c.kkt.dual_objective)
    side = "below" if c.problem.sense == "min" else "above"
    lines = [
        *paragraph(
            f"OPTIMAL. The optimum of this problem ({c.problem.name}) is {objective:.10g}, proved on the data "
            f"{'rounded to doubles' if _rounds(c.problem) else 'as given'}: no feasible point lies {side} the dual "
            f"bound {bound:.10g}, and this point reaches it up to a relative gap of {c.kkt.relative_gap:.1e}. "
            f"The conditions, each to be at most {c.tol:.0e}:"
        ),
        *conditions(c),
        *samples_that_matter(c),
    ]
    if c.attained is not None:
        lines += paragraph(
            "A minimum exists: one Newton step turns the slopes of the losses into multipliers strictly inside their "
            "range that satisfy stationarity exactly, so no direction lowers the objective for ever."
        )
    return lines


def speaks_of_doubles(certificate: Certificate) -> bool:
    """Whether what is proved is proved of the data rounded to doubles: at the level float where numbers were worked out
    of them, at the level exact of a kernel whose values are not rational."""
    problem = certificate.problem
    if certificate.level == "float":
        return _rounds(problem)
    return certificate.level == "exact" and _given_exactly(problem) and has_rounded_kernel(problem)


def _rounds(problem: Problem) -> bool:
    """Whether the level float speaks of rounded data. The entries of rows and the values of a kernel are judged as
    those that were given; numbers that were worked out of them, such as the moments of classes, as the doubles that
    they are."""
    judged = any(rows.rounding for b in problem.blocks for rows in b.entries.values()) or has_blurred_kernel(problem)
    return _given_exactly(problem) and not judged


def _given_exactly(problem: Problem) -> bool:
    """Whether some entry of the data was given as a number that doubles round."""
    return problem.data is not None and problem.data.exact_matrix is not None


def bounds_formula(c: Certificate) -> str | None:
    """The optimum between its bounds as LaTeX; None where there is no optimum."""
    if c.status != "optimal":
        return None
    if c.optimum is not None:
        return rf"$$f^{{\star}} = {rational_text(c.optimum)}$$"
    return rf"$${float(c.lower):.10g} \le f^{{\star}} \le {float(c.upper):.10g}$$"


def conditions(c: Certificate) -> list[str]:
    """A line for each condition: whether it holds, how well, what it says, where it is worst."""
    if c.kkt is None:
        return []
    out = []
    for name, value in c.kkt.measures().items():
        verdict = "holds" if value <= c.tol else "FAILS"
        out.append(f"  {verdict}  {name:<24}{value:9.1e}   {MEASURES[name]}{_worst(c, name)}")
    return out


def _worst(c: Certificate, name: str) -> str:
    residual = getattr(c.kkt, name.replace(" ", "_"), None)
    if residual is None or residual.relative == 0:
        return ""
    features = () if c.problem.data is None else c.problem.data.features
    return f" (worst at {worst_at(residual, features, brief=True)})"


def worst_at(residual: Residual, features: Sequence[str], brief: bool = False) -> str:
    """Where a condition is worst: a feature, or a row of a constraint; ``brief`` where lines are full already."""
    if not residual.relative_values:
        return "no constraints"
    if residual.relative == 0:
        return "exact"
    block, row = residual.worst
    size = residual.relative_values[block].size
    if block == "coef" and size == len(features):
        return f"{'' if brief else 'coef of '}{shorten(features[row], 30)}"
    return block if size == 1 else f"{block}{' ' if brief else ', row '}{row}"


def samples_that_matter(c: Certificate) -> list[str]:
    """The samples with positive multipliers, the largest first: without them the answer would be another."""
    data, margin = c.problem.data, (c.multipliers or {}).get("margin")
    if data is None or c.x is None or not c.multipliers or margin is None:
        return []
    rows = c.problem.support_from(c.problem.split(c.x), c.multipliers)
    total = any(block.relation == "==" for block in c.problem.constraints)  # a sum over all samples: each one matters
    if not rows.size or total or margin.size != data.n:
        return []
    largest = sorted(rows.tolist(), key=lambda i: -margin[i])
    shown = listed((f"{i} ({margin[i]:.4g})" for i in largest), MAX_SAMPLES_NAMED, MORE)
    return paragraph(
        f"What holds the answer in place are {rows.size} of {margin.size} samples (row and multiplier, largest first): "
        f"{shown}. All others could be left out without changing it."
    )


def _infeasible(c: Certificate) -> list[str]:
    weights = _contradiction(c)
    residual = 0.0 if c.exact is not None or c.farkas is None else c.farkas.residual
    lines = paragraph(
        f"INFEASIBLE{_in_rationals(c)}. No point satisfies all constraints of this problem ({c.problem.name}). "
        "Multiplied and added up as below, they say that 0 is at most a negative number: the left sides cancel "
        f"{_exactness(residual)}."
    )
    for name, rows in weights.items():
        shown = listed((f"row {i}: {value}" for i, value in rows.items()), MAX_ROWS_NAMED, MORE)
        lines.append(f"  {name}: {shown}")
    if c.problem.kind == "perceptron" and set(weights) == {"normalization"}:
        free = " and sum_i y_i = 0" if "intercept" in c.problem.layout else ""
        lines += paragraph(
            "The normalization asks for margins that add up to the number of samples, but here those of every "
            f"hyperplane add up to 0: sum_i y_i x_i = 0{free} (samples counted by their weights), as where both "
            "classes have the same weight and the same mean. So no hyperplane has all samples on their right "
            "side or on it, and one of them off it: the classes cannot be separated. normalization=None drops the "
            "equation."
        )
    if c.problem.kind == "fisher":
        lines += paragraph(
            "The means of the classes are equal, so no direction has them apart: Fisher's discriminant has no "
            "direction. Classes that differ in their spread, not in their means, need other features, such as squares."
        )
    data = c.problem.data
    if data is not None and data.signs is not None and {block.name for block in c.problem.constraints} == {"margin"}:
        count = len(weights.get("margin", {}))
        lines.append(
            "With these weights, divided by their sum in each class, a point of one class's hull equals one of "
            f"the\nother's: the hulls meet, and {count} samples prove it."
            if "intercept" in c.problem.layout
            else f"With these weights the samples y_i x_i average to zero: {count} samples prove it."
        )
    return lines


def _contradiction(c: Certificate) -> dict[str, dict[int, str]]:
    """The multipliers of the contradiction by block and row, as text."""
    if c.exact is not None:
        return {
            name: {i: rational_text(value, 30) for i, value in sorted(rows.items()) if value}
            for name, rows in c.exact.multipliers.items()
            if rows
        }
    assert c.farkas is not None
    used = {name: np.flatnonzero(z).tolist() for name, z in c.farkas.multipliers.items()}
    return {name: {i: f"{c.farkas.multipliers[name][i]:.6g}" for i in rows} for name, rows in used.items() if rows}


def _in_rationals(c: Certificate) -> str:
    return ", proved in exact arithmetic" if c.exact is not None else ""


def _exactness(residual: float) -> str:
    return "exactly" if residual == 0 else f"to {residual:.0e} of what is added up"


def _unattained(c: Certificate) -> list[str]:
    head = f"UNATTAINED{_in_rationals(c)}. "
    ways = _ways(c)
    if c.direction is None or c.direction.slope < 0:
        side, moves = ("lower", "falls") if c.problem.sense == "min" else ("upper", "grows")
        rate = "" if c.direction is None else f", at the rate {c.problem.reported(c.direction.slope):.6g}"
        return [
            *paragraph(
                f"{head}The objective of this problem ({c.problem.name}) has no {side} bound: along this direction it "
                f"{moves} for ever{rate}:"
            ),
            *(_inseparable(c) or ways),
        ]
    if words := c.problem.unattained_words:
        said = f"{head}This problem ({c.problem.name}) has no minimiser: the objective falls for ever along this:"
        return [*paragraph(said), *ways, words]
    rows = c.direction.rows
    total = sum(t.weights.size for t in c.problem.terms)
    kind = "every sample" if rows.size == total else f"{rows.size} of {total} samples"
    said = (
        f"{head}This problem ({c.problem.name}) has no minimiser: along this direction no loss grows, and the losses "
        f"of {kind} keep falling, so the objective only approaches its infimum (separated classes):"
    )
    return [*paragraph(said), *ways, "A penalty (l2 > 0) makes the minimum exist."]


def _inseparable(c: Certificate) -> list[str]:
    """What an unbounded Wolfe dual says of the samples."""
    if c.problem.kind != "kernel" or c.direction is None:
        return []
    used = np.flatnonzero(c.direction.x)
    shown = listed((f"row {i}: {c.direction.x[i]:.6g}" for i in used), MAX_ROWS_NAMED, MORE)
    meaning = (
        "divided by their sum in each class, a point of one class's hull equals one of the other's"
        if any(b.name == "intercept" for b in c.problem.constraints)
        else "the samples, those of the first class negated, average to zero"
    )
    return [
        f"  margin: {shown}",
        "No hyperplane in the feature space of the kernel separates the classes (the primal is infeasible): with these",
        f"weights, {meaning}.",
        f"The curvature along it is zero {_exactness(c.direction.residual)}. With C, a soft margin, a maximum exists.",
    ]


def _ways(c: Certificate) -> list[str]:
    """The direction by variable; of several classes by class."""
    if c.direction is None:  # found by the exact level alone
        parts = c.exact.direction.items()
        return [f"  {name}: ({', '.join(rational_text(v, 24) for v in values[:8])})" for name, values in parts]
    labels = () if c.problem.data is None else c.problem.data.labels or ()
    out = []
    for name, v in c.problem.split(c.direction.x).items():
        if np.any(v):
            by_class = len(labels) > 2 and name in ("coef", "intercept") and v.size % len(labels) == 0
            for label, part in zip(labels, v.reshape(len(labels), -1), strict=True) if by_class else [(None, v)]:
                of = "" if label is None else f" of {label!r}"
                out.append(f"  {name}{of}: " + np.array2string(part + 0.0, precision=4, threshold=8))
    return out


def _undecided(c: Certificate) -> list[str]:
    lines = [f"UNDECIDED. This answer ({c.problem.name}) is not proved: {c.reason or 'no proof was found'}."]
    return lines + conditions(c)


def level_words(c: Certificate) -> list[str]:
    """What the level adds to the verdict; nothing at the level ``float``."""
    if c.exact is not None:
        return _exact(c)
    if c.enclosure is not None:
        return _enclosed(c)
    return _bounded(c) if c.bounds is not None else []


def _bounded(c: Certificate) -> list[str]:
    verdict = f"UNDECIDED: {c.reason}" if c.status == "undecided" else "OPTIMAL, proved despite rounding"
    distance = c.bounds.distance
    lines = [
        *paragraph(f"{verdict}. The optimum of this problem ({c.problem.name}) lies between"),
        f"  {float(c.lower):.17g}   the dual objective of multipliers made exactly feasible, rounded down, and",
        f"  {float(c.upper):.17g}   the objective of a point made exactly feasible, rounded up:",
        f"a relative width of {c.width:.1e}. Every sum in both was taken with a bound on its rounding error.",
    ]
    if distance is not None:
        lines.append(f"The coefficients are within {distance:.1e} (Euclidean distance) of the true minimiser.")
    lines += [f"  {reason}" for reason in c.bounds.reasons]
    if c.kkt is not None:
        lines += ["The conditions as measured in floating point:", *conditions(c)]
    return lines + (samples_that_matter(c) if c.status == "optimal" else [])


def _exact(c: Certificate) -> list[str]:
    proof = c.exact
    if c.status != "optimal":
        return []
    optimum = c.optimum
    assert optimum is not None
    lines = [
        f"OPTIMAL, proved in exact arithmetic. The optimum of this problem ({c.problem.name}) is",
        f"  {rational_text(optimum)}",
        *paragraph(
            "on the data as given: a double is the dyadic rational that it is, decimals are what they say. The point "
            "satisfies every constraint, no multiplier has the wrong sign, the gradient of the Lagrangian is 0, and "
            "every multiplier is positive only where its constraint is tight. So primal and dual objective are the "
            f"same rational number: the gap is {proof.gap}."
        ),
    ]
    if "coef" in proof.point and len(proof.point["coef"]) <= MAX_SAMPLES_NAMED:
        shown = ", ".join(rational_text(value, 30) for value in proof.point["coef"])
        lines.append(
            f"  coef = ({shown})"
            + (f", intercept = {rational_text(c.intercept, 30)}" if "intercept" in proof.point else "")
        )
    for name, rows in proof.multipliers.items():
        if rows and name != "slack_sign":
            largest = sorted(rows, key=lambda i: -abs(rows[i]))
            shown = listed((f"row {i}: {rational_text(rows[i], 24)}" for i in largest), MAX_SAMPLES_NAMED, MORE)
            lines.append(f"  multipliers of {name}: {shown}")
    return [*lines, *_in_doubles(c)]


def _enclosed(c: Certificate) -> list[str]:
    e = c.enclosure
    lines = [
        f"OPTIMAL, enclosed between rationals. The optimum of this problem ({c.problem.name}) is",
        f"  {e.optimum_text}" + (f" = sqrt({rational_text(e.root.square)})" if e.root is not None else ""),
        "on the data as given, with every digit proved; it is no rational number.",
    ]
    for v in c.problem.variables:
        if v.name in e.coefficients and v.size <= MAX_SAMPLES_NAMED:
            lines.append(f"  {v.name}: {', '.join(e.text(v.name))}")
    return [*lines, *paragraph(f"{e.proof}."), *_in_doubles(c)]


def _in_doubles(c: Certificate) -> list[str]:
    """A warning where doubles have no room for the solution."""
    if c.kkt is None or c.kkt.holds(c.tol) or ATTAINED in c.notes:
        return []
    bounds = c.kkt.bounds()
    worst = max(bounds, key=lambda name: bounds[name])
    return paragraph(
        "This is proved of the numbers above, not of their nearest doubles, which is what a solution's coef, intercept "
        f"and values are: rounded so, {worst} may be {bounds[worst]:.1e}, above the tolerance {c.tol:.0e}."
    )
