"""Certificates raised to the level ``exact`` (the optimum without rounding, in rationals or between rationals) or to
the level ``rigorous`` (bounds of the optimum that hold despite rounding); those of Gaussian classes, whose optimum is a
formula of moments, which are rational, to either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import NoAnswer, Problem
from convexcls.problem.slab import Slab
from convexcls.proofs.certificate import Certificate, Level
from convexcls.proofs.claims.curvature import has_rounded_kernel, vanishes_as_given
from convexcls.proofs.claims.direction import check_in_rationals
from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.optimum import ExactProof, widest
from convexcls.proofs.claims.rational_bounds import affordable, bounds_reached
from convexcls.proofs.claims.statement import NoProof
from convexcls.proofs.enclosure.enclose import enclose
from convexcls.proofs.enclosure.intervals import Enclosure, enclose_root
from convexcls.proofs.enclosure.moments import (
    Moments,
    enclose_moments,
    falling_direction,
    identity,
    least_value,
    matched,
    moments,
    value_at,
)
from convexcls.proofs.exact.prove import Solve, prove, prove_widest
from convexcls.proofs.kkt.attainment import needs_attainment_proof
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.rigorous import Bounds, bounds
from convexcls.proofs.rigorous.structure import Structure
from convexcls.proofs.separability import separation_of

#: Larger problems are not proved exactly where only bounds in doubles were asked for: rows times unknowns.
MAX_ENTRIES_PROVED_UNASKED = 20_000
#: More digits than doubles have.
ENOUGH_DIGITS = 20
BEYOND_RANGE = "the solution is known, but some of its numbers are beyond the range of doubles"


def or_undecided(c: Certificate, level: Level, prove: Callable[[], Certificate]) -> Certificate:
    """What is proved; that it is undecided, and why, where there is no proof."""
    try:
        return prove()
    except (NoProof, NoAnswer) as error:
        return replace(c, status="undecided", level=level, reason=str(error))
    except OverflowError:
        return replace(c, status="undecided", level=level, reason=BEYOND_RANGE)


def exactly(c: Certificate, digits: int, solve: Solve | None) -> Certificate:
    """The optimum, or that there is none."""
    return or_undecided(c, "exact", lambda: _exactly(c, digits, solve))


def _exactly(c: Certificate, digits: int, solve: Solve | None) -> Certificate:
    problem = c.problem
    if problem.is_quadratic_program:
        return proved(c, prove(problem, c.x, c.multipliers, solve))
    if (parts := widest(problem)) is not None:
        return _widest(c, parts, digits, solve)
    if c.status == "optimal":
        return replace(c, level="exact", enclosure=enclose(problem, c.x, digits))
    if (separated := _separated(problem)) is not None:
        return proved(c, separated)
    return enclosed(c, enclose(problem, c.x, digits))


def enclosed(c: Certificate, found: Enclosure, multipliers: Multipliers | None = None) -> Certificate:
    """The certificate of an enclosure, at the doubles in the middle of it."""
    return at(replace(c, status="optimal", level="exact", reason="", enclosure=found), found.middle, multipliers)


def refuted(c: Certificate, level: Level, solve: Solve | None) -> Certificate:
    """That there is no optimum, without rounding."""

    def prove_none() -> Certificate:
        found = _separated(c.problem) or _falling(c) or prove(c.problem, c.x, c.multipliers, solve)
        return replace(proved(c, found), level=level)

    return or_undecided(c, level, prove_none)


def _separated(problem: Problem) -> ExactProof | None:
    """That a likelihood has no maximum, by the separability of the classes: checked in rationals, by other code than
    that which found it."""
    view = separation_of(problem)
    direction = None if view is None else view.rational_direction()
    if direction is None:
        return None
    return _from_origin(problem, direction)


def _from_origin(problem: Problem, direction: Mapping[str, list[Fraction]]) -> ExactProof:
    """That the objective falls for ever from 0 on."""
    start = {name: [Fraction(0)] * len(values) for name, values in direction.items()}
    return ExactProof("unattained", problem, point=start, direction=direction)


def _falling(c: Certificate) -> ExactProof | None:
    """That a penalised likelihood has no maximum, by the direction at hand: where all samples with weight are of one
    class, the intercept alone runs away."""
    problem = c.problem
    if c.direction is None or problem.is_constrained or problem.is_quadratic_program:
        return None
    way = c.direction.exactly or [Fraction(v) for v in c.direction.x.tolist()]
    direction = {name: list(way[where]) for name, where in problem.layout.items()}
    return None if check_in_rationals(problem, direction) else _from_origin(problem, direction)


def _widest(c: Certificate, parts: Slab, digits: int, solve: Solve | None) -> Certificate:
    """The widest margin: a rational, or the root of one."""
    proof = prove_widest(parts, c.x, c.multipliers, solve)
    if isinstance(proof, ExactProof):
        return proved(c, proof)
    found = enclose_root(proof.square, proof.ray, digits, proof)
    return enclosed(replace(c, notes=_added(c, proof.notes)), found, proof.multipliers)


def _added(c: Certificate, notes: Sequence[str]) -> tuple[str, ...]:
    return (*c.notes, *(note for note in notes if note not in c.notes))


def proved(c: Certificate, proof: ExactProof) -> Certificate:
    """The certificate of an exact proof, with the doubles nearest to its rationals."""
    if reason := _true_of_doubles_only(c, proof):
        raise NoAnswer(reason)
    raised = replace(c, status=proof.verdict, level="exact", exact=proof, reason="", notes=_added(c, proof.notes))
    if proof.verdict != "optimal":
        return raised
    # slacks follow from the point: of a large problem those of the answer stay where there is one
    whole = len(proof.point) == len(c.problem.variables) or (c.x is not None and not affordable(c.problem))
    point = proof.point if whole else {**proof.point, **proof.slacks()}
    return at(raised, point, proof.multipliers)


def _true_of_doubles_only(c: Certificate, proof: ExactProof) -> str:
    """Why a proof on the values of a kernel as doubles (of exp, say, there are no others) does not stand for the kernel
    itself: these values, each off by its rounding, may have another optimum. Empty where all is well."""
    if not has_rounded_kernel(c.problem):
        return ""
    name, spread = next((v, s) for v, p in c.problem.matrices.items() if (s := p.spread()) is not None)
    if proof.verdict == "unattained":
        size = max(map(abs, proof.direction[name]))
        direction = np.array([float(value / size) for value in proof.direction[name]])
        return "" if vanishes_as_given(c.problem, direction) else "the kernel's values are singular by rounding only"
    if np.all(np.isfinite(spread)):
        pairs = zip(spread.tolist(), proof.point[name], strict=True)
        reach = sum((Fraction(e) * Fraction(alpha) for e, alpha in pairs), Fraction(0))  # alpha >= 0
        if reach**2 / 2 <= Fraction(c.tol) * abs(proof.optimum or Fraction(0)):
            return ""
    return "the rounding of the kernel's values may change the optimum by more than the tolerance"


def at(
    c: Certificate, point: Mapping[str, Sequence[Fraction | float]], multipliers: Multipliers | None = None
) -> Certificate:
    """The certificate at the doubles nearest to another point, of which variables that it does not name are left as
    they are; ``NoAnswer`` where there are none."""
    problem = c.problem
    x = np.zeros(problem.size) if c.x is None else c.x.copy()
    try:
        for name, values in point.items():
            x[problem.layout[name]] = [float(value) for value in values]
        given = {} if multipliers is None else _multipliers(problem, multipliers)
    except OverflowError:
        raise NoAnswer(BEYOND_RANGE) from None
    return replace(c, x=x, multipliers=given, kkt=check_kkt(problem, x, given, c.tol), attained=None)


def _multipliers(problem: Problem, exact: Multipliers) -> dict[str, Array]:
    """The multipliers of a proof as doubles; those of a norm bound are what the others leave: u, and mu = ‖u‖."""
    out = {c.name: np.zeros(c.size) for c in problem.constraints}
    for name, rows in exact.items():
        out[name][list(rows)] = [float(value) for value in rows.values()]
    for b in problem.norm_bounds:
        (name,) = b.entries
        u = sum((c.entries[name].T @ out[c.name] for c in problem.constraints if name in c.entries), np.zeros(b.size))
        out[b.name] = np.append(u, math.hypot(*u.tolist()))  # squares may overflow
    return out


# ---- the level rigorous ---------------------------------------------------------------------------------------


def bounded(c: Certificate) -> Certificate:
    """Bounds of the optimum, from the point and the multipliers of the certificate."""
    if c.x is None:
        return replace(c, level="rigorous")
    found = replace(c, level="rigorous", bounds=bounds(c.problem, c.x, c.multipliers or {}))
    if not found.width <= c.tol:
        reason = f"the bounds are {found.width:.1e} apart, above the tolerance {c.tol:.0e}"
        if not np.isfinite(found.width):
            reason = "; ".join(found.bounds.reasons) or reason
        return replace(found, status="undecided", reason=reason)
    if reason := far_off(found):
        return replace(found, status="undecided", reason=reason)
    if c.status == "undecided" and needs_attainment_proof(c.problem):
        return found  # an infimum may be known to all digits and not be attained
    return replace(found, status="optimal", reason="")


def far_off(c: Certificate) -> str:
    """Why the point is not the one that the bounds speak of: they may be narrow by a multiple of it, by the origin, or
    by a point near it that satisfies equations and bounds. What is within the tolerance of it is the point itself.
    Empty where all is well."""
    size = max(abs(c.bounds.lower), abs(c.bounds.upper), c.problem.unit)
    if c.bounds.at_point is None:  # a dual, whose bounds are those of the primal
        above = 0.0 if c.kkt is None else abs(c.kkt.objective - c.bounds.lower)
        return "" if above <= c.tol * size else f"the objective at the point is {above:.1e} away from the optimum"
    if not abs(c.bounds.stretch - 1.0) <= c.tol:
        return f"the point violates its constraints; {c.bounds.stretch:.6g} times it does not"
    if not (violation := _violation(c)) <= c.tol:
        return f"the point violates its equations or bounds by {violation:.1e}, above the tolerance {c.tol:.0e}"
    above = c.bounds.at_point - c.bounds.lower
    return "" if above <= c.tol * size else f"the objective at the point is up to {above:.1e} above the optimum"


def _violation(c: Certificate) -> float:
    """How far the point is from its equations and the bounds of its unknowns, at most: bounds of the optimum are those
    of a point next to it that satisfies them."""
    moved = [b.name for b in c.problem.constraints if b.relation == "=="]
    moved += [b.name for b in c.problem.remembered(Structure).bounds]
    return 0.0 if not moved else math.inf if c.kkt is None else c.kkt.primal_feasibility.bound_of(moved)


def bounded_finer(c: Certificate, solve: Solve | None) -> Certificate:
    """A certificate that bounds in doubles do not decide, by finer bounds: at its own point, or else at the doubles
    nearest to the exact solution. As it is where rounding the solution takes the proof away."""
    if (found := _finer(c)) is not None:
        return found
    if sum(b.size for b in (*c.problem.terms, *c.problem.constraints)) * c.problem.size > MAX_ENTRIES_PROVED_UNASKED:
        return c
    exact = exactly(c, ENOUGH_DIGITS, solve)
    if exact.status in ("infeasible", "unattained"):
        return replace(exact, level="rigorous")
    if exact.status != "optimal" or exact.x is None:
        return c
    again = bounded(replace(exact, level="float", exact=None, enclosure=None, bounds=None))
    if again.status != "undecided":
        return again
    if c.problem.norm_bounds and exact.optimum == 0:  # rounded multipliers prove a little less than 0
        return replace(again, status="optimal", reason="", bounds=Bounds(0.0, 0.0))
    return _finer(again) or c


def bounded_here(c: Certificate) -> Certificate:
    """Bounds from the point and the multipliers at hand, finer ones where doubles do not do; no other point."""
    found = bounded(c)
    return (_finer(found) or found) if found.status == "undecided" else found


def _finer(c: Certificate) -> Certificate | None:
    """The certificate by bounds in rationals or balls; None where they do not prove its point either."""
    if c.x is None or not np.all(np.isfinite(c.x)):
        return None
    point = {name: [Fraction(v) for v in part.tolist()] for name, part in c.problem.split(c.x).items()}
    given = {
        name: {i: Fraction(v) for i, v in enumerate(z.tolist()) if v}
        for name, z in (c.multipliers or {}).items()
        if np.all(np.isfinite(z))
    }
    found = bounds_reached(c.problem, point, given, Fraction(c.tol))
    if found is None or not _violation(c) <= c.tol:
        return None
    ends = rounded_down(found[0]), -rounded_down(-found[1])
    return replace(c, status="optimal", reason="", bounds=Bounds(*ends, at_point=ends[1]))


def rounded_down(value: Fraction) -> float:
    """A double that is not above the value, and next to it."""
    nearest = float(value)
    return nearest if nearest <= value else float(np.nextafter(nearest, -np.inf))


# ---- Gaussian classes -----------------------------------------------------------------------------------------


def by_moments(c: Certificate, level: Level, digits: int, stand_in: bool) -> Certificate:
    """The optimum, or that there is none, whatever doubles say of it."""
    parts = c.problem.remembered(moments)

    def prove() -> Certificate:
        if (direction := falling_direction(parts)) is not None:
            proof = ExactProof("unattained", c.problem, point=identity(parts), direction=direction)
            return replace(proved(c, proof), level=level)
        if level == "rigorous":
            return _bounded(c, parts, stand_in)
        return enclosed(c, enclose_moments(c.problem, parts, digits))

    return or_undecided(c, level, prove)


def _bounded(c: Certificate, parts: Sequence[Moments], stand_in: bool) -> Certificate:
    """The objective at the point from above, the formula from below."""
    if c.x is None and not stand_in:
        return replace(c, level="rigorous")
    point = c if c.x is not None else at(c, matched(parts) or {})
    assert point.x is not None
    values = {v: [Fraction(u) for u in point.x[where].tolist()] for v, where in c.problem.layout.items()}
    here, below = value_at(parts, values), least_value(parts)[0]
    low, high = rounded_down(below), np.inf if here is None else -rounded_down(-here[1])
    found = replace(point, level="rigorous", bounds=Bounds(low, high, at_point=high))
    if not found.width <= c.tol or far_off(found):
        if stand_in and c.x is not None:
            return _bounded(replace(c, x=None), parts, stand_in)
        return replace(found, status="undecided", reason=far_off(found) or "the point is not positive definite")
    return replace(found, status="optimal", reason="")
