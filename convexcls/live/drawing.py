"""What there is to draw of a solution in the plane: boundary, slab, regions, slack, hulls, direction.

The geometry is that of the pictures (``plots/``); here it is put into the numbers that a page draws.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.describe.slackness import pulls
from convexcls.live.state import State
from convexcls.models import HardMarginSVM
from convexcls.plots.boundary import short_of, slack_lines
from convexcls.plots.from_solution import box, linear_coef, sample_multipliers, slab
from convexcls.plots.hulls import HullsDisplay
from convexcls.plots.plane import Area, Field, View, field_of, score_of
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.wording import plain_values

#: Places a side of the grid: of a linear score two are exact; others have to look smooth while they move.
LINEAR, CURVED, SEVERAL = 2, 61, 121
#: Coordinates are rounded to this share of the picture: a tenth of a pixel of a projector.
ROUNDING = 1e-5


class Pen:
    """Writes places of a picture as short numbers."""

    def __init__(self, state: State) -> None:
        left, right, bottom, top = state.frame
        step = ROUNDING * max(right - left, top - bottom)
        self.digits = int(np.clip(-np.floor(np.log10(step)), -12, 17))

    def line(self, places: Any) -> list[list[float]]:
        """Places, one a row."""
        return np.round(np.asarray(places, dtype=float), self.digits).tolist()

    def lines(self, several: Iterable[Any]) -> list[list[list[float]]]:
        """Several lines."""
        return [self.line(one) for one in several]

    def areas(self, several: Iterable[Area]) -> list[list[list[list[float]]]]:
        """Parts of the plane, each by its outline and its holes."""
        return [self.lines(area) for area in several]


def view_of(state: State) -> View:
    """The plane of the page: the two features as they are."""
    return View(np.eye(2), np.zeros(2), state.features, True)


def scores_over(state: State, solution: Solution) -> Field:
    """The scores of a solution over the frame."""
    coef = linear_coef(solution)
    finest = CURVED if coef is None else LINEAR if coef.ndim == 1 else SEVERAL
    return field_of(solution, view_of(state), state.frame, finest=finest)


def drawn(state: State, solution: Solution) -> dict[str, Any]:
    """Boundary, regions, slab and slack of a solution that is read at a point, whatever the verdict on it."""
    pen, field = Pen(state), scores_over(state, solution)
    out: dict[str, Any] = {
        "boundary": pen.lines(field.lines(0.0) if field.values.ndim == 2 else field.borders()),
        "regions": [pen.areas(areas) for areas in field.regions()],
    }
    held = slab(solution) if field.values.ndim == 2 else None
    if held is None:
        return {**out, "slab": None}
    rows = short_of(solution, held)
    places = np.array([(x, y) for x, y, _ in state.points])[rows]
    score = score_of(solution, view_of(state))
    found, segments = slack_lines(solution, held, rows, places, score, state.frame)
    out["slab"] = {
        "level": held,
        "margins": [pen.lines(field.lines(-held)), pen.lines(field.lines(held))],
        "area": pen.areas(field.areas(-held, held)),
        "slack": [{"row": int(i), "segment": pen.line(segment)} for i, segment in zip(found, segments, strict=True)],
    }
    return out


def discs(solution: Solution) -> dict[str, Any] | None:
    """What each sample's disc shows: its multiplier, with the bound C where there is one; of a loss its pull."""
    try:
        alpha, upper = sample_multipliers(solution), box(solution)
        bound = None if upper is None else float(np.max(upper))
        return {"symbol": "α", "name": "multiplier", "values": plain_values(alpha), "bound": bound}
    except NoAnswer:
        pass
    n = solution.data.n
    for term in solution.problem.terms:
        if term.kind == "samples" and term.size == n and term.loss.width == 1:
            return {"symbol": "λ", "name": "pull", "values": plain_values(pulls(solution, term)), "bound": None}
    return None


def hulls(state: State, solution: Solution) -> dict[str, Any] | None:
    """The convex hulls of two classes: the point that both share, or the nearest points; None where hulls tell
    nothing, or where nobody asks, as of a model that does not mind them."""
    wanted = solution.problem.kind in (HardMarginSVM.kind, "max-margin") or solution.status == "infeasible"
    if not wanted:
        return None
    try:
        display = HullsDisplay.of(solution)
    except NoAnswer:
        return None
    pen = Pen(state)
    return {
        "corners": pen.lines(display.hulls),
        "weights": [{"row": i, "value": float(w), "text": _share(w)} for i, w in display.weights.items()],
        "ends": pen.line(display.ends),
        "meet": not display.separable,
        "distance": 0.0 if not display.separable else display.distance,
    }


def _share(weight: Any) -> str:
    """A weight as a fraction where it is a short one."""
    text = str(weight)
    return text if "/" in text and len(text) <= 7 else f"{float(weight):.3g}"


def runaway(state: State, solution: Solution) -> dict[str, Any] | None:
    """The line that a direction without end draws, and which way it goes; None where it is none of the plane."""
    way = solution.certificate.direction
    if solution.status != "unattained" or way is None or "coef" not in solution.problem.layout:
        return None
    ahead = replace(solution, x=np.array(way.x), at_last_point=True)
    try:
        coef = np.asarray(ahead.coef)
        field = scores_over(state, ahead)
    except (NoAnswer, ValueError):
        return None
    lines = Pen(state).lines(field.lines(0.0) if field.values.ndim == 2 else field.borders())
    return {"lines": lines, "normal": _unit(coef) if coef.ndim == 1 and coef.size == 2 else None}


def _unit(coef: Array) -> list[float] | None:
    size = float(np.linalg.norm(coef))
    return (coef / size).tolist() if size > 0 else None
