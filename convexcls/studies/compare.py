"""Several solvers on one problem, side by side."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from convexcls.in_notebooks import InNotebooks
from convexcls.outside import brought, is_address
from convexcls.problem import Problem
from convexcls.proofs.verdict import interrupted
from convexcls.solution import Solution
from convexcls.solve import SolverInfo, accepting, solve
from convexcls.solvers import SolverLike, SolverRefused
from convexcls.solvers.outside import GROUP
from convexcls.solvers.time_limit import check_time_limit
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

    def __str__(self) -> str:
        told = f"{self.solver}: {self.status}, objective {number(self.objective)}, {seconds(self.seconds)} s"
        return f"{told} (cut off)" if self.solution.cut_off else told

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
    #: The solvers whose turn did not come before Ctrl-C.
    not_run: tuple[str, ...] = ()

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
        missing = {"not_run": list(self.not_run), "cut_off": [row.solver for row in self.rows if row.solution.cut_off]}
        return {"problem": self.problem.name, "tolerance": self.tol, "rows": plain_values(rows), **missing}

    def remarks(self) -> list[str]:
        """What the table cannot show: who was cut off, and who did not run.

        >>> import convexcls as cc
        >>> problem = cc.HardMarginSVM([[0], [2]], [0, 1])
        >>> cc.Comparison(problem, 1e-8, (), ("osqp", "clarabel")).remarks()
        ['Did not run: osqp, clarabel.']
        """
        said = []
        for row in self.rows:
            if row.solution.interrupted or row.solution.cut_off:
                where = "the row is the point that it had reached" if row.solution.x is not None else "it told no point"
                how = "interrupted" if row.solution.interrupted else "cut off"
                said.append(f"{row.solver} was {how} after {seconds(row.seconds)} s; {where}.")
        return [*said, f"Did not run: {', '.join(self.not_run)}."] if self.not_run else said

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
        return "\n".join([*columns(COMPARED_COLUMNS, self.table(), range(2, len(COMPARED_COLUMNS))), *self.remarks()])

    __str__ = to_text


def compare(
    problem: Problem,
    solvers: Sequence[SolverLike] | None = None,
    tol: float = 1e-8,
    callback: Callable[[Any], None] | None = None,
    time_limit: float | None = None,
    on_start: Callable[[str], None] | None = None,
    on_row: Callable[[Row], None] | None = None,
) -> Comparison:
    """Solve the problem with each of the solvers (all that accept it, those of this package first, if none are named)
    and judge each answer on the problem as stated. A solver is named, or given as an object or class of your own.

    ``tol`` is the relative tolerance of the verdicts; ``callback`` hears every line of the solvers' traces. Each solver
    is stopped after ``time_limit`` seconds; the row is then the point that it had reached. Ctrl-C ends the table with
    the solver that was at work; ``not_run`` names those whose turn did not come. ``on_start`` is called with the name
    of each solver that begins, ``on_row`` with each row when it is there.

    >>> import convexcls as cc
    >>> problem = cc.FisherLDA([[0, 0], [2, 1], [3, 0], [5, 2]], [0, 0, 1, 1])
    >>> table = cc.compare(problem, ["closed-form", "clarabel", "osqp", "dual:clarabel"])
    >>> [row.status for row in table.rows]
    ['optimal', 'optimal', 'optimal', 'optimal']
    >>> max(row.objective for row in table.rows) - min(row.objective for row in table.rows) < 1e-6
    True
    """
    check_time_limit(time_limit)
    given = own_first(accepting(problem)) if solvers is None else list(solvers)
    names = [solver if isinstance(solver, str) else solver.name for solver in given]
    rows: list[Row] = []
    for name, solver in zip(names, given, strict=True):
        if on_start is not None:
            on_start(name)
        try:
            solution = _solved(problem, solver, tol, callback, time_limit)
        except KeyboardInterrupt:  # it had told no point; the table so far is worth having
            if not rows:
                raise
            return Comparison(problem, tol, tuple(rows), tuple(names[len(rows) :]))
        rows.append(Row.of(solution))
        if on_row is not None:
            on_row(rows[-1])
        if solution.interrupted:
            break
    return Comparison(problem, tol, tuple(rows), tuple(names[len(rows) :]))


def own_first(infos: Sequence[SolverInfo]) -> list[str]:
    """Their names, those of this package before those of others, which may take long."""
    return [info.name for info in sorted(infos, key=lambda info: info.foreign)]


def _solved(
    problem: Problem,
    solver: SolverLike,
    tol: float,
    callback: Callable[[Any], None] | None,
    time_limit: float | None,
) -> Solution:
    """The answer of one solver. One of somebody else's that raises has an undecided row: the others have theirs."""
    begun = time.perf_counter()
    try:
        return solve(problem, solver, tol, callback, time_limit=time_limit)
    except SolverRefused:
        raise
    except Exception as error:
        if isinstance(solver, str) and solver not in brought(GROUP) and not is_address(solver):
            raise
        name = solver if isinstance(solver, str) else solver.name
        message = f"{type(error).__name__}: {error}"
        nothing = interrupted(problem, None, {}, tol, 0, f"the solver failed ({message})")
        return Solution(problem, name, nothing, None, {}, message, seconds=time.perf_counter() - begun)
