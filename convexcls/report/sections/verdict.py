"""The verdict and the numbers that go with it, at a glance."""

from __future__ import annotations

from convexcls.certificate.level_words import rational_text
from convexcls.report.markup import Content, Html, facts, join, safe, tag
from convexcls.report.reading import (
    certified,
    conic_of,
    has_support,
    intercept_value,
    interval,
    solved,
)
from convexcls.report.text import count, number, seconds, small
from convexcls.solution import Solution

#: A verdict is told by its sign and its word; the colour only repeats them.
SIGNS = {"optimal": "✓", "infeasible": "∅", "unattained": "∞", "undecided": "?"}
MEANING = {
    "optimal": "this is a minimiser, and no other point does better",
    "infeasible": "no point satisfies all constraints",
    "unattained": "there is no minimiser: along a direction the objective falls for ever",
    "undecided": "this answer is not proved",
}


def badge(status: str) -> Html:
    """A verdict in a word."""
    return tag("strong", f"{SIGNS[status]} {status.upper()}", class_=f"badge {status}")


def verdict_line(solution: Solution) -> Html:
    """The verdict, what it means and how well it is proved."""
    certificate = solution.certificate
    how: Content = "on the data as given"
    if certificate.level != "float":
        how = {"rigorous": "despite rounding", "exact": "in exact arithmetic"}[certificate.level]
    elif solution.status == "optimal":
        how = join(["to the tolerance ", tag("span", f"{certificate.tol:.0e}", class_="unbroken")])
    meaning = MEANING[solution.status]
    if solution.problem.sense == "max":
        meaning = meaning.replace("minimiser", "maximiser").replace("falls", "grows")
    proved = ["; proved ", how, "."] if certified(solution) else ["."]
    return tag("p", badge(solution.status), " ", meaning, *proved, class_="verdict")


def numbers(solution: Solution) -> Html:
    """The objective, its bound, and who found it how fast."""
    pairs: list[tuple[str, Content]] = []
    if solved(solution):
        pairs += _optimum(solution)
        intercept = intercept_value(solution)
        if intercept is not None:
            pairs.append(("intercept", _intercept(solution, intercept)))
        if has_support(solution):
            pairs.append(("support points", f"{solution.support.size} of {solution.data.n}"))
        if (boundary := conic_of(solution)) is not None:
            pairs.append(("boundary", str(boundary)))
    steps = f", {count(solution.iterations, 'step')}" if solution.iterations else ""
    pairs.append(("solver", f"{solution.solver}{steps}, {seconds(solution.seconds)} s"))
    return facts(pairs)


def _optimum(solution: Solution) -> list[tuple[str, Content]]:
    certificate = solution.certificate
    if certificate.optimum is not None:
        return [("optimum", rational_text(certificate.optimum)), ("duality gap", "0, without rounding")]
    if certificate.enclosure is not None:
        return [("optimum", certificate.enclosure.optimum_text), ("objective found", number(solution.objective))]
    pairs: list[tuple[str, Content]] = []
    if certificate.bounds is not None:
        low, high = float(certificate.lower), float(certificate.upper)
        pairs.append(("optimum between", f"{low:.17g} and {high:.17g}"))
    relative = "" if certificate.kkt is None else f" (relative {small(certificate.kkt.relative_gap)})"
    return [
        *pairs,
        ("objective", number(solution.objective)),
        ("dual bound", number(solution.dual_objective)),
        ("duality gap", f"{small(solution.gap)}{relative}"),
    ]


def _intercept(solution: Solution, value: float) -> Html:
    if solution.status == "optimal":
        low, high = interval(solution)
        if high - low > 1e-6 * max(1.0, abs(value)):
            return safe(f"{number(value)}; every other in [{number(low)}, {number(high)}] is as good")
    return safe(number(value))
