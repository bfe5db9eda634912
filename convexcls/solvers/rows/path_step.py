"""One step of a primal-dual interior-point method on a ``RowProgram``.

With the distances of a from its bounds, down = a - low and up = high - a, and what the row is short of or beyond,

    R x - h - give a = over - under,     down under = mu,   up over = mu,

the Newton equations reduce to the unknowns:  (P + R'DR) dx + A' dnu = ...,  D = 1/(give + under/down + over/up).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from convexcls.solvers.rows.row_program import RowProgram

Array = NDArray[np.float64]

#: A step ends this far short of the bound that limits it.
SHORT_OF_BOUND = 0.995
#: Longer steps need no correction.
LONG_ENOUGH = 0.95
#: Diagonal entries below this share of the largest are rounding.
NOISE = 1e-60
#: Below every curvature: rows whose pairs both vanish are tight.
SMALLEST = 1e-200


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A point inside: x, the multipliers of the equations, and for each row its two pairs. ``down`` is 1 and ``under``
    0 where a has no lower bound, likewise above."""

    x: Array
    nu: Array
    a: Array
    down: Array
    up: Array
    under: Array
    over: Array


@dataclass(frozen=True, eq=False)
class Sides:
    """Which bounds there are, as numbers 0 and 1 (one number where all rows agree), and how many."""

    low: Array | float
    high: Array | float
    count: int

    @classmethod
    def of(cls, program: RowProgram) -> Sides:
        low, high = np.isfinite(program.low), np.isfinite(program.high)
        count = int(low.sum() + high.sum())
        return cls(_common(low), _common(high), count)


def _common(there: NDArray[np.bool_]) -> Array | float:
    return float(there[0]) if there.size and np.all(there == there[0]) else there.astype(float)


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is left of the equations: stationarity, rows, equations; and the complementarity products."""

    dual: Array
    rows: Array
    equal: Array
    gap: float

    @classmethod
    def of(cls, program: RowProgram, p: PathPoint) -> Residuals:
        rows = program.excess(p.x) - program.give * p.a - p.over + p.under
        gap = float(p.down @ p.under + p.up @ p.over)
        return cls(program.gradient(p.x, p.a, p.nu), rows, program.A @ p.x - program.b, gap)


@dataclass(frozen=True, eq=False)
class Move:
    """A direction from a point."""

    x: Array
    nu: Array
    a: Array
    under: Array
    over: Array


class Factor:
    """The factorization of [[H, A'], [A, 0]] in units in which H has ones on its diagonal. Multiples of
    A'A are added to H, which changes no solution."""

    def __init__(self, H: Array, A: Array) -> None:
        diagonal = H.diagonal()
        counts = diagonal > NOISE * float(diagonal.max(initial=0.0))
        self.unit = np.where(counts, 1.0 / np.sqrt(np.where(counts, diagonal, 1.0)), 0.0)
        H = H * self.unit[:, None] * self.unit
        H.flat[:: H.shape[0] + 1] += ~counts  # nothing moves along these
        self.A, self.row_unit = A, np.ones(A.shape[0])
        if A.size:
            self.A = A * self.unit
            norms = np.linalg.norm(self.A, axis=1)
            self.row_unit = 1.0 / np.where(norms > 0, norms, 1.0)
            self.A = self.A * self.row_unit[:, None]
            H = H + self.A.T @ self.A
        self.H = H
        self.factor = _cholesky(H)
        if self.A.size:
            self.through = _solved(self.factor, self.A.T)
            self.schur = _cholesky(self.A @ self.through)

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """dx and dnu with H dx + A'dnu = f, A dx = g."""
        f = f * self.unit
        if not self.A.size:
            x = _solved(self.factor, f)
            x = x + _solved(self.factor, f - self.H @ x)
            return np.asarray(x * self.unit), np.zeros(0)
        g = g * self.row_unit
        f = f + self.A.T @ g
        x, nu = self._bordered(f, g)
        more_x, more_nu = self._bordered(f - self.H @ x - self.A.T @ nu, g - self.A @ x)
        return (x + more_x) * self.unit, (nu + more_nu) * self.row_unit

    def _bordered(self, f: Array, g: Array) -> tuple[Array, Array]:
        plain = _solved(self.factor, f)
        nu = _solved(self.schur, self.A @ plain - g)
        return np.asarray(plain - self.through @ nu), np.asarray(nu)


def _cholesky(matrix: Array) -> Array:
    """A Cholesky factor, of the matrix with as little added to its diagonal as makes it positive definite."""
    for shift in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
        shifted = matrix if shift == 0 else matrix + shift * max(matrix.shape[0], 1) * np.eye(matrix.shape[0])
        factor, info = dpotrf(shifted, lower=1, clean=0)
        if info == 0 and np.isfinite(factor.diagonal()).all():
            return np.asarray(factor)
    raise LinAlgError("the system has no finite Cholesky factor")


def _solved(factor: Array, target: Array) -> Array:
    """The solution of a system whose Cholesky factor is given; LAPACK itself, since SciPy's way there costs more than a
    small system."""
    return np.asarray(dpotrs(factor, target, lower=1)[0])


class Newton:
    """The Newton equations at a point, factored once and solved for several targets."""

    def __init__(self, program: RowProgram, p: PathPoint, left: Residuals) -> None:
        self.program, self.p, self.left = program, p, left
        self.D = 1.0 / np.maximum(program.give + p.under / p.down + p.over / p.up, SMALLEST)
        self.factor = Factor(program.P + program.rows.gram(self.D), program.A)

    def move(self, low: Array, high: Array) -> Move:
        """The direction in which the products of the pairs change by ``low`` and ``high``."""
        p = self.p
        wanted = self.left.rows + low / p.down - high / p.up
        pull = self.program.rows.transposed_matmul(self.D * wanted)
        dx, dnu = self.factor.solve(-self.left.dual - pull, -self.left.equal)
        da = self.D * (self.program.rows @ dx + wanted)
        return Move(dx, dnu, da, (low - p.under * da) / p.down, (high + p.over * da) / p.up)


def predictor_corrector(
    program: RowProgram, sides: Sides, p: PathPoint, left: Residuals, corrections: int = 2
) -> tuple[PathPoint, float, float]:
    """Mehrotra's step from a point: the next point, the length of the step and how far it was centred."""
    newton = Newton(program, p, left)
    below, above = p.down * p.under, p.up * p.over
    affine = newton.move(-below, -above)
    length = step_length(sides, p, affine)
    after = sum(float(product.sum()) for product in _products(sides, p, affine, length))
    sigma = min(max(after / left.gap, 0.0) ** 3, 1.0) if left.gap > 0 else 0.0
    target = sigma * left.gap / max(sides.count, 1)
    low = (target - affine.a * affine.under) * sides.low - below
    high = (target + affine.a * affine.over) * sides.high - above
    best = newton.move(low, high)
    length = step_length(sides, p, best)
    for _ in range(corrections):
        if length >= LONG_ENOUGH:
            break
        further = min(1.0, 1.08 * length + 0.08)
        more_low, more_high = _towards_centre(sides, p, best, further, target)
        low, high = low + more_low, high + more_high
        corrected = newton.move(low, high)
        reached = step_length(sides, p, corrected)
        if reached < length + 0.1 * (further - length):
            break
        best, length = corrected, reached
    length *= SHORT_OF_BOUND if length < 1.0 else max(SHORT_OF_BOUND, 1.0 - sigma)
    return _moved(program, sides, p, best, length), length, sigma


def _products(sides: Sides, p: PathPoint, m: Move, length: float) -> tuple[Array, Array]:
    """The products of both pairs after a step."""
    return (
        (p.down + length * m.a * sides.low) * (p.under + length * m.under),
        (p.up - length * m.a * sides.high) * (p.over + length * m.over),
    )


def _towards_centre(sides: Sides, p: PathPoint, m: Move, length: float, target: float) -> tuple[Array, Array]:
    """What would bring the products that are far from the target after a step back into its neighbourhood (Gondzio
    1996)."""
    out = []
    for products, there in zip(_products(sides, p, m, length), (sides.low, sides.high), strict=True):
        missing = np.clip(products, 0.1 * target, 10.0 * target) - products
        out.append(np.maximum(missing, -10.0 * target) * there)
    return out[0], out[1]


def step_length(sides: Sides, p: PathPoint, m: Move, cap: float = 1.0) -> float:
    """The longest step, at most ``cap``, after which nothing is negative."""
    most = 1.0 / cap
    for value, change, there in (
        (p.down, m.a, sides.low),
        (p.up, -m.a, sides.high),
        (p.under, m.under, sides.low),
        (p.over, m.over, sides.high),
    ):
        if isinstance(there, float):
            if there and value.size:
                most = max(most, -float((change / value).min()))
        else:
            most = max(
                most, -float(np.divide(change, value, out=np.zeros_like(change), where=there > 0).min(initial=0.0))
            )
    return 1.0 / most if most > 0 else np.inf


def _moved(program: RowProgram, sides: Sides, p: PathPoint, m: Move, length: float) -> PathPoint:
    down = p.down + length * m.a * sides.low
    up = p.up - length * m.a * sides.high
    a = p.a + length * m.a
    # next to a bound the distance has more digits than a
    a = np.where(down < up, np.where(sides.low, program.low + down, a), np.where(sides.high, program.high - up, a))
    return PathPoint(
        p.x + length * m.x, p.nu + length * m.nu, a, down, up,
        p.under + length * m.under, p.over + length * m.over,
    )  # fmt: skip
