"""The exact level: proofs in rationals against independent oracles, degenerate cases, and proofs that are wrong."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import exact as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import convexcls as cc
from convexcls.problem import Constraint, Problem, Term, Variable
from convexcls.proofs.claims.optimum import ExactProof, check
from convexcls.proofs.claims.statement import NoProof
from convexcls.proofs.exact.criss_cross import Contradiction, Falling, Program, Tight, dot, solve_program, sparse_row
from convexcls.proofs.exact.prove import prove
from convexcls.rational.doubles import as_fractions, rational_product
from convexcls.rational.doubles import product as exact_product
from convexcls.rows import DenseRows

ZERO = Fraction(0)


def small_data(seed: int):
    """Few samples with small integers, so that ties, repeated points and dependent columns are common."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    y = rng.integers(0, 2, size=n) * 2 - 1
    y[:2] = -1, 1
    weights = rng.integers(0, 3, size=n).astype(float) if seed % 3 == 0 else None
    if weights is not None and (weights[y > 0].sum() == 0 or weights[y < 0].sum() == 0):
        weights = None
    return rng, X, y, bool(rng.integers(0, 2)), float(rng.choice([0.5, 1.0, 2.0, 10.0])), weights


def guesses(rng, problem: Problem, seed: int):
    """A poor guess: noise, or zeros."""
    if seed % 2:
        return np.zeros(problem.size), {c.name: np.zeros(c.size) for c in problem.constraints}
    return rng.normal(size=problem.size), {c.name: np.abs(rng.normal(size=c.size)) for c in problem.constraints}


def hard(X, y, intercept, C, weights):
    found = oracle.hard_margin(X.tolist(), y.tolist(), intercept)
    return cc.HardMarginSVM(X, y, intercept=intercept), None if found is None else found[0]


def soft(X, y, intercept, C, weights, loss="hinge"):
    problem = cc.SoftMarginSVM(X, y, C=C, loss=loss, intercept=intercept, sample_weight=weights)
    return problem, oracle.soft_margin(X.tolist(), y.tolist(), C, loss, intercept, weights)[0]


def squared(X, y, intercept, C, weights):
    return soft(X, y, intercept, C, weights, "squared_hinge")


def absolute(X, y, intercept, C, weights):
    problem = cc.LeastAbsolute(X, y, intercept=intercept, sample_weight=weights)
    return problem, oracle.least_absolute(X.tolist(), y.tolist(), intercept, weights)


def perceptron(X, y, intercept, C, weights):
    problem = cc.PerceptronCriterion(X, y, intercept=intercept, sample_weight=weights)
    return problem, oracle.perceptron(X.tolist(), y.tolist(), intercept, weights)


def least_squares(X, y, intercept, C, weights):
    problem = cc.LeastSquares(X, y, intercept=intercept, sample_weight=weights)
    return problem, oracle.least_squares(X.tolist(), y.tolist(), 0, intercept, weights)[0]


def ridge(X, y, intercept, C, weights):
    problem = cc.LeastSquares(X, y, l2=C, intercept=intercept, sample_weight=weights)
    return problem, oracle.least_squares(X.tolist(), y.tolist(), C, intercept, weights)[0]


def absolute_with_penalty(X, y, intercept, C, weights):
    """|1 - margin| + l2/2 |w|^2: twice the hinge of the margin and of its mirror image, so the dual is a box."""
    problem = cc.EmpiricalRisk(X, y, loss="absolute", l2=C, intercept=intercept, sample_weight=weights)
    return problem, penalised_absolute(X, y, C, intercept, weights)


def penalised_absolute(X, y, l2, intercept, weights) -> Fraction:
    """By Lemke's method on max -1/(2 l2) |Z'a|^2 + sum a, -c <= a <= c: shifted to 0 <= a + c <= 2c."""
    Z, d, n = oracle.signed_rows(X.tolist(), y.tolist(), intercept), X.shape[1], len(y)
    c = [Fraction(1 if weights is None else weights[i]) for i in range(n)]
    Q = [[oracle.dot(Z[i][:d], Z[k][:d]) / Fraction(l2) for k in range(n)] for i in range(n)]
    free = int(intercept)
    size = 2 * n + 2 * free
    M, q = [[ZERO] * size for _ in range(size)], [ZERO] * size
    for i in range(n):
        M[i][:n] = Q[i]
        q[i] = -1 - sum((Q[i][k] * c[k] for k in range(n)), ZERO)
        M[i][n + i], M[n + i][i], q[n + i] = Fraction(1), Fraction(-1), 2 * c[i]
        if free:
            s = Z[i][d]
            M[i][-2], M[i][-1], M[-2][i], M[-1][i] = s, -s, -s, s
            q[-2] += s * c[i]
            q[-1] -= s * c[i]
    z = oracle.lemke(M, q)
    assert z is not None
    a = [z[i] - c[i] for i in range(n)]
    return sum(a, ZERO) - sum((a[i] * Q[i][k] * a[k] for i in range(n) for k in range(n)), ZERO) / 2


MODELS = [hard, soft, squared, absolute, perceptron, least_squares, ridge, absolute_with_penalty]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
@pytest.mark.parametrize("part", range(3))
def test_random_integers_against_an_oracle(model, part):
    """300 problems of each model, found from poor guesses; infeasible ones too."""
    for seed in range(100 * part, 100 * (part + 1)):
        rng, *data = small_data(seed)
        problem, known = model(*data)
        proof = prove(problem, *guesses(rng, problem, seed))
        if known is None:
            assert proof.verdict == "infeasible", seed
        else:
            assert proof.verdict == "optimal", seed
            assert proof.optimum == known, seed
            assert proof.gap == 0, seed
        assert not check(problem, proof), seed


def fisher_oracle(X, y) -> Fraction | None:
    """1/(2 g'S^-1 g) where S is regular; None where it is not."""
    rows = {k: [r for r, t in zip(oracle.fractions(X.tolist()), y, strict=True) if t == k] for k in (-1, 1)}
    means = {k: [sum(column, ZERO) / len(part) for column in zip(*part, strict=True)] for k, part in rows.items()}
    gap = [a - b for a, b in zip(means[1], means[-1], strict=True)]
    d = len(gap)
    S = [[ZERO] * d for _ in range(d)]
    for k, part in rows.items():
        for row in part:
            away = [a - b for a, b in zip(row, means[k], strict=True)]
            S = [[S[i][j] + away[i] * away[j] for j in range(d)] for i in range(d)]
    if oracle.rank(S) < d or not any(gap):
        return None
    return 1 / (2 * oracle.dot(gap, oracle.solve_linear(S, gap)))


def test_fisher_against_a_formula():
    counted = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(4, 9)), int(rng.integers(1, 4))
        X = rng.integers(-3, 4, size=(n, d)).astype(float)
        y = np.where(np.arange(n) < n // 2, -1, 1)
        known = fisher_oracle(X, y)
        problem = cc.FisherLDA(X, y)
        proof = prove(problem, np.zeros(problem.size), {"separation": np.zeros(1)})
        assert not check(problem, proof)
        if known is not None:
            counted += 1
            assert proof.optimum == known, seed
            assert proof.gap == 0
    assert counted >= 300


# ---- a user's own programs, by brute force over active sets ---------------------------------------------


def own_program(seed: int) -> Problem:
    """Two or three unknowns, a quadratic that may be flat, an equation, some inequalities."""
    rng = np.random.default_rng(seed)
    d, rows = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    root = rng.integers(-1, 2, size=(int(rng.integers(0, 3)), d)).astype(float)
    terms = [Term("square", {"x": DenseRows(root)}, offset=rng.integers(-2, 3, size=len(root)).astype(float))]
    constraints = [
        Constraint("rows", {"x": rng.integers(-2, 3, size=(rows, d)).astype(float)}, rhs=rng.integers(-2, 4, size=rows))
    ]
    if seed % 3 == 0:
        equation = {"x": rng.integers(-1, 2, size=(1, d)).astype(float)}
        constraints.append(Constraint("equation", equation, rhs=float(rng.integers(-1, 2)), relation="=="))
    linear = rng.integers(-2, 3, size=d).astype(float)
    return Problem(
        "own", [Variable("x", d, "x")], linear={"x": linear}, terms=terms if len(root) else [], constraints=constraints
    )


def brute_force(problem: Problem) -> tuple[str, Fraction | None]:
    """The verdict by trying all sets of tight rows: a KKT point, or none; then whether any point is feasible."""
    d = problem.size
    H, g = [[ZERO] * d for _ in range(d)], [Fraction(v) for v in problem.q]
    constant = ZERO
    for t in problem.terms:
        for row, s in zip(oracle.fractions(problem.rows(t).to_dense()), t.offset.tolist(), strict=True):
            H = [[H[i][j] + row[i] * row[j] for j in range(d)] for i in range(d)]
            g = [a + Fraction(s) * b for a, b in zip(g, row, strict=True)]
            constant += Fraction(s) ** 2 / 2
    rows, rhs, equal = [], [], []
    for c in problem.constraints:
        rows += oracle.fractions(problem.rows(c).to_dense())
        rhs += [Fraction(v) for v in c.rhs]
        equal += [c.relation == "=="] * c.size
    n = len(rows)
    some = [i for i in range(n) if not equal[i]]
    always = [i for i in range(n) if equal[i]]
    for size in range(len(some) + 1):
        for chosen in combinations(some, size):
            tight = [*always, *chosen]
            system = [H[i] + [rows[k][i] for k in tight] for i in range(d)]
            system += [rows[k] + [ZERO] * len(tight) for k in tight]
            for x, lam in kkt_points(system, [-v for v in g], [rhs[k] for k in tight], d, tight, equal):
                if all(oracle.dot(rows[k], x) <= rhs[k] for k in some):
                    value = oracle.dot(x, [oracle.dot(r, x) for r in H]) / 2 + oracle.dot(g, x) + constant
                    assert all(v >= 0 for k, v in lam.items() if not equal[k])
                    return "optimal", value
    feasible = oracle.simplex(
        [ZERO] * (2 * d + n),
        [
            [*r, *(-v for v in r), *(Fraction(int(j == k and not equal[k])) for j in range(n))]
            for k, r in enumerate(rows)
        ],
        rhs,
    )
    return ("infeasible" if feasible is None else "unattained"), None


def kkt_points(system, gradient, rhs, d, tight, equal):
    """Points that solve the KKT equations of a set of tight rows. Where these are singular, what is left open is
    searched on a grid of vertices of the rest: other tight sets find those, so one solution is enough here."""
    solution = oracle.solve_linear(system, [*gradient, *rhs]) if system else []
    if solution is None:
        return
    lam = dict(zip(tight, solution[d:], strict=True))
    if all(v >= 0 for k, v in lam.items() if not equal[k]):
        yield solution[:d], lam


def test_own_programs_against_brute_force():
    verdicts = {"optimal": 0, "infeasible": 0, "unattained": 0}
    for seed in range(300):
        problem = own_program(seed)
        verdict, optimum = brute_force(problem)
        rng = np.random.default_rng(seed)
        proof = prove(problem, *guesses(rng, problem, seed))
        assert not check(problem, proof), seed
        if verdict == "optimal":  # brute force may miss a point on a face: it never finds one that is not there
            assert proof.verdict == "optimal", seed
            assert proof.optimum == optimum, seed
        elif verdict == "infeasible":
            assert proof.verdict == "infeasible", seed
        else:
            assert proof.verdict in ("unattained", "optimal"), seed
        verdicts[proof.verdict] += 1
    assert min(verdicts.values()) >= 20


# ---- degenerate cases ---------------------------------------------------------------------------------


XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, -1, -1])


def grid(size: int = 8):
    """Integer points left and right of a strip: many samples on the margin at once."""
    X = np.array([[i, j] for i, j in product(range(-size, size + 1), repeat=2) if i], dtype=float)
    return X, np.sign(X[:, 0])


@pytest.mark.parametrize("solver", ["auto", "clarabel", "interior-point"])
def test_many_samples_on_the_margin(solver):
    X, y = grid()
    for problem, optimum in (
        (cc.HardMarginSVM(X, y), Fraction(1, 2)),
        (cc.SoftMarginSVM(X, y, C=1.0), Fraction(1, 2)),
        (cc.SoftMarginSVM(X, y, C=2.0**-10), None),
    ):
        answer = problem.solve() if solver == "interior-point" and not problem.terms else problem.solve(solver)
        proof = prove(problem, answer.x, answer.multipliers)
        assert not check(problem, proof)
        assert proof.gap == 0
        if optimum is not None:
            assert proof.optimum == optimum
            assert proof.point["coef"] == [1, 0]
            assert proof.point["intercept"] == [0]


def test_repeated_samples():
    X, y = XOR
    once, often = cc.SoftMarginSVM(X, y), cc.SoftMarginSVM(np.repeat(X, 40, axis=0), np.repeat(y, 40))
    answer = often.solve()
    proof = prove(often, answer.x, answer.multipliers)
    assert not check(often, proof)
    assert proof.optimum == 40 * prove(once).optimum == 160
    assert proof.point["coef"] == [0, 0]
    assert any("not unique" in note for note in proof.notes)  # the intercept is an interval


def test_xor():
    X, y = XOR
    for problem, verdict, optimum in (
        (cc.HardMarginSVM(X, y), "infeasible", None),
        (cc.SoftMarginSVM(X, y), "optimal", 4),
        (cc.LeastAbsolute(X, y), "optimal", 4),
        (cc.LeastSquares(X, y), "optimal", 2),
        (cc.PerceptronCriterion(X, y), "infeasible", None),
    ):
        proof = prove(problem)
        assert (proof.verdict, proof.optimum) == (verdict, optimum)
        assert not check(problem, proof)
    hull = prove(cc.HardMarginSVM(X, y)).multipliers["margin"]
    sums = [
        sum((w * Fraction(v) for w, v in ((hull.get(i, ZERO), X[i, j] * y[i]) for i in range(4))), ZERO) for j in (0, 1)
    ]
    assert sums == [0, 0]
    assert sum((w * int(y[i]) for i, w in hull.items()), ZERO) == 0


def test_all_at_the_bound_and_an_interval_of_intercepts():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    problem = cc.SoftMarginSVM(X, y, C=2.0**-6)
    proof = prove(problem)
    assert not check(problem, proof)
    assert set(proof.multipliers["margin"].values()) == {Fraction(1, 64)}
    assert len(proof.multipliers["margin"]) == 4
    assert any("not unique" in note for note in proof.notes)
    for shift in (Fraction(1, 100), Fraction(-1, 100)):  # other intercepts of the interval are proofs, too
        moved = replace(proof, point={**proof.point, "intercept": [proof.point["intercept"][0] + shift]})
        assert not check(problem, moved)
    far = replace(proof, point={**proof.point, "intercept": [proof.point["intercept"][0] + 10]})
    assert check(problem, far)


def test_dependent_columns():
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [4.0, 8.0]])
    for problem in (cc.LeastSquares(X, [0, 1, 0, 1]), cc.LeastAbsolute(X, [0, 1, 0, 1])):
        single = type(problem)(X[:, :1], [0, 1, 0, 1])
        proof = prove(problem)
        assert not check(problem, proof)
        assert proof.optimum == prove(single).optimum
        assert any("not unique" in note or "need not be" in note for note in proof.notes)
        assert not prove(single).notes or isinstance(problem, cc.LeastAbsolute)


def test_sizes_far_apart():
    rng = np.random.default_rng(3)
    X = rng.integers(-9, 10, size=(40, 3)) * np.array([1.0, 2.0**300, 2.0**-300])
    y = np.where(rng.normal(size=40) + X[:, 0] > 0, 1, -1)
    for problem in (cc.LeastSquares(X, y), cc.SoftMarginSVM(X[:, :1] * 2.0**80, y)):
        proof = prove(problem)
        assert not check(problem, proof)
        assert proof.gap == 0


# ---- linear programs without a solution -----------------------------------------------------------------


def box(linear, rows, rhs) -> Problem:
    d = len(linear)
    constraint = Constraint("rows", {"x": np.array(rows, dtype=float)}, rhs=np.array(rhs, dtype=float))
    return Problem("own", [Variable("x", d, "x")], linear={"x": linear}, constraints=[constraint])


def test_falling_for_ever():
    problem = box([-1.0, 1.0], [[1.0, -1.0], [0.0, -1.0]], [1.0, 5.0])
    proof = prove(problem)  # x - y <= 1 bounds the objective
    assert (proof.verdict, proof.optimum) == ("optimal", -1)
    problem = box([-1.0, 0.5], [[1.0, -1.0], [0.0, -1.0]], [1.0, 5.0])
    proof = prove(problem)
    assert proof.verdict == "unattained"
    assert not check(problem, proof)
    d = proof.direction["x"]
    assert -d[0] + d[1] / 2 < 0
    assert d[0] - d[1] <= 0
    assert check(problem, replace(proof, direction={"x": [-v for v in d]}))
    assert check(problem, replace(proof, point={"x": [Fraction(10), ZERO]}))
    assert check(problem, replace(proof, direction={"x": [ZERO, ZERO]}))


def test_neither_feasible_nor_bounded():
    problem = box([-1.0, 0.0], [[0.0, 1.0], [0.0, -1.0]], [0.0, -1.0])
    proof = prove(problem)
    assert proof.verdict == "infeasible"
    assert not check(problem, proof)
    assert check(problem, replace(proof, multipliers={"rows": {0: Fraction(1)}}))
    assert check(problem, replace(proof, multipliers={"rows": {0: Fraction(-1), 1: Fraction(-1)}}))
    assert check(problem, replace(proof, multipliers={}))


def test_equations_that_contradict_each_other():
    equations = Constraint("sum", {"x": np.array([[1.0, 1.0], [2.0, 2.0]])}, rhs=np.array([1.0, 3.0]), relation="==")
    problem = Problem("own", [Variable("x", 2, "x")], quadratic={"x": 1.0}, constraints=[equations])
    proof = prove(problem, np.zeros(2), {"sum": np.zeros(2)})
    assert proof.verdict == "infeasible"
    assert not check(problem, proof)
    follows = Constraint("sum", {"x": np.array([[1.0, 1.0], [2.0, 2.0]])}, rhs=np.array([1.0, 2.0]), relation="==")
    problem = Problem("own", [Variable("x", 2, "x")], quadratic={"x": 1.0}, constraints=[follows])
    proof = prove(problem, np.zeros(2), {"sum": np.zeros(2)})
    assert (proof.verdict, proof.optimum) == ("optimal", Fraction(1, 4))
    assert not check(problem, proof)


def test_the_criss_cross_method_never_cycles():
    """Beale's linear program, on which the plain simplex method cycles."""
    rows = [[Fraction(1, 4), -8, -1, 9], [Fraction(1, 2), -12, Fraction(-1, 2), 3], [0, 0, 1, 0]]
    inequalities = [(sparse_row(Fraction(v) for v in row), Fraction(k)) for row, k in zip(rows, (0, 0, 1), strict=True)]
    inequalities += [({j: Fraction(-1)}, ZERO) for j in range(4)]
    linear = [Fraction(-3, 4), Fraction(20), Fraction(-1, 2), Fraction(6)]
    program = Program([{} for _ in range(4)], linear, [], inequalities)
    outcome = solve_program(program, [], [ZERO] * 4)
    assert isinstance(outcome, Tight)
    assert sum(a * b for a, b in zip(linear, outcome.x, strict=True)) == Fraction(-5, 4)


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_small_programs_end_with_a_proof(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    root = rng.integers(-1, 2, size=(d, d))
    curved = [sparse_row(Fraction(int(v)) for v in row) for row in root.T @ root * int(rng.integers(0, 2))]
    rows = [sparse_row(Fraction(int(v)) for v in row) for row in rng.integers(-2, 3, size=(n, d))]
    rhs = [Fraction(int(v)) for v in rng.integers(-2, 4, size=n)]
    program = Program(
        curved, [Fraction(int(v)) for v in rng.integers(-2, 3, size=d)], [], list(zip(rows, rhs, strict=True))
    )
    outcome = solve_program(
        program, sorted(rng.choice(n, size=int(rng.integers(0, n)), replace=False).tolist()), [ZERO] * d
    )
    if isinstance(outcome, Tight):
        pull = [dot(row, outcome.x) + g for row, g in zip(curved, program.linear, strict=True)]
        for i, value in outcome.multipliers.items():
            assert value >= 0
            assert not value or dot(rows[i], outcome.x) == rhs[i]
            pull = [p + value * rows[i].get(j, ZERO) for j, p in enumerate(pull)]
        assert not any(pull)
        assert all(dot(row, outcome.x) <= b for row, b in zip(rows, rhs, strict=True))
    elif isinstance(outcome, Contradiction):
        assert all(value >= 0 for value in outcome.multipliers.values())
        assert not any(sum((v * rows[i].get(j, ZERO) for i, v in outcome.multipliers.items()), ZERO) for j in range(d))
        assert sum((v * rhs[i] for i, v in outcome.multipliers.items()), ZERO) < 0
    else:
        assert isinstance(outcome, Falling)
        assert not any(dot(row, outcome.direction) for row in curved)
        assert all(dot(row, outcome.direction) <= 0 for row in rows)
        assert sum((g * v for g, v in zip(program.linear, outcome.direction, strict=True)), ZERO) < 0


# ---- proofs that are wrong ------------------------------------------------------------------------------


def wrong_versions(proof: ExactProof):
    """Every number changed, every multiplier moved, dropped, negated; other claims."""
    step = Fraction(1, 10**12)
    for name, values in proof.point.items():
        for j in range(len(values)):
            for change in (step, -step, Fraction(1)):
                yield replace(proof, point={**proof.point, name: [v + change * (k == j) for k, v in enumerate(values)]})
    for name, rows in proof.multipliers.items():
        others = {**proof.multipliers}
        for i, value in rows.items():
            for changed in (value + step, value - step, -value, 2 * value, ZERO, float(value) + 1e-9):
                yield replace(proof, multipliers={**others, name: {**rows, i: changed}})
            without = {k: v for k, v in rows.items() if k != i}
            yield replace(proof, multipliers={**others, name: without})
            yield replace(proof, multipliers={**others, name: {**without, i + 1: value + without.get(i + 1, ZERO)}})
            yield replace(proof, multipliers={**others, name: {**without, -1: value}})
            yield replace(proof, multipliers={**others, name: {**without, 10**6: value}})
        if rows:
            yield replace(proof, multipliers={k: v for k, v in others.items() if k != name})
            yield replace(proof, multipliers={**others, "other": rows})
    yield replace(proof, optimum=proof.optimum + step)
    yield replace(proof, optimum=-proof.optimum - 1)
    yield replace(proof, optimum=None)
    yield replace(proof, gap=step)
    yield replace(proof, gap=None)
    yield replace(proof, point={})
    yield replace(proof, verdict="infeasible")
    yield replace(proof, verdict="unattained", direction=proof.point)
    yield replace(proof, verdict="undecided")


def unique_problems():
    rng = np.random.default_rng(8)
    X = rng.integers(-4, 5, size=(9, 2)).astype(float)
    y = np.where(X @ [1, -2] + rng.normal(size=9) * 3 > 0, 1, -1)
    y[:2] = -1, 1
    S, t = np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [3.0, 1.0]]), [1, 1, 0, 0, 1]
    return {
        "hard": cc.HardMarginSVM(S, t),
        "soft": cc.SoftMarginSVM(X, y, C=0.75),
        "squared": cc.SoftMarginSVM(X, y, C=0.75, loss="squared_hinge"),
        "absolute": cc.LeastAbsolute(X, y),
        "least-squares": cc.LeastSquares(X, y),
        "ridge": cc.LeastSquares(X, y, l2=0.5),
        "fisher": cc.FisherLDA(X, y),
        "perceptron": cc.PerceptronCriterion(X, y),
        "l1": cc.EmpiricalRisk(X, y, loss="hinge", l1=0.5, l2=0.25),
        "dual": cc.SoftMarginSVM(X, y, C=0.75).dual(),
        "kernel": cc.KernelSVM(X, y, kernel="poly", degree=2, coef0=1.0, C=0.5),
    }


@pytest.mark.parametrize("name", list(unique_problems()))
def test_wrong_proofs_are_refused(name):
    problem = unique_problems()[name]
    proof = prove(problem)
    assert not check(problem, proof)
    assert not proof.notes or name in ("dual", "kernel")  # there, samples on the margin may have no multiplier
    tried = 0
    for wrong in wrong_versions(proof):
        if wrong.multipliers == proof.multipliers and wrong.point == proof.point and wrong.optimum == proof.optimum:
            assert (wrong.gap, wrong.verdict) != (proof.gap, proof.verdict)
        assert check(problem, wrong), wrong
        tried += 1
    assert tried >= 15


def test_a_proof_of_other_data_is_refused():
    X, y = np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), [1, 1, 0, 0]
    proof = prove(cc.HardMarginSVM(X, y))
    moved = X.copy()
    moved[0, 0] += 2.0**-50
    touched = [not check(cc.HardMarginSVM(moved, y), proof), not check(cc.SoftMarginSVM(X, y), proof)]
    assert 0 in proof.multipliers["margin"]
    assert touched == [False, False]


# ---- what else has to hold ------------------------------------------------------------------------------


def test_duals_have_the_same_optimum():
    rng = np.random.default_rng(5)
    X = rng.integers(-3, 4, size=(10, 2)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=10) * 2 > 0, 1, -1)
    for problem in (
        cc.SoftMarginSVM(X, y, C=0.5),
        cc.SoftMarginSVM(X, y, C=0.5, loss="squared_hinge"),
        cc.LeastAbsolute(X, y),
        cc.LeastSquares(X, y, l2=0.5),
        cc.PerceptronCriterion(X, y),
    ):
        dual = problem.dual()
        proof = prove(dual)
        assert not check(dual, proof)
        assert -proof.optimum == prove(problem).optimum


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_kernels_that_keep_rationals(kernel):
    X = np.array([[0.5, 1.0], [1.5, -1.0], [-0.5, 2.0], [-1.0, -1.0], [0.25, 0.5]])
    y = [1, 1, -1, -1, -1]
    problem = cc.KernelSVM(X, y, kernel=kernel, degree=2, C=2.0)
    proof = prove(problem)
    assert not check(problem, proof)
    lifted = X if kernel == "linear" else [[oracle.Fraction(a) ** 2, oracle.Fraction(b) ** 2] for a, b in X.tolist()]
    if kernel == "linear":
        assert -proof.optimum == oracle.soft_margin(lifted.tolist(), y, 2)[0]
    else:  # (a'b)^2 = a1^2 b1^2 + a2^2 b2^2 + 2 a1 a2 b1 b2: of rationals after scaling one feature by the root of 2
        Q = [
            [(Fraction(a) * Fraction(c) + Fraction(b) * Fraction(d)) ** 2 for c, d in X.tolist()] for a, b in X.tolist()
        ]
        alpha = proof.point["margin"]
        assert all(0 <= a <= 2 for a in alpha)
        pull = [sum((y[i] * y[k] * Q[i][k] * alpha[k] for k in range(5)), ZERO) - 1 for i in range(5)]
        b = proof.multipliers["intercept"].get(0, ZERO)
        for i in range(5):
            slope = pull[i] + b * y[i]
            assert slope >= 0 or alpha[i] == 2
            assert slope <= 0 or alpha[i] == 0


def test_a_kernel_that_leaves_the_rationals_is_taken_as_doubles():
    X, y = np.array([[0.0], [1.0], [2.0]]), [1, -1, 1]
    problem = cc.KernelSVM(X, y, kernel="rbf", C=1.0)
    proof = prove(problem)  # the matrix of doubles is positive definite, and proved as such
    assert not check(problem, proof)
    assert proof.gap == 0


def test_a_matrix_that_only_rounding_makes_semidefinite_is_refused():
    indefinite = np.array([[1.0, 1.0], [1.0, 1.0 - 2.0**-50]])
    problem = Problem("own", [Variable("x", 2, "x")], quadratic={"x": indefinite})
    with pytest.raises(NoProof, match="semidefinite"):
        prove(problem)


def test_slacks_follow_from_the_point():
    X, y = XOR
    problem = cc.SoftMarginSVM(X, y)
    proof = prove(problem)
    slack = proof.slacks()["slack"]
    value = sum((w * w for w in proof.point["coef"]), ZERO) / 2 + sum(slack, ZERO)
    assert value == proof.optimum
    assert set(proof.point) == {"coef", "intercept"}


def test_without_flint(monkeypatch):
    """Fractions alone give the same numbers."""
    rng = np.random.default_rng(2)
    X, y = rng.integers(-3, 4, size=(12, 2)).astype(float) / 10, rng.integers(0, 2, size=12)
    y[:2] = 0, 1
    problems = [cc.SoftMarginSVM(X, y), cc.LeastSquares(X, y), cc.LeastAbsolute(X, y), cc.FisherLDA(X, y)]
    answers = [p.solve() for p in problems]
    with_flint = [prove(p, s.x, s.multipliers) for p, s in zip(problems, answers, strict=True)]
    monkeypatch.setitem(__import__("sys").modules, "flint", None)
    monkeypatch.setattr("convexcls.rational.elimination.has_flint", lambda: False)
    for problem, answer, known in zip(problems, answers, with_flint, strict=True):
        proof = prove(problem, answer.x, answer.multipliers)
        assert (proof.optimum, proof.point) == (known.optimum, known.point)
        assert not check(problem, proof)


def test_nothing_of_the_caller_is_changed():
    X, y = XOR
    problem = cc.SoftMarginSVM(X, y)
    answer = problem.solve()
    x, multipliers = answer.x.copy(), {name: values.copy() for name, values in answer.multipliers.items()}
    before = copy.deepcopy((x, multipliers, X))
    prove(problem, x, multipliers)
    assert np.array_equal(x, before[0])
    assert all(np.array_equal(values, before[1][name]) for name, values in multipliers.items())
    assert np.array_equal(X, before[2])


def test_too_many_unknowns_are_refused():
    with pytest.raises(NoProof, match="too many"):
        prove(cc.LeastSquares(np.eye(1600), np.arange(1600) % 2), np.zeros(1601), {})


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 4))
@settings(max_examples=40)
def test_products_of_doubles_are_exact(seed, n, d):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 12, size=(n, d))
    A[rng.random(size=(n, d)) < 0.2] = 0.0
    B = rng.normal(size=(n, 2)) * 10.0 ** float(rng.integers(-300, 300))
    assert exact_product(A, A) == rational_product(as_fractions(A), as_fractions(A))
    assert exact_product(A, B) == rational_product(as_fractions(A), as_fractions(B))
    slow = sum((Fraction(a) * Fraction(b) for a, b in zip(A[:, 0].tolist(), B[:, 0].tolist(), strict=True)), ZERO)
    assert exact_product(A, B)[0][0] == slow


def test_products_of_many_rows_and_extreme_sizes():
    rng = np.random.default_rng(0)
    A = rng.integers(-(2**52), 2**52, size=(9000, 2)).astype(float)
    expected = [[sum(int(a) * int(b) for a, b in zip(A[:, j], A[:, k], strict=True)) for k in (0, 1)] for j in (0, 1)]
    assert exact_product(A, A) == expected
    tiny = np.array([[5e-324, 1e300], [1.0, 5e-324], [2.0**-1022, 1e-308]])
    assert exact_product(tiny, tiny) == rational_product(as_fractions(tiny), as_fractions(tiny))


@pytest.mark.parametrize("name", ["hard", "soft", "absolute", "least-squares", "squared", "perceptron", "fisher"])
def test_many_rows(name):
    """20,000 rows: the same verdict as in doubles, with gap 0, and checked."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000 if name == "squared" else 20_000, 5))
    f = X @ rng.normal(size=5) + 0.25
    noisy = np.sign(f + rng.normal(size=len(f)))
    problem = {
        "hard": lambda: cc.HardMarginSVM(X[np.abs(f) > 0.2], np.sign(f[np.abs(f) > 0.2])),
        "soft": lambda: cc.SoftMarginSVM(X, noisy),
        "squared": lambda: cc.SoftMarginSVM(X, noisy, loss="squared_hinge"),
        "absolute": lambda: cc.LeastAbsolute(X, f + rng.normal(size=len(f)), coding="real"),
        "least-squares": lambda: cc.LeastSquares(X, noisy),
        "perceptron": lambda: cc.PerceptronCriterion(X, noisy),
        "fisher": lambda: cc.FisherLDA(X, noisy),
    }[name]()
    answer = problem.solve()
    proof = prove(problem, answer.x, answer.multipliers)
    assert proof.gap == 0
    assert float(proof.optimum) == pytest.approx(answer.objective, rel=1e-9)
    assert not check(problem, proof)


def test_a_kernel_of_very_long_numbers_is_no_exact_question():
    """Entries of 1e80 and 1e-80 beside each other, to the third power, have 7000 bits each."""
    rng = np.random.default_rng(3)
    X = rng.integers(-4, 5, (26, 4)) * np.array([1e-80, 1e80, 1e-80, 1e80])
    problem = cc.KernelSVM(X, np.arange(26) % 2, kernel="poly", degree=3, coef0=0.0, gamma=5.59e-163, C=None)
    with pytest.raises(NoProof, match="too many digits"):
        prove(problem)
