"""The perceptron criterion as learning rules see it: the rows v_i = c_i y_i (x_i, 1), one a sample."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices, Mask
from convexcls.problem import Constraint, Problem, with_lowest_slacks
from convexcls.proofs.claims.farkas import Farkas, check_farkas, find_farkas
from convexcls.proofs.separability import strictly
from convexcls.proofs.separability.problems import MAX_DIMENSION, MAX_ENTRIES
from convexcls.rows import Rows
from convexcls.solvers.rules import samples_of

SLACK, MARGIN, SIGN, NORMALIZATION = "slack", "margin", "slack_sign", "normalization"


def refuse_unless_criterion(problem: Problem) -> str:
    """Why the problem is not the perceptron criterion, with or without its normalization; empty if it is."""
    blocks = {c.name: c for c in problem.constraints}
    if problem.terms or problem.quadratic or problem.norm_bounds or not {MARGIN, SIGN} <= blocks.keys():
        return "it minimises the perceptron criterion, sum_i max(0, -y_i f(x_i)), and nothing else"
    if more := blocks.keys() - {MARGIN, SIGN, NORMALIZATION}:
        return f"it works without constraints, and the problem has {', '.join(sorted(more))}"
    if problem.sense != "min" or not _is_perceptron_loss(problem):
        return "the loss is not the perceptron's, max(0, -y_i f(x_i))"
    scale = blocks.get(NORMALIZATION)
    if scale is not None and (scale.relation != "==" or scale.size != 1 or scale.rhs[0] <= 0):
        return "the normalization is not one equation that fixes the length of the weights"
    return ""


def _is_perceptron_loss(problem: Problem) -> bool:
    """Whether the objective is a weighted sum of slacks above a linear function and 0."""
    slack = next((e for e in problem.epigraphs if e.variable == SLACK and e.is_unit), None)
    if slack is None or set(problem.linear) != {SLACK} or not np.any(slack.cost > 0):
        return False
    flat = [c.name for c in slack.flat_pieces]
    return len(slack.pieces) == 2 and flat == [SIGN] and not any(np.any(c.rhs) for c in slack.pieces)


class Criterion:
    """The rows of a perceptron criterion, those of weight 0 left out (``used`` are the others), and ``separation``, the
    problem whose solution the rule looks for: a hyperplane through the origin of the rows, all of them on one side,

        minimise 1/2 ‖w‖²   subject to   v_i'w >= 1,      v_i = c_i y_i (x_i, 1).
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.cost = problem.linear[SLACK]
        self.margin = next(c for c in problem.constraints if c.name == MARGIN)
        self.used = np.flatnonzero(self.cost > 0)

    @cached_property
    def separation(self) -> Problem:
        variables = [v for v in self.problem.variables if v.name in self.margin.entries and v.name != SLACK]
        entries = {v.name: self._weighted(self.margin.entries[v.name]) for v in variables}
        labels = {v: label for v, label in self.margin.labels.items() if v != SLACK}
        margin = Constraint(MARGIN, entries, self.margin.symbol, "samples", labels, rhs=-1.0)
        quadratic = {v.name: 1.0 for v in variables}
        return Problem("hard margin through the origin", variables, quadratic=quadratic, constraints=[margin], unit=0.0)

    @cached_property
    def positive(self) -> Mask | None:
        """Which of the samples have the label +1; None where the rows do not tell."""
        samples = samples_of(self.problem, self.margin)
        return None if samples is None else -samples.factor[self.used] > 0

    def errors_of(self, samples: Indices) -> dict[str, int]:
        """How many of the samples that were mistaken are negative ones, and how many positive ones."""
        if self.positive is None:
            return {}
        positive = int(self.positive[np.searchsorted(self.used, samples)].sum())
        return {"false_positives": samples.size - positive, "false_negatives": positive}

    def _weighted(self, rows: Rows) -> Rows:
        if np.any(self.cost != 1.0):
            rows = rows.scaled(self.cost)
        return rows if self.used.size == rows.shape[0] else rows[self.used]

    @property
    def rows(self) -> Rows:
        """The rows -v_i."""
        return self.separation.rows(self.separation.constraints[0])

    def weights_of(self, x: Array) -> Array:
        """The weight vector w in a point of the problem."""
        return np.concatenate([x[self.problem.layout[v.name]] for v in self.separation.variables])

    def point_of(self, w: Array) -> tuple[Array, dict[str, Array]]:
        """The point of the problem that w stands for, scaled to the normalization where w can be, and the multipliers
        of the bound 0: they prove the point optimal where it has no slack."""
        x, problem = np.zeros(self.problem.size), self.problem
        for name, values in self.separation.split(w).items():
            x[problem.layout[name]] = values
        scale = next((c for c in problem.constraints if c.name == NORMALIZATION), None)
        if scale is not None:
            total = float((problem.rows(scale) @ x)[0])
            x = x * (float(scale.rhs[0]) / total) if total > 0 else x
        x = with_lowest_slacks(problem, x)
        multipliers = {c.name: np.zeros(c.size) for c in problem.constraints}
        multipliers[SIGN] = np.array(self.cost)
        return x, multipliers

    def refute(self, counts: NDArray[np.int64], everywhere: bool = True) -> Farkas | None:
        """A proof that no w has v_i'w > 0 for all i, or None: multipliers z >= 0, not all 0, with sum_i z_i v_i = 0.
        It is looked for among the samples that caused updates, which are few (in a cycle they add up to 0, so there
        it is), and then ``everywhere``."""
        active = np.flatnonzero(counts[self.used])
        if 0 < active.size < self.used.size and (proof := find_farkas(self._separation_of(active))) is not None:
            z = np.zeros(self.used.size)
            z[active] = proof.multipliers[MARGIN]
            return check_farkas(self.separation, {MARGIN: z})
        return find_farkas(self.separation) or self._refute_in_rationals() if everywhere else None

    def _refute_in_rationals(self) -> Farkas | None:
        """The same found in rationals, where columns that repeat each other to rounding mislead a linear program."""
        rows = self.rows
        if rows.shape[1] > MAX_DIMENSION or rows.entries > MAX_ENTRIES:
            return None
        z = np.zeros(self.used.size)
        for i, weight in strictly(-rows)[1].items():
            z[i] = float(weight)
        return check_farkas(self.separation, {MARGIN: z}) if np.any(z) else None

    def _separation_of(self, rows: Indices) -> Problem:
        (margin,) = self.separation.constraints
        chosen = Constraint(MARGIN, {v: r[rows] for v, r in margin.entries.items()}, rhs=-1.0)
        return Problem("some of the rows", self.separation.variables, constraints=[chosen])
