"""Several solvers on one problem, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from convexcls.in_notebooks import InNotebooks
from convexcls.problem import Problem
from convexcls.solution import Solution
from convexcls.solve import accepting, solve
from convexcls.wording import columns, count, number, plain_values, seconds, small

#: The relative measures of a row, each with what it measures.
MEASURES = {
    "gap": "relative_gap",
    "stationarity": "stationarity",
    "primal": "primal_feasibility",
    "dual": "dual_feasibility",
    "slackness": "complementary_slackness",
}
#: What a row has of its solution as it is.
COPIED_FIELDS = ("solver", "status", "objective", "dual_objective", "iterations", "seconds", "message")
#: The fields of a row that tables show.
COMPARED_COLUMNS = ("solver", "status", "objective", "support", "iterations", "seconds", *MEASURES)


def support_size(s: Solution) -> int | None:
    """How many samples hold the answer in place; None where there is no point, or the model has no rows of samples."""
    rows = any(c.relation == "<=" and c.kind == "samples" for c in s.problem.constraints)
    return int(s.support.size) if rows and s.x is not None else None


@dataclass(frozen=True)
class Row:
    """One solver's answer, as measured by us: the gap, stationarity, ``primal`` and ``dual`` feasibility and
    complementary ``slackness`` are relative, NaN where the verdict does not rest on them. Tables have its fields as
    columns."""

    solver: str
    status: str
    objective: float
    dual_objective: float
    support: int | None
    iterations: int
    seconds: float
    gap: float
    stationarity: float
    primal: float
    dual: float
    slackness: float
    message: str
    solution: Solution

    @classmethod
    def of(cls, s: Solution) -> Row:
        """The row of a solution."""
        kkt = s.certificate.kkt if s.x is not None and s.status in ("optimal", "undecided") else None
        found: dict[str, Any] = {name: getattr(s, name) for name in COPIED_FIELDS}
        for name, measured in MEASURES.items():
            value = math.nan if kkt is None else getattr(kkt, measured)
            found[name] = getattr(value, "relative", value)
        return cls(**found, support=support_size(s) if s.multipliers else None, solution=s)

    def cells(self) -> list[str]:
        """The row as text, in the order of ``COMPARED_COLUMNS``."""
        support = "-" if self.support is None else str(self.support)
        first = [self.solver, self.status, number(self.objective), support, str(self.iterations), seconds(self.seconds)]
        return [*first, *(small(getattr(self, name)) for name in MEASURES)]


@dataclass(frozen=True)
class Comparison(InNotebooks):
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

    def __repr__(self) -> str:
        proved = sum(row.status != "undecided" for row in self.rows)
        return f"<Comparison on {self.problem.name}: {count(len(self.rows), 'solver')}, {proved} proved>"

    def to_dict(self) -> dict[str, Any]:
        """The table as plain values; what is not a number is None.

        >>> import convexcls as cc
        >>> table = cc.compare(cc.LeastAbsolute([[0], [1], [2]], [0, 0, 1]), ["highs"])
        >>> table.to_dict()["rows"][0]["status"]
        'optimal'
        """
        rows = [{f.name: getattr(row, f.name) for f in fields(row) if f.name != "solution"} for row in self.rows]
        return {"problem": self.problem.name, "tolerance": self.tol, "rows": plain_values(rows)}

    def table(self) -> list[list[str]]:
        """One line of text cells a solver, in the order of ``COMPARED_COLUMNS``.

        >>> import convexcls as cc
        >>> table = cc.compare(cc.HardMarginSVM([[0], [2]], [0, 1]), ["clarabel", "osqp"])
        >>> [line[:3] for line in table.table()]
        [['clarabel', 'optimal', '0.5'], ['osqp', 'optimal', '0.5']]
        """
        return [row.cells() for row in self.rows]

    def to_text(self) -> str:
        """The table as text; the gap and the four residuals are relative.

        >>> import convexcls as cc
        >>> table = cc.compare(cc.HardMarginSVM([[0], [1], [2]], [0, 1, 0]), ["clarabel"])
        >>> table.to_text().splitlines()[2].split()[:2]
        ['clarabel', 'infeasible']
        """
        return "\n".join(columns(COMPARED_COLUMNS, self.table(), range(2, len(COMPARED_COLUMNS))))

    __str__ = to_text


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
