"""Least squares, least absolute deviations, the perceptron criterion and Fisher's discriminant."""

from __future__ import annotations

from typing import Any

from tests.hunt.margins import unit
from tests.hunt.oracle import Point, Question, Truth, rational, relative, scores
from tests.hunt.pivoting import ONE, ZERO, Vector, dot, minimise, solve_linear


class LeastSquares(Question):
    """min 1/2 sum_i c_i (f(x_i) - t_i)^2 + l2/2 ‖w‖^2."""

    def truth(self) -> Truth:
        F, d, c = self.samples.design(self.intercept), self.samples.d, self.samples.weights
        t, l2, size = self.samples.targets(self.parameters["coding"]), rational(self.parameters["l2"]), len(F[0])
        normal = [[dot(c, [row[j] * row[k] for row in F]) for k in range(size)] for j in range(size)]
        for j in range(d):
            normal[j][j] += l2
        v = solve_linear(normal, [dot(c, [row[j] * b for row, b in zip(F, t, strict=True)]) for j in range(size)])
        assert v is not None
        return Truth.at(self._value(v))

    def _value(self, v: Vector) -> Any:
        t = self.samples.targets(self.parameters["coding"])
        residuals = [s - b for s, b in zip(scores(self.samples.design(self.intercept), v), t, strict=True)]
        coef = v[: self.samples.d]
        squares = dot(self.samples.weights, [r * r for r in residuals])
        return (squares + rational(self.parameters["l2"]) * dot(coef, coef)) / 2

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        return {"objective": self.off(self._value(self.vector(point)), truth)}


class LeastAbsolute(Question):
    """min sum_i c_i |f(x_i) - t_i|, by its dual: max t'z with F'z = 0, -c <= z <= c."""

    def truth(self) -> Truth:
        F, c = self.samples.design(self.intercept), self.samples.weights
        t, n = self.samples.targets(self.parameters["coding"]), len(F)
        columns = [list(column) for column in zip(*F, strict=True)]
        balance = [dot(column, c) for column in columns]  # in the unknowns z + c >= 0
        G = [unit(i, n, -ONE) for i in range(n)] + columns + [[-v for v in column] for column in columns]
        h = [-2 * v for v in c] + balance + [-v for v in balance]
        found = minimise([[ZERO] * n] * n, [-v for v in t], G, h)
        assert found is not None
        return Truth.at(-found.value - dot(t, c))

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        t = self.samples.targets(self.parameters["coding"])
        values = scores(self.samples.design(self.intercept), self.vector(point))
        off = [abs(s - b) for s, b in zip(values, t, strict=True)]
        return {"objective": self.off(dot(self.samples.weights, off), truth)}


class Perceptron(Question):
    """min sum_i c_i max(0, -m_i) with sum_i c_i m_i = sum_i c_i, m_i = y_i f(x_i)."""

    def truth(self) -> Truth:
        if self.parameters["normalization"] is None:
            return Truth.at(ZERO)
        rows, c, n = self.samples.margin_rows(self.intercept), self.samples.weights, len(self.samples.rows)
        free = len(rows[0])
        total = [dot(c, list(column)) for column in zip(*rows, strict=True)]
        if not any(total):
            return Truth("infeasible")
        G = [[*row, *unit(i, n)] for i, row in enumerate(rows)]
        G += [[*total, *[ZERO] * n], [*(-v for v in total), *[ZERO] * n]]
        size = self._total
        found = minimise([[ZERO] * (free + n)] * (free + n), [ZERO] * free + c, G, [ZERO] * n + [size, -size], free)
        assert found is not None
        return Truth.at(found.value)

    @property
    def _total(self) -> Any:
        """The sum of the weights."""
        return sum(self.samples.weights, ZERO)

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        margins = scores(self.samples.margin_rows(self.intercept), self.vector(point))
        c = self.samples.weights
        out = {"objective": self.off(dot(c, [max(ZERO, -m) for m in margins]), truth)}
        if self.parameters["normalization"] is not None:
            out["normalization"] = relative(abs(dot(c, margins) - self._total), self._total)
        return out


class Fisher(Question):
    """min 1/2 sum_i ((x_i - m_i)'w)^2 with (mean_k - mean_1)'w = 1 for one class k, 0 for the others, and the sum of
    these over k. ``chosen`` are the classes whose means differ from the first in independent ways."""

    def parts(self) -> tuple[list[Vector], list[Vector]]:
        """The centred rows, and the differences of the means."""
        means = []
        for k in range(max(self.samples.classes) + 1):
            group = [self.samples.rows[i] for i in self.samples.group(k)]
            means.append([sum(column, ZERO) / len(group) for column in zip(*group, strict=True)])
        centred = [
            [v - m for v, m in zip(row, means[k], strict=True)]
            for row, k in zip(self.samples.rows, self.samples.classes, strict=True)
        ]
        apart = [[a - b for a, b in zip(mean, means[0], strict=True)] for mean in means[1:]]
        return centred, [apart[k] for k in self.parameters["chosen"]]

    def truth(self) -> Truth:
        centred, apart = self.parts()
        d, count, total = self.samples.d, len(apart), ZERO
        scatter = [[dot([r[j] for r in centred], [r[k] for r in centred]) for k in range(d)] for j in range(d)]
        kkt = [[*scatter[j], *(row[j] for row in apart)] for j in range(d)] + [[*row, *[ZERO] * count] for row in apart]
        for k in range(count):
            found = solve_linear(kkt, [ZERO] * d + unit(k, count))
            if found is None:
                return Truth("infeasible")
            total += dot(found[:d], [dot(row, found[:d]) for row in scatter]) / 2
        return Truth.at(total)

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        centred, apart = self.parts()
        value, off = ZERO, [ZERO]
        for k, w in enumerate(point.values()):
            value += sum((dot(row, w) ** 2 for row in centred), ZERO) / 2
            off += [abs(dot(row, w) - (1 if j == k else 0)) for j, row in enumerate(apart)]
        return {"objective": self.off(value, truth), "separation": relative(max(off), ONE)}
