"""What notebooks show of every kind of result."""

import numpy as np
import pytest
from datasets import SEPARABLE, every_model, overlapping
from html_checks import HOSTILE, assert_sound, assert_sound_in_a_notebook

import convexcls as cc
from convexcls.describe.html import formula
from convexcls.problem import Constraint
from convexcls.problem.explain import complementarity, inequalities, lagrangian, multiplier_sign, slack, stationarity

MODELS = every_model()


KINDS = ["problem", "dual", "solution", "certificate", "comparison", "path", "separability", "existence", "summary"]


@pytest.fixture(scope="module")
def results():
    """One of each."""
    solution = cc.HardMarginSVM(*SEPARABLE).solve()
    X, y = overlapping()
    likelihood = cc.LogisticMLE(X, y).solve()
    return {
        "problem": solution.problem,
        "dual": solution.problem.dual(),
        "solution": solution,
        "certificate": solution.certificate,
        "comparison": cc.compare(solution.problem, ["clarabel", "osqp"]),
        "path": cc.path(cc.SoftMarginSVM, X, y, C=[0.1, 1.0]),
        "separability": cc.separability(X, y),
        "existence": likelihood.existence(),
        "summary": likelihood.summary(),
        "infeasible": cc.load("xor_hard_margin").solve(),
        "unattained": cc.load("logistic_separated").solve(),
    }


@pytest.mark.parametrize("kind", [*KINDS, "infeasible", "unattained"])
def test_every_result_has_a_compact_form_without_script(results, kind):
    html = results[kind]._repr_html_()
    page = assert_sound_in_a_notebook(html)
    assert len(html) < 30_000
    assert page.tags[0] == ("div", {"class": "convexcls"})


def test_they_hold_their_numbers(results):
    solution = results["solution"]
    page = assert_sound_in_a_notebook(solution._repr_html_())
    shown = {row[0]: float(row[1]) for row in page.table("Coefficients")[1:]}
    assert list(shown.values()) == pytest.approx(list(solution.coef), rel=1e-9)
    assert f"{solution.objective:.10g}" in page.text
    rows = assert_sound_in_a_notebook(results["comparison"]._repr_html_()).table("Tolerance")[1:]
    assert [row[0] for row in rows] == ["clarabel", "osqp"]
    path = results["path"]
    rows = assert_sound_in_a_notebook(path._repr_html_()).table("soft-margin")[1:]
    assert [float(row[0]) for row in rows] == path.values.tolist()
    assert [float(row[2]) for row in rows] == pytest.approx(path.objective.tolist(), rel=1e-7)
    rows = assert_sound_in_a_notebook(results["infeasible"]._repr_html_()).table("The rows that contradict")[1:]
    assert [float(row[-1]) for row in rows] == [0.25] * 4


def test_latex_where_a_formula_says_it(results):
    solution = results["solution"]
    assert results["problem"]._repr_latex_() == f"$${results['problem'].latex()}$$"
    latex = solution._repr_latex_()
    assert latex == solution.certificate._repr_latex_()
    assert latex == r"$$1.111111111 \le f^{\star} \le 1.111111111$$"
    assert solution.at_level("exact")._repr_latex_() == r"$$f^{\star} = 10/9$$"
    assert results["infeasible"]._repr_latex_() is None
    assert "merror" not in formula(latex.strip("$"))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text_in_the_others(name):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    labels = np.array([name, f"{name}!"], dtype=object)[(X[:, 0] + rng.normal(size=30) > 0).astype(int)]
    table = pd.DataFrame(X, columns=[name, "x"])
    solution = cc.LogisticMLE(table, labels).solve()
    found = [cc.separability(table, labels), solution.existence(), solution.summary()]
    for result in (*found, cc.compare(solution.problem, ["newton"]), cc.path(cc.LogisticMLE, table, labels, l2=[1.0])):
        names = assert_sound_in_a_notebook(result._repr_html_(), written=name).names
        assert not names & {"script", "img"}


@pytest.mark.parametrize("name", MODELS)
def test_every_formula_becomes_mathml(name):
    """Also Lagrangians, slacks and KKT conditions, not only the problem itself."""
    for problem in (MODELS[name], MODELS[name].dual()):
        written = [problem.latex(), lagrangian(problem), *(stationarity(problem, v) for v in problem.variables)]
        for block in inequalities(problem):
            written += [multiplier_sign(block), complementarity(problem, block)]
            if isinstance(block, Constraint):
                written.append(slack(problem, block))
        for latex in written:
            assert formula(latex).startswith("<math"), latex


def test_the_slack_is_what_the_formula_says():
    problem = MODELS["soft-margin"]
    margin, sign = problem.constraints
    assert slack(problem, margin) == r"y_i (x_i^{\top} \beta + \beta_0) + \xi_i - 1"
    assert slack(problem, sign) == r"\xi_i"
    assert slack(problem.dual(), next(c for c in problem.dual().constraints if c.name == "slack")) == r"0.7 - \alpha_i"


def test_without_math_core_formulas_are_plain_text(monkeypatch):
    from convexcls.describe import html

    monkeypatch.setattr(html, "_converter", lambda: None)
    page = assert_sound(cc.HardMarginSVM(*SEPARABLE).solve().report(compare=False, pictures=False).html)
    assert "math" not in page.names
    assert "yᵢ (xᵢᵀ β + β₀) ≥ 1" in page.text
