"""The level ``exact``: the optimum without rounding, in rationals or between rationals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.certificate import Certificate, Level
from convexcls.proofs.claims.curvature import has_rounded_kernel, vanishes_as_given
from convexcls.proofs.claims.direction import check_in_rationals
from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.optimum import ExactProof, Widest, widest
from convexcls.proofs.claims.rational_bounds import affordable
from convexcls.proofs.claims.statement import NoProof
from convexcls.proofs.enclosure.enclose import enclose
from convexcls.proofs.enclosure.intervals import Enclosure, enclose_root
from convexcls.proofs.exact.prove import Solve, prove, prove_widest
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.separability import separation_of

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


def _widest(c: Certificate, parts: Widest, digits: int, solve: Solve | None) -> Certificate:
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
