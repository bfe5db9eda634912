"""Bounds on the optimum from a point and multipliers, at the level of proof that is asked for.

A sum of losses and penalties is not below 0, whatever the multipliers say.

An l1 penalty is bounded by its linear parts: l1 ‖coef‖_1 >= g'coef for every g with |g_j| <= l1. So the program with
g'coef in place of the penalty has an optimum that is not above, and any lower bound of it is one of the program. The
best g is the one that balances the gradient, which is what the multipliers of the penalty are. As losses are not
negative, a minimiser has l1 |coef_j| <= U where U is an upper bound of the optimum: so coef may be kept within a box,
and what rounding leaves of the gradient costs at most that much times U / l1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint, Problem
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.levels.raising import rounded_down
from convexcls.rows import DiagonalRows
from convexcls.solution import Solution

#: The losses with values that are never below 0.
NONNEGATIVE = ("logistic", "softmax", "half-square", "exponential")


@dataclass(frozen=True)
class Interval:
    """lower <= optimum <= upper, of the minimised form; infinite where nothing is known."""

    lower: float
    upper: float
    #: The rigorous bounds themselves, where it was made from them.
    found: Any = None

    def objective(self, by_dual: bool) -> float | None:
        """The objective at the point that the bounds were made from, rounded up: the bounds may be better than the
        point. Of a problem that is stated by its dual it is what the multipliers give. None where it is not known."""
        if self.found is None:
            return None
        value = self.found.by_multipliers if by_dual else self.found.at_point
        if value is None or not np.isfinite(value):
            return None
        return -float(value) if by_dual else float(value)


def bounds(problem: Problem, x: Array, multipliers: Mapping[str, Array], level: str) -> Interval:
    """What a point and multipliers prove of the optimum. Above level ``float`` this holds despite rounding; at level
    ``float`` it is as the conditions were measured."""
    found = measured(problem, x, multipliers) if level == "float" else _rigorous(problem, x, multipliers)
    return replace(found, lower=max(found.lower, 0.0)) if is_nonnegative(problem) else found


def is_nonnegative(problem: Problem) -> bool:
    """Whether the objective is a sum of losses and penalties, none of which can be negative: no linear cost but that of
    absolute values, and of slacks with a row that keeps them above 0."""
    if problem.constant < 0 or not all(t.loss.name in NONNEGATIVE for t in problem.terms):
        return False
    slacks = {e.variable: e for e in problem.epigraphs}
    for v in problem.linear:
        if v not in slacks:
            return False
        absolute = v == "size" or problem.kind == "least-absolute"
        if not absolute and not any(np.all(c.rhs <= 0) for c in slacks[v].flat_pieces):
            return False
    return True


def _rigorous(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> Interval:
    from convexcls.proofs.rigorous import bounds as rigorous_bounds

    found = rigorous_bounds(problem, x, multipliers)
    lower = float(found.lower)
    if "size" in problem.layout and "size_above" in multipliers:
        simpler, point = _linear_penalty(problem, x, multipliers, float(found.upper))
        rest = {c.name: multipliers.get(c.name, np.zeros(c.size)) for c in simpler.constraints}
        lower = max(lower, float(rigorous_bounds(simpler, point, rest).lower))
    return Interval(lower, float(found.upper), found)


def _linear_penalty(
    problem: Problem, x: Array, multipliers: Mapping[str, Array], upper: float
) -> tuple[Problem, Array]:
    """The program with g'coef for its l1 penalty, g from the multipliers, and the point of it that is x."""
    l1 = problem.q[problem.layout["size"]]
    g = np.clip(multipliers["size_above"] - multipliers["size_below"], -l1, l1)
    box = []
    if np.isfinite(upper) and np.all(l1 > 0) and is_nonnegative(problem):
        widest = np.nextafter(max(upper, 0.0) / l1, np.inf)
        for name, sign in (("box_above", 1.0), ("box_below", -1.0)):
            box.append(Constraint(name, {"coef": DiagonalRows.identity(l1.size, sign)}, "t", "vector", rhs=widest))
    linear = {v: q for v, q in problem.linear.items() if v != "size"}
    simpler = Problem(
        problem.name,
        [v for v in problem.variables if v.name != "size"],
        quadratic=problem.quadratic,
        linear={**linear, "coef": linear.get("coef", 0.0) + g},
        terms=problem.terms,
        constraints=[*(c for c in problem.constraints if "size" not in c.entries), *box],
        constant=problem.constant,
        unit=problem.unit,
        gauge=problem.gauge,
    )
    return simpler, np.concatenate([x[problem.layout[v.name]] for v in simpler.variables])


def exact_optimum(own: Solution | None) -> Interval | None:
    """The optimum in exact arithmetic, rounded outwards, of the minimised form; None where it is not proved so."""
    certificate = None if own is None else own.certify(level="exact")
    if certificate is None or certificate.status != "optimal":
        return None
    low, high = Fraction(certificate.lower), Fraction(certificate.upper)
    if certificate.problem.sense == "max":
        low, high = -high, -low
    return Interval(rounded_down(low), -rounded_down(-high))


def measured(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> Interval:
    """The two objectives as they were computed. The dual one is lowered by what the gradient of an unknown without
    curvature can hide near x, and counts only where the multipliers have the right signs."""
    kkt = check_kkt(problem, x, multipliers)
    hidden = sum(
        float(np.sum(kkt.stationarity.values[v] * np.abs(x[where])))
        for v, where in problem.layout.items()
        if v not in problem.quadratic
    )
    feasible = kkt.primal_feasibility.relative <= 1e-9
    signed = kkt.dual_feasibility.relative <= 1e-9
    lower = min(kkt.dual_objective, kkt.objective) - hidden if signed else -np.inf
    return Interval(lower, kkt.objective if feasible else np.inf)
