"""The solutions along a path, as one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexcls.in_notebooks import InNotebooks
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.wording import columns, plain_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from convexcls.plots import PathDisplay

Array = NDArray[np.float64]

COLUMNS = ("verdict", "objective", "gap", "‖coef‖", "intercept", "support", "steps", "seconds")


@dataclass(frozen=True, eq=False)
class Path(InNotebooks):
    """Solutions in the order in which the values were given, each with its own proof. Where there is no solution (an
    unattained likelihood at l2 = 0), ``statuses`` says so and the numbers are NaN.

    ``parameter`` is the name of what varies, ``values`` and ``solutions`` belong together one by one.

    >>> import convexcls as cc
    >>> path = cc.path(cc.SoftMarginSVM, [[0], [1], [2], [3]], [0, 1, 0, 1], C=[0.1, 10.0])
    >>> path.proved, path.support, path[1].coef.round(6).tolist()
    (True, (4, 4), [0.666667])
    """

    model: str
    parameter: str
    values: Array
    solutions: tuple[Solution, ...]

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, index: int) -> Solution:
        return self.solutions[index]

    @property
    def statuses(self) -> tuple[str, ...]:
        """The verdict at each value."""
        return tuple(s.status for s in self.solutions)

    @property
    def proved(self) -> bool:
        """Whether every point has a verdict with a proof."""
        return "undecided" not in self.statuses

    @property
    def coef(self) -> Array:
        """The coefficients, one row a value; for several classes one matrix a value."""
        shape = next((s.coef.shape for s in self.solutions if has_solution(s)), (0,))
        return np.array([s.coef if has_solution(s) else np.full(shape, np.nan) for s in self.solutions])

    @property
    def intercept(self) -> Array:
        """The intercept at each value; for several classes one row a value."""
        shape = next((np.shape(s.intercept) for s in self.solutions if has_solution(s)), ())
        return np.array([s.intercept if has_solution(s) else np.full(shape, np.nan) for s in self.solutions])

    @property
    def objective(self) -> Array:
        """The objective at each value."""
        return np.array([s.objective if has_solution(s) else np.nan for s in self.solutions])

    @property
    def gap(self) -> Array:
        """The relative duality gap at each value."""
        return np.array([s.kkt.relative_gap if has_solution(s) else np.nan for s in self.solutions])

    @property
    def support(self) -> tuple[int | None, ...]:
        """How many samples hold the answer in place, at each value; None where the model does not speak of them."""
        return tuple(_support(s) for s in self.solutions)

    @property
    def iterations(self) -> tuple[int, ...]:
        """The steps that each point took."""
        return tuple(s.iterations for s in self.solutions)

    @property
    def seconds(self) -> Array:
        """The time that each point took."""
        return np.array([s.seconds for s in self.solutions])

    def to_dict(self) -> dict[str, Any]:
        """The path as plain values; what is not a finite number is None.

        >>> import convexcls as cc
        >>> path = cc.path(cc.LogisticMLE, [[0], [1]], [0, 1], l2=[1.0, 0.0])
        >>> [(point["l2"], point["status"]) for point in path.to_dict()["points"]]
        [(1.0, 'optimal'), (0.0, 'unattained')]
        """
        rows = [
            {
                self.parameter: float(value),
                "status": s.status,
                "reason": s.certificate.reason or None,
                "objective": objective,
                "relative_gap": gap,
                "coef": _coef(s),
                "intercept": s.intercept if has_solution(s) else None,
                "support": _support(s),
                "iterations": s.iterations,
                "seconds": s.seconds,
                "solver": s.solver,
            }
            for value, s, objective, gap in zip(self.values, self.solutions, self.objective, self.gap, strict=True)
        ]
        return {
            "schema": "convexcls-path/1",
            "model": self.model,
            "parameter": self.parameter,
            "points": plain_values(rows),
        }

    def table(self) -> list[list[str]]:
        """One line of text cells a value, in the order of ``COLUMNS`` after the value itself.

        >>> import convexcls as cc
        >>> path = cc.path(cc.LeastSquares, [[0], [1]], [0, 1], l2=[0.5, 1.5])
        >>> [line[:3] for line in path.table()]
        [['0.5', 'optimal', '0.5'], ['1.5', 'optimal', '0.75']]
        """
        out = []
        for k, (value, s) in enumerate(zip(self.values, self.solutions, strict=True)):
            support = _support(s)
            numbers = ["-"] * 4
            if has_solution(s):
                constant, coef = np.atleast_1d(s.intercept), _coef(s)
                numbers = [f"{s.objective:.8g}", f"{self.gap[k]:.0e}"]
                numbers.append("-" if coef is None else f"{np.linalg.norm(coef):.6g}")
                numbers.append(f"{constant[0]:.6g}" if constant.size == 1 else "-")
            steps = [str(s.iterations), f"{s.seconds:.4f}"]
            out.append([f"{value:.6g}", s.status, *numbers, "-" if support is None else str(support), *steps])
        return out

    def __str__(self) -> str:
        titles = [self.parameter, *COLUMNS]
        right = [k for k, title in enumerate(titles) if title != "verdict"]
        return "\n".join([*columns(titles, self.table(), right), *self.remarks()])

    def remarks(self) -> list[str]:
        """What the table cannot show: why a point is not proved, or has no solution.

        >>> import convexcls as cc
        >>> cc.path(cc.LogisticMLE, [[0], [1]], [0, 1], l2=[0.0]).remarks()
        ['l2 = 0: no minimum exists, the objective falls for ever along a direction (proved)']
        """
        out = []
        for value, s in zip(self.values, self.solutions, strict=True):
            where = f"{self.parameter} = {value:.6g}"
            if s.status == "unattained":
                out.append(f"{where}: no minimum exists, the objective falls for ever along a direction (proved)")
            elif s.status == "infeasible":
                out.append(f"{where}: no point satisfies the constraints (proved)")
            elif s.status == "undecided":
                out.append(f"{where}: not proved: {s.certificate.reason or s.message}")
        return out

    def plot(self, ax: Axes | None = None, against: Literal["log", "linear", "norm"] = "log") -> PathDisplay:
        """The coefficients along the path, with matplotlib: against the logarithm of the parameter, the parameter, or
        the norm of coef. Points that are not proved are marked by a cross. The display says where it was drawn
        (``ax_``).

        >>> import convexcls as cc
        >>> path = cc.path(cc.SoftMarginSVM, [[0, 1], [1, 0], [2, 2], [3, 1]], [0, 1, 0, 1], C=[0.1, 1.0, 10.0])
        >>> path.plot().coef.shape
        (3, 2)
        """
        from convexcls.plots import PathDisplay

        return PathDisplay.from_path(self, ax=ax, against=against)


def has_solution(s: Solution) -> bool:
    """Whether there is a solution to speak of."""
    return s.x is not None and s.status in ("optimal", "undecided")


def _coef(s: Solution) -> Array | None:
    """The coefficients; None where there are none, or, under a kernel, not one a feature."""
    try:
        return s.coef if has_solution(s) else None
    except NoAnswer:
        return None


def _support(s: Solution) -> int | None:
    """How many samples hold the answer in place; None where the model has no rows of samples."""
    rows = any(c.relation == "<=" and c.kind == "samples" for c in s.problem.constraints)
    return int(s.support.size) if rows and has_solution(s) else None
