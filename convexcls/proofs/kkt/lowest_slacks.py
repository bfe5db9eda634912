"""Slacks follow from the point: each is the largest of its rows' values, worked out as closely as the check asks for.
Unknowns are put within their bounds: a solver's tolerance may be more than the whole box of a sample of little weight.

A solver knows its slacks to its own rounding, in units of its own. Mapped back, with features far from 0, they may miss
what the coefficients ask for by more than the tolerance, though the coefficients are right.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Epigraph, Problem
from convexcls.problem.centring import centre
from convexcls.proofs.kkt.products import row_values
from convexcls.proofs.rigorous.structure import Structure

#: What slacks may be off is this fraction of what the check allows.
SHARE = 0.01
#: Slacks below this fraction of their unit may come of rounding.
ROUNDED = 1e-6
#: A factor nearer to 1 than this is 1.
EPSILON = 2.0**-52


def settled(problem: Problem, x: Array, tol: float) -> Array:
    """The point within the bounds of its unknowns and with its slacks at their lowest values, where those given are
    farther from them than the tolerance leaves room for. Where slacks of a rounding cost more than that, the point is
    stretched by as much: then they are 0, and what the stretching adds is a rounding of the objective. The stretched
    point is rounded, too, so that a little more may be needed."""
    structure = problem.remembered(Structure)
    slacks = structure.slacks
    if not (slacks or structure.bounds) or x.shape != (problem.size,) or not np.all(np.isfinite(x)):
        return x
    if structure.bounds:
        x = np.clip(x, *structure.limits)
    if not slacks:
        return x
    with np.errstate(all="ignore"):
        out, stretch = _lowest(problem, x, slacks, tol)
        best, more, tried = out, stretch, 1.0
        while more > 0.0 and tried * stretch < tol:
            other, more = _lowest(problem, _stretched(problem, x, 1.0 + tried * stretch), slacks, tol)
            best, tried = min(best, other, key=problem.objective), 4.0 * tried
    return best if np.all(np.isfinite(best)) else x


def _stretched(problem: Problem, x: Array, factor: float) -> Array:
    """The point times the factor, with as many digits as centred features leave it."""
    centred = problem.remembered(centre)
    return x * factor if centred is None else np.array(centred.restore(centred.centre(x, {})[0] * factor, {})[0])


def _lowest(problem: Problem, x: Array, slacks: Mapping[str, Epigraph], tol: float) -> tuple[Array, float]:
    """The point with its lowest slacks, and how far it has to be stretched, as a fraction of it, so that those of a
    rounding vanish: 0 where they cost little."""
    bare, out, stretch = x.copy(), x.copy(), 0.0
    for v in slacks:
        bare[problem.layout[v]] = 0.0
    objective = max(problem.objective(x), problem.unit)
    least = min(objective, max(problem.objective(bare), problem.unit))  # without slacks
    for v, e in slacks.items():
        where, costs, p = problem.layout[v], e.cost, e.curvature
        unit = max(max(c.unit, float(np.abs(c.rhs).max(initial=0.0))) for c in e.pieces)
        if not costs.size:
            continue
        price = objective / float(costs.sum()) if np.any(costs) else np.inf
        room = SHARE * tol * min(unit, max(price, 0.0))
        if (bend := float(p.max(initial=0.0))) > 0:
            room = min(room, float(np.sqrt(SHARE * tol * max(objective, 0.0) / bend / max(costs.size, 1))))
        lowest = e.lowest([row_values(problem.rows(c), bare, c, "rhs", room).mid for c in e.pieces])
        out[where] = np.where(np.abs(lowest - x[where]) > room, lowest, x[where])
        rounded = (out[where] > 0) & (out[where] < ROUNDED * unit)
        paid = float(costs[rounded] @ out[where][rounded] + 0.5 * p[rounded] @ out[where][rounded] ** 2)
        if rounded.any() and paid > SHARE * tol * least:
            stretch = max(stretch, 2.0 * float(out[where][rounded].max()) / unit, EPSILON)
    return out, stretch
