"""From a claim to its appraisal: measure the estimator's point, bound the optimum, say how far apart they are.

The lower bound holds whoever made the multipliers, for it is checked and not believed. So where the estimator's own
give a poor one, the toolkit solves the same program and takes its multipliers:

    objective at the estimator's point - lower bound of the best multipliers  >=  objective - optimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from convexcls.arrays import Array
from convexcls.fits.appraisal import Appraisal, relative, verdict_on
from convexcls.fits.bounds import Interval, bounds, exact_optimum
from convexcls.fits.claim import Claim
from convexcls.fits.rebuilding import rebuilt
from convexcls.problem import Problem
from convexcls.proofs.certificate import Certificate, Status
from convexcls.proofs.kkt.attainment import PROOF, attainment, needs_attainment_proof
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.residuals import KKT
from convexcls.solution import Solution
from convexcls.solve import solve
from convexcls.solvers import SolverRefused

#: Constraints that are violated by more than this, relatively, are called violated.
FEASIBLE = 1e-6
#: An estimator's point is called optimal where every condition holds to this relative tolerance.
OPTIMAL = 1e-8


#: A program is solved where its data have at most so many entries.
MODERATE = 4_000_000
#: Samples of a kernel machine that is solved.
MODERATE_KERNEL = 4000
#: What is asked of the solution.
TOLERANCE = 1e-9


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
    findings = [*claim.findings, *_existence(problem, own), *_suspicion(claim, found, own)]
    if claim.tell is not None:
        findings += claim.tell(own)
    if level == "exact" != found.level:
        findings.append(f"the optimum is not proved in exact arithmetic{_no_proof(own)}")
    if found.level == "float" != level:
        findings.append(f"the bounds are as computed, not proved against rounding{_why_not(claim, multipliers)}")
    return Appraisal(
        estimator=estimator,
        problem=problem,
        named=claim.named,
        **{name: value for name, value in vars(found).items() if name != "theirs"},
        verdict="; ".join([_verdict(claim, kkt, found, own), *claim.remarks]),
        findings=tuple(findings),
        kkt=kkt,
        certificate=_certificate(problem, x, multipliers, kkt, found.theirs),
        point=np.array(x),
        multipliers=multipliers,
        source=source,
        subject=claim.subject,
        stretch=_stretch(claim, kkt, found.theirs),
        proof=own,
    )


def _stretch(claim: Claim, kkt: KKT, theirs: Interval) -> float:
    """By what the point was multiplied to satisfy its constraints; 1 where it does, but for rounding."""
    if claim.by_dual or kkt.primal_feasibility.relative <= FEASIBLE or theirs.objective(by_dual=False) is None:
        return 1.0
    return float(theirs.found.stretch)


def _verdict(claim: Claim, kkt: KKT, found: _Found, own: Solution | None) -> str:
    """How far the fit is from the optimum. A point that violates its constraints may have any objective: then it is
    the multiple of it that does not which is judged, where there is one."""
    words = verdict_on(claim.problem, found.objective, found.lower, own)
    broken = kkt.primal_feasibility
    if claim.by_dual or broken.relative <= FEASIBLE or (own is not None and own.status == "infeasible"):
        return words
    block, row = broken.worst
    violated = f"violates its constraints by up to {broken.max:.2g} ({block}[{row}])"
    if found.theirs.found is None:
        return violated
    if found.theirs.objective(by_dual=False) is None:
        return f"{violated}, and so does every multiple of it"
    return f"{violated}; {found.theirs.found.stretch:.6g} times it does not, and is {words}"


def _bounded(
    claim: Claim, multipliers: Mapping[str, Array], kkt: KKT, own: Solution | None, level: str, source: str
) -> _Found:
    """The objective of the estimator's point and the best bounds on the optimum, as a minimum, at the level asked for
    or the next below at which there are any: a matrix may be too large to be looked at, an optimum irrational."""
    exactly = exact_optimum(own) if level == "exact" else None
    if exactly is not None:
        found = _at_level(claim, multipliers, kkt, own, "rigorous", source)
        lower, upper = (-exactly.upper, -exactly.lower) if claim.by_dual else (exactly.lower, exactly.upper)
        return replace(found, lower=lower, upper=upper, bound_by="the optimum in exact arithmetic", level="exact")
    found = _at_level(claim, multipliers, kkt, own, "float" if level == "float" else "rigorous", source)
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
    known = measure.objective(claim.by_dual)
    if known is None:  # a point that violates its constraints has no objective that could be compared
        broken = not claim.by_dual and kkt.primal_feasibility.relative > FEASIBLE
        known = np.inf if broken else computed
    objective = float(known)
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
    bounded = interval.found if abs(getattr(interval.found, "stretch", 1.0) - 1.0) <= FEASIBLE else None  # of x itself
    status: Status = "undecided" if short else "optimal"
    reason, notes = "; ".join(short), problem.notes
    judged = Certificate(status, problem, OPTIMAL, kkt, None, None, attained, reason, notes, x, multipliers)
    return judged if bounded is None else replace(judged, level="rigorous", bounds=bounded)


def _why_not(claim: Claim, multipliers: Mapping[str, Array]) -> str:
    reasons = getattr(bounds(claim.problem, claim.point, multipliers, "rigorous").found, "reasons", ())
    return f": {reasons[0]}" if reasons else ""


def _no_proof(own: Solution | None) -> str:
    if own is None:
        return ": the program is too large to be solved here"
    reason = own.certify(level="exact").reason
    return f": {reason}" if reason else ""


def _existence(problem: Problem, own: Solution | None) -> list[str]:
    """Where the program has no solution at all."""
    if own is None or own.status not in ("unattained", "infeasible"):
        return []
    if own.status == "infeasible":
        return ["no point satisfies the constraints: the program has no solution"]
    if any(t.loss.name in ("logistic", "softmax") for t in problem.terms):
        return [
            "the maximum-likelihood estimate does not exist: the classes are separated and the coefficients grow "
            "without end, until the solver gives up; a penalty makes it exist"
        ]
    return ["the program has no minimiser: its objective falls for ever along a direction"]


def _suspicion(claim: Claim, found: _Found, own: Solution | None) -> list[str]:
    """Where the fit is farther from the optimum than its stopping rule explains: by how much, and in which unknown."""
    above = found.objective - found.upper
    if own is None or own.x is None or own.status != "optimal" or not np.isfinite(above):
        return []
    least = relative(above, found.upper, claim.problem)
    allowed = claim.allowed + claim.slope * float(np.abs(claim.point - own.x).sum())
    if above <= allowed or least <= claim.usual:
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
    slacks = {e.variable for e in problem.epigraphs}
    names = [v.name for v in problem.variables if v.name not in slacks]
    reach = np.zeros(problem.size)
    for block in (*problem.terms, *problem.constraints):
        reach = np.maximum(reach, problem.rows(block).column_max())
    difference = np.abs(claim.point - own.x) * np.where(reach > 0, reach, 1.0)
    name = max(names, key=lambda v: float(difference[problem.layout[v]].max(initial=0.0)))
    where = problem.layout[name]
    k = int(np.argmax(difference[where]))
    here, there = claim.point[where][k], own.x[where][k]
    return f"{name}[{k}] is {here:.6g}, in the toolkit's solution {there:.6g}"


# ---- the toolkit's own solution -------------------------------------------------------------------------


def own_solution(problem: Problem) -> Solution | None:
    """The solution, where the program is of moderate size; its verdict may be anything."""
    kernel = any(not isinstance(p, np.ndarray) for p in problem.quadratic.values())
    entries = sum(problem.rows(b).entries for b in (*problem.terms, *problem.constraints))
    if (kernel and problem.size > MODERATE_KERNEL) or entries > MODERATE:
        return None
    try:
        return solve(problem, tol=TOLERANCE).unless_interrupted()
    except SolverRefused:
        return None
