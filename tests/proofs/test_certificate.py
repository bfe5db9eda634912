"""What a certificate says, that it can be checked again by others, and that no solver can talk it into anything."""

from __future__ import annotations

import json
import sys
import types
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import exact
import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.claims.direction import check_direction
from convexcls.proofs.claims.farkas import check_farkas
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.verdict import certify
from convexcls.rational import doubles as rational
from convexcls.rational import elimination
from convexcls.solvers import REGISTRY, Answer, Solver

APART = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 3.0], [2.0, 1.0], [3.0, 2.0], [4.0, 1.0]])
SIGNS = [1, 1, 1, -1, -1, -1]
XOR, XOR_Y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [-1, -1, 1, 1]
INSIDE, INSIDE_Y = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0], [9.0, 9.0]]), [-1, -1, -1, 1, 1]
QUASI = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [0.0, 1.5], [0.0, 0.5], [2.0, 1.0]])
QUASI_Y = [-1, 1, 1, -1, 1, 1]
OVERLAP, OVERLAP_Y = np.array([[0.0], [1.0], [2.0], [3.0], [5.0]]), [-1, 1, -1, 1, 1]

ANSWERED = {
    "hard": lambda: cc.HardMarginSVM(APART, SIGNS),
    "widest": lambda: cc.MaxMargin(APART, SIGNS),
    "widest, meeting": lambda: cc.MaxMargin(XOR, XOR_Y),
    "soft": lambda: cc.SoftMarginSVM(INSIDE, INSIDE_Y, C=2.0),
    "squared hinge": lambda: cc.SoftMarginSVM(INSIDE, INSIDE_Y, loss="squared_hinge"),
    "logistic": lambda: cc.LogisticMLE(OVERLAP, OVERLAP_Y),
    "logistic, l2": lambda: cc.LogisticMLE(APART, SIGNS, l2=1.0),
    "least squares": lambda: cc.LeastSquares(APART, SIGNS),
    "least absolute": lambda: cc.LeastAbsolute(INSIDE, INSIDE_Y),
    "perceptron": lambda: cc.PerceptronCriterion(INSIDE, INSIDE_Y),
    "fisher": lambda: cc.FisherLDA(APART, SIGNS),
}
REFUTED = {
    "hard, xor": lambda: cc.HardMarginSVM(XOR, XOR_Y),
    "hard, inside": lambda: cc.HardMarginSVM(INSIDE, INSIDE_Y),
    "hard, through 0": lambda: cc.HardMarginSVM(np.array([[1.0], [2.0]]), [-1, 1], intercept=False),
    "perceptron, xor": lambda: cc.PerceptronCriterion(XOR, XOR_Y),
    "fisher, same means": lambda: cc.FisherLDA(XOR, XOR_Y),
}
ENDLESS = {
    "separated": lambda: cc.LogisticMLE(APART, SIGNS),
    "quasi": lambda: cc.LogisticMLE(QUASI, QUASI_Y),
    "exponential": lambda: cc.EmpiricalRisk(APART, SIGNS, loss="exponential"),
}


def strict_json(text: str):
    """The value of a JSON text; NaN, Infinity and repeated keys are errors, as the standard has it."""

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    def unique(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), keys
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


# ---- optimal --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ANSWERED)
def test_an_optimum_holds_and_says_so(name):
    solution = ANSWERED[name]().solve()
    certificate = solution.certificate
    assert solution.status == certificate.status == "optimal"
    assert certificate.holds()
    assert certificate.holds(1e-8)
    assert not certificate.holds(0.0) or certificate.kkt.worst == 0.0
    told = certificate.explain()
    assert told.startswith("OPTIMAL")
    assert f"{solution.objective:.10g}" in told
    for condition in certificate.kkt.measures():
        assert condition in told
    assert "FAILS" not in told


@pytest.mark.parametrize("name", ANSWERED)
def test_an_optimum_as_json_can_be_checked_against_the_solution(name):
    solution = ANSWERED[name]().solve()
    value = strict_json(json.dumps(solution.certificate.summary(), allow_nan=False))
    assert value["status"] == "optimal"
    assert value["tolerance"] == 1e-8
    assert value["model"] == type(solution.problem).kind
    assert value["kkt"]["objective"] == solution.objective
    assert value["kkt"]["dual_objective"] == solution.dual_objective
    again = check_kkt(solution.problem, solution.x, solution.multipliers)
    for condition, measure in again.measures().items():
        assert value["kkt"]["relative"][condition] == measure
        assert measure <= value["tolerance"]


def test_the_conditions_hold_to_the_tolerance_asked_for_and_not_below():
    solution = cc.SoftMarginSVM(INSIDE, INSIDE_Y).solve()
    kkt = solution.kkt
    assert kkt.holds(max(*kkt.bounds().values(), 1e-16))
    if kkt.worst > 0:
        assert not kkt.holds(kkt.worst / 2)
        assert not solution.certificate.holds(kkt.worst / 2)
    loose = cc.SoftMarginSVM(INSIDE, INSIDE_Y).solve(tol=1e-3)
    assert loose.certificate.tol == 1e-3


def test_residuals_by_block_name_the_worst_row():
    problem = cc.HardMarginSVM(APART, SIGNS)
    solution = problem.solve()
    alpha = np.array(solution.multipliers["margin"])
    alpha[4] -= 10.0
    kkt = check_kkt(problem, solution.x, {"margin": alpha})
    assert kkt.dual_feasibility.worst == ("margin", 4)
    assert kkt.dual_feasibility.max == pytest.approx(-alpha[4])
    absolute, relative = kkt.dual_feasibility.by_block()["margin"]
    assert absolute == kkt.dual_feasibility.max
    assert relative == kkt.dual_feasibility.relative
    assert kkt.gap == kkt.objective - kkt.dual_objective


# ---- infeasible -----------------------------------------------------------------------------------------------


def dense(sparse_values: dict[str, float], size: int) -> np.ndarray:
    out = np.zeros(size)
    for index, value in sparse_values.items():
        out[int(index)] = value
    return out


@pytest.mark.parametrize("name", REFUTED)
def test_infeasibility_is_proved_told_and_checked_again_from_json(name):
    problem = REFUTED[name]()
    solution = problem.solve()
    certificate = solution.certificate
    assert solution.status == "infeasible"
    assert certificate.holds()
    told = certificate.explain()
    assert told.startswith("INFEASIBLE")
    assert problem.name in told
    value = strict_json(json.dumps(certificate.summary(), allow_nan=False))
    assert value["status"] == "infeasible"
    assert value["farkas"]["value"] < 0
    z = {c.name: dense(value["farkas"]["multipliers"].get(c.name, {}), c.size) for c in problem.constraints}
    again = check_farkas(problem, z)
    assert again is not None
    assert again.value == value["farkas"]["value"]
    assert solution.x is None
    assert np.isnan(solution.objective)
    with pytest.raises(cc.NoAnswer, match="infeasible"):
        _ = solution.coef


@pytest.mark.parametrize(("X", "y"), [(XOR, XOR_Y), (INSIDE, INSIDE_Y)])
def test_the_proof_of_infeasibility_is_a_point_in_both_hulls_exactly(X, y):
    value = strict_json(json.dumps(cc.HardMarginSVM(X, y).solve().certificate.summary()))
    alpha = dense(value["farkas"]["multipliers"]["margin"], len(y))
    assert np.count_nonzero(alpha) <= X.shape[1] + 2  # Kirchberger
    rows = exact.signed_rows(X.tolist(), y, True)
    whole = exact.rationalised(alpha.tolist(), rows, np.flatnonzero(alpha).tolist())
    assert exact.meets_at(X.tolist(), y, whole)
    ours = sum(a * Fraction(x) for a, x, s in zip(whole, X[:, 0].tolist(), y, strict=True) if s > 0)
    theirs = sum(a * Fraction(x) for a, x, s in zip(whole, X[:, 0].tolist(), y, strict=True) if s < 0)
    assert ours == theirs


# ---- unattained -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENDLESS)
def test_a_missing_minimum_is_proved_told_and_checked_again_from_json(name):
    problem = ENDLESS[name]()
    solution = problem.solve()
    certificate = solution.certificate
    assert solution.status == "unattained"
    assert certificate.holds()
    told = certificate.explain()
    assert told.startswith("UNATTAINED")
    assert problem.name in told
    value = strict_json(json.dumps(certificate.summary(), allow_nan=False))
    assert value["status"] == "unattained"
    assert "kkt" not in value  # its residuals would look like those of an optimum
    parts = value["direction"]["variables"]
    way = np.concatenate([dense(parts.get(v.name, {}), v.size) for v in problem.variables])
    assert check_direction(problem, way) is not None
    data = problem.data
    margins = data.signs * (data.matrix @ way[: data.d] + way[data.d])
    assert margins.min() >= -1e-12 * np.abs(margins).max()
    moved = sorted(np.flatnonzero(margins > 1e-9 * np.abs(margins).max()))
    assert moved == value["direction"]["rows"]
    assert moved


def test_along_the_direction_the_likelihood_only_grows():
    problem = cc.LogisticMLE(QUASI, QUASI_Y)
    way = problem.solve().certificate.direction.x
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.normal(size=3)
        values = [problem.minimised(x + step * way) for step in (0.0, 1.0, 3.0, 10.0)]
        assert values == sorted(values, reverse=True)
        assert values[1] < values[0]


# ---- undecided ------------------------------------------------------------------------------------------------


def test_what_fell_short_is_named():
    problem = cc.HardMarginSVM(APART, SIGNS)
    certificate = certify(problem, np.zeros(3), {"margin": np.zeros(6)})
    assert certificate.status == "undecided"
    assert not certificate.holds()
    assert "primal feasibility" in certificate.reason
    told = certificate.explain()
    assert told.startswith("UNDECIDED")
    assert "FAILS" in told
    value = strict_json(json.dumps(certificate.summary(), allow_nan=False))
    assert value["status"] == "undecided"
    assert value["reason"] == certificate.reason


def test_numbers_that_are_none_become_null_in_json():
    problem = cc.HardMarginSVM(APART, SIGNS)
    certificate = certify(problem, np.full(3, 1e200), {"margin": np.full(6, 1e200)})
    assert certificate.status == "undecided"
    value = strict_json(json.dumps(certificate.summary(), allow_nan=False))
    assert value["kkt"]["objective"] is None
    for bad in (np.full(3, np.nan), None):
        certificate = certify(problem, bad, {"margin": np.zeros(6)})
        assert strict_json(json.dumps(certificate.summary(), allow_nan=False))["status"] == "undecided"


def test_an_undecided_certificate_may_hold_at_a_looser_tolerance_only():
    solution = cc.LogisticMLE(OVERLAP, OVERLAP_Y).solve("gradient", max_iter=5)
    assert solution.status == "undecided"
    assert not solution.certificate.holds()
    assert solution.certificate.holds(0.9) in (True, False)
    assert isinstance(solution.certificate, Certificate)


def test_certificates_are_frozen():
    certificate = cc.HardMarginSVM(APART, SIGNS).solve().certificate
    with pytest.raises(AttributeError):
        certificate.status = "infeasible"


# ---- solvers that lie -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Liar(Solver):
    """A solver that says "optimal" and returns whatever it was told to."""

    name: ClassVar[str] = "liar"
    accepts: ClassVar[str] = "everything"
    lie: ClassVar = None

    def refuses(self, problem):
        return ""

    def solve(self, problem, tol, callback=None):
        return type(self).lie(problem)


@pytest.fixture
def lied(monkeypatch):
    """Solve a problem with a solver that tells the given lie."""
    module = types.ModuleType("liars")
    module.Liar = Liar
    monkeypatch.setitem(sys.modules, "liars", module)
    monkeypatch.setitem(REGISTRY, "liar", "liars:Liar")

    def tell(problem, lie):
        monkeypatch.setattr(Liar, "lie", staticmethod(lie))
        return problem.solve("liar")

    return tell


def _expected(problem) -> dict[str, int]:
    sizes = {c.name: c.size for c in problem.constraints}
    return sizes | {b.name: b.size + 1 for b in problem.norm_bounds}


def _constant(value: float):
    def lie(problem):
        duals = {name: np.full(size, value) for name, size in _expected(problem).items()}
        return Answer(np.full(problem.size, value), duals, "optimal")

    return lie


def _garbage(seed: int):
    def lie(problem):
        rng = np.random.default_rng(seed)
        duals = {name: rng.exponential(size=size) for name, size in _expected(problem).items()}
        return Answer(rng.normal(size=problem.size), duals, "optimal")

    return lie


def _shapes(change):
    def lie(problem):
        duals = {name: change(np.ones(size)) for name, size in _expected(problem).items()}
        return Answer(change(np.ones(problem.size)), duals, "optimal")

    return lie


LIES = {
    "zeros": _constant(0.0),
    "ones": _constant(1.0),
    "OSQP's filling": _constant(2.14e9),
    "huge": _constant(1e300),
    "tiny": _constant(1e-300),
    "NaN": _constant(float("nan")),
    "infinite": _constant(float("inf")),
    "garbage": _garbage(0),
    "more garbage": _garbage(1),
    "nothing": lambda problem: Answer(None, {}, "optimal"),
    "no multipliers": lambda problem: Answer(np.zeros(problem.size), {}, "optimal"),
    "too short": _shapes(lambda v: v[:-1]),
    "too long": _shapes(lambda v: np.append(v, 1.0)),
    "columns": _shapes(lambda v: v[:, None]),
    "empty": _shapes(lambda v: v[:0]),
    "strangers": lambda problem: Answer(np.zeros(problem.size), {"stranger": np.ones(3)}, "optimal"),
    "false proof of infeasibility": lambda problem: Answer(
        None, {}, "infeasible", farkas={name: np.ones(size) for name, size in _expected(problem).items()}
    ),
    "false direction": lambda problem: Answer(None, {}, "unbounded", direction=np.ones(problem.size)),
    "NaN as proofs": lambda problem: Answer(
        None,
        {},
        "infeasible",
        farkas={name: np.full(size, np.nan) for name, size in _expected(problem).items()},
        direction=np.full(problem.size, np.nan),
    ),
    "proofs of wrong shapes": lambda problem: Answer(
        None, {}, "infeasible", farkas={name: np.ones(1) for name in _expected(problem)}, direction=np.ones(1)
    ),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", [name for name in ANSWERED if name != "widest, meeting"])
def test_no_lie_about_a_solvable_problem_is_certified(name, lie, lied):
    """Where 0 is the answer (a logistic model on nothing) zeros would be no lie: no problem here is such."""
    solution = lied(ANSWERED[name](), LIES[lie])
    assert solution.status == "undecided"
    assert not solution.certificate.holds()
    assert solution.certificate.reason
    strict_json(json.dumps(solution.certificate.summary(), allow_nan=False))


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", REFUTED)
def test_no_lie_hides_that_a_problem_is_infeasible(name, lie, lied):
    assert lied(REFUTED[name](), LIES[lie]).status == "infeasible"


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", ENDLESS)
def test_no_lie_hides_that_a_minimum_is_missing(name, lie, lied):
    assert lied(ENDLESS[name](), LIES[lie]).status == "unattained"


@pytest.mark.parametrize("name", [name for name in ANSWERED if name != "widest, meeting"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999, 1.001, 2.0])
def test_the_right_point_with_the_wrong_multipliers_is_not_certified(name, share, lied):
    """And the other way round; for a model without multipliers the point alone is scaled."""
    problem = ANSWERED[name]()
    true = problem.solve()

    def half_lie(scaled):
        answer = scaled_back(problem, true)
        if answer.multipliers:
            return Answer(answer.x, {k: share * z for k, z in answer.multipliers.items()}, "optimal")
        return Answer(share * answer.x, {}, "optimal")

    assert lied(problem, half_lie).status == "undecided"
    assert (
        lied(
            problem, lambda scaled: Answer(share * scaled_back(problem, true).x, scaled_back(problem, true).multipliers)
        ).status
        == "undecided"
    )
    assert lied(problem, lambda scaled: scaled_back(problem, true)).status == "optimal"


def scaled_back(problem, solution) -> Answer:
    """The solution in the units that a solver is given the problem in."""
    from convexcls.problem.scaling import equilibrate

    scaled = equilibrate(problem)
    units = scaled.restore_point(np.ones(problem.size))
    duals = {}
    for name, z in solution.multipliers.items():
        duals[name] = np.array(z) / scaled.restore_multipliers({name: np.ones(z.size)})[name]
    return Answer(np.array(solution.x) / units, duals, "optimal")


def test_a_solver_that_spoils_its_input_spoils_no_other(lied):
    """Arrays of the caller are never given away to be written to."""
    X = APART.copy()
    problem = cc.HardMarginSVM(X, SIGNS)

    def vandal(scaled):
        for c in scaled.constraints:
            for rows in c.entries.values():
                values = rows.to_dense()
                values[:] = np.nan
        return Answer(None, {}, "optimal")

    lied(problem, vandal)
    np.testing.assert_array_equal(X, APART)
    assert problem.solve().status == "optimal"


def test_the_status_word_of_a_solver_decides_nothing(lied):
    problem = cc.HardMarginSVM(APART, SIGNS)
    true = problem.solve()
    for word in ("infeasible", "failed", "", "optimal"):
        answer = scaled_back(problem, true)
        found = lied(problem, lambda scaled, a=answer, w=word: Answer(a.x, a.multipliers, w))
        assert found.status == "optimal"
        assert found.message == word


def test_a_direction_of_many_unknowns_is_checked_to_the_last_bit():
    """Both labels at x1 = B and at B + g fix the coefficient of x1 and the intercept to 0, and the rest overlaps: the
    minimum is attained, though a direction along x1 moves these samples by 1e-15 of its size only."""
    d, g, B, n = 45, 2.0**-20, 2.0**30, 400
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (n, d)).astype(float), rng.integers(0, 2, n)
    X[:, 0] = np.where(y == 1, B + B * rng.integers(1, 9, n) / 8, -B * rng.integers(1, 9, n) / 8)
    ties = np.zeros((4, d))
    ties[:, 0] = [B, B, B + g, B + g]
    X, y = np.vstack([X, ties]), np.append(y, [0, 1, 0, 1])
    assert cc.LogisticMLE(X, y).solve().status != "unattained"
    apart = X[:n]
    assert cc.LogisticMLE(apart, y[:n]).solve().status == "unattained"  # without the ties x1 separates


# ---- ranks without rounding -----------------------------------------------------------------------------------


def test_the_rank_modulo_primes_is_the_rank_in_fractions():
    rng = np.random.default_rng(0)
    assert all(prime % k for prime in rational.PRIMES for k in range(2, 46341))
    for trial in range(120):
        n, d = rng.integers(1, 7, 2)
        matrix = rng.integers(-3, 4, (n, d)).astype(float)
        if trial % 3 == 0:
            matrix *= np.exp2(rng.integers(-300, 300, (n, d)))
        if trial % 5 == 0:  # the last column repeats the first, or differs from it by one bit
            matrix = rng.standard_normal((n, d))
            matrix[:, -1] = matrix[:, 0] * (1 + (trial % 2) * 2.0**-52)
        assert rational.rank(matrix) == elimination.rank(rational.as_fractions(matrix))
    assert rational.rank(np.zeros((3, 2))) == 0


# ---- samples of very different weight ------------------------------------------------------------------------------


@pytest.mark.parametrize("fitted", [0, 1, 2])
def test_what_light_samples_cost_counts_where_heavy_ones_are_fitted(fitted):
    """One heavy sample and two light ones, which cost all there is. A point that fits the wrong one (or neither) has
    multipliers that are off by far less than the heavy sample weighs, and by more than the light ones do."""
    weights = np.array([1e6, 1e-5, 1e-7])
    X, targets = np.array([[1.0, 1.0], [1.0, -1.0], [2.0, -2.0]]), np.array([0.0, 1.0, 1.0])
    problem = cc.LeastAbsolute(X, targets, coding="real", intercept=False, sample_weight=weights)
    coef = np.array([0.0, 0.5, 0.25])[fitted] * np.array([1.0, -1.0])
    off = X @ coef - targets
    z = {0: [0.0, -1e-5, -1e-7], 1: [0.0, -2e-7, 1e-7], 2: [0.0, -1e-5, 5e-6]}[fitted]  # of 0: not stationary
    multipliers = {"residual_above": (weights + z) / 2, "residual_below": (weights - z) / 2}
    kkt = check_kkt(problem, np.concatenate([coef, np.abs(off)]), multipliers)
    assert kkt.holds(1e-8) is (fitted == 1)
    assert problem.solve().objective == pytest.approx(1e-7, rel=1e-8)
