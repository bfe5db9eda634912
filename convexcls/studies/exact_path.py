"""The whole path of a soft margin along C, and of squared loss along the penalty l1, without rounding.

On a fixed active set the coefficients and the multipliers are linear in the parameter (Hastie, Rosset, Tibshirani and
Zhu 2004; Efron, Hastie, Johnstone and Tibshirani 2004). From the solution at one value the path is followed both ways,
from breakpoint to breakpoint, each the first root of something that must not be negative. In the middle of each segment
other code checks that the KKT conditions hold exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from convexcls.in_notebooks import InNotebooks
from convexcls.models import EmpiricalRisk, Model, SoftMarginSVM
from convexcls.problem import NoAnswer
from convexcls.proofs.claims import optimum as optima
from convexcls.proofs.claims.optimum import ExactProof
from convexcls.rational.elimination import Vector
from convexcls.rational.numbers import to_double
from convexcls.solve import solve
from convexcls.studies.sensitivity.active import ZERO, RowProgram, Side, row_program, sides_of, solution_of
from convexcls.studies.sensitivity.ranges import one_sided
from convexcls.wording import columns, number, short_rational

#: More segments are a sign that nobody will read them.
MAX_SEGMENTS = 20_000


@dataclass(frozen=True)
class Segment:
    """A part of the path on which the active set is the same. At a value v of the parameter between ``low`` and
    ``high`` (None: for ever) coef is ``coef`` + (v - ``at``) ``coef_slope``, and so on; ``sides`` says where each
    row stands. ``multipliers`` are those of the margins, or of the losses and the bounds |coef| <= size.

    >>> import convexcls as cc
    >>> segment = cc.path(cc.SoftMarginSVM, [[0], [2]], [0, 1], exact=True)[0]
    >>> str(segment.low), str(segment.high), [str(v) for v in segment.coef_at("1/4")]
    ('0', '1/2', ['1/2'])
    """

    low: Fraction
    high: Fraction | None
    sides: tuple[Side, ...]
    at: Fraction
    coef: Vector
    intercept: Fraction
    multipliers: Vector
    coef_slope: Vector
    intercept_slope: Fraction
    multiplier_slope: Vector

    def __contains__(self, value: Any) -> bool:
        return self.low <= value and (self.high is None or value <= self.high)

    def coef_at(self, value: Any) -> Vector:
        """The coefficients at a value of the parameter."""
        return _along(self.coef, self.coef_slope, Fraction(value) - self.at)

    def intercept_at(self, value: Any) -> Fraction:
        """The intercept at a value of the parameter."""
        return self.intercept + (Fraction(value) - self.at) * self.intercept_slope

    def multipliers_at(self, value: Any) -> Vector:
        """The multipliers at a value of the parameter."""
        return _along(self.multipliers, self.multiplier_slope, Fraction(value) - self.at)

    @property
    def middle(self) -> Fraction:
        """A value inside."""
        return 2 * self.low + 1 if self.high is None else (self.low + self.high) / 2


@dataclass(frozen=True, eq=False)
class ExactPath(InNotebooks):
    """All solutions along a parameter, as segments in rising order; ``breakpoints`` lie between them. What every
    segment says was checked in its middle without rounding.

    >>> import convexcls as cc
    >>> path = cc.path(cc.SoftMarginSVM, [[0], [1], [3], [4]], [0, 1, 0, 1], exact=True)
    >>> path.parameter, [str(v) for v in path.breakpoints]
    ('C', ['1/4'])
    >>> str(path.optimum(1)), [str(v) for v in path.coef("1/5")]
    ('25/8', ['2/5'])
    """

    model: Model
    parameter: str
    segments: tuple[Segment, ...]

    @property
    def breakpoints(self) -> tuple[Fraction, ...]:
        """The values at which the active set changes."""
        return tuple(segment.low for segment in self.segments[1:])

    def __len__(self) -> int:
        return len(self.segments)

    def __getitem__(self, index: int) -> Segment:
        return self.segments[index]

    def segment(self, value: Any) -> Segment:
        """The segment of a value of the parameter."""
        for found in self.segments:
            if Fraction(value) in found:
                return found
        raise ValueError(f"{self.parameter} is {value}: the path goes from {self.segments[0].low} on")

    def coef(self, value: Any) -> Vector:
        """The coefficients at a value of the parameter, as rationals."""
        return self.segment(value).coef_at(value)

    def intercept(self, value: Any) -> Fraction:
        """The intercept at a value of the parameter."""
        return self.segment(value).intercept_at(value)

    def optimum(self, value: Any) -> Fraction:
        """The optimum at a value of the parameter."""
        found, v = self.segment(value), Fraction(value)
        program = _at(program_of(self.model), self.parameter, self.model, v)
        return program.objective([*found.coef_at(v), found.intercept_at(v)][: len(program.P)], found.multipliers_at(v))

    def table(self) -> list[dict[str, Any]]:
        """One row a segment."""
        out = []
        for s in self.segments:
            counts = {"free": s.sides.count("free"), "at low": s.sides.count("low"), "at high": s.sides.count("high")}
            ends = {"from": str(s.low), "to": None if s.high is None else str(s.high)}
            out.append({**ends, **counts, "coef": [str(v) for v in s.coef_at(s.low)]})
        return out

    def to_dict(self) -> dict[str, Any]:
        """The path as plain values, numbers as p/q."""
        return {"model": self.model.kind, "parameter": self.parameter, "segments": self.table()}

    def __str__(self) -> str:
        head = [f"{self.parameter} from", "to", "free", "at low", "at high", "coef at the start"]
        rows = [
            [
                _shown(s.low),
                "any" if s.high is None else _shown(s.high),
                *(str(s.sides.count(side)) for side in ("free", "low", "high")),
                ", ".join(_shown(v) for v in s.coef_at(s.low)[:6]),
            ]
            for s in self.segments
        ]
        return "\n".join(columns(head, rows, range(2, 5)))

    def __repr__(self) -> str:
        return f"<ExactPath of {self.model.name} along {self.parameter}: {len(self)} segments>"


def _shown(value: Fraction) -> str:
    return short_rational(value, 16) or number(to_double(value), 6)


def _along(values: Sequence[Fraction], slopes: Sequence[Fraction], way: Fraction) -> Vector:
    return [v + way * slope for v, slope in zip(values, slopes, strict=True)]


# ---- following it --------------------------------------------------------------------------------------------------


def exact_path(model: type[Model], X: Any, y: Any, **settings: Any) -> ExactPath:
    """The path of a soft margin in C or of squared loss in l1, all of it."""
    parameter = _parameter(model, settings)
    declare: Any = model
    problem: Model = declare(X, y, **{**settings, parameter: Fraction(1)})
    base = program_of(problem)
    s = solve(problem, level="exact")
    if s.certificate.exact is None or s.status != "optimal":
        raise NoAnswer(
            f"there is no exact solution at {parameter} = 1 to start from: {s.certificate.reason or s.status}"
        )
    x, a = _start(s.certificate, problem, base)
    down = list(_followed(base, parameter, problem, x, a, -1))[::-1]
    up = list(_followed(base, parameter, problem, x, a, 1))
    found = ExactPath(problem, parameter, tuple(_joined([*down, *up])))
    for segment in found.segments:
        _check(declare, X, y, settings, parameter, segment)
    return found


def _parameter(model: type[Model], settings: dict[str, Any]) -> str:
    if model is SoftMarginSVM and settings.get("loss", "hinge") == "hinge":
        parameter = "C"
    elif model is EmpiricalRisk and settings.get("loss") == "squared" and not settings.get("constraints"):
        parameter = "l1"
    else:
        raise NoAnswer(
            "the whole path is linear piece by piece, and worked out without rounding, of SoftMarginSVM with the hinge "
            "(in C) and of EmpiricalRisk with loss='squared' (in l1)"
        )
    if parameter in settings:
        raise ValueError(f"{parameter} is what varies, over all of its values: leave it out")
    return parameter


def program_of(problem: Model) -> RowProgram:
    """The program, of squared loss with a row |coef_j| <= size_j for each coefficient behind those of the samples."""
    if isinstance(problem, SoftMarginSVM):
        return row_program(problem)
    (term,) = problem.terms
    width = problem.data.d + bool(problem.parameters["intercept"])
    rows = [row[:width] for row in problem.rows(term).rational()]
    n, d = len(rows), problem.data.d
    P = [Fraction(problem.parameters["l2"])] * d + [ZERO] * (width - d)
    l1 = Fraction(problem.parameters["l1"])
    units = [[Fraction(int(j == k)) for k in range(width)] for j in range(d)]
    return RowProgram(
        P,
        [*rows, *units],
        [*(-t for t in term.rational_vector("offset")), *[ZERO] * d],
        [*[None] * n, *[-l1] * d],
        [*[None] * n, *[l1] * d],
        [*term.rational_vector("weights"), *[None] * d],
        [Fraction(1)] * (n + d),
    )


def _start(certificate: Any, problem: Model, program: RowProgram) -> tuple[Vector, Vector]:
    if isinstance(problem, SoftMarginSVM):
        return solution_of(certificate, problem)
    x = [*certificate.coef, *([certificate.intercept] if problem.parameters["intercept"] else [])]
    above, below = (certificate.exact_multipliers.get(f"size_{side}", {}) for side in ("above", "below"))
    own = [below.get(j, ZERO) - above.get(j, ZERO) for j in range(problem.data.d)]
    n = len(program.rows) - len(own)
    return x, [*((program.stiffness[i] or ZERO) * program.slack(i, x, ZERO) for i in range(n)), *own]


def _at(program: RowProgram, parameter: str, problem: Model, value: Fraction) -> RowProgram:
    """The program at a value of the parameter."""
    if parameter == "C":
        return replace(program, high=[value * Fraction(w) for w in problem.data.given_weights.tolist()])
    n = len(program.rows) - problem.data.d
    bounds = [value] * problem.data.d
    return replace(program, low=[*program.low[:n], *(-v for v in bounds)], high=[*program.high[:n], *bounds])


def _followed(base: RowProgram, parameter: str, problem: Model, x: Vector, a: Vector, sign: int) -> Iterator[Segment]:
    """The segments from the value 1 on, upwards or downwards."""
    value, d = Fraction(1), problem.data.d

    for _ in range(MAX_SEGMENTS):

        def changed(theta: Fraction, here: Fraction = value) -> RowProgram:
            return _at(base, parameter, problem, here + theta)

        sides, unclear = sides_of(changed(ZERO), x, a)
        room = value if sign < 0 else None
        found = one_sided(changed, sign, sides, unclear, 1, d, room, parameter)
        if found is None:
            raise NoAnswer(
                f"the path cannot be followed from {parameter} = {value} on: there the solution is not unique, or too "
                "many rows change sides at once"
            )
        end = None if found.distance is None else value + sign * found.distance
        low, high = (value, end) if sign > 0 else (end or ZERO, value)
        slopes = [*found.coef, *([found.intercept] if len(x) > d else [])]
        yield Segment(
            low, high, found.sides, value, x[:d], x[d] if len(x) > d else ZERO, a,
            found.coef, found.intercept, found.multipliers,
        )  # fmt: skip
        if end is None or end == 0:
            return
        x, a = _along(x, slopes, end - value), _along(a, found.multipliers, end - value)
        value = end
    raise NoAnswer(f"the path has more than {MAX_SEGMENTS:,} segments")


def _joined(segments: Sequence[Segment]) -> Iterator[Segment]:
    """The segments, those on either side of the start, or of a touch, as one where they are the same."""
    kept: Segment | None = None
    for segment in segments:
        if (
            kept is not None
            and kept.sides == segment.sides
            and kept.coef_at(segment.low) == segment.coef_at(segment.low)
        ):
            kept = replace(kept, high=segment.high)
            continue
        if kept is not None:
            yield kept
        kept = segment
    if kept is not None:
        yield kept


def _same(one: Segment, other: Segment) -> bool:
    """Whether the formula of one holds in the other: the active set, and, where it has several intercepts, that."""
    at = other.low
    alike = one.coef_at(at) == other.coef_at(at) and one.intercept_at(at) == other.intercept_at(at)
    return alike and one.sides == other.sides and one.intercept_slope == other.intercept_slope


def _check(declare: Any, X: Any, y: Any, settings: dict[str, Any], parameter: str, segment: Segment) -> None:
    """The KKT conditions in the middle of a segment, on the problem as the model declares it, by other code."""
    problem: Model = declare(X, y, **{**settings, parameter: segment.middle})
    program, value = program_of(problem), segment.middle
    coef, a = segment.coef_at(value), segment.multipliers_at(value)
    point = {"coef": coef}
    if problem.parameters["intercept"]:
        point["intercept"] = [segment.intercept_at(value)]
    x = [v for part in point.values() for v in part]
    proof = ExactProof("optimal", problem, program.objective(x, a), point, _by_block(problem, a), Fraction(0))
    if complaint := optima.check(problem, proof):
        raise NoAnswer(f"the segment of the path around {parameter} = {value} is not proved: {complaint}")


def _by_block(problem: Model, a: Vector) -> dict[str, dict[int, Fraction]]:
    """The multipliers by constraint."""
    if isinstance(problem, SoftMarginSVM):
        costs = [Fraction(problem.parameters["C"]) * Fraction(w) for w in problem.data.given_weights.tolist()]
        rest = {i: c - v for i, (c, v) in enumerate(zip(costs, a, strict=True)) if c != v}
        return {"margin": {i: v for i, v in enumerate(a) if v}, "slack_sign": rest}
    l1, own = Fraction(problem.parameters["l1"]), a[len(a) - problem.data.d :]
    above = {j: (l1 - v) / 2 for j, v in enumerate(own) if v != l1}
    below = {j: (l1 + v) / 2 for j, v in enumerate(own) if v != -l1}
    return {"size_above": above, "size_below": below}
