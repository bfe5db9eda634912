"""The plane of a picture: where a sample of any number of features is drawn, what a place stands for, the scores over
it and the lines on which they have a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots.style import plain
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.wording import listed

#: Steps of the power method towards the first principal direction: a picture needs no more digits.
POWER_STEPS = 100
#: Samples whose largest entry is not between these are not drawn: fourth powers leave the range of doubles.
SMALLEST_DRAWN, LARGEST_DRAWN = 1e-70, 1e70


#: Places a side: fine enough that curves look smooth, as long as a score is cheap.
FINEST, COARSEST = 201, 25
#: So many products are spent on one grid, and so many numbers are held at a time.
BUDGET, BLOCK = 2e7, 4_000_000
#: Newton's method towards a margin: steps, and how near counts as there.
FOOT_STEPS, THERE = 25, 1e-6


#: What the axes of a projection are called, by the rank of coef: none, one, several.
DIRECTIONS = (
    ("first principal direction", "second principal direction"),
    ("along coef: x·β / ‖β‖", "principal direction orthogonal to coef"),
    ("first principal direction of the coefs", "second principal direction of the coefs"),
)


@dataclass(frozen=True, eq=False)
class View:
    """A sample x is drawn at axes x; the place u stands for centre + axes' (u - axes centre). The axes are one or two
    orthonormal rows; where there is one feature, the second coordinate is the class. ``faithful`` says whether a linear
    score is a function of the place alone."""

    axes: Array
    centre: Array
    names: tuple[str, str]
    faithful: bool

    @property
    def is_line(self) -> bool:
        """Whether there is only one feature."""
        return self.axes.shape[0] == 1

    def as_section(self) -> View:
        """The same plane, said to be one of many: what does not lie in it is drawn as it is at the mean."""
        return replace(self, names=(f"{self.names[0]}\n(all else at its mean)", self.names[1]), faithful=False)

    def places(self, samples: Any, classes: Indices) -> Array:
        """Where samples are drawn, one row each."""
        along = np.asarray(samples @ self.axes.T, dtype=float)
        return np.column_stack([along, classes]) if self.is_line else along

    def lift(self, places: Array) -> Array:
        """The samples that places stand for."""
        within = places[:, : self.axes.shape[0]] - self.centre @ self.axes.T
        return self.centre + within @ self.axes


def choose_view(
    samples: Any, names: Sequence[str], coef: Array | None, features: tuple[Any, Any] | None, shown: Indices
) -> View:
    """Two features as they are; of more the two that are named, the others at their mean; or, where none are named, the
    plane of coef and of the first principal direction orthogonal to it (of several rows of coef the first two principal
    ones). Without coef, as with a kernel, the first two principal directions. ``NoAnswer`` where the numbers are beyond
    what can be drawn."""
    if reason := not_drawn(samples):
        raise NoAnswer(reason)
    d = samples.shape[1]
    centre = np.asarray(samples.mean(axis=0), dtype=float).ravel()
    if features is not None:
        return _named_view(names, features, centre)
    if d <= 2:
        return View(np.eye(d), centre, (plain(names[0]), plain(names[1]) if d == 2 else "class"), True)
    given = np.zeros((0, d)) if coef is None else _row_space(np.atleast_2d(coef))
    rank, rows = len(given), list(given[:2])
    while len(rows) < 2:
        rows.append(_principal(samples[shown], centre, np.array(rows).reshape(-1, d)))
    view = View(np.array(rows), centre, DIRECTIONS[min(rank, 2)], rank in (1, 2))
    return view if view.faithful else view.as_section()


def not_drawn(samples: Any) -> str:
    """Why samples are not drawn: their numbers are too large or too small; empty where they are not."""
    if getattr(samples, "by_block", None) is not None:
        return "samples that are read by block are not drawn: draw some of them"
    largest = float(abs(samples).max()) if min(samples.shape) else 0.0
    if not largest or SMALLEST_DRAWN <= largest <= LARGEST_DRAWN:
        return ""
    return f"samples with entries up to {largest:.1e} are not drawn: state the features in other units"


def _named_view(names: Sequence[str], features: tuple[Any, Any], centre: Array) -> View:
    d = len(names)
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features is {features!r}: name two, by their names or numbers, such as (0, 1)")
    chosen = [_feature(names, feature) for feature in features]
    if chosen[0] == chosen[1]:
        raise ValueError(f"features names {names[chosen[0]]!r} twice: name two different ones")
    axes = np.zeros((2, d))
    axes[[0, 1], chosen] = 1.0
    view = View(axes, centre, (plain(names[chosen[0]]), plain(names[chosen[1]])), d == 2)
    return view if d == 2 else view.as_section()


def _feature(names: Sequence[str], feature: Any) -> int:
    if isinstance(feature, str):
        if feature in names:
            return list(names).index(feature)
    elif isinstance(feature, (int, np.integer)) and 0 <= feature < len(names):
        return int(feature)
    shown = listed(names, 8)
    raise ValueError(f"there is no feature {feature!r}: the features are 0 to {len(names) - 1}, named {shown}")


def _row_space(coef: Array) -> Array:
    """Orthonormal directions that coef's rows span, the strongest first; of one row itself, not its opposite."""
    size = float(np.abs(coef).max(initial=0.0))
    if not size > 0 or not np.isfinite(size):
        return np.zeros((0, coef.shape[1]))
    _, values, directions = np.linalg.svd(coef / size, full_matrices=False)
    directions = directions[values > 1e-9 * values[0]]
    if len(directions) == 1:
        return directions * np.sign(directions @ coef[0])[:, None]
    return np.array([_pointed(direction) for direction in directions])


def _principal(samples: Any, centre: Array, before: Array) -> Array:
    """The direction of the greatest spread of the samples among those orthogonal to ``before``."""

    def orthogonal(v: Array) -> Array:
        return v - before.T @ (before @ v)

    spread = np.asarray(abs(samples).max(axis=0), dtype=float) if not hasattr(samples, "toarray") else None
    start = centre * 0 + 1.0 if spread is None else spread + 1e-3 * (float(spread.max()) or 1.0)
    v = orthogonal(start / np.sqrt(np.arange(1, centre.size + 1)))
    for _ in range(POWER_STEPS):
        along = np.asarray(samples @ v).ravel() - centre @ v
        after = orthogonal(np.asarray(samples.T @ along).ravel() - centre * along.sum())
        size = float(np.linalg.norm(after))
        if not size > 0 or not np.isfinite(size):  # no spread is left: any orthogonal direction will do
            break
        v = after / size
    length = float(np.linalg.norm(v))
    if not length > 0:
        v = max((orthogonal(e) for e in np.eye(2, centre.size)), key=lambda o: float(np.linalg.norm(o)))
        length = float(np.linalg.norm(v))
    return _pointed(v / length)


def _pointed(v: Array) -> Array:
    """The direction whose largest entry is positive."""
    return v * np.sign(v[int(np.argmax(np.abs(v)))])


# ---- scores over the plane ------------------------------------------------------------------------------

Frame = tuple[float, float, float, float]

Score = Callable[[Array], Array]

#: A part of the plane: the corners of its outline, then of its holes.
Area = list[Array]


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

    def areas(self, low: float, high: float) -> list[Area]:
        """Where the score of two classes is between two values."""
        return _filled(self.u, self.v, self.values, low, high)

    def regions(self) -> list[list[Area]]:
        """Where each class has the largest score; of two classes where the score is below 0, and where above."""
        if self.values.ndim == 2:
            return [self.areas(-np.inf, 0.0), self.areas(0.0, np.inf)]
        out = []
        for k in range(self.values.shape[2]):
            ahead = self.values[:, :, k] - np.delete(self.values, k, axis=2).max(axis=2)
            out.append(_filled(self.u, self.v, ahead, 0.0, np.inf))
        return out


def frame_of(places: Array, line: bool = False) -> Frame:
    """The part of the plane that holds the places, with room around them; on a line, around each class."""
    low, high = places.min(axis=0), places.max(axis=0)
    width = high - low
    largest = float(width.max())
    if not largest > 0:
        largest = float(np.abs(places).max()) or 1.0
    padding = np.where(width > 1e-9 * largest, 0.12 * width, 0.4 * largest)
    if line:
        padding[1] = 0.45
        low, high = low * [1, 0], high
    (left, bottom), (right, top) = low - padding, high + padding
    return float(left), float(right), float(bottom), float(top)


def score_of(solution: Solution, view: View) -> Score:
    """The score of a solution as a function of places, a block at a time."""
    width = max(view.centre.size, solution.data.d)

    def score(places: Array) -> Array:
        rows = max(1, BLOCK // width)
        parts = [solution.decision_function(view.lift(places[k : k + rows])) for k in range(0, len(places), rows)]
        return np.concatenate(parts)

    return score


def field_of(solution: Solution, view: View, frame: Frame, score: Score | None = None, finest: int = FINEST) -> Field:
    """The score on a grid over the frame. A linear score is exact on any grid; others get as fine a one as they can, up
    to ``finest`` places a side."""
    cost = max(view.centre.size, solution.data.d)
    if "margin" in solution.problem.layout:
        cost = max(cost, int(solution.support.size))
    side = int(np.clip(np.sqrt(BUDGET / cost), min(COARSEST, finest), finest))
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
    """Central differences, all scores at once."""
    right, up = np.array([step[0], 0.0]), np.array([0.0, step[1]])
    ahead, behind, above, below = np.split(score(np.vstack([at + right, at - right, at + up, at - up])), 4)
    return np.column_stack([(ahead - behind) / (2 * step[0]), (above - below) / (2 * step[1])])


def _contours(u: Array, v: Array, values: Array, level: float) -> list[Array]:
    from contourpy import contour_generator

    if not np.all(np.isfinite(values)) or np.ptp(values) == 0:
        return []
    return [np.asarray(line) for line in contour_generator(u, v, values).lines(level)]


def _filled(u: Array, v: Array, values: Array, low: float, high: float) -> list[Area]:
    from contourpy import FillType, contour_generator

    if not np.all(np.isfinite(values)):
        return []
    low, high = max(low, float(values.min()) - 1.0), min(high, float(values.max()) + 1.0)
    if not low < high:
        return []
    outlines, starts = contour_generator(u, v, values, fill_type=FillType.OuterOffset).filled(low, high)
    return [np.split(corners, at[1:-1]) for corners, at in zip(outlines, starts, strict=True)]
