"""Appraisals told in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import BY_SAMPLE, Problem
from convexcls.proofs.kkt.measures import Residual
from convexcls.proofs.words import MEANING, worst_at
from convexcls.referee.appraisal import Appraisal, relative
from convexcls.solution import Solution

Array = NDArray[np.float64]

#: A fit that is so near to the optimum is called optimal to rounding.
ROUNDING = 1e-12
#: So many samples are named for a condition.
NAMED = 5


def verdict_on(problem: Problem, objective: float, lower: float, own: Solution | None) -> str:
    """How far the objective of the fit is from the optimum, at most."""
    if own is not None and own.status == "infeasible":
        return "the program that it solves has no feasible point"
    above = max(objective - lower, 0.0)
    share = relative(above, objective, problem)
    if own is not None and own.status == "unattained":
        return f"the program has no minimiser; at most {above:.2g} above its infimum"
    if not np.isfinite(above):
        return "no bound on the distance from the optimum was found"
    if share <= ROUNDING:
        return f"optimal to rounding (at most {above:.1e} above the optimum, relative {share:.1e})"
    return f"within {above:.2g} of optimal (relative {share:.1e})"


def explained(a: Appraisal) -> str:
    """A paragraph, a table by condition, the samples that matter, the findings."""
    of = f" ({a.subject})" if a.subject else ""
    lines = [f"{a.estimator}{of}: {a.verdict}.", *_paragraph(a), "", *_table(a), *_samples(a)]
    if a.findings:
        lines += ["", "What is off:", *(f"  - {finding}" for finding in a.findings)]
    return "\n".join(lines)


def _paragraph(a: Appraisal) -> list[str]:
    """What was solved, what the fit reaches, what nobody can undercut, and how we know."""
    certain = {
        "float": "as far as floating point can tell",
        "rigorous": "despite all rounding",
        "exact": "in exact arithmetic",
    }[a.level]
    out = [
        f"{a.named}.",
        f"{_where(a)} the objective of this program is {a.objective:.12g}. By weak duality no feasible",
        f"point lies below {a.lower:.12g}, "
        f"{certain}: that bound comes from {a.bound_by or 'multipliers'}"
        f"{'' if a.level == 'exact' else ', and it holds whoever made them'}.",
    ]
    if np.isfinite(a.suboptimality):
        least = a.suboptimality_at_least
        between = f"between {least:.3g} and" if least > 0 else "at most"
        fit = "the fit" if a.stretch == 1.0 else f"{a.stretch:.6g} times the fit, not the fit itself,"
        out.append(f"So {fit} lies {between} {a.suboptimality:.3g} above the optimum.")
    if a.distance is not None and np.isfinite(a.distance):
        out.append(f"As the objective is strongly convex, coef is within {a.distance:.3g} of the only best one.")
    out.append(f"The optimality conditions at the fitted point, with the multipliers {a.source}:")
    return out


def _where(a: Appraisal) -> str:
    """Where the objective is taken: a point that violates its constraints has none that could be compared."""
    if a.stretch == 1.0:
        return "At the fitted parameters"
    return f"The fitted parameters violate the constraints; at {a.stretch:.6g} times them, which do not,"


def _table(a: Appraisal) -> list[str]:
    """A line for each condition: largest residual, relative one, where it is, what the condition means."""
    features = getattr(getattr(a.problem, "data", None), "features", ())
    lines = [f"  {'condition':<24}{'largest':>10}{'relative':>10}  {'where':<20}meaning"]
    for name, share in a.kkt.measures().items():
        residual: Residual | None = getattr(a.kkt, name.replace(" ", "_"), None)
        largest = a.kkt.gap if residual is None else residual.max
        where = "-" if residual is None or residual.max == 0 else worst_at(residual, features)
        lines.append(f"  {name:<24}{largest:>10.1e}{share:>10.1e}  {where:<20}{MEANING[name]}")
    return lines


def _samples(a: Appraisal) -> list[str]:
    """The samples that matter: those that hold the answer, and those at which a condition fails most."""
    lines: list[str] = []
    constraint = next((c for c in a.problem.constraints if c.name == "margin"), None)
    weights = a.multipliers.get("margin") if constraint is not None else None
    if a.problem.variables[0].name == "margin":  # a kernel machine: its unknowns are the multipliers
        weights = a.point
    if weights is not None and weights.size:
        held = np.flatnonzero(np.abs(weights) > 1e-9 * np.abs(weights).max(initial=0.0))
        top = held[np.argsort(-np.abs(weights[held]), kind="stable")[:NAMED]]
        shown = ", ".join(f"{i} ({weights[i]:.4g})" for i in top)
        most = f"; the largest multipliers: {shown}" if shown else ""
        lines.append(f"Samples that hold the answer: {held.size} of {weights.size}{most}.")
    lines += _worst_rows(a, a.kkt.complementary_slackness, "complementary slackness")
    lines += _worst_rows(a, a.kkt.dual_feasibility, "the sign of the multipliers")
    if not a.problem.constraints and a.problem.terms:
        lines += _largest_losses(a)
    return ["", *lines] if lines else []


def _worst_rows(a: Appraisal, residual: Residual, what: str) -> list[str]:
    """The samples with the largest relative residual of a condition, block by block."""
    out = []
    kinds = {b.name: b.kind for b in a.problem.constraints}
    for block, values in residual.relative_values.items():
        worst = np.argsort(-values, kind="stable")[:NAMED]
        worst = worst[values[worst] > 1e-9]
        if worst.size and kinds.get(block) in BY_SAMPLE:
            shown = ", ".join(f"{i} ({residual.values[block][i]:.1e})" for i in worst)
            out.append(f"Samples farthest from {what} ({block}): {shown}.")
    return out


def _largest_losses(a: Appraisal) -> list[str]:
    """Where there are no constraints: the samples that pull hardest."""
    term = a.problem.terms[0]
    u = a.problem.rows(term) @ a.point + term.offset
    values = np.where(term.weights > 0, term.weights * term.loss.value(u), 0.0)
    top = np.argsort(-values, kind="stable")[:NAMED]
    shown = ", ".join(f"{i} ({values[i]:.4g})" for i in top if values[i] > 0)
    return [f"Samples with the largest losses: {shown}."] if shown else []
