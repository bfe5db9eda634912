"""Problems that others stated, in cvxpy and as matrices: optimum, point and multipliers, signs too, are theirs."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc

cp = pytest.importorskip("cvxpy")
from convexcls.problem import ProblemError  # noqa: E402

RNG = np.random.default_rng(7)
A, b = RNG.normal(size=(8, 3)), RNG.normal(size=8)
C = np.array([[1.0, 2, 0], [0, 1, -1]])
S = np.array([[2.0, 0.5, 0], [0.5, 1, 0.25], [0, 0.25, 3]])
c3, signs = np.array([1.0, -2, 0.5]), np.array([1.0, -1, 1, 1, -1, -1, 1, -1])


def x3(**more):
    return cp.Variable(3, name="x", **more)


def program(make, **attributes):
    x = x3(**attributes)
    return lambda: make(x)


def least(objective, *constraints):
    return cp.Problem(cp.Minimize(objective), list(constraints))


def most(objective, *constraints):
    return cp.Problem(cp.Maximize(objective), list(constraints))


#: Small programs in cvxpy's style.
PROGRAMS = {
    "least squares": lambda x: least(cp.sum_squares(A @ x - b)),
    "ridge": lambda x: least(cp.sum_squares(A @ x - b) + 0.7 * cp.sum_squares(x)),
    "ridge, halved": lambda x: least(cp.sum_squares(A @ x - b) / 2 + 3),
    "squares by power": lambda x: least(cp.sum((A @ x - b) ** 2)),
    "weighted squares": lambda x: least(cp.sum(cp.multiply(np.arange(1, 9), cp.square(A @ x - b)))),
    "norm squared": lambda x: least(cp.norm(A @ x - b, 2) ** 2 + cp.sum(x)),
    "quadratic over a number": lambda x: least(cp.quad_over_lin(A @ x - b, 4)),
    "mean of squares": lambda x: least(cp.mean(cp.square(A @ x - b))),
    "quadratic form": lambda x: least(cp.quad_form(x, S) + c3 @ x),
    "form of rows": lambda x: least(cp.quad_form(C @ x - np.ones(2), np.array([[2.0, 1], [1, 3]])) + cp.sum_squares(x)),
    "portfolio": lambda x: least(cp.quad_form(x, S), cp.sum(x) == 1, x >= 0, c3 @ x >= -0.5),
    "equality": lambda x: least(cp.sum_squares(x), C @ x == np.array([1.0, -1])),
    "equality, turned": lambda x: least(cp.sum_squares(x), np.array([1.0, -1]) == C @ x),
    "at most": lambda x: least(cp.sum_squares(x - 1), cp.sum(x) <= 1),
    "at least": lambda x: least(cp.sum_squares(x), cp.sum(x) >= 2),
    "box": lambda x: least(cp.sum_squares(x - np.array([2.0, 0.5, -3])), x <= 1, x >= -1),
    "box by norm": lambda x: least(c3 @ x, cp.norm_inf(x) <= 2),
    "diamond": lambda x: least(c3 @ x, cp.norm1(x) <= 2),
    "ball": lambda x: least(c3 @ x, cp.norm(x) <= 3),
    "ball, moved": lambda x: least(c3 @ x, cp.norm(x - 1) <= 2, cp.sum(x) <= 3),
    "cone": lambda x: least(c3[:2] @ x[:2] + 3 * x[2], cp.norm(x[:2] - 1) <= x[2] + 1),
    "cone, stated": lambda x: least(c3[:2] @ x[:2] + 3 * x[2], cp.SOC(x[2], x[:2] - 1)),
    "linear": lambda x: least(c3 @ x, x >= 0, x <= np.array([1.0, 2, 3]), cp.sum(x) == 2),
    "transport": lambda x: least(np.array([1.0, 3, 2]) @ x, x[0] + x[1] == 2, x[1] + x[2] == 1, x >= 0),
    "most": lambda x: most(c3 @ x, x >= -1, cp.sum_squares(x) * 0 + cp.sum(x) <= 2, x <= 2),
    "most, concave": lambda x: most(c3 @ x - cp.sum_squares(x), cp.sum(x) >= 1),
    "most, with a norm": lambda x: most(c3 @ x - cp.norm(x - 1), cp.norm1(x) <= 4),
    "lasso": lambda x: least(cp.sum_squares(A @ x - b) + 2 * cp.norm1(x)),
    "lasso by abs": lambda x: least(cp.sum_squares(A @ x - b) + 2 * cp.sum(cp.abs(x))),
    "absolute deviations": lambda x: least(cp.norm1(A @ x - b) + 0.1 * cp.sum_squares(x)),
    "largest residual": lambda x: least(cp.norm_inf(A @ x - b)),
    "largest row": lambda x: least(cp.max(A @ x - b) + cp.sum_squares(x)),
    "maximum of two": lambda x: least(cp.sum(cp.maximum(x, 2 * x - 1)) + cp.sum_squares(x)),
    "norm in the objective": lambda x: least(cp.norm(A @ x - b) + 0.3 * cp.norm(x)),
    "soft margin": lambda x: least(cp.sum_squares(x) / 2 + 2 * cp.sum(cp.pos(1 - cp.multiply(signs, A @ x)))),
    "logistic": lambda x: least(cp.sum(cp.logistic(-cp.multiply(signs, A @ x))) + cp.sum_squares(x)),
    "logistic, weighted": lambda x: least(np.arange(1, 9) @ cp.logistic(A @ x) + cp.sum_squares(x), cp.sum(x) == 1),
    "logistic, bounded": lambda x: least(cp.sum(cp.logistic(-cp.multiply(signs, A @ x))), cp.norm(x) <= 0.5),
    "logistic, halves": lambda x: least(0.5 * cp.sum(cp.logistic(A @ x - b)) - c3 @ x / 4, x >= -5, x <= 5),
    "a part of x": lambda x: least(cp.sum_squares(x[1:] - 3) + x[0] ** 2, x[0] + x[2] >= 4),
    "differences": lambda x: least(cp.sum_squares(x - np.array([1.0, 5, 2])) + 3 * cp.norm1(cp.diff(x))),
    "constant constraint": lambda x: least(cp.sum_squares(x - 1), cp.sum(x) <= 5, x[0] - x[0] <= 1),
    "sums of rows": lambda x: least(cp.sum_squares(x), cp.cumsum(x) >= np.array([1.0, 2, 4])),
    "nothing curved": lambda x: least(cp.sum(cp.pos(x - 1)) + cp.sum(cp.pos(-x)) + 0.5 * cp.norm_inf(x - 4)),
}
#: Where multipliers are not determined, or the point.
LOOSE = {"linear", "transport", "diamond", "nothing curved", "largest residual", "constant constraint"}
TWO = {
    "two variables": lambda x, y: least(cp.sum_squares(A @ x + y - b), cp.norm(x) <= 1, y >= 0),
    "a matrix": lambda x, y: least(
        cp.sum_squares(cp.reshape(x, (3, 1), order="F") @ np.ones((1, 2)) - 1) + y**2, x + y >= 2
    ),
    "hyperplane": lambda x, y: least(cp.sum_squares(x) / 2, cp.multiply(signs[:2], C @ x + y) >= 1),
}


def theirs_and_ours(theirs):
    theirs.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    problem = cc.Problem.from_cvxpy(theirs)
    return problem, problem.solve(tol=1e-6)


def agrees(theirs, multipliers=True):
    problem, s = theirs_and_ours(theirs)
    assert s.status == "optimal", s.certificate.reason
    assert s.objective == pytest.approx(theirs.value, rel=1e-6, abs=1e-7)
    for v in theirs.variables():
        if multipliers:
            assert s.values[v.name()] == pytest.approx(np.ravel(v.value, order="F"), rel=1e-4, abs=1e-5)
    for k, constraint in enumerate(theirs.constraints):
        ours, value = s.multipliers[f"c{k}"], constraint.dual_value
        if isinstance(constraint, cp.SOC):  # theirs are (mu, u)
            assert ours[-1] == pytest.approx(float(np.ravel(value[0])[0]), rel=1e-4, abs=1e-5)
        elif multipliers:
            expected = np.ravel(value, order="F")
            bound = any(norm.name == f"c{k}" for norm in problem.norm_bounds)
            assert (ours[-1:] if bound else ours) == pytest.approx(expected, rel=1e-3, abs=2e-5)
    return problem, s


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_same_answer_with_the_same_signs(name):
    agrees(PROGRAMS[name](x3()), multipliers=name not in LOOSE)


@pytest.mark.parametrize("name", TWO)
def test_a_program_of_two_variables(name):
    agrees(TWO[name](x3(), cp.Variable(name="y")))


def test_there_are_many():
    assert len(PROGRAMS) + len(TWO) >= 40


def test_what_variables_are_becomes_rows():
    x = x3(nonneg=True)
    _, s = agrees(least(cp.sum_squares(x - c3), cp.sum(x) == 1))
    assert s.multipliers["x_nonneg"].min() >= 0
    assert s.multipliers["x_nonneg"].max() > 0.1
    bounded = cp.Variable(2, name="z", bounds=[0, 1])
    s = cc.Problem.from_cvxpy(least(cp.sum_squares(bounded - 3))).solve()
    assert s.values["z"] == pytest.approx([1, 1])
    assert s.multipliers["z_upper"] == pytest.approx([4, 4])


def test_names_are_those_of_the_variables_and_labels():
    x, y = cp.Variable(2, name="pay"), cp.Variable(2, name="pay")
    budget = cp.sum(x) + cp.sum(y) <= 1
    if hasattr(budget, "set_label"):
        budget.set_label("budget")
    problem = cc.Problem.from_cvxpy(least(cp.sum_squares(x - 1) + cp.sum_squares(y - 2), budget))
    assert [v.name for v in problem.variables] == ["pay", "pay_2"]
    assert [c.name for c in problem.constraints] == ["budget" if hasattr(budget, "set_label") else "c0"]
    assert "subject to" in problem.latex()
    assert problem.dual().solve().status == "optimal"


def test_infeasible_and_unbounded_are_proved():
    x = x3()
    assert cc.Problem.from_cvxpy(least(cp.sum(x), cp.sum(x) <= 1, cp.sum(x) >= 2)).solve().status == "infeasible"
    assert cc.Problem.from_cvxpy(least(c3 @ x, x <= 1)).solve().status == "unattained"


def test_nothing_of_theirs_is_changed():
    x = x3()
    x.value = np.array([4.0, 5.0, 6.0])
    rate = cp.Parameter(value=2.0, nonneg=True)
    problem = least(rate * cp.sum_squares(x - 1), x <= 3)
    assert cc.Problem.from_cvxpy(problem).solve().objective == pytest.approx(0, abs=1e-9)
    assert x.value.tolist() == [4.0, 5.0, 6.0]
    assert problem.status is None
    blank = x3()
    with pytest.raises(ProblemError, match=r"does not fit"):
        cc.Problem.from_cvxpy(least(cp.sum(cp.max(cp.reshape(blank, (3, 1), order="F"), axis=1))))
    assert blank.value is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda x: least(cp.sum(cp.exp(x))), "cvxpy's exp does not fit"),
        (lambda x: least(-cp.sum(cp.log(x))), "log"),
        (lambda x: least(cp.sum(cp.huber(x))), "huber"),
        (lambda x: least(cp.sum(x), cp.sum_squares(x) <= 1), "quad_over_lin does not fit"),
        (lambda x: least(cp.sum_squares(cp.pos(x))), "quad_over_lin of what is not affine"),
        (lambda x: least(cp.pnorm(x, 3)), "3-norm"),
        (lambda x: least(cp.sum(x), cp.diag(x) >> 0), "PSD"),
        (lambda x: least(cp.max(x) + cp.sqrt(x[0]) * -1), "power"),
        (lambda x: most(cp.min(x), cp.sum(x) <= 1), "negative multiple of cvxpy's max|min"),
        (lambda x: most(cp.sum_squares(x)), "is_dcp"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(make, words):
    with pytest.raises(ProblemError, match=words):
        cc.Problem.from_cvxpy(make(x3()))


@pytest.mark.parametrize("attribute", ["integer", "boolean", "complex"])
def test_other_variables_are_refused(attribute):
    x = cp.Variable(3, name="x", **{attribute: True})
    with pytest.raises(ProblemError, match=f"'x' is {attribute}"):
        cc.Problem.from_cvxpy(least(cp.norm1(x)))


def test_what_is_no_problem_is_told():
    with pytest.raises(TypeError, match=r"takes a cvxpy\.Problem, not a list"):
        cc.Problem.from_cvxpy([])
    with pytest.raises(ProblemError, match="has no value"):
        cc.Problem.from_cvxpy(least(cp.Parameter() * cp.norm1(x3()) * 0 + cp.Parameter(nonneg=True) * cp.norm1(x3())))


def test_our_own_problems_come_back_with_the_same_optimum():
    for name in ("soft_margin", "ridge", "logistic_ridge", "three_four_five_max_margin", "absolute_outlier"):
        own = cc.load(name)
        back = cc.Problem.from_cvxpy(own.to_cvxpy()).solve(tol=1e-7)
        assert back.status == "optimal", back.certificate.reason
        assert back.objective == pytest.approx(own.solve().objective, rel=1e-6)


# ---- matrices ------------------------------------------------------------------------------------------------------


def test_a_quadratic_program_by_its_matrices():
    from scipy import sparse

    low, high = np.array([-1.0, -np.inf, 0]), np.array([np.inf, 0.5, 4])
    x = x3()
    constraints = [C @ x <= np.array([1.0, 0.2]), cp.sum(x) == 1, x[[0, 2]] >= low[[0, 2]], x[1:] <= high[1:]]
    theirs = least(cp.quad_form(x, S) / 2 + c3 @ x, *constraints)
    theirs.solve(solver="CLARABEL")
    for made in (np.asarray, sparse.csc_matrix):
        problem = cc.Problem.from_qp(made(S), c3, made(C), [1.0, 0.2], made(np.ones((1, 3))), [1.0], low, high)
        s = problem.solve()
        assert s.objective == pytest.approx(theirs.value, rel=1e-6)
        names = ("inequalities", "equalities", "lower", "upper")
        for name, constraint in zip(names, constraints, strict=True):
            assert s.multipliers[name] == pytest.approx(np.ravel(constraint.dual_value), abs=1e-5)


def test_infinite_sides_and_zero_matrices():
    problem = cc.Problem.from_qp(np.zeros((2, 2)), [1.0, 1.0], [[1.0, 0], [0, 1]], [np.inf, 3], lb=0, ub=np.inf)
    assert problem.is_linear_program
    assert {c.name: c.size for c in problem.constraints} == {"inequalities": 1, "lower": 2}
    assert problem.solve().objective == 0
    assert cc.Problem.from_qp(None, [1.0], lb=[2.0]).solve().objective == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"G": [[1.0, 2.0]]}, "G is given without h"),
        ({"b": [1.0]}, "b is given without A"),
        ({"G": [[1.0]], "h": [1.0]}, r"G is \(1, 1\), it needs a row for each of the 1 entries of h and 2 columns"),
        ({"lb": [0.0, np.inf]}, "the lower bound of entry 1 is inf"),
        ({"ub": [np.nan, 0.0]}, "the upper bound of entry 0 is nan"),
        ({"P": [[1.0, 2.0], [0.0, 1.0]]}, "not symmetric"),
        ({"P": [[1.0, 0.0], [0.0, -1.0]]}, "not convex"),
    ],
)
def test_matrices_that_do_not_fit_are_named(arguments, words):
    with pytest.raises(ProblemError, match=words):
        cc.Problem.from_qp(**{"P": np.eye(2), "q": [1.0, 1.0], **arguments})
