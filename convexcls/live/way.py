"""The way of a solver, step by step: where its boundary stood, both values and the KKT residuals at each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.live.drawing import Pen, scores_over
from convexcls.live.state import State
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.residuals import KKT
from convexcls.solution import Solution
from convexcls.solvers import solver_class
from convexcls.solvers.rules.perceptron_report import PerceptronReport

#: So many steps are shown, and so many a solver makes that would make thousands.
MAX_STEPS_SHOWN, MAX_STEPS_MADE = 48, 400
MAX_UPDATES = 2000


def limits(solver: str) -> dict[str, Any]:
    """What keeps a solver that takes many small steps from taking all of them; nothing for the others."""
    if solver == "auto":
        return {}
    cls = solver_class(solver)
    default = next((f.default for f in fields(cls) if f.name == "max_iter"), 0)
    many = isinstance(default, int) and default > MAX_STEPS_MADE and (cls.rule or solver == "gradient")
    return {"max_iter": MAX_STEPS_MADE} if many else {}


def way(state: State, solution: Solution) -> dict[str, Any]:
    """The steps of a solution whose trace has kept its points, of many those that are spread evenly on a logarithmic
    scale; of the perceptron its updates."""
    steps = _updates(state, solution) if isinstance(solution.rule_report, PerceptronReport) else []
    steps = steps or _iterations(state, solution)
    return {"solver": solution.solver, "steps": steps, "reason": "" if steps else _reason(solution)}


def _reason(solution: Solution) -> str:
    return f"{solution.solver} does not tell where it stands at each step"


def _iterations(state: State, solution: Solution) -> list[dict[str, Any]]:
    lines = [line for line in solution.trace if line.point is not None]
    out: list[dict[str, Any]] = []
    for k in _chosen(len(lines)):
        line = lines[k]
        assert line.point is not None
        kkt = _measured(solution.problem, line.point, line.multipliers)
        values = solution.problem.reported(kkt.objective) if kkt is not None else line.objective
        bound = None if kkt is None else solution.problem.reported(kkt.dual_objective)
        measures = {} if kkt is None else kkt.measures()
        out.append(
            {
                "name": f"step {line.iteration}",
                "row": None,
                "objective": _finite(values),
                "dual_objective": None if bound is None else _finite(bound),
                "residual": _finite(line.residual),
                "kkt": {name: _finite(value) for name, value in measures.items()},
                "boundary": _boundary(state, solution, line.point, line.multipliers),
            }
        )
    return out


def _updates(state: State, solution: Solution) -> list[dict[str, Any]]:
    """The weights after each update of the perceptron, the sample that caused it, and how many are misclassified."""
    report = solution.rule_report
    weights, _ = report.way(MAX_UPDATES)
    made = report.updates_made.samples
    names = [name for name in ("coef", "intercept") if name in solution.problem.layout]
    X = np.array([(x, y, 1.0) for x, y, _ in state.points])[:, : weights.shape[1]]
    signs = solution.data.signs
    assert signs is not None
    out: list[dict[str, Any]] = []
    for k in _chosen(len(weights)):
        point = np.zeros(solution.problem.size)
        for name, values in zip(names, np.split(weights[k], [solution.data.d]), strict=False):
            point[solution.problem.layout[name]] = values
        wrong = int(np.sum(signs * (X @ weights[k]) <= 0))
        row = int(made[k - 1]) if 0 < k <= len(made) and report.rule != "batch" else None
        because = "" if row is None else f", by sample {row}"
        out.append(
            {
                "name": f"update {k}{because}",
                "row": row,
                "objective": None,
                "dual_objective": None,
                "residual": float(wrong),
                "kkt": {},
                "boundary": _boundary(state, solution, point, None),
            }
        )
    return out


def _chosen(steps: int) -> list[int]:
    """The steps that are shown: all of few, else the first ones, then ever fewer, and the last."""
    if steps <= MAX_STEPS_SHOWN:
        return list(range(steps))
    return sorted({0, *np.round(np.geomspace(1, steps - 1, MAX_STEPS_SHOWN - 1)).astype(int).tolist()})


def _measured(problem: Problem, point: Array, multipliers: Mapping[str, Array] | None) -> KKT | None:
    """The KKT measures where a step tells its multipliers, or needs none."""
    given = multipliers or {}
    if any(name not in given or np.shape(given[name]) != (size,) for name, size in problem.multiplier_sizes.items()):
        return None
    with np.errstate(all="ignore"):
        return check_kkt(problem, np.asarray(point), given)


def _boundary(
    state: State, solution: Solution, point: Array, multipliers: Mapping[str, Array] | None
) -> list[list[list[float]]]:
    """The boundary there; nothing where the point is no classifier yet."""
    if point.shape != (solution.problem.size,) or not np.all(np.isfinite(point)):
        return []
    known = {name: np.array(z) for name, z in (multipliers or {}).items()}
    there = replace(solution, x=np.array(point), multipliers=known, at_last_point=True)
    try:
        field = scores_over(state, there)
    except (NoAnswer, KeyError, ValueError, ArithmeticError):
        return []
    return Pen(state).lines(field.lines(0.0) if field.values.ndim == 2 else field.borders())


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
