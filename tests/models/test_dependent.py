"""Columns that are combinations of others up to rounding: what is proved of them, against rationals and NumPy."""

from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc
from convexcls.models.dependent import dependence
from tests.hunt.draw import draw

pytestmark = pytest.mark.by_block

rng = np.random.default_rng(0)
A, B = rng.normal(size=40), rng.normal(size=40)
SUM = np.column_stack([A, B, A + B])
Y = np.where(A + 0.5 * B + 0.5 * rng.normal(size=40) > 0, 1, 0)
Y3 = rng.permutation(np.arange(40) % 3)

MODELS = {
    "logistic": lambda X: cc.LogisticMLE(X, Y),
    "least-squares": lambda X: cc.LeastSquares(X, Y),
    "least-squares-01-origin": lambda X: cc.LeastSquares(X, Y, coding="01", intercept=False),
    "least-absolute": lambda X: cc.LeastAbsolute(X, Y),
    "perceptron": lambda X: cc.PerceptronCriterion(X, Y),
    "hinge": lambda X: cc.EmpiricalRisk(X, Y, loss="hinge"),
    "exponential": lambda X: cc.EmpiricalRisk(X, Y, loss="exponential"),
    "fisher": lambda X: cc.FisherLDA(X, Y),
    "softmax": lambda X: cc.SoftmaxMLE(X, Y3),
    "fisher-3": lambda X: cc.FisherLDA(X, Y3),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_column_that_is_a_sum_up_to_rounding_gets_an_answer(name):
    s = MODELS[name](SUM).solve()
    assert s.status == "undecided"  # the third column, as doubles have it, is no sum: what it can fit is not told
    fewer = MODELS[name](SUM[:, :2]).solve()
    assert (fewer.status, s.fewer.status) == ("optimal", "optimal")
    assert s.objective == pytest.approx(fewer.objective, rel=1e-8)
    assert s.fewer.objective == pytest.approx(fewer.objective, rel=1e-8)
    told = " ".join(s.certificate.explain().split())
    assert "x3 is x1 + x2" in told
    assert "not unique" in told
    assert "Without x3 the optimum" in told
    coef = np.atleast_2d(s.coef) if name != "fisher-3" else np.array([s.values["coef_1"], s.values["coef_2"]])
    np.testing.assert_allclose(coef @ [1.0, 1.0, -1.0], 0.0, atol=1e-12 * np.abs(coef).max())  # the shortest


SOLVERS = ["closed-form", "newton", "gradient", "clarabel", "osqp", "cvxpy:CLARABEL", "cvxpy:SCS", "dual:clarabel"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_by_every_solver(solver):
    s = cc.LeastSquares(SUM, Y).solve(solver)
    expected = np.linalg.lstsq(np.column_stack([SUM, np.ones(40)]), 2.0 * Y - 1, rcond=1e-12)[0]
    assert (s.status, s.fewer.status, s.solver) == ("undecided", "optimal", solver)
    centred = SUM - SUM.mean(0)
    scores = centred @ np.linalg.lstsq(centred, 2.0 * Y - 1, rcond=1e-12)[0] + (2.0 * Y - 1).mean()
    np.testing.assert_allclose(s.decision_function(SUM), scores, atol=1e-6)
    assert np.linalg.norm(s.coef) <= np.linalg.norm(expected[:3]) * (1 + 1e-6)


def test_what_is_said_of_all_columns_holds_in_rationals():
    """The least objective by the coefficient t of the third column is a parabola in rationals: at both ends of the
    reach it is not below what is claimed. Far beyond it is: there is an optimum elsewhere, which level exact finds."""
    X, y = SUM[:12], [Fraction(v) for v in (2.0 * Y[:12] - 1).tolist()]
    s = cc.LeastSquares(X, Y[:12]).solve()
    assert "larger ones do (level='exact' proves it)" in s.certificate.reason
    reach = Fraction(float(s.certificate.reason.split("add up to less than ")[1].split(" ")[0]))

    def residual(column):  # of the projection on x1, x2, 1, in rationals
        basis = [[Fraction(v) for v in X[:, j].tolist()] for j in (0, 1)] + [[Fraction(1)] * 12]
        done = []
        for b in [*basis, column]:
            for q in done:
                factor = sum(u * v for u, v in zip(q, b, strict=True)) / sum(u * u for u in q)
                b = [v - factor * u for u, v in zip(q, b, strict=True)]
            done.append(b)
        return done[-1]

    r, e = residual(y), residual([Fraction(v) for v in X[:, 2].tolist()])
    assert any(e)  # it is no sum of the others in rationals

    def least(t):
        return sum((u - t * v) ** 2 for u, v in zip(r, e, strict=True)) / 2

    assert abs(least(0) - Fraction(s.objective)) <= Fraction(1, 10**8) * least(0)
    for t in (-reach, reach, s.coef[2], -reach / 3):
        assert least(Fraction(t)) >= least(0) * (1 - Fraction(1, 10**8))
    best = sum(u * v for u, v in zip(r, e, strict=True)) / sum(v * v for v in e)
    assert least(best) < least(0) * Fraction(999, 1000)
    assert abs(best) > reach
    exact = cc.LeastSquares(X, Y[:12]).solve(level="exact").certificate
    assert exact.optimum == least(best)


@pytest.mark.parametrize(
    ("third", "told"),
    [
        (0.1 * A + 0.3 * B, "x3 is 0.1 x1 + 0.3 x2"),
        (32.0 + 1.8 * A, "x1"),  # degrees in two units: the intercept has a part in it
        (A / 3.0, "x1"),
        (1e6 * (A - B), "x3 is 1e+06 x1 - 1e+06 x2"),
    ],
)
def test_the_dependence_is_told(third, told):
    p = cc.LogisticMLE(np.column_stack([A, B, third]), Y)
    s = p.solve()
    found = dependence(p)
    if found is None:  # it is exact in doubles
        assert s.status == "optimal"
    else:
        assert (s.status, s.fewer.status) == ("undecided", "optimal")
        assert told in found.told
        assert "rounding" in s.certificate.explain()


def test_what_only_nearly_depends_is_left_alone():
    near = np.column_stack([A, B, A + B + 1e-7 * rng.normal(size=40)])
    assert dependence(cc.LeastSquares(near, Y)) is None
    assert dependence(cc.LeastSquares(SUM, Y, l2=1.0)) is None
    whole = np.rint(4 * SUM[:, :2])
    exact = np.column_stack([whole, whole.sum(1)])
    assert dependence(cc.LeastSquares(exact, Y)) is None  # proved as it stands
    assert cc.LeastSquares(exact, Y).solve().status == "optimal"


def test_separated_classes_stay_without_a_maximum():
    s = cc.LogisticMLE(SUM, np.where(A > 0.1, 1, 0)).solve()
    assert s.status == "unattained"


def test_the_solution_without_them_is_proved_at_every_level():
    s = cc.LeastSquares(SUM, Y).solve()
    proof = s.fewer.certify("exact")
    assert proof.optimum == cc.LeastSquares(SUM[:, :2], Y).solve(level="exact").certificate.optimum
    assert "without x3" in " ".join(proof.explain().split())
    assert s.certify("exact").optimum < proof.optimum  # with all columns as they are
    text = s.fewer.certificate.to_json()
    assert cc.verify(text, SUM[:, :2], Y).accepted
    assert not cc.verify(text, SUM, Y).accepted


def test_a_file_with_such_columns(tmp_path):
    path = tmp_path / "sums.csv"
    rows = ["a,b,c,y", *(",".join([*map(repr, row.tolist()), str(label)]) for row, label in zip(SUM, Y, strict=True))]
    path.write_text("\n".join(rows) + "\n")
    s = cc.read_table(path, exact=True).samples("y").declare(cc.LogisticMLE).solve()
    assert (s.status, s.fewer.status) == ("undecided", "optimal")
    assert cc.verify(s.fewer.certificate.to_json(), path).accepted
    assert s.predict({"a": [2.0], "b": [0.0], "c": [2.0]}).tolist() == [1]


@pytest.mark.parametrize("index", [112, 3044, 3209])
def test_an_intercept_that_no_feature_can_take_the_place_of(index):
    """Fractions whose doubles vary far less than they are large."""
    case = draw(515151, index)
    problem = getattr(cc, case.model)(case.X, case.y, **case.arguments)
    assert dependence(problem) is None
    assert problem.solve().status == "undecided"
