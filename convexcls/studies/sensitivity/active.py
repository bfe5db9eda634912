"""Margins and residuals as rows with multipliers between two bounds, and what holds on a fixed active set.

    minimise   1/2 x'Px + sum_i cost_i(t_i - r_i'x),     cost_i(s) = max over low_i <= a <= high_i of  a s - a^2 / 2 k_i

x are the coefficients and the intercept; k_i, the stiffness, is infinite for hard rows, hinges and absolute values,
2 c_i for squared hinges, and the weight for least squares. At a solution P x = sum_i a_i r_i, and each row is

    free       low_i < a_i < high_i     and then  a_i = k_i (t_i - r_i'x), or t_i = r_i'x where k_i is infinite,
    at low     a_i = low_i              and then  s_i = t_i - r_i'x - low_i / k_i <= 0,
    at high    a_i = high_i             and then  s_i = t_i - r_i'x - high_i / k_i >= 0.

With the same rows free, x and the free a_i solve a linear system, whatever else moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from convexcls.models import HardMarginSVM, LeastAbsolute, LeastSquares, Model, SoftMarginSVM
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.certificate import Certificate
from convexcls.rational.elimination import Matrix, Vector, determinant, dot, solve

Side = Literal["free", "low", "high"]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class RowProgram:
    """The program in rationals: P as a diagonal, rows with their sides t, bounds (None: none) and stiffness (None:
    infinite). ``moves`` says by how much rows move in multiples of the features: the label of a margin, 1 of a
    residual."""

    P: Vector
    rows: Matrix
    t: Vector
    low: list[Fraction | None]
    high: list[Fraction | None]
    stiffness: list[Fraction | None]
    moves: Vector

    def slack(self, i: int, x: Vector, a: Fraction) -> Fraction:
        """s_i: t_i - r_i'x - a / k_i."""
        k = self.stiffness[i]
        return self.t[i] - dot(self.rows[i], x) - (ZERO if k is None else a / k)

    def objective(self, x: Vector, a: Vector) -> Fraction:
        """By the multipliers, which at a solution is the objective."""
        total = sum((p * v * v for p, v in zip(self.P, x, strict=True)), ZERO) / 2
        for i, ai in enumerate(a):
            if ai:
                k = self.stiffness[i]
                total += ai * (self.t[i] - dot(self.rows[i], x)) - (ZERO if k is None else ai * ai / (2 * k))
        return total


@dataclass(frozen=True)
class Solved:
    """The point and the multipliers that an active set gives, times the determinant of its system and alone."""

    x: Vector
    a: Vector
    determinant: Fraction


def row_program(problem: Problem) -> RowProgram:
    """The program of a model; ``NoAnswer`` for others."""
    if not isinstance(problem, (HardMarginSVM, SoftMarginSVM, LeastSquares, LeastAbsolute)):
        raise NoAnswer(
            "sensitivities on the active set are those of hard and soft margins, least squares and least absolute "
            f"deviations; there are none of the {problem.name}"
        )
    data, b = problem.data, bool(problem.parameters["intercept"])
    samples, weights = data.exact_rows(), [Fraction(w) for w in data.given_weights.tolist()]
    n = data.n
    P = [ONE] * data.d + [ZERO] * b
    rows = [[*row, *[ONE] * b] for row in samples]
    nothing: list[Fraction | None] = [None] * n
    if isinstance(problem, (HardMarginSVM, SoftMarginSVM)):
        assert data.signs is not None
        signs = [Fraction(s) for s in data.signs.tolist()]
        rows = [[s * v for v in row] for s, row in zip(signs, rows, strict=True)]
        out = RowProgram(P, rows, [ONE] * n, [ZERO] * n, nothing, nothing, signs)
        if isinstance(problem, HardMarginSVM):
            return out
        costs: list[Fraction | None] = [Fraction(problem.parameters["C"]) * w for w in weights]
        if problem.parameters["loss"] == "hinge":
            return replace(out, high=costs)
        return replace(out, stiffness=[None if c is None else 2 * c for c in costs])
    targets = [Fraction(t) for t in data.coded_as_given(problem.parameters["coding"]).tolist()]
    if isinstance(problem, LeastSquares):
        l2 = Fraction(problem.parameters["l2"])
        P = [l2] * data.d + [ZERO] * b
        return RowProgram(P, rows, targets, nothing, nothing, list(weights), [ONE] * n)
    P = [ZERO] * len(P)
    return RowProgram(P, rows, targets, [-w for w in weights], list(weights), nothing, [ONE] * n)


def solution_of(certificate: Certificate, problem: Model) -> tuple[Vector, Vector]:
    """x and the multipliers a of an exact certificate."""
    x = [*certificate.coef, *([certificate.intercept] if problem.parameters["intercept"] else [])]
    found, n = certificate.exact_multipliers, problem.data.n
    if isinstance(problem, LeastSquares):
        program = row_program(problem)
        return x, [(k or ZERO) * program.slack(i, x, ZERO) for i, k in enumerate(program.stiffness)]
    if isinstance(problem, LeastAbsolute):
        above, below = (found.get(f"residual_{side}", {}) for side in ("above", "below"))
        return x, [below.get(i, ZERO) - above.get(i, ZERO) for i in range(n)]
    return x, [found.get("margin", {}).get(i, ZERO) for i in range(n)]


def sides_of(program: RowProgram, x: Vector, a: Vector) -> tuple[list[Side], list[int]]:
    """Where each row stands, and the rows for which it is not clear: at a bound and without slack."""
    sides: list[Side] = []
    unclear = []
    for i, ai in enumerate(a):
        low, high = program.low[i], program.high[i]
        if low is not None and ai == low:
            sides.append("low")
        elif high is not None and ai == high:
            sides.append("high")
        else:
            sides.append("free")
            continue
        if program.slack(i, x, ai) == 0 and low != high:
            unclear.append(i)
    return sides, unclear


def solved(program: RowProgram, sides: Sequence[Side]) -> Solved | None:
    """The solution with these rows free; None where the system is singular. Rows of finite stiffness are put into
    the first block:

        (P + sum k_i r_i r_i') x - sum over hard free rows of a_i r_i = sum k_i t_i r_i + sum at bounds of a_i r_i
        r_i'x = t_i                                                     for the hard free rows
    """
    p = len(program.P)
    a: Vector = [ZERO] * len(sides)
    block = [[value if j == k else ZERO for k in range(p)] for j, value in enumerate(program.P)]
    right = [ZERO] * p
    hard = []
    for i, side in enumerate(sides):
        row, k = program.rows[i], program.stiffness[i]
        if side == "free" and k is None:
            hard.append(i)
            continue
        if side == "free":
            pull = k * program.t[i] if k is not None else ZERO
            for j in range(p):
                if row[j] and k:
                    block[j] = [b + k * row[j] * v for b, v in zip(block[j], row, strict=True)]
        else:
            bound = program.low[i] if side == "low" else program.high[i]
            assert bound is not None
            pull = a[i] = bound
        if pull:
            right = [r + pull * v for r, v in zip(right, row, strict=True)]
    system = [[*block[j], *(-program.rows[i][j] for i in hard)] for j in range(p)]
    system += [[*program.rows[i], *[ZERO] * len(hard)] for i in hard]
    D = determinant(system) if system else ONE
    if not D:
        return None
    found = solve(system, [*right, *(program.t[i] for i in hard)])
    assert found is not None
    x = found[:p]
    for i, value in zip(hard, found[p:], strict=True):
        a[i] = value
    for i, side in enumerate(sides):
        k = program.stiffness[i]
        if side == "free" and k is not None:
            a[i] = k * (program.t[i] - dot(program.rows[i], x))
    return Solved(x, a, D)


def margins_of_validity(program: RowProgram, sides: Sequence[Side], at: Solved) -> Vector:
    """Numbers that are all at least 0 where the active set is that of a solution."""
    out = []
    for i, side in enumerate(sides):
        low, high = program.low[i], program.high[i]
        if side == "free":
            out.append(ZERO + ONE if low is None else at.a[i] - low)
            out.append(ZERO + ONE if high is None else high - at.a[i])
        else:
            s = program.slack(i, at.x, at.a[i])
            out.append(-s if side == "low" else s)
            out.append(ONE)
    return out
