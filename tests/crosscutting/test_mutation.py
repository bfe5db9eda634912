"""The checker must refuse what is nearly right.

Accepted answers of every model are mutated entry by entry: signs flipped, entries nudged, swapped, zeroed,
scaled, shifted, permuted. Whether a mutation leaves the set of solutions is judged here, by a second check
written from the definitions in exact rational arithmetic: a pair is optimal iff its point is feasible, its
multipliers are feasible for the dual, and both objectives are the optimum. Every mutation that clearly leaves
must be refused; those that stay (an intercept inside its interval, another solution of a linear program) may
be accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from mutated_answers import (
    APART,
    APART_Y,
    MODELS,
    OVERLAP,
    OVERLAP_Y,
    SETS,
    F,
    Multipliers,
    Point,
    accepted,
    dot,
    judge,
    replaced,
    vector_mutations,
)

import convexcls as cc
from convexcls.proofs.claims.direction import check_direction
from convexcls.proofs.claims.farkas import check_farkas
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.verdict import certify


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("model", MODELS)
def test_every_mutation_of_an_accepted_answer_is_refused(model, data):
    counts, fooled = judge(model, data, "auto")
    assert not fooled, "\n".join(fooled)
    assert not counts or counts["refused"] > counts["accepted"], counts


OTHERS = [
    ("soft", "osqp"),
    ("soft", "cvxpy:CLARABEL"),
    ("soft", "dual:clarabel"),
    ("hard", "osqp"),
    ("hard", "dual:osqp"),
    ("squared hinge", "osqp"),
    ("least absolute", "clarabel"),
    ("least absolute", "cvxpy:SCIPY"),
    ("perceptron", "clarabel"),
    ("logistic, l2", "gradient"),
    ("logistic", "cvxpy:CLARABEL"),
    ("least squares", "osqp"),
    ("widest", "cvxpy:CLARABEL"),
    ("fisher", "clarabel"),
]


@pytest.mark.parametrize(("model", "solver"), OTHERS)
def test_mutations_of_other_solvers_answers_are_refused(model, solver):
    total: Counter[str] = Counter()
    for data in SETS:
        counts, fooled = judge(model, data, solver)
        assert not fooled, "\n".join(fooled)
        total += counts
    assert total["refused"] > total["accepted"], total


def somewhere(model: str):
    """An accepted answer other than 0, which the toolkit proves on its own for the widest slab."""
    found = (accepted(model, data) for data in SETS)
    return next(f for f in found if f is not None and np.any(f[1]))


@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_accepted_somewhere(model):
    assert somewhere(model)


# ---- what is no answer at all ----------------------------------------------------------------------------------


def malformed(x: Point, multipliers: Multipliers) -> Iterator[tuple[str, Point | None, Multipliers]]:
    for i in range(x.size):
        for value in (np.nan, np.inf, -np.inf):
            yield f"x[{i}] = {value}", replaced(x, i, value), multipliers
    yield "x too short", x[:-1], multipliers
    yield "x too long", np.append(x, 0.0), multipliers
    yield "x a column", x[:, None], multipliers
    yield "x a number", np.array(0.0), multipliers
    yield "no x", None, multipliers
    for name, z in multipliers.items():
        yield f"no {name}", x, {k: v for k, v in multipliers.items() if k != name}
        yield f"{name} too short", x, {**multipliers, name: z[:-1]}
        yield f"{name} too long", x, {**multipliers, name: np.append(z, 0.0)}
        yield f"{name} a column", x, {**multipliers, name: z[:, None]}
        yield f"{name} a number", x, {**multipliers, name: np.array(0.0)}
        for value in (np.nan, np.inf, -np.inf):
            yield f"{name}[0] = {value}", x, {**multipliers, name: replaced(z, 0, value)}


@pytest.mark.parametrize("model", MODELS)
def test_what_is_malformed_is_never_optimal(model):
    problem, x, multipliers = somewhere(model)
    for name, point, others in malformed(x, multipliers):
        certificate = certify(problem, point, others)
        assert certificate.status == "undecided", name
        assert certificate.reason, name
        assert not certificate.holds(), name


@pytest.mark.parametrize("model", MODELS)
def test_a_point_that_is_no_number_never_holds(model):
    problem, x, multipliers = somewhere(model)
    for name, point, others in malformed(x, multipliers):
        if "= " in name:
            assert not check_kkt(problem, point, others).holds(1e-6), name


# ---- named traps --------------------------------------------------------------------------------------------------


def half_square_below_one() -> cc.Problem:
    """min 1/2 x^2 subject to x <= 1."""
    return cc.Problem(
        "half square",
        [cc.Variable("x", 1, "x")],
        quadratic={"x": 1.0},
        constraints=[cc.Constraint("bound", {"x": np.eye(1)}, rhs=1.0)],
    )


def test_the_sign_of_a_multiplier_is_looked_at():
    problem = half_square_below_one()
    wrong = check_kkt(problem, np.array([1.0]), {"bound": np.array([-1.0])})
    assert wrong.stationarity.max == 0
    assert wrong.primal_feasibility.max == 0
    assert wrong.complementary_slackness.max == 0
    assert wrong.dual_feasibility.max == 1
    assert not wrong.holds(1e-6)
    assert check_kkt(problem, np.array([0.0]), {"bound": np.array([0.0])}).holds(1e-15)


def test_one_bad_row_is_not_lost_among_many_good_ones():
    """A complementarity product of 1e-3 in one of 500 rows, balanced by the others in the sum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2)) + 4 * np.repeat([[1.0], [-1.0]], 250, axis=0)
    problem = cc.SoftMarginSVM(X, np.repeat([1, -1], 250))
    solution = problem.solve()
    assert solution.status == "optimal"
    idle = int(np.argmax(solution.margins))
    mutated = {name: np.array(z) for name, z in solution.multipliers.items()}
    mutated["margin"][idle] += 1e-3 * mutated["margin"].max()
    assert not check_kkt(problem, np.array(solution.x), mutated).holds(1e-6)


def test_a_feasible_point_that_is_not_the_best_is_refused_with_any_multipliers():
    """Weak duality leaves a gap: no multipliers can make a worse point look optimal."""
    problem = cc.HardMarginSVM(APART, APART_Y)
    solution = problem.solve()
    rng = np.random.default_rng(1)
    for factor in (1.001, 1.1, 2.0):
        x = factor * np.array(solution.x)
        for _ in range(50):
            alpha = np.array(solution.multipliers["margin"]) * rng.uniform(0, 3, 6) + rng.uniform(0, 0.1, 6)
            assert not check_kkt(problem, x, {"margin": alpha}).holds(1e-6)


# ---- proofs that there is no answer ----------------------------------------------------------------------------

MEETING = {
    "xor": ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [-1, -1, 1, 1]),
    "inside": ([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0], [9.0, 9.0]], [-1, -1, -1, 1, 1]),
    "touching": ([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [3.0, 0.0]], [-1, -1, 1, 1]),
    "repeated": ([[1.0, 2.0], [1.0, 2.0], [3.0, 5.0]], [-1, 1, 1]),
}


def exactly_refutes(problem, z: Multipliers) -> Fraction:
    """How far z is from a proof of infeasibility: the largest relative entry of K'z, or 1 for a wrong sign."""
    (margin,) = problem.constraints
    alpha, rows = F(z["margin"]), [F(row) for row in problem.rows(margin).to_dense()]
    if any(a < 0 for a in alpha) or not any(alpha):
        return Fraction(1)
    worst = Fraction(0)
    for j in range(problem.size):
        terms = [a * row[j] for a, row in zip(alpha, rows, strict=True)]
        size = sum(abs(t) for t in terms)
        if size:
            worst = max(worst, abs(sum(terms)) / size)
    return worst


@pytest.mark.parametrize("data", MEETING)
def test_a_mutated_farkas_vector_is_refused(data):
    X, y = MEETING[data]
    problem = cc.HardMarginSVM(np.array(X), y)
    proof = problem.solve().certificate.farkas
    z = {name: np.array(v) for name, v in proof.multipliers.items()}
    assert check_farkas(problem, z) is not None
    counts: Counter[str] = Counter()
    for name, values in vector_mutations(z["margin"], True):
        error = exactly_refutes(problem, {"margin": values})
        if error > 1e-6:
            counts["leaves"] += 1
            assert check_farkas(problem, {"margin": values}) is None, name
        else:
            counts["stays"] += 1
    assert counts["leaves"] > counts["stays"]


@pytest.mark.parametrize("data", MEETING)
def test_a_malformed_farkas_vector_is_refused(data):
    X, y = MEETING[data]
    problem = cc.HardMarginSVM(np.array(X), y)
    z = np.array(problem.solve().certificate.farkas.multipliers["margin"])
    bad = [
        z[:-1],
        np.append(z, 0.0),
        z[:, None],
        np.array(1.0),
        np.full_like(z, np.nan),
        np.full_like(z, np.inf),
        0 * z,
    ]
    for values in bad:
        assert check_farkas(problem, {"margin": values}) is None
    assert check_farkas(problem, {}) is None
    assert check_farkas(problem, {"no such block": z}) is None


def test_no_vector_proves_a_solvable_problem_infeasible():
    problem = cc.HardMarginSVM(APART, APART_Y)
    rng = np.random.default_rng(2)
    alpha = np.array(problem.solve().multipliers["margin"])
    assert check_farkas(problem, {"margin": alpha}) is None
    for _ in range(200):
        assert check_farkas(problem, {"margin": rng.exponential(size=6) * (rng.random(6) < 0.5)}) is None


SEPARATED = {
    "line": ([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1]),
    "touching": ([[0.0], [1.0], [1.0], [3.0]], [-1, -1, 1, 1]),
    "quasi": (
        [[0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [0.0, 1.5], [0.0, 0.5], [2.0, 1.0]],
        [-1, 1, 1, -1, 1, 1],
    ),
    "plane": (APART.tolist(), APART_Y),
}


@pytest.mark.parametrize("data", SEPARATED)
def test_a_mutated_direction_is_refused(data):
    X, y = SEPARATED[data]
    problem = cc.LogisticMLE(np.array(X), y)
    way = np.array(problem.solve().certificate.direction.x)
    assert check_direction(problem, way) is not None
    rows = [F(s * np.append(x, 1.0)) for x, s in zip(np.array(X), y, strict=True)]
    counts: Counter[str] = Counter()
    for name, values in vector_mutations(way, False):
        margins = [dot(row, F(values)) for row in rows]
        size = max(abs(float(v)) for v in values)
        if min(margins) < -1e-9 * size or not any(m > 0 for m in margins):
            counts["leaves"] += 1
            assert check_direction(problem, values) is None, name
        else:
            counts["stays"] += 1
    assert counts["leaves"] >= 3
    for values in (way[:-1], np.append(way, 0.0), way[:, None], 0 * way, way + np.nan, way + np.inf):
        assert check_direction(problem, values) is None


def test_no_direction_proves_an_overlapping_likelihood_unattained():
    problem = cc.LogisticMLE(OVERLAP, OVERLAP_Y)
    assert problem.solve().status == "optimal"
    rng = np.random.default_rng(3)
    for _ in range(300):
        assert check_direction(problem, rng.normal(size=3)) is None


@pytest.mark.parametrize("gap", [1e-9, 1e-12, 1e-14, 1e-15])
def test_proofs_that_hold_only_up_to_rounding_are_refused(gap):
    """Classes ``gap`` apart are apart, and classes that overlap by ``gap`` overlap, however small it is."""
    upper = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    apart = cc.HardMarginSVM(np.vstack([upper, upper - [0.0, gap]]), [1, 1, 1, -1, -1, -1])
    nearly = {"margin": np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])}
    assert certify(apart, None, None, farkas=nearly).status != "infeasible"
    assert check_farkas(apart, nearly) is None
    meeting = cc.LogisticMLE(np.array([[0.0], [1.0], [2.0 + gap], [2.0], [4.0], [5.0]]), [-1, -1, -1, 1, 1, 1])
    way = np.array([1.0, -2.0])
    assert certify(meeting, None, None, direction=way).status != "unattained"
    assert check_direction(meeting, way) is None
