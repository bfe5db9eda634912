"""Points put right before they are checked: slacks at their lowest, and the shortest of many coefficients.

Slacks follow from the point: each is the largest of its rows' values, worked out as closely as the check asks for.
Unknowns are put within their bounds: a solver's tolerance may be more than the whole box of a sample of little weight.
A solver knows its slacks to its own rounding, in units of its own. Mapped back, with features far from 0, they may miss
what the coefficients ask for by more than the tolerance, though the coefficients are right.

Where columns depend on each other exactly, many coefficients have the same scores. A one-hot table beside an intercept,
a column that is the sum of others, a constant one: the rows K of the unknowns without curvature have directions v with
K v = 0, along which nothing of the problem changes. Of all points x + v the one with the least ‖coef‖ is returned, in
the units of the data; an intercept is a coefficient of nothing, and free. Whether columns depend is decided without
rounding (``rows/column_basis.py``), so that columns which only nearly depend are left alone: along these the objective
does change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, Mask, least_squares
from convexcls.problem import Epigraph, Problem
from convexcls.problem.centring import centre, in_centred_form
from convexcls.proofs.kkt.correction import FreeRows, free_variables
from convexcls.proofs.kkt.products import plain_values, row_values
from convexcls.proofs.rigorous.structure import Structure

NOTE = (
    "columns of {} depend on each other, so that other coefficients have the same scores: these are the shortest, in "
    "the units of the data"
)

#: Coefficients are as short as they can be where what is left of them along a flat direction is so small a share.
ROUNDED_LENGTH = 1e-13
#: What slacks may be off is this fraction of what the check allows.
SHARE_OF_TOLERANCE = 0.01
#: Slacks below this fraction of their unit may come of rounding.
ROUNDED_SLACK = 1e-6
#: Rows at their kinks with more entries are not worked out in doubled precision where stretching does as well.
MAX_DOUBLED_ENTRIES = 100_000
#: The most that a point is stretched for them, as a fraction of the tolerance. What that costs is left to the check.
MAX_STRETCH = 0.1
#: A factor nearer to 1 than this is 1.
EPSILON = 2 * UNIT_ROUNDOFF


def settled(problem: Problem, x: Array, tol: float) -> Array:
    """The point within the bounds of its unknowns and with its slacks at their lowest values, where those given are
    farther from them than the tolerance leaves room for. Where slacks of a rounding cost more than that, the point is
    stretched by as much: then they are 0, and what the stretching adds is a rounding of the objective. The stretched
    point is rounded, too, so that a little more may be needed."""
    if not any(c.relation == "<=" for c in problem.constraints):
        return x
    structure = problem.remembered(Structure)
    slacks = structure.slacks
    if not (slacks or structure.bounds) or x.shape != (problem.size,) or not np.all(np.isfinite(x)):
        return x
    if structure.bounds:
        x = np.clip(x, *structure.limits)
    if not slacks:
        return x
    with np.errstate(all="ignore"):
        x = _clear_of_kinks(problem, x, slacks, tol)
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


#: The heights of a piece in doubles, with one bound of their rounding.
Plain = tuple[Array, float]


def _plain_heights(problem: Problem, bare: Array, e: Epigraph) -> list[Plain]:
    return [plain_values(problem.rows(c), bare, c, "rhs", closely=True) for c in e.pieces]


def _open(plain: Sequence[Plain]) -> list[Mask]:
    """For each piece, the rows in which it may be the highest."""
    surely = np.max([mid - rad for mid, rad in plain], axis=0)
    return [~(mid + rad < surely) for mid, rad in plain]


def _clear_of_kinks(problem: Problem, x: Array, slacks: Mapping[str, Epigraph], tol: float) -> Array:
    """The point stretched by a few roundings of its rows, so that those at the kink, whose slacks are 0 or a rounding,
    are surely below it. Only where these rows have many entries: otherwise their slacks are worked out."""
    many = [e for e in slacks.values() if e.size * _row_length(problem, e) > MAX_DOUBLED_ENTRIES]
    if not many:
        return x
    stretch = 0.0
    bare = _without(problem, x, slacks)
    for e in many:
        plain = _plain_heights(problem, bare, e)
        for c, (mid, rad), may in zip(e.pieces, plain, _open(plain), strict=True):
            at_kink = may & (np.abs(mid) <= 2.0 * rad) & (c.rhs < 0.0)
            if len(c.entries) > 1 and at_kink.sum() * problem.rows(c).row_length > MAX_DOUBLED_ENTRIES:
                stretch = max(stretch, 4.0 * rad / float(np.abs(c.rhs[at_kink]).min()))
    return _stretched(problem, x, 1.0 + stretch) if 0.0 < stretch <= MAX_STRETCH * tol else x


def _row_length(problem: Problem, e: Epigraph) -> int:
    """The entries of the longest row of its pieces."""
    return max(problem.rows(c).row_length for c in e.pieces)


def _without(problem: Problem, x: Array, slacks: Mapping[str, Epigraph]) -> Array:
    """The point with its slacks at 0."""
    bare = x.copy()
    for v in slacks:
        bare[problem.layout[v]] = 0.0
    return bare


def _lowest(problem: Problem, x: Array, slacks: Mapping[str, Epigraph], tol: float) -> tuple[Array, float]:
    """The point with its lowest slacks, and how far it has to be stretched, as a fraction of it, so that those of a
    rounding vanish: 0 where they cost little."""
    bare, out, stretch = _without(problem, x, slacks), x.copy(), 0.0
    objective = max(problem.minimised(x), problem.unit)
    least = min(objective, max(problem.minimised(bare), problem.unit))  # without slacks
    for v, e in slacks.items():
        where, costs, p = problem.layout[v], e.cost, e.curvature
        unit = max(max(c.unit, float(np.abs(c.rhs).max(initial=0.0))) for c in e.pieces)
        if not costs.size:
            continue
        plain = _plain_heights(problem, bare, e)
        price = objective / float(costs.sum()) if np.any(costs) else np.inf
        allowed = SHARE_OF_TOLERANCE * tol * min(unit, max(price, 0.0))
        if (bend := float(p.max(initial=0.0))) > 0:
            size = max(objective, 0.0) / bend / max(costs.size, 1)
            allowed = min(allowed, float(np.sqrt(SHARE_OF_TOLERANCE * tol * size)))
        lowest = e.lowest(_heights(problem, bare, e, plain, allowed))
        out[where] = np.where(np.abs(lowest - x[where]) > allowed, lowest, x[where])
        rounded = (out[where] > 0) & (out[where] < ROUNDED_SLACK * unit)
        paid = float(costs[rounded] @ out[where][rounded] + 0.5 * p[rounded] @ out[where][rounded] ** 2)
        if rounded.any() and paid > SHARE_OF_TOLERANCE * tol * least:
            stretch = max(stretch, 2.0 * float(out[where][rounded].max()) / unit, EPSILON)
    return out, stretch


def _heights(problem: Problem, bare: Array, e: Epigraph, plain: Sequence[Plain], allowed: float) -> list[Array]:
    """The heights of the pieces, to ``room`` where they may be the highest."""
    if all(rad <= allowed for _, rad in plain):
        return [mid for mid, _ in plain]
    wanted = [np.where(may, allowed, np.inf) for may in _open(plain)]
    return [row_values(problem.rows(c), bare, c, "rhs", w).mid for c, w in zip(e.pieces, wanted, strict=True)]


# ---- the shortest coefficients --------------------------------------------------------------------------------


def shortest(problem: Problem, x: Array) -> tuple[Array, str] | None:
    """The point with the shortest coefficients, and what is to be said of them; None where they are determined."""
    names = problem.remembered(free_variables)
    long = [v for v in names if problem.variable(v).kind != "scalar" and v != "intercept"]
    if not long or not np.all(np.isfinite(x)):
        return None
    form, point, _ = in_centred_form(problem, x, {})
    free = form.remembered(_flat_directions)
    if free is None:
        return None
    point, where = np.array(point), form.places(names)
    measured = np.isin(where, form.places(long))
    flat, own = free[measured], point[where][measured]
    sizes = np.linalg.norm(flat, axis=0) * np.linalg.norm(own)
    if (np.abs(flat.T @ own) <= ROUNDED_LENGTH * sizes).all():  # no step makes them shorter
        return x, NOTE.format(" and ".join(names))
    step = least_squares(flat, -own)
    point[where] += free @ step
    centred = problem.remembered(centre)
    moved = point if centred is None else np.array(centred.restore(point, {})[0])
    return moved, NOTE.format(" and ".join(names))


def _flat_directions(problem: Problem) -> Array | None:
    """A basis, one a column, of the directions of the free unknowns that no row sees, those of the gauge left out; None
    where there is none."""
    return problem.remembered(FreeRows).flat_directions()
