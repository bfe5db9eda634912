"""The verdict on an answer, and its proof.

The solver's status word plays no part. An answer is **optimal** when the KKT conditions and the duality gap
hold on the problem as stated (and the minimum is known to be attained); a problem is **infeasible** or
**unattained** when a Farkas vector or a direction proves it; otherwise the verdict is **undecided**, with
what fell short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from convexcls.arrays import Array, all_finite
from convexcls.problem import Problem
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.claims.direction import Direction, check_direction, find_direction
from convexcls.proofs.claims.farkas import find_farkas
from convexcls.proofs.claims.linear_program import doubtful_at_origin, find_origin_multipliers, too_large
from convexcls.proofs.enclosure.moments import falling_direction, has_moments, least_value, moments, value_at
from convexcls.proofs.kkt.at_once import MeasuredLater, bounded_at_once
from convexcls.proofs.kkt.attainment import PROOF, attainment, linear_costs_are_held, needs_attainment_proof
from convexcls.proofs.kkt.check import HOPELESS, MAX_EASY_ENTRIES, check_kkt, check_kkt_with_gradient
from convexcls.proofs.kkt.residuals import KKT
from convexcls.proofs.separability import Separating, separation_of
from convexcls.rational.numbers import MAX_RATIONAL_ENTRIES


def certify(
    problem: Problem,
    x: Array | None,
    multipliers: Mapping[str, Array] | None,
    tol: float = 1e-8,
    *,
    farkas: Mapping[str, Array] | None = None,
    direction: Array | None = None,
    stand_in: bool = True,
) -> Certificate:
    """Judge an answer. The certificate holds the point and the multipliers that it speaks of: those given, or the
    toolkit's own where it had to find the proof itself. With ``stand_in=False`` no optimum of its own stands in for a
    point that is none."""
    kkt, attained, reason = _judge_point(problem, x, multipliers, tol)
    own = None if multipliers is None else dict(multipliers)
    separating = separation_of(problem)
    if separating is not None:
        separating.consider(x, farkas, direction)
    if kkt is not None and kkt.holds(tol) and (attained is None or attained >= PROOF):
        assert x is not None
        reason = _objection(problem, x, own or {}, kkt, separating, tol)
        if not reason:
            return Certificate("optimal", problem, tol, kkt, None, None, attained, "", problem.notes, x, own)
    judged = Certificate("undecided", problem, tol, kkt, None, None, attained, reason, problem.notes, x, own)
    if separating is not None:
        return _by_separability(judged, separating, stand_in)
    proof = find_farkas(problem, farkas)
    if proof is not None:
        return replace(judged, status="infeasible", farkas=proof, attained=None, reason="", x=None, multipliers=None)
    exists = (attained is not None and attained >= PROOF) or _exists_as_given(problem)
    if not exists and (way := _falling_along(problem, direction)) is not None:
        return replace(judged, status="unattained", direction=way, reason="")
    if stand_in and (origin := _optimal_at_origin(problem, tol)) is not None:
        return origin
    if too_large(problem):
        note = "the problem is too large for the toolkit's own linear programs to look for a proof"
        judged = replace(judged, notes=(*judged.notes, note))
    return judged


def _falling_along(problem: Problem, given: Array | None) -> Direction | None:
    """A direction along which the objective falls for ever: the one given, or one that is found."""
    return (None if given is None else check_direction(problem, given)) or find_direction(problem)


def _optimal_at_origin(problem: Problem, tol: float) -> Certificate | None:
    """The optimum x = 0, where the toolkit's own linear program proves it."""
    if (multipliers := find_origin_multipliers(problem)) is None:
        return None
    zero = np.zeros(problem.size)
    at_zero = check_kkt(problem, zero, multipliers, tol)
    if not at_zero.holds(tol):
        return None
    note = "the solver's point was not accepted; the toolkit's own linear program proves x = 0 optimal"
    notes = (*problem.notes, note)
    return Certificate("optimal", problem, tol, at_zero, notes=notes, x=zero, multipliers=multipliers)


def _objection(
    problem: Problem, x: Array, multipliers: dict[str, Array], kkt: KKT, separating: Separating | None, tol: float
) -> str:
    """Why an optimum that doubles show does not stand; empty where it does."""
    if doubtful_at_origin(problem, x, multipliers):
        return "x = 0 satisfies the conditions to rounding, not exactly: the optimum may be a little away from it"
    if problem.terms and any(check_direction(problem, way) for way in problem.candidate_directions()):
        return "the conditions hold to rounding, but along a direction the objective falls for ever"
    if not linear_costs_are_held(problem, x, multipliers):
        return "the conditions hold to rounding, but a linear cost may fall for ever where nothing else changes"
    if _misses_as_given(problem, x, kkt, tol):
        return "the conditions hold for the data rounded to doubles, not for the data as given"
    if separating is not None and not separating.agrees(x, kkt, tol):
        return "the conditions hold to rounding, but whether the classes are separable, in rationals, contradicts them"
    return ""


def _moments(problem: Any) -> list[Any] | None:
    """The moments of Gaussian classes whose samples doubles round, worked out of the samples as given; None of others:
    there the doubles are as good."""
    if not has_moments(problem) or problem.data.exact_matrix is None:
        return None
    return moments(problem) if problem.data.n * problem.data.d <= MAX_RATIONAL_ENTRIES else None


def _exists_as_given(problem: Problem) -> bool:
    """Whether these moments have an optimum."""
    parts = problem.remembered(_moments)
    return parts is not None and falling_direction(parts) is None


def _misses_as_given(problem: Problem, x: Array, kkt: KKT, tol: float) -> bool:
    """Whether these moments have their optimum elsewhere, or the objective there is another than was measured."""
    if (parts := problem.remembered(_moments)) is None:
        return False
    if falling_direction(parts) is not None:
        return True
    here = value_at(parts, {v: [Fraction(u) for u in x[where].tolist()] for v, where in problem.layout.items()})
    if here is None:
        return True
    (least, _), (_, value) = least_value(parts), here
    off = max(value - least, abs(value - Fraction(kkt.objective)))
    return off > Fraction(tol) * max(abs(least), Fraction(problem.unit))


def _by_separability(judged: Certificate, separating: Separating, stand_in: bool) -> Certificate:
    """The verdict that the separability of the classes proves; the one on the answer where it proves none."""
    found = separating.finding(judged.tol)
    if found is None:
        return judged
    bare = replace(judged, attained=None, reason="", x=None, multipliers=None)
    if found.farkas is not None:
        return replace(bare, status="infeasible", farkas=found.farkas)
    if found.direction is not None:
        return replace(judged, status="unattained", direction=found.direction, reason="")
    if not stand_in:
        return judged
    note = "the solver's point was not accepted; a plane with no sample on its wrong side proves that the optimum is 0"
    assert found.multipliers is not None
    return replace(
        bare,
        status="optimal",
        kkt=found.kkt,
        x=found.x,
        multipliers=dict(found.multipliers),
        notes=(*judged.notes, note),
    )


def interrupted(
    problem: Problem, x: Array | None, multipliers: Mapping[str, Array], tol: float, iteration: int, why: str = ""
) -> Certificate:
    """No verdict on the point that a solver had reached when it was stopped, by Ctrl-C or for the reason that is told:
    only its measures, where there are all multipliers."""
    kkt = _judge_point(problem, x, multipliers, tol)[0]
    reason = why or f"the solver was interrupted; this is its point after {iteration} iteration(s)"
    notes = problem.notes
    return Certificate("undecided", problem, tol, kkt, reason=reason, notes=notes, x=x, multipliers=dict(multipliers))


def _measured(problem: Problem, x: Array, multipliers: Mapping[str, Array], tol: float) -> tuple[KKT, Array]:
    """The KKT measures of a point, with the gradient of the Lagrangian. Where a few norms bound them by the tolerance,
    the measures themselves wait until somebody looks at them."""
    known = bounded_at_once(problem, x, multipliers)
    if known is None or not known.holds(tol):
        return check_kkt_with_gradient(problem, x, multipliers, tol)
    copies = {name: z.copy() for name, z in multipliers.items()}
    return MeasuredLater(known, partial(check_kkt, problem, x.copy(), copies, tol)), known.gradient


def _judge_point(
    problem: Problem, x: Array | None, multipliers: Mapping[str, Array] | None, tol: float
) -> tuple[KKT | None, float | None, str]:
    """The KKT measures of a point, its proof of attainment where one is needed, and what fell short."""
    if x is None:
        return None, None, "the solver gave no point"
    if x.shape != (problem.size,):
        return None, None, f"the point has {x.size} entries, the problem {problem.size}"
    if not all_finite(x):
        return None, None, "the point has entries that are not finite numbers"
    given = multipliers or {}
    for name, size in problem.multiplier_sizes.items():
        if name not in given:
            return None, None, f"there are no multipliers for {name!r}"
        if np.shape(given[name]) != (size,) or not all_finite(np.asarray(given[name])):
            return None, None, f"the multipliers of {name!r} are not {size} finite numbers"
    kkt, gradient = _measured(problem, x, given, tol)
    attained = None
    if isinstance(kkt, MeasuredLater) and kkt.known.attained >= PROOF:
        attained = kkt.known.attained if needs_attainment_proof(problem) else None
    elif needs_attainment_proof(problem):
        entries = sum([problem.rows(t).entries for t in problem.terms])
        far = entries > MAX_EASY_ENTRIES and kkt.stationarity.relative > HOPELESS * tol
        attained = -np.inf if far else attainment(problem, x, given, gradient)
    if kkt.holds(tol) and not kkt.dependent and (attained is None or attained >= PROOF):
        return kkt, attained, ""
    measures, bounds = kkt.measures(), kkt.bounds()
    short = [
        f"{name} is {measures[name]:.1e}, above the tolerance {tol:.0e}"
        if not measures[name] <= tol
        else f"{name} is known to {bound - measures[name]:.1e} only, because of rounding: above the tolerance {tol:.0e}"
        for name, bound in bounds.items()
        if not bound <= tol
    ]
    if kkt.dependent:
        short.append(
            f"columns of {' and '.join(kkt.dependent)} depend on each other up to rounding, so that doubles cannot "
            "show where the optimum is: leave a feature out, or add a penalty"
        )
    if attained is not None and attained < PROOF:
        short.append("that a minimum exists is not proved")
    return kkt, attained, "; ".join(short)
