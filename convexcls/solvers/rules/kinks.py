"""A sum of losses with kinks as rules see it that follow subgradients: the slack of its epigraph left out,

    minimise  1/2 sum_j ridge_j x_j^2 + sum_i c_i s_i + p_i/2 s_i^2,      s_i = max_k (R_ki x - h_ki).

A subgradient of sample i is (c_i + p_i s_i) R_ki, of the piece k that is highest: of a sloping one where it meets a
flat one, so that samples on the kink count, as those on the plane do in the perceptron's rule (ESL 4.44).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.problem import Problem, with_lowest_slacks
from convexcls.problem.epigraph import Epigraph
from convexcls.rows import Rows
from convexcls.solvers.rules import SampleMatrix, samples_of, squared_norms


def refuse_unless_kinks(problem: Problem) -> str:
    """Why the problem is not such a sum; empty if it is."""
    if len(problem.epigraphs) != 1 or problem.terms or problem.norm_bounds or problem.sense != "min":
        return "it takes one sum of losses over samples, with or without a ridge penalty, and nothing else"
    (slack,) = problem.epigraphs
    pieces = {c.name for c in slack.pieces}
    if more := [c.name for c in problem.constraints if c.name not in pieces]:
        return f"it works without constraints, and the problem has {', '.join(more)}"
    if set(problem.linear) - {slack.variable} or problem.matrices or not slack.is_unit:
        return "the penalty is not a sum of squares of single coefficients"
    return ""


class KinkedSum:
    """The sum of a problem, at points whose slacks are 0."""

    def __init__(self, problem: Problem) -> None:
        self.problem, (self.slack,) = problem, problem.epigraphs
        self.pieces = tuple(sorted(self.slack.pieces, key=lambda c: c in self.slack.flat_pieces))  # flat ones last
        self.samples = self.slack.size
        rest = [{v: r for v, r in c.entries.items() if v != self.slack.variable} for c in self.pieces]
        self.rows: list[Rows] = [problem.joined(entries, self.samples) for entries in rest]
        self.ridge = problem.apply_quadratic(np.ones(problem.size))
        self.ridge[problem.layout[self.slack.variable]] = 0.0

    def objective(self, x: Array) -> float:
        """The sum, penalty included."""
        return self.problem.minimised(self.point(x))

    def point(self, x: Array) -> Array:
        """x with its slacks."""
        return with_lowest_slacks(self.problem, x)

    def _weights(self, x: Array, chosen: Indices | slice, rows: list[Rows]) -> list[Array]:
        """By piece, c_i + p_i s_i for the samples of which it is the highest, and 0 for the others."""
        heights = np.array([r @ x - c.rhs[chosen] for r, c in zip(rows, self.pieces, strict=True)])
        highest, height = heights.argmax(axis=0), heights.max(axis=0)
        height = np.maximum(height, 0.0) if self.slack.is_curved else height
        cost = self.slack.cost[chosen] + self.slack.curvature[chosen] * height
        return [np.where(highest == k, cost, 0.0) for k in range(len(rows))]

    def pull(self, x: Array, chosen: Indices | slice = slice(None)) -> Array:
        """The sum of a subgradient each of some samples, without the penalty."""
        rows = self.rows if isinstance(chosen, slice) else [r[chosen] for r in self.rows]
        return np.asarray(sum(r.T @ z for r, z in zip(rows, self._weights(x, chosen, rows), strict=True)))

    def multipliers(self, x: Array) -> dict[str, Array]:
        """The multipliers that the subgradients at x are: those of the solution where x is one off all kinks."""
        found = self._weights(x, slice(None), self.rows)
        return {c.name: z for c, z in zip(self.pieces, found, strict=True)}

    def subgradient(self, x: Array) -> Array:
        """A subgradient of the sum, the penalty's gradient included."""
        return self.pull(x) + self.ridge * x

    @cached_property
    def steepness(self) -> Array:
        """c_i ‖R_i‖² of every sample, with its steepest piece: how far a step of 1 along its subgradient moves it; the
        curvature along it where the slack's cost is quadratic."""
        norms = np.max([squared_norms(r) for r in self.rows], axis=0)
        return np.asarray((self.slack.cost + self.slack.curvature) * norms)

    def plain_samples(self) -> tuple[SampleMatrix, Array, Array] | None:
        """The samples, -h and the costs of c_i max(0, R_i x - h_i) or its square; None where it is made otherwise."""
        slack: Epigraph = self.slack
        sloping = [c for c in self.pieces if c not in slack.flat_pieces]
        floor = [c for c in slack.flat_pieces if not np.any(c.rhs)]
        both = slack.is_curved and bool(np.any(slack.cost > 0))
        if len(sloping) != 1 or len(floor) != len(slack.flat_pieces) or both or not (floor or slack.is_curved):
            return None
        samples = samples_of(self.problem, sloping[0])
        weights = slack.curvature if slack.is_curved else slack.cost
        return None if samples is None else (samples, -sloping[0].rhs, weights)
