"""The contract of the solvers: what they accept, how they refuse, what their traces show."""

from itertools import pairwise

import numpy as np
import pytest
from datasets import SEPARABLE, every_model, overlapping
from scipy.special import expit

import convexcls as cc
from convexcls.choice import choices
from convexcls.problem.scaling import equilibrate
from convexcls.solve import accepting
from convexcls.solvers import solver_class, solver_names

MODELS = every_model()


def test_at_least_five_solvers_of_different_kinds():
    names = set(solver_names())
    assert {"closed-form", "newton", "gradient", "highs", "clarabel", "osqp"} <= names
    assert {"cvxpy:CLARABEL", "cvxpy:OSQP", "cvxpy:SCS", "cvxpy:HIGHS"} <= names
    infos = cc.list_solvers()
    assert [i.name for i in infos] == solver_names()
    assert all(i.accepts and 0 < i.promise < 1 for i in infos)


@pytest.mark.parametrize("name", MODELS)
def test_every_accepting_solver_solves_every_model(name):
    problem = MODELS[name]
    best = problem.solve()
    cc.testing.assert_optimal(best)
    for info in accepting(problem):
        tol = max(1e-8, info.promise)
        solution = problem.solve(info.name, tol=tol)
        assert solution.status == "optimal", f"{info.name}: {solution.certificate.reason}"
        assert solution.objective == pytest.approx(best.objective, rel=10 * tol, abs=10 * tol * problem.unit)


def test_refusal_names_the_reason_and_who_can():
    with pytest.raises(cc.SolverRefused, match=r"does not take the hard-margin SVM.*These do: working-set, clarabel"):
        cc.HardMarginSVM(*SEPARABLE).solve("newton")
    with pytest.raises(cc.SolverRefused, match="logistic loss"):
        cc.LogisticMLE(*SEPARABLE).solve("osqp")
    with pytest.raises(cc.SolverRefused, match="linear programs"):
        cc.LeastSquares(*SEPARABLE).solve("highs")
    with pytest.raises(cc.SolverRefused, match="bounds a norm"):
        cc.MaxMargin(*SEPARABLE).solve("osqp")
    with pytest.raises(cc.SolverRefused, match="no backend 'NOSUCH'"):
        cc.HardMarginSVM(*SEPARABLE).solve("cvxpy:nosuch")


def test_gradient_refuses_what_it_cannot_finish():
    with pytest.raises(cc.SolverRefused, match="condition number"):
        cc.load("nist_longley").solve("gradient")


def test_unknown_names_are_errors_that_help():
    problem = cc.HardMarginSVM(*SEPARABLE)
    with pytest.raises(ValueError, match="there is no solver 'simplex'; the solvers are closed-form"):
        problem.solve("simplex")
    with pytest.raises(TypeError, match=r"no option 'maxiter'; its options are: max_iter=200, polish=True"):
        problem.solve("clarabel", maxiter=3)
    with pytest.raises(TypeError, match=r"has no options but max_iter \(polish given\): name a solver"):
        problem.solve(polish=False)
    for tol in (0, -1, 2, "small"):
        with pytest.raises(ValueError, match="tol is"):
            problem.solve(tol=tol)


def test_auto_hands_a_limit_on_to_the_first_solver_that_suits():
    problem = cc.LogisticMLE(*overlapping(), l2=1.0)
    stopped = problem.solve(max_iter=1)
    assert (stopped.solver, stopped.status) == ("newton", "undecided")
    assert stopped.iterations <= 1
    assert problem.solve(max_iter=50).status == "optimal"
    assert cc.LeastSquares(*overlapping()).solve(max_iter=1).status == "optimal"  # a formula has no limit


def test_cvxpy_backend_names_are_not_case_sensitive():
    assert solver_class("cvxpy:clarabel") is solver_class("cvxpy:CLARABEL")


def test_newton_is_irls_with_the_adjusted_response_in_its_trace():
    """Each step is the weighted least-squares fit of the adjusted response (ESL 4.26, 4.27)."""
    Z, t = overlapping(60, 3)
    solution = cc.LogisticMLE(Z, t).solve("newton")
    signs = np.where(t == 1, 1.0, -1.0)
    design = np.column_stack([Z, np.ones(len(t))])
    theta = np.zeros(4)
    for line in solution.trace[:-1]:
        p = expit(design @ theta)
        W = p * (1 - p)
        z = design @ theta + (t - p) / W
        shown = line.detail["likelihood"]
        np.testing.assert_allclose(shown["adjusted_response"] * signs, z, rtol=1e-7)
        np.testing.assert_allclose(shown["weights"], W, rtol=1e-8)
        theta = np.linalg.solve(design.T @ (W[:, None] * design), design.T @ (W * z))
    np.testing.assert_allclose(theta, [*solution.coef, solution.intercept], rtol=1e-8)


def test_newton_backtracks_where_a_full_step_overshoots():
    X = np.array([[0.0], [1.0], [50.0], [51.0], [100.0]])
    solution = cc.EmpiricalRisk(X, [0, 1, 0, 1, 1], loss="exponential", l2=1e-3).solve("newton")
    assert solution.status == "optimal"
    objectives = [line.objective for line in solution.trace]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(objectives))


def test_newton_solves_quadratics_in_one_step():
    Z, t = overlapping()
    for problem in (cc.LeastSquares(Z, t), cc.LeastSquares(Z, t, l2=3.0)):
        trace = problem.solve("newton").trace
        assert trace[1].residual < 1e-13
        assert trace[1].step == 1.0


def test_gradient_descends_by_armijo():
    Z, t = overlapping()
    solution = cc.LogisticMLE(Z, t, l2=1.0).solve("gradient", tol=1e-5)
    assert solution.status == "optimal"
    objectives = np.array([line.objective for line in solution.trace])
    assert np.all(np.diff(objectives) < 0)
    steps = {line.step for line in solution.trace}
    assert all(np.log2(step) == int(np.log2(step)) for step in steps)


def test_callback_sees_the_trace_and_objectives_are_in_original_units():
    Z, t = overlapping()
    problem = cc.LogisticMLE(Z * 1e9, t)
    seen = []
    solution = problem.solve("newton", callback=seen.append)
    assert [line.objective for line in seen] == [line.objective for line in solution.trace]
    assert seen[0].objective == pytest.approx(len(t) * np.log(2))
    assert solution.trace[-1].objective == pytest.approx(solution.objective)
    assert solution.iterations == len(solution.trace) - 1


def test_auto_tries_until_an_answer_is_proved():
    first = {name: next(iter(choices(MODELS[name]))).solver for name in ("least-squares", "logistic")}
    assert first == {"least-squares": "closed-form", "logistic": "newton"}
    assert "highs" in [choice.solver for choice in choices(MODELS["perceptron"])]
    chosen = {name: MODELS[name].solve().solver for name in MODELS}
    assert chosen["least-squares"] == "closed-form"
    assert chosen["logistic"] == "newton"
    assert chosen["least-absolute"] == "highs"
    assert chosen["hard-margin"] in ("working-set", "active-set")  # where it is compiled
    X = np.random.default_rng(0).normal(size=(200, 10))
    tall = [choice.solver for choice in choices(cc.LeastAbsolute(X, X[:, 0] > 0.1))]
    assert tall.index("interior-point") < tall.index("highs")  # slacks are left out, and the solution is unique


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6, 1e150, 1e-150])
@pytest.mark.parametrize("name", ["hard-margin", "max-margin", "soft-margin", "logistic-ridge", "fisher"])
def test_scaling_is_exact_and_undone(name, scale):
    """Objective, gradient and constraints of the scaled problem are the original's times powers of two."""
    model = MODELS[name]
    problem = type(model)(model.data.matrix * scale, model.data.target, **model.parameters)
    scaled = equilibrate(problem)
    rng = np.random.default_rng(1)
    x = rng.normal(size=problem.size)
    value = scaled.restore_objective(scaled.problem.minimised(x))
    assert value == pytest.approx(problem.minimised(scaled.restore_point(x)), rel=1e-14)
    for mine, theirs in zip(problem.constraints, scaled.problem.constraints, strict=True):
        left = problem.rows(mine) @ scaled.restore_point(x) - mine.rhs
        right = np.ldexp(scaled.problem.rows(theirs) @ x - theirs.rhs, -scaled.blocks[mine.name])
        np.testing.assert_allclose(right, left, rtol=1e-13)
    back = equilibrate(scaled.problem)
    assert not np.any(np.abs(back.columns) > 3)


def test_compare_is_one_honest_table():
    problem = cc.SoftMarginSVM(*overlapping(), C=1.0)
    table = cc.compare(problem, tol=1e-6)
    assert {row.solver for row in table.rows} == {info.name for info in accepting(problem)}
    assert all(row.status == "optimal" for row in table.rows)
    text = table.to_text().splitlines()
    assert len(text) == 2 + len(table.rows)
    assert text[0].split()[:2] == ["solver", "status"]
    support = {row.support for row in table.rows}
    assert len(support) == 1
    plain = table.to_dict()
    assert plain["rows"][0]["solver"] == table.rows[0].solver
    assert "solution" not in plain["rows"][0]


def test_compare_on_a_problem_without_answer():
    table = cc.compare(cc.load("xor_hard_margin"), ["clarabel", "osqp"])
    assert [row.status for row in table.rows] == ["infeasible", "infeasible"]
    assert table.to_dict()["rows"][0]["objective"] is None


def test_assertions_for_users():
    problem = cc.SoftMarginSVM(*overlapping())
    good, other = problem.solve("clarabel"), problem.solve("osqp", tol=1e-6)
    cc.testing.assert_optimal(good)
    cc.testing.assert_complementary_slackness(good)
    cc.testing.assert_same_answer(good, problem.solve("dual:clarabel"))
    poor = problem.solve("cvxpy:SCS", raw={"eps_abs": 1e-2, "eps_rel": 1e-2})
    assert poor.status == "undecided"
    with pytest.raises(AssertionError, match="not proved optimal"):
        cc.testing.assert_optimal(poor)
    with pytest.raises(AssertionError, match="says"):
        cc.testing.assert_same_answer(poor, good)
    with pytest.raises(AssertionError, match="row"):
        cc.testing.assert_complementary_slackness(poor)
    with pytest.raises(AssertionError, match="objectives differ"):
        cc.testing.assert_same_answer(good, cc.SoftMarginSVM(*overlapping(), C=2.0).solve())
    assert other.certificate.holds(1e-5)


def test_a_solution_is_frozen():
    solution = cc.HardMarginSVM(*SEPARABLE).solve()
    with pytest.raises(ValueError, match="read-only"):
        solution.coef[0] = 1.0
    with pytest.raises(TypeError):
        solution.multipliers["margin"] = np.zeros(6)
    with pytest.raises(AttributeError):
        solution.x = None
