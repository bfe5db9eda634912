"""Hard, soft and maximum margins, and support vector machines with kernels."""

from __future__ import annotations

from functools import cached_property
from math import isqrt
from typing import Any

from flint import ctx, fmpq

from tests.hunt.likelihood import PRECISION, ball
from tests.hunt.oracle import Misstated, Point, Question, Truth, rational, relative, scores, worst
from tests.hunt.pivoting import ONE, ZERO, Vector, dot, minimise

#: A value of the Gaussian kernel in doubles may be off by this.
KERNEL_ROUNDING = fmpq(1, 2**48)
KERNEL_BITS, LEAST_EXPONENT = 400, 5000


def diagonal(values: Vector) -> list[Vector]:
    return [[v if i == j else ZERO for j in range(len(values))] for i, v in enumerate(values)]


def costs(C: float, weights: Vector) -> Vector:
    """C w_i, without rounding."""
    return [rational(C) * w for w in weights]


class HardMargin(Question):
    """min 1/2 ‖w‖^2 with y_i f(x_i) >= 1."""

    def truth(self) -> Truth:
        rows, d = self.samples.margin_rows(self.intercept), self.samples.d
        free = d + self.intercept
        P = diagonal([ONE if j < d else ZERO for j in range(free)])
        found = minimise(P, [ZERO] * free, rows, [ONE] * len(rows), free)
        return Truth("infeasible") if found is None else Truth.at(found.value)

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        margins = scores(self.samples.margin_rows(self.intercept), self.vector(point))
        coef = point["coef"]
        return {"objective": self.off(dot(coef, coef) / 2, truth), "margin": worst([1 - m for m in margins], ONE)}


class SoftMargin(Question):
    """min 1/2 ‖w‖^2 + sum_i C_i max(0, 1 - y_i f(x_i)), or with its square; with l1, l2 the penalised hinge risk."""

    @property
    def costs(self) -> Vector:
        return costs(self.parameters.get("C", 1.0), self.samples.weights)

    @property
    def penalties(self) -> tuple[Any, Any]:
        if "C" in self.parameters:
            return ONE, ZERO
        return rational(self.parameters["l2"]), rational(self.parameters["l1"])

    @property
    def squared(self) -> bool:
        return self.parameters["loss"] == "squared_hinge"

    def truth(self) -> Truth:
        rows, d, n = self.samples.margin_rows(self.intercept), self.samples.d, len(self.samples.rows)
        free, (l2, l1), costs = d + self.intercept, self.penalties, self.costs
        sizes = d if l1 else 0  # |w_j| as an unknown
        bend = [l2] * d + [ZERO] * (free - d) + ([2 * c for c in costs] if self.squared else [ZERO] * n)
        q = [ZERO] * free + ([ZERO] * n if self.squared else costs) + [l1] * sizes
        G = [[*row, *unit(i, n), *[ZERO] * sizes] for i, row in enumerate(rows)]
        for sign in (ONE, -ONE):
            G += [[*unit(j, free, sign), *[ZERO] * n, *unit(j, sizes)] for j in range(sizes)]
        found = minimise(diagonal([*bend, *[ZERO] * sizes]), q, G, [ONE] * n + [ZERO] * (2 * sizes), free)
        assert found is not None
        return Truth.at(found.value)

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        margins = scores(self.samples.margin_rows(self.intercept), self.vector(point))
        slack = [max(ZERO, 1 - m) for m in margins]
        coef, (l2, l1) = point["coef"], self.penalties
        value = l2 * dot(coef, coef) / 2 + l1 * sum(map(abs, coef), ZERO)
        return {"objective": self.off(value + dot(self.costs, [s * s if self.squared else s for s in slack]), truth)}


def unit(place: int, size: int, value: Any = ONE) -> Vector:
    return [value if k == place else ZERO for k in range(size)]


class MaxMargin(HardMargin):
    """max distance with y_i f(x_i) >= distance, ‖w‖ <= 1: one over the norm of the hard margin's normal, or 0."""

    sense = -1

    def truth(self) -> Truth:
        hard = super().truth()
        if hard.status == "infeasible":
            return Truth.at(ZERO)
        square = 1 / (2 * hard.lower)
        if (root := rational_root(square)) is not None:
            return Truth.at(root)
        with ctx.workprec(PRECISION):
            distance = ball(square).sqrt()
            return Truth("optimal", distance.lower(), distance.upper())

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        rows, v = self.samples.margin_rows(self.intercept), self.vector(point)
        (distance,) = point["distance"]
        square = dot(point["coef"], point["coef"])
        out = {"norm bound": relative(square - 1, fmpq(2)), "objective": self.off(distance, truth)}
        short = [distance - m for m in scores(rows, v)]
        if truth.rational and not truth.lower:  # a margin of 0 is judged by what was added up for it
            sizes = [dot([abs(a) for a in row], [abs(b) for b in v]) + abs(distance) for row in rows]
            out["margin"] = max(map(relative, short, sizes), default=0.0)
        else:
            out["margin"] = worst(short, truth.lower)
        return out


def nearest(value: Any) -> Any:
    """The middle of a ball, as a rational."""
    mantissa, exponent = value.mid().man_exp()
    if exponent < -LEAST_EXPONENT:  # nothing beside the kernel's other values
        return ZERO
    power = fmpq(2) ** abs(int(exponent))
    return fmpq(mantissa) * power if exponent >= 0 else fmpq(mantissa) / power


def rational_root(square: Any) -> Any | None:
    """The root of a positive rational, None where it is not rational."""
    root = fmpq(isqrt(int(square.p)), isqrt(int(square.q)))
    return root if root * root == square else None


class Kernel(Question):
    """max sum_i alpha_i - 1/2 alpha'Q alpha with 0 <= alpha_i <= C_i and, with an intercept, sum_i alpha_i y_i = 0. The
    point is alpha; the intercept is a multiplier, which is not judged."""

    sense = -1

    @property
    def boxes(self) -> Vector | None:
        return None if self.parameters["C"] is None else costs(self.parameters["C"], self.samples.weights)

    @cached_property
    def Q(self) -> list[Vector]:
        if self.parameters["kernel"] == "rbf":
            return self._gaussian()
        rows, signs = self.samples.rows, self.samples.signs
        values = [[self._kernel(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)]
        n = len(rows)
        return [[signs[i] * signs[j] * values[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]

    def _kernel(self, a: Vector, b: Vector) -> Any:
        name = self.parameters["kernel"]
        if name == "linear":
            return dot(a, b)
        gamma = rational(self.parameters["gamma"])
        if name == "poly":
            return (gamma * dot(a, b) + rational(self.parameters["coef0"])) ** int(self.parameters["degree"])
        raise AssertionError(f"the {name} kernel is not rational")

    def _gaussian(self) -> list[Vector]:
        """The kernel's values to 400 bits; or the doubles that the problem holds, where a claim says that it speaks of
        these, if they are the kernel's values."""
        rows, signs, gamma = self.samples.rows, self.samples.signs, rational(self.parameters["gamma"])
        held, n = self.parameters.get("matrix"), len(rows)
        Q = [[ZERO] * n for _ in range(n)] if held is None else held
        for i, a in enumerate(rows):
            for j, b in enumerate(rows):
                apart = gamma * sum(((x - z) ** 2 for x, z in zip(a, b, strict=True)), ZERO)
                with ctx.workprec(KERNEL_BITS):
                    value = ball(signs[i] * signs[j]) * ball(-apart).exp()
                    if held is None:
                        Q[i][j] = nearest(value)
                    elif not abs(ball(Q[i][j]) - value) < ball(KERNEL_ROUNDING):
                        raise Misstated(f"k(x, z) of rows {i} and {j} is not {float(ball(Q[i][j]).mid())}")
        return Q

    def truth(self) -> Truth:
        n, boxes, signs = len(self.samples.rows), self.boxes, self.samples.signs
        G, h = [], []
        if boxes is not None:
            G, h = diagonal([-ONE] * n), [-c for c in boxes]
        if self.intercept:
            G, h = [*G, signs, [-s for s in signs]], [*h, ZERO, ZERO]
        found = minimise(self.Q, [-ONE] * n, G, h)
        return Truth("unattained") if found is None else Truth.at(-found.value)

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        alpha, Q, signs = list(point["margin"]), self.Q, self.samples.signs
        bent = [dot(row, alpha) for row in Q]
        size, total = max(map(abs, alpha), default=ZERO), sum(map(abs, alpha), ZERO)
        out = {
            "objective": self.off(sum(alpha, ZERO) - dot(alpha, bent) / 2, truth),
            "sign": worst([-a for a in alpha], size),
        }
        if self.intercept:
            out["balance"] = relative(abs(dot(alpha, signs)), total)
        if (boxes := self.boxes) is not None:
            out["box"] = max((relative(a - c, c) for a, c in zip(alpha, boxes, strict=True)), default=0.0)
        return out
