"""Several solvers on one problem, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from convexcls.problem import Problem, carry_out
from convexcls.solution import Solution
from convexcls.solve import accepting, solve

COLUMNS = (
    ("solver", "solver"),
    ("status", "verdict"),
    ("objective", "objective"),
    ("gap", "gap"),
    ("stationarity", "stationarity"),
    ("primal_feasibility", "primal feas."),
    ("dual_feasibility", "dual feas."),
    ("complementary_slackness", "compl. slack."),
    ("support", "support"),
    ("iterations", "iterations"),
    ("seconds", "seconds"),
)


@dataclass(frozen=True)
class Row:
    """One solver's answer, as measured by us: the four residuals are relative."""

    solver: str
    status: str
    objective: float
    dual_objective: float
    gap: float
    stationarity: float
    primal_feasibility: float
    dual_feasibility: float
    complementary_slackness: float
    support: int | None
    iterations: int
    seconds: float
    message: str
    solution: Solution

    @classmethod
    def of(cls, s: Solution) -> Row:
        """The row of a solution."""
        kkt = s.certificate.kkt if s.x is not None else None
        nan = float("nan")
        rows = any(c.relation == "<=" and c.kind == "samples" for c in s.problem.constraints)
        return cls(
            s.solver, s.status, s.objective, s.dual_objective, s.gap,
            nan if kkt is None else kkt.stationarity.relative,
            nan if kkt is None else kkt.primal_feasibility.relative,
            nan if kkt is None else kkt.dual_feasibility.relative,
            nan if kkt is None else kkt.complementary_slackness.relative,
            int(s.support.size) if rows and s.x is not None and s.multipliers else None,
            s.iterations, s.seconds, s.message, s,
        )  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """A table of answers to one problem, in the order in which the solvers were named.

    ``rows`` has one entry a solver: its verdict, objective, relative residuals, steps and seconds, and the whole
    ``solution``.

    >>> import convexcls as cc
    >>> table = cc.compare(cc.HardMarginSVM([[0], [2]], [0, 1]), ["clarabel", "osqp"])
    >>> [(row.solver, row.status, round(row.objective, 6)) for row in table.rows]
    [('clarabel', 'optimal', 0.5), ('osqp', 'optimal', 0.5)]
    """

    problem: Problem
    tol: float
    rows: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain values; what is not a number is None.

        >>> import convexcls as cc
        >>> table = cc.compare(cc.LeastAbsolute([[0], [1], [2]], [0, 0, 1]), ["highs"])
        >>> table.to_dict()["rows"][0]["status"]
        'optimal'
        """
        out = []
        for row in self.rows:
            values = {f.name: getattr(row, f.name) for f in fields(row) if f.name != "solution"}
            out.append({k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in values.items()})
        return {"problem": self.problem.name, "tolerance": self.tol, "rows": out}

    def to_text(self) -> str:
        """The table as text.

        >>> import convexcls as cc
        >>> table = cc.compare(cc.HardMarginSVM([[0], [1], [2]], [0, 1, 0]), ["clarabel"])
        >>> table.to_text().splitlines()[2].split()[:2]
        ['clarabel', 'infeasible']
        """
        cells = [[title for _, title in COLUMNS]]
        cells += [[cell(name, getattr(row, name)) for name, _ in COLUMNS] for row in self.rows]
        widths = [max(len(line[k]) for line in cells) for k in range(len(COLUMNS))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
        ]
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join(lines)

    __str__ = to_text

    def _repr_html_(self) -> str:
        return carry_out("html", self)


def cell(name: str, value: Any) -> str:
    """One entry of the table as text."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "-"
    if name in ("objective", "dual_objective"):
        return f"{value:.10g}"
    if name == "seconds":
        return f"{value:.4f}"
    return f"{value:.1e}" if isinstance(value, float) else str(value)


def compare(
    problem: Problem,
    solvers: Sequence[str] | None = None,
    tol: float = 1e-8,
    callback: Callable[[Any], None] | None = None,
) -> Comparison:
    """Solve the problem with each of the solvers (all that accept it, if none are named) and judge each answer
    on the problem as stated. Ctrl-C ends the table with the solver that was at work.

    ``tol`` is the relative tolerance of the verdicts; ``callback`` hears every line of the solvers' traces.

    >>> import convexcls as cc
    >>> problem = cc.FisherLDA([[0, 0], [2, 1], [3, 0], [5, 2]], [0, 0, 1, 1])
    >>> table = cc.compare(problem, ["closed-form", "clarabel", "osqp", "dual:clarabel"])
    >>> [row.status for row in table.rows]
    ['optimal', 'optimal', 'optimal', 'optimal']
    >>> max(row.objective for row in table.rows) - min(row.objective for row in table.rows) < 1e-6
    True
    """
    names = [info.name for info in accepting(problem)] if solvers is None else list(solvers)
    rows: list[Row] = []
    for name in names:
        solution = solve(problem, name, tol, callback)
        rows.append(Row.of(solution))
        if solution.interrupted:  # the table so far is worth having
            break
    return Comparison(problem, tol, tuple(rows))
