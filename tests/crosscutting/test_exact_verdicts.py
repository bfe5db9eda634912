"""Thousands of small integer problems, many of them degenerate, against exact rational answers.

Every verdict of ``solve()`` must be the true one; ``undecided`` is allowed for less than one in a hundred of
each chunk. An optimum must agree with the exact one, and a proof of infeasibility or of an unattained minimum
must survive being carried over to exact arithmetic.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import exact
import numpy as np
import pytest

import convexcls as cc

CHUNKS = range(2)
CASES = 130
COSTS = (Fraction(1), Fraction(1, 8), Fraction(16))


@dataclass(frozen=True)
class Case:
    """Labelled integer points, and the parameters that some models take."""

    X: tuple[tuple[int, ...], ...]
    y: tuple[int, ...]
    intercept: bool
    C: Fraction
    l2: int

    @property
    def arrays(self):
        return np.array(self.X, dtype=float), np.array(self.y)


def cases(seed: int, count: int = CASES) -> list[Case]:
    rng = random.Random(seed)
    return [_case(rng) for _ in range(count)]


def _case(rng: random.Random) -> Case:
    d, n, reach = rng.randint(1, 3), rng.randint(2, 8), rng.choice((1, 1, 2, 3, 9))
    X = [[rng.randint(-reach, reach) for _ in range(d)] for _ in range(n)]
    y = [rng.choice((-1, 1)) for _ in range(n)]
    style = rng.randrange(8)
    if style == 1:  # a repeated sample
        X[rng.randrange(n)] = list(X[rng.randrange(n)])
    elif style == 2:  # a constant feature
        column, value = rng.randrange(d), rng.randint(-2, 2)
        for row in X:
            row[column] = value
    elif style == 3 and d > 1:  # points on a line or in a plane
        slope = rng.randint(-2, 2)
        for row in X:
            row[1] = slope * row[0] + 1
    elif style == 4:  # many repeats
        half = max(1, n // 2)
        for i in range(half, n):
            X[i] = list(X[rng.randrange(half)])
    elif style == 5:  # separated by a line that touches points
        y = [1 if sum(row) >= 0 else -1 for row in X]
    elif style == 6:  # separated but for the points on the line
        y = [1 if row[0] > 0 else -1 if row[0] < 0 else rng.choice((-1, 1)) for row in X]
    elif style == 7:  # mirrored: sums and means cancel
        for i in range(n // 2, n):
            X[i] = [-v for v in X[i - n // 2]]
    if len(set(y)) == 1:
        y[0] = -y[0]
    return Case(tuple(map(tuple, X)), tuple(y), rng.random() < 0.7, rng.choice(COSTS), rng.choice((0, 0, 1)))


# ---- the models, each with its exact verdict and optimum --------------------------------------------------


@dataclass(frozen=True)
class Truth:
    status: str
    optimum: Fraction | None = None
    unit: Fraction = Fraction(0)
    """The size that an optimum of 0 is compared with: that of the objective at coef = 0."""
    coef: tuple[Fraction, ...] | None = None


def hard_margin(case: Case):
    found = exact.hard_margin(case.X, case.y, case.intercept)
    problem = cc.HardMarginSVM(*case.arrays, intercept=case.intercept)
    if found is None:
        return problem, Truth("infeasible")
    return problem, Truth("optimal", found[0], coef=tuple(found[1]))


def max_margin(case: Case):
    found = exact.hard_margin(case.X, case.y, case.intercept)
    value = Fraction(0) if found is None else _root(1 / (2 * found[0]))
    unit = Fraction(max(abs(v) for row in case.X for v in row) or 1) if found is None else Fraction(0)
    return cc.MaxMargin(*case.arrays, intercept=case.intercept), Truth("optimal", value, unit)


def _root(value: Fraction) -> Fraction:
    """The square root to 30 digits."""
    from math import isqrt

    scale = 10**60
    return Fraction(isqrt(value.numerator * scale // value.denominator), 10**30)


def soft_margin(case: Case, loss: str = "hinge"):
    optimum, w, _ = exact.soft_margin(case.X, case.y, case.C, loss, case.intercept)
    problem = cc.SoftMarginSVM(*case.arrays, C=float(case.C), loss=loss, intercept=case.intercept)
    return problem, Truth("optimal", optimum, coef=tuple(w))


def squared_hinge(case: Case):
    return soft_margin(case, "squared_hinge")


def logistic(case: Case):
    problem = cc.LogisticMLE(*case.arrays, intercept=case.intercept)
    if exact.separability(case.X, case.y, case.intercept) != "overlap":
        return problem, Truth("unattained")
    return problem, Truth("optimal", Fraction(exact.logistic(case.X, case.y, 0, case.intercept)))


def penalised_logistic(case: Case):
    problem = cc.LogisticMLE(*case.arrays, l2=1.0, intercept=case.intercept)
    return problem, Truth("optimal", Fraction(exact.logistic(case.X, case.y, 1, case.intercept)))


def perceptron(case: Case):
    optimum = exact.perceptron(case.X, case.y, case.intercept)
    problem = cc.PerceptronCriterion(*case.arrays, intercept=case.intercept)
    return problem, Truth("infeasible" if optimum is None else "optimal", optimum, Fraction(len(case.y)))


def least_squares(case: Case):
    optimum, _ = exact.least_squares(case.X, case.y, case.l2, case.intercept)
    problem = cc.LeastSquares(*case.arrays, l2=case.l2, intercept=case.intercept)
    return problem, Truth("optimal", optimum, Fraction(len(case.y), 2))


def least_squares_01(case: Case):
    target = [(s + 1) // 2 for s in case.y]
    optimum, _ = exact.least_squares(case.X, target, case.l2, case.intercept)
    problem = cc.LeastSquares(*case.arrays, l2=case.l2, coding="01", intercept=case.intercept)
    return problem, Truth("optimal", optimum, Fraction(len(case.y), 2))


def least_absolute(case: Case):
    optimum = exact.least_absolute(case.X, case.y, case.intercept)
    problem = cc.LeastAbsolute(*case.arrays, intercept=case.intercept)
    return problem, Truth("optimal", optimum, Fraction(len(case.y)))


def fisher(case: Case):
    found = exact.fisher(case.X, case.y)
    problem = cc.FisherLDA(*case.arrays)
    if found is None:
        return problem, Truth("infeasible")
    # where the optimum is 0 it is compared with the scatter along the mean difference
    return problem, Truth("optimal", found[0], Fraction(1) if found[0] == 0 else Fraction(0))


MODELS = {
    model.__name__: model
    for model in (
        hard_margin,
        max_margin,
        soft_margin,
        squared_hinge,
        logistic,
        penalised_logistic,
        perceptron,
        least_squares,
        least_squares_01,
        least_absolute,
        fisher,
    )
}
ACCURACY = {"max_margin": Fraction(1, 10**8)}


def test_over_two_thousand_problems():
    assert len(MODELS) * len(CHUNKS) * CASES >= 2000


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("model", MODELS)
def test_verdicts_and_optima_are_the_exact_ones(model: str, chunk: int):
    accuracy = ACCURACY.get(model, Fraction(1, 10**9))
    wrong, undecided = [], []
    for case in cases(1000 + chunk):
        problem, truth = MODELS[model](case)
        solution = problem.solve()
        if solution.status == "undecided":
            undecided.append(f"{case} is {truth.status}: {solution.certificate.reason}")
        elif complaint := _complaint(case, problem, solution, truth, accuracy):
            wrong.append(f"{case}: {complaint}")
    shown = "\n".join(undecided)
    print(f"{model}: {len(undecided)} of {CASES} undecided\n{shown}")
    assert not wrong, "\n".join(wrong)
    assert 100 * len(undecided) < CASES, f"{len(undecided)} of {CASES} undecided\n{shown}"


def _complaint(case: Case, problem, solution, truth: Truth, accuracy: Fraction) -> str:
    if solution.status != truth.status:
        return f"the verdict is {solution.status}, the truth {truth.status}"
    if truth.status == "infeasible":
        return "" if _infeasible_exactly(case, problem, solution) else "the proof of infeasibility is not exact"
    if truth.status == "unattained":
        return "" if _unattained_exactly(case, solution) else "the direction is not one exactly"
    return _optimum_complaint(solution, truth, accuracy)


def _optimum_complaint(solution, truth: Truth, accuracy: Fraction) -> str:
    size = max(abs(truth.optimum), truth.unit)
    if abs(Fraction(solution.objective) - truth.optimum) > accuracy * size:
        return f"the optimum is {solution.objective!r}, exactly {truth.optimum} = {float(truth.optimum)!r}"
    if abs(Fraction(solution.dual_objective) - truth.optimum) > accuracy * size:
        return f"the dual bound is {solution.dual_objective!r}, the optimum {float(truth.optimum)!r}"
    if truth.coef is not None:  # strong convexity: 1/2 |w - w*|^2 is at most the excess of the objective
        off = sum((Fraction(c) - v) ** 2 for v, c in zip(truth.coef, solution.coef.tolist(), strict=True))
        if off > 2 * accuracy * truth.optimum:
            return f"coef is {solution.coef}, exactly {truth.coef}"
    return ""


def _infeasible_exactly(case: Case, problem, solution) -> bool:
    """Whether the Farkas vector, rounded to the exact null space on its support, proves it without rounding."""
    if isinstance(problem, cc.FisherLDA):
        return exact.fisher(case.X, case.y) is None
    proof = solution.certificate.farkas
    rows, rhs, z, signed = [], [], [], []
    for c in problem.constraints:
        rows += exact.fractions(problem.rows(c).to_dense().tolist())
        rhs += [Fraction(v) for v in c.rhs.tolist()]
        z += proof.multipliers[c.name].tolist()
        signed += [c.relation == "<="] * c.size
    support = [i for i, v in enumerate(z) if v]
    whole = exact.rationalised(z, rows, support)
    if whole is None or any(s and v < 0 for s, v in zip(signed, whole, strict=True)):
        return False
    cancels = all(sum(v * row[j] for v, row in zip(whole, rows, strict=True)) == 0 for j in range(len(rows[0])))
    return cancels and exact.dot(whole, rhs) < 0


def _unattained_exactly(case: Case, solution) -> bool:
    """Whether the direction, rounded so that the samples it leaves still are still exactly, moves no sample to
    the wrong side and one to the right side."""
    Z = exact.signed_rows(case.X, case.y, case.intercept)
    direction = [Fraction(v) for v in solution.certificate.direction.x.tolist()]
    sizes = [exact.dot([abs(v) for v in z], [abs(v) for v in direction]) for z in Z]
    still = [z for z, size in zip(Z, sizes, strict=True) if abs(exact.dot(z, direction)) <= size / 10**9]
    if still:
        columns = [[z[j] for z in still] for j in range(len(still[0]))]
        direction = exact.rationalised(direction, columns, list(range(len(direction))))
        if direction is None:
            return False
    margins = [exact.dot(z, direction) for z in Z]
    return all(m >= 0 for m in margins) and any(m > 0 for m in margins)


# ---- instances that were once wrong or undecided -----------------------------------------------------------


def _instance(X, y, intercept=True, C=1) -> Case:
    return Case(tuple(map(tuple, X)), tuple(y), intercept, Fraction(C), 0)


CAUGHT = [
    # class means that agree, or a constant feature, where a sum of n/n-ths is not exactly one
    ("fisher", _instance([[-1]] * 8, [1, 1, 1, -1, 1, 1, 1, -1])),
    ("fisher", _instance([[1]] * 7, [1, -1, -1, -1, -1, -1, -1])),
    ("fisher", _instance([[9], [-4], [-5], [9], [-5], [-4]], [-1, 1, -1, 1, 1, -1])),
    ("fisher", _instance([[v, -2] for v in (1, -1, -1, 1, 1, 1, -1, -1)], [1, -1, 1, 1, -1, 1, 1, 1])),
    ("fisher", _instance([[v, -2] for v in (3, -2, -1, -1, 0, 2, 0)], [1, 1, 1, 1, -1, 1, 1])),
    ("fisher", _instance([[v, 1] for v in (-2, -2, 3, -1, 2, -2, -2, 3)], [-1, -1, 1, -1, -1, 1, -1, -1])),
    ("fisher", _instance([[0, 1], [-1, 1], [0, 1], [-1, 1], [0, 1], [-1, 1], [1, 1]], [-1] * 6 + [1])),
    (
        "fisher",
        _instance([[0, 1, 2], [1, 0, 2], [0, 1, 2], [2, 2, -1], [1, 0, -2], [-2, 0, 1]], [-1, 1, -1, 1, -1, 1]),
    ),
    # a perfect direction: the optimum is 0
    ("fisher", _instance([[0, 1, -2], [0, 2, 2], [2, -1, 1]], [-1, 1, 1])),
    ("fisher", _instance([[-3, 3, -3], [-1, 2, -3], [-3, 2, 2], [-1, 1, -3]], [1, -1, 1, 1])),
    ("fisher", _instance([[-3, 1, 3], [0, -1, 1], [-2, -1, -2], [-2, 3, -2]], [1, 1, -1, -1])),
    ("fisher", _instance([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, -1], [1, 1, 1]], [1, 1, -1, 1, 1])),
    # a feature of zeros
    ("logistic", _instance([[v, 0] for v in (0, 1, 1, -1, 1, 1, 0)], [-1, -1, -1, 1, 1, 1, -1])),
    (
        "logistic",
        _instance(
            [[1, 0, -2], [-2, 0, 2], [-1, 0, -2], [-3, 0, 0], [3, 0, 3], [2, 0, 2], [2, 0, 3]],
            [1, -1, 1, -1, 1, -1, 1],
        ),
    ),
    (
        "logistic",
        _instance([[1, 0, 1], [0, 0, -1], [-1, 0, 1], [1, 0, -1], [-1, 0, 0], [-1, 0, -1]], [1, -1, 1, 1, -1, 1]),
    ),
    (
        "logistic",
        _instance([[-1, 0, 1], [-2, 0, 0], [1, 0, 1], [0, 0, -2], [-1, 0, 0], [1, 0, -2]], [1, -1, -1, -1, 1, -1]),
    ),
    ("logistic", _instance([[1, -1, -1], [0, 0, 0], [1, -1, -1], [1, -1, -1], [0, 0, 0]], [-1, -1, -1, 1, 1])),
    # coef with entries that are exactly 0
    ("max_margin", _instance([[0, 0, -2], [1, 1, 2]], [-1, 1], intercept=False)),
    ("max_margin", _instance([[-1, 0, 1], [0, 1, -1], [-1, 0, 0]], [1, -1, -1])),
    ("max_margin", _instance([[-1, 3, 0], [1, -1, -1], [0, 1, 0]], [1, -1, -1])),
    ("max_margin", _instance([[1, 0], [0, 0], [1, -1], [1, -1], [-1, -1]], [1, -1, 1, 1, -1])),
    ("soft_margin", _instance([[0], [2], [0]], [-1, -1, 1])),
    ("soft_margin", _instance([[0], [-1], [0]], [1, 1, -1], C=16)),
    ("soft_margin", _instance([[-1, 2, -2], [-1, 0, -3], [3, -1, -3], [-1, 0, -3]], [1, 1, 1, -1], C=16)),
    # a perfect fit
    ("least_squares_01", _instance([[-2, 1, 0], [-2, -1, 1]], [1, -1], intercept=False)),
]


@pytest.mark.parametrize("number", range(len(CAUGHT)), ids=lambda k: f"{CAUGHT[k][0]}-{k}")
def test_instances_that_were_once_wrong_or_undecided(number: int):
    model, case = CAUGHT[number]
    problem, truth = MODELS[model](case)
    solution = problem.solve()
    accuracy = ACCURACY.get(model, Fraction(1, 10**9))
    assert solution.status == truth.status, solution.certificate.reason
    assert not _complaint(case, problem, solution, truth, accuracy)


# ---- the oracles against each other -------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", CHUNKS)
def test_separability_by_linear_programs_and_by_subsets_agree(chunk: int):
    seen = set()
    for case in cases(2000 + chunk, 150):
        verdict = exact.separability(case.X, case.y, case.intercept)
        assert verdict == exact.separability_by_circuits(case.X, case.y, case.intercept), case
        assert (exact.hard_margin(case.X, case.y, case.intercept) is not None) == (verdict == "strict"), case
        seen.add(verdict)
    assert seen == {"strict", "weak", "overlap"}


def test_soft_margin_by_lemke_and_by_enumeration_agree():
    for case in cases(3000, 120):
        if len(case.y) <= 5:
            value, _, alpha = exact.soft_margin(case.X, case.y, case.C, "hinge", case.intercept)
            assert value == exact.soft_margin_by_enumeration(case.X, case.y, case.C, case.intercept), case
            assert all(0 <= a <= case.C for a in alpha)


def test_large_cost_makes_the_soft_margin_hard():
    """By Mangasarian's exactness: with C above every hard-margin multiplier both optima agree."""
    for case in cases(3001, 60):
        found = exact.hard_margin(case.X, case.y, case.intercept)
        if found is not None:
            C = 1 + max(found[3])
            assert exact.soft_margin(case.X, case.y, C, "hinge", case.intercept)[0] == found[0], case


def test_known_exact_optima():
    X, y = [[0, 0], [2, 0], [0, 2], [3, 3]], [-1, 1, 1, 1]
    assert exact.hard_margin(X, y)[0] == 1  # the slab between (0, 0) and x1 + x2 = 2 is sqrt(2) wide
    assert exact.separability([[0], [1], [1], [2]], [-1, -1, 1, 1]) == "weak"
    assert exact.separability([[0], [2], [1], [3]], [-1, -1, 1, 1]) == "overlap"
    assert exact.least_squares([[0], [1], [2]], [0, 1, 5])[0] == Fraction(3, 4)
    assert exact.least_absolute([[0], [1], [2]], [0, 1, 5]) == Fraction(3, 2)
    assert exact.perceptron([[0, 0], [1, 1], [0, 1], [1, 0]], [-1, -1, 1, 1]) is None
    assert exact.fisher([[0], [2], [3], [5]], [-1, -1, 1, 1])[0] == Fraction(2, 9)
    half = exact.logistic([[1], [1]], [-1, 1])  # two samples in one place: log 2 each
    assert abs(float(half) - 2 * np.log(2)) < 1e-15
