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
        top = [max(values) for values in zip(*heights, strict=True)]
        curved = (samples.curvature > 0).tolist()
        out[samples.name] = [max(t, Fraction(0)) if c else t for t, c in zip(top, curved, strict=True)]
    return out
