"""The slacks that an exact proof leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from convexcls.problem import Problem
from convexcls.proofs.exact.statement import state


def slack_values(problem: Problem, point: Mapping[str, Sequence[Fraction]]) -> dict[str, list[Fraction]]:
    """By slack variable the least slack above all lines of each sample; of a quadratic cost never below 0."""
    statement, out = state(problem), {}
    z = [value for name in statement.kept for value in point[name]]
    for samples in statement.samples:
        index = np.arange(samples.size)
        heights = [line.exact_values(index, z) for line in samples.lines]
        lowest = samples.epigraph.lowest([np.array(values, dtype=object) for values in heights])
        out[samples.epigraph.variable] = [Fraction(value) for value in lowest]
    return out
