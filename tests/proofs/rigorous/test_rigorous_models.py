"""Bounds of random problems of every model contain the optimum that is known exactly or to forty digits.

Quick by default; ``CONVEXCLS_RIGOROUS_CASES=2000 pytest tests/proofs/rigorous`` is the whole of it.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from rigorous_cases import MAKERS, Case, contains, point_of

from convexcls.problem import ProblemError
from convexcls.proofs.rigorous import Bounds, bounds

CASES = int(os.environ.get("CONVEXCLS_RIGOROUS_CASES", "40"))


def seeds(model: str) -> random.Random:
    return random.Random(f"rigorous {model}")


def nudged(values: np.ndarray, rng: random.Random, size: float) -> np.ndarray:
    return values * (1.0 + size * np.array([rng.uniform(-1, 1) for _ in values]))


def attempts(case: Case, rng: random.Random) -> list[tuple[str, Bounds]]:
    """Bounds from the solver's answer, from one that is a little wrong, and from one that is all wrong."""
    problem = case.problem
    try:
        with np.errstate(all="ignore"):  # solvers meet numbers at the ends of the range
            solution = problem.solve()
    except ProblemError:  # a kernel matrix whose entries overflow when it is scaled
        return [("unsolved", bounds(problem, np.zeros(problem.size), None))]
    x = np.zeros(problem.size) if solution.x is None else point_of(solution)
    z = solution.multipliers or {}
    size = 10.0 ** -rng.randint(2, 12)
    out = [
        ("solved", bounds(problem, x, z)),
        ("nudged", bounds(problem, nudged(x, rng, size), {k: nudged(v, rng, size) for k, v in z.items()})),
    ]
    if rng.random() < 0.3:
        scale = 10.0 ** rng.randint(-3, 3)
        wild = {c.name: scale * np.array([rng.gauss(0, 1) for _ in range(c.size)]) for c in problem.constraints}
        point = np.array([rng.gauss(0, 1) for _ in range(problem.size)]) * scale
        out += [("wild", bounds(problem, point, wild)), ("nothing", bounds(problem, np.zeros(problem.size), None))]
    return [(f"{name} ({solution.status})", b) for name, b in out]


@pytest.mark.parametrize("model", MAKERS)
def test_bounds_contain_the_optimum(model: str) -> None:
    rng, known, fair, narrow, finite = seeds(model), 0, 0, 0, 0
    for k in range(CASES):
        case = MAKERS[model](rng)
        known += case.optimum == case.optimum
        found = attempts(case, rng)
        for name, b in found:
            told = f"{model} {k} {case.style} {name}: {b} does not contain {float(case.optimum)!r}"
            assert contains(b.lower, case.optimum, b.upper), told
        if case.fair and "optimal" in found[0][0]:
            fair += 1
            finite += np.isfinite(found[0][1].width)
            narrow += found[0][1].width <= 1e-10 or found[0][1].upper <= 1e-12
    print(
        f"{model}: {known} of {CASES} problems known, {fair} fair, {finite} with finite and {narrow} with narrow bounds"
    )
    assert known >= 0.8 * CASES
    assert narrow >= 0.9 * fair
