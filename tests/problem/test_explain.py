"""What a problem says about itself."""

import re

import numpy as np
import pytest
from datasets import SEPARABLE, every_model, overlapping

import convexcls as cc
from convexcls.problem.latex import plain

MODELS = every_model()
FORMS = [(name, form) for name in MODELS for form in ("primal", "dual", "dual of dual")]


def form_of(name, form):
    return {"primal": lambda p: p, "dual": lambda p: p.dual(), "dual of dual": lambda p: p.dual().dual()}[form](
        MODELS[name]
    )


def test_hard_margin_reads_like_the_book():
    problem = cc.HardMarginSVM(*SEPARABLE)
    assert r"\tfrac12 \|\beta\|^2" in problem.latex()
    assert r"y_i (x_i^{\top} \beta + \beta_0) \ge 1" in problem.latex()
    text = problem.explain()
    for line in (
        "minimise over β, β₀:   ½ ‖β‖²",
        "yᵢ (xᵢᵀ β + β₀) ≥ 1   (i = 1…6)",
        "6 inequalities, multiplier αᵢ ≥ 0",
        "L = ½ ‖β‖² - Σᵢ αᵢ (yᵢ (xᵢᵀ β + β₀) - 1)",
        "β - Σᵢ αᵢ yᵢ xᵢ = 0",
        "Σᵢ αᵢ yᵢ = 0",
        "αᵢ [yᵢ (xᵢᵀ β + β₀) - 1] = 0",
    ):
        assert line in text


def test_wolfe_dual_reads_like_the_book_and_shows_its_steps():
    dual = cc.HardMarginSVM(*SEPARABLE).dual()
    assert r"\max_{\alpha}\quad & \sum_i \alpha_i - \tfrac12 \|\sum_i \alpha_i y_i x_i\|^2" in dual.latex()
    text = dual.explain()
    steps = ["1. Start from the primal", "2. Lagrangian", "3. Minimise L", "4. Substitute", "5. What is left"]
    assert [text.index(step) for step in steps] == sorted(text.index(step) for step in steps)
    assert "maximise over α:   Σᵢ αᵢ - ½ ‖Σᵢ αᵢ yᵢ xᵢ‖²" in text


def test_soft_margin_dual_shows_the_box():
    text = cc.SoftMarginSVM(*SEPARABLE, C=10.0).dual().explain()
    assert "αᵢ ≤ 10" in text
    assert "αᵢ ≥ 0" in text


def test_logistic_dual_shows_the_entropies():
    text = cc.LogisticMLE(*overlapping()).dual().explain()
    assert "-Σᵢ [λᵢ log λᵢ + (1 - λᵢ) log(1 - λᵢ)]" in text
    assert "Σᵢ λᵢ yᵢ xᵢ = 0" in text


def test_other_models_read_as_they_should():
    expected = {
        "least-squares": "½ Σᵢ (xᵢᵀ β + β₀ - tᵢ)²",
        "least-absolute": "xᵢᵀ β + β₀ - ξᵢ ≤ tᵢ",
        "perceptron": "(Σᵢ yᵢ xᵢ)ᵀ β + (Σᵢ yᵢ) β₀ = 30",
        "fisher": "½ Σᵢ ((xᵢ - mᵢ)ᵀ β)²",
        "max-margin": "‖β‖ ≤ 1",
        "squared-hinge": "½ ‖β‖² + ½ Σᵢ ξᵢ²",
    }
    for name, formula in expected.items():
        assert formula in MODELS[name].explain(), name


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_every_form_explains_itself_without_leftovers(name, form):
    problem = form_of(name, form)
    text = problem.explain()
    assert not re.search(r"\\|\{[^0-9]*\}_|\^\{|_\{|\bnan\b", text.replace("max{", "").replace("}", "")), text
    for v in problem.variables:
        assert v.name in text
    for block in (*problem.constraints, *problem.norm_bounds, *problem.terms):
        assert block.name in text
    latex = problem.latex()
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") == latex.count(r"\right")


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_formulas_are_valid_latex(name, form):
    math_core = pytest.importorskip("math_core")
    problem = form_of(name, form)
    mathml = math_core.LatexToMathML().convert_with_local_state(problem.latex(), displaystyle=True)
    assert mathml.startswith("<math")
    assert "merror" not in mathml


def test_notebook_forms():
    problem = cc.HardMarginSVM(*SEPARABLE)
    assert problem._repr_latex_().startswith("$$")
    assert "$$\\begin{aligned}" in problem._repr_html_()
    solution = problem.solve()
    assert "OPTIMAL" in solution._repr_html_()


def test_hostile_names_stay_text():
    problem = cc.Problem("<script>alert(1)</script>", [cc.Variable("x", 1, "x", "scalar")], quadratic={"x": 1.0})
    assert "<script>" not in problem._repr_html_()


def test_raw_perceptron_says_that_it_is_trivial():
    problem = cc.PerceptronCriterion(*SEPARABLE, normalization=None)
    assert "always attained at coef = 0" in problem.explain()
    solution = problem.solve()
    assert solution.objective == pytest.approx(0, abs=1e-9)
    assert "always attained at coef = 0" in solution.certificate.explain()


def test_user_problem_without_labels():
    problem = cc.Problem(
        "projection",
        [cc.Variable("x", 3, "x")],
        terms=[cc.Term("distance", {"x": np.eye(3)}, "r", "vector", offset=[-1.0, -2.0, 3.0])],
        constraints=[cc.Constraint("simplex", {"x": np.ones((1, 3))}, r"\nu", "scalar", rhs=1.0, relation="==")],
    )
    text = problem.explain()
    assert "simplex" in text
    assert "equality, multiplier ν free" in text
    assert problem.solve().status == "optimal"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"y_i (x_i^{\top} \beta + \beta_0)", "yᵢ (xᵢᵀ β + β₀)"),
        (r"\sum_i {\alpha^-}_i", "Σᵢ α⁻ᵢ"),
        (r"\tfrac12 \|\tilde{\beta}\|^2", "½ ‖β̃‖²"),
        (r"10^{-3}\,\xi_i", "10⁻³ ξᵢ"),
        (r"\log\left(1 + e^{-u_i}\right)", "log(1 + exp(-uᵢ))"),
    ],
)
def test_plain_text(formula, text):
    assert plain(formula) == text


def test_why_no_hyperplane_has_a_mean_margin_of_one():
    xor = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    said = cc.PerceptronCriterion(*xor).solve().certificate.explain()
    assert "those of every hyperplane" in said
    assert "sum_i y_i x_i = 0 and sum_i y_i = 0" in " ".join(said.split())
    through = cc.PerceptronCriterion([[1.0], [1.0]], [0, 1], intercept=False).solve().certificate.explain()
    assert "sum_i y_i = 0" not in through
    assert "sum_i y_i x_i = 0" in " ".join(through.split())
