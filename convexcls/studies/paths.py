"""The solutions of a model as one of its parameters varies: the soft margin along C, a likelihood along its penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from convexcls.arrays import Array
from convexcls.in_notebooks import InNotebooks
from convexcls.models import Model
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.solve import solve
from convexcls.solvers import REGISTRY, SolverRefused, solver_class
from convexcls.studies.compare import support_size
from convexcls.wording import columns, count, plain_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from convexcls.plots import PathDisplay
    from convexcls.studies.exact_path import ExactPath


PATH_COLUMNS = ("status", "objective", "gap", "‖coef‖", "intercept", "support", "iterations", "seconds")


#: What a remark says of a proved verdict other than an optimum.
WITHOUT = {
    "unattained": "no minimum exists, the objective falls for ever along a direction (proved)",
    "infeasible": "no point satisfies the constraints (proved)",
}
#: The parameters along which there is a path. Only the price C has to be above 0.
VARIED = ("C", "l2", "l1")


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

    def __repr__(self) -> str:
        proved = sum(status != "undecided" for status in self.statuses)
        return f"<Path of {self.model} along {self.parameter}: {count(len(self), 'value')}, {proved} proved>"

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
        return self._each(lambda s: s.coef, (0,))

    @property
    def intercept(self) -> Array:
        """The intercept at each value; for several classes one row a value."""
        return self._each(lambda s: s.intercept)

    @property
    def objective(self) -> Array:
        """The objective at each value."""
        return self._each(lambda s: s.objective)

    @property
    def gap(self) -> Array:
        """The relative duality gap at each value."""
        return self._each(lambda s: s.kkt.relative_gap)

    def _each(self, read: Callable[[Solution], Any], shape: tuple[int, ...] = ()) -> Array:
        """What is read of each solution, NaN in its shape where there is none."""
        shape = next((np.shape(read(s)) for s in self.solutions if has_solution(s)), shape)
        return np.array([read(s) if has_solution(s) else np.full(shape, np.nan) for s in self.solutions])

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
                "gap": gap,
                "coef": _coef(s),
                "intercept": s.intercept if has_solution(s) else None,
                "support": _support(s),
                **{name: getattr(s, name) for name in ("iterations", "seconds", "solver")},
            }
            for value, s, objective, gap in zip(self.values, self.solutions, self.objective, self.gap, strict=True)
        ]
        about = {"schema": "convexcls-path/2", "model": self.model, "parameter": self.parameter}
        return {**about, "points": plain_values(rows)}

    def table(self) -> list[list[str]]:
        """One line of text cells a value, in the order of ``PATH_COLUMNS`` after the value itself.

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
        titles = [self.parameter, *PATH_COLUMNS]
        right = [k for k, title in enumerate(titles) if title != "status"]
        return "\n".join([*columns(titles, self.table(), right), *self.remarks()])

    def remarks(self) -> list[str]:
        """What the table cannot show: why a point is not proved, or has no solution.

        >>> import convexcls as cc
        >>> cc.path(cc.LogisticMLE, [[0], [1]], [0, 1], l2=[0.0]).remarks()
        ['l2 = 0: no minimum exists, the objective falls for ever along a direction (proved)']
        """
        return [
            f"{self.parameter} = {value:.6g}: "
            + WITHOUT.get(s.status, f"not proved: {s.certificate.reason or s.message}")
            for value, s in zip(self.values, self.solutions, strict=True)
            if s.status != "optimal"
        ]

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
    return support_size(s) if has_solution(s) else None


# ---- from one value to the next -------------------------------------------------------------------------


@overload
def path(model: type[Model], X: Any, y: Any, *, exact: Literal[True], **settings: Any) -> ExactPath: ...


@overload
def path(
    model: type[Model],
    X: Any,
    y: Any,
    *,
    solver: str = "auto",
    tol: float = 1e-8,
    progress: Callable[[Solution], None] | None = None,
    exact: Literal[False] = False,
    **settings: Any,
) -> Path: ...


def path(
    model: type[Model],
    X: Any,
    y: Any,
    *,
    solver: str = "auto",
    tol: float = 1e-8,
    progress: Callable[[Solution], None] | None = None,
    exact: bool = False,
    **settings: Any,
) -> Path | ExactPath:
    """Solve the model for each value of one parameter, each point from the one before and each with its proof:

        cc.path(cc.SoftMarginSVM, X, y, C=np.geomspace(1e-3, 1e3, 25))
        cc.path(cc.LogisticMLE, X, y, l2=[10, 1, 0.1, 0], sample_weight=w)

    The parameter that varies (C, l2 or l1) is given as a sequence of values, in any order; all other settings are the
    model's own. ``progress`` is called with each solution, in the order in which they are found.

    ``solver`` and ``tol`` are those of ``solve``. With ``exact=True`` no values are given: the answer is an
    ``ExactPath``, all of the path as rationals, of ``SoftMarginSVM`` in C and of ``EmpiricalRisk`` with squared loss in
    l1.

    >>> import convexcls as cc
    >>> path = cc.path(cc.LogisticMLE, [[0], [1], [2], [3]], [0, 0, 1, 1], l2=[1.0, 0.1, 0.0])
    >>> path.statuses
    ('optimal', 'optimal', 'unattained')
    >>> bool(path.coef[0] < path.coef[1])  # less penalty, larger coefficients
    True
    """
    if not (isinstance(model, type) and issubclass(model, Model)):
        raise TypeError(f"{model!r} is not a model: give the class, such as cc.SoftMarginSVM, then X and y")
    if exact:
        from convexcls.studies.exact_path import exact_path

        return exact_path(model, X, y, **settings)
    name, values = _varied(settings)
    fixed = {key: value for key, value in settings.items() if key != name}
    declare: Callable[..., Model] = model
    found: dict[int, Solution] = {}
    before: Solution | None = None
    order = np.argsort(values if name == "C" else -values)  # what is held most firmly first: it is the easiest
    for k in order:
        problem = declare(X, y, **{name: float(values[k]), **fixed})
        found[int(k)] = s = _next(problem, solver, tol, before)
        if has_solution(s):
            before = s
        if progress is not None:
            progress(s)
    return Path(model.kind, name, values, tuple(found[k] for k in range(values.size)))


def _varied(settings: dict[str, Any]) -> tuple[str, Array]:
    """The one setting that is a sequence of values, and the values."""
    names = [name for name in VARIED if name in settings and np.ndim(settings[name]) > 0]
    if len(names) != 1:
        given = "none was given" if not names else f"{' and '.join(names)} were given"
        raise ValueError(f"a path needs one of {', '.join(VARIED)} as a sequence of values; {given}")
    name = names[0]
    try:
        values = np.array(settings[name], dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds something that is not a number: give a sequence of numbers") from None
    if values.ndim != 1 or not values.size:
        raise ValueError(f"{name} has the shape {values.shape}: give a sequence of at least one number")
    lowest = "above 0" if name == "C" else "0 or more"
    for k, value in enumerate(values):
        if not np.isfinite(value) or value < 0 or (name == "C" and value == 0):
            raise ValueError(f"{name}[{k}] is {value:g}: every value must be finite and {lowest}")
        if value in values[:k]:
            raise ValueError(f"{name}[{k}] is {value:g}, which is there before: give every value once")
    return name, values


def _begins_anywhere(name: str) -> bool:
    return name in REGISTRY and solver_class(name).warm


def _next(problem: Model, solver: str, tol: float, before: Solution | None) -> Solution:
    """The solution, from the one before where the solver can begin there; from nothing where that leads nowhere."""
    if before is not None:
        name = before.solver if solver == "auto" and _begins_anywhere(before.solver) else solver
        if name == "auto" or _begins_anywhere(name):
            try:
                if (s := solve(problem, name, tol, start=before).unless_interrupted()).status != "undecided":
                    return s
            except SolverRefused:  # without a penalty it may be another kind of problem
                pass
    return solve(problem, solver, tol).unless_interrupted()
