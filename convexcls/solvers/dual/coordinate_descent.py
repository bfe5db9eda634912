"""Dual coordinate descent, finished by Newton's method on the free multipliers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices, Mask
from convexcls.compilation import has_numba
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Tracer
from convexcls.solvers.dual.dual_program import DualProgram, why_no_dual_program
from convexcls.solvers.dual.face import Face, FaceStep
from convexcls.solvers.rows.reduction import RowReduction

#: Violations, in units of the right-hand side, to which the first descent goes, and the factor for each further one.
FIRST_ACCURACY, ACCURACY_FACTOR = 0.1, 0.2
#: The most sweeps of one descent.
MAX_SWEEPS = 60
#: A Newton step has to leave at most this share of the violation.
ENOUGH = 0.5
#: Equations are solved to this share of the violation.
FORCING = 1e-3
#: The share of the tolerance at which the gap is closed.
GAP_SHARE = 0.02
SHORTEST_STEP = 1e-6


@dataclass(frozen=True)
class CoordinateDescentSolver(Solver):
    """Large margins on many features, or on sparse ones."""

    name: ClassVar[str] = "coordinate-descent"
    accepts: ClassVar[str] = "margins, hinges and other losses with one kink under a diagonal quadratic penalty"
    promise: ClassVar[float] = 1e-9

    max_iter: int = 100
    seed: int = 0

    def refuses(self, problem: Problem) -> str:
        return why_no_dual_program(problem)

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        program, tracer = DualProgram.of(problem), Tracer(callback)
        point, accuracy = Point.at(program, np.clip(np.zeros(program.size), program.low, program.high), 0.0), FIRST_ACCURACY
        rng = np.random.default_rng(self.seed)
        for _ in range(self.max_iter):
            if has_numba():
                point = descend(program, point.moved(), accuracy * program.side, rng)
            print('cd', point.worst, point.gap)
            tracer.record(point.objective, point.worst, 1.0, point.facts(), standing=point.standing)
            while not point.is_optimal(tol):
                new = newton_step(program, point)
                print('newton', new.worst, new.gap)
                if not new.worst <= ENOUGH * point.worst:
                    break
                point = new
            if point.is_optimal(tol):
                break
            point = projected_step(program, point)
            print('proj', point.worst, point.gap)
            accuracy = ACCURACY_FACTOR * min(accuracy, point.worst / program.side)
        x, multipliers = program.restored(point.a, point.b)
        return Answer(x, multipliers, "", len(tracer.lines), tuple(tracer.lines))


@dataclass(frozen=True, eq=False)
class Point:
    """Multipliers a, the unknowns u and the intercept b that go with them, and the excess r of every row."""

    program: DualProgram
    a: Array
    u: Array
    b: float
    r: Array

    @classmethod
    def at(cls, program: DualProgram, a: Array, b: float) -> Point:
        u = program.weights(a)
        return cls(program, a, u, b, program.excess(a, u, b))

    @property
    def slopes(self):
        p = self.program
        return np.where((self.a <= p.low) & (self.r < 0) | (self.a >= p.high) & (self.r > 0), 0.0, self.r)

    @property
    def free(self) -> Mask:
        """between bounds, or at one that it wants to leave"""
        p = self.program
        return ~((self.a <= p.low) & (self.r <= 0) | (self.a >= p.high) & (self.r >= 0))

    @property
    def worst(self) -> float:
        return max(float(np.abs(self.slopes).max(initial=0.0)), self.off)

    @property
    def off(self) -> float:
        """what c'a + total moves"""
        p = self.program
        return p.beta * abs(p.lacking(self.a)) * float(np.abs(p.c).max(initial=0.0))

    def moved(self) -> Point:
        """multiplier update where the equation is what is off"""
        shift = -self.program.beta * self.program.lacking(self.a)
        return replace(self, b=self.b + shift, r=self.r + shift * self.program.c) if self.off >= 0.5 * self.worst else self

    @property
    def objective(self) -> float:
        """dual objective"""
        p = self.program
        return -(0.5 * float(self.u @ self.u) + 0.5 * float((p.compliance * self.a) @ self.a) + float(p.h @ self.a))

    @property
    def gap(self) -> float:
        p, r, a = self.program, self.r, self.a
        top = float(a.max(initial=0.0))
        way = np.where(r > 0, np.where(np.isfinite(p.high), p.high - a, top), np.where(np.isfinite(p.low), a - p.low, top))
        soft = p.compliance > 0
        cost = np.where(soft, 0.5 * r * r / np.where(soft, p.compliance, 1.0), np.inf)
        return float(np.minimum(np.abs(r) * way, cost).sum())

    def is_optimal(self, tol):
        p = self.program
        return self.gap <= GAP_SHARE * tol * abs(self.objective) and abs(p.lacking(self.a)) <= GAP_SHARE * tol * np.abs(self.a * p.c).max(initial=0.0)

    def facts(self):
        return {}

    def standing(self):
        return self.program.restored(self.a, self.b)


def descend(program: DualProgram, point: Point, accuracy: float, rng: np.random.Generator) -> Point:
    """Sweeps until no slope is above ``accuracy``."""
    from convexcls.solvers.dual.sweeps import sweep_dense, sweep_sparse

    M = program.matrix
    if sparse.issparse(M):
        sweep = partial(sweep_sparse, M.data, M.indices, M.indptr)
    else:
        sweep = partial(sweep_dense, M)
    a, u, b, beta = point.a.copy(), point.u.copy(), point.b, program.beta
    p = program
    curvature = program.diagonal + beta * program.c**2
    everything = np.arange(program.size)
    order, above, below = everything, np.inf, -np.inf
    visits=0
    for it in range(MAX_SWEEPS):
        order = rng.permutation(order)
        visits+=order.size
        kept, b, top, bottom = sweep(p.left, p.c, p.h, p.low, p.high, p.compliance, curvature, order, a, u, b, beta, above, below)
        if top - bottom <= accuracy:
            if order.size == program.size: break
            order, above, below = everything, np.inf, -np.inf
            continue
        order = order[:kept]
        above, below = top or np.inf, bottom or -np.inf
    print('sweeps',it+1,visits/program.size)
    return Point.at(program, a, b)


def newton_step(program: DualProgram, point: Point) -> Point:
    index = np.flatnonzero(point.free)
    face = Face(program, index)
    step = face.newton(point.r[index], program.lacking(point.a), FORCING * point.worst)
    print('  F',index.size,'cg',step.steps)
    a = point.a.copy()
    a[index] = np.clip(a[index] + step.d, program.low[index], program.high[index])
    return Point.at(program, a, point.b + step.db)


def projected_step(program, point):
    index = np.flatnonzero(point.free)
    face = Face(program, index)
    r = point.r[index]
    step = face.penalised(r, FORCING * point.worst)
    t = 1.0
    a0 = point.a[index]
    while t > SHORTEST_STEP:
        way = np.clip(a0 + t*step.d, program.low[index], program.high[index]) - a0
        fall = r @ way
        if 0.5*way @ face.penalised_product(way) <= (1-1e-4)*fall: break
        t *= 0.3
    print('  proj F',index.size,'cg',step.steps,t)
    a = point.a.copy(); a[index] = a0+way
    return Point.at(program, a, point.b - program.beta*float(program.c[index] @ way))
