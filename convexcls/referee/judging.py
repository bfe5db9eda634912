"""From a claim to its appraisal: measure the estimator's point, bound the optimum, say how far apart they are.

The lower bound holds whoever made the multipliers, for it is checked and not believed. So where the estimator's own
give a poor one, the toolkit solves the same program and takes its multipliers:

    objective at the estimator's point - lower bound of the best multipliers  >=  objective - optimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate import KKT, Certificate, check_kkt
from convexcls.certificate.attainment import PROOF, attainment, needs_attainment_proof
from convexcls.problem import Problem
from convexcls.referee.appraisal import Appraisal, relative
from convexcls.referee.bounds import Interval, bounds
from convexcls.referee.claim import Claim, raised_variables
from convexcls.referee.own import own_solution
from convexcls.referee.rebuilding import rebuilt
from convexcls.solution import Solution

Array = NDArray[np.float64]

#: An estimator's point is called optimal where every condition holds to this relative tolerance.
OPTIMAL = 1e-8


@dataclass(frozen=True)
class _Found:
    """What is known of a claim before it is put in words."""

    objective: float
    lower: float
    upper: float
    bound_by: str
    level: str
    theirs: Interval


def judge(claim: Claim, estimator: str, level: str) -> Appraisal:
    """The appraisal of one claim."""
    problem, x = claim.problem, claim.point
    multipliers = rebuilt(problem, x) if claim.multipliers is None else dict(claim.multipliers)
    source = claim.source or "rebuilt from the point"
    kkt = check_kkt(problem, x, multipliers)
    own = own_solution(problem)
    found = _bounded(claim, multipliers, kkt, own, level, source)
    from convexcls.referee.words import verdict_on

    findings = [*claim.findings, *_existence(problem, own), *_suspicion(claim, found, own)]
    if claim.tell is not None:
        findings += claim.tell(own)
    if found.level != level:
        findings.append(f"the bounds are as computed, not proved against rounding{_why_not(claim, multipliers)}")
    return Appraisal(
        estimator=estimator,
        problem=problem,
        named=claim.named,
        objective=found.objective,
        lower=found.lower,
        upper=found.upper,
        verdict="; ".join([verdict_on(problem, found.objective, found.lower, own), *claim.remarks]),
        findings=tuple(findings),
        kkt=kkt,
        certificate=_certificate(problem, x, multipliers, kkt, found.theirs),
        point=np.array(x),
        multipliers=multipliers,
        source=source,
        bound_by=found.bound_by,
        level=found.level,
        subject=claim.subject,
        proof=own,
    )


def _bounded(
    claim: Claim, multipliers: Mapping[str, Array], kkt: KKT, own: Solution | None, level: str, source: str
) -> _Found:
    """The objective of the estimator's point and the best bounds on the optimum, as a minimum. Where nothing can be
    proved against rounding, as for a matrix that is too large to be looked at, they are as they were computed."""
    found = _at_level(claim, multipliers, kkt, own, level, source)
    if level == "float" or np.isfinite(found.lower):
        return found
    return _at_level(claim, multipliers, kkt, own, "float", source)


def _at_level(
    claim: Claim, multipliers: Mapping[str, Array], kkt: KKT, own: Solution | None, level: str, source: str
) -> _Found:
    theirs = measure = bounds(claim.problem, claim.point, multipliers, level)
    ours = Interval(-np.inf, np.inf)
    if own is not None and own.x is not None and own.multipliers.keys() >= multipliers.keys():
        ours = bounds(claim.problem, own.x, own.multipliers, level)
    if claim.by_dual:  # the program is a maximum: bounds from above and from below change places
        theirs, ours = Interval(-theirs.upper, -theirs.lower), Interval(-ours.upper, -ours.lower)
    by = f"the multipliers {source}"
    if own is not None and ours.lower > theirs.lower:
        by = f"the multipliers of the toolkit's own solution ({own.solver})"
    computed = -kkt.dual_objective if claim.by_dual else kkt.objective
    objective = theirs.upper if np.isfinite(theirs.upper) else computed
    return _Found(objective, max(theirs.lower, ours.lower), min(theirs.upper, ours.upper), by, level, measure)


def _certificate(
    problem: Problem, x: Array, multipliers: Mapping[str, Array], kkt: KKT, interval: Interval
) -> Certificate:
    """The toolkit's verdict on the estimator's point."""
    attained = attainment(problem, x, multipliers) if needs_attainment_proof(problem) else None
    short = [
        f"{name} is {value:.1e}, above the tolerance {OPTIMAL:.0e}"
        for name, value in kkt.measures().items()
        if not value <= OPTIMAL
    ]
    if attained is not None and attained < PROOF:
        short.append("that a minimum exists is not proved")
    return Certificate(
        "undecided" if short else "optimal",
        problem,
        OPTIMAL,
        kkt,
        attained=attained,
        reason="; ".join(short),
        notes=tuple(getattr(problem, "notes", ())),
        x=x,
        multipliers=multipliers,
        level="float" if interval.found is None else "rigorous",
        bounds=interval.found,
    )


def _why_not(claim: Claim, multipliers: Mapping[str, Array]) -> str:
    reasons = getattr(bounds(claim.problem, claim.point, multipliers, "rigorous").found, "reasons", ())
    return f": {reasons[0]}" if reasons else ""


def _existence(problem: Problem, own: Solution | None) -> list[str]:
    """Where the program has no solution at all."""
    if own is None or own.status not in ("unattained", "infeasible"):
        return []
    if own.status == "infeasible":
        return ["no point satisfies the constraints: the program has no solution"]
    if any(t.loss.name in ("logistic", "softmax") for t in problem.terms):
        return ["the maximum-likelihood estimate does not exist: the classes are separated and the coefficients grow "
                "without end, until the solver gives up; a penalty makes it exist"]  # fmt: skip
    return ["the program has no minimiser: its objective falls for ever along a direction"]


def _suspicion(claim: Claim, found: _Found, own: Solution | None) -> list[str]:
    """Where the fit is farther from the optimum than its stopping rule explains: by how much, and in which unknown."""
    above = found.objective - found.upper
    least = relative(above, found.upper, claim.problem)
    explained = above <= claim.allowed or least <= claim.usual
    if own is None or own.x is None or own.status != "optimal" or explained:
        return []
    much = f"the objective is at least {100 * least:.3g}% above the optimum"
    where = _farthest(claim, own)
    if claim.rule:
        return [
            f"{much}: the learning rule has not settled; more passes, smaller steps or scaled features help ({where})"
        ]
    return [
        f"{much}, more than the stopping rule explains: the fit ended early, it was changed afterwards, or X, y and "
        f"the weights are not those of the fit ({where})"
    ]


def _farthest(claim: Claim, own: Solution) -> str:
    """The unknown that differs most from the toolkit's solution, in units of its column."""
    problem = claim.problem
    assert own.x is not None
    names = [v.name for v in problem.variables if v.name not in raised_variables(problem)]
    reach = np.zeros(problem.size)
    for block in (*problem.terms, *problem.constraints):
        reach = np.maximum(reach, problem.rows(block).column_max())
    difference = np.abs(claim.point - own.x) * np.where(reach > 0, reach, 1.0)
    name = max(names, key=lambda v: float(difference[problem.layout[v]].max(initial=0.0)))
    where = problem.layout[name]
    k = int(np.argmax(difference[where]))
    here, there = claim.point[where][k], own.x[where][k]
    return f"{name}[{k}] is {here:.6g}, in the toolkit's solution {there:.6g}"
