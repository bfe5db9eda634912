"""What stands between a problem and a solver: the choice that ``auto`` makes, and what Ctrl-C leaves."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from datasets import every_model, overlapping

import convexcls as cc
from convexcls.choice import choices
from convexcls.job import Job
from convexcls.solve import accepting
from convexcls.solvers import REGISTRY
from convexcls.solvers.rows.reduction import RowReduction

X, Y = overlapping(60, 3, seed=5)


def interrupt_at(iteration: int):
    def callback(line) -> None:
        if line.iteration == iteration:
            raise KeyboardInterrupt

    return callback


# ---- Ctrl-C ------------------------------------------------------------------------------------------------------


def test_ctrl_c_leaves_the_last_point_undecided_and_usable():
    problem = cc.LogisticMLE(X, Y)
    whole = problem.solve("gradient")
    s = problem.solve("gradient", callback=interrupt_at(3))
    assert s.interrupted
    assert s.status == "undecided"
    assert not s.certificate.holds()
    assert "interrupted" in s.certificate.explain()
    assert s.iterations == 3
    assert np.isfinite(s.coef).all()
    assert s.predict(X).shape == Y.shape
    assert s.objective == pytest.approx(whole.trace[3].objective, rel=1e-12)
    assert s.objective > whole.objective
    assert not whole.interrupted


def test_an_interrupted_solution_is_a_start():
    problem = cc.LogisticMLE(X, Y)
    s = problem.solve("gradient", callback=interrupt_at(5))
    again = problem.solve("gradient", start=s)
    assert again.status == "optimal"
    assert again.trace[0].objective == pytest.approx(s.objective, rel=1e-12)


def test_auto_does_not_go_on_after_ctrl_c():
    seen = []

    def callback(line) -> None:
        seen.append(line.iteration)
        if line.iteration == 1:
            raise KeyboardInterrupt

    s = cc.LogisticMLE(X, Y).solve(callback=callback)
    assert s.interrupted
    assert seen == [0, 1]


def test_ctrl_c_before_there_is_a_point_goes_through():
    with pytest.raises(KeyboardInterrupt):
        cc.LeastSquares(X, Y).solve("closed-form", callback=interrupt_at(0))


def test_ctrl_c_ends_a_comparison_with_the_rows_so_far():
    table = cc.compare(cc.LogisticMLE(X, Y), ["newton", "gradient", "newton"], callback=interrupt_at(20))
    assert [row.solver for row in table.rows] == ["newton", "gradient"]
    assert [row.status for row in table.rows] == ["optimal", "undecided"]


def test_the_callback_sees_the_point_in_the_units_of_the_problem_and_the_trace_does_not_keep_it():
    points = []
    problem = cc.LogisticMLE(X * 2.0**20, Y)
    s = problem.solve("newton", callback=lambda line: points.append((line.point, line.objective)))
    for point, objective in points:
        assert problem.minimised(point) == pytest.approx(objective, rel=1e-12)
    assert all(line.point is None for line in s.trace)


@pytest.mark.parametrize("name", sorted(every_model()))
def test_a_trace_keeps_points_where_asked(name):
    """Of every solver that takes the problem; the last of a proved answer is the answer, to the tolerance."""
    problem = every_model()[name]
    for info in accepting(problem):
        s = problem.solve(info.name, keep="points")
        points = [line.point for line in s.trace]
        assert all(point is not None and point.shape == (problem.size,) for point in points), info.name
        if s.status == "optimal" and points and not problem.gauge:
            at_end = problem.minimised(points[-1])
            assert at_end == pytest.approx(problem.minimised(s.x), rel=1e-4, abs=1e-6), info.name
        assert [line.objective for line in s.trace] == [line.objective for line in problem.solve(info.name).trace]


def test_points_are_in_the_units_of_the_problem_and_of_the_dual():
    problem = cc.LogisticMLE(X * 2.0**20 + 1e3, Y)
    s = problem.solve("newton", keep="points")
    for line in s.trace:
        assert problem.minimised(line.point) == pytest.approx(line.objective, rel=1e-12)
    again = pickle.loads(pickle.dumps(s))
    np.testing.assert_array_equal(again.trace[2].point, s.trace[2].point)
    through = problem.solve("dual:newton-kkt", keep="points")
    assert {line.point.size for line in through.trace} == {len(Y)}
    assert all(line.point is None for line in problem.solve("newton").trace)
    auto = problem.solve(keep="points")
    np.testing.assert_array_equal(auto.trace[-1].point, s.trace[-1].point)
    with pytest.raises(ValueError, match="keep is 'all': it must be 'points' or None"):
        problem.solve(keep="all")


def test_points_of_a_descent_are_those_of_the_formula():
    rows, signs = np.column_stack([X, np.ones(len(Y))]), np.where(Y == 1, 1.0, -1.0)
    s = cc.LeastSquares(X, Y).solve("gradient", step="fixed", eta0=0.01, max_iter=5, keep="points")
    w = np.zeros(4)
    for line in s.trace:
        np.testing.assert_allclose(line.point, w, rtol=1e-12, atol=1e-15)
        w = w - 0.01 * rows.T @ (rows @ w - signs)


def test_points_of_a_trace_are_worked_out_when_they_are_looked_at(monkeypatch):
    worked_out, restored = [], RowReduction.restored
    monkeypatch.setattr(RowReduction, "restored", lambda *args: worked_out.append(args) or restored(*args))
    problem, lines = cc.SoftMarginSVM(X, Y), []
    s = problem.solve("interior-point", callback=lines.append)
    assert len(worked_out) == 1  # the answer
    for line in lines[1:]:  # of a point of the path the objective is the bound that its multipliers give, and the gap
        assert problem.minimised(line.point) >= s.objective * (1 - 1e-9)
        assert set(line.multipliers) == {"margin", "slack_sign"}
    assert lines[-1].point == pytest.approx(s.x)


# ---- auto --------------------------------------------------------------------------------------------------------


def nearly_repeated_columns():
    """A third column that adds up the others but for rounding: with coefficients of 1e16 it is one more feature."""
    rng = np.random.default_rng(1)
    few = rng.normal(size=(60, 2))
    return np.column_stack([few, 0.1 * few[:, 0] + 0.7 * few[:, 1]]), (few[:, 0] + rng.normal(size=60) > 0).astype(int)


@pytest.mark.parametrize("model", [cc.LeastAbsolute, cc.PerceptronCriterion])
def test_auto_asks_no_other_solver_where_columns_repeat_each_other_up_to_rounding(model, monkeypatch):
    asked, run = [], Job.run
    monkeypatch.setattr(Job, "run", lambda job, *args: asked.append(job.name) or run(job, *args))
    s = model(*nearly_repeated_columns()).solve()
    assert s.status == "undecided"
    assert set(asked) <= {"interior-point", "highs", "rational"}  # neither clarabel nor cvxpy after them
    assert model(nearly_repeated_columns()[0][:, :2], nearly_repeated_columns()[1]).solve().status == "optimal"


def test_auto_asks_no_other_solver_where_the_formula_has_no_answer(monkeypatch):
    asked, run = [], Job.run
    monkeypatch.setattr(Job, "run", lambda job, *args: asked.append(job.name) or run(job, *args))
    s = cc.GaussianMLE(*nearly_repeated_columns()).solve()
    assert (s.status, asked) == ("undecided", ["moments"])
    assert "singular, up to rounding" in s.message


def test_the_perceptron_is_refuted_where_columns_repeat_each_other_up_to_rounding():
    s = cc.PerceptronCriterion(*nearly_repeated_columns()).solve("perceptron")
    assert s.rule_report.passes < 100_000
    assert s.rule_report.proof_verifies()


@pytest.mark.parametrize(
    "problem",
    [
        cc.LeastSquares(X, Y),
        cc.LogisticMLE(X, Y),
        cc.SoftMarginSVM(X, Y),
        cc.LeastAbsolute(X, Y),
        cc.KernelSVM(X, Y, kernel="rbf", C=1.0),
        cc.GaussianMLE(X, Y),
    ],
    ids=lambda p: type(p).__name__,
)
def test_auto_says_whom_it_chose_and_why(problem):
    s = problem.solve()
    assert s.status == "optimal"
    assert s.chosen
    assert s.chosen.split(";")[0] in {c.why for c in choices(problem) if c.solver == s.solver}
    assert s.explain().startswith(f"Solved by {s.solver}, chosen because: {s.chosen}")
    named = problem.solve(s.solver)
    assert named.chosen == ""
    assert "chosen" not in named.explain()


def test_every_choice_can_be_named():
    for problem in (cc.LeastSquares(X, Y), cc.SoftMarginSVM(X, Y), cc.KernelSVM(X, Y, kernel="rbf", C=1.0)):
        for choice in choices(problem):
            name = choice.solver.removeprefix("dual:")
            assert name in REGISTRY or name == "cvxpy:CLARABEL"
            assert choice.why


def test_a_solution_without_a_point_is_no_start():
    apart = cc.HardMarginSVM([[0.0], [2.0]], [0, 1])
    nothing = cc.HardMarginSVM([[0.0], [2.0], [1.0]], [0, 0, 1]).solve()
    assert nothing.status == "infeasible"
    assert apart.solve("working-set", start=nothing).status == "optimal"


def test_a_failure_of_a_solvers_arithmetic_is_an_answer(monkeypatch):
    from convexcls.solvers.smooth.newton import NewtonSolver

    def fails(*args, **more):
        raise np.linalg.LinAlgError("the Hessian is not finite")

    monkeypatch.setattr(NewtonSolver, "solve", fails)
    found = cc.LogisticMLE([[0.0], [1.0], [2.0]], [0, 1, 0]).solve("newton")
    assert found.status == "undecided"
    assert found.message == "newton failed (LinAlgError: the Hessian is not finite)"
    monkeypatch.setattr(NewtonSolver, "solve", lambda *args: 1 + "a bug")
    with pytest.raises(TypeError):
        cc.LogisticMLE([[0.0], [1.0], [2.0]], [0, 1, 0]).solve("newton")


ENDS_OF_THE_RANGE = [
    lambda: (cc.SoftmaxMLE([[1.0], [2.0]], [0, 1], l2=1.0), "dual:newton-kkt"),
    lambda: (cc.SoftmaxMLE([[1.0], [2.0]], [0, 1], sample_weight=[0.0, 1.0]), "dual:newton-kkt"),
    lambda: (cc.LogisticMLE([[-1.7e308], [-1.7e308]], [0, 2], sample_weight=[0.0, 1.0]), "dual:newton-kkt"),
    lambda: (cc.LogisticMLE([[-2e-322], [-3e-322], [1e-322], [3e-322]], [1, 1, 0, 0]), "auto"),
    lambda: (cc.LeastSquares([[0.0, 1e299], [0.0, 3e299], [2.0, 0.0]], [0, 1, 1], l2=1.7e308), "auto"),
]


@pytest.mark.parametrize("case", range(len(ENDS_OF_THE_RANGE)))
@pytest.mark.parametrize("level", ["float", "exact"])
def test_numbers_at_the_ends_of_the_range_end_in_a_verdict(case, level):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem, solver = ENDS_OF_THE_RANGE[case]()
        assert problem.solve(solver, level=level).status in ("optimal", "unattained", "infeasible", "undecided")


def test_highs_is_not_given_what_it_does_not_survive():
    spread = cc.LeastSquares([[1.0], [2.0], [3.0]], [1, 1, 0], sample_weight=[1e-300, 1.0, 1.7e308])
    with pytest.raises(cc.SolverRefused, match="does not survive"):
        spread.solve("cvxpy:HIGHS")


@pytest.mark.parametrize("level", ["float", "rigorous", "exact"])
def test_a_point_of_the_dual_without_multipliers_is_no_point_of_the_primal(level):
    """At features of 1e300 the arithmetic of ``newton-kkt`` fails after its first point."""
    X = [[-1, 4], [2, 4], [2, 3], [2, 2], [4, 2], [-3, -1], [4, -2], [-4, 3], [-1, -2], [-4, -3], [1, 1], [-2, 4]]
    problem = cc.SoftmaxMLE(np.array(X) * 1e300, [1, 1, 2, 0, 1, 3, 0, 3, 0, 2, 2, 3], l2=10.0)
    found = problem.solve("dual:newton-kkt")
    assert found.x is None or found.x.shape == (problem.size,)
    raised = found.at_level(level)
    assert raised.status in ("optimal", "undecided")
    assert raised.x is None or raised.x.shape == (problem.size,)
