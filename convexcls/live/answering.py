"""A state in, what the page shows of it out: the message contract. Pure Python, no web."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from convexcls.data import DataError
from convexcls.describe.problem import title
from convexcls.live import drawing, keeping, telling
from convexcls.live.state import Asked, State, read_state
from convexcls.live.way import limits, way
from convexcls.plots.from_solution import SEVERAL_BORDERS, equation
from convexcls.problem import NoAnswer, ProblemError
from convexcls.solution import Solution
from convexcls.solvers import SolverRefused
from convexcls.wording import plain_values

PICTURE = "convexcls-picture/1"
#: What a model says of points that it does not take, such as one class alone.
REFUSALS = (DataError, ProblemError, SolverRefused, NoAnswer, ValueError)


def answer(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a page shows of a state, a panel for each model that it asks for."""
    state = read_state(given)
    return {"schema": PICTURE, "panels": [_panel(state, asked) for asked in state.panels]}


@np.errstate(all="ignore")  # what overflows is not drawn
def _panel(state: State, asked: Asked) -> dict[str, Any]:
    """One model on the points: solved, judged, and put into what is drawn and told."""
    begun = time.perf_counter()
    try:
        solution = _solved(state, asked)
    except REFUSALS as refusal:
        return {"model": asked.model, "title": asked.offer.title, "refused": str(refusal)}
    shown: dict[str, Any] = {
        "model": asked.model,
        "title": title(solution.problem),
        "refused": None,
        "solver": solution.solver,
        "iterations": solution.iterations,
        **telling.verdict(solution),
        **_picture(state, solution),
        "residuals": telling.residuals(solution),
        "samples": telling.samples(solution),
        "words": telling.words(solution),
        "infinity": None if state.moving else telling.infinity(solution),
        "formulas": None if state.moving else telling.formulas(solution.problem, solution),
        "way": way(state, solution) if asked.path else None,
        "exact": keeping.exactly(state, asked, solution) if state.level == "exact" else None,
    }
    return {**shown, "seconds": time.perf_counter() - begun}


def _solved(state: State, asked: Asked) -> Solution:
    if state.level == "exact":
        return state.declare(asked, exactly=True).solve(level="exact")
    options = {**limits(asked.solver), **({"keep": "points"} if asked.path else {})}
    return state.declare(asked).solve(asked.solver, **options)


def _picture(state: State, solution: Solution) -> dict[str, Any]:
    """Lines, areas and discs; without a point the hulls tell why there is none."""
    out: dict[str, Any] = {"drawn": None, "discs": None, "coef": None, "intercept": None, "equation": ""}
    out |= {"hulls": drawing.hulls(state, solution), "runaway": drawing.runaway(state, solution)}
    if solution.x is None:
        return out
    at_point = replace(solution, at_last_point=True)
    try:
        out["drawn"] = drawing.drawn(state, at_point)
        found = equation(at_point)
        out["equation"] = "" if found == SEVERAL_BORDERS else found
    except NoAnswer:
        return out
    if solution.status != "unattained":
        out["discs"] = drawing.discs(at_point)
        with suppress(NoAnswer):
            out |= {"coef": plain_values(solution.coef), "intercept": plain_values(solution.intercept)}
    return out
