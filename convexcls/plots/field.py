"""Scores over the plane of a picture, and the lines on which they have a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array
from convexcls.plots.view import View
from convexcls.solution import Solution

Frame = tuple[float, float, float, float]
Score = Callable[[Array], Array]
#: Places a side: fine enough that curves look smooth, as long as a score is cheap.
FINEST, COARSEST = 201, 25
#: So many products are spent on one grid, and so many numbers are held at a time.
BUDGET, BLOCK = 2e7, 4_000_000
#: Newton's method towards a margin: steps, and how near counts as there.
FOOT_STEPS, THERE = 25, 1e-6


@dataclass(frozen=True, eq=False)
class Field:
    """Scores on a grid: ``values[i, j]`` (and one for each class, where there are several) at (u[j], v[i])."""

    u: Array
    v: Array
    values: Array

    def lines(self, level: float) -> list[Array]:
        """The lines where the score of two classes has a value: for each its places, one a row."""
        return _contours(self.u, self.v, self.values, level)

    def borders(self) -> list[Array]:
        """The lines between the regions of several classes."""
        out = []
        for k in range(self.values.shape[2] - 1):
            others = np.delete(self.values, k, axis=2).max(axis=2)
            out += _contours(self.u, self.v, self.values[:, :, k] - others, 0.0)
        return out


def frame_of(places: Array, line: bool = False) -> Frame:
    """The part of the plane that holds the places, with room around them; on a line, around each class."""
    low, high = places.min(axis=0), places.max(axis=0)
    width = high - low
    largest = float(width.max())
    if not largest > 0:
        largest = float(np.abs(places).max()) or 1.0
    room = np.where(width > 1e-9 * largest, 0.12 * width, 0.4 * largest)
    if line:
        room[1] = 0.45
        low, high = low * [1, 0], high
    (left, bottom), (right, top) = low - room, high + room
    return float(left), float(right), float(bottom), float(top)


def score_of(solution: Solution, view: View) -> Score:
    """The score of a solution as a function of places, a block at a time."""
    width = max(view.centre.size, solution.data.d)

    def score(places: Array) -> Array:
        rows = max(1, BLOCK // width)
        parts = [solution.decision_function(view.lift(places[k : k + rows])) for k in range(0, len(places), rows)]
        return np.concatenate(parts)

    return score


def field_of(solution: Solution, view: View, frame: Frame, score: Score | None = None) -> Field:
    """The score on a grid over the frame. A linear score is exact on any grid; others get as fine a one as they can."""
    cost = max(view.centre.size, solution.data.d)
    if "margin" in solution.problem.layout:
        cost = max(cost, int(solution.support.size))
    side = int(np.clip(np.sqrt(BUDGET / cost), COARSEST, FINEST))
    u, v = np.linspace(frame[0], frame[1], side), np.linspace(frame[2], frame[3], side)
    if view.is_line:
        v = np.array([frame[2], frame[3]])
    grid = np.column_stack([part.ravel() for part in np.meshgrid(u, v)])
    values = (score or score_of(solution, view))(grid)
    return Field(u, v, values.reshape(v.size, u.size, *values.shape[1:]))


def feet(score: Score, places: Array, levels: Array, frame: Frame) -> Array:
    """From each place the way along the slope of the score to where it has its level; NaN where none was found. Of a
    linear score this is the foot of the perpendicular, after one step."""
    size = np.array([frame[1] - frame[0], frame[3] - frame[2]])
    at = places.copy()
    for _ in range(FOOT_STEPS):
        missing = levels - score(at)
        if np.all(np.abs(missing) <= THERE):
            break
        slope = _slope(score, at, 1e-4 * size)
        steep = np.maximum((slope**2).sum(axis=1), 1e-300)
        step = (missing / steep)[:, None] * slope
        longest = np.abs(step / size).max(axis=1)
        at = at + step * np.minimum(1.0, 0.2 / np.maximum(longest, 1e-300))[:, None]
    at[np.abs(levels - score(at)) > 1e3 * THERE] = np.nan
    return at


def _slope(score: Score, at: Array, step: Array) -> Array:
    """Central differences."""
    shifts = [np.array([step[0], 0.0]), np.array([0.0, step[1]])]
    return np.column_stack([(score(at + shift) - score(at - shift)) / (2 * shift.sum()) for shift in shifts])


def _contours(u: Array, v: Array, values: Array, level: float) -> list[Array]:
    from contourpy import contour_generator

    if not np.all(np.isfinite(values)) or np.ptp(values) == 0:
        return []
    return [np.asarray(line) for line in contour_generator(u, v, values).lines(level)]
