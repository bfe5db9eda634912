"""Few of many rows decide: a program is solved on the rows near their kinks, the others being fixed on their side.

Where that is comes from a sample of the rows, whose solution is off by about sqrt(k/m), k unknowns, m rows; so that is
the share of the rows that have to be looked at again. A pass over all rows then shows which are on the wrong side:
with these and their neighbours it is done again. The last answer is that of all rows.

The rows of a sample stand for all, each for a number of them. Where all rows are alike they are drawn alike. A category
of few rows, or a column with few large entries, is missing in such a sample, and its coefficient then is anything. So
rows are drawn by their importance, half of it even, half of it
their share in the columns, sum_j |R_ij| / sum_l |R_lj|: by priority sampling (Duffield, Lund and Thorup 2007), in which
the m rows with the largest importance_i / u_i, u_i uniform, stand for max(1, t / importance_i) rows each, t the next of
these quotients.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from convexcls.arrays import Array, Indices
from convexcls.solvers.rows.changing_gram import ChangingGram
from convexcls.solvers.rows.finish import Exact, finish
from convexcls.solvers.rows.interior_point_run import NEAR_ERROR, RowSolution, Run, solve_whole
from convexcls.solvers.rows.row_program import BROKEN, CURVED, HIGH, Partition, RowProgram, working_copy
from convexcls.solvers.rows.smoothing import Smoothed

#: Samples have to have so many rows at least, and so many for each unknown; each is so many times the one before.
SMALLEST_SAMPLE = 600
ROWS_PER_UNKNOWN = 12
SAMPLE_GROWTH = 4
#: The band, in units of sqrt(k/m).
BAND_FACTOR = 0.75
#: How near a solution on a sample, or on a band that is not the last, has to be.
ROUGH_ERROR = 1e-3
FAIR_ERROR = 1e-5
#: With more unknowns, looking for the exact solution costs more than further steps: then it is looked for this near.
MANY_UNKNOWNS, NEAR_ERROR_OF_MANY = 250, 1e-9
MAX_ROUNDS = 12
#: Rows that join a band because they are near, as a multiple of those in it; all that were on the wrong side join, too.
BAND_GROWTH = 1
#: The gradient over all rows, relative to what was added up, where the answer on a band is that of all.
BALANCED_GRADIENT = 1e-13
#: How often rows are smoothed before the band is chosen, each time so much narrower.
SMOOTHED_WIDTHS = 3
WIDTH_FACTOR = 4.0
#: Rows that are nearer to their kinks than this share of what is typical are tied.
TIED_SHARE = 0.25
#: From afar, all rows are smoothed where there are so many for each unknown: to this width, in units of the right-hand
#: sides, and to narrower ones until so many rows for each unknown are within.
FEWEST_ROWS_PER_UNKNOWN, SAMPLED_ROWS_PER_UNKNOWN = 4, 48
FIRST_WIDTH, MAX_WIDTHS, BAND_ROWS_PER_UNKNOWN = 1.2, 8, 2
#: Of rows that are read by block a sample has no more entries.
MAX_GATHERED_ENTRIES = 5_000_000
#: How far each time, as a share of the width, and in how many steps.
ACCURACY, MAX_STEPS_PER_WIDTH = 0.05, 8
#: A column is in a sample where its squares add up to so many times that of its largest entry.
ENTRIES_PER_COLUMN = 8.0


@dataclass(frozen=True, eq=False)
class RowOrder:
    """The rows that can be drawn, the first ones of which are a sample, and how many rows they stand for."""

    rows: Indices
    #: The importance of each, and the quotients by which they are ordered; None where all are alike.
    priority: tuple[Array, Array] | None
    count: int

    @classmethod
    def of(cls, program: RowProgram, most: int, least: int) -> RowOrder:
        """Of samples that have between ``least`` and ``most`` rows."""
        many, rng = np.flatnonzero(program.sampled), np.random.default_rng(0)
        alike = rng.choice(many, most, replace=False)
        if _covers(program, alike[:least]):
            return cls(alike, None, many.size)
        importance = _importance(program)[many]
        quotient = importance / (1.0 - rng.random(many.size))
        order = np.argsort(-quotient)[: most + 1]
        return cls(many[order], (importance[order], quotient[order]), many.size)

    def sample(self, m: int) -> tuple[Indices, Array]:
        """The first m rows, and how many each stands for."""
        if self.priority is None:
            return self.rows[:m], np.full(m, self.count / m)
        importance, quotient = self.priority
        return self.rows[:m], np.maximum(1.0, quotient[min(m, quotient.size - 1)] / importance[:m])


def can_be_sampled(program: RowProgram) -> bool:
    """Whether the rows are so many that some can stand for all."""
    return bool(program.sampled.sum() > 2 * _smallest_sample(program))


def can_be_smoothed_from_afar(program: RowProgram) -> bool:
    """Whether the rows are many, but too few for each unknown to be sampled at ease."""
    n, k = int(program.sampled.sum()), program.q.size
    many = n > max(2 * SMALLEST_SAMPLE, FEWEST_ROWS_PER_UNKNOWN * k)
    return many and n < SAMPLED_ROWS_PER_UNKNOWN * k and program.can_be_smoothed and bool(np.any(program.h))


def _smallest_sample(program: RowProgram) -> int:
    return max(SMALLEST_SAMPLE, ROWS_PER_UNKNOWN * program.q.size)


def solve_on_few_rows(program: RowProgram, x: Array | None, run: Run) -> RowSolution:
    """The solution of the program from a point, or from samples of its rows where they are many; with all rows open
    where neither helps."""
    n, k = program.h.size, program.q.size
    share = 1.0 if x is None else BAND_FACTOR * float(np.sqrt(k / max(n, 1)))
    if x is None and can_be_smoothed_from_afar(program):
        return _by_bands(program, *_from_afar(program, run), run)
    if x is None and can_be_sampled(program):
        x, share = _from_samples(program, run)
    if x is None or share >= 0.5:
        return solve_whole(program, x, run)
    if not program.can_be_smoothed:
        excess = program.excess(x)
        return _by_bands(program, x, excess, _nearest(program, excess, share), run)
    x, excess, width = _smoothly(program, x, _width(program, program.excess(x), share), SMOOTHED_WIDTHS, run)
    return _by_bands(program, x, excess, _within(program, excess, 2.0 * width), run)


def _from_samples(program: RowProgram, run: Run) -> tuple[Array | None, float]:
    """A point near the solution, and the share of the rows whose side it leaves open."""
    smallest = _smallest_sample(program)
    sizes = [int(np.count_nonzero(program.sampled))]
    while sizes[-1] > SAMPLE_GROWTH * smallest:
        sizes.append(sizes[-1] // SAMPLE_GROWTH)
    if len(sizes) == 1:
        sizes.append(max(smallest, sizes[0] // SAMPLE_GROWTH))
    if program.rows.by_block is not None:  # a sample is gathered here
        most = max(smallest, MAX_GATHERED_ENTRIES // program.q.size)
        sizes[1:] = sorted({min(size, most) for size in sizes[1:]}, reverse=True)
    order, few = RowOrder.of(program, sizes[1], sizes[-1]), np.flatnonzero(~program.sampled)
    x: Array | None = None
    size = 0
    for m in reversed(sizes[1:]):
        drawn, stands_for = order.sample(m)
        part = program.sample(np.concatenate([drawn, few]), np.concatenate([stands_for, np.ones(few.size)]))
        rough = _roughly(part, x, _share(program, size), run)
        if rough is not None:
            x, size = rough, m
    return x, _share(program, size)


def _share(program: RowProgram, m: int) -> float:
    return 1.0 if m == 0 else BAND_FACTOR * float(np.sqrt(program.q.size / m))


def _nearest(program: RowProgram, excess: Array, share: float) -> Indices:
    """The rows nearest to their kinks, as large a share as asked for, and those that are not one of many."""
    distance = program.distances(excess)
    distance[~program.sampled & (program.low < program.high)] = 0.0
    open_rows = int(np.isfinite(distance).sum())
    count = min(open_rows, int(np.ceil(share * distance.size)) + 2 * program.q.size)
    near = np.zeros(distance.size, dtype=bool)
    if count:
        near[np.argpartition(distance, count - 1)[:count]] = True
    near |= (distance == 0.0) | (program.partition(excess) == BROKEN)
    return np.flatnonzero(near)


def _within(program: RowProgram, excess: Array, width: float, most: int | None = None) -> Indices:
    """The rows that near to their kinks, about so many at most, those that are not one of many, and those that cannot
    stay where they are."""
    distance = program.distances(excess)
    last = distance.size - 1
    fewest = min(2 * program.q.size, last)
    most = last if most is None else max(fewest, min(most, last))
    nearest, farthest = np.partition(distance, (fewest, most))[[fewest, most]]
    near = distance <= min(max(width, nearest), farthest)
    near |= ~program.sampled | (program.partition(excess) == BROKEN)
    return np.flatnonzero(near & (program.low < program.high))


def _roughly(program: RowProgram, x: Array | None, share: float, run: Run) -> Array | None:
    """A point near the solution of a sample; None where there is none."""
    if x is not None and share < 0.5 and program.can_be_smoothed:
        return _smoothly(program, x, _width(program, program.excess(x), share), 1, run)[0]
    if x is None or share >= 0.5:
        part, x = program.restricted(program.open_rows), np.zeros_like(program.q)
    else:
        excess = program.excess(x)
        part, _ = FixedRows.none(program).without(program.partition(excess), _nearest(program, excess, share))
    for stop in run.walk(part, x):
        if stop.error <= ROUGH_ERROR:
            return stop.point.x
    return None


def _width(program: RowProgram, excess: Array, share: float) -> float:
    """The distance within which such a share of the rows is."""
    distance = program.distances(excess)
    count = int(np.ceil(share * distance.size))
    # where rows are tied by the thousand, that is rounding: of the others some are farther than this
    typical = float(distance[np.isfinite(distance)].mean())
    return max(float(np.partition(distance, count)[count]), TIED_SHARE * share * typical)


def _smoothly(
    program: RowProgram, x: Array, width: float, times: int, run: Run, few: int = 0
) -> tuple[Array, Array, float]:
    """x and the excess after smoothing the rows to smaller and smaller widths, and the last width: that of ``times``
    ones, or the first in which the rows nearly within are few."""
    excess, nu = program.excess(x), np.zeros(program.b.size)
    if np.all(program.compliance > 0):  # smooth as it is
        times, width = 1, width / WIDTH_FACTOR ** (times - 1)
    smooth = Smoothed.to_width(program, width)
    for k in range(times):
        if k:
            smooth = smooth.narrower(WIDTH_FACTOR)
        with suppress(LinAlgError):  # then the path begins where it is
            x, nu, excess = smooth.minimise(x, nu, excess, ACCURACY, MAX_STEPS_PER_WIDTH)
        # on a sample the point is none of the problem's
        at = (x, program.best_multipliers(excess), nu) if program.rows is run.all_rows else None
        run.record(program.quadratic(x) + program.cost(excess), smooth.width, 1.0, {"rows": excess.size}, at)
        if np.count_nonzero(program.distances(excess) <= 2.0 * smooth.width) <= few:
            break
    return x, excess, smooth.width


def _from_afar(program: RowProgram, run: Run) -> tuple[Array, Array, Indices]:
    """A point near the solution by smoothing all rows, its excess and the rows near their kinks."""
    x = np.zeros_like(program.q)
    width = FIRST_WIDTH * float(np.abs(program.excess(x)).max(initial=0.0))
    x, excess, width = _smoothly(program, x, width, MAX_WIDTHS, run, few=BAND_ROWS_PER_UNKNOWN * x.size)
    return x, excess, _within(program, excess, 2.0 * width)


def _by_bands(program: RowProgram, x: Array, excess: Array, band: Indices, run: Run) -> RowSolution:
    """The solution on the rows near their kinks, with more of them until all others are on their side."""
    fixed = FixedRows.none(program)
    for _ in range(MAX_ROUNDS):
        if band.size > 0.7 * program.h.size:
            break
        partition = program.partition(excess)
        part, a = fixed.without(partition, band)
        outcome = _on_band(program, part, x, band, partition, run)
        if outcome is None:  # too few rows may leave the objective without a bound
            band = _nearest(program, excess, min(1.0, 4.0 * band.size / program.h.size))
            continue
        x, excess, exact, wrong = outcome
        if exact is not None:
            found = _assembled(program, exact, a, band, partition, excess, run)
            if _balanced(program, part, found):
                return found
            break
        reach = float(program.distances(excess)[wrong].max(initial=0.0))
        wider = _within(program, excess, 1.5 * reach, BAND_GROWTH * band.size)
        band = np.union1d(np.union1d(band, wrong), wider)
    return solve_whole(program, None, run)


def _on_band(
    program: RowProgram, part: RowProgram, x: Array, band: Indices, partition: Partition, run: Run
) -> tuple[Array, Array, Exact | None, Indices] | None:
    """The point on a band, exact where all other rows are on their side, and those that are not."""
    looked, stop, near = False, None, NEAR_ERROR if part.q.size <= MANY_UNKNOWNS else NEAR_ERROR_OF_MANY
    for stop in run.walk(part, x):
        if not looked and stop.error <= FAIR_ERROR:
            excess = program.excess(stop.point.x)
            wrong = _wrong(program, excess, band, partition)
            if wrong.size:
                return stop.point.x, excess, None, wrong
            looked = True
        if run.polish and stop.error <= near and (exact := finish(part, *stop.point.iterate)) is not None:
            excess = program.excess(exact.x)
            wrong = _wrong(program, excess, band, partition)
            return exact.x, excess, None if wrong.size else exact, wrong
    if stop is None or not looked:
        return None
    p = stop.point
    none = np.zeros(0, dtype=np.intp)
    return p.x, program.excess(p.x), Exact(p.x, p.a, p.nu), none


def _wrong(program: RowProgram, excess: Array, band: Indices, partition: Partition) -> Indices:
    moved = program.partition(excess) != partition
    moved[band] = False
    return np.flatnonzero(moved)


def _assembled(
    program: RowProgram, exact: Exact, a: Array, band: Indices, partition: Partition, excess: Array, run: Run
) -> RowSolution:
    a[band] = exact.a
    curved = partition == CURVED
    curved[band] = False
    a[curved] = excess[curved] / program.compliance[curved]
    return RowSolution(
        exact.x, a, exact.nu, f"exact with {band.size} of {a.size} rows open, {len(run.tracer.lines)} steps"
    )


def _balanced(program: RowProgram, part: RowProgram, found: RowSolution) -> bool:
    """Whether the gradient vanishes over all rows: digits can be lost where many large numbers were added up."""
    assert found.x is not None
    gradient = program.gradient(found.x, found.a, found.nu)
    size = np.abs(program.P) @ np.abs(found.x) + np.abs(program.q) + np.abs(program.A).T @ np.abs(found.nu)
    size += part.rows.column_max() * float(np.abs(found.a).sum())
    return bool(np.all(np.abs(gradient) <= BALANCED_GRADIENT * (size + size.max(initial=0.0))))


@dataclass(eq=False)
class FixedRows:
    """The rows that stay on their side, and what they add up to: a linear cost, a curvature and a constant."""

    program: RowProgram
    gram: ChangingGram

    @classmethod
    def none(cls, program: RowProgram) -> FixedRows:
        stiffness = np.divide(
            1.0, program.compliance, out=np.zeros_like(program.compliance), where=program.compliance > 0
        )
        return cls(program, ChangingGram(program.rows, stiffness))

    def without(self, partition: Partition, band: Indices) -> tuple[RowProgram, Array]:
        """The program on the rows of the band, the others on their side, and the a of those (0 in the band)."""
        program = self.program
        a = np.where(partition == HIGH, program.high, program.low)
        curved = partition == CURVED
        curved[band] = False
        a[curved] = 0.0
        a[band] = 0.0
        constant, curvature, pulling = -float(a @ program.h), None, a
        if np.any(program.compliance):
            curvature = self.gram.of(curved)
            h, compliance = program.h[curved], program.compliance[curved]
            pulling = a.copy()
            pulling[curved] = -h / compliance
            constant += 0.5 * float((h / compliance) @ h)
        pull = program.rows.T @ pulling if np.any(pulling) else np.zeros_like(program.q)
        return program.restricted(band, pull, curvature, constant), a


def _covers(program: RowProgram, index: Indices) -> bool:
    """Whether every column has enough entries in some rows."""
    squares = working_copy(program.rows, np.sort(index)).gram_diagonal(np.ones(index.size))
    return bool(np.all(squares >= ENTRIES_PER_COLUMN * program.rows.column_max() ** 2))


def _importance(program: RowProgram) -> Array:
    n, k = program.rows.shape
    sizes = abs(program.rows)
    total = sizes.transposed_matmul(np.ones(n))
    shares = sizes @ np.divide(1.0, total, out=np.zeros(k), where=total > 0)
    return np.asarray(0.5 / n + 0.5 * shares / max(float(shares.sum()), 1e-300))
