"""Logistic and softmax likelihoods in ball arithmetic, with bounds that hold despite all rounding.

    minimise  sum_i c_i log(1 + sum_k exp(-m_ik)) + 1/2 sum_j p_j v_j^2,      m_ik = r_ik'v

For every lambda_ik = c_i pi_ik with pi_i inside the simplex and R'lambda = 0 where p_j = 0, the minimum is at least

    sum_i c_i H(pi_i) - 1/2 sum_{j: p_j > 0} (R'lambda)_j^2 / p_j,            H the entropy of (pi_i, 1 - sum_k pi_ik).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, ctx, fmpq

from tests.hunt.pivoting import ONE, ZERO, independent_columns, minimise

#: Bits of all balls, more of them where penalties of 1e-300 stand beside 1, and the relative width of bounds that are
#: narrow enough to judge by.
PRECISION, MORE = 320, (320, 2560)
NARROW = arb(2) ** -60
MOST_STEPS = 3000


@dataclass(frozen=True)
class Likelihood:
    """Rows r_ik as rationals, ``width`` of them a sample, the samples' weights and the penalties of the unknowns."""

    rows: list[list[Any]]
    width: int
    weights: list[Any]
    penalties: list[Any]

    def attained(self) -> bool:
        """Whether no direction moves all rows to one side, some of them off it (Stiemke): then some lambda >= 1 has
        R'lambda = 0 in every unknown without a penalty."""
        columns = [j for j, p in enumerate(self.penalties) if not p]
        rows = [[row[j] for j in columns] for row in self.rows]
        if not columns or not any(map(any, rows)):
            return True
        keep = independent_columns(rows)
        turned = [[row[j] for row in rows] for j in keep]
        sums = [-sum(column, ZERO) for column in turned]
        n = len(rows)
        none = [[ZERO] * n] * n
        G = [*turned, *([-v for v in column] for column in turned)]
        return minimise(none, [ZERO] * n, G, [*sums, *(-v for v in sums)]) is not None

    def value(self, v: Sequence[Any]) -> Any:
        """The objective at a point of rationals, as a ball."""
        total = sum((p * a * a for p, a in zip(self.penalties, v, strict=True) if p), ZERO) / 2
        margins = [sum((a * b for a, b in zip(row, v, strict=True) if a and b), ZERO) for row in self.rows]
        return ball(total) + sum(
            (
                ball(c) * log_loss([ball(m) for m in margins[i * self.width : (i + 1) * self.width]])
                for i, c in enumerate(self.weights)
            ),
            arb(0),
        )

    def bounds(self) -> tuple[Any, Any] | None:
        """A lower and an upper bound of an attained minimum; None where they do not come close to each other."""
        reduced = self._independent()
        for bits in MORE:
            with ctx.workprec(bits):
                try:
                    found = _Newton(reduced).bounds()
                except ZeroDivisionError:  # a Hessian that so many bits cannot tell from a singular one
                    continue
                if found is not None:
                    return found
        return None

    def _independent(self) -> Likelihood:
        """The same in unknowns of unit size, those without a penalty only as many as matter."""
        free = [j for j, p in enumerate(self.penalties) if not p]
        rows = [[row[j] for j in free] for row in self.rows]
        kept = [free[k] for k in independent_columns(rows)] if free else []
        columns = sorted([*kept, *(j for j, p in enumerate(self.penalties) if p)])
        sizes = [max(abs(row[j]) for row in self.rows) or ONE for j in columns]
        return Likelihood(
            [[row[j] / s for j, s in zip(columns, sizes, strict=True)] for row in self.rows],
            self.width,
            self.weights,
            [self.penalties[j] / (s * s) for j, s in zip(columns, sizes, strict=True)],
        )


def ball(value: Any) -> Any:
    """A rational as a ball."""
    return arb(value.p) / arb(value.q) if isinstance(value, fmpq) else arb(value)


def log_loss(margins: Sequence[Any]) -> Any:
    """log(1 + sum_k exp(-m_k)), with the largest exponent taken out."""
    top = max((-m.mid() for m in margins), default=arb(0))
    if top < 0:
        return sum(((-m).exp() for m in margins), arb(0)).log1p()
    return top + ((-top).exp() + sum(((-m - top).exp() for m in margins), arb(0))).log()


def shares(margins: Sequence[Any]) -> tuple[list[Any], Any]:
    """exp(-m_k) / (1 + sum_k exp(-m_k)), and 1 / (1 + sum)."""
    top = max([arb(0), *(-m.mid() for m in margins)])
    parts, own = [(-m - top).exp() for m in margins], (-top).exp()
    total = own + sum(parts, arb(0))
    return [p / total for p in parts], own / total


class _Newton:
    """Newton's method with a line search, in the midpoints of balls."""

    def __init__(self, of: Likelihood) -> None:
        self.width, self.count = of.width, len(of.weights)
        self.R = arb_mat([[ball(v) for v in row] for row in of.rows])
        self.turned = self.R.transpose()
        self.size = self.R.ncols()
        self.weights = [ball(c) for c in of.weights]
        self.penalties = [ball(p) for p in of.penalties]
        self.free = [j for j, p in enumerate(of.penalties) if not p]

    def margins(self, v: Any) -> list[list[Any]]:
        flat = (self.R * v).entries()
        return [flat[i * self.width : (i + 1) * self.width] for i in range(self.count)]

    def value(self, v: Any, margins: list[list[Any]]) -> Any:
        bend = sum((p * a * a for p, a in zip(self.penalties, v.entries(), strict=True)), arb(0)) / 2
        return bend + sum((c * log_loss(m) for c, m in zip(self.weights, margins, strict=True)), arb(0))

    def bounds(self) -> tuple[Any, Any] | None:
        """Steps until the dual value at the shares is close to the value."""
        v = arb_mat(self.size, 1)
        margins = self.margins(v)
        value = self.value(v, margins)
        for _ in range(MOST_STEPS):
            gradient, hessian = self._derivatives(v, margins)
            step = hessian.solve(-gradient).mid() if self.size else v
            fall = -sum((a * b for a, b in zip(gradient.entries(), step.entries(), strict=True)), arb(0)).mid()
            if fall <= value.mid() * NARROW:
                lower = self._dual_value(margins)
                if lower.is_finite() and value - lower <= NARROW * value:
                    return lower.lower(), value.upper()
                if fall <= value.mid() * NARROW**4:  # no step makes it better
                    return None
            v, margins, value = self._line_search(v, step, value, fall)
        return None

    def _line_search(self, v: Any, step: Any, value: Any, fall: Any) -> tuple[Any, list[list[Any]], Any]:
        length = arb(1)
        while True:
            new = (v + step * length).mid()
            margins = self.margins(new)
            reached = self.value(new, margins)
            if reached.mid() <= value.mid() - fall * length / 10 or length < NARROW:
                return new, margins, reached
            length /= 2

    def _derivatives(self, v: Any, margins: list[list[Any]]) -> tuple[Any, Any]:
        """Gradient and Hessian: sum_i c_i (R_i' diag(pi) R_i - s_i s_i'), s_i = R_i'pi."""
        pi = [shares(m)[0] for m in margins]
        flat = [c * p for c, row in zip(self.weights, pi, strict=True) for p in row]
        lam = arb_mat(len(flat), 1, flat)
        gradient = self.turned * lam * arb(-1)
        scaled = arb_mat([[w * a for a in row] for w, row in zip(flat, self.R.table(), strict=True)])
        hessian = self.turned * scaled
        mix = arb_mat(self.count, len(flat))
        for i, row in enumerate(pi):
            for k, p in enumerate(row):
                mix[i, i * self.width + k] = p
        s = mix * self.R
        weighted = arb_mat([[c * a for a in row] for c, row in zip(self.weights, s.table(), strict=True)])
        hessian = hessian - s.transpose() * weighted
        for j, p in enumerate(self.penalties):
            hessian[j, j] += p
            gradient[j, 0] += p * v[j, 0]
        return gradient.mid(), hessian.mid()

    def _dual_value(self, margins: list[list[Any]]) -> Any:
        """The dual objective at the shares, moved so that R'lambda = 0 where there is no penalty: the balls contain a
        point that is exactly so."""
        found = [shares(m) for m in margins]
        lam = [c * p for c, (row, _) in zip(self.weights, found, strict=True) for p in row]
        if self.free:
            R = arb_mat([[row[j] for j in self.free] for row in self.R.table()])
            scaled = arb_mat([[w.mid() * a for a in row] for w, row in zip(lam, R.table(), strict=True)])
            try:
                y = (R.transpose() * scaled).solve(R.transpose() * arb_mat(len(lam), 1, lam))
            except ZeroDivisionError:
                return arb("-inf")
            lam = [a - b for a, b in zip(lam, (scaled * y).entries(), strict=True)]
        pull = (self.turned * arb_mat(len(lam), 1, lam)).entries()
        penalised = [(g, p) for j, (g, p) in enumerate(zip(pull, self.penalties, strict=True)) if j not in self.free]
        total = -sum((g * g / p for g, p in penalised), arb(0)) / 2
        for i, c in enumerate(self.weights):
            own = lam[i * self.width : (i + 1) * self.width]
            rest = c - sum(own, arb(0))
            if not all(v > 0 for v in [*own, rest]):
                return arb("-inf")
            total -= sum((v * (v / c).log() for v in [*own, rest]), arb(0))
        return total
