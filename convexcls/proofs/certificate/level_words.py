"""Certificates of the levels above floating point, told in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convexcls.wording import listed, paragraph, rational_text

if TYPE_CHECKING:
    from convexcls.proofs.certificate.certificate import Certificate

MOST = 8
#: What is noted of an exact optimum where its point was checked in rationals.
ATTAINED = "the point shown, in doubles, attains the optimum to the tolerance; that was worked out in rationals"


def level_words(c: Certificate) -> list[str]:
    """What the level adds to the verdict; nothing at the level ``float``."""
    if c.exact is not None:
        return _exact(c)
    if c.enclosure is not None:
        return _enclosed(c)
    return _bounded(c) if c.bounds is not None else []


def _bounded(c: Certificate) -> list[str]:
    from convexcls.proofs.certificate.words import conditions, samples_that_matter

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
    if "coef" in proof.point and len(proof.point["coef"]) <= MOST:
        shown = ", ".join(rational_text(value, 30) for value in proof.point["coef"])
        lines.append(
            f"  coef = ({shown})"
            + (f", intercept = {rational_text(c.intercept, 30)}" if "intercept" in proof.point else "")
        )
    for name, rows in proof.multipliers.items():
        if rows and name != "slack_sign":
            largest = sorted(rows, key=lambda i: -abs(rows[i]))
            shown = listed((f"row {i}: {rational_text(rows[i], 24)}" for i in largest), MOST, ", and {} more")
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
        if v.name in e.coefficients and v.size <= MOST:
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
