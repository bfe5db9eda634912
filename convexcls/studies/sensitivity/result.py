"""What happens if the data move: the answer's derivatives, with the ranges in which they hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.arrays import Array
from convexcls.in_notebooks import InNotebooks
from convexcls.models import HardMarginSVM, LeastSquares, LogisticMLE, Model, SoftMarginSVM
from convexcls.problem import NoAnswer
from convexcls.rational.elimination import Vector, dot
from convexcls.rational.numbers import to_double
from convexcls.studies.sensitivity.active import RowProgram, Side, row_program, sides_of, solution_of
from convexcls.studies.sensitivity.ranges import Change, change
from convexcls.wording import columns, listed, number, short_rational

if TYPE_CHECKING:
    from convexcls.solution import Solution

#: With more samples, the exact systems take too long.
MAX_SAMPLES, MAX_FEATURES = 500, 60
#: So many samples are told of in words.
MAX_TOLD = 6
ROLES = {"free": "free", "low": "outside", "high": "at its bound"}
RESIDUAL_ROLES = {"free": "fitted", "low": "above", "high": "below"}


@dataclass(frozen=True, eq=False)
class Sensitivity(InNotebooks):
    """How an exact answer changes with its data: of hard and soft margins, least squares and least absolute deviations,
    on the active set that its certificate proves. ``sides`` says where each sample stands: free, at its low or at its
    high bound; ``unclear`` are those that stand at a bound and on the margin at once, where both sides of a change
    differ.

    >>> import convexcls as cc
    >>> X, y = [[1, 0], [1, 2], [0, 3], [3, 4], [2, 4]], [0, 0, 1, 1, 1]
    >>> found = cc.SoftMarginSVM(X, y, C=1).solve().sensitivity()
    >>> found.sides
    ('low', 'high', 'free', 'free', 'low')
    >>> change = found.parameter("C")
    >>> str(change.low), str(change.high), str(change.above.optimum)
    ('1/2', '5/4', '2/5')
    >>> found.radius.round(6).tolist()
    [1.581139, 0.0, 0.0, 0.0, 0.316228]
    """

    solution: Solution
    program: RowProgram
    x: Vector
    a: Vector
    sides: tuple[Side, ...]
    unclear: tuple[int, ...]

    @property
    def problem(self) -> Model:
        """The model."""
        problem = self.solution.problem
        assert isinstance(problem, Model)
        return problem

    @property
    def _d(self) -> int:
        return self.problem.data.d

    # ---- changes of one number ---------------------------------------------------------------------------------

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that have a change."""
        return tuple(name for name in ("C", "l2") if name in self.problem.parameters)

    def parameter(self, name: str) -> Change:
        """The change with C or l2."""
        if name not in self.parameters:
            raise NoAnswer(
                f"the {self.problem.name} has no parameter {name!r}; it has {listed(self.parameters) or 'none'}"
            )
        at = Fraction(self.problem.parameters[name])
        weights = [Fraction(w) for w in self.problem.data.given_weights.tolist()]

        def changed(theta: Fraction) -> RowProgram:
            if name == "l2":
                return replace(self.program, P=[p + theta * (j < self._d) for j, p in enumerate(self.program.P)])
            return self._with_costs([theta * w for w in weights])

        linear = name == "C" and not self._stiff
        degree = 1 if linear else len(self.x) + 2
        return self._change(name, at, changed, degree, Fraction(0))

    def weight(self, sample: int) -> Change:
        """The change with the weight of a sample."""
        if isinstance(self.problem, HardMarginSVM):
            raise NoAnswer("samples of a hard margin have no weights: every margin has to be one at least")
        i, at = self._sample(sample), Fraction(self.problem.data.given_weights.tolist()[sample])
        factor = Fraction(self.problem.parameters.get("C", 1))

        def changed(theta: Fraction) -> RowProgram:
            return self._with_costs([factor * theta if k == i else Fraction(0) for k in range(len(self.a))])

        return self._change(f"the weight of sample {i}", at, changed, 2, Fraction(0))

    def requirement(self, sample: int) -> Change:
        """The change with the right-hand side of a sample: the margin that is asked for, which is 1, or its target. The
        optimum's derivative is the sample's multiplier."""
        i = self._sample(sample)

        def changed(theta: Fraction) -> RowProgram:
            return replace(self.program, t=[t + theta if k == i else t for k, t in enumerate(self.program.t)])

        name = "the margin asked of sample" if self._margins else "the target of sample"
        return self._change(f"{name} {i}", self.program.t[i], changed, 1)

    def feature(self, sample: int, feature: int) -> Change:
        """The change with one feature of a sample."""
        i, sign = self._sample(sample), self.program.moves[sample]
        if not 0 <= feature < self._d:
            raise IndexError(f"there is no feature {feature}: there are {self._d}, counted from 0")
        way = [sign if j == feature else Fraction(0) for j in range(len(self.x))]
        name = f"{self.problem.data.features[feature]} of sample {i}"
        return self._change(name, sign * self.program.rows[i][feature], self._moving(i, way), 3)

    def towards(self, sample: int) -> Change:
        """The change as a sample moves against its margin, towards the hyperplane and beyond, in multiples of coef:
        times the length of coef it is a distance."""
        if not self._margins:
            raise NoAnswer(f"the {self.problem.name} has no hyperplane that samples keep away from")
        i = self._sample(sample)
        way = [-v if j < self._d else Fraction(0) for j, v in enumerate(self.x)]
        return self._change(f"the way of sample {i} towards the plane", Fraction(0), self._moving(i, way), 3)

    def _moving(self, i: int, way: Vector) -> Any:
        def changed(theta: Fraction) -> RowProgram:
            moved = [v + theta * w for v, w in zip(self.program.rows[i], way, strict=True)]
            rows = [moved if k == i else row for k, row in enumerate(self.program.rows)]
            return replace(self.program, rows=rows)

        return changed

    def _with_costs(self, more: list[Fraction]) -> RowProgram:
        """With costs of samples that are larger by so much."""
        p = self.program
        if self._stiff:
            factor = 2 if self._margins else 1
            stiffness = [None if k is None else k + factor * c for k, c in zip(p.stiffness, more, strict=True)]
            return replace(p, stiffness=stiffness)
        high = [None if h is None else h + c for h, c in zip(p.high, more, strict=True)]
        if self._margins:
            return replace(p, high=high)
        low = [None if v is None else v - c for v, c in zip(p.low, more, strict=True)]
        return replace(p, low=low, high=high)

    def _change(self, name: str, at: Fraction, changed: Any, degree: int, least: Fraction | None = None) -> Change:
        return change(name, at, changed, self.sides, self.unclear, degree, self._d, least)

    def _sample(self, sample: int) -> int:
        if not 0 <= sample < len(self.a):
            raise IndexError(f"there is no sample {sample}: there are {len(self.a)}, counted from 0")
        return int(sample)

    @cached_property
    def _margins(self) -> bool:
        return isinstance(self.problem, (HardMarginSVM, SoftMarginSVM))

    @cached_property
    def _stiff(self) -> bool:
        return any(k is not None for k in self.program.stiffness)

    # ---- distances -----------------------------------------------------------------------------------------------

    @cached_property
    def coef_length(self) -> float:
        """The length of coef."""
        return float(np.sqrt(to_double(dot(self.x[: self._d], self.x[: self._d]))))

    @cached_property
    def radius(self) -> Array:
        """How far each sample may move in whatever direction without any effect: of margins, what a sample that lies
        outside has to spare; 0 for those that hold the answer in place."""
        if not self._margins:
            raise NoAnswer(f"every sample of the {self.problem.name} has an effect wherever it moves")
        spare = [-self.program.slack(i, self.x, a) if side == "low" else 0 for i, (side, a) in enumerate(self._placed)]
        length = self.coef_length or np.nan
        return np.array([to_double(Fraction(s)) / length for s in spare])

    @property
    def _placed(self) -> list[tuple[Side, Fraction]]:
        return list(zip(self.sides, self.a, strict=True))

    # ---- telling -------------------------------------------------------------------------------------------------

    def explain(self) -> str:
        """The main ranges in words."""
        lines = [f"SENSITIVITY of the {self.problem.name}, on the active set that was proved."]
        if self.unclear:
            lines.append(
                f"Samples {listed(self.unclear)} stand at a bound and on the margin at once: ranges and slopes are "
                "those of one side each."
            )
        for name in self.parameters:
            lines.append(_range_words(self.parameter(name)))
        if self._margins:
            lines += [self._towards_words(i) for i in self._told()]
        return "\n".join(lines)

    def _told(self) -> list[int]:
        """The samples that hold the answer, largest multiplier first, then the nearest of the others."""
        holding = sorted((i for i, a in enumerate(self.a) if a), key=lambda i: -abs(self.a[i]))
        others = sorted((i for i, a in enumerate(self.a) if not a), key=lambda i: self.radius[i])
        return [*holding[: MAX_TOLD // 2], *others[: MAX_TOLD - min(len(holding), MAX_TOLD // 2)]]

    def _towards_words(self, i: int) -> str:
        found = self.towards(i).above
        if found is None:
            return f"Of sample {i} nothing can be said: next to the data the solution is not unique."
        if found.distance is None:
            return f"Sample {i} may move as far as it likes towards the plane."
        far = number(to_double(found.distance) * self.coef_length, 4)
        effect = "" if any(found.coef) or found.intercept or any(found.multipliers) else " without any effect"
        return f"Sample {i} may move {far} towards the plane{effect} before the support changes: {found.event}."

    def table(self) -> list[dict[str, Any]]:
        """One row a sample: where it stands, its multiplier (the optimum's derivative by its right-hand side), the
        range of its weight, and how far it may move."""
        roles = ROLES if self._margins else RESIDUAL_ROLES
        weighted = not isinstance(self.problem, HardMarginSVM)
        out = []
        for i, (side, a) in enumerate(self._placed):
            row: dict[str, Any] = {"sample": i, "stands": roles[side], "multiplier": to_double(a)}
            if self._margins:
                row["radius"] = float(self.radius[i])
                far = _double(None if (found := self.towards(i).above) is None else found.distance)
                row["towards the plane"] = None if far is None else far * self.coef_length
            if weighted:
                of_weight = self.weight(i)
                row["least weight"], row["largest weight"] = _double(of_weight.low), _double(of_weight.high)
            out.append(row)
        return out

    def __str__(self) -> str:
        rows = self.table()
        head = list(rows[0])
        cells = [[_cell(row[name]) for name in head] for row in rows]
        return "\n".join(columns(head, cells, range(2, len(head))))

    def __repr__(self) -> str:
        holding = sum(bool(a) for a in self.a)
        return f"<Sensitivity of {self.problem.name}: {len(self.a)} samples, {holding} with multipliers>"

    def to_dict(self) -> dict[str, Any]:
        """The table and the parameters' ranges as plain values."""
        ranges = {
            name: {"value": _double(c.value), "low": _double(c.low), "high": _double(c.high), "slope": _slope(c)}
            for name in self.parameters
            for c in [self.parameter(name)]
        }
        return {"model": self.problem.kind, "parameters": ranges, "samples": self.table()}

    def plot(self, ax: Any = None) -> Any:
        """The samples in the plane, each with the disc in which it may move without any effect."""
        from convexcls.plots import RadiusDisplay

        return RadiusDisplay.from_solution(self.solution, ax=ax)


def _slope(c: Change) -> float | None:
    side = c.above or c.below
    return None if side is None else to_double(side.optimum)


def _double(value: Fraction | None) -> float | None:
    return None if value is None else to_double(value)


def _cell(value: Any) -> str:
    if value is None:
        return "any"
    return number(value, 5) if isinstance(value, float) else str(value)


def _range_words(c: Change) -> str:
    if c.above is None and c.below is None:
        return f"{c.name}: next to {_shown(c.value)} the solution is not unique, so it has no derivative."
    ends = f"from {_shown(c.low)} to {_shown(c.high)}"
    side = c.above or c.below
    assert side is not None
    slopes = f"the optimum's derivative is {_shown(side.optimum)}"
    if c.above is not None and c.below is not None and not c.smooth:
        slopes = f"the optimum's derivatives are {_shown(c.below.optimum)} below and {_shown(c.above.optimum)} above"
    what = "; ".join(f"{where}: {s.event}" for where, s in (("below", c.below), ("above", c.above)) if s and s.event)
    told = f"{c.name} = {_shown(c.value)}: the active set is the same {ends}; {slopes}."
    return f"{told} At the ends, {what}." if what else told


def _shown(value: Fraction | None) -> str:
    if value is None:
        return "any larger value"
    return short_rational(value, 20) or number(to_double(value), 6)


def sensitivity(solution: Solution) -> Sensitivity:
    """How the answer changes with its data; ``NoAnswer`` where it has no exact certificate of the kinds known."""
    problem = solution.problem
    if isinstance(problem, LogisticMLE):
        raise NoAnswer("a likelihood has no active set: see .influence() for what each sample weighs")
    program = row_program(problem)
    assert isinstance(problem, Model)
    if problem.data.n > MAX_SAMPLES or problem.data.d > MAX_FEATURES:
        raise NoAnswer(
            f"sensitivities are exact, which is for at most {MAX_SAMPLES} samples and {MAX_FEATURES} features"
        )
    if solution.status != "optimal":
        raise NoAnswer(f"there is no solution that could change: the {problem.name} is {solution.status}")
    certificate = solution.certificate if solution.certificate.exact is not None else solution.certify("exact")
    if certificate.exact is None or certificate.optimum is None:
        raise NoAnswer(f"there is no exact solution: {certificate.reason or certificate.status}")
    x, a = solution_of(certificate, problem)
    sides, unclear = sides_of(program, x, a)
    if isinstance(problem, LeastSquares):
        unclear = []
    return Sensitivity(solution, program, x, a, tuple(sides), tuple(unclear))
