"""Few of many rows decide: a program is solved on the rows near their kinks, the others being fixed on their side.

Where that is comes from a sample of the rows, whose solution is off by about sqrt(k/m), k unknowns, m rows; so that is
the share of the rows that have to be looked at again. A pass over all rows then shows which are on the wrong side:
with these and their neighbours it is done again. The last answer is that of all rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from convexcls.solvers.rows.column_basis import Unknowns
from convexcls.solvers.rows.finish import Exact, settle
from convexcls.solvers.rows.row_program import Indices, RowProgram
from convexcls.solvers.rows.row_sides import BROKEN, FixedRows, distances, sides_of
from convexcls.solvers.rows.search import NEAR, Found, NoSolution, Search, solve_whole
from convexcls.solvers.rows.smoothing import can_be_smoothed, smoothed_solution

Array = NDArray[np.float64]

#: Samples have to have so many rows at least, and so many for each unknown; each is so many times the one before.
SMALLEST_SAMPLE = 600
ROWS_PER_UNKNOWN = 12
GROWTH = 4
#: The band, in units of sqrt(k/m).
BAND = 0.75
#: How near a solution on a sample, or on a band that is not the last, has to be.
ROUGH = 1e-3
FAIR = 1e-5
ROUNDS = 12
#: The gradient over all rows, relative to what was added up, where the answer on a band is that of all.
BALANCED = 1e-13
#: How often rows are smoothed before the band is chosen, each time so much narrower.
WIDTHS = 3
NARROWER = 4.0


def solve_rows(program: RowProgram, begin: tuple[Array, Array] | None, search: Search, shrink: bool) -> Found:
    """The solution of the program, or rows that show that there is none."""
    unknowns = Unknowns.of(program)
    if begin is not None:
        begin = unknowns.there(begin[0]), begin[1]
    try:
        found = _solution(unknowns.program, begin, search.over(unknowns), shrink)
        x = None if found.x is None else unknowns.back(found.x)
        return replace(found, x=x, direction=None if found.direction is None else unknowns.back(found.direction))
    except NoSolution as none:
        a = np.zeros(program.h.size)
        a[none.rows] = none.a
        return Found(None, a, none.nu, f"{np.count_nonzero(a)} rows contradict each other", farkas=(a, none.nu))


def _solution(program: RowProgram, begin: tuple[Array, Array] | None, search: Search, shrink: bool) -> Found:
    """The solution of the program, from samples of its rows where they are many."""
    n, k = program.h.size, program.q.size
    x, share = (None, 1.0) if begin is None else (begin[0], BAND * np.sqrt(k / max(n, 1)))
    many = int(program.sampled.sum())
    smallest = max(SMALLEST_SAMPLE, ROWS_PER_UNKNOWN * k)
    if shrink and begin is None and many > 2 * smallest:
        x, share = _from_samples(program, search, smallest)
    if not shrink or x is None or share >= 0.5:
        everything = np.flatnonzero(program.low < program.high)
        return solve_whole(program, everything, np.zeros(k) if x is None else x, search)
    return _by_bands(program, x, share, search)


def _from_samples(program: RowProgram, search: Search, smallest: int) -> tuple[Array | None, float]:
    """A point near the solution, and the share of the rows whose side it leaves open."""
    many = np.flatnonzero(program.sampled)
    sizes = [many.size]
    while sizes[-1] > GROWTH * smallest:
        sizes.append(sizes[-1] // GROWTH)
    if len(sizes) == 1:
        sizes.append(max(smallest, sizes[0] // GROWTH))
    order = np.random.default_rng(0).choice(many, sizes[1], replace=False)
    few = np.flatnonzero(~program.sampled)
    x: Array | None = None
    size = 0
    for m in reversed(sizes[1:]):
        part = program.sample(np.sort(np.concatenate([order[:m], few])), m / many.size)
        rough = _roughly(part, x, _share(program, size), search)
        if rough is not None:
            x, size = rough, m
    return x, _share(program, size)


def _share(program: RowProgram, m: int) -> float:
    return 1.0 if m == 0 else BAND * float(np.sqrt(program.q.size / m))


def _nearest(program: RowProgram, excess: Array, share: float) -> Indices:
    """The rows nearest to their kinks, as large a share as asked for, and those that are not one of many."""
    distance = distances(program, excess)
    distance[~program.sampled & (program.low < program.high)] = 0.0
    open_rows = int(np.isfinite(distance).sum())
    count = min(open_rows, int(np.ceil(share * distance.size)) + 2 * program.q.size)
    near = np.zeros(distance.size, dtype=bool)
    if count:
        near[np.argpartition(distance, count - 1)[:count]] = True
    near |= (distance == 0.0) | (sides_of(program, excess) == BROKEN)
    return np.flatnonzero(near)


def _within(program: RowProgram, excess: Array, width: float) -> Indices:
    """The rows that near to their kinks, those that are not one of many, and those that cannot stay where they are."""
    distance = distances(program, excess)
    fewest = min(2 * program.q.size, distance.size - 1)
    near = distance <= max(width, float(np.partition(distance, fewest)[fewest]))
    near |= ~program.sampled | (sides_of(program, excess) == BROKEN)
    return np.flatnonzero(near & (program.low < program.high))


def _roughly(program: RowProgram, x: Array | None, share: float, search: Search) -> Array | None:
    """A point near the solution of a sample; None where there is none."""
    if x is not None and share < 0.5 and can_be_smoothed(program):
        return _smoothly(program, x, share, 1, search)[0]
    if x is None or share >= 0.5:
        everything = np.flatnonzero(program.low < program.high)
        part, x = program.on(everything, np.zeros_like(program.q)), np.zeros_like(program.q)
    else:
        excess = program.excess(x)
        part, _ = FixedRows.none(program).without(sides_of(program, excess), _nearest(program, excess, share))
    for stop in search.walk(part, x):
        if stop.error <= ROUGH:
            return stop.point.x
    return None


def _smoothly(program: RowProgram, x: Array, share: float, times: int, search: Search) -> tuple[Array, Array, float]:
    """x and the excess after smoothing the rows to smaller and smaller widths, and the last width."""
    excess, nu = program.excess(x), np.zeros(program.b.size)
    distance = distances(program, excess)
    count = int(np.ceil(share * distance.size))
    sigma = float(np.partition(distance, count)[count])
    if np.all(program.give > 0):  # smooth as it is
        times, sigma = 1, sigma / NARROWER ** (times - 1)
    for _ in range(times):
        x, nu, excess = smoothed_solution(program, x, nu, excess, sigma)
        # on a sample the point is none of the problem's
        at = (x, program.best_multipliers(excess), nu) if program.rows is search.all_rows else None
        search.record(program.smooth(x) + program.cost(excess), sigma, 1.0, {"rows": excess.size}, at)
        sigma /= NARROWER
    return x, excess, sigma * NARROWER


def _by_bands(program: RowProgram, x: Array, share: float, search: Search) -> Found:
    """The solution on the rows near their kinks, with more of them until all others are on their side."""
    fixed = FixedRows.none(program)
    if can_be_smoothed(program):
        x, excess, width = _smoothly(program, x, share, WIDTHS, search)
        band = _within(program, excess, 2.0 * width)
    else:
        excess = program.excess(x)
        band = _nearest(program, excess, share)
    for round_ in range(ROUNDS):
        if band.size > 0.7 * program.h.size:
            break
        sides = sides_of(program, excess)
        part, a = fixed.without(sides, band)
        outcome = _on_band(program, part, x, band, sides, search)
        if outcome is None:  # too few rows may leave the objective without a bound
            band = _nearest(program, excess, min(1.0, 4.0 * band.size / program.h.size))
            continue
        x, excess, exact, wrong = outcome
        if exact is not None:
            found = _assembled(program, exact, a, band, sides, excess, search)
            if _balanced(program, part, found):
                return found
            break
        reach = float(distances(program, excess)[wrong].max(initial=0.0))
        again = np.union1d(_within(program, excess, 1.5 * reach), wrong)
        band = np.union1d(band, again) if round_ >= 3 else again
    return solve_whole(program, np.flatnonzero(program.low < program.high), np.zeros_like(x), search)


def _on_band(
    program: RowProgram, part: RowProgram, x: Array, band: Indices, sides: NDArray[np.int8], search: Search
) -> tuple[Array, Array, Exact | None, Indices] | None:
    """The point on a band, exact where all other rows are on their side, and those that are not."""
    looked, stop = False, None
    for stop in search.walk(part, x):
        if not looked and stop.error <= FAIR:
            excess = program.excess(stop.point.x)
            wrong = _wrong(program, excess, band, sides)
            if wrong.size:
                return stop.point.x, excess, None, wrong
            looked = True
        if search.polish and stop.error <= NEAR and (exact := settle(part, stop.point)) is not None:
            excess = program.excess(exact.x)
            wrong = _wrong(program, excess, band, sides)
            return exact.x, excess, None if wrong.size else exact, wrong
    if stop is None or not looked:
        return None
    p = stop.point
    none = np.zeros(0, dtype=np.intp)
    return p.x, program.excess(p.x), Exact(p.x, p.a, p.nu, np.zeros(0, dtype=bool)), none


def _wrong(program: RowProgram, excess: Array, band: Indices, sides: NDArray[np.int8]) -> Indices:
    moved = sides_of(program, excess) != sides
    moved[band] = False
    return np.flatnonzero(moved)


def _assembled(
    program: RowProgram, exact: Exact, a: Array, band: Indices, sides: NDArray[np.int8], excess: Array, search: Search
) -> Found:
    a[band] = exact.a
    giving = sides == 2
    giving[band] = False
    a[giving] = excess[giving] / program.give[giving]
    return Found(
        exact.x, a, exact.nu, f"exact with {band.size} of {a.size} rows open, {len(search.tracer.lines)} steps"
    )


def _balanced(program: RowProgram, part: RowProgram, found: Found) -> bool:
    """Whether the gradient vanishes over all rows: digits can be lost where many large numbers were added up."""
    assert found.x is not None
    gradient = program.gradient(found.x, found.a, found.nu)
    size = np.abs(program.P) @ np.abs(found.x) + np.abs(program.q) + np.abs(program.A).T @ np.abs(found.nu)
    size += part.rows.column_max() * float(np.abs(found.a).sum())
    return bool(np.all(np.abs(gradient) <= BALANCED * (size + size.max(initial=0.0))))
