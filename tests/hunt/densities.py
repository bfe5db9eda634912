"""Logistic and softmax regression, and Gaussian classes."""

from __future__ import annotations

from typing import Any

from flint import arb, ctx

from tests.hunt.likelihood import PRECISION, Likelihood, ball
from tests.hunt.oracle import Point, Question, Truth, Unknown, rational
from tests.hunt.pivoting import ONE, ZERO, Vector, dot, matrix


class Softmax(Question):
    """min sum_i c_i log(1 + sum_{k != y_i} exp(z_k - z_{y_i})) + l2/2 sum_k ‖w_k‖^2, z = W x + b. Of the unknowns W
    comes first, class by class."""

    def likelihood(self) -> Likelihood:
        s, count, d = self.samples, max(self.samples.classes) + 1, self.samples.d
        rows, weights = [], []
        for row, own, c in zip(s.rows, s.classes, s.weights, strict=True):
            if not c:
                continue
            weights.append(c)
            for k in range(count):
                if k != own:
                    signs = [ONE if j == own else -ONE if j == k else ZERO for j in range(count)]
                    rows.append([*(sign * v for sign in signs for v in row), *(signs if self.intercept else [])])
        l2 = rational(self.parameters["l2"])
        return Likelihood(rows, count - 1, weights, [l2] * (count * d) + [ZERO] * (count * self.intercept))

    def truth(self) -> Truth:
        likelihood = self.likelihood()
        if not likelihood.attained():
            return Truth("unattained")
        found = likelihood.bounds()
        if found is None:
            raise Unknown("no narrow bounds of the likelihood")
        return Truth("optimal", *found)

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        with ctx.workprec(PRECISION):
            return {"objective": self.off(self.likelihood().value(self.vector(point)), truth)}


class Logistic(Softmax):
    """min sum_i c_i log(1 + exp(-y_i f(x_i))) + l2/2 ‖w‖^2."""

    def likelihood(self) -> Likelihood:
        s, l2 = self.samples, rational(self.parameters["l2"])
        counted = [(row, c) for row, c in zip(s.margin_rows(self.intercept), s.weights, strict=True) if c]
        rows, weights = [row for row, _ in counted], [c for _, c in counted]
        return Likelihood(rows, 1, weights, [l2] * s.d + [ZERO] * self.intercept)


class Gaussian(Question):
    """Minus the log-likelihood of Gaussian classes in their natural parameters (Lambda, eta, T): for each group of
    classes with a covariance of their own

        1/2 tr(M Omega) - v/2 log det Omega + v/2 (d log 2 pi + sum_k log(v / n_k) - K)

    with M the moments of the samples (measured from a centre) and indicators. Its least value is
    v/2 (d + d log 2 pi + log det(S/v)), S the scatter within classes, v what it is divided by."""

    def groups(self) -> list[list[int]]:
        classes = list(range(max(self.samples.classes) + 1))
        return [classes] if self.parameters["covariance"] == "shared" else [[k] for k in classes]

    def divisor(self, classes: list[int]) -> Any:
        total = sum((self.weight(k) for k in classes), ZERO)
        return total - len(classes) if self.parameters["unbiased"] else total

    def weight(self, k: int) -> Any:
        return sum((self.samples.weights[i] for i in self.samples.group(k)), ZERO)

    def truth(self) -> Truth:
        d, total = self.samples.d, arb(0)
        for classes in self.groups():
            v, scatter = self.divisor(classes), matrix(self._scatter(classes), d)
            if not scatter.det():
                return Truth("unattained")
            with ctx.workprec(PRECISION):
                total += ball(v) / 2 * (d + d * (2 * arb.pi()).log() + ball(scatter.det() / v**d).log())
        with ctx.workprec(PRECISION):
            return Truth("optimal", total.lower(), total.upper())

    def _scatter(self, classes: list[int]) -> list[Vector]:
        d = self.samples.d
        out = [[ZERO] * d for _ in range(d)]
        for k in classes:
            group, n = self.samples.group(k), self.weight(k)
            c = [self.samples.weights[i] for i in group]
            columns = [[self.samples.rows[i][j] for i in group] for j in range(d)]
            centred = [[v - dot(c, column) / n for v in column] for column in columns]
            for i in range(d):
                for j in range(d):
                    out[i][j] += dot([a * b for a, b in zip(c, centred[i], strict=True)], centred[j])
        return out

    def errors(self, point: Point, truth: Truth) -> dict[str, float]:
        """``point`` has ``centre`` and, by group, ``omega_1``, ...: the matrix Omega, row by row."""
        total, d = arb(0), self.samples.d
        for number, classes in enumerate(self.groups(), 1):
            size = d + len(classes)
            omega = matrix([point[f"omega_{number}"][i * size : (i + 1) * size] for i in range(size)], size)
            if not positive_definite(omega, size):
                return {"definite": 1.0}
            v, moments = self.divisor(classes), self._moments(classes, point["centre"])
            trace = sum((dot(moments[i], [omega[j, i] for j in range(size)]) for i in range(size)), ZERO)
            with ctx.workprec(PRECISION):
                logs = sum((ball(v / self.weight(k)).log() for k in classes), arb(0)) - len(classes)
                constant = ball(v) / 2 * (d * (2 * arb.pi()).log() + logs)
                total += ball(trace) / 2 - ball(v) / 2 * ball(omega.det()).log() + constant
        return {"objective": self.off(total, truth)}

    def _moments(self, classes: list[int], centre: Any) -> list[Vector]:
        chosen = [i for i, k in enumerate(self.samples.classes) if k in classes]
        z = [
            [
                *(v - m for v, m in zip(self.samples.rows[i], centre, strict=True)),
                *(ONE if self.samples.classes[i] == k else ZERO for k in classes),
            ]
            for i in chosen
        ]
        c = [self.samples.weights[i] for i in chosen]
        size = len(z[0])
        return [[dot(c, [row[i] * row[j] for row in z]) for j in range(size)] for i in range(size)]


def positive_definite(A: Any, size: int) -> bool:
    """Whether all leading minors are positive."""
    cells = A.table()
    return all(matrix([row[:k] for row in cells[:k]], k).det() > 0 for k in range(1, size + 1))
