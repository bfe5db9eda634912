"""What is true of a problem: a question a model, answered in rationals or balls. Nothing of the package is imported.

A question knows its ``truth()``, and of a point the relative ``errors()`` that a certified one has to keep within a few
tolerances: how far its objective is from the optimum, and how far its constraints are from holding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from flint import arb, ctx, fmpq

from tests.hunt.likelihood import PRECISION, ball
from tests.hunt.pivoting import ONE, ZERO, Vector, dot

Point = Mapping[str, Sequence[Any]]
LARGEST = 1e300


class Unknown(Exception):
    """The oracle itself cannot tell."""


class Misstated(Exception):
    """The problem is not about these data."""


@dataclass(frozen=True)
class Truth:
    """Whether there is an optimum, and where it lies: ``lower`` and ``upper`` are equal where it is rational."""

    status: Literal["optimal", "infeasible", "unattained"]
    lower: Any = None
    upper: Any = None

    @classmethod
    def at(cls, value: Any) -> Truth:
        return cls("optimal", value, value)

    @property
    def rational(self) -> bool:
        return isinstance(self.lower, fmpq)


def rational(value: Any) -> Any:
    """A number of any kind, exactly."""
    exact = Fraction(value) if not isinstance(value, Fraction) else value
    return fmpq(exact.numerator, exact.denominator)


@dataclass(frozen=True)
class Samples:
    """Rows, class numbers (or real targets) and weights as rationals."""

    rows: list[Vector]
    classes: list[int]
    weights: Vector
    reals: Vector | None = None

    @property
    def d(self) -> int:
        return len(self.rows[0])

    @property
    def signs(self) -> Vector:
        return [ONE if k else -ONE for k in self.classes]

    def design(self, intercept: bool) -> list[Vector]:
        """The rows of f(x_i)."""
        return [[*row, ONE] for row in self.rows] if intercept else self.rows

    def margin_rows(self, intercept: bool) -> list[Vector]:
        """The rows of y_i f(x_i)."""
        return [[s * v for v in row] for s, row in zip(self.signs, self.design(intercept), strict=True)]

    def targets(self, coding: str) -> Vector:
        if coding == "real":
            assert self.reals is not None
            return self.reals
        return [(s + 1) / 2 if coding == "01" else s for s in self.signs]

    def group(self, k: int) -> list[int]:
        return [i for i, c in enumerate(self.classes) if c == k]


class Question:
    """A model on samples: its optimum, and how far a point is from being one."""

    sense: int = 1

    def __init__(self, samples: Samples, parameters: Mapping[str, Any], unit: float) -> None:
        self.samples, self.parameters, self.unit = samples, parameters, rational(unit)

    @property
    def intercept(self) -> bool:
        return bool(self.parameters.get("intercept", True))

    def truth(self) -> Truth:
        raise NotImplementedError

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        """The relative errors of a point by what they are errors of."""
        raise NotImplementedError

    def vector(self, point: Point) -> Vector:
        """coef and intercept in one."""
        return [*point["coef"], *(point["intercept"] if self.intercept else [])]

    def off(self, value: Any, truth: Truth) -> float:
        """How far a value is from the optimum, relative to that or to the unit."""
        with ctx.workprec(PRECISION):
            below, above = ball(truth.lower) - ball(value), ball(value) - ball(truth.upper)
            excess = max(below.mid(), above.mid(), arb(0))
            return relative(excess, max(abs(ball(truth.upper)), ball(self.unit)))

    def contains(self, lower: Any, upper: Any, truth: Truth) -> bool:
        """Whether the bounds of a certificate hold."""
        with ctx.workprec(PRECISION):
            return not (_number(lower) > ball(truth.upper) or _number(upper) < ball(truth.lower))


def _number(value: Any) -> Any:
    if isinstance(value, Fraction):
        return ball(rational(value))
    return arb(value)


def relative(excess: Any, size: Any) -> float:
    """excess/size as a float, 0 where there is no excess."""
    if not excess > 0:
        return 0.0
    if not size > 0:
        return LARGEST
    with ctx.workprec(PRECISION):
        ratio = ball(excess) / ball(size)
        return float(ratio.mid()) if ratio < LARGEST else LARGEST


def worst(excesses: Sequence[Any], size: Any) -> float:
    return relative(max(excesses, default=ZERO), size)


def scores(rows: Sequence[Vector], v: Sequence[Any]) -> Vector:
    return [dot(row, v) for row in rows]
